/* What the data engine must show: that it reads, answers, ends what has no end, and that its seals hold. */
#include "data/data_int.h"
#include "os/fd.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define WAIT_MS 20000

struct probe {
    bool done;
    struct al_err err;
    uint64_t rows;
    bool right;
};

static void ingested(void *ud, const struct al_ingest_end *end)
{
    struct probe *p = ud;
    p->done = true;
    p->err = end->err;
    p->rows = end->rows;
}

static void answered(void *ud, const struct al_query_end *end)
{
    struct probe *p = ud;
    p->done = true;
    p->err = end->err;
    p->right = al_str_find(end->json, AL_STR("42")) >= 0;
}

static int wait_for(struct al_data *d, struct probe *p, struct al_err *err)
{
    if (al_loop_run_until(d->loop, &p->done, WAIT_MS))
        return 0;
    al_data_queries_free(d);
    al_jobs_free(&d->ingests);
    al_jobs_free(&d->dashboards);
    return al_fail(err, AL_ENGINE_UNAVAILABLE, "the self-test of the data engine got no end in %d s",
                   WAIT_MS / 1000);
}

static int ingest(struct al_data *d, struct probe *p, int source, int output, struct al_err *err)
{
    static const struct al_ingest_ops ops = {.end = ingested};
    struct al_ingest_spec spec = {
        .source_fd = source,
        .output_fd = output,
        .name = AL_STR("selftest.csv"),
        .table = {.max_bytes = 1 << 20},
        .limits = {.max_rows = 1000, .stats_bytes = 1 << 20},
    };
    *p = (struct probe){0};
    return al_ingest_start(d, &spec, &ops, p, err) ? wait_for(d, p, err) : -1;
}

static int query(struct al_data *d, struct probe *p, int dataset, const char *sql, uint32_t timeout_ms,
                 struct al_err *err)
{
    static const struct al_query_ops ops = {.end = answered};
    struct al_query q = {.datasets = {{.fd = dataset}},
                         .n_datasets = 1,
                         .sql = al_str_of(sql),
                         .max_rows = 10,
                         .timeout_ms = timeout_ms};
    *p = (struct probe){0};
    return al_query_start(d, &q, &ops, p, err) ? wait_for(d, p, err) : -1;
}

static void drawn(void *ud, const struct al_dashboard_end *end)
{
    struct probe *p = ud;
    p->done = true;
    p->err = end->err;
    p->right = end->html.n > 0;
}

/* In a locale whose numbers are not English: what formats them works behind the seal, too. */
static int draw(struct al_data *d, struct probe *p, int dataset, struct al_err *err)
{
    static const struct al_dashboard_ops ops = {.end = drawn};
    struct al_dashboard_spec spec = {.dataset_fd = dataset,
                                     .request = AL_STR("{\"source\":\"selftest.csv\",\"locale\":\"de\"}"),
                                     .timeout_ms = 10000};
    *p = (struct probe){0};
    return al_dashboard_start(d, &spec, &ops, p, err) ? wait_for(d, p, err) : -1;
}

static int wrong(const char *what, const struct probe *p, struct al_err *err)
{
    return al_fail(err, AL_ENGINE_UNAVAILABLE, "the self-test's %s: %s %s", what, al_code_name(p->err.code),
                   p->err.msg);
}

static int reads_and_answers(struct al_data *d, int source, int output, struct al_err *err)
{
    struct probe p;
    if (ingest(d, &p, source, output, err) < 0)
        return -1;
    if (p.err.code != AL_OK || p.rows != 3)
        return wrong("file did not become its dataset", &p, err);
    if (query(d, &p, output, "SELECT sum(n) AS n FROM data", 10000, err) < 0)
        return -1;
    if (p.err.code != AL_OK || !p.right)
        return wrong("query did not get its answer", &p, err);
    if (draw(d, &p, output, err) < 0)
        return -1;
    if (p.err.code != AL_OK || !p.right)
        return wrong("dataset did not become a dashboard", &p, err);
    if (query(d, &p, output,
              "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c", 100,
              err) < 0)
        return -1;
    return p.err.code == AL_QUERY_TIMEOUT ? 0 : wrong("endless query was not ended", &p, err);
}

static bool was_sealed(const struct probe *p)
{
    return p->err.code == AL_ENGINE_CRASHED && strstr(p->err.detail, "security") != NULL;
}

static int is_sealed(struct al_data *d, int source, int output, struct al_err *err)
{
    struct probe p;
    d->probe = true;
    int r = ingest(d, &p, source, output, err);
    if (r == 0 && !was_sealed(&p))
        r = wrong("system call was not refused to an ingest", &p, err);
    if (r == 0)
        r = query(d, &p, output, "SELECT 42", 10000, err);
    if (r == 0 && !was_sealed(&p))
        r = wrong("system call was not refused to a query", &p, err);
    if (r == 0)
        r = draw(d, &p, output, err);
    if (r == 0 && !was_sealed(&p))
        r = wrong("system call was not refused to a dashboard", &p, err);
    d->probe = false;
    return r;
}

int al_data_self_test(struct al_data *d, struct al_loop *loop, struct al_err *err)
{
    static const char csv[] = "day,name,n\n2024-01-30,ann,20\n2024-01-31,bob,21\n2024-02-01,cid,1\n";
    (void)loop;
    autofd int source = memfd_create("selftest", MFD_CLOEXEC);
    autofd int output = memfd_create("selftest", MFD_CLOEXEC);
    autofd int second = memfd_create("selftest", MFD_CLOEXEC);
    if (source < 0 || output < 0 || second < 0 || al_fd_write_all(source, AL_STR(csv)) < 0)
        return al_fail(err, AL_ENGINE_UNAVAILABLE, "the self-test of the data engine cannot make its files");
    if (reads_and_answers(d, source, output, err) < 0)
        return -1;
    return is_sealed(d, source, second, err);
}
