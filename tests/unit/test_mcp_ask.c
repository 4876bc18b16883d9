/* Asking the client's user for an approval, in both eras, and the client's roots as the workspace. */
#include "test.h"

#include "mcp_world.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PUT                                             \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/" \
    "call\",\"params\":{\"name\":\"put\",\"arguments\":{\"a\":1}}}"

static struct mcp_client *asked(struct mcp_world *w, char id[64])
{
    struct mcp_client *c = mcp_client_older(w, "2025-06-18", "{\"elicitation\":{}}");
    mcp_say(c, PUT);
    const char *question = mcp_next(c);
    assert_has(question, "\"method\":\"elicitation/create\"");
    assert_has(question, "\"enum\":[\"once\",\"session\",\"deny\"]");
    assert_has(question, "\"required\":[\"decision\"]");
    assert_has(question, "put");
    assert_null(strstr(question, "\"default\""));
    mcp_member(question, "id", id, 64);
    assert_int_equal(mcp_n_put, 0);
    return c;
}

static void a_yes_lets_the_call_happen_once(void **state)
{
    char id[64];
    struct mcp_world *w = *state;
    struct mcp_client *c = asked(w, id);
    mcp_say(c,
            "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"action\":\"accept\",\"content\":{\"decision\":"
            "\"once\"}}}",
            id);
    assert_has(mcp_next(c), "\"isError\":false");
    assert_int_equal(mcp_n_put, 1);
    mcp_say(c, PUT); /* and not the next one */
    assert_has(mcp_next(c), "elicitation/create");
    assert_int_equal(mcp_n_put, 1);
}

static void a_yes_for_the_session_is_kept(void **state)
{
    char id[64];
    struct mcp_world *w = *state;
    struct mcp_client *c = asked(w, id);
    mcp_say(c,
            "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"action\":\"accept\",\"content\":{\"decision\":"
            "\"session\"}}}",
            id);
    assert_has(mcp_next(c), "\"isError\":false");
    mcp_say(c, PUT);
    assert_has(mcp_next(c), "\"isError\":false");
    assert_int_equal(mcp_n_put, 2);
}

static void whatever_is_no_clear_yes_refuses(void **state)
{
    static const struct {
        const char *answer;
        bool said_no; /* else nobody answered */
    } cases[] = {
        {"\"result\":{\"action\":\"decline\"}", true},
        {"\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"deny\"}}", true},
        {"\"result\":{\"action\":\"decline\",\"content\":{\"decision\":\"once\"}}", true},
        {"\"result\":{\"action\":\"cancel\"}", false},
        {"\"result\":{\"action\":\"accept\"}", false},
        {"\"result\":{\"action\":\"accept\",\"content\":{}}", false},
        {"\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"always\"}}", false},
        {"\"result\":{\"action\":\"accept\",\"content\":{\"decision\":true}}", false},
        {"\"result\":{\"action\":\"accept\",\"content\":[\"once\"]}", false},
        {"\"result\":{}", false},
        {"\"result\":[]", false},
        {"\"result\":\"once\"", false},
        {"\"result\":null", false},
        {"\"error\":{\"code\":-32601,\"message\":\"no\"}", false},
        {"\"error\":5", false},
        {"\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"once\"}},\"error\":{\"code\":1,"
         "\"message\":\"x\"}",
         false},
    };
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{\"elicitation\":{\"form\":{}}}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char id[64];
        mcp_say(c, PUT);
        mcp_member(mcp_next(c), "id", id, sizeof id);
        mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",%s}", id, cases[i].answer);
        const char *answer = mcp_next(c);
        assert_has(answer, cases[i].said_no ? "PERMISSION_DENIED: put: the person was asked, and said no"
                                            : "APPROVAL_REQUIRED");
        assert_has(answer, cases[i].said_no ? "do without it" : "nobody answered\\nhint: put --allow-write");
        assert_has(answer, "\"isError\":true");
    }
    assert_int_equal(mcp_n_put, 0);
}

static void an_answer_counts_once_and_only_from_who_was_asked(void **state)
{
    char id[64];
    struct mcp_world *w = *state;
    struct mcp_client *c = asked(w, id), *other = mcp_client_older(w, "2025-06-18", "{}");
    static const char yes[] =
        "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"action\":\"accept\",\"content\":{\"decision\":"
        "\"once\"}}}";
    mcp_say(other, yes, id);
    mcp_say(c, yes, "alisio-999");
    mcp_turns(w);
    assert_int_equal(mcp_n_put, 0);
    mcp_say(c, yes, id);
    mcp_say(c, yes, id);
    assert_has(mcp_next(c), "\"isError\":false");
    mcp_turns(w);
    assert_int_equal(mcp_n_put, 1);
    assert_true(mcp_quiet(c));
}

