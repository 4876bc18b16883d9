/* A dashboard as one HTML page, complete without its scripts. page/dashboard.js says how it is built. */
#include "dashboard/page_int.h"
#include "dashboard/sql_int.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SCRATCH ((size_t)2 << 20)
#define COMPACT 1e6  /* key figures from here on are written short */
#define LONG_AXIS 12 /* labels that want a wide card */
#define WIDE_TABLE 6 /* columns, likewise */

/* --- the page's head --- */

static struct al_str time_text(struct al_page *p, enum al_bucket b, const char *iso)
{
    char key[16];
    if (!al_bucket_key(b, al_str_of(iso), key))
        return AL_STR("");
    al_format_bucket(p->fmt, b, al_str_of(key), &p->text);
    return al_page_keep(p);
}

static struct al_str between(struct al_page *p, struct al_str first, struct al_str last)
{
    return al_str_eq(first, last) ? first : AL_PAGE_FILL(p, AL_TEXT_PAGE_PERIOD, first, last);
}

/* From the first to the last moment of a time column, where no filter takes some of it away. Days, not the
 * weeks or hours that they are counted by. */
static struct al_str span(struct al_page *p, int column, enum al_bucket b)
{
    const struct al_dash_column *c = &p->d->catalog.columns[column];
    if (p->d->plan.n_filters)
        return AL_STR("");
    if (b == AL_BUCKET_HOUR || b == AL_BUCKET_WEEK)
        b = AL_BUCKET_DAY;
    struct al_str first = time_text(p, b, c->first), last = time_text(p, b, c->last);
    return first.n && last.n ? between(p, first, last) : AL_STR("");
}

/* Of weeks, whose Mondays may lie before all rows: months, and none that the column does not reach. */
static struct al_str weeks(struct al_page *p, int column, const struct al_result *r)
{
    const struct al_dash_column *c = &p->d->catalog.columns[column];
    char first[16], last[16];
    snprintf(first, sizeof first, "%.*s", AL_FMT(al_utf8_head(r->labels[0], 10)));
    snprintf(last, sizeof last, "%.*s", AL_FMT(al_utf8_head(r->labels[r->n_labels - 1], 10)));
    bool early = c->first[0] && strncmp(first, c->first, 10) < 0;
    struct al_str from = time_text(p, AL_BUCKET_MONTH, early ? c->first : first);
    return between(p, from, time_text(p, AL_BUCKET_MONTH, last));
}

/* The time that the rows are of: the axis of a trend, else the first time column. */
static struct al_str period(struct al_page *p)
{
    const struct al_dash *d = p->d;
    for (size_t i = 0; i < d->plan.n_widgets; i++) {
        const struct al_widget *w = &d->plan.widgets[i];
        const struct al_result *r = &d->results[i];
        enum al_bucket axis = al_axis_bucket(d, w, false);
        if (r->failed || axis == AL_BUCKET_NONE || w->role != AL_R_TREND || !r->n_labels)
            continue;
        struct al_str whole = span(p, w->dimension, axis);
        if (whole.n)
            return whole;
        if (axis == AL_BUCKET_WEEK)
            return weeks(p, w->dimension, r);
        return between(p, al_page_key(p, w, false, r->labels[0]),
                       al_page_key(p, w, false, r->labels[r->n_labels - 1]));
    }
    int first = d->profile.n_times ? d->profile.times[0] : -1;
    return first < 0 ? AL_STR("") : span(p, first, al_bucket_for(&d->catalog.columns[first]));
}

/* Rows that the filters keep. False: nobody has counted them. */
static bool kept_rows(const struct al_dash *d, uint64_t *ret)
{
    *ret = d->has_kept ? d->kept : d->catalog.rows;
    return d->has_kept || !d->plan.n_filters;
}

static struct al_str row_words(struct al_page *p)
{
    uint64_t all = p->d->catalog.rows, kept;
    if (kept_rows(p->d, &kept) && kept != all)
        return AL_PAGE_FILL(p, AL_TEXT_PAGE_ROWS_OF, al_page_count(p, kept), al_page_count(p, all));
    return AL_PAGE_FILL(p, all == 1 ? AL_TEXT_PAGE_ROW : AL_TEXT_PAGE_ROWS, al_page_count(p, all));
}

