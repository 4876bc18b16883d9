/* The parts of the CSV reader: scanning, repair of odd records, dialect, header. For csv*.c. */
#ifndef AL_TABLE_CSV_INT_H
#define AL_TABLE_CSV_INT_H

#include "table/head.h"
#include "table/readers.h"

#define AL_CSV_MAX_CELLS 2048 /* of a record; what is beyond is beyond AL_TABLE_MAX_EXTRA, too */
#define AL_CSV_MAX_RECORD ((size_t)8 << 20) /* INGEST_LIMIT beyond, naming the row */
#define AL_CSV_PAD 64                       /* readable bytes behind the window */

struct al_csv_dialect {
    char delim;  /* '\n' for a file of one column */
    char quote;  /* '"' or '\'' */
    bool escape; /* a backslash before a quote makes it text */
    bool space;  /* one blank behind each delimiter is not part of the cell */
};

/* How a quote that neither opens nor ends a field well is understood. */
enum al_csv_mode {
    AL_CSV_INNER,    /* it is text, and the field goes on */
    AL_CSV_CLOSE,    /* it ended the field, and what follows is added to it */
    AL_CSV_NODOUBLE, /* as INNER, and two quotes are two quotes */
};

/* The slow parser: any record, any reading of it. */
struct al_csv_span {
    size_t at, n; /* in text */
    bool quoted;
};
struct al_csv_slow {
    const struct al_csv_dialect *d;
    enum al_csv_mode mode;
    const char *literal_at;   /* a quote here is text */
    const char *literal_from; /* every quote from here on is text */
    /* What was found: */
    struct al_csv_span *spans; /* AL_CSV_MAX_CELLS of them; n may be more */
    size_t n;
    struct al_buf text;
    const char *end;     /* behind the record */
    const char *trouble; /* the quote that opened the first field that went wrong */
    unsigned stray;
    bool whole; /* it ended within the text; not in an open quote */
    uint64_t lines;
};
void al_csv_slow_init(struct al_csv_slow *k, const struct al_csv_dialect *d);
void al_csv_slow_fini(struct al_csv_slow *k);
/* One record at p, which is before e. eof: nothing comes behind e. */
void al_csv_slow_record(struct al_csv_slow *k, const char *p, const char *e, bool eof);

/* The fast one: records of a window, until one is odd. */
enum al_csv_got {
    AL_CSV_ROW,
    AL_CSV_MORE, /* the record does not end in the window, which is not the last */
    AL_CSV_ODD,  /* a quote that needs a thought; csv->open is where its field began, NULL none */
    AL_CSV_OPEN, /* the quote at csv->open has no end */
    AL_CSV_LONG, /* a cell beyond AL_TABLE_MAX_CELL */
};
struct al_csv {
    struct al_source *src;
    const struct al_table_opts *opts;
    const struct al_table_sink *sink;
    struct al_table_found *found;
    struct al_csv_dialect d;
    char *win;
    size_t cap;
    char *p, *e; /* what of the window is not read yet; AL_CSV_PAD bytes behind e are readable */
    bool eof;
    bool nul;      /* there are zero bytes in the window */
    uint64_t line; /* of p, from 1 */
    uint64_t row;  /* given out */
    size_t width;  /* of the header; 0: not known yet */
    size_t tail;   /* of them, the last, which hold nothing: no columns */
    struct al_cell *cells;
    size_t n;
    size_t escaped[AL_CSV_MAX_CELLS]; /* indices of cells with doubled or escaped quotes */
    size_t n_escaped;
    char *next;     /* behind the record */
    uint64_t lines; /* of the record */
    bool stray;     /* the record has a quote inside an unquoted field */
    char *open;
    bool held; /* the record at p is read, its quotes are unescaped in place: it cannot be read again */
    struct al_csv_slow slow, best;
    uint64_t consumed,
        spent; /* bytes read, and bytes that repairs looked at: bounds what hostile quotes cost */
};
enum al_csv_got al_csv_scan(struct al_csv *c);
/* Reads the record at c->p anew, when the fast parser could not; c->next, n, cells and lines are set. Notes
 * it. False: more text is needed to tell. */
bool al_csv_repair(struct al_csv *c, enum al_csv_got why);

/* Delimiter, quote and escape by the sample. tab: TSV. */
void al_csv_sniff(struct al_csv *c, struct al_str sample, bool whole, bool tab);
/* Where the table begins, and what its header is. */
struct al_csv_head {
    const char *start;
    uint64_t line;
    size_t width; /* cells of most rows */
    struct al_head head;
};
void al_csv_find_head(struct al_csv *c, struct al_str sample, bool whole, struct al_csv_head *ret);

#endif
