/* The user's Python in namespaces of its own, made by bubblewrap, and within them under Landlock and a
 * filter. */
#include "pyrun/pyrun_int.h"
#include "pyrun/walls.h"
#include "pyrun/wasm_int.h"

#include "base/text.h"
#include "os/fd.h"
#include "os/spawn.h"
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPTIONS_MAX (256 * 1024)
#define ASK_MS 5000
#define OLDEST_MINOR 5 /* of 0.x: --perms */

static enum al_py_isolation isolation(struct al_pyrun *p)
{
    (void)p;
    return AL_PY_OS_SANDBOX;
}

/* --- the start --- */

static int data_fd(struct al_str text)
{
    autofd int fd = al_fd_memory("alisio-data", 0);
    if (fd < 0 || al_fd_write_all(fd, text) < 0 || lseek(fd, 0, SEEK_SET) < 0)
        return -1;
    int r = fd;
    fd = -1;
    return r;
}

static int accounts_fds(const struct al_py_start *start, int *passwd, int *group)
{
    unsigned uid = start->uid ? start->uid : geteuid(), gid = start->uid ? start->gid : getegid();
    autobuf struct al_buf users = AL_BUF_INIT(1024), groups = AL_BUF_INIT(1024);
    al_buf_addf(&users, "alisio:x:%u:%u::/job/work:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n", uid, gid);
    al_buf_addf(&groups, "alisio:x:%u:\nnogroup:x:65534:\n", gid);
    *passwd = data_fd(al_buf_str(&users));
    *group = data_fd(al_buf_str(&groups));
    return *passwd < 0 || *group < 0 ? -1 : 0;
}

static void guest(const struct al_py_start *start, const struct al_py_inside *in, struct al_guest *g)
{
    static const struct al_guest_path paths[] = {
        {"/", false, false},          {"/job/work", true, false},  {"/job/out", true, false},
        {"/tmp", true, false},        {"/dev/shm", true, false},   {"/dev/null", true, false},
        {"/dev/zero", true, true},    {"/dev/full", true, true},   {"/dev/tty", true, true},
        {"/dev/urandom", true, true}, {"/dev/random", true, true},
    };
    *g = (struct al_guest){
        .uid = start->uid,
        .gid = start->gid,
        .no_caps = true,
        .landlock = al_landlock_abi() > 0,
        .paths = paths,
        .n_paths = sizeof(paths) / sizeof(paths[0]),
        .filter = true,
        .report_fd = start->report_fd,
    };
    al_py_guest_limits(start, in, g);
}

