/* Schemas as TypeScript, for models: short, on one line, and harmless wherever it is pasted. */
#include "base/text.h"
#include "core/schema.h"

#define MAX_DEPTH 16
#define MAX_ENUM 20
#define MAX_LITERAL 100 /* characters */
#define MAX_NUMBER 40   /* bytes */

static void add_type(struct al_buf *out, const struct al_json *schema, unsigned depth);

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

static void add_enum(struct al_buf *out, const struct al_json *list)
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
}

static bool is_required(const struct al_json *schema, struct al_str name)
{
    al_json_each(one, al_json_get(schema, "required")) if (one->type == AL_JSON_STRING &&
                                                           al_str_eq(one->str, name)) return true;
    return false;
}

static void add_object(struct al_buf *out, const struct al_json *schema, unsigned depth)
{
    const struct al_json *props = al_json_get(schema, "properties");
    const struct al_json *more = al_json_get(schema, "additionalProperties");
    bool typed = more && more->type == AL_JSON_OBJECT;
    if (!props || !props->child) {
        bool empty = (more && more->type == AL_JSON_FALSE) || (props && !more);
        al_buf_adds(out, empty ? "{}" : "Record<string, ");
        if (typed)
            add_type(out, more, depth + 1);
        else if (!empty)
            al_buf_adds(out, "unknown");
        al_buf_adds(out, empty ? "" : ">");
        return;
    }
    al_buf_addc(out, '{');
    al_json_each(p, props)
    {
        al_buf_adds(out, p == props->child ? "" : "; ");
        al_schema_typescript_name(p->key, out);
        al_buf_adds(out, is_required(schema, p->key) ? ": " : "?: ");
        add_type(out, p, depth + 1);
    }
    /* An index signature must cover the named properties as well, so it can only say `unknown`. */
    if (typed || (more && more->type == AL_JSON_TRUE))
        al_buf_adds(out, "; [key: string]: unknown");
    al_buf_addc(out, '}');
}

static bool is_union(const struct al_json *items)
{
    const struct al_json *type = al_json_get(items, "type");
    return al_json_get(items, "enum") || al_json_get(items, "oneOf") || al_json_get(items, "anyOf") ||
           (type && type->type == AL_JSON_ARRAY);
}

static void add_array(struct al_buf *out, const struct al_json *schema, unsigned depth)
{
    const struct al_json *items = al_json_get(schema, "items");
    bool parens = is_union(items);
    al_buf_adds(out, parens ? "(" : "");
    add_type(out, items, depth + 1);
    al_buf_adds(out, parens ? ")[]" : "[]");
}

static void add_named(struct al_buf *out, struct al_str type, const struct al_json *schema, unsigned depth)
{
    if (al_str_is(type, "object"))
        add_object(out, schema, depth);
    else if (al_str_is(type, "array"))
        add_array(out, schema, depth);
    else if (al_str_is(type, "integer") || al_str_is(type, "number"))
        al_buf_adds(out, "number");
    else if (al_str_is(type, "string") || al_str_is(type, "boolean") || al_str_is(type, "null"))
        al_buf_add_str(out, type);
    else
        al_buf_adds(out, "unknown");
}

/* Branches that only say which keys they need add nothing to a type whose properties are listed beside them.
 */
static bool has_shape(const struct al_json *branches)
{
    al_json_each(b, branches) if (al_json_get(b, "type") || al_json_get(b, "properties") ||
                                  al_json_get(b, "enum") || al_json_get(b, "const")) return true;
    return false;
}

static void add_union(struct al_buf *out, const struct al_json *branches, unsigned depth)
{
    al_json_each(b, branches)
    {
        al_buf_adds(out, b == branches->child ? "" : " | ");
        add_type(out, b, depth + 1);
    }
}

static void add_type(struct al_buf *out, const struct al_json *schema, unsigned depth)
{
    const struct al_json *type = al_json_get(schema, "type"), *list = al_json_get(schema, "enum");
    const struct al_json *only = al_json_get(schema, "const");
    const struct al_json *branches = al_json_get(schema, "oneOf");
    if (!branches)
        branches = al_json_get(schema, "anyOf");
    if (depth > MAX_DEPTH) {
        al_buf_adds(out, "unknown");
    } else if (only) {
        add_value(out, only);
    } else if (list && list->type == AL_JSON_ARRAY) {
        add_enum(out, list);
    } else if (branches && has_shape(branches) && !al_json_get(schema, "properties")) {
        add_union(out, branches, depth);
    } else if (type && type->type == AL_JSON_ARRAY && type->child) {
        al_json_each(one, type)
        {
            al_buf_adds(out, one == type->child ? "" : " | ");
            add_named(out, one->str, schema, depth + 1);
        }
    } else if (al_json_is_string(type)) {
        add_named(out, type->str, schema, depth);
    } else if (al_json_get(schema, "properties")) {
        add_object(out, schema, depth);
    } else {
        al_buf_adds(out, "unknown");
    }
}

void al_schema_typescript(const struct al_json *schema, struct al_buf *out)
{
    if (al_buf_failed(out))
        return;
    autobuf struct al_buf b = AL_BUF_INIT(out->max - out->n);
    add_type(&b, schema, 0);
    if (al_buf_failed(&b))
        al_buf_adds(out, "unknown");
    else
        al_buf_add_str(out, al_buf_str(&b));
}
