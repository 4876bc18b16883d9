/* Shared by the files of the HTTP client only. */
#ifndef AL_HTTP_CLIENT_INT_H
#define AL_HTTP_CLIENT_INT_H

#include "base/buf.h"
#include "http/client.h"
#include "http/curl_lib.h"

#define AL_HTTP_MAX_HEAD (64 * 1024)     /* of one answer */
#define AL_HTTP_MAX_LEFTOVER (64 * 1024) /* of a redirect's body, which is read and dropped */
#define AL_HTTP_MAX_URL (32 * 1024)
#define AL_HTTP_MAX_TURN (1024 * 1024) /* unpacked bytes of one answer in one turn of the loop */
#define AL_HTTP_READ (8 * 1024L)       /* packed bytes that libcurl takes at once: they can become 1000 times as many */

/*
 * libcurl calls us from within its own functions, and there most of them may not be called. So what callers
 * ask for is only noted in their requests, and is done from the loop: by kick, or when the outermost call of
 * ours returns.
 */
struct al_http_client {
    struct al_loop *loop;
    const struct al_curl *lib; /* NULL before the first request */
    CURLM *multi;
    struct al_timer *timer; /* libcurl's */
    struct al_timer *kick;
    struct al_http *first;
    bool (*is_public)(
        const struct sockaddr *address); /* al_http_address_public, unless a test says otherwise */
    uint64_t turn;  /* of the loop, as far as we see it */
    unsigned depth; /* of our functions that are running: the client is freed when none is */
    bool freed;
    uint64_t dropped_ms; /* connections that are older are not used again; 0: never */
};

struct al_http_lookup; /* a name that is being resolved on the pool */

struct al_http {
    struct al_http_client *client;
    struct al_http *prev, *next;
    const struct al_http_ops *ops; /* NULL: cancelled, no callback any more */
    void *ud;

    /* What was asked for, as it stands after the redirects so far. */
    char *method;
    CURLU *url;
    struct al_str body; /* owned */
    char **headers;     /* NULL-terminated; only those that this hop gets */
    uint64_t connect_ms, idle_ms;
    unsigned max_redirects, n_redirects;
    bool public_only, private_only, same_origin, once;

    /* One hop. */
    CURL *easy;
    struct curl_slist *list;
    char *host, *scheme, *port; /* of url */
    char *proxy;                /* NULL: none */
    char *url_text;             /* without user and password */
    struct al_http_lookup *lookup;
    struct al_buf head; /* name 0 value 0 … in lower case names */
    size_t head_bytes;
    int status;
    bool head_done, follow; /* the head is complete; it is a redirect that will be followed */
    size_t leftover;
    unsigned n_begun; /* times that the library was about to send it */
    unsigned n_packings; /* codings that the heads so far have named … */
    bool packed_oddly;   /* … and one of them was not asked for */
    char denied[64]; /* the last address that was refused; "": none */
    bool sent, near; /* of a hop that libcurl has finished with */
    char *content_type, *charset;

    /* What the loop has to do. */
    bool begin, resume, finish, removed;
    bool paused, held; /* by the caller; by libcurl, which has bytes for us */
    bool tired;        /* it has given enough in this turn: it goes on in the next */
    uint64_t turn;     /* in which it gave turn_bytes */
    size_t turn_bytes;
    bool enough;       /* the caller wants no more */
    bool ended;        /* done is being called */
    struct al_err err; /* why it is to end; code AL_OK: no reason of ours */

    struct al_timer *total, *idle;
    uint64_t total_ms, last_byte_ms;
};

/* --- client.c --- */
int al_http_client_ready(struct al_http_client *c, struct al_err *err) AL_MUST_CHECK; /* loads libcurl */
void al_http_kick(struct al_http_client *c);
/* Around everything that may call the caller or libcurl. When the outermost returns, what was cancelled
 * meanwhile is freed, and the client, if it was. */
void al_http_enter(struct al_http_client *c);
void al_http_leave(struct al_http_client *c);

/* --- request.c --- */
/* For why h->err says, in a later turn of the loop. */
void al_http_fail_later(struct al_http *h);
/* Does what is noted in h, if anything: begins, goes on, ends. True when it did (then h may be gone). */
bool al_http_step(struct al_http *h);
/* libcurl has finished with the exchange. */
void al_http_complete(struct al_http *h, CURLcode code);
void al_http_free(struct al_http *h); /* takes it from everything, without callbacks */

/* --- hop.c: one exchange with one server --- */
/* Reads host, port and proxy from h->url. */
int al_http_hop_prepare(struct al_http *h, struct al_err *err) AL_MUST_CHECK;
int al_http_hop_start(struct al_http *h, struct al_err *err) AL_MUST_CHECK; /* hands it to libcurl */
void al_http_hop_stop(struct al_http *h);                                   /* takes it back */
void al_http_hop_forget(struct al_http *h); /* the answer, and what prepare has read */

/* --- answer.c: what libcurl gives us of an exchange --- */
size_t al_http_on_header(char *p, size_t size, size_t n, void *ud);
size_t al_http_on_body(char *p, size_t size, size_t n, void *ud);

/* --- redirect.c --- */
/* Whether the answer is one. */
bool al_http_is_redirect(const struct al_http *h);
/* Makes url, method, body and headers those of the next hop. */
int al_http_redirect(struct al_http *h, struct al_err *err) AL_MUST_CHECK;

/* --- lookup.c --- */
/* Resolves h->host on the pool; then the exchange goes on, or ends with PERMISSION_DENIED or
 * UPSTREAM_UNAVAILABLE. */
void al_http_lookup_start(struct al_http *h);
void al_http_lookup_drop(struct al_http *h);

/* --- proxy.c --- */
/* The proxy that the environment names for a URL's parts, malloc'ed; NULL: none. Loopback never goes through
 * one. */
char *al_http_proxy_for(const char *scheme, const char *host, const char *port);

/* --- why.c --- */
/* The reason of a failed exchange in a person's words. */
void al_http_why(const struct al_http *h, CURLcode code, struct al_err *err);

#endif
