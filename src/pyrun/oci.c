/*
 * Scripts in a container of Docker or Podman: no network, a root that cannot be written, the job's folders
 * and nothing else of this computer, an image by its digest. A kernel or an engine with a hole is a way out,
 * and we say so.
 */
#include "pyrun/oci.h"
#include "pyrun/oci_int.h"
#include "pyrun/wasm_int.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/spawn.h"
#include "sandbox/seccomp.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WORDS_MAX 96
#define CALLS_MAX (64 * 1024)
#define CONTAINER_USER 65534 /* as root, when the run names nobody */
#define NO_MEMORY "the command of a container is too long"

static enum al_py_isolation isolation(struct al_pyrun *p)
{
    (void)p;
    return AL_PY_CONTAINER;
}

/* --- ids that were looked up --- */

static struct known {
    pthread_mutex_t lock;
    char *program, *image, id[65];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

void al_oci_remember_id(const char *program, const char *image, const char *id)
{
    pthread_mutex_lock(&known.lock);
    free(known.program);
    free(known.image);
    known.program = al_xstrdup(program);
    known.image = al_xstrdup(image);
    snprintf(known.id, sizeof(known.id), "%s", id);
    pthread_mutex_unlock(&known.lock);
}

bool al_oci_known_id(const char *program, const char *image, char ret[65])
{
    pthread_mutex_lock(&known.lock);
    bool there = known.program && strcmp(known.program, program) == 0 && strcmp(known.image, image) == 0;
    if (there)
        memcpy(ret, known.id, sizeof(known.id));
    pthread_mutex_unlock(&known.lock);
    return there;
}

/* --- what is there --- */

static int no_image(struct al_err *err)
{
    al_fail(err, AL_RUNTIME_UNAVAILABLE, "container image: none is configured");
    return al_hint(err,
                   "alisio analysis setup --oci --image python:3.12-slim pulls one and prints the value of "
                   "analysis.oci.image");
}

static int check(struct al_pyrun *p, struct al_py_probe *probe, struct al_err *err)
{
    const char *image = al_config_text(al_pyrun_config(p), AL_OPT_ANALYSIS_OCI_IMAGE);
    struct al_oci_engine e = {0};
    struct al_oci_facts facts;
    char id[65];
    if (!image)
        return no_image(err);
    if (al_oci_engine_find(p, false, &e, err) < 0)
        return -1;
    int r = al_oci_facts(&e, &facts, err);
    if (r == 0)
        r = al_oci_image_id(e.program, e.env, image, id, err);
    if (r == 1) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "container image: analysis.oci.image is not in the store of %s",
                al_oci_engine_name(&e));
        al_hint(err, "alisio analysis setup --oci");
    }
    if (r == 0) {
        al_oci_remember_id(e.program, image, id);
        snprintf(probe->version, sizeof(probe->version), "%s%s", facts.version,
                 facts.rootless ? ", rootless" : "");
        /* Podman's container is a descendant of ours, so that its memory can be watched; Docker's is not. */
        probe->memory = facts.memory ? AL_PY_KEPT_ENGINE : e.docker ? AL_PY_KEPT_NOT : AL_PY_KEPT_SAMPLED;
        probe->pids = facts.pids ? AL_PY_KEPT_ENGINE : AL_PY_KEPT_NOT;
        probe->disk = AL_PY_KEPT_SAMPLED;
        probe->pid_namespace = true;
    }
    al_oci_engine_fini(&e);
    return r == 0 ? 0 : -1;
}

/* --- the command --- */

struct words {
    struct al_arena *a;
    char **list;
    size_t n;
    bool failed;
};

static void add(struct words *w, char *word)
{
    if (!word || w->n + 1 >= WORDS_MAX)
        w->failed = true;
    else
        w->list[w->n++] = word;
}

static void add_copy(struct words *w, const char *word)
{
    add(w, al_arena_dup(w->a, al_str_of(word)));
}

#define add_f(w, ...) add(w, al_arena_printf((w)->a, __VA_ARGS__))

