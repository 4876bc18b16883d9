/* The servers and the life of each: started when somebody needs it, kept, stopped when nobody does, tried
 * again when it dies. */
#include "upstream/upstream.h"
#include "base/mem.h"
#include "base/text.h"
#include "http/client.h"
#include "upstream/upstream_int.h"

#define IDLE_MS (10 * 60 * (uint64_t)1000)
#define PROBE_MS 1500
#define RETRY_MS 250
#define RETRY_MAX_MS 30000
#define STABLE_MS 60000
#define STOP_GRACE_MS 300
#define IDLE_GRACE_MS 2000
#define REFETCH_MS 200
#define REFETCH_MAX_MS 30000
#define QUIET_MS 60000
/* How old a catalogue may be at a start: what a server offers changes with its version, and that its tools
 * are still what they were when they were allowed is seen by a fetch only. */
#define RETRY_SOON_MS 1000
#define ANEW_MS 1000
#define RELISTEN_MS 5000
#define INSTRUCTIONS_MAX (64u << 10)

/* --- all of them --- */

static int depth_of_environment(void)
{
    const char *z = getenv("ALISIO_MCP_DEPTH");
    int64_t depth = 0;
    if (z && *z && !al_parse_int(al_str_of(z), 0, 1000, &depth))
        depth = 1; /* what cannot be read is no reason to start anything */
    return (int)depth;
}

static char **copy_list(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    char **copy = al_xcalloc(n + 1, sizeof(*copy));
    for (size_t i = 0; i < n; i++)
        copy[i] = al_xstrdup(list[i]);
    return copy;
}

static struct al_upstream *upstream_new(struct al_upstreams *u, const struct al_server *config)
{
    struct al_upstream *s = al_xcalloc(1, sizeof(*s));
    s->owner = u;
    s->config = config;
    al_buf_init(&s->log, AL_UPSTREAM_MAX_LOG);
    s->log_shown = al_xcalloc(1, sizeof(*s->log_shown));
    al_buf_init(s->log_shown, 64 * AL_UPSTREAM_MAX_LOG);
    return s;
}

struct al_upstreams *al_upstreams_new(struct al_core *core, const struct al_upstreams_opts *o)
{
    struct al_upstreams *u = al_xcalloc(1, sizeof(*u));
    u->core = core;
    u->servers = o->servers;
    u->allow = copy_list(o->allow);
    u->relay = o->relay;
    u->depth = depth_of_environment();
    u->idle_ms = IDLE_MS;
    u->probe_ms = PROBE_MS;
    u->retry_ms = RETRY_MS;
    u->v = al_xcalloc(o->servers->n + 1, sizeof(struct al_upstream *));
    for (size_t i = 0; i < o->servers->n; i++)
        u->v[u->n++] = upstream_new(u, &o->servers->v[i]);
    al_upstream_source_start(u);
    return u;
}

static void stop_timers(struct al_upstream *s)
{
    struct al_timer **const timers[] = {&s->wake, &s->retry, &s->idle, &s->anew, &s->refetch, &s->relisten};
    for (size_t i = 0; i < sizeof(timers) / sizeof(*timers); i++) {
        al_timer_stop(*timers[i]);
        *timers[i] = NULL;
    }
}

static void free_waiters(struct al_waiter **list)
{
    while (*list) {
        struct al_waiter *w = *list;
        *list = w->next;
        free(w);
    }
}

static void upstream_free(struct al_upstream *s)
{
    stop_timers(s);
    al_upstream_fetch_drop(s);
    al_conn_free(s->conn);
    s->conn = NULL;
    al_requests_drop(s);
    free_waiters(&s->ready_waiters);
    free_waiters(&s->refresh_waiters);
    free_waiters(&s->woken);
    struct al_buf *const bufs[] = {&s->capabilities, &s->info, &s->instructions, &s->log, &s->held};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(*bufs); i++)
        al_buf_free(bufs[i]);
    for (size_t i = 0; i < AL_UPSTREAM_NOISE_LINES; i++)
        free(s->noise[i]);
    al_buf_free(s->log_shown);
    free(s->log_shown);
    free(s->warning);
    free(s);
}

