/* Files become datasets and statements get answers, through the sealed processes. */
#include "data_rig.h"

#include "base/ident.h"
#include "data/data_int.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static int dataset_of(const char *csv)
{
    int source = rig_text(csv), output = rig_text("");
    struct rig_ingest *r = rig_ingest(source, output, "sales.csv");
    if (r->err.code != AL_OK)
        fail_msg("%s: %s [%s]", al_code_name(r->err.code), r->err.msg, r->err.detail);
    close(source);
    return output;
}

#define SALES "region,amount\nnorth,1.50\nsouth,2.25\nnorth,3.00\n"

static void a_file_becomes_a_dataset(void **state)
{
    (void)state;
    int source = rig_text(SALES), output = rig_text("");
    struct rig_ingest *r = rig_ingest(source, output, "sales.csv");
    char want[AL_SHA256_HEX];
    if (r->err.code != AL_OK)
        fail_msg("%s: %s [%s]", al_code_name(r->err.code), r->err.msg, r->err.detail);
    al_sha256(AL_STR(SALES), want);
    assert_string_equal(r->sha256, want);
    assert_int_equal(r->rows, 3);
    assert_int_equal(r->bytes, lseek(output, 0, SEEK_END));
    assert_non_null(strstr(r->json.p, "\"format\":\"csv\""));
    assert_non_null(strstr(r->json.p, "\"region\""));
    close(source);
    close(output);
    rig_rest();
}

static void a_query_gets_its_answer(void **state)
{
    (void)state;
    int ds = dataset_of(SALES);
    struct rig_query *r =
        rig_query("SELECT region, sum(amount) AS s FROM data GROUP BY region ORDER BY 1", ds);
    if (r->err.code != AL_OK)
        fail_msg("%s: %s [%s]", al_code_name(r->err.code), r->err.msg, r->err.detail);
    assert_non_null(strstr(r->text.p, "north"));
    assert_non_null(strstr(r->json.p, "\"rowCount\":2"));
    assert_non_null(strstr(r->json.p, "4.5"));
    close(ds);
    rig_rest();
}

static void a_dataset_is_described_anew(void **state)
{
    (void)state;
    int ds = dataset_of(SALES);
    struct rig_query *r = rig_describe(ds, "", 2);
    if (r->err.code != AL_OK)
        fail_msg("%s: %s [%s]", al_code_name(r->err.code), r->err.msg, r->err.detail);
    assert_non_null(strstr(r->json.p, "\"sample\":[["));
    assert_int_equal(rig_describe(ds, "none", 0)->err.code, AL_NOT_FOUND);
    close(ds);
}

static void datasets_are_joined_and_formats_stream(void **state)
{
    (void)state;
    int a = dataset_of(SALES), b = dataset_of("region,boss\nnorth,ann\nsouth,bob\n");
    struct rig_query r = {0};
    struct al_query q =
        rig_spec("SELECT boss, amount FROM a.data JOIN b.data USING (region) ORDER BY amount", -1);
    q.n_datasets = 2;
    q.datasets[0] = (struct al_query_dataset){"a", a};
    q.datasets[1] = (struct al_query_dataset){"b", b};
    q.format = AL_QUERY_CSV;
    q.exact = true;
    rig_start(&r, &q);
    rig_wait(&r);
    if (r.err.code != AL_OK)
        fail_msg("%s: %s [%s]", al_code_name(r.err.code), r.err.msg, r.err.detail);
    assert_string_equal(r.bytes.p, "boss,amount\nann,1.50\nbob,2.25\nann,3.00\n");
    assert_non_null(strstr(r.json.p, "\"rowCount\":3"));
    rig_free(&r);
    close(a);
    close(b);
}

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    int ds = dataset_of(SALES);
    assert_int_equal(rig_query("DROP TABLE data", ds)->err.code, AL_QUERY_REJECTED);
    struct rig_query *r = rig_query("SELECT amuont FROM data", ds);
    assert_int_equal(r->err.code, AL_QUERY_ERROR);
    assert_non_null(strstr(r->err.msg, "amount"));
    close(ds);
    int source = rig_text("%PDF-1.7\n"), output = rig_text("");
    assert_int_equal(rig_ingest(source, output, "x.csv")->err.code, AL_DATASET_UNSUPPORTED);
    close(source);
    close(output);
}

static void what_has_no_end_ends_in_time(void **state)
{
    static const char *const statements[] = {
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c",
        "WITH RECURSIVE c(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM c) SELECT max(length(x)) FROM c",
        "SELECT printf('%.*c', 900000000, 'x')",
        "SELECT length(randomblob(1000000000))",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3000000) "
        "SELECT length(group_concat(x || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx')) FROM c",
        "SELECT instr(zeroblob(16000000), x) FROM (SELECT zeroblob(8000000) || x'01' AS x)",
    };
    (void)state;
    int ds = dataset_of(SALES);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct rig_query r = {0};
        struct al_query q = rig_spec(statements[i], ds);
        q.timeout_ms = 300;
        rig_start(&r, &q);
        rig_wait(&r);
        if (r.err.code != AL_QUERY_TIMEOUT && r.err.code != AL_QUERY_LIMIT && r.err.code != AL_QUERY_ERROR)
            fail_msg("%s: %s: %s [%s]", statements[i], al_code_name(r.err.code), r.err.msg, r.err.detail);
        rig_free(&r);
    }
    assert_int_equal(rig_query("SELECT 1", ds)->err.code, AL_OK);
    rig_rest();
