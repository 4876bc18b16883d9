/* The validator of conversations, rule by rule; what the normaliser makes of the odd ones is in the recorded
 * requests. */
#include "test.h"

#include "unit/llm_request_world.h"

#include <stdio.h>
#include <stdlib.h>

#define TEXT(s)                              \
    {                                        \
        .kind = AL_LLM_TEXT, .text = AL_S(s) \
    }
#define CALL(i)                                                                           \
    {                                                                                     \
        .kind = AL_LLM_CALL, .id = AL_S(i), .name = AL_S("read_file"), .text = AL_S("{}") \
    }
#define THOUGHT(r)                               \
    {                                            \
        .kind = AL_LLM_REASONING, .raw = AL_S(r) \
    }
#define SIGNED "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"c2ln\"}"
#define SEALED "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[],\"encrypted_content\":\"gAAA\"}"

struct part_list {
    enum al_llm_role role;
    struct al_llm_part parts[4];
    size_t n;
    const char *call_id;
};
#define USER(...)                                                                          \
    {                                                                                      \
        AL_LLM_USER, {__VA_ARGS__},                                                        \
            sizeof((struct al_llm_part[]){__VA_ARGS__}) / sizeof(struct al_llm_part), NULL \
    }
#define ASSISTANT(...)                                                                     \
    {                                                                                      \
        AL_LLM_ASSISTANT, {__VA_ARGS__},                                                   \
            sizeof((struct al_llm_part[]){__VA_ARGS__}) / sizeof(struct al_llm_part), NULL \
    }
#define RESULT(id, s)                   \
    {                                   \
        AL_LLM_RESULT, {TEXT(s)}, 1, id \
    }

