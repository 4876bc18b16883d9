#include "cli/agent_cmd.h"
#include "cli/commands.h"

int al_cmd_sessions_export(struct al_app *app, struct al_reply *reply)
{
    (void)app;
    return al_fail(&reply->err, AL_RUNTIME_UNAVAILABLE, "not there yet");
}
