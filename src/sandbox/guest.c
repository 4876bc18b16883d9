#include "sandbox/guest.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/spawn.h"
#include "sandbox/guest_int.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXIT_REFUSED 125
#define MAX_CGROUPS 8
#define MAX_PATHS 256

/* --- what is asked for, as words of a command line --- */

struct words {
    struct al_arena *arena;
    char **p;
    size_t n;
    bool failed;
};

static void add(struct words *w, char *word)
{
    if (word)
        w->p[w->n++] = word;
    else
        w->failed = true;
}

static void add_all(struct words *w, const char *const *list)
{
    for (size_t i = 0; list && list[i]; i++)
        add(w, al_arena_dup(w->arena, al_str_of(list[i])));
}

static void add_flag(struct words *w, bool on, const char *flag)
{
    if (on)
        add(w, al_arena_dup(w->arena, al_str_of(flag)));
}

static void add_number(struct words *w, const char *name, uint64_t value)
{
    if (value > 0)
        add(w, al_arena_printf(w->arena, "%s%" PRIu64, name, value));
}

static void add_options(struct words *w, const struct al_guest *g)
{
    static const char *const path_options[2][2] = {{"--read=", "--read-if="}, {"--write=", "--write-if="}};
    if (g->report_fd >= 3)
        add_number(w, "--report=", (uint64_t)g->report_fd);
    add_flag(w, g->keep_fds, "--keep-fds");
    for (size_t i = 0; g->cgroup_procs && g->cgroup_procs[i]; i++)
        add(w, al_arena_printf(w->arena, "--cgroup=%s", g->cgroup_procs[i]));
    add_flag(w, g->pid_ns == AL_GUEST_TRY, "--pid-ns=try");
    add_flag(w, g->pid_ns == AL_GUEST_MUST, "--pid-ns=must");
    add_number(w, "--uid=", g->uid);
    add_number(w, "--gid=", g->gid);
    add_flag(w, g->no_caps, "--no-caps");
    add_number(w, "--nproc=", g->nproc);
    add_number(w, "--data=", g->data);
    add_number(w, "--fsize=", g->fsize);
    add_number(w, "--nofile=", g->nofile);
    add_flag(w, g->landlock, "--landlock");
    for (size_t i = 0; g->landlock && i < g->n_paths; i++) {
        const struct al_guest_path *p = &g->paths[i];
        add(w, al_arena_printf(w->arena, "%s%s", path_options[p->write][p->optional], p->path));
    }
    add_flag(w, g->filter, "--filter");
    add_flag(w, g->no_sockets, "--no-sockets");
}

static size_t count(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

char **al_guest_argv(struct al_arena *a, const char *const *head, const struct al_guest *g,
                     const char *const *tail)
{
    const size_t flags = 16;
    size_t n = count(head) + flags + count(g->cgroup_procs) + g->n_paths + count(tail) + 1;
    struct words w = {.arena = a, .p = al_arena_alloc(a, n * sizeof(char *))};
    if (!w.p)
        return NULL;
    add_all(&w, head);
    add_flag(&w, true, AL_GUEST_VERB);
    add_options(&w, g);
    add_flag(&w, true, "--");
    add_all(&w, tail);
    return w.failed ? NULL : w.p;
}

/* --- and back --- */

struct guest {
    struct al_guest want;
    const char *cgroups[MAX_CGROUPS + 1];
    struct al_guest_path paths[MAX_PATHS];
    size_t n_cgroups;
    char **argv; /* of the program; its first word is the path, too */
    bool has_pid_ns;
    struct sock_fprog *filter;
    int rules; /* of Landlock; -1: none */
};

static const char *after(const char *arg, const char *name)
{
    size_t n = strlen(name);
    return strncmp(arg, name, n) == 0 ? arg + n : NULL;
}

static bool take_flag(struct al_guest *g, const char *arg)
{
    bool *const flags[] = {&g->keep_fds, &g->no_caps, &g->landlock, &g->filter, &g->no_sockets};
    static const char *const names[] = {"--keep-fds", "--no-caps", "--landlock", "--filter", "--no-sockets"};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (strcmp(arg, names[i]) == 0)
            return *flags[i] = true;
    }
    if (strcmp(arg, "--pid-ns=try") == 0)
        g->pid_ns = AL_GUEST_TRY;
    else if (strcmp(arg, "--pid-ns=must") == 0)
        g->pid_ns = AL_GUEST_MUST;
    else
        return false;
    return true;
}

