/* What the files of a turn share: turn*.c, calls*.c, window.c, compact*.c and repeat.c. */
#ifndef AL_AGENT_TURN_INT_H
#define AL_AGENT_TURN_INT_H

#include "agent/agent_int.h"

#define AL_AGENT_CALLS_AT_ONCE 4
#define AL_AGENT_RECOVERIES 2       /* of an answer that the output limit cut, in a row */
#define AL_AGENT_PAUSES 10          /* pause_turn, in a row */
#define AL_AGENT_OVERFLOWS 4        /* of one request, whatever else is tried */
#define AL_AGENT_REPEATS_TOLD 3     /* the same call with the same result, in a row: the model is told … */
#define AL_AGENT_REPEATS_ENDS 5     /* … and the run ends, or a person is asked */
#define AL_AGENT_RESULT_MAX (32u << 20)
#define AL_AGENT_LINE_TEXT (768u << 10) /* bytes of one text in an event, as JSON: a line has at most 1 MiB */
#define AL_AGENT_PREVIEW 2000           /* characters */

/* --- calls of one answer --- */
enum al_agent_call_state {
    AL_AGENT_CALL_WAITING,
    AL_AGENT_CALL_RUNNING,
    AL_AGENT_CALL_ENDED,
};
struct al_agent_call {
    struct al_agent *a;
    char *id, *name;
    struct al_str arguments;  /* as they came: in the history */
    struct al_arena arena;    /* of what is looked up and read for it */
    const struct al_tool *tool; /* NULL: none */
    bool alone;               /* it has an effect: it waits for all before it, and all behind wait for it */
    enum al_agent_call_state state;
    struct al_call *call;     /* NULL: not in the core */
    bool begun;               /* its row says "running" */
    bool cancelling;
    bool in_core;             /* its done has not come: also of a read that was cancelled, which nobody waits for */
    bool left;                /* the turn has gone on without it */
    uint64_t began_ns;
    struct al_agent_asking *asking; /* a person, about it */
    struct al_timer *noting;  /* of its execution id, when the tool has it */
    bool noted;
    struct al_buf tail;       /* of its output, not yet in the journal */
    struct al_timer *flushing;
    uint64_t progress_ns;     /* of the last one that was told */
    struct al_buf progress;   /* the newest that was not */
    struct al_buf warning;    /* for the model, before the result */
    struct al_buf result;     /* what the model reads */
    bool is_error;
};
struct al_agent_calls {
    struct al_agent_call **v;
    size_t n, n_ended;
    bool pumping;
    struct al_buf loop;       /* name of the tool that was called again and again; empty: none */
};

struct al_agent_turn {
    struct al_timer *step;    /* what comes next, from the loop and from nothing else */
    void (*step_fn)(struct al_agent *a);
    uint64_t began_ns;
    bool begun;               /* run_started was told */
    bool resumed;             /* without a prompt */

    int64_t request_seq;      /* row of the attempt in flight; 0: none */
    uint64_t asked_ns;
    struct al_buf text;       /* of the attempt in flight */
    bool streamed;
    unsigned n_answers, n_calls, n_requests;
    unsigned recoveries, pauses;
    unsigned attempts_unknown; /* of the whole run */
    unsigned unknown_now;      /* of the request in flight: attempts that may have cost something */
    struct al_llm_usage usage; /* sums; known: none is missing */
    bool estimated;           /* a report was missing: the sums are lower bounds */
    int64_t unreported;       /* tokens, estimated: of answers without a report */
    int64_t cost;             /* pico-dollars; -1: no price */
    uint64_t api_ms;
    int64_t ttft_ms;          /* of the first answer; -1: none yet */
    struct al_buf answer;     /* text of the last answer, with what the output limit cut it into */
    bool continues;           /* the next answer goes on with it */

    struct al_agent_calls calls;
    struct al_compaction *compaction;
    unsigned overflows;       /* of this request */
    bool overflow_tried;      /* it was made shorter once */
    unsigned saved_little;    /* compactions in a row that saved less than a fifth */

    struct al_agent_circling *circling; /* a person, about a model that goes in a circle */
    bool ending;
    enum al_agent_outcome outcome;
    struct al_err err;
    struct al_buf details;    /* JSON object of a failure; empty: none */
    bool output_truncated;
};

/* --- agent.c --- */
void al_agent_tell_begun(struct al_agent *a);
/* A message of one text: as the journal keeps it, and in the history. */
void al_agent_user_body(enum al_llm_by by, struct al_str text, struct al_buf *out);
void al_agent_add_user(struct al_agent *a, enum al_llm_by by, struct al_str text, int64_t seq);

