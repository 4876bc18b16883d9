/* The MCP server above its transports: eras, requests and their ends, lists, subscriptions, resources,
 * completion. */
#include "test.h"

#include "mcp_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void a_client_says_in_each_message_which_protocol_it_speaks(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_older(w, "2025-06-18", "{}");
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    const char *older = mcp_next(c);
    assert_has(older, "\"name\":\"look\"");
    assert_null(strstr(older, "resultType"));
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{" MCP_META("{}") "}}");
    const char *newer = mcp_next(c);
    assert_has(newer, "\"resultType\":\"complete\"");
    assert_has(newer, "\"ttlMs\":0");
    assert_has(newer, "\"cacheScope\":\"private\"");
    assert_has(newer, "io.modelcontextprotocol/serverInfo");
}

static void each_older_version_is_agreed_on(void **state)
{
    static const char *const versions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
    struct mcp_world *w = *state;
    for (size_t i = 0; i < 4; i++)
        mcp_client_older(w, versions[i], "{}");
}

static const struct {
    const char *message, *code, *about;
} refused[] = {
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}", "-32602", "_meta"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{\"_meta\":{"
     "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
     "-32602", "clientCapabilities"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
     "\"io.modelcontextprotocol/protocolVersion\":5}}}",
     "-32602", "protocolVersion"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
     "\"io.modelcontextprotocol/protocolVersion\":\"1900-01-01\"}}}",
     "-32022", "\"supported\":[\"2026-07-28\""},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{" MCP_META("{}") "}}", "-32601",
     "initialize"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{" MCP_META("{}") "}}", "-32601", "ping"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":{" MCP_META("{}") "}}",
     "-32601", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\"," MCP_META(
         "{}") "}}",
     "-32602", "cursor"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{" MCP_META("{}") "}}", "-32602",
     "name"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"nix\"," MCP_META(
         "{}") "}}",
     "-32602", "unknown tool: nix"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"js-rnu\"," MCP_META(
         "{}") "}}",
     "-32602", "unknown tool: js-rnu (did you mean js_run?)"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"run://exec_"
     "01JDZ0000000000000000000A1\"," MCP_META("{}") "}}",
     "-32602", "not found"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"run://../x\"}}",
     "-32002", "not found"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\"}", "-32602", "uri"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"completion/complete\",\"params\":{}}", "-32602", "ref"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"completion/complete\",\"params\":{\"ref\":{\"type\":\"ref/"
     "prompt\","
     "\"name\":\"x\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}}}",
     "-32602", "no such prompt"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{" MCP_META("{}") "}}",
     "-32602", "notifications"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"loud\"}}",
     "-32602", "level"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}", "-32601", "no/such"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
     "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/"
     "clientCapabilities\":{},"
     "\"io.modelcontextprotocol/logLevel\":\"loud\"}}}",
     "-32602", "logLevel"},
};

static void what_cannot_be_done_is_refused_with_its_code(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{}");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char code[32];
        mcp_say(c, "%s", refused[i].message);
        const char *answer = mcp_next(c);
        snprintf(code, sizeof code, "\"code\":%s", refused[i].code);
        assert_has(answer, code);
        assert_has(answer, refused[i].about);
        assert_has(answer, "\"id\":1,");
    }
}

static void an_id_in_use_is_refused_and_a_cancelled_request_is_not_answered(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{}");
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}");
    assert_int_equal(mcp_n_held, 1);
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":\"look\"}}");
    assert_has(mcp_next(c), "-32600");
    mcp_say(c,
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"a\"}}");
    mcp_turns(w);
    assert_int_equal(mcp_n_held, 0);
    assert_int_equal(w->mcp.n_open, 0);
    assert_string_equal(mcp_next(c), ""); /* the end of its channel, without a message */
    assert_true(mcp_quiet(c));
}

