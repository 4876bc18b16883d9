#include "config/config_int.h"

#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Others who can write the file count only when they can reach it: a umask of 002 under a private folder is
 * fine. */
static bool open_to_others(const char *path, const struct stat *st)
{
    if (!(st->st_mode & (S_IWGRP | S_IWOTH)))
        return false;
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    char dir[4096];
    if (n >= sizeof dir)
        return true;
    memcpy(dir, path, n);
    dir[n] = '\0';
    struct stat parent;
    const char *where = n ? dir : slash ? "/" : ".";
    return stat(where, &parent) < 0 || (parent.st_mode & (S_IXGRP | S_IXOTH));
}

static int check_owner_of(const char *path, const struct stat *st, const char *shown, struct al_err *err)
{
    if (st->st_uid != geteuid() && st->st_uid != 0) {
        al_fail(err, AL_CONFIG_INVALID, "%s belongs to another user", shown);
        return al_hint(err, "make it yours: `alisio config path` names it");
    }
    if (open_to_others(path, st)) {
        al_fail(err, AL_CONFIG_INVALID, "%s can be changed by other users", shown);
        return al_hint(err, "chmod 600 the file that `alisio config path` names");
    }
    return 0;
}

struct al_str al_config_without_bom(struct al_str s)
{
    size_t n = al_str_starts(s, "\xef\xbb\xbf") ? 3 : 0;
    return (struct al_str){s.p + n, s.n - n};
}

int al_config_read_file(const char *path, bool follow, bool check_owner, const char *shown,
                        struct al_buf *out, struct al_err *err)
{
    /* O_NONBLOCK: a pipe planted under this name must not stop us. */
    autofd int fd =
        openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow ? 0 : O_NOFOLLOW));
    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return 0;
        al_fail_errno(err, AL_CONFIG_INVALID, errno, "%s cannot be read", shown);
        return al_detail(err, "%s", path);
    }
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        al_fail(err, AL_CONFIG_INVALID, "%s is no regular file", shown);
        return al_detail(err, "%s", path);
    }
    if (check_owner && check_owner_of(path, &st, shown, err) < 0)
        return al_detail(err, "%s", path);
    int r = al_fd_read_all(fd, out);
    if (r < 0) {
        if (r == -EFBIG)
            al_fail(err, AL_CONFIG_INVALID, "%s is larger than 1 MiB", shown);
        else
            al_fail_errno(err, AL_CONFIG_INVALID, -r, "%s cannot be read", shown);
        return al_detail(err, "%s", path);
    }
    al_buf_drop(out, out->n - al_config_without_bom(al_buf_str(out)).n);
    return 1;
}
