#include "test.h"

#include "config/config.h"
#include "config/servers.h"
#include "config/servers_text.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

static struct al_servers read_as(enum al_servers_shape shape, const char *text, const char *want_notices)
{
    struct al_servers s = {0};
    struct al_err err = {0};
    struct al_buf notices = AL_BUF_INIT(4096);
    if (al_servers_read(al_str_of(text), shape, "the file", &s, &notices, &err) < 0)
        fail_msg("%s", err.msg);
    al_buf_addc(&notices, 0);
    assert_string_equal(notices.p, want_notices);
    al_buf_free(&notices);
    return s;
}

static void refused(enum al_servers_shape shape, const char *text, const char *why)
{
    struct al_servers s = {0};
    struct al_err err = {0};
    assert_int_equal(al_servers_read(al_str_of(text), shape, "the file", &s, NULL, &err), -1);
    assert_int_equal(err.code, AL_CONFIG_INVALID);
    if (!strstr(err.msg, why))
        fail_msg("\"%s\" does not say \"%s\"", err.msg, why);
    al_servers_free(&s);
}

static void ours_reads_all_parts(void **state)
{
    (void)state;
    struct al_servers s = read_as(
        AL_SERVERS_OURS,
        "{\"mcp\":{\"servers\":{"
        "\"a\":{\"command\":\"npx\",\"args\":[\"-y\",\"x\"],\"env\":{\"K\":\"${T:-}\"},\"cwd\":\"/srv\","
        "\"timeoutMs\":1000,\"startTimeoutMs\":2000,\"disabled\":true,"
        "\"tools\":{\"get_*\":\"allow\",\"drop\":\"deny\"}},"
        "\"b\":{\"url\":\"https://x.example/mcp\",\"headers\":{\"Authorization\":\"Bearer ${T}\"}}}}}",
        "");
    assert_int_equal(s.n, 2);
    const struct al_server *a = al_servers_find(&s, AL_STR("a")), *b = al_servers_find(&s, AL_STR("b"));
    assert_false(a->http);
    assert_true(a->disabled);
    assert_string_equal(a->command, "npx");
    assert_string_equal(a->args[1], "x");
    assert_null(a->args[2]);
    assert_string_equal(a->env[0], "K=${T:-}");
    assert_string_equal(a->cwd, "/srv");
    assert_int_equal(a->timeout_ms, 1000);
    assert_int_equal(a->start_timeout_ms, 2000);
    assert_int_equal(al_server_policy(a, AL_STR("get_issue")), AL_POLICY_ALLOW);
    assert_int_equal(al_server_policy(a, AL_STR("drop")), AL_POLICY_DENY);
    assert_int_equal(al_server_policy(a, AL_STR("other")), AL_POLICY_ASK);
    assert_true(b->http);
    assert_string_equal(b->headers[0], "Authorization: Bearer ${T}");
    assert_int_equal(b->timeout_ms, 60000);
    assert_int_equal(strlen(b->sha256), 64);
    al_servers_free(&s);
}

static void ours_is_strict(void **state)
{
    (void)state;
    refused(AL_SERVERS_OURS, "{\"mcp\":{\n\"servers\":{\n\"a\":{\n\"comand\":\"x\"}}}}",
            "line 4: there is no key mcp.servers.a.comand; the nearest is mcp.servers.a.command");
    refused(AL_SERVERS_OURS, "{\"mcp\":{\"server\":{}}}", "the nearest is mcp.servers");
    refused(AL_SERVERS_OURS, "{\"mcp\":[]}", "mcp must be an object");
    refused(AL_SERVERS_OURS, "{\"mcp\":{\"servers\":{\"a\":{}}}}",
            "mcp.servers.a has neither a command nor a url");
    refused(AL_SERVERS_OURS, "{\"mcp\":{\"servers\":{\"a\":{\"command\":\"x\",\"url\":\"http://x\"}}}}",
            "both");
    refused(AL_SERVERS_OURS, "{\"mcp\":{\"servers\":{\"a\":{\"command\":7}}}}",
            "mcp.servers.a.command must be a string");
    refused(AL_SERVERS_OURS,
            "{\"mcp\":{\"servers\":{\"a\":{\"command\":\"x\",\"tools\":{\"*\":\"maybe\"}}}}}",
            "it must have \"allow\", \"ask\" or \"deny\"");
    refused(AL_SERVERS_OURS, "{\"mcp\":{\"servers\":{\"a\":{\"command\":\"x\",\"timeoutMs\":1}}}}",
            "1000 to 3600000");
    refused(AL_SERVERS_OURS, "{\"mcp\":{\"servers\":{\"\":{\"command\":\"x\"}}}}", "empty name");
    refused(AL_SERVERS_OURS,
            "{\"mcp\":{\"servers\":{\"a\":{\"url\":\"http://x\",\"headers\":{\"A\":\"b\\r\\nc\"}}}}}",
            "line feed");
    refused(AL_SERVERS_OURS, "{\"mcp\":{\"servers\":{\"a\":{\"command\":\"x\"},\"a\":{\"command\":\"y\"}}}}",
            "twice");
    refused(AL_SERVERS_OURS, "{", "line 1");
}

