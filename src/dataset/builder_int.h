/* What the files of the builder share: sheets, columns, batches of typed cells, and the thread that counts
 * them. */
#ifndef AL_DATASET_BUILDER_INT_H
#define AL_DATASET_BUILDER_INT_H

#include "dataset/dataset.h"
#include "dataset/names.h"
#include "dataset/stats.h"

#include <pthread.h>
#include <sqlite3.h>

#define AL_NOTE_LINES 5
#define AL_NOTE_TEXT 400

/*
 * Rows on their way: typed once by the reader's thread, which then stores them while the other thread counts
 * them. The ring is all that is ever on the way, so memory is bounded whatever the file is.
 */
#define AL_BATCH_SLOTS 4
#define AL_BATCH_CELLS ((size_t)16 << 10)
#define AL_BATCH_TEXT ((size_t)384 << 10)
#define AL_BATCH_PAD 32 /* readable behind the text */
struct al_batch {
    struct al_bcell *cells; /* n_rows * n_columns, row by row */
    char *text;
    size_t n_text;
    size_t n_rows, n_columns;
    bool alone;           /* one row, whose text is in the reader's memory */
    uint64_t rows_before; /* of the sheet */
    struct al_stats *stats;
};
struct al_ring {
    struct al_batch slot[AL_BATCH_SLOTS];
    uint64_t given, done; /* batches, ever; under the lock */
    /* The thread's, or whoever's drained the ring: the statistics at hand, and how many columns they have. */
    const struct al_stats *current;
    size_t known;
    bool stop;
    bool started;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};
int al_ring_start(struct al_ring *r, struct al_err *err) AL_MUST_CHECK;
void al_ring_stop(struct al_ring *r);
/* The slot that is filled next; waits until nobody reads it any more. Empty. */
struct al_batch *al_ring_slot(struct al_ring *r);
/* Gives that slot to the thread. Its content may still be read here until the next al_ring_slot but one. */
void al_ring_give(struct al_ring *r);
void al_ring_drain(struct al_ring *r); /* waits until all that was given is counted */
/* Adds columns that the statistics do not have, with NULLs for the rows before. */
void al_ring_columns(struct al_ring *r, struct al_stats *stats, size_t n, uint64_t rows_before);

struct al_lines {
    uint64_t count;
    uint64_t line[AL_NOTE_LINES];
};
static inline void al_lines_add(struct al_lines *l, uint64_t line)
{
    if (l->count < AL_NOTE_LINES)
        l->line[l->count] = line;
    l->count++;
}
struct al_bnote {
    struct al_lines lines;
    char *text; /* of the first */
};

struct al_bcolumn {
    char *name;
    char *label;
    size_t n_label;
    int scale;             /* AL_SCALE_… or decimals */
    int ended_scale;       /* what it was, when it ended */
    uint64_t ended_row;    /* rows before the one that ended it */
    uint64_t ended_zeros;  /* cells with trailing zeros among them */
    struct al_lines zeros; /* cells with trailing zeros */
    struct al_lines texts; /* cells that are text */
};

struct al_builder {
    struct sqlite3 *db;
    struct al_dataset_limits limits;
    struct al_table_sink sink;
    bool (*ask)(void *ud, uint64_t rows, uint64_t bytes);
    void *ask_ud;
    uint64_t asked_ms, bytes, all_rows;
    bool cancelled, failed;

    struct al_ring ring;
    struct al_batch *batch; /* being filled, or NULL */
    struct al_batch *inserting;
    struct al_names *tables;
    size_t n_sheets, n_all_columns;
    uint64_t irregular;
    struct al_bnote file_notes[AL_NOTE_COUNT];

    /* The sheet at hand. */
    bool in_sheet, has_table;
    char *sheet_name;
    size_t n_sheet_name;
    char *table;
    struct al_names *names;
    struct al_bcolumn *columns;
    size_t n_columns, cap_columns;
    size_t n_extra;
    uint64_t rows; /* taken in */
    uint64_t rows_stored;
    sqlite3_stmt *insert; /* NULL: columns came since */
    struct al_stats *stats;
    struct al_bnote notes[AL_NOTE_COUNT];
};

/* builder_rows.c */
int al_builder_columns(void *ud, const struct al_str *labels, size_t n, struct al_err *err);
int al_builder_late_column(void *ud, struct al_str label, struct al_err *err);
int al_builder_row(void *ud, const struct al_cell *cells, size_t n, uint64_t line, struct al_err *err);
/* Stores what is in the batch. */
int al_builder_flush(struct al_builder *b, struct al_err *err) AL_MUST_CHECK;
/* Gives a sheet without columns one, so that there is a table. */
int al_builder_need_table(struct al_builder *b, struct al_err *err) AL_MUST_CHECK;

/* builder_insert.c */
int al_builder_module(struct al_builder *b,
                      struct al_err *err) AL_MUST_CHECK; /* the rows of a batch, as a table */
int al_builder_insert(struct al_builder *b, struct al_batch *batch, struct al_err *err) AL_MUST_CHECK;
int al_builder_sql_error(struct al_builder *b, int rc, struct al_err *err);
int al_builder_exec(struct al_builder *b, struct al_err *err, const char *fmt, ...) AL_MUST_CHECK;
int al_builder_prepare(struct al_builder *b, sqlite3_stmt **ret, struct al_err *err, const char *fmt,
                       ...) AL_MUST_CHECK;

/* builder_notes.c */
void al_builder_note(void *ud, enum al_note kind, uint64_t line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A note of the builder's own about the sheet at hand, with its lines. */
void al_builder_note_lines(struct al_builder *b, enum al_note kind, const struct al_lines *lines,
                           const char *fmt, ...) __attribute__((format(printf, 4, 5)));
int al_builder_write_notes(struct al_builder *b, struct al_bnote notes[AL_NOTE_COUNT], bool of_sheet,
                           struct al_err *err) AL_MUST_CHECK;
void al_builder_drop_notes(struct al_bnote notes[AL_NOTE_COUNT]);

/* builder_sheet.c: the end of a sheet. */
int al_builder_close_sheet(struct al_builder *b, bool workbook, struct al_err *err) AL_MUST_CHECK;
void al_builder_drop_sheet(struct al_builder *b);
int al_builder_tables(struct al_builder *b, struct al_err *err) AL_MUST_CHECK; /* of metadata */

/* builder_values.c: the view of values. Fills parsed_nulls[i] for columns with a pattern. */
int al_builder_values(struct al_builder *b, const struct al_pattern_verdict *verdicts, uint64_t *parsed_nulls,
                      struct al_err *err) AL_MUST_CHECK;

#endif
