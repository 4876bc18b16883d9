/* Titles by templates of the plan's language. */
#include "dashboard/plan_int.h"

#include "base/text.h"

static const char *word(const struct al_dash *d, enum al_text_id id)
{
    return al_text(&d->plan, id);
}

/* A name in the middle of a title: "Unit price" loses its capital, "GDP", "Miles per Gallon" and "iPhone"
 * keep theirs. */
static void in_sentence(struct al_buf *out, struct al_str name)
{
    bool one = name.n > 0 && name.p[0] >= 'A' && name.p[0] <= 'Z';
    for (size_t i = 1; i < name.n; i++)
        if (name.p[i] >= 'A' && name.p[i] <= 'Z' && name.p[i - 1] != '(')
            one = false;
    if (name.n < 2 || name.p[1] == ' ' ||
        !((name.p[1] >= 'a' && name.p[1] <= 'z') || (unsigned char)name.p[1] >= 0x80))
        one = false; /* "A level", "X" */
    if (!one) {
        al_buf_add_str(out, name);
        return;
    }
    al_buf_addc(out, (char)(name.p[0] - 'A' + 'a'));
    al_buf_add(out, name.p + 1, name.n - 1);
}

static void fill(struct al_buf *out, const char *text, struct al_str a, struct al_str b)
{
    struct al_str gaps[2] = {a, b};
    al_text_fill(out, text, gaps, 2);
}

static bool begins_with(struct al_str name, const char *const *list)
{
    autobuf struct al_buf b = AL_BUF_INIT(64);
    for (size_t i = 0; i < name.n && i < 32 && name.p[i] != ' '; i++)
        al_buf_addc(&b, (char)(name.p[i] >= 'A' && name.p[i] <= 'Z' ? name.p[i] - 'A' + 'a' : name.p[i]));
    for (; *list; list++)
        if (al_str_is(al_buf_str(&b), *list))
            return true;
    return false;
}

/* Does the name say already how its values are put together? */
static bool says_so(const struct al_widget *w, struct al_str name)
{
    static const char *const totals[] = {"total", "totals", "sum", "suma", NULL};
    static const char *const averages[] = {"average", "avg",    "avg.",    "mean", "promedio",
                                           "media",   "median", "mediana", NULL};
    return w->agg == AL_AGG_SUM ? begins_with(name, totals)
                                : w->agg == AL_AGG_AVG && begins_with(name, averages);
}

static bool ones(const struct al_dash_column *c)
{
    return al_col_flag(c) || (c->percent && c->integers && c->has_range && c->min >= 0 && c->max <= 1);
}

/* English: revenue per unit, cost per delivery; what is not clearly a plural stays. */
static void singular(struct al_buf *name)
{
    static const char *const kept[] = {"ss",  "us",  "is",     "as",      "ches", "shes",
                                       "xes", "zes", "series", "species", "news", NULL};
    struct al_str s = al_buf_str(name);
    if (s.n < 4 || s.p[s.n - 1] != 's')
        return;
    for (const char *const *k = kept; *k; k++)
        if (al_str_ends(s, *k))
            return;
    name->n -= al_str_ends(s, "sses") ? 2 : 1;
    if (al_str_ends(s, "ies") && s.n > 4) {
        name->n -= 2;
        al_buf_addc(name, 'y');
    }
}

