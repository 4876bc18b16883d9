/* Processes: cancel, clocks, zygotes that die, nothing that grows. */
#include "test_jsvm_rig.h"

#include "base/ident.h"
#include "jsvm/engine_int.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static void cancel_it(struct rig_result *r)
{
    al_vm_cancel(r->vm);
}

static void cancel_on_print(struct rig_result *r, struct al_str text)
{
    (void)text;
    al_vm_cancel(r->vm);
}

static void cancel_on_call(struct rig_result *r, uint32_t id, struct al_str tool)
{
    (void)id;
    (void)tool;
    al_vm_cancel(r->vm);
}

static void expect_cancelled(struct rig_result *r, uint64_t asked_ms)
{
    rig_wait(r);
    assert_int_equal(r->code, AL_CANCELLED);
    assert_int_equal(r->ends, 1);
    assert_true(al_mono_ms() - asked_ms < 20 * 50);
    if (r->pid > 0)
        assert_true(kill((pid_t)r->pid, 0) < 0 && errno == ESRCH);
    rig_rest();
}

static void lose_spare(void)
{
    rig_rest();
    if (rig_engine->spare)
        al_vm_take_down(rig_engine->spare);
    assert_null(rig_engine->spare);
}

static void cancel_works_in_every_state(void **state)
{
    (void)state;
    struct rig_result r = {0};
    struct al_vm_spec spec = rig_spec("while (true) {}");
    rig_value("1", "1"); /* a warm zygote */

    /* before the owner knows the process; then, without a spare, before the zygote has answered */
    rig_start(&r, &spec);
    al_vm_cancel(r.vm);
    expect_cancelled(&r, al_mono_ms());
    lose_spare();
    rig_start(&r, &spec);
    al_vm_cancel(r.vm);
    expect_cancelled(&r, al_mono_ms());
    /* twice, and after the end */
    rig_start(&r, &spec);
    al_vm_cancel(r.vm);
    al_vm_cancel(r.vm);
    expect_cancelled(&r, al_mono_ms());
    al_vm_cancel(NULL);
    /* when the process is there */
    r.on_started = cancel_it;
    rig_start(&r, &spec);
    expect_cancelled(&r, al_mono_ms());
    r.on_started = NULL;
    /* in the middle of a loop, what was printed is kept */
    spec.code = AL_STR("print('before'); while (true) {}");
    r.on_print = cancel_on_print;
    rig_start(&r, &spec);
    expect_cancelled(&r, al_mono_ms());
    assert_string_equal(r.printed.p, "before\n");
    r.on_print = NULL;
    /* while it waits for a call, from within the call */
    spec.code = AL_STR("await tools.never()");
    r.on_call = cancel_on_call;
    rig_start(&r, &spec);
    expect_cancelled(&r, al_mono_ms());
    r.on_call = NULL;
    /* in a loop inside one native call */
    spec.code = AL_STR("print('x'); new Array(3e8) + ''");
    r.on_print = cancel_on_print;
    rig_start(&r, &spec);
    expect_cancelled(&r, al_mono_ms());
    rig_free(&r);
}

static void cancel_ends_a_run_whose_zygote_hangs(void **state)
{
    (void)state;
    struct rig_result r = {0};
    struct al_vm_spec spec = rig_spec("return 1");
    rig_value("1", "1");
    pid_t zygote = rig_engine->zygote->pid;
    lose_spare();
    kill(zygote, SIGSTOP);
    rig_start(&r, &spec);
    al_vm_cancel(r.vm);
    uint64_t t = al_mono_ms();
    rig_wait(&r);
    assert_int_equal(r.code, AL_CANCELLED);
    assert_true(al_mono_ms() - t < 20 * 50);
    rig_value("2", "2");
    assert_true(rig_engine->zygote->pid != zygote);
    /* the time limit counts there as well */
    lose_spare();
    kill(rig_engine->zygote->pid, SIGSTOP);
    spec.timeout_ms = 50;
    rig_start(&r, &spec);
    rig_wait(&r);
    assert_int_equal(r.code, AL_TIMEOUT);
    assert_true(r.duration_ms >= 50);
    rig_free(&r);
}

