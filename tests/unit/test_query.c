#include "test.h"

#include "query_world.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <unistd.h>

static const char fixture[] =
    "CREATE TABLE data(id, revenue, unit_price, city, note);"
    "INSERT INTO data VALUES (1, 10, 1.5, 'Bern', 'a'), (2, 20, 2.25, 'Genf', NULL), (3, 9007199254740993, "
    "3, 'Basel', "
    "'x' || char(9) || 'y' || char(10) || 'z');"
    "CREATE VIEW data_values AS SELECT id, revenue, unit_price, city, note FROM data;"
    "INSERT INTO _alisio_columns(table_name, name, scale) VALUES ('data', 'unit_price', 2)";

static int setup(void **state)
{
    struct query_world *w = al_xcalloc(1, sizeof *w);
    query_world_open(w, query_dataset(fixture));
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    query_world_close(*state);
    free(*state);
    return 0;
}

static void assert_text(struct query_world *w, const char *sql, const char *want)
{
    must(w, sql);
    autofree char *got = al_xdup(w->text.p, w->text.n);
    assert_string_equal(got, want);
}

static void assert_bytes(struct query_world *w, enum al_query_format format, const char *sql,
                         const char *want)
{
    w->q.format = format;
    must(w, sql);
    autofree char *got = al_xdup(w->bytes.p, w->bytes.n);
    assert_string_equal(got, want);
    w->q.format = AL_QUERY_RESULT;
}

static void the_result_is_text_and_value(void **state)
{
    struct query_world *w = *state;
    assert_text(w, "SELECT id, city, note FROM data ORDER BY id",
                "id\tcity\tnote\n1\tBern\ta\n2\tGenf\t\n3\tBasel\tx\\ty\\nz\n[3 rows]");
    must(w, "SELECT id, unit_price AS p, city, NULL AS n, id AS id FROM data WHERE id < 3");
    autofree char *json = al_xdup(w->json.p, w->json.n);
    assert_string_equal(
        json,
        "{\"columns\":[{\"name\":\"id\",\"type\":\"integer\"},{\"name\":\"p\",\"type\":\"real\"},"
        "{\"name\":\"city\",\"type\":\"text\"},{\"name\":\"n\",\"type\":\"null\"},{\"name\":\"id\",\"type\":"
        "\"integer\"}],\"rows\":[[1,1.5,\"Bern\",null,1],[2,2.25,\"Genf\",null,2]],\"rowCount\":2,"
        "\"truncated\":false,\"clipped\":0,\"notes\":[]}");
    assert_text(w, "SELECT id FROM data WHERE id > 9", "id\n[0 rows]");
}

static void large_integers_blobs_and_long_cells_are_told(void **state)
{
    struct query_world *w = *state;
    assert_rows(w, "SELECT revenue, -9007199254740991, x'010203' FROM data WHERE id = 3",
                "[[\"9007199254740993\",-9007199254740991,\"<blob 3 bytes>\"]]");
    must(w, "SELECT replace(hex(zeroblob(2000)), '00', 'ä') AS long");
    int64_t clipped = 0;
    assert_true(al_json_int(al_json_get(w->value, "clipped"), 1, 1, &clipped));
    struct al_str cell = al_json_get(w->value, "rows")->child->child->str;
    assert_int_equal(cell.n, 2048 + 3);
    assert_true(al_utf8_valid(cell) && al_str_ends(cell, "…"));
    assert_true(al_str_find(al_buf_str(&w->text), AL_STR("[1 row; 1 long cell shortened]")) >= 0);
    /* Bytes that are no UTF-8, and a NUL. */
    must(w, "SELECT CAST(x'41ff00' AS TEXT) AS t");
    assert_true(al_utf8_valid(al_buf_str(&w->text)));
}

static void rows_beyond_the_maximum_are_told(void **state)
{
    struct query_world *w = *state;
    w->q.max_rows = 2;
    assert_text(w, "SELECT id FROM data ORDER BY id", "id\n1\n2\n[2 rows; truncated, there are more]");
    assert_true(al_json_is_true(al_json_get(w->value, "truncated")));
    assert_text(w, "SELECT id FROM data WHERE id < 3 ORDER BY id", "id\n1\n2\n[2 rows]");
    w->q.max_rows = 1000;
    must(w, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
            "SELECT i, hex(zeroblob(100)) AS x FROM n");
    assert_true(al_utf8_count(al_buf_str(&w->text)) <= 24000);
    assert_true(al_str_find(al_buf_str(&w->text), AL_STR("[1000 rows; output shortened to ")) > 0);
    /* And a result that would be too large as a value. */
    must(w,
         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
         "SELECT hex(zeroblob(1000)) a, hex(zeroblob(1000)) b, hex(zeroblob(1000)) c, hex(zeroblob(1000)) d, "
         "hex(zeroblob(1000)) e, hex(zeroblob(1000)) f FROM n");
    assert_true(w->json.n < 8u << 20);
    assert_note(w, "the result was cut at");
    w->q.max_rows = 0;
}

