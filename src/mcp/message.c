/* One message: which protocol it speaks, what it asks for, and who answers. */
#include "mcp/mcp_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

#define META "io.modelcontextprotocol/"
#define MODERN "2026-07-28"

/* Oldest first. A client that asks for another one is answered with the newest that begins with initialize.
 */
static const char *const older[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
enum {
    N_OLDER = sizeof older / sizeof *older
};

enum eras {
    OLDER = 1,
    NEWER = 2,
    BOTH = OLDER | NEWER
};

static const struct method {
    const char *name;
    al_mcp_handler *handler;
    enum eras eras;
} methods[] = {
    {"initialize", al_mcp_initialize, OLDER},
    {"ping", al_mcp_ping, OLDER},
    {"logging/setLevel", al_mcp_set_level, OLDER},
    {"resources/subscribe", al_mcp_resources_subscribe, OLDER},
    {"resources/unsubscribe", al_mcp_resources_unsubscribe, OLDER},
    {"server/discover", al_mcp_discover, NEWER},
    {"subscriptions/listen", al_mcp_listen, NEWER},
    {"tools/list", al_mcp_tools_list, BOTH},
    {"tools/call", al_mcp_tools_call, BOTH},
    {"resources/list", al_mcp_resources_list, BOTH},
    {"resources/templates/list", al_mcp_resources_templates, BOTH},
    {"resources/read", al_mcp_resources_read, BOTH},
    {"completion/complete", al_mcp_complete, BOTH},
};

/* The description of js_run says how a script is written; what it does not know is which tools there are. */
static const char instructions[] =
    "alisio runs code that composes tools. Prefer js_run over many single calls: write one short JavaScript "
    "script "
    "that calls tools (await tools.read_files({glob: \"src/**/*.c\"})), works on their results and returns "
    "only what "
    "matters. Before you call tools that you do not know, ask forge_guide {topic: \"tools\", query: \"what "
    "they should "
    "do\"} for their signatures; {topic: \"js_run\"} has more on scripts, with examples. Files of data (CSV, "
    "TSV, JSON, JSON Lines, XLSX): data_inspect, "
    "then data_query with SQL, from a script, too.";

/* Of what may be switched off. */
static const char dashboards[] =
    " dashboard_generate makes a page of charts of one, without code: prefer it to drawing them in a script.";

static void put_instructions(struct al_jw *w, const struct al_core *core)
{
    bool draws = al_core_tool(core, AL_STR("dashboard_generate")) != NULL;
    autobuf struct al_buf all = AL_BUF_INIT(sizeof instructions + sizeof dashboards);
    al_buf_adds(&all, instructions);
    al_buf_adds(&all, draws ? dashboards : "");
    al_jw_kstr(w, "instructions", al_buf_str(&all));
}

static const struct al_str nothing = {"", 0};

/* --- what a client can do --- */

static void read_capabilities(struct al_mcp_client *c, const struct al_json *v)
{
    const struct al_json *elicitation = al_json_get(v, "elicitation");
    free(c->capabilities);
    c->capabilities = NULL;
    c->elicit_form = c->elicit_url = c->sampling = c->roots = false;
    if (!v || v->type != AL_JSON_OBJECT || v->raw.n > AL_MCP_MAX_CAPABILITIES)
        return;
    c->capabilities = al_xdup(v->raw.p, v->raw.n);
    if (elicitation && elicitation->type == AL_JSON_OBJECT) {
        /* An empty object means forms: in 2025-06-18 there was nothing else. */
        c->elicit_url = al_json_get(elicitation, "url") != NULL;
        c->elicit_form = al_json_get(elicitation, "form") != NULL || !c->elicit_url;
    }
    c->sampling = al_json_get(v, "sampling") != NULL;
    c->roots = al_json_get(v, "roots") != NULL;
}

/* For the provenance of what it makes. */
static void read_info(struct al_mcp_client *c, const struct al_json *v)
{
    struct al_str name = al_json_get_text(v, "name"), version = al_json_get_text(v, "version");
    autobuf struct al_buf out = AL_BUF_INIT(sizeof c->info - 1);
    struct al_jw w;
    c->info[0] = '\0';
    if (!name.n)
        return;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_jw_kstr(&w, "name", al_utf8_cut(name, 80));
    al_jw_kstr(&w, "version", al_utf8_cut(version, 40));
    al_jw_end(&w);
    if (!al_buf_failed(&out))
        snprintf(c->info, sizeof c->info, "%.*s", AL_FMT(al_buf_str(&out)));
}

static void copy_client(struct al_mcp_client *to, const struct al_mcp_client *from)
{
    *to = *from;
    if (from->capabilities)
        to->capabilities = al_xstrdup(from->capabilities);
}

/* --- the versions --- */

static void put_versions(struct al_jw *w)
{
    al_jw_arr(w);
    al_jw_strz(w, MODERN);
    for (size_t i = N_OLDER; i > 0; i--)
        al_jw_strz(w, older[i - 1]);
    al_jw_end(w);
}

static void fail_version(struct al_mcp_request *r, struct al_str asked)
{
    autobuf struct al_buf data = AL_BUF_INIT(4096);
    struct al_jw w;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_key(&w, "supported");
    put_versions(&w);
    al_jw_kstr(&w, "requested", al_utf8_head(asked, 64));
    al_jw_end(&w);
    al_mcp_fail(r, AL_RPC_UNSUPPORTED_VERSION, al_buf_str(&data),
                "unsupported protocol version: this server speaks " MODERN
                " with each request, and 2024-11-05 to 2025-11-25 after initialize");
}

void al_mcp_fail_capability(struct al_mcp_request *r, struct al_str capabilities, const char *what)
{
    autobuf struct al_buf data = AL_BUF_INIT(64u << 10);
    struct al_jw w;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_kraw(&w, "requiredCapabilities", capabilities);
    al_jw_end(&w);
    al_mcp_fail(r, r->client.modern ? AL_RPC_MISSING_CAPABILITY : AL_RPC_INVALID_REQUEST, al_buf_str(&data),
                "%s", what);
}

static int fail_meta(struct al_mcp_request *r, const char *name, const char *kind)
{
    al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing, "\"params._meta\" lacks \"" META "%s\", %s", name, kind);
    return -1;
}

