#include "cli/app.h"
#include "cli/commands.h"

#include "base/mem.h"
#include "cli/mcp_token.h"
#include "core/janitor.h"
#include "mcp/mcp.h"

#include <stdio.h>
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

/* Where it serves besides standard input and output: then not there. token is malloc'ed. */
static int read_http(struct al_app *app, struct al_mcp_opts *o, char **token, char **token_path,
                     struct al_err *err)
{
    const struct al_args *args = &app->args;
    bool port = al_args_has(args, AL_FLAG_HTTP);
    o->socket_path = args->value[AL_FLAG_SOCKET];
    if (port && o->socket_path) {
        al_fail(err, AL_INVALID_INPUT, "--http and --socket are two places to serve");
        return al_hint(err, "give one of them");
    }
    if (!port && !o->socket_path && al_args_has(args, AL_FLAG_ALLOW_HOST)) {
        al_fail(err, AL_INVALID_INPUT, "--allow-host belongs to --http or --socket");
        return al_hint(err, "give one of them, or leave --allow-host out");
    }
    if (!port && !o->socket_path)
        return 0;
    o->http = true;
    o->in_fd = o->out_fd = -1;
    o->port = port ? (int)args->number[AL_FLAG_HTTP] : -1;
    o->allow_hosts = args->list[AL_LIST_ALLOW_HOSTS];
    if (al_mcp_token(token, token_path, err) < 0)
        return -1;
    o->token = *token;
    return 0;
}

/* How to reach it. The token itself is never printed: what is on a screen or in a log is soon elsewhere. */
static void say_where(const struct al_mcp *m, const struct al_mcp_opts *o, const char *token_path)
{
    if (o->socket_path)
        fprintf(stderr, "alisio: MCP on the socket %s, as http://localhost/mcp\n", o->socket_path);
    else
        fprintf(stderr, "alisio: MCP on http://127.0.0.1:%d/mcp\n", al_mcp_port(m));
    if (token_path)
        fprintf(stderr, "alisio: requests need \"Authorization: Bearer TOKEN\"; the token: cat %s\n",
                token_path);
    else
        fprintf(stderr, "alisio: requests need \"Authorization: Bearer TOKEN\", as in ALISIO_MCP_TOKEN\n");
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
    autofree char *token = NULL, *token_path = NULL;
    /* Standard output is the protocol's; failures before it starts are told on standard error. */
    reply->written = true;
    app->json = false;
    o.roots_are_workspace = !al_args_has(&app->args, AL_FLAG_CWD);
    if (read_expose(app, &o, &reply->err) < 0 || read_http(app, &o, &token, &token_path, &reply->err) < 0 ||
        al_app_core(app, "mcp", &reply->err) < 0 || read_relay(app, &o, &reply->err) < 0)
        return -1;
    if (al_control_listen(app->core, &err) < 0)
        al_app_warn(app, "other terminals cannot stop runs in order: %s", err.msg);
    s.mcp = al_mcp_start(app->core, &o, on_ended, &s, &reply->err);
    if (!s.mcp)
        return -1;
    if (o.http)
        say_where(s.mcp, &o, token_path);
    al_core_janitor_start(app->core);
    if (app->upstreams)
        al_upstreams_fetch_missing(app->upstreams);
    al_app_catch_signals(app, stop, &s);
    al_loop_run_until(app->loop, &s.ended, 0);
    app->on_signal = NULL;
    al_mcp_free(s.mcp);
    return 0;
}
