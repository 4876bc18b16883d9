/* Calls: whatever the order in which their pieces come, they are the same calls. */
#include "llm_read_rig.h"

#include "base/mem.h"

#include <stdio.h>

static uint32_t seed;

static uint32_t draw(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

/* How a server marks the pieces of a call. */
enum mark {
    BY_INDEX,      /* index; the id with the first */
    BY_INDEX_ONLY, /* index, never an id */
    BY_ID,         /* id, no index */
    BY_BOTH,       /* id and index */
    BY_ID_NAMED,   /* id, index and name with each */
    BY_ID_WRONG,   /* id, and an index that says nothing */
    N_MARKS,
};

#define N_CALLS 3
static const struct {
    const char *id, *name, *args;
} calls[N_CALLS] = {
    {"A", "read_file", "{\\\"path\\\":\\\"a {[\\\\\\\"x\\\"}"},
    {"B", "list_files", "{\\\"path\\\":[{\\\"b\\\":1}]}"},
    {"C", "read_file", "{\\\"path\\\":\\\"\\ud83d\\ude00\\\"}"},
};
static const char *const decoded[N_CALLS] = {
    "{\"path\":\"a {[\\\"x\"}",
    "{\"path\":[{\"b\":1}]}",
    "{\"path\":\"\xf0\x9f\x98\x80\"}",
};

/* Length of a piece that is no half escape. */
static size_t piece(const char *args, size_t at)
{
    size_t n = 0, want = 1 + draw(4);
    while (args[at + n] && n < want) {
        n += args[at + n] == '\\' ? 1 : 0;
        n += args[at + n] == 'u' ? 5 : 1;
    }
    return n;
}

static void add_piece(struct al_buf *out, enum mark mark, size_t i, bool first, const char *args, size_t n)
{
    al_buf_adds(out, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{");
    if (mark != BY_ID)
        al_buf_addf(out, "\"index\":%zu,", mark == BY_ID_WRONG ? (size_t)draw(N_CALLS) : i);
    if (mark != BY_INDEX_ONLY && (first || mark != BY_INDEX))
        al_buf_addf(out, "\"id\":\"%s\",", calls[i].id);
    al_buf_adds(out, "\"type\":\"function\",\"function\":{");
    if (first || mark == BY_ID_NAMED)
        al_buf_addf(out, "\"name\":\"%s\",", calls[i].name);
    al_buf_addf(out, "\"arguments\":\"%.*s\"}}]}}]}\n\n", (int)n, args);
}

static void add_random(struct al_buf *out, enum mark mark)
{
    size_t at[N_CALLS] = {0}, left = N_CALLS;
    bool begun[N_CALLS] = {0};
    while (left) {
        size_t i = draw(N_CALLS);
        if (begun[i] && !calls[i].args[at[i]])
            continue;
        size_t n = begun[i] || draw(2) ? piece(calls[i].args, at[i]) : 0;
        add_piece(out, mark, i, !begun[i], calls[i].args + at[i], n);
        begun[i] = true;
        at[i] += n;
        left -= !calls[i].args[at[i]];
    }
    al_buf_adds(out,
                "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: "
                "[DONE]\n\n");
}

/* Each of the calls is there once; in their order, where an index gives one. */
static void check_calls(const struct reading *x, bool ordered, bool ids, const char *text)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    struct al_llm_message m;
    struct al_err err;
    if (x->r.state != AL_LLM_ENDED)
        fail_msg("%s in\n%s", x->r.fault.message, text);
    assert_int_equal(al_llm_reader_message(&x->r, &arena, &m, &err), 0);
    assert_int_equal(m.n_parts, N_CALLS);
    for (size_t i = 0; i < N_CALLS; i++) {
        bool found = false;
        for (size_t k = 0; k < N_CALLS; k++) {
            const struct al_llm_part *p = &m.parts[k];
            found = found ||
                    ((!ordered || k == i) && al_str_is(p->text, decoded[i]) &&
                     al_str_is(p->name, calls[i].name) && (!ids || al_str_is(p->provider_id, calls[i].id)));
        }
        if (!found)
            fail_msg("call %zu is not there in\n%s", i, text);
    }
}

static void any_order_of_their_pieces_gives_the_same_calls(void **state)
{
    (void)state;
    seed = 7;
    for (int round = 0; round < 600; round++) {
        enum mark mark = (enum mark)(round % N_MARKS);
        autobuf struct al_buf text = AL_BUF_INIT(1 << 20);
        struct reading x;
        add_random(&text, mark);
        read_all(&x, AL_API_CHAT, al_buf_str(&text), 0, 0);
        al_buf_addc(&text, 0);
        check_calls(&x, mark != BY_ID && mark != BY_ID_WRONG, mark != BY_INDEX_ONLY, text.p);
        end_reading(&x);
    }
}

/* --- the other two APIs --- */

static void add_start(struct al_buf *out, enum al_api api, size_t i)
{
    if (api == AL_API_MESSAGES)
        al_buf_addf(out,
                    "data: "
                    "{\"type\":\"content_block_start\",\"index\":%zu,\"content_block\":{\"type\":\"tool_"
                    "use\",\"id\":\"%s\","
                    "\"name\":\"%s\",\"input\":{}}}\n\n",
                    i, calls[i].id, calls[i].name);
    else
        al_buf_addf(out,
                    "data: "
                    "{\"type\":\"response.output_item.added\",\"output_index\":%zu,\"item\":{\"type\":"
                    "\"function_call\","
                    "\"id\":\"fc_%zu\",\"call_id\":\"%s\",\"name\":\"%s\",\"arguments\":\"\"}}\n\n",
                    i, i, calls[i].id, calls[i].name);
}

static void add_delta(struct al_buf *out, enum al_api api, size_t i, const char *args, size_t n)
{
    if (api == AL_API_MESSAGES)
        al_buf_addf(
            out,
            "data: {\"type\":\"content_block_delta\",\"index\":%zu,\"delta\":{\"type\":\"input_json_delta\","
            "\"partial_json\":\"%.*s\"}}\n\n",
            i, (int)n, args);
    else
        al_buf_addf(out,
                    "data: "
                    "{\"type\":\"response.function_call_arguments.delta\",\"output_index\":%zu,\"item_id\":"
                    "\"fc_%zu\","
                    "\"delta\":\"%.*s\"}\n\n",
                    i, i, (int)n, args);
}

static void any_order_of_their_events_gives_the_same_calls(void **state)
{
    (void)state;
    static const char *const ends[] = {
        [AL_API_MESSAGES] = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n"
                            "data: {\"type\":\"message_stop\"}\n\n",
        [AL_API_RESPONSES] =
            "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n",
    };
    seed = 11;
    for (int round = 0; round < 300; round++) {
        enum al_api api = round % 2 ? AL_API_MESSAGES : AL_API_RESPONSES;
        autobuf struct al_buf text = AL_BUF_INIT(1 << 20);
        size_t at[N_CALLS] = {0}, left = N_CALLS;
        bool begun[N_CALLS] = {0};
        while (left) {
            size_t i = draw(N_CALLS), n = begun[i] ? piece(calls[i].args, at[i]) : 0;
            if (begun[i] && !n)
                continue;
            if (!begun[i])
                add_start(&text, api, i);
            else
                add_delta(&text, api, i, calls[i].args + at[i], n);
            begun[i] = true;
            at[i] += n;
            left -= n && !calls[i].args[at[i]];
        }
        al_buf_adds(&text, ends[api]);
        struct reading x;
        read_all(&x, api, al_buf_str(&text), 0, 0);
        al_buf_addc(&text, 0);
        check_calls(&x, true, true, text.p);
        end_reading(&x);
    }
}

static void each_call_gets_an_id_of_ours_whatever_the_provider_calls_it(void **state)
{
    (void)state;
    char seen[3 * N_CALLS][AL_ID_MAX] = {{0}};
    size_t n = 0;
    for (size_t turn = 0; turn < 3; turn++) {
        autobuf struct al_buf text = AL_BUF_INIT(1 << 20);
        for (size_t i = 0; i < N_CALLS; i++)
            al_buf_addf(
                &text,
                "data: "
                "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%zu,\"id\":\"call_0\",\"function\":"
                "{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\n",
                i);
        al_buf_adds(&text, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
        struct reading x;
        read_all(&x, AL_API_CHAT, al_buf_str(&text), 0, 0);
        autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
        struct al_llm_message m;
        struct al_err err;
        assert_int_equal(al_llm_reader_message(&x.r, &arena, &m, &err), 0);
        assert_int_equal(m.n_parts, N_CALLS);
        for (size_t i = 0; i < N_CALLS; i++) {
            assert_true(al_str_is(m.parts[i].provider_id, "call_0"));
            for (size_t k = 0; k < n; k++)
                assert_false(al_str_is(m.parts[i].id, seen[k]));
            snprintf(seen[n++], AL_ID_MAX, "%.*s", AL_FMT(m.parts[i].id));
        }
        end_reading(&x);
    }
}

static void ids_and_names_without_measure_are_kept_small(void **state)
{
    (void)state;
    autobuf struct al_buf text = AL_BUF_INIT(1 << 20);
    al_buf_adds(&text, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"");
    for (int i = 0; i < 5000; i++)
        al_buf_addc(&text, 'i');
    al_buf_adds(&text, "\",\"function\":{\"name\":\"");
    for (int i = 0; i < 3000; i++)
        al_buf_adds(&text, "\xc3\xa4");
    al_buf_adds(&text, "\",\"arguments\":\"{}\"}}]}}]}\n\ndata: "
                       "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
    struct reading x;
    read_all(&x, AL_API_CHAT, al_buf_str(&text), 0, 0);
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    struct al_llm_message m;
    struct al_err err;
    assert_int_equal(al_llm_reader_message(&x.r, &arena, &m, &err), 0);
    assert_int_equal(m.n_parts, 1);
    assert_int_equal(m.parts[0].provider_id.n, 0);
    assert_int_equal(m.parts[0].name.n, 1024);
    assert_int_equal(x.warnings, 2);
    end_reading(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_of_their_pieces_gives_the_same_calls),
        cmocka_unit_test(any_order_of_their_events_gives_the_same_calls),
        cmocka_unit_test(each_call_gets_an_id_of_ours_whatever_the_provider_calls_it),
        cmocka_unit_test(ids_and_names_without_measure_are_kept_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
