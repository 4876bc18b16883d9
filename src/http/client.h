/*
 * HTTP requests to outside, by libcurl's multi interface in our loop. The library is loaded (dlopen) with the first
 * request, so that a process that makes none does not pay for it. One thread.
 */
#ifndef AL_HTTP_CLIENT_H
#define AL_HTTP_CLIENT_H

#include "loop/loop.h"

struct al_http_client;
/* Certificates are verified against the system's authorities, or those of SSL_CERT_FILE (CURL_CA_BUNDLE) and SSL_CERT_DIR.
 * Loopback never goes through a proxy. */
struct al_http_client *al_http_client_new(struct al_loop *loop);
void al_http_client_free(struct al_http_client *c); /* any callback; ends every request; no callback comes any more */

/* The connections that are kept open are used no more, as after the machine has slept: what was between may have forgotten
 * them. Requests that are under way go on. */
void al_http_client_drop(struct al_http_client *c);

struct al_http_head {
    int status;
    const char *url;          /* of this answer, after redirects */
    const char *content_type; /* in lower case, without parameters; "" when there is none */
    const char *charset;      /* its parameter; "" */
};

#define AL_HTTP_UNTRUSTED "untrusted certificate"

struct al_http_ops {
    /* Once, when the head of the final answer is complete (not of a redirect that is followed). */
    void (*head)(void *ud, const struct al_http_head *head); /* may be NULL */
    /* Decoded bytes (gzip, br as the library can). False: enough; done follows with AL_OK. */
    bool (*body)(void *ud, struct al_str bytes); /* may be NULL */
    /* Exactly once, never from within al_http_start, and last. code AL_OK: the answer is complete, whatever its status.
     * Else UPSTREAM_UNAVAILABLE (not reached, with the reason in a person's words), TIMEOUT, PERMISSION_DENIED (an
     * address that public_only or private_only refuses), INVALID_INPUT (no URL), RESULT_TOO_LARGE (head over its limit).
     * Its detail is AL_HTTP_UNTRUSTED when the other side did not prove who it is: asking again is of no use. */
    void (*done)(void *ud, const struct al_err *err);
};

struct al_http_request {
    const char *method;         /* NULL: GET, or POST with a body */
    const char *url;            /* http:// or https://, nothing else */
    const char *const *headers; /* "Name: value", NULL-terminated; copied. NULL: none */
    struct al_str body;         /* copied */
    uint64_t connect_ms;        /* 0: 10 s */
    uint64_t total_ms;          /* 0: no limit (streams) */
    uint64_t idle_ms;           /* without a byte; 0: no limit */
    /* 0: a redirect is the answer. Followed as browsers do (303, and 301 and 302 to a POST, by GET; 307 and 308 as it was).
     * Another origin (scheme, host or port) gets none of these headers but Accept and Content-Type, nor does any hop after
     * it. */
    unsigned max_redirects;
    bool same_origin; /* a redirect to another origin is not followed: UPSTREAM_UNAVAILABLE says where it points */
    /* Refuse addresses that are not public: at each connection, so after each resolution and redirect. Where the
     * environment names a proxy (http_proxy, https_proxy, all_proxy, no_proxy), the proxy resolves names, out of our sight:
     * then we resolve each name first, and refuse it when any of its addresses is not public. */
    bool public_only;
    /* The reverse, for what must not cross other people's networks in the clear: public addresses are refused at each
     * connection, and so is a proxy. */
    bool private_only;
    /* It goes out once: when a connection that was kept dies under it, the library does not send it again by itself. */
    bool once;
};

struct al_http;
struct al_http *al_http_start(struct al_http_client *c, const struct al_http_request *r, const struct al_http_ops *ops,
                              void *ud, struct al_err *err); /* NULL: RUNTIME_UNAVAILABLE without the library, INVALID_INPUT */
/* No callback comes after it. NULL is fine. */
void al_http_cancel(struct al_http *h);
/* A header of the answer by name (any case), or NULL; valid within head and until done has returned. */
const char *al_http_header(const struct al_http *h, const char *name);
/* Whether bytes of the request went out: the other side may have acted on it. Until done has returned. */
bool al_http_sent(const struct al_http *h);
/* Whether the other end of the connection that is there is on this machine or in its private networks (see
 * al_http_address_public), without a proxy between. False before there is one. Until done has returned. */
bool al_http_near(const struct al_http *h);
/* Back pressure: body() is not called until it goes on. */
void al_http_pause(struct al_http *h, bool pause);

/* Whether an address (struct sockaddr) is one of the public internet: not loopback, private (RFC 1918, RFC 4193),
 * shared (RFC 6598), link-local, multicast, documentation, reserved, unspecified; also when it is IPv4 within IPv6
 * (mapped, compatible, NAT64, 6to4). */
struct sockaddr;
bool al_http_address_public(const struct sockaddr *address);

/* For tests, whose servers are on loopback: what this client takes for public. No configuration and no request reaches it. */
void al_http_client_test_public(struct al_http_client *c, bool (*is_public)(const struct sockaddr *address));

#endif
