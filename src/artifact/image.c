/* Width and height of pictures, out of their first bytes. */
#include "artifact/artifact_int.h"

#include "base/text.h"

#define LARGEST 1000000u /* more is no picture that anybody shows */

static uint32_t be(const unsigned char *p, unsigned n)
{
    uint32_t v = 0;
    for (; n; n--)
        v = v << 8 | *p++;
    return v;
}

static uint32_t le(const unsigned char *p, unsigned n)
{
    uint32_t v = 0;
    while (n--)
        v = v << 8 | p[n];
    return v;
}

static bool give(uint64_t w, uint64_t h, uint32_t *ret_w, uint32_t *ret_h)
{
    if (w == 0 || h == 0 || w > LARGEST || h > LARGEST)
        return false;
    *ret_w = (uint32_t)w;
    *ret_h = (uint32_t)h;
    return true;
}

/* ITU T.81, B.2.2: the frame header comes after segments whose length is said. */
static bool jpeg_size(const unsigned char *p, size_t n, uint32_t *ret_w, uint32_t *ret_h)
{
    for (size_t at = 2; at + 9 <= n;) {
        if (p[at] != 0xff)
            return false;
        unsigned marker = p[at + 1];
        if (marker == 0xff) { /* fill */
            at++;
            continue;
        }
        if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc)
            return give(be(p + at + 7, 2), be(p + at + 5, 2), ret_w, ret_h);
        if (marker == 0xd9 || marker == 0xda)
            return false;
        bool bare = marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7);
        uint32_t len = bare ? 0 : be(p + at + 2, 2);
        if (!bare && len < 2)
            return false;
        at += 2 + len;
    }
    return false;
}

static bool webp_size(const unsigned char *p, size_t n, uint32_t *ret_w, uint32_t *ret_h)
{
    if (n < 30)
        return false;
    if (memcmp(p + 12, "VP8X", 4) == 0)
        return give((uint64_t)le(p + 24, 3) + 1, (uint64_t)le(p + 27, 3) + 1, ret_w, ret_h);
    if (memcmp(p + 12, "VP8L", 4) == 0 && p[20] == 0x2f) {
        uint32_t bits = le(p + 21, 4);
        return give((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1, ret_w, ret_h);
    }
    if (memcmp(p + 12, "VP8 ", 4) == 0 && memcmp(p + 23, "\x9d\x01\x2a", 3) == 0)
        return give(le(p + 26, 2) & 0x3fff, le(p + 28, 2) & 0x3fff, ret_w, ret_h);
    return false;
}

/* --- SVG --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* A number at the start, rounded up; *s is what follows. Values that are no size give 0. */
static uint64_t svg_number(struct al_str *s)
{
    uint64_t v = 0;
    bool more = false, any = false;
    while (s->n && (is_blank(s->p[0]) || s->p[0] == ',' || s->p[0] == '+'))
        *s = (struct al_str){s->p + 1, s->n - 1};
    for (bool point = false; s->n; *s = (struct al_str){s->p + 1, s->n - 1}) {
        char c = s->p[0];
        if (c == '.' && !point)
            point = true;
        else if (c < '0' || c > '9')
            break;
        else if (point)
            more = more || c != '0';
        else
            v = v > LARGEST ? v : v * 10 + (uint64_t)(c - '0');
        any = true;
    }
    return any ? v + more : 0;
}

static uint64_t svg_length(struct al_str v)
{
    uint64_t n = svg_number(&v);
    v = al_str_trim(v);
    return v.n == 0 || al_str_is(v, "px") ? n : 0;
}

/* min-x min-y width height; the first two may be negative. */
static bool svg_view_box(struct al_str v, uint32_t *ret_w, uint32_t *ret_h)
{
    for (int skipped = 0; skipped < 2; skipped++) {
        while (v.n && (is_blank(v.p[0]) || v.p[0] == ','))
            v = (struct al_str){v.p + 1, v.n - 1};
        while (v.n && !is_blank(v.p[0]) && v.p[0] != ',')
            v = (struct al_str){v.p + 1, v.n - 1};
    }
    uint64_t w = svg_number(&v), h = svg_number(&v);
    return give(w, h, ret_w, ret_h);
}

/* The value of the attribute whose name begins at p + at; *at moves behind it. */
static struct al_str attribute(struct al_str s, size_t *at, struct al_str *ret_name)
{
    size_t i = *at, from = i;
    while (i < s.n && !is_blank(s.p[i]) && s.p[i] != '=' && s.p[i] != '>' && s.p[i] != '/')
        i++;
    *ret_name = (struct al_str){s.p + from, i - from};
    while (i < s.n && is_blank(s.p[i]))
        i++;
    struct al_str v = {NULL, 0};
    if (i < s.n && s.p[i] == '=') {
        i++;
        while (i < s.n && is_blank(s.p[i]))
            i++;
        char quote = i < s.n ? s.p[i] : 0;
        const char *end = quote == '"' || quote == '\'' ? memchr(s.p + i + 1, quote, s.n - i - 1) : NULL;
        if (end) {
            v = (struct al_str){s.p + i + 1, (size_t)(end - s.p) - i - 1};
            i = (size_t)(end - s.p) + 1;
        } else {
            i = s.n;
        }
    }
    *at = i > from ? i : from + 1;
    return v;
}

static bool svg_size(struct al_str s, uint32_t *ret_w, uint32_t *ret_h)
{
    ptrdiff_t tag = al_str_find(s, AL_STR("<svg"));
    struct al_str box = {NULL, 0}, name;
    uint64_t w = 0, h = 0;
    if (tag < 0)
        return false;
    for (size_t at = (size_t)tag + 4; at < s.n && s.p[at] != '>';) {
        if (is_blank(s.p[at]) || s.p[at] == '/') {
            at++;
            continue;
        }
        struct al_str v = attribute(s, &at, &name);
        if (al_str_is(name, "width"))
            w = svg_length(v);
        else if (al_str_is(name, "height"))
            h = svg_length(v);
        else if (al_str_is(name, "viewBox"))
            box = v;
    }
    return give(w, h, ret_w, ret_h) || svg_view_box(box, ret_w, ret_h);
}

bool al_artifact_image_size(struct al_str head, uint32_t *ret_w, uint32_t *ret_h)
{
    const unsigned char *p = (const unsigned char *)head.p;
    if (head.n >= 24 && memcmp(p, "\x89PNG\r\n\x1a\n", 8) == 0 && memcmp(p + 12, "IHDR", 4) == 0)
        return give(be(p + 16, 4), be(p + 20, 4), ret_w, ret_h);
    if (head.n >= 10 && (memcmp(p, "GIF87a", 6) == 0 || memcmp(p, "GIF89a", 6) == 0))
        return give(le(p + 6, 2), le(p + 8, 2), ret_w, ret_h);
    if (head.n >= 4 && memcmp(p, "\xff\xd8\xff", 3) == 0)
        return jpeg_size(p, head.n, ret_w, ret_h);
    if (head.n >= 12 && memcmp(p, "RIFF", 4) == 0 && memcmp(p + 8, "WEBP", 4) == 0)
        return webp_size(p, head.n, ret_w, ret_h);
    return svg_size(head, ret_w, ret_h);
}
