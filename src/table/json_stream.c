#include "table/json_stream.h"

#include "base/text.h"

#include <inttypes.h>

#define PIECE_MAX ((size_t)1 << 20) /* of a source */
#define EVERY(byte) (UINT64_C(0x0101010101010101) * (byte))

void al_js_init(struct al_js *js, struct al_source *src, const struct al_table_sink *sink)
{
    memset(js, 0, sizeof *js);
    js->src = src;
    js->sink = sink;
    js->line = 1;
    al_buf_init(&js->win, SIZE_MAX / 4); /* al_js_refill has the limit */
    js->p = js->end = "";
}

void al_js_fini(struct al_js *js)
{
    al_buf_free(&js->win);
}

static const char *window(const struct al_js *js)
{
    return js->win.p ? js->win.p : js->end;
}

struct al_js_mark al_js_here(const struct al_js *js)
{
    return (struct al_js_mark){(size_t)(js->p - window(js)), js->line, js->line_start};
}

void al_js_back(struct al_js *js, const struct al_js_mark *mark)
{
    js->p = window(js) + mark->at;
    js->line = mark->line;
    js->line_start = mark->line_start;
}

int al_js_refill(struct al_js *js, struct al_js_mark *mark, size_t max, const char *what, struct al_err *err)
{
    al_js_back(js, mark);
    al_buf_drop(&js->win, mark->at);
    js->base += mark->at;
    mark->at = 0;
    size_t held = js->win.n;
    if (held > max) {
        al_fail(err, AL_INGEST_LIMIT, "line %" PRIu64 ": %s is larger than %zu MiB", mark->line, what,
                max >> 20);
        return al_hint(
            err, "write the rows as JSON Lines (one object a line); those are read whatever the file's size");
    }
    do {
        struct al_str piece = {0};
        if (al_source_next(js->src, &piece, err) < 0)
            return -1;
        js->eof = piece.n == 0;
        al_buf_add_str(&js->win, piece);
        if (js->sink->progress(js->sink->ud, al_source_bytes(js->src), err) < 0)
            return -1;
    } while (!js->eof && js->win.n < 2 * held && js->win.n <= max);
    js->p = window(js);
    js->end = js->p + js->win.n;
    return 0;
}

int al_js_next(struct al_js *js, struct al_err *err)
{
    struct al_js_mark here = al_js_here(js);
    return al_js_refill(js, &here, PIECE_MAX, "white space", err);
}

int al_js_peek_slow(struct al_js *js)
{
    const char *p = js->p, *end = js->end;
    for (; p < end; p++) {
        if (*p == '\n') {
            js->line++;
            js->line_start = js->base + (uint64_t)(p + 1 - window(js));
        } else if (*p != ' ' && *p != '\t' && *p != '\r') {
            break;
        }
    }
    js->p = p;
    if (p < end)
        return (unsigned char)*p;
    return js->eof ? AL_JS_PEEK_END : AL_JS_PEEK_MORE;
}

int al_js_peek_fill(struct al_js *js, struct al_err *err)
{
    int c;
    while ((c = al_js_peek(js)) == AL_JS_PEEK_MORE) {
        if (al_js_next(js, err) < 0)
            return AL_JS_PEEK_FAILED;
    }
    return c;
}

enum al_js_result al_js_bad(struct al_js *js, const char *p, const char *what)
{
    js->bad_p = p;
    js->bad = what;
    return AL_JS_BAD;
}

static enum al_js_result cut(struct al_js *js, const char *what)
{
    return js->eof ? al_js_bad(js, js->end, what) : AL_JS_MORE;
}

/* The first quote, backslash or control character. Of eight bytes at once: a zero byte of x shows as the top
 * bit of (x - 0x01…) & ~x, exactly so for the lowest one, which is the first in memory (little-endian:
 * x86-64, arm64). */
