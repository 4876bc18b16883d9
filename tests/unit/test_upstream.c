/* The client side of the protocol against a server that plays its part: tests/unit/fake_mcp.c. */
#include "core_world.h"
#include "os_help.h"

#include "base/text.h"
#include "os/spawn.h"
#include "sandbox/supervise.h"
#include "upstream/upstream_int.h"

#include <signal.h>

#define LIMIT_MS 20000
#define MAX_ARGS 8

/* A core with one server, fake, whose tools are called as mcp_fake_<tool>. */
struct rig {
    struct core_world *w;
    struct al_server server;
    struct al_servers servers;
    struct al_upstreams *u;
    struct al_upstream *s;
    char *args[MAX_ARGS], *env[MAX_ARGS];
    const char *run_id; /* NULL: always the same */
    unsigned n_clock_stops, n_clock_goes, n_progress;
    char progress[256];
    unsigned n_notified;
    char notified[256];
};

static struct rig rig;

/* --- a source of tools that knows every name --- */

static const struct al_tool *find(void *ud, struct al_str name, struct al_arena *arena)
{
    struct rig *r = ud;
    if (!al_str_starts(name, "mcp_fake_"))
        return NULL;
    struct al_tool *t = al_arena_alloc(arena, sizeof(*t));
    *t = (struct al_tool){
        .name = al_arena_dup(arena, name),
        .title = "a tool",
        .description = "a tool",
        .input_schema = "{\"type\":\"object\"}",
        .effect = AL_EFFECT_EXTERNAL,
        .start = al_upstream_tool_start,
        .cancel = al_upstream_tool_cancel,
        .server = "fake",
        .server_tool = al_arena_dup(arena, (struct al_str){name.p + 9, name.n - 9}),
        .gate = AL_GATE_ALLOW,
        .data = r->s,
    };
    return t;
}

static size_t count_tools(void *ud)
{
    (void)ud;
    return 1;
}

static const struct al_tool_source source = {.find = find, .count = count_tools};

/* --- the rig --- */

static void set_args(const char *const *args)
{
    size_t n = 0;
    for (; args && args[n]; n++)
        rig.args[n] = (char *)args[n];
    rig.args[n] = NULL;
}

static void start_rig(struct core_world *w, const char *const *args, bool relay)
{
    memset(&rig, 0, sizeof(rig));
    rig.w = w;
    set_args(args);
    rig.env[0] = (char *)"OWN=mine";
    rig.server = (struct al_server){
        .name = (char *)"fake",
        .command = (char *)FAKE_MCP,
        .args = rig.args,
        .env = rig.env,
        .timeout_ms = LIMIT_MS,
        .start_timeout_ms = LIMIT_MS,
        .origin = (char *)"a test",
    };
    al_sha256(AL_STR("definition"), rig.server.sha256);
    rig.servers = (struct al_servers){.v = &rig.server, .n = 1};
    if (!w->core)
        core_world_start(w, NULL);
    struct al_upstreams_opts o = {.servers = &rig.servers, .relay = relay};
    rig.u = al_upstreams_new(w->core, &o);
    rig.s = al_upstreams_at(rig.u, 0);
    al_core_set_source(w->core, &source, &rig);
}

static void set_flag(void *ud)
{
    *(bool *)ud = true;
}

static void stop_rig(void)
{
    bool stopped = false;
    uint64_t t0 = al_mono_ms();
    al_upstreams_stop(rig.u, set_flag, &stopped);
    assert_true(al_loop_run_until(rig.w->loop, &stopped, LIMIT_MS));
    assert_true(al_mono_ms() - t0 < 5000);
    al_core_set_source(rig.w->core, NULL, NULL);
    al_upstreams_free(rig.u);
    rig.u = NULL;
}

static void rig_clock(void *ud, bool stop)
{
    (void)ud;
    rig.n_clock_stops += stop;
    rig.n_clock_goes += !stop;
}

static void rig_progress(void *ud, struct al_str json)
{
    (void)ud;
    rig.n_progress++;
    snprintf(rig.progress, sizeof(rig.progress), "%.*s", AL_FMT(json));
}

/* What a call came to, with the whole of what a relay got. */
struct outcome {
    struct core_answer a;
    char relayed[1024];
    bool relayed_failure;
    struct al_call *call;
    void (*question)(void *ud, struct al_str method, struct al_str params, struct al_question_reply *reply);
};

static void call_done(void *ud, struct al_call *call)
{
    struct outcome *o = ud;
    core_world_answer(&o->a, call);
    snprintf(o->relayed, sizeof(o->relayed), "%.*s", AL_FMT(al_buf_str(&call->relayed)));
    o->relayed_failure = call->relayed_failure;
}

static void begin(struct outcome *o, const char *tool, const char *args, const char *relay_params)
{
    autofree char *name = NULL;
    assert_true(asprintf(&name, "mcp_fake_%s", tool) > 0);
    memset(&o->a, 0, sizeof(o->a));
    struct al_call_spec spec = {
        .tool = al_str_of(name),
        .args_json = al_str_of(args),
        .origin = AL_ORIGIN_SCRIPT,
        .run_id = rig.run_id ? rig.run_id : "exec_01JDZ0000000000000000000A1",
        .clock = rig_clock,
        .progress = rig_progress,
        .question = o->question,
        .done = call_done,
        .ud = o,
    };
    if (relay_params) {
        spec.relay = true;
        spec.origin = AL_ORIGIN_MCP;
        spec.params_json = al_str_of(relay_params);
    }
    o->call = al_core_call(rig.w->core, &spec);
    assert_false(o->a.done);
}

