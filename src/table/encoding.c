#include "table/source_int.h"

#include "base/text.h"

#include <stdio.h>
#include <strings.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define LATIN_LEAD 15 /* by how much a guess must beat windows-1252's */
#define LATIN_CONFIDENCE 50

#ifdef __SSE2__
/* Bits of a mask of 16; without POPCNT the compiler calls a function for it. */
static inline unsigned count16(unsigned x)
{
    x -= x >> 1 & 0x5555;
    x = (x & 0x3333) + (x >> 2 & 0x3333);
    x = (x + (x >> 4)) & 0x0f0f;
    return (x + (x >> 8)) & 0x1f;
}
#endif

/* Length of the ASCII start of s, in steps of 16 bytes; adds its line feeds. */
static size_t ascii_blocks(const char *p, size_t n, uint64_t *lines)
{
    size_t i = 0;
#ifdef __SSE2__
    const __m128i lf = _mm_set1_epi8('\n'), zero = _mm_setzero_si128();
    __m128i sum = zero;
    for (; i + 64 <= n; i += 64) {
        const __m128i *v = (const __m128i *)(const void *)(p + i);
        __m128i a = _mm_loadu_si128(v), b = _mm_loadu_si128(v + 1);
        __m128i c = _mm_loadu_si128(v + 2), d = _mm_loadu_si128(v + 3);
        if (_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d))))
            break;
        /* 0xff for each line feed: at most -4 in a byte, summed up by psadbw. */
        __m128i hit = _mm_add_epi8(_mm_add_epi8(_mm_cmpeq_epi8(a, lf), _mm_cmpeq_epi8(b, lf)),
                                   _mm_add_epi8(_mm_cmpeq_epi8(c, lf), _mm_cmpeq_epi8(d, lf)));
        sum = _mm_add_epi64(sum, _mm_sad_epu8(_mm_sub_epi8(zero, hit), zero));
    }
    uint64_t two[2];
    _mm_storeu_si128((__m128i *)(void *)two, sum);
    *lines += two[0] + two[1];
    for (; i + 16 <= n; i += 16) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        if (_mm_movemask_epi8(a))
            break;
        *lines += count16((unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, lf)));
    }
#else
    for (; i + 8 <= n; i += 8) {
        uint64_t w;
        memcpy(&w, p + i, 8);
        if (w & 0x8080808080808080u)
            break;
        for (int k = 0; k < 8; k++)
            *lines += p[i + (size_t)k] == '\n';
    }
#endif
    return i;
}

/* The ASCII bytes that p starts with, at most 16 of them. Adds their line feeds. */
static inline size_t ascii_start(const char *p, size_t n, uint64_t *lines)
{
    size_t i = 0;
#ifdef __SSE2__
    if (n >= 16) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
        unsigned other = (unsigned)_mm_movemask_epi8(a) | 0x10000u;
        unsigned feeds = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, _mm_set1_epi8('\n')));
        *lines += count16(feeds & ((other & -other) - 1)); /* those below the first other bit */
        return (size_t)__builtin_ctz(other);
    }
#endif
    for (; i < 16 && i < n && (unsigned char)p[i] < 0x80; i++)
        *lines += p[i] == '\n';
    return i;
}

static inline bool tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Bytes of the character at p, or 0. At least 4 bytes are readable. */
static inline unsigned char_len(const unsigned char *p)
{
    if (p[0] < 0xe0)
        return p[0] >= 0xc2 && tail(p[1]) ? 2 : 0;
    if (p[0] < 0xf0) {
        unsigned char lo = p[0] == 0xe0 ? 0xa0 : 0x80, hi = p[0] == 0xed ? 0x9f : 0xbf;
        return p[1] >= lo && p[1] <= hi && tail(p[2]) ? 3 : 0;
    }
    unsigned char lo = p[0] == 0xf0 ? 0x90 : 0x80, hi = p[0] == 0xf4 ? 0x8f : 0xbf;
    return p[0] <= 0xf4 && p[1] >= lo && p[1] <= hi && tail(p[2]) && tail(p[3]) ? 4 : 0;
}

size_t al_utf8_span(struct al_str s, uint64_t *lines, uint64_t *multi, bool *ret_cut)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t i = 0;
    *ret_cut = false;
    while (i < s.n) {
        if (p[i] < 0x80) {
            /* Text of many languages has short stretches; whole blocks are worth it after 16. */
            size_t start = ascii_start(s.p + i, s.n - i, lines);
            i += start;
            if (start == 16)
                i += ascii_blocks(s.p + i, s.n - i, lines);
            continue;
        }
        if (s.n - i >= 4) {
            unsigned len = char_len(p + i);
            if (len == 0)
                return i;
            i += len;
        } else {
            uint32_t cp;
            unsigned len = al_utf8_decode((struct al_str){s.p + i, s.n - i}, &cp);
            if (len == 0) {
                *ret_cut =
                    al_utf8_bad((struct al_str){s.p + i, s.n - i}) == s.n - i && p[i] >= 0xc2 && p[i] <= 0xf4;
                return i;
            }
            i += len;
        }
        ++*multi;
    }
    return i;
}

