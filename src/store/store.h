/*
 * The journal and all that outlives a process: sessions, runs, nested calls, events, state, grants, trust.
 * Several hosts share one state folder; rows say who owns a run by host id, and a host is alive while its
 * lock is held.
 */
#ifndef AL_STORE_STORE_H
#define AL_STORE_STORE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/ident.h"

#include <stdint.h>

struct al_store;
/*
 * Functions that take a callback end when it returns false. The callback must not write to the store.
 *
 * Checks and makes <dir> (0700, ours), takes <dir>/hosts/<ulid>.lock for life, opens <dir>/sessions.sqlite
 * (or db_path), migrates (not while an older host runs), and closes what dead hosts left: their running runs
 * and turns become `interrupted`, their open calls too, their lock and socket files go.
 */
int al_store_open(const char *dir, const char *db_path, struct al_store **ret,
                  struct al_err *err) AL_MUST_CHECK;
void al_store_close(struct al_store *s);
const char *al_store_dir(const struct al_store *s);
const char *al_store_host_id(const struct al_store *s);
int al_store_lock_fd(const struct al_store *s);
/* <dir>/hosts/<host id>.sock, for the control socket of a host. Malloc'ed. */
char *al_store_socket_path(const struct al_store *s, const char *host_id);
bool al_store_host_alive(const struct al_store *s, const char *host_id);
/* Runs recovery again (al_store_open has done it once). Number of runs closed. */
int al_store_recover(struct al_store *s, struct al_err *err) AL_MUST_CHECK;

/*
 * Between the two, al_store_run_started, _run_end, _event_add, _call_end, an unsynced _call_begin and al_turn_compact become one
 * transaction, so that many rows cost what one does. A row that fails leaves the others. Nothing else may be called, and
 * the loop must not turn, before the end.
 */
int al_store_batch_begin(struct al_store *s, struct al_err *err) AL_MUST_CHECK;
int al_store_batch_end(struct al_store *s, struct al_err *err) AL_MUST_CHECK;

/* --- sessions --- */
struct al_session {
    char id[AL_ID_MAX];
    char *workspace; /* real path */
    char *kind;      /* "default", "named", "agent" */
    char *title;     /* may be NULL */
    int64_t created_ms, updated_ms;
    int64_t n_runs;
};
void al_session_fini(struct al_session *v);
int al_store_session_default(struct al_store *s, const char *workspace, struct al_session *ret,
                             struct al_err *err) AL_MUST_CHECK;
int al_store_session_new(struct al_store *s, const char *workspace, struct al_session *ret,
                         struct al_err *err) AL_MUST_CHECK;
int al_store_session_get(struct al_store *s, const char *id, struct al_session *ret,
                         struct al_err *err) AL_MUST_CHECK; /* NOT_FOUND */
/* Newest first; workspace NULL: all. fn returns false to end. */
int al_store_session_each(struct al_store *s, const char *workspace,
                          bool (*fn)(void *ud, const struct al_session *), void *ud,
                          struct al_err *err) AL_MUST_CHECK;
/* Rows; BUSY while a run is live or an agent has it. */
int al_store_session_delete(struct al_store *s, const char *id, struct al_err *err) AL_MUST_CHECK;

/* --- runs --- */
struct al_run {
    char id[AL_ID_MAX], session[AL_ID_MAX];
    char *host_id;
    char *kind;                   /* "js_run", "tool", "execute" */
    char *title;                  /* may be NULL */
    char *source;                 /* "cli", "mcp" */
    char *code_sha256;            /* may be NULL */
    char *engine;                 /* JSON object: name, version, wasmSha256, isolation, host, reason */
    char *limits;                 /* JSON object */
    char *status;                 /* queued running completed failed cancelled timed_out interrupted */
    char *error_code, *error_msg; /* NULL when fine */
    char *record;                 /* JSON of the whole result as faces show it; NULL until ended */
    int64_t created_ms, started_ms, ended_ms; /* 0: not yet */
    int64_t pid;                              /* of the VM, for doctor only; 0 unknown */
    int64_t n_calls, text_bytes, tool_bytes, cpu_ms, heap_peak_bytes;
};
void al_run_fini(struct al_run *r);
/* Inserts; status as given. The code is stored once by its hash. Values under secret-looking keys of JSON are
 * redacted by the caller (al_redact_json). */
int al_store_run_begin(struct al_store *s, const struct al_run *r, struct al_str code,
                       struct al_err *err) AL_MUST_CHECK;
int al_store_run_started(struct al_store *s, const char *id, int64_t pid, struct al_err *err) AL_MUST_CHECK;
/* Writes status, error, record, counts and end time; a terminal status is never overwritten. */
int al_store_run_end(struct al_store *s, const struct al_run *r, struct al_err *err) AL_MUST_CHECK;
int al_store_run_get(struct al_store *s, const char *id, struct al_run *ret,
                     struct al_err *err) AL_MUST_CHECK; /* NOT_FOUND */
