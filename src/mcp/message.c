/* One JSON-RPC message: what it asks for, and who answers. */
#include "mcp/mcp_int.h"

#include "base/text.h"

/* Oldest first. A client that asks for another version is answered with the newest, as the protocol wants. */
static const char *const versions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
enum {
    N_VERSIONS = sizeof versions / sizeof *versions
};

static const char instructions[] = "alisio runs code that composes tools. Prefer js_run over many single "
                                   "calls: write one short JavaScript script "
                                   "that calls tools (await tools.read_files({glob: \"src/**/*.c\"})), works "
                                   "on their results and returns only what "
                                   "matters. Call forge_guide {topic: \"js_run\"} once before the first "
                                   "script, and {topic: \"tools\"} for what a "
                                   "script may call.";

static void answer_initialize(struct al_mcp *m, struct al_str id, const struct al_json *params)
{
    struct al_str asked = al_json_get_text(params, "protocolVersion");
    const char *version = versions[N_VERSIONS - 1];
    for (size_t i = 0; i < N_VERSIONS; i++)
        if (al_str_is(asked, versions[i]))
            version = versions[i];

    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    struct al_jw w;
    al_mcp_begin(&w, &out, id);
    al_jw_key(&w, "result");
    al_jw_obj(&w);
    al_jw_kstrz(&w, "protocolVersion", version);
    al_jw_kraw(&w, "capabilities", AL_STR("{\"tools\":{}}"));
    al_jw_key(&w, "serverInfo");
    al_jw_obj(&w);
    al_jw_kstrz(&w, "name", "alisio");
    al_jw_kstrz(&w, "title", "alisio: code mode");
    al_jw_kstrz(&w, "version", AL_VERSION);
    al_jw_end(&w);
    al_jw_kstrz(&w, "instructions", instructions);
    al_jw_end(&w);
    al_jw_end(&w);
    al_mcp_send(m, &out);
}

static void answer_empty(struct al_mcp *m, struct al_str id)
{
    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    struct al_jw w;
    al_mcp_begin(&w, &out, id);
    al_jw_kraw(&w, "result", AL_STR("{}"));
    al_jw_end(&w);
    al_mcp_send(m, &out);
}

static void answer(struct al_mcp *m, const struct al_rpc *rpc)
{
    struct al_str id = rpc->id, method = rpc->method;
    if (al_str_is(method, "initialize")) {
        answer_initialize(m, id, rpc->params);
        al_core_warm(m->core); /* while the client thinks */
    } else if (al_str_is(method, "ping")) {
        answer_empty(m, id);
    } else if (al_str_is(method, "tools/list")) {
        al_mcp_tools_list(m, id);
    } else if (al_str_is(method, "tools/call")) {
        al_mcp_tools_call(m, id, rpc->params);
    } else {
        autobuf struct al_buf shown = AL_BUF_INIT(1024);
        al_text_visible(&shown, al_utf8_head(method, 64), false);
        al_mcp_send_error(m, id, AL_RPC_METHOD_NOT_FOUND, "no such method: %.*s", AL_FMT(al_buf_str(&shown)));
    }
}

void al_mcp_message(struct al_mcp *m, struct al_str line)
{
    /* Nodes cost more than the text that they stand for; a message of many tiny values meets this limit
     * first. */
    autoarena struct al_arena arena = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    struct al_rpc rpc;
    al_rpc_read(&arena, line, &rpc);
    switch (rpc.kind) {
    case AL_RPC_REQUEST:
        answer(m, &rpc);
        break;
    case AL_RPC_NOTIFICATION:
        if (al_str_is(rpc.method, "notifications/cancelled"))
            al_mcp_cancelled(m, rpc.params);
        break;
    case AL_RPC_RESPONSE: /* nothing is asked of the client yet */
        break;
    case AL_RPC_BROKEN:
        al_mcp_send_error(m, rpc.id, rpc.error_code, "%s", rpc.error);
        break;
    }
}
