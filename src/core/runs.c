#include "core/runs.h"

#include "base/mem.h"
#include "core/core_int.h"

struct al_runs {
    struct al_run_slot *first, *last; /* those that wait are in the order of their turns */
    size_t n_running, n_queued;
    bool deferred; /* a hand_out is on its way */
};

static struct al_runs *runs_of(struct al_core *core)
{
    if (!core->runs)
        core->runs = al_xcalloc(1, sizeof(*core->runs));
    return core->runs;
}

void al_runs_free(struct al_runs *runs)
{
    free(runs);
}

static void append(struct al_runs *r, struct al_run_slot *slot)
{
    slot->next = NULL;
    slot->prev = r->last;
    *(r->last ? &r->last->next : &r->first) = slot;
    r->last = slot;
}

static void unlink_slot(struct al_runs *r, struct al_run_slot *slot)
{
    *(slot->prev ? &slot->prev->next : &r->first) = slot->next;
    *(slot->next ? &slot->next->prev : &r->last) = slot->prev;
    slot->next = slot->prev = NULL;
}

int al_runs_admit(struct al_core *core, struct al_run_slot *slot, struct al_err *err)
{
    struct al_runs *r = runs_of(core);
    if (!slot->nested && r->n_running + r->n_queued >= AL_HOST_MAX_RUNS + AL_HOST_MAX_QUEUED) {
        al_fail(err, AL_BUSY, "%d scripts run and %d wait already", AL_HOST_MAX_RUNS, AL_HOST_MAX_QUEUED);
        return al_hint(err, "try again when some have ended; one script can do the work of many: tools.map");
    }
    append(r, slot);
    slot->state = AL_SLOT_ADMITTED;
    r->n_queued += !slot->nested;
    return 0;
}

static struct al_run_slot *next_to_go(struct al_runs *r)
{
    bool room = r->n_running < AL_HOST_MAX_RUNS;
    struct al_run_slot *slot = r->first;
    while (slot && (slot->state != AL_SLOT_WAITING || (!room && !slot->nested)))
        slot = slot->next;
    return slot;
}

/* go() may end runs and admit others, so the list is looked at afresh after each. */
static void hand_out(void *ud)
{
    struct al_core *core = ud;
    struct al_runs *r = core->runs;
    if (!r)
        return;
    r->deferred = false;
    for (struct al_run_slot *slot; (slot = next_to_go(r));) {
        slot->state = AL_SLOT_RUNNING;
        r->n_queued -= !slot->nested;
        r->n_running += !slot->nested;
        slot->go(slot->ud);
    }
}

static void hand_out_soon(struct al_core *core)
{
    struct al_runs *r = core->runs;
    if (r->deferred)
        return;
    r->deferred = true;
    al_defer(core->loop, hand_out, core);
}

void al_runs_wait(struct al_core *core, struct al_run_slot *slot)
{
    struct al_runs *r = runs_of(core);
    /* One that was asked about meanwhile goes behind those that waited. */
    unlink_slot(r, slot);
    append(r, slot);
    slot->state = AL_SLOT_WAITING;
    hand_out_soon(core);
}

void al_runs_leave(struct al_core *core, struct al_run_slot *slot)
{
    if (slot->state == AL_SLOT_OUT)
        return;
    struct al_runs *r = runs_of(core);
    unlink_slot(r, slot);
    if (slot->state == AL_SLOT_RUNNING)
        r->n_running -= !slot->nested;
    else
        r->n_queued -= !slot->nested;
    slot->state = AL_SLOT_OUT;
    if (r->n_queued)
        hand_out_soon(core);
}

size_t al_runs_n_queued(const struct al_core *core)
{
    return core->runs ? core->runs->n_queued : 0;
}

size_t al_core_n_runs(const struct al_core *core)
{
    return core->runs ? core->runs->n_running + core->runs->n_queued : 0;
}

bool al_core_cancel_run(struct al_core *core, struct al_str exec_id)
{
    struct al_run_slot *slot = core->runs ? core->runs->first : NULL;
    while (slot && !al_str_is(exec_id, slot->id))
        slot = slot->next;
    if (!slot)
        return false;
    slot->cancel(slot->ud);
    return true;
}
