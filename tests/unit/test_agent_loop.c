/* What of the turn loop is pure: arguments, names of tools, repeats, and where a conversation may be cut. */
#include "test.h"

#include "agent/turn_int.h"

#include <stdio.h>

/* --- arguments --- */

static const struct al_tool reader = {
    .name = "read_file",
    .input_schema = "{\"type\":\"object\",\"required\":[\"path\",\"limit\"],\"properties\":{}}",
};

static int take(const char *text, struct al_buf *out, struct al_buf *warning, struct al_err *err)
{
    al_buf_clear(out);
    al_buf_clear(warning);
    return al_call_arguments(al_str_of(text), &reader, out, warning, err);
}

static void nothing_is_an_empty_object(void **state)
{
    static const char *const none[] = {"", " \n\t", "null", " null ", "{}"};
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20), warning = AL_BUF_INIT(4096);
    struct al_err err;
    (void)state;
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
        assert_int_equal(take(none[i], &out, &warning, &err), 0);
        assert_true(al_str_is(al_buf_str(&out), "{}"));
        assert_int_equal(warning.n, 0);
    }
}

static void what_is_no_object_is_told_by_its_byte_and_the_required_keys(void **state)
{
    static const struct {
        const char *text;
        size_t at;
    } wrong[] = {
        {"[1]", 0},           {"  [1]", 2},      {"\"x\"", 0},        {"true", 0},
        {"{\"a\":", 5},       {"{\"a\":1}}", 7}, {"{\"a\":1} {}", 8}, {"{\"é\":x}", 6},
        {"{\n\"a\":\n?}", 7}, {"{'a':1}", 1},    {"{\"a\":1,}", 7},   {"nul", 0},
    };
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20), warning = AL_BUF_INIT(4096);
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct al_err err;
        char at[32];
        assert_int_equal(take(wrong[i].text, &out, &warning, &err), -1);
        assert_int_equal(err.code, AL_TOOL_INPUT_INVALID);
        snprintf(at, sizeof(at), "byte %zu:", wrong[i].at);
        if (!strstr(err.msg, at))
            fail_msg("%s: %s instead of %s", wrong[i].text, err.msg, at);
        assert_non_null(strstr(err.hint, "\"path\", \"limit\""));
        assert_int_equal(out.n, 0);
    }
}

static void of_a_key_that_stands_twice_the_last_counts(void **state)
{
    static const struct {
        const char *text, *taken;
    } twice[] = {
        {"{\"a\":1,\"a\":2}", "{\"a\":2}"},
        {"{\"a\":1,\"b\":{\"c\":[1,{\"d\":1,\"d\":2}],\"c\":[3]},\"a\":{}}", "{\"b\":{\"c\":[3]},\"a\":{}}"},
        {"{\"a\":[{\"x\":1,\"x\":null}],\"b\":[]}", "{\"a\":[{\"x\":null}],\"b\":[]}"},
        {"{\"\\u0061\":1,\"a\":\"\\u00e9\"}", "{\"a\":\"\\u00e9\"}"},
    };
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20), warning = AL_BUF_INIT(4096);
    struct al_err err;
    (void)state;
    for (size_t i = 0; i < sizeof(twice) / sizeof(*twice); i++) {
        assert_int_equal(take(twice[i].text, &out, &warning, &err), 0);
        if (!al_str_is(al_buf_str(&out), twice[i].taken))
            fail_msg("%s: %.*s", twice[i].text, AL_FMT(al_buf_str(&out)));
        assert_true(warning.n > 0);
    }
    assert_int_equal(take("{\"a\":{\"x\":1},\"b\":{\"x\":1}}", &out, &warning, &err), 0);
    assert_int_equal(warning.n, 0);
}

static void deep_and_wide_arguments_take_no_time(void **state)
{
    autobuf struct al_buf in = AL_BUF_INIT(8 << 20), out = AL_BUF_INIT(8 << 20), warning = AL_BUF_INIT(4096);
    struct al_err err;
    (void)state;
    al_buf_adds(&in, "{\"a\":");
    for (int i = 0; i < 126; i++)
        al_buf_adds(&in, i % 2 ? "[" : "{\"x\":1,\"x\":");
    al_buf_adds(&in, "0");
    for (int i = 126; i-- > 0;)
        al_buf_adds(&in, i % 2 ? "]" : "}");
    al_buf_adds(&in, "}");
    assert_int_equal(al_call_arguments(al_buf_str(&in), &reader, &out, &warning, &err), 0);
    assert_true(out.n < in.n);
    al_buf_clear(&in);
    al_buf_adds(&in, "{\"k\":0");
    for (int i = 0; i < 200000; i++)
        al_buf_addf(&in, ",\"k%d\":%d", i, i);
    al_buf_adds(&in, "}");
    al_buf_clear(&out);
    assert_int_equal(al_call_arguments(al_buf_str(&in), &reader, &out, &warning, &err), 0);
    assert_true(al_str_eq(al_buf_str(&in), al_buf_str(&out)));
}

