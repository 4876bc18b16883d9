/* Conversations for the writers of requests: of a file, or of chance, as wild as a journal can hold them. */
#ifndef AL_TESTS_LLM_REQUEST_WORLD_H
#define AL_TESTS_LLM_REQUEST_WORLD_H

#include "llm/request_int.h"

/* What decides: bytes while there are some, then a generator (seed 0: zeros). */
struct lw_chance {
    const uint8_t *p;
    size_t n;
    uint64_t seed;
};
unsigned lw_below(struct lw_chance *c, unsigned n);

/* A request and all that it points to. */
struct lw {
    struct al_arena arena;
    struct al_provider provider;
    struct al_llm_facts facts;
    struct al_llm_request request;
    struct al_llm_wire wire;
    struct al_llm_message *messages; /* before al_llm_history */
    size_t n;
};
void lw_fini(struct lw *w);
/* Some provider of one of the APIs, tools or none, and up to max_messages messages of any kind and order. */
void lw_random(struct lw *w, struct lw_chance *c, unsigned max_messages);
/* Of a file's text: {"providers":{NAME:{…}},"model","facts"?,"noReasoning"?,"system"?,"tools"?:[{name,description,schema}],
 * "noCalls"?,"maxOutputTokens"?,"cacheKey"?,"messages":[as the journal keeps them]}; "$API" stands for the API's name.
 * NULL, or what is wrong. */
const char *lw_read(struct lw *w, struct al_str text, const char *api);
/* The body of the first n messages. -1: al_llm_history says no; -2: its check does. */
int lw_body(struct lw *w, size_t n, struct al_buf *out, struct al_err *err);
/* Whether a body begins with another, but for the other's closing brackets and quotes. */
bool lw_continues(struct al_str longer, struct al_str shorter);

#endif
