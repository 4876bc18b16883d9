/* One widget of a plan from JSON. */
#include "dashboard/plan_read.h"

#include "base/text.h"

#include <stdio.h>

static const char *const fields[] = {
    "id",        "type",   "role", "title", "metric", "aggregation", "over", "percent", "latest",  "clock",
    "dimension", "bucket", "by",   "order", "limit",  "other",       "x",    "y",       "columns", NULL};

/* What people and models call them, too. */
static const struct {
    const char *word, *name;
} other_words[] = {
    {"doughnut", "donut"},
    {"heatmap", "heat"},
    {"column", "bar"},
    {"columns", "bar"},
    {"number", "kpi"},
    {"card", "kpi"},
    {"metric", "kpi"},
    {"stat", "kpi"},
    {"points", "scatter"},
    {"bubble", "scatter"},
    {"barh", "hbar"},
    {"horizontal_bar", "hbar"},
    {"average", "avg"},
    {"mean", "avg"},
    {"minimum", "min"},
    {"maximum", "max"},
    {"total", "sum"},
    {"distinct", "count_distinct"},
    {"countDistinct", "count_distinct"},
    {"nunique", "count_distinct"},
};

struct names {
    const char *field;
    const char *(*name)(int);
    int n;
};

static const char *type_name(int i)
{
    return al_widget_type_name((enum al_widget_type)i);
}
static const char *role_name(int i)
{
    return al_widget_role_name((enum al_widget_role)i);
}
static const char *agg_name(int i)
{
    return al_agg_name((enum al_agg)i);
}
static const char *bucket_name(int i)
{
    return al_bucket_name((enum al_bucket)i);
}

static const struct names types = {"type", type_name, AL_W_TABLE + 1},
                          roles = {"role", role_name, AL_R_TABLE + 1},
                          aggs = {"aggregation", agg_name, AL_AGG_RATIO + 1},
                          buckets = {"bucket", bucket_name, AL_BUCKET_YEAR + 1};

/* The number of a name, or -1. */
static int find_name(const struct names *n, struct al_str text)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n->n; i++)
            if (text.n && al_str_is(text, n->name(i)))
                return i;
        for (size_t i = 0; i < sizeof other_words / sizeof *other_words; i++)
            if (al_str_is(text, other_words[i].word))
                text = al_str_of(other_words[i].name);
    }
    return -1;
}

/* The widget's field as a number of the list; -1: not said, -2: said and unknown. */
static int read_name(const struct al_json *v, const struct names *n)
{
    const struct al_json *f = al_json_get(v, n->field);
    if (!f || f->type == AL_JSON_NULL)
        return -1;
    int i = al_json_is_string(f) ? find_name(n, f->str) : -1;
    return i < 0 ? -2 : i;
}

static struct al_str raw(const struct al_json *v)
{
    return al_utf8_head(v->type == AL_JSON_STRING ? v->str : v->raw, 40);
}

/* Its title, its id, or "widget 3" of the plan's list. */
static struct al_str who(struct plan_reading *r, const struct al_json *v, const struct al_widget *w)
{
    struct al_str t = al_json_get_text(v, "title");
    char number[24];
    if (t.n)
        return al_utf8_head(t, AL_DASH_WIDGET_TITLE);
    if (*w->id)
        return al_str_of(w->id);
    autobuf struct al_buf name = AL_BUF_INIT(256);
    snprintf(number, sizeof number, "%zu", r->at);
    al_text_fill(&name, al_text(&r->d->plan, AL_TEXT_NOTE_WORD_A_WIDGET),
                 &(struct al_str){number, strlen(number)}, 1);
    char *own = al_arena_dup(&r->d->arena, al_buf_str(&name));
    return own ? al_str_of(own) : AL_STR("widget");
}

static void now(struct plan_reading *r, const struct al_json *v, const struct al_widget *w, const char *field,
                const char *value)
{
    AL_NOTE(r->d, NOTE_FIELD_VALUE, who(r, v, w), al_str_of(field), raw(al_json_get(v, field)),
            al_str_of(value));
}

static void unknown(struct plan_reading *r, const struct al_json *v, const struct al_widget *w,
                    const char *field)
{
    AL_NOTE(r->d, NOTE_FIELD_DROPPED, who(r, v, w), al_str_of(field),
            al_str_of(al_text(&r->d->plan, AL_TEXT_NOTE_WORD_UNKNOWN)));
}

/* --- id, type, role --- */

static void read_id(const struct al_json *v, struct al_widget *w)
{
    struct al_str id = al_json_get_text(v, "id");
    size_t n = id.n < AL_DASH_ID - 1 ? id.n : AL_DASH_ID - 1;
    n = al_utf8_cut(id, n).n;
    for (size_t i = 0; i < n; i++)
        w->id[i] = id.p[i] ? id.p[i] : '-';
    w->id[n] = '\0';
}

