#include "cli/agent_cmd.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/mcp_common.h"
#include "cli/table.h"

#include "base/mem.h"
#include "config/servers.h"

#include <stdio.h>
#include <string.h>

static const char *const layer_names[] = {
    [AL_LAYER_DEFAULT] = "default", [AL_LAYER_USER] = "user", [AL_LAYER_PROJECT] = "project",
    [AL_LAYER_ENV] = "environment", [AL_LAYER_FLAG] = "flag",
};

static char *user_file(void)
{
    autofree char *home = al_config_home();
    struct al_buf b = AL_BUF_INIT(1 << 16);
    al_buf_addf(&b, "%s/config.json", home);
    return al_buf_take(&b);
}

/* The names alone: what they start is `alisio mcp list`'s to show. */
static void server_names(struct al_app *app, struct al_table *t, struct al_jw *w)
{
    const struct al_servers *s = al_config_servers(app->config);
    autobuf struct al_buf names = AL_BUF_INIT(1 << 16);
    al_jw_key(w, "mcpServers");
    al_jw_arr(w);
    for (size_t i = 0; i < s->n; i++) {
        al_buf_addf(&names, "%s%s", i ? ", " : "", s->v[i].name);
        al_jw_strz(w, s->v[i].name);
    }
    al_jw_end(w);
    if (s->n == 0)
        return;
    al_table_add(t, "mcp.servers");
    al_table_add_str(t, al_buf_str(&names));
    al_table_addf(t, "user %.400s", app->user_file);
}

/* "NAME=value" with the separator, without the value. */
static void hide_values(char **list, const char *separator)
{
    for (size_t i = 0; list && list[i]; i++) {
        struct al_buf b = AL_BUF_INIT(1 << 20);
        const char *at = strstr(list[i], separator);
        al_buf_add(&b, list[i], (size_t)(at - list[i]));
        al_buf_addf(&b, "%s" AL_NOT_SHOWN, separator);
        free(list[i]);
        list[i] = al_buf_take(&b);
    }
}

/* Each of the file's providers, as it stands there. Headers may hold what is secret. */
static void provider_rows(struct al_app *app, struct al_table *t, struct al_jw *w)
{
    const struct al_providers *own = al_config_providers(app->config);
    al_jw_key(w, "providers");
    al_jw_arr(w);
    for (size_t i = 0; i < own->n; i++) {
        autobuf struct al_buf entry = AL_BUF_INIT(1 << 20);
        struct al_provider p;
        struct al_jw one;
        al_provider_copy(&p, &own->v[i]);
        hide_values(p.headers, ": ");
        al_jw_init(&one, &entry);
        al_provider_write(&one, &p);
        al_provider_fini(&p);
        al_jw_strz(w, own->v[i].name);
        if (al_buf_failed(&entry))
            continue;
        al_table_addf(t, "providers.%s", own->v[i].name);
        al_table_add_str(t, al_buf_str(&entry));
        al_table_addf(t, "user %.400s", app->user_file);
    }
    al_jw_end(w);
}

static void mask(char **text, bool word)
{
    struct al_buf b = AL_BUF_INIT(1 << 20);
    al_mask_secrets(al_str_of(*text), word, &b);
    free(*text);
    *text = al_buf_take(&b);
}

/* As they stand in the file, without what may be secret in them. */
static int servers_json(struct al_app *app, struct al_buf *out, struct al_err *err)
{
    const struct al_servers *own = al_config_servers(app->config);
    struct al_servers shown = {0};
    struct al_jw w;
    int r = 0;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    for (size_t i = 0; r == 0 && i < own->n; i++) {
        r = al_servers_add(&shown, &own->v[i], err);
        if (r < 0)
            break;
        struct al_server *s = &shown.v[i];
        hide_values(s->env, "=");
        hide_values(s->headers, ": ");
        if (s->url)
            mask(&s->url, false);
        for (size_t k = 0; s->args && s->args[k]; k++)
            mask(&s->args[k], true);
        al_jw_key(&w, s->name);
        al_server_write(&w, s);
    }
    al_jw_end(&w);
    al_servers_free(&shown);
    return r;
}

