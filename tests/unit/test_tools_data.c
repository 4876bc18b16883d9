/* data_inspect and data_query over an engine that is played here: what is shared, kept, refused and shown. */
#include "test.h"

#include "core_world.h"

#include "base/mem.h"
#include "base/text.h"
#include "tools/data_int.h"
#include "tools/tools.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- the engine: these stand in the place of al_data's own --- */

struct al_data {
    struct al_loop *loop;
};
struct al_ingest {
    const struct al_ingest_ops *ops;
    void *ud;
    struct al_loop *loop;
    bool cancelled, over;
};
struct al_query_job {
    const struct al_query_ops *ops;
    void *ud;
    bool describes;
};

static struct {
    unsigned ingests, describes, queries;
    bool hold; /* an ingest ends only when it is let go, or cancelled */
    struct al_ingest *held;
    struct al_err fail; /* of ingests */
    const char *json;   /* of descriptions */
    char sql[200], alias[64], params[200];
    uint64_t max_rows;
    uint32_t timeout_ms;
} fake;

static const char description[] = "{\"format\":\"csv\",\"encoding\":\"UTF-8\",\"delimiter\":\",\",\"sheets\":"
                                  "[{\"name\":\"data\",\"table\":\"data\","
                                  "\"valuesView\":\"data_values\",\"rows\":2,\"columns\":[{\"name\":\"a\","
                                  "\"label\":\"A\\u001b[31m\",\"type\":\"text\","
                                  "\"nulls\":0,\"distinct\":2,\"distinctExact\":true,\"min\":\"1\",\"max\":"
                                  "\"2\",\"parsedAs\":\"1.234,56\",\"top\":[{"
                                  "\"value\":\"x\",\"count\":1}]}],\"sample\":[[\"\\u202e\",1,null]]}],"
                                  "\"notes\":[{\"sheet\":\"data\",\"kind\":"
                                  "\"short_rows\",\"count\":2,\"lines\":[3,4],\"message\":\"padded\"}]}";

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

static void end_ingest(void *ud)
{
    struct al_ingest *i = ud;
    struct al_ingest_end end = {.rows = 2, .json = al_str_of(description)};
    memset(end.sha256, 'a', 64);
    if (i->cancelled)
        al_fail(&end.err, AL_CANCELLED, "cancelled");
    else
        end.err = fake.fail;
    i->ops->end(i->ud, &end);
    free(i);
}

struct al_ingest *al_ingest_start(struct al_data *d, const struct al_ingest_spec *spec,
                                  const struct al_ingest_ops *ops, void *ud, struct al_err *err)
{
    (void)err;
    struct al_ingest *i = al_xcalloc(1, sizeof *i);
    *i = (struct al_ingest){.ops = ops, .ud = ud, .loop = d->loop};
    assert_int_equal(write(spec->output_fd, "dataset", 7), 7);
    fake.ingests++;
    if (fake.hold)
        fake.held = i;
    else
        al_defer(d->loop, end_ingest, i);
    return i;
}

void al_ingest_cancel(struct al_ingest *i)
{
    if (i->cancelled)
        return;
    i->cancelled = true;
    if (fake.held == i) {
        fake.held = NULL;
        al_defer(i->loop, end_ingest, i);
    }
}

static void let_go(void)
{
    struct al_ingest *i = fake.held;
    fake.held = NULL;
    al_defer(i->loop, end_ingest, i);
}

static void end_job(void *ud)
{
    struct al_query_job *j = ud;
    struct al_query_end end = {.text = AL_STR("a\n1\n[1 row]"),
                               .json = AL_STR("{\"columns\":[],\"rows\":[]}")};
    if (j->describes)
        end.json = al_str_of(fake.json);
    j->ops->end(j->ud, &end);
    free(j);
}

static struct al_query_job *start_job(struct al_data *d, const struct al_query_ops *ops, void *ud,
                                      bool describes)
{
    struct al_query_job *j = al_xcalloc(1, sizeof *j);
    *j = (struct al_query_job){ops, ud, describes};
    al_defer(d->loop, end_job, j);
    return j;
}

