/* Tools and calls of them: what a tool is, how one call lives, how it ends. Each call ends exactly once. */
#ifndef AL_CORE_TOOL_H
#define AL_CORE_TOOL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/ident.h"
#include "base/json.h"
#include "pyrun/pyrun.h"

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

/* How the gate decides about a tool: by its effect and the flags, or by the policy of its server. */
enum al_tool_gate {
    AL_GATE_EFFECT,
    AL_GATE_ALLOW,
    AL_GATE_ASK,
    AL_GATE_DENY,
    AL_GATE_CHANGED, /* allowed, but its definition is another than when it was first used: as ask, until a review */
};

enum al_origin {
    AL_ORIGIN_CLI,    /* a person typed this very call */
    AL_ORIGIN_MCP,    /* a client's model made it */
    AL_ORIGIN_SCRIPT, /* nested in a js_run */
    AL_ORIGIN_AGENT,  /* the model of our own agent made it */
};

/* A direct call of a model, which a person may be asked about, and stored grants cover. */
static inline bool al_origin_is_model(enum al_origin o) { return o == AL_ORIGIN_MCP || o == AL_ORIGIN_AGENT; }
const char *al_origin_name(enum al_origin o); /* "cli", "mcp", "script", "agent" */

struct al_tool {
    const char *name;          /* 1-64 of [A-Za-z0-9_-] */
    const char *title;
    const char *description;   /* for a model: ≤ 2 KB, key facts first */
    const char *brief;         /* the same in one or two sentences, for our own agent's requests; NULL: the description's first */
    const char *input_schema;  /* JSON Schema (core/schema.h says which keywords), an object schema */
    const char *output_schema; /* of the structured value; may be NULL */
    enum al_effect effect;
    const char *capability;    /* what flags and grants are about instead of the effect ("analysis.run"); NULL: the effect */
    enum al_code input_code;   /* of arguments that fail the schema; AL_OK: TOOL_INPUT_INVALID */
    const char *not_callable;  /* why a script may not call it; NULL: it may */
    /* Offered over MCP always (NULL), with --expose "files" or "process", or ("approval") where the gate would let it pass or
     * the person can be asked; another word: never. */
    const char *expose;
    /* Of an external tool: it changes nothing there, as its maker says. Such calls run at once, and their rows need not
     * be on the disk before them. It opens nothing. */
    bool only_reads;
    /* A direct call of it is a run with a row of its own, which the tool writes, and with a place among the runs of the
     * host: it does not wait for other calls with effects. Nested, it does. */
    bool own_run;
    bool destructive, idempotent, open_world; /* MCP annotations; read-only follows from the effect */
    /* Begins the work; ends in al_call_finish, now or later, always in the loop's thread. */
    void (*start)(struct al_call *call);
    /* Asks running work to end soon; al_call_finish still comes. NULL: call->cancelled is polled. */
    void (*cancel)(struct al_call *call);
    /* When the arguments are fine, and before the gate decides: reads what they only name, the code of a file or of an
     * earlier run, into call->code, so that what a person is shown is what runs. In the loop's thread, and without an
     * effect; start follows only when the call is let in. -1 with call->err refuses it. May be NULL. */
    int (*prepare)(struct al_call *call);
    /* True when these arguments touch nothing but the scratchpad (then no approval is needed). May be NULL. */
    bool (*scratch_only)(const struct al_json *args);
    /* Whether it is there at all now (config switches); NULL: always. */
    bool (*registered)(const struct al_core *core);

    /* Of tools that come from a source (an upstream MCP server); NULL and 0 for our own. */
    const char *server;      /* the server's name */
    const char *server_tool; /* the tool's name there: scripts call tools.<server>.<server_tool> */
    enum al_tool_gate gate;  /* what the person's configuration says of it; AL_GATE_EFFECT for our own */
    char sha256[AL_SHA256_HEX]; /* of its definition: what a person's approval is about; "" when that is not known yet */
    const char *annotations; /* JSON object of MCP annotations, as the server claims them; may be NULL */
    const void *data;        /* the source's own */
};

