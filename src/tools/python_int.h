/* What the files of python_run share: one run, from its arguments to its result. Nobody else includes this. */
#ifndef AL_TOOLS_PYTHON_INT_H
#define AL_TOOLS_PYTHON_INT_H

#include "tools/tools_int.h"

#include "artifact/artifact.h"
#include "core/runlog.h"
#include "core/runs.h"
#include "core/script.h"
#include "pyrun/pyrun.h"

#define PYTHON_MAX_INPUTS 20u
#define PYTHON_MAX_NAME 255u
#define PYTHON_MIN_TIMEOUT_MS 1000
/* Of each output, for scripts and faces; the whole is in the job's log files. */
#define PYTHON_HEAD (32u << 10)
#define PYTHON_TAIL (256u << 10)
#define PYTHON_TEXT_TAIL 4096u       /* of each output, for a model */
#define PYTHON_MAX_EVENTS (1u << 20) /* printed text in the journal, which followers read */
#define PYTHON_ARENA (32u << 20) /* holds an earlier result, as a tree */

enum python_kind { PYTHON_FILE, PYTHON_DATASET, PYTHON_ARTIFACT };
const char *python_kind_name(enum python_kind k);
int python_kind_find(struct al_str name); /* -1: none */

/* One input, as it was asked for and as it was copied. Texts are in the run's arena. */
struct python_input {
    enum python_kind kind;
    struct al_str path, id; /* of a file; of a dataset or an artifact */
    const char *as;         /* the name it is to have; NULL: its own */
    const char *source;     /* what it is a copy of, in the caller's words */
    const char *format, *sheets; /* of a dataset: "csv"; JSON */
    char sha256[AL_SHA256_HEX];  /* of the file; of a dataset, of what it was made of */
    bool kept;                   /* it is the copy that an earlier run used */
    char kept_sha256[AL_SHA256_HEX]; /* and its bytes must have this hash */
    int64_t kept_bytes;              /* and it must have this size; -1: not recorded */
    const char *manifest;        /* and this is its entry in inputs.json; NULL: to be written */
    int fd;                      /* to copy from; -1: not open (yet) */
    struct al_py_input copy;
};

/* What is run again. */
struct python_rerun {
    char execution[AL_ID_MAX], session[AL_ID_MAX];
    char artifact[AL_ID_MAX]; /* that it was named by; "": by the execution */
    const char *title, *record; /* record: JSON of its result; NULL: it has none */
    const char *code_sha256;
    const char *replaced[PYTHON_MAX_INPUTS]; /* names of inputs that are others now */
    size_t n_replaced;
    struct al_buf problems; /* one a line */
    size_t n_problems;
};

struct python_limits {
    uint64_t timeout_ms, input_bytes;
    struct al_publish_limits publish;
};

/* Text of a stream in whole characters: what a read cut in half waits for its other half. */
struct python_stream {
    char carry[4];
    unsigned n;
};

struct python_run {
    struct al_call *call;
    struct al_core *core;
    struct al_pyrun *pyrun;
    struct al_arena arena;
    char id[AL_ID_MAX];
    struct al_run_slot slot;
    struct al_runlog log;
    struct python_limits limits;

    const char *title; /* NULL: none */
    char sha256[AL_SHA256_HEX]; /* of the code */
    const char *extras[2];
    size_t n_extras;
    bool publish_on_error;
    struct python_input inputs[PYTHON_MAX_INPUTS];
    size_t n_inputs;
    struct python_rerun *rerun; /* NULL: it is none */

    enum al_py_backend backend;
    struct al_py_probe probe; /* of it */
    bool chosen;
    const char *reason;
    const char *venv, *prefix; /* of the extras; of the interpreter, where it is no part of the system. May be NULL */
    struct al_py_install *install; /* while extras are installed */
    bool asking, asked;            /* the person is asked about that; was asked */

    struct al_py_job job;
    bool has_job;
    struct al_py_run *run; /* while it runs */
    bool began;            /* the journal has its row */
    bool cancelled;
    atomic_bool stop;      /* the same, for work on the pool */
    bool busy;             /* on the pool, or choosing: the end waits for it */
    bool choosing;         /* busy with that: nobody waits for it once the run is cancelled */
    int64_t created_ms, started_ms;
    uint64_t stored_bytes; /* of all artifacts and datasets, when its turn came */
    size_t n_events;       /* bytes of printed text that went into the journal */
    struct python_stream streams[2];
    int scratch_fd;        /* of the scratchpad, borrowed; -1: there is none */

