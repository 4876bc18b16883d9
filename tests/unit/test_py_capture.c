#include "test.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os_help.h"
#include "pyrun/run_int.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define BAD "\xef\xbf\xbd"

struct rig {
    struct tmp tmp;
    struct al_py_capture c;
    struct al_buf text;
};

static void begin(struct rig *r, size_t head, size_t tail, uint64_t max_log)
{
    tmp_make(&r->tmp);
    int fd = openat(r->tmp.fd, "out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    al_py_capture_init(&r->c, head, tail, max_log, fd, "stdout.log");
    al_buf_init(&r->text, 1 << 20);
}

static const char *text(struct rig *r)
{
    al_buf_clear(&r->text);
    al_py_capture_text(&r->c, &r->text);
    assert_true(al_utf8_valid(al_buf_str(&r->text)));
    assert_null(memchr(r->text.p ? r->text.p : "", 0, r->text.n));
    al_buf_addc(&r->text, 0);
    return r->text.p;
}

static void finish(struct rig *r)
{
    al_py_capture_fini(&r->c);
    al_buf_free(&r->text);
    tmp_remove(&r->tmp);
}

static void say(struct rig *r, const char *z)
{
    al_py_capture_add(&r->c, al_str_of(z));
}

static void what_fits_is_whole(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 5, 5, 100);
    assert_string_equal(text(&r), "");
    say(&r, "1234");
    assert_string_equal(text(&r), "1234");
    say(&r, "567");
    assert_string_equal(text(&r), "1234567");
    say(&r, "890");
    assert_string_equal(text(&r), "1234567890");
    assert_int_equal(r.c.bytes, 10);
    assert_int_equal(r.c.logged, 10);
    finish(&r);
}

static void the_middle_is_left_out_with_its_size(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 5, 5, 1000);
    say(&r, "12345abcde67890");
    assert_string_equal(text(&r), "12345\n[… 5 bytes left out; the whole is in logs/stdout.log]\n67890");
    say(&r, "x");
    assert_string_equal(text(&r), "12345\n[… 6 bytes left out; the whole is in logs/stdout.log]\n7890x");
    finish(&r);
}

static void a_log_that_is_full_says_what_is_in_it(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 4, 4, 2000);
    autofree char *line = al_xmalloc(1000);
    memset(line, 'a', 1000);
    line[999] = '\n';
    for (int i = 0; i < 1235; i++)
        al_py_capture_add(&r.c, (struct al_str){line, 1000});
    assert_string_equal(
        text(&r),
        "aaaa\n[… 1,234,992 bytes left out; the first 2,000 bytes of it are in logs/stdout.log]\naaa\n");
    assert_int_equal(r.c.bytes, 1235000);
    assert_int_equal(r.c.logged, 2000);
    struct stat st;
    assert_int_equal(fstatat(r.tmp.fd, "out", &st, 0), 0);
    assert_int_equal(st.st_size, 2000);
    finish(&r);
}

/* Whatever is cut where: the text is valid, and what it shows stood there. */
static void a_cut_is_between_characters(void **state)
{
    (void)state;
    const char *const all = "a\xc3\xa4"
                            "b\xe2\x82\xac"
                            "c\xf0\x9f\x98\x80"
                            "dez\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
    for (size_t head = 0; head < 12; head++) {
        for (size_t tail = 0; tail < 12; tail++) {
            struct rig r;
            begin(&r, head, tail, 1000);
            for (const char *p = all; *p; p++)
                al_py_capture_add(&r.c, (struct al_str){p, 1});
            const char *z = text(&r);
            assert_null(strstr(z, BAD));
            assert_true(head + tail >= strlen(all) ? strcmp(z, all) == 0
                                                   : strstr(z, "bytes left out") != NULL);
            finish(&r);
        }
    }
}

static void bytes_that_are_no_text_become_marks(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100, 100, 1000);
    al_py_capture_add(&r.c, (struct al_str){"a\0b\xff\xfe"
                                            "c\xed\xa0\x80\xc3",
                                            10});
    assert_string_equal(text(&r), "a" BAD "b" BAD BAD "c" BAD BAD BAD BAD);
    finish(&r);
    begin(&r, 4, 4, 1000);
    autofree char *junk = al_xmalloc(4096);
    memset(junk, 0x80, 4096);
    al_py_capture_add(&r.c, (struct al_str){junk, 4096});
    (void)text(&r);
    memset(junk, 0, 4096);
    al_py_capture_add(&r.c, (struct al_str){junk, 4096});
    (void)text(&r);
    finish(&r);
}

