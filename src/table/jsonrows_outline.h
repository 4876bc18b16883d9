/* One object that is the document, by its members; all of its text lies in the window. For jsonrows_*.c. */
#ifndef AL_TABLE_JSONROWS_OUTLINE_H
#define AL_TABLE_JSONROWS_OUTLINE_H

#include "table/jsonrows.h"

/* A member of an object. Places count from the object's opening. */
struct al_jr_member {
    struct al_js_value key;
    size_t key_at, value_at, end_at;
    uint64_t line, line_start;     /* of the value */
    enum al_json_type type, first; /* first: of an array's elements */
    uint64_t count;                /* of an array's elements, so far */
};

struct al_jr_outline {
    struct al_js_mark mark; /* of the opening */
    unsigned n;
    bool more_than_fits; /* over a thousand members: it is a record, and too wide a one */
    bool complete;
    struct al_jr_member members[AL_TABLE_MAX_COLUMNS];
};

/* The name, decoded into out. */
struct al_str al_jr_key_of(const struct al_jr *r, const struct al_jr_outline *o, const struct al_jr_member *m,
                           struct al_buf *out);

/* jsonrows_keyed.c: an object of objects as rows, where it is clear which way round. 1: they were read; 0:
 * nothing was; -1 with err. */
int al_jr_keyed(struct al_jr *r, struct al_jr_outline *o);

#endif
