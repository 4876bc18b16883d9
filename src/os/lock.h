/* Lock files: held for the life of a descriptor, gone with the process, never by PID. */
#ifndef AL_OS_LOCK_H
#define AL_OS_LOCK_H

#include "base/err.h"

#include <stdbool.h>

/* Creates (0600) and locks path with flock(LOCK_EX | LOCK_NB). 1 taken (*ret_fd owned), 0 held by another, -1. */
int al_lock_try(const char *path, int *ret_fd, struct al_err *err);
/* 1: the file exists and its lock could be taken (its owner is dead); 0: held, or no file; -1 error. */
int al_lock_is_free(const char *path);
/* Is this path on a network file system (statfs magic)? */
bool al_fs_is_network(const char *path);

#endif
