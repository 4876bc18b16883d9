#include "test.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

static void appends_add_up(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(1000);
    assert_true(al_str_is(al_buf_str(&b), ""));
    al_buf_add(&b, NULL, 0);
    al_buf_adds(&b, "one");
    al_buf_addc(&b, ' ');
    al_buf_add_str(&b, AL_STR("two"));
    al_buf_addf(&b, " %d%s", 3, "!");
    char *p = al_buf_grow(&b, 2);
    memcpy(p, "ab", 2);
    assert_true(al_str_is(al_buf_str(&b), "one two 3!ab"));
    assert_false(al_buf_failed(&b));
}

static void a_buffer_grows_to_its_maximum_and_no_further(void **state)
{
    (void)state;
    for (size_t max = 0; max < 300; max++) {
        autobuf struct al_buf b;
        al_buf_init(&b, max);
        for (size_t i = 0; i < max; i++)
            al_buf_addc(&b, 'x');
        assert_false(al_buf_failed(&b));
        assert_int_equal(b.n, max);
        assert_in_range(b.cap, 0, max + 1);
        al_buf_addc(&b, 'x');
        assert_true(al_buf_failed(&b));
        assert_int_equal(b.n, max);
    }
}

static void an_append_that_does_not_fit_adds_nothing(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(4);
    al_buf_adds(&b, "abc");
    al_buf_adds(&b, "de");
    assert_true(al_buf_failed(&b));
    assert_true(al_str_is(al_buf_str(&b), "abc"));
    /* Sticky: a shorter one that would fit is refused too, else the text would have a hole. */
    al_buf_addc(&b, 'f');
    al_buf_addf(&b, "%d", 1);
    assert_null(al_buf_grow(&b, 0));
    assert_true(al_str_is(al_buf_str(&b), "abc"));
    al_buf_clear(&b);
    assert_false(al_buf_failed(&b));
    al_buf_addf(&b, "%04d", 7);
    assert_true(al_str_is(al_buf_str(&b), "0007"));
    al_buf_addf(&b, "%d", 7);
    assert_true(al_buf_failed(&b));
    assert_true(al_str_is(al_buf_str(&b), "0007"));
}

static void sizes_that_would_wrap_are_refused(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(SIZE_MAX);
    al_buf_adds(&b, "x");
    assert_null(al_buf_grow(&b, SIZE_MAX));
    assert_true(al_buf_failed(&b));
    al_buf_clear(&b);
    assert_null(al_buf_grow(&b, SIZE_MAX - 1));
    al_buf_clear(&b);
    al_buf_adds(&b, "y");
    assert_true(al_str_is(al_buf_str(&b), "y"));
    autobuf struct al_buf small = AL_BUF_INIT(10);
    assert_null(al_buf_grow(&small, SIZE_MAX));
}

static void drop_forgets_the_front(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(100);
    al_buf_drop(&b, 5);
    al_buf_adds(&b, "abcdef");
    al_buf_drop(&b, 0);
    al_buf_drop(&b, 2);
    assert_true(al_str_is(al_buf_str(&b), "cdef"));
    al_buf_drop(&b, 100);
    assert_int_equal(b.n, 0);
    al_buf_adds(&b, "g");
    assert_true(al_str_is(al_buf_str(&b), "g"));
}

static void take_hands_over_a_terminated_text(void **state)
{
    (void)state;
    struct al_buf b = AL_BUF_INIT(8);
    char *p = al_buf_take(&b);
    assert_string_equal(p, "");
    free(p);
    al_buf_adds(&b, "12345678");
    p = al_buf_take(&b);
    assert_string_equal(p, "12345678");
    free(p);
    assert_null(b.p);
    assert_int_equal(b.n, 0);
    assert_int_equal(b.max, 8);
    al_buf_adds(&b, "again");
    al_buf_free(&b);
    assert_null(b.p);
    assert_int_equal(b.max, 8);
}

static void many_small_appends_cost_few_reallocations(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(1 << 20);
    unsigned moves = 0;
    size_t cap = 0;
    for (int i = 0; i < 1 << 20; i++) {
        al_buf_addc(&b, (char)i);
        moves += b.cap != cap;
        cap = b.cap;
    }
    assert_false(al_buf_failed(&b));
    assert_in_range(moves, 1, 16);
    for (int i = 0; i < 1 << 20; i += 4099)
        assert_int_equal(b.p[i], (char)i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_add_up),
        cmocka_unit_test(a_buffer_grows_to_its_maximum_and_no_further),
        cmocka_unit_test(an_append_that_does_not_fit_adds_nothing),
        cmocka_unit_test(sizes_that_would_wrap_are_refused),
        cmocka_unit_test(drop_forgets_the_front),
        cmocka_unit_test(take_hands_over_a_terminated_text),
        cmocka_unit_test(many_small_appends_cost_few_reallocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
