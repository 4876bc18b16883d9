/* Between the rows of artifacts and their folders. */
#ifndef AL_STORE_ARTIFACT_INT_H
#define AL_STORE_ARTIFACT_INT_H

#include "store/store_int.h"

/* The folders of a workspace's artifacts. */
void al_artifact_files_remove(const struct al_store *s, const char *workspace);
/* The folders of Python jobs of a run, with run NULL of a session, with session NULL, too, of a workspace: scripts,
 * copies of inputs, logs. */
void al_job_files_remove(const struct al_store *s, const char *workspace, const char *session,
                         const char *run);

#endif
