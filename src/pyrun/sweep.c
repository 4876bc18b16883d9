#include "pyrun/sweep.h"

#include "base/ident.h"
#include "os/fd.h"
#include "os/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "analysis/jobs"
#define DAY_MS INT64_C(86400000)

struct sweep {
    const struct al_py_sweep_spec *spec;
    struct al_py_swept *ret;
    struct al_buf *said;
};

static DIR *open_folder(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !d)
        close(fd);
    return d;
}

static bool is_old(const struct sweep *s, const char *exec_id, int64_t days)
{
    int64_t made = al_id_time_ms(al_str_of(exec_id));
    return days > 0 && made > 0 && s->spec->now_ms - made > days * DAY_MS;
}

/* Whether it was there, and is gone now. */
static bool remove_part(struct sweep *s, int job_fd, const char *name)
{
    struct stat st;
    if (fstatat(job_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    int64_t bytes = S_ISREG(st.st_mode) ? (int64_t)st.st_size : 0;
    if (S_ISDIR(st.st_mode)) {
        autofd int fd = openat(job_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        bytes = fd >= 0 ? al_path_tree_bytes(fd) : 0;
    }
    if (al_path_remove_tree(job_fd, name) < 0)
        return false;
    s->ret->bytes += bytes;
    return true;
}

static bool remove_parts(struct sweep *s, int job_fd, const char *const *names)
{
    bool any = false;
    for (; *names; names++)
        any |= remove_part(s, job_fd, *names);
    return any;
}

static void say(struct sweep *s, const char *exec_id, const char *what)
{
    if (s->said)
        al_buf_addf(s->said, "%s: %s\n", exec_id, what);
}

static void sweep_job(struct sweep *s, int session_fd, const char *id)
{
    static const char *const work[] = {"work", NULL}, *const logs[] = {"logs", "staging", NULL},
                             *const script[] = {"script", "input", "job.json", NULL};
    const struct al_py_sweep_spec *spec = s->spec;
    bool old_work = is_old(s, id, spec->intermediate_days), old = is_old(s, id, spec->jobs_days);
    if (!(old_work || old) || spec->live(spec->ud, id) || (spec->stop && *spec->stop))
        return;
    autofd int job = openat(session_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (job < 0)
        return;
    if (old_work && remove_parts(s, job, work)) {
        s->ret->work++;
        say(s, id, "work folder");
    }
    if (!old)
        return;
    if (remove_parts(s, job, logs)) {
        s->ret->logs++;
        say(s, id, "logs and output folder");
    }
    if (spec->kept(spec->ud, id))
        return;
    if (remove_parts(s, job, script)) {
        s->ret->scripts++;
        say(s, id, "script and inputs");
    }
    if (unlinkat(session_fd, id, AT_REMOVEDIR) == 0)
        s->ret->jobs++;
}

static void sweep_session(struct sweep *s, int workspace_fd, const char *name)
{
    DIR *d = open_folder(workspace_fd, name);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        if (al_id_valid(al_str_of(e->d_name), "exec"))
            sweep_job(s, dirfd(d), e->d_name);
    }
    closedir(d);
    unlinkat(workspace_fd, name, AT_REMOVEDIR); /* only when it is empty */
}

static void sweep_workspace(struct sweep *s, int jobs_fd, const char *name)
{
    DIR *d = open_folder(jobs_fd, name);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        if (al_id_valid(al_str_of(e->d_name), "ses"))
            sweep_session(s, dirfd(d), e->d_name);
    }
    closedir(d);
    unlinkat(jobs_fd, name, AT_REMOVEDIR);
}

int al_py_sweep(const struct al_py_sweep_spec *spec, struct al_py_swept *ret, struct al_buf *said,
                struct al_err *err)
{
    struct sweep s = {spec, ret, said};
    *ret = (struct al_py_swept){0};
    autofd int state = openat(AT_FDCWD, spec->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), jobs = -1;
    struct al_err why = {0};
    if (state < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "the state folder cannot be opened");
    if (al_path_open(state, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, "the folder of jobs", &jobs,
                     &why) < 0) {
        if (why.code == AL_NOT_FOUND)
            return 0;
        if (err)
            *err = why;
        return -1;
    }
    DIR *d = open_folder(jobs, ".");
    if (!d)
        return al_fail_errno(err, AL_INTERNAL, errno, "the folder of jobs cannot be read");
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] != '.')
            sweep_workspace(&s, jobs, e->d_name);
    }
    closedir(d);
    return 0;
}
