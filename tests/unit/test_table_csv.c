#include "test.h"

#include "csv_rig.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

static struct csv_rig rig;

static int set_up(void **state)
{
    (void)state;
    csv_rig_init(&rig);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    csv_rig_free(&rig);
    return 0;
}

/* note: the kind that must be there, at that line (-1: none at all) */
struct expect {
    const char *in, *out;
    int note;
    uint64_t line;
};
#define NO_NOTE (-1)

static void check(const struct expect *e)
{
    if (csv_rig_read(&rig, al_str_of(e->in)) < 0)
        fail_msg("%s: %s", e->in, rig.err.msg);
    if (strcmp(csv_rig_text(&rig), e->out) != 0)
        fail_msg("%s\ngave\n%s\nnot\n%s", e->in, csv_rig_text(&rig), e->out);
    for (int k = 0; k < AL_NOTE_COUNT && e->note == NO_NOTE; k++) {
        if (rig.notes[k])
            fail_msg("%s: note \"%s\"", e->in, rig.note_text[k]);
    }
    if (e->note == NO_NOTE)
        return;
    if (!rig.notes[e->note])
        fail_msg("%s: no note of kind %d", e->in, e->note);
    assert_int_equal(rig.note_line[e->note], e->line);
}

static void check_all(const struct expect *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(&e[i]);
}
#define CHECK(table) check_all(table, sizeof table / sizeof table[0])

static void reads_rfc_4180(void **state)
{
    (void)state;
    static const struct expect all[] = {
        {"a,b\n1,2\n", "=a|b\n1|2\n", NO_NOTE, 0},
        {"a,b\r\n1,2\r\n", "=a|b\n1|2\n", NO_NOTE, 0},
        {"a,b\r1,2\r", "=a|b\n1|2\n", NO_NOTE, 0},
        {"a,b\n1,2", "=a|b\n1|2\n", NO_NOTE, 0},
        {"a,b\r\n1,2\n3,4\r5,6", "=a|b\n1|2\n3|4\n5|6\n", NO_NOTE, 0},
        {"a,b\n\"x,\"\"y\"\"\",2\n", "=a|b\nx,\"y\"|2\n", NO_NOTE, 0},
        {"a,b\n\"x\r\ny\n\",\"\"\n", "=a|b\nx\\r\\ny\\n|\n", NO_NOTE, 0},
        {"a,b\n,\n", "=a|b\n|\n", NO_NOTE, 0},
        {"a,b\n1,\"2\"", "=a|b\n1|2\n", NO_NOTE, 0},
        {"a,b\n1, x \n", "=a|b\n1| x \n", NO_NOTE, 0},
        {"a,b\n1,2,3\n4\n", "=a|b\n1|2|3\n4\n", NO_NOTE, 0},
    };
    CHECK(all);
}

static void one_column_and_one_row_are_tables(void **state)
{
    (void)state;
    static const struct expect all[] = {
        {"name\nann\nbob\n", "=name\nann\nbob\n", NO_NOTE, 0},
        {"name", "=name\n", NO_NOTE, 0},
        {"a,b,c", "=a|b|c\n", NO_NOTE, 0},
        {"a;b;c\n", "=a|b|c\n", NO_NOTE, 0},
        {"note\nyes, it is\nno\nwell, so, what, then\n", "=note\nyes, it is\nno\nwell, so, what, then\n",
         NO_NOTE, 0},
        {"n\n1\n\n3\n", "=n\n1\n\n3\n", AL_NOTE_BLANK_LINES, 3},
    };
    CHECK(all);
}

