#include "base/json.h"

#include "base/mem.h"
#include "base/text.h"

/* A container that is still open, with the place where its next member goes. */
struct level {
    struct al_json *box;
    const struct al_json **tail;
};

struct reader {
    struct al_arena *arena;
    struct al_str text;
    size_t at;
    struct al_err *err;
    unsigned depth;
    struct level levels[AL_JSON_MAX_DEPTH];
};

/* Lines end at LF; columns count characters from 1. */
static int fail_at(struct reader *r, size_t at, const char *what)
{
    size_t line = 1, start = 0;
    for (size_t i = 0; i < at; i++) {
        if (r->text.p[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    size_t column = 1 + al_utf8_count((struct al_str){r->text.p + start, at - start});
    return al_fail(r->err, AL_INVALID_INPUT, "line %zu, column %zu: %s", line, column, what);
}

static int fail_memory(struct reader *r)
{
    return fail_at(r, r->at, "the values need more memory than the limit allows");
}

static int peek(const struct reader *r)
{
    return r->at < r->text.n ? (unsigned char)r->text.p[r->at] : -1;
}

static void skip_space(struct reader *r)
{
    for (int c = peek(r); c == ' ' || c == '\n' || c == '\r' || c == '\t'; c = peek(r))
        r->at++;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits of \uXXXX at p, which has n bytes left; -1 when they are not there. */
static int32_t hex4(const char *p, size_t n)
{
    int32_t v = 0;
    if (n < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int d = hex_value(p[i]);
        if (d < 0)
            return -1;
        v = v << 4 | d;
    }
    return v;
}

/* One escape at p (behind the backslash). Bytes used, 0 when there is no such escape. */
static size_t read_escape(const char *p, size_t n, uint32_t *ret_cp)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (n == 0 || p[0] == '\0')
        return 0;
    const char *name = strchr(names, p[0]);
    if (name) {
        *ret_cp = (unsigned char)values[name - names];
        return 1;
    }
    int32_t hi = p[0] == 'u' ? hex4(p + 1, n - 1) : -1;
    if (hi < 0)
        return 0;
    *ret_cp = (uint32_t)hi;
    if (hi < 0xd800 || hi > 0xdfff)
        return 5;
    int32_t lo = hi < 0xdc00 && n >= 7 && p[5] == '\\' && p[6] == 'u' ? hex4(p + 7, n - 7) : -1;
    if (lo >= 0xdc00 && lo <= 0xdfff) {
        *ret_cp = 0x10000 + ((uint32_t)(hi - 0xd800) << 10) + (uint32_t)(lo - 0xdc00);
        return 11;
    }
    *ret_cp = 0xfffd; /* a lone surrogate is no character */
    return 5;
}

/* Decodes what scan_string has accepted; out has room for the length which that counted. */
static void decode_string(struct al_str raw, char *out)
{
    while (raw.n) {
        const char *slash = memchr(raw.p, '\\', raw.n);
        size_t plain = slash ? (size_t)(slash - raw.p) : raw.n;
        memcpy(out, raw.p, plain);
        out += plain;
        raw.p += plain;
        raw.n -= plain;
        if (slash) {
            uint32_t cp = 0;
            size_t used = 1 + read_escape(raw.p + 1, raw.n - 1, &cp);
            out += al_utf8_encode(cp, out);
            raw.p += used;
            raw.n -= used;
        }
    }
}

/* Passes over characters of one byte that stand for themselves; most of all text is such. */
static size_t skip_plain(struct reader *r)
{
    const char *p = r->text.p;
    size_t start = r->at, at = start;
    while (at < r->text.n && p[at] >= 0x20 && p[at] < 0x7f && p[at] != '"' && p[at] != '\\')
        at++;
    r->at = at;
    return at - start;
}

/* From behind the opening quote to behind the closing one. *ret_n is the decoded length. */
static int scan_string(struct reader *r, struct al_str *ret_raw, size_t *ret_n)
{
    size_t start = r->at, n = 0;
    for (;;) {
        n += skip_plain(r);
        int c = peek(r);
        if (c < 0)
            return fail_at(r, r->at, "the text ends inside a string");
        if (c == '"')
            break;
        uint32_t cp;
        size_t used;
        char enc[4];
        if (c == '\\') {
            used = read_escape(r->text.p + r->at + 1, r->text.n - r->at - 1, &cp);
            if (used == 0)
                return fail_at(r, r->at, "not an escape that JSON has");
            used++;
            n += al_utf8_encode(cp, enc);
        } else if (c < 0x20) {
            return fail_at(r, r->at, "a control character in a string must be escaped");
        } else if (c < 0x80) {
            used = 1;
            n++;
        } else {
            used = al_utf8_decode((struct al_str){r->text.p + r->at, r->text.n - r->at}, &cp);
            if (used == 0)
                return fail_at(r, r->at, "the text is not valid UTF-8");
            n += used;
        }
        r->at += used;
    }
    *ret_raw = (struct al_str){r->text.p + start, r->at - start};
    *ret_n = n;
    r->at++;
    return 0;
}

/* A string without escapes is a view of the source. */
static int read_string(struct reader *r, struct al_str *ret)
{
    struct al_str raw = {0};
    size_t n = 0;
    r->at++;
    if (scan_string(r, &raw, &n) < 0)
        return -1;
    if (n == raw.n) {
        *ret = raw;
        return 0;
    }
    char *p = al_arena_alloc(r->arena, n + 1);
    if (!p)
        return fail_memory(r);
    decode_string(raw, p);
    *ret = (struct al_str){p, n};
    return 0;
}

static bool skip_digits(struct reader *r)
{
    size_t start = r->at;
    while (peek(r) >= '0' && peek(r) <= '9')
        r->at++;
    return r->at > start;
}

static int read_number(struct reader *r)
{
    if (peek(r) == '-')
        r->at++;
    size_t start = r->at;
    if (!skip_digits(r))
        return fail_at(r, r->at, "expected a digit after '-'");
    if (r->text.p[start] == '0' && r->at - start > 1)
        return fail_at(r, start, "a number must not begin with 0");
    if (peek(r) == '.') {
        r->at++;
        if (!skip_digits(r))
            return fail_at(r, r->at, "expected a digit after the decimal point");
    }
    if (peek(r) == 'e' || peek(r) == 'E') {
        r->at++;
        if (peek(r) == '+' || peek(r) == '-')
            r->at++;
        if (!skip_digits(r))
            return fail_at(r, r->at, "expected a digit in the exponent");
    }
    return 0;
}

static int read_word(struct reader *r, struct al_json *v)
{
    static const struct {
        struct al_str word;
        enum al_json_type type;
    } words[] = {{AL_S("null"), AL_JSON_NULL}, {AL_S("false"), AL_JSON_FALSE}, {AL_S("true"), AL_JSON_TRUE}};
    size_t left = r->text.n - r->at;
    for (size_t i = 0; i < 3; i++) {
        struct al_str w = words[i].word;
        if (left >= w.n && memcmp(r->text.p + r->at, w.p, w.n) == 0) {
            v->type = words[i].type;
            r->at += w.n;
            return 0;
        }
    }
    if (left == 0)
        return fail_at(r, r->at, "expected a value, the text ends");
    return fail_at(r, r->at, "expected a value");
}

static int open_box(struct reader *r, struct al_json *v, enum al_json_type type)
{
    if (r->depth == AL_JSON_MAX_DEPTH)
        return fail_at(r, r->at, "nested too deeply");
    v->type = type;
    r->levels[r->depth++] = (struct level){v, &v->child};
    r->at++;
    return 0;
}

/* Reads a scalar as a whole, of a container only the opening. */
static int read_value(struct reader *r, struct al_json *v)
{
    size_t start = r->at;
    int c = peek(r), ret;
    if (c == '{' || c == '[') {
        ret = open_box(r, v, c == '{' ? AL_JSON_OBJECT : AL_JSON_ARRAY);
    } else if (c == '"') {
        v->type = AL_JSON_STRING;
        ret = read_string(r, &v->str);
    } else if (c == '-' || (c >= '0' && c <= '9')) {
        v->type = AL_JSON_NUMBER;
        ret = read_number(r);
    } else {
        ret = read_word(r, v);
    }
    v->raw = (struct al_str){r->text.p + start, r->at - start};
    return ret;
}

static int read_key(struct reader *r, struct al_str *ret)
{
    if (peek(r) != '"') {
        return fail_at(r, r->at,
                       peek(r) < 0 ? "expected a name, the text ends" : "expected a name in double quotes");
    }
    if (read_string(r, ret) < 0)
        return -1;
    skip_space(r);
    if (peek(r) != ':')
        return fail_at(r, r->at, "expected ':' after the name");
    r->at++;
    skip_space(r);
    return 0;
}

static char closer(const struct level *l)
{
    return l->box->type == AL_JSON_OBJECT ? '}' : ']';
}

/* After a value, or a closing: closes what closes here. 1 when a further member follows, 0 at the end of all.
 */
static int close_boxes(struct reader *r)
{
    while (r->depth) {
        struct level *l = &r->levels[r->depth - 1];
        skip_space(r);
        int c = peek(r);
        if (c == closer(l)) {
            r->at++;
            l->box->raw.n = (size_t)(r->text.p + r->at - l->box->raw.p);
            r->depth--;
            continue;
        }
        if (l->box->n == 0)
            return 1;
        if (c != ',') {
            return fail_at(r, r->at,
                           c < 0              ? "the text ends too early"
                           : closer(l) == '}' ? "expected ',' or '}'"
                                              : "expected ',' or ']'");
        }
        r->at++;
        skip_space(r);
        if (peek(r) == closer(l))
            return fail_at(r, r->at, "a comma must be followed by a further value");
        return 1;
    }
    return 0;
}

/* One value and, when it stands in a container, its link there. */
static int read_member(struct reader *r, struct al_json **ret)
{
    struct level *l = r->depth ? &r->levels[r->depth - 1] : NULL;
    struct al_json *v = al_arena_alloc(r->arena, sizeof *v);
    if (!v)
        return fail_memory(r);
    if (l && l->box->type == AL_JSON_OBJECT && read_key(r, &v->key) < 0)
        return -1;
    if (read_value(r, v) < 0)
        return -1;
    if (l) {
        *l->tail = v;
        l->tail = &v->next;
        l->box->n++;
    }
    *ret = v;
    return 0;
}

int al_json_parse(struct al_arena *a, struct al_str text, const struct al_json **ret, struct al_err *err)
{
    struct reader r;
    r.arena = a;
    r.text = text.p ? text : AL_STR("");
    r.at = 0;
    r.err = err;
    r.depth = 0;
    if (text.n > UINT32_MAX)
        return al_fail(err, AL_INVALID_INPUT, "line 1, column 1: the text is larger than 4 GiB");
    struct al_json *root = NULL, *v = NULL;
    skip_space(&r);
    for (int more = 1; more;) {
        if (read_member(&r, &v) < 0)
            return -1;
        if (!root)
            root = v;
        more = close_boxes(&r);
        if (more < 0)
            return -1;
    }
    skip_space(&r);
    if (r.at < r.text.n)
        return fail_at(&r, r.at, "unexpected text after the value");
    *ret = root;
    return 0;
}

const struct al_json *al_json_get_str(const struct al_json *v, struct al_str key)
{
    const struct al_json *found = NULL;
    if (!v || v->type != AL_JSON_OBJECT)
        return NULL;
    al_json_each(it, v)
    {
        if (al_str_eq(it->key, key))
            found = it;
    }
    return found;
}

const struct al_json *al_json_get(const struct al_json *v, const char *key)
{
    return al_json_get_str(v, al_str_of(key));
}

bool al_json_is_string(const struct al_json *v)
{
    return v && v->type == AL_JSON_STRING;
}

bool al_json_is_true(const struct al_json *v)
{
    return v && v->type == AL_JSON_TRUE;
}

struct al_str al_json_get_text(const struct al_json *v, const char *key)
{
    const struct al_json *m = al_json_get(v, key);
    return al_json_is_string(m) ? m->str : (struct al_str){NULL, 0};
}

const char *al_json_type_name(const struct al_json *v)
{
    static const char *const names[] = {
        [AL_JSON_NULL] = "null",     [AL_JSON_FALSE] = "boolean", [AL_JSON_TRUE] = "boolean",
        [AL_JSON_NUMBER] = "number", [AL_JSON_STRING] = "string", [AL_JSON_ARRAY] = "array",
        [AL_JSON_OBJECT] = "object",
    };
    return v ? names[v->type] : "nothing";
}
