/* How the page was made, and what is in it. */
#include "dashboard/page_int.h"

#include "base/text.h"

#define SQL 20 /* times the characters of a text: those of a statement that are shown */

static void put_sql(struct al_page *p, const struct al_widget *w)
{
    autobuf struct al_buf sql = AL_BUF_INIT((size_t)2 << 20);
    al_sql_widget(p->d, w, &sql);
    struct al_str all = al_buf_str(&sql), head = al_utf8_head(all, SQL * p->chars);
    al_page_line(p, "<h3>", w->title, "</h3><pre dir=\"ltr\" tabindex=\"0\"><code>");
    al_page_text(p, head);
    if (head.n < all.n) {
        size_t more = al_utf8_count((struct al_str){all.p + head.n, all.n - head.n});
        al_page_text(p, AL_PAGE_FILL(p, AL_TEXT_PAGE_CUT, al_page_count(p, more)));
    }
    al_page_add(p, "</code></pre>\n");
}

static void put_foot(struct al_page *p)
{
    const struct al_dash *d = p->d;
    struct al_str source = al_page_source(p);
    uint64_t raw = 0;
    for (size_t i = 0; i < d->plan.n_widgets; i++)
        raw += d->results[i].n_rows + d->results[i].n_points;
    uint64_t most = d->has_kept ? d->kept : d->catalog.rows; /* points and tables may show one row twice */
    raw = raw < most ? raw : most;
    al_page_add(p, "<footer><p>");
    if (source.n)
        al_page_line(p, "", AL_PAGE_FILL(p, AL_TEXT_PAGE_SOURCE, source), " · ");
    if (d->catalog.n_sheets > 1)
        al_page_line(p, "", AL_PAGE_FILL(p, AL_TEXT_PAGE_SHEET, al_page_cut(p, d->catalog.sheet, p->chars)),
                     " · ");
    al_page_line(p, "",
                 AL_PAGE_FILL(p, d->catalog.rows == 1 ? AL_TEXT_PAGE_ROW : AL_TEXT_PAGE_ROWS,
                              al_page_count(p, d->catalog.rows)),
                 " · ");
    al_page_show(p, AL_PAGE_FILL(p,
                                 raw == 0   ? AL_TEXT_PAGE_NO_RAW
                                 : raw == 1 ? AL_TEXT_PAGE_RAW_ONE
                                            : AL_TEXT_PAGE_RAW,
                                 al_page_count(p, raw)));
    al_page_add(p, "</p></footer>\n");
}

void al_page_made(struct al_page *p)
{
    const struct al_dash *d = p->d;
    struct al_str filters = al_page_filter_words(p);
    al_page_add(p, "<details class=\"ac-made\"><summary>");
    al_page_say(p, AL_TEXT_PAGE_MADE);
    al_page_add(p, "</summary>\n");
    al_page_line(p, "<p>", AL_PAGE_FILL(p, AL_TEXT_PAGE_MADE_LEAD, al_page_cut(p, d->catalog.view, p->chars)),
                 "</p>\n");
    if (filters.n)
        al_page_line(p, "<p>", filters, "</p>\n");
    if (d->n_notes) {
        al_page_add(p, "<ul>");
        for (size_t i = 0; i < d->n_notes; i++)
            al_page_line(p, "<li>", d->notes[i], "</li>");
        al_page_add(p, "</ul>\n");
    }
    for (size_t i = 0; i < d->plan.n_widgets; i++) {
        if (!d->results[i].failed)
            put_sql(p, &d->plan.widgets[i]);
    }
    al_page_add(p, "</details>\n");
    put_foot(p);
}
