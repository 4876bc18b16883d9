#include "test.h"

#include "base/mem.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void a_frame_has_its_documented_bytes(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(100);
    assert_int_equal(al_frame_put(&b, 7, AL_STR("hello")), 0);
    assert_true(al_str_eq(al_buf_str(&b), AL_STR("\x05\0\0\0\x07\x01\0\0hello")));
    al_buf_clear(&b);
    assert_int_equal(al_frame_put(&b, 255, (struct al_str){NULL, 0}), 0);
    assert_true(al_str_eq(al_buf_str(&b), AL_STR("\0\0\0\0\xff\x01\0\0")));
}

static void a_frame_that_does_not_fit_leaves_no_half(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(20);
    assert_int_equal(al_frame_put(&b, 1, AL_STR("1234")), 0);
    assert_int_equal(al_frame_put(&b, 1, AL_STR("1")), -1);
    assert_true(al_buf_failed(&b));
    assert_int_equal(b.n, 12);
    al_buf_clear(&b);
    assert_int_equal(al_frame_put(&b, 1, (struct al_str){"", (size_t)UINT32_MAX + 1}), -1);
    assert_true(al_buf_failed(&b));
    assert_int_equal(b.n, 0);
}

/* Expects the three frames of the stream below, the stream fed in pieces of that size. */
static void check_pieces(struct al_str stream, size_t piece)
{
    static const struct {
        uint8_t type;
        struct al_str payload;
    } want[] = {{1, AL_S("one")}, {2, AL_S("")}, {3, AL_S("three\0!")}};
    struct al_frames f;
    struct al_frame got;
    struct al_err err;
    size_t n = 0;
    al_frames_init(&f, 7);
    for (size_t at = 0; at < stream.n; at += piece) {
        size_t len = stream.n - at < piece ? stream.n - at : piece;
        assert_int_equal(al_frames_feed(&f, (struct al_str){stream.p + at, len}, &err), 0);
        int r;
        while ((r = al_frames_next(&f, &got, &err)) == 1) {
            assert_true(n < COUNT(want));
            assert_int_equal(got.type, want[n].type);
            assert_true(al_str_eq(got.payload, want[n].payload));
            n++;
        }
        assert_int_equal(r, 0);
        assert_int_equal(al_frames_idle(&f), at + len == 11 || at + len == 19 || at + len == stream.n);
    }
    assert_int_equal(n, COUNT(want));
    al_frames_free(&f);
}

static void frames_come_out_whole_whatever_the_pieces(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(100);
    al_frame_put(&b, 1, AL_STR("one"));
    al_frame_put(&b, 2, AL_STR(""));
    al_frame_put(&b, 3, AL_STR("three\0!"));
    for (size_t piece = 1; piece <= b.n; piece++)
        check_pieces(al_buf_str(&b), piece);
}

static const struct {
    struct al_str head;
    const char *msg;
    int eno;
} bad_heads[] = {
    {AL_S("\x00\0\0\0\x01\x00\0\0"), "wire: a frame of version 0, only 1 is known", EPROTO},
    {AL_S("\x00\0\0\0\x01\x02\0\0"), "wire: a frame of version 2, only 1 is known", EPROTO},
    {AL_S("\x00\0\0\0\x01\x01\x01\0"), "wire: reserved bits are set in a frame", EPROTO},
    {AL_S("\x00\0\0\0\x01\x01\0\x80"), "wire: reserved bits are set in a frame", EPROTO},
    {AL_S("\x65\0\0\0\x01\x01\0\0"), "wire: a frame of 101 bytes, at most 100 are allowed", EMSGSIZE},
    {AL_S("\xff\xff\xff\xff\x01\x01\0\0"), "wire: a frame of 4294967295 bytes, at most 100 are allowed",
     EMSGSIZE},
};

