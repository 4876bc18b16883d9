#include "test.h"

#include "csv_rig.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "table/icu.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#define MIB ((size_t)1 << 20)

static struct csv_rig rig;
static struct al_buf got;

static int set_up(void **state)
{
    (void)state;
    csv_rig_init(&rig);
    al_buf_init(&got, 64 * MIB);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    csv_rig_free(&rig);
    al_buf_free(&got);
    return 0;
}

/* All of the text into got; each piece must be valid UTF-8 of at most 1 MiB. */
static int read_text(struct al_str bytes)
{
    int fd = csv_rig_fd(bytes);
    struct al_source *s = NULL;
    al_buf_clear(&got);
    memset(rig.notes, 0, sizeof rig.notes);
    rig.progress = 0;
    al_err_clear(&rig.err);
    int r = al_source_open(fd, rig.gzip, &rig.opts, &rig.sink, &s, &rig.err);
    while (r == 0) {
        struct al_str piece;
        r = al_source_next(s, &piece, &rig.err);
        if (r < 0 || piece.n == 0)
            break;
        assert_true(piece.n <= MIB && al_utf8_valid(piece));
        al_buf_add_str(&got, piece);
    }
    if (r == 0)
        r = al_source_sha256(s, rig.sha256, &rig.err);
    if (r == 0) {
        char want[65];
        al_sha256(bytes, want);
        assert_string_equal(rig.sha256, want);
        assert_int_equal(al_source_bytes(s), bytes.n);
    }
    if (s)
        snprintf(rig.encoding, sizeof rig.encoding, "%s", al_source_encoding(s));
    al_source_free(s);
    close(fd);
    return r;
}

static void check(struct al_str in, const char *encoding, const char *out)
{
    if (read_text(in) < 0)
        fail_msg("%s", rig.err.msg);
    assert_string_equal(rig.encoding, encoding);
    if (!al_str_is(al_buf_str(&got), out))
        fail_msg("got \"%.*s\" for \"%s\"", AL_FMT(al_buf_str(&got)), out);
}

static void plain_utf8_passes_without_a_word(void **state)
{
    (void)state;
    check(AL_STR("a,é,東京,😀\n"), "UTF-8", "a,é,東京,😀\n");
    check(AL_STR(""), "UTF-8", "");
    check(AL_STR("\xef\xbb\xbf"
                 "a,b"),
          "UTF-8", "a,b");
    for (int k = 0; k < AL_NOTE_COUNT; k++)
        assert_int_equal(rig.notes[k], 0);
}

static void utf16_and_utf32_need_no_mark(void **state)
{
    (void)state;
    check(AL_STR("\xff\xfe"
                 "a\0,\0\xe9\0\n\0"),
          "UTF-16LE", "a,é\n");
    check(AL_STR("\xfe\xff\0a\0,\0\xe9\0\n"), "UTF-16BE", "a,é\n");
    check(AL_STR("a\0,\0\xe9\0\n\0"), "UTF-16LE", "a,é\n");
    check(AL_STR("\0a\0,\0\xe9\0\n"), "UTF-16BE", "a,é\n");
    check(AL_STR("\xff\xfe\x3d\xd8\x00\xde\n\0"), "UTF-16LE", "😀\n");
    check(AL_STR("\xff\xfe\0\0a\0\0\0\n\0\0\0"), "UTF-32LE", "a\n");
    check(AL_STR("\0\0\xfe\xff\0\0\0a\0\1\xf6\0"), "UTF-32BE", "a😀");
    check(AL_STR("a\0\0\0,\0\0\0b\0\0\0\n\0\0\0"), "UTF-32LE", "a,b\n");
    check(AL_STR("\0\0\0a\0\0\0,\0\0\0b\0\0\0\n"), "UTF-32BE", "a,b\n");
    assert_int_equal(rig.notes[AL_NOTE_ENCODING], 1);
    /* Halves of characters become U+FFFD, and are told. */
    check(AL_STR("\xff\xfe\x3d\xd8"
                 "a\0b"),
          "UTF-16LE",
          "\xef\xbf\xbd"
          "a\xef\xbf\xbd");
    assert_true(rig.notes[AL_NOTE_INVALID_BYTES] > 0);
    /* A few zero bytes are no UTF-16. */
    assert_int_equal(read_text(AL_STR("a,b\n1,\0\n2,3\n")), 0);
    assert_true(al_str_eq(al_buf_str(&got), AL_STR("a,b\n1,\0\n2,3\n")));
}

