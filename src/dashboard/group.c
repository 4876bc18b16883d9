/* Groups and sums of the one scan: what a row adds, and what is left of it at the end. */
#include "dashboard/group_int.h"

#include "base/mem.h"

int al_scan_cell(struct al_scan *s, int column)
{
    for (int i = 0; i < s->n_cells; i++)
        if (s->columns[i] == column)
            return i;
    s->columns[s->n_cells] = column;
    return s->n_cells++;
}

int al_scan_keys(struct al_scan *s, int column, enum al_bucket bucket)
{
    for (int i = 0; i < s->n_keys; i++)
        if (s->keys[i].column == column && s->keys[i].bucket == bucket)
            return i;
    bool year = bucket != AL_BUCKET_NONE && s->d->catalog.columns[column].time == AL_TIME_YEAR;
    al_keys_init(&s->keys[s->n_keys], column, al_scan_cell(s, column), bucket, year);
    return s->n_keys++;
}

int al_scan_grouping(struct al_scan *s, int a, int b)
{
    for (int i = 0; i < s->n_groupings; i++)
        if (s->groupings[i].a == a && s->groupings[i].b == b)
            return i;
    s->groupings[s->n_groupings] = (struct al_grouping){.a = a, .b = b};
    return s->n_groupings++;
}

/* --- a row --- */

static void take_group(struct al_scan *s, struct al_grouping *g)
{
    if (g->a < 0) {
        g->now = 0;
        return;
    }
    const struct al_keys *a = &s->keys[g->a], *b = g->b >= 0 ? &s->keys[g->b] : NULL;
    g->full |= a->full || (b && b->full);
    g->now = a->now;
    if (!b || a->now == AL_NO_KEY)
        return;
    g->now = AL_NO_KEY;
    if (b->now == AL_NO_KEY || g->full)
        return;
    if (g->pairs.n == AL_MAX_KEYS)
        g->full = true;
    else
        g->now = al_ids_of(&g->pairs, (uint64_t)a->now << 32 | b->now);
}

static void grow_sums(struct al_sums *s, uint32_t id)
{
    uint32_t cap = s->cap ? s->cap : 16;
    while (cap <= id)
        cap *= 2;
    s->list = al_xrealloc(s->list, cap * sizeof *s->list);
    memset(s->list + s->cap, 0, (cap - s->cap) * sizeof *s->list);
    s->cap = cap;
}

struct al_sum *al_sums_at(struct al_sums *s, uint32_t id, uint32_t epoch)
{
    if (__builtin_expect(id >= s->cap, 0))
        grow_sums(s, id);
    struct al_sum *sum = &s->list[id];
    if (sum->epoch != epoch)
        *sum = (struct al_sum){.epoch = epoch};
    return sum;
}

static inline bool is_number(const struct al_dash_cell *c)
{
    return c->kind == AL_DASH_CELL_INT || c->kind == AL_DASH_CELL_REAL;
}

/* Does the row count for this widget: has it numbers (or a value), is it of the last period? */
static inline bool counts(struct al_scan *s, struct al_tally *t)
{
    if (t->metric >= 0) {
        const struct al_dash_cell *c = &s->cells[t->metric];
        if (al_agg_numeric(t->agg)
                ? !is_number(c)
                : c->kind == AL_DASH_CELL_NONE || (c->kind == AL_DASH_CELL_TEXT && !c->text.n))
            return false;
    }
    if (t->over >= 0 && !is_number(&s->cells[t->over]))
        return false;
    if (t->clock < 0)
        return true;
    const struct al_keys *clock = &s->keys[t->clock];
    if (!clock->timed || (t->epoch > 1 && clock->index < t->last))
        return false;
    if (t->epoch == 1 || clock->index > t->last) { /* all of earlier periods is forgotten */
        t->last = clock->index;
        t->epoch++;
        t->rows = t->left_out = 0;
    }
    return true;
}

