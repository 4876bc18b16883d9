#include "os/lock.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static int flock_retry(int fd, int how)
{
    int r;
    do {
        r = flock(fd, how);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

/* Is the locked file still the one that the path names? It may have been removed between open and lock. */
static bool still_there(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

int al_lock_try(const char *path, int *ret_fd, struct al_err *err)
{
    for (int tries = 0; tries < 100; tries++) {
        autofd int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);
        if (fd < 0) {
            al_fail_errno(err, AL_INTERNAL, errno, "cannot open a lock file");
            return al_detail(err, "%s", path);
        }
        int r = flock_retry(fd, LOCK_EX | LOCK_NB);
        if (r == -EWOULDBLOCK)
            return 0;
        if (r < 0) {
            al_fail_errno(err, AL_INTERNAL, -r, "cannot lock a lock file");
            return al_detail(err, "%s", path);
        }
        if (still_there(fd, path)) {
            *ret_fd = fd;
            fd = -1;
            return 1;
        }
    }
    al_fail(err, AL_BUSY, "a lock file is being removed again and again");
    return al_detail(err, "%s", path);
}

int al_lock_is_free(const char *path)
{
    autofd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    /* A shared lock is enough to know, and two that look at once do not see each other. */
    int r = flock_retry(fd, LOCK_SH | LOCK_NB);
    if (r == -EWOULDBLOCK)
        return 0;
    return r < 0 ? -1 : 1;
}

static bool magic_is_network(unsigned long magic)
{
    static const unsigned long network[] = {
        0x6969,     /* NFS */
        0x517B,     /* SMB */
        0xFE534D42, /* SMB2 */
        0xFF534D42, /* CIFS */
        0x01021997, /* 9P: WSL's /mnt, some virtual machines */
        0x5346414F, /* AFS */
        0x6B414653, /* kAFS */
        0x73757245, /* Coda */
        0x00C36400, /* Ceph */
        0x564C,     /* NCP */
        0x65735546, /* FUSE: sshfs and shared folders of container desktops */
        0x7461636F, /* OCFS2 */
        0x01161970, /* GFS2 */
        0x0BD00BD0, /* Lustre */
        0x47504653, /* GPFS */
        0x786F4256, /* VirtualBox shared folder */
    };
    for (size_t i = 0; i < sizeof(network) / sizeof(network[0]); i++) {
        if (network[i] == magic)
            return true;
    }
    return false;
}

bool al_fs_is_network(const char *path)
{
    char at[PATH_MAX];
    int n = snprintf(at, sizeof(at), "%s", path);
    if (n <= 0 || (size_t)n >= sizeof(at))
        return false;
    for (;;) {
        struct statfs fs;
        if (statfs(at, &fs) == 0)
            return magic_is_network((unsigned long)fs.f_type & 0xFFFFFFFFul);
        if (errno != ENOENT)
            return false;
        /* What is not made yet lies on the file system of its nearest folder. */
        char *slash = strrchr(at, '/');
        if ((!slash && strcmp(at, ".") == 0) || (slash == at && !at[1]))
            return false;
        if (!slash)
            memcpy(at, ".", 2);
        else if (slash == at)
            at[1] = 0;
        else
            *slash = 0;
    }
}
