#include "cli/app.h"
#include "cli/commands.h"

#include "mcp/mcp.h"

#include <string.h>
#include <unistd.h>

struct serving {
    struct al_mcp *mcp;
    bool ended;
};

static int read_expose(struct al_app *app, struct al_mcp_opts *o, struct al_err *err)
{
    const char *p = app->args.value[AL_FLAG_EXPOSE];
    while (p && *p) {
        struct al_str word = {p, strcspn(p, ",")};
        if (al_str_is(word, "files"))
            o->expose_files = true;
        else if (al_str_is(word, "process"))
            o->expose_process = true;
        else if (al_str_is(word, "upstream"))
            o->expose_upstream = true;
        else {
            al_fail(err, AL_INVALID_INPUT, "--expose does not know \"%.*s\"",
                    (int)(word.n > 40 ? 40 : word.n), word.p);
            return al_hint(err, "files, process, upstream, or several of them: files,upstream");
        }
        p += word.n + (p[word.n] == ',');
    }
    return 0;
}

static int read_relay(struct al_app *app, struct al_mcp_opts *o, struct al_err *err)
{
    o->upstreams = app->upstreams;
    o->plain_names = al_args_has(&app->args, AL_FLAG_PLAIN_NAMES);
    if (!o->plain_names)
        return 0;
    if (!o->expose_upstream) {
        al_fail(err, AL_INVALID_INPUT, "--plain-names belongs to --expose upstream");
        return al_hint(err, "give --expose upstream, too, or leave --plain-names out");
    }
    if (app->servers.n == 1)
        return 0;
    al_fail(err, AL_INVALID_INPUT, "--plain-names is for one server, and %zu are configured", app->servers.n);
    return al_hint(err, "leave --plain-names out: names then begin with their server's");
}

static void on_ended(void *ud)
{
    struct serving *s = ud;
    s->ended = true;
}

static void stop(void *ud)
{
    struct serving *s = ud;
    al_mcp_stop(s->mcp);
}

int al_cmd_mcp(struct al_app *app, struct al_reply *reply)
{
    struct al_mcp_opts o = {.in_fd = STDIN_FILENO, .out_fd = STDOUT_FILENO, .port = -1};
    struct serving s = {0};
    struct al_err err;
    /* Standard output is the protocol's; failures before it starts are told on standard error. */
    reply->written = true;
    app->json = false;
    o.roots_are_workspace = !al_args_has(&app->args, AL_FLAG_CWD);
    if (read_expose(app, &o, &reply->err) < 0 || al_app_core(app, "mcp", &reply->err) < 0 ||
        read_relay(app, &o, &reply->err) < 0)
        return -1;
    if (al_control_listen(app->core, &err) < 0)
        al_app_warn(app, "other terminals cannot stop runs in order: %s", err.msg);
    s.mcp = al_mcp_start(app->core, &o, on_ended, &s, &reply->err);
    if (!s.mcp)
        return -1;
    al_app_catch_signals(app, stop, &s);
    al_loop_run_until(app->loop, &s.ended, 0);
    app->on_signal = NULL;
    al_mcp_free(s.mcp);
    return 0;
}
