/*
 * Conversations with a model: turns of a session (one prompt and all that follows), their messages, requests, calls and
 * events. Everything is a row before its effect, so that whoever opens the session after `kill -9` knows what was done.
 *
 * The order of a turn: al_turn_begin (with the user's message) → al_turn_request → al_turn_assistant (the message, and a
 * row "absent" for each of its calls) → for each call al_turn_call_begin ("running", on the disk before an effect) →
 * al_turn_call_end → al_turn_request → … → al_turn_end. Times are ms since 1970 UTC.
 */
#ifndef AL_STORE_CONVERSATION_H
#define AL_STORE_CONVERSATION_H

#include "store/store.h"

/* --- sessions of agents: kind "agent" --- */
int al_store_session_agent(struct al_store *s, const char *workspace, const char *title, struct al_session *ret,
                           struct al_err *err) AL_MUST_CHECK;
/* A copy of the conversation so far (messages and ended calls; calls that were open end in the copy as in al_turn_settle, and
 * the first settling of the copy tells them). Turns, events and requests stay the original's. */
int al_store_session_fork(struct al_store *s, const char *id, struct al_session *ret, struct al_err *err) AL_MUST_CHECK;

/* --- one writer --- */
/* STATE_CONFLICT naming the process, its terminal and since when, while another living host (or this one) has the session; the hint
 * offers --fork. terminal: "/dev/pts/3", or NULL. What a dead host held is taken over. */
int al_turn_lock(struct al_store *s, const char *session, const char *terminal, struct al_err *err) AL_MUST_CHECK;
void al_turn_unlock(struct al_store *s, const char *session);

/* --- turns --- */
struct al_turn {
    char id[AL_ID_MAX];      /* "run_" + ULID: JSONL's runId */
    char session[AL_ID_MAX];
    char *provider, *base_url, *model, *api;
    char *status;            /* running completed turns_exceeded failed cancelled interrupted */
    char *error_code, *error_msg; /* NULL when fine */
    char *usage;             /* JSON; NULL */
    int64_t created_ms, ended_ms;
    int64_t n_requests, n_calls;
};
void al_turn_fini(struct al_turn *t);
/* The turn's row and the prompt's message (body: al_llm_message_write), in one transaction. prompt empty: an interrupted
 * turn goes on. ret_seq: of the message. */
int al_turn_begin(struct al_store *s, const struct al_turn *t, struct al_str prompt, int64_t *ret_seq, struct al_err *err) AL_MUST_CHECK;
/* A terminal status is never overwritten. */
int al_turn_end(struct al_store *s, const struct al_turn *t, struct al_err *err) AL_MUST_CHECK;
int al_turn_each(struct al_store *s, const char *session, bool (*fn)(void *ud, const struct al_turn *t), void *ud,
                 struct al_err *err) AL_MUST_CHECK; /* oldest first */

/* --- messages --- */
struct al_message_row {
    int64_t seq;
    const char *turn;        /* NULL: none */
    struct al_str body;      /* JSON */
    int64_t created_ms;
    int64_t compacted_by;    /* seq of the summary that stands for it; 0 */
};
/* Another user message of the turn: what the host says, a summary (which stands for the rows first…last from now on). */
int al_turn_message(struct al_store *s, const char *session, const char *turn, struct al_str body, int64_t *ret_seq,
                    struct al_err *err) AL_MUST_CHECK;
int al_turn_compact(struct al_store *s, const char *session, const char *turn, struct al_str summary_body, int64_t first, int64_t last,
                    int64_t *ret_seq, struct al_err *err) AL_MUST_CHECK;
/* In order of the conversation: a summary stands where what it replaces stood. all: compacted ones too (in order of seq). */
int al_message_each(struct al_store *s, const char *session, bool all, bool (*fn)(void *ud, const struct al_message_row *m),
                    void *ud, struct al_err *err) AL_MUST_CHECK;

/* --- requests --- */
int al_turn_request(struct al_store *s, const char *turn, unsigned attempt, const char *model, const char *sha256,
                    int64_t *ret_seq, struct al_err *err) AL_MUST_CHECK;