static void config_takes_servers_from_the_user_alone(void **state)
{
    (void)state;
    struct al_config *c;
    struct al_err err = {0};
    const char *const *notices;
    static const char text[] = "{\"mcp\":{\"servers\":{\"a\":{\"command\":\"x\"}}}}";
    assert_int_equal(al_config_load_bytes(AL_STR(text), AL_STR(text), &c, &err), 0);
    assert_int_equal(al_config_servers(c)->n, 1);
    assert_int_equal(al_config_notices(c, &notices), 1);
    assert_non_null(strstr(notices[0], "only the user's own configuration may name servers"));
    al_config_free(c);
    assert_int_equal(al_config_load_bytes(AL_STR("{}"), AL_STR(text), &c, &err), 0);
    assert_int_equal(al_config_servers(c)->n, 0);
    al_config_free(c);
    assert_int_equal(
        al_config_load_bytes(AL_STR("{\"mcp\":{\"servers\":{\"a\":{\"x\":1}}}}"), AL_STR(""), &c, &err), -1);
    assert_int_equal(err.code, AL_CONFIG_INVALID);
    assert_int_equal(al_config_servers(c)->n, 0);
    al_config_free(c);
}

static void expand_case(const char *text, const char *want)
{
    struct al_err err = {0};
    autobuf struct al_buf out = AL_BUF_INIT(1024);
    int r = al_server_expand(text, &out, &err);
    if (!want) {
        assert_int_equal(r, -1);
        assert_int_equal(err.code, AL_CONFIG_INVALID);
        return;
    }
    al_buf_addc(&out, 0);
    assert_int_equal(r, 0);
    assert_string_equal(out.p, want);
}

static void variables_expand(void **state)
{
    (void)state;
    setenv("AL_TEST_A", "one", 1);
    setenv("AL_TEST_EMPTY", "", 1);
    unsetenv("AL_TEST_NONE");
    expand_case("x${AL_TEST_A}y", "xoney");
    expand_case("${AL_TEST_NONE:-two}", "two");
    expand_case("${AL_TEST_EMPTY:-two}", "two");
    expand_case("${AL_TEST_EMPTY}", "");
    expand_case("${AL_TEST_NONE:-}", "");
    expand_case("${AL_TEST_NONE}", NULL);
    expand_case("$${AL_TEST_A}", "${AL_TEST_A}");
    expand_case("$AL_TEST_A ${} ${a b} $", "$AL_TEST_A ${} ${a b} $");
    autobuf struct al_buf names = AL_BUF_INIT(100);
    al_server_variables("${A} ${B:-x} $${C} ${A} ${AB}", &names);
    al_buf_addc(&names, 0);
    assert_string_equal(names.p, "A, B, AB");
}

/* --- other clients --- */

static const struct al_server *only(const struct al_servers *s)
{
    assert_int_equal(s->n, 1);
    return s->v;
}