#define AL_CALL_MAX_RESULT (8u << 20)  /* structured bytes: RESULT_TOO_LARGE beyond */
#define AL_CALL_MAX_ARGS (16u << 20)

struct al_call {
    struct al_core *core;
    const struct al_tool *tool; /* NULL when there is none of that name */
    enum al_origin origin;
    struct al_arena arena;      /* of this call */
    struct al_str args_raw;     /* JSON, in the arena */
    struct al_str params_raw;   /* of a relayed call: all of its tools/call params, JSON, in the arena; else empty */
    const struct al_json *args; /* checked against the input schema */
    const char *run_id;         /* the run that it is nested in; NULL for a direct call */
    const void *owner;          /* of a relayed call: the client that makes it */
    struct al_str client;       /* who is at the other end, as it said: JSON {"name","version"}, in the arena; may be empty */
    struct al_str code;         /* what the tool's prepare read, in the arena */
    /* Of a tool with a capability: the weakest wall behind which it may run. What was decided is what runs: where less
     * than this holds by now (al_py_isolation_covers), the tool must not start. */
    enum al_py_isolation decided_isolation;
    atomic_bool cancelled;      /* set by al_call_cancel; read it in long work on the pool */

    /* The result; the tool fills it before al_call_finish. */
    struct al_buf text;         /* what a model reads */
    struct al_buf structured;   /* one JSON value for scripts and faces; empty: none */
    struct al_buf relayed;      /* of a relayed call: the server's result or error object, as it came, instead of the two */
    bool relayed_failure;       /* it is a JSON-RPC error object */
    struct al_err err;          /* code ≠ AL_OK: failed; text and structured may be filled all the same */
    char execution_id[64];      /* of the run that the call made, or "" */

    void *impl;                 /* the tool's own; it frees it before al_call_finish */
    struct al_call_core *priv;  /* the core's own */
};

/* Ends the call. With cancelled set and no error yet, the code becomes CANCELLED. */
void al_call_finish(struct al_call *call);
/* What a model reads of a call that has ended: the tool's text, or of a failure without words of its own code, message and
 * hint. Not bounded. */
void al_call_model_text(const struct al_call *call, struct al_buf *out);
/* Runs work(call) on the thread pool, then al_call_finish. work fills the result; it must not touch loop or store. */
void al_call_in_thread(struct al_call *call, void (*work)(struct al_call *call));
/* Progress for faces: JSON object {"completed"?,"total"?,"note"?}. Throttled by the receiver. */
void al_call_progress(struct al_call *call, struct al_str json);

/* What a script printed, as it comes: any bytes, a character may be cut in two. For faces that show it at once; the result
 * has its head and its end. */
void al_call_output(struct al_call *call, bool is_error, struct al_str bytes);

/* The caller's clock stands still between the two: what is waited for is no work of the tool (a server that starts, a
 * person who is asked). A script's time limit is one. They pair up, and may be nested. */
void al_call_clock_stop(struct al_call *call);
void al_call_clock_go(struct al_call *call);

/* Of a source's tool, when its definition was read anew after the call had been let in. The same: it goes on. Another
 * one: no approval of the former counts, nor a rule that allowed it, and only a person's own typed call goes on. None:
 * TOOL_NOT_FOUND. -1 with call->err: the call must not go on; else call->tool is as it is now. */
int al_call_gate_again(struct al_call *call) AL_MUST_CHECK;

/* --- questions of a tool to the one who made the call --- */
/* A reply of a question: call exactly one of the two, once; then it is gone. */
struct al_question_reply;
void al_question_answer(struct al_question_reply *r, struct al_str result_json);
void al_question_refuse(struct al_question_reply *r, int rpc_code, struct al_str message);
struct al_question_reply {
    void (*done)(void *ud, struct al_str result_json, int rpc_code, struct al_str message); /* rpc_code 0: answered */
    void *ud;
    /* Set by who answers, if it wants to know that the question was taken back. It answers all the same, then or later:
     * that leads nowhere. */
    void (*withdrawn)(void *asked);
    void *asked;
}; /* malloc'ed by who asks; freed by the two above */
/* Asks as an MCP server asks its client (sampling/createMessage, elicitation/create, roots/list). Refused with -32601
 * when the caller takes no questions, as a script never does. */
