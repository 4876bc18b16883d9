/* The user's Python without namespaces, for systems that refuse them: under Landlock and a filter that has no
 * sockets. */
#include "pyrun/pyrun_int.h"
#include "pyrun/walls.h"

#include "sandbox/landlock.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static enum al_py_isolation isolation(struct al_pyrun *p)
{
    (void)p;
    return AL_PY_OS_FILTER;
}

/* What is read besides the system's files and what the script is given. Nothing of a process but its own. */
static const char *const read_too[] = {"/dev/zero",
                                       "/dev/random",
                                       "/dev/urandom",
                                       "/proc/self",
                                       "/proc/cpuinfo",
                                       "/proc/meminfo",
                                       "/proc/stat",
                                       "/proc/loadavg",
                                       "/proc/version",
                                       "/proc/uptime",
                                       "/proc/filesystems",
                                       "/proc/sys/vm/overcommit_memory",
                                       "/proc/sys/kernel/osrelease",
                                       "/proc/sys/kernel/pid_max",
                                       "/sys/devices/system/cpu/online",
                                       "/sys/devices/system/cpu/possible",
                                       NULL};

struct paths {
    struct al_guest_path *list;
    size_t n, max;
};

static void add(struct paths *p, const char *path, bool write, bool optional)
{
    if (p->list && p->n < p->max)
        p->list[p->n++] = (struct al_guest_path){path, write, optional};
}

static void add_all(struct paths *p, const char *const *list)
{
    for (; list && *list; list++)
        add(p, *list, false, true);
}

static void fill_paths(struct paths *p, const struct al_py_inside *in, const struct al_py_places *places)
{
    add(p, "/usr", false, false);
    add_all(p, al_py_lib_links);
    add_all(p, al_py_etc);
    add_all(p, read_too);
    add_all(p, in->roots);
    add(p, "/dev/null", true, false);
    add(p, "/dev/full", true, true);
    add(p, places->script, false, false);
    add(p, places->input, false, false);
    add(p, places->work, true, false);
    add(p, places->output, true, false);
    if (places->scratch)
        add(p, places->scratch, false, false);
}

/* Tasks of our user, for without a namespace the kernel counts all of them. 0 when that cannot be known. */
static uint64_t own_tasks(void)
{
    DIR *proc = opendir("/proc");
    uint64_t n = 0;
    for (struct dirent *e; proc && (e = readdir(proc));) {
        char path[NAME_MAX + 8];
        struct stat st;
        if (e->d_name[0] < '0' || e->d_name[0] > '9')
            continue;
        snprintf(path, sizeof(path), "%s/task", e->d_name);
        if (fstatat(dirfd(proc), path, &st, 0) == 0 && st.st_uid == geteuid() && st.st_nlink > 2)
            n += st.st_nlink - 2;
    }
    if (proc)
        closedir(proc);
    return n;
}

int al_py_landlock_wrap(const struct al_py_start *start, const struct al_py_inside *in, struct al_arena *a,
                        struct al_py_command *ret, struct al_err *err)
{
    static const char *const self[] = {"alisio", NULL};
    const struct al_py_places *places = al_py_host_places(start, a);
    size_t n_roots = 0;
    *ret = (struct al_py_command){.cwd_fd = -1, .fds = {-1, -1, -1, -1}};
    for (; in->roots && in->roots[n_roots]; n_roots++) {
        if (al_py_root_allowed(start->pyrun, in->roots[n_roots], err) < 0)
            return -1;
    }
    struct paths p = {.max = n_roots + 48};
    p.list = al_arena_alloc(a, p.max * sizeof(*p.list));
    if (!places || !p.list)
        return al_fail(err, AL_INTERNAL, "the command of a script is too long");
    fill_paths(&p, in, places);
    struct al_guest g = {
        .cgroup_procs = start->cgroup ? al_cgroup_procs(start->cgroup) : NULL,
        .pid_ns = AL_GUEST_TRY,
        .no_caps = true,
        .landlock = true,
        .paths = p.list,
        .n_paths = p.n,
        .filter = true,
        .no_sockets = true,
        .report_fd = start->report_fd,
    };
    al_py_guest_limits(start, in, &g);
    uint64_t tasks = own_tasks();
    g.nproc = tasks ? g.nproc + tasks : 0;
    ret->argv = al_guest_argv(a, self, &g, in->argv);
    ret->envp = in->envp;
    if (!ret->argv || !ret->envp)
        return al_fail(err, AL_INTERNAL, "the command of a script is too long");
    ret->cwd_fd = openat(start->spec->job->fd, "work", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return 0;
}

static int command(const struct al_py_start *start, struct al_arena *a, struct al_py_command *ret,
                   struct al_err *err)
{
    const struct al_py_places *places = al_py_host_places(start, a);
    const char *const *roots = (const char *const *)start->python->roots;
    size_t n = 0;
    while (roots[n])
        n++;
    const char **all = al_arena_alloc(a, (n + 2) * sizeof(*all));
    const char *main_py = places ? al_arena_printf(a, "%s/main.py", places->script) : NULL;
    const char *head[] = {al_py_executable(start, a), NULL};
    struct al_py_inside in = {
        .argv = main_py && head[0] ? (const char *const *)al_py_argv(head, main_py, a) : NULL,
        .envp = places ? al_py_env(start, places, a) : NULL,
        .roots = all,
    };
    if (!all || !in.argv || !in.envp) {
        *ret = (struct al_py_command){.cwd_fd = -1, .fds = {-1, -1, -1, -1}};
        return al_fail(err, AL_INTERNAL, "the command of a script is too long");
    }
    memcpy(all, roots, n * sizeof(*all));
    all[n] = start->spec->venv;
    return al_py_landlock_wrap(start, &in, a, ret, err);
}

static int check(struct al_pyrun *p, struct al_py_probe *probe, struct al_err *err)
{
    int abi = al_landlock_abi();
    (void)p;
    if (abi < 1) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "this kernel has no Landlock, or it is switched off");
        return al_hint(err, "Linux 5.13 or newer with \"landlock\" in its lsm= list is needed.");
    }
    snprintf(probe->version, sizeof(probe->version), "Landlock ABI %d", abi);
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "this kernel has no system call filters (seccomp)");
        return al_hint(err, "A kernel with CONFIG_SECCOMP_FILTER is needed.");
    }
    return 0;
}

static bool explain(const struct al_guest_report *report, int exit_code, struct al_str errors,
                    struct al_err *err)
{
    return al_py_explain_guest(report, exit_code, errors, "landlock", err);
}

const struct al_py_backend_ops al_py_landlock = {
    .id = AL_PY_LANDLOCK,
    .needs_python = true,
    .sampled = true,
    .isolation = isolation,
    .check = check,
    .command = command,
    .explain = explain,
};