static void a_call_is_cancelled_while_it_is_asked_about(void **state)
{
    char id[64];
    struct mcp_world *w = *state;
    struct mcp_client *c = asked(w, id);
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}");
    assert_has(mcp_next(c), "notifications/cancelled"); /* the question is taken back */
    assert_string_equal(mcp_next(c), "");
    mcp_say(c,
            "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"action\":\"accept\",\"content\":{\"decision\":"
            "\"once\"}}}",
            id);
    mcp_turns(w);
    assert_int_equal(mcp_n_put, 0);
    assert_int_equal(w->mcp.n_questions, 0);
    assert_true(mcp_quiet(c));
}

static void who_cannot_be_asked_is_told_what_would_open_it(void **state)
{
    static const char *const capabilities[] = {"{}", "{\"elicitation\":{\"url\":{}}}",
                                               "{\"elicitation\":true}"};
    struct mcp_world *w = *state;
    for (size_t i = 0; i < 3; i++) {
        struct mcp_client *c = mcp_client_older(w, "2025-11-25", capabilities[i]);
        mcp_say(c, PUT);
        const char *answer = mcp_next(c);
        assert_has(answer, "APPROVAL_REQUIRED");
        assert_has(answer, "alisio mcp --allow-write");
    }
}

static void no_answer_in_time_is_no_approval(void **state)
{
    char id[64];
    struct mcp_world *w = *state;
    w->mcp.question_ms = 1;
    struct mcp_client *c = asked(w, id);
    assert_has(mcp_next(c), "notifications/cancelled");
    const char *answer = mcp_next(c);
    assert_has(answer, "APPROVAL_REQUIRED");
    assert_has(answer, "nobody answered");
    assert_has(answer, "alisio mcp --allow-write");
    mcp_say(c,
            "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"action\":\"accept\",\"content\":{\"decision\":"
            "\"once\"}}}",
            id);
    mcp_turns(w);
    assert_int_equal(mcp_n_put, 0);
}

static void what_is_allowed_does_not_wait_for_a_person(void **state)
{
    char id[64];
    struct mcp_world *w = *state;
    struct mcp_client *c = asked(w, id);
    struct core_answer a = core_world_ask(w->core, AL_ORIGIN_CLI, "put", "{}");
    assert_int_equal(a.code, AL_OK);
    assert_int_equal(mcp_n_put, 1);
    assert_true(mcp_quiet(c));
}

static void questions_open_at_once_are_limited(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{\"elicitation\":{}}");
    for (unsigned i = 0; i <= AL_MCP_MAX_QUESTIONS; i++)
        mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"tools/call\",\"params\":{\"name\":\"put\"}}",
                i);
    for (unsigned i = 0; i < AL_MCP_MAX_QUESTIONS; i++)
        assert_has(mcp_next(c), "elicitation/create");
    assert_has(mcp_next(c), "APPROVAL_REQUIRED");
    al_mcp_peer_close(c->peer);
    mcp_turns(w);
    assert_int_equal(w->mcp.n_questions, 0);
    assert_int_equal(w->mcp.n_open, 0);
    assert_int_equal(mcp_n_put, 0);
}

static void the_words_of_a_server_cannot_hide_anything(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{\"elicitation\":{}}");
    mcp_say(
        c,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"put\",\"arguments\":"
        "{\"x\":\"\xe2\x80\xae"
        "evil\"}}}");
    const char *question = mcp_next(c);
    assert_null(strstr(question, "\xe2\x80\xae"));
    assert_has(question, "u202e");
}

/* --- the modern era --- */

#define NEW_PUT(id, more)                                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                                            \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"put\",\"arguments\":{\"a\":1}," MCP_META( \
        "{\"elicitation\":{}}") more "}}"
#define YES ",\"inputResponses\":{\"approval\":{\"action\":\"accept\",\"content\":{\"decision\":\"once\"}}}"

