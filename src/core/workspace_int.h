/* Shared by workspace.c and workspace_repository.c. */
#ifndef AL_CORE_WORKSPACE_INT_H
#define AL_CORE_WORKSPACE_INT_H

#include "base/err.h"

/* Whether a file may be written at path (real, beneath dir_fd; its end may not exist yet) without making or
 * changing a git repository that is not in a .git folder. PATH_PROTECTED. */
int al_workspace_check_repository(int dir_fd, const char *path, const char *shown,
                                  struct al_err *err) AL_MUST_CHECK;

#endif
