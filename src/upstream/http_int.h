/*
 * Streamable HTTP as a transport: shared by its files. It knows a server by its name, URL and headers alone,
 * so that it can be tried without one.
 */
#ifndef AL_UPSTREAM_HTTP_INT_H
#define AL_UPSTREAM_HTTP_INT_H

#include "http/client.h"
#include "rpc/sse.h"
#include "upstream/transport.h"

#define AL_HTTP_MAX_EXCHANGES 2048      /* of one server at once, waiting ones included */
#define AL_HTTP_MAX_REFUSAL (64u << 10) /* of the body of an answer that is none of ours */
#define AL_HTTP_MAX_SESSION 8192
#define AL_HTTP_REDIRECTS 5

struct al_http_server {
    const char *name;           /* for people */
    const char *url;            /* unexpanded, as below */
    const char *const *headers; /* "Name: value", NULL-terminated; may be NULL */
    struct al_loop *loop;
    struct al_http_client *client;
};
/* Everything is copied but loop and client, which must outlive it. */
struct al_transport *al_http_transport_new(const struct al_http_server *server,
                                           const struct al_transport_events *events, void *ud);

struct al_http_transport;

/* What one exchange with the server is for. */
enum al_exchange_kind {
    AL_EXCHANGE_REQUEST, /* POST, and then perhaps GETs that take its stream up again */
    AL_EXCHANGE_SAY,     /* POST of a notification or of an answer to a question */
    AL_EXCHANGE_LISTEN,  /* GET: the stream that belongs to no request */
    AL_EXCHANGE_BYE,     /* DELETE of the session */
};

enum al_exchange_form {
    AL_FORM_NONE,   /* the body is dropped */
    AL_FORM_TEXT,   /* one JSON text, or what says why not */
    AL_FORM_EVENTS, /* Server-Sent Events */
};

struct al_exchange {
    struct al_http_transport *t;
    struct al_exchange *prev, *next;
    enum al_exchange_kind kind;
    uint64_t id; /* of a request */
    bool modern, initialize,
        initialized;       /* the last: of the notification that has to arrive before everything else */
    char *json;            /* of a POST that has not started yet */
    struct al_buf headers; /* "Name: value" 0 …, what this message adds */

    struct al_http *http;
    bool started;
    bool had_session; /* it was sent with one */
    bool resuming;    /* it is a GET with Last-Event-ID */
    uint64_t head_ms; /* when its present answer began */
    int status;
    enum al_exchange_form form;
    struct al_sse sse;
    struct al_buf text;
    struct al_buf pending; /* bytes of the stream that came while the transport pauses */
    bool over;             /* http is done; what is pending is still to be given */
    struct al_err over_err;

    bool answered;    /* its answer has come: nothing is lost any more */
    char *last_event; /* NULL: none */
    int64_t retry_ms;
    unsigned failures; /* tries to take it up in a row that brought no event; of one that listens: that did not last */
    struct al_timer *timer; /* until the next try; or of what has its answer and does not end */
    bool to_tell;           /* of a pause, or of its end */
    unsigned busy;
    bool dead;
};

struct al_http_transport {
    struct al_transport base;
    char *name, *url_text;
    char **header_texts; /* unexpanded */
    struct al_loop *loop;
    struct al_http_client *client;
    char *url;
    char **headers; /* expanded, without those that are ours to say */
    bool has_authorization;

    char *session;
    char version[16]; /* of the old era, as agreed */
    struct al_exchange *first;
    unsigned n_exchanges;
    struct al_exchange
        *gate; /* `initialized`, on its way: nothing else starts before it has arrived; NULL: none */
    bool paused, open, closing, dead;
    unsigned busy;
    struct al_timer *timer; /* of opening; of closing */
    bool broken;            /* it could not be opened */
    uint64_t min_retry_ms;  /* of taking streams up again, whatever the server names; tests make it shorter */
    struct al_err err;
};

/* --- http.c --- */
void al_http_t_enter(struct al_http_transport *t);
void al_http_t_leave(struct al_http_transport *t);  /* t may be gone */
void al_http_t_starts(struct al_http_transport *t); /* the gate is open: starts what waits */
void al_http_t_bye_done(struct al_http_transport *t);

/* --- http_exchange.c --- */
struct al_exchange *al_exchange_new(struct al_http_transport *t, enum al_exchange_kind kind);
/* Ends it without a word; freed when none of its functions runs. */
void al_exchange_drop(struct al_exchange *x);
int al_exchange_start(struct al_exchange *x, struct al_err *err) AL_MUST_CHECK;
/* Of one that could not be started later: told as lost. */
void al_exchange_fail(struct al_exchange *x, enum al_transport_loss loss, const struct al_err *err);
void al_exchange_pause(struct al_exchange *x, bool pause);

/* --- http_answer.c: what an answer means that is no stream and no JSON-RPC message for us --- */
/* What x's status and text say, as the loss that it is; err in a person's words. */
enum al_transport_loss al_answer_refused(const struct al_exchange *x, struct al_err *err);
/* The text is a JSON-RPC error for x's request, or one without an id that can only be for it: appended as it
 * should have been. False: it is not. */
bool al_answer_is_error(const struct al_exchange *x, struct al_buf *out);
/* Whether a message answers the request id. */
bool al_answer_for(struct al_str json, uint64_t id);

/* --- http_params.c: x-mcp-header (2026-07-28, basic/transports/streamable-http, Custom Headers from Tool
 * Parameters) --- */
bool al_params_takes_tool(const struct al_json *tool, struct al_buf *why);
/* Appends "Mcp-Param-…: value" 0 for each. */
int al_params_headers(struct al_str input_schema, struct al_str arguments, struct al_buf *out,
                      struct al_err *err) AL_MUST_CHECK;
/* Appends a value as a header can carry it. */
void al_params_value(struct al_str value, struct al_buf *out);

#endif