static void wait_for(const bool *done)
{
    assert_true(al_loop_run_until(rig.w->loop, done, LIMIT_MS));
}

/* One of echo, as a spec says it. */
static struct core_answer ask_echo(struct al_call_spec spec)
{
    struct outcome o = {0};
    spec.tool = AL_STR("mcp_fake_echo");
    spec.args_json = AL_STR("{}");
    spec.clock = rig_clock;
    spec.done = call_done;
    spec.ud = &o;
    o.call = al_core_call(rig.w->core, &spec);
    wait_for(&o.a.done);
    return o.a;
}

static struct core_answer ask(const char *tool, const char *args)
{
    struct outcome o = {0};
    begin(&o, tool, args, NULL);
    wait_for(&o.a.done);
    assert_int_equal(o.a.times, 1);
    return o.a;
}

static void answers_ok(const char *tool, const char *args, const char *value)
{
    struct core_answer a = ask(tool, args);
    if (a.code != AL_OK)
        fail_msg("%s: %s: %s", tool, al_code_name(a.code), a.msg);
    assert_string_equal(a.structured, value);
}

static void wait_state(enum al_upstream_state state)
{
    for (uint64_t end = al_mono_ms() + LIMIT_MS; al_upstream_state(rig.s) != state;) {
        bool never = false;
        assert_true(al_mono_ms() < end);
        al_loop_run_until(rig.w->loop, &never, 5);
    }
}

static void wait_log(const char *text)
{
    for (uint64_t end = al_mono_ms() + LIMIT_MS; al_str_find(al_upstream_log(rig.s), al_str_of(text)) < 0;) {
        bool never = false;
        if (al_mono_ms() > end)
            fail_msg("never said: %s; but: %.*s", text, AL_FMT(al_upstream_log(rig.s)));
        al_loop_run_until(rig.w->loop, &never, 5);
    }
}

struct waited {
    bool done;
    struct al_err err;
};

static void waited_done(void *ud, const struct al_err *err)
{
    struct waited *w = ud;
    w->done = true;
    w->err = err ? *err : (struct al_err){0};
}

static struct al_err refresh(void)
{
    struct waited w = {0};
    al_upstream_refresh(rig.s, waited_done, &w);
    assert_false(w.done);
    wait_for(&w.done);
    return w.err;
}

static int64_t n_known(void)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    struct al_catalog_server known;
    struct al_err err;
    if (al_catalog_server(rig.w->store, "fake", &a, &known, &err) < 0)
        return -1;
    return known.n_tools;
}

/* --- values --- */

static void results_become_values(void **state)
{
    start_rig(*state, NULL, false);
    answers_ok("echo", "{\"a\":[1,\"é\"]}", "{\"a\":[1,\"é\"]}");
    assert_string_equal(al_upstream_protocol(rig.s), "2025-11-25");
    assert_true(al_str_find(al_upstream_info(rig.s), AL_STR("fake")) >= 0);
    assert_true(al_str_is(al_upstream_instructions(rig.s), "be kind"));
    answers_ok("structured", "{}", "{\"n\":4}");
    answers_ok("image", "{}",
               "{\"parts\":[{\"type\":\"image\",\"mimeType\":\"image/"
               "png\",\"data\":\"iVBORw0KGgo=\",\"bytes\":8}]}");
    assert_string_equal(ask("image", "{}").text, "[image image/png, 8 B]");
    answers_ok(
        "mixed", "{}",
        "{\"parts\":[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"resource\",\"uri\":\"file:///x\","
        "\"text\":\"body\"}]}");
    answers_ok("none", "{}", "");
    answers_ok("utf8", "{}", "\"a\xef\xbf\xbd\"");
    assert_int_equal(rig.n_clock_stops, rig.n_clock_goes);
    assert_int_equal(rig.n_clock_stops, 1); /* while it started, and never again */
    stop_rig();
}

static void failures_of_tools_are_told(void **state)
{
    start_rig(*state, NULL, false);
    struct core_answer a = ask("fails", "{}");
    assert_int_equal(a.code, AL_TOOL_ERROR);
    assert_string_equal(a.msg, "fake.fails: no such \\x1b[1missue");
    a = ask("rpc_error", "{}");
    assert_int_equal(a.code, AL_TOOL_ERROR);
    assert_string_equal(a.msg, "fake.rpc_error: out of order (error -32000)");
    a = ask("invalid", "{}");
    assert_int_equal(a.code, AL_TOOL_INPUT_INVALID);
    a = ask("input", "{}");
    assert_int_equal(a.code, AL_TOOL_ERROR);
    assert_non_null(strstr(a.msg, "asks for input"));
    a = ask("big", "{}");
    assert_int_equal(a.code, AL_RESULT_TOO_LARGE);
    a = ask("huge", "{}");
    assert_int_equal(a.code, AL_RESULT_TOO_LARGE);
    a = ask("many", "{}");
    assert_int_equal(a.code, AL_RESULT_TOO_LARGE);
    answers_ok("echo", "{}", "{}"); /* it still works */
    stop_rig();
}

