#include "test.h"

#include "dataset/dataset.h"

#include "base/mem.h"
#include "base/text.h"
#include "dataset/cell.h"
#include "db/fdvfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t rng = 88172645463325252ULL;
static uint32_t draw(uint32_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)((rng >> 16) % n);
}

/* A dataset being built in a memory file. */
struct world {
    int fd;
    sqlite3 *db;
    struct al_builder *b;
    const struct al_table_sink *sink;
    struct al_err err;
    struct al_table_found found;
};

static void begin(struct world *w, uint64_t max_rows)
{
    *w = (struct world){.fd = memfd_create("dataset", MFD_CLOEXEC),
                        .found = {.encoding = "UTF-8", .delimiter = ','}};
    assert_true(w->fd >= 0);
    assert_int_equal(al_fdvfs_register(-1, 0, &w->err), 0);
    char name[32];
    snprintf(name, sizeof name, "fd:%d", w->fd);
    assert_int_equal(sqlite3_open_v2(name, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL),
                     SQLITE_OK);
    struct al_dataset_limits limits = {.max_rows = max_rows, .stats_bytes = 8 << 20};
    assert_int_equal(al_builder_new(w->db, &limits, &w->b, &w->err), 0);
    w->sink = al_builder_sink(w->b, NULL, NULL);
}

static int finish(struct world *w)
{
    struct al_dataset_source src = {
        .name = AL_STR("file.csv"), .sha256 = "ab", .found = &w->found, .created_ms = 1000};
    return al_builder_finish(w->b, &src, &w->err);
}

