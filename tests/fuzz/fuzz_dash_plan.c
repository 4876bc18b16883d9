/*
 * A plan, or a goal, of any bytes over columns of every kind: what comes out of repair is within all limits,
 * and what was written reads back as it was.
 */
#include "dashboard/plan_int.h"

#include "base/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static const struct {
    const char *name;
    enum al_dash_role role;
    enum al_dash_adds adds;
    enum al_dash_time time;
    enum al_dash_natural natural;
    unsigned distinct;
    const char *first, *last;
} kinds[] = {
    {"day", AL_ROLE_TIME, 0, AL_TIME_DATE, 0, 700, "2021-02-28T07:00", "2023-12-31T23:00"},
    {"year", AL_ROLE_TIME, 0, AL_TIME_YEAR, 0, 30, "", ""},
    {"region", AL_ROLE_DIMENSION, 0, 0, 0, 5, "", ""},
    {"channel", AL_ROLE_DIMENSION, 0, 0, 0, 3, "", ""},
    {"shop", AL_ROLE_DIMENSION, 0, 0, 0, 40, "", ""},
    {"hour", AL_ROLE_DIMENSION, 0, 0, AL_NATURAL_NUMBER, 24, "", ""},
    {"member", AL_ROLE_BOOLEAN, 0, 0, 0, 2, "", ""},
    {"sales", AL_ROLE_MEASURE, AL_ADDS_ALWAYS, 0, 0, 500, "", ""},
    {"profit", AL_ROLE_MEASURE, AL_ADDS_ALWAYS, 0, 0, 500, "", ""},
    {"stock", AL_ROLE_MEASURE, AL_ADDS_ACROSS, 0, 0, 300, "", ""},
    {"price", AL_ROLE_MEASURE, AL_ADDS_NEVER, 0, 0, 90, "", ""},
    {"id", AL_ROLE_IDENTIFIER, 0, 0, 0, 1000, "", ""},
    {"latitude", AL_ROLE_PLACE, 0, 0, 0, 900, "", ""},
    {"title", AL_ROLE_TEXT, 0, 0, 0, 990, "", ""},
    {"empty", AL_ROLE_NONE, 0, 0, 0, 0, "", ""},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static void columns(struct al_dash *d, struct al_dash_column *list)
{
    struct al_profile *p = &d->profile;
    d->catalog = (struct al_dash_catalog){.rows = 1000, .columns = list, .n = KINDS};
    d->catalog.sheet = d->catalog.table = AL_STR("data");
    d->catalog.view = AL_STR("data_values");
    for (size_t i = 0; i < KINDS; i++) {
        struct al_dash_column *c = &list[i];
        c->name = c->label = c->display = al_str_of(kinds[i].name);
        c->type = AL_STR("text");
        c->role = kinds[i].role;
        c->adds = kinds[i].adds;
        c->time = kinds[i].time;
        c->natural = kinds[i].natural;
        c->distinct = kinds[i].distinct;
        c->distinct_exact = c->has_range = true;
        c->scale = -1;
        c->integers = c->role == AL_ROLE_BOOLEAN || c->time == AL_TIME_YEAR;
        c->min = c->time == AL_TIME_YEAR ? 1990 : 0;
        c->max = c->time == AL_TIME_YEAR ? 2020 : c->role == AL_ROLE_BOOLEAN ? 1 : 100;
        memcpy(c->first, kinds[i].first, strlen(kinds[i].first));
        memcpy(c->last, kinds[i].last, strlen(kinds[i].last));
        if (c->role == AL_ROLE_MEASURE)
            p->measures[p->n_measures++] = (int)i;
        if (c->role == AL_ROLE_DIMENSION)
            p->dimensions[p->n_dimensions++] = (int)i;
        if (c->role == AL_ROLE_TIME)
            p->times[p->n_times++] = (int)i;
    }
}

static void check(const struct al_dash *d)
{
    const struct al_plan *p = &d->plan;
    size_t kpis = 0;
    must(p->n_widgets >= 1 && p->n_widgets <= AL_DASH_WIDGETS && p->n_chips <= AL_DASH_CHIPS);
    for (size_t i = 0; i < p->n_widgets; i++) {
        const struct al_widget *w = &p->widgets[i];
        kpis += w->type == AL_W_KPI;
        must(w->id[0] >= 'a' && w->id[0] <= 'z' && strlen(w->id) < AL_DASH_ID && w->title.n > 0);
        must(al_utf8_valid(w->title) && al_utf8_count(w->title) <= AL_DASH_WIDGET_TITLE);
        must(w->limit >= 0 && w->limit <= AL_DASH_KEYS && w->n_columns <= AL_DASH_TABLE_COLUMNS);
        must(w->agg != AL_AGG_SUM || al_col_number(al_dash_col(d, w->metric)));
        must(w->agg != AL_AGG_RATIO || (w->over >= 0 && w->over != w->metric));
        must(!w->latest || w->clock >= 0);
        must(w->type == AL_W_KPI || w->type == AL_W_SCATTER || w->type == AL_W_TABLE || w->dimension >= 0);
        must(w->type != AL_W_HEAT || w->by >= 0);
        must(!w->by || w->by != w->dimension || w->by < 0);
        for (size_t k = 0; k < i; k++)
            must(strcmp(w->id, p->widgets[k].id) != 0);
    }
    must(kpis <= AL_DASH_KPIS);
}

static void write(const struct al_dash *d, struct al_buf *out)
{
    struct al_jw w;
    al_buf_clear(out);
    al_jw_init(&w, out);
    al_plan_write(d, &w);
    must(!al_buf_failed(out));
}

static void start(struct al_dash *d, struct al_str locale)
{
    memset(&d->plan, 0, sizeof d->plan);
    d->plan.locale = locale;
    d->plan.spanish = al_str_starts(locale, "es");
    d->n_notes = d->n_missing = 0;
}

/* The plan once more, as it was written. */
static void again(struct al_dash *d, struct al_buf *first, struct al_buf *second)
{
    const struct al_json *plan;
    struct al_err err = {0};
    struct al_str locale = d->plan.locale;
    check(d);
    write(d, first);
    must(al_json_parse(&d->arena, al_buf_str(first), &plan, &err) == 0);
    start(d, locale);
    must(al_plan_read(d, plan) && al_plan_repair(d, &err) == 0);
    check(d);
    write(d, second);
    must(al_str_eq(al_buf_str(first), al_buf_str(second)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct al_dash_column list[KINDS];
    struct al_dash *d = calloc(1, sizeof *d);
    struct al_buf first = AL_BUF_INIT(1u << 20), second = AL_BUF_INIT(1u << 20);
    struct al_err err = {0};
    const struct al_json *plan;
    must(d != NULL);
    if (size < 1 || size > 1u << 16) {
        free(d);
        return 0;
    }
    memset(list, 0, sizeof list);
    al_arena_init(&d->arena, AL_DASH_ARENA);
    columns(d, list);
    must(al_json_parse(&d->arena, data[0] & 1 ? AL_STR("{\"spec\":{}}") : AL_STR("{\"like\":{}}"),
                       &d->request, &err) == 0);
    struct al_str text = {(const char *)data + 1, size - 1},
                  locale = data[0] & 2 ? AL_STR("es") : AL_STR("en");
    d->goal = (struct al_goal){.ratio_of = -1, .ratio_over = -1, .averaged = -1, .flag = -1};
    start(d, locale);
    if (data[0] & 4) {
        al_goal_read(&d->arena, text, &d->catalog, &d->profile, &d->goal);
        must(al_plan_make(d, NULL, &err) == 0 && al_plan_repair(d, &err) == 0);
        again(d, &first, &second);
    } else if (al_json_parse(&d->arena, text, &plan, &err) == 0) {
        if (!al_plan_read(d, plan))
            must(d->n_notes > 0 && d->plan.n_widgets == 0);
        else if (al_plan_repair(d, &err) == 0)
            again(d, &first, &second);
        else
            must(err.code == AL_PLAN_FAILED && *err.msg);
    }
    for (size_t i = 0; i < d->n_notes; i++)
        must(al_utf8_valid(d->notes[i]));
    al_arena_free(&d->arena);
    al_buf_free(&first);
    al_buf_free(&second);
    free(d);
    return 0;
}
