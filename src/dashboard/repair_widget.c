/* Holds one widget to the rules. Run twice, the second time changes nothing. */
#include "dashboard/plan_int.h"

#include <stdio.h>

#define SLICES_SHOWN (AL_DASH_SLICES - 1)

static struct al_str who(const struct al_widget *w)
{
    return w->title.n ? w->title : al_str_of(*w->id ? w->id : al_widget_type_name(w->type));
}

static struct al_str word(const struct al_dash *d, enum al_text_id id)
{
    return al_str_of(al_text(&d->plan, id));
}

static struct al_str name_of(const struct al_dash *d, int column)
{
    return column < 0 ? AL_STR("*") : al_dash_col(d, column)->name;
}

static void dropped(struct al_dash *d, const struct al_widget *w, const char *field, enum al_text_id why)
{
    AL_NOTE(d, NOTE_FIELD_DROPPED, who(w), al_str_of(field), word(d, why));
}

static void retype(struct al_dash *d, struct al_widget *w, enum al_widget_type to)
{
    AL_NOTE(d, NOTE_FIELD_VALUE, who(w), AL_STR("type"), al_str_of(al_widget_type_name(w->type)),
            al_str_of(al_widget_type_name(to)));
    w->type = to;
}

static bool is_time(const struct al_dash *d, int column)
{
    return column >= 0 && al_dash_col(d, column)->time != AL_TIME_NONE;
}

/* --- the metric --- */

static void ratio(struct al_dash *d, struct al_widget *w)
{
    if (w->agg == AL_AGG_RATIO &&
        (w->over < 0 || w->over == w->metric || !al_col_number(al_dash_col(d, w->over)))) {
        AL_NOTE(d, NOTE_NO_OVER, who(w), name_of(d, w->metric));
        w->agg = AL_AGG_AVG;
    }
    if (w->agg != AL_AGG_RATIO) {
        w->over = -1;
        w->percent = false;
    }
}

static void clock(struct al_dash *d, struct al_widget *w)
{
    if (w->latest && is_time(d, w->dimension) && w->type != AL_W_KPI) {
        dropped(d, w, "latest", AL_TEXT_NOTE_WORD_UNUSED);
        w->latest = false;
    }
    if (w->latest && !is_time(d, w->clock)) {
        w->clock = d->profile.n_times ? d->profile.times[0] : -1;
        if (w->clock < 0) {
            AL_NOTE(d, NOTE_NO_CLOCK, who(w));
            w->latest = false;
        }
    }
    if (!w->latest)
        w->clock = -1;
}

static void metric(struct al_dash *d, struct al_widget *w)
{
    if (w->metric < 0) {
        if (w->agg != AL_AGG_COUNT)
            AL_NOTE(d, NOTE_STAR, who(w));
        w->agg = AL_AGG_COUNT;
    } else if (w->agg != AL_AGG_COUNT && w->agg != AL_AGG_DISTINCT &&
               !al_col_number(al_dash_col(d, w->metric))) {
        AL_NOTE(d, NOTE_NOT_MEASURE, who(w), name_of(d, w->metric));
        w->agg = AL_AGG_DISTINCT;
    }
    ratio(d, w);
    clock(d, w);
}

/* --- the axes --- */

static bool can_group(const struct al_dash_column *c)
{
    return c->time != AL_TIME_NONE || al_col_groups(c) || c->role == AL_ROLE_IDENTIFIER;
}

static bool dimension(struct al_dash *d, struct al_widget *w)
{
    if (w->dimension < 0 && (w->type == AL_W_LINE || w->type == AL_W_AREA) && d->profile.n_times) {
        w->dimension = d->profile.times[0];
        AL_NOTE(d, NOTE_FIELD_VALUE, who(w), AL_STR("dimension"), AL_STR("null"), name_of(d, w->dimension));
    }
    if (w->dimension < 0) {
        AL_NOTE(d, NOTE_NO_DIMENSION, who(w));
        return false;
    }
    if (!can_group(al_dash_col(d, w->dimension))) {
        AL_NOTE(d, NOTE_BAD_DIMENSION, who(w), name_of(d, w->dimension));
        return false;
    }
    return true;
}

