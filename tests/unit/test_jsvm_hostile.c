/* Much of everything, clocks of all zones, and zygotes that die at the worst moment. */
#include "test_jsvm_rig.h"

#include "base/ident.h"
#include "base/mem.h"
#include "jsvm/engine_int.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- answers: much more passes through (2 GiB with ALISIO_SOAK) than is held, which is what is on its way */

#ifdef AL_ASAN
#define GROWTH_KIB (1 << 20) /* what is freed is kept for a while */
#else
#define GROWTH_KIB (160 << 10)
#endif

static void many_large_results_pass(void **state)
{
    (void)state;
    unsigned n = (unsigned)rig_rounds(64, 250);
    char code[300], sum[32];
    snprintf(code, sizeof code,
             "let n = 0; await tools.map([...Array(%u).keys()], async () => {"
             "const {length} = await tools.big({}); n += length}, {concurrency: 8}); return n",
             n);
    snprintf(sum, sizeof sum, "%llu", (unsigned long long)n * 8388608);
    struct al_vm_spec spec = rig_spec(code);
    struct rusage before, after;
    spec.memory_bytes = (uint64_t)256 << 20;
    spec.max_concurrency = 8;
    spec.timeout_ms = 240000;
    getrusage(RUSAGE_SELF, &before);
    struct rig_result *r = rig_run_spec(&spec);
    getrusage(RUSAGE_SELF, &after);
    if (r->code != AL_OK)
        fail_msg("%s: %s", al_code_name(r->code), r->message.p);
    assert_string_equal(r->value.p, sum);
    assert_int_equal(r->n_calls, n);
    if (after.ru_maxrss - before.ru_maxrss > GROWTH_KIB)
        fail_msg("the host grew by %ld KiB", after.ru_maxrss - before.ru_maxrss);
}

/* Prints while results wait: neither end waits for the other. */
static void prints_pass_while_results_wait(void **state)
{
    (void)state;
    struct al_vm_spec spec =
        rig_spec("const line = 'x'.repeat(1000); await tools.map([1, 2, 3, 4], async () => {"
                 "await tools.big({}); for (let i = 0; i < 1000; i++) print(line)});");
    spec.memory_bytes = (uint64_t)128 << 20;
    struct rig_result *r = rig_run_spec(&spec);
    if (r->code != AL_OK)
        fail_msg("%s: %s", al_code_name(r->code), r->message.p);
    assert_int_equal(r->printed.n, 4 * 1000 * 1001);
}

/* -- ends */

static uint64_t last_beat_ms, worst_ms;

static void beat(void *ud)
{
    (void)ud;
    uint64_t now = al_mono_ms();
    if (now - last_beat_ms > worst_ms)
        worst_ms = now - last_beat_ms;
    last_beat_ms = now;
}

static void busy_for(uint64_t ms)
{
    for (uint64_t end = al_mono_ms() + ms; al_mono_ms() < end;)
        ;
}

static void end_takes_long(struct rig_result *r)
{
    (void)r;
    busy_for(60);
}

/* All of them have ended while the host was busy. What it does for each is not done in one breath. */
static void others_are_served_between_ends_that_take_long(void **state)
{
    enum {
        RUNS = 10
    };
    static struct rig_result runs[RUNS];
    (void)state;
    for (int way = 0; way < 2; way++) { /* ended by their own word, or killed */
        struct al_vm_spec spec = rig_spec(way ? "print('x'.repeat(100))" : "return 1");
        bool never = false;
        spec.max_text_bytes = 50;
        for (int i = 0; i < RUNS; i++) {
            runs[i].on_end = end_takes_long;
            rig_start(&runs[i], &spec);
        }
        while (!runs[RUNS - 1].pid)
            al_loop_run_until(rig_loop, &never, 1);
        busy_for(200);
        last_beat_ms = al_mono_ms();
        worst_ms = 0;
        struct al_timer *pulse = al_timer_every(rig_loop, 1, beat, NULL);
        for (int i = 0; i < RUNS; i++) {
            rig_wait(&runs[i]);
            assert_int_equal(runs[i].code, way ? AL_OUTPUT_LIMIT : AL_OK);
        }
        al_timer_stop(pulse);
        for (int i = 0; i < RUNS; i++)
            rig_free(&runs[i]);
        rig_rest();
        if (worst_ms > 6 * 60) /* all of them in one turn would be ten times 60 */
            fail_msg("the host was deaf for %llu ms", (unsigned long long)worst_ms);
    }
}

/* -- a run has its memory before it is sealed */

static void every_year_of_a_zone_can_be_asked_for(void **state)
{
    static const char *const zones[] = {"Europe/Dublin", "Africa/Casablanca", "America/Nome",
                                        "Asia/Kathmandu", "XYZ3ABC,M3.2.0,M11.1.0"};
    (void)state;
    const char *tz = getenv("TZ");
    char *kept = tz ? al_xdup(tz, strlen(tz)) : NULL;
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        setenv("TZ", zones[i], 1);
        struct al_engine *usual = rig_engine;
        rig_engine = al_engine_new(rig_loop);
        rig_value("let n = 0; for (let y = 1800; y < 2800; y++) for (let m = 0; m < 12; m++)"
                  "n += isNaN(new Date(y, m, 3).getTimezoneOffset()); return n",
                  "0");
        al_engine_free(rig_engine);
        rig_engine = usual;
    }
    if (kept)
        setenv("TZ", kept, 1);
    else
        unsetenv("TZ");
    free(kept);
}