static void a_dead_zygote_is_replaced_and_its_runs_go_on(void **state)
{
    (void)state;
    struct rig_result r = {0};
    struct al_vm_spec spec = rig_spec("for (let i = 0; i < 20; i++) await tools.slow(); return 'done'");
    rig_value("1", "1");
    rig_start(&r, &spec);
    while (r.n_calls == 0)
        al_loop_run_until(rig_loop, &r.done, 1);
    kill(rig_engine->zygote->pid, SIGKILL);
    rig_value("2", "2"); /* whether its death was noticed already or not */
    rig_wait(&r);
    assert_string_equal(r.value.p, "\"done\"");

    /* killed at any moment of a start: the run still comes to its one end */
    for (int i = 0; i < 40; i++) {
        spec.code = AL_STR("return 'ok'");
        rig_start(&r, &spec);
        for (volatile int k = 0; k < i * 3000; k++)
            ;
        kill(rig_engine->zygote->pid, SIGKILL);
        rig_wait(&r);
        assert_int_equal(r.ends, 1);
        assert_int_equal(r.code, AL_OK);
        assert_string_equal(r.value.p, "\"ok\"");
    }
    rig_value("3", "3");
    rig_rest();
    rig_free(&r);
}

static pid_t wait_for_spare(void)
{
    rig_value("1", "1");
    rig_value("1", "1"); /* with the first run of an engine there is none yet */
    rig_rest();
    assert_non_null(rig_engine->spare);
    return rig_engine->spare->pid;
}

static void a_run_takes_the_process_that_waits_for_it(void **state)
{
    (void)state;
    struct rig_result r = {0};
    struct al_vm_spec spec = rig_spec("print('said'); return 1");
    pid_t waiting = wait_for_spare();
    rig_start(&r, &spec);
    assert_int_equal(r.pid, 0); /* no callback from within the start */
    assert_true(rig_engine->spare && rig_engine->spare->pid != waiting);
    rig_wait(&r);
    assert_int_equal(r.pid, waiting);
    rig_rest();
    assert_true(kill(waiting, 0) < 0 && errno == ESRCH);
    rig_free(&r);
}

static void started_comes_first_and_without_a_word_of_the_script(void **state)
{
    (void)state;
    struct rig_result r = {.on_started = cancel_it};
    struct al_vm_spec spec = rig_spec("while (true) {}");
    wait_for_spare();
    rig_start(&r, &spec);
    expect_cancelled(&r, al_mono_ms());
    assert_true(r.pid > 0);
    spec.code = AL_STR("print('not heard'); while (true) {}");
    rig_start(&r, &spec);
    expect_cancelled(&r, al_mono_ms());
    assert_string_equal(r.printed.p, "");
    rig_free(&r);
}

static void a_run_faster_than_the_zygotes_word_is_heard_after_it(void **state)
{
    (void)state;
    struct rig_result r = {0};
    struct al_vm_spec spec = rig_spec("print('quick'); return 1");
    wait_for_spare();
    lose_spare();
    rig_start(&r, &spec);
    struct pollfd p = {.fd = r.vm->channel, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 20000), 1);
    al_vm_channel_ready(r.vm, AL_READABLE);
    assert_string_equal(r.printed.p, "");
    rig_wait(&r);
    assert_true(r.pid > 0);
    assert_string_equal(r.printed.p, "quick\n");
    assert_string_equal(r.value.p, "1");
    rig_free(&r);
}

static void a_spare_that_was_killed_fails_no_run(void **state)
{
    (void)state;
    bool never = false;
    for (int i = 0; i < 40; i++) {
        pid_t waiting = wait_for_spare();
        kill(waiting, SIGKILL);
        if (i % 4 == 1)
            al_loop_run_until(rig_loop, &never, 2); /* noticed before the run */
        for (volatile int k = 0; k < i * 2000; k++)
            ;
        struct rig_result *r = rig_run("print('once'); return 'ok'");
        assert_int_equal(r->code, AL_OK);
        assert_string_equal(r->value.p, "\"ok\"");
        assert_string_equal(r->printed.p, "once\n");
        assert_true(r->pid != waiting);
        assert_int_equal(r->ends, 1);
    }
    rig_rest();
}

