/* The topic tools. With a query: signatures of what fits best, and names of the rest. Without: our own tools
 * in brief and what servers there are. What a model does not need now it can ask for. */
#include "base/text.h"
#include "core/core_int.h"
#include "core/guide.h"
#include "core/jsrun_int.h"

#include <string.h>

#define BEST 8            /* tools that a query shows in full */
#define MAX_FOUND 60      /* tools that are looked at for a query: of more, it is only said that there are */
#define MAX_NAMES 400     /* bytes of the names of the rest */
#define MAX_SIGNATURE 700 /* characters */
#define MAX_WHAT 120
#define MAX_WHAT_BRIEF 70
#define MAX_REASON 160
#define MAX_SERVERS 20
#define MAX_NAME 64
#define N_EXAMPLES 2
#define MAX_EXAMPLES_TRIED 8
#define ROOM_FOR_THE_END 1800u /* bytes that the signatures leave to what comes after them */

static struct al_str text_of(const struct al_json *item, const char *key)
{
    return al_json_get_text(item, key);
}

/* Who knows the shape can ask for the approval. */
static bool worth_showing(const struct al_json *item)
{
    return al_json_is_true(al_json_get(item, "callable")) ||
           (text_of(item, "server").n && al_str_starts(text_of(item, "reason"), "APPROVAL_REQUIRED"));
}

/* A server that was never asked for its tools stands in a list as a tool that has no reason. */
static bool is_tool(const struct al_json *item)
{
    return al_json_is_true(al_json_get(item, "callable")) || text_of(item, "reason").n > 0;
}

/* As tools.call and tools.describe take it. */
static void add_name(const struct al_json *item, struct al_buf *out)
{
    struct al_str server = text_of(item, "server"), tool = text_of(item, "tool");
    if (server.n && server.n + tool.n < MAX_NAME) {
        jscut_line(server, MAX_NAME, out);
        al_buf_addc(out, '.');
        jscut_line(tool, MAX_NAME, out);
    } else {
        al_buf_add_str(out, text_of(item, "name"));
    }
}

/* What helps is said once, at the end. */
static struct al_str short_reason(const struct al_tool *tool)
{
    return tool->gate == AL_GATE_CHANGED ? AL_STR("its description has changed: a person has to review it")
                                         : AL_STR("needs an approval");
}

static void add_tool(struct al_core *core, const struct al_tool *tool, const struct al_json *item, bool brief,
                     struct al_buf *out)
{
    autobuf struct al_buf signature = AL_BUF_INIT(64u << 10);
    al_registry_call_signature(core, tool, &signature);
    struct al_str shown = al_buf_str(&signature), why = text_of(item, "reason");
    ptrdiff_t result = al_str_find(shown, AL_STR("): Promise<"));
    if (brief && result >= 0)
        shown.n = (size_t)result + 1;
    al_buf_addc(out, '\n');
    jscut_text(shown, MAX_SIGNATURE, out);
    al_buf_addf(out, "%s// %s: ", brief ? " " : "\n  ", al_effect_name(tool->effect));
    jscut_line(text_of(item, "description"), brief ? MAX_WHAT_BRIEF : MAX_WHAT, out);
    if (why.n)
        al_buf_addf(out, " (%.*s)", AL_FMT(tool->server ? short_reason(tool) : why));
    if (!brief)
        al_buf_addc(out, '\n');
}

static void add_refused(const struct al_json *item, struct al_buf *out)
{
    al_buf_adds(out, "- ");
    add_name(item, out);
    al_buf_adds(out, ": ");
    jscut_line(text_of(item, "reason"), MAX_REASON, out);
    al_buf_addc(out, '\n');
}

static bool has_room(const struct al_buf *out)
{
    return out->n + ROOM_FOR_THE_END < GUIDE_MAX_BYTES;
}

