#include "core/schema.h"
#include "base/text.h"

#include <stdint.h>

#define MAX_SHOWN 20
#define KEY_SHOWN 64 /* characters of a name in a pointer or a message */
/* Beyond this an integer is one whatever its digits say: a double has no room for a fraction. */
#define ALL_INTEGERS_FROM 9007199254740992.0

/* Where a value lies, from the inside out; lives on the stack of the descent. */
struct place {
    const struct place *up;
    struct al_str key;
    uint32_t index;
    bool is_index;
};

struct check {
    struct al_buf *out; /* NULL: only count */
    unsigned n;
};

static void check_value(struct check *c, const struct al_json *schema, const struct al_json *v,
                        const struct place *at, bool strict);

static void add_key(struct al_buf *out, struct al_str key)
{
    struct al_str head = al_utf8_head(key, KEY_SHOWN);
    autobuf struct al_buf safe = AL_BUF_INIT(KEY_SHOWN * 16);
    al_text_visible(&safe, head, false);
    for (size_t i = 0; i < safe.n; i++) {
        if (safe.p[i] == '~')
            al_buf_adds(out, "~0");
        else if (safe.p[i] == '/')
            al_buf_adds(out, "~1");
        else
            al_buf_addc(out, safe.p[i]);
    }
    if (head.n < key.n)
        al_buf_adds(out, "…");
}

/* RFC 6901; the whole value, whose pointer is empty there, is shown as "/". */
static void add_pointer(struct al_buf *out, const struct place *at)
{
    if (!at)
        return;
    add_pointer(out, at->up);
    al_buf_addc(out, '/');
    if (at->is_index)
        al_buf_addf(out, "%u", at->index);
    else
        add_key(out, at->key);
}

/* Begins a line; false when nothing is to be written. */
static bool problem(struct check *c, const struct place *at)
{
    c->n++;
    if (!c->out || c->n > MAX_SHOWN)
        return false;
    if (c->out->n > 0)
        al_buf_addc(c->out, '\n');
    if (!at)
        al_buf_addc(c->out, '/');
    add_pointer(c->out, at);
    al_buf_adds(c->out, ": ");
    return true;
}

static void say(struct check *c, const struct place *at, const char *what)
{
    if (problem(c, at))
        al_buf_adds(c->out, what);
}

static void say_limit(struct check *c, const struct place *at, const char *what, struct al_str limit)
{
    if (problem(c, at))
        al_buf_addf(c->out, "%s %.*s", what, AL_FMT(limit));
}

static void add_quoted(struct al_buf *out, struct al_str s)
{
    struct al_str head = al_utf8_head(s, KEY_SHOWN);
    al_buf_addc(out, '"');
    al_text_visible(out, head, false);
    al_buf_adds(out, head.n < s.n ? "…\"" : "\"");
}

/* --- type --- */

static bool is_integer(const struct al_json *v)
{
    int64_t i;
    double d;
    if (v->type != AL_JSON_NUMBER)
        return false;
    if (al_json_int(v, INT64_MIN, INT64_MAX, &i))
        return true;
    return al_json_double(v, &d) && (d >= ALL_INTEGERS_FROM || d <= -ALL_INTEGERS_FROM);
}

static bool type_fits(struct al_str type, const struct al_json *v)
{
    switch (v->type) {
    case AL_JSON_NULL:
        return al_str_is(type, "null");
    case AL_JSON_FALSE:
    case AL_JSON_TRUE:
        return al_str_is(type, "boolean");
    case AL_JSON_NUMBER:
        return al_str_is(type, "number") || (al_str_is(type, "integer") && is_integer(v));
    case AL_JSON_STRING:
        return al_str_is(type, "string");
    case AL_JSON_ARRAY:
        return al_str_is(type, "array");
    case AL_JSON_OBJECT:
        return al_str_is(type, "object");
    }
    return false;
}

