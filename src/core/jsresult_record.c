/* The record of a run: for faces, for --json and for the journal; and the small form of it that a model may
 * see. */
#include "base/text.h"
#include "core/jsrun.h"
#include "core/jsrun_int.h"

/* Characters: ,"text":"…" around the text, and the least that is worth showing. */
#define TEXT_FRAME 12
#define TEXT_MIN 40

static void add_calls(const struct jsrun *r, struct al_jw *w)
{
    al_jw_key(w, "calls");
    al_jw_arr(w);
    for (size_t i = 0; i < r->n_calls; i++) {
        const struct jsrun_call *c = r->calls[i];
        al_jw_obj(w);
        al_jw_kint(w, "seq", c->seq);
        al_jw_kstrz(w, "tool", c->tool);
        al_jw_kstrz(w, "args", c->preview);
        al_jw_kstrz(w, "status", c->status);
        if (c->code)
            al_jw_kstrz(w, "code", al_code_name(c->code));
        al_jw_kint(w, "startedMs", (int64_t)(c->started_ms - r->t0_ms));
        al_jw_kint(w, "durationMs", (int64_t)(c->ended_ms - c->started_ms));
        al_jw_kint(w, "bytes", (int64_t)c->bytes);
        al_jw_end(w);
    }
    al_jw_end(w);
}

static void add_error(const struct jsrun *r, struct al_jw *w)
{
    al_jw_key(w, "error");
    al_jw_obj(w);
    al_jw_kstrz(w, "code", al_code_name(r->err.code));
    al_jw_kstr(w, "message", al_buf_str(&r->message));
    if (r->err.hint[0])
        al_jw_kstrz(w, "hint", r->err.hint);
    if (r->line > 0)
        al_jw_kint(w, "line", r->line);
    if (r->column > 0)
        al_jw_kint(w, "column", r->column);
    if (r->stack.n)
        al_jw_kstr(w, "stack", al_buf_str(&r->stack));
    al_jw_end(w);
}

static void add_stats(const struct jsrun *r, struct al_jw *w)
{
    al_jw_key(w, "stats");
    al_jw_obj(w);
    al_jw_kint(w, "durationMs", (int64_t)r->duration_ms);
    al_jw_kint(w, "cpuMs", (int64_t)r->cpu_ms);
    al_jw_kint(w, "heapPeakBytes", (int64_t)r->heap_peak_bytes);
    al_jw_kint(w, "toolCalls", (int64_t)r->n_calls);
    al_jw_kint(w, "toolBytes", (int64_t)r->tool_bytes);
    al_jw_end(w);
}

static void add_saved(const struct jsrun *r, struct al_jw *w)
{
    const char *rel = r->saved_value ? r->saved_value : r->saved_text;
    if (!rel)
        return;
    autobuf struct al_buf path = AL_BUF_INIT(256);
    al_buf_addf(&path, "scratch:%s", rel);
    al_jw_kstr(w, "savedTo", al_buf_str(&path));
}

/* What the script's author should know, as in the text: a call that was not awaited, a value that JSON has no
 * form for. */
static void add_notes(const struct jsrun *r, struct al_jw *w)
{
    if (r->n_notes == 0)
        return;
    al_jw_key(w, "notes");
    al_jw_arr(w);
    for (size_t i = 0; i < r->n_notes; i++)
        al_jw_strz(w, r->notes[i]);
    al_jw_end(w);
}

/* So that the run can be made again from the journal; a larger one is only measured. */
static void add_input(const struct jsrun *r, struct al_jw *w)
{
    if (!r->input.n)
        return;
    if (r->input.n > JSRUN_KEPT_INPUT) {
        al_jw_kint(w, "inputBytes", (int64_t)r->input.n);
        return;
    }
    autobuf struct al_buf redacted = AL_BUF_INIT(8 * JSRUN_KEPT_INPUT);
    al_redact_json(r->input, &redacted);
    if (redacted.n && !al_buf_failed(&redacted))
        al_jw_kraw(w, "input", al_buf_str(&redacted));
}

/* What is long stands at the end, so that a reader of the first members need not pass it. */
void jsresult_record(const struct jsrun *r, bool kept, struct al_buf *out)
{
    bool drop_value = kept && r->value.n > JSRUN_KEPT_VALUE;
    struct al_str text = al_buf_str(&r->text);
    struct al_str shown = kept ? al_utf8_cut(text, JSRUN_KEPT_VALUE) : text;
    autobuf struct al_buf part = AL_BUF_INIT(256u << 10);
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "executionId", r->id);
    al_jw_kstrz(&w, "status", jsrun_status(r));
    al_jw_kbool(&w, "truncated", r->cut_value || r->cut_text || drop_value || shown.n < text.n);
    add_saved(r, &w);
    add_notes(r, &w);
    if (r->err.code)
        add_error(r, &w);
    jsrun_engine_json(r, &part);
    al_jw_kraw(&w, "engine", al_buf_str(&part));
    if (r->progress.n) {
        al_buf_clear(&part);
        jsrun_progress_json(r, &part);
        al_jw_kraw(&w, "progress", al_buf_str(&part));
    }
    al_jw_key(&w, "state");
    al_jw_obj(&w);
    al_jw_kint(&w, "bytes", (int64_t)r->state_bytes);
    al_jw_kbool(&w, "changed", r->state_changed);
    al_jw_end(&w);
    al_buf_clear(&part);
    jsrun_limits_json(r, &part);
    al_jw_kraw(&w, "limits", al_buf_str(&part));
    add_stats(r, &w);
    add_calls(r, &w);
    if (kept)
        add_input(r, &w);
    al_jw_kraw(&w, "value", r->value.n && !drop_value ? al_buf_str(&r->value) : AL_STR("null"));
    al_jw_kstr(&w, "text", shown);
    al_jw_end(&w);
}

