/* What the page counts again in the browser: chips, and each widget's numbers by them. */
#include "dashboard/page_int.h"
#include "dashboard/sql_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SCRATCH ((size_t)2 << 20)
#define EXACT_TEXT ((size_t)200 << 10) /* bytes of cells; above, fewer digits are written */

static void put_words(struct al_page *p, struct al_jw *w)
{
    static const struct {
        const char *key;
        enum al_text_id id;
    } words[] = {
        {"rows", AL_TEXT_PAGE_ROWS_OF}, {"all", AL_TEXT_PAGE_ROWS},
        {"other", AL_TEXT_PAGE_OTHER},  {"top", AL_TEXT_PAGE_TOP},
        {"more", AL_TEXT_PAGE_MORE},    {"none", AL_TEXT_PAGE_NOTHING},
        {"fixed", AL_TEXT_PAGE_FIXED},  {"copyHint", AL_TEXT_PAGE_COPY_HINT},
        {"copy", AL_TEXT_PAGE_COPY},    {"copied", AL_TEXT_PAGE_COPIED},
        {"close", AL_TEXT_PAGE_CLOSE},  {"figure", AL_TEXT_PAGE_FIGURE},
        {"value", AL_TEXT_PAGE_VALUE},  {"kpis", AL_TEXT_PAGE_KPIS},
    };
    al_jw_key(w, "words");
    al_jw_obj(w);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        al_jw_kstrz(w, words[i].key, al_text(&p->d->plan, words[i].id));
    al_jw_kstr(w, "file", p->d->plan.title);
    al_jw_end(w);
}

/* --- cells: words by commas, for each a step from the one before where it is not 1, then its values --- */

static void put_number(struct al_buf *out, double v, int digits)
{
    char text[40];
    if (v == trunc(v) && fabs(v) < 9e15)
        snprintf(text, sizeof text, "%.0f", v);
    else
        snprintf(text, sizeof text, "%.*g", digits, v);
    if (out->n)
        al_buf_addc(out, ',');
    al_buf_adds(out, text);
}

/* weigh: with how many rows there are, where what is shown is chosen by them and the numbers do not say it.
 */
static void put_values(struct al_buf *out, enum al_agg agg, bool weigh, const struct al_cube_cell *c,
                       int digits)
{
    if (agg == AL_AGG_COUNT || agg == AL_AGG_AVG || weigh)
        put_number(out, (double)c->n, digits);
    if (agg == AL_AGG_SUM || agg == AL_AGG_AVG || agg == AL_AGG_RATIO)
        put_number(out, c->sum, digits);
    if (agg == AL_AGG_RATIO)
        put_number(out, c->over, digits);
    if (agg == AL_AGG_MIN || agg == AL_AGG_MAX)
        put_number(out, agg == AL_AGG_MIN ? c->min : c->max, digits);
}

static int64_t number_of(const struct al_cube *q, const struct al_cube_widget *x,
                         const struct al_cube_cell *c)
{
    uint64_t at = 0;
    for (size_t k = 0; k < q->n_chips; k++)
        at = at * q->n_values[k] + c->chip[k];
    at = at * (x->n_labels ? x->n_labels : 1) + c->label;
    return (int64_t)(at * (x->n_series ? x->n_series : 1) + c->series);
}

/* out is empty at first. */
static void put_cells(const struct al_cube *q, const struct al_cube_widget *x, enum al_agg agg, int digits,
                      struct al_buf *out)
{
    bool weigh = x->n_series && (agg == AL_AGG_RATIO || agg == AL_AGG_MIN || agg == AL_AGG_MAX);
    int64_t before = -1;
    for (size_t i = 0; i < x->n_cells; i++) {
        const struct al_cube_cell *c = &x->cells[i];
        if (!c->n)
            continue;
        int64_t at = number_of(q, x, c);
        if (at != before + 1)
            al_buf_addf(out, out->n ? ",+%lld" : "+%lld", (long long)(at - before));
        put_values(out, agg, weigh, c, digits);
        before = at;
    }
}

/* Digits that keep all cells within their room: 15, or fewer. */
static int digits_of(const struct al_page *p)
{
    const struct al_cube *q = p->d->cube;
    for (int digits = 15; digits > 10; digits -= digits > 12 ? 3 : 2) {
        size_t all = 0;
        for (size_t i = 0; i < p->d->plan.n_widgets; i++) {
            autobuf struct al_buf cells = AL_BUF_INIT(SCRATCH);
            if (p->counted[i])
                put_cells(q, &q->widgets[i], p->d->plan.widgets[i].agg, digits, &cells);
            all += cells.n;
        }
        if (all <= EXACT_TEXT)
            return digits;
    }
    return 10;
}

