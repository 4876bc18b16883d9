#include "config/servers_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "config/config_int.h"
#include "config/providers.h"
#include "config/servers_text.h"

#include <stdio.h>

#define DEFAULT_TIMEOUT_MS 60000
#define DEFAULT_START_TIMEOUT_MS 30000

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

void al_server_init(struct al_server *s, struct al_str name, const char *origin)
{
    *s = (struct al_server){.name = al_xdup(name.p, name.n),
                            .origin = al_xstrdup(origin),
                            .timeout_ms = DEFAULT_TIMEOUT_MS,
                            .start_timeout_ms = DEFAULT_START_TIMEOUT_MS};
}

void al_server_fini(struct al_server *s)
{
    free(s->name);
    free(s->command);
    free_list(s->args);
    free_list(s->env);
    free(s->cwd);
    free(s->url);
    free_list(s->headers);
    for (size_t i = 0; i < s->n_rules; i++)
        free(s->rules[i].pattern);
    free(s->rules);
    free(s->origin);
    free(s->project);
    free(s->imported_file);
    free(s->imported_name);
    *s = (struct al_server){0};
}

void al_servers_free(struct al_servers *s)
{
    for (size_t i = 0; i < s->n; i++)
        al_server_fini(&s->v[i]);
    free(s->v);
    *s = (struct al_servers){0};
}

const struct al_server *al_servers_find(const struct al_servers *s, struct al_str name)
{
    for (size_t i = 0; i < s->n; i++)
        if (al_str_is(name, s->v[i].name))
            return &s->v[i];
    return NULL;
}

int al_servers_take(struct al_servers *s, struct al_server *entry, struct al_err *err)
{
    bool twice = al_servers_find(s, al_str_of(entry->name)) != NULL;
    if (twice || s->n == AL_SERVERS_MAX) {
        autobuf struct al_buf shown = AL_BUF_INIT(1024);
        al_text_visible(&shown, al_str_of(entry->name), false);
        if (twice)
            al_fail(err, AL_CONFIG_INVALID, "%s: there is already a server called %.*s", entry->origin,
                    AL_FMT(al_buf_str(&shown)));
        else
            al_fail(err, AL_CONFIG_INVALID, "%s: there are more than %d servers", entry->origin,
                    AL_SERVERS_MAX);
        al_server_fini(entry);
        return al_hint(err, twice ? "give one of the two another name" : "take some out");
    }
    s->v = al_xrealloc(s->v, (s->n + 1) * sizeof *s->v);
    s->v[s->n++] = *entry;
    *entry = (struct al_server){0};
    return 0;
}

static char *dup_or_null(const char *z)
{
    return z ? al_xstrdup(z) : NULL;
}

static char **dup_list(char **list)
{
    size_t n = 0;
    if (!list)
        return NULL;
    while (list[n])
        n++;
    char **copy = al_xcalloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = al_xstrdup(list[i]);
    return copy;
}

void al_server_add_rule(struct al_server *s, const char *pattern, enum al_tool_policy policy)
{
    for (size_t i = 0; i < s->n_rules; i++)
        if (strcmp(s->rules[i].pattern, pattern) == 0)
            return;
    if (s->n_rules == AL_SERVER_RULES_MAX)
        return;
    s->rules = al_xrealloc(s->rules, (s->n_rules + 1) * sizeof *s->rules);
    s->rules[s->n_rules++] = (struct al_server_rule){al_xstrdup(pattern), policy};
}

int al_servers_add(struct al_servers *s, const struct al_server *server, struct al_err *err)
{
    struct al_server copy = *server;
    copy.name = al_xstrdup(server->name);
    copy.command = dup_or_null(server->command);
    copy.args = dup_list(server->args);
    copy.env = dup_list(server->env);
    copy.cwd = dup_or_null(server->cwd);
    copy.url = dup_or_null(server->url);
    copy.headers = dup_list(server->headers);
    copy.origin = dup_or_null(server->origin);
    copy.project = dup_or_null(server->project);
    copy.imported_file = dup_or_null(server->imported_file);
    copy.imported_name = dup_or_null(server->imported_name);
    copy.rules = NULL;
    copy.n_rules = 0;
    for (size_t i = 0; i < server->n_rules; i++)
        al_server_add_rule(&copy, server->rules[i].pattern, server->rules[i].policy);
    return al_servers_take(s, &copy, err);
}