static void put_filter_words(struct al_page *p)
{
    struct al_str words = al_page_filter_words(p);
    if (words.n)
        al_page_line(p, "<p class=\"ac-sub\">", words, "</p>\n");
}

static void put_title(struct al_page *p)
{
    const struct al_dash *d = p->d;
    struct al_str source = al_page_source(p), time = period(p);
    al_page_line(p, "<header><h1>", d->plan.title, "</h1>\n<p class=\"ac-sub\">");
    if (source.n)
        al_page_line(p, "", source, " · ");
    al_page_show(p, row_words(p));
    if (time.n)
        al_page_line(p, " · ", time, "");
    al_page_add(p, "</p>\n");
    put_filter_words(p);
    al_page_add(p, "</header>\n");
}

static void put_chips(struct al_page *p)
{
    const struct al_cube *q = p->d->cube;
    if (!q || !q->n_chips)
        return;
    al_page_add(p, "<section class=\"ac-filters\" aria-label=\"");
    al_page_word(p, AL_TEXT_PAGE_FILTERS);
    al_page_add(p, "\" hidden>\n");
    for (size_t k = 0; k < q->n_chips; k++) {
        al_buf_addf(p->out, "<fieldset data-ac-chip=\"%zu\">", k);
        al_page_line(p, "<legend>", al_page_name(p, q->chips[k]), "</legend>");
        for (size_t i = 0; i < q->n_values[k]; i++) {
            al_buf_addf(p->out, "<button type=\"button\" aria-pressed=\"false\" data-ac-value=\"%zu\">", i);
            al_page_show(p, al_page_label(p, q->chips[k], AL_BUCKET_NONE, q->values[k][i]));
            al_page_add(p, "</button>");
        }
        al_page_add(p, "</fieldset>\n");
    }
    al_page_add(p, "<button type=\"button\" class=\"ac-clear\" disabled>");
    al_page_say(p, AL_TEXT_PAGE_CLEAR);
    al_page_add(p, "</button><p class=\"ac-state\" role=\"status\"></p>\n</section>\n");
}

/* --- key figures --- */

static void put_exact(struct al_page *p, double v, const struct al_number_style *s)
{
    struct al_str exact = al_page_number(p, s, v);
    al_page_add(p, "<span data-ac-v=\"");
    al_page_digits(p, v);
    if (fabs(v) >= COMPACT && !s->percent) {
        struct al_number_style brief = {.compact = true, .unit_percent = s->unit_percent, .max_digits = 1};
        al_page_attr(p, "\" title=\"", exact, "\"><span aria-hidden=\"true\">");
        al_page_attr(p, "", al_page_number(p, &brief, v), "</span><span class=\"ac-hidden\">");
        al_page_attr(p, "", exact, "</span></span>");
    } else {
        al_page_attr(p, "\">", exact, "</span>");
    }
}

/* "As of 2005", of what counts the last period only; "". */
static struct al_str last_period(struct al_page *p, const struct al_widget *w, const struct al_result *r)
{
    if (!r->period.n || w->clock < 0)
        return AL_STR("");
    return AL_PAGE_FILL(p, AL_TEXT_PAGE_AS_OF,
                        al_page_label(p, w->clock, al_clock_bucket(p->d, w), r->period));
}

static void put_kpi(struct al_page *p, const struct al_widget *w, const struct al_result *r)
{
    double v = 0;
    al_page_add(p, "<div class=\"ac-kpi\" data-ac-widget=\"");
    al_page_text(p, al_str_of(w->id));
    al_page_line(p, "\"><dt>", w->title, "</dt><dd class=\"ac-value\">");
    if (al_page_cell_number(&r->value, &v)) {
        struct al_number_style s = al_number_style_of(p->d, w, fabs(v));
        put_exact(p, v, &s);
    } else {
        struct al_str text = r->value.kind == AL_DASH_CELL_TEXT ? r->value.text : AL_STR("\xe2\x80\x94");
        al_page_line(p, "<span>", al_page_cut(p, text, p->chars), "</span>");
    }
    al_page_add(p, "</dd>");
    struct al_str as_of = last_period(p, w, r);
    if (as_of.n)
        al_page_line(p, "<dd class=\"ac-extra\">", as_of, "</dd>");
    al_page_add(p, "</div>\n");
}

