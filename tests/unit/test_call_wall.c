/* Calls that run Python scripts, over walls that are played here: what is decided for which wall, and asked
 * when. */
#include "test.h"

#include "core_world.h"

#include "base/mem.h"
#include "core/ask_text.h"
#include "pyrun/extras.h"
#include "pyrun/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the walls: these stand in the place of pyrun's own --- */

struct al_pyrun {
    struct al_loop *loop;
};

static struct {
    enum al_py_isolation isolation;
    bool none;  /* nothing can run scripts */
    bool holds; /* the choice comes when the test says so */
    bool known; /* already */
    unsigned chosen;
    void (*done)(void *ud, const struct al_py_probe *chosen, enum al_py_backend b, struct al_str reason,
                 const struct al_err *err);
    void *ud;
} walls;

static const enum al_py_backend backend_of[] = {[AL_PY_OS_SANDBOX] = AL_PY_BWRAP,
                                                [AL_PY_OS_FILTER] = AL_PY_LANDLOCK,
                                                [AL_PY_CONTAINER] = AL_PY_OCI,
                                                [AL_PY_RESTRICTED_PROCESS] = AL_PY_WASM,
                                                [AL_PY_NONE] = AL_PY_MANAGED};

const char *al_py_isolation_name(enum al_py_isolation i)
{
    static const char *const names[] = {"os-sandbox", "os-filter", "container", "restricted-process", "none"};
    return names[i];
}

const char *al_py_backend_name(enum al_py_backend b)
{
    static const char *const names[] = {"bwrap", "landlock", "oci", "wasm", "managed", "auto"};
    return names[b];
}

bool al_py_isolation_covers(enum al_py_isolation granted, enum al_py_isolation now)
{
    return now <= granted;
}

struct al_pyrun *al_pyrun_new(const struct al_pyrun_opts *o)
{
    struct al_pyrun *p = al_xcalloc(1, sizeof *p);
    p->loop = o->loop;
    return p;
}

void al_pyrun_free(struct al_pyrun *p)
{
    free(p);
}

enum al_py_policy al_pyrun_policy(const struct al_pyrun *p)
{
    (void)p;
    return AL_PY_PREFERRED;
}

int al_pyrun_wanted(const struct al_pyrun *p)
{
    (void)p;
    return AL_PY_N;
}

const struct al_py_probe *al_pyrun_known(const struct al_pyrun *p, enum al_py_backend b)
{
    static struct al_py_probe probe;
    (void)p, (void)b;
    probe.isolation = walls.isolation;
    return &probe;
}

int al_py_choose(int wanted, enum al_py_policy policy, const struct al_py_probe *probes,
                 enum al_py_backend *ret_backend, enum al_py_backend *ret_need, struct al_buf *reason,
                 struct al_err *err)
{
    (void)wanted, (void)policy, (void)probes, (void)ret_need, (void)reason, (void)err;
    *ret_backend = backend_of[walls.isolation];
    return walls.known ? 0 : 1;
}

static void tell(void *ud)
{
    (void)ud;
    struct al_py_probe probe = {.state = AL_PY_READY, .isolation = walls.isolation};
    struct al_err err = {.code = AL_OK};
    void (*done)(void *, const struct al_py_probe *, enum al_py_backend, struct al_str,
                 const struct al_err *) = walls.done;
    walls.done = NULL;
    if (walls.none)
        al_fail(&err, AL_RUNTIME_UNAVAILABLE, "nothing here can run Python");
    done(walls.ud, walls.none ? NULL : &probe, backend_of[walls.isolation], AL_STR("why"),
         walls.none ? &err : NULL);
}

void al_pyrun_choose(struct al_pyrun *p,
                     void (*done)(void *ud, const struct al_py_probe *chosen, enum al_py_backend b,
                                  struct al_str reason, const struct al_err *err),
                     void *ud)
{
    assert_null(walls.done);
    walls.chosen++;
    walls.done = done;
    walls.ud = ud;
    if (!walls.holds)
        al_defer(p->loop, tell, NULL);
}

int al_py_sweep(const struct al_py_sweep_spec *spec, struct al_py_swept *ret, struct al_buf *said,
                struct al_err *err)
{
    (void)spec, (void)ret, (void)said, (void)err;
    return 0;
}

