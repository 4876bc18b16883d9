#include "mcp/http_heads.h"

#include "base/text.h"

#include <stdio.h>
#include <strings.h>

/* --- media types --- */

/* The part of s before c, and s behind it. */
static struct al_str next_part(struct al_str *s, char c)
{
    const char *at = s->n ? memchr(s->p, c, s->n) : NULL;
    size_t n = at ? (size_t)(at - s->p) : s->n;
    struct al_str part = {s->p, n};
    n += at != NULL;
    *s = (struct al_str){s->p + n, s->n - n};
    return al_str_trim(part);
}

static bool is_word(struct al_str s, const char *word)
{
    return s.n == strlen(word) && (s.n == 0 || strncasecmp(s.p, word, s.n) == 0);
}

/* q=0 says: not this one. */
static bool is_refused(struct al_str parameters)
{
    while (parameters.n) {
        struct al_str p = next_part(&parameters, ';');
        if (p.n < 3 || (p.p[0] != 'q' && p.p[0] != 'Q') || p.p[1] != '=')
            continue;
        size_t i = 2;
        while (i < p.n && (p.p[i] == '0' || p.p[i] == '.'))
            i++;
        return i == p.n;
    }
    return false;
}

/* How closely a range of Accept names the type: 3 itself, 2 its family, 1 anything, 0 not at all. */
static int closeness(struct al_str range, const char *type)
{
    size_t family = strcspn(type, "/") + 1;
    if (is_word(range, type))
        return 3;
    if (range.n == family + 1 && range.p[family] == '*' && strncasecmp(range.p, type, family) == 0)
        return 2;
    return is_word(range, "*/*") ? 1 : 0;
}

bool al_mcp_http_accepts(const char *accept, const char *type)
{
    struct al_str rest = al_str_of(accept ? accept : "*/*");
    int best = 0;
    bool welcome = false;
    while (rest.n) {
        struct al_str parameters = next_part(&rest, ',');
        struct al_str range = next_part(&parameters, ';');
        int c = closeness(range, type);
        if (c > best) {
            best = c;
            welcome = !is_refused(parameters);
        }
    }
    return welcome;
}

bool al_mcp_http_is_json(const char *content_type)
{
    struct al_str rest = al_str_of(content_type);
    return is_word(next_part(&rest, ';'), "application/json");
}

/* --- where a request comes from --- */

static bool is_allowed(struct al_str name, const char *const *allowed)
{
    static const char *const own[] = {"localhost", "127.0.0.1", "[::1]", NULL};
    for (const char *const *p = own; *p; p++)
        if (is_word(name, *p))
            return true;
    for (const char *const *p = allowed; p && *p; p++)
        if (**p && is_word(name, *p))
            return true;
    return false;
}

static bool authority_ok(struct al_str s, const char *const *allowed)
{
    size_t n = 0;
    while (n < s.n && s.p[n] != ':' && s.p[n] != ']')
        n++;
    if (s.n && s.p[0] == '[') { /* an IPv6 address has its colons within brackets */
        const char *end = memchr(s.p, ']', s.n);
        n = end ? (size_t)(end - s.p) + 1 : s.n;
    }
    struct al_str port = {s.p + n, s.n - n};
    int64_t number;
    if (port.n &&
        (port.p[0] != ':' || !al_parse_int((struct al_str){port.p + 1, port.n - 1}, 0, 65535, &number)))
        return false;
    return is_allowed((struct al_str){s.p, n}, allowed);
}

bool al_mcp_http_host_ok(const char *host, const char *const *allowed)
{
    return host && authority_ok(al_str_trim(al_str_of(host)), allowed);
}

bool al_mcp_http_origin_ok(const char *origin, const char *const *allowed)
{
    struct al_str s = al_str_trim(al_str_of(origin));
    static const char *const schemes[] = {"http://", "https://", NULL};
    for (const char *const *p = schemes; *p; p++) {
        size_t n = strlen(*p);
        if (s.n > n && strncasecmp(s.p, *p, n) == 0)
            return authority_ok((struct al_str){s.p + n, s.n - n}, allowed);
    }
    return false;
}