/* -- zygotes that die */

static bool inside_start;

static void end_is_not_inside(struct rig_result *r)
{
    (void)r;
    assert_false(inside_start);
}

/* Whatever the zygote was at when it died, nothing ends while a run is being started. */
static void a_zygote_may_die_around_every_start(void **state)
{
    enum {
        AT_ONCE = 4
    };
    static struct rig_result runs[AT_ONCE];
    uint64_t x = 12345;
    (void)state;
    rig_value("1", "1");
    rig_value("1", "1");
    for (int round = 0, rounds = rig_rounds(40, 200); round < rounds; round++) {
        for (int i = 0; i < AT_ONCE; i++) {
            struct al_vm_spec spec = rig_spec("return 7");
            x = x * 6364136223846793005u + 1442695040888963407u;
            spec.memory_bytes = (uint64_t)(x >> 40 & 1 ? 32 : 16) << 20;
            pid_t zygote = rig_engine->zygote ? rig_engine->zygote->pid : 0;
            if (zygote > 0 && (x >> 33) % 3 == 0) {
                siginfo_t info;
                kill(zygote, SIGKILL);
                if (x >> 45 & 1) /* dead for certain, and not reaped */
                    waitid(P_PID, (id_t)zygote, &info, WEXITED | WNOWAIT);
            }
            runs[i].on_started = end_is_not_inside;
            inside_start = true;
            rig_start(&runs[i], &spec);
            assert_int_equal(runs[i].ends, 0);
            for (int k = 0; k < i; k++)
                assert_int_equal(runs[k].ends, 0); /* nor did another run end in there */
            inside_start = false;
        }
        for (int i = 0; i < AT_ONCE; i++) {
            rig_wait(&runs[i]);
            assert_int_equal(runs[i].ends, 1);
            if (runs[i].code == AL_OK)
                assert_string_equal(runs[i].value.p, "7");
            else /* it has lost two zygotes */
                assert_int_equal(runs[i].code, AL_ENGINE_UNAVAILABLE);
        }
    }
    for (int i = 0; i < AT_ONCE; i++)
        rig_free(&runs[i]);
    rig_value("1", "1");
    rig_rest();
}

/* Whether it had forked when it died, or just: no process is forgotten. */
static void a_zygote_that_dies_while_it_forks_leaves_nobody(void **state)
{
    static struct rig_result r;
    (void)state;
    unsigned rounds = (unsigned)rig_rounds(40, 150);
    for (unsigned round = 0; round < rounds; round++) {
        struct al_vm_spec spec = rig_spec("return 7");
        spec.memory_bytes = (uint64_t)(round & 1 ? 16 : 24) << 20; /* never what the spare is for */
        rig_value("1", "1");                                       /* there is one */
        rig_rest();
        pid_t zygote = rig_engine->zygote->pid;
        rig_start(&r, &spec);
        for (uint64_t end = al_mono_ns() + (uint64_t)round * 450000 / rounds; al_mono_ns() < end;)
            ;
        kill(zygote, SIGKILL);
        rig_wait(&r);
        assert_int_equal(r.code, AL_OK);
        rig_rest();
    }
    rig_free(&r);
}

/* A request that the zygote never took, beside others that wait for it. */
static void a_dead_zygote_found_by_a_start_ends_nothing_in_it(void **state)
{
    static struct rig_result waits, late;
    struct al_vm_spec spec = rig_spec("return 7");
    siginfo_t info;
    (void)state;
    rig_value("1", "1");
    rig_rest();
    spec.memory_bytes = (uint64_t)48 << 20; /* not what the spare is for */
    pid_t zygote = rig_engine->zygote->pid;
    kill(zygote, SIGSTOP);
    rig_start(&waits, &spec);
    al_vm_cancel(waits.vm); /* its end follows when the zygote has gone */
    kill(zygote, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)zygote, &info, WEXITED | WNOWAIT), 0);
    rig_start(&late, &spec);
    assert_int_equal(waits.ends, 0);
    rig_wait(&waits);
    assert_int_equal(waits.code, AL_CANCELLED);
    rig_wait(&late);
    assert_int_equal(late.code, AL_OK);
    rig_free(&waits);
    rig_free(&late);
    rig_rest();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(many_large_results_pass),
    cmocka_unit_test(prints_pass_while_results_wait),
    cmocka_unit_test(others_are_served_between_ends_that_take_long),
    cmocka_unit_test(every_year_of_a_zone_can_be_asked_for),
    cmocka_unit_test(a_zygote_may_die_around_every_start),
    cmocka_unit_test(a_zygote_that_dies_while_it_forks_leaves_nobody),
    cmocka_unit_test(a_dead_zygote_found_by_a_start_ends_nothing_in_it),
};
RIG_MAIN(tests)
