#include "os/path.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_BYTES_MAX 4095
#define NAME_BYTES_MAX 255

static int add_component(struct al_buf *out, struct al_str name, struct al_err *err)
{
    if (name.n > NAME_BYTES_MAX)
        return al_fail(err, AL_INVALID_INPUT, "a name in the path is %zu bytes long; at most %d fit", name.n,
                       NAME_BYTES_MAX);
    if (out->n > 0)
        al_buf_addc(out, '/');
    al_buf_add_str(out, name);
    return 0;
}

static int drop_component(struct al_buf *out, struct al_err *err)
{
    if (out->n == 0) {
        al_fail(err, AL_PATH_OUTSIDE_WORKSPACE, "the path leaves the workspace by \"..\"");
        return al_hint(err, "Name a file inside the workspace, relative to it.");
    }
    while (out->n > 0 && out->p[out->n - 1] != '/')
        out->n--;
    if (out->n > 0)
        out->n--;
    return 0;
}

int al_path_normalize(struct al_str path, struct al_buf *out, struct al_err *err)
{
    if (path.n == 0)
        return al_fail(err, AL_INVALID_INPUT, "the path is empty");
    if (memchr(path.p, 0, path.n))
        return al_fail(err, AL_INVALID_INPUT, "the path contains a NUL byte");
    if (path.n > PATH_BYTES_MAX)
        return al_fail(err, AL_INVALID_INPUT, "the path is %zu bytes long; at most %d fit", path.n,
                       PATH_BYTES_MAX);
    if (path.p[0] == '/') {
        al_fail(err, AL_PATH_OUTSIDE_WORKSPACE, "the path is absolute");
        return al_hint(err, "Name a file inside the workspace, relative to it.");
    }
    al_buf_clear(out);
    for (size_t i = 0; i < path.n;) {
        const char *slash = memchr(path.p + i, '/', path.n - i);
        size_t n = slash ? (size_t)(slash - path.p) - i : path.n - i;
        struct al_str name = {path.p + i, n};
        int r = 0;
        if (al_str_is(name, ".."))
            r = drop_component(out, err);
        else if (n > 0 && !al_str_is(name, "."))
            r = add_component(out, name, err);
        if (r < 0)
            return r;
        i += n + 1;
    }
    if (out->n == 0)
        al_buf_addc(out, '.');
    if (al_buf_failed(out))
        return al_fail(err, AL_INVALID_INPUT, "the path is too long");
    return 0;
}

int al_path_openat2(int dir_fd, const char *rel, int flags, mode_t mode)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? mode & 07777 : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    /* EAGAIN: something was renamed while a ".." was followed, and the kernel cannot tell that it stayed
     * beneath. */
    for (int tries = 0; tries < 20000; tries++) {
        long fd = syscall(SYS_openat2, dir_fd, rel, &how, sizeof(how));
        if (fd >= 0)
            return (int)fd;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
        if (tries > 16)
            sched_yield();
    }
    return -EAGAIN;
}

/* Is the entry itself a link? Looked up beneath dir_fd, so that no other link leads outside on the way. */
static bool is_link(int dir_fd, const char *rel)
{
    autofd int fd = al_path_openat2(dir_fd, rel, O_PATH | O_NOFOLLOW, 0);
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode);
}

/* The first prefix of rel that leads outside is the link to name; NULL when it is none (or is gone again). */
static char *find_link(int dir_fd, const char *rel)
{
    size_t n = strlen(rel);
    for (size_t i = 1; i <= n; i++) {
        if (i < n && rel[i] != '/')
            continue;
        autofree char *prefix = al_xdup(rel, i);
        autofd int fd = al_path_openat2(dir_fd, prefix, O_PATH, 0);
        if (fd >= 0)
            continue;
        if (fd != -EXDEV || !is_link(dir_fd, prefix))
            return NULL;
        return al_xstrdup(prefix);
    }
    return NULL;
}

static int fail_outside(int dir_fd, const char *rel, const char *shown, struct al_err *err)
{
    autofree char *link = rel ? find_link(dir_fd, rel) : NULL;
    if (link) {
        autobuf struct al_buf b = AL_BUF_INIT(PATH_BYTES_MAX * 4);
        al_text_visible(&b, al_str_of(link), false);
        al_fail(err, AL_PATH_OUTSIDE_WORKSPACE, "%s: the link \"%.*s\" leads outside the workspace", shown,
                AL_FMT(al_buf_str(&b)));
    } else {
        al_fail(err, AL_PATH_OUTSIDE_WORKSPACE, "%s: leads outside the workspace", shown);
    }
    return al_hint(err, "Links are followed only when they are relative and never leave the workspace.");
}

