/*
 * Rows out of files that nobody vouches for: CSV, TSV, JSON, JSON Lines, XLSX, and gzip of the first four. The readers
 * push rows into a sink. They know nothing of types, SQLite or processes, allocate within stated bounds whatever the
 * file says, and run in a sealed worker.
 */
#ifndef AL_TABLE_TABLE_H
#define AL_TABLE_TABLE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

#define AL_TABLE_MAX_COLUMNS 1000
#define AL_TABLE_MAX_EXTRA 16               /* columns that are added for cells beyond the header */
#define AL_TABLE_MAX_CELL ((size_t)1 << 20) /* UTF-8 bytes of one cell: INGEST_LIMIT beyond, naming the row */

enum al_table_format { AL_TABLE_CSV, AL_TABLE_TSV, AL_TABLE_JSON, AL_TABLE_JSONL, AL_TABLE_XLSX };
const char *al_table_format_name(enum al_table_format f); /* "csv" … "xlsx" */

/* What was odd. X(name, id): the id is what people and programs read. */
#define AL_NOTES(X)                                                                                                   \
    X(SHORT_ROWS, "short_rows")               /* padded with NULL */                                                  \
    X(LONG_ROWS, "long_rows")                 /* surplus kept in extra_1 … */                                         \
    X(CUT_ROWS, "cut_rows")                   /* surplus beyond AL_TABLE_MAX_EXTRA, not kept */                       \
    X(UNTERMINATED_QUOTE, "unterminated_quote") /* that line was taken literally */                                   \
    X(STRAY_QUOTE, "stray_quote")             /* a quote inside a field, or text behind a closing one: kept */        \
    X(NUL_BYTES, "nul_bytes")                 /* kept */                                                              \
    X(INVALID_BYTES, "invalid_bytes")         /* each became U+FFFD */                                                \
    X(ENCODING, "encoding")                   /* which one was chosen, and why, where it is not plain UTF-8 */        \
    X(BLANK_LINES, "blank_lines")             /* skipped */                                                           \
    X(COMMENT_LINES, "comment_lines")         /* skipped */                                                           \
    X(PREAMBLE, "preamble")                   /* lines before the table; the message has their text */                \
    X(HEADER, "header")                       /* there is none, or it has more than one line */                       \
    X(RENAMED_COLUMNS, "renamed_columns")     /* empty, double or reserved headers */                                 \
    X(DELIMITER, "delimiter")                 /* an unusual one, or a near tie */                                     \
    X(MIXED_DECIMALS, "mixed_decimals")       /* 1.5 and 1,5 in one column */                                         \
    X(TEXT_IN_NUMBERS, "text_in_numbers")     /* cells kept as text in a column of numbers */                         \
    X(SCALE_ENDED, "scale_ended")             /* 1.50 among 1.5: trailing zeros kept as text */                       \
    X(MIXED_DATES, "mixed_dates")             /* dates in more than one format in a column */                         \
    X(DUPLICATE_KEYS, "duplicate_keys")       /* JSON: each but the last kept under the note's count */               \
    X(BIG_NUMBERS, "big_numbers")             /* beyond 2^53 or a double: kept as text */                             \
    X(NOT_OBJECTS, "not_objects")             /* JSON records that are no objects: in the column value */             \
    X(EMPTY_RECORDS, "empty_records")         /* JSON: {} is a row of NULLs */                                        \
    X(WRAPPER, "wrapper")                     /* JSON: rows were found under a key; what else was there */            \
    X(MERGED_CELLS, "merged_cells")                                                                                   \
    X(HIDDEN_SHEET, "hidden_sheet")                                                                                   \
    X(OTHER_SHEETS, "other_sheets")           /* charts, macros, dialogs: not read */                                 \
    X(EMPTY_SHEET, "empty_sheet")                                                                                     \
    X(NO_CACHED_VALUE, "no_cached_value")     /* formulas that were never computed: NULL */                           \
    X(ERROR_CELLS, "error_cells")             /* #N/A …: kept as text */                                              \
    X(DATE_RANGE, "date_range")               /* serials that are no date of Excel's: kept as numbers */              \
    X(MACROS, "macros")                       /* .xlsm: data read, macros ignored */                                  \
    X(OTHER, "other")

