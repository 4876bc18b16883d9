/* dashboard_generate over an engine that is played here: what it asks of it, what it makes of the answer,
 * what is kept. */
#include "test.h"

#include "core_world.h"

#include "artifact/artifact.h"
#include "base/mem.h"
#include "base/text.h"
#include "tools/dashboard_int.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- the engine: these stand in the place of al_data's own --- */

struct al_data {
    struct al_loop *loop;
};
struct al_dashboard_job {
    const struct al_dashboard_ops *ops;
    void *ud;
    struct al_loop *loop;
    bool cancelled;
};

static struct {
    unsigned started;
    bool hold; /* ends only when it is cancelled */
    struct al_err fail;
    const char *html, *json;
    char request[8192];
    uint32_t timeout_ms;
} fake;

static const char said[] = "{\"purpose\":\"executive\",\"title\":\"Sales\",\"locale\":\"en\",\"sheet\":"
                           "\"data\",\"rows\":1234,\"rawRows\":10,"
                           "\"widgets\":[{\"id\":\"rows\",\"type\":\"kpi\",\"title\":\"Rows\",\"sql\":"
                           "\"SELECT 1\"},{\"id\":\"sales\",\"type\":"
                           "\"hbar\",\"title\":\"Sales by \\u202eregion\\u001b[31m\",\"sql\":\"SELECT "
                           "2\"},{\"id\":\"t\",\"type\":\"table\","
                           "\"title\":\"Detail\",\"sql\":\"SELECT "
                           "3\"}],\"measures\":[\"Sales\"],\"dimensions\":[\"Region\",\"Channel\"],"
                           "\"notShown\":[\"Phone\"],\"missing\":[\"Cost\"],\"notes\":[\"the goal was "
                           "cut\"],\"plan\":{\"version\":1,\"title\":"
                           "\"Sales\",\"widgets\":[]}}";

struct al_data *al_data_new(struct al_loop *loop)
{
    struct al_data *d = al_xcalloc(1, sizeof *d);
    d->loop = loop;
    return d;
}

void al_data_set_spill_dir(struct al_data *d, const char *path)
{
    (void)d, (void)path;
}

void al_data_free(struct al_data *d)
{
    free(d);
}

static void end_dashboard(void *ud)
{
    struct al_dashboard_job *j = ud;
    struct al_dashboard_end end = {
        .err = fake.fail, .html = al_str_of(fake.html), .json = al_str_of(fake.json)};
    if (j->cancelled)
        al_fail(&end.err, AL_CANCELLED, "cancelled");
    if (end.err.code == AL_OK) {
        j->ops->progress(j->ud, "analysing", 0, 1234);
        j->ops->progress(j->ud, "reading", 500, 1234);
        j->ops->progress(j->ud, "writing", 1234, 1234);
    }
    j->ops->end(j->ud, &end);
    free(j);
}

struct al_dashboard_job *al_dashboard_start(struct al_data *d, const struct al_dashboard_spec *spec,
                                            const struct al_dashboard_ops *ops, void *ud, struct al_err *err)
{
    char byte[8];
    (void)err;
    struct al_dashboard_job *j = al_xcalloc(1, sizeof *j);
    *j = (struct al_dashboard_job){ops, ud, d->loop, false};
    assert_int_equal(pread(spec->dataset_fd, byte, sizeof byte, 0), 7);
    snprintf(fake.request, sizeof fake.request, "%.*s", AL_FMT(spec->request));
    fake.timeout_ms = spec->timeout_ms;
    fake.started++;
    if (!fake.hold)
        al_defer(d->loop, end_dashboard, j);
    return j;
}

void al_dashboard_cancel(struct al_dashboard_job *j)
{
    if (!j->cancelled)
        al_defer(j->loop, end_dashboard, j);
    j->cancelled = true;
}

