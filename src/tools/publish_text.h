/* One text becomes an artifact of one file: what artifact_create and dashboard_generate share. */
#ifndef AL_TOOLS_PUBLISH_TEXT_H
#define AL_TOOLS_PUBLISH_TEXT_H

#include "tools/tools_int.h"

#include "artifact/artifact.h"

struct al_publish_text {
    struct al_call *call;
    struct al_str name; /* a plain one: al_publish_text_name */
    struct al_str text; /* these lie unharmed until done */
    const char *title;  /* NULL: the file's name */
    struct al_str provenance; /* a JSON object: al_publish_text_provenance begins one */
    /* In the loop's thread, once, never from within. made: of one artifact, a view for the call; NULL: call->err says
     * why, or the call was cancelled. */
    void (*done)(void *ud, const struct al_publication *made);
    void *ud;
};

bool al_publish_text_name(struct al_str name);
/* Opens an object with the members that all have: tool, sessionId, and runId and client where there are. */
void al_publish_text_provenance(const struct al_call *call, struct al_jw *w);
/* A file in a staging folder, built on the pool, committed in the loop. spec is copied. */
void al_publish_text(const struct al_publish_text *spec);

#endif
