/* Workbooks for tests: a ZIP writer that can also lie, and the parts that most of them share. */
#ifndef AL_TESTS_XLSX_MAKE_H
#define AL_TESTS_XLSX_MAKE_H

#include "table/readers.h"

struct make {
    struct al_buf file, directory;
    unsigned n;
    /* What the next entry says of itself; 0: the truth. */
    unsigned method; /* 8: packed */
    unsigned flags;
    uint64_t claim_unpacked;
    bool zip64; /* sizes and places by ZIP64 fields */
};
void make_begin(struct make *m);
void make_add(struct make *m, const char *name, const char *text, size_t n);
void make_part(struct make *m, const char *name, const char *text);
int make_end(struct make *m); /* a descriptor of the archive; frees m */

/* A workbook of one sheet "S" with these rows (what is in <sheetData>); strings and styles may be NULL:
 * without them. strings: the <si> elements; styles: what is in <styleSheet>. */
int make_sheet(const char *rows, const char *strings, const char *styles);
extern const char make_rels[], make_book[], make_book_rels[];

/*
 * What a reader pushes, as text: "[S]", "a|b" for the columns, "2: x|-" for a row, "!kind@line" for the first
 * note of a kind. A failure is "CODE: message".
 */
struct seen {
    struct al_buf text;
    struct al_table_sink sink;
    unsigned notes[AL_NOTE_COUNT];
    uint64_t rows, cells;
    bool numbers_only; /* count, keep no text */
};
void seen_init(struct seen *s);
void seen_free(struct seen *s);
void seen_read(struct seen *s, int fd, const struct al_table_opts *opts); /* closes fd */
const char *seen_text(struct seen *s);

#endif
