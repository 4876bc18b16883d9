#include "os_help.h"

#include <pthread.h>
#include <sys/wait.h>

static void close_sets_minus_one_and_keeps_errno(void **state)
{
    (void)state;
    int fd = open("/dev/null", O_RDONLY);
    errno = ELOOP;
    al_close(&fd);
    assert_int_equal(fd, -1);
    al_close(&fd);
    assert_int_equal(errno, ELOOP);
}

static void a_file_in_memory_has_its_size_and_runs_nothing(void **state)
{
    (void)state;
    autofd int fd = al_fd_memory("test", 4096);
    struct stat st;
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 4096);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(al_fd_memory("test", -1), -EINVAL);
}

static void read_all_takes_exactly_the_maximum_and_refuses_one_more(void **state)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 65535, 65536, 65537, 200000};
    struct tmp t;
    (void)state;
    tmp_make(&t);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char *bytes = al_xmalloc(sizes[i] + 1);
        memset(bytes, 'x', sizes[i]);
        bytes[sizes[i]] = 0;
        put_file(t.fd, "f", bytes);
        struct al_buf fits = AL_BUF_INIT(sizes[i]);
        autofd int fd = openat(t.fd, "f", O_RDONLY);
        assert_int_equal(al_fd_read_all(fd, &fits), 0);
        assert_int_equal(fits.n, sizes[i]);
        assert_true(sizes[i] == 0 || memcmp(fits.p, bytes, sizes[i]) == 0);
        if (sizes[i] > 0) {
            struct al_buf small = AL_BUF_INIT(sizes[i] - 1);
            lseek(fd, 0, SEEK_SET);
            assert_int_equal(al_fd_read_all(fd, &small), -EFBIG);
            al_buf_free(&small);
        }
        al_buf_free(&fits);
        free(bytes);
    }
    tmp_remove(&t);
}

static void read_all_appends_and_reports_errors(void **state)
{
    (void)state;
    struct al_buf b = AL_BUF_INIT(100);
    int p[2];
    assert_int_equal(pipe(p), 0);
    al_buf_adds(&b, "before ");
    assert_int_equal(write(p[1], "after", 5), 5);
    close(p[1]);
    assert_int_equal(al_fd_read_all(p[0], &b), 0);
    assert_true(al_str_is(al_buf_str(&b), "before after"));
    close(p[0]);
    assert_int_equal(al_fd_read_all(p[0], &b), -EBADF);
    assert_int_equal(b.n, 12);
    al_buf_free(&b);
}

static void *slow_reader(void *arg)
{
    int fd = *(int *)arg;
    char chunk[1000];
    size_t total = 0;
    for (ssize_t n; (n = read(fd, chunk, sizeof(chunk))) > 0;)
        total += (size_t)n;
    return (void *)total;
}

static void write_all_waits_where_a_non_blocking_pipe_is_full(void **state)
{
    (void)state;
    int p[2];
    void *total;
    pthread_t reader;
    assert_int_equal(pipe(p), 0);
    assert_int_equal(al_fd_nonblock(p[1]), 0);
    assert_int_equal(pthread_create(&reader, NULL, slow_reader, &p[0]), 0);
    size_t n = 3000001;
    char *bytes = al_xcalloc(1, n);
    assert_int_equal(al_fd_write_all(p[1], (struct al_str){bytes, n}), 0);
    close(p[1]);
    pthread_join(reader, &total);
    assert_int_equal((size_t)total, n);
    close(p[0]);
    free(bytes);
}

static void flags_are_added_and_others_stay(void **state)
{
    (void)state;
    int fd = open("/dev/null", O_WRONLY | O_APPEND);
    assert_int_equal(al_fd_cloexec(fd), 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(al_fd_nonblock(fd), 0);
    assert_true(fcntl(fd, F_GETFL) & O_APPEND);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    close(fd);
    assert_int_equal(al_fd_cloexec(fd), -EBADF);
    assert_int_equal(al_fd_nonblock(fd), -EBADF);
    assert_false(al_fd_is_tty(fd));
}

static void ensure_std_fills_what_is_closed(void **state)
{
    (void)state;
    for (int mask = 0; mask < 8; mask++) {
        pid_t pid = fork();
        if (pid == 0) {
            struct stat before[3], after;
            for (int fd = 0; fd < 3; fd++) {
                fstat(fd, &before[fd]);
                if (mask & (1 << fd))
                    close(fd);
            }
            al_fd_ensure_std();
            struct stat null;
            stat("/dev/null", &null);
            for (int fd = 0; fd < 3; fd++) {
                if (fstat(fd, &after) < 0)
                    _exit(10 + fd);
                ino_t want = mask & (1 << fd) ? null.st_ino : before[fd].st_ino;
                if (after.st_ino != want)
                    _exit(20 + fd);
            }
            _exit(0);
        }
        int st;
        assert_int_equal(waitpid(pid, &st, 0), pid);
        assert_int_equal(st, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_sets_minus_one_and_keeps_errno),
        cmocka_unit_test(a_file_in_memory_has_its_size_and_runs_nothing),
        cmocka_unit_test(read_all_takes_exactly_the_maximum_and_refuses_one_more),
        cmocka_unit_test(read_all_appends_and_reports_errors),
        cmocka_unit_test(write_all_waits_where_a_non_blocking_pipe_is_full),
        cmocka_unit_test(flags_are_added_and_others_stay),
        cmocka_unit_test(ensure_std_fills_what_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
