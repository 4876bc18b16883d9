/*
 * On a terminal text is shown as it comes, and an answer that breaks off is struck through before it is asked
 * for again. In a pipe it goes out when its answer is whole: nobody could take back there what was broken
 * off.
 */
#include "cli/agent_text.h"

#include "base/text.h"
#include "cli/ask.h"
#include "cli/term.h"
#include "os/fd.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define HELD_MAX (128u << 20)
#define DATA_MAX (256u << 20)
#define ARGUMENT_CHARS 120
#define SETTLED_LINES 10
#define LATER_MAX (1u << 20)

void al_agent_text_init(struct al_agent_text *t, struct al_app *app, struct al_out *out, bool raw)
{
    *t = (struct al_agent_text){.app = app,
                                .out = out,
                                .raw = raw && !app->tty,
                                .held = AL_BUF_INIT(HELD_MAX),
                                .later = AL_BUF_INIT(LATER_MAX)};
}

void al_agent_text_fini(struct al_agent_text *t)
{
    al_buf_free(&t->held);
    al_buf_free(&t->later);
}

static void write_out(struct al_agent_text *t, struct al_str s)
{
    if (!s.n)
        return;
    if (t->app->tty)
        al_app_progress_end(t->app);
    al_out_write(t->out, s, false);
    t->mid_line = s.p[s.n - 1] != '\n';
    t->app->mid_line = t->app->tty && t->mid_line;
}

static void whole_line(struct al_agent_text *t)
{
    if (t->app->tty && !t->app->mid_line)
        t->mid_line = false; /* a question has ended it */
    if (t->mid_line)
        write_out(t, AL_STR("\n"));
}

/* A line of ours. On the same terminal it begins in the first column, and not behind a question that stands
 * there. */
static void say(struct al_agent_text *t, struct al_str line)
{
    if (al_ask_open(t->app)) {
        al_buf_add_str(&t->later, line);
        al_buf_addc(&t->later, '\n');
        return;
    }
    al_app_progress_end(t->app);
    if (t->app->tty)
        whole_line(t);
    al_app_note(t->app, "%.*s", AL_FMT(line));
}

static void say_later(struct al_agent_text *t)
{
    struct al_str rest = al_buf_str(&t->later);
    if (!rest.n || al_ask_open(t->app))
        return;
    while (rest.n) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        say(t, (struct al_str){rest.p, n});
        rest.p += n + (end != NULL);
        rest.n -= n + (end != NULL);
    }
    al_buf_clear(&t->later);
}

static void progress(struct al_agent_text *t, struct al_str json)
{
    if (!t->app->mid_line && !al_ask_open(t->app))
        al_app_progress(t->app, json);
}

void al_agent_text_waiting(struct al_agent_text *t)
{
    progress(t, AL_STR("{\"note\":\"waiting for the model\"}"));
}

static void text_delta(struct al_agent_text *t, struct al_str text)
{
    size_t from = t->held.n;
    if (t->raw)
        al_buf_add_str(&t->held, text);
    else
        al_text_visible(&t->held, text, true);
    if (t->app->tty && !al_buf_failed(&t->held))
        write_out(t, (struct al_str){t->held.p + from, t->held.n - from});
}

/* The answer is whole: what was held goes out. */
static void answer_ended(struct al_agent_text *t)
{
    if (!t->app->tty)
        write_out(t, al_buf_str(&t->held));
    if (t->held.n)
        whole_line(t);
    al_buf_clear(&t->held);
}

void al_agent_text_end(struct al_agent_text *t)
{
    say_later(t);
    al_app_progress_end(t->app);
    answer_ended(t);
}

/* --- an answer that broke off --- */

/* Rows that a text takes on the terminal, which it began in the first column. */
static unsigned rows_of(struct al_str s, unsigned width)
{
    unsigned rows = 0;
    for (;;) {
        const char *end = s.n ? memchr(s.p, '\n', s.n) : NULL;
        struct al_str line = {s.p, end ? (size_t)(end - s.p) : s.n};
        unsigned columns = al_term_columns(line);
        rows += columns ? (columns + width - 1) / width : 1;
        if (!end)
            return rows;
        s = (struct al_str){end + 1, s.n - line.n - 1};
    }
}

