/* What the files of our resources share: pages of the list, and artifacts. */
#ifndef AL_MCP_RESOURCES_INT_H
#define AL_MCP_RESOURCES_INT_H

#include "mcp/mcp_int.h"

#define AL_RESOURCES_PAGE 50u
#define AL_ARTIFACT_SCHEME "artifact://"
#define AL_ARTIFACT_TEMPLATE AL_ARTIFACT_SCHEME "{artifactId}/{+path}"

/* Artifacts, datasets, then runs, the newest first of each: one list, of which a cursor is the last id that
 * was told. */
struct al_resources_page {
    struct al_buf *out;
    char after[AL_ID_MAX]; /* the last id of the page before; empty: the first page */
    unsigned n;            /* told in this page */
    char last[AL_ID_MAX];
    bool more;
};
/* False when the page is full: then there is more. Else a comma is written where one is needed, and id is the
 * last. */
bool al_resources_next(struct al_resources_page *page, const char *id);

/* The artifacts of the page, while it has room. */
int al_resources_artifacts(struct al_mcp *m, struct al_resources_page *page, struct al_err *err) AL_MUST_CHECK;
/* Whether a cursor names an artifact that is there still. */
bool al_resources_artifact_there(struct al_mcp *m, const char *id);
/* Which artifacts are this server's: of the workspace, or of a session of its own. */
struct al_artifact_filter al_resources_artifact_filter(const struct al_core *core);
/* True: the request is taken care of. */
bool al_resources_artifact_read(struct al_mcp_request *r, struct al_str uri);

#endif
