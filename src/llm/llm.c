/* What an endpoint's model is for as long as the process talks to it; the clocks and the transport that tests
 * replace. */
#include "base/mem.h"
#include "llm/llm_int.h"

#include <time.h>

static uint64_t mono_ms(void *ud)
{
    (void)ud;
    return al_mono_ms();
}

static uint64_t boot_ms(void *ud)
{
    (void)ud;
    struct timespec t;
    if (clock_gettime(CLOCK_BOOTTIME, &t) < 0)
        return al_mono_ms();
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int64_t wall_ms(void *ud)
{
    (void)ud;
    return al_wall_ms();
}

static void *wait_start(void *ud, uint64_t ms, void (*fn)(void *fn_ud), void *fn_ud)
{
    return al_timer_start(ud, ms, fn, fn_ud);
}

static void wait_stop(void *ud, void *handle)
{
    (void)ud;
    al_timer_stop(handle);
}

static uint32_t random_word(void *ud)
{
    (void)ud;
    uint32_t r;
    al_random(&r, sizeof(r));
    return r;
}

static void *http_start(void *ud, const struct al_http_request *r, const struct al_http_ops *ops,
                        void *ops_ud, struct al_err *err)
{
    return al_http_start(ud, r, ops, ops_ud, err);
}

static void http_cancel(void *ud, void *h)
{
    (void)ud;
    al_http_cancel(h);
}

static const char *http_header(void *ud, const void *h, const char *name)
{
    (void)ud;
    return al_http_header(h, name);
}

static bool http_sent(void *ud, const void *h)
{
    (void)ud;
    return al_http_sent(h);
}

static bool http_near(void *ud, const void *h)
{
    (void)ud;
    return al_http_near(h);
}

static void http_woke(void *ud)
{
    al_http_client_drop(ud);
}

struct al_llm *al_llm_new(const struct al_llm_opts *o)
{
    struct al_llm *l = al_xcalloc(1, sizeof(*l));
    l->loop = o->loop;
    l->http = o->http;
    al_provider_copy(&l->provider, o->provider);
    l->model = al_xstrdup(o->model);
    l->key = o->key && *o->key ? al_xstrdup(o->key) : NULL;
    l->facts = o->facts;
    l->time = (struct al_llm_time){.mono_ms = mono_ms,
                                   .boot_ms = boot_ms,
                                   .wait = wait_start,
                                   .unwait = wait_stop,
                                   .random = random_word,
                                   .wall_ms = wall_ms,
                                   .ud = o->loop};
    if (o->time)
        l->time = *o->time;
    if (!l->time.wall_ms)
        l->time.wall_ms = wall_ms;
    l->transport = (struct al_llm_transport){.start = http_start,
                                             .cancel = http_cancel,
                                             .header = http_header,
                                             .sent = http_sent,
                                             .near = http_near,
                                             .woke = http_woke,
                                             .ud = o->http};
    if (o->transport)
        l->transport = *o->transport;
    l->slept_ms = al_llm_slept_ms(l);
    return l;
}

void al_llm_free(struct al_llm *l)
{
    if (!l)
        return;
    al_provider_fini(&l->provider);
    if (l->key)
        explicit_bzero(l->key, strlen(l->key));
    free(l->key);
    free(l->model);
    free(l);
}

const struct al_provider *al_llm_provider(const struct al_llm *l)
{
    return &l->provider;
}

const char *al_llm_model(const struct al_llm *l)
{
    return l->model;
}

const struct al_llm_facts *al_llm_facts_of(const struct al_llm *l)
{
    return &l->facts;
}

void al_llm_forget_reasoning(struct al_llm *l)
{
    l->no_reasoning = true;
}

/* CLOCK_MONOTONIC stands still while the machine sleeps, CLOCK_BOOTTIME does not. */
uint64_t al_llm_slept_ms(const struct al_llm *l)
{
    uint64_t boot = l->time.boot_ms(l->time.ud), mono = l->time.mono_ms(l->time.ud);
    return boot > mono ? boot - mono : 0;
}

void al_llm_look(struct al_llm *l)
{
    uint64_t slept = al_llm_slept_ms(l);
    if (slept >= l->slept_ms + AL_LLM_SLEEP_MS && l->transport.woke)
        l->transport.woke(l->transport.ud);
    l->slept_ms = slept;
}
