/* tools/call of an upstream server's tool: through the gate and the journal as any call, with its result as
 * it came. */
#include "mcp/relay_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "store/catalog.h"

#include <stdio.h>

static const struct al_str nothing = {"", 0};

/* --- names --- */

static bool is_ours(const struct al_mcp *m, struct al_str name)
{
    const struct al_tool *own = al_core_tool(m->core, name);
    return own && al_mcp_offers(m, own, NULL);
}

enum al_relay_tool al_relay_tool_name(struct al_mcp_relay *relay, const struct al_relay_server *s,
                                      struct al_str tool, char out[AL_RELAY_NAME_MAX + 1])
{
    struct al_mcp *m = relay->mcp;
    autoarena struct al_arena a = AL_ARENA_INIT(64u << 20);
    struct al_catalog_tool found;
    char *z = memchr(tool.p, 0, tool.n) ? NULL : al_arena_dup(&a, tool);
    struct al_err err;
    if (!z || al_catalog_find_of(al_core_store(m->core), al_relay_name(s), z, &a, &found, &err) < 0)
        return AL_RELAY_TOOL_NONE;
    snprintf(out, AL_RELAY_NAME_MAX + 1, "%s", found.name);
    if (al_server_policy(al_upstream_config(s->upstream), tool) == AL_POLICY_DENY)
        return AL_RELAY_TOOL_HIDDEN;
    return is_ours(m, m->opts.plain_names ? tool : al_str_of(out)) ? AL_RELAY_TOOL_HIDDEN
                                                                   : AL_RELAY_TOOL_OFFERED;
}

static bool find_called(const struct al_mcp_relay *relay, const char *name, struct al_arena *a,
                        struct al_catalog_tool *ret)
{
    struct al_store *store = al_core_store(relay->mcp->core);
    struct al_err err;
    if (!relay->mcp->opts.plain_names)
        return al_catalog_find(store, name, a, ret, &err) == 0;
    return relay->n && al_catalog_find_of(store, al_relay_name(&relay->servers[0]), name, a, ret, &err) == 0;
}

bool al_mcp_relay_schema(struct al_mcp_relay *relay, struct al_str name, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(64u << 20);
    struct al_catalog_tool found;
    char *z = !name.n || memchr(name.p, 0, name.n) ? NULL : al_arena_dup(&a, name);
    if (!z || is_ours(relay->mcp, name) || !find_called(relay, z, &a, &found) || !found.input_schema)
        return false;
    al_buf_adds(out, found.input_schema);
    return !al_buf_failed(out);
}

/* Fills w->server and w->target, the tool's name there. */
static bool find_tool(struct al_relay_work *w)
{
    autoarena struct al_arena a = AL_ARENA_INIT(64u << 20);
    struct al_catalog_tool found;
    w->server = find_called(w->relay, w->wanted, &a, &found)
                    ? al_relay_find(w->relay, al_str_of(found.server))
                    : NULL;
    if (!w->server)
        return false;
    free(w->target);
    free(w->registered);
    w->target = al_xstrdup(found.tool);
    w->registered = al_xstrdup(found.name);
    return true;
}

/* --- the call --- */

static void pass_error(struct al_relay_work *w, const struct al_err *err)
{
    autobuf struct al_buf text = AL_BUF_INIT(8192), out = AL_BUF_INIT(64u << 10);
    struct al_jw jw;
    al_buf_addf(&text, "%s: %s", al_code_name(err->code), err->msg);
    if (err->hint[0])
        al_buf_addf(&text, "\nhint: %s", err->hint);
    al_jw_init(&jw, &out);
    al_jw_obj(&jw);
    al_jw_key(&jw, "content");
    al_jw_arr(&jw);
    al_jw_obj(&jw);
    al_jw_kstrz(&jw, "type", "text");
    al_jw_kstr(&jw, "text", al_buf_str(&text));
    al_jw_end(&jw);
    al_jw_end(&jw);
    al_jw_kbool(&jw, "isError", true);
    al_jw_end(&jw);
    al_relay_end_result(w, al_buf_str(&out));
}

static void unknown_tool(struct al_relay_work *w)
{
    autobuf struct al_buf text = AL_BUF_INIT(4096);
    al_mcp_unknown_tool(w->relay->mcp, al_str_of(w->wanted), &text);
    al_relay_end_error(w, AL_RPC_INVALID_PARAMS, al_buf_str(&text), nothing);
}

static void give_ticket(struct al_relay_work *w, const struct al_json *result)
{
    autoarena struct al_arena a = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    const struct al_json *params;
    struct al_err ignored; /* it was read before */
    if (al_json_parse(&a, al_str_of(w->r->params), &params, &ignored) == 0)
        al_relay_ticket_give(w, params, result);
}

