/* Shared by the files of jobs only. */
#ifndef AL_PYRUN_JOB_INT_H
#define AL_PYRUN_JOB_INT_H

#include "pyrun/pyrun.h"

/* script/, input/, work/, staging/ or logs/: a descriptor for looking up beneath (O_PATH), not followed when
 * it has become a link. */
int al_py_job_part(const struct al_py_job *j, const char *rel, int *ret_fd, struct al_err *err) AL_MUST_CHECK;
/* A new file of that mode. 0 or -errno. */
int al_py_put_file(int dir_fd, const char *name, struct al_str bytes, mode_t mode) AL_MUST_CHECK;

#endif
