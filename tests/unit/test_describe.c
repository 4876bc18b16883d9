#include "test.h"

#include "dataset/dataset.h"

#include "base/json.h"
#include "base/mem.h"
#include "db/fdvfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct world {
    int fd;
    sqlite3 *db;
    struct al_err err;
    struct al_arena arena;
    char *text;
    const struct al_json *json;
};

static void open_db(struct world *w, int flags)
{
    char name[32];
    snprintf(name, sizeof name, "fd:%d", w->fd);
    assert_int_equal(sqlite3_open_v2(name, &w->db, flags, NULL), SQLITE_OK);
}

static void run(struct world *w, const char *sql)
{
    char *why = NULL;
    if (sqlite3_exec(w->db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
}

static void put(struct world *w, const struct al_table_sink *s, const char *const *cells, size_t n)
{
    struct al_cell c[8];
    for (size_t i = 0; i < n; i++)
        c[i] = (struct al_cell){al_str_of(cells[i]), AL_CELL_TEXT};
    assert_int_equal(s->row(s->ud, c, n, 0, &w->err), 0);
}

/* A dataset of two sheets, open for writing, so that a test can spoil it. */
static void begin(struct world *w)
{
    *w = (struct world){.fd = memfd_create("dataset", MFD_CLOEXEC), .arena = AL_ARENA_INIT(1 << 24)};
    assert_true(w->fd >= 0);
    assert_int_equal(al_fdvfs_register(-1, 0, &w->err), 0);
    open_db(w, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    struct al_dataset_limits limits = {.max_rows = 1000, .stats_bytes = 8 << 20};
    struct al_builder *b;
    assert_int_equal(al_builder_new(w->db, &limits, &b, &w->err), 0);
    const struct al_table_sink *s = al_builder_sink(b, NULL, NULL);
    struct al_str labels[] = {AL_S("Name"), AL_S("Price €")};
    static const char *const rows[][2] = {
        {"a \"quoted\"", "1.50"}, {"b", "2.25"}, {"", "3.00"}, {"d", "N/A"}};
    assert_int_equal(s->sheet(s->ud, AL_STR("First"), &w->err), 0);
    assert_int_equal(s->columns(s->ud, labels, 2, &w->err), 0);
    for (size_t i = 0; i < 4; i++)
        put(w, s, rows[i], 2);
    assert_int_equal(s->sheet(s->ud, AL_STR("Second"), &w->err), 0);
    assert_int_equal(s->columns(s->ud, labels, 1, &w->err), 0);
    put(w, s, rows[1], 2);
    struct al_table_found found = {.format = AL_TABLE_XLSX};
    struct al_dataset_source src = {.name = AL_STR("book.xlsx"),
                                    .sha256 = "abc",
                                    .found = &found,
                                    .options_json = AL_STR("{\"sheet\":\"x\"}"),
                                    .created_ms = 0};
    assert_int_equal(al_builder_finish(b, &src, &w->err), 0);
    al_builder_free(b);
}

static void end(struct world *w)
{
    sqlite3_close(w->db);
    close(w->fd);
    free(w->text);
    al_arena_free(&w->arena);
}

static int describe(struct world *w, const char *sheet, int rows, size_t max)
{
    autobuf struct al_buf out = AL_BUF_INIT(max);
    int r = al_dataset_describe(w->db, al_str_of(sheet), rows, &out, &w->err);
    if (r == 0) {
        free(w->text);
        size_t n = out.n;
        w->text = al_buf_take(&out);
        struct al_err err;
        if (al_json_parse(&w->arena, (struct al_str){w->text, n}, &w->json, &err) < 0)
            fail_msg("%s: %s", err.msg, w->text);
    }
    return r;
}

static const struct al_json *at(const struct al_json *v, unsigned i)
{
    al_json_each(it, v)
    {
        if (i-- == 0)
            return it;
    }
    return NULL;
}

static void assert_raw(const struct al_json *v, const char *want)
{
    assert_non_null(v);
    autofree char *raw = al_xdup(v->raw.p, v->raw.n);
    assert_string_equal(raw, want);
}

static void all_of_it_is_told(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    assert_int_equal(describe(&w, "", 3, 1 << 20), 0);
    assert_raw(al_json_get(w.json, "format"), "\"xlsx\"");
    assert_raw(al_json_get(w.json, "sourceName"), "\"book.xlsx\"");
    assert_raw(al_json_get(w.json, "sha256"), "\"abc\"");
    assert_raw(al_json_get(w.json, "createdAt"), "\"1970-01-01T00:00:00.000Z\"");
    assert_raw(al_json_get(w.json, "options"), "{\"sheet\":\"x\"}");
    assert_null(al_json_get(w.json, "delimiter"));
    const struct al_json *sheets = al_json_get(w.json, "sheets"), *first = at(sheets, 0);
    assert_int_equal(sheets->n, 2);
    assert_raw(al_json_get(first, "name"), "\"First\"");
    assert_raw(al_json_get(first, "table"), "\"s_first\"");
    assert_raw(al_json_get(first, "valuesView"), "\"s_first_values\"");
    assert_raw(al_json_get(first, "rows"), "4");
    assert_raw(al_json_get(first, "sample"), "[[\"a \\\"quoted\\\"\",1.50],[\"b\",2.25],[null,3.00]]");
    const struct al_json *price = at(al_json_get(first, "columns"), 1);
    assert_raw(al_json_get(price, "label"), "\"Price €\"");
    assert_raw(al_json_get(price, "scale"), "2");
    assert_raw(al_json_get(price, "min"), "1.50");
    assert_raw(al_json_get(price, "max"), "3.00");
    assert_raw(al_json_get(price, "mean"), "2.25");
    assert_raw(al_json_get(price, "textFallbacks"), "1");
    assert_raw(al_json_get(at(al_json_get(price, "quartiles"), 1), "x")
                   ? NULL
                   : at(al_json_get(price, "quartiles"), 1),
               "2.25");
    assert_raw(al_json_get(at(al_json_get(first, "columns"), 0), "nulls"), "1");
    const struct al_json *notes = al_json_get(w.json, "notes");
    assert_int_equal(notes->n, 2);
    assert_raw(al_json_get(at(notes, 0), "kind"), "\"text_in_numbers\"");
    assert_raw(al_json_get(at(notes, 0), "lines"), "[4]");
    assert_raw(al_json_get(at(notes, 1), "sheet"), "\"Second\"");
    end(&w);
}

static void one_sheet_can_be_asked_for(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    assert_int_equal(describe(&w, "Second", 1, 1 << 20), 0);
    assert_int_equal(al_json_get(w.json, "sheets")->n, 1);
    assert_int_equal(al_json_get(w.json, "notes")->n, 1);
    assert_int_equal(describe(&w, "s_first", 0, 1 << 20), 0);
    assert_raw(al_json_get(at(al_json_get(w.json, "sheets"), 0), "sample"), "[]");
    assert_int_equal(describe(&w, "Third", 1, 1 << 20), -1);
    assert_int_equal(w.err.code, AL_NOT_FOUND);
    assert_non_null(strstr(w.err.msg, "Third"));
    assert_non_null(strstr(w.err.hint, "First, Second"));
    end(&w);
}

static void what_is_too_large_is_told(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    run(&w, "UPDATE s_first SET name = printf('%*s', 100000, 'x')");
    assert_int_equal(describe(&w, "First", 3, 1 << 20), 0);
    assert_true(strlen(w.text) < 10000);
    assert_int_equal(describe(&w, "First", 3, 100), -1);
    assert_int_equal(w.err.code, AL_RESULT_TOO_LARGE);
    end(&w);
}

static void other_files_are_no_datasets(void **state)
{
    (void)state;
    static const char *const spoil[] = {
        "DROP TABLE _alisio_notes",
        "DROP TABLE _alisio_meta",
        "ALTER TABLE _alisio_sheets RENAME TO x; CREATE VIEW _alisio_sheets AS SELECT * FROM x",
        "DROP TABLE _alisio_columns; CREATE VIRTUAL TABLE _alisio_columns USING fts5(name)",
    };
    for (size_t i = 0; i < sizeof spoil / sizeof *spoil; i++) {
        struct world w;
        begin(&w);
        run(&w, spoil[i]);
        assert_int_equal(describe(&w, "", 3, 1 << 20), -1);
        assert_int_equal(w.err.code, AL_INGEST_INVALID);
        assert_non_null(strstr(w.err.msg, "is no dataset"));
        end(&w);
    }
}

/* An answer that is JSON, or INGEST_INVALID. */
static void survive(struct world *w, size_t max)
{
    if (describe(w, "", 20, max) < 0)
        assert_true(w->err.code == AL_INGEST_INVALID || w->err.code == AL_RESULT_TOO_LARGE);
}

static void absurd_contents_do_no_harm(void **state)
{
    (void)state;
    static const char *const spoil[] = {
        "UPDATE _alisio_columns SET nulls = NULL, distinct_count = 'x', min = x'ff', max = 1e999, mean = "
        "'abc',"
        " text_fallbacks = -5, top_values = '[', stddev = 1e999, quartiles = '{\"a\":1}', scale = 1000000,"
        " parsed_nulls = 'q', min_length = 'z'",
        "UPDATE _alisio_columns SET name = NULL, label = NULL, inferred_type = NULL",
        "UPDATE _alisio_columns SET name = 'a\"b; DROP', label = x'00ff00'",
        "UPDATE _alisio_columns SET top_values = '[{\"value\":[[1]],\"count\":1}]', quartiles = "
        "'[1,2,3,4,5,6,7]'",
        "UPDATE _alisio_columns SET top_values = "
        "'[{\"value\":1,\"count\":1},{\"value\":2,\"count\":\"x\"}]', scale = -9",
        "UPDATE _alisio_columns SET top_values = printf('%*s', 300000, '['), quartiles = printf('%*s', "
        "300000, '9')",
        "UPDATE _alisio_sheets SET rows = -1, columns = 1e300, name = NULL",
        "UPDATE _alisio_sheets SET table_name = 'sqlite_schema', name = printf('%*s', 3000000, 'x')",
        "UPDATE _alisio_sheets SET table_name = '_alisio_meta'",
        "UPDATE _alisio_sheets SET table_name = 's_first_values'",
        "UPDATE _alisio_sheets SET table_name = NULL, values_name = NULL",
        "UPDATE _alisio_notes SET kind = NULL, count = 'x', lines = '{}', message = NULL",
        "UPDATE _alisio_notes SET lines = '[1,\"x\",null,[1],1e400,7,8,9]', message = zeroblob(1000000)",
        "DELETE FROM _alisio_meta",
        "UPDATE _alisio_meta SET value = zeroblob(200000)",
        "DELETE FROM _alisio_sheets",
        "DELETE FROM _alisio_columns",
        "ALTER TABLE s_first ADD COLUMN g AS (printf('%.*c', 900000000, 'x'));"
        " UPDATE _alisio_columns SET name = 'g' WHERE ordinal = 2",
        "ALTER TABLE s_first ADD COLUMN g AS (zeroblob(900000000));"
        " UPDATE _alisio_columns SET name = 'g' WHERE ordinal = 2",
        "UPDATE s_first SET name = 1e999, price = x'0102'",
        "UPDATE s_first SET name = 9223372036854775807, price = CAST(x'ff80' AS TEXT)",
        "WITH RECURSIVE n(i) AS (VALUES (10) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO "
        "_alisio_columns"
        " (table_name, ordinal, name) SELECT 's_first', i, printf('%*s', 500, 'n') FROM n",
        "WITH RECURSIVE n(i) AS (VALUES (10) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO "
        "_alisio_notes"
        " SELECT i * 10000, 'First', 'other', i, '[1]', 'm' FROM n",
        "WITH RECURSIVE n(i) AS (VALUES (10) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO "
        "_alisio_sheets"
        " SELECT i, 'x', 's_first', 1, 1, 'v' FROM n",
    };
    for (size_t i = 0; i < sizeof spoil / sizeof *spoil; i++) {
        struct world w;
        begin(&w);
        run(&w, spoil[i]);
        sqlite3_close(w.db);
        open_db(&w, SQLITE_OPEN_READONLY);
        survive(&w, 1 << 20);
        survive(&w, 3000);
        end(&w);
    }
}

static void broken_files_do_no_harm(void **state)
{
    (void)state;
    uint64_t rng = 88172645463325252ULL;
    struct world w;
    begin(&w);
    off_t size = lseek(w.fd, 0, SEEK_END);
    unsigned char *good = al_xmalloc((size_t)size);
    assert_int_equal(pread(w.fd, good, (size_t)size, 0), size);
    for (int round = 0; round < 400; round++) {
        sqlite3_close(w.db);
        assert_int_equal(pwrite(w.fd, good, (size_t)size, 0), size);
        for (int k = 0; k < 1 + round % 20; k++) {
            rng ^= rng << 13;
            rng ^= rng >> 7;
            rng ^= rng << 17;
            off_t page = (off_t)(rng >> 8) % (size / 16384) * 16384;
            /* Where a page begins and ends is most of what matters. */
            off_t off = page + (rng & 1 ? (off_t)(rng >> 40) % 200 : 16383 - (off_t)(rng >> 40) % 600);
            unsigned char byte = (unsigned char)(rng >> 30);
            assert_int_equal(pwrite(w.fd, &byte, 1, off), 1);
        }
        open_db(&w, SQLITE_OPEN_READONLY);
        survive(&w, 1 << 20);
        al_arena_free(&w.arena);
        w.arena = (struct al_arena)AL_ARENA_INIT(1 << 24);
    }
    free(good);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_is_told),          cmocka_unit_test(one_sheet_can_be_asked_for),
        cmocka_unit_test(what_is_too_large_is_told),  cmocka_unit_test(other_files_are_no_datasets),
        cmocka_unit_test(absurd_contents_do_no_harm), cmocka_unit_test(broken_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
