/* SQLite behind a small surface: open, prepared statements, transactions, migrations. It knows no table of
 * ours. */
#ifndef AL_DB_DB_H
#define AL_DB_DB_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct al_db;
struct al_db_opts {
    bool read_only;
    bool network_fs; /* rollback journal and no mmap instead of WAL */
};
/* File mode 0600. WAL, synchronous NORMAL, foreign keys, trusted_schema off; own busy handler (naps ≤ 1 ms, 5
 * s in all, then BUSY). INTERNAL when the file is no database. A file that has content keeps its journal mode
 * until al_db_migrate knows its version. */
int al_db_open(const char *path, const struct al_db_opts *opts, struct al_db **ret,
               struct al_err *err) AL_MUST_CHECK;
void al_db_close(struct al_db *db);
int al_db_exec(struct al_db *db, const char *sql, struct al_err *err) AL_MUST_CHECK;
int64_t al_db_changes(struct al_db *db);
void al_db_checkpoint(struct al_db *db); /* PASSIVE: waits for nobody */
/* The same through a connection of its own, so from any thread, while the file stays open elsewhere. */
void al_db_checkpoint_file(const char *path);

/* BEGIN IMMEDIATE … COMMIT. With sync, the transaction is on the disk when commit returns; nobody else waits
 * for that. */
int al_db_begin(struct al_db *db, bool sync, struct al_err *err) AL_MUST_CHECK;
int al_db_commit(struct al_db *db, struct al_err *err) AL_MUST_CHECK;
void al_db_rollback(struct al_db *db); /* no-op outside a transaction */
bool al_db_in_transaction(const struct al_db *db);

/* A cached prepared statement; sql must be a string literal (its address is the cache key). */
struct al_stmt;
int al_db_prepare(struct al_db *db, const char *sql, struct al_stmt **ret, struct al_err *err) AL_MUST_CHECK;
void al_bind_text(struct al_stmt *s, int i,
                  struct al_str v); /* {NULL,0} binds NULL; bytes must live until the step */
void al_bind_textz(struct al_stmt *s, int i, const char *z);
void al_bind_int(struct al_stmt *s, int i, int64_t v);
void al_bind_null(struct al_stmt *s, int i);
/* 1 row, 0 done (statement reset), -1 failed (reset). */
int al_step(struct al_stmt *s, struct al_err *err) AL_MUST_CHECK;
void al_stmt_reset(struct al_stmt *s); /* ends a loop early, drops bindings */
int64_t al_col_int(struct al_stmt *s, int i);
struct al_str al_col_text(struct al_stmt *s, int i); /* view until the next step */
bool al_col_is_null(struct al_stmt *s, int i);

/* Migrations forward, in one transaction, after a copy of the file beside it; table schema_version. A newer
 * schema is STATE_TOO_NEW and nothing is touched. migrations[i] brings version i to i + 1. */
int al_db_migrate(struct al_db *db, const char *const *migrations, int n, struct al_err *err) AL_MUST_CHECK;
int al_db_version(struct al_db *db, int *ret, struct al_err *err) AL_MUST_CHECK;

#endif
