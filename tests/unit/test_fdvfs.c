#include "test.h"

#include "db/fdvfs.h"

#include "base/mem.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIB ((int64_t)1024)
#define MIB (KIB * KIB)

static uint64_t rng = 88172645463325252ULL;
static uint32_t draw(uint32_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)((rng >> 16) % n);
}

static int memory_file(void)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static int64_t size_of(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return st.st_size;
}

static void use(int spill_fd, int64_t max)
{
    struct al_err err;
    assert_int_equal(al_fdvfs_register(spill_fd, (uint64_t)max, &err), 0);
}

static sqlite3 *open_fd(int fd, int flags)
{
    char name[32];
    sqlite3 *db;
    snprintf(name, sizeof name, "fd:%d", fd);
    assert_int_equal(sqlite3_open_v2(name, &db, flags, NULL), SQLITE_OK);
    return db;
}

static void run(sqlite3 *db, const char *sql)
{
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return n;
}

#define FILL                                                                            \
    "PRAGMA journal_mode=OFF; PRAGMA page_size=16384; CREATE TABLE t(a, b);"            \
    "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000)" \
    "INSERT INTO t SELECT i, printf('%0400d', (i * 7919) % 20000) FROM n"
#define READ_WRITE (SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)

static void a_database_lives_in_a_descriptor(void **state)
{
    (void)state;
    int fd = memory_file();
    use(-1, 0);
    sqlite3 *db = open_fd(fd, READ_WRITE);
    run(db, FILL);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(size_of(fd) % 16384, 0);
    assert_true(size_of(fd) > 20000 * 400);
    db = open_fd(fd, SQLITE_OPEN_READONLY);
    assert_int_equal(number(db, "SELECT sum(a) FROM t"), 20000LL * 20001 / 2);
    assert_int_equal(number(db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
                     1);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM t", NULL, NULL, NULL), SQLITE_READONLY);
    sqlite3_close(db);
    close(fd);
}

static void a_descriptor_that_can_only_read_will_do(void **state)
{
    (void)state;
    char path[] = "/tmp/alisio-test-fdvfs-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    use(-1, 0);
    sqlite3 *db = open_fd(fd, READ_WRITE);
    run(db, FILL);
    sqlite3_close(db);
    int read_fd = open(path, O_RDONLY | O_CLOEXEC), other = open(path, O_RDONLY | O_CLOEXEC);
    unlink(path);
    close(fd);
    db = open_fd(read_fd, SQLITE_OPEN_READONLY);
    char sql[64];
    snprintf(sql, sizeof sql, "ATTACH 'fd:%d' AS other", other);
    run(db, sql);
    assert_int_equal(number(db, "SELECT count(*) FROM main.t JOIN other.t u USING (a)"), 20000);
    sqlite3_close(db);
    close(read_fd);
    close(other);
}

static void nothing_is_opened_by_path(void **state)
{
    (void)state;
    static const char *const names[] = {
        "/etc/passwd",      "fd:",       "fd:x",  "fd:1x", "fd:-1", "fd:99999",
        "fd:9999999999999", "file:fd:0", ":fd:1", "fd:1 "};
    use(-1, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sqlite3 *db;
        int rc = sqlite3_open_v2(names[i], &db, READ_WRITE | SQLITE_OPEN_URI, NULL);
        assert_int_equal(rc, SQLITE_CANTOPEN);
        sqlite3_close(db);
    }
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    char name[32];
    sqlite3 *db;
    snprintf(name, sizeof name, "fd:%d", pipes[0]);
    assert_int_equal(sqlite3_open_v2(name, &db, READ_WRITE, NULL), SQLITE_CANTOPEN);
    sqlite3_close(db);
    close(pipes[0]);
    close(pipes[1]);
}

static void journals_are_refused(void **state)
{
    (void)state;
    int fd = memory_file();
    use(-1, 0);
    sqlite3 *db = open_fd(fd, READ_WRITE);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE t(a)", NULL, NULL, NULL), SQLITE_CANTOPEN);
    run(db, "PRAGMA journal_mode=OFF; CREATE TABLE t(a)");
    sqlite3_close(db);
    close(fd);
}

#define SORT "SELECT a FROM t ORDER BY b DESC LIMIT 1 OFFSET 19999"

static void a_sort_uses_the_spill_file(void **state)
{
    (void)state;
    int fd = memory_file(), spill = memory_file();
    use(spill, 64 * MIB);
    sqlite3 *db = open_fd(fd, READ_WRITE);
    run(db, FILL);
    run(db, "PRAGMA temp_store=FILE; PRAGMA cache_size=4");
    int64_t before = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(number(db, SORT), number(db, "SELECT a FROM t WHERE b = printf('%0400d', 0)"));
        assert_true(size_of(spill) > MIB);
        /* Chunks come back: the same again takes no more. */
        assert_true(i == 0 || size_of(spill) == before);
        before = size_of(spill);
    }
    assert_false(al_fdvfs_spill_was_full());
    sqlite3_close(db);
    close(fd);
    close(spill);
}

