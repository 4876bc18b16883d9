/* dashboard_generate: between its own files. */
#ifndef AL_TOOLS_DASHBOARD_INT_H
#define AL_TOOLS_DASHBOARD_INT_H

#include "tools/artifacts_int.h"
#include "tools/data_int.h"

extern const struct al_tool al_tool_dashboard_generate;

#define AL_DASHBOARD_TEXT_CHARS 12000
extern const char al_dashboard_input_schema[], al_dashboard_output_schema[]; /* dashboard_schema.c */

/* --- the request (dashboard_request.c) --- */
/* The request of dashboard/dashboard.h for these arguments. source: the file's name. TOOL_INPUT_INVALID; NOT_FOUND and
 * INVALID_INPUT of `like`. In the loop's thread. */
int al_dashboard_request(struct al_call *call, const char *source, struct al_buf *out, struct al_err *err) AL_MUST_CHECK;

/* --- showing (dashboard_show.c) --- */
struct al_dashboard_shown {
    const struct al_json *made;       /* what the process said of it: a claim */
    const struct al_artifact *a;      /* NULL: a plan alone */
    struct al_str warnings;           /* of its publication */
    bool has_python;                  /* python_run is there */
};
/* The structured value, and the text for a model. */
void al_dashboard_result(const struct al_dashboard_shown *s, struct al_buf *text, struct al_buf *structured);

#endif
