/* Titles by templates. */
#include "dashboard/plan_int.h"

#include "base/text.h"

struct al_str al_title_widget(struct al_dash *d, const struct al_widget *w)
{
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    struct al_str name = w->metric < 0 ? AL_STR("Rows") : al_dash_col(d, w->metric)->display;
    al_buf_add_str(&b, name);
    if (w->dimension >= 0) {
        al_buf_adds(&b, " / ");
        al_buf_add_str(&b, al_dash_col(d, w->dimension)->display);
    }
    char *z = al_arena_dup(&d->arena, al_utf8_head(al_buf_str(&b), AL_DASH_WIDGET_TITLE));
    return al_str_of(z ? z : "");
}

struct al_str al_title_page(struct al_dash *d)
{
    enum al_text_id id = AL_TEXT_TITLE_EXECUTIVE;
    if (d->plan.purpose && strcmp(d->plan.purpose, "operational") == 0)
        id = AL_TEXT_TITLE_OPERATIONAL;
    else if (d->plan.purpose && strcmp(d->plan.purpose, "analytical") == 0)
        id = AL_TEXT_TITLE_ANALYTICAL;
    return al_str_of(al_text(&d->plan, id));
}
