/*
 * Names that are resolved before the exchange: of a request that may only reach public addresses, and goes
 * through a proxy. The proxy resolves the name again, out of our sight: a name that changes in between, or
 * that the proxy knows by another address, is not caught. What is caught is every name that plainly leads
 * inside.
 */
#include "base/mem.h"
#include "http/client_int.h"

#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>

struct al_http_lookup {
    struct al_http *h; /* NULL: nobody waits */
    char *host;
    bool (*is_public)(const struct sockaddr *address);
    int result; /* of getaddrinfo */
    char denied[64];
};

/* On the pool. */
static void resolve(void *ud)
{
    struct al_http_lookup *l = ud;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *list = NULL;
    l->result = getaddrinfo(l->host, NULL, &hints, &list);
    for (struct addrinfo *a = list; a && !l->denied[0]; a = a->ai_next)
        if (!l->is_public(a->ai_addr) && getnameinfo(a->ai_addr, a->ai_addrlen, l->denied, sizeof(l->denied),
                                                     NULL, 0, NI_NUMERICHOST) != 0)
            snprintf(l->denied, sizeof(l->denied), "?");
    if (list)
        freeaddrinfo(list);
}

static void resolved(void *ud)
{
    struct al_http_lookup *l = ud;
    struct al_http *h = l->h;
    if (h) {
        struct al_http_client *c = h->client;
        al_http_enter(c);
        h->lookup = NULL;
        int r = 0;
        if (l->denied[0]) {
            snprintf(h->denied, sizeof(h->denied), "%s", l->denied);
            al_http_why(h, CURLE_COULDNT_CONNECT, &h->err);
            r = -1;
        } else if (l->result != 0) {
            al_http_why(h, CURLE_COULDNT_RESOLVE_HOST, &h->err);
            r = -1;
        } else {
            r = al_http_hop_start(h, &h->err);
        }
        if (r < 0)
            al_http_fail_later(h);
        al_http_leave(c);
    }
    free(l->host);
    free(l);
}

void al_http_lookup_start(struct al_http *h)
{
    struct al_http_lookup *l = al_xcalloc(1, sizeof(*l));
    l->h = h;
    l->is_public = h->client->is_public;
    struct al_str host = al_str_of(h->host);
    bool brackets = host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';
    l->host = brackets ? al_xdup(host.p + 1, host.n - 2) : al_xdup(host.p, host.n);
    h->lookup = l;
    al_work_start(h->client->loop, resolve, resolved, l);
}

void al_http_lookup_drop(struct al_http *h)
{
    if (h->lookup)
        h->lookup->h = NULL;
    h->lookup = NULL;
}
