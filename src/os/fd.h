/* Descriptors: closing, flags, whole reads and writes. */
#ifndef AL_OS_FD_H
#define AL_OS_FD_H

#include "base/buf.h"
#include "base/err.h"

#include <sys/types.h>

void al_close(int *fd); /* closes when ≥ 0, sets -1, keeps errno */
#define autofd __attribute__((cleanup(al_close)))

/* A file in memory of that size, never executable where the kernel knows how to say so: shared with a child. fd or
 * -errno. */
int al_fd_memory(const char *name, off_t size);

int al_fd_cloexec(int fd);
int al_fd_nonblock(int fd);
/* Moves descriptors out of the way of 0, 1 and 2: makes sure that the three are open at start. */
void al_fd_ensure_std(void);
/* Reads to the end into out (its max is the limit: EFBIG). 0, or -errno. */
int al_fd_read_all(int fd, struct al_buf *out);
int al_fd_write_all(int fd, struct al_str s); /* 0 or -errno */
bool al_fd_is_tty(int fd);

/* One message with descriptors on a unix socket, without waiting: 0 or -errno (EMSGSIZE when only a part of
 * it went). */
#define AL_FD_PASS_MAX 16
int al_fd_send(int sock, const void *p, size_t n, const int *fds, size_t n_fds);
/* Waits for a message of exactly n bytes with at most max_fds descriptors (close-on-exec, now the caller's),
 * and says how many there are: -1 when the other end has gone or sends anything else. System calls: recvmsg,
 * close. */
int al_fd_receive(int sock, void *p, size_t n, int *fds, size_t max_fds);

#endif
