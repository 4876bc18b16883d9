/* What a file is, by its bytes and by its name. */
#include "test.h"

#include "base/mem.h"
#include "table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

struct known {
    const char *name;
    struct al_str head;
    enum al_table_format format;
    bool gzip;
};

static void formats_are_told_by_name_and_content(void **state)
{
    (void)state;
    static const struct known cases[] = {
        {"a.csv", AL_S("a,b\n1,2\n"), AL_TABLE_CSV, false},
        {"A.CSV", AL_S("a\n1\n"), AL_TABLE_CSV, false},
        {"a.tsv", AL_S("a\tb\n"), AL_TABLE_TSV, false},
        {"a.TAB", AL_S("a\tb\n"), AL_TABLE_TSV, false},
        {"a.json", AL_S("[1]"), AL_TABLE_JSON, false},
        {"a.json", AL_S("not json"), AL_TABLE_JSON, false},
        {"a.json", AL_S("\xff"), AL_TABLE_JSON, false},
        {"a.jsonl", AL_S("{}"), AL_TABLE_JSONL, false},
        {"a.NDJSON", AL_S("{}"), AL_TABLE_JSONL, false},
        {"a.xlsx", AL_S("PK\3\4....xl/workbook.xml"), AL_TABLE_XLSX, false},
        {"a.xlsm", AL_S("PK\3\4....[Content_Types].xml"), AL_TABLE_XLSX, false},
        {"a.csv", AL_S("PK\3\4....xl/workbook.xml"), AL_TABLE_XLSX, false},
        {"a.csv", AL_S("[\n {\"a\": 1}\n]"), AL_TABLE_JSON, false},
        {"a.csv", AL_S("{\"a\":1}\n{\"a\":2}\n"), AL_TABLE_JSON, false},
        {"a.csv", AL_S("{\"a\":1},x\n{\"a\":2},y\n"), AL_TABLE_JSON, false},
        {"a.csv", AL_S("[x],y\n1,2\n"), AL_TABLE_CSV, false},
        {"a.csv", AL_S("BM,MZ\n1,2\n"), AL_TABLE_CSV, false},
        {"a.csv", AL_S("a,b\n1\0,2\n"), AL_TABLE_CSV, false},
        {"a.csv", AL_S("<x>,<y>\n1,2\n"), AL_TABLE_CSV, false},
        {"a.csv",
         AL_S("\xff\xfe"
              "a\0,\0b\0\n\0"),
         AL_TABLE_CSV, false},
        {"data", AL_S("a;b\n1;2\n3;4\n"), AL_TABLE_CSV, false},
        {"report.xls", AL_S("a\tb\n1\t2\n3\t4\n"), AL_TABLE_CSV, false},
        {"report.xlsx", AL_S("a,b\n1,2\n3,4\n"), AL_TABLE_CSV, false},
        {"x.txt",
         AL_S("\xff\xfe"
              "a\0;\0b\0\n\0"
              "1\0;\0"
              "2\0\n\0"),
         AL_TABLE_CSV, false},
        {"x.log", AL_S("{\"a\":1}\n{\"a\":2}\n"), AL_TABLE_JSON, false},
        {"data", AL_S("[[1,2],\n[3,4]]"), AL_TABLE_JSON, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct al_table_found found;
        struct al_err err = {0};
        int r = al_table_detect(al_str_of(cases[i].name), cases[i].head, &found, &err);
        if (r < 0)
            fail_msg("%s (%zu): %s", cases[i].name, i, err.msg);
        if (found.format != cases[i].format || found.gzip != cases[i].gzip)
            fail_msg("%s (%zu): %s", cases[i].name, i, al_table_format_name(found.format));
    }
}

static void what_is_no_table_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct al_str head;
        const char *what;
    } cases[] = {
        {"a.xls", AL_S("<html><table>"), "HTML page"},
        {"a.csv", AL_S("\n <!DOCTYPE HTML><p>"), "HTML page"},
        {"a.xls",
         AL_S("<?xml version='1.0'?><Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet'>"),
         "Excel 2003"},
        {"a.csv", AL_S("<?xml version='1.0'?><x/>"), "XML"},
        {"a.csv", AL_S("%PDF-1.7"), "PDF"},
        {"a.xls", AL_S("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 W\0o\0r\0k\0b\0o\0o\0k\0"), "Excel 97"},
        {"a.xlsx", AL_S("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0"),
         "password-protected"},
        {"a.xlsx", AL_S("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 "), "password-protected"},
        {"a.doc", AL_S("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 "), "Office"},
        {"a.ods", AL_S("PK\3\4    mimetypeapplication/vnd.oasis.opendocument.spreadsheetPK"), "OpenDocument"},
        {"a.docx", AL_S("PK\3\4[Content_Types].xml word/document.xml"), "Word"},
        {"a.pptx", AL_S("PK\3\4[Content_Types].xml ppt/presentation.xml"), "PowerPoint"},
        {"a.xlsb", AL_S("PK\3\4[Content_Types].xml xl/workbook.bin"), "binary workbook"},
        {"a.zip", AL_S("PK\3\4....a.csv"), "ZIP"},
        {"a.csv", AL_S("PK\3\4....a.csv"), "ZIP"},
        {"a.parquet", AL_S("PAR1\x15\4\x15"), "Parquet"},
        {"a.arrow", AL_S("ARROW1\0\0"), "Arrow"},
        {"a.db", AL_S("SQLite format 3\0"), "SQLite"},
        {"a.csv", AL_S("\x89PNG\r\n\x1a\n"), "PNG"},
        {"a.csv", AL_S("\xff\xd8\xff\xe0"), "JPEG"},
        {"a.out",
         AL_S("\x7f"
              "ELF\2"),
         "program"},
        {"a.csv.bz2", AL_S("BZh91AY&SY\0\1"), "bzip2"},
        {"a.csv.xz",
         AL_S("\xfd"
              "7zXZ\0"),
         "xz"},
        {"a.csv.zst", AL_S("\x28\xb5\x2f\xfd"), "zstd"},
        {"a.txt", AL_S("Dear all,\n\nthis is a letter, with commas.\nBye\n"), "no table can be recognised"},
        {"a.c", AL_S("int a;\nint b;\nint c;\n"), "no table can be recognised"},
        {"a.ini", AL_S("[section]\nkey=1\n"), "no table can be recognised"},
        {"a", AL_S("\1\2\3\4\5\6\7\0\1\2"), "binary file"},
        {"a.xlsx", AL_S("hello"), "not a workbook"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct al_table_found found;
        struct al_err err = {0};
        if (al_table_detect(al_str_of(cases[i].name), cases[i].head, &found, &err) == 0)
            fail_msg("%s (%zu) was taken for %s", cases[i].name, i, al_table_format_name(found.format));
        assert_int_equal(err.code, AL_DATASET_UNSUPPORTED);
        if (!strstr(err.msg, cases[i].what) || !strstr(err.msg, cases[i].name) || !err.hint[0])
            fail_msg("%s (%zu): %s / %s", cases[i].name, i, err.msg, err.hint);
    }
}

