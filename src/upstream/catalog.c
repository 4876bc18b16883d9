/* The servers' tools as the core sees them: what the catalogue keeps, under the policy of the person's
 * configuration. It starts nothing but by calls. */
#include "base/json.h"
#include "base/mem.h"
#include "upstream/upstream_int.h"

#include <limits.h>
#include <stdlib.h>

#define ANY_OBJECT "{\"type\":\"object\"}"
#define FETCHES_AT_ONCE 3

struct source {
    struct al_upstreams *u;
    struct al_upstream **sorted; /* those that are not switched off, by name */
    size_t n;
    size_t next_fetch, n_fetches; /* al_upstreams_fetch_missing */
};

static struct al_store *store_of(const struct source *c)
{
    return al_core_store(c->u->core);
}

static struct al_upstream *find_server(const struct source *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->sorted[i]->config->name, name) == 0)
            return c->sorted[i];
    return NULL;
}

/* How many tools the catalogue has of it; -1: it was never fetched, or the server was another one then. */
static int64_t n_known(const struct source *c, const struct al_upstream *s)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    struct al_catalog_server v;
    struct al_err ignored;
    if (al_catalog_server(store_of(c), s->config->name, &a, &v, &ignored) < 0)
        return -1;
    return strcmp(v.config_sha256, s->config->sha256) == 0 ? v.n_tools : -1;
}

/* --- one tool --- */

/* "" is every tool, "S" a server's, "S.PATTERN" some of them. */
static bool flag_allows(const struct al_upstreams *u, const char *server, const char *tool)
{
    size_t n = strlen(server);
    for (char **p = u->allow; *p; p++) {
        if (**p == 0 || strcmp(*p, server) == 0)
            return true;
        if (strncmp(*p, server, n) == 0 && (*p)[n] == '.' && al_str_glob(*p + n + 1, al_str_of(tool)))
            return true;
    }
    return false;
}

static enum al_tool_gate gate_of(const struct al_upstream *s, const char *tool, bool changed)
{
    enum al_tool_policy policy = al_server_policy(s->config, al_str_of(tool));
    if (policy == AL_POLICY_DENY)
        return AL_GATE_DENY;
    if (changed)
        return AL_GATE_CHANGED;
    bool allowed = policy == AL_POLICY_ALLOW || flag_allows(s->owner, s->config->name, tool);
    return allowed ? AL_GATE_ALLOW : AL_GATE_ASK;
}

static bool hint_is(const struct al_json *annotations, const char *name, bool otherwise)
{
    const struct al_json *v = al_json_get(annotations, name);
    if (!v || (v->type != AL_JSON_TRUE && v->type != AL_JSON_FALSE))
        return otherwise;
    return v->type == AL_JSON_TRUE;
}

/* What a server says of its tools is shown, and opens nothing. */
static void take_hints(struct al_tool *tool)
{
    autoarena struct al_arena a = AL_ARENA_INIT(256u << 10);
    const struct al_json *v = NULL;
    if (tool->annotations && al_json_parse(&a, al_str_of(tool->annotations), &v, NULL) < 0)
        v = NULL;
    tool->only_reads = hint_is(v, "readOnlyHint", false);
    tool->destructive = !tool->only_reads && hint_is(v, "destructiveHint", true);
    tool->idempotent = hint_is(v, "idempotentHint", false);
    tool->open_world = hint_is(v, "openWorldHint", true);
}

static struct al_tool make_tool(struct al_upstream *s, const struct al_catalog_tool *t)
{
    struct al_tool tool = {
        .name = t->name,
        .title = t->title ? t->title : t->tool,
        .description = t->description ? t->description : "",
        .input_schema = t->input_schema ? t->input_schema : ANY_OBJECT,
        .output_schema = t->output_schema,
        .effect = AL_EFFECT_EXTERNAL,
        .start = al_upstream_tool_start,
        .cancel = al_upstream_tool_cancel,
        .server = s->config->name,
        .server_tool = t->tool,
        .gate = gate_of(s, t->tool, t->changed),
        .annotations = t->annotations,
        .data = s,
    };
    memcpy(tool.sha256, t->sha256, sizeof(tool.sha256));
    take_hints(&tool);
    return tool;
}

static const struct al_tool *keep(struct al_arena *a, struct al_tool tool)
{
    struct al_tool *kept = al_arena_alloc(a, sizeof(*kept));
    if (kept)
        *kept = tool;
    return kept;
}

/* A tool of a server that was never asked what it has: it will say itself whether there is one. */
static const struct al_tool *unknown_tool(struct al_upstream *s, const char *tool, struct al_arena *a)
{
    char name[AL_CATALOG_NAME_MAX];
    al_catalog_name(s->config->name, tool, name);
    struct al_catalog_tool t = {.server = s->config->name,
                                .tool = al_arena_dup(a, al_str_of(tool)),
                                .name = al_arena_dup(a, al_str_of(name)),
                                .description =
                                    "The server was not asked yet what it offers: the first call does it."};
    return t.tool && t.name ? keep(a, make_tool(s, &t)) : NULL;
}

