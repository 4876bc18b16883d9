/*
 * The same numbers by the chips. Four bits a chip make the combination of a row; a cell is a group and a
 * combination. When there are too many cells, the last chip goes and its cells are put together.
 */
#include "dashboard/group_int.h"

#include "base/mem.h"

#include <stdlib.h>

#define MOST_CELLS (AL_DASH_CELLS + AL_DASH_CELLS / 4) /* while rows go by; those of earlier periods are among them */

/* --- numbers of cells --- */

void al_cells_free(struct al_cells *c)
{
    free(c->keys);
    free(c->map);
    *c = (struct al_cells){0};
}

void al_cube_start(struct al_scan *s)
{
    s->combinations = al_xcalloc((size_t)1 << 16, sizeof *s->combinations);
    for (int i = 0; i < s->n_groupings; i++)
        s->groupings[i].cube = true;
}

/* Room for a group and a combination. False: it would be more than is kept for cells that are mostly not
 * there. */
static bool widen(struct al_cells *c, uint32_t group, uint32_t combination)
{
    uint32_t groups = c->groups ? c->groups : 16, stride = c->stride ? c->stride : 16;
    while (groups <= group)
        groups *= 2;
    while (stride <= combination)
        stride *= 2;
    if ((uint64_t)groups * stride > AL_CUBE_MAP)
        return false;
    uint32_t *map = al_xcalloc((size_t)groups * stride, sizeof *map);
    for (uint32_t g = 0; g < c->groups; g++)
        memcpy(map + (size_t)g * stride, c->map + (size_t)g * c->stride, c->stride * sizeof *map);
    free(c->map);
    c->map = map;
    c->groups = groups;
    c->stride = stride;
    return true;
}

#define NO_CELL UINT32_MAX

static uint32_t add_cell(struct al_cells *c, uint32_t group, uint32_t combination, uint64_t key)
{
    if ((group >= c->groups || combination >= c->stride) && !widen(c, group, combination))
        return NO_CELL;
    uint32_t *at = &c->map[(size_t)group * c->stride + combination];
    if (*at)
        return *at - 1;
    if (c->n == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 64;
        c->keys = al_xrealloc(c->keys, c->cap * sizeof *c->keys);
    }
    c->keys[c->n] = key;
    *at = ++c->n;
    return c->n - 1;
}

/* The number of the combination of bits; 0: there are too many. */
static uint32_t number_of(struct al_scan *s, uint32_t bits)
{
    if (!s->combinations[bits] && s->n_combinations < AL_CUBE_COMBINATIONS)
        s->combinations[bits] = (uint16_t)++s->n_combinations;
    return s->combinations[bits];
}

/* --- a row --- */

static inline void add_lost(struct al_cube_sum *to, double v)
{
    double t = to->sum + v;
    to->lost += fabs(to->sum) > fabs(v) ? (to->sum - t) + v : (v - t) + to->sum;
    to->sum = t;
}

static bool is_extreme(const struct al_tally *t)
{
    return t->agg == AL_AGG_MIN || t->agg == AL_AGG_MAX;
}

static void put_together(const struct al_tally *t, struct al_cube_sum *to, const struct al_cube_sum *from)
{
    if (from->epoch != t->epoch || from->n == 0)
        return;
    if (to->epoch != t->epoch)
        *to = (struct al_cube_sum){.epoch = t->epoch};
    if (!is_extreme(t)) {
        add_lost(to, from->sum);
        to->lost += from->lost;
    } else if (to->n == 0 || (t->agg == AL_AGG_MIN ? from->sum < to->sum : from->sum > to->sum)) {
        to->sum = from->sum;
    }
    to->n += from->n;
}

static uint64_t widgets_of(const struct al_scan *s, int grouping)
{
    uint64_t n = 0;
    for (int i = 0; i < s->n_tallies; i++)
        n += s->tallies[i].grouping == grouping && !s->tallies[i].own;
    return n;
}

void al_cube_leave(struct al_scan *s, int grouping)
{
    struct al_grouping *g = &s->groupings[grouping];
    if (!g->cube)
        return;
    s->n_cube -= widgets_of(s, grouping) * g->cells.n;
    g->cube = false;
    al_cells_free(&g->cells);
    for (int i = 0; i < s->n_tallies; i++) {
        struct al_tally *t = &s->tallies[i];
        if (t->grouping != grouping)
            continue;
        free(t->cells);
        free(t->over_cells);
        t->cells = t->over_cells = NULL;
        t->n_cells = 0;
    }
}

