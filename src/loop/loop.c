#include "loop/loop.h"
#include "base/ident.h"
#include "base/mem.h"
#include "loop/loop_int.h"

#include <signal.h>
#include <stdio.h>

/* libuv fails here only for lack of memory or of descriptors, at a point where nothing could go on. */
static void must(int r, const char *what)
{
    if (r == 0)
        return;
    fprintf(stderr, "alisio: event loop: %s: %s\n", what, uv_strerror(r));
    abort();
}

struct al_loop *al_loop_new(void)
{
    struct al_loop *loop = al_xcalloc(1, sizeof(*loop));
    must(uv_loop_init(&loop->uv), "init");
    must(uv_idle_init(&loop->uv, &loop->idle), "idle");
    loop->idle.data = loop;
    loop->last = &loop->first;
    signal(SIGPIPE, SIG_IGN); /* a peer that has gone is an error of one write, not the end of the program */
    return loop;
}

static void close_left_over(uv_handle_t *h, void *arg)
{
    (void)arg;
    if (!uv_is_closing(h))
        uv_close(h, NULL);
}

void al_loop_free(struct al_loop *loop)
{
    if (!loop)
        return;
    uv_idle_stop(&loop->idle);
    uv_close((uv_handle_t *)&loop->idle, NULL);
    /* A handle that nobody stopped is a fault of its owner. Its memory leaks, where a leak checker sees it.
     */
    int r = UV_EBUSY;
    for (int tries = 0; r == UV_EBUSY && tries < 100; tries++) {
        uv_walk(&loop->uv, close_left_over, NULL);
        uv_run(&loop->uv, UV_RUN_DEFAULT); /* closes, and work that is still on the pool */
        r = uv_loop_close(&loop->uv);
    }
    must(r, "close");
    while (loop->first) {
        struct al_deferred *d = loop->first;
        loop->first = d->next;
        if (d->drop)
            d->drop(d->ud);
        free(d);
    }
    free(loop);
}

/* libuv cannot run a loop from within one of its own callbacks. */
static void enter(struct al_loop *loop)
{
    must(loop->running ? UV_EBUSY : 0, "run from a callback");
    loop->running = true;
}

void al_loop_run(struct al_loop *loop)
{
    enter(loop);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    loop->running = false;
}

void al_loop_stop(struct al_loop *loop)
{
    uv_stop(&loop->uv);
}

static void set_true(void *ud)
{
    *(bool *)ud = true;
}

bool al_loop_run_until(struct al_loop *loop, const bool *done, uint64_t timeout_ms)
{
    bool late = false, more = true;
    struct al_timer *t = timeout_ms && !*done ? al_timer_start(loop, timeout_ms, set_true, &late) : NULL;
    enter(loop);
    while (!*done && !late && more)
        more = uv_run(&loop->uv, UV_RUN_ONCE) != 0;
    loop->running = false;
    if (!late)
        al_timer_stop(t);
    return *done;
}

struct al_timer {
    uv_timer_t uv;
    void (*fn)(void *ud);
    void *ud;
    uint64_t due_ns; /* CLOCK_MONOTONIC; 0 for a periodic timer */
    bool stopped;
};

static void timer_closed(uv_handle_t *h)
{
    free(h->data);
}

static void timer_fired(uv_timer_t *h);

/* libuv counts in whole milliseconds of a cached clock, so that it may be early by one: then it goes on. */
static void timer_arm(struct al_timer *t)
{
    uint64_t now = al_mono_ns();
    uint64_t left = t->due_ns > now ? t->due_ns - now : 0;
    uv_update_time(t->uv.loop);
    uv_timer_start(&t->uv, timer_fired, left / 1000000 + (left % 1000000 != 0), 0);
}

static void timer_fired(uv_timer_t *h)
{
    struct al_timer *t = h->data;
    if (t->stopped)
        return;
    if (t->due_ns > al_mono_ns()) {
        timer_arm(t);
        return;
    }
    void (*fn)(void *ud) = t->fn;
    void *ud = t->ud;
    if (t->due_ns)
        al_timer_stop(t);
    fn(ud);
}

static struct al_timer *timer_new(struct al_loop *loop, void (*fn)(void *ud), void *ud)
{
    struct al_timer *t = al_xcalloc(1, sizeof(*t));
    must(uv_timer_init(&loop->uv, &t->uv), "timer");
    t->uv.data = t;
    t->fn = fn;
    t->ud = ud;
    return t;
}