static void put_kpis(struct al_page *p)
{
    const struct al_dash *d = p->d;
    bool any = false;
    for (size_t i = 0; i < d->plan.n_widgets; i++) {
        if (d->plan.widgets[i].type != AL_W_KPI || d->results[i].failed)
            continue;
        al_page_add(p, any ? "" : "<dl class=\"ac-kpis\">\n");
        any = true;
        put_kpi(p, &d->plan.widgets[i], &d->results[i]);
    }
    if (!any)
        return;
    al_page_add(p, "</dl>\n<p class=\"ac-tools\"><button type=\"button\" class=\"ac-csv\" "
                   "data-ac-csv=\"kpis\" aria-label=\"CSV: ");
    al_page_word(p, AL_TEXT_PAGE_KPIS);
    al_page_add(p, "\">CSV</button></p>\n");
}

/* --- cards --- */

static void put_note(struct al_page *p, const char *classes, struct al_str text)
{
    al_page_add(p, "<p class=\"ac-note");
    al_page_add(p, classes);
    al_page_line(p, "\">", text, "</p>");
}

static bool is_time(const struct al_page *p, const struct al_widget *w)
{
    return al_axis_bucket(p->d, w, false) != AL_BUCKET_NONE;
}

static bool has_gap(const struct al_page *p, const struct al_widget *w, const struct al_result *r)
{
    for (size_t i = 0; is_time(p, w) && i < r->n_labels * r->n_series; i++) {
        if (!isfinite(r->values[i]))
            return true;
    }
    return false;
}

/* What rows that are left out do not have: "Region", "Status", or one of both. */
static struct al_str lacking(struct al_page *p, const struct al_widget *w)
{
    const struct al_dash_column *columns = p->d->catalog.columns;
    struct al_str name = al_page_name(p, w->dimension);
    if (w->by < 0 || (columns[w->dimension].nulls && !columns[w->by].nulls))
        return name;
    struct al_str other = al_page_name(p, w->by);
    if (columns[w->by].nulls && !columns[w->dimension].nulls)
        return other;
    al_buf_add_str(&p->text, name);
    al_buf_adds(&p->text, al_text_or(&p->d->plan, other));
    al_buf_add_str(&p->text, other);
    return al_page_keep(p);
}

static void put_notes(struct al_page *p, const struct al_widget *w, const struct al_result *r)
{
    size_t shown = r->n_labels - (r->has_other ? 1 : 0);
    struct al_str as_of = last_period(p, w, r);
    uint64_t rows;
    if (as_of.n)
        put_note(p, "", as_of);
    if (!is_time(p, w) && r->n_labels && r->groups > shown)
        put_note(p, " ac-top",
                 AL_PAGE_FILL(p, AL_TEXT_PAGE_TOP, al_page_count(p, shown), al_page_count(p, r->groups)));
    if (w->type == AL_W_SCATTER && r->of_points > r->n_points)
        put_note(p, "",
                 AL_PAGE_FILL(p, AL_TEXT_PAGE_SAMPLE, al_page_count(p, r->n_points),
                              al_page_count(p, r->of_points)));
    if (w->type == AL_W_TABLE && kept_rows(p->d, &rows) && rows > r->n_rows)
        put_note(
            p, "",
            AL_PAGE_FILL(p, AL_TEXT_PAGE_FIRST_ROWS, al_page_count(p, r->n_rows), al_page_count(p, rows)));
    if (has_gap(p, w, r))
        put_note(p, " ac-whole", al_str_of(al_text(&p->d->plan, AL_TEXT_PAGE_GAPS)));
    if (r->left_out && w->dimension >= 0)
        put_note(p, " ac-whole",
                 AL_PAGE_FILL(p, r->left_out == 1 ? AL_TEXT_PAGE_LEFT_OUT_ONE : AL_TEXT_PAGE_LEFT_OUT,
                              al_page_count(p, r->left_out), lacking(p, w)));
}