static struct al_cube_sum *moved(const struct al_tally *t, struct al_cube_sum *cells, const uint32_t *to,
                                 uint32_t n, uint32_t n_new)
{
    if (!cells)
        return NULL;
    struct al_cube_sum *list = al_xcalloc((size_t)n_new + 1, sizeof *list);
    for (uint32_t c = 0; c < n && c < t->n_cells; c++)
        put_together(t, &list[to[c]], &cells[c]);
    free(cells);
    return list;
}

/* One grouping's cells under fewer chips: those that become one are put together. */
static void merge(struct al_scan *s, int grouping, uint32_t below)
{
    struct al_grouping *g = &s->groupings[grouping];
    struct al_cells old = g->cells;
    uint32_t low = below - 1, n = old.n;
    g->cells = (struct al_cells){0};
    autofree uint32_t *to = al_xcalloc((size_t)old.n + 1, sizeof *to);
    bool fits = true;
    for (uint32_t c = 0; c < old.n && fits; c++) {
        uint32_t bits = (uint32_t)old.keys[c] & 0xffff, group = (uint32_t)(old.keys[c] >> 16);
        bits = (bits & low) | (bits >> 4 & ~low);
        to[c] = add_cell(&g->cells, group, number_of(s, bits) - 1, (uint64_t)group << 16 | bits);
        fits = to[c] != NO_CELL;
    }
    al_cells_free(&old);
    if (!fits) { /* combinations have other numbers now: with those of other groupings before them, too large
                  */
        al_cells_free(&g->cells);
        al_cube_leave(s, grouping);
        return;
    }
    for (int k = 0; k < s->n_tallies; k++) {
        struct al_tally *t = &s->tallies[k];
        if (t->grouping != grouping || !t->cells)
            continue;
        t->cells = moved(t, t->cells, to, n, g->cells.n);
        t->over_cells = moved(t, t->over_cells, to, n, g->cells.n);
        t->n_cells = g->cells.n;
    }
    s->n_cube += widgets_of(s, grouping) * g->cells.n;
}

/* A chip goes, those behind it move down. */
static void drop_chip(struct al_scan *s, int chip)
{
    s->n_cube = 0;
    s->n_combinations = 0;
    s->crowded = false;
    memset(s->combinations, 0, ((size_t)1 << 16) * sizeof *s->combinations);
    for (int i = 0; i < s->n_groupings; i++)
        if (s->groupings[i].cube)
            merge(s, i, 1u << (chip * 4));
    for (int i = chip; i + 1 < s->n_chips; i++) {
        s->chips[i] = s->chips[i + 1];
        s->chip_columns[i] = s->chip_columns[i + 1];
    }
    if (--s->n_chips == 0)
        for (int i = 0; i < s->n_groupings; i++)
            al_cube_leave(s, i);
}

static void combine(struct al_scan *s)
{
    s->combination = 0;
    for (int i = 0; i < s->n_chips; i++) {
        const struct al_keys *k = &s->keys[s->chips[i]];
        if (k->full || (k->now != AL_NO_KEY && k->now >= AL_DASH_CHIP_VALUES)) {
            drop_chip(s, i--); /* it has more values than was said */
            continue;
        }
        s->combination |= (k->now == AL_NO_KEY ? 0 : k->now + 1) << (i * 4);
    }
}

static void new_cell(struct al_scan *s, int grouping, uint32_t number)
{
    struct al_grouping *g = &s->groupings[grouping];
    g->cell = add_cell(&g->cells, g->now, number - 1, (uint64_t)g->now << 16 | s->combination);
    s->n_cube += widgets_of(s, grouping);
    s->crowded |= g->cell == NO_CELL || s->n_cube > MOST_CELLS;
}

static bool take_cells(struct al_scan *s)
{
    uint32_t number = number_of(s, s->combination);
    if (!number)
        return false;
    /* The places of a row are far apart: all are asked for before the first is read. */
    for (int i = 0; i < s->n_groupings; i++) {
        const struct al_grouping *g = &s->groupings[i];
        if (g->cube && g->now < g->cells.groups && number <= g->cells.stride)
            __builtin_prefetch(&g->cells.map[(size_t)g->now * g->cells.stride + number - 1]);
    }
    for (int i = 0; i < s->n_groupings; i++) {
        struct al_grouping *g = &s->groupings[i];
        if (!g->cube || g->now == AL_NO_KEY)
            continue;
        if ((g->b >= 0 ? g->pairs.n : g->a >= 0 ? s->keys[g->a].n : 0) > AL_CUBE_LABELS) {
            al_cube_leave(s, i);
            continue;
        }
        uint32_t at = 0;
        if (g->now < g->cells.groups && number <= g->cells.stride)
            at = g->cells.map[(size_t)g->now * g->cells.stride + number - 1];
        if (at)
            g->cell = at - 1;
        else
            new_cell(s, i, number);
    }
    return !s->crowded;
}

