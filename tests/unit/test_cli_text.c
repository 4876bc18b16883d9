#include "test.h"

#include "base/text.h"

#include "cli/app.h"
#include "cli/run_text.h"
#include "cli/table.h"
#include "cli/term.h"

#include <string.h>

static void assert_text(const struct al_buf *b, const char *want)
{
    if (!al_str_is(al_buf_str(b), want))
        fail_msg("got:\n%.*s\nwanted:\n%s", AL_FMT(al_buf_str(b)), want);
}

static void words_are_quoted_for_a_shell_when_they_need_it(void **state)
{
    (void)state;
    static const struct {
        const char *word, *quoted;
    } cases[] = {{"plain", "plain"},
                 {"/a/b-c_d.js", "/a/b-c_d.js"},
                 {"", "''"},
                 {"two words", "'two words'"},
                 {"it's", "'it'\\''s'"},
                 {"$HOME", "'$HOME'"},
                 {"a;b", "'a;b'"},
                 {"ñ", "'ñ'"},
                 {"~", "'~'"},
                 {"new\nline", "'new\nline'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autobuf struct al_buf b = AL_BUF_INIT(1024);
        al_text_shell(&b, al_str_of(cases[i].word));
        assert_text(&b, cases[i].quoted);
    }
}

static void a_run_becomes_a_command_line(void **state)
{
    (void)state;
    char title[] = "a title", limits[] = "{\"timeoutMs\":500}";
    struct al_run run = {.id = "exec_1", .title = title, .limits = limits};
    autobuf struct al_buf b = AL_BUF_INIT(1 << 16);
    al_run_command(&b, &run, AL_STR("/w s"), AL_STR("return 'x'"), NULL);
    assert_text(&b, "alisio --cwd '/w s' js -e 'return '\\''x'\\''' --title 'a title' --timeout 500\n");
}

static void a_script_that_begins_with_a_dash_stays_a_value(void **state)
{
    (void)state;
    struct al_run run = {.id = "exec_1"};
    autobuf struct al_buf b = AL_BUF_INIT(1 << 16);
    al_run_command(&b, &run, AL_STR("/w"), AL_STR("--i"), NULL);
    assert_text(&b, "alisio --cwd /w js -e=--i\n");
}

static void a_long_script_comes_by_a_pipe(void **state)
{
    (void)state;
    struct al_run run = {.id = "exec_1"};
    autobuf struct al_buf b = AL_BUF_INIT(1 << 16), code = AL_BUF_INIT(1 << 16);
    for (int i = 0; i < 5000; i++)
        al_buf_addc(&code, ';');
    al_run_command(&b, &run, AL_STR("/w"), al_buf_str(&code), NULL);
    assert_text(&b, "alisio --cwd /w runs show exec_1 --code | alisio --cwd /w js -\n");
}

static void an_input_that_was_kept_is_part_of_the_command_line(void **state)
{
    (void)state;
    struct al_arena a = AL_ARENA_INIT(1 << 16);
    struct al_run run = {.id = "exec_1"};
    const struct al_json *record;
    struct al_err err;
    autobuf struct al_buf b = AL_BUF_INIT(1 << 16);
    assert_int_equal(al_json_parse(&a, AL_STR("{\"input\":{\"a\":[1]}}"), &record, &err), 0);
    al_run_command(&b, &run, AL_STR("/w"), AL_STR("1"), record);
    assert_text(&b, "alisio --cwd /w js -e 1 --input '{\"a\":[1]}'\n");
    al_arena_free(&a);
}

static const char *const heads[] = {"ID", "N", "TITLE", NULL};

static void fill(struct al_table *t)
{
    al_table_init(t, heads);
    t->fixed = 1;
    t->right = 1u << 1;
    al_table_add(t, "exec_1");
    al_table_add(t, "7");
    al_table_add(t, "a title that is rather long");
    al_table_add(t, "exec_22");
    al_table_add(t, "12");
    al_table_add(t, NULL);
}

static void a_table_in_a_pipe_is_never_cut(void **state)
{
    (void)state;
    struct al_app app = {0};
    autotable struct al_table t;
    autobuf struct al_buf b = AL_BUF_INIT(1 << 16);
    fill(&t);
    al_table_print(&app, &t, &b);
    assert_text(&b, "ID        N  TITLE\n"
                    "exec_1    7  a title that is rather long\n"
                    "exec_22  12  \n");
}

static void a_table_on_a_terminal_fits_and_keeps_ids_whole(void **state)
{
    (void)state;
    struct al_app app = {.tty = true, .width = 24};
    autotable struct al_table t;
    autobuf struct al_buf b = AL_BUF_INIT(1 << 16);
    fill(&t);
    al_table_print(&app, &t, &b);
    assert_text(&b, "ID        N  TITLE\n"
                    "exec_1    7  a title th…\n"
                    "exec_22  12  \n");
}

static void what_others_wrote_is_shown_not_obeyed_on_a_terminal(void **state)
{
    (void)state;
    struct al_app terminal = {.tty = true, .width = 80}, pipe = {0};
    autotable struct al_table t, p;
    autobuf struct al_buf b = AL_BUF_INIT(1 << 16), c = AL_BUF_INIT(1 << 16);
    al_table_init(&t, heads);
    al_table_init(&p, heads);
    for (int i = 0; i < 3; i++) {
        al_table_add(&t, "a\x1b[31mb\nc");
        al_table_add(&p, "a\x1b[31mb\nc");
    }
    al_table_print(&terminal, &t, &b);
    al_table_print(&pipe, &p, &c);
    assert_null(memchr(b.p, 0x1b, b.n));
    assert_non_null(memchr(c.p, 0x1b, c.n));
    /* One line a row in both. */
    size_t lines = 0;
    for (size_t i = 0; i < c.n; i++)
        lines += c.p[i] == '\n';
    assert_int_equal(lines, 2);
}

static void json_is_indented(void **state)
{
    (void)state;
    static const struct {
        const char *json, *want;
    } cases[] = {
        {"1e2", "1e2"},
        {"[]", "[]"},
        {"{}", "{}"},
        {"[1,[],{}]", "[\n  1,\n  [],\n  {}\n]"},
        {"{\"a\":{\"b\":[1,2]},\"c\":null}",
         "{\n  \"a\": {\n    \"b\": [\n      1,\n      2\n    ]\n  },\n  \"c\": null\n}"},
        {"[[[1]],2]", "[\n  [\n    [\n      1\n    ]\n  ],\n  2\n]"},
    };
    struct al_app app = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct al_arena a = AL_ARENA_INIT(1 << 16);
        const struct al_json *v;
        struct al_err err;
        autobuf struct al_buf b = AL_BUF_INIT(1 << 16);
        assert_int_equal(al_json_parse(&a, al_str_of(cases[i].json), &v, &err), 0);
        al_say_json(&app, &b, v);
        assert_text(&b, cases[i].want);
        al_arena_free(&a);
    }
}

