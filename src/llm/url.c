#include "llm/llm_int.h"

#include <strings.h>

/*
 * People write a base URL in every form that documents have: "https://host", "https://host/",
 * "https://host/v1", "https://host/v1/chat/completions". All of them mean the same, and none of them may end
 * in /v1/v1.
 */

struct place {
    struct al_str root;  /* scheme, host and the path before a version */
    struct al_str rest;  /* the version's part of the path: "/v1", "" */
    struct al_str query; /* with its question mark; "" */
};

static struct al_str without_slash(struct al_str s)
{
    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    return s;
}

static bool cut_end(struct al_str *s, const char *end)
{
    size_t n = strlen(end);
    if (s->n < n || strncasecmp(s->p + s->n - n, end, n) != 0)
        return false;
    s->n -= n;
    *s = without_slash(*s);
    return true;
}

/* Where the path begins: behind the host. */
static size_t host_end(struct al_str s)
{
    ptrdiff_t at = al_str_find(s, AL_STR("://"));
    size_t i = at < 0 ? 0 : (size_t)at + 3;
    while (i < s.n && s.p[i] != '/')
        i++;
    return i;
}

static struct place take_apart(const struct al_provider *p)
{
    struct place x = {{NULL, 0}, {"", 0}, {"", 0}};
    struct al_str s = al_str_trim(al_str_of(p->base_url ? p->base_url : ""));
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '#') {
            s.n = i;
            break;
        }
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '?') {
            x.query = (struct al_str){s.p + i, s.n - i};
            s.n = i;
            break;
        }
    s = without_slash(s);
    /* The whole address of a method, as examples show it. */
    if (!cut_end(&s, "/chat/completions") && !cut_end(&s, "/responses") && !cut_end(&s, "/messages"))
        cut_end(&s, "/models");
    x.root = s;
    if (cut_end(&x.root, "/v1"))
        x.rest = (struct al_str)AL_S("/v1");
    return x;
}

static bool is_host_alone(struct al_str s)
{
    return host_end(s) == s.n;
}

/*
 * A host alone is the root of a server, and the API lies under its /v1; DeepSeek's own documents have no
 * version in its address. Any other path is taken as it was written, but OpenRouter's, whose root people know
 * by two names.
 */
static void complete(struct place *x)
{
    if (x->rest.n)
        return;
    if (al_str_ends(x->root, "//openrouter.ai"))
        x->rest = (struct al_str)AL_S("/api/v1");
    else if (al_str_ends(x->root, "//openrouter.ai/api") ||
             (is_host_alone(x->root) && !al_str_ends(x->root, "//api.deepseek.com")))
        x->rest = (struct al_str)AL_S("/v1");
}

char *al_llm_url(const struct al_provider *p, const char *path)
{
    static const char *const methods[AL_N_APIS] = {
        [AL_API_CHAT] = "chat/completions",
        [AL_API_RESPONSES] = "responses",
        [AL_API_MESSAGES] = "messages",
    };
    struct place x = take_apart(p);
    autobuf struct al_buf out = AL_BUF_INIT(1 << 16);
    if (!path || !*path)
        path = methods[p->api];
    al_buf_add_str(&out, x.root);
    if (path[0] != '/') {
        complete(&x);
        if (p->api == AL_API_MESSAGES && !x.rest.n)
            x.rest = (struct al_str)AL_S("/v1");
        al_buf_add_str(&out, x.rest);
        al_buf_addc(&out, '/');
    }
    al_buf_adds(&out, path);
    al_buf_add_str(&out, x.query);
    return al_buf_take(&out);
}