void al_upstreams_free(struct al_upstreams *u)
{
    if (!u)
        return;
    al_upstream_source_stop(u);
    al_timer_stop(u->stop_timer);
    while (u->dying)
        al_conn_free(u->dying);
    for (size_t i = 0; i < u->n; i++)
        upstream_free(u->v[i]);
    al_upstreams_puts_drop(u);
    al_http_client_free(u->http);
    for (char **z = u->allow; *z; z++)
        free(*z);
    free(u->allow);
    free(u->v);
    free(u);
}

static void tell_stopped(void *ud)
{
    struct al_upstreams *u = ud;
    void (*stopped)(void *ud) = u->stopped;
    u->stop_timer = NULL;
    u->stopped = NULL;
    if (stopped)
        stopped(u->stopped_ud);
}

void al_upstreams_check_stopped(struct al_upstreams *u)
{
    if (!u->stopping || !u->stopped || u->dying || u->puts || u->stop_timer)
        return;
    u->stop_timer = al_timer_start(al_core_loop(u->core), 0, tell_stopped, u);
}

void al_upstreams_stop(struct al_upstreams *u, void (*stopped)(void *ud), void *ud)
{
    struct al_err err;
    al_fail(&err, AL_CANCELLED, "alisio is shutting down");
    u->stopping = true;
    u->stopped = stopped;
    u->stopped_ud = ud;
    for (struct al_conn *c = u->dying, *next; c; c = next) {
        next = al_conn_next(c);
        al_conn_hurry(c, STOP_GRACE_MS);
    }
    for (size_t i = 0; i < u->n; i++) {
        struct al_upstream *s = u->v[i];
        al_upstream_fetch_drop(s);
        al_requests_fail(s, true, &err);
        al_upstream_wake(s, &s->ready_waiters, &err);
        al_upstream_wake(s, &s->refresh_waiters, &err);
        al_timer_stop(s->retry);
        al_timer_stop(s->anew);
        s->retry = s->anew = NULL;
        if (s->conn)
            al_conn_close(s->conn, STOP_GRACE_MS);
        s->conn = NULL;
        s->state = AL_UPSTREAM_OFF;
    }
    al_upstreams_check_stopped(u);
}

size_t al_upstreams_n(const struct al_upstreams *u)
{
    return u->n;
}

struct al_upstream *al_upstreams_at(struct al_upstreams *u, size_t i)
{
    return u->v[i];
}

struct al_upstream *al_upstreams_find(struct al_upstreams *u, struct al_str name)
{
    for (size_t i = 0; i < u->n; i++)
        if (al_str_is(name, u->v[i]->config->name))
            return u->v[i];
    return NULL;
}

void al_upstreams_listen(struct al_upstreams *u, const struct al_upstream_listener *listener)
{
    u->listener = listener ? *listener : (struct al_upstream_listener){0};
}

struct al_http_client *al_upstreams_http(struct al_upstreams *u)
{
    if (!u->http)
        u->http = al_http_client_new(al_core_loop(u->core));
    return u->http;
}

/* --- what is known of one --- */

enum al_upstream_state al_upstream_state(const struct al_upstream *s)
{
    return s->state;
}

const struct al_server *al_upstream_config(const struct al_upstream *s)
{
    return s->config;
}

const char *al_upstream_protocol(const struct al_upstream *s)
{
    return s->protocol;
}

struct al_str al_upstream_capabilities(const struct al_upstream *s)
{
    return al_buf_str(&s->capabilities);
}

struct al_str al_upstream_info(const struct al_upstream *s)
{
    return al_buf_str(&s->info);
}

struct al_str al_upstream_instructions(const struct al_upstream *s)
{
    return al_buf_str(&s->instructions);
}

const struct al_err *al_upstream_error(const struct al_upstream *s)
{
    return &s->err;
}

void al_upstream_health(const struct al_upstream *s, struct al_upstream_health *ret)
{
    *ret = (struct al_upstream_health){.n_noise = s->n_noise, .n_late = s->n_late, .warning = s->warning};
    for (size_t i = 0; i < AL_UPSTREAM_NOISE_LINES && s->noise[i]; i++)
        ret->noise[ret->n_noise_lines++] = s->noise[i];
}

struct al_loop *al_upstream_loop(const struct al_upstream *s)
{
    return al_core_loop(s->owner->core);
}

