/* `alisio mcp list` and `alisio mcp tools`. */
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/mcp_common.h"
#include "cli/run_text.h"
#include "cli/table.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

/* --- list --- */

/* "12 allow, 3 ask"; without a catalogue what the rules are. */
static void say_policy(const struct al_server *s, const struct al_tool_counts *c, bool known,
                       struct al_buf *out)
{
    const struct {
        size_t n;
        const char *name;
    } parts[] = {{c->allow, "allow"}, {c->ask, "ask"}, {c->deny, "deny"}};
    if (!known) {
        if (s->n_rules)
            al_buf_addf(out, "%zu rule%s", s->n_rules, s->n_rules == 1 ? "" : "s");
        else
            al_buf_adds(out, "ask");
        return;
    }
    for (size_t i = 0; i < 3; i++)
        if (parts[i].n)
            al_buf_addf(out, "%s%zu %s", out->n ? ", " : "", parts[i].n, parts[i].name);
}

static void say_catalog(const struct al_server *s, const struct al_catalog_server *cat, bool known,
                        const struct al_tool_counts *c, struct al_buf *out)
{
    if (s->disabled)
        al_buf_adds(out, "switched off");
    else if (!known)
        al_buf_adds(out, "not fetched yet");
    else if (strcmp(cat->config_sha256, s->sha256) != 0)
        al_buf_adds(out, "of another definition");
    else if (c->changed)
        al_buf_addf(out, "%zu changed", c->changed);
    else
        al_say_time(out, cat->fetched_ms);
}

static const char *import_text(enum al_import_state state)
{
    static const char *const texts[] = {[AL_IMPORT_NONE] = NULL,
                                        [AL_IMPORT_SAME] = NULL,
                                        [AL_IMPORT_CHANGED] = "has changed since it was imported",
                                        [AL_IMPORT_GONE] = "is no longer there"};
    return texts[state];
}

struct listing {
    struct al_table table;
    struct al_jw w;
};

static int list_one(struct al_app *app, struct listing *l, const struct al_server *s, struct al_reply *reply)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    autobuf struct al_buf policy = AL_BUF_INIT(256), state = AL_BUF_INIT(256);
    struct al_catalog_server cat = {0};
    struct al_tool_counts c = {0};
    bool known = al_catalog_server(app->store, s->name, &a, &cat, &reply->err) == 0;
    if (!known && reply->err.code != AL_NOT_FOUND)
        return -1;
    al_err_clear(&reply->err);
    if (known && al_count_tools(app, s, &c, NULL, &reply->err) < 0)
        return -1;
    say_policy(s, &c, known, &policy);
    say_catalog(s, &cat, known, &c, &state);
    al_table_add(&l->table, s->name);
    al_table_add(&l->table, s->http ? "http" : "stdio");
    al_table_addf(&l->table, known ? "%zu" : "", c.tools);
    al_table_add_str(&l->table, al_buf_str(&policy));
    al_table_add_str(&l->table, al_buf_str(&state));
    al_table_add(&l->table, s->imported_file ? s->imported_file : s->origin);
    enum al_import_state import = al_import_state(s);
    if (import_text(import)) {
        al_buf_adds(&reply->note, "note: the entry ");
        al_say_plain(&reply->note, s->imported_name);
        al_buf_adds(&reply->note, " of ");
        al_say_plain(&reply->note, s->imported_file);
        al_buf_addf(&reply->note, " %s; `alisio mcp import` copies it anew\n", import_text(import));
    }
    if (c.changed) {
        al_buf_adds(&reply->note, "note: tools of ");
        al_say_plain(&reply->note, s->name);
        al_buf_adds(&reply->note, " have changed since they were used: `alisio mcp review ");
        al_say_quoted(&reply->note, s->name);
        al_buf_adds(&reply->note, "`\n");
    }
    al_jw_obj(&l->w);
    al_json_server(&l->w, s);
    al_jw_key(&l->w, "catalogue");
    if (known) {
        al_jw_obj(&l->w);
        al_jw_kint(&l->w, "tools", (int64_t)c.tools);
        al_jw_kint(&l->w, "allow", (int64_t)c.allow);
        al_jw_kint(&l->w, "ask", (int64_t)c.ask);
        al_jw_kint(&l->w, "deny", (int64_t)c.deny);
        al_jw_kint(&l->w, "changed", (int64_t)c.changed);
        al_jw_kbool(&l->w, "current", strcmp(cat.config_sha256, s->sha256) == 0);
        al_jw_kstrz(&l->w, "protocol", cat.protocol);
        al_jw_ktime(&l->w, "fetchedAt", cat.fetched_ms);
        al_jw_end(&l->w);
    } else {
        al_jw_null(&l->w);
    }
    al_jw_kstrz(&l->w, "imported",
                import == AL_IMPORT_NONE      ? NULL
                : import == AL_IMPORT_SAME    ? "same"
                : import == AL_IMPORT_CHANGED ? "changed"
                                              : "gone");
    al_jw_end(&l->w);
    return 0;
}