struct al_run_filter {
    const char *workspace, *session, *status; /* NULL: any */
    bool failed_only, live_only;
    int limit;          /* 0: 50 */
    const char *before; /* only what was begun before the run of this id; NULL: all */
};
/* Newest first. A list leaves `record` NULL. With failed_only: failed, timed_out, interrupted. */
int al_store_run_each(struct al_store *s, const struct al_run_filter *f,
                      bool (*fn)(void *ud, const struct al_run *), void *ud,
                      struct al_err *err) AL_MUST_CHECK;
int al_store_run_code(struct al_store *s, const char *id, struct al_buf *out,
                      struct al_err *err) AL_MUST_CHECK;
int al_store_run_delete(struct al_store *s, const char *id, struct al_err *err) AL_MUST_CHECK;

/* --- nested calls --- */
struct al_call_row {
    int64_t seq; /* within the run, from 1 */
    char *tool, *effect, *args_sha256, *args_preview;
    char *decision; /* "allowed", "preapproved", "refused: CODE" */
    char *status;   /* running completed failed cancelled timed_out interrupted refused */
    char *code;     /* error code or NULL */
    int64_t started_ms, ended_ms, bytes;
};
/* With sync (effects write and external): on the disk before this returns, so before the effect. */
int al_store_call_begin(struct al_store *s, const char *run_id, const struct al_call_row *c, bool sync,
                        struct al_err *err) AL_MUST_CHECK;
int al_store_call_end(struct al_store *s, const char *run_id, const struct al_call_row *c,
                      struct al_err *err) AL_MUST_CHECK;
int al_store_call_each(struct al_store *s, const char *run_id,
                       bool (*fn)(void *ud, const struct al_call_row *), void *ud,
                       struct al_err *err) AL_MUST_CHECK;

/* --- events: what a run said while it ran (type "print" or "progress"; body is text or JSON) --- */
int al_store_event_add(struct al_store *s, const char *run_id, const char *type, struct al_str body,
                       struct al_err *err) AL_MUST_CHECK;
int al_store_event_each(struct al_store *s, const char *run_id, int64_t after_seq,
                        bool (*fn)(void *ud, int64_t seq, const char *type, struct al_str body,
                                   int64_t at_ms),
                        void *ud, struct al_err *err) AL_MUST_CHECK;

/* --- state of a session: top-level keys, each a JSON value --- */
/* Appends {"key":value,…}, keys in order of insertion. */
int al_store_state_get(struct al_store *s, const char *session, struct al_buf *out,
                       struct al_err *err) AL_MUST_CHECK;
/*
 * All or nothing, in one transaction. before is the JSON object that the run started with, after an array of
 * [key, value] at its end. Keys that this run changed are written; a key that another run changed meanwhile,
 * too, is STATE_CONFLICT (naming it); over max_bytes in all, STATE_LIMIT. ret: total bytes after, whether
 * anything changed.
 */
int al_store_state_merge(struct al_store *s, const char *session, struct al_str before, struct al_str after,
                         size_t max_bytes, size_t *ret_bytes, bool *ret_changed,
                         struct al_err *err) AL_MUST_CHECK;

/* --- grants, decisions, trust --- */
struct al_grant {
    char id[AL_ID_MAX], session[AL_ID_MAX];
    char *capability;                           /* tool name or capability */
    char *isolation;                            /* ready when it was given; NULL: none is spoken of */
    char *source;                               /* cli, mcp, tui, web */
    int64_t created_ms, expires_ms, revoked_ms; /* 0: never */
};
void al_grant_fini(struct al_grant *g);
/* Fills id and times; in a default session a grant lasts at most 12 h. */
int al_store_grant_add(struct al_store *s, struct al_grant *g, struct al_err *err) AL_MUST_CHECK;
/* isolation: what would hold now ("os-sandbox" …): a grant covers the isolation that it was given for, and stronger ones;
 * one without any covers all. NULL: the capability knows none. */
bool al_store_grant_valid(struct al_store *s, const char *session, const char *capability, const char *isolation);
int al_store_grant_each(struct al_store *s, const char *session,
                        bool (*fn)(void *ud, const struct al_grant *), void *ud,
                        struct al_err *err) AL_MUST_CHECK;
int al_store_grant_revoke(struct al_store *s, const char *id, struct al_err *err) AL_MUST_CHECK;

