/*
 * Installing extras: a fresh environment in a folder of a temporary name, pip (or uv) with hashes in it, its
 * digests, and then one rename and one line in the index. What fails, or is killed, leaves what was there as
 * it was.
 */
#include "pyrun/extras_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "loop/service.h"
#include "os/fd.h"
#include "os/lock.h"
#include "os/path.h"
#include "os/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT_MS (30 * 60 * UINT64_C(1000))
#define ASK_MS 15000
#define MAX_SAID (256u << 10)
#define MAX_LOCK (4u << 20)

/* In this order; each is one program, but the first and the last. */
enum step {
    STEP_BEGIN,     /* interpreter, folder, lock: on the pool */
    STEP_VENV,      /* python -m venv */
    STEP_ENSUREPIP, /* only when the interpreter has no pip that could serve */
    STEP_INSTALL,   /* pip install, or uv */
    STEP_FINISH,    /* digests, rename, index: on the pool */
};

struct al_py_install {
    struct al_pyrun *p;
    struct al_py_install_ops ops;
    void *ud;
    const struct al_py_extras_set *set;
    char *lock_text, *from;
    size_t lock_n;

    enum step step;
    struct al_py_interpreter python;
    bool has_pip; /* of the interpreter, able to install elsewhere */
    bool has_ensurepip;
    int dir_fd, lock_fd;
    char tmp[40], version[AL_EXTRAS_VERSION_MAX];
    char *path; /* of the temporary folder */
    struct al_service *program;
    struct al_timer *clock;
    struct al_buf said; /* by the program that runs, both outputs */
    bool cancelled, late;
    bool there; /* nothing had to be done: whoever uses it keeps what they have */
    struct al_err err;
};

static void next(struct al_py_install *i);

static void note(struct al_py_install *i, struct al_str text)
{
    autobuf struct al_buf json = AL_BUF_INIT(4096), shown = AL_BUF_INIT(2048);
    struct al_jw w;
    al_text_visible(&shown, al_utf8_head(al_str_trim(text), 160), false);
    al_jw_init(&w, &json);
    al_jw_obj(&w);
    al_jw_kstr(&w, "note", al_buf_str(&shown));
    al_jw_end(&w);
    if (i->ops.progress)
        i->ops.progress(i->ud, al_buf_str(&json));
}

/* --- the end --- */

static void clean_up(void *ud)
{
    struct al_py_install *i = ud;
    if (i->tmp[0] && i->dir_fd >= 0)
        al_path_remove_tree(i->dir_fd, i->tmp);
}

static void done(void *ud)
{
    struct al_py_install *i = ud;
    i->ops.end(i->ud, &i->err);
    al_timer_stop(i->clock);
    al_close(&i->lock_fd);
    al_close(&i->dir_fd);
    al_py_interpreter_fini(&i->python);
    al_buf_free(&i->said);
    free(i->lock_text);
    free(i->from);
    free(i->path);
    free(i);
}

static void finish(struct al_py_install *i)
{
    if (i->err.code != AL_OK && i->cancelled)
        al_fail(&i->err, AL_CANCELLED, "the installation was cancelled; nothing was installed");
    al_work_start(al_pyrun_loop(i->p), clean_up, done, i);
}

static void fail(struct al_py_install *i, const char *why)
{
    if (i->late)
        why = "it took longer than 30 minutes";
    al_fail(&i->err, AL_EXTRAS_INSTALL_FAILED,
            "%s; nothing was installed, and scripts go on with what they had", why);
}

/* --- begin --- */

static bool is_there(struct al_py_install *i)
{
    char minor[16], version[AL_EXTRAS_VERSION_MAX];
    struct al_err ignored;
    autofd int dir = -1;
    al_extras_minor(&i->python, minor);
    return al_extras_open(al_pyrun_state_dir(i->p), &dir, &ignored) == 0 &&
           al_extras_index_get(dir, i->set->name, minor, version) == 1 && strcmp(version, i->version) == 0 &&
           al_extras_intact(dir, version);
}

