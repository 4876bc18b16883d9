#include "test.h"

#include "base/mem.h"
#include "base/str.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void starts_and_ends_compare_whole_affixes(void **state)
{
    (void)state;
    struct al_str s = AL_STR("exec_1");
    assert_true(al_str_starts(s, "exec_"));
    assert_true(al_str_starts(s, ""));
    assert_true(al_str_starts(s, "exec_1"));
    assert_false(al_str_starts(s, "exec_12"));
    assert_false(al_str_starts(s, "Exec"));
    assert_true(al_str_ends(s, "_1"));
    assert_true(al_str_ends(s, ""));
    assert_false(al_str_ends(s, "_2"));
    assert_false(al_str_ends(s, "xexec_1"));
    struct al_str none = {NULL, 0};
    assert_true(al_str_starts(none, ""));
    assert_true(al_str_ends(none, ""));
    assert_false(al_str_starts(none, "a"));
}

static void equality_counts_bytes_not_zeros(void **state)
{
    (void)state;
    assert_true(al_str_eq(AL_STR("a\0b"), AL_STR("a\0b")));
    assert_false(al_str_eq(AL_STR("a\0b"), AL_STR("a\0c")));
    assert_true(al_str_eq((struct al_str){NULL, 0}, AL_STR("")));
    assert_true(al_str_is(AL_STR("abc"), "abc"));
    assert_false(al_str_is(AL_STR("abc"), "ab"));
    assert_int_equal(al_str_of(NULL).n, 0);
}

static void order_is_by_unsigned_bytes_then_length(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int want;
    } cases[] = {
        {"", "", 0},    {"a", "", 1},     {"", "a", -1},      {"a", "b", -1},
        {"ab", "a", 1}, {"\xc3", "a", 1}, {"abc", "abd", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(al_str_cmp(al_str_of(cases[i].a), al_str_of(cases[i].b)), cases[i].want);
}

static void trim_takes_white_space_off_both_ends(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {" a b\t\n", "a b"}, {"", ""}, {" \r\n\v\f ", ""}, {"a", "a"}, {"\xc2\xa0x", "\xc2\xa0x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_true(al_str_is(al_str_trim(al_str_of(cases[i][0])), cases[i][1]));
}

static void find_gives_the_first_place(void **state)
{
    (void)state;
    assert_int_equal(al_str_find(AL_STR("banana"), AL_STR("an")), 1);
    assert_int_equal(al_str_find(AL_STR("banana"), AL_STR("")), 0);
    assert_int_equal(al_str_find(AL_STR(""), AL_STR("")), 0);
    assert_int_equal(al_str_find(AL_STR("banana"), AL_STR("nab")), -1);
    assert_int_equal(al_str_find(AL_STR("a"), AL_STR("aa")), -1);
    assert_int_equal(al_str_find(AL_STR("a\0b"), AL_STR("\0b")), 1);
    assert_int_equal(al_str_find((struct al_str){NULL, 0}, AL_STR("x")), -1);
}

static void glob_matches_the_whole_text(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool want;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "a/b", true},
        {"**", "x", true},
        {"a*", "abc", true},
        {"a*c", "abcbc", true},
        {"a*c", "abcb", false},
        {"*.json", ".json", true},
        {"*.json", "a.jsonl", false},
        {"?", "a", true},
        {"?", "", false},
        {"?", "\xc3\xa4", true}, /* one character of two bytes */
        {"?", "\xff", true},     /* an invalid byte is one */
        {"??", "\xc3\xa4", false},
        {"[a-c]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"[!a-c]x", "dx", true},
        {"[^a-c]x", "ax", false},
        {"[]]", "]", true},
        {"[!]]", "]", false},
        {"[a-]", "-", true},
        {"[\xc3\xa0-\xc3\xbf]", "\xc3\xa4", true},
        {"[ab", "[ab", true}, /* no set without its end */
        {"[", "[", true},
        {"[ab", "a", false},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"a\\", "a\\", true},
        {"*[0-9]*?", "ab1c", true},
        {"*[0-9]*?", "abc1", false},
        {"A", "a", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (al_str_glob(cases[i].pattern, al_str_of(cases[i].text)) != cases[i].want)
            fail_msg("%s against %s", cases[i].pattern, cases[i].text);
    }
}

static void glob_with_many_stars_stays_polynomial(void **state)
{
    (void)state;
    enum {
        N = 20000
    };
    autofree char *text = al_xmalloc(N);
    memset(text, 'a', N);
    assert_false(al_str_glob("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", (struct al_str){text, N}));
    assert_true(al_str_glob("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a", (struct al_str){text, N}));
}

static void distance_counts_single_slips(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        unsigned want;
    } cases[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"abc", "abc", 0},
        {"abc", "abd", 1},
        {"abc", "acb", 1},
        {"ca", "abc", 3},
        {"kitten", "sitting", 3},
        {"read_fiel", "read_file", 1},
        {"timeoutMs", "timeout", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(al_str_distance(al_str_of(cases[i].a), al_str_of(cases[i].b)), cases[i].want);
        assert_int_equal(al_str_distance(al_str_of(cases[i].b), al_str_of(cases[i].a)), cases[i].want);
    }
}

