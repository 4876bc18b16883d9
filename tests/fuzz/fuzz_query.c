/* A statement of any bytes over a small dataset: it ends, its answer is well formed, and the dataset is what
 * it was. */
#include "query/query_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "db/fdvfs.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char fixture[] =
    "CREATE TABLE data(id, amount, city, day, j);"
    "INSERT INTO data VALUES (1, '1.234,56', 'Bern', '31/12/2023', '{\"a\":1}'), (2, 7, NULL, '01/02/2024', "
    "'[1,2]'),"
    " (3, 2.5, 'n/a', NULL, NULL);"
    "CREATE TABLE _alisio_values_1(amount); INSERT INTO _alisio_values_1 VALUES (1234.56), (7), (2.5);"
    "CREATE VIEW data_values AS SELECT d.id, v.amount AS amount, d.city, d.day, d.j FROM data d LEFT JOIN "
    "_alisio_values_1 v ON "
    "v.rowid = d.rowid;"
    "CREATE TABLE _alisio_sheets(ordinal, name, table_name, rows, columns, values_name);"
    "INSERT INTO _alisio_sheets VALUES (1, 'data', 'data', 3, 5, 'data_values');"
    "CREATE TABLE _alisio_columns(table_name, ordinal, name, scale, parsed_as);"
    "INSERT INTO _alisio_columns VALUES ('data', 1, 'amount', 2, '1.234,56'), ('data', 2, 'day', NULL, "
    "'dd/mm/yyyy')";

static unsigned char *before;
static sqlite3_int64 n_before;

static void must(bool ok)
{
    if (!ok)
        abort();
}

static int make(void)
{
    sqlite3 *db = NULL;
    int spill = memfd_create("spill", MFD_CLOEXEC), fd = memfd_create("dataset", MFD_CLOEXEC);
    must(al_query_prepare() == 0 && al_fdvfs_register(spill, (uint64_t)64 << 20, NULL) == 0);
    must(sqlite3_open(":memory:", &db) == SQLITE_OK);
    must(sqlite3_exec(db, fixture, NULL, NULL, NULL) == SQLITE_OK);
    before = sqlite3_serialize(db, "main", &n_before, 0);
    must(before && write(fd, before, (size_t)n_before) == n_before);
    sqlite3_close(db);
    return fd;
}

static bool take(void *ud, struct al_str bytes)
{
    size_t *n = ud;
    *n += bytes.n;
    return *n < (size_t)4 << 20;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    if (fd < 0)
        fd = make();
    if (size < 1 || size > 4000)
        return 0;
    size_t taken = 0;
    struct al_buf text = AL_BUF_INIT(1u << 20), json = AL_BUF_INIT(4u << 20), details = AL_BUF_INIT(1u << 16);
    struct al_query q = {.n_datasets = 1,
                         .datasets[0].fd = fd,
                         .sql = {(const char *)data + 1, size - 1},
                         .max_rows = 20,
                         .timeout_ms = 50,
                         .format = (enum al_query_format)(data[0] % 5),
                         .exact = data[0] & 0x80};
    struct al_query_out out = {.chunk = take, .ud = &taken, .text = &text, .json = &json};
    struct al_err err = {0};
    struct al_arena a = AL_ARENA_INIT((size_t)64 << 20);
    const struct al_json *v = NULL;
    if (al_query_run(&q, &out, &details, &err) == 0) {
        must(al_json_parse(&a, al_buf_str(&json), &v, NULL) == 0);
        must(al_utf8_valid(al_buf_str(&text)) && al_utf8_count(al_buf_str(&text)) <= 24000);
    } else {
        must(err.code != AL_OK && *err.msg && al_utf8_valid(al_str_of(err.msg)));
        must(details.n == 0 || al_json_parse(&a, al_buf_str(&details), &v, NULL) == 0);
    }
    must(!al_sqlite_hooks);
    unsigned char *now = al_xmalloc((size_t)n_before);
    must(pread(fd, now, (size_t)n_before, 0) == n_before && memcmp(now, before, (size_t)n_before) == 0);
    free(now);
    al_arena_free(&a);
    al_buf_free(&text);
    al_buf_free(&json);
    al_buf_free(&details);
    return 0;
}
