/* Values that are all of the others together: "All natural disasters", "World". Rows of a total beside those
 * of its parts would count each thing twice. */
#include "dashboard/plan_choice.h"
#include "dashboard/profile_int.h"

#include "base/text.h"

#include "sqlite3.h"

#include <math.h>

#define NEARLY 0.05

static bool goal_says(struct al_dash *d, struct al_str value)
{
    autobuf struct al_buf goal = AL_BUF_INIT((size_t)64 << 10), part = AL_BUF_INIT(1024);
    al_fold(&goal, al_utf8_head(al_json_get_text(d->request, "goal"), AL_DASHBOARD_GOAL));
    al_fold(&part, value);
    return al_str_find(al_buf_str(&goal), al_buf_str(&part)) >= 0;
}

/* The measure that is added up; -1: none is. */
static int added(const struct al_dash *d)
{
    for (size_t i = 0; i < d->profile.n_measures; i++)
        if (al_dash_col(d, d->profile.measures[i])->adds != AL_ADDS_NEVER)
            return d->profile.measures[i];
    return -1;
}

/* Its sum is that of all other rows, or of them where they hold everything twice (countries, continents) or
 * three times. A film that is for "All" is no total. */
static bool adds_up(struct al_dash *d, int column, int measure)
{
    autobuf struct al_buf sql = AL_BUF_INIT(64 << 10);
    const struct al_dash_column *c = al_dash_col(d, column), *m = al_dash_col(d, measure);
    sqlite3_stmt *s = NULL;
    double own = 0, rest = 0;
    al_buf_adds(&sql,
                "SELECT total(CASE WHEN k = v THEN n END), total(CASE WHEN k <> v THEN n END) FROM (SELECT ");
    al_sql_name(&sql, c->name);
    al_buf_adds(&sql, " AS k, ");
    al_sql_text(&sql, c->total);
    al_buf_adds(&sql, " AS v, ");
    al_sql_name(&sql, m->name);
    al_buf_adds(&sql, " AS n FROM ");
    al_sql_name(&sql, d->catalog.view);
    /* By its own name: a column of the file may be called n, too. */
    al_buf_adds(&sql, " WHERE typeof(");
    al_sql_name(&sql, m->name);
    al_buf_adds(&sql, ") IN ('integer','real'))");
    if (al_buf_failed(&sql) || sqlite3_prepare_v2(d->db, sql.p, (int)sql.n, &s, NULL) != SQLITE_OK)
        return false;
    if (sqlite3_step(s) == SQLITE_ROW) {
        own = sqlite3_column_double(s, 0);
        rest = sqlite3_column_double(s, 1);
    }
    sqlite3_finalize(s);
    for (int times = 1; times <= 3 && own > 0 && rest > 0; times++)
        if (fabs(rest / own - times) <= NEARLY * times)
            return true;
    return false;
}

/* The person's filter of the column, which stands for itself; NULL: there is none. */
static const struct al_filter *filter_of(const struct al_dash *d, int column)
{
    for (size_t i = 0; i < d->plan.n_filters; i++)
        if (d->plan.filters[i].column == column)
            return &d->plan.filters[i];
    return NULL;
}

void al_plan_totals(struct al_dash *d)
{
    int measure = added(d);
    for (size_t i = 0; measure >= 0 && i < d->profile.n_dimensions; i++) {
        int column = d->profile.dimensions[i];
        const struct al_dash_column *c = al_dash_col(d, column);
        if (!c->total.n || goal_says(d, c->total) || (d->db && !adds_up(d, column, measure)))
            continue;
        const struct al_filter *f = filter_of(d, column);
        if (f && (f->op == AL_OP_EQ || f->op == AL_OP_IN))
            continue; /* these values and no others */
        if (f || d->plan.n_filters == AL_DASH_FILTERS) {
            AL_NOTE(d, NOTE_TOTAL_THERE, c->display, c->total);
            continue;
        }
        struct al_filter_value *v = al_arena_alloc(&d->arena, sizeof *v);
        if (!v)
            return;
        *v = (struct al_filter_value){.text = c->total};
        d->plan.filters[d->plan.n_filters++] =
            (struct al_filter){.column = column, .op = AL_OP_NE, .values = v, .n_values = 1};
        AL_NOTE(d, NOTE_TOTAL_LEFT_OUT, c->display, c->total);
    }
}
