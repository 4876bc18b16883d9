/* How the official packages judge a stream, and how we do: a row for each, by the kinds of streams that have
 * it. */
#include "llm_read_rig.h"

#include "base/mem.h"

#include <stdio.h>

enum judged {
    OK,
    CUT,
    FAULT,
    ERROR,
    CUT_TURN,
    NOT_RUN
};

#define CHAT_TEXT(t) \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" t "\"},\"finish_reason\":null}]}\n\n"
#define CHAT_END "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define DONE "data: [DONE]\n\n"
#define M_START \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[]}}\n\n"
#define M_BLOCK(i)                                                                     \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":" i \
    ",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
#define M_TEXT(i, t)                                                                   \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":" i \
    ",\"delta\":{\"type\":\"text_delta\",\"text\":\"" t "\"}}\n\n"
#define M_CLOSE(i) "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":" i "}\n\n"
#define M_WHY(w) \
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" w "\"}}\n\n"
#define M_STOP "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
#define M_HI M_START M_BLOCK("0") M_TEXT("0", "Hi") M_CLOSE("0")
#define M_CALL                                                                                             \
    "data: "                                                                                               \
    "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"A\"," \
    "\"name\":\"f\",\"input\":{}}}\n\n"                                                                    \
    "data: "                                                                                               \
    "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_"    \
    "json\":\"{\\\"path\\\":\\\"a\\\"\"}}\n\n"
#define R_TEXT(t)                                                                                        \
    "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"item_id\":\"i\",\"delta\":\"" t \
    "\"}\n\n"
#define R_END(s)                                                       \
    "data: {\"type\":\"response." s "\",\"response\":{\"status\":\"" s \
    "\",\"error\":null,\"incomplete_details\":null}}\n\n"

