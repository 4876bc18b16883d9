#include "test.h"

#include "tools_world.h"

#include "base/ident.h"
#include "base/mem.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct world world;

static int open_world(void **state)
{
    *state = &world;
    world_open(&world, &(struct world_opts){.policy = {.allow_process = true}});
    return 0;
}

static int close_world(void **state)
{
    world_close(*state);
    return 0;
}

static void a_program_runs_in_the_workspace(void **state)
{
    struct world *w = *state;
    struct reply r = call(w, "run_process", "{\"command\":\"pwd\"}");
    assert_code(&r, AL_OK);
    char want[100];
    snprintf(want, sizeof want, "%s\n", w->work);
    assert_text_at(&r, "stdout", want);
    assert_text_at(&r, "stderr", "");
    assert_int_equal(int_at(&r, "exitCode"), 0);
    assert_int_equal(at(&r, "signal")->type, AL_JSON_NULL);
    assert_has(r.text, "exit code 0, ");
    reply_free(&r);
    r = call(w, "run_process", "{\"command\":\"printf\",\"args\":[\"%%s|\",\"a b\",\"$HOME\",\"*\",\"\"]}");
    assert_text_at(&r, "stdout", "a b|$HOME|*||");
    reply_free(&r);
    put(w, "sub/x", "");
    r = call(w, "shell", "{\"command\":\"ls\",\"cwd\":\"sub\"}");
    assert_text_at(&r, "stdout", "x\n");
    reply_free(&r);
    r = call(w, "run_process", "{\"command\":\"cat\",\"stdin\":\"in\\nput\"}");
    assert_text_at(&r, "stdout", "in\nput");
    reply_free(&r);
}