struct al_ingest *al_ingest_start(struct al_data *d, const struct al_ingest_spec *spec,
                                  const struct al_ingest_ops *ops, void *ud, struct al_err *err)
{
    (void)d, (void)spec, (void)ops, (void)ud, (void)err;
    return NULL;
}

void al_ingest_cancel(struct al_ingest *i)
{
    (void)i;
}

struct al_query_job *al_query_start(struct al_data *d, const struct al_query *q,
                                    const struct al_query_ops *ops, void *ud, struct al_err *err)
{
    (void)d, (void)q, (void)ops, (void)ud, (void)err;
    return NULL;
}

struct al_query_job *al_describe_start(struct al_data *d, int dataset_fd, struct al_str sheet,
                                       int sample_rows, const struct al_query_ops *ops, void *ud,
                                       struct al_err *err)
{
    (void)d, (void)dataset_fd, (void)sheet, (void)sample_rows, (void)ops, (void)ud, (void)err;
    return NULL;
}

void al_query_cancel(struct al_query_job *j)
{
    (void)j;
}

/* --- the world --- */

static char dataset[AL_ID_MAX];

static int set_up(void **state)
{
    memset(&fake, 0, sizeof fake);
    fake.json = said;
    fake.html = "<!doctype html><title>Sales</title><p>numbers</p>";
    return core_world_set_up(state);
}

