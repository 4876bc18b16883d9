/* The parts of a query, as they see each other. */
#ifndef AL_QUERY_QUERY_INT_H
#define AL_QUERY_QUERY_INT_H

#include "query/query.h"

#include "base/json.h"

#include <sqlite-hooks.h>
#include <sqlite3.h>

/* --- tokens.c: the words of a statement, for messages; what a statement may do is never decided by them ---
 */
enum al_token_kind {
    AL_TOKEN_WORD,
    AL_TOKEN_NAME,   /* "x" [x] `x`: the text is what is between */
    AL_TOKEN_STRING, /* 'x': likewise, doubled quotes as they stand */
    AL_TOKEN_NUMBER,
    AL_TOKEN_PARAM,
    AL_TOKEN_SIGN, /* one or two characters */
};
struct al_token {
    enum al_token_kind kind;
    struct al_str text; /* a view of the statement */
    size_t at, end;     /* bytes, with the quotes */
    unsigned depth;     /* of parentheses; an opening one belongs to the outer depth */
};
struct al_tokens {
    struct al_token *list;
    size_t n;
};
void al_tokens_read(struct al_tokens *t, struct al_str sql);
void al_tokens_free(struct al_tokens *t);
bool al_token_is(const struct al_tokens *t, size_t i,
                 const char *word); /* a word or sign; letter case aside; false beyond the end */
bool al_token_names(const struct al_tokens *t, size_t i, const char *name); /* a word or a quoted name */
bool al_str_same(struct al_str a, const char *z);                           /* ASCII letter case aside */
/* Where only white space, comments and semicolons are left: true. */
bool al_tokens_only_space(struct al_str sql);

/* --- the state of one connection; its client data "alisio" --- */
#define AL_QUERY_MAX_READS 512
#define AL_QUERY_NAME 72
struct al_read {
    char schema[AL_QUERY_NAME], table[AL_QUERY_NAME], column[AL_QUERY_NAME];
    char via[AL_QUERY_NAME]; /* the view or subquery that reads; "" for the statement's own level */
};
struct al_guard {
    bool selects, denied, recording;
    int action;            /* that was denied */
    char what[128];        /* its name: a function, a table */
    struct al_read *reads; /* at most AL_QUERY_MAX_READS */
    size_t n_reads;
};

/* What is known of a column from its dataset's own tables. */
struct al_column {
    char schema[AL_QUERY_NAME], table[AL_QUERY_NAME], name[AL_QUERY_NAME], parsed_as[24];
    char values[AL_QUERY_NAME + 8]; /* the view of its table's values, or "" */
    int scale;                      /* or -1 */
};

#define AL_QUERY_MAX_NOTES 8
struct al_query_state {
    sqlite3 *db;
    char schemas[AL_QUERY_MAX_DATASETS][AL_QUERY_NAME];
    size_t n_schemas;
    struct al_guard guard;
    struct al_tokens tokens;
    struct al_str sql;
    int64_t deadline_ns; /* of CLOCK_MONOTONIC; 0: none */
    uint32_t timeout_ms;
    bool timed_out;
    struct al_column *columns; /* with a parsedAs or a scale; read when first asked for */
    size_t n_columns;
    bool columns_read;

    bool met;      /* a text where a number is needed */
    bool compares; /* … in a comparison, else by `where` */
    enum al_sqlite_where where;
    enum al_sqlite_comparison how;
    char text[160]; /* its beginning */
    size_t text_n;
    bool text_cut;
    struct text_class {
        char z[48];
        int n, verdict;
    } seen[2];

    char notes[AL_QUERY_MAX_NOTES][400];
    size_t n_notes;
    uint64_t not_numbers, not_dates; /* texts that to_number and to_date answered with NULL */
    char not_number[64], not_date[64];
    bool noted_order, noted_equal;
};
struct al_query_state *al_query_state_of(sqlite3 *db);
void al_query_note(struct al_query_state *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void al_query_count_null(uint64_t *count, char first[64], struct al_str text);

/* --- guard.c --- */
int al_guard_authorize(void *ud, int action, const char *a, const char *b, const char *schema,
                       const char *via);
int al_guard_reject(const struct al_query_state *s, struct al_err *err); /* QUERY_REJECTED: what was denied */
bool al_guard_function_known(const char *name);
/* The nearest name of an allowed function, or NULL. */
const char *al_guard_function_near(const char *name);
/* Prepares the one statement; QUERY_REJECTED, QUERY_ERROR (errors.c). */
int al_guard_prepare(struct al_query_state *s, sqlite3_stmt **ret, struct al_buf *details,
                     struct al_err *err) AL_MUST_CHECK;

/* --- params.c --- */
int al_params_bind(sqlite3_stmt *stmt, struct al_str params_json, struct al_err *err) AL_MUST_CHECK;

/* --- columns.c --- */
void al_columns_read(struct al_query_state *s);
const struct al_column *al_column_of(struct al_query_state *s, const char *schema, const char *table,
                                     const char *name);
bool al_column_numeric(const struct al_column *c); /* its parsedAs means numbers */

/* --- lies.c --- */
extern const struct al_sqlite_hooks al_lies_hooks;
void al_lies_watch(struct al_query_state *s); /* NULL: nobody */
/* Before the first step: ORDER BY of numbers that are text, IN of numbers over them. Fails, or notes. */
int al_lies_order(struct al_query_state *s, sqlite3_stmt *stmt, struct al_buf *details,
                  struct al_err *err) AL_MUST_CHECK;
int al_lies_fail(struct al_query_state *s, struct al_buf *details, struct al_err *err); /* what was met; -1 */
void al_lies_notes(struct al_query_state *s); /* after the last row */

/* --- errors.c --- */
/* What SQLite's result code means for people; -1. */
int al_errors_sqlite(struct al_query_state *s, int rc, struct al_buf *details, struct al_err *err);

/* --- result.c, stream.c --- */
struct al_rows {
    struct al_query_state *s;
    sqlite3_stmt *stmt;
    const struct al_query *q;
    struct al_query_out *out;
    uint64_t n;
    bool truncated;
};
/* Steps through the statement. 0, or -1: *rc is SQLite's code when that is why, else SQLITE_OK and err is
 * set. */
int al_result_write(struct al_rows *r, int *rc, struct al_err *err) AL_MUST_CHECK;
int al_rows_stream(struct al_rows *r, int *rc, struct al_err *err) AL_MUST_CHECK;
/* Text that is no valid UTF-8, cleaned; a view of the cell or of tmp. */
struct al_str al_cell_text(sqlite3_stmt *stmt, int i, struct al_buf *tmp);
void al_cell_real(double d, struct al_buf *out); /* shortest text that reads back */

/* --- functions --- */
int al_functions_dates(sqlite3 *db);
int al_functions_regexp(sqlite3 *db);
int al_functions_stats(sqlite3 *db);

#endif