static void parked(struct mcp_client *c, char requested_state[64])
{
    mcp_say(c, NEW_PUT("1", ""));
    const char *answer = mcp_next(c);
    assert_has(answer, "\"resultType\":\"input_required\"");
    assert_has(answer, "\"inputRequests\":{\"approval\":{\"method\":\"elicitation/create\"");
    assert_has(answer, "\"mode\":\"form\"");
    mcp_member(answer, "requestState", requested_state, 64);
    assert_int_equal(strlen(requested_state), AL_MCP_STATE_MARK + 32);
    assert_int_equal(mcp_n_put, 0);
}

/* Members in another order are the same request, and many of them are no work. */
static void many_members_are_compared_in_short_time(void **state)
{
    enum {
        N = 40000
    };
    char key[64];
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_new(w);
    autobuf struct al_buf up = AL_BUF_INIT(4u << 20), down = AL_BUF_INIT(4u << 20);
    for (int i = 0; i < N; i++) {
        al_buf_addf(&up, ",\"k%d\":%d", i, i);
        al_buf_addf(&down, ",\"k%d\":%d", N - 1 - i, N - 1 - i);
    }
    al_buf_addc(&up, 0);
    al_buf_addc(&down, 0);
    mcp_say(c, NEW_PUT("1", "%s"), up.p);
    mcp_member(mcp_next(c), "requestState", key, sizeof key);
    uint64_t start_ms = al_mono_ms();
    mcp_say(c, NEW_PUT("2", YES "%s,\"requestState\":\"%s\""), down.p, key);
    assert_has(mcp_next(c), "\"isError\":false");
    assert_true(al_mono_ms() - start_ms < 5000);
}

static void the_answer_comes_with_a_retry_of_any_connection(void **state)
{
    char key[64];
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_new(w), *again = mcp_client_new(w);
    parked(c, key);
    al_mcp_peer_close(c->peer);
    mcp_say(again, NEW_PUT("2", YES ",\"requestState\":\"%s\""), key);
    const char *answer = mcp_next(again);
    assert_has(answer, "\"id\":2");
    assert_has(answer, "\"isError\":false");
    assert_int_equal(mcp_n_put, 1);
    mcp_say(again, NEW_PUT("3", YES ",\"requestState\":\"%s\""), key); /* once */
    assert_has(mcp_next(again), "-32602");
    assert_int_equal(mcp_n_put, 1);
    assert_int_equal(w->mcp.n_open, 0);
    assert_int_equal(w->mcp.bytes_open, 0);
}

static void a_state_opens_nothing_but_its_own_request(void **state)
{
    char key[64], wrong[64];
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_new(w);
    parked(c, key);
    memcpy(wrong, key, sizeof wrong);
    wrong[47] = (char)(wrong[47] == '0' ? '1' : '0');
    mcp_say(c, NEW_PUT("2", YES ",\"requestState\":\"%s\""), wrong);
    assert_has(mcp_next(c), "-32602");
    mcp_say(c, NEW_PUT("2", YES ",\"requestState\":7"));
    assert_has(mcp_next(c), "-32602");
    mcp_say(c, NEW_PUT("2", YES ",\"requestState\":\"\""));
    assert_has(mcp_next(c), "-32602");
    mcp_say(c,
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
            "call\",\"params\":{\"name\":\"put\",\"arguments\":{\"a\":2}," MCP_META("{\"elicitation\":{}}")
                YES ",\"requestState\":\"%s\"}}",
            key);
    assert_has(mcp_next(c), "-32602");
    mcp_say(c, NEW_PUT("2", YES ",\"more\":1,\"requestState\":\"%s\""), key);
    assert_has(mcp_next(c), "-32602");
    mcp_say(c,
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"prompts/"
            "get\",\"params\":{\"name\":\"put\",\"arguments\":{\"a\":1}," MCP_META("{}") YES
            ",\"requestState\":\"%s\"}}",
            key);
    assert_has(mcp_next(c), "-32602");
    mcp_say(c, NEW_PUT("2", ",\"inputResponses\":[],\"requestState\":\"%s\""), key);
    assert_has(mcp_next(c), "-32602");
    mcp_say(c, NEW_PUT("2", ",\"inputResponses\":{\"approval\":5},\"requestState\":\"%s\""), key);
    assert_has(mcp_next(c), "-32602");
    assert_int_equal(mcp_n_put, 0);
    mcp_say(c, NEW_PUT("2", YES ",\"requestState\":\"%s\""), key);
    assert_has(mcp_next(c), "\"isError\":false");
    assert_int_equal(mcp_n_put, 1);
}