static void foreign_json(void **state)
{
    (void)state;
    struct al_servers s;
    s = read_as(
        AL_SERVERS_ANY_JSON,
        "\xef\xbb\xbf{ // mine\r\n \"mcpServers\": { \"f\": {\"command\": \"npx\", /* x */ \"args\": "
        "[\"a\",],"
        " \"env\": {\"K\": \"$TOKEN\", \"L\": \"${env:X}\"}, \"includeTools\": [\"r\"], \"excludeTools\":"
        "[\"w\"], \"timeout\": 5000, \"trust\": true, },},}",
        "");
    assert_string_equal(only(&s)->env[0], "K=${TOKEN}");
    assert_string_equal(only(&s)->env[1], "L=${X}");
    assert_int_equal(only(&s)->timeout_ms, 5000);
    assert_int_equal(al_server_policy(s.v, AL_STR("r")), AL_POLICY_ASK);
    assert_int_equal(al_server_policy(s.v, AL_STR("w")), AL_POLICY_DENY);
    assert_int_equal(al_server_policy(s.v, AL_STR("z")), AL_POLICY_DENY);
    al_servers_free(&s);
    s = read_as(
        AL_SERVERS_ANY_JSON,
        "{\"inputs\":[],\"servers\":{\"a\":{\"type\":\"http\",\"url\":\"https://x\",\"headers\":"
        "{\"A\":\"${input:key}\"}},\"b\":{\"type\":\"stdio\",\"command\":\"c\",\"args\":"
        "[\"${workspaceFolder}/s\"],\"cwd\":\"${workspaceFolder}\"}}}",
        "a: only its own client can fill in ${input:key}; write ${VARIABLE} there, and set that variable\n");
    assert_string_equal(only(&s)->args[0], "./s");
    assert_string_equal(only(&s)->cwd, ".");
    al_servers_free(&s);
    s = read_as(AL_SERVERS_ANY_JSON,
                "{\"mcp\":{\"l\":{\"type\":\"local\",\"command\":[\"npx\",\"-y\",\"p\"],\"environment\":"
                "{\"K\":\"{env:V}\"},\"enabled\":false},\"r\":{\"type\":\"remote\",\"url\":\"https://x\"}}}",
                "");
    assert_int_equal(s.n, 2);
    assert_string_equal(s.v[0].command, "npx");
    assert_string_equal(s.v[0].args[1], "p");
    assert_string_equal(s.v[0].env[0], "K=${V}");
    assert_true(s.v[0].disabled);
    assert_true(s.v[1].http);
    al_servers_free(&s);
    s = read_as(AL_SERVERS_ANY_JSON,
                "{\"mcpServers\":{\"u\":{\"command\":\"x\"}},\"projects\":{\"/p\":{\"mcpServers\":{\"u\":"
                "{\"command\":\"y\"},\"v\":{\"httpUrl\":\"http://h/\"}}}}}",
                "u: is there more than once; the one of a project was left out\n");
    assert_int_equal(s.n, 2);
    assert_string_equal(s.v[0].command, "x");
    al_servers_free(&s);
    s = read_as(AL_SERVERS_ANY_JSON,
                "{\"mcpServers\":{\"a\":7,\"b\":{},\"c\":{\"type\":\"ws\",\"url\":\"ws://x\"}}}",
                "a: it is no object\nb: has neither a command nor a url\n"
                "c: its type ws is none that can be reached from here\n");
    al_servers_free(&s);
    s = read_as(AL_SERVERS_ANY_JSON, "{\"mcpServers\":{\"a\":{\"cmd\":\"x\"},\"b\":{\"endpoint\":\"y\"}}}",
                "a: has neither a command nor a url; its key cmd should be command\n"
                "b: has neither a command nor a url; its key endpoint should be url\n");
    al_servers_free(&s);
    s = read_as(AL_SERVERS_ANY_JSON, "", "");
    al_servers_free(&s);
    s = read_as(
        AL_SERVERS_GEMINI,
        "{\"mcp\":{\"allowed\":[\"g\"]},\"mcpServers\":{\"g\":{\"command\":\"x\",\"args\":[\"$A/b\",\"$5\","
        "\"${B}c\",\"$\"],\"env\":{\"M\":\"$HOME/m.jsonl\"}},\"h\":{\"httpUrl\":\"https://h/$P\",\"headers\":"
        "{\"A\":\"Bearer $T\"}}}}",
        "");
    assert_int_equal(s.n, 2);
    assert_string_equal(s.v[0].args[0], "${A}/b");
    assert_string_equal(s.v[0].args[1], "$5");
    assert_string_equal(s.v[0].args[2], "${B}c");
    assert_string_equal(s.v[0].args[3], "$");
    assert_string_equal(s.v[0].env[0], "M=${HOME}/m.jsonl");
    assert_string_equal(s.v[1].url, "https://h/${P}");
    assert_string_equal(s.v[1].headers[0], "A: Bearer ${T}");
    al_servers_free(&s);
    refused(AL_SERVERS_ANY_JSON, "{\"mcpServers\": {", "line 1");
}

