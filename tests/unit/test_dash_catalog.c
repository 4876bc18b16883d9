#include "test.h"

#include "query_world.h"

#include "dashboard/dashboard_int.h"
#include "dataset/dataset.h"
#include "db/fdvfs.h"
#include "table/table.h"

#include <sqlite3.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct world {
    struct query_world q;
    sqlite3 *db;
    struct al_arena arena;
    struct al_dash_catalog c;
    struct al_profile p;
    struct al_err err;
};

/* A dataset as the ingest makes it, of a CSV (or JSON) text. */
static int ingest(const char *name, const char *text)
{
    struct al_err err = {0};
    int in = memfd_create("file", MFD_CLOEXEC), out = memfd_create("dataset", MFD_CLOEXEC);
    assert_int_equal(write(in, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(lseek(in, 0, SEEK_SET), 0);
    char path[32], sha256[65];
    snprintf(path, sizeof path, "fd:%d", out);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "alfd"),
                     SQLITE_OK);
    struct al_dataset_limits limits = {.max_rows = 100000, .stats_bytes = 8 << 20};
    struct al_table_opts opts = {.max_bytes = 64 << 20};
    struct al_table_found found = {0};
    struct al_builder *b = NULL;
    assert_int_equal(al_builder_new(db, &limits, &b, &err), 0);
    if (al_table_read(in, al_str_of(name), &opts, al_builder_sink(b, NULL, NULL), &found, sha256, &err) < 0)
        fail_msg("%s", err.msg);
    struct al_dataset_source src = {
        .name = al_str_of(name), .sha256 = sha256, .found = &found, .options_json = AL_STR("{}")};
    if (al_builder_finish(b, &src, &err) < 0)
        fail_msg("%s", err.msg);
    al_builder_free(b);
    sqlite3_close(db);
    close(in);
    return out;
}

static void open_fd(struct world *w, int fd)
{
    *w = (struct world){.arena = AL_ARENA_INIT(AL_DASH_ARENA)};
    query_world_open(&w->q, fd);
    if (al_query_open(&w->q.q, &w->db, &w->err) < 0)
        fail_msg("%s", w->err.msg);
}

static void done(struct world *w)
{
    sqlite3_close(w->db);
    al_arena_free(&w->arena);
    query_world_close(&w->q);
}

static int read_sheet(struct world *w, const char *sheet)
{
    return al_dash_catalog_read(w->db, al_str_of(sheet), &w->arena, &w->c, &w->err);
}

static void must_profile(struct world *w)
{
    if (read_sheet(w, "") < 0 || al_profile(&w->c, &w->arena, &w->p, &w->err) < 0)
        fail_msg("%s", w->err.msg);
}

static struct al_dash_column *column(struct world *w, const char *name)
{
    for (size_t i = 0; i < w->c.n; i++)
        if (al_str_is(w->c.columns[i].name, name))
            return &w->c.columns[i];
    fail_msg("no column %s", name);
    return NULL;
}

static void begin(struct world *w, const char *file, const char *text)
{
    query_world_init();
    open_fd(w, ingest(file, text));
    must_profile(w);
}

static void assert_role(struct world *w, const char *name, enum al_dash_role role)
{
    if (column(w, name)->role != role)
        fail_msg("%s: role %d, expected %d", name, (int)column(w, name)->role, (int)role);
}

static void assert_adds(struct world *w, const char *name, enum al_dash_adds adds)
{
    assert_role(w, name, AL_ROLE_MEASURE);
    if (column(w, name)->adds != adds)
        fail_msg("%s: adds %d, expected %d", name, (int)column(w, name)->adds, (int)adds);
}

/* --- what is read --- */

