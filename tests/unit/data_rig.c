#include "data_rig.h"

#include "base/ident.h"
#include "data/data_int.h"
#include "os/fd.h"

#include <dirent.h>
#include <sys/mman.h>
#include <unistd.h>

struct al_loop *rig_loop;
struct al_data *rig_data;
static struct rig_query the_query;
static struct rig_ingest the_ingest;

int rig_setup(void **state)
{
    (void)state;
    if (al_self_open() < 0)
        return -1;
    rig_loop = al_loop_new();
    rig_data = al_data_new(rig_loop);
    return 0;
}

int rig_teardown(void **state)
{
    (void)state;
    rig_free(&the_query);
    rig_ingest_free(&the_ingest);
    al_data_free(rig_data);
    al_loop_free(rig_loop);
    return rig_children() == 0 ? 0 : -1;
}

int rig_file(const void *p, size_t n)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(al_fd_write_all(fd, (struct al_str){p, n}), 0);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

int rig_text(const char *z)
{
    return rig_file(z, strlen(z));
}

static void copy(struct al_buf *b, struct al_str s)
{
    b->max = (size_t)64 << 20;
    al_buf_add_str(b, s);
    al_buf_addc(b, '\0'); /* so that tests can look at it as a C string */
    b->n--;
}

/* -- queries */

static bool on_chunk(void *ud, struct al_str bytes)
{
    struct rig_query *r = ud;
    assert_int_equal(r->ends, 0);
    r->n_chunks++;
    if (r->on_chunk)
        return r->on_chunk(r, bytes);
    copy(&r->bytes, bytes);
    return true;
}

static void on_end(void *ud, const struct al_query_end *end)
{
    struct rig_query *r = ud;
    r->done = true;
    r->ends++;
    r->job = NULL;
    r->err = end->err;
    copy(&r->text, end->text);
    copy(&r->json, end->json);
    copy(&r->details, end->details);
    if (r->on_end)
        r->on_end(r);
}

static const struct al_query_ops ops = {.chunk = on_chunk, .end = on_end};

struct al_query rig_spec(const char *sql, int dataset)
{
    return (struct al_query){
        .datasets = {{.fd = dataset}},
        .n_datasets = dataset >= 0,
        .sql = al_str_of(sql),
        .max_rows = 100,
        .timeout_ms = 20000,
    };
}

static void clear(struct rig_query *r)
{
    struct rig_query kept = *r;
    rig_free(&kept);
    *r = (struct rig_query){.on_chunk = kept.on_chunk, .on_end = kept.on_end};
}

void rig_start(struct rig_query *r, const struct al_query *q)
{
    struct al_err err = {0};
    clear(r);
    r->job = al_query_start(rig_data, q, &ops, r, &err);
    if (!r->job)
        fail_msg("al_query_start: %s %s", al_code_name(err.code), err.msg);
    assert_int_equal(r->ends, 0);
}

void rig_wait(struct rig_query *r)
{
    if (!al_loop_run_until(rig_loop, &r->done, 60000))
        fail_msg("no end after 60 s");
    assert_int_equal(r->ends, 1);
}

void rig_free(struct rig_query *r)
{
    al_buf_free(&r->text);
    al_buf_free(&r->json);
    al_buf_free(&r->details);
    al_buf_free(&r->bytes);
}

struct rig_query *rig_query(const char *sql, int dataset)
{
    struct al_query q = rig_spec(sql, dataset);
    rig_start(&the_query, &q);
    rig_wait(&the_query);
    return &the_query;
}

struct rig_query *rig_describe(int dataset, const char *sheet, int sample_rows)
{
    struct al_err err = {0};
    clear(&the_query);
    the_query.job =
        al_describe_start(rig_data, dataset, al_str_of(sheet), sample_rows, &ops, &the_query, &err);
    if (!the_query.job)
        fail_msg("al_describe_start: %s", err.msg);
    rig_wait(&the_query);
    return &the_query;
}

/* -- ingests */

static void on_progress(void *ud, uint64_t rows, uint64_t bytes, uint64_t total)
{
    struct rig_ingest *r = ud;
    r->n_progress++;
    r->rows = rows;
    r->bytes = bytes;
    r->total = total;
    if (r->on_progress)
        r->on_progress(r);
}

static void on_ingest_end(void *ud, const struct al_ingest_end *end)
{
    struct rig_ingest *r = ud;
    r->done = true;
    r->ends++;
    r->ingest = NULL;
    r->err = end->err;
    r->rows = end->rows;
    r->bytes = end->bytes;
    memcpy(r->sha256, end->sha256, sizeof r->sha256);
    copy(&r->json, end->json);
}

struct al_ingest_spec rig_ingest_spec(int source, int output, const char *name)
{
    return (struct al_ingest_spec){
        .source_fd = source,
        .output_fd = output,
        .name = al_str_of(name),
        .table = {.max_bytes = (uint64_t)1 << 30},
        .limits = {.max_rows = 10000000, .stats_bytes = (uint64_t)32 << 20},
    };
}

void rig_ingest_start(struct rig_ingest *r, const struct al_ingest_spec *spec)
{
    static const struct al_ingest_ops ingest_ops = {.progress = on_progress, .end = on_ingest_end};
    struct al_err err = {0};
    struct rig_ingest kept = *r;
    rig_ingest_free(&kept);
    *r = (struct rig_ingest){.on_progress = kept.on_progress};
    r->ingest = al_ingest_start(rig_data, spec, &ingest_ops, r, &err);
    if (!r->ingest)
        fail_msg("al_ingest_start: %s %s", al_code_name(err.code), err.msg);
    assert_int_equal(r->ends, 0);
}

void rig_ingest_wait(struct rig_ingest *r)
{
    if (!al_loop_run_until(rig_loop, &r->done, 120000))
        fail_msg("no end after 120 s");
    assert_int_equal(r->ends, 1);
}

void rig_ingest_free(struct rig_ingest *r)
{
    al_buf_free(&r->json);
}

struct rig_ingest *rig_ingest(int source, int output, const char *name)
{
    struct al_ingest_spec spec = rig_ingest_spec(source, output, name);
    rig_ingest_start(&the_ingest, &spec);
    rig_ingest_wait(&the_ingest);
    return &the_ingest;
}

/* -- what is left */

unsigned rig_children(void)
{
    char path[64], text[65536];
    unsigned n = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    size_t got = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    for (size_t i = 0; i < got; i++)
        n += text[i] == ' ';
    return n;
}

static bool at_rest(void)
{
    const struct al_query_proc *p = rig_data->procs;
    if (rig_data->zygotes != rig_data->zygote || (rig_data->zygotes && rig_data->zygotes->next) ||
        rig_data->jobs || rig_data->ingests.running || rig_data->dashboards.running)
        return false;
    return !p || (p == rig_data->spare && !p->next && p->w.pidfd >= 0);
}

void rig_rest(void)
{
    bool never = false;
    for (uint64_t end = al_mono_ms() + 10000; !at_rest();) {
        if (al_mono_ms() > end)
            fail_msg("not at rest after 10 s");
        al_loop_run_until(rig_loop, &never, 1);
    }
    unsigned want = (rig_data->zygote ? 1 : 0) + (rig_data->spare ? 1 : 0);
    if (rig_children() != want)
        fail_msg("%u processes at rest, not %u", rig_children(), want);
}

unsigned rig_fds(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

pid_t rig_zygote(void)
{
    return rig_data->zygote ? rig_data->zygote->pid : 0;
}
