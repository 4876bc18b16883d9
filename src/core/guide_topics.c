/* The texts. They are read by a model, which pays for every word and believes what it reads: short, and true
 * now. */
#include "base/text.h"
#include "core/core_int.h"
#include "core/guide.h"
#include "core/jsrun_int.h"

#include <string.h>

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
        "back. For one call to one tool, call the tool itself.\n");
    if (al_core_tool(core, AL_STR("python_run")))
        al_buf_adds(out, "python_run runs a Python script: statistics, charts, reports, files to keep.\n");
    al_buf_adds(out, "\nTopics of forge_guide:\n");
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

/* `uses` is a field of a call, which who types a script does not write. */
static bool is_typed(const struct al_core *core)
{
    return strcmp(core->source, "cli") == 0;
}

static bool is_agent(const struct al_core *core)
{
    return strcmp(core->source, "agent") == 0;
}

static void write_approvals(const struct al_core *core, struct al_buf *out)
{
    al_buf_adds(out, "A nested call cannot ask for approval: ");
    if (is_typed(core))
        al_buf_adds(out, "what has effects needs --allow-write, --allow-process, --allow-external or "
                         "--allow-mcp=SERVER.TOOL.");
    else if (core->can_ask)
        al_buf_addf(out, "name tools with effects in uses, beside code%s.",
                    is_agent(core)
                        ? "; the person is asked once, before the start. Or call them outside of the script"
                        : "");
    else
        al_buf_addf(out, "what the person did not allow when alisio was started is refused, and %s.",
                    is_agent(core) ? "nobody can be asked" : "this client cannot ask them");
    al_buf_adds(out, core->scratch ? " scratch: paths are always allowed.\n" : "\n");
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
        "- tools.list(query?) and tools.describe(name): synchronous.\n");
    if (core->source_ops)
        al_buf_adds(out, "- MCP servers: tools.SERVER.TOOL(args); tools.list(\"words\") finds tools. A "
                         "picture, or several parts, come as {parts: [{type, text | mimeType, data, "
                         "bytes}]}, data in base64.\n");
    al_buf_adds(out,
                "- tools.map(items, fn, {concurrency, settle}): in parallel, results in order.\n"
                "- print(...v) (also console.log), progress({completed, total, note}).\n"
                "- input: the call's input, else null. ALISIO: executionId, sessionId, limits, engine.\n");
    if (al_config_bool(al_core_config(core), AL_OPT_FORGE_STATE_ENABLED))
        al_buf_adds(
            out,
            "- state: a plain object kept across the runs of the session; saved when the script ends without "
            "error; JSON values only.\n");
    al_buf_adds(out, "Calls run at once; those with effects go one after the other, in order. Await all that "
                     "you start.\n");
    write_approvals(core, out);
    if (al_core_tool(core, AL_STR("data_query")))
        al_buf_adds(
            out,
            "Data files: tools.data_inspect({path}), then tools.data_query({datasetId, sql}): let SQL do the "
            "counting (topic data).\n");
    if (al_core_scratch(core))
        al_buf_adds(
            out, "Long scripts: keep them in the scratchpad and pass codePath, as "
                 "{\"codePath\":\"plan.js\"}. File "
                 "tools take scratch:plan.js. Results that are too long are kept whole in scratch:out/.\n");
    guide_add_examples(core, "js_run", out);
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
                core->can_ask && !is_typed(core)
                    ? "- APPROVAL_REQUIRED: name the tool in uses, beside code.\n"
                    : "- APPROVAL_REQUIRED: the person who starts alisio has to allow it; the hint names "
                      "the flag.\n");
    al_buf_adds(
        out,
        "- PERMISSION_DENIED: no approval can allow it here, or the person said no; do without.\n"
        "- TOOL_NOT_FOUND: look at the close names in the hint, or tools.list(query).\n"
        "- TOOL_INPUT_INVALID: each problem with its JSON pointer; tools.describe(name) has the schema.\n"
        "- TOOL_ERROR, TOOL_TIMEOUT: the tool itself failed; read its message.\n"
        "- UPSTREAM_UNAVAILABLE: a server or site cannot be reached; the message says why. Try once more "
        "later, "
        "or do without.\n"
        "- AUTH_REQUIRED: an MCP server wants a token that only a person can give it.\n"
        "- NOT_CALLABLE: that tool is not for scripts.\n"
        "- RESULT_TOO_LARGE: one nested result over 8 MiB; ask for a part.\n"
        "- DEADLOCK: the script awaits what can never settle.\n"
        "- INVALID_RESULT: the value has a cycle or is too deep; the message has the path.\n"
        "- ENGINE_CRASHED, ENGINE_UNAVAILABLE: not the script's fault; a person should run alisio forge "
        "status.\n"
        "- PYTHON_FAILED: an exception in a Python script; the traceback has its lines. PUBLISH_REJECTED: a "
        "file that it "
        "left cannot be published; the message has the path and the reason. RERUN_REFUSED: script or inputs "
        "are not as "
        "they were. EXTRAS_NOT_INSTALLED: a person installs them. RUNTIME_UNAVAILABLE: no place to run "
        "Python; a person "
        "should run alisio analysis status.\n"
        "- CANCELLED: someone stopped the run. BUSY: too many runs; try again later.\n");
    guide_add_examples(core, "errors", out);
}

const struct guide_topic guide_topics[] = {
    {"overview", "what code mode is for", NULL, write_overview},
    {"js_run", "the script API, with examples", "js_run", write_js_run},
    {"tools", "what a script may call now; with query, the signatures that fit best", NULL,
     guide_write_tools},
    {"data", "data files and SQL over them: data_inspect, data_query", "data_query", guide_write_data},
    {"python_run", "Python scripts and the files they publish: where they run, what they get", "python_run",
     guide_write_python},
    {"dashboards", "pages of a dataset without code: dashboard_generate", "dashboard_generate",
     guide_write_dashboards},
    {"limits", "limits in force", NULL, write_limits},
    {"errors", "each error code and its cure", NULL, write_errors},
    {"last", "the last run of this session", NULL, guide_write_last},
};
const size_t guide_n_topics = sizeof guide_topics / sizeof guide_topics[0];
