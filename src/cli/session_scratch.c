#include "cli/session_scratch.h"

#include "base/mem.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct al_scratch *al_session_scratch(struct al_app *app, const char *workspace, const char *session,
                                      struct al_err *err)
{
    struct al_scratch_opts o = {
        .base = al_config_text(app->config, AL_OPT_FORGE_SCRATCH_ROOT),
        .state_dir = al_store_dir(app->store),
        .workspace = workspace,
        .session = session,
        .max_bytes = (uint64_t)al_config_int(app->config, AL_OPT_FORGE_SCRATCH_MAX_BYTES),
    };
    struct al_scratch *scratch = NULL;
    return al_scratch_new(&o, &scratch, err) < 0 ? NULL : scratch;
}

/* The scratchpad's own folder, its session's and its workspace's; the last two only when nothing else is in
 * them. */
static void remove_folders(const char *path)
{
    autofree char *p = al_xstrdup(path);
    for (int up = 0; up < 3; up++) {
        char *slash = strrchr(p, '/');
        if (!slash || slash == p || unlinkat(AT_FDCWD, p, AT_REMOVEDIR) < 0)
            return;
        *slash = 0;
    }
}

void al_session_scratch_remove(struct al_app *app, const char *workspace, const char *session)
{
    struct al_err err = {0};
    struct al_scratch *scratch = al_session_scratch(app, workspace, session, &err);
    if (!scratch || al_scratch_empty(scratch, &err) < 0)
        al_app_warn(app, "the scratchpad of %s is still there: %s", session, err.msg);
    const char *path = scratch ? al_scratch_path(scratch) : NULL;
    if (path)
        remove_folders(path);
    al_scratch_free(scratch);
}
