/* One exchange with one server: what libcurl is told. */
#include "base/mem.h"
#include "http/client_int.h"

#include <netdb.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>

static char *url_part(const struct al_http *h, CURLUPart part, unsigned flags)
{
    const struct al_curl *lib = h->client->lib;
    char *text = NULL;
    if (lib->url_get(h->url, part, &text, flags) != CURLUE_OK)
        return NULL;
    char *copy = al_xstrdup(text);
    lib->free(text);
    return copy;
}

static char *text_without_secrets(const struct al_http *h)
{
    const struct al_curl *lib = h->client->lib;
    CURLU *copy = lib->url_dup(h->url);
    char *text = NULL;
    lib->url_set(copy, CURLUPART_USER, NULL, 0);
    lib->url_set(copy, CURLUPART_PASSWORD, NULL, 0);
    lib->url_get(copy, CURLUPART_URL, &text, 0);
    char *ret = al_xstrdup(text);
    lib->free(text);
    lib->url_cleanup(copy);
    return ret;
}

int al_http_hop_prepare(struct al_http *h, struct al_err *err)
{
    h->scheme = url_part(h, CURLUPART_SCHEME, 0);
    h->host = url_part(h, CURLUPART_HOST, CURLU_PUNYCODE);
    if (!h->host)
        h->host = url_part(h, CURLUPART_HOST, 0);
    h->port = url_part(h, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    h->url_text = text_without_secrets(h);
    bool web = h->scheme && (strcmp(h->scheme, "http") == 0 || strcmp(h->scheme, "https") == 0);
    if (!web || !h->host || !*h->host || !h->port)
        return al_fail(err, AL_INVALID_INPUT, "not a URL of http:// or https://");
    h->proxy = al_http_proxy_for(h->scheme, h->host, h->port);
    return 0;
}

void al_http_hop_forget(struct al_http *h)
{
    char **texts[] = {&h->scheme, &h->host, &h->port, &h->url_text, &h->proxy, &h->content_type, &h->charset};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        free(*texts[i]);
        *texts[i] = NULL;
    }
    al_buf_free(&h->head);
    h->head_bytes = h->leftover = 0;
    h->n_packings = 0;
    h->packed_oddly = h->tired = false;
    h->status = 0;
    h->head_done = h->follow = h->held = h->resume = false;
    h->denied[0] = 0;
}

/* Every socket to outside comes from here, so each address that is tried is seen, whatever name led to it. */
static curl_socket_t on_open(void *ud, curlsocktype purpose, struct curl_sockaddr *a)
{
    (void)purpose;
    struct al_http *h = ud;
    if (h->public_only && !h->proxy && !h->client->is_public(&a->addr)) {
        if (getnameinfo(&a->addr, a->addrlen, h->denied, sizeof(h->denied), NULL, 0, NI_NUMERICHOST) != 0)
            snprintf(h->denied, sizeof(h->denied), "an odd address");
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

static void add_to_list(struct al_http *h, const char *line)
{
    struct curl_slist *list = h->client->lib->slist_append(h->list, line);
    if (list)
        h->list = list;
}

static void list_headers(struct al_http *h)
{
    bool has_type = false;
    for (char **p = h->headers; *p; p++) {
        size_t name = strcspn(*p, ":");
        has_type = has_type || (name == 12 && strncasecmp(*p, "content-type", 12) == 0);
        if ((*p)[name + 1 + strspn(*p + name + 1, " \t")]) {
            add_to_list(h, *p);
            continue;
        }
        autofree char *empty = al_xstrdup(*p); /* libcurl's way to write one without a value */
        empty[name] = ';';
        empty[name + 1] = 0;
        add_to_list(h, empty);
    }
    if (!has_type)
        add_to_list(h, "Content-Type:");
    add_to_list(h, "Expect:");
}

/* Where a library that others have built looks for certificates differs; the variables that people set are
 * the same. */
static CURLcode set_authorities(struct al_http *h)
{
    const struct al_curl *lib = h->client->lib;
    const char *file = getenv("SSL_CERT_FILE"), *dir = getenv("SSL_CERT_DIR");
    if (!file || !*file)
        file = getenv("CURL_CA_BUNDLE");
    CURLcode r = CURLE_OK;
    if (file && *file)
        r = lib->easy_setopt(h->easy, CURLOPT_CAINFO, file);
    if (r == CURLE_OK && dir && *dir && !strchr(dir, ':'))
        r = lib->easy_setopt(h->easy, CURLOPT_CAPATH, dir);
    return r;
}

static CURLcode set_method(struct al_http *h)
{
    const struct al_curl *lib = h->client->lib;
    CURLcode r = CURLE_OK;
    if (strcmp(h->method, "HEAD") == 0)
        return lib->easy_setopt(h->easy, CURLOPT_NOBODY, 1L);
    bool post = strcmp(h->method, "POST") == 0;
    if (post || h->body.n) {
        r = lib->easy_setopt(h->easy, CURLOPT_POST, 1L);
        if (r == CURLE_OK)
            r = lib->easy_setopt(h->easy, CURLOPT_POSTFIELDS, h->body.n ? h->body.p : "");
        if (r == CURLE_OK)
            r = lib->easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)h->body.n);
    }
    if (r == CURLE_OK && !post && (h->body.n || strcmp(h->method, "GET") != 0))
        r = lib->easy_setopt(h->easy, CURLOPT_CUSTOMREQUEST, h->method);
    return r;
}

