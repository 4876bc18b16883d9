/* Server entries in the files of other clients: their names for the parts, and their ways to write variables.
 */
#include "config/servers_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_ENTRY (64u << 10)

enum dialect {
    DIALECT_MCP_SERVERS, /* mcpServers, and VS Code's servers */
    DIALECT_GEMINI,
    DIALECT_OPENCODE,
    DIALECT_CODEX,
};

struct foreign {
    enum dialect dialect;
    const char *origin;
    struct al_servers *add_to;
    struct al_buf *notices;
    struct al_buf what; /* why the present entry cannot be used; empty: it can */
    const char
        *brace; /* of the text being translated: its first "}" from where that was last asked, or its end */
};

static void note(struct foreign *f, struct al_str name, struct al_str what)
{
    if (!f->notices)
        return;
    al_text_plain(f->notices, al_utf8_cut(name, 80), false);
    al_buf_addf(f->notices, ": %.*s\n", AL_FMT(what));
}

/* --- how they write variables --- */

/* The text from z to the next "}", which is looked for once, not from each opening brace; n 0: there is none.
 */
static struct al_str within(struct foreign *f, const char *z)
{
    if (!f->brace || f->brace < z)
        f->brace = z + strcspn(z, "}");
    return (struct al_str){z, *f->brace ? (size_t)(f->brace - z) : 0};
}

static bool is_name(struct al_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool letter = c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return s.n > 0;
}

static void cannot_fill(struct foreign *f, struct al_str expr)
{
    if (f->what.n)
        return;
    al_buf_adds(&f->what, "only its own client can fill in ");
    al_text_plain(&f->what, al_utf8_cut(expr, 80), false);
    al_buf_adds(&f->what, "; write ${VARIABLE} there, and set that variable");
}

/* ${…} of VS Code and Cursor at z; how many bytes were taken. */
static size_t editor_variable(struct foreign *f, const char *z, struct al_buf *out)
{
    static const struct {
        const char *name, *stands_for;
    } known[] = {{"workspaceFolder", "."}, {"userHome", "${HOME}"}, {"pathSeparator", "/"}, {"/", "/"}};
    struct al_str inner = within(f, z + 2), env = {inner.p + 4, inner.n - 4};
    size_t len = inner.n + 3;
    if (inner.n == 0) {
        al_buf_addc(out, *z);
        return 1;
    }
    if (al_str_starts(inner, "env:") && is_name(env)) {
        al_buf_addf(out, "${%.*s}", AL_FMT(env));
        return len;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!al_str_is(inner, known[i].name))
            continue;
        al_buf_adds(out, known[i].stands_for);
        return len;
    }
    if (al_str_starts(inner, "input:") || al_str_starts(inner, "command:") ||
        al_str_starts(inner, "config:") || al_str_starts(inner, "workspaceFolder"))
        cannot_fill(f, (struct al_str){z, len});
    al_buf_add(out, z, len);
    return len;
}

/* $NAME of Gemini, anywhere in a text; ${NAME} is the same with us. */
static size_t gemini_variable(const char *z, struct al_buf *out)
{
    static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    struct al_str name = {z + 1, strspn(z + 1, chars)};
    if (!is_name(name)) {
        al_buf_addc(out, *z);
        return 1;
    }
    al_buf_addf(out, "${%.*s}", AL_FMT(name));
    return name.n + 1;
}

/* {env:NAME} and {file:…} of opencode. */
static size_t opencode_variable(struct foreign *f, const char *z, struct al_buf *out)
{
    bool is_env = strncmp(z, "{env:", 5) == 0, is_file = strncmp(z, "{file:", 6) == 0;
    struct al_str env = is_env || is_file ? within(f, z + 5) : (struct al_str){0};
    if (is_env && is_name(env)) {
        al_buf_addf(out, "${%.*s}", AL_FMT(env));
        return env.n + 6;
    }
    if (is_file && env.n)
        cannot_fill(f, (struct al_str){z, env.n + 6});
    al_buf_addc(out, *z);
    return 1;
}