static void codex_toml(void **state)
{
    (void)state;
    struct al_servers s =
        read_as(AL_SERVERS_CODEX_TOML,
                "model = \"x\" # a comment\r\n"
                "odd = @@@\r\n"
                "[profiles.\"a b\"]\nd = 1979-05-27T07:32:00Z\n"
                "[mcp_servers.one]\ncommand = 'npx'\nargs = [ \"-y\", # first\n \"p\\u0041\", ]\n"
                "env = { A = \"${x}\", \"B\" = '''\nc''' }\nstartup_timeout_sec = 5\n"
                "enabled = false\n"
                "[mcp_servers.\"two two\"]\nurl = \"https://x/mcp\"\n"
                "bearer_token_env_var = \"TOK\"\n"
                "[mcp_servers.\"two two\".http_headers]\nX-A = \"1\"\n",
                "");
    assert_int_equal(s.n, 2);
    assert_string_equal(s.v[0].command, "npx");
    assert_string_equal(s.v[0].args[1], "pA");
    assert_string_equal(s.v[0].env[0], "A=$${x}");
    assert_string_equal(s.v[0].env[1], "B=c");
    assert_int_equal(s.v[0].start_timeout_ms, 5000);
    assert_true(s.v[0].disabled);
    assert_string_equal(s.v[1].name, "two two");
    assert_string_equal(s.v[1].headers[0], "X-A: 1");
    assert_string_equal(s.v[1].headers[1], "Authorization: Bearer ${TOK}");
    al_servers_free(&s);
    s = read_as(AL_SERVERS_CODEX_TOML, "mcp_servers.a.command = \"x\"\n", "");
    assert_string_equal(only(&s)->command, "x");
    al_servers_free(&s);
    s = read_as(AL_SERVERS_CODEX_TOML, "mcp_servers = { a = { command = \"x\" } }", "");
    assert_string_equal(only(&s)->command, "x");
    al_servers_free(&s);
    refused(AL_SERVERS_CODEX_TOML, "a = 1\n[mcp_servers.a]\ncommand = \"x\ny = 2\n",
            "line 3: a string has no end");
    refused(AL_SERVERS_CODEX_TOML, "[mcp_servers.a]\ncommand = \"x\"\ncommand = \"y\"\n", "line 3");
    refused(AL_SERVERS_CODEX_TOML, "[[mcp_servers]]\n", "line 1");
}

/* --- edits --- */

struct edit_case {
    const char *old;
    const char *remove[3];
    const char *put_name, *put_value;
    const char *want; /* NULL: refused */
};

static void check_edit(const struct edit_case *c, bool toml)
{
    struct al_err err = {0};
    struct al_str names[3];
    struct al_text_edit e = {
        .steps = {toml ? AL_STR("mcp_servers") : AL_STR("s")}, .n_steps = 1, .remove = names};
    while (e.n_remove < 3 && c->remove[e.n_remove]) {
        names[e.n_remove] = al_str_of(c->remove[e.n_remove]);
        e.n_remove++;
    }
    if (c->put_name) {
        e.put_name = al_str_of(c->put_name);
        e.put_value = al_str_of(c->put_value);
    }
    autobuf struct al_buf out = AL_BUF_INIT(1 << 16);
    int r = (toml ? al_text_edit_toml : al_text_edit_json)(al_str_of(c->old), &e, "the file", &out, &err);
    if (!c->want) {
        assert_int_equal(r, -1);
        return;
    }
    if (r < 0)
        fail_msg("%s\n%s", c->old, err.msg);
    al_buf_addc(&out, 0);
    assert_string_equal(out.p, c->want);
}

