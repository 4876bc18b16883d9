/* fstat(2) by its own number: libc asks by newfstatat(2), which no system call filter can hold to
 * descriptors. */
#ifndef AL_BASE_FDSTAT_H
#define AL_BASE_FDSTAT_H

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int al_fstat(int fd, struct stat *ret)
{
    return (int)syscall(SYS_fstat, fd, ret);
}

#endif
