/* What a refusal teaches: a field that this model does not take, a limit that it names, reasoning that it
 * will not read. */
#include "base/text.h"
#include "llm/ask_int.h"

#include <stdarg.h>
#include <stdio.h>

/* Kinds of notices, each given once a process: the fields' own, then these. */
enum {
    NOTICE_REASONING = AL_LLM_N_FIELDS,
    NOTICE_WANTS,
    NOTICE_WINDOW,
    NOTICE_OUTPUT
};

/* What the person is to be told, when it was of use. */
static void __attribute__((format(printf, 3, 4)))
notice(struct al_llm_ask *a, unsigned kind, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(a->notice, sizeof(a->notice), fmt, args);
    va_end(args);
    a->notice_kind = kind;
}

void al_llm_notice(struct al_llm_ask *a)
{
    struct al_str text = al_str_of(a->notice);
    if (text.n && !a->dead && !(a->l->noticed & 1u << a->notice_kind)) {
        a->l->noticed |= 1u << a->notice_kind;
        if (a->ops->notice)
            a->ops->notice(a->ud, al_utf8_cut(text, text.n));
    }
    a->notice[0] = 0;
}

static void tell(struct al_llm_ask *a)
{
    if (!a->dead && a->ops->learned)
        a->ops->learned(a->ud, &a->l->facts);
}

static bool learn_output(struct al_llm_ask *a, const struct al_llm_fault *f)
{
    int64_t n = al_llm_fault_max_output(f), *known = &a->l->facts.max_output;
    if (!n || (*known && n >= *known))
        return false;
    *known = n;
    tell(a);
    notice(a, NOTICE_OUTPUT, "%s writes at most %lld tokens in one answer: asked for that many from now on",
           a->l->model, (long long)n);
    return true;
}

static bool learn_field(struct al_llm_ask *a, const struct al_llm_fault *f)
{
    int field = al_llm_fault_about_field(f, al_buf_str(&a->body));
    if (field < 0)
        return false;
    if (!(a->l->facts.without & 1u << field)) {
        a->l->facts.without |= 1u << field;
        tell(a);
    }
    bool renamed = field == AL_LLM_MAX_TOKENS || field == AL_LLM_MAX_COMPLETION;
    enum al_llm_field other = field == AL_LLM_MAX_TOKENS ? AL_LLM_MAX_COMPLETION : AL_LLM_MAX_TOKENS;
    if (renamed && !(a->l->facts.without & 1u << other))
        notice(a, (unsigned)field, "%s does not take %s: it gets %s from now on", a->l->model,
               al_llm_field_name((enum al_llm_field)field), al_llm_field_name(other));
    else
        notice(a, (unsigned)field, "%s does not take %s: it is left out from now on", a->l->model,
               al_llm_field_name((enum al_llm_field)field));
    return true;
}

static bool has_reasoning(const struct al_llm_request *r)
{
    for (size_t i = 0; i < r->n_messages; i++)
        for (size_t k = 0; k < r->messages[i].n_parts; k++)
            if (r->messages[i].parts[k].kind == AL_LLM_REASONING)
                return true;
    return false;
}

static bool learn_reasoning(struct al_llm_ask *a, const struct al_llm_fault *f)
{
    struct al_llm *l = a->l;
    if (!l->facts.wants_reasoning && al_llm_fault_wants_reasoning(f)) {
        l->facts.wants_reasoning = true;
        tell(a);
        notice(a, NOTICE_WANTS, "%s wants its reasoning back while it calls tools: it gets it from now on",
               l->model);
        return true;
    }
    if (!al_llm_fault_about_reasoning(f) || !has_reasoning(&a->request))
        return false;
    al_llm_forget_reasoning(l);
    notice(a, NOTICE_REASONING,
           "%s does not accept the reasoning of earlier turns (%s): it is sent no more in this session",
           l->provider.name, f->message);
    return true;
}

/* The window for good; what to do about it is for whoever knows the conversation. */
static void learn_window(struct al_llm_ask *a, const struct al_llm_fault *f)
{
    int64_t *known = &a->l->facts.window;
    if (!f->window || (*known && f->window >= *known))
        return;
    *known = f->window;
    tell(a);
    notice(a, NOTICE_WINDOW, "the context window of %s at %s is %lld tokens", a->l->model,
           a->l->provider.name, (long long)f->window);
}

bool al_llm_learn(struct al_llm_ask *a, const struct al_llm_fault *f)
{
    if (f->kind == AL_LLM_FAULT_OVERFLOW) {
        learn_window(a, f);
        return false;
    }
    if (f->kind != AL_LLM_FAULT_REJECTED)
        return false;
    return learn_output(a, f) || learn_field(a, f) || learn_reasoning(a, f);
}