static void parameters_are_bound(void **state)
{
    static const struct {
        const char *params, *sql, *rows;
    } good[] = {
        {"[2]", "SELECT city FROM data WHERE id = ?", "[[\"Genf\"]]"},
        {"[1, \"x\", null, true, 1.5]", "SELECT ?1, ?2, ?3, ?4, ?5", "[[1,\"x\",null,1,1.5]]"},
        {"{\"c\": \"Bern\"}", "SELECT id FROM data WHERE city = :c", "[[1]]"},
        {"{\"c\": 1, \"d\": 2, \"e\": 3}", "SELECT @c, $d, :e", "[[1,2,3]]"},
        {"[[1,3]]", "SELECT id FROM data WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id",
         "[[1],[3]]"},
        {"[]", "SELECT 1", "[[1]]"},
        {"{}", "SELECT 1", "[[1]]"},
        {"null", "SELECT 1", "[[1]]"},
        {"[9007199254740993]", "SELECT ?", "[[\"9007199254740993\"]]"},
        {"[\"'; DROP TABLE data; --\"]", "SELECT ?", "[[\"'; DROP TABLE data; --\"]]"},
    };
    static const struct {
        const char *params, *sql, *part;
    } bad[] = {
        {"", "SELECT ?", "has 1 parameter (?), and the call has no params"},
        {"[]", "SELECT ?", "1 parameter, and params has 0 values"},
        {"[1,2]", "SELECT ?", "1 parameter, and params has 2 values"},
        {"[1]", "SELECT :a", "named parameter :a"},
        {"{\"b\":1}", "SELECT :a", "no value for :a"},
        {"{\"a\":1,\"b\":1}", "SELECT :a", "params has \"b\""},
        {"{\"a\":1}", "SELECT ?", "no value for ?"},
        {"7", "SELECT ?", "where an array or an object is taken"},
        {"[1e999]", "SELECT ?", "too large"},
    };
    struct query_world *w = *state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        w->q.params_json = al_str_of(good[i].params);
        assert_rows(w, good[i].sql, good[i].rows);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        w->q.params_json = al_str_of(bad[i].params);
        assert_refused(w, bad[i].sql, AL_QUERY_ERROR, bad[i].part);
    }
    w->q.params_json = al_str_of("[1");
    assert_refused(w, "SELECT ?", AL_INVALID_INPUT, "params");
}

static void errors_say_where_and_what_is_near(void **state)
{
    static const struct {
        const char *sql, *message;
    } cases[] = {
        {"SELECT reveune FROM data", "no such column: reveune — revenue? at character 8"},
        {"SELECT d.citty FROM data d", "no such column: d.citty — city? at character 8"},
        {"SELECT price FROM data", "no such column: price — unit_price? at character 8"},
        {"SELECT id FROM dat", "no such table: dat — data?"},
        {"SELECT id\nFROM data\nWHERE citi = 'x'", "no such column: citi — city? at line 3, character 7"},
        {"SELECT id FORM data", "near \"data\": syntax error at character 16"},
        {"SELECT summ(id) FROM data", "no such function: summ — sum?"},
        {"SELECT year(city) FROM data", "no such function: year — strftime('%Y', …)?"},
        {"SELECT len(city) FROM data", "no such function: len — length?"},
        {"SELECT (", "incomplete input"},
    };
    struct query_world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ask(w, cases[i].sql), -1);
        assert_int_equal(w->err.code, AL_QUERY_ERROR);
        if (strcmp(w->err.msg, cases[i].message) != 0 && strcmp(cases[i].message, "incomplete input") != 0)
            fail_msg("%s: %s", cases[i].sql, w->err.msg);
    }
    assert_int_equal(ask(w, "SELECT reveune FROM data"), -1);
    int64_t position = 0;
    assert_true(al_json_int(al_json_get(w->value, "position"), 8, 8, &position));
    assert_true(al_str_is(al_json_get_text(w->value, "near"), "reveune"));
    assert_true(al_str_is(al_json_get_text(w->value, "column"), "reveune"));
    assert_true(al_str_is(al_json_get(w->value, "close")->child->str, "revenue"));
    /* Double quotes are names. */
    assert_refused(w, "SELECT id FROM data WHERE city = \"Bern\"", AL_QUERY_ERROR, "no such column");
}

