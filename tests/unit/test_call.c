#include "test.h"

#include "core_world.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- tools that do as they are told --- */

#define MAX_HELD 16

static struct {
    unsigned started, cancels;
    struct al_call *held[MAX_HELD]; /* calls of `hold_…`, until the test ends them */
    size_t n_held;
    char order[256];
    pthread_t worker;
} seen;

static void note(const char *what)
{
    size_t n = strlen(seen.order);
    snprintf(seen.order + n, sizeof(seen.order) - n, "%s ", what);
}

static void start_echo(struct al_call *call)
{
    seen.started++;
    al_buf_adds(&call->text, "echo");
    al_buf_add_str(&call->structured, call->args->raw);
    al_call_finish(call);
}

static void start_hold(struct al_call *call)
{
    seen.started++;
    assert_true(seen.n_held < MAX_HELD);
    seen.held[seen.n_held++] = call;
    struct al_str id = al_json_get_text(call->args, "id");
    char text[32];
    snprintf(text, sizeof(text), "+%.*s", AL_FMT(id));
    note(text);
}

static void let_go(struct al_call *call)
{
    for (size_t i = 0; i < seen.n_held; i++)
        if (seen.held[i] == call) {
            seen.held[i] = seen.held[--seen.n_held];
            break;
        }
    al_call_finish(call);
}

static void cancel_hold(struct al_call *call)
{
    seen.cancels++;
    let_go(call);
}

static void start_fail(struct al_call *call)
{
    al_fail(&call->err, AL_TOOL_ERROR, "it broke");
    al_hint(&call->err, "mend it");
    al_buf_adds(&call->text, "as far as it came");
    al_call_finish(call);
}

static void start_big(struct al_call *call)
{
    int64_t mib = 0;
    assert_true(al_json_int(al_json_get(call->args, "mib"), 0, 1000, &mib));
    al_buf_addc(&call->structured, '"');
    char *p = al_buf_grow(&call->structured, (size_t)mib << 20);
    if (p)
        memset(p, 'x', (size_t)mib << 20);
    al_buf_addc(&call->structured, '"');
    al_call_finish(call);
}

static void work_elsewhere(struct al_call *call)
{
    seen.worker = pthread_self();
    al_buf_adds(&call->text, atomic_load(&call->cancelled) ? "cancelled" : "worked");
}

static void start_thread(struct al_call *call)
{
    al_call_in_thread(call, work_elsewhere);
}

static void start_progress(struct al_call *call)
{
    al_call_progress(call, AL_STR("{\"completed\":1}"));
    al_call_progress(call, AL_STR("{\"completed\":2}"));
    al_call_finish(call);
}

static bool only_scratch(const struct al_json *args)
{
    return al_str_starts(al_json_get_text(args, "id"), "scratch:");
}

#define ID_SCHEMA                                                                                         \
    "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\",\"maxLength\":20},\"n\":{\"type\":" \
    "\"integer\"}}}"
#define TOOL(n, e, s) \
    .name = n, .title = n, .description = n, .effect = e, .start = s, .input_schema = ID_SCHEMA

static const struct al_tool echo = {TOOL("echo", AL_EFFECT_READ, start_echo)};
static const struct al_tool echo_strict = {
    .name = "echo_strict",
    .title = "t",
    .description = "d",
    .effect = AL_EFFECT_INTERNAL,
    .input_code = AL_INVALID_INPUT,
    .input_schema =
        "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}},\"required\":[\"path\"]}",
    .start = start_echo,
};
static const struct al_tool not_for_scripts = {TOOL("not_for_scripts", AL_EFFECT_READ, start_echo),
                                               .not_callable = "a script cannot ask"};
static const struct al_tool write_echo = {TOOL("write_echo", AL_EFFECT_WRITE, start_echo),
                                          .scratch_only = only_scratch};
static const struct al_tool hold_read = {TOOL("hold_read", AL_EFFECT_READ, start_hold),
                                         .cancel = cancel_hold};
static const struct al_tool hold_write = {TOOL("hold_write", AL_EFFECT_WRITE, start_hold),
                                          .cancel = cancel_hold};
