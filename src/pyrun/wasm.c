/*
 * Python in WebAssembly: Pyodide in Node.js under its Permission Model. That is a mitigation and no wall:
 * what holds is bubblewrap around it, or Landlock and the filter; with neither it ranks just above no
 * isolation.
 */
#include "pyrun/pyrun_int.h"
#include "pyrun/walls.h"
#include "pyrun/wasm_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRY_MS 10000
#define RUNNER "alisio-runner.mjs"
#define WORDS_MAX 32
/* V8 takes address space by the terabyte: memory is watched, not limited for each process. */
#define ANY_DATA (UINT64_C(1) << 46)
#define RUNNER_FAILED 120

/* --- which wall there is --- */

/* Whether bubblewrap can do here what it has to do for a script, whatever Python there is. */
static bool bwrap_works(struct al_pyrun *p)
{
    struct al_py_probe unused = {0};
    const char *bwrap = al_pyrun_program(p, "bwrap");
    const char *user = geteuid() == 0 ? "--unshare-uts" : "--unshare-user";
    const char *argv[] = {
        bwrap, user,     "--unshare-pid", "--unshare-net", "--unshare-ipc", "--ro-bind", "/",
        "/",   "--proc", "/proc",         "--dev",         "/dev",          "--",        "/bin/true",
        NULL};
    int status = -1;
    if (!bwrap || al_py_bwrap.check(p, &unused, NULL) < 0)
        return false;
    return al_py_ask(p, argv, TRY_MS, NULL, NULL, &status, NULL) == 0 && status == 0;
}

static enum al_wasm_wall find_wall(struct al_pyrun *p, bool fresh)
{
    unsigned known = p->wasm_wall;
    if (known != AL_WASM_WALL_UNKNOWN && !fresh)
        return (enum al_wasm_wall)known;
    struct al_py_probe unused = {0};
    enum al_wasm_wall wall = AL_WASM_WALL_NONE;
    if (bwrap_works(p))
        wall = AL_WASM_WALL_BWRAP;
    else if (al_py_landlock.check(p, &unused, NULL) == 0)
        wall = AL_WASM_WALL_LANDLOCK;
    p->wasm_wall = wall;
    return wall;
}

static enum al_py_isolation isolation_of(enum al_wasm_wall wall)
{
    switch (wall) {
    case AL_WASM_WALL_BWRAP:
        return AL_PY_OS_SANDBOX;
    case AL_WASM_WALL_LANDLOCK:
        return AL_PY_OS_FILTER;
    default:
        return AL_PY_RESTRICTED_PROCESS;
    }
}

static enum al_py_isolation isolation(struct al_pyrun *p)
{
    return isolation_of(find_wall(p, false));
}

/* What is around it is looked at again by each probe, so it may be another by now than when this run was let
 * in. */
static int keep_promise(const struct al_py_start *s, enum al_wasm_wall wall, struct al_err *err)
{
    const enum al_py_isolation *promised = s->spec->promised;
    if (!promised || al_py_isolation_covers(*promised, isolation_of(wall)))
        return 0;
    al_fail(err, AL_RUNTIME_UNAVAILABLE, "wasm: the isolation was to be %s, and only %s is there now",
            al_py_isolation_name(*promised), al_py_isolation_name(isolation_of(wall)));
    return al_hint(err, "run it again: then this is what is asked about");
}

static int check(struct al_pyrun *p, struct al_py_probe *probe, struct al_err *err)
{
    char version[32];
    if (al_wasm_verify(p, err) < 0)
        return -1;
    autofree char *node = al_wasm_node(p, version, err);
    if (!node)
        return -1;
    static const char *const around[] = {[AL_WASM_WALL_BWRAP] = "inside bubblewrap",
                                         [AL_WASM_WALL_LANDLOCK] = "under Landlock",
                                         [AL_WASM_WALL_NONE] = "with nothing around it"};
    snprintf(probe->version, sizeof(probe->version), "Pyodide %s, Node.js %s, %s", AL_WASM_VERSION, version,
             around[find_wall(p, true)]);
    snprintf(probe->interpreter, sizeof(probe->interpreter), "%s", node);
    probe->memory = probe->disk = AL_PY_KEPT_SAMPLED;
    return 0;
}

