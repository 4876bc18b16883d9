/* Which columns a fresh plan is about. */
#include "dashboard/plan_choice.h"

#define SERIES 6 /* lines that can be told apart */
#define ENTITY_CHARS 60
#define TABLE_DIMENSIONS 3
#define LOPSIDED 0.97
#define EVEN 0.9

void choice_add(struct choice *x, struct al_widget w)
{
    if (x->n == PLAN_CANDIDATES)
        return;
    for (size_t i = 0; i < x->n; i++)
        if (al_widget_same(&x->list[i], &w, false))
            return;
    x->list[x->n++] = w;
}

/* --- filters of the request: what they hold to one value is no dimension any more --- */

static bool one_value(const struct al_json *f)
{
    struct al_str op = al_json_get_text(f, "op");
    const struct al_json *v = al_json_get(f, "value");
    return al_str_is(op, "=") || (al_str_is(op, "in") && v && v->type == AL_JSON_ARRAY && v->n == 1) ||
           al_str_is(op, "is_null");
}

static void read_pins(struct choice *x)
{
    al_json_each(f, al_json_get(x->d->request, "filters"))
    {
        struct al_str name = al_json_get_text(f, "column");
        if (x->n_pins == AL_DASH_FILTERS)
            break;
        if (name.n && one_value(f))
            x->pins[x->n_pins++] = al_dash_catalog_find(&x->d->catalog, name);
    }
}

static bool pinned(const struct choice *x, int column)
{
    for (size_t i = 0; i < x->n_pins; i++)
        if (x->pins[i] == column)
            return true;
    return false;
}

bool choice_groups(const struct choice *x, int column)
{
    const struct al_dash_column *c = al_dash_col(x->d, column);
    return (c->role == AL_ROLE_DIMENSION || c->role == AL_ROLE_BOOLEAN || c->role == AL_ROLE_TEXT) &&
           c->distinct >= 2 && !pinned(x, column);
}

/* --- shortlists --- */

static void to_front(int *list, size_t *n, size_t max, int column, size_t at)
{
    size_t i = 0;
    while (i < *n && list[i] != column)
        i++;
    if (i == *n) {
        if (*n < max)
            (*n)++;
        else
            i = *n - 1;
    }
    if (i < at)
        return;
    memmove(list + at + 1, list + at, (i - at) * sizeof *list);
    list[at] = column;
}

static void append(int *list, size_t *n, size_t max, int column)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i] == column)
            return;
    if (*n < max)
        list[(*n)++] = column;
    else
        list[*n - 1] = column;
}

static void named_first(struct al_dash *d)
{
    struct al_profile *p = &d->profile;
    size_t measures = 0, times = 0;
    for (size_t i = 0; i < d->goal.n_named; i++) {
        int c = d->goal.named[i];
        enum al_dash_role role = al_dash_col(d, c)->role;
        if (role == AL_ROLE_MEASURE && measures < AL_DASH_SHORTLIST)
            to_front(p->measures, &p->n_measures, AL_DASH_SHORTLIST, c, measures++);
        else if (role == AL_ROLE_TIME && times < AL_DASH_TIMES)
            to_front(p->times, &p->n_times, AL_DASH_TIMES, c, times++);
        else if (role == AL_ROLE_DIMENSION || (role == AL_ROLE_BOOLEAN && c != d->goal.flag))
            append(p->dimensions, &p->n_dimensions, AL_DASH_SHORTLIST, c);
    }
}

/* --- metrics --- */

struct al_widget choice_metric(const struct choice *x, int column)
{
    struct al_widget w = al_widget_of(AL_W_KPI, AL_R_KPI);
    al_widget_measure(x->d, &w, column);
    if (column >= 0 && column == x->d->goal.averaged && w.agg == AL_AGG_SUM)
        w.agg = AL_AGG_AVG;
    return w;
}

