/* Tokens before they are counted, and what they cost. */
#include "test.h"

#include "llm/llm_int.h"

#include <stdio.h>
#include <stdlib.h>

/* --- estimates --- */

static void a_token_is_three_and_a_half_bytes(void **state)
{
    (void)state;
    assert_int_equal(al_llm_estimate(AL_STR("")), 0);
    assert_int_equal(al_llm_estimate(AL_STR("a")), 1);
    assert_int_equal(al_llm_estimate(AL_STR("abcdefg")), 2);
    assert_int_equal(al_llm_estimate(AL_STR("abcdefgh")), 3);
    char text[3501];
    memset(text, 'x', 3500);
    assert_int_equal(al_llm_estimate((struct al_str){text, 3500}), 1000);
    memset(text, 0xe9, 3500); /* no UTF-8 at all */
    assert_int_equal(al_llm_estimate((struct al_str){text, 3500}), 1000);
}

static void a_cjk_character_is_two_tokens(void **state)
{
    (void)state;
    assert_int_equal(al_llm_estimate(AL_STR("\xe4\xb8\xad\xe6\x96\x87")), 4); /* two of three bytes */
    assert_int_equal(al_llm_estimate(AL_STR("\xed\x95\x9c\xea\xb8\x80")), 4); /* hangul */
    assert_int_equal(al_llm_estimate(AL_STR("\xe3\x81\x82\xe3\x82\xa2\xe3\x80\x82")),
                     6); /* kana, a full stop */
    assert_int_equal(al_llm_estimate(AL_STR("\xf0\xa0\x80\x80\xf0\xa0\x80\x80\xf0\xa0\x80\x80")),
                     8); /* of four bytes */
    assert_int_equal(al_llm_estimate(AL_STR("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9")), 4);
    assert_int_equal(al_llm_estimate(AL_STR("abcdefg\xe4\xb8\xad")), 4);
}

static void digits_and_signs_are_tokens_of_their_own(void **state)
{
    (void)state;
    /* 26 bytes of which the rule makes 8, and a tokenizer 14 */
    assert_in_range(al_llm_estimate(AL_STR("north,2026-01,419,473.29\r\n")), 12, 17);
    assert_in_range(al_llm_estimate(AL_STR("0x00c0, 0x00c1, 0x00c2, ")), 12, 22);
}

/* Sessions with what a tokenizer made of them, request by request: the last report and the estimate of what
 * was added. */
static void check_session(const char *name, int64_t most)
{
    char path[512];
    autoarena struct al_arena a = AL_ARENA_INIT(16 << 20);
    autobuf struct al_buf text = AL_BUF_INIT(1 << 20);
    const struct al_json *v = NULL;
    snprintf(path, sizeof path, "%s/%s.json", AL_ESTIMATE, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *to = al_buf_grow(&text, 1 << 19);
    text.n = fread(to, 1, 1 << 19, f);
    fclose(f);
    assert_int_equal(al_json_parse(&a, al_buf_str(&text), &v, NULL), 0);
    int64_t reported = 0;
    bool first = true;
    al_json_each(request, al_json_get(v, "requests"))
    {
        int64_t tokens = 0, estimate = reported;
        assert_true(al_json_int(al_json_get(request, "tokens"), 1, 1 << 30, &tokens));
        al_json_each(added, al_json_get(request, "added")) estimate += al_llm_estimate(added->str) + 4;
        int64_t off = (estimate - tokens) * 100 / tokens;
        if (off > (first ? 2 * most : most) || off < -15)
            fail_msg("%s: %lld for %lld", name, (long long)estimate, (long long)tokens);
        reported = tokens;
        first = false;
    }
}

static void estimates_of_recorded_sessions_are_near(void **state)
{
    (void)state;
    check_session("code", 15);
    check_session("data", 15);
    /* The rule is of older tokenizers, which know less of these scripts: too much is no harm, too little
     * would be. */
    check_session("cjk", 50);
}

/* --- cost --- */

struct bill {
    struct al_price price;
    struct al_llm_usage usage;
    int64_t cost;
};
#define PRICE                              \
    {                                      \
        3000000, 300000, 3750000, 15000000 \
    } /* 3, 0.30, 3.75 and 15 dollars a million */
static const struct bill bills[] = {
    {PRICE, {true, 0, 0, 0, 0, 0}, 0},
    {PRICE, {true, 1, 0, 0, 0, 0}, 3000000},
    {PRICE, {true, 1000000, 0, 0, 0, 0}, 3000000000000},
    /* 1,000 plain, 8,000 read from the cache, 1,000 written to it, 500 out of which 300 reasoned */
    {PRICE, {true, 10000, 8000, 1000, 500, 300}, 3000000000 + 2400000000 + 3750000000 + 7500000000},
    {PRICE, {true, 10000, 10000, 0, 0, 0}, 3000000000},
    {PRICE, {false, 10000, 0, 0, 500, 0}, -1},
    /* a report of more cache than input */
    {PRICE, {true, 10, 20, 0, 0, 0}, 6000000},
    {PRICE, {true, -5, -1, -1, -1, -1}, 0},
    {{0, 0, 0, 0}, {true, 10000, 8000, 1000, 500, 300}, 0},
    {{-1, -1, -1, -1}, {true, 0, 0, 0, 0, 0}, 0},
    {{-1, 1, 1, 1}, {true, 10, 10, 0, 0, 0}, 10},
    {{-1, 1, 1, 1}, {true, 11, 10, 0, 0, 0}, -1},
    {{1, -1, 1, 1}, {true, 10, 1, 0, 0, 0}, -1},
    {{1, 1, -1, 1}, {true, 10, 0, 1, 0, 0}, -1},
    {{1, 1, 1, -1}, {true, 10, 0, 0, 1, 0}, -1},
    {{1, -1, -1, -1}, {true, 10, 0, 0, 0, 0}, 10},
    {PRICE, {true, INT64_MAX, 0, 0, 0, 0}, -1},
    {PRICE, {true, 4, 0, 0, INT64_MAX / 15000000, 0}, -1},
    {{1, 1, 1, 1}, {true, INT64_MAX, 0, 0, 0, 0}, INT64_MAX},
    {{1, 1, 1, 1}, {true, INT64_MAX, 0, 0, 1, 0}, -1},
    {{1000000000000, 0, 0, 0}, {true, 9000000, 0, 0, 0, 0}, 9000000000000000000},
};

static void a_cost_is_exact_or_unknown(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bills / sizeof *bills; i++) {
        int64_t got = al_llm_cost(&bills[i].price, &bills[i].usage);
        if (got != bills[i].cost)
            fail_msg("bill %zu: %lld", i, (long long)got);
    }
}

