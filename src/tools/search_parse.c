/*
 * ripgrep prints one JSON object a line, its fields in a fixed order. A matching line may be megabytes long
 * and a record may be cut at its end, so records are walked in place instead of being parsed into a tree.
 */
#include "tools/search_int.h"

#include "base/text.h"

/* Steps over lit. */
static bool eat(struct al_str *s, const char *lit)
{
    size_t n = strlen(lit);
    if (s->n < n || memcmp(s->p, lit, n) != 0)
        return false;
    s->p += n;
    s->n -= n;
    return true;
}

/* The body of a JSON string whose opening quote is behind us. False when its end is missing: *ret is what
 * there is. */
static bool eat_body(struct al_str *s, struct al_str *ret)
{
    size_t i = 0;
    while (i < s->n && s->p[i] != '"')
        i += s->p[i] == '\\' ? 2 : 1;
    bool whole = i < s->n;
    if (i > s->n)
        i = s->n;
    *ret = (struct al_str){s->p, i};
    i += whole;
    s->p += i;
    s->n -= i;
    return whole;
}

/* {"text":"…"} or {"bytes":"…"}. 1 whole, 0 cut, -1 something else. */
static int eat_value(struct al_str *s, struct al_str *ret, bool *ret_base64)
{
    *ret_base64 = eat(s, "{\"bytes\":\"");
    if (!*ret_base64 && !eat(s, "{\"text\":\""))
        return -1;
    return eat_body(s, ret) && eat(s, "}") ? 1 : 0;
}

static uint64_t eat_number(struct al_str *s)
{
    uint64_t v = 0;
    while (s->n > 0 && s->p[0] >= '0' && s->p[0] <= '9' && v < UINT64_MAX / 20) {
        v = v * 10 + (uint64_t)(s->p[0] - '0');
        s->p++;
        s->n--;
    }
    return v;
}

static bool parse_match(struct al_str s, struct al_rg_match *m)
{
    *m = (struct al_rg_match){0};
    if (!eat(&s, "{\"type\":\"match\",\"data\":{\"path\":") || eat_value(&s, &m->path, &m->path_base64) != 1)
        return false;
    if (!eat(&s, ",\"lines\":"))
        return false;
    int whole = eat_value(&s, &m->line, &m->line_base64);
    if (whole < 0)
        return false;
    m->line_cut = whole == 0;
    if (eat(&s, ",\"line_number\":"))
        m->line_number = eat_number(&s);
    if (!eat(&s, ",\"absolute_offset\":"))
        return true;
    eat_number(&s);
    struct al_str hit;
    bool hit_base64;
    if (eat(&s, ",\"submatches\":[{\"match\":") && eat_value(&s, &hit, &hit_base64) == 1 &&
        eat(&s, ",\"start\":"))
        m->start = eat_number(&s);
    return true;
}

bool al_rg_next(struct al_str *rest, struct al_rg_match *ret)
{
    while (rest->n > 0) {
        const char *lf = memchr(rest->p, '\n', rest->n);
        struct al_str record = {rest->p, lf ? (size_t)(lf - rest->p) : rest->n};
        size_t step = record.n + (lf != NULL);
        rest->p += step;
        rest->n -= step;
        if (parse_match(record, ret))
            return true;
    }
    return false;
}

/* --- decoding --- */

struct decoder {
    struct al_str rest;
    bool base64;
    unsigned char out[4];
    unsigned n, at; /* bytes of the unit decoded last, and how many of them were given out */
};

static int hex4(const char *p)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        int c = p[i] | 0x20;
        int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

static void advance(struct decoder *d, size_t n)
{
    d->rest.p += n;
    d->rest.n -= n;
}

static bool decode_escape(struct decoder *d)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (d->rest.n < 2)
        return false;
    const char *at = strchr(from, d->rest.p[1]);
    d->n = 1;
    if (d->rest.p[1] && at) {
        d->out[0] = (unsigned char)to[at - from];
        advance(d, 2);
        return true;
    }
    int v = d->rest.n >= 6 && d->rest.p[1] == 'u' ? hex4(d->rest.p + 2) : -1;
    if (v < 0)
        return false;
    d->n = al_utf8_encode((uint32_t)v, (char *)d->out); /* only controls are written so */
    advance(d, 6);
    return d->n > 0;
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool decode_base64(struct decoder *d)
{
    uint32_t v = 0;
    unsigned digits = 0;
    for (size_t i = 0; i < 4 && i < d->rest.n; i++) {
        int c = base64_digit(d->rest.p[i]);
        if (c < 0)
            break;
        v |= (uint32_t)c << (18 - 6 * i);
        digits++;
    }
    if (digits < 2)
        return false;
    d->n = digits - 1;
    for (unsigned i = 0; i < d->n; i++)
        d->out[i] = (unsigned char)(v >> (16 - 8 * i));
    advance(d, d->rest.n < 4 ? d->rest.n : 4);
    return true;
}

/* The next byte of the decoded text; -1 at the end. */
static int next_byte(struct decoder *d)
{
    if (d->at < d->n)
        return d->out[d->at++];
    if (d->rest.n == 0)
        return -1;
    d->at = 0;
    d->n = 0;
    if (d->base64) {
        if (!decode_base64(d))
            return -1;
        return d->out[d->at++];
    }
    if (d->rest.p[0] == '\\') {
        if (!decode_escape(d))
            return -1;
        return d->out[d->at++];
    }
    int c = (unsigned char)d->rest.p[0];
    advance(d, 1);
    return c;
}

void al_rg_text(struct al_str body, bool base64, uint64_t from, size_t max, struct al_buf *out)
{
    struct decoder d = {.rest = body, .base64 = base64};
    autobuf struct al_buf raw = AL_BUF_INIT(max + 1);
    int c;
    for (uint64_t i = 0; raw.n < max && (c = next_byte(&d)) >= 0; i++) {
        bool within =
            (c & 0xc0) == 0x80 && raw.n == 0 && from > 0; /* the rest of a character before `from` */
        if (i >= from && !within)
            al_buf_addc(&raw, (char)c);
    }
    struct al_str s = al_buf_str(&raw);
    if (raw.n == max)
        s = al_utf8_cut(s, max > 4 ? max - 1 : max);
    al_utf8_clean(out, s);
}

uint64_t al_rg_column(struct al_str body, bool base64, uint64_t start)
{
    struct decoder d = {.rest = body, .base64 = base64};
    uint64_t column = 1;
    int c;
    for (uint64_t i = 0; i < start && (c = next_byte(&d)) >= 0; i++)
        column += (c & 0xc0) != 0x80;
    return column;
}
