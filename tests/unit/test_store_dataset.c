/* Rows and files of datasets. */
#include "store_test.h"

#include <fcntl.h>
#include <time.h>

#define MIB (UINT64_C(1) << 20)

static struct al_dataset_row make_row(const char *session, const char *workspace, const char *sha)
{
    struct al_dataset_row d = {
        .workspace = al_xstrdup(workspace),
        .name = al_xstrdup("sales.csv"),
        .format = al_xstrdup("csv"),
        .sha256 = al_xstrdup(sha),
        .options = al_xstrdup("{}"),
        .source_path = al_xstrdup("/somewhere/sales.csv"),
        .sheets = al_xstrdup("[{\"name\":\"data\"}]"),
        .source_bytes = 10,
        .n_rows = 3,
        .ingest_version = 1,
        .source = {1, 2, 10, 4, 5},
    };
    snprintf(d.session, sizeof d.session, "%s", session);
    return d;
}

/* A dataset of that many bytes; what al_store_dataset_add said. */
static int add(struct al_store *s, const char *session, const char *workspace, const char *sha, size_t bytes,
               uint64_t max, struct al_dataset_row *ret, struct al_err *err)
{
    struct al_dataset_file f;
    struct al_dataset_row d = make_row(session, workspace, sha);
    assert_int_equal(al_store_dataset_file_new(s, workspace, session, &f, err), 0);
    assert_int_equal(ftruncate(f.fd, (off_t)bytes), 0);
    int r = al_store_dataset_add(s, &d, &f, max, err);
    al_store_dataset_file_drop(&f);
    if (ret && r >= 0)
        *ret = d;
    else
        al_dataset_row_fini(&d);
    return r;
}

static int count_files(const char *dir)
{
    char cmd[256], out[32];
    snprintf(cmd, sizeof cmd, "find %s/analysis -type f 2>/dev/null | wc -l", dir);
    FILE *p = popen(cmd, "r"); /* a test's own; names are ours */
    assert_non_null(fgets(out, sizeof out, p));
    pclose(p);
    return (int)strtol(out, NULL, 10);
}

