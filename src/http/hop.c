/* One exchange with one server: what libcurl is told. */
#include "base/ident.h"
#include "base/mem.h"
#include "http/client_int.h"

#include <netdb.h>
#include <netinet/tcp.h>
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
    h->n_packings = h->n_begun = 0;
    h->packed_oddly = h->tired = false;
    h->status = 0;
    h->head_done = h->follow = h->held = h->resume = false;
    h->denied[0] = 0;
}

#define KEEP_IDLE_S 30 /* what translates addresses between us and them forgets a quiet connection */
#define KEEP_EVERY_S 10
#define KEEP_PROBES 3
#define UNANSWERED_MS ((KEEP_IDLE_S + KEEP_PROBES * KEEP_EVERY_S) * 1000)

/* A connection whose other end has gone is noticed in a minute, also when bytes of ours are under way, which
 * the kernel would send again for a quarter of an hour. Not so nearby: there it is told at once, and a server
 * that is busy with something else may be slow to read. */
static void keep_alive(int fd, bool far)
{
    int on = 1, idle = KEEP_IDLE_S, every = KEEP_EVERY_S, probes = KEEP_PROBES;
    unsigned unanswered_ms = UNANSWERED_MS;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
    if (far)
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof(unanswered_ms));
}

/* Every socket to outside comes from here, so each address that is tried is seen, whatever name led to it. */
static curl_socket_t on_open(void *ud, curlsocktype purpose, struct curl_sockaddr *a)
{
    (void)purpose;
    struct al_http *h = ud;
    bool is_public = h->client->is_public(&a->addr);
    if ((h->public_only && !h->proxy && !is_public) || (h->private_only && is_public)) {
        if (getnameinfo(&a->addr, a->addrlen, h->denied, sizeof(h->denied), NULL, 0, NI_NUMERICHOST) != 0)
            snprintf(h->denied, sizeof(h->denied), "an odd address");
        return CURL_SOCKET_BAD;
    }
    int fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    if (fd >= 0)
        keep_alive(fd, is_public);
    return fd;
}

/* Before each sending. A kept connection that dies before a byte of the answer makes the library send again,
 * which the caller would not see. */
static int on_begin(void *ud, char *peer, char *own, int peer_port, int own_port)
{
    struct al_http *h = ud;
    (void)peer;
    (void)own;
    (void)peer_port;
    (void)own_port;
    return ++h->n_begun > 1 && h->once ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
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
    SET(CURLOPT_PREREQFUNCTION, on_begin);
    SET(CURLOPT_PREREQDATA, h);
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
    if (h->public_only || h->private_only) { /* a connection that another request has made was not checked */
        SET(CURLOPT_FRESH_CONNECT, 1L);
        SET(CURLOPT_FORBID_REUSE, 1L);
        SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    }
    uint64_t since_drop = al_mono_ms() - h->client->dropped_ms;
    if (h->client->dropped_ms && since_drop < 2000)
        SET(CURLOPT_FRESH_CONNECT, 1L);
    else if (h->client
                 ->dropped_ms) /* the library counts whole seconds, and takes more than so many for too old */
        SET(CURLOPT_MAXLIFETIME_CONN, (long)(since_drop / 1000 - 1));
#undef SET
    /* A name that is still being looked up when the request ends is left to its thread; else the library
     * waits for it, half a minute where the name server is gone, and we with it. Since 7.87: an older one
     * waits. */
    h->client->lib->easy_setopt(h->easy, CURLOPT_QUICK_EXIT, 1L);
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