static void strike(struct al_agent_text *t)
{
    struct winsize w;
    bool moves = t->app->tty && al_term_moves(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 &&
                 w.ws_col > 0;
    struct al_str held = al_buf_str(&t->held);
    if (!moves || !held.n || memchr(held.p, '\t', held.n) || al_buf_failed(&t->held))
        return;
    unsigned rows = rows_of(held, w.ws_col);
    if (rows >= w.ws_row) /* its beginning has scrolled away */
        return;
    autobuf struct al_buf b = AL_BUF_INIT(HELD_MAX + 64);
    if (rows > 1)
        al_buf_addf(&b, "\x1b[%uA", rows - 1);
    al_buf_adds(&b, "\r\x1b[J\x1b[9m");
    al_buf_add_str(&b, held);
    al_buf_adds(&b, "\x1b[0m");
    write_out(t, al_buf_str(&b));
    t->mid_line = held.p[held.n - 1] != '\n';
    t->app->mid_line = t->mid_line;
}

/* The words of JSONL are short ones for programs. */
static void say_reason(struct al_buf *out, struct al_str reason)
{
    static const struct {
        const char *word, *says;
    } known[] = {{"cut", "connection lost"},
                 {"connection", "not reached"},
                 {"malformed", "that was no answer of a model"},
                 {"rate_limit", "asked too often"},
                 {"server_error", "a fault of the endpoint"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (al_str_is(reason, known[i].word)) {
            al_buf_adds(out, known[i].says);
            return;
        }
    al_text_visible(out, al_utf8_head(reason, 40), false);
}

static void request_retry(struct al_agent_text *t, const struct al_json *data)
{
    struct al_str reason = al_json_get_text(data, "reason");
    int64_t wait = 0;
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    al_app_progress_end(t->app);
    if (t->held.n)
        strike(t);
    al_buf_clear(&t->held);
    say_reason(&b, reason);
    al_buf_adds(&b, ", asking again");
    if (al_json_int(al_json_get(data, "waitMs"), 0, INT32_MAX, &wait) && wait >= 100) {
        al_buf_adds(&b, " in ");
        al_text_duration(&b, (uint64_t)wait);
    }
    struct al_str message = al_json_get_text(data, "message");
    if (message.n) {
        al_buf_adds(&b, ": ");
        al_text_visible(&b, al_utf8_head(message, 300), false);
    }
    say(t, al_buf_str(&b));
}

/* --- tools --- */

static void tool_started(struct al_agent_text *t, const struct al_json *data)
{
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    struct al_str name = al_json_get_text(data, "name"), arguments = al_json_get_text(data, "arguments");
    struct al_str head = al_utf8_head(arguments, ARGUMENT_CHARS);
    al_buf_adds(&b, "> ");
    al_text_plain(&b, al_utf8_head(name, 64), false);
    al_buf_addc(&b, ' ');
    al_text_plain(&b, head, false);
    if (head.n < arguments.n)
        al_buf_adds(&b, "…");
    say(t, al_buf_str(&b));
}

/* A call that a former process had left open, as the model reads of it: what it was, and all that is known.
 */
static void settled(struct al_agent_text *t, const struct al_json *data)
{
    autobuf struct al_buf b = AL_BUF_INIT(64 << 10);
    struct al_str rest = al_json_get_text(data, "preview");
    al_buf_adds(&b, "> ");
    al_text_plain(&b, al_utf8_head(al_json_get_text(data, "name"), 64), false);
    al_buf_adds(&b, ", from before:");
    say(t, al_buf_str(&b));
    for (unsigned i = 0; i < SETTLED_LINES && rest.n; i++) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        al_buf_clear(&b);
        al_buf_adds(&b, "    ");
        al_text_plain(&b, al_utf8_head((struct al_str){rest.p, n}, 300), false);
        say(t, al_buf_str(&b));
        n += end != NULL;
        rest = (struct al_str){rest.p + n, rest.n - n};
    }
    if (rest.n)
        say(t, AL_STR("    …"));
}

static void tool_completed(struct al_agent_text *t, const struct al_json *data)
{
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    int64_t ms = 0;
    bool failed = al_json_is_true(al_json_get(data, "isError"));
    struct al_str preview = al_json_get_text(data, "preview");
    const char *line = preview.n ? memchr(preview.p, '\n', preview.n) : NULL;
    if (al_json_is_true(al_json_get(data, "settled"))) {
        settled(t, data);
        return;
    }
    al_buf_adds(&b, failed ? "  failed" : "  done");
    if (al_json_int(al_json_get(data, "durationMs"), 0, INT64_MAX, &ms)) {
        al_buf_adds(&b, " in ");
        al_text_duration(&b, (uint64_t)ms);
    }
    if (failed && preview.n) {
        al_buf_adds(&b, ": ");
        al_text_plain(
            &b, al_utf8_head((struct al_str){preview.p, line ? (size_t)(line - preview.p) : preview.n}, 300),
            false);
    }
    say(t, al_buf_str(&b));
    al_agent_text_waiting(t);
}

static void named(struct al_agent_text *t, const char *says, struct al_str what)
{
    autobuf struct al_buf b = AL_BUF_INIT(8192);
    al_buf_adds(&b, says);
    al_text_plain(&b, al_utf8_head(what, 900), false);
    say(t, al_buf_str(&b));
}

static void approval_resolved(struct al_agent_text *t, const struct al_json *data)
{
    if (al_str_is(al_json_get_text(data, "decision"), "deny"))
        named(t, "  not allowed: ", al_json_get_text(data, "name"));
}

static void injected(struct al_agent_text *t, const struct al_json *data)
{
    autobuf struct al_buf b = AL_BUF_INIT(8192);
    al_json_each(f, al_json_get(data, "files"))
    {
        struct al_str path = al_json_get_text(f, "path");
        if (!al_json_is_true(al_json_get(f, "used")))
            continue;
        if (b.n)
            al_buf_adds(&b, ", ");
        al_text_plain(&b, al_utf8_head(path, 200), false);
    }
    if (b.n)
        named(t, "instructions are read from ", al_buf_str(&b));
}

static void compacted(struct al_agent_text *t, const struct al_json *data)
{
    autobuf struct al_buf b = AL_BUF_INIT(256);
    int64_t before = 0, after = 0;
    if (al_json_int(al_json_get(data, "tokensBefore"), 0, INT64_MAX, &before) &&
        al_json_int(al_json_get(data, "tokensAfter"), 0, INT64_MAX, &after))
        al_buf_addf(&b, "summarised: about %lld tokens became %lld", (long long)before, (long long)after);
    if (b.n)
        say(t, al_buf_str(&b));
}

/* --- the last line --- */

static void add_count(struct al_buf *out, const struct al_json *usage, const char *key, bool at_least,
                      const char *what)
{
    int64_t n = 0;
    if (!al_json_int(al_json_get(usage, key), 0, INT64_MAX, &n))
        return;
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)n);
    al_buf_adds(out, at_least ? ", ≥ " : ", ");
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            al_buf_addc(out, ',');
        al_buf_addc(out, digits[i]);
    }
    al_buf_addf(out, " %s", what);
}

