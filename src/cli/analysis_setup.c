/* analysis setup, analysis sweep. */
#include "cli/commands.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/app.h"
#include "core/janitor.h"
#include "pyrun/extras.h"
#include "pyrun/oci.h"
#include "pyrun/wasm.h"

#include <limits.h>
#include <pthread.h>
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

/* --- back ends: a long work on the pool, whose notes are shown from the loop's thread --- */

#define FETCH_MS (15 * 60 * UINT64_C(1000))
#define SHOW_MS 200

struct fetch {
    struct al_app *app;
    struct al_pyrun *pyrun;
    const char *what; /* a name of an image, or a folder; NULL: none */
    int (*work)(struct fetch *f);
    pthread_mutex_t lock; /* of line */
    char line[200];
    bool done;
    int r;
    struct al_err err;
    struct al_oci_image image;
    struct al_wasm_runtime runtime;
};

static void on_note(void *ud, struct al_str line)
{
    struct fetch *f = ud;
    struct al_str head = al_utf8_cut(al_str_trim(line), sizeof f->line - 1);
    pthread_mutex_lock(&f->lock);
    snprintf(f->line, sizeof f->line, "%.*s", AL_FMT(head));
    pthread_mutex_unlock(&f->lock);
}

static void show_note(void *ud)
{
    struct fetch *f = ud;
    autobuf struct al_buf json = AL_BUF_INIT(2048), shown = AL_BUF_INIT(1024);
    struct al_jw w;
    pthread_mutex_lock(&f->lock);
    al_text_visible(&shown, al_str_of(f->line), false);
    f->line[0] = 0;
    pthread_mutex_unlock(&f->lock);
    if (!shown.n)
        return;
    al_jw_init(&w, &json);
    al_jw_obj(&w);
    al_jw_kstr(&w, "note", al_buf_str(&shown));
    al_jw_end(&w);
    al_app_progress(f->app, al_buf_str(&json));
}

static int fetch_image(struct fetch *f)
{
    return al_oci_setup(f->pyrun, f->what, FETCH_MS, on_note, f, &f->image, &f->err);
}

static int fetch_wasm(struct fetch *f)
{
    return al_wasm_setup(f->pyrun, f->what, FETCH_MS, on_note, f, &f->runtime, &f->err);
}

static void fetch_work(void *ud)
{
    struct fetch *f = ud;
    f->r = f->work(f);
}

static void fetch_done(void *ud)
{
    struct fetch *f = ud;
    f->done = true;
}

/* A signal ends the process: nothing is in its place before all of it is. */
static int fetch(struct al_app *app, struct fetch *f, struct al_err *err)
{
    f->app = app;
    f->pyrun = al_core_pyrun(app->core);
    pthread_mutex_init(&f->lock, NULL);
    struct al_timer *timer = al_timer_every(app->loop, SHOW_MS, show_note, f);
    al_work_start(app->loop, fetch_work, fetch_done, f);
    al_loop_run_until(app->loop, &f->done, 0);
    al_timer_stop(timer);
    al_app_progress_end(app);
    pthread_mutex_destroy(&f->lock);
    if (f->r < 0)
        *err = f->err;
    return f->r;
}

static int setup_oci(struct al_app *app, struct al_reply *reply)
{
    struct fetch f = {.what = app->args.value[AL_FLAG_IMAGE], .work = fetch_image};
    struct al_jw w;
    if (fetch(app, &f, &reply->err) < 0)
        return -1;
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "image", f.image.pinned);
    al_jw_kstrz(&w, "imageId", f.image.id);
    al_jw_kstrz(&w, "python", f.image.python);
    al_jw_kstrz(&w, "engine", f.image.engine);
    al_jw_end(&w);
    al_buf_addf(&reply->text, "%s\nPython %s, by %s\n", f.image.pinned, f.image.python, f.image.engine);
    if (f.what)
        al_buf_addf(&reply->note, "alisio config set analysis.oci.image %s\n", f.image.pinned);
    return 0;
}

static int setup_wasm(struct al_app *app, struct al_reply *reply)
{
    const char *from = app->args.value[AL_FLAG_FROM];
    char real[PATH_MAX];
    struct al_jw w;
    if (from && !realpath(from, real))
        return al_fail(&reply->err, AL_NOT_FOUND, "there is no folder %.200s", from);
    struct fetch f = {.what = from ? real : NULL, .work = fetch_wasm};
    if (fetch(app, &f, &reply->err) < 0)
        return -1;
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "version", AL_WASM_VERSION);
    al_jw_kstrz(&w, "path", f.runtime.path);
    al_jw_kint(&w, "bytes", (int64_t)f.runtime.bytes);
    al_jw_kbool(&w, "wasThere", f.runtime.was_there);
    al_jw_end(&w);
    al_buf_addf(&reply->text, "Pyodide " AL_WASM_VERSION " (Python " AL_WASM_PYTHON ") %s\n",
                f.runtime.was_there ? "is there already" : "is installed");
    free(f.runtime.path);
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
    return oci ? setup_oci(app, reply) : setup_wasm(app, reply);
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
