/* What py and artifacts rerun share: inputs of a python_run on a command line, and its result for a person. */
#ifndef AL_CLI_PY_H
#define AL_CLI_PY_H

#include "cli/app.h"

/* "inputs": what --in names, unless nothing does. */
int al_py_put_inputs(struct al_app *app, struct al_jw *w, struct al_err *err) AL_MUST_CHECK;
/* Calls python_run, copies what it published where --out says, and fills the reply for a person. */
int al_py_call(struct al_app *app, struct al_str args_json, struct al_reply *reply) AL_MUST_CHECK;
/* Calls artifact_export; the reply's err says what failed. out: the lines for a person. */
int al_py_export(struct al_app *app, const char *id, const char *dir, bool overwrite, struct al_reply *reply,
                 struct al_buf *out) AL_MUST_CHECK;
/* Lines for a shell that run the script of a run of kind "python_run" again, each with a comment: within its walls, and,
 * as long as the job's folder is there, by hand. Opens the core. */
int al_py_command(struct al_app *app, const struct al_run *run, const struct al_json *record, struct al_buf *out,
                  struct al_err *err) AL_MUST_CHECK;

#endif
