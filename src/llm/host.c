/* Where an endpoint is: whether a key may go there in the clear, and whether its silence is that of a busy
 * neighbour. */
#include "llm/llm_int.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>

void al_llm_host(const char *url, char out[AL_LLM_HOST_MAX])
{
    struct al_str s = al_str_of(url);
    ptrdiff_t slashes = al_str_find(s, AL_STR("://"));
    size_t at = slashes < 0 ? 0 : (size_t)slashes + 3, end = at;
    for (; end < s.n && s.p[end] != '/' && s.p[end] != '?' && s.p[end] != '#'; end++)
        if (s.p[end] == '@')
            at = end + 1;
    struct al_str host = {s.p + at, end - at};
    const char *close = host.n && host.p[0] == '[' ? memchr(host.p, ']', host.n) : NULL;
    if (close) {
        host = (struct al_str){host.p + 1, (size_t)(close - host.p) - 1};
    } else {
        const char *colon = host.n ? memchr(host.p, ':', host.n) : NULL;
        host.n = colon ? (size_t)(colon - host.p) : host.n;
    }
    host.n = host.n < AL_LLM_HOST_MAX ? host.n : AL_LLM_HOST_MAX - 1;
    memcpy(out, host.n ? host.p : "", host.n);
    out[host.n] = 0;
}

void al_llm_show_url(struct al_str url, struct al_buf *out)
{
    ptrdiff_t slashes = al_str_find(url, AL_STR("//"));
    size_t host = slashes < 0 ? 0 : (size_t)slashes + 2, at = host, end = host;
    while (slashes >= 0 && end < url.n && !strchr("/?#", url.p[end]))
        if (url.p[end++] == '@')
            at = end;
    size_t stop = at;
    while (stop < url.n && url.p[stop] != '?' && url.p[stop] != '#')
        stop++;
    al_buf_add(out, url.p, host);
    al_buf_add(out, url.p + at, stop - at);
}

enum al_llm_place al_llm_place(const char *host)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    struct al_str name = al_str_of(host);
    if (inet_pton(AF_INET, host, &in.sin_addr) == 1)
        return al_http_address_public((struct sockaddr *)&in) ? AL_LLM_FAR : AL_LLM_HERE;
    if (inet_pton(AF_INET6, host, &in6.sin6_addr) == 1)
        return al_http_address_public((struct sockaddr *)&in6) ? AL_LLM_FAR : AL_LLM_HERE;
    if (name.n && name.p[name.n - 1] == '.')
        name.n--;
    bool local = name.n >= 9 && strncasecmp(name.p + name.n - 9, "localhost", 9) == 0 &&
                 (name.n == 9 || name.p[name.n - 10] == '.');
    return local ? AL_LLM_HERE : AL_LLM_A_NAME;
}

int al_llm_guard(const struct al_llm *l, const char *url, struct al_http_request *r, struct al_err *err)
{
    char host[AL_LLM_HOST_MAX];
    al_llm_host(url, host);
    bool in_clear = strncasecmp(url, "https:", 6) != 0;
    if (!in_clear || !l->key || l->provider.insecure)
        return 0;
    enum al_llm_place place = al_llm_place(host);
    r->private_only = place == AL_LLM_A_NAME;
    if (place != AL_LLM_FAR)
        return 0;
    al_fail(err, AL_PERMISSION_DENIED,
            "the key of %s would go over http:// to %s, readable by everyone between", l->provider.name,
            host);
    return al_hint(err, "write https:// in its base URL, or set providers.%s.insecure to true",
                   l->provider.name);
}

bool al_llm_is_here(const struct al_provider *p)
{
    char host[AL_LLM_HOST_MAX];
    al_llm_host(p->base_url, host);
    return al_llm_place(host) == AL_LLM_HERE;
}
