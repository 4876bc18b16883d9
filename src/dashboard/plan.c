/* A fresh plan by the rules. */
#include "dashboard/plan_int.h"

#include <stdio.h>

struct al_widget al_widget_of(enum al_widget_type type, enum al_widget_role role)
{
    return (struct al_widget){.type = type,
                              .role = role,
                              .metric = -1,
                              .over = -1,
                              .agg = AL_AGG_COUNT,
                              .clock = -1,
                              .dimension = -1,
                              .by = -1,
                              .x = -1,
                              .y = -1};
}

void al_widget_name(const struct al_dash *d, struct al_widget *w)
{
    (void)snprintf(w->id, sizeof w->id, "w%zu", d->plan.n_widgets + 1);
}

void al_widget_measure(const struct al_dash *d, struct al_widget *w, int c)
{
    w->metric = c;
    w->agg = c < 0 ? AL_AGG_COUNT : al_dash_col(d, c)->adds == AL_ADDS_NEVER ? AL_AGG_AVG : AL_AGG_SUM;
    w->latest = c >= 0 && al_dash_col(d, c)->adds == AL_ADDS_ACROSS && d->profile.n_times;
    w->clock = w->latest ? d->profile.times[0] : -1;
}

static void add(struct al_dash *d, struct al_widget w)
{
    if (d->plan.n_widgets == AL_DASH_WIDGETS)
        return;
    al_widget_name(d, &w);
    d->plan.widgets[d->plan.n_widgets++] = w;
}

int al_plan_make(struct al_dash *d, const struct al_json *by, struct al_err *err)
{
    const struct al_profile *p = &d->profile;
    int lead = p->n_measures ? p->measures[0] : -1;
    (void)by, (void)err;
    d->plan.purpose = "executive";
    for (size_t i = 0; i < p->n_measures && i < 4; i++) {
        struct al_widget w = al_widget_of(AL_W_KPI, AL_R_KPI);
        al_widget_measure(d, &w, p->measures[i]);
        add(d, w);
    }
    add(d, al_widget_of(AL_W_KPI, AL_R_KPI));
    if (p->n_times) {
        struct al_widget w = al_widget_of(AL_W_AREA, AL_R_TREND);
        al_widget_measure(d, &w, lead);
        w.latest = false;
        w.dimension = p->times[0];
        w.bucket = al_bucket_for(al_dash_col(d, w.dimension));
        w.limit = AL_DASH_BUCKETS;
        add(d, w);
    }
    if (p->n_dimensions) {
        struct al_widget w = al_widget_of(AL_W_HBAR, AL_R_RANKING);
        al_widget_measure(d, &w, lead);
        w.dimension = p->dimensions[0];
        w.limit = 10;
        add(d, w);
    }
    for (size_t i = 0; i < p->n_dimensions && d->plan.n_chips < AL_DASH_CHIPS; i++)
        if (al_dash_col(d, p->dimensions[i])->distinct <= AL_DASH_CHIP_VALUES)
            d->plan.chips[d->plan.n_chips++] = p->dimensions[i];
    return 0;
}
