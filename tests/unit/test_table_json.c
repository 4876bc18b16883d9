/* Rows out of JSON: which shapes are rows, what becomes of each value, and what is refused, wherever the text
 * is cut. */
#include "test.h"

#include "base/mem.h"
#include "table_json_help.h"

#include <dirent.h>
#include <stdlib.h>

struct shape {
    const char *text;
    const char *want;
};

static void check_shapes(const struct shape *shapes, size_t n, bool lines, const struct al_table_opts *opts)
{
    static const size_t pieces[] = {1, 2, 3, 7, 64, 1 << 20};
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++) {
            struct written *w = al_xcalloc(1, sizeof *w);
            struct al_table_found found = {0};
            struct al_err err = {0};
            int r = read_json(al_str_of(shapes[i].text), pieces[k], lines, opts, w, &found, &err);
            al_buf_addc(&w->out, '\0');
            const char *got = r < 0 ? err.msg : w->out.p;
            const char *found_at = strstr(shapes[i].want, ", found: ");
            /* What is shown of the text at a fault is what has been read so far. */
            size_t same = r < 0 && found_at && pieces[k] < 64 ? (size_t)(found_at - shapes[i].want)
                                                              : strlen(shapes[i].want) + 1;
            if (strncmp(got, shapes[i].want, same) != 0)
                fail_msg("%s in pieces of %zu:\n  got  %s\n  want %s", shapes[i].text, pieces[k], got,
                         shapes[i].want);
            if (r < 0 && (!err.hint[0] || (err.code != AL_INGEST_INVALID && err.code != AL_INGEST_LIMIT)))
                fail_msg("%s: code %d, hint %s", shapes[i].text, (int)err.code, err.hint);
            al_buf_free(&w->out);
            free(w);
        }
    }
}

#define CHECK(shapes, lines) \
    check_shapes(shapes, sizeof(shapes) / sizeof((shapes)[0]), lines, &(struct al_table_opts){0})

static void documents_are_rows(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {"[{\"a\":1,\"b\":\"x\"},{\"a\":2.50,\"b\":null}]", "(a,b) 1:#1|'x 1:#2.50|-"},
        {"[\n{\"a\":true},\n{\"a\":false}\n]\n", "(a) 2:~true 3:~false"},
        {"[{\"a\":1},{\"b\":2},{\"a\":3}]", "(a) 1:#1 +b 1:-|#2 1:#3|-"},
        {"[{\"b\":1,\"a\":2},{\"a\":3,\"b\":4}]", "(b,a) 1:#1|#2 1:#4|#3"},
        {"[{\"a\":[1, 2.0 ,{\"x\" : \"y z\"}],\"b\":{ }}]", "(a,b) 1:'[1,2.0,{\"x\":\"y z\"}]|'{}"},
        {"[{\"a\":\"\"},{\"a\":\"007\"}]", "(a) 1:' 1:'007"},
        {"[{\"a\\u00e9\\n\":\"\\u0041\\\"\\\\\\/\\b\\f\\n\\r\\t\\ud83d\\ude00\"}]",
         "(aé\n) 1:'A\"\\/\b\f\n\r\t😀"},
        {"{\"a\":1,\"b\":[1,\"x\"],\"c\":{\"d\":null}}", "(a,b,c) 1:#1|'[1,\"x\"]|'{\"d\":null}"},
        {"[1,\"x\",null,true]", "(value) 1:#1 1:'x 1:- 1:~true"},
        {"[{\"a\":1},5]", "(a) 1:#1 +value 1:-|#5 !not_objects@1x1"},
        {"[{\"a\":1},[5]]", "(a) 1:#1 +value 1:-|'[5] !not_objects@1x1"},
        {"[]", "(value) !other@0x1"},
        {"{}", "(value) 1:- !empty_records@1x1"},
        {"[{},\n{},{\"a\":1,\"b\":2}]", "(a,b) 1:-|- 1:-|- 2:#1|#2 !empty_records@1x2"},
        {"5", "(value) 1:#5"},
        {" \"x\" ", "(value) 1:'x"},
        {"null", "(value) 1:-"},
        {"[{\"\":1}]", "() 1:#1"},
    };
    CHECK(shapes, false);
}

