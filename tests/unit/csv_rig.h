/* Reads bytes as CSV into text that a test can compare, with the notes. */
#ifndef AL_TESTS_CSV_RIG_H
#define AL_TESTS_CSV_RIG_H

#include "table/readers.h"

struct csv_rig {
    struct al_table_sink sink;
    struct al_table_opts opts;
    struct al_table_found found;
    bool gzip, tsv;
    struct al_buf
        text; /* "=a|b" for the columns, then "1|2" a row; \n, \r, \t and \0 inside of cells as escapes */
    struct al_buf raw; /* each cell: 4 bytes of length, then itself; for comparing cell by cell */
    size_t columns, rows, cells;
    uint64_t first_line, last_line; /* of rows */
    unsigned notes[AL_NOTE_COUNT];
    uint64_t note_line[AL_NOTE_COUNT]; /* of the first of a kind */
    char note_text[AL_NOTE_COUNT][512];
    uint64_t progress;
    bool labelled;      /* some column has a name */
    size_t stop_at_row; /* the sink fails there; 0: never */
    bool quiet;         /* counts only */
    char encoding[40], sha256[65];
    struct al_err err;
};
void csv_rig_init(struct csv_rig *r);
void csv_rig_free(struct csv_rig *r);
/* 0, or -1 with r->err. Forgets what was read before; keeps opts. */
int csv_rig_read(struct csv_rig *r, struct al_str bytes);
int csv_rig_read_fd(struct csv_rig *r, int fd);
const char *csv_rig_text(struct csv_rig *r);
int csv_rig_fd(struct al_str bytes); /* a memory file with these bytes, at its start */

/* The corpus beside the tree, or NULL. */
const char *csv_rig_corpus(char room[4096]);

#endif
