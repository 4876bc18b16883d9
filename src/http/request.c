/* One request from its start to its end, over all its hops. */
#include "base/ident.h"
#include "base/mem.h"
#include "http/client_int.h"

#include <arpa/inet.h>
#include <stdio.h>

#define CONNECT_MS 10000

static void link_in(struct al_http *h)
{
    struct al_http_client *c = h->client;
    h->next = c->first;
    if (h->next)
        h->next->prev = h;
    c->first = h;
}

static void unlink_from(struct al_http *h)
{
    if (h->prev)
        h->prev->next = h->next;
    else
        h->client->first = h->next;
    if (h->next)
        h->next->prev = h->prev;
}

void al_http_free(struct al_http *h)
{
    al_http_hop_stop(h);
    al_http_hop_forget(h);
    al_timer_stop(h->total);
    al_timer_stop(h->idle);
    unlink_from(h);
    if (h->url)
        h->client->lib->url_cleanup(h->url);
    for (char **p = h->headers; p && *p; p++)
        free(*p);
    free(h->headers);
    free(h->method);
    free((char *)h->body.p);
    free(h);
}

/* done, once and last. */
static void finish(struct al_http *h)
{
    h->sent = al_http_sent(h);
    h->near = al_http_near(h);
    al_http_hop_stop(h);
    h->ended = true;
    if (h->ops)
        h->ops->done(h->ud, &h->err);
    al_http_free(h);
}

void al_http_fail_later(struct al_http *h)
{
    h->finish = true;
    al_http_kick(h->client);
}

static void begin(struct al_http *h)
{
    h->last_byte_ms = al_mono_ms();
    if (h->private_only && h->proxy) {
        al_fail(&h->err, AL_PERMISSION_DENIED, "%s would be reached through a proxy, in the clear", h->host);
        finish(h);
    } else if (h->public_only && h->proxy)
        al_http_lookup_start(h);
    else if (al_http_hop_start(h, &h->err) < 0)
        finish(h);
}

bool al_http_step(struct al_http *h)
{
    if (h->removed || h->ended)
        return false;
    if (h->finish) {
        finish(h);
    } else if (h->begin) {
        h->begin = false;
        begin(h);
    } else if (h->resume) {
        h->resume = h->held = false;
        h->last_byte_ms = al_mono_ms();
        if (h->easy)
            h->client->lib->easy_pause(h->easy, CURLPAUSE_CONT);
    } else {
        return false;
    }
    return true;
}

void al_http_complete(struct al_http *h, CURLcode code)
{
    if (h->removed || h->finish)
        return; /* ends by what is noted */
    if (h->err.code == AL_OK && h->follow) {
        al_http_hop_stop(h);
        if (al_http_redirect(h, &h->err) == 0) {
            begin(h);
            return;
        }
    } else if (h->err.code == AL_OK && !h->enough && (code != CURLE_OK || !h->head_done)) {
        al_http_why(h, code, &h->err);
    }
    finish(h);
}

bool al_http_sent(const struct al_http *h)
{
    long bytes = 0;
    if (h->easy)
        h->client->lib->easy_getinfo(h->easy, CURLINFO_REQUEST_SIZE, &bytes);
    return h->easy ? bytes > 0 || h->n_begun > 1 : h->sent;
}

static bool peer_is_near(const struct al_http *h)
{
    char *ip = NULL;
    struct sockaddr_storage address = {0};
    struct sockaddr_in *in = (struct sockaddr_in *)&address;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address;
    if (h->proxy || h->client->lib->easy_getinfo(h->easy, CURLINFO_PRIMARY_IP, &ip) != CURLE_OK || !ip)
        return false;
    if (inet_pton(AF_INET, ip, &in->sin_addr) == 1)
        address.ss_family = AF_INET;
    else if (inet_pton(AF_INET6, ip, &in6->sin6_addr) == 1)
        address.ss_family = AF_INET6;
    else
        return false;
    return !h->client->is_public((struct sockaddr *)&address);
}

bool al_http_near(const struct al_http *h)
{
    return h->easy ? peer_is_near(h) : h->near;
}

static void end_from_timer(struct al_http *h)
{
    struct al_http_client *c = h->client;
    al_http_enter(c);
    if (!h->removed)
        finish(h);
    al_http_leave(c);
}

static void on_total(void *ud)
{
    struct al_http *h = ud;
    h->total = NULL;
    if (h->head_done && !h->follow)
        al_fail(&h->err, AL_TIMEOUT, "the answer of %s was not complete within %.3g s", h->host,
                (double)h->total_ms / 1000);
    else
        al_fail(&h->err, AL_TIMEOUT, "%s gave no answer within %.3g s", h->host, (double)h->total_ms / 1000);
    end_from_timer(h);
}