void al_call_question(struct al_call *call, struct al_str method, struct al_str params_json,
                      struct al_question_reply *reply);

/* --- asking a person --- */
enum al_approval {
    AL_APPROVAL_NONE, /* nobody could be asked, or nobody answered */
    AL_APPROVAL_DENY, /* the person said no */
    AL_APPROVAL_ONCE,
    AL_APPROVAL_SESSION, /* only where it was offered */
};
/* What a Python script would run behind here and now. */
struct al_wall {
    enum al_py_backend backend;
    enum al_py_isolation isolation;
};
/* Packages to be installed for Python scripts. */
struct al_ask_install {
    const char *extras;   /* "analysis": what `alisio analysis setup --extras` takes */
    const char *packages; /* "pandas, numpy, …" */
    const char *size;     /* of the download, about: "75 MB" */
};
/* What a person is asked; core/ask_text.h has the words. Views for the call. */
struct al_ask {
    const struct al_tool *tool;  /* of a call; NULL: it is about a run with `uses`, or an installation */
    const struct al_json *args;  /* of a call */
    const char *title;           /* of a run, in its author's words; NULL: none */
    struct al_str code;          /* of a run, and of a call that runs a script */
    const struct al_wall *wall;  /* of a Python script, or of a run that uses them; NULL: none is known, or is needed */
    const struct al_ask_install *install; /* NULL: it is about something else */
    struct al_str tools;         /* what it is for: "write_file, shell" */
    bool offers_session;         /* may be granted for the session, too */
    bool session_ends;           /* such a grant ends by itself */
    void (*answer)(void *ud, enum al_approval approval); /* exactly once, now or later */
    void *ud;
};

/* Asks the person whether packages may be installed: always, whatever was allowed or granted, and nothing of the answer is
 * kept. done comes once, never from within, and not at all when the call ends before; err NULL: they may. Else
 * EXTRAS_NOT_INSTALLED, with the command that a person types instead. One at a time of a call. */
void al_call_ask_install(struct al_call *call, const struct al_ask_install *what,
                         void (*done)(struct al_call *call, const struct al_err *err));

/* --- making calls --- */
struct al_call_spec {
    struct al_str tool;      /* registry name, or "server.tool" */
    struct al_str args_json; /* an object; empty is {} */
    enum al_origin origin;
    const char *run_id;      /* for AL_ORIGIN_SCRIPT */
    bool preapproved;        /* named in `uses` and approved for this run */
    const char *approved_sha256; /* with preapproved: of the definition that was, "" when it was not known; NULL: whatever
                                    it is. As long alive as the call */
    const struct al_wall *approved_wall; /* with preapproved, of a tool with a capability; NULL: whatever it is. A copy is
                                            made */
    struct al_str client; /* as al_call.client */
    bool relay;              /* of a source's tool: its result is wanted as it came (al_call.relayed) */
    struct al_str params_json; /* with relay: all of the tools/call params */
    const void *owner; /* with relay: the client that makes it; a server's question that names no call is for one only */
    /* Asks the person about this call, or about the `uses` of the run that it starts. NULL: nobody can be asked. */
    void (*ask)(void *ud, const struct al_ask *ask);
    /* Questions of a relayed call; NULL: refused. */
    void (*question)(void *ud, struct al_str method, struct al_str params_json, struct al_question_reply *reply);
    /* The clock of a caller that keeps one; may be NULL. */
    void (*clock)(void *ud, bool stop);
    /* Just before the tool gets the call: past the checks, the gate and the queue, so never for a refused one. Where a
     * caller keeps rows of its own it writes them here; a failure ends the call with err before any effect. May be NULL,
     * and may come from within al_core_call. */
    int (*starting)(void *ud, struct al_call *call, struct al_err *err);
    void (*progress)(void *ud, struct al_str json); /* may be NULL */
    void (*output)(void *ud, bool is_error, struct al_str bytes); /* as al_call_output; may be NULL */
    void (*done)(void *ud, struct al_call *call);   /* once, never from within al_core_call; call is freed after it */
    void *ud;
};
/* Finds, checks (TOOL_NOT_FOUND with close names, NOT_CALLABLE, TOOL_INPUT_INVALID with JSON pointers), asks the gate,
 * starts. All failures come through done. */
