/* Shared by the files of upstream only: the servers, one server, one connection of it, one request. */
#ifndef AL_UPSTREAM_UPSTREAM_INT_H
#define AL_UPSTREAM_UPSTREAM_INT_H

#include "loop/loop.h"
#include "rpc/rpc.h"
#include "store/catalog.h"
#include "upstream/transport.h"
#include "upstream/upstream.h"

struct al_http_client;
struct al_conn;
struct al_fetch;
struct al_put;

#define AL_UPSTREAM_MAX_CALLS 1024 /* open requests of one server; more is BUSY */
#define AL_VERSION_MODERN "2026-07-28"
#define AL_UPSTREAM_MAX_PAGES 1000
#define AL_UPSTREAM_N_RUNS 32 /* that are remembered to have waited for its start */

/* --- all of them (upstream.c) --- */
struct al_upstreams {
    struct al_core *core;
    const struct al_servers *servers;
    char **allow; /* copies of opts.allow; NULL-terminated, never NULL */
    bool relay;
    int depth; /* ALISIO_MCP_DEPTH; from 1 on nothing is started */
    struct al_upstream **v;
    size_t n;
    struct al_upstream_listener listener;
    struct al_http_client *http; /* made by the first transport over HTTP: al_upstreams_http */
    void *source;                /* catalog.c's own */

    struct al_conn *dying; /* connections that are being ended; nobody waits for them but al_upstreams_stop */
    struct al_put *puts;   /* catalogues that are being written on the pool */
    bool stopping;
    void (*stopped)(void *ud);
    void *stopped_ud;
    struct al_timer *stop_timer;
    /* What tests make shorter. */
    uint64_t idle_ms, probe_ms, retry_ms;
};
/* The one HTTP client of all servers, made at first use. */
struct al_http_client *al_upstreams_http(struct al_upstreams *u);
/* Something that the end waits for has gone. */
void al_upstreams_check_stopped(struct al_upstreams *u);

/* --- one server --- */
struct al_waiter {
    void (*fn)(void *ud, const struct al_err *err);
    void *ud;
    struct al_err err;
    struct al_waiter *next;
};

struct al_upstream {
    struct al_upstreams *owner;
    const struct al_server *config;
    enum al_upstream_state state;
    struct al_err err;    /* why it is not ready */
    struct al_conn *conn; /* NULL: not running */
    char protocol[16];    /* "" before it is known; kept between lives */
    bool looked_up;       /* the catalogue was asked for the protocol and the hash of the configuration */
    bool catalog_fresh;   /* its list was asked for in this life, and it has told of no change since */
    bool listed;          /* its list was asked for in this life */
    bool list_changed;    /* … and it told of a change while it was fetched */
    bool exec_failed;     /* its command could not be run at all */
    bool silent_probe;    /* its last life did not survive the question of a newer protocol */
    struct al_buf capabilities, info, instructions; /* of the last life */

    struct al_buf log;        /* the end of its standard error */
    struct al_buf *log_shown; /* … as it may be shown */
    uint64_t n_noise;  /* lines on its standard output that were no message */
    char *noise[AL_UPSTREAM_NOISE_LINES];
    uint64_t n_late; /* answers to nothing that waits: late, double, or invented */
    char *warning;   /* of the last fetch: a repeated cursor, pages without end; NULL: none */

    struct al_waiter *ready_waiters, *refresh_waiters;
    struct al_waiter *woken; /* told in the next turn */
    struct al_timer *wake;
    struct al_upstream_call *calls; /* open requests, oldest first */
    struct al_upstream_call *calls_last;
    unsigned n_holds; /* al_upstream_hold */
    size_t n_calls, n_internal; /* internal ones keep no server alive */
    uint64_t last_id;
    struct al_timer *retry, *idle;
    struct al_timer *anew; /* another session is due; what still runs in the old one is waited for */
    unsigned n_deaths; /* since it was last stable */
    uint64_t next_try_ms, ready_since_ms;
    struct al_fetch *fetch; /* tools/list that is under way */
    struct al_timer *refetch, *relisten;
    struct al_buf
        held; /* a notification of a changed tool list, kept until the list was fetched; empty: none */
    int64_t fetched_ms;  /* when the catalogue was fetched, by the wall clock; 0: never */
    unsigned n_refetches; /* since it was last quiet */
    uint64_t refetch_ms;  /* when the last one began */
    /* Runs whose clock has stood still for a start of this server: once each. */
    char waited[AL_UPSTREAM_N_RUNS][AL_ID_MAX];
    unsigned next_waited;
};

struct al_loop *al_upstream_loop(const struct al_upstream *s);
struct al_core *al_upstream_core(const struct al_upstream *s);
/* For transports: its standard error (kept in a ring), and a line that is no message. */
void al_upstream_log_add(struct al_upstream *s, struct al_str bytes);
void al_upstream_noise_add(struct al_upstream *s, struct al_str line);

/* Makes it start unless it runs or will. -1 with err when it cannot be started now or ever. */
int al_upstream_need(struct al_upstream *s, struct al_err *err) AL_MUST_CHECK;
/* Something that kept it alive has ended. */
void al_upstream_rest(struct al_upstream *s);
/* Of its connection: it can be used; it has ended by itself or could not begin (the connection is gone). */
void al_upstream_conn_ready(struct al_upstream *s);
void al_upstream_conn_ended(struct al_upstream *s, bool while_probing, const struct al_err *err);
/* The server has forgotten the session: another connection, as soon as nothing waits for an answer in this one. */
void al_upstream_conn_anew(struct al_upstream *s);
void al_upstream_notified(struct al_upstream *s, struct al_str method, struct al_str params);
/* Tells them in the next turn of the loop. */
void al_upstream_wake(struct al_upstream *s, struct al_waiter **list, const struct al_err *err);
void al_waiter_add(struct al_waiter **list, void (*fn)(void *ud, const struct al_err *err), void *ud);

