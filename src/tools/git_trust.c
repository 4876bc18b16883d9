/*
 * A hostile .git can lead git to another repository of the same user, and then a "diff" shows that one's
 * content: by a .git file or link, by core.worktree, by a commondir file, by objects that are borrowed, by
 * links among its refs. All of these have honest uses, in which both sides know each other; only those pass.
 * The folders are found here, not by git, since they are what git is then let read at all.
 */
#include "tools/git_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define POINTER_MAX 16384 /* bytes of a file that names a folder */
#define LINKS_DEPTH 24
#define LINKS_MAX 100000

bool al_git_is_beneath(const char *root, const char *path)
{
    size_t n = strlen(root);
    return strcmp(root, "/") == 0 || (strncmp(root, path, n) == 0 && (path[n] == '/' || path[n] == 0));
}

int al_git_fail_elsewhere(struct al_err *err)
{
    al_fail(err, AL_UNTRUSTED_REPOSITORY,
            ".git leads to a repository elsewhere, which does not know this folder");
    return al_hint(err, "if it is a work tree that was moved, `git worktree repair` mends it");
}

static int fail_none(struct al_err *err)
{
    return al_fail(err, AL_NOT_FOUND, "the workspace is not in a git repository");
}

/* --- finding it, as git does --- */

/* Folder and name as one path; NULL when that is too long. */
static char *path_of(const char *dir, const char *name)
{
    char path[PATH_MAX];
    int n =
        snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' ? "" : dir, name[0] == '/' ? "" : "/", name);
    return n > 0 && n < (int)sizeof(path) ? al_xdup(path, (size_t)n) : NULL;
}

static char *real_path_of(const char *dir, const char *name)
{
    autofree char *path = path_of(dir, name);
    return path ? realpath(path, NULL) : NULL;
}

static bool there(const char *dir, const char *name)
{
    struct stat st;
    autofree char *path = path_of(dir, name);
    return path && lstat(path, &st) == 0;
}

/* The text of a small regular file, without its line end; NULL when there is none. */
static char *read_text(const char *dir, const char *name)
{
    struct stat st;
    autobuf struct al_buf text = AL_BUF_INIT(POINTER_MAX);
    autofree char *path = path_of(dir, name);
    autofd int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || al_fd_read_all(fd, &text) < 0)
        return NULL;
    while (text.n > 0 && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
        text.n--;
    return al_xdup(text.p ? text.p : "", text.n);
}

static bool is_git_dir(const char *dir)
{
    return there(dir, "HEAD") && (there(dir, "commondir") || (there(dir, "objects") && there(dir, "refs")));
}

/* 1: found, and dir is set; 0: no repository begins here; -1: one that leads nowhere. */
static int look_into(const char *folder, char **ret_dir)
{
    static const char word[] = "gitdir: ";
    struct stat st;
    autofree char *path = path_of(folder, ".git");
    if (!path || stat(path, &st) < 0)
        return 0;
    autofree char *dir = NULL;
    if (S_ISDIR(st.st_mode)) {
        dir = realpath(path, NULL);
        if (!dir || !is_git_dir(dir))
            return 0; /* git looks further up, too */
    } else {
        autofree char *text = read_text(folder, ".git");
        if (!text || strncmp(text, word, strlen(word)) != 0)
            return -1;
        dir = real_path_of(folder, text + strlen(word));
        if (!dir || !is_git_dir(dir))
            return -1;
    }
    *ret_dir = dir;
    dir = NULL;
    return 1;
}

static int find(const char *workspace, struct al_git_repo *r)
{
    char *top = al_xdup(workspace, strlen(workspace));
    for (;;) {
        int found = look_into(top[0] ? top : "/", &r->dir);
        if (found != 0) {
            r->top = top;
            if (top[0] == 0) { /* room for it: the workspace's path was there */
                free(top);
                r->top = al_xdup("/", 1);
            }
            return found;
        }
        char *slash = strrchr(top, '/');
        if (!slash) {
            free(top);
            return 0;
        }
        *slash = 0;
    }
}

/* A linked work tree has its git dir in the common one; else both are the same. */
static bool find_common(struct al_git_repo *r)
{
    autofree char *text = read_text(r->dir, "commondir");
    if (!text)
        r->common = al_xdup(r->dir, strlen(r->dir));
    else
        r->common = real_path_of(r->dir, text);
    if (!r->common || !text || strcmp(r->common, r->dir) == 0)
        return r->common != NULL;
    autofree char *trees = path_of(strcmp(r->common, "/") == 0 ? "" : r->common, "worktrees");
    size_t n = trees ? strlen(trees) : 0;
    return trees && strncmp(trees, r->dir, n) == 0 && r->dir[n] == '/' && !strchr(r->dir + n + 1, '/');
}

/* --- does it know us? --- */

/* <git dir>/gitdir of a linked work tree holds the path of the .git file that led here. */
static bool names_us_back(const struct al_git_repo *r)
{
    autofree char *text = read_text(r->dir, "gitdir");
    autofree char *theirs = text ? real_path_of(r->dir, text) : NULL, *ours = real_path_of(r->top, ".git");
    return theirs && ours && strcmp(theirs, ours) == 0;
}

static bool is_ours(const struct al_git_repo *r, const char *workspace, const char *real)
{
    return al_git_is_beneath(workspace, real) || al_git_is_beneath(r->dir, real) ||
           al_git_is_beneath(r->common, real);
}