static const struct al_tool hold_process = {TOOL("hold_process", AL_EFFECT_PROCESS, start_hold)};
static const struct al_tool failing = {TOOL("failing", AL_EFFECT_EXTERNAL, start_fail)};
static const struct al_tool threaded = {TOOL("threaded", AL_EFFECT_READ, start_thread)};
static const struct al_tool progressing = {TOOL("progressing", AL_EFFECT_READ, start_progress)};
#define BIG_SCHEMA "{\"type\":\"object\",\"properties\":{\"mib\":{\"type\":\"integer\"}}}"
static const struct al_tool big = {.name = "big",
                                   .title = "t",
                                   .description = "d",
                                   .effect = AL_EFFECT_READ,
                                   .input_schema = BIG_SCHEMA,
                                   .start = start_big};
static const struct al_tool big_record = {.name = "big_record",
                                          .title = "t",
                                          .description = "d",
                                          .effect = AL_EFFECT_INTERNAL,
                                          .input_schema = BIG_SCHEMA,
                                          .start = start_big};
static const struct al_tool *const tools[] = {
    &echo,         &echo_strict, &not_for_scripts, &write_echo,  &hold_read, &hold_write,
    &hold_process, &failing,     &threaded,        &progressing, &big,       &big_record};

static struct core_world *start(void **state, struct al_policy policy)
{
    struct core_world *t = *state;
    memset(&seen, 0, sizeof(seen));
    t->opts.policy = policy;
    core_world_start(t, NULL);
    for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
        al_core_register(t->core, tools[i]);
    return t;
}

static const struct al_policy nothing = {0};
static const struct al_policy everything = {
    .allow_write = true, .allow_process = true, .allow_external = true};

/* --- checks --- */

static void a_call_ends_once_and_later(void **state)
{
    struct core_world *t = start(state, nothing);
    struct core_answer a = core_world_ask(t, AL_ORIGIN_MCP, "echo", "{\"id\":\"x\"}");
    assert_int_equal(a.code, AL_OK);
    assert_string_equal(a.text, "echo");
    assert_string_equal(a.structured, "{\"id\":\"x\"}");
    a = core_world_ask(t, AL_ORIGIN_MCP, "echo", "");
    assert_string_equal(a.structured, "{}");
}

static void an_unknown_tool_is_not_found_and_close_names_are_told(void **state)
{
    struct core_world *t = start(state, nothing);
    struct core_answer a = core_world_ask(t, AL_ORIGIN_CLI, "ecko", "{}");
    assert_int_equal(a.code, AL_TOOL_NOT_FOUND);
    assert_non_null(strstr(a.msg, "\"ecko\""));
    assert_non_null(strstr(a.hint, "did you mean echo"));
    assert_non_null(strstr(a.hint, "`alisio tool list`"));
    a = core_world_ask(t, AL_ORIGIN_SCRIPT, "notForScripts", "{}");
    assert_int_equal(a.code, AL_TOOL_NOT_FOUND);
    assert_null(strstr(a.hint, "not_for_scripts"));
    assert_non_null(strstr(a.hint, "tools.list()"));
    a = core_world_ask(t, AL_ORIGIN_MCP, "notForScripts", "{}");
    assert_non_null(strstr(a.hint, "did you mean not_for_scripts?"));
    a = core_world_ask(t, AL_ORIGIN_SCRIPT, "\x1b[31m\n", "{}");
    assert_null(strchr(a.msg, '\x1b'));
    assert_null(strchr(a.msg, '\n'));
}

static void a_broken_config_is_the_answer_to_everything(void **state)
{
    struct core_world *t = *state;
    struct al_err broken;
    al_fail(&broken, AL_CONFIG_INVALID, "config.json, line 3: no");
    t->opts.config_err = &broken;
    start(state, everything);
    const char *const names[] = {"echo", "write_echo", "unknown", "js_run"};
    for (size_t i = 0; i < 4; i++) {
        struct core_answer a = core_world_ask(t, AL_ORIGIN_MCP, names[i], "{}");
        assert_int_equal(a.code, AL_CONFIG_INVALID);
        assert_string_equal(a.msg, broken.msg);
    }
    assert_int_equal(seen.started, 0);
}

