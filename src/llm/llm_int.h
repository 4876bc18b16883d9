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
#define AL_LLM_MIN_WINDOW 256 /* tokens; fewer are a mistake or worse, which would be kept and stop every run */

/* --- a draft: the message that a stream makes (draft.c). Parts by the key that the wire has for them. --- */
struct al_llm_draft_part {
    enum al_llm_part_kind kind;
    struct al_buf text, raw, id, name; /* id of REASONING: its signature, of Messages */
    struct al_buf item; /* Responses: the id of its item */
    bool closed; /* what comes later under its key opens another */
    int64_t key; /* index on the wire; -1: none */
    uint16_t half; /* the first half of a surrogate pair, whose second is in a delta to come; 0: none */
    uint8_t args; /* CALL: how far text is one JSON value (draft.c) */
    uint32_t args_depth;
    struct al_llm_draft_part *older_key, *older_id; /* within a slot of the tables below */
};
#define AL_LLM_DRAFT_SLOTS 1024
struct al_llm_draft {
    struct al_llm_draft_part **parts; /* in the order of their opening */
    size_t n, cap;
    size_t bytes; /* in all: ≤ AL_LLM_MAX_ANSWER */
    struct al_llm_draft_part **by_key, **by_id; /* AL_LLM_DRAFT_SLOTS each, the newest first; NULL: none yet */
    uint64_t seed;
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
    const char *key;           /* set by the owner: error texts of the provider do not show it; NULL */
    struct al_arena *arena;    /* of the event that is being read */
    bool last;                 /* the connection has ended: half an event is dropped */
    const struct al_llm_draft_part *told; /* the part of text that was told last */
};
/* No callback of the sink may end the reader (al_llm_reader_fini): it goes on with the same bytes. */
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
/* The words of an end that this reader knows; any other ends an answer without calls (with a warning), and fails one with. */
struct al_llm_end_word {
    struct al_str word;
    enum al_llm_end end;
};
bool al_llm_reader_end_word(struct al_llm_reader *r, struct al_str word, const struct al_llm_end_word *known, size_t n);
/* The text of a string, with surrogate pairs whole that were cut between two deltas. half: of the one before, and the next. */
struct al_str al_llm_reader_string(struct al_llm_reader *r, uint16_t *half, const struct al_json *v);
/* The member as a string; anything else that is not null is told as a warning, and as none. */
const struct al_json *al_llm_reader_text(struct al_llm_reader *r, const struct al_json *v, const char *key);
const struct al_json *al_llm_reader_object(struct al_llm_reader *r, const struct al_json *v, const char *key);
const struct al_json *al_llm_reader_array(struct al_llm_reader *r, const struct al_json *v, const char *key);
/* A number of tokens; false leaves *ret alone. */
bool al_llm_reader_tokens(struct al_llm_reader *r, const struct al_json *v, const char *key, int64_t *ret);
/* In place, of the same length: escapes of lone surrogates and of NUL in a JSON text become \ufffd. */
void al_llm_json_clean(char *p, size_t n);
extern const struct al_llm_reader_ops al_llm_read_chat, al_llm_read_responses, al_llm_read_messages;

/* Draft. NULL from open: over a limit (the reader has failed). */
struct al_llm_draft_part *al_llm_draft_find(struct al_llm_draft *d, enum al_llm_part_kind kind, int64_t key); /* the last one open */
struct al_llm_draft_part *al_llm_draft_open(struct al_llm_reader *r, enum al_llm_part_kind kind, int64_t key);
/* Adds to a part, tells the sink of text and reasoning. */
void al_llm_draft_text(struct al_llm_reader *r, struct al_llm_draft_part *p, struct al_str text);
void al_llm_draft_raw(struct al_llm_reader *r, struct al_llm_draft_part *p, struct al_str json);
/* As al_llm_draft_text with al_llm_reader_string. v may be NULL. */
void al_llm_draft_string(struct al_llm_reader *r, struct al_llm_draft_part *p, const struct al_json *v);
/* What the whole text is, told at its end: what is missing is added, what differs is replaced with a warning. */
void al_llm_draft_final(struct al_llm_reader *r, struct al_llm_draft_part *p, struct al_str text);
void al_llm_draft_value(struct al_llm_reader *r, struct al_llm_draft_part *p, const struct al_json *v); /* raw, compact */
void al_llm_draft_id(struct al_llm_reader *r, struct al_llm_draft_part *p, struct al_str id);
void al_llm_draft_name(struct al_llm_reader *r, struct al_llm_draft_part *p, struct al_str more);
struct al_llm_draft_part *al_llm_draft_find_id(struct al_llm_draft *d, struct al_str id); /* the newest call of it */
bool al_llm_draft_args_whole(const struct al_llm_draft_part *p); /* its arguments are one whole JSON value */
bool al_llm_draft_has_calls(const struct al_llm_draft *d);
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
/* The time of an HTTP date, in any of its three forms. */
bool al_llm_date(const char *text, int64_t *ret_wall_ms);
/* Whether it names the window: window gets the number, or 0. */
bool al_llm_is_overflow(const struct al_llm_fault *f, int64_t *ret_window);

/* --- clocks and transport: replaced by tests --- */
struct al_llm_time {
    uint64_t (*mono_ms)(void *ud);
    uint64_t (*boot_ms)(void *ud); /* CLOCK_BOOTTIME: with the time that the machine slept */
    void *(*wait)(void *ud, uint64_t ms, void (*fn)(void *fn_ud), void *fn_ud);
    void (*unwait)(void *ud, void *handle); /* NULL is fine */
    uint32_t (*random)(void *ud);
    int64_t (*wall_ms)(void *ud); /* NULL: the wall clock */
    void *ud;
};
struct al_llm_transport { /* as al_http_start, al_http_cancel, al_http_header */
    void *(*start)(void *ud, const struct al_http_request *r, const struct al_http_ops *ops, void *ops_ud, struct al_err *err);
    void (*cancel)(void *ud, void *h);
    const char *(*header)(void *ud, const void *h, const char *name);
    bool (*sent)(void *ud, const void *h); /* al_http_sent; NULL: it went out */
    bool (*near)(void *ud, const void *h); /* al_http_near; NULL: it is not */
    void (*woke)(void *ud);                /* al_http_client_drop; NULL: nothing to do */
    void *ud;
};

/* --- where an endpoint is (host.c) --- */
#define AL_LLM_HOST_MAX 256
/* The host of a URL without user info and port, for people and for the next; "" when there is none. IPv6 without brackets. */
void al_llm_host(const char *url, char out[AL_LLM_HOST_MAX]);
/* A URL for people: without user info, query and fragment, which may hold secrets. */
void al_llm_show_url(struct al_str url, struct al_buf *out);
enum al_llm_place { AL_LLM_HERE, AL_LLM_FAR, AL_LLM_A_NAME };
/* What the host alone says: loopback or private, public, or a name whose address has to be looked up. */
enum al_llm_place al_llm_place(const char *host);
/* What of an HTTP request its URL and the provider decide: a key in the clear goes to private addresses only. LOCAL. */
int al_llm_guard(const struct al_llm *l, const char *url, struct al_http_request *r, struct al_err *err) AL_MUST_CHECK;

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
    uint64_t slept_ms; /* by when it was last looked at */
};
#define AL_LLM_SLEEP_MS 5000 /* what counts as the machine having slept */
/* For how long the machine has slept since it started. */
uint64_t al_llm_slept_ms(const struct al_llm *l);
/* Before a connection is used: after a sleep those that were kept are dropped. */
void al_llm_look(struct al_llm *l);

#endif
