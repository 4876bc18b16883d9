/* Ingests, seen from the host: a process each, what it says, and what became of its file. */
#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/data_int.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#define FSIZE_MIN ((uint64_t)1 << 30)
#define PROGRESS_FREE 64 /* frames that may come at any time; beyond, one each 50 ms */

static void start_waiting(struct al_data *d);

static void link_ingest(struct al_ingest *i, struct al_ingest **at)
{
    i->link = at;
    i->next = *at;
    if (i->next)
        i->next->link = &i->next;
    *at = i;
}

static void unlink_ingest(struct al_ingest *i)
{
    *i->link = i->next;
    if (i->next)
        i->next->link = i->link;
}

static void free_ingest(struct al_ingest *i)
{
    al_timer_stop(i->end_timer);
    al_timer_stop(i->clock);
    if (i->begun)
        al_worker_close(&i->w);
    al_close(&i->source);
    al_close(&i->output);
    al_buf_free(&i->frame);
    al_buf_free(&i->json);
    free(i);
}

/* -- the end */

static void tell_end(struct al_ingest *i, const struct al_err *err)
{
    struct al_ingest_end end = {.err = *err};
    if (err->code == AL_OK) {
        memcpy(end.sha256, i->said.sha256, sizeof end.sha256);
        end.rows = i->said.rows;
        end.bytes = i->said.bytes;
        end.json = al_buf_str(&i->json);
    }
    i->ops->end(i->ud, &end);
    free_ingest(i);
}

static void why_ended(const struct al_ingest *i, struct al_err *ret)
{
    struct stat st;
    if (i->w.cause == AL_CAUSE_TIMEOUT) {
        al_fail(ret, AL_INGEST_LIMIT, "the file was not read within the %llu s that its size is given",
                (unsigned long long)((i->timeout_ms + 999) / 1000));
        al_hint(ret, "try again when the computer has less to do, or give the data in several files");
    } else if (i->w.cause != AL_CAUSE_NONE || !i->w.ended) {
        al_worker_why(&i->w, "the ingest", ret);
        if (ret->code == AL_MEMORY_LIMIT)
            al_hint(ret, "read one sheet of it, or give it as CSV");
    } else if (i->said.err.code != AL_OK) {
        *ret = i->said.err;
    } else if (i->json.n == 0 || fstat(i->output, &st) < 0 || (uint64_t)st.st_size != i->said.bytes) {
        al_fail(ret, AL_ENGINE_CRASHED, "the process of the ingest said what is not so");
    }
}

static void over(void *ud)
{
    struct al_ingest *i = ud;
    struct al_data *d = i->data;
    struct al_err err = {0};
    why_ended(i, &err);
    unlink_ingest(i);
    d->n_ingests--;
    start_waiting(d);
    tell_end(i, &err);
}

static void end_early(void *ud)
{
    struct al_ingest *i = ud;
    i->end_timer = NULL;
    unlink_ingest(i);
    tell_end(i, &i->early);
}

static void ends_early(struct al_ingest *i)
{
    link_ingest(i, &i->data->ingests);
    i->end_timer = al_timer_start(i->data->loop, 0, end_early, i);
}

/* -- what it says */

static bool take_progress(struct al_ingest *i, struct al_str payload)
{
    uint64_t both[2], now = al_mono_ms();
    if (payload.n != sizeof both || i->n_progress++ > (now - i->begun_ms) / 50 + PROGRESS_FREE)
        return false;
    memcpy(both, payload.p, sizeof both);
    if (both[0] > INT64_MAX || both[1] > INT64_MAX)
        return false;
    if (i->ops->progress && now - i->told_ms >= AL_DATA_PROGRESS_MS) {
        i->told_ms = now;
        i->ops->progress(i->ud, both[0], both[1], i->total_bytes);
    }
    return true;
}

static void take_frame(void *ud, const struct al_frame *f)
{
    struct al_ingest *i = ud;
    bool fine = false;
    switch (f->type) {
    case AL_DATA_PROGRESS:
        fine = take_progress(i, f->payload);
        break;
    case AL_DATA_JSON:
        fine =
            f->payload.n && f->payload.p[0] == '{' && al_said_part(&i->json, f->payload, AL_DATA_JSON_DEPTH);
        break;
    case AL_DATA_END:
        fine = al_said_end(f->payload, true, &i->said);
        if (fine)
            al_worker_ended(&i->w);
        break;
    default:
        break;
    }
    if (!fine)
        al_worker_lie(&i->w, "a message that is none");
}

/* -- the beginning */

static void out_of_time(void *ud)
{
    struct al_ingest *i = ud;
    i->clock = NULL;
    al_worker_kill(&i->w, AL_CAUSE_TIMEOUT, "");
}

static void clock_go(struct al_ingest *i)
{
    i->timeout_ms = i->data->ingest_ms
                        ? i->data->ingest_ms
                        : AL_DATA_INGEST_MS + i->total_bytes / AL_DATA_INGEST_BYTES_PER_S * 1000;
    i->clock = al_timer_start(i->data->loop, i->timeout_ms, out_of_time, i);
}