static void on_done(void *ud, struct al_call *call)
{
    struct al_relay_work *w = ud;
    autoarena struct al_arena a = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    const struct al_json *v;
    struct al_err err;
    w->call = NULL;
    if (call->tool)
        memcpy(w->definition, call->tool->sha256, sizeof(w->definition));
    if (!w->relay) {
        al_relay_work_free(w);
    } else if (call->err.code == AL_TOOL_NOT_FOUND) {
        unknown_tool(w);
    } else if (!call->relayed.n) {
        pass_error(w, &call->err);
    } else if (al_json_parse(&a, al_buf_str(&call->relayed), &v, &err) < 0 || v->type != AL_JSON_OBJECT) {
        al_fail(&err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s gave an answer that cannot be read",
                al_relay_name(w->server));
        pass_error(w, &err);
    } else if (call->relayed_failure) {
        al_relay_pass_failure(w, v);
    } else {
        if (w->approved && w->r)
            give_ticket(w, v);
        al_relay_pass_result(w, v, "tools/call");
    }
}

static void on_question(void *ud, struct al_str method, struct al_str params, struct al_question_reply *reply)
{
    al_relay_question(ud, method, params, reply);
}

/* A server of the older era gives no state: one that comes all the same is no longer known to us, and the
 * call must not begin anew under it. */
static bool is_stray_retry(const struct al_relay_work *w, const struct al_json *params)
{
    const char *version = al_upstream_protocol(w->server->upstream);
    return w->modern && version[0] && !al_relay_modern(w->server) && al_json_get(params, "requestState");
}

static void start(struct al_relay_work *w)
{
    autoarena struct al_arena a = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE), name = AL_BUF_INIT(64u << 10);
    struct al_jw jw;
    struct al_relay_params p = {.member = "name"};
    if (al_json_parse(&a, al_str_of(w->r->params), &p.params, NULL) < 0)
        p.params = NULL;
    if (is_stray_retry(w, p.params)) {
        al_relay_end_error(
            w, AL_RPC_INVALID_PARAMS,
            AL_STR("\"requestState\" is not one that waits here: it was used, has expired, or is not "
                   "ours"),
            nothing);
        return;
    }
    al_jw_init(&jw, &name);
    al_jw_strz(&jw, w->target);
    p.member_json = al_buf_str(&name);
    al_relay_params_of(w, &p, &out);
    if (al_buf_failed(&out)) {
        al_relay_end_error(w, AL_RPC_INVALID_PARAMS, AL_STR("the parameters are too long to be passed on"),
                           nothing);
        return;
    }
    const struct al_json *args = al_json_get(p.params, "arguments");
    bool goes_on = w->n_rounds > 0 || al_relay_ticket_take(w, p.params); /* the same call */
    struct al_call_spec spec = {
        .tool = al_str_of(w->registered),
        .args_json = args ? args->raw : AL_STR("{}"),
        .origin = AL_ORIGIN_MCP,
        .relay = true,
        .preapproved = goes_on,
        .approved_sha256 = goes_on ? w->definition : NULL,
        .params_json = al_buf_str(&out),
        .owner = w->owner,
        .ask = al_mcp_can_ask(&w->client, "elicitation/create", nothing) ? al_relay_approve : NULL,
        .question = on_question,
        .progress = al_relay_call_progress,
        .done = on_done,
        .ud = w,
    };
    w->again = start;
    w->starting = true;
    w->call = al_core_call(w->relay->mcp->core, &spec);
    w->starting = false;
    if (w->cancelled)
        al_call_cancel(w->call);
}

/* --- a tool that is not known yet --- */

static void start_found(struct al_relay_work *w)
{
    if (find_tool(w))
        start(w);
    else
        unknown_tool(w);
}

static void server_known(struct al_relay_wait *wait, const struct al_err *err)
{
    struct al_relay_work *w = wait->work;
    wait->server->settled = !err;
    if (--w->n_waits == 0)
        start_found(w);
}

/* Servers whose tools were not asked for in this process are, all at once, before a tool is said to be
 * unknown. */
static void look_for(struct al_relay_work *w)
{
    w->n_waits = 1;
    for (size_t i = 0; i < w->relay->n; i++) {
        struct al_relay_server *s = &w->relay->servers[i];
        if (s->settled)
            continue;
        w->n_waits++;
        al_relay_refresh(w->relay, s, w, server_known);
    }
    if (--w->n_waits == 0)
        unknown_tool(w);
}

bool al_mcp_relay_tool(struct al_mcp_relay *relay, struct al_mcp_request *r, const struct al_json *params)
{
    struct al_str name = al_json_get_text(params, "name");
    bool plain = relay->mcp->opts.plain_names;
    if (!relay->n || !name.n || memchr(name.p, 0, name.n) || (!plain && !al_str_starts(name, "mcp_")))
        return false;
    struct al_relay_work *w = al_relay_work_new(relay, r);
    w->wanted = al_xdup(name.p, name.n);
    if (find_tool(w))
        start(w);
    else
        look_for(w);
    return true;
}