/* Nothing of the job runs yet; what is there and no folder is nothing that bwrap may follow. */
static int make_temporary(const struct al_py_start *start, struct al_err *err)
{
    static const char *const names[] = {AL_PY_TMP_FOLDER, AL_PY_SHM_FOLDER};
    if (al_py_tmp_in_memory(start))
        return 0;
    autofd int work = openat(start->spec->job->fd, "work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (size_t i = 0; i < 2; i++) {
        if (work < 0 || (mkdirat(work, names[i], 0700) < 0 && errno != EEXIST))
            return al_fail_errno(err, AL_INTERNAL, errno, "the folder of the job cannot be used");
        autofd int fd = openat(work, names[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || (start->uid && fchown(fd, start->uid, start->gid) < 0))
            return al_fail_errno(err, AL_INTERNAL, errno, "the folder of the job cannot be used");
    }
    return 0;
}

/* Descriptors by their order in ret->fds. */
enum {
    FD_SELF = AL_PY_FIRST_FD,
    FD_PASSWD,
    FD_GROUP,
    FD_OPTIONS
};

static int open_fds(const struct al_py_start *start, const struct al_py_inside *in, struct al_py_command *ret,
                    struct al_err *err)
{
    static const struct al_py_bwrap_fds numbers = {FD_PASSWD, FD_GROUP};
    autobuf struct al_buf options = AL_BUF_INIT(OPTIONS_MAX);
    if (al_py_bwrap_options(start, in, &numbers, &options, err) < 0)
        return -1;
    ret->fds[0] = fcntl(al_self_fd(), F_DUPFD_CLOEXEC, 3);
    if (ret->fds[0] < 0 || accounts_fds(start, &ret->fds[1], &ret->fds[2]) < 0 ||
        (ret->fds[3] = data_fd(al_buf_str(&options))) < 0)
        return al_fail_errno(err, AL_BUSY, errno, "cannot prepare the sandbox");
    return 0;
}

int al_py_bwrap_wrap(const struct al_py_start *start, const struct al_py_inside *in, struct al_arena *a,
                     struct al_py_command *ret, struct al_err *err)
{
    *ret = (struct al_py_command){.cwd_fd = -1, .fds = {-1, -1, -1, -1}};
    const char *bwrap = al_pyrun_program(start->pyrun, "bwrap");
    struct al_guest inner;
    if (!bwrap)
        return al_fail(err, AL_RUNTIME_UNAVAILABLE, "bubblewrap is not installed any more");
    if (make_temporary(start, err) < 0 || open_fds(start, in, ret, err) < 0)
        return -1;
    guest(start, in, &inner);
    const char *self = al_arena_printf(a, "/proc/self/fd/%d", FD_SELF);
    const char *options = al_arena_printf(a, "%d", FD_OPTIONS);
    if (!self || !options)
        return al_fail(err, AL_INTERNAL, "the command of a script is too long");
    const char *head[] = {bwrap, "--args", options, "--", self, NULL};
    ret->program = bwrap;
    ret->argv = al_guest_argv(a, head, &inner, in->argv);
    if (ret->argv && start->cgroup) {
        static const char *const own[] = {"alisio", NULL};
        const struct al_guest outer = {
            .cgroup_procs = al_cgroup_procs(start->cgroup), .keep_fds = true, .report_fd = start->report_fd};
        ret->program = NULL;
        ret->argv = al_guest_argv(a, own, &outer, (const char *const *)ret->argv);
    }
    ret->envp = in->envp;
    return ret->argv && ret->envp ? 0 : al_fail(err, AL_INTERNAL, "the command of a script is too long");
}

#define SCRATCH_COPY "scratch" /* in the job's folder */

/* What is ours alone cannot be read by whom the script becomes: it gets a copy. */
static int copy_scratch(const struct al_py_start *start, struct al_arena *a, struct al_py_run_spec *spec,
                        struct al_err *err)
{
    *spec = *start->spec;
    if (!spec->scratch || !start->uid)
        return 0;
    if (faccessat(spec->job->fd, SCRATCH_COPY, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
        al_wasm_copy_scratch(spec->scratch, spec->job->fd, SCRATCH_COPY, err) < 0) {
        if (err->code != AL_INVALID_INPUT)
            return -1;
        al_fail(err, AL_INVALID_INPUT,
                "the scratchpad is larger than what a script of root gets of it (64 MiB)");
        return al_hint(err, "Remove what is not needed from it, or start alisio as an ordinary user.");
    }
    spec->scratch = al_arena_printf(a, "%s/" SCRATCH_COPY, spec->job->path);
    return spec->scratch ? 0 : al_fail(err, AL_INTERNAL, "the command of a script is too long");
}

static int command(const struct al_py_start *asked, struct al_arena *a, struct al_py_command *ret,
                   struct al_err *err)
{
    static const struct al_py_places places = AL_PY_PLACES_JOB;
    struct al_py_run_spec spec;
    *ret = (struct al_py_command){.cwd_fd = -1, .fds = {-1, -1, -1, -1}};
    if (copy_scratch(asked, a, &spec, err) < 0)
        return -1;
    struct al_py_start own = *asked;
    own.spec = &spec;
    const struct al_py_start *start = &own;
    const char *const *roots = (const char *const *)start->python->roots;
    size_t n = 0;
    while (roots[n])
        n++;
    const char **all = al_arena_alloc(a, (n + 2) * sizeof(*all));
    const char *head[] = {al_py_executable(start, a), NULL};
    struct al_py_inside in = {
        .argv = head[0] ? (const char *const *)al_py_argv(head, "/job/script/main.py", a) : NULL,
        .envp = al_py_env(start, &places, a),
        .roots = all,
    };
    if (!all || !in.argv || !in.envp)
        return al_fail(err, AL_INTERNAL, "the command of a script is too long");
    memcpy(all, roots, n * sizeof(*all));
    all[n] = start->spec->venv;
    return al_py_bwrap_wrap(start, &in, a, ret, err);
}

/* --- whether it can work here --- */

static bool is_zero(struct al_str s)
{
    return al_str_is(s, "0");
}

static void install_hint(struct al_err *err)
{
    autobuf struct al_buf how = AL_BUF_INIT(256);
    al_py_install("bubblewrap", &how);
    al_hint(err, "Install bubblewrap (%.*s). No restart is needed.", AL_FMT(al_buf_str(&how)));
}

/* "bubblewrap 0.8.0": 8; 1.x and what has no such form count as new. */
static unsigned minor_of(struct al_str said)
{
    int64_t n = 0;
    struct al_str s = al_str_trim(said);
    if (!al_str_starts(s, "bubblewrap 0."))
        return 99;
    s = (struct al_str){s.p + 13, s.n - 13};
    const char *dot = memchr(s.p, '.', s.n);
    return al_parse_int((struct al_str){s.p, dot ? (size_t)(dot - s.p) : s.n}, 0, 99, &n) ? (unsigned)n : 99;
}

void al_pyrun_pretend_bwrap(struct al_pyrun *p, unsigned minor)
{
    p->bwrap_minor = minor;
}

static bool is_setuid(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_uid == 0 && (st.st_mode & S_ISUID);
}

static int check_kernel(const char *bwrap, struct al_err *err)
{
    autobuf struct al_buf clone = AL_BUF_INIT(64), max = AL_BUF_INIT(64);
    if (geteuid() == 0 || is_setuid(bwrap))
        return 0;
    al_py_small_file("/proc/sys/kernel/unprivileged_userns_clone", &clone);
    al_py_small_file("/proc/sys/user/max_user_namespaces", &max);
    if (!is_zero(al_buf_str(&clone)) && !is_zero(al_buf_str(&max)))
        return 0;
    const struct al_py_kernel k = {.userns_clone = al_buf_str(&clone), .max_userns = al_buf_str(&max)};
    al_py_bwrap_explain(AL_STR("No permissions to create new namespace"), &k, 1, err);
    return -1;
}

static int check(struct al_pyrun *p, struct al_py_probe *probe, struct al_err *err)
{
    const char *bwrap = al_pyrun_program(p, "bwrap");
    autobuf struct al_buf said = AL_BUF_INIT(80);
    int status = 0;
    if (!bwrap) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "bubblewrap is not installed");
        install_hint(err);
        return -1;
    }
    const char *argv[] = {bwrap, "--version", NULL};
    if (al_py_ask(p, argv, ASK_MS, &said, NULL, &status, err) < 0 || status != 0) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "bubblewrap does not say its version");
        install_hint(err);
        return -1;
    }
    struct al_str version = al_str_trim(al_buf_str(&said));
    snprintf(probe->version, sizeof(probe->version), "%.*s", AL_FMT(version));
    p->bwrap_minor = minor_of(version);
    if (p->bwrap_minor < OLDEST_MINOR) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "%.*s is too old; 0.%d or newer is needed", AL_FMT(version),
                OLDEST_MINOR);
        install_hint(err);
        return -1;
    }
    return check_kernel(bwrap, err);
}

