/* Shared by the files of core only: the core itself and the private part of a call. */
#ifndef AL_CORE_CORE_INT_H
#define AL_CORE_CORE_INT_H

#include "core/core.h"

#include <pthread.h>

/* Direct calls that may be open at once in one host; more is BUSY. Scripts have limits of their own. */
#define AL_HOST_MAX_CALLS 1024
/* Structured bytes of a direct call that only writes our own state: a whole run record, with its value and
 * text. */
#define AL_CALL_MAX_RECORD (256u << 20)

struct al_tool_entry {
    const struct al_tool *tool;
    const struct al_json *input;  /* parsed schemas, in al_core.arena */
    const struct al_json *output; /* NULL: none */
};

struct al_program {
    char *name;
    char *path; /* NULL: not there */
};

struct al_runs;    /* runs.c: live and queued runs of this host */
struct al_control; /* control.c: the control socket */

struct al_core {
    struct al_loop *loop; /* borrowed, as config and store */
    struct al_config *config;
    struct al_store *store;
    struct al_policy policy;
    char *source;                                    /* "cli" or "mcp" */
    struct al_err config_err;                        /* code AL_OK: the user's config is fine */
    bool can_ask; /* calls come with al_call_spec.ask */

    struct al_session session;
    struct al_workspace *workspace;
    struct al_scratch *scratch; /* NULL: off */
    struct al_engine *engine;   /* made on first use: go through al_core_engine */
    struct al_data *data;       /* likewise: al_core_data */
    struct al_pyrun *pyrun;     /* likewise: al_core_pyrun */
    char *python;               /* of the opts */
    enum al_py_policy isolation;
    struct al_wall_waiter *wall_waiters; /* wall.c */

    struct al_arena arena;       /* lives as long as the core: parsed schemas */
    struct al_tool_entry *tools; /* sorted by name */
    size_t n_tools;
    const struct al_tool_source *source_ops; /* of further tools; NULL: none */
    void *source_ud;

    pthread_mutex_t programs_lock; /* tools look programs up from the pool, too */
    struct al_program *programs;
    size_t n_programs;

    struct al_call_core *calls; /* every open call, oldest first */
    struct al_call_core *calls_last;
    size_t n_calls;
    size_t n_direct; /* of them: not from scripts */

    struct al_runs *runs;       /* owned by runs.c, made there on first use */
    struct al_control *control; /* owned by control.c; NULL: not listening */
    struct al_timer *janitor;   /* janitor.c; NULL: none */
    void *sweeping;             /* likewise: the sweep that goes on */

    const char *const *add_dirs; /* of the opts */
    char *session_wanted; /* of the opts; NULL: the default one */
    bool used;            /* something has run: the workspace stays */

    bool closing; /* al_core_shutdown was called: new calls are CANCELLED */
    void (*idle)(void *ud);
    void *idle_ud;
};

enum al_call_state {
    AL_CALL_WAITING,  /* for its turn among the calls with effects */
    AL_CALL_CHOOSING, /* what its script would run behind is found out; it keeps its place in the line */
    AL_CALL_ASKING,   /* the person is asked about it */
    AL_CALL_RUNNING,  /* the tool has it */
    AL_CALL_FINISHED, /* al_call_finish was called (or it never started); done follows */
};

struct al_call_core {
    struct al_call call; /* the public part; call.priv points back here */
    struct al_call_core *next, *prev;
    enum al_call_state state;
    struct al_call_spec spec; /* tool, args_json and run_id are dead after al_core_call; use those of call */
    char run_id[AL_ID_MAX];
    const struct al_tool_entry *entry; /* of our own tools; NULL: none, or a source's */
    bool serial;                       /* write, process, external: one at a time per run, in order */
    bool refused;                      /* the gate said no */
    /* "allowed", "preapproved" or "approved" (the person was asked); "refused: CODE" or "cancelled" when the call never
     * started. */
    const char *decision;
    const char *why; /* for the log of decisions; NULL: the usual */
    struct al_call_asking *asking; /* call_ask.c */
    struct al_call_installing *installing; /* likewise */
    struct al_call_choosing *choosing;     /* call_wall.c */
    bool wall_known;                       /* what it would run behind … */
    struct al_wall wall;
    struct al_wall approved_wall; /* of the spec, which points here */
    char decision_text[64];
    int64_t started_ms; /* wall clock when the tool got it; 0: never */
    int64_t ended_ms;
    unsigned clock_stops; /* of the caller's clock, not yet undone */
    bool has_row;                       /* a run row of kind "tool" is open for it */
    void (*work)(struct al_call *call); /* al_call_in_thread */
};

/* wall.c: done comes once, maybe from within, at the latest when the core is freed (CANCELLED). wall NULL: err says why
 * nothing can run (RUNTIME_UNAVAILABLE). */
void al_wall_choose(struct al_core *core,
                    void (*done)(void *ud, const struct al_wall *wall, const struct al_err *err), void *ud);
/* What is known of it without starting anything; false: nothing is. */
bool al_wall_known(const struct al_core *core, struct al_wall *ret);
void al_wall_free(struct al_core *core); /* after the pyrun */

/* runs.c. NULL is fine. Nothing may run any more. */
void al_runs_free(struct al_runs *runs);

/* core.c: true once a day for all processes that share the state folder: the marker's time says when it was last done. */
bool al_core_day_is_over(const struct al_core *core, const char *marker);
/* core.c: the last call of a core that shuts down has gone. */
void al_core_tell_idle(struct al_core *core);

/* registry.c */
void al_registry_free(struct al_core *core);
/* The source's tool of that name, in the arena. NULL: none. */
const struct al_tool *al_registry_find_source(const struct al_core *core, struct al_str name,
                                              struct al_arena *arena);
/* Also entries that are not registered now. NULL: none. */
const struct al_tool_entry *al_registry_find(const struct al_core *core, struct al_str name);
/* How a script calls it: "tools.github.get_issue", "tools[\"odd name\"]"; and that with its types. */
void al_registry_call_path(const struct al_core *core, const struct al_tool *tool, struct al_buf *out);
void al_registry_call_signature(const struct al_core *core, const struct al_tool *tool, struct al_buf *out);
#define AL_CLOSE_NAMES 3
/* registry_near.c. "did you mean a, b?", the nearest first; for_script leaves out what a script may not call. */
void al_registry_close_names(const struct al_core *core, struct al_str name, bool for_script,
                             struct al_buf *out);
/* TOOL_NOT_FOUND with close names and what lists them all from there, or with what is wrong with the server. Returns
 * -1. */
int al_registry_not_found(const struct al_core *core, struct al_str name, enum al_origin origin,
                          struct al_err *err);

/* call_rows.c, for rows of calls: the arguments, secrets redacted, cut to 500 characters. */
void al_call_preview(const struct al_call *call, struct al_buf *out);
/* "completed", "failed", "cancelled", "timed_out" or "refused"; after al_call_finish. */
const char *al_call_status(const struct al_call *call);

/* catalog.c: al_core_list_json with at most `most` tools of the source, or with a query of all; 0: no limit of that kind. */
void al_catalog_list(const struct al_core *core, struct al_str query, int most, enum al_origin origin,
                     struct al_buf *out);
/* catalog.c: whether a call from there would pass now; with *ret_scratch_only, for paths in the scratchpad
 * alone. */
int al_catalog_callable(const struct al_core *core, const struct al_tool *tool, enum al_origin origin,
                        bool *ret_scratch_only, struct al_err *err);

#endif
