#include "test.h"

#include "core/gate.h"

#include <stdio.h>
#include <string.h>

/* A direct call of a model: a client's, or our own agent's. */
static bool is_of_model(const struct al_gate_query *q)
{
    return q->origin == AL_ORIGIN_MCP || q->origin == AL_ORIGIN_AGENT;
}

/* The rules, written down a second time and in other words than the table of gate.c. */
static enum al_code expected(const struct al_policy *p, const struct al_gate_query *q)
{
    if (q->effect == AL_EFFECT_READ || q->effect == AL_EFFECT_INTERNAL)
        return AL_OK;
    if (p->read_only)
        return AL_PERMISSION_DENIED;
    if (q->origin == AL_ORIGIN_CLI)
        return AL_OK;
    if (q->effect == AL_EFFECT_WRITE && (p->allow_write || q->scratch_only))
        return AL_OK;
    if (q->effect == AL_EFFECT_PROCESS && p->allow_process)
        return AL_OK;
    if (q->effect == AL_EFFECT_EXTERNAL && p->allow_external)
        return AL_OK;
    if (is_of_model(q) && q->granted)
        return AL_OK;
    if (q->origin == AL_ORIGIN_SCRIPT && q->preapproved)
        return AL_OK;
    return AL_APPROVAL_REQUIRED;
}

static const char *const flag_of[] = {
    [AL_EFFECT_WRITE] = "--allow-write",
    [AL_EFFECT_PROCESS] = "--allow-process",
    [AL_EFFECT_EXTERNAL] = "--allow-external",
};

/* A hint names what would really help, and nothing that would not. */
static void check_hint(const struct al_gate_query *q, const struct al_err *err)
{
    if (err->code == AL_PERMISSION_DENIED) {
        assert_non_null(strstr(err->hint, "--read-only"));
        assert_null(strstr(err->hint, "--allow"));
        return;
    }
    assert_non_null(strstr(err->hint, flag_of[q->effect]));
    for (int e = AL_EFFECT_WRITE; e <= AL_EFFECT_EXTERNAL; e++)
        if (e != (int)q->effect)
            assert_null(strstr(err->hint, flag_of[e]));
    if (q->origin == AL_ORIGIN_SCRIPT)
        assert_non_null(strstr(err->hint, "call the_tool directly, or start alisio with --allow"));
    if (q->origin == AL_ORIGIN_MCP)
        assert_non_null(strstr(err->hint, "`alisio mcp --allow"));
    if (q->origin == AL_ORIGIN_AGENT)
        assert_non_null(strstr(err->hint, "the person starts alisio with --allow"));
    assert_int_equal(strstr(err->hint, "scratch:") != NULL, q->takes_scratch);
}

static unsigned check_cell(const struct al_policy *p, const struct al_gate_query *q)
{
    struct al_err err = {.code = AL_OK};
    enum al_code want = expected(p, q);
    int r = al_gate_decide(p, q, "the_tool", &err);
    if (r != (want == AL_OK ? 0 : -1) || err.code != want)
        fail_msg("effect %s, origin %d, read_only %d, write %d, process %d, external %d, scratch %d, "
                 "preapproved %d, "
                 "granted %d: %s instead of %s",
                 al_effect_name(q->effect), q->origin, p->read_only, p->allow_write, p->allow_process,
                 p->allow_external, q->scratch_only, q->preapproved, q->granted, al_code_name(err.code),
                 al_code_name(want));
    if (r < 0) {
        assert_non_null(strstr(err.msg, "the_tool"));
        check_hint(q, &err);
    }
    assert_int_equal(al_gate_decide(p, q, "the_tool", NULL), r);
    return 1;
}

