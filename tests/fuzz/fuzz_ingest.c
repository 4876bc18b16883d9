/*
 * A whole file through what reads and stores it: bytes to rows to a dataset to its description. The first
 * byte chooses the file's name and what is forced.
 */
#include "dataset/dataset.h"

#include "base/json.h"
#include "base/mem.h"
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

#define MAX_ROWS 200000

static int memory(const void *p, size_t n)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    MUST(fd >= 0 && write(fd, p, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

/* Every row that was counted is there, in the table and in its view. */
static void check_tables(sqlite3 *db)
{
    sqlite3_stmt *list, *s;
    MUST(sqlite3_prepare_v2(
             db,
             "SELECT printf('SELECT count(*) = %d FROM \"%w\"', rows, table_name), "
             "printf('SELECT count(*) = %d FROM \"%w_values\"', rows, table_name) FROM _alisio_sheets",
             -1, &list, NULL) == SQLITE_OK);
    while (sqlite3_step(list) == SQLITE_ROW) {
        for (int i = 0; i < 2; i++) {
            const char *sql = (const char *)sqlite3_column_text(list, i);
            MUST(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK);
            MUST(sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) == 1);
            sqlite3_finalize(s);
        }
    }
    sqlite3_finalize(list);
}

static void check_description(sqlite3 *db)
{
    autobuf struct al_buf out = AL_BUF_INIT((size_t)64 << 20);
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)256 << 20);
    const struct al_json *v;
    struct al_err err;
    MUST(al_dataset_describe(db, AL_STR(""), 5, &out, &err) == 0);
    MUST(al_json_parse(&a, al_buf_str(&out), &v, &err) == 0);
}

static void ingest(sqlite3 *db, int fd, struct al_str name, const struct al_table_opts *opts)
{
    struct al_dataset_limits limits = {.max_rows = MAX_ROWS, .stats_bytes = 1 << 20};
    struct al_table_found found = {0};
    struct al_builder *b;
    struct al_err err = {0};
    char sha256[65] = "";
    MUST(al_builder_new(db, &limits, &b, &err) == 0);
    int r = al_table_read(fd, name, opts, al_builder_sink(b, NULL, NULL), &found, sha256, &err);
    if (r == 0) {
        struct al_dataset_source src = {.name = name, .sha256 = sha256, .found = &found};
        r = al_builder_finish(b, &src, &err);
    }
    al_builder_free(b);
    MUST(r == 0 || (err.code != AL_INTERNAL && err.msg[0]));
    if (r == 0) {
        check_tables(db);
        check_description(db);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"f.csv", "f.json",   "f.jsonl", "f.xlsx",
                                        "f.tsv", "f.csv.gz", "f",       "f.txt"};
    char db_name[32];
    struct al_err err;
    sqlite3 *db;
    if (size < 1 || size > 1 << 18)
        return 0;
    struct al_table_opts opts = {.max_bytes = 16 << 20};
    opts.header = (signed char)((data[0] >> 3 & 3) == 3 ? -1 : (data[0] >> 3 & 3) == 2);
    opts.skip_rows = data[0] >> 5 & 1;
    opts.has_skip_rows = opts.skip_rows;
    opts.delimiter = data[0] >> 6 & 1 ? ';' : 0;
    int in = memory(data + 1, size - 1), out = memfd_create("fuzz", MFD_CLOEXEC);
    MUST(out >= 0 && al_fdvfs_register(-1, 0, &err) == 0);
    snprintf(db_name, sizeof db_name, "fd:%d", out);
    MUST(sqlite3_open_v2(db_name, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK);
    ingest(db, in, al_str_of(names[data[0] & 7]), &opts);
    MUST(sqlite3_close(db) == SQLITE_OK);
    close(in);
    close(out);
    return 0;
}
