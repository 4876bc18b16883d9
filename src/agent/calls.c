/*
 * The calls of one answer: reads four at once, an effect alone and in its place. A row before each, a row
 * after each as it ends; the model gets the results in the order of the calls.
 */
#include "agent/turn_int.h"

#include "base/failpoint.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define EVENT_MAX (1u << 20)
#define ARENA_MAX (AL_CALL_MAX_ARGS * 8)
#define TAIL_MAX 4096
#define TAIL_EVERY_MS 300
#define PROGRESS_EVERY_NS 100000000ull

static void pump(struct al_agent *a);

/* --- life --- */

static struct al_agent_call *new_call(struct al_agent *a, const struct al_llm_part *part)
{
    struct al_agent_call *c = al_xcalloc(1, sizeof(*c));
    c->a = a;
    c->id = al_xdup(part->id.p, part->id.n);
    c->name = al_xdup(part->name.p, part->name.n);
    c->arguments = part->text;
    al_arena_init(&c->arena, ARENA_MAX);
    al_buf_init(&c->tail, TAIL_MAX);
    al_buf_init(&c->progress, 1u << 20);
    al_buf_init(&c->warning, 4096);
    al_buf_init(&c->result, AL_AGENT_RESULT_MAX);
    c->tool = al_core_find_tool(a->core, part->name, &c->arena);
    c->alone = c->tool && c->tool->effect >= AL_EFFECT_WRITE && !c->tool->only_reads;
    return c;
}

static void stop_timers(struct al_agent_call *c)
{
    al_timer_stop(c->noting);
    al_timer_stop(c->flushing);
    c->noting = c->flushing = NULL;
}

static void free_call(struct al_agent_call *c)
{
    stop_timers(c);
    al_call_asking_dropped(c);
    al_arena_free(&c->arena);
    al_buf_free(&c->tail);
    al_buf_free(&c->progress);
    al_buf_free(&c->warning);
    al_buf_free(&c->result);
    free(c->id);
    free(c->name);
    free(c);
}

void al_calls_free(struct al_agent_calls *c)
{
    for (size_t i = 0; i < c->n; i++) {
        c->v[i]->left = c->v[i]->in_core;
        if (!c->v[i]->left)
            free_call(c->v[i]);
    }
    free(c->v);
    c->v = NULL;
    c->n = c->n_ended = 0;
}

/* --- events --- */

static void tell_started(const struct al_agent_call *c)
{
    autobuf struct al_buf data = AL_BUF_INIT(2 * EVENT_MAX), arguments = AL_BUF_INIT(2 * AL_CALL_MAX_ARGS);
    struct al_jw w;
    al_redact_json(c->arguments, &arguments);
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "id", c->id);
    al_jw_kstrz(&w, "name", c->name);
    al_agent_put_text(&w, "arguments", al_buf_failed(&arguments) ? AL_STR("") : al_buf_str(&arguments));
    al_jw_kstrz(&w, "effect", c->tool ? al_effect_name(c->tool->effect) : NULL);
    al_jw_end(&w);
    al_agent_event(c->a, "tool_started", al_buf_str(&data));
}

static void tell_completed(const struct al_agent_call *c, const struct al_err *err, const char *execution)
{
    autobuf struct al_buf data = AL_BUF_INIT(EVENT_MAX), clean = AL_BUF_INIT(2 * AL_AGENT_RESULT_MAX);
    struct al_jw w;
    al_utf8_clean(&clean, al_utf8_cut(al_buf_str(&c->result), 16 * AL_AGENT_PREVIEW));
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "id", c->id);
    al_jw_kstrz(&w, "name", c->name);
    al_jw_kbool(&w, "isError", c->is_error);
    al_jw_kint(&w, "durationMs", (int64_t)((al_mono_ns() - c->began_ns) / 1000000));
    al_jw_kstr(&w, "preview", al_utf8_head(al_buf_str(&clean), AL_AGENT_PREVIEW));
    if (execution && execution[0])
        al_jw_kstrz(&w, "executionId", execution);
    if (err->code != AL_OK)
        al_jw_kstrz(&w, "code", al_code_name(err->code));
    al_jw_end(&w);
    al_agent_event(c->a, "tool_completed", al_buf_str(&data));
}

/* --- while it runs --- */

static void note_execution(struct al_agent_call *c)
{
    struct al_err err; /* the row's end has it, too */
    if (c->noted || !c->call || !c->call->execution_id[0])
        return;
    c->noted = true;
    (void)!al_turn_call_execution(c->a->store, c->id, c->call->execution_id, &err);
}

static void on_noting(void *ud)
{
    struct al_agent_call *c = ud;
    c->noting = NULL;
    note_execution(c);
}

