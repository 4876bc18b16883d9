/* Tools and calls of them: what a tool is, how one call lives, how it ends. Each call ends exactly once. */
#ifndef AL_CORE_TOOL_H
#define AL_CORE_TOOL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#include <stdatomic.h>
#include <stdint.h>

struct al_core;
struct al_call;

/* read and internal calls run at once; write, process and external calls of one run go one at a time, in order. */
enum al_effect {
    AL_EFFECT_READ,
    AL_EFFECT_INTERNAL, /* writes only our own state */
    AL_EFFECT_WRITE,
    AL_EFFECT_PROCESS,
    AL_EFFECT_EXTERNAL,
};
const char *al_effect_name(enum al_effect e);

enum al_origin {
    AL_ORIGIN_CLI,    /* a person typed this very call */
    AL_ORIGIN_MCP,    /* a client's model made it */
    AL_ORIGIN_SCRIPT, /* nested in a js_run */
};

struct al_tool {
    const char *name;          /* 1-64 of [A-Za-z0-9_-] */
    const char *title;
    const char *description;   /* for a model: ≤ 2 KB, key facts first */
    const char *input_schema;  /* JSON Schema (core/schema.h says which keywords), an object schema */
    const char *output_schema; /* of the structured value; may be NULL */
    enum al_effect effect;
    enum al_code input_code;   /* of arguments that fail the schema; AL_OK: TOOL_INPUT_INVALID */
    const char *not_callable;  /* why a script may not call it; NULL: it may */
    const char *expose;        /* offered over MCP always (NULL) or with --expose "files" | "process" */
    bool destructive, idempotent, open_world; /* MCP annotations; read-only follows from the effect */
    /* Begins the work; ends in al_call_finish, now or later, always in the loop's thread. */
    void (*start)(struct al_call *call);
    /* Asks running work to end soon; al_call_finish still comes. NULL: call->cancelled is polled. */
    void (*cancel)(struct al_call *call);
    /* True when these arguments touch nothing but the scratchpad (then no approval is needed). May be NULL. */
    bool (*scratch_only)(const struct al_json *args);
    /* Whether it is there at all now (config switches); NULL: always. */
    bool (*registered)(const struct al_core *core);
};

#define AL_CALL_MAX_RESULT (8u << 20)  /* structured bytes: RESULT_TOO_LARGE beyond */
#define AL_CALL_MAX_ARGS (16u << 20)

struct al_call {
    struct al_core *core;
    const struct al_tool *tool; /* NULL when there is none of that name */
    enum al_origin origin;
    struct al_arena arena;      /* of this call */
    struct al_str args_raw;     /* JSON, in the arena */
    const struct al_json *args; /* checked against the input schema */
    const char *run_id;         /* the run that it is nested in; NULL for a direct call */
    atomic_bool cancelled;      /* set by al_call_cancel; read it in long work on the pool */

    /* The result; the tool fills it before al_call_finish. */
    struct al_buf text;         /* what a model reads */
    struct al_buf structured;   /* one JSON value for scripts and faces; empty: none */
    struct al_err err;          /* code ≠ AL_OK: failed; text and structured may be filled all the same */
    char execution_id[64];      /* of the run that the call made, or "" */

    void *impl;                 /* the tool's own; it frees it before al_call_finish */
    struct al_call_core *priv;  /* the core's own */
};

/* Ends the call. With cancelled set and no error yet, the code becomes CANCELLED. */
void al_call_finish(struct al_call *call);
/* Runs work(call) on the thread pool, then al_call_finish. work fills the result; it must not touch loop or store. */
void al_call_in_thread(struct al_call *call, void (*work)(struct al_call *call));
/* Progress for faces: JSON object {"completed"?,"total"?,"note"?}. Throttled by the receiver. */
void al_call_progress(struct al_call *call, struct al_str json);

/* --- making calls --- */
struct al_call_spec {
    struct al_str tool;      /* registry name, or "server.tool" */
    struct al_str args_json; /* an object; empty is {} */
    enum al_origin origin;
    const char *run_id;      /* for AL_ORIGIN_SCRIPT */
    bool preapproved;        /* named in `uses` and approved for this run */
    /* Just before the tool gets the call: past the checks, the gate and the queue, so never for a refused one. Where a
     * caller keeps rows of its own it writes them here; a failure ends the call with err before any effect. May be NULL,
     * and may come from within al_core_call. */
    int (*starting)(void *ud, struct al_call *call, struct al_err *err);
    void (*progress)(void *ud, struct al_str json); /* may be NULL */
    void (*done)(void *ud, struct al_call *call);   /* once, never from within al_core_call; call is freed after it */
    void *ud;
};
/* Finds, checks (TOOL_NOT_FOUND with close names, NOT_CALLABLE, TOOL_INPUT_INVALID with JSON pointers), asks the gate,
 * starts. All failures come through done. */
struct al_call *al_core_call(struct al_core *core, const struct al_call_spec *spec);
/* CANCELLED follows through done. Also for calls that wait or have not started. */
void al_call_cancel(struct al_call *call);

/* --- registry --- */
/* tool must live as long as the core. Aborts on a bad schema or a double name: those are ours. */
void al_core_register(struct al_core *core, const struct al_tool *tool);
const struct al_tool *al_core_tool(const struct al_core *core, struct al_str name); /* NULL: none or not registered now */
size_t al_core_n_tools(const struct al_core *core);
const struct al_tool *al_core_tool_at(const struct al_core *core, size_t i); /* by name order; skips none; check registered */
bool al_core_tool_registered(const struct al_core *core, const struct al_tool *tool);
/* Up to 3 close names into err's hint style text: "did you mean a, b?" ; empty when none. */
void al_core_close_names(const struct al_core *core, struct al_str name, struct al_buf *out);
/* A TypeScript declaration of a tool: "read_file(args: {path: string; startLine?: number}): Promise<{…}>". */
void al_tool_signature(const struct al_tool *tool, struct al_buf *out);
/* tools.list(query) and tools.describe(name), for scripts, the CLI and the guide; JSON appended. */
void al_core_list_json(const struct al_core *core, struct al_str query, enum al_origin origin, struct al_buf *out);
int al_core_describe_json(const struct al_core *core, struct al_str name, struct al_buf *out, struct al_err *err);

#endif
