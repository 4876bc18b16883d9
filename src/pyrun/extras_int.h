/* Shared by the files of extras only. */
#ifndef AL_PYRUN_EXTRAS_INT_H
#define AL_PYRUN_EXTRAS_INT_H

#include "pyrun/backend.h"
#include "pyrun/extras.h"

#define AL_EXTRAS_FOLDER "runtimes/python"
#define AL_EXTRAS_INDEX "extras.json"
#define AL_EXTRAS_TMP ".tmp-"
#define AL_EXTRAS_MAX_JSON (1u << 20)
#define AL_EXTRAS_VERSION_MAX 24

/* The built-in lock file of a set. */
struct al_str al_extras_lock(const struct al_py_extras_set *set);
/* A lock file has packages with their hashes, and no option of pip's: INVALID_INPUT with the line that has more. */
int al_extras_lock_check(struct al_str lock, struct al_err *err) AL_MUST_CHECK;
/* Whether an installer gets that entry ("NAME=value") of our environment, beside what every child gets: of PIP_ and UV_
 * what says where packages come from, and nothing that changes what is installed, where to, or what is checked. */
bool al_extras_env_passes(struct al_str entry);
/* What names an environment: 16 hexadecimal digits of the lock file and the interpreter. */
void al_extras_version(struct al_str lock, const struct al_py_interpreter *python,
                       char out[AL_EXTRAS_VERSION_MAX]);
/* The folder, made private when it is not there. */
int al_extras_open(const char *state_dir, int *ret_fd, struct al_err *err) AL_MUST_CHECK;
/* Digests over every file beneath: of what they hold, and of what stat says of them (which a change cannot
 * keep). Links count by their targets. 0 or -errno; -EFBIG over 400,000 entries. */
int al_extras_digest(int dir_fd, const char *name, bool content, char out[AL_SHA256_HEX]) AL_MUST_CHECK;
/* Whether that environment is there, and as it was installed. */
bool al_extras_intact(int dir_fd, const char *version) AL_MUST_CHECK;
/* extras.json: which version a set has for an interpreter's minor version; and the change of it, atomically.
 */
int al_extras_index_get(int dir_fd, const char *set, const char *minor, char out[AL_EXTRAS_VERSION_MAX]);
int al_extras_index_put(int dir_fd, const char *set, const char *minor, const char *version,
                        struct al_err *err) AL_MUST_CHECK;
/* "3.11" */
void al_extras_minor(const struct al_py_interpreter *python, char out[16]);

#endif
