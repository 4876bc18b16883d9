/*
 * Model endpoints: one conversation in our own terms, three wire formats (Chat Completions, Responses, Messages), streamed,
 * with retries. What a provider sends is hostile: its events, their sizes and their ends are checked here, and nobody above
 * sees its JSON but as parts that are sent back to it. One thread.
 */
#ifndef AL_LLM_LLM_H
#define AL_LLM_LLM_H

#include "base/arena.h"
#include "base/err.h"
#include "base/ident.h"
#include "base/json.h"
#include "config/providers.h"
#include "loop/loop.h"

/* --- a conversation --- */

enum al_llm_role {
    AL_LLM_USER,      /* one or more TEXT parts */
    AL_LLM_ASSISTANT, /* TEXT, REASONING, CALL parts in the order that they came */
    AL_LLM_RESULT,    /* of one call: one TEXT part */
};
/* Whose words a user message has. */
enum al_llm_by {
    AL_LLM_PERSON,
    AL_LLM_HOST,       /* ours: an output limit, an interruption */
    AL_LLM_REPOSITORY, /* quoted files of an untrusted repository */
    AL_LLM_SUMMARY,    /* what stands for older messages */
};

enum al_llm_part_kind { AL_LLM_TEXT, AL_LLM_REASONING, AL_LLM_CALL };
struct al_llm_part {
    enum al_llm_part_kind kind;
    struct al_str text; /* TEXT; of REASONING what can be read, may be empty; of CALL the arguments as they came */
    struct al_str raw;  /* the provider's own block or item as JSON, to be sent back verbatim to where it came from; may be empty */
    struct al_str id;          /* CALL: ours, "call_" + ULID */
    struct al_str provider_id; /* CALL: as it came; may be empty */
    struct al_str name;        /* CALL */
};

/* Where an assistant message came from: what is raw in it goes back there only. */
struct al_llm_from {
    struct al_str provider, base_url, model;
    enum al_api api;
};

struct al_llm_message {
    enum al_llm_role role;
    enum al_llm_by by;        /* USER */
    struct al_llm_from from;  /* ASSISTANT */
    struct al_llm_part *parts;
    size_t n_parts;
    struct al_str call_id;    /* RESULT: ours */
    bool is_error;            /* RESULT */
    int64_t seq;              /* of its row in the journal; 0: none */
};

/* A message as the journal keeps it, an object: {"role":"user","by":"person","parts":[{"text":"…"}]};
 * {"role":"assistant","from":{"provider","baseUrl","model","api"},"parts":[{"text","raw"?} | {"reasoning","raw"?} |
 * {"call":{"id","providerId","name","arguments","raw"?}}]}. Invalid UTF-8, lone surrogates and NUL become U+FFFD on the way in. */
void al_llm_message_write(struct al_jw *w, const struct al_llm_message *m);
/* Strings lie in the arena. INVALID_INPUT for anything else. */
int al_llm_message_read(struct al_arena *a, const struct al_json *v, struct al_llm_message *ret, struct al_err *err) AL_MUST_CHECK;
/* A part's text of that message, joined, with a blank line between what was apart: what a person reads of it. */
void al_llm_message_text(const struct al_llm_message *m, struct al_buf *out);

struct al_llm_tool {
    struct al_str name, description, schema; /* schema: a JSON object */
};

struct al_llm_request {
    const struct al_llm_message *messages;
    size_t n_messages;
    struct al_str system;
    const struct al_llm_tool *tools;
    size_t n_tools;
    bool no_calls;             /* tool_choice none, with the same tools: a summary */
    int64_t max_output_tokens; /* 0: the model's, else 16,384 */
    struct al_str cache_key;   /* the session; may be empty */
};

/* --- an answer --- */

enum al_llm_end {
    AL_LLM_END_TURN,     /* it stopped by itself, with calls or without */
    AL_LLM_END_LENGTH,   /* its output limit */
    AL_LLM_END_WINDOW,   /* the context window was full while it wrote */
    AL_LLM_END_FILTER,   /* a content filter */
    AL_LLM_END_REFUSAL,
    AL_LLM_END_PAUSE,    /* pause_turn: the same messages again, with this one */
};
/* Calls of an answer may run only when it ended by itself. */
static inline bool al_llm_end_is_whole(enum al_llm_end e) { return e == AL_LLM_END_TURN; }
const char *al_llm_end_name(enum al_llm_end e); /* "stop", "length", "context_window", "content_filter", "refusal", "pause" */

