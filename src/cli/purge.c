#include "cli/commands.h"
#include "cli/run_text.h"
#include "cli/session_scratch.h"

#include "base/mem.h"
#include "os/path.h"

#include <string.h>

#define MAX_SESSIONS 4096

struct sessions {
    char (*id)[AL_ID_MAX];
    size_t n;
};

static bool collect(void *ud, const struct al_session *s)
{
    struct sessions *all = ud;
    memcpy(all->id[all->n++], s->id, AL_ID_MAX);
    return all->n < MAX_SESSIONS;
}

static void count_reply(struct al_reply *reply, int n, int datasets, const char *of)
{
    struct al_jw w;
    al_buf_addf(&reply->text, "deleted %d run%s", n, n == 1 ? "" : "s");
    if (of) {
        al_buf_adds(&reply->text, ", datasets, artifacts, Python jobs, state, grants, scratchpads and trust of ");
        al_buf_adds(&reply->text, of);
    } else {
        al_buf_addf(&reply->text, " and %d dataset%s", datasets, datasets == 1 ? "" : "s");
    }
    al_buf_addc(&reply->text, '\n');
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kint(&w, "deletedRuns", n);
    if (!of)
        al_jw_kint(&w, "deletedDatasets", datasets);
    if (of)
        al_jw_kstrz(&w, "workspace", of);
    al_jw_end(&w);
}

/* The folder may be gone already; then the path is taken as it was written. */
static char *workspace_path(const char *word, struct al_err *err)
{
    struct al_err gone = {0};
    char *real = al_path_real(word, &gone);
    if (real)
        return real;
    if (gone.code == AL_NOT_FOUND && word[0] == '/')
        return al_xstrdup(word);
    *err = gone;
    al_wrap(err, "--workspace");
    al_hint(err, "give the whole path of a folder that is gone");
    return NULL;
}

static int purge_workspace(struct al_app *app, struct al_reply *reply)
{
    autofree char *dir = workspace_path(app->args.value[AL_FLAG_WORKSPACE], &reply->err);
    struct sessions all = {.id = al_xcalloc(MAX_SESSIONS, AL_ID_MAX)};
    int r = dir ? 0 : -1;
    if (r == 0)
        r = al_app_config(app, &reply->err);
    if (r == 0)
        r = al_app_store(app, &reply->err);
    if (r == 0)
        r = al_store_session_each(app->store, dir, collect, &all, &reply->err);
    /* The rows first: BUSY while something runs, and then nothing is touched. */
    int n = r == 0 ? al_store_purge_workspace(app->store, dir, &reply->err) : -1;
    for (size_t i = 0; n >= 0 && i < all.n; i++)
        al_session_scratch_remove(app, dir, all.id[i]);
    free(all.id);
    if (n < 0)
        return -1;
    struct al_err ignored;
    if (al_store_trust_revoke(app->store, dir, &ignored) < 0 && ignored.code != AL_NOT_FOUND)
        al_app_warn(app, "its trust is still there: %s", ignored.msg);
    count_reply(reply, n, 0, dir);
    return 0;
}

static int purge_old(struct al_app *app, struct al_reply *reply)
{
    const char *word = app->args.value[AL_FLAG_OLDER_THAN];
    int64_t age;
    if (!al_parse_age(al_str_of(word), &age)) {
        al_fail(&reply->err, AL_INVALID_INPUT, "%.40s is no age", word);
        return al_hint(&reply->err, "a number and a unit: 90m, 12h, 30d, 8w");
    }
    if (al_app_store(app, &reply->err) < 0)
        return -1;
    int n = al_store_purge_before(app->store, al_wall_ms() - age, &reply->err);
    int datasets = n < 0 ? -1 : al_store_dataset_purge_before(app->store, al_wall_ms() - age, &reply->err);
    if (datasets < 0)
        return -1;
    count_reply(reply, n, datasets, NULL);
    return 0;
}

static int purge_dataset(struct al_app *app, struct al_reply *reply)
{
    const char *id = app->args.value[AL_FLAG_DATASET];
    struct al_jw w;
    if (!al_id_valid(al_str_of(id), "ds")) {
        al_fail(&reply->err, AL_INVALID_INPUT, "%.80s is not the id of a dataset", id);
        return al_hint(&reply->err, "`alisio data list` shows the ids");
    }
    if (al_app_store(app, &reply->err) < 0 || al_store_dataset_delete(app->store, id, &reply->err) < 0)
        return -1;
    al_buf_addf(&reply->text, "deleted %s\n", id);
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "deletedDataset", id);
    al_jw_end(&w);
    return 0;
}

int al_cmd_purge(struct al_app *app, struct al_reply *reply)
{
    bool workspace = al_args_has(&app->args, AL_FLAG_WORKSPACE),
         old = al_args_has(&app->args, AL_FLAG_OLDER_THAN),
         dataset = al_args_has(&app->args, AL_FLAG_DATASET);
    int n = workspace + old + dataset;
    if (n != 1) {
        al_fail(&reply->err, AL_INVALID_INPUT,
                n ? "--workspace, --older-than and --dataset exclude each other" : "what is to be purged?");
        return al_hint(&reply->err, "give --workspace DIR, --older-than AGE or --dataset ds_ID");
    }
    return workspace ? purge_workspace(app, reply) : old ? purge_old(app, reply) : purge_dataset(app, reply);
}