struct al_decision {
    int64_t at_ms;
    char *session, *run, *tool, *effect, *origin, *decision, *reason;
};
int al_store_decision_add(struct al_store *s, const struct al_decision *d, struct al_err *err) AL_MUST_CHECK;
int al_store_decision_each(struct al_store *s, const char *session, int limit,
                           bool (*fn)(void *ud, const struct al_decision *), void *ud,
                           struct al_err *err) AL_MUST_CHECK;

/* Trust is per folder (real path) plus the hash of its .alisio/config.json when it was given. */
int al_store_trust_add(struct al_store *s, const char *dir, const char *config_sha256,
                       struct al_err *err) AL_MUST_CHECK;
int al_store_trust_revoke(struct al_store *s, const char *dir,
                          struct al_err *err) AL_MUST_CHECK; /* NOT_FOUND */
bool al_store_trusted(struct al_store *s, const char *dir, const char *config_sha256);
int al_store_trust_each(struct al_store *s,
                        bool (*fn)(void *ud, const char *dir, const char *sha256, int64_t at_ms), void *ud,
                        struct al_err *err) AL_MUST_CHECK;

/* --- datasets: rows here, files in <dir>/analysis/datasets/<workspace key>/<session>/<id>.sqlite (0400) --- */
/* Which file it was, as fstat says; all 0: not known. */
struct al_file_identity {
    int64_t dev, ino, size, mtime_ns, ctime_ns;
};
struct al_dataset_row {
    char id[AL_ID_MAX], session[AL_ID_MAX];
    char *workspace;
    char *name, *format; /* of the source, for people; "csv" … */
    char *sha256;        /* of the source */
    char *options;       /* canonical JSON of what was forced */
    char *source_path;   /* stays on this machine: never shown to a model; may be NULL */
    char *rel_path;      /* of the file, beneath the state folder */
    char *sheets;        /* JSON: [{"name","table","rows","columns":[{"name","type"}]}], cut to a few */
    int64_t bytes, source_bytes, n_rows, ingest_version, created_ms, used_ms;
    struct al_file_identity source;
};
void al_dataset_row_fini(struct al_dataset_row *d);
/* A dataset that is being made: an empty file of no name that counts, open for whoever fills it. */
struct al_dataset_file {
    int fd, dir_fd; /* owned */
    char tmp[40];   /* "": there is none (any more) */
    char *rel_dir;
};
int al_store_dataset_file_new(struct al_store *s, const char *workspace, const char *session,
                              struct al_dataset_file *ret, struct al_err *err) AL_MUST_CHECK;
void al_store_dataset_file_drop(struct al_dataset_file *f); /* also after it was added; closes all */
/*
 * Names the file (read-only from now on) and writes its row, both or none. d is completed: id, rel_path, bytes and times.
 * 0; or 1 when the session has a dataset of that content, options and format: *d is that one, and the file is not
 * needed. QUOTA_EXCEEDED over max_bytes in all.
 */
int al_store_dataset_add(struct al_store *s, struct al_dataset_row *d, struct al_dataset_file *f, uint64_t max_bytes,
                         struct al_err *err) AL_MUST_CHECK;
/* workspace NULL: any; a dataset of another is NOT_FOUND. */
int al_store_dataset_get(struct al_store *s, const char *id, const char *workspace, struct al_dataset_row *ret,
                         struct al_err *err) AL_MUST_CHECK;
/* The newest of the session that was made of this very file, with these options, by this version. 1, 0 or -1. */
int al_store_dataset_find(struct al_store *s, const char *session, const char *options, int64_t ingest_version,
                          const struct al_file_identity *source, struct al_dataset_row *ret,
                          struct al_err *err) AL_MUST_CHECK;
/* The dataset's file, read-only; notes the use, at most once in ten minutes. NOT_FOUND when it has gone or is another:
 * its row then goes, too. */
int al_store_dataset_open(struct al_store *s, const struct al_dataset_row *d, int *ret_fd,
                          struct al_err *err) AL_MUST_CHECK;
struct al_dataset_filter {
    const char *workspace, *session; /* NULL: any */
    int limit;                       /* 0: all */
    const char *before;              /* only those made before the one of this id; NULL: all */
};
int al_store_dataset_each(struct al_store *s, const struct al_dataset_filter *f,
                          bool (*fn)(void *ud, const struct al_dataset_row *), void *ud,
                          struct al_err *err) AL_MUST_CHECK; /* newest first; without sheets */
int al_store_dataset_delete(struct al_store *s, const char *id, struct al_err *err) AL_MUST_CHECK; /* NOT_FOUND */
/* Bytes and number of all datasets; workspace NULL: of all workspaces. */
int al_store_dataset_usage(struct al_store *s, const char *workspace, int64_t *ret_n, int64_t *ret_bytes,
                           struct al_err *err) AL_MUST_CHECK;