/* --- why it did not --- */

static bool says(struct al_str said, const char *words)
{
    return al_str_find(said, al_str_of(words)) >= 0;
}

static const char apparmor_hint[] =
    "Allow user namespaces: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (to keep it, put "
    "that line "
    "into /etc/sysctl.d/60-userns.conf), or for bubblewrap alone: sudo apt install apparmor-profiles && sudo "
    "ln -s "
    "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && sudo apparmor_parser -r "
    "/etc/apparmor.d/bwrap-userns-restrict";

static bool explain_settings(struct al_str said, const struct al_py_kernel *k, struct al_err *err)
{
    if (is_zero(k->userns_clone)) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE,
                "this kernel lets only root make user namespaces "
                "(kernel.unprivileged_userns_clone is 0)");
        al_hint(err, "Allow them: sudo sysctl -w kernel.unprivileged_userns_clone=1");
        return true;
    }
    if (is_zero(k->max_userns)) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE,
                "user namespaces are switched off (user.max_user_namespaces is 0)");
        al_hint(err, "Allow them: sudo sysctl -w user.max_user_namespaces=15000");
        return true;
    }
    if (al_str_is(k->apparmor_userns, "1") && !k->root) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE,
                "AppArmor refuses user namespaces to bubblewrap "
                "(kernel.apparmor_restrict_unprivileged_userns is 1)");
        al_hint(err, "%s", apparmor_hint);
        return true;
    }
    if (k->container || says(said, "mount proc")) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "the container around us refuses namespaces or mounts");
        al_hint(err, "Start the container with --security-opt seccomp=unconfined --security-opt "
                     "systempaths=unconfined, "
                     "or let another back end run scripts (analysis.runtime).");
        return true;
    }
    return false;
}

