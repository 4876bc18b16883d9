#include "base/text.h"
#include "core/core_int.h"
#include "core/jsrun_int.h"
#include "core/script.h"

#include <stdio.h>

#define MAX_TOOL_NAME 512u /* bytes, as server.tool */

static void read_limits(struct jsrun *r)
{
    const struct al_config *c = al_core_config(r->core);
    struct jsrun_limits *l = &r->limits;
    int64_t most = al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MAX_TIMEOUT_MS);
    int64_t usual = al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS);
    l->timeout_ms = (uint64_t)(usual < most ? usual : most);
    l->memory_bytes = (uint64_t)al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MEMORY_BYTES);
    l->stack_bytes = (uint32_t)al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_STACK_BYTES);
    l->max_calls = (unsigned)al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MAX_TOOL_CALLS);
    l->max_concurrency = (uint32_t)al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MAX_CONCURRENCY);
    l->max_output_chars = (size_t)al_config_int(c, AL_OPT_FORGE_JAVASCRIPT_MAX_OUTPUT_CHARS);
    l->max_state_bytes = (size_t)al_config_int(c, AL_OPT_FORGE_STATE_MAX_TOTAL_BYTES);
    r->state_on = !r->legacy && al_config_bool(c, AL_OPT_FORGE_STATE_ENABLED);
    if (r->legacy) {
        l->timeout_ms = JSRUN_EXECUTE_TIMEOUT_MS;
        l->max_calls = JSRUN_EXECUTE_CALLS;
    }
}

static int read_timeout(struct jsrun *r, const struct al_json *v, struct al_err *err)
{
    if (!v)
        return 0;
    int64_t most = al_config_int(al_core_config(r->core), AL_OPT_FORGE_JAVASCRIPT_MAX_TIMEOUT_MS), ms;
    if (!al_json_int(v, 1, most, &ms)) {
        al_fail(err, AL_INVALID_INPUT, "timeoutMs: an integer from 1 to %lld is wanted", (long long)most);
        return al_hint(err, "the field to mend is timeoutMs; its ceiling is forge.javascript.maxTimeoutMs");
    }
    r->limits.timeout_ms = (uint64_t)ms;
    return 0;
}

static int read_code(struct jsrun *r, const struct al_json *args, struct al_err *err)
{
    return al_script_code(r->core, args, "plan.js", &r->code_file, &r->code, err);
}

static int read_uses(struct jsrun *r, const struct al_json *v, struct al_err *err)
{
    if (!v)
        return 0;
    if (v->type != AL_JSON_ARRAY || v->n > JSRUN_MAX_USES)
        return al_script_bad(err, "uses", "a list of at most 10 tool names is wanted");
    al_json_each(name, v)
    {
        if (!al_json_is_string(name) || name->str.n == 0 || name->str.n > MAX_TOOL_NAME)
            return al_script_bad(err, "uses", "each of it is the name of a tool");
        autoarena struct al_arena a = AL_ARENA_INIT(TOOL_ARENA_MAX);
        const struct al_tool *tool = al_core_find_tool(r->core, name->str, &a);
        if (!tool) {
            autobuf struct al_buf close = AL_BUF_INIT(256);
            al_core_close_names(r->core, name->str, &close);
            autobuf struct al_buf shown = AL_BUF_INIT(600);
            jscut_line(name->str, 130, &shown);
            al_fail(err, AL_INVALID_INPUT, "uses: there is no tool \"%.*s\"", AL_FMT(al_buf_str(&shown)));
            return al_hint(err, "the field to mend is uses%s%.*s", close.n ? "; " : "",
                           AL_FMT(al_buf_str(&close)));
        }
        if (tool->not_callable)
            return al_script_bad(err, "uses", "it names a tool that scripts cannot call");
        r->uses[r->n_uses++] = al_arena_dup(&r->arena, al_str_of(tool->name));
    }
    return 0;
}

int jsrun_read_input(struct jsrun *r, struct al_err *err)
{
    const struct al_json *args = r->call->args;
    static const char *const known[] = {"code", "codePath", "uses", "title", "input", "timeoutMs"};
    size_t n_known = r->legacy ? 1 : sizeof known / sizeof known[0];
    if (al_script_known_fields(args, known, n_known, err) < 0)
        return -1;
    read_limits(r);
    if (read_code(r, args, err) < 0 || read_timeout(r, al_json_get(args, "timeoutMs"), err) < 0 ||
        al_script_title(args, &r->arena, &r->title, err) < 0 ||
        read_uses(r, al_json_get(args, "uses"), err) < 0)
        return -1;
    const struct al_json *input = al_json_get(args, "input");
    if (input)
        r->input = input->raw;
    return 0;
}

void jsrun_limits_json(const struct jsrun *r, struct al_buf *out)
{
    const struct jsrun_limits *l = &r->limits;
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kint(&w, "timeoutMs", (int64_t)l->timeout_ms);
    al_jw_kint(&w, "memoryBytes", (int64_t)l->memory_bytes);
    al_jw_kint(&w, "stackBytes", l->stack_bytes);
    al_jw_kint(&w, "maxToolCalls", l->max_calls);
    al_jw_kint(&w, "maxConcurrency", l->max_concurrency);
    al_jw_kint(&w, "maxOutputChars", (int64_t)l->max_output_chars);
    al_jw_kint(&w, "maxStateBytes", r->state_on ? (int64_t)l->max_state_bytes : 0);
    al_jw_end(&w);
}

void jsrun_engine_json(const struct jsrun *r, struct al_buf *out)
{
    const struct al_engine_build *b = al_engine_build();
    const char *host = al_config_text(al_core_config(r->core), AL_OPT_FORGE_JAVASCRIPT_HOST);
    if (!host)
        host = "auto";
    char reason[160];
    snprintf(reason, sizeof reason, "forge.javascript.host=%.16s: %s", host,
             strcmp(host, "worker") == 0
                 ? "there are no worker threads here, a sealed process runs the script"
                 : "each script runs in a sealed process of its own");
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "name", b->name);
    al_jw_kstrz(&w, "version", b->version);
    al_jw_kstrz(&w, "wasmSha256", b->wasm_sha256);
    al_jw_kstrz(&w, "isolation", "process-vm");
    al_jw_kstrz(&w, "host", "process");
    al_jw_kstrz(&w, "reason", reason);
    al_jw_end(&w);
}

/* Tools that scripts cannot call are named, too: calling one says NOT_CALLABLE, and why. */
void jsrun_tool_names_json(struct al_core *core, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_key(&w, "tools");
    al_jw_arr(&w);
    for (size_t i = 0; i < al_core_n_tools(core); i++) {
        const struct al_tool *tool = al_core_tool_at(core, i);
        if (al_core_tool_registered(core, tool))
            al_jw_strz(&w, tool->name);
    }
    al_jw_end(&w);
    autobuf struct al_buf servers = AL_BUF_INIT(JSRUN_MAX_NAMES + 1024);
    if (core->source_ops)
        core->source_ops->names_json(core->source_ud, JSRUN_MAX_NAMES, &servers);
    if (servers.n && !al_buf_failed(&servers))
        al_jw_kraw(&w, "servers", al_buf_str(&servers));
    al_jw_end(&w);
}