static void the_delimiter_is_what_makes_rows_alike(void **state)
{
    (void)state;
    static const struct expect all[] = {
        {"a;b;c\n1,5;2,5;3\n1,0;2,0;x\n", "=a|b|c\n1,5|2,5|3\n1,0|2,0|x\n", NO_NOTE, 0},
        {"a\tb\n1\t2,3\n", "=a|b\n1|2,3\n", NO_NOTE, 0},
        {"a|b\n1|2\n", "=a|b\n1|2\n", NO_NOTE, 0},
        {"name,tags\nx,a;b;c\ny,d;e;f\nz,g;h;i\n", "=name|tags\nx|a;b;c\ny|d;e;f\nz|g;h;i\n", NO_NOTE, 0},
        {"a,\"x;y;z\"\n1,\"u;v;w\"\n", "=a|x;y;z\n1|u;v;w\n", NO_NOTE, 0},
        {"a^b^c\n1^2^3\n4^5^6\n", "=a|b|c\n1|2|3\n4|5|6\n", AL_NOTE_DELIMITER, 0},
        {"sep=;\na;b\n1,2;3\n", "=a|b\n1,2|3\n", NO_NOTE, 0},
        {"sep=|\r\na|b\r\n1|2\r\n", "=a|b\n1|2\n", NO_NOTE, 0},
        {"at\n10:15:00\n10:16:00\n10:17:00\n", "=at\n10:15:00\n10:16:00\n10:17:00\n", NO_NOTE, 0},
        {"who\nAnn Lee\nBob Ray\nCy Fox\n", "=who\nAnn Lee\nBob Ray\nCy Fox\n", NO_NOTE, 0},
        {"a, b, \"c\"\n1, 2, \"x, y\"\n", "=a|b|c\n1|2|x, y\n", AL_NOTE_DELIMITER, 0},
    };
    CHECK(all);
}

static void what_is_forced_is_done(void **state)
{
    (void)state;
    rig.opts.delimiter = ':';
    check(&(struct expect){"a:b,c\n1:2,3\n", "=a|b,c\n1|2,3\n", NO_NOTE, 0});
    assert_int_equal(rig.found.delimiter, ':');
    rig.opts.delimiter = 0;
    rig.opts.header = -1;
    check(&(struct expect){"a,b\n1,2\n", "=|\na|b\n1|2\n", NO_NOTE, 0});
    check(&(struct expect){"a,\"b \"\"c\"\", d\"\n1,2\n", "=|\na|b \"c\", d\n1|2\n", NO_NOTE, 0});
    rig.opts.header = 1;
    check(&(struct expect){"1,2\n3,4\n", "=1|2\n3|4\n", NO_NOTE, 0});
    rig.opts.header = 0;
    rig.opts.has_skip_rows = true;
    rig.opts.skip_rows = 2;
    check(&(struct expect){"x\ny\na,b\n1,2\n", "=a|b\n1|2\n", NO_NOTE, 0});
    assert_int_equal(rig.first_line, 4);
    rig.opts.skip_rows = 0;
    check(&(struct expect){"Title\n\na,b\n1,2\n3,4\n", "=Title\na|b\n1|2\n3|4\n", AL_NOTE_BLANK_LINES, 2});
    rig.opts.has_skip_rows = false;
    rig.tsv = true;
    check(&(struct expect){"a,b\tc\n1,2\t3\n", "=a,b|c\n1,2|3\n", NO_NOTE, 0});
}

static void an_open_quote_does_not_swallow_the_file(void **state)
{
    (void)state;
    static const struct expect all[] = {
        {"a,b,c\n1,\"open,3\n4,5,6\n", "=a|b|c\n1|\"open|3\n4|5|6\n", AL_NOTE_UNTERMINATED_QUOTE, 2},
        {"a,b\n1,\"x\ny\"\n2,\"open\n3,4\n", "=a|b\n1|x\\ny\n2|\"open\n3|4\n", AL_NOTE_UNTERMINATED_QUOTE, 4},
        {"a,b,c\n1,\"abc,3\n4,\"def\",6\n", "=a|b|c\n1|\"abc|3\n4|def|6\n", AL_NOTE_UNTERMINATED_QUOTE, 2},
        {"a,b\n1,\"", "=a|b\n1|\"\n", AL_NOTE_UNTERMINATED_QUOTE, 2},
    };
    CHECK(all);
}

