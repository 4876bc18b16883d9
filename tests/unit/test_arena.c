#include "test.h"

#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 22);
    unsigned char *got[600];
    for (size_t i = 0; i < 600; i++) {
        size_t n = i * 7 % 3000;
        got[i] = al_arena_alloc(&a, n);
        assert_non_null(got[i]);
        assert_int_equal((uintptr_t)got[i] % alignof(max_align_t), 0);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(got[i][k], 0);
        memset(got[i], (int)(i % 251) + 1, n);
    }
    for (size_t i = 0; i < 600; i++) {
        for (size_t k = 0; k < i * 7 % 3000; k++)
            assert_int_equal(got[i][k], i % 251 + 1);
    }
}

static void texts_between_objects_leave_objects_aligned(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    for (int i = 0; i < 200; i++) {
        char *z = al_arena_dup(&a, AL_STR("odd"));
        assert_string_equal(z, "odd");
        double *d = al_arena_alloc(&a, sizeof *d);
        assert_int_equal((uintptr_t)d % alignof(max_align_t), 0);
        *d = 1.5;
        assert_string_equal(z, "odd");
    }
}

static void nothing_is_given_over_the_limit(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(100);
    assert_null(al_arena_alloc(&a, 101));
    assert_non_null(al_arena_alloc(&a, 64));
    assert_null(al_arena_alloc(&a, 64));
    assert_null(al_arena_dup(&a, AL_STR("123456789012345678901234567890123456")));
    assert_non_null(al_arena_dup(&a, AL_STR("12345678901234567890123456789012345")));
    assert_int_equal(a.used, 100);
    assert_null(al_arena_dup(&a, AL_STR("")));
    assert_null(al_arena_printf(&a, "%d", 1));
    assert_int_equal(a.used, 100);
}

static void huge_sizes_do_not_wrap(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(SIZE_MAX);
    for (size_t back = 0; back < 70; back++) {
        assert_null(al_arena_alloc(&a, SIZE_MAX - back));
        assert_null(al_arena_dup(&a, (struct al_str){"", SIZE_MAX - back}));
    }
    assert_int_equal(a.used, 0);
}

static void used_counts_each_allocation(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(1000);
    al_arena_alloc(&a, 0);
    assert_int_equal(a.used, 16);
    al_arena_alloc(&a, 17);
    assert_int_equal(a.used, 48);
    al_arena_dup(&a, AL_STR("abc"));
    assert_int_equal(a.used, 52);
}

static void a_freed_arena_starts_anew_with_the_same_limit(void **state)
{
    (void)state;
    struct al_arena a;
    al_arena_init(&a, 5000);
    assert_non_null(al_arena_alloc(&a, 4900));
    assert_null(al_arena_alloc(&a, 4900));
    al_arena_free(&a);
    assert_int_equal(a.used, 0);
    assert_int_equal(a.max, 5000);
    assert_non_null(al_arena_alloc(&a, 4900));
    al_arena_free(&a);
    al_arena_free(&a);
}

static void printf_and_dup_keep_their_text(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    char *p = al_arena_printf(&a, "%s-%05d", "x", 42);
    char *q = al_arena_printf(&a, "%*d", 10000, 1);
    char *r = al_arena_dup(&a, AL_STR("a\0b"));
    assert_string_equal(p, "x-00042");
    assert_int_equal(strlen(q), 10000);
    assert_memory_equal(r, "a\0b", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(texts_between_objects_leave_objects_aligned),
        cmocka_unit_test(nothing_is_given_over_the_limit),
        cmocka_unit_test(huge_sizes_do_not_wrap),
        cmocka_unit_test(used_counts_each_allocation),
        cmocka_unit_test(a_freed_arena_starts_anew_with_the_same_limit),
        cmocka_unit_test(printf_and_dup_keep_their_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