static void every_cell_of_the_table_decides_as_the_rules_say(void **state)
{
    (void)state;
    unsigned cells = 0;
    for (int effect = AL_EFFECT_READ; effect <= AL_EFFECT_EXTERNAL; effect++)
        for (int origin = AL_ORIGIN_CLI; origin <= AL_ORIGIN_AGENT; origin++)
            for (unsigned bits = 0; bits < 256; bits++) {
                struct al_policy p = {
                    .read_only = bits & 1,
                    .allow_write = bits & 2,
                    .allow_process = bits & 4,
                    .allow_external = bits & 8,
                };
                struct al_gate_query q = {
                    .effect = (enum al_effect)effect,
                    .origin = (enum al_origin)origin,
                    .scratch_only = bits & 16,
                    .preapproved = bits & 32,
                    .granted = bits & 64,
                    .takes_scratch = (bits & 128) && effect == AL_EFFECT_WRITE,
                };
                cells += check_cell(&p, &q);
            }
    assert_int_equal(cells, 5 * 4 * 256);
}

static void other_permissions_open_nothing(void **state)
{
    (void)state;
    const struct al_policy p = {
        .allow_mcp = true, .allow_analysis = true, .allow_analysis_unsandboxed = true};
    for (int effect = AL_EFFECT_WRITE; effect <= AL_EFFECT_EXTERNAL; effect++) {
        struct al_gate_query q = {.effect = (enum al_effect)effect, .origin = AL_ORIGIN_SCRIPT};
        check_cell(&p, &q);
        q.origin = AL_ORIGIN_MCP;
        check_cell(&p, &q);
        q.origin = AL_ORIGIN_AGENT;
        check_cell(&p, &q);
    }
}

/* --- tools of a server --- */

static enum al_code expected_of_server(const struct al_policy *p, const struct al_gate_query *q)
{
    bool person_is_there = q->origin == AL_ORIGIN_CLI || q->preapproved;
    if (p->read_only || q->gate == AL_GATE_DENY)
        return AL_PERMISSION_DENIED;
    if (q->gate == AL_GATE_ALLOW || person_is_there)
        return AL_OK;
    if (q->gate == AL_GATE_ASK && is_of_model(q) && q->granted)
        return AL_OK;
    return AL_APPROVAL_REQUIRED;
}

static void check_server_hint(const struct al_policy *p, const struct al_gate_query *q,
                              const struct al_err *err)
{
    if (p->read_only) {
        assert_non_null(strstr(err->hint, "--read-only"));
    } else if (q->gate == AL_GATE_DENY) {
        assert_non_null(strstr(err->msg, "mcp.servers.github.tools"));
        assert_null(strstr(err->hint, "--allow"));
    } else if (q->gate == AL_GATE_CHANGED) {
        assert_non_null(strstr(err->hint, "`alisio mcp review github`"));
        assert_null(strstr(err->hint, "alisio mcp allow"));
    } else {
        assert_non_null(strstr(err->hint, "`alisio mcp allow github 'get_issue'`"));
        assert_non_null(strstr(err->hint, "--allow-mcp=github.get_issue"));
        assert_int_equal(strstr(err->hint, "`uses`") != NULL,
                         q->can_ask && (q->over_mcp || q->in_agent) && q->origin == AL_ORIGIN_SCRIPT);
    }
    assert_null(strstr(err->hint, "--allow-external"));
}

static void every_cell_of_a_servers_tool_decides_as_the_rules_say(void **state)
{
    (void)state;
    unsigned cells = 0;
    for (int gate = AL_GATE_ALLOW; gate <= AL_GATE_CHANGED; gate++)
        for (int origin = AL_ORIGIN_CLI; origin <= AL_ORIGIN_AGENT; origin++)
            for (unsigned bits = 0; bits < 256; bits++) {
                struct al_policy p = {
                    .read_only = bits & 1, .allow_external = bits & 2, .allow_mcp = bits & 4};
                struct al_gate_query q = {
                    .effect = AL_EFFECT_EXTERNAL,
                    .origin = (enum al_origin)origin,
                    .gate = (enum al_tool_gate)gate,
                    .preapproved = bits & 8,
                    .granted = bits & 16,
                    .can_ask = bits & 32,
                    .over_mcp = bits & 64,
                    .in_agent = bits & 128,
                    .server = "github",
                    .server_tool = "get_issue",
                };
                struct al_err err = {.code = AL_OK};
                enum al_code want = expected_of_server(&p, &q);
                int r = al_gate_decide(&p, &q, "mcp_github_get_issue", &err);
                if (r != (want == AL_OK ? 0 : -1) || err.code != want)
                    fail_msg("gate %d, origin %d, bits %u: %s instead of %s", gate, origin, bits,
                             al_code_name(err.code), al_code_name(want));
                if (r < 0)
                    check_server_hint(&p, &q, &err);
                cells++;
            }
    assert_int_equal(cells, 4 * 4 * 256);
}