static void arrays_of_arrays_are_rows(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {"[[1,\"x\"],[2,\"y\"]]", "(,) 1:#1|'x 1:#2|'y !header@1x1"},
        {"[[\"n\",\"m\"],\n[\"x\",2]]", "(n,m) 2:'x|#2 !header@1x1"},
        {"[[\"n\",\"m\"],[\"x\",\"y\"]]", "(,) 1:'n|'m 1:'x|'y !header@1x1"},
        {"[[1],[2,3]]", "() 1:#1 + 1:#2|#3 !long_rows@1x1 !header@1x1"},
        {"[[1,2],[3],[]]", "(,) 1:#1|#2 1:#3 1:-|- !header@1x1 !empty_records@1x1"},
        {"[[1],{\"k\":2},[3,4]]",
         "() 1:#1 +k 1:-|#2 + 1:#3|-|#4 !long_rows@1x1 !header@1x1 !not_objects@1x1"},
        {"[[]]", "(value) 1:- !header@1x1 !empty_records@1x1"},
        {"[[[1, 2]]]", "() 1:'[1,2] !header@1x1"},
    };
    CHECK(shapes, false);
    static const struct shape forced[] = {{"[[\"n\",7],[\"x\",\"y\"]]", "(n,7) 1:'x|'y !header@1x1"}};
    check_shapes(forced, 1, false, &(struct al_table_opts){.header = 1});
    static const struct shape none[] = {{"[[\"n\"],[7]]", "() 1:'n 1:#7 !header@1x1"}};
    check_shapes(none, 1, false, &(struct al_table_opts){.header = -1});
}

static void an_object_of_arrays_is_columns(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {"{\"a\":[1,2],\n\"b\":[\"x\",[3, 4]]}", "(a,b) 1:#1|'x 1:#2|'[3,4]"},
        {"{\"a\":[1,\n2]}", "(a) 1:#1 2:#2"},
        {"{\"a\":[],\"b\":[]}", "(a,b)"},
        {"{\"a\":[1],\"a\":[2]}", "(a,a) 1:#1|#2 !duplicate_keys@1x1"},
        {"{\"a\":[1,2],\"b\":[3]}", "(a,b) 1:'[1,2]|'[3]"},
        {"{\"k\\u0041\":[\"\\u0042\",null]}", "(kA) 1:'B 1:-"},
    };
    CHECK(shapes, false);
}

static void rows_are_found_one_object_deeper(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {"{\"response\":{\"data\":[{\"a\":1},{\"a\":2}]}}", "(a) 1:#1 1:#2 !wrapper@1x2"},
        {"{\"d\":{\"results\":[{\"a\":1}]},\"n\":1}", "(a) 1:#1 !wrapper@1x2"},
        {"{\"took\":3,\"shards\":{\"n\":1},\"hits\":{\"total\":{\"v\":1},\"hits\":[{\"_id\":\"x\"}]}}",
         "(_id) 1:'x !wrapper@1x2"},
        {"{\"r\":{\"data\":[[1,2],[3,4]]}}", "(,) 1:#1|#2 1:#3|#4 !header@1x1 !wrapper@1x2"},
        /* two that could be the rows, or a list that is a value: one record */
        {"{\"p\":{\"q\":[{\"a\":1}]},\"s\":{\"t\":[{\"b\":1}]}}",
         "(p,s) 1:'{\"q\":[{\"a\":1}]}|'{\"t\":[{\"b\":1}]}"},
        {"{\"p\":{\"tags\":[{\"a\":1}]},\"s\":{\"t\":5}}", "(p,s) 1:'{\"tags\":[{\"a\":1}]}|'{\"t\":5}"},
    };
    CHECK(shapes, false);
}

