/* Files of other programs: read, kept beside, replaced whole. */
#include "cli/setup_int.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int fail_path(struct al_err *err, const char *path, const char *what)
{
    autobuf struct al_buf shown = AL_BUF_INIT(PATH_MAX * 4);
    al_say_plain(&shown, path);
    return al_fail(err, AL_CONFIG_INVALID, "%.*s %s", (int)(shown.n > 600 ? 600 : shown.n),
                   al_buf_str(&shown).p, what);
}

static int read_all(const char *path, struct al_buf *out, struct al_err *err)
{
    struct stat st;
    autofd int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd < 0)
        return fail_path(err, path, strerror(errno));
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return fail_path(err, path, "is no regular file");
    if (st.st_uid != geteuid())
        return fail_path(err, path, "belongs to another user");
    if (st.st_nlink > 1)
        return fail_path(err, path, "has a second name (a hard link), which would keep the old text");
    int r = al_fd_read_all(fd, out);
    if (r < 0)
        return fail_path(err, path, r == -EFBIG ? "is larger than 32 MiB" : "cannot be read");
    return 0;
}

int al_setup_file_open(const char *path, struct al_setup_file *ret, struct al_err *err)
{
    char real[PATH_MAX];
    struct stat st;
    *ret = (struct al_setup_file){.text = AL_BUF_INIT(AL_SETUP_MAX_FILE)};
    if (realpath(path, real)) {
        ret->path = al_xstrdup(real);
        ret->exists = true;
        return read_all(real, &ret->text, err);
    }
    if (errno != ENOENT && errno != ENOTDIR)
        return fail_path(err, path, strerror(errno));
    if (lstat(path, &st) == 0)
        return fail_path(err, path, "is a link that leads nowhere");
    char cwd[PATH_MAX];
    if (path[0] != '/' && getcwd(cwd, sizeof cwd)) {
        struct al_buf b = AL_BUF_INIT(2 * PATH_MAX);
        al_buf_addf(&b, "%s/%s", cwd, path);
        ret->path = al_buf_take(&b);
    } else {
        ret->path = al_xstrdup(path);
    }
    return 0;
}

void al_setup_file_close(struct al_setup_file *f)
{
    free(f->path);
    al_buf_free(&f->text);
    *f = (struct al_setup_file){0};
}

static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash != path ? al_xdup(path, (size_t)(slash - path)) : al_xstrdup("/");
}

int al_setup_file_folder(const struct al_setup_file *f, struct al_jw *made, struct al_err *err)
{
    autofree char *dir = parent_of(f->path);
    for (char *p = dir + 1;; p++) {
        char c = *p;
        if (c && c != '/')
            continue;
        *p = 0;
        if (mkdir(dir, 0700) == 0)
            al_jw_strz(made, dir);
        else if (errno != EEXIST)
            return al_fail_errno(err, AL_CONFIG_INVALID, errno, "its folder cannot be made");
        *p = c;
        if (!c)
            return 0;
    }
}

static int write_at(const char *path, struct al_str bytes, mode_t mode, struct al_err *err)
{
    autofree char *dir = parent_of(path);
    autofd int fd = openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return al_fail_errno(err, AL_CONFIG_INVALID, errno, "its folder cannot be opened");
    return al_path_write_atomic(fd, strrchr(path, '/') + 1, bytes, mode, "the file", err);
}

/* The writer keeps mode and owner of what it replaces. */
int al_setup_file_write(struct al_setup_file *f, struct al_str bytes, struct al_err *err)
{
    autobuf struct al_buf now = AL_BUF_INIT(AL_SETUP_MAX_FILE);
    struct stat st;
    bool there = lstat(f->path, &st) == 0;
    if (there && read_all(f->path, &now, err) < 0)
        return -1;
    if (there != f->exists || !al_str_eq(al_buf_str(&now), al_buf_str(&f->text))) {
        al_fail(err, AL_STATE_CONFLICT, "%s was changed by another program meanwhile; nothing was written",
                f->path);
        return al_hint(err, "close the client, and run the command again");
    }
    return write_at(f->path, bytes, 0600, err);
}

int al_setup_write_private(const char *path, struct al_str bytes, struct al_err *err)
{
    return write_at(path, bytes, 0600, err);
}

int al_setup_file_backup(const struct al_setup_file *f, char **ret, struct al_err *err)
{
    struct timespec now;
    struct tm tm;
    char stamp[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &tm);
    for (unsigned i = 0; i < 100; i++) {
        struct al_buf path = AL_BUF_INIT(2 * PATH_MAX);
        al_buf_addf(&path, "%s.alisio-backup-%s", f->path, stamp);
        if (i)
            al_buf_addf(&path, "-%u", i);
        char *p = al_buf_take(&path);
        int fd = openat(AT_FDCWD, p, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 && errno == EEXIST) {
            free(p);
            continue;
        }
        int r = fd < 0 ? -errno : al_fd_write_all(fd, al_buf_str(&f->text));
        if (r == 0 && fsync(fd) < 0)
            r = -errno;
        al_close(&fd);
        if (r == 0) {
            *ret = p;
            return 0;
        }
        unlink(p);
        free(p);
        return al_fail_errno(err, AL_CONFIG_INVALID, -r, "the backup beside %s cannot be written", f->path);
    }
    return al_fail(err, AL_CONFIG_INVALID, "there are too many backups beside %s", f->path);
}
