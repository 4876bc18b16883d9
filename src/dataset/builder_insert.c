/* A batch into its table by one statement: the batch is a virtual table of this connection (eponymous, so
 * nothing of it is in the file). A statement for each row costs about twice as much. */
#include "dataset/builder_int.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

#define MODULE "_alisio_rows"

struct rows_table {
    sqlite3_vtab base;
    struct al_builder *builder;
};
struct rows_cursor {
    sqlite3_vtab_cursor base;
    const struct al_bcell *at, *end;
    size_t n_columns;
};

static int rows_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret,
                        char **why)
{
    (void)argc, (void)argv, (void)why;
    autobuf struct al_buf sql = AL_BUF_INIT(16384);
    for (int i = 0; i < AL_TABLE_MAX_COLUMNS; i++)
        al_buf_addf(&sql, "%sc%d", i ? "," : "CREATE TABLE x(", i);
    al_buf_add(&sql, ")", 2);
    int rc = sqlite3_declare_vtab(db, sql.p);
    if (rc != SQLITE_OK)
        return rc;
    struct rows_table *t = al_xcalloc(1, sizeof *t);
    t->builder = aux;
    *ret = &t->base;
    return SQLITE_OK;
}

static int rows_disconnect(sqlite3_vtab *t)
{
    free(t);
    return SQLITE_OK;
}

static int rows_plan(sqlite3_vtab *t, sqlite3_index_info *info)
{
    (void)t, (void)info;
    return SQLITE_OK;
}

static int rows_open(sqlite3_vtab *t, sqlite3_vtab_cursor **ret)
{
    (void)t;
    struct rows_cursor *c = al_xcalloc(1, sizeof *c);
    *ret = &c->base;
    return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *cursor)
{
    free(cursor);
    return SQLITE_OK;
}

static int rows_filter(sqlite3_vtab_cursor *cursor, int n, const char *s, int argc, sqlite3_value **argv)
{
    (void)n, (void)s, (void)argc, (void)argv;
    struct rows_cursor *c = (struct rows_cursor *)cursor;
    const struct al_batch *batch = ((struct rows_table *)cursor->pVtab)->builder->inserting;
    c->n_columns = batch ? batch->n_columns : 0;
    c->at = batch ? batch->cells : NULL;
    c->end = batch ? batch->cells + batch->n_rows * batch->n_columns : NULL;
    return SQLITE_OK;
}

static int rows_next(sqlite3_vtab_cursor *cursor)
{
    struct rows_cursor *c = (struct rows_cursor *)cursor;
    c->at += c->n_columns;
    return SQLITE_OK;
}

static int rows_eof(sqlite3_vtab_cursor *cursor)
{
    struct rows_cursor *c = (struct rows_cursor *)cursor;
    return c->at >= c->end;
}

static int rows_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i)
{
    const struct al_bcell *cell = ((struct rows_cursor *)cursor)->at + i;
    switch ((enum al_value_type)cell->type) {
    case AL_VALUE_NULL:
        break;
    case AL_VALUE_INT:
        sqlite3_result_int64(ctx, cell->i);
        break;
    case AL_VALUE_REAL:
        sqlite3_result_double(ctx, cell->d);
        break;
    case AL_VALUE_TEXT:
        sqlite3_result_text(ctx, cell->p, (int)cell->n, SQLITE_STATIC);
        break;
    }
    return SQLITE_OK;
}

static int rows_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret)
{
    (void)cursor;
    *ret = 0;
    return SQLITE_OK;
}

static const sqlite3_module rows_module = {
    .xConnect = rows_connect,
    .xBestIndex = rows_plan,
    .xDisconnect = rows_disconnect,
    .xOpen = rows_open,
    .xClose = rows_close,
    .xFilter = rows_filter,
    .xNext = rows_next,
    .xEof = rows_eof,
    .xColumn = rows_column,
    .xRowid = rows_rowid,
};

int al_builder_module(struct al_builder *b, struct al_err *err)
{
    int rc = sqlite3_create_module(b->db, MODULE, &rows_module, b);
    return rc == SQLITE_OK ? 0 : al_builder_sql_error(b, rc, err);
}

static int prepare_insert(struct al_builder *b, size_t n, struct al_err *err)
{
    autobuf struct al_buf list = AL_BUF_INIT(16384);
    for (size_t i = 0; i < n; i++)
        al_buf_addf(&list, "%sc%zu", i ? "," : "", i);
    al_buf_addc(&list, '\0');
    return al_builder_prepare(b, &b->insert, err, "INSERT INTO \"%w\" SELECT %s FROM " MODULE, b->table,
                              list.p);
}

int al_builder_insert(struct al_builder *b, struct al_batch *batch, struct al_err *err)
{
    if (!b->insert && prepare_insert(b, batch->n_columns, err) < 0)
        return -1;
    b->inserting = batch;
    int rc = sqlite3_step(b->insert);
    if (rc == SQLITE_DONE)
        b->rows_stored += batch->n_rows;
    rc = sqlite3_reset(b->insert);
    b->inserting = NULL;
    if (rc == SQLITE_TOOBIG) {
        al_fail(err, AL_INGEST_LIMIT, "a row after row %llu is larger than a table can hold (1 GB)",
                (unsigned long long)batch->rows_before);
        return al_hint(err, "leave out the largest cells of that row");
    }
    return rc == SQLITE_OK ? 0 : al_builder_sql_error(b, rc, err);
}

int al_builder_sql_error(struct al_builder *b, int rc, struct al_err *err)
{
    switch (rc & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
        al_fail(err, AL_INGEST_LIMIT, "the dataset could not be written: no room is left for it");
        al_hint(err, "make room on the disk that holds alisio's state, or raise the limit of storage");
        break;
    case SQLITE_INTERRUPT:
        al_fail(err, AL_CANCELLED, "the ingest was cancelled");
        break;
    case SQLITE_NOMEM:
        al_fail(err, AL_MEMORY_LIMIT, "the ingest ran out of memory");
        break;
    default:
        al_fail(err, AL_INTERNAL, "the dataset could not be written");
        break;
    }
    return al_detail(err, "%s", sqlite3_errmsg(b->db));
}

int al_builder_prepare(struct al_builder *b, sqlite3_stmt **ret, struct al_err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *sql = sqlite3_vmprintf(fmt, ap);
    va_end(ap);
    int rc = sql ? sqlite3_prepare_v3(b->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return rc == SQLITE_OK ? 0 : al_builder_sql_error(b, rc, err);
}

int al_builder_exec(struct al_builder *b, struct al_err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *sql = sqlite3_vmprintf(fmt, ap);
    va_end(ap);
    int rc = sql ? sqlite3_exec(b->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return rc == SQLITE_OK ? 0 : al_builder_sql_error(b, rc, err);
}
