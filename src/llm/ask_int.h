/* What the files about asking share. */
#ifndef AL_LLM_ASK_INT_H
#define AL_LLM_ASK_INT_H

#include "llm/fault_int.h"

struct al_llm_ask {
    struct al_llm *l;
    const struct al_llm_ops *ops;
    void *ud;
    struct al_arena memory;         /* of the request */
    struct al_llm_request request;  /* as it was asked */
    struct al_arena round;          /* of what is sent of it, and of the answer */
    struct al_llm_request sendable; /* with the messages that this API takes now */
    struct al_llm_wire wire;
    struct al_buf body; /* empty: to be built */
    char sha256[AL_SHA256_HEX];
    struct al_llm_attempt *attempt;
    void *timer;
    unsigned n_attempts, n_retries, n_unknown, n_wakes;
    size_t discarded; /* characters of the attempt that was */
    uint64_t slept_ms, started_ms; /* when the attempt began */
    struct al_err refused; /* the request could not be taken */
    char notice[1024]; /* for the person, when what was learned is of use; "" */
    unsigned notice_kind;
    unsigned depth; /* of calls that are running here: freed when none is */
    bool dead;      /* cancelled, or done was called */
};

/* A deep copy. CONTEXT_LIMIT when it passes the arena's limit. */
int al_llm_request_copy(struct al_arena *arena, const struct al_llm_request *r, struct al_llm_request *ret,
                        struct al_err *err) AL_MUST_CHECK;
/* What a refusal teaches about the model, told to the caller; the words for the person are kept for al_llm_notice.
 * True: worth asking again. */
bool al_llm_learn(struct al_llm_ask *a, const struct al_llm_fault *f);
void al_llm_notice(struct al_llm_ask *a); /* tells them, each kind once a process */

#endif
