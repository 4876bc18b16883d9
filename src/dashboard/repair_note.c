/* Notes of the plan. */
#include "dashboard/plan_int.h"

#include "base/text.h"

#define GAPS 4
#define GAP_CHARS 160

void al_plan_note(struct al_dash *d, enum al_text_id id, const struct al_str *gaps, size_t n)
{
    struct al_buf shown[GAPS];
    struct al_str views[GAPS];
    autobuf struct al_buf b = AL_BUF_INIT((size_t)16 << 10);
    n = n < GAPS ? n : GAPS;
    for (size_t i = 0; i < n; i++) {
        al_buf_init(&shown[i], GAP_CHARS * 16);
        al_text_visible(&shown[i], al_utf8_head(gaps[i], GAP_CHARS), false);
        if (al_utf8_count(gaps[i]) > GAP_CHARS)
            al_buf_adds(&shown[i], "…");
        views[i] = al_buf_str(&shown[i]);
    }
    al_text_fill(&b, al_text(&d->plan, id), views, n);
    al_dash_note(d, "%.*s", AL_FMT(al_buf_str(&b)));
    for (size_t i = 0; i < n; i++)
        al_buf_free(&shown[i]);
}
