#include "cli/mcp_token.h"

#include "base/ident.h"
#include "base/mem.h"
#include "config/config.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define VARIABLE "ALISIO_MCP_TOKEN"
#define FILE_NAME "mcp-token"
#define RANDOM_BYTES 32
#define MIN_TOKEN 16
#define MAX_TOKEN 1024

/* What a header can carry, and nobody guesses. */
static bool is_token(struct al_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= 0x20 || s.p[i] >= 0x7f)
            return false;
    return s.n >= MIN_TOKEN && s.n <= MAX_TOKEN;
}

static int refuse(const char *path, struct al_err *err, const char *why)
{
    al_fail(err, AL_CONFIG_INVALID, "%s %s", path, why);
    return al_hint(err, "chmod 600 it if it is yours, or take it away: the next start makes a new one");
}

/* 1 read, 0 there is none, -1. */
static int read_file(int dir, const char *path, char **ret, struct al_err *err)
{
    struct stat st;
    autobuf struct al_buf text = AL_BUF_INIT(MAX_TOKEN + 16);
    autofd int fd = openat(dir, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 && errno == ELOOP)
        return refuse(path, err, "is a link, and a token is not read through one");
    if (fd < 0 || fstat(fd, &st) < 0)
        return al_fail_errno(err, AL_CONFIG_INVALID, errno, "cannot read %s", path);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return refuse(path, err, "is no file of yours");
    if (st.st_mode & 077)
        return refuse(path, err, "can be read by others, so that its token is no secret");
    if (al_fd_read_all(fd, &text) < 0 || !is_token(al_str_trim(al_buf_str(&text))))
        return refuse(path, err, "holds no token: 16 to 1,024 visible ASCII characters on one line");
    struct al_str token = al_str_trim(al_buf_str(&text));
    *ret = al_xdup(token.p, token.n);
    return 1;
}

/* Under another name first, then linked: two that start at the same time end with the same token. */
static int make_file(int dir, const char *path, struct al_err *err)
{
    unsigned char random[RANDOM_BYTES];
    char name[AL_ID_MAX + 16], id[AL_ID_MAX], text[2 * RANDOM_BYTES + 2];
    al_random(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(text + 2 * i, 3, "%02x", random[i]);
    text[2 * RANDOM_BYTES] = '\n';
    al_id_new(id, "");
    snprintf(name, sizeof name, "." FILE_NAME "-%s", id);
    autofd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return al_fail_errno(err, AL_CONFIG_INVALID, errno, "cannot make %s", path);
    int r = al_fd_write_all(fd, (struct al_str){text, 2 * RANDOM_BYTES + 1});
    if (r == 0 && (fsync(fd) < 0 || (linkat(dir, name, dir, FILE_NAME, 0) < 0 && errno != EEXIST)))
        r = -errno;
    (void)unlinkat(dir, name, 0);
    if (r < 0)
        return al_fail_errno(err, AL_CONFIG_INVALID, -r, "cannot make %s", path);
    return 0;
}

static int from_file(char **ret, char **ret_path, struct al_err *err)
{
    autofree char *home = al_config_home();
    struct al_buf path = AL_BUF_INIT(8192);
    al_buf_addf(&path, "%s/" FILE_NAME, home);
    autofree char *shown = al_buf_take(&path);
    if (al_path_private_dir(home, err) < 0)
        return al_wrap(err, "the config folder");
    autofd int dir = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return al_fail_errno(err, AL_CONFIG_INVALID, errno, "cannot open %s", home);
    int r = read_file(dir, shown, ret, err);
    if (r == 0) {
        if (make_file(dir, shown, err) < 0)
            return -1;
        r = read_file(dir, shown, ret, err);
    }
    if (r <= 0)
        return r < 0 ? -1 : al_fail(err, AL_CONFIG_INVALID, "%s is gone again", shown);
    *ret_path = shown;
    shown = NULL;
    return 0;
}

int al_mcp_token(char **ret, char **ret_path, struct al_err *err)
{
    const char *given = getenv(VARIABLE);
    *ret_path = NULL;
    if (!given || !*given)
        return from_file(ret, ret_path, err);
    if (!is_token(al_str_of(given))) {
        al_fail(err, AL_INVALID_INPUT,
                VARIABLE " holds no token: 16 to 1,024 visible ASCII characters, no space");
        return al_hint(err, "unset it, and the file " FILE_NAME " of the config folder is used");
    }
    *ret = al_xstrdup(given);
    return 0;
}
