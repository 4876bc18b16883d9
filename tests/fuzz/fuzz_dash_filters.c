/* Filters of any JSON: what is taken becomes a condition that runs, reads the same when written, and keeps
 * some rows. */
#include "dashboard/filter_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "db/fdvfs.h"
#include "query/query.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char fixture[] = "CREATE TABLE data(region, amount, day, code, year, flag, \"a\"\"b c\");"
                              "INSERT INTO data VALUES ('North', 10, '2024-01-31', 12, 1999, 'yes', NULL), "
                              "(NULL, 'n/a', '2024-03-01 09:30:15', 'A1', "
                              "2001, 'no', 'x'), ('', '1,234', NULL, '012', NULL, NULL, '%'), ('a_b', -2.5, "
                              "'1999-12-31T23:59', '1.5', 2024, 'yes', 7);"
                              "CREATE VIEW data_values AS SELECT * FROM data";

static int fd = -1;

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void make(void)
{
    sqlite3 *db = NULL;
    sqlite3_int64 n = 0;
    int spill = memfd_create("spill", MFD_CLOEXEC);
    fd = memfd_create("dataset", MFD_CLOEXEC);
    must(al_query_prepare() == 0 && al_fdvfs_register(spill, (uint64_t)64 << 20, NULL) == 0);
    must(sqlite3_open(":memory:", &db) == SQLITE_OK &&
         sqlite3_exec(db, fixture, NULL, NULL, NULL) == SQLITE_OK);
    unsigned char *bytes = sqlite3_serialize(db, "main", &n, 0);
    must(bytes && write(fd, bytes, (size_t)n) == n);
    sqlite3_free(bytes);
    sqlite3_close(db);
}

static void fill_catalog(struct al_dash *d, struct al_dash_column columns[7])
{
    static const char *const names[] = {"region", "amount", "day", "code", "year", "flag", "a\"b c"};
    static const char *const types[] = {"text", "integer", "date", "text", "integer", "boolean", "text"};
    for (int i = 0; i < 7; i++) {
        columns[i].name = columns[i].label = columns[i].display = al_str_of(names[i]);
        columns[i].type = al_str_of(types[i]);
    }
    columns[1].text_fallbacks = 2;
    columns[2].time = AL_TIME_DATE;
    columns[4].time = AL_TIME_YEAR;
    columns[5].top[0] = AL_STR("yes");
    columns[5].n_top = 1;
    d->catalog.columns = columns;
    d->catalog.n = 7;
    d->catalog.view = AL_STR("data_values");
}

static void run(const struct al_dash *d)
{
    autobuf struct al_buf sql = AL_BUF_INIT(1 << 20), text = AL_BUF_INIT(1 << 16),
                          json = AL_BUF_INIT(1 << 16);
    struct al_query_out out = {.text = &text, .json = &json};
    struct al_query q = {.n_datasets = 1, .max_rows = 5};
    struct al_err err = {0};
    al_buf_adds(&sql, "SELECT count(*) FROM data_values ");
    al_sql_where(d, &sql);
    must(!al_buf_failed(&sql));
    q.datasets[0].fd = fd;
    q.sql = al_buf_str(&sql);
    /* Too deep or too long is a limit; that it is not understood would be ours. */
    must(al_query_run(&q, &out, NULL, &err) == 0 || err.code == AL_QUERY_LIMIT);
}

static void write_all(const struct al_dash *d, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_arr(&w);
    for (size_t i = 0; i < d->plan.n_filters; i++)
        al_filter_write(d, &d->plan.filters[i], &w);
    al_jw_end(&w);
    must(!al_buf_failed(out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct al_dash d;
    struct al_dash_column columns[7] = {0};
    const struct al_json *j = NULL;
    struct al_err err = {0};
    if (fd < 0)
        make();
    d = (struct al_dash){0};
    al_arena_init(&d.arena, (size_t)8 << 20);
    fill_catalog(&d, columns);
    if (al_json_parse(&d.arena, (struct al_str){(const char *)data, size}, &j, &err) == 0 &&
        al_filters_read(&d, j, false, &err) == 0) {
        autobuf struct al_buf first = AL_BUF_INIT(1 << 20), again = AL_BUF_INIT(1 << 20),
                              words = AL_BUF_INIT(1 << 20);
        run(&d);
        write_all(&d, &first);
        for (size_t i = 0; i < d.plan.n_filters; i++)
            al_filter_words(&d, &d.plan.filters[i], &words);
        size_t n = d.plan.n_filters;
        must(al_json_parse(&d.arena, al_buf_str(&first), &j, &err) == 0);
        must(al_filters_read(&d, j, true, &err) == 0 && d.plan.n_filters == n);
        write_all(&d, &again);
        must(al_str_eq(al_buf_str(&first), al_buf_str(&again)));
    }
    al_arena_free(&d.arena);
    return 0;
}