enum al_note {
#define AL_NOTE_ENUM(name, id) AL_NOTE_##name,
    AL_NOTES(AL_NOTE_ENUM)
#undef AL_NOTE_ENUM
    AL_NOTE_COUNT
};
const char *al_note_id(enum al_note n);

/* How sure the source is about a cell. */
enum al_cell_kind {
    AL_CELL_TEXT,   /* a text file's cell, or a spreadsheet's value as text: the dataset types it; empty is NULL */
    AL_CELL_STRING, /* a JSON string: never becomes a number; empty is an empty string */
    AL_CELL_NUMBER, /* a JSON number: its literal */
    AL_CELL_NULL,
};
struct al_cell {
    struct al_str text; /* valid UTF-8 (NUL bytes may be in it); a view for the call */
    enum al_cell_kind kind;
};

/* Where rows go. Each returns 0, or -1 with err, which ends the reading with that error. Lines and rows count from 1. */
struct al_table_sink {
    /* A sheet begins: "data" for everything but a workbook. */
    int (*sheet)(void *ud, struct al_str name, struct al_err *err);
    /* Its columns, once, before its rows: the headers as they stood ("" where there is none: the sink names it). */
    int (*columns)(void *ud, const struct al_str *labels, size_t n, struct al_err *err);
    /* A column that came late (JSON). */
    int (*late_column)(void *ud, struct al_str label, struct al_err *err);
    /* One row of any width; what is too short or too long is the sink's to settle and to note. line is where it stands in
     * the file (0 when lines mean nothing, as in a workbook: then the sink counts rows). */
    int (*row)(void *ud, const struct al_cell *cells, size_t n, uint64_t line, struct al_err *err);
    /* Something odd at a line (0: the file as a whole). text is for people; one text a kind is kept, the first. */
    void (*note)(void *ud, enum al_note kind, uint64_t line, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
    /* Bytes of the file read so far; -1 ends the reading (CANCELLED, or a limit). Called at least every MiB. */
    int (*progress)(void *ud, uint64_t bytes, struct al_err *err);
    void *ud;
};

/* What the person forced; zero means: find out. */
struct al_table_opts {
    char delimiter;         /* 0: find out */
    signed char header;     /* 1 yes, 0 find out, -1 no */
    char encoding[40];      /* an ICU converter name; "": find out */
    uint32_t skip_rows;     /* lines (rows of a sheet) to leave out before the table */
    bool has_skip_rows;     /* given, so that nothing is taken for a preamble beyond them */
    char sheet[256];        /* of a workbook: its name; "": all of them */
    uint64_t max_bytes;     /* of the file, and of what it unpacks to; INGEST_LIMIT naming analysis.data.maxUploadBytes */
};

/* What was found out, for the dataset's metadata. */
struct al_table_found {
    enum al_table_format format;
    bool gzip;
    char encoding[40];  /* "UTF-8", "UTF-16LE", "windows-1252", …; "" for a workbook */
    char delimiter;     /* 0 where there is none */
};

/*
 * Which format a file is, by its first bytes (up to 64 KiB) and, where those do not decide, by its name. Fails with
 * DATASET_UNSUPPORTED saying what the file is and what to do (a PDF, an HTML page saved as .xls, an old .xls, an
 * encrypted workbook, ODS, Parquet, SQLite, an image, a program …).
 */
int al_table_detect(struct al_str name, struct al_str head, struct al_table_found *ret, struct al_err *err) AL_MUST_CHECK;

/*
 * Reads all of fd (a regular file, at offset 0, read once in order, but for a workbook, which is read by pread), pushes
 * its rows into sink, and says what it was. sha256 is of the file's bytes, as they were read. Fails with
 * DATASET_UNSUPPORTED, INGEST_INVALID (with line or cell), INGEST_LIMIT (naming the key), or what the sink failed with.
 */
int al_table_read(int fd, struct al_str name, const struct al_table_opts *opts, const struct al_table_sink *sink,
                  struct al_table_found *ret, char sha256[65], struct al_err *err) AL_MUST_CHECK;

/* Before the process is sealed: loads what the readers need from libraries (ICU, by dlopen). Without ICU, encodings other
 * than UTF-8, UTF-16, UTF-32, latin1 and windows-1252 are DATASET_UNSUPPORTED, and identifiers fall back to ASCII. */
void al_table_prepare(void);

#endif
