/* Landlock (Linux ≥ 5.13): what a process and its children may do with files. */
#ifndef AL_SANDBOX_LANDLOCK_H
#define AL_SANDBOX_LANDLOCK_H

#include "base/err.h"
#include "sandbox/guest.h"

#include <stddef.h>

/* ABI version of the kernel, 0 when Landlock is missing or disabled. */
int al_landlock_abi(void);

/*
 * For git that reads: read beneath dirs (the first is the folder that git works in, the others its git dirs) and what
 * its loader needs, the .git file, .gitignore and .gitattributes of the folders above the first, and the user's own
 * git/ignore and git/attributes. So no path of a hostile index and no link leads elsewhere. Write nowhere but /dev/null,
 * EXECUTE only for git and its loader, no sockets, and execve refused, so no filter, hook, fsmonitor, textconv or
 * external diff of a repository can run. git itself is then started by execveat: al_spawn with an exec_fd that was
 * opened before. It cannot start itself anew either: pass --ignore-submodules=dirty. Restricts the calling thread and
 * what it starts. 0 or -1 with err.
 */
int al_landlock_seal_git(const char *git_path, const int *dirs, size_t n_dirs, struct al_err *err) AL_MUST_CHECK;

/*
 * For a search program: read beneath dir_fd (-1: nothing there) and what its loader needs, the ignore files of the
 * folders above, which are patterns and never shown, and the user's own git/ignore. Nothing is written, no sockets, and
 * execve is refused; started by execveat, as git. So a link that is put into the folder while it is searched leads
 * nowhere. 0 when sealed; 1 when that cannot be done here, and nothing has changed: Landlock is missing, or the program
 * is a script or a launcher of another one. -1 with err.
 */
int al_landlock_seal_search(const char *program, int dir_fd, struct al_err *err) AL_MUST_CHECK;

/* What a kernel of this ABI leaves open of that which a later one refuses. Open with every ABI that we know: what files
 * and folders there are, their stat and extended attributes, link targets and access(2); UDP; sockets with a path. */
enum {
    AL_LANDLOCK_GAP_TRUNCATE = 1, /* files that may be read only can be cut short by truncate(2) */
    AL_LANDLOCK_GAP_TCP = 2,
    AL_LANDLOCK_GAP_IOCTL = 4,    /* of devices that can be opened */
    AL_LANDLOCK_GAP_ABSTRACT = 8, /* unix sockets with abstract names */
    AL_LANDLOCK_GAP_SIGNALS = 16, /* signals to other processes of the same user */
};
unsigned al_landlock_gaps(void); /* of this kernel; all of them without Landlock */
unsigned al_landlock_gaps_of(int abi);

/*
 * For a guest, in two steps. The rules: beneath paths, the harmless device files, no TCP, no signal and no abstract
 * socket out of the domain; all other files and every ioctl of a device are refused. A descriptor, or -errno (-ENOSYS:
 * no Landlock) with the path that failed, a view into paths. Then: this thread and what it starts obey them; sets
 * no_new_privs. Async-signal-safe; 0 or -errno.
 */
int al_landlock_guest_rules(const struct al_guest_path *paths, size_t n, const char **ret_failed) AL_MUST_CHECK;
int al_landlock_restrict(int rules) AL_MUST_CHECK;

#endif
