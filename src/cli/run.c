/* `alisio run` and `alisio resume`. */
#include "base/mem.h"
#include "base/text.h"
#include "cli/agent_cmd.h"
#include "cli/agent_jsonl.h"
#include "cli/agent_text.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "os/fd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROMPT_MAX (1u << 20)
#define TITLE_CHARS 80

struct run {
    struct al_app *app;
    struct al_reply *reply;
    struct al_endpoint e;
    struct al_session session;
    struct al_turn last; /* of a session that goes on */
    struct al_buf prompt;
    struct al_out out;
    struct al_jsonl jsonl;
    struct al_agent_text text;
    struct al_agent *agent;
    bool running, done, stop;
    enum al_agent_outcome outcome;
    struct al_err err; /* of a failure of the turn */
    bool output_truncated;
};

/* --- the prompt --- */

static int empty_prompt(struct al_err *err)
{
    al_fail(err, AL_INVALID_INPUT, "the prompt is empty");
    return al_hint(err, "alisio run \"what is to be done\"; with - it comes from standard input");
}

/* Most often a prompt without its quotes: then it is shown with them. */
static int two_prompts(const struct al_args *args, size_t from, struct al_err *err)
{
    autobuf struct al_buf all = AL_BUF_INIT(160);
    bool plain = true;
    for (size_t i = from; i < args->n_pos; i++) {
        al_buf_addf(&all, "%s%s", i > from ? " " : "", args->pos[i]);
        plain = plain && !strpbrk(args->pos[i], "\"\\$`!\n") && strcmp(args->pos[i], "-") != 0;
    }
    al_fail(err, AL_INVALID_INPUT, "there is more than one prompt");
    if (!plain || al_buf_failed(&all) || !al_utf8_valid(al_buf_str(&all)))
        return al_hint(err, "put the whole prompt in quotes; - stands behind it");
    return al_hint(err, "put the whole prompt in quotes: alisio %s%s \"%.*s\"", args->command->name,
                   from ? " SESSION" : "", AL_FMT(al_buf_str(&all)));
}