struct al_timer *al_timer_start(struct al_loop *loop, uint64_t timeout_ms, void (*fn)(void *ud), void *ud)
{
    struct al_timer *t = timer_new(loop, fn, ud);
    uint64_t ns;
    if (__builtin_mul_overflow(timeout_ms, 1000000u, &ns) ||
        __builtin_add_overflow(ns, al_mono_ns(), &t->due_ns))
        t->due_ns = UINT64_MAX;
    timer_arm(t);
    return t;
}

struct al_timer *al_timer_every(struct al_loop *loop, uint64_t period_ms, void (*fn)(void *ud), void *ud)
{
    struct al_timer *t = timer_new(loop, fn, ud);
    if (period_ms == 0)
        period_ms = 1;
    uv_update_time(&loop->uv);
    uv_timer_start(&t->uv, timer_fired, period_ms, period_ms);
    return t;
}

void al_timer_stop(struct al_timer *t)
{
    if (!t || t->stopped)
        return;
    t->stopped = true;
    uv_close((uv_handle_t *)&t->uv, timer_closed);
}

/* One round: what is deferred from within it comes in the next turn. */
static void run_deferred(uv_idle_t *h)
{
    struct al_loop *loop = h->data;
    struct al_deferred *d = loop->first;
    loop->first = NULL;
    loop->last = &loop->first;
    uv_idle_stop(h);
    while (d) {
        struct al_deferred *next = d->next;
        void (*fn)(void *ud) = d->fn;
        void *ud = d->ud;
        free(d);
        fn(ud);
        d = next;
    }
}

void al_defer_or_drop(struct al_loop *loop, void (*fn)(void *ud), void (*drop)(void *ud), void *ud)
{
    struct al_deferred *d = al_xcalloc(1, sizeof(*d));
    d->fn = fn;
    d->drop = drop;
    d->ud = ud;
    *loop->last = d;
    loop->last = &d->next;
    if (!uv_is_closing((uv_handle_t *)&loop->idle))
        uv_idle_start(&loop->idle, run_deferred);
}

void al_defer(struct al_loop *loop, void (*fn)(void *ud), void *ud)
{
    al_defer_or_drop(loop, fn, NULL, ud);
}

struct work {
    uv_work_t uv;
    void (*work)(void *ud);
    void (*done)(void *ud);
    void *ud;
};

static void work_run(uv_work_t *req)
{
    struct work *w = req->data;
    w->work(w->ud);
}

static void work_done(uv_work_t *req, int status)
{
    struct work *w = req->data;
    (void)status; /* never cancelled: nothing here calls uv_cancel */
    void (*done)(void *ud) = w->done;
    void *ud = w->ud;
    free(w);
    done(ud);
}

void al_work_start(struct al_loop *loop, void (*work)(void *ud), void (*done)(void *ud), void *ud)
{
    struct work *w = al_xcalloc(1, sizeof(*w));
    w->uv.data = w;
    w->work = work;
    w->done = done;
    w->ud = ud;
    must(uv_queue_work(&loop->uv, &w->uv, work_run, work_done), "work");
}

struct al_signal {
    uv_signal_t uv;
    void (*fn)(void *ud, int signum);
    void *ud;
    bool stopped;
};

static void signal_closed(uv_handle_t *h)
{
    free(h->data);
}

static void signal_came(uv_signal_t *h, int signum)
{
    struct al_signal *s = h->data;
    if (!s->stopped)
        s->fn(s->ud, signum);
}

struct al_signal *al_signal_start(struct al_loop *loop, int signum, void (*fn)(void *ud, int signum),
                                  void *ud)
{
    struct al_signal *s = al_xcalloc(1, sizeof(*s));
    must(uv_signal_init(&loop->uv, &s->uv), "signal");
    s->uv.data = s;
    s->fn = fn;
    s->ud = ud;
    must(uv_signal_start(&s->uv, signal_came, signum), "signal");
    return s;
}

void al_signal_stop(struct al_signal *s)
{
    if (!s || s->stopped)
        return;
    s->stopped = true;
    uv_close((uv_handle_t *)&s->uv, signal_closed);
}
