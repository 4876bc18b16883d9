#include "db/db_int.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

int al_db_version(struct al_db *db, int *ret, struct al_err *err)
{
    struct al_stmt *s;
    int r;
    if (al_db_prepare(db, "SELECT 1 FROM sqlite_schema WHERE type='table' AND name='schema_version'", &s,
                      err) < 0 ||
        (r = al_step(s, err)) < 0)
        return -1;
    al_stmt_reset(s);
    if (r == 0) {
        *ret = 0;
        return 0;
    }
    if (al_db_prepare(db, "SELECT coalesce(max(version),0) FROM schema_version", &s, err) < 0 ||
        al_step(s, err) < 0)
        return -1;
    int64_t v = al_col_int(s, 0);
    al_stmt_reset(s);
    if (v < 0 || v > 1000000)
        return al_fail(err, AL_INTERNAL, "the database has no readable version");
    *ret = (int)v;
    return 0;
}

/* dst becomes a copy of what path holds, through a connection of its own that only reads. */
static int copy_database(const char *path, const char *dst_path)
{
    sqlite3 *src = NULL, *dst = NULL;
    int rc = sqlite3_open_v2(path, &src, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_open_v2(dst_path, &dst, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(src, AL_DB_BUSY_MS);
        sqlite3_backup *b = sqlite3_backup_init(dst, "main", src, "main");
        rc = b ? sqlite3_backup_step(b, -1) : sqlite3_errcode(dst);
        if (rc == SQLITE_DONE)
            rc = SQLITE_OK;
        if (b)
            sqlite3_backup_finish(b);
    }
    sqlite3_close_v2(dst);
    sqlite3_close_v2(src);
    return rc;
}

static int back_up(struct al_db *db, int version, struct al_err *err)
{
    autobuf struct al_buf name = AL_BUF_INIT(8192), tmp = AL_BUF_INIT(8192);
    al_buf_addf(&name, "%s.v%d.bak%c", db->path, version, 0);
    al_buf_addf(&tmp, "%s.v%d.tmp%c", db->path, version, 0);
    if (al_buf_failed(&name) || al_buf_failed(&tmp))
        return al_fail(err, AL_INTERNAL, "the database's path is too long");
    /* Left by a process that died here: we hold the write lock, so nobody else is at it. */
    unlink(tmp.p);
    if (al_db_make_file(tmp.p) != 1)
        return al_fail_errno(err, AL_INTERNAL, errno, "the copy before a migration cannot be made");
    int rc = copy_database(db->path, tmp.p);
    if (rc != SQLITE_OK || rename(tmp.p, name.p) < 0) {
        unlink(tmp.p);
        al_fail(err, AL_INTERNAL, "the copy before a migration failed: %s", sqlite3_errstr(rc));
        return al_hint(err, "is there room on the disk? nothing was changed");
    }
    return 0;
}

static int set_version(struct al_db *db, int version, struct al_err *err)
{
    if (al_db_exec(
            db,
            "CREATE TABLE IF NOT EXISTS schema_version(version INTEGER NOT NULL); DELETE FROM schema_version",
            err) < 0)
        return -1;
    struct al_stmt *s;
    if (al_db_prepare(db, "INSERT INTO schema_version VALUES(?1)", &s, err) < 0)
        return -1;
    al_bind_int(s, 1, version);
    return al_step(s, err);
}

static int migrate_in_tx(struct al_db *db, const char *const *migrations, int n, struct al_err *err)
{
    int v;
    /* Again, under the lock: another process may have done it meanwhile. */
    if (al_db_version(db, &v, err) < 0)
        return -1;
    if (v >= n)
        return 0;
    if (v > 0 && back_up(db, v, err) < 0)
        return -1;
    for (int i = v; i < n; i++) {
        if (al_db_exec(db, migrations[i], err) < 0)
            return al_wrap(err, "migration %d", i + 1);
    }
    return set_version(db, n, err);
}

int al_db_migrate(struct al_db *db, const char *const *migrations, int n, struct al_err *err)
{
    int v;
    if (al_db_version(db, &v, err) < 0)
        return -1;
    if (v > n) {
        /* Not even what waits in the WAL is moved into the file when we close. */
        sqlite3_db_config(db->h, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        al_fail(err, AL_STATE_TOO_NEW,
                "the state was written by a newer version (schema %d, this one knows %d)", v, n);
        return al_hint(err, "update alisio, or use another state folder with ALISIO_STATE_HOME");
    }
    if (al_db_set_journal(db, err) < 0)
        return -1;
    if (v == n)
        return 0;
    if (al_db_begin(db, true, err) < 0)
        return -1;
    if (migrate_in_tx(db, migrations, n, err) < 0) {
        al_db_rollback(db);
        return -1;
    }
    return al_db_commit(db, err);
}
