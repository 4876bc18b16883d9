/* Messages as the journal keeps them. */
#include "test.h"

#include "base/mem.h"
#include "base/text.h"
#include "llm/llm_int.h"

#define S(z) AL_STR(z)

static void write_message(const struct al_llm_message *m, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_llm_message_write(&w, m);
    assert_false(al_buf_failed(out));
}

static int read_message(struct al_arena *a, struct al_str text, struct al_llm_message *ret,
                        struct al_err *err)
{
    const struct al_json *v = NULL;
    assert_int_equal(al_json_parse(a, text, &v, err), 0);
    return al_llm_message_read(a, v, ret, err);
}

static void an_assistants_message_comes_back_as_it_was(void **state)
{
    (void)state;
    struct al_llm_part parts[] = {
        {.kind = AL_LLM_REASONING,
         .text = S("Hm"),
         .raw = S("{\"type\":\"thinking\",\"x\":1.50,\"s\":\"\\u00e9\"}")},
        {.kind = AL_LLM_REASONING, .raw = S("[1]")},
        {.kind = AL_LLM_TEXT, .text = S("S\xc3\xb6\n\x01")},
        {.kind = AL_LLM_CALL,
         .id = S("call_1"),
         .provider_id = S("toolu|1"),
         .name = S("f"),
         .text = S("{\"a\":")},
        {.kind = AL_LLM_CALL, .id = S("call_2"), .name = S("g"), .raw = S("{\"extra_content\":{}}")},
    };
    struct al_llm_message m = {
        .role = AL_LLM_ASSISTANT,
        .from = {.provider = S("p"), .base_url = S("http://h/v1"), .model = S("m"), .api = AL_API_RESPONSES},
        .parts = parts,
        .n_parts = 5,
    };
    autobuf struct al_buf text = AL_BUF_INIT(1 << 16), again = AL_BUF_INIT(1 << 16);
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    struct al_llm_message back;
    struct al_err err;
    write_message(&m, &text);
    assert_true(al_str_is(
        al_buf_str(&text),
        "{\"role\":\"assistant\",\"from\":{\"provider\":\"p\",\"baseUrl\":\"http://h/"
        "v1\",\"model\":\"m\",\"api\":"
        "\"responses\"},\"parts\":[{\"reasoning\":\"Hm\",\"raw\":{\"type\":\"thinking\",\"x\":1.50,\"s\":"
        "\"\\u00e9\"}},{\"reasoning\":\"\",\"raw\":[1]},{\"text\":\"S\xc3\xb6\\n\\u0001\"},{\"call\":{\"id\":"
        "\"call_1\",\"providerId\":\"toolu|1\",\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\"}},{\"call\":{"
        "\"id\":"
        "\"call_2\",\"providerId\":\"\",\"name\":\"g\",\"arguments\":\"\",\"raw\":{\"extra_content\":{}}}}]"
        "}"));
    assert_int_equal(read_message(&arena, al_buf_str(&text), &back, &err), 0);
    assert_int_equal(back.n_parts, 5);
    assert_int_equal(back.from.api, AL_API_RESPONSES);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(back.parts[i].kind, parts[i].kind);
        assert_true(al_str_eq(back.parts[i].text, parts[i].text));
        assert_true(al_str_eq(back.parts[i].raw, parts[i].raw));
        assert_true(al_str_eq(back.parts[i].id, parts[i].id));
        assert_true(al_str_eq(back.parts[i].provider_id, parts[i].provider_id));
        assert_true(al_str_eq(back.parts[i].name, parts[i].name));
    }
    write_message(&back, &again);
    assert_true(al_str_eq(al_buf_str(&again), al_buf_str(&text)));
}

static void every_voice_of_a_user_comes_back(void **state)
{
    (void)state;
    for (int by = AL_LLM_PERSON; by <= AL_LLM_SUMMARY; by++) {
        struct al_llm_part part = {.kind = AL_LLM_TEXT, .text = S("x")};
        struct al_llm_message m = {.role = AL_LLM_USER,
                                   .by = (enum al_llm_by)by,
                                   .parts = &part,
                                   .n_parts = 1},
                              back;
        autobuf struct al_buf text = AL_BUF_INIT(1 << 16);
        autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
        struct al_err err;
        write_message(&m, &text);
        assert_int_equal(read_message(&arena, al_buf_str(&text), &back, &err), 0);
        assert_int_equal(back.role, AL_LLM_USER);
        assert_int_equal(back.by, by);
    }
}

