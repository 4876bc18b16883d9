/*
 * What is said of a call that has no end: the same words for the model (its result) and for the person. What
 * the journal knows of its run decides; a run that ended before its host did is told as it ended, and nothing
 * is ever run again.
 */
#include "store/conversation_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#define WORDS_MAX (1u << 20) /* bytes of what is said */
#define RECORD_ARENA (64u << 20)
#define CALLS_TOLD 20

static void set_end(struct al_model_call *c, const char *status, bool is_error, struct al_buf *words)
{
    free(c->status);
    free(c->result);
    c->status = al_xstrdup(status);
    c->result = words ? al_buf_take(words) : NULL;
    if (!c->result)
        c->result = al_xstrdup("");
    c->is_error = is_error;
    c->ended_ms = al_wall_ms();
}

/* A part of a record, as long as there is room. */
static void add_part(struct al_buf *out, const char *title, struct al_str text)
{
    if (!text.n)
        return;
    size_t room = WORDS_MAX - 4096 > out->n ? WORDS_MAX - 4096 - out->n : 0;
    struct al_str cut = al_utf8_cut(text, room);
    al_buf_addf(out, "\n%s", title);
    al_buf_add_str(out, cut);
    if (cut.n < text.n)
        al_buf_adds(out, "…");
}

static void add_error(struct al_buf *out, const struct al_json *error)
{
    struct al_str code = al_json_get_text(error, "code"), msg = al_json_get_text(error, "message"),
                  hint = al_json_get_text(error, "hint");
    if (!code.n && !msg.n)
        return;
    al_buf_addf(out, "\n%.*s: %.*s", AL_FMT(al_utf8_cut(code, 64)), AL_FMT(al_utf8_cut(msg, 4096)));
    if (hint.n)
        al_buf_addf(out, "\nhint: %.*s", AL_FMT(al_utf8_cut(hint, 1024)));
}

/* Records are of js_run, of python_run and of a tool: each has some of these members. */
static void add_record(struct al_buf *out, const struct al_run *run)
{
    autoarena struct al_arena a = AL_ARENA_INIT(RECORD_ARENA);
    const struct al_json *v = NULL;
    if (!run->record || al_json_parse(&a, al_str_of(run->record), &v, NULL) < 0) {
        if (run->error_code)
            al_buf_addf(out, "\n%s: %s", run->error_code, run->error_msg ? run->error_msg : "");
        return;
    }
    const struct al_json *value = al_json_get(v, "value"), *structured = al_json_get(v, "structured");
    add_error(out, al_json_get(v, "error"));
    if (value && value->type != AL_JSON_NULL)
        add_part(out, "", al_json_is_string(value) ? value->str : value->raw);
    struct al_str text = al_json_get_text(v, "text");
    add_part(out, "", text);
    if (!text.n && structured)
        add_part(out, "", structured->raw);
    add_part(out, "", al_json_get_text(v, "stdout"));
    add_part(out, "standard error:\n", al_json_get_text(v, "stderr"));
    const struct al_json *artifacts = al_json_get(v, "artifacts");
    if (artifacts && artifacts->n)
        add_part(out, "artifacts: ", artifacts->raw);
    struct al_str saved = al_json_get_text(v, "savedTo");
    add_part(out, "saved to ", saved);
    if (al_json_is_true(al_json_get(v, "truncated")))
        al_buf_adds(out, "\n(cut in the journal)");
}

struct told {
    struct al_buf *out;
    int n, more;
};

static bool tell_call(void *ud, const struct al_call_row *row)
{
    struct told *t = ud;
    if (t->n == CALLS_TOLD) {
        t->more++;
        return true;
    }
    al_buf_addf(t->out, "%s%.60s %s", t->n++ ? ", " : "\nits calls: ", row->tool, row->status);
    return true;
}

/* Whether the run's end was written down: then it is the call's. */
static bool has_ended(const struct al_run *run)
{
    return strcmp(run->status, "completed") == 0 || strcmp(run->status, "failed") == 0 ||
           strcmp(run->status, "timed_out") == 0;
}

static int tell_ended(struct al_model_call *c, const struct al_run *run)
{
    struct al_buf words = AL_BUF_INIT(WORDS_MAX);
    al_buf_addf(&words, "%s before the session was interrupted; what run %s recorded:",
                strcmp(run->status, "completed") == 0 ? "completed" : "failed", run->id);
    add_record(&words, run);
    bool fine = strcmp(run->status, "completed") == 0;
    set_end(c, fine ? "completed" : "failed", !fine, &words);
    return 0;
}

static int tell_running(struct al_store *s, struct al_model_call *c, const struct al_run *run,
                        struct al_err *err)
{
    struct al_buf words = AL_BUF_INIT(WORDS_MAX);
    char since[AL_TIME_MAX];
    al_time_iso(since, c->started_ms);
    al_buf_addf(&words, AL_CALL_IN_FLIGHT "\nrunning since %s", since);
    if (run) {
        struct told t = {.out = &words};
        bool live = strcmp(run->status, "running") == 0 || strcmp(run->status, "queued") == 0;
        al_buf_addf(&words, "; run %s %s%.24s", c->execution, live ? "still goes on" : "was ",
                    live ? "" : run->status);
        if (al_store_call_each(s, c->execution, tell_call, &t, err) < 0) {
            al_buf_free(&words);
            return -1;
        }
        if (t.more)
            al_buf_addf(&words, " and %d more", t.more);
    }
    if (c->output && *c->output)
        add_part(&words, "its output so far:\n", al_str_of(c->output));
    set_end(c, "interrupted", true, &words);
    return 0;
}

int al_model_call_interrupt(struct al_store *s, struct al_model_call *c, struct al_err *err)
{
    struct al_run run = {0};
    if (strcmp(c->status, "absent") == 0) {
        struct al_buf words = AL_BUF_INIT(256);
        al_buf_adds(&words, AL_CALL_NOT_STARTED);
        set_end(c, "interrupted", true, &words);
        return 0;
    }
    struct al_err none;
    bool has_run = c->execution && *c->execution && al_store_run_get(s, c->execution, &run, &none) == 0;
    int r = has_run && has_ended(&run) ? tell_ended(c, &run) : tell_running(s, c, has_run ? &run : NULL, err);
    al_run_fini(&run);
    return r;
}
