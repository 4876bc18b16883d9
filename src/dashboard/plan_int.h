/* What the files of the plan share: plan*.c, plan_json.c, repair*.c, titles.c. */
#ifndef AL_DASHBOARD_PLAN_INT_H
#define AL_DASHBOARD_PLAN_INT_H

#include "dashboard/dashboard_int.h"

/* A widget of nothing: all columns -1. Its id and title are empty. */
struct al_widget al_widget_of(enum al_widget_type type, enum al_widget_role role);
/* An id from what the widget shows (kebab, ≤ 40 characters) that no other widget of the plan has. */
void al_widget_name(const struct al_dash *d, struct al_widget *w);
/* Column c as metric (-1: rows), put together as it may be: a sum, an average, the last period's sum. Only `agg`, `metric`,
 * `latest` and `clock` change. A sum over a time axis is the caller's to make of a level. */
void al_widget_measure(const struct al_dash *d, struct al_widget *w, int c);

static inline const struct al_dash_column *al_dash_col(const struct al_dash *d, int c)
{
    return &d->catalog.columns[c];
}
/* May its values be groups: at least one, not too many, no measure? */
static inline bool al_col_groups(const struct al_dash_column *c)
{
    return c->role == AL_ROLE_DIMENSION || c->role == AL_ROLE_BOOLEAN || c->role == AL_ROLE_TEXT;
}

#endif
