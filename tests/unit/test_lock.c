#include "os/lock.h"
#include "os_help.h"

#include <signal.h>
#include <sys/wait.h>

static struct tmp t;
static char lock_path[320];

static int setup(void **state)
{
    (void)state;
    tmp_make(&t);
    snprintf(lock_path, sizeof(lock_path), "%s/x.lock", t.path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tmp_remove(&t);
    return 0;
}

static void one_holder_at_a_time(void **state)
{
    (void)state;
    struct al_err err;
    int a = -1, b = -1;
    assert_int_equal(al_lock_is_free(lock_path), 0); /* no file */
    assert_int_equal(al_lock_try(lock_path, &a, &err), 1);
    assert_true(fcntl(a, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(al_lock_try(lock_path, &b, &err), 0);
    assert_int_equal(b, -1);
    assert_int_equal(al_lock_is_free(lock_path), 0);
    al_close(&a);
    assert_int_equal(al_lock_is_free(lock_path), 1);
    assert_int_equal(al_lock_try(lock_path, &b, &err), 1);
    al_close(&b);
    struct stat st;
    assert_int_equal(stat(lock_path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_killed_holder_lets_go(void **state)
{
    (void)state;
    struct al_err err;
    int p[2], fd = -1;
    char c;
    assert_int_equal(pipe(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (al_lock_try(lock_path, &fd, &err) != 1)
            _exit(1);
        (void)!write(p[1], "x", 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(p[0], &c, 1), 1);
    assert_int_equal(al_lock_try(lock_path, &fd, &err), 0);
    assert_int_equal(al_lock_is_free(lock_path), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(al_lock_is_free(lock_path), 1);
    assert_int_equal(al_lock_try(lock_path, &fd, &err), 1);
    close(fd);
    close(p[0]);
    close(p[1]);
}

static void a_lock_on_a_removed_file_does_not_count(void **state)
{
    (void)state;
    struct al_err err;
    int old = -1, new = -1;
    assert_int_equal(al_lock_try(lock_path, &old, &err), 1);
    unlink(lock_path);
    assert_int_equal(al_lock_try(lock_path, &new, &err), 1);
    close(old);
    close(new);
}

static void links_and_missing_folders_are_errors(void **state)
{
    (void)state;
    struct al_err err;
    char path[400];
    int fd = -1;
    snprintf(path, sizeof(path), "%s/target", t.path);
    assert_int_equal(symlink(path, lock_path), 0);
    assert_int_equal(al_lock_try(lock_path, &fd, &err), -1);
    assert_int_equal(al_lock_is_free(lock_path), -1);
    assert_int_equal(access(path, F_OK), -1);
    snprintf(path, sizeof(path), "%s/none/x.lock", t.path);
    assert_int_equal(al_lock_try(path, &fd, &err), -1);
    assert_null(strstr(err.msg, t.path)); /* the path is in the detail only */
    assert_non_null(strstr(err.detail, "x.lock"));
    assert_int_equal(fd, -1);
}

static void local_folders_are_not_network(void **state)
{
    (void)state;
    char path[400];
    snprintf(path, sizeof(path), "%s/not/made/yet", t.path);
    assert_int_equal(al_fs_is_network(path), al_fs_is_network(t.path));
    assert_false(al_fs_is_network("/proc"));
    assert_false(al_fs_is_network("/proc/none/none"));
    assert_false(al_fs_is_network(""));
    al_fs_is_network("relative-and-missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_holder_at_a_time, setup, teardown),
        cmocka_unit_test_setup_teardown(a_killed_holder_lets_go, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lock_on_a_removed_file_does_not_count, setup, teardown),
        cmocka_unit_test_setup_teardown(links_and_missing_folders_are_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(local_folders_are_not_network, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
