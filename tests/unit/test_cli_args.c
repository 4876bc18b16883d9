#include "test.h"

#include "cli/args.h"

#include <stdio.h>
#include <string.h>

#define MAX_WORDS 80

/* One line of words separated by '|', so that a case reads as it is typed. */
struct line {
    char text[2048];
    char *argv[MAX_WORDS];
    int argc;
    struct al_args args;
    struct al_err err;
};

static int parse(struct line *l, const char *words)
{
    memset(l, 0, sizeof *l);
    snprintf(l->text, sizeof l->text, "alisio|%s", words);
    if (!*words)
        snprintf(l->text, sizeof l->text, "alisio");
    for (char *p = l->text; p;) {
        char *end = strchr(p, '|');
        if (end)
            *end = 0;
        assert_true(l->argc < MAX_WORDS);
        l->argv[l->argc++] = p;
        p = end ? end + 1 : NULL;
    }
    return al_args_parse(l->argc, l->argv, &l->args, &l->err);
}

static void a_line_without_words_names_no_command(void **state)
{
    (void)state;
    struct line l;
    assert_int_equal(parse(&l, ""), 0);
    assert_null(l.args.command);
    assert_null(l.args.group);
}

static void lines_that_are_fine(void **state)
{
    (void)state;
    static const struct {
        const char *words, *command;
        enum al_flag_id flag;
        const char *value, *first;
    } cases[] = {
        {"js|-e|1 + 1", "js", AL_FLAG_EVAL, "1 + 1", NULL},
        {"js|-e=1 + 1", "js", AL_FLAG_EVAL, "1 + 1", NULL},
        {"js|-e1", "js", AL_FLAG_EVAL, "1", NULL},
        {"js|-e|", "js", AL_FLAG_EVAL, "", NULL},
        {"js|a.js|--input|{\"a\":1}", "js", AL_FLAG_INPUT, "{\"a\":1}", "a.js"},
        {"js|--input=[1,2]|a.js", "js", AL_FLAG_INPUT, "[1,2]", "a.js"},
        {"js|--title|", "js", AL_FLAG_TITLE, "", NULL},
        {"js|--title=--json|-", "js", AL_FLAG_TITLE, "--json", "-"},
        {"--json|js|-", "js", AL_FLAG_JSON, "", "-"},
        {"js|-|--json", "js", AL_FLAG_JSON, "", "-"},
        {"--cwd|/tmp|runs|list", "runs list", AL_FLAG_CWD, "/tmp", NULL},
        {"runs|--cwd=/tmp|list", "runs list", AL_FLAG_CWD, "/tmp", NULL},
        {"runs|logs|last|-f", "runs logs", AL_FLAG_FOLLOW, "", "last"},
        {"config|set|forge.javascript.timeoutMs|-1", "config set", AL_FLAG_END, NULL,
         "forge.javascript.timeoutMs"},
        {"tool|call|shell|--|-x", "tool call", AL_FLAG_END, NULL, "shell"},
        {"mcp|--expose|files,process", "mcp", AL_FLAG_EXPOSE, "files,process", NULL},
        {"mcp", "mcp", AL_FLAG_END, NULL, NULL},
        {"-V", NULL, AL_FLAG_VERSION, "", NULL},
        {"-hV", NULL, AL_FLAG_HELP, "", NULL},
        {"js|-h", "js", AL_FLAG_HELP, "", NULL},
        {"runs|--help", NULL, AL_FLAG_HELP, "", NULL},
        {"runs|show|-h", "runs show", AL_FLAG_HELP, "", NULL},
        {"help|runs|show", "help", AL_FLAG_END, NULL, "runs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct line l;
        if (parse(&l, cases[i].words) != 0)
            fail_msg("%s: %s", cases[i].words, l.err.msg);
        if (cases[i].command) {
            assert_non_null(l.args.command);
            assert_string_equal(l.args.command->name, cases[i].command);
        } else {
            assert_null(l.args.command);
        }
        if (cases[i].flag != AL_FLAG_END)
            assert_string_equal(l.args.value[cases[i].flag], cases[i].value);
        if (cases[i].first)
            assert_string_equal(l.args.pos[0], cases[i].first);
        else
            assert_int_equal(l.args.n_pos, 0);
    }
}

static void lines_that_are_refused_say_what_and_what_next(void **state)
{
    (void)state;
    static const struct {
        const char *words, *message, *hint;
    } cases[] = {
        {"jss", "unknown command: jss", "did you mean `alisio js`?"},
        {"doctr", "unknown command: doctr", "did you mean `alisio doctor`?"},
        {"conf", "unknown command: conf", "did you mean `alisio config`?"},
        {"qqqqqqqq", "unknown command: qqqqqqqq", "`alisio help` lists the commands"},
        {"runs show|last", "unknown command: runs show", "two words: `alisio runs show`"},
        {"runs|shwo|last", "unknown command: runs shwo", "did you mean `alisio runs show`?"},
        {"runs|zzzzzzzz", "unknown command: runs zzzzzzzz", "`alisio runs --help`"},
        {"runs", "`alisio runs` needs a second word", "`alisio runs --help`"},
        {"runs|show", "`alisio runs show` needs more", "usage: alisio runs show EXEC_ID|last"},
        {"runs|show|last|more", "does not know what to do with \"more\"", "usage: alisio runs show"},
        {"js|--jsno|-", "unknown flag: --jsno", "did you mean --json?"},
        {"js|-json|-", "unknown flag: -json", "did you mean --json?"},
        {"js|-qf", "unknown flag: -qf", "`alisio js --help`"},
        {"--wrong-altogether", "unknown flag: --wrong-altogether", "`alisio --help`"},
        {"js|-|--probe", "--probe is no flag of `alisio js`", "`alisio js --help`"},
        {"js|-|-f", "-f is no flag of `alisio js`", "`alisio js --help`"},
        {"-e|1|js", "-e stands before the command", "after the command"},
        {"js|-e", "-e needs a value", "write -e CODE"},
        {"js|--title", "--title needs a value", "write --title T"},
        {"js|--title|--json", "--title needs a value", "--title=--json"},
        {"js|--title|--|x", "--title needs a value", "--title T"},
        {"js|--title|a|--title|b", "--title is given twice", "once"},
        {"js|--json=yes|-", "--json takes no value", "--json"},
        {"js|--timeout|soon|-", "soon is no value for --timeout", "a whole number from 1 to 900000"},
        {"js|--timeout|0|-", "0 is no value for --timeout", "a whole number"},
        {"js|--timeout|900001|-", "900001 is no value for --timeout", "a whole number"},
        {"js|--timeout|9999999999999999999|-", "is no value for --timeout", "a whole number"},
        {"--cwd||js|-", "--cwd has an empty value", "write --cwd DIR"},
        {"--cwd=|js|-", "--cwd has an empty value", "write --cwd DIR"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct line l;
        assert_int_equal(parse(&l, cases[i].words), -1);
        assert_int_equal(l.err.code, AL_INVALID_INPUT);
        if (!strstr(l.err.msg, cases[i].message) || !strstr(l.err.hint, cases[i].hint))
            fail_msg("%s gives \"%s\", hint \"%s\"", cases[i].words, l.err.msg, l.err.hint);
    }
}

static void json_is_noted_wherever_a_failing_line_has_it(void **state)
{
    (void)state;
    static const char *const with[] = {"--json|jss", "jss|--json", "js|--jsno|--json", "runs|--json"};
    static const char *const without[] = {"jss", "js|--jsno|--|--json"};
    struct line l;
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        assert_int_equal(parse(&l, with[i]), -1);
        assert_true(al_args_has(&l.args, AL_FLAG_JSON));
    }
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        assert_int_equal(parse(&l, without[i]), -1);
        assert_false(al_args_has(&l.args, AL_FLAG_JSON));
    }
}

