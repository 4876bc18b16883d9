#include "core/jsrun.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/core_int.h"
#include "core/jsrun_int.h"
#include "os/fd.h"
#include "os/path.h"

#include <stdio.h>

static void conclude(struct jsrun *r);

static void set_error(struct jsrun *r, enum al_code code, struct al_str message, struct al_str hint);

/* --- asking once, before the VM starts, for the tools of `uses` --- */

/* Outlives the run when the person answers after it was cancelled; freed by the answer, which comes once. */
struct jsrun_asking {
    struct jsrun *run; /* NULL: gone */
    struct al_buf title, code, tools;
    struct al_err refusal; /* of the first of the tools: its hint says what opens it without a question */
};

/* A script that would fail in its middle helps nobody: it does not start. */
static void end_unstarted(struct jsrun *r, enum al_code code, const char *why, struct al_str tools,
                          const char *hint)
{
    autobuf struct al_buf message = AL_BUF_INIT(4096);
    al_buf_addf(&message, "%s %.*s, so the script was not started", why, AL_FMT(al_utf8_cut(tools, 300)));
    r->ended = r->hinted = true;
    al_runs_leave(r->core, &r->slot);
    set_error(r, code, al_buf_str(&message), al_str_of(hint));
    conclude(r);
}

static void asking_free(struct jsrun_asking *a)
{
    al_buf_free(&a->title);
    al_buf_free(&a->code);
    al_buf_free(&a->tools);
    free(a);
}

static void on_answer(void *ud, enum al_approval approval)
{
    struct jsrun_asking *a = ud;
    struct jsrun *r = a->run;
    if (r) {
        r->asking = NULL;
        if (approval == AL_APPROVAL_DENY) {
            end_unstarted(r, AL_PERMISSION_DENIED, "the person said no to", al_buf_str(&a->tools),
                          "do without, or ask them what to do instead");
        } else if (approval == AL_APPROVAL_NONE) {
            end_unstarted(r, AL_APPROVAL_REQUIRED, "the person was to be asked, and nobody answered, about",
                          al_buf_str(&a->tools), a->refusal.hint);
        } else {
            r->preapproved = true;
            al_runs_wait(r->core, &r->slot);
        }
    }
    asking_free(a);
}

/* Asked about are only tools that an approval would open: what is allowed needs none, what is denied gets
 * none. */
static void tools_to_ask(struct jsrun *r, struct al_buf *out, bool *ret_python, struct al_err *ret_refusal)
{
    for (size_t i = 0; i < r->n_uses; i++) {
        autoarena struct al_arena a = AL_ARENA_INIT(TOOL_ARENA_MAX);
        const struct al_tool *tool = al_core_find_tool(r->core, al_str_of(r->uses[i]), &a);
        struct al_err err = {0};
        if (!tool)
            continue;
        memcpy(r->uses_sha256[i], tool->sha256, sizeof(tool->sha256));
        struct al_gate_query q = al_gate_query_of(tool, AL_ORIGIN_SCRIPT);
        q.over_mcp = strcmp(al_core_source(r->core), "mcp") == 0;
        q.in_agent = strcmp(al_core_source(r->core), "agent") == 0;
        q.can_ask_now = true;
        q.isolation_known = r->wall_known;
        q.isolation = r->wall.isolation;
        if (al_gate_decide(al_core_policy(r->core), &q, tool->name, &err) < 0 &&
            err.code == AL_APPROVAL_REQUIRED) {
            if (!out->n)
                *ret_refusal = err;
            al_buf_addf(out, "%s%s", out->n ? ", " : "", r->uses[i]);
            *ret_python = *ret_python || tool->capability;
        }
    }
}

static bool ask(struct jsrun *r);

/* The person approves of Python scripts behind this wall, and of no weaker one. */
static void on_wall(void *ud, const struct al_wall *wall, const struct al_err *err)
{
    struct jsrun_asking *a = ud;
    struct jsrun *r = a->run;
    (void)err; /* told by the call that would need it */
    asking_free(a);
    if (!r)
        return;
    r->asking = NULL;
    r->wall_chosen = true;
    r->wall_known = wall != NULL;
    r->wall = wall ? *wall : (struct al_wall){AL_PY_BWRAP, AL_PY_OS_SANDBOX};
    if (!ask(r))
        al_runs_wait(r->core, &r->slot);
}

