/* analysis setup, analysis sweep. */
#include "cli/commands.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/app.h"
#include "core/janitor.h"
#include "pyrun/extras.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_LOCK (4u << 20)

struct setup {
    struct al_app *app;
    struct al_reply *reply;
    struct al_py_install *install;
    bool done;
};

/* --- extras --- */

static void on_progress(void *ud, struct al_str json)
{
    struct setup *s = ud;
    al_app_progress(s->app, json);
}

static void on_end(void *ud, const struct al_err *err)
{
    struct setup *s = ud;
    s->reply->err = *err;
    s->install = NULL;
    s->done = true;
}

static void stop(void *ud)
{
    struct setup *s = ud;
    al_app_note(s->app, "stopping; once more ends it at once");
    if (s->install)
        al_py_install_cancel(s->install);
}

static int setup_extras(struct al_app *app, struct al_reply *reply)
{
    static const struct al_py_install_ops ops = {.progress = on_progress, .end = on_end};
    const struct al_args *args = &app->args;
    const char *lock_file = args->value[AL_FLAG_LOCK], *from = args->value[AL_FLAG_FROM];
    char real[PATH_MAX];
    autobuf struct al_buf lock = AL_BUF_INIT(MAX_LOCK);
    struct setup s = {.app = app, .reply = reply};
    if (lock_file && al_app_read_text(lock_file, MAX_LOCK, &lock, &reply->err) < 0)
        return -1;
    if (from && !realpath(from, real))
        return al_fail(&reply->err, AL_NOT_FOUND, "there is no folder %.200s", from);
    struct al_py_install_spec spec = {
        .set = args->value[AL_FLAG_EXTRAS], .lock = al_buf_str(&lock), .from = from ? real : NULL};
    s.install = al_py_extras_install(al_core_pyrun(app->core), &spec, &ops, &s, &reply->err);
    if (!s.install)
        return -1;
    al_app_catch_signals(app, stop, &s);
    al_loop_run_until(app->loop, &s.done, 0);
    app->on_signal = NULL;
    al_app_progress_end(app);
    if (reply->err.code != AL_OK)
        return -1;
    struct al_jw w;
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "extras", spec.set);
    al_jw_kbool(&w, "installed", true);
    al_jw_end(&w);
    al_buf_addf(&reply->text, "installed: %s\n",
                lock_file ? "the packages of your lock file"
                          : al_py_extras_set(al_str_of(spec.set))->packages);
    return 0;
}

int al_cmd_analysis_setup(struct al_app *app, struct al_reply *reply)
{
    const struct al_args *args = &app->args;
    bool extras = al_args_has(args, AL_FLAG_EXTRAS), oci = al_args_has(args, AL_FLAG_OCI),
         wasm = al_args_has(args, AL_FLAG_WASM);
    if (extras + oci + wasm != 1) {
        al_fail(&reply->err, AL_INVALID_INPUT, "say what to set up: one of --extras, --oci and --wasm");
        return al_hint(&reply->err, "`alisio analysis setup --help` shows examples");
    }
    if (al_args_has(args, AL_FLAG_READ_ONLY))
        return al_fail(&reply->err, AL_PERMISSION_DENIED, "--read-only installs nothing");
    if (al_app_core(app, "cli", &reply->err) < 0)
        return -1;
    if (extras)
        return setup_extras(app, reply);
    return al_fail(&reply->err, AL_RUNTIME_UNAVAILABLE, "that back end cannot be set up yet");
}

/* --- sweep --- */

struct sweeping {
    struct al_reply *reply;
    bool done;
};

static void on_swept(void *ud, const struct al_swept *swept)
{
    struct sweeping *s = ud;
    struct al_buf *out = &s->reply->text;
    struct al_jw w;
    s->done = true;
    s->reply->err = swept->err;
    al_buf_add_str(out, al_buf_str(&swept->said));
    if (swept->too_soon) {
        al_buf_adds(out, "it was done less than a day ago; --force does it again\n");
    } else if (swept->said.n == 0) {
        al_buf_adds(out, "nothing was due\n");
    } else {
        al_buf_adds(out, "freed ");
        al_text_bytes(out, (uint64_t)swept->jobs.bytes);
        al_buf_adds(out, " of jobs\n");
    }
    al_jw_init(&w, &s->reply->structured);
    al_jw_obj(&w);
    al_jw_kint(&w, "workFolders", swept->jobs.work);
    al_jw_kint(&w, "logFolders", swept->jobs.logs);
    al_jw_kint(&w, "scripts", swept->jobs.scripts);
    al_jw_kint(&w, "jobs", swept->jobs.jobs);
    al_jw_kint(&w, "bytes", swept->jobs.bytes);
    al_jw_kint(&w, "artifacts", swept->artifacts);
    al_jw_kint(&w, "datasets", swept->datasets);
    al_jw_kint(&w, "environments", swept->extras);
    al_jw_end(&w);
}

int al_cmd_analysis_sweep(struct al_app *app, struct al_reply *reply)
{
    struct sweeping s = {.reply = reply};
    if (al_args_has(&app->args, AL_FLAG_READ_ONLY))
        return al_fail(&reply->err, AL_PERMISSION_DENIED, "--read-only removes nothing");
    if (al_app_core(app, "cli", &reply->err) < 0)
        return -1;
    al_core_sweep(app->core, al_args_has(&app->args, AL_FLAG_FORCE), on_swept, &s);
    al_loop_run_until(app->loop, &s.done, 0);
    return reply->err.code == AL_OK ? 0 : -1;
}