static struct al_widget ratio_of(const struct choice *x)
{
    const struct al_goal *g = &x->d->goal;
    struct al_widget w = choice_metric(x, g->ratio ? g->ratio_of : -1);
    if (!g->ratio)
        return w;
    w.agg = g->ratio_over >= 0 ? AL_AGG_RATIO : AL_AGG_AVG; /* per row */
    w.over = g->ratio_over;
    w.percent = g->ratio_over >= 0 && g->ratio_percent;
    if (g->ratio_over >= 0 && !w.latest) { /* sales per head of the population: both of one period */
        struct al_widget over = choice_metric(x, g->ratio_over);
        w.latest = over.latest;
        w.clock = over.clock;
    }
    return w;
}

/* How old somebody was is no matter of its own: where rows are events or people, their number says more. */
static bool incidental(struct al_dash *d, int column)
{
    const struct al_dash_column *c = al_dash_col(d, column);
    struct al_words *w = al_arena_alloc(&d->arena, sizeof *w);
    if (c->adds != AL_ADDS_NEVER || !w)
        return false;
    al_words_of(&d->arena, c->name, w);
    return w->n >= 1 && w->n <= 2 &&
           (al_str_is(w->list[w->n - 1], "age") || al_str_is(w->list[0], "edad") ||
            al_str_is(w->list[w->n - 1], "ages"));
}

/* Do counts of rows differ by group or by period? */
static bool rows_say_something(const struct al_dash *d)
{
    const struct al_profile *p = &d->profile;
    const struct al_dash_column *t = p->n_times ? al_dash_col(d, p->times[0]) : NULL;
    if (t && (choice_even(t) || (t->time == AL_TIME_YEAR && d->catalog.rows < 5 * t->distinct)))
        return false; /* so many a year: two prizes, twelve months */
    for (size_t i = 0; i < p->n_dimensions; i++) {
        const struct al_dash_column *c = al_dash_col(d, p->dimensions[i]);
        if (!choice_even(c) && !al_col_unique(d, c))
            return true;
    }
    return false;
}

static int best_measure(struct al_dash *d)
{
    const struct al_profile *p = &d->profile;
    for (size_t i = 0; i < p->n_measures; i++)
        if (al_dash_col(d, p->measures[i])->adds != AL_ADDS_NEVER)
            return p->measures[i];
    if (!p->n_measures || (incidental(d, p->measures[0]) && rows_say_something(d)))
        return -1;
    return p->measures[0];
}

static int lead_column(struct al_dash *d)
{
    const struct al_goal *g = &d->goal;
    int average = -1;
    for (size_t i = 0; i < g->n_named; i++) {
        const struct al_dash_column *c = al_dash_col(d, g->named[i]);
        if (c->role != AL_ROLE_MEASURE)
            continue;
        if (c->adds != AL_ADDS_NEVER)
            return g->named[i];
        if (average < 0)
            average = g->named[i];
    }
    if (average >= 0)
        return average;
    if (g->flag >= 0)
        return g->flag;
    int best = g->rows ? -1 : best_measure(d);
    /* "smokers by region": of what is not there the rows are counted, rather than an average of something
     * else. */
    if (best >= 0 && g->n_unmet && g->n_named && al_dash_col(d, best)->adds == AL_ADDS_NEVER)
        return -1;
    return best;
}

/* --- dimensions --- */

static bool calendar(const struct al_dash_column *c)
{
    return c->natural == AL_NATURAL_MONTH || c->natural == AL_NATURAL_WEEKDAY;
}

bool choice_of_time(const struct choice *x, int column)
{
    const struct al_dash_column *c = al_dash_col(x->d, column);
    struct al_words *w = al_arena_alloc(&x->d->arena, sizeof *w);
    if (calendar(c) || !w)
        return true;
    al_words_of(&x->d->arena, c->name, w);
    return w->n == 1 && (al_word_is(w->list[0], AL_WORD_TIME) || al_word_is(w->list[0], AL_WORD_YEAR));
}

/* Has an order and more values than bars: the largest ten of eighty quarters say nothing. */
static bool too_long(const struct al_dash_column *c)
{
    return c->natural != AL_NATURAL_NONE && c->distinct > AL_DASH_KEYS;
}

