/* What a call leaves behind: the audit of decisions, and the run row of a direct call with an effect. */
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/call_int.h"

#include <stdio.h>
#include <string.h>

#define PREVIEW_CHARS 500
/* Redacting reads the whole text: beyond this, an argument's size is all that is kept. */
#define PREVIEW_MAX_ARGS (1u << 20)
#define RECORD_TEXT_CHARS 2000
#define RECORD_STRUCTURED_MAX (64u << 10)

static char *mutable_text(const char *z)
{
    return (char *)(uintptr_t)z; /* the store's row structs own nothing here and change nothing */
}

void al_call_preview(const struct al_call *call, struct al_buf *out)
{
    if (call->args_raw.n > PREVIEW_MAX_ARGS) {
        al_buf_addf(out, "‹%zu bytes›", call->args_raw.n);
        return;
    }
    autobuf struct al_buf redacted = AL_BUF_INIT(PREVIEW_MAX_ARGS * 4);
    al_redact_json(call->args_raw, &redacted);
    struct al_str all = al_buf_str(&redacted), head = al_utf8_head(all, PREVIEW_CHARS);
    al_buf_add_str(out, head);
    if (head.n < all.n)
        al_buf_adds(out, "…");
}

const char *al_call_status(const struct al_call *call)
{
    switch (call->err.code) {
    case AL_OK:
        return "completed";
    case AL_CANCELLED:
        return "cancelled";
    case AL_TIMEOUT:
    case AL_TOOL_TIMEOUT:
        return "timed_out";
    default:
        return call->priv->refused ? "refused" : "failed";
    }
}

int al_call_audit(struct al_call_core *c, struct al_err *err)
{
    struct al_call *call = &c->call;
    if (!c->refused && !(err && c->serial && call->origin != AL_ORIGIN_SCRIPT))
        return 0;
    autobuf struct al_buf reason = AL_BUF_INIT(2048);
    if (c->refused)
        al_buf_adds(&reason, call->err.msg);
    else if (c->why)
        al_buf_adds(&reason, c->why);
    else
        al_buf_adds(&reason,
                    call->origin == AL_ORIGIN_CLI ? "typed by a person" : "allowed by a flag or a grant");
    al_buf_addc(&reason, 0);
    struct al_decision d = {
        .at_ms = al_wall_ms(),
        .session = call->core->session.id,
        .run = mutable_text(call->run_id),
        .tool = mutable_text(call->tool->name),
        .effect = mutable_text(al_effect_name(call->tool->effect)),
        .origin = mutable_text(al_origin_name(call->origin)),
        .decision = mutable_text(c->decision),
        .reason = reason.p,
    };
    struct al_err own;
    if (al_store_decision_add(call->core->store, &d, err ? err : &own) == 0 || !err)
        return 0;
    return al_wrap(err, "the decision cannot be written down");
}

/* The row of the one call; views into buffers of the caller. */
static void fill_row(const struct al_call_core *c, struct al_call_row *row, char sha[AL_SHA256_HEX],
                     struct al_buf *preview)
{
    const struct al_call *call = &c->call;
    al_sha256(call->args_raw, sha);
    al_call_preview(call, preview);
    al_buf_addc(preview, 0);
    *row = (struct al_call_row){
        .seq = 1,
        .tool = mutable_text(call->tool->name),
        .effect = mutable_text(al_effect_name(call->tool->effect)),
        .args_sha256 = sha,
        .args_preview = preview->p,
        .decision = mutable_text(c->decision),
        .status = mutable_text("running"),
        .started_ms = c->started_ms,
    };
}

