/* What the parts of `alisio dashboard` share. */
#ifndef AL_CLI_DASHBOARD_H
#define AL_CLI_DASHBOARD_H

#include "cli/app.h"

/* Prints the HTML file at `page` (absolute) to the PDF file `target` by a Chromium that is found, replacing what is
 * there. RUNTIME_UNAVAILABLE where none is, TOOL_ERROR with what it said, TIMEOUT after a minute. */
int al_dashboard_pdf(struct al_app *app, const char *page, const char *target, struct al_err *err) AL_MUST_CHECK;
/* Writes the file at target, in the place of what is there. NOT_FOUND for its folder. */
int al_dashboard_put(const char *target, struct al_str bytes, struct al_err *err) AL_MUST_CHECK;
/* Opens the file in the person's browser; false: there is nothing to do that with. */
bool al_dashboard_show(struct al_app *app, const char *page);

#endif