size_t al_utf8_bad(struct al_str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    if (p[0] < 0xc2 || p[0] > 0xf4 || s.n < 2)
        return 1;
    unsigned char lo = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char hi = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (p[0] < 0xe0 || p[1] < lo || p[1] > hi)
        return 1;
    if (s.n < 3 || p[0] < 0xf0 || !tail(p[2]))
        return 2;
    return 3;
}

static bool choose(struct al_enc_choice *ret, enum al_enc enc, const char *name, size_t bom, const char *why)
{
    *ret = (struct al_enc_choice){.enc = enc, .bom = bom};
    snprintf(ret->name, sizeof ret->name, "%s", name);
    snprintf(ret->why, sizeof ret->why, "%s", why);
    return true;
}

/* Text in UTF-16 holds line ends, digits or blanks, whose other byte is zero, always on the same side. */
static bool by_zeros(struct al_str head, struct al_enc_choice *ret)
{
    size_t n = (head.n < 8192 ? head.n : 8192) & ~(size_t)3, at[4] = {0};
    for (size_t i = 0; i < n; i++)
        at[i & 3] += head.p[i] == 0;
    size_t quads = n / 4;
    const char *why = "by its zero bytes, without a byte order mark";
    if (quads && at[3] == quads && at[2] * 8 >= quads * 7 && at[0] == 0)
        return choose(ret, AL_ENC_UTF32LE, "UTF-32LE", 0, why);
    if (quads && at[0] == quads && at[1] * 8 >= quads * 7 && at[3] == 0)
        return choose(ret, AL_ENC_UTF32BE, "UTF-32BE", 0, why);
    n = (head.n < 8192 ? head.n : 8192) & ~(size_t)1;
    size_t even = 0, odd = 0, pairs = n / 2;
    for (size_t i = 0; i < n; i += 2) {
        even += head.p[i] == 0;
        odd += head.p[i + 1] == 0;
    }
    /* Some zero bytes in a text of 8 bits are no reason: they are kept and noted. */
    if (pairs && odd * 10 >= pairs && odd >= 2 && even * 20 <= odd && even + odd >= 2)
        return choose(ret, AL_ENC_UTF16LE, "UTF-16LE", 0, why);
    if (pairs && even * 10 >= pairs && even >= 2 && odd * 20 <= even)
        return choose(ret, AL_ENC_UTF16BE, "UTF-16BE", 0, why);
    return false;
}

bool al_enc_by_form(struct al_str head, struct al_enc_choice *ret)
{
    const char *why = "by its byte order mark";
    if (head.n >= 4 && memcmp(head.p, "\xff\xfe\0\0", 4) == 0)
        return choose(ret, AL_ENC_UTF32LE, "UTF-32LE", 4, why);
    if (head.n >= 4 && memcmp(head.p, "\0\0\xfe\xff", 4) == 0)
        return choose(ret, AL_ENC_UTF32BE, "UTF-32BE", 4, why);
    if (al_str_starts(head, "\xef\xbb\xbf"))
        return choose(ret, AL_ENC_UTF8, "UTF-8", 3, "");
    if (al_str_starts(head, "\xff\xfe"))
        return choose(ret, AL_ENC_UTF16LE, "UTF-16LE", 2, why);
    if (al_str_starts(head, "\xfe\xff"))
        return choose(ret, AL_ENC_UTF16BE, "UTF-16BE", 2, why);
    return by_zeros(head, ret);
}

void al_enc_by_guess(struct al_str sample, struct al_enc_choice *ret)
{
    struct al_icu_guess all[8];
    int n = al_icu_detect(sample, all), latin = 0;
    for (int i = 0; i < n; i++) {
        if (strcasecmp(all[i].name, "windows-1252") == 0 || strcasecmp(all[i].name, "ISO-8859-1") == 0)
            latin = all[i].confidence > latin ? all[i].confidence : latin;
    }
    for (int i = 0; i < n; i++) {
        if (strncasecmp(all[i].name, "UTF-", 4) == 0 || al_str_starts(al_str_of(all[i].name), "IBM42"))
            continue;
        if (all[i].confidence < LATIN_CONFIDENCE || all[i].confidence < latin + LATIN_LEAD)
            break;
        char why[120], name[40];
        if (!al_icu_known(all[i].name, name))
            continue;
        snprintf(why, sizeof why, "guessed from the text, %d %% sure; say encoding when it is another",
                 all[i].confidence);
        choose(ret, AL_ENC_ICU, all[i].name, 0, why);
        return;
    }
    choose(ret, AL_ENC_1252, "windows-1252", 0,
           "it is not valid UTF-8 and nothing else is clear; say encoding when it is another");
}

