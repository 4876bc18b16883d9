/* The host side of the data engine, between its own files. */
#ifndef AL_DATA_DATA_INT_H
#define AL_DATA_DATA_INT_H

#include "data/worker.h"

#define AL_ZYGOTE_RUNS_MAX 10000
#define AL_ZYGOTE_AGE_MS ((uint64_t)3600 * 1000)
#define AL_ZYGOTE_HANG_MS 10000 /* for the zygote to fork a process */
#define AL_DATA_QUERIES_MAX 16  /* at once */
#define AL_DATA_INGESTS_MAX 4
#define AL_DATA_DASHBOARDS_MAX 2 /* each may need half a GiB */
#define AL_DATA_WAITING_MAX 64   /* of each */
#define AL_DATA_READER_MS 5    /* that a chunk's reader may take and the query's clock goes on */
/* An ingest is killed after ten minutes and a second for each so many bytes of its file. */
#define AL_DATA_INGEST_MS ((uint64_t)600 * 1000)
#define AL_DATA_INGEST_BYTES_PER_S ((uint64_t)4 << 20)

struct al_query_zygote {
    struct al_data *data;
    struct al_query_zygote *next; /* in data->zygotes */
    pid_t pid;
    int pidfd, control;
    struct al_watch *watch;
    uint64_t runs, born_ms;
    char why[200]; /* what it said when it failed to start */
};

/* A process for a query: asked of the zygote, perhaps before there is a query for it. */
struct al_query_proc {
    struct al_data *data;
    struct al_query_proc *next, **link; /* in data->procs */
    struct al_worker w;
    struct al_query_zygote *zygote; /* while its id is not known */
    struct al_timer *hang_timer;
    uint64_t seq;
    int page;
    struct al_query_job *job; /* NULL: a spare */
    bool retried;
};

struct al_query_job {
    struct al_data *data;
    struct al_query_job *next, **link; /* in data->jobs or data->waiting */
    const struct al_query_ops *ops;
    void *ud;
    struct al_query_proc *proc; /* NULL while it waits */
    bool streams, describes, in_chunk, resumed;
    int fds[AL_QUERY_MAX_DATASETS];
    size_t n_fds;
    struct al_buf frame; /* the query, until a process has it */
    uint32_t timeout_ms;
    struct al_timer *clock, *end_timer;
    uint64_t left_ms, going_ms; /* of the time until it is killed; since when it goes, 0 while it stands */
    struct al_buf text, json, details;
    bool has_said;
    struct al_said said;
    struct al_err early; /* why it ends before there was a process */
};

/* --- job.c: jobs with a process of their own, exec'ed for it: what ingests and dashboards share --- */
#define AL_JOB_FDS 2

struct al_job;
struct al_job_kind {
    const char *verb;
    const char *what, *many; /* for people: "the ingest", "files are read" */
    unsigned max;            /* at once */
    size_t max_json;         /* bytes of what it says as JSON, an object, once */
    enum al_said_kind said;
    size_t spill_at; /* in its first message: the byte that says whether it has a spill file */
    /* Another frame than JSON and END. False: it is no message, and the process is killed. */
    bool (*frame)(struct al_job *j, const struct al_frame *f);
    /* Tells its end, once. err: why the process ended, or what it said; the kind may know better. */
    void (*end)(struct al_job *j, struct al_err *err);
    void (*free)(struct al_job *j); /* the job itself, and what is the kind's own */
};
struct al_jobs {
    struct al_job *running, *waiting; /* in order */
    size_t n_running, n_waiting;
};
/* The first member of a kind's own struct. */
struct al_job {
    struct al_data *data;
    const struct al_job_kind *kind;
    struct al_jobs *list;
    struct al_job *next, **link;
    bool begun;
    struct al_worker w;
    int fds[AL_JOB_FDS]; /* owned; what the process gets behind its channel, in that order, then the spill file */
    size_t n_fds;
    struct al_buf frame; /* the first message, until a process has it */
    struct al_buf json;
    struct al_said said;
    uint64_t timeout_ms; /* from when it has a process until that is killed */
    uint64_t begun_ms, told_ms, n_progress;
    struct al_timer *end_timer, *clock;
    struct al_err early; /* why it ends before there was a process */
};

/* BUSY when no more may wait. */
int al_job_room(const struct al_jobs *l, const struct al_job_kind *kind, struct al_err *err) AL_MUST_CHECK;
void al_job_init(struct al_job *j, const struct al_job_kind *kind, struct al_data *d, struct al_jobs *list);
void al_job_drop(struct al_job *j); /* one that was not started */
/* Its first message: a struct of n bytes and two texts. */
void al_job_frame(struct al_job *j, uint8_t type, const void *msg, size_t n, struct al_str a, struct al_str b);
/* Gives it a process, or lets it wait for one. -1 with err: the job is gone. */
int al_job_start(struct al_job *j, struct al_err *err) AL_MUST_CHECK;
void al_job_cancel(struct al_job *j); /* kills; its end follows with CANCELLED */
void al_jobs_free(struct al_jobs *l); /* kills and reaps; no callbacks */
/* What is to become of a message about its progress. */
enum al_job_told {
    AL_JOB_TELL,
    AL_JOB_SOON, /* too soon after the last */
    AL_JOB_LIE,  /* far too many */
};
enum al_job_told al_job_progress(struct al_job *j);

struct al_data {
    struct al_loop *loop;
    char *spill_dir;                          /* NULL: the usual places */
    struct al_query_zygote *zygote, *zygotes; /* the one that forks now; it, and those found dead */
    struct al_query_proc *procs, *spare;
    struct al_query_job *jobs, *waiting; /* that run; in order */
    size_t n_jobs, n_waiting;
    struct al_jobs ingests, dashboards;
    uint64_t next_seq, started;
    uint64_t ingest_ms; /* of an ingest, whatever its size; 0: as above */
    bool warm;          /* more than one query is to be expected: keep a spare */
    bool probe;         /* the self-test: what starts next makes a refused system call */
};

/* data.c */
/* An empty file without a name for spilled bytes, or -1. */
int al_data_spill(const struct al_data *d);
/* fd, or what it names, for reading only: a new descriptor or -1 with err. what: "the dataset". */
int al_data_reader(int fd, const char *what, struct al_err *err);
/* Executes our own binary with that verb; all from fds. -1 with err. */
int al_data_exec(const char *verb, const struct al_fd_map *fds, size_t n_fds, pid_t *ret_pid, int *ret_pidfd,
                 struct al_err *err);

/* zygote.c */
/* A process from now on, in data->procs: fresh, or the spare. NULL with err. */
struct al_query_proc *al_query_proc_get(struct al_data *d, struct al_err *err);
int al_query_proc_ask(struct al_query_proc *p, struct al_err *err);
void al_query_proc_free(struct al_query_proc *p);
void al_data_spare_want(struct al_data *d);
void al_data_zygotes_free(struct al_data *d);
/* Ends it; the end of its job is told by al_query_proc_over, in this turn or another. */
void al_query_proc_kill(struct al_query_proc *p, enum al_cause cause, const char *why);

/* query.c */
void al_query_proc_begun(struct al_query_proc *p); /* its process is known */
void al_query_proc_over(struct al_query_proc *p);  /* it has ended, or there never was one; frees it */
void al_query_proc_frame(struct al_query_proc *p, const struct al_frame *f);
void al_query_proc_sent(struct al_query_proc *p);
void al_data_queries_free(struct al_data *d);

#endif
