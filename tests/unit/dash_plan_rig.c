/* A dataset that is only said to be there. */
#include "dash_plan_rig.h"

#include <ctype.h>
#include <stdio.h>

void rig_init(struct rig *r, uint64_t rows)
{
    static const char none[] = "{}";
    memset(r, 0, sizeof *r);
    al_arena_init(&r->d.arena, AL_DASH_ARENA);
    al_buf_init(&r->json, 1u << 20);
    r->d.catalog.rows = rows;
    r->d.catalog.columns = r->columns;
    r->d.catalog.sheet = r->d.catalog.table = AL_STR("data");
    r->d.catalog.view = AL_STR("data_values");
    r->d.goal = (struct al_goal){.ratio_of = -1, .ratio_over = -1, .averaged = -1, .flag = -1};
    rig_request(r, none);
}

void rig_free(struct rig *r)
{
    al_arena_free(&r->d.arena);
    al_buf_free(&r->json);
}

static int add(struct rig *r, const char *name, enum al_dash_role role, uint64_t distinct)
{
    struct al_dash_column *c = &r->columns[r->d.catalog.n];
    char *display = al_arena_dup(&r->d.arena, al_str_of(name));
    assert_true(r->d.catalog.n < RIG_COLUMNS);
    for (char *p = display; *p; p++)
        if (*p == '_')
            *p = ' ';
    display[0] = (char)toupper((unsigned char)display[0]);
    const char *own = al_arena_dup(&r->d.arena, al_str_of(name));
    *c = (struct al_dash_column){.name = al_str_of(own),
                                 .label = al_str_of(own),
                                 .display = al_str_of(display),
                                 .type = AL_STR("text"),
                                 .role = role,
                                 .distinct = distinct,
                                 .distinct_exact = true,
                                 .scale = -1};
    return (int)r->d.catalog.n++;
}

int rig_measure(struct rig *r, const char *name, enum al_dash_adds adds)
{
    int c = add(r, name, AL_ROLE_MEASURE, r->d.catalog.rows / 2);
    r->columns[c].adds = adds;
    r->columns[c].has_range = true;
    r->columns[c].max = 100;
    r->columns[c].mean = 50;
    r->columns[c].type = AL_STR("real");
    r->d.profile.measures[r->d.profile.n_measures++] = c;
    return c;
}

int rig_natural(struct rig *r, const char *name, uint64_t distinct, enum al_dash_natural natural)
{
    int c = add(r, name, AL_ROLE_DIMENSION, distinct);
    r->columns[c].natural = natural;
    r->d.profile.dimensions[r->d.profile.n_dimensions++] = c;
    return c;
}

int rig_dimension(struct rig *r, const char *name, uint64_t distinct)
{
    return rig_natural(r, name, distinct, AL_NATURAL_NONE);
}

int rig_date(struct rig *r, const char *name, const char *first, const char *last)
{
    int c = add(r, name, AL_ROLE_TIME, r->d.catalog.rows / 4);
    r->columns[c].time = AL_TIME_DATE;
    r->columns[c].type = AL_STR("date");
    (void)snprintf(r->columns[c].first, sizeof r->columns[c].first, "%s", first);
    (void)snprintf(r->columns[c].last, sizeof r->columns[c].last, "%s", last);
    r->d.profile.times[r->d.profile.n_times++] = c;
    return c;
}

int rig_year(struct rig *r, const char *name, int first, int last)
{
    int c = add(r, name, AL_ROLE_TIME, (uint64_t)(last - first + 1));
    r->columns[c].time = AL_TIME_YEAR;
    r->columns[c].type = AL_STR("integer");
    r->columns[c].has_range = r->columns[c].integers = true;
    r->columns[c].min = first;
    r->columns[c].max = last;
    r->d.profile.times[r->d.profile.n_times++] = c;
    return c;
}

int rig_flag(struct rig *r, const char *name)
{
    int c = add(r, name, AL_ROLE_BOOLEAN, 2);
    r->columns[c].type = AL_STR("integer");
    r->columns[c].has_range = r->columns[c].integers = true;
    r->columns[c].max = 1;
    return c;
}

int rig_other(struct rig *r, const char *name, enum al_dash_role role, uint64_t distinct)
{
    int c = add(r, name, role, distinct);
    r->columns[c].top[0] = AL_STR("Some name");
    r->columns[c].n_top = 1;
    return c;
}

void rig_request(struct rig *r, const char *json)
{
    assert_int_equal(al_json_parse(&r->d.arena, al_str_of(json), &r->d.request, &r->err), 0);
    struct al_str locale = al_json_get_text(r->d.request, "locale");
    r->d.plan.locale = locale.n ? locale : AL_STR("en");
    r->d.plan.spanish = al_str_starts(r->d.plan.locale, "es");
}

