/* The scratchpad of any session, for commands that look after it without starting a core. */
#ifndef AL_CLI_SESSION_SCRATCH_H
#define AL_CLI_SESSION_SCRATCH_H

#include "cli/app.h"

/* Wants config and store open. NULL with err. */
struct al_scratch *al_session_scratch(struct al_app *app, const char *workspace, const char *session,
                                      struct al_err *err);
/* Deletes its files, and its folders when they are empty then. What cannot be deleted is told as a warning.
 */
void al_session_scratch_remove(struct al_app *app, const char *workspace, const char *session);

#endif