static const struct al_tool *find_of(const struct source *c, struct al_upstream *s, const char *tool,
                                     struct al_arena *a)
{
    struct al_catalog_tool t;
    struct al_err err;
    if (*tool == 0)
        return NULL;
    if (al_catalog_find_of(store_of(c), s->config->name, tool, a, &t, &err) == 0)
        return keep(a, make_tool(s, &t));
    return err.code == AL_NOT_FOUND && n_known(c, s) < 0 ? unknown_tool(s, tool, a) : NULL;
}

/* --- a name that is almost right --- */

/* The next character that counts, as a small letter; 0 at the end. */
static char next_of(struct al_str s, size_t *i)
{
    while (*i < s.n && memchr("-_.", s.p[*i], 3))
        ++*i;
    if (*i >= s.n)
        return 0;
    char c = s.p[(*i)++];
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_alike(struct al_str a, struct al_str b)
{
    size_t i = 0, j = 0;
    for (;;) {
        char x = next_of(a, &i);
        if (x != next_of(b, &j))
            return false;
        if (!x)
            return true;
    }
}

struct alike {
    struct al_str wanted;
    struct al_arena *a;
    const char *found;
    size_t n;
};

static bool note_alike(void *ud, struct al_str tool)
{
    struct alike *alike = ud;
    if (!is_alike(tool, alike->wanted))
        return true;
    alike->found = al_arena_dup(alike->a, tool);
    return ++alike->n < 2;
}

/* "everything.get_sum" for a tool "get-sum": a script cannot write every name behind a dot. Only where one
 * tool of all can be meant; what the policy, the pin and the journal see is the tool itself. */
static const struct al_tool *find_alike(const struct source *c, const char *name, struct al_arena *a)
{
    struct alike alike = {.a = a};
    struct al_upstream *of = NULL;
    struct al_err ignored;
    for (size_t i = 0; i < c->n && alike.n < 2; i++) {
        const char *server = c->sorted[i]->config->name;
        size_t n = strlen(server), before = alike.n;
        if (strncmp(name, server, n) != 0 || name[n] != '.' || name[n + 1] == 0)
            continue;
        alike.wanted = al_str_of(name + n + 1);
        if (al_catalog_tools(store_of(c), server, note_alike, &alike, &ignored) < 0)
            return NULL;
        if (alike.n > before)
            of = c->sorted[i];
    }
    return alike.n == 1 && alike.found ? find_of(c, of, alike.found, a) : NULL;
}

/* After a prefix: server and separator, of the longest server's name that fits and has such a tool. */
static const struct al_tool *find_split(const struct source *c, const char *name, char separator,
                                        struct al_arena *a)
{
    const struct al_tool *best = NULL;
    size_t best_n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const char *server = c->sorted[i]->config->name;
        size_t n = strlen(server);
        if (n < best_n || strncmp(name, server, n) != 0 || name[n] != separator)
            continue;
        const struct al_tool *tool = find_of(c, c->sorted[i], name + n + 1, a);
        if (!tool)
            continue;
        best = tool;
        best_n = n;
    }
    return best;
}

/* The very name of a tool that a server may have which was never asked: no other server's shorter form of it
 * comes first. */
static const struct al_tool *find_unknown(const struct source *c, const char *name, struct al_arena *a)
{
    char whole[AL_CATALOG_NAME_MAX];
    for (size_t i = 0; i < c->n; i++) {
        const char *server = c->sorted[i]->config->name;
        size_t n = strlen(server);
        const char *rest = name + strlen("mcp_");
        if (strncmp(rest, server, n) != 0 || rest[n] != '_' || rest[n + 1] == 0)
            continue;
        al_catalog_name(server, rest + n + 1, whole);
        if (strcmp(whole, name) == 0 && n_known(c, c->sorted[i]) < 0)
            return unknown_tool(c->sorted[i], rest + n + 1, a);
    }
    return NULL;
}

/* Names that end in a hash are found without it, too, where that is unmistakable among the servers that there
 * are. */
static const struct al_tool *find(void *ud, struct al_str wanted, struct al_arena *a)
{
    struct source *c = ud;
    struct al_catalog_tool t;
    struct al_err ignored;
    if (wanted.n == 0 || memchr(wanted.p, 0, wanted.n))
        return NULL;
    const char *name = al_arena_dup(a, wanted);
    if (!name)
        return NULL;
    if (!al_str_starts(wanted, "mcp_")) {
        const struct al_tool *exact = find_split(c, name, '.', a);
        return exact ? exact : find_alike(c, name, a);
    }
    if (wanted.n < AL_CATALOG_NAME_MAX && al_catalog_find(store_of(c), name, a, &t, &ignored) == 0) {
        struct al_upstream *s = find_server(c, t.server);
        if (s)
            return keep(a, make_tool(s, &t));
    }
    const struct al_tool *tool = find_split(c, name, '.', a); /* a server may be called mcp_… itself */
    if (!tool)
        tool = find_unknown(c, name, a);
    return tool ? tool : find_split(c, name + strlen("mcp_"), '_', a);
}

/* --- many tools --- */

struct walk {
    const struct source *c;
    int left;
    bool more;
    bool (*fn)(void *ud, const struct al_tool *tool);
    void *ud;
};

