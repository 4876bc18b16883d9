/* The transport over HTTP of a configured server. */
#include "upstream/http_int.h"
#include "upstream/upstream_int.h"

struct al_transport *al_transport_http(struct al_upstream *s, const struct al_transport_events *events,
                                       void *ud)
{
    struct al_http_server server = {
        .name = s->config->name,
        .url = s->config->url,
        .headers = (const char *const *)s->config->headers,
        .loop = al_upstream_loop(s),
        .client = al_upstreams_http(s->owner),
    };
    return al_http_transport_new(&server, events, ud);
}