/* --- turn.c --- */
struct al_agent_turn *al_turn_new(void);
int64_t al_turn_max(const struct al_agent *a);        /* answers of a run */
int64_t al_turn_max_tokens(const struct al_agent *a); /* of a run; by the window when nothing is configured */
void al_turn_later(struct al_agent *a, void (*fn)(struct al_agent *a));
/* Ends the run, a step later. err: of a failure. */
void al_turn_finish(struct al_agent *a, enum al_agent_outcome outcome, const struct al_err *err);
void al_turn_cancelled(struct al_agent *a); /* a step: everything has stopped */
void al_turn_in_circles(struct al_agent *a); /* a step: the same call again and again */
/* A user message of ours: to the journal and into the history. False: the journal is not writable, and the run ends. */
bool al_turn_say(struct al_agent *a, enum al_llm_by by, struct al_str text);
void al_turn_count(struct al_agent *a, const struct al_llm_answer *answer);
void al_turn_count_lost(struct al_agent *a, unsigned attempts); /* that nobody knows the cost of */
void al_turn_text_event(struct al_agent *a, const char *type, unsigned attempt, struct al_str text);
/* The provider's and the row's side of a request: shared with the summary. */
int al_turn_sending(struct al_agent *a, unsigned attempt, const char *sha256, struct al_err *err) AL_MUST_CHECK;
void al_turn_sent(struct al_agent *a, const char *status, const struct al_llm_usage *u, const char *error);
void al_turn_retry_event(struct al_agent *a, const struct al_llm_retry *r);
void al_turn_learned(struct al_agent *a, const struct al_llm_facts *facts);
void al_turn_notice(struct al_agent *a, struct al_str text);
struct al_llm_request al_turn_make_request(struct al_agent *a);
void al_turn_overflow(struct al_agent *a, int64_t window); /* a request was too large; window: as was said, or 0 */


/* --- turn_circle.c --- */
void al_turn_circling_dropped(struct al_agent_turn *t);

/* --- turn_end.c --- */
void al_turn_end_events(struct al_agent *a);
void al_turn_usage_json(struct al_jw *w, const char *key, const struct al_llm_usage *u, bool in_all, bool estimated);
void al_turn_free(struct al_agent_turn *t);
/* JSON object of what is known of a fault. */
void al_turn_fault_details(const struct al_llm_fault *f, struct al_buf *out);
/* "key": as much of a text as a line takes. */
void al_agent_put_text(struct al_jw *w, const char *key, struct al_str text);

/* --- calls*.c --- */
void al_calls_free(struct al_agent_calls *c);
/* The arguments as they are run: an object without double keys, in out. -1 with what was wrong, for the model. A warning
 * for what was mended. */
int al_call_arguments(struct al_str arguments, const struct al_tool *tool, struct al_buf *out, struct al_buf *warning,
                      struct al_err *err) AL_MUST_CHECK;
int al_call_unknown(const struct al_agent *a, struct al_str name, struct al_err *err);
void al_call_artifacts(struct al_agent *a, const struct al_agent_call *c, const struct al_call *call);
void al_call_ask_person(void *ud, const struct al_ask *ask);
void al_call_ask_question(void *ud, struct al_str method, struct al_str params, struct al_question_reply *reply);
void al_call_asking_dropped(struct al_agent_call *c);

/* --- window.c --- */
void al_window_init(struct al_agent *a);  /* reads what is known */
void al_window_start(struct al_agent *a); /* asks the endpoint, beside the first request */
void al_window_stop(struct al_agent *a);
void al_window_tell_unknown(struct al_agent *a); /* once, when nobody has said how large it is */
void al_window_learn(struct al_agent *a, int64_t window);
bool al_window_is_known(const struct al_agent *a);
int64_t al_window_max_output(struct al_agent *a);
bool al_window_less_output(struct al_agent *a); /* a request was too large with it: asks for less from now on, if it is much */
int64_t al_window_of_messages(const struct al_agent *a, size_t from, size_t to); /* tokens, about */
int64_t al_window_fixed(const struct al_agent *a);                               /* system prompt and tools */
/* The history is another one: what was reported says nothing any more. */
void al_window_changed(struct al_agent *a);
int64_t al_window_limit(const struct al_agent *a); /* from which on older turns are summarised */
int64_t al_window_room(const struct al_agent *a);  /* for the input at most */
/* As al_window_cut_result, for so many tokens. */
#define AL_AGENT_LEFT_OUT "[Left out here: "
void al_window_cut(struct al_agent *a, struct al_str call_id, struct al_str text, int64_t room, struct al_buf *out);
/* Where all of a result can be read, in words; it is put there. */
void al_window_say_where(struct al_agent *a, struct al_str call_id, struct al_str text, struct al_buf *out);
struct al_str al_window_call_name(const struct al_agent *a, struct al_str id);
/* CONTEXT_LIMIT, with sizes by part. */
void al_window_fail(struct al_agent *a, struct al_err *err);

/* --- compact.c --- */
void al_compact_free(struct al_agent_turn *t);

/* --- compact_cut.c: pure --- */
/* What a summary may stand for: [first, last) of the history, which ends and begins at borders of turns; a turn is an
 * answer with the results of its calls. The newest message of the person, if it lies between, parts it in two. */
struct al_cut {
    size_t before_first, before_last; /* older than the newest prompt; empty: first == last */
    size_t after_first, after_last;   /* newer */
};
/* False: there is nothing that may go. keep: newest turns that stay. */
bool al_compact_cut(const struct al_llm_message *v, size_t n, unsigned keep, struct al_cut *ret);
/* The oldest results that may be replaced by notes: index of the first message that stays as it is. */
size_t al_compact_reducible(const struct al_llm_message *v, size_t n, unsigned keep);
/* False: nothing was large. Replaces results until the estimate is under the goal; tells it. */
bool al_compact_reduce(struct al_agent *a, unsigned keep, int64_t goal);
/* The newest results, which the model has not read: cut to a share each. False: none got shorter. */
bool al_compact_shrink(struct al_agent *a, int64_t goal);

#endif
