/*
 * The workbook reader's parts (ECMA-376-1:2016; section numbers are its own). xlsx_xml.c scans, xlsx_book.c
 * finds the parts, xlsx_style.c and xlsx_value.c know what a number looks like, xlsx_strings.c holds the
 * shared strings, xlsx_sheet.c gives rows, xlsx_table.c finds the table in them, xlsx.c drives.
 */
#ifndef AL_TABLE_XLSX_INT_H
#define AL_TABLE_XLSX_INT_H

#include "table/head.h"
#include "table/readers.h"
#include "table/zip.h"

#define AL_XLSX_MAX_SMALL \
    ((uint64_t)16 << 20) /* bytes of a part that is neither a sheet nor the shared strings */
#define AL_XLSX_MAX_STRINGS ((size_t)256 << 20) /* bytes of all shared strings, with their index */
#define AL_XLSX_MAX_STYLES 65536                /* cell formats; Excel's own limit is 65,490 */
#define AL_XLSX_MAX_SHEETS 10000                /* named in the workbook */
#define AL_XLSX_COLUMNS 16384                   /* Excel's own: XFD */
#define AL_XLSX_ROWS 1048576                    /* Excel's own */
#define AL_XLSX_MAX_ROW ((size_t)64 << 20)      /* bytes of the texts of a row */

/* ---- XML ---- */

#define AL_XML_DEPTH 256
#define AL_XML_ATTRS 64
#define AL_XML_BUFFER ((size_t)128 << 10) /* no tag is longer */
#define AL_XML_SLACK 64                   /* zero bytes behind what was read, for look-ahead */

enum al_xml_kind {
    AL_XML_EOF,
    AL_XML_OPEN,
    AL_XML_CLOSE,
    AL_XML_TEXT
};
struct al_xml_attr {
    struct al_str name, value; /* local name; the value as it stands, entities and all */
};

/*
 * Elements, attributes and text of one part, one after the other, in a buffer of fixed size. What it does not
 * know: DTDs (refused, and with them all entities but the five and numbers), and namespaces beyond leaving
 * prefixes away, which is how transitional, strict and prefixed documents read alike. UTF-8 and UTF-16.
 */
struct al_xml {
    struct al_unzip *in;
    const struct al_table_sink *sink; /* for progress; may be NULL */
    const struct al_zip *zip;
    char part[160]; /* its name for messages */
    char *buf;      /* AL_XML_BUFFER + AL_XML_SLACK */
    size_t pos, end;
    uint64_t base; /* bytes before buf */
    bool eof, started, in_cdata;
    unsigned char utf16; /* 0 no, 1 little, 2 big endian */
    unsigned char *raw;  /* of UTF-16, before it became UTF-8 */
    size_t n_raw;
    /* The token, valid until the next. */
    enum al_xml_kind kind;
    struct al_str name; /* local */
    struct al_xml_attr attr[AL_XML_ATTRS];
    unsigned n_attrs;
    struct al_str text; /* a piece of character data */
    bool cdata;         /* entities in text are no entities */
    bool empty;         /* <a/>: its close comes next */
    bool rooted;        /* the root element was closed */
    unsigned depth;
    uint32_t stack[AL_XML_DEPTH]; /* hashes of the open elements' names */
};

int al_xml_open(struct al_zip *z, const struct al_zip_entry *e, const struct al_table_sink *sink,
                struct al_xml **ret, struct al_err *err) AL_MUST_CHECK;
void al_xml_free(struct al_xml *x);
int al_xml_next(struct al_xml *x, struct al_err *err) AL_MUST_CHECK;
/* More bytes behind those at pos, which moves to the front. False with no error: there are none. */
int al_xml_more(struct al_xml *x, struct al_err *err) AL_MUST_CHECK;
/* After AL_XML_OPEN: leaves the element with all in it. */
int al_xml_skip(struct al_xml *x, struct al_err *err) AL_MUST_CHECK;
struct al_str al_xml_attr(const struct al_xml *x, const char *name); /* .p NULL: not there */
/* Appends text without its entities, line ends as XML 1.0 2.11 has them. */
int al_xml_text(const struct al_xml *x, struct al_str raw, bool cdata, struct al_buf *out,
                struct al_err *err) AL_MUST_CHECK;
int al_xml_broken(const struct al_xml *x, struct al_err *err,
                  const char *what); /* INGEST_INVALID with the place */
/* Appends the text of the open element up to its close: of a <v>, <t> or <f>. */
int al_xml_content(struct al_xml *x, struct al_buf *out, struct al_err *err) AL_MUST_CHECK;

/* ---- workbook ---- */

struct al_xlsx_sheet {
    char *name; /* UTF-8 */
    const struct al_zip_entry *part;
    bool hidden;
    bool other;       /* no worksheet: a chart, a macro sheet, a dialog */
    const char *kind; /* of other: "chartsheet" … */
};