/* Gives it a process. */
static int run_ingest(struct al_ingest *i, struct al_err *err)
{
    struct al_data *d = i->data;
    pid_t pid;
    int pidfd;
    if (al_worker_open(&i->w, d->loop, err) < 0)
        return -1;
    i->begun = true;
    i->w.frame = take_frame;
    i->w.over = over;
    i->w.ud = i;
    autofd int spill = al_data_spill(d);
    struct al_fd_map map[] = {
        {i->w.child_channel, AL_DATA_FD},
        {i->source, AL_DATA_SOURCE_FD},
        {i->output, AL_DATA_OUTPUT_FD},
        {spill, AL_DATA_INGEST_SPILL_FD},
    };
    struct al_data_ingest_msg *m = (struct al_data_ingest_msg *)(void *)(i->frame.p + AL_FRAME_HEADER);
    m->has_spill = spill >= 0;
    if (al_data_exec(AL_DATA_INGEST_VERB, map, spill >= 0 ? 4 : 3, &pid, &pidfd, err) < 0 ||
        al_worker_begin(&i->w, pid, pidfd, err) < 0)
        return -1;
    al_close(&i->w.child_channel);
    al_close(&i->source);
    i->begun_ms = al_mono_ms();
    clock_go(i);
    al_worker_send(&i->w, al_buf_str(&i->frame));
    al_buf_free(&i->frame);
    link_ingest(i, &d->ingests);
    d->n_ingests++;
    return 0;
}

static void start_waiting(struct al_data *d)
{
    while (d->ingests_waiting && d->n_ingests < AL_DATA_INGESTS_MAX) {
        struct al_ingest *i = d->ingests_waiting;
        unlink_ingest(i);
        d->n_ingests_waiting--;
        if (run_ingest(i, &i->early) < 0)
            ends_early(i);
    }
}

static uint64_t most_bytes(uint64_t max_bytes)
{
    uint64_t n;
    if (max_bytes == 0 || __builtin_mul_overflow(max_bytes, 8, &n) || n > (uint64_t)INT64_MAX - FSIZE_MIN)
        return (uint64_t)1 << 40;
    return n + FSIZE_MIN;
}

static void make_frame(struct al_ingest *i, const struct al_ingest_spec *spec)
{
    struct al_str name = al_utf8_cut(spec->name, AL_DATA_NAME_MAX);
    struct al_data_ingest_msg m = {
        .table = spec->table,
        .limits = spec->limits,
        .created_ms = al_wall_ms(),
        .fsize_max = most_bytes(spec->table.max_bytes),
        .name_n = (uint32_t)name.n,
        .options_n = (uint32_t)spec->options_json.n,
        .probe = i->data->probe,
    };
    autobuf struct al_buf all = AL_BUF_INIT(sizeof m + name.n + spec->options_json.n);
    al_buf_add(&all, &m, sizeof m);
    al_buf_add_str(&all, name);
    al_buf_add_str(&all, spec->options_json);
    al_buf_init(&i->frame, AL_FRAME_HEADER + all.n);
    (void)al_frame_put(&i->frame, AL_DATA_INGEST, al_buf_str(&all)); /* it has just that much room */
}

static int take_files(struct al_ingest *i, const struct al_ingest_spec *spec, struct al_err *err)
{
    struct stat st;
    i->source = al_data_reader(spec->source_fd, "the file", err);
    if (i->source < 0)
        return -1;
    i->output = fcntl(spec->output_fd, F_DUPFD_CLOEXEC, 3);
    if (i->output < 0 || fstat(i->source, &st) < 0)
        return al_fail_errno(err, AL_ENGINE_UNAVAILABLE, errno, "the file cannot be handed to a process");
    i->total_bytes = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    return 0;
}

struct al_ingest *al_ingest_start(struct al_data *d, const struct al_ingest_spec *spec,
                                  const struct al_ingest_ops *ops, void *ud, struct al_err *err)
{
    if (spec->options_json.n > AL_DATA_OPTIONS_MAX) {
        al_fail(err, AL_INVALID_INPUT, "the options have %zu bytes, at most %zu are allowed",
                spec->options_json.n, AL_DATA_OPTIONS_MAX);
        return NULL;
    }
    if (d->n_ingests >= AL_DATA_INGESTS_MAX && d->n_ingests_waiting >= AL_DATA_WAITING_MAX) {
        al_fail(err, AL_BUSY, "%d files are read and %d wait already", AL_DATA_INGESTS_MAX,
                AL_DATA_WAITING_MAX);
        al_hint(err, "try again when some of them have ended");
        return NULL;
    }
    struct al_ingest *i = al_xcalloc(1, sizeof *i);
    i->data = d;
    i->ops = ops;
    i->ud = ud;
    i->source = i->output = -1;
    al_buf_init(&i->json, AL_DATA_MAX_JSON);
    if (take_files(i, spec, err) < 0) {
        free_ingest(i);
        return NULL;
    }
    make_frame(i, spec);
    if (d->n_ingests >= AL_DATA_INGESTS_MAX) {
        struct al_ingest **last = &d->ingests_waiting;
        while (*last)
            last = &(*last)->next;
        link_ingest(i, last);
        d->n_ingests_waiting++;
    } else if (run_ingest(i, err) < 0) {
        free_ingest(i);
        return NULL;
    }
    return i;
}

void al_ingest_cancel(struct al_ingest *i)
{
    if (!i || i->end_timer)
        return;
    if (i->begun) {
        al_worker_kill(&i->w, AL_CAUSE_CANCELLED, "");
        return;
    }
    unlink_ingest(i);
    i->data->n_ingests_waiting--;
    al_fail(&i->early, AL_CANCELLED, "the ingest was cancelled");
    ends_early(i);
}

static void free_all(struct al_ingest *i)
{
    while (i) {
        struct al_ingest *next = i->next;
        free_ingest(i);
        i = next;
    }
}

void al_data_ingests_free(struct al_data *d)
{
    free_all(d->ingests);
    free_all(d->ingests_waiting);
    d->ingests = d->ingests_waiting = NULL;
}
