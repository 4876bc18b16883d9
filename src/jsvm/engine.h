/*
 * The JavaScript engine, seen from the host: a sealed process per run, forked from a sealed zygote. One
 * process is forked ahead and waits for the next script. It knows scripts, frames and limits of the VM. It
 * knows no tools, no policy and no database.
 */
#ifndef AL_JSVM_ENGINE_H
#define AL_JSVM_ENGINE_H

#include "base/buf.h"
#include "base/err.h"
#include "loop/loop.h"

#include <stdint.h>

/* argv[1] of our own binary that enters the zygote; see al_zygote_main. */
#define AL_ZYGOTE_VERB "__js-zygote"
int al_zygote_main(int argc, char **argv);

/* What the build recorded. */
struct al_engine_build {
    const char *name;        /* "quickjs-ng" */
    const char *version;     /* of the engine */
    const char *package;     /* "quickjs-wasi 3.7.0" */
    const char *wasm_sha256; /* of the module that was translated */
    const char *wasm2c;      /* version of the translator */
};
const struct al_engine_build *al_engine_build(void);

struct al_engine;
/* Starts nothing yet; the zygote starts with al_engine_warm or the first run. From here on the process is not
 * dumpable: nobody of the same user reads its memory, its environment or its descriptors. */
struct al_engine *al_engine_new(struct al_loop *loop);
void al_engine_free(struct al_engine *e); /* kills runs, the spare and the zygote, and reaps them all */
/* Starts the zygote and the spare if none is there, and does not wait for them. ENGINE_UNAVAILABLE with the
 * reason (as an address space under 9 GiB); what fails later than that comes as the end of the runs that wait
 * for it. */
int al_engine_warm(struct al_engine *e, struct al_err *err) AL_MUST_CHECK;
/* After 10,000 runs or an hour the zygote is replaced by a fresh one; these are its figures. */
uint64_t al_engine_runs_started(const struct al_engine *e);

/* What a script starts with. All views are copied or sent during al_vm_start. */
struct al_vm_spec {
    struct al_str code;
    struct al_str input;      /* JSON, or empty for null */
    struct al_str alisio;     /* JSON object: becomes the frozen global ALISIO */
    struct al_str tool_names; /* JSON: {"tools":["read_file",…],"servers":{"github":["create_issue",…]}} */
    struct al_str state;      /* JSON object, or empty when state is off: then no global `state` */
    uint64_t timeout_ms;      /* wall clock; the engine kills at it */
    uint64_t memory_bytes;
    uint32_t stack_bytes;
    uint32_t
        max_concurrency;    /* nested calls that the script has open at once; more wait in the VM, in order */
    size_t max_text_bytes;  /* printed text: OUTPUT_LIMIT beyond */
    size_t max_value_bytes; /* the value's JSON: OUTPUT_LIMIT beyond */
    size_t max_state_bytes; /* the state as JSON: its keeper's limit. From twice as much the run ends with
                               STATE_LIMIT; 0: the engine's own limit alone */
    bool legacy_execute;    /* the tool `execute`: there is a global callTool(name, input), the same as
                               tools.call */
};

struct al_vm_end {
    enum al_code code; /* AL_OK, or SYNTAX_ERROR SCRIPT_ERROR TIMEOUT MEMORY_LIMIT STACK_LIMIT OUTPUT_LIMIT
                          INVALID_RESULT DEADLOCK CANCELLED ENGINE_CRASHED ENGINE_UNAVAILABLE, or the code
                          that an uncaught ToolError carried */
    struct al_str message; /* for people, the script's own words included; valid UTF-8 */
    struct al_str hint;    /* may be empty */
    struct al_str stack;   /* of the script, its own line numbers; may be empty */
    int line, column;      /* in the script, 1-based; 0 unknown */
    struct al_str value;   /* JSON; empty when there is none */
    struct al_str notes;   /* JSON array of strings: "no return value", "2 calls were not awaited", … */
    struct al_str state; /* JSON array of [key, value] of the state at the end; empty when unchanged or off */
    bool security;       /* the kernel refused a system call (SIGSYS) */
    uint64_t duration_ms, cpu_ms, heap_peak_bytes;
};

struct al_vm_ops {
    /* When the VM's process is there, before anything else is told of it; may be NULL. Once, or a second time
     * with another pid, when the first was killed before it had taken the script. */
    void (*started)(void *ud, int64_t pid);
    void (*print)(void *ud, struct al_str text);    /* one line, without its line end */
    void (*progress)(void *ud, struct al_str json); /* {"completed"?,"total"?,"note"?} */
    /* A nested call. id is chosen by the VM (a claim), unique among open calls. Answer with al_vm_reply. */
    void (*call)(void *ud, uint32_t id, struct al_str tool, struct al_str args_json);
    /* tools.list / tools.describe, synchronous for the script: append the JSON answer to out. what is "list"
     * or "describe", arg_json the one argument as JSON (a string; null when list has none). An answer of the
     * form
     * {"error":{"code","message","hint"?}} makes the script's call throw a ToolError. */
    void (*query)(void *ud, struct al_str what, struct al_str arg_json, struct al_buf *out);
    /* Exactly once, also after kill, and nothing is called after it. The VM's process is reaped by then; of a
     * script that came to its own end it has been killed, and is reaped soon after, with al_engine_free at
     * the latest. */
    void (*end)(void *ud, const struct al_vm_end *end);
};

struct al_vm;
/* NULL with ENGINE_UNAVAILABLE when the zygote cannot serve. No callback comes from within this call. */
struct al_vm *al_vm_start(struct al_engine *e, const struct al_vm_spec *spec, const struct al_vm_ops *ops,
                          void *ud, struct al_err *err);
/* result: {"ok":true,"value":JSON} is built here from ok = NULL; with err the promise rejects with a
 * ToolError. */
void al_vm_reply(struct al_vm *vm, uint32_t id, struct al_str value_json, const struct al_err *err);
/* Kills the process by its pidfd. end() follows with CANCELLED (or TIMEOUT when the limit had passed). */
void al_vm_cancel(struct al_vm *vm);
/* The script's clock stands still between these two (an upstream server is starting). */
void al_vm_clock_stop(struct al_vm *vm);
void al_vm_clock_go(struct al_vm *vm);

/* The self-test of `alisio forge status --probe`: a known script, an interrupted loop, a refused system call,
 * each in a fresh VM. Blocking (it runs the loop). 0, or -1 with what failed. */
int al_engine_self_test(struct al_engine *e, struct al_loop *loop, struct al_err *err) AL_MUST_CHECK;

#endif
