#include "os_help.h"

#include "loop/stream.h"

#include <sys/socket.h>
#include <termios.h>

#define LIMIT_MS 20000

/* One end under test: collects what comes, and counts. */
struct end {
    struct al_loop *loop;
    struct al_stream *s;
    struct al_buf in;
    int ends, error, drains;
    size_t stop_at; /* free the stream when that much came */
    size_t pause_at;
    bool done;
};

static void on_data(void *ud, struct al_str bytes)
{
    struct end *e = ud;
    al_buf_add_str(&e->in, bytes);
    if (e->pause_at && e->in.n >= e->pause_at) {
        e->pause_at = 0;
        al_stream_pause(e->s);
        e->done = true;
    }
    if (e->stop_at && e->in.n >= e->stop_at) {
        al_stream_free(e->s);
        e->s = NULL;
        e->done = true;
    }
}

static void on_end(void *ud, int error)
{
    struct end *e = ud;
    e->ends++;
    e->error = error;
    e->done = true;
}

static void on_drained(void *ud)
{
    struct end *e = ud;
    e->drains++;
    e->done = true;
}

static const struct al_stream_ops ops = {.data = on_data, .end = on_end, .drained = on_drained};

static void end_open(struct end *e, struct al_loop *loop, int rfd, int wfd, size_t max)
{
    struct al_err err;
    *e = (struct end){.loop = loop, .in = AL_BUF_INIT(64 << 20)};
    e->s = al_stream_new(loop, rfd, wfd, max, &ops, e, &err);
    if (!e->s)
        fail_msg("%s", err.msg);
}

static void end_free(struct end *e)
{
    al_stream_free(e->s);
    al_buf_free(&e->in);
}

static bool wait_done(struct end *e)
{
    bool r = al_loop_run_until(e->loop, &e->done, LIMIT_MS);
    e->done = false;
    return r;
}

static char *pattern(size_t n)
{
    char *p = al_xmalloc(n);
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(i * 7 + i / 251);
    return p;
}

/* Bytes through a pair of descriptors, much more than either holds at once. */
static void carry(int rfd, int wfd, size_t n)
{
    struct al_loop *loop = al_loop_new();
    struct end from, to;
    autofree char *bytes = pattern(n);
    end_open(&from, loop, -1, wfd, n);
    end_open(&to, loop, rfd, -1, 0);
    assert_int_equal(al_stream_write(from.s, (struct al_str){bytes, n}), 0);
    assert_true(al_stream_queued(from.s) > 0);
    al_stream_close_write(from.s);
    assert_int_equal(al_stream_write(from.s, AL_STR("late")), -1);
    assert_true(wait_done(&to));
    assert_int_equal(to.error, 0);
    assert_int_equal(to.in.n, n);
    assert_memory_equal(to.in.p, bytes, n);
    assert_int_equal(al_stream_queued(from.s), 0);
    assert_int_equal(from.drains, 1);
    assert_int_equal(from.ends, 0);
    end_free(&from);
    end_free(&to);
    al_loop_free(loop);
}

static void bytes_pass_through_every_kind_of_pair(void **state)
{
    (void)state;
    unsigned fds = count_fds();
    for (int flags = 0; flags < 2; flags++) {
        int p[2], s[2];
        assert_int_equal(pipe2(p, O_CLOEXEC | (flags ? O_NONBLOCK : 0)), 0);
        carry(p[0], p[1], 5000000);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (flags ? SOCK_NONBLOCK : 0), 0, s),
                         0);
        carry(s[0], s[1], 5000000);
    }
    assert_int_equal(count_fds(), fds);
}

