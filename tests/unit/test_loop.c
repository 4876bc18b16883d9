#include "os_help.h"

#include "loop/loop.h"

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

static void nothing(void *ud)
{
    (void)ud;
}

struct shot {
    uint64_t started_ns, wanted_ms;
    int *left;
    bool early;
};

static void shot_fired(void *ud)
{
    struct shot *s = ud;
    s->early = al_mono_ns() - s->started_ns < s->wanted_ms * 1000000;
    (*s->left)--;
}

static void a_timer_never_fires_early(void **state)
{
    (void)state;
    struct al_loop *loop = al_loop_new();
    struct shot shots[200];
    int left = 200;
    for (int i = 0; i < 200; i++) {
        shots[i] = (struct shot){.wanted_ms = (uint64_t)(i % 23), .left = &left, .early = true};
        shots[i].started_ns = al_mono_ns();
        al_timer_start(loop, shots[i].wanted_ms, shot_fired, &shots[i]);
    }
    al_loop_run(loop);
    assert_int_equal(left, 0);
    for (int i = 0; i < 200; i++)
        assert_false(shots[i].early);
    al_loop_free(loop);
}

struct ctx {
    struct al_loop *loop;
    struct al_timer *timer, *other;
    struct al_watch *watch;
    struct al_signal *signal;
    int n, m, events;
    char order[64];
    bool done;
    int fd;
};

static void stop_both(void *ud)
{
    struct ctx *c = ud;
    c->n++;
    al_timer_stop(c->timer); /* its own */
    al_timer_stop(c->other);
    al_timer_stop(NULL);
}

static void count_m(void *ud)
{
    ((struct ctx *)ud)->m++;
}

static void a_stopped_timer_does_not_fire(void **state)
{
    (void)state;
    struct ctx c = {.loop = al_loop_new()};
    c.timer = al_timer_start(c.loop, 1, stop_both, &c);
    c.other = al_timer_start(c.loop, 1, count_m, &c);
    al_loop_run(c.loop);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.m, 0);
    struct al_timer *never = al_timer_start(c.loop, UINT64_MAX, count_m, &c);
    al_timer_stop(never);
    al_loop_run(c.loop);
    assert_int_equal(c.m, 0);
    al_loop_free(c.loop);
}

static void three_times(void *ud)
{
    struct ctx *c = ud;
    if (++c->n == 3)
        al_timer_stop(c->timer);
}

static void a_periodic_timer_fires_until_stopped(void **state)
{
    (void)state;
    struct ctx c = {.loop = al_loop_new()};
    uint64_t start = al_mono_ms();
    c.timer = al_timer_every(c.loop, 3, three_times, &c);
    al_loop_run(c.loop);
    assert_int_equal(c.n, 3);
    assert_true(al_mono_ms() - start >= 8);
    al_loop_free(c.loop);
}

static void add_a(void *ud)
{
    strcat(((struct ctx *)ud)->order, "a");
}

static void add_c(void *ud)
{
    strcat(((struct ctx *)ud)->order, "c");
}

static void add_b(void *ud)
{
    struct ctx *c = ud;
    al_defer(c->loop, add_c, c);
    strcat(c->order, "b");
}

static void deferred_calls_come_later_and_in_order(void **state)
{
    (void)state;
    struct ctx c = {.loop = al_loop_new()};
    al_defer(c.loop, add_a, &c);
    al_defer(c.loop, add_b, &c);
    al_defer(c.loop, add_a, &c);
    assert_string_equal(c.order, "");
    al_loop_run(c.loop);
    assert_string_equal(c.order, "abac");
    al_defer(c.loop, add_a, &c);
    al_loop_free(c.loop); /* what was never run is forgotten */
}

static void watch_once(void *ud, int events)
{
    struct ctx *c = ud;
    c->events |= events;
    c->n++;
    al_watch_stop(c->watch);
    al_watch_stop(c->watch);
}

static void watch_level(void *ud, int events)
{
    struct ctx *c = ud;
    c->events |= events;
    if (++c->n == 5)
        al_watch_stop(c->watch);
}

