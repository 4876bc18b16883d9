/* Charts: the figure that charts-boot.js draws, with its summary and its data table. */
#include "dashboard/page_int.h"

#include <math.h>

#define SUMMARY 8   /* points that are said to who cannot see the chart */
#define LABELLED 16 /* bars with their values beside them */

const char *al_page_kind(const struct al_widget *w, enum al_text_id *ret_word)
{
    static const struct {
        const char *kind;
        enum al_text_id word;
    } kinds[] = {
        [AL_W_LINE] = {"line", AL_TEXT_PAGE_KIND_LINE},
        [AL_W_AREA] = {"area", AL_TEXT_PAGE_KIND_AREA},
        [AL_W_BAR] = {"bar", AL_TEXT_PAGE_KIND_BAR},
        [AL_W_HBAR] = {"hbar", AL_TEXT_PAGE_KIND_BAR},
        [AL_W_PIE] = {"pie", AL_TEXT_PAGE_KIND_PIE},
        [AL_W_DONUT] = {"donut", AL_TEXT_PAGE_KIND_DONUT},
        [AL_W_SCATTER] = {"scatter", AL_TEXT_PAGE_KIND_SCATTER},
    };
    *ret_word = kinds[w->type].word;
    return kinds[w->type].kind;
}

static bool is_round(const struct al_widget *w)
{
    return w->type == AL_W_PIE || w->type == AL_W_DONUT;
}

/* One chart with what all of its parts need. */
struct figure {
    struct al_page *p;
    const struct al_widget *w;
    const struct al_result *r;
    struct al_number_style style;
    struct al_str *labels, *series; /* as they are shown */
};

static bool is_other(const struct figure *f, size_t label)
{
    return f->r->has_other && label + 1 == f->r->n_labels;
}

static double value(const struct figure *f, size_t series, size_t label)
{
    return f->r->values[series * f->r->n_labels + label];
}

static bool name_all(struct figure *f)
{
    struct al_page *p = f->p;
    f->labels = al_arena_alloc(&p->d->arena, (f->r->n_labels + 1) * sizeof *f->labels);
    f->series = al_arena_alloc(&p->d->arena, (f->r->n_series + 1) * sizeof *f->series);
    if (!f->labels || !f->series)
        return false;
    for (size_t i = 0; i < f->r->n_labels; i++)
        f->labels[i] = is_other(f, i) ? al_str_of(al_text(&p->d->plan, AL_TEXT_PAGE_OTHER))
                                      : al_page_key(p, f->w, false, f->r->labels[i]);
    for (size_t i = 0; i < f->r->n_series; i++)
        f->series[i] = f->w->by >= 0 ? al_page_key(p, f->w, true, f->r->series[i]) : AL_STR("");
    return true;
}

static int height(const struct figure *f)
{
    if (is_round(f->w))
        return 340;
    if (f->w->type != AL_W_HBAR)
        return 320;
    size_t h = 56 + 24 * f->r->n_labels;
    return h < 320 ? 320 : h > 900 ? 900 : (int)h;
}

void al_page_spec(struct al_page *p, struct al_jw *w, const struct al_widget *x, int h)
{
    enum al_text_id word;
    al_jw_kint(w, "v", 1);
    al_jw_kstrz(w, "kind", al_page_kind(x, &word));
    al_jw_kstr(w, "title", x->title);
    al_jw_kstr(w, "locale", p->d->plan.locale);
    al_jw_kint(w, "height", h);
}

static void put_series(const struct figure *f, struct al_jw *w)
{
    al_jw_key(w, "series");
    al_jw_arr(w);
    for (size_t s = 0; s < f->r->n_series; s++) {
        al_jw_obj(w);
        al_jw_kstr(w, "name", f->series[s]);
        al_jw_key(w, "values");
        al_jw_arr(w);
        for (size_t i = 0; i < f->r->n_labels; i++)
            al_jw_double(w, value(f, s, i));
        al_jw_end(w);
        al_jw_end(w);
    }
    al_jw_end(w);
}

static double total(const struct figure *f)
{
    double sum = 0;
    for (size_t i = 0; i < f->r->n_labels; i++)
        sum += isfinite(value(f, 0, i)) ? value(f, 0, i) : 0;
    return sum;
}

/* What a donut has in its middle: the whole, of what adds up. */
static void put_center(const struct figure *f, struct al_jw *w)
{
    struct al_number_style s = f->style;
    if (f->w->type != AL_W_DONUT || (f->w->agg != AL_AGG_SUM && f->w->agg != AL_AGG_COUNT))
        return;
    if (total(f) >= 1e6) {
        s.compact = true;
        s.min_digits = 0;
        s.max_digits = 1;
        s.significant = 0;
    }
    al_jw_kstr(w, "center", al_page_number(f->p, &s, total(f)));
}