static void translate(struct foreign *f, char **text)
{
    struct al_buf out = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
    f->brace = NULL;
    for (const char *z = *text; *z;) {
        bool dollar = z[0] == '$' && z[1] == '{';
        if (dollar && f->dialect == DIALECT_MCP_SERVERS) {
            z += editor_variable(f, z, &out);
        } else if (*z == '$' && f->dialect == DIALECT_GEMINI) {
            z += gemini_variable(z, &out);
        } else if (dollar) {
            al_buf_adds(&out, "$${"); /* theirs is no variable there, and ours must be none */
            z += 2;
        } else if (*z == '{' && f->dialect == DIALECT_OPENCODE) {
            z += opencode_variable(f, z, &out);
        } else {
            al_buf_addc(&out, *z++);
        }
    }
    free(*text);
    *text = al_buf_take(&out);
    if (!*text)
        *text = al_xstrdup("");
}

/* The value of "NAME=value" (from: behind "=" or ": ") may be $OTHER as a whole, as in files of Gemini that
 * have another name. */
static void translate_pair(struct foreign *f, char **pair, const char *separator)
{
    char *at = strstr(*pair, separator);
    struct al_str value = at ? al_str_of(at + strlen(separator)) : (struct al_str){0};
    struct al_str rest = {value.p + 1, value.n - 1};
    if (f->dialect == DIALECT_MCP_SERVERS && value.n > 1 && value.p[0] == '$' && is_name(rest)) {
        struct al_buf b = AL_BUF_INIT(strlen(*pair) + 3);
        al_buf_add(&b, *pair, (size_t)(value.p - *pair));
        al_buf_addf(&b, "${%.*s}", AL_FMT(rest));
        free(*pair);
        *pair = al_buf_take(&b);
        return;
    }
    translate(f, pair);
}

static void translate_all(struct foreign *f, struct al_server *s)
{
    if (s->command)
        translate(f, &s->command);
    if (s->cwd)
        translate(f, &s->cwd);
    if (s->url)
        translate(f, &s->url);
    for (size_t i = 0; s->args && s->args[i]; i++)
        translate(f, &s->args[i]);
    for (size_t i = 0; s->env && s->env[i]; i++)
        translate_pair(f, &s->env[i], "=");
    for (size_t i = 0; s->headers && s->headers[i]; i++)
        translate_pair(f, &s->headers[i], ": ");
}

/* --- the parts --- */

static void add_pair(char ***list, const char *name, const char *separator, const char *value)
{
    size_t n = 0;
    while (*list && (*list)[n])
        n++;
    if (n >= AL_SERVER_MAX_LIST)
        return;
    struct al_buf b = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
    al_buf_addf(&b, "%s%s%s", name, separator, value);
    *list = al_xrealloc(*list, (n + 2) * sizeof **list);
    (*list)[n] = al_buf_take(&b);
    (*list)[n + 1] = NULL;
}

/* Variables named by Codex: bearer_token_env_var = "X"; env_vars = ["X"]; env_http_headers = {H = "X"}. Added
 * after the translation, since what they become is our own form. */
static void codex_variables(struct al_server *s, const struct al_json *obj)
{
    char value[256];
    struct al_str token = al_json_get_text(obj, "bearer_token_env_var");
    if (s->url && is_name(token) && token.n < 200) {
        snprintf(value, sizeof value, "Bearer ${%.*s}", AL_FMT(token));
        add_pair(&s->headers, "Authorization", ": ", value);
    }
    al_json_each(h, s->url ? al_json_get(obj, "env_http_headers") : NULL)
    {
        autofree char *name = al_xdup(h->key.p, h->key.n);
        if (!al_json_is_string(h) || !is_name(h->str) || h->str.n > 200)
            continue;
        snprintf(value, sizeof value, "${%.*s}", AL_FMT(h->str));
        add_pair(&s->headers, name, ": ", value);
    }
    al_json_each(v, s->command ? al_json_get(obj, "env_vars") : NULL)
    {
        if (!al_json_is_string(v) || !is_name(v->str) || v->str.n > 200)
            continue;
        char name[204];
        snprintf(name, sizeof name, "%.*s", AL_FMT(v->str));
        snprintf(value, sizeof value, "${%s:-}", name);
        add_pair(&s->env, name, "=", value);
    }
}

