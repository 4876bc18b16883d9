#include "test.h"

#include "base/text.h"
#include "mcp/mcp_int.h"

#include <stdio.h>
#include <stdlib.h>

static struct al_str filler(struct al_buf *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        al_buf_addc(b, i % 71 == 70 ? '\n' : 'a' + (char)(i % 26));
    return al_buf_str(b);
}

static void text_within_the_limit_is_left_alone(void **state)
{
    (void)state;
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20);
    al_mcp_bound_text(AL_STR("grün\nok"), 7, &out);
    assert_true(al_str_is(al_buf_str(&out), "grün\nok"));
}

static void text_is_never_longer_than_the_limit(void **state)
{
    (void)state;
    autobuf struct al_buf text = AL_BUF_INIT(1 << 20);
    struct al_str all = filler(&text, 5000);
    for (size_t max = 80; max < 5200; max += 37) {
        autobuf struct al_buf out = AL_BUF_INIT(1 << 20);
        al_mcp_bound_text(all, max, &out);
        assert_true(al_utf8_count(al_buf_str(&out)) <= max);
        assert_true(al_utf8_valid(al_buf_str(&out)));
        if (max < 5000)
            assert_true(al_str_find(al_buf_str(&out), AL_STR("cut here")) >= 0);
    }
}

static void a_structured_value_fits_keeps_its_shape_and_says_that_it_was_cut(void **state)
{
    (void)state;
    autobuf struct al_buf json = AL_BUF_INIT(1 << 24);
    struct al_jw w;
    al_jw_init(&w, &json);
    al_jw_obj(&w);
    al_jw_kbool(&w, "truncated", false);
    al_jw_key(&w, "files");
    al_jw_arr(&w);
    for (int i = 0; i < 3000; i++) {
        al_jw_obj(&w);
        al_jw_kstrz(&w, "path", "src/some/file.c");
        al_jw_kint(&w, "line", i);
        al_jw_end(&w);
    }
    al_jw_end(&w);
    autobuf struct al_buf text = AL_BUF_INIT(1 << 20);
    al_jw_kstr(&w, "text", filler(&text, 100000));
    al_jw_end(&w);

    for (size_t max = 400; max < 200000; max = max * 3 / 2) {
        autobuf struct al_buf out = AL_BUF_INIT(1 << 24);
        al_mcp_bound_json(al_buf_str(&json), max, &out);
        assert_true(out.n > 0 && out.n <= max);
        autoarena struct al_arena arena = AL_ARENA_INIT(1 << 24);
        const struct al_json *v;
        struct al_err err;
        assert_int_equal(al_json_parse(&arena, al_buf_str(&out), &v, &err), 0);
        assert_int_equal(al_json_get(v, "files")->type, AL_JSON_ARRAY);
        assert_int_equal(al_json_get(v, "text")->type, AL_JSON_STRING);
        assert_true(al_json_is_true(al_json_get(v, "truncated")) == (out.n < json.n));
    }
}

static void a_value_with_too_many_members_is_left_out(void **state)
{
    (void)state;
    autobuf struct al_buf json = AL_BUF_INIT(1 << 24);
    struct al_jw w;
    al_jw_init(&w, &json);
    al_jw_obj(&w);
    for (int i = 0; i < 500; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        al_jw_kint(&w, key, i);
    }
    al_jw_end(&w);
    autobuf struct al_buf out = AL_BUF_INIT(1 << 24);
    al_mcp_bound_json(al_buf_str(&json), 300, &out);
    assert_int_equal(out.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_within_the_limit_is_left_alone),
        cmocka_unit_test(text_is_never_longer_than_the_limit),
        cmocka_unit_test(a_structured_value_fits_keeps_its_shape_and_says_that_it_was_cut),
        cmocka_unit_test(a_value_with_too_many_members_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