static void add_not_callable(struct al_str refused, struct al_buf *out)
{
    if (refused.n && out->n + refused.n + 512 < GUIDE_MAX_BYTES)
        al_buf_addf(out, "\nNot callable now:\n%.*s", AL_FMT(refused));
}

/* The text has to live as long as what is read from it. */
static const struct al_json *list_tools(struct al_core *core, struct al_str query, int most,
                                        struct al_arena *a, struct al_buf *text)
{
    const struct al_json *v = NULL;
    al_catalog_list(core, query, most, AL_ORIGIN_SCRIPT, text);
    return al_json_parse(a, al_buf_str(text), &v, NULL) < 0 ? NULL : v;
}

/* --- servers --- */

struct servers {
    struct al_core *core;
    const struct al_json *names; /* {"server":["tool",…],…} */
    struct al_buf *out;
    size_t n;
};

/* Two tools that tell what the server is for; none that is always refused. */
static void add_two_examples(const struct servers *s, const char *server)
{
    size_t n = 0, tried = 0;
    al_json_each(name, al_json_get(s->names, server))
    {
        if (n == N_EXAMPLES || tried++ == MAX_EXAMPLES_TRIED)
            break;
        autoarena struct al_arena a = AL_ARENA_INIT(TOOL_ARENA_MAX);
        autobuf struct al_buf dotted = AL_BUF_INIT(4096);
        al_buf_addf(&dotted, "%s.%.*s", server, AL_FMT(name->str));
        const struct al_tool *tool = al_core_find_tool(s->core, al_buf_str(&dotted), &a);
        if (!tool || tool->gate == AL_GATE_DENY)
            continue;
        al_buf_adds(s->out, n++ ? ", " : ": ");
        jscut_line(al_str_of(tool->server_tool), MAX_NAME, s->out);
    }
    if (n)
        al_buf_adds(s->out, ", …");
}

static void add_server(void *ud, const char *server, int64_t n_tools)
{
    struct servers *s = ud;
    if (s->n++ >= MAX_SERVERS)
        return;
    if (s->n == 1)
        al_buf_adds(s->out, "\nMCP servers, whose tools query finds by what they do:\n");
    al_buf_adds(s->out, "- ");
    jscut_line(al_str_of(server), MAX_NAME, s->out);
    if (n_tools < 0) {
        al_buf_adds(s->out, " (not fetched yet: the first call does it)");
    } else {
        al_buf_addf(s->out, " (%lld)", (long long)n_tools);
        add_two_examples(s, server);
    }
    al_buf_addc(s->out, '\n');
}

static void add_unfetched(void *ud, const char *server, int64_t n_tools)
{
    struct servers *s = ud;
    if (n_tools >= 0 || s->n++ >= MAX_SERVERS)
        return;
    al_buf_adds(s->out, s->n > 1 ? ", " : "\nNot searched, since its first call fetches its tools: ");
    jscut_line(al_str_of(server), MAX_NAME, s->out);
}

static void add_servers(struct al_core *core, struct al_buf *out)
{
    if (!core->source_ops)
        return;
    autobuf struct al_buf names = AL_BUF_INIT(64u << 10);
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    struct servers s = {.core = core, .out = out};
    core->source_ops->names_json(core->source_ud, 16u << 10, &names);
    if (al_json_parse(&a, al_buf_str(&names), &s.names, NULL) < 0)
        s.names = NULL;
    core->source_ops->servers(core->source_ud, add_server, &s);
    if (s.n > MAX_SERVERS)
        al_buf_addf(out, "and %zu more\n", s.n - MAX_SERVERS);
}

/* --- with a query --- */

struct found {
    size_t n_shown, n_refused, n_more, n_named;
    bool asks; /* one of those shown needs an approval */
    struct al_buf names, refused;
};

static void add_to_names(struct found *f, const struct al_json *item)
{
    f->n_more++;
    if (f->names.n + MAX_NAME + 4 > MAX_NAMES)
        return;
    al_buf_adds(&f->names, f->n_named++ ? ", " : "");
    add_name(item, &f->names);
}