/* --- policy --- */

enum al_tool_policy al_server_policy(const struct al_server *s, struct al_str tool)
{
    for (size_t i = 0; i < s->n_rules; i++)
        if (al_str_glob(s->rules[i].pattern, tool))
            return s->rules[i].policy;
    return AL_POLICY_ASK;
}

void al_server_exact_pattern(struct al_str tool, struct al_buf *out)
{
    for (size_t i = 0; i < tool.n; i++) {
        if (memchr("*?[]\\,", tool.p[i], 6))
            al_buf_addc(out, '\\');
        al_buf_addc(out, tool.p[i]);
    }
}

const char *al_tool_policy_name(enum al_tool_policy p)
{
    static const char *const names[] = {
        [AL_POLICY_ASK] = "ask", [AL_POLICY_ALLOW] = "allow", [AL_POLICY_DENY] = "deny"};
    return names[p];
}

/* --- variables --- */

struct variable {
    struct al_str name, fallback;
    bool has_fallback;
    size_t len; /* from "$" to "}" */
};

static bool name_char(char c, bool first)
{
    return c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (!first && c >= '0' && c <= '9');
}

/* A variable at this place: ${NAME} or ${NAME:-text}. Anything else is text, as it is for other clients.
 * *brace is the first "}" from where that was last asked (NULL: nowhere yet), so that it is not looked for
 * from each "${". */
static bool variable_at(const char *z, const char **brace, struct variable *ret)
{
    if (z[0] != '$' || z[1] != '{')
        return false;
    size_t i = 2;
    while (name_char(z[i], i == 2))
        i++;
    if (i == 2)
        return false;
    *ret = (struct variable){.name = {z + 2, i - 2}};
    if (z[i] == ':' && z[i + 1] == '-') {
        const char *from = z + i + 2;
        if (!*brace || *brace < from)
            *brace = from + strcspn(from, "}");
        if (!**brace)
            return false;
        ret->has_fallback = true;
        ret->fallback = (struct al_str){from, (size_t)(*brace - from)};
        i = (size_t)(*brace - z);
    }
    ret->len = i + 1;
    return z[i] == '}';
}

/* $${ stands for ${, so that text of that form can be given. */
static bool escaped_at(const char *z)
{
    return z[0] == '$' && z[1] == '$' && z[2] == '{';
}

int al_server_expand(const char *text, struct al_buf *out, struct al_err *err)
{
    const char *brace = NULL;
    for (const char *z = text; *z;) {
        struct variable v;
        if (escaped_at(z)) {
            al_buf_adds(out, "${");
            z += 3;
            continue;
        }
        if (!variable_at(z, &brace, &v)) {
            al_buf_addc(out, *z++);
            continue;
        }
        autofree char *name = al_xdup(v.name.p, v.name.n);
        const char *value = al_key_variable(name);
        if (v.has_fallback && (!value || !*value))
            al_buf_add_str(out, v.fallback);
        else if (value)
            al_buf_adds(out, value);
        else {
            al_fail(err, AL_CONFIG_INVALID, "the variable %.100s is not set", name);
            return al_hint(err, "set it in the environment of alisio, or write ${%.100s:-a default}", name);
        }
        z += v.len;
    }
    if (al_buf_failed(out))
        return al_fail(err, AL_CONFIG_INVALID, "with its variables it is too long");
    return 0;
}

void al_server_variables(const char *text, struct al_buf *out)
{
    const char *brace = NULL;
    for (const char *z = text; *z && !al_buf_failed(out);) {
        struct variable v;
        if (escaped_at(z)) {
            z += 3;
            continue;
        }
        if (!variable_at(z, &brace, &v)) {
            z++;
            continue;
        }
        z += v.len;
        struct al_str have = al_buf_str(out);
        bool known = false;
        while (have.n) {
            const char *comma = memchr(have.p, ',', have.n);
            size_t n = comma ? (size_t)(comma - have.p) : have.n;
            known |= al_str_eq((struct al_str){have.p, n}, v.name);
            n += comma ? 2 : 0;
            have = (struct al_str){have.p + n, have.n - n};
        }
        if (known)
            continue;
        if (out->n)
            al_buf_adds(out, ", ");
        al_buf_add_str(out, v.name);
    }
}