int al_path_fail(int dir_fd, const char *rel, int eno, const char *shown, struct al_err *err)
{
    switch (eno) {
    case EXDEV:
        return fail_outside(dir_fd, rel, shown, err);
    case ENOENT:
        return al_fail(err, AL_NOT_FOUND, "%s: no such file or folder", shown);
    case EISDIR:
        return al_fail(err, AL_INVALID_INPUT, "%s: is a folder", shown);
    case ENOTDIR:
        return al_fail(err, AL_INVALID_INPUT, "%s: a part of the path is no folder", shown);
    case ELOOP:
        if (rel && is_link(dir_fd, rel))
            return al_fail(err, AL_INVALID_INPUT, "%s: is a link that cannot be followed", shown);
        return al_fail(err, AL_INVALID_INPUT, "%s: goes through too many links", shown);
    case ENAMETOOLONG:
        return al_fail(err, AL_INVALID_INPUT, "%s: the path or a name in it is too long", shown);
    case ENXIO:
    case ENODEV:
    case EOPNOTSUPP:
        return al_fail(err, AL_INVALID_INPUT, "%s: is a special file (pipe, socket or device)", shown);
    case EEXIST:
        return al_fail(err, AL_STATE_CONFLICT, "%s: exists already", shown);
    case EACCES:
    case EPERM:
    case EROFS:
        return al_fail_errno(err, AL_PERMISSION_DENIED, eno, "%s", shown);
    case ENOSPC:
    case EDQUOT:
        return al_fail_errno(err, AL_QUOTA_EXCEEDED, eno, "%s", shown);
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ETXTBSY:
        return al_fail_errno(err, AL_BUSY, eno, "%s", shown);
    case ENOSYS:
        al_fail(err, AL_RUNTIME_UNAVAILABLE,
                "this system does not offer openat2, on which file access rests");
        return al_hint(err, "Linux 5.13 or newer is needed; an old container filter may hide the call.");
    default:
        return al_fail_errno(err, AL_INTERNAL, eno, "%s", shown);
    }
}

int al_path_open(int dir_fd, const char *rel, int flags, mode_t mode, const char *shown, int *ret_fd,
                 struct al_err *err)
{
    bool only_path = flags & O_PATH;
    /* O_NONBLOCK: a pipe that a repository planted must not hold us up. It means nothing for files and
     * folders. */
    if (!only_path)
        flags |= O_NONBLOCK | O_NOCTTY;
    autofd int fd = al_path_openat2(dir_fd, rel, flags, mode);
    if (fd < 0)
        return al_path_fail(dir_fd, rel, -fd, shown, err);
    struct stat st;
    if (fstat(fd, &st) < 0)
        return al_path_fail(dir_fd, rel, errno, shown, err);
    if (!only_path && S_ISDIR(st.st_mode) && !(flags & O_DIRECTORY))
        return al_path_fail(dir_fd, rel, EISDIR, shown, err);
    if (!only_path && !S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return al_path_fail(dir_fd, rel, ENXIO, shown, err);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

/* Opens each folder on the way, from the root down, and makes what is missing. */
static int make_parents(int dir_fd, char *parent)
{
    autofd int at = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
    if (at < 0)
        return -errno;
    size_t n = strlen(parent), start = 0;
    for (size_t i = 1; i <= n; i++) {
        if (i < n && parent[i] != '/')
            continue;
        parent[i] = 0;
        /* From the root each time, since a relative link may go up and down again inside of it. */
        int next = al_path_openat2(dir_fd, parent, O_PATH | O_DIRECTORY, 0);
        if (next == -ENOENT) {
            if (mkdirat(at, parent + start, 0755) < 0 && errno != EEXIST)
                return -errno;
            next = al_path_openat2(dir_fd, parent, O_PATH | O_DIRECTORY, 0);
        }
        if (next < 0)
            return next;
        al_close(&at);
        at = next;
        if (i < n)
            parent[i] = '/';
        start = i + 1;
    }
    return 0;
}

static int open_folder(int dir_fd, const char *rel)
{
    int fd = al_path_openat2(dir_fd, rel, O_RDONLY | O_DIRECTORY, 0);
    if (fd == -EACCES) /* a folder that we may enter but not list */
        fd = al_path_openat2(dir_fd, rel, O_PATH | O_DIRECTORY, 0);
    return fd;
}

int al_path_open_parent(int dir_fd, const char *rel, bool create, const char *shown, int *ret_fd,
                        const char **ret_name, struct al_err *err)
{
    const char *slash = strrchr(rel, '/');
    const char *name = slash ? slash + 1 : rel;
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return al_fail(err, AL_INVALID_INPUT, "%s: is a folder", shown);
    autofree char *parent = slash ? al_xdup(rel, (size_t)(slash - rel)) : al_xstrdup(".");
    autofd int fd = open_folder(dir_fd, parent);
    if (fd == -ENOENT && create) {
        int r = make_parents(dir_fd, parent);
        if (r < 0)
            return al_path_fail(dir_fd, parent, -r, shown, err);
        fd = open_folder(dir_fd, parent);
    }
    if (fd < 0)
        return al_path_fail(dir_fd, parent, -fd, shown, err);
    *ret_fd = fd;
    *ret_name = name;
    fd = -1;
    return 0;
}

char *al_path_real(const char *path, struct al_err *err)
{
    struct stat st;
    autofree char *real = realpath(path, NULL);
    if (!real || stat(real, &st) < 0) {
        al_path_fail(-1, NULL, errno, path, err);
        return NULL;
    }
    if (!S_ISDIR(st.st_mode)) {
        al_fail(err, AL_INVALID_INPUT, "%s: is no folder", path);
        return NULL;
    }
    char *r = real;
    real = NULL;
    return r;
}
