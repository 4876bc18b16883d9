/*
 * One guarded SELECT over datasets: what may be asked is decided by SQLite's own parser and an authorizer.
 * Runs in a sealed process of its own; opens nothing, ends by deadline. Knows no frames and no faces.
 */
#ifndef AL_QUERY_QUERY_H
#define AL_QUERY_QUERY_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct sqlite3;

#define AL_QUERY_MAX_DATASETS 10
#define AL_QUERY_MAX_SQL ((size_t)100000)  /* bytes */
#define AL_QUERY_HEAP ((int64_t)256 << 20) /* bytes SQLite may hold */
#define AL_QUERY_SPILL ((uint64_t)4 << 30) /* bytes of temporary files */
#define AL_QUERY_CELL 2048                 /* bytes of a cell for a tool's result */

enum al_query_format {
    AL_QUERY_RESULT, /* for a tool: {columns, rows, rowCount, truncated, clipped, notes} and a text for a
                        model */
    AL_QUERY_CSV,    /* streamed bytes of a file; RFC 4180, LF */
    AL_QUERY_TSV,
    AL_QUERY_JSONL, /* one object a row */
    AL_QUERY_JSON,  /* {"columns":[…],"rows":[[…],…]} */
};

struct al_query_dataset {
    char alias[64]; /* "" for the only one */
    int fd;
};

struct al_query {
    struct al_query_dataset datasets[AL_QUERY_MAX_DATASETS];
    size_t n_datasets;
    struct al_str sql;
    struct al_str params_json; /* array, object, or empty */
    uint64_t max_rows;         /* 0: all (streamed formats) */
    uint32_t timeout_ms; /* the deadline is kept from within, too; who kills is outside. Neither counts the
                            time in which a reader of a stream takes nothing */
    enum al_query_format format;
    bool exact; /* CSV, TSV: each cell as it stood in the file; else text that a spreadsheet would run gets an
                   apostrophe */
};

/* Before the process is sealed: sets the heap limit. The VFS (db/fdvfs.h) over the spill file is the
 * caller's. Of a zygote: what can be prepared ahead of the query. */
int al_query_prepare(void);

struct al_query_out {
    /* Streamed formats: bytes of the output, as they come. False: the reader has gone. */
    bool (*chunk)(void *ud, struct al_str bytes);
    void *ud;
    struct al_buf
        *text; /* AL_QUERY_RESULT: tab-separated for a model, ≤ 24,000 characters, a closing bracketed line */
    struct al_buf *json; /* its structured value; of a streamed format {"rowCount","notes"} */
};
/*
 * Opens the datasets, runs the statement. 0, or -1 with err: QUERY_REJECTED (not one SELECT; what it was),
 * QUERY_ERROR (SQLite's message, the position, close names; text that is no number met in arithmetic),
 * QUERY_LIMIT (naming the limit), QUERY_TIMEOUT. details: a JSON object for err
 * ({"position","near","column","text"…}), may stay empty.
 */
int al_query_run(const struct al_query *q, struct al_query_out *out, struct al_buf *details,
                 struct al_err *err) AL_MUST_CHECK;

/* --- the parts, for tests and for other statements over datasets --- */
/* Opens the datasets on one connection: the only one as main, else each attached under its alias; then
 * DEFENSIVE, limits, functions, and the authorizer, after which nothing but reading goes. */
int al_query_open(const struct al_query *q, struct sqlite3 **ret, struct al_err *err) AL_MUST_CHECK;
/* The functions that a data person expects: regexp median percentile stddev date_trunc to_number to_date.
 * DETERMINISTIC and INNOCUOUS. */
int al_query_functions(struct sqlite3 *db, struct al_err *err) AL_MUST_CHECK;

#endif