static void a_retry_without_the_answer_is_asked_again_under_another_state(void **state)
{
    char key[64], next[64];
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_new(w);
    parked(c, key);
    mcp_say(c, NEW_PUT("2", ",\"inputResponses\":{\"other\":{}},\"requestState\":\"%s\""), key);
    const char *answer = mcp_next(c);
    assert_has(answer, "input_required");
    mcp_member(answer, "requestState", next, sizeof next);
    assert_string_not_equal(key, next);
    mcp_say(c, NEW_PUT("3", YES ",\"requestState\":\"%s\""), key);
    assert_has(mcp_next(c), "-32602");
    mcp_say(c, NEW_PUT("4", YES ",\"requestState\":\"%s\""), next);
    assert_has(mcp_next(c), "\"isError\":false");
}

static void a_no_and_garbage_refuse_there_too(void **state)
{
    static const char *const answers[] = {"{\"action\":\"decline\"}", "{\"action\":\"cancel\"}", "{}",
                                          "{\"action\":\"accept\",\"content\":{\"decision\":\"yes\"}}"};
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_new(w);
    for (size_t i = 0; i < 4; i++) {
        char key[64];
        parked(c, key);
        mcp_say(c, NEW_PUT("2", ",\"inputResponses\":{\"approval\":%s},\"requestState\":\"%s\""), answers[i],
                key);
        assert_has(mcp_next(c), i == 0 ? "PERMISSION_DENIED" : "APPROVAL_REQUIRED");
    }
    assert_int_equal(mcp_n_put, 0);
}

static void work_that_nobody_comes_back_for_ends(void **state)
{
    char key[64];
    struct mcp_world *w = *state;
    w->mcp.question_ms = 1;
    struct mcp_client *c = mcp_client_new(w);
    parked(c, key);
    while (w->mcp.n_open)
        mcp_turns(w);
    mcp_say(c, NEW_PUT("2", YES ",\"requestState\":\"%s\""), key);
    assert_has(mcp_next(c), "-32602");
    assert_int_equal(mcp_n_put, 0);
}

static void parked_work_is_limited_and_ends_with_the_server(void **state)
{
    char key[64];
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_new(w);
    for (unsigned i = 0; i < AL_MCP_MAX_QUESTIONS; i++)
        parked(c, key);
    mcp_say(c, NEW_PUT("1", ""));
    assert_has(mcp_next(c), "APPROVAL_REQUIRED");
    assert_int_equal(w->mcp.n_open, AL_MCP_MAX_QUESTIONS);
}

static void on_question_end(void *ud, struct al_mcp_request *current, const struct al_json *result,
                            const char *failure)
{
    (void)current;
    (void)result;
    *(const char **)ud = failure;
}

static void questions_of_servers_leave_room_for_approvals(void **state)
{
    struct mcp_world *w = *state;
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{\"elicitation\":{}}");
    const char *ends[2 * AL_MCP_MAX_QUESTIONS] = {NULL};
    int servers[2];
    struct al_mcp_ask question = {
        .method = "elicitation/create", .params = AL_STR("{}"), .answered = on_question_end};
    for (size_t i = 0; i < 2 * AL_MCP_MAX_QUESTIONS; i++) {
        question.asker = &servers[i % 2 && i > AL_MCP_MAX_QUESTIONS_OF_ONE + 1];
        question.ud = &ends[i];
        al_mcp_ask_peer(c->peer, &question);
    }
    assert_null(ends[AL_MCP_MAX_QUESTIONS_OF_ONE - 1]);
    assert_has(ends[AL_MCP_MAX_QUESTIONS_OF_ONE], "of this server");
    assert_int_equal(w->mcp.n_questions, AL_MCP_MAX_QUESTIONS);
    for (size_t i = 0; i < AL_MCP_MAX_QUESTIONS; i++)
        assert_has(mcp_next(c), "elicitation/create");
    mcp_say(c, PUT);
    assert_has(mcp_next(c), "needs your approval");
    al_mcp_peer_close(c->peer); /* ends lives here */
}

/* --- roots --- */

static void stdio_stands_in(struct mcp_world *w)
{
    w->mcp.opts.roots_are_workspace = true;
}

