#include "sandbox/cgroup.h"
#include "base/buf.h"
#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/spawn.h"
#include "sandbox/cgroup_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "alisio-"
#define NAME_MAX_BYTES 80
#define CPU_PERIOD_US 100000
/* What was killed takes a moment to leave: memory has to be given back. */
#define EMPTY_MS 1000
#define EMPTY_STEP_MS 2

struct al_cgroup {
    bool v2, limits_memory;
    int open_flags;     /* of files in it */
    int locks[AL_CG_N]; /* the folders, locked as long as we live: no sweep takes them away */
    char *dirs[AL_CG_N], *procs[AL_CG_N + 1];
};

/* --- files of a group --- */

static int write_in(const struct al_cgroup *g, enum al_cgroup_controller c, const char *name,
                    const char *text)
{
    char path[PATH_MAX];
    if (!g->dirs[c])
        return -ENOENT;
    if (snprintf(path, sizeof(path), "%s/%s", g->dirs[c], name) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    autofd int fd = open(path, g->open_flags, 0600);
    return fd < 0 ? -errno : al_fd_write_all(fd, al_str_of(text));
}

static int write_number(const struct al_cgroup *g, enum al_cgroup_controller c, const char *name, uint64_t n)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, n);
    return write_in(g, c, name, text);
}

static bool read_in(const char *dir, const char *name, struct al_buf *out)
{
    char path[PATH_MAX];
    if (!dir || snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
        return false;
    autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
    al_buf_clear(out);
    if (fd < 0 || al_fd_read_all(fd, out) < 0)
        return false;
    al_buf_addc(out, 0);
    return true;
}

/* The number behind a key at the beginning of a line ("" for a file that is one number); 0 when it is not
 * there. */
static uint64_t number_in(const char *dir, const char *name, const char *key)
{
    autobuf struct al_buf text = AL_BUF_INIT(64 << 10);
    if (!read_in(dir, name, &text))
        return 0;
    size_t n = strlen(key);
    for (const char *line = text.p; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0 && (n == 0 || line[n] == ' '))
            return strtoull(line + n, NULL, 10);
    }
    return 0;
}

/* --- making one --- */

static void remove_folders(const struct al_cgroup *g)
{
    for (int i = 0; i < AL_CG_N; i++) {
        if (g->dirs[i])
            rmdir(g->dirs[i]);
    }
}

static void free_memory(struct al_cgroup *g)
{
    for (int i = 0; i < AL_CG_N; i++) {
        al_close(&g->locks[i]);
        free(g->dirs[i]);
        free(g->procs[i]);
    }
    free(g);
}