/* Tokens. input is all of it: cached and written to the cache included. */
struct al_llm_usage {
    bool known; /* false: no report came */
    int64_t input, cached_input, cache_write, output, reasoning;
};

struct al_llm_answer {
    struct al_llm_message message; /* strings live until done returns */
    enum al_llm_end end;
    char end_word[64];             /* the provider's own */
    struct al_llm_usage usage;
    unsigned attempts;             /* of this answer, the last included */
    unsigned attempts_unknown;     /* of those before, that cost nobody knows what */
    uint64_t api_ms, ttft_ms;      /* of the last attempt: its length; to the first text, reasoning or call */
    char request_id[80];           /* "" */
    char sha256[AL_SHA256_HEX];    /* of the request's body */
};

enum al_llm_fault_kind {
    AL_LLM_FAULT_CONNECT,   /* not reached, or the connection broke before a byte of the answer */
    AL_LLM_FAULT_TIMEOUT,
    AL_LLM_FAULT_CUT,       /* it ended before the end of the turn */
    AL_LLM_FAULT_MALFORMED, /* what came is not the wire format */
    AL_LLM_FAULT_TOO_LARGE, /* an event over 16 MiB, an answer over 64 MiB */
    AL_LLM_FAULT_OVERLOADED,
    AL_LLM_FAULT_RATE,
    AL_LLM_FAULT_SERVER,    /* other 5xx, 408, 409, 425 */
    AL_LLM_FAULT_QUOTA,     /* money or spending: never again by itself */
    AL_LLM_FAULT_AUTH,      /* 401, 403 */
    AL_LLM_FAULT_OVERFLOW,  /* the context window */
    AL_LLM_FAULT_REJECTED,  /* any other 4xx */
    AL_LLM_FAULT_REDIRECT,
    AL_LLM_FAULT_TLS,
    AL_LLM_FAULT_LOCAL,     /* ours: no library, no key over plain http, a history that no API takes */
    AL_LLM_FAULT_CANCELLED,
};
const char *al_llm_fault_name(enum al_llm_fault_kind k); /* "cut", "overloaded", … as JSONL has them */

struct al_llm_fault {
    enum al_llm_fault_kind kind;
    int status;             /* HTTP; 0: none */
    bool retry;             /* by the table, x-should-retry included */
    int64_t retry_after_ms; /* what was asked for; -1: nothing */
    int64_t window;         /* tokens that an overflow named; 0 */
    char type[80], code[80], field[80]; /* the provider's words; "" */
    char message[512];      /* its message: keys replaced, cut, one line, harmless on a terminal */
    char request_id[80];
    bool answered;          /* bytes of an answer had come, or the request had been taken: it may have cost something */
};
/* For a person: UPSTREAM_UNAVAILABLE, UPSTREAM_REJECTED, AUTH_REQUIRED, CONTEXT_LIMIT, RESULT_TOO_LARGE, TIMEOUT,
 * CANCELLED, and what to do next. Names the provider and its host. */
void al_llm_fault_err(const struct al_llm_fault *f, const struct al_provider *p, const char *model, struct al_err *err);

/* --- what was learned about an endpoint's model, kept in the state --- */

enum al_llm_field {
    AL_LLM_STREAM_OPTIONS,
    AL_LLM_MAX_TOKENS,        /* chat: "max_tokens"; without it … */
    AL_LLM_MAX_COMPLETION,    /* … "max_completion_tokens", and the other way round */
    AL_LLM_STRICT,
    AL_LLM_PARALLEL,
    AL_LLM_EFFORT,
    AL_LLM_TEMPERATURE,
    AL_LLM_STORE,
    AL_LLM_INCLUDE,
    AL_LLM_CACHE_KEY,
    AL_LLM_DEVELOPER,         /* the role: "system" instead */
    AL_LLM_CACHE_CONTROL,
    AL_LLM_N_FIELDS,
};
const char *al_llm_field_name(enum al_llm_field f); /* "stream_options" */
struct al_llm_facts {
    uint32_t without;     /* bits of al_llm_field: refused by this model */
    bool wants_reasoning; /* chat: its reasoning_content must come back within a tool loop */
    int64_t window;       /* tokens, learned from an overflow or a models endpoint; 0: nothing */
    int64_t max_output;   /* 0 */
};
void al_llm_facts_write(struct al_jw *w, const struct al_llm_facts *f);
void al_llm_facts_read(const struct al_json *v, struct al_llm_facts *ret); /* what is not known is left out */

