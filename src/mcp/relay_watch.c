/*
 * Resources that clients want to hear of. What all clients want together is compared with what the servers
 * were told: to one of the older era goes resources/subscribe, to a newer one subscriptions/listen, which
 * stays open. An older client's own request is passed on as it is (relay_request.c) and only noted here.
 */
#include "mcp/relay_int.h"

#include "base/ident.h"
#include "base/mem.h"

static uint64_t hash_of(const struct al_mcp_relay *relay, struct al_str uri)
{
    uint64_t h = relay->seed;
    for (size_t i = 0; i < uri.n; i++)
        h = (h ^ (unsigned char)uri.p[i]) * 1099511628211u; /* FNV-1a … */
    h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;                /* … whose low bits alone are weak */
    return h ^ h >> 29;
}

static struct al_relay_watched **slot_of(const struct al_mcp_relay *relay, uint64_t hash)
{
    return &relay->watched_slots[hash & (AL_RELAY_WATCHED_SLOTS - 1)];
}

static struct al_relay_watched *find_watched(const struct al_mcp_relay *relay, struct al_str uri)
{
    if (!relay->watched_slots)
        return NULL;
    uint64_t hash = hash_of(relay, uri);
    struct al_relay_watched *x = *slot_of(relay, hash);
    while (x && (x->hash != hash || !al_str_is(uri, x->uri)))
        x = x->other;
    return x;
}

static struct al_relay_watched *watched_new(struct al_mcp_relay *relay, struct al_str uri)
{
    struct al_relay_watched *x = al_xcalloc(1, sizeof *x);
    if (!relay->watched_slots) {
        relay->watched_slots = al_xcalloc(AL_RELAY_WATCHED_SLOTS, sizeof(struct al_relay_watched *));
        al_random(&relay->seed, sizeof relay->seed);
    }
    x->relay = relay;
    x->uri = al_xdup(uri.p, uri.n);
    x->server = relay->n == 1 ? 0 : al_relay_server_of_uri(relay, uri);
    x->hash = hash_of(relay, uri);
    struct al_relay_watched **slot = slot_of(relay, x->hash);
    x->other = *slot;
    *slot = x;
    x->next = relay->watched;
    x->link = &relay->watched;
    if (x->next)
        x->next->link = &x->next;
    relay->watched = x;
    relay->n_watched++;
    return x;
}

static void watched_unlink(struct al_relay_watched *x)
{
    struct al_relay_watched **at = slot_of(x->relay, x->hash);
    while (*at != x)
        at = &(*at)->other;
    *at = x->other;
    *x->link = x->next;
    if (x->next)
        x->next->link = x->link;
    x->relay->n_watched--;
    x->relay = NULL;
}

static void watched_free(struct al_relay_watched *x)
{
    free(x->uri);
    free(x);
}

static void put_uri(struct al_buf *out, const char *uri, bool listen)
{
    struct al_jw jw;
    al_jw_init(&jw, out);
    al_jw_obj(&jw);
    if (listen) {
        al_jw_key(&jw, "notifications");
        al_jw_obj(&jw);
        al_jw_key(&jw, "resourceSubscriptions");
        al_jw_arr(&jw);
        al_jw_strz(&jw, uri);
        al_jw_end(&jw);
        al_jw_end(&jw);
    } else {
        al_jw_kstrz(&jw, "uri", uri);
    }
    al_jw_end(&jw);
}

/* --- one resource --- */

static void begin(struct al_relay_watched *x);

static void hold(struct al_relay_watched *x, bool on)
{
    if (x->held != on)
        al_upstream_hold(x->relay->servers[x->server].upstream, on);
    x->held = on;
}

static void set_listening(struct al_relay_watched *x, bool on)
{
    unsigned *n = &x->relay->servers[x->server].n_listens;
    if (x->listening != on)
        *n += on ? 1 : -1;
    x->listening = on;
}

static void set_told(struct al_relay_watched *x, bool told)
{
    x->told = told;
    hold(x, told);
}

/* It was let go meanwhile: the last callback frees it. */
static bool is_dropped(struct al_relay_watched *x)
{
    if (x->relay)
        return false;
    watched_free(x);
    return true;
}

static void on_listened(void *ud, const struct al_upstream_answer *a)
{
    struct al_relay_watched *x = ud;
    (void)a; /* the server has ended it, or died: a client that reads again learns what is new */
    x->sent = NULL;
    if (!is_dropped(x))
        set_listening(x, false);
}

static void on_subscribed(void *ud, const struct al_upstream_answer *a)
{
    struct al_relay_watched *x = ud;
    x->sent = NULL;
    if (is_dropped(x))
        return;
    set_told(x, a->result.n > 0);
    if (x->told || x->relay->n < 2)
        return;
    if (++x->tried < x->relay->n) {
        x->server = (x->server + 1) % x->relay->n;
        begin(x);
    }
}