static void set_ms(uint64_t *ms, const struct al_json *v, int64_t unit, int64_t max)
{
    int64_t n;
    if (al_json_int(v, (1000 + unit - 1) / unit, max / unit, &n))
        *ms = (uint64_t)(n * unit);
}

static void set_limits(struct al_server *s, const struct al_json *obj, enum dialect dialect)
{
    if (dialect == DIALECT_MCP_SERVERS || dialect == DIALECT_GEMINI)
        set_ms(&s->timeout_ms, al_json_get(obj, "timeout"), 1, 3600000);
    else if (dialect == DIALECT_OPENCODE)
        set_ms(&s->start_timeout_ms, al_json_get(obj, "timeout"), 1, 600000);
    set_ms(&s->timeout_ms, al_json_get(obj, "tool_timeout_sec"), 1000, 3600000);
    set_ms(&s->start_timeout_ms, al_json_get(obj, "startup_timeout_sec"), 1000, 600000);
    set_ms(&s->start_timeout_ms, al_json_get(obj, "startup_timeout_ms"), 1, 600000);
    s->disabled = al_json_is_true(al_json_get(obj, "disabled"));
    const struct al_json *enabled = al_json_get(obj, "enabled");
    if (enabled && enabled->type == AL_JSON_FALSE)
        s->disabled = true;
}

static void rule_for(struct foreign *f, struct al_server *s, struct al_str pattern,
                     enum al_tool_policy policy)
{
    autobuf struct al_buf exact = AL_BUF_INIT(AL_SERVERS_MAX_FILE);
    if (pattern.n == 0 || memchr(pattern.p, 0, pattern.n))
        return;
    /* One rule too few might open what is switched off there. */
    if (s->n_rules == AL_SERVER_RULES_MAX && !f->what.n)
        al_buf_addf(&f->what, "it switches more than %d tools on or off by name", AL_SERVER_RULES_MAX);
    al_server_exact_pattern(pattern, &exact);
    al_buf_addc(&exact, 0);
    if (!al_buf_failed(&exact))
        al_server_add_rule(s, exact.p, policy);
}

/* What a person has switched off there stays off here. */
static void set_tool_lists(struct foreign *f, struct al_server *s, const struct al_json *obj)
{
    static const char *const off[] = {"excludeTools", "disabled_tools", "disabledTools"},
                             *const only[] = {"includeTools", "enabled_tools"};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        const struct al_json *list = al_json_get(obj, off[i]);
        al_json_each(v, list && list->type == AL_JSON_ARRAY ? list : NULL)
        {
            if (al_json_is_string(v))
                rule_for(f, s, v->str, AL_POLICY_DENY);
        }
    }
    for (size_t i = 0; i < sizeof only / sizeof *only; i++) {
        const struct al_json *list = al_json_get(obj, only[i]);
        if (!list || list->type != AL_JSON_ARRAY)
            continue;
        al_json_each(v, list)
        {
            if (al_json_is_string(v))
                rule_for(f, s, v->str, AL_POLICY_ASK);
        }
        if (s->n_rules == AL_SERVER_RULES_MAX)
            rule_for(f, s, AL_STR("*"), AL_POLICY_DENY);
        al_server_add_rule(s, "*", AL_POLICY_DENY);
    }
}

static bool take(struct foreign *f, struct al_server *s, enum al_server_part part, const char *key,
                 const struct al_json *v)
{
    const char *fault = v && v->type != AL_JSON_NULL ? al_server_set(s, part, v) : NULL;
    if (fault)
        al_buf_addf(&f->what, "its %s %s", key, fault);
    return !fault;
}

/* A command may be an array of program and arguments. */
static bool take_command(struct foreign *f, struct al_server *s, const struct al_json *obj)
{
    const struct al_json *v = al_json_get(obj, "command");
    if (!v || v->type != AL_JSON_ARRAY)
        return take(f, s, AL_PART_COMMAND, "command", v) &&
               take(f, s, AL_PART_ARGS, "args", al_json_get(obj, "args"));
    if (!take(f, s, AL_PART_ARGS, "command", v) || !s->args[0] || !s->args[0][0]) {
        if (!f->what.n)
            al_buf_adds(&f->what, "its command is empty");
        return false;
    }
    s->command = s->args[0];
    for (size_t i = 0; s->args[i]; i++)
        s->args[i] = s->args[i + 1];
    return true;
}

