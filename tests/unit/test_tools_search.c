#include "test.h"

#include "tools_world.h"

#include "base/mem.h"
#include "tools/search_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct world world;

static int open_world(void **state)
{
    *state = &world;
    world_open(&world, &(struct world_opts){.source = "mcp"});
    return 0;
}

static int close_world(void **state)
{
    world_close(*state);
    return 0;
}

/* --- the records of rg --- */

#define RECORD(path, line, number, start)                                                        \
    "{\"type\":\"match\",\"data\":{\"path\":" path ",\"lines\":" line ",\"line_number\":" number \
    ",\"absolute_offset\":0,\"submatches\":[{\"match\":{\"text\":\"x\"},\"start\":" start ",\"end\":9}]}}\n"

static void records_are_read_one_by_one(void **state)
{
    (void)state;
    struct al_str rest = AL_STR("{\"type\":\"begin\",\"data\":{\"path\":{\"text\":\"a\"}}}\n" RECORD(
        "{\"text\":\"./a\\\"b\"}", "{\"text\":\"h\\u00e9 \\\\x\\n\"}", "7",
        "4") "{\"type\":\"end\"}\nnoise\n" RECORD("{\"bytes\":\"//4=\"}", "{\"bytes\":\"eP8=\"}", "8", "0"));
    struct al_rg_match m;
    autobuf struct al_buf b = AL_BUF_INIT(1000);
    assert_true(al_rg_next(&rest, &m));
    al_rg_text(m.path, m.path_base64, 0, 100, &b);
    assert_true(al_str_is(al_buf_str(&b), "./a\"b"));
    al_buf_clear(&b);
    al_rg_text(m.line, m.line_base64, 0, 100, &b);
    assert_true(al_str_is(al_buf_str(&b), "hé \\x\n"));
    assert_int_equal(m.line_number, 7);
    assert_int_equal(al_rg_column(m.line, m.line_base64, m.start), 4);
    assert_true(al_rg_next(&rest, &m));
    al_buf_clear(&b);
    al_rg_text(m.path, m.path_base64, 0, 100, &b);
    assert_true(al_str_is(al_buf_str(&b), "��"));
    al_buf_clear(&b);
    al_rg_text(m.line, m.line_base64, 0, 100, &b);
    assert_true(al_str_is(al_buf_str(&b), "x�"));
    assert_false(al_rg_next(&rest, &m));
}

static void a_record_cut_anywhere_is_safe(void **state)
{
    (void)state;
    static const char whole[] =
        RECORD("{\"text\":\"./a\"}", "{\"text\":\"some \\u00e4 \\\"text\\\"\\n\"}", "12", "3");
    for (size_t n = 0; n < sizeof whole; n++) {
        char *exact = al_xdup(whole, n); /* so that a read beyond the end is seen */
        struct al_str rest = {exact, n};
        struct al_rg_match m;
        autobuf struct al_buf b = AL_BUF_INIT(1000);
        while (al_rg_next(&rest, &m)) {
            al_rg_text(m.line, m.line_base64, 0, 100, &b);
            al_rg_column(m.line, m.line_base64, m.start);
        }
        free(exact);
    }
}

static void noise_is_survived(void **state)
{
    (void)state;
    static const char *const bodies[] = {"\\",  "\\u", "\\u12",   "\\uzzzz",
                                         "\\q", "a\\", "\\u0000", "\xff\xfe"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        for (int base64 = 0; base64 < 2; base64++) {
            autobuf struct al_buf b = AL_BUF_INIT(100);
            char *exact = al_xdup(bodies[i], strlen(bodies[i]));
            al_rg_text((struct al_str){exact, strlen(bodies[i])}, base64, 0, 50, &b);
            al_rg_column((struct al_str){exact, strlen(bodies[i])}, base64, 5);
            free(exact);
        }
    }
}

/* --- the tool --- */