static bool needs_wall(const struct jsrun *r)
{
    bool needs = false;
    for (size_t i = 0; i < r->n_uses && !needs; i++) {
        const struct al_tool *tool = al_core_tool(r->core, al_str_of(r->uses[i]));
        struct al_gate_query q = tool ? al_gate_query_of(tool, AL_ORIGIN_SCRIPT) : (struct al_gate_query){0};
        needs = tool && al_gate_needs_isolation(al_core_policy(r->core), &q);
    }
    return needs;
}

/* False: nothing is to be asked. */
static bool ask(struct jsrun *r)
{
    const struct al_call_spec *spec = &r->call->priv->spec;
    bool python = false;
    if (!spec->ask)
        return false;
    if (!r->wall_chosen && needs_wall(r)) {
        r->asking = al_xcalloc(1, sizeof *r->asking);
        r->asking->run = r;
        al_wall_choose(r->core, on_wall, r->asking);
        return true;
    }
    struct jsrun_asking *a = al_xcalloc(1, sizeof *a);
    al_buf_init(&a->title, 1024);
    al_buf_init(&a->code, AL_SCRIPT_MAX_CODE_BYTES);
    al_buf_init(&a->tools, 4096);
    tools_to_ask(r, &a->tools, &python, &a->refusal);
    if (a->tools.n == 0) {
        asking_free(a);
        return false;
    }
    if (r->title) {
        al_buf_adds(&a->title, r->title);
        al_buf_addc(&a->title, '\0');
    }
    al_buf_add_str(&a->code, r->code);
    a->run = r;
    r->asking = a;
    struct al_ask question = {.title = a->title.p,
                              .code = al_buf_str(&a->code),
                              .wall = python && r->wall_known ? &r->wall : NULL,
                              .tools = al_buf_str(&a->tools),
                              .answer = on_answer,
                              .ud = a};
    spec->ask(spec->ud, &question);
    return true;
}

/* --- the end --- */

static void free_run(struct jsrun *r)
{
    al_runlog_free(&r->log);
    al_timer_stop(r->progress_timer);
    for (size_t i = 0; i < r->n_calls; i++)
        free(r->calls[i]);
    free(r->calls);
    struct al_buf *bufs[] = {&r->code_file, &r->text,  &r->progress, &r->state_before,
                             &r->message,   &r->stack, &r->value,    &r->save_bytes};
    for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++)
        al_buf_free(bufs[i]);
    al_arena_free(&r->arena);
    free(r);
}

static void finish(struct jsrun *r)
{
    struct al_call *call = r->call;
    al_buf_clear(&call->text);
    jsresult_text(r, &call->text);
    call->structured.max = JSRUN_MAX_RECORD;
    jsresult_record(r, false, &call->structured);
    call->err = r->err;
    jsrun_progress_last(r);
    jsrun_journal_end(r);
    al_runs_leave(r->core, &r->slot);
    call->impl = NULL;
    free_run(r);
    al_call_finish(call);
}

static void merge_state(struct jsrun *r, struct al_str after)
{
    struct al_err err = {0};
    if (!after.n || r->err.code)
        return;
    if (al_store_state_merge(al_core_store(r->core), al_core_session(r->core)->id,
                             al_buf_str(&r->state_before), after, r->limits.max_state_bytes, &r->state_bytes,
                             &r->state_changed, &err) == 0)
        return;
    r->err = err;
    al_buf_clear(&r->message);
    al_buf_adds(&r->message, err.msg);
}

/* In the loop's thread: the folder and its quota; the bytes are written in the pool. */
static int prepare_save(struct jsrun *r)
{
    struct al_scratch *scratch = al_core_scratch(r->core);
    if (!scratch)
        return al_fail(&r->save_err, AL_RUNTIME_UNAVAILABLE, "forge.scratch.enabled is false");
    r->save_fd = al_scratch_fd(scratch, &r->save_err);
    if (r->save_fd < 0)
        return -1;
    return al_scratch_reserve(scratch, r->save_bytes.n + (r->saved_value ? r->value.n : 0), &r->save_err);
}

