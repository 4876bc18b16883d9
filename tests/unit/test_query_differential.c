/*
 * Generated SELECTs give the same rows through the guard as on a plain connection. ALISIO_QUERY_ROUNDS: how
 * many; ALISIO_QUERY_DUMP: a file that gets the dataset's statements, then each SELECT and its rows, for
 * another SQLite.
 */
#include "test.h"

#include "query_world.h"

#include "base/mem.h"
#include "base/text.h"

#include <sqlite3.h>
#include <stdio.h>

static const char fixture[] =
    "CREATE TABLE data(id, a, b, r, s, d, j);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) INSERT INTO data SELECT i, "
    "(i * 37) % 23 - 5,"
    " CASE WHEN i % 4 = 0 THEN NULL ELSE (i * 11) % 9 END, ((i * 71) % 101) / 4.0,"
    " CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN 'alpha' WHEN 2 THEN 'Beta' WHEN 3 THEN 'gamma ray' WHEN 4 THEN "
    "'äöü' WHEN 5 THEN"
    " 'alpha' ELSE 'z' || (i % 3) END, CASE WHEN i % 9 = 0 THEN NULL ELSE date('2024-01-01', '+' || (i * 17 "
    "% 400) || ' days') END,"
    " json_object('n', i % 5, 'k', char(97 + i % 4), 'l', json_array(i, i + 1)) FROM n;"
    "CREATE TABLE u(k, v, s); INSERT INTO u VALUES (1, 1.5, 'alpha'), (2, NULL, 'Beta'), (3, 4, NULL), (3, "
    "-2.25, 'alpha'), (NULL, "
    "7, 'x'), (8, 0, 'gamma ray')";

struct maker {
    uint64_t seed;
    struct al_buf sql;
    int depth;
};

static unsigned pick(struct maker *m, unsigned n)
{
    m->seed ^= m->seed << 13;
    m->seed ^= m->seed >> 7;
    m->seed ^= m->seed << 17;
    return (unsigned)((m->seed >> 11) % n);
}

static void say(struct maker *m, const char *z)
{
    al_buf_adds(&m->sql, z);
}

static void one_of(struct maker *m, const char *const *list, unsigned n)
{
    say(m, list[pick(m, n)]);
}
#define ONE_OF(m, ...)                                              \
    do {                                                            \
        static const char *const list_[] = {__VA_ARGS__};           \
        one_of(m, list_, (unsigned)(sizeof list_ / sizeof *list_)); \
    } while (0)

static void number(struct maker *m);
static void text(struct maker *m);
static void condition(struct maker *m);

/* What is written with # for a number, @ for a text, ? for a condition. */
static void shape(struct maker *m, const char *z)
{
    for (; *z; z++) {
        if (*z == '#')
            number(m);
        else if (*z == '@')
            text(m);
        else if (*z == '?')
            condition(m);
        else
            al_buf_addc(&m->sql, *z);
    }
}
#define SHAPE(m, ...)                                                             \
    do {                                                                          \
        static const char *const shapes_[] = {__VA_ARGS__};                       \
        shape(m, shapes_[pick(m, (unsigned)(sizeof shapes_ / sizeof *shapes_))]); \
    } while (0)

static void number(struct maker *m)
{
    if (m->depth++ > 3 || pick(m, 3) == 0)
        ONE_OF(m, "t.a", "t.b", "t.r", "t.id", "t.a", "3", "0", "-1", "2.5", "NULL", "1e3");
    else
        SHAPE(m, "(# + #)", "(# - #)", "(# * #)", "(# / #)", "(# % 7)", "-(#)", "abs(#)", "round(#, 1)",
              "coalesce(#, 4)", "nullif(#, 3)", "CASE WHEN ? THEN # ELSE # END", "length(@)", "instr(@, 'a')",
              "CAST(# AS INTEGER)", "max(#, #)", "min(#, #, 5)", "iif(?, #, #)", "json_extract(t.j, '$.n')",
              "json_array_length(t.j, '$.l')", "(SELECT max(u.k) FROM u WHERE u.k < t.a)",
              "(SELECT count(*) FROM u WHERE u.s = t.s AND ?)", "(? AND ?)",
              "CAST(strftime('%m', t.d) AS INTEGER)", "(julianday(t.d) - julianday('2024-01-01'))",
              "(t.id << 2)", "sign(#)", "unicode(@)", "(# IS NULL)", "floor(#)");
    m->depth--;
}