static void a_tool_that_is_not_for_scripts_is_not_callable_there(void **state)
{
    struct core_world *t = start(state, nothing);
    struct core_answer a = core_world_ask(t, AL_ORIGIN_SCRIPT, "not_for_scripts", "{}");
    assert_int_equal(a.code, AL_NOT_CALLABLE);
    assert_non_null(strstr(a.msg, "a script cannot ask"));
    assert_int_equal(core_world_ask(t, AL_ORIGIN_MCP, "not_for_scripts", "{}").code, AL_OK);
}

static void arguments_are_checked_against_the_schema(void **state)
{
    struct core_world *t = start(state, nothing);
    struct core_answer a = core_world_ask(t, AL_ORIGIN_SCRIPT, "echo", "{\"id\":1,\"n\":\"x\",\"nn\":2}");
    assert_int_equal(a.code, AL_TOOL_INPUT_INVALID);
    assert_non_null(strstr(a.msg, "/id: must be a string"));
    assert_non_null(strstr(a.msg, "/n: must be an integer"));
    assert_non_null(strstr(a.msg, "/nn: is no known property"));
    assert_non_null(strstr(a.hint, "tools.describe(\"echo\")"));
    a = core_world_ask(t, AL_ORIGIN_CLI, "echo", "[]");
    assert_int_equal(a.code, AL_TOOL_INPUT_INVALID);
    assert_non_null(strstr(a.hint, "`alisio tool describe echo`"));
    a = core_world_ask(t, AL_ORIGIN_MCP, "echo", "{\"id\":");
    assert_int_equal(a.code, AL_TOOL_INPUT_INVALID);
    assert_non_null(strstr(a.msg, "line 1"));
    assert_non_null(strstr(a.hint, "echo(args?: {id?: string; n?: number})"));
    a = core_world_ask(t, AL_ORIGIN_MCP, "echo_strict", "{}");
    assert_int_equal(a.code, AL_INVALID_INPUT);
    assert_non_null(strstr(a.msg, "/path: is required"));
    assert_int_equal(seen.started, 0);
}

static void many_problems_are_cut_at_a_whole_line(void **state)
{
    struct core_world *t = start(state, nothing);
    autobuf struct al_buf args = AL_BUF_INIT(1u << 16);
    al_buf_addc(&args, '{');
    for (int i = 0; i < 100; i++)
        al_buf_addf(&args, "%s\"a_rather_long_name_of_an_unknown_property_%03d\":1", i ? "," : "", i);
    al_buf_addc(&args, '}');
    al_buf_addc(&args, 0);
    struct core_answer a = core_world_ask(t, AL_ORIGIN_MCP, "echo", args.p);
    assert_int_equal(a.code, AL_TOOL_INPUT_INVALID);
    unsigned shown = 0, more = 0;
    for (const char *p = a.msg; (p = strstr(p, ": is no known property")); p++)
        shown++;
    const char *rest = strstr(a.msg, "… and ");
    assert_non_null(rest);
    for (rest += strlen("… and "); *rest >= '0' && *rest <= '9'; rest++)
        more = more * 10 + (unsigned)(*rest - '0');
    assert_int_equal(shown + more, 100);
    assert_true(shown >= 10);
}

/* --- gate, audit, rows --- */

struct decisions {
    unsigned n;
    char last[256];
};

static bool count_decision(void *ud, const struct al_decision *d)
{
    struct decisions *c = ud;
    if (c->n++ == 0)
        snprintf(c->last, sizeof(c->last), "%s %s %s %s", d->origin, d->tool, d->effect, d->decision);
    return true;
}

/* How many, and the newest. */
static struct decisions decisions(struct core_world *t)
{
    struct decisions c = {0};
    struct al_err err;
    if (al_store_decision_each(t->store, NULL, 100, count_decision, &c, &err) < 0)
        fail_msg("%s", err.msg);
    return c;
}

