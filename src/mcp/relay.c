/* --expose upstream: the servers behind us, what they can do, and what they are told. */
#include "mcp/relay_int.h"

#include "base/mem.h"

#include <stdio.h>

#define EXTENSION_UI "io.modelcontextprotocol/ui"

static const struct al_str nothing = {"", 0};

static const char *const levels[] = {
    [AL_MCP_DEBUG] = "debug",     [AL_MCP_INFO] = "info",           [AL_MCP_NOTICE] = "notice",
    [AL_MCP_WARNING] = "warning", [AL_MCP_ERROR] = "error",         [AL_MCP_CRITICAL] = "critical",
    [AL_MCP_ALERT] = "alert",     [AL_MCP_EMERGENCY] = "emergency",
};

const char *al_relay_level_name(enum al_mcp_level level)
{
    return level < AL_MCP_NO_LOG ? levels[level] : "";
}

static void on_life(void *ud, struct al_upstream *upstream);

struct al_mcp_relay *al_mcp_relay_new(struct al_mcp *m)
{
    struct al_mcp_relay *relay = al_xcalloc(1, sizeof *relay);
    struct al_upstreams *all = m->opts.upstreams;
    relay->mcp = m;
    relay->level = AL_MCP_NO_LOG;
    relay->servers = al_xcalloc(al_upstreams_n(all) + 1, sizeof *relay->servers);
    for (size_t i = 0; i < al_upstreams_n(all); i++) {
        struct al_upstream *s = al_upstreams_at(all, i);
        if (!al_upstream_config(s)->disabled)
            relay->servers[relay->n++].upstream = s;
    }
    al_upstreams_listen(all, &(struct al_upstream_listener){.notification = al_relay_notification,
                                                            .question = al_relay_stray_question,
                                                            .ready = on_life,
                                                            .ud = relay});
    return relay;
}

void al_mcp_relay_free(struct al_mcp_relay *relay)
{
    if (!relay)
        return;
    al_upstreams_listen(relay->mcp->opts.upstreams, &(struct al_upstream_listener){0});
    for (struct al_relay_wait *wait = relay->waits; wait; wait = wait->next)
        wait->relay = NULL;
    al_relay_works_orphan(relay);
    al_relay_watch_free(relay);
    al_relay_uris_free(relay);
    free(relay->servers);
    free(relay);
}

/* --- one server --- */

bool al_relay_modern(const struct al_relay_server *s)
{
    /* Versions are dates: their order is that of their texts. */
    return strcmp(al_upstream_protocol(s->upstream), "2026-07-28") >= 0;
}

const char *al_relay_name(const struct al_relay_server *s)
{
    return al_upstream_config(s->upstream)->name;
}

struct al_relay_server *al_relay_find(struct al_mcp_relay *relay, struct al_str name)
{
    for (size_t i = 0; i < relay->n; i++)
        if (al_str_is(name, al_relay_name(&relay->servers[i])))
            return &relay->servers[i];
    return NULL;
}

bool al_relay_may_have(const struct al_relay_server *s, const char *capability)
{
    struct al_str text = al_upstream_capabilities(s->upstream);
    autoarena struct al_arena a = AL_ARENA_INIT(4u << 20);
    const struct al_json *v;
    if (!text.n || al_json_parse(&a, text, &v, NULL) < 0)
        return true;
    return al_json_get(v, capability) != NULL;
}

/* --- waiting for one --- */

static void on_ready(void *ud, const struct al_err *err)
{
    struct al_relay_wait *wait = ud;
    if (wait->relay) {
        struct al_relay_wait **at = &wait->relay->waits;
        while (*at != wait)
            at = &(*at)->next;
        *at = wait->next;
        if (wait->then)
            wait->then(wait, err && err->code != AL_OK ? err : NULL);
    }
    free(wait);
}

static struct al_relay_wait *new_wait(struct al_mcp_relay *relay, struct al_relay_server *s,
                                      struct al_relay_work *work,
                                      void (*then)(struct al_relay_wait *wait, const struct al_err *err))
{
    struct al_relay_wait *wait = al_xcalloc(1, sizeof *wait);
    wait->relay = relay;
    wait->server = s;
    wait->work = work;
    wait->then = then;
    wait->next = relay->waits;
    relay->waits = wait;
    return wait;
}

