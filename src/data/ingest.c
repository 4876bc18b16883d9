/* Ingests, seen from the host: a process each, what it says, and what became of its file. */
#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/data_int.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FSIZE_MIN ((uint64_t)1 << 30)

enum {
    SOURCE,
    OUTPUT
};

struct al_ingest {
    struct al_job job;
    const struct al_ingest_ops *ops;
    void *ud;
    uint64_t total_bytes;
};

static struct al_ingest *of(struct al_job *j)
{
    return (struct al_ingest *)(void *)j;
}

/* What the process said must be so of the file that it leaves. */
static bool is_so(const struct al_job *j)
{
    struct stat st;
    return j->json.n && fstat(j->fds[OUTPUT], &st) == 0 && (uint64_t)st.st_size == j->said.bytes;
}

static void better_words(const struct al_job *j, struct al_err *err)
{
    if (j->w.cause == AL_CAUSE_TIMEOUT) {
        al_err_clear(err);
        al_fail(err, AL_INGEST_LIMIT, "the file was not read within the %llu s that its size is given",
                (unsigned long long)((j->timeout_ms + 999) / 1000));
        al_hint(err, "try again when the computer has less to do, or give the data in several files");
    } else if (err->code == AL_MEMORY_LIMIT && !j->w.ended) {
        al_hint(err, "read one sheet of it, or give it as CSV");
    } else if (err->code == AL_OK && !is_so(j)) {
        al_fail(err, AL_ENGINE_CRASHED, "the process of the ingest said what is not so");
    }
}

static void ingest_end(struct al_job *j, struct al_err *err)
{
    better_words(j, err);
    struct al_ingest_end end = {.err = *err};
    if (err->code == AL_OK) {
        memcpy(end.sha256, j->said.sha256, sizeof end.sha256);
        end.rows = j->said.rows;
        end.bytes = j->said.bytes;
        end.json = al_buf_str(&j->json);
    }
    of(j)->ops->end(of(j)->ud, &end);
}

static void ingest_free(struct al_job *j)
{
    free(of(j));
}

static bool ingest_frame(struct al_job *j, const struct al_frame *f)
{
    const struct al_ingest *i = of(j);
    uint64_t both[2];
    if (f->type != AL_DATA_PROGRESS || f->payload.n != sizeof both)
        return false;
    memcpy(both, f->payload.p, sizeof both);
    if (both[0] > INT64_MAX || both[1] > INT64_MAX)
        return false;
    enum al_job_told told = al_job_progress(j);
    if (told == AL_JOB_TELL && i->ops->progress)
        i->ops->progress(i->ud, both[0], both[1], i->total_bytes);
    return told != AL_JOB_LIE;
}

static const struct al_job_kind kind = {
    .verb = AL_DATA_INGEST_VERB,
    .what = "the ingest",
    .many = "files are read",
    .max = AL_DATA_INGESTS_MAX,
    .max_json = AL_DATA_MAX_JSON,
    .said = AL_SAID_INGEST,
    .spill_at = offsetof(struct al_data_ingest_msg, has_spill),
    .frame = ingest_frame,
    .end = ingest_end,
    .free = ingest_free,
};

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
        .probe = i->job.data->probe,
    };
    al_job_frame(&i->job, AL_DATA_INGEST, &m, sizeof m, name, spec->options_json);
}

static int take_files(struct al_ingest *i, const struct al_ingest_spec *spec, struct al_err *err)
{
    struct al_job *j = &i->job;
    struct stat st;
    j->fds[SOURCE] = al_data_reader(spec->source_fd, "the file", err);
    if (j->fds[SOURCE] < 0)
        return -1;
    j->n_fds = 1;
    j->fds[OUTPUT] = fcntl(spec->output_fd, F_DUPFD_CLOEXEC, 3);
    if (j->fds[OUTPUT] >= 0)
        j->n_fds = 2;
    if (j->n_fds < 2 || fstat(j->fds[SOURCE], &st) < 0)
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
    if (al_job_room(&d->ingests, &kind, err) < 0)
        return NULL;
    struct al_ingest *i = al_xcalloc(1, sizeof *i);
    al_job_init(&i->job, &kind, d, &d->ingests);
    i->ops = ops;
    i->ud = ud;
    if (take_files(i, spec, err) < 0) {
        al_job_drop(&i->job);
        return NULL;
    }
    i->job.timeout_ms =
        d->ingest_ms ? d->ingest_ms : AL_DATA_INGEST_MS + i->total_bytes / AL_DATA_INGEST_BYTES_PER_S * 1000;
    make_frame(i, spec);
    return al_job_start(&i->job, err) < 0 ? NULL : i;
}

void al_ingest_cancel(struct al_ingest *i)
{
    if (i)
        al_job_cancel(&i->job);
}