static void a_dataset_is_a_row_and_a_read_only_file(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    char session[AL_ID_MAX], path[512];
    struct al_store *s = open_store(f);
    struct al_dataset_row d = {0}, got = {0};
    struct stat st;
    session_of(s, "/w", session);
    OK(add(s, session, "/w", "aa", 5000, MIB, &d, &err));
    assert_true(al_id_valid(al_str_of(d.id), "ds"));
    assert_int_equal(d.bytes, 5000);
    snprintf(path, sizeof path, "%s/%s", f->dir, d.rel_path);
    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0400);
    *strrchr(path, '/') = 0;
    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(count_files(f->dir), 1);
    OK(al_store_dataset_get(s, d.id, "/w", &got, &err));
    assert_string_equal(got.name, "sales.csv");
    assert_string_equal(got.sheets, "[{\"name\":\"data\"}]");
    int fd = -1;
    OK(al_store_dataset_open(s, &got, &fd, &err));
    assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    close(fd);
    al_dataset_row_fini(&got);
    assert_int_equal(al_store_dataset_get(s, d.id, "/other", &got, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    al_dataset_row_fini(&d);
    al_store_close(s);
}

static void the_same_content_in_a_session_is_one_dataset(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    char session[AL_ID_MAX];
    struct al_store *s = open_store(f);
    struct al_dataset_row a = {0}, b = {0}, c = {0};
    session_of(s, "/w", session);
    OK(add(s, session, "/w", "aa", 100, MIB, &a, &err));
    assert_int_equal(add(s, session, "/w", "aa", 100, MIB, &b, &err), 1);
    assert_string_equal(a.id, b.id);
    OK(add(s, session, "/w", "bb", 100, MIB, &c, &err));
    assert_string_not_equal(a.id, c.id);
    assert_int_equal(count_files(f->dir), 2);
    al_dataset_row_fini(&a);
    al_dataset_row_fini(&b);
    al_dataset_row_fini(&c);
    al_store_close(s);
}

static void the_same_file_is_known_by_what_fstat_says(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    char session[AL_ID_MAX];
    struct al_store *s = open_store(f);
    struct al_dataset_row a = {0}, got = {0};
    session_of(s, "/w", session);
    OK(add(s, session, "/w", "aa", 100, MIB, &a, &err));
    struct al_file_identity same = {1, 2, 10, 4, 5}, newer = {1, 2, 10, 4, 6}, none = {0};
    assert_int_equal(al_store_dataset_find(s, session, "{}", 1, &same, &got, &err), 1);
    assert_string_equal(got.id, a.id);
    al_dataset_row_fini(&got);
    assert_int_equal(al_store_dataset_find(s, session, "{}", 1, &newer, &got, &err), 0);
    assert_int_equal(al_store_dataset_find(s, session, "{}", 1, &none, &got, &err), 0);
    assert_int_equal(al_store_dataset_find(s, session, "{\"delimiter\":\";\"}", 1, &same, &got, &err), 0);
    assert_int_equal(al_store_dataset_find(s, session, "{}", 2, &same, &got, &err), 0);
    al_dataset_row_fini(&a);
    al_store_close(s);
}

static void the_quota_refuses_and_deletes_nothing(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    char session[AL_ID_MAX];
    struct al_store *s = open_store(f);
    session_of(s, "/w", session);
    OK(add(s, session, "/w", "aa", 600, 1000, NULL, &err));
    assert_int_equal(add(s, session, "/w", "bb", 600, 1000, NULL, &err), -1);
    assert_int_equal(err.code, AL_QUOTA_EXCEEDED);
    assert_non_null(strstr(err.hint, "storage.maxBytes"));
    int64_t n, bytes;
    OK(al_store_dataset_usage(s, NULL, &n, &bytes, &err));
    assert_int_equal(n, 1);
    assert_int_equal(bytes, 600);
    assert_int_equal(count_files(f->dir), 1);
    al_store_close(s);
}

static void a_file_that_has_gone_takes_its_row_along(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    char session[AL_ID_MAX], path[512];
    int fd = -1;
    struct al_store *s = open_store(f);
    struct al_dataset_row d = {0}, got = {0};
    session_of(s, "/w", session);
    OK(add(s, session, "/w", "aa", 100, MIB, &d, &err));
    snprintf(path, sizeof path, "%s/%s", f->dir, d.rel_path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(al_store_dataset_open(s, &d, &fd, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    assert_int_equal(al_store_dataset_get(s, d.id, NULL, &got, &err), -1);
    al_dataset_row_fini(&d);
    al_store_close(s);
}

static void what_owns_a_dataset_takes_its_file_along(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    char session[AL_ID_MAX];
    struct al_store *s = open_store(f);
    struct al_dataset_row d = {0};
    session_of(s, "/w", session);
    OK(add(s, session, "/w", "aa", 100, MIB, NULL, &err));
    OK(al_store_session_delete(s, session, &err));
    assert_int_equal(count_files(f->dir), 0);
    session_of(s, "/w", session);
    OK(add(s, session, "/w", "aa", 100, MIB, NULL, &err));
    OK(al_store_purge_workspace(s, "/w", &err));
    assert_int_equal(count_files(f->dir), 0);
    session_of(s, "/w", session);
    OK(add(s, session, "/w", "aa", 100, MIB, &d, &err));
    OK(al_store_dataset_delete(s, d.id, &err));
    assert_int_equal(al_store_dataset_delete(s, d.id, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    OK(add(s, session, "/w", "aa", 100, MIB, NULL, &err));
    assert_int_equal(al_store_dataset_purge_before(s, al_wall_ms() - 1000000, &err), 0);
    assert_int_equal(al_store_dataset_purge_before(s, al_wall_ms() + 1000000, &err), 1);
    assert_int_equal(count_files(f->dir), 0);
    al_dataset_row_fini(&d);
    al_store_close(s);
}

static void what_a_killed_process_left_is_swept(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    char session[AL_ID_MAX], path[512], stray[600], young[600], id[AL_ID_MAX];
    struct al_store *s = open_store(f);
    struct al_dataset_row d = {0};
    session_of(s, "/w", session);
    OK(add(s, session, "/w", "aa", 100, MIB, &d, &err));
    snprintf(path, sizeof path, "%s/%s", f->dir, d.rel_path);
    *strrchr(path, '/') = 0;
    al_id_new(id, "ds_");
    snprintf(stray, sizeof stray, "%s/%s.sqlite", path, id);
    al_id_new(id, "ds_");
    snprintf(young, sizeof young, "%s/%s.sqlite", path, id);
    struct timespec old[2] = {{.tv_sec = time(NULL) - 7200}, {.tv_sec = time(NULL) - 7200}};
    close(creat(stray, 0600));
    close(creat(young, 0600));
    assert_int_equal(utimensat(AT_FDCWD, stray, old, 0), 0);
    char real[700];
    snprintf(real, sizeof real, "%s/%s", f->dir, d.rel_path);
    assert_int_equal(utimensat(AT_FDCWD, real, old, 0), 0);
    snprintf(stray, sizeof stray, "%s/.alisio-tmp-0123456789abcdef", path);
    close(creat(stray, 0600));
    assert_int_equal(count_files(f->dir), 4);
    assert_int_equal(al_store_dataset_sweep(s), 2);
    assert_int_equal(count_files(f->dir), 2);
    assert_int_equal(access(real, F_OK), 0);
    al_dataset_row_fini(&d);
    al_store_close(s);
}

static bool take(void *ud, const struct al_dataset_row *d)
{
    char(*ids)[AL_ID_MAX] = ud;
    int i = 0;
    while (ids[i][0])
        i++;
    memcpy(ids[i], d->id, AL_ID_MAX);
    return i < 2;
}

static void a_list_is_newest_first_and_of_its_workspace(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    char a[AL_ID_MAX], b[AL_ID_MAX], ids[4][AL_ID_MAX] = {{0}};
    struct al_store *s = open_store(f);
    struct al_dataset_row one = {0}, two = {0};
    session_of(s, "/w", a);
    session_of(s, "/v", b);
    OK(add(s, a, "/w", "aa", 1, MIB, &one, &err));
    OK(add(s, b, "/v", "aa", 1, MIB, NULL, &err));
    OK(add(s, a, "/w", "bb", 1, MIB, &two, &err));
    struct al_dataset_filter filter = {.workspace = "/w"};
    OK(al_store_dataset_each(s, &filter, take, ids, &err));
    assert_string_equal(ids[0], two.id);
    assert_string_equal(ids[1], one.id);
    assert_string_equal(ids[2], "");
    memset(ids, 0, sizeof ids);
    filter.before = two.id;
    OK(al_store_dataset_each(s, &filter, take, ids, &err));
    assert_string_equal(ids[0], one.id);
    assert_string_equal(ids[1], "");
    al_dataset_row_fini(&one);
    al_dataset_row_fini(&two);
    al_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_dataset_is_a_row_and_a_read_only_file, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_content_in_a_session_is_one_dataset, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_file_is_known_by_what_fstat_says, setup, teardown),
        cmocka_unit_test_setup_teardown(the_quota_refuses_and_deletes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_has_gone_takes_its_row_along, setup, teardown),
        cmocka_unit_test_setup_teardown(what_owns_a_dataset_takes_its_file_along, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_killed_process_left_is_swept, setup, teardown),
        cmocka_unit_test_setup_teardown(a_list_is_newest_first_and_of_its_workspace, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