static void statistics_are_read_from_the_datasets_own_tables(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "shop.csv",
          "Region,Sales,Day (Día)\nNorth,1.50,2024-01-05\nSouth,2.25,2024-03-01\nNorth,,2024-02-01\n");
    assert_int_equal(w.c.rows, 3);
    assert_true(al_str_is(w.c.source, "shop.csv"));
    assert_true(al_str_is(w.c.view, "data_values"));
    struct al_dash_column *sales = column(&w, "sales"), *day = &w.c.columns[2];
    assert_int_equal(sales->nulls, 1);
    assert_int_equal(sales->scale, 2);
    assert_true(sales->has_range && sales->min == 1.5 && sales->max == 2.25);
    assert_false(sales->integers);
    assert_string_equal(day->first, "2024-01-05");
    assert_string_equal(day->last, "2024-03-01");
    assert_true(al_str_is(day->label, "Day (Día)"));
    assert_true(al_str_is(column(&w, "region")->top[0], "North"));
    assert_int_equal(column(&w, "region")->top_count[0], 2);
    done(&w);
}

static void converted_columns_have_the_ranges_of_their_values(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "x.csv",
          "when,amount,growth\n31/12/2023,\"$ 1,200.50\",12 %\n01/02/2024,$ 90.00,7 %\n15/01/2024,$ 5.25,3 "
          "%\n");
    struct al_dash_column *when = column(&w, "when"), *amount = column(&w, "amount"),
                          *growth = column(&w, "growth");
    assert_string_equal(when->first, "2023-12-31");
    assert_string_equal(when->last, "2024-02-01");
    assert_int_equal(when->time, AL_TIME_DATE);
    assert_true(amount->has_range && amount->min == 5.25 && amount->max == 1200.5);
    assert_adds(&w, "amount", AL_ADDS_ALWAYS);
    assert_adds(&w, "growth", AL_ADDS_NEVER);
    assert_true(growth->unit_percent && !growth->percent);
    done(&w);
}

static void reals_without_fractions_are_integers(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "x.csv", "year,survived,price\n1990.0,1.0,2.0\n1991.0,0.0,2.5\n1992.0,,4.0\n1993.0,1.0,3.0\n");
    assert_true(column(&w, "year")->integers);
    assert_int_equal(column(&w, "year")->time, AL_TIME_YEAR);
    assert_true(column(&w, "survived")->integers);
    assert_adds(&w, "survived", AL_ADDS_NEVER);
    assert_true(column(&w, "survived")->percent);
    assert_false(column(&w, "price")->integers);
    done(&w);
}

static void numbers_with_a_few_texts_between_are_numbers(void **state)
{
    (void)state;
    struct world w;
    char text[4096] = "price,kind\n";
    for (int i = 0; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s,k%d\n",
                 i % 10 == 3 ? "-"
                 : i % 2     ? "7.25"
                             : "9.5",
                 i % 4);
    begin(&w, "x.csv", text);
    assert_int_equal(column(&w, "price")->text_fallbacks, 4);
    assert_adds(&w, "price", AL_ADDS_NEVER);
    done(&w);
}

static void a_sheet_is_found_by_name_or_table_and_the_first_with_rows_is_taken(void **state)
{
    (void)state;
    struct world w;
    query_world_init();
    open_fd(&w, query_dataset(
                    "INSERT INTO _alisio_sheets VALUES (2, 'Sales 2024', 's_sales', 3, 1, NULL);"
                    "ALTER TABLE _alisio_columns ADD COLUMN nulls; ALTER TABLE _alisio_columns ADD COLUMN "
                    "distinct_count;"
                    "ALTER TABLE _alisio_columns ADD COLUMN distinct_exact; ALTER TABLE _alisio_columns ADD "
                    "COLUMN min;"
                    "ALTER TABLE _alisio_columns ADD COLUMN max; ALTER TABLE _alisio_columns ADD COLUMN mean;"
                    "ALTER TABLE _alisio_columns ADD COLUMN text_fallbacks; ALTER TABLE _alisio_columns ADD "
                    "COLUMN parsed_nulls;"
                    "ALTER TABLE _alisio_columns ADD COLUMN max_length; ALTER TABLE _alisio_columns ADD "
                    "COLUMN min_length;"
                    "ALTER TABLE _alisio_columns ADD COLUMN top_values; CREATE TABLE data(a); CREATE VIEW "
                    "data_values AS SELECT * FROM data;"
                    "CREATE TABLE s_sales(b); INSERT INTO s_sales VALUES(1),(2),(3);"));
    assert_int_equal(read_sheet(&w, ""), 0);
    assert_true(al_str_is(w.c.table, "s_sales"));
    assert_int_equal(w.c.n_sheets, 2);
    assert_int_equal(read_sheet(&w, "Sales 2024"), 0);
    assert_int_equal(read_sheet(&w, "s_sales"), 0);
    assert_int_equal(read_sheet(&w, "data"), 0);
    assert_int_equal(al_profile(&w.c, &w.arena, &w.p, &w.err), -1);
    assert_int_equal(w.err.code, AL_NO_USABLE_COLUMNS);
    assert_int_equal(read_sheet(&w, "Nope"), -1);
    assert_int_equal(w.err.code, AL_NOT_FOUND);
    assert_non_null(strstr(w.err.hint, "Sales 2024"));
    done(&w);
}