static void bounded_error(struct al_str raw, struct al_jw *w)
{
    struct al_arena a = AL_ARENA_INIT(1u << 20);
    const struct al_json *e;
    if (al_json_parse(&a, raw, &e, NULL) == 0) {
        al_jw_key(w, "error");
        al_jw_obj(w);
        static const char *const texts[] = {"code", "message", "hint"};
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
            struct al_str text = al_json_get_text(e, texts[i]);
            if (text.n)
                al_jw_kstr(w, texts[i], al_utf8_head(text, 300));
        }
        static const char *const numbers[] = {"line", "column"};
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
            const struct al_json *v = al_json_get(e, numbers[i]);
            if (v)
                al_jw_kraw(w, numbers[i], v->raw);
        }
        al_jw_end(w);
    }
    al_arena_free(&a);
}

/* Of a JSON string, what stands within its quotes: as much as fits into max characters of JSON, ended by "…".
 */
static void text_head(struct al_str json, size_t max, struct al_buf *out)
{
    struct al_str rest = {json.p + 1, json.n - 2};
    size_t n = 0, chars = 0;
    while (n < rest.n && chars < max) {
        size_t step = rest.p[n] != '\\' ? 1 : rest.p[n + 1] == 'u' ? 6 : 2;
        while (step == 1 && n + step < rest.n && ((unsigned char)rest.p[n + step] & 0xc0) == 0x80)
            step++; /* the rest of a character */
        chars += (unsigned char)rest.p[n] < 0x80 ? step : 1;
        n += chars <= max ? step : 0;
    }
    al_buf_addc(out, '"');
    al_buf_add(out, rest.p, n);
    al_buf_adds(out, n < rest.n ? "…\"" : "\"");
}

/* What was printed, in the room that the rest leaves. Some clients show a model the structured value alone.
 */
static void add_text(struct al_str record, size_t room, struct al_jw *w)
{
    struct al_str text = jscut_member(record, "text");
    autobuf struct al_buf plain = AL_BUF_INIT(12 * JSRUN_MAX_TEXT);
    if (text.n <= 2 || room < TEXT_MIN)
        return;
    if (al_jsrun_hide_base64(text, &plain))
        text = al_buf_str(&plain);
    autobuf struct al_buf head = AL_BUF_INIT(4 * room + 64);
    text_head(text, room - TEXT_FRAME, &head);
    al_jw_kraw(w, "text", al_buf_str(&head));
}

static void bounded(struct al_str record, bool with_value, size_t text_room, struct al_buf *out)
{
    static const struct al_str null = AL_S("null"), truth = AL_S("true");
    struct al_str value = jscut_member(record, "value"), truncated = jscut_member(record, "truncated");
    struct al_str saved = jscut_member(record, "savedTo"), error = jscut_member(record, "error");
    autobuf struct al_buf plain = AL_BUF_INIT(2 * JSRUN_MAX_VALUE);
    if (with_value && al_jsrun_hide_base64(value, &plain)) {
        value = al_buf_str(&plain);
        truncated = truth;
    }
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kraw(&w, "executionId", jscut_member(record, "executionId"));
    al_jw_kraw(&w, "status", jscut_member(record, "status"));
    al_jw_kraw(&w, "value", with_value && value.n ? value : null);
    al_jw_kraw(&w, "truncated", with_value && truncated.n ? truncated : truth);
    if (saved.n)
        al_jw_kraw(&w, "savedTo", saved);
    if (error.n)
        bounded_error(error, &w);
    add_text(record, text_room, &w);
    al_jw_end(&w);
}

void al_jsrun_bounded(struct al_str record, size_t max, struct al_buf *out)
{
    if (max < 1024)
        max = 1024;
    bool with_value = true;
    autobuf struct al_buf bare = AL_BUF_INIT(4 * max + (16u << 10));
    bounded(record, with_value, 0, &bare);
    if (with_value && (al_buf_failed(&bare) || al_utf8_count(al_buf_str(&bare)) > max)) {
        with_value = false;
        al_buf_clear(&bare);
        bounded(record, with_value, 0, &bare);
    }
    size_t used = al_utf8_count(al_buf_str(&bare));
    bounded(record, with_value, used < max ? max - used : 0, out);
}
