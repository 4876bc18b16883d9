#include "os_help.h"

#include "loop/service.h"
#include "os/spawn.h"
#include "sandbox/supervise.h"

#include <signal.h>
#include <sys/wait.h>

#define LIMIT_MS 30000
#define SH "/bin/sh"

struct rig {
    struct al_loop *loop;
    struct al_service *service;
    struct al_buf out, err;
    size_t n_out, n_err; /* bytes in all */
    bool done, heard;
    size_t until; /* heard when so many bytes of output have come */
    int ends, closed;
    struct al_service_end end;
    bool free_in_output;
};

static void on_output(void *ud, struct al_str bytes)
{
    struct rig *r = ud;
    r->n_out += bytes.n;
    r->closed += bytes.n == 0;
    size_t room = r->out.max - r->out.n;
    al_buf_add(&r->out, bytes.p, bytes.n < room ? bytes.n : room);
    if (r->n_out >= r->until)
        r->heard = true;
    if (r->free_in_output) {
        al_service_free(r->service);
        r->service = NULL;
        r->heard = true;
    }
}

static void on_errors(void *ud, struct al_str bytes)
{
    struct rig *r = ud;
    r->n_err += bytes.n;
    size_t room = r->err.max - r->err.n;
    al_buf_add(&r->err, bytes.p, bytes.n < room ? bytes.n : room);
}

static void on_ended(void *ud, const struct al_service_end *end)
{
    struct rig *r = ud;
    r->ends++;
    r->end = *end;
    r->done = true;
    r->service = NULL;
}

static const struct al_service_ops ops = {.output = on_output, .errors = on_errors, .ended = on_ended};

static void start_program(struct rig *r, const char *program, char *const *argv, char *const *envp)
{
    struct al_err err;
    struct al_service_spec spec = {
        .program = program, .argv = argv, .envp = envp, .cwd_fd = -1, .max_queue = 1 << 20};
    *r = (struct rig){.loop = al_loop_new(), .out = AL_BUF_INIT(1 << 20), .err = AL_BUF_INIT(1 << 20)};
    r->service = al_service_start(r->loop, &spec, &ops, r, &err);
    if (!r->service)
        fail_msg("%s", err.msg);
}

static void start(struct rig *r, const char *script)
{
    char *const argv[] = {(char *)SH, (char *)"-c", (char *)script, NULL};
    char *const envp[] = {(char *)"PATH=/usr/bin:/bin", NULL};
    start_program(r, SH, argv, envp);
}

static void wait_end(struct rig *r)
{
    assert_true(al_loop_run_until(r->loop, &r->done, LIMIT_MS));
    assert_int_equal(r->ends, 1);
    assert_true(r->closed <= 1);
}

static void wait_output(struct rig *r, size_t bytes)
{
    r->until = bytes;
    r->heard = r->n_out >= bytes;
    assert_true(al_loop_run_until(r->loop, &r->heard, LIMIT_MS));
}

static void rig_free(struct rig *r)
{
    al_service_free(r->service);
    al_buf_free(&r->out);
    al_buf_free(&r->err);
    al_loop_free(r->loop);
}

static bool said(const struct al_buf *b, const char *text)
{
    return al_str_find(al_buf_str(b), al_str_of(text)) >= 0;
}

static void what_is_written_comes_back_until_it_is_stopped(void **state)
{
    (void)state;
    struct rig r;
    start(&r, "while read -r line; do echo \"<$line>\"; done; echo bye >&2");
    assert_int_equal(al_service_write(r.service, AL_STR("one\n")), 0);
    wait_output(&r, 6);
    assert_int_equal(al_service_write(r.service, AL_STR("two\n")), 0);
    wait_output(&r, 12);
    assert_true(said(&r.out, "<one>\n<two>\n"));
    al_service_stop(r.service, LIMIT_MS);
    wait_end(&r);
    assert_true(r.end.stopped);
    assert_int_equal(r.end.exit_status, 0); /* the end of its input was enough */
    assert_true(said(&r.err, "bye"));
    rig_free(&r);
}