static void a_thousand_requests_are_open_at_once_and_each_is_cancelled(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{}");
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 1000; i++)
            mcp_say(
                c, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}",
                i);
        assert_int_equal(mcp_n_held, 1000);
        for (int i = 0; i < 1000; i++) {
            if (c->n > MCP_MAX_SENT - 8) {
                for (size_t k = 0; k < c->n; k++)
                    free(c->sent[k]);
                c->n = c->read = 0;
            }
            mcp_say(
                c,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d}}",
                i);
            mcp_turns(w);
        }
        assert_int_equal(mcp_n_held, 0);
        assert_int_equal(w->mcp.n_open, 0);
        assert_int_equal(w->mcp.bytes_open, 0);
    }
    assert_int_equal(c->n_last, 2001);
}

static void more_than_the_limit_is_busy(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{}");
    for (unsigned i = 0; i < AL_MCP_MAX_IN_FLIGHT; i++)
        mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}",
                i);
    mcp_say(c,
            "{\"jsonrpc\":\"2.0\",\"id\":\"more\",\"method\":\"tools/call\",\"params\":{\"name\":\"look\"}}");
    const char *answer = mcp_next(c);
    assert_has(answer, "BUSY");
    assert_has(answer, "\"id\":\"more\"");
    al_mcp_peer_close(c->peer);
    mcp_turns(w);
    assert_int_equal(w->mcp.n_open, 0);
    assert_null(w->mcp.peers);
}

static void a_client_that_goes_cancels_what_it_asked_for_and_nothing_is_sent(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{}");
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}");
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}");
    al_mcp_peer_close(c->peer);
    mcp_turns(w);
    assert_int_equal(mcp_n_held, 0);
    assert_true(mcp_quiet(c));
    assert_null(w->mcp.peers);
}

static void a_listener_is_acknowledged_first_and_ends_with_a_result(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_new(w);
    mcp_say(c,
            "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"subscriptions/listen\",\"params\":{" MCP_META(
                "{}") ",\"notifications\":{\"toolsListChanged\":true,\"resourceSubscriptions\":[\"a:b\"]}}}");
    const char *first = mcp_next(c);
    assert_has(first, "notifications/subscriptions/acknowledged");
    assert_has(first, "\"io.modelcontextprotocol/subscriptionId\":\"s\"");
    assert_has(first, "\"notifications\":{}"); /* our own lists do not change */
    al_mcp_changed(&w->mcp, "notifications/tools/list_changed", (struct al_str){"", 0},
                   (struct al_str){"", 0});
    assert_true(mcp_quiet(c));
    al_mcp_stop(&w->mcp);
    const char *last = mcp_next(c);
    assert_has(last, "\"resultType\":\"complete\"");
    assert_has(last, "\"io.modelcontextprotocol/subscriptionId\":\"s\"");
}

static void a_cancelled_listener_hears_nothing_more(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_new(w);
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{" MCP_META(
                   "{}") ",\"notifications\":{}}}");
    mcp_next(c);
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}");
    assert_string_equal(mcp_next(c), "");
    assert_true(mcp_quiet(c));
    assert_int_equal(w->mcp.n_open, 0);
}

static void runs_are_resources_of_their_workspace(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{}");
    struct core_answer a = core_world_ask(w->core, AL_ORIGIN_CLI, "put", "{}");
    char uri[100];
    snprintf(uri, sizeof uri, "\"uri\":\"run://%s\"", a.execution_id);
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}");
    assert_has(mcp_next(c), uri);
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/templates/list\"}");
    assert_has(mcp_next(c), "run://{executionId}");
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{%s}}", uri);
    const char *read = mcp_next(c);
    assert_has(read, "\"mimeType\":\"application/json\"");
    assert_has(read, "\\\"status\\\":\\\"completed\\\"");
    mcp_say(c,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"completion/"
            "complete\",\"params\":{\"ref\":{\"type\":\"ref/"
            "resource\",\"uri\":\"run://"
            "{executionId}\"},\"argument\":{\"name\":\"executionId\",\"value\":\"%.12s\"}}}",
            a.execution_id);
    const char *completed = mcp_next(c);
    assert_has(completed, a.execution_id);
    assert_has(completed, "\"hasMore\":false");
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"completion/"
               "complete\",\"params\":{\"ref\":{\"type\":\"ref/"
               "resource\",\"uri\":\"run://"
               "{executionId}\"},\"argument\":{\"name\":\"executionId\",\"value\":\"nix\"}}}");
    assert_has(mcp_next(c), "\"values\":[]");
}

