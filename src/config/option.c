#include "config/config_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define TEXT_MAX 200

static const char *const host_choices[] = {"auto", "process", "worker", NULL};
static const char *const runtime_choices[] = {"auto", "bwrap", "landlock", "oci", "wasm", "managed", NULL};
static const char *const isolation_choices[] = {"preferred", "required", "strict", NULL};
static const char *const engine_choices[] = {"docker", "podman", NULL};

const struct al_opt_def al_opt_table[AL_OPT_COUNT] = {
    [AL_OPT_FORGE_JAVASCRIPT_ENABLED] = {.name = "forge.javascript.enabled",
                                         .help = "js_run is on; off brings the older tool execute back.",
                                         .type = AL_OPT_BOOL,
                                         .project = AL_PROJECT_OFF,
                                         .num = 1},
    [AL_OPT_FORGE_JAVASCRIPT_HOST] = {.name = "forge.javascript.host",
                                      .help = "Where the VM runs; every choice is a process of its own here.",
                                      .type = AL_OPT_CHOICE,
                                      .choices = host_choices},
    [AL_OPT_FORGE_JAVASCRIPT_TIMEOUT_MS] = {.name = "forge.javascript.timeoutMs",
                                            .help =
                                                "Time limit of a script that asks for none, in milliseconds.",
                                            .type = AL_OPT_INT,
                                            .project = AL_PROJECT_LOWER,
                                            .min = 1,
                                            .max = 300000,
                                            .num = 30000},
    [AL_OPT_FORGE_JAVASCRIPT_MAX_TIMEOUT_MS] = {.name = "forge.javascript.maxTimeoutMs",
                                                .help = "The longest time limit that a call may ask for.",
                                                .type = AL_OPT_INT,
                                                .project = AL_PROJECT_LOWER,
                                                .min = 1,
                                                .max = 300000,
                                                .num = 300000},
    [AL_OPT_FORGE_JAVASCRIPT_MEMORY_BYTES] = {.name = "forge.javascript.memoryBytes",
                                              .help = "Heap of the VM in bytes.",
                                              .type = AL_OPT_INT,
                                              .min = 2 * MIB,
                                              .max = 128 * MIB,
                                              .num = 32 * MIB},
    [AL_OPT_FORGE_JAVASCRIPT_STACK_BYTES] = {.name = "forge.javascript.stackBytes",
                                             .help = "Stack of the VM in bytes.",
                                             .type = AL_OPT_INT,
                                             .min = 65536,
                                             .max = 524288,
                                             .num = 262144},
    [AL_OPT_FORGE_JAVASCRIPT_MAX_TOOL_CALLS] = {.name = "forge.javascript.maxToolCalls",
                                                .help = "Nested tool calls of one script; 0 allows none.",
                                                .type = AL_OPT_INT,
                                                .project = AL_PROJECT_LOWER,
                                                .min = 0,
                                                .max = 500,
                                                .num = 50},
    [AL_OPT_FORGE_JAVASCRIPT_MAX_CONCURRENCY] = {.name = "forge.javascript.maxConcurrency",
                                                 .help = "Nested tool calls of one script at the same time.",
                                                 .type = AL_OPT_INT,
                                                 .project = AL_PROJECT_LOWER,
                                                 .min = 1,
                                                 .max = 16,
                                                 .num = 4},
    [AL_OPT_FORGE_JAVASCRIPT_MAX_OUTPUT_CHARS] = {.name = "forge.javascript.maxOutputChars",
                                                  .help = "Characters of a result that reach the model.",
                                                  .type = AL_OPT_INT,
                                                  .project = AL_PROJECT_LOWER,
                                                  .min = 256,
                                                  .max = 48000,
                                                  .num = 16000},
    [AL_OPT_FORGE_STATE_ENABLED] = {.name = "forge.state.enabled",
                                    .help = "Scripts of a session share the object `state`.",
                                    .type = AL_OPT_BOOL,
                                    .project = AL_PROJECT_OFF,
                                    .num = 1},
    [AL_OPT_FORGE_STATE_MAX_TOTAL_BYTES] = {.name = "forge.state.maxTotalBytes",
                                            .help = "Size of that object as JSON, in bytes.",
                                            .type = AL_OPT_INT,
                                            .min = 1024,
                                            .max = 8 * MIB,
                                            .num = 524288},
    [AL_OPT_FORGE_SCRATCH_ENABLED] = {.name = "forge.scratch.enabled",
                                      .help = "Sessions have a scratchpad folder.",
                                      .type = AL_OPT_BOOL,
                                      .num = 1},
    [AL_OPT_FORGE_SCRATCH_ROOT] =
        {.name = "forge.scratch.root",
         .help = "Folder in which the scratchpads are made; unset: the folder for temporary files.",
         .type = AL_OPT_PATH,
         .env = "ALISIO_TMPDIR"},
    [AL_OPT_FORGE_SCRATCH_RETENTION_DAYS] =
        {.name = "forge.scratch.retentionDays",
         .help = "Days without activity before a scratchpad is removed; 0: never.",
         .type = AL_OPT_INT,
         .min = 0,
         .max = 3650,
         .num = 7},
    [AL_OPT_FORGE_SCRATCH_MAX_BYTES] = {.name = "forge.scratch.maxBytes",
                                        .help = "Quota of one scratchpad in bytes.",
                                        .type = AL_OPT_INT,
                                        .min = MIB,
                                        .max = 1024 * GIB,
                                        .num = 256 * MIB},
    [AL_OPT_FORGE_GUIDES_ENABLED] = {.name = "forge.guides.enabled",
                                     .help = "The tool forge_guide is on.",
                                     .type = AL_OPT_BOOL,
                                     .project = AL_PROJECT_OFF,
                                     .num = 1},
    [AL_OPT_FORGE_RUNS_RETENTION_DAYS] = {.name = "forge.runs.retentionDays",
                                          .help = "Days that runs, their code and conversations with a model are kept; 0: for ever.",
                                          .type = AL_OPT_INT,
                                          .min = 0,
                                          .max = 3650,
                                          .num = 90},
    [AL_OPT_STORAGE_MAX_BYTES] = {.name = "storage.maxBytes",
                                  .help = "Quota of artifacts, datasets and jobs together, in bytes.",
                                  .type = AL_OPT_INT,
                                  .min = MIB,
                                  .max = 1024 * 1024 * GIB,
                                  .num = 20 * GIB},
    [AL_OPT_ANALYSIS_ENABLED] = {.name = "analysis.enabled",
                                 .help = "The data tools, python_run and artifacts are on.",
                                 .type = AL_OPT_BOOL,
                                 .project = AL_PROJECT_OFF,
                                 .num = 1},
    [AL_OPT_ANALYSIS_SMART_DASHBOARD] = {.name = "analysis.smartDashboard",
                                         .help = "dashboard_generate is on.",
                                         .type = AL_OPT_BOOL,
                                         .project = AL_PROJECT_OFF,
                                         .num = 1},
    [AL_OPT_ANALYSIS_DATA_MAX_UPLOAD_BYTES] =
        {.name = "analysis.data.maxUploadBytes",
         .help = "Size of a file that becomes a dataset, and of what it unpacks to, in bytes.",
         .type = AL_OPT_INT,
         .project = AL_PROJECT_LOWER,
         .min = 1,
         .max = 64 * GIB,
         .num = 200 * MIB},
    [AL_OPT_ANALYSIS_DATA_MAX_ROWS] = {.name = "analysis.data.maxRows",
                                       .help = "Rows of one sheet of a dataset.",
                                       .type = AL_OPT_INT,
                                       .project = AL_PROJECT_LOWER,
                                       .min = 1,
                                       .max = 2 * GIB,
                                       .num = 5000000},
    [AL_OPT_ANALYSIS_DATA_QUERY_TIMEOUT_MS] =
        {.name = "analysis.data.queryTimeoutMs",
         .help = "Time limit of a query that asks for none, in milliseconds.",
         .type = AL_OPT_INT,
         .project = AL_PROJECT_LOWER,
         .min = 100,
         .max = 60000,
         .num = 5000},
    [AL_OPT_ANALYSIS_DATA_MAX_INTERACTIVE_ROWS] =
        {.name = "analysis.data.maxInteractiveRows",
         .help = "Rows up to which a table can be sorted and filtered while it is looked at.",
         .type = AL_OPT_INT,
         .project = AL_PROJECT_LOWER,
         .min = 1,
         .max = 2 * GIB,
         .num = 1000000},
    [AL_OPT_ANALYSIS_DATA_STATS_MEMORY_BYTES] =
        {.name = "analysis.data.statsMemoryBytes",
         .help = "Memory for the exact statistics of a sheet, in bytes; beyond it they are estimated.",
         .type = AL_OPT_INT,
         .project = AL_PROJECT_LOWER,
         .min = MIB,
         .max = GIB,
         .num = 32 * MIB},
    [AL_OPT_ANALYSIS_RUNTIME] =
        {.name = "analysis.runtime",
         .help = "Where Python scripts run; auto takes the first that is ready and allowed.",
         .type = AL_OPT_CHOICE,
         .choices = runtime_choices},
    [AL_OPT_ANALYSIS_ISOLATION] = {.name = "analysis.isolation",
                                   .help = "The least isolation of a Python script: preferred takes any, "
                                           "required and strict exclude the weak ones.",
                                   .type = AL_OPT_CHOICE,
                                   .choices = isolation_choices},
    [AL_OPT_ANALYSIS_OCI_ENGINE] = {.name = "analysis.oci.engine",
                                    .help = "The container engine.",
                                    .type = AL_OPT_CHOICE,
                                    .choices = engine_choices},
    [AL_OPT_ANALYSIS_OCI_IMAGE] = {.name = "analysis.oci.image",
                                   .help = "The container image, pinned: name@sha256:DIGEST.",
                                   .type = AL_OPT_IMAGE},
    [AL_OPT_ANALYSIS_OCI_MEMORY_MB] = {.name = "analysis.oci.memoryMb",
                                       .help = "Memory of a container, in MiB.",
                                       .type = AL_OPT_INT,
                                       .min = 256,
                                       .max = 65536,
                                       .num = 2048},
    [AL_OPT_ANALYSIS_OCI_CPUS] = {.name = "analysis.oci.cpus",
                                  .help = "Processors of a container; halves and the like are fine.",
                                  .type = AL_OPT_HUNDREDTHS,
                                  .min = 50,
                                  .max = 6400,
                                  .num = 200},
    [AL_OPT_ANALYSIS_WASM_NODE] = {.name = "analysis.wasm.node",
                                   .help = "Path of the Node.js that runs Pyodide; unset: the one in PATH.",
                                   .type = AL_OPT_PATH},
    [AL_OPT_ANALYSIS_WASM_MEMORY_MB] = {.name = "analysis.wasm.memoryMb",
                                        .help = "Memory of a script in WebAssembly, in MiB.",
                                        .type = AL_OPT_INT,
                                        .min = 256,
                                        .max = 65536,
                                        .num = 1024},
    [AL_OPT_ANALYSIS_WASM_STARTUP_MS] =
        {.name = "analysis.wasm.startupMs",
         .help = "What WebAssembly may need to start beside the time limit of the script, in milliseconds.",
         .type = AL_OPT_INT,
         .min = 1000,
         .max = 120000,
         .num = 20000},
    [AL_OPT_ANALYSIS_WASM_MAX_INPUT_BYTES] = {.name = "analysis.wasm.maxInputBytes",
                                              .help = "Inputs of a script in WebAssembly together, in bytes.",
                                              .type = AL_OPT_INT,
                                              .min = MIB,
                                              .max = 4 * GIB,
                                              .num = 200 * MIB},
    [AL_OPT_ANALYSIS_LIMITS_TIMEOUT_MS] =
        {.name = "analysis.limits.timeoutMs",
         .help = "Time limit of a Python script, in milliseconds; a call may lower it.",
         .type = AL_OPT_INT,
         .project = AL_PROJECT_LOWER,
         .min = 1000,
         .max = 900000,
         .num = 120000},
    [AL_OPT_ANALYSIS_LIMITS_MAX_FILES] = {.name = "analysis.limits.maxFiles",
                                          .help = "Files that one run may publish.",
                                          .type = AL_OPT_INT,
                                          .project = AL_PROJECT_LOWER,
                                          .min = 1,
                                          .max = 10000,
                                          .num = 200},
    [AL_OPT_ANALYSIS_LIMITS_MAX_FILE_BYTES] = {.name = "analysis.limits.maxFileBytes",
                                               .help = "Size of one published file, in bytes.",
                                               .type = AL_OPT_INT,
                                               .project = AL_PROJECT_LOWER,
                                               .min = 1,
                                               .max = 64 * GIB,
                                               .num = 100 * MIB},
    [AL_OPT_ANALYSIS_LIMITS_MAX_OUTPUT_BYTES] = {.name = "analysis.limits.maxOutputBytes",
                                                 .help = "What one run may publish in all, in bytes.",
                                                 .type = AL_OPT_INT,
                                                 .project = AL_PROJECT_LOWER,
                                                 .min = 1,
                                                 .max = 64 * GIB,
                                                 .num = 500 * MIB},
    [AL_OPT_ANALYSIS_LIMITS_MAX_LOG_BYTES] =
        {.name = "analysis.limits.maxLogBytes",
         .help = "What is kept of a script's standard output, and of its standard error, in bytes.",
         .type = AL_OPT_INT,
         .project = AL_PROJECT_LOWER,
         .min = 1024,
         .max = GIB,
         .num = 10 * MIB},
    [AL_OPT_ANALYSIS_LIMITS_MEMORY_MB] = {.name = "analysis.limits.memoryMb",
                                          .help = "Memory of a Python script with all its processes, in MiB.",
                                          .type = AL_OPT_INT,
                                          .project = AL_PROJECT_LOWER,
                                          .min = 64,
                                          .max = 1048576,
                                          .num = 2048},
    [AL_OPT_ANALYSIS_LIMITS_PROCESSES] = {.name = "analysis.limits.processes",
                                          .help = "Processes and threads of a Python script.",
                                          .type = AL_OPT_INT,
                                          .project = AL_PROJECT_LOWER,
                                          .min = 8,
                                          .max = 32768,
                                          .num = 256},
    [AL_OPT_ANALYSIS_LIMITS_MAX_WORK_BYTES] =
        {.name = "analysis.limits.maxWorkBytes",
         .help = "What a script may have on the disk in its work and output folders, in bytes.",
         .type = AL_OPT_INT,
         .project = AL_PROJECT_LOWER,
         .min = MIB,
         .max = 1024 * GIB,
         .num = 2 * GIB},
    [AL_OPT_ANALYSIS_LIMITS_MAX_WORK_FILES] =
        {.name = "analysis.limits.maxWorkFiles",
         .help = "Files and folders that a script may have in its work and output folders.",
         .type = AL_OPT_INT,
         .project = AL_PROJECT_LOWER,
         .min = 16,
         .max = 10000000,
         .num = 100000},
    [AL_OPT_ANALYSIS_RETENTION_JOBS_DAYS] =
        {.name = "analysis.retention.jobsDays",
         .help = "Days after which a job's logs and script are removed, and an unused dataset; 0: never.",
         .type = AL_OPT_INT,
         .min = 0,
         .max = 3650,
         .num = 30},
    [AL_OPT_ANALYSIS_RETENTION_INTERMEDIATE_DAYS] =
        {.name = "analysis.retention.intermediateDays",
         .help = "Days after which the work folder of a job is removed; 0: never.",
         .type = AL_OPT_INT,
         .min = 0,
         .max = 3650,
         .num = 7},
    [AL_OPT_ANALYSIS_RETENTION_ARTIFACTS_DAYS] =
        {.name = "analysis.retention.artifactsDays",
         .help = "Days after which the files of an artifact are removed; 0: never.",
         .type = AL_OPT_INT,
         .min = 0,
         .max = 3650,
         .num = 0},
    [AL_OPT_PROVIDER] = {.name = "provider",
                         .help = "The model provider that is used: a name under providers, or one that is known.",
                         .type = AL_OPT_TEXT,
                         .env = "ALISIO_PROVIDER"},
    [AL_OPT_MODEL] = {.name = "model",
                      .help = "The model that is used; unset: the provider's own.",
                      .type = AL_OPT_TEXT,
                      .env = "ALISIO_MODEL"},
    [AL_OPT_MAX_TURNS] = {.name = "maxTurns",
                          .help = "Requests to the model that one run may make.",
                          .type = AL_OPT_INT,
                          .project = AL_PROJECT_LOWER,
                          .min = 1,
                          .max = 10000,
                          .num = 100},
    [AL_OPT_MAX_OUTPUT_TOKENS] = {.name = "maxOutputTokens",
                                  .help = "Tokens that one answer may have.",
                                  .type = AL_OPT_INT,
                                  .project = AL_PROJECT_LOWER,
                                  .min = 256,
                                  .max = 1000000,
                                  .num = 16384},
    [AL_OPT_MAX_TOKENS] = {.name = "maxTokens",
                           .help = "Tokens that one run may use, in and out; 0: eight times the model's window, at "
                                   "least 400,000, at most 8,000,000.",
                           .type = AL_OPT_INT,
                           .project = AL_PROJECT_LOWER,
                           .min = 0,
                           .max = INT64_C(1000000000),
                           .num = 0},
    [AL_OPT_COMPACTION_THRESHOLD] = {.name = "compaction.threshold",
                                     .help = "Share of the window at which older turns are summarised.",
                                     .type = AL_OPT_HUNDREDTHS,
                                     .min = 30,
                                     .max = 95,
                                     .num = 85},
    [AL_OPT_COMPACTION_KEEP_TURNS] = {.name = "compaction.keepTurns",
                                      .help = "Newest turns that a summary leaves as they are.",
                                      .type = AL_OPT_INT,
                                      .min = 0,
                                      .max = 100,
                                      .num = 2},
    [AL_OPT_CONTEXT_MAX_BYTES] = {.name = "context.maxBytes",
                                  .help = "Bytes of AGENTS.md files that are sent to the model, in all; 0: none.",
                                  .type = AL_OPT_INT,
                                  .project = AL_PROJECT_LOWER,
                                  .min = 0,
                                  .max = MIB,
                                  .num = 32768},
    [AL_OPT_CONTEXT_CLAUDE_MD] = {.name = "context.claudeMd",
                                  .help = "CLAUDE.md is read where no AGENTS.md stands beside it.",
                                  .type = AL_OPT_BOOL,
                                  .num = 0},
    [AL_OPT_FILES_PROTECT] = {.name = "files.protect",
                              .help =
                                  "Names that tools may not write: \"name\" adds one, \"!name\" lifts one.",
                              .type = AL_OPT_LIST},
    [AL_OPT_FILES_SECRET] = {.name = "files.secret",
                             .help = "Names that tools may not read: \"name\" adds one, \"!name\" lifts one.",
                             .type = AL_OPT_LIST},
};