static int read_modern(struct al_mcp_request *r, const struct al_json *meta)
{
    const struct al_json *version = al_json_get(meta, META "protocolVersion");
    const struct al_json *capabilities = al_json_get(meta, META "clientCapabilities");
    const struct al_json *info = al_json_get(meta, META "clientInfo");
    const struct al_json *level = al_json_get(meta, META "logLevel");
    r->client = (struct al_mcp_client){.modern = true, .level = AL_MCP_NO_LOG};
    if (!al_json_is_string(version))
        return fail_meta(r, "protocolVersion", "a string");
    if (!al_str_is(version->str, MODERN)) {
        fail_version(r, version->str);
        return -1;
    }
    snprintf(r->client.version, sizeof r->client.version, "%s", MODERN);
    if (!capabilities || capabilities->type != AL_JSON_OBJECT)
        return fail_meta(r, "clientCapabilities", "an object");
    if (info && (info->type != AL_JSON_OBJECT || !al_json_is_string(al_json_get(info, "name")) ||
                 !al_json_is_string(al_json_get(info, "version"))))
        return fail_meta(r, "clientInfo", "an object with name and version, where it is given");
    read_capabilities(&r->client, capabilities);
    read_info(&r->client, info);
    if (level) {
        r->client.level = al_json_is_string(level) ? al_mcp_level_of(level->str) : AL_MCP_NO_LOG;
        if (r->client.level == AL_MCP_NO_LOG)
            return fail_meta(r, "logLevel",
                             "one of debug, info, notice, warning, error, critical, alert, emergency");
    }
    return 0;
}