/* Whether the interpreter can do that. */
static bool asks(struct al_pyrun *p, const char *python, const char *code)
{
    const char *argv[] = {python, "-I", "-c", code, NULL};
    struct al_err ignored;
    int status = -1;
    return al_py_ask(p, argv, ASK_MS, NULL, NULL, &status, &ignored) == 0 && status == 0;
}

static int make_folder(struct al_py_install *i)
{
    char id[AL_ID_MAX];
    autofree char *lock = NULL;
    if (al_extras_open(al_pyrun_state_dir(i->p), &i->dir_fd, &i->err) < 0)
        return -1;
    al_id_new(id, "");
    snprintf(i->tmp, sizeof i->tmp, AL_EXTRAS_TMP "%.26s", id);
    if (mkdirat(i->dir_fd, i->tmp, 0700) < 0)
        return al_fail_errno(&i->err, AL_EXTRAS_INSTALL_FAILED, errno,
                             "the folder of the extras cannot be made");
    if (asprintf(&i->path, "%s/" AL_EXTRAS_FOLDER "/%s", al_pyrun_state_dir(i->p), i->tmp) < 0 ||
        asprintf(&lock, "%s/lock", i->path) < 0)
        abort();
    if (al_lock_try(lock, &i->lock_fd, &i->err) != 1)
        return al_fail(&i->err, AL_EXTRAS_INSTALL_FAILED, "the folder of the extras cannot be locked");
    autofd int tmp = openat(i->dir_fd, i->tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return al_path_write_atomic(tmp, "requirements.txt", (struct al_str){i->lock_text, i->lock_n}, 0600,
                                "requirements.txt", &i->err);
}

static void begin(void *ud)
{
    struct al_py_install *i = ud;
    /* --python of another interpreter is a new option of pip 22.3. */
    static const char pip[] =
        "import pip;v=[int(x) for x in pip.__version__.split('.')[:2]];assert v>=[22,3]";
    al_py_extras_sweep(al_pyrun_state_dir(i->p));
    if (al_py_interpreter_find(i->p, &i->python, &i->err) < 0)
        return;
    al_extras_version((struct al_str){i->lock_text, i->lock_n}, &i->python, i->version);
    i->there = is_there(i);
    if (i->there)
        return;
    i->has_pip = asks(i->p, i->python.path, pip);
    i->has_ensurepip = !i->has_pip && asks(i->p, i->python.path, "import ensurepip, venv");
    if (i->has_pip || i->has_ensurepip || al_pyrun_program(i->p, "uv")) {
        (void)make_folder(i); /* err says it */
        return;
    }
    al_fail(&i->err, AL_EXTRAS_INSTALL_FAILED,
            "the interpreter has neither pip nor ensurepip, and there is no uv");
    al_hint(&i->err, "install one of them: apt install python3-pip python3-venv, or dnf install python3-pip");
}

static void begun(void *ud)
{
    struct al_py_install *i = ud;
    if (i->err.code != AL_OK || i->cancelled) {
        if (i->err.code == AL_OK)
            al_fail(&i->err, AL_CANCELLED, "cancelled");
        finish(i);
        return;
    }
    if (i->there) {
        finish(i);
        return;
    }
    i->step = STEP_VENV;
    next(i);
}

/* --- programs --- */

/* The last line that says something, for the message; the whole goes to the detail's place, cut. */
static struct al_str last_line(struct al_str text)
{
    struct al_str found = {"", 0};
    while (text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        struct al_str line = {text.p, end ? (size_t)(end - text.p) : text.n};
        if (al_str_trim(line).n && !al_str_starts(line, "WARNING:") && !al_str_starts(line, "[notice]"))
            found = al_str_trim(line);
        size_t used = line.n + (end != NULL);
        text = (struct al_str){text.p + used, text.n - used};
    }
    return found;
}

static bool said(const struct al_py_install *i, const char *words)
{
    return memmem(i->said.p ? i->said.p : "", i->said.n, words, strlen(words)) != NULL;
}

static void why_failed(struct al_py_install *i)
{
    autobuf struct al_buf why = AL_BUF_INIT(900);
    if (said(i, "DO NOT MATCH THE HASHES") || said(i, "ash mismatch")) {
        fail(i, "a package is not the one that the lock file names: its hash is another");
        al_hint(&i->err,
                "somebody changed it on the way, or the index has another build: check the index that pip "
                "uses (pip config list)");
        return;
    }
    if (said(i, "No matching distribution") || said(i, "no matching distribution") ||
        said(i, "has no wheels")) {
        fail(i, "the index has no wheel of a package for this Python and this computer");
        al_hint(&i->err,
                "wheels are there for CPython 3.10 to 3.13 on x86-64 and arm64 with glibc: --python PATH");
        return;
    }
    if (said(i, "NewConnectionError") || said(i, "Name or service not known") || said(i, "ConnectionError") ||
        said(i, "Temporary failure in name resolution") || said(i, "error sending request")) {
        fail(i, "the package index cannot be reached");
        al_hint(&i->err, "try again with a network, or give a folder of wheels with --from DIR");
        return;
    }
    al_buf_adds(&why, "installing failed");
    struct al_str last = last_line(al_buf_str(&i->said));
    if (last.n) {
        al_buf_adds(&why, ": ");
        al_text_visible(&why, al_utf8_head(last, 300), false);
    }
    al_buf_addc(&why, 0);
    fail(i, why.p ? why.p : "installing failed");
}

static void on_said(void *ud, struct al_str bytes)
{
    struct al_py_install *i = ud;
    size_t room = i->said.max - i->said.n;
    al_buf_add(&i->said, bytes.p, bytes.n < room ? bytes.n : room);
    struct al_str line = last_line(bytes);
    if (line.n)
        note(i, line);
}

static void program_ended(void *ud, const struct al_service_end *end)
{
    struct al_py_install *i = ud;
    i->program = NULL;
    if (end->exec_errno == 0 && end->exit_status == 0 && !i->cancelled && !i->late) {
        i->step++;
        if (i->step == STEP_ENSUREPIP && (i->has_pip || !i->has_ensurepip))
            i->step++;
        next(i);
        return;
    }
    if (end->exec_errno)
        al_fail_errno(&i->err, AL_EXTRAS_INSTALL_FAILED, end->exec_errno, "an installer cannot be started");
    else
        why_failed(i);
    finish(i);
}

/* Ours, and where packages come from. */
static char **installer_env(struct al_arena *a)
{
    char **own = al_env_child();
    size_t n = 0, at = 0;
    while (own[n])
        n++;
    for (char **e = environ; *e; e++)
        n++;
    char **env = al_arena_alloc(a, (n + 2) * sizeof(*env));
    for (size_t i = 0; own[i]; i++)
        env[at++] = al_arena_dup(a, al_str_of(own[i]));
    for (char **e = environ; *e; e++) {
        struct al_str s = al_str_of(*e);
        if (al_extras_env_passes(s))
            env[at++] = al_arena_dup(a, s);
    }
    env[at] = NULL;
    al_env_free(own);
    return env;
}

static void run(struct al_py_install *i, const char *program, const char *const *words, struct al_arena *a)
{
    static const struct al_service_ops ops = {.output = on_said, .errors = on_said, .ended = program_ended};
    size_t n = 0;
    while (words[n])
        n++;
    char **argv = al_arena_alloc(a, (n + 1) * sizeof(*argv));
    for (size_t k = 0; k < n; k++)
        argv[k] = al_arena_dup(a, al_str_of(words[k]));
    argv[n] = NULL;
    argv[0] = al_arena_dup(a, al_str_of(program)); /* by its name Python would look for itself in PATH */
    struct al_service_spec spec = {
        .program = program, .argv = argv, .envp = installer_env(a), .cwd_fd = -1, .max_queue = 4096};
    al_buf_clear(&i->said);
    i->program = al_service_start(al_pyrun_loop(i->p), &spec, &ops, i, &i->err);
    if (!i->program)
        finish(i);
}

static void run_venv(struct al_py_install *i, struct al_arena *a)
{
    const char *venv = al_arena_printf(a, "%s/venv", i->path);
    const char *words[] = {"python", "-I", "-m", "venv", "--without-pip", venv, NULL};
    note(i, AL_STR("making an environment"));
    run(i, i->python.path, words, a);
}

static void run_ensurepip(struct al_py_install *i, struct al_arena *a)
{
    const char *python = al_arena_printf(a, "%s/venv/bin/python", i->path);
    const char *words[] = {"python", "-I", "-m", "ensurepip", NULL};
    run(i, python, words, a);
}

#define PIP_WORDS                                                                                         \
    "install", "--require-hashes", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check", \
        "--progress-bar", "off", "--timeout", "20", "--retries", "1", "--no-warn-script-location"

static void run_install(struct al_py_install *i, struct al_arena *a)
{
    const char *venv = al_arena_printf(a, "%s/venv/bin/python", i->path);
    const char *requirements = al_arena_printf(a, "%s/requirements.txt", i->path);
    const char *no_index = i->from ? "--no-index" : NULL, *find = i->from ? "--find-links" : NULL;
    note(i, AL_STR("fetching and installing packages"));
    if (i->has_pip) {
        const char *words[] = {"python", "-I",         "-m",     "pip", "--python", venv, PIP_WORDS,
                               "-r",     requirements, no_index, find,  i->from,    NULL};
        run(i, i->python.path, words, a);
    } else if (i->has_ensurepip) {
        const char *words[] = {"python",     "-I",     "-m", "pip",   PIP_WORDS, "-r",
                               requirements, no_index, find, i->from, NULL};
        run(i, venv, words, a);
    } else {
        const char *words[] = {"uv",
                               "pip",
                               "install",
                               "--python",
                               venv,
                               "--require-hashes",
                               "--only-binary",
                               ":all:",
                               "--no-progress",
                               "-r",
                               requirements,
                               no_index,
                               find,
                               i->from,
                               NULL};
        run(i, al_pyrun_program(i->p, "uv"), words, a);
    }
}

/* --- finish --- */

static int write_record(struct al_py_install *i, int tmp_fd, const char *tree, const char *stat)
{
    autobuf struct al_buf out = AL_BUF_INIT(AL_EXTRAS_MAX_JSON);
    char at[AL_TIME_MAX];
    struct al_jw w;
    al_time_iso(at, al_wall_ms());
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "runtimeVersion", i->version);
    al_jw_kstrz(&w, "python", i->python.path);
    al_jw_kstrz(&w, "pythonVersion", i->python.version);
    al_jw_key(&w, "extras");
    al_jw_arr(&w);
    al_jw_strz(&w, i->set->name);
    al_jw_end(&w);
    al_jw_kstrz(&w, "createdAt", at);
    al_jw_kbool(&w, "ok", true);
    al_jw_kstrz(&w, "treeSha256", tree);
    al_jw_kstrz(&w, "statSha256", stat);
    al_jw_end(&w);
    return al_path_write_atomic(tmp_fd, "runtime.json", al_buf_str(&out), 0600, "runtime.json", &i->err);
}