void al_cube_row(struct al_scan *s)
{
    combine(s);
    while (s->n_chips > 0 && !take_cells(s)) {
        drop_chip(s, s->n_chips - 1);
        combine(s);
    }
    for (int i = 0; i < s->n_tallies; i++) {
        const struct al_tally *t = &s->tallies[i];
        const struct al_grouping *g = &s->groupings[t->grouping];
        if (g->cube && g->now != AL_NO_KEY && g->cell < t->n_cells)
            __builtin_prefetch(&t->cells[g->cell], 1);
    }
}

static void grow_cells(struct al_tally *t, uint32_t id)
{
    uint32_t n = t->n_cells ? t->n_cells : 64;
    while (n <= id)
        n *= 2;
    for (int i = 0; i < 1 + (t->agg == AL_AGG_RATIO); i++) {
        struct al_cube_sum **list = i ? &t->over_cells : &t->cells;
        *list = al_xrealloc(*list, n * sizeof **list);
        memset(*list + t->n_cells, 0, (n - t->n_cells) * sizeof **list);
    }
    t->n_cells = n;
}

static inline double number(const struct al_dash_cell *c)
{
    return c->kind == AL_DASH_CELL_INT ? (double)c->i : c->d;
}

static inline struct al_cube_sum *count(struct al_cube_sum *c, uint32_t epoch)
{
    if (c->epoch != epoch)
        *c = (struct al_cube_sum){.epoch = epoch};
    c->n++;
    return c;
}

void al_cube_add(struct al_scan *s, struct al_tally *t, const struct al_grouping *g)
{
    if (__builtin_expect(g->cell >= t->n_cells, 0))
        grow_cells(t, g->cell);
    struct al_cube_sum *c = count(&t->cells[g->cell], t->epoch);
    if (t->agg == AL_AGG_COUNT)
        return;
    double v = number(&s->cells[t->metric]);
    if (!is_extreme(t))
        add_lost(c, v);
    else if (c->n == 1 || (t->agg == AL_AGG_MIN ? v < c->sum : v > c->sum))
        c->sum = v;
    if (t->over >= 0)
        add_lost(count(&t->over_cells[g->cell], t->epoch), number(&s->cells[t->over]));
}

/* --- the end --- */

static bool is_live(const struct al_tally *t, uint32_t c)
{
    return c < t->n_cells && t->cells[c].epoch == t->epoch && t->cells[c].n > 0;
}

static uint64_t live_cells(const struct al_scan *s)
{
    uint64_t n = 0;
    for (int i = 0; i < s->n_tallies; i++) {
        const struct al_tally *t = &s->tallies[i];
        for (uint32_t c = 0; t->cells && !t->own && c < s->groupings[t->grouping].cells.n; c++)
            n += is_live(t, c);
    }
    return n;
}

/* Keys in an order: which place each number has. */
struct order {
    struct al_str *texts; /* in the arena */
    size_t n;
    uint32_t *place; /* by number; owned */
};

struct keyed {
    struct al_dash_cell cell;
    double natural;
    uint32_t id;
};

static int by_order(const void *x, const void *y)
{
    const struct keyed *a = x, *b = y;
    if (a->natural < b->natural || a->natural > b->natural)
        return a->natural < b->natural ? -1 : 1;
    return al_dash_cell_cmp(&a->cell, &b->cell);
}

