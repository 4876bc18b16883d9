/*
 * The part of JSON Schema that our tools use: type (also a list), properties, required, additionalProperties
 * (false by default for objects with properties), items, enum, const, minimum, maximum, minLength, maxLength
 * (code points), minItems, maxItems, pattern-free, oneOf/anyOf of object shapes by required keys,
 * description, default.
 */
#ifndef AL_CORE_SCHEMA_H
#define AL_CORE_SCHEMA_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/* Appends each problem as "/pointer: what" lines (at most 20). Number of problems. Depth-limited, never
 * recursive beyond AL_JSON_MAX_DEPTH. */
unsigned al_schema_check(const struct al_json *schema, const struct al_json *value, struct al_buf *problems);
/* The TypeScript type of a schema, on one line, ≤ max bytes of out: what does not fit becomes `unknown`.
 * Hostile names and texts stay inert: within comments, Markdown fences and terminals, too. */
void al_schema_typescript(const struct al_json *schema, struct al_buf *out);
/* A name as a TypeScript property: as it is when it is an identifier, else quoted. */
void al_schema_typescript_name(struct al_str name, struct al_buf *out);
/* Whether a schema uses only the keywords above (and title), each with a value of the right kind, as
 * registration asks for. INTERNAL, naming the place. */
int al_schema_supported(const struct al_json *schema, struct al_err *err) AL_MUST_CHECK;

#endif