#define LIST_MAX 64
#define LIST_ITEM_MAX 255
#define PATH_TEXT_MAX 4000
#define IMAGE_NAME_MAX 255

const char *al_opt_name(enum al_opt o)
{
    return (unsigned)o < AL_OPT_COUNT ? al_opt_table[o].name : NULL;
}

const char *al_opt_help(enum al_opt o)
{
    return (unsigned)o < AL_OPT_COUNT ? al_opt_table[o].help : NULL;
}

enum al_opt al_opt_lookup(struct al_str name)
{
    for (unsigned o = 0; o < AL_OPT_COUNT; o++) {
        if (al_str_is(name, al_opt_table[o].name))
            return (enum al_opt)o;
    }
    return AL_OPT_COUNT;
}

bool al_opt_is_section(struct al_str name)
{
    for (unsigned o = 0; o < AL_OPT_COUNT; o++) {
        const char *full = al_opt_table[o].name;
        if (strlen(full) > name.n && memcmp(full, name.p, name.n) == 0 && full[name.n] == '.')
            return true;
    }
    return false;
}

static struct al_str last_part(struct al_str name)
{
    for (size_t i = name.n; i > 0; i--) {
        if (name.p[i - 1] == '.')
            return (struct al_str){name.p + i, name.n - i};
    }
    return name;
}