/* The soft limit of data of a process, in bytes. */
static uint64_t data_limit(pid_t pid)
{
    struct rlimit l = {0};
    assert_int_equal(prlimit(pid, RLIMIT_DATA, NULL, &l), 0);
    return l.rlim_cur;
}

static void run_until_call(struct rig_result *r, struct al_vm_spec *spec)
{
    rig_start(r, spec);
    while (r->n_calls == 0 && !r->done)
        al_loop_run_until(rig_loop, &r->done, 1);
    assert_false(r->done);
}

static void a_spare_is_no_larger_than_the_run_needs(void **state)
{
    (void)state;
#ifdef AL_ASAN
    skip(); /* there is no such limit there */
#endif
    struct rig_result r = {0};
    struct al_vm_spec spec = rig_spec("await tools.never()");
    static const unsigned mib[] = {32, 32, 4, 4, 128, 128, 16};
    uint64_t zygotes = 0;
    wait_for_spare();
    for (size_t i = 0; i < sizeof mib / sizeof *mib; i++) {
        spec.memory_bytes = (uint64_t)mib[i] << 20;
        run_until_call(&r, &spec);
        uint64_t own = data_limit((pid_t)r.pid) - spec.memory_bytes;
        if (!zygotes)
            zygotes = own;
        assert_true(own <= zygotes + AL_SPARE_TEXTS && zygotes <= own + AL_SPARE_TEXTS);
        al_vm_cancel(r.vm);
        rig_wait(&r);
        rig_rest();
    }
    rig_free(&r);
}

