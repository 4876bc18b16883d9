/* Sizes: what is refused, and that what is not refused takes no more than its length. */
#include "llm_read_rig.h"

#include "base/mem.h"

#include <stdio.h>

#define MIB ((size_t)1 << 20)
/* Work that would not end if it were quadratic, and that the sanitizers bear. */
#ifdef AL_ASAN
#define LESS 8
#else
#define LESS 1
#endif

static void fill(struct al_buf *out, char c, size_t n)
{
    char *p = al_buf_grow(out, n);
    assert_non_null(p);
    memset(p, c, n);
}

static const char head[] = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"";
static const char tail[] = "\"}}]}\n\n";
static const char finish[] =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

static void assert_fault(const struct reading *x, enum al_llm_fault_kind kind)
{
    assert_int_equal(x->r.state, AL_LLM_FAILED);
    if (x->r.fault.kind != kind)
        fail_msg("%s: %s", al_llm_fault_name(x->r.fault.kind), x->r.fault.message);
}

static void an_event_of_15_mib_comes_in_reads_of_one_byte(void **state)
{
    (void)state;
    autobuf struct al_buf text = AL_BUF_INIT(32 * MIB);
    struct reading x;
    size_t n = 15 * MIB / LESS;
    al_buf_adds(&text, head);
    fill(&text, 'x', n);
    al_buf_adds(&text, tail);
    al_buf_adds(&text, finish);
    read_all(&x, AL_API_CHAT, al_buf_str(&text), 1, 0);
    assert_int_equal(x.r.state, AL_LLM_ENDED);
    assert_int_equal(x.text.n, n);
    assert_int_equal(x.n_told, 1);
    end_reading(&x);
}

