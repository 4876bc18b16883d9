#include "config/providers_int.h"

#include "base/mem.h"
#include "base/text.h"

static const struct {
    const char *name;
    enum al_api api;
    const char *base_url, *key_env;
} presets[] = {
    {"openai", AL_API_RESPONSES, "https://api.openai.com/v1", "OPENAI_API_KEY"},
    {"anthropic", AL_API_MESSAGES, "https://api.anthropic.com", "ANTHROPIC_API_KEY"},
    {"openrouter", AL_API_CHAT, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
    {"deepseek", AL_API_CHAT, "https://api.deepseek.com", "DEEPSEEK_API_KEY"},
    {"ollama", AL_API_CHAT, "http://127.0.0.1:11434/v1", NULL},
    {"llamacpp", AL_API_CHAT, "http://127.0.0.1:8080/v1", NULL},
    {"vllm", AL_API_CHAT, "http://127.0.0.1:8000/v1", NULL},
    {"lmstudio", AL_API_CHAT, "http://127.0.0.1:1234/v1", NULL},
};
#define N_PRESETS (sizeof presets / sizeof *presets)

void al_provider_init(struct al_provider *p, struct al_str name, const char *origin)
{
    *p = (struct al_provider){
        .name = al_xdup(name.p, name.n), .origin = al_xstrdup(origin), .api = AL_API_CHAT, .temperature = -1};
}

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

void al_provider_fini(struct al_provider *p)
{
    free(p->name);
    free(p->base_url);
    free(p->model);
    free(p->key_env);
    free(p->anthropic_version);
    free_list(p->headers);
    free(p->reasoning_effort);
    for (size_t i = 0; i < p->n_models; i++)
        free(p->models[i].id);
    free(p->models);
    free(p->origin);
    *p = (struct al_provider){0};
}

void al_providers_free(struct al_providers *p)
{
    for (size_t i = 0; i < p->n; i++)
        al_provider_fini(&p->v[i]);
    free(p->v);
    *p = (struct al_providers){0};
}

const struct al_provider *al_providers_find(const struct al_providers *p, struct al_str name)
{
    for (size_t i = 0; i < p->n; i++)
        if (al_str_is(name, p->v[i].name))
            return &p->v[i];
    return NULL;
}

bool al_provider_preset(struct al_str name, struct al_provider *ret)
{
    for (size_t i = 0; i < N_PRESETS; i++) {
        if (!al_str_is(name, presets[i].name))
            continue;
        al_provider_init(ret, name, "built in");
        ret->api = presets[i].api;
        ret->base_url = al_xstrdup(presets[i].base_url);
        ret->key_env = presets[i].key_env ? al_xstrdup(presets[i].key_env) : NULL;
        ret->auth = presets[i].key_env ? AL_AUTH_DEFAULT : AL_AUTH_NONE;
        ret->preset = true;
        return true;
    }
    return false;
}

size_t al_provider_n_presets(void)
{
    return N_PRESETS;
}

const char *al_provider_preset_at(size_t i)
{
    return presets[i].name;
}

static char *dup_or_null(const char *z)
{
    return z ? al_xstrdup(z) : NULL;
}

static char **dup_list(char **list)
{
    size_t n = 0;
    if (!list)
        return NULL;
    while (list[n])
        n++;
    char **copy = al_xcalloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = al_xstrdup(list[i]);
    return copy;
}

void al_provider_copy(struct al_provider *to, const struct al_provider *from)
{
    struct al_provider p = *from;
    p.name = dup_or_null(from->name);
    p.base_url = dup_or_null(from->base_url);
    p.model = dup_or_null(from->model);
    p.key_env = dup_or_null(from->key_env);
    p.anthropic_version = dup_or_null(from->anthropic_version);
    p.headers = dup_list(from->headers);
    p.reasoning_effort = dup_or_null(from->reasoning_effort);
    p.origin = dup_or_null(from->origin);
    p.models = from->n_models ? al_xcalloc(from->n_models, sizeof *p.models) : NULL;
    for (size_t i = 0; i < from->n_models; i++) {
        p.models[i] = from->models[i];
        p.models[i].id = al_xstrdup(from->models[i].id);
    }
    *to = p;
}

const struct al_model_entry *al_provider_model(const struct al_provider *p, const char *model)
{
    for (size_t i = 0; model && i < p->n_models; i++)
        if (strcmp(p->models[i].id, model) == 0)
            return &p->models[i];
    return NULL;
}

struct al_price al_provider_price(const struct al_provider *p, const char *model)
{
    const struct al_model_entry *m = al_provider_model(p, model);
    return m ? m->price : AL_PRICE_NONE;
}

/* --- addresses --- */

const char *al_provider_url_fault(struct al_str url)
{
    size_t scheme = al_str_starts(url, "https://") ? 8 : al_str_starts(url, "http://") ? 7 : 0;
    if (url.n > AL_PROVIDER_MAX_URL)
        return "is longer than 2,048 bytes";
    if (!scheme)
        return "must begin with https:// or http://";
    for (size_t i = 0; i < url.n; i++) {
        unsigned char c = (unsigned char)url.p[i];
        if (c <= ' ' || c >= 0x7f || strchr("\\\"<>^`{|}", c))
            return "holds a character that no URL has";
    }
    size_t host = scheme;
    while (host < url.n && url.p[host] != '/' && url.p[host] != '?' && url.p[host] != '#')
        host++;
    if (host == scheme || url.p[scheme] == ':')
        return "names no host";
    if (memchr(url.p + scheme, '@', host - scheme))
        return "holds a user or a password; a key belongs into a variable or the credentials file";
    if (memchr(url.p, '?', url.n) || memchr(url.p, '#', url.n))
        return "holds a query or a fragment, which requests would lose";
    return NULL;
}

void al_provider_set_url(struct al_provider *p, struct al_str url)
{
    while (url.n && url.p[url.n - 1] == '/')
        url.n--;
    free(p->base_url);
    p->base_url = al_xdup(url.p, url.n);
}

/* Some makers' keys have the form of a name; pasted in its place one would be shown and written down. */
static bool seems_a_key(struct al_str s)
{
    static const char *const fronts[] = {"sk_", "gsk_", "hf_",  "ghp_", "github_pat_", "r8_",
                                         "fw_", "csk_", "AIza", "AKIA", "eyJ"};
    for (size_t i = 0; s.n >= 20 && i < sizeof fronts / sizeof *fronts; i++)
        if (al_str_starts(s, fronts[i]))
            return true;
    return false;
}

bool al_provider_env_name(struct al_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c != '_' && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') &&
            !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return s.n > 0 && s.n <= 128 && !seems_a_key(s);
}

const char *al_provider_name_fault(struct al_str name)
{
    if (name.n == 0)
        return "is empty";
    if (name.n > AL_PROVIDER_NAME_MAX)
        return "is longer than 64 characters";
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool alnum = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!alnum && (i == 0 || !strchr("._-", c) || !c))
            return "must have letters, digits, \".\", \"_\" and \"-\" alone, and begin with a letter or a "
                   "digit";
    }
    return NULL;
}
