#include "test.h"

#include "xlsx_make.h"

#include "base/mem.h"
#include "table/zip.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GIB ((uint64_t)1 << 30)

static int open_zip(int fd, uint64_t max, struct al_zip **ret, struct al_err *err)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return al_zip_open(fd, (uint64_t)st.st_size, max, ret, err);
}

/* All of an entry, in pieces of piece bytes. */
static int read_all(struct al_zip *z, const char *name, size_t piece, struct al_buf *out, struct al_err *err)
{
    struct al_unzip *u = NULL;
    const struct al_zip_entry *e = al_zip_find(z, al_str_of(name), NULL);
    assert_non_null(e);
    if (al_unzip_open(z, e, &u, err) < 0)
        return -1;
    autofree char *p = al_xmalloc(piece);
    size_t n;
    int r;
    while ((r = al_unzip_next(u, p, piece, &n, err)) == 0 && n)
        al_buf_add(out, p, n);
    al_unzip_free(u);
    return r;
}

static void expect_failure(int fd, enum al_code code, const char *message)
{
    struct al_zip *z = NULL;
    struct al_err err = {0};
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20);
    int r = open_zip(fd, GIB, &z, &err);
    if (r == 0)
        r = read_all(z, "a", 100, &out, &err);
    assert_int_equal(r, -1);
    assert_int_equal(err.code, code);
    if (!strstr(err.msg, message))
        fail_msg("\"%s\" does not say \"%s\"", err.msg, message);
    al_zip_free(z);
    close(fd);
}

/* The archive of one entry "a", for a test to change. */
static struct al_buf one_entry(unsigned method)
{
    struct make m;
    make_begin(&m);
    m.method = method;
    make_part(&m, "a", "aaaaaaaaaabbbbbbbbbbaaaaaaaaaa");
    int fd = make_end(&m);
    struct stat st;
    struct al_buf b = AL_BUF_INIT(1 << 20);
    fstat(fd, &st);
    char *p = al_buf_grow(&b, (size_t)st.st_size);
    assert_int_equal(pread(fd, p, b.n, 0), b.n);
    close(fd);
    return b;
}

static int as_file(struct al_buf *b)
{
    int fd = memfd_create("zip", MFD_CLOEXEC);
    assert_int_equal(write(fd, b->p, b->n), b->n);
    al_buf_free(b);
    return fd;
}

static void entries_read_stored_and_packed(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++)
        for (unsigned method = 0; method <= 8; method += 8)
            for (size_t piece = 1; piece < 200000; piece = piece * 7 + 1) {
                struct make m;
                struct al_zip *z = NULL;
                struct al_err err = {0};
                make_begin(&m);
                m.method = method;
                m.zip64 = wide;
                autobuf struct al_buf big = AL_BUF_INIT(1 << 20), out = AL_BUF_INIT(1 << 20);
                for (int i = 0; big.n < 20000; i++)
                    al_buf_addf(&big, "line %d\n", i);
                make_part(&m, "a", "");
                make_add(&m, "b/c.xml", big.p, big.n);
                int fd = make_end(&m);
                assert_int_equal(open_zip(fd, GIB, &z, &err), 0);
                assert_int_equal(al_zip_count(z), 2);
                assert_int_equal(read_all(z, "a", piece, &out, &err), 0);
                assert_int_equal(out.n, 0);
                assert_int_equal(read_all(z, "b/c.xml", piece, &out, &err), 0);
                assert_true(al_str_eq(al_buf_str(&out), al_buf_str(&big)));
                assert_true(al_zip_read(z) > 0);
                al_zip_free(z);
                close(fd);
            }
}