static void an_object_of_objects_is_rows_where_it_is_clear(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        /* pandas: orient="columns", by default; with labels of rows; orient="index" */
        {"{\"a\":{\"0\":1,\"1\":2},\"b\":{\"0\":\"x\",\"1\":null}}", "(a,b) 1:#1|'x 1:#2|- !wrapper@1x1"},
        {"{\"a\":{\"3\":1,\"5\":2},\"b\":{\"3\":\"x\",\"5\":\"y\"}}",
         "(key,a,b) 1:'3|#1|'x 1:'5|#2|'y !wrapper@1x1"},
        {"{\"a\":{\"r\":1,\"s\":2},\"b\":{\"r\":\"x\",\"s\":\"y\"}}",
         "(key,a,b) 1:'r|#1|'x 1:'s|#2|'y !wrapper@1x1"},
        {"{\"0\":{\"a\":1,\"b\":\"x\"},\n\"1\":{\"a\":2,\"b\":\"y\"}}", "(a,b) 1:#1|'x 2:#2|'y !wrapper@1x1"},
        {"{\"7\":{\"a\":1},\"9\":{\"a\":2,\"b\":3}}", "(key,a) 1:'7|#1 +b 1:'9|#2|#3 !wrapper@1x1"},
        {"{\"ann\":{\"age\":1,\"at\":\"x\"},\"b\\u006fb\":{\"at\":\"y\",\"age\":2}}",
         "(key,age,at) 1:'ann|#1|'x 1:'bob|#2|'y !wrapper@1x1"},
        /* it could be either, or neither */
        {"{\"a\":{\"x\":1,\"y\":2},\"b\":{\"x\":3,\"y\":4}}",
         "(a,b) 1:'{\"x\":1,\"y\":2}|'{\"x\":3,\"y\":4}"},
        {"{\"a\":{\"x\":1},\"b\":{\"y\":\"s\"}}", "(a,b) 1:'{\"x\":1}|'{\"y\":\"s\"}"},
        {"{\"a\":{},\"b\":{}}", "(a,b) 1:'{}|'{}"},
        /* orient="split", square */
        {"{\"columns\":[\"x\",\"y\"],\"index\":[0,1],\"data\":[[1,2],[3,4]]}",
         "(x,y) 1:#1|#2 1:#3|#4 !wrapper@1x1"},
        /* orient="table" */
        {"{\"schema\":{\"fields\":[{\"name\":\"a\"}]},\"data\":[{\"index\":0,\"a\":1},{\"index\":1,\"a\":2}]"
         "}",
         "(index,a) 1:#0|#1 1:#1|#2 !wrapper@1x1"},
    };
    CHECK(shapes, false);
}

static void rows_are_found_in_a_wrapper(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {"{\"data\":[{\"a\":1},\n{\"a\":2}]}", "(a) 1:#1 2:#2 !wrapper@1x1"},
        {"{\"n\":2,\"rows\":[{\"a\":1},{\"a\":2}],\"m\":{\"x\":[1]}}\n", "(a) 1:#1 1:#2 !wrapper@1x1"},
        {"{\"p\":[{\"a\":1}],\"q\":[{\"b\":1},{\"b\":2}]}", "(b) 1:#1 1:#2 !wrapper@1x1"},
        {"{\"p\":[{\"a\":1}],\"q\":[{\"b\":1}]}", "(a) 1:#1 !wrapper@1x1"},
        {"{\"data\":[[1,2],[3,4]]}", "(,) 1:#1|#2 1:#3|#4 !header@1x1 !wrapper@1x1"},
        {"{\"columns\":[\"x\",\"y\"],\"index\":[0],\"data\":[[1,2],[3,4]]}",
         "(x,y) 1:#1|#2 1:#3|#4 !wrapper@1x1"},
        {"{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"geometry\":null,"
         "\"properties\":{\"n\":1}}]}",
         "(type,geometry,properties) 1:'Feature|-|'{\"n\":1} !wrapper@1x1"},
    };
    CHECK(shapes, false);
    struct written *w = al_xcalloc(1, sizeof *w);
    struct al_table_found found;
    struct al_err err = {0};
    assert_int_equal(read_json(AL_STR("{\"n\":2,\"rows\":[{\"a\":1}],\"m\":{},\"l\":[]}"), 9, false,
                               &(struct al_table_opts){0}, w, &found, &err),
                     0);
    assert_string_equal(w->texts[AL_NOTE_WRAPPER],
                        "the rows are those under \"rows\"; beside it stand, not in the table: "
                        "\"n\" (2), \"m\" (an object), \"l\" (an array)");
    al_buf_free(&w->out);
    free(w);
}

