/* A conversation that is as a damaged journal could have it: what is made of it passes our own validator, its
 * body is sound JSON, making it again changes nothing, and a longer one begins with the bytes of a shorter
 * one. */
#include "unit/llm_request_world.h"

#include "base/mem.h"

#include <stdio.h>

#define BODY_MAX (64u << 20)

static void body_of(struct lw *w, size_t n, struct al_buf *out)
{
    struct al_err err;
    al_buf_init(out, BODY_MAX);
    err.msg[0] = 0;
    if (lw_body(w, n, out, &err) < 0 || al_buf_failed(out) || !al_json_check(al_buf_str(out), 256)) {
        fprintf(stderr, "%s\n%.*s\n", err.msg, AL_FMT(al_buf_str(out)));
        abort();
    }
}

static void check_again(struct lw *w, const struct al_buf *body)
{
    autoarena struct al_arena a = AL_ARENA_INIT(BODY_MAX);
    struct lw again = *w;
    const struct al_llm_message *made = NULL;
    again.wire.provider = &again.provider;
    if (al_llm_history(&a, &w->wire, w->messages, w->n, &made, &again.n, NULL) < 0)
        abort();
    again.messages = al_arena_alloc(&a, (again.n + 1) * sizeof *made);
    memcpy(again.messages, made, again.n * sizeof *made);
    struct al_buf second;
    body_of(&again, again.n, &second);
    if (!al_str_eq(al_buf_str(&second), al_buf_str(body))) {
        fprintf(stderr, "%.*s\nmade again is\n%.*s\n", AL_FMT(al_buf_str(body)), AL_FMT(al_buf_str(&second)));
        abort();
    }
    al_buf_free(&second);
}

/* Where an answer begins and the one before it has ended. */
static bool is_border(const struct lw *w, size_t at)
{
    if (at == 0 || w->messages[at].role != AL_LLM_ASSISTANT)
        return false;
    return w->messages[at - 1].role == AL_LLM_RESULT;
}

static void check_prefixes(struct lw *w, const struct al_buf *body)
{
    if (w->request.n_tools == 0 || w->request.no_calls)
        return;
    for (size_t i = 1; i < w->n; i++) {
        struct al_buf shorter;
        if (!is_border(w, i))
            continue;
        body_of(w, i, &shorter);
        /* What ends in an answer was trimmed there; nothing at all begins with a note. */
        bool fine = w->provider.api == AL_API_MESSAGES ||
                    al_str_find(al_buf_str(&shorter), AL_STR("(The beginning")) >= 0 ||
                    lw_continues(al_buf_str(body), al_buf_str(&shorter));
        if (!fine) {
            fprintf(stderr, "%.*s\nis not how this begins:\n%.*s\n", AL_FMT(al_buf_str(&shorter)),
                    AL_FMT(al_buf_str(body)));
            abort();
        }
        al_buf_free(&shorter);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lw w;
    struct al_buf body;
    struct lw_chance c = {.p = data, .n = size};
    lw_random(&w, &c, 40);
    body_of(&w, w.n, &body);
    check_again(&w, &body);
    check_prefixes(&w, &body);
    al_buf_free(&body);
    lw_fini(&w);
    return 0;
}