static inline void add_number(struct al_sum *sum, const struct al_dash_cell *c, bool wide)
{
    if (wide && c->kind == AL_DASH_CELL_INT) {
        struct al_dash_cell real = {.kind = AL_DASH_CELL_REAL, .d = (double)c->i};
        al_sum_add(sum, &real);
    } else {
        al_sum_add(sum, c);
    }
}

static void add_extreme(struct al_sum *sum, const struct al_dash_cell *c, bool most)
{
    struct al_dash_cell own = {
        .kind = sum->real ? AL_DASH_CELL_REAL : AL_DASH_CELL_INT, .i = sum->whole, .d = sum->sum};
    int cmp = sum->n++ ? al_dash_cell_cmp(c, &own) : most ? 1 : -1;
    if (most ? cmp <= 0 : cmp >= 0)
        return;
    sum->real = c->kind == AL_DASH_CELL_REAL;
    sum->whole = c->i;
    sum->sum = c->d;
}

static void add(struct al_scan *s, struct al_tally *t, struct al_sums *sums, uint32_t id)
{
    struct al_sum *sum = al_sums_at(sums, id, t->epoch);
    if (t->agg == AL_AGG_COUNT)
        sum->n++;
    else if (t->agg == AL_AGG_MIN || t->agg == AL_AGG_MAX)
        add_extreme(sum, &s->cells[t->metric], t->agg == AL_AGG_MAX);
    else
        add_number(sum, &s->cells[t->metric], t->wide && t->agg != AL_AGG_AVG);
}

/* What decides which labels of a cross-tab are shown: as in its SQL, the sum or the number of rows. */
static void add_weight(struct al_scan *s, struct al_tally *t, struct al_sums *sums, uint32_t id)
{
    if (al_agg_adds(t->agg))
        add(s, t, sums, id);
    else
        al_sums_at(sums, id, t->epoch)->n++;
}

static inline void add_row(struct al_scan *s, struct al_tally *t)
{
    const struct al_grouping *g = &s->groupings[t->grouping];
    if (t->own || !counts(s, t))
        return;
    if (g->now == AL_NO_KEY) {
        t->left_out++;
        return;
    }
    t->rows++;
    add(s, t, &t->groups, g->now);
    if (t->over >= 0)
        add_number(al_sums_at(&t->overs, g->now, t->epoch), &s->cells[t->over], t->over_wide);
    if (g->b >= 0) {
        add_weight(s, t, &t->labels, s->keys[g->a].now);
        add_weight(s, t, &t->series, s->keys[g->b].now);
    }
    if (g->cube)
        al_cube_add(s, t, g);
}

static void take_point(struct al_scan *s, struct al_points *p)
{
    const struct al_dash_cell *x = &s->cells[p->x], *y = &s->cells[p->y];
    if (!is_number(x) || !is_number(y))
        return;
    uint32_t hash = (uint32_t)(++p->seen * 2654435761u);
    size_t at = p->n;
    if (p->n == AL_DASH_POINTS) {
        if (hash >= p->heap[0].hash)
            return;
        for (at = 0;;) { /* the largest goes, the larger child takes its place */
            size_t child = at * 2 + 1;
            if (child + 1 < p->n && p->heap[child + 1].hash > p->heap[child].hash)
                child++;
            if (child >= p->n || p->heap[child].hash <= hash)
                break;
            p->heap[at] = p->heap[child];
            at = child;
        }
    } else {
        p->n++;
        for (; at > 0 && p->heap[(at - 1) / 2].hash < hash; at = (at - 1) / 2)
            p->heap[at] = p->heap[(at - 1) / 2];
    }
    p->heap[at] = (struct al_point){hash, al_dash_cell_double(x), al_dash_cell_double(y)};
}