/* Faults of a process so far; *asleep when it waits for something. */
static long faults_of(pid_t pid, bool *asleep)
{
    char path[64], text[1024] = "", state = 0;
    long faults = -1;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    const char *rest = strrchr(text, ')');
    assert_non_null(rest);
    assert_int_equal(sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %ld", &state, &faults), 2);
    *asleep = state == 'S';
    return faults;
}

static long faults_until_asleep(pid_t pid)
{
    long n = 0;
    bool asleep = false;
    for (uint64_t end = al_mono_ms() + 10000; !asleep && al_mono_ms() < end; sched_yield())
        n = faults_of(pid, &asleep);
    assert_true(asleep);
    return n;
}

static void a_spare_has_copied_what_a_run_writes_to(void **state)
{
    (void)state;
#ifdef AL_ASAN
    skip(); /* the sanitizer's own memory is most of it */
#endif
    struct rig_result r = {0};
    struct al_vm_spec spec = rig_spec("print('x'); await tools.never()");
    long before = faults_until_asleep(wait_for_spare());
    run_until_call(&r, &spec);
    long with_spare = faults_until_asleep((pid_t)r.pid) - before;
    al_vm_cancel(r.vm);
    rig_wait(&r);
    lose_spare();
    run_until_call(&r, &spec);
    long without = faults_until_asleep((pid_t)r.pid);
    if (with_spare * 2 > without)
        fail_msg("%ld page faults after the start of a script, %ld without a spare", with_spare, without);
    al_vm_cancel(r.vm);
    rig_wait(&r);
    rig_free(&r);
}

static void texts_larger_than_a_spare_expects_get_a_process_of_their_own(void **state)
{
    (void)state;
    autobuf struct al_buf input = AL_BUF_INIT((size_t)16 << 20);
    al_buf_addc(&input, '"');
    memset(al_buf_grow(&input, (size_t)6 << 20), 'x', (size_t)6 << 20);
    al_buf_addc(&input, '"');
    struct al_vm_spec spec = rig_spec("return input.length");
    spec.input = al_buf_str(&input);
    pid_t waiting = wait_for_spare();
    struct rig_result *r = rig_run_spec(&spec);
    assert_string_equal(r->value.p, "6291456");
    assert_true(r->pid != waiting);
    rig_rest();
    assert_int_equal(rig_engine->spare->pid, waiting);
}

static void time_that_a_spare_waits_is_not_the_runs(void **state)
{
    (void)state;
    bool never = false;
    wait_for_spare();
    al_loop_run_until(rig_loop, &never, 60);
    struct rig_result *r = rig_run("return 1");
    assert_int_equal(r->code, AL_OK);
    assert_true(r->cpu_ms < 30);
    /* Work, not time, so that a busy machine does not matter; the kernel counts in ticks. */
    r = rig_run("let x = 0; for (let i = 0; i < 3e6; i++) x += i % 7; return x > 0");
    assert_true(r->cpu_ms >= 10 && r->cpu_ms <= r->duration_ms + 20);
}

static void a_run_killed_from_outside_says_so(void **state)
{
    (void)state;
    struct rig_result r = {0};
    struct al_vm_spec spec = rig_spec("print('here'); while (true) {}");
    rig_start(&r, &spec);
    while (r.printed.n == 0)
        al_loop_run_until(rig_loop, &r.done, 1);
    kill((pid_t)r.pid, SIGKILL);
    rig_wait(&r);
    assert_int_equal(r.code, AL_ENGINE_CRASHED);
    assert_non_null(strstr(r.message.p, "signal 9"));
    assert_string_equal(r.printed.p, "here\n");
    assert_false(r.security);
    rig_free(&r);
}

static void a_zygote_is_replaced_when_it_has_served_its_time(void **state)
{
    (void)state;
    rig_value("1", "1");
    pid_t first = rig_engine->zygote->pid;
    rig_value("1", "1");
    assert_int_equal(rig_engine->zygote->pid, first);
    rig_rest();
    rig_engine->zygote->runs = AL_ZYGOTE_RUNS_MAX;
    rig_value("1", "1");
    rig_rest();
    pid_t second = rig_engine->zygote->pid;
    assert_true(second != first);
    assert_int_equal(rig_engine->zygote->runs, 1);
    rig_engine->zygote->born_ms -= AL_ZYGOTE_AGE_MS;
    rig_value("1", "1");
    assert_true(rig_engine->zygote->pid != second);
    rig_rest();
}

static void many_runs_at_once(void **state)
{
    (void)state;
    struct rig_result r[16] = {0};
    char code[100];
    for (int i = 0; i < 16; i++) {
        snprintf(code, sizeof code, "await tools.slow(); print(%d); return %d", i, i);
        struct al_vm_spec spec = rig_spec(code);
        rig_start(&r[i], &spec);
    }
    for (int i = 0; i < 16; i++) {
        rig_wait(&r[i]);
        snprintf(code, sizeof code, "%d", i);
        assert_string_equal(r[i].value.p, code);
        rig_free(&r[i]);
    }
}

static void the_clock_can_stand_still(void **state)
{
    (void)state;
    struct rig_result r = {0};
    bool never = false;
    struct al_vm_spec spec = rig_spec("await tools.never()");
    spec.timeout_ms = 60;
    rig_start(&r, &spec);
    al_vm_clock_stop(r.vm); /* at once: on a busy machine the limit is over before the call comes */
    al_vm_clock_stop(r.vm); /* two servers start at once */
    while (r.n_calls == 0 && !r.done)
        al_loop_run_until(rig_loop, &r.done, 1);
    assert_int_equal(r.n_calls, 1);
    al_loop_run_until(rig_loop, &never, 150);
    assert_false(r.done);
    al_vm_clock_go(r.vm);
    al_loop_run_until(rig_loop, &never, 100);
    assert_false(r.done);
    al_vm_clock_go(r.vm);
    rig_wait(&r);
    assert_int_equal(r.code, AL_TIMEOUT);
    assert_true(r.duration_ms >= 60 + 250);
    rig_free(&r);
}

static void answers_to_nobody_are_dropped(void **state)
{
    (void)state;
    struct rig_result r = {0};
    struct al_vm_spec spec = rig_spec("await tools.slow(); return 1");
    rig_start(&r, &spec);
    al_vm_reply(r.vm, 77, AL_STR("1"), NULL);
    rig_wait(&r);
    assert_string_equal(r.value.p, "1");
    rig_free(&r);
}

static void answer_badly(struct rig_result *r, uint32_t id, struct al_str tool)
{
    if (al_str_is(tool, "echo"))
        al_vm_reply(r->vm, id, AL_STR("{not json"), NULL);
    else
        al_vm_reply(r->vm, id, (struct al_str){0}, NULL);
}

static void a_result_that_is_no_json_fails_its_call_alone(void **state)
{
    (void)state;
    struct rig_result r = {.on_call = answer_badly};
    struct al_vm_spec spec =
        rig_spec("let c; try { await tools.echo() } catch (e) { c = e.code } return [c, await tools.slow()]");
    rig_start(&r, &spec);
    rig_wait(&r);
    assert_string_equal(r.value.p, "[\"TOOL_ERROR\",null]");
    rig_free(&r);
}

static void freeing_the_engine_ends_its_runs(void **state)
{
    (void)state;
    struct al_engine *kept = rig_engine;
    struct rig_result r[4] = {0};
    rig_engine = al_engine_new(rig_loop);
    struct al_vm_spec spec = rig_spec("while (true) {}");
    for (int i = 0; i < 3; i++)
        rig_start(&r[i], &spec);
    while (!r[0].pid)
        al_loop_run_until(rig_loop, &r[0].done, 1);
    rig_start(&r[3], &spec); /* not forked yet */
    al_engine_free(rig_engine);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(r[i].ends, 1);
        assert_int_equal(r[i].code, AL_CANCELLED);
        rig_free(&r[i]);
    }
    rig_engine = kept;
    rig_rest();
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static long resident_kib(void)
{
    long pages = 0, skip = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &skip, &pages), 2);
    fclose(f);
    return pages * 4;
}