static int save_one(struct jsrun *r, const char *rel, struct al_str bytes)
{
    autofd int dir = -1;
    const char *name;
    if (al_path_open_parent(r->save_fd, rel, true, rel, &dir, &name, &r->save_err) < 0)
        return -1;
    return al_path_write_atomic(dir, name, bytes, 0600, rel, &r->save_err);
}

static void save_work(void *ud)
{
    struct jsrun *r = ud;
    if (r->saved_value && save_one(r, r->saved_value, al_buf_str(&r->value)) < 0)
        return;
    if (r->saved_text && save_one(r, r->saved_text, al_buf_str(&r->save_bytes)) < 0)
        return;
}

static void save_done(void *ud)
{
    struct jsrun *r = ud;
    if (r->save_err.code)
        r->saved_value = r->saved_text = NULL;
    finish(r);
}

static void save(struct jsrun *r)
{
    bool string = r->value.n && r->value.p[0] == '"';
    if (r->cut_value && !string)
        r->saved_value = al_arena_printf(&r->arena, "out/%s.json", r->id);
    if (r->cut_text || (r->cut_value && string)) {
        r->saved_text = al_arena_printf(&r->arena, "out/%s.txt", r->id);
        if (string) {
            jsresult_value(r, &r->save_bytes);
            al_buf_addc(&r->save_bytes, '\n');
        }
        al_buf_add_str(&r->save_bytes, al_buf_str(&r->text));
    }
    if (prepare_save(r) < 0) {
        r->saved_value = r->saved_text = NULL;
        finish(r);
        return;
    }
    al_work_start(al_core_loop(r->core), save_work, save_done, r);
}

/* Once the VM and every nested call are gone. */
static void conclude(struct jsrun *r)
{
    if (!r->ended || r->n_open || r->reaping)
        return;
    jsrun_error_hint(r);
    autobuf struct al_buf trial = AL_BUF_INIT(JSRUN_MAX_RECORD);
    jsresult_text(r, &trial);
    if (r->cut_value || r->cut_text)
        save(r);
    else
        finish(r);
}

void jsrun_call_gone(struct jsrun *r)
{
    conclude(r);
}

static void set_error(struct jsrun *r, enum al_code code, struct al_str message, struct al_str hint)
{
    al_fail(&r->err, code, "%.*s", AL_FMT(al_utf8_cut(message, sizeof r->err.msg - 1)));
    if (hint.n)
        al_hint(&r->err, "%.*s", AL_FMT(al_utf8_cut(hint, sizeof r->err.hint - 1)));
    al_buf_clear(&r->message);
    autobuf struct al_buf clean = AL_BUF_INIT(64u << 10);
    al_utf8_clean(&clean, al_utf8_head(message, 4000));
    al_buf_add_str(&r->message, al_buf_str(&clean));
}

/* The value is what the VM claims: nothing that is no JSON comes into our records. */
static void take_value(struct jsrun *r, struct al_str value)
{
    if (!value.n)
        return;
    if (value.n > JSRUN_MAX_VALUE) {
        set_error(r, AL_OUTPUT_LIMIT, AL_STR("the value is over 32 MiB"), (struct al_str){"", 0});
    } else if (jscut_valid(value, JSRUN_MAX_DEPTH)) {
        al_buf_add_str(&r->value, value);
    } else if (!r->err.code && jscut_valid(value, 127)) {
        set_error(r, AL_INVALID_RESULT, AL_STR("the value is nested deeper than 100 levels"),
                  (struct al_str){"", 0});
    } else if (!r->err.code) {
        set_error(r, AL_INVALID_RESULT, AL_STR("the value is no JSON"), (struct al_str){"", 0});
    }
}