static bool count_run(void *ud, const struct al_run *r)
{
    (void)r;
    ++*(unsigned *)ud;
    return true;
}

static unsigned n_runs(struct core_world *t)
{
    struct al_run_filter f = {.limit = 1000};
    struct al_err err;
    unsigned n = 0;
    if (al_store_run_each(t->store, &f, count_run, &n, &err) < 0)
        fail_msg("%s", err.msg);
    return n;
}

static void a_refused_call_is_audited_and_not_started(void **state)
{
    struct core_world *t = start(state, nothing);
    struct core_answer a = core_world_ask(t, AL_ORIGIN_MCP, "write_echo", "{\"id\":\"x\"}");
    assert_int_equal(a.code, AL_APPROVAL_REQUIRED);
    assert_non_null(strstr(a.hint, "alisio mcp --allow-write"));
    assert_non_null(strstr(a.hint, "scratch:"));
    assert_string_equal(decisions(t).last, "mcp write_echo write refused: APPROVAL_REQUIRED");
    a = core_world_ask(t, AL_ORIGIN_SCRIPT, "failing", "{}");
    assert_int_equal(a.code, AL_APPROVAL_REQUIRED);
    assert_non_null(strstr(a.hint, "call failing directly, or start alisio with --allow-external"));
    assert_string_equal(decisions(t).last, "script failing external refused: APPROVAL_REQUIRED");
    core_world_ask(t, AL_ORIGIN_SCRIPT, "not_for_scripts", "{}");
    assert_int_equal(decisions(t).n, 3);
    assert_int_equal(seen.started, 0);
    assert_int_equal(n_runs(t), 0);
    assert_int_equal(core_world_ask(t, AL_ORIGIN_MCP, "write_echo", "{\"id\":\"scratch:x\"}").code, AL_OK);
}

static void read_only_refuses_even_a_typed_call(void **state)
{
    struct al_policy p = everything;
    p.read_only = true;
    struct core_world *t = start(state, p);
    assert_int_equal(core_world_ask(t, AL_ORIGIN_CLI, "write_echo", "{\"id\":\"scratch:x\"}").code,
                     AL_PERMISSION_DENIED);
    assert_string_equal(decisions(t).last, "cli write_echo write refused: PERMISSION_DENIED");
    assert_int_equal(core_world_ask(t, AL_ORIGIN_CLI, "echo", "{}").code, AL_OK);
}