static void add_dataset(struct core_world *t)
{
    const struct al_session *session = al_core_session(t->core);
    struct al_dataset_file file;
    struct al_dataset_row row = {
        .workspace = al_xstrdup(session->workspace),
        .name = al_xstrdup("sales.csv"),
        .format = al_xstrdup("csv"),
        .sha256 = al_xstrdup("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        .options = al_xstrdup("{}"),
        .sheets = al_xstrdup("[]"),
        .n_rows = 1234,
        .ingest_version = AL_DATASET_INGEST_VERSION,
    };
    struct al_err err = {0};
    memcpy(row.session, session->id, sizeof row.session);
    assert_int_equal(al_store_dataset_file_new(t->store, row.workspace, session->id, &file, &err), 0);
    assert_int_equal(write(file.fd, "dataset", 7), 7);
    if (al_store_dataset_add(t->store, &row, &file, (uint64_t)1 << 30, &err) != 0)
        fail_msg("%s", err.msg);
    memcpy(dataset, row.id, sizeof dataset);
    al_store_dataset_file_drop(&file);
    al_dataset_row_fini(&row);
}

static struct core_world *start(void **state, const char *config)
{
    struct core_world *t = *state;
    core_world_start(t, config);
    al_tools_register(t->core);
    add_dataset(t);
    return t;
}

/* more: members behind datasetId, with their comma. */
static struct core_answer ask(struct core_world *t, const char *more)
{
    char args[4096];
    snprintf(args, sizeof args, "{\"datasetId\":\"%s\"%s}", dataset, more);
    return core_world_ask(t, AL_ORIGIN_MCP, "dashboard_generate", args);
}

static void id_of(const struct core_answer *a, char out[AL_ID_MAX])
{
    const char *at = strstr(a->structured, "art_");
    assert_non_null(at);
    snprintf(out, AL_ID_MAX, "%.30s", at);
}

static int64_t artifacts(struct core_world *t)
{
    int64_t n, bytes;
    struct al_err err;
    assert_int_equal(al_store_artifact_usage(t->store, NULL, &n, &bytes, &err), 0);
    return n;
}

#define HAS(text, part)                                 \
    do {                                                \
        if (!strstr(text, part))                        \
            fail_msg("no \"%s\" in: %s", part, (text)); \
    } while (0)

static void a_dataset_becomes_a_published_page(void **state)
{
    struct core_world *t = start(state, NULL);
    char id[AL_ID_MAX];
    struct core_answer a = ask(t, ",\"goal\":\"sales by region\"");
    if (a.code != AL_OK)
        fail_msg("%s", a.msg);
    assert_int_equal(fake.timeout_ms, 120000);
    assert_string_equal(fake.request, "{\"source\":\"sales.csv\",\"goal\":\"sales by region\"}");
    HAS(a.text, "1 KPI, 1 chart, 1 table over 1,234 rows; 10 raw rows in the page\npublished dashboard.html "
                "(dashboard,");
    HAS(a.text, "not shown: Phone\nmissing in this dataset: Cost\nnote: the goal was cut\n");
    HAS(a.text, "need not be made again in Python");
    assert_null(strchr(a.text, 0x1b));
    assert_null(strstr(a.text, "\u202e"));
    HAS(a.structured, "\"sql\":\"SELECT 2\"");
    HAS(a.structured, "\"plan\":{\"version\":1");
    id_of(&a, id);
    struct al_artifact made = {0};
    struct al_err err;
    assert_int_equal(al_store_artifact_get(t->store, id, NULL, &made, &err), 0);
    assert_string_equal(made.title, "Sales");
    assert_string_equal(made.kind, "dashboard");
    HAS(made.manifest, "\"tool\":\"dashboard_generate\"");
    HAS(made.manifest, dataset);
    HAS(made.manifest, "\"goal\":\"sales by region\"");
    HAS(made.manifest, "\"sourceSha256\":\"aaaa");
    al_artifact_fini(&made);
}

static void what_was_asked_reaches_the_engine(void **state)
{
    struct core_world *t = start(state, "{\"analysis\":{\"data\":{\"queryTimeoutMs\":100}}}");
    struct core_answer a = ask(
        t,
        ",\"title\":\"T\",\"locale\":\"es\",\"sheet\":\"S\",\"by\":[\"a\",\"b\"],\"noRows\":true,\"filters\":"
        "[{\"column\":\"a\",\"op\":\"in\",\"value\":[1,\"x\"]}],\"spec\":{\"version\":1}");
    assert_int_equal(a.code, AL_OK);
    assert_int_equal(fake.timeout_ms, 60000);
    assert_string_equal(fake.request,
                        "{\"source\":\"sales.csv\",\"title\":\"T\",\"locale\":\"es\",\"sheet\":\"S\","
                        "\"filters\":[{\"column\":\"a\",\"op\":\"in\",\"value\":[1,\"x\"]}],\"by\":[\"a\","
                        "\"b\"],\"spec\":{\"version\":1},\"noRows\":true}");
}

static void a_plan_is_told_and_nothing_is_kept(void **state)
{
    struct core_world *t = start(state, NULL);
    fake.html = "";
    struct core_answer a = ask(t, ",\"plan\":true");
    assert_int_equal(a.code, AL_OK);
    HAS(fake.request, "\"planOnly\":true");
    HAS(a.text, "a plan, nothing is built");
    HAS(a.text, "{\"version\":1,\"title\":\"Sales\",\"widgets\":[]}");
    assert_null(strstr(a.structured, "artifactId"));
    assert_int_equal(artifacts(t), 0);
}

static void like_takes_the_plan_of_a_dashboard_and_of_nothing_else(void **state)
{
    struct core_world *t = start(state, NULL);
    char id[AL_ID_MAX], more[200];
    struct core_answer a = ask(t, "");
    id_of(&a, id);
    snprintf(more, sizeof more, ",\"like\":\"%s\"", id);
    a = ask(t, more);
    assert_int_equal(a.code, AL_OK);
    HAS(fake.request, "\"like\":{\"id\":\"art_");
    HAS(fake.request, "\"plan\":{\"version\":1,\"title\":\"Sales\",\"widgets\":[]}}");
    snprintf(more, sizeof more, ",\"like\":\"%s\",\"spec\":{}", id);
    assert_int_equal(ask(t, more).code, AL_TOOL_INPUT_INVALID);
    a = core_world_ask(t, AL_ORIGIN_MCP, "artifact_create",
                       "{\"fileName\":\"x.html\",\"text\":\"<p>x</p>\"}");
    id_of(&a, id);
    snprintf(more, sizeof more, ",\"like\":\"%s\"", id);
    a = ask(t, more);
    assert_int_equal(a.code, AL_INVALID_INPUT);
    HAS(a.msg, "x.html");
    HAS(a.msg, "was not made by dashboard_generate");
    assert_int_equal(ask(t, ",\"like\":\"art_00000000000000000000000000\"").code, AL_NOT_FOUND);
    assert_int_equal(ask(t, ",\"like\":\"report.html\"").code, AL_NOT_FOUND);
}

static void an_error_has_a_way_on(void **state)
{
    static const enum al_code codes[] = {AL_NO_USABLE_COLUMNS, AL_PLAN_FAILED, AL_QUERY_ERROR};
    struct core_world *t = start(state, NULL);
    for (size_t i = 0; i < 3; i++) {
        al_err_clear(&fake.fail);
        al_fail(&fake.fail, codes[i], "why");
        struct core_answer a = ask(t, "");
        assert_int_equal(a.code, codes[i]);
        HAS(a.hint, "python_run");
    }
    assert_int_equal(artifacts(t), 0);
    al_err_clear(&fake.fail);
    fake.html = "";
    assert_int_equal(ask(t, "").code, AL_ENGINE_CRASHED);
    struct core_answer a = core_world_ask(t, AL_ORIGIN_MCP, "dashboard_generate",
                                          "{\"datasetId\":\"ds_00000000000000000000000000\"}");
    assert_int_equal(a.code, AL_NOT_FOUND);
    assert_int_equal(core_world_ask(t, AL_ORIGIN_MCP, "dashboard_generate", "{}").code,
                     AL_TOOL_INPUT_INVALID);
}

static void what_is_cancelled_publishes_nothing(void **state)
{
    struct core_world *t = start(state, NULL);
    struct core_answer a = {0};
    char args[200];
    fake.hold = true;
    snprintf(args, sizeof args, "{\"datasetId\":\"%s\"}", dataset);
    struct al_call *call = core_world_call(t, AL_ORIGIN_MCP, "dashboard_generate", args, &a);
    bool never = false;
    while (!fake.started)
        al_loop_run_until(t->loop, &never, 5);
    al_call_cancel(call);
    core_world_wait(t, &a.done);
    assert_int_equal(a.code, AL_CANCELLED);
    assert_int_equal(artifacts(t), 0);
}

static void claims_of_any_shape_are_told_without_harm(void **state)
{
    static const char *const claims[] = {
        "{}",
        "{\"widgets\":{\"a\":1},\"measures\":7,\"plan\":[],\"notes\":[1,null,{}],\"rows\":-1,\"title\":{}}",
        "{\"widgets\":[1,[],{\"title\":7}],\"rows\":1e300,\"notes\":\"x\",\"plan\":null}",
    };
    struct core_world *t = start(state, NULL);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        fake.json = claims[i];
        struct core_answer a = ask(t, "");
        assert_int_equal(a.code, AL_OK);
        assert_true(al_json_check(al_str_of(a.structured), 32));
        a = ask(t, ",\"plan\":true");
        assert_int_equal(a.code, AL_OK);
    }
}

