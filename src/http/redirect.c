/* Redirects, followed by us and not by libcurl: headers of ours stay with the origin that they were meant
 * for. */
#include "base/mem.h"
#include "base/text.h"
#include "http/client_int.h"

#include <strings.h>

bool al_http_is_redirect(const struct al_http *h)
{
    bool status =
        h->status == 301 || h->status == 302 || h->status == 303 || h->status == 307 || h->status == 308;
    return status && al_http_header(h, "location");
}

static bool header_is(const char *header, const char *name)
{
    size_t n = strlen(name);
    return strncasecmp(header, name, n) == 0 && header[n] == ':';
}

static void drop_headers(struct al_http *h, bool (*keep)(const char *header))
{
    size_t n = 0;
    for (char **p = h->headers; *p; p++) {
        if (keep(*p))
            h->headers[n++] = *p;
        else
            free(*p);
    }
    h->headers[n] = NULL;
}

static bool of_no_content(const char *header)
{
    return strncasecmp(header, "content-", 8) != 0;
}

/* What says how to talk, and nothing of who we are. */
static bool fit_for_strangers(const char *header)
{
    return header_is(header, "accept") || header_is(header, "content-type");
}

/* As browsers do: 303 always, and 301 and 302 to a POST, are asked for anew by GET. */
static void become_get(struct al_http *h)
{
    bool head = strcmp(h->method, "HEAD") == 0;
    bool post = strcmp(h->method, "POST") == 0;
    if (!((h->status == 303 && !head) || ((h->status == 301 || h->status == 302) && post)))
        return;
    free(h->method);
    h->method = al_xstrdup("GET");
    free((char *)h->body.p);
    h->body = (struct al_str){NULL, 0};
    drop_headers(h, of_no_content);
}

static bool next_url(struct al_http *h)
{
    const struct al_curl *lib = h->client->lib;
    const char *location = al_http_header(h, "location");
    if (strlen(location) > AL_HTTP_MAX_URL)
        return false;
    if (lib->url_set(h->url, CURLUPART_URL, location, CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME) !=
        CURLUE_OK)
        return false;
    /* Whoever answered may not choose whom we claim to be. */
    lib->url_set(h->url, CURLUPART_USER, NULL, 0);
    lib->url_set(h->url, CURLUPART_PASSWORD, NULL, 0);
    return true;
}

static int refuse_away(const struct al_http *h, const char *from, struct al_err *err)
{
    autobuf struct al_buf to = AL_BUF_INIT(4096);
    al_text_visible(&to, al_utf8_cut(al_str_of(h->host), 253), false);
    al_fail(err, AL_UPSTREAM_UNAVAILABLE,
            "%s redirects to %s://%.*s:%s, another place, which gets nothing of this", from, h->scheme,
            AL_FMT(al_buf_str(&to)), h->port);
    return al_hint(err, "if that is where it is now, write that address instead");
}

int al_http_redirect(struct al_http *h, struct al_err *err)
{
    if (++h->n_redirects > h->max_redirects)
        return al_fail(err, AL_UPSTREAM_UNAVAILABLE, "%s redirects on and on: gave up after %u", h->host,
                       h->max_redirects);
    autofree char *scheme = al_xstrdup(h->scheme), *host = al_xstrdup(h->host), *port = al_xstrdup(h->port);
    if (!next_url(h))
        return al_fail(err, AL_UPSTREAM_UNAVAILABLE, "%s redirects to what is no URL", host);
    become_get(h);
    al_http_hop_forget(h);
    if (al_http_hop_prepare(h, err) < 0)
        return al_fail(err, AL_UPSTREAM_UNAVAILABLE, "%s redirects to something else than http and https",
                       host);
    if (strcmp(scheme, h->scheme) == 0 && strcasecmp(host, h->host) == 0 && strcmp(port, h->port) == 0)
        return 0;
    if (h->same_origin)
        return refuse_away(h, host, err);
    drop_headers(h, fit_for_strangers);
    return 0;
}