static void mount(struct words *w, const char *from, const char *to, const char *how, bool relabel)
{
    add_copy(w, "-v");
    add_f(w, "%s:%s:%s%s", from, to, how, relabel ? ",z" : "");
}

static bool selinux_enforces(void)
{
    autobuf struct al_buf said = AL_BUF_INIT(16);
    al_py_small_file("/sys/fs/selinux/enforce", &said);
    return al_str_is(al_buf_str(&said), "1");
}

static long long memory_mb(const struct al_config *c)
{
    return (long long)al_config_int(c, al_py_memory_option(c, AL_PY_OCI));
}

static void limits(struct words *w, const struct al_config *c)
{
    int64_t cpus = al_config_int(c, AL_OPT_ANALYSIS_OCI_CPUS);
    add_f(w, "--pids-limit=%lld", (long long)al_config_int(c, AL_OPT_ANALYSIS_LIMITS_PROCESSES));
    add_f(w, "--memory=%lldm", memory_mb(c));
    if (cpus % 100)
        add_f(w, "--cpus=%lld.%02lld", (long long)(cpus / 100), (long long)(cpus % 100));
    else
        add_f(w, "--cpus=%lld", (long long)(cpus / 100));
}

/* Files that the script writes are to be ours. A rootless Docker maps us itself: there, we are its root. */
static void user(struct words *w, const struct al_py_start *s, const struct al_oci_engine *e)
{
    if (e->docker && e->rootless)
        return;
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (uid == 0) { /* root of a container with root's engine would be root */
        uid = s->uid ? s->uid : CONTAINER_USER;
        gid = s->gid ? s->gid : CONTAINER_USER;
    }
    add_copy(w, "--user");
    add_f(w, "%u:%u", (unsigned)uid, (unsigned)gid);
}

/* The image's own PATH stays. */
static void environment(struct words *w, const struct al_py_start *s, const struct al_py_places *places)
{
    char **env = al_py_env(s, places, w->a);
    w->failed |= !env;
    for (size_t i = 0; env && env[i]; i++) {
        if (strncmp(env[i], "PATH=", 5) == 0)
            continue;
        add_copy(w, "-e");
        add(w, env[i]);
    }
    add_copy(w, "-e");
    add_f(w, "MPLCONFIGDIR=%s/.matplotlib", places->work);
}

/* Engines have lists of their own, which differ, and let a container make user namespaces or keyrings. NULL
 * with err. */
static const char *calls_file(const struct al_py_start *s, struct al_arena *a, struct al_err *err)
{
    static const char name[] = "container-calls.json";
    const char *folder = al_arena_printf(a, "%s/runtimes", al_pyrun_state_dir(s->pyrun));
    const char *path = folder ? al_arena_printf(a, "%s/%s", folder, name) : NULL;
    autobuf struct al_buf text = AL_BUF_INIT(CALLS_MAX), there = AL_BUF_INIT(CALLS_MAX);
    if (!path || al_seal_guest_profile(&text) < 0) {
        (void)al_fail(err, AL_INTERNAL, NO_MEMORY);
        return NULL;
    }
    if (al_path_private_dir(folder, err) < 0)
        return NULL;
    autofd int dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    autofd int old = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool same =
        old >= 0 && al_fd_read_all(old, &there) == 0 && al_str_eq(al_buf_str(&there), al_buf_str(&text));
    if (!same && al_path_write_atomic(dir, name, al_buf_str(&text), 0600, name, err) < 0)
        return NULL;
    return path;
}