/* A server chooses the names of its tools, and a person pastes the command. */
static void a_hint_can_be_pasted_whatever_a_tool_is_called(void **state)
{
    (void)state;
    struct al_policy p = {0};
    struct al_gate_query q = {
        .effect = AL_EFFECT_EXTERNAL, .origin = AL_ORIGIN_SCRIPT, .gate = AL_GATE_ASK, .server = "s"};
    struct al_err err;
    q.server_tool = "x'; rm -rf ~; echo '$(id)`id`\\*";
    assert_int_equal(al_gate_decide(&p, &q, "mcp_s_x", &err), -1);
    assert_non_null(
        strstr(err.hint, "alisio mcp allow s 'x'\\''; rm -rf ~; echo '\\''$(id)`id`\\\\\\*'`, or"));
    q.server_tool = "get_*";
    q.server = "two [2]";
    assert_int_equal(al_gate_decide(&p, &q, "mcp_s_x", &err), -1);
    assert_non_null(strstr(err.hint, "alisio mcp allow 'two [2]' 'get_\\*'`, or"));
    assert_non_null(strstr(err.hint, "'--allow-mcp=two [2].get_\\*'"));
    q.server = "s";
    q.server_tool = "a\xe2\x80\x8b"
                    "b"; /* a space of no width */
    assert_int_equal(al_gate_decide(&p, &q, "mcp_s_x", &err), -1);
    assert_non_null(strstr(err.hint, "alisio mcp allow SERVER 'PATTERN'"));
    q.server_tool = "a\nb";
    assert_int_equal(al_gate_decide(&p, &q, "mcp_s_x", &err), -1);
    assert_non_null(strstr(err.hint, "alisio mcp allow SERVER 'PATTERN'"));
    char huge[300];
    memset(huge, 'x', sizeof huge);
    huge[sizeof huge - 1] = 0;
    q.server_tool = huge;
    assert_int_equal(al_gate_decide(&p, &q, "mcp_s_x", &err), -1);
    assert_non_null(strstr(err.hint, "alisio mcp allow SERVER 'PATTERN'"));
}

/* --- Python scripts: the capability analysis.run --- */

enum {
    N_ISOLATIONS = AL_PY_NONE + 1
};

static bool is_weak(const struct al_gate_query *q)
{
    return q->isolation == AL_PY_NONE || q->isolation == AL_PY_RESTRICTED_PROCESS;
}

static enum al_code expected_of_python(const struct al_policy *p, const struct al_gate_query *q)
{
    bool someone_answers = q->can_ask_now || (q->origin == AL_ORIGIN_SCRIPT && q->can_ask);
    if (p->read_only)
        return AL_PERMISSION_DENIED;
    if (q->origin == AL_ORIGIN_CLI || p->allow_process)
        return AL_OK;
    if (p->allow_analysis && (p->allow_analysis_unsandboxed || !q->isolation_known || !is_weak(q)))
        return AL_OK;
    if (is_of_model(q) ? q->granted : q->preapproved)
        return AL_OK;
    bool permitted_for_more = p->allow_analysis || (is_of_model(q) && q->granted_stronger);
    if (q->isolation_known && permitted_for_more && !someone_answers)
        return AL_PERMISSION_DENIED;
    return AL_APPROVAL_REQUIRED;
}