static void a_death_is_told_with_all_that_was_said_before(void **state)
{
    (void)state;
    struct rig r;
    start(&r, "echo last; echo words >&2; exit 3");
    wait_end(&r);
    assert_false(r.end.stopped);
    assert_int_equal(r.end.exit_status, 3);
    assert_true(said(&r.out, "last\n") && said(&r.err, "words\n"));
    rig_free(&r);
    start(&r, "kill -SEGV $$");
    wait_end(&r);
    assert_int_equal(r.end.exit_status, -1);
    assert_int_equal(r.end.signal, SIGSEGV);
    rig_free(&r);
}

static void what_does_not_start_is_an_errno(void **state)
{
    (void)state;
    struct rig r;
    char *const argv[] = {(char *)"nothing", NULL};
    char *const envp[] = {NULL};
    start_program(&r, "/nonexistent/nothing", argv, envp);
    wait_end(&r);
    assert_int_equal(r.end.exec_errno, ENOENT);
    rig_free(&r);
}

static void one_that_refuses_to_end_is_killed_with_its_tree(void **state)
{
    (void)state;
    struct rig r;
    char mark[64];
    snprintf(mark, sizeof(mark), "AL_SERVICE_TEST=%d-stop", getpid());
    char *const argv[] = {(char *)SH, (char *)"-c",
                          (char *)"trap '' TERM; (trap '' TERM; setsid sleep 1000 & sleep 1000) & echo up; "
                                  "while :; do sleep 1000; done",
                          NULL};
    char *const envp[] = {(char *)"PATH=/usr/bin:/bin", mark, NULL};
    start_program(&r, SH, argv, envp);
    wait_output(&r, 3);
    uint64_t t0 = al_mono_ms();
    al_service_stop(r.service, 50);
    wait_end(&r);
    assert_true(al_mono_ms() - t0 < 10000);
    assert_true(r.end.stopped);
    assert_int_equal(count_marked(mark), 0);
    rig_free(&r);
}

static void a_flood_waits_while_it_is_paused(void **state)
{
    (void)state;
    struct rig r;
    start(&r, "yes | head -c 3000000; echo end >&2; read x");
    al_service_pause(r.service, true);
    al_service_pause(r.service, true);
    /* A second program, which runs to its end meanwhile, shows that the first one was waited for. */
    struct rig other = {.loop = r.loop, .out = AL_BUF_INIT(64), .err = AL_BUF_INIT(64)};
    struct al_err err;
    char *const argv[] = {(char *)SH, (char *)"-c", (char *)"exit 0", NULL};
    char *const envp[] = {NULL};
    struct al_service_spec spec = {
        .program = SH, .argv = argv, .envp = envp, .cwd_fd = -1, .max_queue = 1 << 20};
    other.service = al_service_start(r.loop, &spec, &ops, &other, &err);
    assert_non_null(other.service);
    assert_true(al_loop_run_until(r.loop, &other.done, LIMIT_MS));
    assert_int_equal(r.n_out, 0);
    assert_false(r.done);
    al_service_pause(r.service, false);
    wait_output(&r, 3000000);
    assert_int_equal(r.n_out, 3000000);
    al_service_stop(r.service, LIMIT_MS);
    wait_end(&r);
    al_buf_free(&other.out);
    al_buf_free(&other.err);
    rig_free(&r);
}

static void a_flood_of_errors_holds_nothing_up(void **state)
{
    (void)state;
    struct rig r;
    start(&r, "yes | head -c 5000000 >&2; echo done");
    wait_end(&r);
    assert_int_equal(r.n_err, 5000000);
    assert_true(said(&r.out, "done\n"));
    rig_free(&r);
}