/* A file's name alone is a likely slip: the model would read the name. */
static void look_at_prompt(struct run *r)
{
    struct al_str s = al_str_trim(al_buf_str(&r->prompt));
    if (!s.n || s.n > 255 || memchr(s.p, '\n', s.n) || !memchr(s.p, '.', s.n))
        return;
    autofree char *name = al_xdup(s.p, s.n);
    struct stat st;
    if (stat(name, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    autobuf struct al_buf word = AL_BUF_INIT(2048);
    al_text_shell(&word, s);
    al_app_warn(
        r->app,
        "the prompt is a file's name, and only the name is sent; `alisio run - < %.*s` sends what it holds",
        AL_FMT(al_buf_str(&word)));
}

/* Words of the line from the i-th on: a prompt, "-" for standard input, or both. */
static int read_prompt(struct run *r, size_t i, struct al_err *err)
{
    const struct al_args *args = &r->app->args;
    const char *words = NULL;
    bool input = false;
    size_t first = i;
    for (; i < args->n_pos; i++) {
        if (strcmp(args->pos[i], "-") == 0 && !input) {
            input = true;
        } else if (!words && !input) {
            words = args->pos[i];
        } else {
            return two_prompts(args, first, err);
        }
    }
    al_buf_init(&r->prompt, PROMPT_MAX);
    if (words)
        al_buf_adds(&r->prompt, words);
    if (input) {
        autobuf struct al_buf text = AL_BUF_INIT(0);
        if (al_app_read_text("-", PROMPT_MAX, &text, err) < 0)
            return -1;
        struct al_str s = al_buf_str(&text);
        if (al_str_trim(al_buf_str(&r->prompt)).n && al_str_trim(s).n)
            al_buf_adds(&r->prompt, "\n\n");
        al_buf_add_str(&r->prompt, s);
    }
    if (al_buf_failed(&r->prompt)) {
        al_fail(err, AL_INVALID_INPUT, "the prompt is larger than 1 MiB");
        return al_hint(err, "leave the text in a file, and name the file");
    }
    if (!al_utf8_valid(al_buf_str(&r->prompt)))
        return al_fail(err, AL_INVALID_INPUT, "the prompt is not valid UTF-8");
    if ((words || input) && al_str_trim(al_buf_str(&r->prompt)).n == 0)
        return empty_prompt(err);
    return 0;
}

/* --- the session --- */

static int is_agents(const struct al_session *s, struct al_err *err)
{
    if (strcmp(s->kind, "agent") == 0)
        return 0;
    al_fail(err, AL_INVALID_INPUT, "%s holds no conversation with a model (it is a session of kind %s)",
            s->id, s->kind);
    return al_hint(err, "`alisio sessions list` shows the sessions; those of kind agent can go on");
}

int al_agent_session_find(struct al_app *app, const char *word, struct al_session *ret, struct al_err *err)
{
    struct al_session *to = ret;
    if (strcmp(word, "last") != 0) {
        if (!al_id_valid(al_str_of(word), "ses")) {
            al_fail(err, AL_INVALID_INPUT, "%.80s is not the id of a session", word);
            return al_hint(
                err,
                "`alisio sessions list` shows the ids; `last` is the newest conversation of the workspace");
        }
        return al_app_store(app, err) < 0 || al_store_session_get(app->store, word, to, err) < 0
                   ? -1
                   : is_agents(to, err);
    }
    if (al_app_workspace(app, err) < 0 || al_app_store(app, err) < 0)
        return -1;
    char id[AL_ID_MAX] = "";
    if (al_store_session_each(app->store, app->workspace, al_agent_session_newest, id, err) < 0)
        return -1;
    if (id[0])
        return al_store_session_get(app->store, id, to, err);
    al_fail(err, AL_NOT_FOUND, "this workspace has no conversation with a model yet");
    return al_hint(err, "`alisio run \"…\"` begins one; --cwd DIR looks into another workspace");
}

bool al_agent_session_newest(void *ud, const struct al_session *s)
{
    char *id = ud;
    if (strcmp(s->kind, "agent") != 0)
        return true;
    memcpy(id, s->id, AL_ID_MAX);
    return false;
}

/* The first line of the prompt. */
static char *title_of(struct al_str prompt)
{
    prompt = al_str_trim(prompt);
    const char *end = prompt.n ? memchr(prompt.p, '\n', prompt.n) : NULL;
    struct al_str line = al_utf8_head(
        al_str_trim((struct al_str){prompt.p, end ? (size_t)(end - prompt.p) : prompt.n}), TITLE_CHARS);
    return al_xdup(line.p, line.n);
}

static int new_session(struct run *r, struct al_err *err)
{
    autofree char *title = title_of(al_buf_str(&r->prompt));
    return al_store_session_agent(r->app->store, r->app->workspace, title, &r->session, err);
}

/* A conversation goes on in its own folder, unless another is named. */
static void go_to_workspace(struct run *r)
{
    if (!al_args_has(&r->app->args, AL_FLAG_CWD) && access(r->session.workspace, X_OK) == 0)
        r->app->args.value[AL_FLAG_CWD] = r->session.workspace;
}

static bool keep_last(void *ud, const struct al_turn *t)
{
    struct al_turn *last = ud;
    al_turn_fini(last);
    *last = (struct al_turn){.provider = al_xstrdup(t->provider),
                             .base_url = al_xstrdup(t->base_url),
                             .model = al_xstrdup(t->model),
                             .api = al_xstrdup(t->api)};
    return true;
}

static int find_endpoint(struct run *r, struct al_err *err)
{
    struct al_app *app = r->app;
    if (r->session.id[0]) {
        if (al_turn_each(app->store, r->session.id, keep_last, &r->last, err) < 0)
            return -1;
        if (r->last.base_url && al_endpoint_resume(app, &r->last, err) < 0)
            return -1;
    }
    return al_endpoint_find(app, true, &r->e, err);
}

/* What this run has put among the flags is its own. */
static void take_back(struct run *r, const char *mine)
{
    for (size_t i = 0; mine && i < AL_FLAG_COUNT; i++)
        if (r->app->args.value[i] == mine)
            r->app->args.value[i] = NULL;
}

static int find_session(struct run *r, const char *word, struct al_err *err)
{
    if (al_agent_session_find(r->app, word, &r->session, err) < 0)
        return -1;
    if (al_args_has(&r->app->args, AL_FLAG_FORK)) {
        struct al_session copy = {0};
        if (al_store_session_fork(r->app->store, r->session.id, &copy, err) < 0)
            return -1;
        al_session_fini(&r->session);
        r->session = copy;
    }
    go_to_workspace(r);
    return 0;
}

/* --- the turn --- */

static void on_event(void *ud, const struct al_agent_event *e)
{
    struct run *r = ud;
    if (r->app->json)
        al_jsonl_event(&r->jsonl, e);
    else
        al_agent_text_event(&r->text, e);
}

static void on_ask(void *ud, const struct al_ask *ask)
{
    struct run *r = ud;
    al_ask_approval(r->app, ask, true);
}

static void on_question(void *ud, const struct al_agent_question *q)
{
    struct run *r = ud;
    al_ask_questions(r->app, q);
}

static void on_ended(void *ud, const struct al_agent_end *end)
{
    struct run *r = ud;
    r->outcome = end->outcome;
    r->err = end->err;
    r->output_truncated = end->output_truncated;
    if (r->app->json)
        al_jsonl_close(&r->jsonl, end);
    r->running = false;
    r->done = true;
}

static void cancel(struct run *r)
{
    r->stop = true;
    /* First the run: a question that ends unanswered is then no refusal that the model reads. */
    if (r->running)
        al_agent_cancel(r->agent);
    al_ask_end(r->app);
}

static void on_signal(void *ud)
{
    struct run *r = ud;
    al_app_note(r->app, "stopping; once more ends it at once");
    cancel(r);
}

static void cancel_later(void *ud)
{
    struct run *r = ud;
    cancel(r);
}

/* Nobody reads the answer any more. Not from within: it may have been found out while an event was told. */
static void on_gone(void *ud)
{
    struct run *r = ud;
    if (r->running)
        al_defer(r->app->loop, cancel_later, r);
    r->stop = true;
}

static int open_agent(struct run *r, struct al_err *err)
{
    static const struct al_agent_ops asking = {
        .event = on_event, .ask = on_ask, .question = on_question, .ended = on_ended};
    static const struct al_agent_ops headless = {.event = on_event, .ended = on_ended};
    struct al_app *app = r->app;
    bool can_ask = al_app_can_ask(app);
    autofree char *home = al_config_home();
    app->args.value[AL_FLAG_SESSION] = r->session.id;
    if (al_endpoint_open(app, &r->e, err) < 0 || al_app_core(app, "agent", err) < 0)
        return -1;
    struct al_err why;
    if (al_control_listen(app->core, &why) < 0)
        al_app_warn(app, "other terminals cannot stop this run in order: %s", why.msg);
    if (al_workspace_refused(al_core_workspace(app->core), &why))
        al_app_warn(app, "%s; %s", why.msg, why.hint);
    struct al_agent_opts o = {
        .core = app->core,
        .llm = r->e.llm,
        .home = home,
        .terminal = al_fd_is_tty(STDERR_FILENO) ? ttyname(STDERR_FILENO) : NULL,
        .max_turns = app->args.number[AL_FLAG_MAX_TURNS],
        .project_trusted = al_app_repository_trusted(app),
        .headless = !can_ask,
    };
    return al_agent_new(&o, can_ask ? &asking : &headless, r, &r->agent, err);
}

static int turn(struct run *r, struct al_err *err)
{
    if (open_agent(r, err) < 0)
        return -1;
    if (r->stop)
        return al_fail(err, AL_CANCELLED, "cancelled before it began");
    if (al_agent_start(r->agent, al_buf_str(&r->prompt), err) < 0)
        return -1;
    r->running = true;
    if (!r->app->json)
        al_agent_text_waiting(&r->text);
    al_loop_run_until(r->app->loop, &r->done, 0);
    return 0;
}

/* The command goes on where this one stopped, as it is typed: with the endpoint that this line named. */
static void say_next(struct run *r, struct al_err *err)
{
    autobuf struct al_buf flags = AL_BUF_INIT(8192);
    size_t n = strlen(err->hint);
    if (!r->session.id[0] ||
        err->code == AL_PERMISSION_DENIED) /* what is not allowed is not so a second time */
        return;
    al_endpoint_flags(r->app, err->code == AL_UPSTREAM_REJECTED, &flags);
    if (n + flags.n + 80 > sizeof err->hint) /* half a command would be none */
        al_buf_clear(&flags);
    snprintf(err->hint + n, sizeof err->hint - n, "%s`alisio resume %s%.*s` goes on", n ? "; " : "",
             r->session.id, (int)flags.n, flags.n ? flags.p : "");
}

/* How the turn ended, as the exit status and a person's words have it. */
static int outcome(struct run *r, struct al_err *err)
{
    switch (r->outcome) {
    case AL_AGENT_COMPLETED:
        return 0;
    case AL_AGENT_TURNS_EXCEEDED:
        al_fail(err, AL_TURN_LIMIT,
                "the model did not come to an end within the answers that this run may have");
        al_hint(err, "--max-turns N allows more");
        break;
    case AL_AGENT_CANCELLED:
        al_fail(err, AL_CANCELLED, r->out.eno ? "nobody reads the answer any more" : "the run was stopped");
        break;
    case AL_AGENT_FAILED:
        *err = r->err;
        if (err->code == AL_OK)
            al_fail(err, AL_INTERNAL, "the run failed without a word");
        break;
    }
    say_next(r, err);
    return -1;
}

/* --- the commands --- */

static int work(struct run *r, const char *session, size_t prompt_at, struct al_err *err)
{
    struct al_app *app = r->app;
    if (read_prompt(r, prompt_at, err) < 0)
        return -1;
    look_at_prompt(r);
    al_app_catch_signals(app, on_signal, r);
    if (session && find_session(r, session, err) < 0)
        return -1;
    if (find_endpoint(r, err) < 0 || al_app_workspace(app, err) < 0 || al_app_store(app, err) < 0)
        return -1;
    if (!session && new_session(r, err) < 0)
        return -1;
    return turn(r, err);
}

/* With events on standard output every failure but one of the line itself is the end of a run there. */
static void tell_failure(struct run *r, const struct al_err *err)
{
    if (!r->app->json || r->jsonl.ended || (al_code_exit(err->code) == 2 && !r->jsonl.started))
        return;
    struct al_agent_end end = {.outcome = r->app->signal || err->code == AL_CANCELLED ? AL_AGENT_CANCELLED
                                                                                      : AL_AGENT_FAILED,
                               .err = *err};
    snprintf(r->jsonl.session_id, sizeof r->jsonl.session_id, "%s", r->session.id);
    al_jsonl_close(&r->jsonl, &end);
}

static int finish(struct run *r, int result)
{
    struct al_err *err = &r->reply->err;
    al_ask_end(r->app);
    if (result == 0)
        result = outcome(r, err);
    if (result < 0)
        tell_failure(r, err);
    if (!r->app->json)
        al_agent_text_end(&r->text);
    int eno = al_out_finish(&r->out);
    if (eno && eno != EPIPE && eno != ETIMEDOUT) {
        al_fail_errno(err, AL_INTERNAL, eno, "standard output cannot be written");
        al_hint(err, "free some space, or send the output elsewhere");
        say_next(r, err);
        result = -1;
    } else if (eno && result == 0) {
        al_fail(err, AL_CANCELLED,
                eno == EPIPE ? "the reader of standard output has gone" : "standard output is not read");
        say_next(r, err);
        result = -1;
    }
    r->reply->told = r->jsonl.ended && !eno;
    if (r->out.left_out)
        al_app_warn(r->app, "standard output was read too slowly: pieces of text and progress were left out");
    return result;
}

static int go(struct al_app *app, struct al_reply *reply, const char *session, size_t prompt_at)
{
    struct run r = {.app = app, .reply = reply};
    reply->written = true;
    al_out_init(&r.out, al_app_loop(app), on_gone, &r);
    al_jsonl_init(&r.jsonl, &r.out);
    al_agent_text_init(&r.text, app, &r.out, al_args_has(&app->args, AL_FLAG_RAW));
    int result = finish(&r, work(&r, session, prompt_at, &reply->err));
    app->on_signal = NULL;
    if (r.agent)
        al_agent_free(r.agent);
    al_endpoint_close(&r.e);
    al_agent_text_fini(&r.text);
    al_buf_free(&r.prompt);
    take_back(&r, r.session.id);
    take_back(&r, r.session.workspace);
    take_back(&r, r.last.provider);
    take_back(&r, r.last.base_url);
    take_back(&r, r.last.api);
    take_back(&r, r.last.model);
    al_turn_fini(&r.last);
    al_session_fini(&r.session);
    return result;
}

int al_cmd_run(struct al_app *app, struct al_reply *reply)
{
    const char *session = app->args.value[AL_FLAG_SESSION];
    return go(app, reply, session && strcmp(session, "new") != 0 ? session : NULL, 0);
}

int al_cmd_resume(struct al_app *app, struct al_reply *reply)
{
    return go(app, reply, app->args.pos[0], 1);
}
