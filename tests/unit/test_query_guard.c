#include "test.h"

#include "query_world.h"

#include "base/mem.h"
#include "query/query_int.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int setup(void **state)
{
    struct query_world *w = al_xcalloc(1, sizeof *w);
    query_world_open(
        w, query_dataset("CREATE TABLE data(a, b, release, \"analyze\", \"order\");"
                         "INSERT INTO data VALUES (1, 'x', 'r', 's', 't'), (2, 'y', NULL, NULL, NULL);"
                         "CREATE VIEW v AS SELECT a FROM data"));
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    query_world_close(*state);
    free(*state);
    return 0;
}

static void query_only_reads(void **state)
{
    static const struct {
        const char *sql, *part;
    } cases[] = {
        {"ATTACH '/etc/passwd' AS x", "this is an ATTACH statement"},
        {"DETACH main", "this is a DETACH statement"},
        {"PRAGMA writable_schema=1", "this is a PRAGMA statement"},
        {"PRAGMA table_info(data)", "PRAGMA"},
        {"INSERT INTO data VALUES (1,2,3,4,5)", "this is an INSERT statement"},
        {"REPLACE INTO data VALUES (1,2,3,4,5)", "this is a REPLACE statement"},
        {"UPDATE data SET a = 1", "this is an UPDATE statement"},
        {"DELETE FROM data", "this is a DELETE statement"},
        {"WITH x AS (SELECT 1) DELETE FROM data", "this is a DELETE statement"},
        {"INSERT INTO data(a) VALUES (1) RETURNING a", "INSERT"},
        {"CREATE TABLE t(a)", "this is a CREATE statement"},
        {"CREATE TEMP TABLE t AS SELECT * FROM data", "this is a CREATE statement"},
        {"CREATE TEMP VIEW t AS SELECT * FROM data", "CREATE"},
        {"CREATE VIRTUAL TABLE t USING fts5(a)", "CREATE"},
        {"DROP TABLE data", "this is a DROP statement"},
        {"ALTER TABLE data RENAME TO x", "this is an ALTER statement"},
        {"VACUUM", "this is a VACUUM statement"},
        {"VACUUM INTO '/tmp/alisio-should-not-be'", "VACUUM"},
        {"REINDEX", "REINDEX"},
        {"ANALYZE", "this is an ANALYZE statement"},
        {"BEGIN", "this is a BEGIN statement"},
        {"COMMIT", "COMMIT"},
        {"ROLLBACK", "ROLLBACK"},
        {"SAVEPOINT a", "SAVEPOINT"},
        {"RELEASE a", "RELEASE"},
        {"EXPLAIN DELETE FROM data", "DELETE"},
        {"EXPLAIN QUERY PLAN DELETE FROM data", "DELETE"},
        {"EXPLAIN SELECT 1", "EXPLAIN QUERY PLAN"},
        {"SELECT load_extension('x')", "load_extension() is not available"},
        {"SELECT fts3_tokenizer('x')", "fts3_tokenizer() is not available"},
        {"SELECT readfile('/etc/passwd')", "readfile() is not available"},
        {"SELECT sqlite_log(1, 'x')", "sqlite_log() is not available"},
        {"SELECT * FROM pragma_table_info('data')", "pragma_table_info is not data"},
        {"SELECT * FROM pragma_database_list", "pragma_database_list is not data"},
        {"SELECT 1 FROM (SELECT 'main' AS name) JOIN pragma_database_list USING (name)", "not data"},
        {"SELECT count(*) FROM (SELECT 'main' AS name) NATURAL JOIN pragma_table_list",
         "pragma_table_list is not data"},
        {"SELECT * FROM (SELECT a FROM data UNION SELECT name FROM pragma_collation_list)", "not data"},
        {"SELECT 1; SELECT 2", "a second statement begins at character 10"},
        {"SELECT 1; -- fine\nDROP TABLE data", "a second statement"},
        {"SELECT 1; /* x */ x", "a second statement"},
        {"", "empty"},
        {" -- nothing\n", "empty"},
        {";", "empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(*state, cases[i].sql, AL_QUERY_REJECTED, cases[i].part);
    assert_int_not_equal(access("/tmp/alisio-should-not-be", F_OK), 0);
    assert_rows(*state, "SELECT count(*) FROM data", "[[2]]");
}

static void reading_in_every_form_is_let_through(void **state)
{
    static const struct {
        const char *sql, *rows;
    } cases[] = {
        {"SELECT release, analyze, \"order\" FROM data WHERE a = 1", "[[\"r\",\"s\",\"t\"]]"},
        {"VALUES (1, 2), (3, 4)", "[[1,2],[3,4]]"},
        {"WITH x AS (SELECT a FROM data) SELECT sum(a) FROM x", "[[3]]"},
        {"SELECT a FROM v -- and that is all", "[[1],[2]]"},
        {"  SELECT 1 ; /* done */ ", "[[1]]"},
        {"SELECT 'ATTACH; DROP TABLE data; PRAGMA'", "[[\"ATTACH; DROP TABLE data; PRAGMA\"]]"},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n",
         "[[1],[2],[3]]"},
        {"SELECT value FROM json_each('[1,2]')", "[[1],[2]]"},
        {"SELECT replace('a', 'a', 'b')", "[[\"b\"]]"},
        {"SELECT name FROM sqlite_schema WHERE type = 'view'", "[[\"v\"]]"},
        {"SELECT name FROM _alisio_sheets", "[[\"data\"]]"},
        {"SELECT row_number() OVER (ORDER BY a DESC) AS n FROM data", "[[1],[2]]"},
        {"SELECT a FROM data UNION SELECT 9 ORDER BY 1", "[[1],[2],[9]]"},
        {"SELECT count(*) FROM data x JOIN data y USING (a)", "[[2]]"},
        {"SELECT EXISTS (SELECT 1 FROM data)", "[[1]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_rows(*state, cases[i].sql, cases[i].rows);
    must(*state, "EXPLAIN QUERY PLAN SELECT * FROM data");
}

/* A new version of SQLite brings new functions: somebody decides about each. */
static void each_function_is_decided_upon(void **state)
{
    static const char *const refused[] = {
        "bm25",
        "changes",
        "fts5",
        "fts5_get_locale",
        "fts5_insttoken",
        "fts5_locale",
        "fts5_source_id",
        "highlight",
        "last_insert_rowid",
        "match",
        "snippet",
        "sqlite_compileoption_get",
        "sqlite_compileoption_used",
        "sqlite_log",
        "sqlite_source_id",
        "total_changes",
    };
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT DISTINCT name FROM pragma_function_list", -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        bool known = al_guard_function_known(name), no = false;
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
            no |= strcmp(refused[i], name) == 0;
        if (known == no)
            fail_msg("%s() is %s", name, known ? "allowed and refused" : "neither allowed nor refused");
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

/* What a file may say of itself is not trusted: each of these is a dataset made to do harm. */
static void a_hostile_file_does_no_harm(void **state)
{
    (void)state;
    struct query_world w;
    query_world_open(&w, query_empty_dataset(
                             "CREATE TABLE data(a); INSERT INTO data VALUES (1);"
                             "CREATE VIRTUAL TABLE f USING fts5(x);"
                             "CREATE VIEW e AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) "
                             "SELECT i FROM n;"
                             "CREATE VIEW _alisio_columns AS SELECT 'data' table_name, 'a' name, 1 scale, "
                             "'x' parsed_as FROM e;"
                             "CREATE VIEW p AS SELECT * FROM pragma_database_list;"
                             "CREATE VIEW l AS SELECT sqlite_log(1, 'x') y;"
                             "CREATE TRIGGER t AFTER INSERT ON data BEGIN DELETE FROM data; END"));
    w.q.timeout_ms = 200;
    assert_refused(&w, "SELECT * FROM f", AL_QUERY_ERROR, "no such module: fts5");
    assert_refused(&w, "SELECT count(*) FROM e", AL_QUERY_TIMEOUT, "timeoutMs");
    assert_refused(&w, "SELECT * FROM p", AL_QUERY_ERROR, "unsafe use of virtual table");
    assert_refused(&w, "SELECT * FROM l", AL_QUERY_REJECTED, "sqlite_log");
    (void)ask(&w, "SELECT a FROM data");
    query_world_close(&w);
}

/* Each ends in an answer or in an error of ours. */
static void hostile_schemas_end_in_an_answer_or_an_error(void **state)
{
    static const char *const files[] = {
        "PRAGMA encoding='UTF-16le'; CREATE TABLE data(a, b); INSERT INTO data VALUES ('1.234,56', 'ä'), (1, "
        "CAST(x'd800d800' AS TEXT)), ('n/a', x'ff')",
        "PRAGMA encoding='UTF-16be'; CREATE TABLE data(a TEXT PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO "
        "data "
        "VALUES ('1.234,56', 2)",
        "CREATE TABLE data(a, b AS (hex(randomblob(16000000)) || a) , c AS (printf('%900000000d', a)) "
        "STORED); "
        "INSERT INTO data(a) SELECT 1 WHERE 0",
        "CREATE TABLE data(a, b CHECK (length(hex(zeroblob(9000000))) > b), CHECK (a IN (1, 2, 'x')))",
        "CREATE TABLE data(a, b); INSERT INTO data VALUES (CAST(x'31002c0035' AS TEXT), CAST(x'ff80fe00c3' "
        "AS "
        "TEXT)), (9e999, -9e999), (x'00', NULL)",
        "CREATE TABLE data(a, b); CREATE TABLE to_number(a, b); CREATE VIEW median AS SELECT to_number(b) "
        "FROM "
        "data; CREATE VIEW regexp AS SELECT * FROM median",
        "CREATE TABLE data(a, b); CREATE INDEX i ON data(to_number(a)); CREATE INDEX j ON data(b) WHERE a "
        "REGEXP "
        "'(a+)+$'; INSERT INTO data VALUES ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', 1)",
        "CREATE VIEW x1 AS SELECT 1 a; CREATE VIEW x2 AS SELECT * FROM x1, x1 y; CREATE VIEW x3 AS SELECT "
        "x2.* FROM "
        "x2, x2 y; CREATE VIEW x4 AS SELECT x3.* FROM x3, x3 y, x3 z; CREATE VIEW data AS SELECT 1 a, 2 b "
        "FROM x4, "
        "x4 y, x4 z, x4 v",
        "CREATE VIEW data AS WITH RECURSIVE n(a, b) AS (SELECT 'x', 1 UNION ALL SELECT a || a, b FROM n) "
        "SELECT * "
        "FROM n",
        "CREATE TABLE data(\"a\\u001b[2J\", \"b\n\" DEFAULT (randomblob(1000000)), \"\"); INSERT INTO data "
        "DEFAULT VALUES",
        "CREATE TABLE data(a, b); CREATE TRIGGER t INSTEAD OF INSERT ON v BEGIN SELECT 1; END",
    };
    static const char *const statements[] = {
        "SELECT * FROM data",
        "SELECT a, b, sum(a) FROM data GROUP BY b ORDER BY a",
        "SELECT count(DISTINCT a), max(b), typeof(a) FROM data WHERE a > 1 OR b LIKE '%x%'",
        "SELECT x.a FROM data x JOIN data y ON x.a = y.b WHERE x.b IN (1, 2)",
        "SELECT nothing FROM data",
        "SELECT * FROM median",
        "SELECT sql FROM sqlite_schema",
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct query_world w;
        query_world_open(&w, query_hostile_dataset(files[i]));
        w.q.timeout_ms = 100;
        for (size_t k = 0; k < sizeof statements / sizeof *statements; k++)
            if (ask(&w, statements[k]) < 0 && w.err.code != AL_QUERY_ERROR &&
                w.err.code != AL_QUERY_TIMEOUT && w.err.code != AL_QUERY_LIMIT &&
                w.err.code != AL_QUERY_REJECTED)
                fail_msg("%s, %s: %s: %s", files[i], statements[k], al_code_name(w.err.code), w.err.msg);
        query_world_close(&w);
    }
}

static void ten_thousand_tables_are_read_in_time(void **state)
{
    (void)state;
    struct query_world w;
    /* CREATE TABLE looks at all that are there already, each time. */
    query_world_open(
        &w, query_dataset("CREATE TABLE data(a, b); PRAGMA writable_schema = 1;"
                          "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < "
                          "9999) INSERT INTO sqlite_schema SELECT 'table', 't' || i, 't' || i, (SELECT "
                          "rootpage FROM sqlite_schema WHERE name = 'data'), 'CREATE TABLE t' || i || "
                          "'(a' || i || ', b)' FROM n"));
    assert_rows(&w, "SELECT count(*) FROM t9999", "[[0]]");
    assert_refused(&w, "SELECT a9999x FROM t9999", AL_QUERY_ERROR, "a9999");
    assert_refused(&w, "SELECT * FROM t99999", AL_QUERY_ERROR, "no such table");
    query_world_close(&w);
}

static void a_file_that_is_no_dataset_is_an_error(void **state)
{
    (void)state;
    struct query_world w;
    int fd = memfd_create("junk", MFD_CLOEXEC);
    char junk[4096];
    memset(junk, 'x', sizeof junk);
    assert_int_equal(write(fd, junk, sizeof junk), sizeof junk);
    query_world_open(&w, fd);
    assert_refused(&w, "SELECT * FROM data", AL_QUERY_ERROR, "damaged");
    query_world_close(&w);
}

static void each_byte_of_a_file_may_be_wrong(void **state)
{
    (void)state;
    struct query_world w;
    int fd = query_dataset("CREATE TABLE data(a, b); INSERT INTO data SELECT value, 'row ' || value FROM "
                           "json_each('[1,2,3,4,5,6,7,8,9]'); CREATE INDEX i ON data(b)");
    query_world_open(&w, fd);
    off_t size = lseek(fd, 0, SEEK_END);
    w.q.timeout_ms = 500;
    for (off_t at = 0; at < size; at += at < 120 ? 1 : 97) {
        unsigned char was, is;
        assert_int_equal(pread(fd, &was, 1, at), 1);
        is = was ^ 0xff;
        assert_int_equal(pwrite(fd, &is, 1, at), 1);
        (void)ask(&w, "SELECT b, sum(a) FROM data GROUP BY b ORDER BY b");
        assert_int_equal(pwrite(fd, &was, 1, at), 1);
    }
    assert_rows(&w, "SELECT count(*) FROM data", "[[9]]");
    query_world_close(&w);
}

/* Each ends with an error of ours, within the process, inside its memory. */
static void attacks_end_in_a_clear_error(void **state)
{
    static const struct {
        const char *sql;
        enum al_code code;
    } cases[] = {
        {"SELECT printf('%1000000000d', 1)", AL_QUERY_LIMIT},
        {"SELECT length(printf('%.*c', 900000000, 'x'))", AL_QUERY_LIMIT},
        {"SELECT zeroblob(1000000000)", AL_QUERY_LIMIT},
        {"SELECT randomblob(1000000000)", AL_QUERY_LIMIT},
        {"SELECT replace(hex(zeroblob(4000000)), '0', 'xxxxxxxxxx')", AL_QUERY_LIMIT},
        {"SELECT hex(zeroblob(16000000))", AL_QUERY_LIMIT},
        {"SELECT quote(zeroblob(16000000))", AL_QUERY_LIMIT},
        {"WITH RECURSIVE d(x, n) AS (SELECT 'xxxxxxxx', 0 UNION ALL SELECT x || x, n + 1 FROM d) SELECT "
         "max(length(x)) FROM d",
         AL_QUERY_LIMIT},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT group_concat(i || "
         "hex(zeroblob(1000))) FROM n",
         AL_QUERY_TIMEOUT},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
         "json_group_array(hex(zeroblob(1000))) FROM n",
         AL_QUERY_TIMEOUT},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT json_group_object(i, "
         "hex(zeroblob(1000))) FROM n",
         AL_QUERY_TIMEOUT},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT median(i) FROM n",
         AL_QUERY_TIMEOUT},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
         AL_QUERY_TIMEOUT},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT * FROM n WHERE i > 1",
         AL_QUERY_TIMEOUT},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT count(*) FROM n "
         "a, n b, n c, n d, n e, n f",
         AL_QUERY_TIMEOUT},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n ORDER BY i DESC",
         AL_QUERY_TIMEOUT},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n WHERE "
         "(i || 'aaaaaaaaaaaaaaaaaaaaaaaa') LIKE '%a%a%a%a%a%a%b'",
         AL_QUERY_TIMEOUT},
        {"SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' REGEXP '^(a+)+$'", AL_QUERY_ERROR},
        {"SELECT 'x' REGEXP '((((a{1000}){1000}){1000}))'", AL_QUERY_ERROR},
        {"SELECT 'x' REGEXP '('", AL_QUERY_ERROR},
        {"SELECT hex(zeroblob(5000)) REGEXP hex(zeroblob(5000))", AL_QUERY_ERROR},
        {"SELECT json_extract(replace(hex(zeroblob(4000)), '0', '['), '$')", AL_QUERY_ERROR},
        {"SELECT 'a' LIKE replace(hex(zeroblob(4000)), '0', '%')", AL_QUERY_LIMIT},
        {"SELECT unistr(replace(hex(zeroblob(1000000)), '0', '\\u20ac')) || hex(zeroblob(8000000))",
         AL_QUERY_LIMIT},
    };
    struct query_world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        w->q.timeout_ms = cases[i].code == AL_QUERY_TIMEOUT ? 100 : 20000;
        if (cases[i].code == AL_QUERY_TIMEOUT) {
            /* Where memory or spill end it first, that is as good. */
            if (ask(w, cases[i].sql) == 0)
                fail_msg("%s: was not refused", cases[i].sql);
            if (w->err.code != AL_QUERY_TIMEOUT && w->err.code != AL_QUERY_LIMIT)
                fail_msg("%s: %s", cases[i].sql, w->err.msg);
        } else {
            assert_refused(w, cases[i].sql, cases[i].code, "");
        }
    }
    w->q.timeout_ms = 20000;
    assert_rows(w, "SELECT count(*) FROM data", "[[2]]");
}

