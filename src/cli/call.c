#include "cli/app.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/ask_text.h"
#include "os/fd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

struct waiting {
    struct al_app *app;
    struct al_reply *reply;
    struct al_call *call; /* NULL once it has ended */
    bool done;
};

/* --- the question before a run with `uses` --- */

struct al_ask_state {
    struct al_app *app;
    struct al_watch *watch;
    void (*answer)(void *ud, enum al_approval approval);
    void *ud;
    char line[256]; /* what was typed since the question */
    size_t n;
};

static void answer(struct al_app *app, enum al_approval approval)
{
    struct al_ask_state *asking = app->asking;
    if (!asking)
        return;
    void (*fn)(void *, enum al_approval) = asking->answer;
    void *ud = asking->ud;
    app->asking = NULL;
    al_watch_stop(asking->watch);
    free(asking);
    fn(ud, approval);
}

static void on_typed(void *ud, int events)
{
    struct al_ask_state *asking = ud;
    (void)events;
    ssize_t n = read(STDIN_FILENO, asking->line + asking->n, sizeof asking->line - asking->n);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        answer(asking->app, AL_APPROVAL_NONE);
        return;
    }
    const char *end = memchr(asking->line + asking->n, '\n', (size_t)n);
    asking->n += (size_t)n;
    if (!end && asking->n < sizeof asking->line)
        return;
    /* A line that is no yes is a no. */
    struct al_str s = al_str_trim((struct al_str){asking->line, end ? (size_t)(end - asking->line) : 0});
    bool yes = al_str_is(s, "y") || al_str_is(s, "Y") || al_str_is(s, "yes") || al_str_is(s, "Yes");
    answer(asking->app, yes ? AL_APPROVAL_ONCE : AL_APPROVAL_DENY);
}

static void say_question(struct al_app *app, const struct al_ask *ask)
{
    autobuf struct al_buf b = AL_BUF_INIT(32 << 20);
    al_app_progress_end(app);
    al_ask_text(ask, true, &b);
    al_buf_adds(&b, "\n\n");
    if (!ask->install) {
        al_buf_adds(&b, "It asks for: ");
        al_buf_adds(&b, al_style_on(app->err_color, AL_WARN));
        al_text_plain(&b, ask->tools, false);
        al_buf_adds(&b, al_style_off(app->err_color, AL_WARN));
        al_buf_addc(&b, '\n');
    }
    (void)!al_fd_write_all(STDERR_FILENO, al_buf_str(&b));
    /* What was typed before all of that could be read answers nothing. */
    tcflush(STDIN_FILENO, TCIFLUSH);
    (void)!al_fd_write_all(STDERR_FILENO, al_str_of(al_ask_prompt(ask)));
    (void)!al_fd_write_all(STDERR_FILENO, AL_STR(" [y/N] "));
}

static void ask_person(void *ud, const struct al_ask *ask)
{
    struct al_app *app = ((struct waiting *)ud)->app;
    struct al_err err;
    struct al_ask_state *asking = al_xcalloc(1, sizeof *asking);
    *asking = (struct al_ask_state){.app = app, .answer = ask->answer, .ud = ask->ud};
    say_question(app, ask);
    app->asking = asking;
    asking->watch = al_watch_start(app->loop, STDIN_FILENO, AL_READABLE, on_typed, asking, &err);
    if (!asking->watch)
        answer(app, AL_APPROVAL_NONE);
}

/* --- the call --- */

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
    answer(w->app, AL_APPROVAL_NONE);
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
    al_app_progress_end(app);
    return reply->err.code == AL_OK ? 0 : -1;
}
