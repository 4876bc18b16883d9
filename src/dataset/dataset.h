/*
 * What a dataset file is: one SQLite database with a table for each sheet, a view of its values, statistics and notes.
 * The builder is the sink of the readers (table/table.h). Runs in a sealed worker; no processes and no paths in here.
 *
 * In the file (columns without declared type, so that SQLite converts nothing):
 *   data, or s_<sheet>      the cells. NULL for an empty one; INTEGER and REAL where the text is the canonical print of
 *                           the number; else the exact text
 *   <table>_values          a view: the same columns, those with a parsedAs converted (NULL where a cell does not convert)
 *   _alisio_meta            key, value: ingest_version, format, source_name, source_sha256, encoding, delimiter,
 *                           irregular_rows, created_at, and ours: schema_version, gzip, options (JSON)
 *   _alisio_sheets          ordinal, name, table_name, rows, columns; ours: values_name
 *   _alisio_columns         table_name, ordinal, name, label, inferred_type, nulls, distinct_count, distinct_exact, min,
 *                           max, mean, text_fallbacks, top_values; ours: stddev, quartiles (JSON), scale, parsed_as,
 *                           parsed_nulls, min_length, max_length
 *   _alisio_notes           ordinal, sheet, kind, count, lines (JSON array of the first 5), message
 */
#ifndef AL_DATASET_DATASET_H
#define AL_DATASET_DATASET_H

#include "table/table.h"

struct sqlite3;

#define AL_DATASET_INGEST_VERSION 1
#define AL_DATASET_SCHEMA_VERSION 1
#define AL_DATASET_MAX_SHEETS 256

struct al_dataset_limits {
    uint64_t max_rows;    /* of a sheet: INGEST_LIMIT naming analysis.data.maxRows */
    uint64_t stats_bytes; /* of a sheet's exact statistics (analysis.data.statsMemoryBytes) */
    char decimal;         /* forced decimal mark for parsedAs: '.' or ','; 0: find out */
};

struct al_builder;
/* Writes into an empty database that sqlite has open (alfd VFS), which stays the caller's. Starts the statistics thread:
 * the process may be sealed only after this. */
int al_builder_new(struct sqlite3 *db, const struct al_dataset_limits *limits, struct al_builder **ret,
                   struct al_err *err) AL_MUST_CHECK;
/* The sink to read into; progress(rows, bytes) is asked at most every 50 ms, and ends the ingest by returning false. */
const struct al_table_sink *al_builder_sink(struct al_builder *b, bool (*progress)(void *ud, uint64_t rows, uint64_t bytes),
                                            void *ud);
struct al_dataset_source {
    struct al_str name; /* file name for people, no folder */
    const char *sha256;
    const struct al_table_found *found;
    struct al_str options_json; /* what was forced, canonical; "" or "{}" for nothing */
    int64_t created_ms;
};
/* Second passes (scales that ended, parsedAs), statistics, metadata, views. INGEST_INVALID when there is no sheet or no
 * column at all. */
int al_builder_finish(struct al_builder *b, const struct al_dataset_source *src, struct al_err *err) AL_MUST_CHECK;
void al_builder_free(struct al_builder *b);

/*
 * The description of a dataset as one JSON object, read back from the file's own tables:
 * {format, encoding, delimiter?, gzip?, sourceName, sha256, createdAt, options,
 *  sheets:[{name, table, valuesView, rows, columns:[{name, label, type, nulls, distinct, distinctExact, min, max, mean,
 *  stddev, quartiles:[q1,median,q3], textFallbacks, scale?, parsedAs?, parsedNulls?, minLength, maxLength,
 *  top:[{value,count}]}], sample:[[…]]}], notes:[{sheet, kind, count, lines, message}]}
 * sheet: only that one (name or table; "" all; NOT_FOUND naming the others). sample_rows of each. out's max bounds it.
 */
int al_dataset_describe(struct sqlite3 *db, struct al_str sheet, int sample_rows, struct al_buf *out,
                        struct al_err *err) AL_MUST_CHECK;

#endif