/* A request says what it speaks: by its _meta, by being initialize, or by what was agreed on before. */
static int read_client(struct al_mcp_request *r, const struct al_json *params)
{
    const struct al_mcp_peer *p = r->peer;
    const struct al_json *meta = al_json_get(params, "_meta");
    bool named = al_json_get(meta, META "protocolVersion") != NULL;
    bool modern_only = p->client.modern || strcmp(r->method, "server/discover") == 0 ||
                       strcmp(r->method, "subscriptions/listen") == 0;
    if (named || modern_only) {
        int known = read_modern(r, meta);
        if (known == 0 && r->client.elicit_form)
            al_core_set_can_ask(p->mcp->core, true);
        return known;
    }
    copy_client(&r->client, &p->client);
    return 0;
}

/* --- handlers --- */

void al_mcp_put_info(struct al_jw *w)
{
    al_jw_obj(w);
    al_jw_kstrz(w, "name", "alisio");
    al_jw_kstrz(w, "title", "alisio: code mode");
    al_jw_kstrz(w, "version", AL_VERSION);
    al_jw_end(w);
}

void al_mcp_capabilities(struct al_mcp *m, bool modern, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kraw(&w, "tools", m->relay ? AL_STR("{\"listChanged\":true}") : AL_STR("{}"));
    al_jw_kraw(&w, "resources",
               m->relay ? AL_STR("{\"listChanged\":true,\"subscribe\":true}") : AL_STR("{}"));
    al_jw_kraw(&w, "completions", AL_STR("{}"));
    al_jw_kraw(&w, "logging", AL_STR("{}"));
    if (m->relay)
        al_mcp_relay_capabilities(m->relay, modern, &w);
    al_jw_end(&w);
}

static const char *agree(struct al_str asked)
{
    for (size_t i = 0; i < N_OLDER; i++)
        if (al_str_is(asked, older[i]))
            return older[i];
    return older[N_OLDER - 1];
}

void al_mcp_initialize(struct al_mcp_request *r, const struct al_json *params)
{
    struct al_mcp_peer *p = r->peer;
    snprintf(p->client.version, sizeof p->client.version, "%s",
             agree(al_json_get_text(params, "protocolVersion")));
    read_capabilities(&p->client, al_json_get(params, "capabilities"));
    read_info(&p->client, al_json_get(params, "clientInfo"));
    if (p->client.elicit_form)
        al_core_set_can_ask(p->mcp->core, true); /* so that guides say how to be approved */
    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE),
                          capabilities = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    al_mcp_capabilities(p->mcp, false, &capabilities);
    struct al_jw w;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "protocolVersion", p->client.version);
    al_jw_kraw(&w, "capabilities", al_buf_str(&capabilities));
    al_jw_key(&w, "serverInfo");
    al_mcp_put_info(&w);
    struct al_core *core = p->mcp->core;
    put_instructions(&w, core);
    al_jw_end(&w);
    al_mcp_answer(r, al_buf_str(&out));
    al_core_warm(core); /* while the client thinks */
}

void al_mcp_discover(struct al_mcp_request *r, const struct al_json *params)
{
    (void)params;
    struct al_core *core = r->peer->mcp->core;
    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE),
                          capabilities = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    al_mcp_capabilities(r->peer->mcp, true, &capabilities);
    struct al_jw w;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_jw_key(&w, "supportedVersions");
    put_versions(&w);
    al_jw_kraw(&w, "capabilities", al_buf_str(&capabilities));
    put_instructions(&w, core);
    al_mcp_put_caching(&w, r);
    al_jw_end(&w);
    al_mcp_answer(r, al_buf_str(&out));
    al_core_warm(core);
}

void al_mcp_put_caching(struct al_jw *w, const struct al_mcp_request *r)
{
    if (!r->client.modern)
        return;
    /* What is here is one person's, and may change with their configuration at any time. */
    al_jw_kint(w, "ttlMs", 0);
    al_jw_kstrz(w, "cacheScope", "private");
}

void al_mcp_ping(struct al_mcp_request *r, const struct al_json *params)
{
    (void)params;
    al_mcp_answer(r, nothing);
}