static bool take_remote(struct foreign *f, struct al_server *s, const struct al_json *obj)
{
    static const char *const urls[] = {"httpUrl", "url", "serverUrl"}, *const headers[] = {"headers",
                                                                                           "http_headers"};
    for (size_t i = 0; i < 3 && !s->url; i++)
        if (!take(f, s, AL_PART_URL, urls[i], al_json_get(obj, urls[i])))
            return false;
    for (size_t i = 0; i < 2; i++)
        if (!take(f, s, AL_PART_HEADERS, headers[i], al_json_get(obj, headers[i])))
            return false;
    return true;
}

enum kind {
    KIND_ANY,
    KIND_STDIO,
    KIND_HTTP,
    KIND_UNKNOWN,
};

static enum kind kind_of(struct foreign *f, const struct al_json *obj, struct al_server *s)
{
    static const char *const http[] = {
        "http", "streamable-http", "streamableHttp", "streamable_http", "remote", "sse"};
    struct al_str type = al_json_get_text(obj, "type");
    if (type.n == 0)
        type = al_json_get_text(obj, "transport");
    if (type.n == 0)
        return KIND_ANY;
    if (al_str_is(type, "stdio") || al_str_is(type, "local"))
        return KIND_STDIO;
    if (al_str_is(type, "sse"))
        s->note = "it is of the older transport \"sse\", and is tried as Streamable HTTP";
    for (size_t i = 0; i < sizeof http / sizeof *http; i++)
        if (al_str_is(type, http[i]))
            return KIND_HTTP;
    al_buf_adds(&f->what, "its type ");
    al_text_plain(&f->what, al_utf8_cut(type, 40), false);
    al_buf_adds(&f->what, " is none that can be reached from here");
    return KIND_UNKNOWN;
}

/* What people write for the two keys that say what a server is; NULL: nothing like that. */
static const char *meant_key(const struct al_json *obj, struct al_str *ret_written)
{
    static const struct {
        const char *written, *meant;
    } near[] = {{"command", "command"}, {"cmd", "command"},  {"commandLine", "command"},
                {"program", "command"}, {"exec", "command"}, {"httpUrl", "url"},
                {"serverUrl", "url"},   {"uri", "url"},      {"endpoint", "url"},
                {"address", "url"}};
    al_json_each(m, obj)
    {
        for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
            unsigned far = strlen(near[i].written) > 6 ? 2 : strlen(near[i].written) > 3;
            if (al_str_distance(m->key, al_str_of(near[i].written)) > far)
                continue;
            *ret_written = m->key;
            return near[i].meant;
        }
    }
    return NULL;
}

static void say_fault(struct foreign *f, const struct al_json *obj, const struct al_server *s,
                      const char *fault)
{
    struct al_str written;
    const char *meant = s->command || s->url ? NULL : meant_key(obj, &written);
    al_buf_adds(&f->what, fault);
    if (!meant)
        return;
    al_buf_adds(&f->what, "; its key ");
    al_text_plain(&f->what, al_utf8_cut(written, 40), false);
    al_buf_addf(&f->what, " should be %s", meant);
}

static size_t list_size(char **list)
{
    size_t n = 0;
    for (size_t i = 0; list && list[i]; i++)
        n += strlen(list[i]) + 1;
    return n;
}

/* Nobody reads more than that before a yes, and no program needs it. */
static bool is_too_large(const struct al_server *s)
{
    const char *texts[] = {s->command, s->cwd, s->url};
    size_t n = list_size(s->args) + list_size(s->env) + list_size(s->headers);
    for (size_t i = 0; i < 3; i++)
        n += texts[i] ? strlen(texts[i]) : 0;
    return n > MAX_ENTRY;
}