struct al_core *al_upstream_core(const struct al_upstream *s)
{
    return s->owner->core;
}

/* --- those who wait --- */

void al_waiter_add(struct al_waiter **list, void (*fn)(void *ud, const struct al_err *err), void *ud)
{
    struct al_waiter *w = al_xcalloc(1, sizeof(*w));
    w->fn = fn;
    w->ud = ud;
    while (*list)
        list = &(*list)->next;
    *list = w;
}

static void wake(void *ud)
{
    struct al_upstream *s = ud;
    s->wake = NULL;
    while (s->woken) {
        struct al_waiter *w = s->woken;
        s->woken = w->next;
        w->fn(w->ud, w->err.code == AL_OK ? NULL : &w->err);
        free(w);
    }
}

void al_upstream_wake(struct al_upstream *s, struct al_waiter **list, const struct al_err *err)
{
    struct al_waiter **last = &s->woken;
    while (*last)
        last = &(*last)->next;
    *last = *list;
    *list = NULL;
    for (struct al_waiter *w = *last; w; w = w->next)
        w->err = err ? *err : (struct al_err){0};
    if (s->woken && !s->wake)
        s->wake = al_timer_start(al_upstream_loop(s), 0, wake, s);
}

/* --- the start --- */

static void start(struct al_upstream *s)
{
    al_upstream_look_up(s);
    s->catalog_fresh = s->listed = false; /* another life may offer other things */
    s->state = AL_UPSTREAM_STARTING;
    s->conn = al_conn_open(s);
}

static void try_again(void *ud)
{
    struct al_upstream *s = ud;
    s->retry = NULL;
    start(s);
}

static void wait_for_retry(struct al_upstream *s)
{
    uint64_t now = al_mono_ms();
    s->state = AL_UPSTREAM_WAITING;
    al_timer_stop(s->retry);
    s->retry =
        al_timer_start(al_upstream_loop(s), s->next_try_ms > now ? s->next_try_ms - now : 0, try_again, s);
}

static int may_start(struct al_upstream *s, struct al_err *err)
{
    if (s->owner->stopping)
        return al_fail(err, AL_CANCELLED, "alisio is shutting down");
    if (s->config->disabled) {
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s is switched off in %s", s->config->name,
                s->config->origin ? s->config->origin : "the configuration");
        return al_hint(err, "take \"disabled\" out of its configuration");
    }
    if (s->owner->depth > 0) {
        al_fail(err, AL_UPSTREAM_UNAVAILABLE,
                "the MCP server %s is not started: this alisio was itself started as a server by another one",
                s->config->name);
        return al_hint(err, "call its tools there");
    }
    return 0;
}

int al_upstream_need(struct al_upstream *s, struct al_err *err)
{
    if (s->conn || s->state == AL_UPSTREAM_WAITING)
        return 0;
    if (may_start(s, err) < 0) {
        s->err = *err;
        return -1;
    }
    uint64_t now = al_mono_ms();
    if (now + RETRY_SOON_MS < s->next_try_ms) {
        /* Who calls again and again a server that cannot work should not wait each time. */
        autobuf struct al_buf left = AL_BUF_INIT(64);
        al_text_duration(&left, s->next_try_ms - now);
        *err = s->err;
        return al_hint(err, "it is tried again in %.*s; `alisio mcp doctor %s` shows what it printed",
                       AL_FMT(al_buf_str(&left)), s->config->name);
    }
    if (now < s->next_try_ms)
        wait_for_retry(s);
    else
        start(s);
    return 0;
}

void al_upstream_conn_ready(struct al_upstream *s)
{
    s->state = AL_UPSTREAM_READY;
    s->ready_since_ms = al_mono_ms();
    s->silent_probe = false;
    al_err_clear(&s->err);
    if (s->owner->listener.ready)
        s->owner->listener.ready(s->owner->listener.ud, s);
    al_upstream_wake(s, &s->ready_waiters, NULL);
    al_requests_send(s);
    if (s->state == AL_UPSTREAM_READY && (!s->catalog_fresh || s->refresh_waiters))
        al_upstream_fetch(s);
    al_upstream_rest(s);
}

/* --- the end --- */

