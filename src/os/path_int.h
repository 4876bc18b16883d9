/* Shared by the files of path.h only. */
#ifndef AL_OS_PATH_INT_H
#define AL_OS_PATH_INT_H

#include "base/err.h"

#include <sys/types.h>

/* openat2 beneath dir_fd, without magic links. fd or -errno. */
int al_path_openat2(int dir_fd, const char *rel, int flags, mode_t mode);
/* The failure in the user's words. rel may be NULL when no link can be the cause. Returns -1. */
int al_path_fail(int dir_fd, const char *rel, int eno, const char *shown, struct al_err *err);

#endif