struct al_query_job *al_query_start(struct al_data *d, const struct al_query *q,
                                    const struct al_query_ops *ops, void *ud, struct al_err *err)
{
    (void)err;
    fake.queries++;
    fake.max_rows = q->max_rows;
    fake.timeout_ms = q->timeout_ms;
    snprintf(fake.sql, sizeof fake.sql, "%.*s", AL_FMT(q->sql));
    snprintf(fake.params, sizeof fake.params, "%.*s", AL_FMT(q->params_json));
    snprintf(fake.alias, sizeof fake.alias, "%s", q->datasets[0].alias);
    return start_job(d, ops, ud, false);
}

struct al_query_job *al_describe_start(struct al_data *d, int dataset_fd, struct al_str sheet,
                                       int sample_rows, const struct al_query_ops *ops, void *ud,
                                       struct al_err *err)
{
    char byte[8];
    (void)sheet, (void)sample_rows, (void)err;
    assert_int_equal(pread(dataset_fd, byte, sizeof byte, 0), 7);
    fake.describes++;
    return start_job(d, ops, ud, true);
}

void al_query_cancel(struct al_query_job *j)
{
    (void)j;
}

/* No dashboard is made here: tests/unit/test_tools_dashboard.c. */
struct al_dashboard_job *al_dashboard_start(struct al_data *d, const struct al_dashboard_spec *spec,
                                            const struct al_dashboard_ops *ops, void *ud, struct al_err *err)
{
    (void)d, (void)spec, (void)ops, (void)ud;
    al_fail(err, AL_INTERNAL, "none");
    return NULL;
}

void al_dashboard_cancel(struct al_dashboard_job *j)
{
    (void)j;
}

/* --- the world --- */

static int set_up(void **state)
{
    int r = core_world_set_up(state);
    memset(&fake, 0, sizeof fake);
    fake.json = description;
    return r;
}

static struct core_world *start(void **state, const char *config)
{
    struct core_world *t = *state;
    core_world_start(t, config);
    al_tools_register(t->core);
    return t;
}

