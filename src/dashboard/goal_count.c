/* What a goal wants counted: rows ("how many orders"), or the different values of a column ("number of
 * customers"). */
#include "dashboard/goal_int.h"
#include "dashboard/plan_int.h"

static const char *const numbers[] = {"number", "numero", "count", "conteo", "cantidad", NULL};
static const char *const of[] = {"of", "de", "del", NULL};
static const char *const many[] = {"cuantos", "cuantas", NULL};
static const char *const articles[] = {"the", "los", "las", "el", "la", NULL};

/* The word behind "number of", "how many", "cuantos"; n_words: there is none. */
static size_t counted_word(const struct goal *g)
{
    for (size_t i = 0; i + 1 < g->n_words; i++) {
        size_t at = 0;
        if (!g->used[i] && i + 2 < g->n_words && goal_in(g->words[i].text, numbers) &&
            goal_in(g->words[i + 1].text, of))
            at = i + 2;
        else if (al_str_is(g->words[i].text, "how") && al_str_is(g->words[i + 1].text, "many"))
            at = i + 2;
        else if (goal_in(g->words[i].text, many))
            at = i + 1;
        if (at && at < g->n_words && goal_in(g->words[at].text, articles))
            at++;
        if (at)
            return at;
    }
    return g->n_words;
}

static bool names_thing(const struct goal *g, int column)
{
    enum al_dash_role role = g->catalog->columns[column].role;
    return role == AL_ROLE_IDENTIFIER || role == AL_ROLE_TEXT;
}

/* Each row has its own. */
static bool is_row(const struct goal *g, int column)
{
    const struct al_dash_column *c = &g->catalog->columns[column];
    uint64_t there = g->catalog->rows > c->nulls ? g->catalog->rows - c->nulls : 0;
    return (double)c->distinct >= 0.98 * (double)there;
}

static void count_column(const struct goal *g, int column, struct al_goal *ret)
{
    if (is_row(g, column))
        ret->rows = true;
    else
        ret->things = column;
}

void goal_count(const struct goal *g, struct al_goal *ret)
{
    size_t at = counted_word(g);
    ret->things = -1;
    if (ret->ratio)
        return;
    for (size_t i = 0; i < g->n_hits; i++)
        if (g->catalog->columns[g->hits[i].column].role == AL_ROLE_MEASURE || g->hits[i].column == ret->flag)
            return; /* it is about that: "number of passengers" */
    for (size_t i = 0; i < g->n_hits; i++)
        if (at >= g->hits[i].at && at < g->hits[i].end && names_thing(g, g->hits[i].column)) {
            count_column(g, g->hits[i].column, ret);
            return;
        }
    if (at < g->n_words)
        ret->rows = true;
    else if (g->n_hits > 1 && names_thing(g, g->hits[0].column) &&
             g->catalog->columns[g->hits[0].column].role == AL_ROLE_IDENTIFIER)
        count_column(g, g->hits[0].column, ret); /* "orders by status" */
}