static int order_keys(struct al_scan *s, int keys, const bool *used, struct order *ret)
{
    const struct al_keys *k = &s->keys[keys];
    enum al_dash_natural natural = s->d->catalog.columns[k->column].natural;
    autofree struct keyed *list = al_xcalloc((size_t)k->n + 1, sizeof *list);
    struct al_arena *arena = &s->d->arena;
    ret->place = al_xcalloc((size_t)k->n + 1, sizeof *ret->place);
    for (uint32_t id = 0; id < k->n; id++) {
        if (!used[id])
            continue;
        struct keyed *x = &list[ret->n++];
        x->id = id;
        if (!al_keys_cell(k, id, &s->times, &x->cell))
            return al_scan_no_memory(s->err);
        if (k->bucket == AL_BUCKET_NONE && natural != AL_NATURAL_NONE)
            x->natural = al_natural_of(natural, &x->cell);
    }
    qsort(list, ret->n, sizeof *list, by_order);
    ret->texts = al_arena_alloc(arena, (ret->n + 2) * sizeof *ret->texts);
    for (size_t i = 0; i < ret->n && ret->texts; i++) {
        ret->place[list[i].id] = (uint32_t)i;
        ret->texts[i] = al_dash_cell_str(arena, &list[i].cell);
        if (!ret->texts[i].p)
            return al_scan_no_memory(s->err);
    }
    return ret->texts ? 0 : al_scan_no_memory(s->err);
}

/* A chart's axis of time keeps its gaps when it is counted again. */
static void fill_axis(const struct al_tally *t, const struct al_keys *k, struct order *o)
{
    const struct al_result *r = t->r;
    if (k->bucket == AL_BUCKET_NONE || !r || r->failed || r->n_labels < o->n)
        return;
    autofree uint32_t *moved = al_xcalloc(o->n + 1, sizeof *moved);
    size_t at = 0;
    for (size_t i = 0; i < o->n; i++) {
        while (at < r->n_labels && !al_str_eq(r->labels[at], o->texts[i]))
            at++;
        if (at == r->n_labels)
            return;
        moved[i] = (uint32_t)at;
    }
    for (uint32_t id = 0; id < k->n; id++)
        if (o->n)
            o->place[id] = moved[o->place[id]];
    o->texts = r->labels;
    o->n = r->n_labels;
}

static int by_place(const void *x, const void *y)
{
    const struct al_cube_cell *a = x, *b = y;
    int c = memcmp(a->chip, b->chip, sizeof a->chip);
    if (c)
        return c;
    if (a->label != b->label)
        return a->label < b->label ? -1 : 1;
    return a->series < b->series ? -1 : a->series > b->series;
}

static double or_zero(double v)
{
    return isfinite(v) ? v : 0;
}

static double sum_of(const struct al_cube_sum *c)
{
    return or_zero(isfinite(c->lost) ? c->sum + c->lost : c->sum);
}

static void write_cell(const struct al_tally *t, uint32_t at, struct al_cube_cell *ret)
{
    const struct al_cube_sum *c = &t->cells[at];
    ret->n = c->n;
    ret->sum = is_extreme(t) ? 0 : sum_of(c);
    if (t->agg == AL_AGG_RATIO)
        ret->over = t->over < 0 ? (double)c->n : sum_of(&t->over_cells[at]);
    ret->min = t->agg == AL_AGG_MIN ? c->sum : 0;
    ret->max = t->agg == AL_AGG_MAX ? c->sum : 0;
}

static void mark_used(const struct al_scan *s, const struct al_tally *t, bool *a, bool *b)
{
    const struct al_grouping *g = &s->groupings[t->grouping];
    for (uint32_t c = 0; c < g->cells.n; c++) {
        uint32_t group = (uint32_t)(g->cells.keys[c] >> 16);
        if (!is_live(t, c))
            continue;
        if (g->b < 0) {
            a[group] = true;
        } else {
            a[g->pairs.keys[group] >> 32] = true;
            b[(uint32_t)g->pairs.keys[group]] = true;
        }
    }
}

static int order_axes(struct al_scan *s, struct al_tally *t, struct order *a, struct order *b)
{
    const struct al_grouping *g = &s->groupings[t->grouping];
    if (g->a < 0)
        return 0;
    autofree bool *first = al_xcalloc((size_t)s->keys[g->a].n + 1, 1);
    autofree bool *second = al_xcalloc(g->b >= 0 ? (size_t)s->keys[g->b].n + 1 : 1, 1);
    mark_used(s, t, first, second);
    if (order_keys(s, g->a, first, a) < 0 || (g->b >= 0 && order_keys(s, g->b, second, b) < 0))
        return -1;
    fill_axis(t, &s->keys[g->a], a);
    return 0;
}