static void a_broken_header_breaks_the_stream_for_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad_heads); i++) {
        autobuf struct al_buf good = AL_BUF_INIT(100);
        struct al_frames f;
        struct al_frame got;
        struct al_err err = {0};
        al_frame_put(&good, 9, AL_STR("fine"));
        al_frames_init(&f, 100);
        assert_int_equal(al_frames_feed(&f, al_buf_str(&good), &err), 0);
        assert_int_equal(al_frames_feed(&f, bad_heads[i].head, &err), 0);
        assert_int_equal(al_frames_next(&f, &got, &err), 1);
        for (int again = 0; again < 2; again++) {
            al_err_clear(&err);
            assert_int_equal(al_frames_next(&f, &got, &err), -1);
            assert_int_equal(err.code, AL_ENGINE_CRASHED);
            assert_string_equal(err.msg, bad_heads[i].msg);
            al_err_clear(&err);
            assert_int_equal(al_frames_feed(&f, al_buf_str(&good), &err), -1);
            assert_string_equal(err.msg, bad_heads[i].msg);
        }
        assert_int_equal(al_frames_next(&f, &got, NULL), -1);
        assert_false(al_frames_idle(&f));
        assert_null(f.in.p);
        al_frames_free(&f);
    }
}

static void a_payload_of_exactly_the_maximum_passes(void **state)
{
    (void)state;
    enum {
        MAX = 3 * 1024 * 1024
    };
    autofree char *payload = al_xmalloc(MAX);
    memset(payload, 'p', MAX);
    autobuf struct al_buf b = AL_BUF_INIT(MAX + AL_FRAME_HEADER);
    assert_int_equal(al_frame_put(&b, 1, (struct al_str){payload, MAX}), 0);
    struct al_frames f;
    struct al_frame got = {0};
    struct al_err err;
    al_frames_init(&f, MAX);
    int r = 0;
    for (size_t at = 0; at < b.n && r == 0; at += AL_FRAMES_FEED_MAX) {
        size_t len = b.n - at < AL_FRAMES_FEED_MAX ? b.n - at : AL_FRAMES_FEED_MAX;
        assert_int_equal(al_frames_feed(&f, (struct al_str){b.p + at, len}, &err), 0);
        r = al_frames_next(&f, &got, &err);
    }
    assert_int_equal(r, 1);
    assert_true(al_str_eq(got.payload, (struct al_str){payload, MAX}));
    /* Its memory goes when the caller has seen it. */
    assert_true(f.in.cap > MAX);
    assert_int_equal(al_frames_next(&f, &got, &err), 0);
    assert_int_equal(f.in.cap, 0);
    assert_true(al_frames_idle(&f));
    al_frames_free(&f);
}

static void bytes_that_nobody_takes_out_do_not_pile_up(void **state)
{
    (void)state;
    struct al_frames f;
    struct al_err err = {0};
    enum {
        PIECE = 65536
    };
    autofree char *zeros = al_xcalloc(1, PIECE);
    al_frames_init(&f, 1000);
    unsigned fed = 0;
    while (fed < 100 && al_frames_feed(&f, (struct al_str){zeros, PIECE}, &err) == 0)
        fed++;
    assert_int_equal(fed, 16);
    assert_int_equal(err.code, AL_ENGINE_CRASHED);
    assert_int_equal(al_frames_feed(&f, AL_STR("x"), &err), -1);
    al_frames_free(&f);
}

static void an_announced_payload_takes_no_memory_yet(void **state)
{
    (void)state;
    struct al_frames f;
    struct al_frame got;
    struct al_err err;
    al_frames_init(&f, (size_t)1 << 30);
    assert_int_equal(al_frames_feed(&f, AL_STR("\0\0\0\x40\x01\x01\0\0"), &err), 0);
    assert_int_equal(al_frames_next(&f, &got, &err), 0);
    assert_in_range(f.in.cap, 8, 4096);
    al_frames_free(&f);
}

struct pair {
    int in, out;
};

static struct pair make_pipe(void)
{
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    return (struct pair){fds[0], fds[1]};
}

static void close_pair(struct pair p)
{
    close(p.in);
    if (p.out >= 0)
        close(p.out);
}