/* status: completed failed cancelled; usage: JSON or NULL; error: a word or NULL. */
int al_turn_request_end(struct al_store *s, int64_t seq, const char *status, const char *usage, const char *error,
                        struct al_err *err) AL_MUST_CHECK;

/* --- the model's calls --- */
struct al_model_call {
    char id[AL_ID_MAX];      /* "call_" + ULID */
    char session[AL_ID_MAX];
    int64_t message_seq, ord; /* of the assistant message; its place there, from 0 */
    char *name;
    char *arguments;         /* values under secret-looking keys are redacted: as they came they are in the message's body */
    char *effect;            /* "read" …; NULL: no such tool */
    char *status;            /* absent running completed failed cancelled interrupted */
    char *result;            /* what the model reads; NULL until it ended */
    char *whole;             /* all of a result that is too long for the model; NULL: result is all */
    char *output;            /* what was recorded of its output while it ran, the last 4 KiB; NULL */
    char *execution;         /* of the run that it made; NULL */
    bool is_error;
    int64_t started_ms, ended_ms;
};
void al_model_call_fini(struct al_model_call *c);
/* The assistant's message, and a row for each of its calls (id, name, arguments; status absent), in one transaction. */
int al_turn_assistant(struct al_store *s, const char *session, const char *turn, struct al_str body,
                      const struct al_model_call *calls, size_t n, int64_t *ret_seq, struct al_err *err) AL_MUST_CHECK;
/* sync (write, process, external): on the disk before it returns. */
int al_turn_call_begin(struct al_store *s, const char *id, const char *effect, bool sync, struct al_err *err) AL_MUST_CHECK;
int al_turn_call_execution(struct al_store *s, const char *id, const char *execution, struct al_err *err) AL_MUST_CHECK;
int al_turn_call_output(struct al_store *s, const char *id, struct al_str output, struct al_err *err) AL_MUST_CHECK;
/* status, result, whole, is_error, execution. A call that has ended stays as it is. */
int al_turn_call_end(struct al_store *s, const struct al_model_call *c, struct al_err *err) AL_MUST_CHECK;
/* From now on the model reads a shorter text in the place of an ended call's result, which stays as the whole. */
int al_turn_call_reduce(struct al_store *s, const char *session, const char *id, struct al_str result, struct al_err *err) AL_MUST_CHECK;
int al_model_call_each(struct al_store *s, const char *session, bool (*fn)(void *ud, const struct al_model_call *c), void *ud,
                       struct al_err *err) AL_MUST_CHECK; /* in order of message and place */
#define AL_CALL_NOT_STARTED "not started: the session ended before"
#define AL_CALL_IN_FLIGHT "interrupted while running; it may have taken effect; check before repeating"
/*
 * Before a session goes on: each call that has no end gets one. absent → "not started: the session ended before";
 * running → interrupted, "interrupted while running; it may have taken effect; check before repeating", with since when
 * and what was recorded of its output (a completed run of ours that it made is told as it ended). Turns of dead hosts become
 * interrupted. fn gets each row that changed, as it is now. One transaction.
 */
int al_turn_settle(struct al_store *s, const char *session, void (*fn)(void *ud, const struct al_model_call *c), void *ud,
                   struct al_err *err) AL_MUST_CHECK;

/* --- events: durable lines of JSONL --- */
/* data: JSON object. ret_id: its eventId. */
int al_turn_event(struct al_store *s, const char *session, const char *turn, const char *type, struct al_str data, int64_t seq,
                  int64_t *ret_id, struct al_err *err) AL_MUST_CHECK;
struct al_event_row {
    int64_t id, seq, at_ms; /* seq: within its run, from 1 */
    const char *turn, *type;
    struct al_str data;
};
int al_turn_event_each(struct al_store *s, const char *session, int64_t after_id, bool (*fn)(void *ud, const struct al_event_row *e),
                       void *ud, struct al_err *err) AL_MUST_CHECK;

/* --- what was learned about endpoints --- */
/* JSON into out; nothing when nothing is known. */
int al_store_model_facts(struct al_store *s, const char *base_url, const char *model, struct al_buf *out, struct al_err *err) AL_MUST_CHECK;
int al_store_model_facts_set(struct al_store *s, const char *base_url, const char *model, struct al_str json,
                             struct al_err *err) AL_MUST_CHECK;

#endif