/* --- a tool that is none --- */

static void an_unknown_tool_names_the_three_nearest_that_are_offered(void **state)
{
    static const struct al_llm_tool offered[] = {
        {.name = AL_S("artifact_list")}, {.name = AL_S("js_run")},     {.name = AL_S("list_files")},
        {.name = AL_S("read_file")},     {.name = AL_S("read_files")}, {.name = AL_S("search_text")},
    };
    struct al_agent a = {.tools = offered, .n_tools = sizeof(offered) / sizeof(*offered)};
    struct al_err err;
    (void)state;
    assert_int_equal(al_call_unknown(&a, AL_STR("ReadFile"), &err), -1);
    assert_int_equal(err.code, AL_TOOL_NOT_FOUND);
    assert_non_null(strstr(err.hint, ": read_file, read_files, "));
    assert_int_equal(al_call_unknown(&a, AL_STR("run"), &err), -1);
    assert_non_null(strstr(err.hint, ": js_run, "));
    assert_int_equal(al_call_unknown(&a, AL_STR("\x1b[31mx\xff"), &err), -1);
    assert_null(strchr(err.msg, 0x1b));
    a.n_tools = 2;
    assert_int_equal(al_call_unknown(&a, AL_STR("x"), &err), -1);
    assert_non_null(strstr(err.hint, "artifact_list"));
    a.n_tools = 0;
    assert_int_equal(al_call_unknown(&a, AL_STR("x"), &err), -1);
}

/* --- repeats --- */

static unsigned again(struct al_agent *a, const char *args, const char *result)
{
    return al_repeat_count(a, AL_STR("js_run"), al_str_of(args), al_str_of(result));
}

static void the_same_call_with_the_same_result_is_counted_in_a_row(void **state)
{
    struct al_agent a = {.n_tools = 0};
    (void)state;
    assert_int_equal(again(&a, "{}", "x"), 1);
    assert_int_equal(again(&a, "{}", "x"), 2);
    assert_int_equal(again(&a, "{}", "y"), 1);
    assert_int_equal(again(&a, "{}", "x"), 1);
    assert_int_equal(again(&a, "{ }", "x"), 1);
    assert_int_equal(al_repeat_count(&a, AL_STR("js_ru"), AL_STR("n{ }"), AL_STR("x")), 1);
}

static void ids_and_durations_of_a_result_are_no_difference(void **state)
{
    struct al_agent a = {.n_tools = 0};
    (void)state;
    assert_int_equal(again(&a, "{}", "exec_01M8Q8JE1T5WFQEZJ6TWFFT80H took 12 ms (1.5 s)"), 1);
    assert_int_equal(again(&a, "{}", "exec_01M8Q8JEMZ36ZA83PT2E7N5MQG took 9 ms (0.25 s)"), 2);
    assert_int_equal(again(&a, "{}", "exec_01M8Q8JEMZ36ZA83PT2E7N5MQG took 9 m (0.25 s)"), 1);
    assert_int_equal(again(&a, "{}", "12 files"), 1);
    assert_int_equal(again(&a, "{}", "13 files"), 1);
    assert_int_equal(again(&a, "{}", "exec_01M8"), 1);
    assert_int_equal(again(&a, "{}", "exec_01M9"), 1);
}

/* --- cuts --- */

#define MAX 64
struct talk {
    struct al_llm_message v[MAX];
    struct al_llm_part parts[MAX];
    size_t n;
};

/* r repository, p prompt, h host, s summary, a answer, c answer with calls, o result of one. */
static void talk_of(struct talk *t, const char *kinds)
{
    *t = (struct talk){.n = 0};
    for (const char *k = kinds; *k; k++) {
        struct al_llm_message *m = &t->v[t->n];
        m->parts = &t->parts[t->n++];
        m->n_parts = 1;
        m->role = *k == 'a' || *k == 'c' ? AL_LLM_ASSISTANT : *k == 'o' ? AL_LLM_RESULT : AL_LLM_USER;
        m->by = *k == 'r'   ? AL_LLM_REPOSITORY
                : *k == 'h' ? AL_LLM_HOST
                : *k == 's' ? AL_LLM_SUMMARY
                            : AL_LLM_PERSON;
    }
}