static void change_session(struct al_upstream *s)
{
    struct al_conn *old = s->conn;
    struct al_err err;
    al_timer_stop(s->anew);
    s->anew = NULL;
    al_fail(&err, AL_UPSTREAM_UNAVAILABLE,
            "the MCP server %s has ended its session, and this request with it", s->config->name);
    al_requests_fail(s, false, &err);
    s->conn = NULL;
    al_conn_free(old);
    start(s);
}

static void change_session_late(void *ud)
{
    struct al_upstream *s = ud;
    s->anew = NULL;
    change_session(s);
}

static uint64_t pause_after(const struct al_upstream *s)
{
    if (s->n_deaths <= 1)
        return s->owner->retry_ms;
    uint64_t ms = 4 * s->owner->retry_ms;
    for (unsigned i = 2; i < s->n_deaths && ms < RETRY_MAX_MS; i++)
        ms *= 2;
    return ms < RETRY_MAX_MS ? ms : RETRY_MAX_MS;
}

void al_upstream_conn_ended(struct al_upstream *s, bool while_probing, const struct al_err *err)
{
    bool was_ready = s->state == AL_UPSTREAM_READY;
    uint64_t now = al_mono_ms();
    s->conn = NULL;
    if (s->owner->stopping)
        return;
    if (s->anew) { /* what waits for the other session need not know of this end */
        al_requests_fail(s, false, err);
        change_session(s);
        return;
    }
    if (while_probing && !s->silent_probe &&
        !s->exec_failed) { /* older servers may end at a first message that they do not know */
        s->silent_probe = true;
        start(s);
        return;
    }
    s->silent_probe = false;
    if (was_ready && now - s->ready_since_ms >= STABLE_MS)
        s->n_deaths = 0;
    s->n_deaths++;
    s->next_try_ms = now + pause_after(s);
    s->err = *err;
    al_timer_stop(s->idle);
    s->idle = NULL;
    al_requests_fail(s, !was_ready, err);
    al_upstream_wake(s, &s->ready_waiters, err);
    if (was_ready && s->n_deaths == 1)
        wait_for_retry(s);
    else
        s->state = AL_UPSTREAM_FAILED;
    if (s->state == AL_UPSTREAM_FAILED && !s->fetch)
        al_upstream_wake(s, &s->refresh_waiters, err);
}

void al_upstream_conn_anew(struct al_upstream *s)
{
    s->state = AL_UPSTREAM_STARTING;
    if (!s->anew)
        s->anew =
            al_timer_start(al_upstream_loop(s), al_requests_sent(s) ? ANEW_MS : 0, change_session_late, s);
}

static void no_use(void *ud)
{
    struct al_upstream *s = ud;
    struct al_err err;
    s->idle = NULL;
    if (s->n_calls > s->n_internal || s->fetch || s->state != AL_UPSTREAM_READY)
        return;
    al_fail(&err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s is being stopped: nobody has used it for long",
            s->config->name);
    struct al_conn *c = s->conn;
    s->conn = NULL;
    s->state = AL_UPSTREAM_OFF;
    al_requests_fail(s, false, &err);
    al_conn_close(c, IDLE_GRACE_MS);
}

void al_upstream_rest(struct al_upstream *s)
{
    bool used = s->n_calls > s->n_internal || s->n_holds || s->fetch || s->state != AL_UPSTREAM_READY;
    al_timer_stop(s->idle);
    if (s->anew && !al_requests_sent(s)) {
        al_timer_stop(s->anew);
        s->anew = al_timer_start(al_upstream_loop(s), 0, change_session_late, s);
    }
    s->idle = used ? NULL : al_timer_start(al_upstream_loop(s), s->owner->idle_ms, no_use, s);
}

void al_upstream_hold(struct al_upstream *s, bool hold)
{
    s->n_holds += hold ? 1 : -1;
    al_upstream_rest(s);
}

/* --- for others --- */

void al_upstream_ready(struct al_upstream *s, void (*ready)(void *ud, const struct al_err *err), void *ud)
{
    struct al_err err;
    al_waiter_add(&s->ready_waiters, ready, ud);
    if (s->state == AL_UPSTREAM_READY)
        al_upstream_wake(s, &s->ready_waiters, NULL);
    else if (al_upstream_need(s, &err) < 0)
        al_upstream_wake(s, &s->ready_waiters, &err);
}

