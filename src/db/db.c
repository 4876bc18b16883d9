#include "db/db_int.h"

#include "base/ident.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int al_db_error(struct al_db *db, int rc, struct al_err *err)
{
    const char *detail = db && db->h ? sqlite3_errmsg(db->h) : "";
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        al_fail(err, AL_BUSY, "the database is in use by another process");
        al_hint(err, "try again in a moment");
        break;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        al_fail(err, AL_INTERNAL, "the database file is damaged or no database");
        al_hint(err, "move it away, or put a copy in its place (one from before a migration ends in .bak)");
        break;
    case SQLITE_FULL:
        al_fail(err, AL_INTERNAL, "the database cannot grow: the disk is full");
        al_hint(err, "free some space; nothing was lost");
        break;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
        al_fail(err, AL_INTERNAL, "the database file cannot be opened for writing");
        break;
    default:
        al_fail(err, AL_INTERNAL, "the database failed: %s", sqlite3_errstr(rc));
    }
    return al_detail(err, "%s (%d) %s", detail, rc, db && db->path ? db->path : "");
}

void al_db_nap(struct al_db *db, int n)
{
    db->rng ^= db->rng << 13;
    db->rng ^= db->rng >> 7;
    db->rng ^= db->rng << 17;
    /* A row takes about 20 us to write: the first naps are short. */
    uint64_t half_ns = n < 4 ? UINT64_C(25000) << n : 500000;
    struct timespec t = {0, (long)(half_ns + db->rng % half_ns)};
    nanosleep(&t, NULL);
}

static bool waited_enough(struct al_db *db)
{
    return al_mono_ns() - db->busy_since_ns >= AL_DB_BUSY_MS * UINT64_C(1000000);
}

/* SQLite's own busy timeout backs off to 100 ms naps, which is most of what a waiting writer would then wait.
 */
static int on_busy(void *ud, int n)
{
    struct al_db *db = ud;
    if (n == 0 && !db->waiting)
        db->busy_since_ns = al_mono_ns();
    if (waited_enough(db))
        return 0;
    al_db_nap(db, n);
    return 1;
}

int al_db_exec_wait(struct al_db *db, const char *sql)
{
    /* The handler's waiting and ours count together. */
    db->waiting = true;
    db->busy_since_ns = al_mono_ns();
    int rc, n = 0;
    while (((rc = sqlite3_exec(db->h, sql, NULL, NULL, NULL)) & 0xff) == SQLITE_BUSY && !waited_enough(db))
        al_db_nap(db, n++);
    db->waiting = false;
    return rc;
}

int al_db_make_file(const char *path)
{
    int fd = openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return errno == EEXIST ? 0 : -1;
    int r = fchmod(fd, 0600), saved = errno;
    close(fd);
    errno = saved;
    return r < 0 ? -1 : 1;
}

/*
 * An existing file is looked at by name only: to open and close it would drop the POSIX locks that another
 * connection of this process holds.
 */
static int check_file(const char *path, bool read_only, struct al_err *err)
{
    if (!read_only && al_db_make_file(path) < 0) {
        al_fail_errno(err, AL_INTERNAL, errno, "the database file cannot be made");
        return al_detail(err, "%s", path);
    }
    struct stat st;
    if (lstat(path, &st) < 0) {
        al_fail_errno(err, errno == ENOENT ? AL_NOT_FOUND : AL_INTERNAL, errno, "the database file");
        return al_detail(err, "%s", path);
    }
    if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && !read_only)) {
        al_fail(err, AL_PERMISSION_DENIED, "the database file is %s",
                S_ISREG(st.st_mode) ? "another user's" : "no regular file");
        return al_detail(err, "%s", path);
    }
    if (!read_only && (st.st_mode & 07777) != 0600 && fchmodat(AT_FDCWD, path, 0600, 0) < 0) {
        al_fail_errno(err, AL_PERMISSION_DENIED, errno, "the database file cannot be made private");
        return al_detail(err, "%s", path);
    }
    return 0;
}

static bool is_empty(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size == 0;
}

int al_db_set_journal(struct al_db *db, struct al_err *err)
{
    const char *sql = db->opts.network_fs
                          ? "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL; PRAGMA mmap_size=0"
                          : "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL";
    int rc = al_db_exec_wait(db, sql);
    return rc == SQLITE_OK ? 0 : al_db_error(db, rc, err);
}