/* Just before the tool gets it: a row that says so, on the disk before an effect. */
static int on_starting(void *ud, struct al_call *call, struct al_err *err)
{
    struct al_agent_call *c = ud;
    if (al_turn_call_begin(c->a->store, c->id, al_effect_name(call->tool->effect), c->alone, err) < 0)
        return al_wrap(err, "the call cannot be written down");
    c->begun = true;
    al_failpoint("agent.call_stored");
    c->noting = al_timer_start(c->a->loop, 0, on_noting, c);
    return 0;
}

static void tell_progress(struct al_agent_call *c)
{
    autobuf struct al_buf data = AL_BUF_INIT(EVENT_MAX);
    struct al_jw w;
    if (c->progress.n == 0)
        return;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "id", c->id);
    al_jw_kraw(&w, "data", al_buf_str(&c->progress));
    al_jw_end(&w);
    al_buf_clear(&c->progress);
    c->progress_ns = al_mono_ns();
    if (!al_buf_failed(&data))
        al_agent_event(c->a, "tool_progress", al_buf_str(&data));
}

/* At most ten a second, and the last one. */
static void on_progress(void *ud, struct al_str json)
{
    struct al_agent_call *c = ud;
    autoarena struct al_arena arena = AL_ARENA_INIT(16u << 20);
    const struct al_json *v = NULL;
    struct al_jw w;
    if (c->state == AL_AGENT_CALL_ENDED)
        return;
    note_execution(c);
    al_buf_clear(&c->progress);
    if (json.n > EVENT_MAX / 2 || al_json_parse(&arena, json, &v, NULL) < 0)
        return;
    al_jw_init(&w, &c->progress);
    al_jw_value(&w, v);
    if (al_buf_failed(&c->progress))
        al_buf_clear(&c->progress);
    if (al_mono_ns() - c->progress_ns >= PROGRESS_EVERY_NS)
        tell_progress(c);
}

static void on_flush(void *ud)
{
    struct al_agent_call *c = ud;
    struct al_err err; /* what it printed is for whoever looks after a crash; the result has it again */
    c->flushing = NULL;
    (void)!al_turn_call_output(c->a->store, c->id, al_buf_str(&c->tail), &err);
}

/* The end of what it printed, for the case that we do not live to see its result. */
static void on_output(void *ud, bool is_error, struct al_str bytes)
{
    struct al_agent_call *c = ud;
    (void)is_error;
    if (c->state == AL_AGENT_CALL_ENDED)
        return;
    note_execution(c);
    if (bytes.n > TAIL_MAX)
        bytes = (struct al_str){bytes.p + bytes.n - TAIL_MAX, TAIL_MAX};
    if (c->tail.n + bytes.n > TAIL_MAX)
        al_buf_drop(&c->tail, c->tail.n + bytes.n - TAIL_MAX);
    al_buf_add_str(&c->tail, bytes);
    if (!c->flushing)
        c->flushing = al_timer_start(c->a->loop, TAIL_EVERY_MS, on_flush, c);
}

/* --- its end --- */

static const char *status_of(const struct al_agent_call *c, const struct al_err *err)
{
    return err->code == AL_OK ? "completed" : c->cancelling ? "cancelled" : "failed";
}

/* The words for a call that the user's cancel ended; what it has to say besides follows. */
static void put_cancelled(struct al_agent_call *c, struct al_str text)
{
    bool effect = c->begun && (!c->tool || c->tool->effect != AL_EFFECT_READ);
    al_buf_adds(&c->result,
                effect ? "cancelled by the user; it may have taken effect" : "cancelled by the user");
    if (c->begun && text.n)
        al_buf_addf(&c->result, "\n%.*s", AL_FMT(text));
}

static void put_repeats(struct al_agent_call *c, unsigned n)
{
    struct al_agent_calls *calls = &c->a->turn->calls;
    if (n >= AL_AGENT_REPEATS_TOLD)
        al_buf_addf(
            &c->result,
            "\n\nnote: this is the same call with the same result %u times in a row. Making it again changes "
            "nothing: do something else, or say what is in the way.",
            n);
    if (n >= AL_AGENT_REPEATS_ENDS && calls->loop.n == 0)
        al_buf_adds(&calls->loop, c->name);
}

/* text: what the core or we say of it. */
static void make_result(struct al_agent_call *c, struct al_str text, const struct al_err *err)
{
    if (c->cancelling && err->code != AL_OK) {
        put_cancelled(c, text);
        return;
    }
    al_buf_add_str(&c->result, al_buf_str(&c->warning));
    al_buf_add_str(&c->result, text.n ? text : AL_STR("(it ended without an output)"));
    if (al_buf_failed(&c->result)) {
        al_buf_clear(&c->result);
        al_buf_adds(&c->result,
                    "RESULT_TOO_LARGE: the result is too large to be kept\nhint: ask for a part of it");
    }
    put_repeats(c, al_repeat_count(c->a, al_str_of(c->name), c->arguments, text));
}

