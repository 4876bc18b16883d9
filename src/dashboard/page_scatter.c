/* A scatter: two measures of single rows. */
#include "dashboard/page_int.h"

#include <math.h>

#define TABLE_ROWS 200
#define SUMMARY 8

struct scatter {
    struct al_page *p;
    const struct al_widget *w;
    const struct al_result *r;
    struct al_number_style x, y;
};

static struct al_number_style style(const struct scatter *s, int column, size_t which)
{
    struct al_widget one = *s->w;
    double largest = 0;
    for (size_t i = 0; i < s->r->n_points; i++) {
        if (fabs(s->r->points[2 * i + which]) > largest)
            largest = fabs(s->r->points[2 * i + which]);
    }
    one.metric = column;
    one.agg = AL_AGG_MAX; /* a value of the file, as it is */
    return al_number_style_of(s->p->d, &one, largest);
}

static void put_spec(const struct scatter *s)
{
    struct al_page *p = s->p;
    struct al_jw w;
    al_jw_init(&w, &p->json);
    al_jw_obj(&w);
    al_page_spec(p, &w, s->w, 320);
    al_jw_kstr(&w, "xTitle", al_page_name(p, s->w->x));
    al_jw_kstr(&w, "yTitle", al_page_name(p, s->w->y));
    al_jw_key(&w, "fmt");
    al_format_options(&s->y, &w);
    al_jw_key(&w, "xFmt");
    al_format_options(&s->x, &w);
    if (s->y.unit_percent)
        al_jw_kstrz(&w, "unit", "%");
    al_jw_key(&w, "series");
    al_jw_arr(&w);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "name", "");
    al_jw_key(&w, "points");
    al_jw_arr(&w);
    for (size_t i = 0; i < s->r->n_points; i++) {
        al_jw_arr(&w);
        al_jw_double(&w, s->r->points[2 * i]);
        al_jw_double(&w, s->r->points[2 * i + 1]);
        al_jw_end(&w);
    }
    al_jw_end(&w);
    al_jw_end(&w);
    al_jw_end(&w);
    al_jw_end(&w);
    al_page_add(p, "<script type=\"application/json\">");
    al_page_inert(p);
    al_page_add(p, "</script>");
}

static void put_summary(const struct scatter *s)
{
    struct al_page *p = s->p;
    size_t n = s->r->n_points < SUMMARY ? s->r->n_points : SUMMARY;
    al_page_word(p, AL_TEXT_PAGE_KIND_SCATTER);
    al_page_add(p, ", ");
    al_page_text(p, al_page_cut(p, s->w->title, AL_PAGE_BRIEF));
    al_page_add(p, ": ");
    for (size_t i = 0; i < n; i++) {
        al_page_add(p, i ? "; (" : "(");
        al_page_text(p, al_page_number(p, &s->x, s->r->points[2 * i]));
        al_page_add(p, "; ");
        al_page_text(p, al_page_number(p, &s->y, s->r->points[2 * i + 1]));
        al_page_add(p, ")");
    }
    if (s->r->n_points > n) {
        al_page_add(p, "; ");
        al_page_text(p, AL_PAGE_FILL(p, AL_TEXT_PAGE_MORE, al_page_count(p, s->r->n_points - n)));
    }
}

static void put_table(const struct scatter *s)
{
    struct al_page *p = s->p;
    size_t n = s->r->n_points < TABLE_ROWS ? s->r->n_points : TABLE_ROWS;
    al_page_scroll(p, s->w, "");
    al_page_add(p, "<thead><tr><th scope=\"col\" class=\"ac-num\">");
    al_page_show(p, al_page_name(p, s->w->x));
    al_page_add(p, "</th><th scope=\"col\" class=\"ac-num\">");
    al_page_show(p, al_page_name(p, s->w->y));
    al_page_add(p, "</th></tr></thead><tbody>");
    for (size_t i = 0; i < n; i++) {
        al_page_add(p, "<tr>");
        al_page_number_cell(p, &s->x, s->r->points[2 * i], "x");
        al_page_number_cell(p, &s->y, s->r->points[2 * i + 1], NULL);
        al_page_add(p, "</tr>");
    }
    al_page_add(p, "</tbody></table></div>");
    if (s->r->n_points > n) {
        al_page_add(p, "<p class=\"ac-note\">");
        al_page_show(
            p, AL_PAGE_FILL(p, AL_TEXT_PAGE_POINTS, al_page_count(p, n), al_page_count(p, s->r->n_points)));
        al_page_add(p, "</p>");
    }
}

void al_page_scatter(struct al_page *p, const struct al_widget *w, const struct al_result *r)
{
    struct scatter s = {.p = p, .w = w, .r = r};
    if (!r->n_points) {
        al_page_add(p, "<p class=\"ac-none\">");
        al_page_say(p, AL_TEXT_PAGE_NOTHING);
        al_page_add(p, "</p>");
        return;
    }
    s.x = style(&s, w->x, 0);
    s.y = style(&s, w->y, 1);
    al_page_add(p, "<figure class=\"ac-chart\" data-ac-chart=\"scatter\"><div class=\"ac-plot\">"
                   "<canvas role=\"img\" aria-label=\"");
    put_summary(&s);
    al_page_add(p, "\"></canvas></div><details class=\"ac-data\"><summary>");
    al_page_say(p, AL_TEXT_PAGE_DATA);
    al_page_add(p, "</summary>");
    put_table(&s);
    al_page_add(p, "</details>");
    put_spec(&s);
    al_page_add(p, "</figure>\n");
}
