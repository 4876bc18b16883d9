#include "test.h"

#include "query_world.h"

#include "base/mem.h"
#include "db/fdvfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char metadata[] =
    "CREATE TABLE _alisio_meta(key, value);"
    "CREATE TABLE _alisio_sheets(ordinal, name, table_name, rows, columns, values_name);"
    "CREATE TABLE _alisio_columns(table_name, ordinal, name, label, inferred_type, scale, parsed_as);"
    "INSERT INTO _alisio_sheets VALUES (1, 'data', 'data', 0, 0, 'data_values');";

static int spill = -1;

void query_world_spill(uint64_t max)
{
    struct al_err err = {0};
    assert_int_equal(al_fdvfs_register(spill, max, &err), 0);
}

off_t query_world_spilled(void)
{
    struct stat st;
    assert_int_equal(fstat(spill, &st), 0);
    return st.st_size;
}

void query_world_init(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    spill = memfd_create("spill", MFD_CLOEXEC);
    assert_true(spill >= 0);
    assert_int_equal(al_query_prepare(), 0);
    query_world_spill(AL_QUERY_SPILL);
}

static int make(const char *first, const char *sql, bool whole)
{
    sqlite3 *db = NULL;
    struct al_err err = {0};
    char *why = NULL;
    query_world_init();
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    if (al_query_functions(db, &err) < 0)
        fail_msg("%s", err.msg);
    if (sqlite3_exec(db, first, NULL, NULL, &why) != SQLITE_OK ||
        (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK && whole))
        fail_msg("%s in: %s", why, sql);
    sqlite3_int64 n = 0;
    sqlite3_free(why);
    unsigned char *bytes = sqlite3_serialize(db, "main", &n, 0);
    assert_non_null(bytes);
    int fd = memfd_create("dataset", MFD_CLOEXEC);
    assert_int_equal(write(fd, bytes, (size_t)n), n);
    sqlite3_free(bytes);
    sqlite3_close(db);
    return fd;
}

int query_dataset(const char *sql)
{
    return make(metadata, sql, true);
}

int query_empty_dataset(const char *sql)
{
    return make("", sql, true);
}

int query_hostile_dataset(const char *sql)
{
    return make("", sql, false);
}

static bool keep_bytes(void *ud, struct al_str bytes)
{
    struct query_world *w = ud;
    al_buf_add_str(&w->bytes, bytes);
    return true;
}

void query_world_open(struct query_world *w, int fd)
{
    *w = (struct query_world){0};
    w->q.n_datasets = 1;
    w->q.datasets[0].fd = fd;
    w->q.timeout_ms = 20000;
    al_buf_init(&w->text, 1u << 20);
    al_buf_init(&w->json, 8u << 20);
    al_buf_init(&w->details, 1u << 16);
    al_buf_init(&w->bytes, 256u << 20);
    al_arena_init(&w->arena, 256u << 20);
}

void query_world_close(struct query_world *w)
{
    for (size_t i = 0; i < w->q.n_datasets; i++)
        close(w->q.datasets[i].fd);
    al_buf_free(&w->text);
    al_buf_free(&w->json);
    al_buf_free(&w->details);
    al_buf_free(&w->bytes);
    al_arena_free(&w->arena);
}

int ask(struct query_world *w, const char *sql)
{
    struct al_query_out out = {.chunk = keep_bytes, .ud = w, .text = &w->text, .json = &w->json};
    al_buf_clear(&w->text);
    al_buf_clear(&w->json);
    al_buf_clear(&w->details);
    al_buf_clear(&w->bytes);
    al_arena_free(&w->arena);
    w->value = NULL;
    al_err_clear(&w->err);
    w->q.sql = al_str_of(sql);
    int r = al_query_run(&w->q, &out, &w->details, &w->err);
    if (r < 0) {
        assert_int_not_equal(w->err.code, AL_OK);
        if (w->details.n > 0)
            assert_int_equal(al_json_parse(&w->arena, al_buf_str(&w->details), &w->value, NULL), 0);
        return r;
    }
    if (al_json_parse(&w->arena, al_buf_str(&w->json), &w->value, &w->err) < 0)
        fail_msg("%s: %.*s", w->err.msg, AL_FMT(al_buf_str(&w->json)));
    return 0;
}

void must(struct query_world *w, const char *sql)
{
    if (ask(w, sql) < 0)
        fail_msg("%s: %s %s (%s)", sql, al_code_name(w->err.code), w->err.msg, w->err.hint);
}

void assert_rows(struct query_world *w, const char *sql, const char *rows)
{
    must(w, sql);
    const struct al_json *v = al_json_get(w->value, "rows");
    autofree char *got = al_xdup(v->raw.p, v->raw.n);
    if (strcmp(got, rows) != 0)
        fail_msg("%s\n  gave %s\n  not  %s", sql, got, rows);
}

void assert_refused(struct query_world *w, const char *sql, enum al_code code, const char *part)
{
    if (ask(w, sql) == 0)
        fail_msg("%s: was not refused: %.*s", sql, AL_FMT(al_buf_str(&w->text)));
    if (w->err.code != code || (!strstr(w->err.msg, part) && !strstr(w->err.hint, part)))
        fail_msg("%s: %s \"%s\" (%s), not %s with \"%s\"", sql, al_code_name(w->err.code), w->err.msg,
                 w->err.hint, al_code_name(code), part);
}

void assert_note(struct query_world *w, const char *part)
{
    al_json_each(note,
                 al_json_get(w->value, "notes")) if (al_str_find(note->str, al_str_of(part)) >= 0) return;
    fail_msg("no note has \"%s\": %.*s", part, AL_FMT(al_json_get(w->value, "notes")->raw));
}

void assert_no_note(struct query_world *w)
{
    if (al_json_get(w->value, "notes")->n > 0)
        fail_msg("there are notes: %.*s", AL_FMT(al_json_get(w->value, "notes")->raw));
}