const char *al_opt_nearest(struct al_str name)
{
    const char *best = NULL;
    unsigned best_distance = 0;
    for (unsigned o = 0; o < AL_OPT_COUNT; o++) {
        struct al_str full = al_str_of(al_opt_table[o].name);
        unsigned whole = al_str_distance(name, full);
        /* A right name in a wrong place: one more than a slip in the right place. */
        unsigned part = al_str_distance(last_part(name), last_part(full)) + 1;
        unsigned d = part < whole ? part : whole;
        if (!best || d < best_distance) {
            best = al_opt_table[o].name;
            best_distance = d;
        }
    }
    size_t allowed = name.n / 3 < 5 ? name.n / 3 : 5;
    return best && best_distance <= allowed + 1 ? best : NULL;
}

int al_opt_find(struct al_str name, enum al_opt *ret, struct al_err *err)
{
    enum al_opt o = al_opt_lookup(name);
    if (o != AL_OPT_COUNT) {
        *ret = o;
        return 0;
    }
    autobuf struct al_buf shown = AL_BUF_INIT(512);
    al_text_visible(&shown, al_utf8_cut(name, 80), false);
    al_fail(err, AL_INVALID_INPUT, "there is no configuration key %.*s", AL_FMT(al_buf_str(&shown)));
    const char *near = al_opt_nearest(name);
    if (near)
        return al_hint(err, "the nearest key is %s", near);
    return al_hint(err, "`alisio config show` lists every key");
}