static const struct {
    const char *row;
    enum al_api api;
    const char *text;
    enum judged judged;
} rows[] = {
    {"LF", AL_API_CHAT, CHAT_TEXT("Hi") CHAT_END DONE, OK},
    {"a byte order mark", AL_API_CHAT, "\xef\xbb\xbf" CHAT_TEXT("Hi") CHAT_END DONE, OK},
    {"a byte order mark that is not at the start", AL_API_CHAT,
     CHAT_TEXT("Hi") "\xef\xbb\xbf" CHAT_TEXT("no") CHAT_END DONE, OK},
    {"comments", AL_API_MESSAGES,
     ": c\n" M_START ": c\n\n" M_BLOCK("0") ": c\n" M_TEXT("0", "Hi") M_CLOSE("0") M_WHY("end_turn") M_STOP,
     OK},
    {"data of several lines", AL_API_RESPONSES,
     "data: {\"type\":\"response.output_text.delta\",\ndata: "
     "\"output_index\":0,\ndata:\"delta\":\"Hi\"}\n\n" R_END("completed"),
     OK},
    {"no event lines", AL_API_MESSAGES,
     "data: "
     "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Hi\"}}"
     "\n\n"
     "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: "
     "{\"type\":\"message_stop\"}\n\n",
     OK},
    {"data: : keepalive", AL_API_CHAT, "data: : keepalive\n\n" CHAT_TEXT("Hi") CHAT_END DONE, OK},
    {"data: : keepalive", AL_API_RESPONSES, R_TEXT("Hi") "data: : keepalive\n\n" R_END("completed"), OK},
    {"empty data", AL_API_CHAT, CHAT_TEXT("Hi") "data:\n\n" CHAT_END DONE, OK},
    {"event: keepalive alone", AL_API_CHAT, CHAT_TEXT("Hi") "event: keepalive\n\n" CHAT_END DONE, OK},
    {"event: keepalive alone", AL_API_RESPONSES, R_TEXT("Hi") "event: keepalive\n\n" R_END("completed"), OK},
    {"[DONE] with a blank", AL_API_CHAT, CHAT_TEXT("Hi") CHAT_END "data: [DONE] \n\n", OK},
    {"no [DONE]", AL_API_CHAT, CHAT_TEXT("Hi") CHAT_END, OK},
    {"cut inside an event", AL_API_CHAT, CHAT_TEXT("Hi") "data: {\"choices\":[{\"index\":0,\"delta\":{\"con",
     CUT},
    {"cut inside an event", AL_API_MESSAGES, M_HI "event: message_delta\ndata: {\"type\":\"mess", CUT},
    {"cut inside an event", AL_API_RESPONSES, R_TEXT("Hi") "data: {\"type\":\"response.comp", CUT},
    {"cut between events", AL_API_CHAT, CHAT_TEXT("Hi"), CUT},
    {"cut between events", AL_API_MESSAGES, M_HI, CUT},
    {"cut between events", AL_API_RESPONSES, R_TEXT("Hi"), CUT},
    {"only finish_reason \"\"", AL_API_CHAT,
     "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"\"}]}\n\n" DONE,
     CUT},
    {"message_stop is missing", AL_API_MESSAGES, M_HI M_WHY("end_turn"), CUT},
    {"an empty body", AL_API_CHAT, "", FAULT},
    {"an empty body", AL_API_MESSAGES, "", FAULT},
    {"an empty body", AL_API_RESPONSES, "\n\n", FAULT},
    {"HTML", AL_API_CHAT, "<!DOCTYPE html>\n<html>\n\n<body>Sign in</body></html>\n\n", FAULT},
    {"{error} in data", AL_API_CHAT,
     CHAT_TEXT("Hi") "data: {\"error\":{\"message\":\"Broken\",\"code\":500}}\n\n", ERROR},
    {"{error} in data", AL_API_MESSAGES,
     M_HI "data: {\"error\":{\"message\":\"Broken\",\"type\":\"api_error\"}}\n\n", ERROR},
    {"{error} in data", AL_API_RESPONSES,
     R_TEXT("Hi") "data: {\"error\":{\"message\":\"Broken\",\"code\":\"server_error\"}}\n\n", ERROR},
    {"event: error with {message}", AL_API_CHAT,
     CHAT_TEXT("Hi") "event: error\ndata: {\"message\":\"Broken\"}\n\n", ERROR},
    {"event: error with {message}", AL_API_MESSAGES, M_HI "event: error\ndata: {\"message\":\"Broken\"}\n\n",
     ERROR},
    {"event: error with {message}", AL_API_RESPONSES,
     R_TEXT("Hi") "event: error\ndata: {\"message\":\"Broken\"}\n\n", ERROR},
    {"an unknown event", AL_API_CHAT, CHAT_TEXT("Hi") "event: new\ndata: {\"new\":1}\n\n" CHAT_END, OK},
    {"an unknown event", AL_API_RESPONSES,
     R_TEXT("Hi") "data: {\"type\":\"response.new.thing\",\"x\":1}\n\n" R_END("completed"), OK},
    {"an unknown event", AL_API_MESSAGES,
     M_HI "event: new\ndata: {\"type\":\"new\"}\n\n" M_WHY("end_turn") M_STOP, OK},
    {"response.failed", AL_API_RESPONSES,
     R_TEXT("Hi") "data: "
                  "{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":"
                  "\"server_error\",\"message\":\"Broken\"}}}\n\n",
     ERROR},
    {"response.incomplete", AL_API_RESPONSES,
     R_TEXT("Hi") "data: "
                  "{\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\",\"incomplete_"
                  "details\":{\"reason\":\"max_output_tokens\"}}}\n\n",
     CUT_TURN},
    {"tool input that max_tokens cut", AL_API_MESSAGES, M_START M_CALL M_WHY("max_tokens") M_STOP, NOT_RUN},
    {"block indexes 0 and 2", AL_API_MESSAGES,
     M_START M_BLOCK("0") M_TEXT("0", "H") M_CLOSE("0") M_BLOCK("2") M_TEXT("2", "i") M_CLOSE("2")
         M_WHY("end_turn") M_STOP,
     OK},
};

static void check_fault(const char *row, const struct reading *x, enum judged judged)
{
    const struct al_llm_fault *f = &x->r.fault;
    if (x->r.state != AL_LLM_FAILED)
        fail_msg("%s: no fault", row);
    bool right = judged == CUT     ? f->kind == AL_LLM_FAULT_CUT
                 : judged == FAULT ? f->kind == AL_LLM_FAULT_MALFORMED && x->r.n_events == 0
                                   : f->kind == AL_LLM_FAULT_SERVER;
    if (!right || (judged == ERROR && !strstr(f->message, "Broken")))
        fail_msg("%s: %s, %s", row, al_llm_fault_name(f->kind), f->message);
}