static bool read_kind(struct plan_reading *r, const struct al_json *v, struct al_widget *w)
{
    static const enum al_widget_type of_role[] = {
        [AL_R_KPI] = AL_W_KPI,           [AL_R_TREND] = AL_W_LINE,    [AL_R_RANKING] = AL_W_HBAR,
        [AL_R_COMPOSITION] = AL_W_DONUT, [AL_R_CROSSTAB] = AL_W_HEAT, [AL_R_CORRELATION] = AL_W_SCATTER,
        [AL_R_TABLE] = AL_W_TABLE};
    const struct al_json *type = al_json_get(v, "type");
    int t = read_name(v, &types), role = read_name(v, &roles);
    if (t < 0 && role < 0) {
        AL_NOTE(r->d, NOTE_WIDGET_TYPE, who(r, v, w), type ? raw(type) : AL_STR("null"));
        return false;
    }
    w->type = t >= 0 ? (enum al_widget_type)t : of_role[role];
    w->role = role >= 0 ? (enum al_widget_role)role : AL_R_KPI; /* of a chart: repair finds one */
    if (t < 0)
        type ? now(r, v, w, "type", al_widget_type_name(w->type)) : (void)0;
    if (role == -2)
        unknown(r, v, w, "role");
    return true;
}

/* --- columns --- */

/* False: the widget cannot be without it. */
static bool read_column(struct plan_reading *r, const struct al_json *v, struct al_widget *w,
                        const char *field, int *ret)
{
    int c = al_plan_column(r, al_json_get(v, field));
    if (c == PLAN_NO_COLUMN)
        unknown(r, v, w, field);
    *ret = c >= 0 ? c : -1;
    return c != PLAN_MISSING;
}

static bool read_metric_column(struct plan_reading *r, const struct al_json *v, struct al_widget *w)
{
    struct al_str name = al_json_get_text(v, "metric");
    if (al_str_is(name, "*"))
        return true;
    return read_column(r, v, w, "metric", &w->metric);
}

static bool left_out(struct plan_reading *r, const struct al_json *v, const struct al_widget *w)
{
    al_buf_adds(&r->left_out, r->left_out.n ? ", " : "");
    al_buf_add_str(&r->left_out, who(r, v, w));
    return false;
}

/* --- the metric --- */

static void read_agg(struct plan_reading *r, const struct al_json *v, struct al_widget *w)
{
    struct al_widget standard = *w;
    int agg = read_name(v, &aggs);
    al_widget_measure(r->d, &standard, w->metric);
    if (w->metric >= 0 && !al_col_number(al_dash_col(r->d, w->metric)))
        standard.agg = AL_AGG_DISTINCT;
    if (agg < 0 && w->over >= 0 && w->metric >= 0)
        standard.agg = AL_AGG_RATIO;
    w->agg = agg >= 0 ? (enum al_agg)agg : standard.agg;
    if (agg == -2)
        now(r, v, w, "aggregation", al_agg_name(w->agg));
    if (agg == AL_AGG_SUM && w->metric >= 0 && al_dash_col(r->d, w->metric)->role == AL_ROLE_MEASURE &&
        al_dash_col(r->d, w->metric)->adds == AL_ADDS_NEVER)
        AL_NOTE(r->d, NOTE_SUM_OF_AVERAGE, who(r, v, w), al_dash_col(r->d, w->metric)->name);
}

static bool read_flag(struct plan_reading *r, const struct al_json *v, struct al_widget *w, const char *field,
                      bool standard)
{
    const struct al_json *f = al_json_get(v, field);
    if (!f || f->type == AL_JSON_NULL)
        return standard;
    if (f->type != AL_JSON_TRUE && f->type != AL_JSON_FALSE)
        unknown(r, v, w, field);
    return f->type == AL_JSON_TRUE || (f->type != AL_JSON_FALSE && standard);
}

/* A level that is summed counts in the last period only, unless the plan says that it wants all. */
static void read_latest(struct plan_reading *r, const struct al_json *v, struct al_widget *w)
{
    struct al_dash *d = r->d;
    const struct al_json *said = al_json_get(v, "latest");
    bool time = w->dimension >= 0 && al_dash_col(d, w->dimension)->time;
    struct al_widget level = *w;
    al_widget_measure(d, &level, w->metric);
    bool standard = level.latest && w->agg == AL_AGG_SUM && !time;
    w->latest = read_flag(r, v, w, "latest", standard);
    if (!w->latest)
        return;
    if (!read_column(r, v, w, "clock", &w->clock) || w->clock < 0)
        w->clock = al_dash_clock(d);
    if (w->clock < 0 && d->profile.n_times)
        w->clock = d->profile.times[0];
    if (standard && (!said || said->type == AL_JSON_NULL) && w->clock >= 0)
        AL_NOTE(d, NOTE_LATEST, who(r, v, w), al_dash_col(d, w->metric)->name,
                al_dash_col(d, w->clock)->name);
}

/* --- order, limit, Other --- */

static void read_limit(struct plan_reading *r, const struct al_json *v, struct al_widget *w)
{
    const struct al_json *f = al_json_get(v, "limit");
    double number;
    if (!f || f->type == AL_JSON_NULL)
        return;
    if (!al_json_double(f, &number)) {
        if (f->type == AL_JSON_NUMBER)
            w->limit = al_str_starts(f->raw, "-") ? -1 : 1000; /* too large for a number */
        else
            unknown(r, v, w, "limit");
        return;
    }
    w->limit = number >= 1000 ? 1000 : number < 1 ? -1 : (int)number;
}

