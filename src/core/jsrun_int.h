/* What the files of js_run share: one run, from its arguments to its result. Nobody else includes this. */
#ifndef AL_CORE_JSRUN_INT_H
#define AL_CORE_JSRUN_INT_H

#include "base/arena.h"
#include "base/ident.h"
#include "core/core.h"
#include "core/runlog.h"
#include "core/runs.h"
#include "core/script.h"

#define JSRUN_MAX_USES 10u
#define TOOL_ARENA_MAX (1u << 20) /* of one tool of a source, with its schemas */
#define JSRUN_MAX_NAMES (64u << 10) /* of names of servers' tools that a script can enumerate; all can be called */
#define JSRUN_MAX_TEXT (16u << 20)  /* printed: OUTPUT_LIMIT beyond */
#define JSRUN_MAX_VALUE (32u << 20) /* the value's JSON: OUTPUT_LIMIT beyond */
#define JSRUN_MAX_DEPTH 100u /* of a value; leaves room for the levels that our records put around it */
#define JSRUN_MAX_RECORD (256u << 20)
#define JSRUN_KEPT_VALUE (1u << 20)  /* of value and text each, in the record that the journal keeps */
#define JSRUN_KEPT_INPUT (64u << 10) /* of the input, in the record that the journal keeps */
#define JSRUN_PREVIEW_CHARS 200u
#define JSRUN_EXECUTE_TIMEOUT_MS 10000
#define JSRUN_EXECUTE_CALLS 20

struct jsrun_limits {
    uint64_t timeout_ms, memory_bytes;
    uint32_t stack_bytes, max_concurrency;
    unsigned max_calls;
    size_t max_output_chars, max_state_bytes;
};

/* One nested call; lives as long as its run. */
struct jsrun_call {
    struct jsrun *run;
    struct al_call *call; /* while it is open */
    uint32_t vm_id;
    unsigned seq;        /* from 1 */
    const char *tool;    /* the name as the script gave it, cleaned and cut; in the run's arena */
    const char *preview; /* redacted arguments */
    char args_sha256[AL_SHA256_HEX];
    enum al_effect effect;
    bool only_reads; /* an external call that changes nothing there */
    bool open, refused, began, has_row, row_due;
    enum al_code code;
    const char *status; /* running completed failed cancelled timed_out refused */
    const char *decision;
    uint64_t started_ms, ended_ms; /* al_mono_ms */
    int64_t started_wall_ms;
    size_t bytes;
};

struct jsrun_asking;

struct jsrun {
    struct al_call *call; /* the js_run itself */
    struct al_core *core;
    struct al_arena arena;
    bool legacy; /* execute */
    char id[AL_ID_MAX];
    struct al_run_slot slot;
    struct jsrun_limits limits;

    struct al_str code, input; /* in the arena */
    struct al_buf code_file;   /* the bytes of codePath */
    const char *title;         /* NULL: none */
    const char *uses[JSRUN_MAX_USES]; /* as the registry names them */
    char uses_sha256[JSRUN_MAX_USES][AL_SHA256_HEX]; /* of the definitions that the person was asked about */
    size_t n_uses;
    bool preapproved;
    struct jsrun_asking *asking;
    bool wall_chosen, wall_known; /* what Python scripts of `uses` would run behind; not known: nothing can run them */
    struct al_wall wall;

    struct al_vm *vm;
    bool began;               /* the journal has its row */
    bool cancelled;
    bool ended; /* the VM is gone (or never came) */
    bool reaping;
    uint64_t t0_ms;
    int64_t created_wall_ms, started_wall_ms;

    struct jsrun_call **calls;
    size_t n_calls, cap_calls, n_open, n_finished;
    size_t n_beyond; /* calls beyond the limit */
    size_t tool_bytes;

    struct al_buf text;     /* printed */
    struct al_buf progress; /* the script's last: a JSON object, or empty */
    struct al_timer *progress_timer;
    uint64_t progress_at_ms;
    bool progress_due;

