/* What a refused request (400, 422) is about: what the next attempt leaves out, renames or lowers. */
#include "llm/fault_int.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

/* Under which names a field of ours is complained about. quoted: the word is one of plain English, too. */
static const struct {
    enum al_llm_field field;
    const char *name;
    const char *in_body; /* how it stands in our request */
    bool quoted;
} fields[] = {
    {AL_LLM_STREAM_OPTIONS, "stream_options", "\"stream_options\"", false},
    {AL_LLM_MAX_TOKENS, "max_tokens", "\"max_tokens\"", false},
    {AL_LLM_MAX_TOKENS, "max_output_tokens", "\"max_output_tokens\"", false},
    {AL_LLM_MAX_COMPLETION, "max_completion_tokens", "\"max_completion_tokens\"", false},
    {AL_LLM_STRICT, "strict", "\"strict\"", true},
    {AL_LLM_PARALLEL, "parallel_tool_calls", "\"parallel_tool_calls\"", false},
    {AL_LLM_EFFORT, "reasoning_effort", "\"reasoning_effort\"", false},
    {AL_LLM_EFFORT, "effort", "\"effort\"", true},
    {AL_LLM_EFFORT, "output_config", "\"output_config\"", false},
    {AL_LLM_EFFORT, "reasoning", "\"reasoning\":{", true},
    {AL_LLM_EFFORT, "thinking", "\"thinking\":{", true},
    {AL_LLM_TEMPERATURE, "temperature", "\"temperature\"", false},
    {AL_LLM_STORE, "store", "\"store\"", true},
    {AL_LLM_INCLUDE, "include", "\"include\"", true},
    {AL_LLM_CACHE_KEY, "prompt_cache_key", "\"prompt_cache_key\"", false},
    {AL_LLM_CACHE_CONTROL, "cache_control", "\"cache_control\"", false},
};

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The name as a whole word; with quoted, only in quotes, or as a path: "store: Extra inputs",
 * "tools.0.strict". */
static ptrdiff_t find_name(struct al_str s, const char *name, bool quoted)
{
    size_t n = strlen(name);
    for (size_t i = 0; i + n <= s.n; i++) {
        if (strncasecmp(s.p + i, name, n) != 0 || (i && is_name_byte(s.p[i - 1])) ||
            (i + n < s.n && is_name_byte(s.p[i + n])))
            continue;
        char front = i ? s.p[i - 1] : 0, back = i + n < s.n ? s.p[i + n] : 0;
        bool path = (i == 0 && (back == ':' || back == '.' || back == '[')) || front == '.';
        if (!quoted || path || front == '\'' || front == '"' || front == '`')
            return (ptrdiff_t)i;
    }
    return -1;
}

/* A path that a validator gives: "stream_options.include_usage", "tools[0].function.strict". What is a word
 * of the history, too, counts only at the front. */
static bool in_path(struct al_str path, const char *name, bool front)
{
    size_t n = strlen(name);
    for (size_t i = 0; i + n <= path.n && (i == 0 || !front); i++)
        if (strncasecmp(path.p + i, name, n) == 0 && (!i || !is_name_byte(path.p[i - 1])) &&
            (i + n == path.n || !is_name_byte(path.p[i + n])))
            return true;
    return false;
}

static bool refuses(struct al_str m)
{
    static const char *const words[] = {"unsupported",     "not supported",
                                        "not support",     "unrecognized",
                                        "unrecognised",    "unknown",
                                        "unexpected",      "extra input",
                                        "extra field",     "extra_forbidden",
                                        "not permitted",   "not allowed",
                                        "not accept",      "deprecated",
                                        "no longer",       "cannot be used",
                                        "can not be used", "additional propert",
                                        "not available",   "invalid",
                                        "not valid",       "not implemented",
                                        "not enabled",     "is not one of",
                                        "must be",         NULL};
    for (const char *const *w = words; *w; w++)
        if (al_llm_says(m, *w))
            return true;
    return false;
}

static bool sent(struct al_str body, const char *what)
{
    return !body.n || al_str_find(body, al_str_of(what)) >= 0;
}

static bool is_refusal(const struct al_llm_fault *f)
{
    return f->kind == AL_LLM_FAULT_REJECTED && (f->status == 0 || f->status == 400 || f->status == 422);
}