struct al_relay_wait *al_relay_wait_for(struct al_mcp_relay *relay, struct al_relay_server *s,
                                        struct al_relay_work *work,
                                        void (*then)(struct al_relay_wait *wait, const struct al_err *err))
{
    struct al_relay_wait *wait = new_wait(relay, s, work, then);
    al_upstream_ready(s->upstream, on_ready, wait);
    return wait;
}

struct al_relay_wait *al_relay_refresh(struct al_mcp_relay *relay, struct al_relay_server *s,
                                       struct al_relay_work *work,
                                       void (*then)(struct al_relay_wait *wait, const struct al_err *err))
{
    struct al_relay_wait *wait = new_wait(relay, s, work, then);
    al_upstream_refresh(s->upstream, on_ready, wait);
    return wait;
}

void al_relay_start_all(struct al_mcp_relay *relay)
{
    for (size_t i = 0; !relay->started && i < relay->n; i++)
        if (al_upstream_state(relay->servers[i].upstream) == AL_UPSTREAM_OFF)
            al_relay_wait_for(relay, &relay->servers[i], NULL, NULL);
    relay->started = true;
}

/* --- how much servers of the older era log --- */

static void nobody_cares(void *ud, const struct al_upstream_answer *a)
{
    (void)ud;
    (void)a;
}

static void tell_level(const struct al_mcp_relay *relay, const struct al_relay_server *s)
{
    if (relay->level == AL_MCP_NO_LOG || al_relay_modern(s) || !al_relay_may_have(s, "logging") ||
        al_upstream_state(s->upstream) != AL_UPSTREAM_READY)
        return;
    char params[64];
    snprintf(params, sizeof params, "{\"level\":\"%s\"}", levels[relay->level]);
    struct al_upstream_request r = {
        .method = "logging/setLevel", .params = al_str_of(params), .done = nobody_cares};
    al_upstream_send(s->upstream, &r);
}

void al_relay_want_level(struct al_mcp_relay *relay, enum al_mcp_level level)
{
    if (level >= relay->level)
        return;
    relay->level = level;
    for (size_t i = 0; i < relay->n; i++)
        tell_level(relay, &relay->servers[i]);
}

void al_mcp_relay_level(struct al_mcp_relay *relay, struct al_str name)
{
    /* Clients share the servers: the one that wants most decides, and each is sent only what it wants. */
    enum al_mcp_level least = al_mcp_level_of(name);
    bool alone = !relay->mcp->peers || !relay->mcp->peers->next;
    for (const struct al_mcp_peer *p = alone ? NULL : relay->mcp->peers; p; p = p->next)
        if (p->initialized && p->client.level < least)
            least = p->client.level;
    relay->level = least;
    for (size_t i = 0; i < relay->n; i++)
        tell_level(relay, &relay->servers[i]);
}

static void on_life(void *ud, struct al_upstream *upstream)
{
    struct al_mcp_relay *relay = ud;
    for (size_t i = 0; i < relay->n; i++)
        if (relay->servers[i].upstream == upstream) {
            tell_level(relay, &relay->servers[i]);
            al_relay_watch_again(relay, &relay->servers[i]);
        }
}

void al_mcp_relay_roots_changed(struct al_mcp_relay *relay)
{
    for (size_t i = 0; i < relay->n; i++)
        if (!al_relay_modern(&relay->servers[i]))
            al_upstream_notify(relay->servers[i].upstream, "notifications/roots/list_changed", nothing);
}

/* --- what we can do --- */

void al_mcp_relay_capabilities(struct al_mcp_relay *relay, bool modern, struct al_jw *w)
{
    (void)modern;
    al_jw_kraw(w, "prompts", AL_STR("{\"listChanged\":true}"));
    if (relay->n != 1)
        return;
    /* Of extensions only what lives in tools and resources works here: methods that we do not know do not
     * pass. */
    struct al_str text = al_upstream_capabilities(relay->servers[0].upstream);
    autoarena struct al_arena a = AL_ARENA_INIT(4u << 20);
    const struct al_json *v;
    if (!text.n || al_json_parse(&a, text, &v, NULL) < 0)
        return;
    const struct al_json *ui = al_json_get(al_json_get(v, "extensions"), EXTENSION_UI);
    if (!ui || ui->type != AL_JSON_OBJECT)
        return;
    al_jw_key(w, "extensions");
    al_jw_obj(w);
    al_jw_kraw(w, EXTENSION_UI, ui->raw);
    al_jw_end(w);
}