bool al_mcp_http_bearer_ok(const char *authorization, const char *token)
{
    struct al_str s = al_str_trim(al_str_of(authorization));
    size_t n = strlen(token);
    if (s.n < 7 || strncasecmp(s.p, "Bearer ", 7) != 0 || n == 0)
        return false;
    s = al_str_trim((struct al_str){s.p + 7, s.n - 7});
    /* Every byte given is compared, whatever the ones before were: the time tells the length of the guess
     * alone. */
    unsigned differs = s.n != n;
    for (size_t i = 0; i < s.n; i++)
        differs |= (unsigned char)s.p[i] ^ (unsigned char)token[i % n];
    return differs == 0;
}

/* --- values --- */

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool base64(struct al_str s, struct al_buf *out)
{
    if (s.n % 4)
        return false;
    for (size_t i = 0; i < s.n; i += 4) {
        int pad = i + 4 < s.n ? 0 : (s.p[i + 3] == '=') + (s.p[i + 3] == '=' && s.p[i + 2] == '=');
        unsigned long bits = 0;
        for (int k = 0; k < 4; k++) {
            int d = k < 4 - pad ? base64_digit(s.p[i + (size_t)k]) : 0;
            if (d < 0)
                return false;
            bits = bits << 6 | (unsigned long)d;
        }
        const char bytes[3] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
        al_buf_add(out, bytes, (size_t)(3 - pad));
    }
    return !al_buf_failed(out);
}

bool al_mcp_http_decode(struct al_str value, struct al_buf *out)
{
    static const char head[] = "=?base64?", tail[] = "?=";
    struct al_str s = al_str_trim(value);
    if (s.n >= sizeof head - 1 + sizeof tail - 1 && al_str_starts(s, head) && al_str_ends(s, tail)) {
        s.p += sizeof head - 1;
        s.n -= sizeof head - 1 + sizeof tail - 1;
        return base64(s, out) && al_utf8_valid(al_buf_str(out));
    }
    for (size_t i = 0; i < s.n; i++)
        if ((s.p[i] < 0x20 || s.p[i] > 0x7e) && s.p[i] != '\t')
            return false;
    al_buf_add_str(out, s);
    return !al_buf_failed(out);
}

bool al_mcp_http_same(struct al_str decoded, const struct al_json *v)
{
    if (!v)
        return false;
    switch (v->type) {
    case AL_JSON_STRING:
        return al_str_eq(decoded, v->str);
    case AL_JSON_TRUE:
        return al_str_is(decoded, "true");
    case AL_JSON_FALSE:
        return al_str_is(decoded, "false");
    case AL_JSON_NUMBER: {
        int64_t a, b;
        autoarena struct al_arena arena = AL_ARENA_INIT(4096);
        const struct al_json *parsed;
        if (al_json_parse(&arena, decoded, &parsed, NULL) < 0 || parsed->type != AL_JSON_NUMBER)
            return false;
        return al_json_int(v, -(1LL << 53) + 1, (1LL << 53) - 1, &a) &&
               al_json_int(parsed, -(1LL << 53) + 1, (1LL << 53) - 1, &b) && a == b;
    }
    default:
        return false;
    }
}

/* --- ids of events --- */

void al_mcp_http_event_id(char out[AL_MCP_EVENT_ID_MAX], uint64_t stream, uint64_t event)
{
    snprintf(out, AL_MCP_EVENT_ID_MAX, "%llu-%llu", (unsigned long long)stream, (unsigned long long)event);
}

bool al_mcp_http_read_event_id(struct al_str text, uint64_t *ret_stream, uint64_t *ret_event)
{
    struct al_str s = al_str_trim(text);
    const char *at = s.n ? memchr(s.p, '-', s.n) : NULL;
    int64_t stream, event;
    if (!at || !al_parse_int((struct al_str){s.p, (size_t)(at - s.p)}, 0, INT64_MAX, &stream) ||
        !al_parse_int((struct al_str){at + 1, s.n - (size_t)(at - s.p) - 1}, 0, INT64_MAX, &event))
        return false;
    *ret_stream = (uint64_t)stream;
    *ret_event = (uint64_t)event;
    return true;
}