struct rule {
    const char *says; /* a piece of the message; NULL: it passes */
    int api;          /* -1: all of them */
    struct part_list messages[8];
    size_t n;
};
#define ALL (-1)
static const struct rule rules[] = {
    {NULL, ALL, {USER(TEXT("hi"))}, 1},
    {NULL, ALL, {USER(TEXT("hi")), USER(TEXT("ho"), TEXT("he"))}, 2},
    {NULL,
     ALL,
     {USER(TEXT("hi")), ASSISTANT(TEXT("a"), CALL("c1"), CALL("c2")), RESULT("c1", "x"), RESULT("c2", "y"),
      USER(TEXT("z"))},
     5},
    {NULL,
     ALL,
     {USER(TEXT("hi")), ASSISTANT(CALL("c1")), RESULT("c1", "x"), ASSISTANT(CALL("c2")), RESULT("c2", "y")},
     5},
    {NULL, AL_API_MESSAGES, {USER(TEXT("hi")), ASSISTANT(THOUGHT(SIGNED), TEXT("a"))}, 2},
    {NULL,
     AL_API_MESSAGES,
     {USER(TEXT("hi")), ASSISTANT(THOUGHT("{\"type\":\"redacted_thinking\",\"data\":\"AA\"}"), TEXT("a"))},
     2},
    {NULL, AL_API_RESPONSES, {USER(TEXT("hi")), ASSISTANT(THOUGHT(SEALED), TEXT("a"))}, 2},
    {NULL,
     AL_API_CHAT,
     {USER(TEXT("hi")), ASSISTANT({.kind = AL_LLM_REASONING, .text = AL_S("hm")}, CALL("c1")),
      RESULT("c1", "x")},
     3},
    {NULL,
     AL_API_CHAT,
     {USER(TEXT("hi")), ASSISTANT(CALL("functions.read:0")), RESULT("functions.read:0", "x")},
     3},

    {"first message", ALL, {{.n = 0}}, 0},
    {"first message", ALL, {ASSISTANT(TEXT("a"))}, 1},
    {"first message", ALL, {RESULT("c1", "x")}, 1},
    {"no text", ALL, {{AL_LLM_USER, {{0}}, 0, NULL}}, 1},
    {"text is empty", ALL, {USER(TEXT(""))}, 1},
    {"text is empty", ALL, {USER(TEXT("a"), TEXT(" \n\t"))}, 1},
    {"text is empty", ALL, {USER(TEXT("\xc2\xa0\xe3\x80\x80\xe2\x80\xa8"))}, 1},
    {"UTF-8", ALL, {USER(TEXT("a\xff"))}, 1},
    {"UTF-8", ALL, {USER(TEXT("a\xed\xa0\x80"))}, 1},
    {"UTF-8", ALL, {USER(TEXT("a\0b"))}, 1},
    {"than text", ALL, {USER(TEXT("a"), CALL("c1"))}, 1},
    {"nothing in it", ALL, {USER(TEXT("a")), {AL_LLM_ASSISTANT, {{0}}, 0, NULL}}, 2},
    {"text is empty", ALL, {USER(TEXT("a")), ASSISTANT(TEXT(" "))}, 2},
    {"not followed", AL_API_MESSAGES, {USER(TEXT("a")), ASSISTANT(TEXT("a"), THOUGHT(SIGNED))}, 2},
    {"not followed", AL_API_RESPONSES, {USER(TEXT("a")), ASSISTANT(THOUGHT(SEALED))}, 2},
    {"the form", AL_API_MESSAGES, {USER(TEXT("a")), ASSISTANT(THOUGHT(SEALED), TEXT("a"))}, 2},
    {"the form", AL_API_RESPONSES, {USER(TEXT("a")), ASSISTANT(THOUGHT(SIGNED), TEXT("a"))}, 2},
    {"the form",
     AL_API_RESPONSES,
     {USER(TEXT("a")), ASSISTANT(THOUGHT("{\"type\":\"reasoning\",\"id\":\"rs_1\"}"), TEXT("a"))},
     2},
    {"the form",
     AL_API_RESPONSES,
     {USER(TEXT("a")), ASSISTANT(THOUGHT("{\"type\":\"reasoning\",\"encrypted_content\":\"\"}"), TEXT("a"))},
     2},
    {"the form",
     AL_API_MESSAGES,
     {USER(TEXT("a")),
      ASSISTANT(THOUGHT("{\"type\":\"thinking\",\"thinking\":1,\"signature\":\"a\"}"), TEXT("a"))},
     2},
    {"the form",
     AL_API_MESSAGES,
     {USER(TEXT("a")),
      ASSISTANT(THOUGHT("{\"type\":\"thinking\",\"thinking\":\"\\ud800\",\"signature\":\"a\"}"), TEXT("a"))},
     2},
    {"there twice",
     AL_API_RESPONSES,
     {USER(TEXT("a")), ASSISTANT(THOUGHT(SEALED), TEXT("a")), USER(TEXT("b")),
      ASSISTANT(THOUGHT(SEALED), TEXT("c"))},
     4},
    {"the form",
     AL_API_RESPONSES,
     {USER(TEXT("a")), ASSISTANT(THOUGHT("{\"type\":\"reasoning\",\"encrypted_content\":\"x\"}"), TEXT("a"))},
     2},
    {"the form", ALL, {USER(TEXT("a")), ASSISTANT(THOUGHT("{"), TEXT("a"))}, 2},
    {"the form", AL_API_MESSAGES, {USER(TEXT("a")), ASSISTANT(THOUGHT(""), TEXT("a"))}, 2},
    {"the form", AL_API_CHAT, {USER(TEXT("a")), ASSISTANT(THOUGHT(SIGNED), TEXT("a"))}, 2},
    {"no result behind", ALL, {USER(TEXT("a")), ASSISTANT(CALL("c1"))}, 2},
    {"no result behind",
     ALL,
     {USER(TEXT("a")), ASSISTANT(CALL("c1")), USER(TEXT("b")), RESULT("c1", "x")},
     4},
    {"no result behind", ALL, {USER(TEXT("a")), ASSISTANT(CALL("c1"), CALL("c2")), RESULT("c1", "x")}, 3},
    {"no result behind",
     ALL,
     {USER(TEXT("a")), ASSISTANT(CALL("c1"), CALL("c2")), RESULT("c1", "x"), USER(TEXT("b")),
      RESULT("c2", "y")},
     5},
    {"another call",
     ALL,
     {USER(TEXT("a")), ASSISTANT(CALL("c1"), CALL("c2")), RESULT("c2", "x"), RESULT("c1", "y")},
     4},
    {"no call before", ALL, {USER(TEXT("a")), RESULT("c1", "x")}, 2},
    {"no call before", ALL, {USER(TEXT("a")), ASSISTANT(TEXT("b")), RESULT("c1", "x")}, 3},
    {"no call before",
     ALL,
     {USER(TEXT("a")), ASSISTANT(CALL("c1")), RESULT("c1", "x"), RESULT("c1", "x")},
     4},
    {"text is empty", ALL, {USER(TEXT("a")), ASSISTANT(CALL("c1")), RESULT("c1", "")}, 3},
    {"not one text", ALL, {USER(TEXT("a")), ASSISTANT(CALL("c1")), {AL_LLM_RESULT, {{0}}, 0, "c1"}}, 3},
    {"same id",
     ALL,
     {USER(TEXT("a")), ASSISTANT(CALL("c1"), CALL("c1")), RESULT("c1", "x"), RESULT("c1", "y")},
     4},
    {"same id",
     ALL,
     {USER(TEXT("a")), ASSISTANT(CALL("c1")), RESULT("c1", "x"), ASSISTANT(CALL("c1")), RESULT("c1", "x")},
     5},
    {"call's id", ALL, {USER(TEXT("a")), ASSISTANT(CALL("")), RESULT("", "x")}, 3},
    {"call's id", ALL, {USER(TEXT("a")), ASSISTANT(CALL("a|b")), RESULT("a|b", "x")}, 3},
    {"call's id", ALL, {USER(TEXT("a")), ASSISTANT(CALL("a b")), RESULT("a b", "x")}, 3},
    {"call's id", ALL, {USER(TEXT("a")), ASSISTANT(CALL("\xc3\xa9")), RESULT("\xc3\xa9", "x")}, 3},
    {"call's id",
     ALL,
     {USER(TEXT("a")), ASSISTANT(CALL("01234567890123456789012345678901234567890123456789012345678901234"))},
     2},
    {"call's id", AL_API_MESSAGES, {USER(TEXT("a")), ASSISTANT(CALL("functions.read:0"))}, 2},
    {"call's id", AL_API_RESPONSES, {USER(TEXT("a")), ASSISTANT(CALL("functions.read:0"))}, 2},
    {"tool's name",
     ALL,
     {USER(TEXT("a")),
      ASSISTANT({.kind = AL_LLM_CALL, .id = AL_S("c1"), .name = AL_S("a.b"), .text = AL_S("{}")})},
     2},
    {"tool's name",
     ALL,
     {USER(TEXT("a")), ASSISTANT({.kind = AL_LLM_CALL, .id = AL_S("c1"), .text = AL_S("{}")})},
     2},
    {"no JSON object",
     ALL,
     {USER(TEXT("a")),
      ASSISTANT({.kind = AL_LLM_CALL, .id = AL_S("c1"), .name = AL_S("a"), .text = AL_S("")})},
     2},
    {"no JSON object",
     ALL,
     {USER(TEXT("a")),
      ASSISTANT({.kind = AL_LLM_CALL, .id = AL_S("c1"), .name = AL_S("a"), .text = AL_S("[1]")})},
     2},
    {"no JSON object",
     ALL,
     {USER(TEXT("a")),
      ASSISTANT({.kind = AL_LLM_CALL, .id = AL_S("c1"), .name = AL_S("a"), .text = AL_S("{}{}")})},
     2},
    {"no JSON object",
     ALL,
     {USER(TEXT("a")),
      ASSISTANT(
          {.kind = AL_LLM_CALL, .id = AL_S("c1"), .name = AL_S("a"), .text = AL_S("{\"a\":\"\\udc00\"}")})},
     2},
};

