/* Shared by the files of upstream only: the servers, one server, one connection of it, one request. */
#ifndef AL_UPSTREAM_UPSTREAM_INT_H
#define AL_UPSTREAM_UPSTREAM_INT_H

#include "loop/loop.h"
#include "rpc/rpc.h"
#include "store/catalog.h"
#include "upstream/transport.h"
#include "upstream/upstream.h"

struct al_http_client;

#define AL_UPSTREAM_MAX_CALLS 1024 /* open requests of one server; more is BUSY */
#define AL_VERSION_MODERN "2026-07-28"
#define AL_UPSTREAM_MAX_INSTRUCTIONS (16u << 10)

/* --- all of them (upstream.c) --- */
struct al_upstreams {
    struct al_core *core;
    const struct al_servers *servers;
    char **allow; /* copies of opts.allow; NULL-terminated, never NULL */
    bool relay;
    bool nested; /* ALISIO_MCP_DEPTH ≥ 1: nothing is started */
    struct al_upstream **v;
    size_t n;
    struct al_upstream_listener listener;
    struct al_http_client *http; /* made by the first transport over HTTP: al_upstreams_http */
    void (*stopped)(void *ud);
    void *stopped_ud;
    bool stopping;
    unsigned n_works; /* catalogues that are being written on the pool */
    void *source;     /* catalog.c's own */
};
/* The one HTTP client of all servers, made at first use. */
struct al_http_client *al_upstreams_http(struct al_upstreams *u);

/* --- one server --- */
struct al_conn;
struct al_waiter {
    void (*fn)(void *ud, const struct al_err *err);
    void *ud;
    struct al_waiter *next;
};

struct al_upstream {
    struct al_upstreams *owner;
    const struct al_server *config;
    enum al_upstream_state state;
    struct al_err err;      /* why it is not ready */
    struct al_conn *conn;   /* NULL: not running */
    bool closing;           /* conn is being ended by us */
    char protocol[16];      /* "" before it is known; kept between lives */
    struct al_buf capabilities, info, instructions; /* of the last life */

    struct al_buf log;      /* the end of its standard error */
    uint64_t n_noise;       /* lines on its standard output that were no message */
    char *noise[AL_UPSTREAM_NOISE_LINES];
    uint64_t n_late;        /* answers to nothing that waits: late, double, or invented */
    char *warning;          /* of the last fetch: a repeated cursor, pages without end; NULL: none */

    struct al_waiter *ready_waiters, *refresh_waiters;
    struct al_upstream_call *calls; /* open requests, oldest first: waiting for the start, or sent */
    struct al_upstream_call *calls_last;
    size_t n_calls;
    uint64_t next_id;
    struct al_timer *retry, *idle, *wait_limit, *refetch;
    unsigned n_deaths;      /* since it was last stable */
    uint64_t next_try_ms, ready_since_ms;
    struct al_fetch *fetch; /* tools/list that is under way */
    bool refetch_wanted;    /* the list changed meanwhile */
    bool catalog_checked;   /* the catalogue's config_sha256 was compared in this process */
};

struct al_loop *al_upstream_loop(const struct al_upstream *s);
struct al_core *al_upstream_core(const struct al_upstream *s);
/* For transports: its standard error (kept in a ring), and a line that is no message. */
void al_upstream_log_add(struct al_upstream *s, struct al_str bytes);
void al_upstream_noise_add(struct al_upstream *s, struct al_str line);
/* The last line of its log, made visible and cut; appended. */
void al_upstream_last_words(const struct al_upstream *s, struct al_buf *out);

/* --- tools as a source for the core (catalog.c) --- */
/* Called by al_upstreams_new (al_core_set_source) and al_upstreams_free. */
void al_upstream_source_start(struct al_upstreams *u);
void al_upstream_source_stop(struct al_upstreams *u);
/* call.c: what catalog.c puts into al_tool.start and .cancel. al_tool.data is the struct al_upstream; server_tool the name
 * that is called. */
void al_upstream_tool_start(struct al_call *call);
void al_upstream_tool_cancel(struct al_call *call);

#endif