static void a_stray_quote_is_kept(void **state)
{
    (void)state;
    static const struct expect all[] = {
        {"a,b,c\n1,\"Hey, I missed \" it\",3\n", "=a|b|c\n1|Hey, I missed \" it|3\n", AL_NOTE_STRAY_QUOTE, 2},
        {"a,b\n1,5\" pipe\n", "=a|b\n1|5\" pipe\n", AL_NOTE_STRAY_QUOTE, 2},
        {"a,b\n\"abc\"def,x\n", "=a|b\nabcdef|x\n", AL_NOTE_STRAY_QUOTE, 2},
        {"a,b\n\"abc\" ,x\n", "=a|b\nabc |x\n", AL_NOTE_STRAY_QUOTE, 2},
        {"a,b\n\"said \"hi\" and\nleft\",x\n", "=a|b\nsaid \"hi\" and\\nleft|x\n", AL_NOTE_STRAY_QUOTE, 2},
        {"a,b,c\n\"10\"\",\"x, y\",z\n", "=a|b|c\n10\"|x, y|z\n", AL_NOTE_STRAY_QUOTE, 2},
        {"a,b,c\n\"1,x,\"y, z\"\n", "=a|b|c\n\"1|x|y, z\n", AL_NOTE_UNTERMINATED_QUOTE, 2},
    };
    CHECK(all);
}

static void quoting_is_what_the_file_does(void **state)
{
    (void)state;
    static const struct expect all[] = {
        {"a,b\n'x, y',1\n'it''s',2\n", "=a|b\nx, y|1\nit's|2\n", AL_NOTE_DELIMITER, 0},
        {"a,b\n'tis,1\nrock'n'roll,2\n", "=a|b\n'tis|1\nrock'n'roll|2\n", NO_NOTE, 0},
        {"a,b\n\"x \\\"y\\\", z\",1\n\"\\\\\",2\n", "=a|b\nx \"y\", z|1\n\\|2\n", AL_NOTE_DELIMITER, 0},
        {"a,b\n\"C:\\dir\\\",1\n\"D:\\\",2\n", "=a|b\nC:\\dir\\|1\nD:\\|2\n", NO_NOTE, 0},
    };
    CHECK(all);
}

static void blank_lines_comments_and_titles_are_told(void **state)
{
    (void)state;
    static const struct expect all[] = {
        {"a,b\n\n1,2\n\n", "=a|b\n1|2\n", AL_NOTE_BLANK_LINES, 2},
        {"\n\na,b\n1,2\n", "=a|b\n1|2\n", AL_NOTE_BLANK_LINES, 1},
        {"# made by x\n# on monday, at noon\na,b\n1,2\n", "=a|b\n1|2\n", AL_NOTE_COMMENT_LINES, 1},
        {"#,name\n1,ann\n2,bob\n", "=#|name\n1|ann\n2|bob\n", NO_NOTE, 0},
        {"Sales 2024\n\na,b,c\n1,2,3\n4,5,6\n", "=a|b|c\n1|2|3\n4|5|6\n", AL_NOTE_PREAMBLE, 1},
        {"Sales,,\n,,\na,b,c\n1,2,3\n4,5,6\n", "=a|b|c\n1|2|3\n4|5|6\n", AL_NOTE_PREAMBLE, 1},
        {"a,b\n1,2\nTotal\n", "=a|b\n1|2\nTotal\n", NO_NOTE, 0},
    };
    CHECK(all);
    check(&all[4]);
    assert_non_null(strstr(rig.note_text[AL_NOTE_PREAMBLE], "Sales 2024"));
    assert_int_equal(rig.first_line, 4);
}

