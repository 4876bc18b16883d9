/* What the columns beside it tell of a column, and what a table as a whole needs. */
#include "dashboard/profile_int.h"

#define MANY_NAMES 20000
#define MANY_FLAGS 4

static bool is_called(const struct al_dash_column *c, const char *name)
{
    return al_str_is(c->name, name);
}

/* Each of its values stands in as many rows as every other. */
static bool is_even(const struct al_profiler *p, const struct al_dash_column *c)
{
    const size_t n = sizeof c->top / sizeof *c->top;
    if (c->n_top < n || !c->distinct_exact || c->distinct < 2 || c->top_count[0] < 2)
        return false;
    for (size_t i = 1; i < n; i++)
        if (c->top_count[i] != c->top_count[0])
            return false;
    return c->top_count[0] * c->distinct == al_column_filled(&p->x, c);
}

/* The value of each thing, written into each of its rows: adding it up would count it again and again. */
static void find_repeated(struct al_profiler *p)
{
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        if (c->role != AL_ROLE_MEASURE || c->adds == AL_ADDS_NEVER || !is_even(p, c))
            continue;
        for (size_t k = 0; k < p->c->n; k++) {
            const struct al_dash_column *thing = &p->c->columns[k];
            if (al_str_is(thing->type, "text") && !thing->has_range && thing->distinct == c->distinct &&
                is_even(p, thing))
                c->adds = AL_ADDS_NEVER;
        }
    }
}

/* Both ends of a graph's edges are numbers of nodes. */
static void find_edges(struct al_profiler *p)
{
    static const char *const ends[][2] = {
        {"source", "target"}, {"from", "to"}, {"src", "dst"}, {"origin", "destination"}};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        struct al_dash_column *both[2] = {NULL, NULL};
        for (size_t i = 0; i < p->c->n; i++)
            for (int k = 0; k < 2; k++)
                if (is_called(&p->c->columns[i], ends[e][k]) && p->c->columns[i].integers)
                    both[k] = &p->c->columns[i];
        for (int k = 0; k < 2 && both[0] && both[1]; k++)
            if (both[k]->role == AL_ROLE_MEASURE)
                both[k]->role = AL_ROLE_IDENTIFIER;
    }
}

/* "other" is what the measure before it is, else the one behind it. */
static void find_others(struct al_profiler *p)
{
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        if (!p->traits[i].other || c->role != AL_ROLE_MEASURE)
            continue;
        for (size_t k = 1; k < p->c->n; k++) {
            const struct al_dash_column *near = k <= i ? &p->c->columns[i - k] : &p->c->columns[k];
            if (near->role == AL_ROLE_MEASURE && near->integers == c->integers) {
                c->adds = near->adds;
                break;
            }
        }
    }
}

/* Where there is no time axis a name's rule may be another: levels by the file's name only. */
static void settle_levels(struct al_profiler *p)
{
    for (size_t i = 0; i < p->c->n; i++)
        p->x.clock |= p->c->columns[i].role == AL_ROLE_TIME;
    for (size_t i = 0; i < p->c->n && p->x.clock; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        if (c->role == AL_ROLE_MEASURE && !c->unit_percent && !c->percent)
            c->adds = al_profile_adds(&p->x, &p->traits[i], c);
    }
}

/* Where there are "new_cases", "total_cases" are those so far. */
static void find_running_totals(struct al_profiler *p)
{
    static const char *const starts[] = {"new_", "daily_", "nuevos_", "nuevas_"};
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        if (c->role != AL_ROLE_MEASURE || c->adds != AL_ADDS_ALWAYS || !al_str_starts(c->name, "total_"))
            continue;
        struct al_str rest = {c->name.p + 6, c->name.n - 6};
        for (size_t k = 0; k < p->c->n; k++)
            for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
                struct al_str other = p->c->columns[k].name;
                size_t n = strlen(starts[s]);
                if (al_str_starts(other, starts[s]) &&
                    al_str_eq(rest, (struct al_str){other.p + n, other.n - n}))
                    c->adds = AL_ADDS_ACROSS;
            }
    }
}

static uint64_t count_role(const struct al_profiler *p, enum al_dash_role role)
{
    uint64_t n = 0;
    for (size_t i = 0; i < p->c->n; i++)
        n += p->c->columns[i].role == role;
    return n;
}

/* Names with many values group rows where nothing else does and each name has several. */
static void group_by_names(struct al_profiler *p)
{
    if (count_role(p, AL_ROLE_DIMENSION))
        return;
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        if (c->role == AL_ROLE_TEXT && c->distinct <= MANY_NAMES &&
            al_column_filled(&p->x, c) / c->distinct >= 3)
            c->role = AL_ROLE_DIMENSION;
    }
}

/* A table of flags: their shares are all that there is to measure. The most balanced are the most telling. */
static void measure_flags(struct al_profiler *p)
{
    if (count_role(p, AL_ROLE_MEASURE) || count_role(p, AL_ROLE_BOOLEAN) < MANY_FLAGS)
        return;
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        if (c->role == AL_ROLE_BOOLEAN && c->has_range && c->mean >= 0.1 && c->mean <= 0.9) {
            c->role = AL_ROLE_MEASURE;
            c->adds = AL_ADDS_NEVER;
        }
    }
}

void al_profile_beside(struct al_profiler *p)
{
    settle_levels(p);
    find_running_totals(p);
    find_edges(p);
    find_others(p);
    find_repeated(p);
    al_profile_table(p);
    group_by_names(p);
    measure_flags(p);
}