/* --- the four shapes of a report, from the wire to the money: each 10,000 in, of which 8,000 cached, 500 out
 * --- */

struct shape {
    enum al_api api;
    const char *stream;
    struct al_llm_usage usage;
};
static const struct shape shapes[] = {
    {AL_API_CHAT,
     "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n"
     "data: "
     "{\"choices\":[],\"usage\":{\"prompt_tokens\":10000,\"completion_tokens\":500,\"total_tokens\":10500,"
     "\"prompt_tokens_details\":{\"cached_tokens\":8000},\"completion_tokens_details\":{\"reasoning_tokens\":"
     "300}}}\n\n"
     "data: [DONE]\n\n",
     {true, 10000, 8000, 0, 500, 300}},
    {AL_API_CHAT, /* DeepSeek's */
     "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}],"
     "\"usage\":{\"prompt_tokens\":10000,\"completion_tokens\":500,\"prompt_cache_hit_tokens\":8000,\"prompt_"
     "cache_miss_tokens\":2000}}"
     "\n\ndata: [DONE]\n\n",
     {true, 10000, 8000, 0, 500, 0}},
    {AL_API_RESPONSES,
     "data: "
     "{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":"
     "\"message\",\"role\":\"assistant\","
     "\"content\":[{\"type\":\"output_text\",\"text\":\"x\"}]}],\"usage\":{\"input_tokens\":10000,"
     "\"input_tokens_details\":{\"cached_tokens\":8000,\"cache_write_tokens\":1000},\"output_tokens\":500,"
     "\"output_tokens_details\":{\"reasoning_tokens\":300},\"total_tokens\":10500}}}\n\n",
     {true, 10000, 8000, 1000, 500, 300}},
    {AL_API_MESSAGES,
     "data: {\"type\":\"message_start\",\"message\":{\"content\":[],\"usage\":{\"input_tokens\":1000,"
     "\"cache_creation_input_tokens\":1000,\"cache_read_input_tokens\":8000,\"output_tokens\":1}}}\n\n"
     "data: "
     "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"x\"}}\n\n"
     "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
     "data: "
     "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":500}}"
     "\n\n"
     "data: {\"type\":\"message_stop\"}\n\n",
     {true, 10000, 8000, 1000, 500, 0}},
};

static void four_reports_become_one_kind_of_usage(void **state)
{
    (void)state;
    static const struct al_llm_sink sink = {0};
    static const struct al_price price = PRICE;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct al_llm_reader r;
        al_llm_reader_init(&r, shapes[i].api, &sink, NULL);
        al_llm_reader_feed(&r, al_str_of(shapes[i].stream));
        al_llm_reader_eof(&r);
        assert_int_equal(r.state, AL_LLM_ENDED);
        const struct al_llm_usage *u = &r.usage, *want = &shapes[i].usage;
        assert_true(u->known);
        assert_int_equal(u->input, want->input);
        assert_int_equal(u->cached_input, want->cached_input);
        assert_int_equal(u->cache_write, want->cache_write);
        assert_int_equal(u->output, want->output);
        assert_int_equal(u->reasoning, want->reasoning);
        int64_t plain = want->input - want->cached_input - want->cache_write;
        assert_int_equal(al_llm_cost(&price, u), plain * 3000000 + 8000 * INT64_C(300000) +
                                                     want->cache_write * 3750000 + 500 * INT64_C(15000000));
        al_llm_reader_fini(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_three_and_a_half_bytes),
        cmocka_unit_test(a_cjk_character_is_two_tokens),
        cmocka_unit_test(digits_and_signs_are_tokens_of_their_own),
        cmocka_unit_test(estimates_of_recorded_sessions_are_near),
        cmocka_unit_test(a_cost_is_exact_or_unknown),
        cmocka_unit_test(four_reports_become_one_kind_of_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