static bool is_wide(const struct al_widget *w, const struct al_result *r)
{
    if (w->type == AL_W_HEAT)
        return r->n_series > WIDE_TABLE;
    if (w->type == AL_W_TABLE)
        return w->n_columns > WIDE_TABLE;
    return w->type != AL_W_HBAR && r->n_labels > LONG_AXIS;
}

static void put_card(struct al_page *p, size_t i)
{
    const struct al_widget *w = &p->d->plan.widgets[i];
    const struct al_result *r = &p->d->results[i];
    struct al_str id = al_str_of(w->id);
    al_page_add(p, is_wide(w, r) ? "<section class=\"ac-card ac-wide\"" : "<section class=\"ac-card\"");
    al_page_attr(p, " data-ac-widget=\"", id, "\" aria-labelledby=\"t-");
    al_page_attr(p, "", id, "\">");
    al_page_attr(p, "<h2 id=\"t-", id, "\">");
    al_page_line(p, "", w->title, "</h2>\n");
    if (w->type == AL_W_HEAT)
        al_page_heat(p, w, r);
    else if (w->type == AL_W_TABLE)
        al_page_rows(p, w, r);
    else if (w->type == AL_W_SCATTER)
        al_page_scatter(p, w, r);
    else
        al_page_figure(p, w, r);
    put_notes(p, w, r);
    if (p->d->cube && !p->counted[i]) {
        al_page_add(p, "<p class=\"ac-fixed\" hidden>");
        al_page_say(p, AL_TEXT_PAGE_FIXED);
        al_page_add(p, "</p>");
    }
    al_page_attr(p, "<p class=\"ac-tools\"><button type=\"button\" class=\"ac-csv\" aria-label=\"CSV: ",
                 w->title, "\">CSV</button></p></section>\n");
}

static void put_body(struct al_page *p)
{
    const struct al_dash *d = p->d;
    put_title(p);
    put_chips(p);
    put_kpis(p);
    al_page_add(p, "<div class=\"ac-grid\">\n");
    for (size_t i = 0; i < d->plan.n_widgets; i++) {
        if (d->plan.widgets[i].type != AL_W_KPI && !d->results[i].failed)
            put_card(p, i);
    }
    al_page_add(p, "</div>\n");
    al_page_made(p);
}

static void put_page(struct al_page *p)
{
    al_buf_clear(p->out);
    al_page_head(p);
    put_body(p);
    al_page_library(p);
}

/* For a page that is too large: takes the part with the most cells out of the cube (it says of itself that it
 * is not filtered); when there is none, cuts texts earlier. False: nothing is left to take. */
static bool write_less(struct al_page *p)
{
    size_t most = 0, found = AL_DASH_WIDGETS + 1;
    for (size_t i = 0; i < p->d->plan.n_widgets; i++) {
        if (p->counted[i] && p->d->cube->widgets[i].n_cells > most) {
            most = p->d->cube->widgets[i].n_cells;
            found = i;
        }
    }
    bool shorter = p->chars > AL_PAGE_SHORT;
    if (found <= AL_DASH_WIDGETS)
        p->counted[found] = false;
    else
        p->chars = AL_PAGE_SHORT;
    return found <= AL_DASH_WIDGETS || shorter;
}

int al_page_write(struct al_dash *d, struct al_err *err)
{
    struct al_page p = {
        .d = d, .out = d->out->html, .chars = AL_PAGE_TEXT, .fmt = al_format_new(d->plan.locale)};
    al_buf_init(&p.json, SCRATCH);
    al_buf_init(&p.text, SCRATCH);
    al_page_read_assets(&p);
    for (size_t i = 0; i < d->plan.n_widgets; i++)
        p.counted[i] = d->cube && d->cube->n_chips && d->cube->widgets[i].there && !d->results[i].failed;
    do {
        put_page(&p);
    } while ((p.out->n > AL_PAGE_MAX || al_buf_failed(p.out)) && write_less(&p));
    al_format_free(p.fmt);
    al_buf_free(&p.json);
    al_buf_free(&p.text);
    if (al_buf_failed(d->out->html))
        return al_fail(err, AL_QUERY_LIMIT,
                       "the page is larger than %zu bytes, or needs more memory than it may have",
                       d->out->html->max);
    return 0;
}