static void a_header_is_what_differs_from_its_columns(void **state)
{
    (void)state;
    static const struct expect all[] = {
        {"1,2\n3,4\n", "=|\n1|2\n3|4\n", AL_NOTE_HEADER, 0},
        {"ann,31,2020-01-01\nbob,4,2021-03-04\ncy,7,2022-05-06\n",
         "=||\nann|31|2020-01-01\nbob|4|2021-03-04\ncy|7|2022-05-06\n", AL_NOTE_HEADER, 0},
        {"AB-1,red\nCD-2,blue\nEF-3,red\nGH-4,red\n", "=|\nAB-1|red\nCD-2|blue\nEF-3|red\nGH-4|red\n",
         AL_NOTE_HEADER, 0},
        {"city,2019,2020\nBonn,12,13\nUlm,4,5\n", "=city|2019|2020\nBonn|12|13\nUlm|4|5\n", NO_NOTE, 0},
        {"x,y\nx,y\nx,y\nx,y\nx,y\n", "=x|y\nx|y\nx|y\nx|y\nx|y\n", NO_NOTE, 0},
        {"x,y\nred,up\nblue,down\n", "=x|y\nred|up\nblue|down\n", NO_NOTE, 0},
        {"id,price,tax\n,EUR,%\n1,2.5,7\n2,3.5,7\n3,4.5,7\n",
         "=id|price EUR|tax %\n1|2.5|7\n2|3.5|7\n3|4.5|7\n", AL_NOTE_HEADER, 1},
        {"when,trip,,cost\n,air,rail,\nmay,x,y,1\njune,x,y,2\njuly,z,y,3\n",
         "=when|trip air|trip rail|cost\nmay|x|y|1\njune|x|y|2\njuly|z|y|3\n", AL_NOTE_HEADER, 1},
    };
    CHECK(all);
}

static void zero_bytes_are_kept_and_told(void **state)
{
    (void)state;
    assert_int_equal(csv_rig_read(&rig, AL_STR("a,b\n1,x\0y\n2,z\n")), 0);
    assert_string_equal(csv_rig_text(&rig), "=a|b\n1|x\\0y\n2|z\n");
    assert_int_equal(rig.notes[AL_NOTE_NUL_BYTES], 1);
    assert_int_equal(rig.note_line[AL_NOTE_NUL_BYTES], 2);
}

static void nothing_is_no_table(void **state)
{
    (void)state;
    assert_int_equal(csv_rig_read(&rig, AL_STR("")), -1);
    assert_int_equal(rig.err.code, AL_INGEST_INVALID);
    assert_int_equal(csv_rig_read(&rig, AL_STR("sep=x\n\n\n")), -1);
    assert_int_equal(rig.err.code, AL_INGEST_INVALID);
    assert_int_equal(csv_rig_read(&rig, AL_STR("\xef\xbb\xbf")), -1);
    assert_int_equal(rig.err.code, AL_INGEST_INVALID);
}

static void the_sink_ends_the_reading(void **state)
{
    (void)state;
    rig.stop_at_row = 2;
    assert_int_equal(csv_rig_read(&rig, AL_STR("a\nx\ny\nz\n")), -1);
    assert_int_equal(rig.err.code, AL_CANCELLED);
    assert_int_equal(rig.rows, 2);
}

/* Rows of every length, across every border of a piece, with quotes, escapes and line ends. */
static void pieces_leave_no_trace(void **state)
{
    (void)state;
    autobuf struct al_buf in = AL_BUF_INIT(1 << 24), want = AL_BUF_INIT(1 << 24);
    al_buf_adds(&in, "id,text,more\r\n");
    al_buf_adds(&want, "=id|text|more\n");
    for (int i = 0; i < 60000; i++) {
        int fill = i * 7919 % 61;
        al_buf_addf(&in, "%d,\"%.*s\"\"x\r\ny\",é%d\r\n", i, fill,
                    "-------------------------------------------------------------", i);
        al_buf_addf(&want, "%d|%.*s\"x\\r\\ny|é%d\n", i, fill,
                    "-------------------------------------------------------------", i);
    }
    assert_int_equal(csv_rig_read(&rig, al_buf_str(&in)), 0);
    assert_true(al_str_is(al_buf_str(&want), csv_rig_text(&rig)));
    assert_int_equal(rig.rows, 60000);
    assert_int_equal(rig.last_line, 2 + 2 * 59999);
}