/* Deletes those that nobody used since. Count. */
int al_store_dataset_purge_before(struct al_store *s, int64_t cutoff_ms, struct al_err *err) AL_MUST_CHECK;
/* Files without a row, which a process left that was killed at the wrong moment; not those younger than an hour. */
int al_store_dataset_sweep(struct al_store *s);

/* --- artifacts: rows here, files in <dir>/artifacts/<workspace key>/<session>/<slug>--<id>/ (artifact/artifact.h) --- */
struct al_artifact {
    char id[AL_ID_MAX], session[AL_ID_MAX];
    char execution[AL_ID_MAX]; /* "": made without a run */
    char *workspace;
    char *source_path; /* in the output folder; unique within an execution */
    char *title, *file_name;
    char *kind; /* dashboard document spreadsheet image data code archive file */
    char *mime;
    char *sha256;   /* over its sorted "hash  path" lines */
    char *entry;    /* the file that opens a multi-file artifact; NULL: it has one file */
    char *rel_dir;  /* beneath the state folder */
    char *status;   /* publishing, ready, expired (its files were removed), deleted */
    char *manifest; /* JSON, as manifest.json; with the provenance. A list leaves it NULL */
    int64_t bytes, n_files, created_ms, ended_ms;
    bool partial; /* of a script that failed */
};
void al_artifact_fini(struct al_artifact *a);
/* Rows of status "publishing", owned by this host, for folders that are about to be there: all or none. 0; or 1 when the
 * execution has published already (nothing is written). QUOTA_EXCEEDED over max_bytes of all artifacts and datasets. */
int al_store_artifact_begin(struct al_store *s, const struct al_artifact *list, size_t n, uint64_t max_bytes,
                            struct al_err *err) AL_MUST_CHECK;
/* All of them become ready, or none. */
int al_store_artifact_ready(struct al_store *s, const struct al_artifact *list, size_t n, struct al_err *err) AL_MUST_CHECK;
/* Takes rows that are still "publishing" back. */
int al_store_artifact_abandon(struct al_store *s, const struct al_artifact *list, size_t n, struct al_err *err) AL_MUST_CHECK;
/* Ready, expired and deleted ones; workspace NULL: any; one of another workspace is NOT_FOUND. */
int al_store_artifact_get(struct al_store *s, const char *id, const char *workspace, struct al_artifact *ret,
                          struct al_err *err) AL_MUST_CHECK;
struct al_artifact_filter {
    const char *workspace, *session, *execution, *kind; /* NULL: any */
    bool all;           /* also expired ones; deleted ones never */
    int limit;          /* 0: all */
    const char *before; /* only those made before the one of this id; NULL: all */
    int64_t created_before_ms; /* 0: any */
};
int al_store_artifact_each(struct al_store *s, const struct al_artifact_filter *f,
                           bool (*fn)(void *ud, const struct al_artifact *), void *ud,
                           struct al_err *err) AL_MUST_CHECK; /* newest first */
/* "deleted" or "expired"; the caller removes the files. NOT_FOUND. */
int al_store_artifact_end(struct al_store *s, const char *id, const char *status, struct al_err *err) AL_MUST_CHECK;
int al_store_artifact_usage(struct al_store *s, const char *workspace, int64_t *ret_n, int64_t *ret_bytes,
                            struct al_err *err) AL_MUST_CHECK;
/* Each row that a dead host left "publishing": fn removes its folders, then the row goes. Count. */
int al_store_artifact_recover(struct al_store *s, void (*fn)(void *ud, const struct al_artifact *), void *ud,
                              struct al_err *err) AL_MUST_CHECK;

/* --- keeping house --- */
/* Deletes runs that ended before cutoff_ms, with calls, events and unused code, and conversations that nobody went on with
 * since (their sessions, too, where nothing else is left of them). Count of runs. */
int al_store_purge_before(struct al_store *s, int64_t cutoff_ms, struct al_err *err) AL_MUST_CHECK;
/* Deletes every row of a workspace. Count of runs. BUSY while one is live or an agent has a session of it. */
int al_store_purge_workspace(struct al_store *s, const char *workspace, struct al_err *err) AL_MUST_CHECK;
/* PASSIVE checkpoint in the loop's thread: milliseconds, since it waits for the disk. From a worker thread:
 * al_db_checkpoint_file(al_store_db_path(s)). Without either, a commit does it at 4,000 pages of WAL. */
const char *al_store_db_path(const struct al_store *s);
void al_store_checkpoint(struct al_store *s);

/* Copies JSON text with values under keys that match token|secret|password|authorization|api.?key (any case)
 * as "‹redacted›". Text that is no JSON is copied as it is. */
void al_redact_json(struct al_str json, struct al_buf *out);

#endif