static void several_datasets_are_joined_under_their_aliases(void **state)
{
    (void)state;
    struct query_world w;
    query_world_open(&w,
                     query_dataset("CREATE TABLE data(id, x); INSERT INTO data VALUES (1, 'a'), (2, 'b')"));
    w.q.n_datasets = 2;
    snprintf(w.q.datasets[0].alias, sizeof w.q.datasets[0].alias, "left one");
    snprintf(w.q.datasets[1].alias, sizeof w.q.datasets[1].alias, "b");
    w.q.datasets[1].fd = query_dataset("CREATE TABLE data(id, y); INSERT INTO data VALUES (2, 'c'); CREATE "
                                       "TABLE only_here(z); INSERT INTO only_here VALUES (7)");
    assert_rows(&w, "SELECT a.id, x, y FROM \"left one\".data a JOIN b.data b ON a.id = b.id",
                "[[2,\"b\",\"c\"]]");
    assert_refused(&w, "SELECT * FROM c.data", AL_QUERY_ERROR, "no such table");
    assert_refused(&w, "SELECT * FROM data", AL_QUERY_ERROR, "write one of left one.data, b.data");
    assert_refused(&w, "SELECT 1 FROM b.data x, data", AL_QUERY_ERROR, "alias");
    assert_refused(&w, "SELECT 1 FROM b.data x JOIN Data USING (id)", AL_QUERY_ERROR, "alias");
    assert_rows(&w, "WITH data AS (SELECT y FROM b.data) SELECT * FROM data", "[[\"c\"]]");
    assert_rows(&w, "SELECT data.id FROM b.data", "[[2]]");
    assert_rows(&w, "SELECT z FROM only_here", "[[7]]");
    snprintf(w.q.datasets[1].alias, sizeof w.q.datasets[1].alias, "main");
    assert_refused(&w, "SELECT 1", AL_QUERY_ERROR, "alias");
    query_world_close(&w);
    query_world_open(&w, query_dataset("CREATE TABLE data(id)"));
    for (size_t i = 0; i < AL_QUERY_MAX_DATASETS; i++) {
        w.q.datasets[i].fd = i ? dup(w.q.datasets[0].fd) : w.q.datasets[0].fd;
        snprintf(w.q.datasets[i].alias, sizeof w.q.datasets[i].alias, "d%zu", i);
    }
    w.q.n_datasets = AL_QUERY_MAX_DATASETS;
    assert_rows(&w, "SELECT count(*) FROM d0.data, d9.data", "[[0]]");
    query_world_close(&w);
}

static void files_are_written_as_their_formats_want(void **state)
{
    struct query_world *w = *state;
    const char *sql = "SELECT id, unit_price, city, note FROM data ORDER BY id";
    assert_bytes(w, AL_QUERY_CSV, sql,
                 "id,unit_price,city,note\n1,1.5,Bern,a\n2,2.25,Genf,\n3,3,Basel,\"x\ty\nz\"\n");
    assert_bytes(w, AL_QUERY_TSV, sql,
                 "id\tunit_price\tcity\tnote\n1\t1.5\tBern\ta\n2\t2.25\tGenf\t\n3\t3\tBasel\t\"x\ty\nz\"\n");
    assert_bytes(w, AL_QUERY_JSONL, "SELECT id, id, note FROM data ORDER BY 1 LIMIT 2",
                 "{\"id\":1,\"id_2\":1,\"note\":\"a\"}\n{\"id\":2,\"id_2\":2,\"note\":null}\n");
    assert_bytes(
        w, AL_QUERY_JSON, "SELECT id, revenue FROM data ORDER BY id",
        "{\"columns\":[\"id\",\"revenue\"],\"rows\":[\n[1,10],\n[2,20],\n[3,\"9007199254740993\"]\n]}\n");
    assert_bytes(w, AL_QUERY_JSON, "SELECT id FROM data WHERE 0", "{\"columns\":[\"id\"],\"rows\":[\n]}\n");
    assert_bytes(w, AL_QUERY_CSV, "SELECT '=1+1' a, '-5' b, '@x' c, 'a,b' d, 'say \"x\"' e, '+49 12' f, -7 g",
                 "a,b,c,d,e,f,g\n'=1+1,-5,'@x,\"a,b\",\"say \"\"x\"\"\",'+49 12,-7\n");
    assert_bytes(w, AL_QUERY_CSV, "SELECT NULL AS a", "a\n\"\"\n");
    w->q.exact = true;
    assert_bytes(w, AL_QUERY_CSV, "SELECT unit_price, '=1+1' AS x, note FROM data_values ORDER BY id",
                 "unit_price,x,note\n1.50,=1+1,a\n2.25,=1+1,\n3.00,=1+1,\"x\ty\nz\"\n");
    w->q.exact = false;
    w->q.max_rows = 2;
    w->q.format = AL_QUERY_CSV;
    must(w, "SELECT id FROM data");
    assert_true(al_json_is_true(al_json_get(w->value, "truncated")));
}

