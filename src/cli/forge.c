#include "cli/analysis.h"
#include "cli/agent_cmd.h"
#include "cli/commands.h"
#include "cli/mcp_common.h"
#include "cli/table.h"

#include "base/text.h"

#include <string.h>

static const char *const layer_names[] = {
    [AL_LAYER_DEFAULT] = "default", [AL_LAYER_USER] = "user", [AL_LAYER_PROJECT] = "project",
    [AL_LAYER_ENV] = "environment", [AL_LAYER_FLAG] = "flag",
};

static const char *host_reason(const char *configured)
{
    if (configured && strcmp(configured, "worker") == 0)
        return "forge.javascript.host says worker; scripts always run in a process of their own";
    return "each script runs in a sealed process of its own";
}

static void engine_part(struct al_app *app, struct al_reply *reply, struct al_jw *w)
{
    const struct al_engine_build *b = al_engine_build();
    const char *configured = al_config_text(app->config, AL_OPT_FORGE_JAVASCRIPT_HOST);
    bool on = al_config_bool(app->config, AL_OPT_FORGE_JAVASCRIPT_ENABLED);
    struct al_buf *out = &reply->text;
    al_buf_addf(out, "%-10s %s %s, %s\n", "engine", b->name, b->version,
                on ? "on (js_run)" : "off (execute in its place)");
    al_buf_addf(out, "%-10s %s\n%-10s wasm SHA-256 %s\n%-10s %s\n", "built from", b->package, "",
                b->wasm_sha256, "", b->wasm2c);
    al_buf_addf(out, "%-10s process-vm\n%-10s process: %s\n", "isolation", "host", host_reason(configured));
    al_jw_key(w, "engine");
    al_jw_obj(w);
    al_jw_kstrz(w, "name", b->name);
    al_jw_kstrz(w, "version", b->version);
    al_jw_kbool(w, "enabled", on);
    al_jw_key(w, "builtFrom");
    al_jw_obj(w);
    al_jw_kstrz(w, "package", b->package);
    al_jw_kstrz(w, "wasmSha256", b->wasm_sha256);
    al_jw_kstrz(w, "wasm2c", b->wasm2c);
    al_jw_end(w);
    al_jw_kstrz(w, "isolation", "process-vm");
    al_jw_kstrz(w, "host", "process");
    al_jw_kstrz(w, "configuredHost", configured ? configured : "auto");
    al_jw_kstrz(w, "reason", host_reason(configured));
    al_jw_end(w);
}

static void limits_part(struct al_app *app, struct al_reply *reply, struct al_jw *w)
{
    static const enum al_opt limits[] = {
        AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS,       AL_OPT_FORGE_JAVASCRIPT_MAX_TIMEOUT_MS,
        AL_OPT_FORGE_JAVASCRIPT_MEMORY_BYTES,     AL_OPT_FORGE_JAVASCRIPT_STACK_BYTES,
        AL_OPT_FORGE_JAVASCRIPT_MAX_TOOL_CALLS,   AL_OPT_FORGE_JAVASCRIPT_MAX_CONCURRENCY,
        AL_OPT_FORGE_JAVASCRIPT_MAX_OUTPUT_CHARS, AL_OPT_FORGE_STATE_MAX_TOTAL_BYTES,
        AL_OPT_ANALYSIS_DATA_MAX_UPLOAD_BYTES,    AL_OPT_ANALYSIS_DATA_MAX_ROWS,
        AL_OPT_ANALYSIS_DATA_QUERY_TIMEOUT_MS,    AL_OPT_ANALYSIS_LIMITS_TIMEOUT_MS,
        AL_OPT_ANALYSIS_LIMITS_MEMORY_MB,         AL_OPT_ANALYSIS_LIMITS_PROCESSES,
        AL_OPT_ANALYSIS_LIMITS_MAX_FILES,         AL_OPT_ANALYSIS_LIMITS_MAX_FILE_BYTES,
        AL_OPT_ANALYSIS_LIMITS_MAX_OUTPUT_BYTES,
    };
    static const char *const heads[] = {"LIMIT", "VALUE", "FROM", NULL};
    autotable struct al_table t;
    al_table_init(&t, heads);
    t.right = 1u << 1;
    t.fixed = 1;
    al_jw_key(w, "limits");
    al_jw_arr(w);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        enum al_opt o = limits[i];
        const char *from = layer_names[al_config_layer(app->config, o)],
                   *origin = al_config_origin(app->config, o);
        al_table_add(&t, al_opt_name(o));
        al_table_addf(&t, "%lld", (long long)al_config_int(app->config, o));
        al_table_addf(&t, "%s%s%.400s", from, origin ? " " : "", origin ? origin : "");
        al_jw_obj(w);
        al_jw_kstrz(w, "key", al_opt_name(o));
        al_jw_kint(w, "value", al_config_int(app->config, o));
        al_jw_kstrz(w, "from", from);
        al_jw_kstrz(w, "origin", origin);
        al_jw_end(w);
    }
    al_jw_end(w);
    al_buf_addc(&reply->text, '\n');
    al_table_print(app, &t, &reply->text);
    al_buf_addc(&reply->text, '\n');
}