/* The layers as bwrap names them in what it says. */
static bool is_refusal(struct al_str said)
{
    static const char *const words[] = {"ew namespace", "uid map",    "RTM_NEWADDR",    "RTM_NEWLINK",
                                        "loopback",     "mount proc", "make / slave",   "pivot_root",
                                        "setgroups",    "gid_map",    "user namespace", "Failed to make",
                                        "Can't mount",  "capabilit",  "setting up"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (says(said, words[i]))
            return true;
    }
    return false;
}

void al_py_bwrap_explain(struct al_str said, const struct al_py_kernel *k, int exit_code, struct al_err *err)
{
    if (is_refusal(said) && explain_settings(said, k, err))
        return;
    ptrdiff_t at = al_str_find(said, AL_STR("bwrap: "));
    struct al_str line =
        at < 0 ? (struct al_str){"", 0} : (struct al_str){said.p + at + 7, said.n - (size_t)at - 7};
    const char *end = line.n ? memchr(line.p, '\n', line.n) : NULL;
    if (end)
        line.n = (size_t)(end - line.p);
    autobuf struct al_buf shown = AL_BUF_INIT(1024);
    al_text_visible(&shown, al_utf8_cut(line, 200), false);
    if (is_refusal(said)) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "the system refuses what bubblewrap needs (%.*s)",
                AL_FMT(al_buf_str(&shown)));
        al_hint(
            err,
            k->root
                ? "Root without CAP_SYS_ADMIN cannot make namespaces: start alisio as an ordinary user, or "
                  "let another back end run scripts (analysis.runtime)."
                : "User namespaces must be allowed; `alisio doctor` shows what else could run scripts.");
        return;
    }
    if (shown.n)
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "bubblewrap could not build the sandbox (exit status %d)",
                exit_code);
    else
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "bubblewrap ended before the script began (exit status %d)",
                exit_code);
    al_detail(err, "%.*s", AL_FMT(al_buf_str(&shown))); /* it names paths */
}

static bool in_container(void)
{
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
}

static bool explain(const struct al_guest_report *report, int exit_code, struct al_str errors,
                    struct al_err *err)
{
    if (report->layer >= AL_GUEST_STARTED)
        return al_py_explain_guest(report, exit_code, errors, "bwrap", err);
    autobuf struct al_buf apparmor = AL_BUF_INIT(64), clone = AL_BUF_INIT(64), max = AL_BUF_INIT(64);
    al_py_small_file("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", &apparmor);
    al_py_small_file("/proc/sys/kernel/unprivileged_userns_clone", &clone);
    al_py_small_file("/proc/sys/user/max_user_namespaces", &max);
    const struct al_py_kernel k = {.apparmor_userns = al_buf_str(&apparmor),
                                   .userns_clone = al_buf_str(&clone),
                                   .max_userns = al_buf_str(&max),
                                   .root = geteuid() == 0,
                                   .container = in_container()};
    al_py_bwrap_explain(errors, &k, exit_code, err);
    al_wrap(err, "bwrap");
    return true;
}

const struct al_py_backend_ops al_py_bwrap = {
    .id = AL_PY_BWRAP,
    .needs_python = true,
    .drops_root = true,
    .sampled = true,
    .isolation = isolation,
    .check = check,
    .command = command,
    .explain = explain,
};
