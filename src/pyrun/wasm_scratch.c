/* The scratchpad for a process that must follow no link: what may be had of it, copied. */
#include "pyrun/wasm_int.h"

#include "base/mem.h"
#include "os/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BYTES (UINT64_C(64) << 20)
#define MAX_ENTRIES 10000
#define MAX_DEPTH 32
#define CHUNK (128 * 1024)
#define COPY "scratch" /* in the job's folder */

struct copy {
    uint64_t bytes;
    unsigned entries;
    bool root; /* we are: who reads the copy may be another user */
    char *chunk;
    struct al_err *err;
};

static int too_much(struct copy *c, const char *what)
{
    al_fail(c->err, AL_INVALID_INPUT, "the scratchpad has more than %s, and a script gets a copy of it here",
            what);
    return al_hint(
        c->err, "remove what is not needed from the scratchpad, or use another back end (analysis.runtime)");
}

static int broken(struct copy *c, int eno)
{
    return al_fail_errno(c->err, eno == ENOSPC || eno == EDQUOT ? AL_QUOTA_EXCEEDED : AL_INTERNAL, eno,
                         "the scratchpad cannot be copied for the script");
}

static int copy_file(struct copy *c, int from, int to, const char *name)
{
    autofd int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (in < 0 || fstat(in, &st) < 0 || !S_ISREG(st.st_mode))
        return 0; /* it has become another thing, or is not ours to read */
    autofd int out =
        openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, c->root ? 0644 : 0600);
    if (out < 0)
        return broken(c, errno);
    ssize_t n;
    while ((n = read(in, c->chunk, CHUNK)) > 0) {
        c->bytes += (uint64_t)n;
        if (c->bytes > MAX_BYTES)
            return too_much(c, "64 MiB");
        int r = al_fd_write_all(out, (struct al_str){c->chunk, (size_t)n});
        if (r < 0)
            return broken(c, -r);
    }
    return n < 0 ? broken(c, errno) : 0;
}

static int copy_folder(struct copy *c, int from, int to, unsigned depth);

static int copy_entry(struct copy *c, int from, int to, const char *name, unsigned depth)
{
    struct stat st;
    if (++c->entries > MAX_ENTRIES)
        return too_much(c, "10,000 files");
    if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if (S_ISREG(st.st_mode))
        return copy_file(c, from, to, name);
    if (!S_ISDIR(st.st_mode))
        return 0;
    if (depth == MAX_DEPTH)
        return too_much(c, "32 levels of folders");
    autofd int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (in < 0)
        return 0;
    if (mkdirat(to, name, c->root ? 0755 : 0700) < 0)
        return broken(c, errno);
    autofd int out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return out < 0 ? broken(c, errno) : copy_folder(c, in, out, depth + 1);
}

/* The caller's descriptors stay its own. */
static int copy_folder(struct copy *c, int from, int to, unsigned depth)
{
    int own = fcntl(from, F_DUPFD_CLOEXEC, 3);
    DIR *d = own < 0 ? NULL : fdopendir(own);
    if (!d) {
        al_close(&own);
        return broken(c, errno);
    }
    int r = 0;
    for (struct dirent *e; r == 0 && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            r = copy_entry(c, from, to, e->d_name, depth);
    }
    closedir(d);
    return r;
}

int al_wasm_copy_scratch(const char *from, int dir_fd, const char *to, struct al_err *err)
{
    autofree char *chunk = al_xmalloc(CHUNK);
    struct copy c = {.root = geteuid() == 0, .chunk = chunk, .err = err};
    autofd int in = open(from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (in < 0)
        return broken(&c, errno);
    mode_t mode = c.root ? 0755 : 0700;
    if (mkdirat(dir_fd, to, mode) < 0 || fchmodat(dir_fd, to, mode, 0) < 0)
        return broken(&c, errno);
    autofd int out = openat(dir_fd, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return out < 0 ? broken(&c, errno) : copy_folder(&c, in, out, 0);
}

const char *al_py_scratch_copy(const struct al_py_start *s, struct al_arena *a, struct al_err *err)
{
    const struct al_py_job *job = s->spec->job;
    const char *path = al_arena_printf(a, "%s/" COPY, job->path);
    if (!path) {
        al_fail(err, AL_INTERNAL, "the command of a script is too long");
        return NULL;
    }
    if (faccessat(job->fd, COPY, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
        al_wasm_copy_scratch(s->spec->scratch, job->fd, COPY, err) < 0)
        return NULL;
    return path;
}