static void columns_are_found_by_name_label_and_without_accents(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "x.csv", "Año,Unit Price,REGION\n2001,1.5,a\n2002,2.5,b\n2003,3.5,a\n");
    assert_int_equal(al_dash_catalog_find(&w.c, AL_STR("unit_price")), 1);
    assert_int_equal(al_dash_catalog_find(&w.c, AL_STR("Unit Price")), 1);
    assert_int_equal(al_dash_catalog_find(&w.c, AL_STR(" unit PRICE ")), 1);
    assert_int_equal(al_dash_catalog_find(&w.c, AL_STR("ANO")), 0);
    assert_int_equal(al_dash_catalog_find(&w.c, AL_STR("region")), 2);
    assert_int_equal(al_dash_catalog_find(&w.c, AL_STR("price")), -1);
    assert_int_equal(al_dash_catalog_find(&w.c, AL_STR("")), -1);
    done(&w);
}

/* 20,000 names over 990 columns: folded once, the columns' names cost nothing more. */
static void names_that_are_none_are_looked_for_quickly(void **state)
{
    (void)state;
    struct world w;
    autobuf struct al_buf csv = AL_BUF_INIT(4 << 20);
    char name[32];
    for (int i = 0; i < 990; i++) {
        al_buf_addf(&csv, "%sÁrea %d ", i ? "," : "", i);
        for (int k = 0; k < 12; k++)
            al_buf_adds(&csv, "Ünï");
    }
    al_buf_addc(&csv, '\n');
    for (int i = 0; i < 990; i++)
        al_buf_adds(&csv, i ? ",1" : "1");
    al_buf_addc(&csv, '\n');
    al_buf_addc(&csv, '\0');
    begin(&w, "x.csv", csv.p);
    assert_int_equal(w.c.n, 990);
    clock_t start = clock();
    for (int i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "Ñame %d", i);
        assert_int_equal(al_dash_catalog_find(&w.c, al_str_of(name)), -1);
    }
    assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
    done(&w);
}

/* --- a file that lies --- */

#define COLUMNS                                                                                            \
    "CREATE TABLE _alisio_meta(key, value); INSERT INTO _alisio_meta VALUES('source_name', x'00ff');"      \
    "CREATE TABLE _alisio_sheets(ordinal, name, table_name, rows, columns, values_name);"                  \
    "CREATE TABLE _alisio_columns(table_name, ordinal, name, label, inferred_type, nulls, distinct_count," \
    " distinct_exact, min, max, mean, text_fallbacks, parsed_as, parsed_nulls, scale, max_length, "        \
    "min_length, top_values);"

/* 0, or the code that the catalogue or the profile failed with. */
static enum al_code hostile(struct world *w, const char *sql)
{
    query_world_init();
    open_fd(w, query_hostile_dataset(sql));
    int r = read_sheet(w, "");
    if (r == 0)
        r = al_profile(&w->c, &w->arena, &w->p, &w->err);
    return r < 0 ? w->err.code : AL_OK;
}

