/*
 * What was built reaches the disk. All writes are started before any is waited for: the file system then
 * commits them together, where one wait for each file would cost a turn of the disk each.
 */
#include "artifact/artifact_int.h"

#include "os/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANY 16                             /* artifacts, each of some files and folders */
#define DEPTH_MAX (AL_OUTPUT_MAX_DEPTH + 3) /* files/ and what is above it */

static int sync_entry(int dir_fd, const char *name, bool wait, unsigned depth);

/* Takes fd. */
static int sync_folder(int fd, bool wait, unsigned depth)
{
    DIR *d = fdopendir(fd);
    if (!d) {
        int eno = errno;
        close(fd);
        return -eno;
    }
    int r = 0;
    for (struct dirent *e; r == 0 && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            r = sync_entry(fd, e->d_name, wait, depth + 1);
    }
    if (r == 0 && wait && fsync(fd) < 0)
        r = -errno;
    closedir(d);
    return r;
}

static int sync_entry(int dir_fd, const char *name, bool wait, unsigned depth)
{
    struct stat st;
    autofd int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode)) {
        int own = fd;
        fd = -1;
        if (depth <= DEPTH_MAX)
            return sync_folder(own, wait, depth);
        close(own);
        return -ELOOP;
    }
    if (wait)
        return fsync(fd) < 0 ? -errno : 0;
    int started = sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    (void)started; /* not every file system knows how: the wait does it all then */
    return 0;
}

static int sync_each(int dir_fd, const char *const *names, size_t n, bool wait)
{
    for (size_t i = 0; i < n; i++) {
        int r = sync_entry(dir_fd, names[i], wait, 0);
        if (r < 0)
            return r;
    }
    return 0;
}

int al_build_sync(int dir_fd, const char *const *names, size_t n, int64_t n_files)
{
    /* Each wait makes the disk empty its own memory. For many, one wait for all that the file system holds is
     * shorter, even with what others wrote. */
    if (n_files > MANY)
        return syncfs(dir_fd) < 0 ? -errno : 0;
    int r = sync_each(dir_fd, names, n, false);
    if (r == 0)
        r = sync_each(dir_fd, names, n, true);
    return r < 0 ? r : fsync(dir_fd) < 0 ? -errno : 0;
}