static void second_dimension(struct al_dash *d, struct al_widget *w)
{
    enum al_text_id why = AL_TEXT_COUNT;
    if (w->by < 0)
        return;
    if (w->by == w->dimension)
        why = AL_TEXT_NOTE_WORD_SAME;
    else if (w->type == AL_W_PIE || w->type == AL_W_DONUT)
        why = AL_TEXT_NOTE_WORD_UNUSED;
    else if (!can_group(al_dash_col(d, w->by)))
        why = AL_TEXT_NOTE_WORD_MANY;
    if (why == AL_TEXT_COUNT)
        return;
    dropped(d, w, "by", why);
    w->by = -1;
}

static void bucket(struct al_dash *d, struct al_widget *w)
{
    if (!is_time(d, w->dimension)) {
        if (w->bucket)
            dropped(d, w, "bucket", AL_TEXT_NOTE_WORD_NOT_TIME);
        w->bucket = AL_BUCKET_NONE;
        return;
    }
    enum al_bucket fit = al_bucket_fit(al_dash_col(d, w->dimension), w->bucket);
    enum al_bucket own =
        al_widget_level(d, w) ? al_bucket_level(al_dash_col(d, w->dimension)) : AL_BUCKET_NONE;
    if (own != AL_BUCKET_NONE && fit > own)
        fit = own;
    if (w->bucket && w->bucket != fit)
        AL_NOTE(d, NOTE_BUCKET, who(w), al_str_of(al_bucket_name(fit)), al_str_of(al_bucket_name(w->bucket)),
                name_of(d, w->dimension));
    w->bucket = fit;
}

/* --- the kind of chart --- */

static enum al_widget_type bars(const struct al_dash *d, const struct al_widget *w)
{
    return is_time(d, w->dimension) || w->order == AL_ORDER_KEY ? AL_W_BAR : AL_W_HBAR;
}

static uint64_t slices(const struct al_dash *d, const struct al_widget *w)
{
    uint64_t n = al_dash_col(d, w->dimension)->distinct,
             limit = (uint64_t)(w->limit > 0 ? w->limit : SLICES_SHOWN);
    return n <= limit ? n : limit;
}

static void pie(struct al_dash *d, struct al_widget *w)
{
    if (w->type != AL_W_PIE && w->type != AL_W_DONUT)
        return;
    if (w->limit == AL_DASH_SLICES && w->other && al_dash_col(d, w->dimension)->distinct > AL_DASH_SLICES) {
        w->limit = SLICES_SHOWN;
        AL_NOTE(d, NOTE_LIMIT, who(w), AL_STR("5"));
    }
    if (is_time(d, w->dimension))
        AL_NOTE(d, NOTE_PIE_TIME, who(w));
    else if (!al_widget_adds(w))
        AL_NOTE(d, NOTE_PIE_ADDS, who(w), name_of(d, w->metric));
    else if (slices(d, w) > AL_DASH_SLICES)
        AL_NOTE(d, NOTE_PIE_MANY, who(w));
    else
        return;
    w->type = bars(d, w);
}

static bool many(const struct al_dash *d, int column)
{
    return al_dash_col(d, column)->distinct > AL_DASH_SERIES && !al_dash_col(d, column)->time;
}

/* Two dimensions: stacked where parts add up and are few, lines over time, else heat. */
static void cross(struct al_dash *d, struct al_widget *w)
{
    bool stacked = w->type == AL_W_BAR || w->type == AL_W_HBAR || w->type == AL_W_AREA;
    bool time = is_time(d, w->dimension);
    bool long_heat = w->type == AL_W_HEAT && time &&
                     al_bucket_count(al_dash_col(d, w->dimension), w->bucket) > AL_DASH_HEAT;
    if ((stacked && (!al_widget_adds(w) || many(d, w->by))) || long_heat) {
        if (time) {
            retype(d, w, AL_W_LINE);
        } else {
            AL_NOTE(d, NOTE_STACK_HEAT, who(w), name_of(d, w->by));
            w->type = AL_W_HEAT;
        }
    }
}

static void kind(struct al_dash *d, struct al_widget *w)
{
    bool time = is_time(d, w->dimension);
    if ((w->type == AL_W_LINE || w->type == AL_W_AREA) && !time) {
        AL_NOTE(d, NOTE_NOT_TIME, who(w), name_of(d, w->dimension));
        w->type = AL_W_BAR;
    }
    if (w->type == AL_W_HBAR && time)
        retype(d, w, AL_W_BAR);
    pie(d, w);
    if (w->type == AL_W_HEAT && w->by < 0) {
        AL_NOTE(d, NOTE_HEAT, who(w));
        w->type = bars(d, w);
    }
    if (w->by >= 0)
        cross(d, w);
}