static void hundreds_of_runs_leave_nothing_and_draw_different_numbers(void **state)
{
    (void)state;
    static double drawn[2000];
    const int n = rig_rounds(500, 2000);
    for (int i = 0; i < 20; i++)
        rig_value("1", "1");
    rig_rest();
    unsigned fds = rig_fds();
    long kib = resident_kib();
    for (int i = 0; i < n; i++) {
        struct rig_result *r = rig_run(i % 2 ? "Math.random()" : "print('x'); return Math.random()");
        assert_int_equal(r->code, AL_OK);
        drawn[i] = strtod(r->value.p, NULL);
        assert_true(drawn[i] > 0 && drawn[i] < 1);
    }
    rig_rest();
    assert_int_equal(rig_fds(), fds);
#ifndef AL_ASAN
    assert_true(resident_kib() - kib < 1024);
#endif
    (void)kib;
    qsort(drawn, (size_t)n, sizeof *drawn, compare);
    for (int i = 1; i < n; i++)
        assert_true(drawn[i] != drawn[i - 1]);
}

static void math_random_is_even(void **state)
{
    (void)state;
    rig_value("const b = new Array(16).fill(0); for (let i = 0; i < 64000; i++) b[Math.floor(Math.random() * "
              "16)]++; "
              "return b.every(n => n > 3600 && n < 4400)",
              "true");
    rig_value("Math.random() !== Math.random() && Math.random.length === 0", "true");
}

static void a_small_address_space_is_refused_with_the_figure(void **state)
{
    (void)state;
#ifdef AL_ASAN
    skip();
#endif
    struct al_err err = {0};
    struct rlimit kept, small;
    struct al_engine *e = al_engine_new(rig_loop);
    assert_int_equal(getrlimit(RLIMIT_AS, &kept), 0);
    small = kept;
    small.rlim_cur = (rlim_t)6 << 30;
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    int r = al_engine_warm(e, &err);
    assert_int_equal(setrlimit(RLIMIT_AS, &kept), 0);
    assert_int_equal(r, -1);
    assert_int_equal(err.code, AL_ENGINE_UNAVAILABLE);
    assert_non_null(strstr(err.msg, "6144 MiB"));
    assert_non_null(strstr(err.msg, "9 GiB"));
    assert_non_null(strstr(err.hint, "ulimit -v"));
    al_engine_free(e);
}

static void the_self_test_passes(void **state)
{
    (void)state;
    struct al_err err = {0};
    if (al_engine_self_test(rig_engine, rig_loop, &err) < 0)
        fail_msg("%s", err.msg);
    assert_true(al_engine_runs_started(rig_engine) >= 3);
    const struct al_engine_build *b = al_engine_build();
    assert_string_equal(b->name, "quickjs-ng");
    assert_int_equal(strlen(b->wasm_sha256), 64);
    assert_non_null(strstr(b->package, "quickjs-wasi "));
    assert_non_null(strstr(b->wasm2c, "wasm2c "));
}

