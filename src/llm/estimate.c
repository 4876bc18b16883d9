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

/* What a byte of ASCII takes in text that is no prose, in thousandths of a token: measured with a public
 * tokenizer over source text, JSON and tables. */
static unsigned weight(unsigned char c)
{
    if ((c | 32) >= 'a' && (c | 32) <= 'z')
        return 180;
    if (c >= '0' && c <= '9')
        return 700;
    return c <= ' ' ? 280 : 580;
}

/*
 * A token is 3.5 bytes, or 1.5 of CJK: so the rule, and so are prose and source text. Of numbers it would see
 * half: where digits and signs are dense, their own weights say more, and the greater of the two counts.
 */
int64_t al_llm_estimate(struct al_str text)
{
    uint64_t cjk = 0, weights = 0;
    size_t at = 0;
    while (at < text.n) {
        unsigned char c = (unsigned char)text.p[at];
        if (c < 0x80) {
            weights += weight(c);
            at++;
            continue;
        }
        uint32_t cp;
        unsigned n = al_utf8_decode((struct al_str){text.p + at, text.n - at}, &cp);
        if (n && is_cjk(cp))
            cjk += n;
        weights += n && is_cjk(cp) ? n * 667 : (n ? n : 1) * 285;
        at += n ? n : 1;
    }
    /* bytes / 3.5 + cjk / 1.5, rounded up once. */
    uint64_t by_rule = ((text.n - cjk) * 6 + cjk * 14 + 20) / 21, by_weight = weights / 1000;
    return (int64_t)(by_rule > by_weight ? by_rule : by_weight);
}
