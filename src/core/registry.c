/* The tools of a core: their names, schemas and signatures. Ranking and listing are in catalog.c. */
#include "base/mem.h"
#include "base/text.h"
#include "core/core_int.h"
#include "core/schema.h"

#include <stdio.h>
#include <string.h>

#define MAX_SCHEMA_TYPE 4096         /* bytes of a type within a signature */
#define MAX_SCHEMA_NODES (16u << 20) /* two schemas of a server, of the smallest parts */
#define NAME_MAX_BYTES 64

/* Tools are ours and written down in the tree: what is wrong with one is a fault of the program. */
static _Noreturn void broken(const char *tool, const char *what)
{
    fprintf(stderr, "alisio: tool %s: %s\n", tool, what);
    abort();
}

static bool is_name(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '_' && c != '-')
            return false;
    }
    return n >= 1 && n <= NAME_MAX_BYTES;
}

static const struct al_json *parse_schema(struct al_arena *a, const struct al_tool *tool, const char *text)
{
    struct al_err err;
    const struct al_json *schema = NULL;
    if (strchr(text, '\n'))
        broken(tool->name, "a schema goes out within lines, so it must be one line");
    if (al_json_parse(a, al_str_of(text), &schema, &err) < 0 || al_schema_supported(schema, &err) < 0)
        broken(tool->name, err.msg);
    return schema;
}

