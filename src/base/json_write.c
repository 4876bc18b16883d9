#include "base/json_int.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void al_jw_init(struct al_jw *w, struct al_buf *out)
{
    *w = (struct al_jw){.out = out};
}

static bool bit(const uint8_t *bits, unsigned i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

static void set_bit(uint8_t *bits, unsigned i, bool on)
{
    if (on)
        bits[i / 8] |= (uint8_t)(1u << (i % 8));
    else
        bits[i / 8] &= (uint8_t) ~(1u << (i % 8));
}

/* A call out of order spoils the text, as running out of room does. */
static void spoil(struct al_jw *w)
{
    w->out->failed = true;
}

static void comma(struct al_jw *w)
{
    if (bit(w->has, w->depth))
        al_buf_addc(w->out, ',');
    set_bit(w->has, w->depth, true);
}

/* Before each value: the comma of an array; in an object there must have been a key; outside only one value.
 */
static void before_value(struct al_jw *w)
{
    if (w->after_key)
        w->after_key = false;
    else if (w->depth && bit(w->arr, w->depth))
        comma(w);
    else if (w->depth || bit(w->has, 0))
        spoil(w);
    else
        set_bit(w->has, 0, true);
}

static void open_level(struct al_jw *w, bool is_array)
{
    before_value(w);
    if (w->depth == AL_JSON_MAX_DEPTH) {
        spoil(w);
        return;
    }
    w->depth++;
    set_bit(w->has, w->depth, false);
    set_bit(w->arr, w->depth, is_array);
    al_buf_addc(w->out, is_array ? '[' : '{');
}

void al_jw_obj(struct al_jw *w)
{
    open_level(w, false);
}

void al_jw_arr(struct al_jw *w)
{
    open_level(w, true);
}

void al_jw_end(struct al_jw *w)
{
    if (w->depth == 0 || w->after_key) {
        spoil(w);
        return;
    }
    al_buf_addc(w->out, bit(w->arr, w->depth) ? ']' : '}');
    w->depth--;
}

/* Length of the escaped form in esc, or 0 when the character may stand as it is. */
static size_t escape(uint32_t cp, char esc[8])
{
    static const char names[] = {['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    if (cp == '"' || cp == '\\' || (cp < sizeof names && names[cp])) {
        esc[0] = '\\';
        esc[1] = cp < sizeof names ? names[cp] : (char)cp;
        return 2;
    }
    if (cp >= 0x20 && !(cp >= 0x7f && cp <= 0x9f) && cp != 0x2028 && cp != 0x2029)
        return 0;
    return (size_t)snprintf(esc, 8, "\\u%04x", (unsigned)cp);
}

static void add_quoted(struct al_buf *out, struct al_str s)
{
    size_t good = 0;
    al_buf_addc(out, '"');
    while (good < s.n) {
        char c = s.p[good];
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
            good++;
            continue;
        }
        struct al_str rest = {s.p + good, s.n - good};
        uint32_t cp = 0;
        char esc[8] = "\xef\xbf\xbd";
        unsigned n = al_utf8_decode(rest, &cp);
        size_t esc_n = n ? escape(cp, esc) : 3;
        if (esc_n == 0) {
            good += n;
            continue;
        }
        al_buf_add(out, s.p, good);
        al_buf_add(out, esc, esc_n);
        good += n ? n : 1;
        s = (struct al_str){s.p + good, s.n - good};
        good = 0;
    }
    al_buf_add(out, s.p, good);
    al_buf_addc(out, '"');
}

void al_jw_key_str(struct al_jw *w, struct al_str key)
{
    if (w->depth == 0 || w->after_key || bit(w->arr, w->depth)) {
        spoil(w);
        return;
    }
    comma(w);
    add_quoted(w->out, key);
    al_buf_addc(w->out, ':');
    w->after_key = true;
}

void al_jw_key(struct al_jw *w, const char *key)
{
    al_jw_key_str(w, al_str_of(key));
}

void al_jw_str(struct al_jw *w, struct al_str s)
{
    before_value(w);
    add_quoted(w->out, s);
}

void al_jw_strz(struct al_jw *w, const char *z)
{
    if (z)
        al_jw_str(w, al_str_of(z));
    else
        al_jw_null(w);
}

void al_jw_int(struct al_jw *w, int64_t v)
{
    before_value(w);
    al_buf_addf(w->out, "%" PRId64, v);
}

void al_jw_double(struct al_jw *w, double v)
{
    char text[AL_JSON_DOUBLE_MAX];
    if (!isfinite(v)) {
        al_jw_null(w);
        return;
    }
    before_value(w);
    al_buf_add(w->out, text, al_json_num_format(text, v));
}

void al_jw_bool(struct al_jw *w, bool v)
{
    before_value(w);
    al_buf_adds(w->out, v ? "true" : "false");
}

void al_jw_null(struct al_jw *w)
{
    before_value(w);
    al_buf_adds(w->out, "null");
}

void al_jw_raw(struct al_jw *w, struct al_str json)
{
    if (json.n == 0) {
        spoil(w);
        return;
    }
    before_value(w);
    al_buf_add_str(w->out, json);
}

/* The quoted bytes between the name's quotes are not kept, so a name is written from its decoded form. */
void al_jw_value(struct al_jw *w, const struct al_json *v)
{
    const struct al_json *open[AL_JSON_MAX_DEPTH];
    unsigned depth = 0;
    const struct al_json *at = v;
    if (!v) {
        al_jw_null(w);
        return;
    }
    for (;;) {
        bool box = at->type == AL_JSON_OBJECT || at->type == AL_JSON_ARRAY;
        if (depth && open[depth - 1]->type == AL_JSON_OBJECT)
            al_jw_key_str(w, at->key);
        if (!box) {
            al_jw_raw(w, at->raw);
        } else {
            open_level(w, at->type == AL_JSON_ARRAY);
            if (at->child && depth < AL_JSON_MAX_DEPTH) {
                open[depth++] = at;
                at = at->child;
                continue;
            }
            al_jw_end(w);
        }
        while (depth && !at->next) {
            at = open[--depth];
            al_jw_end(w);
        }
        if (depth == 0)
            return;
        at = at->next;
    }
}

void al_jw_kstr(struct al_jw *w, const char *key, struct al_str s)
{
    al_jw_key(w, key);
    al_jw_str(w, s);
}

void al_jw_kstrz(struct al_jw *w, const char *key, const char *z)
{
    al_jw_key(w, key);
    al_jw_strz(w, z);
}

void al_jw_kint(struct al_jw *w, const char *key, int64_t v)
{
    al_jw_key(w, key);
    al_jw_int(w, v);
}

void al_jw_kbool(struct al_jw *w, const char *key, bool v)
{
    al_jw_key(w, key);
    al_jw_bool(w, v);
}

void al_jw_kraw(struct al_jw *w, const char *key, struct al_str json)
{
    al_jw_key(w, key);
    al_jw_raw(w, json);
}
