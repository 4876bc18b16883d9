/* What a schema of our own may say: checked once, when its tool is registered. */
#include "core/schema.h"

enum kind {
    ANY,
    TEXT,
    TYPE, /* the name of a type, or a list of them */
    SCHEMA,
    SCHEMA_OR_NO, /* additionalProperties: a schema, true or false */
    SCHEMAS,      /* an object of them */
    SCHEMA_LIST,
    NAMES,
    LIST,
    NUMBER,
    COUNT,
};

static const struct {
    const char *key;
    enum kind kind;
} keywords[] = {
    {"type", TYPE},         {"properties", SCHEMAS},
    {"required", NAMES},    {"additionalProperties", SCHEMA_OR_NO},
    {"items", SCHEMA},      {"enum", LIST},
    {"const", ANY},         {"minimum", NUMBER},
    {"maximum", NUMBER},    {"minLength", COUNT},
    {"maxLength", COUNT},   {"minItems", COUNT},
    {"maxItems", COUNT},    {"oneOf", SCHEMA_LIST},
    {"anyOf", SCHEMA_LIST}, {"title", TEXT},
    {"description", TEXT},  {"default", ANY},
};

static bool is_type(const struct al_json *v)
{
    static const char *const types[] = {"object", "array", "string", "number", "integer", "boolean", "null"};
    for (size_t i = 0; al_json_is_string(v) && i < sizeof(types) / sizeof(*types); i++)
        if (al_str_is(v->str, types[i]))
            return true;
    return false;
}

static bool all_are(const struct al_json *list, bool (*is)(const struct al_json *v))
{
    if (list->type != AL_JSON_ARRAY || !list->child)
        return false;
    al_json_each(one, list) if (!is(one)) return false;
    return true;
}

static int check_children(const struct al_json *list, enum al_json_type type, struct al_err *err)
{
    if (list->type != type)
        return al_fail(err, AL_INTERNAL, "must be %s", type == AL_JSON_ARRAY ? "a list" : "an object");
    al_json_each(one, list) if (al_schema_supported(one, err) < 0) return type == AL_JSON_OBJECT
        ? al_wrap(err, "%.*s", AL_FMT(one->key))
        : -1;
    return 0;
}

static int check_keyword(enum kind kind, const struct al_json *v, struct al_err *err)
{
    int64_t n;
    bool ok = true;
    switch (kind) {
    case ANY:
        break;
    case TEXT:
        ok = al_json_is_string(v);
        break;
    case TYPE:
        ok = is_type(v) || all_are(v, is_type);
        break;
    case SCHEMA_OR_NO:
        if (v->type == AL_JSON_TRUE || v->type == AL_JSON_FALSE)
            break;
        return al_schema_supported(v, err);
    case SCHEMA:
        return al_schema_supported(v, err);
    case SCHEMAS:
        return check_children(v, AL_JSON_OBJECT, err);
    case SCHEMA_LIST:
        return check_children(v, AL_JSON_ARRAY, err);
    case NAMES:
        ok = all_are(v, al_json_is_string);
        break;
    case LIST:
        ok = v->type == AL_JSON_ARRAY && v->child;
        break;
    case NUMBER:
        ok = v->type == AL_JSON_NUMBER;
        break;
    case COUNT:
        ok = al_json_int(v, 0, INT64_MAX, &n);
        break;
    }
    return ok ? 0 : al_fail(err, AL_INTERNAL, "has no value of the right kind");
}

static int check_member(const struct al_json *member, struct al_err *err)
{
    for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++) {
        if (!al_str_is(member->key, keywords[i].key))
            continue;
        if (check_keyword(keywords[i].kind, member, err) < 0)
            return al_wrap(err, "%s", keywords[i].key);
        return 0;
    }
    return al_fail(err, AL_INTERNAL, "keyword \"%.*s\" is not supported", AL_FMT(member->key));
}

int al_schema_supported(const struct al_json *schema, struct al_err *err)
{
    if (!schema || schema->type != AL_JSON_OBJECT)
        return al_fail(err, AL_INTERNAL, "a schema must be an object");
    al_json_each(member, schema) if (check_member(member, err) < 0) return -1;
    return 0;
}