static void names_are_found_in_another_case_and_with_backslashes(void **state)
{
    (void)state;
    struct make m;
    struct al_zip *z = NULL;
    struct al_err err = {0};
    bool twice = true;
    make_begin(&m);
    make_part(&m, "XL\\Sheet1.xml", "1");
    make_part(&m, "x", "2");
    make_part(&m, "X", "3");
    make_part(&m, "y", "4");
    make_part(&m, "y", "5");
    int fd = make_end(&m);
    assert_int_equal(open_zip(fd, GIB, &z, &err), 0);
    assert_ptr_equal(al_zip_find(z, AL_STR("/xl/sheet1.XML"), &twice), al_zip_at(z, 0));
    assert_false(twice);
    assert_ptr_equal(al_zip_find(z, AL_STR("X"), &twice), al_zip_at(z, 2));
    assert_false(twice);
    assert_non_null(al_zip_find(z, AL_STR("y"), &twice));
    assert_true(twice);
    assert_null(al_zip_find(z, AL_STR("z"), &twice));
    assert_null(al_zip_at(z, 5));
    al_zip_free(z);
    close(fd);
}

static void bytes_before_and_behind_the_archive_are_no_hindrance(void **state)
{
    (void)state;
    struct al_buf plain = one_entry(8), b = AL_BUF_INIT(1 << 20);
    struct al_zip *z = NULL;
    struct al_err err = {0};
    autobuf struct al_buf out = AL_BUF_INIT(1000);
    al_buf_adds(&b, "#!/bin/sh, or whatever stands before it");
    al_buf_add_str(&b, al_buf_str(&plain));
    al_buf_adds(&b, "and behind it");
    al_buf_free(&plain);
    int fd = as_file(&b);
    assert_int_equal(open_zip(fd, GIB, &z, &err), 0);
    assert_int_equal(read_all(z, "a", 7, &out, &err), 0);
    assert_int_equal(out.n, 30);
    al_zip_free(z);
    close(fd);
}

static void what_is_no_archive_is_refused(void **state)
{
    (void)state;
    struct al_buf b = AL_BUF_INIT(1 << 20);
    expect_failure(as_file(&b), AL_INGEST_INVALID, "no ZIP archive");
    al_buf_adds(&b, "id,name\n1,2\n");
    expect_failure(as_file(&b), AL_INGEST_INVALID, "no ZIP archive");
}

static void an_archive_cut_anywhere_is_refused(void **state)
{
    (void)state;
    struct al_buf whole = one_entry(8);
    for (size_t n = 0; n < whole.n; n++) {
        struct al_zip *z = NULL;
        struct al_err err = {0};
        struct al_buf b = AL_BUF_INIT(1 << 20);
        al_buf_add(&b, whole.p, n);
        int fd = as_file(&b);
        assert_int_equal(open_zip(fd, GIB, &z, &err), -1);
        assert_int_equal(err.code, AL_INGEST_INVALID);
        close(fd);
    }
    al_buf_free(&whole);
}

static void any_changed_byte_is_refused_or_harmless(void **state)
{
    (void)state;
    struct al_buf whole = one_entry(8);
    for (size_t i = 0; i < whole.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            struct al_zip *z = NULL;
            struct al_err err = {0};
            autobuf struct al_buf out = AL_BUF_INIT(1000);
            struct al_buf b = AL_BUF_INIT(1 << 20);
            al_buf_add_str(&b, al_buf_str(&whole));
            b.p[i] = (char)(b.p[i] ^ 1 << bit);
            int fd = as_file(&b);
            if (open_zip(fd, GIB, &z, &err) == 0 && al_zip_find(z, AL_STR("a"), NULL) &&
                read_all(z, "a", 11, &out, &err) == 0)
                assert_true(al_str_is(al_buf_str(&out), "aaaaaaaaaabbbbbbbbbbaaaaaaaaaa"));
            al_zip_free(z);
            close(fd);
        }
    al_buf_free(&whole);
}

static void encrypted_and_unknown_methods_are_unsupported(void **state)
{
    (void)state;
    struct make m;
    make_begin(&m);
    m.flags = 1;
    make_part(&m, "a", "secret");
    expect_failure(make_end(&m), AL_DATASET_UNSUPPORTED, "a is encrypted");
    make_begin(&m);
    m.method = 14;
    make_part(&m, "a", "lzma");
    expect_failure(make_end(&m), AL_DATASET_UNSUPPORTED, "method 14");
}

