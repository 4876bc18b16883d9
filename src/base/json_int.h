/* What the parts of the JSON module share, and nobody else uses. */
#ifndef AL_BASE_JSON_INT_H
#define AL_BASE_JSON_INT_H

#include "base/json.h"

/* Equality of the values of two JSON numbers, exact whatever their length. */
bool al_json_num_equal(struct al_str a, struct al_str b);

/* v as JavaScript prints it; v is finite. Returns the length. */
#define AL_JSON_DOUBLE_MAX 40
size_t al_json_num_format(char out[AL_JSON_DOUBLE_MAX], double v);

#endif