static void a_result_comes_back(void **state)
{
    (void)state;
    struct al_llm_part part = {.kind = AL_LLM_TEXT, .text = S("x")};
    struct al_llm_message m = {.role = AL_LLM_RESULT,
                               .call_id = S("call_1"),
                               .is_error = true,
                               .parts = &part,
                               .n_parts = 1},
                          back;
    autobuf struct al_buf text = AL_BUF_INIT(1 << 16);
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    struct al_err err;
    write_message(&m, &text);
    assert_int_equal(read_message(&arena, al_buf_str(&text), &back, &err), 0);
    assert_int_equal(back.role, AL_LLM_RESULT);
    assert_true(back.is_error && al_str_is(back.call_id, "call_1"));
}

/* --- what no API would take is never in the journal --- */

static void clean_is(const char *in, size_t n, const char *want)
{
    char copy[200];
    assert_true(n < sizeof copy);
    memcpy(copy, in, n);
    al_llm_json_clean(copy, n);
    copy[n] = 0;
    if (strcmp(copy, want) != 0)
        fail_msg("%s instead of %s", copy, want);
}
#define CLEAN(in, want) clean_is(in, sizeof(in) - 1, want)

static void escapes_of_half_characters_and_of_nul_become_the_replacement(void **state)
{
    (void)state;
    CLEAN("{\"a\":\"\\ud83d\"}", "{\"a\":\"\\ufffd\"}");
    CLEAN("\"\\uD83D\\uDE00\"", "\"\\uD83D\\uDE00\"");
    CLEAN("\"\\ude00\\ud83d\"", "\"\\ufffd\\ufffd\"");
    CLEAN("\"\\ud83d\\ud83d\\ude00\"", "\"\\ufffd\\ud83d\\ude00\"");
    CLEAN("\"\\\\ud83d\"", "\"\\\\ud83d\"");
    CLEAN("\"\\\\\\ud83d\"", "\"\\\\\\ufffd\"");
    CLEAN("\"\\u0000\\u0001\"", "\"\\ufffd\\u0001\"");
    CLEAN("\"\\ud83", "\"\\ud83");
    CLEAN("\\ud83d", "\\ufffd");
    CLEAN("\\ud83d\\ude0", "\\ufffd\\ude0");
    CLEAN("\\", "\\");
    CLEAN("\\u", "\\u");
    CLEAN("\\ud83d\\", "\\ufffd\\");
    CLEAN("", "");
}

static void what_enters_the_journal_is_text(void **state)
{
    (void)state;
    struct al_llm_part parts[] = {
        {.kind = AL_LLM_TEXT,
         .text = S("a\xff"
                   "b\0c\xed\xa0\xbd")},
        {.kind = AL_LLM_CALL,
         .id = S("call_1"),
         .provider_id = S("\xff"),
         .name = S("n\0"),
         .text = S("{\"a\":\"\\ud83d\",\"b\":\"\xff\"}")},
        {.kind = AL_LLM_REASONING, .text = S(""), .raw = S("{\"x\":\"\\ude00\"}")},
        {.kind = AL_LLM_REASONING, .text = S("r"), .raw = S("{\"x\":")},
    };
    struct al_llm_message m = {
        .role = AL_LLM_ASSISTANT,
        .from = {.provider = S("p"), .base_url = S("u"), .model = S("m\xff"), .api = AL_API_CHAT},
        .parts = parts,
        .n_parts = 4,
    };
    autobuf struct al_buf text = AL_BUF_INIT(1 << 16);
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    struct al_llm_message back;
    struct al_err err;
    write_message(&m, &text);
    assert_int_equal(read_message(&arena, al_buf_str(&text), &back, &err), 0);
    assert_true(al_str_is(back.parts[0].text, "a\xef\xbf\xbd"
                                              "b\xef\xbf\xbd"
                                              "c\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd") ||
                al_str_is(back.parts[0].text, "a\xef\xbf\xbd"
                                              "b\xef\xbf\xbd"
                                              "c\xef\xbf\xbd"));
    assert_true(al_str_is(back.parts[1].text, "{\"a\":\"\\ufffd\",\"b\":\"\xef\xbf\xbd\"}"));
    assert_true(al_str_is(back.parts[1].name, "n\xef\xbf\xbd"));
    assert_true(al_str_is(back.parts[2].raw, "{\"x\":\"\\ufffd\"}"));
    assert_int_equal(back.parts[3].raw.n, 0);
}