static void put(struct core_world *t, const char *name, const char *text)
{
    autofree char *path = core_world_path(t->ws, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* A moment that is long past, so that what fstat says of the file tells its content. */
static void age(struct core_world *t, const char *name)
{
    autofree char *path = core_world_path(t->ws, name);
    struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
}

static void id_of(const struct core_answer *a, char out[AL_ID_MAX])
{
    const char *at = strstr(a->structured, "ds_");
    assert_non_null(at);
    snprintf(out, AL_ID_MAX, "%.29s", at);
}

#define HAS(text, part)                                 \
    do {                                                \
        if (!strstr(text, part))                        \
            fail_msg("no \"%s\" in: %s", part, (text)); \
    } while (0)

static void a_file_becomes_a_dataset_that_is_shown_and_queried(void **state)
{
    struct core_world *t = start(state, NULL);
    char id[AL_ID_MAX], args[300];
    put(t, "s.csv", "A\nx\n");
    struct core_answer a = core_world_ask(t, AL_ORIGIN_MCP, "data_inspect", "{\"path\":\"s.csv\"}");
    if (a.code != AL_OK)
        fail_msg("%s", a.msg);
    HAS(a.structured, "\"reused\":false");
    HAS(a.structured, "\"name\":\"s.csv\"");
    HAS(a.text, "data_values (numbers and dates converted");
    HAS(a.text, "short_rows ×2: padded [lines 3, 4]");
    assert_null(strchr(a.text, 0x1b));
    assert_null(strstr(a.text, "\u202e"));
    id_of(&a, id);
    snprintf(args, sizeof args, "{\"datasetId\":\"%s\",\"sql\":\"SELECT 1\",\"params\":[5],\"maxRows\":7}",
             id);
    a = core_world_ask(t, AL_ORIGIN_MCP, "data_query", args);
    assert_int_equal(a.code, AL_OK);
    HAS(a.text, "[1 row]");
    assert_string_equal(fake.sql, "SELECT 1");
    assert_string_equal(fake.params, "[5]");
    assert_int_equal(fake.max_rows, 7);
    assert_int_equal(fake.timeout_ms, 5000);
    snprintf(args, sizeof args, "{\"datasets\":{\"s\":\"%s\"},\"sql\":\"SELECT 1\",\"timeoutMs\":100}", id);
    a = core_world_ask(t, AL_ORIGIN_SCRIPT, "data_query", args);
    assert_int_equal(a.code, AL_OK);
    assert_string_equal(fake.alias, "s");
    assert_int_equal(fake.max_rows, 200);
    assert_int_equal(fake.timeout_ms, 100);
}

static void equal_asks_at_once_are_one_reading(void **state)
{
    struct core_world *t = start(state, NULL);
    struct core_answer a = {0}, b = {0}, c = {0};
    put(t, "s.csv", "A\nx\n");
    fake.hold = true;
    core_world_call(t, AL_ORIGIN_MCP, "data_inspect", "{\"path\":\"s.csv\"}", &a);
    core_world_call(t, AL_ORIGIN_MCP, "data_inspect", "{\"path\":\"s.csv\"}", &b);
    struct al_call *third =
        core_world_call(t, AL_ORIGIN_MCP, "data_inspect", "{\"path\":\"s.csv\",\"sampleRows\":0}", &c);
    bool never = false;
    while (!fake.held)
        al_loop_run_until(t->loop, &never, 5);
    for (int i = 0; i < 20; i++)
        al_loop_run_until(t->loop, &never, 5);
    al_call_cancel(third);
    core_world_wait(t, &c.done);
    assert_int_equal(c.code, AL_CANCELLED);
    let_go();
    core_world_wait(t, &a.done);
    core_world_wait(t, &b.done);
    assert_int_equal(a.code, AL_OK);
    assert_int_equal(b.code, AL_OK);
    assert_int_equal(fake.ingests, 1);
}

static void who_waits_last_ends_the_reading(void **state)
{
    struct core_world *t = start(state, NULL);
    struct core_answer a = {0};
    put(t, "s.csv", "A\nx\n");
    fake.hold = true;
    struct al_call *call = core_world_call(t, AL_ORIGIN_MCP, "data_inspect", "{\"path\":\"s.csv\"}", &a);
    bool never = false;
    while (!fake.held)
        al_loop_run_until(t->loop, &never, 5);
    al_call_cancel(call);
    core_world_wait(t, &a.done);
    assert_int_equal(a.code, AL_CANCELLED);
    int64_t n, bytes;
    struct al_err err;
    assert_int_equal(al_store_dataset_usage(t->store, NULL, &n, &bytes, &err), 0);
    assert_int_equal(n, 0);
}

static void a_file_that_was_read_is_not_read_again(void **state)
{
    struct core_world *t = start(state, NULL);
    char first[AL_ID_MAX], second[AL_ID_MAX];
    put(t, "s.csv", "A\nx\n");
    age(t, "s.csv");
    struct core_answer a = core_world_ask(t, AL_ORIGIN_MCP, "data_inspect", "{\"path\":\"s.csv\"}");
    id_of(&a, first);
    /* Written a moment ago: what fstat says is not believed, the content is. */
    struct core_answer b = core_world_ask(t, AL_ORIGIN_MCP, "data_inspect", "{\"path\":\"s.csv\"}");
    id_of(&b, second);
    HAS(b.structured, "\"reused\":true");
    assert_string_equal(first, second);
    assert_int_equal(fake.ingests, 2);
    b = core_world_ask(t, AL_ORIGIN_MCP, "data_inspect",
                       "{\"path\":\"s.csv\",\"options\":{\"delimiter\":\"tab\"}}");
    id_of(&b, second);
    HAS(b.structured, "\"reused\":false");
    assert_string_not_equal(first, second);
}

static void what_fails_is_told_and_nothing_is_kept(void **state)
{
    struct core_world *t = start(state, NULL);
    int64_t n, bytes;
    struct al_err err;
    put(t, "s.pdf", "%PDF");
    al_fail(&fake.fail, AL_DATASET_UNSUPPORTED, "s.pdf is a PDF");
    struct core_answer a = core_world_ask(t, AL_ORIGIN_MCP, "data_inspect", "{\"path\":\"s.pdf\"}");
    assert_int_equal(a.code, AL_DATASET_UNSUPPORTED);
    assert_int_equal(al_store_dataset_usage(t->store, NULL, &n, &bytes, &err), 0);
    assert_int_equal(n, 0);
    static const struct {
        const char *tool, *args;
        enum al_code code;
    } cases[] = {
        {"data_inspect", "{}", AL_TOOL_INPUT_INVALID},
        {"data_inspect", "{\"path\":\"no.csv\"}", AL_NOT_FOUND},
        {"data_inspect", "{\"path\":\"../x.csv\"}", AL_PATH_OUTSIDE_WORKSPACE},
        {"data_inspect", "{\"path\":\".env\"}", AL_PATH_SECRET},
        {"data_inspect", "{\"path\":\"s.pdf\",\"options\":{\"delimiter\":\"ab\"}}", AL_TOOL_INPUT_INVALID},
        {"data_inspect", "{\"path\":\"s.pdf\",\"sampleRows\":21}", AL_TOOL_INPUT_INVALID},
        {"data_inspect", "{\"datasetId\":\"ds_00000000000000000000000000\"}", AL_NOT_FOUND},
        {"data_inspect", "{\"datasetId\":\"x\"}", AL_NOT_FOUND},
        {"data_query", "{\"sql\":\"SELECT 1\"}", AL_TOOL_INPUT_INVALID},
        {"data_query", "{\"datasetId\":\"../x\",\"sql\":\"SELECT 1\"}", AL_NOT_FOUND},
        {"data_query", "{\"datasets\":{},\"sql\":\"SELECT 1\"}", AL_TOOL_INPUT_INVALID},
        {"data_query", "{\"datasets\":{\"main\":\"x\"},\"sql\":\"SELECT 1\"}", AL_TOOL_INPUT_INVALID},
        {"data_query", "{\"datasets\":{\"a b\":\"x\"},\"sql\":\"SELECT 1\"}", AL_TOOL_INPUT_INVALID},
        {"data_query", "{\"datasetId\":\"x\",\"sql\":\"SELECT 1\",\"maxRows\":1001}", AL_TOOL_INPUT_INVALID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        a = core_world_ask(t, AL_ORIGIN_MCP, cases[i].tool, cases[i].args);
        if (a.code != cases[i].code)
            fail_msg("%s: %s: %s", cases[i].args, al_code_name(a.code), a.msg);
    }
}

static void a_switched_off_engine_has_no_tools(void **state)
{
    struct core_world *t = start(state, "{\"analysis\":{\"enabled\":false}}");
    struct core_answer a = core_world_ask(t, AL_ORIGIN_MCP, "data_inspect", "{\"path\":\"s.csv\"}");
    assert_int_equal(a.code, AL_TOOL_NOT_FOUND);
}

static void limits_name_their_keys(void **state)
{
    struct core_world *t = start(state, "{\"analysis\":{\"data\":{\"maxUploadBytes\":3}}}");
    put(t, "s.csv", "A\nx\n");
    put(t, "empty.csv", "");
    struct core_answer a = core_world_ask(t, AL_ORIGIN_MCP, "data_inspect", "{\"path\":\"s.csv\"}");
    assert_int_equal(a.code, AL_INGEST_LIMIT);
    HAS(a.msg, "analysis.data.maxUploadBytes");
    a = core_world_ask(t, AL_ORIGIN_MCP, "data_inspect", "{\"path\":\"empty.csv\"}");
    assert_int_equal(a.code, AL_INGEST_INVALID);
    assert_int_equal(fake.ingests, 0);
}

/* --- showing --- */

static void a_wide_description_fits_its_characters(void **state)
{
    (void)state;
    autobuf struct al_buf json = AL_BUF_INIT(8u << 20), text = AL_BUF_INIT(1u << 20),
                          all = AL_BUF_INIT(9u << 20);
    struct al_err err = {0};
    al_buf_adds(&json, "{\"sheets\":[");
    for (int s = 0; s < 7; s++) {
        al_buf_addf(&json, "%s{\"name\":\"Sheet %d\",\"table\":\"s_%d\",\"rows\":5,\"columns\":[",
                    s ? "," : "", s, s);
        for (int c = 0; c < 300; c++)
            al_buf_addf(
                &json,
                "%s{\"name\":\"column_with_a_name_%d\",\"label\":\"A label \u20ac of %d\",\"type\":\"text\","
                "\"nulls\":3,\"distinct\":9,\"top\":[{\"value\":\"%060d\",\"count\":4}]}",
                c ? "," : "", c, c, c);
        al_buf_adds(&json, "],\"sample\":[[1,2,3]]}");
    }
    al_buf_adds(&json, "],\"notes\":[]}");
    struct al_data_shown shown = {.id = "ds_x", .name = "wide.xlsx"};
    assert_int_equal(al_data_show(&shown, al_buf_str(&json), &text, &all, &err), 0);
    assert_true(al_utf8_count(al_buf_str(&text)) <= AL_DATA_TEXT_CHARS);
    al_buf_addc(&text, 0);
    HAS(text.p, "and 2 more sheets; name one with `sheet`: Sheet 5, Sheet 6");
    HAS(text.p, "more: column_with_a_name_");
}

static void a_worker_may_claim_anything(void **state)
{
    (void)state;
    static const char *const claims[] = {
        "{}",
        "{\"sheets\":5}",
        "{\"sheets\":[1,null,\"x\"]}",
        "{\"sheets\":{\"a\":{\"columns\":{\"x\":1}}}}",
        "{\"sheets\":[{\"columns\":[{\"top\":[1],\"min\":{},\"max\":[],\"quartiles\":[1,2,3],\"mean\":\"x\"},"
        "null]}]}",
        "{\"notes\":[1,{\"lines\":{}}],\"sheets\":[{\"sample\":[1,[[]],{}],\"columns\":[{}]}]}",
    };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        autobuf struct al_buf text = AL_BUF_INIT(1u << 20), all = AL_BUF_INIT(1u << 20);
        struct al_err err = {0};
        struct al_data_shown shown = {.id = "ds_x", .name = "n"};
        char format[16];
        assert_int_equal(al_data_show(&shown, al_str_of(claims[i]), &text, &all, &err), 0);
        free(al_data_sheets(al_str_of(claims[i]), format));
    }
    autobuf struct al_buf text = AL_BUF_INIT(1u << 20), all = AL_BUF_INIT(1u << 20);
    struct al_err err = {0};
    struct al_data_shown shown = {.id = "ds_x", .name = "n"};
    assert_int_equal(al_data_show(&shown, AL_STR("[]"), &text, &all, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_becomes_a_dataset_that_is_shown_and_queried, set_up,
                                        core_world_tear_down),
        cmocka_unit_test_setup_teardown(equal_asks_at_once_are_one_reading, set_up, core_world_tear_down),
        cmocka_unit_test_setup_teardown(who_waits_last_ends_the_reading, set_up, core_world_tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_was_read_is_not_read_again, set_up, core_world_tear_down),
        cmocka_unit_test_setup_teardown(what_fails_is_told_and_nothing_is_kept, set_up, core_world_tear_down),
        cmocka_unit_test_setup_teardown(a_switched_off_engine_has_no_tools, set_up, core_world_tear_down),
        cmocka_unit_test_setup_teardown(limits_name_their_keys, set_up, core_world_tear_down),
        cmocka_unit_test(a_wide_description_fits_its_characters),
        cmocka_unit_test(a_worker_may_claim_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
