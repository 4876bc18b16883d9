/* What a goal asks for and the page does not have, in notes. */
#include "dashboard/build_int.h"
#include "dashboard/plan_int.h"

#define COLUMNS_NAMED 10

static void name_columns(const struct al_dash *d, struct al_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < d->catalog.n && n < COLUMNS_NAMED; i++) {
        if (al_dash_col(d, (int)i)->role == AL_ROLE_NONE)
            continue;
        al_buf_adds(out, n++ ? ", " : "");
        al_buf_add_str(out, al_dash_col(d, (int)i)->display);
    }
}

static enum al_text_id why_not(const struct al_dash *d, int column, bool fresh)
{
    const struct al_dash_column *c = al_dash_col(d, column);
    if (!fresh)
        return AL_TEXT_NOTE_WORD_NOT_IN_PLAN;
    for (size_t i = 0; i < d->plan.n_filters; i++)
        if (d->plan.filters[i].column == column && d->plan.filters[i].op == AL_OP_EQ)
            return AL_TEXT_NOTE_WORD_FILTERED;
    switch (c->role) {
    case AL_ROLE_IDENTIFIER:
        return AL_TEXT_NOTE_WORD_ID;
    case AL_ROLE_PLACE:
        return AL_TEXT_NOTE_WORD_PLACE;
    case AL_ROLE_TEXT:
        return AL_TEXT_NOTE_WORD_MANY;
    case AL_ROLE_NONE:
        return AL_TEXT_NOTE_WORD_NOTHING;
    default:
        return AL_TEXT_NOTE_WORD_NO_ROOM;
    }
}

static void note_not_shown(struct al_dash *d, bool fresh)
{
    const struct al_goal *g = &d->goal;
    for (size_t i = 0; i < g->n_not_shown; i++)
        for (size_t k = 0; k < g->n_named; k++)
            if (al_dash_col(d, g->named[k])->display.p == g->not_shown[i].p) {
                struct al_str why = al_str_of(al_text(&d->plan, why_not(d, g->named[k], fresh)));
                AL_NOTE(d, NOTE_NOT_SHOWN, g->not_shown[i], why);
                break;
            }
}

void al_goal_note(struct al_dash *d, bool fresh)
{
    const struct al_goal *g = &d->goal;
    autobuf struct al_buf names = AL_BUF_INIT(8192), asked = AL_BUF_INIT(8192);
    note_not_shown(d, fresh);
    if (!fresh)
        return;
    name_columns(d, &names);
    for (size_t i = 0; i < g->n_unmet; i++)
        al_buf_addf(&asked, "%s“%.*s”", i ? ", " : "", AL_FMT(g->unmet[i]));
    if (asked.n)
        AL_NOTE(d, NOTE_GOAL_UNMET, al_buf_str(&asked), al_buf_str(&names));
    else if (g->names_nothing)
        AL_NOTE(d, NOTE_GOAL_NO_COLUMN, al_buf_str(&names));
}
