#include "test.h"

#include "core_world.h"

#include "base/mem.h"
#include "core/core_int.h"
#include "store/catalog.h"
#include "upstream/upstream_int.h"

#include <stdio.h>

/* What the core sees of configured servers, whose catalogues are in the store. Nothing here starts one. */

struct fix {
    struct core_world *world;
    struct al_servers servers;
    struct al_upstreams *u;
};

static struct fix fix;

static const char config[] =
    "{\"mcp\":{\"servers\":{"
    "\"github\":{\"command\":\"x\",\"tools\":{\"get_*\":\"allow\",\"erase\":\"deny\"}},"
    "\"git\":{\"command\":\"x\"},"
    "\"git.hub\":{\"command\":\"x\"},"
    "\"a_b\":{\"command\":\"x\"},"
    "\"off\":{\"command\":\"x\",\"disabled\":true},"
    "\"new\":{\"command\":\"x\"},"
    "\"new_er\":{\"command\":\"x\"},"
    "\"constructor\":{\"command\":\"x\"}"
    "}}}";

static void put(const char *server, const char *tools, bool other_definition)
{
    const struct al_server *s = al_servers_find(&fix.servers, al_str_of(server));
    struct al_catalog_server v = {.name = server,
                                  .config_sha256 = s && !other_definition ? s->sha256 : "other"};
    struct al_catalog_put_result r;
    struct al_err err;
    if (al_catalog_put(al_store_db_path(fix.world->store), &v, al_str_of(tools), &r, &err) < 0)
        fail_msg("%s", err.msg);
}

#define T(name) "{\"name\":\"" name "\",\"description\":\"Says something.\"}"

static void start(void **state, const char *const *allow)
{
    struct al_err err;
    autobuf struct al_buf notices = AL_BUF_INIT(4096);
    fix = (struct fix){.world = *state};
    core_world_start(fix.world, NULL);
    if (al_servers_read(al_str_of(config), AL_SERVERS_OURS, "test", &fix.servers, &notices, &err) < 0)
        fail_msg("%s", err.msg);
    struct al_upstreams_opts o = {.servers = &fix.servers, .allow = allow};
    fix.u = al_upstreams_new(fix.world->core, &o);
    put("github",
        "[" T("get_issue") "," T("erase") "," T("close") ",{\"name\":\"hints\",\"description\":\"Reads a "
                                                         "mailbox.\",\"annotations\":{\"readOnlyHint\":true,"
                                                         "\"idempotentHint\":true,\"openWorldHint\":false}}]",
        false);
    put("git", "[" T("hub.x") "," T("log") "]", false);
    put("git.hub", "[" T("x") "]", false);
    put("a_b", "[" T("c") "]", false);
    put("new_er", "[" T("x") "]", false);
    put("off", "[" T("get_issue") "]", false);
    put("elsewhere", "[" T("get_issue") "]", false);
    put("constructor", "[" T("__proto__") "]", false);
}

static int stop(void **state)
{
    al_upstreams_free(fix.u);
    al_servers_free(&fix.servers);
    return core_world_tear_down(state);
}

/* "server tool", or "" for none. */
static const char *found(const char *name, enum al_tool_gate *ret_gate)
{
    static char text[600];
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    const struct al_tool *t = al_core_find_tool(fix.world->core, al_str_of(name), &a);
    snprintf(text, sizeof text, "%s%s%s", t ? t->server : "", t ? " " : "", t ? t->server_tool : "");
    if (t && ret_gate)
        *ret_gate = t->gate;
    return text;
}

