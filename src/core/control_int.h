/* What both ends of a host's control socket know: its address and its lines. */
#ifndef AL_CORE_CONTROL_INT_H
#define AL_CORE_CONTROL_INT_H

#include "base/err.h"

#include <sys/socket.h>
#include <sys/un.h>

#define CONTROL_MAX_LINE 4096u

/* The address of path; one that is too long for it is reached through its folder, which *ret_dir_fd then
 * holds open (else -1). */
int control_address(const char *path, struct sockaddr_un *addr, socklen_t *ret_len, int *ret_dir_fd,
                    struct al_err *err) AL_MUST_CHECK;
/* The other end is a process of our own user. */
int control_same_user(int fd);

#endif
