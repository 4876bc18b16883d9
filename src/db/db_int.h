/* What the files of this folder share: the connection and how SQLite's results become errors. */
#ifndef AL_DB_DB_INT_H
#define AL_DB_DB_INT_H

#include "db/db.h"

#include <sqlite3.h>

struct al_stmt {
    struct al_db *db;
    sqlite3_stmt *h;
    const char *sql; /* the literal's address */
    struct al_stmt *next;
};

struct al_db {
    sqlite3 *h;
    char *path;
    struct al_db_opts opts;
    struct al_stmt *cache;
    bool in_tx, sync;
    int wal_fd;   /* for syncing; -1 until the first time */
    bool waiting; /* al_db_exec_wait counts the time */
    uint64_t busy_since_ns;
    uint64_t rng;
};

/* Waits at most this long for another process, in naps of at most 1 ms. */
#define AL_DB_BUSY_MS 5000

/* Sets err from an SQLite result. Returns -1. */
int al_db_error(struct al_db *db, int rc, struct al_err *err);
/* The n-th nap in a row: 25 us to 1 ms, jittered, so that waiting processes do not march in step. */
void al_db_nap(struct al_db *db, int n);
/* exec that also waits where SQLite reports BUSY without asking the busy handler. An SQLite result. */
int al_db_exec_wait(struct al_db *db, const char *sql);
/* Makes a file of mode 0600 whatever the umask is. 1 made, 0 it was there, -1 with errno. */
int al_db_make_file(const char *path);
/* WAL, or a rollback journal on a network file system. */
int al_db_set_journal(struct al_db *db, struct al_err *err) AL_MUST_CHECK;

#endif