/* The first that has enough values; names of months say less than the time axis beside them. */
static int ranking_column(const struct choice *x)
{
    const struct al_goal *g = &x->d->goal;
    const struct al_profile *p = &x->d->profile;
    for (size_t i = 0; i < g->n_named; i++)
        if (choice_groups(x, g->named[i]) && g->named[i] != g->flag)
            return g->named[i];
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; i < p->n_dimensions; i++) {
            const struct al_dash_column *c = al_dash_col(x->d, p->dimensions[i]);
            if (!choice_groups(x, p->dimensions[i]) || (pass < 2 && (c->distinct < 3 || too_long(c))) ||
                (pass < 1 && ((calendar(c) && x->time >= 0) || (x->lead.metric < 0 && choice_even(c)))))
                continue;
            return p->dimensions[i];
        }
    return -1;
}

bool choice_even(const struct al_dash_column *c)
{
    size_t n = c->n_top < c->distinct ? c->n_top : (size_t)c->distinct;
    if (n < 2 || !c->top_count[0])
        return false;
    return (double)c->top_count[n - 1] > EVEN * (double)c->top_count[0];
}

/* Nearly all rows have one value: its parts say nothing. */
static bool lopsided(const struct al_dash *d, const struct al_dash_column *c)
{
    uint64_t there = d->catalog.rows - (c->nulls < d->catalog.rows ? c->nulls : d->catalog.rows);
    return c->n_top && (double)c->top_count[0] > LOPSIDED * (double)there;
}

static int small_column(const struct choice *x, uint64_t most, bool natural)
{
    const struct al_profile *p = &x->d->profile;
    for (size_t i = 0; i < p->n_dimensions; i++) {
        const struct al_dash_column *c = al_dash_col(x->d, p->dimensions[i]);
        if (choice_groups(x, p->dimensions[i]) && c->distinct <= most && p->dimensions[i] != x->ranking &&
            (natural || c->natural == AL_NATURAL_NONE) && !al_col_unique(x->d, c) && !lopsided(x->d, c))
            return p->dimensions[i];
    }
    return -1;
}

static int series_column(const struct choice *x)
{
    const struct al_dash_column *c = x->ranking >= 0 ? al_dash_col(x->d, x->ranking) : NULL;
    if (c && c->distinct <= SERIES && !calendar(c))
        return x->ranking;
    return small_column(x, SERIES, false);
}

/* --- what a row is --- */

static bool short_names(const struct al_dash_column *c)
{
    for (size_t i = 0; i < c->n_top; i++)
        if (c->top[i].n > ENTITY_CHARS * 2 || al_str_starts(c->top[i], "http") ||
            al_str_find(c->top[i], AL_STR("@")) >= 0)
            return false;
    return c->n_top > 0;
}

enum name_kind {
    NAME_PART, /* "first name": no whole name */
    NAME_NONE,
    NAME_WORD, /* "title", "country" */
};

static bool among(struct al_str word, const char *const *list)
{
    for (; *list; list++)
        if (al_str_is(word, *list))
            return true;
    return false;
}

static enum name_kind name_kind(struct al_dash *d, const struct al_dash_column *c)
{
    static const char *const parts[] = {"first",   "last",     "middle",    "given", "family",
                                        "surname", "apellido", "apellidos", NULL};
    static const char *const wholes[] = {"name", "nombre", "title", "titulo", NULL};
    enum name_kind kind = NAME_NONE;
    struct al_words *w = al_arena_alloc(&d->arena, sizeof *w);
    if (!w)
        return kind;
    al_words_of(&d->arena, c->display, w);
    for (size_t i = 0; i < w->n; i++) {
        if (among(w->list[i], parts))
            return NAME_PART;
        if (among(w->list[i], wholes) || al_word_is(w->list[i], AL_WORD_DIMENSION))
            kind = NAME_WORD;
    }
    return kind;
}