static void frames_pass_through_a_pipe(void **state)
{
    (void)state;
    struct pair p = make_pipe();
    autobuf struct al_buf got = AL_BUF_INIT(5000);
    char big[5000];
    uint8_t type = 0;
    memset(big, 'b', sizeof big);
    static const size_t sizes[] = {0, 1, 1015, 1016, 1017, 5000};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        assert_int_equal(al_frame_write_fd(p.out, (uint8_t)i, (struct al_str){big, sizes[i]}), 0);
        assert_int_equal(al_frame_read_fd(p.in, 5000, &got, &type), 1);
        assert_int_equal(type, i);
        assert_true(al_str_eq(al_buf_str(&got), (struct al_str){big, sizes[i]}));
    }
    close(p.out);
    p.out = -1;
    assert_int_equal(al_frame_read_fd(p.in, 5000, &got, &type), 0);
    assert_int_equal(got.n, 0);
    close_pair(p);
}

static void both_ends_speak_the_same_bytes(void **state)
{
    (void)state;
    struct pair p = make_pipe();
    char bytes[100];
    assert_int_equal(al_frame_write_fd(p.out, 4, AL_STR("same")), 0);
    ssize_t n = read(p.in, bytes, sizeof bytes);
    autobuf struct al_buf b = AL_BUF_INIT(100);
    al_frame_put(&b, 4, AL_STR("same"));
    assert_int_equal(n, b.n);
    assert_memory_equal(bytes, b.p, b.n);
    close_pair(p);
}

static void a_stream_that_ends_inside_a_frame_is_an_error(void **state)
{
    (void)state;
    static const char whole[] = "\x03\0\0\0\x01\x01\0\0abc";
    for (size_t n = 0; n < sizeof whole; n++) {
        struct pair p = make_pipe();
        autobuf struct al_buf got = AL_BUF_INIT(100);
        uint8_t type = 0;
        assert_int_equal(write(p.out, whole, n), n);
        close(p.out);
        p.out = -1;
        int r = al_frame_read_fd(p.in, 100, &got, &type);
        int eno = errno;
        assert_int_equal(r, n == 0 ? 0 : n < sizeof whole - 1 ? -1 : 1);
        if (r < 0)
            assert_int_equal(eno, EPROTO);
        if (r <= 0)
            assert_int_equal(got.n, 0);
        close_pair(p);
    }
}

static void a_broken_header_is_refused_by_the_reader(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad_heads); i++) {
        struct pair p = make_pipe();
        autobuf struct al_buf got = AL_BUF_INIT(1000);
        uint8_t type = 0;
        assert_int_equal(write(p.out, bad_heads[i].head.p, 8), 8);
        assert_int_equal(al_frame_read_fd(p.in, 100, &got, &type), -1);
        assert_int_equal(errno, bad_heads[i].eno);
        assert_null(got.p);
        close_pair(p);
    }
    struct pair p = make_pipe();
    autobuf struct al_buf small = AL_BUF_INIT(3);
    uint8_t type;
    assert_int_equal(al_frame_write_fd(p.out, 1, AL_STR("1234")), 0);
    assert_int_equal(al_frame_read_fd(p.in, 100, &small, &type), -1);
    assert_int_equal(errno, EMSGSIZE);
    close_pair(p);
}