/* "Total revenue", "Rows", "Profit as % of sales". */
static void metric_text(const struct al_dash *d, const struct al_widget *w, struct al_buf *out)
{
    static const enum al_text_id ids[] = {
        [AL_AGG_SUM] = AL_TEXT_TITLE_SUM,     [AL_AGG_AVG] = AL_TEXT_TITLE_AVG,
        [AL_AGG_MIN] = AL_TEXT_TITLE_MIN,     [AL_AGG_MAX] = AL_TEXT_TITLE_MAX,
        [AL_AGG_COUNT] = AL_TEXT_TITLE_COUNT, [AL_AGG_DISTINCT] = AL_TEXT_TITLE_DISTINCT,
        [AL_AGG_RATIO] = AL_TEXT_TITLE_RATIO};
    autobuf struct al_buf name = AL_BUF_INIT(1024);
    if (w->metric < 0) {
        al_buf_adds(out, word(d, AL_TEXT_TITLE_ROWS));
        return;
    }
    const struct al_dash_column *c = al_dash_col(d, w->metric);
    if (w->agg == AL_AGG_RATIO && w->over >= 0) {
        in_sentence(&name, al_dash_col(d, w->over)->display);
        if (!w->percent && !d->plan.spanish)
            singular(&name);
        fill(out, word(d, w->percent ? AL_TEXT_TITLE_RATIO_PERCENT : AL_TEXT_TITLE_RATIO), c->display,
             al_buf_str(&name));
        return;
    }
    if (says_so(w, c->display)) {
        al_buf_add_str(out, c->display);
        return;
    }
    if (w->agg == AL_AGG_AVG && ones(c)) {
        fill(out, word(d, AL_TEXT_TITLE_SHARE_OF_ONES), c->display, (struct al_str){0});
        return;
    }
    if (w->agg == AL_AGG_SUM && w->latest && w->dimension < 0 && w->clock >= 0 &&
        al_dash_col(d, w->clock)->distinct == d->catalog.rows) {
        al_buf_add_str(out, c->display); /* the last period is one row: nothing is added up */
        return;
    }
    in_sentence(&name, c->display);
    fill(out, word(d, ids[w->agg]), al_buf_str(&name), (struct al_str){0});
}

static enum al_text_id per(enum al_bucket b)
{
    static const enum al_text_id ids[] = {
        [AL_BUCKET_HOUR] = AL_TEXT_TITLE_PER_HOUR,       [AL_BUCKET_DAY] = AL_TEXT_TITLE_PER_DAY,
        [AL_BUCKET_WEEK] = AL_TEXT_TITLE_PER_WEEK,       [AL_BUCKET_MONTH] = AL_TEXT_TITLE_PER_MONTH,
        [AL_BUCKET_QUARTER] = AL_TEXT_TITLE_PER_QUARTER, [AL_BUCKET_YEAR] = AL_TEXT_TITLE_PER_YEAR};
    return ids[b];
}

/* "region", "region and channel". */
static void groups_text(const struct al_dash *d, const struct al_widget *w, bool both, struct al_buf *out)
{
    autobuf struct al_buf a = AL_BUF_INIT(1024), b = AL_BUF_INIT(1024);
    in_sentence(both ? &a : out, al_dash_col(d, both         ? w->dimension
                                                : w->by >= 0 ? w->by
                                                             : w->dimension)
                                     ->display);
    if (!both)
        return;
    in_sentence(&b, al_dash_col(d, w->by)->display);
    fill(out, word(d, AL_TEXT_TITLE_AND), al_buf_str(&a), al_buf_str(&b));
}

/* "Share of revenue by region". */
static void share_text(const struct al_dash *d, const struct al_widget *w, struct al_buf *out)
{
    autobuf struct al_buf name = AL_BUF_INIT(1024), group = AL_BUF_INIT(1024);
    in_sentence(&name,
                w->metric < 0 ? al_str_of(word(d, AL_TEXT_TITLE_ROWS)) : al_dash_col(d, w->metric)->display);
    in_sentence(&group, al_dash_col(d, w->dimension)->display);
    fill(out, word(d, AL_TEXT_TITLE_SHARE), al_buf_str(&name), al_buf_str(&group));
}

static void chart_text(const struct al_dash *d, const struct al_widget *w, struct al_buf *out)
{
    autobuf struct al_buf metric = AL_BUF_INIT(2048), group = AL_BUF_INIT(2048), time = AL_BUF_INIT(2048);
    metric_text(d, w, &metric);
    if (w->dimension < 0) {
        al_buf_add_str(out, al_buf_str(&metric));
    } else if ((w->type == AL_W_PIE || w->type == AL_W_DONUT) && w->by < 0 && !w->bucket) {
        share_text(d, w, out);
    } else if (w->bucket) {
        fill(w->by >= 0 ? &time : out, word(d, per(w->bucket)), al_buf_str(&metric), (struct al_str){0});
        if (w->by >= 0) {
            groups_text(d, w, false, &group);
            fill(out, word(d, AL_TEXT_TITLE_SERIES), al_buf_str(&time), al_buf_str(&group));
        }
    } else {
        groups_text(d, w, w->by >= 0, &group);
        fill(out, word(d, AL_TEXT_TITLE_BY), al_buf_str(&metric), al_buf_str(&group));
    }
}

