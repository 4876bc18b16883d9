/*
 * Rows out of JSON values: columns in the order in which their names are first seen, one row a record.
 * Internal to the JSON reader; json_stream.h has the text.
 *
 * A name that stands more than once in a record: the last value is the one of that column, as everywhere;
 * each earlier one goes to a column of its own, name_2 for the first, name_3 for the second …, and is noted.
 */
#ifndef AL_TABLE_JSONROWS_H
#define AL_TABLE_JSONROWS_H

#include "table/json_stream.h"
#include "table/readers.h"

#define AL_JR_RECORD_MAX ((size_t)16 << 20) /* bytes of one record */
#define AL_JR_KEY_MAX 4096                  /* bytes of a name */
#define AL_JR_SLOTS 4096 /* of the index of names; a power of two, over twice the columns */
enum {
    AL_JR_FAILED = -2
}; /* beside al_js_result: err is set */

struct al_jr_column {
    char *key; /* owned; a label, and for columns[n].named what objects are looked up by */
    size_t n;
    bool named;
    unsigned shadow; /* the column of earlier values of the same name; 0: none (column 0 is never one) */
};

/* What a record gives to note, kept until it is known that it is read once and for all. */
struct al_jr_odd {
    bool lone, empty, other_kind;
    unsigned numbers;     /* big ones */
    struct al_str number; /* the first of them */
    struct al_str double_key;
    unsigned doubles;
};

struct al_jr {
    struct al_js js;
    const struct al_table_opts *opts;
    const struct al_table_sink *sink;
    struct al_err *err;
    struct al_jr_column columns[AL_TABLE_MAX_COLUMNS];
    unsigned n_columns;
    uint16_t index[AL_JR_SLOTS]; /* column + 1 */
    struct al_cell cells[AL_TABLE_MAX_COLUMNS];
    uint64_t stamp[AL_TABLE_MAX_COLUMNS]; /* the record that set the cell */
    uint64_t record;                      /* counts attempts */
    uint64_t rows;
    struct al_js_mark from; /* of the record at hand, until it was read */
    struct al_jr_odd odd;
    char *scratch; /* decoded text of the record at hand: at most what its source text has */
    size_t scratch_n, scratch_cap;
    bool started;                         /* columns were told */
    uint64_t pending, pending_line;       /* empty records before any column */
    bool arrays;                          /* records are arrays: rows of cells */
    uint16_t place[AL_TABLE_MAX_COLUMNS]; /* the columns of their cells */
    unsigned n_places;
    enum al_json_type kind; /* of the first record: object, array or (any scalar) string */
    bool kind_known;
};

void al_jr_init(struct al_jr *r, struct al_source *src, const struct al_table_opts *opts,
                const struct al_table_sink *sink, struct al_err *err);
void al_jr_fini(struct al_jr *r);

/* A new attempt at a record; cells are unset. */
void al_jr_begin(struct al_jr *r);
/* A column by position. label is copied. */
int al_jr_add_column(struct al_jr *r, struct al_str label, bool named);
/* The same, for the next cell of records that are arrays. */
int al_jr_add_place(struct al_jr *r, struct al_str label);
/* Sets a cell of the record. AL_JS_OK or AL_JR_FAILED. */
int al_jr_set(struct al_jr *r, unsigned column, const struct al_js_value *v);
/* The object at p into the cells of the record that was begun. al_js_result or AL_JR_FAILED. */
int al_jr_members(struct al_jr *r, unsigned depth);
/* Gives the record's row to the sink: its first n cells. */
int al_jr_emit(struct al_jr *r, unsigned n, uint64_t line);
/* Reads the value at p as a record and emits it. 0, or -1 with err. */
int al_jr_record(struct al_jr *r, unsigned depth);
/* At the first of several arrays: whether its cells are names, which are then the columns, and it is passed
 * over. comma: what separates them. *ret_taken: p stands behind it. */
int al_jr_header(struct al_jr *r, unsigned depth, bool comma, bool *ret_taken);
/* al_js_member that refills. 0, or -1 with err. */
int al_jr_member(struct al_jr *r, char closer, bool first, bool *ret_more);
/* What is still held back; a table without any column gets the column value. */
int al_jr_finish(struct al_jr *r);
/* Fails with the reader's BAD. Returns -1. */
int al_jr_bad(struct al_jr *r, uint64_t record_line);

/* jsonrows_object.c: one object at p that is the document: rows under a name, columns, or a row. *ret_lines:
 * others follow, nothing was read. */
int al_jr_object(struct al_jr *r, bool *ret_lines);
/* An array of records; p at its opening. */
int al_jr_array(struct al_jr *r, unsigned depth);

#endif
