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
/* The same, smaller: one of a batch of rows. */
struct al_bcell {
    union {
        int64_t i;
        double d;
        const char *p;
    };
    uint32_t n;   /* bytes of a text */
    uint8_t type; /* enum al_value_type */
    int8_t scale; /* of the column when the cell came */
};
static inline void al_bcell_value(const struct al_bcell *c, struct al_value *ret)
{
    ret->type = (enum al_value_type)c->type;
    switch (ret->type) {
    case AL_VALUE_NULL:
        break;
    case AL_VALUE_INT:
        ret->i = c->i;
        break;
    case AL_VALUE_REAL:
        ret->d = c->d;
        break;
    case AL_VALUE_TEXT:
        ret->text = (struct al_str){c->p, c->n};
        break;
    }
}

/*
 * A number is a text that is the canonical print of that number: optional '-', no leading zero, no '+', no exponent, no
 * negative zero; an integer within ±(2^53-1), or the shortest decimal that reads back as the same double, with at least one
 * digit behind the point ("3.0", as programs write a column of floats) and no further trailing zeros.
 * Returns true and the value; *decimals is the count of digits behind the point. With zeros_ok, trailing zeros behind the
 * point are let through ("1.50", "3.00"), and *zeros tells whether there were some that the canonical print has not.
 */
bool al_cell_number(struct al_str s, bool zeros_ok, struct al_value *ret, unsigned *decimals, bool *zeros);

/* A number of a format that has numbers (RFC 8259): an integer within ±(2^53-1), or a decimal whose digits a double keeps,
 * however it is written (1.50, 1e5). False: as a number it would lose digits. */
bool al_cell_literal(struct al_str s, struct al_value *ret);

/* The text that a stored REAL stood as: shortest digits that read back, no exponent, at least one behind the point; with
 * scale ≥ 0 that many behind the point. */
void al_cell_print(double d, int scale, struct al_buf *out);

/* The scale of a column so far (data.md "Numbers"). Starts as AL_SCALE_NONE. */
#define AL_SCALE_NONE (-1)  /* no number yet */
#define AL_SCALE_ENDED (-2) /* numbers of decimals differed */

#endif