static void statements_that_are_too_large_name_the_limit(void **state)
{
    autobuf struct al_buf sql = AL_BUF_INIT(1u << 20);
    al_buf_adds(&sql, "SELECT 1");
    for (int i = 0; i < 600; i++)
        al_buf_adds(&sql, " UNION ALL SELECT 1");
    al_buf_addc(&sql, 0);
    assert_refused(*state, sql.p, AL_QUERY_LIMIT, "too many terms");
    al_buf_clear(&sql);
    al_buf_adds(&sql, "SELECT ");
    for (int i = 0; i < 5000; i++)
        al_buf_addc(&sql, '(');
    al_buf_addc(&sql, 0);
    assert_int_equal(ask(*state, sql.p), -1);
    al_buf_clear(&sql);
    al_buf_adds(&sql, "SELECT 1");
    for (int i = 0; i < 2000; i++)
        al_buf_adds(&sql, "+1");
    al_buf_addc(&sql, 0);
    assert_refused(*state, sql.p, AL_QUERY_LIMIT, "maximum depth");
    al_buf_clear(&sql);
    al_buf_adds(&sql, "SELECT '");
    for (int i = 0; i < 11000; i++)
        al_buf_adds(&sql, "0123456789");
    al_buf_adds(&sql, "'");
    al_buf_addc(&sql, 0);
    assert_refused(*state, sql.p, AL_QUERY_LIMIT, "at most 100000");
}