void al_opt_value_fini(struct al_opt_value *v)
{
    free(v->origin);
    free(v->text);
    for (size_t i = 0; i < v->n_list; i++)
        free(v->list[i]);
    free(v->list);
    *v = (struct al_opt_value){0};
}

/* Ends a message with what was found instead; never the whole of a long value. */
static int refuse(enum al_opt o, const struct al_json *json, const char *want, struct al_err *err)
{
    autobuf struct al_buf got = AL_BUF_INIT(512);
    if (json->type == AL_JSON_OBJECT || json->type == AL_JSON_ARRAY)
        al_buf_addf(&got, "%s", json->type == AL_JSON_OBJECT ? "an object" : "a list");
    else
        al_text_visible(&got, al_utf8_cut(json->raw, 40), false);
    return al_fail(err, AL_INVALID_INPUT, "%s must be %s, not %.*s", al_opt_table[o].name, want,
                   AL_FMT(al_buf_str(&got)));
}

static int read_choice(enum al_opt o, const struct al_json *json, struct al_opt_value *ret,
                       struct al_err *err)
{
    const struct al_opt_def *def = &al_opt_table[o];
    autobuf struct al_buf want = AL_BUF_INIT(512);
    for (size_t i = 0; def->choices[i]; i++) {
        if (json->type == AL_JSON_STRING && al_str_is(json->str, def->choices[i])) {
            ret->text = al_xstrdup(def->choices[i]);
            return 0;
        }
        al_buf_addf(&want, "%s\"%s\"", i ? ", " : "one of ", def->choices[i]);
    }
    al_buf_addc(&want, '\0');
    return refuse(o, json, want.p, err);
}