static struct al_buf long_text(const char *head, char ch, size_t n, const char *tail)
{
    struct al_buf b = AL_BUF_INIT((size_t)64 << 20);
    al_buf_adds(&b, head);
    memset(al_buf_grow(&b, n), ch, n);
    al_buf_adds(&b, tail);
    return b;
}

static void a_cell_has_a_limit(void **state)
{
    (void)state;
    autobuf struct al_buf fits = long_text("a,b\n1,", 'x', AL_TABLE_MAX_CELL, "\n2,y\n");
    assert_int_equal(csv_rig_read(&rig, al_buf_str(&fits)), 0);
    assert_int_equal(rig.rows, 2);
    autobuf struct al_buf over = long_text("a,b\n1,2\n1,", 'x', AL_TABLE_MAX_CELL + 1, "\n2,y\n");
    assert_int_equal(csv_rig_read(&rig, al_buf_str(&over)), -1);
    assert_int_equal(rig.err.code, AL_INGEST_LIMIT);
    assert_non_null(strstr(rig.err.msg, "row 2"));
    autobuf struct al_buf quoted = long_text("a,b\n1,\"", 'x', AL_TABLE_MAX_CELL + 1, "\"\n2,y\n");
    assert_int_equal(csv_rig_read(&rig, al_buf_str(&quoted)), -1);
    assert_int_equal(rig.err.code, AL_INGEST_LIMIT);
    autobuf struct al_buf record = long_text("a,b\n", ',', (size_t)17 << 20, "\n");
    assert_int_equal(csv_rig_read(&rig, al_buf_str(&record)), -1);
    assert_int_equal(rig.err.code, AL_INGEST_LIMIT);
}

/* A quote that is open over line ends for more than a cell's limit was no quote. */
static void an_open_quote_in_a_big_file_is_found_out(void **state)
{
    (void)state;
    autobuf struct al_buf in = AL_BUF_INIT((size_t)64 << 20);
    al_buf_adds(&in, "a,b\n1,\"open\n");
    for (int i = 0; i < 400000; i++)
        al_buf_addf(&in, "%d,x\n", i);
    assert_int_equal(csv_rig_read(&rig, al_buf_str(&in)), 0);
    assert_int_equal(rig.rows, 400001);
    assert_int_equal(rig.notes[AL_NOTE_UNTERMINATED_QUOTE], 1);
    assert_int_equal(rig.note_line[AL_NOTE_UNTERMINATED_QUOTE], 2);
}

/* Each line has an odd quote: the work stays in proportion to the file. */
static void odd_quotes_on_every_line_cost_no_square(void **state)
{
    (void)state;
    static const char *const lines[] = {"\"a\"b,c\n", "\"a\"b\n", "x,\"y\n", "\"\"\"a\n\"\n",
                                        "\"a\"\"b\"c,\n"};
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        autobuf struct al_buf in = AL_BUF_INIT((size_t)64 << 20);
        al_buf_adds(&in, "a,b\n");
        while (in.n < ((size_t)2 << 20))
            al_buf_adds(&in, lines[k]);
        rig.quiet = true;
        assert_int_equal(csv_rig_read(&rig, al_buf_str(&in)), 0);
        assert_true(rig.rows > 1000);
    }
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(reads_rfc_4180),
        T(one_column_and_one_row_are_tables),
        T(the_delimiter_is_what_makes_rows_alike),
        T(what_is_forced_is_done),
        T(an_open_quote_does_not_swallow_the_file),
        T(a_stray_quote_is_kept),
        T(quoting_is_what_the_file_does),
        T(blank_lines_comments_and_titles_are_told),
        T(a_header_is_what_differs_from_its_columns),
        T(zero_bytes_are_kept_and_told),
        T(nothing_is_no_table),
        T(the_sink_ends_the_reading),
        T(pieces_leave_no_trace),
        T(a_cell_has_a_limit),
        T(an_open_quote_in_a_big_file_is_found_out),
        T(odd_quotes_on_every_line_cost_no_square),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