static const char *plain_end(const char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t x;
        memcpy(&x, p, 8);
        uint64_t quote = x ^ EVERY('"'), slash = x ^ EVERY('\\');
        uint64_t hit =
            (((x - EVERY(0x20)) & ~x) | ((quote - EVERY(1)) & ~quote) | ((slash - EVERY(1)) & ~slash)) &
            EVERY(0x80);
        if (hit)
            return p + (__builtin_ctzll(hit) >> 3);
        p += 8;
    }
    while (p < end && (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\')
        p++;
    return p;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* p at the backslash; *ret is behind the escape. */
static enum al_js_result check_escape(struct al_js *js, const char *p, const char **ret)
{
    if (js->end - p < 2)
        return cut(js, "the text ends inside a string");
    if (p[1] == 'u') {
        for (int i = 2; i < 6; i++) {
            if (p + i == js->end)
                return cut(js, "the text ends inside a string");
            if (hex_value(p[i]) < 0)
                return al_js_bad(js, p, "\\u must be followed by four hexadecimal digits");
        }
        *ret = p + 6;
        return AL_JS_OK;
    }
    if (!memchr("\"\\/bfnrt", p[1], 8))
        return al_js_bad(js, p, "not an escape that JSON has");
    *ret = p + 2;
    return AL_JS_OK;
}

static enum al_js_result read_string(struct al_js *js, struct al_str *ret_raw, bool *ret_escaped)
{
    const char *start = js->p + 1, *p = start;
    bool escaped = false;
    for (;;) {
        p = plain_end(p, js->end);
        if (p == js->end)
            return cut(js, "the text ends inside a string");
        if (*p == '"')
            break;
        if (*p != '\\')
            return al_js_bad(js, p, "a control character in a string must be escaped");
        enum al_js_result r = check_escape(js, p, &p);
        if (r != AL_JS_OK)
            return r;
        escaped = true;
    }
    *ret_raw = (struct al_str){start, (size_t)(p - start)};
    *ret_escaped = escaped;
    js->p = p + 1;
    return AL_JS_OK;
}

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

static enum al_js_result read_number(struct al_js *js, struct al_str *ret)
{
    const char *start = js->p, *end = js->end, *p = start + (*start == '-'), *from = p;
    p = digits(p, end);
    if (p == from)
        return p == end ? cut(js, "the text ends inside a number")
                        : al_js_bad(js, p, "expected a digit after '-'");
    if (*from == '0' && p - from > 1)
        return al_js_bad(js, from, "a number must not begin with 0");
    if (p < end && *p == '.') {
        from = ++p;
        p = digits(p, end);
        if (p == from && p < end)
            return al_js_bad(js, p, "expected a digit after the decimal point");
        if (p == from)
            return cut(js, "the text ends inside a number");
    }
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        from = p;
        p = digits(p, end);
        if (p == from && p < end)
            return al_js_bad(js, p, "expected a digit in the exponent");
        if (p == from)
            return cut(js, "the text ends inside a number");
    }
    if (p == end && !js->eof)
        return AL_JS_MORE;
    *ret = (struct al_str){start, (size_t)(p - start)};
    js->p = p;
    return AL_JS_OK;
}

static enum al_js_result read_word(struct al_js *js, struct al_js_value *ret)
{
    static const struct {
        struct al_str word;
        enum al_json_type type;
    } words[] = {{AL_S("null"), AL_JSON_NULL}, {AL_S("false"), AL_JSON_FALSE}, {AL_S("true"), AL_JSON_TRUE}};
    size_t left = (size_t)(js->end - js->p);
    for (size_t i = 0; i < 3; i++) {
        struct al_str w = words[i].word;
        size_t n = left < w.n ? left : w.n;
        if (memcmp(js->p, w.p, n) != 0)
            continue;
        if (n < w.n)
            return cut(js, "the text ends inside a word");
        ret->type = words[i].type;
        ret->raw = (struct al_str){js->p, w.n};
        js->p += w.n;
        return AL_JS_OK;
    }
    return al_js_bad(js, js->p, "expected a value");
}

static enum al_js_result read_scalar(struct al_js *js, struct al_js_value *ret)
{
    char c = *js->p;
    if (c == '"') {
        ret->type = AL_JSON_STRING;
        return read_string(js, &ret->raw, &ret->escaped);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        ret->type = AL_JSON_NUMBER;
        return read_number(js, &ret->raw);
    }
    return read_word(js, ret);
}

enum al_js_result al_js_member(struct al_js *js, char closer, bool first, bool *ret_more)
{
    int c = al_js_peek(js);
    if (c == closer) {
        js->p++;
        *ret_more = false;
        return AL_JS_OK;
    }
    if (c < 0)
        return cut(js, "the text ends too early");
    *ret_more = true;
    if (first)
        return AL_JS_OK;
    if (c != ',')
        return al_js_bad(js, js->p, closer == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
    js->p++;
    c = al_js_peek(js);
    if (c < 0)
        return cut(js, "the text ends too early");
    return c == closer ? al_js_bad(js, js->p, "a comma must be followed by a further value") : AL_JS_OK;
}

enum al_js_result al_js_key(struct al_js *js, struct al_js_value *ret)
{
    ret->type = AL_JSON_STRING;
    ret->line = js->line;
    if (*js->p != '"')
        return al_js_bad(js, js->p, "expected a name in double quotes");
    enum al_js_result r = read_string(js, &ret->raw, &ret->escaped);
    if (r != AL_JS_OK)
        return r;
    int c = al_js_peek(js);
    if (c < 0)
        return cut(js, "expected ':' after the name, the text ends");
    if (c != ':')
        return al_js_bad(js, js->p, "expected ':' after the name");
    js->p++;
    return al_js_peek(js) < 0 ? cut(js, "expected a value, the text ends") : AL_JS_OK;
}

/* Arrays and objects that are open, as bits. */
struct nest {
    unsigned depth;
    uint8_t object[AL_JSON_MAX_DEPTH / 8];
};

static bool in_object(const struct nest *n)
{
    return n->object[(n->depth - 1) / 8] >> ((n->depth - 1) % 8) & 1;
}

static void nest_open(struct nest *n, bool object)
{
    uint8_t bit = (uint8_t)(1u << (n->depth % 8));
    uint8_t *at = &n->object[n->depth / 8];
    *at = (uint8_t)(object ? *at | bit : *at & ~bit);
    n->depth++;
}

/* An array or object, checked to its end; p at its opening. */
static enum al_js_result read_nested(struct al_js *js, unsigned depth)
{
    struct nest nest = {0};
    struct al_js_value v;
    bool first = true, more = true;
    nest_open(&nest, *js->p++ == '{');
    while (nest.depth) {
        bool object = in_object(&nest);
        enum al_js_result r = al_js_member(js, object ? '}' : ']', first, &more);
        if (r != AL_JS_OK)
            return r;
        first = false;
        if (!more) {
            nest.depth--;
            continue;
        }
        if (object && (r = al_js_key(js, &v)) != AL_JS_OK)
            return r;
        if (*js->p == '{' || *js->p == '[') {
            if (depth + nest.depth >= AL_JSON_MAX_DEPTH)
                return al_js_bad(js, js->p, "nested too deeply (128 levels are read)");
            nest_open(&nest, *js->p++ == '{');
            first = true;
        } else if ((r = read_scalar(js, &v)) != AL_JS_OK) {
            return r;
        }
    }
    return AL_JS_OK;
}

/* White space outside of strings. */
static bool has_space(struct al_str raw)
{
    for (size_t i = 0; i < raw.n; i++) {
        char c = raw.p[i];
        if (c == '"') {
            for (i++; raw.p[i] != '"'; i++)
                i += raw.p[i] == '\\';
        } else if ((unsigned char)c <= ' ') {
            return true;
        }
    }
    return false;
}

enum al_js_result al_js_read(struct al_js *js, unsigned depth, struct al_js_value *ret)
{
    char c = *js->p;
    ret->escaped = ret->spaced = false;
    ret->line = js->line;
    if (c != '{' && c != '[')
        return read_scalar(js, ret);
    const char *start = js->p;
    if (depth >= AL_JSON_MAX_DEPTH)
        return al_js_bad(js, js->p, "nested too deeply (128 levels are read)");
    enum al_js_result r = read_nested(js, depth);
    if (r != AL_JS_OK)
        return r;
    ret->type = c == '{' ? AL_JSON_OBJECT : AL_JSON_ARRAY;
    ret->raw = (struct al_str){start, (size_t)(js->p - start)};
    ret->spaced = has_space(ret->raw);
    return AL_JS_OK;
}

static uint32_t hex4(const char *p)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++)
        v = v << 4 | (uint32_t)hex_value(p[i]);
    return v;
}