/* --- order, limit, Other --- */

static void limit(struct al_dash *d, struct al_widget *w, int standard)
{
    int most = w->order == AL_ORDER_KEY && w->type != AL_W_HEAT && w->type != AL_W_TABLE ? AL_DASH_KEYS
                                                                                         : AL_DASH_LIMIT;
    int now = w->limit == 0 ? standard : w->limit < 1 ? 1 : w->limit > most ? most : w->limit;
    char text[16];
    if (w->limit != 0 && now != w->limit) {
        (void)snprintf(text, sizeof text, "%d", now);
        AL_NOTE(d, NOTE_LIMIT, who(w), al_str_of(text));
    }
    w->limit = now;
}

static void order(struct al_dash *d, struct al_widget *w)
{
    bool time = is_time(d, w->dimension);
    if (w->other && (time || w->by >= 0 || !al_widget_adds(w) || w->order == AL_ORDER_KEY)) {
        AL_NOTE(d, NOTE_OTHER, who(w));
        w->other = false;
    }
    if (time) {
        w->order = AL_ORDER_KEY;
        w->limit = 0;
        return;
    }
    struct al_widget standard = *w;
    al_widget_order(d, &standard);
    if (w->type == AL_W_PIE || w->type == AL_W_DONUT) {
        standard.limit = SLICES_SHOWN;
    } else if (w->type == AL_W_HEAT) {
        uint64_t all = al_dash_col(d, w->dimension)->distinct;
        standard.limit = all > 0 && all < AL_DASH_HEAT ? (int)all : AL_DASH_HEAT;
    }
    limit(d, w, standard.limit);
}

static enum al_widget_role role_of(const struct al_dash *d, const struct al_widget *w)
{
    switch (w->type) {
    case AL_W_KPI:
        return AL_R_KPI;
    case AL_W_SCATTER:
        return AL_R_CORRELATION;
    case AL_W_TABLE:
        return AL_R_TABLE;
    default:
        break;
    }
    bool chart = w->role == AL_R_TREND || w->role == AL_R_RANKING || w->role == AL_R_COMPOSITION ||
                 w->role == AL_R_CROSSTAB;
    if (chart && (w->role != AL_R_CROSSTAB || w->by >= 0))
        return w->role;
    if (w->by >= 0)
        return AL_R_CROSSTAB;
    if (is_time(d, w->dimension))
        return AL_R_TREND;
    return w->type == AL_W_PIE || w->type == AL_W_DONUT ? AL_R_COMPOSITION : AL_R_RANKING;
}

/* --- the others --- */

static bool scatter(struct al_dash *d, const struct al_widget *w)
{
    if (w->x >= 0 && w->y >= 0 && w->x != w->y && al_dash_col(d, w->x)->role == AL_ROLE_MEASURE &&
        al_dash_col(d, w->y)->role == AL_ROLE_MEASURE)
        return true;
    AL_NOTE(d, NOTE_SCATTER, who(w));
    return false;
}

static bool table(struct al_dash *d, struct al_widget *w)
{
    w->order = AL_ORDER_VALUE;
    limit(d, w, PLAN_RANKING);
    if (!w->n_columns)
        AL_NOTE(d, NOTE_TABLE, who(w));
    return w->n_columns > 0;
}

static void keep_metric(struct al_widget *w)
{
    struct al_widget x = al_widget_of(w->type, w->role);
    memcpy(x.id, w->id, sizeof x.id);
    x.title = w->title;
    x.metric = w->metric;
    x.over = w->over;
    x.agg = w->agg;
    x.percent = w->percent;
    x.latest = w->latest;
    x.clock = w->clock;
    *w = x;
}

bool al_widget_repair(struct al_dash *d, struct al_widget *w)
{
    bool good = true;
    if (w->type == AL_W_SCATTER) {
        good = scatter(d, w);
    } else if (w->type == AL_W_TABLE) {
        good = table(d, w);
    } else {
        if (w->type == AL_W_KPI)
            keep_metric(w);
        metric(d, w);
        good = w->type == AL_W_KPI || dimension(d, w);
        if (good && w->type != AL_W_KPI) {
            second_dimension(d, w);
            bucket(d, w);
            clock(d, w);
            kind(d, w);
            order(d, w);
        }
    }
    w->role = role_of(d, w);
    return good;
}