#ifndef AL_ASAN
    struct rusage all;
    getrusage(RUSAGE_CHILDREN, &all);
    if (all.ru_maxrss > 300 << 10)
        fail_msg("a worker had %ld KiB", all.ru_maxrss);
#endif
    close(ds);
}

/* Functions that libc would answer from files. */
static void clocks_and_sorting_need_no_file(void **state)
{
    static const char *const statements[] = {
        "SELECT datetime('now'), datetime(0, 'unixepoch', 'localtime'), datetime('2020-07-01', 'utc')",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000) "
        "SELECT max(x) FROM (SELECT x FROM c ORDER BY x * 7919 % 100003, random())",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 20000) "
        "SELECT median(x), percentile(x, 90), stddev(x) FROM c",
        "SELECT regexp('^n', region), upper(region), json_object('a', amount), sqrt(amount) FROM data",
        "SELECT hex(randomblob(8)), strftime('%s', 'now')",
    };
    (void)state;
    int ds = dataset_of(SALES);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct rig_query *r = rig_query(statements[i], ds);
        if (r->err.code != AL_OK)
            fail_msg("%s: %s: %s [%s]", statements[i], al_code_name(r->err.code), r->err.msg, r->err.detail);
    }
    close(ds);
}

static void encodings_and_names_need_no_file(void **state)
{
    static const char latin[] = "St\xe4"
                                "dte,\xdc"
                                "ber\nK\xf6ln,1\n",
                      cities[] = "城市,Дата,Año\n北京,2020-01-01,7\n";
    (void)state;
    for (int i = 0; i < 2; i++) {
        int source = rig_text(i ? cities : latin), output = rig_text("");
        struct rig_ingest *r = rig_ingest(source, output, "x.csv");
        if (r->err.code != AL_OK)
            fail_msg("%d: %s: %s [%s]", i, al_code_name(r->err.code), r->err.msg, r->err.detail);
        close(source);
        close(output);
    }
    /* converters are found by name, and what is none is not looked for in files */
    static const char *const names[] = {"ISO-8859-7", "Shift_JIS", "GB18030", "no-such-encoding"};
    for (int i = 0; i < 4; i++) {
        int source = rig_text("a,b\n1,2\n"), output = rig_text("");
        struct al_ingest_spec spec = rig_ingest_spec(source, output, "x.csv");
        struct rig_ingest r = {0};
        snprintf(spec.table.encoding, sizeof spec.table.encoding, "%s", names[i]);
        rig_ingest_start(&r, &spec);
        rig_ingest_wait(&r);
        if (r.err.code == AL_ENGINE_CRASHED)
            fail_msg("%s: %s [%s]", names[i], r.err.msg, r.err.detail);
        rig_ingest_free(&r);
        close(source);
        close(output);
    }
}

static int many_rows(int n)
{
    autobuf struct al_buf text = AL_BUF_INIT((size_t)64 << 20);
    al_buf_adds(&text, "id,name,price,when\n");
    for (int i = 0; i < n; i++)
        al_buf_addf(&text, "%d,name number %d,%d.%02d,2020-01-%02d\n", i, i * 7919 % n, i % 1000, i % 100,
                    i % 28 + 1);
    return rig_file(text.p, text.n);
}

static void progress_comes_and_cancel_works(void **state)
{
    (void)state;
    int source = many_rows(200000), output = rig_text("");
    struct rig_ingest *r = rig_ingest(source, output, "many.csv");
    if (r->err.code != AL_OK)
        fail_msg("%s: %s [%s]", al_code_name(r->err.code), r->err.msg, r->err.detail);
    assert_int_equal(r->rows, 200000);
    assert_true(r->n_progress >= 1);
    assert_int_equal(r->total, lseek(source, 0, SEEK_END));
    /* a sort that does not fit into memory, spilled */
    struct rig_query *q = rig_query(
        "SELECT count(*) FROM (SELECT id, name || price || name AS x FROM data ORDER BY x LIMIT 1000000)",
        output);
    if (q->err.code != AL_OK)
        fail_msg("%s: %s [%s]", al_code_name(q->err.code), q->err.msg, q->err.detail);
    close(source);
    close(output);
    rig_rest();
}

static void the_self_test_passes(void **state)
{
    (void)state;
    struct al_err err = {0};
    for (int i = 0; i < 2; i++)
        if (al_data_self_test(rig_data, rig_loop, &err) < 0)
            fail_msg("%s", err.msg);
    rig_rest();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_file_becomes_a_dataset),
    cmocka_unit_test(a_query_gets_its_answer),
    cmocka_unit_test(a_dataset_is_described_anew),
    cmocka_unit_test(datasets_are_joined_and_formats_stream),
    cmocka_unit_test(what_is_wrong_is_told),
    cmocka_unit_test(what_has_no_end_ends_in_time),
    cmocka_unit_test(clocks_and_sorting_need_no_file),
    cmocka_unit_test(encodings_and_names_need_no_file),
    cmocka_unit_test(progress_comes_and_cancel_works),
    cmocka_unit_test(the_self_test_passes),
};
RIG_MAIN(tests)