/* At the server that it is thought to be of. */
static void send(struct al_relay_watched *x)
{
    const struct al_relay_server *s = &x->relay->servers[x->server];
    autobuf struct al_buf params = AL_BUF_INIT(64u << 10);
    bool listen = al_relay_modern(s);
    if (listen && s->n_listens >= AL_RELAY_MAX_LISTENS)
        return;
    set_listening(x, listen);
    put_uri(&params, x->uri, listen);
    struct al_upstream_request r = {
        .method = listen ? "subscriptions/listen" : "resources/subscribe",
        .params = al_buf_str(&params),
        .done = listen ? on_listened : on_subscribed,
        .ud = x,
    };
    x->sent = al_upstream_send(s->upstream, &r);
}

static void on_server(struct al_relay_wait *wait, const struct al_err *err)
{
    /* The resource may be unwatched by now: it is found by what it is, not by a pointer. */
    struct al_mcp_relay *relay = wait->relay;
    wait->server->watching = false;
    for (struct al_relay_watched *x = relay->watched; x && !err; x = x->next)
        if (&relay->servers[x->server] == wait->server && !x->sent && !x->told)
            send(x);
}

void al_relay_watch_again(struct al_mcp_relay *relay, const struct al_relay_server *s)
{
    for (struct al_relay_watched *x = relay->watched; x; x = x->next) {
        if (&relay->servers[x->server] != s)
            continue;
        x->told = false;
        if (!x->sent)
            send(x);
    }
}

static void begin(struct al_relay_watched *x)
{
    struct al_mcp_relay *relay = x->relay;
    if (x->server >= relay->n)
        x->server = 0;
    struct al_relay_server *s = &relay->servers[x->server];
    if (s->watching)
        return;
    s->watching = true;
    al_relay_wait_for(relay, s, NULL, on_server);
}

static void nobody_cares(void *ud, const struct al_upstream_answer *a)
{
    (void)ud;
    (void)a;
}

static void end(struct al_relay_watched *x)
{
    struct al_upstream *s = x->relay->servers[x->server].upstream;
    struct al_upstream_call *sent = x->sent;
    hold(x, false);
    set_listening(x, false);
    if (x->told && al_upstream_state(s) == AL_UPSTREAM_READY) {
        autobuf struct al_buf params = AL_BUF_INIT(64u << 10);
        put_uri(&params, x->uri, false);
        struct al_upstream_request r = {
            .method = "resources/unsubscribe", .params = al_buf_str(&params), .done = nobody_cares};
        al_upstream_send(s, &r);
    }
    watched_unlink(x);
    if (sent)
        al_upstream_cancel(sent);
    else
        watched_free(x);
}

/* --- all of them --- */

static bool want(void *ud, struct al_str uri)
{
    struct al_mcp_relay *relay = ud;
    struct al_relay_watched *x = find_watched(relay, uri);
    if (!x && relay->n_watched < AL_RELAY_MAX_WATCHED) {
        x = watched_new(relay, uri);
        begin(x);
    }
    if (x)
        x->wanted = true;
    return true;
}

void al_mcp_relay_watch(struct al_mcp_relay *relay)
{
    for (struct al_relay_watched *x = relay->watched; x; x = x->next)
        x->wanted = false;
    if (relay->n && !relay->mcp->stopping)
        al_mcp_watched(relay->mcp, want, relay);
    for (struct al_relay_watched *x = relay->watched, *next; x; x = next) {
        next = x->next;
        if (!x->wanted)
            end(x);
    }
}

void al_relay_note_watched(struct al_mcp_relay *relay, struct al_str uri, struct al_relay_server *s, bool on)
{
    struct al_relay_watched *x = find_watched(relay, uri);
    if (on && !x && relay->n_watched < AL_RELAY_MAX_WATCHED)
        x = watched_new(relay, uri);
    if (!x)
        return;
    hold(x, false);
    set_listening(x, false);
    x->server = (size_t)(s - relay->servers);
    set_told(x, on && !al_relay_modern(s));
    if (!on)
        end(x);
}

struct search {
    struct al_str uri;
    bool found;
};

static bool is_it(void *ud, struct al_str uri)
{
    struct search *search = ud;
    search->found |= al_str_eq(uri, search->uri);
    return !search->found;
}

bool al_relay_is_watched(const struct al_mcp_relay *relay, struct al_str uri)
{
    struct search search = {.uri = uri};
    al_mcp_watched(relay->mcp, is_it, &search);
    return search.found;
}

void al_relay_watch_free(struct al_mcp_relay *relay)
{
    while (relay->watched) {
        struct al_relay_watched *x = relay->watched;
        x->told = false;
        end(x);
    }
    free(relay->watched_slots);
    relay->watched_slots = NULL;
}
