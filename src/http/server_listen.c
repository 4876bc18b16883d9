/* Listening sockets of the HTTP server: 127.0.0.1, or a Unix socket that only its owner can open. */
#include "http/server_int.h"
#include "os/fd.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 1024

int al_httpd_listen_tcp(int port, int *ret_port, struct al_err *err)
{
    autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "a socket");
    int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t n = sizeof a;
    if (bind(fd, (struct sockaddr *)&a, n) < 0 || listen(fd, BACKLOG) < 0) {
        int e = errno;
        if (e == EADDRINUSE) {
            al_fail(err, AL_BUSY, "port %d of 127.0.0.1 is taken by another program", port);
            return al_hint(err, "choose another port, or 0 for any that is free");
        }
        return al_fail_errno(err, AL_INVALID_INPUT, e, "cannot listen on port %d of 127.0.0.1", port);
    }
    if (getsockname(fd, (struct sockaddr *)&a, &n) < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "the port of a socket");
    *ret_port = ntohs(a.sin_port);
    int r = fd;
    fd = -1;
    return r;
}

/* A socket of ours that nobody listens on any more goes away; anything else stays, and is an error. */
static int clear_stale(const char *path, const struct sockaddr_un *a, struct al_err *err)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return 0;
    if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid()) {
        al_fail(err, AL_INVALID_INPUT, "%s is there already, and is no socket of yours", path);
        return al_hint(err, "name another path, or take the file away");
    }
    autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "a socket");
    if (connect(fd, (const struct sockaddr *)a, sizeof *a) == 0 || errno != ECONNREFUSED) {
        al_fail(err, AL_BUSY, "another program listens on %s", path);
        return al_hint(err, "name another path, or end that program");
    }
    if (unlink(path) < 0 && errno != ENOENT)
        return al_fail_errno(err, AL_INVALID_INPUT, errno, "cannot take the old socket %s away", path);
    return 0;
}

int al_httpd_listen_unix(const char *path, struct al_err *err)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof a.sun_path) {
        al_fail(err, AL_INVALID_INPUT, "the path of a socket has 1 to %zu bytes; this one has %zu",
                sizeof a.sun_path - 1, n);
        return al_hint(err, "name a shorter path, as $XDG_RUNTIME_DIR/alisio.sock");
    }
    memcpy(a.sun_path, path, n + 1);
    if (clear_stale(path, &a, err) < 0)
        return -1;
    autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "a socket");
    /* The mode of the descriptor becomes that of the file, so that there is no moment at which others could
     * connect. */
    if (fchmod(fd, 0600) < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "the mode of a socket");
    if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0)
        return al_fail_errno(err, AL_INVALID_INPUT, errno, "cannot make the socket %s", path);
    if (listen(fd, BACKLOG) < 0) {
        int e = errno;
        (void)unlink(path);
        return al_fail_errno(err, AL_INTERNAL, e, "cannot listen on %s", path);
    }
    int r = fd;
    fd = -1;
    return r;
}