static bool read_entry(struct foreign *f, const struct al_json *obj, struct al_server *s)
{
    static const char *const envs[] = {"env", "environment"};
    if (obj->type != AL_JSON_OBJECT) {
        al_buf_adds(&f->what, "it is no object");
        return false;
    }
    enum kind kind = kind_of(f, obj, s);
    if (kind == KIND_UNKNOWN)
        return false;
    if (kind != KIND_STDIO && !take_remote(f, s, obj))
        return false;
    if (!s->url) {
        if (kind != KIND_HTTP && !take_command(f, s, obj))
            return false;
        for (size_t i = 0; i < 2; i++)
            if (!take(f, s, AL_PART_ENV, envs[i], al_json_get(obj, envs[i])))
                return false;
        if (!take(f, s, AL_PART_CWD, "cwd", al_json_get(obj, "cwd")))
            return false;
    }
    set_limits(s, obj, f->dialect);
    set_tool_lists(f, s, obj);
    translate_all(f, s);
    if (f->dialect == DIALECT_CODEX)
        codex_variables(s, obj);
    if (!f->what.n && is_too_large(s))
        al_buf_adds(&f->what, "it is longer than 64 KiB");
    const char *fault = f->what.n ? NULL : al_server_complete(s);
    if (fault)
        say_fault(f, obj, s, fault);
    return !f->what.n;
}

static int read_members(struct foreign *f, const struct al_json *servers, const char *project,
                        struct al_err *err)
{
    if (!servers || servers->type != AL_JSON_OBJECT)
        return 0;
    al_json_each(m, servers)
    {
        struct al_server s;
        const char *fault = al_server_name_fault(m->key);
        const struct al_server *have = al_servers_find(f->add_to, m->key);
        if (fault) {
            note(f, m->key, al_str_of(fault));
            continue;
        }
        if (have && project) {
            note(f, m->key, AL_STR("is there more than once; the one of a project was left out"));
            continue;
        }
        al_buf_clear(&f->what);
        al_server_init(&s, m->key, f->origin);
        s.project = project ? al_xstrdup(project) : NULL;
        if (!read_entry(f, m, &s)) {
            note(f, m->key, al_buf_str(&f->what));
            al_server_fini(&s);
            continue;
        }
        if (al_servers_take(f->add_to, &s, err) < 0)
            return -1;
    }
    return 0;
}

/* Each folder that Claude Code was used in has servers of its own. */
static int read_projects(struct foreign *f, const struct al_json *root, struct al_err *err)
{
    const struct al_json *projects = al_json_get(root, "projects");
    if (!projects || projects->type != AL_JSON_OBJECT)
        return 0;
    al_json_each(p, projects)
    {
        autofree char *dir = al_xdup(p->key.p, p->key.n);
        if (read_members(f, al_json_get(p, "mcpServers"), dir, err) < 0)
            return -1;
    }
    return 0;
}

int al_servers_read_foreign(const struct al_json *root, enum al_servers_shape shape, const char *origin,
                            struct al_servers *add_to, struct al_buf *notices, struct al_err *err)
{
    struct foreign f = {.origin = origin,
                        .add_to = add_to,
                        .notices = notices,
                        .dialect = shape == AL_SERVERS_CODEX_TOML ? DIALECT_CODEX
                                   : shape == AL_SERVERS_GEMINI   ? DIALECT_GEMINI
                                                                  : DIALECT_MCP_SERVERS,
                        .what = AL_BUF_INIT(1024)};
    const struct al_json *mcp = al_json_get(root, "mcp"), *nested = al_json_get(mcp, "servers");
    bool is_nested = nested && nested->type == AL_JSON_OBJECT && !al_json_get(nested, "type");
    int r;
    /* What else Gemini has under mcp are no servers. */
    if (f.dialect != DIALECT_MCP_SERVERS) {
        const char *key = f.dialect == DIALECT_CODEX ? "mcp_servers" : "mcpServers";
        r = read_members(&f, al_json_get(root, key), NULL, err);
        al_buf_free(&f.what);
        return r;
    }
    r = read_members(&f, al_json_get(root, "mcpServers"), NULL, err);
    if (r == 0)
        r = read_members(&f, al_json_get(root, "servers"), NULL, err);
    if (r == 0 && is_nested)
        r = read_members(&f, nested, NULL, err);
    if (r == 0 && !is_nested) {
        f.dialect = DIALECT_OPENCODE;
        r = read_members(&f, mcp, NULL, err);
        f.dialect = DIALECT_MCP_SERVERS;
    }
    if (r == 0)
        r = read_projects(&f, root, err);
    al_buf_free(&f.what);
    return r;
}