static void an_event_of_15_mib_in_lines_of_a_few_bytes_is_read(void **state)
{
    (void)state;
    autobuf struct al_buf text = AL_BUF_INIT(64 * MIB);
    struct reading x;
    al_buf_adds(&text, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\n");
    for (size_t n = 0; n < 15 * MIB / LESS; n += 2)
        al_buf_adds(&text, "data: \n");
    al_buf_adds(&text, "data:\"finish_reason\":\"stop\"}]}\n\n");
    read_all(&x, AL_API_CHAT, al_buf_str(&text), 0, 0);
    assert_int_equal(x.r.state, AL_LLM_ENDED);
    assert_true(al_str_is(al_buf_str(&x.text), "x"));
    end_reading(&x);
}

static void an_event_of_17_mib_fails_before_its_end_naming_the_limit(void **state)
{
    (void)state;
    autobuf struct al_buf text = AL_BUF_INIT(32 * MIB);
    struct reading x;
    al_buf_adds(&text, head);
    fill(&text, 'x', 17 * MIB);
    start_reading(&x, AL_API_CHAT);
    al_llm_reader_feed(&x.r, al_buf_str(&text));
    assert_fault(&x, AL_LLM_FAULT_TOO_LARGE);
    assert_false(x.r.fault.retry);
    assert_non_null(strstr(x.r.fault.message, "16 MiB"));
    assert_int_equal(x.text.n, 0);
    end_reading(&x);
}

static void a_comment_of_17_mib_is_no_event(void **state)
{
    (void)state;
    autobuf struct al_buf text = AL_BUF_INIT(32 * MIB);
    struct reading x;
    al_buf_adds(&text, ":");
    fill(&text, 'x', 17 * MIB);
    al_buf_adds(&text, "\n\n");
    al_buf_adds(&text, finish);
    read_all(&x, AL_API_CHAT, al_buf_str(&text), 65536, 0);
    assert_int_equal(x.r.state, AL_LLM_ENDED);
    end_reading(&x);
}

static void read_mibs(struct reading *x, size_t n, const char *before)
{
    autobuf struct al_buf text = AL_BUF_INIT(32 * MIB);
    al_buf_adds(&text, before);
    fill(&text, 'x', MIB);
    al_buf_adds(&text, tail);
    start_reading(x, AL_API_CHAT);
    x->r.draft.bytes = 60 * MIB; /* as if most of it had been read */
    n -= 60;
    for (size_t i = 0; i < n; i++)
        al_llm_reader_feed(&x->r, al_buf_str(&text));
    al_llm_reader_feed(&x->r, al_str_of(finish));
    al_llm_reader_eof(&x->r);
}

static void an_answer_is_at_most_64_mib(void **state)
{
    (void)state;
    struct reading x;
    read_mibs(&x, 64, head);
    assert_int_equal(x.r.state, AL_LLM_ENDED);
    assert_int_equal(x.r.draft.bytes, 64 * MIB);
    end_reading(&x);
    read_mibs(&x, 65, head);
    assert_fault(&x, AL_LLM_FAULT_TOO_LARGE);
    assert_non_null(strstr(x.r.fault.message, "64 MiB"));
    end_reading(&x);
}

static void reasoning_counts_as_text_does(void **state)
{
    (void)state;
    struct reading x;
    read_mibs(&x, 65, "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"");
    assert_fault(&x, AL_LLM_FAULT_TOO_LARGE);
    end_reading(&x);
}

static void an_event_of_millions_of_values_is_too_large(void **state)
{
    (void)state;
    autobuf struct al_buf text = AL_BUF_INIT(32 * MIB);
    struct reading x;
    al_buf_adds(&text, "data: {\"x\":[0");
    for (size_t i = 0; i < 3 * MIB; i++)
        al_buf_adds(&text, ",0");
    al_buf_adds(&text, "]}\n\n");
    read_all(&x, AL_API_MESSAGES, al_buf_str(&text), 0, 0);
    assert_fault(&x, AL_LLM_FAULT_TOO_LARGE);
    end_reading(&x);
}

/* Not malformed: that would be asked for again, four times. */
static void a_whole_answer_of_millions_of_values_is_too_large(void **state)
{
    (void)state;
    struct reading x;
    autobuf struct al_buf body = AL_BUF_INIT(64u << 20);
    al_buf_adds(&body, "{\"choices\":[{\"message\":{\"content\":\"x\",\"junk\":[0");
    char *p = al_buf_grow(&body, 8u << 20);
    for (size_t i = 0; i < 8u << 20; i += 2)
        memcpy(p + i, ",0", 2);
    al_buf_adds(&body, "]},\"finish_reason\":\"stop\"}]}");
    read_whole(&x, AL_API_CHAT, al_buf_str(&body));
    assert_fault(&x, AL_LLM_FAULT_TOO_LARGE);
    assert_false(x.r.fault.retry);
    end_reading(&x);
}

static void an_event_that_is_nested_without_end_is_malformed(void **state)
{
    (void)state;
    autobuf struct al_buf text = AL_BUF_INIT(32 * MIB);
    struct reading x;
    al_buf_adds(&text, "data: ");
    fill(&text, '[', 4 * MIB);
    al_buf_adds(&text, "\n\n");
    read_all(&x, AL_API_RESPONSES, al_buf_str(&text), 0, 0);
    assert_fault(&x, AL_LLM_FAULT_MALFORMED);
    end_reading(&x);
}

static void what_is_nested_too_deeply_is_not_sent_back(void **state)
{
    (void)state;
    autobuf struct al_buf text = AL_BUF_INIT(MIB);
    struct reading x;
    al_buf_adds(
        &text,
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"new\",\"x\":");
    fill(&text, '[', 110);
    fill(&text, ']', 110);
    al_buf_adds(&text, "}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
                       "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n"
                       "data: {\"type\":\"message_stop\"}\n\n");
    read_all(&x, AL_API_MESSAGES, al_buf_str(&text), 0, 0);
    autobuf struct al_buf told = AL_BUF_INIT(MIB);
    tell_message(&x, &told);
    assert_true(al_str_is(al_buf_str(&told), "stop end_turn\n"));
    assert_int_equal(x.warnings, 1);
    end_reading(&x);
}

static void add_call(struct al_buf *out, const char *id, size_t index, const char *name, const char *args)
{
    al_buf_addf(out,
                "data: "
                "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%zu,\"id\":\"%s\",\"function\":{"
                "\"name\":\"%s\","
                "\"arguments\":\"%s\"}}]}}]}\n\n",
                index, id, name, args);
}

static void an_answer_has_at_most_4096_parts(void **state)
{
    (void)state;
    for (size_t n = 4096; n <= 4097; n++) {
        autobuf struct al_buf text = AL_BUF_INIT(4 * MIB);
        struct reading x;
        for (size_t i = 0; i < n; i++)
            add_call(&text, "", i, "f", "{}");
        al_buf_adds(&text, finish);
        read_all(&x, AL_API_CHAT, al_buf_str(&text), 0, 0);
        if (n == 4096)
            assert_int_equal(x.r.state, AL_LLM_ENDED);
        else
            assert_fault(&x, AL_LLM_FAULT_TOO_LARGE);
        end_reading(&x);
    }
}

/* Were the arguments read again for each piece, or all calls looked through, this would take hours. */
static void pieces_of_many_calls_that_repeat_everything_are_read_in_time(void **state)
{
    (void)state;
    static const char text[] =
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"%zu\",\"function\":{\"name\":\"f\","
        "\"arguments\":\"%s\"}}]}}]}\n\n";
    struct reading x;
    char event[200];
    size_t calls = 4000, pieces = 100000 / LESS;
    start_reading(&x, AL_API_CHAT);
    for (size_t i = 0; i < calls + pieces; i++) {
        int n = snprintf(event, sizeof event, text, i % calls, i < calls ? "[\\\"" : "0123456789");
        al_llm_reader_feed(&x.r, (struct al_str){event, (size_t)n});
    }
    al_llm_reader_feed(&x.r, al_str_of(finish));
    al_llm_reader_eof(&x.r);
    assert_int_equal(x.r.state, AL_LLM_ENDED);
    assert_int_equal(x.r.draft.n, calls);
    end_reading(&x);
}

static void one_call_in_many_pieces_that_repeat_its_name_is_read_in_time(void **state)
{
    (void)state;
    autobuf struct al_buf piece = AL_BUF_INIT(MIB);
    struct reading x;
    size_t pieces = 100000 / LESS;
    start_reading(&x, AL_API_CHAT);
    add_call(&piece, "A", 0, "f", "{\\\"a\\\":\\\"");
    al_llm_reader_feed(&x.r, al_buf_str(&piece));
    al_buf_clear(&piece);
    add_call(&piece, "A", 0, "f", "0123456789");
    for (size_t i = 0; i < pieces; i++)
        al_llm_reader_feed(&x.r, al_buf_str(&piece));
    al_llm_reader_feed(&x.r, al_str_of(finish));
    al_llm_reader_eof(&x.r);
    assert_int_equal(x.r.state, AL_LLM_ENDED);
    assert_int_equal(x.r.draft.n, 1);
    assert_int_equal(x.r.draft.parts[0]->text.n, 6 + 10 * pieces);
    end_reading(&x);
}

static void details_of_reasoning_without_measure_are_left_out(void **state)
{
    (void)state;
    autobuf struct al_buf text = AL_BUF_INIT(64 * MIB), told = AL_BUF_INIT(MIB);
    struct reading x;
    for (size_t i = 0; i < 17; i++) {
        al_buf_adds(
            &text,
            "data: "
            "{\"choices\":[{\"delta\":{\"reasoning_details\":[{\"type\":\"reasoning.encrypted\",\"data\":\"");
        fill(&text, 'x', MIB);
        al_buf_adds(&text, "\"}]}}]}\n\n");
    }
    al_buf_adds(&text, finish);
    read_all(&x, AL_API_CHAT, al_buf_str(&text), 0, 0);
    tell_message(&x, &told);
    assert_true(al_str_is(al_buf_str(&told), "stop stop\n"));
    assert_int_equal(x.warnings, 1);
    end_reading(&x);
}

static void warnings_are_at_most_twenty(void **state)
{
    (void)state;
    struct reading x;
    start_reading(&x, AL_API_CHAT);
    for (int i = 0; i < 100; i++)
        al_llm_reader_feed(&x.r, AL_STR("data: {\"choices\":[{\"delta\":{\"content\":1}}]}\n\n"));
    assert_int_equal(x.warnings, 20);
    end_reading(&x);
}

static void what_comes_behind_an_end_is_not_read(void **state)
{
    (void)state;
    struct reading x;
    start_reading(&x, AL_API_MESSAGES);
    al_llm_reader_feed(
        &x.r, AL_STR("data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n"
                     "data: {\"type\":\"message_stop\"}\n\ndata: {\"type\":\"error\"}\n\ndata: x\n\n"));
    assert_int_equal(x.r.state, AL_LLM_ENDED);
    al_llm_reader_feed(&x.r, AL_STR("data: x\n\n"));
    al_llm_reader_whole(&x.r, AL_STR("x"));
    al_llm_reader_eof(&x.r);
    assert_int_equal(x.r.state, AL_LLM_ENDED);
    end_reading(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_of_15_mib_comes_in_reads_of_one_byte),
        cmocka_unit_test(an_event_of_15_mib_in_lines_of_a_few_bytes_is_read),
        cmocka_unit_test(an_event_of_17_mib_fails_before_its_end_naming_the_limit),
        cmocka_unit_test(a_comment_of_17_mib_is_no_event),
        cmocka_unit_test(an_answer_is_at_most_64_mib),
        cmocka_unit_test(reasoning_counts_as_text_does),
        cmocka_unit_test(an_event_of_millions_of_values_is_too_large),
        cmocka_unit_test(a_whole_answer_of_millions_of_values_is_too_large),
        cmocka_unit_test(an_event_that_is_nested_without_end_is_malformed),
        cmocka_unit_test(what_is_nested_too_deeply_is_not_sent_back),
        cmocka_unit_test(an_answer_has_at_most_4096_parts),
        cmocka_unit_test(pieces_of_many_calls_that_repeat_everything_are_read_in_time),
        cmocka_unit_test(one_call_in_many_pieces_that_repeat_its_name_is_read_in_time),
        cmocka_unit_test(details_of_reasoning_without_measure_are_left_out),
        cmocka_unit_test(warnings_are_at_most_twenty),
        cmocka_unit_test(what_comes_behind_an_end_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
