/* Tables of text for people: columns aligned, fitted into the terminal's width, uncut in a pipe. */
#ifndef AL_CLI_TABLE_H
#define AL_CLI_TABLE_H

#include "cli/reply.h"

#define AL_TABLE_COLUMNS 64

struct al_table_cell {
    char *text;
    enum al_style style;
};

struct al_table {
    const char *const *heads; /* NULL-terminated, at most AL_TABLE_COLUMNS */
    unsigned n_columns;
    uint64_t right; /* bit i: column i is aligned to the right */
    uint64_t fixed; /* bit i: column i is never cut (ids) */
    struct al_table_cell *cells;
    size_t n_cells, cap;
};

void al_table_init(struct al_table *t, const char *const *heads);
void al_table_free(struct al_table *t);
/* Cells in reading order; copies. NULL is an empty cell. */
void al_table_add(struct al_table *t, const char *text);
void al_table_add_style(struct al_table *t, const char *text, enum al_style style);
void al_table_add_str(struct al_table *t, struct al_str text);
void al_table_addf(struct al_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Heads and rows; nothing at all without rows. */
void al_table_print(const struct al_app *app, struct al_table *t, struct al_buf *out);

#define autotable __attribute__((cleanup(al_table_free)))

#endif