static int configure(struct al_db *db, bool fresh, struct al_err *err)
{
    sqlite3_extended_result_codes(db->h, 1);
    sqlite3_busy_handler(db->h, on_busy, db);
    sqlite3_db_config(db->h, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    int rc =
        al_db_exec_wait(db, "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF; PRAGMA synchronous=NORMAL;"
                            "PRAGMA wal_autocheckpoint=4000; PRAGMA journal_size_limit=33554432;"
                            "SELECT count(*) FROM sqlite_schema");
    if (rc != SQLITE_OK)
        return al_db_error(db, rc, err);
    /* The mode is written into the file: one that may be of a newer version is left as it is (al_db_migrate).
     */
    return fresh && !db->opts.read_only ? al_db_set_journal(db, err) : 0;
}

int al_db_open(const char *path, const struct al_db_opts *opts, struct al_db **ret, struct al_err *err)
{
    struct al_db_opts none = {0};
    if (!opts)
        opts = &none;
    if (check_file(path, opts->read_only, err) < 0)
        return -1;
    bool fresh = is_empty(path);
    struct al_db *db = al_xcalloc(1, sizeof *db);
    db->opts = *opts;
    db->wal_fd = -1;
    db->path = al_xstrdup(path);
    al_random(&db->rng, sizeof db->rng);
    db->rng |= 1;
    int flags = (opts->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX;
    int rc = sqlite3_open_v2(path, &db->h, flags, NULL);
    int r = rc == SQLITE_OK ? configure(db, fresh, err) : al_db_error(db, rc, err);
    if (r < 0) {
        al_db_close(db);
        return -1;
    }
    *ret = db;
    return 0;
}

void al_db_close(struct al_db *db)
{
    if (!db)
        return;
    for (struct al_stmt *s = db->cache, *next; s; s = next) {
        next = s->next;
        sqlite3_finalize(s->h);
        free(s);
    }
    sqlite3_close_v2(db->h);
    if (db->wal_fd >= 0)
        close(db->wal_fd);
    free(db->path);
    free(db);
}

int al_db_exec(struct al_db *db, const char *sql, struct al_err *err)
{
    int rc = sqlite3_exec(db->h, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : al_db_error(db, rc, err);
}

int64_t al_db_changes(struct al_db *db)
{
    return sqlite3_changes64(db->h);
}

bool al_db_in_transaction(const struct al_db *db)
{
    return db->in_tx;
}

void al_db_checkpoint(struct al_db *db)
{
    /* PASSIVE never waits, so that it may fail to do everything; the next one goes on. */
    sqlite3_wal_checkpoint_v2(db->h, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

void al_db_checkpoint_file(const char *path)
{
    sqlite3 *h = NULL;
    /* A connection learns by reading that the file has a WAL. */
    if (sqlite3_open_v2(path, &h, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
        sqlite3_exec(h, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL) == SQLITE_OK)
        sqlite3_wal_checkpoint_v2(h, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    sqlite3_close_v2(h);
}

/*
 * A commit at level FULL would wait for the disk while it holds the write lock, and every other process with
 * it. So the commit is a plain one, and what it wrote is synced afterwards: a checkpoint that comes between
 * syncs it as well, before the WAL is used anew. While our connection is open, nobody removes the file.
 */
static int open_wal(struct al_db *db, struct al_err *err)
{
    autobuf struct al_buf wal = AL_BUF_INIT(8192);
    al_buf_addf(&wal, "%s-wal%c", db->path, 0);
    db->wal_fd = wal.p ? openat(AT_FDCWD, wal.p, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (db->wal_fd < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "the database's log cannot be opened");
    /* Its name must be on the disk, too. */
    char *slash = strrchr(wal.p, '/');
    if (slash)
        slash[slash == wal.p] = '\0';
    int dir = openat(AT_FDCWD, slash ? wal.p : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = dir < 0 ? -1 : fsync(dir), saved = errno;
    if (dir >= 0)
        close(dir);
    return r < 0 ? al_fail_errno(err, AL_INTERNAL, saved, "the database's folder cannot be synced") : 0;
}

static int sync_wal(struct al_db *db, struct al_err *err)
{
    if (db->wal_fd < 0 && open_wal(db, err) < 0)
        return -1;
    if (fdatasync(db->wal_fd) < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "the database cannot be synced to the disk");
    return 0;
}

int al_db_begin(struct al_db *db, bool sync, struct al_err *err)
{
    if (db->in_tx)
        return al_fail(err, AL_INTERNAL, "a transaction within a transaction");
    int rc = al_db_exec_wait(db, "BEGIN IMMEDIATE");
    if (rc != SQLITE_OK)
        return al_db_error(db, rc, err);
    db->in_tx = true;
    db->sync = sync;
    return 0;
}

int al_db_commit(struct al_db *db, struct al_err *err)
{
    if (!db->in_tx)
        return al_fail(err, AL_INTERNAL, "a commit without a transaction");
    int rc = al_db_exec_wait(db, "COMMIT");
    if (rc != SQLITE_OK) {
        al_db_error(db, rc, err);
        al_db_rollback(db);
        return -1;
    }
    db->in_tx = false;
    /* A rollback journal is always at level FULL here. */
    return db->sync && !db->opts.network_fs ? sync_wal(db, err) : 0;
}

void al_db_rollback(struct al_db *db)
{
    if (!db->in_tx)
        return;
    db->in_tx = false;
    /* Some failures (a full disk) have rolled back already. */
    if (!sqlite3_get_autocommit(db->h))
        sqlite3_exec(db->h, "ROLLBACK", NULL, NULL, NULL);
}