static void a_full_spill_file_is_told(void **state)
{
    (void)state;
    int fd = memory_file(), spill = memory_file();
    use(spill, 2 * MIB);
    sqlite3 *db = open_fd(fd, READ_WRITE);
    run(db, FILL);
    run(db, "PRAGMA temp_store=FILE; PRAGMA cache_size=4");
    assert_int_equal(sqlite3_exec(db, SORT, NULL, NULL, NULL), SQLITE_FULL);
    assert_true(al_fdvfs_spill_was_full());
    assert_true(size_of(spill) <= 2 * MIB);
    assert_int_equal(number(db, "SELECT count(*) FROM t"), 20000);
    sqlite3_close(db);
    use(spill, 64 * MIB);
    assert_false(al_fdvfs_spill_was_full());
    close(fd);
    close(spill);
}

static void random_numbers_follow_the_seed(void **state)
{
    (void)state;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    assert_string_equal(vfs->zName, "alfd");
    char a[44] = {0}, b[44] = {0};
    al_fdvfs_seed(1);
    assert_int_equal(vfs->xRandomness(vfs, sizeof a, a), sizeof a);
    assert_int_equal(vfs->xRandomness(vfs, sizeof b, b), sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
    al_fdvfs_seed(1);
    vfs->xRandomness(vfs, sizeof b, b);
    assert_memory_equal(a, b, sizeof a);
    sqlite3_int64 ms;
    assert_int_equal(vfs->xCurrentTimeInt64(vfs, &ms), SQLITE_OK);
    assert_true(ms > 212000000000000); /* after 2005 */
}

/* Temporary files against what a plain array would hold. */
#define MODEL_MAX (3 * MIB)
struct model {
    sqlite3_file *file;
    unsigned char *bytes;
    int64_t size;
};

static void model_check(struct model *m, int64_t at, int n)
{
    unsigned char *got = al_xmalloc((size_t)n), *want = al_xcalloc(1, (size_t)n);
    int64_t there = m->size > at ? m->size - at : 0;
    there = there < n ? there : n;
    memcpy(want, m->bytes + at, (size_t)there);
    assert_int_equal(m->file->pMethods->xRead(m->file, got, n, at),
                     there < n ? SQLITE_IOERR_SHORT_READ : SQLITE_OK);
    assert_memory_equal(got, want, (size_t)n);
    free(got);
    free(want);
}

static void model_step(struct model *m, unsigned char *piece)
{
    int n = 1 + (int)draw(draw(8) ? 16384 : 400000);
    int64_t at = draw(3) ? m->size : (int64_t)draw((uint32_t)(MODEL_MAX - n));
    unsigned what = draw(10);
    if (what == 0) {
        int64_t to = draw(4) ? m->size / 2 : 0;
        assert_int_equal(m->file->pMethods->xTruncate(m->file, to), SQLITE_OK);
        memset(m->bytes + to, 0, (size_t)(m->size - to));
        m->size = to;
    } else if (what < 7 && at + n <= MODEL_MAX) {
        memset(piece, 1 + (int)draw(255), (size_t)n);
        assert_int_equal(m->file->pMethods->xWrite(m->file, piece, n, at), SQLITE_OK);
        memcpy(m->bytes + at, piece, (size_t)n);
        m->size = at + n > m->size ? at + n : m->size;
    } else if (at + n <= MODEL_MAX) {
        model_check(m, at, n);
    }
    sqlite3_int64 size;
    assert_int_equal(m->file->pMethods->xFileSize(m->file, &size), SQLITE_OK);
    assert_int_equal(size, m->size);
}

static void temporary_files_share_and_hold(void **state)
{
    (void)state;
    int spill = memory_file();
    use(spill, 16 * MIB);
    sqlite3_vfs *vfs = sqlite3_vfs_find("alfd");
    struct model files[4];
    unsigned char *piece = al_xmalloc(400000);
    for (int i = 0; i < 4; i++) {
        files[i] = (struct model){al_xcalloc(1, (size_t)vfs->szOsFile), al_xcalloc(1, MODEL_MAX), 0};
        assert_int_equal(vfs->xOpen(vfs, NULL, files[i].file, SQLITE_OPEN_TEMP_DB, NULL), SQLITE_OK);
    }
    for (int step = 0; step < 20000; step++) {
        struct model *m = &files[draw(4)];
        model_step(m, piece);
        if (draw(500) == 0) {
            model_check(m, 0, (int)MODEL_MAX);
            m->file->pMethods->xClose(m->file);
            memset(m->bytes, 0, MODEL_MAX);
            m->size = 0;
            assert_int_equal(vfs->xOpen(vfs, NULL, m->file, SQLITE_OPEN_TEMP_JOURNAL, NULL), SQLITE_OK);
        }
    }
    for (int i = 0; i < 4; i++) {
        model_check(&files[i], 0, (int)MODEL_MAX);
        files[i].file->pMethods->xClose(files[i].file);
        free(files[i].file);
        free(files[i].bytes);
    }
    assert_true(size_of(spill) <= 16 * MIB);
    free(piece);
    close(spill);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_database_lives_in_a_descriptor),
        cmocka_unit_test(a_descriptor_that_can_only_read_will_do),
        cmocka_unit_test(nothing_is_opened_by_path),
        cmocka_unit_test(journals_are_refused),
        cmocka_unit_test(a_sort_uses_the_spill_file),
        cmocka_unit_test(a_full_spill_file_is_told),
        cmocka_unit_test(random_numbers_follow_the_seed),
        cmocka_unit_test(temporary_files_share_and_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
