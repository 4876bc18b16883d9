/* `alisio mcp remove`, `disable` and `enable`. */
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/mcp_common.h"

#include <stdio.h>

struct edit {
    const char *server;
    bool disabled;
};

static int edit_remove(void *ud, struct al_str old, struct al_buf *out, struct al_err *err)
{
    const struct edit *e = ud;
    return al_servers_edit_remove(old, al_str_of(e->server), out, err);
}

static int edit_switch(void *ud, struct al_str old, struct al_buf *out, struct al_err *err)
{
    const struct edit *e = ud;
    return al_servers_edit_switch(old, al_str_of(e->server), e->disabled, out, err);
}

static const struct al_server *find(struct al_app *app, struct al_err *err)
{
    if (al_app_config(app, err) < 0 || al_app_servers(app, err) < 0)
        return NULL;
    return al_mcp_server(app, app->args.pos[0], err);
}

static void begin_json(struct al_jw *w, struct al_reply *reply, const char *server)
{
    al_jw_init(w, &reply->structured);
    al_jw_obj(w);
    al_jw_kstrz(w, "server", server);
}

static bool wants_removal(struct al_app *app, const struct al_server *s, struct al_err *err)
{
    autobuf struct al_buf shown = AL_BUF_INIT(8u << 20), command = AL_BUF_INIT(1024);
    al_say_plain(&shown, s->name);
    al_buf_addc(&shown, '\n');
    al_say_server(s, &shown);
    al_buf_adds(&command, "alisio mcp remove ");
    al_say_quoted(&command, s->name);
    al_buf_adds(&command, " --yes; `alisio mcp disable` switches it off and keeps it");
    al_buf_addc(&command, 0);
    return al_approved(app, al_buf_str(&shown), "Take it out, with its rules and what is known of its tools?",
                       command.p, err);
}

int al_cmd_mcp_remove(struct al_app *app, struct al_reply *reply)
{
    struct al_err *err = &reply->err;
    const struct al_server *s = find(app, err);
    struct al_jw w;
    if (!s || !wants_removal(app, s, err) || al_app_store(app, err) < 0)
        return -1;
    struct edit e = {.server = s->name};
    if (al_config_user_edit(app->user_file, edit_remove, &e, err) < 0 ||
        al_catalog_forget(app->store, s->name, err) < 0)
        return -1;
    al_say_plain(&reply->text, s->name);
    al_buf_adds(&reply->text, " is no longer in ");
    al_say_plain(&reply->text, app->user_file);
    al_buf_addc(&reply->text, '\n');
    begin_json(&w, reply, s->name);
    al_jw_kbool(&w, "removed", true);
    al_jw_end(&w);
    return 0;
}

static int set_switch(struct al_app *app, struct al_reply *reply, bool disabled)
{
    const struct al_server *s = find(app, &reply->err);
    struct al_jw w;
    if (!s)
        return -1;
    struct edit e = {.server = s->name, .disabled = disabled};
    bool changed = s->disabled != disabled;
    if (changed && al_config_user_edit(app->user_file, edit_switch, &e, &reply->err) < 0)
        return -1;
    al_say_plain(&reply->text, s->name);
    al_buf_addf(&reply->text, " is %s %s\n", changed ? "now" : "already", disabled ? "off" : "on");
    begin_json(&w, reply, s->name);
    al_jw_kbool(&w, "disabled", disabled);
    al_jw_kbool(&w, "changed", changed);
    al_jw_end(&w);
    return 0;
}

int al_cmd_mcp_disable(struct al_app *app, struct al_reply *reply)
{
    return set_switch(app, reply, true);
}

int al_cmd_mcp_enable(struct al_app *app, struct al_reply *reply)
{
    return set_switch(app, reply, false);
}