static int build_widget(struct al_scan *s, struct al_tally *t, const struct order *chips,
                        struct al_cube_widget *ret)
{
    const struct al_grouping *g = &s->groupings[t->grouping];
    struct order a = {0}, b = {0};
    uint32_t all = g->cells.n;
    int r = order_axes(s, t, &a, &b);
    if (r == 0 && !(ret->cells = al_arena_alloc(&s->d->arena, ((size_t)all + 1) * sizeof *ret->cells)))
        r = al_scan_no_memory(s->err);
    for (uint32_t c = 0; r == 0 && c < all; c++) {
        uint32_t group = (uint32_t)(g->cells.keys[c] >> 16), bits = (uint32_t)g->cells.keys[c] & 0xffff;
        if (!is_live(t, c))
            continue;
        struct al_cube_cell *cell = &ret->cells[ret->n_cells++];
        for (int i = 0; i < s->n_chips; i++)
            cell->chip[i] = (uint8_t)chips[i].place[bits >> (i * 4) & 15];
        if (g->a >= 0)
            cell->label = a.place[g->b < 0 ? group : (uint32_t)(g->pairs.keys[group] >> 32)];
        if (g->b >= 0)
            cell->series = b.place[(uint32_t)g->pairs.keys[group]];
        write_cell(t, c, cell);
    }
    if (r == 0)
        qsort(ret->cells, ret->n_cells, sizeof *ret->cells, by_place);
    ret->there = true;
    ret->labels = a.texts;
    ret->n_labels = a.n;
    ret->series = b.texts;
    ret->n_series = b.n;
    free(a.place);
    free(b.place);
    return r;
}

/* place[0] is where "none" stands, the others move up by one: combinations have 0 for none. */
static int order_chip(struct al_scan *s, int chip, bool none, struct order *ret)
{
    const struct al_keys *k = &s->keys[s->chips[chip]];
    bool used[AL_DASH_CHIP_VALUES + 1];
    memset(used, true, sizeof used);
    uint32_t *by_id;
    if (order_keys(s, s->chips[chip], used, ret) < 0)
        return -1;
    by_id = ret->place;
    ret->place = al_xcalloc(16, sizeof *ret->place);
    for (uint32_t id = 0; id < k->n; id++)
        ret->place[id + 1] = by_id[id];
    free(by_id);
    ret->place[0] = (uint32_t)ret->n;
    if (none)
        ret->texts[ret->n++] = AL_STR("");
    return 0;
}

static bool has_none(const struct al_scan *s, int chip)
{
    for (int i = 0; i < s->n_groupings; i++)
        for (uint32_t c = 0; c < s->groupings[i].cells.n; c++)
            if ((s->groupings[i].cells.keys[c] >> (chip * 4) & 15) == 0)
                return true;
    return false;
}

static int fill_cube(struct al_scan *s, struct al_cube *cube, struct order *chips)
{
    for (int i = 0; i < s->n_chips; i++) {
        if (order_chip(s, i, has_none(s, i), &chips[i]) < 0)
            return -1;
        cube->chips[i] = s->chip_columns[i];
        cube->values[i] = chips[i].texts;
        cube->n_values[i] = chips[i].n;
    }
    cube->n_chips = (size_t)s->n_chips;
    for (int i = 0; i < s->n_tallies; i++) {
        struct al_tally *t = &s->tallies[i];
        struct al_cube_widget *w = t->w ? &cube->widgets[t->w - s->d->plan.widgets] : &cube->rows;
        if (t->own || !s->groupings[t->grouping].cube || (t->r && t->r->failed))
            continue;
        if (build_widget(s, t, chips, w) < 0)
            return -1;
        cube->n_cells += w->n_cells;
    }
    return 0;
}

int al_cube_build(struct al_scan *s)
{
    struct order chips[AL_DASH_CHIPS] = {0};
    int r = 0;
    for (int i = s->n_chips - 1; i >= 0; i--) /* a chip of one value chooses nothing */
        if (s->keys[s->chips[i]].n + has_none(s, i) < 2)
            drop_chip(s, i);
    while (s->n_chips > 0 && live_cells(s) > AL_DASH_CELLS)
        drop_chip(s, s->n_chips - 1);
    if (s->n_chips == 0)
        return 0;
    struct al_cube *cube = al_arena_alloc(&s->d->arena, sizeof *cube);
    if (!cube)
        return al_scan_no_memory(s->err);
    r = fill_cube(s, cube, chips);
    for (int i = 0; i < AL_DASH_CHIPS; i++)
        free(chips[i].place);
    if (r == 0)
        s->d->cube = cube;
    return r;
}
