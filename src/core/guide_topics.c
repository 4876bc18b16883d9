/* The texts. They are read by a model, which pays for every word and believes what it reads: short, and true
 * now. */
#include "base/text.h"
#include "core/core_int.h"
#include "core/guide.h"
#include "core/jsrun_int.h"

static long long number(const struct al_core *core, enum al_opt o)
{
    return (long long)al_config_int(al_core_config(core), o);
}

static void write_overview(struct al_core *core, struct al_str query, struct al_buf *out)
{
    (void)query;
    al_buf_adds(
        out,
        "# Code mode\n"
        "js_run runs one script that calls tools. Use it to combine several calls: fan out, page, filter, "
        "join, count. The results of nested calls stay in the script; only what it returns or prints comes "
        "back. For one call to one tool, call the tool itself.\n\n"
        "Topics of forge_guide:\n");
    for (size_t i = 0; i < guide_n_topics; i++) {
        if (guide_topic_live(core, &guide_topics[i]))
            al_buf_addf(out, "- %s: %s\n", guide_topics[i].name, guide_topics[i].what);
    }
    al_buf_addf(
        out,
        "\nNow: %lld ms and %lld tool calls a script (timeoutMs up to %lld), %lld characters come back.\n",
        number(core, AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS),
        number(core, AL_OPT_FORGE_JAVASCRIPT_MAX_TOOL_CALLS),
        number(core, AL_OPT_FORGE_JAVASCRIPT_MAX_TIMEOUT_MS),
        number(core, AL_OPT_FORGE_JAVASCRIPT_MAX_OUTPUT_CHARS));
    guide_add_examples(core, "overview", out);
}

static void write_js_run(struct al_core *core, struct al_str query, struct al_buf *out)
{
    (void)query;
    al_buf_adds(
        out,
        "# js_run\n"
        "The code is the body of a strict async function: top-level await and return work; without return "
        "the value "
        "is null. A single expression or function is evaluated, called and returned. Modern JavaScript; no "
        "import, "
        "no types, no files, network, timers or process.\n"
        "- await tools.call(name, args) or tools.NAME(args): the structured result, else text (parsed when "
        "it is "
        "an object or array). A failure rejects with an Error: name ToolError, code, message, hint, tool.\n"
        "- tools.list(query?) and tools.describe(name): synchronous.\n"
        "- tools.map(items, fn, {concurrency, settle}): in parallel, results in order.\n"
        "- print(...v) (also console.log), progress({completed, total, note}).\n"
        "- input: the call's input, else null. ALISIO: executionId, sessionId, limits, engine.\n");
    if (al_config_bool(al_core_config(core), AL_OPT_FORGE_STATE_ENABLED))
        al_buf_adds(
            out,
            "- state: a plain object kept across the runs of the session; saved when the script ends without "
            "error; JSON values only.\n");
    al_buf_adds(
        out,
        "Calls run at once; those with effects go one after the other, in order. Await all that you start.\n"
        "A nested call cannot ask for approval: ");
    al_buf_adds(out,
                core->can_ask
                    ? "name tools with effects in uses, beside code.\n"
                    : "what the person did not allow when alisio was started is refused, and nobody can be "
                      "asked here. scratch: paths are always allowed.\n");
    if (al_core_scratch(core))
        al_buf_adds(
            out, "Long scripts: keep them in the scratchpad and pass codePath, as "
                 "{\"codePath\":\"plan.js\"}. File "
                 "tools take scratch:plan.js. Results that are too long are kept whole in scratch:out/.\n");
    guide_add_examples(core, "js_run", out);
}

#define MAX_SERVERS_NAMED 20
#define MAX_SOURCE_TOOLS 30

struct servers {
    struct al_buf *out;
    size_t n;
};

static void add_server(void *ud, const char *server, int64_t n_tools)
{
    struct servers *s = ud;
    if (s->n++ >= MAX_SERVERS_NAMED)
        return;
    al_buf_adds(s->out, s->n > 1 ? ", " : "\nMCP servers: ");
    jscut_line(al_str_of(server), 64, s->out);
    if (n_tools < 0)
        al_buf_adds(s->out, " (not fetched yet: the first call does it)");
    else
        al_buf_addf(s->out, " (%lld)", (long long)n_tools);
}