/* In one step where the file system can; what was there is then what clean_up removes. */
static int exchange(struct al_py_install *i)
{
    char aside[48];
    if (renameat2(i->dir_fd, i->tmp, i->dir_fd, i->version, RENAME_EXCHANGE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOENT)
        return -errno;
    snprintf(aside, sizeof aside, "%s-old", i->tmp);
    if (renameat(i->dir_fd, i->version, i->dir_fd, aside) < 0 && errno != ENOENT)
        return -errno;
    if (renameat(i->dir_fd, i->tmp, i->dir_fd, i->version) < 0) {
        int eno = errno;
        (void)!renameat(i->dir_fd, aside, i->dir_fd, i->version);
        return -eno;
    }
    snprintf(i->tmp, sizeof i->tmp, "%.36s", aside);
    return 0;
}

/* The index names the version only when it is in its place. */
static int swap(struct al_py_install *i)
{
    int r = exchange(i);
    if (r < 0)
        return al_fail_errno(&i->err, AL_EXTRAS_INSTALL_FAILED, -r,
                             "the packages cannot be put into their place");
    char minor[16];
    al_extras_minor(&i->python, minor);
    return al_extras_index_put(i->dir_fd, i->set->name, minor, i->version, &i->err);
}

/* One after the other: of two that end at once each would undo what the other did, and its line in the index.
 */
static int put_in_place(struct al_py_install *i)
{
    while (flock(i->dir_fd, LOCK_EX) < 0 && errno == EINTR)
        ; /* a file system without locks has one host at a time, or bad luck */
    int r = swap(i);
    (void)!flock(i->dir_fd, LOCK_UN);
    return r;
}

static void finish_work(void *ud)
{
    struct al_py_install *i = ud;
    char tree[AL_SHA256_HEX], stat[AL_SHA256_HEX];
    autofd int tmp = openat(i->dir_fd, i->tmp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int r = tmp < 0 ? -errno : al_extras_digest(tmp, "venv", true, tree);
    if (r == 0)
        r = al_extras_digest(tmp, "venv", false, stat);
    if (r < 0) {
        al_fail_errno(&i->err, AL_EXTRAS_INSTALL_FAILED, -r, "what was installed cannot be read");
        return;
    }
    if (write_record(i, tmp, tree, stat) < 0)
        return;
    if (syncfs(tmp) < 0)
        al_fail_errno(&i->err, AL_EXTRAS_INSTALL_FAILED, errno, "what was installed does not reach the disk");
    else
        (void)put_in_place(i); /* err says it */
}

static void finished(void *ud)
{
    finish(ud);
}

static void next(struct al_py_install *i)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    switch (i->step) {
    case STEP_BEGIN:
        al_work_start(al_pyrun_loop(i->p), begin, begun, i);
        break;
    case STEP_VENV:
        run_venv(i, &a);
        break;
    case STEP_ENSUREPIP:
        run_ensurepip(i, &a);
        break;
    case STEP_INSTALL:
        run_install(i, &a);
        break;
    case STEP_FINISH:
        al_work_start(al_pyrun_loop(i->p), finish_work, finished, i);
        break;
    }
}

static void too_late(void *ud)
{
    struct al_py_install *i = ud;
    i->clock = NULL;
    i->late = true;
    if (i->program)
        al_service_stop(i->program, 0);
}

struct al_py_install *al_py_extras_install(struct al_pyrun *p, const struct al_py_install_spec *spec,
                                           const struct al_py_install_ops *ops, void *ud, struct al_err *err)
{
    const struct al_py_extras_set *set = al_py_extras_set(al_str_of(spec->set));
    if (!set) {
        al_fail(err, AL_INVALID_INPUT, "there are no extras called %.40s", spec->set);
        al_hint(err, "analysis and science are known");
        return NULL;
    }
    if (spec->lock.n > MAX_LOCK) {
        al_fail(err, AL_INVALID_INPUT, "the lock file is larger than 4 MiB");
        return NULL;
    }
    struct al_str lock = spec->lock.n ? spec->lock : al_extras_lock(set);
    if (al_extras_lock_check(lock, err) < 0)
        return NULL;
    struct al_py_install *i = al_xcalloc(1, sizeof *i);
    i->p = p;
    i->ops = *ops;
    i->ud = ud;
    i->set = set;
    i->lock_text = al_xdup(lock.p, lock.n);
    i->lock_n = lock.n;
    i->from = spec->from ? al_xstrdup(spec->from) : NULL;
    i->dir_fd = i->lock_fd = -1;
    al_buf_init(&i->said, MAX_SAID);
    i->clock = al_timer_start(al_pyrun_loop(p), LIMIT_MS, too_late, i);
    next(i);
    return i;
}

void al_py_install_cancel(struct al_py_install *i)
{
    i->cancelled = true;
    if (i->program)
        al_service_stop(i->program, 0);
}