/* --- asking --- */

struct al_http_client;
struct al_llm_time;
struct al_llm_transport;
struct al_llm_opts {
    struct al_loop *loop;               /* borrowed, as all below */
    struct al_http_client *http;
    const struct al_provider *provider; /* a copy is made */
    const char *model;
    const char *key;                    /* NULL: none; a copy is made, and overwritten at the end */
    struct al_llm_facts facts;
    const struct al_llm_time *time;           /* tests; NULL: the clocks */
    const struct al_llm_transport *transport; /* tests; NULL: http */
};
struct al_llm;
struct al_llm *al_llm_new(const struct al_llm_opts *o);
void al_llm_free(struct al_llm *l); /* nothing may be asked any more */
const struct al_provider *al_llm_provider(const struct al_llm *l);
const char *al_llm_model(const struct al_llm *l);
const struct al_llm_facts *al_llm_facts_of(const struct al_llm *l);
/* Reasoning of earlier turns is sent no more, in this process: an endpoint refused it. */
void al_llm_forget_reasoning(struct al_llm *l);

struct al_llm_retry {
    unsigned attempt;       /* the one that failed, from 1; its text is part of nothing any more */
    const struct al_llm_fault *fault;
    uint64_t wait_ms;
    size_t discarded_chars; /* of its text and reasoning that had been told */
};
struct al_llm_ops {
    /* An attempt goes out: before its first byte. sha256: of the body. -1 with err ends all: the journal is not writable. */
    int (*sending)(void *ud, unsigned attempt, struct al_str body, const char sha256[AL_SHA256_HEX], struct al_err *err);
    void (*text)(void *ud, unsigned attempt, struct al_str text);      /* whole characters, new ones only */
    void (*reasoning)(void *ud, unsigned attempt, struct al_str text); /* likewise */
    void (*retry)(void *ud, const struct al_llm_retry *r);
    void (*notice)(void *ud, struct al_str text);                      /* for the person, once a kind */
    void (*learned)(void *ud, const struct al_llm_facts *facts);       /* to be kept */
    /* Once and last, never from within al_llm_ask. Exactly one of the two. */
    void (*done)(void *ud, const struct al_llm_answer *answer, const struct al_llm_fault *fault);
};
struct al_llm_ask;
/* One answer, over all its attempts. Everything of r is copied. */
struct al_llm_ask *al_llm_ask(struct al_llm *l, const struct al_llm_request *r, const struct al_llm_ops *ops, void *ud);
/* No callback comes after it, and the connection is closed. What had come of the text was told. */
void al_llm_cancel(struct al_llm_ask *a);

/* --- models --- */
struct al_llm_model {
    struct al_str id, name;
    int64_t window, max_output; /* tokens; 0: not said */
    struct al_str window_from;  /* "max_model_len", "n_ctx", …; empty */
};
struct al_llm_models {
    const struct al_llm_model *v;
    size_t n;
};
/* Asks the endpoint which models it has and how large their windows are (for `only`, when it is not NULL, also by what the
 * known servers tell beside their list). done comes once, never from within; err NULL: models. */
struct al_llm_listing;
struct al_llm_listing *al_llm_list(struct al_llm *l, const char *only,
                                   void (*done)(void *ud, const struct al_llm_models *models, const struct al_err *err), void *ud);
void al_llm_list_cancel(struct al_llm_listing *x);

/* Whether the endpoint is on this machine: its server may be started with another window at any time. */
bool al_llm_is_here(const struct al_provider *p);

/* --- sizes and money --- */
/* Tokens that a model of an endpoint takes which does not say so itself (api.openai.com, api.deepseek.com): a lower bound
 * of its family; 0: nothing is known. */
int64_t al_llm_known_window(const struct al_provider *p, const char *model);
/* Tokens that a text takes, at least about: 1 per 3.5 bytes, 1 per 1.5 bytes of CJK, more where digits and signs are dense. */
int64_t al_llm_estimate(struct al_str text);
/* Tokens that an answer may have when the request does not say: configured for the model or the provider, else the least of
 * 16,384, a quarter of the window that is known, and what the endpoint was seen to take. facts may be NULL. */
int64_t al_llm_max_output(const struct al_provider *p, const char *model, const struct al_llm_facts *facts);
/* Pico-dollars (10^-12), exactly; -1 when a price that is needed is not configured. */
int64_t al_llm_cost(const struct al_price *price, const struct al_llm_usage *u);

#endif
