#include "test.h"

#include "pyrun_world.h"

#include "base/mem.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEY "project-0123456789ab"

static struct al_py_job new_job(struct pyrun_world *t, const char *id)
{
    struct al_py_job j;
    struct al_err err;
    if (al_py_job_new(t->state, KEY, "sess_1", id, &j, &err) < 0)
        fail_msg("%s (%s)", err.msg, err.detail);
    return j;
}

static void drop(struct al_py_job *j)
{
    al_py_job_remove(j);
    al_py_job_close(j);
}

static struct stat look(const struct al_py_job *j, const char *rel)
{
    struct stat st;
    assert_int_equal(fstatat(j->fd, rel, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st;
}

static int source(struct pyrun_world *t, struct al_str bytes)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/source", t->top);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(al_fd_write_all(fd, bytes), 0);
    return fd;
}

static char *content(const struct al_py_job *j, const char *rel, size_t *ret_n)
{
    struct al_buf b = AL_BUF_INIT(64u << 20);
    autofd int fd = openat(j->fd, rel, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(al_fd_read_all(fd, &b), 0);
    *ret_n = b.n;
    return al_buf_take(&b);
}

/* --- folders --- */

static void a_job_is_a_private_folder_with_its_parts(void **state)
{
    struct pyrun_world *t = *state;
    struct al_py_job j = new_job(t, "exec_1");
    assert_string_equal(j.rel, "analysis/jobs/" KEY "/sess_1/exec_1");
    autofree char *path = NULL;
    assert_true(asprintf(&path, "%s/%s", t->state, j.rel) > 0);
    assert_string_equal(j.path, path);
    const char *const parts[] = {".", "script", "input", "work", "staging", "logs"};
    for (size_t i = 0; i < 6; i++) {
        struct stat st = look(&j, parts[i]);
        assert_true(S_ISDIR(st.st_mode));
        assert_int_equal(st.st_mode & 022, 0);
        bool shown = geteuid() == 0 && (i == 1 || i == 2);
        assert_int_equal(st.st_mode & 0777, shown ? 0755 : 0700);
    }
    drop(&j);
}

static void a_job_is_made_once(void **state)
{
    struct pyrun_world *t = *state;
    struct al_err err;
    struct al_py_job j = new_job(t, "exec_1"), again;
    assert_int_equal(al_py_job_new(t->state, KEY, "sess_1", "exec_1", &again, &err), -1);
    assert_int_equal(err.code, AL_STATE_CONFLICT);
    assert_true(S_ISDIR(look(&j, "work").st_mode));
    drop(&j);
}

static void a_job_is_opened_again_until_it_is_removed(void **state)
{
    struct pyrun_world *t = *state;
    struct al_err err;
    struct al_py_job j = new_job(t, "exec_1"), again;
    assert_int_equal(al_py_job_write(&j, "job.json", AL_STR("{}"), &err), 0);
    al_py_job_close(&j);
    assert_int_equal(al_py_job_open(t->state, KEY, "sess_1", "exec_1", &again, &err), 0);
    autobuf struct al_buf b = AL_BUF_INIT(100);
    assert_int_equal(al_py_job_read(&again, "job.json", 100, &b, &err), 0);
    assert_true(al_str_is(al_buf_str(&b), "{}"));
    drop(&again);
    assert_int_equal(al_py_job_open(t->state, KEY, "sess_1", "exec_1", &again, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
}

static void a_link_on_the_way_is_refused(void **state)
{
    struct pyrun_world *t = *state;
    struct al_err err;
    struct al_py_job j;
    char path[512];
    snprintf(path, sizeof(path), "%s/analysis", t->state);
    assert_int_equal(symlink(t->top, path), 0);
    assert_int_equal(al_py_job_new(t->state, KEY, "sess_1", "exec_1", &j, &err), -1);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0755), 0); /* open to others */
    assert_int_equal(al_py_job_new(t->state, KEY, "sess_1", "exec_1", &j, &err), -1);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
}

static void an_id_is_no_path(void **state)
{
    struct pyrun_world *t = *state;
    const char *const bad[] = {"", ".", "..", "../x", "a/b", ".hidden", NULL};
    for (size_t i = 0; bad[i]; i++) {
        struct al_py_job j;
        struct al_err err;
        assert_int_equal(al_py_job_new(t->state, KEY, "sess_1", bad[i], &j, &err), -1);
        assert_int_equal(al_py_job_new(t->state, bad[i], "sess_1", "exec_1", &j, &err), -1);
        assert_int_equal(al_py_job_open(t->state, KEY, bad[i], "exec_1", &j, &err), -1);
        assert_int_equal(err.code, AL_INVALID_INPUT);
    }
}

static void removing_a_job_follows_no_link(void **state)
{
    struct pyrun_world *t = *state;
    struct al_py_job j = new_job(t, "exec_1");
    char canary[512];
    snprintf(canary, sizeof(canary), "%s/canary", t->top);
    assert_int_equal(mkdir(canary, 0700), 0);
    autofd int fd = open(canary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autofd int file = openat(fd, "kept", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(symlinkat(canary, j.fd, "work/away"), 0);
    drop(&j);
    struct stat st;
    assert_int_equal(fstatat(fd, "kept", &st, 0), 0);
}

/* --- our own files --- */

static void the_script_lies_beside_its_runtime(void **state)
{
    struct pyrun_world *t = *state;
    struct al_err err;
    struct al_py_job j = new_job(t, "exec_1");
    assert_int_equal(al_py_job_script(&j, AL_STR("print(1)\n"), &err), 0);
    size_t n;
    autofree char *code = content(&j, "script/main.py", &n);
    assert_string_equal(code, "print(1)\n");
    assert_int_equal(look(&j, "script/main.py").st_mode & 0222, 0);
    assert_true(look(&j, "script/alisio_runtime/__init__.py").st_size > 0);
    autofree char *chart = content(&j, "script/alisio_runtime/chart.umd.min.js", &n);
    assert_true(n > 100000);
    assert_non_null(strstr(chart, "Chart.js"));
    drop(&j);
}

static void what_is_read_is_bounded_and_no_link(void **state)
{
    struct pyrun_world *t = *state;
    struct al_err err;
    struct al_py_job j = new_job(t, "exec_1");
    autobuf struct al_buf b = AL_BUF_INIT(1000);
    assert_int_equal(al_py_job_write(&j, "input/inputs.json", AL_STR("[1, 2, 3]"), &err), 0);
    assert_int_equal(al_py_job_read(&j, "input/inputs.json", 9, &b, &err), 0);
    assert_int_equal(al_py_job_read(&j, "input/inputs.json", 8, &b, &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    assert_int_equal(al_py_job_write(&j, "input/inputs.json", AL_STR("[]"), &err), 0); /* anew */
    al_buf_clear(&b);
    assert_int_equal(al_py_job_read(&j, "input/inputs.json", 8, &b, &err), 0);
    assert_true(al_str_is(al_buf_str(&b), "[]"));
    assert_int_equal(symlinkat("/etc/passwd", j.fd, "work/x"), 0);
    assert_int_equal(al_py_job_read(&j, "work/x", 1000, &b, &err), -1);
    assert_int_equal(mkfifoat(j.fd, "work/fifo", 0600), 0);
    assert_int_equal(al_py_job_read(&j, "work/fifo", 1000, &b, &err), -1);
    drop(&j);
}

/* --- inputs --- */

static void an_input_is_copied_and_hashed(void **state)
{
    struct pyrun_world *t = *state;
    struct al_err err;
    struct al_py_job j = new_job(t, "exec_1");
    struct al_py_input in;
    autobuf struct al_buf big = AL_BUF_INIT(4u << 20);
    char hash[AL_SHA256_HEX];
    for (unsigned i = 0; i < 700000; i++)
        al_buf_addc(&big, (char)(i * 31 >> 3));
    al_sha256(al_buf_str(&big), hash);
    autofd int fd = source(t, al_buf_str(&big));
    assert_int_equal(al_py_job_input(&j, fd, AL_STR("sales.csv"), 1u << 20, &in, &err), 0);
    assert_string_equal(in.name, "sales.csv");
    assert_string_equal(in.sha256, hash);
    assert_int_equal(in.bytes, 700000);
    size_t n;
    autofree char *copy = content(&j, "input/sales.csv", &n);
    assert_int_equal(n, 700000);
    assert_memory_equal(copy, big.p, n);
    struct stat st = look(&j, "input/sales.csv"), src;
    assert_int_equal(fstat(fd, &src), 0);
    assert_true(st.st_ino != src.st_ino && st.st_nlink == 1);
    assert_int_equal(st.st_mode & 0777, geteuid() == 0 ? 0444 : 0400);
    autofd int none = source(t, AL_STR(""));
    assert_int_equal(al_py_job_input(&j, none, AL_STR("empty"), 0, &in, &err), 0);
    assert_int_equal(in.bytes, 0);
    drop(&j);
}

static void equal_names_are_counted(void **state)
{
    struct pyrun_world *t = *state;
    struct al_err err;
    struct al_py_job j = new_job(t, "exec_1");
    autofd int fd = source(t, AL_STR("x"));
    const char *const want[] = {"a.tar.gz", "a.tar-2.gz", "a.tar-3.gz"};
    for (size_t i = 0; i < 3; i++) {
        struct al_py_input in;
        assert_int_equal(al_py_job_input(&j, fd, AL_STR("a.tar.gz"), 10, &in, &err), 0);
        assert_string_equal(in.name, want[i]);
    }
    drop(&j);
}

static void names_are_made_safe(void **state)
{
    static const struct {
        const char *as, *name;
    } cases[] = {
        {"plain.csv", "plain.csv"},
        {"../../etc/passwd", "_.._etc_passwd"},
        {"..", "input"},
        {"", "input"},
        {".hidden", "hidden"},
        {"a/b\\c", "a_b_c"},
        {"tab\there\nthere", "tab_here_there"},
        {"b\xc3\xbc"
         "cher.csv",
         "b\xc3\xbc"
         "cher.csv"},
        {"bad\xff.csv", "bad_.csv"},
        {"gpj.\xe2\x80\xae"
         "exe",
         "gpj._exe"},
        {"inputs.json", "inputs-2.json"}, /* ours */
        {"Inputs.JSON", "Inputs-2.JSON"},
        {"-rf", "-rf"},
    };
    struct pyrun_world *t = *state;
    struct al_err err;
    autofd int fd = source(t, AL_STR("x"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct al_py_job j = new_job(t, "exec_1");
        struct al_py_input in;
        assert_int_equal(al_py_job_input(&j, fd, al_str_of(cases[i].as), 10, &in, &err), 0);
        assert_string_equal(in.name, cases[i].name);
        drop(&j);
    }
}

static void a_long_name_keeps_its_suffix(void **state)
{
    struct pyrun_world *t = *state;
    struct al_err err;
    struct al_py_job j = new_job(t, "exec_1");
    autofd int fd = source(t, AL_STR("x"));
    autobuf struct al_buf name = AL_BUF_INIT(4096);
    while (name.n < 1000)
        al_buf_adds(&name, "\xe2\x82\xac");
    al_buf_adds(&name, ".csv");
    for (int i = 0; i < 12; i++) {
        struct al_py_input in;
        assert_int_equal(al_py_job_input(&j, fd, al_buf_str(&name), 10, &in, &err), 0);
        size_t n = strlen(in.name);
        assert_true(n <= 255 && n > 245);
        assert_string_equal(in.name + n - 4, ".csv");
    }
    drop(&j);
}

static void only_regular_files_of_a_fit_size_are_inputs(void **state)
{
    struct pyrun_world *t = *state;
    struct al_err err;
    struct al_py_job j = new_job(t, "exec_1");
    struct al_py_input in;
    autofd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(al_py_job_input(&j, null, AL_STR("x"), 10, &in, &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    autofd int fd = source(t, AL_STR("12345678901"));
    assert_int_equal(al_py_job_input(&j, fd, AL_STR("big.txt"), 10, &in, &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    assert_non_null(strstr(err.msg, "big.txt"));
    struct stat st;
    assert_int_equal(fstatat(j.fd, "input/big.txt", &st, 0), -1);
    /* A sparse file of an impossible size costs nothing. */
    assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
    assert_int_equal(al_py_job_input(&j, fd, AL_STR("big.txt"), 1u << 20, &in, &err), -1);
    drop(&j);
}

static void a_file_that_changes_meanwhile_is_told(void **state)
{
    struct pyrun_world *t = *state;
    struct al_err err;
    struct al_py_job j = new_job(t, "exec_1");
    struct al_py_input in;
    autofd int fd = source(t, AL_STR("x"));
    assert_int_equal(ftruncate(fd, 64 << 20), 0);
    /* Another process touches it as long as it lives. */
    pid_t pid = fork();
    if (pid == 0) {
        for (;;)
            (void)!pwrite(fd, "y", 1, 5);
    }
    struct stat before, now;
    assert_int_equal(fstat(fd, &before), 0);
    do {
        assert_int_equal(fstat(fd, &now), 0);
    } while (now.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
    int r = al_py_job_input(&j, fd, AL_STR("x"), 1u << 30, &in, &err);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    struct stat st;
    if (r < 0) {
        assert_int_equal(err.code, AL_INVALID_INPUT);
        assert_non_null(strstr(err.msg, "changed while it was read"));
        assert_int_equal(fstatat(j.fd, "input/x", &st, 0), -1);
    } else {
        /* A clone is made at one moment: the change may have come before or after it. */
        assert_int_equal(in.bytes, 64 << 20);
    }
    drop(&j);
}

/* --- the user --- */

static void each_job_has_a_user_of_no_one(void **state)
{
    struct pyrun_world *t = *state;
    struct al_py_job a = new_job(t, "exec_1"), b = new_job(t, "exec_2");
    uid_t ua, ub, again;
    gid_t g;
    al_py_job_owner(&a, &ua, &g);
    al_py_job_owner(&b, &ub, &g);
    al_py_job_owner(&a, &again, &g);
    assert_true(ua >= 61184 && ua < 65520 && ub >= 61184 && ub < 65520);
    assert_true(ua != ub && ua == again);
    drop(&a);
    drop(&b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pyrun_world_set_up, pyrun_world_tear_down)

int main(int argc, char **argv)
{
    pyrun_world_enter(argc, argv);
    const struct CMUnitTest tests[] = {
        TEST(a_job_is_a_private_folder_with_its_parts),
        TEST(a_job_is_made_once),
        TEST(a_job_is_opened_again_until_it_is_removed),
        TEST(a_link_on_the_way_is_refused),
        TEST(an_id_is_no_path),
        TEST(removing_a_job_follows_no_link),
        TEST(the_script_lies_beside_its_runtime),
        TEST(what_is_read_is_bounded_and_no_link),
        TEST(an_input_is_copied_and_hashed),
        TEST(equal_names_are_counted),
        TEST(names_are_made_safe),
        TEST(a_long_name_keeps_its_suffix),
        TEST(only_regular_files_of_a_fit_size_are_inputs),
        TEST(a_file_that_changes_meanwhile_is_told),
        TEST(each_job_has_a_user_of_no_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