static void a_cell_of_sixteen_mebibytes_streams(void **state)
{
    struct query_world *w = *state;
    w->q.format = AL_QUERY_JSONL;
    must(w, "SELECT replace(hex(zeroblob(4000000)), '0', '\"') AS x");
    assert_int_equal(w->bytes.n, 8000000 * 2 + 9);
    w->q.format = AL_QUERY_CSV;
    must(w, "SELECT replace(hex(zeroblob(4000000)), '0', '\"') AS x");
    assert_int_equal(w->bytes.n, 8000000 * 2 + 5);
}

static bool leaves(void *ud, struct al_str bytes)
{
    (void)bytes;
    return ++*(int *)ud < 2;
}

static void a_reader_that_goes_ends_the_query(void **state)
{
    struct query_world *w = *state;
    int n = 0;
    struct al_query_out out = {.chunk = leaves, .ud = &n};
    w->q.format = AL_QUERY_CSV;
    w->q.sql = AL_STR("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, "
                      "hex(zeroblob(1000)) FROM n");
    assert_int_equal(al_query_run(&w->q, &out, NULL, &w->err), -1);
    assert_int_equal(w->err.code, AL_CANCELLED);
    assert_int_equal(n, 2);
}

/* Longer for each chunk than the statement has for all of its rows. */
static bool is_slow(void *ud, struct al_str bytes)
{
    const struct query_world *w = ud;
    for (uint64_t end = al_mono_ms() + w->q.timeout_ms + 20; al_mono_ms() < end;)
        ;
    return bytes.n > 0;
}

static void the_time_of_a_slow_reader_is_not_the_querys(void **state)
{
    struct query_world *w = *state;
    struct al_query_out out = {.chunk = is_slow, .ud = w};
    w->q.format = AL_QUERY_CSV;
    w->q.timeout_ms = 200;
    w->q.sql = AL_STR("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT "
                      "i, hex(zeroblob(40)) FROM n");
    if (al_query_run(&w->q, &out, NULL, &w->err) < 0)
        fail_msg("%s", w->err.msg);
}

static bool cuts_the_file(void *ud, struct al_str bytes)
{
    const struct query_world *w = ud;
    assert_int_equal(ftruncate(w->q.datasets[0].fd, 8192), 0);
    return bytes.n > 0;
}

/* It is read by pread(2), never mapped: what is gone is a short read. */
static void a_file_that_shrinks_while_it_is_read_is_an_error(void **state)
{
    struct query_world w;
    struct al_query_out out = {.chunk = cuts_the_file, .ud = &w};
    (void)state;
    query_world_open(
        &w, query_dataset("CREATE TABLE data(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                          "FROM n WHERE i < 5000) INSERT INTO data SELECT hex(randomblob(100)) FROM n"));
    w.q.format = AL_QUERY_CSV;
    w.q.sql = AL_STR("SELECT a FROM data");
    assert_int_equal(al_query_run(&w.q, &out, NULL, &w.err), -1);
    assert_int_equal(w.err.code, AL_QUERY_ERROR);
    assert_non_null(strstr(w.err.msg, "damaged"));
    query_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_result_is_text_and_value, setup, teardown),
        cmocka_unit_test_setup_teardown(large_integers_blobs_and_long_cells_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_beyond_the_maximum_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(parameters_are_bound, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_say_where_and_what_is_near, setup, teardown),
        cmocka_unit_test_setup_teardown(several_datasets_are_joined_under_their_aliases, setup, teardown),
        cmocka_unit_test_setup_teardown(files_are_written_as_their_formats_want, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cell_of_sixteen_mebibytes_streams, setup, teardown),
        cmocka_unit_test(a_file_that_shrinks_while_it_is_read_is_an_error),
        cmocka_unit_test_setup_teardown(the_time_of_a_slow_reader_is_not_the_querys, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reader_that_goes_ends_the_query, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
