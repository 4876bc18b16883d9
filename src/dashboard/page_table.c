/* Tables that are no chart's: a cross-tab as a heat table, rows of the file. */
#include "dashboard/page_int.h"

#include "dataset/cell.h"

#include <math.h>

static void nothing(struct al_page *p)
{
    al_page_add(p, "<p class=\"ac-none\">");
    al_page_say(p, AL_TEXT_PAGE_NOTHING);
    al_page_add(p, "</p>");
}

void al_page_heat(struct al_page *p, const struct al_widget *w, const struct al_result *r)
{
    struct al_number_style s = al_number_style_of(p->d, w, al_page_largest(r));
    if (!r->n_labels || !r->n_series) {
        nothing(p);
        return;
    }
    al_page_scroll(p, w, " ac-heat");
    al_page_add(p, "<thead><tr><th scope=\"col\">");
    al_page_show(p, al_page_name(p, w->dimension));
    al_page_add(p, "</th>");
    for (size_t k = 0; k < r->n_series; k++) {
        al_page_add(p, "<th scope=\"col\" class=\"ac-num\">");
        al_page_show(p, al_page_key(p, w, true, r->series[k]));
        al_page_add(p, "</th>");
    }
    al_page_add(p, "</tr></thead><tbody>");
    for (size_t i = 0; i < r->n_labels; i++) {
        bool other = r->has_other && i + 1 == r->n_labels;
        struct al_str label = other ? al_str_of(al_text(&p->d->plan, AL_TEXT_PAGE_OTHER))
                                    : al_page_key(p, w, false, r->labels[i]);
        al_page_add(p, "<tr>");
        al_page_row_head(p, label, other ? label : r->labels[i]);
        for (size_t k = 0; k < r->n_series; k++)
            al_page_number_cell(p, &s, r->values[k * r->n_labels + i], NULL);
        al_page_add(p, "</tr>");
    }
    al_page_add(p, "</tbody></table></div>\n");
}

/* --- rows --- */

/* Numbers that are read as amounts; others (years, codes) stand as they are. */
static bool is_amount(const struct al_dash_column *c)
{
    return c->role == AL_ROLE_MEASURE;
}

static struct al_number_style style(struct al_page *p, const struct al_widget *w, const struct al_result *r,
                                    size_t k)
{
    struct al_widget one = *w;
    double largest = 0, v;
    for (size_t i = 0; i < r->n_rows; i++) {
        if (al_page_cell_number(&r->cells[i * w->n_columns + k], &v) && fabs(v) > largest)
            largest = fabs(v);
    }
    one.metric = w->columns[k];
    one.agg = AL_AGG_MAX; /* a value of the file, as it is */
    return al_number_style_of(p->d, &one, largest);
}

/* A day as people write it; with a time of day as it is, without the T. */
static struct al_str time_text(struct al_page *p, struct al_str iso)
{
    if (iso.n == 10) {
        al_format_bucket(p->fmt, AL_BUCKET_DAY, iso, &p->text);
        return al_page_keep(p);
    }
    if (iso.n > 10 && iso.p[10] == 'T') {
        al_buf_add(&p->text, iso.p, 10);
        al_buf_addc(&p->text, ' ');
        al_buf_add(&p->text, iso.p + 11, iso.n - 11);
        return al_page_keep(p);
    }
    return iso;
}

static void text_cell(struct al_page *p, const struct al_dash_column *c, int column, struct al_str key)
{
    struct al_str text = AL_STR("\xe2\x80\x94");
    if (key.n)
        text = c->time == AL_TIME_DATE ? time_text(p, key) : al_page_label(p, column, AL_BUCKET_NONE, key);
    al_page_add(p, "<td");
    if (!al_str_eq(text, key)) {
        al_page_add(p, " data-ac-k=\"");
        al_page_text(p, al_page_cut(p, key, p->chars));
        al_page_add(p, "\"");
    }
    al_page_add(p, ">");
    al_page_show(p, text);
    al_page_add(p, "</td>");
}

static void put_cell(struct al_page *p, int column, const struct al_number_style *s,
                     const struct al_dash_cell *x)
{
    const struct al_dash_column *c = &p->d->catalog.columns[column];
    double v = 0;
    bool number = al_page_cell_number(x, &v);
    if (is_amount(c) && x->kind != AL_DASH_CELL_TEXT) {
        al_page_number_cell(p, s, number ? v : NAN, NULL);
        return;
    }
    if (x->kind == AL_DASH_CELL_INT)
        al_buf_addf(&p->text, "%lld", (long long)x->i);
    else if (number)
        al_cell_print(v, c->scale, &p->text);
    text_cell(p, c, column, x->kind == AL_DASH_CELL_TEXT ? x->text : al_page_keep(p));
}

void al_page_rows(struct al_page *p, const struct al_widget *w, const struct al_result *r)
{
    struct al_number_style s[AL_DASH_TABLE_COLUMNS];
    if (!r->n_rows || !w->n_columns) {
        nothing(p);
        return;
    }
    al_page_scroll(p, w, " ac-rows");
    al_page_add(p, "<thead><tr>");
    for (size_t k = 0; k < w->n_columns; k++) {
        bool amount = is_amount(&p->d->catalog.columns[w->columns[k]]);
        s[k] = style(p, w, r, k);
        al_page_add(p, amount ? "<th scope=\"col\" class=\"ac-num\">" : "<th scope=\"col\">");
        al_page_show(p, al_page_name(p, w->columns[k]));
        al_page_add(p, "</th>");
    }
    al_page_add(p, "</tr></thead><tbody>");
    for (size_t i = 0; i < r->n_rows; i++) {
        al_page_add(p, "<tr>");
        for (size_t k = 0; k < w->n_columns; k++)
            put_cell(p, w->columns[k], &s[k], &r->cells[i * w->n_columns + k]);
        al_page_add(p, "</tr>");
    }
    al_page_add(p, "</tbody></table></div>\n");
}
