/* The Python back ends, as `analysis status` and `forge status` tell of them. */
#ifndef AL_CLI_ANALYSIS_H
#define AL_CLI_ANALYSIS_H

#include "cli/app.h"

/* What is found out about each back end; fresh: not from what is known. The core is there. */
void al_probe_python(struct al_app *app, bool fresh, struct al_py_probe probes[AL_PY_N]);
/* What a script would get now, of such probes: as al_py_choose, with the policy of config and flags. */
int al_choose_python(struct al_app *app, const struct al_py_probe *probes, enum al_py_backend *ret, struct al_buf *reason,
                     struct al_err *err) AL_MUST_CHECK;
/* Probes each back end (fresh: not from what is known), and says what is ready, what is not and why, and what would run
 * now. out and "python": {…} in w. The core is there. */
void al_say_python(struct al_app *app, bool fresh, struct al_buf *out, struct al_jw *w);

#endif
