/*
 * The part of JSON Schema that our tools use: type (also a list), properties, required, additionalProperties (false by
 * default for objects with properties), items, enum, const, minimum, maximum, minLength, maxLength (code points),
 * minItems, maxItems, pattern-free, oneOf/anyOf of object shapes by required keys, description, default.
 */
#ifndef AL_CORE_SCHEMA_H
#define AL_CORE_SCHEMA_H

#include "base/buf.h"
#include "base/json.h"

/* Appends each problem as "/pointer: what" lines (at most 20). Number of problems. Depth-limited, never recursive
 * beyond AL_JSON_MAX_DEPTH. */
unsigned al_schema_check(const struct al_json *schema, const struct al_json *value, struct al_buf *problems);
/* The TypeScript type of a schema, on one line, ≤ max bytes of out. Hostile names and texts stay inert. */
void al_schema_typescript(const struct al_json *schema, struct al_buf *out);

#endif
