/* Shared by the files of the HTTP transport only. */
#ifndef AL_MCP_HTTP_INT_H
#define AL_MCP_HTTP_INT_H

#include "http/server.h"
#include "mcp/http_heads.h"
#include "mcp/mcp_int.h"

/* Connections at once: as many requests as a client may have open, and some to say no to. */
#define AL_MCP_HTTP_CONNECTIONS 1280
#define AL_MCP_HTTP_STRANGERS 64 /* connections that have not shown the token, but for a moment */
#define AL_MCP_HTTP_MAX_SESSIONS 256
#define AL_MCP_HTTP_SESSION_IDLE_MS (30u * 60 * 1000)
/* Of a session: streams that are kept, those of them that were delivered to their end, and bytes of all. */
#define AL_MCP_HTTP_MAX_STREAMS 2048
#define AL_MCP_HTTP_DELIVERED_STREAMS 64
#define AL_MCP_HTTP_SESSION_BYTES (48u << 20)
/* Of all clients: what is kept, and what waits in connections. No notification is added to more than TOLD. */
#define AL_MCP_HTTP_ALL_BYTES (192u << 20)
#define AL_MCP_HTTP_TOLD_BYTES (96u << 20)
/* Events of a stream that are kept for a client that comes back; an answer is kept whatever its size. */
#define AL_MCP_HTTP_STREAM_EVENTS 1000
#define AL_MCP_HTTP_STREAM_BYTES (1u << 20)
/* What is handed to a connection before the client has taken what was handed to it before. */
#define AL_MCP_HTTP_AHEAD (256u << 10)
#define AL_MCP_HTTP_QUEUE (AL_MCP_QUEUE_MAX + AL_MCP_HTTP_AHEAD)
/* While so much waits for a modern client, progress and logs are not told; a listener to changes is let go. */
#define AL_MCP_HTTP_MODERN_AHEAD (4u << 20)
#define AL_MCP_HTTP_TICK_MS 15000
#define AL_MCP_HTTP_RETRY_MS 1000

#define AL_MCP_MODERN "2026-07-28"

struct al_mcp_session;
struct al_mcp_post;
struct al_mcp_http {
    struct al_mcp *mcp;
    struct al_httpd *httpd;
    struct al_timer *tick;
    struct al_mcp_session *sessions;
    size_t n_sessions, bytes;
    struct al_mcp_post *posts; /* of modern clients, unanswered */
    struct al_timer *sweep;    /* frees those whose reader takes nothing */
    bool closed;               /* takes no more */
    bool left_out;             /* some message was, and the log has it */
};

/* A POST, looked into as far as the transport must. */
struct al_mcp_http_body {
    struct al_arena arena;
    struct al_rpc rpc;
    struct al_str text;
    struct al_str meta_version; /* of params._meta; empty: none */
    bool meta_complete;         /* it has all that each modern request must have */
    const char *version;        /* the header; NULL: none */
    bool json_ok, sse_ok;       /* what may be answered */
};

/* An error of the transport. name: "UNAUTHORIZED"; NULL: the message says all. An empty id is left out. data:
 * JSON members without braces, or empty. */
struct al_mcp_http_error {
    int status;
    int code; /* 0: AL_RPC_INVALID_REQUEST */
    const char *name;
    const char *hint;
    struct al_str id;
    struct al_str data;
};
void al_mcp_http_fail(struct al_httpd_request *r, const struct al_mcp_http_error *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void al_mcp_http_reply_json(struct al_httpd_request *r, int status, const char *session,
                            struct al_str message);
struct al_httpd_stream *al_mcp_http_open_sse(struct al_httpd_request *r, const char *session,
                                             void (*closed)(void *ud), void (*drained)(void *ud), void *ud);

/* --- sessions of the older era (http_session.c, http_stream.c) --- */

/* An event, as it is sent. */
struct al_mcp_event {
    struct al_mcp_event *next;
    uint64_t no;
    size_t n;
    bool answer;
    char bytes[];
};

/* Where messages of one request go, or those of none (number 0): kept until the client surely has them. */
struct al_mcp_hstream {
    struct al_mcp_hstream *next;
    struct al_mcp_session *session;
    uint64_t no;
    struct al_mcp_event *first, *last;
    size_t n_events, bytes;
    uint64_t next_event;
    uint64_t written; /* the number of the last event that a connection took */
    struct al_httpd_stream *conn;
    struct al_httpd_request *json; /* a client that takes JSON alone waits here, for the answer alone */
    bool json_only;
    bool introduces; /* the session: its answer carries the id */
    bool held;       /* a caller works with it: it is not to be freed for room */
    bool over;       /* its request has ended */
    bool delivered;  /* and all of it was handed to a connection */
    bool quiet;      /* nothing was sent since the last tick */
};

struct al_mcp_session {
    struct al_mcp_session *next;
    struct al_mcp_http *http;
    char id[33];
    struct al_mcp_peer *peer;
    struct al_mcp_hstream *streams; /* newest first */
    struct al_mcp_hstream *general;
    size_t n_streams, bytes;
    uint64_t next_stream;
    uint64_t used_ms; /* of CLOCK_MONOTONIC */
    bool polls;       /* it knows events without data, and waits before it comes back: since 2025-11-25 */
};

struct al_mcp_hstream *al_mcp_hstream_new(struct al_mcp_session *s);
void al_mcp_hstream_free(struct al_mcp_hstream *st); /* out of its session, with its connection */
/* An event of it; data empty: to begin with, so that the client can come back before the first message. */
void al_mcp_hstream_put(struct al_mcp_hstream *st, struct al_str data, bool answer);
void al_mcp_hstream_connect(struct al_mcp_hstream *st, struct al_httpd_request *r);
/* Writes on what the connection can take, and closes it after the last. */
void al_mcp_hstream_pump(struct al_mcp_hstream *st);
void al_mcp_hstream_drop_oldest(struct al_mcp_session *s);
/* Whether n bytes more may wait for clients, with max in all; forgets for it what they are least likely to come back
 * for. */
bool al_mcp_http_room(struct al_mcp_http *h, size_t n, size_t max);
/* The answer, or, where there is no room for it, an error that says so; its text is in out. */
struct al_str al_mcp_http_or_busy(struct al_mcp_http *h, const struct al_mcp_request *r, struct al_str answer,
                                  struct al_buf *out);

void al_mcp_session_post(struct al_mcp_http *h, struct al_httpd_request *r, struct al_mcp_http_body *body);
void al_mcp_session_get(struct al_mcp_http *h, struct al_httpd_request *r);
void al_mcp_session_delete(struct al_mcp_http *h, struct al_httpd_request *r);
void al_mcp_session_free(struct al_mcp_session *s);
/* Keeps open streams alive, and ends sessions that were idle for too long at that time. */
void al_mcp_sessions_tick(struct al_mcp_http *h, uint64_t now_ms);

/* --- the modern era (http_modern.c) --- */
void al_mcp_modern_post(struct al_mcp_http *h, struct al_httpd_request *r, struct al_mcp_http_body *body);
void al_mcp_modern_tick(struct al_mcp_http *h);
void al_mcp_modern_end(struct al_mcp_http *h);

#endif