static void lines_are_rows(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {"{\"a\":1}\n{\"a\":2}\n", "(a) 1:#1 2:#2"},
        {"{\"a\":1}\r\n\r\n \n{\"a\":2}", "(a) 1:#1 4:#2 !blank_lines@2x2"},
        {"{\"a\":1} {\"a\":2}{\"a\":\n3}", "(a) 1:#1 1:#2 1:#3"},
        {"{\"data\":[{\"a\":1}]}", "(data) 1:'[{\"a\":1}]"},
        {"{\"a\":1}\n5\n", "(a) 1:#1 +value 2:-|#5 !not_objects@2x1"},
        {"1\n2\n", "(value) 1:#1 2:#2"},
        {"1 2\n", "line 1, column 3: expected the end of the line after the value, found: 2"},
        {"[1,2]\n[3,4]\n", "(,) 1:#1|#2 2:#3|#4 !header@1x1"},
        {"[\"a\",\"b\"]\n[3,4]\n", "(a,b) 2:#3|#4 !header@1x1"},
        {"[1,2]", "(,) 1:#1|#2 !header@1x1"},
        {"[\n{\"a\":1},\n{\"a\":2}\n]", "(a) 2:#1 3:#2 !other@0x1"},
        {"{\"a\":1}\n{\"a\":tru}\n", "line 2, column 6: expected a value, found: tru}"},
        {"{\"a\":1}\n{\"a\":2\n{\"a\":3}",
         "line 3, column 1: expected ',' or '}', found: {\"a\":3} (in the record that begins at line 2)"},
        {"{\"a\":1},\n{\"a\":2}", "line 1, column 8: values are on lines of their own, without commas (or "
                                  "all in one array, in [ ]), found: ,"},
        {"{\"a\":1}\n{\"a\":}\n{\"a\":2}\n{\"a\"\n\n5 6\n{}\n[",
         "line 2, column 6: expected a value, found: }; bad as well: lines 4, 6, 8"},
        {"1\nx\nx\nx\nx\nx\nx\nx\nx\n2\n",
         "line 2, column 1: expected a value, found: x; bad as well: lines 3, 4, 5, 6, 7 and more"},
        {"\n\n", "the file holds white space only, no JSON value"},
    };
    CHECK(shapes, true);
    static const struct shape json[] = {
        {"{\"a\":1}\n{\"a\":2}\n", "(a) 1:#1 2:#2 !other@0x1"},
        {"[1,2]\n[3,4]\n", "(,) 1:#1|#2 2:#3|#4 !header@1x1 !other@0x1"},
        {"{\"a\":1}\n5", "line 2, column 1: unexpected text after the value, found: 5"},
        {"[1][2]", "line 1, column 4: unexpected text after the value, found: [2]"},
        {"{\"a\":1}{\"a\":2}]", "line 1, column 15: unexpected text after the value, found: ]"},
    };
    CHECK(json, false);
}

static void what_is_odd_is_noted(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {"[{\"a\":1,\"a\":2,\"b\":3},{\"a\":4}]", "(a,a_2,b) 1:#2|#1|#3 1:#4|-|- !duplicate_keys@1x1"},
        {"[{\"a\":1,\"a\":2,\"a\":3}]", "(a,a_2,a_3) 1:#3|#1|#2 !duplicate_keys@1x2"},
        {"[{\"a\":1},{\"a_2\":5,\"a\":\"\\u0041\",\"a\":3}]",
         "(a) 1:#1 +a_2 +a_2 1:#3|#5|'A !duplicate_keys@1x1"},
        {"[9007199254740991,-9007199254740992,\n1e400,1e2]",
         "(value) 1:#9007199254740991 1:#-9007199254740992 2:#1e400 2:#1e2 !big_numbers@1x2"},
        {"[\"\\ud800x\"]", "(value) 1:'\xef\xbf\xbdx !invalid_bytes@1x1"},
    };
    CHECK(shapes, false);
}

static void what_is_no_json_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {"[1,]", "line 1, column 4: a comma must be followed by a further value, found: ]"},
        {"[1", "line 1, column 3: the text ends too early"},
        {"{\"a\"", "line 1, column 5: expected ':' after the name, the text ends"},
        {"{\"a\":1,}", "line 1, column 8: a comma must be followed by a further value, found: }"},
        {"{a:1}", "line 1, column 2: expected a name in double quotes, found: a:1}"},
        {"[{\"é\":NaN}]", "line 1, column 7: expected a value, found: NaN}]"},
        {"[\"a\tb\"]", "line 1, column 4: a control character in a string must be escaped, found: \\tb\"]"},
        {"[\"\\x\"]", "line 1, column 3: not an escape that JSON has, found: \\x\"]"},
        {"[\"\\u12\"]", "line 1, column 3: \\u must be followed by four hexadecimal digits, found: \\u12\"]"},
        {"[01]", "line 1, column 2: a number must not begin with 0, found: 01]"},
        {"[1.]", "line 1, column 4: expected a digit after the decimal point, found: ]"},
        {"[1e]", "line 1, column 4: expected a digit in the exponent, found: ]"},
        {"[-]", "line 1, column 3: expected a digit after '-', found: ]"},
        {"nul", "line 1, column 4: the text ends inside a word"},
        {"[\"abc", "line 1, column 6: the text ends inside a string"},
        {"{\"rows\":[{\"a\":1}]", "line 1, column 18: the text ends too early"},
        {"  ", "the file holds white space only, no JSON value"},
    };
    CHECK(shapes, false);
}

