#include "cli/ask.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/app.h"
#include "core/ask_text.h"
#include "os/fd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096
#define TEXT_MAX (32u << 20)
#define QUESTIONS_MAX 4
#define OPTIONS_MAX 9

struct option {
    char *label, *text;
    bool recommended;
};
struct question {
    char *header, *text;
    bool multi;
    struct option v[OPTIONS_MAX];
    size_t n;
};

/* What waits for the person. */
struct asked {
    struct asked *next;
    struct al_buf text; /* shown once, before the prompt */
    /* of a call */
    void (*answer)(void *ud, enum al_approval approval);
    void *ud;
    const char *prompt;
    bool sessions;
    /* of ask_user_question */
    void (*tell)(void *ud, struct al_str json, bool answered);
    struct question *questions;
    size_t n_questions, at;
    struct al_buf answers; /* members of the array, in the making */
};

struct al_ask_state {
    struct al_app *app;
    struct al_watch *watch;
    struct asked *first;
    char line[LINE_MAX_BYTES];
    size_t n;
    bool shown;  /* the first one stands on the terminal */
    bool queued; /* a later turn of the loop goes on */
    bool ended;  /* no input comes any more */
};

static void free_asked(struct asked *a)
{
    for (size_t i = 0; i < a->n_questions; i++) {
        struct question *q = &a->questions[i];
        for (size_t k = 0; k < q->n; k++) {
            free(q->v[k].label);
            free(q->v[k].text);
        }
        free(q->header);
        free(q->text);
    }
    free(a->questions);
    al_buf_free(&a->text);
    al_buf_free(&a->answers);
    free(a);
}

static struct asked *take_first(struct al_ask_state *s)
{
    struct asked *a = s->first;
    s->first = a->next;
    s->shown = false;
    s->n = 0;
    al_watch_stop(s->watch);
    s->watch = NULL;
    return a;
}

static void go_on(void *ud);

static void later(struct al_ask_state *s)
{
    if (s->queued)
        return;
    s->queued = true;
    al_defer(s->app->loop, go_on, s->app);
}

/* The answer is told when nothing of the question is held any more: what it starts may ask again. */
static void finish(struct al_ask_state *s, enum al_approval approval, bool answered)
{
    struct asked *a = take_first(s);
    if (s->first)
        later(s);
    if (a->answer) {
        a->answer(a->ud, approval);
    } else {
        autobuf struct al_buf json = AL_BUF_INIT(TEXT_MAX);
        if (answered)
            al_buf_addf(&json, "{\"answers\":[%.*s]}", AL_FMT(al_buf_str(&a->answers)));
        a->tell(a->ud, al_buf_str(&json), answered);
    }
    free_asked(a);
}

static void say(struct al_str s)
{
    /* Nothing can be done about a terminal that is gone. */
    (void)!al_fd_write_all(STDERR_FILENO, s);
}

/* What was typed before all of a question could be read answers nothing. */
static void forget_typed(void)
{
    tcflush(STDIN_FILENO, TCIFLUSH);
}

/* --- approvals --- */

static bool is_word(struct al_str s, const char *letter, const char *word)
{
    autobuf struct al_buf lower = AL_BUF_INIT(64);
    for (size_t i = 0; i < s.n && s.n < 16; i++)
        al_buf_addc(&lower, s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32) : s.p[i]);
    return al_str_is(al_buf_str(&lower), letter) || al_str_is(al_buf_str(&lower), word);
}

static void say_prompt(struct asked *a)
{
    say(al_str_of(a->prompt));
    say(a->sessions ? AL_STR(" [y = once / s = for this session / N] ") : AL_STR(" [y/N] "));
}

/* A line that is no yes is a no. */
static void take_approval(struct al_ask_state *s, struct al_str line)
{
    if (is_word(line, "y", "yes") || is_word(line, "o", "once"))
        finish(s, AL_APPROVAL_ONCE, true);
    else if (s->first->sessions && is_word(line, "s", "session"))
        finish(s, AL_APPROVAL_SESSION, true);
    else
        finish(s, AL_APPROVAL_DENY, true);
}

/* --- ask_user_question --- */

