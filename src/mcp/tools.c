/* tools/list and tools/call: the registry and the core, in the protocol's words. */
#include "mcp/mcp_int.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/jsrun.h"

#include <math.h>

#define LINKS_ROOM 1500u /* bytes of links that there always is */

static const struct al_str nothing = {"", 0};

/* Whether a call of it could happen: by a flag or a grant, or since the person can be asked. What would hold
 * a script is the gate's to find out with the call. */
static bool may_pass(const struct al_mcp *m, const struct al_tool *tool, const struct al_mcp_client *client)
{
    const struct al_core *core = m->core;
    struct al_gate_query q = al_gate_query_of(tool, AL_ORIGIN_MCP);
    if (!client || client->elicit_form)
        return true;
    q.granted = al_store_grant_valid(al_core_store(core), al_core_session(core)->id,
                                     tool->capability ? tool->capability : tool->name, NULL);
    return al_gate_decide(al_core_policy(core), &q, tool->name, NULL) == 0;
}

bool al_mcp_offers(const struct al_mcp *m, const struct al_tool *tool, const struct al_mcp_client *client)
{
    if (!al_core_tool_registered(m->core, tool))
        return false;
    if (!tool->expose)
        return true;
    if (al_str_is(al_str_of(tool->expose), "files"))
        return m->opts.expose_files;
    if (al_str_is(al_str_of(tool->expose), "process"))
        return m->opts.expose_process;
    if (al_str_is(al_str_of(tool->expose), "approval"))
        return may_pass(m, tool, client);
    return false;
}

/* Hints for the client's own approval dialog. js_run can do what the gate lets its nested calls do now. */
static void put_annotations(struct al_jw *w, const struct al_mcp *m, const struct al_tool *tool)
{
    const struct al_policy *p = al_core_policy(m->core);
    bool writes = tool->effect != AL_EFFECT_READ; /* also what only publishes */
    bool destructive = tool->destructive, open_world = tool->open_world;
    bool unsandboxed = p->allow_analysis && p->allow_analysis_unsandboxed;
    if (tool->capability) /* what no wall may hold */
        destructive = open_world = p->allow_process || unsandboxed;
    if (tool == &al_tool_js_run || tool == &al_tool_execute) {
        destructive = !p->read_only && (p->allow_write || p->allow_process || p->allow_external ||
                                        p->allow_mcp || unsandboxed);
        writes = destructive || (!p->read_only && p->allow_analysis);
        open_world = !p->read_only && (p->allow_process || p->allow_external || p->allow_mcp || unsandboxed);
    }
    al_jw_key(w, "annotations");
    al_jw_obj(w);
    al_jw_kstrz(w, "title", tool->title);
    al_jw_kbool(w, "readOnlyHint", !writes);
    al_jw_kbool(w, "destructiveHint", writes && destructive);
    al_jw_kbool(w, "idempotentHint", tool->idempotent);
    al_jw_kbool(w, "openWorldHint", open_world);
    al_jw_end(w);
}

void al_mcp_put_tool(struct al_jw *w, struct al_mcp *m, const struct al_tool *tool)
{
    al_jw_obj(w);
    al_jw_kstrz(w, "name", tool->name);
    al_jw_kstrz(w, "title", tool->title);
    al_jw_kstrz(w, "description", tool->description);
    al_jw_kraw(w, "inputSchema", al_str_of(tool->input_schema));
    if (tool->output_schema)
        al_jw_kraw(w, "outputSchema", al_str_of(tool->output_schema));
    put_annotations(w, m, tool);
    al_jw_end(w);
}

/* The tools between the brackets of an array. */
static void put_offered(struct al_mcp *m, const struct al_mcp_client *client, struct al_buf *out)
{
    for (size_t i = 0; i < al_core_n_tools(m->core); i++) {
        const struct al_tool *tool = al_core_tool_at(m->core, i);
        if (!al_mcp_offers(m, tool, client))
            continue;
        if (out->n)
            al_buf_addc(out, ',');
        struct al_jw w;
        al_jw_init(&w, out);
        al_mcp_put_tool(&w, m, tool);
    }
}