void al_say_no_server(struct al_buf *out)
{
    al_buf_adds(out, "no MCP server is configured; `alisio setup CLIENT` takes those of a client over, "
                     "`alisio mcp import FILE` those of a file\n");
}

int al_cmd_mcp_list(struct al_app *app, struct al_reply *reply)
{
    static const char *const heads[] = {"SERVER", "TRANSPORT", "TOOLS", "POLICY", "CATALOGUE", "FROM", NULL};
    struct listing l = {0};
    int r = 0;
    if (al_app_config(app, &reply->err) < 0 || al_app_servers(app, &reply->err) < 0 ||
        al_app_store(app, &reply->err) < 0)
        return -1;
    al_table_init(&l.table, heads);
    l.table.fixed = 1;
    l.table.right = 1u << 2;
    al_jw_init(&l.w, &reply->structured);
    al_jw_obj(&l.w);
    al_jw_key(&l.w, "servers");
    al_jw_arr(&l.w);
    for (size_t i = 0; r == 0 && i < app->servers.n; i++)
        r = list_one(app, &l, &app->servers.v[i], reply);
    al_jw_end(&l.w);
    al_jw_end(&l.w);
    if (app->servers.n == 0)
        al_say_no_server(&reply->text);
    al_table_print(app, &l.table, &reply->text);
    al_table_free(&l.table);
    return r;
}

/* --- tools --- */

struct tools {
    struct al_app *app;
    const struct al_server *s;
    struct al_table table;
    struct al_jw w;
    size_t n;
};

static struct al_str first_line(const char *z)
{
    return (struct al_str){z, z ? strcspn(z, "\n") : 0};
}

/* What the server claims: nothing that anything is decided by alone. */
static void say_hints(const struct al_json *v, struct al_buf *out)
{
    const struct al_json *destructive = al_json_get(v, "destructiveHint");
    if (al_json_is_true(al_json_get(v, "readOnlyHint"))) {
        al_buf_adds(out, "reads");
        return;
    }
    al_buf_adds(out, destructive && destructive->type == AL_JSON_FALSE ? "adds" : "changes");
    if (al_json_is_true(al_json_get(v, "idempotentHint")))
        al_buf_adds(out, ", repeatable");
}

static bool list_tool(void *ud, const struct al_catalog_tool *t)
{
    struct tools *l = ud;
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    autobuf struct al_buf hints = AL_BUF_INIT(256);
    const struct al_json *v = NULL;
    const char *policy = al_tool_policy_name(al_server_policy(l->s, al_str_of(t->tool)));
    if (t->annotations && al_json_parse(&a, al_str_of(t->annotations), &v, NULL) < 0)
        v = NULL;
    say_hints(v, &hints);
    al_table_add(&l->table, l->s->name);
    al_table_add(&l->table, t->tool);
    al_table_add_str(&l->table, al_buf_str(&hints));
    if (t->changed)
        al_table_addf(&l->table, "%s (changed)", policy);
    else
        al_table_add(&l->table, policy);
    al_table_add_str(&l->table, first_line(t->description ? t->description : t->title));
    al_jw_obj(&l->w);
    al_jw_kstrz(&l->w, "server", l->s->name);
    al_jw_kstrz(&l->w, "tool", t->tool);
    al_jw_kstrz(&l->w, "name", t->name);
    al_jw_kstrz(&l->w, "policy", policy);
    al_jw_kbool(&l->w, "changed", t->changed);
    al_jw_kbool(&l->w, "pinned", t->pinned);
    al_jw_key(&l->w, "annotations");
    al_jw_value(&l->w, v);
    al_jw_kstrz(&l->w, "description", t->description);
    al_jw_end(&l->w);
    l->n++;
    return true;
}

/* Whether what is stored is of the definition that is configured now. */
static bool has_catalog(struct al_app *app, const struct al_server *s)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    struct al_catalog_server cat;
    struct al_err err;
    return al_catalog_server(app->store, s->name, &a, &cat, &err) == 0 &&
           strcmp(cat.config_sha256, s->sha256) == 0;
}

