/* Removing what nobody uses any more, and nothing else: every step goes down by descriptor and follows no
 * link. */
#include "base/ident.h"
#include "base/mem.h"
#include "core/scratch_int.h"
#include "os/fd.h"
#include "os/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARKER ".last-sweep"
#define DAY_MS (24 * 3600 * (int64_t)1000)
/* Of a folder's children; more of them wait for the next day. */
#define MAX_CHILDREN 10000

struct children {
    char **names;
    size_t n;
};

static void free_children(struct children *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->names[i]);
    free(c->names);
}

/* The names first, then the work: what readdir says while entries go is not defined. 0 or -errno. */
static int list_children(int fd, struct children *ret)
{
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own < 0)
        return -errno;
    DIR *d = fdopendir(own);
    if (!d) {
        int eno = errno;
        close(own);
        return -eno;
    }
    for (struct dirent *e; ret->n < MAX_CHILDREN && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (ret->n % 64 == 0)
            ret->names = al_xrealloc(ret->names, (ret->n + 64) * sizeof(*ret->names));
        ret->names[ret->n++] = al_xstrdup(e->d_name);
    }
    closedir(d);
    return 0;
}

int al_scratch_remove_children(int fd)
{
    for (;;) {
        __attribute__((cleanup(free_children))) struct children c = {0};
        int r = list_children(fd, &c);
        if (r < 0 || c.n == 0)
            return r;
        for (size_t i = 0; i < c.n; i++) {
            r = al_path_remove_tree(fd, c.names[i]);
            if (r < 0)
                return r;
        }
        if (c.n < MAX_CHILDREN)
            return 0;
    }
}

static int64_t mtime_ms(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
}

static bool swept_today(int root_fd)
{
    struct stat st;
    if (fstatat(root_fd, MARKER, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    int64_t age = al_wall_ms() - mtime_ms(&st);
    return age >= 0 && age < DAY_MS;
}

static bool mark_swept(int root_fd)
{
    autofd int fd = openat(root_fd, MARKER, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    return fd >= 0 && futimens(fd, NULL) == 0;
}

static bool is_forgotten(int key_fd, const char *name, unsigned days)
{
    struct stat st;
    return fstatat(key_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
           st.st_uid == geteuid() && al_wall_ms() - mtime_ms(&st) > (int64_t)days * DAY_MS;
}

/* The folder of one workspace. How many sessions went. */
static int sweep_workspace(int root_fd, const char *key, const char *keep, unsigned days)
{
    int r = al_scratch_open_private(root_fd, key);
    if (r < 0)
        return 0;
    autofd int key_fd = r;
    __attribute__((cleanup(free_children))) struct children c = {0};
    int n = 0;
    if (list_children(key_fd, &c) < 0)
        return 0;
    for (size_t i = 0; i < c.n; i++) {
        const char *name = c.names[i];
        if (!al_id_valid(al_str_of(name), "ses") || strcmp(name, keep) == 0 ||
            !is_forgotten(key_fd, name, days))
            continue;
        n += al_path_remove_tree(key_fd, name) == 0;
    }
    unlinkat(root_fd, key, AT_REMOVEDIR); /* fails while anything is left, which is as it should be */
    return n;
}

int al_scratch_sweep_root(const char *root, const char *keep, unsigned days)
{
    int r = al_scratch_open_private(AT_FDCWD, root);
    if (r < 0)
        return 0;
    autofd int root_fd = r;
    __attribute__((cleanup(free_children))) struct children c = {0};
    int n = 0;
    if (swept_today(root_fd) || !mark_swept(root_fd) || list_children(root_fd, &c) < 0)
        return 0;
    for (size_t i = 0; i < c.n; i++)
        if (c.names[i][0] != '.')
            n += sweep_workspace(root_fd, c.names[i], keep, days);
    return n;
}
