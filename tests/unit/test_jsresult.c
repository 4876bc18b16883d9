/* The text for a model and the record of a run, without a VM: cutting, bounds, the last line. */
#include "test.h"

#include "jsrun_world.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/jsrun.h"

#include <stdio.h>

static uint32_t seed = 1;

static uint32_t rnd(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static char *cut_json(const char *json, size_t max)
{
    struct al_buf b = AL_BUF_INIT(1u << 20);
    jscut_json(al_str_of(json), max, &b);
    return b.n ? al_buf_take(&b) : al_xstrdup("");
}

static char *cut_text(const char *text, size_t max)
{
    struct al_buf b = AL_BUF_INIT(1u << 20);
    jscut_text(al_str_of(text), max, &b);
    return b.n ? al_buf_take(&b) : al_xstrdup("");
}

/* --- checking --- */

static void the_check_accepts_json_and_nothing_else(void **state)
{
    (void)state;
    static const char *const good[] = {
        "null",
        "true",
        "false",
        "0",
        "-1.5e+10",
        "\"\"",
        "\"a\\u00e9\\n\\\"\"",
        "[]",
        "{}",
        " [1 , 2 ] ",
        "{\"a\":{\"b\":[]}}",
        "[[],[[]],{}]",
        "{\"a\":1,\"a\":2}",
        "\"\\ud800\"",
        "1E5",
        "\"é😀\"",
    };
    static const char *const bad[] = {
        "",          " ",      "nul",     "nulll",     "01",       "1.",
        ".5",        "-",      "1e",      "+1",        "\"",       "\"\\x\"",
        "\"\\u12\"", "\"\n\"", "[",       "]",         "[1,]",     "[,1]",
        "[1 2]",     "{",      "{\"a\"}", "{\"a\":}",  "{a:1}",    "{\"a\":1,}",
        "1 2",       "[1]]",   "[1}",     "{\"a\":1]", "\"\xff\"", "\"\xed\xa0\x80\"",
        "NaN",       "'a'",    "[1]x",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!jscut_valid(al_str_of(good[i]), 10))
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (jscut_valid(al_str_of(bad[i]), 10))
            fail_msg("accepted: %s", bad[i]);
}

static void the_check_limits_depth(void **state)
{
    (void)state;
    assert_true(jscut_valid(AL_STR("[[[1]]]"), 3));
    assert_false(jscut_valid(AL_STR("[[[1]]]"), 2));
    char deep[4001];
    memset(deep, '[', 2000);
    memset(deep + 2000, ']', 2000);
    deep[4000] = '\0';
    assert_false(jscut_valid(al_str_of(deep), 1000));
}

/* The check says what the reader of JSON says, for texts made of JSON's pieces. */
static void the_check_agrees_with_the_reader(void **state)
{
    (void)state;
    static const char *const pieces[] = {"[",  "]",  "{",     "}",  ",",       ":",    "1", "-",
                                         ".5", "e3", "\"a\"", "\"", "\\u0041", "null", "t", " "};
    for (int round = 0; round < 20000; round++) {
        char text[128] = "";
        for (uint32_t k = rnd(8) + 1; k; k--) {
            const char *piece = pieces[rnd(sizeof pieces / sizeof *pieces)];
            memcpy(text + strlen(text), piece, strlen(piece) + 1);
        }
        struct al_arena a = AL_ARENA_INIT(1u << 20);
        const struct al_json *v;
        bool reader = al_json_parse(&a, al_str_of(text), &v, NULL) == 0;
        al_arena_free(&a);
        if (reader != jscut_valid(al_str_of(text), 100))
            fail_msg("the reader says %d: %s", reader, text);
    }
}

/* --- cutting --- */

static void json_is_cut_between_elements(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        size_t max;
        const char *want;
    } rows[] = {
        {"[1,2,3]", 7, "[1,2,3]"},
        {"[1000000,2000000,3000000,4000000,5000000]", 40, "[1000000,… 4 more]"},
        {"{\"a\":[1,2,3],\"b\":[10000,20000,30000,40000,50000]}", 48, "{\"a\":[1,2,3],\"b\":[… 5 more]}"},
        {"[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]", 30, "[… 1 more]"},
        {"[{\"id\":1},{\"id\":2},{\"id\":3},{\"id\":4},{\"id\":5}]", 45, "[{\"id\":1},{\"id\":2},… 3 more]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        autofree char *got = cut_json(rows[i].json, rows[i].max);
        assert_string_equal(got, rows[i].want);
    }
}

static void a_long_string_is_cut_inside(void **state)
{
    (void)state;
    char json[2100];
    int n = snprintf(json, sizeof json, "{\"text\":\"");
    memset(json + n, 'x', 2000);
    snprintf(json + n + 2000, sizeof json - (size_t)n - 2000, "\",\"after\":1}");
    autofree char *got = cut_json(json, 200);
    assert_true(al_str_starts(al_str_of(got), "{\"text\":\"xxxxxx"));
    assert_true(al_str_ends(al_str_of(got), " more characters]\"}"));
    assert_true(al_utf8_count(al_str_of(got)) <= 200);
    assert_true(strlen(got) > 150);
}

static void text_is_cut_at_a_line(void **state)
{
    (void)state;
    struct al_buf b = AL_BUF_INIT(1u << 20);
    for (int i = 0; i < 100; i++)
        al_buf_addf(&b, "%sline %d", i ? "\n" : "", i);
    al_buf_addc(&b, '\0');
    autofree char *got = cut_text(b.p, 200);
    assert_true(al_str_find(al_str_of(got), AL_STR("\n… [")) > 100);
    assert_non_null(strstr(got, " more lines, "));
    int shown = 0, more = 0;
    for (const char *p = got; (p = strstr(p, "line ")); p++)
        shown += p[5] >= '0' && p[5] <= '9';
    const char *mark = strstr(got, "… [");
    more = (int)strtol(mark + strlen("… ["), NULL, 10);
    assert_int_equal(shown + more, 100);
    al_buf_free(&b);
}

static void add_random_json(struct al_buf *b, int depth)
{
    static const char *const strings[] = {
        "\"\"",          "\"a\"",
        "\"\\\"q\\\\\"", "\"\\ud83d\\ude00\\u00e9\"",
        "\"é😀漢字\"",    "\"a rather long text that is longer than the others, to be cut within\""};
    uint32_t kind = rnd(depth > 5 ? 3 : 6);
    if (kind < 3) {
        if (kind == 0)
            al_buf_addf(b, "%u", rnd(100000));
        else
            al_buf_adds(b, strings[rnd(6)]);
        return;
    }
    bool obj = kind == 3;
    al_buf_addc(b, obj ? '{' : '[');
    uint32_t n = rnd(7);
    for (uint32_t i = 0; i < n; i++) {
        al_buf_adds(b, i ? (rnd(4) ? "," : " , ") : "");
        if (obj)
            al_buf_addf(b, "\"k%u\":", i);
        add_random_json(b, depth + 1);
    }
    al_buf_addc(b, obj ? '}' : ']');
}

/* Whatever is cut: never longer, valid UTF-8, marked, and closed as it was opened. */
static void cut_json_is_bounded_marked_and_closed(void **state)
{
    (void)state;
    seed = 7;
    for (int round = 0; round < 4000; round++) {
        struct al_buf b = AL_BUF_INIT(1u << 20), out = AL_BUF_INIT(1u << 20);
        add_random_json(&b, 0);
        size_t max = rnd((uint32_t)b.n + 20) + 1;
        bool cut = jscut_json(al_buf_str(&b), max, &out);
        struct al_str got = al_buf_str(&out);
        assert_true(al_utf8_valid(got));
        assert_true(al_utf8_count(got) <= max);
        assert_int_equal(cut, al_utf8_count(al_buf_str(&b)) > max);
        if (cut)
            assert_true(al_str_find(got, AL_STR("…")) >= 0);
        else
            assert_true(al_str_eq(got, al_buf_str(&b)));
        int open = 0;
        bool in_string = false;
        for (size_t i = 0; i < got.n; i++) {
            if (in_string && got.p[i] == '\\')
                i++;
            else if (got.p[i] == '"')
                in_string = !in_string;
            else if (!in_string)
                open += (got.p[i] == '[' || got.p[i] == '{') - (got.p[i] == ']' || got.p[i] == '}');
        }
        if (open != 0 || in_string)
            fail_msg("not closed: max %zu: %.*s -> %.*s", max, AL_FMT(al_buf_str(&b)), AL_FMT(got));
        al_buf_free(&b);
        al_buf_free(&out);
    }
}

static void cut_text_is_bounded_and_marked(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "a", "word ", "\n", "é", "😀", "\n\n", "a long word without any end "};
    seed = 9;
    for (int round = 0; round < 4000; round++) {
        struct al_buf b = AL_BUF_INIT(1u << 20), out = AL_BUF_INIT(1u << 20);
        for (uint32_t n = rnd(200); n; n--)
            al_buf_adds(&b, pieces[rnd(7)]);
        size_t max = rnd((uint32_t)b.n + 10);
        bool cut = jscut_text(al_buf_str(&b), max, &out);
        assert_true(al_utf8_valid(al_buf_str(&out)));
        assert_true(al_utf8_count(al_buf_str(&out)) <= max);
        assert_int_equal(cut, al_utf8_count(al_buf_str(&b)) > max);
        if (cut && max)
            assert_true(al_str_find(al_buf_str(&out), AL_STR("…")) >= 0);
        al_buf_free(&b);
        al_buf_free(&out);
    }
}

