#include "core/jsrun_int.h"

static struct al_store *store_of(const struct jsrun *r)
{
    return al_core_store(r->core);
}

int jsrun_journal_begin(struct jsrun *r, struct al_err *err)
{
    autobuf struct al_buf engine = AL_BUF_INIT(4096), limits = AL_BUF_INIT(4096);
    jsrun_engine_json(r, &engine);
    jsrun_limits_json(r, &limits);
    al_buf_addc(&engine, '\0');
    al_buf_addc(&limits, '\0');
    char sha[AL_SHA256_HEX];
    al_sha256(r->code, sha);
    struct al_run row = {
        .host_id = (char *)al_store_host_id(store_of(r)),
        .kind = (char *)(r->legacy ? "execute" : "js_run"),
        .title = (char *)r->title,
        .source = (char *)al_core_source(r->core),
        .code_sha256 = sha,
        .engine = engine.p,
        .limits = limits.p,
        .status = (char *)"queued",
        .created_ms = r->created_wall_ms,
    };
    memcpy(row.id, r->id, sizeof row.id);
    memcpy(row.session, al_core_session(r->core)->id, sizeof row.session);
    if (al_store_run_begin(store_of(r), &row, r->code, err) < 0)
        return -1;
    r->began = true;
    return 0;
}

static struct al_call_row row_of(const struct jsrun_call *c)
{
    return (struct al_call_row){
        .seq = c->seq,
        .tool = (char *)c->tool,
        .effect = (char *)al_effect_name(c->effect),
        .args_sha256 = (char *)c->args_sha256,
        .args_preview = (char *)c->preview,
        .decision = (char *)c->decision,
        .status = (char *)c->status,
        .code = c->code ? (char *)al_code_name(c->code) : NULL,
        .started_ms = c->started_wall_ms,
        .ended_ms = c->open ? 0 : c->started_wall_ms + (int64_t)(c->ended_ms - c->started_ms),
        .bytes = (int64_t)c->bytes,
    };
}

static void write_row(struct jsrun *r, struct jsrun_call *c)
{
    struct al_err err = {0};
    struct al_call_row row = row_of(c);
    c->row_due = false;
    int done = c->has_row ? al_store_call_end(store_of(r), r->id, &row, &err)
                          : al_store_call_begin(store_of(r), r->id, &row, false, &err);
    c->has_row = true;
    if (done < 0)
        al_runlog_tell(&r->log, "call", &err);
}

static void flush_rows(void *ud)
{
    struct jsrun *r = ud;
    for (size_t i = 0; i < r->n_calls; i++) {
        if (r->calls[i]->row_due)
            write_row(r, r->calls[i]);
    }
}

void jsrun_journal_init(struct jsrun *r)
{
    al_runlog_init(&r->log, al_core_loop(r->core), store_of(r), r->id, JSRUN_MAX_TEXT + (1u << 20));
    r->log.rows = flush_rows;
    r->log.ud = r;
}

void jsrun_journal_started(void *ud, int64_t pid)
{
    struct jsrun *r = ud;
    al_runlog_started(&r->log, pid);
}

/* A call with effects has its row before it begins, on the disk where the effect would outlive us. */
int jsrun_journal_call_begin(struct jsrun *r, struct jsrun_call *c, struct al_err *err)
{
    if (c->effect == AL_EFFECT_READ || c->effect == AL_EFFECT_INTERNAL || c->only_reads) {
        c->row_due = true;
        al_runlog_rows_soon(&r->log);
        return 0;
    }
    al_runlog_flush(&r->log);
    struct al_call_row row = row_of(c);
    if (al_store_call_begin(store_of(r), r->id, &row, c->effect != AL_EFFECT_PROCESS, err) < 0)
        return -1;
    c->has_row = true;
    return 0;
}

void jsrun_journal_call_end(struct jsrun *r, struct jsrun_call *c)
{
    if (c->effect != AL_EFFECT_READ && c->effect != AL_EFFECT_INTERNAL && !c->only_reads) {
        write_row(r, c);
        return;
    }
    c->row_due = true;
    al_runlog_rows_soon(&r->log);
}

void jsrun_journal_security(struct jsrun *r)
{
    al_runlog_event(&r->log, "security", al_buf_str(&r->message));
}

void jsrun_journal_end(struct jsrun *r)
{
    if (!r->began)
        return;
    autobuf struct al_buf record = AL_BUF_INIT(JSRUN_MAX_RECORD);
    jsresult_record(r, true, &record);
    al_buf_addc(&record, '\0');
    al_buf_addc(&r->message, '\0');
    struct al_run row = {
        .status = (char *)jsrun_status(r),
        .error_code = r->err.code ? (char *)al_code_name(r->err.code) : NULL,
        .error_msg = r->err.code ? r->message.p : NULL,
        .record = al_buf_failed(&record) ? NULL : record.p,
        .started_ms = r->started_wall_ms,
        .ended_ms = al_wall_ms(),
        .n_calls = (int64_t)r->n_calls,
        .text_bytes = (int64_t)r->text.n,
        .tool_bytes = (int64_t)r->tool_bytes,
        .cpu_ms = (int64_t)r->cpu_ms,
        .heap_peak_bytes = (int64_t)r->heap_peak_bytes,
    };
    memcpy(row.id, r->id, sizeof row.id);
    al_runlog_end(&r->log, &row);
    r->message.n--;
}
