#include "test.h"

#include "db/db.h"

#include "base/ident.h"
#include "base/mem.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ours are called instead of libc's, so that a test sees what reached the disk. */
static int n_syncs;
static void (*while_syncing)(void);
int fdatasync(int fd)
{
    n_syncs++;
    if (while_syncing)
        while_syncing();
    return (int)syscall(SYS_fdatasync, fd);
}
int fsync(int fd)
{
    n_syncs++;
    return (int)syscall(SYS_fsync, fd);
}

struct dir {
    char path[64], file[96];
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int setup(void **state)
{
    struct dir *d = al_xcalloc(1, sizeof *d);
    snprintf(d->path, sizeof d->path, "/tmp/alisio-test-db-XXXXXX");
    assert_non_null(mkdtemp(d->path));
    snprintf(d->file, sizeof d->file, "%s/a.sqlite", d->path);
    *state = d;
    return 0;
}

static int teardown(void **state)
{
    struct dir *d = *state;
    nftw(d->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(d);
    return 0;
}

#define OK(call)                                                 \
    do {                                                         \
        if ((call) < 0)                                          \
            fail_msg("%s: %s (%s)", #call, err.msg, err.detail); \
    } while (0)

static struct al_db *open_db(const struct dir *d)
{
    struct al_db *db = NULL;
    struct al_err err = {0};
    OK(al_db_open(d->file, NULL, &db, &err));
    return db;
}

static void assert_value(struct al_db *db, const char *literal, const char *want)
{
    struct al_stmt *q;
    struct al_err err = {0};
    OK(al_db_prepare(db, literal, &q, &err));
    OK(al_step(q, &err));
    struct al_str v = al_col_text(q, 0);
    autofree char *got = al_xdup(v.p, v.n);
    al_stmt_reset(q);
    assert_string_equal(got, want);
}

static void the_library_keeps_what_limits_need(void **state)
{
    (void)state;
    static const char *const unwanted[] = {"OMIT_PROGRESS_CALLBACK", "OMIT_AUTHORIZATION",    "OMIT_COMPLETE",
                                           "DEFAULT_MEMSTATUS=0",    "ENABLE_LOAD_EXTENSION", "OMIT_WAL"};
    for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++)
        assert_false(sqlite3_compileoption_used(unwanted[i]));
    assert_true(sqlite3_compileoption_used("OMIT_LOAD_EXTENSION"));
    assert_true(sqlite3_compileoption_used("DQS=0"));
    assert_true(sqlite3_threadsafe() != 0);
}

static int stop(void *ud)
{
    (void)ud;
    return 1;
}

static int deny(void *ud, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)ud, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_ATTACH ? SQLITE_DENY : SQLITE_OK;
}

static void memory_progress_and_authorizer_work(void **state)
{
    (void)state;
    sqlite3 *h;
    assert_int_equal(sqlite3_open(":memory:", &h), SQLITE_OK);
    assert_true(sqlite3_memory_used() > 0);
    sqlite3_progress_handler(h, 100, stop, NULL);
    assert_int_equal(
        sqlite3_exec(h, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT max(x) FROM c",
                     NULL, NULL, NULL),
        SQLITE_INTERRUPT);
    sqlite3_progress_handler(h, 0, NULL, NULL);
    sqlite3_set_authorizer(h, deny, NULL);
    assert_int_equal(sqlite3_exec(h, "ATTACH ':memory:' AS x", NULL, NULL, NULL), SQLITE_AUTH);
    sqlite3_close(h);
}

static void the_file_is_private_whatever_the_umask(void **state)
{
    struct dir *d = *state;
    static const mode_t masks[] = {0, 022, 0777};
    for (size_t i = 0; i < 3; i++) {
        mode_t old = umask(masks[i]);
        struct al_db *db = open_db(d);
        struct al_err err = {0};
        OK(al_db_exec(db, "CREATE TABLE t(x)", &err));
        umask(old);
        static const char *const suffixes[] = {"", "-wal", "-shm"};
        for (size_t k = 0; k < 3; k++) {
            char path[128];
            struct stat st;
            snprintf(path, sizeof path, "%s%s", d->file, suffixes[k]);
            assert_int_equal(stat(path, &st), 0);
            assert_int_equal(st.st_mode & 07777, 0600);
        }
        al_db_close(db);
        assert_int_equal(unlink(d->file), 0);
    }
}

static void an_open_file_is_made_private(void **state)
{
    struct dir *d = *state;
    al_db_close(open_db(d));
    assert_int_equal(chmod(d->file, 0644), 0);
    al_db_close(open_db(d));
    struct stat st;
    assert_int_equal(stat(d->file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void pragmas_are_ours(void **state)
{
    struct dir *d = *state;
    struct al_db *db = open_db(d);
    assert_value(db, "PRAGMA journal_mode", "wal");
    assert_value(db, "PRAGMA synchronous", "1");
    assert_value(db, "PRAGMA foreign_keys", "1");
    assert_value(db, "PRAGMA trusted_schema", "0");
    al_db_close(db);
    assert_int_equal(unlink(d->file), 0);
    struct al_err err = {0};
    struct al_db_opts opts = {.network_fs = true};
    OK(al_db_open(d->file, &opts, &db, &err));
    assert_value(db, "PRAGMA journal_mode", "delete");
    assert_value(db, "PRAGMA synchronous", "2");
    OK(al_db_begin(db, true, &err));
    OK(al_db_exec(db, "CREATE TABLE t(x)", &err));
    OK(al_db_commit(db, &err));
    assert_value(db, "PRAGMA synchronous", "2");
    al_db_close(db);
}

static void what_is_no_database_is_refused(void **state)
{
    struct dir *d = *state;
    struct al_err err = {0};
    struct al_db *db = NULL;
    FILE *f = fopen(d->file, "w");
    for (int i = 0; i < 100; i++)
        fputs("this is no database at all, only text\n", f);
    fclose(f);
    assert_int_equal(al_db_open(d->file, NULL, &db, &err), -1);
    assert_int_equal(err.code, AL_INTERNAL);
    assert_null(strstr(err.msg, d->path));
    char link[128];
    snprintf(link, sizeof link, "%s/link", d->path);
    assert_int_equal(symlink(d->file, link), 0);
    assert_int_equal(al_db_open(link, NULL, &db, &err), -1);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
    assert_int_equal(al_db_open(d->path, NULL, &db, &err), -1);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
    struct al_db_opts ro = {.read_only = true};
    snprintf(link, sizeof link, "%s/none", d->path);
    assert_int_equal(al_db_open(link, &ro, &db, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    assert_int_equal(access(link, F_OK), -1);
}

static void read_only_reads_only(void **state)
{
    struct dir *d = *state;
    struct al_err err = {0};
    struct al_db *db = open_db(d);
    OK(al_db_exec(db, "CREATE TABLE t(x); INSERT INTO t VALUES(7)", &err));
    al_db_close(db);
    struct al_db_opts ro = {.read_only = true};
    OK(al_db_open(d->file, &ro, &db, &err));
    assert_value(db, "SELECT x FROM t", "7");
    assert_int_equal(al_db_exec(db, "INSERT INTO t VALUES(8)", &err), -1);
    al_db_close(db);
}

static void transactions_commit_and_roll_back(void **state)
{
    struct dir *d = *state;
    struct al_err err = {0};
    struct al_db *db = open_db(d);
    OK(al_db_exec(db, "CREATE TABLE t(x)", &err));
    OK(al_db_begin(db, false, &err));
    assert_true(al_db_in_transaction(db));
    assert_int_equal(al_db_begin(db, false, &err), -1);
    assert_int_equal(err.code, AL_INTERNAL);
    OK(al_db_exec(db, "INSERT INTO t VALUES(1)", &err));
    al_db_rollback(db);
    al_db_rollback(db);
    assert_value(db, "SELECT count(*) FROM t", "0");
    OK(al_db_begin(db, false, &err));
    OK(al_db_exec(db, "INSERT INTO t VALUES(1),(2)", &err));
    assert_int_equal(al_db_changes(db), 2);
    OK(al_db_commit(db, &err));
    assert_int_equal(al_db_commit(db, &err), -1);
    assert_value(db, "SELECT count(*) FROM t", "2");
    al_db_close(db);
}

static void a_synced_transaction_is_on_the_disk_at_commit(void **state)
{
    struct dir *d = *state;
    struct al_err err = {0};
    struct al_db *db = open_db(d);
    OK(al_db_exec(db, "CREATE TABLE t(x)", &err));
    OK(al_db_begin(db, false, &err));
    OK(al_db_exec(db, "INSERT INTO t VALUES(1)", &err));
    OK(al_db_commit(db, &err));
    n_syncs = 0;
    OK(al_db_begin(db, false, &err));
    OK(al_db_exec(db, "INSERT INTO t VALUES(1)", &err));
    OK(al_db_commit(db, &err));
    assert_int_equal(n_syncs, 0);
    OK(al_db_begin(db, true, &err));
    OK(al_db_exec(db, "INSERT INTO t VALUES(1)", &err));
    assert_int_equal(n_syncs, 0);
    OK(al_db_commit(db, &err));
    assert_true(n_syncs > 0);
    n_syncs = 0;
    OK(al_db_begin(db, true, &err));
    al_db_rollback(db);
    OK(al_db_begin(db, false, &err));
    OK(al_db_exec(db, "INSERT INTO t VALUES(1)", &err));
    OK(al_db_commit(db, &err));
    assert_int_equal(n_syncs, 0);
    al_db_close(db);
}

static sqlite3 *beside;
static int beside_rc;

static void write_beside(void)
{
    beside_rc = sqlite3_exec(beside, "INSERT INTO t VALUES(2)", NULL, NULL, NULL);
}

static void others_write_while_a_transaction_is_synced(void **state)
{
    struct dir *d = *state;
    struct al_err err = {0};
    struct al_db *db = open_db(d);
    OK(al_db_exec(db, "CREATE TABLE t(x)", &err));
    assert_int_equal(sqlite3_open(d->file, &beside), SQLITE_OK); /* without a busy handler */
    OK(al_db_begin(db, true, &err));
    OK(al_db_exec(db, "INSERT INTO t VALUES(1)", &err));
    beside_rc = -1;
    while_syncing = write_beside;
    int r = al_db_commit(db, &err);
    while_syncing = NULL;
    assert_int_equal(r, 0);
    assert_int_equal(beside_rc, SQLITE_OK);
    sqlite3_close(beside);
    assert_value(db, "SELECT count(*) FROM t", "2");
    al_db_close(db);
}

static void a_checkpoint_moves_the_wal_into_the_file(void **state)
{
    struct dir *d = *state;
    struct al_err err = {0};
    struct al_db *db = open_db(d);
    OK(al_db_exec(db, "CREATE TABLE t(x); INSERT INTO t VALUES(zeroblob(100000))", &err));
    struct stat before, after;
    assert_int_equal(stat(d->file, &before), 0);
    al_db_checkpoint_file(d->file);
    assert_int_equal(stat(d->file, &after), 0);
    assert_true(before.st_size < 100000 && after.st_size > 100000);
    OK(al_db_exec(db, "INSERT INTO t VALUES(zeroblob(100000))", &err));
    al_db_checkpoint(db);
    assert_int_equal(stat(d->file, &after), 0);
    assert_true(after.st_size > 200000);
    assert_value(db, "SELECT count(*) FROM t", "2");
    al_db_close(db);
}

static void a_held_lock_is_waited_for_and_then_busy(void **state)
{
    struct dir *d = *state;
    struct al_err err = {0};
    struct al_db *a = open_db(d), *b = open_db(d);
    OK(al_db_exec(a, "CREATE TABLE t(x)", &err));
    OK(al_db_begin(a, false, &err));
    uint64_t start = al_mono_ms();
    assert_int_equal(al_db_begin(b, false, &err), -1);
    assert_int_equal(err.code, AL_BUSY);
    uint64_t waited = al_mono_ms() - start;
    assert_in_range(waited, 4990, 9000);
    assert_false(al_db_in_transaction(b));
    OK(al_db_commit(a, &err));
    OK(al_db_begin(b, false, &err));
    OK(al_db_commit(b, &err));
    al_db_close(a);
    al_db_close(b);
}

static void statements_are_cached_and_nest(void **state)
{
    struct dir *d = *state;
    struct al_err err = {0};
    struct al_db *db = open_db(d);
    OK(al_db_exec(db, "CREATE TABLE t(x); INSERT INTO t VALUES(1),(2),(3)", &err));
    static const char sql[] = "SELECT x FROM t ORDER BY x";
    struct al_stmt *a, *b, *c;
    OK(al_db_prepare(db, sql, &a, &err));
    assert_int_equal(al_step(a, &err), 1);
    OK(al_db_prepare(db, sql, &b, &err));
    assert_ptr_not_equal(a, b);
    assert_int_equal(al_step(b, &err), 1);
    assert_int_equal(al_step(a, &err), 1);
    assert_int_equal(al_col_int(a, 0), 2);
    assert_int_equal(al_col_int(b, 0), 1);
    al_stmt_reset(a);
    al_stmt_reset(b);
    OK(al_db_prepare(db, sql, &c, &err));
    assert_true(c == a || c == b);
    assert_int_equal(al_db_prepare(db, "SELECT nothing FROM nowhere", &c, &err), -1);
    assert_int_equal(err.code, AL_INTERNAL);
    al_db_close(db);
}

static void values_come_back_as_they_were(void **state)
{
    struct dir *d = *state;
    struct al_err err = {0};
    struct al_db *db = open_db(d);
    OK(al_db_exec(db, "CREATE TABLE t(a, b, c, d)", &err));
    struct al_stmt *q;
    OK(al_db_prepare(db, "INSERT INTO t VALUES(?1,?2,?3,?4)", &q, &err));
    al_bind_text(q, 1, AL_STR("a\0b"));
    al_bind_text(q, 2, (struct al_str){NULL, 0});
    al_bind_text(q, 3, AL_STR(""));
    al_bind_int(q, 4, INT64_MIN);
    assert_int_equal(al_step(q, &err), 0);
    OK(al_db_prepare(db, "SELECT a, b, c, d FROM t", &q, &err));
    assert_int_equal(al_step(q, &err), 1);
    assert_true(al_str_eq(al_col_text(q, 0), AL_STR("a\0b")));
    assert_true(al_col_is_null(q, 1));
    assert_false(al_col_is_null(q, 2));
    assert_int_equal(al_col_text(q, 2).n, 0);
    assert_true(al_col_int(q, 3) == INT64_MIN);
    assert_int_equal(al_step(q, &err), 0);
    /* A binding does not outlive its step. */
    OK(al_db_prepare(db, "SELECT ?1 IS NULL", &q, &err));
    al_bind_int(q, 1, 5);
    assert_int_equal(al_step(q, &err), 1);
    al_stmt_reset(q);
    assert_int_equal(al_step(q, &err), 1);
    assert_int_equal(al_col_int(q, 0), 1);
    al_stmt_reset(q);
    al_db_close(db);
}

static const char *const migrations[] = {
    "CREATE TABLE t(x); INSERT INTO t VALUES('one')",
    "ALTER TABLE t ADD COLUMN y; UPDATE t SET y='two'",
    "CREATE TABLE u(x); SELECT broken FROM nowhere",
};

static void migrations_go_forward_after_a_copy(void **state)
{
    struct dir *d = *state;
    struct al_err err = {0};
    int v = -1;
    struct al_db *db = open_db(d);
    OK(al_db_version(db, &v, &err));
    assert_int_equal(v, 0);
    OK(al_db_migrate(db, migrations, 1, &err));
    OK(al_db_migrate(db, migrations, 1, &err));
    OK(al_db_version(db, &v, &err));
    assert_int_equal(v, 1);
    char bak[128];
    snprintf(bak, sizeof bak, "%s.v1.bak", d->file);
    assert_int_equal(access(bak, F_OK), -1);
    OK(al_db_migrate(db, migrations, 2, &err));
    assert_value(db, "SELECT y FROM t", "two");
    struct stat st;
    assert_int_equal(stat(bak, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    struct al_db *copy;
    struct al_db_opts ro = {.read_only = true};
    OK(al_db_open(bak, &ro, &copy, &err));
    OK(al_db_version(copy, &v, &err));
    assert_int_equal(v, 1);
    assert_value(copy, "SELECT x FROM t", "one");
    al_db_close(copy);
    /* One that fails leaves all as it was. */
    assert_int_equal(al_db_migrate(db, migrations, 3, &err), -1);
    assert_false(al_db_in_transaction(db));
    OK(al_db_version(db, &v, &err));
    assert_int_equal(v, 2);
    assert_value(db, "SELECT count(*) FROM sqlite_schema WHERE name='u'", "0");
    al_db_close(db);
}

static void hash_file(const char *path, char out[AL_SHA256_HEX])
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    struct al_sha256 *h = al_sha256_new();
    char b[4096];
    for (size_t n; (n = fread(b, 1, sizeof b, f)) > 0;)
        al_sha256_add(h, b, n);
    fclose(f);
    al_sha256_end(h, out);
}

static void a_newer_schema_is_not_touched(void **state)
{
    struct dir *d = *state;
    /* A writer that dies leaves its newest rows in the WAL: they stay there, too. */
    pid_t pid = fork();
    if (pid == 0) {
        struct al_err err = {0};
        struct al_db *db = NULL;
        if (al_db_open(d->file, NULL, &db, &err) < 0 || al_db_migrate(db, migrations, 2, &err) < 0)
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    char wal[128], before[2][AL_SHA256_HEX], after[2][AL_SHA256_HEX];
    snprintf(wal, sizeof wal, "%s-wal", d->file);
    hash_file(d->file, before[0]);
    hash_file(wal, before[1]);
    struct al_err err = {0};
    struct al_db *db = open_db(d);
    assert_int_equal(al_db_migrate(db, migrations, 1, &err), -1);
    assert_int_equal(err.code, AL_STATE_TOO_NEW);
    al_db_close(db);
    hash_file(d->file, after[0]);
    hash_file(wal, after[1]);
    assert_string_equal(before[0], after[0]);
    assert_string_equal(before[1], after[1]);
    db = open_db(d);
    assert_value(db, "SELECT y FROM t", "two");
    al_db_close(db);
}

static void a_rollback_journal_file_of_a_newer_version_keeps_its_mode(void **state)
{
    struct dir *d = *state;
    struct al_err err = {0};
    struct al_db_opts opts = {.network_fs = true};
    struct al_db *db;
    OK(al_db_open(d->file, &opts, &db, &err));
    OK(al_db_migrate(db, migrations, 2, &err));
    al_db_close(db);
    char before[AL_SHA256_HEX], after[AL_SHA256_HEX];
    hash_file(d->file, before);
    db = open_db(d);
    assert_int_equal(al_db_migrate(db, migrations, 1, &err), -1);
    al_db_close(db);
    hash_file(d->file, after);
    assert_string_equal(before, after);
    db = open_db(d);
    OK(al_db_migrate(db, migrations, 2, &err));
    assert_value(db, "PRAGMA journal_mode", "wal");
    al_db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_keeps_what_limits_need),
        cmocka_unit_test(memory_progress_and_authorizer_work),
        cmocka_unit_test_setup_teardown(the_file_is_private_whatever_the_umask, setup, teardown),
        cmocka_unit_test_setup_teardown(an_open_file_is_made_private, setup, teardown),
        cmocka_unit_test_setup_teardown(pragmas_are_ours, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_database_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(read_only_reads_only, setup, teardown),
        cmocka_unit_test_setup_teardown(transactions_commit_and_roll_back, setup, teardown),
        cmocka_unit_test_setup_teardown(a_synced_transaction_is_on_the_disk_at_commit, setup, teardown),
        cmocka_unit_test_setup_teardown(others_write_while_a_transaction_is_synced, setup, teardown),
        cmocka_unit_test_setup_teardown(a_checkpoint_moves_the_wal_into_the_file, setup, teardown),
        cmocka_unit_test_setup_teardown(a_held_lock_is_waited_for_and_then_busy, setup, teardown),
        cmocka_unit_test_setup_teardown(statements_are_cached_and_nest, setup, teardown),
        cmocka_unit_test_setup_teardown(values_come_back_as_they_were, setup, teardown),
        cmocka_unit_test_setup_teardown(migrations_go_forward_after_a_copy, setup, teardown),
        cmocka_unit_test_setup_teardown(a_newer_schema_is_not_touched, setup, teardown),
        cmocka_unit_test_setup_teardown(a_rollback_journal_file_of_a_newer_version_keeps_its_mode, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
