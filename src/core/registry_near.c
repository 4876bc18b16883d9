/* What is said of a name that is none: which names are near it, and whether its server is there at all. */
#include "base/text.h"
#include "core/core_int.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 64
#define CLOSE_QUERY_MAX 400
#define MAX_NAMES_JSON (256u << 10)
#define MAX_NAMES_NODES (32u << 20)

/* Case and the choice of separator are what people get wrong most: readFile, read-file. */
static struct al_str fold_name(struct al_str name, char out[NAME_MAX_BYTES])
{
    size_t n = 0;
    for (size_t i = 0; i < name.n && n < NAME_MAX_BYTES; i++) {
        char c = name.p[i];
        if (c == '_' || c == '-' || c == '.')
            continue;
        out[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return (struct al_str){out, n};
}

/* Lower is closer; SIZE_MAX: not close. */
static size_t closeness(struct al_str wanted, struct al_str tool_name)
{
    char a[NAME_MAX_BYTES], b[NAME_MAX_BYTES];
    struct al_str w = fold_name(wanted, a), t = fold_name(tool_name, b);
    size_t limit = w.n / 3 > 2 ? w.n / 3 : 2, longer = w.n > t.n ? w.n - t.n : t.n - w.n;
    size_t distance = longer <= limit ? al_str_distance(w, t) : SIZE_MAX;
    if (distance <= limit && distance < t.n && distance < w.n)
        return distance;
    if (w.n >= 3 && (al_str_find(t, w) >= 0 || (t.n >= 3 && al_str_find(w, t) >= 0)))
        return limit + 1;
    return SIZE_MAX;
}

/* --- the nearest tools --- */

struct near {
    struct al_arena arena;
    size_t n;
    struct one {
        size_t rank;
        const char *name;
    } of[AL_CLOSE_NAMES];
};

/* Sorted by rank; of the same rank the first stays first. */
static void offer(struct near *near, size_t rank, struct al_str name)
{
    size_t at = near->n;
    for (size_t i = 0; i < near->n; i++)
        if (al_str_is(name, near->of[i].name))
            return;
    while (at > 0 && near->of[at - 1].rank > rank)
        at--;
    const char *kept = at < AL_CLOSE_NAMES ? al_arena_dup(&near->arena, name) : NULL;
    if (!kept)
        return;
    near->n += near->n < AL_CLOSE_NAMES;
    for (size_t k = near->n - 1; k > at; k--)
        near->of[k] = near->of[k - 1];
    near->of[at] = (struct one){rank, kept};
}

static void offer_own(const struct al_core *core, struct al_str wanted, bool for_script, struct near *near)
{
    for (size_t i = 0; i < core->n_tools; i++) {
        const struct al_tool *tool = core->tools[i].tool;
        size_t rank = closeness(wanted, al_str_of(tool->name));
        if (rank < SIZE_MAX && al_core_tool_registered(core, tool) && !(for_script && tool->not_callable))
            offer(near, rank, al_str_of(tool->name));
    }
}

static bool is_plain(struct al_str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '_' && c != '-')
            return false;
    }
    return name.n >= 1 && name.n <= NAME_MAX_BYTES;
}

/* As scripts say it where that is plain. */
static void offer_of_server(const struct al_core *core, size_t rank, struct al_str server, struct al_str tool,
                            struct near *near)
{
    autobuf struct al_buf dotted = AL_BUF_INIT(4096);
    autoarena struct al_arena a = AL_ARENA_INIT(8u << 20);
    al_buf_addf(&dotted, "%.*s.%.*s", AL_FMT(server), AL_FMT(tool));
    if (is_plain(server) && is_plain(tool)) {
        offer(near, rank, al_buf_str(&dotted));
        return;
    }
    const struct al_tool *found = al_registry_find_source(core, al_buf_str(&dotted), &a);
    if (found)
        offer(near, rank, al_str_of(found->name));
}

static void offer_sources(const struct al_core *core, struct al_str wanted, struct near *near)
{
    autobuf struct al_buf names = AL_BUF_INIT(MAX_NAMES_JSON + 4096);
    autoarena struct al_arena a = AL_ARENA_INIT(MAX_NAMES_NODES);
    const struct al_json *all = NULL;
    core->source_ops->names_json(core->source_ud, MAX_NAMES_JSON, &names);
    if (al_json_parse(&a, al_buf_str(&names), &all, NULL) < 0)
        return;
    al_json_each(server, all) al_json_each(tool, server)
    {
        autobuf struct al_buf whole = AL_BUF_INIT(4096);
        al_buf_addf(&whole, "%.*s.%.*s", AL_FMT(server->key), AL_FMT(tool->str));
        size_t by_tool = closeness(wanted, tool->str), by_whole = closeness(wanted, al_buf_str(&whole));
        size_t rank = by_tool < by_whole ? by_tool : by_whole;
        if (rank < SIZE_MAX)
            offer_of_server(core, rank, server->key, tool->str, near);
    }
}

struct words {
    const struct al_core *core;
    struct near *near;
};

/* Where nothing is spelt nearly so, the words of the name may find it. */
static bool offer_by_words(void *ud, const struct al_tool *tool)
{
    struct words *w = ud;
    offer_of_server(w->core, SIZE_MAX, al_str_of(tool->server), al_str_of(tool->server_tool), w->near);
    return w->near->n < AL_CLOSE_NAMES;
}