static void added_folders_are_kept_in_order_up_to_a_limit(void **state)
{
    (void)state;
    struct line l;
    assert_int_equal(parse(&l, "--add-dir|a|js|-|--add-dir=b|--add-dir|c"), 0);
    assert_int_equal(l.args.n_list[AL_LIST_DIRS], 3);
    assert_string_equal(l.args.list[AL_LIST_DIRS][0], "a");
    assert_string_equal(l.args.list[AL_LIST_DIRS][2], "c");
    assert_null(l.args.list[AL_LIST_DIRS][3]);
    char words[2048] = "help";
    for (int i = 0; i < 66; i++)
        strncat(words, "|--add-dir=x", sizeof words - strlen(words) - 1);
    assert_int_equal(parse(&l, words), -1);
    assert_non_null(strstr(l.err.msg, "more than 64 times"));
}

static void a_value_that_may_be_missing_is_written_with_the_flag(void **state)
{
    (void)state;
    struct line l;
    assert_int_equal(parse(&l, "js|--allow-mcp|-|--allow-mcp=s.get_*|--allow-mcp="), 0);
    assert_int_equal(l.args.n_pos, 1);
    assert_int_equal(l.args.n_list[AL_LIST_ALLOW_MCP], 3);
    assert_string_equal(l.args.list[AL_LIST_ALLOW_MCP][0], "");
    assert_string_equal(l.args.list[AL_LIST_ALLOW_MCP][1], "s.get_*");
    assert_string_equal(l.args.list[AL_LIST_ALLOW_MCP][2], "");
}

