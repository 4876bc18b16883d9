/*
 * Python scripts: where they run, what they get, and what they leave. Five back ends behind one table; what each
 * guarantees was probed on this machine before it is said.
 *
 * A job is a folder, <state>/analysis/jobs/<workspace key>/<session>/<exec_id>/:
 *   job.json, script/main.py with alisio_runtime/, input/, work/, staging/ (what is published), logs/.
 */
#ifndef AL_PYRUN_PYRUN_H
#define AL_PYRUN_PYRUN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/ident.h"
#include "config/config.h"
#include "loop/loop.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* In the order in which `auto` tries them. */
enum al_py_backend { AL_PY_BWRAP, AL_PY_LANDLOCK, AL_PY_OCI, AL_PY_WASM, AL_PY_MANAGED, AL_PY_N };
const char *al_py_backend_name(enum al_py_backend b); /* "bwrap" … */
/* Name of config, or "auto": AL_PY_N; another word: -1. */
int al_py_backend_find(const char *name);

/* From strong to weak, as `auto` prefers them; the words are those of provenance and grants. */
enum al_py_isolation {
    AL_PY_OS_SANDBOX,         /* "os-sandbox": bwrap, and wasm within it */
    AL_PY_OS_FILTER,          /* "os-filter": landlock, and wasm within it */
    AL_PY_CONTAINER,          /* "container": oci */
    AL_PY_RESTRICTED_PROCESS, /* "restricted-process": bare wasm */
    AL_PY_NONE,               /* "none": managed */
};
const char *al_py_isolation_name(enum al_py_isolation i);
int al_py_isolation_find(const char *name); /* -1: another word */
/* Whether a permission given for `granted` covers `now`: the same or a stronger one. */
bool al_py_isolation_covers(enum al_py_isolation granted, enum al_py_isolation now);

/* What analysis.isolation asks for. */
enum al_py_policy { AL_PY_PREFERRED, AL_PY_REQUIRED, AL_PY_STRICT };

enum al_py_state { AL_PY_UNPROBED, AL_PY_READY, AL_PY_NOT_READY };

/* How a limit is kept. */
enum al_py_keeper { AL_PY_KEPT_NOT, AL_PY_KEPT_SAMPLED, AL_PY_KEPT_CGROUP, AL_PY_KEPT_ENGINE, AL_PY_KEPT_RLIMIT };
const char *al_py_keeper_name(enum al_py_keeper k); /* "none", "sampled", "cgroup", "engine", "rlimit" */

/* What was found out about one back end, here and now. */
struct al_py_probe {
    enum al_py_state state;
    enum al_py_isolation isolation;
    struct al_err why;      /* NOT_READY: the layer that failed, and the cure as the hint */
    char version[96];       /* "bubblewrap 0.8.0" */
    char python[32];        /* "3.11.2" */
    char interpreter[256];  /* for people on this machine only */
    /* Tried by a script within it; false when it got through, or was not tried. */
    bool denies_network, denies_files, denies_processes;
    enum al_py_keeper memory, pids, disk;
    bool pid_namespace;     /* no process can survive */
    int64_t at_ms;          /* when */
};

/* Which back end a run gets. Pure. probes: AL_PY_N of them; one that decides and is UNPROBED is told by *ret_need (then
 * 1 is returned, and the caller probes it and asks again). 0: *ret_backend, and *reason says in one sentence what was
 * wanted, what was chosen and what stronger one is missing and why. -1: RUNTIME_UNAVAILABLE with every reason and the
 * nearest cure. wanted AL_PY_N: auto. */
int al_py_choose(int wanted, enum al_py_policy policy, const struct al_py_probe *probes, enum al_py_backend *ret_backend,
                 enum al_py_backend *ret_need, struct al_buf *reason, struct al_err *err) AL_MUST_CHECK;