/* What is written as git would quote it is taken for a stranger. */
static int check_alternates(const struct al_git_repo *r, const char *workspace, bool sealed,
                            struct al_err *err)
{
    autofree char *objects = path_of(r->common, "objects");
    autofree char *text = objects ? read_text(objects, "info/alternates") : NULL;
    bool unread = !objects || (!text && there(objects, "info/alternates"));
    struct al_str line, rest = al_str_of(unread ? "/" : text ? text : "");
    while (al_tool_next_line(&rest, &line)) {
        if (line.n == 0 || line.p[0] == '#')
            continue;
        autofree char *name = al_xdup(line.p, line.n);
        autofree char *real = real_path_of(objects, name);
        if (sealed && !unread && real && is_ours(r, workspace, real))
            continue;
        al_fail(err, AL_UNTRUSTED_REPOSITORY, "the repository borrows objects of another one");
        return al_hint(
            err, "objects/info/alternates says so; `git repack -a -d` copies them, then the file can go");
    }
    return 0;
}

/* --- links; where no Landlock keeps git from following them, all of them --- */

struct links {
    const struct al_git_repo *repo;
    const char *workspace;
    unsigned left; /* entries that may still be looked at */
    int max_depth;
};

/* Folders of other repositories, and of programs that git does not start. */
static bool is_passed_over(const char *name, int depth)
{
    return depth == 0 && (strcmp(name, "modules") == 0 || strcmp(name, "worktrees") == 0 ||
                          strcmp(name, "lfs") == 0 || strcmp(name, "annex") == 0);
}

static int links_in(struct links *l, int parent, const char *name, int depth);

/* 0: fine; -EXDEV: leads elsewhere; -E2BIG: too much to look at. */
static int check_entry(struct links *l, int dir, const char *name, int depth)
{
    struct stat st;
    if (l->left-- == 0)
        return -E2BIG;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -EXDEV;
    if (S_ISLNK(st.st_mode)) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, name);
        autofree char *real = realpath(path, NULL);
        return !real || is_ours(l->repo, l->workspace, real) ? 0 : -EXDEV;
    }
    if (!S_ISDIR(st.st_mode) || is_passed_over(name, depth))
        return 0;
    if (depth == l->max_depth)
        return depth == 0 ? 0 : -E2BIG;
    return links_in(l, dir, name, depth + 1);
}

static int links_in(struct links *l, int parent, const char *name, int depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        al_close(&fd);
        return 0; /* closed to git as well */
    }
    int r = 0;
    const struct dirent *e;
    while (r == 0 && (e = readdir(d))) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            r = check_entry(l, fd, e->d_name, depth);
    }
    closedir(d);
    return r;
}

static int check_links(const struct al_git_repo *r, const char *workspace, int max_depth, struct al_err *err)
{
    struct links l = {r, workspace, LINKS_MAX, max_depth};
    int e = links_in(&l, r->fds[0], ".", 0);
    if (e == 0 && r->n_fds > 1)
        e = links_in(&l, r->fds[1], ".", 0);
    if (e == -E2BIG) {
        al_fail(err, AL_UNTRUSTED_REPOSITORY, "the repository has too many files in .git to be checked");
        return al_hint(err, "`git gc` packs them; with Landlock in the kernel they need no check");
    }
    return e < 0 ? al_git_fail_elsewhere(err) : 0;
}

/* --- both --- */

/* The folder of exactly that path, also when somebody changes links meanwhile. */
static int open_folder(const char *path)
{
    char link[64], now[PATH_MAX];
    autofd int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, now, sizeof(now));
    if (n != (ssize_t)strlen(path) || memcmp(now, path, (size_t)n) != 0)
        return -1;
    int r = fd;
    fd = -1;
    return r;
}

static int open_folders(struct al_git_repo *r)
{
    const char *const paths[] = {r->dir, r->common};
    for (size_t i = 0; i < (strcmp(r->dir, r->common) == 0 ? 1 : 2); i++) {
        int fd = open_folder(paths[i]);
        if (fd < 0)
            return -1;
        r->fds[r->n_fds++] = fd;
    }
    return 0;
}

int al_git_find(const char *workspace, bool sealed, struct al_git_repo *r, struct al_err *err)
{
    int found = find(workspace, r);
    if (found == 0)
        return fail_none(err);
    if (found < 0)
        return al_fail(err, AL_NOT_FOUND, "the workspace is not in a git repository: .git leads nowhere");
    if (!find_common(r))
        return al_git_fail_elsewhere(err);
    r->needs_worktree = !al_git_is_beneath(r->top, r->dir) && !names_us_back(r);
    if (open_folders(r) < 0)
        return al_fail(err, AL_TOOL_ERROR, "the repository's folders cannot be opened");
    if (check_alternates(r, workspace, sealed, err) < 0)
        return -1;
    /* Landlock holds for all links; those at the top are looked for to say what is wrong. */
    return check_links(r, workspace, sealed ? 0 : LINKS_DEPTH, err);
}

void al_git_repo_free(struct al_git_repo *r)
{
    for (size_t i = 0; i < r->n_fds; i++)
        al_close(&r->fds[i]);
    free(r->top);
    free(r->dir);
    free(r->common);
    *r = (struct al_git_repo){0};
}

int al_git_check_dirs(const struct al_git_repo *r, const char *workspace, const char *top, const char *dir,
                      const char *common, struct al_err *err)
{
    autofree char *rtop = realpath(top, NULL), *rdir = realpath(dir, NULL), *rcommon = realpath(common, NULL);
    if (!rtop || !al_git_is_beneath(rtop, workspace)) {
        al_fail(err, AL_UNTRUSTED_REPOSITORY,
                "the repository's configuration puts its work tree outside the workspace");
        return al_hint(err, "core.worktree in .git/config says so");
    }
    if (!rdir || !rcommon || strcmp(rdir, r->dir) != 0 || strcmp(rcommon, r->common) != 0)
        return al_git_fail_elsewhere(err);
    return 0;
}