static void a_command_may_be_a_group_too(void **state)
{
    (void)state;
    struct line l;
    assert_int_equal(parse(&l, "mcp"), 0);
    assert_string_equal(l.args.command->name, "mcp");
    assert_int_equal(parse(&l, "mcp|--json|import|f|--yes"), 0);
    assert_string_equal(l.args.command->name, "mcp import");
    assert_string_equal(l.args.pos[0], "f");
    assert_int_equal(parse(&l, "mcp|lits"), -1);
    assert_non_null(strstr(l.err.hint, "alisio mcp list"));
    assert_int_equal(parse(&l, "mcp|import"), -1);
}

static void ages_have_a_number_and_a_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {{"0d", 0}, {"90m", 5400000}, {"12h", 43200000}, {"30d", 2592000000}, {"2w", 1209600000}};
    static const char *const bad[] = {"",     "d",   "30", "-1d",       "1.5d",
                                      "30 d", "30D", "1y", "99999999w", "5300w"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int64_t ms = -1;
        assert_true(al_parse_age(al_str_of(good[i].text), &ms));
        assert_int_equal(ms, good[i].ms);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t ms = -1;
        if (al_parse_age(al_str_of(bad[i]), &ms))
            fail_msg("%s was taken as an age", bad[i]);
        assert_int_equal(ms, -1);
    }
}

/* --- the tables themselves --- */

static void every_flag_can_be_written_and_says_what_it_is(void **state)
{
    (void)state;
    for (int id = AL_FLAG_END + 1; id < AL_FLAG_COUNT; id++) {
        const struct al_flag *f = &al_flag_table[id];
        assert_true(f->name || f->letter);
        assert_non_null(f->help);
        assert_true((f->value != NULL) == (f->takes != AL_TAKES_NOTHING));
        assert_true(f->takes != AL_TAKES_INT || f->min < f->max);
        for (int other = id + 1; other < AL_FLAG_COUNT; other++) {
            const struct al_flag *g = &al_flag_table[other];
            assert_false(f->letter && f->letter == g->letter);
            assert_false(f->name && g->name && strcmp(f->name, g->name) == 0);
        }
    }
}

static void a_command_of_two_words_stands_beside_one_of_its_first(void **state)
{
    (void)state;
    struct al_args args;
    struct al_err err = {0};
    const char *one[] = {"alisio", "setup", "codex"}, *two[] = {"alisio", "setup", "provider", "ollama", "--model", "m"};
    assert_int_equal(al_args_parse(3, (char *const *)one, &args, &err), 0);
    assert_string_equal(args.command->name, "setup");
    assert_string_equal(args.pos[0], "codex");
    assert_int_equal(al_args_parse(6, (char *const *)two, &args, &err), 0);
    assert_string_equal(args.command->name, "setup provider");
    assert_string_equal(args.pos[0], "ollama");
    assert_int_equal(args.n_pos, 1);
}

static void every_command_is_complete_and_its_usage_names_its_flags(void **state)
{
    (void)state;
    for (size_t i = 0; i < al_n_commands; i++) {
        const struct al_command *c = &al_command_table[i];
        assert_non_null(c->run);
        assert_non_null(c->summary);
        assert_non_null(c->usage);
        assert_non_null(c->examples);
        assert_non_null(c->examples[0].line);
        assert_true(c->min_args <= c->max_args && c->max_args <= AL_ARGS_MAX_POS);
        assert_ptr_equal(al_command_find(al_str_of(c->name)), c);
        for (const enum al_flag_id *f = c->flags; f && *f != AL_FLAG_END; f++) {
            char letter[3] = {'-', al_flag_table[*f].letter, 0};
            const char *name = al_flag_table[*f].name ? al_flag_table[*f].name : letter;
            if (!strstr(c->usage, name))
                fail_msg("the usage of %s does not name %s", c->name, name);
        }
        const char *space = strchr(c->name, ' ');
        struct al_str first = {c->name, space ? (size_t)(space - c->name) : 0};
        if (space)
            assert_true(al_group_find(first) || al_command_find(first));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_without_words_names_no_command),
        cmocka_unit_test(lines_that_are_fine),
        cmocka_unit_test(lines_that_are_refused_say_what_and_what_next),
        cmocka_unit_test(json_is_noted_wherever_a_failing_line_has_it),
        cmocka_unit_test(added_folders_are_kept_in_order_up_to_a_limit),
        cmocka_unit_test(a_value_that_may_be_missing_is_written_with_the_flag),
        cmocka_unit_test(a_command_may_be_a_group_too),
        cmocka_unit_test(a_command_of_two_words_stands_beside_one_of_its_first),
        cmocka_unit_test(ages_have_a_number_and_a_unit),
        cmocka_unit_test(every_flag_can_be_written_and_says_what_it_is),
        cmocka_unit_test(every_command_is_complete_and_its_usage_names_its_flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
