/* What the files of this folder share: readers of streams, writers of requests, faults, attempts. */
#ifndef AL_LLM_LLM_INT_H
#define AL_LLM_LLM_INT_H

#include "base/buf.h"
#include "http/client.h"
#include "llm/llm.h"
#include "rpc/sse.h"

#define AL_LLM_MAX_EVENT (16u << 20)
#define AL_LLM_MAX_ANSWER (64u << 20) /* of bytes that make one answer */
#define AL_LLM_MAX_PARTS 4096

/* --- a draft: the message that a stream makes (draft.c). Parts by the key that the wire has for them. --- */
struct al_llm_draft_part {
    enum al_llm_part_kind kind;
    struct al_buf text, raw, id, name;
    bool closed; /* what comes later under its key opens another */
    int64_t key; /* index on the wire; -1: none */
};
struct al_llm_draft {
    struct al_llm_draft_part **parts; /* in the order of their opening */
    size_t n, cap;
    size_t bytes; /* in all: ≤ AL_LLM_MAX_ANSWER */
};

/* --- the reader of one attempt (reader.c): bytes in, a message out. Pure: no clock, no connection. --- */
enum al_llm_reading {
    AL_LLM_READING,   /* no end yet: the end of the connection is a cut */
    AL_LLM_ENDING,    /* chat: the finish reason has come; usage or [DONE] may follow, for 2 s */
    AL_LLM_ENDED,     /* the turn's end: leave the connection */
    AL_LLM_FAILED,    /* see fault */
};
struct al_llm_sink {
    void (*text)(void *ud, struct al_str text); /* whole characters */
    void (*reasoning)(void *ud, struct al_str text);
    void (*warning)(void *ud, struct al_str text); /* a known field of a wrong type, and such; at most 20 an attempt */
};
struct al_llm_reader;
struct al_llm_reader_ops { /* one per API: read_chat.c, read_responses.c, read_messages.c */
    void *(*open)(struct al_llm_reader *r);
    /* One event that is no noise: v is an object. type is the event line's, "" when there was none. */
    void (*event)(struct al_llm_reader *r, struct al_str type, const struct al_json *v);
    void (*whole)(struct al_llm_reader *r, const struct al_json *v); /* a whole answer (application/json) */
    void (*close)(void *own);
};
struct al_llm_reader {
    enum al_api api;
    const struct al_llm_reader_ops *ops;
    void *own; /* of ops */
    const struct al_llm_sink *sink;
    void *ud;
    struct al_sse sse;
    struct al_llm_draft draft;
    struct al_buf held_text, held_reasoning; /* the beginning of a character whose rest has not come */
    enum al_llm_reading state;
    enum al_llm_end end;
    char end_word[64];
    struct al_llm_usage usage;
    struct al_llm_fault fault; /* state AL_LLM_FAILED */
    size_t bytes, n_events, n_warnings;
    size_t told_chars;         /* of text and reasoning that the sink got */
    bool first_token;          /* text, reasoning or a call has begun */
};
void al_llm_reader_init(struct al_llm_reader *r, enum al_api api, const struct al_llm_sink *sink, void *ud);
void al_llm_reader_fini(struct al_llm_reader *r);
void al_llm_reader_feed(struct al_llm_reader *r, struct al_str bytes); /* nothing happens once it has ended or failed */
void al_llm_reader_whole(struct al_llm_reader *r, struct al_str body); /* application/json with status 200 */
/* The connection has ended: the last event without its blank line is used when it is complete. ENDED or FAILED after it. */
void al_llm_reader_eof(struct al_llm_reader *r);
/* Of AL_LLM_ENDED: the message, in the arena, each call with an id of ours. from is the caller's to set. */
int al_llm_reader_message(const struct al_llm_reader *r, struct al_arena *a, struct al_llm_message *ret, struct al_err *err) AL_MUST_CHECK;
/* For the readers of the APIs. */
void al_llm_reader_fail(struct al_llm_reader *r, enum al_llm_fault_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void al_llm_reader_error(struct al_llm_reader *r, const struct al_json *error); /* an error object within a stream: any shape */
void al_llm_reader_warn(struct al_llm_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
extern const struct al_llm_reader_ops al_llm_read_chat, al_llm_read_responses, al_llm_read_messages;

/* Draft. NULL from open: over a limit (the reader has failed). */
struct al_llm_draft_part *al_llm_draft_find(struct al_llm_draft *d, enum al_llm_part_kind kind, int64_t key); /* the last one open */
struct al_llm_draft_part *al_llm_draft_open(struct al_llm_reader *r, enum al_llm_part_kind kind, int64_t key);
/* Adds to a part, tells the sink of text and reasoning. */
void al_llm_draft_text(struct al_llm_reader *r, struct al_llm_draft_part *p, struct al_str text);
void al_llm_draft_raw(struct al_llm_reader *r, struct al_llm_draft_part *p, struct al_str json);
void al_llm_draft_free(struct al_llm_draft *d);

/* --- requests (request.c, request_{chat,responses,messages}.c) --- */
struct al_llm_wire {
    const struct al_provider *provider;
    const char *model;
    const char *key; /* NULL: none */
    const struct al_llm_facts *facts;
    bool no_reasoning; /* none of earlier turns is sent */
    const struct al_llm_request *request; /* messages as al_llm_history gave them */
};
/* The messages as this API takes them, in the arena: foreign reasoning gone, empty texts gone, ids unique and of the
 * pattern, results directly behind their calls and in their order. What could not be sent at all is repaired and logged. */
int al_llm_history(struct al_arena *a, const struct al_llm_wire *w, const struct al_llm_message *messages, size_t n,
                   const struct al_llm_message **ret, size_t *ret_n, struct al_err *err) AL_MUST_CHECK;
/* Our own validator of what al_llm_history gave: INTERNAL naming the message and the rule. */
int al_llm_history_check(enum al_api api, const struct al_llm_message *messages, size_t n, struct al_err *err) AL_MUST_CHECK;
/* One JSON object; deterministic: the same request gives the same bytes, and one with more messages the same bytes before them. */
void al_llm_body(const struct al_llm_wire *w, struct al_buf *out);
void al_llm_body_chat(const struct al_llm_wire *w, struct al_buf *out);
void al_llm_body_responses(const struct al_llm_wire *w, struct al_buf *out);
void al_llm_body_messages(const struct al_llm_wire *w, struct al_buf *out);
/* The endpoint's URL of a path of the API ("" : of the requests), malloc'ed; headers into the arena, NULL-terminated. */
char *al_llm_url(const struct al_provider *p, const char *path);
const char *const *al_llm_headers(const struct al_llm_wire *w, struct al_arena *a);

/* --- faults (fault.c) --- */
/* Of an answer with a status that is no 200 (body: the first 64 KiB), or of a 200 that is no stream. header: by name, or NULL. */
void al_llm_fault_of_answer(int status, struct al_str content_type, struct al_str body,
                            const char *(*header)(void *ud, const char *name), void *ud, const char *key, struct al_llm_fault *ret);
/* Of an error object within a stream, in any of the shapes. */
void al_llm_fault_of_error(const struct al_json *error, const char *key, struct al_llm_fault *ret);
/* Of what the HTTP client said. */
void al_llm_fault_of_transport(const struct al_err *err, bool any_byte, struct al_llm_fault *ret);
/* Appends a provider's text for people: what equals the key or looks like one becomes ‹redacted›, control characters visible. */
void al_llm_scrub(struct al_str text, const char *key, size_t max_chars, struct al_buf *out);
/* Milliseconds that a retry-after-ms or retry-after (seconds or HTTP date, RFC 9110 10.2.3) asks for; -1: none that counts. */
int64_t al_llm_retry_after(const char *ms, const char *after, int64_t now_wall_ms);
/* Whether it names the window: window gets the number, or 0. */
bool al_llm_is_overflow(const struct al_llm_fault *f, int64_t *ret_window);

/* --- clocks and transport: replaced by tests --- */
struct al_llm_time {
    uint64_t (*mono_ms)(void *ud);
    uint64_t (*boot_ms)(void *ud); /* CLOCK_BOOTTIME: with the time that the machine slept */
    void *(*wait)(void *ud, uint64_t ms, void (*fn)(void *fn_ud), void *fn_ud);
    void (*unwait)(void *ud, void *handle); /* NULL is fine */
    uint32_t (*random)(void *ud);
    void *ud;
};
struct al_llm_transport { /* as al_http_start, al_http_cancel, al_http_header */
    void *(*start)(void *ud, const struct al_http_request *r, const struct al_http_ops *ops, void *ops_ud, struct al_err *err);
    void (*cancel)(void *ud, void *h);
    const char *(*header)(void *ud, const void *h, const char *name);
    void *ud;
};

/* --- one attempt (attempt.c) --- */
struct al_llm_attempt;
struct al_llm_attempt_ops {
    struct al_llm_sink sink;
    void (*done)(void *ud, const struct al_llm_reader *reader, const struct al_llm_fault *fault); /* fault NULL: ended well */
};
struct al_llm_attempt *al_llm_attempt_start(struct al_llm *l, const char *url, const char *const *headers, struct al_str body,
                                            const struct al_llm_attempt_ops *ops, void *ud);
void al_llm_attempt_cancel(struct al_llm_attempt *a);
uint64_t al_llm_attempt_ttft(const struct al_llm_attempt *a);
const char *al_llm_attempt_request_id(const struct al_llm_attempt *a);

struct al_llm {
    struct al_loop *loop;
    struct al_http_client *http;
    struct al_provider provider;
    char *model, *key;
    struct al_llm_facts facts;
    bool no_reasoning;
    uint32_t noticed; /* kinds of notices that were given */
    struct al_llm_time time;
    struct al_llm_transport transport;
};

#endif
