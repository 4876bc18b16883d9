/* What kind of fault an error is: its status, then its type and code, then its words. */
#include "llm/fault_int.h"

#include <strings.h>

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

ptrdiff_t al_llm_find_words(struct al_str s, const char *words)
{
    size_t n = strlen(words);
    for (size_t i = 0; i + n <= s.n; i++) {
        size_t k = 0;
        while (k < n && lower(s.p[i + k]) == lower(words[k]))
            k++;
        if (k == n)
            return (ptrdiff_t)i;
    }
    return -1;
}

bool al_llm_says(struct al_str text, const char *words)
{
    return al_llm_find_words(text, words) >= 0;
}

static bool says_any(struct al_str text, const char *const *words)
{
    for (; *words; words++)
        if (al_llm_says(text, *words))
            return true;
    return false;
}

bool al_llm_status_retry(int status)
{
    return status == 408 || status == 409 || status == 425 || status == 429 || status == 500 ||
           (status >= 502 && status <= 504) || (status >= 520 && status <= 529);
}

/* Names of types and codes; "x_*" is a prefix. */
static const struct {
    const char *name;
    enum al_llm_fault_kind kind;
} names[] = {
    /* money: the makers' lists, and what others call it */
    {"insufficient_quota", AL_LLM_FAULT_QUOTA},
    {"credit_balance_exhausted", AL_LLM_FAULT_QUOTA},
    {"organization_spend_limit_exceeded", AL_LLM_FAULT_QUOTA},
    {"project_spend_limit_exceeded", AL_LLM_FAULT_QUOTA},
    {"organization_usage_limit_exceeded", AL_LLM_FAULT_QUOTA},
    {"contract_spend_limit_reached", AL_LLM_FAULT_QUOTA},
    {"enforced_spend_limit_reached", AL_LLM_FAULT_QUOTA},
    {"billing_error", AL_LLM_FAULT_QUOTA},
    {"billing_hard_limit_reached", AL_LLM_FAULT_QUOTA},
    {"billing_not_active", AL_LLM_FAULT_QUOTA},
    {"insufficient_balance", AL_LLM_FAULT_QUOTA},
    {"insufficient_credits", AL_LLM_FAULT_QUOTA},
    {"exceeded_current_quota_error", AL_LLM_FAULT_QUOTA},
    /* the window */
    {"context_length_exceeded", AL_LLM_FAULT_OVERFLOW},
    {"exceed_context_size_error", AL_LLM_FAULT_OVERFLOW},
    {"model_context_window_exceeded", AL_LLM_FAULT_OVERFLOW},
    {"request_too_large", AL_LLM_FAULT_OVERFLOW},
    /* come back later */
    {"rate_limit_error", AL_LLM_FAULT_RATE},
    {"rate_limit_exceeded", AL_LLM_FAULT_RATE},
    {"rate_limit_reached_error", AL_LLM_FAULT_RATE},
    {"ramp_limit_exceeded", AL_LLM_FAULT_RATE},
    {"too_many_requests", AL_LLM_FAULT_RATE},
    {"resource_exhausted", AL_LLM_FAULT_RATE},
    {"overloaded_error", AL_LLM_FAULT_OVERLOADED},
    {"engine_overloaded_error", AL_LLM_FAULT_OVERLOADED},
    {"overloaded", AL_LLM_FAULT_OVERLOADED},
    {"slow_down", AL_LLM_FAULT_OVERLOADED},
    {"server_is_overloaded", AL_LLM_FAULT_OVERLOADED},
    {"api_error", AL_LLM_FAULT_SERVER},
    {"server_error", AL_LLM_FAULT_SERVER},
    {"internal_error", AL_LLM_FAULT_SERVER},
    {"internal_server_error", AL_LLM_FAULT_SERVER},
    {"internalservererror", AL_LLM_FAULT_SERVER},
    {"service_unavailable", AL_LLM_FAULT_SERVER},
    {"unavailable_error", AL_LLM_FAULT_SERVER},
    {"timeout_error", AL_LLM_FAULT_SERVER},
    {"conflict_error", AL_LLM_FAULT_SERVER},
    /* who asks */
    {"authentication_error", AL_LLM_FAULT_AUTH},
    {"permission_error", AL_LLM_FAULT_AUTH},
    {"permission_denied", AL_LLM_FAULT_AUTH},
    {"invalid_api_key", AL_LLM_FAULT_AUTH},
    {"api_key_invalid", AL_LLM_FAULT_AUTH},
    {"invalid_authentication_error", AL_LLM_FAULT_AUTH},
    {"unauthenticated", AL_LLM_FAULT_AUTH},
    {"unauthorized", AL_LLM_FAULT_AUTH},
    {"account_deactivated", AL_LLM_FAULT_AUTH},
    /* what is asked */
    {"invalid_prompt", AL_LLM_FAULT_REJECTED},
    {"invalid_request_error", AL_LLM_FAULT_REJECTED},
    {"badrequesterror", AL_LLM_FAULT_REJECTED},
    {"invalid_argument", AL_LLM_FAULT_REJECTED},
    {"not_found_error", AL_LLM_FAULT_REJECTED},
    {"notfounderror", AL_LLM_FAULT_REJECTED},
    {"model_not_found", AL_LLM_FAULT_REJECTED},
    {"not_supported_error", AL_LLM_FAULT_REJECTED},
    {"unsupported_*", AL_LLM_FAULT_REJECTED},
    {"invalid_*", AL_LLM_FAULT_REJECTED},
    {"content_filter", AL_LLM_FAULT_REJECTED},
    {"content_policy_violation", AL_LLM_FAULT_REJECTED},
    {"bio_policy", AL_LLM_FAULT_REJECTED},
    {"cyber_policy", AL_LLM_FAULT_REJECTED},
    {"misalignment_policy_violation", AL_LLM_FAULT_REJECTED},
    {"image_*", AL_LLM_FAULT_REJECTED},
    {"tool_name_conflict", AL_LLM_FAULT_REJECTED},
    {"available_tools_limit_exceeded", AL_LLM_FAULT_REJECTED},
    {"request_body_*", AL_LLM_FAULT_REJECTED},
    {"compaction_*", AL_LLM_FAULT_REJECTED},
    {"thread_*", AL_LLM_FAULT_REJECTED},
};

