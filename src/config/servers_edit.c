/* Edits of mcp.servers in our own file. */
#include "config/servers_int.h"
#include "config/servers_text.h"

#include "base/mem.h"
#include "config/config_int.h"

static const char shown[] = "the user config file";

static void write_list(struct al_jw *w, const char *key, char **list)
{
    if (!list)
        return;
    al_jw_key(w, key);
    al_jw_arr(w);
    for (size_t i = 0; list[i]; i++)
        al_jw_strz(w, list[i]);
    al_jw_end(w);
}

static void write_pairs(struct al_jw *w, const char *key, char **list, const char *separator)
{
    if (!list)
        return;
    al_jw_key(w, key);
    al_jw_obj(w);
    for (size_t i = 0; list[i]; i++) {
        const char *at = strstr(list[i], separator);
        al_jw_key_str(w, (struct al_str){list[i], (size_t)(at - list[i])});
        al_jw_strz(w, at + strlen(separator));
    }
    al_jw_end(w);
}

static void write_rules(struct al_jw *w, const struct al_server_rule *rules, size_t n)
{
    al_jw_obj(w);
    for (size_t i = 0; i < n; i++)
        al_jw_kstrz(w, rules[i].pattern, al_tool_policy_name(rules[i].policy));
    al_jw_end(w);
}

void al_server_write(struct al_jw *w, const struct al_server *s)
{
    struct al_server standard;
    al_server_init(&standard, AL_STR(""), "");
    al_jw_obj(w);
    if (s->command)
        al_jw_kstrz(w, "command", s->command);
    write_list(w, "args", s->args);
    write_pairs(w, "env", s->env, "=");
    if (s->cwd)
        al_jw_kstrz(w, "cwd", s->cwd);
    if (s->url)
        al_jw_kstrz(w, "url", s->url);
    write_pairs(w, "headers", s->headers, ": ");
    if (s->disabled)
        al_jw_kbool(w, "disabled", true);
    if (s->timeout_ms != standard.timeout_ms)
        al_jw_kint(w, "timeoutMs", (int64_t)s->timeout_ms);
    if (s->start_timeout_ms != standard.start_timeout_ms)
        al_jw_kint(w, "startTimeoutMs", (int64_t)s->start_timeout_ms);
    if (s->n_rules) {
        al_jw_key(w, "tools");
        write_rules(w, s->rules, s->n_rules);
    }
    if (s->imported_file) {
        al_jw_key(w, "importedFrom");
        al_jw_obj(w);
        al_jw_kstrz(w, "file", s->imported_file);
        al_jw_kstrz(w, "name", s->imported_name ? s->imported_name : s->name);
        al_jw_kstrz(w, "sha256", s->imported_sha256);
        al_jw_end(w);
    }
    al_jw_end(w);
    al_server_fini(&standard);
}

/* What was written is read again: an edit never leaves a file that the next start refuses. */
static int apply(struct al_str old, const struct al_text_edit *e, struct al_buf *out, struct al_err *err)
{
    struct al_servers servers = {0};
    autobuf struct al_buf all = AL_BUF_INIT(AL_CONFIG_MAX_FILE);
    int r = al_text_edit_json(old, e, shown, &all, err);
    if (r == 0)
        r = al_servers_read(al_buf_str(&all), AL_SERVERS_OURS, shown, &servers, NULL, err);
    al_servers_free(&servers);
    if (r == 0)
        al_buf_add_str(out, al_buf_str(&all));
    if (r == 0 && al_buf_failed(out))
        r = al_fail(err, AL_CONFIG_INVALID, "%s would be larger than 1 MiB", shown);
    return r;
}

static int read_now(struct al_str old, struct al_str name, struct al_servers *servers,
                    const struct al_server **ret, struct al_err *err)
{
    if (al_servers_read(old, AL_SERVERS_OURS, shown, servers, NULL, err) < 0)
        return -1;
    *ret = al_servers_find(servers, name);
    if (*ret)
        return 0;
    al_fail(err, AL_NOT_FOUND, "there is no MCP server %.*s", (int)(name.n > 80 ? 80 : name.n), name.p);
    return al_hint(err, "`alisio mcp list` shows the servers");
}

int al_servers_edit_put(struct al_str old, const struct al_server *server, struct al_buf *out,
                        struct al_err *err)
{
    autobuf struct al_buf value = AL_BUF_INIT(AL_CONFIG_MAX_FILE);
    struct al_jw w;
    al_jw_init(&w, &value);
    al_server_write(&w, server);
    if (al_buf_failed(&value))
        return al_fail(err, AL_CONFIG_INVALID, "%s would be larger than 1 MiB", shown);
    struct al_text_edit e = {.steps = {AL_STR("mcp"), AL_STR("servers")},
                             .n_steps = 2,
                             .put_name = al_str_of(server->name),
                             .put_value = al_buf_str(&value)};
    return apply(old, &e, out, err);
}

int al_servers_edit_remove(struct al_str old, struct al_str name, struct al_buf *out, struct al_err *err)
{
    struct al_servers servers = {0};
    const struct al_server *s;
    struct al_text_edit e = {
        .steps = {AL_STR("mcp"), AL_STR("servers")}, .n_steps = 2, .remove = &name, .n_remove = 1};
    int r = read_now(old, name, &servers, &s, err);
    al_servers_free(&servers);
    return r < 0 ? r : apply(old, &e, out, err);
}

int al_servers_edit_switch(struct al_str old, struct al_str name, bool disabled, struct al_buf *out,
                           struct al_err *err)
{
    static const struct al_str key = {"disabled", 8};
    struct al_servers servers = {0};
    const struct al_server *s;
    struct al_text_edit e = {.steps = {AL_STR("mcp"), AL_STR("servers"), name}, .n_steps = 3};
    int r = read_now(old, name, &servers, &s, err);
    al_servers_free(&servers);
    if (disabled) {
        e.put_name = key;
        e.put_value = AL_STR("true");
    } else {
        e.remove = &key;
        e.n_remove = 1;
    }
    return r < 0 ? r : apply(old, &e, out, err);
}

int al_servers_edit_rule(struct al_str old, struct al_str name, const char *pattern,
                         enum al_tool_policy policy, struct al_buf *out, struct al_err *err)
{
    struct al_servers servers = {0};
    const struct al_server *s;
    autobuf struct al_buf value = AL_BUF_INIT(AL_CONFIG_MAX_FILE);
    struct al_jw w;
    int r = read_now(old, name, &servers, &s, err);
    if (r == 0) {
        al_jw_init(&w, &value);
        al_jw_obj(&w);
        al_jw_kstrz(&w, pattern, al_tool_policy_name(policy));
        for (size_t i = 0; i < s->n_rules; i++)
            if (strcmp(s->rules[i].pattern, pattern) != 0)
                al_jw_kstrz(&w, s->rules[i].pattern, al_tool_policy_name(s->rules[i].policy));
        al_jw_end(&w);
        struct al_text_edit e = {.steps = {AL_STR("mcp"), AL_STR("servers"), name},
                                 .n_steps = 3,
                                 .put_name = AL_STR("tools"),
                                 .put_value = al_buf_str(&value)};
        r = apply(old, &e, out, err);
    }
    al_servers_free(&servers);
    return r;
}