static void put_many(struct al_jw *w, const char *key, unsigned n)
{
    char text[1000];
    memset(text, 'x', sizeof text);
    al_jw_key(w, key);
    al_jw_arr(w);
    for (unsigned i = 0; i < n; i++)
        al_jw_str(w, (struct al_str){text, sizeof text});
    al_jw_end(w);
}

static void the_text_for_a_model_is_short_whatever_is_claimed(void **state)
{
    autobuf struct al_buf json = AL_BUF_INIT((size_t)1 << 20), text = AL_BUF_INIT((size_t)1 << 20),
                          structured = AL_BUF_INIT((size_t)2 << 20);
    autoarena struct al_arena arena = AL_ARENA_INIT((size_t)64 << 20);
    const struct al_json *v;
    struct al_err err;
    struct al_jw w;
    char file_name[] = "dashboard.html", kind[] = "dashboard", id[] = "art_1";
    struct al_artifact made = {.file_name = file_name, .kind = kind};
    memcpy(made.id, id, sizeof id);
    (void)state;
    al_jw_init(&w, &json);
    al_jw_obj(&w);
    put_many(&w, "measures", 100);
    put_many(&w, "dimensions", 100);
    put_many(&w, "notShown", 100);
    put_many(&w, "notes", 100);
    put_many(&w, "plan", 100);
    al_jw_end(&w);
    assert_int_equal(al_json_parse(&arena, al_buf_str(&json), &v, &err), 0);
    struct al_dashboard_shown shown = {.made = v, .a = &made};
    al_dashboard_result(&shown, &text, &structured);
    assert_true(al_utf8_count(al_buf_str(&text)) <= AL_DASHBOARD_TEXT_CHARS);
    assert_true(al_str_find(al_buf_str(&text), AL_STR("The page is complete. To change")) > 0);
    assert_true(al_str_find(al_buf_str(&text), AL_STR("Python")) < 0);
    al_buf_clear(&text);
    al_buf_clear(&structured);
    shown.a = NULL;
    al_dashboard_result(&shown, &text, &structured);
    assert_true(al_utf8_count(al_buf_str(&text)) <= AL_DASHBOARD_TEXT_CHARS);
    assert_true(al_str_find(al_buf_str(&text), AL_STR("too long for this text")) > 0);
}

