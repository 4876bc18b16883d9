/* forge_guide: true, short, and every example in it runs. */
#include "test.h"

#include "jsrun_world.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/guide.h"

#include <stdio.h>

static struct outcome guide(struct world *w, const char *topic, const char *more)
{
    char args[512];
    snprintf(args, sizeof args, "{\"topic\":\"%s\"%s}", topic, more ? more : "");
    return world_call(w, "forge_guide", args);
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in: %.2000s", part, text);
}

static const char *etag_of(const char *text)
{
    const char *etag = strstr(text, "\netag: ");
    assert_non_null(etag);
    etag += 7;
    assert_int_equal(strlen(etag), 12);
    assert_int_equal(strspn(etag, "0123456789abcdef"), 12);
    return etag;
}

static void each_topic_is_short_and_ends_with_its_etag(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < guide_n_topics; i++) {
        if (!guide_topic_live(w->core, &guide_topics[i]))
            continue;
        struct outcome o = guide(w, guide_topics[i].name, NULL);
        assert_int_equal(o.code, AL_OK);
        assert_true(strlen(o.text) <= GUIDE_MAX_BYTES);
        assert_true(strlen(o.text) > 60);
        assert_true(al_utf8_valid(al_str_of(o.text)));
        etag_of(o.text);
        assert_string_equal(json_at(o.structured, "modified"), "true");
        outcome_fini(&o);
    }
}

static void the_same_etag_is_not_modified(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < guide_n_topics; i++) {
        if (!guide_topic_live(w->core, &guide_topics[i]))
            continue;
        struct outcome first = guide(w, guide_topics[i].name, NULL);
        char more[64], want[64];
        snprintf(more, sizeof more, ",\"etag\":\"%s\"", etag_of(first.text));
        snprintf(want, sizeof want, "not modified\netag: %s", etag_of(first.text));
        struct outcome again = guide(w, guide_topics[i].name, more);
        assert_string_equal(again.text, want);
        assert_string_equal(json_at(again.structured, "modified"), "false");
        struct outcome other = guide(w, guide_topics[i].name, ",\"etag\":\"000000000000\"");
        assert_string_equal(other.text, first.text);
        outcome_fini(&first);
        outcome_fini(&again);
        outcome_fini(&other);
    }
}

static void unknown_topics_are_answered_with_the_known(void **state)
{
    struct world *w = *state;
    static const char *const wrong[] = {"", "js-run", "python_run", "data", "dashboards"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct outcome o = guide(w, wrong[i], NULL);
        assert_int_equal(o.code, AL_INVALID_INPUT);
        for (size_t k = 0; k < guide_n_topics; k++)
            if (guide_topic_live(w->core, &guide_topics[k]) && !strstr(o.msg, guide_topics[k].name) &&
                !strstr(o.hint, guide_topics[k].name))
                fail_msg("%s is not named: %s (%s)", guide_topics[k].name, o.msg, o.hint);
        outcome_fini(&o);
    }
}

/* A tool that does not exist is never named to a model. */
static void no_guide_names_a_tool_that_is_not_there(void **state)
{
    struct world *w = *state;
    static const char *const absent[] = {"python_run", "data_query", "data_inspect", "dashboard_generate",
                                         "write_file", "list_files", "read_file"};
    for (size_t i = 0; i < guide_n_topics; i++) {
        struct outcome o = guide(w, guide_topics[i].name, NULL);
        for (size_t k = 0; k < sizeof absent / sizeof *absent; k++)
            if (strstr(o.text, absent[k]))
                fail_msg("%s names %s: %s", guide_topics[i].name, absent[k], o.text);
        outcome_fini(&o);
    }
}

static void limits_are_those_in_force(void **state)
{
    (void)state;
    struct world *w = world_new(&(struct world_opts){
        .config =
            "{\"forge\":{\"javascript\":{\"timeoutMs\":1234,\"maxToolCalls\":7,\"maxConcurrency\":3}}}"});
    struct outcome o = guide(w, "limits", NULL);
    has(o.text, "forge.javascript.timeoutMs: 1234.");
    has(o.text, "forge.javascript.maxToolCalls: 7.");
    has(o.text, "forge.javascript.maxConcurrency: 3.");
    outcome_fini(&o);
    world_free(w);
}