static void a_cut_is_where_it_should_be(void **state)
{
    static const struct {
        const char *kinds;
        unsigned keep;
        bool any;
        struct al_cut cut;
    } cases[] = {
        {"p", 2, false, {0, 0, 0, 0}},          {"pa", 2, false, {0, 0, 0, 0}},
        {"pcoco", 2, false, {0, 0, 1, 1}},      {"pcococo", 2, true, {0, 0, 1, 3}},
        {"pcooocoocoo", 1, true, {0, 0, 1, 8}}, {"papapap", 2, true, {0, 3, 0, 0}},
        {"papapapcoco", 1, true, {0, 6, 7, 9}}, {"rpcococo", 2, true, {1, 1, 2, 4}},
        {"rpapcococo", 2, true, {1, 3, 4, 6}},  {"pscoco", 2, false, {0, 0, 1, 2}},
        {"pscococo", 2, true, {0, 0, 1, 4}},    {"spscococo", 2, true, {0, 1, 2, 5}},
        {"papapap", 0, true, {0, 6, 7, 7}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct talk t;
        struct al_cut cut;
        talk_of(&t, cases[i].kinds);
        bool any = al_compact_cut(t.v, t.n, cases[i].keep, &cut);
        if (any != cases[i].any || (any && memcmp(&cut, &cases[i].cut, sizeof(cut)) != 0))
            fail_msg("%s: %d [%zu %zu) [%zu %zu)", cases[i].kinds, any, cut.before_first, cut.before_last,
                     cut.after_first, cut.after_last);
    }
}

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Random conversations: calls with their results, prompts anywhere between. */
static void no_cut_parts_a_call_from_its_result(void **state)
{
    uint32_t seed = 7;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        char kinds[MAX];
        size_t n = 0;
        if (next(&seed) % 3 == 0)
            kinds[n++] = 'r';
        kinds[n++] = 'p';
        while (n < 4 + next(&seed) % (MAX - 14)) {
            uint32_t k = next(&seed) % 6;
            if (k >= 3) {
                kinds[n++] = 'c';
                for (uint32_t o = 1 + next(&seed) % 4; o > 0; o--)
                    kinds[n++] = 'o';
            } else {
                kinds[n++] = "pah"[k];
            }
        }
        kinds[n] = 0;
        struct talk t;
        struct al_cut cut;
        unsigned keep = next(&seed) % 4, answers = 0;
        talk_of(&t, kinds);
        bool any = al_compact_cut(t.v, t.n, keep, &cut);
        size_t at[4] = {cut.before_first, cut.before_last, cut.after_first, cut.after_last};
        size_t end = cut.after_last > cut.after_first ? cut.after_last : cut.before_last;
        if (!any)
            continue;
        for (int i = 0; i < 4; i++)
            if (at[i] < t.n && t.v[at[i]].role == AL_LLM_RESULT)
                fail_msg("%s is cut at %zu", kinds, at[i]);
        assert_true(at[0] <= at[1] && at[1] <= t.n && at[2] <= at[3] && at[3] <= t.n);
        for (size_t i = end; i < t.n; i++)
            answers += t.v[i].role == AL_LLM_ASSISTANT;
        assert_true(answers >= keep);
        size_t prompt = strrchr(kinds, 'p') - kinds;
        assert_false(prompt >= at[0] && prompt < at[1]);
        assert_false(prompt >= at[2] && prompt < at[3]);
        if (kinds[0] == 'r')
            assert_true(at[0] > 0);
        assert_true(al_compact_reducible(t.v, t.n, keep) <= t.n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_an_empty_object),
        cmocka_unit_test(what_is_no_object_is_told_by_its_byte_and_the_required_keys),
        cmocka_unit_test(of_a_key_that_stands_twice_the_last_counts),
        cmocka_unit_test(deep_and_wide_arguments_take_no_time),
        cmocka_unit_test(an_unknown_tool_names_the_three_nearest_that_are_offered),
        cmocka_unit_test(the_same_call_with_the_same_result_is_counted_in_a_row),
        cmocka_unit_test(ids_and_durations_of_a_result_are_no_difference),
        cmocka_unit_test(a_cut_is_where_it_should_be),
        cmocka_unit_test(no_cut_parts_a_call_from_its_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
