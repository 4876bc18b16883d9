/* Between the rows of artifacts and their folders. */
#ifndef AL_STORE_ARTIFACT_INT_H
#define AL_STORE_ARTIFACT_INT_H

#include "store/store_int.h"

/* All that scripts of a workspace left: artifacts, and the jobs that made them. */
void al_artifact_files_remove(const struct al_store *s, const char *workspace);

#endif