/* --- reading --- */

static int broken(const char *origin, const char *why, struct al_err *err)
{
    return al_fail(err, AL_CONFIG_INVALID, "%s, %s", origin, why);
}

/* Line of a member's name: its value's last quote before closes the name, and a name holds no line feed. */
static unsigned line_of(struct al_str text, const struct al_json *member)
{
    const char *at = member->raw.p;
    while (at > text.p && at[-1] != '"')
        at--;
    unsigned line = 1;
    for (const char *p = text.p; p < at; p++)
        line += *p == '\n';
    return line;
}

static int read_ours(struct al_str text, const char *origin, struct al_servers *add_to, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(AL_CONFIG_MAX_ARENA);
    autobuf struct al_buf what = AL_BUF_INIT(2048);
    const struct al_json *root, *at = NULL;
    struct al_err why;
    if (al_str_trim(text).n == 0)
        return 0;
    if (al_json_parse(&a, text, &root, &why) < 0)
        return broken(origin, why.msg, err);
    const struct al_json *mcp = al_json_get(root, "mcp");
    if (!mcp || al_servers_read_ours(mcp, origin, add_to, &at, &what) == 0)
        return 0;
    return al_fail(err, AL_CONFIG_INVALID, "%s, line %u: %.*s", origin, line_of(text, at),
                   AL_FMT(al_buf_str(&what)));
}

static int read_json(struct al_str text, enum al_servers_shape shape, const char *origin,
                     struct al_servers *add_to, struct al_buf *notices, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(AL_SERVERS_MAX_ARENA);
    autobuf struct al_buf plain = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
    const struct al_json *root;
    struct al_err why;
    al_jsonc_plain(text, &plain);
    if (al_json_parse(&a, al_buf_str(&plain), &root, &why) < 0)
        return broken(origin, why.msg, err);
    if (root->type != AL_JSON_OBJECT)
        return broken(origin, "line 1: it must be a JSON object", err);
    return al_servers_read_foreign(root, shape, origin, add_to, notices, err);
}

static int read_toml(struct al_str text, const char *origin, struct al_servers *add_to,
                     struct al_buf *notices, struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(AL_SERVERS_MAX_ARENA);
    const struct al_json *root;
    struct al_err why;
    if (al_toml_read(&a, text, "mcp_servers", &root, NULL, &why) < 0)
        return broken(origin, why.msg, err);
    return al_servers_read_foreign(root, AL_SERVERS_CODEX_TOML, origin, add_to, notices, err);
}

enum al_servers_shape al_servers_shape_of(const char *path)
{
    struct al_str s = al_str_of(path);
    return al_str_ends(s, ".toml")                   ? AL_SERVERS_CODEX_TOML
           : al_str_ends(s, ".gemini/settings.json") ? AL_SERVERS_GEMINI
                                                     : AL_SERVERS_ANY_JSON;
}

int al_servers_read(struct al_str text, enum al_servers_shape shape, const char *origin,
                    struct al_servers *add_to, struct al_buf *notices, struct al_err *err)
{
    text = al_config_without_bom(text);
    if (text.n > AL_SERVERS_MAX_FILE)
        return al_fail(err, AL_CONFIG_INVALID, "%s is larger than 32 MiB", origin);
    switch (shape) {
    case AL_SERVERS_OURS:
        return read_ours(text, origin, add_to, err);
    case AL_SERVERS_ANY_JSON:
    case AL_SERVERS_GEMINI:
        return al_str_trim(text).n ? read_json(text, shape, origin, add_to, notices, err) : 0;
    case AL_SERVERS_CODEX_TOML:
        return read_toml(text, origin, add_to, notices, err);
    }
    return al_fail(err, AL_INTERNAL, "no such shape of servers");
}
