/* tools/list and tools/call: the registry and the core, in the protocol's words. */
#include "mcp/mcp_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/jsrun.h"

#include <stdlib.h>

bool al_mcp_offers(const struct al_mcp *m, const struct al_tool *tool)
{
    if (!al_core_tool_registered(m->core, tool))
        return false;
    if (!tool->expose)
        return true;
    if (al_str_is(al_str_of(tool->expose), "files"))
        return m->opts.expose_files;
    if (al_str_is(al_str_of(tool->expose), "process"))
        return m->opts.expose_process;
    return false;
}

/* Hints for the client's own approval dialog. js_run can do what the gate lets its nested calls do now. */
static void put_annotations(struct al_jw *w, const struct al_mcp *m, const struct al_tool *tool)
{
    const struct al_policy *p = al_core_policy(m->core);
    bool writes = tool->effect != AL_EFFECT_READ && tool->effect != AL_EFFECT_INTERNAL;
    bool destructive = tool->destructive, open_world = tool->open_world;
    if (tool == &al_tool_js_run || tool == &al_tool_execute) {
        writes = !p->read_only && (p->allow_write || p->allow_process || p->allow_external || p->allow_mcp);
        destructive = writes;
        open_world = !p->read_only && (p->allow_process || p->allow_external || p->allow_mcp);
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

void al_mcp_tools_list(struct al_mcp *m, struct al_str id)
{
    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    struct al_jw w;
    al_mcp_begin(&w, &out, id);
    al_jw_key(&w, "result");
    al_jw_obj(&w);
    al_jw_key(&w, "tools");
    al_jw_arr(&w);
    for (size_t i = 0; i < al_core_n_tools(m->core); i++) {
        const struct al_tool *tool = al_core_tool_at(m->core, i);
        if (!al_mcp_offers(m, tool))
            continue;
        al_jw_obj(&w);
        al_jw_kstrz(&w, "name", tool->name);
        al_jw_kstrz(&w, "title", tool->title);
        al_jw_kstrz(&w, "description", tool->description);
        al_jw_kraw(&w, "inputSchema", al_str_of(tool->input_schema));
        if (tool->output_schema)
            al_jw_kraw(&w, "outputSchema", al_str_of(tool->output_schema));
        put_annotations(&w, m, tool);
        al_jw_end(&w);
    }
    al_jw_end(&w);
    al_jw_end(&w);
    al_jw_end(&w);
    al_mcp_send(m, &out);
}

/* --- calls --- */

static void request_free(struct al_mcp_request *r)
{
    struct al_mcp *m = r->mcp;
    for (struct al_mcp_request **at = &m->requests; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            m->n_requests--;
            break;
        }
    free(r->id);
    free(r->progress_token);
    free(r);
}

static void put_text(struct al_jw *w, const struct al_call *call, size_t max_chars)
{
    autobuf struct al_buf text = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    autobuf struct al_buf cut = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    al_buf_add_str(&text, al_buf_str(&call->text));
    /* A tool that has words of its own for its failure has put the code into them. */
    if (call->err.code != AL_OK && text.n == 0) {
        al_buf_addf(&text, "%s: %s", al_code_name(call->err.code), call->err.msg);
        if (call->err.hint[0])
            al_buf_addf(&text, "\nhint: %s", call->err.hint);
    }
    al_mcp_bound_text(al_buf_str(&text), max_chars, &cut);
    al_jw_key(w, "content");
    al_jw_arr(w);
    al_jw_obj(w);
    al_jw_kstrz(w, "type", "text");
    al_jw_kstr(w, "text", al_buf_str(&cut));
    al_jw_end(w);
    al_jw_end(w);
}

static void put_structured(struct al_jw *w, const struct al_call *call, size_t max_chars)
{
    if (call->structured.n == 0)
        return;
    autobuf struct al_buf bounded = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    if (call->tool == &al_tool_js_run || call->tool == &al_tool_execute)
        al_jsrun_bounded(al_buf_str(&call->structured), max_chars, &bounded);
    else
        al_mcp_bound_json(al_buf_str(&call->structured), max_chars, &bounded);
    if (bounded.n)
        al_jw_kraw(w, "structuredContent", al_buf_str(&bounded));
}

static void on_done(void *ud, struct al_call *call)
{
    struct al_mcp_request *r = ud;
    struct al_mcp *m = r->mcp;
    r->call = NULL;
    if (!r->cancelled) {
        size_t max = (size_t)al_config_int(al_core_config(m->core), AL_OPT_FORGE_JAVASCRIPT_MAX_OUTPUT_CHARS);
        autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
        struct al_jw w;
        al_mcp_begin(&w, &out, al_str_of(r->id));
        al_jw_key(&w, "result");
        al_jw_obj(&w);
        put_text(&w, call, max);
        put_structured(&w, call, max);
        al_jw_kbool(&w, "isError", call->err.code != AL_OK);
        al_jw_end(&w);
        al_jw_end(&w);
        al_mcp_send(m, &out);
    }
    request_free(r);
    al_mcp_check_idle(m);
}

/* {"completed"?,"total"?,"note"?,"calls":{"started","finished"}} → notifications/progress. */
static void on_progress(void *ud, struct al_str json)
{
    struct al_mcp_request *r = ud;
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    const struct al_json *p;
    double value = 0, total = 0;
    if (!r->progress_token || r->cancelled || al_json_parse(&arena, json, &p, NULL) < 0)
        return;
    bool has_total = al_json_double(al_json_get(p, "total"), &total);
    if (!al_json_double(al_json_get(p, "completed"), &value)) {
        has_total = false;
        if (!al_json_double(al_json_get(al_json_get(p, "calls"), "finished"), &value) || value <= r->progress)
            value = r->progress + 1; /* a note alone is a step, too */
    }
    if (!(value > r->progress))
        return;
    r->progress = value;

    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    struct al_jw w;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "jsonrpc", "2.0");
    al_jw_kstrz(&w, "method", "notifications/progress");
    al_jw_key(&w, "params");
    al_jw_obj(&w);
    al_jw_kraw(&w, "progressToken", al_str_of(r->progress_token));
    al_jw_key(&w, "progress");
    al_jw_double(&w, value);
    if (has_total) {
        al_jw_key(&w, "total");
        al_jw_double(&w, total);
    }
    struct al_str note = al_json_get_text(p, "note");
    if (note.n)
        al_jw_kstr(&w, "message", al_utf8_head(note, 500));
    al_jw_end(&w);
    al_jw_end(&w);
    al_mcp_send(r->mcp, &out);
}

static struct al_mcp_request *find_request(struct al_mcp *m, struct al_str id)
{
    for (struct al_mcp_request *r = m->requests; r; r = r->next)
        if (al_str_is(id, r->id))
            return r;
    return NULL;
}

static char *progress_token(const struct al_json *params)
{
    const struct al_json *token = al_json_get(al_json_get(params, "_meta"), "progressToken");
    if (!token || token->raw.n > 1024 || (token->type != AL_JSON_STRING && token->type != AL_JSON_NUMBER))
        return NULL;
    return al_xdup(token->raw.p, token->raw.n);
}

void al_mcp_tools_call(struct al_mcp *m, struct al_str id, const struct al_json *params)
{
    struct al_str name = al_json_get_text(params, "name");
    const struct al_json *args = al_json_get(params, "arguments");
    const struct al_tool *tool = name.n ? al_core_tool(m->core, name) : NULL;
    if (!al_json_is_string(al_json_get(params, "name"))) {
        al_mcp_send_error(m, id, AL_RPC_INVALID_PARAMS, "\"params.name\", the tool's name, is missing");
        return;
    }
    if (!tool || !al_mcp_offers(m, tool)) {
        autobuf struct al_buf shown = AL_BUF_INIT(1024);
        al_text_visible(&shown, al_utf8_head(name, 64), false);
        al_mcp_send_error(m, id, AL_RPC_INVALID_PARAMS, "unknown tool: %.*s", AL_FMT(al_buf_str(&shown)));
        return;
    }
    if (find_request(m, id)) {
        al_mcp_send_error(m, id, AL_RPC_INVALID_REQUEST, "a request with this id is still running");
        return;
    }
    if (m->n_requests >= AL_MCP_MAX_IN_FLIGHT) {
        al_mcp_send_error(m, id, AL_RPC_INTERNAL_ERROR, "BUSY: %u requests are open already",
                          AL_MCP_MAX_IN_FLIGHT);
        return;
    }
    struct al_mcp_request *r = al_xcalloc(1, sizeof *r);
    r->mcp = m;
    r->id = al_xdup(id.p, id.n);
    r->progress_token = progress_token(params);
    r->next = m->requests;
    m->requests = r;
    m->n_requests++;
    struct al_call_spec spec = {
        .tool = name,
        .args_json = args ? args->raw : AL_STR("{}"),
        .origin = AL_ORIGIN_MCP,
        .progress = on_progress,
        .done = on_done,
        .ud = r,
    };
    r->call = al_core_call(m->core, &spec);
}

void al_mcp_cancelled(struct al_mcp *m, const struct al_json *params)
{
    const struct al_json *id = al_json_get(params, "requestId");
    struct al_mcp_request *r = id ? find_request(m, id->raw) : NULL;
    if (!r || r->cancelled)
        return; /* it has ended, or never was: a race that the protocol allows */
    r->cancelled = true;
    if (r->call)
        al_call_cancel(r->call);
}

void al_mcp_cancel_all(struct al_mcp *m)
{
    for (struct al_mcp_request *r = m->requests; r; r = r->next)
        if (r->call)
            al_call_cancel(r->call);
}
