/*
 * The other MCP servers: started on demand, kept, watched, and spoken to in the newest protocol that both know, over
 * their standard input and output or Streamable HTTP. Their tools are a source of tools for the core; faces that relay
 * (--expose upstream) send requests of any kind.
 */
#ifndef AL_UPSTREAM_UPSTREAM_H
#define AL_UPSTREAM_UPSTREAM_H

#include "base/json.h"
#include "config/servers.h"
#include "core/core.h"

struct al_upstreams;
struct al_upstream; /* one server */

/* --allow-mcp[=S[.PATTERN]]: each is "S" or "S.PATTERN"; "" stands for all. */
struct al_upstreams_opts {
    const struct al_servers *servers; /* borrowed, as long as the object lives */
    const char *const *allow;         /* NULL-terminated; NULL: none */
    bool relay; /* clients' abilities (sampling, elicitation, roots) are offered to the servers */
};

/* Makes itself the core's source of tools (al_core_set_source). Starts nothing. At ALISIO_MCP_DEPTH ≥ 1 no server is
 * ever started, and each says why. */
struct al_upstreams *al_upstreams_new(struct al_core *core, const struct al_upstreams_opts *o);
/* Stops all servers; stopped(ud) follows when every process is reaped, at most about 1 s later. */
void al_upstreams_stop(struct al_upstreams *u, void (*stopped)(void *ud), void *ud);
void al_upstreams_free(struct al_upstreams *u); /* kills what is left */

size_t al_upstreams_n(const struct al_upstreams *u);
struct al_upstream *al_upstreams_at(struct al_upstreams *u, size_t i);
struct al_upstream *al_upstreams_find(struct al_upstreams *u, struct al_str name);

enum al_upstream_state {
    AL_UPSTREAM_OFF, /* not started, or stopped after 10 idle minutes */
    AL_UPSTREAM_STARTING,
    AL_UPSTREAM_READY,
    AL_UPSTREAM_WAITING, /* it died; the next try comes after a pause */
    AL_UPSTREAM_FAILED,  /* it died again; the next call tries once more */
};
enum al_upstream_state al_upstream_state(const struct al_upstream *s);
const struct al_server *al_upstream_config(const struct al_upstream *s);
const char *al_upstream_protocol(const struct al_upstream *s);           /* "2026-07-28"; "" before it is known */
struct al_str al_upstream_capabilities(const struct al_upstream *s);     /* JSON; empty before it is known */
struct al_str al_upstream_info(const struct al_upstream *s);             /* serverInfo, JSON */
struct al_str al_upstream_instructions(const struct al_upstream *s);
struct al_str al_upstream_log(const struct al_upstream *s);              /* the last 16 KiB of its standard error, for a person alone: what stands in its env and headers is named only */
const struct al_err *al_upstream_error(const struct al_upstream *s);     /* why it is not ready; code AL_OK: nothing */

/* What doctor shows besides: how far it keeps to the protocol. Views, as long as nothing runs. */
struct al_upstream_health {
    uint64_t n_noise;     /* lines on its standard output that were no message */
    const char *noise[10]; /* the first of them, visible and cut */
    size_t n_noise_lines;
    uint64_t n_late;      /* answers that nobody waited for: late, double or invented */
    const char *warning;  /* of the last fetch of its tools; NULL: none */
};
void al_upstream_health(const struct al_upstream *s, struct al_upstream_health *ret);

/* Starts it when needed; ready(ud, NULL) when requests can be sent, or the reason. Never from within the call. */
void al_upstream_ready(struct al_upstream *s, void (*ready)(void *ud, const struct al_err *err), void *ud);
/* Fetches the catalogue anew (all pages) and stores it; done as above. Called by itself at the first start, after
 * list_changed, and when the definition of the server has changed. */
void al_upstream_refresh(struct al_upstream *s, void (*done)(void *ud, const struct al_err *err), void *ud);