static void tools_shows_signatures_and_what_is_refused_why(void **state)
{
    struct world *w = *state;
    struct outcome o = guide(w, "tools", NULL);
    has(o.text, "tools.echo(args: ");
    has(o.text, "\nNot callable now:\n");
    has(o.text, "- js_run: NOT_CALLABLE");
    has(o.text, "- post: APPROVAL_REQUIRED");
    outcome_fini(&o);
    o = guide(w, "tools", ",\"query\":\"echo\"");
    has(o.text, "tools.echo(");
    assert_null(strstr(o.text, "tools.slow("));
    outcome_fini(&o);
    o = guide(w, "tools", ",\"query\":\"zzzzqqqq\"");
    has(o.text, "None that a script may call fits the query.");
    outcome_fini(&o);
}

static const struct al_tool *find_none(void *ud, struct al_str name, struct al_arena *arena)
{
    (void)ud, (void)name, (void)arena;
    return NULL;
}

static void js_run_says_how_servers_are_called_and_what_needs_an_approval(void **state)
{
    (void)state;
    struct world *w = world_new(&(struct world_opts){0});
    struct outcome o = guide(w, "js_run", NULL);
    assert_null(strstr(o.text, "tools.SERVER"));
    has(o.text, "this client cannot ask them.");
    outcome_fini(&o);
    al_core_set_can_ask(w->core, true);
    static const struct al_tool_source source = {.find = find_none};
    al_core_set_source(w->core, &source, NULL);
    o = guide(w, "js_run", NULL);
    has(o.text, "\n- MCP servers: tools.SERVER.TOOL(args); ");
    has(o.text, "name tools with effects in uses");
    assert_null(strstr(o.text, "cannot ask them"));
    outcome_fini(&o);
    o = guide(w, "errors", NULL);
    has(o.text, "\n- UPSTREAM_UNAVAILABLE: ");
    has(o.text, "\n- AUTH_REQUIRED: ");
    outcome_fini(&o);
    world_free(w);
}

static void the_agents_model_reads_who_is_asked(void **state)
{
    (void)state;
    struct world *w = world_new(&(struct world_opts){.source = "agent"});
    struct outcome o = guide(w, "js_run", NULL);
    has(o.text, "is refused, and nobody can be asked.");
    assert_null(strstr(o.text, "in uses"));
    assert_null(strstr(o.text, "client"));
    outcome_fini(&o);
    o = guide(w, "errors", NULL);
    has(o.text, "- APPROVAL_REQUIRED: the person who starts alisio has to allow it");
    outcome_fini(&o);
    al_core_set_can_ask(w->core, true);
    o = guide(w, "js_run", NULL);
    has(o.text, "name tools with effects in uses, beside code; the person is asked once, before the start.");
    assert_null(strstr(o.text, "--allow"));
    outcome_fini(&o);
    o = guide(w, "errors", NULL);
    has(o.text, "- APPROVAL_REQUIRED: name the tool in uses, beside code.");
    outcome_fini(&o);
    world_free(w);
}

static void noop(struct al_call *call)
{
    al_call_finish(call);
}

