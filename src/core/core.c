#include "core/core.h"
#include "artifact/artifact.h"
#include "base/mem.h"
#include "core/core_int.h"
#include "core/janitor.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Enough for the schemas of a few hundred tools. */
#define CORE_ARENA_MAX (8u << 20)
#define DAY_MS (24 * 3600 * (int64_t)1000)

static int open_workspace(struct al_core *core, const char *cwd, const char *const *add_dirs,
                          struct al_err *err)
{
    autofree char *config_home = al_config_home();
    const char *forbidden[] = {al_store_dir(core->store), config_home, NULL};
    autofree char *pads = al_scratch_root(al_config_text(core->config, AL_OPT_FORGE_SCRATCH_ROOT));
    struct al_workspace_opts w = {
        .cwd = cwd, .add_dirs = add_dirs, .forbidden = forbidden, .scratchpads = pads};
    al_config_list(core->config, AL_OPT_FILES_PROTECT, &w.protect);
    al_config_list(core->config, AL_OPT_FILES_SECRET, &w.secret);
    return al_workspace_open(&w, &core->workspace, err);
}

static int open_session(struct al_core *core, const char *wanted, struct al_err *err)
{
    const char *root = al_workspace_root(core->workspace);
    if (!wanted)
        return al_store_session_default(core->store, root, &core->session, err);
    if (strcmp(wanted, "new") == 0)
        return al_store_session_new(core->store, root, &core->session, err);
    if (al_store_session_get(core->store, wanted, &core->session, err) < 0)
        return -1;
    if (strcmp(core->session.workspace, root) == 0)
        return 0;
    al_fail(err, AL_NOT_FOUND, "session %s belongs to another workspace", core->session.id);
    al_hint(err, "run it there (--cwd DIR), or leave --session out");
    return al_detail(err, "%s", core->session.workspace);
}

static int scratch_fd(void *ud, struct al_err *err)
{
    struct al_core *core = ud;
    return al_scratch_fd(core->scratch, err);
}

static int open_scratch(struct al_core *core, struct al_err *err)
{
    if (!al_config_bool(core->config, AL_OPT_FORGE_SCRATCH_ENABLED))
        return 0;
    struct al_scratch_opts o = {
        .base = al_config_text(core->config, AL_OPT_FORGE_SCRATCH_ROOT),
        .state_dir = al_store_dir(core->store),
        .workspace = al_workspace_root(core->workspace),
        .session = core->session.id,
        .max_bytes = (uint64_t)al_config_int(core->config, AL_OPT_FORGE_SCRATCH_MAX_BYTES),
    };
    if (al_scratch_new(&o, &core->scratch, err) < 0)
        return -1;
    al_workspace_set_scratch_source(core->workspace, scratch_fd, core);
    return 0;
}

static void close_place(struct al_core *core)
{
    al_scratch_free(core->scratch);
    al_workspace_free(core->workspace);
    al_session_fini(&core->session);
    core->scratch = NULL;
    core->workspace = NULL;
    core->session = (struct al_session){0};
}

/* Where the core works: the workspace, and what belongs to it. */
static int open_place(struct al_core *core, const char *cwd, const char *const *add_dirs, struct al_err *err)
{
    if (open_workspace(core, cwd, add_dirs, err) < 0 || open_session(core, core->session_wanted, err) < 0 ||
        open_scratch(core, err) < 0) {
        close_place(core);
        return -1;
    }
    return 0;
}

static void forget_programs(struct al_core *core)
{
    for (size_t i = 0; i < core->n_programs; i++) {
        free(core->programs[i].name);
        free(core->programs[i].path);
    }
    free(core->programs);
    core->programs = NULL;
    core->n_programs = 0;
}

