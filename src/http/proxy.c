/*
 * Which proxy the environment names: http_proxy (lower case alone: a CGI program's clients can set
 * HTTP_PROXY), https_proxy, all_proxy, and no_proxy with names, suffixes, addresses and address/bits. Read by
 * us and not by libcurl, since it decides what public_only can check.
 */
#include "base/mem.h"
#include "base/text.h"
#include "http/client_int.h"

#include <arpa/inet.h>
#include <strings.h>

static const char *variable(const char *a, const char *b)
{
    const char *v = a ? getenv(a) : NULL;
    if (!v || !*v)
        v = b ? getenv(b) : NULL;
    return v && *v ? v : NULL;
}

static bool parse_address(struct al_str text, uint8_t out[16], unsigned *ret_bytes)
{
    char z[64];
    if (text.n >= 2 && text.p[0] == '[' && text.p[text.n - 1] == ']')
        text = (struct al_str){text.p + 1, text.n - 2};
    if (!text.n || text.n >= sizeof(z))
        return false;
    memcpy(z, text.p, text.n);
    z[text.n] = 0;
    *ret_bytes = inet_pton(AF_INET, z, out) == 1 ? 4 : inet_pton(AF_INET6, z, out) == 1 ? 16 : 0;
    return *ret_bytes > 0;
}

static bool address_within(const uint8_t *address, unsigned bytes, struct al_str rule)
{
    const char *slash = rule.n ? memchr(rule.p, '/', rule.n) : NULL;
    int64_t bits = bytes * 8;
    if (slash) {
        struct al_str text = {slash + 1, (size_t)(rule.p + rule.n - slash - 1)};
        if (!al_parse_int(text, 0, bits, &bits))
            return false;
        rule.n = (size_t)(slash - rule.p);
    }
    uint8_t net[16];
    unsigned net_bytes;
    if (!parse_address(rule, net, &net_bytes) || net_bytes != bytes)
        return false;
    for (unsigned i = 0; i < (unsigned)bits; i++)
        if ((address[i / 8] ^ net[i / 8]) >> (7 - i % 8) & 1)
            return false;
    return true;
}

static bool name_within(struct al_str host, struct al_str rule)
{
    while (rule.n && (rule.p[0] == '.' || rule.p[0] == '*'))
        rule = (struct al_str){rule.p + 1, rule.n - 1};
    if (rule.n && rule.p[rule.n - 1] == '.')
        rule.n--;
    if (!rule.n || rule.n > host.n || strncasecmp(host.p + host.n - rule.n, rule.p, rule.n) != 0)
        return false;
    return rule.n == host.n || host.p[host.n - rule.n - 1] == '.';
}

/* A rule may name a port: it is of that port alone. */
static bool port_fits(struct al_str *rule, const char *port)
{
    size_t colons = 0, at = 0;
    for (size_t i = 0; i < rule->n; i++)
        if (rule->p[i] == ':') {
            colons++;
            at = i;
        }
    bool bracket = at && rule->p[at - 1] == ']';
    if (colons != 1 && !bracket)
        return true;
    struct al_str text = {rule->p + at + 1, rule->n - at - 1};
    rule->n = at;
    return al_str_is(text, port);
}

static bool excepted(const char *rules, const char *host, const char *port)
{
    struct al_str name = al_str_of(host);
    if (name.n && name.p[name.n - 1] == '.')
        name.n--;
    uint8_t address[16];
    unsigned bytes;
    bool is_address = parse_address(name, address, &bytes);
    for (const char *p = rules; *p;) {
        size_t n = strcspn(p, ", \t");
        struct al_str rule = {p, n};
        p += n;
        p += strspn(p, ", \t");
        if (al_str_is(rule, "*"))
            return true;
        if (!rule.n || !port_fits(&rule, port))
            continue;
        if (is_address ? address_within(address, bytes, rule) : name_within(name, rule))
            return true;
    }
    return false;
}

static bool is_loopback(const char *host)
{
    struct al_str name = al_str_of(host);
    uint8_t address[16];
    unsigned bytes;
    if (parse_address(name, address, &bytes)) {
        static const uint8_t one[16] = {[15] = 1};
        return bytes == 4 ? address[0] == 127 : memcmp(address, one, 16) == 0;
    }
    return name_within(name, AL_STR("localhost"));
}

char *al_http_proxy_for(const char *scheme, const char *host, const char *port)
{
    if (is_loopback(host))
        return NULL;
    const char *proxy =
        strcmp(scheme, "https") == 0 ? variable("https_proxy", "HTTPS_PROXY") : variable("http_proxy", NULL);
    if (!proxy)
        proxy = variable("all_proxy", "ALL_PROXY");
    if (!proxy)
        return NULL;
    const char *rules = variable("no_proxy", "NO_PROXY");
    return rules && excepted(rules, host, port) ? NULL : al_xstrdup(proxy);
}
