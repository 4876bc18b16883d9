#include "llm/llm.h"

#include "base/text.h"

/* Scripts of which a character takes three bytes and about two tokens: CJK, kana, hangul, their punctuation
 * and wide forms. */
static bool is_cjk(uint32_t cp)
{
    return (cp >= 0x2e80 && cp <= 0x9fff) || (cp >= 0xac00 && cp <= 0xd7af) ||
           (cp >= 0xf900 && cp <= 0xfaff) || (cp >= 0xff00 && cp <= 0xffef) ||
           (cp >= 0x20000 && cp <= 0x3ffff);
}

int64_t al_llm_estimate(struct al_str text)
{
    uint64_t cjk = 0;
    size_t at = 0;
    while (at < text.n) {
        if ((unsigned char)text.p[at] < 0xe2) { /* below: no character of theirs */
            at++;
            continue;
        }
        uint32_t cp;
        unsigned n = al_utf8_decode((struct al_str){text.p + at, text.n - at}, &cp);
        if (n && is_cjk(cp))
            cjk += n;
        at += n ? n : 1;
    }
    /* bytes / 3.5 + cjk / 1.5, rounded up once. */
    return (int64_t)(((text.n - cjk) * 6 + cjk * 14 + 20) / 21);
}
