#include "cli/app.h"

#include "cli/ask.h"

#include <stdio.h>

struct waiting {
    struct al_app *app;
    struct al_reply *reply;
    struct al_call *call; /* NULL once it has ended */
    bool done;
};

static void ask_person(void *ud, const struct al_ask *ask)
{
    al_ask_approval(((struct waiting *)ud)->app, ask, false);
}

static void move_buf(struct al_buf *to, struct al_buf *from)
{
    al_buf_free(to);
    *to = *from;
    *from = (struct al_buf){.max = from->max};
}

static void on_done(void *ud, struct al_call *call)
{
    struct waiting *w = ud;
    move_buf(&w->reply->model_text, &call->text);
    move_buf(&w->reply->structured, &call->structured);
    w->reply->err = call->err;
    snprintf(w->reply->execution_id, sizeof w->reply->execution_id, "%s", call->execution_id);
    w->call = NULL;
    w->done = true;
}

static void on_progress(void *ud, struct al_str json)
{
    struct waiting *w = ud;
    if (!w->app->mid_line)
        al_app_progress(w->app, json);
}

static void on_output(void *ud, bool is_error, struct al_str bytes)
{
    struct waiting *w = ud;
    w->app->on_output(w->app->on_output_ud, is_error, bytes);
}

static void stop(void *ud)
{
    struct waiting *w = ud;
    al_app_note(w->app, "stopping; once more ends it at once");
    al_ask_end(w->app);
    if (w->call)
        al_call_cancel(w->call);
}

int al_app_call(struct al_app *app, struct al_str tool, struct al_str args_json, struct al_reply *reply)
{
    struct waiting w = {.app = app, .reply = reply};
    if (al_app_core(app, "cli", &reply->err) < 0)
        return -1;
    /* Without its socket a run can still be stopped by its process, so this is no reason not to run. */
    struct al_err err;
    if (al_control_listen(app->core, &err) < 0)
        al_app_warn(app, "other terminals cannot stop this run in order: %s", err.msg);
    struct al_call_spec spec = {
        .tool = tool,
        .args_json = args_json,
        .origin = AL_ORIGIN_CLI,
        .ask = al_app_can_ask(app) ? ask_person : NULL,
        .progress = on_progress,
        .output = app->on_output ? on_output : NULL,
        .done = on_done,
        .ud = &w,
    };
    al_app_catch_signals(app, stop, &w);
    w.call = al_core_call(app->core, &spec);
    al_loop_run_until(app->loop, &w.done, 0);
    app->on_signal = NULL;
    al_ask_end(app);
    al_app_progress_end(app);
    return reply->err.code == AL_OK ? 0 : -1;
}