static void starts_in(struct core_world *w, const char *cwd, const char *where)
{
    autofree char *want = NULL;
    start_rig(w, NULL, false);
    rig.server.cwd = (char *)cwd;
    assert_true(asprintf(&want, "{\"depth\":\"1\",\"own\":\"mine\",\"secret\":\"\",\"cwd\":\"%s\"}", where) >
                0);
    answers_ok("env", "{}", want);
    stop_rig();
}

/* Where a repository has laid out files for it a server starts only when it was told to. */
static void its_environment_is_its_own(void **state)
{
    struct core_world *w = *state;
    autofree char *home = al_xstrdup(getenv("HOME"));
    setenv("SECRET_KEY", "s3cret", 1);
    setenv("HOME", "/usr", 1);
    starts_in(w, NULL, "/usr");
    starts_in(w, ".", w->ws);
    starts_in(w, "/usr/..", "/");
    setenv("HOME", "/no/such/home", 1);
    starts_in(w, NULL, w->state);
    setenv("HOME", home, 1);
    unsetenv("SECRET_KEY");
}

/* --- which protocol --- */

static void expect_protocol(struct core_world *w, const char *era, const char *protocol)
{
    const char *args[] = {era, NULL};
    start_rig(w, args, false);
    answers_ok("echo", "{\"x\":1}", "{\"x\":1}");
    assert_string_equal(al_upstream_protocol(rig.s), protocol);
    stop_rig();
}

static void the_newest_protocol_that_both_know_is_spoken(void **state)
{
    expect_protocol(*state, "--era=modern", "2026-07-28");
    expect_protocol(*state, "--era=dual", "2026-07-28");
    expect_protocol(*state, "--era=legacy", "2025-11-25");
    expect_protocol(*state, "--version=2024-11-05", "2024-11-05");
}

static void an_old_server_that_is_silent_or_dies_at_the_question_is_spoken_to_all_the_same(void **state)
{
    const char *silent[] = {"--era=silent", NULL}, *dies[] = {"--era=dies", NULL};
    start_rig(*state, silent, false);
    rig.u->probe_ms = 20;
    answers_ok("echo", "{}", "{}");
    assert_string_equal(al_upstream_protocol(rig.s), "2025-11-25");
    assert_int_equal(rig.s->n_deaths, 0);
    stop_rig();
    start_rig(*state, dies, false);
    rig.s->looked_up = true; /* as if it had never been seen */
    answers_ok("echo", "{}", "{}");
    assert_int_equal(rig.s->n_deaths, 0);
    stop_rig();
}