int al_py_extras_sweep(const char *state_dir)
{
    (void)state_dir;
    return 0;
}

void al_py_extras_json(struct al_pyrun *p, struct al_jw *w)
{
    (void)p;
    al_jw_obj(w);
    al_jw_end(w);
}

/* --- tools: python (analysis.run), other (a program), which note what they were let in for --- */

static struct {
    char order[64];
    enum al_py_isolation decided;
    unsigned started;
    struct al_call *held; /* the last call that holds */
} ran;

static void start_python(struct al_call *call)
{
    size_t n = strlen(ran.order);
    snprintf(ran.order + n, sizeof ran.order - n, "%s", call->tool->name[0] == 'p' ? "p" : "o");
    ran.started++;
    ran.decided = call->decided_isolation;
    if (al_json_is_true(al_json_get(call->args, "hold")))
        ran.held = call;
    else
        al_call_finish(call);
}

static void cancel_python(struct al_call *call)
{
    ran.held = NULL;
    al_call_finish(call);
}

static int prepare_python(struct al_call *call)
{
    struct al_str code = al_json_get_text(call->args, "codePath");
    if (al_str_is(code, "none.py"))
        return al_fail(&call->err, AL_INVALID_INPUT, "codePath: no such file");
    call->code = code.n ? AL_STR("print('from the file')") : al_json_get_text(call->args, "code");
    return 0;
}

static const struct al_tool python = {
    .name = "python",
    .title = "Run Python",
    .description = "Runs.",
    .input_schema = "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"},\"codePath\":{"
                    "\"type\":\"string\"},"
                    "\"hold\":{\"type\":\"boolean\"}},\"additionalProperties\":false}",
    .effect = AL_EFFECT_PROCESS,
    .capability = AL_CAP_ANALYSIS_RUN,
    .prepare = prepare_python,
    .start = start_python,
    .cancel = cancel_python,
};
static const struct al_tool other = {
    .name = "other",
    .title = "Run a program",
    .description = "Runs.",
    .input_schema = "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}",
    .effect = AL_EFFECT_PROCESS,
    .start = start_python,
};

/* --- the person --- */

static struct {
    unsigned asked;
    enum al_approval says;
    bool waits;
    char text[8192];
    bool offers_session;
    void (*answer)(void *ud, enum al_approval approval);
    void *ud;
} person;

static void ask_person(void *ud, const struct al_ask *ask)
{
    autobuf struct al_buf text = AL_BUF_INIT(1u << 20);
    (void)ud;
    person.asked++;
    person.offers_session = ask->offers_session;
    al_ask_text(ask, false, &text);
    snprintf(person.text, sizeof person.text, "%.*s", AL_FMT(al_buf_str(&text)));
    person.answer = ask->answer;
    person.ud = ask->ud;
    if (!person.waits)
        ask->answer(ask->ud, person.says);
}

static int set_up(void **state)
{
    int r = core_world_set_up(state);
    struct core_world *t = *state;
    t->opts.source = "mcp";
    memset(&walls, 0, sizeof walls);
    memset(&ran, 0, sizeof ran);
    memset(&person, 0, sizeof person);
    return r;
}

static struct core_world *begin(void **state, struct al_policy policy)
{
    struct core_world *t = *state;
    if (t->core)
        core_world_stop(t);
    t->opts.policy = policy;
    core_world_start(t, NULL);
    al_core_register(t->core, &python);
    al_core_register(t->core, &other);
    return t;
}

static struct al_call *call_with(struct core_world *t, struct al_call_spec spec, struct core_answer *a)
{
    *a = (struct core_answer){0};
    if (!spec.args_json.n)
        spec.args_json = AL_STR("{}");
    if (!spec.tool.n)
        spec.tool = AL_STR("python");
    if (spec.origin == AL_ORIGIN_SCRIPT)
        spec.run_id = "exec_01JDZ0000000000000000000A1";
    spec.done = core_world_answer;
    spec.ud = a;
    return al_core_call(t->core, &spec);
}

static struct core_answer wait_for(struct core_world *t, struct al_call_spec spec)
{
    struct core_answer a;
    call_with(t, spec, &a);
    core_world_wait(t, &a.done);
    assert_int_equal(a.times, 1);
    return a;
}