static void watches_are_level_triggered_and_tell_hangup(void **state)
{
    (void)state;
    struct al_err err;
    struct ctx c = {.loop = al_loop_new()};
    int p[2];
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    assert_int_equal(write(p[1], "x", 1), 1);
    c.watch = al_watch_start(c.loop, p[0], AL_READABLE, watch_level, &c, &err);
    assert_non_null(c.watch);
    assert_false(fcntl(p[0], F_GETFL) & O_NONBLOCK); /* the flags are not ours to change */
    al_loop_run(c.loop);
    assert_int_equal(c.n, 5);
    assert_int_equal(c.events, AL_READABLE);
    char b;
    assert_int_equal(read(p[0], &b, 1), 1);
    al_close(&p[1]);
    c.n = c.events = 0;
    c.watch = al_watch_start(c.loop, p[0], AL_READABLE | AL_HANGUP, watch_once, &c, &err);
    al_loop_run(c.loop);
    assert_true(c.events & AL_HANGUP);
    close(p[0]);
    al_loop_free(c.loop);
}

static void an_error_of_the_descriptor_is_told_again_and_again(void **state)
{
    (void)state;
    struct al_err err;
    struct ctx c = {.loop = al_loop_new()};
    int p[2];
    char fill[65536] = "";
    assert_int_equal(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
    while (write(p[1], fill, sizeof(fill)) > 0)
        ;
    close(p[0]); /* nobody will read: EPOLLERR */
    c.watch = al_watch_start(c.loop, p[1], AL_WRITABLE, watch_level, &c, &err);
    al_loop_run(c.loop);
    assert_int_equal(c.n, 5);
    assert_true(c.events & AL_WRITABLE);
    close(p[1]);
    al_loop_free(c.loop);
}

static void watch_count(void *ud, int events)
{
    (void)events;
    ((struct ctx *)ud)->m++;
    al_watch_stop(((struct ctx *)ud)->watch);
}

static void one_descriptor_may_have_two_watches(void **state)
{
    (void)state;
    struct al_err err;
    struct ctx a = {.loop = al_loop_new()}, b = {.loop = a.loop};
    int s[2];
    unsigned fds = count_fds();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s), 0);
    assert_int_equal(write(s[1], "x", 1), 1);
    a.watch = al_watch_start(a.loop, s[0], AL_READABLE, watch_once, &a, &err);
    b.watch = al_watch_start(b.loop, s[0], AL_WRITABLE, watch_count, &b, &err);
    assert_non_null(b.watch);
    al_loop_run(a.loop);
    assert_int_equal(a.n, 1);
    assert_int_equal(b.m, 1);
    close(s[0]);
    close(s[1]);
    assert_int_equal(count_fds(), fds);
    al_loop_free(a.loop);
}

static void what_cannot_be_watched_is_an_error(void **state)
{
    (void)state;
    struct al_err err;
    struct ctx c = {.loop = al_loop_new()};
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_null(al_watch_start(c.loop, fd, AL_READABLE, watch_once, &c, &err));
    assert_int_equal(err.code, AL_INTERNAL);
    close(fd);
    assert_null(al_watch_start(c.loop, fd, AL_READABLE, watch_once, &c, &err));
    al_watch_stop(NULL);
    al_loop_free(c.loop);
}

static pthread_t loop_thread;

static void work(void *ud)
{
    struct ctx *c = ud;
    __atomic_add_fetch(&c->m, pthread_equal(pthread_self(), loop_thread) ? 1000 : 1, __ATOMIC_SEQ_CST);
}

static void work_done(void *ud)
{
    struct ctx *c = ud;
    c->n += pthread_equal(pthread_self(), loop_thread) ? 1 : 1000;
}

