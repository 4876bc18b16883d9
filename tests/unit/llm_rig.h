/* Asking a model without a network and without time: a clock that stands until it is moved, requests that are answered by
 * the test, and a log of what the asker was told. */
#ifndef AL_TESTS_LLM_RIG_H
#define AL_TESTS_LLM_RIG_H

#include "test.h"

#include "llm/llm_int.h"

#define RIG_TIMERS 64
struct rig_timer {
    uint64_t due;
    uint64_t order;
    void (*fn)(void *ud);
    void *ud;
    bool on;
};

struct rig_http { /* one request */
    const struct al_http_ops *ops;
    void *ud;
    bool open;
    char *url, *method;
    char *body;
    char **headers;
    const char *const *answer; /* headers of the answer: name, value, … NULL */
    bool private_only;
};

#define RIG_REQUESTS 256
struct rig {
    struct al_llm_time time;
    struct al_llm_transport transport;
    uint64_t mono, slept;
    int64_t wall;
    uint32_t chance;
    struct rig_timer timers[RIG_TIMERS];
    uint64_t order;
    struct rig_http http[RIG_REQUESTS];
    size_t n_http, n_woke;
    bool sent, near, refuse_start;
    struct al_provider provider;
    struct al_llm *l;
    struct al_llm_ask *ask;
    struct al_buf log; /* a line for each callback */
    unsigned n_done;
    struct al_llm_fault fault, retry_fault;
    uint64_t last_wait;
    unsigned last_attempt;
    size_t last_discarded;
    int64_t input, output;
    unsigned attempts, unknown;
    char text[256];
    void (*hook)(struct rig *r, const char *what); /* before each callback returns */
};

void rig_open(struct rig *r, enum al_api api, const char *base_url, const char *key);
void rig_facts(struct rig *r, const struct al_llm_facts *facts); /* opens the llm anew */
void rig_close(struct rig *r);
void rig_ask(struct rig *r); /* "Hello" of a person; the first attempt goes out */
void rig_ask_with(struct rig *r, const struct al_llm_request *q);
void rig_advance(struct rig *r, uint64_t ms); /* each timer that is due fires, in its order */
struct rig_http *rig_now(struct rig *r);      /* the newest request; it must be open */
bool rig_is_open(struct rig *r);
void rig_head(struct rig *r, int status, const char *type, const char *const *headers);
void rig_body(struct rig *r, const char *text);
void rig_bytes(struct rig *r, struct al_str bytes);
void rig_end(struct rig *r);                                         /* the answer is complete */
void rig_break(struct rig *r, enum al_code code, const char *words); /* the connection fails */
/* A whole error answer. */
void rig_refuse(struct rig *r, int status, const char *const *headers, const char *body);
/* A stream that ends well, of the API's own form. */
void rig_answer(struct rig *r, const char *text);
void rig_begin(struct rig *r); /* head and "Hel" of a stream */

#endif