static void add_found(struct al_core *core, const struct al_json *item, struct found *f, struct al_buf *out)
{
    bool good = worth_showing(item);
    if (!good && f->n_shown + f->n_refused < BEST) {
        f->n_refused++;
        add_refused(item, &f->refused);
    }
    if (!good)
        return;
    if (f->n_shown == BEST || !has_room(out)) {
        add_to_names(f, item);
        return;
    }
    autoarena struct al_arena of_tool = AL_ARENA_INIT(TOOL_ARENA_MAX);
    const struct al_tool *tool = al_core_find_tool(core, text_of(item, "name"), &of_tool);
    if (!tool)
        return;
    f->n_shown++;
    f->asks = f->asks || (tool->server && text_of(item, "reason").n > 0);
    add_tool(core, tool, item, false, out);
}

static void write_found(struct al_core *core, struct al_str query, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(16u << 20);
    autobuf struct al_buf list = AL_BUF_INIT(4u << 20);
    struct found f = {.names = AL_BUF_INIT(4096), .refused = AL_BUF_INIT(64u << 10)};
    struct servers s = {.core = core, .out = out};
    size_t n = 0;
    al_buf_adds(out, "# Tools that fit, best first\n");
    const struct al_json *found = list_tools(core, query, MAX_FOUND, &a, &list);
    al_json_each(item, found)
    {
        n += is_tool(item);
        if (is_tool(item))
            add_found(core, item, &f, out);
    }
    if (f.n_shown == 0)
        al_buf_adds(out, "None that a script may call fits the query.\n");
    if (f.n_more)
        al_buf_addf(out, "\n%s%zu more: narrow the query: %.*s%s\n", n >= MAX_FOUND ? "Over " : "", f.n_more,
                    AL_FMT(al_buf_str(&f.names)), f.n_named < f.n_more ? ", …" : "");
    if (f.asks)
        al_buf_addf(
            out, "\nWhat needs an approval: %sa person allows it with `alisio mcp allow SERVER 'PATTERN'`.\n",
            core->can_ask ? "name it in uses, or " : "");
    add_not_callable(al_buf_str(&f.refused), out);
    if (core->source_ops)
        core->source_ops->servers(core->source_ud, add_unfetched, &s);
    if (s.n > MAX_SERVERS)
        al_buf_addf(out, " and %zu more", s.n - MAX_SERVERS);
    if (s.n)
        al_buf_addc(out, '\n');
    al_buf_free(&f.names);
    al_buf_free(&f.refused);
}

/* --- without --- */

static void write_own(struct al_core *core, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(16u << 20);
    autobuf struct al_buf list = AL_BUF_INIT(4u << 20), refused = AL_BUF_INIT(64u << 10);
    size_t left = 0;
    al_buf_adds(out, "# Tools that a script may call now\n"
                     "What they give back: query, or tools.describe(name).\n");
    const struct al_json *all = list_tools(core, (struct al_str){"", 0}, 1, &a, &list);
    al_json_each(item, all)
    {
        const struct al_tool *tool = al_core_tool(core, text_of(item, "name"));
        if (!tool)
            continue;
        if (!worth_showing(item))
            add_refused(item, &refused);
        else if (has_room(out))
            add_tool(core, tool, item, true, out);
        else
            left++;
    }
    al_buf_addc(out, '\n');
    if (left)
        al_buf_addf(out, "\n%zu more: narrow with query.\n", left);
    add_servers(core, out);
    add_not_callable(al_buf_str(&refused), out);
    if (out->n + 600 < GUIDE_MAX_BYTES)
        guide_add_examples(core, "tools", out);
}

void guide_write_tools(struct al_core *core, struct al_str query, struct al_buf *out)
{
    if (query.n)
        write_found(core, query, out);
    else
        write_own(core, out);
}
