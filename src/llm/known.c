/*
 * Windows of models whose endpoints do not tell them: lower bounds of families, so that an answer is not
 * worse than asking. An overflow teaches what is smaller, and the configuration says what is larger.
 */
#include "llm/llm.h"

struct family {
    const char *begins; /* of the model's id; the first that fits */
    int64_t window;
};

static const struct family openai[] = {
    {"gpt-3.5", 16385},      {"gpt-4o", 128000},       {"gpt-4.", 1000000},
    {"gpt-4-turbo", 128000}, {"gpt-4-1", 128000},      {"gpt-4", 8192},
    {"gpt-5-chat", 128000},  {"gpt-5.1-chat", 128000}, {"gpt-5", 272000}, /* of input */
    {"o1-mini", 128000},     {"o1-preview", 128000},   {"o1", 200000},
    {"o3", 200000},          {"o4", 200000},           {"", 128000},
};
static const struct family deepseek[] = {{"", 128000}};

static int64_t find(const struct family *f, struct al_str model)
{
    while (!al_str_starts(model, f->begins))
        f++;
    return f->window;
}

static bool is_host(const struct al_provider *p, const char *url)
{
    struct al_str base = al_str_of(p->base_url);
    size_t n = strlen(url);
    return al_str_starts(base, url) && (base.n == n || base.p[n] == '/');
}

int64_t al_llm_known_window(const struct al_provider *p, const char *model)
{
    if (is_host(p, "https://api.openai.com"))
        return find(openai, al_str_of(model));
    return is_host(p, "https://api.deepseek.com") ? find(deepseek, al_str_of(model)) : 0;
}
