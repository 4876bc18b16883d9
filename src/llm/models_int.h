/* What the files about lists of models share. */
#ifndef AL_LLM_MODELS_INT_H
#define AL_LLM_MODELS_INT_H

#include "llm/fault_int.h"

#define AL_LLM_MAX_MODELS 20000
#define AL_LLM_MAX_LIST (16u << 20) /* bytes of one answer */

/* Which server it seems to be, by what it says of itself: where else its windows stand. */
enum {
    AL_LLM_SEEMS_LLAMACPP = 1,
    AL_LLM_SEEMS_LMSTUDIO = 2,
    AL_LLM_SEEMS_OLLAMA = 4,
    AL_LLM_SEEMS_KNOWN = 8, /* another one, whose list is all there is */
};

struct al_llm_found {
    struct al_arena *arena; /* strings lie here */
    struct al_llm_model *v;
    size_t n, cap;
    unsigned seems;
    char last_id[256]; /* Messages: there is more behind this one; "" */
};
void al_llm_found_fini(struct al_llm_found *f);
/* The model of that name, as servers write it ("llama3" for "llama3:latest"); NULL. */
struct al_llm_model *al_llm_found_one(struct al_llm_found *f, const char *only);
struct al_llm_model *al_llm_found_add(struct al_llm_found *f, struct al_str id);
/* The smaller one wins. */
void al_llm_found_window(struct al_llm_model *m, int64_t window, const char *from);

/* Readers of what servers answer. False: it is not that. */
bool al_llm_read_list(struct al_llm_found *f, const struct al_json *v);
bool al_llm_read_one(struct al_llm_found *f, const struct al_json *v, const char *only); /* GET models/ID of Messages */
int64_t al_llm_read_props(const struct al_json *v);                                     /* llama.cpp: n_ctx; 0 */
/* LM Studio: of a model that is loaded its window, of another what it could have. */
int64_t al_llm_read_lmstudio(const struct al_json *v, const char *only, int64_t *ret_most);
int64_t al_llm_read_ps(const struct al_json *v, const char *only);                      /* Ollama: of a loaded one; 0 */
int64_t al_llm_read_show(const struct al_json *v, int64_t *ret_most);                   /* Ollama: num_ctx; 0 */

#endif
