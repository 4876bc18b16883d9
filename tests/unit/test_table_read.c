/* One descriptor in, rows out: which reader a file goes to, what is told about it, and its hash. */
#include "test.h"

#include "base/ident.h"
#include "base/mem.h"
#include "table/table.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

struct seen {
    uint64_t rows;
    unsigned notes[AL_NOTE_COUNT];
    char other[200];
    bool stop;
};

static int on_sheet(void *ud, struct al_str name, struct al_err *err)
{
    (void)ud, (void)err;
    return al_str_is(name, "data") ? 0 : -1;
}

static int on_columns(void *ud, const struct al_str *labels, size_t n, struct al_err *err)
{
    (void)ud, (void)labels, (void)n, (void)err;
    return 0;
}

static int on_late(void *ud, struct al_str label, struct al_err *err)
{
    (void)ud, (void)label, (void)err;
    return 0;
}

static int on_row(void *ud, const struct al_cell *cells, size_t n, uint64_t line, struct al_err *err)
{
    (void)cells, (void)n, (void)line, (void)err;
    ((struct seen *)ud)->rows++;
    return 0;
}

__attribute__((format(printf, 4, 5))) static void on_note(void *ud, enum al_note kind, uint64_t line,
                                                          const char *fmt, ...)
{
    struct seen *s = ud;
    (void)line;
    if (s->notes[kind]++ == 0 && kind == AL_NOTE_OTHER) {
        va_list ap;
        va_start(ap, fmt);
        (void)vsnprintf(s->other, sizeof s->other, fmt, ap);
        va_end(ap);
    }
}

static int on_progress(void *ud, uint64_t bytes, struct al_err *err)
{
    (void)bytes;
    return ((struct seen *)ud)->stop ? al_fail(err, AL_CANCELLED, "stopped") : 0;
}

static int read_bytes(const char *name, struct al_str bytes, const struct al_table_opts *opts, struct seen *s,
                      struct al_table_found *found, char sha256[65], struct al_err *err)
{
    struct al_table_sink sink = {on_sheet, on_columns, on_late, on_row, on_note, on_progress, s};
    int fd = memfd_create("table", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes.p, bytes.n, 0), (ssize_t)bytes.n);
    int r = al_table_read(fd, al_str_of(name), opts, &sink, found, sha256, err);
    close(fd);
    return r;
}

static const struct al_table_opts plain = {.max_bytes = 1 << 20};

static void each_format_goes_to_its_reader(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct al_str bytes;
        enum al_table_format format;
        uint64_t rows;
        const char *other;
    } cases[] = {
        {"a.csv", AL_S("a,b\n1,2\n3,4\n"), AL_TABLE_CSV, 2, ""},
        {"a.tsv", AL_S("a\tb\n1\t2\n"), AL_TABLE_TSV, 1, ""},
        {"a.json", AL_S("[{\"a\":1}]"), AL_TABLE_JSON, 1, ""},
        {"a.json", AL_S("\xef\xbb\xbf[{\"a\":1}]"), AL_TABLE_JSON, 1, ""},
        {"a.json",
         AL_S("\xff\xfe[\0"
              "1\0,\0"
              "2\0]\0"),
         AL_TABLE_JSON, 2, ""},
        {"a.jsonl", AL_S("{\"a\":1}\n{\"a\":2}\n"), AL_TABLE_JSONL, 2, ""},
        {"a.json", AL_S("{\"a\":1}\n{\"a\":2}\n"), AL_TABLE_JSONL, 2,
         "the file is JSON Lines, whatever its name says"},
        {"a.csv", AL_S("[{\"a\":1}]"), AL_TABLE_JSON, 1,
         "the file is JSON, whatever its name says, and was read as such"},
        {"a.xlsx", AL_S("a,b\n1,2\n"), AL_TABLE_CSV, 1,
         "the file is delimited text, whatever its name says, and was read as such"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct seen s = {0};
        struct al_table_found found = {0};
        char sha256[65] = "", want[65];
        struct al_err err = {0};
        if (read_bytes(cases[i].name, cases[i].bytes, &plain, &s, &found, sha256, &err) < 0)
            fail_msg("%zu %s: %s", i, cases[i].name, err.msg);
        al_sha256(cases[i].bytes, want);
        assert_string_equal(sha256, want);
        if (found.format != cases[i].format || s.rows != cases[i].rows ||
            strcmp(s.other, cases[i].other) != 0)
            fail_msg("%zu %s: %s, %d rows, %s", i, cases[i].name, al_table_format_name(found.format),
                     (int)s.rows, s.other);
    }
}

static void packed_json_is_unpacked(void **state)
{
    (void)state;
    unsigned char out[256];
    z_stream z = {.next_in = (unsigned char *)(uintptr_t) "{\"a\":1}\n{\"a\":2}\n",
                  .avail_in = 16,
                  .next_out = out,
                  .avail_out = sizeof out};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    struct al_str packed = {(char *)out, sizeof out - z.avail_out};
    struct seen s = {0};
    struct al_table_found found = {0};
    char sha256[65] = "", want[65];
    struct al_err err = {0};
    if (read_bytes("a.jsonl.gz", packed, &plain, &s, &found, sha256, &err) < 0)
        fail_msg("%s", err.msg);
    al_sha256(packed, want);
    assert_string_equal(sha256, want);
    assert_true(found.gzip && found.format == AL_TABLE_JSONL && s.rows == 2);
}

static void what_fails_leaves_the_result_alone(void **state)
{
    (void)state;
    struct seen s = {.stop = true};
    struct al_table_found found = {.delimiter = 'x'};
    char sha256[65] = "";
    struct al_err err = {0};
    assert_int_equal(read_bytes("a.json", AL_STR("[1]"), &plain, &s, &found, sha256, &err), -1);
    assert_int_equal(err.code, AL_CANCELLED);
    s.stop = false;
    assert_int_equal(read_bytes("a.json", AL_STR("[1"), &plain, &s, &found, sha256, &err), -1);
    assert_int_equal(err.code, AL_INGEST_INVALID);
    assert_int_equal(read_bytes("a.json", AL_STR(""), &plain, &s, &found, sha256, &err), -1);
    assert_int_equal(err.code, AL_INGEST_INVALID);
    struct al_table_opts small = {.max_bytes = 4};
    assert_int_equal(read_bytes("a.json", AL_STR("[1,2,3]"), &small, &s, &found, sha256, &err), -1);
    assert_int_equal(err.code, AL_INGEST_LIMIT);
    assert_non_null(strstr(err.msg, "analysis.data.maxUploadBytes"));
    assert_int_equal(found.delimiter, 'x');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_goes_to_its_reader),
        cmocka_unit_test(packed_json_is_unpacked),
        cmocka_unit_test(what_fails_leaves_the_result_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