int al_call_row_begin(struct al_call_core *c, struct al_err *err)
{
    struct al_call *call = &c->call;
    struct al_store *store = call->core->store;
    struct al_run run = {
        .host_id = mutable_text(al_store_host_id(store)),
        .kind = mutable_text("tool"),
        .title = mutable_text(call->tool->name),
        .source = mutable_text(call->core->source),
        .engine = mutable_text("{}"),
        .limits = mutable_text("{}"),
        .status = mutable_text("running"),
        .created_ms = c->started_ms,
        .started_ms = c->started_ms,
        .n_calls = 1,
    };
    al_id_new(run.id, "exec");
    memcpy(run.session, call->core->session.id, sizeof(run.session));
    char sha[AL_SHA256_HEX];
    autobuf struct al_buf preview = AL_BUF_INIT(PREVIEW_CHARS * 4 + 16);
    struct al_call_row row;
    fill_row(c, &row, sha, &preview);
    bool sync = call->tool->effect == AL_EFFECT_WRITE ||
                (call->tool->effect == AL_EFFECT_EXTERNAL && !call->tool->only_reads);
    if (al_store_run_begin(store, &run, (struct al_str){NULL, 0}, err) < 0)
        return al_wrap(err, "the run cannot be written down");
    snprintf(call->execution_id, sizeof(call->execution_id), "%s", run.id);
    c->has_row = true;
    if (al_store_call_begin(store, run.id, &row, sync, err) < 0)
        return al_wrap(err, "the call cannot be written down");
    return 0;
}

/* The result as faces show it, with a bounded text. */
static void make_record(const struct al_call_core *c, struct al_buf *out)
{
    const struct al_call *call = &c->call;
    autobuf struct al_buf plain = AL_BUF_INIT(1u << 20);
    struct al_jw w;
    al_jw_init(&w, &plain);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "executionId", call->execution_id);
    al_jw_kstrz(&w, "tool", call->tool->name);
    al_jw_kstrz(&w, "status", al_call_status(call));
    al_jw_kstr(&w, "text", al_utf8_head(al_buf_str(&call->text), RECORD_TEXT_CHARS));
    bool fits = call->structured.n > 0 && call->structured.n <= RECORD_STRUCTURED_MAX;
    if (fits)
        al_jw_kraw(&w, "structured", al_buf_str(&call->structured));
    al_jw_kbool(&w, "truncated",
                (call->structured.n > 0 && !fits) ||
                    al_utf8_count(al_buf_str(&call->text)) > RECORD_TEXT_CHARS);
    if (call->err.code != AL_OK) {
        al_jw_key(&w, "error");
        al_jw_obj(&w);
        al_jw_kstrz(&w, "code", al_code_name(call->err.code));
        al_jw_kstrz(&w, "message", call->err.msg);
        if (call->err.hint[0])
            al_jw_kstrz(&w, "hint", call->err.hint);
        al_jw_end(&w);
    }
    al_jw_kint(&w, "durationMs", c->ended_ms > c->started_ms ? c->ended_ms - c->started_ms : 0);
    al_jw_end(&w);
    al_redact_json(al_buf_str(&plain), out);
}

void al_call_row_end(struct al_call_core *c)
{
    struct al_call *call = &c->call;
    struct al_store *store = call->core->store;
    const char *code = call->err.code == AL_OK ? NULL : al_code_name(call->err.code);
    autobuf struct al_buf record = AL_BUF_INIT(4u << 20);
    make_record(c, &record);
    al_buf_addc(&record, 0);
    int64_t bytes = (int64_t)(call->relayed.n      ? call->relayed.n
                              : call->structured.n ? call->structured.n
                                                   : call->text.n);
    struct al_call_row row = {
        .seq = 1,
        .tool = mutable_text(call->tool->name),
        .status = mutable_text(al_call_status(call)),
        .code = mutable_text(code),
        .ended_ms = c->ended_ms,
        .bytes = bytes,
    };
    struct al_run run = {
        .status = mutable_text(al_call_status(call)),
        .error_code = mutable_text(code),
        .error_msg = mutable_text(code ? call->err.msg : NULL),
        .record = al_buf_failed(&record) ? NULL : record.p,
        .ended_ms = c->ended_ms,
        .n_calls = 1,
        .text_bytes = (int64_t)call->text.n,
        .tool_bytes = bytes,
    };
    memcpy(run.id, call->execution_id, sizeof(run.id));
    run.id[sizeof(run.id) - 1] = 0;
    struct al_err err;
    /* The effect has happened: what cannot be closed here is closed as interrupted by the next start. */
    if (al_store_call_end(store, run.id, &row, &err) < 0 || al_store_run_end(store, &run, &err) < 0)
        al_log(AL_LOG_ERROR, "core", "the end of %s cannot be written down: %s", run.id, err.msg);
}
