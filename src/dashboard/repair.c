/* Holds a plan to the rules, whoever made it. */
#include "dashboard/plan_int.h"

#include "base/text.h"

/* --- no two alike, not too many --- */

static struct al_str shown(const struct al_widget *w)
{
    return w->title.n ? w->title : al_str_of(*w->id ? w->id : al_widget_type_name(w->type));
}

static void list_add(struct al_buf *names, const struct al_widget *w)
{
    al_buf_adds(names, names->n ? ", " : "");
    al_buf_add_str(names, shown(w));
}

static size_t no_two_alike(struct al_dash *d, struct al_widget *list, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < kept && !al_widget_same(&list[k], &list[i], true))
            k++;
        if (k < kept)
            AL_NOTE(d, NOTE_SAME, *list[i].id ? al_str_of(list[i].id) : shown(&list[i]),
                    *list[k].id ? al_str_of(list[k].id) : shown(&list[k]));
        else
            list[kept++] = list[i];
    }
    return kept;
}

static size_t remove_at(struct al_widget *list, size_t n, size_t at, struct al_buf *names)
{
    list_add(names, &list[at]);
    memmove(list + at, list + at + 1, (n - at - 1) * sizeof *list);
    return n - 1;
}

static size_t few_kpis(struct al_dash *d, struct al_widget *list, size_t n)
{
    autobuf struct al_buf names = AL_BUF_INIT((size_t)64 << 10);
    size_t kpis = 0;
    for (size_t i = 0; i < n;) {
        if (list[i].type == AL_W_KPI && ++kpis > AL_DASH_KPIS)
            n = remove_at(list, n, i, &names);
        else
            i++;
    }
    if (names.n)
        AL_NOTE(d, NOTE_KPIS, al_buf_str(&names));
    return n;
}

/* What is wanted least goes first: tables, then correlations; of one kind the last. */
static size_t few_widgets(struct al_dash *d, struct al_widget *list, size_t n)
{
    autobuf struct al_buf names = AL_BUF_INIT((size_t)64 << 10);
    while (n > AL_DASH_WIDGETS) {
        size_t worst = 0;
        for (size_t i = 1; i < n; i++)
            if (list[i].role >= list[worst].role)
                worst = i;
        n = remove_at(list, n, worst, &names);
    }
    if (names.n)
        AL_NOTE(d, NOTE_WIDGETS, al_buf_str(&names));
    return n;
}

static void names(struct al_dash *d, struct al_widget *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char given[AL_DASH_ID];
        memcpy(given, list[i].id, sizeof given);
        al_widget_name(d, &list[i], list, i);
        if (*given && strcmp(given, list[i].id) != 0)
            AL_NOTE(d, NOTE_ID, al_str_of(given), al_str_of(list[i].id));
    }
}

size_t al_widgets_fit(struct al_dash *d, struct al_widget *list, size_t n)
{
    n = no_two_alike(d, list, n);
    n = few_kpis(d, list, n);
    n = few_widgets(d, list, n);
    names(d, list, n);
    return n;
}

/* --- the plan --- */

static void without_rows(struct al_dash *d)
{
    struct al_plan *p = &d->plan;
    autobuf struct al_buf left = AL_BUF_INIT((size_t)64 << 10);
    if (!p->no_rows)
        return;
    p->n_chips = 0;
    for (size_t i = 0; i < p->n_widgets;) {
        if (p->widgets[i].type == AL_W_TABLE || p->widgets[i].type == AL_W_SCATTER)
            p->n_widgets = remove_at(p->widgets, p->n_widgets, i, &left);
        else
            i++;
    }
    if (left.n)
        AL_NOTE(d, NOTE_NO_ROWS, al_buf_str(&left));
}

static void chips(struct al_dash *d)
{
    struct al_plan *p = &d->plan;
    size_t kept = 0;
    for (size_t i = 0; i < p->n_chips; i++) {
        bool twice = false;
        for (size_t k = 0; k < kept; k++)
            twice = twice || p->chips[k] == p->chips[i];
        if (twice)
            continue;
        if (al_col_chip(al_dash_col(d, p->chips[i])))
            p->chips[kept++] = p->chips[i];
        else
            AL_NOTE(d, NOTE_CHIPS, al_dash_col(d, p->chips[i])->name);
    }
    p->n_chips = kept;
}

static void titles(struct al_dash *d)
{
    struct al_plan *p = &d->plan;
    if (!p->title.n)
        p->title = al_title_page(d);
    p->title = al_utf8_head(p->title, AL_DASH_TITLE);
    for (size_t i = 0; i < p->n_widgets; i++) {
        struct al_widget *w = &p->widgets[i];
        if (!w->title.n)
            w->title = al_title_widget(d, w);
        if (al_utf8_count(w->title) > AL_DASH_WIDGET_TITLE) {
            w->title = al_utf8_head(w->title, AL_DASH_WIDGET_TITLE);
            AL_NOTE(d, NOTE_TITLE, w->title, AL_STR("80"));
        }
    }
}

static bool shows(const struct al_widget *w, int column)
{
    if (w->type == AL_W_SCATTER)
        return w->x == column || w->y == column;
    for (size_t i = 0; i < w->n_columns; i++)
        if (w->columns[i] == column)
            return true;
    return w->type != AL_W_TABLE &&
           (w->metric == column || w->over == column || w->dimension == column || w->by == column);
}

static void not_shown(struct al_dash *d)
{
    struct al_goal *g = &d->goal;
    g->n_not_shown = 0;
    for (size_t i = 0; i < g->n_named && g->n_not_shown < sizeof g->not_shown / sizeof *g->not_shown; i++) {
        bool there = false;
        for (size_t k = 0; k < d->plan.n_widgets && !there; k++)
            there = shows(&d->plan.widgets[k], g->named[i]);
        if (!there)
            g->not_shown[g->n_not_shown++] = al_dash_col(d, g->named[i])->display;
    }
}

static int nothing_left(const struct al_dash *d, struct al_err *err)
{
    autobuf struct al_buf have = AL_BUF_INIT(4096);
    al_fail(err, AL_PLAN_FAILED, "no widget of the plan can be drawn from this dataset");
    if (d->n_notes)
        return al_hint(err, "%.*s", AL_FMT(d->notes[d->n_notes - 1]));
    al_near_columns(d, (struct al_str){0}, &have);
    return al_hint(err, "the plan needs at least one widget; columns: %.*s", AL_FMT(al_buf_str(&have)));
}

int al_plan_repair(struct al_dash *d, struct al_err *err)
{
    struct al_plan *p = &d->plan;
    size_t kept = 0;
    without_rows(d);
    for (size_t i = 0; i < p->n_widgets; i++) {
        struct al_widget w = p->widgets[i];
        if (al_widget_repair(d, &w))
            p->widgets[kept++] = w;
    }
    p->n_widgets = al_widgets_fit(d, p->widgets, kept);
    chips(d);
    titles(d);
    not_shown(d);
    return p->n_widgets ? 0 : nothing_left(d, err);
}