/* --- the command --- */

struct words {
    struct al_arena *a;
    const char **list;
    size_t n;
    bool failed;
};

static void add(struct words *w, const char *word)
{
    if (!word || w->n + 1 >= WORDS_MAX)
        w->failed = true;
    else
        w->list[w->n++] = word;
}

static void allow(struct words *w, const char *how, const char *folder)
{
    if (folder)
        add(w, al_arena_printf(w->a, "--allow-fs-%s=%s", how, folder));
}

/* Node.js reads what the job and the distribution are, and writes work and output. No --allow-child-process,
 * -worker, -addons, -wasi, -net. */
static const char **node_words(struct words *w, const char *node, const char *folder,
                               const struct al_py_places *at)
{
    const char *const read[] = {folder, at->script, at->input, at->work, at->output, at->scratch};
    const char *const write[] = {at->work, at->output};
    add(w, node);
    add(w, "--permission");
    for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
        allow(w, "read", read[i]);
    for (size_t i = 0; i < sizeof(write) / sizeof(write[0]); i++)
        allow(w, "write", write[i]);
    add(w, al_arena_printf(w->a, "%s/" RUNNER, at->script));
    for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++) {
        if (read[i])
            add(w, read[i]);
    }
    return w->failed ? NULL : w->list;
}