struct al_pyrun;
struct al_pyrun_opts {
    struct al_loop *loop;           /* borrowed, as all */
    const struct al_config *config;
    const char *state_dir;
    const char *python;             /* --python; NULL: found */
    const char *const *avoid;       /* folders that no program is taken from (the workspace); NULL-terminated, or NULL */
    enum al_py_policy floor;        /* --isolation, ALISIO_ISOLATION: may only raise what config says */
};
struct al_pyrun *al_pyrun_new(const struct al_pyrun_opts *o); /* starts nothing */
/* No job may run, and no callback of the loop. Probes and choices under way are ended, without their callback (the loop
 * turns meanwhile). NULL is fine. */
void al_pyrun_free(struct al_pyrun *p);
enum al_py_policy al_pyrun_policy(const struct al_pyrun *p);
int al_pyrun_wanted(const struct al_pyrun *p); /* analysis.runtime: a back end, or AL_PY_N for auto */

/* Probes: really runs a script in it. Kept in the process and in <state>/runtimes/python/probes.json, as long as kernel,
 * programs, interpreter and our own binary stay the same, at most a day; fresh: not from there. done comes once, later. */
void al_pyrun_probe(struct al_pyrun *p, enum al_py_backend b, bool fresh,
                    void (*done)(void *ud, const struct al_py_probe *probe), void *ud);
/* Probes what is needed and chooses. */
void al_pyrun_choose(struct al_pyrun *p,
                     void (*done)(void *ud, const struct al_py_probe *chosen, enum al_py_backend b, struct al_str reason,
                                  const struct al_err *err),
                     void *ud);
/* done of a choice with that ud will not come: what it started goes on, for others. */
void al_pyrun_unchoose(struct al_pyrun *p, const void *ud);
/* What is known without starting anything; state AL_PY_UNPROBED when nothing is. */
const struct al_py_probe *al_pyrun_known(const struct al_pyrun *p, enum al_py_backend b);
/* A start failed in a way that a probe would have seen: what is known of it is forgotten. */
void al_pyrun_forget(struct al_pyrun *p, enum al_py_backend b);

/* --- the interpreter --- */
struct al_py_interpreter {
    char *path;    /* real path of the executable */
    char *prefix;  /* sys.base_prefix: what must be readable for it to run */
    char *exec_prefix;
    char **roots;  /* NULL-terminated: the real folders that it must be able to read, none beneath another or /usr */
    char *version; /* "3.11.2" */
    int major, minor;
    char *source; /* "--python", "uv", "PATH" */
    int64_t mtime_ns, size, inode; /* of the executable, when it was asked */
};
void al_py_interpreter_fini(struct al_py_interpreter *i);
/* Finds and asks it (at most 15 s, off the loop's thread: call it there); cached in runtimes/python/discovery.json while
 * the file stays the same. RUNTIME_UNAVAILABLE with how to install one on this distribution. */
int al_py_interpreter_find(struct al_pyrun *p, struct al_py_interpreter *ret, struct al_err *err) AL_MUST_CHECK;

/* --- jobs --- */
struct al_py_job {
    char id[AL_ID_MAX];
    char *rel, *path;   /* beneath the state folder; absolute */
    int fd;             /* of the folder, O_PATH | O_DIRECTORY */
};
/* Makes the folder with script/, input/, work/, staging/, logs/; all 0700. */
int al_py_job_new(const char *state_dir, const char *workspace, const char *session, const char *exec_id,
                  struct al_py_job *ret, struct al_err *err) AL_MUST_CHECK;
/* One that is there (a rerun, a janitor). NOT_FOUND. */
int al_py_job_open(const char *state_dir, const char *workspace, const char *session, const char *exec_id,
                   struct al_py_job *ret, struct al_err *err) AL_MUST_CHECK;
