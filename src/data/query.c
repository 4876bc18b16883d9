/* Queries and descriptions, seen from the host: who waits, who runs, what they said. */
#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/data_int.h"
#include "os/fd.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void start_waiting(struct al_data *d);

/* -- lists */

static void link_job(struct al_query_job *j, struct al_query_job **at)
{
    j->link = at;
    j->next = *at;
    if (j->next)
        j->next->link = &j->next;
    *at = j;
}

static void unlink_job(struct al_query_job *j)
{
    *j->link = j->next;
    if (j->next)
        j->next->link = j->link;
}

static void free_job(struct al_query_job *j)
{
    al_timer_stop(j->clock);
    al_timer_stop(j->end_timer);
    for (size_t i = 0; i < j->n_fds; i++)
        al_close(&j->fds[i]);
    al_buf_free(&j->frame);
    al_buf_free(&j->text);
    al_buf_free(&j->json);
    al_buf_free(&j->details);
    free(j);
}

/* -- the clock: it goes while the process has the query and its reader takes what it says */

static void out_of_time(void *ud)
{
    struct al_query_job *j = ud;
    j->clock = NULL;
    j->going_ms = 0;
    al_query_proc_kill(j->proc, AL_CAUSE_TIMEOUT, "");
}

static void clock_go(struct al_query_job *j)
{
    const struct al_worker *w = &j->proc->w;
    if (j->clock || w->pidfd < 0 || w->paused || w->out.n > w->out_at)
        return;
    j->going_ms = al_mono_ms();
    j->clock = al_timer_start(j->data->loop, j->left_ms, out_of_time, j);
}

static void clock_stop(struct al_query_job *j, uint64_t at_ms)
{
    if (!j->clock)
        return;
    al_timer_stop(j->clock);
    j->clock = NULL;
    uint64_t gone_ms = at_ms - j->going_ms;
    j->left_ms = gone_ms < j->left_ms ? j->left_ms - gone_ms : 1;
}

/* -- the end */

static void tell_end(struct al_query_job *j, const struct al_err *err)
{
    struct al_query_end end = {.err = *err, .details = al_buf_str(&j->details)};
    if (err->code == AL_OK) {
        end.text = al_buf_str(&j->text);
        end.json = al_buf_str(&j->json);
    }
    j->ops->end(j->ud, &end);
    free_job(j);
}

static void why_ended(const struct al_query_job *j, struct al_err *ret)
{
    const char *what = j->describes ? "the description" : "the query";
    const struct al_worker *w = &j->proc->w;
    if (w->cause == AL_CAUSE_TIMEOUT) {
        al_fail(ret, AL_QUERY_TIMEOUT, "%s ran longer than its %u ms", what, j->timeout_ms);
        al_hint(ret, "ask for less (a WHERE, fewer rows), or for a longer timeoutMs");
    } else if (w->cause != AL_CAUSE_NONE || !w->ended) {
        al_worker_why(w, what, ret);
    } else if (j->has_said && j->said.err.code != AL_OK) {
        *ret = j->said.err;
    } else if (!j->has_said || j->json.n == 0) {
        al_fail(ret, AL_ENGINE_CRASHED, "the process of %s ended without a result", what);
    }
}

/* Died before it had read a byte of its query, as a spare may that was killed while it waited. Once. */
static bool begin_again(struct al_query_proc *p)
{
    struct al_data_page page = {0};
    struct al_err err = {0};
    if (p->retried || !p->w.gone || !al_worker_read_nothing(&p->w) ||
        pwrite(p->page, &page, sizeof page, 0) != (ssize_t)sizeof page)
        return false;
    p->retried = true;
    clock_stop(p->job, al_mono_ms());
    al_worker_forget_process(&p->w);
    if (al_query_proc_ask(p, &err) == 0)
        return true;
    al_worker_kill(&p->w, AL_CAUSE_NO_START, err.msg);
    return false;
}

void al_query_proc_over(struct al_query_proc *p)
{
    struct al_query_job *j = p->job;
    struct al_data *d = p->data;
    struct al_err err = {0};
    if (!j) {
        al_query_proc_free(p);
        return;
    }
    if (begin_again(p))
        return;
    why_ended(j, &err);
    unlink_job(j);
    d->n_jobs--;
    al_query_proc_free(p);
    start_waiting(d);
    tell_end(j, &err);
}

