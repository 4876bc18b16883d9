/* The host side of the data engine, between its own files. */
#ifndef AL_DATA_DATA_INT_H
#define AL_DATA_DATA_INT_H

#include "data/worker.h"

#define AL_ZYGOTE_RUNS_MAX 10000
#define AL_ZYGOTE_AGE_MS ((uint64_t)3600 * 1000)
#define AL_ZYGOTE_HANG_MS 10000 /* for the zygote to fork a process */
#define AL_DATA_QUERIES_MAX 16  /* at once */
#define AL_DATA_INGESTS_MAX 4
#define AL_DATA_WAITING_MAX 64 /* of each */
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

struct al_ingest {
    struct al_data *data;
    struct al_ingest *next, **link;
    const struct al_ingest_ops *ops;
    void *ud;
    bool begun;
    struct al_worker w;
    int source, output;
    uint64_t total_bytes, begun_ms, told_ms;
    uint64_t n_progress;
    struct al_buf frame, json;
    struct al_timer *end_timer, *clock;
    uint64_t timeout_ms;
    bool has_said;
    struct al_said said;
    struct al_err early;
};

struct al_data {
    struct al_loop *loop;
    char *spill_dir;                          /* NULL: the usual places */
    struct al_query_zygote *zygote, *zygotes; /* the one that forks now; it, and those found dead */
    struct al_query_proc *procs, *spare;
    struct al_query_job *jobs, *waiting; /* that run; in order */
    size_t n_jobs, n_waiting;
    struct al_ingest *ingests, *ingests_waiting;
    size_t n_ingests, n_ingests_waiting;
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

/* ingest.c */
void al_data_ingests_free(struct al_data *d);

#endif
