/* Holds a plan to the rules, whoever made it. */
#include "dashboard/plan_int.h"

int al_plan_repair(struct al_dash *d, struct al_err *err)
{
    if (!d->plan.title.n)
        d->plan.title = al_title_page(d);
    for (size_t i = 0; i < d->plan.n_widgets; i++)
        if (!d->plan.widgets[i].title.n)
            d->plan.widgets[i].title = al_title_widget(d, &d->plan.widgets[i]);
    if (!d->plan.n_widgets)
        return al_fail(err, AL_PLAN_FAILED, "no widget of the plan can be drawn from this dataset");
    return 0;
}
