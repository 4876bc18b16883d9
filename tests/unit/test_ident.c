#include "test.h"

#include "base/ident.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void ids_are_valid_and_rise(void **state)
{
    (void)state;
    char last[AL_ID_MAX], id[AL_ID_MAX];
    al_id_new(last, "exec_");
    for (int i = 0; i < 20000; i++) {
        al_id_new(id, "exec_");
        assert_int_equal(strlen(id), 31);
        assert_true(al_id_valid(al_str_of(id), "exec_"));
        assert_true(strcmp(last, id) < 0);
        memcpy(last, id, sizeof id);
    }
}

static void the_first_ten_digits_are_the_time(void **state)
{
    (void)state;
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    char id[AL_ID_MAX];
    int64_t before = al_wall_ms();
    al_id_new(id, "");
    int64_t after = al_wall_ms(), ms = 0;
    for (int i = 0; i < 10; i++)
        ms = ms * 32 + (strchr(digits, id[i]) - digits);
    /* Ids of one process never go back, so after a step of the clock they run ahead of it. */
    assert_true(ms >= before);
    if (after >= before)
        assert_true(ms <= after);
}

static void a_prefix_may_lack_its_line(void **state)
{
    (void)state;
    char id[AL_ID_MAX];
    al_id_new(id, "ses");
    assert_memory_equal(id, "ses_", 4);
    assert_true(al_id_valid(al_str_of(id), "ses"));
    assert_true(al_id_valid(al_str_of(id), "ses_"));
    assert_false(al_id_valid(al_str_of(id), "exec_"));
    al_id_new(id, "");
    assert_int_equal(strlen(id), 26);
    assert_true(al_id_valid(al_str_of(id), ""));
    al_id_new(id, "thirteenchar_");
    assert_true(al_id_valid(al_str_of(id), "thirteenchar_"));
}

static void foreign_ids_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct al_str id;
        bool want;
    } cases[] = {
        {AL_S("art_01ARZ3NDEKTSV4RRFFQ69G5FAV"), true},
        {AL_S("art_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"), true},
        {AL_S("art_8ZZZZZZZZZZZZZZZZZZZZZZZZZ"), false}, /* over 128 bits */
        {AL_S("art_01ARZ3NDEKTSV4RRFFQ69G5FA"), false},
        {AL_S("art_01ARZ3NDEKTSV4RRFFQ69G5FAVX"), false},
        {AL_S("art_01arz3ndektsv4rrffq69g5fav"), false},
        {AL_S("art_01ARZ3NDEKTSV4RRFFQ69G5FAI"), false}, /* I, L, O, U are no digits */
        {AL_S("art_01ARZ3NDEKTSV4RRFFQ69G5FAU"), false},
        {AL_S("art_01ARZ3NDEKTSV4RRFFQ69G5F/V"), false},
        {AL_S("art_01ARZ3NDEKTSV4RRFFQ69G5FA\0"), false},
        {AL_S("ds__01ARZ3NDEKTSV4RRFFQ69G5FAV"), false},
        {AL_S(""), false},
        {{NULL, 0}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(al_id_valid(cases[i].id, "art_"), cases[i].want);
}

/* The child makes its id within the same millisecond as the parent more often than not. */
static void a_forked_child_does_not_repeat_ids(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        char mine[AL_ID_MAX], theirs[AL_ID_MAX] = "";
        int fds[2];
        al_id_new(mine, "a_");
        assert_int_equal(pipe(fds), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            al_id_new(theirs, "a_");
            _exit(write(fds[1], theirs, sizeof theirs) == sizeof theirs ? 0 : 1);
        }
        al_id_new(mine, "a_");
        assert_int_equal(read(fds[0], theirs, sizeof theirs), sizeof theirs);
        int status = -1;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        close(fds[0]);
        close(fds[1]);
        assert_string_not_equal(mine, theirs);
    }
}

static void random_bytes_differ(void **state)
{
    (void)state;
    unsigned char a[4096] = {0}, b[4096] = {0};
    al_random(a, sizeof a);
    al_random(b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
    bool seen[256] = {false};
    unsigned distinct = 0;
    for (size_t i = 0; i < sizeof a; i++) {
        distinct += !seen[a[i]];
        seen[a[i]] = true;
    }
    assert_in_range(distinct, 200, 256);
    al_random(NULL, 0);
}

static void clocks_run_forward(void **state)
{
    (void)state;
    uint64_t a = al_mono_ns(), b = al_mono_ns();
    assert_true(b >= a);
    assert_true(al_mono_ms() >= a / 1000000);
    assert_true(al_wall_ms() > 1600000000000);
}

static void iso_time_is_utc_with_milliseconds(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *want;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1769860800000, "2026-01-31T12:00:00.000Z"},
        {1709208000007, "2024-02-29T12:00:00.007Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {-1000, "1969-12-31T23:59:59.000Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[AL_TIME_MAX];
        al_time_iso(out, cases[i].ms);
        assert_string_equal(out, cases[i].want);
    }
    char out[AL_TIME_MAX];
    al_time_iso(out, INT64_MAX);
    assert_true(strlen(out) < AL_TIME_MAX);
    al_time_iso(out, INT64_MIN);
    assert_true(strlen(out) < AL_TIME_MAX);
}

