/* A page of nothing is mostly a slip in a filter's value: what there is stands in a note. */
#include "dashboard/build_int.h"

#include "base/text.h"
#include "dashboard/filter_int.h"
#include "dashboard/plan_int.h"

#include <math.h>
#include <stdio.h>

#define NOTED 3 /* filters whose values are named */
#define VALUE_CHARS 40

static bool nothing_kept(const struct al_dash *d)
{
    if (d->has_kept)
        return d->kept == 0;
    for (size_t i = 0; i < d->plan.n_widgets; i++) {
        const struct al_result *r = &d->results[i];
        if (r->failed || r->rows || r->n_rows || r->n_points || r->left_out)
            return false;
    }
    return d->plan.n_widgets > 0;
}

static void values_of(const struct al_dash_column *c, struct al_buf *out)
{
    for (size_t i = 0; i < c->n_top; i++) {
        al_buf_adds(out, i ? ", " : "");
        al_text_visible(out, al_utf8_head(c->top[i], VALUE_CHARS), false);
    }
}

static void note_values(struct al_dash *d, const struct al_filter *f)
{
    const struct al_dash_column *c = al_dash_col(d, f->column);
    enum al_filter_kind kind = al_filter_kind(c);
    char from[40], to[40];
    if (kind == AL_FILTER_DATE && c->first[0]) {
        snprintf(from, sizeof from, "%.10s", c->first);
        snprintf(to, sizeof to, "%.10s", c->last);
        AL_NOTE(d, NOTE_VALUES_SPAN, c->display, al_str_of(from), al_str_of(to));
    } else if (kind == AL_FILTER_NUMBER && c->has_range) {
        snprintf(from, sizeof from, "%.12g", c->min);
        snprintf(to, sizeof to, "%.12g", c->max);
        AL_NOTE(d, NOTE_VALUES_SPAN, c->display, al_str_of(from), al_str_of(to));
    } else if (c->n_top) {
        autobuf struct al_buf list = AL_BUF_INIT(4096);
        values_of(c, &list);
        al_plan_note(d, c->distinct > c->n_top ? AL_TEXT_NOTE_VALUES_SOME : AL_TEXT_NOTE_VALUES,
                     (const struct al_str[]){c->display, al_buf_str(&list)}, 2);
    }
}

void al_filters_note_nothing(struct al_dash *d)
{
    const struct al_plan *p = &d->plan;
    autobuf struct al_buf words = AL_BUF_INIT((size_t)64 << 10);
    if (!p->n_filters || !nothing_kept(d))
        return;
    for (size_t i = 0; i < p->n_filters; i++) {
        al_buf_adds(&words, i ? al_text(p, AL_TEXT_PAGE_AND) : "");
        al_filter_words(d, &p->filters[i], &words);
    }
    AL_NOTE(d, NOTE_NOTHING_KEPT, al_buf_str(&words));
    for (size_t i = 0; i < p->n_filters && i < NOTED && !p->no_rows; i++)
        note_values(d, &p->filters[i]);
}