static bool named(struct al_str name, enum al_llm_fault_kind *ret)
{
    for (size_t i = 0; name.n && i < sizeof(names) / sizeof(*names); i++) {
        size_t n = strlen(names[i].name);
        bool prefix = names[i].name[n - 1] == '*';
        n -= prefix;
        if ((prefix ? name.n >= n : name.n == n) && strncasecmp(name.p, names[i].name, n) == 0) {
            *ret = names[i].kind;
            return true;
        }
    }
    return false;
}

static enum al_llm_fault_kind of_status(int status)
{
    switch (status) {
    case 401:
    case 403:
        return AL_LLM_FAULT_AUTH;
    case 402:
        return AL_LLM_FAULT_QUOTA;
    case 413:
        return AL_LLM_FAULT_OVERFLOW;
    case 429:
        return AL_LLM_FAULT_RATE;
    case 529:
        return AL_LLM_FAULT_OVERLOADED;
    default:
        if (status == 408 || status == 409 || status == 425 || status >= 500)
            return AL_LLM_FAULT_SERVER;
        return status >= 300 && status < 400 ? AL_LLM_FAULT_REDIRECT : AL_LLM_FAULT_REJECTED;
    }
}

static bool says_money(struct al_str m)
{
    static const char *const words[] = {"credit balance is too low",
                                        "insufficient balance",
                                        "insufficient credit",
                                        "insufficient quota",
                                        "insufficient funds",
                                        "exceeded your current quota",
                                        "spending limit",
                                        "spend limit",
                                        "billing hard limit",
                                        "reached your specified api usage limits",
                                        "requires more credits",
                                        NULL};
    return says_any(m, words);
}

static bool says_key(struct al_str m)
{
    static const char *const words[] = {"incorrect api key",
                                        "invalid api key",
                                        "api key not valid",
                                        "invalid x-api-key",
                                        "no api key",
                                        "missing api key",
                                        NULL};
    return says_any(m, words);
}

static bool says_load(struct al_str m)
{
    static const char *const words[] = {"overloaded",    "slow down",      "at capacity",
                                        "over capacity", "server is busy", NULL};
    return says_any(m, words);
}

/* llama.cpp says of a request that it was not started for that it has a fault itself. */
static bool says_started_otherwise(struct al_str m)
{
    return al_llm_says(m, "requires --jinja") || al_llm_says(m, "does not support tools");
}

static bool may_be_overflow(int status)
{
    return status == 0 || status == 400 || status == 413 || status == 422 || status == 500;
}

static void decide_kind(struct al_llm_fault *f, int status)
{
    struct al_str message = al_str_of(f->message);
    enum al_llm_fault_kind by_code = AL_LLM_FAULT_SERVER, by_type = AL_LLM_FAULT_SERVER;
    bool code = named(al_str_of(f->code), &by_code), type = named(al_str_of(f->type), &by_type);
    int64_t window = 0;

    if (status)
        f->kind = of_status(status);
    else if (code || type) /* the code says more */
        f->kind = code ? by_code : by_type;
    else
        f->kind = AL_LLM_FAULT_SERVER;

    bool told_money = (code && by_code == AL_LLM_FAULT_QUOTA) || (type && by_type == AL_LLM_FAULT_QUOTA);
    bool may_be_money = status == 0 || status == 400 || status == 403 || status == 429;
    bool may_be_load = f->kind == AL_LLM_FAULT_SERVER && (status == 0 || status == 503 || status == 500);
    if (told_money || (may_be_money && says_money(message)))
        f->kind = AL_LLM_FAULT_QUOTA;
    else if (status == 500 && says_started_otherwise(message))
        f->kind = AL_LLM_FAULT_REJECTED;
    else if (may_be_overflow(status) && al_llm_is_overflow(f, &window))
        f->kind = AL_LLM_FAULT_OVERFLOW;
    else if ((status == 0 || status == 400) && f->kind == AL_LLM_FAULT_REJECTED &&
             ((code && by_code == AL_LLM_FAULT_AUTH) || says_key(message)))
        f->kind = AL_LLM_FAULT_AUTH;
    else if (f->kind == AL_LLM_FAULT_SERVER &&
             ((code && by_code == AL_LLM_FAULT_OVERLOADED) || (type && by_type == AL_LLM_FAULT_OVERLOADED) ||
              (may_be_load && says_load(message))))
        f->kind = AL_LLM_FAULT_OVERLOADED;
    if (f->kind == AL_LLM_FAULT_OVERFLOW && !f->window)
        f->window = window;
}

void al_llm_fault_class(struct al_llm_fault *f, const struct al_llm_words *w)
{
    bool in_stream = f->status < 300;
    int status = in_stream ? w->status : f->status;
    if (w->window >= 1)
        f->window = w->window;
    decide_kind(f, status);
    bool later =
        f->kind == AL_LLM_FAULT_RATE || f->kind == AL_LLM_FAULT_OVERLOADED || f->kind == AL_LLM_FAULT_SERVER;
    f->retry = later && (status == 0 || al_llm_status_retry(status));
    if (f->kind != AL_LLM_FAULT_OVERFLOW)
        f->window = 0;
}