/* Without its row nobody will know later that it ran: it is said now. */
static void store_failed(struct al_agent_call *c, struct al_err *err)
{
    struct al_agent_turn *t = c->a->turn;
    bool effect = c->begun && (!c->tool || c->tool->effect != AL_EFFECT_READ);
    struct al_jw w;
    if (t->ending)
        return;
    al_wrap(err, "the result of %s cannot be written down%s", c->name,
            effect ? ", and it may have taken effect" : "");
    al_buf_clear(&t->details);
    al_jw_init(&w, &t->details);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "callId", c->id);
    al_jw_kstrz(&w, "name", c->name);
    al_jw_kbool(&w, "mayHaveTakenEffect", effect);
    al_jw_end(&w);
    al_turn_finish(c->a, AL_AGENT_FAILED, err);
}

static void store_end(struct al_agent_call *c, const struct al_err *err, const char *execution)
{
    struct al_agent *a = c->a;
    autobuf struct al_buf whole = AL_BUF_INIT(AL_AGENT_RESULT_MAX),
                          clean = AL_BUF_INIT(3 * (size_t)AL_AGENT_RESULT_MAX);
    struct al_model_call row = {.is_error = err->code != AL_OK, .ended_ms = al_wall_ms()};
    struct al_err failed;
    al_history_text(al_buf_str(&c->result), &clean);
    al_buf_clear(&c->result);
    al_window_cut_result(a, al_str_of(c->id), al_buf_str(&clean), &c->result);
    if (c->result.n < clean.n) {
        al_buf_add_str(&whole, al_buf_str(&clean));
        al_buf_addc(&whole, 0);
    }
    al_buf_addc(&c->result, 0);
    c->result.n--;
    snprintf(row.id, sizeof(row.id), "%s", c->id);
    snprintf(row.session, sizeof(row.session), "%s", a->session);
    row.status = al_xstrdup(status_of(c, err));
    row.result = c->result.p;
    row.whole = whole.n ? whole.p : NULL;
    row.execution = execution && execution[0] ? al_xstrdup(execution) : NULL;
    if (al_turn_call_end(a->store, &row, &failed) < 0)
        store_failed(c, &failed);
    free(row.status);
    free(row.execution);
}

static void end_call(struct al_agent_call *c, struct al_str text, const struct al_err *err,
                     const struct al_call *call)
{
    struct al_agent *a = c->a;
    const char *execution = call ? call->execution_id : "";
    c->is_error = err->code != AL_OK;
    make_result(c, text, err);
    stop_timers(c);
    al_call_asking_dropped(c);
    if (c->begun)
        al_failpoint("agent.effect");
    store_end(c, err, execution);
    al_failpoint("agent.result_stored");
    c->state = AL_AGENT_CALL_ENDED;
    c->call = NULL;
    a->turn->calls.n_ended++;
    tell_progress(c);
    tell_completed(c, err, execution);
    if (call)
        al_call_artifacts(a, c, call);
}

static void take_end(struct al_agent_call *c, struct al_call *call)
{
    struct al_agent *a = c->a;
    autobuf struct al_buf text = AL_BUF_INIT(AL_AGENT_RESULT_MAX);
    al_call_model_text(call, &text);
    if (text.n == 0 && call->structured.n)
        al_buf_add_str(&text, al_buf_str(&call->structured));
    bool was = a->turn->calls.pumping;
    a->turn->calls.pumping = true; /* a cancel from within an event frees nothing under our feet */
    end_call(c, al_buf_str(&text), &call->err, call);
    a->turn->calls.pumping = was;
    pump(a);
}

static void on_done(void *ud, struct al_call *call)
{
    struct al_agent_call *c = ud;
    c->in_core = false;
    if (c->left)
        free_call(c);
    else if (c->state != AL_AGENT_CALL_ENDED)
        take_end(c, call);
}

/* --- its begin --- */

static void refuse(struct al_agent_call *c, const struct al_err *err)
{
    autobuf struct al_buf text = AL_BUF_INIT(4096);
    al_buf_addf(&text, "%s: %s", al_code_name(err->code), err->msg);
    if (err->hint[0])
        al_buf_addf(&text, "\nhint: %s", err->hint);
    end_call(c, al_buf_str(&text), err, NULL);
}

static void end_cancelled(struct al_agent_call *c)
{
    struct al_err err;
    al_fail(&err, AL_CANCELLED, "cancelled by the user");
    end_call(c, (struct al_str){"", 0}, &err, NULL);
}

static void tell_warning(struct al_agent_call *c)
{
    autobuf struct al_buf text = AL_BUF_INIT(8192);
    if (c->warning.n == 0)
        return;
    al_buf_addf(&text, "%s: %.*s", c->name, AL_FMT(al_str_trim(al_buf_str(&c->warning))));
    al_turn_notice(c->a, al_buf_str(&text));
}