static void an_empty_file_is_invalid(void **state)
{
    (void)state;
    struct al_table_found found;
    struct al_err err = {0};
    assert_int_equal(al_table_detect(AL_STR("a.csv"), AL_STR(""), &found, &err), -1);
    assert_int_equal(err.code, AL_INGEST_INVALID);
    assert_string_equal(err.msg, "a.csv is empty");
}

static struct al_str gzip(struct al_str s, unsigned char *out, size_t max)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)s.p,
                  .avail_in = (unsigned)s.n,
                  .next_out = out,
                  .avail_out = (unsigned)max};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return (struct al_str){(char *)out, max - z.avail_out};
}

static void packed_files_are_told_by_what_is_inside(void **state)
{
    (void)state;
    unsigned char out[1024], twice[1024];
    struct al_table_found found = {0};
    struct al_err err = {0};
    struct al_str csv = gzip(AL_STR("a,b\n1,2\n"), out, sizeof out);
    assert_int_equal(al_table_detect(AL_STR("a.csv.gz"), csv, &found, &err), 0);
    assert_true(found.gzip && found.format == AL_TABLE_CSV);
    assert_int_equal(al_table_detect(AL_STR("a.jsonl.GZ"), csv, &found, &err), 0);
    assert_true(found.gzip && found.format == AL_TABLE_JSONL);
    assert_int_equal(al_table_detect(AL_STR("a.csv"), csv, &found, &err), 0);
    assert_true(found.gzip && found.format == AL_TABLE_CSV);
    assert_int_equal(al_table_detect(AL_STR("a.csv.gz"), gzip(csv, twice, sizeof twice), &found, &err), -1);
    assert_non_null(strstr(err.msg, "twice"));
    csv = gzip(AL_STR("PK\3\4 xl/workbook.xml"), out, sizeof out);
    assert_int_equal(al_table_detect(AL_STR("a.xlsx.gz"), csv, &found, &err), -1);
    assert_int_equal(err.code, AL_DATASET_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "packed with gzip"));
    csv = gzip(AL_STR(""), out, sizeof out);
    assert_int_equal(al_table_detect(AL_STR("a.csv.gz"), csv, &found, &err), -1);
    assert_int_equal(err.code, AL_INGEST_INVALID);
}

static void a_name_is_made_visible_in_a_message(void **state)
{
    (void)state;
    struct al_table_found found;
    struct al_err err = {0};
    assert_int_equal(al_table_detect(AL_STR("a\x1b[2J.pdf"), AL_STR("%PDF-1"), &found, &err), -1);
    assert_null(strchr(err.msg, '\x1b'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_told_by_name_and_content),
        cmocka_unit_test(what_is_no_table_is_named),
        cmocka_unit_test(an_empty_file_is_invalid),
        cmocka_unit_test(packed_files_are_told_by_what_is_inside),
        cmocka_unit_test(a_name_is_made_visible_in_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