static void matches_have_place_and_text(void **state)
{
    struct world *w = *state;
    put(w, "src/b.c", "int x;\nint näedle = 1; /* needle */\n");
    put(w, "src/a.c", "needle\n");
    put(w, "doc.txt", "nothing\n");
    struct reply r = call(w, "search_text", "{\"pattern\":\"needle\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "matches")->n, 2);
    assert_text_at(&r, "matches.0.path", "src/a.c");
    assert_text_at(&r, "matches.1.path", "src/b.c");
    assert_text_at(&r, "matches.1.text", "int näedle = 1; /* needle */");
    assert_int_equal(int_at(&r, "matches.1.line"), 2);
    assert_int_equal(int_at(&r, "matches.1.column"), 20);
    assert_int_equal(int_at(&r, "files"), 2);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_FALSE);
    assert_has(r.text, "src/a.c\n     1: needle\nsrc/b.c\n     2: int");
    assert_has(r.text, "[2 matches in 2 files]");
    reply_free(&r);
    r = call(w, "search_text", "{\"pattern\":\"absent\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "matches")->n, 0);
    assert_has(r.text, "[no match]");
    reply_free(&r);
}

static void path_glob_and_switches_narrow(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", "Needle.*\n");
    put(w, "src/x/a.h", "needle.*\n");
    put(w, "lib/a.c", "needle.*\n");
    put(w, ".hid/a.c", "needle.*\n");
    put(w, "node_modules/a.c", "needle.*\n");
    static const struct {
        const char *more;
        int want;
    } cases[] = {
        {"\"pattern\":\"needle\"", 2},
        {"\"pattern\":\"needle\",\"ignoreCase\":true", 3},
        {"\"pattern\":\"NEEDLE\",\"ignoreCase\":true,\"path\":\"src\"", 2},
        {"\"pattern\":\"needle.*\",\"literal\":true", 2},
        {"\"pattern\":\"needle+.x\",\"literal\":true", 0},
        {"\"pattern\":\"needle\",\"glob\":\"*.{c,h}\"", 2},
        {"\"pattern\":\"needle\",\"glob\":\"lib/*.c\"", 1},
        {"\"pattern\":\"needle\",\"glob\":\"*.py\"", 0},
        {"\"pattern\":\"needle\",\"hidden\":true", 3},
        {"\"pattern\":\"needle\",\"path\":\".hid\"", 1},
        {"\"pattern\":\"needle\",\"path\":\"lib/a.c\"", 1},
        {"\"pattern\":\"(?i)needle\",\"path\":\"src/a.c\"", 1},
        {"\"pattern\":\"-e\"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reply r = call(w, "search_text", "{%s}", cases[i].more);
        assert_code(&r, AL_OK);
        if ((int)at(&r, "matches")->n != cases[i].want)
            fail_msg("%s: %u matches", cases[i].more, at(&r, "matches")->n);
        reply_free(&r);
    }
    struct reply r = call(w, "search_text", "{\"pattern\":\"needle\",\"path\":\"lib/a.c\"}");
    assert_text_at(&r, "matches.0.path", "lib/a.c");
    assert_int_equal(int_at(&r, "files"), 1);
    reply_free(&r);
}

static void a_bad_pattern_is_the_callers_fault(void **state)
{
    struct world *w = *state;
    struct reply r = call(w, "search_text", "{\"pattern\":\"a(b\"}");
    assert_code(&r, AL_TOOL_INPUT_INVALID);
    assert_has(r.msg, "regex parse error");
    assert_lacks(r.msg, w->dir);
    assert_has(r.hint, "literal");
    reply_free(&r);
    r = call(w, "search_text", "{\"pattern\":\"a\\u0000b\"}");
    assert_code(&r, AL_TOOL_INPUT_INVALID);
    reply_free(&r);
    r = call(w, "search_text", "{\"pattern\":\"a\",\"path\":\"none\"}");
    assert_code(&r, AL_NOT_FOUND);
    reply_free(&r);
}

static void secrets_are_never_searched(void **state)
{
    struct world *w = *state;
    put(w, ".env", "needle\n");
    put(w, ".env.example", "needle\n");
    put(w, "server.pem", "needle\n");
    put(w, "id_rsa", "needle\n");
    put(w, "sub/.npmrc", "needle\n");
    sh(w, "ln -s .env open.txt; ln -s /etc/passwd passwd; ln -s / root");
    struct reply r = call(w, "search_text", "{\"pattern\":\"needle|root:\",\"hidden\":true}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "matches")->n, 1);
    assert_text_at(&r, "matches.0.path", ".env.example");
    reply_free(&r);
    static const char *const paths[] = {".env", "open.txt", "server.pem", "id_rsa"};
    for (size_t i = 0; i < 4; i++) {
        r = call(w, "search_text", "{\"pattern\":\"needle\",\"path\":\"%s\"}", paths[i]);
        assert_code(&r, AL_PATH_SECRET);
        reply_free(&r);
    }
    r = call(w, "search_text", "{\"pattern\":\"root\",\"path\":\"passwd\"}");
    assert_code(&r, AL_PATH_OUTSIDE_WORKSPACE);
    reply_free(&r);
}

static void a_configuration_of_rg_is_not_read(void **state)
{
    struct world *w = *state;
    put(w, "rc", "--no-ignore\n--hidden\n");
    put(w, ".gitignore", "x.txt\n");
    put(w, "x.txt", "needle\n");
    char path[128];
    snprintf(path, sizeof path, "%s/rc", w->work);
    setenv("RIPGREP_CONFIG_PATH", path, 1);
    struct reply r = call(w, "search_text", "{\"pattern\":\"needle\"}");
    assert_int_equal(at(&r, "matches")->n, 0);
    reply_free(&r);
    unsetenv("RIPGREP_CONFIG_PATH");
}

static void a_line_of_ten_megabytes_is_bounded(void **state)
{
    struct world *w = *state;
    size_t n = 10u << 20;
    char *p = al_xmalloc(n);
    memset(p, 'a', n);
    memcpy(p + n - 100, "needle", 6);
    put_bytes(w, "one.js", p, n);
    put_bytes(w, "two.js", p, n);
    free(p);
    struct reply r = call(w, "search_text", "{\"pattern\":\"needle\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "matches")->n, 2);
    assert_int_equal(int_at(&r, "matches.0.column"), (int64_t)n - 100 + 1);
    assert_has(at(&r, "matches.0.text")->str.p, "needle");
    assert_true(at(&r, "matches.0.text")->str.n < 17000);
    assert_has(r.text, "needle");
    assert_true(strlen(r.text) < 3000);
    reply_free(&r);
}

/* Ten million hits in a line are more than rg may remember. The other files are searched all the same. */
static void what_takes_too_much_memory_is_left_out_and_said(void **state)
{
    struct world *w = *state;
    size_t n = 10u << 20;
    char *p = al_xmalloc(n);
    memset(p, 'a', n);
    put_bytes(w, "long.js", p, n);
    put_bytes(w, "shorter.js", p, 100u << 10);
    free(p);
    put(w, "zz.txt", "xx\na\n");
    struct reply r = call(w, "search_text", "{\"pattern\":\"a\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "matches")->n, 2);
    assert_text_at(&r, "matches.0.path", "shorter.js");
    assert_text_at(&r, "matches.1.path", "zz.txt");
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_TRUE);
    assert_has(r.text, "files over 4 MiB were left out");
    assert_lacks(r.text, "there are more");
    reply_free(&r);
    r = call(w, "search_text", "{\"pattern\":\"a\",\"path\":\"long.js\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "matches")->n, 0);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_TRUE);
    assert_has(r.text, "the search ended early");
    reply_free(&r);
    r = call(w, "search_text", "{\"pattern\":\"ab|xx\"}");
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_FALSE);
    assert_int_equal(at(&r, "matches")->n, 1);
    reply_free(&r);
}

/* A file that is as large as it says, but for its lines. */
static void a_large_file_of_ordinary_lines_is_searched(void **state)
{
    struct world *w = *state;
    sh(w, "yes 'an ordinary line of text' | head -c 40000000 > large.log; echo needle >> large.log");
    sh(w, "truncate -s 2G hollow.bin");
    struct reply r = call(w, "search_text", "{\"pattern\":\"needle\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "matches")->n, 1);
    assert_text_at(&r, "matches.0.path", "large.log");
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_FALSE);
    reply_free(&r);
}

static void folders_above_are_heeded_but_not_read(void **state)
{
    struct world *w = *state;
    put(w, ".gitignore", "x.txt\n");
    put(w, "src/x.txt", "needle\n");
    put(w, "src/y.txt", "needle\n");
    struct reply r = call(w, "search_text", "{\"pattern\":\"needle\",\"path\":\"src\"}");
    assert_code(&r, AL_OK);
    assert_int_equal(at(&r, "matches")->n, 1);
    assert_text_at(&r, "matches.0.path", "src/y.txt");
    reply_free(&r);
    r = call(w, "list_files", "{\"path\":\"src\"}");
    assert_int_equal(at(&r, "files")->n, 1);
    reply_free(&r);
}

static void many_matches_are_cut_and_said(void **state)
{
    struct world *w = *state;
    sh(w, "i=0; while [ $i -lt 3000 ]; do echo \"needle $i\"; i=$((i+1)); done > many.txt");
    struct reply r = call(w, "search_text", "{\"pattern\":\"needle\"}");
    assert_int_equal(at(&r, "matches")->n, 1000);
    assert_int_equal(int_at(&r, "matches.999.line"), 1000);
    reply_free(&r);
    r = call(w, "search_text", "{\"pattern\":\"needle\",\"maxMatches\":10000}");
    assert_int_equal(at(&r, "matches")->n, 3000);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_FALSE);
    assert_true(strlen(r.text) < 29000);
    assert_has(r.text, "shown here");
    reply_free(&r);
    put(w, "zz.txt", "needle\n");
    r = call(w, "search_text", "{\"pattern\":\"needle\",\"maxMatches\":5}");
    assert_int_equal(at(&r, "matches")->n, 5);
    assert_int_equal(at(&r, "truncated")->type, AL_JSON_TRUE);
    assert_has(r.text, "there are more");
    reply_free(&r);
}

static void a_cancelled_search_ends(void **state)
{
    struct world *w = *state;
    put(w, "a", "x\n");
    struct reply r;
    start(w, AL_ORIGIN_SCRIPT, "search_text", "{\"pattern\":\"x\"}", &r);
    al_call_cancel(r.call);
    finish(w, &r);
    assert_code(&r, AL_CANCELLED);
    reply_free(&r);
    start(w, AL_ORIGIN_SCRIPT, "list_files", "{}", &r);
    al_call_cancel(r.call);
    finish(w, &r);
    assert_code(&r, AL_CANCELLED);
    reply_free(&r);
}

/* Who opens a pipe waits for the other end. */
static void an_ignore_file_that_is_a_pipe_ends_a_listing(void **state)
{
    struct world *w = *state;
    put(w, "a", "x\n");
    put(w, "sub/b", "x\n");
    sh(w, "mkfifo .gitignore");
    uint64_t as_is = al_listing_idle_ms;
    al_listing_idle_ms = 300;
    static const char *const calls[][2] = {{"list_files", "{}"}, {"read_files", "{\"glob\":\"**\"}"}};
    for (size_t i = 0; i < 2; i++) {
        struct reply r = call(w, calls[i][0], "%s", calls[i][1]);
        assert_code(&r, AL_TOOL_TIMEOUT);
        assert_has(r.hint, ".gitignore");
        reply_free(&r);
    }
    al_listing_idle_ms = as_is;
}

int main(int argc, char **argv)
{
    world_main(argc, argv);
#define IN_WORLD(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_read_one_by_one),
        cmocka_unit_test(a_record_cut_anywhere_is_safe),
        cmocka_unit_test(noise_is_survived),
        IN_WORLD(matches_have_place_and_text),
        IN_WORLD(path_glob_and_switches_narrow),
        IN_WORLD(a_bad_pattern_is_the_callers_fault),
        IN_WORLD(secrets_are_never_searched),
        IN_WORLD(a_configuration_of_rg_is_not_read),
        IN_WORLD(a_line_of_ten_megabytes_is_bounded),
        IN_WORLD(what_takes_too_much_memory_is_left_out_and_said),
        IN_WORLD(a_large_file_of_ordinary_lines_is_searched),
        IN_WORLD(folders_above_are_heeded_but_not_read),
        IN_WORLD(many_matches_are_cut_and_said),
        IN_WORLD(an_ignore_file_that_is_a_pipe_ends_a_listing),
        IN_WORLD(a_cancelled_search_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