static void a_spec_that_is_too_large_is_refused(void **state)
{
    (void)state;
    struct al_err err = {0};
    static const struct al_vm_ops ops = {0};
    struct al_vm_spec spec = rig_spec("");
    spec.code = (struct al_str){"", AL_VM_SCRIPT_MAX + 1};
    assert_null(al_vm_start(rig_engine, &spec, &ops, NULL, &err));
    assert_int_equal(err.code, AL_INVALID_INPUT);
    spec = rig_spec("");
    spec.input = (struct al_str){"", SIZE_MAX - 10};
    assert_null(al_vm_start(rig_engine, &spec, &ops, NULL, &err));
    assert_int_equal(err.code, AL_INVALID_INPUT);
}

static void json_of_a_run_is_checked(void **state)
{
    (void)state;
    static const char *const good[] = {"1",
                                       "-0.5e+3",
                                       " [1 , 2] ",
                                       "{}",
                                       "[]",
                                       "{\"a\":[{},[]],\"b\":null}",
                                       "\"\\u00e4\\n\"",
                                       "true",
                                       "0",
                                       "[0,-1]",
                                       "\"\xc3\xa4\"",
                                       "{\"\":\"\"}"};
    static const char *const bad[] = {
        "",         " ",          "01",    "1.",    ".5",      "-",       "+1",        "1e",
        "[1,]",     "{\"a\":1,}", "{a:1}", "[1 2]", "\"",      "\"\\x\"", "\"\\u12\"", "\"\n\"",
        "tru",      "nul",        "[",     "]",     "{\"a\"}", "1 2",     "[}",        "{\"a\":}",
        "\"\xff\"", "'a'",        "NaN",   "[1]]",  "{,}",     "[,]",     "\"\\"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!al_json_check(al_str_of(good[i]), 10))
            fail_msg("refused %s", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (al_json_check(al_str_of(bad[i]), 10))
            fail_msg("accepted %s", bad[i]);
    }
    assert_true(al_json_check(AL_STR("[[[1]]]"), 3));
    assert_false(al_json_check(AL_STR("[[[1]]]"), 2));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(cancel_works_in_every_state),
    cmocka_unit_test(cancel_ends_a_run_whose_zygote_hangs),
    cmocka_unit_test(a_dead_zygote_is_replaced_and_its_runs_go_on),
    cmocka_unit_test(a_run_takes_the_process_that_waits_for_it),
    cmocka_unit_test(started_comes_first_and_without_a_word_of_the_script),
    cmocka_unit_test(a_run_faster_than_the_zygotes_word_is_heard_after_it),
    cmocka_unit_test(a_spare_that_was_killed_fails_no_run),
    cmocka_unit_test(a_spare_is_no_larger_than_the_run_needs),
    cmocka_unit_test(a_spare_has_copied_what_a_run_writes_to),
    cmocka_unit_test(texts_larger_than_a_spare_expects_get_a_process_of_their_own),
    cmocka_unit_test(time_that_a_spare_waits_is_not_the_runs),
    cmocka_unit_test(a_run_killed_from_outside_says_so),
    cmocka_unit_test(a_zygote_is_replaced_when_it_has_served_its_time),
    cmocka_unit_test(many_runs_at_once),
    cmocka_unit_test(the_clock_can_stand_still),
    cmocka_unit_test(answers_to_nobody_are_dropped),
    cmocka_unit_test(a_result_that_is_no_json_fails_its_call_alone),
    cmocka_unit_test(freeing_the_engine_ends_its_runs),
    cmocka_unit_test(hundreds_of_runs_leave_nothing_and_draw_different_numbers),
    cmocka_unit_test(math_random_is_even),
    cmocka_unit_test(a_small_address_space_is_refused_with_the_figure),
    cmocka_unit_test(the_self_test_passes),
    cmocka_unit_test(a_spec_that_is_too_large_is_refused),
    cmocka_unit_test(json_of_a_run_is_checked),
};
RIG_MAIN(tests)
