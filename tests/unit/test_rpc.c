#include "test.h"

#include "rpc/rpc.h"

#include <stdio.h>
#include <stdlib.h>

struct want {
    const char *line;
    int kind, code; /* code: of AL_RPC_BROKEN */
    const char *id; /* "" none */
};

static void a_line_becomes_the_right_kind_of_message(void **state)
{
    (void)state;
    static const struct want table[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", AL_RPC_REQUEST, 0, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0041\",\"method\":\"ping\",\"params\":{}}", AL_RPC_REQUEST, 0,
         "\"a\\u0041\""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.50,\"method\":\"ping\"}", AL_RPC_REQUEST, 0, "1.50"},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", AL_RPC_NOTIFICATION, 0, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", AL_RPC_RESPONSE, 0, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1}}", AL_RPC_RESPONSE, 0, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", AL_RPC_BROKEN, AL_RPC_INVALID_REQUEST, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", AL_RPC_BROKEN, AL_RPC_INVALID_REQUEST, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}", AL_RPC_BROKEN, AL_RPC_INVALID_REQUEST, ""},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", AL_RPC_BROKEN, AL_RPC_INVALID_REQUEST, "1"},
        {"{\"id\":1,\"method\":\"ping\"}", AL_RPC_BROKEN, AL_RPC_INVALID_REQUEST, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", AL_RPC_BROKEN, AL_RPC_INVALID_REQUEST, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", AL_RPC_BROKEN, AL_RPC_INVALID_REQUEST, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", AL_RPC_BROKEN,
         AL_RPC_INVALID_PARAMS, "1"},
        {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", AL_RPC_BROKEN, AL_RPC_INVALID_REQUEST, ""},
        {"[]", AL_RPC_BROKEN, AL_RPC_INVALID_REQUEST, ""},
        {"5", AL_RPC_BROKEN, AL_RPC_INVALID_REQUEST, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", AL_RPC_BROKEN, AL_RPC_PARSE_ERROR, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", AL_RPC_BROKEN, AL_RPC_PARSE_ERROR, ""},
        {"nonsense", AL_RPC_BROKEN, AL_RPC_PARSE_ERROR, ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
        struct al_rpc rpc;
        al_rpc_read(&arena, al_str_of(table[i].line), &rpc);
        if ((int)rpc.kind != table[i].kind || (int)rpc.error_code != table[i].code ||
            !al_str_is(rpc.id, table[i].id))
            fail_msg("%s: kind %d, code %d, id %.*s", table[i].line, rpc.kind, rpc.error_code,
                     AL_FMT(rpc.id));
        if (rpc.kind == AL_RPC_BROKEN)
            assert_true(rpc.error[0] != 0);
    }
}

struct log {
    struct al_buf text; /* each line with "|" after it; "!" for a line that was too long */
    unsigned stop_after;
};

static bool log_line(void *ud, struct al_str line)
{
    struct log *log = ud;
    al_buf_add_str(&log->text, line);
    al_buf_addc(&log->text, '|');
    return log->stop_after == 0 || --log->stop_after > 0;
}

static void log_too_long(void *ud)
{
    al_buf_addc(&((struct log *)ud)->text, '!');
}

static const struct al_rpc_sink sink = {.line = log_line, .too_long = log_too_long};

static void lines_are_the_same_however_the_bytes_arrive(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *want;
    } table[] = {
        {"a\nb\n", "a|b|"},
        {"a\r\n\r\n \nb", "a|b|"},
        {"12345678\n123456789\nok\n", "12345678|!ok|"},
        {"1234567890123456789012345678901234567890\nok", "!ok|"},
        {"1234567890", "!"},
        {"", ""},
        {"\n\n\n", ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (size_t step = 1; step <= 16; step++) {
            struct log log = {.text = AL_BUF_INIT(4096)};
            struct al_rpc_lines lines;
            al_rpc_lines_init(&lines, 8);
            struct al_str all = al_str_of(table[i].bytes);
            for (size_t at = 0; at < all.n; at += step)
                al_rpc_lines_feed(&lines, (struct al_str){all.p + at, all.n - at < step ? all.n - at : step},
                                  &sink, &log);
            al_rpc_lines_end(&lines, &sink, &log);
            if (!al_str_is(al_buf_str(&log.text), table[i].want))
                fail_msg("%s in steps of %zu: %.*s", table[i].bytes, step, AL_FMT(al_buf_str(&log.text)));
            al_rpc_lines_free(&lines);
            al_buf_free(&log.text);
        }
}

static void a_sink_that_has_enough_gets_no_more(void **state)
{
    (void)state;
    struct log log = {.text = AL_BUF_INIT(4096), .stop_after = 2};
    struct al_rpc_lines lines;
    al_rpc_lines_init(&lines, 100);
    al_rpc_lines_feed(&lines, AL_STR("a\nb\nc\nd\n"), &sink, &log);
    assert_true(al_str_is(al_buf_str(&log.text), "a|b|"));
    al_rpc_lines_free(&lines);
    al_buf_free(&log.text);
}

static void a_line_of_100_MB_is_never_held(void **state)
{
    (void)state;
    struct log log = {.text = AL_BUF_INIT(4096)};
    struct al_rpc_lines lines;
    al_rpc_lines_init(&lines, 1 << 20);
    char *block = malloc(1 << 16);
    memset(block, 'x', 1 << 16);
    for (int i = 0; i < 1600; i++) {
        al_rpc_lines_feed(&lines, (struct al_str){block, 1 << 16}, &sink, &log);
        assert_true(lines.line.cap <= 2u << 20);
    }
    al_rpc_lines_feed(&lines, AL_STR("\nnext\n"), &sink, &log);
    assert_true(al_str_is(al_buf_str(&log.text), "!next|"));
    free(block);
    al_rpc_lines_free(&lines);
    al_buf_free(&log.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_becomes_the_right_kind_of_message),
        cmocka_unit_test(lines_are_the_same_however_the_bytes_arrive),
        cmocka_unit_test(a_sink_that_has_enough_gets_no_more),
        cmocka_unit_test(a_line_of_100_MB_is_never_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
