/*
 * Which of a table's first rows are a title, which the header, and where the data begins: one answer for text
 * files and workbooks, so that a sheet and its export are the same table.
 */
#ifndef AL_TABLE_HEAD_H
#define AL_TABLE_HEAD_H

#include "table/table.h"

#define AL_HEAD_ROWS 256   /* of the sample that are looked at */
#define AL_HEAD_COLUMNS 64 /* of each */

enum al_head_kind {
    AL_HEAD_EMPTY,
    AL_HEAD_NUMBER, /* or a date, a time, an amount, TRUE */
    AL_HEAD_TEXT
};
struct al_head_row {
    size_t n, filled;
    size_t tail;      /* cells at its end that are empty and not quoted */
    bool after_blank; /* a blank line is above it */
    bool comment;     /* it begins with # */
    unsigned char kind[AL_HEAD_COLUMNS];
    uint64_t hash[AL_HEAD_COLUMNS], shape[AL_HEAD_COLUMNS];
    bool year[AL_HEAD_COLUMNS]; /* four digits */
};
struct al_head_table {
    struct al_head_row *rows;
    size_t n, width; /* width: of most rows */
};

/* Cell i of a row whose other fields are set. */
void al_head_cell(struct al_head_row *r, size_t i, struct al_str raw);
void al_head_width(struct al_head_table *t);
/* Does the text look like a number, a date, a time, an amount? */
bool al_head_numish(struct al_str s);

struct al_head {
    size_t comments;      /* rows of them at the top */
    size_t at;            /* the table's first row */
    unsigned header_rows; /* 0: none */
    bool grouped;         /* a name of its first line goes for the empty cells behind it, too */
    bool named_rows;      /* the rows begin with a cell that the header has no name for */
    size_t tail;          /* empty cells at the end of each line, without a name */
};
/* The header of named_rows is moved to stand above what it names. */
void al_head_find(struct al_head_table *t, const struct al_table_opts *opts, struct al_head *ret);

#endif
