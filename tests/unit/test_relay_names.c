/* Names and cursors of the gateway. */
#include "test.h"

#include "mcp/relay_pure.h"

#include <stdio.h>

static void check_name(const char *server, const char *prompt, const char *wanted)
{
    char name[AL_RELAY_NAME_MAX + 1];
    al_relay_prompt_name(al_str_of(server), al_str_of(prompt), name);
    assert_string_equal(name, wanted);
    assert_true(al_relay_prompt_of(al_str_of(server), al_str_of(name)));
}

static void a_prompt_is_named_after_its_server(void **state)
{
    (void)state;
    check_name("github", "review", "github_review");
    check_name("a-b", "x_y-z", "a-b_x_y-z");
}

static void a_changed_name_carries_a_hash_that_depends_on_both_names_alone(void **state)
{
    (void)state;
    char a[AL_RELAY_NAME_MAX + 1], b[AL_RELAY_NAME_MAX + 1], c[AL_RELAY_NAME_MAX + 1];
    al_relay_prompt_name(AL_STR("s"), AL_STR("a b"), a);
    al_relay_prompt_name(AL_STR("s"), AL_STR("a.b"), b);
    al_relay_prompt_name(AL_STR("s_"), AL_STR("b"), c);
    assert_int_equal(strlen(a), strlen("s_a_b_12345678"));
    assert_memory_equal(a, "s_a_b_", 6);
    assert_string_not_equal(a, b);
    assert_int_equal(strlen(c), strlen("s__b_12345678"));
}

static void long_names_fit_and_stay_apart(void **state)
{
    (void)state;
    char server[201], prompt[301], a[AL_RELAY_NAME_MAX + 1], b[AL_RELAY_NAME_MAX + 1];
    memset(server, 's', 200);
    memset(prompt, 'p', 300);
    server[200] = prompt[300] = 0;
    al_relay_prompt_name(al_str_of(server), al_str_of(prompt), a);
    prompt[299] = 'q';
    al_relay_prompt_name(al_str_of(server), al_str_of(prompt), b);
    assert_int_equal(strlen(a), AL_RELAY_NAME_MAX);
    assert_string_not_equal(a, b);
    assert_true(al_relay_prompt_of(al_str_of(server), al_str_of(a)));
}

static void a_name_belongs_to_servers_that_it_begins_with(void **state)
{
    (void)state;
    assert_true(al_relay_prompt_of(AL_STR("a"), AL_STR("a_b_c")));
    assert_true(al_relay_prompt_of(AL_STR("a_b"), AL_STR("a_b_c")));
    assert_false(al_relay_prompt_of(AL_STR("b"), AL_STR("a_b_c")));
    assert_false(al_relay_prompt_of(AL_STR("a"), AL_STR("a_")));
    assert_false(al_relay_prompt_of(AL_STR("a"), AL_STR("a")));
}

static void check_cursor(struct al_relay_cursor c)
{
    struct al_relay_cursor back = {0};
    autobuf struct al_buf text = AL_BUF_INIT(AL_RELAY_CURSOR_MAX);
    al_relay_cursor_write(&c, &text);
    assert_true(al_relay_cursor_read(al_buf_str(&text), &back));
    assert_true(al_str_eq(back.server, c.server));
    assert_int_equal(back.first, c.first);
    assert_true(al_str_eq(back.cursor, c.cursor));
}

static void a_cursor_comes_back_as_it_was(void **state)
{
    (void)state;
    check_cursor((struct al_relay_cursor){.server = AL_STR("github"), .first = true});
    check_cursor((struct al_relay_cursor){.server = AL_STR("github"), .cursor = AL_STR("")});
    check_cursor((struct al_relay_cursor){.server = AL_STR("a:=b"), .cursor = AL_STR("=3:{\"x\":1}")});
}

static void what_is_no_cursor_of_ours_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",       ":",     "x",      "0:",    "3:ab",          "-1:a",
                                        "01e1:a", "2:abc", "3:abcx", "1 :a=", "99999999999:a", "12345:a"};
    struct al_relay_cursor c;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(al_relay_cursor_read(al_str_of(wrong[i]), &c));
    autobuf struct al_buf huge = AL_BUF_INIT(1 << 20);
    al_buf_adds(&huge, "1:a=");
    memset(al_buf_grow(&huge, AL_RELAY_CURSOR_MAX), 'x', AL_RELAY_CURSOR_MAX);
    assert_false(al_relay_cursor_read(al_buf_str(&huge), &c));
}

static void a_template_begins_as_its_uris_do(void **state)
{
    (void)state;
    assert_true(al_str_is(al_relay_template_head(AL_STR("test://t/{id}/data")), "test://t/"));
    assert_true(al_str_is(al_relay_template_head(AL_STR("{+x}")), ""));
    assert_true(al_str_is(al_relay_template_head(AL_STR("a://b")), "a://b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_is_named_after_its_server),
        cmocka_unit_test(a_changed_name_carries_a_hash_that_depends_on_both_names_alone),
        cmocka_unit_test(long_names_fit_and_stay_apart),
        cmocka_unit_test(a_name_belongs_to_servers_that_it_begins_with),
        cmocka_unit_test(a_cursor_comes_back_as_it_was),
        cmocka_unit_test(what_is_no_cursor_of_ours_is_refused),
        cmocka_unit_test(a_template_begins_as_its_uris_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