static const struct al_call_spec headless = {.origin = AL_ORIGIN_MCP},
                                 asked = {.origin = AL_ORIGIN_MCP, .ask = ask_person};

static void expect(const struct core_answer *a, enum al_code code, const char *hint)
{
    if (a->code != code)
        fail_msg("%s: %s instead of %s", al_code_name(a->code), a->msg, al_code_name(code));
    if (hint && !strstr(a->hint, hint))
        fail_msg("\"%s\" is not in the hint: %s", hint, a->hint);
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in: %s", part, text);
}

static bool has_decision(void *ud, const struct al_decision *d)
{
    char *out = ud;
    snprintf(out, 256, "%s|%s|%s", d->tool, d->decision, d->reason);
    return false; /* the last one */
}

static const char *last_decision(struct core_world *t)
{
    static char out[256];
    struct al_err err;
    out[0] = 0;
    assert_int_equal(
        al_store_decision_each(t->store, al_core_session(t->core)->id, 1, has_decision, out, &err), 0);
    return out;
}

/* --- flags --- */

static void flags_that_cover_everything_ask_for_no_wall(void **state)
{
    struct core_world *t = begin(state, (struct al_policy){.allow_process = true});
    walls.isolation = AL_PY_NONE;
    struct core_answer a = wait_for(t, headless);
    expect(&a, AL_OK, NULL);
    assert_int_equal(ran.decided, AL_PY_NONE);
    t = begin(state, (struct al_policy){.allow_analysis = true, .allow_analysis_unsandboxed = true});
    a = wait_for(t, headless);
    expect(&a, AL_OK, NULL);
    assert_string_equal(last_decision(t), "python|allowed|allowed by a flag");
    t = begin(state, (struct al_policy){0});
    a = wait_for(t, (struct al_call_spec){.origin = AL_ORIGIN_CLI}); /* a person typed it */
    expect(&a, AL_OK, NULL);
    assert_int_equal(ran.decided, AL_PY_NONE);
    assert_int_equal(walls.chosen, 0);
}

static void the_plain_flag_is_for_a_wall(void **state)
{
    struct core_world *t = begin(state, (struct al_policy){.allow_analysis = true});
    struct core_answer a = wait_for(t, headless);
    expect(&a, AL_OK, NULL);
    assert_int_equal(ran.decided, AL_PY_CONTAINER); /* whatever else holds it by then */
    walls.isolation = AL_PY_NONE;
    a = wait_for(t, headless);
    expect(&a, AL_PERMISSION_DENIED, "`alisio mcp --allow-analysis=unsandboxed`");
    has(a.msg, "\"none\"");
    a = wait_for(t, (struct al_call_spec){.origin = AL_ORIGIN_MCP, .tool = AL_STR("other")});
    expect(&a, AL_APPROVAL_REQUIRED, "--allow-process");
    a = wait_for(t, (struct al_call_spec){.origin = AL_ORIGIN_SCRIPT});
    expect(&a, AL_PERMISSION_DENIED, "--allow-analysis=unsandboxed");
    walls.isolation = AL_PY_OS_FILTER;
    a = wait_for(t, (struct al_call_spec){.origin = AL_ORIGIN_SCRIPT});
    expect(&a, AL_OK, NULL);
    t = begin(state, (struct al_policy){.allow_analysis = true, .allow_process = true, .read_only = true});
    a = wait_for(t, headless);
    expect(&a, AL_PERMISSION_DENIED, "--read-only");
}

static void without_a_flag_the_hint_names_the_one_that_works_here(void **state)
{
    struct core_world *t = begin(state, (struct al_policy){0});
    struct core_answer a = wait_for(t, headless);
    expect(&a, AL_APPROVAL_REQUIRED, "`alisio mcp --allow-analysis`");
    walls.isolation = AL_PY_RESTRICTED_PROCESS;
    a = wait_for(t, headless);
    expect(&a, AL_APPROVAL_REQUIRED, "`alisio mcp --allow-analysis=unsandboxed`");
    walls.none = true;
    a = wait_for(t, asked); /* nobody is bothered for what cannot run */
    expect(&a, AL_RUNTIME_UNAVAILABLE, NULL);
    a = wait_for(t, (struct al_call_spec){.origin = AL_ORIGIN_MCP,
                                          .args_json = AL_STR("{\"codePath\":\"none.py\"}"),
                                          .ask = ask_person});
    expect(&a, AL_INVALID_INPUT, NULL);
    assert_int_equal(person.asked, 0);
    assert_int_equal(ran.started, 0);
}