static void what_is_no_utf8_is_windows_1252(void **state)
{
    (void)state;
    check(AL_STR("caf\xe9,\x80\x93\n"), "windows-1252", "café,€“\n");
    assert_int_equal(rig.notes[AL_NOTE_ENCODING], 1);
    snprintf(rig.opts.encoding, sizeof rig.opts.encoding, "latin1");
    check(AL_STR("caf\xe9\x85"), "ISO-8859-1", "café\xc2\x85");
    snprintf(rig.opts.encoding, sizeof rig.opts.encoding, "klingon");
    assert_int_equal(read_text(AL_STR("a")), -1);
    assert_int_equal(rig.err.code, AL_DATASET_UNSUPPORTED);
}

static void icu_knows_the_others(void **state)
{
    (void)state;
    if (!al_icu_load()) {
        print_message("no ICU here: skipped\n");
        skip();
    }
    snprintf(rig.opts.encoding, sizeof rig.opts.encoding, "shift_jis");
    check(AL_STR("\x93\x8c\x8b\x9e,1\n"), "Shift_JIS", "東京,1\n");
    snprintf(rig.opts.encoding, sizeof rig.opts.encoding, "gb18030");
    check(AL_STR("\xb3\xc7\xca\xd0,\x94\x39\xfc\x36\n"), "GB18030", "城市,😀\n");
    rig.opts.encoding[0] = 0;
    static const char greek[] = "\xd0\xfc\xeb\xe7,\xd0\xeb\xe7\xe8\xf5\xf3\xec\xfc\xf2\n\xc1\xe8\xde\xed\xe1,"
                                "\xec\xe5\xe3\xdc\xeb\xe7 \xf0\xfc\xeb\xe7 \xf4\xe7\xf2 "
                                "\xc5\xeb\xeb\xdc\xe4\xe1\xf2\n\xd0\xdc\xf4\xf1\xe1,\xea\xe1\xe9 "
                                "\xe1\xf5\xf4\xde \xe5\xdf\xed\xe1\xe9 \xec\xe9\xe1 \xf0\xfc\xeb\xe7\n";
    assert_int_equal(read_text(al_str_of(greek)), 0);
    assert_string_equal(rig.encoding, "ISO-8859-7");
    assert_true(al_str_starts(al_buf_str(&got), "Πόλη,Πληθυσμός\nΑθήνα"));
}