/* It has said all. Its process is killed, and reaped when it has gone: nobody waits for that. */
static void said_all(void *ud)
{
    struct al_query_job *j = ud;
    struct al_data *d = j->data;
    struct al_err err = {0};
    j->end_timer = NULL;
    why_ended(j, &err);
    j->proc->job = NULL;
    j->proc = NULL;
    unlink_job(j);
    d->n_jobs--;
    start_waiting(d);
    tell_end(j, &err);
}

static void end_early(void *ud)
{
    struct al_query_job *j = ud;
    j->end_timer = NULL;
    unlink_job(j);
    tell_end(j, &j->early);
}

/* It never had a process. */
static void ends_early(struct al_query_job *j)
{
    link_job(j, &j->data->jobs);
    j->end_timer = al_timer_start(j->data->loop, 0, end_early, j);
}

/* -- what a process says */

static void take_chunk(struct al_query_proc *p, struct al_str bytes)
{
    struct al_query_job *j = p->job;
    if (!j->streams || bytes.n == 0 || bytes.n > AL_DATA_CHUNK_MAX) {
        al_worker_lie(&p->w, "bytes that nobody asked for");
        return;
    }
    j->in_chunk = true;
    j->resumed = false;
    uint64_t began_ms = al_mono_ms();
    bool more = j->ops->chunk(j->ud, bytes);
    j->in_chunk = false;
    if (p->w.cause != AL_CAUSE_NONE)
        return;
    if (!more && !j->resumed) {
        al_worker_pause(&p->w);
        clock_stop(j, began_ms);
    } else if (al_mono_ms() - began_ms > AL_DATA_READER_MS) { /* a reader that was waited for in there */
        clock_stop(j, began_ms);
        clock_go(j);
    }
}

static bool take_object(struct al_buf *to, struct al_str json)
{
    return json.n && json.p[0] == '{' && al_said_part(to, json, AL_DATA_JSON_DEPTH);
}

void al_query_proc_frame(struct al_query_proc *p, const struct al_frame *f)
{
    struct al_query_job *j = p->job;
    bool fine = true;
    switch (f->type) {
    case AL_DATA_CHUNK:
        take_chunk(p, f->payload);
        return;
    case AL_DATA_TEXT:
        fine = al_said_part(&j->text, f->payload, 0);
        break;
    case AL_DATA_JSON:
        fine = take_object(&j->json, f->payload);
        break;
    case AL_DATA_DETAILS:
        fine = take_object(&j->details, f->payload);
        break;
    case AL_DATA_END:
        fine = j->has_said = al_said_end(f->payload, AL_SAID_QUERY, &j->said);
        if (fine) {
            clock_stop(j, al_mono_ms());
            al_worker_ended(&p->w);
            /* Now, and not when the query began: the fork must not take the processor from it. */
            if (j->data->started > 1 || j->data->warm)
                al_data_spare_want(j->data);
            j->end_timer = al_timer_start(j->data->loop, 0, said_all, j);
        }
        break;
    default:
        fine = false;
    }
    if (!fine)
        al_worker_lie(&p->w, "a message that is none");
}

void al_query_proc_begun(struct al_query_proc *p)
{
    if (p->job)
        clock_go(p->job);
}

void al_query_proc_sent(struct al_query_proc *p)
{
    if (p->job)
        clock_go(p->job);
}

/* -- the beginning */

