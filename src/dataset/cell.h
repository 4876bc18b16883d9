/* How a cell's text becomes a value, and how it becomes the same text again. Pure. */
#ifndef AL_DATASET_CELL_H
#define AL_DATASET_CELL_H

#include "base/buf.h"

#include <stdint.h>

enum al_value_type { AL_VALUE_NULL, AL_VALUE_INT, AL_VALUE_REAL, AL_VALUE_TEXT };
struct al_value {
    enum al_value_type type;
    int64_t i;
    double d;
    struct al_str text;
};

/*
 * A number is a text that is the canonical print of that number: optional '-', no leading zero, no '+', no exponent, no
 * negative zero, at most 15 significant digits in all (or an integer within ±(2^53-1)), no trailing zero behind the point.
 * Returns true and the value; *decimals is the count of digits behind the point. With zeros_ok, trailing zeros behind the
 * point are let through ("1.50"), and *zeros tells whether there were some.
 */
bool al_cell_number(struct al_str s, bool zeros_ok, struct al_value *ret, unsigned *decimals, bool *zeros);

/* The text that a stored number stood as: shortest digits that read back, no exponent; with scale ≥ 0 that many digits
 * behind the point. */
void al_cell_print(double d, int scale, struct al_buf *out);

/* The scale of a column so far (data.md "Numbers"). Starts as AL_SCALE_NONE. */
#define AL_SCALE_NONE (-1)  /* no number yet */
#define AL_SCALE_ENDED (-2) /* numbers of decimals differed */

#endif
