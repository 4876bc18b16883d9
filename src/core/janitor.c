#include "core/janitor.h"

#include "artifact/artifact.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/core_int.h"
#include "os/fd.h"
#include "os/lock.h"
#include "os/path.h"
#include "pyrun/extras.h"
#include "sandbox/cgroup.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define DAY_MS INT64_C(86400000)
#define MARKER "analysis/.last-sweep"
#define FIRST_MS 5000
#define AGAIN_MS (3600 * UINT64_C(1000))
#define MAX_SAID (4u << 20)
#define EXPIRE_AT_ONCE 200

/* Ids, sorted once all are there. */
struct ids {
    char (*id)[AL_ID_MAX];
    size_t n, cap;
};

struct sweeping {
    struct al_core *core;
    char *state_dir;
    int lock_fd;
    struct ids live, kept; /* read in the loop's thread: the pool touches no store */
    struct al_py_sweep_spec spec;
    struct al_swept swept;
    void (*done)(void *ud, const struct al_swept *swept);
    void *ud;
    atomic_bool stop;
};

static void add_id(struct ids *list, const char *id)
{
    if (list->n == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 64;
        list->id = al_xrealloc(list->id, list->cap * sizeof *list->id);
    }
    snprintf(list->id[list->n++], AL_ID_MAX, "%s", id);
}

