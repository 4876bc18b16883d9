#include "cli/app.h"
#include "cli/commands.h"
#include "cli/run_text.h"

#include "os/fd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The run belongs to another process: its events are read from the journal this often. */
#define POLL_MS 50

struct logs {
    struct al_app *app;
    struct al_reply *reply;
    struct al_run run;
    struct al_jw w; /* with --json: the events */
    struct al_buf out;
    int64_t after;
    bool ended, failed;
};

static void say_progress(struct logs *l, struct al_str body)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 20);
    const struct al_json *v;
    struct al_err err;
    if (al_json_parse(&arena, body, &v, &err) < 0)
        return;
    const struct al_json *completed = al_json_get(v, "completed"), *total = al_json_get(v, "total");
    al_buf_adds(&l->out, "progress:");
    if (completed) {
        al_buf_addc(&l->out, ' ');
        al_buf_add_str(&l->out, completed->raw);
    }
    if (completed && total) {
        al_buf_addc(&l->out, '/');
        al_buf_add_str(&l->out, total->raw);
    }
    struct al_str note = al_json_get_text(v, "note");
    if (note.n) {
        al_buf_addc(&l->out, ' ');
        al_say_foreign(l->app, &l->out, note, false);
    }
    al_buf_addc(&l->out, '\n');
}

static bool on_event(void *ud, int64_t seq, const char *type, struct al_str body, int64_t at_ms)
{
    struct logs *l = ud;
    bool print = strcmp(type, "print") == 0;
    l->after = seq;
    if (l->app->json) {
        al_jw_obj(&l->w);
        al_jw_kint(&l->w, "seq", seq);
        al_jw_kstrz(&l->w, "type", type);
        al_jw_ktime(&l->w, "at", at_ms);
        al_jw_kstr(&l->w, print ? "text" : "body", body);
        al_jw_end(&l->w);
        if (print)
            al_buf_add_str(&l->reply->text, body);
        return !al_buf_failed(l->w.out);
    }
    if (print)
        al_say_foreign(l->app, &l->out, body, true);
    else
        say_progress(l, body);
    return true;
}

/* What is new goes out at once: a reader of the pipe waits for it. */
static int flush(struct logs *l)
{
    int r = l->out.n ? al_fd_write_all(STDOUT_FILENO, al_buf_str(&l->out)) : 0;
    al_buf_clear(&l->out);
    return r;
}

static int read_new(struct logs *l)
{
    struct al_err *err = &l->reply->err;
    if (al_store_event_each(l->app->store, l->run.id, l->after, on_event, l, err) < 0)
        return -1;
    int r = flush(l);
    if (r == -EPIPE)
        l->ended = true; /* nobody reads any more */
    else if (r < 0)
        return al_fail_errno(err, AL_INTERNAL, -r, "cannot write to standard output");
    return 0;
}

/* Whether the run goes on; a run whose process has died is closed by this. */
static int look(struct logs *l)
{
    struct al_err *err = &l->reply->err;
    struct al_run now = {0};
    if (al_store_run_get(l->app->store, l->run.id, &now, err) < 0)
        return -1;
    bool live = al_run_live(&now);
    if (live && !al_store_host_alive(l->app->store, now.host_id)) {
        live = false;
        if (al_store_recover(l->app->store, err) < 0) {
            al_run_fini(&now);
            return -1;
        }
    }
    l->ended = !live;
    al_run_fini(&now);
    return 0;
}

static void poll_once(void *ud)
{
    struct logs *l = ud;
    /* Ended is looked at first, then what it said last is read. */
    if (look(l) < 0 || read_new(l) < 0)
        l->failed = true;
    if (l->failed || l->ended)
        al_loop_stop(l->app->loop);
}

static void stop(void *ud)
{
    struct logs *l = ud;
    al_loop_stop(l->app->loop);
}

static void follow(struct logs *l)
{
    struct al_loop *loop = l->app->loop;
    struct al_timer *timer = al_timer_every(loop, POLL_MS, poll_once, l);
    al_loop_run(loop);
    al_timer_stop(timer);
}

int al_cmd_runs_logs(struct al_app *app, struct al_reply *reply)
{
    struct logs l = {.app = app, .reply = reply, .out = AL_BUF_INIT(64u << 20)};
    if (al_app_run_id(app, app->args.pos[0], &l.run, &reply->err) < 0)
        return -1;
    snprintf(reply->execution_id, sizeof reply->execution_id, "%s", l.run.id);
    al_jw_init(&l.w, &reply->structured);
    al_jw_obj(&l.w);
    al_jw_key(&l.w, "events");
    al_jw_arr(&l.w);
    bool following = al_args_has(&app->args, AL_FLAG_FOLLOW);
    if (following)
        al_app_catch_signals(app, stop, &l);
    l.failed = look(&l) < 0 || read_new(&l) < 0;
    if (!l.failed && !l.ended && following)
        follow(&l);
    app->on_signal = NULL;
    al_jw_end(&l.w);
    al_jw_end(&l.w);
    al_buf_free(&l.out);
    al_run_fini(&l.run);
    return l.failed ? -1 : 0;
}
