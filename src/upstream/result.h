/* A result of tools/call, as a server sent it, made into what scripts get and what a model reads. Pure. */
#ifndef AL_UPSTREAM_RESULT_H
#define AL_UPSTREAM_RESULT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "core/tool.h"

/*
 * tool is the tool in a person's words (github.get_issue). structured gets one JSON value: structuredContent,
 * else a single text as the object or array that it holds, else a single text, else {"parts":[…]} with every
 * part, its data included; nothing when there is no content. text gets the texts, and other parts by name and
 * size. With isError, input_required, or what is no result, err says so (TOOL_ERROR, UPSTREAM_UNAVAILABLE,
 * RESULT_TOO_LARGE), and -1 is returned. Whether the two buffers were large enough is for the caller to see.
 */
int al_result_take(const struct al_json *result, const char *tool, struct al_buf *text,
                   struct al_buf *structured, struct al_err *err) AL_MUST_CHECK;
/* The same of its text. */
int al_result_read(struct al_str result_json, const char *tool, struct al_buf *text,
                   struct al_buf *structured, struct al_err *err) AL_MUST_CHECK;
/* A JSON-RPC error object: TOOL_INPUT_INVALID for invalid params, else TOOL_ERROR. Returns -1. */
int al_result_failure(struct al_str failure_json, const char *tool, struct al_err *err);
/* Of an error that is about the arguments: the hint says what the tool takes. name as above. */
void al_result_advise(const struct al_tool *tool, const char *name, enum al_origin origin, struct al_err *err);
/* Progress of the protocol to that of a call: {"completed","total","note"}. Empty when it says nothing. */
void al_result_progress(struct al_str params_json, struct al_buf *out);

#endif