static bool plain_text(const struct al_json *json, size_t max)
{
    return json->type == AL_JSON_STRING && json->str.n > 0 && json->str.n <= max &&
           !memchr(json->str.p, 0, json->str.n);
}

static int read_path(enum al_opt o, const struct al_json *json, const char *dir, struct al_opt_value *ret,
                     struct al_err *err)
{
    if (!plain_text(json, PATH_TEXT_MAX))
        return refuse(o, json,
                      o == AL_OPT_ANALYSIS_WASM_NODE ? "the path of a program" : "the path of a folder", err);
    autobuf struct al_buf path = AL_BUF_INIT(2 * PATH_TEXT_MAX);
    struct al_str s = json->str;
    const char *home = getenv("HOME");
    if (s.p[0] == '/') {
        al_buf_add_str(&path, s);
    } else if (home && home[0] == '/' && (al_str_is(s, "~") || al_str_starts(s, "~/"))) {
        al_buf_adds(&path, home);
        al_buf_add(&path, s.p + 1, s.n - 1);
    } else if (dir && s.p[0] != '~') {
        al_buf_addf(&path, "%s/", dir);
        al_buf_add_str(&path, s);
    } else {
        return refuse(o, json, "an absolute path", err);
    }
    if (al_buf_failed(&path) || path.n > PATH_TEXT_MAX)
        return al_fail(err, AL_INVALID_INPUT, "%s is too long", al_opt_table[o].name);
    ret->text = al_buf_take(&path);
    return 0;
}