static void check_rule(const struct rule *r, enum al_api api)
{
    struct al_llm_message messages[8];
    struct al_err err = {0};
    for (size_t i = 0; i < r->n; i++) {
        const struct part_list *l = &r->messages[i];
        messages[i] = (struct al_llm_message){.role = l->role,
                                              .parts = (struct al_llm_part *)l->parts,
                                              .n_parts = l->n,
                                              .call_id = al_str_of(l->call_id ? l->call_id : "")};
    }
    int got = al_llm_history_check(api, messages, r->n, &err);
    if ((got < 0) != (r->says != NULL) || (r->says && !strstr(err.msg, r->says)))
        fail_msg("rule %zu of %s: %s", (size_t)(r - rules), al_api_name(api), err.msg);
    if (got < 0)
        assert_int_equal(err.code, AL_INTERNAL);
}

static void each_rule_is_held(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (int api = 0; api < AL_N_APIS; api++)
            if (rules[i].api == ALL || rules[i].api == api)
                check_rule(&rules[i], (enum al_api)api);
}

static void more_messages_than_an_api_takes_are_told(void **state)
{
    (void)state;
    struct al_err err;
    size_t n = 100001;
    struct al_llm_part part = TEXT("x");
    struct al_llm_message *m = calloc(n, sizeof *m);
    for (size_t i = 0; i < n; i++)
        m[i] = (struct al_llm_message){
            .role = i % 2 ? AL_LLM_ASSISTANT : AL_LLM_USER, .parts = &part, .n_parts = 1};
    assert_int_equal(al_llm_history_check(AL_API_MESSAGES, m, n - 1, &err), 0);
    assert_int_equal(al_llm_history_check(AL_API_MESSAGES, m, n, &err), -1);
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 30);
    struct al_provider p = {.api = AL_API_MESSAGES};
    struct al_llm_request r = {0};
    struct al_llm_wire w = {.provider = &p, .model = "m", .request = &r};
    const struct al_llm_message *made;
    size_t made_n;
    assert_int_equal(al_llm_history(&a, &w, m, n, &made, &made_n, &err), -1);
    assert_int_equal(err.code, AL_CONTEXT_LIMIT);
    free(m);
}