static void check_row(const char *row, enum al_api api, struct al_str text, size_t step, enum judged judged)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    struct al_llm_message m;
    struct al_err err;
    struct reading x;
    read_all(&x, api, text, step, 0);
    if (judged == CUT || judged == FAULT || judged == ERROR) {
        check_fault(row, &x, judged);
    } else {
        if (x.r.state != AL_LLM_ENDED)
            fail_msg("%s: %s", row, x.r.fault.message);
        assert_int_equal(al_llm_reader_message(&x.r, &arena, &m, &err), 0);
        assert_int_equal(al_llm_end_is_whole(x.r.end), judged == OK);
        autobuf struct al_buf shown = AL_BUF_INIT(1 << 20);
        al_llm_message_text(&m, &shown);
        if (!al_str_is(al_buf_str(&shown), judged == NOT_RUN ? "" : "Hi"))
            fail_msg("%s: the text is %.*s", row, AL_FMT(al_buf_str(&shown)));
        if (judged == NOT_RUN)
            assert_true(m.n_parts == 1 && al_str_is(m.parts[0].text, "{\"path\":\"a\""));
    }
    end_reading(&x);
}

static void each_row_is_judged_as_the_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t step = 0; step < 4; step++)
            check_row(rows[i].row, rows[i].api, al_str_of(rows[i].text), step, rows[i].judged);
    }
}

/* --- errors: each shape at each place of a stream --- */

static const char *const streams[AL_N_APIS][9] = {
    [AL_API_CHAT] = {CHAT_TEXT("a"), CHAT_TEXT("b"),
                     "data: "
                     "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"A\",\"function\":{"
                     "\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n",
                     "data: "
                     "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"}"
                     "\"}}]}}]}\n\n",
                     CHAT_END},
    [AL_API_RESPONSES] =
        {R_TEXT("a"), R_TEXT("b"),
         "data: "
         "{\"type\":\"response.output_item.added\",\"output_index\":1,\"item\":{\"type\":\"function_call\","
         "\"call_id\":\"A\",\"name\":\"f\"}}\n\n",
         "data: "
         "{\"type\":\"response.function_call_arguments.delta\",\"output_index\":1,\"delta\":\"{}\"}\n\n"},
    [AL_API_MESSAGES] = {M_START, M_BLOCK("0"), M_TEXT("0", "a"), M_CLOSE("0"), M_CALL, M_WHY("tool_use")},
};

static const struct {
    const char *text;
    enum al_llm_fault_kind kind;
    const char *says;
} errors[] = {
    {"data: {\"error\":{\"message\":\"Too "
     "fast\",\"type\":\"rate_limit_error\",\"code\":\"rate_limit_exceeded\"}}\n\n",
     AL_LLM_FAULT_RATE, "Too fast"},
    {"data: {\"error\":{\"message\":\"Too fast\",\"code\":429}}\n\n", AL_LLM_FAULT_RATE, "Too fast"},
    {"event: error\ndata: "
     "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Busy\"}}\n\n",
     AL_LLM_FAULT_OVERLOADED, "Busy"},
    {"data: {\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"Who?\"}}\n\n",
     AL_LLM_FAULT_AUTH, "Who?"},
    {"event: error\ndata: {\"type\":\"error\",\"code\":\"insufficient_quota\",\"message\":\"No "
     "money\",\"param\":null,\"sequence_number\":3}\n\n",
     AL_LLM_FAULT_QUOTA, "No money"},
    {"event: error\n\n", AL_LLM_FAULT_SERVER, ""},
    {"event: error\ndata:\n\n", AL_LLM_FAULT_SERVER, ""},
    {"event: error\ndata: worker died\n\n", AL_LLM_FAULT_SERVER, "worker died"},
    {"data: {\"error\":\"worker died\"}\n\n", AL_LLM_FAULT_SERVER, "worker died"},
    {"data: [{\"error\":{\"code\":500,\"message\":\"Busy\",\"status\":\"INTERNAL\"}}]\n\n",
     AL_LLM_FAULT_SERVER, "Busy"},
    {"data: {\"object\":\"error\",\"message\":\"Wrong\",\"type\":\"BadRequestError\",\"code\":400}\n\n",
     AL_LLM_FAULT_REJECTED, "Wrong"},
    {"data: {\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Too long\"}}\n\n",
     AL_LLM_FAULT_OVERFLOW, "Too long"},
};