/* Gives it a process. */
static int run_job(struct al_query_job *j, struct al_err *err)
{
    struct al_data *d = j->data;
    struct al_query_proc *p = al_query_proc_get(d, err);
    if (!p)
        return -1;
    int fds[AL_QUERY_MAX_DATASETS + 1];
    autofd int spill = j->describes ? -1 : al_data_spill(d);
    struct al_data_hello hello = {.n_datasets = (uint32_t)j->n_fds, .has_spill = spill >= 0};
    memcpy(fds, j->fds, j->n_fds * sizeof *fds);
    fds[j->n_fds] = spill;
    int r = al_fd_send(p->w.channel, &hello, sizeof hello, fds, j->n_fds + hello.has_spill);
    if (r < 0) {
        al_query_proc_free(p);
        return al_fail_errno(err, AL_ENGINE_UNAVAILABLE, -r, "a query cannot be sent to its process");
    }
    p->w.sent += sizeof hello;
    p->job = j;
    j->proc = p;
    al_worker_send(&p->w, al_buf_str(&j->frame));
    al_buf_free(&j->frame);
    for (size_t i = 0; i < j->n_fds; i++)
        al_close(&j->fds[i]);
    link_job(j, &d->jobs);
    d->n_jobs++;
    d->started++;
    return 0;
}

static void start_waiting(struct al_data *d)
{
    while (d->waiting && d->n_jobs < AL_DATA_QUERIES_MAX) {
        struct al_query_job *j = d->waiting;
        unlink_job(j);
        d->n_waiting--;
        if (run_job(j, &j->early) < 0)
            ends_early(j);
    }
}

static int check_query(const struct al_query *q, struct al_err *err)
{
    if (q->n_datasets > AL_QUERY_MAX_DATASETS)
        return al_fail(err, AL_QUERY_LIMIT, "a query reads %zu datasets, at most %d are allowed",
                       q->n_datasets, AL_QUERY_MAX_DATASETS);
    if (q->sql.n > AL_QUERY_MAX_SQL)
        return al_fail(err, AL_QUERY_LIMIT, "the statement has %zu bytes, at most %zu are allowed", q->sql.n,
                       AL_QUERY_MAX_SQL);
    if (q->params_json.n > AL_DATA_PARAMS_MAX)
        return al_fail(err, AL_QUERY_LIMIT, "the parameters have %zu bytes, at most %zu are allowed",
                       q->params_json.n, AL_DATA_PARAMS_MAX);
    return 0;
}

static int take_files(struct al_query_job *j, const struct al_query *q, struct al_err *err)
{
    for (size_t i = 0; i < q->n_datasets; i++) {
        j->fds[i] = al_data_reader(q->datasets[i].fd, "the dataset", err);
        if (j->fds[i] < 0)
            return -1;
        j->n_fds++;
    }
    return 0;
}

static void make_frame(struct al_query_job *j, const struct al_query *q, enum al_data_query_kind kind,
                       int sample_rows)
{
    struct al_data_query_msg m = {
        .max_rows = q->max_rows,
        .n_datasets = (uint32_t)q->n_datasets,
        .timeout_ms = j->timeout_ms,
        .format = (uint32_t)q->format,
        .kind = (uint32_t)kind,
        .sql_n = (uint32_t)q->sql.n,
        .params_n = (uint32_t)q->params_json.n,
        .sample_rows = sample_rows,
        .exact = q->exact,
    };
    for (size_t i = 0; i < q->n_datasets; i++)
        snprintf(m.alias[i], sizeof m.alias[i], "%.*s", (int)sizeof q->datasets[i].alias - 1,
                 q->datasets[i].alias);
    autobuf struct al_buf all = AL_BUF_INIT(sizeof m + q->sql.n + q->params_json.n);
    al_buf_add(&all, &m, sizeof m);
    al_buf_add_str(&all, q->sql);
    al_buf_add_str(&all, q->params_json);
    al_buf_init(&j->frame, AL_FRAME_HEADER + all.n);
    (void)al_frame_put(&j->frame, AL_DATA_QUERY, al_buf_str(&all)); /* it has just that much room */
}

