/* Inside the MCP server: one connection, the requests in flight on it, and how messages are read and written.
 */
#ifndef AL_MCP_MCP_INT_H
#define AL_MCP_MCP_INT_H

#include "base/arena.h"
#include "base/json.h"
#include "loop/stream.h"
#include "mcp/mcp.h"
#include "rpc/rpc.h"

/* A message may have this many bytes, in and out. A longer line is skipped without being kept. */
#define AL_MCP_MAX_MESSAGE (16u << 20)
/* Requests that one client may have open; the next one is refused as BUSY. */
#define AL_MCP_MAX_IN_FLIGHT 1024
/* While this much waits to be read by the client, no further request is taken. */
#define AL_MCP_QUEUE_HIGH (1u << 20)
#define AL_MCP_QUEUE_MAX (64u << 20)
/* After the end of input, running calls have this long before they are cancelled. */
#define AL_MCP_LINGER_MS 400

/* One tools/call in flight. */
struct al_mcp_request {
    struct al_mcp *mcp;
    struct al_mcp_request *next;
    char *id;             /* the request's id, as the client wrote it */
    char *progress_token; /* likewise; NULL: no progress wanted */
    double progress;      /* the last one sent: each must be greater */
    struct al_call *call;
    bool cancelled; /* by the client: no answer is sent */
};

struct al_mcp {
    struct al_core *core;
    struct al_mcp_opts opts;
    struct al_stream *stream;
    struct al_rpc_lines lines;
    struct al_mcp_request *requests;
    size_t n_requests;
    struct al_timer *linger, *parent_watch;
    int parent_pid;
    bool input_ended, stopping, output_broken, ended_called;
    void (*ended)(void *ud);
    void *ud;
};

/* Sends one message; after a write error or an overfull queue, the connection is stopped. */
void al_mcp_send(struct al_mcp *m, struct al_buf *message);
/* Begins {"jsonrpc":"2.0","id":…; an empty id is null. */
void al_mcp_begin(struct al_jw *w, struct al_buf *out, struct al_str id);
void al_mcp_send_error(struct al_mcp *m, struct al_str id, enum al_rpc_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Handles one line (one message). */
void al_mcp_message(struct al_mcp *m, struct al_str line);

/* tools/list and tools/call. */
bool al_mcp_offers(const struct al_mcp *m, const struct al_tool *tool);
void al_mcp_tools_list(struct al_mcp *m, struct al_str id);
void al_mcp_tools_call(struct al_mcp *m, struct al_str id, const struct al_json *params);
void al_mcp_cancelled(struct al_mcp *m, const struct al_json *params);
void al_mcp_cancel_all(struct al_mcp *m);
/* Calls ended() when the connection is over and nothing runs. */
void al_mcp_check_idle(struct al_mcp *m);

/*
 * Writes a JSON value in at most max bytes: long strings and arrays are cut, evenly, until it fits, and a
 * member "truncated" of the outermost object becomes true. Shape and types stay, so that it still fits the
 * tool's schema.
 */
void al_mcp_bound_json(struct al_str json, size_t max, struct al_buf *out);
/* Cuts text to max characters at a line's end, with a visible mark. */
void al_mcp_bound_text(struct al_str text, size_t max, struct al_buf *out);

#endif