/* --- the person --- */

static void a_person_sees_script_and_wall_and_allows_it_once(void **state)
{
    struct core_world *t = begin(state, (struct al_policy){0});
    person.says = AL_APPROVAL_ONCE;
    walls.isolation = AL_PY_NONE;
    struct core_answer a =
        wait_for(t, (struct al_call_spec){.origin = AL_ORIGIN_MCP,
                                          .args_json = AL_STR("{\"codePath\":\"plan.py\"}"),
                                          .ask = ask_person});
    expect(&a, AL_OK, NULL);
    has(person.text, "NOT SANDBOXED: runs with your rights");
    has(person.text, "The script is the file \"plan.py\":\n    print('from the file')");
    assert_true(person.offers_session);
    assert_int_equal(ran.decided, AL_PY_NONE);
    walls.isolation = AL_PY_OS_SANDBOX;
    a = wait_for(t, asked);
    expect(&a, AL_OK, NULL);
    assert_int_equal(person.asked, 2);
    has(person.text, "It runs in bubblewrap: no network");
    assert_int_equal(ran.decided, AL_PY_OS_SANDBOX); /* and behind nothing weaker */
    a = wait_for(t,
                 (struct al_call_spec){.origin = AL_ORIGIN_MCP, .tool = AL_STR("other"), .ask = ask_person});
    assert_false(person.offers_session);
}

static void a_no_is_recorded_and_not_remembered(void **state)
{
    struct core_world *t = begin(state, (struct al_policy){0});
    person.says = AL_APPROVAL_DENY;
    struct core_answer a = wait_for(t, asked);
    expect(&a, AL_PERMISSION_DENIED, NULL);
    has(last_decision(t), "python|refused: PERMISSION_DENIED|");
    person.says = AL_APPROVAL_ONCE;
    a = wait_for(t, asked);
    expect(&a, AL_OK, NULL);
    assert_int_equal(person.asked, 2);
}

static void a_grant_covers_its_wall_and_stronger_ones(void **state)
{
    struct core_world *t = begin(state, (struct al_policy){0});
    person.says = AL_APPROVAL_SESSION;
    walls.isolation = AL_PY_OS_FILTER;
    struct core_answer a = wait_for(t, asked);
    expect(&a, AL_OK, NULL);
    t = begin(state, (struct al_policy){0}); /* also after a restart */
    a = wait_for(t, headless);
    expect(&a, AL_OK, NULL);
    assert_string_equal(last_decision(t), "python|allowed|allowed by a stored grant");
    assert_int_equal(ran.decided, AL_PY_OS_FILTER);
    walls.isolation = AL_PY_OS_SANDBOX;
    a = wait_for(t, headless);
    expect(&a, AL_OK, NULL);
    walls.isolation = AL_PY_CONTAINER;
    a = wait_for(t, headless);
    expect(&a, AL_PERMISSION_DENIED, "`alisio mcp --allow-analysis`");
    walls.isolation = AL_PY_NONE;
    a = wait_for(t, headless);
    expect(&a, AL_PERMISSION_DENIED, "--allow-analysis=unsandboxed");
    person.says = AL_APPROVAL_DENY;
    a = wait_for(t, asked); /* a weaker one asks again */
    expect(&a, AL_PERMISSION_DENIED, NULL);
    assert_int_equal(person.asked, 2);
    a = wait_for(t, (struct al_call_spec){.origin = AL_ORIGIN_MCP, .tool = AL_STR("other")});
    expect(&a, AL_APPROVAL_REQUIRED, "--allow-process");
    walls.isolation = AL_PY_OS_SANDBOX;
    a = wait_for(t, (struct al_call_spec){.origin = AL_ORIGIN_SCRIPT}); /* no grant counts for a script */
    expect(&a, AL_APPROVAL_REQUIRED, NULL);
}