static size_t length(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

/* The strings stay whose they are. */
static const char **join_lists(const char *const *a, const char *const *b)
{
    const char **all = al_xcalloc(length(a) + length(b) + 1, sizeof(*all));
    for (size_t i = 0; i < length(a); i++)
        all[i] = a[i];
    for (size_t i = 0; i < length(b); i++)
        all[length(a) + i] = b[i];
    return all;
}

int al_core_set_workspace(struct al_core *core, const char *cwd, const char *const *add_dirs,
                          struct al_err *err)
{
    if (core->used || core->n_calls) {
        al_fail(err, AL_INVALID_INPUT, "the workspace stays: something has run in it");
        return al_hint(err, "start another alisio there, or name the folder with --add-dir");
    }
    struct al_workspace *workspace = core->workspace;
    struct al_session session = core->session;
    struct al_scratch *scratch = core->scratch;
    core->workspace = NULL;
    core->session = (struct al_session){0};
    core->scratch = NULL;
    autofree const char **dirs = join_lists(core->add_dirs, add_dirs);
    if (open_place(core, cwd, dirs, err) < 0) {
        core->workspace = workspace;
        core->session = session;
        core->scratch = scratch;
        return -1;
    }
    al_scratch_free(scratch);
    al_workspace_free(workspace);
    al_session_fini(&session);
    forget_programs(core); /* a program that the workspace brings along is none */
    return 0;
}

bool al_core_day_is_over(const struct al_core *core, const char *marker)
{
    autofree char *path = NULL;
    if (asprintf(&path, "%s/%s", al_store_dir(core->store), marker) < 0)
        return false;
    struct stat st;
    if (lstat(path, &st) == 0) {
        int64_t age = al_wall_ms() - (int64_t)st.st_mtim.tv_sec * 1000;
        if (age >= 0 && age < DAY_MS)
            return false;
    }
    int fd = openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool marked = futimens(fd, NULL) == 0;
    close(fd);
    return marked;
}

/* Old runs and forgotten scratchpads; what analysis leaves is the janitor's (janitor.h). Never a reason not to start:
 * what fails today is tried tomorrow. */
static void keep_house(struct al_core *core)
{
    al_artifact_recover(core->store);
    int64_t days = al_config_int(core->config, AL_OPT_FORGE_RUNS_RETENTION_DAYS);
    if (days > 0 && al_core_day_is_over(core, ".last-purge")) {
        struct al_err ignored;
        if (al_store_purge_before(core->store, al_wall_ms() - days * DAY_MS, &ignored) < 0)
            al_err_clear(&ignored);
    }
    if (core->scratch)
        al_scratch_sweep(core->scratch,
                         (unsigned)al_config_int(core->config, AL_OPT_FORGE_SCRATCH_RETENTION_DAYS));
}

static void register_own(struct al_core *core)
{
    bool js_run = al_config_bool(core->config, AL_OPT_FORGE_JAVASCRIPT_ENABLED);
    al_core_register(core, js_run ? &al_tool_js_run : &al_tool_execute);
    al_core_register(core, &al_tool_forge_guide);
}

int al_core_new(const struct al_core_opts *o, struct al_core **ret, struct al_err *err)
{
    struct al_core *core = al_xcalloc(1, sizeof(*core));
    core->loop = o->loop;
    core->config = o->config;
    core->store = o->store;
    core->policy = o->policy;
    core->source = al_xstrdup(o->source ? o->source : "cli");
    core->can_ask = o->can_ask;
    core->add_dirs = o->add_dirs;
    core->session_wanted = o->session ? al_xstrdup(o->session) : NULL;
    core->python = o->python ? al_xstrdup(o->python) : NULL;
    core->isolation = o->isolation;
    if (o->config_err)
        core->config_err = *o->config_err;
    pthread_mutex_init(&core->programs_lock, NULL);
    al_arena_init(&core->arena, CORE_ARENA_MAX);
    if (open_place(core, o->cwd, o->add_dirs, err) < 0) {
        al_core_free(core);
        return -1;
    }
    register_own(core);
    keep_house(core);
    *ret = core;
    return 0;
}

bool al_core_can_ask(const struct al_core *core)
{
    return core->can_ask;
}

void al_core_set_can_ask(struct al_core *core, bool can_ask)
{
    core->can_ask = can_ask;
}

void al_core_warm(struct al_core *core)
{
    struct al_err told_by_the_run;
    if (al_engine_warm(al_core_engine(core), &told_by_the_run) < 0)
        return;
}

static void tell_idle(void *ud)
{
    struct al_core *core = ud;
    void (*idle)(void *ud) = core->idle;
    core->idle = NULL;
    if (idle)
        idle(core->idle_ud);
}

void al_core_tell_idle(struct al_core *core)
{
    if (core->closing && core->n_calls == 0 && !core->sweeping)
        tell_idle(core);
}

void al_core_shutdown(struct al_core *core, void (*idle)(void *ud), void *ud)
{
    core->closing = true;
    core->idle = idle;
    core->idle_ud = ud;
    al_core_janitor_stop(core);
    if (core->n_calls == 0 && !core->sweeping) {
        al_defer(core->loop, tell_idle, core);
        return;
    }
    /* A cancelled call ends in a later turn, so the list stays as it is meanwhile. */
    for (struct al_call_core *c = core->calls; c; c = c->next)
        al_call_cancel(&c->call);
}

void al_core_free(struct al_core *core)
{
    if (!core)
        return;
    al_core_janitor_stop(core);
    al_control_close(core);
    al_runs_free(core->runs);
    al_engine_free(core->engine);
    al_data_free(core->data);
    al_pyrun_free(core->pyrun);
    al_wall_free(core);
    close_place(core);
    al_registry_free(core);
    forget_programs(core);
    pthread_mutex_destroy(&core->programs_lock);
    al_arena_free(&core->arena);
    free(core->source);
    free(core->session_wanted);
    free(core->python);
    free(core);
}

struct al_loop *al_core_loop(const struct al_core *core)
{
    return core->loop;
}

struct al_config *al_core_config(const struct al_core *core)
{
    return core->config;
}

struct al_store *al_core_store(const struct al_core *core)
{
    return core->store;
}

struct al_engine *al_core_engine(struct al_core *core)
{
    if (!core->engine)
        core->engine = al_engine_new(core->loop);
    return core->engine;
}

struct al_data *al_core_data(struct al_core *core)
{
    if (!core->data) {
        core->data = al_data_new(core->loop);
        al_data_set_spill_dir(core->data, al_store_dir(core->store));
    }
    return core->data;
}

struct al_pyrun *al_core_pyrun(struct al_core *core)
{
    if (!core->pyrun) {
        /* As al_core_program: of a refused root nothing is left out, it is no repository. */
        bool refused = al_workspace_refused(core->workspace, NULL);
        const char *avoid[] = {al_workspace_root(core->workspace), NULL};
        struct al_pyrun_opts o = {.loop = core->loop,
                                  .config = core->config,
                                  .state_dir = al_store_dir(core->store),
                                  .python = core->python,
                                  .avoid = refused ? NULL : avoid,
                                  .floor = core->isolation};
        core->pyrun = al_pyrun_new(&o);
    }
    return core->pyrun;
}

struct al_workspace *al_core_workspace(const struct al_core *core)
{
    return core->workspace;
}

struct al_scratch *al_core_scratch(const struct al_core *core)
{
    return core->scratch;
}

const struct al_policy *al_core_policy(const struct al_core *core)
{
    return &core->policy;
}

const struct al_session *al_core_session(const struct al_core *core)
{
    return &core->session;
}

const char *al_core_source(const struct al_core *core)
{
    return core->source;
}

const char *al_core_program(struct al_core *core, const char *name)
{
    pthread_mutex_lock(&core->programs_lock);
    for (size_t i = 0; i < core->n_programs; i++) {
        if (strcmp(core->programs[i].name, name) == 0) {
            const char *path = core->programs[i].path;
            pthread_mutex_unlock(&core->programs_lock);
            return path;
        }
    }
    /* A program that a repository brings along is never run. A refused root ("/", the home folder) is no
     * repository. */
    const char *avoid[] = {al_workspace_root(core->workspace), NULL};
    bool refused = al_workspace_refused(core->workspace, NULL);
    core->programs = al_xrealloc(core->programs, (core->n_programs + 1) * sizeof(*core->programs));
    struct al_program *p = &core->programs[core->n_programs++];
    p->name = al_xstrdup(name);
    p->path = al_path_find_program(name, refused ? NULL : avoid);
    const char *path = p->path; /* the strings stay where they are, whatever the array does */
    pthread_mutex_unlock(&core->programs_lock);
    return path;
}