static void a_member_is_found_without_a_tree(void **state)
{
    (void)state;
    struct al_str json = AL_STR("{\"a\":{\"b\":[1,{\"c\":\"}\"}]},\"b\" : \"x\\\"y\", \"n\":12 ,\"z\":[]}");
    static const char *const rows[][2] = {
        {"a", "{\"b\":[1,{\"c\":\"}\"}]}"}, {"b", "\"x\\\"y\""}, {"n", "12"}, {"z", "[]"}, {"c", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct al_str got = jscut_member(json, rows[i][0]);
        assert_true(al_str_is(got, rows[i][1]));
    }
}

/* --- whole results, of runs made by hand --- */

static void run_init(struct jsrun *r, struct world *w, size_t max_chars)
{
    memset(r, 0, sizeof *r);
    r->core = w->core;
    snprintf(r->id, sizeof r->id, "exec_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    r->limits.max_output_chars = max_chars;
    r->limits.timeout_ms = 30000;
    r->duration_ms = 45;
    r->code = AL_STR("one\n  two();\nthree");
    al_arena_init(&r->arena, 1u << 20);
    struct al_buf *bufs[] = {&r->text, &r->value, &r->message, &r->stack, &r->progress};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        al_buf_init(bufs[i], 64u << 20);
}

static void run_fini(struct jsrun *r)
{
    struct al_buf *bufs[] = {&r->text, &r->value, &r->message, &r->stack, &r->progress};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        al_buf_free(bufs[i]);
    al_arena_free(&r->arena);
    free(r->calls);
}

static void run_calls(struct jsrun *r, struct jsrun_call *calls, size_t n)
{
    r->calls = al_xcalloc(n, sizeof *r->calls);
    r->n_calls = n;
    for (size_t i = 0; i < n; i++) {
        calls[i].run = r;
        calls[i].seq = (unsigned)i + 1;
        r->calls[i] = &calls[i];
    }
}

static char *text_of(struct jsrun *r)
{
    struct al_buf out = AL_BUF_INIT(64u << 20);
    jsresult_text(r, &out);
    return al_buf_take(&out);
}

static void value_text_and_last_line(void **state)
{
    struct world *w = *state;
    struct jsrun r;
    run_init(&r, w, 16000);
    al_buf_adds(&r.value, "{\"a\":1}");
    al_buf_adds(&r.text, "hello\nworld\n");
    struct jsrun_call calls[3] = {
        {.tool = "read_file", .effect = AL_EFFECT_READ, .status = "completed"},
        {.tool = "github.create_issue", .effect = AL_EFFECT_EXTERNAL, .status = "completed"},
        {.tool = "write_file",
         .effect = AL_EFFECT_WRITE,
         .status = "refused",
         .refused = true,
         .code = AL_APPROVAL_REQUIRED},
    };
    run_calls(&r, calls, 3);
    r.notes[r.n_notes++] = "a note";
    autofree char *got = text_of(&r);
    assert_string_equal(got,
                        "{\"a\":1}\nhello\nworld\n[3 calls (1 failed), 45 ms; a note; effects: 1 external "
                        "(github.create_issue), 0 write]");
    run_fini(&r);
}

static void strings_stand_as_they_are(void **state)
{
    struct world *w = *state;
    struct jsrun r;
    run_init(&r, w, 16000);
    al_buf_adds(&r.value, "\"two\\nlines \\u00e9\"");
    autofree char *got = text_of(&r);
    assert_string_equal(got, "two\nlines é\n[0 calls, 45 ms; effects: 0 external, 0 write]");
    run_fini(&r);
}

static void an_error_stands_first(void **state)
{
    struct world *w = *state;
    struct jsrun r;
    run_init(&r, w, 16000);
    al_fail(&r.err, AL_SCRIPT_ERROR, "Error: boom");
    al_hint(&r.err, "mend it");
    al_buf_adds(&r.message, "Error: boom");
    al_buf_adds(&r.text, "before\n");
    r.line = 2;
    r.column = 3;
    autofree char *got = text_of(&r);
    assert_string_equal(got, "SCRIPT_ERROR: Error: boom\nat line 2, column 3: two();\nhint: mend it\nbefore\n"
                             "[0 calls, 45 ms; effects: 0 external, 0 write]");
    run_fini(&r);
}

/* For each limit and each mix of long and short parts. */
static void the_text_never_passes_its_limit(void **state)
{
    struct world *w = *state;
    static const size_t limits[] = {256, 999, 1000, 16000, 48000};
    static const size_t sizes[] = {0, 1, 50, 200, 5000, 30000};
    static const char *const fill[] = {"x", "é", "😀", "ab\n"};
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
        for (size_t v = 0; v < 6; v++)
            for (size_t t = 0; t < 6; t++)
                for (size_t mix = 0; mix < 8; mix++) {
                    struct jsrun r;
                    run_init(&r, w, limits[l]);
                    bool string = mix & 1, error = mix & 2, noisy = mix & 4;
                    al_buf_adds(&r.value, string ? "\"" : "[0");
                    for (size_t i = 0; i < sizes[v]; i++)
                        al_buf_adds(&r.value, string ? fill[i % 3] : i % 5 ? ",12345" : ",\"text\"");
                    al_buf_adds(&r.value, string ? "\"" : "]");
                    for (size_t i = 0; i < sizes[t]; i++)
                        al_buf_adds(&r.text, fill[(i + t) % 4]);
                    if (r.text.n)
                        al_buf_addc(&r.text, '\n');
                    if (error) {
                        al_fail(&r.err, AL_SCRIPT_ERROR, "x");
                        for (size_t i = 0; i < sizes[t]; i++)
                            al_buf_adds(&r.message, "é ");
                        al_hint(&r.err, "%s",
                                "a hint that is of a fair length, and says what to do next, and then what");
                        r.line = 2;
                    }
                    if (noisy)
                        for (int i = 0; i < 4; i++)
                            r.notes[r.n_notes++] =
                                "a note that is about as long as they get, which is about this long";
                    r.saved_value = "out/exec_01ARZ3NDEKTSV4RRFFQ69G5FAV.json";
                    r.saved_text = "out/exec_01ARZ3NDEKTSV4RRFFQ69G5FAV.txt";
                    autofree char *got = text_of(&r);
                    struct al_str s = al_str_of(got);
                    assert_true(al_utf8_valid(s));
                    if (al_utf8_count(s) > limits[l])
                        fail_msg("limit %zu, %zu characters", limits[l], al_utf8_count(s));
                    if (r.cut_value || r.cut_text) {
                        assert_true(al_str_find(s, AL_STR("…")) >= 0);
                        if (limits[l] >= 1000) {
                            assert_true(
                                al_str_find(s, AL_STR("scratch:out/exec_01ARZ3NDEKTSV4RRFFQ69G5FAV.")) >= 0);
                            assert_true(al_str_ends(s, "write]"));
                        }
                    }
                    run_fini(&r);
                }
}

static void the_record_has_every_field(void **state)
{
    struct world *w = *state;
    struct jsrun r;
    run_init(&r, w, 16000);
    al_buf_adds(&r.value, "[1]");
    al_buf_adds(&r.text, "said\n");
    al_buf_adds(&r.progress, "{\"completed\":1,\"total\":2}");
    al_fail(&r.err, AL_STATE_LIMIT, "too much");
    al_buf_adds(&r.message, "too much");
    al_buf_adds(&r.stack, "at 1:2");
    r.line = 1;
    r.column = 2;
    r.saved_value = "out/x.json";
    r.cut_value = true;
    r.t0_ms = 100;
    struct jsrun_call call = {.tool = "echo",
                              .preview = "{\"v\":1}",
                              .status = "failed",
                              .code = AL_TOOL_ERROR,
                              .started_ms = 103,
                              .ended_ms = 108,
                              .bytes = 7};
    run_calls(&r, &call, 1);
    struct al_buf out = AL_BUF_INIT(1u << 20);
    jsresult_record(&r, false, &out);
    al_buf_addc(&out, '\0');
    static const char *const rows[][2] = {
        {"executionId", "\"exec_01ARZ3NDEKTSV4RRFFQ69G5FAV\""},
        {"status", "\"failed\""},
        {"value", "[1]"},
        {"text", "\"said\\n\""},
        {"truncated", "true"},
        {"savedTo", "\"scratch:out/x.json\""},
        {"engine.isolation", "\"process-vm\""},
        {"engine.host", "\"process\""},
        {"calls.0.seq", "1"},
        {"calls.0.tool", "\"echo\""},
        {"calls.0.args", "\"{\\\"v\\\":1}\""},
        {"calls.0.status", "\"failed\""},
        {"calls.0.code", "\"TOOL_ERROR\""},
        {"calls.0.startedMs", "3"},
        {"calls.0.durationMs", "5"},
        {"calls.0.bytes", "7"},
        {"progress.completed", "1"},
        {"progress.calls.started", "1"},
        {"state.changed", "false"},
        {"state.bytes", "0"},
        {"limits.timeoutMs", "30000"},
        {"stats.durationMs", "45"},
        {"stats.toolCalls", "1"},
        {"stats.toolBytes", "0"},
        {"stats.cpuMs", "0"},
        {"stats.heapPeakBytes", "0"},
        {"error.code", "\"STATE_LIMIT\""},
        {"error.message", "\"too much\""},
        {"error.line", "1"},
        {"error.column", "2"},
        {"error.stack", "\"at 1:2\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(json_at(out.p, rows[i][0]), rows[i][1]);
    static const char *const there[] = {"engine.name", "engine.version", "engine.wasmSha256",
                                        "engine.reason"};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        assert_true(strlen(json_at(out.p, there[i])) > 4);
    al_buf_free(&out);
    run_fini(&r);
}

static void the_bounded_form_fits_and_keeps_what_counts(void **state)
{
    struct world *w = *state;
    static const size_t sizes[] = {0, 10, 500, 100000};
    for (size_t i = 0; i < 4; i++) {
        struct jsrun r;
        run_init(&r, w, 16000);
        al_buf_addc(&r.value, '"');
        for (size_t k = 0; k < sizes[i]; k++)
            al_buf_adds(&r.value, "é");
        al_buf_addc(&r.value, '"');
        al_fail(&r.err, AL_SCRIPT_ERROR, "x");
        for (int k = 0; k < 3000; k++)
            al_buf_adds(&r.message, "\\");
        for (size_t k = 0; k < sizes[i] * 10; k++)
            al_buf_adds(&r.text, "\"é\\\n");
        struct al_buf record = AL_BUF_INIT(4u << 20), out = AL_BUF_INIT(4u << 20);
        jsresult_record(&r, false, &record);
        al_jsrun_bounded(al_buf_str(&record), 2000, &out);
        assert_true(al_utf8_count(al_buf_str(&out)) <= 2000);
        al_buf_addc(&out, '\0');
        assert_string_equal(json_at(out.p, "status"), "\"failed\"");
        assert_string_equal(json_at(out.p, "error.code"), "\"SCRIPT_ERROR\"");
        assert_int_equal(strlen(json_at(out.p, "text")) > 4, sizes[i] > 0);
        assert_string_equal(json_at(out.p, "truncated"), sizes[i] > 1000 ? "true" : "false");
        assert_int_equal(strcmp(json_at(out.p, "value"), "null") == 0, sizes[i] > 1000);
        al_buf_free(&record);
        al_buf_free(&out);
        run_fini(&r);
    }
}

/* A picture is kept whole in the scratchpad; a model reads that it is there. */
static void base64_never_reaches_a_model(void **state)
{
    struct jsrun r;
    run_init(&r, *state, 16000);
    al_buf_adds(&r.value, "{\"data\":\"");
    for (int k = 0; k < 400; k++) {
        al_buf_adds(&r.value, "iVBORw0K");
        al_buf_adds(&r.text, "iVBORw0K");
    }
    al_buf_adds(&r.value, "\",\"hash\":\"");
    for (int k = 0; k < 100; k++)
        al_buf_adds(&r.value, "0123456789abcdef");
    al_buf_adds(&r.value, "\"}");
    al_buf_addc(&r.text, '\n');
    autofree char *got = text_of(&r);
    assert_true(r.cut_value && r.cut_text);
    assert_non_null(strstr(got, "\"data\":\"[base64, 2.4 KB]\",\"hash\":\"0123456789abcdef"));
    assert_non_null(strstr(got, "}\n[base64, 2.4 KB]\n["));
    assert_null(strstr(got, "iVBORw0K"));
    struct al_buf record = AL_BUF_INIT(4u << 20), out = AL_BUF_INIT(4u << 20);
    jsresult_record(&r, false, &record);
    al_jsrun_bounded(al_buf_str(&record), 16000, &out);
    al_buf_addc(&out, '\0');
    assert_string_equal(json_at(out.p, "value.data"), "\"[base64, 2.4 KB]\"");
    assert_string_equal(json_at(out.p, "truncated"), "true");
    assert_null(strstr(out.p, "iVBORw0K"));
    al_buf_free(&record);
    al_buf_free(&out);
    run_fini(&r);
}

static int setup(void **state)
{
    *state = world_new(&(struct world_opts){0});
    return 0;
}

static int teardown(void **state)
{
    world_free(*state);
    return 0;
}

int main(int argc, char **argv)
{
    world_zygote(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_accepts_json_and_nothing_else),
        cmocka_unit_test(the_check_limits_depth),
        cmocka_unit_test(the_check_agrees_with_the_reader),
        cmocka_unit_test(json_is_cut_between_elements),
        cmocka_unit_test(a_long_string_is_cut_inside),
        cmocka_unit_test(text_is_cut_at_a_line),
        cmocka_unit_test(cut_json_is_bounded_marked_and_closed),
        cmocka_unit_test(cut_text_is_bounded_and_marked),
        cmocka_unit_test(a_member_is_found_without_a_tree),
        cmocka_unit_test_setup_teardown(value_text_and_last_line, setup, teardown),
        cmocka_unit_test_setup_teardown(strings_stand_as_they_are, setup, teardown),
        cmocka_unit_test_setup_teardown(an_error_stands_first, setup, teardown),
        cmocka_unit_test_setup_teardown(the_text_never_passes_its_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(the_record_has_every_field, setup, teardown),
        cmocka_unit_test_setup_teardown(the_bounded_form_fits_and_keeps_what_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(base64_never_reaches_a_model, setup, teardown),
    };
    return cmocka_run_group_tests_name("jsresult", tests, NULL, NULL);
}
