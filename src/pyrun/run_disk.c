/* What lies in a folder that a script writes to, meanwhile. */
#include "base/mem.h"
#include "os/fd.h"
#include "pyrun/run_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_NAMES (1u << 30) /* bytes of names of folders; the limit of files comes before */
#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

/* One folder that was found. Opened from the top, step by step: no path is too long, and no link is followed.
 */
struct folder {
    uint32_t parent, depth;
    size_t name; /* where its name begins */
};

struct walk {
    int top;
    struct al_buf folders, names;
    int parent_fd;   /* of the folder that was looked up last, for its sisters */
    uint32_t parent; /* whose that is */
    uint64_t *links; /* inodes with several names that were counted: open addressing, 0 is free */
    size_t n_links, cap_links;
    uint64_t max_bytes, max_files;
    struct al_py_use *use;
};

static struct folder folder_at(const struct walk *w, uint32_t i)
{
    struct folder f;
    memcpy(&f, w->folders.p + i * sizeof(f), sizeof(f));
    return f;
}

static bool over(const struct walk *w)
{
    return w->use->disk > w->max_bytes || w->use->files > w->max_files || w->use->deep ||
           al_buf_failed(&w->folders) || al_buf_failed(&w->names);
}

static bool put_link(uint64_t *links, size_t cap, uint64_t ino)
{
    size_t i = (size_t)((ino * 0x9e3779b97f4a7c15u) >> 20) & (cap - 1);
    for (; links[i]; i = (i + 1) & (cap - 1)) {
        if (links[i] == ino)
            return false;
    }
    links[i] = ino;
    return true;
}

/* False: it was counted under another name. */
static bool first_name(struct walk *w, uint64_t ino)
{
    if ((w->n_links + 1) * 2 > w->cap_links) {
        size_t cap = w->cap_links ? w->cap_links * 2 : 64;
        uint64_t *links = al_xcalloc(cap, sizeof(*links));
        for (size_t i = 0; i < w->cap_links; i++) {
            if (w->links[i])
                put_link(links, cap, w->links[i]);
        }
        free(w->links);
        w->links = links;
        w->cap_links = cap;
    }
    bool first = put_link(w->links, w->cap_links, ino);
    w->n_links += first;
    return first;
}

/* One that its owner closed to himself is opened up: it could hide anything. */
static int open_folder(int at, const char *name)
{
    int fd = openat(at, name, OPEN_FLAGS);
    if (fd >= 0 || errno != EACCES)
        return fd;
    autofd int closed = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char self[64];
    snprintf(self, sizeof(self), "/proc/self/fd/%d", closed);
    if (closed < 0 || chmod(self, 0700) < 0)
        return -1;
    return openat(at, name, OPEN_FLAGS);
}

/* Several steps in one go, as many as a path takes; *n becomes what is left of them. -1: step by step, then.
 */
static int open_steps(const struct walk *w, int at, const uint32_t *way, size_t *n)
{
    char path[PATH_MAX];
    size_t used = 0, left = *n;
    for (; left > 0; left--) {
        const char *name = w->names.p + folder_at(w, way[left - 1]).name;
        size_t bytes = strlen(name);
        if (used + bytes + 2 > sizeof(path))
            break;
        if (used > 0)
            path[used++] = '/';
        memcpy(path + used, name, bytes);
        used += bytes;
    }
    path[used] = 0;
    struct open_how how = {.flags = OPEN_FLAGS, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH};
    int fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
    if (fd >= 0)
        *n = left;
    return fd;
}

/* The folder, from the top. -1 when it has gone. */
static int open_from_top(const struct walk *w, uint32_t i)
{
    uint32_t way[AL_PY_MAX_DEPTH + 2];
    size_t n = 0;
    for (uint32_t at = i; at != 0; at = folder_at(w, at).parent)
        way[n++] = at;
    int fd = open_folder(w->top, ".");
    while (fd >= 0 && n > 0) {
        int next = n > 1 ? open_steps(w, fd, way, &n) : -1;
        if (next < 0)
            next = open_folder(fd, w->names.p + folder_at(w, way[--n]).name);
        al_close(&fd);
        fd = next;
    }
    return fd;
}

static int open_number(struct walk *w, uint32_t i)
{
    if (i == 0)
        return open_from_top(w, 0);
    struct folder f = folder_at(w, i);
    if (w->parent_fd < 0 || w->parent != f.parent) {
        al_close(&w->parent_fd);
        w->parent_fd = open_from_top(w, f.parent);
        w->parent = f.parent;
    }
    return w->parent_fd < 0 ? -1 : open_folder(w->parent_fd, w->names.p + f.name);
}

static void add_entry(struct walk *w, int dir, uint32_t i, const char *name)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    /* Each name takes room and time; the bytes behind several are there once. */
    w->use->files++;
    if (S_ISDIR(st.st_mode) || st.st_nlink == 1 || first_name(w, st.st_ino))
        w->use->disk += (uint64_t)st.st_blocks * 512;
    if (!S_ISDIR(st.st_mode))
        return;
    struct folder f = {.parent = i, .depth = folder_at(w, i).depth + 1, .name = w->names.n};
    if (f.depth > AL_PY_MAX_DEPTH)
        w->use->deep = true;
    al_buf_add(&w->names, name, strlen(name) + 1);
    al_buf_add(&w->folders, &f, sizeof(f));
}

static void look_into(struct walk *w, uint32_t i, const atomic_bool *stop)
{
    int fd = open_number(w, i);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        al_close(&fd);
        return;
    }
    for (struct dirent *e; !over(w) && !atomic_load(stop) && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            add_entry(w, fd, i, e->d_name);
    }
    closedir(d);
}

void al_py_folder_use(int dir_fd, uint64_t max_bytes, uint64_t max_files, const atomic_bool *stop,
                      struct al_py_use *use)
{
    uint64_t most = max_files < UINT32_MAX - 2 ? max_files + 2 : UINT32_MAX;
    struct walk w = {.top = dir_fd,
                     .folders = AL_BUF_INIT(most * sizeof(struct folder)),
                     .names = AL_BUF_INIT(MAX_NAMES),
                     .parent_fd = -1,
                     .max_bytes = max_bytes,
                     .max_files = max_files,
                     .use = use};
    struct folder top = {.parent = 0};
    al_buf_add(&w.names, "", 1);
    al_buf_add(&w.folders, &top, sizeof(top));
    for (uint32_t i = 0; i < w.folders.n / sizeof(top) && !over(&w) && !atomic_load(stop); i++)
        look_into(&w, i, stop);
    al_close(&w.parent_fd);
    al_buf_free(&w.folders);
    al_buf_free(&w.names);
    free(w.links);
}