static void put_strs(struct al_jw *w, const char *key, const struct al_str *list, size_t n)
{
    al_jw_key(w, key);
    al_jw_arr(w);
    for (size_t i = 0; i < n; i++)
        al_jw_str(w, list[i]);
    al_jw_end(w);
}

static void put_cell_text(struct al_page *p, struct al_jw *w, const char *key, const struct al_cube_widget *x,
                          enum al_agg agg, int digits)
{
    autobuf struct al_buf cells = AL_BUF_INIT(SCRATCH);
    put_cells(p->d->cube, x, agg, digits, &cells);
    al_jw_kstr(w, key, al_buf_str(&cells));
    if (al_buf_failed(&cells))
        p->out->failed = true;
}

static void put_labels(struct al_page *p, struct al_jw *w, const struct al_widget *x,
                       const struct al_cube_widget *c)
{
    put_strs(w, "keys", c->labels, c->n_labels);
    al_jw_key(w, "labels");
    al_jw_arr(w);
    for (size_t i = 0; i < c->n_labels; i++)
        al_jw_str(w, al_page_key(p, x, false, c->labels[i]));
    al_jw_end(w);
    al_jw_key(w, "series");
    al_jw_arr(w);
    for (size_t i = 0; i < c->n_series && x->dimension >= 0; i++)
        al_jw_str(w, x->by >= 0 ? al_page_key(p, x, true, c->series[i]) : AL_STR(""));
    al_jw_end(w);
}

static void put_widget(struct al_page *p, struct al_jw *w, size_t i, int digits)
{
    const struct al_widget *x = &p->d->plan.widgets[i];
    const struct al_result *r = &p->d->results[i];
    const struct al_cube_widget *c = &p->d->cube->widgets[i];
    bool time = al_axis_bucket(p->d, x, false) != AL_BUCKET_NONE;
    double v = 0, largest = al_page_largest(r);
    if (x->type == AL_W_KPI && al_page_cell_number(&r->value, &v))
        largest = fabs(v);
    struct al_number_style s = al_number_style_of(p->d, x, largest);
    al_jw_obj(w);
    al_jw_kstrz(w, "id", x->id);
    al_jw_kstrz(w, "agg", al_agg_name(x->agg));
    al_jw_key(w, "fmt");
    al_format_options(&s, w);
    if (s.unit_percent)
        al_jw_kstrz(w, "unit", "%");
    if (x->type == AL_W_KPI && !s.percent)
        al_jw_kbool(w, "compact", true);
    al_jw_kstrz(w, "order", x->order == AL_ORDER_KEY ? "key" : "value");
    if (time)
        al_jw_kbool(w, "time", true);
    al_jw_kint(w, "limit", time || x->type == AL_W_KPI ? 0 : al_widget_limit(x));
    if (x->other)
        al_jw_kbool(w, "other", true);
    put_labels(p, w, x, c);
    put_cell_text(p, w, "cells", c, x->agg, digits);
    al_jw_end(w);
}

static void put_cube(struct al_page *p, struct al_jw *w)
{
    const struct al_dash *d = p->d;
    const struct al_cube *q = d->cube;
    int digits = digits_of(p);
    al_jw_key(w, "chips");
    al_jw_arr(w);
    for (size_t k = 0; k < q->n_chips; k++) {
        al_jw_obj(w);
        al_jw_key(w, "values");
        al_jw_arr(w);
        for (size_t i = 0; i < q->n_values[k]; i++)
            al_jw_str(w, al_page_label(p, q->chips[k], AL_BUCKET_NONE, q->values[k][i]));
        al_jw_end(w);
        al_jw_end(w);
    }
    al_jw_end(w);
    put_cell_text(p, w, "rows", &q->rows, AL_AGG_COUNT, digits);
    al_jw_key(w, "widgets");
    al_jw_arr(w);
    for (size_t i = 0; i < d->plan.n_widgets; i++) {
        if (p->counted[i])
            put_widget(p, w, i, digits);
    }
    al_jw_end(w);
}

void al_page_cube(struct al_page *p)
{
    struct al_jw w;
    al_jw_init(&w, &p->json);
    al_jw_obj(&w);
    al_jw_kint(&w, "v", 1);
    put_words(p, &w);
    if (p->d->cube && p->d->cube->n_chips)
        put_cube(p, &w);
    al_jw_end(&w);
    al_page_add(p, "<script type=\"application/json\" id=\"ac-cube\">");
    al_page_inert(p);
    al_page_add(p, "</script>\n");
}