static void both_directions_over_one_socket(void **state)
{
    (void)state;
    struct al_loop *loop = al_loop_new();
    struct end a, b;
    int s[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s), 0);
    end_open(&a, loop, s[0], s[0], 1000);
    end_open(&b, loop, s[1], s[1], 1000);
    assert_int_equal(al_stream_write(a.s, AL_STR("ping")), 0);
    assert_int_equal(al_stream_write(b.s, AL_STR("pong")), 0);
    al_stream_close_write(a.s);
    assert_true(wait_done(&b));
    assert_true(al_str_is(al_buf_str(&b.in), "ping"));
    assert_int_equal(b.ends, 1);
    al_stream_close_write(b.s); /* still open in this direction */
    assert_true(wait_done(&a));
    assert_true(al_str_is(al_buf_str(&a.in), "pong"));
    end_free(&a);
    end_free(&b);
    al_loop_free(loop);
}

static void a_full_queue_refuses_and_keeps_nothing(void **state)
{
    (void)state;
    struct al_loop *loop = al_loop_new();
    struct end e;
    int p[2];
    assert_int_equal(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
    size_t held = (size_t)fcntl(p[1], F_GETPIPE_SZ);
    end_open(&e, loop, -1, p[1], 200000);
    autofree char *bytes = pattern(200001);
    assert_int_equal(al_stream_write(e.s, (struct al_str){bytes, 200001}), -1);
    assert_int_equal(al_stream_queued(e.s), 0);
    assert_int_equal(al_stream_write(e.s, (struct al_str){bytes, 200000}), 0);
    assert_int_equal(al_stream_queued(e.s), 200000 - held);
    assert_int_equal(al_stream_write(e.s, (struct al_str){bytes, held + 1}), -1);
    assert_int_equal(al_stream_queued(e.s), 200000 - held);
    assert_int_equal(al_stream_write(e.s, (struct al_str){bytes, held}), 0);
    assert_int_equal(al_stream_queued(e.s), 200000);
    assert_int_equal(al_stream_write(e.s, AL_STR("")), 0);
    char chunk[65536];
    size_t total = 0;
    while (!e.done || total < 200000 + held) {
        ssize_t n = read(p[0], chunk, sizeof(chunk));
        total += n > 0 ? (size_t)n : 0;
        bool never = false;
        al_loop_run_until(loop, &never, 1);
    }
    assert_int_equal(total, 200000 + held);
    assert_int_equal(e.drains, 1);
    close(p[0]);
    end_free(&e);
    al_loop_free(loop);
}

static void a_reader_that_has_gone_ends_the_stream(void **state)
{
    (void)state;
    struct al_loop *loop = al_loop_new();
    for (int kind = 0; kind < 4; kind++) {
        struct end e;
        int p[2];
        if (kind < 2)
            assert_int_equal(pipe2(p, O_CLOEXEC | (kind ? O_NONBLOCK : 0)), 0);
        else
            assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p), 0);
        end_open(&e, loop, -1, p[1], 1000000);
        autofree char *bytes = pattern(500000);
        if (kind == 3) { /* something waits already when the reader goes */
            assert_int_equal(al_stream_write(e.s, (struct al_str){bytes, 500000}), 0);
            close(p[0]);
        } else {
            close(p[0]);
            assert_int_equal(al_stream_write(e.s, AL_STR("x")), -1);
            assert_int_equal(e.ends, 0); /* never from within the call */
        }
        assert_true(wait_done(&e));
        assert_int_equal(e.ends, 1);
        assert_int_equal(e.error, -EPIPE);
        assert_int_equal(al_stream_write(e.s, AL_STR("x")), -1);
        assert_int_equal(al_stream_queued(e.s), 0);
        assert_int_equal(e.drains, kind == 3); /* whoever waits for it is not left waiting */
        end_free(&e);
    }
    al_loop_free(loop);
}

