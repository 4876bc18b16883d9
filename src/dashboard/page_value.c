/* Values as the text that people read, and as the digits that scripts read. */
#include "dashboard/page_int.h"
#include "dashboard/sql_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FILTERS ((size_t)2 << 20)

struct al_str al_page_number(struct al_page *p, const struct al_number_style *s, double v)
{
    al_format_number(p->fmt, s, v, &p->text);
    return al_page_keep(p);
}

struct al_str al_page_count(struct al_page *p, uint64_t n)
{
    static const struct al_number_style whole = {0};
    return al_page_number(p, &whole, (double)n);
}

void al_page_digits(struct al_page *p, double v)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    al_page_add(p, text);
}

static const struct al_dash_column *column(const struct al_page *p, int c)
{
    return c >= 0 && (size_t)c < p->d->catalog.n ? &p->d->catalog.columns[c] : NULL;
}

struct al_str al_page_name(struct al_page *p, int c)
{
    const struct al_dash_column *x = column(p, c);
    return x ? al_page_calm(p, x->display) : al_str_of(al_text(&p->d->plan, AL_TEXT_PAGE_ROWS_NAME));
}

struct al_str al_page_source(struct al_page *p)
{
    struct al_str given = al_json_get_text(p->d->request, "source");
    return al_page_cut(p, given.n ? given : p->d->catalog.source, p->chars);
}

struct al_str al_page_filter_words(struct al_page *p)
{
    const struct al_dash *d = p->d;
    autobuf struct al_buf all = AL_BUF_INIT(FILTERS);
    for (size_t i = 0; i < d->plan.n_filters; i++) {
        if (i)
            al_buf_adds(&all, al_text(&d->plan, AL_TEXT_PAGE_AND));
        al_filter_words(d, &d->plan.filters[i], &all);
    }
    if (!all.n)
        return AL_STR("");
    return AL_PAGE_FILL(p, AL_TEXT_PAGE_ONLY, al_page_cut(p, al_buf_str(&all), 2 * p->chars));
}

struct al_str al_page_label(struct al_page *p, int c, enum al_bucket b, struct al_str key)
{
    const struct al_dash_column *x = column(p, c);
    if (!key.n)
        return al_str_of(al_text(&p->d->plan, AL_TEXT_PAGE_EMPTY));
    if (b != AL_BUCKET_NONE) {
        al_format_bucket(p->fmt, b, key, &p->text);
        return al_page_keep(p);
    }
    if (x && al_str_is(x->type, "boolean") && al_str_is(key, "true"))
        return al_str_of(al_text(&p->d->plan, AL_TEXT_PAGE_YES));
    if (x && al_str_is(x->type, "boolean") && al_str_is(key, "false"))
        return al_str_of(al_text(&p->d->plan, AL_TEXT_PAGE_NO));
    return al_page_cut(p, al_page_calm(p, key), p->chars);
}

struct al_str al_page_key(struct al_page *p, const struct al_widget *w, bool second, struct al_str key)
{
    return al_page_label(p, second ? w->by : w->dimension, al_axis_bucket(p->d, w, second), key);
}

bool al_page_cell_number(const struct al_dash_cell *c, double *ret)
{
    if (c->kind == AL_DASH_CELL_INT)
        *ret = (double)c->i;
    else if (c->kind == AL_DASH_CELL_REAL)
        *ret = c->d;
    return c->kind == AL_DASH_CELL_INT || (c->kind == AL_DASH_CELL_REAL && isfinite(c->d));
}

void al_page_number_cell(struct al_page *p, const struct al_number_style *s, double v, const char *which)
{
    al_page_add(p, "<td class=\"ac-num\"");
    if (isfinite(v)) {
        al_page_add(p, " data-ac-v=\"");
        al_page_digits(p, v);
        al_page_add(p, "\"");
        if (which) {
            al_page_add(p, " data-ac-f=\"");
            al_page_add(p, which);
            al_page_add(p, "\"");
        }
    }
    al_page_add(p, ">");
    al_page_text(p, al_page_number(p, s, v));
    al_page_add(p, "</td>");
}

void al_page_row_head(struct al_page *p, struct al_str text, struct al_str key)
{
    al_page_add(p, "<th scope=\"row\"");
    if (!al_str_eq(text, key)) {
        al_page_add(p, " data-ac-k=\"");
        al_page_text(p, al_page_cut(p, key, p->chars));
        al_page_add(p, "\"");
    }
    al_page_add(p, ">");
    al_page_show(p, text);
    al_page_add(p, "</th>");
}

double al_page_largest(const struct al_result *r)
{
    double largest = 0;
    for (size_t i = 0; i < r->n_labels * r->n_series; i++) {
        if (isfinite(r->values[i]) && fabs(r->values[i]) > largest)
            largest = fabs(r->values[i]);
    }
    return largest;
}