static void put_spec(const struct figure *f)
{
    struct al_page *p = f->p;
    bool bars = f->w->type == AL_W_BAR || f->w->type == AL_W_HBAR;
    bool adds = f->w->agg == AL_AGG_SUM || f->w->agg == AL_AGG_COUNT;
    struct al_jw w;
    al_jw_init(&w, &p->json);
    al_jw_obj(&w);
    al_page_spec(p, &w, f->w, height(f));
    al_jw_key(&w, "labels");
    al_jw_arr(&w);
    for (size_t i = 0; i < f->r->n_labels; i++)
        al_jw_str(&w, f->labels[i]);
    al_jw_end(&w);
    put_series(f, &w);
    al_jw_key(&w, "fmt");
    al_format_options(&f->style, &w);
    if (f->style.unit_percent)
        al_jw_kstrz(&w, "unit", "%");
    if (f->r->has_other)
        al_jw_kint(&w, "other", (int64_t)f->r->n_labels - 1);
    put_center(f, &w);
    if (f->r->n_series > 1 && adds && (bars || f->w->type == AL_W_AREA))
        al_jw_kbool(&w, "stacked", true);
    if (bars && f->r->n_labels * f->r->n_series <= LABELLED)
        al_jw_kbool(&w, "valueLabels", true);
    al_jw_end(&w);
    al_page_add(p, "<script type=\"application/json\">");
    al_page_inert(p);
    al_page_add(p, "</script>");
}

/* "Bar chart, Revenue by region: North 12,300; South 9,000; and 8 more" */
static void put_summary(const struct figure *f)
{
    struct al_page *p = f->p;
    enum al_text_id word;
    size_t said = 0, all = 0;
    al_page_kind(f->w, &word);
    al_page_word(p, word);
    al_page_add(p, ", ");
    al_page_text(p, al_page_cut(p, f->w->title, AL_PAGE_BRIEF));
    al_page_add(p, ": ");
    for (size_t s = 0; s < f->r->n_series; s++) {
        for (size_t i = 0; i < f->r->n_labels; i++) {
            if (!isfinite(value(f, s, i)) || all++ >= SUMMARY)
                continue;
            al_page_add(p, said++ ? "; " : "");
            if (f->series[s].n) {
                al_page_text(p, al_page_cut(p, f->series[s], AL_PAGE_BRIEF));
                al_page_add(p, ", ");
            }
            al_page_text(p, al_page_cut(p, f->labels[i], AL_PAGE_BRIEF));
            al_page_add(p, " ");
            al_page_text(p, al_page_number(p, &f->style, value(f, s, i)));
        }
    }
    if (all > said) {
        al_page_add(p, "; ");
        al_page_text(p, AL_PAGE_FILL(p, AL_TEXT_PAGE_MORE, al_page_count(p, all - said)));
    }
}

void al_page_scroll(struct al_page *p, const struct al_widget *w, const char *classes)
{
    al_page_add(p, "<div class=\"ac-scroll\" tabindex=\"0\" role=\"group\" aria-label=\"");
    al_page_word(p, AL_TEXT_PAGE_DATA);
    al_page_add(p, ": ");
    al_page_text(p, al_page_cut(p, w->title, AL_PAGE_BRIEF));
    al_page_add(p, "\"><table class=\"ac-table");
    al_page_add(p, classes);
    al_page_add(p, "\">");
}

static void put_table(const struct figure *f, bool shares)
{
    static const struct al_number_style share = {.percent = true, .max_digits = 1};
    struct al_page *p = f->p;
    double whole = total(f);
    al_page_scroll(p, f->w, "");
    al_page_add(p, "<thead><tr><th scope=\"col\">");
    al_page_show(p, al_page_name(p, f->w->dimension));
    al_page_add(p, "</th>");
    for (size_t s = 0; s < f->r->n_series; s++) {
        al_page_add(p, "<th scope=\"col\" class=\"ac-num\">");
        al_page_show(p, f->series[s].n ? f->series[s] : al_page_name(p, f->w->metric));
        al_page_add(p, "</th>");
    }
    if (shares) {
        al_page_add(p, "<th scope=\"col\" class=\"ac-num\">");
        al_page_say(p, AL_TEXT_PAGE_SHARE);
        al_page_add(p, "</th>");
    }
    al_page_add(p, "</tr></thead><tbody>");
    for (size_t i = 0; i < f->r->n_labels; i++) {
        al_page_add(p, "<tr>");
        al_page_row_head(p, f->labels[i], is_other(f, i) ? f->labels[i] : f->r->labels[i]);
        for (size_t s = 0; s < f->r->n_series; s++)
            al_page_number_cell(p, &f->style, value(f, s, i), NULL);
        if (shares)
            al_page_number_cell(p, &share, value(f, 0, i) / whole, "share");
        al_page_add(p, "</tr>");
    }
    al_page_add(p, "</tbody></table></div>");
}

void al_page_figure(struct al_page *p, const struct al_widget *w, const struct al_result *r)
{
    struct figure f = {.p = p, .w = w, .r = r, .style = al_number_style_of(p->d, w, al_page_largest(r))};
    enum al_text_id word;
    if (!r->n_labels || !r->n_series) {
        al_page_add(p, "<p class=\"ac-none\">");
        al_page_say(p, AL_TEXT_PAGE_NOTHING);
        al_page_add(p, "</p>");
        return;
    }
    if (!name_all(&f)) {
        p->out->failed = true;
        return;
    }
    al_page_add(p, "<figure class=\"ac-chart\" data-ac-chart=\"");
    al_page_add(p, al_page_kind(w, &word));
    al_page_add(p, "\"><div class=\"ac-plot\"><canvas role=\"img\" aria-label=\"");
    put_summary(&f);
    al_page_add(p, "\"></canvas></div><details class=\"ac-data\"><summary>");
    al_page_say(p, AL_TEXT_PAGE_DATA);
    al_page_add(p, "</summary>");
    put_table(&f, is_round(w) && !f.style.percent && total(&f) > 0);
    al_page_add(p, "</details>");
    put_spec(&f);
    al_page_add(p, "</figure>\n");
}