static void scratch_part(struct al_app *app, struct al_reply *reply, struct al_jw *w)
{
    struct al_scratch *s = al_core_scratch(app->core);
    struct al_buf *out = &reply->text;
    struct al_err err = {0};
    al_buf_addf(out, "%-10s ", "scratchpad");
    al_jw_key(w, "scratch");
    al_jw_obj(w);
    al_jw_kbool(w, "enabled", s != NULL);
    if (!s) {
        al_buf_adds(out, "off (forge.scratch.enabled)\n");
    } else if (al_scratch_fd(s, &err) < 0) {
        al_buf_addf(out, "cannot be made: %s\n", err.msg);
        al_jw_kstrz(w, "error", err.msg);
    } else {
        int64_t bytes = al_scratch_bytes(s), max = al_config_int(app->config, AL_OPT_FORGE_SCRATCH_MAX_BYTES);
        al_say_foreign(app, out, al_str_of(al_scratch_path(s)), false);
        al_buf_adds(out, ", ");
        al_text_bytes(out, (uint64_t)bytes);
        al_buf_adds(out, " of ");
        al_text_bytes(out, (uint64_t)max);
        al_buf_addc(out, '\n');
        if (al_scratch_note(s))
            al_buf_addf(out, "%-10s %s\n", "", al_scratch_note(s));
        al_jw_kstrz(w, "path", al_scratch_path(s));
        al_jw_kint(w, "bytes", bytes);
        al_jw_kint(w, "maxBytes", max);
        al_jw_kstrz(w, "note", al_scratch_note(s));
    }
    al_jw_end(w);
}

static void data_part(struct al_app *app, struct al_reply *reply, struct al_jw *w)
{
    bool on = al_config_bool(app->config, AL_OPT_ANALYSIS_ENABLED);
    int64_t n = 0, bytes = 0, max = al_config_int(app->config, AL_OPT_STORAGE_MAX_BYTES);
    struct al_err err = {0};
    struct al_buf *out = &reply->text;
    al_buf_addf(
        out, "%-10s %s", "data",
        on ? "on (data_inspect, data_query), each file and each query in a sealed process of its own\n"
           : "off (analysis.enabled)\n");
    al_jw_key(w, "data");
    al_jw_obj(w);
    al_jw_kbool(w, "enabled", on);
    al_jw_kstrz(w, "isolation", "process");
    if (al_store_dataset_usage(al_core_store(app->core), NULL, &n, &bytes, &err) == 0) {
        al_buf_addf(out, "%-10s %lld, ", "datasets", (long long)n);
        al_text_bytes(out, (uint64_t)bytes);
        al_buf_adds(out, " of ");
        al_text_bytes(out, (uint64_t)max);
        al_buf_adds(out, " (all workspaces)\n");
        al_jw_kint(w, "datasets", n);
        al_jw_kint(w, "bytes", bytes);
        al_jw_kint(w, "maxBytes", max);
    } else {
        al_buf_addf(out, "%-10s %s\n", "datasets", err.msg);
    }
    al_jw_end(w);
}

/* One self-test's line, and its object under key. */
static int put_probe(struct al_app *app, struct al_reply *reply, struct al_jw *w, int r, const char *name,
                     const char *key, const char *passed)
{
    bool ok = r == 0;
    al_buf_addf(&reply->text, "%-10s %s%s%s\n", name, al_style_on(app->color, ok ? AL_GOOD : AL_BAD),
                ok ? passed : "failed", al_style_off(app->color, ok ? AL_GOOD : AL_BAD));
    al_jw_key(w, key);
    al_jw_obj(w);
    al_jw_kbool(w, "passed", ok);
    if (!ok)
        al_jw_kstrz(w, "message", reply->err.msg);
    al_jw_end(w);
    return r;
}

static int probe_data(struct al_app *app, struct al_reply *reply, struct al_jw *w)
{
    if (!al_config_bool(app->config, AL_OPT_ANALYSIS_ENABLED))
        return 0;
    int r = al_data_self_test(al_core_data(app->core), app->loop, &reply->err);
    return put_probe(app, reply, w, r, "data test", "dataProbe",
                     "passed: a known file, a known query, an endless one, a refused system call");
}

/* The self-test is the answer to "does it work here": when it fails, so does the command. */
static int probe_part(struct al_app *app, struct al_reply *reply, struct al_jw *w)
{
    int r = al_engine_self_test(al_core_engine(app->core), app->loop, &reply->err);
    return put_probe(app, reply, w, r, "self-test", "probe",
                     "passed: a known script, an interrupted loop, a refused system call");
}

int al_cmd_forge_status(struct al_app *app, struct al_reply *reply)
{
    struct al_jw w;
    int r = 0;
    if (al_app_core(app, "cli", &reply->err) < 0)
        return -1;
    bool guides = al_config_bool(app->config, AL_OPT_FORGE_GUIDES_ENABLED);
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    engine_part(app, reply, &w);
    limits_part(app, reply, &w);
    scratch_part(app, reply, &w);
    data_part(app, reply, &w);
    if (al_config_bool(app->config, AL_OPT_ANALYSIS_ENABLED)) {
        al_buf_adds(&reply->text, "\npython scripts\n");
        al_say_python(app, al_args_has(&app->args, AL_FLAG_PROBE), &reply->text, &w);
        al_buf_addc(&reply->text, '\n');
    }
    al_buf_addf(&reply->text, "%-10s %s\n", "guides", guides ? "on (forge_guide)" : "off");
    al_jw_kbool(&w, "guides", guides);
    al_buf_addf(&reply->text, "%-10s ", "mcp");
    r = al_say_servers(app, &reply->text, &w, &reply->err);
    al_buf_addc(&reply->text, '\n');
    al_buf_addf(&reply->text, "%-10s ", "provider");
    if (r == 0 && al_endpoint_say(app, &reply->text, &w, &reply->err) < 0)
        r = -1;
    al_buf_addc(&reply->text, '\n');
    if (r == 0 && al_args_has(&app->args, AL_FLAG_PROBE))
        r = probe_part(app, reply, &w);
    if (r == 0 && al_args_has(&app->args, AL_FLAG_PROBE))
        r = probe_data(app, reply, &w);
    al_jw_end(&w);
    return r;
}