static unsigned n_of(const char *text, const char *part)
{
    unsigned n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

/* A model pays for each line of it: what fits best in full, of the rest the names. */
static void a_query_shows_eight_in_full_and_names_the_rest(void **state)
{
    (void)state;
    struct world *w = world_new(&(struct world_opts){0});
    static struct al_tool parts[100];
    static char names[100][40];
    for (int i = 0; i < 100; i++) {
        snprintf(names[i], sizeof names[i], "widget_%02d", i);
        parts[i] = (struct al_tool){.name = names[i],
                                    .title = "t",
                                    .description = "Turns a widget.",
                                    .input_schema = "{\"type\":\"object\"}",
                                    .start = noop};
        if (i < 12)
            al_core_register(w->core, &parts[i]);
    }
    struct outcome o = guide(w, "tools", ",\"query\":\"widget\"");
    assert_int_equal(n_of(o.text, "\ntools.widget_"), 8);
    assert_int_equal(n_of(o.text, "// read: Turns a widget.\n"), 8);
    has(o.text, "\n4 more: narrow the query: widget_08, widget_09, widget_10, widget_11\n");
    assert_null(strstr(o.text, "js_run"));
    assert_null(strstr(o.text, "```"));
    outcome_fini(&o);
    o = guide(w, "tools", ",\"query\":\"widget_03\"");
    assert_ptr_equal(strstr(o.text, "\ntools."), strstr(o.text, "\ntools.widget_03("));
    outcome_fini(&o);
    for (int i = 12; i < 100; i++)
        al_core_register(w->core, &parts[i]);
    o = guide(w, "tools", ",\"query\":\"widget\"");
    assert_int_equal(n_of(o.text, "\ntools.widget_"), 8);
    has(o.text, "\nOver 52 more: narrow the query: widget_08, ");
    has(o.text, ", …\n");
    assert_true(strlen(o.text) < 1200);
    outcome_fini(&o);
    world_free(w);
}

/* What would do it is told, with the reason, also when it is refused. */
static void a_query_tells_of_what_is_refused(void **state)
{
    struct world *w = *state;
    struct outcome o = guide(w, "tools", ",\"query\":\"post\"");
    has(o.text, "\nNot callable now:\n- post: APPROVAL_REQUIRED");
    outcome_fini(&o);
}

static void without_a_query_own_tools_are_brief(void **state)
{
    struct world *w = *state;
    struct outcome o = guide(w, "tools", NULL);
    has(o.text, "\ntools.echo(args: ");
    has(o.text, ") // read: ");
    assert_null(strstr(o.text, "Promise<"));
    has(o.text, "tools.describe(name)");
    outcome_fini(&o);
}

static void many_tools_still_fit(void **state)
{
    (void)state;
    struct world *w = world_new(&(struct world_opts){0});
    static struct al_tool many[300];
    static char names[300][40];
    for (int i = 0; i < 300; i++) {
        snprintf(names[i], sizeof names[i], "tool_with_a_long_name_%03d", i);
        many[i] = (struct al_tool){
            .name = names[i],
            .title = "t",
            .description = "Does something that takes a while to describe in a list. And more.",
            .input_schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}",
            .effect = i % 3 ? AL_EFFECT_READ : AL_EFFECT_EXTERNAL,
            .start = noop};
        al_core_register(w->core, &many[i]);
    }
    struct outcome o = guide(w, "tools", NULL);
    assert_true(strlen(o.text) <= GUIDE_MAX_BYTES);
    has(o.text, " more: narrow with query.");
    etag_of(o.text);
    outcome_fini(&o);
    world_free(w);
}

static void last_shows_the_last_run(void **state)
{
    (void)state;
    struct world *w = world_new(&(struct world_opts){0});
    struct outcome o = guide(w, "last", NULL);
    has(o.text, "No script of this session has ended yet");
    outcome_fini(&o);
    struct outcome run =
        world_js(w, "print('said');\nawait tools.echo({v: 1});\nnull.x;", ",\"title\":\"My run\"");
    o = guide(w, "last", NULL);
    has(o.text, run.id);
    has(o.text, ", failed, ");
    has(o.text, "title: My run\n");
    has(o.text, "error: SCRIPT_ERROR: ");
    has(o.text, "at line 3\n");
    has(o.text, "text: said\n");
    has(o.text, "calls: 1\n- echo {\"v\":1}: completed\n");
    has(o.text, "code:\n```js\nprint('said');\n");
    outcome_fini(&o);
    outcome_fini(&run);
    run = world_js(w, "print('l\\n'.repeat(9000)); return Array.from({length: 9000}, (_, i) => i);", NULL);
    o = guide(w, "last", NULL);
    has(o.text, run.id);
    assert_true(strlen(o.text) <= GUIDE_MAX_BYTES);
    outcome_fini(&o);
    outcome_fini(&run);
    world_free(w);
}

static void scripts_cannot_read_guides_and_they_can_be_off(void **state)
{
    (void)state;
    struct world *w =
        world_new(&(struct world_opts){.config = "{\"forge\":{\"guides\":{\"enabled\":false}}}"});
    assert_null(al_core_tool(w->core, AL_STR("forge_guide")));
    struct outcome o = world_js(w, "throw new Error('x');", NULL);
    assert_null(strstr(o.text, "forge_guide"));
    outcome_fini(&o);
    world_free(w);
}

/* Stand-ins of the file and data tools, with the forms that the examples rely on. */
static void list_files(struct al_call *call)
{
    al_buf_adds(&call->structured,
                "{\"files\":[\"README.md\",\"a.txt\"],\"nextOffset\":null,\"truncated\":false}");
    al_call_finish(call);
}

static void read_file(struct al_call *call)
{
    if (al_str_find(al_json_get_text(call->args, "path"), AL_STR("no/such")) >= 0)
        al_fail(&call->err, AL_NOT_FOUND, "no such file");
    else
        al_buf_adds(&call->structured, "{\"path\":\"README.md\",\"text\":\"x\",\"bytes\":1}");
    al_call_finish(call);
}

