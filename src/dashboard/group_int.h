/*
 * What the one scan keeps while rows go by: keys of columns as small numbers, groups of them, a sum for each widget and
 * group, and the same by the chips. Everything is bounded; what is beyond goes back to the widget's own SQL.
 */
#ifndef AL_DASHBOARD_GROUP_INT_H
#define AL_DASHBOARD_GROUP_INT_H

#include "dashboard/scan_int.h"
#include "dashboard/sum.h"

#define AL_NO_KEY UINT32_MAX
#define AL_MAX_KEYS 200000u                 /* of a column, or pairs of two */
#define AL_MAX_KEY_TEXT ((size_t)32 << 20)  /* bytes of a column's keys */
#define AL_CUBE_COMBINATIONS 4096u
#define AL_CUBE_MAP ((uint64_t)1 << 21) /* places for cells, of one grouping */
#define AL_CUBE_LABELS 5000u                /* a widget with more, or more pairs, is not counted again */
#define AL_MAX_AXES (3 * (AL_DASH_WIDGETS + 1) + AL_DASH_CHIPS)
#define AL_MAX_TALLIES (AL_DASH_WIDGETS + 2)

/* --- keys.c: the keys of one column, taken by one bucket --- */
struct al_key_slot {
    uint32_t hash, id;
};
struct al_time_memo; /* texts of times that came lately */
struct al_keys {
    int column, cell; /* of the catalog; of the row */
    enum al_bucket bucket;
    bool year; /* a column of years */
    /* of the present row */
    uint32_t now;  /* AL_NO_KEY: it has none */
    bool timed;    /* it is a time, and */
    int64_t index; /* the number of its bucket */
    /* all of them, in the order in which they came; of times the numbers of their buckets */
    struct al_dash_cell *cells;
    uint32_t n, cap;
    bool full; /* there were more than are kept */
    struct al_key_slot *slots;
    uint32_t mask;
    struct al_arena texts;
    struct al_time_memo *memo;
};
void al_keys_init(struct al_keys *k, int column, int cell, enum al_bucket bucket, bool year);
void al_keys_free(struct al_keys *k);
/* Sets now (and index) by a cell of the row. */
void al_keys_take(struct al_keys *k, const struct al_dash_cell *c);
/* The key as a group shows it: its text is k's own, of a time in the arena. False: no memory. */
bool al_keys_cell(const struct al_keys *k, uint32_t id, struct al_arena *times, struct al_dash_cell *ret);

/* --- ids.c: numbers for pairs --- */
struct al_ids {
    uint64_t *keys; /* by number */
    uint32_t n, cap;
    uint32_t *slots; /* number + 1 */
    uint32_t mask;
};
void al_ids_free(struct al_ids *t);
/* The number of a key, a new one if need be. */
uint32_t al_ids_of(struct al_ids *t, uint64_t key);

/* --- cube.c: numbers for groups by combinations of the chips' values --- */
struct al_cells {
    uint64_t *keys; /* by number: group << 16 | combination */
    uint32_t n, cap;
    uint32_t *map; /* by group and the number of a combination: number + 1 */
    uint32_t groups, stride;
};

/* --- group.c --- */
struct al_grouping {
    int a, b; /* keys, or -1 */
    uint32_t now;
    struct al_ids pairs; /* of a << 32 | b, where there are two */
    bool full;
    bool cube;
    struct al_cells cells;
    uint32_t cell; /* of the present row */
};
struct al_sums {
    struct al_sum *list;
    uint32_t cap;
};
/* Of one cell of the cube. min and max are in sum. */
struct al_cube_sum {
    double sum, lost;
    uint32_t n;
    uint32_t epoch;
};
/* One widget's sums. */
struct al_tally {
    const struct al_widget *w; /* NULL: all rows, for the cube */
    struct al_result *r;
    enum al_agg agg;
    bool wide, over_wide; /* integers are added as reals */
    int grouping;
    int metric, over; /* cells of the row, or -1 */
    int clock;        /* keys, or -1 */
    int64_t last;     /* the clock's */
    uint32_t epoch;
    uint64_t rows, left_out;
    struct al_sums groups, overs;  /* by group */
    struct al_sums labels, series; /* of a cross-tab: what decides which are shown */
    struct al_cube_sum *cells;     /* by cell of the cube */
    struct al_cube_sum *over_cells; /* likewise, of a ratio */
    uint32_t n_cells;              /* held */
    bool own;                      /* too many groups: by its own SQL */
};
struct al_point {
    uint32_t hash;
    double x, y;
};
struct al_points { /* of a scatter */
    const struct al_widget *w;
    struct al_result *r;
    int x, y;
    uint64_t seen;
    struct al_point *heap; /* the largest hash on top */
    size_t n;
};

struct al_scan {
    struct al_dash *d;
    struct al_err *err;
    struct al_arena times; /* texts of times, while results are made */
    int columns[AL_MAX_AXES + 2 * AL_MAX_TALLIES]; /* of the catalog */
    struct al_dash_cell cells[AL_MAX_AXES + 2 * AL_MAX_TALLIES];
    int n_cells;
    struct al_keys keys[AL_MAX_AXES];
    int n_keys;
    struct al_grouping groupings[AL_MAX_TALLIES];
    int n_groupings;
    struct al_tally tallies[AL_MAX_TALLIES];
    int n_tallies;
    struct al_points points[AL_DASH_WIDGETS + 1];
    int n_points;
    int chips[AL_DASH_CHIPS], chip_columns[AL_DASH_CHIPS]; /* keys; columns of the catalog */
    int n_chips;
    uint32_t combination;  /* of the present row: 4 bits a chip, 0 for none */
    uint16_t *combinations; /* numbers of those that were met, from 1 on; NULL: no chips */
    uint32_t n_combinations;
    bool crowded;         /* a chip must go before the next row */
    uint64_t n_cube;      /* cells so far, of all widgets */
};
/* The cell of a column in the row, asked for once. */
int al_scan_cell(struct al_scan *s, int column);
int al_scan_keys(struct al_scan *s, int column, enum al_bucket bucket);
int al_scan_grouping(struct al_scan *s, int a, int b);
/* One row, whose cells are there. */
void al_scan_row(struct al_scan *s);
/* The sum of a group; emptied when it is of an earlier epoch. */
struct al_sum *al_sums_at(struct al_sums *s, uint32_t id, uint32_t epoch);
/* A tally's groups into its result. */
int al_tally_finish(struct al_scan *s, struct al_tally *t) AL_MUST_CHECK;
void al_tally_free(struct al_tally *t);

/* --- cube.c --- */
/* The cells of the present row; after the groups are known. */
void al_cube_row(struct al_scan *s);
void al_cube_add(struct al_scan *s, struct al_tally *t, const struct al_grouping *g);
void al_cube_start(struct al_scan *s); /* the chips are known */
void al_cells_free(struct al_cells *c);
/* A grouping is not counted again; its cells go. */
void al_cube_leave(struct al_scan *s, int grouping);
/* d->cube from what is there, or NULL. */
int al_cube_build(struct al_scan *s) AL_MUST_CHECK;

#endif