/* A column of names, one for each row (or so many that they are no kinds, when nothing else gives groups). */
static int entity_column(const struct choice *x)
{
    int named = -1, first = -1;
    for (size_t i = 0; i < x->d->catalog.n; i++) {
        const struct al_dash_column *c = al_dash_col(x->d, (int)i);
        if ((c->role != AL_ROLE_TEXT && c->role != AL_ROLE_DIMENSION) || !choice_groups(x, (int)i) ||
            !short_names(c))
            continue;
        if (!al_col_unique(x->d, c) && (x->ranking >= 0 || c->role != AL_ROLE_TEXT))
            continue;
        enum name_kind kind = name_kind(x->d, c);
        if (named < 0 && kind == NAME_WORD)
            named = (int)i;
        if (first < 0 && kind != NAME_PART)
            first = (int)i;
    }
    return named >= 0 || x->ranking >= 0 ? named : first; /* addresses and notes only for want of better */
}

/* --- all of it --- */

static bool goal_by_time(const struct choice *x)
{
    const struct al_goal *g = &x->d->goal;
    for (size_t i = 0; i < g->n_named; i++)
        if (g->named[i] == x->time)
            return true;
    return g->bucket != 0;
}

void choice_make(struct choice *x, struct al_dash *d)
{
    struct al_widget ratio;
    x->d = d;
    x->no_rows = d->plan.no_rows || al_json_is_true(al_json_get(d->request, "noRows"));
    read_pins(x);
    named_first(d);
    x->time = d->profile.n_times ? d->profile.times[0] : -1;
    x->time_named = x->time >= 0 && goal_by_time(x);
    x->ratio = al_widget_of(AL_W_KPI, AL_R_KPI);
    x->lead = choice_metric(x, lead_column(d));
    if (d->goal.things >= 0) {
        x->lead.metric = d->goal.things;
        x->lead.agg = AL_AGG_DISTINCT;
        x->lead.latest = false;
        x->lead.clock = -1;
    }
    ratio = ratio_of(x);
    if (d->goal.ratio && d->goal.ratio_first)
        x->lead = ratio;
    else if (d->goal.ratio)
        x->ratio = ratio;
    x->ranking = ranking_column(x);
    x->parts = small_column(x, 8, false);
    if (x->parts < 0)
        x->parts = small_column(x, 8, true);
    x->series = series_column(x);
    x->entity = entity_column(x);
    if (x->ranking < 0 && x->entity >= 0)
        x->ranking = x->entity;
}

/* --- the table --- */

static void table_add(struct al_widget *w, int column)
{
    for (size_t i = 0; i < w->n_columns; i++)
        if (w->columns[i] == column)
            return;
    if (column >= 0 && w->n_columns < AL_DASH_TABLE_COLUMNS)
        w->columns[w->n_columns++] = column;
}

static int row_key(const struct choice *x)
{
    for (size_t i = 0; i < x->d->catalog.n; i++) {
        const struct al_dash_column *c = al_dash_col(x->d, (int)i);
        if (c->role == AL_ROLE_IDENTIFIER && al_col_unique(x->d, c) && !al_col_running(x->d, c))
            return (int)i;
    }
    return -1;
}

void choice_table(const struct choice *x, struct al_widget *w)
{
    const struct al_profile *p = &x->d->profile;
    const struct al_goal *g = &x->d->goal;
    table_add(w, x->entity >= 0 ? x->entity : row_key(x));
    table_add(w, x->time);
    for (size_t i = 0; i < g->n_named && i < AL_DASH_TABLE_COLUMNS / 2; i++)
        table_add(w, g->named[i]);
    for (size_t i = 0; i < p->n_dimensions && i < TABLE_DIMENSIONS; i++)
        table_add(w, p->dimensions[i]);
    for (size_t i = 0; i < p->n_measures; i++)
        table_add(w, p->measures[i]);
    for (size_t i = 1; i < w->n_columns; i++) /* as in the file */
        for (size_t k = i; k > 0 && w->columns[k - 1] > w->columns[k]; k--) {
            int swap = w->columns[k];
            w->columns[k] = w->columns[k - 1];
            w->columns[k - 1] = swap;
        }
    w->limit = PLAN_RANKING;
}