static void lying_statistics_are_bounded(void **state)
{
    (void)state;
    struct world w;
    enum al_code code =
        hostile(&w, COLUMNS
                "INSERT INTO _alisio_sheets VALUES (1, 'data', 'data', 9223372036854775807, -5, 'data');"
                "CREATE TABLE data(a, b, c, d, e);"
                "INSERT INTO _alisio_columns VALUES"
                "('data', 1, 'a', x'0001', 'integer', -9, 9e99, 'yes', '1e999', 'abc', 'nan', 'x', 'no "
                "such', -1, 99, -4, NULL, 'no json'),"
                "('data', 2, 'b', 7, 'real', 'many', -1, 2, 5, 1, 3, NULL, NULL, NULL, 'x', NULL, NULL, "
                "'{\"value\":1}'),"
                "('data', 3, 'c', NULL, 'date', 0, 5, 1, 'not a date', '2024-13-99T99', NULL, 0, "
                "'dd/mm/yyyy', 0, NULL, 4, 4, '[{\"value\":[1]}]'),"
                "('data', 4, 'd', 'D', 'text', 0, 3, 1, 9e999, -9e999, 0.5, 0, NULL, 0, NULL, 5, 5, "
                "'[{\"value\":\"x\",\"count\":-3},{\"value\":null}]'),"
                "('data', 5, 'e', 'E', 'horse', 0, 3, 1, NULL, NULL, NULL, 0, NULL, 0, -3, 5, 5, '[[[[[[')");
    assert_int_equal(code, AL_OK);
    for (size_t i = 0; i < w.c.n; i++) {
        const struct al_dash_column *c = &w.c.columns[i];
        assert_true(c->nulls <= w.c.rows && c->distinct <= w.c.rows && c->scale >= -1 && c->scale <= 15);
        assert_true(c->min - c->min == 0 && c->max - c->max == 0 && c->mean - c->mean == 0); /* finite */
        assert_true(c->min <= c->max);
    }
    assert_false(column(&w, "a")->has_range || column(&w, "b")->has_range);
    assert_true(al_str_is(column(&w, "e")->type, "text"));
    assert_int_equal(w.c.source.n, 0);
    done(&w);
}

static void names_that_the_values_do_not_have_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "INSERT INTO _alisio_columns(table_name, ordinal, name) VALUES ('data', 1, 'nope')",
        "INSERT INTO _alisio_columns(table_name, ordinal, name) VALUES ('data', 1, 'b'), ('data', 2, 'a')",
        "INSERT INTO _alisio_columns(table_name, ordinal, name) VALUES ('data', 1, 'a'), ('data', 2, 'a')",
        "INSERT INTO _alisio_columns(table_name, ordinal, name) VALUES ('data', 1, '')",
        "INSERT INTO _alisio_columns(table_name, ordinal, name) VALUES ('data', 1, NULL)",
        "INSERT INTO _alisio_columns(table_name, ordinal, name) VALUES ('data', 1, CAST(x'61fe' AS TEXT))",
        "INSERT INTO _alisio_columns(table_name, ordinal, name) VALUES ('data', 1, CAST(x'610062' AS TEXT))",
        "INSERT INTO _alisio_columns(table_name, ordinal, name) VALUES ('data', 1, printf('%.*c', 5000, "
        "'x'))",
        "UPDATE _alisio_sheets SET values_name = 'nope'",
        "UPDATE _alisio_sheets SET table_name = NULL",
        "UPDATE _alisio_sheets SET table_name = CAST(x'64006161' AS TEXT)",
        "DROP TABLE _alisio_columns",
        "DROP TABLE _alisio_sheets",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct world w;
        char sql[4096];
        snprintf(
            sql, sizeof sql,
            "%s INSERT INTO _alisio_sheets VALUES (1, 'data', 'data', 3, 2, 'data'); CREATE TABLE data(a, b);"
            "INSERT INTO data VALUES (1, 2), (3, 4), (5, 6); %s",
            COLUMNS, bad[i]);
        assert_int_equal(hostile(&w, sql), AL_QUERY_ERROR);
        done(&w);
    }
}

