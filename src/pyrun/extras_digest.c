/* Digests of a folder: names in order, links by their targets, no link followed. */
#include "pyrun/extras_int.h"

#include "base/mem.h"
#include "os/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_ENTRIES 400000u
#define MAX_DEPTH 48u
#define CHUNK (128u << 10)

struct walk {
    struct al_sha256 *hash;
    bool content;
    unsigned entries, depth;
    char *chunk;
};

static int walk_folder(struct walk *w, int dir_fd, const char *name);

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_text(struct walk *w, const char *z)
{
    al_sha256_add(w->hash, z, strlen(z) + 1);
}

static void add_stat(struct walk *w, const struct stat *st)
{
    const int64_t facts[] = {(int64_t)st->st_ino, (int64_t)st->st_size,        (int64_t)st->st_mtim.tv_sec,
                             st->st_mtim.tv_nsec, (int64_t)st->st_ctim.tv_sec, st->st_ctim.tv_nsec};
    al_sha256_add(w->hash, facts, sizeof facts);
}

/* As long as it was when its size was taken down: what grows meanwhile has no digest, and no end. */
static int add_file(struct walk *w, int dir_fd, const char *name, uint64_t size)
{
    struct stat st;
    autofd int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EBUSY;
    for (uint64_t done = 0;;) {
        ssize_t n = read(fd, w->chunk, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : done == size ? 0 : -EBUSY;
        done += (uint64_t)n;
        if (done > size)
            return -EBUSY;
        al_sha256_add(w->hash, w->chunk, (size_t)n);
    }
}

static int add_link(struct walk *w, int dir_fd, const char *name)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(dir_fd, name, target, sizeof target - 1);
    if (n < 0)
        return -errno;
    target[n] = 0;
    add_text(w, target);
    return 0;
}

static int walk_entry(struct walk *w, int dir_fd, const char *name)
{
    struct stat st;
    char facts[64];
    if (++w->entries > MAX_ENTRIES)
        return -EFBIG;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    add_text(w, name);
    snprintf(facts, sizeof facts, "%o %lld", (unsigned)st.st_mode,
             S_ISREG(st.st_mode) ? (long long)st.st_size : 0LL);
    add_text(w, facts);
    if (!w->content && !S_ISDIR(st.st_mode))
        add_stat(w, &st);
    if (S_ISDIR(st.st_mode))
        return walk_folder(w, dir_fd, name);
    if (S_ISLNK(st.st_mode))
        return add_link(w, dir_fd, name);
    return S_ISREG(st.st_mode) && w->content ? add_file(w, dir_fd, name, (uint64_t)st.st_size) : 0;
}

static int read_names(DIR *d, char ***ret, size_t *ret_n)
{
    char **names = NULL;
    size_t n = 0, cap = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (n == cap) {
            cap = cap ? cap * 2 : 64;
            names = al_xrealloc(names, cap * sizeof *names);
        }
        names[n++] = al_xstrdup(e->d_name);
        if (n > MAX_ENTRIES)
            break;
    }
    if (n)
        qsort(names, n, sizeof *names, by_name);
    *ret = names;
    *ret_n = n;
    return n > MAX_ENTRIES ? -EFBIG : 0;
}

static int walk_folder(struct walk *w, int dir_fd, const char *name)
{
    if (w->depth == MAX_DEPTH)
        return -ELOOP;
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        int eno = errno;
        al_close(&fd);
        return -eno;
    }
    char **names;
    size_t n;
    int r = read_names(d, &names, &n);
    w->depth++;
    for (size_t i = 0; i < n; i++) {
        if (r == 0)
            r = walk_entry(w, fd, names[i]);
        free(names[i]);
    }
    add_text(w, "/"); /* the end of the folder: ("a/b") is not ("a", "b") */
    w->depth--;
    free(names);
    closedir(d);
    return r;
}

int al_extras_digest(int dir_fd, const char *name, bool content, char out[AL_SHA256_HEX])
{
    autofree char *chunk = al_xmalloc(CHUNK);
    struct walk w = {.hash = al_sha256_new(), .content = content, .chunk = chunk};
    int r = walk_folder(&w, dir_fd, name);
    al_sha256_end(w.hash, out);
    return r;
}