static int get_servers(struct al_app *app, struct al_reply *reply)
{
    autobuf struct al_buf value = AL_BUF_INIT(4u << 20);
    autoarena struct al_arena arena = AL_ARENA_INIT(32u << 20);
    const struct al_json *v;
    struct al_jw w;
    if (al_app_config(app, &reply->err) < 0 || servers_json(app, &value, &reply->err) < 0 ||
        al_json_parse(&arena, al_buf_str(&value), &v, &reply->err) < 0)
        return -1;
    al_say_json(app, &reply->text, v);
    al_buf_addc(&reply->text, '\n');
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "key", "mcp.servers");
    al_jw_kraw(&w, "value", al_buf_str(&value));
    al_jw_kstrz(&w, "from", "user");
    al_jw_kstrz(&w, "origin", app->user_file);
    al_jw_end(&w);
    return 0;
}

static void option_json(const struct al_app *app, enum al_opt o, struct al_jw *w)
{
    autobuf struct al_buf value = AL_BUF_INIT(1 << 20);
    al_config_value_json(app->config, o, &value);
    al_jw_obj(w);
    al_jw_kstrz(w, "key", al_opt_name(o));
    al_jw_kraw(w, "value", al_buf_str(&value));
    al_jw_kstrz(w, "from", layer_names[al_config_layer(app->config, o)]);
    al_jw_kstrz(w, "origin", al_config_origin(app->config, o));
    al_jw_end(w);
}

int al_cmd_config_show(struct al_app *app, struct al_reply *reply)
{
    static const char *const heads[] = {"KEY", "VALUE", "FROM", NULL};
    autotable struct al_table t;
    struct al_jw w;
    al_table_init(&t, heads);
    t.fixed = 1;
    if (al_app_config(app, &reply->err) < 0)
        return -1;
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_key(&w, "options");
    al_jw_arr(&w);
    for (int i = 0; i < AL_OPT_COUNT; i++) {
        enum al_opt o = (enum al_opt)i;
        autobuf struct al_buf value = AL_BUF_INIT(1 << 20);
        enum al_layer layer = al_config_layer(app->config, o);
        const char *origin = al_config_origin(app->config, o);
        al_config_value_json(app->config, o, &value);
        al_table_add(&t, al_opt_name(o));
        al_table_add_str(&t, al_buf_str(&value));
        if (origin)
            al_table_addf(&t, "%s %.400s", layer_names[layer], origin);
        else
            al_table_add_style(&t, layer_names[layer], AL_DIM);
        option_json(app, o, &w);
    }
    al_jw_end(&w);
    server_names(app, &t, &w);
    provider_rows(app, &t, &w);
    al_jw_end(&w);
    al_table_print(app, &t, &reply->text);
    return 0;
}

/* "providers", "providers.NAME", "providers.NAME.MEMBER": 1 when it is that, with its value as JSON. */
static int get_provider(struct al_app *app, struct al_reply *reply)
{
    struct al_str key = al_str_of(app->args.pos[0]);
    autoarena struct al_arena arena = AL_ARENA_INIT(16u << 20);
    autobuf struct al_buf all = AL_BUF_INIT(1 << 20);
    const struct al_json *v, *entry = NULL;
    struct al_str rest = {key.p + sizeof "providers." - 1, key.n - (sizeof "providers." - 1)};
    struct al_jw w;
    if (al_app_config(app, &reply->err) < 0)
        return -1;
    const struct al_providers *own = al_config_providers(app->config);
    for (size_t i = 0; i < own->n; i++) {
        struct al_str name = al_str_of(own->v[i].name);
        if (!al_str_starts(rest, own->v[i].name) || (rest.n > name.n && rest.p[name.n] != '.'))
            continue;
        struct al_provider p;
        al_provider_copy(&p, &own->v[i]);
        hide_values(p.headers, ": ");
        al_buf_clear(&all);
        al_jw_init(&w, &all);
        al_provider_write(&w, &p);
        al_provider_fini(&p);
        if (al_json_parse(&arena, al_buf_str(&all), &v, &reply->err) < 0)
            return -1;
        autofree char *member = rest.n > name.n ? al_xdup(rest.p + name.n + 1, rest.n - name.n - 1) : NULL;
        entry = member ? al_json_get(v, member) : v;
        break;
    }
    if (!entry) {
        al_fail(&reply->err, AL_NOT_FOUND, "your config.json says nothing of %.80s", app->args.pos[0]);
        return al_hint(&reply->err, "`alisio config show` lists what it says");
    }
    al_say_json(app, &reply->text, entry);
    al_buf_addc(&reply->text, '\n');
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "key", app->args.pos[0]);
    al_jw_key(&w, "value");
    al_jw_value(&w, entry);
    al_jw_kstrz(&w, "from", "user");
    al_jw_kstrz(&w, "origin", app->user_file);
    al_jw_end(&w);
    return 0;
}

