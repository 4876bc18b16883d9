/* One answer over all its attempts: what is sent, what is asked again and when, what is learned on the way.
 */
#include "base/mem.h"
#include "llm/ask_int.h"

#include <stdio.h>

#define MAX_RETRIES 4
#define MAX_WAIT_MS 60000
#define MAX_MEMORY (1024u << 20) /* of one request's messages */
#define MAX_BODY (64u << 20)     /* of bytes that go out; an API's own limit is held before */
#define MAX_WAKES 16             /* attempts that cost no retry since the machine slept */

static void enter(struct al_llm_ask *a)
{
    a->depth++;
}

static void leave(struct al_llm_ask *a)
{
    if (--a->depth > 0 || !a->dead)
        return;
    al_arena_free(&a->memory);
    al_arena_free(&a->round);
    al_buf_free(&a->body);
    free(a);
}

static void stop(struct al_llm_ask *a)
{
    if (a->timer)
        a->l->time.unwait(a->l->time.ud, a->timer);
    a->timer = NULL;
    al_llm_attempt_cancel(a->attempt);
    a->attempt = NULL;
}

void al_llm_cancel(struct al_llm_ask *a)
{
    if (!a || a->dead)
        return;
    enter(a);
    a->dead = true;
    stop(a);
    leave(a);
}

/* done, once and last. */
static void end(struct al_llm_ask *a, const struct al_llm_answer *answer, const struct al_llm_fault *fault)
{
    if (a->dead)
        return;
    a->dead = true;
    stop(a);
    a->ops->done(a->ud, answer, fault);
}

static void end_ours(struct al_llm_ask *a, const struct al_err *err)
{
    struct al_llm_fault f;
    al_llm_fault_of_transport(err, false, &f);
    f.kind = AL_LLM_FAULT_LOCAL;
    f.retry = false;
    snprintf(f.type, sizeof(f.type), "%s", al_code_name(err->code));
    end(a, NULL, &f);
}

static void on_text(void *ud, struct al_str text)
{
    struct al_llm_ask *a = ud;
    if (!a->dead && a->ops->text)
        a->ops->text(a->ud, a->n_attempts, text);
}

static void on_reasoning(void *ud, struct al_str text)
{
    struct al_llm_ask *a = ud;
    if (!a->dead && a->ops->reasoning)
        a->ops->reasoning(a->ud, a->n_attempts, text);
}

static void on_attempt(void *ud, const struct al_llm_reader *reader, const struct al_llm_fault *fault);
static const struct al_llm_attempt_ops attempt_ops = {.sink = {.text = on_text, .reasoning = on_reasoning},
                                                      .done = on_attempt};

/* The request's bytes as they are now, with what is known by now. */
static int build(struct al_llm_ask *a, struct al_err *err)
{
    struct al_llm_wire *w = &a->wire;
    al_arena_free(&a->round);
    al_buf_free(&a->body);
    a->sendable = a->request;
    *w = (struct al_llm_wire){.provider = &a->l->provider,
                              .model = a->l->model,
                              .key = a->l->key,
                              .facts = &a->l->facts,
                              .no_reasoning = a->l->no_reasoning,
                              .request = &a->sendable};
    int r = al_llm_history(&a->round, w, a->request.messages, a->request.n_messages, &a->sendable.messages,
                           &a->sendable.n_messages, err);
    if (r == 0)
        r = al_llm_history_check(a->l->provider.api, a->sendable.messages, a->sendable.n_messages, err);
    if (r < 0)
        return r;
    al_llm_body(w, &a->body);
    if (al_buf_failed(&a->body))
        return al_fail(err, AL_CONTEXT_LIMIT, "the request is over %u MiB", MAX_BODY >> 20);
    al_sha256(al_buf_str(&a->body), a->sha256);
    return 0;
}

static void too_large(struct al_llm_ask *a, const struct al_err *err)
{
    struct al_llm_fault f = {.kind = AL_LLM_FAULT_OVERFLOW, .retry_after_ms = -1};
    al_llm_fault_say(&f, al_str_of(err->msg), NULL);
    end(a, NULL, &f);
}

static void send_it(struct al_llm_ask *a)
{
    struct al_err err = {0};
    a->n_attempts++;
    a->discarded = 0;
    if (a->ops->sending && a->ops->sending(a->ud, a->n_attempts, al_buf_str(&a->body), a->sha256, &err) < 0) {
        end_ours(a, &err);
        return;
    }
    if (a->dead)
        return;
    autofree char *url = al_llm_url(&a->l->provider, "");
    const char *const *headers = al_llm_headers(&a->wire, &a->round);
    al_llm_look(a->l);
    a->slept_ms = al_llm_slept_ms(a->l);
    a->started_ms = a->l->time.mono_ms(a->l->time.ud);
    a->attempt = al_llm_attempt_start(a->l, url, headers, al_buf_str(&a->body), &attempt_ops, a);
}

static void begin(void *ud)
{
    struct al_llm_ask *a = ud;
    struct al_err err = a->refused;
    a->timer = NULL;
    enter(a);
    if (err.code != AL_OK || (!a->body.n && build(a, &err) < 0)) {
        if (err.code == AL_CONTEXT_LIMIT)
            too_large(a, &err);
        else
            end_ours(a, &err);
    }
    if (!a->dead)
        send_it(a);
    leave(a);
}