static struct al_query_job *start(struct al_data *d, const struct al_query *q, enum al_data_query_kind kind,
                                  int sample_rows, const struct al_query_ops *ops, void *ud,
                                  struct al_err *err)
{
    if (check_query(q, err) < 0)
        return NULL;
    if (d->n_jobs >= AL_DATA_QUERIES_MAX && d->n_waiting >= AL_DATA_WAITING_MAX) {
        al_fail(err, AL_BUSY, "%d queries run and %d wait already", AL_DATA_QUERIES_MAX, AL_DATA_WAITING_MAX);
        al_hint(err, "try again when some of them have ended");
        return NULL;
    }
    struct al_query_job *j = al_xcalloc(1, sizeof *j);
    j->data = d;
    j->ops = ops;
    j->ud = ud;
    j->describes = kind == AL_DATA_DESCRIBE;
    j->streams = !j->describes && q->format != AL_QUERY_RESULT && ops->chunk;
    j->timeout_ms = q->timeout_ms < 1                     ? 1
                    : q->timeout_ms < AL_DATA_TIMEOUT_MAX ? q->timeout_ms
                                                          : AL_DATA_TIMEOUT_MAX;
    j->left_ms = (uint64_t)j->timeout_ms + AL_DATA_KILL_MS;
    al_buf_init(&j->text, AL_DATA_TEXT_MAX);
    al_buf_init(&j->json, AL_DATA_MAX_JSON);
    al_buf_init(&j->details, AL_DATA_DETAILS_MAX);
    if (take_files(j, q, err) < 0) {
        free_job(j);
        return NULL;
    }
    make_frame(j, q, d->probe ? AL_DATA_PROBE : kind, sample_rows);
    if (d->n_jobs >= AL_DATA_QUERIES_MAX) {
        struct al_query_job **last = &d->waiting;
        while (*last)
            last = &(*last)->next;
        link_job(j, last);
        d->n_waiting++;
    } else if (run_job(j, err) < 0) {
        free_job(j);
        return NULL;
    }
    return j;
}

struct al_query_job *al_query_start(struct al_data *d, const struct al_query *q,
                                    const struct al_query_ops *ops, void *ud, struct al_err *err)
{
    return start(d, q, AL_DATA_RUN, 0, ops, ud, err);
}

struct al_query_job *al_describe_start(struct al_data *d, int dataset_fd, struct al_str sheet,
                                       int sample_rows, const struct al_query_ops *ops, void *ud,
                                       struct al_err *err)
{
    struct al_query q = {
        .datasets = {{.fd = dataset_fd}}, .n_datasets = 1, .sql = sheet, .timeout_ms = AL_DATA_DESCRIBE_MS};
    if (sheet.n > AL_DATA_SHEET_MAX) {
        al_fail(err, AL_NOT_FOUND, "no sheet has a name of %zu bytes", sheet.n);
        return NULL;
    }
    return start(d, &q, AL_DATA_DESCRIBE, sample_rows, ops, ud, err);
}

void al_query_resume_stream(struct al_query_job *j)
{
    if (j->in_chunk)
        j->resumed = true;
    if (!j->proc || !j->proc->w.paused)
        return;
    al_worker_resume(&j->proc->w);
    if (!j->proc->w.gone)
        clock_go(j);
}

/*
 * Which process it is to have is not known yet: that one is killed when it is. The zygote is left alone,
 * others wait for it.
 */
static void leave_process(struct al_query_job *j)
{
    struct al_data *d = j->data;
    al_worker_kill(&j->proc->w, AL_CAUSE_CANCELLED, "");
    al_worker_why(&j->proc->w, j->describes ? "the description" : "the query", &j->early);
    j->proc->job = NULL;
    j->proc = NULL;
    unlink_job(j);
    d->n_jobs--;
    ends_early(j);
    start_waiting(d);
}

void al_query_cancel(struct al_query_job *j)
{
    if (!j || j->end_timer)
        return;
    if (j->proc && j->proc->zygote) {
        leave_process(j);
        return;
    }
    if (j->proc) {
        al_query_proc_kill(j->proc, AL_CAUSE_CANCELLED, "");
        return;
    }
    unlink_job(j);
    j->data->n_waiting--;
    al_fail(&j->early, AL_CANCELLED, "the query was cancelled");
    ends_early(j);
}

static void free_all(struct al_query_job *j)
{
    while (j) {
        struct al_query_job *next = j->next;
        if (j->proc)
            j->proc->job = NULL;
        free_job(j);
        j = next;
    }
}

void al_data_queries_free(struct al_data *d)
{
    free_all(d->jobs);
    free_all(d->waiting);
    d->jobs = d->waiting = NULL;
}
