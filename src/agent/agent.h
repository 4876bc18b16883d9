/*
 * The agent: a model and the tools of a core, in turns. Faces (the command line; later the terminal and the page) give it a
 * prompt and read its events; they know nothing of providers. One agent has one session; one turn at a time. One thread.
 */
#ifndef AL_AGENT_AGENT_H
#define AL_AGENT_AGENT_H

#include "core/core.h"
#include "llm/llm.h"
#include "store/conversation.h"

/* JSONL's envelope is the face's to write: schemaVersion 1, runId, sessionId, seq, type, timestamp, data, eventId?.
 * Types, and what their data has: docs/jsonl.md and the schema beside it. */
struct al_agent_event {
    const char *type;      /* "run_started" … */
    struct al_str data;    /* a JSON object on one line */
    int64_t seq;           /* within the run, from 1 */
    int64_t at_ms;
    int64_t event_id;      /* of a durable one; 0: ephemeral (text_delta, reasoning_delta, tool_progress) */
    const char *run_id, *session_id;
};

/* A question of ask_user_question. */
struct al_agent_question {
    const struct al_json *questions; /* the tool's argument, checked by its schema; a view for the call */
    void (*answer)(void *ud, struct al_str json, bool answered); /* once; {"answers":[{"header","selected":["label"…],"other"?}]} */
    void *ud;
};

enum al_agent_outcome {
    AL_AGENT_COMPLETED,
    AL_AGENT_FAILED,
    AL_AGENT_CANCELLED,
    AL_AGENT_TURNS_EXCEEDED,
};
struct al_agent_end {
    enum al_agent_outcome outcome;
    struct al_str text; /* the answer, or what there was of it */
    struct al_err err;  /* of a failure: its code says the exit status */
    bool output_truncated; /* failed since the model's output limit cut it again and again */
};

struct al_agent_ops {
    void (*event)(void *ud, const struct al_agent_event *e);
    void (*ask)(void *ud, const struct al_ask *ask);                    /* NULL: nobody can be asked */
    void (*question)(void *ud, const struct al_agent_question *q);      /* NULL: nobody */
    void (*ended)(void *ud, const struct al_agent_end *end);            /* once a turn, last; never from within al_agent_start */
};

struct al_agent_opts {
    struct al_core *core;         /* borrowed, as llm; its session is the agent's; source "agent" */
    struct al_llm *llm;
    const char *home;             /* the user's config folder, for AGENTS.md; NULL: none */
    const char *terminal;         /* for the words of a lock; NULL */
    int64_t max_turns;            /* 0: the option maxTurns */
    bool project_trusted;         /* the repository's files count as the user's */
    bool headless;                /* an untrusted repository's AGENTS.md is then not sent at all */
};
struct al_agent;
/* Takes the session (STATE_CONFLICT), settles what a former process left open, reads the conversation. */
int al_agent_new(const struct al_agent_opts *o, const struct al_agent_ops *ops, void *ud, struct al_agent **ret,
                 struct al_err *err) AL_MUST_CHECK;
void al_agent_free(struct al_agent *a); /* no turn may be running */
/* Begins a turn. An empty prompt goes on where the session stopped: INVALID_INPUT when it ended with an answer.
 * A failure here is before anything was written. */
int al_agent_start(struct al_agent *a, struct al_str prompt, struct al_err *err) AL_MUST_CHECK;
/* In any state; ended follows, within 100 ms but for a tool that must confirm its end. */
void al_agent_cancel(struct al_agent *a);
const char *al_agent_run_id(const struct al_agent *a); /* of the turn; "" before */

/* A message's body from the journal for a person's eyes: values under secret-looking keys of arguments are redacted. False:
 * it is no JSON object, or too long for out. */
bool al_message_shown(struct al_str body, struct al_buf *out);

/* --- what of the workspace is sent: AGENTS.md --- */
struct al_context_file {
    char *path;          /* as a person reads it */
    size_t bytes, sent;  /* of the file; of it in the request */
    bool trusted, used;
    const char *why;     /* of one that is not used, or cut: words; NULL */
};
struct al_context {
    struct al_context_file *files;
    size_t n;
    struct al_buf user;       /* the person's own: follows the system prompt; empty: none */
    struct al_buf repository; /* the repository's, quoted, with words about whether it is trusted: a user message by
                                 AL_LLM_REPOSITORY, so that no repository changes the system prompt; empty: none */
};
/* From the user's config folder, then from the workspace's root to cwd, one file each; opened beneath their folders, UTF-8,
 * at most context.maxBytes in all, of which the nearest file gets its share first. */
int al_context_read(struct al_core *core, const char *home, const char *cwd, bool trusted, struct al_context *ret,
                    struct al_err *err) AL_MUST_CHECK;
/* Nobody is there who sees it: what comes from an untrusted repository is not sent, and its files say why. */
void al_context_drop_untrusted(struct al_context *c);
void al_context_fini(struct al_context *c);

/* The tool ask_user_question; registered where the core's source is "agent". Its start asks through
 * al_call_spec.question, with this method and the call's arguments: the agent answers by al_question_answer with
 * {"answers":[{"header","selected":["label"…],"other"?}]}, or refuses. */
#define AL_AGENT_QUESTION "ask_user_question"
extern const struct al_tool al_tool_ask_user_question;

#endif
