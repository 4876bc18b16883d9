#include "base/text.h"
#include "upstream/http_int.h"

#include <stdio.h>
#include <strings.h>

#define MARK "x-mcp-header"
#define MAX_HEADERS 64
#define MAX_NAME 128
#define MAX_SAFE ((int64_t)9007199254740991)
#define SCHEMA_ARENA (32u << 20)

/* --- values --- */

static void base64(struct al_str s, struct al_buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < s.n; i += 3) {
        size_t n = s.n - i < 3 ? s.n - i : 3;
        uint32_t v = (uint32_t)(uint8_t)s.p[i] << 16;
        v |= n > 1 ? (uint32_t)(uint8_t)s.p[i + 1] << 8 : 0;
        v |= n > 2 ? (uint8_t)s.p[i + 2] : 0;
        for (unsigned k = 0; k < 4; k++)
            al_buf_addc(out, k <= n ? digits[v >> (18 - 6 * k) & 63] : '=');
    }
}

static bool plain(struct al_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((s.p[i] < 0x20 && s.p[i] != '\t') || s.p[i] >= 0x7f)
            return false;
    if (al_str_trim(s).n != s.n)
        return false;
    return !(al_str_starts(s, "=?base64?") && al_str_ends(s, "?="));
}

void al_params_value(struct al_str value, struct al_buf *out)
{
    if (plain(value)) {
        al_buf_add_str(out, value);
        return;
    }
    al_buf_adds(out, "=?base64?");
    base64(value, out);
    al_buf_adds(out, "?=");
}

/* --- which tools can be called --- */

struct check {
    struct al_str names[MAX_HEADERS];
    size_t n;
    struct al_buf *why;
    bool bad;
};

static void bad(struct check *c, const char *what)
{
    if (!c->bad)
        al_buf_adds(c->why, what);
    c->bad = true;
}

static bool is_token(struct al_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char ch = s.p[i];
        bool alnum = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9');
        if (!alnum && (!ch || !strchr("!#$%&'*+-.^_`|~", ch)))
            return false;
    }
    return s.n > 0 && s.n <= MAX_NAME;
}

static bool is_primitive(const struct al_json *type)
{
    struct al_str name = al_json_is_string(type) ? type->str : (struct al_str){NULL, 0};
    return al_str_is(name, "string") || al_str_is(name, "integer") || al_str_is(name, "boolean");
}

/* One of the three, perhaps or null. */
static bool has_primitive_type(const struct al_json *schema)
{
    const struct al_json *type = al_json_get(schema, "type");
    if (!type || type->type != AL_JSON_ARRAY)
        return is_primitive(type);
    size_t n = 0;
    al_json_each(t, type)
    {
        if (al_json_is_string(t) && al_str_is(t->str, "null"))
            continue;
        if (!is_primitive(t))
            return false;
        n++;
    }
    return n > 0;
}

static void check_mark(struct check *c, const struct al_json *schema, const struct al_json *mark,
                       bool reachable)
{
    if (!al_json_is_string(mark) || !is_token(mark->str)) {
        bad(c, MARK " is no name of a header");
        return;
    }
    if (!reachable)
        bad(c, MARK " stands where no argument of the tool has its place");
    if (!has_primitive_type(schema))
        bad(c, MARK " is put on an argument that is no string, integer or boolean");
    for (size_t i = 0; i < c->n; i++)
        if (c->names[i].n == mark->str.n && strncasecmp(c->names[i].p, mark->str.p, mark->str.n) == 0)
            bad(c, MARK " names the same header twice");
    if (c->n == MAX_HEADERS)
        bad(c, MARK " stands more than 64 times");
    else
        c->names[c->n++] = mark->str;
}

/* Keywords whose members are named by the author: schemas, or plain data. */
static bool is_map(struct al_str key)
{
    return al_str_is(key, "$defs") || al_str_is(key, "definitions") || al_str_is(key, "patternProperties") ||
           al_str_is(key, "dependentSchemas") || al_str_is(key, "dependencies");
}

static bool is_data(struct al_str key)
{
    return al_str_is(key, "default") || al_str_is(key, "const") || al_str_is(key, "enum") ||
           al_str_is(key, "examples");
}

/* The depth is that of the text: at most AL_JSON_MAX_DEPTH. */
static void check_schema(struct check *c, const struct al_json *schema, bool reachable, bool root)
{
    if (schema->type == AL_JSON_ARRAY) {
        al_json_each(v, schema) check_schema(c, v, false, false);
        return;
    }
    if (schema->type != AL_JSON_OBJECT)
        return;
    const struct al_json *mark = al_json_get(schema, MARK);
    if (mark)
        check_mark(c, schema, mark, reachable && !root);
    al_json_each(v, schema)
    {
        bool properties = al_str_is(v->key, "properties");
        if (is_data(v->key) || v == mark)
            continue;
        if ((properties || is_map(v->key)) && v->type == AL_JSON_OBJECT) {
            al_json_each(p, v) check_schema(c, p, reachable && properties, false);
        } else {
            check_schema(c, v, false, false);
        }
    }
}

bool al_params_takes_tool(const struct al_json *tool, struct al_buf *why)
{
    const struct al_json *schema = al_json_get(tool, "inputSchema");
    struct check c = {.why = why};
    if (schema)
        check_schema(&c, schema, true, true);
    return !c.bad;
}

/* --- the headers of one call --- */

static void add_value(const struct al_json *value, struct al_buf *out)
{
    int64_t number;
    char digits[24];
    struct al_str text = value->raw; /* true, false; a number that is no integer as it stands */
    if (value->type == AL_JSON_STRING)
        text = value->str;
    if (value->type == AL_JSON_NUMBER && al_json_int(value, -MAX_SAFE, MAX_SAFE, &number)) {
        snprintf(digits, sizeof(digits), "%lld", (long long)number);
        text = al_str_of(digits);
    }
    al_params_value(text, out);
}

static bool has_value(const struct al_json *v)
{
    return v && (v->type == AL_JSON_STRING || v->type == AL_JSON_NUMBER || v->type == AL_JSON_TRUE ||
                 v->type == AL_JSON_FALSE);
}

static void add_headers(const struct al_json *schema, const struct al_json *arguments, struct al_buf *out)
{
    const struct al_json *properties = al_json_get(schema, "properties");
    if (!properties || properties->type != AL_JSON_OBJECT)
        return;
    al_json_each(p, properties)
    {
        const struct al_json *value = al_json_get_str(arguments, p->key);
        struct al_str name = al_json_get_text(p, MARK);
        if (is_token(name) && has_value(value)) {
            al_buf_adds(out, "Mcp-Param-");
            al_buf_add_str(out, name);
            al_buf_adds(out, ": ");
            add_value(value, out);
            al_buf_addc(out, 0);
        }
        if (value && value->type == AL_JSON_OBJECT)
            add_headers(p, value, out);
    }
}

int al_params_headers(struct al_str input_schema, struct al_str arguments, struct al_buf *out,
                      struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(SCHEMA_ARENA);
    const struct al_json *schema, *values;
    if (al_str_find(input_schema, AL_STR(MARK)) < 0 || !arguments.n)
        return 0; /* nearly always */
    if (al_json_parse(&a, input_schema, &schema, err) < 0 || al_json_parse(&a, arguments, &values, err) < 0)
        return -1;
    add_headers(schema, values, out);
    if (!al_buf_failed(out))
        return 0;
    al_fail(err, AL_TOOL_INPUT_INVALID, "the arguments that this tool wants as HTTP headers are too long");
    return al_hint(err, "the server asks for them by " MARK " in the tool's input schema");
}