void al_registry_close_names(const struct al_core *core, struct al_str name, bool for_script,
                             struct al_buf *out)
{
    struct near near = {.arena = AL_ARENA_INIT(1u << 20)};
    struct words words = {core, &near};
    const struct al_tool_source *source = core->source_ops;
    struct al_str wanted = name;
    if (al_str_starts(name, "mcp_"))
        wanted = (struct al_str){name.p + 4, name.n - 4};
    if (name.n <= 2 * (size_t)NAME_MAX_BYTES) {
        offer_own(core, name, for_script, &near);
        if (source && source->names_json)
            offer_sources(core, wanted, &near);
    }
    if (source && source->each && near.n == 0 && wanted.n <= CLOSE_QUERY_MAX && wanted.n > 0)
        source->each(core->source_ud, wanted, AL_CLOSE_NAMES, offer_by_words, &words);
    for (size_t i = 0; i < near.n; i++)
        al_buf_addf(out, "%s%s", i ? ", " : "did you mean ", near.of[i].name);
    if (near.n > 0)
        al_buf_addc(out, '?');
    al_arena_free(&near.arena);
}

void al_core_close_names(const struct al_core *core, struct al_str name, struct al_buf *out)
{
    al_registry_close_names(core, name, false, out);
}

/* --- the server of a name --- */

struct server_of {
    struct al_str name;
    struct al_str server; /* the longest that the name begins with; empty: none */
    struct al_str near;   /* the one that is spelt most like what the name begins with */
    size_t rank;
};

static struct al_str first_of(struct al_str name)
{
    const char *dot = memchr(name.p, '.', name.n);
    return dot ? (struct al_str){name.p, (size_t)(dot - name.p)} : name;
}

/* Names of servers stay where they are while the source does. */
static void note_server(void *ud, const char *server, int64_t n_tools)
{
    struct server_of *s = ud;
    struct al_str z = al_str_of(server);
    size_t rank = closeness(first_of(s->name), z);
    (void)n_tools;
    if (al_str_starts(s->name, server) && (z.n == s->name.n || s->name.p[z.n] == '.') && z.n > s->server.n)
        s->server = z;
    if (rank < s->rank) {
        s->rank = rank;
        s->near = z;
    }
}

static void fail_no_tool(struct al_str name, struct al_err *err)
{
    autobuf struct al_buf shown = AL_BUF_INIT(1024);
    struct al_str head = al_utf8_head(name, NAME_MAX_BYTES);
    al_text_visible(&shown, head, false);
    al_fail(err, AL_TOOL_NOT_FOUND, "there is no tool \"%.*s%s\"", AL_FMT(al_buf_str(&shown)),
            head.n < name.n ? "…" : "");
}

static const char *where_to_look(enum al_origin origin)
{
    return origin == AL_ORIGIN_SCRIPT ? "tools.list() names what there is"
           : origin == AL_ORIGIN_CLI  ? "`alisio tool list` shows what there is"
           : origin == AL_ORIGIN_MCP  ? "tools/list names what is offered"
                                      : "call only tools that you are offered";
}

/* True: the server is what is wrong with the name, and err says so. */
static bool fail_by_server(const struct al_core *core, struct al_str name, enum al_origin origin,
                           struct al_err *err)
{
    const struct al_tool_source *source = core->source_ops;
    struct server_of s = {.name = name, .rank = SIZE_MAX};
    struct al_str first = first_of(name);
    if (!source || !source->servers || first.n == 0 || first.n > NAME_MAX_BYTES || !is_plain(first))
        return false;
    source->servers(core->source_ud, note_server, &s);
    if (s.server.n == name.n) {
        al_fail(err, AL_TOOL_NOT_FOUND, "%.*s is an MCP server, not a tool", AL_FMT(name));
        al_hint(err, "call one of its tools, as in %.*s.TOOL; %s", AL_FMT(name), where_to_look(origin));
        return true;
    }
    if (s.server.n > 0)
        return false;
    if (source->switched_off && source->switched_off(core->source_ud, first)) {
        al_fail(err, AL_TOOL_NOT_FOUND, "the MCP server %.*s is switched off in the configuration",
                AL_FMT(first));
        al_hint(err, "do without it, or let a person switch it on: `alisio mcp enable %.*s`", AL_FMT(first));
        return true;
    }
    if (first.n == name.n)
        return false;
    al_fail(err, AL_TOOL_NOT_FOUND, "there is no MCP server %.*s", AL_FMT(first));
    autobuf struct al_buf close = AL_BUF_INIT(1024);
    if (s.near.n > 0)
        al_buf_addf(&close, "did you mean %.*s?", AL_FMT(s.near));
    else
        al_registry_close_names(core, name, origin == AL_ORIGIN_SCRIPT, &close);
    al_hint(err, "%.*s%s%s", AL_FMT(al_buf_str(&close)), close.n > 0 ? " " : "", where_to_look(origin));
    return true;
}

int al_registry_not_found(const struct al_core *core, struct al_str name, enum al_origin origin,
                          struct al_err *err)
{
    if (fail_by_server(core, name, origin, err))
        return -1;
    autobuf struct al_buf close = AL_BUF_INIT(1024);
    al_registry_close_names(core, name, origin == AL_ORIGIN_SCRIPT, &close);
    fail_no_tool(name, err);
    return al_hint(err, "%.*s%s%s", AL_FMT(al_buf_str(&close)), close.n > 0 ? " " : "",
                   where_to_look(origin));
}

int al_core_tool_not_found(const struct al_core *core, struct al_str name, enum al_origin origin,
                           struct al_err *err)
{
    return al_registry_not_found(core, name, origin, err);
}