static void runs_come_in_pages_newest_first(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{}");
    char oldest[64], cursor[64];
    for (int i = 0; i < 51; i++) {
        struct core_answer a = core_world_ask(w->core, AL_ORIGIN_CLI, "put", "{}");
        if (i == 0)
            snprintf(oldest, sizeof oldest, "%s", a.execution_id);
    }
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}");
    const char *first = mcp_next(c);
    assert_null(strstr(first, oldest));
    mcp_member(first, "nextCursor", cursor, sizeof cursor);
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\",\"params\":{\"cursor\":\"%s\"}}",
            cursor);
    const char *second = mcp_next(c);
    assert_has(second, oldest);
    assert_null(strstr(second, "nextCursor"));
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\",\"params\":{\"cursor\":\"x\"}}");
    assert_has(mcp_next(c), "-32602");
}

static void logs_go_to_who_wants_them(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *older = mcp_client_older(w, "2025-11-25", "{}");
    mcp_say(
        older,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"error\"}}");
    assert_has(mcp_next(older), "\"result\":{}");
    al_mcp_log(older->peer, NULL, AL_MCP_WARNING, "t", AL_STR("\"no\""));
    assert_true(mcp_quiet(older));
    al_mcp_log(older->peer, NULL, AL_MCP_ERROR, "t", AL_STR("\"yes\""));
    assert_has(mcp_next(older), "\"level\":\"error\"");
    struct mcp_client *newer = mcp_client_new(w);
    mcp_say(newer,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"," MCP_META(
                "{}") "}}");
    al_mcp_log(newer->peer, newer->peer->requests, AL_MCP_EMERGENCY, "t", AL_STR("\"no\""));
    assert_true(mcp_quiet(newer));
    mcp_let_go();
    assert_has(mcp_next(newer), "resultType");
}

static void progress_only_rises(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{}");
    mcp_say(
        c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\",\"_meta\":{"
           "\"progressToken\":7}}}");
    struct al_mcp_request *r = c->peer->requests;
    al_mcp_progress(r, 2, 4, AL_STR("half"));
    assert_has(mcp_next(c), "{\"progressToken\":7,\"progress\":2,\"total\":4,\"message\":\"half\"}");
    al_mcp_progress(r, 2, 4, AL_STR("half"));
    al_mcp_progress(r, 1, 4, AL_STR("back"));
    assert_true(mcp_quiet(c));
    mcp_let_go();
    assert_has(mcp_next(c), "\"id\":1");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, mcp_world_set_up, mcp_world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_client_says_in_each_message_which_protocol_it_speaks),
        TEST(each_older_version_is_agreed_on),
        TEST(what_cannot_be_done_is_refused_with_its_code),
        TEST(an_id_in_use_is_refused_and_a_cancelled_request_is_not_answered),
        TEST(a_thousand_requests_are_open_at_once_and_each_is_cancelled),
        TEST(more_than_the_limit_is_busy),
        TEST(a_client_that_goes_cancels_what_it_asked_for_and_nothing_is_sent),
        TEST(a_listener_is_acknowledged_first_and_ends_with_a_result),
        TEST(a_cancelled_listener_hears_nothing_more),
        TEST(runs_are_resources_of_their_workspace),
        TEST(runs_come_in_pages_newest_first),
        TEST(logs_go_to_who_wants_them),
        TEST(progress_only_rises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
