/*
 * Which server a resource belongs to, learnt from the lists that passed. A URI is kept as its hash alone: a
 * wrong guess costs a question to another server, so that ten thousand of them cost little memory.
 */
#include "mcp/relay_int.h"

#include "base/ident.h"
#include "base/mem.h"

#include <strings.h>

/* Three quarters full: then it is emptied, and what is still listed is learnt anew. */
#define FULL (AL_RELAY_URIS_MAX / 4 * 3)

bool al_relay_is_our_uri(struct al_str uri)
{
    static const char *const schemes[] = {"run://", "artifact://", "dataset://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t n = strlen(schemes[i]);
        if (uri.n >= n && strncasecmp(uri.p, schemes[i], n) == 0)
            return true;
    }
    return false;
}

static uint64_t hash_of(struct al_str uri)
{
    char hex[AL_SHA256_HEX];
    uint64_t h = 0;
    al_sha256(uri, hex);
    for (size_t i = 0; i < 16; i++)
        h = h << 4 | (uint64_t)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
    return h ? h : 1;
}

static struct al_relay_uri *slot_of(struct al_relay_uri *uris, uint64_t hash)
{
    size_t i = (size_t)hash & (AL_RELAY_URIS_MAX - 1);
    while (uris[i].hash && uris[i].hash != hash)
        i = (i + 1) & (AL_RELAY_URIS_MAX - 1);
    return &uris[i];
}

void al_relay_learn_uri(struct al_mcp_relay *relay, struct al_str uri, size_t server)
{
    if (relay->n < 2)
        return;
    if (!relay->uris)
        relay->uris = al_xcalloc(AL_RELAY_URIS_MAX, sizeof *relay->uris);
    if (relay->n_uris >= FULL) {
        memset(relay->uris, 0, AL_RELAY_URIS_MAX * sizeof *relay->uris);
        relay->n_uris = 0;
    }
    uint64_t hash = hash_of(uri);
    struct al_relay_uri *slot = slot_of(relay->uris, hash);
    if (slot->hash)
        return; /* who was first keeps it: another server's list must not turn its readers away */
    relay->n_uris++;
    *slot = (struct al_relay_uri){.hash = hash, .server = (uint32_t)server};
}

void al_relay_learn_template(struct al_mcp_relay *relay, struct al_str uri_template, size_t server)
{
    struct al_str head = al_relay_template_head(uri_template);
    if (relay->n < 2 || !head.n || head.n > 4096)
        return;
    for (size_t i = 0; i < relay->n_templates; i++)
        if (al_str_is(head, relay->templates[i].head))
            return;
    if (relay->n_templates < AL_RELAY_TEMPLATES_MAX)
        relay->templates[relay->n_templates++] =
            (struct al_relay_template){.head = al_xdup(head.p, head.n), .server = server};
}

/* The template that says most about it. */
static size_t by_template(const struct al_mcp_relay *relay, struct al_str uri)
{
    size_t found = relay->n, longest = 0;
    for (size_t i = 0; i < relay->n_templates; i++) {
        size_t n = strlen(relay->templates[i].head);
        if (n > longest && al_str_starts(uri, relay->templates[i].head)) {
            longest = n;
            found = relay->templates[i].server;
        }
    }
    return found;
}

size_t al_relay_server_of_uri(const struct al_mcp_relay *relay, struct al_str uri)
{
    const struct al_relay_uri *slot = relay->uris ? slot_of(relay->uris, hash_of(uri)) : NULL;
    return slot && slot->hash ? slot->server : by_template(relay, uri);
}

void al_relay_uris_free(struct al_mcp_relay *relay)
{
    for (size_t i = 0; i < relay->n_templates; i++)
        free(relay->templates[i].head);
    free(relay->uris);
}
