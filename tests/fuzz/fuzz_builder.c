/* Rows of any bytes through the builder; each cell is read back exactly, and the dataset describes itself as
 * JSON. */
#include "dataset/dataset.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "dataset/cell.h"
#include "db/fdvfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

#define CELLS_MAX 40
#define ROWS_MAX 4000

/* Rows of the input: cells end with 0xFE, rows with 0xFF; a first byte of 0xF8 to 0xFB gives a cell's kind.
 */
struct rows {
    struct al_cell *cells;
    size_t *first; /* of each row, and one more */
    size_t n;
};

static void split(const uint8_t *data, size_t size, struct rows *r)
{
    r->cells = al_xcalloc(size + 1, sizeof *r->cells);
    r->first = al_xcalloc(ROWS_MAX + 2, sizeof *r->first);
    const uint8_t *p = data, *end = data + size;
    size_t n = 0;
    while (p < end && r->n < ROWS_MAX) {
        const uint8_t *q = p;
        while (q < end && *q < 0xFE)
            q++;
        enum al_cell_kind kind = AL_CELL_TEXT;
        if (q > p && *p >= 0xF8 && *p <= 0xFB)
            kind = (enum al_cell_kind)(*p++ - 0xF8);
        struct al_str text = {(const char *)p, (size_t)(q - p)};
        if (kind == AL_CELL_NULL)
            text.n = 0;
        r->cells[n++] = (struct al_cell){text, kind};
        if (q == end || *q == 0xFF || n - r->first[r->n] == CELLS_MAX)
            r->first[++r->n] = n;
        p = q + 1;
    }
    if (n > r->first[r->n])
        r->first[++r->n] = n;
}

static void check_cell(sqlite3_stmt *s, int i, int scale, const struct al_cell *cell)
{
    autobuf struct al_buf got = AL_BUF_INIT(1024);
    int type = sqlite3_column_type(s, i);
    if (!cell || cell->kind == AL_CELL_NULL || (cell->text.n == 0 && cell->kind != AL_CELL_STRING)) {
        MUST(type == SQLITE_NULL);
        return;
    }
    struct al_str text;
    struct al_value v;
    if (cell->kind == AL_CELL_NUMBER && type != SQLITE_TEXT) { /* the number counts, not how it was written */
        MUST(al_cell_literal(cell->text, &v));
        MUST(type == SQLITE_INTEGER ? v.i == sqlite3_column_int64(s, i) : v.d == sqlite3_column_double(s, i));
        return;
    }
    if (type == SQLITE_INTEGER) {
        al_buf_addf(&got, "%lld", (long long)sqlite3_column_int64(s, i));
        text = al_buf_str(&got);
    } else if (type == SQLITE_FLOAT) {
        al_cell_print(sqlite3_column_double(s, i), scale, &got);
        text = al_buf_str(&got);
    } else {
        MUST(type == SQLITE_TEXT);
        text.p = (const char *)sqlite3_column_text(s, i);
        text.n = (size_t)sqlite3_column_bytes(s, i);
    }
    MUST(al_str_eq(text, cell->text));
}

static void check_rows(sqlite3 *db, const struct rows *r, size_t from)
{
    int scale[1000], n_columns = 0;
    sqlite3_stmt *s;
    MUST(sqlite3_prepare_v2(db, "SELECT scale FROM _alisio_columns ORDER BY ordinal", -1, &s, NULL) ==
         SQLITE_OK);
    for (; sqlite3_step(s) == SQLITE_ROW; n_columns++)
        scale[n_columns] = sqlite3_column_type(s, 0) == SQLITE_NULL ? -1 : sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    MUST(sqlite3_prepare_v2(db, "SELECT * FROM data ORDER BY rowid", -1, &s, NULL) == SQLITE_OK);
    for (size_t k = from; k < r->n; k++) {
        MUST(sqlite3_step(s) == SQLITE_ROW);
        size_t n = r->first[k + 1] - r->first[k];
        for (size_t i = 0; i < (size_t)n_columns; i++)
            check_cell(s, (int)i, scale[i], i < n ? &r->cells[r->first[k] + i] : NULL);
    }
    MUST(sqlite3_step(s) == SQLITE_DONE);
    sqlite3_finalize(s);
    MUST(sqlite3_prepare_v2(db, "SELECT count(*) FROM data_values", -1, &s, NULL) == SQLITE_OK);
    MUST(sqlite3_step(s) == SQLITE_ROW && (size_t)sqlite3_column_int64(s, 0) == r->n - from);
    sqlite3_finalize(s);
}

static void check_description(sqlite3 *db)
{
    autobuf struct al_buf out = AL_BUF_INIT((size_t)16 << 20);
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)64 << 20);
    const struct al_json *v;
    struct al_err err;
    MUST(al_dataset_describe(db, AL_STR(""), 5, &out, &err) == 0);
    MUST(al_json_parse(&a, al_buf_str(&out), &v, &err) == 0);
}

static bool build(sqlite3 *db, const struct rows *r)
{
    struct al_dataset_limits limits = {.max_rows = ROWS_MAX, .stats_bytes = 1 << 20};
    struct al_builder *b;
    struct al_err err;
    MUST(al_builder_new(db, &limits, &b, &err) == 0);
    const struct al_table_sink *sink = al_builder_sink(b, NULL, NULL);
    struct al_str labels[CELLS_MAX];
    size_t n = r->first[1] < CELLS_MAX ? r->first[1] : CELLS_MAX;
    for (size_t i = 0; i < n; i++)
        labels[i] = r->cells[i].text;
    MUST(sink->sheet(sink->ud, AL_STR("data"), &err) == 0 && sink->columns(sink->ud, labels, n, &err) == 0);
    bool cut = false;
    for (size_t k = 1; k < r->n; k++) {
        size_t width = r->first[k + 1] - r->first[k];
        cut |= width > n + AL_TABLE_MAX_EXTRA;
        MUST(sink->row(sink->ud, r->cells + r->first[k], width, k + 1, &err) == 0);
    }
    struct al_table_found found = {.encoding = "UTF-8"};
    struct al_dataset_source src = {.name = AL_STR("f"), .sha256 = "", .found = &found};
    MUST(al_builder_finish(b, &src, &err) == 0);
    al_builder_free(b);
    return !cut;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rows r = {0};
    if (size > 1 << 16)
        return 0;
    split(data, size, &r);
    if (r.n) {
        char name[32];
        int fd = memfd_create("fuzz", MFD_CLOEXEC);
        sqlite3 *db;
        struct al_err err;
        MUST(fd >= 0 && al_fdvfs_register(-1, 0, &err) == 0);
        snprintf(name, sizeof name, "fd:%d", fd);
        MUST(sqlite3_open_v2(name, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK);
        if (build(db, &r))
            check_rows(db, &r, 1);
        check_description(db);
        MUST(sqlite3_close(db) == SQLITE_OK);
        close(fd);
    }
    free(r.cells);
    free(r.first);
    return 0;
}
