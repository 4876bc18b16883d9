/* What the tests of os, loop and sandbox share: a folder of their own, counting, waiting with a deadline. */
#ifndef AL_TESTS_OS_HELP_H
#define AL_TESTS_OS_HELP_H

#include "test.h"

#include "base/ident.h"
#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

struct tmp {
    char path[256];
    int fd;
};

UNUSED static void tmp_make(struct tmp *t)
{
    const char *base = getenv("TMPDIR");
    snprintf(t->path, sizeof(t->path), "%s/alisio-test-XXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(t->path));
    t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(t->fd >= 0);
}

UNUSED static void tmp_remove(struct tmp *t)
{
    al_close(&t->fd);
    char *slash = strrchr(t->path, '/');
    *slash = 0;
    int dir = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(al_path_remove_tree(dir, slash + 1), 0);
    close(dir);
}

UNUSED static void put_file(int dir, const char *name, const char *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(al_fd_write_all(fd, al_str_of(text)), 0);
    close(fd);
}

UNUSED static void put_link(const char *target, int dir, const char *name)
{
    assert_int_equal(symlinkat(target, dir, name), 0);
}

UNUSED static void set_mode(int dir, const char *name, mode_t mode)
{
    assert_int_equal(fchmodat(dir, name, mode, 0), 0);
}

UNUSED static char *get_file(int dir, const char *name)
{
    struct al_buf b = AL_BUF_INIT(1 << 20);
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    assert_int_equal(al_fd_read_all(fd, &b), 0);
    close(fd);
    return al_buf_take(&b);
}

UNUSED static unsigned count_fds(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Processes that are no zombies and have MARK in their environment. */
UNUSED static unsigned count_marked(const char *mark)
{
    unsigned n = 0;
    DIR *d = opendir("/proc");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[300];
        struct al_buf b = AL_BUF_INIT(1 << 20);
        if (!isdigit((unsigned char)e->d_name[0]) || atol(e->d_name) == getpid())
            continue;
        snprintf(path, sizeof(path), "/proc/%s/environ", e->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && al_fd_read_all(fd, &b) == 0 && al_str_find(al_buf_str(&b), al_str_of(mark)) >= 0)
            n++; /* the environment of a zombie reads as empty */
        al_close(&fd);
        al_buf_free(&b);
    }
    closedir(d);
    return n;
}

/* Looks again and again, for at most 10 s. */
UNUSED static bool gone_soon(const char *mark)
{
    for (uint64_t end = al_mono_ms() + 10000; al_mono_ms() < end; poll(NULL, 0, 5)) {
        if (count_marked(mark) == 0)
            return true;
    }
    return false;
}

UNUSED static void new_mark(char mark[64])
{
    uint64_t r;
    al_random(&r, sizeof(r));
    snprintf(mark, 64, "AL_TEST_MARK=%016llx", (unsigned long long)r);
}

#endif