static void writing_is_bounded_and_fails_when_nobody_reads(void **state)
{
    (void)state;
    struct rig r;
    start(&r, "exec 0<&-; echo closed; sleep 1000");
    wait_output(&r, 7);
    /* The supervisor lets go of its copy a moment after the program has begun. */
    for (uint64_t end = al_mono_ms() + LIMIT_MS; al_service_write(r.service, AL_STR("x\n")) == 0;) {
        bool never = false;
        assert_true(al_mono_ms() < end);
        al_loop_run_until(r.loop, &never, 1);
    }
    al_service_stop(r.service, 0);
    wait_end(&r);
    rig_free(&r);
    start(&r, "echo up; sleep 1000");
    wait_output(&r, 3);
    autofree char *big = al_xcalloc(1, 2 << 20);
    assert_int_equal(al_service_write(r.service, (struct al_str){big, 2 << 20}), -1);
    assert_int_equal(al_service_write(r.service, (struct al_str){big, 1 << 20}), 0);
    assert_int_equal(al_service_write(r.service, (struct al_str){big, 1 << 20}), -1);
    al_service_stop(r.service, 0);
    wait_end(&r);
    rig_free(&r);
}

static void an_output_that_is_closed_is_told(void **state)
{
    (void)state;
    struct rig r;
    start(&r, "echo last; exec >&-; read x; exit 4");
    while (!r.closed) {
        bool never = false;
        al_loop_run_until(r.loop, &never, 5);
    }
    assert_true(said(&r.out, "last"));
    assert_false(r.done);
    al_service_stop(r.service, LIMIT_MS);
    wait_end(&r);
    assert_int_equal(r.end.exit_status, 4);
    rig_free(&r);
}

static void it_may_be_freed_in_its_own_callback(void **state)
{
    (void)state;
    struct rig r;
    unsigned before = count_fds();
    start(&r, "echo one; sleep 1000");
    r.free_in_output = true;
    wait_output(&r, 1);
    assert_null(r.service);
    assert_int_equal(r.ends, 0);
    rig_free(&r);
    assert_int_equal(count_fds(), before);
}

/* A host of its own: starts a service, says so, and never returns. */
static void be_host(char *mark, int tell)
{
    struct rig r;
    char *const argv[] = {(char *)SH, (char *)"-c", (char *)"trap '' TERM; setsid sleep 1000 & echo up; cat",
                          NULL};
    char *const envp[] = {(char *)"PATH=/usr/bin:/bin", mark, NULL};
    start_program(&r, SH, argv, envp);
    wait_output(&r, 3);
    if (write(tell, "x", 1) != 1)
        _exit(1);
    al_loop_run(r.loop);
    _exit(0);
}

static void the_death_of_its_host_leaves_nothing(void **state)
{
    (void)state;
    char mark[64];
    int p[2];
    char c;
    snprintf(mark, sizeof(mark), "AL_SERVICE_TEST=%d-host", getpid());
    assert_int_equal(pipe(p), 0);
    pid_t host = fork();
    if (host == 0)
        be_host(mark, p[1]);
    close(p[1]);
    assert_int_equal(read(p[0], &c, 1), 1);
    close(p[0]);
    assert_true(count_marked(mark) > 0);
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    assert_true(gone_soon(mark));
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], AL_SUPERVISE_VERB))
        return al_supervise_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_comes_back_until_it_is_stopped),
        cmocka_unit_test(a_death_is_told_with_all_that_was_said_before),
        cmocka_unit_test(what_does_not_start_is_an_errno),
        cmocka_unit_test(one_that_refuses_to_end_is_killed_with_its_tree),
        cmocka_unit_test(a_flood_waits_while_it_is_paused),
        cmocka_unit_test(a_flood_of_errors_holds_nothing_up),
        cmocka_unit_test(writing_is_bounded_and_fails_when_nobody_reads),
        cmocka_unit_test(an_output_that_is_closed_is_told),
        cmocka_unit_test(it_may_be_freed_in_its_own_callback),
        cmocka_unit_test(the_death_of_its_host_leaves_nothing),
    };
    al_self_open();
    al_loop_free(al_loop_new());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