/* The words of the engine: in the order in which the documentation shows them, then what came later. */
static void engine_words(struct words *w, const struct al_py_start *s, const struct al_oci_engine *e,
                         const char *image, const char *calls)
{
    static const char *const walls[] = {"--network=none", "--read-only", "--cap-drop=ALL",
                                        "--security-opt=no-new-privileges"};
    static const struct al_py_places inside = AL_PY_PLACES_JOB;
    const struct al_config *c = al_pyrun_config(s->pyrun);
    const struct al_py_places *here = al_py_host_places(s, w->a);
    bool z = selinux_enforces();
    if (!here) {
        w->failed = true;
        return;
    }
    add_copy(w, e->program);
    add_copy(w, "run");
    add_copy(w, "--rm");
    add_copy(w, "--name");
    add_f(w, AL_OCI_NAME_PREFIX "%s", s->spec->job->id);
    for (size_t i = 0; i < sizeof(walls) / sizeof(walls[0]); i++)
        add_copy(w, walls[i]);
    limits(w, c);
    user(w, s, e);
    mount(w, here->script, inside.script, "ro", z);
    mount(w, here->input, inside.input, "ro", z);
    mount(w, here->work, inside.work, "rw", z);
    mount(w, here->output, inside.output, "rw", z);
    add_copy(w, "--tmpfs");
    add_copy(w, "/tmp:size=256m");
    add_copy(w, "--label");
    add_copy(w, AL_OCI_LABEL);
    add_f(w, "--memory-swap=%lldm", memory_mb(c));
    add_copy(w, "--pull=never");
    if (!e->docker && e->rootless)
        add_copy(w, "--userns=keep-id");
    if (here->scratch)
        mount(w, here->scratch, inside.scratch, "ro", z);
    add_f(w, "--workdir=%s", inside.work);
    if (s->report_fd >= 0)
        add_f(w, "--cidfile=%s/logs/container", s->spec->job->path);
    add_f(w, "--security-opt=seccomp=%s", calls);
    environment(w, s, &inside);
    add_copy(w, image);
    const char *python[] = {"python", NULL};
    char **rest = al_py_argv(python, "/job/script/main.py", w->a);
    w->failed |= !rest;
    for (size_t i = 0; rest && rest[i]; i++)
        add(w, rest[i]);
}

static void stop_words(const struct al_py_start *s, const struct al_oci_engine *e, struct words *w,
                       struct al_py_command *ret)
{
    add_copy(w, e->program);
    add_copy(w, "kill");
    add_f(w, AL_OCI_NAME_PREFIX "%s", s->spec->job->id);
    ret->stop_program = e->program;
    ret->stop_argv = w->list;
}

/* A mount is written FROM:TO:HOW. */
static int refuse_colon(const char *path, const char *what, struct al_err *err)
{
    if (!path || !strchr(path, ':'))
        return 0;
    al_fail(err, AL_RUNTIME_UNAVAILABLE, "container: the path of %s has a colon, which no mount can hold",
            what);
    al_detail(err, "%s", path);
    return al_hint(err, "give ALISIO_STATE_HOME (or forge.scratch.root) a path without one");
}

static char **copy_env(char **env, struct al_arena *a)
{
    size_t n = 0;
    while (env[n])
        n++;
    char **copy = al_arena_alloc(a, (n + 1) * sizeof(*copy));
    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = al_arena_dup(a, al_str_of(env[i]));
        if (!copy[i])
            return NULL;
    }
    return copy;
}

static void keeper_words(struct words *w, const struct al_py_start *s, const struct al_oci_engine *e,
                         const char *image, const char *locks)
{
    char id[65] = "";
    al_oci_known_id(e->program, image, id);
    add_copy(w, "alisio");
    add_copy(w, AL_OCI_VERB);
    add_f(w, "--report=%d", s->report_fd);
    add_f(w, "--image=%s", image);
    add_f(w, "--id=%s", id);
    add_f(w, "--engine=%s", al_oci_engine_name(e));
    add_f(w, "--container=" AL_OCI_NAME_PREFIX "%s", s->spec->job->id);
    add_f(w, "--cid=%s/logs/container", s->spec->job->path);
    add_f(w, "--lock=%s/%s", locks, s->spec->job->id);
    add_copy(w, "--");
}