static void failing_descriptors_give_their_errno(void **state)
{
    (void)state;
    autobuf struct al_buf got = AL_BUF_INIT(100);
    uint8_t type;
    assert_int_equal(al_frame_read_fd(-1, 100, &got, &type), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(al_frame_write_fd(-1, 1, AL_STR("x")), -1);
    assert_int_equal(errno, EBADF);
    struct pair p = make_pipe();
    close(p.in);
    void (*old)(int) = signal(SIGPIPE, SIG_IGN);
    assert_int_equal(al_frame_write_fd(p.out, 1, AL_STR("x")), -1);
    assert_int_equal(errno, EPIPE);
    signal(SIGPIPE, old);
    close(p.out);
}

static volatile sig_atomic_t n_signals;

static void on_signal(int sig)
{
    (void)sig;
    n_signals++;
}

/* A child writes a frame far larger than the pipe in pieces, and interrupts the reader before each. */
static void signals_and_partial_transfers_are_survived(void **state)
{
    (void)state;
    enum {
        N = 1 << 20
    };
    struct pair p = make_pipe();
    struct sigaction sa = {.sa_handler = on_signal}, old; /* no SA_RESTART */
    assert_int_equal(sigaction(SIGUSR1, &sa, &old), 0);
    n_signals = 0;
    pid_t parent = getpid(), pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char *payload = al_xmalloc(N);
        memset(payload, 'q', N);
        close(p.in);
        autobuf struct al_buf all = AL_BUF_INIT(N + AL_FRAME_HEADER);
        al_frame_put(&all, 6, (struct al_str){payload, N});
        for (size_t at = 0, len; at < all.n; at += len) {
            len = at < 16 ? 1 : all.n - at < 4000 ? all.n - at : 4000;
            kill(parent, SIGUSR1);
            if (write(p.out, all.p + at, len) != (ssize_t)len)
                _exit(1);
        }
        free(payload);
        _exit(0);
    }
    close(p.out);
    p.out = -1;
    autobuf struct al_buf got = AL_BUF_INIT(N);
    uint8_t type = 0;
    int r = al_frame_read_fd(p.in, N, &got, &type);
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    sigaction(SIGUSR1, &old, NULL);
    assert_int_equal(r, 1);
    assert_int_equal(status, 0);
    assert_int_equal(type, 6);
    assert_int_equal(got.n, N);
    assert_true(n_signals > 0);
    for (size_t i = 0; i < N; i += 997)
        assert_int_equal(got.p[i], 'q');
    close_pair(p);
}

/* A child reads slowly, in small pieces, and interrupts the writer each time. */
static void a_writer_finishes_despite_signals(void **state)
{
    (void)state;
    enum {
        N = 1 << 20
    };
    struct pair p = make_pipe();
    struct sigaction sa = {.sa_handler = on_signal}, old;
    assert_int_equal(sigaction(SIGUSR1, &sa, &old), 0);
    n_signals = 0;
    pid_t parent = getpid(), pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(p.out);
        static char bytes[3000];
        size_t total = 0;
        for (ssize_t r; (r = read(p.in, bytes, sizeof bytes)) > 0;) {
            total += (size_t)r;
            kill(parent, SIGUSR1);
        }
        _exit(total == N + AL_FRAME_HEADER ? 0 : 1);
    }
    autofree char *payload = al_xcalloc(1, N);
    close(p.in);
    int r = al_frame_write_fd(p.out, 1, (struct al_str){payload, N});
    close(p.out);
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    sigaction(SIGUSR1, &old, NULL);
    assert_int_equal(r, 0);
    assert_int_equal(status, 0);
    assert_true(n_signals > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_has_its_documented_bytes),
        cmocka_unit_test(a_frame_that_does_not_fit_leaves_no_half),
        cmocka_unit_test(frames_come_out_whole_whatever_the_pieces),
        cmocka_unit_test(a_broken_header_breaks_the_stream_for_good),
        cmocka_unit_test(a_payload_of_exactly_the_maximum_passes),
        cmocka_unit_test(bytes_that_nobody_takes_out_do_not_pile_up),
        cmocka_unit_test(an_announced_payload_takes_no_memory_yet),
        cmocka_unit_test(frames_pass_through_a_pipe),
        cmocka_unit_test(both_ends_speak_the_same_bytes),
        cmocka_unit_test(a_stream_that_ends_inside_a_frame_is_an_error),
        cmocka_unit_test(a_broken_header_is_refused_by_the_reader),
        cmocka_unit_test(failing_descriptors_give_their_errno),
        cmocka_unit_test(signals_and_partial_transfers_are_survived),
        cmocka_unit_test(a_writer_finishes_despite_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
