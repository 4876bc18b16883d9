#include "llm/request_int.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#define DEFAULT_MAX_OUTPUT 16384
#define CACHE_KEY_MAX 64

bool al_llm_sends(const struct al_llm_wire *w, enum al_llm_field f)
{
    return !w->facts || !(w->facts->without >> f & 1);
}

bool al_llm_host_is(const struct al_provider *p, const char *host)
{
    const char *at = p->base_url ? strstr(p->base_url, "://") : NULL;
    if (!at)
        return false;
    at += 3;
    size_t n = strcspn(at, ":/?#");
    return n == strlen(host) && strncasecmp(at, host, n) == 0;
}

bool al_llm_wants_reasoning(const struct al_llm_wire *w)
{
    if (w->facts && w->facts->wants_reasoning)
        return true;
    return strcmp(w->provider->name ? w->provider->name : "", "deepseek") == 0 ||
           al_llm_host_is(w->provider, "api.deepseek.com") ||
           al_llm_host_is(w->provider, "api.moonshot.ai") || al_llm_host_is(w->provider, "api.moonshot.cn");
}

bool al_llm_wants_details(const struct al_llm_wire *w)
{
    return (w->facts && w->facts->wants_reasoning) || al_llm_host_is(w->provider, "openrouter.ai");
}

static int64_t smaller(int64_t a, int64_t b)
{
    return b > 0 && b < a ? b : a;
}

int64_t al_llm_max_output(const struct al_provider *p, const char *model, const struct al_llm_facts *facts)
{
    const struct al_model_entry *m = model ? al_provider_model(p, model) : NULL;
    if (m && m->max_output_tokens > 0)
        return m->max_output_tokens;
    if (p->max_output_tokens > 0)
        return p->max_output_tokens;
    /* Small windows belong to local servers, which refuse what could not fit behind the input. */
    int64_t window = m && m->context_window > 0 ? m->context_window : p->context_window;
    int64_t tokens = smaller(DEFAULT_MAX_OUTPUT, window / 4);
    if (facts) {
        tokens = smaller(tokens, facts->window / 4);
        tokens = smaller(tokens, facts->max_output);
    }
    return tokens;
}

int64_t al_llm_wire_max_output(const struct al_llm_wire *w)
{
    if (w->request->max_output_tokens <= 0)
        return al_llm_max_output(w->provider, w->model, w->facts);
    return smaller(w->request->max_output_tokens, w->facts ? w->facts->max_output : 0);
}

void al_llm_put_temperature(const struct al_llm_wire *w, struct al_jw *j)
{
    int64_t t = w->provider->temperature;
    char text[32];
    if (t < 0 || !al_llm_sends(w, AL_LLM_TEMPERATURE))
        return;
    int n = snprintf(text, sizeof text, "%" PRId64 ".%02" PRId64, t / 100, t % 100);
    while (text[n - 1] == '0')
        n--;
    if (text[n - 1] == '.')
        n--;
    al_jw_kraw(j, "temperature", (struct al_str){text, (size_t)n});
}

void al_llm_put_cache_key(const struct al_llm_wire *w, struct al_jw *j)
{
    struct al_str key = w->request->cache_key;
    if (key.n && al_llm_sends(w, AL_LLM_CACHE_KEY) && al_llm_host_is(w->provider, "api.openai.com"))
        al_jw_kstr(j, "prompt_cache_key", al_utf8_cut(key, CACHE_KEY_MAX));
}

void al_llm_put_clean(struct al_jw *j, const char *key, struct al_str text)
{
    if (!text.n || !memchr(text.p, 0, text.n)) {
        al_jw_kstr(j, key, text);
        return;
    }
    autobuf struct al_buf clean = AL_BUF_INIT(text.n * 3);
    for (size_t i = 0; i < text.n; i++)
        al_buf_add(&clean, text.p[i] ? &text.p[i] : "\xef\xbf\xbd", text.p[i] ? 1 : 3);
    al_jw_kstr(j, key, al_buf_str(&clean));
}

void al_llm_body(const struct al_llm_wire *w, struct al_buf *out)
{
    static void (*const write[AL_N_APIS])(const struct al_llm_wire *, struct al_buf *) = {
        [AL_API_CHAT] = al_llm_body_chat,
        [AL_API_RESPONSES] = al_llm_body_responses,
        [AL_API_MESSAGES] = al_llm_body_messages,
    };
    write[w->provider->api](w, out);
}

static bool by_bearer(const struct al_llm_wire *w)
{
    switch (w->provider->auth) {
    case AL_AUTH_BEARER:
        return true;
    case AL_AUTH_X_API_KEY:
    case AL_AUTH_NONE:
        return false;
    case AL_AUTH_DEFAULT:
        break;
    }
    /* A token of an account, in its maker's form, is no API key. */
    return w->provider->api != AL_API_MESSAGES || al_str_starts(al_str_of(w->key), "sk-ant-oat");
}

/* A key that would begin another header is none: al_key_find refuses it with words. */
static bool key_ok(const char *key)
{
    if (!key || !*key)
        return false;
    for (const char *c = key; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return false;
    return true;
}

const char *const *al_llm_headers(const struct al_llm_wire *w, struct al_arena *a)
{
    const struct al_provider *p = w->provider;
    size_t n = 0, further = 0;
    while (p->headers && p->headers[further])
        further++;
    const char **list = al_arena_alloc(a, (further + 5) * sizeof *list);
    if (!list)
        return NULL;
    list[n++] = "Content-Type: application/json";
    list[n++] = "Accept: text/event-stream, application/json";
    if (p->auth != AL_AUTH_NONE && key_ok(w->key))
        list[n++] = al_arena_printf(a, by_bearer(w) ? "Authorization: Bearer %s" : "x-api-key: %s", w->key);
    if (p->api == AL_API_MESSAGES)
        list[n++] = al_arena_printf(a, "anthropic-version: %s",
                                    p->anthropic_version && *p->anthropic_version ? p->anthropic_version
                                                                                  : "2023-06-01");
    for (size_t i = 0; i < further; i++)
        list[n++] = p->headers[i];
    return list;
}