static void summary(struct al_agent_text *t, const struct al_agent_event *e, const struct al_json *data)
{
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    const struct al_json *usage = al_json_get(data, "usage");
    bool at_least = al_json_is_true(al_json_get(usage, "estimated"));
    double dollars = 0;
    int64_t ms = 0;
    al_agent_text_end(t);
    al_buf_addf(&b, "session %s", e->session_id);
    add_count(&b, usage, "input", at_least, "tokens in");
    add_count(&b, usage, "output", at_least, "out");
    if (al_json_double(al_json_get(data, "costUsd"), &dollars))
        al_buf_addf(&b, ", %s$%.4f", at_least ? "≥ " : "", dollars);
    if (al_json_int(al_json_get(data, "durationMs"), 0, INT64_MAX, &ms)) {
        al_buf_adds(&b, ", ");
        al_text_duration(&b, (uint64_t)ms);
    }
    say(t, al_buf_str(&b));
}

static bool is(const struct al_agent_event *e, const char *type)
{
    return strcmp(e->type, type) == 0;
}

static void other(struct al_agent_text *t, const struct al_agent_event *e, const struct al_json *data)
{
    if (is(e, "artifact_published"))
        named(t, "published ", al_json_get_text(data, "path"));
    else if (is(e, "approval_resolved"))
        approval_resolved(t, data);
    else if (is(e, "session_context_injected"))
        injected(t, data);
    else if (is(e, "compaction_started"))
        named(t, "the conversation is long: older turns are summarised", (struct al_str){0});
    else if (is(e, "compaction_completed"))
        compacted(t, data);
    else if (is(e, "compaction_failed"))
        named(t, "the summary failed: ", al_json_get_text(data, "error"));
    else if (is(e, "context_reduced"))
        named(t, "older results are left out of what the model reads", (struct al_str){0});
    else if (is(e, "truncation_recovery"))
        named(t, "the output limit cut the answer; the model is asked to write in parts", (struct al_str){0});
    else if (is(e, "notice"))
        named(t, "", al_json_get_text(data, "text"));
    else if (is(e, "run_completed") || is(e, "run_failed") || is(e, "run_cancelled") ||
             is(e, "run_turns_exceeded"))
        summary(t, e, data);
}

void al_agent_text_event(struct al_agent_text *t, const struct al_agent_event *e)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(DATA_MAX);
    const struct al_json *data;
    struct al_err err;
    if (al_json_parse(&arena, e->data, &data, &err) < 0)
        return;
    say_later(t);
    if (is(e, "text_delta"))
        text_delta(t, al_json_get_text(data, "text"));
    else if (is(e, "reasoning_delta"))
        progress(t, AL_STR("{\"note\":\"the model is thinking\"}"));
    else if (is(e, "turn_completed"))
        answer_ended(t);
    else if (is(e, "request_retry"))
        request_retry(t, data);
    else if (is(e, "tool_started"))
        tool_started(t, data);
    else if (is(e, "tool_completed"))
        tool_completed(t, data);
    else if (is(e, "tool_progress"))
        progress(t, al_json_get(data, "data") ? al_json_get(data, "data")->raw : AL_STR("{}"));
    else
        other(t, e, data);
}