static void the_first_root_is_the_workspace_before_anything_runs(void **state)
{
    struct mcp_world *w = *state;
    autofree char *dir = core_world_path(w->core->top, "root a"),
                  *more = core_world_path(w->core->top, "more");
    char id[64];
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(mkdir(more, 0700), 0);
    stdio_stands_in(w);
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{\"roots\":{\"listChanged\":true}}");
    const char *question = mcp_next(c);
    assert_has(question, "roots/list");
    mcp_member(question, "id", id, sizeof id);
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"look\"}}");
    mcp_turns(w);
    assert_true(mcp_quiet(c)); /* it waits */
    mcp_say(c,
            "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"roots\":[{\"uri\":\"https://"
            "x\"},{\"uri\":\"file://%s/"
            "root%%20a\"},{\"uri\":\"file://%s\"}]}}",
            id, w->core->top, more);
    assert_has(mcp_next(c), "seen");
    assert_string_equal(al_workspace_root(al_core_workspace(w->core->core)), dir);
    assert_string_equal(al_core_session(w->core->core)->workspace, dir);
    /* Now something has run. */
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}");
    mcp_member(mcp_next(c), "id", id, sizeof id);
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"roots\":[{\"uri\":\"file://%s\"}]}}", id,
            more);
    assert_has(mcp_next(c), "something has run");
    assert_string_equal(al_workspace_root(al_core_workspace(w->core->core)), dir);
}

static void roots_that_are_no_folders_leave_the_workspace(void **state)
{
    static const char *const roots[] = {"{\"roots\":[]}", "{}", "{\"roots\":5}",
                                        "{\"roots\":[{\"uri\":\"file:///does/not/exist\"}]}",
                                        "{\"roots\":[{\"uri\":\"file://host/x\"},{\"uri\":\"file:///"
                                        "%00\"},{\"uri\":\"file:///a%zz\"},{\"uri\":7},8]}"};
    struct mcp_world *w = *state;
    char id[64];
    stdio_stands_in(w);
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{\"roots\":{}}");
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        mcp_member(mcp_next(c), "id", id, sizeof id);
        mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":%s}", id, roots[i]);
        assert_has(mcp_next(c), "notifications/message");
        assert_string_equal(al_workspace_root(al_core_workspace(w->core->core)), w->core->ws);
        mcp_say(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}");
    }
}

static void a_call_does_not_wait_for_roots_for_ever(void **state)
{
    struct mcp_world *w = *state;
    stdio_stands_in(w);
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{\"roots\":{}}");
    assert_has(mcp_next(c), "roots/list");
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"look\"}}");
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"look\"}}");
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}");
    assert_string_equal(mcp_next(c), "");
    assert_has(mcp_next(c), "\"id\":2");
}

static void a_client_that_goes_while_its_roots_are_asked_for_is_forgotten(void **state)
{
    struct mcp_world *w = *state;
    stdio_stands_in(w);
    struct mcp_client *c = mcp_client_older(w, "2025-11-25", "{\"roots\":{}}");
    assert_has(mcp_next(c), "roots/list");
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"look\"}}");
    al_mcp_peer_close(c->peer);
    assert_null(w->mcp.peers);
    assert_int_equal(w->mcp.n_questions, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, mcp_world_set_up, mcp_world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_yes_lets_the_call_happen_once),
        TEST(a_yes_for_the_session_is_kept),
        TEST(whatever_is_no_clear_yes_refuses),
        TEST(an_answer_counts_once_and_only_from_who_was_asked),
        TEST(a_call_is_cancelled_while_it_is_asked_about),
        TEST(who_cannot_be_asked_is_told_what_would_open_it),
        TEST(no_answer_in_time_is_no_approval),
        TEST(what_is_allowed_does_not_wait_for_a_person),
        TEST(questions_open_at_once_are_limited),
        TEST(the_words_of_a_server_cannot_hide_anything),
        TEST(the_answer_comes_with_a_retry_of_any_connection),
        TEST(a_state_opens_nothing_but_its_own_request),
        TEST(a_retry_without_the_answer_is_asked_again_under_another_state),
        TEST(a_no_and_garbage_refuse_there_too),
        TEST(work_that_nobody_comes_back_for_ends),
        TEST(many_members_are_compared_in_short_time),
        TEST(questions_of_servers_leave_room_for_approvals),
        TEST(parked_work_is_limited_and_ends_with_the_server),
        TEST(the_first_root_is_the_workspace_before_anything_runs),
        TEST(roots_that_are_no_folders_leave_the_workspace),
        TEST(a_call_does_not_wait_for_roots_for_ever),
        TEST(a_client_that_goes_while_its_roots_are_asked_for_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