static void names_in_any_script_become_latin(void **state)
{
    (void)state;
    if (!al_icu_load()) {
        print_message("no ICU here: skipped\n");
        skip();
    }
    static const char *const pairs[][2] = {
        {"Año", "ano"},        {"城市", "cheng shi"}, {"Дата", "data"},
        {"Straße", "strasse"}, {"Πόλη", "pole"},      {"ÅB c", "ab c"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        autobuf struct al_buf out = AL_BUF_INIT(1000);
        al_icu_to_ascii(al_str_of(pairs[i][0]), &out);
        if (!al_str_is(al_buf_str(&out), pairs[i][1]))
            fail_msg("%s became %.*s", pairs[i][0], AL_FMT(al_buf_str(&out)));
    }
}

static void append_many(struct al_buf *b, const char *text, size_t bytes)
{
    size_t n = strlen(text);
    for (size_t left = bytes; left >= n; left -= n)
        al_buf_add(b, text, n);
}

static void characters_across_pieces_stay_whole(void **state)
{
    (void)state;
    static const char *const texts[] = {"é", "東", "😀", "aé東😀\n"};
    for (size_t k = 0; k < 4; k++) {
        for (size_t shift = 0; shift < 4; shift++) {
            autobuf struct al_buf in = AL_BUF_INIT(8 * MIB);
            append_many(&in, "x", shift);
            append_many(&in, texts[k], MIB + MIB / 2);
            assert_int_equal(read_text(al_buf_str(&in)), 0);
            assert_true(al_str_eq(al_buf_str(&in), al_buf_str(&got)));
            assert_int_equal(rig.notes[AL_NOTE_INVALID_BYTES], 0);
        }
    }
}

static void what_comes_late_is_looked_up_first(void **state)
{
    (void)state;
    {
        autobuf struct al_buf in = AL_BUF_INIT(8 * MIB);
        append_many(&in, "plain,text\n", 3 * MIB);
        size_t plain = in.n;
        al_buf_adds(&in, "caf\xe9,cr\xe8me\n");
        append_many(&in, "plain,text\n", MIB);
        assert_int_equal(read_text(al_buf_str(&in)), 0);
        assert_string_equal(rig.encoding, "windows-1252");
        assert_true(al_str_starts((struct al_str){got.p + plain, got.n - plain}, "café,crème\nplain"));
        assert_int_equal(got.n, in.n + 2);
        memcpy(in.p + plain, "caf\xc3\xa9", 5);
        in.p[plain + 5] = ',';
        in.p[plain + 6] = 'c';
        in.p[plain + 7] = 'r';
        assert_int_equal(read_text(al_buf_str(&in)), 0);
        assert_string_equal(rig.encoding, "UTF-8");
    }
}

static void a_few_bad_bytes_are_damage(void **state)
{
    (void)state;
    autobuf struct al_buf in = AL_BUF_INIT(8 * MIB);
    append_many(&in, "naïve,café\n", 120000);
    size_t lines = in.n / strlen("naïve,café\n");
    al_buf_adds(&in, "bad:\xff\n");
    append_many(&in, "naïve,café\n", 12000);
    al_buf_adds(&in, "\xe2\x82,cut\xf0\x9f");
    assert_int_equal(read_text(al_buf_str(&in)), 0);
    assert_string_equal(rig.encoding, "UTF-8");
    assert_int_equal(rig.notes[AL_NOTE_INVALID_BYTES], 3);
    assert_int_equal(rig.note_line[AL_NOTE_INVALID_BYTES], lines + 1);
    char where[40];
    snprintf(where, sizeof where, "byte %zu (0xff)", lines * strlen("naïve,café\n") + 4);
    assert_non_null(strstr(rig.note_text[AL_NOTE_INVALID_BYTES], where));
    assert_true(al_str_ends(al_buf_str(&got), "\n\xef\xbf\xbd,cut\xef\xbf\xbd"));
}

static void pack(struct al_buf *out, struct al_str text)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    unsigned char room[65536];
    z.next_in = (unsigned char *)(uintptr_t)text.p;
    z.avail_in = (unsigned)text.n;
    int r;
    do {
        z.next_out = room;
        z.avail_out = sizeof room;
        r = deflate(&z, Z_FINISH);
        al_buf_add(out, room, sizeof room - z.avail_out);
    } while (r != Z_STREAM_END);
    deflateEnd(&z);
}

static void gzip_is_unpacked(void **state)
{
    (void)state;
    rig.gzip = true;
    autobuf struct al_buf in = AL_BUF_INIT(8 * MIB), text = AL_BUF_INIT(8 * MIB);
    append_many(&text, "some,text,é\n", 2 * MIB);
    pack(&in, al_buf_str(&text));
    pack(&in, AL_STR("and,more\n"));
    pack(&in, AL_STR(""));
    al_buf_adds(&text, "and,more\n");
    assert_int_equal(read_text(al_buf_str(&in)), 0);
    assert_true(al_str_eq(al_buf_str(&text), al_buf_str(&got)));
    assert_int_equal(rig.notes[AL_NOTE_OTHER], 0);
    rig.opts.max_bytes = text.n - 1;
    assert_int_equal(read_text(al_buf_str(&in)), -1);
    assert_int_equal(rig.err.code, AL_INGEST_LIMIT);
    assert_non_null(strstr(rig.err.hint, "analysis.data.maxUploadBytes"));
    rig.opts.max_bytes = 0;
    al_buf_adds(&in, "garbage");
    assert_int_equal(read_text(al_buf_str(&in)), 0);
    assert_int_equal(rig.notes[AL_NOTE_OTHER], 1);
    assert_true(al_str_eq(al_buf_str(&text), al_buf_str(&got)));
}

static void damaged_gzip_is_refused(void **state)
{
    (void)state;
    rig.gzip = true;
    autobuf struct al_buf in = AL_BUF_INIT(8 * MIB);
    pack(&in, AL_STR("a,b\n1,2\n3,4\n"));
    for (size_t n = 1; n < in.n; n++) {
        if (read_text((struct al_str){in.p, n}) == 0)
            assert_true(n == 1 && got.n == 0);
        else
            assert_int_equal(rig.err.code, AL_INGEST_INVALID);
    }
    in.p[in.n - 6] ^= 1;
    assert_int_equal(read_text(al_buf_str(&in)), -1);
    assert_int_equal(rig.err.code, AL_INGEST_INVALID);
}