static void local_time_follows_the_zone(void **state)
{
    (void)state;
    char out[AL_TIME_MAX];
    const char *tz = getenv("TZ");
    char *old = tz ? strdup(tz) : NULL;
    setenv("TZ", "XXX-1", 1); /* one hour east */
    al_time_local(out, 1769860800999);
    assert_string_equal(out, "2026-01-31 13:00:00");
    setenv("TZ", "XXX5", 1);
    al_time_local(out, 1769860800999);
    assert_string_equal(out, "2026-01-31 07:00:00");
    if (old)
        setenv("TZ", old, 1);
    else
        unsetenv("TZ");
    free(old);
}

/* FIPS 180-4 examples. */
static void sha256_gives_the_published_sums(void **state)
{
    (void)state;
    char sum[AL_SHA256_HEX];
    al_sha256(AL_STR(""), sum);
    assert_string_equal(sum, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    al_sha256((struct al_str){NULL, 0}, sum);
    assert_string_equal(sum, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    al_sha256(AL_STR("abc"), sum);
    assert_string_equal(sum, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    char thousand[1000];
    memset(thousand, 'a', sizeof thousand);
    struct al_sha256 *h = al_sha256_new();
    for (int i = 0; i < 1000; i++)
        al_sha256_add(h, thousand, sizeof thousand);
    al_sha256_end(h, sum);
    assert_string_equal(sum, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void workspace_keys_name_the_folder_and_tell_paths_apart(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"/home/me/My Project!", "my-project-"},
        {"/", "root-"},
        {"/srv/\xc3\xa4\xc3\xb6", "root-"},
        {"/a/..b__c", "b-c-"},
        {"/a/b/", "b-"},
        {"/x/0123456789012345678901234567890123456789", "01234567890123456789012345678901-"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char key[AL_WORKSPACE_KEY_MAX], sum[AL_SHA256_HEX], want[64];
        al_workspace_key(key, cases[i][0]);
        al_sha256(al_str_of(cases[i][0]), sum);
        snprintf(want, sizeof want, "%s%.12s", cases[i][1], sum);
        assert_string_equal(key, want);
    }
    char a[AL_WORKSPACE_KEY_MAX], b[AL_WORKSPACE_KEY_MAX];
    al_workspace_key(a, "/one/app");
    al_workspace_key(b, "/two/app");
    assert_string_not_equal(a, b);
}

/* A child of its own per case, because the environment is read once. */
static void run_log_case(const char *level, const char *trace, const char *file)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        unsetenv("ALISIO_LOG_LEVEL");
        unsetenv("ALISIO_TRACE");
        if (level)
            setenv("ALISIO_LOG_LEVEL", level, 1);
        if (trace)
            setenv("ALISIO_TRACE", trace, 1);
        setenv("ALISIO_LOG_FILE", file, 1);
        errno = EINTR;
        al_log(AL_LOG_ERROR, "wire", "E %s", "\x1b[2J\nsecond");
        al_log(AL_LOG_INFO, "wire", "I");
        al_trace("wire", "T wire");
        al_trace("wir", "T wir");
        bool ok = errno == EINTR && al_log_on(AL_LOG_ERROR, "x") == (!level || strcmp(level, "off") != 0);
        _exit(ok ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void the_log_writes_what_was_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *level, *trace;
        bool e, i, t;
    } cases[] = {
        {NULL, NULL, true, false, false},        {"off", NULL, false, false, false},
        {"info", NULL, true, true, false},       {"debug", NULL, true, true, false},
        {"nonsense", "wire", true, false, true}, {"error", "sandbox,wire", true, false, true},
        {"error", "wire2", true, false, false},
    };
    const char *tmp = getenv("TMPDIR");
    char dir[512], path[600];
    snprintf(dir, sizeof dir, "%s/alisio-test-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/log", dir);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2000] = "";
        run_log_case(cases[i].level, cases[i].trace, path);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_true(read(fd, text, sizeof text - 1) >= 0);
        close(fd);
        unlink(path);
        assert_int_equal(strstr(text, "error wire: E \\x1b[2J\\nsecond\n") != NULL, cases[i].e);
        assert_int_equal(strstr(text, "info wire: I\n") != NULL, cases[i].i);
        assert_int_equal(strstr(text, "trace wire: T wire\n") != NULL, cases[i].t);
        assert_null(strstr(text, "T wir\n"));
    }
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_log_writes_what_was_asked_for), /* first: forks before the log is set up */
        cmocka_unit_test(ids_are_valid_and_rise),
        cmocka_unit_test(the_first_ten_digits_are_the_time),
        cmocka_unit_test(a_prefix_may_lack_its_line),
        cmocka_unit_test(foreign_ids_are_refused),
        cmocka_unit_test(a_forked_child_does_not_repeat_ids),
        cmocka_unit_test(random_bytes_differ),
        cmocka_unit_test(clocks_run_forward),
        cmocka_unit_test(iso_time_is_utc_with_milliseconds),
        cmocka_unit_test(local_time_follows_the_zone),
        cmocka_unit_test(sha256_gives_the_published_sums),
        cmocka_unit_test(workspace_keys_name_the_folder_and_tell_paths_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