static int read_hundredths(enum al_opt o, const struct al_json *json, struct al_opt_value *ret,
                           struct al_err *err)
{
    const struct al_opt_def *def = &al_opt_table[o];
    double v;
    if (al_json_double(json, &v) && v * 100 >= (double)def->min && v * 100 <= (double)def->max) {
        int64_t whole = (int64_t)(v * 100 + 0.5);
        double off = v * 100 - (double)whole;
        if (off < 1e-9 && off > -1e-9) {
            ret->num = whole;
            return 0;
        }
    }
    char want[96];
    snprintf(want, sizeof want, "a number from %g to %g with at most two decimals", (double)def->min / 100,
             (double)def->max / 100);
    return refuse(o, json, want, err);
}

static bool is_hex(struct al_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
            return false;
    }
    return true;
}

/* The characters of a registry, a port and a repository. It becomes a word of a command: no option, no space.
 */
static bool is_image_name(struct al_str s)
{
    char before = '/';
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && (before == '/' || !memchr("._-/:", c, 5)))
            return false;
        before = c;
    }
    return s.n > 0 && s.n <= IMAGE_NAME_MAX && before != '/';
}

#define DIGEST_MARK "@sha256:"

const char *al_opt_image_fault(struct al_str s)
{
    size_t mark = sizeof DIGEST_MARK - 1;
    size_t name = s.n > mark + 64 ? s.n - mark - 64 : 0;
    if (!name || memcmp(s.p + name, DIGEST_MARK, mark) != 0 || !is_hex((struct al_str){s.p + s.n - 64, 64}))
        return "pinned by its digest, NAME@sha256: and 64 hexadecimal digits (a tag can move)";
    if (!is_image_name((struct al_str){s.p, name}))
        return "NAME@sha256:DIGEST with the name of an image, such as docker.io/library/python";
    const char *slash = memrchr(s.p, '/', name), *last = slash ? slash : s.p;
    if (memchr(last, ':', (size_t)(s.p + name - last)))
        return "NAME@sha256:DIGEST without a tag in the name";
    return NULL;
}

