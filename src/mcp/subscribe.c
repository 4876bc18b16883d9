/*
 * Changes that clients are told of. In the older era every client hears of changed lists, and of the
 * resources that it subscribed to; in the modern era whoever listens says what it wants to hear, and hears it
 * under its request's id.
 */
#include "mcp/mcp_int.h"

#include "base/mem.h"

/* URIs of one client, and their length. */
#define MAX_URIS 1024
#define MAX_URI_BYTES 4096
#define SUBSCRIPTION_ID "io.modelcontextprotocol/subscriptionId"

static const struct al_str nothing = {"", 0};

static const struct kind {
    const char *filter; /* of subscriptions/listen */
    const char *method;
} kinds[] = {
    {"toolsListChanged", "notifications/tools/list_changed"},
    {"promptsListChanged", "notifications/prompts/list_changed"},
    {"resourcesListChanged", "notifications/resources/list_changed"},
};
enum {
    N_KINDS = sizeof kinds / sizeof *kinds
};

struct al_mcp_subscription {
    struct al_mcp_subscription *next;
    struct al_mcp_request *request; /* subscriptions/listen; NULL: resources/subscribe */
    bool wants[N_KINDS];
    char **uris;
    size_t n_uris;
};

static void tell_relay(const struct al_mcp_peer *p)
{
    if (p->mcp->relay)
        al_mcp_relay_watch(p->mcp->relay);
}

static void subscription_free(struct al_mcp_peer *p, struct al_mcp_subscription *s)
{
    for (struct al_mcp_subscription **at = &p->subscriptions; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    for (size_t i = 0; i < s->n_uris; i++)
        free(s->uris[i]);
    free(s->uris);
    free(s);
}

void al_mcp_free_subscriptions(struct al_mcp_peer *p)
{
    if (!p->subscriptions)
        return;
    while (p->subscriptions)
        subscription_free(p, p->subscriptions);
    tell_relay(p);
}

static ptrdiff_t find_uri(const struct al_mcp_subscription *s, struct al_str uri)
{
    for (size_t i = 0; i < s->n_uris; i++)
        if (al_str_is(uri, s->uris[i]))
            return (ptrdiff_t)i;
    return -1;
}

static bool add_uri(struct al_mcp_subscription *s, struct al_str uri)
{
    if (find_uri(s, uri) >= 0)
        return true;
    if (!uri.n || uri.n > MAX_URI_BYTES || s->n_uris >= MAX_URIS)
        return false;
    s->uris = al_xrealloc(s->uris, (s->n_uris + 1) * sizeof *s->uris);
    s->uris[s->n_uris++] = al_xdup(uri.p, uri.n);
    return true;
}

static void forget_uri(struct al_mcp_subscription *s, ptrdiff_t at)
{
    if (at < 0)
        return;
    free(s->uris[at]);
    s->uris[at] = s->uris[--s->n_uris];
}

/* --- the modern era --- */

static void put_id(struct al_jw *w, const struct al_mcp_request *r)
{
    al_jw_key(w, "_meta");
    al_jw_obj(w);
    al_jw_kraw(w, SUBSCRIPTION_ID, al_str_of(r->id));
    al_jw_end(w);
}

/* What is honoured is what can happen: only with servers behind us do lists and resources change. */
static void acknowledge(struct al_mcp_request *r, const struct al_mcp_subscription *s)
{
    autobuf struct al_buf params = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    struct al_jw w;
    al_jw_init(&w, &params);
    al_jw_obj(&w);
    put_id(&w, r);
    al_jw_key(&w, "notifications");
    al_jw_obj(&w);
    for (size_t i = 0; i < N_KINDS; i++)
        if (s->wants[i])
            al_jw_kbool(&w, kinds[i].filter, true);
    if (s->n_uris) {
        al_jw_key(&w, "resourceSubscriptions");
        al_jw_arr(&w);
        for (size_t i = 0; i < s->n_uris; i++)
            al_jw_strz(&w, s->uris[i]);
        al_jw_end(&w);
    }
    al_jw_end(&w);
    al_jw_end(&w);
    al_mcp_notify(r->peer, r, "notifications/subscriptions/acknowledged", al_buf_str(&params));
}

/* Taken back by the client (then nothing is sent any more), or the server ends: with a result, as the
 * protocol wants. */
static void end_listening(void *work)
{
    struct al_mcp_subscription *s = work;
    struct al_mcp_request *r = s->request;
    autobuf struct al_buf out = AL_BUF_INIT(8192);
    struct al_jw w;
    subscription_free(r->peer, s);
    tell_relay(r->peer);
    r->cancel = NULL;
    r->work = NULL;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    put_id(&w, r);
    al_jw_end(&w);
    al_mcp_answer(r, al_buf_str(&out));
}

static bool read_filter(struct al_mcp_request *r, struct al_mcp_subscription *s, const struct al_json *filter)
{
    bool changes = r->peer->mcp->relay != NULL;
    for (size_t i = 0; i < N_KINDS; i++)
        s->wants[i] = changes && al_json_is_true(al_json_get(filter, kinds[i].filter));
    al_json_each(uri, al_json_get(filter, "resourceSubscriptions"))
    {
        if (!al_json_is_string(uri))
            return false;
        if (changes && !add_uri(s, uri->str))
            return false;
    }
    return true;
}

void al_mcp_listen(struct al_mcp_request *r, const struct al_json *params)
{
    const struct al_json *filter = al_json_get(params, "notifications");
    struct al_mcp_peer *p = r->peer;
    if (!filter || filter->type != AL_JSON_OBJECT) {
        al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing,
                    "\"params.notifications\", an object, says what to listen for");
        return;
    }
    struct al_mcp_subscription *s = al_xcalloc(1, sizeof *s);
    s->request = r;
    if (!read_filter(r, s, filter)) {
        subscription_free(p, s);
        al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing,
                    "\"resourceSubscriptions\" is a list of at most %u URIs", MAX_URIS);
        return;
    }
    s->next = p->subscriptions;
    p->subscriptions = s;
    r->cancel = end_listening;
    r->work = s;
    acknowledge(r, s);
    if (s->n_uris)
        tell_relay(p);
}

