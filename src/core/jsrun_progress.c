#include "base/text.h"
#include "core/jsrun_int.h"

#define EVERY_MS 100 /* ten a second for faces; the last always comes */
#define MAX_NOTE 200u
#define MAX_JSON (64u << 10)

/* What the VM says is a claim: only the three known members pass, each checked. */
static bool read_progress(struct al_str json, struct al_buf *out)
{
    struct al_arena a = AL_ARENA_INIT(4 * MAX_JSON);
    const struct al_json *v;
    struct al_err ignored;
    bool fine = json.n <= MAX_JSON && al_json_parse(&a, json, &v, &ignored) == 0 && v->type == AL_JSON_OBJECT;
    if (fine) {
        struct al_jw w;
        double d;
        al_jw_init(&w, out);
        al_jw_obj(&w);
        static const char *const numbers[] = {"completed", "total"};
        for (size_t i = 0; i < 2; i++) {
            const struct al_json *num = al_json_get(v, numbers[i]);
            if (num && num->raw.n < 40 && al_json_double(num, &d))
                al_jw_kraw(&w, numbers[i], num->raw);
        }
        struct al_str note = al_json_get_text(v, "note");
        autobuf struct al_buf line = AL_BUF_INIT(4096);
        jscut_line(note, MAX_NOTE, &line);
        if (line.n)
            al_jw_kstr(&w, "note", al_buf_str(&line));
        al_jw_end(&w);
    }
    al_arena_free(&a);
    return fine;
}

void jsrun_progress_json(const struct jsrun *r, struct al_buf *out)
{
    if (r->progress.n > 2) {
        al_buf_add(out, r->progress.p, r->progress.n - 1);
        al_buf_addc(out, ',');
    } else {
        al_buf_addc(out, '{');
    }
    al_buf_addf(out, "\"calls\":{\"started\":%zu,\"finished\":%zu}}", r->n_calls, r->n_finished);
}

static void deliver(struct jsrun *r)
{
    r->progress_due = false;
    r->progress_at_ms = al_mono_ms();
    autobuf struct al_buf json = AL_BUF_INIT(2 * MAX_JSON);
    jsrun_progress_json(r, &json);
    al_call_progress(r->call, al_buf_str(&json));
}

static void on_timer(void *ud)
{
    struct jsrun *r = ud;
    r->progress_timer = NULL;
    if (r->progress_due)
        deliver(r);
}

static void soon(struct jsrun *r)
{
    r->progress_due = true;
    if (r->progress_timer)
        return;
    uint64_t since = al_mono_ms() - r->progress_at_ms;
    if (since >= EVERY_MS)
        deliver(r);
    else
        r->progress_timer = al_timer_start(al_core_loop(r->core), EVERY_MS - since, on_timer, r);
}

void jsrun_on_progress(void *ud, struct al_str json)
{
    struct jsrun *r = ud;
    autobuf struct al_buf next = AL_BUF_INIT(MAX_JSON);
    if (!read_progress(json, &next) || al_buf_failed(&next))
        return;
    al_buf_clear(&r->progress);
    al_buf_add_str(&r->progress, al_buf_str(&next));
    al_runlog_progress(&r->log, al_buf_str(&next));
    soon(r);
}

void jsrun_progress_calls(struct jsrun *r)
{
    soon(r);
}

void jsrun_progress_last(struct jsrun *r)
{
    al_timer_stop(r->progress_timer);
    r->progress_timer = NULL;
    if (r->progress_due)
        deliver(r);
}
