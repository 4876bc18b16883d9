/* Whether an error says that the context window is full, and how large it says that the window is. */
#include "base/text.h"
#include "llm/fault_int.h"

#include <ctype.h>
#include <strings.h>

/* Who says less than this is not believed: a number that is no window would end every conversation. */
#define MAX_WINDOW 100000000

/* What a refusal that is about the window says. */
static const char *const phrases[] = {
    "context length",
    "context window",
    "maximum context",
    "context size", /* llama.cpp: exceeds the available context size */
    "context limit",
    "context overflow",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "too many tokens",
    "maximum model length", /* vLLM: longer than the maximum model length of */
    "maximum prompt length",
    "max_model_len",
    "exceeds the maximum number of tokens",
    "model token limit",
    "range of input length",
    "max_new_tokens` must be",
    "exceed max context",
    "reduce the length of the messages",
};

/* Where the window's number stands, behind these words; the first that is there counts. */
static const char *const before_number[] = {
    "loaded with context length of only",
    "maximum context length is",
    "maximum context length of",
    "maximum model length of",
    "available context size",
    "model's context length",
    "maximum prompt length is",
    "maximum number of tokens allowed",
    "model token limit:",
    "exceeded max context length of",
    "context length of",
    "context length is",
    "context window of",
    "context window is",
    "context window size",
    "context size of",
    "context limit of",
    "max_new_tokens` must be <=",
    "prompt cannot exceed",
    "max_model_len",
    "n_ctx",
    "range of input length should be [1,",
};

/* A number of tokens at the front of s: digits, also in groups of three. Bytes used; 0: there is none, or it
 * goes on as something else ("128k", "8192.5"). */
static size_t number_at(struct al_str s, int64_t *ret)
{
    char digits[16];
    size_t i = 0, n = 0;
    while (i < s.n && n < sizeof(digits)) {
        if (isdigit((unsigned char)s.p[i]))
            digits[n++] = s.p[i];
        else if (!((s.p[i] == ',' || s.p[i] == '_') && n && i + 3 < s.n &&
                   isdigit((unsigned char)s.p[i + 1]) && isdigit((unsigned char)s.p[i + 2]) &&
                   isdigit((unsigned char)s.p[i + 3])))
            break;
        i++;
    }
    bool ends = i >= s.n || !isalnum((unsigned char)s.p[i]);
    return n && ends && al_parse_int((struct al_str){digits, n}, AL_LLM_MIN_WINDOW, MAX_WINDOW, ret) ? i : 0;
}

/* The first number within a few words of the front. */
bool al_llm_number_near(struct al_str s, int64_t *ret)
{
    for (size_t i = 0; i < s.n && i < 24; i++) {
        if (isdigit((unsigned char)s.p[i]))
            return number_at((struct al_str){s.p + i, s.n - i}, ret) > 0;
        if (s.p[i] == '.' || s.p[i] == ';' || s.p[i] == '>' || s.p[i] == '<')
            return false;
    }
    return false;
}

/* "210000 tokens > 200000 maximum", "188240 + 21333 > 200000". */
static bool number_behind_greater(struct al_str s, int64_t *ret)
{
    const char *gt = s.n ? memchr(s.p, '>', s.n) : NULL;
    if (!gt)
        return false;
    struct al_str rest = al_str_trim((struct al_str){gt + 1, s.n - (size_t)(gt + 1 - s.p)});
    return number_at(rest, ret) > 0;
}

/* "Prompt contains 40000 tokens, too large for model with 32768 maximum context length". */
static bool number_in_front_of(struct al_str s, const char *words, int64_t *ret)
{
    ptrdiff_t at = al_llm_find_words(s, words);
    size_t end = at < 0 ? 0 : (size_t)at, begin = end;
    while (begin && (isdigit((unsigned char)s.p[begin - 1]) || s.p[begin - 1] == ','))
        begin--;
    return at > 0 && number_at((struct al_str){s.p + begin, end - begin}, ret) > 0;
}

static bool find_window(struct al_str m, int64_t *ret)
{
    for (size_t i = 0; i < sizeof(before_number) / sizeof(*before_number); i++) {
        ptrdiff_t at = al_llm_find_words(m, before_number[i]);
        size_t skip = at < 0 ? 0 : (size_t)at + strlen(before_number[i]);
        if (at >= 0 && al_llm_number_near((struct al_str){m.p + skip, m.n - skip}, ret))
            return true;
    }
    return number_in_front_of(m, " maximum context length", ret) || number_behind_greater(m, ret);
}

/* "max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens": a limit, but not this
 * one. */
static bool is_about_output(struct al_str m)
{
    return al_llm_says(m, "number of output tokens") || al_llm_says(m, "completion tokens, whereas");
}

/* An error with a code of its own is about something else, whatever text it repeats. */
static bool is_about_else(const struct al_llm_fault *f)
{
    static const char *const codes[] = {"unsupported_parameter",
                                        "unsupported_value",
                                        "unknown_parameter",
                                        "invalid_api_key",
                                        "model_not_found",
                                        "invalid_encrypted_content",
                                        "missing_required_parameter",
                                        "invalid_type",
                                        "invalid_image_url",
                                        "content_policy_violation",
                                        "invalid_prompt"};
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
        if (strcasecmp(f->code, codes[i]) == 0)
            return true;
    return false;
}

bool al_llm_is_overflow(const struct al_llm_fault *f, int64_t *ret_window)
{
    static const char *const names[] = {"context_length_exceeded", "exceed_context_size_error",
                                        "model_context_window_exceeded", "request_too_large"};
    struct al_str m = al_str_of(f->message);
    bool is = f->status == 413;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        is = is || strcasecmp(f->code, names[i]) == 0 || strcasecmp(f->type, names[i]) == 0;
    for (size_t i = 0;
         !is && !is_about_else(f) && !is_about_output(m) && i < sizeof(phrases) / sizeof(*phrases); i++)
        is = al_llm_says(m, phrases[i]);
    int64_t window = f->window;
    if (is && !window && f->status != 413)
        find_window(m, &window);
    *ret_window = is && window >= AL_LLM_MIN_WINDOW && window <= MAX_WINDOW ? window : 0;
    return is;
}