/* Each line is set in, so that none can pass for a question of ours. */
static void put_set_in(struct al_buf *out, struct al_str text)
{
    autobuf struct al_buf plain = AL_BUF_INIT(TEXT_MAX);
    al_text_plain(&plain, text, true);
    struct al_str rest = al_buf_str(&plain);
    while (rest.n) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        al_buf_adds(out, "    ");
        al_buf_add(out, rest.p, n);
        al_buf_addc(out, '\n');
        rest.p += n + (end != NULL);
        rest.n -= n + (end != NULL);
    }
}

static void say_question(struct al_app *app, const struct asked *a)
{
    const struct question *q = &a->questions[a->at];
    autobuf struct al_buf b = AL_BUF_INIT(TEXT_MAX);
    al_buf_adds(&b, "\nThe model asks: ");
    al_buf_adds(&b, al_style_on(app->err_color, AL_BOLD));
    al_text_plain(&b, al_str_of(q->header), false);
    al_buf_adds(&b, al_style_off(app->err_color, AL_BOLD));
    al_buf_addc(&b, '\n');
    put_set_in(&b, al_str_of(q->text));
    for (size_t i = 0; i < q->n; i++) {
        al_buf_addf(&b, "  %zu  ", i + 1);
        al_text_plain(&b, al_str_of(q->v[i].label), false);
        if (q->v[i].recommended)
            al_buf_adds(&b, " (recommended)");
        if (q->v[i].text[0]) {
            al_buf_adds(&b, ": ");
            al_text_plain(&b, al_str_of(q->v[i].text), false);
        }
        al_buf_addc(&b, '\n');
    }
    al_buf_adds(&b, q->multi ? "Numbers (such as 1,3), or an answer in your words: "
                             : "A number, or an answer in your words: ");
    say(al_buf_str(&b));
}

/* "2", or "1,3" and "1 3" where several may be chosen: bits of the options; 0 when that is no choice. */
static unsigned chosen(const struct question *q, struct al_str line)
{
    unsigned bits = 0;
    while (line.n) {
        size_t n = 0;
        int64_t number;
        while (n < line.n && line.p[n] != ',' && line.p[n] != ' ')
            n++;
        if (n > 0 && !al_parse_int((struct al_str){line.p, n}, 1, (int64_t)q->n, &number))
            return 0;
        if (n > 0 && bits && !q->multi)
            return 0;
        if (n > 0)
            bits |= 1u << (number - 1);
        n += n < line.n;
        line = (struct al_str){line.p + n, line.n - n};
    }
    return bits;
}

static void add_answer(struct asked *a, unsigned bits, struct al_str other)
{
    const struct question *q = &a->questions[a->at];
    struct al_jw w;
    if (a->answers.n)
        al_buf_addc(&a->answers, ',');
    al_jw_init(&w, &a->answers);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "header", q->header);
    al_jw_key(&w, "selected");
    al_jw_arr(&w);
    for (size_t i = 0; i < q->n; i++)
        if (bits & (1u << i))
            al_jw_strz(&w, q->v[i].label);
    al_jw_end(&w);
    if (other.n)
        al_jw_kstr(&w, "other", other);
    al_jw_end(&w);
}

static void take_answer(struct al_ask_state *s, struct al_str line)
{
    struct asked *a = s->first;
    if (line.n == 0) {
        forget_typed();
        say(AL_STR("An empty line is no answer. "));
        say_question(s->app, a);
        return;
    }
    unsigned bits = chosen(&a->questions[a->at], line);
    add_answer(a, bits, bits ? (struct al_str){0} : line);
    if (++a->at == a->n_questions) {
        finish(s, AL_APPROVAL_NONE, true);
        return;
    }
    forget_typed();
    say_question(s->app, a);
}

/* --- lines --- */

static void on_typed(void *ud, int events)
{
    struct al_ask_state *s = ud;
    (void)events;
    ssize_t n = read(STDIN_FILENO, s->line + s->n, sizeof s->line - s->n);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        /* The end of input, or a terminal that is gone: no answer, and none later. */
        say(AL_STR("\n"));
        s->ended = true;
        finish(s, AL_APPROVAL_NONE, false);
        return;
    }
    const char *end = memchr(s->line + s->n, '\n', (size_t)n);
    s->n += (size_t)n;
    if (!end && s->n < sizeof s->line)
        return;
    struct al_str line = al_str_trim((struct al_str){s->line, end ? (size_t)(end - s->line) : 0});
    s->n = 0;
    if (s->first->answer)
        take_approval(s, line);
    else
        take_answer(s, line);
}

