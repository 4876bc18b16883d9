/* A dashboard as one HTML page, complete without its scripts. page/dashboard.js says how it is built. */
#include "dashboard/page_int.h"

#include "base/text.h"

#include <math.h>

#define SCRATCH ((size_t)2 << 20)
#define COMPACT 1e6  /* key figures from here on are written short */
#define LONG_AXIS 24 /* labels that want a wide card */
#define WIDE_TABLE 6 /* columns, likewise */

static void put_line(struct al_page *p, const char *open, struct al_str text, const char *close)
{
    al_page_add(p, open);
    al_page_text(p, text);
    al_page_add(p, close);
}

/* --- the page's head --- */

/* The time that the rows are of: the first and the last period of a trend, else of the first time column. */
static struct al_str period(struct al_page *p)
{
    const struct al_dash *d = p->d;
    for (size_t i = 0; i < d->plan.n_widgets; i++) {
        const struct al_widget *w = &d->plan.widgets[i];
        const struct al_result *r = &d->results[i];
        if (r->failed || w->bucket == AL_BUCKET_NONE || w->role != AL_R_TREND || !r->n_labels)
            continue;
        struct al_str first = al_page_label(p, w->dimension, w->bucket, r->labels[0]);
        struct al_str last = al_page_label(p, w->dimension, w->bucket, r->labels[r->n_labels - 1]);
        return al_str_eq(first, last) ? first : AL_PAGE_FILL(p, AL_TEXT_PAGE_PERIOD, first, last);
    }
    return AL_STR("");
}

static void put_filter_words(struct al_page *p)
{
    const struct al_dash *d = p->d;
    autobuf struct al_buf all = AL_BUF_INIT(SCRATCH);
    if (!d->plan.n_filters)
        return;
    for (size_t i = 0; i < d->plan.n_filters; i++) {
        if (i)
            al_buf_adds(&all, al_text(&d->plan, AL_TEXT_PAGE_AND));
        al_filter_words(d, &d->plan.filters[i], &all);
    }
    put_line(p, "<p class=\"ac-sub\" dir=\"auto\">",
             AL_PAGE_FILL(p, AL_TEXT_PAGE_ONLY, al_page_cut(p, al_buf_str(&all), 2 * AL_PAGE_TEXT)),
             "</p>\n");
}

static void put_title(struct al_page *p)
{
    const struct al_dash *d = p->d;
    struct al_str source = al_page_source(p), time = period(p);
    put_line(p, "<header><h1 dir=\"auto\">", d->plan.title, "</h1>\n<p class=\"ac-sub\">");
    if (source.n)
        put_line(p, "<bdi>", source, "</bdi> · ");
    al_page_text(p, AL_PAGE_FILL(p, d->catalog.rows == 1 ? AL_TEXT_PAGE_ROW : AL_TEXT_PAGE_ROWS,
                                 al_page_count(p, d->catalog.rows)));
    if (time.n)
        put_line(p, " · <bdi>", time, "</bdi>");
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
        put_line(p, "<legend dir=\"auto\">", al_page_name(p, q->chips[k]), "</legend>");
        for (size_t i = 0; i < q->n_values[k]; i++) {
            al_buf_addf(p->out,
                        "<button type=\"button\" aria-pressed=\"false\" data-ac-value=\"%zu\" dir=\"auto\">",
                        i);
            al_page_text(p, al_page_label(p, q->chips[k], AL_BUCKET_NONE, q->values[k][i]));
            al_page_add(p, "</button>");
        }
        al_page_add(p, "</fieldset>\n");
    }
    al_page_add(p, "<button type=\"button\" class=\"ac-clear\" disabled>");
    al_page_word(p, AL_TEXT_PAGE_CLEAR);
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
        put_line(p, "\" title=\"", exact, "\"><span aria-hidden=\"true\">");
        put_line(p, "", al_page_number(p, &brief, v), "</span><span class=\"ac-hidden\">");
        put_line(p, "", exact, "</span></span>");
    } else {
        put_line(p, "\">", exact, "</span>");
    }
}

