/* Atomic replacement, and the sweeping of what a killed writer left. */
#include "base/ident.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/path_int.h"
#include "os/temps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define TMP_PREFIX ".alisio-tmp-"
#define TMP_DIGITS 16
#define TMP_SIZE (sizeof(TMP_PREFIX) + TMP_DIGITS)

static int lock_file(int fd, int how)
{
    while (flock(fd, how) < 0) {
        if (errno != EINTR)
            return -errno;
    }
    return 0;
}

/* A new locked file. The lock says that its writer lives; it goes with the descriptor. fd or -errno. */
static int make_tmp(int dir_fd, mode_t mode, char name[TMP_SIZE])
{
    for (int tries = 0; tries < 100; tries++) {
        uint64_t r;
        al_random(&r, sizeof(r));
        snprintf(name, TMP_SIZE, TMP_PREFIX "%016llx", (unsigned long long)r);
        autofd int fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0777);
        if (fd < 0) {
            if (errno == EEXIST || errno == EINTR)
                continue;
            return -errno;
        }
        struct stat st;
        int locked = lock_file(fd, LOCK_EX);
        /* A sweeper may have come between creation and lock, and taken the file away. */
        if (locked == 0 && fstat(fd, &st) == 0 && st.st_nlink == 0)
            continue;
        int out = fd;
        fd = -1;
        return out;
    }
    return -EEXIST;
}

/* Mode and owner of the file that is replaced. The set-id bits do not survive a write, as with write(2). */
static int keep_attributes(int fd, const struct stat *old)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    if ((st.st_uid != old->st_uid || st.st_gid != old->st_gid) && fchown(fd, old->st_uid, old->st_gid) < 0 &&
        errno != EPERM && errno != EINVAL)
        return -errno;
    return fchmod(fd, old->st_mode & 0777) < 0 ? -errno : 0;
}

static int fill_and_rename(int dir_fd, const char *tmp, int fd, const char *name, struct al_str bytes,
                           const struct stat *old)
{
    int r = al_fd_write_all(fd, bytes);
    if (r == 0 && old)
        r = keep_attributes(fd, old);
    if (r == 0 && fsync(fd) < 0)
        r = -errno;
    if (r == 0 && renameat(dir_fd, tmp, dir_fd, name) < 0)
        r = -errno;
    if (r < 0)
        unlinkat(dir_fd, tmp, 0);
    return r;
}

int al_path_write_atomic(int dir_fd, const char *name, struct al_str bytes, mode_t mode, const char *shown,
                         struct al_err *err)
{
    struct stat st;
    bool exists = false;
    if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return al_fail(err, AL_INVALID_INPUT, "%s: is no file name", shown);
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(st.st_mode))
            return al_path_fail(dir_fd, NULL, EISDIR, shown, err);
        if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
            return al_path_fail(dir_fd, NULL, ENXIO, shown, err);
        exists = S_ISREG(st.st_mode);
        /* rename(2) would replace a file that nobody may write. */
        if (exists && faccessat(dir_fd, name, W_OK, AT_EACCESS) < 0 && errno != ENOENT)
            return al_path_fail(dir_fd, NULL, errno, shown, err);
    } else if (errno != ENOENT) {
        return al_path_fail(dir_fd, NULL, errno, shown, err);
    }
    int r = al_temps_enter(dir_fd);
    if (r == 0) {
        char tmp[TMP_SIZE];
        autofd int fd = make_tmp(dir_fd, exists ? 0600 : mode, tmp);
        r = fd < 0 ? fd : fill_and_rename(dir_fd, tmp, fd, name, bytes, exists ? &st : NULL);
        al_temps_leave();
    }
    if (r < 0)
        return al_path_fail(dir_fd, NULL, -r, shown, err);
    return 0;
}

int al_path_tmp_begin(int dir_fd, char name[AL_PATH_TMP_MAX])
{
    _Static_assert(AL_PATH_TMP_MAX >= TMP_SIZE, "the name fits");
    int r = al_temps_enter(dir_fd);
    if (r < 0)
        return r;
    int fd = make_tmp(dir_fd, 0600, name);
    if (fd < 0)
        al_temps_leave();
    return fd;
}

void al_path_tmp_end(void)
{
    al_temps_leave();
}

static bool is_tmp_name(const char *name)
{
    size_t prefix = sizeof(TMP_PREFIX) - 1;
    return strlen(name) == prefix + TMP_DIGITS && memcmp(name, TMP_PREFIX, prefix) == 0 &&
           strspn(name + prefix, "0123456789abcdef") == TMP_DIGITS;
}

static bool sweep_one(int dir_fd, const char *name)
{
    struct stat held, named;
    autofd int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &held) < 0 || !S_ISREG(held.st_mode))
        return false;
    if (lock_file(fd, LOCK_EX | LOCK_NB) < 0)
        return false; /* its writer lives */
    /* The writer may have renamed it before it let go of the lock. */
    if (fstatat(dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) < 0 || named.st_ino != held.st_ino ||
        named.st_dev != held.st_dev)
        return false;
    return unlinkat(dir_fd, name, 0) == 0;
}

int al_path_sweep_tmp(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return 0;
    }
    int removed = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (is_tmp_name(e->d_name) && sweep_one(dir_fd, e->d_name))
            removed++;
    }
    closedir(d);
    return removed;
}
