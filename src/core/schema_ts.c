/*
 * Schemas as TypeScript, for models: short, on one line, and harmless wherever it is pasted. They come from
 * anywhere: whatever a schema says, the work has a limit, and what cannot be said in a type becomes
 * `unknown`.
 */
#include "base/text.h"
#include "core/schema.h"

#include <string.h>

#define MAX_DEPTH 16
#define MAX_ENUM 20
#define MAX_LITERAL 100 /* characters */
#define MAX_NUMBER 40   /* bytes */

/* Members looked at, all in all: references can make a small schema a tree without end. */
#define MAX_WORK 20000u
#define MAX_TUPLE 20

struct ts {
    struct al_buf *out;
    const struct al_json *root;
    unsigned max_depth, work;
    const struct al_json *open[MAX_DEPTH + 1]; /* references that are being followed */
    unsigned n_open;
};

/* True when it wrote a union or an intersection; never with tight, which puts it into parentheses. */
static bool add_type(struct ts *t, const struct al_json *schema, unsigned depth, bool tight);

/* A string literal that is valid JSON and TypeScript, and that ends no comment, script element or Markdown
 * fence. */
static void add_literal(struct al_buf *out, struct al_str s)
{
    autobuf struct al_buf json = AL_BUF_INIT(SIZE_MAX / 2), safe = AL_BUF_INIT(SIZE_MAX / 2);
    struct al_jw w;
    al_jw_init(&w, &json);
    al_jw_str(&w, al_utf8_head(s, MAX_LITERAL));
    al_text_visible(&safe, al_buf_str(&json),
                    false); /* bidi and tag characters become escapes of the language */
    for (size_t i = 0; i < safe.n; i++) {
        bool ends_something = safe.p[i] == '/' && i > 0 && (safe.p[i - 1] == '*' || safe.p[i - 1] == '<');
        if (safe.p[i] == '`')
            al_buf_adds(out, "\\u0060");
        else if (ends_something)
            al_buf_adds(out, "\\/");
        else
            al_buf_addc(out, safe.p[i]);
    }
}

