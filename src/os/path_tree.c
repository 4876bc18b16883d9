/* Whole folders: private ones, their size, their removal. */
#include "base/ident.h"
#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/path_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REMOVE_DEPTH 32
#define MAX_PASSES 100000
#define MAX_ENTRIES 1000000
#define MAX_PENDING (64u << 20)

static bool is_dots(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* path is cut and mended on the way. */
static int make_all(char *path)
{
    for (char *s = path + 1;; s++) {
        if (*s && *s != '/')
            continue;
        bool last = !*s;
        *s = 0;
        /* What is there already may sit on a read-only file system or under a folder that is not ours. */
        if (mkdir(path, 0700) < 0 && errno != EEXIST && (last || (errno != EROFS && errno != EACCES)))
            return -errno;
        if (last)
            return 0;
        *s = '/';
    }
}

static int fail_private(struct al_err *err, const char *path, const char *what, const char *hint)
{
    const char *slash = strrchr(path, '/');
    al_fail(err, AL_PERMISSION_DENIED, "the private folder \"%s\" %s", slash && slash[1] ? slash + 1 : path,
            what);
    al_hint(err, "%s", hint);
    return al_detail(err, "%s", path);
}

int al_path_private_dir(const char *path, struct al_err *err)
{
    if (!*path)
        return al_fail(err, AL_INVALID_INPUT, "the name of a private folder is empty");
    autofree char *p = al_xstrdup(path);
    for (size_t n = strlen(p); n > 1 && p[n - 1] == '/'; n--)
        p[n - 1] = 0; /* with a slash at its end, lstat would follow a link */
    int r = make_all(p);
    struct stat st;
    if (r < 0 || lstat(p, &st) < 0) {
        al_fail_errno(err, AL_PERMISSION_DENIED, r < 0 ? -r : errno, "cannot make a private folder");
        return al_detail(err, "%s", p);
    }
    if (S_ISLNK(st.st_mode))
        return fail_private(err, p, "is a link", "put a folder of your own in its place");
    if (!S_ISDIR(st.st_mode))
        return fail_private(err, p, "is no folder", "move the file that has its name away");
    if (st.st_uid != geteuid())
        return fail_private(err, p, "belongs to another user", "name a folder of your own");
    if (st.st_mode & 077)
        return fail_private(err, p, "is open to other users", "close it with `chmod 700`");
    return 0;
}

/* A folder whose permissions keep its owner out is opened up; by descriptor, so that no link is followed.
 * Sets errno. */
static int open_up(int dir_fd, const char *name)
{
    autofd int path_fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char self[64];
    snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
    return path_fd < 0 ? -1 : chmod(self, 0700);
}

static int open_for_removal(int dir_fd, const char *name)
{
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir_fd, name, flags);
    if (fd < 0 && errno == EACCES && open_up(dir_fd, name) == 0)
        fd = openat(dir_fd, name, flags);
    return fd < 0 ? -errno : fd;
}

static int remove_content(int fd, int top_fd, int depth);

static int remove_folder(int dir_fd, const char *name, int top_fd, int depth)
{
    if (depth >= REMOVE_DEPTH) {
        /* However deep a tree is, descriptors and stack stay bounded: the rest moves up and is met there
         * again. */
        char moved[64];
        uint64_t r;
        al_random(&r, sizeof(r));
        snprintf(moved, sizeof(moved), ".alisio-rm-%016llx", (unsigned long long)r);
        if (renameat(dir_fd, name, top_fd, moved) == 0)
            return 0;
        /* It is written to itself: its ".." becomes another one. */
        if (errno != EACCES || open_up(dir_fd, name) < 0 || renameat(dir_fd, name, top_fd, moved) < 0)
            return -errno;
        return 0;
    }
    int fd = open_for_removal(dir_fd, name);
    if (fd < 0)
        return fd;
    int r = remove_content(fd, top_fd >= 0 ? top_fd : fd, depth);
    if (r < 0)
        return r;
    return unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

static int remove_entry(int fd, const struct dirent *e, int top_fd, int depth)
{
    if (unlinkat(fd, e->d_name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno == EACCES && fchmod(fd, 0700) == 0 && unlinkat(fd, e->d_name, 0) == 0)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -errno;
    int eno = errno;
    int r = remove_folder(fd, e->d_name, top_fd, depth + 1);
    return r == -ENOTDIR ? -eno : r;
}

/* Takes fd. Passes are repeated until one finds nothing, since readdir may miss what moves meanwhile. */
static int remove_content(int fd, int top_fd, int depth)
{
    DIR *d = fdopendir(fd);
    if (!d) {
        int eno = errno;
        close(fd);
        return -eno;
    }
    int r = 0;
    int passes = 0;
    for (bool found = true; r == 0 && found;) {
        found = false;
        if (++passes > MAX_PASSES) /* somebody fills it as fast as it is emptied */
            r = -EBUSY;
        rewinddir(d);
        for (struct dirent *e; r == 0 && (e = readdir(d));) {
            if (is_dots(e->d_name))
                continue;
            found = true;
            r = remove_entry(fd, e, top_fd, depth);
        }
    }
    closedir(d);
    return r;
}

int al_path_remove_tree(int dir_fd, const char *name)
{
    if (!*name || is_dots(name) || strchr(name, '/'))
        return -EINVAL;
    if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -errno;
    return remove_folder(dir_fd, name, -1, 0);
}

struct sum {
    struct al_buf pending; /* folders still to visit: relative paths, each with a zero after it */
    int64_t bytes;
    size_t entries;
};

static void sum_entry(struct sum *s, int fd, const char *rel, const char *name)
{
    struct stat st;
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISREG(st.st_mode) && __builtin_add_overflow(s->bytes, (int64_t)st.st_size, &s->bytes))
        s->bytes = INT64_MAX;
    if (S_ISDIR(st.st_mode) && strlen(rel) + strlen(name) + 2 <= 4096) {
        if (strcmp(rel, ".") != 0)
            al_buf_addf(&s->pending, "%s/", rel);
        al_buf_add(&s->pending, name, strlen(name) + 1);
    }
}

static void sum_folder(struct sum *s, int dir_fd, const char *rel)
{
    int fd = al_path_openat2(dir_fd, rel, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0)
        return;
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return;
    }
    for (struct dirent *e; s->entries < MAX_ENTRIES && (e = readdir(d));) {
        if (is_dots(e->d_name))
            continue;
        s->entries++;
        sum_entry(s, fd, rel, e->d_name);
    }
    closedir(d);
}

int64_t al_path_tree_bytes(int dir_fd)
{
    struct sum s = {.pending = AL_BUF_INIT(MAX_PENDING)};
    al_buf_add(&s.pending, ".", 2);
    while (s.pending.n > 0 && !al_buf_failed(&s.pending) && s.entries < MAX_ENTRIES) {
        size_t start = s.pending.n - 1;
        while (start > 0 && s.pending.p[start - 1])
            start--;
        autofree char *rel = al_xstrdup(s.pending.p + start);
        s.pending.n = start;
        sum_folder(&s, dir_fd, rel);
    }
    al_buf_free(&s.pending);
    return s.bytes;
}