static size_t lower_bound(const struct al_core *core, struct al_str name)
{
    size_t from = 0, to = core->n_tools;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (al_str_cmp(al_str_of(core->tools[mid].tool->name), name) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

const struct al_tool_entry *al_registry_find(const struct al_core *core, struct al_str name)
{
    size_t i = lower_bound(core, name);
    if (i == core->n_tools || !al_str_is(name, core->tools[i].tool->name))
        return NULL;
    return &core->tools[i];
}

void al_core_register(struct al_core *core, const struct al_tool *tool)
{
    struct al_str name = al_str_of(tool->name);
    if (!is_name(tool->name))
        broken(tool->name, "the name is none");
    if (!tool->title || !tool->description || !tool->input_schema || !tool->start)
        broken(tool->name, "something is missing");
    if (al_registry_find(core, name))
        broken(tool->name, "the name is taken");
    struct al_tool_entry entry = {.tool = tool,
                                  .input = parse_schema(&core->arena, tool, tool->input_schema)};
    if (!al_str_is(al_json_get_text(entry.input, "type"), "object"))
        broken(tool->name, "the input schema must be one of an object");
    if (tool->output_schema)
        entry.output = parse_schema(&core->arena, tool, tool->output_schema);
    size_t at = lower_bound(core, name);
    core->tools = al_xrealloc(core->tools, (core->n_tools + 1) * sizeof(*core->tools));
    memmove(core->tools + at + 1, core->tools + at, (core->n_tools - at) * sizeof(*core->tools));
    core->tools[at] = entry;
    core->n_tools++;
}

void al_registry_free(struct al_core *core)
{
    free(core->tools);
    core->tools = NULL;
    core->n_tools = 0;
}

bool al_core_tool_registered(const struct al_core *core, const struct al_tool *tool)
{
    return !tool->registered || tool->registered(core);
}

const struct al_tool *al_core_tool(const struct al_core *core, struct al_str name)
{
    const struct al_tool_entry *entry = al_registry_find(core, name);
    return entry && al_core_tool_registered(core, entry->tool) ? entry->tool : NULL;
}

void al_core_set_source(struct al_core *core, const struct al_tool_source *source, void *ud)
{
    core->source_ops = source;
    core->source_ud = ud;
}

void al_core_servers(const struct al_core *core, void (*fn)(void *fn_ud, const char *server, int64_t n_tools),
                     void *fn_ud)
{
    if (core->source_ops)
        core->source_ops->servers(core->source_ud, fn, fn_ud);
}

const struct al_tool *al_registry_find_source(const struct al_core *core, struct al_str name,
                                              struct al_arena *arena)
{
    return core->source_ops ? core->source_ops->find(core->source_ud, name, arena) : NULL;
}

/* A name of ours is ours, also while its tool is switched off. */
const struct al_tool *al_core_find_tool(const struct al_core *core, struct al_str name,
                                        struct al_arena *arena)
{
    const struct al_tool_entry *entry = al_registry_find(core, name);
    if (!entry)
        return al_registry_find_source(core, name, arena);
    return al_core_tool_registered(core, entry->tool) ? entry->tool : NULL;
}

size_t al_core_n_tools(const struct al_core *core)
{
    return core->n_tools;
}

const struct al_tool *al_core_tool_at(const struct al_core *core, size_t i)
{
    return core->tools[i].tool;
}

/* --- signatures --- */

static void add_part(struct al_buf *out, const struct al_json *schema)
{
    autobuf struct al_buf type = AL_BUF_INIT(MAX_SCHEMA_TYPE);
    al_schema_typescript(schema, &type);
    al_buf_add_str(out, al_buf_str(&type));
}

static const struct al_json *parse_own(struct al_arena *a, const char *text)
{
    const struct al_json *schema = NULL;
    if (!text || al_json_parse(a, al_str_of(text), &schema, NULL) < 0)
        return NULL;
    return schema;
}

static void add_signature(const struct al_tool *tool, struct al_str name, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(MAX_SCHEMA_NODES);
    const struct al_json *input = parse_own(&a, tool->input_schema),
                         *output = parse_own(&a, tool->output_schema);
    const struct al_json *required = al_json_get(input, "required");
    al_buf_add_str(out, name);
    al_buf_adds(out, (required && required->n > 0) || al_json_get(input, "oneOf") ? "(args: " : "(args?: ");
    add_part(out, input);
    al_buf_adds(out, "): Promise<");
    add_part(out, output);
    al_buf_addc(out, '>');
}

void al_tool_signature(const struct al_tool *tool, struct al_buf *out)
{
    autobuf struct al_buf name = AL_BUF_INIT(4096);
    al_schema_typescript_name(al_str_of(tool->name), &name);
    add_signature(tool, al_buf_str(&name), out);
}

/* Members of `tools`, or of a server's object, that a script does not reach as tools (jsvm/prelude/tools.js).
 */
static bool is_hidden(const char *name)
{
    static const char *const hidden[] = {"then",      "catch",    "finally", "toJSON",   "constructor",
                                         "prototype", "toString", "valueOf", "__proto__"};
    for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
        if (strcmp(name, hidden[i]) == 0)
            return true;
    return false;
}

static bool is_taken(const struct al_core *core, const char *server)
{
    static const char *const ours[] = {"call", "list", "describe", "map"};
    for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
        if (strcmp(server, ours[i]) == 0)
            return true;
    return al_registry_find(core, al_str_of(server)) != NULL;
}

static void add_member(struct al_buf *out, const char *name)
{
    autobuf struct al_buf text = AL_BUF_INIT(4096);
    al_schema_typescript_name(al_str_of(name), &text);
    bool quoted = text.n > 0 && text.p[0] == '"';
    al_buf_addf(out, quoted ? "[%.*s]" : ".%.*s", AL_FMT(al_buf_str(&text)));
}

/* A literal of a long name is cut, and would call another one. */
#define MAX_MEMBER 100u

void al_registry_call_path(const struct al_core *core, const struct al_tool *tool, struct al_buf *out)
{
    al_buf_adds(out, "tools");
    bool by_server = tool->server && !is_hidden(tool->server) && !is_hidden(tool->server_tool) &&
                     !is_taken(core, tool->server) &&
                     al_utf8_count(al_str_of(tool->server_tool)) <= MAX_MEMBER;
    if (by_server)
        add_member(out, tool->server);
    add_member(out, by_server ? tool->server_tool : tool->name);
}

void al_registry_call_signature(const struct al_core *core, const struct al_tool *tool, struct al_buf *out)
{
    autobuf struct al_buf path = AL_BUF_INIT(8192);
    al_registry_call_path(core, tool, &path);
    add_signature(tool, al_buf_str(&path), out);
}