static void check_python_hint(const struct al_policy *p, const struct al_gate_query *q,
                              const struct al_err *err)
{
    if (p->read_only) {
        assert_non_null(
            strstr(err->hint, q->origin == AL_ORIGIN_AGENT ? "without --read-only" : "drop --read-only"));
        assert_null(strstr(err->hint, "--allow"));
        return;
    }
    bool weak = q->isolation_known && is_weak(q);
    assert_non_null(strstr(err->hint, "--allow-analysis"));
    assert_int_equal(strstr(err->hint, "--allow-analysis=unsandboxed") != NULL, weak);
    assert_null(strstr(err->hint, "--allow-process"));
    assert_int_equal(strstr(err->hint, "`uses`") != NULL,
                     q->can_ask && (q->over_mcp || q->in_agent) && q->origin == AL_ORIGIN_SCRIPT);
    if (q->origin == AL_ORIGIN_AGENT || q->in_agent)
        assert_non_null(strstr(err->hint, "the person starts alisio with --allow-analysis"));
    else if (q->origin == AL_ORIGIN_SCRIPT && !q->over_mcp)
        assert_non_null(strstr(err->hint, "call python_run directly, or start alisio with --allow-analysis"));
}

/* What was decided may run behind the wall that it was decided for, never behind one that is not covered. */
static void check_covered(const struct al_policy *p, const struct al_gate_query *q)
{
    enum al_py_isolation weakest = al_gate_covered(p, q);
    if (q->isolation_known)
        assert_true(al_py_isolation_covers(weakest, q->isolation));
    bool unlimited = p->allow_process || (p->allow_analysis && p->allow_analysis_unsandboxed) ||
                     q->origin == AL_ORIGIN_CLI || (q->origin == AL_ORIGIN_SCRIPT && q->preapproved);
    if (unlimited)
        assert_int_equal(weakest, AL_PY_NONE);
    else if (!q->isolation_known || !is_weak(q))
        assert_true(weakest <= AL_PY_CONTAINER);
    else
        assert_int_equal(weakest, q->isolation);
}

static void check_python_cell(const struct al_policy *p, const struct al_gate_query *q)
{
    struct al_err err = {.code = AL_OK};
    enum al_code want = expected_of_python(p, q);
    int r = al_gate_decide(p, q, "python_run", &err);
    if (r != (want == AL_OK ? 0 : -1) || err.code != want)
        fail_msg("origin %d, read_only %d, process %d, analysis %d, unsandboxed %d, isolation %s (known %d), "
                 "granted %d, "
                 "for more %d, preapproved %d: %s instead of %s",
                 q->origin, p->read_only, p->allow_process, p->allow_analysis, p->allow_analysis_unsandboxed,
                 al_py_isolation_name(q->isolation), q->isolation_known, q->granted, q->granted_stronger,
                 q->preapproved, al_code_name(err.code), al_code_name(want));
    if (r < 0)
        check_python_hint(p, q, &err);
    else
        check_covered(p, q);
    /* Nothing needs to be found out about the wall where that changes nothing. */
    if (!al_gate_needs_isolation(p, q)) {
        struct al_gate_query other = *q;
        for (int i = 0; i < N_ISOLATIONS; i++) {
            other.isolation_known = true;
            other.isolation = (enum al_py_isolation)i;
            assert_int_equal(al_gate_decide(p, &other, "python_run", NULL), r);
        }
    }
}

static void every_cell_of_a_python_script_decides_as_the_rules_say(void **state)
{
    (void)state;
    unsigned cells = 0;
    for (int origin = AL_ORIGIN_CLI; origin <= AL_ORIGIN_AGENT; origin++)
        for (int isolation = 0; isolation < N_ISOLATIONS; isolation++)
            for (unsigned bits = 0; bits < 8192; bits++) {
                struct al_policy p = {.read_only = bits & 1,
                                      .allow_process = bits & 2,
                                      .allow_analysis = bits & 4,
                                      .allow_analysis_unsandboxed = bits & 8,
                                      .allow_write = bits & 16,
                                      .allow_external = bits & 16,
                                      .allow_mcp = bits & 16};
                struct al_gate_query q = {.effect = AL_EFFECT_PROCESS,
                                          .capability = AL_CAP_ANALYSIS_RUN,
                                          .origin = (enum al_origin)origin,
                                          .isolation = (enum al_py_isolation)isolation,
                                          .isolation_known = bits & 32,
                                          .granted = bits & 64,
                                          .granted_stronger = bits & 128,
                                          .preapproved = bits & 256,
                                          .can_ask = bits & 512,
                                          .can_ask_now = bits & 1024,
                                          .over_mcp = bits & 2048,
                                          .in_agent = bits & 4096};
                check_python_cell(&p, &q);
                cells++;
            }
    assert_int_equal(cells, 4 * N_ISOLATIONS * 8192);
}