struct al_call *al_core_call(struct al_core *core, const struct al_call_spec *spec);
/* CANCELLED follows through done. Also for calls that wait or have not started. */
void al_call_cancel(struct al_call *call);

/* --- tools from a source: upstream MCP servers, which upstream/ brings in --- */
struct al_tool_source {
    /* By registry name (mcp_github_get_issue) or as scripts say it (github.get_issue); made in the arena, and as long
     * alive. NULL: none. */
    const struct al_tool *(*find)(void *ud, struct al_str name, struct al_arena *arena);
    /* The best for a query (at most limit), or with an empty one all, by server and name. tool is a view for the call,
     * with everything but the schemas where those are not at hand. fn returns false to end. */
    void (*each)(void *ud, struct al_str query, int limit, bool (*fn)(void *fn_ud, const struct al_tool *tool),
                 void *fn_ud);
    /* {"github":["create_issue",…],…}, at most max bytes: names of tools that no longer fit are left out. */
    void (*names_json)(void *ud, size_t max, struct al_buf *out);
    size_t (*count)(void *ud); /* of tools known */
    /* The servers, by name; n_tools -1: what they offer was never fetched, so that any tool of them can be called. */
    void (*servers)(void *ud, void (*fn)(void *fn_ud, const char *server, int64_t n_tools), void *fn_ud);
    /* Whether the configuration has a server of that name, switched off. May be NULL. */
    bool (*switched_off)(void *ud, struct al_str server);
};
void al_core_set_source(struct al_core *core, const struct al_tool_source *source, void *ud); /* NULL: none */
/* As the source's servers; nothing where there is no source. */
void al_core_servers(const struct al_core *core, void (*fn)(void *fn_ud, const char *server, int64_t n_tools), void *fn_ud);
/* Of our own tools and of the source's; in the arena where it is the source's. NULL: none, or not registered now. */
const struct al_tool *al_core_find_tool(const struct al_core *core, struct al_str name, struct al_arena *arena);

/* --- registry --- */
/* tool must live as long as the core. Aborts on a bad schema or a double name: those are ours. */
void al_core_register(struct al_core *core, const struct al_tool *tool);
const struct al_tool *al_core_tool(const struct al_core *core, struct al_str name); /* NULL: none or not registered now */
size_t al_core_n_tools(const struct al_core *core);
const struct al_tool *al_core_tool_at(const struct al_core *core, size_t i); /* by name order; skips none; check registered */
bool al_core_tool_registered(const struct al_core *core, const struct al_tool *tool);
/* Up to 3 close names into err's hint style text: "did you mean a, b?" ; empty when none. */
void al_core_close_names(const struct al_core *core, struct al_str name, struct al_buf *out);
/* TOOL_NOT_FOUND with what is near, or with what is wrong with the server that it names. Returns -1. */
int al_core_tool_not_found(const struct al_core *core, struct al_str name, enum al_origin origin,
                           struct al_err *err);
/* A TypeScript declaration of a tool: "read_file(args: {path: string; startLine?: number}): Promise<{…}>". */
void al_tool_signature(const struct al_tool *tool, struct al_buf *out);
/* Of a description: its first sentence, at most its first line. A view of it. */
struct al_str al_tool_first_sentence(const char *description);
/* tools.list(query) and tools.describe(name), for scripts, the CLI and the guide; JSON appended. */
void al_core_list_json(const struct al_core *core, struct al_str query, enum al_origin origin, struct al_buf *out);
int al_core_describe_json(const struct al_core *core, struct al_str name, struct al_buf *out, struct al_err *err);

#endif