static void tools_are_found_by_all_of_their_names(void **state)
{
    start(state, NULL);
    char hashed[AL_CATALOG_NAME_MAX];
    al_catalog_name("a_b", "c", hashed);
    const char *const cases[][2] = {
        {"mcp_github_get_issue", "github get_issue"},
        {"github.get_issue", "github get_issue"},
        {"git.log", "git log"},
        {"git.hub.x", "git.hub x"}, /* the longest server that has such a tool */
        {hashed, "a_b c"},
        {"mcp_a_b_c", "a_b c"},
        {"a_b.c", "a_b c"},
        {"constructor.__proto__", "constructor __proto__"},
        {"off.get_issue", ""},
        {"mcp_off_get_issue", ""},
        {"elsewhere.get_issue", ""},
        {"mcp_elsewhere_get_issue", ""},
        {"github.nothing", ""},
        {"github.", ""},
        {"github", ""},
        {".x", ""},
        {"mcp_", ""},
        {"", ""},
        {"new.whatever it is", "new whatever it is"}, /* never asked what it has */
        {"mcp_new_thing", "new thing"},
        {"mcp_new_er_x", "new er_x"}, /* its own name; new_er.x has another */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(found(cases[i][0], NULL), cases[i][1]);
    put("new", "[]", false);
    assert_string_equal(found("mcp_new_er_x", NULL), "new_er x");
    autoarena struct al_arena small = AL_ARENA_INIT(200);
    assert_null(al_core_find_tool(fix.world->core, AL_STR("github.get_issue"), &small));
}

static void a_name_that_is_almost_right_finds_the_one_tool_that_it_can_mean(void **state)
{
    const char *const allow[] = {"", NULL};
    start(state, allow);
    put("github", "[" T("get-sum") "," T("erase") "," T("a-b") "," T("a_b") "," T("getTiny.Image") "]",
        false);
    const char *const cases[][2] = {
        {"github.get_sum", "github get-sum"},
        {"github.getSum", "github get-sum"},
        {"github.get-sum", "github get-sum"},
        {"github.get_tiny_image", "github getTiny.Image"},
        {"github.a_b", "github a_b"}, /* its very name */
        {"github.ab", ""},            /* one of two */
        {"github.get_sums", ""},
        {"github.get_su", ""},
        {"github._", ""},
        {"GitHub.get_sum", ""}, /* of the server nothing is guessed */
        {"off.getissue", ""},
        {"elsewhere.getissue", ""},
        {"new.get_sum", "new get_sum"}, /* never asked what it has: the name is taken as it is */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(found(cases[i][0], NULL), cases[i][1]);
    enum al_tool_gate gate = AL_GATE_EFFECT;
    assert_string_equal(found("github.E_rase", &gate), "github erase");
    assert_int_equal(gate, AL_GATE_DENY);
}

static void the_configuration_and_the_flags_decide(void **state)
{
    const char *const allow[] = {"git", "github.cl*", "github.erase", NULL};
    start(state, allow);
    const struct {
        const char *name;
        enum al_tool_gate gate;
    } cases[] = {
        {"github.get_issue", AL_GATE_ALLOW}, {"github.hints", AL_GATE_ASK}, {"github.close", AL_GATE_ALLOW},
        {"github.erase", AL_GATE_DENY}, /* the configuration beats the flag */
        {"git.log", AL_GATE_ALLOW},          {"git.hub.x", AL_GATE_ASK},    {"new.x", AL_GATE_ASK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum al_tool_gate gate = AL_GATE_EFFECT;
        found(cases[i].name, &gate);
        if (gate != cases[i].gate)
            fail_msg("%s: %d", cases[i].name, gate);
    }
}

static void one_flag_allows_all_but_what_is_denied(void **state)
{
    const char *const allow[] = {"", NULL};
    start(state, allow);
    enum al_tool_gate gate = AL_GATE_EFFECT;
    found("new.x", &gate);
    assert_int_equal(gate, AL_GATE_ALLOW);
    found("github.erase", &gate);
    assert_int_equal(gate, AL_GATE_DENY);
}

static void a_changed_definition_is_asked_about_again(void **state)
{
    const char *const allow[] = {"", NULL};
    start(state, allow);
    struct al_err err;
    enum al_tool_gate gate = AL_GATE_EFFECT;
    assert_int_equal(al_catalog_pin(fix.world->store, "git", "log", NULL, false, &err), 0);
    assert_int_equal(al_catalog_pin(fix.world->store, "github", "erase", NULL, false, &err), 0);
    found("git.log", &gate);
    assert_int_equal(gate, AL_GATE_ALLOW);
    put("git", "[{\"name\":\"log\",\"description\":\"Now it says something else.\"}]", false);
    put("github", "[{\"name\":\"erase\",\"description\":\"Now it says something else.\"}]", false);
    found("git.log", &gate);
    assert_int_equal(gate, AL_GATE_CHANGED);
    found("mcp_git_log", &gate);
    assert_int_equal(gate, AL_GATE_CHANGED);
    found("github.erase", &gate);
    assert_int_equal(gate, AL_GATE_DENY);
    assert_int_equal(al_catalog_pin(fix.world->store, "git", "log", NULL, true, &err), 0);
    found("git.log", &gate);
    assert_int_equal(gate, AL_GATE_ALLOW);
}

static void a_server_says_what_it_likes_of_its_tools(void **state)
{
    start(state, NULL);
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    const struct al_tool *t = al_core_find_tool(fix.world->core, AL_STR("github.hints"), &a);
    assert_int_equal(t->effect, AL_EFFECT_EXTERNAL); /* whatever it says */
    assert_false(t->destructive);
    assert_true(t->idempotent);
    assert_false(t->open_world);
    t = al_core_find_tool(fix.world->core, AL_STR("github.close"), &a);
    assert_true(t->destructive);
    assert_false(t->idempotent);
    assert_true(t->open_world);
}

/* --- lists --- */

static size_t n_listed(const char *query, const char *name)
{
    autoarena struct al_arena a = AL_ARENA_INIT(8u << 20);
    autobuf struct al_buf out = AL_BUF_INIT(8u << 20);
    const struct al_json *v;
    struct al_err err;
    size_t n = 0;
    al_core_list_json(fix.world->core, al_str_of(query), AL_ORIGIN_SCRIPT, &out);
    assert_int_equal(al_json_parse(&a, al_buf_str(&out), &v, &err), 0);
    al_json_each(one, v) n += al_str_is(al_json_get_text(one, "name"), name);
    return n;
}

static void only_servers_that_are_configured_now_are_shown(void **state)
{
    start(state, NULL);
    assert_int_equal(n_listed("", "mcp_github_get_issue"), 1);
    assert_int_equal(n_listed("", "mcp_off_get_issue"), 0);
    assert_int_equal(n_listed("", "mcp_elsewhere_get_issue"), 0);
    assert_int_equal(n_listed("", "new.*"), 1);
    assert_int_equal(n_listed("issue", "mcp_github_get_issue"), 1);
    assert_int_equal(n_listed("issue", "mcp_elsewhere_get_issue"), 0);
    assert_int_equal(n_listed("mailboxes", "mcp_github_hints"), 1);
    put("new", "[]", false);
    assert_int_equal(n_listed("", "new.*"), 0);
    put("new", "[" T("old_one") "]", true); /* of another definition: shown, but to be fetched again */
    assert_int_equal(n_listed("", "new.*"), 1);
    assert_string_equal(found("new.old_one", NULL), "new old_one");
    assert_string_equal(found("new.other", NULL), "new other");
}

static void scripts_get_as_many_names_as_fit(void **state)
{
    start(state, NULL);
    autobuf struct al_buf names = AL_BUF_INIT(1u << 20), many = AL_BUF_INIT(1u << 20);
    const struct al_tool_source *ops = fix.world->core->source_ops;
    ops->names_json(fix.world->core->source_ud, 64u << 10, &names);
    al_buf_addc(&names, 0);
    assert_string_equal(names.p,
                        "{\"a_b\":[\"c\"],\"constructor\":[\"__proto__\"],\"git\":[\"hub.x\",\"log\"],"
                        "\"git.hub\":[\"x\"],\"github\":[\"close\",\"erase\",\"get_issue\",\"hints\"],"
                        "\"new\":[],\"new_er\":[\"x\"]}");
    al_buf_adds(&many, "[");
    for (int i = 0; i < 2000; i++)
        al_buf_addf(&many, "%s{\"name\":\"a_tool_%d\"}", i ? "," : "", i);
    al_buf_addf(&many, "]%c", 0);
    put("git", many.p, false);
    al_buf_clear(&names);
    ops->names_json(fix.world->core->source_ud, 4096, &names);
    assert_true(names.n <= 4096 + 128);
    assert_true(al_str_find(al_buf_str(&names), AL_STR("\"get_issue\"")) > 0); /* each server has its share */
    assert_true(al_str_find(al_buf_str(&names), AL_STR("\"a_tool_1\"")) > 0);
    assert_int_equal(ops->count(fix.world->core->source_ud), 2000 + 1 + 1 + 4 + 1 + 1);
}

static void close_names_are_those_of_servers_too(void **state)
{
    start(state, NULL);
    autobuf struct al_buf out = AL_BUF_INIT(1024);
    al_core_close_names(fix.world->core, AL_STR("github.get_isue"), &out);
    assert_true(al_str_starts(al_buf_str(&out), "did you mean github.get_issue"));
}

static void check_not_found(const char *name, const char *msg, const char *hint)
{
    struct al_err err = {0};
    assert_int_equal(al_registry_not_found(fix.world->core, al_str_of(name), AL_ORIGIN_SCRIPT, &err), -1);
    assert_int_equal(err.code, AL_TOOL_NOT_FOUND);
    assert_string_equal(err.msg, msg);
    if (!strstr(err.hint, hint))
        fail_msg("%s: %s", name, err.hint);
}

static void the_nearest_name_is_said_first(void **state)
{
    start(state, NULL);
    put("github", "[" T("add_sum") "," T("sum_get") "," T("get-sum") "," T("odd sum!") "]", false);
    check_not_found("getsum", "there is no tool \"getsum\"", "did you mean github.get-sum?");
    check_not_found("mcp_github_gt_sum", "there is no tool \"mcp_github_gt_sum\"",
                    "did you mean github.get-sum");
    check_not_found("github.ad_sum", "there is no tool \"github.ad_sum\"", "did you mean github.add_sum");
    check_not_found("github.odd_sun", "there is no tool \"github.odd_sun\"", "mcp_github_odd_sum");
}

static void a_name_of_no_server_says_so(void **state)
{
    start(state, NULL);
    check_not_found("construktor.get_issue", "there is no MCP server construktor",
                    "did you mean constructor?");
    check_not_found("newwer.a.b", "there is no MCP server newwer", "did you mean new_er?");
    check_not_found("zzzzzz.get_issue", "there is no MCP server zzzzzz", "did you mean github.get_issue");
    check_not_found("off.get_issue", "the MCP server off is switched off in the configuration",
                    "switch it on");
    check_not_found("off", "the MCP server off is switched off in the configuration", "switch it on");
    check_not_found("github", "github is an MCP server, not a tool", "github.TOOL");
    check_not_found("git.hub", "git.hub is an MCP server, not a tool", "git.hub.TOOL");
    check_not_found("a b.c", "there is no tool \"a b.c\"", "tools.list()");
    check_not_found(".c", "there is no tool \".c\"", "tools.list()");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, core_world_set_up, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_name_that_is_almost_right_finds_the_one_tool_that_it_can_mean),
        CASE(tools_are_found_by_all_of_their_names),
        CASE(the_configuration_and_the_flags_decide),
        CASE(one_flag_allows_all_but_what_is_denied),
        CASE(a_changed_definition_is_asked_about_again),
        CASE(a_server_says_what_it_likes_of_its_tools),
        CASE(only_servers_that_are_configured_now_are_shown),
        CASE(scripts_get_as_many_names_as_fit),
        CASE(close_names_are_those_of_servers_too),
        CASE(the_nearest_name_is_said_first),
        CASE(a_name_of_no_server_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