static void a_permission_for_python_opens_no_other_program(void **state)
{
    (void)state;
    const struct al_policy p = {.allow_analysis = true, .allow_analysis_unsandboxed = true};
    for (int origin = AL_ORIGIN_MCP; origin <= AL_ORIGIN_AGENT; origin++)
        for (int effect = AL_EFFECT_WRITE; effect <= AL_EFFECT_EXTERNAL; effect++)
            for (int known = 0; known < 2; known++) {
                struct al_gate_query q = {.effect = (enum al_effect)effect,
                                          .origin = (enum al_origin)origin,
                                          .isolation = AL_PY_OS_SANDBOX,
                                          .isolation_known = known,
                                          .granted_stronger = true};
                struct al_err err;
                assert_int_equal(al_gate_decide(&p, &q, "shell", &err), -1);
                assert_int_equal(err.code, AL_APPROVAL_REQUIRED);
                assert_null(strstr(err.hint, "analysis"));
                assert_false(al_gate_needs_isolation(&p, &q));
                q.capability = AL_CAP_ANALYSIS_INSTALL; /* no flag is about it */
                assert_int_equal(al_gate_decide(&p, &q, "shell", &err), -1);
            }
}

static void a_permission_for_a_strong_wall_does_not_cover_a_weak_one(void **state)
{
    (void)state;
    struct al_policy p = {.allow_analysis = true};
    struct al_gate_query q = {.effect = AL_EFFECT_PROCESS,
                              .capability = AL_CAP_ANALYSIS_RUN,
                              .origin = AL_ORIGIN_MCP,
                              .isolation_known = true,
                              .isolation = AL_PY_NONE,
                              .over_mcp = true};
    struct al_err err;
    assert_int_equal(al_gate_decide(&p, &q, "python_run", &err), -1);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
    assert_string_equal(
        err.msg, "python_run would run with the isolation \"none\" here, and what was permitted is for "
                 "a stronger one");
    assert_non_null(strstr(err.hint, "`alisio mcp --allow-analysis=unsandboxed`"));
    q.can_ask_now = true; /* then a person is asked again */
    assert_int_equal(al_gate_decide(&p, &q, "python_run", &err), -1);
    assert_int_equal(err.code, AL_APPROVAL_REQUIRED);
    q.can_ask_now = false;
    p = (struct al_policy){0};
    q.granted_stronger = true;
    q.isolation = AL_PY_CONTAINER; /* granted for bubblewrap, say: the plain flag would help */
    assert_int_equal(al_gate_decide(&p, &q, "python_run", &err), -1);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
    assert_non_null(strstr(err.hint, "`alisio mcp --allow-analysis`"));
}

static void effects_have_their_names(void **state)
{
    (void)state;
    assert_string_equal(al_effect_name(AL_EFFECT_READ), "read");
    assert_string_equal(al_effect_name(AL_EFFECT_INTERNAL), "internal");
    assert_string_equal(al_effect_name(AL_EFFECT_WRITE), "write");
    assert_string_equal(al_effect_name(AL_EFFECT_PROCESS), "process");
    assert_string_equal(al_effect_name(AL_EFFECT_EXTERNAL), "external");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_of_the_table_decides_as_the_rules_say),
        cmocka_unit_test(other_permissions_open_nothing),
        cmocka_unit_test(every_cell_of_a_servers_tool_decides_as_the_rules_say),
        cmocka_unit_test(a_hint_can_be_pasted_whatever_a_tool_is_called),
        cmocka_unit_test(every_cell_of_a_python_script_decides_as_the_rules_say),
        cmocka_unit_test(a_permission_for_python_opens_no_other_program),
        cmocka_unit_test(a_permission_for_a_strong_wall_does_not_cover_a_weak_one),
        cmocka_unit_test(effects_have_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