void al_upstream_refresh(struct al_upstream *s, void (*done)(void *ud, const struct al_err *err), void *ud)
{
    struct al_err err;
    al_waiter_add(&s->refresh_waiters, done, ud);
    if (s->state == AL_UPSTREAM_READY)
        al_upstream_fetch(s);
    else if (al_upstream_need(s, &err) < 0)
        al_upstream_wake(s, &s->refresh_waiters, &err);
}

void al_upstream_notify(struct al_upstream *s, const char *method, struct al_str params)
{
    if (s->state == AL_UPSTREAM_READY)
        al_conn_notify(s->conn, method, params);
}

/* --- what it tells by itself --- */

#define TOOLS_CHANGED "notifications/tools/list_changed"

static void tell_listener(struct al_upstream *s, struct al_str method, struct al_str params)
{
    const struct al_upstream_listener *l = &s->owner->listener;
    if (l->notification)
        l->notification(l->ud, s, method, params);
}

static void fetch_again(void *ud)
{
    struct al_upstream *s = ud;
    s->refetch = NULL;
    if (s->state != AL_UPSTREAM_READY || s->fetch) /* the end of that fetch sees what came meanwhile */
        return;
    s->n_refetches++;
    s->refetch_ms = al_mono_ms();
    al_upstream_fetch(s);
}

/* A list that changes without end is fetched ever more rarely. */
static uint64_t refetch_pause(struct al_upstream *s)
{
    if (al_mono_ms() - s->refetch_ms >= QUIET_MS)
        s->n_refetches = 0;
    uint64_t ms = REFETCH_MS;
    for (unsigned i = 0; i < s->n_refetches && ms < REFETCH_MAX_MS; i++)
        ms *= 2;
    return ms < REFETCH_MAX_MS ? ms : REFETCH_MAX_MS;
}

static void fetch_again_later(struct al_upstream *s)
{
    if (!s->refetch)
        s->refetch = al_timer_start(al_upstream_loop(s), refetch_pause(s), fetch_again, s);
}

void al_upstream_notified(struct al_upstream *s, struct al_str method, struct al_str params)
{
    if (!al_str_is(method, TOOLS_CHANGED)) {
        tell_listener(s, method, params);
        return;
    }
    s->catalog_fresh = false;
    s->list_changed = true;
    al_buf_free(&s->held);
    al_buf_init(&s->held, 64u << 10);
    al_buf_add_str(&s->held, params.n && params.n <= s->held.max ? params : AL_STR("{}"));
    fetch_again_later(s);
}

/* What was fetched while it changed is not what it is now. */
void al_upstream_fetched(struct al_upstream *s, const struct al_err *err)
{
    bool ready = s->state == AL_UPSTREAM_READY;
    s->listed = ready;
    s->catalog_fresh = ready && !s->list_changed;
    if (!err)
        s->fetched_ms = al_wall_ms();
    if (!s->list_changed) {
        al_timer_stop(s->refetch);
        s->refetch = NULL;
    } else if (ready) {
        fetch_again_later(s);
    }
    al_upstream_wake(s, &s->refresh_waiters, err);
    if (s->held.n > 0 && !s->list_changed) {
        struct al_buf held = s->held;
        al_buf_init(&s->held, 0);
        tell_listener(s, AL_STR(TOOLS_CHANGED), al_buf_str(&held));
        al_buf_free(&held);
    }
    al_requests_send(s);
    al_upstream_rest(s);
}

static void listen_again(void *ud)
{
    struct al_upstream *s = ud;
    s->relisten = NULL;
    if (s->state != AL_UPSTREAM_READY || !al_conn_modern(s->conn))
        return;
    al_conn_subscribe(s->conn);
    al_requests_send(s);
}

/* An error is a server that has none of it; a stream that broke, or that it ended, is asked for again. */
void al_upstream_unlistened(void *ud, const struct al_upstream_answer *a)
{
    struct al_upstream *s = ud;
    if (a->failure.n == 0 && s->state == AL_UPSTREAM_READY && !s->relisten)
        s->relisten = al_timer_start(al_upstream_loop(s), RELISTEN_MS, listen_again, s);
}
