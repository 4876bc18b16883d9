#include "cli/cli.h"
#include "cli/app.h"
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

static int say_version(struct al_reply *reply)
{
    snprintf(reply->tool, sizeof reply->tool, "version");
    al_buf_adds(&reply->text, "alisio " AL_VERSION "\n");
    al_buf_adds(&reply->structured, "{\"version\":\"" AL_VERSION "\"}");
    return 0;
}

static int dispatch(struct al_app *app, struct al_reply *reply)
{
    const struct al_args *args = &app->args;
    if (al_args_has(args, AL_FLAG_VERSION)) {
        reply->stream = false;
        return say_version(reply);
    }
    reply->stream &= !al_args_has(args, AL_FLAG_HELP);
    if (al_args_has(args, AL_FLAG_HELP) || !args->command) {
        snprintf(reply->tool, sizeof reply->tool, "help");
        if (args->command)
            al_help_command(app->color, args->command, &reply->text);
        else if (args->group)
            al_help_group(app->color, args->group, &reply->text);
        else
            al_help_all(app->color, &reply->text);
        return 0;
    }
    return args->command->run(app, reply);
}

/* Whether a line that could not be read was for a command whose standard output is events. */
static bool names_stream(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const struct al_command *c = argv[i][0] != '-' ? al_command_find(al_str_of(argv[i])) : NULL;
        if (c)
            return c->stream;
    }
    return false;
}

int al_cli_main(int argc, char **argv)
{
    struct al_app app = {0};
    struct al_reply reply;
    struct al_err err = {0};
    int parsed = al_args_parse(argc, argv, &app.args, &err);
    al_app_init(&app);
    al_reply_init(&reply, app.args.command ? app.args.command->name : "alisio");
    reply.stream = app.args.command ? app.args.command->stream : parsed < 0 && names_stream(argc, argv);
    if (parsed < 0)
        reply.err = err;
    else if (dispatch(&app, &reply) < 0 && reply.err.code == AL_OK)
        al_fail(&reply.err, AL_INTERNAL, "`alisio %s` failed without a word", reply.tool);
    int status = al_reply_print(&app, &reply);
    al_reply_free(&reply);
    al_app_close(&app);
    return status;
}