/* --- the catalogue (list.c) --- */
void al_upstream_fetch(struct al_upstream *s);      /* the server is ready; ends in al_upstream_fetched */
void al_upstream_fetch_drop(struct al_upstream *s); /* without telling anybody */
void al_upstream_fetched(struct al_upstream *s, const struct al_err *err);
void al_upstream_look_up(struct al_upstream *s); /* what the catalogue knows of it, once */
void al_upstreams_puts_drop(struct al_upstreams *u);

/* --- one request (request.c) --- */
enum al_request_state {
    AL_REQUEST_WAITING, /* for the server's start */
    AL_REQUEST_SENT,
    AL_REQUEST_ENDED, /* done comes in the next turn */
};

struct al_upstream_call {
    struct al_upstream *s;
    struct al_upstream_request r; /* method and params are copies */
    enum al_request_state state;
    uint64_t id;   /* 0: not sent yet */
    bool internal; /* ours: it keeps no server alive, and has no time limit */
    bool resent;
    uint64_t timeout_ms, give_up_ms; /* give_up_ms: by the clock, whatever the progress */
    unsigned n_questions;            /* open ones: the clock stands still */
    uint64_t question_since_ms;
    struct al_timer *timer;
    struct al_err err;          /* of an ENDED one */
    /* Of a call of a tool that goes out in another life than it was meant for: not before that life's list is
     * known, and this agrees. NULL: at once. */
    int (*check)(void *ud, struct al_err *err);
    struct al_str input_schema; /* of a modern tools/call over HTTP; a copy */
    struct al_upstream_call *next, *prev;
};
struct al_upstream_call *al_request_new(struct al_upstream *s, const struct al_upstream_request *r,
                                        bool internal);
/* Sends it, or makes the server start. An internal one is sent by the next al_requests_send instead. */
void al_request_begin(struct al_upstream_call *c);
struct al_upstream_call *al_request_find(struct al_upstream *s, uint64_t id); /* of those that are SENT */
bool al_requests_sent(const struct al_upstream *s);
void al_requests_send(struct al_upstream *s); /* those that wait: the server is ready */
/* Those that were sent, and with all those that wait, too. */
void al_requests_fail(struct al_upstream *s, bool all, const struct al_err *err);
void al_requests_drop(struct al_upstream *s); /* without telling anybody */
void al_request_answer(struct al_upstream *s, uint64_t id, const struct al_rpc *answer);
void al_request_lost(struct al_upstream *s, uint64_t id, enum al_transport_loss loss,
                     const struct al_err *err);
void al_request_progress(struct al_upstream *s, const struct al_json *params);
/* The one a message or question belongs to: that of the stream, else the newest that takes such of the owner that
 * the server speaks of. */
struct al_upstream_call *al_request_for(struct al_upstream *s, uint64_t stream, bool question);
void al_request_question(struct al_upstream_call *c, bool open); /* its clock stands still meanwhile */

/* --- one life of a server (connection.c) --- */
struct al_conn *al_conn_open(struct al_upstream *s);
/* Ends it in the background, within grace_ms and 300 ms. The pointer is dead. */
void al_conn_close(struct al_conn *c, uint64_t grace_ms);
void al_conn_hurry(struct al_conn *c, uint64_t grace_ms); /* one of al_upstreams.dying … */
struct al_conn *al_conn_next(const struct al_conn *c);    /* … and the next */
void al_conn_free(struct al_conn *c);                     /* at once, without callbacks; also a dying one */
int al_conn_send(struct al_conn *c, struct al_upstream_call *call, struct al_err *err) AL_MUST_CHECK;
void al_conn_cancel(struct al_conn *c, uint64_t id, const char *reason);
void al_conn_notify(struct al_conn *c, const char *method, struct al_str params);
bool al_conn_modern(const struct al_conn *c);
bool al_conn_takes_tool(const struct al_conn *c, const struct al_json *tool, struct al_buf *why);
/* Modern: a request that waits to be sent (al_requests_send) for what the server tells by itself, if it tells
 * any. */
void al_conn_subscribe(struct al_conn *c);
void al_upstream_unlistened(void *ud,
                            const struct al_upstream_answer *a); /* its end; ud: struct al_upstream */
/* question.c: an answer to a question of the server; code 0: result. */
void al_conn_answer(struct al_conn *c, struct al_str id, uint64_t stream, int code, struct al_str text);
/* question.c */
struct al_question;
struct al_question **al_conn_questions(struct al_conn *c);
void al_question_ask(struct al_conn *c, struct al_upstream *s, const struct al_rpc *rpc, uint64_t stream);
void al_question_cancelled(struct al_conn *c, const struct al_json *params);
void al_questions_drop(struct al_conn *c); /* their answers lead nowhere from now on */
void al_questions_forget(struct al_conn *c, const struct al_upstream_call *call);

/* --- tools as a source for the core (catalog.c) --- */
/* Called by al_upstreams_new (al_core_set_source) and al_upstreams_free. */
void al_upstream_source_start(struct al_upstreams *u);
void al_upstream_source_stop(struct al_upstreams *u);
/* call.c: what catalog.c puts into al_tool.start and .cancel. al_tool.data is the struct al_upstream;
 * server_tool the name that is called. */
void al_upstream_tool_start(struct al_call *call);
void al_upstream_tool_cancel(struct al_call *call);

#endif