static void text(struct maker *m)
{
    if (m->depth++ > 3 || pick(m, 3) == 0)
        ONE_OF(m, "t.s", "t.d", "t.s", "'alpha'", "'b'", "NULL", "'2024-06-01'");
    else
        SHAPE(m, "upper(@)", "lower(@)", "substr(@, 2, 3)", "(@ || '-' || @)", "coalesce(@, 'none')",
              "trim(@)", "typeof(#)", "replace(@, 'a', 'e')", "json_extract(t.j, '$.k')",
              "date(t.d, '+1 month')", "strftime('%Y-%m', t.d)", "printf('%s/%d', @, t.id)",
              "CASE WHEN ? THEN @ ELSE @ END", "nullif(@, 'alpha')", "hex(@)",
              "(SELECT min(u.s) FROM u WHERE u.k = t.b)", "quote(@)", "substr(@, -2)");
    m->depth--;
}

static void condition(struct maker *m)
{
    if (m->depth++ > 3)
        ONE_OF(m, "t.a > 3", "t.s IS NULL", "t.b = 4", "1");
    else
        SHAPE(m, "# < #", "# >= #", "# = #", "# <> #", "# BETWEEN # AND #", "# IN (1, 3, #)", "# IS NOT NULL",
              "@ = @", "@ < @", "@ LIKE '%a%'", "@ GLOB 'a*'", "@ IN ('alpha', 'Beta')", "(? AND ?)",
              "(? OR ?)", "NOT (?)", "EXISTS (SELECT 1 FROM u WHERE u.k = t.b)", "# IN (SELECT k FROM u)",
              "# NOT IN (SELECT k FROM u WHERE k > 1)", "@ IS @", "t.d > '2024-05-01'");
    m->depth--;
}

static void aggregate(struct maker *m)
{
    SHAPE(m, "count(*)", "count(#)", "count(DISTINCT @)", "sum(#)", "avg(#)", "total(#)", "min(#)", "max(#)",
          "min(@)", "max(@)", "group_concat(@, ',')", "sum(#) FILTER (WHERE ?)", "json_group_array(#)",
          "median(t.a)", "max(# , 1) + count(*)");
}

static void source(struct maker *m)
{
    SHAPE(m, " FROM data t", " FROM data t", " FROM data t JOIN u ON u.k = t.b",
          " FROM data t LEFT JOIN u ON u.k = t.a AND ?", " FROM data t, u",
          " FROM (SELECT * FROM data t WHERE ?) t", " FROM data t JOIN json_each(t.j, '$.l') e",
          " FROM data_values t", " FROM data t LEFT JOIN u USING (s)");
    if (pick(m, 2))
        shape(m, " WHERE ?");
}

static void statement(struct maker *m)
{
    al_buf_clear(&m->sql);
    m->depth = 0;
    switch (pick(m, 6)) {
    case 0:
        shape(m, "SELECT @ AS g, ");
        aggregate(m);
        say(m, ", ");
        aggregate(m);
        source(m);
        say(m, " GROUP BY 1");
        if (pick(m, 2))
            say(m, " HAVING count(*) > 1");
        say(m, " ORDER BY 1, 2, 3");
        break;
    case 1:
        shape(m, "SELECT t.id, row_number() OVER (PARTITION BY @ ORDER BY #, t.id) AS n, sum(#) OVER (ORDER "
                 "BY t.id ROWS 3 "
                 "PRECEDING) AS m, lag(@) OVER (ORDER BY #, t.id) AS l FROM data t ORDER BY t.id");
        break;
    case 2:
        shape(m, "WITH c AS (SELECT # AS x, @ AS y, t.id AS id FROM data t WHERE ?) SELECT x, y, count(*) "
                 "FROM c GROUP BY x, y ORDER "
                 "BY 1, 2 LIMIT 20");
        break;
    case 3:
        shape(m, "SELECT # FROM data t WHERE ? UNION SELECT # FROM data t WHERE ? EXCEPT SELECT k FROM u "
                 "ORDER BY 1");
        break;
    case 4:
        say(m, "SELECT ");
        aggregate(m);
        say(m, ", ");
        aggregate(m);
        source(m);
        break;
    default:
        shape(m, pick(m, 2) ? "SELECT DISTINCT #, @" : "SELECT #, @, ?");
        source(m);
        ONE_OF(m, "", " ORDER BY 1, 2", " ORDER BY 2 DESC, 1 LIMIT 7", " LIMIT 5 OFFSET 3");
    }
    al_buf_addc(&m->sql, 0);
    assert_false(al_buf_failed(&m->sql));
}