/* All must hold: a library that does not know one of these would be less strict than what is promised. */
static CURLcode set_rules(struct al_http *h)
{
#define SET(option, value)                                                   \
    do {                                                                     \
        CURLcode code = h->client->lib->easy_setopt(h->easy, option, value); \
        if (code != CURLE_OK)                                                \
            return code;                                                     \
    } while (0)
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_PROXY, h->proxy ? h->proxy : "");
    SET(CURLOPT_NOPROXY, "");
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_open);
    SET(CURLOPT_OPENSOCKETDATA, h);
    SET(CURLOPT_HEADERFUNCTION, al_http_on_header);
    SET(CURLOPT_HEADERDATA, h);
    SET(CURLOPT_WRITEFUNCTION, al_http_on_body);
    SET(CURLOPT_WRITEDATA, h);
    SET(CURLOPT_PRIVATE, h);
    SET(CURLOPT_CURLU, h->url);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)h->connect_ms);
    SET(CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
    SET(CURLOPT_BUFFERSIZE, AL_HTTP_READ);
    SET(CURLOPT_USERAGENT, "alisio/" AL_VERSION);
    SET(CURLOPT_HTTPHEADER, h->list);
    SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE); /* ours are not for the proxy */
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    if (h->public_only) { /* a connection that another request has made was not checked */
        SET(CURLOPT_FRESH_CONNECT, 1L);
        SET(CURLOPT_FORBID_REUSE, 1L);
        SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    }
#undef SET
    return CURLE_OK;
}

int al_http_hop_start(struct al_http *h, struct al_err *err)
{
    const struct al_curl *lib = h->client->lib;
    h->easy = lib->easy_init();
    if (!h->easy)
        return al_fail(err, AL_RUNTIME_UNAVAILABLE, "libcurl gives no handle");
    list_headers(h);
    CURLcode r = set_rules(h);
    if (r == CURLE_OK)
        r = set_authorities(h);
    if (r == CURLE_OK)
        r = set_method(h);
    if (r != CURLE_OK || lib->multi_add_handle(h->client->multi, h->easy) != CURLM_OK) {
        lib->easy_cleanup(h->easy);
        h->easy = NULL;
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "the libcurl of this computer cannot do what is needed (%d)",
                (int)r);
        return al_hint(err, "install libcurl 7.85 or newer");
    }
    return 0;
}

void al_http_hop_stop(struct al_http *h)
{
    const struct al_curl *lib = h->client->lib;
    al_http_lookup_drop(h);
    if (h->easy) {
        lib->multi_remove_handle(h->client->multi, h->easy);
        lib->easy_cleanup(h->easy);
        h->easy = NULL;
    }
    if (h->list)
        lib->slist_free_all(h->list);
    h->list = NULL;
}