static void a_name_is_a_name_whatever_stands_in_it(void **state)
{
    (void)state;
    struct world w;
    assert_int_equal(hostile(&w, COLUMNS
                             "INSERT INTO _alisio_sheets VALUES (1, 'data', 'd\"x;--', 4, 2, 'd\"x;--');"
                             "CREATE TABLE \"d\"\"x;--\"(\"a\"\"); DROP TABLE x;--\", \"b'%s%n\");"
                             "INSERT INTO \"d\"\"x;--\" VALUES ('01/02/2024', 1), ('13/02/2024', 2), "
                             "('14/02/2024', 3), ('15/02/2024', 4);"
                             "INSERT INTO _alisio_columns(table_name, ordinal, name, label, inferred_type, "
                             "parsed_as, min, max, mean, nulls, distinct_count) VALUES"
                             "('d\"x;--', 1, 'a\"); DROP TABLE x;--', '<script>', 'text', 'dd/mm/yyyy', "
                             "NULL, NULL, NULL, 0, 4),"
                             "('d\"x;--', 2, 'b''%s%n', '%s%n%n', 'integer', NULL, 1, 4, 2.5, 0, 4)"),
                     AL_OK);
    assert_int_equal(w.c.n, 2);
    assert_false(*w.c.columns[0].first); /* the values are no ISO dates, whatever parsedAs says */
    done(&w);
}

static void a_thousand_columns_with_huge_labels_are_read_in_bounds(void **state)
{
    (void)state;
    struct world w;
    struct al_buf sql = AL_BUF_INIT(1 << 20);
    al_buf_adds(
        &sql, COLUMNS
        "INSERT INTO _alisio_sheets VALUES (1, 'data', 'data', 50, 1000, 'data'); CREATE TABLE data(");
    for (int i = 0; i < 1000; i++)
        al_buf_addf(&sql, "%sc%d", i ? "," : "", i);
    al_buf_adds(&sql,
                "); INSERT INTO data(c0) VALUES (1);"
                "WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 1200)"
                "INSERT INTO _alisio_columns SELECT 'data', i, 'c' || i, printf('%.*c', 3000, 'L') || ' ' "
                "|| printf('%.*c', 300, '_a'),"
                " 'real', 0, 50, 1, 1, 9, 4, 0, CASE i % 2 WHEN 0 THEN '1,234.56' END, 0, NULL, 9, 9,"
                " '[{\"value\":\"' || printf('%.*c', 900, 'v') || '\",\"count\":1}]' FROM n WHERE i < 1000");
    al_buf_addc(&sql, 0);
    assert_false(al_buf_failed(&sql));
    assert_int_equal(hostile(&w, sql.p), AL_OK);
    assert_int_equal(w.c.n, 1000);
    for (size_t i = 0; i < w.c.n; i++)
        assert_true(w.c.columns[i].label.n <= 4096 && w.c.columns[i].display.n <= 200 &&
                    w.c.columns[i].top[0].n <= 300);
    al_buf_free(&sql);
    done(&w);
}

static void too_little_memory_is_an_error(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "x.csv", "region,sales\na,1.5\nb,2.5\n");
    for (size_t max = 0; max < 700000; max += 1 + max / 3) {
        struct al_arena small = AL_ARENA_INIT(max);
        struct al_dash_catalog c;
        struct al_profile p;
        struct al_err err = {0};
        if (al_dash_catalog_read(w.db, AL_STR(""), &small, &c, &err) == 0 &&
            al_profile(&c, &small, &p, &err) == 0)
            assert_true(p.n_measures == 1);
        else
            assert_int_equal(err.code, AL_QUERY_LIMIT);
        al_arena_free(&small);
    }
    done(&w);
}

/* --- what columns are, by real statistics --- */

static char *rows(const char *head, int n, void (*row)(char *to, size_t size, int i))
{
    static char text[400000];
    snprintf(text, sizeof text, "%s\n", head);
    for (int i = 0; i < n; i++)
        row(text + strlen(text), sizeof text - strlen(text), i);
    return text;
}

static void shop_row(char *to, size_t size, int i)
{
    static const char *const days[] = {"Mon", "Tue", "Wed", "Thu", "Fri"};
    static const char *const ages[] = {"18-24", "25-34", "35-44", "65+"};
    static const char *const months[] = {"ene", "feb", "mar", "abr"};
    snprintf(to, size,
             "ORD-%05d,2024-%02d-%02d,%s,%s,%s,%d,%d.%02d,%d,%d,0.%d5,\"{\"\"a\"\":%d}\",https://x.example/"
             "%d,%d\n",
             10000 + i, 1 + i % 12, 1 + i % 28, days[i % 5], ages[i % 4], months[i % 4], i % 3 + 1,
             10 + i % 90, i % 100, i % 7 + 1, i % 2, i % 9, i, i, 41000 + i * 37 % 997);
}