/* As the JSON format of a query writes it. */
static int plainly(sqlite3 *db, const char *sql, struct al_buf *out)
{
    sqlite3_stmt *stmt = NULL;
    int rc, n = 0;
    struct al_jw w;
    al_buf_clear(out);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return -1;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        al_buf_adds(out, n++ > 0 ? ",\n[" : "\n[");
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            if (i > 0)
                al_buf_addc(out, ',');
            al_jw_init(&w, out);
            int type = sqlite3_column_type(stmt, i);
            if (type == SQLITE_INTEGER)
                al_jw_int(&w, sqlite3_column_int64(stmt, i));
            else if (type == SQLITE_FLOAT)
                al_jw_double(&w, sqlite3_column_double(stmt, i));
            else if (type == SQLITE_NULL)
                al_jw_null(&w);
            else
                al_jw_str(&w, (struct al_str){(const char *)sqlite3_column_text(stmt, i),
                                              (size_t)sqlite3_column_bytes(stmt, i)});
        }
        al_buf_addc(out, ']');
    }
    sqlite3_finalize(stmt);
    return rc == SQLITE_DONE ? 0 : -1;
}

static void the_guard_changes_no_answer(void **state)
{
    (void)state;
    struct query_world w;
    query_world_open(&w, query_dataset("CREATE VIEW data_values AS SELECT * FROM data"));
    query_world_close(&w);
    autobuf struct al_buf all = AL_BUF_INIT(1u << 16), plain = AL_BUF_INIT(64u << 20);
    al_buf_addf(&all, "%s;CREATE VIEW data_values AS SELECT * FROM data", fixture);
    al_buf_addc(&all, 0);
    query_world_open(&w, query_dataset(all.p));
    w.q.format = AL_QUERY_JSON;
    w.q.timeout_ms = 0;
    sqlite3 *db = NULL;
    char name[32];
    snprintf(name, sizeof name, "fd:%d", w.q.datasets[0].fd);
    assert_int_equal(sqlite3_open_v2(name, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    struct al_err err = {0};
    assert_int_equal(al_query_functions(db, &err), 0);
    const char *rounds = getenv("ALISIO_QUERY_ROUNDS"), *dump = getenv("ALISIO_QUERY_DUMP");
    FILE *f = dump ? fopen(dump, "w") : NULL;
    if (f)
        fprintf(f, "%s\n", all.p);
    struct maker m = {.seed = 88172645463325252u, .sql = AL_BUF_INIT(1u << 16)};
    int64_t n = 2000;
    int failed = 0;
    if (rounds)
        assert_true(al_parse_int(al_str_of(rounds), 1, 10000000, &n));
    for (int i = 0; i < n; i++) {
        statement(&m);
        int r = plainly(db, m.sql.p, &plain);
        int g = ask(&w, m.sql.p);
        if ((r < 0) != (g < 0))
            fail_msg("%s: plainly %s, guarded %s %s", m.sql.p, r < 0 ? sqlite3_errmsg(db) : "fine",
                     g < 0 ? w.err.msg : "fine", w.err.hint);
        failed += r < 0;
        if (r < 0)
            continue;
        ptrdiff_t at = al_str_find(al_buf_str(&w.bytes), AL_STR("],\"rows\":["));
        assert_true(at > 0);
        struct al_str rows = {w.bytes.p + at + 10, w.bytes.n - (size_t)at - 10 - 4};
        if (!al_str_eq(rows, al_buf_str(&plain)))
            fail_msg("%s\nguarded: %.*s\nplainly: %.*s", m.sql.p, AL_FMT(rows), AL_FMT(al_buf_str(&plain)));
        if (f)
            fprintf(f, "%s\n[%.*s]\n%c\n", m.sql.p, AL_FMT(rows), 1);
    }
    if (f)
        fclose(f);
    /* What neither answers must not be what is tested. */
    assert_true(failed < n / 20);
    sqlite3_close(db);
    al_buf_free(&m.sql);
    query_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_guard_changes_no_answer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