/* Finishes, and opens what is in the file anew. */
static void done(struct world *w)
{
    if (finish(w) < 0)
        fail_msg("%s (%s)", w->err.msg, w->err.detail);
    al_builder_free(w->b);
    w->b = NULL;
    assert_int_equal(sqlite3_close(w->db), SQLITE_OK);
    char name[32];
    snprintf(name, sizeof name, "fd:%d", w->fd);
    assert_int_equal(sqlite3_open_v2(name, &w->db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
}

static void end(struct world *w)
{
    al_builder_free(w->b);
    sqlite3_close(w->db);
    close(w->fd);
}

static void sheet(struct world *w, const char *name)
{
    if (w->sink->sheet(w->sink->ud, al_str_of(name), &w->err) < 0)
        fail_msg("%s (%s)", w->err.msg, w->err.detail);
}

/* Labels or cells as one text, parted by '|'. */
static size_t split(const char *text, struct al_str *ret)
{
    size_t n = 0;
    for (const char *p = text;; p++) {
        const char *stop = strchr(p, '|');
        ret[n++] = (struct al_str){p, stop ? (size_t)(stop - p) : strlen(p)};
        if (!stop)
            return n;
        p = stop;
    }
}

static void columns(struct world *w, const char *labels)
{
    struct al_str s[64];
    size_t n = split(labels, s);
    if (w->sink->columns(w->sink->ud, s, n, &w->err) < 0)
        fail_msg("%s (%s)", w->err.msg, w->err.detail);
}

static int try_row(struct world *w, const char *cells, uint64_t line)
{
    struct al_str s[64];
    struct al_cell c[64];
    size_t n = split(cells, s);
    for (size_t i = 0; i < n; i++)
        c[i] = (struct al_cell){s[i], AL_CELL_TEXT};
    return w->sink->row(w->sink->ud, c, n, line, &w->err);
}

static void row(struct world *w, const char *cells, uint64_t line)
{
    if (try_row(w, cells, line) < 0)
        fail_msg("%s (%s)", w->err.msg, w->err.detail);
}

/* The first row's values, parted by '|'; rows by line ends. */
static char *query(struct world *w, const char *sql)
{
    static char text[8192];
    size_t at = 0;
    sqlite3_stmt *s;
    text[0] = '\0';
    if (sqlite3_prepare_v2(w->db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(w->db));
    for (int rows = 0; sqlite3_step(s) == SQLITE_ROW; rows++) {
        for (int i = 0; i < sqlite3_column_count(s); i++) {
            const char *z = (const char *)sqlite3_column_text(s, i);
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s",
                                   i      ? "|"
                                   : rows ? "\n"
                                          : "",
                                   z ? z : "~");
            assert_true(at < sizeof text);
        }
    }
    assert_int_equal(sqlite3_finalize(s), SQLITE_OK);
    return text;
}

#define NOTE(kind) "SELECT count, lines FROM _alisio_notes WHERE kind = '" kind "'"

static void values_have_their_own_types(void **state)
{
    (void)state;
    struct world w;
    begin(&w, 1000);
    sheet(&w, "data");
    columns(&w, "a|b|c|d");
    row(&w, "1|1.5|007|x", 2);
    row(&w, "-2||1e5|", 3);
    row(&w, "9007199254740992|2.5|$1|N/A", 4);
    done(&w);
    assert_string_equal(query(&w, "SELECT typeof(a), typeof(b), typeof(c), typeof(d) FROM data"),
                        "integer|real|text|text\ninteger|null|text|null\ntext|real|text|text");
    assert_string_equal(query(&w, "SELECT * FROM data WHERE rowid = 3"), "9007199254740992|2.5|$1|N/A");
    assert_string_equal(query(&w, "SELECT * FROM data_values WHERE a = -2"), "-2|~|1e5|~");
    assert_string_equal(query(&w, "SELECT rows, columns, table_name, name, values_name FROM _alisio_sheets"),
                        "3|4|data|data|data_values");
    assert_string_equal(query(&w, "SELECT value FROM _alisio_meta WHERE key = 'created_at'"),
                        "1970-01-01T00:00:01.000Z");
    assert_string_equal(query(&w, "SELECT value FROM _alisio_meta WHERE key = 'delimiter'"), ",");
    assert_string_equal(query(&w, "SELECT sql FROM sqlite_schema WHERE name = 'data'"),
                        "CREATE TABLE \"data\"(\"a\",\"b\",\"c\",\"d\")");
    assert_string_equal(query(&w, NOTE("text_in_numbers")), "1|[4]");
    end(&w);
}

static void a_scale_keeps_trailing_zeros(void **state)
{
    (void)state;
    struct world w;
    begin(&w, 1000);
    sheet(&w, "data");
    columns(&w, "price|n");
    row(&w, "1.50|1", 2);
    row(&w, "N/A|", 3);
    row(&w, "2.00|2", 4);
    row(&w, "|x", 5);
    row(&w, "-3.25|3", 6);
    done(&w);
    assert_string_equal(query(&w, "SELECT price, typeof(price) FROM data"),
                        "1.5|real\nN/A|text\n2.0|real\n~|null\n-3.25|real");
    assert_string_equal(query(&w, "SELECT scale FROM _alisio_columns ORDER BY ordinal"), "2\n~");
    assert_string_equal(query(&w, NOTE("scale_ended")), "");
    end(&w);
}

static void a_scale_that_ends_brings_the_texts_back(void **state)
{
    (void)state;
    struct world w;
    begin(&w, 1000);
    sheet(&w, "data");
    columns(&w, "version|other");
    row(&w, "1.10|1.10", 2);
    row(&w, "1.12|2.20", 3);
    row(&w, "1.20|3.30", 4);
    row(&w, "1.1|4.40", 5);
    row(&w, "1.30|5.50", 6);
    row(&w, "1.34|5.50", 7);
    done(&w);
    assert_string_equal(query(&w, "SELECT version, typeof(version) FROM data"),
                        "1.10|text\n1.12|real\n1.20|text\n1.1|real\n1.30|text\n1.34|real");
    assert_string_equal(query(&w, "SELECT DISTINCT typeof(other) FROM data"), "real");
    assert_string_equal(query(&w, "SELECT scale FROM _alisio_columns ORDER BY ordinal"), "~\n2");
    assert_string_equal(query(&w, NOTE("scale_ended")), "3|[2,4,6]");
    end(&w);
}

static void rows_of_other_widths_are_kept_and_noted(void **state)
{
    (void)state;
    struct world w;
    begin(&w, 1000);
    sheet(&w, "data");
    columns(&w, "a|b");
    row(&w, "1|2", 2);
    row(&w, "1|2|3|4", 3);
    row(&w, "1", 4);
    row(&w, "1|2|||", 5);
    row(&w, "1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|18|19|20", 6);
    done(&w);
    assert_string_equal(query(&w, "SELECT a, b, extra_1, extra_2, extra_3 FROM data"),
                        "1|2|~|~|~\n1|2|3|4|~\n1|~|~|~|~\n1|2|~|~|~\n1|2|3|4|5");
    assert_string_equal(query(&w, "SELECT extra_16 FROM data WHERE rowid = 5"), "18");
    assert_string_equal(query(&w, "SELECT columns FROM _alisio_sheets"), "18");
    assert_string_equal(query(&w, "SELECT label, nulls FROM _alisio_columns WHERE name = 'extra_16'"),
                        "extra_16|4");
    assert_string_equal(query(&w, NOTE("short_rows")), "1|[4]");
    assert_string_equal(query(&w, NOTE("long_rows")), "3|[3,5,6]");
    assert_string_equal(query(&w, NOTE("cut_rows")), "2|[6,6]");
    assert_string_equal(query(&w, "SELECT value FROM _alisio_meta WHERE key = 'irregular_rows'"), "4");
    end(&w);
}

static void columns_may_come_late(void **state)
{
    (void)state;
    struct world w;
    begin(&w, 1000);
    sheet(&w, "data");
    assert_int_equal(w.sink->columns(w.sink->ud, NULL, 0, &w.err), 0);
    assert_int_equal(w.sink->row(w.sink->ud, NULL, 0, 1, &w.err), 0);
    assert_int_equal(w.sink->late_column(w.sink->ud, AL_STR("a"), &w.err), 0);
    struct al_cell c[3] = {
        {AL_STR("1.50"), AL_CELL_NUMBER}, {AL_STR(""), AL_CELL_STRING}, {AL_STR("1e5"), AL_CELL_NUMBER}};
    assert_int_equal(w.sink->row(w.sink->ud, c, 1, 2, &w.err), 0);
    assert_int_equal(w.sink->late_column(w.sink->ud, AL_STR("b"), &w.err), 0);
    assert_int_equal(w.sink->late_column(w.sink->ud, AL_STR("c"), &w.err), 0);
    assert_int_equal(w.sink->row(w.sink->ud, c, 3, 3, &w.err), 0);
    c[1].text = AL_STR("12");
    c[0].kind = AL_CELL_NULL;
    assert_int_equal(w.sink->row(w.sink->ud, c, 3, 4, &w.err), 0);
    assert_int_equal(w.sink->late_column(w.sink->ud, AL_STR("d"), &w.err), 0);
    done(&w);
    assert_string_equal(query(&w, "SELECT a, b, c, d, typeof(b) FROM data"),
                        "~|~|~|~|null\n1.5|~|~|~|null\n1.5||100000.0|~|text\n~|12|100000.0|~|text");
    assert_string_equal(query(&w, "SELECT name, nulls, scale FROM _alisio_columns"),
                        "a|2|2\nb|2|~\nc|2|~\nd|4|~");
    assert_string_equal(query(&w, NOTE("short_rows")), "");
    end(&w);
}

static void headers_that_cannot_stay_are_noted(void **state)
{
    (void)state;
    struct world w;
    begin(&w, 1000);
    sheet(&w, "data");
    columns(&w, "Name||name|rowid|Total €|x_2");
    row(&w, "1|2|3|4|5|6", 2);
    done(&w);
    assert_string_equal(query(&w, "SELECT name, label FROM _alisio_columns LIMIT 4"),
                        "name|Name\ncolumn_2|column_2\nname_2|name\nrowid_2|rowid");
    assert_string_equal(query(&w, NOTE("renamed_columns")), "3|[]");
    end(&w);
}

static void sheets_of_a_workbook_have_their_tables(void **state)
{
    (void)state;
    struct world w;
    begin(&w, 1000);
    w.found = (struct al_table_found){.format = AL_TABLE_XLSX};
    w.sink->note(w.sink->ud, AL_NOTE_MACROS, 0, "macros are ignored");
    sheet(&w, "data");
    columns(&w, "a|a|b");
    row(&w, "1|2|3", 0);
    row(&w, "1|2", 0);
    sheet(&w, "Data");
    columns(&w, "z");
    row(&w, "0.10", 0);
    row(&w, "5", 0);
    sheet(&w, "Empty");
    done(&w);
    assert_string_equal(
        query(&w, "SELECT ordinal, name, table_name, values_name, rows, columns FROM _alisio_sheets"),
        "1|data|s_data|s_data_values|2|3\n2|Data|s_data_2|s_data_2_values|2|1\n"
        "3|Empty|s_empty|s_empty_values|0|1");
    assert_string_equal(query(&w, "SELECT a, a_2, b FROM s_data_values"), "1|2|3\n1|2|~");
    assert_string_equal(query(&w, "SELECT z FROM s_data_2_values"), "0.1\n5");
    assert_string_equal(query(&w, "SELECT column_1 FROM s_empty"), "");
    assert_string_equal(query(&w, "SELECT sheet, kind, lines FROM _alisio_notes ORDER BY ordinal"),
                        "~|macros|[]\ndata|short_rows|[2]\ndata|renamed_columns|[]\nData|scale_ended|[1]");
    end(&w);
}

static void texts_that_mean_numbers_have_values(void **state)
{
    (void)state;
    struct world w;
    begin(&w, 100000);
    sheet(&w, "data");
    columns(&w, "id|umsatz|tag");
    row(&w, "0|1.234,56|31.01.2024", 2);
    for (int i = 1; i < 400; i++) {
        char text[80];
        snprintf(text, sizeof text, "%d|%d.%03d,%02d|%02d.%02d.2024", i, 1 + i % 9, i, i % 100, 1 + i % 28,
                 1 + i % 12);
        row(&w, text, (uint64_t)i + 2);
    }
    row(&w, "400|unbekannt|", 402);
    done(&w);
    assert_string_equal(query(&w, "SELECT typeof(umsatz), typeof(tag) FROM data LIMIT 1"), "text|text");
    assert_string_equal(query(&w, "SELECT id, umsatz, tag FROM data_values WHERE id IN (0, 399, 400)"),
                        "0|1234.56|2024-01-31\n399|4399.99|2024-04-08\n400|~|~");
    assert_string_equal(query(&w, "SELECT parsed_as, parsed_nulls FROM _alisio_columns"),
                        "~|~\n1.234,56|1\ndd/mm/yyyy|0");
    end(&w);
}

static void thousands_that_read_as_decimals_are_told(void **state)
{
    (void)state;
    struct world w;
    for (int comma = 0; comma < 2; comma++) {
        begin(&w, 1000);
        sheet(&w, "data");
        columns(&w, "people|amount");
        row(&w, comma ? "1.234|1.234,50" : "1.234|1234.50", 2);
        row(&w, comma ? "12.500|2,00" : "12.500|2.00", 3);
        row(&w, comma ? "130.000|3.000,10" : "130.000|3000.10", 4);
        done(&w);
        assert_string_equal(query(&w, "SELECT count(*) FROM _alisio_notes WHERE kind = 'mixed_decimals'"),
                            comma ? "1" : "0");
        end(&w);
    }
}

static void limits_end_the_ingest(void **state)
{
    (void)state;
    struct world w;
    begin(&w, 2);
    sheet(&w, "data");
    columns(&w, "a");
    row(&w, "1", 2);
    row(&w, "1", 3);
    assert_int_equal(try_row(&w, "1", 4), -1);
    assert_int_equal(w.err.code, AL_INGEST_LIMIT);
    assert_non_null(strstr(w.err.msg, "analysis.data.maxRows"));
    assert_int_equal(finish(&w), -1);
    end(&w);

    begin(&w, 10);
    sheet(&w, "data");
    struct al_str labels[1001];
    for (int i = 0; i < 1001; i++)
        labels[i] = AL_STR("x");
    assert_int_equal(w.sink->columns(w.sink->ud, labels, 1001, &w.err), -1);
    assert_int_equal(w.err.code, AL_INGEST_LIMIT);
    assert_non_null(strstr(w.err.msg, "1,000 columns"));
    end(&w);

    begin(&w, 10);
    for (int i = 0; i < AL_DATASET_MAX_SHEETS; i++)
        sheet(&w, "s");
    assert_int_equal(w.sink->sheet(w.sink->ud, AL_STR("s"), &w.err), -1);
    assert_int_equal(w.err.code, AL_INGEST_LIMIT);
    end(&w);

    begin(&w, 10);
    sheet(&w, "data");
    columns(&w, "a|b|c");
    size_t n = (size_t)171 << 20; /* never touched: the row is refused before it is read */
    char *room = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct al_cell huge[3] = {
        {{room, n}, AL_CELL_TEXT}, {{room, n}, AL_CELL_TEXT}, {{room, n}, AL_CELL_TEXT}};
    assert_int_equal(w.sink->row(w.sink->ud, huge, 3, 7, &w.err), -1);
    assert_int_equal(w.err.code, AL_INGEST_LIMIT);
    assert_non_null(strstr(w.err.msg, "line 7"));
    munmap(room, n);
    end(&w);

    begin(&w, 10);
    assert_int_equal(finish(&w), -1);
    assert_int_equal(w.err.code, AL_INGEST_INVALID);
    end(&w);
}

static void a_thousand_columns_fit(void **state)
{
    (void)state;
    struct world w;
    begin(&w, 100);
    sheet(&w, "data");
    struct al_str labels[1000];
    struct al_cell cells[1020];
    for (int i = 0; i < 1020; i++)
        cells[i] = (struct al_cell){AL_STR("12"), AL_CELL_TEXT};
    for (int i = 0; i < 1000; i++)
        labels[i] = AL_STR("x");
    assert_int_equal(w.sink->columns(w.sink->ud, labels, 1000, &w.err), 0);
    for (int i = 0; i < 50; i++)
        assert_int_equal(w.sink->row(w.sink->ud, cells, i == 7 ? 1020 : 1000, (uint64_t)i + 2, &w.err), 0);
    done(&w);
    assert_string_equal(query(&w, "SELECT rows, columns FROM _alisio_sheets"), "50|1000");
    assert_string_equal(query(&w, "SELECT sum(x), sum(x_1000) FROM data_values"), "600|600");
    assert_string_equal(query(&w, NOTE("cut_rows")), "20|[9,9,9,9,9]");
    end(&w);
}

static void big_cells_are_kept(void **state)
{
    (void)state;
    struct world w;
    begin(&w, 100);
    sheet(&w, "data");
    columns(&w, "a|b");
    char *big = al_xmalloc(AL_TABLE_MAX_CELL);
    memset(big, 'x', AL_TABLE_MAX_CELL);
    for (int i = 0; i < 8; i++) {
        struct al_cell c[2] = {{{big, AL_TABLE_MAX_CELL >> i}, AL_CELL_TEXT}, {{big, 100}, AL_CELL_TEXT}};
        assert_int_equal(w.sink->row(w.sink->ud, c, 2, (uint64_t)i + 2, &w.err), 0);
    }
    memset(big, 'y', AL_TABLE_MAX_CELL);
    free(big);
    done(&w);
    for (int i = 0; i < 8; i++) {
        char sql[128], want[64];
        snprintf(sql, sizeof sql,
                 "SELECT length(a), replace(a, 'x', '') = '', length(b) FROM data WHERE rowid = %d", i + 1);
        snprintf(want, sizeof want, "%d|1|100", (int)(AL_TABLE_MAX_CELL >> i));
        assert_string_equal(query(&w, sql), want);
    }
    end(&w);
}

static bool say_no(void *ud, uint64_t rows, uint64_t bytes)
{
    (void)rows, (void)bytes;
    ++*(int *)ud;
    return false;
}

static void an_ingest_can_be_cancelled(void **state)
{
    (void)state;
    struct world w;
    begin(&w, UINT64_MAX);
    int asked = 0;
    w.sink = al_builder_sink(w.b, say_no, &asked);
    sheet(&w, "data");
    columns(&w, "a");
    int r = 0;
    uint64_t i = 0;
    for (; r == 0; i++) { /* until the answer counts: it is asked after 50 ms */
        r = try_row(&w, "12", 1);
        if (r == 0)
            r = w.sink->progress(w.sink->ud, i, &w.err);
    }
    assert_int_equal(w.err.code, AL_CANCELLED);
    assert_int_equal(asked, 1);
    assert_int_equal(finish(&w), -1);
    end(&w);
}

/* Random tables, read back exactly. */

static const char *const odd[] = {"",
                                  "0",
                                  "-0",
                                  "007",
                                  "1.10",
                                  "1.1",
                                  "1.50",
                                  "2.00",
                                  "1e5",
                                  "1E-3",
                                  "0x1F",
                                  "+1",
                                  "1.",
                                  ".5",
                                  "9007199254740991",
                                  "9007199254740992",
                                  "-9007199254740993",
                                  "12345678901234567890",
                                  "1,234",
                                  "1.234,56",
                                  "$12",
                                  "12 %",
                                  " 1",
                                  "1 ",
                                  "N/A",
                                  "NULL",
                                  "nan",
                                  "inf",
                                  "-inf",
                                  "TRUE",
                                  "2024-01-31",
                                  "31/01/2024",
                                  "a\"b",
                                  "a,b",
                                  "a\nb\r\n",
                                  "'; DROP TABLE data; --",
                                  "\xc3\xa9",
                                  "1\xc2\xa0",
                                  "0.1",
                                  "0.30000000000000004",
                                  "123456789012345.6",
                                  "1.7976931348623157e308",
                                  "--1",
                                  "1-2",
                                  "1.2.3",
                                  "\x01",
                                  "\x7f"};

static size_t random_text(unsigned kind, char *out, size_t cap)
{
    static const char alphabet[] = "0123456789.,-+eE \"'\n\r\t;|%$xX_";
    size_t n = 0;
    switch (kind) {
    case 0:
        return (size_t)snprintf(out, cap, "%d", (int)draw(2000) - 1000);
    case 1:
        return (size_t)snprintf(out, cap, "%u.%02u", draw(1000), draw(100));
    case 2:
        return (size_t)snprintf(out, cap, "%u.%u", draw(100), draw(100));
    case 3:
        return (size_t)snprintf(out, cap, "%s", odd[draw(sizeof odd / sizeof *odd)]);
    case 4:
        for (n = draw(12); n > 0 && cap-- > 1; n--)
            *out++ = alphabet[draw(sizeof alphabet - 1)];
        return SIZE_MAX; /* the caller counts */
    case 5:
        return draw(50) ? (size_t)snprintf(out, cap, "%u.%03u", draw(1000), draw(1000))
                        : random_text(3, out, cap);
    case 6:
        return draw(5000) ? (size_t)snprintf(out, cap, "%u.%u0", draw(1000), draw(10))
                          : random_text(2, out, cap);
    default:
        memcpy(out, "a\0b", 3);
        return draw(3) + 1;
    }
}

struct grid {
    size_t n_columns, n_rows;
    struct al_cell *cells;
    char *text;
};

static void random_grid(struct grid *g, size_t n_rows)
{
    g->n_columns = 1 + draw(12);
    g->n_rows = n_rows;
    g->cells = al_xcalloc(g->n_columns * n_rows, sizeof *g->cells);
    g->text = al_xcalloc(g->n_columns * n_rows, 48);
    unsigned kinds[12];
    for (size_t i = 0; i < g->n_columns; i++)
        kinds[i] = draw(8);
    for (size_t k = 0; k < g->n_columns * n_rows; k++) {
        char *p = g->text + k * 48;
        size_t n = random_text(kinds[k % g->n_columns], p, 40);
        unsigned kind = draw(40);
        g->cells[k].text = (struct al_str){p, n == SIZE_MAX ? strlen(p) : n};
        g->cells[k].kind = kind == 0   ? AL_CELL_NULL
                           : kind == 1 ? AL_CELL_STRING
                           : kind == 2 ? AL_CELL_NUMBER
                                       : AL_CELL_TEXT;
    }
}

static void check_cell(sqlite3_stmt *s, int i, int scale, const struct al_cell *cell)
{
    autobuf struct al_buf got = AL_BUF_INIT(1024);
    bool null = cell->kind == AL_CELL_NULL || (cell->text.n == 0 && cell->kind != AL_CELL_STRING);
    int type = sqlite3_column_type(s, i);
    assert_true(null == (type == SQLITE_NULL));
    if (null)
        return;
    assert_true(cell->kind != AL_CELL_STRING || type == SQLITE_TEXT);
    struct al_value v;
    if (cell->kind == AL_CELL_NUMBER && type == SQLITE_FLOAT && al_cell_literal(cell->text, &v)) {
        assert_true(v.d == sqlite3_column_double(s, i)); /* the number counts, not how it was written */
        return;
    }
    if (type == SQLITE_INTEGER)
        al_buf_addf(&got, "%lld", (long long)sqlite3_column_int64(s, i));
    else if (type == SQLITE_FLOAT)
        al_cell_print(sqlite3_column_double(s, i), scale, &got);
    else
        al_buf_add(&got, sqlite3_column_text(s, i), (size_t)sqlite3_column_bytes(s, i));
    if (cell->kind == AL_CELL_NUMBER && al_str_is(cell->text, "-0"))
        return;
    if (!al_str_eq(al_buf_str(&got), cell->text))
        fail_msg("%.*s came back as %.*s", AL_FMT(cell->text), AL_FMT(al_buf_str(&got)));
}

static void check_grid(struct world *w, const struct grid *g)
{
    int scales[12];
    sqlite3_stmt *s;
    sqlite3_prepare_v2(w->db, "SELECT scale FROM _alisio_columns ORDER BY ordinal", -1, &s, NULL);
    for (size_t i = 0; i < g->n_columns; i++) {
        assert_int_equal(sqlite3_step(s), SQLITE_ROW);
        scales[i] = sqlite3_column_type(s, 0) == SQLITE_NULL ? -1 : sqlite3_column_int(s, 0);
    }
    sqlite3_finalize(s);
    assert_int_equal(sqlite3_prepare_v2(w->db, "SELECT * FROM data ORDER BY rowid", -1, &s, NULL), SQLITE_OK);
    for (size_t k = 0; k < g->n_rows; k++) {
        assert_int_equal(sqlite3_step(s), SQLITE_ROW);
        for (size_t i = 0; i < g->n_columns; i++)
            check_cell(s, (int)i, scales[i], &g->cells[k * g->n_columns + i]);
    }
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
}

static void every_cell_comes_back_as_it_stood(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct world w;
        struct grid g;
        begin(&w, UINT64_MAX);
        random_grid(&g, round ? draw(2000) : 30000);
        sheet(&w, "data");
        struct al_str labels[12];
        for (size_t i = 0; i < g.n_columns; i++)
            labels[i] = AL_STR("x");
        assert_int_equal(w.sink->columns(w.sink->ud, labels, g.n_columns, &w.err), 0);
        for (size_t k = 0; k < g.n_rows; k++)
            assert_int_equal(w.sink->row(w.sink->ud, g.cells + k * g.n_columns, g.n_columns, k + 2, &w.err),
                             0);
        done(&w);
        check_grid(&w, &g);
        end(&w);
        free(g.cells);
        free(g.text);
    }
}

static void a_text_behind_many_numbers_is_kept(void **state)
{
    (void)state;
    struct world w;
    begin(&w, UINT64_MAX);
    sheet(&w, "data");
    columns(&w, "n|price");
    for (int i = 0; i < 100000; i++) {
        char text[64];
        snprintf(text, sizeof text, "%d|%d.%d0", i, i, i % 10);
        row(&w, text, (uint64_t)i + 2);
    }
    row(&w, "007|n/a", 100002);
    row(&w, "8|1.5", 100003);
    done(&w);
    assert_string_equal(query(&w, "SELECT n, price FROM data WHERE rowid > 100000"), "007|n/a\n8|1.5");
    assert_string_equal(query(&w, "SELECT count(*), min(price) FROM data WHERE typeof(price) = 'text'"),
                        "100001|0.00");
    assert_string_equal(
        query(&w, "SELECT count(*) FROM data WHERE price = CAST(n AS text) || '.' || (n % 10) || '0'"),
        "100000");
    assert_string_equal(query(&w, NOTE("scale_ended")), "100000|[2,3,4,5,6]");
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_their_own_types),
        cmocka_unit_test(a_scale_keeps_trailing_zeros),
        cmocka_unit_test(a_scale_that_ends_brings_the_texts_back),
        cmocka_unit_test(thousands_that_read_as_decimals_are_told),
        cmocka_unit_test(rows_of_other_widths_are_kept_and_noted),
        cmocka_unit_test(columns_may_come_late),
        cmocka_unit_test(headers_that_cannot_stay_are_noted),
        cmocka_unit_test(sheets_of_a_workbook_have_their_tables),
        cmocka_unit_test(texts_that_mean_numbers_have_values),
        cmocka_unit_test(limits_end_the_ingest),
        cmocka_unit_test(a_thousand_columns_fit),
        cmocka_unit_test(big_cells_are_kept),
        cmocka_unit_test(an_ingest_can_be_cancelled),
        cmocka_unit_test(every_cell_comes_back_as_it_stood),
        cmocka_unit_test(a_text_behind_many_numbers_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
