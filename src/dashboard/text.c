/* The words of a page in its language. */
#include "dashboard/dashboard_int.h"

/* One row for each text; a further language is a further column of texts.h, here, and a number in language().
 */
enum {
    LANG_EN,
    LANG_ES,
    LANGS
};

static const char *const words[AL_TEXT_COUNT][LANGS] = {
#define AL_DASH_TEXT(id, en, es) [AL_TEXT_##id] = {en, es},
#include "dashboard/texts.h"
#undef AL_DASH_TEXT
};

static int language(const struct al_plan *p)
{
    return p->spanish ? LANG_ES : LANG_EN;
}

const char *al_text(const struct al_plan *p, enum al_text_id id)
{
    return words[id][language(p)];
}

void al_text_fill(struct al_buf *out, const char *text, const struct al_str *gaps, size_t n)
{
    for (const char *p = text; *p;) {
        size_t run = strcspn(p, "{");
        al_buf_add(out, p, run);
        p += run;
        if (!*p)
            break;
        if (p[1] >= '0' && p[1] <= '9' && p[2] == '}') {
            if ((size_t)(p[1] - '0') < n)
                al_buf_add_str(out, gaps[p[1] - '0']);
            p += 3;
        } else {
            al_buf_addc(out, *p++);
        }
    }
}
