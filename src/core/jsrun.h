/* What faces need to know about the record of a js_run. */
#ifndef AL_CORE_JSRUN_H
#define AL_CORE_JSRUN_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * From the record of a run (the structured value of a js_run) the form that a client may show to its model,
 * in at most max characters: {executionId, status, value|null, truncated, savedTo?, error?, text?}. A value
 * that does not fit is null and truncated; text is what was printed, in the room that is left. max under 1 KiB
 * counts as 1 KiB.
 */
void al_jsrun_bounded(struct al_str record, size_t max, struct al_buf *out);
/* Long base64 becomes "[base64, 13.3 KB]"; JSON stays JSON. False: there is none, and nothing was appended. */
bool al_jsrun_hide_base64(struct al_str text, struct al_buf *out);

#endif