static void a_grant_counts_for_a_client_and_not_for_a_script(void **state)
{
    struct core_world *t = start(state, nothing);
    struct al_grant g = {.capability = (char[]){"write_echo"}, .source = (char[]){"mcp"}};
    memcpy(g.session, al_core_session(t->core)->id, sizeof(g.session));
    struct al_err err;
    if (al_store_grant_add(t->store, &g, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(core_world_ask(t, AL_ORIGIN_MCP, "write_echo", "{}").code, AL_OK);
    assert_int_equal(core_world_ask(t, AL_ORIGIN_MCP, "failing", "{}").code, AL_APPROVAL_REQUIRED);
    assert_int_equal(core_world_ask(t, AL_ORIGIN_SCRIPT, "write_echo", "{}").code, AL_APPROVAL_REQUIRED);
}

static bool keep_call_row(void *ud, const struct al_call_row *c)
{
    snprintf(ud, 256, "%d %s %s %s %s %s %s", (int)c->seq, c->tool, c->effect, c->args_preview, c->decision,
             c->status, c->code ? c->code : "-");
    return true;
}

static void check_run(struct core_world *t, const struct core_answer *a, const char *status,
                      const char *call_row)
{
    struct al_run run;
    struct al_err err;
    char row[256] = "";
    if (al_store_run_get(t->store, a->execution_id, &run, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(run.kind, "tool");
    assert_string_equal(run.status, status);
    assert_string_equal(run.session, al_core_session(t->core)->id);
    assert_string_equal(run.source, "cli");
    assert_int_equal(run.n_calls, 1);
    assert_true(run.started_ms > 0 && run.ended_ms >= run.started_ms);
    assert_non_null(run.record);
    assert_non_null(strstr(run.record, a->execution_id));
    al_run_fini(&run);
    assert_int_equal(al_store_call_each(t->store, a->execution_id, keep_call_row, row, &err), 0);
    assert_string_equal(row, call_row);
}

static void a_direct_call_with_an_effect_is_a_run(void **state)
{
    struct core_world *t = start(state, nothing);
    struct core_answer a = core_world_ask(t, AL_ORIGIN_CLI, "write_echo", "{\"id\":\"x\"}");
    check_run(t, &a, "completed", "1 write_echo write {\"id\":\"x\"} allowed completed -");
    assert_string_equal(decisions(t).last, "cli write_echo write allowed");
    a = core_world_ask(t, AL_ORIGIN_CLI, "failing", "{}");
    assert_int_equal(a.code, AL_TOOL_ERROR);
    assert_string_equal(a.text, "as far as it came");
    check_run(t, &a, "failed", "1 failing external {} allowed failed TOOL_ERROR");
    struct al_call *call = core_world_call(t, AL_ORIGIN_CLI, "hold_write", "{\"id\":\"x\"}", &a);
    al_call_cancel(call);
    core_world_wait(t, &a.done);
    check_run(t, &a, "cancelled", "1 hold_write write {\"id\":\"x\"} allowed cancelled CANCELLED");
    assert_int_equal(n_runs(t), 3);
    assert_int_equal(decisions(t).n, 3);
}

static void reads_and_nested_calls_leave_no_run(void **state)
{
    struct core_world *t = start(state, everything);
    struct core_answer a = core_world_ask(t, AL_ORIGIN_CLI, "echo", "{}");
    assert_string_equal(a.execution_id, "");
    assert_int_equal(core_world_ask(t, AL_ORIGIN_SCRIPT, "write_echo", "{}").code, AL_OK);
    assert_int_equal(n_runs(t), 0);
    assert_int_equal(decisions(t).n, 0);
}

/* --- turns --- */

static struct al_call *nested(struct core_world *t, const char *run, const char *tool, const char *id,
                              struct core_answer *a)
{
    char args[64];
    snprintf(args, sizeof(args), "{\"id\":\"%s\"}", id);
    *a = (struct core_answer){0};
    struct al_call_spec spec = {
        .tool = al_str_of(tool),
        .args_json = al_str_of(args),
        .origin = run ? AL_ORIGIN_SCRIPT : AL_ORIGIN_MCP,
        .run_id = run,
        .done = core_world_answer,
        .ud = a,
    };
    return al_core_call(t->core, &spec);
}

static void calls_with_effects_of_one_run_go_one_at_a_time_in_order(void **state)
{
    struct core_world *t = start(state, everything);
    struct core_answer a[6];
    struct al_call *w1 = nested(t, "exec_A", "hold_write", "w1", &a[0]);
    struct al_call *r1 = nested(t, "exec_A", "hold_read", "r1", &a[1]);
    struct al_call *p2 = nested(t, "exec_A", "hold_process", "p2", &a[2]);
    struct al_call *w3 = nested(t, "exec_A", "hold_write", "w3", &a[3]);
    struct al_call *b1 = nested(t, "exec_B", "hold_write", "b1", &a[4]);
    struct al_call *d1 = nested(t, NULL, "hold_write", "d1", &a[5]);
    assert_string_equal(seen.order, "+w1 +r1 +b1 +d1 ");
    let_go(w1);
    core_world_wait(t, &a[0].done);
    assert_string_equal(seen.order, "+w1 +r1 +b1 +d1 +p2 ");
    let_go(p2);
    core_world_wait(t, &a[2].done);
    assert_string_equal(seen.order, "+w1 +r1 +b1 +d1 +p2 +w3 ");
    struct al_call *const rest[] = {r1, w3, b1, d1};
    for (size_t i = 0; i < 4; i++)
        let_go(rest[i]);
    const bool *const done[] = {&a[1].done, &a[3].done, &a[4].done, &a[5].done};
    for (size_t i = 0; i < 4; i++)
        core_world_wait(t, done[i]);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(a[i].times, 1);
}

static void direct_calls_wait_for_each_other(void **state)
{
    struct core_world *t = start(state, everything);
    struct core_answer a[2];
    struct al_call *one = core_world_call(t, AL_ORIGIN_MCP, "hold_write", "{\"id\":\"1\"}", &a[0]);
    struct al_call *two = core_world_call(t, AL_ORIGIN_CLI, "hold_process", "{\"id\":\"2\"}", &a[1]);
    assert_string_equal(seen.order, "+1 ");
    assert_int_equal(n_runs(t), 1); /* what waits has begun nothing */
    let_go(one);
    core_world_wait(t, &a[0].done);
    assert_string_equal(seen.order, "+1 +2 ");
    let_go(two);
    core_world_wait(t, &a[1].done);
}

static void a_call_made_before_done_goes_to_the_end_of_the_line(void **state)
{
    struct core_world *t = start(state, everything);
    struct core_answer a[3];
    struct al_call *one = nested(t, "exec_A", "hold_write", "1", &a[0]);
    struct al_call *two = nested(t, "exec_A", "hold_write", "2", &a[1]);
    let_go(one);
    struct al_call *three = nested(t, "exec_A", "hold_write", "3", &a[2]);
    assert_string_equal(seen.order, "+1 ");
    core_world_wait(t, &a[0].done);
    assert_string_equal(seen.order, "+1 +2 ");
    let_go(two);
    core_world_wait(t, &a[1].done);
    assert_string_equal(seen.order, "+1 +2 +3 ");
    let_go(three);
    core_world_wait(t, &a[2].done);
}

static void a_cancelled_call_in_the_line_ends_and_does_not_start(void **state)
{
    struct core_world *t = start(state, everything);
    struct core_answer a[3];
    struct al_call *one = nested(t, "exec_A", "hold_write", "1", &a[0]);
    struct al_call *two = nested(t, "exec_A", "hold_write", "2", &a[1]);
    struct al_call *three = nested(t, "exec_A", "hold_write", "3", &a[2]);
    al_call_cancel(two);
    al_call_cancel(two);
    core_world_wait(t, &a[1].done);
    assert_int_equal(a[1].code, AL_CANCELLED);
    assert_string_equal(seen.order, "+1 ");
    assert_int_equal(seen.cancels, 0);
    let_go(one);
    core_world_wait(t, &a[0].done);
    assert_string_equal(seen.order, "+1 +3 ");
    al_call_cancel(three);
    core_world_wait(t, &a[2].done);
    assert_int_equal(a[2].code, AL_CANCELLED);
    assert_int_equal(seen.cancels, 1);
}

static void cancelling_what_has_ended_changes_nothing(void **state)
{
    struct core_world *t = start(state, everything);
    struct core_answer a;
    struct al_call *call = core_world_call(t, AL_ORIGIN_MCP, "echo", "{}", &a);
    al_call_cancel(call); /* it has its result already; only done has not come */
    core_world_wait(t, &a.done);
    assert_int_equal(a.code, AL_OK);
}

static void a_tool_without_cancel_sees_the_flag(void **state)
{
    struct core_world *t = start(state, everything);
    struct core_answer a;
    struct al_call *call = core_world_call(t, AL_ORIGIN_MCP, "hold_process", "{\"id\":\"1\"}", &a);
    al_call_cancel(call);
    assert_true(atomic_load(&call->cancelled));
    let_go(call);
    core_world_wait(t, &a.done);
    assert_int_equal(a.code, AL_CANCELLED);
}

/* --- hooks, results, threads --- */

struct hook {
    struct core_answer a;
    unsigned calls, progress;
    bool fails, cancels;
};

static int starting(void *ud, struct al_call *call, struct al_err *err)
{
    struct hook *h = ud;
    h->calls++;
    note("starting");
    if (h->cancels)
        al_call_cancel(call);
    return h->fails ? al_fail(err, AL_BUSY, "no row") : 0;
}

static void hook_done(void *ud, struct al_call *call)
{
    core_world_answer(&((struct hook *)ud)->a, call);
}

static void hook_progress(void *ud, struct al_str json)
{
    assert_true(al_str_starts(json, "{\"completed\":"));
    ((struct hook *)ud)->progress++;
}

static struct al_call *hooked(struct core_world *t, const char *tool, bool preapproved, struct hook *h)
{
    struct al_call_spec spec = {
        .tool = al_str_of(tool),
        .args_json = AL_STR("{\"id\":\"x\"}"),
        .origin = AL_ORIGIN_SCRIPT,
        .run_id = "exec_A",
        .preapproved = preapproved,
        .starting = starting,
        .progress = hook_progress,
        .done = hook_done,
        .ud = h,
    };
    return al_core_call(t->core, &spec);
}

static void the_caller_is_told_just_before_the_start(void **state)
{
    struct core_world *t = start(state, everything);
    struct hook one = {0}, two = {0}, failed = {.fails = true}, cancelled = {.cancels = true};
    struct al_call *c1 = hooked(t, "hold_write", false, &one);
    struct al_call *c2 = hooked(t, "hold_write", false, &two);
    assert_string_equal(seen.order, "starting +x ");
    assert_int_equal(two.calls, 0);
    let_go(c1);
    core_world_wait(t, &one.a.done);
    assert_string_equal(seen.order, "starting +x starting +x ");
    let_go(c2);
    core_world_wait(t, &two.a.done);

    unsigned started = seen.started;
    hooked(t, "write_echo", false, &failed);
    core_world_wait(t, &failed.a.done);
    assert_int_equal(failed.a.code, AL_BUSY);
    hooked(t, "write_echo", false, &cancelled);
    core_world_wait(t, &cancelled.a.done);
    assert_int_equal(cancelled.a.code, AL_CANCELLED);
    assert_int_equal(cancelled.a.times, 1);
    assert_int_equal(seen.started, started);
}

static void a_refused_call_is_never_told_as_starting(void **state)
{
    struct core_world *t = start(state, nothing);
    struct hook h = {0}, p = {0};
    hooked(t, "write_echo", false, &h);
    core_world_wait(t, &h.a.done);
    assert_int_equal(h.a.code, AL_APPROVAL_REQUIRED);
    assert_int_equal(h.calls, 0);
    hooked(t, "write_echo", true, &p);
    core_world_wait(t, &p.a.done);
    assert_int_equal(p.a.code, AL_OK);
    assert_int_equal(p.calls, 1);
}

static void progress_goes_to_the_caller(void **state)
{
    struct core_world *t = start(state, nothing);
    struct hook h = {0};
    hooked(t, "progressing", false, &h);
    core_world_wait(t, &h.a.done);
    assert_int_equal(h.progress, 2);
}

static void a_result_over_8_mib_is_too_large_for_that_call(void **state)
{
    struct core_world *t = start(state, nothing);
    struct core_answer a = core_world_ask(t, AL_ORIGIN_SCRIPT, "big", "{\"mib\":7}");
    assert_int_equal(a.code, AL_OK);
    assert_int_equal(a.structured_n, (7u << 20) + 2);
    a = core_world_ask(t, AL_ORIGIN_SCRIPT, "big", "{\"mib\":8}");
    assert_int_equal(a.code, AL_RESULT_TOO_LARGE);
    assert_int_equal(a.structured_n, 0);
    assert_int_equal(core_world_ask(t, AL_ORIGIN_MCP, "big", "{\"mib\":8}").code, AL_RESULT_TOO_LARGE);
    assert_int_equal(core_world_ask(t, AL_ORIGIN_SCRIPT, "big_record", "{\"mib\":8}").code,
                     AL_RESULT_TOO_LARGE);
    a = core_world_ask(t, AL_ORIGIN_MCP, "big_record", "{\"mib\":40}"); /* a whole run record */
    assert_int_equal(a.code, AL_OK);
    assert_int_equal(a.structured_n, (40u << 20) + 2);
}

static void work_runs_on_another_thread_and_ends_in_the_loop(void **state)
{
    struct core_world *t = start(state, nothing);
    struct core_answer a = core_world_ask(t, AL_ORIGIN_MCP, "threaded", "{}");
    assert_string_equal(a.text, "worked");
    assert_false(pthread_equal(seen.worker, pthread_self()));
}

static void too_many_open_calls_are_busy(void **state)
{
    struct core_world *t = start(state, nothing);
    enum {
        N = 1100
    };
    struct core_answer *a = al_xcalloc(N, sizeof(*a));
    for (int i = 0; i < N; i++)
        core_world_call(t, AL_ORIGIN_MCP, "echo", "{}", &a[i]);
    unsigned busy = 0;
    for (int i = 0; i < N; i++) {
        core_world_wait(t, &a[i].done);
        busy += a[i].code == AL_BUSY;
    }
    assert_int_equal(busy, N - 1024);
    assert_int_equal(core_world_ask(t, AL_ORIGIN_MCP, "echo", "{}").code, AL_OK);
    free(a);
}

/* --- the end --- */

static void set_true(void *ud)
{
    *(bool *)ud = true;
}

static void a_shutdown_cancels_what_runs_and_what_waits(void **state)
{
    struct core_world *t = start(state, everything);
    struct core_answer a[3], late;
    bool idle = false;
    core_world_call(t, AL_ORIGIN_MCP, "hold_write", "{\"id\":\"1\"}", &a[0]);
    core_world_call(t, AL_ORIGIN_MCP, "hold_write", "{\"id\":\"2\"}", &a[1]);
    core_world_call(t, AL_ORIGIN_MCP, "hold_read", "{\"id\":\"3\"}", &a[2]);
    al_core_shutdown(t->core, set_true, &idle);
    core_world_call(t, AL_ORIGIN_MCP, "echo", "{}", &late);
    core_world_wait(t, &idle);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(a[i].times, 1);
        assert_int_equal(a[i].code, AL_CANCELLED);
    }
    assert_int_equal(late.code, AL_CANCELLED);
    assert_string_equal(seen.order, "+1 +3 ");
}

static void a_shutdown_without_calls_is_idle_at_once_but_later(void **state)
{
    struct core_world *t = start(state, nothing);
    bool idle = false;
    al_core_shutdown(t->core, set_true, &idle);
    assert_false(idle);
    core_world_wait(t, &idle);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, core_world_set_up, core_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_call_ends_once_and_later),
        CASE(an_unknown_tool_is_not_found_and_close_names_are_told),
        CASE(a_broken_config_is_the_answer_to_everything),
        CASE(a_tool_that_is_not_for_scripts_is_not_callable_there),
        CASE(arguments_are_checked_against_the_schema),
        CASE(many_problems_are_cut_at_a_whole_line),
        CASE(a_refused_call_is_audited_and_not_started),
        CASE(read_only_refuses_even_a_typed_call),
        CASE(a_grant_counts_for_a_client_and_not_for_a_script),
        CASE(a_direct_call_with_an_effect_is_a_run),
        CASE(reads_and_nested_calls_leave_no_run),
        CASE(calls_with_effects_of_one_run_go_one_at_a_time_in_order),
        CASE(direct_calls_wait_for_each_other),
        CASE(a_call_made_before_done_goes_to_the_end_of_the_line),
        CASE(a_cancelled_call_in_the_line_ends_and_does_not_start),
        CASE(cancelling_what_has_ended_changes_nothing),
        CASE(a_tool_without_cancel_sees_the_flag),
        CASE(the_caller_is_told_just_before_the_start),
        CASE(a_refused_call_is_never_told_as_starting),
        CASE(progress_goes_to_the_caller),
        CASE(a_result_over_8_mib_is_too_large_for_that_call),
        CASE(work_runs_on_another_thread_and_ends_in_the_loop),
        CASE(too_many_open_calls_are_busy),
        CASE(a_shutdown_cancels_what_runs_and_what_waits),
        CASE(a_shutdown_without_calls_is_idle_at_once_but_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