static void the_deepest_json_that_is_read_is_indented_too(void **state)
{
    (void)state;
    struct al_app app = {0};
    struct al_arena a = AL_ARENA_INIT(1 << 20);
    autobuf struct al_buf text = AL_BUF_INIT(1 << 16), b = AL_BUF_INIT(1 << 20);
    for (int i = 0; i < AL_JSON_MAX_DEPTH; i++)
        al_buf_addc(&text, '[');
    for (int i = 0; i < AL_JSON_MAX_DEPTH; i++)
        al_buf_addc(&text, ']');
    const struct al_json *v;
    struct al_err err;
    assert_int_equal(al_json_parse(&a, al_buf_str(&text), &v, &err), 0);
    al_say_json(&app, &b, v);
    size_t open = 0, closed = 0;
    for (size_t i = 0; i < b.n; i++) {
        open += b.p[i] == '[';
        closed += b.p[i] == ']';
    }
    assert_int_equal(open, AL_JSON_MAX_DEPTH);
    assert_int_equal(closed, AL_JSON_MAX_DEPTH);
    al_arena_free(&a);
}

static void text_is_measured_in_columns(void **state)
{
    (void)state;
    assert_int_equal(al_term_columns(AL_STR("abc")), 3);
    assert_int_equal(al_term_columns(AL_STR("añb")), 3);
    assert_int_equal(al_term_columns(AL_STR("日本")), 4);
    assert_int_equal(al_term_columns(AL_STR("e\u0301")), 1);
    assert_int_equal(al_term_columns(AL_STR("\xff\xff")), 2);
    assert_int_equal(al_term_cut(AL_STR("日本語"), 5).n, 6);
    assert_int_equal(al_term_cut(AL_STR("abc"), 9).n, 3);
    assert_int_equal(al_term_cut(AL_STR("abc"), 0).n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_quoted_for_a_shell_when_they_need_it),
        cmocka_unit_test(a_run_becomes_a_command_line),
        cmocka_unit_test(a_script_that_begins_with_a_dash_stays_a_value),
        cmocka_unit_test(a_long_script_comes_by_a_pipe),
        cmocka_unit_test(an_input_that_was_kept_is_part_of_the_command_line),
        cmocka_unit_test(a_table_in_a_pipe_is_never_cut),
        cmocka_unit_test(a_table_on_a_terminal_fits_and_keeps_ids_whole),
        cmocka_unit_test(what_others_wrote_is_shown_not_obeyed_on_a_terminal),
        cmocka_unit_test(json_is_indented),
        cmocka_unit_test(the_deepest_json_that_is_read_is_indented_too),
        cmocka_unit_test(text_is_measured_in_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