static void a_shops_columns_are_what_they_are(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "orders.csv",
          rows("Order ID,Order Date,Weekday,Age "
               "Group,Mes,Store,Sales,Quantity,Gift,Discount,Payload,Link,Postal Code",
               300, shop_row));
    assert_role(&w, "order_id", AL_ROLE_IDENTIFIER);
    assert_role(&w, "order_date", AL_ROLE_TIME);
    assert_int_equal(column(&w, "weekday")->natural, AL_NATURAL_WEEKDAY);
    assert_int_equal(column(&w, "age_group")->natural, AL_NATURAL_RANGE);
    assert_int_equal(column(&w, "mes")->natural, AL_NATURAL_MONTH);
    assert_role(&w, "store", AL_ROLE_DIMENSION);
    assert_int_equal(column(&w, "store")->natural, AL_NATURAL_NUMBER);
    assert_adds(&w, "sales", AL_ADDS_ALWAYS);
    assert_adds(&w, "quantity", AL_ADDS_ALWAYS);
    assert_role(&w, "gift", AL_ROLE_BOOLEAN);
    assert_adds(&w, "discount", AL_ADDS_NEVER);
    assert_true(column(&w, "discount")->percent);
    assert_role(&w, "payload", AL_ROLE_NONE);
    assert_role(&w, "link", AL_ROLE_NONE);
    assert_role(&w, "postal_code", AL_ROLE_IDENTIFIER);
    assert_true(w.p.n_measures == 3 && al_str_is(w.c.columns[w.p.measures[0]].name, "sales"));
    assert_true(w.p.n_times == 1);
    for (size_t i = 0; i < w.p.n_dimensions; i++)
        assert_int_equal(w.c.columns[w.p.dimensions[i]].role, AL_ROLE_DIMENSION);
    done(&w);
}

static void panel_row(char *to, size_t size, int i)
{
    snprintf(to, size, "c%d,%d,%d,%d,%d,%d,%d,%d\n", i % 20, 1990 + i / 20, 1000 + i * 7,
             i % 20 * 1000 + 5000, i * 3 % 101, i * 31 % 997, i % 5, i * 9);
}

static void what_stands_beside_a_column_tells_of_it(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "population.csv",
          rows("country,year,value,budget,new_cases,other,total_cases,rural", 400, panel_row));
    assert_int_equal(column(&w, "year")->time, AL_TIME_YEAR);
    assert_adds(&w, "value", AL_ADDS_ACROSS); /* of a file called population */
    assert_adds(&w, "budget", AL_ADDS_NEVER); /* each country's, in each of its rows */
    assert_adds(&w, "new_cases", AL_ADDS_ALWAYS);
    assert_adds(&w, "other", AL_ADDS_ALWAYS);       /* as its neighbour */
    assert_adds(&w, "total_cases", AL_ADDS_ACROSS); /* so far */
    assert_adds(&w, "rural", AL_ADDS_ACROSS);
    done(&w);
}

static void edge_row(char *to, size_t size, int i)
{
    snprintf(to, size, "%d,%d,name %d,%d\n", i % 77, i * 5 % 76, i % 300, i % 31 + 1);
}

static void nodes_of_a_graph_are_no_measures_and_repeated_names_group_where_nothing_else_does(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "x.csv", rows("source,target,who_it_is,weight", 1000, edge_row));
    assert_role(&w, "source", AL_ROLE_IDENTIFIER);
    assert_role(&w, "target", AL_ROLE_IDENTIFIER);
    assert_role(&w, "who_it_is", AL_ROLE_DIMENSION);
    assert_int_equal(w.p.n_dimensions, 1);
    done(&w);
}

static void flag_row(char *to, size_t size, int i)
{
    snprintf(to, size, "%d,%d,%d,%d,%d\n", i % 2, i % 3 == 0, i % 5 == 0, i % 50 == 0, i % 4 == 0);
}