static void work_runs_elsewhere_and_ends_here(void **state)
{
    (void)state;
    struct ctx c = {.loop = al_loop_new()};
    loop_thread = pthread_self();
    for (int i = 0; i < 50; i++)
        al_work_start(c.loop, work, work_done, &c);
    al_loop_run(c.loop);
    assert_int_equal(c.m, 50);
    assert_int_equal(c.n, 50);
    al_work_start(c.loop, work, work_done, &c);
    al_loop_free(c.loop); /* waits for it: both always come */
    assert_int_equal(c.n, 51);
}

static void signal_came(void *ud, int signum)
{
    struct ctx *c = ud;
    c->events = signum;
    if (++c->n == 2)
        al_signal_stop(c->signal);
    else
        raise(SIGUSR1);
}

static void signals_come_in_the_loop(void **state)
{
    (void)state;
    struct ctx c = {.loop = al_loop_new()};
    c.signal = al_signal_start(c.loop, SIGUSR1, signal_came, &c);
    raise(SIGUSR1);
    assert_int_equal(c.n, 0);
    al_loop_run(c.loop);
    assert_int_equal(c.n, 2);
    assert_int_equal(c.events, SIGUSR1);
    al_signal_stop(NULL);
    al_loop_free(c.loop);
}

static void set_done(void *ud)
{
    ((struct ctx *)ud)->done = true;
}

static void run_until_ends_when_done_late_or_idle(void **state)
{
    (void)state;
    struct ctx c = {.loop = al_loop_new()};
    assert_false(al_loop_run_until(c.loop, &c.done, 0)); /* nothing to wait for */
    struct al_timer *t = al_timer_every(c.loop, 1, nothing, NULL);
    uint64_t start = al_mono_ms();
    assert_false(al_loop_run_until(c.loop, &c.done, 20));
    assert_true(al_mono_ms() - start >= 20);
    al_timer_start(c.loop, 5, set_done, &c);
    assert_true(al_loop_run_until(c.loop, &c.done, 10000));
    assert_true(al_loop_run_until(c.loop, &c.done, 1));
    c.done = false;
    al_timer_start(c.loop, 1, set_done, &c);
    assert_true(al_loop_run_until(c.loop, &c.done, 0));
    al_timer_stop(t);
    al_loop_free(c.loop);
}

static void stop_it(void *ud)
{
    al_loop_stop(((struct ctx *)ud)->loop);
}

static void stop_ends_a_run(void **state)
{
    (void)state;
    struct ctx c = {.loop = al_loop_new()};
    struct al_timer *t = al_timer_every(c.loop, 1000000, nothing, NULL);
    al_timer_start(c.loop, 1, stop_it, &c);
    al_loop_run(c.loop);
    al_timer_stop(t);
    al_loop_free(c.loop);
    al_loop_free(NULL);
}

static void loops_leave_no_descriptor(void **state)
{
    (void)state;
    al_loop_free(al_loop_new()); /* libuv keeps a pair for signals from its first loop on */
    unsigned fds = count_fds();
    for (int i = 0; i < 20; i++) {
        struct ctx c = {.loop = al_loop_new()};
        al_timer_start(c.loop, 0, set_done, &c);
        assert_true(al_loop_run_until(c.loop, &c.done, 1000));
        al_loop_free(c.loop);
    }
    assert_int_equal(count_fds(), fds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_never_fires_early),
        cmocka_unit_test(a_stopped_timer_does_not_fire),
        cmocka_unit_test(a_periodic_timer_fires_until_stopped),
        cmocka_unit_test(deferred_calls_come_later_and_in_order),
        cmocka_unit_test(watches_are_level_triggered_and_tell_hangup),
        cmocka_unit_test(an_error_of_the_descriptor_is_told_again_and_again),
        cmocka_unit_test(one_descriptor_may_have_two_watches),
        cmocka_unit_test(what_cannot_be_watched_is_an_error),
        cmocka_unit_test(work_runs_elsewhere_and_ends_here),
        cmocka_unit_test(signals_come_in_the_loop),
        cmocka_unit_test(run_until_ends_when_done_late_or_idle),
        cmocka_unit_test(stop_ends_a_run),
        cmocka_unit_test(loops_leave_no_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
