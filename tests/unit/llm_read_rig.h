/* Recorded streams of model endpoints (tests/llm/scripts), read by the reader and told as text that can be compared. */
#ifndef AL_TESTS_LLM_READ_RIG_H
#define AL_TESTS_LLM_READ_RIG_H

#include "test.h"

#include "llm/llm_int.h"

struct script {
    enum al_api api;
    char name[80];
    bool whole; /* a .body: an answer without a stream */
    struct al_buf text;
    struct al_arena arena;
    struct al_buf expect_text;
    const struct al_json *expect;
};

/* All of them, in a fixed order. */
extern struct script *scripts;
extern size_t n_scripts;
int load_scripts(void **state);
int free_scripts(void **state);

/* One reading, from the first byte to the end of the connection. */
struct reading {
    struct al_llm_reader r;
    struct al_buf text, reasoning; /* that the sink was told */
    unsigned n_told, warnings;
    char warning[200]; /* the last */
};
void start_reading(struct reading *x, enum al_api api);
void end_reading(struct reading *x); /* frees */
/* step: bytes of a read; 0: all at once. first: bytes of the first read, when step is 0 and it is not 0. */
void read_all(struct reading *x, enum al_api api, struct al_str text, size_t step, size_t first);
void read_whole(struct reading *x, enum al_api api, struct al_str body);
/* The outcome: parts (without our ids), end, usage, or the fault. */
void tell_reading(const struct reading *x, struct al_buf *out);
/* Parts and end only; "" when there is no message. */
void tell_message(const struct reading *x, struct al_buf *out);
/* Both of text, joined. */
void tell_text(struct al_str text, enum al_api api, size_t step, size_t first, struct al_buf *out);

#endif