static const char *with_article(struct al_str type)
{
    static const struct {
        const char *type, *text;
    } names[] = {{"object", "an object"}, {"array", "an array"},  {"integer", "an integer"},
                 {"string", "a string"},  {"number", "a number"}, {"boolean", "a boolean"},
                 {"null", "null"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (al_str_is(type, names[i].type))
            return names[i].text;
    return "of another type";
}

static bool check_type(struct check *c, const struct al_json *type, const struct al_json *v,
                       const struct place *at)
{
    if (!type)
        return true;
    if (type->type == AL_JSON_STRING && type_fits(type->str, v))
        return true;
    if (type->type == AL_JSON_ARRAY)
        al_json_each(one, type) if (one->type == AL_JSON_STRING && type_fits(one->str, v)) return true;
    if (!problem(c, at))
        return false;
    al_buf_adds(c->out, "must be ");
    if (type->type == AL_JSON_STRING)
        al_buf_adds(c->out, with_article(type->str));
    else
        al_json_each(one, type)
            al_buf_addf(c->out, "%s%s", one == type->child ? "" : " or ", with_article(one->str));
    if (v->type == AL_JSON_NUMBER && type->type == AL_JSON_STRING && al_str_is(type->str, "integer"))
        al_buf_adds(c->out, ", not a fraction");
    else
        al_buf_addf(c->out, ", not %s", with_article(al_str_of(al_json_type_name(v))));
    return false;
}

/* --- values --- */

static void check_enum(struct check *c, const struct al_json *schema, const struct al_json *v,
                       const struct place *at)
{
    const struct al_json *only = al_json_get(schema, "const");
    if (only && !al_json_equal(only, v) && problem(c, at)) {
        al_buf_adds(c->out, "must be ");
        al_text_visible(c->out, al_utf8_head(only->raw, KEY_SHOWN), false);
    }
    const struct al_json *list = al_json_get(schema, "enum");
    if (!list)
        return;
    al_json_each(one, list) if (al_json_equal(one, v)) return;
    if (!problem(c, at))
        return;
    al_buf_adds(c->out, "must be one of ");
    unsigned i = 0;
    al_json_each(one, list)
    {
        if (i == MAX_SHOWN) {
            al_buf_adds(c->out, ", …");
            break;
        }
        al_buf_adds(c->out, i++ ? ", " : "");
        al_text_visible(c->out, al_utf8_head(one->raw, KEY_SHOWN), false);
    }
}

static void check_number(struct check *c, const struct al_json *schema, const struct al_json *v,
                         const struct place *at)
{
    const struct al_json *min = al_json_get(schema, "minimum"), *max = al_json_get(schema, "maximum");
    double value, limit;
    if ((!min && !max) || !al_json_double(v, &value))
        return;
    if (min && al_json_double(min, &limit) && value < limit)
        say_limit(c, at, "must be at least", min->raw);
    if (max && al_json_double(max, &limit) && value > limit)
        say_limit(c, at, "must be at most", max->raw);
}

/* A limit that counts something; absent, or no such number: no limit. */
static bool count_limit(const struct al_json *schema, const char *key, uint64_t *ret)
{
    int64_t n;
    if (!al_json_int(al_json_get(schema, key), 0, INT64_MAX, &n))
        return false;
    *ret = (uint64_t)n;
    return true;
}

static void check_count(struct check *c, const struct al_json *schema, const char *min_key,
                        const char *max_key, uint64_t n, const char *unit, const struct place *at)
{
    uint64_t limit;
    if (count_limit(schema, min_key, &limit) && n < limit && problem(c, at))
        al_buf_addf(c->out, "must have at least %llu %s%s", (unsigned long long)limit, unit,
                    limit == 1 ? "" : "s");
    if (count_limit(schema, max_key, &limit) && n > limit && problem(c, at))
        al_buf_addf(c->out, "must have at most %llu %s%s, not %llu", (unsigned long long)limit, unit,
                    limit == 1 ? "" : "s", (unsigned long long)n);
}

static void check_array(struct check *c, const struct al_json *schema, const struct al_json *v,
                        const struct place *at)
{
    check_count(c, schema, "minItems", "maxItems", v->n, "item", at);
    const struct al_json *items = al_json_get(schema, "items");
    if (!items)
        return;
    struct place here = {.up = at, .is_index = true};
    al_json_each(one, v)
    {
        check_value(c, items, one, &here, true);
        here.index++;
    }
}

static void say_unknown(struct check *c, const struct al_json *props, const struct al_json *member,
                        const struct place *at)
{
    if (!problem(c, at))
        return;
    al_buf_adds(c->out, "is no known property");
    const struct al_json *best = NULL;
    unsigned best_distance = 3;
    al_json_each(p, props)
    {
        unsigned d = al_str_distance(p->key, member->key);
        if (d < best_distance && d < p->key.n) {
            best = p;
            best_distance = d;
        }
    }
    if (best) {
        al_buf_adds(c->out, "; did you mean ");
        add_quoted(c->out, best->key);
        al_buf_addc(c->out, '?');
    }
}

static void check_object(struct check *c, const struct al_json *schema, const struct al_json *v,
                         const struct place *at, bool strict)
{
    al_json_each(name, al_json_get(schema, "required"))
    {
        if (al_json_get_str(v, name->str))
            continue;
        struct place missing = {.up = at, .key = name->str};
        say(c, &missing, "is required");
    }
    const struct al_json *props = al_json_get(schema, "properties");
    const struct al_json *more = al_json_get(schema, "additionalProperties");
    bool closed = more ? more->type == AL_JSON_FALSE : props && strict;
    al_json_each(member, v)
    {
        struct place here = {.up = at, .key = member->key};
        const struct al_json *p = al_json_get_str(props, member->key);
        if (p)
            check_value(c, p, member, &here, true);
        else if (closed)
            say_unknown(c, props, member, &here);
        else if (more && more->type == AL_JSON_OBJECT)
            check_value(c, more, member, &here, true);
    }
}

/* --- choices --- */

/* The keys that tell the branches apart, when each has exactly one required key: "code", "codePath". */
static bool add_choice(struct al_buf *out, const struct al_json *branches)
{
    al_json_each(b, branches)
    {
        const struct al_json *required = al_json_get(b, "required");
        if (!required || required->n != 1 || required->child->type != AL_JSON_STRING)
            return false;
    }
    al_json_each(b, branches)
    {
        al_buf_adds(out, b == branches->child ? "" : ", ");
        add_quoted(out, al_json_get(b, "required")->child->str);
    }
    return true;
}

static void say_choice(struct check *c, const struct al_json *branches, bool exactly, const struct place *at)
{
    if (!problem(c, at))
        return;
    size_t mark = c->out->n;
    al_buf_adds(c->out, exactly ? "must have exactly one of " : "must have at least one of ");
    if (add_choice(c->out, branches))
        return;
    c->out->n = mark;
    al_buf_adds(c->out, exactly ? "must fit exactly one of the schema's shapes"
                                : "must fit one of the schema's shapes");
}

static void check_choice(struct check *c, const struct al_json *branches, bool exactly,
                         const struct al_json *v, const struct place *at)
{
    if (!branches)
        return;
    unsigned fit = 0;
    al_json_each(b, branches)
    {
        struct check quiet = {NULL, 0};
        check_value(&quiet, b, v, at, false);
        fit += quiet.n == 0;
    }
    if (exactly ? fit != 1 : fit == 0)
        say_choice(c, branches, exactly, at);
}

/* Each step goes down one level of the schema, which the reader has limited to AL_JSON_MAX_DEPTH levels. */
static void check_value(struct check *c, const struct al_json *schema, const struct al_json *v,
                        const struct place *at, bool strict)
{
    if (schema->type == AL_JSON_FALSE)
        say(c, at, "is not allowed");
    if (schema->type != AL_JSON_OBJECT || !check_type(c, al_json_get(schema, "type"), v, at))
        return;
    check_enum(c, schema, v, at);
    if (v->type == AL_JSON_NUMBER)
        check_number(c, schema, v, at);
    else if (v->type == AL_JSON_STRING)
        check_count(c, schema, "minLength", "maxLength", al_utf8_count(v->str), "character", at);
    else if (v->type == AL_JSON_ARRAY)
        check_array(c, schema, v, at);
    else if (v->type == AL_JSON_OBJECT)
        check_object(c, schema, v, at, strict);
    check_choice(c, al_json_get(schema, "oneOf"), true, v, at);
    check_choice(c, al_json_get(schema, "anyOf"), false, v, at);
}

unsigned al_schema_check(const struct al_json *schema, const struct al_json *value, struct al_buf *problems)
{
    struct check c = {problems, 0};
    check_value(&c, schema, value, NULL, true);
    return c.n;
}
