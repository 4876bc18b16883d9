/* A plan while it is read: plan_read.c, plan_read_widget.c. */
#ifndef AL_DASHBOARD_PLAN_READ_H
#define AL_DASHBOARD_PLAN_READ_H

#include "dashboard/plan_int.h"

#include "base/buf.h"

struct plan_reading {
    struct al_dash *d;
    bool like;              /* of an earlier dashboard, perhaps of another dataset */
    size_t at;              /* which widget of the list, from 1 */
    struct al_buf left_out; /* titles of widgets whose columns are missing */
    struct al_buf unknown;  /* names of fields */
    size_t n_unknown;
};

enum { PLAN_ABSENT = -1, PLAN_NO_COLUMN = -2, PLAN_MISSING = -3 };
/* A column by its name, else one of the above: not said, no text, not in the dataset (which goes to d->missing). */
int al_plan_column(struct plan_reading *r, const struct al_json *v);
/* Remembers the fields of an object that nobody knows. known ends with NULL. */
void al_plan_unknown_fields(struct plan_reading *r, const struct al_json *object, const char *const *known);
/* False: there is no widget in it; that was noted. */
bool al_plan_read_widget(struct plan_reading *r, const struct al_json *v, struct al_widget *ret);

#endif
