/*
 * Arguments that a tool's schema wants as headers, too (x-mcp-header): what stands in the one must stand in
 * the other, so that whoever looks at headers alone is not deceived.
 */
#include "mcp/http_heads.h"

#include <stdio.h>

#define MARK "x-mcp-header"
#define MAX_NAME 128

/* The value as it is in the body, or NULL; header as it came, or NULL. */
static const char *compare(const struct al_json *value, const char *header, unsigned count)
{
    bool is_null = !value || value->type == AL_JSON_NULL;
    autobuf struct al_buf decoded = AL_BUF_INIT(64u << 10);
    if (!header)
        return is_null ? NULL : "is missing";
    if (count != 1)
        return "is there more than once";
    if (!al_mcp_http_decode(al_str_of(header), &decoded))
        return "has characters or a base64 form that no header may have";
    return al_mcp_http_same(al_buf_str(&decoded), value) ? NULL : "does not say what the body says";
}

/* Down the chain of properties, which is where such arguments can be. */
static const char *check(const struct al_json *schema, const struct al_json *arguments,
                         const struct al_mcp_http_headers *headers, char name[AL_MCP_HTTP_PARAM_MAX])
{
    const struct al_json *properties = al_json_get(schema, "properties");
    al_json_each(p, properties && properties->type == AL_JSON_OBJECT ? properties : NULL)
    {
        const struct al_json *value = arguments ? al_json_get_str(arguments, p->key) : NULL;
        struct al_str mark = al_json_get_text(p, MARK);
        const char *wrong = NULL;
        if (mark.n && mark.n <= MAX_NAME) {
            snprintf(name, AL_MCP_HTTP_PARAM_MAX, "Mcp-Param-%.*s", AL_FMT(mark));
            wrong = compare(value, headers->get(headers->ud, name), headers->count(headers->ud, name));
        } else if (value && value->type == AL_JSON_OBJECT) {
            wrong = check(p, value, headers, name);
        }
        if (wrong)
            return wrong;
    }
    return NULL;
}

const char *al_mcp_http_params_wrong(struct al_str input_schema, const struct al_json *arguments,
                                     const struct al_mcp_http_headers *headers,
                                     char name[AL_MCP_HTTP_PARAM_MAX])
{
    autoarena struct al_arena a = AL_ARENA_INIT(32u << 20);
    const struct al_json *schema;
    struct al_err ignored; /* a schema that cannot be read marks nothing */
    if (al_str_find(input_schema, AL_STR(MARK)) < 0 || al_json_parse(&a, input_schema, &schema, &ignored) < 0)
        return NULL;
    return check(schema, arguments, headers, name);
}