static void add_servers(const struct al_core *core, struct al_buf *out)
{
    struct servers s = {out, 0};
    if (core->source_ops)
        core->source_ops->servers(core->source_ud, add_server, &s);
    if (s.n == 0)
        return;
    if (s.n > MAX_SERVERS_NAMED)
        al_buf_addf(out, " and %zu more", s.n - MAX_SERVERS_NAMED);
    al_buf_addf(
        out,
        ". query finds their tools by what they do. What needs an approval: %sa person allows it with "
        "`alisio mcp allow SERVER 'PATTERN'`.\n",
        core->can_ask ? "name it in uses, or " : "");
}

/* Who knows the shape can ask for the approval. */
static bool worth_showing(const struct al_tool *tool, const struct al_json *item)
{
    return al_json_is_true(al_json_get(item, "callable")) ||
           (tool->server && tool->gate != AL_GATE_DENY &&
            al_str_starts(al_json_get_text(item, "reason"), "APPROVAL_REQUIRED"));
}

/* What helps is said once, above. */
static struct al_str short_reason(const struct al_tool *tool)
{
    return tool->gate == AL_GATE_CHANGED ? AL_STR("its description has changed: a person has to review it")
                                         : AL_STR("needs an approval");
}

/* One line a tool; those that cannot be called now are named with the reason afterwards. */
static void write_tools(struct al_core *core, struct al_str query, struct al_buf *out)
{
    autobuf struct al_buf list = AL_BUF_INIT(4u << 20), refused = AL_BUF_INIT(64u << 10);
    struct al_arena a = AL_ARENA_INIT(16u << 20);
    const struct al_json *v = NULL;
    size_t n = 0, left = 0;
    al_catalog_list(core, query, MAX_SOURCE_TOOLS, AL_ORIGIN_SCRIPT, &list);
    al_buf_adds(out, "# Tools that a script may call now\n");
    add_servers(core, out);
    if (al_json_parse(&a, al_buf_str(&list), &v, NULL) < 0)
        v = NULL;
    al_json_each(item, v)
    {
        autoarena struct al_arena of_tool = AL_ARENA_INIT(TOOL_ARENA_MAX);
        const struct al_tool *tool = al_core_find_tool(core, al_json_get_text(item, "name"), &of_tool);
        if (!tool)
            continue;
        struct al_str what = al_json_get_text(item, "description"), why = al_json_get_text(item, "reason");
        if (!worth_showing(tool, item)) {
            al_buf_addf(&refused, "- %s: ", tool->name);
            jscut_line(why, 160, &refused);
            al_buf_addc(&refused, '\n');
            continue;
        }
        if (out->n > GUIDE_MAX_BYTES - 1800) {
            left++;
            continue;
        }
        n++;
        autobuf struct al_buf signature = AL_BUF_INIT(64u << 10);
        al_registry_call_signature(core, tool, &signature);
        al_buf_addc(out, '\n');
        jscut_text(al_buf_str(&signature), 700, out);
        al_buf_addf(out, "\n  // %s: %.*s", al_effect_name(tool->effect), AL_FMT(what));
        if (why.n)
            al_buf_addf(out, " (%.*s)", AL_FMT(tool->server ? short_reason(tool) : why));
        al_buf_addc(out, '\n');
    }
    al_arena_free(&a);
    if (n == 0)
        al_buf_adds(out, query.n ? "None fits the query.\n" : "None.\n");
    if (left)
        al_buf_addf(out, "\n%zu more: narrow with query.\n", left);
    if (refused.n && out->n + refused.n < GUIDE_MAX_BYTES - 512)
        al_buf_addf(out, "\nNot callable now:\n%.*s", AL_FMT(al_buf_str(&refused)));
    if (out->n < GUIDE_MAX_BYTES - 600)
        guide_add_examples(core, "tools", out);
}

