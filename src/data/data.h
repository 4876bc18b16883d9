/*
 * The data engine, seen from the host: files become datasets and statements get answers in sealed processes,
 * one for each. The host never opens a dataset and parses no file; what a worker says is a claim with a size
 * limit.
 */
#ifndef AL_DATA_DATA_H
#define AL_DATA_DATA_H

#include "base/buf.h"
#include "base/err.h"
#include "dashboard/dashboard.h"
#include "dataset/dataset.h"
#include "loop/loop.h"
#include "query/query.h"

/* argv[1] of our own binary that enters a worker. */
#define AL_DATA_INGEST_VERB "__data-ingest"
#define AL_DATA_ZYGOTE_VERB "__data-zygote"
#define AL_DATA_DASHBOARD_VERB "__data-dashboard"
int al_data_ingest_main(int argc, char **argv);
int al_data_dashboard_main(int argc, char **argv);
int al_data_zygote_main(int argc, char **argv);

#define AL_DATA_MAX_JSON ((size_t)8 << 20) /* of a description or a result */
#define AL_DATA_KILL_MS 300                /* after a query's deadline its process is killed */

struct al_data;
struct al_data *al_data_new(struct al_loop *loop); /* starts nothing yet */
void al_data_free(struct al_data *d);              /* kills and reaps what runs; no callbacks */
/* Where bytes that do not fit into memory are spilled, in files without a name. NULL or a folder that cannot
 * be used: one of /var/tmp, TMPDIR, /tmp. Without any, statements that need more fail with QUERY_LIMIT. */
void al_data_set_spill_dir(struct al_data *d, const char *path);
/* Starts the query zygote ahead of the first query; a failure is told by that query. */
void al_data_warm(struct al_data *d);

/* --- ingest: one fresh process, exec'ed, sealed, with two descriptors and its channel. It is killed after
 * ten minutes and a second for each 4 MiB of its file: INGEST_LIMIT --- */
struct al_ingest_spec {
    int source_fd; /* a regular file, O_RDONLY; borrowed for the call (dup'ed) */
    int output_fd; /* an empty regular file, O_RDWR; likewise. Its content is undefined after a failure */
    struct al_str name; /* file name for people: decides the format where the content does not */
    struct al_table_opts table;
    struct al_dataset_limits limits;
    struct al_str options_json; /* canonical JSON of what was forced; for the metadata */
};
struct al_ingest_end {
    struct al_err err; /* code AL_OK, or what failed; ENGINE_CRASHED for a worker that died, MEMORY_LIMIT … */
    char sha256[65];   /* of the source, as it was read */
    uint64_t rows, bytes; /* in all sheets; of the dataset file */
    struct al_str json;   /* al_dataset_describe with no sample, well-formed JSON; a view for the call */
};
struct al_ingest_ops {
    void (*progress)(void *ud, uint64_t rows, uint64_t bytes,
                     uint64_t total_bytes); /* at most every 100 ms; may be NULL */
    void (*end)(void *ud,
                const struct al_ingest_end *end); /* once, never from within start; the process is reaped */
};
struct al_ingest;
struct al_ingest *al_ingest_start(struct al_data *d, const struct al_ingest_spec *spec,
                                  const struct al_ingest_ops *ops, void *ud, struct al_err *err);
void al_ingest_cancel(struct al_ingest *i); /* kills; end follows with CANCELLED */

/* --- queries and descriptions: a process each, forked from a sealed zygote --- */
struct al_query_end {
    struct al_err err;
    struct al_str details; /* JSON object or empty */
    struct al_str text;    /* valid UTF-8 */
    struct al_str json;    /* well-formed JSON; views for the call */
};
struct al_query_ops {
    /* Streamed formats; may be NULL otherwise. False pauses until al_query_resume_stream (the reader is
     * slow): the pipe bounds what waits. */
    bool (*chunk)(void *ud,
                  struct al_str bytes); /* the time in which it is paused does not count for the kill */
    void (*end)(void *ud,
                const struct al_query_end *end); /* once, never from within start. The process has been
                                                    killed, and reaped but where it had said all */
};
struct al_query_job;
/* All of q is copied or sent; its dataset descriptors are borrowed for the call. 16 at once, 64 wait, then
 * BUSY. */
struct al_query_job *al_query_start(struct al_data *d, const struct al_query *q,
                                    const struct al_query_ops *ops, void *ud, struct al_err *err);
/* The description (dataset/dataset.h) of one dataset, as end.json. */
struct al_query_job *al_describe_start(struct al_data *d, int dataset_fd, struct al_str sheet,
                                       int sample_rows, const struct al_query_ops *ops, void *ud,
                                       struct al_err *err);
void al_query_resume_stream(struct al_query_job *j);
void al_query_cancel(struct al_query_job *j); /* kills; end follows with CANCELLED */

/* --- dashboards (dashboard/dashboard.h): a fresh process each, exec'ed, sealed, with one dataset --- */
struct al_dashboard_spec {
    int dataset_fd;        /* borrowed for the call */
    struct al_str request; /* JSON, at most AL_DASHBOARD_MAX_REQUEST; copied */
    uint32_t timeout_ms;   /* of its process, which is then killed: QUERY_TIMEOUT */
};
struct al_dashboard_end {
    struct al_err err;  /* as al_dashboard_build; or ENGINE_CRASHED, MEMORY_LIMIT, CANCELLED … */
    struct al_str html; /* the page, valid UTF-8; empty when only a plan was asked for */
    struct al_str json; /* an object, well-formed; what it says is a claim. Views for the call */
};
struct al_dashboard_ops {
    /* stage: static, as al_dashboard_progress has it. Each once, else every 100 ms at most. May be NULL. */
    void (*progress)(void *ud, const char *stage, uint64_t done, uint64_t total);
    /* Once, never from within start; the process is reaped. */
    void (*end)(void *ud, const struct al_dashboard_end *end);
};
struct al_dashboard_job;
/* 2 at once, 64 wait, then BUSY. */
struct al_dashboard_job *al_dashboard_start(struct al_data *d, const struct al_dashboard_spec *spec,
                                            const struct al_dashboard_ops *ops, void *ud, struct al_err *err);
void al_dashboard_cancel(struct al_dashboard_job *j); /* kills; end follows with CANCELLED */

/* A known file, a known query, an endless one, a dashboard and refused system calls, each in a fresh process.
 * Blocking (it runs the loop). 0, or -1 with what failed. */
int al_data_self_test(struct al_data *d, struct al_loop *loop, struct al_err *err) AL_MUST_CHECK;

#endif