static void give_up(struct al_scan *s, int grouping)
{
    al_cube_leave(s, grouping);
    for (int i = 0; i < s->n_tallies; i++) {
        struct al_tally *t = &s->tallies[i];
        if (t->grouping == grouping && !t->own) {
            al_tally_free(t);
            t->own = true;
        }
    }
}

void al_scan_row(struct al_scan *s)
{
    for (int i = 0; i < s->n_keys; i++)
        al_keys_take(&s->keys[i], &s->cells[s->keys[i].cell]);
    for (int i = 0; i < s->n_groupings; i++) {
        struct al_grouping *g = &s->groupings[i];
        if (g->full)
            continue;
        take_group(s, g);
        if (g->full)
            give_up(s, i);
    }
    if (s->n_chips)
        al_cube_row(s);
    for (int i = 0; i < s->n_tallies; i++)
        add_row(s, &s->tallies[i]);
    for (int i = 0; i < s->n_points; i++)
        take_point(s, &s->points[i]);
}

/* --- the end --- */

void al_tally_free(struct al_tally *t)
{
    free(t->groups.list);
    free(t->overs.list);
    free(t->labels.list);
    free(t->series.list);
    free(t->cells);
    free(t->over_cells);
    t->groups = t->overs = t->labels = t->series = (struct al_sums){0};
    t->cells = t->over_cells = NULL;
    t->n_cells = 0;
}

static struct al_dash_cell real_cell(double d)
{
    return (struct al_dash_cell){.kind = isnan(d) ? AL_DASH_CELL_NONE : AL_DASH_CELL_REAL, .d = d};
}

/* As sum() answers: false when it fails. */
static bool sum_cell(const struct al_sum *s, struct al_dash_cell *ret)
{
    if (s->n == 0)
        *ret = (struct al_dash_cell){.kind = AL_DASH_CELL_NONE};
    else if (s->real)
        *ret = real_cell(al_sum_value(s));
    else
        *ret = (struct al_dash_cell){.kind = AL_DASH_CELL_INT, .i = s->whole};
    return !s->overflowed;
}

static bool ratio_cell(struct al_tally *t, const struct al_sum *s, uint32_t id, struct al_dash_cell *ret)
{
    struct al_dash_cell over = {.kind = AL_DASH_CELL_INT, .i = (int64_t)s->n};
    if (!sum_cell(s, ret) || (t->over >= 0 && !sum_cell(al_sums_at(&t->overs, id, t->epoch), &over)))
        return false;
    double a = ret->kind == AL_DASH_CELL_INT ? (double)ret->i : ret->d;
    double b = over.kind == AL_DASH_CELL_INT ? (double)over.i : over.d;
    bool none = ret->kind == AL_DASH_CELL_NONE || over.kind == AL_DASH_CELL_NONE || b == 0;
    *ret = real_cell(none ? NAN : 1.0 * a / b);
    return true;
}

static bool value_cell(struct al_tally *t, uint32_t id, struct al_dash_cell *ret)
{
    const struct al_sum *s = al_sums_at(&t->groups, id, t->epoch);
    switch (t->agg) {
    case AL_AGG_COUNT:
        *ret = (struct al_dash_cell){.kind = AL_DASH_CELL_INT, .i = (int64_t)s->n};
        return true;
    case AL_AGG_AVG:
        *ret = real_cell(s->n ? al_sum_value(s) / (double)s->n : NAN);
        return true;
    case AL_AGG_MIN:
    case AL_AGG_MAX:
        *ret = (struct al_dash_cell){
            .kind = s->real ? AL_DASH_CELL_REAL : AL_DASH_CELL_INT, .i = s->whole, .d = s->sum};
        if (!s->n)
            ret->kind = AL_DASH_CELL_NONE;
        return true;
    case AL_AGG_RATIO:
        return ratio_cell(t, s, id, ret);
    default:
        return sum_cell(s, ret);
    }
}

static bool is_met(const struct al_tally *t, const struct al_sums *s, uint32_t id)
{
    return id < s->cap && s->list[id].epoch == t->epoch;
}

