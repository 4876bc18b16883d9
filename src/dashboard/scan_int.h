/*
 * The numbers of the widgets. Groups come from the one scan (scan.c, group.c) or from a widget's own SQL (scan_own.c); what
 * is shown of them is decided in one place (finish.c).
 */
#ifndef AL_DASHBOARD_SCAN_INT_H
#define AL_DASHBOARD_SCAN_INT_H

#include "dashboard/bucket_int.h"
#include "dashboard/sql_int.h"

struct sqlite3_stmt;

/* --- cell_order.c: keys and values as SQLite compares and prints them --- */
/* Nothing, then numbers (integers and reals among each other), then texts by their bytes. */
int al_dash_cell_cmp(const struct al_dash_cell *a, const struct al_dash_cell *b);
/* Column i of the present row; its text is SQLite's until the next step. Blobs are nothing. */
void al_dash_cell_of(struct sqlite3_stmt *s, int i, struct al_dash_cell *ret);
#define AL_DASH_KEY_BYTES 2048 /* of a key in results; longer ones are cut, pages show less anyway */
/* A key as text: numbers as they print. In the arena; {NULL, 0} when that is full. */
struct al_str al_dash_cell_str(struct al_arena *a, const struct al_dash_cell *c);
double al_dash_cell_double(const struct al_dash_cell *c); /* NAN: none, or beyond all numbers */
/* Where a key stands in the natural order; 0 for what has none. */
double al_natural_of(enum al_dash_natural n, const struct al_dash_cell *c);

struct al_group {
    struct al_dash_cell label, series, value;
};
/* Keys of one axis of a cross-tab, each with what decides if it is shown. */
struct al_total {
    struct al_dash_cell key, weight;
};
struct al_groups {
    struct al_group *list;
    size_t n;
    struct al_total *labels, *series; /* of a cross-tab; labels only where no time is the axis */
    size_t n_labels, n_series;
    bool chosen; /* by SQL: list and totals hold what is shown, in order, and what follows counts the rest */
    uint64_t in_all;
    bool has_rest;
    double rest; /* of the groups that are not shown, where Other may be */
};
/* Puts groups into a result: order, limit, Other, the gaps of a time axis. Sorts what it is given. */
int al_finish(struct al_dash *d, const struct al_widget *w, struct al_groups *g, struct al_result *r,
              struct al_err *err) AL_MUST_CHECK;

/* The widget by its own SQL. 0: r has its numbers, or r->failed; -1: the build cannot go on. */
int al_scan_own(struct al_dash *d, const struct al_widget *w, struct al_result *r, struct al_err *err) AL_MUST_CHECK;
/* Why a statement failed: 0 with r->failed (static) when only this widget is lost, else -1 and err. */
int al_scan_failed(struct al_dash *d, struct al_result *r, struct al_err *err) AL_MUST_CHECK;
int al_scan_no_memory(struct al_err *err);

#endif