bool al_config_is_image(struct al_str s)
{
    return !al_opt_image_fault(s);
}

static int read_image(enum al_opt o, const struct al_json *json, struct al_opt_value *ret, struct al_err *err)
{
    const char *fault =
        json->type == AL_JSON_STRING ? al_opt_image_fault(json->str) : al_opt_image_fault(AL_STR(""));
    if (!fault) {
        ret->text = al_xdup(json->str.p, json->str.n);
        return 0;
    }
    (void)refuse(o, json, fault, err);
    /* In the message, since the hint is about the file. */
    if (err)
        snprintf(err->msg + strlen(err->msg), sizeof err->msg - strlen(err->msg),
                 "; `alisio analysis setup --oci --image NAME` pulls an image and prints the value");
    return -1;
}

static int read_list(enum al_opt o, const struct al_json *json, struct al_opt_value *ret, struct al_err *err)
{
    if (json->type != AL_JSON_ARRAY)
        return refuse(o, json, "a list of names", err);
    if (json->n > LIST_MAX)
        return al_fail(err, AL_INVALID_INPUT, "%s may have %d names, not %u", al_opt_table[o].name, LIST_MAX,
                       json->n);
    struct al_opt_value v = {.list = al_xcalloc(json->n + 1, sizeof(char *))};
    al_json_each(item, json)
    {
        if (!plain_text(item, LIST_ITEM_MAX) || al_str_is(item->str, "!")) {
            al_opt_value_fini(&v);
            return refuse(o, item, "a list of names (each 1 to 255 bytes)", err);
        }
        v.list[v.n_list++] = al_xdup(item->str.p, item->str.n);
    }
    ret->list = v.list;
    ret->n_list = v.n_list;
    return 0;
}

int al_opt_read(enum al_opt o, const struct al_json *json, const char *dir, struct al_opt_value *ret,
                struct al_err *err)
{
    const struct al_opt_def *def = &al_opt_table[o];
    char want[96];
    switch (def->type) {
    case AL_OPT_BOOL:
        if (json->type != AL_JSON_TRUE && json->type != AL_JSON_FALSE)
            return refuse(o, json, "true or false", err);
        ret->num = json->type == AL_JSON_TRUE;
        return 0;
    case AL_OPT_INT:
        if (al_json_int(json, def->min, def->max, &ret->num))
            return 0;
        snprintf(want, sizeof want, "a whole number from %lld to %lld", (long long)def->min,
                 (long long)def->max);
        return refuse(o, json, want, err);
    case AL_OPT_HUNDREDTHS:
        return read_hundredths(o, json, ret, err);
    case AL_OPT_TEXT:
        if (!plain_text(json, TEXT_MAX))
            return refuse(o, json, "a text of 1 to 200 characters on one line", err);
        ret->text = al_xdup(json->str.p, json->str.n);
        return 0;
    case AL_OPT_IMAGE:
        return read_image(o, json, ret, err);
    case AL_OPT_CHOICE:
        return read_choice(o, json, ret, err);
    case AL_OPT_PATH:
        return read_path(o, json, dir, ret, err);
    case AL_OPT_LIST:
        return read_list(o, json, ret, err);
    }
    return al_fail(err, AL_INTERNAL, "option %d has no type", (int)o);
}
