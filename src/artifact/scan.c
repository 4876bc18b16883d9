/* What lies in an output folder: looked at without following or opening anything but folders. */
#include "artifact/artifact_int.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARENA_MAX ((size_t)64 << 20)

static struct al_output_scan_node node_of(const char *path, const struct stat *st)
{
    return (struct al_output_scan_node){
        .path = path,
        .dir = S_ISDIR(st->st_mode),
        .dev = (int64_t)st->st_dev,
        .ino = (int64_t)st->st_ino,
        .size = st->st_size,
        .mtime_ns = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec,
        .ctime_ns = st->st_ctim.tv_sec * INT64_C(1000000000) + st->st_ctim.tv_nsec,
    };
}

static int changed(struct al_err *err, const char *path)
{
    return al_artifact_reject(
        err, al_str_of(*path ? path : "."),
        "a process that the script started still writes there: wait for it before the script ends",
        "changed while it was published");
}

static int unreadable(struct al_err *err, const char *path, int eno)
{
    struct al_err why;
    al_fail_errno(&why, AL_INTERNAL, eno, "cannot be read");
    return al_artifact_reject(err, al_str_of(*path ? path : "."),
                              "leave it readable, or do not leave it there", "%s", why.msg);
}

static int add_node(struct al_output_scan *s, struct al_output_scan_node n)
{
    if (s->n == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->nodes = al_xrealloc(s->nodes, s->room * sizeof *s->nodes);
    }
    s->nodes[s->n++] = n;
    return 0;
}

static const char *kind_fault(const struct stat *st, int64_t dev)
{
    if (S_ISLNK(st->st_mode))
        return "is a symbolic link";
    if (S_ISFIFO(st->st_mode))
        return "is a pipe";
    if (S_ISSOCK(st->st_mode))
        return "is a socket";
    if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
        return "is a device";
    if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
        return "is no regular file";
    if (S_ISREG(st->st_mode) && st->st_nlink > 1)
        return "has another name, too (a hard link)";
    if ((int64_t)st->st_dev != dev)
        return "lies on another file system";
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct names {
    const char **list;
    size_t n, room;
};

static void names_free(struct names *v)
{
    free(v->list);
}

static int read_names(struct al_output_scan *s, DIR *d, const char *path, struct names *v, struct al_err *err)
{
    for (;;) {
        errno = 0;
        struct dirent *e = readdir(d);
        if (!e && errno)
            return unreadable(err, path, errno);
        if (!e)
            break;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (s->n + v->n > AL_OUTPUT_MAX_ENTRIES)
            return al_artifact_reject(
                err, al_str_of(*path ? path : "."), "write fewer files, or one archive made with zipfile",
                "brings the output to more than %d files and folders", AL_OUTPUT_MAX_ENTRIES);
        if (v->n == v->room) {
            v->room = v->room ? 2 * v->room : 64;
            v->list = al_xrealloc(v->list, v->room * sizeof *v->list);
        }
        v->list[v->n] = al_arena_dup(&s->arena, al_str_of(e->d_name));
        if (!v->list[v->n++])
            return al_artifact_reject(err, al_str_of(path), "use shorter names",
                                      "holds too long names in all");
    }
    /* Sorted, so that the same folder is always rejected for the same reason. */
    if (v->n)
        qsort(v->list, v->n, sizeof *v->list, by_name);
    return 0;
}

static char *join(struct al_arena *a, const char *path, const char *name)
{
    return *path ? al_arena_printf(a, "%s/%s", path, name) : al_arena_dup(a, al_str_of(name));
}

static bool is_ascii(const char *z)
{
    while (*z && !(*z & 0x80))
        z++;
    return !*z;
}

/* Two names that other systems take for one: of "é" as one character and as two, the later file would win
 * there. */
static int check_twins(struct al_output_scan *s, const char *path, const struct names *v, struct al_err *err)
{
    bool any = false;
    for (size_t i = 0; i < v->n; i++)
        any = any || !is_ascii(v->list[i]);
    if (!any)
        return 0;
    const char **canonical = al_xcalloc(v->n, sizeof *canonical);
    int r = 0;
    for (size_t i = 0; r == 0 && i < v->n; i++) {
        autobuf struct al_buf b = AL_BUF_INIT(4096);
        al_artifact_name_canonical(al_str_of(v->list[i]), &b);
        canonical[i] = al_arena_dup(&s->arena, al_buf_str(&b));
        if (!canonical[i])
            r = al_artifact_reject(err, al_str_of(path), "use shorter names", "holds too long names in all");
    }
    if (r == 0)
        qsort(canonical, v->n, sizeof *canonical, by_name);
    for (size_t i = 1; r == 0 && i < v->n; i++) {
        char *shown =
            strcmp(canonical[i - 1], canonical[i]) == 0 ? join(&s->arena, path, canonical[i]) : NULL;
        if (shown)
            r = al_artifact_reject(
                err, al_str_of(shown), "give them names that differ in more than their encoding",
                "is there twice: its name is written in two ways that are the same to Unicode");
    }
    free(canonical);
    return r;
}

static int walk(struct al_output_scan *s, int fd, const char *path, unsigned depth, struct al_err *err);

static int visit(struct al_output_scan *s, int dir_fd, const char *path, const char *name, unsigned depth,
                 struct al_err *err)
{
    struct stat st;
    const char *fault = al_artifact_name_fault(al_str_of(name));
    char *full = join(&s->arena, path, name);
    if (!full)
        return al_artifact_reject(err, al_str_of(path), "use shorter names", "holds too long names in all");
    if (fault)
        return al_artifact_reject(err, al_str_of(full), "give it an ordinary name, or write it to work_dir()",
                                  "%s", fault);
    if (depth > AL_OUTPUT_MAX_DEPTH)
        return al_artifact_reject(err, al_str_of(full), "put it higher up", "is more than %d folders deep",
                                  AL_OUTPUT_MAX_DEPTH - 1);
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? changed(err, full) : unreadable(err, full, errno);
    fault = kind_fault(&st, s->dev);
    if (fault)
        return al_artifact_reject(err, al_str_of(full), "leave a regular file with its own content there",
                                  "%s", fault);
    struct al_output_scan_node n = node_of(full, &st);
    if (!n.dir)
        return add_node(s, n);
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return unreadable(err, full, errno);
    return walk(s, fd, full, depth, err);
}

/* Takes fd. What is opened is what counts: its own fstat becomes the node. */
static int walk(struct al_output_scan *s, int fd, const char *path, unsigned depth, struct al_err *err)
{
    __attribute__((cleanup(names_free))) struct names v = {0};
    struct stat st;
    DIR *d = fdopendir(fd);
    if (!d) {
        int eno = errno;
        close(fd);
        return unreadable(err, path, eno);
    }
    int r = fstat(fd, &st) < 0 ? unreadable(err, path, errno) : add_node(s, node_of(path, &st));
    if (r == 0)
        r = read_names(s, d, path, &v, err);
    if (r == 0 && v.n == 0 && depth > 0)
        r = al_artifact_reject(err, al_str_of(path), "put a file into it, or remove it",
                               "is an empty folder");
    if (r == 0)
        r = check_twins(s, path, &v, err);
    for (size_t i = 0; r == 0 && i < v.n; i++)
        r = visit(s, fd, path, v.list[i], depth + 1, err);
    closedir(d);
    return r;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct al_output_scan_node *)a)->path, ((const struct al_output_scan_node *)b)->path);
}