static void an_error_of_any_shape_is_one_at_any_place(void **state)
{
    (void)state;
    for (int api = 0; api < AL_N_APIS; api++) {
        for (size_t e = 0; e < sizeof errors / sizeof *errors; e++) {
            autobuf struct al_buf before = AL_BUF_INIT(1 << 16);
            for (size_t at = 0; at == 0 || streams[api][at - 1]; at++) {
                autobuf struct al_buf text = AL_BUF_INIT(1 << 16);
                struct reading x;
                if (at)
                    al_buf_adds(&before, streams[api][at - 1]);
                al_buf_add_str(&text, al_buf_str(&before));
                al_buf_adds(&text, errors[e].text);
                read_all(&x, (enum al_api)api, al_buf_str(&text), at % 3, 0);
                const struct al_llm_fault *f = &x.r.fault;
                if (x.r.state != AL_LLM_FAILED || f->kind != errors[e].kind ||
                    !strstr(f->message, errors[e].says))
                    fail_msg("%s, error %zu behind %zu events: %s, %s", al_api_name((enum al_api)api), e, at,
                             x.r.state == AL_LLM_FAILED ? al_llm_fault_name(f->kind) : "no fault",
                             f->message);
                assert_true(f->answered);
                end_reading(&x);
            }
        }
    }
}

static void a_key_in_an_error_is_not_shown(void **state)
{
    (void)state;
    struct reading x;
    start_reading(&x, AL_API_CHAT);
    x.r.key = "canary-1234567890";
    al_llm_reader_feed(
        &x.r,
        AL_STR("data: {\"error\":{\"message\":\"Bad key canary-1234567890\\u001b[31m\",\"code\":401}}\n\n"));
    assert_int_equal(x.r.state, AL_LLM_FAILED);
    assert_int_equal(x.r.fault.kind, AL_LLM_FAULT_AUTH);
    assert_null(strstr(x.r.fault.message, "canary"));
    assert_null(strchr(x.r.fault.message, 27));
    end_reading(&x);
}

static void bytes_that_are_no_text_are_replaced_and_warned_of(void **state)
{
    (void)state;
    static const char *const texts[] = {CHAT_TEXT("a\xff"
                                                  "b") CHAT_END,
                                        CHAT_TEXT("a\xed\xa0\xbd") CHAT_END,
                                        CHAT_TEXT("a\xf0\x9f\x98") CHAT_END};
    for (size_t i = 0; i < 3; i++) {
        struct reading x;
        read_all(&x, AL_API_CHAT, al_str_of(texts[i]), i, 0);
        assert_int_equal(x.r.state, AL_LLM_ENDED);
        assert_true(al_str_starts(al_buf_str(&x.text), "a\xef\xbf\xbd"));
        assert_int_equal(x.warnings, 1);
        end_reading(&x);
    }
}

static void after_the_reason_the_answer_is_ending_until_usage_or_done(void **state)
{
    (void)state;
    static const char *const ends[] = {
        DONE, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n"};
    for (size_t i = 0; i < 2; i++) {
        struct reading x;
        start_reading(&x, AL_API_CHAT);
        al_llm_reader_feed(&x.r, AL_STR(CHAT_TEXT("Hi")));
        assert_int_equal(x.r.state, AL_LLM_READING);
        al_llm_reader_feed(&x.r, AL_STR(CHAT_END));
        assert_int_equal(x.r.state, AL_LLM_ENDING);
        al_llm_reader_feed(&x.r, AL_STR(": still here\n\n"));
        assert_int_equal(x.r.state, AL_LLM_ENDING);
        al_llm_reader_feed(&x.r, al_str_of(ends[i]));
        assert_int_equal(x.r.state, AL_LLM_ENDED);
        assert_int_equal(x.r.usage.known, i == 1);
        end_reading(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_is_judged_as_the_table_says),
        cmocka_unit_test(an_error_of_any_shape_is_one_at_any_place),
        cmocka_unit_test(a_key_in_an_error_is_not_shown),
        cmocka_unit_test(bytes_that_are_no_text_are_replaced_and_warned_of),
        cmocka_unit_test(after_the_reason_the_answer_is_ending_until_usage_or_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
