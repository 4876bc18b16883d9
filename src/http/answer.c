/* What libcurl gives us of an exchange: the head, line by line, and the body. */
#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "http/client_int.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

/* "Name: value" to name 0 value 0. What is no header field is left out; so is a folded line. */
static void keep_header(struct al_http *h, struct al_str line)
{
    const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;
    if (!colon || colon == line.p || line.p[0] == ' ' || line.p[0] == '\t' || memchr(line.p, 0, line.n))
        return;
    struct al_str name = {line.p, (size_t)(colon - line.p)};
    struct al_str value = al_str_trim((struct al_str){colon + 1, line.n - name.n - 1});
    al_buf_add_str(&h->head, name);
    al_buf_addc(&h->head, 0);
    al_buf_add_str(&h->head, value);
    al_buf_addc(&h->head, 0);
}

const char *al_http_header(const struct al_http *h, const char *name)
{
    const char *p = h->head.p, *end = p + h->head.n;
    while (p && p < end) {
        const char *value = p + strlen(p) + 1;
        if (strcasecmp(p, name) == 0)
            return value;
        p = value + strlen(value) + 1;
    }
    return NULL;
}

static char *lower(struct al_str s)
{
    char *z = al_xdup(s.p, s.n);
    for (char *p = z; *p; p++)
        *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
    return z;
}

static char *find_charset(const char *parameters)
{
    for (const char *p = parameters; (p = strchr(p, ';'));) {
        p++;
        p += strspn(p, " \t");
        if (strncasecmp(p, "charset=", 8) != 0)
            continue;
        p += 8;
        bool quoted = *p == '"';
        p += quoted;
        return lower((struct al_str){p, strcspn(p, quoted ? "\"" : "; \t\"")});
    }
    return al_xstrdup("");
}

static void read_content_type(struct al_http *h)
{
    const char *value = al_http_header(h, "content-type");
    if (!value)
        value = "";
    free(h->content_type);
    free(h->charset);
    h->content_type = lower(al_str_trim((struct al_str){value, strcspn(value, ";")}));
    h->charset = find_charset(value);
}

/* What one line says of how the answer is packed. libcurl unpacks what all of these lines together name,
 * those of an interim answer and of a transfer coding included: so are they counted. */
static void note_packing(struct al_http *h, struct al_str line)
{
    static const char *const plain[] = {"", "identity", "chunked"}, *const one[] = {"gzip", "x-gzip",
                                                                                    "deflate"};
    size_t name = line.n ? (size_t)((const char *)memchr(line.p, ':', line.n) - line.p) : 0;
    bool content = name == 16 && strncasecmp(line.p, "content-encoding", name) == 0;
    bool transfer = name == 17 && strncasecmp(line.p, "transfer-encoding", name) == 0;
    if (!content && !transfer)
        return;
    autofree char *value = lower(al_str_trim((struct al_str){line.p + name + 1, line.n - name - 1}));
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
        if (strcmp(value, plain[i]) == 0)
            return;
    h->n_packings++;
    for (size_t i = 0; content && i < sizeof(one) / sizeof(*one); i++)
        if (strcmp(value, one[i]) == 0)
            return;
    h->packed_oddly = true;
}

/* Only what was asked for: a kind of packing that grows more, or one within another, would pass the bound on
 * what one read can become in memory. */
static int check_encoding(struct al_http *h)
{
    if (h->n_packings <= 1 && !h->packed_oddly)
        return 0;
    al_fail(&h->err, AL_UPSTREAM_UNAVAILABLE, "%s has packed its answer in a way that was not asked for",
            h->host);
    return -1;
}

static bool end_of_head(struct al_http *h)
{
    h->head_done = true;
    read_content_type(h);
    if (check_encoding(h) < 0)
        return false;
    if (h->max_redirects && al_http_is_redirect(h)) {
        h->follow = true;
        return true;
    }
    if (h->ops && h->ops->head) {
        struct al_http_head head = {
            .status = h->status, .url = h->url_text, .content_type = h->content_type, .charset = h->charset};
        h->ops->head(h->ud, &head);
    }
    return h->ops != NULL;
}

/* False ends the exchange. */
static bool header_line(struct al_http *h, struct al_str line)
{
    h->head_bytes += line.n;
    h->last_byte_ms = al_mono_ms();
    if (h->head_bytes > AL_HTTP_MAX_HEAD) {
        al_fail(&h->err, AL_RESULT_TOO_LARGE, "the head of the answer of %s is over 64 KiB", h->host);
        return false;
    }
    if (h->head_done)
        return true; /* trailers */
    while (line.n && (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == '\r'))
        line.n--;
    if (al_str_starts(line, "HTTP/")) {
        al_buf_clear(&h->head);
        const char *space = memchr(line.p, ' ', line.n);
        int64_t status = 0;
        if (space && line.p + line.n - space >= 4)
            al_parse_int((struct al_str){space + 1, 3}, 100, 999, &status);
        h->status = (int)status;
        return true;
    }
    if (line.n) {
        keep_header(h, line);
        if (memchr(line.p, ':', line.n))
            note_packing(h, line);
        return true;
    }
    return h->status / 100 == 1 || end_of_head(h); /* after 1xx another head comes */
}

size_t al_http_on_header(char *p, size_t size, size_t n, void *ud)
{
    struct al_http *h = ud;
    return h->ops && header_line(h, (struct al_str){p, size * n}) ? size * n : 0;
}

size_t al_http_on_body(char *p, size_t size, size_t n, void *ud)
{
    struct al_http *h = ud;
    if (!h->ops)
        return 0;
    h->last_byte_ms = al_mono_ms();
    if (h->follow) {
        h->leftover += size * n;
        return h->leftover > AL_HTTP_MAX_LEFTOVER ? 0 : size * n;
    }
    if (h->paused) {
        h->held = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    /* A few bytes can unpack to many: the other work of this process has its turn between. */
    if (h->turn != h->client->turn)
        h->turn_bytes = 0;
    h->turn = h->client->turn;
    if (h->turn_bytes >= AL_HTTP_MAX_TURN) {
        h->held = h->tired = true;
        al_http_kick(h->client);
        return CURL_WRITEFUNC_PAUSE;
    }
    h->turn_bytes += size * n;
    if (h->ops->body && !h->ops->body(h->ud, (struct al_str){p, size * n})) {
        h->enough = true;
        return 0;
    }
    return h->ops ? size * n : 0;
}
