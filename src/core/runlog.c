#include "core/runlog.h"

#include "base/ident.h"
#include "base/log.h"

/* The first print goes into the journal at once, what follows at most this often or at this size. */
#define FLUSH_MS 50
/* That a run has started, and other rows, are written this late at most, many at once. */
#define ROWS_MS 10
#define FLUSH_BYTES (64u << 10)
#define MAX_PROGRESS (64u << 10)

void al_runlog_tell(const struct al_runlog *l, const char *what, const struct al_err *err)
{
    al_log(AL_LOG_ERROR, "journal", "%s: %s: %s", l->id, what, err->msg);
}

void al_runlog_init(struct al_runlog *l, struct al_loop *loop, struct al_store *store, const char *id,
                    size_t max_prints)
{
    *l = (struct al_runlog){.loop = loop, .store = store, .id = id};
    al_buf_init(&l->prints, max_prints);
    al_buf_init(&l->progress, MAX_PROGRESS);
}

void al_runlog_free(struct al_runlog *l)
{
    al_timer_stop(l->timer);
    l->timer = NULL;
    al_buf_free(&l->prints);
    al_buf_free(&l->progress);
}

static void flush_start(struct al_runlog *l)
{
    struct al_err err = {0};
    if (!l->start_due)
        return;
    l->start_due = false;
    if (al_store_run_started(l->store, l->id, l->pid, &err) < 0)
        al_runlog_tell(l, "start", &err);
}

static void flush_event(struct al_runlog *l, const char *type, struct al_buf *body)
{
    struct al_err err = {0};
    if (!body->n)
        return;
    l->at_ms = al_mono_ms();
    if (al_store_event_add(l->store, l->id, type, al_buf_str(body), &err) < 0)
        al_runlog_tell(l, type, &err);
    al_buf_clear(body);
}

static void flush_all(struct al_runlog *l)
{
    al_timer_stop(l->timer);
    l->timer = NULL;
    flush_start(l);
    if (l->rows_due)
        l->rows(l->ud);
    l->rows_due = false;
    flush_event(l, "print", &l->prints);
    flush_event(l, "progress", &l->progress);
}

/* One transaction for all that waits: its price is that of one row. */
static bool begin_batch(struct al_runlog *l)
{
    struct al_err err = {0};
    if (al_store_batch_begin(l->store, &err) == 0)
        return true;
    al_runlog_tell(l, "rows", &err);
    return false;
}

static void end_batch(struct al_runlog *l)
{
    struct al_err err = {0};
    if (al_store_batch_end(l->store, &err) < 0)
        al_runlog_tell(l, "rows", &err);
}

void al_runlog_flush(struct al_runlog *l)
{
    if (!l->start_due && !l->rows_due && !l->prints.n && !l->progress.n)
        return;
    bool batch = begin_batch(l);
    flush_all(l);
    if (batch)
        end_batch(l);
}

static void on_timer(void *ud)
{
    struct al_runlog *l = ud;
    l->timer = NULL;
    al_runlog_flush(l);
}

static void flush_within(struct al_runlog *l, uint64_t ms)
{
    if (!l->timer)
        l->timer = al_timer_start(l->loop, ms, on_timer, l);
}

static void flush_soon(struct al_runlog *l)
{
    uint64_t since = al_mono_ms() - l->at_ms;
    if (l->prints.n >= FLUSH_BYTES || (!l->timer && since >= FLUSH_MS))
        al_runlog_flush(l);
    else
        flush_within(l, FLUSH_MS - (since < FLUSH_MS ? since : 0));
}

void al_runlog_started(struct al_runlog *l, int64_t pid)
{
    l->pid = pid;
    l->start_due = true;
    flush_within(l, ROWS_MS);
}

void al_runlog_rows_soon(struct al_runlog *l)
{
    l->rows_due = true;
    flush_within(l, ROWS_MS);
}

void al_runlog_print(struct al_runlog *l, struct al_str text)
{
    if (l->prints.n && l->prints.n + text.n > FLUSH_BYTES)
        al_runlog_flush(l);
    al_buf_add_str(&l->prints, text);
    flush_soon(l);
}

void al_runlog_progress(struct al_runlog *l, struct al_str json)
{
    al_buf_clear(&l->progress);
    al_buf_add_str(&l->progress, json);
    flush_soon(l);
}

void al_runlog_event(struct al_runlog *l, const char *type, struct al_str body)
{
    struct al_err err = {0};
    al_runlog_flush(l);
    if (al_store_event_add(l->store, l->id, type, body, &err) < 0)
        al_runlog_tell(l, type, &err);
}

void al_runlog_end(struct al_runlog *l, const struct al_run *row)
{
    struct al_err err = {0};
    l->start_due = false; /* the row's end says it, too */
    bool batch = begin_batch(l);
    flush_all(l);
    if (al_store_run_end(l->store, row, &err) < 0)
        al_runlog_tell(l, "end", &err);
    if (batch)
        end_batch(l);
}
