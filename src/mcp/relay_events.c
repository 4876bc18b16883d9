/* What servers tell by themselves, on its way to the clients that want to know. */
#include "mcp/relay_int.h"

#include "base/mem.h"

#include <stdio.h>

static const struct al_str nothing = {"", 0};

static struct al_relay_server *server_of(struct al_mcp_relay *relay, const struct al_upstream *s)
{
    for (size_t i = 0; i < relay->n; i++)
        if (relay->servers[i].upstream == s)
            return &relay->servers[i];
    return NULL;
}

/* Whether what a server says without naming a request can be about one client's alone. */
static bool is_clear(const struct al_mcp_relay *relay, const struct al_upstream *s)
{
    const void *owner;
    return relay->mcp->stdio || al_upstream_speaks_of(s, &owner);
}

/* Whether it can be about this one, and about none of another client. */
static bool is_about(const struct al_relay_work *w, const struct al_upstream *s)
{
    const void *owner;
    return w->relay->mcp->stdio || (al_upstream_speaks_of(s, &owner) && owner == w->owner);
}

/* Most servers do not say what a message is about. The last request that they work on for a client that wants
 * such messages is a good guess, and over HTTP the way on which the message surely arrives. */
static struct al_relay_work *work_of(const struct al_mcp_relay *relay, const struct al_relay_server *s,
                                     enum al_mcp_level level)
{
    for (struct al_relay_work *w = relay->works; w; w = w->next)
        if (w->r && w->server == s && (w->sent || w->call) && level >= w->r->client.level &&
            is_about(w, s->upstream))
            return w;
    return NULL;
}

/* NULL: there is none, or more than one. */
static struct al_mcp_peer *only_client(const struct al_mcp_relay *relay)
{
    struct al_mcp_peer *only = NULL;
    for (struct al_mcp_peer *p = relay->mcp->peers; p; p = p->next) {
        if (p->closing)
            continue;
        if (only)
            return NULL;
        only = p;
    }
    return only && only->initialized ? only : NULL;
}

static void tell_message(struct al_mcp_relay *relay, const struct al_relay_server *s, struct al_str params)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(16u << 20);
    const struct al_json *v;
    if (al_json_parse(&arena, params, &v, NULL) < 0)
        return;
    enum al_mcp_level level = al_mcp_level_of(al_json_get_text(v, "level"));
    if (level >= AL_MCP_NO_LOG)
        return;
    struct al_relay_work *w = work_of(relay, s, level);
    if (w) {
        al_relay_message(w, params);
        return;
    }
    /* It may tell of any client's request, also of one that is over: with several there it is nobody's. */
    struct al_mcp_peer *p = only_client(relay);
    if (p && !p->client.modern && level >= p->client.level)
        al_mcp_notify(p, NULL, "notifications/message", params);
}

/* To every client of the older era: the newer one has no notifications that are about nothing. */
static void tell_all(struct al_mcp_relay *relay, const char *method, struct al_str params)
{
    for (struct al_mcp_peer *p = relay->mcp->peers, *next; p; p = next) {
        next = p->next;
        if (p->initialized && !p->client.modern)
            al_mcp_notify(p, NULL, method, params);
    }
}

static void tell_updated(struct al_mcp_relay *relay, struct al_str params)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 20);
    const struct al_json *v;
    if (al_json_parse(&arena, params, &v, NULL) < 0)
        return;
    struct al_str uri = al_json_get_text(v, "uri");
    if (uri.n)
        al_mcp_changed(relay->mcp, "notifications/resources/updated", uri, params);
}

void al_relay_notification(void *ud, struct al_upstream *upstream, struct al_str method, struct al_str params)
{
    static const char *const changes[] = {"notifications/tools/list_changed",
                                          "notifications/prompts/list_changed",
                                          "notifications/resources/list_changed"};
    struct al_mcp_relay *relay = ud;
    struct al_relay_server *s = server_of(relay, upstream);
    if (!s || params.n > AL_RELAY_MAX_NOTIFICATION)
        return;
    if (al_str_is(method, "notifications/message")) {
        tell_message(relay, s, params);
    } else if (al_str_is(method, "notifications/resources/updated")) {
        tell_updated(relay, params);
    } else if (al_str_is(method, "notifications/elicitation/complete")) {
        tell_all(relay, "notifications/elicitation/complete", params);
    } else {
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
            if (al_str_is(method, changes[i])) {
                s->settled = false;
                al_mcp_changed(relay->mcp, changes[i], nothing, nothing);
            }
    }
}

/* A question of an older server that belongs to no request. */
struct stray {
    struct al_mcp *mcp;
    struct al_question_reply *reply;
};

static void on_stray_withdrawn(void *asked)
{
    struct stray *stray = asked;
    al_mcp_withdraw(stray->mcp, stray, "the server takes the question back");
}

static void on_stray_answer(void *ud, struct al_mcp_request *current, const struct al_json *result,
                            const char *failure)
{
    struct al_question_reply *reply = ((struct stray *)ud)->reply;
    (void)current; /* there is none */
    free(ud);
    if (result)
        al_question_answer(reply, result->raw);
    else
        al_question_refuse(reply, AL_RPC_INTERNAL_ERROR, al_str_of(failure));
}

void al_relay_stray_question(void *ud, struct al_upstream *s, const struct al_upstream_question *q)
{
    struct al_mcp_relay *relay = ud;
    char method[64];
    autobuf struct al_buf named = AL_BUF_INIT(2 * (size_t)AL_RELAY_MAX_QUESTION);
    struct al_mcp_peer *p = only_client(relay);
    snprintf(method, sizeof method, "%.*s", q->method.n < sizeof method ? (int)q->method.n : 0, q->method.p);
    struct al_str passed = al_relay_named(relay, al_upstream_config(s)->name, q->method, q->params, &named);
    if (!p || p->client.modern || !is_clear(relay, s) || !passed.n ||
        !al_mcp_can_ask(&p->client, method, q->params)) {
        al_question_refuse(q->reply, AL_RPC_METHOD_NOT_FOUND, AL_STR("no client takes this question"));
        return;
    }
    struct stray *stray = al_xcalloc(1, sizeof *stray);
    *stray = (struct stray){relay->mcp, q->reply};
    q->reply->withdrawn = on_stray_withdrawn;
    q->reply->asked = stray;
    al_mcp_ask_peer(
        p, &(struct al_mcp_ask){
               .method = method, .params = passed, .answered = on_stray_answer, .ud = stray, .asker = s});
}