/* Whom a script is to be when we are root and the back end drops that: a user of no one, the same for each run of a job. */
void al_py_job_owner(const struct al_py_job *j, uid_t *ret_uid, gid_t *ret_gid);
void al_py_job_close(struct al_py_job *j); /* lets go of it; the folder stays */
void al_py_job_remove(struct al_py_job *j); /* the folder, too, links never followed */
/* script/main.py and script/alisio_runtime/. */
int al_py_job_script(const struct al_py_job *j, struct al_str code, struct al_err *err) AL_MUST_CHECK;
struct al_py_input {
    char name[256];  /* in input/; made unique with -2, -3 before the suffix */
    char sha256[AL_SHA256_HEX];
    int64_t bytes;
};
/* Copies (a reflink where the file system has it, never a link) a regular file into input/, and hashes it. as: the wanted
 * name, made safe. Blocks: for the pool. max_bytes: INVALID_INPUT beyond. */
int al_py_job_input(const struct al_py_job *j, int src_fd, struct al_str as, uint64_t max_bytes, struct al_py_input *ret,
                    struct al_err *err) AL_MUST_CHECK;
/* A small file of ours: job.json, input/inputs.json. Atomic. */
int al_py_job_write(const struct al_py_job *j, const char *rel, struct al_str bytes, struct al_err *err) AL_MUST_CHECK;
int al_py_job_read(const struct al_py_job *j, const char *rel, size_t max, struct al_buf *out, struct al_err *err)
    AL_MUST_CHECK;

/* --- one run --- */
struct al_py_run_spec {
    const struct al_py_job *job;    /* borrowed until end */
    enum al_py_backend backend;
    uint64_t timeout_ms;
    const char *venv;               /* extras, read-only; NULL: none */
    const char *scratch;            /* the scratchpad, read-only; NULL: none */
    /* What was chosen, approved and told, borrowed until end: where less than that would hold the script by now it does not
     * start (RUNTIME_UNAVAILABLE). NULL: whatever it is. */
    const enum al_py_isolation *promised;
    size_t max_head, max_tail;      /* of each output, kept for the model */
};
enum al_py_cause {
    AL_PY_EXITED,      /* by itself: exit_code or signal */
    AL_PY_TIMED_OUT,
    AL_PY_STOPPED,     /* al_py_run_cancel */
    AL_PY_MEMORY,      /* over analysis.limits.memoryMb */
    AL_PY_DISK,        /* over analysis.limits.maxWorkBytes or maxWorkFiles */
    AL_PY_NOT_STARTED, /* err: RUNTIME_UNAVAILABLE, the layer and the cure */
};
struct al_py_output {
    struct al_str text;      /* head, a mark "… N bytes left out …", tail; valid UTF-8, controls as they came */
    uint64_t bytes;          /* that the script wrote */
    uint64_t logged;         /* that are in the log file */
};
struct al_py_run_end {
    enum al_py_cause cause;
    int exit_code; /* -1: by a signal */
    int signal;
    struct al_err err;       /* NOT_STARTED, MEMORY, DISK, TIMED_OUT: what to say */
    struct al_py_output out, errors; /* views for the call */
    uint64_t duration_ms, cpu_ms, peak_bytes;
    enum al_py_keeper memory, pids, disk;
    bool pid_namespace;
};
struct al_py_run_ops {
    void (*started)(void *ud, int64_t pid);
    void (*progress)(void *ud, struct al_str json); /* {"completed"?,"total"?,"note"?} of alisio_runtime.progress, checked */
    void (*output)(void *ud, bool is_error, struct al_str bytes); /* as it comes; may be NULL */
    void (*end)(void *ud, const struct al_py_run_end *end); /* once, when no process of the job is left */
};
struct al_py_run;
/* Never blocks for long; NULL with err when nothing was started. */
struct al_py_run *al_py_run_start(struct al_pyrun *p, const struct al_py_run_spec *spec, const struct al_py_run_ops *ops,
                                  void *ud, struct al_err *err);
/* SIGTERM at once, SIGKILL after 300 ms; end follows, later. Not after end: the run is gone then. */
void al_py_run_cancel(struct al_py_run *r);
/* What a person types at a shell to run the same script by hand, without its walls. May ask the interpreter: for the
 * pool. */
int al_py_run_command(struct al_pyrun *p, const struct al_py_run_spec *spec, struct al_buf *out, struct al_err *err)
    AL_MUST_CHECK;

#endif
