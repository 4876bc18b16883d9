/* `alisio mcp import`: the servers of another client's file, shown, approved, copied. */
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/mcp_take.h"

#include "base/mem.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MAX_FILE (32u << 20)

struct import {
    struct al_app *app;
    struct al_reply *reply;
    const char *path; /* absolute */
    struct al_servers found;
    struct al_takeover takes;
    struct al_buf shown; /* what a person is asked about */
    struct al_buf notices;
};

static int read_file(struct import *im)
{
    autobuf struct al_buf text = AL_BUF_INIT(MAX_FILE);
    struct al_err *err = &im->reply->err;
    if (al_app_read_text(im->app->args.pos[0], MAX_FILE, &text, err) < 0)
        return -1;
    if (al_servers_read(al_buf_str(&text), al_servers_shape_of(im->path), im->path, &im->found, &im->notices,
                        err) < 0) {
        if (err->hint[0])
            return -1;
        return al_hint(err,
                       "it may be JSON with mcpServers, servers or mcp in it, or the config.toml of Codex");
    }
    al_servers_root(&im->found, 0, im->path, false, &im->notices);
    return 0;
}

static void say_all(struct import *im)
{
    struct al_buf *out = &im->shown;
    al_say_plain(out, im->path);
    al_buf_addf(out, " has %zu MCP server%s:\n", im->found.n, im->found.n == 1 ? "" : "s");
    for (size_t i = 0; i < im->takes.n; i++)
        al_take_say(&im->takes.v[i], out);
    struct al_str rest = al_buf_str(&im->notices);
    while (rest.n) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        al_buf_addf(out, "  left out: %.*s\n", (int)n, rest.p);
        n += end != NULL;
        rest = (struct al_str){rest.p + n, rest.n - n};
    }
}

/* What a person cannot have seen is not asked about. */
static int check_shown(struct import *im)
{
    if (!al_buf_failed(&im->shown) && !al_buf_failed(&im->notices))
        return 0;
    al_fail(&im->reply->err, AL_CONFIG_INVALID, "it is more than can be shown");
    return al_hint(&im->reply->err, "put fewer servers into a file, and import that");
}

static size_t n_chosen(const struct import *im)
{
    size_t n = 0;
    for (size_t i = 0; i < im->takes.n; i++)
        n += im->takes.v[i].chosen;
    return n;
}

static int take_over(struct import *im, size_t n)
{
    struct al_app *app = im->app;
    struct al_buf *out = &im->reply->text;
    struct al_err *err = &im->reply->err;
    autobuf struct al_buf command = AL_BUF_INIT(PATH_MAX * 4);
    al_buf_adds(&command, "alisio mcp import ");
    al_text_shell(&command, al_str_of(app->args.pos[0]));
    al_buf_adds(&command, " --yes");
    al_buf_addc(&command, 0);
    bool asked = al_app_can_ask(app) && !al_args_has(&app->args, AL_FLAG_YES);
    if (!asked)
        al_buf_add_str(out, al_buf_str(&im->shown));
    if (!al_approved(app, al_buf_str(&im->shown), "Copy and start them?", command.p, err))
        return -1;
    if (al_takeover_prepare(app, &im->takes, im->path, err) < 0 ||
        al_config_user_edit(app->user_file, al_takeover_edit, &im->takes, err) < 0)
        return -1;
    al_buf_addf(out, "copied %zu server%s to ", n, n == 1 ? "" : "s");
    al_say_plain(out, app->user_file);
    al_buf_adds(out, "; the policy of their tools:\n");
    al_takeover_say_policy(&im->takes, out);
    al_buf_adds(out, "`alisio mcp allow|ask|deny SERVER 'PATTERN'` changes it\n");
    return 0;
}

int al_cmd_mcp_import(struct al_app *app, struct al_reply *reply)
{
    char real[PATH_MAX];
    struct import im = {.app = app,
                        .reply = reply,
                        .path = realpath(app->args.pos[0], real) ? real : app->args.pos[0],
                        .shown = AL_BUF_INIT(8u << 20),
                        .notices = AL_BUF_INIT(1u << 20)};
    struct al_jw w;
    int r = al_app_config(app, &reply->err) < 0 ? -1 : read_file(&im);
    if (r == 0) {
        al_takeover_init(app, &im.found, &im.takes);
        say_all(&im);
        r = check_shown(&im);
        size_t n = n_chosen(&im);
        if (r < 0) {
            n = 0;
        } else if (n) {
            r = take_over(&im, n);
        } else {
            al_buf_add_str(&reply->text, al_buf_str(&im.shown));
            al_buf_adds(&reply->text, "there is nothing to copy\n");
        }
        al_jw_init(&w, &reply->structured);
        al_jw_obj(&w);
        al_jw_kstrz(&w, "file", im.path);
        al_jw_kbool(&w, "changed", r == 0 && n > 0);
        al_jw_key(&w, "servers");
        al_takeover_json(&im.takes, &w);
        al_jw_kstr(&w, "leftOut", al_buf_str(&im.notices));
        al_jw_end(&w);
    }
    al_takeover_free(&im.takes);
    al_servers_free(&im.found);
    al_buf_free(&im.shown);
    al_buf_free(&im.notices);
    return r;
}