static void json_edits_touch_nothing_else(void **state)
{
    (void)state;
    static const struct edit_case cases[] = {
        {"", {0}, "x", "{\"a\":[1,2]}", "{\n  \"s\": {\n    \"x\": {\n      \"a\": [1, 2]\n    }\n  }\n}\n"},
        {"{}", {0}, "x", "1", "{\n  \"s\": {\n    \"x\": 1\n  }\n}"},
        {"{\"k\":1}", {0}, "x", "{\"b\":2}", "{\"k\":1,\"s\":{\"x\":{\"b\":2}}}"},
        {"{\"s\":{\"a\":1,\"b\":2}}", {"a"}, NULL, NULL, "{\"s\":{\"b\":2}}"},
        {"{\"s\":{\"a\":1,\"b\":2}}", {"b"}, NULL, NULL, "{\"s\":{\"a\":1}}"},
        {"{\"s\":{\"a\":1,\"b\":2}}", {"a", "b"}, NULL, NULL, "{\"s\":{}}"},
        {"{\"s\":{\"a\":1,\"b\":2}}", {"a", "b"}, "x", "3", "{\"s\":{\"x\":3}}"},
        {"{\"s\":{\"a\":1,\"b\":2}}", {"b"}, "x", "3", "{\"s\":{\"a\":1,\"x\":3}}"},
        {"{\"s\":{\"a\":1,\"x\":2}}", {0}, "x", "3", "{\"s\":{\"a\":1,\"x\":3}}"},
        {"{\r\n\t\"s\": {\r\n\t\t\"a\": 1, // one\r\n\t\t// keep\r\n\t\t\"b\": 2,\r\n\t},\r\n\t\"z\": "
         "0\r\n}\r\n",
         {"a"},
         "x",
         "{\"c\":\"d\"}",
         "{\r\n\t\"s\": {\r\n\t\t// keep\r\n\t\t\"b\": 2,\r\n\t\t\"x\": {\r\n\t\t\t\"c\": "
         "\"d\"\r\n\t\t}\r\n\t},"
         "\r\n\t\"z\": 0\r\n}\r\n"},
        {"{\n  \"s\": {\n    \"a\": 1,\n    \"b\": {\n      \"c\": 1\n    }\n  },\n  \"z\": 0\n}\n",
         {"a", "b"},
         "x",
         "1",
         "{\n  \"s\": {\n    \"x\": 1\n  },\n  \"z\": 0\n}\n"},
        {"{\n  \"s\": {\n    \"a\": 1,\n    \"b\": 2\n  }\n}\n",
         {"b"},
         NULL,
         NULL,
         "{\n  \"s\": {\n    \"a\": 1\n  }\n}\n"},
        {"{\n  \"s\": {\n    \"a\": 1,\n    \"b\": 2\n  }\n}\n",
         {"none"},
         NULL,
         NULL,
         "{\n  \"s\": {\n    \"a\": 1,\n    \"b\": 2\n  }\n}\n"},
        {"\xef\xbb\xbf{\n    \"s\": {}\n}",
         {0},
         "x",
         "1",
         "\xef\xbb\xbf{\n    \"s\": {\n        \"x\": 1\n    }\n}"},
        {"{\n  \"s\": {\n    // all mine\n    \"a\": 1\n  }\n}",
         {"a"},
         "x",
         "1",
         "{\n  \"s\": {\n    // all mine\n    \"x\": 1\n  }\n}"},
        {"{\n  \"s\": {\n    \"a\": 1 // one, two\n  }\n}",
         {0},
         "x",
         "1",
         "{\n  \"s\": {\n    \"a\": 1, // one, two\n    \"x\": 1\n  }\n}"},
        {"{\"s\": []}", {0}, "x", "1", NULL},
        {"{\"s\": ", {0}, "x", "1", NULL},
        {"[]", {0}, "x", "1", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_edit(&cases[i], false);
}

static void toml_edits_touch_nothing_else(void **state)
{
    (void)state;
    static const struct edit_case cases[] = {
        {"",
         {0},
         "x",
         "{\"command\":\"/a b\",\"args\":[\"mcp\"]}",
         "[mcp_servers.x]\ncommand = \"/a b\"\nargs = [\"mcp\"]\n"},
        {"a = 1", {0}, "x", "{\"c\":\"d\"}", "a = 1\n\n[mcp_servers.x]\nc = \"d\"\n"},
        {"a = 1 # one\r\n\r\n[mcp_servers.one]\r\ncommand = \"c\"\r\n# inner\r\n[mcp_servers.one.env]\r\nA = "
         "\"b\"\r\n"
         "\r\n# of t\r\n[t]\r\nx = 1\r\n",
         {"one"},
         "x",
         "{\"c\":\"d\"}",
         "a = 1 # one\r\n\r\n[mcp_servers.x]\r\nc = \"d\"\r\n\r\n# of t\r\n[t]\r\nx = 1\r\n"},
        {"[mcp_servers.one]\nc = 1\n[mcp_servers.two]\nc = 2\n",
         {"two"},
         NULL,
         NULL,
         "[mcp_servers.one]\nc = 1\n"},
        {"mcp_servers.one.c = 1\nb = 2\n",
         {"one"},
         "y z",
         "{\"c\":1}",
         "b = 2\n\n[mcp_servers.\"y z\"]\nc = 1\n"},
        {"mcp_servers = { one = { c = 1 } }\n", {"one"}, "x", "{\"c\":1}", NULL},
        {"[mcp_servers.x]\nc = 1\n", {0}, "x", "{\"c\":2}", "[mcp_servers.x]\nc = 2\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_edit(&cases[i], true);
}

static void rules_are_edited(void **state)
{
    (void)state;
    struct al_err err = {0};
    autobuf struct al_buf a = AL_BUF_INIT(1 << 16), b = AL_BUF_INIT(1 << 16), c = AL_BUF_INIT(1 << 16);
    char name[] = "g", command[] = "npx", arg[] = "-y", var[] = "A=b=c";
    struct al_server s = {.name = name,
                          .command = command,
                          .args = (char *[]){arg, NULL},
                          .env = (char *[]){var, NULL},
                          .timeout_ms = 60000,
                          .start_timeout_ms = 30000};
    assert_int_equal(al_servers_edit_put(AL_STR("{\n  \"schemaVersion\": 1\n}\n"), &s, &a, &err), 0);
    assert_int_equal(al_servers_edit_rule(al_buf_str(&a), AL_STR("g"), "get_*", AL_POLICY_ALLOW, &b, &err),
                     0);
    al_buf_clear(&a);
    assert_int_equal(al_servers_edit_rule(al_buf_str(&b), AL_STR("g"), "*", AL_POLICY_DENY, &a, &err), 0);
    al_buf_clear(&b);
    assert_int_equal(al_servers_edit_rule(al_buf_str(&a), AL_STR("g"), "get_*", AL_POLICY_ASK, &b, &err), 0);
    al_buf_addc(&b, 0);
    assert_string_equal(
        b.p, "{\n  \"schemaVersion\": 1,\n  \"mcp\": {\n    \"servers\": {\n      \"g\": {\n"
             "        \"command\": \"npx\",\n        \"args\": [\"-y\"],\n        \"env\": {\n"
             "          \"A\": \"b=c\"\n        },\n        \"tools\": {\n          \"get_*\": \"ask\",\n"
             "          \"*\": \"deny\"\n        }\n      }\n    }\n  }\n}\n");
    assert_int_equal(al_servers_edit_rule(al_buf_str(&a), AL_STR("none"), "x", AL_POLICY_ASK, &c, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    assert_int_equal(al_servers_edit_remove(al_buf_str(&a), AL_STR("g"), &c, &err), 0);
    al_buf_addc(&c, 0);
    assert_string_equal(c.p, "{\n  \"schemaVersion\": 1,\n  \"mcp\": {\n    \"servers\": {\n    }\n  }\n}\n");
}

static void exact_patterns_match_one_name(void **state)
{
    (void)state;
    static const char *const names[] = {"get", "***", "??", "[a-z]", "a\\b", "\\", "a,b", "\u65e5*"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct al_server s = {0};
        autobuf struct al_buf b = AL_BUF_INIT(64);
        al_server_exact_pattern(al_str_of(names[i]), &b);
        al_buf_addc(&b, 0);
        al_server_add_rule(&s, b.p, AL_POLICY_ALLOW);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            assert_int_equal(al_server_policy(&s, al_str_of(names[k])) == AL_POLICY_ALLOW, i == k);
        free(s.rules[0].pattern);
        free(s.rules);
    }
}

/* What is switched off by name stays so, exactly; a list that does not fit is no smaller list. */
static void lists_of_tools_are_exact_and_whole(void **state)
{
    (void)state;
    struct al_servers s = read_as(AL_SERVERS_ANY_JSON,
                                  "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"excludeTools\":[\"d*\"],"
                                  "\"includeTools\":[\"????\"]}}}",
                                  "");
    assert_int_equal(al_server_policy(&s.v[0], AL_STR("????")), AL_POLICY_ASK);
    assert_int_equal(al_server_policy(&s.v[0], AL_STR("wire")), AL_POLICY_DENY);
    assert_string_equal(s.v[0].rules[0].pattern, "d\\*");
    al_servers_free(&s);
    autobuf struct al_buf many = AL_BUF_INIT(1 << 16);
    al_buf_adds(&many, "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"includeTools\":[\"t\"");
    for (int i = 1; i < AL_SERVER_RULES_MAX; i++)
        al_buf_addf(&many, ",\"t%d\"", i);
    al_buf_adds(&many, "]}}}");
    al_buf_addc(&many, 0);
    s = read_as(AL_SERVERS_ANY_JSON, many.p, "a: it switches more than 256 tools on or off by name\n");
    assert_int_equal(s.n, 0);
    al_servers_free(&s);
}

/* head, then `piece` until there is a MiB, then tail. */
static char *repeated(const char *head, const char *piece, const char *tail)
{
    struct al_buf b = AL_BUF_INIT(4u << 20);
    al_buf_adds(&b, head);
    while (b.n < 1u << 20)
        al_buf_adds(&b, piece);
    al_buf_adds(&b, tail);
    return al_buf_take(&b);
}

/* Each of these would be gone through from each of its pieces on: the limit of time of a test is far below
 * that. */
static void what_has_no_end_is_read_once(void **state)
{
    (void)state;
    static const struct {
        enum al_servers_shape shape;
        const char *head, *piece, *tail;
    } cases[] = {
        {AL_SERVERS_ANY_JSON, "{\"mcpServers\":{}}\n", "/* ", ""},
        {AL_SERVERS_ANY_JSON, "{\"mcpServers\":{\"a\":{\"command\":\"x", "${", "\"}}}"},
        {AL_SERVERS_ANY_JSON, "{\"mcpServers\":{\"a\":{\"command\":\"x", "${x:-", "\"}}}"},
        {AL_SERVERS_ANY_JSON, "{\"mcp\":{\"a\":{\"command\":[\"x", "{env:", "\"]}}}"},
        {AL_SERVERS_ANY_JSON, "{\"mcp\":{\"a\":{\"command\":[\"x", "{env:", "}\"]}}}"},
        {AL_SERVERS_CODEX_TOML, "",
         "a=['0123456789012345678901234567890123456789012345678901234567890123456789',\n", ""},
        {AL_SERVERS_CODEX_TOML, "[mcp_servers.a]\ncommand='x'\nargs=[\n", "'',", "]\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct al_servers s = {0};
        struct al_err err;
        autobuf struct al_buf out = AL_BUF_INIT(4u << 20);
        autofree char *text = repeated(cases[i].head, cases[i].piece, cases[i].tail);
        (void)!al_servers_read(al_str_of(text), cases[i].shape, "the file", &s, NULL, &err);
        al_servers_free(&s);
        al_server_variables(text, &out);
        al_buf_clear(&out);
        (void)!al_server_expand(text, &out, &err);
    }
}

/* The last brace of a text has nothing behind it. */
static void a_brace_may_end_a_text(void **state)
{
    (void)state;
    struct al_servers s = read_as(
        AL_SERVERS_ANY_JSON,
        "{\"mcp\":{\"a\":{\"type\":\"local\",\"command\":[\"x\",\"{\",\"{env:\",\"{env:A\",\"${\"]}}}", "");
    assert_string_equal(s.v[0].args[0], "{");
    assert_string_equal(s.v[0].args[1], "{env:");
    assert_string_equal(s.v[0].args[3], "$${");
    al_servers_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ours_reads_all_parts),
        cmocka_unit_test(ours_is_strict),
        cmocka_unit_test(config_takes_servers_from_the_user_alone),
        cmocka_unit_test(variables_expand),
        cmocka_unit_test(foreign_json),
        cmocka_unit_test(codex_toml),
        cmocka_unit_test(json_edits_touch_nothing_else),
        cmocka_unit_test(toml_edits_touch_nothing_else),
        cmocka_unit_test(rules_are_edited),
        cmocka_unit_test(exact_patterns_match_one_name),
        cmocka_unit_test(lists_of_tools_are_exact_and_whole),
        cmocka_unit_test(what_has_no_end_is_read_once),
        cmocka_unit_test(a_brace_may_end_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