bool al_enc_by_name(const char *name, struct al_enc_choice *ret)
{
    static const struct {
        const char *name, *canonical;
        enum al_enc enc;
    } own[] = {
        {"utf-8", "UTF-8", AL_ENC_UTF8},
        {"utf8", "UTF-8", AL_ENC_UTF8},
        {"ascii", "UTF-8", AL_ENC_UTF8},
        {"us-ascii", "UTF-8", AL_ENC_UTF8},
        {"utf-8-sig", "UTF-8", AL_ENC_UTF8},
        {"utf-16le", "UTF-16LE", AL_ENC_UTF16LE},
        {"utf-16be", "UTF-16BE", AL_ENC_UTF16BE},
        {"utf-32le", "UTF-32LE", AL_ENC_UTF32LE},
        {"utf-32be", "UTF-32BE", AL_ENC_UTF32BE},
        {"utf-16", "UTF-16LE", AL_ENC_UTF16LE},
        {"utf-32", "UTF-32LE", AL_ENC_UTF32LE},
        {"latin1", "ISO-8859-1", AL_ENC_LATIN1},
        {"latin-1", "ISO-8859-1", AL_ENC_LATIN1},
        {"iso-8859-1", "ISO-8859-1", AL_ENC_LATIN1},
        {"windows-1252", "windows-1252", AL_ENC_1252},
        {"cp1252", "windows-1252", AL_ENC_1252},
    };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strcasecmp(name, own[i].name) == 0)
            return choose(ret, own[i].enc, own[i].canonical, 0, "as asked for");
    }
    char known[40];
    return al_icu_known(name, known) && choose(ret, AL_ENC_ICU, known, 0, "as asked for");
}

bool al_enc_conv_init(struct al_enc_conv *c, const struct al_enc_choice *choice)
{
    *c = (struct al_enc_conv){.enc = choice->enc};
    if (choice->enc != AL_ENC_ICU)
        return true;
    c->icu = al_icu_conv_new(choice->name);
    return c->icu != NULL;
}

void al_enc_conv_fini(struct al_enc_conv *c)
{
    al_icu_conv_free(c->icu);
    c->icu = NULL;
}

static void put(struct al_buf *out, uint32_t cp, uint64_t *bad)
{
    char utf8[4];
    *bad += cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff);
    al_buf_add(out, utf8, al_utf8_encode(cp, utf8));
}

static void put_utf16(struct al_enc_conv *c, struct al_buf *out, uint32_t unit, uint64_t *bad)
{
    if (c->high && (unit & 0xfc00) == 0xdc00) {
        put(out, 0x10000 + ((c->high - 0xd800) << 10) + (unit - 0xdc00), bad);
        c->high = 0;
        return;
    }
    if (c->high)
        put(out, c->high, bad);
    c->high = (unit & 0xfc00) == 0xd800 ? unit : 0;
    if (!c->high)
        put(out, unit, bad);
}

/* Code points of windows-1252's 0x80 to 0x9f (WHATWG: the five that Microsoft left open are the C1 controls).
 */
static const uint16_t cp1252[32] = {
    0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
    0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178,
};

static void single_bytes(bool windows, struct al_str in, struct al_buf *out)
{
    char *at = al_buf_grow(out, in.n * 3), *start = at;
    if (!at)
        return;
    for (size_t i = 0; i < in.n; i++) {
        unsigned char ch = (unsigned char)in.p[i];
        if (ch < 0x80)
            *at++ = (char)ch;
        else
            at += al_utf8_encode(windows && ch < 0xa0 ? cp1252[ch - 0x80] : ch, at);
    }
    out->n -= in.n * 3 - (size_t)(at - start);
}

static void wide_units(struct al_enc_conv *c, struct al_str in, bool last, struct al_buf *out, uint64_t *bad)
{
    unsigned size = c->enc == AL_ENC_UTF16LE || c->enc == AL_ENC_UTF16BE ? 2 : 4;
    bool big = c->enc == AL_ENC_UTF16BE || c->enc == AL_ENC_UTF32BE;
    for (size_t i = 0; i < in.n; i++) {
        c->held[c->n_held++] = (unsigned char)in.p[i];
        if (c->n_held < size)
            continue;
        uint32_t v = 0;
        for (unsigned k = 0; k < size; k++)
            v = v << 8 | c->held[big ? k : size - 1 - k];
        c->n_held = 0;
        if (size == 2)
            put_utf16(c, out, v, bad);
        else
            put(out, v, bad);
    }
    if (last && c->high)
        put(out, c->high, bad);
    if (last && c->n_held)
        put(out, 0xd800, bad);
    if (last)
        c->high = c->n_held = 0;
}

void al_enc_conv_do(struct al_enc_conv *c, struct al_str in, bool last, struct al_buf *out, uint64_t *bad)
{
    if (c->icu)
        al_icu_conv_do(c->icu, in, last, out, bad);
    else if (c->enc == AL_ENC_LATIN1 || c->enc == AL_ENC_1252)
        single_bytes(c->enc == AL_ENC_1252, in, out);
    else
        wide_units(c, in, last, out, bad);
}