/* Fetches the catalogues that are not there, or are of another definition of their server, in the background, a few at a
 * time. Nobody waits for it: a failure is told by the server's first call. */
void al_upstreams_fetch_missing(struct al_upstreams *u);

/* A server's answer. Exactly one of result, failure and err is there; views for the call. */
struct al_upstream_answer {
    struct al_str result;  /* JSON object as it came (resultType included) */
    struct al_str failure; /* JSON error object as it came */
    const struct al_json *value; /* the result, read; NULL without one */
    const struct al_err *err; /* no answer: UPSTREAM_UNAVAILABLE, AUTH_REQUIRED, TOOL_TIMEOUT, CANCELLED, RESULT_TOO_LARGE */
};

/* What the server asks of the client while a request of ours runs (sampling, elicitation, roots). Answer exactly once,
 * now or later, also after the request has ended (then it leads nowhere). Views for the call. */
struct al_upstream_question {
    struct al_str method, params; /* params: JSON, or empty */
    struct al_question_reply *reply; /* core/tool.h */
};

struct al_upstream_request {
    const char *method;
    struct al_str params; /* JSON object, or empty. Its _meta is passed on but for what belongs to this hop:
                             progressToken and the names under io.modelcontextprotocol/, which are written anew; with
                             opts.relay a clientCapabilities there is kept for a modern server, since it tells what the
                             one behind us can be asked */
    uint64_t timeout_ms;  /* 0: the server's; a progress notification starts it anew, up to 10 times as long in all */
    struct al_str log_level; /* modern servers: asks for log messages of this request; empty: none */
    const void *owner; /* whose request it is; NULL: nobody's. What a server asks or tells without naming a request is
                          passed on only while it is clear whose it is */
    /* All may be NULL but done. Without question, questions are refused. */
    void (*progress)(void *ud, struct al_str params); /* of notifications/progress, as they came */
    void (*message)(void *ud, struct al_str params);  /* of notifications/message that belong to it (modern, HTTP) */
    void (*question)(void *ud, const struct al_upstream_question *q);
    void (*done)(void *ud, const struct al_upstream_answer *a); /* once, never from within the call */
    void *ud;
};
struct al_upstream_call;
/* Starts the server when needed. Never NULL. */
struct al_upstream_call *al_upstream_send(struct al_upstream *s, const struct al_upstream_request *r);
/* notifications/cancelled (or the end of its HTTP stream) to the server; done follows with CANCELLED. */
void al_upstream_cancel(struct al_upstream_call *c);
/* Whose request what the server says now, without naming one, is about: NULL is nobody's. False: it cannot be told,
 * since requests of several are open. Those whose owner is being asked wait for the answer, and do not count beside
 * others. */
bool al_upstream_speaks_of(const struct al_upstream *s, const void **owner);
/* The workspace as an answer to roots/list. */
void al_upstream_put_roots(const struct al_upstream *s, struct al_buf *out);
/* As often as it is held, a server that nobody uses is not stopped: it may have something to tell. */
void al_upstream_hold(struct al_upstream *s, bool hold);
/* A notification to the server; dropped when it is not ready. */
void al_upstream_notify(struct al_upstream *s, const char *method, struct al_str params);

/* Notifications of servers that belong to no request: list_changed of all kinds, resources/updated, message of older
 * servers. Called after our own handling (a changed tool list is fetched anew first). */
struct al_upstream_listener {
    void (*notification)(void *ud, struct al_upstream *s, struct al_str method, struct al_str params);
    /* With opts.relay: questions of an older server that belong to no request of ours (roots/list at its start). NULL:
     * refused, and roots/list is answered with the workspace. */
    void (*question)(void *ud, struct al_upstream *s, const struct al_upstream_question *q);
    /* A life of a server begins: requests that are sent now come before those that wait. */
    void (*ready)(void *ud, struct al_upstream *s);
    void *ud;
};
void al_upstreams_listen(struct al_upstreams *u, const struct al_upstream_listener *listener); /* copied; one */

#endif