int al_cmd_config_get(struct al_app *app, struct al_reply *reply)
{
    enum al_opt o;
    struct al_jw w;
    if (al_str_starts(al_str_of(app->args.pos[0]), "providers."))
        return get_provider(app, reply);
    if (strcmp(app->args.pos[0], "mcp.servers") == 0)
        return get_servers(app, reply);
    if (al_opt_find(al_str_of(app->args.pos[0]), &o, &reply->err) < 0 || al_app_config(app, &reply->err) < 0)
        return -1;
    autobuf struct al_buf value = AL_BUF_INIT(1 << 20);
    autoarena struct al_arena arena = AL_ARENA_INIT(8u << 20);
    const struct al_json *v;
    al_config_value_json(app->config, o, &value);
    if (al_json_parse(&arena, al_buf_str(&value), &v, &reply->err) < 0)
        return -1;
    if (al_json_is_string(v))
        al_say_foreign(app, &reply->text, v->str, false);
    else
        al_say_foreign(app, &reply->text, al_buf_str(&value), false);
    al_buf_addc(&reply->text, '\n');
    al_jw_init(&w, &reply->structured);
    option_json(app, o, &w);
    return 0;
}

struct member {
    struct al_str key, value;
};

static int edit_member(void *ud, struct al_str old, struct al_buf *out, struct al_err *err)
{
    const struct member *m = ud;
    return al_providers_edit_set(old, m->key, m->value, out, err);
}

/* Fine, but perhaps not what was meant. */
static void look_at_provider(struct al_app *app, enum al_opt o, struct al_str value)
{
    struct al_provider p = {0};
    struct al_err err;
    if (o != AL_OPT_PROVIDER || al_str_is(value, "null") || al_app_config(app, &err) < 0)
        return;
    autofree char *name = al_xdup(value.p, value.n);
    if (al_endpoint_provider(app, name, &p, &err) < 0)
        al_app_warn(app, "%s: %s", err.msg, err.hint);
    al_provider_fini(&p);
}

int al_cmd_config_set(struct al_app *app, struct al_reply *reply)
{
    struct member m = {al_str_of(app->args.pos[0]), al_str_of(app->args.pos[1])};
    struct al_str value = m.value;
    bool of_provider = al_str_starts(m.key, "providers.");
    enum al_opt o = AL_OPT_COUNT;
    struct al_jw w;
    autofree char *file = user_file();
    if (of_provider
            ? al_config_user_edit(file, edit_member, &m, &reply->err) < 0
            : al_opt_find(m.key, &o, &reply->err) < 0 || al_config_set(file, m.key, value, &reply->err) < 0)
        return -1;
    if (!of_provider)
        look_at_provider(app, o, value);
    const char *key = of_provider ? app->args.pos[0] : al_opt_name(o);
    al_buf_addf(&reply->text, "%s is now ", key);
    al_say_foreign(app, &reply->text, value, false);
    al_buf_adds(&reply->text, " in ");
    al_say_foreign(app, &reply->text, al_str_of(file), false);
    al_buf_addc(&reply->text, '\n');
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "key", key);
    al_jw_kstrz(&w, "file", file);
    al_jw_end(&w);
    return 0;
}

int al_cmd_config_path(struct al_app *app, struct al_reply *reply)
{
    struct al_jw w;
    autofree char *file = user_file();
    al_say_foreign(app, &reply->text, al_str_of(file), false);
    al_buf_addc(&reply->text, '\n');
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "path", file);
    al_jw_end(&w);
    return 0;
}