void al_mcp_tools_list(struct al_mcp_request *r, const struct al_json *params)
{
    struct al_mcp *m = r->peer->mcp;
    autobuf struct al_buf tools = AL_BUF_INIT(AL_MCP_MAX_MESSAGE), out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    put_offered(m, &r->client, &tools);
    if (m->relay) {
        al_mcp_relay_list(m->relay, r, params, "tools", al_buf_str(&tools));
        return;
    }
    if (!al_mcp_first_page(r, params))
        return;
    al_mcp_put_list(r, &out, "tools", al_buf_str(&tools), nothing);
    al_mcp_answer(r, al_buf_str(&out));
}

bool al_mcp_first_page(struct al_mcp_request *r, const struct al_json *params)
{
    const struct al_json *cursor = al_json_get(params, "cursor");
    if (!cursor || cursor->type == AL_JSON_NULL)
        return true;
    al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing, "\"params.cursor\" is not one that was given out");
    return false;
}

void al_mcp_put_list(const struct al_mcp_request *r, struct al_buf *out, const char *member,
                     struct al_str items, struct al_str cursor)
{
    struct al_jw w;
    autobuf struct al_buf array = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    al_buf_addf(&array, "[%.*s]", AL_FMT(items));
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kraw(&w, member, al_buf_str(&array));
    if (cursor.n)
        al_jw_kstr(&w, "nextCursor", cursor);
    al_mcp_put_caching(&w, r);
    al_jw_end(&w);
}

/* --- calls --- */

/* A call of one of our tools. request is NULL while the client has to come back with an answer (ask.c), and
 * after it did not. */
struct work {
    struct al_mcp *mcp;
    struct al_mcp_request *request;
    struct al_call *call;
    struct asking *asking;
};

/* Asking the person about it: lives until the answer, which may come after the call's end. */
struct asking {
    struct work *work; /* NULL: it has ended */
    struct al_mcp_request *request;
    void (*answer)(void *ud, enum al_approval approval);
    void *ud;
};

static bool is_run(const struct al_tool *tool)
{
    return tool == &al_tool_js_run || tool == &al_tool_execute;
}

static void bound_structured(const struct al_call *call, size_t max_chars, struct al_buf *out)
{
    if (call->structured.n == 0)
        return;
    if (is_run(call->tool))
        al_jsrun_bounded(al_buf_str(&call->structured), max_chars, out);
    else
        al_mcp_bound_json(al_buf_str(&call->structured), max_chars, out);
}

static bool says_truncated(struct al_str json)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(4u << 20);
    const struct al_json *v;
    struct al_err ignored;
    return json.n && al_json_parse(&arena, json, &v, &ignored) == 0 &&
           al_json_is_true(al_json_get(v, "truncated"));
}

/* A person reads the client's log; that a server of theirs fails is worth a line there. */
static void log_failure(struct al_mcp_request *r, const struct al_call *call)
{
    autobuf struct al_buf data = AL_BUF_INIT(8192);
    struct al_jw w;
    if (call->err.code != AL_UPSTREAM_UNAVAILABLE)
        return;
    al_jw_init(&w, &data);
    al_jw_strz(&w, call->err.msg);
    al_mcp_log(r->peer, r, AL_MCP_ERROR, "servers", al_buf_str(&data));
}

/* The id that a description of a dataset begins with; else empty. A call refused before its tool was found
 * has none. */
static struct al_str dataset_of(const struct al_call *call)
{
    static const char before[] = "{\"datasetId\":\"";
    struct al_str s = al_buf_str(&call->structured);
    if (!call->tool || strcmp(call->tool->name, "data_inspect") != 0 || !al_str_starts(s, before))
        return nothing;
    s.p += strlen(before);
    s.n -= strlen(before);
    const char *end = memchr(s.p, '"', s.n);
    s.n = end ? (size_t)(end - s.p) : 0;
    return al_id_valid(s, "ds") ? s : nothing;
}

/* Where something of a run or of a description was left out, a link to the whole of it; clients know links
 * since 2025-06-18. */
