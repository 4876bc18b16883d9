#include "llm/llm.h"

const char *al_llm_end_name(enum al_llm_end e)
{
    static const char *const names[] = {
        [AL_LLM_END_TURN] = "stop",
        [AL_LLM_END_LENGTH] = "length",
        [AL_LLM_END_WINDOW] = "context_window",
        [AL_LLM_END_FILTER] = "content_filter",
        [AL_LLM_END_REFUSAL] = "refusal",
        [AL_LLM_END_PAUSE] = "pause",
    };
    return names[e];
}

const char *al_llm_fault_name(enum al_llm_fault_kind k)
{
    static const char *const names[] = {
        [AL_LLM_FAULT_CONNECT] = "connection",
        [AL_LLM_FAULT_TIMEOUT] = "timeout",
        [AL_LLM_FAULT_CUT] = "cut",
        [AL_LLM_FAULT_MALFORMED] = "malformed",
        [AL_LLM_FAULT_TOO_LARGE] = "too_large",
        [AL_LLM_FAULT_OVERLOADED] = "overloaded",
        [AL_LLM_FAULT_RATE] = "rate_limit",
        [AL_LLM_FAULT_SERVER] = "server_error",
        [AL_LLM_FAULT_QUOTA] = "quota",
        [AL_LLM_FAULT_AUTH] = "authentication",
        [AL_LLM_FAULT_OVERFLOW] = "context_overflow",
        [AL_LLM_FAULT_REJECTED] = "rejected",
        [AL_LLM_FAULT_REDIRECT] = "redirect",
        [AL_LLM_FAULT_TLS] = "tls",
        [AL_LLM_FAULT_LOCAL] = "local",
        [AL_LLM_FAULT_CANCELLED] = "cancelled",
    };
    return names[k];
}

const char *al_llm_field_name(enum al_llm_field f)
{
    static const char *const names[AL_LLM_N_FIELDS] = {
        [AL_LLM_STREAM_OPTIONS] = "stream_options",
        [AL_LLM_MAX_TOKENS] = "max_tokens",
        [AL_LLM_MAX_COMPLETION] = "max_completion_tokens",
        [AL_LLM_STRICT] = "strict",
        [AL_LLM_PARALLEL] = "parallel_tool_calls",
        [AL_LLM_EFFORT] = "reasoning_effort",
        [AL_LLM_TEMPERATURE] = "temperature",
        [AL_LLM_STORE] = "store",
        [AL_LLM_INCLUDE] = "include",
        [AL_LLM_CACHE_KEY] = "prompt_cache_key",
        [AL_LLM_DEVELOPER] = "developer",
        [AL_LLM_CACHE_CONTROL] = "cache_control",
    };
    return names[f];
}