static void show_first(struct al_ask_state *s)
{
    struct asked *a = s->first;
    struct al_err err;
    al_app_progress_end(s->app);
    if (s->app->mid_line) {
        s->app->mid_line = false;
        say(AL_STR("\n"));
    }
    say(al_buf_str(&a->text));
    forget_typed();
    if (a->answer)
        say_prompt(a);
    else
        say_question(s->app, a);
    s->shown = true;
    s->n = 0;
    s->watch = al_watch_start(s->app->loop, STDIN_FILENO, AL_READABLE, on_typed, s, &err);
    if (!s->watch) {
        s->ended = true;
        finish(s, AL_APPROVAL_NONE, false);
    }
}

static void go_on(void *ud)
{
    struct al_app *app = ud;
    struct al_ask_state *s = app->asking;
    if (!s)
        return;
    s->queued = false;
    if (s->first && (s->ended || al_buf_failed(&s->first->text)))
        finish(s, AL_APPROVAL_NONE, false); /* nobody is there, or nothing could be shown */
    else if (s->first && !s->shown)
        show_first(s);
}

static struct asked *add(struct al_app *app)
{
    struct al_ask_state *s = app->asking;
    if (!s) {
        s = app->asking = al_xcalloc(1, sizeof *s);
        s->app = app;
    }
    struct asked *a = al_xcalloc(1, sizeof *a), **last = &s->first;
    al_buf_init(&a->text, TEXT_MAX);
    al_buf_init(&a->answers, TEXT_MAX);
    while (*last)
        last = &(*last)->next;
    *last = a;
    later(s);
    return a;
}

void al_ask_approval(struct al_app *app, const struct al_ask *ask, bool sessions)
{
    struct asked *a = add(app);
    struct al_buf *b = &a->text;
    a->answer = ask->answer;
    a->ud = ask->ud;
    a->prompt = al_ask_prompt(ask);
    a->sessions = sessions && ask->offers_session;
    al_ask_text(ask, true, b);
    if (al_buf_failed(b)) { /* what cannot be shown whole is shown with what was left out */
        al_buf_clear(b);
        al_ask_text(ask, false, b);
    }
    al_buf_adds(b, "\n\n");
    if (!ask->install && ask->tools.n) {
        al_buf_adds(b, "It asks for: ");
        al_buf_adds(b, al_style_on(app->err_color, AL_WARN));
        al_text_plain(b, ask->tools, false);
        al_buf_adds(b, al_style_off(app->err_color, AL_WARN));
        al_buf_addc(b, '\n');
    }
    if (a->sessions) {
        al_ask_session_text(ask, b);
        al_buf_addc(b, '\n');
    }
}

static char *text_of(const struct al_json *v, const char *key)
{
    struct al_str s = al_json_get_text(v, key);
    return al_xdup(s.p, s.n);
}

void al_ask_questions(struct al_app *app, const struct al_agent_question *q)
{
    struct asked *a = add(app);
    a->tell = q->answer;
    a->ud = q->ud;
    const struct al_json *list = al_json_get(q->questions, "questions");
    list = list ? list : q->questions;
    a->questions = al_xcalloc(QUESTIONS_MAX, sizeof *a->questions);
    al_json_each(v, list)
    {
        if (a->n_questions == QUESTIONS_MAX)
            break;
        struct question *to = &a->questions[a->n_questions++];
        to->header = text_of(v, "header");
        to->text = text_of(v, "question");
        to->multi = al_json_is_true(al_json_get(v, "multiSelect"));
        al_json_each(o, al_json_get(v, "options"))
        {
            if (to->n == OPTIONS_MAX)
                break;
            to->v[to->n++] = (struct option){text_of(o, "label"), text_of(o, "description"),
                                             al_json_is_true(al_json_get(o, "recommended"))};
        }
    }
    if (!a->n_questions) /* nothing to ask is nothing to wait for */
        a->questions[a->n_questions++] = (struct question){.header = al_xstrdup(""), .text = al_xstrdup("")};
}

bool al_ask_open(const struct al_app *app)
{
    return app->asking && app->asking->shown;
}

void al_ask_end(struct al_app *app)
{
    struct al_ask_state *s = app->asking;
    if (!s)
        return;
    if (s->shown)
        say(AL_STR("\n"));
    s->ended = true;
    while (s->first)
        finish(s, AL_APPROVAL_NONE, false);
    al_watch_stop(s->watch);
    app->asking = NULL;
    free(s);
}
