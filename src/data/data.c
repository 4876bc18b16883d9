#include "data/data.h"
#include "base/ident.h"
#include "base/mem.h"
#include "data/data_int.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

struct al_data *al_data_new(struct al_loop *loop)
{
    struct al_data *d = al_xcalloc(1, sizeof *d);
    d->loop = loop;
    d->next_seq = 1;
    return d;
}

void al_data_free(struct al_data *d)
{
    if (!d)
        return;
    al_data_queries_free(d);
    al_jobs_free(&d->ingests);
    al_jobs_free(&d->dashboards);
    al_data_zygotes_free(d);
    free(d->spill_dir);
    free(d);
}

void al_data_set_spill_dir(struct al_data *d, const char *path)
{
    free(d->spill_dir);
    d->spill_dir = path ? al_xstrdup(path) : NULL;
}

/* Without a name from the start, or (where the file system cannot do that) without one from then on. */
static int spill_in(const char *dir)
{
    char name[48];
    uint64_t r;
    autofd int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return -1;
    int fd = openat(at, ".", O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return fd;
    al_random(&r, sizeof r);
    snprintf(name, sizeof name, ".alisio-tmp-%016llx", (unsigned long long)r);
    fd = openat(at, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        unlinkat(at, name, 0);
    return fd;
}

int al_data_spill(const struct al_data *d)
{
    const char *const usual[] = {d->spill_dir, "/var/tmp", getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        int fd = usual[i] && usual[i][0] == '/' ? spill_in(usual[i]) : -1;
        if (fd >= 0)
            return fd;
    }
    return -1;
}

int al_data_reader(int fd, const char *what, struct al_err *err)
{
    char path[40];
    int flags = fcntl(fd, F_GETFL), r = -1;
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) {
        r = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    } else if (flags >= 0) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        r = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (r < 0)
        al_fail_errno(err, AL_ENGINE_UNAVAILABLE, errno, "%s cannot be handed to a process", what);
    return r;
}

int al_data_exec(const char *verb, const struct al_fd_map *fds, size_t n_fds, pid_t *ret_pid, int *ret_pidfd,
                 struct al_err *err)
{
    char pid[24], zone[512], own_verb[32], name[] = "alisio";
    const char *tz = getenv("TZ");
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    snprintf(zone, sizeof zone, "%s", tz ? tz : "");
    snprintf(own_verb, sizeof own_verb, "%s", verb);
    char *argv[] = {name, own_verb, pid, tz ? zone : NULL, NULL};
    char *envp[] = {NULL};
    autofd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct al_spawn how = {
        .exec_fd = al_self_fd(),
        .argv = argv,
        .envp = envp,
        .cwd_fd = root,
        .fds = fds,
        .n_fds = n_fds,
        .death_signal = SIGKILL,
    };
    if (how.exec_fd < 0)
        return al_fail(err, AL_ENGINE_UNAVAILABLE, "the running program cannot be opened again");
    if (al_spawn(&how, ret_pid, ret_pidfd, err) == 0)
        return 0;
    if (err)
        err->code = AL_ENGINE_UNAVAILABLE;
    return -1;
}

void al_data_warm(struct al_data *d)
{
    d->warm = true;
    al_data_spare_want(d);
}