static bool take_number(struct al_guest *g, const char *arg)
{
    int64_t n;
    struct {
        const char *name;
        int64_t min, max;
        uint64_t *to;
    } limits[] = {{"--nproc=", 1, INT64_MAX, &g->nproc},
                  {"--data=", 1, INT64_MAX, &g->data},
                  {"--fsize=", 1, INT64_MAX, &g->fsize},
                  {"--nofile=", 1, INT32_MAX, &g->nofile}};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        const char *value = after(arg, limits[i].name);
        if (!value)
            continue;
        if (!al_parse_int(al_str_of(value), limits[i].min, limits[i].max, &n))
            return false;
        *limits[i].to = (uint64_t)n;
        return true;
    }
    const char *uid = after(arg, "--uid="), *gid = after(arg, "--gid="), *fd = after(arg, "--report=");
    const char *value = uid ? uid : gid ? gid : fd;
    if (!value || !al_parse_int(al_str_of(value), fd ? 3 : 1, INT32_MAX, &n))
        return false;
    if (uid)
        g->uid = (uid_t)n;
    else if (gid)
        g->gid = (gid_t)n;
    else
        g->report_fd = (int)n;
    return true;
}

static bool take_path(struct guest *g, const char *arg)
{
    static const struct {
        const char *name;
        bool write, optional;
    } names[] = {{"--read=", false, false},
                 {"--read-if=", false, true},
                 {"--write=", true, false},
                 {"--write-if=", true, true}};
    const char *path = after(arg, "--cgroup=");
    if (path) {
        if (g->n_cgroups < MAX_CGROUPS)
            g->cgroups[g->n_cgroups++] = path;
        else
            return false;
        return true;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        path = after(arg, names[i].name);
        if (path && g->want.n_paths < MAX_PATHS) {
            g->paths[g->want.n_paths++] = (struct al_guest_path){path, names[i].write, names[i].optional};
            return true;
        }
    }
    return false;
}

static bool parse(struct guest *g, int argc, char **argv)
{
    int i = 2;
    g->want.report_fd = -1;
    g->want.cgroup_procs = g->cgroups;
    g->want.paths = g->paths;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!take_flag(&g->want, argv[i]) && !take_number(&g->want, argv[i]) && !take_path(g, argv[i]))
            return false;
    }
    g->argv = argv + i + 1;
    return i + 1 < argc && (g->want.uid == 0) == (g->want.gid == 0);
}

/* --- the way to the program --- */

static void report(const struct guest *g, enum al_guest_layer layer, int error, const char *detail)
{
    struct al_guest_report r = {.layer = (int32_t)layer, .error = error, .pid_ns = g->has_pid_ns};
    snprintf(r.detail, sizeof(r.detail), "%s", detail);
    if (g->want.report_fd >= 0)
        (void)al_fd_write_all(g->want.report_fd, (struct al_str){(const char *)&r, sizeof(r)});
    else if (layer != AL_GUEST_STARTED)
        dprintf(2, "alisio: cannot start %s: step %d, %s\n", detail, (int)layer, strerror(error));
}

__attribute__((noreturn)) static void refuse(const struct guest *g, enum al_guest_layer layer, int r,
                                             const char *detail)
{
    report(g, layer, -r, detail);
    _exit(EXIT_REFUSED);
}

static void join_cgroups(const struct guest *g)
{
    for (size_t i = 0; g->cgroups[i]; i++) {
        autofd int fd = open(g->cgroups[i], O_WRONLY | O_CLOEXEC);
        int r = fd < 0 ? -errno : al_fd_write_all(fd, AL_STR("0"));
        if (r < 0)
            refuse(g, AL_GUEST_CGROUP, r, g->cgroups[i]);
    }
}

/* Whatever takes memory, descriptors or files of its own; the limits come after it. */
static void prepare_walls(struct guest *g)
{
    struct al_err err;
    const char *failed = "";
    if (g->want.landlock) {
        g->rules = al_landlock_guest_rules(g->paths, g->want.n_paths, &failed);
        if (g->rules < 0)
            refuse(g, AL_GUEST_LANDLOCK, g->rules, failed);
    }
    enum al_seal kind = AL_SEAL_GUEST;
    if (g->want.no_sockets)
        kind = al_landlock_gaps() & AL_LANDLOCK_GAP_TRUNCATE ? AL_SEAL_GUEST_NO_CUTTING
                                                             : AL_SEAL_GUEST_NO_SOCKETS;
    if (g->want.filter && al_seal_build(kind, &g->filter, &err) < 0)
        refuse(g, AL_GUEST_SECCOMP, -EINVAL, err.msg);
}

