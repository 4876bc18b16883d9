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

/* Spanish: "ingresos e inversión", "Norte u Oeste". */
static bool sounds_as(struct al_str s, char vowel)
{
    size_t h = s.n > 1 && (s.p[0] | 32) == 'h';
    if (s.n <= h)
        return false;
    bool glide = vowel == 'i' && s.n > h + 1 && ((s.p[h + 1] | 32) == 'a' || (s.p[h + 1] | 32) == 'e');
    bool accent = s.n > h + 1 && (unsigned char)s.p[h] == 0xc3 &&
                  ((unsigned char)s.p[h + 1] | 32) == (vowel == 'i' ? 0xad : 0xb3);
    return accent || ((s.p[h] | 32) == vowel && !glide);
}

const char *al_text_or(const struct al_plan *p, struct al_str next)
{
    return p->spanish && sounds_as(next, 'o') ? " u " : al_text(p, AL_TEXT_FILTER_OR);
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
            struct al_str gap = (size_t)(p[1] - '0') < n ? gaps[p[1] - '0'] : (struct al_str){0};
            bool and_i = p - text >= 3 && memcmp(p - 3, " y ", 3) == 0 && sounds_as(gap, 'i');
            if (and_i && out->n >= 2 && !al_buf_failed(out))
                out->p[out->n - 2] = 'e';
            al_buf_add_str(out, gap);
            p += 3;
        } else {
            al_buf_addc(out, *p++);
        }
    }
}