static void put_link(struct al_jw *w, const struct al_mcp_request *r, const struct al_call *call,
                     bool truncated)
{
    struct al_str dataset = dataset_of(call);
    struct al_str id = call->execution_id[0] ? al_str_of(call->execution_id) : dataset;
    if (!truncated || !id.n || strcmp(r->client.version, "2025-06-18") < 0)
        return;
    autobuf struct al_buf uri = AL_BUF_INIT(128);
    al_buf_addf(&uri, "%s://%.*s", call->execution_id[0] ? "run" : "dataset", AL_FMT(id));
    al_jw_obj(w);
    al_jw_kstrz(w, "type", "resource_link");
    al_jw_kstr(w, "uri", al_buf_str(&uri));
    al_jw_kstr(w, "name", id);
    al_jw_kstrz(w, "mimeType", "application/json");
    al_jw_end(w);
}

/* Clients know links since 2025-06-18. With the text they take no more than the room that a text may. */
static void put_artifacts(struct al_jw *w, const struct al_mcp_request *r, const struct al_call *call,
                          size_t used, size_t max_chars)
{
    autobuf struct al_buf links = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    size_t room = LINKS_ROOM + (max_chars > used ? max_chars - used : 0);
    if (strcmp(r->client.version, "2025-06-18") < 0)
        return;
    al_mcp_artifact_links(r->peer->mcp, call, room, &links);
    if (links.n)
        al_jw_raw(w, (struct al_str){links.p + 1, links.n - 1});
}

static void put_content(struct al_jw *w, const struct al_mcp_request *r, const struct al_call *call,
                        size_t max_chars, bool truncated)
{
    autobuf struct al_buf text = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    autobuf struct al_buf cut = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    al_call_model_text(call, &text);
    al_mcp_bound_text(al_buf_str(&text), max_chars, &cut);
    al_jw_key(w, "content");
    al_jw_arr(w);
    al_jw_obj(w);
    al_jw_kstrz(w, "type", "text");
    al_jw_kstr(w, "text", al_buf_str(&cut));
    al_jw_end(w);
    put_link(w, r, call, truncated);
    put_artifacts(w, r, call, cut.n, max_chars);
    al_jw_end(w);
}

static void answer_call(struct al_mcp_request *r, const struct al_call *call)
{
    const struct al_config *config = al_core_config(r->peer->mcp->core);
    size_t max = (size_t)al_config_int(config, AL_OPT_FORGE_JAVASCRIPT_MAX_OUTPUT_CHARS);
    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE), structured = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    struct al_jw w;
    log_failure(r, call);
    bound_structured(call, max, &structured);
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    put_content(&w, r, call, max, says_truncated(al_buf_str(&structured)));
    if (structured.n)
        al_jw_kraw(&w, "structuredContent", al_buf_str(&structured));
    al_jw_kbool(&w, "isError", call->err.code != AL_OK);
    al_jw_end(&w);
    al_mcp_answer(r, al_buf_str(&out));
}

static void on_done(void *ud, struct al_call *call)
{
    struct work *work = ud;
    if (work->asking)
        work->asking->work = NULL;
    if (work->request)
        answer_call(work->request, call);
    free(work);
}

/* {"completed"?,"total"?,"note"?,"calls":{"started","finished"}} → notifications/progress. */
static void on_progress(void *ud, struct al_str json)
{
    struct al_mcp_request *r = ((struct work *)ud)->request;
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    const struct al_json *p;
    double value = 0, total = NAN;
    if (!r || !r->progress_token || r->cancelled || al_json_parse(&arena, json, &p, NULL) < 0)
        return;
    if (al_json_double(al_json_get(p, "completed"), &value)) {
        al_json_double(al_json_get(p, "total"), &total);
    } else if (!al_json_double(al_json_get(al_json_get(p, "calls"), "finished"), &value) ||
               value <= r->progress) {
        value = r->progress + 1; /* a note alone is a step, too */
    }
    al_mcp_progress(r, value, total, al_json_get_text(p, "note"));
}

static void cancel_work(void *ud)
{
    struct work *work = ud;
    if (work->call)
        al_call_cancel(work->call);
}

static void on_approval(void *ud, enum al_approval approval)
{
    struct asking *asking = ud;
    struct work *work = asking->work;
    void (*answer)(void *ud, enum al_approval approval) = asking->answer;
    void *answer_ud = asking->ud;
    if (work) {
        work->request = asking->request;
        work->asking = NULL;
    }
    free(asking);
    answer(answer_ud, approval);
}