struct al_xlsx_style {
    unsigned char kind;   /* enum al_xlsx_kind */
    signed char decimals; /* fixed number of digits behind the point; -1: none */
};
enum al_xlsx_kind {
    AL_XLSX_NUMBER,
    AL_XLSX_DATE,
    AL_XLSX_TIME,
    AL_XLSX_ELAPSED
};

struct al_xlsx_strings {
    char *bytes;
    uint32_t *start; /* n + 1 */
    size_t n;
};

struct al_xlsx {
    struct al_zip *zip;
    const struct al_table_opts *opts;
    const struct al_table_sink *sink;
    struct al_xlsx_sheet *sheets;
    size_t n_sheets, cap_sheets;
    const struct al_zip_entry *styles_part, *strings_part;
    bool date1904, macros;
    struct al_xlsx_style *styles; /* by cellXfs index */
    size_t n_styles;
    struct al_xlsx_strings strings;
};

int al_xlsx_book(struct al_xlsx *w, struct al_err *err) AL_MUST_CHECK; /* sheets, parts, date1904 */
int al_xlsx_styles(struct al_xlsx *w, struct al_err *err) AL_MUST_CHECK;
int al_xlsx_strings(struct al_xlsx *w, struct al_err *err) AL_MUST_CHECK;

/* ---- values ---- */

/* What cells of a number format hold (18.8.30, 18.8.31). Pure. */
struct al_xlsx_style al_xlsx_format(struct al_str code);
struct al_xlsx_style al_xlsx_builtin(unsigned id);

/* Whether s is written as a number, and its value. */
bool al_xlsx_number(struct al_str s, double *ret);
/* Prints d: the shortest decimal that reads back, at least decimals digits behind the point where it has no
 * more than that. Returns AL_CELL_TEXT, or AL_CELL_NUMBER for what only a JSON literal says exactly: more
 * than 15 digits, or an exponent. */
enum al_cell_kind al_xlsx_print(double d, int decimals, char buf[48], size_t *ret_n);
/* Prints a date serial. False: no date of Excel's. */
bool al_xlsx_date(double serial, enum al_xlsx_kind kind, bool date1904, char buf[48], size_t *ret_n);
/* 22.9.2.19 ST_Xstring: _xHHHH_ becomes that UTF-16 unit, in place. The new length, never more. */
size_t al_xlsx_unescape(char *s, size_t n);

/* ---- rows ---- */

struct al_xlsx_cell {
    const char *shared; /* into the shared strings; NULL: at off of the batch's text */
    uint32_t off, n;
    uint16_t column; /* from 0 */
    unsigned char kind;
};
struct al_xlsx_row {
    uint64_t number; /* from 1 */
    uint32_t first, n;
};
struct al_xlsx_batch {
    struct al_xlsx_row *rows;
    struct al_xlsx_cell *cells;
    size_t n_rows, cap_rows, n_cells, cap_cells;
    struct al_buf text;
};
void al_xlsx_batch_clear(struct al_xlsx_batch *b);
void al_xlsx_batch_free(struct al_xlsx_batch *b);
static inline struct al_str al_xlsx_cell_text(const struct al_xlsx_batch *b, const struct al_xlsx_cell *c)
{
    return (struct al_str){c->shared ? c->shared : b->text.p + c->off, c->n};
}

struct al_xlsx_reader; /* of one sheet */
/* quiet: a pass that only looks, and notes nothing. */
int al_xlsx_reader_open(struct al_xlsx *w, const struct al_xlsx_sheet *sheet, bool quiet,
                        struct al_xlsx_reader **ret, struct al_err *err) AL_MUST_CHECK;
/* Appends the next row that has a value to b. 0 at the end, where all notes were given. */
int al_xlsx_reader_row(struct al_xlsx_reader *r, struct al_xlsx_batch *b, struct al_err *err) AL_MUST_CHECK;
/* The columns that the sheet says it has, from 0; false where it says nothing. Known after the first row. */
bool al_xlsx_reader_dimension(const struct al_xlsx_reader *r, unsigned *ret_first, unsigned *ret_last);
void al_xlsx_reader_free(struct al_xlsx_reader *r);

/* Which of the first rows, in order, is the header. Pure. */
struct al_xlsx_head {
    size_t preamble;      /* rows above the table */
    unsigned header_rows; /* from there on, that hold the labels */
    bool grouped;         /* a label of the first of them goes for the empty cells behind it, too */
};
void al_xlsx_find_head(const struct al_xlsx_batch *b, const struct al_table_opts *opts,
                       struct al_xlsx_head *ret);

/* A sheet into the sink. */
int al_xlsx_table(struct al_xlsx *w, const struct al_xlsx_sheet *sheet, struct al_err *err) AL_MUST_CHECK;

#endif
