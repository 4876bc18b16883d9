/* What the files of this folder share. */
#ifndef AL_AGENT_AGENT_INT_H
#define AL_AGENT_AGENT_INT_H

#include "agent/agent.h"

/* The conversation in memory, as it is sent: compacted messages are not in it. history.c */
struct al_agent_history {
    struct al_arena arena;
    struct al_llm_message *v; /* with the results behind their calls */
    size_t n, cap;
};
/* Reads the session's rows; every call must have an end (al_turn_settle). */
int al_history_load(struct al_agent *a, struct al_err *err) AL_MUST_CHECK;
/* Deep copies into the history. */
void al_history_add(struct al_agent *a, const struct al_llm_message *m);
void al_history_add_result(struct al_agent *a, struct al_str call_id, struct al_str text, bool is_error);
/* Text as the journal keeps it: what is no UTF-8, and NUL, become U+FFFD. */
void al_history_text(struct al_str text, struct al_buf *out);
void al_history_fini(struct al_agent *a);

enum al_agent_state {
    AL_AGENT_IDLE,
    AL_AGENT_MODEL,      /* a request is in flight, or waits for its next attempt */
    AL_AGENT_TOOLS,      /* calls run */
    AL_AGENT_COMPACTING,
};

/* What is known of the model's window. Tokens. */
struct al_window {
    int64_t told;       /* by the configuration; 0 */
    int64_t learned;    /* from the endpoint, or from a request that was too large; 0 */
    int64_t max_output; /* of this process' requests, from its first one on; 0: none was made */
    int64_t counted;    /* of the last report: input and output; 0: none */
    size_t counted_n;   /* messages that are in it */
    int64_t scale;      /* of our estimates, per mille, as the last report had it; 0: 1000 */
    int64_t estimated;  /* input of the request in flight */
    struct al_llm_listing *listing;
    bool asked, told_small, told_unknown;
};
/* The last call and its result. */
struct al_repeat {
    char key[AL_SHA256_HEX];
    unsigned n;
};

struct al_agent {
    struct al_core *core;
    struct al_store *store;
    struct al_loop *loop;
    struct al_config *config;
    struct al_llm *llm;
    struct al_agent_opts o;
    struct al_agent_ops ops;
    void *ud;
    char session[AL_ID_MAX];
    char run_id[AL_ID_MAX];
    enum al_agent_state state;
    struct al_agent_history history;
    struct al_context context;
    struct al_buf system;     /* made once a session: prompt.c */
    struct al_arena offered;  /* of tools */
    const struct al_llm_tool *tools;
    size_t n_tools;
    int64_t seq;              /* of the last event of the run */
    struct al_llm_ask *asking;
    struct al_agent_turn *turn; /* the running one: turn.c's own; NULL */
    bool cancelled;
    bool locked;              /* the session is ours */
    struct al_window window;
    struct al_repeat repeat;
    struct al_model_call *settled; /* what a former process left open, as it was closed: told with the next run */
    size_t n_settled;
    char (*published)[AL_ID_MAX]; /* artifacts that were told */
    size_t n_published;
};

/* --- events (event.c): builds the envelope's parts, keeps durable ones, tells the face. data: an object on one line. --- */
void al_agent_event(struct al_agent *a, const char *type, struct al_str data);
bool al_agent_event_durable(const char *type);
/* An event's data without the values of secret-looking keys of arguments, questions and answers. As al_message_shown. */
bool al_agent_shown(struct al_str data, struct al_buf *out);

/* --- what is sent with each request (prompt.c, offer.c) --- */
/* ≤ 3 kB, the same bytes for the whole session: no date, no path that changes; the routing rule names only tools that are
 * there. The context's trusted files follow it. */
void al_agent_system(struct al_agent *a, struct al_buf *out);
/* The tools that the gate lets pass or a person can be asked about, by name; briefs and schemas without what a model does
 * not need. In a->offered. */
int al_agent_offer(struct al_agent *a, struct al_err *err) AL_MUST_CHECK;
/* Whether a tool is among them. */
bool al_agent_offers(const struct al_agent *a, const struct al_tool *tool);

/* --- the turn (turn.c, calls.c) --- */
void al_turn_next(struct al_agent *a);       /* the next request, or the end */
/* Runs the calls of the newest assistant message: reads four at once, effects one by one, results in their order; then
 * al_turn_calls_done. */
void al_calls_start(struct al_agent *a);
void al_calls_cancel(struct al_agent *a);
void al_turn_calls_done(struct al_agent *a);
/* The same call with the same result again and again (repeat.c). Count in a row, with this one. */
unsigned al_repeat_count(struct al_agent *a, struct al_str name, struct al_str arguments, struct al_str result);

/* --- the window (window.c, compact.c) --- */
int64_t al_window_size(const struct al_agent *a);          /* tokens */
int64_t al_window_estimate(const struct al_agent *a);      /* of the next request's input */
void al_window_report(struct al_agent *a, const struct al_llm_usage *u);
bool al_compact_needed(const struct al_agent *a);
/* Summarises older turns; then al_turn_compacted(ok). */
void al_compact_start(struct al_agent *a, bool overflow);
void al_compact_cancel(struct al_agent *a);
void al_turn_compacted(struct al_agent *a, bool ok, const struct al_err *err);
/* A result that takes more than a quarter of the window: head, end, and how to read on; the whole stays in the journal and
 * in the scratchpad. */
void al_window_cut_result(struct al_agent *a, struct al_str call_id, struct al_str text, struct al_buf *out);

#endif