static void on_ask(void *ud, const struct al_ask *ask)
{
    struct work *work = ud;
    if (!work->request) { /* the client went while it was asked before */
        ask->answer(ask->ud, AL_APPROVAL_NONE);
        return;
    }
    struct asking *asking = al_xcalloc(1, sizeof *asking);
    struct al_ask wrapped = *ask;
    asking->work = work;
    asking->request = work->request;
    asking->answer = ask->answer;
    asking->ud = ask->ud;
    wrapped.answer = on_approval;
    wrapped.ud = asking;
    work->asking = asking;
    if (work->request->client.modern)
        work->request = NULL; /* answered within; another one comes with the answer */
    al_mcp_approve(&asking->request, &wrapped);
}

static void start_call(struct al_mcp_request *r, const struct al_tool *tool, const struct al_json *args)
{
    struct work *work = al_xcalloc(1, sizeof *work);
    work->mcp = r->peer->mcp;
    work->request = r;
    r->work = work;
    r->cancel = cancel_work;
    struct al_call_spec spec = {
        .tool = al_str_of(tool->name),
        .args_json = args ? args->raw : AL_STR("{}"),
        .origin = AL_ORIGIN_MCP,
        .client = al_str_of(r->client.info),
        .ask = r->client.elicit_form ? on_ask : NULL,
        .progress = on_progress,
        .done = on_done,
        .ud = work,
    };
    work->call = al_core_call(work->mcp->core, &spec);
}

/* A tool that is not offered since nothing would let it pass says what would. */
static bool add_way_in(const struct al_mcp *m, const struct al_tool *tool, struct al_buf *out)
{
    struct al_gate_query q = al_gate_query_of(tool, AL_ORIGIN_MCP);
    struct al_err err;
    if (!tool->expose || !al_str_is(al_str_of(tool->expose), "approval"))
        return false;
    if (!al_core_tool_registered(m->core, tool) ||
        al_gate_decide(al_core_policy(m->core), &q, tool->name, &err) == 0)
        return false;
    al_buf_addf(out, " (it needs an approval, and this client cannot ask its user: %s)", err.hint);
    return true;
}

void al_mcp_unknown_tool(const struct al_mcp *m, struct al_str name, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(8u << 20);
    autobuf struct al_buf close = AL_BUF_INIT(1024);
    const struct al_tool *tool = name.n ? al_core_find_tool(m->core, name, &a) : NULL;
    const struct al_tool *js_run = al_core_tool(m->core, AL_STR("js_run"));
    bool by_script = js_run && al_mcp_offers(m, js_run, NULL);
    al_buf_adds(out, "unknown tool: ");
    al_text_visible(out, al_utf8_head(name, 64), false);
    if (tool && add_way_in(m, tool, out))
        return;
    if (tool && by_script && !tool->not_callable && tool->gate != AL_GATE_DENY)
        al_buf_adds(out, " (it is for the scripts of js_run)");
    if (tool)
        return;
    al_core_close_names(m->core, name, &close);
    if (close.n > 0)
        al_buf_addf(out, " (%.*s)", AL_FMT(al_buf_str(&close)));
}

void al_mcp_tools_call(struct al_mcp_request *r, const struct al_json *params)
{
    struct al_mcp *m = r->peer->mcp;
    struct al_str name = al_json_get_text(params, "name");
    if (al_mcp_roots_wait(r))
        return;
    const struct al_tool *tool = name.n ? al_core_tool(m->core, name) : NULL;
    if (!al_json_is_string(al_json_get(params, "name"))) {
        al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing, "\"params.name\", the tool's name, is missing");
        return;
    }
    if (tool && al_mcp_offers(m, tool, &r->client)) {
        start_call(r, tool, al_json_get(params, "arguments"));
        return;
    }
    if (m->relay && al_mcp_relay_tool(m->relay, r, params))
        return;
    autobuf struct al_buf text = AL_BUF_INIT(4096);
    al_mcp_unknown_tool(m, name, &text);
    al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing, "%.*s", AL_FMT(al_buf_str(&text)));
}

void al_mcp_tools_call_again(struct al_mcp_request *r)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    const struct al_json *params = NULL;
    struct al_err ignored; /* it was read before */
    if (r->params_n && al_json_parse(&arena, (struct al_str){r->params, r->params_n}, &params, &ignored) < 0)
        params = NULL;
    al_mcp_tools_call(r, params);
}