static void it_is_there_unless_it_is_switched_off(void **state)
{
    static const char *const configs[] = {NULL, "{\"analysis\":{\"smartDashboard\":false}}",
                                          "{\"analysis\":{\"enabled\":false}}"};
    struct core_world *t = *state;
    for (size_t i = 0; i < 4; i++) {
        t->opts.policy.read_only = i == 3;
        core_world_start(t, i < 3 ? configs[i] : NULL);
        al_tools_register(t->core);
        assert_int_equal(al_core_tool(t->core, AL_STR("dashboard_generate")) != NULL, i == 0);
        core_world_stop(t);
    }
}

/* Each property, however deep, but of what any object may be. */
static void each_is_described(const struct al_json *schema)
{
    const struct al_json *queue[200];
    size_t n = 0;
    for (queue[n++] = schema; n > 0;) {
        const struct al_json *one = queue[--n];
        al_json_each(property, al_json_get(one, "properties"))
        {
            if (!al_json_get_text(property, "description").n)
                fail_msg("%.*s has no description", AL_FMT(property->key));
            assert_true(n < 199);
            queue[n++] = property;
        }
        if (al_json_get(one, "items"))
            queue[n++] = al_json_get(one, "items");
    }
}

static void each_member_is_described(void **state)
{
    autoarena struct al_arena arena = AL_ARENA_INIT((size_t)4 << 20);
    const char *const schemas[] = {al_tool_dashboard_generate.input_schema,
                                   al_tool_dashboard_generate.output_schema};
    const struct al_json *v;
    struct al_err err;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(al_json_parse(&arena, al_str_of(schemas[i]), &v, &err), 0);
        each_is_described(v);
    }
    assert_true(strlen(al_tool_dashboard_generate.description) <= 2048);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, core_world_tear_down)
    static const struct CMUnitTest tests[] = {
        TEST(a_dataset_becomes_a_published_page),
        TEST(what_was_asked_reaches_the_engine),
        TEST(a_plan_is_told_and_nothing_is_kept),
        TEST(like_takes_the_plan_of_a_dashboard_and_of_nothing_else),
        TEST(an_error_has_a_way_on),
        TEST(what_is_cancelled_publishes_nothing),
        TEST(claims_of_any_shape_are_told_without_harm),
        cmocka_unit_test(the_text_for_a_model_is_short_whatever_is_claimed),
        TEST(it_is_there_unless_it_is_switched_off),
        cmocka_unit_test(each_member_is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