/* Servers without a catalogue are asked for it, all at once. One that fails is told; when it was named, it is
 * the answer. */
static int fetch_missing(struct al_app *app, const char *only, struct al_err *err)
{
    size_t n = 0, all = app->upstreams ? al_upstreams_n(app->upstreams) : 0;
    autofree struct al_fetch *v = al_xcalloc(all + 1, sizeof *v);
    for (size_t i = 0; i < all; i++) {
        struct al_upstream *u = al_upstreams_at(app->upstreams, i);
        const struct al_server *s = al_upstream_config(u);
        bool wanted = only ? strcmp(s->name, only) == 0 : !s->disabled;
        if (wanted && !has_catalog(app, s))
            v[n++].s = u;
    }
    if (al_fetch_all(app, v, n, false, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (v[i].err.code == AL_OK)
            continue;
        if (only) {
            *err = v[i].err;
            return -1;
        }
        al_app_warn(app, "%s: %s", al_upstream_config(v[i].s)->name, v[i].err.msg);
    }
    return 0;
}

static const char *nearest_server(const struct al_app *app, struct al_str name)
{
    const char *near = NULL;
    unsigned best = 3;
    for (size_t i = 0; i < app->servers.n; i++) {
        unsigned d = al_str_distance(name, al_str_of(app->servers.v[i].name));
        if (d < best) {
            best = d;
            near = app->servers.v[i].name;
        }
    }
    return near;
}

void al_warn_allow_mcp(struct al_app *app)
{
    for (const char *const *p = app->args.list[AL_LIST_ALLOW_MCP]; *p; p++) {
        bool known = !**p;
        struct al_str name = {*p, strcspn(*p, ".")};
        for (size_t i = 0; !known && i < app->servers.n; i++) {
            /* A name may have dots in it. */
            size_t n = strlen(app->servers.v[i].name);
            known = strncmp(*p, app->servers.v[i].name, n) == 0 && (!(*p)[n] || (*p)[n] == '.');
        }
        if (known)
            continue;
        const char *near = nearest_server(app, name);
        autobuf struct al_buf shown = AL_BUF_INIT(1024);
        al_text_plain(&shown, al_utf8_cut(name, 80), false);
        al_app_warn(app, "--allow-mcp: there is no MCP server %.*s%s%s%s", AL_FMT(al_buf_str(&shown)),
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
}

const struct al_server *al_mcp_server(struct al_app *app, const char *name, struct al_err *err)
{
    const struct al_server *s = al_servers_find(&app->servers, al_str_of(name));
    if (s)
        return s;
    const char *near = nearest_server(app, al_str_of(name));
    al_fail(err, AL_NOT_FOUND, "there is no MCP server %.80s", name);
    if (near)
        al_hint(err, "did you mean %s?", near);
    else
        al_hint(err, "`alisio mcp list` shows the servers");
    return NULL;
}

int al_cmd_mcp_tools(struct al_app *app, struct al_reply *reply)
{
    static const char *const heads[] = {"SERVER", "TOOL", "SAYS IT", "POLICY", "WHAT IT DOES", NULL};
    const char *only = app->args.n_pos ? app->args.pos[0] : NULL;
    struct tools l = {.app = app};
    int r = 0;
    if (al_app_core(app, "cli", &reply->err) < 0 || (only && !al_mcp_server(app, only, &reply->err)) ||
        fetch_missing(app, only, &reply->err) < 0)
        return -1;
    al_table_init(&l.table, heads);
    l.table.fixed = 1u << 1;
    al_jw_init(&l.w, &reply->structured);
    al_jw_obj(&l.w);
    al_jw_key(&l.w, "tools");
    al_jw_arr(&l.w);
    for (size_t i = 0; r == 0 && i < app->servers.n; i++) {
        l.s = &app->servers.v[i];
        if (!only || strcmp(l.s->name, only) == 0)
            r = al_catalog_each(app->store, l.s->name, list_tool, &l, &reply->err);
    }
    al_jw_end(&l.w);
    al_jw_end(&l.w);
    if (app->servers.n == 0)
        al_say_no_server(&reply->text);
    else if (l.n == 0)
        al_buf_adds(&reply->text, "no tool is known\n");
    al_table_print(app, &l.table, &reply->text);
    al_table_free(&l.table);
    return r;
}
