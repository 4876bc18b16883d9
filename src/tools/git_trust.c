/*
 * A hostile .git can lead git to another repository of the same user, and then a "diff" shows that one's
 * content: by a .git file or link, by core.worktree, by a commondir file, by links among its refs. All of
 * these have honest uses, in which both sides know each other; only those pass.
 */
#include "tools/git_int.h"

#include "base/mem.h"
#include "os/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define REFS_DEPTH 24
#define REFS_MAX 100000

static bool is_beneath(const char *root, const char *path)
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

/* <git dir>/gitdir of a linked work tree holds the path of the .git file that led here. */
static bool names_us_back(const char *git_dir, const char *top)
{
    char path[2 * PATH_MAX];
    autobuf struct al_buf back = AL_BUF_INIT(PATH_MAX + 16);
    snprintf(path, sizeof(path), "%s/gitdir", git_dir);
    autofd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || al_fd_read_all(fd, &back) < 0)
        return false;
    while (back.n > 0 && back.p[back.n - 1] == '\n')
        back.n--;
    al_buf_addc(&back, 0);
    snprintf(path, sizeof(path), "%s/.git", top);
    autofree char *theirs = realpath(back.p, NULL), *ours = realpath(path, NULL);
    return theirs && ours && strcmp(theirs, ours) == 0;
}

struct links {
    const char *top, *git_dir;
    unsigned left; /* entries that may still be looked at */
};

/* Every link in the folder leads to a place beneath the work tree or the git dir. */
static bool links_stay(struct links *l, int parent, const char *name, int depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        al_close(&fd);
        return true;
    }
    bool fine = true;
    const struct dirent *e;
    while (fine && (e = readdir(d))) {
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (l->left-- == 0 || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
            fine = false;
        } else if (S_ISLNK(st.st_mode)) {
            char path[PATH_MAX];
            snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", fd, e->d_name);
            autofree char *real = realpath(path, NULL);
            fine = !real || is_beneath(l->top, real) || is_beneath(l->git_dir, real);
        } else if (S_ISDIR(st.st_mode) && depth > 0) {
            fine = depth > 1 && links_stay(l, fd, e->d_name, depth - 1);
        }
    }
    closedir(d);
    return fine;
}

/* What names commits and files: the entries of the git dir itself, and the refs. */
static bool git_dir_is_closed(const char *top, const char *git_dir)
{
    struct links l = {top, git_dir, REFS_MAX};
    autofd int fd = open(git_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && links_stay(&l, fd, ".", 0) && links_stay(&l, fd, "refs", REFS_DEPTH);
}

int al_git_check_dirs(const char *workspace, const char *top, const char *git_dir, const char *common_dir,
                      bool *ret_needs_worktree, struct al_err *err)
{
    *ret_needs_worktree = false;
    autofree char *rtop = realpath(top, NULL), *rdir = realpath(git_dir, NULL),
                  *rcommon = realpath(common_dir, NULL);
    if (!rtop || !rdir || !rcommon || strlen(rdir) + 16 > PATH_MAX)
        return al_fail(err, AL_TOOL_ERROR, "the repository's folders cannot be found");
    if (!is_beneath(rtop, workspace)) {
        al_fail(err, AL_UNTRUSTED_REPOSITORY,
                "the repository's configuration puts its work tree outside the workspace");
        return al_hint(err, "core.worktree in .git/config says so");
    }
    /* A linked work tree has its git dir beneath the common one; else both are the same. */
    if (!is_beneath(rcommon, rdir))
        return al_git_fail_elsewhere(err);
    if (!is_beneath(rtop, rdir))
        *ret_needs_worktree = !names_us_back(rdir, rtop);
    bool closed = !is_beneath(rtop, rdir) || git_dir_is_closed(rtop, rdir);
    if (closed && strcmp(rdir, rcommon) != 0 && is_beneath(rtop, rcommon))
        closed = git_dir_is_closed(rtop, rcommon);
    return closed ? 0 : al_git_fail_elsewhere(err);
}