static void distance_looks_at_64_bytes_a_side(void **state)
{
    (void)state;
    char a[200], b[200];
    memset(a, 'x', sizeof a);
    memset(b, 'x', sizeof b);
    memset(b + 64, 'y', sizeof b - 64);
    assert_int_equal(al_str_distance((struct al_str){a, 200}, (struct al_str){b, 200}), 0);
    memset(b, 'y', sizeof b);
    assert_int_equal(al_str_distance((struct al_str){a, 200}, (struct al_str){b, 200}), 64);
    assert_int_equal(al_str_distance((struct al_str){a, 200}, AL_STR("")), 64);
}

static void heap_copies_end_with_a_zero(void **state)
{
    (void)state;
    autofree char *a = al_xdup("ab\0cd", 4);
    assert_memory_equal(a, "ab\0c", 5);
    autofree char *b = al_xdup(NULL, 0);
    assert_string_equal(b, "");
    autofree char *c = al_xstrdup("text");
    assert_string_equal(c, "text");
    autofree char *d = al_xstrdup(NULL);
    assert_string_equal(d, "");
    autofree char *e = al_xcalloc(0, 8);
    assert_non_null(e);
    autofree int *f = al_xcalloc(4, sizeof *f);
    assert_int_equal(f[0] | f[1] | f[2] | f[3], 0);
    f = al_xrealloc(f, 100);
    assert_non_null(f);
}

/* What the child writes to standard error, where it is sent away from the test's own output. */
static void memory_that_is_not_there_ends_the_process_with_a_message(void **state)
{
    (void)state;
    int fds[2], status = -1;
    char text[200] = "";
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(fds[1], 2);
        signal(SIGABRT, SIG_DFL); /* cmocka's and the sanitizers' handlers stay out of it */
        char *p = al_xdup("", SIZE_MAX);
        _exit(p != NULL);
    }
    close(fds[1]);
    assert_true(read(fds[0], text, sizeof text - 1) > 0);
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "alisio: out of memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_and_ends_compare_whole_affixes),
        cmocka_unit_test(equality_counts_bytes_not_zeros),
        cmocka_unit_test(order_is_by_unsigned_bytes_then_length),
        cmocka_unit_test(trim_takes_white_space_off_both_ends),
        cmocka_unit_test(find_gives_the_first_place),
        cmocka_unit_test(glob_matches_the_whole_text),
        cmocka_unit_test(glob_with_many_stars_stays_polynomial),
        cmocka_unit_test(distance_counts_single_slips),
        cmocka_unit_test(distance_looks_at_64_bytes_a_side),
        cmocka_unit_test(heap_copies_end_with_a_zero),
        cmocka_unit_test(memory_that_is_not_there_ends_the_process_with_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