static void what_uses_approved_is_for_the_wall_that_was_shown(void **state)
{
    struct core_world *t = begin(state, (struct al_policy){0});
    const struct al_wall wall = {AL_PY_LANDLOCK, AL_PY_OS_FILTER};
    struct al_call_spec spec = {.origin = AL_ORIGIN_SCRIPT, .preapproved = true, .approved_wall = &wall};
    struct core_answer a = wait_for(t, spec);
    expect(&a, AL_OK, NULL);
    assert_int_equal(ran.decided, AL_PY_OS_FILTER);
    assert_int_equal(walls.chosen, 0); /* the tool looks, and compares */
    t = begin(state, (struct al_policy){.allow_process = true});
    a = wait_for(t, spec);
    assert_int_equal(ran.decided, AL_PY_NONE); /* the flag covers more */
}

/* --- while it is found out --- */

static void a_call_that_is_cancelled_meanwhile_ends_once(void **state)
{
    struct core_world *t = begin(state, (struct al_policy){.allow_analysis = true});
    struct core_answer a;
    walls.holds = true;
    struct al_call *call = call_with(t, headless, &a);
    assert_int_equal(walls.chosen, 1);
    al_call_cancel(call);
    core_world_wait(t, &a.done);
    expect(&a, AL_CANCELLED, NULL);
    tell(NULL); /* leads nowhere */
    assert_int_equal(ran.started, 0);
    call = call_with(t, headless, &a);
    al_call_cancel(call);
    core_world_wait(t, &a.done);
    core_world_stop(t); /* with the choice still open */
    walls.done = NULL;
}

static void the_order_of_calls_is_kept_while_a_wall_is_looked_for(void **state)
{
    struct core_world *t = begin(state, (struct al_policy){.allow_analysis = true});
    struct core_answer a, b;
    const struct al_call_spec next = {.origin = AL_ORIGIN_CLI, .tool = AL_STR("other")};
    walls.holds = true;
    call_with(t, headless, &a);
    call_with(t, next, &b);
    assert_int_equal(ran.started, 0);
    tell(NULL);
    core_world_wait(t, &b.done);
    assert_true(a.done);
    assert_string_equal(ran.order, "po");
    /* One that a person is asked about holds nobody up. */
    ran.order[0] = 0;
    walls.isolation = AL_PY_NONE;
    person.waits = true;
    call_with(t, asked, &a);
    call_with(t, next, &b);
    tell(NULL);
    core_world_wait(t, &b.done);
    assert_false(a.done);
    person.answer(person.ud, AL_APPROVAL_ONCE);
    core_world_wait(t, &a.done);
    expect(&a, AL_OK, NULL);
    assert_string_equal(ran.order, "op");
}

static void lists_tell_what_is_known(void **state)
{
    struct core_world *t = begin(state, (struct al_policy){.allow_analysis = true});
    autobuf struct al_buf out = AL_BUF_INIT(1u << 20), known = AL_BUF_INIT(1u << 20);
    al_core_list_json(t->core, AL_STR("python"), AL_ORIGIN_SCRIPT, &out);
    al_buf_addc(&out, 0);
    has(out.p, "\"name\":\"python\",\"description\":\"Runs.\",\"effect\":\"process\",\"callable\":true");
    walls.isolation = AL_PY_NONE;
    walls.known = true;
    assert_non_null(al_core_pyrun(t->core));
    al_core_list_json(t->core, AL_STR("python"), AL_ORIGIN_SCRIPT, &known);
    al_buf_addc(&known, 0);
    has(known.p, "\"callable\":false,\"reason\":\"PERMISSION_DENIED: python would run with the isolation");
    assert_int_equal(walls.chosen, 0);
}

/* --- analysis.install --- */

static struct {
    unsigned n;
    enum al_code code;
    char hint[512];
} installed;

static void on_install(struct al_call *call, const struct al_err *err)
{
    installed.n++;
    installed.code = err ? err->code : AL_OK;
    snprintf(installed.hint, sizeof installed.hint, "%s", err ? err->hint : "");
    al_call_finish(call);
}