void al_title_text(const struct al_dash *d, const struct al_widget *w, struct al_buf *out)
{
    autobuf struct al_buf b = AL_BUF_INIT(8192), name = AL_BUF_INIT(1024), all = AL_BUF_INIT(8192);
    if (w->type == AL_W_TABLE) {
        al_buf_adds(&b, word(d, AL_TEXT_TITLE_TABLE));
    } else if (w->type == AL_W_SCATTER) {
        in_sentence(&name, al_dash_col(d, w->x)->display);
        fill(&b, word(d, AL_TEXT_TITLE_SCATTER), al_dash_col(d, w->y)->display, al_buf_str(&name));
    } else {
        chart_text(d, w, &b);
    }
    if (w->latest)
        fill(&all, word(d, AL_TEXT_TITLE_LATEST), al_buf_str(&b), (struct al_str){0});
    struct al_str s = w->latest ? al_buf_str(&all) : al_buf_str(&b);
    struct al_str head = al_utf8_head(s, AL_DASH_WIDGET_TITLE);
    if (head.n < s.n)
        head = al_utf8_head(s, AL_DASH_WIDGET_TITLE - 1);
    al_buf_add_str(out, head);
    if (head.n < s.n)
        al_buf_adds(out, "…");
}

struct al_str al_title_widget(struct al_dash *d, const struct al_widget *w)
{
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    al_title_text(d, w, &b);
    const char *z = al_arena_dup(&d->arena, al_buf_str(&b));
    return al_str_of(z ? z : "");
}

struct al_str al_title_page(struct al_dash *d)
{
    enum al_text_id id = AL_TEXT_TITLE_EXECUTIVE;
    if (d->plan.purpose && strcmp(d->plan.purpose, "operational") == 0)
        id = AL_TEXT_TITLE_OPERATIONAL;
    else if (d->plan.purpose && strcmp(d->plan.purpose, "analytical") == 0)
        id = AL_TEXT_TITLE_ANALYTICAL;
    return al_str_of(word(d, id));
}

/* --- titles that nobody wrote --- */

static bool is_title(const struct al_dash *d, const struct al_widget *w, struct al_str title)
{
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    al_title_text(d, w, &b);
    return al_str_eq(al_buf_str(&b), title);
}

static bool of_this_language(const struct al_dash *d, const struct al_widget *w, struct al_str title)
{
    struct al_widget x = *w;
    enum al_bucket most =
        w->dimension >= 0 && al_dash_col(d, w->dimension)->time ? AL_BUCKET_YEAR : AL_BUCKET_NONE;
    for (int donut = 0; donut < 2; donut++)
        for (int latest = 0; latest < 2; latest++)
            for (int agg = AL_AGG_SUM; agg <= AL_AGG_RATIO; agg++)
                for (int b = AL_BUCKET_NONE; b <= (int)most; b++) {
                    x.type = donut                                          ? AL_W_DONUT
                             : w->type == AL_W_PIE || w->type == AL_W_DONUT ? AL_W_HBAR
                                                                            : w->type;
                    x.latest = latest;
                    x.agg = (enum al_agg)agg;
                    x.bucket = (enum al_bucket)b;
                    if (is_title(d, &x, title))
                        return true;
                }
    return false;
}

bool al_title_is_made(struct al_dash *d, const struct al_widget *w, struct al_str title)
{
    bool chart = w->type != AL_W_TABLE && w->type != AL_W_SCATTER, own = d->plan.spanish, made = false;
    for (int spanish = 0; spanish < 2 && !made; spanish++) {
        d->plan.spanish = spanish;
        made = chart && w->dimension >= 0 ? of_this_language(d, w, title) : is_title(d, w, title);
        for (int agg = AL_AGG_SUM; chart && w->dimension < 0 && agg <= AL_AGG_RATIO && !made; agg++) {
            struct al_widget x = *w;
            x.agg = (enum al_agg)agg;
            made = is_title(d, &x, title);
            x.latest = !x.latest;
            made = made || is_title(d, &x, title);
        }
    }
    d->plan.spanish = own;
    return made;
}

bool al_title_page_is_made(struct al_dash *d, struct al_str title)
{
    bool own = d->plan.spanish, made = false;
    const char *purpose = d->plan.purpose;
    static const char *const purposes[] = {"executive", "operational", "analytical"};
    for (int i = 0; i < 6 && !made; i++) {
        d->plan.spanish = i % 2;
        d->plan.purpose = purposes[i / 2];
        made = al_str_eq(al_title_page(d), title);
    }
    d->plan.spanish = own;
    d->plan.purpose = purpose;
    return made;
}