static void take_notes(struct jsrun *r, struct al_str notes)
{
    struct al_arena a = AL_ARENA_INIT(256u << 10);
    const struct al_json *v;
    struct al_err ignored;
    if (notes.n && notes.n < (32u << 10) && al_json_parse(&a, notes, &v, &ignored) == 0) {
        al_json_each(note, v)
        {
            if (!al_json_is_string(note) || r->n_notes == sizeof r->notes / sizeof r->notes[0])
                continue;
            autobuf struct al_buf line = AL_BUF_INIT(1024);
            jscut_line(note->str, 100, &line);
            r->notes[r->n_notes++] = al_arena_dup(&r->arena, al_buf_str(&line));
        }
    }
    al_arena_free(&a);
}

static void vm_ended(void *ud, const struct al_vm_end *end)
{
    struct jsrun *r = ud;
    r->vm = NULL;
    r->ended = true;
    r->duration_ms = end->duration_ms;
    r->cpu_ms = end->cpu_ms;
    r->heap_peak_bytes = end->heap_peak_bytes;
    r->line = end->line;
    r->column = end->column;
    if (end->code)
        set_error(r, end->code, end->message, end->hint);
    else if (r->cancelled)
        set_error(r, AL_CANCELLED, AL_STR("the run was cancelled"), (struct al_str){"", 0});
    al_utf8_clean(&r->stack, al_utf8_head(end->stack, 8000));
    take_value(r, end->value);
    take_notes(r, end->notes);
    merge_state(r, end->state);
    jsrun_error_hint(r); /* while what is pending can be seen */
    if (end->security)
        jsrun_journal_security(r);
    r->reaping = true;
    jsrun_cancel_calls(r);
    r->reaping = false;
    conclude(r);
}

/* --- the run --- */

static void vm_printed(void *ud, struct al_str line)
{
    struct jsrun *r = ud;
    size_t from = r->text.n;
    al_utf8_clean(&r->text, line);
    al_buf_addc(&r->text, '\n');
    if (!al_buf_failed(&r->text))
        al_runlog_print(&r->log, (struct al_str){r->text.p + from, r->text.n - from});
}

static void alisio_json(const struct jsrun *r, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "executionId", r->id);
    al_jw_kstrz(&w, "sessionId", al_core_session(r->core)->id);
    autobuf struct al_buf part = AL_BUF_INIT(8192);
    jsrun_limits_json(r, &part);
    al_jw_kraw(&w, "limits", al_buf_str(&part));
    al_buf_clear(&part);
    jsrun_engine_json(r, &part);
    al_jw_kraw(&w, "engine", al_buf_str(&part));
    al_jw_end(&w);
}

static void start_vm(struct jsrun *r)
{
    static const struct al_vm_ops ops = {
        .started = jsrun_journal_started,
        .print = vm_printed,
        .progress = jsrun_on_progress,
        .call = jsrun_on_call,
        .query = jsrun_on_query,
        .end = vm_ended,
    };
    autobuf struct al_buf alisio = AL_BUF_INIT(64u << 10), names = AL_BUF_INIT(1u << 20);
    alisio_json(r, &alisio);
    jsrun_tool_names_json(r->core, &names);
    struct al_vm_spec spec = {
        .code = r->code,
        .input = r->input,
        .alisio = al_buf_str(&alisio),
        .tool_names = al_buf_str(&names),
        .state = r->state_on ? al_buf_str(&r->state_before) : (struct al_str){"", 0},
        .timeout_ms = r->limits.timeout_ms,
        .memory_bytes = r->limits.memory_bytes,
        .stack_bytes = r->limits.stack_bytes,
        .max_concurrency = r->limits.max_concurrency,
        .max_text_bytes = JSRUN_MAX_TEXT,
        .max_value_bytes = JSRUN_MAX_VALUE,
        .max_state_bytes = r->limits.max_state_bytes,
        .legacy_execute = r->legacy,
    };
    struct al_err err = {0};
    r->t0_ms = al_mono_ms();
    r->started_wall_ms = al_wall_ms();
    r->vm = al_vm_start(al_core_engine(r->core), &spec, &ops, r, &err);
    if (r->vm)
        return;
    r->ended = true;
    set_error(r, err.code ? err.code : AL_ENGINE_UNAVAILABLE, al_str_of(err.msg), al_str_of(err.hint));
}