/* p behind the "\u" of an escape that was checked; *ret_used is what it takes from there, its other half
 * included. */
static uint32_t decode_u(const char *p, size_t n, size_t *ret_used, bool *lone)
{
    uint32_t hi = hex4(p);
    *ret_used = 4;
    if (hi < 0xd800 || hi > 0xdfff)
        return hi;
    if (hi < 0xdc00 && n >= 10 && p[4] == '\\' && p[5] == 'u') {
        uint32_t lo = hex4(p + 6);
        if (lo >= 0xdc00 && lo <= 0xdfff) {
            *ret_used = 10;
            return 0x10000 + ((hi - 0xd800) << 10) + (lo - 0xdc00);
        }
    }
    *lone = true;
    return 0xfffd;
}

size_t al_js_decode(struct al_str raw, char *out, bool *lone)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char *to = out;
    while (raw.n) {
        const char *slash = memchr(raw.p, '\\', raw.n);
        size_t plain = slash ? (size_t)(slash - raw.p) : raw.n, used = 0;
        memcpy(to, raw.p, plain);
        to += plain;
        if (slash && slash[1] == 'u') {
            to += al_utf8_encode(decode_u(slash + 2, raw.n - plain - 2, &used, lone), to);
            used += 2;
        } else if (slash) {
            *to++ = values[strchr(names, slash[1]) - names];
            used = 2;
        }
        raw.p += plain + used;
        raw.n -= plain + used;
    }
    return (size_t)(to - out);
}