static void a_failing_exit_is_a_normal_result(void **state)
{
    struct world *w = *state;
    struct reply r = call(w, "shell", "{\"command\":\"echo out; echo bad >&2; exit 3\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(int_at(&r, "exitCode"), 3);
    assert_text_at(&r, "stdout", "out\n");
    assert_text_at(&r, "stderr", "bad\n");
    assert_has(r.text, "exit code 3");
    assert_has(r.text, "out\n--- standard error ---\nbad\n");
    reply_free(&r);
    r = call(w, "shell", "{\"command\":\"kill -SEGV $$\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "exitCode")->type, AL_JSON_NULL);
    assert_text_at(&r, "signal", "SIGSEGV");
    reply_free(&r);
}

static void what_cannot_start_is_named(void **state)
{
    struct world *w = *state;
    put(w, "noshebang", "echo hi\n");
    put(w, "noexec.sh", "#!/bin/sh\n");
    put(w, "badint.sh", "#!/nonexistent/interp\n");
    put(w, "good.sh", "#!/bin/sh\necho good $0\n");
    sh(w, "chmod +x noshebang badint.sh good.sh; mkdir sub; cp good.sh sub");
    static const struct {
        const char *command;
        enum al_code code;
        const char *say;
    } cases[] = {
        {"no-such-program-here", AL_NOT_FOUND, "no-such-program-here"},
        {"ls -l", AL_NOT_FOUND, "ls -l"},
        {"./none", AL_NOT_FOUND, "./none"},
        {"./badint.sh", AL_NOT_FOUND, "interpreter"},
        {"./noshebang", AL_TOOL_ERROR, "cannot be run"},
        {"./noexec.sh", AL_TOOL_ERROR, "cannot be run"},
        {"./good.sh", AL_OK, NULL},
        {"sub/good.sh", AL_OK, NULL},
        {"/bin/true", AL_OK, NULL},
        {"noshebang", AL_NOT_FOUND, "noshebang"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reply r = call(w, "run_process", "{\"command\":\"%s\"}", cases[i].command);
        if (r.code != cases[i].code)
            fail_msg("%s: %s (%s)", cases[i].command, al_code_name(r.code), r.msg);
        if (cases[i].say)
            assert_has(r.msg, cases[i].say);
        assert_lacks(r.msg, w->dir);
        reply_free(&r);
    }
    struct reply r = call(w, "shell", "{\"command\":\"ls\",\"cwd\":\"/etc\"}");
    assert_code(&r, AL_PATH_OUTSIDE_WORKSPACE);
    reply_free(&r);
}

static void keys_do_not_reach_programs(void **state)
{
    struct world *w = *state;
    setenv("ALISIO_SECRET_KEY", "hunter2", 1);
    setenv("OPENAI_API_KEY", "hunter2", 1);
    struct reply r = call(w, "run_process", "{\"command\":\"env\"}");
    assert_lacks(r.structured, "hunter2");
    assert_has(r.structured, "PATH=");
    reply_free(&r);
    unsetenv("ALISIO_SECRET_KEY");
    unsetenv("OPENAI_API_KEY");
}

static void much_output_is_cut_not_killed(void **state)
{
    struct world *w = *state;
    struct reply r =
        call(w, "shell", "{\"command\":\"head -c 30000000 /dev/zero | tr '\\\\0' x; echo end >&2; exit 7\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(int_at(&r, "exitCode"), 7);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_TRUE);
    assert_text_at(&r, "stderr", "end\n");
    assert_true(r.n_structured > (7u << 20));
    assert_true(strlen(r.text) <= 32000);
    assert_has(r.text, "--- standard error ---\nend\n");
    reply_free(&r);
    r = call(w, "shell", "{\"command\":\"head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_TRUE);
    reply_free(&r);
    r = call(w, "shell", "{\"command\":\"seq 1 20000\"}");
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_FALSE);
    assert_has(r.text, "\n1\n2\n");
    assert_has(r.text, "\n20000\n");
    assert_has(r.text, "left out here");
    reply_free(&r);
}

static void bytes_that_are_no_text_are_marked(void **state)
{
    struct world *w = *state;
    struct reply r = call(w, "shell", "{\"command\":\"printf 'a\\\\377b'\"}");
    assert_text_at(&r, "stdout", "a�b");
    assert_has(r.text, "a�b");
    reply_free(&r);
}

static bool alive(const char *pid_text)
{
    long pid = strtol(pid_text, NULL, 10);
    assert_true(pid > 1);
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    char line[512] = "";
    size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    const char *paren = n > 0 ? strrchr(line, ')') : NULL; /* "12 (name) S …" */
    return paren && paren[1] && paren[2] != 'Z';
}

static void a_timeout_ends_the_whole_tree_and_keeps_the_output(void **state)
{
    struct world *w = *state;
    uint64_t before = al_mono_ms();
    struct reply r =
        call(w, "shell",
             "{\"command\":\"echo early; (setsid sh -c 'echo $$ > pid; exec sleep 1000' &) ; while [ ! -s "
             "pid ]; do :; done; sleep 1000\",\"timeoutMs\":700}");
    assert_code(&r, AL_TOOL_TIMEOUT);
    assert_has(r.msg, "did not end in time");
    assert_int_equal(at(&r, "timedOut")->type, AL_JSON_TRUE);
    assert_text_at(&r, "stdout", "early\n");
    assert_true(al_mono_ms() - before < 5000);
    assert_true(int_at(&r, "durationMs") >= 700);
    autofree char *pid = get(w, "pid");
    assert_non_null(pid);
    assert_false(alive(pid));
    reply_free(&r);
}

static bool exists(void *ud)
{
    return there(ud, "pid");
}

/* Turns the loop until the condition holds. */
static void wait_for(struct world *w, bool (*cond)(void *ud))
{
    uint64_t end = al_mono_ms() + 20000;
    bool never = false;
    while (!cond(w) && al_mono_ms() < end)
        al_loop_run_until(w->loop, &never, 5);
    assert_true(cond(w));
}

static void a_cancel_ends_the_whole_tree(void **state)
{
    struct world *w = *state;
    struct reply r;
    start(w, AL_ORIGIN_SCRIPT, "shell",
          "{\"command\":\"trap '' TERM; sh -c 'echo $$ > tmp; mv tmp pid; exec sleep 1000' & wait; sleep "
          "1000\"}",
          &r);
    wait_for(w, exists);
    al_call_cancel(r.call);
    finish(w, &r);
    assert_code(&r, AL_CANCELLED);
    autofree char *pid = get(w, "pid");
    assert_false(alive(pid));
    reply_free(&r);
}

static void background_jobs_do_not_outlive_the_call(void **state)
{
    struct world *w = *state;
    struct reply r = call(w, "shell", "{\"command\":\"sh -c 'exec sleep 1000' & echo $! > pid; echo done\"}");
    assert_code(&r, AL_OK);
    assert_text_at(&r, "stdout", "done\n");
    autofree char *pid = get(w, "pid");
    assert_false(alive(pid));
    reply_free(&r);
}

static void limits_of_arguments_hold(void **state)
{
    struct world *w = *state;
    static const char *const bad[] = {
        "{\"command\":\"true\",\"timeoutMs\":0}",
        "{\"command\":\"true\",\"timeoutMs\":120001}",
        "{\"command\":\"a\\u0000b\"}",
        "{\"command\":\"true\",\"args\":[\"a\\u0000\"]}",
        "{\"command\":\"\"}",
        "{}",
        "{\"command\":\"true\",\"args\":[1]}",
        "{\"command\":\"true\",\"shell\":true}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct reply r = call_as(w, AL_ORIGIN_SCRIPT, "run_process", bad[i]);
        if (r.code != AL_TOOL_INPUT_INVALID)
            fail_msg("%s: %s", bad[i], al_code_name(r.code));
        reply_free(&r);
    }
    autobuf struct al_buf b = AL_BUF_INIT(1 << 20);
    al_buf_adds(&b, "{\"command\":\"true\",\"args\":[\"");
    memset(al_buf_grow(&b, 300000), 'x', 300000);
    al_buf_adds(&b, "\"]}");
    autofree char *big = al_buf_take(&b);
    struct reply r = call_as(w, AL_ORIGIN_SCRIPT, "run_process", big);
    assert_code(&r, AL_INVALID_INPUT);
    assert_has(r.msg, "too long");
    reply_free(&r);
}

static void without_the_flag_nothing_runs(void **state)
{
    (void)state;
    struct world w = {0};
    world_open(&w, &(struct world_opts){.source = "mcp"});
    static const enum al_origin origins[] = {AL_ORIGIN_MCP, AL_ORIGIN_SCRIPT};
    for (size_t i = 0; i < 2; i++) {
        struct reply r = call_plain(&w, origins[i], "shell", "{\"command\":\"touch canary\"}");
        assert_code(&r, AL_APPROVAL_REQUIRED);
        assert_false(there(&w, "canary"));
        reply_free(&r);
    }
    world_close(&w);
}

int main(int argc, char **argv)
{
    world_main(argc, argv);
#define IN_WORLD(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_program_runs_in_the_workspace),
        IN_WORLD(a_failing_exit_is_a_normal_result),
        IN_WORLD(what_cannot_start_is_named),
        IN_WORLD(keys_do_not_reach_programs),
        IN_WORLD(much_output_is_cut_not_killed),
        IN_WORLD(bytes_that_are_no_text_are_marked),
        IN_WORLD(a_timeout_ends_the_whole_tree_and_keeps_the_output),
        IN_WORLD(a_cancel_ends_the_whole_tree),
        IN_WORLD(background_jobs_do_not_outlive_the_call),
        IN_WORLD(limits_of_arguments_hold),
        cmocka_unit_test(without_the_flag_nothing_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