static void on_idle(void *ud)
{
    struct al_http *h = ud;
    uint64_t quiet = h->paused ? 0 : al_mono_ms() - h->last_byte_ms;
    h->idle = NULL;
    if (quiet < h->idle_ms) {
        h->idle = al_timer_start(h->client->loop, h->idle_ms - quiet, on_idle, h);
        return;
    }
    al_fail(&h->err, AL_TIMEOUT, "%s sent nothing for %.3g s", h->host, (double)h->idle_ms / 1000);
    end_from_timer(h);
}

static bool is_token(struct al_str s)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!alnum && !(c && strchr(others, c)))
            return false;
    }
    return s.n > 0;
}

static int take_headers(struct al_http *h, const char *const *headers, struct al_err *err)
{
    size_t n = 0;
    while (headers && headers[n])
        n++;
    h->headers = al_xcalloc(n + 1, sizeof(*h->headers));
    for (size_t i = 0; i < n; i++) {
        const char *z = headers[i];
        struct al_str name = {z, strcspn(z, ":")};
        if (!z[name.n] || !is_token(name))
            return al_fail(err, AL_INVALID_INPUT, "a header must read \"Name: value\"");
        for (const char *p = z; *p; p++)
            if (((unsigned char)*p < ' ' && *p != '\t') || *p == 0x7f)
                return al_fail(err, AL_INVALID_INPUT, "the header %.*s has a control character in it",
                               AL_FMT(name));
        h->headers[i] = al_xstrdup(z);
    }
    return 0;
}

static int take_url(struct al_http *h, const char *url, struct al_err *err)
{
    const struct al_curl *lib = h->client->lib;
    h->url = lib->url();
    bool fits = url && strlen(url) <= AL_HTTP_MAX_URL;
    if (!fits ||
        lib->url_set(h->url, CURLUPART_URL, url, CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
        al_fail(err, AL_INVALID_INPUT, "not a URL of http:// or https://");
        return al_hint(err, "write it whole, as https://example.org/page");
    }
    if (al_http_hop_prepare(h, err) < 0)
        return al_hint(err, "write it whole, as https://example.org/page");
    return 0;
}

struct al_http *al_http_start(struct al_http_client *c, const struct al_http_request *r,
                              const struct al_http_ops *ops, void *ud, struct al_err *err)
{
    if (al_http_client_ready(c, err) < 0)
        return NULL;
    struct al_http *h = al_xcalloc(1, sizeof(*h));
    h->client = c;
    al_buf_init(&h->head, AL_HTTP_MAX_HEAD);
    h->method = al_xstrdup(r->method ? r->method : r->body.n ? "POST" : "GET");
    h->body = (struct al_str){r->body.n ? al_xdup(r->body.p, r->body.n) : NULL, r->body.n};
    h->connect_ms = r->connect_ms ? r->connect_ms : CONNECT_MS;
    h->total_ms = r->total_ms;
    h->idle_ms = r->idle_ms;
    h->max_redirects = r->max_redirects;
    h->public_only = r->public_only;
    h->private_only = r->private_only;
    h->once = r->once;
    h->same_origin = r->same_origin;
    link_in(h);
    if (!is_token(al_str_of(h->method))) {
        al_fail(err, AL_INVALID_INPUT, "not a method of HTTP");
        al_http_free(h);
        return NULL;
    }
    if (take_headers(h, r->headers, err) < 0 || take_url(h, r->url, err) < 0) {
        al_http_free(h);
        return NULL;
    }
    h->ops = ops;
    h->ud = ud;
    h->begin = true;
    h->last_byte_ms = al_mono_ms();
    if (h->total_ms)
        h->total = al_timer_start(c->loop, h->total_ms, on_total, h);
    if (h->idle_ms)
        h->idle = al_timer_start(c->loop, h->idle_ms, on_idle, h);
    al_http_kick(c);
    return h;
}

void al_http_cancel(struct al_http *h)
{
    if (!h)
        return;
    h->ops = NULL;
    if (h->ended)
        return; /* in its own done: it goes after that */
    struct al_http_client *c = h->client;
    al_http_enter(c);
    h->removed = true;
    al_http_leave(c);
}

void al_http_pause(struct al_http *h, bool pause)
{
    h->paused = pause;
    h->resume = !pause && h->held;
    if (h->resume)
        al_http_kick(h->client);
}