static void what_is_no_message_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "1",
        "null",
        "[]",
        "{}",
        "{\"role\":\"system\",\"parts\":[]}",
        "{\"role\":\"user\",\"parts\":[]}",
        "{\"role\":\"user\",\"by\":\"nobody\",\"parts\":[]}",
        "{\"role\":\"user\",\"by\":\"person\"}",
        "{\"role\":\"user\",\"by\":\"person\",\"parts\":{}}",
        "{\"role\":\"user\",\"by\":\"person\",\"parts\":[1]}",
        "{\"role\":\"user\",\"by\":\"person\",\"parts\":[{}]}",
        "{\"role\":\"user\",\"by\":\"person\",\"parts\":[{\"text\":1}]}",
        "{\"role\":\"user\",\"by\":\"person\",\"parts\":[{\"reasoning\":\"x\"}]}",
        "{\"role\":\"user\",\"by\":\"person\",\"parts\":[{\"call\":{\"id\":\"a\",\"providerId\":\"\","
        "\"name\":\"\",\"arguments\":\"\"}}]}",
        "{\"role\":\"assistant\",\"parts\":[]}",
        "{\"role\":\"assistant\",\"from\":{\"provider\":\"p\",\"baseUrl\":\"u\",\"model\":\"m\",\"api\":"
        "\"x\"},\"parts\":[]}",
        "{\"role\":\"assistant\",\"from\":{\"provider\":\"p\",\"baseUrl\":\"u\",\"api\":\"chat\"},\"parts\":["
        "]}",
        "{\"role\":\"assistant\",\"from\":{\"provider\":\"p\",\"baseUrl\":\"u\",\"model\":\"m\",\"api\":"
        "\"chat\"},"
        "\"parts\":[{\"call\":{\"id\":\"\",\"providerId\":\"\",\"name\":\"\",\"arguments\":\"\"}}]}",
        "{\"role\":\"assistant\",\"from\":{\"provider\":\"p\",\"baseUrl\":\"u\",\"model\":\"m\",\"api\":"
        "\"chat\"},\"parts\":[{\"call\":1}]}",
        "{\"role\":\"result\",\"parts\":[]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
        struct al_llm_message m;
        struct al_err err;
        if (read_message(&arena, al_str_of(bad[i]), &m, &err) == 0)
            fail_msg("%s was read", bad[i]);
        assert_int_equal(err.code, AL_INVALID_INPUT);
        assert_true(err.msg[0]);
    }
}

static void a_message_that_the_arena_cannot_hold_is_refused(void **state)
{
    (void)state;
    static const char text[] = "{\"role\":\"user\",\"by\":\"person\",\"parts\":[{\"text\":"
                               "\"0123456789012345678901234567890123456789\"}]}";
    autoarena struct al_arena big = AL_ARENA_INIT(1 << 20);
    const struct al_json *v = NULL;
    struct al_err err;
    assert_int_equal(al_json_parse(&big, S(text), &v, &err), 0);
    for (size_t max = 0; max < 120; max += 10) {
        autoarena struct al_arena small = AL_ARENA_INIT(max);
        struct al_llm_message m;
        assert_int_equal(al_llm_message_read(&small, v, &m, &err), -1);
        assert_int_equal(err.code, AL_INVALID_INPUT);
    }
}

static void the_text_of_a_message_leaves_a_line_between_what_was_apart(void **state)
{
    (void)state;
    struct al_llm_part parts[] = {
        {.kind = AL_LLM_REASONING, .text = S("r")}, {.kind = AL_LLM_TEXT, .text = S("a")},
        {.kind = AL_LLM_TEXT, .text = S("b")},      {.kind = AL_LLM_CALL, .id = S("call_1")},
        {.kind = AL_LLM_TEXT, .text = S("c")},      {.kind = AL_LLM_CALL, .id = S("call_2")},
    };
    struct al_llm_message m = {.role = AL_LLM_ASSISTANT, .parts = parts, .n_parts = 6};
    autobuf struct al_buf text = AL_BUF_INIT(1 << 16);
    al_llm_message_text(&m, &text);
    assert_true(al_str_is(al_buf_str(&text), "ab\n\nc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_assistants_message_comes_back_as_it_was),
        cmocka_unit_test(every_voice_of_a_user_comes_back),
        cmocka_unit_test(a_result_comes_back),
        cmocka_unit_test(escapes_of_half_characters_and_of_nul_become_the_replacement),
        cmocka_unit_test(what_enters_the_journal_is_text),
        cmocka_unit_test(what_is_no_message_is_refused),
        cmocka_unit_test(a_message_that_the_arena_cannot_hold_is_refused),
        cmocka_unit_test(the_text_of_a_message_leaves_a_line_between_what_was_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