static void again(struct al_llm_ask *a, const struct al_llm_fault *f, uint64_t wait_ms)
{
    struct al_llm_retry r = {
        .attempt = a->n_attempts, .fault = f, .wait_ms = wait_ms, .discarded_chars = a->discarded};
    a->n_unknown += f->answered;
    if (a->ops->retry)
        a->ops->retry(a->ud, &r);
    if (!a->dead)
        a->timer = a->l->time.wait(a->l->time.ud, wait_ms, begin, a);
}

/* 0.5, 1, 2, 4, 8 s, less up to a quarter by chance, so that many clients do not come back together. */
static uint64_t back_off(struct al_llm_ask *a)
{
    uint64_t ms = 500u << (a->n_retries < 4 ? a->n_retries : 4);
    uint32_t chance = a->l->time.random(a->l->time.ud);
    return ms - ms / 4 * (chance % 1001) / 1000;
}

/* Whether it can be asked again with what was learned from the refusal. A request that would be the same is
 * not. */
static bool learned(struct al_llm_ask *a, const struct al_llm_fault *f)
{
    char before[AL_SHA256_HEX];
    struct al_err err = {0};
    a->notice[0] = 0;
    if (al_llm_learn(a, f) && !a->dead) {
        memcpy(before, a->sha256, sizeof(before));
        if (build(a, &err) < 0 || strcmp(before, a->sha256) == 0)
            return false;
        al_llm_notice(a);
        return !a->dead;
    }
    al_llm_notice(a); /* of a window */
    return false;
}

static bool slept(struct al_llm_ask *a, const struct al_llm_fault *f)
{
    bool died =
        f->kind == AL_LLM_FAULT_CONNECT || f->kind == AL_LLM_FAULT_TIMEOUT || f->kind == AL_LLM_FAULT_CUT;
    return died && al_llm_slept_ms(a->l) >= a->slept_ms + AL_LLM_SLEEP_MS && a->n_wakes++ < MAX_WAKES;
}

static void failed(struct al_llm_ask *a, const struct al_llm_fault *fault)
{
    struct al_llm_fault f = *fault;
    if (learned(a, &f)) {
        again(a, &f, 0);
    } else if (a->dead) {
        return;
    } else if (slept(a, &f)) {
        again(a, &f, 0);
    } else if (f.retry && a->n_retries < MAX_RETRIES && f.retry_after_ms <= MAX_WAIT_MS) {
        uint64_t wait = back_off(a), asked = f.retry_after_ms > 0 ? (uint64_t)f.retry_after_ms : 0;
        a->n_retries++;
        again(a, &f, wait > asked ? wait : asked);
    } else {
        end(a, NULL, &f);
    }
}

static void answered(struct al_llm_ask *a, const struct al_llm_reader *reader)
{
    struct al_err err = {0};
    struct al_llm_answer r = {.end = reader->end, .usage = reader->usage, .attempts = a->n_attempts};
    if (al_llm_reader_message(reader, &a->round, &r.message, &err) < 0) {
        struct al_llm_fault f = {
            .kind = AL_LLM_FAULT_MALFORMED, .retry_after_ms = -1, .retry = true, .answered = true};
        al_llm_fault_say(&f, al_str_of(err.msg), a->l->key);
        a->attempt = NULL;
        failed(a, &f);
        return;
    }
    r.message.role = AL_LLM_ASSISTANT;
    r.message.from = (struct al_llm_from){.provider = al_str_of(a->l->provider.name),
                                          .base_url = al_str_of(a->l->provider.base_url),
                                          .model = al_str_of(a->l->model),
                                          .api = a->l->provider.api};
    snprintf(r.end_word, sizeof(r.end_word), "%s", reader->end_word);
    r.attempts_unknown = a->n_unknown;
    r.api_ms = a->l->time.mono_ms(a->l->time.ud) - a->started_ms;
    r.ttft_ms = al_llm_attempt_ttft(a->attempt);
    snprintf(r.request_id, sizeof(r.request_id), "%s", al_llm_attempt_request_id(a->attempt));
    memcpy(r.sha256, a->sha256, sizeof(r.sha256));
    end(a, &r, NULL);
}

static void on_attempt(void *ud, const struct al_llm_reader *reader, const struct al_llm_fault *fault)
{
    struct al_llm_ask *a = ud;
    enter(a);
    a->discarded = reader->told_chars;
    if (!fault) {
        answered(a, reader);
    } else {
        a->attempt = NULL; /* it ends by itself */
        failed(a, fault);
    }
    leave(a);
}

struct al_llm_ask *al_llm_ask(struct al_llm *l, const struct al_llm_request *r, const struct al_llm_ops *ops,
                              void *ud)
{
    struct al_llm_ask *a = al_xcalloc(1, sizeof(*a));
    a->l = l;
    a->ops = ops;
    a->ud = ud;
    al_arena_init(&a->memory, MAX_MEMORY);
    al_arena_init(&a->round, MAX_MEMORY);
    al_buf_init(&a->body, MAX_BODY);
    if (al_llm_request_copy(&a->memory, r, &a->request, &a->refused) == 0)
        a->refused.code = AL_OK;
    a->timer = l->time.wait(l->time.ud, 0, begin, a);
    return a;
}