static void a_character_in_two_writes_is_one(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 2, 100, 1000);
    say(&r, "a\xe2");
    say(&r, "\x82");
    say(&r, "\xac"
            "b");
    assert_string_equal(text(&r), "a\xe2\x82\xac"
                                  "b");
    finish(&r);
}

/* --- progress --- */

static const char *progress(struct rig *r, const char *content)
{
    put_file(r->tmp.fd, AL_PY_PROGRESS_FILE, content);
    al_buf_clear(&r->text);
    if (!al_py_progress_read(r->tmp.fd, &r->text))
        return "nothing";
    al_buf_addc(&r->text, 0);
    return r->text.p;
}

static void progress_is_checked_and_written_anew(void **state)
{
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"{\"completed\":3,\"total\":10,\"note\":\"rows\"}",
         "{\"completed\":3,\"total\":10,\"note\":\"rows\"}"},
        {" {\"total\": 2.5 , \"other\":{\"x\":[1]}} ", "{\"total\":2.5}"},
        {"{\"completed\":1e999}", "nothing"},
        {"{\"completed\":\"3\"}", "nothing"},
        {"{\"note\":\"a\\u001b[31mb\\u202ec\\n\"}", "{\"note\":\"a\\\\x1b[31mb\\\\u202ec\"}"},
        {"{\"note\":5,\"completed\":-1}", "{\"completed\":-1}"},
        {"[1]", "nothing"},
        {"{\"completed\":1", "nothing"},
        {"", "nothing"},
        {"{}", "nothing"},
    };
    (void)state;
    struct rig r;
    begin(&r, 1, 1, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(progress(&r, cases[i].from), cases[i].to);
    finish(&r);
}

static void progress_that_is_no_small_file_counts_for_nothing(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 1, 1, 1);
    struct al_buf big = AL_BUF_INIT(10000);
    al_buf_adds(&big, "{\"completed\":1,\"note\":\"");
    while (big.n < 4100)
        al_buf_addc(&big, 'x');
    al_buf_adds(&big, "\"}");
    al_buf_addc(&big, 0);
    assert_string_equal(progress(&r, big.p), "nothing");
    al_buf_free(&big);
    put_file(r.tmp.fd, "real", "{\"completed\":1}");
    assert_int_equal(unlinkat(r.tmp.fd, AL_PY_PROGRESS_FILE, 0), 0);
    put_link("real", r.tmp.fd, AL_PY_PROGRESS_FILE);
    al_buf_clear(&r.text);
    assert_false(al_py_progress_read(r.tmp.fd, &r.text));
    assert_int_equal(unlinkat(r.tmp.fd, AL_PY_PROGRESS_FILE, 0), 0);
    assert_int_equal(mkfifoat(r.tmp.fd, AL_PY_PROGRESS_FILE, 0600), 0);
    assert_false(al_py_progress_read(r.tmp.fd, &r.text)); /* and does not wait for a writer */
    finish(&r);
}

static void a_long_note_is_cut_at_a_character(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 1, 1, 1);
    struct al_buf b = AL_BUF_INIT(4000);
    al_buf_adds(&b, "{\"note\":\"");
    for (int i = 0; i < 300; i++)
        al_buf_adds(&b, "\xe2\x82\xac");
    al_buf_adds(&b, "\"}");
    al_buf_addc(&b, 0);
    const char *z = progress(&r, b.p);
    assert_int_equal(al_utf8_count(al_str_of(z)), 200 + strlen("{\"note\":\"\"}"));
    al_buf_free(&b);
    finish(&r);
}

/* --- the disk --- */

static struct al_py_use use_of(struct rig *r, uint64_t bytes, uint64_t files)
{
    struct al_py_use use = {0};
    atomic_bool stop = false;
    al_py_folder_use(r->tmp.fd, bytes, files, &stop, &use);
    return use;
}

static void a_folder_counts_what_lies_on_the_disk(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 1, 1, 1);
    struct al_py_use use = use_of(&r, UINT64_MAX, 1000);
    assert_int_equal(use.files, 1); /* the log of the rig */
    char chunk[8192] = {1};
    autofd int fd = openat(r.tmp.fd, "a", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (int i = 0; i < 16; i++)
        assert_int_equal(al_fd_write_all(fd, (struct al_str){chunk, sizeof(chunk)}), 0);
    fsync(fd);
    use = use_of(&r, UINT64_MAX, 1000);
    uint64_t one = use.disk;
    assert_true(one >= 16 * 8192 && one < 32 * 8192);
    assert_int_equal(linkat(r.tmp.fd, "a", r.tmp.fd, "b", 0), 0); /* the same bytes */
    assert_int_equal(mkdirat(r.tmp.fd, "d", 0700), 0);
    put_link("/", r.tmp.fd, "d/away");
    autofd int sparse = openat(r.tmp.fd, "d/sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(sparse, (off_t)1 << 40), 0);
    use = use_of(&r, UINT64_MAX, 1000);
    assert_int_equal(use.files, 6); /* with both names of one file */
    assert_true(use.disk < 2 * one);
    finish(&r);
}

static void counting_ends_at_the_limit(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 1, 1, 1);
    for (int i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof(name), "f%d", i);
        put_file(r.tmp.fd, name, "x");
    }
    assert_int_equal(use_of(&r, UINT64_MAX, 50).files, 51);
    assert_int_equal(use_of(&r, UINT64_MAX, 1000).files, 201);
    finish(&r);
}