    /* The end. */
    bool ran;
    enum al_py_cause cause;
    int exit_code, signal;
    struct al_buf out, errors; /* what the model may see: no path of this machine */
    uint64_t out_bytes, out_logged, errors_bytes, errors_logged;
    uint64_t duration_ms, cpu_ms, peak_bytes;
    enum al_py_keeper memory, pids, disk;
    bool pid_namespace;
    struct al_publication publication;
    bool has_publication, published, partial;
    struct al_buf warnings; /* a line each, without "warning: " */
    struct al_buf provenance;
    struct al_err err; /* code AL_OK: completed */
    struct al_err publish_err;
};

/* --- python_input.c */
/* What the gate decides about and a person is shown: the script itself, into call->code. */
int python_prepare(struct al_call *call);
/* The rest of the arguments. Opens nothing. */
int python_read_input(struct python_run *r, struct al_err *err) AL_MUST_CHECK;
void python_limits_json(const struct python_run *r, struct al_buf *out);

/* --- python_copy.c */
/* In the loop's thread: datasets and artifacts are found and opened, and each input gets the name that it wants. */
int python_open_inputs(struct python_run *r, struct al_err *err) AL_MUST_CHECK;
void python_close_inputs(struct python_run *r);
/* On the pool: the job with its script and its inputs. r->err says what failed; then there is no job. Also notes where
 * the interpreter lives. */
void python_make_job(struct python_run *r);
/* Inputs for the result and the provenance (short), or for job.json. */
void python_inputs_json(const struct python_run *r, bool whole, struct al_jw *w);

/* --- python_rerun.c */
/* Of an id, in the loop's thread: the execution, its code appended to `code`. NOT_FOUND, RERUN_REFUSED. */
int python_rerun_find(struct al_core *core, struct al_str id, struct python_rerun *ret, struct al_arena *a,
                      struct al_buf *code, struct al_err *err) AL_MUST_CHECK;
/* In the loop's thread: the recorded inputs, with those that replace some; datasets are looked up. */
int python_rerun_inputs(struct python_run *r, struct al_err *err) AL_MUST_CHECK;
/* On the pool: kept copies are opened and hashed, the script is looked at. */
void python_rerun_verify(struct python_run *r);
/* RERUN_REFUSED with every problem; 0 when there is none. */
int python_rerun_verdict(struct python_run *r, struct al_err *err) AL_MUST_CHECK;

/* --- python.c */
void python_extras_done(struct python_run *r); /* r->err says why not */

/* --- python_quota.c */
/* In the loop's thread: r->stored_bytes. */
int python_stored(struct python_run *r, struct al_err *err) AL_MUST_CHECK;
/* On the pool: QUOTA_EXCEEDED when what is kept has reached storage.maxBytes; else inputs get at most what is left. */
int python_check_room(struct python_run *r, struct al_err *err) AL_MUST_CHECK;

/* --- python_extras.c */
/* Finds or installs what r->extras name: python_extras_done follows, now or later. */
void python_extras(struct python_run *r);
void python_extras_cancel(struct python_run *r);

/* --- python_journal.c */
int python_journal_begin(struct python_run *r, struct al_err *err) AL_MUST_CHECK;
void python_journal_output(struct python_run *r, bool is_error, struct al_str bytes);
void python_journal_end(struct python_run *r);

/* --- python_hide.c: paths of this machine, which a script and its tracebacks name */
/* Appends text with them replaced by what they are to the script: "/job/script/main.py", "<python>/…", "<state>/…". */
void python_hide_paths(const struct python_run *r, struct al_str text, struct al_buf *out);
/* The same within the message and the hint of an error: what the layers below say is for people at a shell, too. */
void python_hide_in_error(const struct python_run *r, struct al_err *err);

/* --- python_error.c */
/* What a traceback ends with; views into it. */
struct python_failure {
    struct al_str line; /* "KeyError: 'region'"; empty: there was no traceback */
    struct al_str name; /* "KeyError" */
    int at;             /* line of main.py; 0: not known */
};
struct python_failure python_read_traceback(struct al_str text);
/* PYTHON_FAILED and its hint, of the exit and of what was said; on the pool. */
void python_explain(struct python_run *r);

/* --- python_left.c */
/* Of a script that published nothing: a warning that names what it left in work/. On the pool. */
void python_note_left(struct python_run *r);

/* --- python_result.c */
const char *python_status(const struct python_run *r);
void python_provenance(struct python_run *r); /* before the publication */
void python_result_text(const struct python_run *r, struct al_buf *out);
void python_result_json(const struct python_run *r, struct al_buf *out);

#endif