int al_output_scan_read(int fd, struct al_output_scan *ret, struct al_err *err)
{
    struct stat st;
    *ret = (struct al_output_scan){.arena = AL_ARENA_INIT(ARENA_MAX)};
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own < 0)
        return unreadable(err, "", errno);
    if (fstat(own, &st) == 0)
        ret->dev = (int64_t)st.st_dev;
    if (walk(ret, own, "", 0, err) < 0) {
        al_output_scan_fini(ret);
        return -1;
    }
    qsort(ret->nodes, ret->n, sizeof *ret->nodes, by_path);
    return 0;
}

void al_output_scan_fini(struct al_output_scan *s)
{
    free(s->nodes);
    al_arena_free(&s->arena);
    s->nodes = NULL;
    s->n = s->room = 0;
}

/* The first node whose path is not before. */
static size_t lower(const struct al_output_scan *s, struct al_str path)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (al_str_cmp(al_str_of(s->nodes[mid].path), path) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct al_output_scan_node *al_output_scan_find(const struct al_output_scan *s, struct al_str path)
{
    size_t i = lower(s, path);
    return i < s->n && al_str_is(path, s->nodes[i].path) ? &s->nodes[i] : NULL;
}

void al_output_scan_beneath(const struct al_output_scan *s, const struct al_output_scan_node *dir, size_t *ret_from,
                     size_t *ret_to)
{
    autobuf struct al_buf b = AL_BUF_INIT(8192);
    al_buf_addf(&b, "%s/", dir->path);
    *ret_from = lower(s, al_buf_str(&b));
    b.p[b.n - 1] = '/' + 1;
    *ret_to = lower(s, al_buf_str(&b));
}

int al_output_scan_check(int fd, const struct al_output_scan_node *node, struct al_err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return unreadable(err, node->path, errno);
    struct al_output_scan_node now = node_of(node->path, &st);
    bool same = now.dir == node->dir && (now.dir || (S_ISREG(st.st_mode) && st.st_nlink == 1)) &&
                now.dev == node->dev && now.ino == node->ino && now.size == node->size &&
                now.mtime_ns == node->mtime_ns && now.ctime_ns == node->ctime_ns;
    return same ? 0 : changed(err, node->path);
}

int al_output_scan_open(int root_fd, const struct al_output_scan_node *node, int *ret_fd, struct al_err *err)
{
    autofd int fd = -1;
    struct al_err why = {0};
    int flags = O_RDONLY | O_NOFOLLOW | (node->dir ? O_DIRECTORY : 0);
    if (al_path_open(root_fd, *node->path ? node->path : ".", flags, 0, "it", &fd, &why) < 0) {
        if (why.code == AL_PERMISSION_DENIED)
            return unreadable(err, node->path, EACCES);
        if (why.code == AL_BUSY || why.code == AL_INTERNAL)
            return al_fail(err, why.code, "%s", why.msg);
        return changed(err, node->path);
    }
    if (al_output_scan_check(fd, node, err) < 0)
        return -1;
    *ret_fd = fd;
    fd = -1;
    return 0;
}

int al_output_scan_check_folders(int root_fd, const struct al_output_scan *s, struct al_err *err)
{
    for (size_t i = 0; i < s->n; i++) {
        autofd int fd = -1;
        if (s->nodes[i].dir && al_output_scan_open(root_fd, &s->nodes[i], &fd, err) < 0)
            return -1;
    }
    return 0;
}