/* As many names as one likes cost no inode, and each look would have to pass them. */
static void names_of_one_file_count(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 1, 1, 1);
    put_file(r.tmp.fd, "f", "x");
    for (int i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof(name), "f%d", i);
        assert_int_equal(linkat(r.tmp.fd, "f", r.tmp.fd, name, 0), 0);
    }
    assert_int_equal(use_of(&r, UINT64_MAX, 50).files, 51);
    finish(&r);
}

/* Levels are passed many at a time, also where names are long, or closed to all. */
static void every_level_is_found_again(void **state)
{
    (void)state;
    struct rig r;
    char name[256];
    begin(&r, 1, 1, 1);
    for (int chain = 0; chain < 3; chain++) {
        int at = dup(r.tmp.fd);
        for (int i = 0; i < 60; i++) {
            memset(name, 'a' + chain, sizeof(name));
            name[chain == 1 ? 255 : 5 + i] = 0;
            assert_int_equal(mkdirat(at, name, 0700), 0);
            int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            assert_true(next >= 0);
            if (chain == 2 && i % 20 == 10)
                assert_int_equal(fchmod(next, 0), 0);
            put_file(at, "beside", "x");
            close(at);
            at = next;
            if (chain == 2 && i % 20 == 10 && geteuid() != 0)
                break;
        }
        close(at);
    }
    /* An ordinary user cannot go on in a folder that was closed. */
    unsigned last = geteuid() == 0 ? 60 : 11;
    assert_int_equal(use_of(&r, UINT64_MAX, 1000).files, 1 + 2 * (60 + 60 + last) - 2);
    finish(&r);
}

static void depth_and_closed_folders_hide_nothing(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 1, 1, 1);
    int at = dup(r.tmp.fd);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(
            mkdirat(at, "a_folder_with_a_long_name_so_that_the_path_is_longer_than_any_limit", 0700), 0);
        int next = openat(at, "a_folder_with_a_long_name_so_that_the_path_is_longer_than_any_limit",
                          O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        close(at);
        at = next;
    }
    put_file(at, "deep", "x");
    struct al_py_use use = use_of(&r, UINT64_MAX, 1000);
    assert_int_equal(use.files, 102);
    assert_false(use.deep);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(mkdirat(at, "d", 0700), 0);
        int next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = next;
    }
    close(at);
    assert_true(use_of(&r, UINT64_MAX, 1000).deep);
    assert_int_equal(mkdirat(r.tmp.fd, "closed", 0700), 0);
    put_file(r.tmp.fd, "closed/x", "x");
    set_mode(r.tmp.fd, "closed", 0);
    struct stat st;
    unsigned fds = count_fds();
    (void)use_of(&r, UINT64_MAX, 1000);
    assert_int_equal(count_fds(), fds);
    assert_int_equal(fstatat(r.tmp.fd, "closed", &st, 0), 0);
    if (geteuid() != 0)
        assert_int_equal(st.st_mode & 0777, 0700);
    finish(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_whole),
        cmocka_unit_test(the_middle_is_left_out_with_its_size),
        cmocka_unit_test(a_log_that_is_full_says_what_is_in_it),
        cmocka_unit_test(a_cut_is_between_characters),
        cmocka_unit_test(bytes_that_are_no_text_become_marks),
        cmocka_unit_test(a_character_in_two_writes_is_one),
        cmocka_unit_test(progress_is_checked_and_written_anew),
        cmocka_unit_test(progress_that_is_no_small_file_counts_for_nothing),
        cmocka_unit_test(a_long_note_is_cut_at_a_character),
        cmocka_unit_test(a_folder_counts_what_lies_on_the_disk),
        cmocka_unit_test(counting_ends_at_the_limit),
        cmocka_unit_test(names_of_one_file_count),
        cmocka_unit_test(every_level_is_found_again),
        cmocka_unit_test(depth_and_closed_folders_hide_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
