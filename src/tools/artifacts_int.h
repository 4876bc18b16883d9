/* What the four artifact tools share: how one is found, and how it is told. Also for python_run's results. */
#ifndef AL_TOOLS_ARTIFACTS_INT_H
#define AL_TOOLS_ARTIFACTS_INT_H

#include "tools/tools_int.h"

#include "artifact/artifact.h"

extern const struct al_tool al_tool_artifact_create, al_tool_artifact_list, al_tool_artifact_read,
    al_tool_artifact_export;

/* The row of the artifact that the argument `id` names, of the core's workspace: NOT_FOUND otherwise. In the loop. */
int al_tool_artifact(struct al_call *call, struct al_artifact *ret, struct al_err *err) AL_MUST_CHECK;
/* "report.md (document, 1.2 KB, art_…)", with "partial" where it is; nothing in it is hidden. */
void al_tool_artifact_words(struct al_buf *out, const struct al_artifact *a);
/* Members of the object that w has open: id, title, fileName, kind, mimeType, bytes, files, partial. */
void al_tool_artifact_members(struct al_jw *w, const struct al_artifact *a);
/* A schema's properties for these. */
#define AL_ARTIFACT_PROPERTIES                                                                                     \
    "\"id\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},\"fileName\":{\"type\":\"string\"},"             \
    "\"kind\":{\"type\":\"string\"},\"mimeType\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"},"          \
    "\"files\":{\"type\":\"integer\"},\"partial\":{\"type\":\"boolean\"}"

/* analysis.enabled; and where something is written, not --read-only. */
bool al_tool_artifacts_on(const struct al_core *core);
bool al_tool_artifacts_writable(const struct al_core *core);

#endif