static void sizes_that_lie_are_refused(void **state)
{
    (void)state;
    struct make m;
    make_begin(&m);
    m.claim_unpacked = 5;
    make_part(&m, "a", "more than five bytes");
    expect_failure(make_end(&m), AL_INGEST_INVALID, "more than the 5 bytes");
    make_begin(&m);
    m.claim_unpacked = 500;
    make_part(&m, "a", "fewer bytes");
    expect_failure(make_end(&m), AL_INGEST_INVALID, "not the 500");
    make_begin(&m);
    m.method = 0;
    m.claim_unpacked = 500;
    make_part(&m, "a", "fewer bytes");
    expect_failure(make_end(&m), AL_INGEST_INVALID, "two sizes");
}

static void a_bomb_is_refused_by_what_it_says(void **state)
{
    (void)state;
    struct make m;
    make_begin(&m);
    m.claim_unpacked = (uint64_t)100 << 20;
    make_part(&m, "a", "tiny");
    expect_failure(make_end(&m), AL_INGEST_LIMIT, "ZIP bomb");
    /* many small ones, and a large honest one beside them */
    static char noise[1 << 20];
    make_begin(&m);
    for (int i = 0; i < 20; i++) {
        char name[8];
        snprintf(name, sizeof name, "%d", i);
        m.claim_unpacked = (uint64_t)1 << 20;
        make_part(&m, name, "tiny");
    }
    m.claim_unpacked = 0;
    m.method = 0;
    make_add(&m, "noise", noise, sizeof noise);
    expect_failure(make_end(&m), AL_INGEST_LIMIT, "more than 200 times its size (a ZIP bomb)");
}

static void what_unpacks_to_more_than_allowed_names_the_key(void **state)
{
    (void)state;
    struct al_buf b = one_entry(8);
    struct al_zip *z = NULL;
    struct al_err err = {0};
    int fd = as_file(&b);
    assert_int_equal(open_zip(fd, 29, &z, &err), -1);
    assert_int_equal(err.code, AL_INGEST_LIMIT);
    assert_non_null(strstr(err.msg, "analysis.data.maxUploadBytes"));
    close(fd);
}

static void overlapping_entries_are_refused(void **state)
{
    (void)state;
    struct al_buf b = one_entry(0), twice = AL_BUF_INIT(1 << 20);
    /* The directory names the same bytes two times. */
    size_t end = b.n - 22, entry = end - 47;
    al_buf_add(&twice, b.p, end);
    al_buf_add(&twice, b.p + entry, 47);
    al_buf_add(&twice, b.p + end, 22);
    char *e = twice.p + twice.n - 22;
    e[8] = e[10] = 2;
    e[12] = 94;
    al_buf_free(&b);
    expect_failure(as_file(&twice), AL_INGEST_INVALID, "overlap");
}

static void too_many_entries_are_a_limit(void **state)
{
    (void)state;
    struct make m;
    make_begin(&m);
    for (int i = 0; i <= AL_ZIP_MAX_ENTRIES; i++)
        make_part(&m, "a", "");
    expect_failure(make_end(&m), AL_INGEST_LIMIT, "10001 entries");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_read_stored_and_packed),
        cmocka_unit_test(names_are_found_in_another_case_and_with_backslashes),
        cmocka_unit_test(bytes_before_and_behind_the_archive_are_no_hindrance),
        cmocka_unit_test(what_is_no_archive_is_refused),
        cmocka_unit_test(an_archive_cut_anywhere_is_refused),
        cmocka_unit_test(any_changed_byte_is_refused_or_harmless),
        cmocka_unit_test(encrypted_and_unknown_methods_are_unsupported),
        cmocka_unit_test(sizes_that_lie_are_refused),
        cmocka_unit_test(a_bomb_is_refused_by_what_it_says),
        cmocka_unit_test(what_unpacks_to_more_than_allowed_names_the_key),
        cmocka_unit_test(overlapping_entries_are_refused),
        cmocka_unit_test(too_many_entries_are_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
