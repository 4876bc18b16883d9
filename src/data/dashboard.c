/* Dashboards, seen from the host: a process each, the page that it sends, and what it says of it. */
#include "base/mem.h"
#include "base/text.h"
#include "data/data_int.h"

#include <stddef.h>
#include <stdlib.h>

struct al_dashboard_job {
    struct al_job job;
    const struct al_dashboard_ops *ops;
    void *ud;
    struct al_buf html;
    const char *stage; /* that was told last */
};

static struct al_dashboard_job *of(struct al_job *j)
{
    return (struct al_dashboard_job *)(void *)j;
}

static void better_words(struct al_dashboard_job *d, struct al_err *err)
{
    const struct al_job *j = &d->job;
    if (j->w.cause == AL_CAUSE_TIMEOUT) {
        al_err_clear(err);
        al_fail(err, AL_QUERY_TIMEOUT, "the dashboard was not ready within its %llu s",
                (unsigned long long)((j->timeout_ms + 999) / 1000));
        al_hint(err, "try again when the computer has less to do, or filter the rows");
    } else if (err->code == AL_MEMORY_LIMIT && !j->w.ended) {
        al_hint(err, "filter the rows, or ask for a part of the columns");
    } else if (err->code == AL_OK && (j->json.n == 0 || !al_utf8_valid(al_buf_str(&d->html)))) {
        al_fail(err, AL_ENGINE_CRASHED, "the process of the dashboard said what is not so");
    }
}

static void dashboard_end(struct al_job *j, struct al_err *err)
{
    struct al_dashboard_job *d = of(j);
    better_words(d, err);
    struct al_dashboard_end end = {.err = *err};
    if (err->code == AL_OK) {
        end.html = al_buf_str(&d->html);
        end.json = al_buf_str(&j->json);
    }
    d->ops->end(d->ud, &end);
}

static void dashboard_free(struct al_job *j)
{
    al_buf_free(&of(j)->html);
    free(of(j));
}

static bool take_progress(struct al_dashboard_job *d, struct al_str payload)
{
    static const char *const stages[] = {"analysing", "planning", "reading", "writing"};
    struct al_data_stage_msg m;
    const char *stage = NULL;
    if (payload.n != sizeof m)
        return false;
    memcpy(&m, payload.p, sizeof m);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        if (strncmp(m.stage, stages[i], sizeof m.stage) == 0)
            stage = stages[i];
    }
    enum al_job_told told = al_job_progress(&d->job);
    if (!stage || told == AL_JOB_LIE || m.total > INT64_MAX || m.done > INT64_MAX)
        return false;
    if (d->ops->progress && (told == AL_JOB_TELL || stage != d->stage))
        d->ops->progress(d->ud, stage, m.done < m.total ? m.done : m.total, m.total);
    d->stage = stage;
    return true;
}

static bool dashboard_frame(struct al_job *j, const struct al_frame *f)
{
    struct al_dashboard_job *d = of(j);
    if (f->type == AL_DATA_PROGRESS)
        return take_progress(d, f->payload);
    if (f->type != AL_DATA_CHUNK || !f->payload.n || f->payload.n > AL_DATA_CHUNK_MAX)
        return false;
    al_buf_add_str(&d->html, f->payload);
    return !al_buf_failed(&d->html);
}

static const struct al_job_kind kind = {
    .verb = AL_DATA_DASHBOARD_VERB,
    .what = "the dashboard",
    .many = "dashboards are made",
    .max = AL_DATA_DASHBOARDS_MAX,
    .max_json = AL_DASHBOARD_MAX_JSON,
    .said = AL_SAID_DASHBOARD,
    .spill_at = offsetof(struct al_data_dashboard_msg, has_spill),
    .frame = dashboard_frame,
    .end = dashboard_end,
    .free = dashboard_free,
};

struct al_dashboard_job *al_dashboard_start(struct al_data *d, const struct al_dashboard_spec *spec,
                                            const struct al_dashboard_ops *ops, void *ud, struct al_err *err)
{
    if (spec->request.n > AL_DASHBOARD_MAX_REQUEST) {
        al_fail(err, AL_INVALID_INPUT, "the request has %zu bytes, at most %zu are allowed", spec->request.n,
                AL_DASHBOARD_MAX_REQUEST);
        return NULL;
    }
    if (al_job_room(&d->dashboards, &kind, err) < 0)
        return NULL;
    int dataset = al_data_reader(spec->dataset_fd, "the dataset", err);
    if (dataset < 0)
        return NULL;
    struct al_dashboard_job *n = al_xcalloc(1, sizeof *n);
    struct al_data_dashboard_msg m = {.request_n = (uint32_t)spec->request.n, .probe = d->probe};
    al_job_init(&n->job, &kind, d, &d->dashboards);
    al_buf_init(&n->html, AL_DASHBOARD_MAX_HTML);
    n->ops = ops;
    n->ud = ud;
    n->job.fds[n->job.n_fds++] = dataset;
    n->job.timeout_ms = spec->timeout_ms < AL_DATA_TIMEOUT_MAX ? spec->timeout_ms : AL_DATA_TIMEOUT_MAX;
    al_job_frame(&n->job, AL_DATA_DASHBOARD, &m, sizeof m, spec->request, AL_STR(""));
    return al_job_start(&n->job, err) < 0 ? NULL : n;
}

void al_dashboard_cancel(struct al_dashboard_job *j)
{
    if (j)
        al_job_cancel(&j->job);
}