static int by_id(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool has_id(const struct ids *list, const char *id)
{
    return list->n && bsearch(id, list->id, list->n, sizeof *list->id, by_id);
}

static bool note_live(void *ud, const struct al_run *run)
{
    add_id(ud, run->id);
    return true;
}

static bool note_kept(void *ud, const struct al_artifact *a)
{
    if (a->execution[0])
        add_id(ud, a->execution);
    return true;
}

static int read_ids(struct sweeping *s)
{
    struct al_run_filter runs = {.live_only = true, .limit = INT32_MAX};
    struct al_artifact_filter ready = {0};
    struct al_store *store = s->core->store;
    struct al_err *err = &s->swept.err;
    if (al_store_run_each(store, &runs, note_live, &s->live, err) < 0 ||
        al_store_artifact_each(store, &ready, note_kept, &s->kept, err) < 0)
        return -1;
    if (s->live.n)
        qsort(s->live.id, s->live.n, sizeof *s->live.id, by_id);
    if (s->kept.n)
        qsort(s->kept.id, s->kept.n, sizeof *s->kept.id, by_id);
    return 0;
}

static bool is_live(void *ud, const char *id)
{
    const struct sweeping *s = ud;
    return has_id(&s->live, id);
}

static bool is_kept(void *ud, const char *id)
{
    const struct sweeping *s = ud;
    return has_id(&s->kept, id);
}

/* --- artifacts and datasets: rows and files, in the loop's thread; few at a time --- */

static bool note_old(void *ud, const struct al_artifact *a)
{
    add_id(ud, a->id); /* a callback must not write */
    return true;
}

static void expire(struct sweeping *s, const char *id)
{
    struct al_artifact a = {0};
    struct al_err why;
    if (al_store_artifact_get(s->core->store, id, NULL, &a, &why) == 0 &&
        al_artifact_end(s->core->store, &a, "expired", &why) == 0) {
        s->swept.artifacts++;
        al_buf_addf(&s->swept.said, "%s: files of the artifact\n", id);
    }
    al_artifact_fini(&a);
}

static void expire_artifacts(struct sweeping *s)
{
    int64_t days = al_config_int(s->core->config, AL_OPT_ANALYSIS_RETENTION_ARTIFACTS_DAYS);
    struct ids old = {0};
    if (days <= 0)
        return;
    struct al_artifact_filter filter = {.limit = EXPIRE_AT_ONCE,
                                        .created_before_ms = al_wall_ms() - days * DAY_MS};
    if (al_store_artifact_each(s->core->store, &filter, note_old, &old, &s->swept.err) == 0) {
        for (size_t i = 0; i < old.n; i++)
            expire(s, old.id[i]);
    }
    free(old.id);
}

static void purge_datasets(struct sweeping *s)
{
    int64_t days = s->spec.jobs_days;
    struct al_err ignored;
    int n = days > 0 ? al_store_dataset_purge_before(s->core->store, s->spec.now_ms - days * DAY_MS, &ignored)
                     : 0;
    n = n > 0 ? n : 0;
    n += al_store_dataset_sweep(s->core->store);
    s->swept.datasets = (unsigned)n;
    if (n)
        al_buf_addf(&s->swept.said, "%d unused dataset%s\n", n, n == 1 ? "" : "s");
}

static void sweep_folders(struct sweeping *s)
{
    int n = al_artifact_sweep(s->core->store);
    if (n)
        al_buf_addf(&s->swept.said, "%d folder%s that no artifact has\n", n, n == 1 ? "" : "s");
}

/* --- one sweep --- */

static void end(void *ud)
{
    struct sweeping *s = ud;
    struct al_core *core = s->core;
    if (core->sweeping == s)
        core->sweeping = NULL;
    s->done(s->ud, &s->swept);
    al_close(&s->lock_fd);
    al_buf_free(&s->swept.said);
    free(s->live.id);
    free(s->kept.id);
    free(s->state_dir);
    free(s);
    al_core_tell_idle(core);
}

static void work(void *ud)
{
    struct sweeping *s = ud;
    if (al_py_sweep(&s->spec, &s->swept.jobs, &s->swept.said, &s->swept.err) < 0)
        return;
    int n = al_py_extras_sweep(s->state_dir);
    s->swept.extras = n > 0 ? (unsigned)n : 0;
    al_cgroup_sweep();
}

static void after_work(void *ud)
{
    struct sweeping *s = ud;
    if (s->stop) {
        end(s);
        return;
    }
    /* Those whose files went now are no longer a reason to keep a script: the next sweep takes it. */
    expire_artifacts(s);
    purge_datasets(s);
    sweep_folders(s);
    end(s);
}

static int take_lock(struct sweeping *s)
{
    autofree char *path = NULL, *dir = NULL;
    if (asprintf(&dir, "%s/analysis", s->state_dir) < 0 || asprintf(&path, "%s/.sweep.lock", dir) < 0)
        abort();
    if (al_path_private_dir(dir, &s->swept.err) < 0)
        return -1;
    int r = al_lock_try(path, &s->lock_fd, &s->swept.err);
    if (r == 0)
        al_fail(&s->swept.err, AL_BUSY, "another alisio is sweeping");
    return r == 1 ? 0 : -1;
}

void al_core_sweep(struct al_core *core, bool force, void (*done)(void *ud, const struct al_swept *swept), void *ud)
{
    struct sweeping *s = al_xcalloc(1, sizeof *s);
    s->core = core;
    s->done = done;
    s->ud = ud;
    s->lock_fd = -1;
    s->state_dir = al_xstrdup(al_store_dir(core->store));
    al_buf_init(&s->swept.said, MAX_SAID);
    s->spec = (struct al_py_sweep_spec){
        .state_dir = s->state_dir,
        .now_ms = al_wall_ms(),
        .intermediate_days = al_config_int(core->config, AL_OPT_ANALYSIS_RETENTION_INTERMEDIATE_DAYS),
        .jobs_days = al_config_int(core->config, AL_OPT_ANALYSIS_RETENTION_JOBS_DAYS),
        .live = is_live,
        .kept = is_kept,
        .ud = s,
        .stop = &s->stop,
    };
    if (core->sweeping)
        al_fail(&s->swept.err, AL_BUSY, "a sweep goes on already");
    else
        core->sweeping = s;
    if (s->swept.err.code == AL_OK && take_lock(s) == 0)
        s->swept.too_soon = !al_core_day_is_over(core, MARKER) && !force;
    if (s->swept.err.code != AL_OK || s->swept.too_soon || read_ids(s) < 0)
        al_defer(core->loop, end, s);
    else
        al_work_start(core->loop, work, after_work, s);
}

/* --- once a day --- */

static void tell(void *ud, const struct al_swept *swept)
{
    struct al_str rest = al_buf_str(&swept->said);
    (void)ud;
    while (rest.n) {
        const char *line_end = memchr(rest.p, '\n', rest.n);
        size_t n = line_end ? (size_t)(line_end - rest.p) : rest.n;
        al_log(AL_LOG_INFO, "janitor", "removed %.*s", (int)n, rest.p);
        n += line_end != NULL;
        rest = (struct al_str){rest.p + n, rest.n - n};
    }
    if (swept->err.code != AL_OK)
        al_log(AL_LOG_WARN, "janitor", "%s", swept->err.msg);
}

static void tick(void *ud)
{
    struct al_core *core = ud;
    core->janitor = al_timer_start(core->loop, AGAIN_MS, tick, core);
    if (!core->closing)
        al_core_sweep(core, false, tell, NULL);
}

void al_core_janitor_start(struct al_core *core)
{
    if (core->policy.read_only || !al_config_bool(core->config, AL_OPT_ANALYSIS_ENABLED) || core->janitor)
        return;
    core->janitor = al_timer_start(core->loop, FIRST_MS, tick, core);
}

void al_core_janitor_stop(struct al_core *core)
{
    struct sweeping *s = core->sweeping;
    if (s)
        s->stop = true;
    al_timer_stop(core->janitor);
    core->janitor = NULL;
}