static void start_call(struct al_agent_call *c)
{
    struct al_agent *a = c->a;
    struct al_err err;
    autobuf struct al_buf arguments = AL_BUF_INIT(2 * AL_CALL_MAX_ARGS);
    c->state = AL_AGENT_CALL_RUNNING;
    c->began_ns = al_mono_ns();
    a->turn->n_calls++;
    tell_started(c);
    if ((!c->tool && al_call_unknown(a, al_str_of(c->name), &err) < 0) ||
        al_call_arguments(c->arguments, c->tool, &arguments, &c->warning, &err) < 0) {
        refuse(c, &err);
        return;
    }
    tell_warning(c);
    if (c->cancelling) {
        end_cancelled(c);
        return;
    }
    struct al_call_spec spec = {
        .tool = al_str_of(c->tool ? c->tool->name : c->name),
        .args_json = al_buf_str(&arguments),
        .origin = AL_ORIGIN_AGENT,
        .ask = a->ops.ask ? al_call_ask_person : NULL,
        .question = al_call_ask_question,
        .starting = on_starting,
        .progress = on_progress,
        .output = on_output,
        .done = on_done,
        .ud = c,
    };
    c->in_core = true;
    c->call = al_core_call(a->core, &spec);
    if (c->cancelling) /* from within what it asked or told */
        al_call_cancel(c->call);
}

/* --- their order --- */

static bool may_start(const struct al_agent_calls *calls, size_t at, size_t n_running)
{
    const struct al_agent_call *c = calls->v[at];
    return c->alone ? n_running == 0 : n_running < AL_AGENT_CALLS_AT_ONCE;
}

/* Starts what may: in order, nothing past an effect that has not ended. */
static void start_some(struct al_agent *a)
{
    struct al_agent_calls *calls = &a->turn->calls;
    size_t n_running = 0;
    for (size_t i = 0; i < calls->n; i++) {
        struct al_agent_call *c = calls->v[i];
        if (a->cancelled || a->turn->ending)
            return;
        if (c->state == AL_AGENT_CALL_WAITING) {
            if (!may_start(calls, i, n_running))
                return;
            if (calls->n_ended > 0)
                al_failpoint("agent.between_calls");
            start_call(c);
        }
        if (c->state == AL_AGENT_CALL_RUNNING) {
            n_running++;
            if (c->alone)
                return;
        }
    }
}

/* What waits ends at once; what is in flight is asked to, and ends later. */
static void stop_calls(struct al_agent *a)
{
    struct al_agent_calls *calls = &a->turn->calls;
    bool was = calls->pumping;
    calls->pumping = true;
    for (size_t i = 0; i < calls->n; i++) {
        struct al_agent_call *c = calls->v[i];
        if (c->state == AL_AGENT_CALL_ENDED || c->cancelling)
            continue;
        c->cancelling = true;
        if (c->state == AL_AGENT_CALL_WAITING) {
            c->began_ns = al_mono_ns();
            end_cancelled(c);
        } else if (c->call) {
            al_call_cancel(c->call);
            if (c->tool && c->tool->effect == AL_EFFECT_READ)
                end_cancelled(c); /* it changes nothing, whenever it ends */
        }
    }
    calls->pumping = was;
}

static void give_results(struct al_agent *a)
{
    struct al_agent_calls *calls = &a->turn->calls;
    for (size_t i = 0; i < calls->n; i++) {
        const struct al_agent_call *c = calls->v[i];
        al_history_add_result(a, al_str_of(c->id), al_buf_str(&c->result), c->is_error);
    }
    al_calls_free(calls);
}

static void pump(struct al_agent *a)
{
    struct al_agent_turn *t = a->turn;
    if (t->calls.pumping)
        return;
    t->calls.pumping = true;
    start_some(a);
    t->calls.pumping = false;
    if (t->ending && t->calls.n_ended < t->calls.n)
        stop_calls(a);
    if (t->calls.n_ended < t->calls.n)
        return;
    give_results(a);
    al_turn_calls_done(a);
}

void al_calls_start(struct al_agent *a)
{
    const struct al_llm_message *m = &a->history.v[a->history.n - 1];
    struct al_agent_calls *calls = &a->turn->calls;
    al_buf_clear(&calls->loop);
    calls->v = al_xcalloc(m->n_parts + 1, sizeof(*calls->v));
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == AL_LLM_CALL)
            calls->v[calls->n++] = new_call(a, &m->parts[i]);
    if (a->cancelled)
        al_calls_cancel(a);
    else
        pump(a);
}

void al_calls_cancel(struct al_agent *a)
{
    stop_calls(a);
    pump(a);
}