static void too_little_memory_is_an_error_and_no_crash(void **state)
{
    (void)state;
    struct lw w;
    struct al_err err;
    unsigned failed = 0;
    for (uint64_t seed = 1; seed < 40; seed++) {
        struct lw_chance c = {.seed = seed * 0x9e3779b97f4a7c15u};
        lw_random(&w, &c, 20);
        for (size_t max = 0; max < 30000; max = max * 3 / 2 + 7) {
            autoarena struct al_arena a = AL_ARENA_INIT(max);
            const struct al_llm_message *made;
            size_t n;
            if (al_llm_history(&a, &w.wire, w.messages, w.n, &made, &n, &err) < 0) {
                assert_int_equal(err.code, AL_CONTEXT_LIMIT);
                failed++;
            }
        }
        lw_fini(&w);
    }
    assert_in_range(failed, 50, 100000);
}

static void what_chance_makes_passes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 1000; seed++) {
        struct lw w;
        struct al_err err;
        struct lw_chance c = {.seed = seed * 0x9e3779b97f4a7c15u};
        autobuf struct al_buf body = AL_BUF_INIT(64 << 20);
        lw_random(&w, &c, 60);
        if (lw_body(&w, w.n, &body, &err) < 0)
            fail_msg("seed %d: %s", (int)seed, err.msg);
        assert_false(al_buf_failed(&body));
        assert_true(al_json_check(al_buf_str(&body), 128));
        lw_fini(&w);
    }
}

/* Thousands of calls with one id, and as many results: linear, or this takes minutes. */
static void many_calls_of_one_id_are_told_apart_in_linear_time(void **state)
{
    (void)state;
    enum {
        N = 40000
    };
    struct al_provider p = {
        .api = AL_API_MESSAGES, .name = (char *)"here", .base_url = (char *)"https://h.example"};
    struct al_llm_request r = {0};
    struct al_llm_wire w = {.provider = &p, .model = "m", .request = &r};
    struct al_llm_part *calls = calloc(N, sizeof *calls), text = TEXT("x");
    struct al_llm_message *m = calloc(N + 2, sizeof *m);
    m[0] = (struct al_llm_message){.role = AL_LLM_USER, .parts = &text, .n_parts = 1};
    m[1] = (struct al_llm_message){.role = AL_LLM_ASSISTANT, .parts = calls, .n_parts = N};
    for (size_t i = 0; i < N; i++) {
        calls[i] = (struct al_llm_part)CALL("call_0");
        m[i + 2] = (struct al_llm_message){
            .role = AL_LLM_RESULT, .parts = &text, .n_parts = 1, .call_id = AL_STR("call_0")};
    }
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 30);
    const struct al_llm_message *made;
    size_t n;
    struct al_err err;
    assert_int_equal(al_llm_history(&a, &w, m, N + 2, &made, &n, &err), 0);
    assert_int_equal(n, N + 2);
    assert_int_equal(al_llm_history_check(p.api, made, n, &err), 0);
    assert_true(al_str_is(made[N + 1].call_id, "call_0_40000"));
    free(calls);
    free(m);
}

/* Reasoning of a megabyte of zeros is a claim on fifty megabytes of ours: it stays away, a long text does
 * not. */
static void what_a_provider_sends_back_to_itself_takes_little_memory(void **state)
{
    (void)state;
    struct al_buf many = AL_BUF_INIT(8 << 20), one = AL_BUF_INIT(8 << 20);
    al_buf_adds(&many, "{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":\"a\",\"more\":[0");
    al_buf_adds(&one, "{\"type\":\"thinking\",\"signature\":\"a\",\"thinking\":\"");
    for (size_t i = 0; i < 1 << 20; i++) {
        al_buf_adds(&many, ",0");
        al_buf_adds(&one, "\\n");
    }
    al_buf_adds(&many, "]}");
    al_buf_adds(&one, "\"}");
    assert_false(al_llm_reasoning_ok(AL_API_MESSAGES, al_buf_str(&many), true));
    assert_true(al_llm_reasoning_ok(AL_API_MESSAGES, al_buf_str(&one), true));
    al_buf_free(&many);
    al_buf_free(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_is_held),
        cmocka_unit_test(more_messages_than_an_api_takes_are_told),
        cmocka_unit_test(too_little_memory_is_an_error_and_no_crash),
        cmocka_unit_test(what_chance_makes_passes),
        cmocka_unit_test(what_a_provider_sends_back_to_itself_takes_little_memory),
        cmocka_unit_test(many_calls_of_one_id_are_told_apart_in_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