static void repeat(struct al_buf *out, const char *z, size_t times)
{
    for (size_t i = 0; i < times; i++)
        al_buf_adds(out, z);
}

static void expect_limit(struct al_str text, const char *part)
{
    struct written *w = al_xcalloc(1, sizeof *w);
    struct al_table_found found;
    struct al_err err = {0};
    assert_int_equal(read_json(text, 1 << 20, false, &(struct al_table_opts){0}, w, &found, &err), -1);
    if (!strstr(err.msg, part))
        fail_msg("%s", err.msg);
    assert_true(err.hint[0] != '\0');
    al_buf_free(&w->out);
    free(w);
}

static void limits_hold(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT((size_t)64 << 20);
    repeat(&b, "[", 100000);
    expect_limit(al_buf_str(&b), "nested too deeply");
    al_buf_clear(&b);
    repeat(&b, "{\"a\":", 100000);
    expect_limit(al_buf_str(&b), "nested too deeply");
    al_buf_clear(&b);
    al_buf_adds(&b, "[{");
    for (int i = 0; i < 1001; i++)
        al_buf_addf(&b, "%s\"k%d\":1", i ? "," : "", i);
    al_buf_adds(&b, "}]");
    expect_limit(al_buf_str(&b), "\"k1000\" would be column 1001");
    al_buf_clear(&b);
    al_buf_adds(&b, "[\n\"");
    repeat(&b, "xxxxxxxxxxxxxxxx", ((size_t)1 << 16) + 1);
    al_buf_adds(&b, "\"]");
    expect_limit(al_buf_str(&b), "row 1 (line 2): the value of \"value\" has 1048592 bytes");
    al_buf_clear(&b);
    al_buf_adds(&b, "[{\"a\":[");
    repeat(&b, "0,0,0,0,0,0,0,0,", (17u << 20) / 16);
    al_buf_adds(&b, "0]}]");
    expect_limit(al_buf_str(&b), "one record is larger than 16 MiB");
    al_buf_clear(&b);
    al_buf_adds(&b, "{\"");
    repeat(&b, "k", 5000);
    al_buf_adds(&b, "\":1}");
    expect_limit(al_buf_str(&b), "a name has 5000 bytes");
}

/* A list of rows that is longer than what is held is read as it comes, and what stands behind it is still
 * checked. */
static void a_long_wrapper_is_streamed(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT((size_t)64 << 20);
    struct written *w = al_xcalloc(1, sizeof *w);
    struct al_table_found found;
    struct al_err err = {0};
    size_t rows = 0;
    al_buf_adds(&b, "{\"total\":1,\"items\":[");
    for (; b.n < (size_t)20 << 20; rows++)
        al_buf_addf(&b, "%s\n{\"id\":%zu,\"text\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}", rows ? "," : "",
                    rows);
    al_buf_adds(&b, "],\"after\":[1,[2],{}],\"end\":null}");
    w->silent = true;
    int r = read_json(al_buf_str(&b), 1 << 20, false, &(struct al_table_opts){0}, w, &found, &err);
    if (r < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(w->rows, rows);
    assert_string_equal(w->texts[AL_NOTE_WRAPPER],
                        "the rows are those under \"items\"; beside it stand, not in the table: "
                        "\"total\" (1), \"after\" (an array), \"end\" (a value)");
    al_buf_free(&w->out);
    memset(w, 0, sizeof *w);
    w->silent = true;
    b.n--;
    assert_int_equal(read_json(al_buf_str(&b), 1 << 20, false, &(struct al_table_opts){0}, w, &found, &err),
                     -1);
    assert_int_equal(err.code, AL_INGEST_INVALID);
    al_buf_free(&w->out);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_are_rows),
        cmocka_unit_test(arrays_of_arrays_are_rows),
        cmocka_unit_test(an_object_of_arrays_is_columns),
        cmocka_unit_test(rows_are_found_in_a_wrapper),
        cmocka_unit_test(rows_are_found_one_object_deeper),
        cmocka_unit_test(an_object_of_objects_is_rows_where_it_is_clear),
        cmocka_unit_test(lines_are_rows),
        cmocka_unit_test(what_is_odd_is_noted),
        cmocka_unit_test(what_is_no_json_is_refused_with_its_place),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(a_long_wrapper_is_streamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