static void what_a_server_spoke_is_remembered(void **state)
{
    struct core_world *w = *state;
    const char *args[] = {"--era=dies", NULL};
    start_rig(w, args, false);
    struct al_err err = refresh();
    assert_int_equal(err.code, AL_OK);
    stop_rig();
    autofree char *count = core_world_path(w->top, "count");
    autofree char *option = NULL;
    assert_true(asprintf(&option, "--count=%s", count) > 0);
    const char *again[] = {"--era=dies", option, NULL};
    start_rig(w, again, false); /* the same definition: tests give it one hash */
    answers_ok("echo", "{}", "{}");
    stop_rig();
    int top = open(w->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autofree char *starts = get_file(top, "count");
    close(top);
    assert_string_equal(starts, "start\n"); /* a question would have killed it once more */
}

static void a_version_that_is_not_known_is_refused(void **state)
{
    const char *args[] = {"--version=1999-01-01", NULL};
    start_rig(*state, args, false);
    struct core_answer a = ask("echo", "{}");
    assert_int_equal(a.code, AL_UPSTREAM_UNAVAILABLE);
    assert_non_null(strstr(a.msg, "1999-01-01"));
    stop_rig();
}

static void requests_of_the_newer_protocol_carry_what_they_need(void **state)
{
    const char *args[] = {"--era=modern", NULL};
    start_rig(*state, args, false);
    struct core_answer a = ask("meta", "{}");
    assert_int_equal(a.code, AL_OK);
    assert_non_null(strstr(a.structured, "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""));
    assert_non_null(strstr(a.structured, "\"io.modelcontextprotocol/clientCapabilities\":{}"));
    assert_non_null(strstr(a.structured, "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"alisio\""));
    assert_non_null(strstr(a.structured, "\"progressToken\":"));
    stop_rig();
}

/* --- what is foreign is survived --- */

static void noise_is_survived_and_counted(void **state)
{
    const char *args[] = {"--noise", NULL};
    start_rig(*state, args, false);
    answers_ok("echo", "{\"a\":1}", "{\"a\":1}");
    answers_ok("structured", "{}", "{\"n\":4}");
    struct al_upstream_health h;
    al_upstream_health(rig.s, &h);
    assert_true(h.n_noise >= 6);
    assert_true(h.n_noise_lines > 0 && h.n_noise_lines <= 10);
    assert_string_equal(h.noise[0], "Server is ready!");
    stop_rig();
}

static void answers_that_come_twice_or_late_are_survived_and_counted(void **state)
{
    struct outcome o = {0};
    start_rig(*state, NULL, false);
    answers_ok("twice", "{}", "\"first\"");
    answers_ok("echo", "{}", "{}");
    assert_int_equal(rig.s->n_late, 3);
    rig.server.timeout_ms = 50;
    begin(&o, "never", "{}", NULL);
    wait_for(&o.a.done);
    assert_int_equal(o.a.code, AL_TOOL_TIMEOUT);
    rig.server.timeout_ms = LIMIT_MS;
    wait_log("cancelled");
    answers_ok("late", "{}", "\"now\"");
    assert_int_equal(rig.s->n_late, 4);
    stop_rig();
}

static void a_cancel_reaches_the_server(void **state)
{
    struct outcome o = {0};
    start_rig(*state, NULL, false);
    answers_ok("echo", "{}", "{}");
    begin(&o, "never", "{}", NULL);
    al_call_cancel(o.call);
    wait_for(&o.a.done);
    assert_int_equal(o.a.code, AL_CANCELLED);
    wait_log("cancelled");
    /* One that waits for the start is cancelled without any server. */
    stop_rig();
    const char *args[] = {"--mute", NULL};
    start_rig(*state, args, false);
    begin(&o, "echo", "{}", NULL);
    al_call_cancel(o.call);
    wait_for(&o.a.done);
    assert_int_equal(o.a.code, AL_CANCELLED);
    assert_int_equal(rig.n_clock_stops, rig.n_clock_goes);
    stop_rig();
}

static void progress_is_passed_on_and_gives_time_but_not_for_ever(void **state)
{
    start_rig(*state, NULL, false);
    answers_ok("progress", "{}", "\"done\"");
    assert_int_equal(rig.n_progress, 3);
    assert_string_equal(rig.progress, "{\"completed\":3,\"total\":3,\"note\":\"step 3\"}");
    rig.server.timeout_ms = 300; /* progress comes every 20 ms */
    uint64_t t0 = al_mono_ms();
    struct core_answer a = ask("forever", "{}");
    assert_int_equal(a.code, AL_TOOL_TIMEOUT);
    assert_true(al_mono_ms() - t0 > 2 * 300);
    stop_rig();
}

/* What a server prints is for a person, and what it was given stands there by its name. */
static void what_it_prints_holds_no_secret_of_its_configuration(void **state)
{
    start_rig(*state, NULL, false);
    setenv("FAKE_TOKEN", "t0ken-of-the-person", 1);
    rig.env[0] = (char *)"KEY=${FAKE_TOKEN}";
    rig.env[1] = (char *)"SHORT=abc";
    char *headers[] = {(char *)"Authorization: Bearer opensesame", NULL};
    rig.server.headers = headers;
    rig.args[0] = (char *)"--x=${FAKE_TOKEN}";
    al_upstream_log_add(rig.s, AL_STR("abc: t0ken-of-the-per"));
    al_upstream_log_add(rig.s, AL_STR("son, Bearer opensesame, opensesame!\n"));
    assert_true(al_str_is(al_upstream_log(rig.s), "abc: ${KEY}, ${Authorization}, ${Authorization}!\n"));
    al_upstream_noise_add(rig.s, AL_STR("t0ken-of-the-person"));
    struct al_upstream_health health;
    al_upstream_health(rig.s, &health);
    assert_string_equal(health.noise[0], "${KEY}");
    unsetenv("FAKE_TOKEN");
    rig.args[0] = NULL;
    stop_rig();
}

/* --- life --- */

static void a_death_fails_its_calls_and_the_next_one_works(void **state)
{
    struct outcome o = {0};
    start_rig(*state, NULL, false);
    rig.u->retry_ms = 20;
    answers_ok("echo", "{}", "{}");
    begin(&o, "never", "{}", "{\"name\":\"never\"}"); /* relayed calls wait for no others */
    struct core_answer a = ask("die", "{}");
    assert_int_equal(a.code, AL_UPSTREAM_UNAVAILABLE);
    assert_string_equal(a.msg,
                        "the MCP server fake has exited with status 3"); /* its words are for a person */
    assert_non_null(strstr(a.hint, "alisio mcp doctor fake"));
    wait_log("gone");
    wait_for(&o.a.done);
    assert_int_equal(o.a.code, AL_UPSTREAM_UNAVAILABLE);
    assert_int_equal(al_upstream_state(rig.s), AL_UPSTREAM_WAITING);
    answers_ok("echo", "{}", "{}"); /* waits for the new start */
    a = ask("die", "{}");
    assert_int_equal(al_upstream_state(rig.s), AL_UPSTREAM_FAILED);
    assert_int_equal(al_upstream_error(rig.s)->code, AL_UPSTREAM_UNAVAILABLE);
    answers_ok("echo", "{}", "{}"); /* the next call tries once more, after a longer pause */
    stop_rig();
}

static void one_that_closes_its_output_is_ended(void **state)
{
    start_rig(*state, NULL, false);
    rig.u->retry_ms = 20;
    struct core_answer a = ask("shut", "{}");
    assert_int_equal(a.code, AL_UPSTREAM_UNAVAILABLE);
    answers_ok("echo", "{}", "{}");
    stop_rig();
}

static void one_that_fails_again_and_again_is_not_waited_for(void **state)
{
    const char *args[] = {"--exit-at=initialize", NULL};
    start_rig(*state, args, false);
    rig.u->retry_ms = 10 * LIMIT_MS;
    assert_int_equal(ask("echo", "{}").code, AL_UPSTREAM_UNAVAILABLE);
    struct core_answer a = ask("echo", "{}");
    assert_int_equal(a.code, AL_UPSTREAM_UNAVAILABLE);
    assert_non_null(strstr(a.msg, "exited with status 3"));
    assert_non_null(strstr(a.hint, "tried again in"));
    stop_rig();
}

static void an_answer_that_was_sent_before_the_death_counts(void **state)
{
    start_rig(*state, NULL, false);
    rig.u->retry_ms = 20;
    answers_ok("linger", "{}", "\"bye\"");
    wait_state(AL_UPSTREAM_WAITING);
    stop_rig();
}

static void expect_no_start(struct core_world *w, const char *const *args, const char *says)
{
    struct al_err err;
    start_rig(w, args, false);
    rig.server.start_timeout_ms = 300;
    struct core_answer a = ask("echo", "{}");
    if (a.code != AL_UPSTREAM_UNAVAILABLE || !strstr(a.msg, says))
        fail_msg("%s: %s", al_code_name(a.code), a.msg);
    err = refresh();
    assert_int_equal(err.code, AL_UPSTREAM_UNAVAILABLE);
    stop_rig();
}

static void what_cannot_start_says_why(void **state)
{
    const char *mute[] = {"--mute", NULL}, *dies[] = {"--exit-at=initialize", NULL};
    expect_no_start(*state, mute, "did not answer within 300 ms");
    expect_no_start(*state, dies, "exited with status 3");
}

static void the_command_is_looked_up_with_care(void **state)
{
    struct core_world *w = *state;
    start_rig(w, NULL, false);
    rig.server.command = (char *)"no-such-program-here";
    struct core_answer a = ask("echo", "{}");
    assert_int_equal(a.code, AL_UPSTREAM_UNAVAILABLE);
    assert_non_null(strstr(a.msg, "no-such-program-here"));
    stop_rig();
    start_rig(w, NULL, false);
    rig.server.command = (char *)"/nonexistent/program";
    a = ask("echo", "{}");
    assert_int_equal(a.code, AL_UPSTREAM_UNAVAILABLE);
    assert_non_null(strstr(a.msg, "cannot be run"));
    stop_rig();
    start_rig(w, NULL, false);
    rig.server.command = (char *)"/proc/self/exe"; /* the test is the binary that supervises */
    a = ask("echo", "{}");
    assert_int_equal(a.code, AL_UPSTREAM_UNAVAILABLE);
    assert_non_null(strstr(a.msg, "alisio itself"));
    stop_rig();
    start_rig(w, NULL, false);
    rig.server.cwd = (char *)"nowhere";
    a = ask("echo", "{}");
    assert_int_equal(a.code, AL_UPSTREAM_UNAVAILABLE);
    assert_non_null(strstr(a.msg, "its folder cannot be opened"));
    stop_rig();
}

static void a_program_of_the_workspace_is_not_found_by_its_name(void **state)
{
    struct core_world *w = *state;
    autofree char *path = NULL;
    autofree char *link = core_world_path(w->ws, "fakeprog");
    assert_int_equal(symlink(FAKE_MCP, link), 0);
    assert_true(asprintf(&path, "PATH=%s:/usr/bin:/bin", w->ws) > 0);
    start_rig(w, NULL, false);
    rig.env[0] = path;
    rig.server.command = (char *)"fakeprog";
    struct core_answer a = ask("echo", "{}");
    assert_int_equal(a.code, AL_UPSTREAM_UNAVAILABLE);
    assert_non_null(strstr(a.msg, "there is no program"));
    rig.server.command = (char *)"./fakeprog"; /* a path was written by a person, and so was its folder */
    rig.server.cwd = (char *)".";
    answers_ok("echo", "{}", "{}");
    stop_rig();
}

static void nothing_is_started_within_another_or_when_switched_off(void **state)
{
    setenv("ALISIO_MCP_DEPTH", "1", 1);
    start_rig(*state, NULL, false);
    unsetenv("ALISIO_MCP_DEPTH");
    struct core_answer a = ask("echo", "{}");
    assert_int_equal(a.code, AL_UPSTREAM_UNAVAILABLE);
    assert_non_null(strstr(a.msg, "itself started as a server"));
    stop_rig();
    start_rig(*state, NULL, false);
    rig.server.disabled = true;
    a = ask("echo", "{}");
    assert_int_equal(a.code, AL_UPSTREAM_UNAVAILABLE);
    assert_non_null(strstr(a.msg, "switched off"));
    stop_rig();
}

static void one_that_nobody_uses_is_stopped_and_started_again(void **state)
{
    start_rig(*state, NULL, false);
    rig.u->idle_ms = 30;
    answers_ok("echo", "{}", "{}");
    wait_state(AL_UPSTREAM_OFF);
    answers_ok("echo", "{}", "{}");
    assert_int_equal(rig.n_clock_stops, 1); /* a run waits for it once … */
    wait_state(AL_UPSTREAM_OFF);
    rig.run_id = "exec_01JDZ0000000000000000000A2";
    answers_ok("echo", "{}", "{}");
    assert_int_equal(rig.n_clock_stops, 2); /* … and another run does, too */
    assert_int_equal(rig.n_clock_goes, 2);
    stop_rig();
    const char *args[] = {"--era=modern", NULL}; /* our own subscription keeps nothing alive */
    start_rig(*state, args, false);
    rig.u->idle_ms = 30;
    answers_ok("echo", "{}", "{}");
    wait_state(AL_UPSTREAM_OFF);
    stop_rig();
}

static void a_stop_takes_at_most_a_second(void **state)
{
    struct outcome o = {0};
    const char *args[] = {"--stubborn", NULL};
    start_rig(*state, args, false);
    answers_ok("echo", "{}", "{}");
    begin(&o, "never", "{}", NULL);
    stop_rig();
    assert_true(o.a.done);
    assert_int_equal(o.a.code, AL_CANCELLED);
}

static void a_thousand_calls_at_once_are_answered_and_more_are_refused(void **state)
{
    static struct outcome o[1200];
    unsigned ok = 0, busy = 0;
    memset(o, 0, sizeof(o));
    start_rig(*state, NULL, true);
    for (size_t i = 0; i < 1200; i++) {
        struct al_call_spec spec = {
            .tool = AL_STR("mcp_fake_echo"),
            .args_json = AL_STR("{\"n\":1}"),
            .origin = AL_ORIGIN_SCRIPT,
            .run_id = "exec_01JDZ0000000000000000000A1",
            .relay = true,
            .params_json = AL_STR("{\"name\":\"x\",\"arguments\":{\"n\":1}}"),
            .done = call_done,
            .ud = &o[i],
        };
        al_core_call(rig.w->core, &spec);
    }
    for (size_t i = 0; i < 1200; i++) {
        wait_for(&o[i].a.done);
        ok += o[i].a.code == AL_OK;
        busy += o[i].a.code == AL_BUSY;
    }
    assert_int_equal(ok + busy, 1200);
    assert_true(ok >= 1000);
    stop_rig();
}

/* --- the list --- */

static void pages_are_followed_into_the_catalogue(void **state)
{
    const char *args[] = {"--pages=4", NULL};
    start_rig(*state, args, false);
    struct al_err err = refresh();
    if (err.code)
        fail_msg("%s", err.msg);
    assert_int_equal(n_known(), 12);
    stop_rig();
}

static void a_tool_that_can_only_be_a_task_is_left_out(void **state)
{
    struct al_upstream_health h;
    struct al_err err;
    struct al_catalog_tool t;
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    struct core_world *w = *state;
    start_rig(w, NULL, false);
    assert_int_equal(refresh().code, AL_OK);
    al_upstream_health(rig.s, &h);
    assert_non_null(strstr(h.warning, "the tool long_task was left out"));
    assert_int_equal(al_catalog_find_of(w->store, "fake", "echo", &a, &t, &err), 0);
    assert_int_equal(al_catalog_find_of(w->store, "fake", "long_task", &a, &t, &err), -1);
    stop_rig();
}

static void a_cursor_that_repeats_ends_the_list(void **state)
{
    const char *args[] = {"--pages=-1", NULL};
    struct al_upstream_health h;
    start_rig(*state, args, false);
    assert_int_equal(refresh().code, AL_OK);
    assert_true(n_known() > 0);
    al_upstream_health(rig.s, &h);
    assert_non_null(strstr(h.warning, "repeats a cursor"));
    stop_rig();
}

static void pages_without_end_have_one(void **state)
{
    const char *args[] = {"--pages=0", NULL};
    struct al_upstream_health h;
    start_rig(*state, args, false);
    assert_int_equal(refresh().code, AL_OK);
    assert_int_equal(n_known(), 3000);
    al_upstream_health(rig.s, &h);
    assert_non_null(strstr(h.warning, "more than 1000 pages"));
    stop_rig();
}

static void on_notification(void *ud, struct al_upstream *s, struct al_str method, struct al_str params)
{
    (void)ud;
    (void)s;
    (void)params;
    rig.n_notified++;
    snprintf(rig.notified, sizeof(rig.notified), "%.*s", AL_FMT(method));
}

static void expect_change(struct core_world *w, const char *era)
{
    const char *args[] = {era, NULL};
    const struct al_upstream_listener listener = {.notification = on_notification};
    start_rig(w, args, false);
    al_upstreams_listen(rig.u, &listener);
    assert_int_equal(refresh().code, AL_OK);
    int64_t before = n_known();
    answers_ok("change", "{}", "\"changed\"");
    for (uint64_t end = al_mono_ms() + LIMIT_MS; !strstr(rig.notified, "tools/list_changed");) {
        bool never = false;
        assert_true(al_mono_ms() < end);
        al_loop_run_until(w->loop, &never, 5);
    }
    assert_int_equal(n_known(), before + 1);
    stop_rig();
}

static void a_changed_list_is_fetched_anew(void **state)
{
    expect_change(*state, "--era=legacy");
    expect_change(*state, "--era=modern");
}

static unsigned n_told;

static void count_told(void *ud, struct al_upstream *s, struct al_str method, struct al_str params)
{
    (void)ud;
    (void)s;
    (void)method;
    (void)params;
    n_told++;
}

/* Many may come at once; if it does not end, the rest waits. */
static void a_storm_of_notifications_is_read_in_measure(void **state)
{
    struct outcome o = {0};
    const struct al_upstream_listener listener = {.notification = count_told};
    start_rig(*state, NULL, false);
    al_upstreams_listen(rig.u, &listener);
    answers_ok("echo", "{}", "{}");
    begin(&o, "storm", "{}", NULL);
    while (n_told < 20000) {
        bool never = false;
        al_loop_run_until(rig.w->loop, &never, 5);
    }
    al_loop_run_until(rig.w->loop, &o.a.done, 300);
    assert_true(n_told < 30000); /* and what had been read already */
    assert_false(o.a.done);
    al_call_cancel(o.call);
    wait_for(&o.a.done);
    stop_rig(); /* in time, whatever it still has to say */
}

/* --- definitions --- */

/* The servers' own source of tools, under a policy for echo; what the server says of it stands in a file. */
static void start_words(struct core_world *w, const char *file, enum al_tool_policy policy)
{
    static struct al_server_rule rule = {.pattern = (char *)"*"};
    static char arg[4200];
    snprintf(arg, sizeof arg, "--words=%s", file);
    start_rig(w, (const char *const[]){arg, NULL}, false);
    rule.policy = policy;
    rig.server.rules = &rule;
    rig.server.n_rules = 1;
    al_upstream_source_stop(rig.u);
    al_upstream_source_start(rig.u);
}

static void expect_echo(struct al_call_spec spec, enum al_code code)
{
    struct core_answer a = ask_echo(spec);
    if (a.code != code)
        fail_msg("%s: %s, not %s", al_code_name(a.code), a.msg, al_code_name(code));
}

/* What a person allows is a definition. It changes between two lives of the server, before its first use or
 * after: then neither a rule nor an approval of the former counts, now and in the next call. */
static void a_definition_that_changed_is_another_one(void **state)
{
    struct core_world *w = *state;
    const struct al_call_spec script = {.origin = AL_ORIGIN_SCRIPT,
                                        .run_id = "exec_01JDZ0000000000000000000A1"};
    const struct al_call_spec typed = {.origin = AL_ORIGIN_CLI};
    struct al_call_spec approved = script;
    approved.preapproved = true;
    autofree char *file = core_world_path(w->top, "words");
    for (int used = 0; used < 2; used++) {
        put_file(AT_FDCWD, file, used ? "Good again." : "Good.");
        start_words(w, file, AL_POLICY_ALLOW);
        assert_int_equal(refresh().code, AL_OK);
        if (used)
            expect_echo(typed, AL_OK);
        stop_rig();
        put_file(AT_FDCWD, file, used ? "Bad again." : "Bad.");
        start_words(w, file, AL_POLICY_ALLOW);
        expect_echo(used ? script : approved, AL_APPROVAL_REQUIRED);
        expect_echo(script, AL_APPROVAL_REQUIRED);
        expect_echo(typed, AL_OK);
        expect_echo(script, AL_APPROVAL_REQUIRED);
        struct al_err err;
        assert_int_equal(al_catalog_pin(w->store, "fake", "echo", NULL, true, &err), 0); /* a review */
        expect_echo(script, AL_OK);
        stop_rig();
    }
}

static void what_is_no_longer_offered_is_not_called(void **state)
{
    struct core_world *w = *state;
    const struct al_call_spec typed = {.origin = AL_ORIGIN_CLI};
    autofree char *file = core_world_path(w->top, "words");
    put_file(AT_FDCWD, file, "Good.");
    start_words(w, file, AL_POLICY_ALLOW);
    expect_echo(typed, AL_OK);
    stop_rig();
    put_file(AT_FDCWD, file, "");
    start_words(w, file, AL_POLICY_ALLOW);
    struct core_answer a = ask_echo(typed);
    assert_int_equal(a.code, AL_TOOL_NOT_FOUND);
    assert_non_null(strstr(a.msg, "the MCP server fake no longer offers it"));
    stop_rig();
}

/* A list that changes as it is read was read as it was, not as it is. */
static void a_list_that_changes_as_it_is_read_is_read_again_but_not_for_ever(void **state)
{
    const char *args[] = {"--restless", NULL};
    start_rig(*state, args, false);
    answers_ok("echo", "{}", "{}");
    assert_false(rig.s->catalog_fresh);
    assert_int_equal(rig.n_clock_stops, 1);
    answers_ok("echo", "{}", "{}");
    assert_int_equal(rig.n_clock_stops, 1); /* once for its start, never for its list */
    assert_int_equal(rig.n_clock_goes, 1);
    stop_rig();
}

/* --- relays --- */

static void relayed_results_come_as_they_are(void **state)
{
    struct outcome o = {0};
    start_rig(*state, NULL, true);
    begin(&o, "structured", "{}", "{\"name\":\"mcp_fake_structured\",\"arguments\":{}}");
    wait_for(&o.a.done);
    assert_int_equal(o.a.code, AL_OK);
    assert_string_equal(
        o.relayed, "{\"content\":[{\"type\":\"text\",\"text\":\"four\"}],\"structuredContent\":{\"n\":4}}");
    begin(&o, "rpc_error", "{}", "{\"name\":\"mcp_fake_rpc_error\"}");
    wait_for(&o.a.done);
    assert_true(o.relayed_failure);
    assert_non_null(strstr(o.relayed, "out of order"));
    begin(&o, "meta", "{}", "{\"_meta\":{\"progressToken\":\"theirs\",\"com.example/x\":1},\"name\":\"y\"}");
    wait_for(&o.a.done);
    assert_null(strstr(o.relayed, "theirs"));
    assert_non_null(strstr(o.relayed, "com.example/x"));
    stop_rig();
}

static struct al_question_reply *kept_reply;

static void answer_question(void *ud, struct al_str method, struct al_str params,
                            struct al_question_reply *reply)
{
    (void)ud;
    (void)params;
    assert_true(al_str_is(method, "sampling/createMessage"));
    al_question_answer(reply, AL_STR("{\"role\":\"assistant\"}"));
}

static void keep_question(void *ud, struct al_str method, struct al_str params,
                          struct al_question_reply *reply)
{
    (void)ud;
    (void)method;
    (void)params;
    kept_reply = reply;
}

static void questions_reach_the_one_who_made_the_call(void **state)
{
    struct outcome o = {.question = answer_question};
    start_rig(*state, NULL, true);
    begin(&o, "sample", "{}", "{\"name\":\"sample\"}");
    wait_for(&o.a.done);
    assert_non_null(strstr(o.relayed, "assistant"));
    o.question = NULL; /* a script answers nothing */
    struct core_answer a = ask("sample", "{}");
    assert_int_equal(a.code, AL_OK);
    assert_non_null(strstr(a.structured, "-32601"));
    /* While a person thinks, the time limit stands still. */
    rig.server.timeout_ms = 60;
    o.question = keep_question;
    begin(&o, "sample", "{}", "{\"name\":\"sample\"}");
    bool never = false;
    while (!kept_reply)
        al_loop_run_until(rig.w->loop, &never, 5);
    assert_null(rig.s->calls_last->timer);
    al_question_answer(kept_reply, AL_STR("{\"role\":\"user\"}"));
    wait_for(&o.a.done);
    assert_non_null(strstr(o.relayed, "user"));
    /* An answer after the end leads nowhere. */
    kept_reply = NULL;
    begin(&o, "sample", "{}", "{\"name\":\"sample\"}");
    while (!kept_reply)
        al_loop_run_until(rig.w->loop, &never, 5);
    stop_rig();
    al_question_refuse(kept_reply, -1, AL_STR("too late"));
    kept_reply = NULL;
}

static void roots_are_the_workspace(void **state)
{
    struct core_world *w = *state;
    const char *args[] = {"--roots", NULL};
    autofree char *want = NULL;
    start_rig(w, args, false);
    answers_ok("echo", "{}", "{}");
    assert_true(asprintf(&want, "got {\"roots\":[{\"uri\":\"file://%s\",\"name\":\"ws\"}]}", w->ws) > 0);
    wait_log(want);
    wait_log("got {}"); /* of the ping */
    stop_rig();
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], AL_SUPERVISE_VERB))
        return al_supervise_main(argc, argv);
#define CASE(f) cmocka_unit_test_setup_teardown(f, core_world_set_up, core_world_tear_down)
    const struct CMUnitTest tests[] = {
        CASE(results_become_values),
        CASE(failures_of_tools_are_told),
        CASE(its_environment_is_its_own),
        CASE(the_newest_protocol_that_both_know_is_spoken),
        CASE(an_old_server_that_is_silent_or_dies_at_the_question_is_spoken_to_all_the_same),
        CASE(what_a_server_spoke_is_remembered),
        CASE(a_version_that_is_not_known_is_refused),
        CASE(requests_of_the_newer_protocol_carry_what_they_need),
        CASE(noise_is_survived_and_counted),
        CASE(answers_that_come_twice_or_late_are_survived_and_counted),
        CASE(a_cancel_reaches_the_server),
        CASE(progress_is_passed_on_and_gives_time_but_not_for_ever),
        CASE(what_it_prints_holds_no_secret_of_its_configuration),
        CASE(a_death_fails_its_calls_and_the_next_one_works),
        CASE(one_that_closes_its_output_is_ended),
        CASE(one_that_fails_again_and_again_is_not_waited_for),
        CASE(an_answer_that_was_sent_before_the_death_counts),
        CASE(what_cannot_start_says_why),
        CASE(the_command_is_looked_up_with_care),
        CASE(a_program_of_the_workspace_is_not_found_by_its_name),
        CASE(nothing_is_started_within_another_or_when_switched_off),
        CASE(one_that_nobody_uses_is_stopped_and_started_again),
        CASE(a_stop_takes_at_most_a_second),
        CASE(a_thousand_calls_at_once_are_answered_and_more_are_refused),
        CASE(pages_are_followed_into_the_catalogue),
        CASE(a_cursor_that_repeats_ends_the_list),
        CASE(pages_without_end_have_one),
        CASE(a_tool_that_can_only_be_a_task_is_left_out),
        CASE(a_changed_list_is_fetched_anew),
        CASE(a_storm_of_notifications_is_read_in_measure),
        CASE(a_definition_that_changed_is_another_one),
        CASE(what_is_no_longer_offered_is_not_called),
        CASE(a_list_that_changes_as_it_is_read_is_read_again_but_not_for_ever),
        CASE(relayed_results_come_as_they_are),
        CASE(questions_reach_the_one_who_made_the_call),
        CASE(roots_are_the_workspace),
    };
    al_self_open();
    al_loop_free(al_loop_new());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