static void a_table_of_flags_is_measured_by_their_shares(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "x.csv", rows("tree,lake,snow,moon,barn", 300, flag_row));
    assert_adds(&w, "tree", AL_ADDS_NEVER);
    assert_true(column(&w, "tree")->percent);
    assert_role(&w, "moon", AL_ROLE_BOOLEAN); /* so rare that it says little */
    assert_int_equal(w.p.n_dimensions, 1);
    done(&w);
}

static void nothing_row(char *to, size_t size, int i)
{
    snprintf(to, size, "%d,same,,name %d,%s\n", i + 1, i, i ? "" : "x");
}

static void a_file_without_usable_columns_is_told_what_its_columns_are(void **state)
{
    (void)state;
    struct world w;
    query_world_init();
    open_fd(&w, ingest("x.csv", rows("id,constant,void,label,rare", 300, nothing_row)));
    assert_int_equal(read_sheet(&w, ""), 0);
    assert_int_equal(al_profile(&w.c, &w.arena, &w.p, &w.err), -1);
    assert_int_equal(w.err.code, AL_NO_USABLE_COLUMNS);
    assert_non_null(strstr(w.err.msg, "\"ID\" is an identifier"));
    assert_non_null(strstr(w.err.msg, "\"Constant\" is one value in all rows"));
    assert_non_null(strstr(w.err.msg, "\"Void\" is empty"));
    assert_non_null(strstr(w.err.msg, "\"Rare\" is nearly empty"));
    assert_non_null(strstr(w.err.hint, "python_run"));
    done(&w);
}

static void names_that_would_look_alike_are_told_apart(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "x.csv", "price,Price,PRICE\n1.5,2.5,3.5\n2.5,3.5,4.5\n");
    for (size_t i = 0; i < w.c.n; i++)
        for (size_t k = 0; k < i; k++)
            assert_false(al_str_eq(w.c.columns[i].display, w.c.columns[k].display));
    done(&w);
}

static void years_in_texts_are_a_time(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "x.json",
          "[{\"year\":\"1565\",\"wheat\":41},{\"year\":\"1570\",\"wheat\":45.5},{\"year\":\"1575\",\"wheat\":"
          "42}]");
    assert_int_equal(column(&w, "year")->time, AL_TIME_YEAR);
    assert_true(column(&w, "year")->has_range && column(&w, "year")->min == 1565 &&
                column(&w, "year")->max == 1575);
    done(&w);
}

static void few_sales_that_count_on_are_sales(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "x.csv", "region,sales\na,1\nb,2\nc,3\nd,4\ne,5\nf,6\n");
    assert_adds(&w, "sales", AL_ADDS_ALWAYS);
    done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_read_from_the_datasets_own_tables),
        cmocka_unit_test(converted_columns_have_the_ranges_of_their_values),
        cmocka_unit_test(reals_without_fractions_are_integers),
        cmocka_unit_test(numbers_with_a_few_texts_between_are_numbers),
        cmocka_unit_test(a_sheet_is_found_by_name_or_table_and_the_first_with_rows_is_taken),
        cmocka_unit_test(columns_are_found_by_name_label_and_without_accents),
        cmocka_unit_test(names_that_are_none_are_looked_for_quickly),
        cmocka_unit_test(lying_statistics_are_bounded),
        cmocka_unit_test(names_that_the_values_do_not_have_are_refused),
        cmocka_unit_test(a_name_is_a_name_whatever_stands_in_it),
        cmocka_unit_test(a_thousand_columns_with_huge_labels_are_read_in_bounds),
        cmocka_unit_test(too_little_memory_is_an_error),
        cmocka_unit_test(a_shops_columns_are_what_they_are),
        cmocka_unit_test(what_stands_beside_a_column_tells_of_it),
        cmocka_unit_test(nodes_of_a_graph_are_no_measures_and_repeated_names_group_where_nothing_else_does),
        cmocka_unit_test(a_table_of_flags_is_measured_by_their_shares),
        cmocka_unit_test(a_file_without_usable_columns_is_told_what_its_columns_are),
        cmocka_unit_test(names_that_would_look_alike_are_told_apart),
        cmocka_unit_test(years_in_texts_are_a_time),
        cmocka_unit_test(few_sales_that_count_on_are_sales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