/* Words about what was thought in earlier turns, not about how to think in this one. */
static bool says_reasoning(struct al_str m)
{
    static const char *const words[] = {
        "signature",         "thinking` block",   "thinking block",          "redacted_thinking",
        "encrypted content", "encrypted_content", "of type 'reasoning'",     "'reasoning' item",
        "reasoning item",    "reasoning_content", "required following item", "reasoning_details"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (al_llm_says(m, words[i]))
            return true;
    return false;
}

int al_llm_fault_about_field(const struct al_llm_fault *f, struct al_str body)
{
    struct al_str path = al_str_of(f->field), m = al_str_of(f->message);
    if (!is_refusal(f))
        return -1;
    for (size_t i = 0; path.n && i < sizeof(fields) / sizeof(*fields); i++)
        if (in_path(path, fields[i].name, fields[i].quoted && fields[i].field != AL_LLM_STRICT) &&
            sent(body, fields[i].in_body))
            return (int)fields[i].field;
    if (al_llm_says(m, "developer") && (al_llm_says(m, "role") || in_path(path, "role", false)) &&
        sent(body, "\"developer\""))
        return AL_LLM_DEVELOPER;
    if (!refuses(m) || says_reasoning(m))
        return -1;
    int found = -1;
    ptrdiff_t first = -1;
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        ptrdiff_t at = find_name(m, fields[i].name, fields[i].quoted);
        if (at >= 0 && (first < 0 || at < first) && sent(body, fields[i].in_body)) {
            first = at;
            found = (int)fields[i].field;
        }
    }
    /* "adaptive thinking is not supported on this model": as a sentence says it. */
    bool sentence = al_llm_says(m, "not support") || al_llm_says(m, "unsupported");
    if (found < 0 && sentence &&
        ((al_llm_says(m, "thinking") && sent(body, "\"thinking\":{")) ||
         (al_llm_says(m, "effort") && sent(body, "effort\""))))
        found = AL_LLM_EFFORT;
    return found;
}

static bool wants(struct al_str m)
{
    static const char *const words[] = {"passed back",      "missing",      "required", "must be provided",
                                        "must be included", "must contain", NULL};
    for (const char *const *w = words; *w; w++)
        if (al_llm_says(m, *w))
            return true;
    return false;
}

bool al_llm_fault_wants_reasoning(const struct al_llm_fault *f)
{
    struct al_str m = al_str_of(f->message);
    return is_refusal(f) && al_llm_says(m, "reasoning_content") && wants(m);
}

bool al_llm_fault_about_reasoning(const struct al_llm_fault *f)
{
    struct al_str m = al_str_of(f->message);
    if (f->kind == AL_LLM_FAULT_REJECTED && f->status == 404)
        return al_llm_says(m, "item with id 'rs_");
    return is_refusal(f) && (strcasecmp(f->code, "invalid_encrypted_content") == 0 || says_reasoning(m));
}

int64_t al_llm_fault_max_output(const struct al_llm_fault *f)
{
    static const char *const before[] = {
        "supports at most", "less than or equal to",  "max_tokens is [1,", "max_tokens should be [1,",
        "at most",          "cannot be greater than", "must not exceed",   "cannot exceed"};
    struct al_str m = al_str_of(f->message);
    int64_t n = 0;
    bool about = al_llm_says(m, "max_tokens") || al_llm_says(m, "max_completion_tokens") ||
                 al_llm_says(m, "max_output_tokens") || al_llm_says(al_str_of(f->field), "max_");
    if (!is_refusal(f) || !about)
        return 0;
    ptrdiff_t at = al_llm_find_words(m, "which is the maximum allowed number of output tokens");
    ptrdiff_t gt = al_str_find(m, AL_STR("> "));
    if (at > 0 && gt >= 0 && gt < at &&
        al_llm_number_near((struct al_str){m.p + gt + 2, (size_t)(at - gt) - 2}, &n))
        return n;
    for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
        at = al_llm_find_words(m, before[i]);
        size_t skip = at < 0 ? 0 : (size_t)at + strlen(before[i]);
        if (at >= 0 && al_llm_number_near((struct al_str){m.p + skip, m.n - skip}, &n))
            return n;
    }
    return 0;
}
