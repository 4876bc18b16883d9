/* What the files about faults share. */
#ifndef AL_LLM_FAULT_INT_H
#define AL_LLM_FAULT_INT_H

#include "llm/llm_int.h"

#define AL_LLM_MAX_ERROR (64u << 10) /* bytes of an error's body that are looked at */

/* An error in the provider's own words, whichever shape it came in: views of the JSON text, or of the buffer. */
struct al_llm_words {
    struct al_buf message; /* not yet harmless */
    struct al_str type, code, param, request_id;
    char field[80];        /* of a validator that says where: "stream_options" */
    int status;            /* that it claims; 0: none */
    int64_t window;        /* tokens that it names in a member of its own; 0: none */
    bool any;              /* it is an error object */
};
#define AL_LLM_WORDS_INIT { .message = AL_BUF_INIT(8192) }
void al_llm_words_fini(struct al_llm_words *w);
void al_llm_words_read(struct al_llm_words *w, const struct al_json *v); /* fault_shape.c */

/* The message, harmless. */
void al_llm_fault_say(struct al_llm_fault *f, struct al_str text, const char *key);
/* Which kind the words and the status make, and whether it is of use to ask again (fault_class.c). status 0: it came
 * within a stream. Reads f's status, type, code and message, and sets kind, retry and window. */
void al_llm_fault_class(struct al_llm_fault *f, const struct al_llm_words *w);
/* Whether the table of statuses that are asked again has it. */
bool al_llm_status_retry(int status);
/* The first number of tokens within a few words of the front of s. */
bool al_llm_number_near(struct al_str s, int64_t *ret);
ptrdiff_t al_llm_find_words(struct al_str s, const char *words); /* in any case of ASCII; -1 */
bool al_llm_says(struct al_str text, const char *words); /* in any case of ASCII */

/* --- what a 400 is about, for the attempts that follow (fault_about.c) --- */
/* The optional field of ours that it refuses, when the request's body has it; -1. */
int al_llm_fault_about_field(const struct al_llm_fault *f, struct al_str body);
/* It does not take reasoning of earlier turns (any more), or misses its signature. */
bool al_llm_fault_about_reasoning(const struct al_llm_fault *f);
/* It wants the reasoning of the tool loop back. */
bool al_llm_fault_wants_reasoning(const struct al_llm_fault *f);
/* How many tokens an answer may have at most, as a refusal says; 0. */
int64_t al_llm_fault_max_output(const struct al_llm_fault *f);

#endif