    struct al_runlog log; /* what the journal has not yet */

    struct al_buf state_before;
    size_t state_bytes;
    bool state_on, state_changed;

    /* The end, copied. */
    struct al_err err; /* code AL_OK: completed */
    bool hinted;
    struct al_buf message; /* the error's message, longer than al_err holds */
    struct al_buf stack;
    int line, column;
    struct al_buf value; /* JSON; empty: null */
    const char *notes[4];
    size_t n_notes;
    uint64_t duration_ms, cpu_ms, heap_peak_bytes;

    /* Saving what does not fit. */
    bool cut_value, cut_text;
    const char *saved_value, *saved_text; /* "out/<id>.json", "out/<id>.txt", or NULL */
    struct al_err save_err;
    struct al_buf save_bytes;
    int save_fd;
};

/* --- jsrun_input.c */
int jsrun_read_input(struct jsrun *r, struct al_err *err) AL_MUST_CHECK;
void jsrun_limits_json(const struct jsrun *r, struct al_buf *out);
void jsrun_engine_json(const struct jsrun *r, struct al_buf *out);
void jsrun_tool_names_json(struct al_core *core, struct al_buf *out);

/* --- jsrun_calls.c */
void jsrun_on_call(void *ud, uint32_t id, struct al_str tool, struct al_str args_json);
void jsrun_on_query(void *ud, struct al_str what, struct al_str arg_json, struct al_buf *out);
void jsrun_cancel_calls(struct jsrun *r);
/* In jsrun.c: the last nested call is gone. */
void jsrun_call_gone(struct jsrun *r);

/* --- jsrun_journal.c */
int jsrun_journal_begin(struct jsrun *r, struct al_err *err) AL_MUST_CHECK;
void jsrun_journal_init(struct jsrun *r);
void jsrun_journal_started(void *ud, int64_t pid);
int jsrun_journal_call_begin(struct jsrun *r, struct jsrun_call *c, struct al_err *err) AL_MUST_CHECK;
void jsrun_journal_call_end(struct jsrun *r, struct jsrun_call *c);
void jsrun_journal_security(struct jsrun *r); /* the kernel stopped a forbidden system call of the VM */
void jsrun_journal_end(struct jsrun *r);

/* --- jsrun_progress.c */
void jsrun_on_progress(void *ud, struct al_str json);
void jsrun_progress_calls(struct jsrun *r); /* the counts of nested calls changed */
void jsrun_progress_last(struct jsrun *r);  /* delivers what waits */
void jsrun_progress_json(const struct jsrun *r, struct al_buf *out);

/* --- jsrun_error.c: the hint of every error that a run can end with */
void jsrun_error_hint(struct jsrun *r);
bool jsrun_has_guide(const struct jsrun *r);

/* --- jsresult.c */
const char *jsrun_status(const struct jsrun *r);
/* The text for a model, at most limits.max_output_chars; sets cut_value and cut_text. */
void jsresult_text(struct jsrun *r, struct al_buf *out);
/* A string value as a person reads it, any other as JSON; nothing is cut. */
void jsresult_value(const struct jsrun *r, struct al_buf *out);
/* The record; with kept, value and text are limited to what the journal keeps. */
void jsresult_record(const struct jsrun *r, bool kept, struct al_buf *out);


/* --- jscut.c: checking and cutting of what a script gave */
bool jscut_valid(struct al_str json, unsigned max_depth);
/* Appends at most max_chars code points; true when something was left out, which a mark shows. */
bool jscut_json(struct al_str json, size_t max_chars, struct al_buf *out);
bool jscut_text(struct al_str text, size_t max_chars, struct al_buf *out);
/* The value of a member of the object, as it stands there; {NULL, 0}: none. object is valid JSON, name needs
 * no escape. */
struct al_str jscut_member(struct al_str object, const char *name);
/* Appends s in one line of at most max_chars, controls made visible. */
void jscut_line(struct al_str s, size_t max_chars, struct al_buf *out);

#endif