static void ask_install(struct core_world *t, struct al_call_spec spec, struct core_answer *a)
{
    const struct al_ask_install what = {"analysis", "pandas, numpy", "75 MB"};
    memset(&installed, 0, sizeof installed);
    spec.args_json = AL_STR("{\"hold\":true}");
    call_with(t, spec, a);
    for (int i = 0; i < 10 && !ran.held; i++) {
        bool never = false;
        al_loop_run_until(t->loop, &never, 1);
    }
    assert_non_null(ran.held);
    al_call_ask_install(ran.held, &what, on_install);
    assert_int_equal(installed.n, 0);
    ran.held = NULL;
}

static void installing_is_always_asked_about(void **state)
{
    struct core_world *t = begin(state, (struct al_policy){.allow_process = true, .allow_analysis = true});
    struct core_answer a;
    person.says = AL_APPROVAL_ONCE;
    for (unsigned i = 1; i <= 2; i++) { /* nothing of the answer is kept */
        ask_install(t, asked, &a);
        core_world_wait(t, &a.done);
        assert_int_equal(person.asked, i);
        assert_int_equal(installed.code, AL_OK);
        assert_false(person.offers_session);
        has(person.text, "the extras \"analysis\".\nThey are: pandas, numpy.");
        assert_string_equal(last_decision(t),
                            "analysis.install|approved|the extras analysis: the person was asked: once");
    }
    person.says = AL_APPROVAL_DENY;
    ask_install(t, asked, &a);
    core_world_wait(t, &a.done);
    assert_int_equal(installed.code, AL_EXTRAS_NOT_INSTALLED);
    has(installed.hint, "`alisio analysis setup --extras analysis`");
    ask_install(t, headless, &a);
    core_world_wait(t, &a.done);
    assert_int_equal(installed.code, AL_EXTRAS_NOT_INSTALLED);
    assert_int_equal(installed.n, 1);
    assert_string_equal(last_decision(t),
                        "analysis.install|refused: EXTRAS_NOT_INSTALLED|the extras analysis: nobody could "
                        "be asked");
}

static void a_call_that_ends_first_hears_no_answer(void **state)
{
    struct core_world *t = begin(state, (struct al_policy){.allow_process = true});
    struct core_answer a;
    person.waits = true;
    const struct al_ask_install what = {"science", "scipy", "140 MB"};
    struct al_call_spec spec = asked;
    spec.args_json = AL_STR("{\"hold\":true}");
    struct al_call *call = call_with(t, spec, &a);
    assert_ptr_equal(ran.held, call);
    memset(&installed, 0, sizeof installed);
    al_call_ask_install(call, &what, on_install);
    al_call_cancel(call);
    core_world_wait(t, &a.done);
    expect(&a, AL_CANCELLED, NULL);
    person.answer(person.ud, AL_APPROVAL_ONCE);
    assert_int_equal(installed.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(flags_that_cover_everything_ask_for_no_wall, set_up,
                                        core_world_tear_down),
        cmocka_unit_test_setup_teardown(the_plain_flag_is_for_a_wall, set_up, core_world_tear_down),
        cmocka_unit_test_setup_teardown(without_a_flag_the_hint_names_the_one_that_works_here, set_up,
                                        core_world_tear_down),
        cmocka_unit_test_setup_teardown(a_person_sees_script_and_wall_and_allows_it_once, set_up,
                                        core_world_tear_down),
        cmocka_unit_test_setup_teardown(a_no_is_recorded_and_not_remembered, set_up, core_world_tear_down),
        cmocka_unit_test_setup_teardown(a_grant_covers_its_wall_and_stronger_ones, set_up,
                                        core_world_tear_down),
        cmocka_unit_test_setup_teardown(what_uses_approved_is_for_the_wall_that_was_shown, set_up,
                                        core_world_tear_down),
        cmocka_unit_test_setup_teardown(a_call_that_is_cancelled_meanwhile_ends_once, set_up,
                                        core_world_tear_down),
        cmocka_unit_test_setup_teardown(the_order_of_calls_is_kept_while_a_wall_is_looked_for, set_up,
                                        core_world_tear_down),
        cmocka_unit_test_setup_teardown(lists_tell_what_is_known, set_up, core_world_tear_down),
        cmocka_unit_test_setup_teardown(installing_is_always_asked_about, set_up, core_world_tear_down),
        cmocka_unit_test_setup_teardown(a_call_that_ends_first_hears_no_answer, set_up, core_world_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