void rig_plan(struct rig *r)
{
    al_goal_read(&r->d.arena, al_json_get_text(r->d.request, "goal"), &r->d.catalog, &r->d.profile,
                 &r->d.goal);
    if (al_plan_make(&r->d, al_json_get(r->d.request, "by"), &r->err) < 0)
        fail_msg("%s (%s)", r->err.msg, r->err.hint);
    r->d.plan.no_rows = al_json_is_true(al_json_get(r->d.request, "noRows"));
    if (al_plan_repair(&r->d, &r->err) < 0)
        fail_msg("%s", r->err.msg);
}

bool rig_read(struct rig *r, const char *json)
{
    const struct al_json *plan;
    struct al_str locale = r->d.plan.locale;
    bool spanish = r->d.plan.spanish;
    assert_int_equal(al_json_parse(&r->d.arena, al_str_of(json), &plan, &r->err), 0);
    memset(&r->d.plan, 0, sizeof r->d.plan);
    r->d.plan.locale = locale;
    r->d.plan.spanish = spanish;
    r->d.n_notes = r->d.n_missing = 0;
    return al_plan_read(&r->d, plan) && al_plan_repair(&r->d, &r->err) == 0;
}

const char *rig_write(struct rig *r)
{
    struct al_jw w;
    al_buf_clear(&r->json);
    al_jw_init(&w, &r->json);
    al_plan_write(&r->d, &w);
    al_buf_addc(&r->json, '\0');
    assert_false(al_buf_failed(&r->json));
    return r->json.p;
}

static struct al_str name(const struct rig *r, int c)
{
    return c < 0 ? AL_STR("*") : r->columns[c].name;
}

static void show(const struct rig *r, const struct al_widget *w, struct al_buf *b)
{
    al_buf_addf(b, "%s ", al_widget_type_name(w->type));
    if (w->type == AL_W_SCATTER) {
        al_buf_addf(b, "%.*s vs %.*s", AL_FMT(name(r, w->y)), AL_FMT(name(r, w->x)));
    } else if (w->type == AL_W_TABLE) {
        for (size_t i = 0; i < w->n_columns; i++)
            al_buf_addf(b, "%s%.*s", i ? "," : "", AL_FMT(name(r, w->columns[i])));
    } else {
        al_buf_addf(b, "%s %.*s", al_agg_name(w->agg), AL_FMT(name(r, w->metric)));
        if (w->over >= 0)
            al_buf_addf(b, "/%.*s", AL_FMT(name(r, w->over)));
        if (w->percent)
            al_buf_addc(b, '%');
        if (w->latest)
            al_buf_addf(b, " latest %.*s", AL_FMT(name(r, w->clock)));
        if (w->dimension >= 0)
            al_buf_addf(b, " %.*s", AL_FMT(name(r, w->dimension)));
        if (w->bucket)
            al_buf_addf(b, "/%s", al_bucket_name(w->bucket));
        if (w->by >= 0)
            al_buf_addf(b, " by %.*s", AL_FMT(name(r, w->by)));
        if (w->type != AL_W_KPI && !w->bucket)
            al_buf_addf(b, " %d%s%s", w->limit, w->order == AL_ORDER_KEY ? " key" : "",
                        w->other ? " other" : "");
    }
    al_buf_adds(b, ";\n");
}

const char *rig_show(struct rig *r)
{
    al_buf_clear(&r->json);
    for (size_t i = 0; i < r->d.plan.n_widgets; i++)
        show(r, &r->d.plan.widgets[i], &r->json);
    for (size_t i = 0; i < r->d.n_notes; i++)
        al_buf_addf(&r->json, "note: %.*s\n", AL_FMT(r->d.notes[i]));
    al_buf_addc(&r->json, '\0');
    return r->json.p;
}

bool rig_has(struct rig *r, const char *part)
{
    return strstr(rig_show(r), part) != NULL;
}

bool rig_noted(const struct rig *r, const char *part)
{
    for (size_t i = 0; i < r->d.n_notes; i++)
        if (al_str_find(r->d.notes[i], al_str_of(part)) >= 0)
            return true;
    return false;
}

void rig_assert_noted(const struct rig *r, const char *part)
{
    if (!rig_noted(r, part)) {
        for (size_t i = 0; i < r->d.n_notes; i++)
            print_error("note: %.*s\n", AL_FMT(r->d.notes[i]));
        fail_msg("no note says \"%s\"", part);
    }
}

void rig_assert_quiet(const struct rig *r)
{
    if (r->d.n_notes)
        fail_msg("a note: %.*s", AL_FMT(r->d.notes[0]));
}

const struct al_widget *rig_widget(const struct rig *r, const char *id)
{
    for (size_t i = 0; i < r->d.plan.n_widgets; i++)
        if (strcmp(r->d.plan.widgets[i].id, id) == 0)
            return &r->d.plan.widgets[i];
    return NULL;
}
