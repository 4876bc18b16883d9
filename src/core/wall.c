/*
 * What a Python script would run behind: what the gate has to know before it decides about one, and a person
 * before they are asked. Finding it out may start something (a probe), so it comes later; what is known
 * already is told at once.
 */
#include "core/core_int.h"

#include "base/mem.h"

/* Waits for the choice; freed by it, or with the core. */
struct al_wall_waiter {
    struct al_wall_waiter *next;
    struct al_core *core;
    void (*done)(void *ud, const struct al_wall *wall, const struct al_err *err);
    void *ud;
};

static void end_waiter(struct al_wall_waiter *w, const struct al_wall *wall, const struct al_err *err)
{
    struct al_wall_waiter **at = &w->core->wall_waiters;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    w->done(w->ud, wall, err);
    free(w);
}

static void chosen(void *ud, const struct al_py_probe *probe, enum al_py_backend backend,
                   struct al_str reason, const struct al_err *err)
{
    struct al_wall wall = {.backend = backend};
    (void)reason; /* the run tells it */
    if (!probe || (err && err->code != AL_OK)) {
        end_waiter(ud, NULL, err);
        return;
    }
    wall.isolation = probe->isolation;
    end_waiter(ud, &wall, NULL);
}

void al_wall_choose(struct al_core *core,
                    void (*done)(void *ud, const struct al_wall *wall, const struct al_err *err), void *ud)
{
    struct al_wall_waiter *w = al_xcalloc(1, sizeof(*w));
    *w = (struct al_wall_waiter){.next = core->wall_waiters, .core = core, .done = done, .ud = ud};
    core->wall_waiters = w;
    al_pyrun_choose(al_core_pyrun(core), chosen, w);
}

void al_wall_free(struct al_core *core)
{
    struct al_err err;
    al_fail(&err, AL_CANCELLED, "alisio is shutting down");
    while (core->wall_waiters)
        end_waiter(core->wall_waiters, NULL, &err);
}

bool al_wall_known(const struct al_core *core, struct al_wall *ret)
{
    struct al_py_probe probes[AL_PY_N];
    enum al_py_backend need;
    autobuf struct al_buf reason = AL_BUF_INIT(16u << 10);
    if (!core->pyrun)
        return false;
    for (int b = 0; b < AL_PY_N; b++)
        probes[b] = *al_pyrun_known(core->pyrun, (enum al_py_backend)b);
    if (al_py_choose(al_pyrun_wanted(core->pyrun), al_pyrun_policy(core->pyrun), probes, &ret->backend, &need,
                     &reason, NULL) != 0)
        return false;
    ret->isolation = probes[ret->backend].isolation;
    return true;
}