static int make_totals(struct al_scan *s, struct al_tally *t, struct al_sums *sums, int keys,
                       struct al_total **ret, size_t *ret_n)
{
    uint32_t n = s->keys[keys].n;
    *ret = al_xcalloc((size_t)n + 1, sizeof **ret);
    for (uint32_t id = 0; id < n; id++) {
        if (!is_met(t, sums, id))
            continue;
        struct al_total *total = &(*ret)[(*ret_n)++];
        if (!al_keys_cell(&s->keys[keys], id, &s->times, &total->key))
            return al_scan_no_memory(s->err);
        if (t->agg != AL_AGG_SUM)
            total->weight = (struct al_dash_cell){.kind = AL_DASH_CELL_INT, .i = (int64_t)sums->list[id].n};
        else if (!sum_cell(&sums->list[id], &total->weight))
            t->r->failed = "its sum is larger than 64 bits hold";
    }
    return 0;
}

static int make_groups(struct al_scan *s, struct al_tally *t, struct al_groups *ret)
{
    const struct al_grouping *g = &s->groupings[t->grouping];
    const struct al_keys *a = &s->keys[g->a], *b = g->b >= 0 ? &s->keys[g->b] : NULL;
    uint32_t n = b ? g->pairs.n : a->n;
    ret->list = al_xcalloc((size_t)n + 1, sizeof *ret->list);
    for (uint32_t id = 0; id < n; id++) {
        if (!is_met(t, &t->groups, id))
            continue;
        struct al_group *x = &ret->list[ret->n++];
        uint32_t first = b ? (uint32_t)(g->pairs.keys[id] >> 32) : id;
        if (!al_keys_cell(a, first, &s->times, &x->label) ||
            (b && !al_keys_cell(b, (uint32_t)g->pairs.keys[id], &s->times, &x->series)))
            return al_scan_no_memory(s->err);
        if (!value_cell(t, id, &x->value))
            t->r->failed = "its sum is larger than 64 bits hold";
    }
    return 0;
}

static int finish_chart(struct al_scan *s, struct al_tally *t)
{
    const struct al_grouping *g = &s->groupings[t->grouping];
    struct al_groups groups = {0};
    int r = make_groups(s, t, &groups);
    if (r == 0 && g->b >= 0)
        r = make_totals(s, t, &t->series, g->b, &groups.series, &groups.n_series);
    if (r == 0 && g->b >= 0)
        r = make_totals(s, t, &t->labels, g->a, &groups.labels, &groups.n_labels);
    if (r == 0 && !t->r->failed)
        r = al_finish(s->d, t->w, &groups, t->r, s->err);
    free(groups.list);
    free(groups.labels);
    free(groups.series);
    return r;
}

/* Of which period the numbers are: one of the clock's keys. */
static int put_period(struct al_scan *s, struct al_tally *t)
{
    char key[16];
    t->r->period = AL_STR("");
    if (t->clock < 0 || t->epoch == 1 || !al_bucket_text(s->keys[t->clock].bucket, t->last, key))
        return 0;
    const char *p = al_arena_dup(&s->d->arena, al_str_of(key));
    if (!p)
        return al_scan_no_memory(s->err);
    t->r->period = al_str_of(p);
    return 0;
}

int al_tally_finish(struct al_scan *s, struct al_tally *t)
{
    const struct al_grouping *g = &s->groupings[t->grouping];
    if (put_period(s, t) < 0)
        return -1;
    t->r->rows = t->rows;
    t->r->left_out = t->left_out;
    if (g->a >= 0)
        return finish_chart(s, t);
    if (!value_cell(t, 0, &t->r->value))
        t->r->failed = "its sum is larger than 64 bits hold";
    if (t->r->value.kind == AL_DASH_CELL_REAL && !isfinite(t->r->value.d))
        t->r->value.kind = AL_DASH_CELL_NONE;
    return 0;
}