static bool show_tool(void *ud, const struct al_catalog_tool *t)
{
    struct walk *w = ud;
    struct al_upstream *s = find_server(w->c, t->server);
    if (!s)
        return true;
    struct al_tool tool = make_tool(s, t);
    w->more = w->fn(w->ud, &tool) && --w->left > 0;
    return w->more;
}

static void each(void *ud, struct al_str query, int limit,
                 bool (*fn)(void *fn_ud, const struct al_tool *tool), void *fn_ud)
{
    struct source *c = ud;
    struct walk w = {.c = c, .left = limit > 0 ? limit : INT_MAX, .more = true, .fn = fn, .ud = fn_ud};
    struct al_err err;
    if (query.n > 0) {
        /* The limit is of those that are shown: the catalogue may know servers that are configured elsewhere.
         */
        if (al_catalog_search(store_of(c), query, 0, show_tool, &w, &err) < 0)
            return;
        return;
    }
    for (size_t i = 0; i < c->n && w.more; i++)
        if (al_catalog_each(store_of(c), c->sorted[i]->config->name, show_tool, &w, &err) < 0)
            return;
}

struct names {
    struct al_jw *w;
    size_t max; /* of the whole, up to here */
};

static bool add_name(void *ud, struct al_str tool)
{
    struct names *n = ud;
    if (n->w->out->n + tool.n * 2 + 8 > n->max)
        return false;
    al_jw_str(n->w, tool);
    return true;
}

/* Each server has its share, and what those before it left. */
static void names_json(void *ud, size_t max, struct al_buf *out)
{
    struct source *c = ud;
    struct al_jw w;
    struct al_err ignored;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    for (size_t i = 0; i < c->n; i++) {
        const char *server = c->sorted[i]->config->name;
        struct names n = {&w, out->n + (max > out->n ? (max - out->n) / (c->n - i) : 0)};
        al_jw_key(&w, server);
        al_jw_arr(&w);
        if (al_catalog_tools(store_of(c), server, add_name, &n, &ignored) < 0)
            al_err_clear(&ignored);
        al_jw_end(&w);
    }
    al_jw_end(&w);
}

static void servers(void *ud, void (*fn)(void *fn_ud, const char *server, int64_t n_tools), void *fn_ud)
{
    struct source *c = ud;
    for (size_t i = 0; i < c->n; i++)
        fn(fn_ud, c->sorted[i]->config->name, n_known(c, c->sorted[i]));
}

static bool switched_off(void *ud, struct al_str server)
{
    const struct al_upstreams *u = ((struct source *)ud)->u;
    for (size_t i = 0; i < u->n; i++)
        if (al_str_is(server, u->v[i]->config->name))
            return u->v[i]->config->disabled;
    return false;
}

static size_t count(void *ud)
{
    struct source *c = ud;
    size_t all = 0;
    for (size_t i = 0; i < c->n; i++) {
        int64_t n = n_known(c, c->sorted[i]);
        all += n > 0 ? (size_t)n : 0;
    }
    return all;
}

/* --- life --- */

static int by_name(const void *a, const void *b)
{
    const struct al_upstream *const *x = a, *const *y = b;
    return strcmp((*x)->config->name, (*y)->config->name);
}

void al_upstream_source_start(struct al_upstreams *u)
{
    static const struct al_tool_source ops = {
        .find = find,
        .each = each,
        .names_json = names_json,
        .count = count,
        .servers = servers,
        .switched_off = switched_off,
    };
    struct source *c = al_xcalloc(1, sizeof(*c));
    c->u = u;
    c->sorted = al_xcalloc(u->n + 1, sizeof(struct al_upstream *));
    for (size_t i = 0; i < u->n; i++)
        if (!u->v[i]->config->disabled)
            c->sorted[c->n++] = u->v[i];
    qsort(c->sorted, c->n, sizeof(struct al_upstream *), by_name);
    u->source = c;
    al_core_set_source(u->core, &ops, c);
}

void al_upstream_source_stop(struct al_upstreams *u)
{
    struct source *c = u->source;
    if (!c)
        return;
    al_core_set_source(u->core, NULL, NULL);
    u->source = NULL;
    free(c->sorted);
    free(c);
}

static void fetch_next(struct source *c);

static void fetched(void *ud, const struct al_err *err)
{
    struct al_upstreams *u = ud;
    struct source *c = u->source;
    (void)err; /* told by the first call */
    if (!c)
        return;
    c->n_fetches--;
    fetch_next(c);
}

static void fetch_next(struct source *c)
{
    while (!c->u->stopping && c->next_fetch < c->n && c->n_fetches < FETCHES_AT_ONCE) {
        struct al_upstream *s = c->sorted[c->next_fetch++];
        if (n_known(c, s) >= 0)
            continue;
        c->n_fetches++;
        al_upstream_refresh(s, fetched, c->u);
    }
}

void al_upstreams_fetch_missing(struct al_upstreams *u)
{
    struct source *c = u->source;
    if (!c || u->depth > 0)
        return;
    c->next_fetch = 0;
    fetch_next(c);
}