static void become_less(const struct guest *g)
{
    int death_signal = 0;
    prctl(PR_GET_PDEATHSIG, &death_signal, 0, 0, 0);
    int r = g->want.no_caps ? al_guest_drop_bounding() : 0;
    if (r == 0)
        r = al_guest_user(&g->want);
    if (r == 0 && g->want.no_caps)
        r = al_guest_drop_caps();
    if (r < 0)
        refuse(g, AL_GUEST_USER, r, "");
    /* The kernel forgets it when somebody becomes another one. */
    if (death_signal)
        prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0);
    r = al_guest_limits(&g->want);
    if (r < 0)
        refuse(g, AL_GUEST_RLIMIT, r, "");
}

static void close_at_exec(const struct guest *g)
{
    if (g->want.keep_fds || syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    struct rlimit r = {.rlim_cur = 1024};
    getrlimit(RLIMIT_NOFILE, &r);
    for (int fd = 3; fd < (int)(r.rlim_cur > 65536 ? 65536 : r.rlim_cur); fd++)
        (void)al_fd_cloexec(fd);
}

static void raise_walls(const struct guest *g)
{
    int r = g->rules >= 0 ? al_landlock_restrict(g->rules) : 0;
    if (r < 0)
        refuse(g, AL_GUEST_LANDLOCK, r, "");
    r = g->filter ? al_seal_load(g->filter) : 0;
    if (r < 0)
        refuse(g, AL_GUEST_SECCOMP, r, "");
}

int al_guest_main(int argc, char **argv)
{
    static struct guest g = {.rules = -1};
    prctl(PR_SET_NAME, "alisio-guest", 0, 0, 0);
    if (!parse(&g, argc, argv))
        refuse(&g, AL_GUEST_EXEC, -EINVAL, "impossible settings");
    join_cgroups(&g);
    int r = al_guest_enter_pid_ns(&g.want);
    if (r < 0)
        refuse(&g, AL_GUEST_PIDNS, r, "");
    g.has_pid_ns = r > 0;
    prepare_walls(&g);
    close_at_exec(&g);
    become_less(&g);
    raise_walls(&g);
    if (!g.want.keep_fds)
        report(&g, AL_GUEST_STARTED, 0, "");
    r = al_become(g.argv[0], g.argv, environ);
    refuse(&g, AL_GUEST_EXEC, r, g.argv[0]);
}

/* --- what went wrong, for people --- */

int al_guest_explain(const struct al_guest_report *r, struct al_err *err)
{
    static const struct {
        const char *what, *hint;
    } layers[] = {
        [AL_GUEST_CGROUP] = {"cannot put the job into its control group",
                             "The group was removed meanwhile, or belongs to another user. Try again."},
        [AL_GUEST_PIDNS] =
            {"cannot give the job a process id namespace of its own",
             "Unprivileged user namespaces are switched off here: see user.max_user_namespaces, "
             "kernel.unprivileged_userns_clone and, on Ubuntu 24.04 and newer, "
             "kernel.apparmor_restrict_unprivileged_userns with sysctl(8)."},
        [AL_GUEST_USER] =
            {"cannot give up the rights of this user for the job",
             "As root, the capabilities CAP_SETUID, CAP_SETGID and CAP_SETPCAP are needed; or run as an "
             "ordinary user."},
        [AL_GUEST_RLIMIT] = {"cannot set the limits of the job",
                             "See the limits of analysis.limits in the config."},
        [AL_GUEST_LANDLOCK] =
            {"cannot restrict the job's files with Landlock",
             "Linux 5.13 or newer with landlock among its active security modules is needed "
             "(boot option lsm=landlock,…)."},
        [AL_GUEST_SECCOMP] =
            {"cannot filter the job's system calls",
             "A kernel with CONFIG_SECCOMP_FILTER is needed, and a container around us must allow "
             "seccomp(2)."},
        [AL_GUEST_EXEC] = {"cannot start the interpreter", "See `alisio analysis status`."},
    };
    char detail[sizeof(r->detail)];
    snprintf(detail, sizeof(detail), "%.*s", (int)sizeof(r->detail) - 1, r->detail);
    if (r->layer <= AL_GUEST_STARTED || r->layer > AL_GUEST_EXEC)
        return al_fail(err, AL_RUNTIME_UNAVAILABLE, "the job did not start");
    al_fail_errno(err, AL_RUNTIME_UNAVAILABLE, r->error, "%s", layers[r->layer].what);
    al_hint(err, "%s", layers[r->layer].hint);
    return detail[0] ? al_detail(err, "%s", detail) : -1;
}
