/* The Python back ends, as `analysis status` and `forge status` tell of them. */
#ifndef AL_CLI_ANALYSIS_H
#define AL_CLI_ANALYSIS_H

#include "cli/app.h"

/* Probes each back end (fresh: not from what is known), and says what is ready, what is not and why, and what would run
 * now. out and "python": {…} in w. The core is there. */
void al_say_python(struct al_app *app, bool fresh, struct al_buf *out, struct al_jw *w);

#endif