static void write_limits(struct al_core *core, struct al_str query, struct al_buf *out)
{
    (void)query;
    static const enum al_opt shown[] = {
        AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS,       AL_OPT_FORGE_JAVASCRIPT_MAX_TIMEOUT_MS,
        AL_OPT_FORGE_JAVASCRIPT_MAX_TOOL_CALLS,   AL_OPT_FORGE_JAVASCRIPT_MAX_CONCURRENCY,
        AL_OPT_FORGE_JAVASCRIPT_MAX_OUTPUT_CHARS, AL_OPT_FORGE_JAVASCRIPT_MEMORY_BYTES,
        AL_OPT_FORGE_JAVASCRIPT_STACK_BYTES,      AL_OPT_FORGE_STATE_MAX_TOTAL_BYTES,
        AL_OPT_FORGE_SCRATCH_MAX_BYTES,
    };
    al_buf_adds(out, "# Limits now\n");
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        al_buf_addf(out, "- %s: %lld. %s\n", al_opt_name(shown[i]), number(core, shown[i]),
                    al_opt_help(shown[i]));
    al_buf_addf(out,
                "- code: 200,000 characters; printed text 16 MiB; a value 32 MiB and 100 levels; one nested "
                "result 8 MiB.\n"
                "- This host: %d scripts at once, %d waiting, then BUSY.\n\n"
                "Time is wall clock and counts nested calls; timeoutMs may ask for more, up to maxTimeoutMs. "
                "What is longer "
                "than maxOutputChars is cut at a line or element, never an error%s. Only the person who runs "
                "alisio can "
                "raise a limit, in the user's config.\n",
                AL_HOST_MAX_RUNS, AL_HOST_MAX_QUEUED,
                al_core_scratch(core) ? "; the whole is kept in the scratchpad and the last line says where"
                                      : "");
    guide_add_examples(core, "limits", out);
}

static void write_errors(struct al_core *core, struct al_str query, struct al_buf *out)
{
    (void)query;
    al_buf_adds(
        out,
        "# Errors\n"
        "Nested calls reject inside the script, so that try/catch and Promise.allSettled work; the run "
        "itself fails with the "
        "first error that nothing caught. What was printed and called until then is still in the result.\n"
        "- INVALID_INPUT: the arguments of js_run; the hint names the field.\n"
        "- SYNTAX_ERROR: it does not compile; mend the line that is named.\n"
        "- SCRIPT_ERROR: an exception that nothing caught.\n"
        "- TIMEOUT: the hint says what was pending. Do less, go parallel, or pass timeoutMs.\n"
        "- MEMORY_LIMIT, STACK_LIMIT: hold less at once; recurse less.\n"
        "- CALL_LIMIT: too many nested calls; it can be caught. Use calls that do more.\n"
        "- OUTPUT_LIMIT: far too much printed or returned; summarise.\n"
        "- STATE_LIMIT, STATE_CONFLICT: the value is there, the state was not saved; another run changed the "
        "same key.\n");
    al_buf_adds(out,
                core->can_ask
                    ? "- APPROVAL_REQUIRED: name the tool in uses, beside code.\n"
                    : "- APPROVAL_REQUIRED: the person who starts alisio has to allow it; the hint names "
                      "the flag.\n");
    al_buf_adds(
        out,
        "- PERMISSION_DENIED: no approval can allow it here; do without.\n"
        "- TOOL_NOT_FOUND: look at the close names in the hint, or tools.list(query).\n"
        "- TOOL_INPUT_INVALID: each problem with its JSON pointer; tools.describe(name) has the schema.\n"
        "- TOOL_ERROR, TOOL_TIMEOUT: the tool itself failed; read its message.\n"
        "- NOT_CALLABLE: that tool is not for scripts.\n"
        "- RESULT_TOO_LARGE: one nested result over 8 MiB; ask for a part.\n"
        "- DEADLOCK: the script awaits what can never settle.\n"
        "- INVALID_RESULT: the value has a cycle or is too deep; the message has the path.\n"
        "- ENGINE_CRASHED, ENGINE_UNAVAILABLE: not the script's fault; a person should run alisio forge "
        "status.\n"
        "- CANCELLED: someone stopped the run. BUSY: too many runs; try again later.\n");
    guide_add_examples(core, "errors", out);
}

const struct guide_topic guide_topics[] = {
    {"overview", "what code mode is for", NULL, write_overview},
    {"js_run", "the script API, with examples", "js_run", write_js_run},
    {"tools", "signatures of what a script may call now; query narrows", NULL, write_tools},
    {"limits", "limits in force", NULL, write_limits},
    {"errors", "each error code and its cure", NULL, write_errors},
    {"last", "the last run of this session", NULL, guide_write_last},
};
const size_t guide_n_topics = sizeof guide_topics / sizeof guide_topics[0];