static void pause_holds_back_and_resume_gives_all(void **state)
{
    (void)state;
    struct tmp t;
    struct al_loop *loop = al_loop_new();
    tmp_make(&t);
    size_t n = 300000;
    autofree char *bytes = pattern(n);
    int file = openat(t.fd, "f", O_RDWR | O_CREAT | O_CLOEXEC, 0600), p[2];
    assert_int_equal(al_fd_write_all(file, (struct al_str){bytes, n}), 0);
    lseek(file, 0, SEEK_SET);
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    struct end w, r;
    end_open(&w, loop, -1, p[1], n);
    assert_int_equal(al_stream_write(w.s, (struct al_str){bytes, n}), 0);
    al_stream_close_write(w.s);
    for (int kind = 0; kind < 2; kind++) {
        end_open(&r, loop, kind ? file : p[0], -1, 0);
        r.pause_at = 1;
        assert_true(wait_done(&r));
        size_t before = r.in.n;
        bool never = false;
        al_loop_run_until(loop, &never, 30);
        assert_int_equal(r.in.n, before);
        assert_true(before < n);
        assert_int_equal(r.ends, 0);
        al_stream_resume(r.s);
        al_stream_resume(r.s);
        assert_true(wait_done(&r));
        assert_int_equal(r.ends, 1);
        assert_int_equal(r.in.n, n);
        assert_memory_equal(r.in.p, bytes, n);
        end_free(&r);
    }
    end_free(&w);
    al_loop_free(loop);
    tmp_remove(&t);
}

static void files_and_null_devices_are_streams_too(void **state)
{
    (void)state;
    struct tmp t;
    struct al_loop *loop = al_loop_new();
    unsigned fds = count_fds();
    tmp_make(&t);
    struct end w, r;
    size_t n = 400000;
    autofree char *bytes = pattern(n);
    end_open(&w, loop, -1, openat(t.fd, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600), 3 * n);
    for (int i = 0; i < 3; i++)
        assert_int_equal(al_stream_write(w.s, (struct al_str){bytes, n}), 0);
    assert_true(al_stream_queued(w.s) > 0);
    al_stream_close_write(w.s);
    assert_true(wait_done(&w));
    assert_int_equal(w.drains, 1);
    end_open(&r, loop, openat(t.fd, "f", O_RDONLY | O_CLOEXEC), -1, 0);
    assert_true(wait_done(&r));
    assert_int_equal(r.in.n, 3 * n);
    assert_memory_equal(r.in.p + 2 * n, bytes, n);
    end_free(&r);
    end_free(&w);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    end_open(&r, loop, null, null, 100);
    assert_int_equal(al_stream_write(r.s, AL_STR("gone")), 0);
    assert_true(wait_done(&r));
    while (r.ends == 0 || r.drains == 0)
        assert_true(wait_done(&r));
    assert_int_equal(r.error, 0);
    end_free(&r);
    end_open(&w, loop, -1, open("/dev/full", O_WRONLY | O_CLOEXEC), 100);
    assert_int_equal(al_stream_write(w.s, AL_STR("x")), 0);
    assert_true(wait_done(&w));
    assert_int_equal(w.error, -ENOSPC);
    end_free(&w);
    tmp_remove(&t);
    assert_int_equal(count_fds(), fds);
    al_loop_free(loop);
}

