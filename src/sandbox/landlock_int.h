/* What the kernel calls the things that Landlock decides, for the files of this folder. */
#ifndef AL_SANDBOX_LANDLOCK_INT_H
#define AL_SANDBOX_LANDLOCK_INT_H

#include <stdint.h>

/* The kernel's interface, in our own words: build machines have older headers than kernels that are met. */
#define FS_EXECUTE (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE (1ull << 2)
#define FS_READ_DIR (1ull << 3)
#define FS_REMOVE_DIR (1ull << 4)
#define FS_REMOVE_FILE (1ull << 5)
#define FS_MAKE_CHAR (1ull << 6)
#define FS_MAKE_DIR (1ull << 7)
#define FS_MAKE_REG (1ull << 8)
#define FS_MAKE_SOCK (1ull << 9)
#define FS_MAKE_FIFO (1ull << 10)
#define FS_MAKE_BLOCK (1ull << 11)
#define FS_MAKE_SYM (1ull << 12)
#define FS_ALL_ABI1 ((1ull << 13) - 1)
#define FS_REFER (1ull << 13)     /* ABI 2 */
#define FS_TRUNCATE (1ull << 14)  /* ABI 3 */
#define FS_IOCTL_DEV (1ull << 15) /* ABI 5 */

/* A ruleset that handles all that a kernel of this ABI (> 0) can forbid: its descriptor or -errno. */
int al_landlock_make_rules(int abi);
/* Allows these rights beneath a folder, or of a file, that fd stands for; what a file cannot have, or this
 * ABI does not know, is left out. 0 or -errno. */
int al_landlock_allow_fd(int rules, int abi, int fd, uint64_t rights);
int al_landlock_allow(int rules, int abi, const char *path, uint64_t rights);

#endif