static bool is_identifier(struct al_str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
        if (!letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return name.n > 0 && name.n <= MAX_LITERAL;
}

void al_schema_typescript_name(struct al_str name, struct al_buf *out)
{
    if (is_identifier(name))
        al_buf_add_str(out, name);
    else
        add_literal(out, name);
}

static void add_value(struct al_buf *out, const struct al_json *v)
{
    switch (v->type) {
    case AL_JSON_STRING:
        if (al_utf8_count(v->str) > MAX_LITERAL)
            al_buf_adds(out, "string");
        else
            add_literal(out, v->str);
        break;
    case AL_JSON_NUMBER:
        if (v->raw.n > MAX_NUMBER)
            al_buf_adds(out, "number");
        else
            al_buf_add_str(out, v->raw);
        break;
    case AL_JSON_NULL:
    case AL_JSON_FALSE:
    case AL_JSON_TRUE:
        al_buf_add_str(out, v->raw);
        break;
    case AL_JSON_ARRAY:
    case AL_JSON_OBJECT:
        al_buf_adds(out, "unknown");
        break;
    }
}

static bool add_enum(struct al_buf *out, const struct al_json *list)
{
    unsigned i = 0;
    bool strings = true;
    al_json_each(v, list)
    {
        strings = strings && v->type == AL_JSON_STRING;
        if (i < MAX_ENUM) {
            al_buf_adds(out, i ? " | " : "");
            add_value(out, v);
        }
        i++;
    }
    if (i > MAX_ENUM)
        al_buf_adds(out, strings ? " | string" : " | unknown");
    if (i == 0)
        al_buf_adds(out, "never");
    return i > 1;
}

static bool is_required(struct ts *t, const struct al_json *schema, struct al_str name)
{
    const struct al_json *required = al_json_get(schema, "required");
    t->work += required ? required->n / 8 : 0;
    al_json_each(one, required)
    {
        if (one->type == AL_JSON_STRING && al_str_eq(one->str, name))
            return true;
    }
    return false;
}

static const struct al_json *get_object(const struct al_json *schema, const char *key)
{
    const struct al_json *v = al_json_get(schema, key);
    return v && v->type == AL_JSON_OBJECT ? v : NULL;
}

static const struct al_json *get_list(const struct al_json *schema, const char *key)
{
    const struct al_json *v = al_json_get(schema, key);
    return v && v->type == AL_JSON_ARRAY && v->child ? v : NULL;
}

/* --- references --- */

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The next part of a pointer in a fragment: RFC 6901, section 6. False at its end. */
static bool next_part(struct al_str *rest, struct al_buf *out)
{
    if (rest->n == 0 || rest->p[0] != '/')
        return false;
    size_t i = 1;
    al_buf_clear(out);
    for (; i < rest->n && rest->p[i] != '/'; i++) {
        char c = rest->p[i];
        if (c == '%' && i + 2 < rest->n && hex(rest->p[i + 1]) >= 0 && hex(rest->p[i + 2]) >= 0) {
            c = (char)(hex(rest->p[i + 1]) * 16 + hex(rest->p[i + 2]));
            i += 2;
        }
        if (c == '~' && i + 1 < rest->n && (rest->p[i + 1] == '0' || rest->p[i + 1] == '1'))
            c = rest->p[++i] == '0' ? '~' : '/';
        al_buf_addc(out, c);
    }
    *rest = (struct al_str){rest->p + i, rest->n - i};
    return true;
}

/* Of this document alone: nothing is ever fetched. */
static const struct al_json *resolve(struct ts *t, struct al_str ref)
{
    const struct al_json *v = t->root;
    autobuf struct al_buf part = AL_BUF_INIT(1024);
    if (ref.n == 0 || ref.p[0] != '#')
        return NULL;
    ref = (struct al_str){ref.p + 1, ref.n - 1};
    while (v && next_part(&ref, &part)) {
        int64_t index;
        struct al_str name = al_buf_str(&part);
        t->work += v->n;
        if (v->type == AL_JSON_ARRAY && al_parse_int(name, 0, (int64_t)v->n - 1, &index)) {
            v = v->child;
            while (index-- > 0)
                v = v->next;
        } else {
            v = al_buf_failed(&part) ? NULL : al_json_get_str(v, name);
        }
    }
    return ref.n == 0 ? v : NULL;
}

static bool add_reference(struct ts *t, struct al_str ref, unsigned depth, bool tight)
{
    const struct al_json *target = resolve(t, ref);
    for (unsigned i = 0; i < t->n_open; i++)
        if (t->open[i] == target)
            target = NULL;
    if (!target || t->n_open == MAX_DEPTH) {
        al_buf_adds(t->out, "unknown");
        return false;
    }
    t->open[t->n_open++] = target;
    bool compound = add_type(t, target, depth + 1, tight);
    t->n_open--;
    return compound;
}

/* --- objects and arrays --- */

static void add_record(struct ts *t, const struct al_json *schema, const struct al_json *more, unsigned depth)
{
    const struct al_json *patterns = get_object(schema, "patternProperties");
    const struct al_json *only = patterns && patterns->n == 1 ? patterns->child : more;
    bool closed =
        !patterns && (more ? more->type == AL_JSON_FALSE : al_json_get(schema, "properties") != NULL);
    if (closed) {
        al_buf_adds(t->out, "{}");
        return;
    }
    al_buf_adds(t->out, "Record<string, ");
    if (only && only->type == AL_JSON_OBJECT)
        add_type(t, only, depth + 1, false);
    else
        al_buf_adds(t->out, "unknown");
    al_buf_addc(t->out, '>');
}

static void add_object(struct ts *t, const struct al_json *schema, unsigned depth)
{
    const struct al_json *props = get_object(schema, "properties");
    const struct al_json *more = al_json_get(schema, "additionalProperties");
    bool open = (more && more->type != AL_JSON_FALSE) || get_object(schema, "patternProperties");
    if (!props || !props->child) {
        add_record(t, schema, more, depth);
        return;
    }
    unsigned n = 0;
    al_buf_addc(t->out, '{');
    al_json_each(p, props)
    {
        if (al_buf_failed(t->out))
            return;
        if (al_utf8_count(p->key) > MAX_LITERAL) { /* cut, it would be another name */
            open = true;
            continue;
        }
        al_buf_adds(t->out, n++ ? "; " : "");
        al_schema_typescript_name(p->key, t->out);
        al_buf_adds(t->out, is_required(t, schema, p->key) ? ": " : "?: ");
        add_type(t, p, depth + 1, false);
    }
    /* An index signature must cover the named properties as well, so it can only say `unknown`. */
    if (open)
        al_buf_addf(t->out, "%s[key: string]: unknown", n ? "; " : "");
    al_buf_addc(t->out, '}');
}

static void add_tuple(struct ts *t, const struct al_json *list, const struct al_json *rest, unsigned depth)
{
    unsigned n = 0;
    bool whole = true;
    al_buf_addc(t->out, '[');
    al_json_each(one, list)
    {
        whole = n < MAX_TUPLE;
        if (!whole)
            break;
        al_buf_adds(t->out, n++ ? ", " : "");
        add_type(t, one, depth + 1, false);
    }
    if (!whole || !rest || rest->type != AL_JSON_FALSE) {
        al_buf_adds(t->out, n ? ", ..." : "...");
        if (whole && rest)
            add_type(t, rest, depth + 1, true);
        else
            al_buf_adds(t->out, "unknown");
        al_buf_adds(t->out, "[]");
    }
    al_buf_addc(t->out, ']');
}

static void add_array(struct ts *t, const struct al_json *schema, unsigned depth)
{
    const struct al_json *items = al_json_get(schema, "items"), *tuple = get_list(schema, "prefixItems");
    if (tuple) {
        add_tuple(t, tuple, items, depth);
    } else if (items && items->type == AL_JSON_ARRAY) {
        add_tuple(t, items, al_json_get(schema, "additionalItems"), depth);
    } else {
        add_type(t, items, depth + 1, true);
        al_buf_adds(t->out, "[]");
    }
}

static void add_named(struct ts *t, struct al_str type, const struct al_json *schema, unsigned depth)
{
    if (al_str_is(type, "object"))
        add_object(t, schema, depth);
    else if (al_str_is(type, "array"))
        add_array(t, schema, depth);
    else if (al_str_is(type, "integer") || al_str_is(type, "number"))
        al_buf_adds(t->out, "number");
    else if (al_str_is(type, "string") || al_str_is(type, "boolean") || al_str_is(type, "null"))
        al_buf_add_str(t->out, type);
    else
        al_buf_adds(t->out, "unknown");
}

/* --- one schema --- */

/* What a schema says by itself, not by its branches. */
static bool has_base(const struct al_json *schema)
{
    static const char *const keys[] = {"const",
                                       "enum",
                                       "type",
                                       "properties",
                                       "additionalProperties",
                                       "items",
                                       "prefixItems",
                                       "patternProperties"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (al_json_get(schema, keys[i]))
            return true;
    return false;
}

/* Branches that only say which keys they need add nothing to a type whose properties are listed beside them.
 */
static bool has_shape(const struct al_json *schema)
{
    return schema->type == AL_JSON_FALSE || has_base(schema) || al_json_get(schema, "$ref") ||
           get_list(schema, "oneOf") || get_list(schema, "anyOf") || get_list(schema, "allOf");
}

static unsigned n_shapes(struct ts *t, const struct al_json *branches)
{
    unsigned n = 0;
    al_json_each(b, branches)
    {
        n += has_shape(b);
        t->work += b->n;
    }
    return n;
}

static bool add_types(struct ts *t, const struct al_json *types, const struct al_json *schema, unsigned depth)
{
    unsigned n = 0;
    bool saw_number = false;
    al_json_each(one, types)
    {
        bool number = al_str_is(one->str, "number") || al_str_is(one->str, "integer");
        if (n == MAX_ENUM || (number && saw_number))
            continue;
        saw_number = saw_number || number;
        al_buf_adds(t->out, n++ ? " | " : "");
        add_named(t, one->str, schema, depth + 1);
    }
    return n > 1;
}

static bool add_base(struct ts *t, const struct al_json *schema, unsigned depth)
{
    const struct al_json *only = al_json_get(schema, "const"), *list = al_json_get(schema, "enum");
    const struct al_json *type = al_json_get(schema, "type");
    if (only)
        add_value(t->out, only);
    else if (list && list->type == AL_JSON_ARRAY)
        return add_enum(t->out, list);
    else if (get_list(schema, "type"))
        return add_types(t, type, schema, depth);
    else if (al_json_is_string(type))
        add_named(t, type->str, schema, depth);
    else if (get_object(schema, "properties") || get_object(schema, "patternProperties") ||
             al_json_get(schema, "additionalProperties"))
        add_object(t, schema, depth);
    else if (al_json_get(schema, "items") || al_json_get(schema, "prefixItems"))
        add_array(t, schema, depth);
    else
        al_buf_adds(t->out, "unknown");
    return false;
}

static bool add_branches(struct ts *t, const struct al_json *branches, unsigned depth)
{
    bool compound = false;
    unsigned n = 0;
    al_json_each(b, branches)
    {
        if (n == MAX_ENUM) {
            al_buf_adds(t->out, " | unknown");
            break;
        }
        al_buf_adds(t->out, n++ ? " | " : "");
        compound = add_type(t, b, depth + 1, false) || compound;
    }
    return compound || n > 1;
}

/* From start on: (…). */
static void wrap(struct al_buf *out, size_t start)
{
    al_buf_adds(out, "()");
    if (al_buf_failed(out))
        return;
    memmove(out->p + start + 1, out->p + start, out->n - start - 2);
    out->p[start] = '(';
    out->p[out->n - 1] = ')';
}

struct parts {
    struct ts *t;
    unsigned n, all; /* written, and how many there will be */
    bool compound;
};

static size_t begin_part(struct parts *p)
{
    al_buf_adds(p->t->out, p->n++ ? " & " : "");
    return p->t->out->n;
}

static void end_part(struct parts *p, size_t start, bool compound)
{
    if (compound && p->all > 1)
        wrap(p->t->out, start);
    else
        p->compound = p->compound || compound;
}

/* All that the schema says at once: its own members, one of the branches, every part of allOf. */
static bool add_parts(struct ts *t, const struct al_json *schema, unsigned depth)
{
    const struct al_json *one = get_list(schema, "oneOf"), *any = get_list(schema, "anyOf");
    const struct al_json *all = get_list(schema, "allOf");
    one = n_shapes(t, one) ? one : NULL;
    any = n_shapes(t, any) ? any : NULL;
    unsigned n_all = n_shapes(t, all), n_branches = (one != NULL) + (any != NULL) + n_all;
    bool base = has_base(schema) && (n_branches == 0 || get_object(schema, "properties") ||
                                     al_json_get(schema, "const") || al_json_get(schema, "enum"));
    struct parts p = {.t = t, .all = base + n_branches};
    if (base) {
        size_t start = begin_part(&p);
        end_part(&p, start, add_base(t, schema, depth));
    }
    for (int i = 0; i < 2; i++) {
        const struct al_json *branches = i ? any : one;
        if (!branches)
            continue;
        size_t start = begin_part(&p);
        end_part(&p, start, add_branches(t, branches, depth));
    }
    al_json_each(b, n_all ? all : NULL)
    {
        if (!has_shape(b))
            continue;
        size_t start = begin_part(&p);
        end_part(&p, start, add_type(t, b, depth + 1, false));
    }
    if (p.n == 0)
        al_buf_adds(t->out, "unknown");
    return p.compound || p.n > 1;
}

static bool add_type(struct ts *t, const struct al_json *schema, unsigned depth, bool tight)
{
    size_t start = t->out->n;
    bool compound = false;
    t->work += 1 + (schema ? schema->n : 0);
    if (!schema || al_buf_failed(t->out) || depth > t->max_depth || t->work > MAX_WORK ||
        (schema->type != AL_JSON_OBJECT && schema->type != AL_JSON_FALSE))
        al_buf_adds(t->out, "unknown");
    else if (schema->type == AL_JSON_FALSE)
        al_buf_adds(t->out, "never");
    else if (al_json_is_string(al_json_get(schema, "$ref")))
        compound = add_reference(t, al_json_get_text(schema, "$ref"), depth, false);
    else
        compound = add_parts(t, schema, depth);
    if (schema && al_json_is_true(al_json_get(schema, "nullable"))) {
        al_buf_adds(t->out, " | null");
        compound = true;
    }
    if (compound && tight)
        wrap(t->out, start);
    return compound && !tight;
}

/* What does not fit is said with less of its inside, as long as that helps. */
void al_schema_typescript(const struct al_json *schema, struct al_buf *out)
{
    static const unsigned depths[] = {MAX_DEPTH, 5, 3, 2, 1};
    if (al_buf_failed(out))
        return;
    for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
        autobuf struct al_buf b = AL_BUF_INIT(out->max - out->n);
        struct ts t = {.out = &b, .root = schema, .max_depth = depths[i]};
        add_type(&t, schema, 0, false);
        if (al_buf_failed(&b))
            continue;
        al_buf_add_str(out, al_buf_str(&b));
        return;
    }
    al_buf_adds(out, "unknown");
}