/* Every way out of a query leaves the process with what it had. */
static void sorting_goes_to_the_spill_file(void **state)
{
    struct query_world *w = *state;
    w->q.timeout_ms = 60000;
    assert_rows(w,
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000), s AS "
                "(SELECT (i * 7919) % 1000003 k, i || ' has some text behind it' t FROM n ORDER BY 1) "
                "SELECT count(*), min(k), max(k) FROM s",
                "[[1000000,1,1000002]]");
    assert_true(query_world_spilled() > (off_t)16 << 20);
}

static void a_full_spill_file_is_a_limit_that_is_named(void **state)
{
    struct query_world *w = *state;
    const char *sql =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000), s AS "
        "(SELECT i, hex(randomblob(50)) t FROM n ORDER BY t) SELECT count(*) FROM s";
    w->q.timeout_ms = 60000;
    query_world_spill((uint64_t)1 << 20);
    assert_refused(w, sql, AL_QUERY_LIMIT, "temporary space");
    assert_refused(w, sql, AL_QUERY_LIMIT, "aggregate before ORDER BY");
    query_world_spill(AL_QUERY_SPILL);
    assert_rows(w, sql, "[[200000]]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(query_only_reads, setup, teardown),
        cmocka_unit_test_setup_teardown(reading_in_every_form_is_let_through, setup, teardown),
        cmocka_unit_test(each_function_is_decided_upon),
        cmocka_unit_test_setup_teardown(a_hostile_file_does_no_harm, setup, teardown),
        cmocka_unit_test(hostile_schemas_end_in_an_answer_or_an_error),
        cmocka_unit_test(ten_thousand_tables_are_read_in_time),
        cmocka_unit_test_setup_teardown(a_file_that_is_no_dataset_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(each_byte_of_a_file_may_be_wrong, setup, teardown),
        cmocka_unit_test_setup_teardown(attacks_end_in_a_clear_error, setup, teardown),
        cmocka_unit_test_setup_teardown(statements_that_are_too_large_name_the_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(sorting_goes_to_the_spill_file, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_spill_file_is_a_limit_that_is_named, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
