/* Opens datasets for reading and nothing else: limits first, then the files, then the functions, then the
 * guard. */
#include "query/query_int.h"

#include "base/mem.h"
#include "db/fdvfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STATE "alisio"
#define VALUE_BYTES (16 << 20)  /* of one text or blob */
#define STEPS_BETWEEN_LOOKS 250 /* some microseconds; a native loop on a large text makes a step long */

static const struct {
    int id, value;
} limits[] = {
    {SQLITE_LIMIT_LENGTH, VALUE_BYTES},
    {SQLITE_LIMIT_SQL_LENGTH, (int)AL_QUERY_MAX_SQL},
    {SQLITE_LIMIT_COLUMN, 2000},
    {SQLITE_LIMIT_EXPR_DEPTH, 1000},
    {SQLITE_LIMIT_PARSER_DEPTH, 2500},
    {SQLITE_LIMIT_COMPOUND_SELECT, 500},
    {SQLITE_LIMIT_VDBE_OP, 250000},
    {SQLITE_LIMIT_FUNCTION_ARG, 1000},
    {SQLITE_LIMIT_ATTACHED, AL_QUERY_MAX_DATASETS},
    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 1000},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 0},
    {SQLITE_LIMIT_WORKER_THREADS, 0},
};

static const struct {
    int id, value;
} switches[] = {
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
    {SQLITE_DBCONFIG_DQS_DML, 0},
    {SQLITE_DBCONFIG_DQS_DDL, 0},
    {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
    {SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, 0},
};

/* What a first query would fault in and build. Random numbers are drawn anew by each query's process. */
static int warm(void)
{
    sqlite3 *db = NULL;
    struct al_err err = {0};
    static const char sql[] =
        "WITH t(a, b) AS (VALUES (1, 'x'), (2, 'y')) SELECT b, sum(a) FROM t GROUP BY b ORDER BY 2";
    int rc = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK && al_query_functions(db, &err) == 0)
        rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_close(db);
    sqlite3_randomness(0, NULL);
    return rc == SQLITE_OK ? 0 : -1;
}

int al_query_prepare(void)
{
    /* Before anything is allocated by SQLite. The soft limit makes it give back cached pages first. */
    if (sqlite3_initialize() != SQLITE_OK)
        return -1;
    (void)sqlite3_soft_heap_limit64(AL_QUERY_HEAP / 4 * 3);
    return sqlite3_hard_heap_limit64(AL_QUERY_HEAP) < 0 ? -1 : warm();
}

static void state_free(void *p)
{
    struct al_query_state *s = p;
    free(s->guard.reads);
    free(s->columns);
    free(s);
}

struct al_query_state *al_query_state_of(sqlite3 *db)
{
    return sqlite3_get_clientdata(db, STATE);
}

static int on_progress(void *ud)
{
    struct al_query_state *s = ud;
    struct timespec now;
    if (s->deadline_ns == 0)
        return 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec < s->deadline_ns)
        return 0;
    s->timed_out = true;
    return 1;
}

static int fail_open(sqlite3 *db, const char *which, struct al_err *err)
{
    int rc = sqlite3_errcode(db) & 0xff;
    if (rc == SQLITE_NOMEM)
        return al_fail(err, AL_QUERY_LIMIT, "the dataset%s%s does not fit into a query's memory",
                       *which ? " " : "", which);
    al_fail(err, AL_QUERY_ERROR, "the dataset%s%s cannot be read: %s", *which ? " " : "", which,
            sqlite3_errmsg(db));
    return al_hint(err, "its file is damaged or no dataset: data_inspect the source again");
}

static int exec(sqlite3 *db, const char *sql, const char *which, struct al_err *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail_open(db, which, err);
}

static void name_of(const struct al_query_dataset *d, char name[64])
{
    snprintf(name, 64, "fd:%d", d->fd);
}

static int attach_all(sqlite3 *db, const struct al_query *q, struct al_query_state *s, struct al_err *err)
{
    char name[64];
    for (size_t i = 0; i < q->n_datasets; i++) {
        const struct al_query_dataset *d = &q->datasets[i];
        if (!*d->alias || sqlite3_stricmp(d->alias, "main") == 0 || sqlite3_stricmp(d->alias, "temp") == 0)
            return al_fail(err, AL_QUERY_ERROR, "\"%s\" cannot be the alias of a dataset", d->alias);
        name_of(d, name);
        char *sql = sqlite3_mprintf("ATTACH %Q AS \"%w\"", name, d->alias);
        int r = sql ? exec(db, sql, d->alias, err) : al_fail(err, AL_QUERY_LIMIT, "no memory for a query");
        sqlite3_free(sql);
        if (r < 0)
            return -1;
        snprintf(s->schemas[s->n_schemas++], sizeof s->schemas[0], "%s", d->alias);
    }
    return 0;
}

static int set_up(sqlite3 *db, const struct al_query *q, struct al_query_state *s, struct al_err *err)
{
    static const char *const keep[] = {NULL};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        (void)sqlite3_limit(db, limits[i].id, limits[i].value);
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        (void)sqlite3_db_config(db, switches[i].id, switches[i].value, NULL);
    /* What a hostile file could name in its schema: full-text search and its like are not for data. */
    (void)sqlite3_drop_modules(db, (const char **)(uintptr_t)keep);
    /* The first reads nothing of the file; a query's own sorting goes to the spill file. */
    if (exec(db,
             "PRAGMA temp_store=FILE; PRAGMA cell_size_check=ON; PRAGMA query_only=ON; PRAGMA "
             "cache_size=-16384",
             "", err) < 0)
        return -1;
    sqlite3_progress_handler(db, STEPS_BETWEEN_LOOKS, on_progress, s);
    bool lone = q->n_datasets == 1 && !*q->datasets[0].alias;
    if (lone)
        snprintf(s->schemas[s->n_schemas++], sizeof s->schemas[0], "main");
    else if (attach_all(db, q, s, err) < 0)
        return -1;
    if (al_query_functions(db, err) < 0)
        return -1;
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_set_authorizer(db, al_guard_authorize, &s->guard);
    return 0;
}

int al_query_open(const struct al_query *q, struct sqlite3 **ret, struct al_err *err)
{
    sqlite3 *db = NULL;
    char name[64] = ":memory:";
    if (q->n_datasets == 0 || q->n_datasets > AL_QUERY_MAX_DATASETS)
        return al_fail(err, AL_QUERY_ERROR, "a query takes 1 to %d datasets, not %zu", AL_QUERY_MAX_DATASETS,
                       q->n_datasets);
    if (q->n_datasets == 1 && !*q->datasets[0].alias)
        name_of(&q->datasets[0], name);
    int rc =
        sqlite3_open_v2(name, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (rc != SQLITE_OK) {
        if (db)
            (void)fail_open(db, "", err);
        else
            (void)al_fail(err, AL_QUERY_LIMIT, "no memory for a query");
        sqlite3_close(db);
        return -1;
    }
    struct al_query_state *s = al_xcalloc(1, sizeof *s);
    s->db = db;
    if (sqlite3_set_clientdata(db, STATE, s, state_free) != SQLITE_OK) {
        sqlite3_close(db);
        return al_fail(err, AL_QUERY_LIMIT, "no memory for a query");
    }
    if (set_up(db, q, s, err) < 0) {
        sqlite3_close(db);
        return -1;
    }
    *ret = db;
    return 0;
}