static void write_file(struct al_call *call)
{
    al_buf_adds(&call->structured, "{\"path\":\"x\",\"bytes\":1,\"created\":true}");
    al_call_finish(call);
}

static void data_inspect(struct al_call *call)
{
    al_buf_adds(&call->structured,
                "{\"datasetId\":\"ds_1\",\"sheets\":[{\"columns\":[{\"name\":\"region\"}]}]}");
    al_call_finish(call);
}

static void dashboard(struct al_call *call)
{
    al_buf_adds(&call->structured,
                "{\"artifactId\":\"art_1\",\"widgets\":[{\"title\":\"Total amount\"}],\"notes\":[]}");
    al_call_finish(call);
}

static void data_query(struct al_call *call)
{
    al_buf_adds(&call->structured, "{\"columns\":[],\"rows\":[[\"North\",8]]}");
    al_call_finish(call);
}

static bool in_scratch(const struct al_json *args)
{
    return al_str_starts(al_json_get_text(args, "path"), "scratch:");
}

#define ANY "{\"type\":\"object\",\"additionalProperties\":true}"
static const struct al_tool file_tools[] = {
    {.name = "list_files",
     .title = "t",
     .description = "Lists files.",
     .input_schema = ANY,
     .start = list_files},
    {.name = "read_file",
     .title = "t",
     .description = "Reads a file.",
     .input_schema = ANY,
     .start = read_file},
    {.name = "write_file",
     .title = "t",
     .description = "Writes a file.",
     .input_schema = ANY,
     .effect = AL_EFFECT_WRITE,
     .start = write_file,
     .scratch_only = in_scratch},
    {.name = "data_inspect",
     .title = "t",
     .description = "Inspects a file.",
     .input_schema = ANY,
     .start = data_inspect},
    {.name = "data_query",
     .title = "t",
     .description = "Queries a dataset.",
     .input_schema = ANY,
     .start = data_query},
    {.name = "dashboard_generate",
     .title = "t",
     .description = "Makes a page.",
     .input_schema = ANY,
     .start = dashboard},
};

static void every_example_runs_and_is_shown(void **state)
{
    (void)state;
    struct world *w = world_new(&(struct world_opts){0});
    for (size_t i = 0; i < sizeof file_tools / sizeof *file_tools; i++)
        al_core_register(w->core, &file_tools[i]);
    assert_true(guide_n_examples >= 10);
    for (size_t i = 0; i < guide_n_examples; i++) {
        const struct guide_example *e = &guide_examples[i];
        struct outcome o = world_js(w, e->code, NULL);
        if (o.code)
            fail_msg("%s: %s: %s", e->topic, e->what, o.text);
        assert_string_equal(json_at(o.structured, "truncated"), "false");
        if (strcmp(json_at(o.structured, "value"), "null") == 0)
            fail_msg("%s: %s: no value", e->topic, e->what);
        struct outcome g = guide(w, e->topic, NULL);
        has(g.text, e->code);
        assert_true(strlen(g.text) <= GUIDE_MAX_BYTES);
        outcome_fini(&o);
        outcome_fini(&g);
    }
    world_free(w);
}

static int setup(void **state)
{
    *state = world_new(&(struct world_opts){0});
    return 0;
}

static int teardown(void **state)
{
    world_free(*state);
    return 0;
}

int main(int argc, char **argv)
{
    world_zygote(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_topic_is_short_and_ends_with_its_etag, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_etag_is_not_modified, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_topics_are_answered_with_the_known, setup, teardown),
        cmocka_unit_test_setup_teardown(no_guide_names_a_tool_that_is_not_there, setup, teardown),
        cmocka_unit_test(js_run_says_how_servers_are_called_and_what_needs_an_approval),
        cmocka_unit_test(the_agents_model_reads_who_is_asked),
        cmocka_unit_test_setup_teardown(tools_shows_signatures_and_what_is_refused_why, setup, teardown),
        cmocka_unit_test(a_query_shows_eight_in_full_and_names_the_rest),
        cmocka_unit_test_setup_teardown(a_query_tells_of_what_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_query_own_tools_are_brief, setup, teardown),
        cmocka_unit_test(limits_are_those_in_force),
        cmocka_unit_test(many_tools_still_fit),
        cmocka_unit_test(last_shows_the_last_run),
        cmocka_unit_test(scripts_cannot_read_guides_and_they_can_be_off),
        cmocka_unit_test(every_example_runs_and_is_shown),
    };
    return cmocka_run_group_tests_name("guide", tests, NULL, NULL);
}