static bool is_name(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && n <= NAME_MAX_BYTES &&
           strspn(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == n;
}

/* 0, or -errno when one that has to be there could not be made. Whose turn it is on a processor is not that
 * important. */
static int make_folders(struct al_cgroup *g, const struct al_cgroup_places *places, const char *name)
{
    char path[PATH_MAX], procs[PATH_MAX + 16];
    size_t n_procs = 0;
    for (int i = 0; i < AL_CG_N; i++) {
        if (!places->dirs[i])
            continue;
        if (snprintf(path, sizeof(path), "%s/" PREFIX "%s", places->dirs[i], name) >= (int)sizeof(path))
            return -ENAMETOOLONG;
        bool made_already = g->dirs[AL_CG_MEMORY] && strcmp(g->dirs[AL_CG_MEMORY], path) == 0;
        if (!made_already && mkdir(path, 0755) < 0) {
            if (i == AL_CG_CPU)
                continue;
            return -errno;
        }
        g->dirs[i] = al_xstrdup(path);
        snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
        if (!made_already)
            g->procs[n_procs++] = al_xstrdup(procs);
    }
    return 0;
}

/* Between mkdir and this, a sweep may be taking one away: then this fails, or what is written next. */
static int lock_folders(struct al_cgroup *g)
{
    for (int i = 0; i < AL_CG_N; i++) {
        if (!g->dirs[i] || (i > 0 && g->v2)) /* one folder for all */
            continue;
        g->locks[i] = open(g->dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (g->locks[i] < 0 || flock(g->locks[i], LOCK_EX | LOCK_NB) < 0)
            return -errno;
    }
    return 0;
}

/* Swap counts where the kernel counts it; where it does not, as little as possible goes there. */
static int limit_memory(struct al_cgroup *g, uint64_t bytes)
{
    int r = write_number(g, AL_CG_MEMORY, g->v2 ? "memory.max" : "memory.limit_in_bytes", bytes);
    if (r < 0)
        return r;
    g->limits_memory = true;
    if (g->v2)
        (void)write_in(g, AL_CG_MEMORY, "memory.swap.max", "0");
    else if (write_number(g, AL_CG_MEMORY, "memory.memsw.limit_in_bytes", bytes) < 0)
        (void)write_in(g, AL_CG_MEMORY, "memory.swappiness", "0");
    return 0;
}

static void limit_cpu(const struct al_cgroup *g, unsigned percent)
{
    char text[64];
    uint64_t quota = (uint64_t)percent * CPU_PERIOD_US / 100;
    if (g->v2) {
        snprintf(text, sizeof(text), "%" PRIu64 " %d", quota, CPU_PERIOD_US);
        (void)write_in(g, AL_CG_CPU, "cpu.max", text);
    } else {
        (void)write_number(g, AL_CG_CPU, "cpu.cfs_period_us", CPU_PERIOD_US);
        (void)write_number(g, AL_CG_CPU, "cpu.cfs_quota_us", quota);
    }
}

static int set_limits(struct al_cgroup *g, const struct al_cgroup_limits *limits)
{
    int r = limits->memory_bytes > 0 ? limit_memory(g, limits->memory_bytes) : 0;
    if (r == 0 && limits->pids > 0)
        r = write_number(g, AL_CG_PIDS, "pids.max", limits->pids);
    if (r == 0 && limits->cpu_percent > 0)
        limit_cpu(g, limits->cpu_percent);
    return r;
}

static int make_once(const char *root, const struct al_cgroup_places *places, const char *name,
                     const struct al_cgroup_limits *limits, struct al_cgroup **ret)
{
    struct al_cgroup *g = al_xcalloc(1, sizeof(*g));
    g->v2 = places->v2;
    for (int i = 0; i < AL_CG_N; i++)
        g->locks[i] = -1;
    /* In a tree that a test has made, the kernel makes no files. */
    g->open_flags = O_WRONLY | O_CLOEXEC | (*root ? O_CREAT : 0);
    int r = make_folders(g, places, name);
    if (r == 0)
        r = lock_folders(g);
    if (r == 0)
        r = set_limits(g, limits);
    if (r == 0) {
        *ret = g;
        return 0;
    }
    remove_folders(g);
    free_memory(g);
    return r;
}

int al_cgroup_make(const char *root, const char *name, const struct al_cgroup_limits *limits,
                   struct al_cgroup **ret, struct al_err *err)
{
    struct al_cgroup_places places;
    *ret = NULL;
    if (!is_name(name))
        return al_fail(err, AL_INTERNAL, "a control group was to be made with an impossible name");
    int r = al_cgroup_find(root, &places, err);
    if (r != 0)
        return r;
    r = make_once(root, &places, name, limits, ret);
    if (r == -EWOULDBLOCK || r == -ENOENT || r == -ENODEV) /* a sweep came between */
        r = make_once(root, &places, name, limits, ret);
    al_cgroup_places_fini(&places);
    if (r == 0)
        return 0;
    al_fail_errno(err, AL_RUNTIME_UNAVAILABLE, -r, "cannot make a control group");
    return 1;
}

int al_cgroup_new(const char *name, const struct al_cgroup_limits *limits, struct al_cgroup **ret,
                  struct al_err *err)
{
    return al_cgroup_make("", name, limits, ret, err);
}

/* --- what is known of it --- */

const char *const *al_cgroup_procs(const struct al_cgroup *g)
{
    return (const char *const *)g->procs;
}

bool al_cgroup_limits_memory(const struct al_cgroup *g)
{
    return g->limits_memory;
}

bool al_cgroup_was_oom(const struct al_cgroup *g)
{
    return number_in(g->dirs[AL_CG_MEMORY], g->v2 ? "memory.events" : "memory.oom_control", "oom_kill") > 0;
}

/* Without pages of files that nobody has used lately: they go when the memory is needed. */
uint64_t al_cgroup_memory(const struct al_cgroup *g)
{
    const char *dir = g->dirs[AL_CG_MEMORY];
    uint64_t all = number_in(dir, g->v2 ? "memory.current" : "memory.usage_in_bytes", "");
    uint64_t idle = number_in(dir, "memory.stat", g->v2 ? "inactive_file" : "total_inactive_file");
    return all > idle ? all - idle : 0;
}

/* --- the end --- */

/* A number that meanwhile names somebody else is in another group. */
static bool is_member(pid_t pid, const char *dir)
{
    char proc[32];
    autobuf struct al_buf text = AL_BUF_INIT(64 << 10);
    const char *name = strrchr(dir, '/');
    snprintf(proc, sizeof(proc), "/proc/%d", (int)pid);
    return read_in(proc, "cgroup", &text) && strstr(text.p, name);
}

/* True when there was anybody. */
static bool kill_members(const char *dir)
{
    autobuf struct al_buf list = AL_BUF_INIT(4u << 20);
    bool any = false;
    if (!read_in(dir, "cgroup.procs", &list))
        return false;
    for (char *p = list.p, *end; *p; p = *end ? end + 1 : end) {
        long pid = strtol(p, &end, 10);
        if (end == p)
            break;
        any = true;
        autofd int fd = al_pidfd_open((pid_t)pid);
        if (fd >= 0 && is_member((pid_t)pid, dir))
            (void)al_pidfd_kill(fd, SIGKILL);
    }
    return any;
}

static bool kill_all(const struct al_cgroup *g)
{
    bool any = false;
    if (g->v2 && write_in(g, AL_CG_MEMORY, "cgroup.kill", "1") == 0)
        return number_in(g->dirs[AL_CG_MEMORY], "cgroup.events", "populated") > 0;
    for (int i = 0; i < AL_CG_N; i++) {
        if (g->dirs[i])
            any |= kill_members(g->dirs[i]);
    }
    return any;
}

static bool has_gone(const struct al_cgroup *g)
{
    bool gone = true;
    for (int i = 0; i < AL_CG_N; i++) {
        if (g->dirs[i] && rmdir(g->dirs[i]) < 0 && errno != ENOENT)
            gone = false;
    }
    return gone;
}

void al_cgroup_free(struct al_cgroup *g)
{
    if (!g)
        return;
    uint64_t until = 0;
    while (!has_gone(g)) {
        if (!until) {
            (void)write_in(g, AL_CG_PIDS, "pids.max", "0"); /* who is killed leaves no room for another one */
            until = al_mono_ms() + EMPTY_MS;
        }
        kill_all(g);
        if (al_mono_ms() >= until)
            break; /* a later sweep finds it */
        poll(NULL, 0, EMPTY_STEP_MS);
    }
    free_memory(g);
}

/* --- what dead hosts left --- */

/* A host that lives holds the lock of its groups' folders; one with processes cannot be removed at all. */
static void sweep_folder(int at, const char *dir)
{
    int fd = openat(at, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        al_close(&fd);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        autofd int group = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (group >= 0 && flock(group, LOCK_EX | LOCK_NB) == 0)
            (void)unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
    }
    closedir(d);
}

/* The groups beside ours, too: a host that died may have been started in one of them (a terminal has its
 * own). */
static void sweep_neighbours(const char *dir)
{
    char parent[PATH_MAX];
    int n = snprintf(parent, sizeof(parent), "%.*s/cgroup.procs", (int)(strrchr(dir, '/') - dir), dir);
    if (n >= (int)sizeof(parent) || access(parent, F_OK) < 0)
        return; /* not a group any more */
    *strrchr(parent, '/') = 0;
    DIR *d = opendir(parent);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] != '.' && e->d_type == DT_DIR)
            sweep_folder(dirfd(d), e->d_name);
    }
    closedir(d);
}

void al_cgroup_sweep_at(const char *root)
{
    struct al_cgroup_places places;
    if (al_cgroup_find(root, &places, NULL) != 0)
        return;
    for (int i = 0; i < AL_CG_N; i++) {
        if (!places.dirs[i] || (i > 0 && places.v2))
            continue;
        sweep_folder(AT_FDCWD, places.dirs[i]);
        sweep_neighbours(places.dirs[i]);
    }
    al_cgroup_places_fini(&places);
}

void al_cgroup_sweep(void)
{
    al_cgroup_sweep_at("");
}