static void late_text_in_gzip_is_looked_up_too(void **state)
{
    (void)state;
    rig.gzip = true;
    autobuf struct al_buf in = AL_BUF_INIT(8 * MIB), text = AL_BUF_INIT(8 * MIB);
    append_many(&text, "plain,text\n", 2 * MIB);
    al_buf_adds(&text, "caf\xe9\n");
    append_many(&text, "plain,text\n", MIB);
    pack(&in, al_buf_str(&text));
    assert_int_equal(read_text(al_buf_str(&in)), 0);
    assert_string_equal(rig.encoding, "windows-1252");
    assert_int_equal(got.n, text.n + 1);
}

static void a_file_has_a_limit(void **state)
{
    (void)state;
    rig.opts.max_bytes = 4;
    check(AL_STR("a,b\n"), "UTF-8", "a,b\n");
    assert_int_equal(read_text(AL_STR("a,b\n1")), -1);
    assert_int_equal(rig.err.code, AL_INGEST_LIMIT);
}

static void a_file_that_changes_is_refused(void **state)
{
    (void)state;
    int fd = csv_rig_fd(AL_STR("a,b\n1,2\n"));
    struct al_source *s;
    struct al_str piece;
    char sha[65];
    assert_int_equal(al_source_open(fd, false, &rig.opts, &rig.sink, &s, &rig.err), 0);
    assert_int_equal(al_source_next(s, &piece, &rig.err), 0);
    assert_int_equal(pwrite(fd, "3,4\n", 4, 8), 4);
    assert_int_equal(al_source_sha256(s, sha, &rig.err), -1);
    assert_int_equal(rig.err.code, AL_INGEST_INVALID);
    assert_non_null(strstr(rig.err.msg, "changed while it was read"));
    al_source_free(s);
    close(fd);
}

/* Ends the process at the first call that looks for a file. */
static bool seal(void)
{
#define REFUSE(nr) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(__NR_openat),
#ifdef __NR_open
        REFUSE(__NR_open),
        REFUSE(__NR_stat),
        REFUSE(__NR_access),
        REFUSE(__NR_readlink),
#endif
        REFUSE(__NR_newfstatat),
        REFUSE(__NR_statx),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {sizeof code / sizeof code[0], code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

static int use_icu_sealed(void)
{
    if (!seal())
        return 77;
    struct al_icu_guess guess[8];
    char name[40];
    autobuf struct al_buf out = AL_BUF_INIT(1000);
    uint64_t bad = 0;
    static const char *const names[] = {"Shift_JIS",  "EUC-KR",       "Big5",   "KOI8-R",
                                        "ISO-8859-2", "windows-1251", "GB18030"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct al_icu_conv *c = al_icu_conv_new(names[i]);
        if (!c)
            return 2;
        al_icu_conv_do(c, AL_STR("a\xb0\xa1z"), true, &out, &bad);
        al_icu_conv_free(c);
    }
    if (al_icu_known("no-such-thing", name) ||
        al_icu_detect(AL_STR("\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0"), guess) == 0)
        return 3;
    al_buf_clear(&out);
    al_icu_to_ascii(AL_STR("城市"), &out);
    return al_str_is(al_buf_str(&out), "cheng shi") ? 0 : 4;
}

static void icu_opens_no_file_once_it_is_loaded(void **state)
{
    (void)state;
    if (!al_icu_load()) {
        print_message("no ICU here: skipped\n");
        skip();
    }
    pid_t pid = fork();
    if (pid == 0)
        _exit(use_icu_sealed());
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("no seccomp here: skipped\n");
        skip();
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(plain_utf8_passes_without_a_word),
        T(utf16_and_utf32_need_no_mark),
        T(what_is_no_utf8_is_windows_1252),
        T(icu_opens_no_file_once_it_is_loaded),
        T(icu_knows_the_others),
        T(names_in_any_script_become_latin),
        T(characters_across_pieces_stay_whole),
        T(what_comes_late_is_looked_up_first),
        T(a_few_bad_bytes_are_damage),
        T(gzip_is_unpacked),
        T(damaged_gzip_is_refused),
        T(late_text_in_gzip_is_looked_up_too),
        T(a_file_has_a_limit),
        T(a_file_that_changes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