static void put_kpi(struct al_page *p, const struct al_widget *w, const struct al_result *r)
{
    double v = 0;
    al_page_add(p, "<div class=\"ac-kpi\" data-ac-widget=\"");
    al_page_text(p, al_str_of(w->id));
    put_line(p, "\"><dt dir=\"auto\">", w->title, "</dt><dd class=\"ac-value\" dir=\"auto\">");
    if (al_page_cell_number(&r->value, &v)) {
        struct al_number_style s = al_number_style_of(p->d, w, fabs(v));
        put_exact(p, v, &s);
    } else {
        struct al_str text = r->value.kind == AL_DASH_CELL_TEXT ? r->value.text : AL_STR("\xe2\x80\x94");
        put_line(p, "<span>", al_page_cut(p, text, AL_PAGE_TEXT), "</span>");
    }
    al_page_add(p, "</dd></div>\n");
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
    put_line(p, "\" dir=\"auto\">", text, "</p>");
}

static bool has_gap(const struct al_widget *w, const struct al_result *r)
{
    for (size_t i = 0; w->bucket != AL_BUCKET_NONE && i < r->n_labels * r->n_series; i++) {
        if (!isfinite(r->values[i]))
            return true;
    }
    return false;
}

static void put_notes(struct al_page *p, const struct al_widget *w, const struct al_result *r)
{
    size_t shown = r->n_labels - (r->has_other ? 1 : 0);
    if (w->bucket == AL_BUCKET_NONE && r->n_labels && r->groups > shown)
        put_note(p, " ac-top",
                 AL_PAGE_FILL(p, AL_TEXT_PAGE_TOP, al_page_count(p, shown), al_page_count(p, r->groups)));
    if (w->type == AL_W_SCATTER && r->of_points > r->n_points)
        put_note(p, "",
                 AL_PAGE_FILL(p, AL_TEXT_PAGE_SAMPLE, al_page_count(p, r->n_points),
                              al_page_count(p, r->of_points)));
    if (w->type == AL_W_TABLE && p->d->catalog.rows > r->n_rows)
        put_note(p, "",
                 AL_PAGE_FILL(p, AL_TEXT_PAGE_FIRST_ROWS, al_page_count(p, r->n_rows),
                              al_page_count(p, p->d->catalog.rows)));
    if (has_gap(w, r))
        put_note(p, " ac-whole", al_str_of(al_text(&p->d->plan, AL_TEXT_PAGE_GAPS)));
    if (r->left_out && w->dimension >= 0)
        put_note(p, " ac-whole",
                 AL_PAGE_FILL(p, AL_TEXT_PAGE_LEFT_OUT, al_page_count(p, r->left_out),
                              al_page_name(p, w->dimension)));
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
    put_line(p, " data-ac-widget=\"", id, "\" aria-labelledby=\"t-");
    put_line(p, "", id, "\">");
    put_line(p, "<h2 dir=\"auto\" id=\"t-", id, "\">");
    put_line(p, "", w->title, "</h2>\n");
    if (w->type == AL_W_HEAT)
        al_page_heat(p, w, r);
    else if (w->type == AL_W_TABLE)
        al_page_rows(p, w, r);
    else if (w->type == AL_W_SCATTER)
        al_page_scatter(p, w, r);
    else
        al_page_figure(p, w, r);
    put_notes(p, w, r);
    if (p->d->cube && !p->d->cube->widgets[i].there) {
        al_page_add(p, "<p class=\"ac-fixed\" hidden>");
        al_page_word(p, AL_TEXT_PAGE_FIXED);
        al_page_add(p, "</p>");
    }
    put_line(p, "<p class=\"ac-tools\"><button type=\"button\" class=\"ac-csv\" aria-label=\"CSV: ", w->title,
             "\">CSV</button></p></section>\n");
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

int al_page_write(struct al_dash *d, struct al_err *err)
{
    struct al_page p = {.d = d, .out = d->out->html};
    al_buf_init(&p.json, SCRATCH);
    al_buf_init(&p.text, SCRATCH);
    p.fmt = al_format_new(d->plan.locale);
    al_page_head(&p);
    put_body(&p);
    al_page_library(&p);
    al_format_free(p.fmt);
    al_buf_free(&p.json);
    al_buf_free(&p.text);
    if (al_buf_failed(d->out->html))
        return al_fail(err, AL_QUERY_LIMIT,
                       "the page is larger than %zu bytes, or needs more memory than it may have",
                       d->out->html->max);
    return 0;
}