/* Without a report it is for a person to type: the engine's command alone. */
static int build(const struct al_py_start *s, const struct al_oci_engine *e, const char *image,
                 struct al_arena *a, struct al_py_command *ret, struct al_err *err)
{
    struct words run = {a, al_arena_alloc(a, WORDS_MAX * sizeof(char *)), 0, false};
    struct words stop = {a, al_arena_alloc(a, 8 * sizeof(char *)), 0, false};
    if (!run.list || !stop.list)
        return al_fail(err, AL_INTERNAL, NO_MEMORY);
    const char *calls = calls_file(s, a, err);
    if (!calls)
        return -1;
    if (s->report_fd >= 0) {
        autofree char *locks = al_oci_locks_folder(s->pyrun, err);
        if (!locks)
            return -1;
        (void)al_oci_sweep(s->pyrun);
        keeper_words(&run, s, e, image, locks);
    }
    engine_words(&run, s, e, image, calls);
    stop_words(s, e, &stop, ret);
    ret->program = s->report_fd >= 0 ? NULL : al_arena_dup(a, al_str_of(e->program));
    ret->argv = run.list;
    ret->envp = copy_env(e->env, a);
    if (run.failed || stop.failed || !ret->envp)
        return al_fail(err, AL_INTERNAL, NO_MEMORY);
    /* Podman's monitor leaves a file where it stands when memory runs out: not in the user's folder. */
    if (s->report_fd >= 0)
        ret->cwd_fd = openat(s->spec->job->fd, "logs", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return 0;
}

static int command(const struct al_py_start *asked, struct al_arena *a, struct al_py_command *ret,
                   struct al_err *err)
{
    const char *image = al_config_text(al_pyrun_config(asked->pyrun), AL_OPT_ANALYSIS_OCI_IMAGE);
    struct al_oci_engine e = {0};
    struct al_py_run_spec spec = *asked->spec;
    struct al_py_start own = *asked;
    own.spec = &spec;
    if (!image)
        return no_image(err);
    if (refuse_colon(spec.job->path, "the state folder", err) < 0 ||
        refuse_colon(spec.scratch, "the scratchpad", err) < 0 ||
        al_oci_engine_find(own.pyrun, false, &e, err) < 0)
        return -1;
    /* As root the script is another user, who cannot enter what is ours alone. */
    bool copied = spec.scratch && own.uid;
    if (copied)
        spec.scratch = al_py_scratch_copy(asked, a, err);
    int r = copied && !spec.scratch ? -1 : build(&own, &e, image, a, ret, err);
    al_oci_engine_fini(&e);
    return r;
}

static bool is_engine_line(struct al_str errors)
{
    struct al_str s = al_str_trim(errors);
    return al_str_starts(s, "Error: ") || al_str_starts(s, "docker: ") || al_str_starts(s, "unknown flag") ||
           al_str_find(s, AL_STR("\nError: ")) >= 0 || al_str_find(s, AL_STR("\ndocker: ")) >= 0;
}

/* 125: the engine failed; 126, 127: there is no such program in the image. A script may end with these, too,
 * but does not speak as an engine then. */
static bool explain(const struct al_guest_report *report, int exit_code, struct al_str errors,
                    struct al_err *err)
{
    if (report->layer == AL_GUEST_EXEC && report->error == AL_OCI_OTHER_IMAGE) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE,
                "container image: the container was made of another image than the pinned one");
        al_hint(err, "alisio analysis setup --oci");
        return true;
    }
    if (report->layer == AL_GUEST_EXEC && report->error == AL_OCI_NO_IMAGE) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE,
                "container image: analysis.oci.image is not in the engine's store");
        al_hint(err, "alisio analysis setup --oci");
        return true;
    }
    if (report->layer == AL_GUEST_STARTED || exit_code < 125 || exit_code > 127 || !is_engine_line(errors))
        return false;
    al_oci_fail(errors, "the container did not start", err);
    return true;
}

const struct al_py_backend_ops al_py_oci = {
    .id = AL_PY_OCI,
    .drops_root = true,
    .sampled = true,
    .memory_exit = 128 + SIGKILL,
    .isolation = isolation,
    .check = check,
    .command = command,
    .explain = explain,
};