/* --- the older era --- */

static struct al_mcp_subscription *older_subscription(struct al_mcp_peer *p)
{
    struct al_mcp_subscription *s = p->subscriptions;
    while (s && s->request)
        s = s->next;
    return s;
}

static void subscribe(struct al_mcp_request *r, const struct al_json *params, bool on)
{
    struct al_mcp_peer *p = r->peer;
    struct al_str uri = al_json_get_text(params, "uri");
    struct al_mcp_subscription *s = older_subscription(p);
    if (!uri.n || uri.n > MAX_URI_BYTES) {
        al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing, "\"params.uri\" is a URI");
        return;
    }
    if (!p->mcp->relay) {
        al_mcp_fail(r, AL_RPC_METHOD_NOT_FOUND, nothing,
                    "resources of this server do not change: nothing to watch");
        return;
    }
    if (!s) {
        s = al_xcalloc(1, sizeof *s);
        s->next = p->subscriptions;
        p->subscriptions = s;
    }
    ptrdiff_t at = find_uri(s, uri);
    if (!on) {
        forget_uri(s, at);
    } else if (!add_uri(s, uri)) {
        al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing, "%u resources are subscribed to already", MAX_URIS);
        return;
    }
    r->subscribes = on && at < 0;
    /* The relay answers, as the resource's server does. */
    if (!al_mcp_relay_request(p->mcp->relay, r, params))
        al_mcp_fail_resource(r, uri);
}

void al_mcp_subscribe_failed(struct al_mcp_request *r)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    struct al_mcp_subscription *s = older_subscription(r->peer);
    const struct al_json *params = NULL;
    r->subscribes = false;
    if (!s || al_json_parse(&arena, (struct al_str){r->params, r->params_n}, &params, NULL) < 0)
        return;
    forget_uri(s, find_uri(s, al_json_get_text(params, "uri")));
    tell_relay(r->peer);
}

void al_mcp_resources_subscribe(struct al_mcp_request *r, const struct al_json *params)
{
    subscribe(r, params, true);
}

void al_mcp_resources_unsubscribe(struct al_mcp_request *r, const struct al_json *params)
{
    subscribe(r, params, false);
}

bool al_mcp_watched(const struct al_mcp *m, bool (*uri)(void *ud, struct al_str uri), void *ud)
{
    for (const struct al_mcp_peer *p = m->peers; p; p = p->next)
        for (const struct al_mcp_subscription *s = p->subscriptions; s; s = s->next)
            for (size_t i = 0; i < s->n_uris; i++)
                if (!uri(ud, al_str_of(s->uris[i])))
                    return false;
    return true;
}

/* --- what happens --- */

static void tell_listener(struct al_mcp_subscription *s, const char *method, struct al_str params)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    const struct al_json *v = NULL;
    struct al_err ignored;
    struct al_jw w;
    if (params.n && al_json_parse(&arena, params, &v, &ignored) < 0)
        v = NULL;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    put_id(&w, s->request);
    al_json_each(e, v)
    {
        if (al_str_is(e->key, "_meta"))
            continue;
        al_jw_key_str(&w, e->key);
        al_jw_raw(&w, e->raw);
    }
    al_jw_end(&w);
    al_mcp_notify(s->request->peer, s->request, method, al_buf_str(&out));
}

static bool wants(const struct al_mcp_subscription *s, const char *method, struct al_str uri)
{
    if (uri.n)
        return find_uri(s, uri) >= 0;
    for (size_t i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i].method, method) == 0)
            return s->wants[i];
    return false;
}

static void tell_peer(struct al_mcp_peer *p, const char *method, struct al_str uri, struct al_str params)
{
    const struct al_mcp_subscription *own = older_subscription(p);
    if (p->initialized && (uri.n ? own && find_uri(own, uri) >= 0 : true))
        al_mcp_notify(p, NULL, method, params);
    struct al_mcp_subscription *next;
    for (struct al_mcp_subscription *s = p->subscriptions; s; s = next) {
        next = s->next;
        if (s->request && wants(s, method, uri))
            tell_listener(s, method, params);
    }
}

void al_mcp_changed(struct al_mcp *m, const char *method, struct al_str uri, struct al_str params)
{
    struct al_mcp_peer *next;
    for (struct al_mcp_peer *p = m->peers; p; p = next) {
        next = p->next;
        tell_peer(p, method, uri, params);
    }
}