size_t al_js_compact(struct al_str raw, char *out)
{
    char *to = out;
    for (size_t i = 0; i < raw.n; i++) {
        char c = raw.p[i];
        if ((unsigned char)c <= ' ')
            continue;
        size_t from = i;
        if (c == '"') {
            for (i++; raw.p[i] != '"'; i++)
                i += raw.p[i] == '\\';
        }
        memcpy(to, raw.p + from, i + 1 - from);
        to += i + 1 - from;
    }
    return (size_t)(to - out);
}

static const char *hint_for(const struct al_js *js, struct al_str rest)
{
    if (al_str_starts(rest, "NaN") || al_str_starts(rest, "Infinity") || al_str_starts(rest, "-Infinity"))
        return "JSON has no NaN and no Infinity: write null instead";
    if (al_str_starts(rest, "'"))
        return "JSON has double quotes only; this may be a Python literal: write it with json.dumps";
    if (al_str_starts(rest, "None") || al_str_starts(rest, "True") || al_str_starts(rest, "False"))
        return "JSON says null, true and false; this may be a Python literal: write it with json.dumps";
    if (al_str_starts(rest, "//") || al_str_starts(rest, "/*") || al_str_starts(rest, "#"))
        return "JSON has no comments: take them out";
    if (js->base == 0 && js->bad_p == window(js))
        return "the file does not begin as JSON does; a CSV file is read as one when its name ends in .csv";
    if (js->bad_p == js->end && js->eof)
        return "the file may be cut off: write or download it again";
    return "correct that place, or write the file again with a JSON library";
}

int al_js_fail(const struct al_js *js, uint64_t record_line, struct al_err *err)
{
    const char *start = window(js);
    uint64_t at = js->base + (uint64_t)(js->bad_p - start), column = at - js->line_start + 1;
    if (js->line_start >= js->base) { /* else the line's start is gone, and bytes count */
        const char *from = start + (js->line_start - js->base);
        column = 1 + al_utf8_count((struct al_str){from, (size_t)(js->bad_p - from)});
    }
    struct al_str rest = {js->bad_p, (size_t)(js->end - js->bad_p)};
    struct al_str line = al_utf8_cut(rest, 24);
    const char *lf = line.n ? memchr(line.p, '\n', line.n) : NULL;
    if (lf)
        line.n = (size_t)(lf - line.p);
    autobuf struct al_buf shown = AL_BUF_INIT(512), where = AL_BUF_INIT(128);
    if (line.n) {
        al_buf_adds(&shown, ", found: ");
        al_text_visible(&shown, line, false);
    }
    if (record_line && record_line != js->line)
        al_buf_addf(&where, " (in the record that begins at line %" PRIu64 ")", record_line);
    al_fail(err, AL_INGEST_INVALID, "line %" PRIu64 ", column %" PRIu64 ": %s%.*s%.*s", js->line, column,
            js->bad, AL_FMT(al_buf_str(&shown)), AL_FMT(al_buf_str(&where)));
    return al_hint(err, "%s", hint_for(js, rest));
}
