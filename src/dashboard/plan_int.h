/* What the files of the plan share: plan*.c, plan_json*.c, repair*.c, titles.c. */
#ifndef AL_DASHBOARD_PLAN_INT_H
#define AL_DASHBOARD_PLAN_INT_H

#include "dashboard/dashboard_int.h"

#define PLAN_READ 100      /* widgets of a plan that are looked at */
#define PLAN_CANDIDATES 64 /* widgets that a fresh plan chooses from */
#define PLAN_ALL_BARS 12   /* so many bars are shown rather than the first ten of them */
#define PLAN_RANKING 10

/* --- plan_measure.c: columns and what may be done with them --- */
static inline const struct al_dash_column *al_dash_col(const struct al_dash *d, int c)
{
    return &d->catalog.columns[c];
}
/* May its values be groups of rows: names, kinds, few integers? Times are not meant. */
bool al_col_groups(const struct al_dash_column *c);
/* A column of 0 and 1: its average is a share. */
bool al_col_flag(const struct al_dash_column *c);
/* May it be added up or averaged at all: a measure, or a flag? */
bool al_col_number(const struct al_dash_column *c);
/* Few enough values for chips. */
bool al_col_chip(const struct al_dash_column *c);
/* Nearly each row has a value of its own. */
bool al_col_unique(const struct al_dash *d, const struct al_dash_column *c);
/* 1, 2, 3 … of the rows: it names them and says nothing of them. */
bool al_col_running(const struct al_dash *d, const struct al_dash_column *c);
/* The time column of a file that lists the same things for each period, or -1: levels count in its last period only. Not so
 * in a list of things that has a date for each (customers and the day they came). */
int al_dash_clock(const struct al_dash *d);
/* Buckets from the first to the last time, both counted; 0: it is not known. */
uint64_t al_bucket_count(const struct al_dash_column *c, enum al_bucket b);
/* The bucket that was asked for when the column has it and it gives no more than AL_DASH_BUCKETS, else the next coarser one;
 * NONE asks for what suits the span. */
enum al_bucket al_bucket_fit(const struct al_dash_column *c, enum al_bucket wanted);
/* The bucket in which each date of the column has one of its own, so that levels may be summed in it; NONE: there are too many
 * dates for that. */
enum al_bucket al_bucket_level(const struct al_dash_column *c);
/* Is it the sum of a level? */
bool al_widget_level(const struct al_dash *d, const struct al_widget *w);
/* Appends up to five names of columns that are like this one (true), else the first ones (false): "a, b, c". */
bool al_near_columns(const struct al_dash *d, struct al_str name, struct al_buf *out);

/* --- plan_widgets.c --- */
/* A widget of nothing: counts rows, all columns -1. Its id and title are empty. */
struct al_widget al_widget_of(enum al_widget_type type, enum al_widget_role role);
/* Column c as metric (-1: rows), put together as it may be: a sum, an average, the last period's sum. Only `agg`, `metric`,
 * `over`, `latest` and `clock` change. */
void al_widget_measure(const struct al_dash *d, struct al_widget *w, int c);
/* The same numbers by the same groups; with `strict` drawn the same way, too. */
bool al_widget_same(const struct al_widget *a, const struct al_widget *b, bool strict);
/* An id of what it shows (kebab, ≤ 40 characters) that none of the first n widgets has. */
void al_widget_name(const struct al_dash *d, struct al_widget *w, const struct al_widget *list, size_t n);
/* May the widget's parts be put together: sums and counts? */
static inline bool al_widget_adds(const struct al_widget *w)
{
    return w->agg == AL_AGG_SUM || w->agg == AL_AGG_COUNT;
}
/* Charts of a metric (a widget of which only the metric is looked at). */
struct al_widget al_widget_trend(const struct al_dash *d, const struct al_widget *metric, int time, int by);
struct al_widget al_widget_groups(const struct al_dash *d, const struct al_widget *metric, int dimension);
struct al_widget al_widget_parts(const struct al_dash *d, const struct al_widget *metric, int dimension);
struct al_widget al_widget_cross(const struct al_dash *d, const struct al_widget *metric, int a, int b);
/* How many bars, and in which order, suit a dimension. */
void al_widget_order(const struct al_dash *d, struct al_widget *w);

/* --- titles.c --- */
/* Appends what al_title_widget would give. */
void al_title_text(const struct al_dash *d, const struct al_widget *w, struct al_buf *out);
/* Is it a title that the templates give for this widget in any language, or gave before its aggregation, bucket or kind were
 * edited? Then it is made anew. */
bool al_title_is_made(struct al_dash *d, const struct al_widget *w, struct al_str title);
bool al_title_page_is_made(struct al_dash *d, struct al_str title);

/* --- plan_by.c --- */
/* The two columns of a cross-tab from a request; INVALID_INPUT names what is wrong and what could be. */
int al_by_read(const struct al_dash *d, const struct al_json *by, int ret[2], struct al_err *err) AL_MUST_CHECK;

/* --- repair.c --- */
/* Holds one widget to the rules. False: it cannot be; a note says why. */
bool al_widget_repair(struct al_dash *d, struct al_widget *w);
/* No two alike, at most six figures and twelve widgets, ids that differ. Returns how many are left, in their order. */
size_t al_widgets_fit(struct al_dash *d, struct al_widget *list, size_t n);

/* --- repair_note.c --- */
/* A note in the plan's language; gaps are shortened and made visible. */
void al_plan_note(struct al_dash *d, enum al_text_id id, const struct al_str *gaps, size_t n);
#define AL_NOTE(d, id, ...)                                                                          \
    al_plan_note((d), AL_TEXT_##id, (const struct al_str[]){__VA_ARGS__},                            \
                 sizeof((const struct al_str[]){__VA_ARGS__}) / sizeof(struct al_str))

#endif