static void go(void *ud)
{
    struct jsrun *r = ud;
    struct al_err err = {0};
    if (r->state_on && al_store_state_get(al_core_store(r->core), al_core_session(r->core)->id,
                                          &r->state_before, &err) < 0) {
        r->ended = true;
        set_error(r, err.code, al_str_of(err.msg), al_str_of(err.hint));
    } else {
        if (r->state_on && r->state_before.n == 0)
            al_buf_adds(&r->state_before, "{}");
        r->state_bytes = r->state_on ? r->state_before.n : 0;
        start_vm(r);
    }
    if (r->ended)
        conclude(r);
}

static void cancel_run(void *ud)
{
    struct jsrun *r = ud;
    if (r->cancelled || r->ended)
        return;
    r->cancelled = true;
    if (r->vm) {
        /* First the script, so that it cannot act on what its calls then say. */
        al_vm_cancel(r->vm);
        jsrun_cancel_calls(r);
        return;
    }
    if (r->asking)
        r->asking->run = NULL;
    r->asking = NULL;
    r->ended = true;
    al_runs_leave(r->core, &r->slot);
    set_error(r, AL_CANCELLED, AL_STR("the run was cancelled before it started"), (struct al_str){"", 0});
    conclude(r);
}

static void cancel(struct al_call *call)
{
    if (call->impl)
        cancel_run(call->impl);
}

static struct jsrun *new_run(struct al_call *call, bool legacy)
{
    struct jsrun *r = al_xcalloc(1, sizeof *r);
    r->call = call;
    r->core = call->core;
    r->legacy = legacy;
    r->created_wall_ms = al_wall_ms();
    al_arena_init(&r->arena, 8u << 20);
    al_buf_init(&r->text, JSRUN_MAX_TEXT + (1u << 20));
    al_buf_init(&r->progress, 64u << 10);
    al_buf_init(&r->state_before, 64u << 20);
    al_buf_init(&r->message, 64u << 10);
    al_buf_init(&r->stack, 64u << 10);
    al_buf_init(&r->value, JSRUN_MAX_VALUE);
    al_buf_init(&r->save_bytes, 128u << 20);
    al_id_new(r->id, "exec_");
    jsrun_journal_init(r);
    r->slot = (struct al_run_slot){.id = r->id, .go = go, .cancel = cancel_run, .ud = r};
    return r;
}

static void refuse(struct jsrun *r, const struct al_err *err)
{
    struct al_call *call = r->call;
    call->err = *err;
    call->impl = NULL;
    al_runs_leave(r->core, &r->slot);
    free_run(r);
    al_call_finish(call);
}

static void start(struct al_call *call, bool legacy)
{
    struct jsrun *r = new_run(call, legacy);
    struct al_err err = {0};
    call->impl = r;
    if (jsrun_read_input(r, &err) < 0 || al_runs_admit(r->core, &r->slot, &err) < 0 ||
        jsrun_journal_begin(r, &err) < 0) {
        refuse(r, &err);
        return;
    }
    snprintf(call->execution_id, sizeof call->execution_id, "%s", r->id);
    if (!ask(r))
        al_runs_wait(r->core, &r->slot);
}

static void start_js_run(struct al_call *call)
{
    start(call, false);
}

static void start_execute(struct al_call *call)
{
    start(call, true);
}

static bool js_run_registered(const struct al_core *core)
{
    return al_config_bool(al_core_config(core), AL_OPT_FORGE_JAVASCRIPT_ENABLED);
}

static bool execute_registered(const struct al_core *core)
{
    return !js_run_registered(core);
}

/* How each is called from a script's view, what it gives, and where to read more; a model pays for every
 * word. */