static void freeing_in_a_callback_is_the_last_of_it(void **state)
{
    (void)state;
    struct tmp t;
    struct al_loop *loop = al_loop_new();
    tmp_make(&t);
    unsigned fds = count_fds();
    autofree char *bytes = pattern(300000);
    for (int kind = 0; kind < 2; kind++) {
        struct end w = {0}, r;
        int p[2];
        int file = openat(t.fd, "f", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        assert_int_equal(al_fd_write_all(file, (struct al_str){bytes, 300000}), 0);
        lseek(file, 0, SEEK_SET);
        assert_int_equal(pipe2(p, O_CLOEXEC), 0);
        if (kind == 0) {
            close(file);
            end_open(&w, loop, -1, p[1], 300000);
            assert_int_equal(al_stream_write(w.s, (struct al_str){bytes, 300000}), 0);
        } else {
            close(p[0]);
            close(p[1]);
        }
        end_open(&r, loop, kind ? file : p[0], -1, 0);
        r.stop_at = 1;
        assert_true(wait_done(&r));
        bool never = false;
        al_loop_run_until(loop, &never, 10);
        assert_true(r.in.n <= 65536);
        assert_int_equal(r.ends, 0);
        end_free(&r);
        end_free(&w);
    }
    /* Freed while the pool is at work on both sides. */
    struct end e;
    end_open(&e, loop, openat(t.fd, "f", O_RDONLY | O_CLOEXEC),
             openat(t.fd, "g", O_WRONLY | O_CREAT | O_CLOEXEC, 0600), 300000);
    assert_int_equal(al_stream_write(e.s, (struct al_str){bytes, 300000}), 0);
    end_free(&e);
    bool never = false;
    al_loop_run_until(loop, &never, 50);
    assert_int_equal(e.ends + e.drains, 0);
    assert_int_equal(count_fds(), fds);
    al_loop_free(loop);
    tmp_remove(&t);
}

static void a_failure_that_is_never_told_leaks_nothing(void **state)
{
    (void)state;
    struct al_loop *loop = al_loop_new();
    struct end e;
    int p[2];
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    end_open(&e, loop, -1, p[1], 100);
    close(p[0]);
    assert_int_equal(al_stream_write(e.s, AL_STR("x")), -1);
    end_free(&e);
    al_loop_free(loop); /* before the turn in which it would be told */
}

static void shared_descriptors_keep_their_flags(void **state)
{
    (void)state;
    struct al_loop *loop = al_loop_new();
    int p[2], master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    int tty = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(tty >= 0);
    int copy = dup(tty);
    struct end e, w;
    end_open(&e, loop, tty, tty, 1000);
    assert_int_equal(al_stream_write(e.s, AL_STR("shown\n")), 0);
    assert_false(fcntl(copy, F_GETFL) & O_NONBLOCK);
    char b[64] = "";
    assert_int_equal(read(master, b, sizeof(b) - 1), 7);
    assert_string_equal(b, "shown\r\n");
    assert_int_equal(write(master, "typed\n", 6), 6);
    bool never = false;
    for (int i = 0; i < 2000 && e.in.n == 0; i++)
        al_loop_run_until(loop, &never, 5);
    assert_true(al_str_is(al_buf_str(&e.in), "typed\n"));
    end_free(&e);
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    int out = dup(p[1]);
    end_open(&w, loop, -1, p[1], 1000000);
    autofree char *bytes = pattern(1000000);
    assert_int_equal(al_stream_write(w.s, (struct al_str){bytes, 1000000}), 0); /* does not block either */
    assert_false(fcntl(out, F_GETFL) & O_NONBLOCK);
    end_free(&w);
    close(out);
    close(p[0]);
    close(copy);
    close(master);
    al_loop_free(loop);
}

static void a_bad_descriptor_is_an_error_and_stays_the_callers(void **state)
{
    (void)state;
    struct al_loop *loop = al_loop_new();
    struct al_err err;
    struct end e = {0};
    int p[2];
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    unsigned fds = count_fds();
    assert_null(al_stream_new(loop, 9999, p[1], 10, &ops, &e, &err));
    assert_null(al_stream_new(loop, p[0], 9999, 10, &ops, &e, &err));
    assert_null(al_stream_new(loop, 9999, 9999, 10, &ops, &e, &err));
    assert_int_equal(count_fds(), fds);
    assert_int_equal(write(p[1], "x", 1), 1);
    close(p[0]);
    close(p[1]);
    al_stream_free(NULL);
    al_loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_pass_through_every_kind_of_pair),
        cmocka_unit_test(both_directions_over_one_socket),
        cmocka_unit_test(a_full_queue_refuses_and_keeps_nothing),
        cmocka_unit_test(a_reader_that_has_gone_ends_the_stream),
        cmocka_unit_test(pause_holds_back_and_resume_gives_all),
        cmocka_unit_test(files_and_null_devices_are_streams_too),
        cmocka_unit_test(freeing_in_a_callback_is_the_last_of_it),
        cmocka_unit_test(a_failure_that_is_never_told_leaks_nothing),
        cmocka_unit_test(shared_descriptors_keep_their_flags),
        cmocka_unit_test(a_bad_descriptor_is_an_error_and_stays_the_callers),
    };
    al_loop_free(al_loop_new()); /* libuv keeps a pair of descriptors from its first loop on */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
