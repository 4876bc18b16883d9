/* What a fresh plan chooses from, and what it has chosen: plan.c, plan_choice.c. */
#ifndef AL_DASHBOARD_PLAN_CHOICE_H
#define AL_DASHBOARD_PLAN_CHOICE_H

#include "dashboard/plan_int.h"

struct choice {
    struct al_dash *d;
    struct al_widget list[PLAN_CANDIDATES]; /* the most wanted first */
    size_t n;
    struct al_widget lead;  /* a metric; counts rows without measures */
    struct al_widget ratio; /* a second metric; its metric is -1: none */
    int time;       /* columns, or -1 */
    int ranking;
    int parts;      /* for the composition */
    int series;     /* small enough for lines by it */
    int entity;     /* the name of what a row is */
    bool time_named; /* the goal wants it by time */
    bool no_rows;
    int pins[AL_DASH_FILTERS]; /* columns that a filter of the request holds to one value */
    size_t n_pins;
};

/* Puts what the goal names to the front of the shortlists, and chooses the columns. */
void choice_make(struct choice *x, struct al_dash *d);
/* A column as the goal wants it: its average when it says so. */
struct al_widget choice_metric(const struct choice *x, int column);
/* May be the groups of a chart: at least two values, and not held to one by a filter. */
bool choice_groups(const struct choice *x, int column);
/* Is it a part of a date, as a month is: of the last period there is only one? */
bool choice_of_time(const struct choice *x, int column);
/* Are its frequent values equally frequent, as far as that is known? */
bool choice_even(const struct al_dash_column *c);
/* Unless it says what another one says already. */
void choice_add(struct choice *x, struct al_widget w);
void choice_table(const struct choice *x, struct al_widget *w);

/* plan_total.c: leaves out the rows of values that are the sum of all others, by filters with notes; where the person
 * has filters of their own for that column it is only said. The plan's filters have been read. */
void al_plan_totals(struct al_dash *d);

#endif