void al_mcp_set_level(struct al_mcp_request *r, const struct al_json *params)
{
    struct al_str name = al_json_get_text(params, "level");
    enum al_mcp_level level = al_mcp_level_of(name);
    if (level == AL_MCP_NO_LOG) {
        al_mcp_fail(
            r, AL_RPC_INVALID_PARAMS, nothing,
            "\"params.level\" is one of debug, info, notice, warning, error, critical, alert, emergency");
        return;
    }
    r->peer->client.level = level;
    if (r->peer->mcp->relay)
        al_mcp_relay_level(r->peer->mcp->relay, name);
    al_mcp_answer(r, nothing);
}

/* --- dispatch --- */

static const struct method *find_method(const struct al_mcp_request *r)
{
    enum eras era = r->client.modern ? NEWER : OLDER;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(r->method, methods[i].name) == 0 && methods[i].eras & era)
            return &methods[i];
    return NULL;
}

static void dispatch(struct al_mcp_request *r, const struct al_json *params)
{
    struct al_mcp_relay *relay = r->peer->mcp->relay;
    if (read_client(r, params) < 0 || al_mcp_resume(r, params))
        return;
    const struct method *method = find_method(r);
    if (method) {
        method->handler(r, params);
        return;
    }
    if (relay && al_mcp_relay_request(relay, r, params))
        return;
    autobuf struct al_buf shown = AL_BUF_INIT(1024);
    al_text_visible(&shown, al_utf8_head(al_str_of(r->method), 64), false);
    al_mcp_fail(r, AL_RPC_METHOD_NOT_FOUND, nothing, "no such method: %.*s", AL_FMT(al_buf_str(&shown)));
}

/* What the configuration has to say about itself goes to the client's log: a person reads that, and no model
 * pays. */
static void tell_config(struct al_mcp_peer *p)
{
    const char *const *notices;
    size_t n = al_config_notices(al_core_config(p->mcp->core), &notices);
    for (size_t i = 0; i < n && !p->closing; i++) {
        autobuf struct al_buf data = AL_BUF_INIT(16384);
        struct al_jw w;
        al_jw_init(&w, &data);
        al_jw_strz(&w, notices[i]);
        if (!al_buf_failed(&data))
            al_mcp_log(p, NULL, AL_MCP_WARNING, "config", al_buf_str(&data));
    }
}

static void take_notification(struct al_mcp_peer *p, const struct al_rpc *rpc)
{
    if (al_str_is(rpc->method, "notifications/cancelled")) {
        const struct al_json *id = al_json_get(rpc->params, "requestId");
        struct al_mcp_request *r = id ? al_mcp_find_request(p, id->raw) : NULL;
        if (r) /* else it has ended, or never was: a race that the protocol allows */
            al_mcp_cancel(r);
    } else if (al_str_is(rpc->method, "notifications/initialized")) {
        p->initialized = true;
        tell_config(p);
        al_mcp_roots_begin(p);
    } else if (al_str_is(rpc->method, "notifications/roots/list_changed")) {
        al_mcp_roots_changed(p);
        if (p->mcp->relay)
            al_mcp_relay_roots_changed(p->mcp->relay);
    }
}

enum al_mcp_took al_mcp_message(struct al_mcp_peer *p, struct al_str message, void *channel)
{
    /* Nodes cost more than the text that they stand for; a message of many tiny values meets this limit
     * first. */
    autoarena struct al_arena arena = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    struct al_rpc rpc;
    if (p->closing)
        return AL_MCP_TOOK_OTHER;
    al_rpc_read(&arena, message, &rpc);
    switch (rpc.kind) {
    case AL_RPC_REQUEST: {
        struct al_mcp_request *r = al_mcp_request_new(p, &rpc, channel);
        if (r)
            dispatch(r, rpc.params);
        return AL_MCP_TOOK_REQUEST;
    }
    case AL_RPC_NOTIFICATION:
        take_notification(p, &rpc);
        return AL_MCP_TOOK_OTHER;
    case AL_RPC_RESPONSE:
        al_mcp_answered(p, &rpc);
        return AL_MCP_TOOK_OTHER;
    case AL_RPC_BROKEN:
        break;
    }
    al_mcp_send_error(p, rpc.id, rpc.error_code, al_str_of(rpc.error));
    return AL_MCP_TOOK_BROKEN;
}
