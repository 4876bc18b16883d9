#include "base/log.h"
#include "core/jsrun_int.h"

/* The first line goes into the journal at once, what follows at most this often or at this size. */
#define FLUSH_MS 50
/* That a run has started, and its calls without effects, are written this late at most, many at once. */
#define ROWS_MS 10
#define FLUSH_BYTES (64u << 10)

static struct al_store *store_of(const struct jsrun *r)
{
    return al_core_store(r->core);
}

/* A row that cannot be written after the start does not stop a run; doctor and the log show the state's
 * trouble. */
static void tell(const struct jsrun *r, const char *what, const struct al_err *err)
{
    al_log(AL_LOG_ERROR, "journal", "%s: %s: %s", r->id, what, err->msg);
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

static void flush_start(struct jsrun *r)
{
    struct al_err err = {0};
    if (!r->start_due)
        return;
    r->start_due = false;
    if (al_store_run_started(store_of(r), r->id, r->pid, &err) < 0)
        tell(r, "start", &err);
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
        tell(r, "call", &err);
}

static void flush_rows(struct jsrun *r)
{
    for (size_t i = 0; r->rows_due && i < r->n_calls; i++) {
        if (r->calls[i]->row_due)
            write_row(r, r->calls[i]);
    }
    r->rows_due = false;
}

static void flush_event(struct jsrun *r, const char *type, struct al_buf *body)
{
    struct al_err err = {0};
    if (!body->n)
        return;
    r->event_at_ms = al_mono_ms();
    if (al_store_event_add(store_of(r), r->id, type, al_buf_str(body), &err) < 0)
        tell(r, type, &err);
    al_buf_clear(body);
}

static void flush_all(struct jsrun *r)
{
    al_timer_stop(r->event_timer);
    r->event_timer = NULL;
    flush_start(r);
    flush_rows(r);
    flush_event(r, "print", &r->events);
    flush_event(r, "progress", &r->event_progress);
}

/* One transaction for all that waits: its price is that of one row. */
static bool begin_batch(struct jsrun *r)
{
    struct al_err err = {0};
    if (al_store_batch_begin(store_of(r), &err) == 0)
        return true;
    tell(r, "rows", &err);
    return false;
}

static void end_batch(struct jsrun *r)
{
    struct al_err err = {0};
    if (al_store_batch_end(store_of(r), &err) < 0)
        tell(r, "rows", &err);
}

void jsrun_journal_flush(struct jsrun *r)
{
    if (!r->start_due && !r->rows_due && !r->events.n && !r->event_progress.n)
        return;
    bool batch = begin_batch(r);
    flush_all(r);
    if (batch)
        end_batch(r);
}

static void on_timer(void *ud)
{
    struct jsrun *r = ud;
    r->event_timer = NULL;
    jsrun_journal_flush(r);
}

static void flush_within(struct jsrun *r, uint64_t ms)
{
    if (!r->event_timer)
        r->event_timer = al_timer_start(al_core_loop(r->core), ms, on_timer, r);
}

static void flush_soon(struct jsrun *r)
{
    uint64_t since = al_mono_ms() - r->event_at_ms;
    if (r->events.n >= FLUSH_BYTES || (!r->event_timer && since >= FLUSH_MS))
        jsrun_journal_flush(r);
    else
        flush_within(r, FLUSH_MS - (since < FLUSH_MS ? since : 0));
}

void jsrun_journal_started(void *ud, int64_t pid)
{
    struct jsrun *r = ud;
    r->pid = pid;
    r->start_due = true;
    flush_within(r, ROWS_MS);
}

void jsrun_journal_print(struct jsrun *r, struct al_str line)
{
    if (r->events.n && r->events.n + line.n > FLUSH_BYTES)
        jsrun_journal_flush(r);
    al_buf_add_str(&r->events, line);
    al_buf_addc(&r->events, '\n');
    flush_soon(r);
}

/* Of progress that comes faster than the journal writes, the last counts. */
void jsrun_journal_progress(struct jsrun *r, struct al_str json)
{
    al_buf_clear(&r->event_progress);
    al_buf_add_str(&r->event_progress, json);
    flush_soon(r);
}

/* A call with effects has its row before it begins, on the disk where the effect would outlive us. */
int jsrun_journal_call_begin(struct jsrun *r, struct jsrun_call *c, struct al_err *err)
{
    if (c->effect == AL_EFFECT_READ || c->effect == AL_EFFECT_INTERNAL || c->only_reads) {
        c->row_due = r->rows_due = true;
        flush_within(r, ROWS_MS);
        return 0;
    }
    jsrun_journal_flush(r);
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
    c->row_due = r->rows_due = true;
    flush_within(r, ROWS_MS);
}

void jsrun_journal_security(struct jsrun *r)
{
    struct al_err err = {0};
    jsrun_journal_flush(r);
    if (al_store_event_add(store_of(r), r->id, "security", al_buf_str(&r->message), &err) < 0)
        tell(r, "security", &err);
}

void jsrun_journal_end(struct jsrun *r)
{
    if (!r->began)
        return;
    r->start_due = false; /* the row's end says it, too */
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
    struct al_err err = {0};
    bool batch = begin_batch(r);
    flush_all(r);
    if (al_store_run_end(store_of(r), &row, &err) < 0)
        tell(r, "end", &err);
    if (batch)
        end_batch(r);
    r->message.n--;
}
