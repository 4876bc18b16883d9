#include "os/temps.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_NOTES (64u << 10)

/* One process has one such file, as it has one host id. The thread pool writes, so the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *notes_path;
static int notes_fd = -1;
static unsigned n_open; /* temporary files that exist now */

void al_temps_begin(const char *file)
{
    if (!notes_path)
        notes_path = al_xstrdup(file);
}

void al_temps_end(const char *file)
{
    if (!notes_path || strcmp(notes_path, file) != 0)
        return;
    if (notes_fd >= 0)
        unlink(notes_path);
    al_close(&notes_fd);
    free(notes_path);
    notes_path = NULL;
}

static int note(int dir_fd)
{
    char self[64], dir[PATH_MAX];
    snprintf(self, sizeof(self), "/proc/self/fd/%d", dir_fd);
    ssize_t n = readlink(self, dir, sizeof(dir) - 1);
    if (n < 0)
        return -errno;
    if (notes_fd < 0)
        notes_fd = open(notes_path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (notes_fd < 0)
        return -errno;
    dir[n] = '\0'; /* the zero ends the note: a path may hold a line end */
    return al_fd_write_all(notes_fd, (struct al_str){dir, (size_t)n + 1});
}

int al_temps_enter(int dir_fd)
{
    pthread_mutex_lock(&lock);
    int r = notes_path ? note(dir_fd) : 0;
    if (r == 0)
        n_open++;
    pthread_mutex_unlock(&lock);
    return r;
}

void al_temps_leave(void)
{
    pthread_mutex_lock(&lock);
    /* With none left, what was noted is history. A failed truncation only leaves more to look at. */
    if (--n_open == 0 && notes_fd >= 0 && ftruncate(notes_fd, 0) < 0)
        errno = 0;
    pthread_mutex_unlock(&lock);
}

void al_temps_recover(const char *file)
{
    autobuf struct al_buf notes = AL_BUF_INIT(MAX_NOTES);
    autofd int fd = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    al_fd_read_all(fd, &notes); /* EFBIG keeps what fits */
    for (size_t at = 0; at < notes.n;) {
        struct al_str rest = {notes.p + at, notes.n - at};
        const char *end = memchr(rest.p, '\0', rest.n);
        if (!end)
            break;
        autofd int dir = open(rest.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir >= 0)
            al_path_sweep_tmp(dir);
        at += (size_t)(end - rest.p) + 1;
    }
    unlink(file);
}