static int refuse_large_input(const struct al_py_start *s, struct al_err *err)
{
    int64_t most = al_config_int(al_pyrun_config(s->pyrun), AL_OPT_ANALYSIS_WASM_MAX_INPUT_BYTES);
    autofd int input = openat(s->spec->job->fd, "input", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int64_t bytes = input < 0 ? 0 : al_path_tree_bytes(input);
    if (bytes <= most)
        return 0;
    al_fail(err, AL_INVALID_INPUT,
            "the inputs have %lld bytes together, and analysis.wasm.maxInputBytes allows %lld",
            (long long)bytes, (long long)most);
    return al_hint(
        err, "give it less, raise analysis.wasm.maxInputBytes, or use another back end (analysis.runtime)");
}

static int prepare_job(const struct al_py_start *s, enum al_wasm_wall wall, struct al_err *err)
{
    const struct al_py_job *job = s->spec->job;
    if (s->spec->venv) {
        al_fail(err, AL_EXTRAS_NOT_INSTALLED,
                "Python in WebAssembly has its standard library alone, and no extras");
        return al_hint(err, "leave out extras, or use another back end (analysis.runtime)");
    }
    if (refuse_large_input(s, err) < 0 || al_py_job_write(job, "script/" RUNNER, al_wasm_runner(), err) < 0)
        return -1;
    if (geteuid() != 0 || wall == AL_WASM_WALL_BWRAP)
        return 0;
    /* Outside of bubblewrap the script stays root without rights, who enters our folders as their owner
     * alone. */
    if (fchownat(job->fd, "work", 0, 0, AT_SYMLINK_NOFOLLOW) < 0 ||
        fchownat(job->fd, "staging", 0, 0, AT_SYMLINK_NOFOLLOW) < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "cannot use the folders of the job");
    return 0;
}

static int bare(const struct al_py_start *s, const struct al_py_inside *in, struct al_arena *a,
                struct al_py_command *ret, struct al_err *err)
{
    static const char *const self[] = {"alisio", NULL};
    const struct al_guest g = {
        .cgroup_procs = s->cgroup ? al_cgroup_procs(s->cgroup) : NULL,
        .pid_ns = AL_GUEST_TRY,
        .report_fd = s->report_fd,
    };
    ret->argv = al_guest_argv(a, self, &g, in->argv);
    ret->envp = in->envp;
    ret->cwd_fd = openat(s->spec->job->fd, "work", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return ret->argv ? 0 : al_fail(err, AL_INTERNAL, "the command of a script is too long");
}

static int put_together(const struct al_py_start *s, enum al_wasm_wall wall, const char *node,
                        const char *folder, struct al_arena *a, struct al_py_command *ret, struct al_err *err)
{
    static const struct al_py_places inside = AL_PY_PLACES_JOB;
    struct al_py_places here = wall == AL_WASM_WALL_BWRAP ? inside : (struct al_py_places){0};
    if (wall != AL_WASM_WALL_BWRAP) {
        const struct al_py_places *places = al_py_host_places(s, a);
        if (places)
            here = *places;
    }
    if (!s->spec->scratch)
        here.scratch = NULL;
    struct words w = {a, al_arena_alloc(a, WORDS_MAX * sizeof(char *)), 0, !here.script};
    /* What links of the distribution's own folder or of Node.js's lead to is for them to read. */
    const char *own = strncmp(node, "/usr/", 5) == 0
                          ? NULL
                          : al_arena_dup(a, (struct al_str){node, (size_t)(strrchr(node, '/') - node)});
    const char *roots[] = {al_arena_dup(a, al_str_of(folder)), own, NULL};
    const char *program = al_arena_dup(a, al_str_of(node));
    struct al_py_inside in = {
        .argv = w.list && roots[0] && program ? node_words(&w, program, roots[0], &here) : NULL,
        .envp = al_py_env(s, &inside, a), /* for Python, which sees its own places */
        .roots = roots,
        .data = ANY_DATA,
    };
    if (!in.argv || !in.envp)
        return al_fail(err, AL_INTERNAL, "the command of a script is too long");
    if (wall == AL_WASM_WALL_BWRAP)
        return al_py_bwrap_wrap(s, &in, a, ret, err);
    if (wall == AL_WASM_WALL_LANDLOCK)
        return al_py_landlock_wrap(s, &in, a, ret, err);
    return bare(s, &in, a, ret, err);
}

static int command(const struct al_py_start *s, struct al_arena *a, struct al_py_command *ret,
                   struct al_err *err)
{
    enum al_wasm_wall wall = find_wall(s->pyrun, false);
    if (keep_promise(s, wall, err) < 0)
        return -1;
    autofree char *given = al_wasm_folder(s->pyrun);
    if (al_wasm_check_folder(given, err) < 0 || prepare_job(s, wall, err) < 0)
        return -1;
    autofree char *node = al_wasm_node(s->pyrun, NULL, err), *folder = realpath(given, NULL);
    if (!node)
        return -1;
    if (!folder)
        return al_fail_errno(err, AL_RUNTIME_UNAVAILABLE, errno, "Pyodide cannot be read");
    struct al_py_run_spec spec = *s->spec;
    struct al_py_start start = *s;
    if (spec.scratch && !(spec.scratch = al_py_scratch_copy(s, a, err)))
        return -1;
    start.spec = &spec;
    return put_together(&start, wall, node, folder, a, ret, err);
}

/* Whoever ended before the script began speaks in its own words. */
static bool explain(const struct al_guest_report *report, int exit_code, struct al_str errors,
                    struct al_err *err)
{
    static const char mark[] = "alisio-wasm: ";
    if (report->layer == AL_GUEST_STARTED && (exit_code != RUNNER_FAILED || !al_str_starts(errors, mark)))
        return false;
    if (report->layer == AL_GUEST_STARTED) {
        struct al_str line = {errors.p + sizeof(mark) - 1, errors.n - (sizeof(mark) - 1)};
        const char *end = memchr(line.p, '\n', line.n);
        if (end)
            line.n = (size_t)(end - line.p);
        autobuf struct al_buf shown = AL_BUF_INIT(4096);
        al_text_visible(&shown, al_utf8_cut(line, 300), false); /* a script could have written it */
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "wasm: Pyodide did not start: %.*s", AL_FMT(al_buf_str(&shown)));
        al_hint(
            err,
            "alisio analysis setup --wasm; a script needs some 200 MB of memory (analysis.wasm.memoryMb)");
        return true;
    }
    if (report->layer < 0 && al_str_find(errors, AL_STR("bwrap: ")) >= 0)
        return al_py_bwrap.explain(report, exit_code, errors, err);
    return al_py_explain_guest(report, exit_code, errors, "wasm", err);
}

const struct al_py_backend_ops al_py_wasm = {
    .id = AL_PY_WASM,
    .drops_root = true,
    .sampled = true,
    .isolation = isolation,
    .check = check,
    .command = command,
    .explain = explain,
    .probe_code = al_wasm_probe_script,
};
