/*
 * Contained file access: every path that a model or a script names is opened beneath a folder descriptor with
 * openat2(2), so that no link planted between check and use leads outside.
 */
#ifndef AL_OS_PATH_H
#define AL_OS_PATH_H

#include "base/buf.h"
#include "base/err.h"

#include <sys/stat.h>
#include <sys/types.h>

/* Lexical only: collapses "." and "//"; ".." that would leave fails. Result is relative, "." for the root itself.
 * NUL bytes, and names over 255 or paths over 4,095 bytes, are INVALID_INPUT. */
int al_path_normalize(struct al_str path, struct al_buf *out, struct al_err *err) AL_MUST_CHECK;

/* Opens rel beneath dir_fd (RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS, O_CLOEXEC added, EAGAIN retried).
 * Errors: NOT_FOUND; PATH_OUTSIDE_WORKSPACE naming the link; INVALID_INPUT (is a folder, is no folder);
 * PERMISSION_DENIED (EACCES). `shown` is the path in the user's words. */
int al_path_open(int dir_fd, const char *rel, int flags, mode_t mode, const char *shown, int *ret_fd,
                 struct al_err *err) AL_MUST_CHECK;
/* The same, and creates missing parent folders (0755) of rel, each beneath. */
int al_path_open_parent(int dir_fd, const char *rel, bool create, const char *shown, int *ret_fd,
                        const char **ret_name, struct al_err *err) AL_MUST_CHECK;

/* Replaces or creates name in dir_fd: temporary file, fsync, rename. Keeps the mode of an existing file,
 * else `mode`. Never follows a link at name. The temporary name starts with ".alisio-tmp-". */
int al_path_write_atomic(int dir_fd, const char *name, struct al_str bytes, mode_t mode, const char *shown,
                         struct al_err *err) AL_MUST_CHECK;
/* The first half of that, for a file that is written by others: a new file of such a name, 0600, O_RDWR, locked (and so
 * left alone by sweepers) while its description is open, its folder noted (temps.h). The owner renames or unlinks it, and
 * then calls al_path_tmp_end, once. The descriptor, or -errno. */
#define AL_PATH_TMP_MAX 32
int al_path_tmp_begin(int dir_fd, char name[AL_PATH_TMP_MAX]);
void al_path_tmp_end(void);
/* Removes leftover ".alisio-tmp-" files of dead writers in dir_fd (not of live ones). Count removed. */
int al_path_sweep_tmp(int dir_fd);

/* mkdir -p with 0700 for what is made; then checks: a folder, no link, ours, not open to others. */
int al_path_private_dir(const char *path, struct al_err *err) AL_MUST_CHECK;
/* Removes a tree beneath dir_fd without following links. 0 or -errno. */
int al_path_remove_tree(int dir_fd, const char *name);
/* Real path of a folder, malloc'ed; NULL with err. */
char *al_path_real(const char *path, struct al_err *err);
/* Bytes of all regular files beneath (links not followed), up to limit entries. */
int64_t al_path_tree_bytes(int dir_fd);

/* Looks a helper program up in PATH, skipping entries that are relative, inside one of `avoid` (NULL-terminated
 * real paths, may be NULL) or writable by others than us and root. malloc'ed path or NULL (NOT an error). */
char *al_path_find_program(const char *name, const char *const *avoid);
/* The same in another PATH than that of our environment (NULL: no PATH). */
char *al_path_find_program_in(const char *path, const char *name, const char *const *avoid);
/* A PATH as a child may have it: without entries that are empty, relative, or inside one of `avoid`. malloc'ed, and never
 * empty. */
char *al_path_for_child(const char *path, const char *const *avoid);

#endif
