#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

void al_close(int *fd)
{
    if (*fd < 0)
        return;
    int saved = errno;
    close(*fd); /* never repeated: Linux has let go of the number even when close reports EINTR */
    *fd = -1;
    errno = saved;
}

int al_fd_memory(const char *name, off_t size)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create(name, MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, size) == 0)
        return fd;
    int r = -errno;
    al_close(&fd);
    return r;
}

int al_fd_cloexec(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || fcntl(fd, F_SETFD, flags | FD_CLOEXEC) < 0)
        return -errno;
    return 0;
}

int al_fd_nonblock(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    return 0;
}

void al_fd_ensure_std(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        int made = open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
        if (made >= 0 && made != fd) {
            dup2(made, fd);
            close(made);
        }
    }
}

static int wait_for(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};
    while (poll(&p, 1, -1) < 0) {
        if (errno != EINTR)
            return -errno;
    }
    return 0;
}

/* read(2) that is neither interrupted nor turned away by O_NONBLOCK. */
static ssize_t read_some(int fd, void *p, size_t n)
{
    for (;;) {
        ssize_t r = read(fd, p, n);
        if (r >= 0)
            return r;
        if (errno == EAGAIN) {
            int w = wait_for(fd, POLLIN);
            if (w < 0)
                return w;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
}

int al_fd_read_all(int fd, struct al_buf *out)
{
    for (;;) {
        size_t room = out->max - out->n;
        if (room == 0) {
            char probe;
            ssize_t r = read_some(fd, &probe, 1);
            return r > 0 ? -EFBIG : (int)r;
        }
        size_t want = room < 65536 ? room : 65536;
        char *p = al_buf_grow(out, want);
        if (!p)
            return -EFBIG;
        ssize_t r = read_some(fd, p, want);
        out->n -= want - (r > 0 ? (size_t)r : 0);
        if (r <= 0)
            return (int)r;
    }
}

int al_fd_write_all(int fd, struct al_str s)
{
    while (s.n > 0) {
        ssize_t r = write(fd, s.p, s.n);
        if (r >= 0) {
            s.p += r;
            s.n -= (size_t)r;
        } else if (errno == EAGAIN) {
            int w = wait_for(fd, POLLOUT);
            if (w < 0)
                return w;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

bool al_fd_is_tty(int fd)
{
    return isatty(fd) == 1;
}

union pass_room {
    struct cmsghdr head;
    char room[CMSG_SPACE(AL_FD_PASS_MAX * sizeof(int))];
};

int al_fd_send(int sock, const void *p, size_t n, const int *fds, size_t n_fds)
{
    union pass_room control = {0};
    struct iovec iov = {(void *)p, n};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    if (n_fds > AL_FD_PASS_MAX)
        return -EINVAL;
    if (n_fds) {
        m.msg_control = &control;
        m.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
    }
    ssize_t r;
    do {
        r = sendmsg(sock, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r == (ssize_t)n ? 0 : -EMSGSIZE;
}

int al_fd_receive(int sock, void *p, size_t n, int *fds, size_t max_fds)
{
    union pass_room control;
    int got[AL_FD_PASS_MAX];
    struct iovec iov = {p, n};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    size_t n_got = 0;
    ssize_t r;
    do {
        r = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
    } while (r < 0 && errno == EINTR);
    struct cmsghdr *c = r >= 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        n_got = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(got, CMSG_DATA(c), n_got * sizeof(int));
    }
    if (r != (ssize_t)n || m.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || n_got > max_fds) {
        for (size_t i = 0; i < n_got; i++)
            close(got[i]);
        return -1;
    }
    memcpy(fds, got, n_got * sizeof(int));
    return (int)n_got;
}