static void read_order(struct plan_reading *r, const struct al_json *v, struct al_widget *w)
{
    const struct al_json *f = al_json_get(v, "order");
    struct al_widget standard = *w;
    bool pie = w->type == AL_W_PIE || w->type == AL_W_DONUT;
    if (w->dimension >= 0 && !al_dash_col(r->d, w->dimension)->time)
        al_widget_order(r->d, &standard);
    w->order = pie ? AL_ORDER_VALUE : standard.order;
    if (al_json_is_string(f) && (al_str_is(f->str, "key") || al_str_is(f->str, "value")))
        w->order = al_str_is(f->str, "key") ? AL_ORDER_KEY : AL_ORDER_VALUE;
    else if (f && f->type != AL_JSON_NULL)
        now(r, v, w, "order", w->order == AL_ORDER_KEY ? "key" : "value");
    bool whole = pie && al_widget_adds(w) && w->dimension >= 0 && !al_dash_col(r->d, w->dimension)->time;
    w->other = read_flag(r, v, w, "other", whole && w->order == AL_ORDER_VALUE);
}

static void read_chart(struct plan_reading *r, const struct al_json *v, struct al_widget *w)
{
    int bucket = read_name(v, &buckets);
    w->bucket = bucket > 0 ? (enum al_bucket)bucket : AL_BUCKET_NONE;
    if (bucket == -2)
        unknown(r, v, w, "bucket");
    read_order(r, v, w);
    read_limit(r, v, w);
}

static void read_columns(struct plan_reading *r, const struct al_json *v, struct al_widget *w)
{
    autobuf struct al_buf cut = AL_BUF_INIT(8192);
    const struct al_json *list = al_json_get(v, "columns");
    size_t seen = 0;
    if (!list || list->type != AL_JSON_ARRAY)
        return;
    al_json_each(it, list)
    {
        int c = seen++ < PLAN_READ ? al_plan_column(r, it) : PLAN_ABSENT;
        bool twice = c < 0;
        for (size_t i = 0; i < w->n_columns; i++)
            twice = twice || w->columns[i] == c;
        if (twice)
            continue;
        if (w->n_columns < AL_DASH_TABLE_COLUMNS) {
            w->columns[w->n_columns++] = c;
            continue;
        }
        al_buf_adds(&cut, cut.n ? ", " : "");
        al_buf_add_str(&cut, al_dash_col(r->d, c)->name);
    }
    if (cut.n)
        AL_NOTE(r->d, NOTE_TABLE_CUT, who(r, v, w), al_buf_str(&cut));
}

/* --- all of it --- */

static void read_title(struct plan_reading *r, const struct al_json *v, struct al_widget *w)
{
    struct al_str title = al_json_get_text(v, "title"), head = al_utf8_head(title, AL_DASH_WIDGET_TITLE);
    if (!title.n || (w->type == AL_W_SCATTER && (w->x < 0 || w->y < 0)) || al_title_is_made(r->d, w, title))
        return;
    char *own = al_arena_dup(&r->d->arena, head);
    if (!own)
        return;
    w->title = (struct al_str){own, head.n};
    if (head.n < title.n)
        AL_NOTE(r->d, NOTE_TITLE, head, AL_STR("80"));
}

static bool read_body(struct plan_reading *r, const struct al_json *v, struct al_widget *w)
{
    bool all = true;
    if (w->type == AL_W_TABLE) {
        read_columns(r, v, w);
        read_limit(r, v, w);
        return true;
    }
    if (w->type == AL_W_SCATTER) {
        all = read_column(r, v, w, "x", &w->x);
        return read_column(r, v, w, "y", &w->y) && all;
    }
    all = read_metric_column(r, v, w);
    all = read_column(r, v, w, "over", &w->over) && all;
    if (w->type != AL_W_KPI) {
        all = read_column(r, v, w, "dimension", &w->dimension) && all;
        (void)read_column(r, v, w, "by", &w->by); /* it can be without */
    }
    if (!all)
        return false;
    read_agg(r, v, w);
    w->percent = w->agg == AL_AGG_RATIO && read_flag(r, v, w, "percent", false);
    read_latest(r, v, w);
    if (w->type != AL_W_KPI)
        read_chart(r, v, w);
    return true;
}

bool al_plan_read_widget(struct plan_reading *r, const struct al_json *v, struct al_widget *ret)
{
    *ret = al_widget_of(AL_W_KPI, AL_R_KPI);
    if (v->type != AL_JSON_OBJECT) {
        al_plan_note(r->d, AL_TEXT_NOTE_WIDGET_NO_OBJECT, NULL, 0);
        return false;
    }
    read_id(v, ret);
    if (!read_kind(r, v, ret))
        return false;
    al_plan_unknown_fields(r, v, fields);
    if (!read_body(r, v, ret))
        return left_out(r, v, ret);
    read_title(r, v, ret);
    return true;
}
