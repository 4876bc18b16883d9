/* Where a conversation may be cut, and which of its results can go first. Pure. */
#include "agent/turn_int.h"

/* A border of turns: before a message of a user, or before an answer; never between a call and its result. */
static bool is_border(const struct al_llm_message *v, size_t n, size_t at)
{
    return at >= n || v[at].role != AL_LLM_RESULT;
}

static bool is_person(const struct al_llm_message *m)
{
    return m->role == AL_LLM_USER && m->by == AL_LLM_PERSON;
}

/* The index from which on the newest `keep` answers stand, with all that follows them. */
static size_t kept_from(const struct al_llm_message *v, size_t n, unsigned keep)
{
    size_t at = n;
    for (unsigned k = 0; k < keep && at > 0;) {
        at--;
        if (v[at].role == AL_LLM_ASSISTANT)
            k++;
    }
    while (at > 0 && !is_border(v, n, at))
        at--;
    return at;
}

bool al_compact_cut(const struct al_llm_message *v, size_t n, unsigned keep, struct al_cut *ret)
{
    size_t first = 0, end = kept_from(v, n, keep), prompt = n;
    /* What the repository says stands for the whole session. */
    while (first < end && v[first].role == AL_LLM_USER && v[first].by == AL_LLM_REPOSITORY)
        first++;
    for (size_t i = 0; i < n; i++)
        if (is_person(&v[i]))
            prompt = i;
    *ret = (struct al_cut){0};
    if (prompt >= end) {
        ret->before_first = first;
        ret->before_last = end;
    } else {
        ret->before_first = first;
        ret->before_last = prompt > first ? prompt : first;
        ret->after_first = prompt + 1;
        ret->after_last = end;
    }
    size_t n_cut = ret->before_last - ret->before_first + ret->after_last - ret->after_first, n_summaries = 0;
    for (size_t i = first; i < end; i++)
        n_summaries += v[i].role == AL_LLM_USER && v[i].by == AL_LLM_SUMMARY;
    return n_cut > n_summaries; /* a summary of summaries alone saves nothing */
}

size_t al_compact_reducible(const struct al_llm_message *v, size_t n, unsigned keep)
{
    return kept_from(v, n, keep);
}