static const char js_run_description[] =
    "Run one JavaScript script that calls tools, instead of calling them one by one: fan out, filter, join "
    "and count "
    "inside the script, and return only what matters. Intermediate results never enter the conversation.\n"
    "The code is an async function body: top-level await and return work. No files, network, timers or "
    "modules; "
    "everything goes through tools:\n"
    "- await tools.call(name, args), or await tools.NAME(args): structured result, else text. A failure "
    "rejects with "
    "an Error that has code, message, hint.\n"
    "- tools.list(query), tools.describe(name): what can be called, with signatures.\n"
    "- await tools.map(items, fn, {concurrency}): in parallel, in order.\n"
    "- print(...), progress({completed, total, note}); input (from the call); state (kept across runs of the "
    "session).\n"
    "Example: const f = (await tools.list_files({path: \"src\"})).files; const r = await tools.map(f, p => "
    "tools.read_file({path: p})); return r.map(x => [x.path, x.totalLines]);\n"
    "A script cannot ask for approval: a nested call that would need one is APPROVAL_REQUIRED. Name such "
    "tools in "
    "uses, so that they can be approved before the start. codePath runs a file of the scratchpad.";

const struct al_tool al_tool_js_run = {
    .name = "js_run",
    .title = "Run JavaScript",
    .description = js_run_description,
    .brief =
        "Runs one JavaScript that calls tools and returns only what matters. The code is the "
        "body of an async function: top-level await, return. No imports, files, network, "
        "timers; everything goes through tools:\n"
        "- await tools.NAME(args): the structured value, else text. A failure rejects with an "
        "Error that has code, message, hint.\n"
        "- await tools.map(items, fn, {concurrency}): in parallel, results in order.\n"
        "- tools.list(\"words\"), tools.describe(name): what there is.\n"
        "- print(...), progress({completed, total, note}), input, state (an object kept across "
        "runs).\n"
        "Example: const {files} = await tools.list_files({path: \"src\"}); const all = await "
        "tools.map(files, path => tools.read_file({path})); return all.filter(f => "
        "f.text.includes(\"TODO\")).map(f => [f.path, f.totalLines]);",
    .input_schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"code\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200000,\"description\":\"The script. "
        "Exactly one of "
        "code and codePath.\"},"
        "\"codePath\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4095,\"description\":\"A file in "
        "the scratchpad, "
        "as plan.js.\"},"
        "\"uses\":{\"type\":\"array\",\"maxItems\":10,\"items\":{\"type\":\"string\"},\"description\":"
        "\"Tools with effects "
        "that the script will call, to be approved once before it starts.\"},"
        "\"title\":{\"type\":\"string\",\"maxLength\":200,\"description\":\"What it does, in a few words.\"},"
        "\"input\":{\"description\":\"Any JSON value; the script sees it as input.\"},"
        "\"timeoutMs\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":300000,\"description\":\"Wall clock, "
        "nested calls "
        "included.\"}},"
        "\"additionalProperties\":false}",
    .output_schema =
        "{\"type\":\"object\",\"properties\":{\"executionId\":{\"type\":\"string\"},"
        "\"status\":{\"type\":\"string\"},\"value\":{},\"truncated\":{\"type\":\"boolean\"},"
        "\"text\":{\"type\":\"string\"},\"savedTo\":{\"type\":\"string\"},\"error\":{\"type\":\"object\","
        "\"additionalProperties\":true}},"
        "\"required\":[\"executionId\",\"status\",\"value\",\"truncated\"],\"additionalProperties\":true}",
    .effect = AL_EFFECT_INTERNAL,
    .input_code = AL_INVALID_INPUT,
    .not_callable = "a script cannot start another script: write it as one, with functions",
    .open_world = true,
    .start = start_js_run,
    .cancel = cancel,
    .registered = js_run_registered,
};

const struct al_tool al_tool_execute = {
    .name = "execute",
    .title = "Run a snippet",
    .description = "Run a short JavaScript snippet that calls tools: await callTool(name, input) gives a "
                   "tool's result and "
                   "rejects when it fails; return gives the snippet's result. The code is an async function "
                   "body without "
                   "files, network or modules. At most 10 s and 20 calls.",
    .input_schema = "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\",\"minLength\":1,"
                    "\"maxLength\":200000,\"description\":\"The snippet.\"}},\"required\":[\"code\"],"
                    "\"additionalProperties\":false}",
    .effect = AL_EFFECT_INTERNAL,
    .input_code = AL_INVALID_INPUT,
    .not_callable = "a script cannot start another script: write it as one, with functions",
    .open_world = true,
    .start = start_execute,
    .cancel = cancel,
    .registered = execute_registered,
};
