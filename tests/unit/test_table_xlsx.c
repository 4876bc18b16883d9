#include "test.h"

#include "xlsx_make.h"

#include "table/xlsx_int.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* What make_sheet's workbook reads as. */
static void expect(const char *rows, const char *strings, const char *styles,
                   const struct al_table_opts *opts, const char *want)
{
    struct seen s;
    seen_init(&s);
    seen_read(&s, make_sheet(rows, strings, styles), opts);
    const char *got = seen_text(&s);
    if (strncmp(got, "[S]\n", 4) == 0)
        got += 4;
    assert_string_equal(got, want);
    seen_free(&s);
}

#define HEAD "<row r=\"1\"><c r=\"A1\" t=\"str\"><v>h</v></c></row>"
#define CELL(attrs, inner) HEAD "<row r=\"2\"><c r=\"A2\" " attrs ">" inner "</c></row>"

/* The cell A2 under a header "h". */
static void expect_cell(const char *row, const char *strings, const char *styles, const char *want)
{
    char text[1024];
    snprintf(text, sizeof text, "h\n2: %s\n", want);
    expect(row, strings, styles, NULL, text);
}

static void texts_of_all_kinds_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *row, *strings, *want;
    } cases[] = {
        {CELL("t=\"s\"", "<v>0</v>"), "<si><t>plain</t></si>", "plain"},
        {CELL("t=\"s\"", "<v>1</v>"), "<si/><si><t>a &lt;b&gt; &amp; &#x263A;&#9731;</t></si>", "a <b> & ☺☃"},
        {CELL("t=\"s\"", "<v>0</v>"), "<si><r><rPr><b/></rPr><t>rich </t></r><r><t>text</t></r></si>",
         "rich text"},
        {CELL("t=\"s\"", "<v>0</v>"),
         "<si><t>課きく</t><rPh sb=\"0\" eb=\"1\"><t>カ</t></rPh><phoneticPr fontId=\"1\"/></si>", "課きく"},
        {CELL("t=\"s\"", "<v>0</v>"), "<si><t xml:space=\"preserve\">  kept  </t></si>", "  kept  "},
        {CELL("t=\"s\"", "<v>0</v>"), "<si><t><![CDATA[a <b> & c]]> d</t></si>", "a <b> & c d"},
        {CELL("t=\"s\"", "<v>0</v>"), "<si><t>a_x0041__x005F_x0041_ _x00_ _xZZZZ_</t></si>",
         "aA_x0041_ _x00_ _xZZZZ_"},
        {CELL("t=\"s\"", "<v>0</v>"), "<si><t>_xD83D__xDE00__xD83D_</t></si>",
         "\xf0\x9f\x98\x80\xef\xbf\xbd"},
        {CELL("t=\"s\"", "<v>0</v>"), "<!-- c --><si><t>a\r\nb\rc&#13;</t></si>", "a\nb\nc\r"},
        {CELL("t=\"inlineStr\"", "<is><t>in line</t></is>"), NULL, "in line"},
        {CELL("t=\"inlineStr\"",
              "<is><r><t>a</t></r><rPh sb=\"0\" eb=\"1\"><t>x</t></rPh><r><t>&amp;_x0042_</t></r></is>"),
         NULL, "a&B"},
        {CELL("t=\"inlineStr\"", "<is><t>1.</t></is><v>1.0</v>"), NULL, "1."},
        {CELL("t=\"str\"", "<f>A1&amp;\"x\"</f><v>a_x0009_b</v>"), NULL, "a\tb"},
        {CELL("t=\"str\"", "<v><![CDATA[<]]></v>"), NULL, "<"},
        {CELL("t=\"b\"", "<v>1</v>"), NULL, "TRUE"},
        {CELL("t=\"b\"", "<f>1=2</f><v>0</v>"), NULL, "FALSE"},
        {CELL("t=\"d\"", "<v>2024-02-29T10:00:00</v>"), NULL, "2024-02-29T10:00:00"},
        {CELL("", "<f>1+1</f><v>2</v>"), NULL, "2"},
        {CELL("t=\"n\"", "<v> 12 </v>"), NULL, "12"},
        {CELL("t=\"zzz\"", "<v>odd</v>"), NULL, "odd"},
        {CELL("", "<v>no number</v>"), NULL, "no number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_cell(cases[i].row, cases[i].strings, NULL, cases[i].want);
}

static void numbers_print_as_the_shortest_decimal(void **state)
{
    (void)state;
    static const struct {
        const char *raw;
        int decimals;
        const char *want;
    } cases[] = {
        {"0", -1, "0"},
        {"-0", -1, "0"},
        {"1", -1, "1"},
        {"-1.5", -1, "-1.5"},
        {"0.28999999999999998", -1, "0.29"},
        {"1.1000000000000001", -1, "1.1"},
        {"1E3", -1, "1000"},
        {"1.5e-3", -1, "0.0015"},
        {"4.5000000000000003E-5", -1, "0.000045"},
        {"123456789012345", -1, "123456789012345"},
        {"9007199254740991", -1, "9007199254740991"},
        {"1e14", -1, "100000000000000"},
        {"0.30000000000000004", -1, "#0.30000000000000004"},
        {"1e300", -1, "#1e+300"},
        {"1e-9", -1, "#1e-09"},
        {"12345678901234567890", -1, "#1.2345678901234567e+19"},
        {"1.5", 2, "1.50"},
        {"2", 2, "2.00"},
        {"0", 2, "0.00"},
        {"-0.5", 1, "-0.5"},
        {"1.125", 2, "1.125"},
        {"123456789012345", 2, "123456789012345"},
        {"0.05", 3, "0.050"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double d = 0;
        char buf[48], got[50];
        size_t n = 0;
        assert_true(al_xlsx_number(al_str_of(cases[i].raw), &d));
        enum al_cell_kind k = al_xlsx_print(d, cases[i].decimals, buf, &n);
        snprintf(got, sizeof got, "%s%.*s", k == AL_CELL_NUMBER ? "#" : "", (int)n, buf);
        assert_string_equal(got, cases[i].want);
    }
    static const char *const none[] = {"", "-", ".", "e5", "1e", "0x10", "nan", "inf", "1,5", "1 2", "1e999"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        double d;
        assert_false(al_xlsx_number(al_str_of(none[i]), &d));
    }
}

static void printed_numbers_read_back(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        double d, back = 0;
        memcpy(&d, &x, sizeof d);
        if (i & 1)
            d = (double)(int64_t)(x >> (x & 31)) / (double)(1u << (x >> 59));
        if (d != d || d - d != 0)
            continue;
        char buf[48];
        size_t n = 0;
        (void)al_xlsx_print(d, (int)(x % 5) - 1, buf, &n);
        assert_true(n < sizeof buf);
        assert_true(al_xlsx_number((struct al_str){buf, n}, &back));
        assert_true(back == d);
    }
}

static void serials_are_dates(void **state)
{
    (void)state;
    static const struct {
        double serial;
        enum al_xlsx_kind kind;
        bool since1904;
        const char *want; /* NULL: none */
    } cases[] = {
        {0, AL_XLSX_DATE, false, "00:00:00"},
        {0.5, AL_XLSX_DATE, false, "12:00:00"},
        {1, AL_XLSX_DATE, false, "1900-01-01"},
        {59, AL_XLSX_DATE, false, "1900-02-28"},
        {60, AL_XLSX_DATE, false, "1900-02-29"},
        {60.25, AL_XLSX_DATE, false, "1900-02-29T06:00:00"},
        {61, AL_XLSX_DATE, false, "1900-03-01"},
        {45351, AL_XLSX_DATE, false, "2024-02-29"},
        {45351.999999, AL_XLSX_DATE, false, "2024-03-01"},
        {45351.75, AL_XLSX_TIME, false, "2024-02-29T18:00:00"},
        {2958465, AL_XLSX_DATE, false, "9999-12-31"},
        {2958465.9999999, AL_XLSX_DATE, false, NULL},
        {2958466, AL_XLSX_DATE, false, NULL},
        {-1, AL_XLSX_DATE, false, NULL},
        {0, AL_XLSX_DATE, true, "1904-01-01"},
        {0.25, AL_XLSX_TIME, true, "06:00:00"},
        {1, AL_XLSX_DATE, true, "1904-01-02"},
        {43889, AL_XLSX_DATE, true, "2024-02-29"},
        {2957003, AL_XLSX_DATE, true, "9999-12-31"},
        {2957004, AL_XLSX_DATE, true, NULL},
        {1.1041666666666667, AL_XLSX_ELAPSED, false, "26:30:00"},
        {0.000011574, AL_XLSX_ELAPSED, false, "00:00:01"},
        {100, AL_XLSX_ELAPSED, false, "2400:00:00"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char buf[48];
        size_t n = 0;
        bool ok = al_xlsx_date(cases[i].serial, cases[i].kind, cases[i].since1904, buf, &n);
        assert_int_equal(ok, cases[i].want != NULL);
        if (ok)
            assert_true(al_str_is((struct al_str){buf, n}, cases[i].want));
    }
}

static void number_formats_tell_dates_from_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        enum al_xlsx_kind kind;
        int decimals;
    } cases[] = {
        {"General", AL_XLSX_NUMBER, -1},
        {"general", AL_XLSX_NUMBER, -1},
        {"Standard", AL_XLSX_NUMBER, -1},
        {"@", AL_XLSX_NUMBER, -1},
        {"0", AL_XLSX_NUMBER, -1},
        {"0.00", AL_XLSX_NUMBER, 2},
        {"#,##0.00", AL_XLSX_NUMBER, 2},
        {"#,##0.00;[Red]-#,##0.00", AL_XLSX_NUMBER, 2},
        {"#,##0.00\\ \"days\"", AL_XLSX_NUMBER, 2},
        {"[$€-407]\\ #,##0.00", AL_XLSX_NUMBER, 2},
        {"0.0##", AL_XLSX_NUMBER, -1},
        {"0.00%", AL_XLSX_NUMBER, -1},
        {"0.00E+00", AL_XLSX_NUMBER, -1},
        {"# ?/?", AL_XLSX_NUMBER, -1},
        {"0.0,", AL_XLSX_NUMBER, -1},
        {"\"d m y\" 0", AL_XLSX_NUMBER, -1},
        {"0\\d", AL_XLSX_NUMBER, -1},
        {"_d0*m", AL_XLSX_NUMBER, -1},
        {"[Red][>100]0.0", AL_XLSX_NUMBER, 1},
        {"[Magenta]0", AL_XLSX_NUMBER, -1},
        {"yyyy-mm-dd", AL_XLSX_DATE, -1},
        {"[$-409]mmmm\\ d\\,\\ yyyy;@", AL_XLSX_DATE, -1},
        {"[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", AL_XLSX_DATE, -1},
        {"d/m/yy h:mm", AL_XLSX_DATE, -1},
        {"mmm", AL_XLSX_DATE, -1},
        {"ggge\"年\"m\"月\"", AL_XLSX_DATE, -1},
        {"d [h]:mm", AL_XLSX_DATE, -1},
        {"h:mm", AL_XLSX_TIME, -1},
        {"mm:ss", AL_XLSX_TIME, -1},
        {"mm:ss.0", AL_XLSX_TIME, -1},
        {"h:mm AM/PM", AL_XLSX_TIME, -1},
        {"[h]:mm", AL_XLSX_ELAPSED, -1},
        {"[HH]:MM:SS", AL_XLSX_ELAPSED, -1},
        {"[mm]:ss", AL_XLSX_ELAPSED, -1},
        {"[ss]", AL_XLSX_ELAPSED, -1},
        {"", AL_XLSX_NUMBER, -1},
        {"\"", AL_XLSX_NUMBER, -1},
        {"[", AL_XLSX_NUMBER, -1},
        {"\\", AL_XLSX_NUMBER, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct al_xlsx_style s = al_xlsx_format(al_str_of(cases[i].code));
        if (s.kind != cases[i].kind || s.decimals != cases[i].decimals)
            fail_msg("%s: %d %d", cases[i].code, s.kind, s.decimals);
    }
}

static void built_in_formats_are_known(void **state)
{
    (void)state;
    for (unsigned id = 0; id < 100; id++) {
        bool dated = al_xlsx_builtin(id).kind != AL_XLSX_NUMBER;
        bool want = (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) ||
                    (id >= 50 && id <= 58);
        assert_int_equal(dated, want);
    }
    assert_int_equal(al_xlsx_builtin(46).kind, AL_XLSX_ELAPSED);
    assert_int_equal(al_xlsx_builtin(2).decimals, 2);
}

static const char styles[] =
    "<numFmts count=\"1\"><numFmt numFmtId=\"170\" formatCode=\"[h]:mm\"/>"
    "<numFmt numFmtId=\"171\" formatCode=\"0.00&quot; €&quot;\"/></numFmts>"
    "<cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs>"
    "<cellXfs><xf/><xf numFmtId=\"14\"/><xf numFmtId=\"170\"/><xf numFmtId=\"171\"/></cellXfs>";

static void formats_of_cells_count(void **state)
{
    (void)state;
    expect_cell(CELL("s=\"1\"", "<v>45351</v>"), NULL, styles, "2024-02-29");
    expect_cell(CELL("s=\"2\"", "<v>1.1041666666666667</v>"), NULL, styles, "26:30:00");
    expect_cell(CELL("s=\"3\"", "<v>1.5</v>"), NULL, styles, "1.50");
    expect_cell(CELL("s=\"0\"", "<v>45351</v>"), NULL, styles, "45351");
    expect_cell(CELL("s=\"1\"", "<v>45351</v>"), NULL, NULL, "45351"); /* without styles */
    expect_cell(CELL("s=\"\"", "<v>1</v>"), NULL, styles, "1");
    expect(CELL("s=\"9\"", "<v>1</v>"), NULL, styles, NULL, "!other@2\nh\n2: 1\n");
    expect(CELL("s=\"1\"", "<v>-3</v>"), NULL, styles, NULL, "!date_range@2\nh\n2: -3\n");
}

static void odd_cells_are_noted(void **state)
{
    (void)state;
    expect(CELL("t=\"e\"", "<v>#N/A</v>"), NULL, NULL, NULL, "!error_cells@2\nh\n2: #N/A\n");
    expect(HEAD "<row r=\"2\"><c r=\"A2\"><f>1+1</f></c></row><row r=\"3\"><c r=\"A3\"><v>1</v></c></row>",
           NULL, NULL, NULL, "!no_cached_value@2\nh\n!blank_lines@2\n3: 1\n");
    expect(HEAD "<row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"A2\"><v>2</v></c></row>", NULL, NULL, NULL,
           "!other@2\nh\n2: 2\n");
    expect(CELL("t=\"inlineStr\"", "<is><t>a\xff</t></is>"), NULL, NULL, NULL,
           "!invalid_bytes@2\nh\n2: a\xef\xbf\xbd\n");
}

static void cells_and_rows_need_no_reference(void **state)
{
    (void)state;
    expect("<row><c t=\"str\"><v>a</v></c><c t=\"str\"><v>b</v></c></row><row><c/><c><v>2</v></c></row>",
           NULL, NULL, NULL, "a|b\n2: -|2\n");
    expect("<row r=\"3\"><c r=\"C3\" t=\"str\"><v>a</v></c><c t=\"str\"><v>b</v></c></row><row><c "
           "r=\"$D$4\"><v>1</v></c></row>",
           NULL, NULL, NULL, "a|b\n4: -|1\n");
}

static void cells_out_of_order_find_their_column(void **state)
{
    (void)state;
    expect("<row r=\"1\"><c r=\"B1\" t=\"str\"><v>b</v></c><c r=\"A1\" t=\"str\"><v>a</v></c></row>"
           "<row r=\"2\"><c r=\"B2\"><v>2</v></c><c r=\"A2\"><v>1</v></c></row>",
           NULL, NULL, NULL, "a|b\n2: 1|2\n");
}

static void rows_out_of_order_are_put_into_order(void **state)
{
    (void)state;
    expect("<row r=\"3\"><c r=\"A3\"><v>3</v></c></row><row r=\"1\"><c r=\"A1\" t=\"str\"><v>h</v></c></row>"
           "<row r=\"2\"><c r=\"A2\"><v>2</v></c></row><row r=\"3\"><c r=\"B3\"><v>4</v></c></row>",
           NULL, NULL, NULL, "!other@1\nh|\n2: 2|-\n3: 3|4\n");
}

static void far_cells_cost_no_columns(void **state)
{
    (void)state;
    expect("<row r=\"1\"><c r=\"A1\" t=\"str\"><v>a</v></c><c r=\"XFD1\" t=\"str\"><v>z</v></c></row>"
           "<row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>",
           NULL, NULL, NULL, "a|z\n!blank_lines@2\n1048576: -|1\n");
}

static void prefixes_and_strict_namespaces_read_alike(void **state)
{
    (void)state;
    struct make m;
    struct seen s;
    make_begin(&m);
    make_part(&m, "_rels/.rels",
              "<p:Relationships xmlns:p=\"u\"><p:Relationship Id=\"a\" "
              "Type=\"http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument\" "
              "Target=\"/XL/book.xml\"/></p:Relationships>");
    make_part(
        &m, "xl/book.xml",
        "\xef\xbb\xbf<x:workbook xmlns:x=\"http://purl.oclc.org/ooxml/spreadsheetml/main\" xmlns:q=\"u\">"
        "<x:workbookPr date1904='true'/><x:sheets><x:sheet name='A&amp;B' sheetId='7' q:id='r7'/></x:sheets>"
        "</x:workbook>");
    make_part(
        &m, "xl/_rels/book.xml.rels",
        "<Relationships><Relationship Id=\"r7\" "
        "Type=\"http://purl.oclc.org/ooxml/officeDocument/relationships/"
        "worksheet\" Target=\"..\\Xl\\.\\Sheets\\one.xml\"/><Relationship Id=\"e\" Type=\"x/externalLink\" "
        "TargetMode=\"External\" Target=\"http://example.invalid/\"/></Relationships>");
    make_part(&m, "xl/sheets/one.xml",
              "<x:worksheet xmlns:x=\"u\"><x:sheetData><x:row r=\"1\"><x:c r=\"A1\" "
              "t=\"inlineStr\"><x:is><x:t>h</x:t></x:is>"
              "</x:c></x:row><x:row r=\"2\"><x:c r=\"A2\" "
              "s=\"0\"><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>");
    make_part(&m, "xl/styles.xml", "<styleSheet><cellXfs><xf numFmtId=\"14\"/></cellXfs></styleSheet>");
    seen_init(&s);
    seen_read(&s, make_end(&m), NULL);
    assert_string_equal(seen_text(&s), "[A&B]\nh\n2: 1904-01-02\n");
    seen_free(&s);
}

static void utf16_parts_are_read(void **state)
{
    (void)state;
    static const char text[] = "<sst><si><t>h\xf0\x9f\x98\x80</t></si></sst>";
    for (int big = 0; big < 2; big++) {
        struct make m;
        struct seen s;
        autobuf struct al_buf b = AL_BUF_INIT(4096);
        al_buf_add(&b, big ? "\xfe\xff" : "\xff\xfe", 2);
        for (const char *p = text; *p;) {
            unsigned units[2] = {(unsigned char)*p, 0}, n = 1;
            if ((unsigned char)*p == 0xf0) {
                units[0] = 0xd83d, units[1] = 0xde00, n = 2;
                p += 4;
            } else {
                p++;
            }
            for (unsigned i = 0; i < n; i++) {
                al_buf_addc(&b, (char)(big ? units[i] >> 8 : units[i]));
                al_buf_addc(&b, (char)(big ? units[i] : units[i] >> 8));
            }
        }
        make_begin(&m);
        make_part(&m, "xl/workbook.xml", make_book);
        make_part(&m, "xl/_rels/workbook.xml.rels", make_book_rels);
        make_part(&m, "xl/worksheets/sheet1.xml",
                  "<worksheet><sheetData><row r=\"1\"><c r=\"A1\" "
                  "t=\"s\"><v>0</v></c></row></sheetData></worksheet>");
        make_add(&m, "xl/sharedStrings.xml", b.p, b.n);
        seen_init(&s);
        seen_read(&s, make_end(&m), NULL);
        assert_string_equal(seen_text(&s), "[S]\nh\xf0\x9f\x98\x80\n");
        seen_free(&s);
    }
}

static void title_rows_are_no_table(void **state)
{
    (void)state;
#define S(ref, text) "<c r=\"" ref "\" t=\"str\"><v>" text "</v></c>"
#define N(ref, n) "<c r=\"" ref "\"><v>" n "</v></c>"
    static const char rows[] = "<row r=\"1\">" S("A1", "Sales of 2024") "</row><row r=\"3\">" S("B3", "city")
        S("C3", "units") S("D3", "price") "</row><row r=\"4\">" S("B4", "Rome") N("C4", "1")
            N("D4", "2") "</row><row r=\"5\">" S("B5", "Oslo") N("C5", "3") N("D5", "4") "</row>";
    expect(rows, NULL, NULL, NULL, "!preamble@1\ncity|units|price\n4: Rome|1|2\n5: Oslo|3|4\n");
    struct al_table_opts o = {.has_skip_rows = true, .skip_rows = 3, .header = -1};
    expect(rows, NULL, NULL, &o, "||\n4: Rome|1|2\n5: Oslo|3|4\n");
    /* A first column without a label is no reason to doubt. */
    expect("<row r=\"1\">" S("B1", "a") "</row><row r=\"2\">" N("A2", "0")
               N("B2", "5") "</row><row r=\"3\">" N("A3", "1") N("B3", "6") "</row>",
           NULL, NULL, NULL, "|a\n2: 0|5\n3: 1|6\n");
    expect("<row r=\"1\">" N("A1", "1") N("B1", "2") "</row><row r=\"2\">" N("A2", "3") N("B2", "4") "</row>",
           NULL, NULL, NULL, "!header@0\n|\n1: 1|2\n2: 3|4\n");
    expect("<row r=\"1\">" S("A1", "k") N("B1", "2019") N("C1", "2020") "</row><row r=\"2\">" S("A2", "x")
               N("B2", "3.5") N("C2", "4.5") "</row>",
           NULL, NULL, NULL, "k|2019|2020\n2: x|3.5|4.5\n");
}

static void empty_sheets_merged_cells_and_blank_rows_are_noted(void **state)
{
    (void)state;
    expect("", NULL, NULL, NULL, "!empty_sheet@0\n\n");
    expect("<row r=\"1\"><c r=\"A1\" s=\"1\"/></row>", NULL, NULL, NULL, "!empty_sheet@0\n\n");
    expect(HEAD "<row r=\"2\"><c r=\"A2\"><v>1</v></c></row></sheetData><mergeCells count=\"2\"><mergeCell "
                "ref=\"A2:A3\"/>"
                "<mergeCell ref=\"C1:D1\"/></mergeCells><sheetData>",
           NULL, NULL, NULL, "!merged_cells@2\nh\n2: 1\n");
}

static int book_of(const char *sheets, const char *rels)
{
    struct make m;
    char text[4096];
    make_begin(&m);
    make_part(&m, "_rels/.rels", make_rels);
    snprintf(text, sizeof text, "<workbook xmlns:r=\"u\"><sheets>%s</sheets></workbook>", sheets);
    make_part(&m, "xl/workbook.xml", text);
    snprintf(text, sizeof text, "<Relationships>%s</Relationships>", rels);
    make_part(&m, "xl/_rels/workbook.xml.rels", text);
    for (int i = 1; i <= 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "xl/worksheets/sheet%d.xml", i);
        snprintf(text, sizeof text,
                 "<worksheet><sheetData><row><c t=\"str\"><v>h%d</v></c></row></sheetData></worksheet>", i);
        make_part(&m, name, text);
    }
    return make_end(&m);
}

static void expect_book(const char *sheets, const char *rels, const char *sheet, const char *want)
{
    struct seen s;
    struct al_table_opts o = {0};
    snprintf(o.sheet, sizeof o.sheet, "%s", sheet);
    seen_init(&s);
    seen_read(&s, book_of(sheets, rels), &o);
    assert_string_equal(seen_text(&s), want);
    seen_free(&s);
}

static void sheets_are_found_chosen_and_noted(void **state)
{
    (void)state;
    static const char two[] =
        "<sheet name=\"One\" r:id=\"a\"/><sheet name=\"Two\" state=\"hidden\" r:id=\"b\"/>";
    static const char rels[] =
        "<Relationship Id=\"b\" Type=\"t/worksheet\" Target=\"worksheets/sheet2.xml\"/>"
        "<Relationship Id=\"a\" Type=\"t/worksheet\" Target=\"/xl/worksheets/sheet1.xml\"/>"
        "<Relationship Id=\"v\" Type=\"t/vbaProject\" Target=\"vbaProject.bin\"/>";
    expect_book(two, rels, "", "!macros@0\n[One]\nh1\n[Two]\n!hidden_sheet@0\nh2\n");
    expect_book(two, rels, "tWo", "!macros@0\n[Two]\n!hidden_sheet@0\nh2\n");
    expect_book(two, rels, "Three",
                "INGEST_INVALID: the workbook has no sheet \"Three\"; it has \"One\", \"Two\"\n");
    expect_book("<sheet name=\"One\" r:id=\"a\"/><sheet name=\"C\" r:id=\"c\"/>",
                "<Relationship Id=\"a\" Type=\"t/worksheet\" Target=\"worksheets/sheet1.xml\"/>"
                "<Relationship Id=\"c\" Type=\"t/chartsheet\" Target=\"chartsheets/sheet1.xml\"/>",
                "", "!other_sheets@0\n[One]\nh1\n");
    expect_book("", rels, "", "!macros@0\nINGEST_INVALID: the workbook has no worksheet\n");
    expect_book("<sheet name=\"One\" r:id=\"z\"/>", rels, "",
                "INGEST_INVALID: the sheet \"One\" names the relationship \"z\", which is not there\n");
    expect_book("<sheet name=\"One\" r:id=\"a\"/>",
                "<Relationship Id=\"a\" Type=\"t/worksheet\" Target=\"gone.xml\"/>", "",
                "INGEST_INVALID: sheet \"One\": the workbook has no part xl/gone.xml\n");
    expect_book("<sheet name=\"One\" r:id=\"a\"/><sheet name=\"Two\" r:id=\"a\"/>", rels, "",
                "INGEST_INVALID: the sheets \"One\" and \"Two\" are one part of the archive\n");
    expect_book("<sheet name=\"One\" r:id=\"a\"/>", "", "", "[One]\nh1\n"); /* no relationships at all */
}

static void expect_failure(const char *rows, const char *strings, const char *want)
{
    struct seen s;
    seen_init(&s);
    seen_read(&s, make_sheet(rows, strings, NULL), NULL);
    if (!strstr(seen_text(&s), want))
        fail_msg("%s does not say %s", seen_text(&s), want);
    seen_free(&s);
}

static void broken_references_name_part_and_place(void **state)
{
    (void)state;
    expect_failure(CELL("t=\"s\"", "<v>7</v>"), "<si><t>a</t></si>",
                   "INGEST_INVALID: xl/worksheets/sheet1.xml, cell A2 of sheet \"S\": the workbook has no "
                   "such shared text");
    expect_failure(CELL("t=\"s\"", "<v>0</v>"), NULL,
                   "cell A2 of sheet \"S\": the workbook has no shared texts");
    expect_failure(CELL("t=\"s\"", "<v>-1</v>"), "<si/>", "is no number");
    expect_failure("<row r=\"1\"><c r=\"XFE1\"><v>1</v></c></row>", NULL, "INGEST_INVALID");
    expect_failure("<row r=\"1\"><c r=\"1\"><v>1</v></c></row>", NULL, "INGEST_INVALID");
    expect_failure("<row r=\"1048577\"/>", NULL, "INGEST_INVALID");
    expect_failure("<row r=\"0\"/>", NULL, "INGEST_INVALID");
}

static void what_is_no_xml_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "<row",
        "<row></c>",
        "<row r=1/>",
        "<row r=\"1/>",
        "< row/>",
        "<row r \"1\"/>",
        "</sheetData>",
        "<row><c><v>&nope;</v></c></row>",
        "<row><c><v>&#0;</v></c></row>",
        "<row><c><v>&#xD800;</v></c></row>",
        "<row><![CDATA[",
        "<!-- ",
        "<row r=\"1\"r=\"2\"/>",
        "<!ELEMENT a>",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_failure(bad[i], NULL, "INGEST_INVALID: xl/worksheets/sheet1.xml, byte ");
}

static void entity_tricks_are_refused(void **state)
{
    (void)state;
    struct make m;
    struct seen s;
    make_begin(&m);
    make_part(&m, "xl/workbook.xml",
              "<?xml version=\"1.0\"?><!DOCTYPE w [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">"
              "<!ENTITY x SYSTEM \"file:///etc/passwd\">]><workbook>&b;&x;</workbook>");
    seen_init(&s);
    seen_read(&s, make_end(&m), NULL);
    assert_non_null(strstr(seen_text(&s), "INGEST_INVALID: xl/workbook.xml, byte 22: a DOCTYPE"));
    seen_free(&s);
}

static void depth_attributes_and_tags_have_limits(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(1 << 20);
    for (int i = 0; i < 300; i++)
        al_buf_adds(&b, "<a>");
    al_buf_addc(&b, 0);
    expect_failure(b.p, NULL, "INGEST_LIMIT: xl/worksheets/sheet1.xml: elements nested deeper than 256");
    al_buf_clear(&b);
    al_buf_adds(&b, "<row");
    for (int i = 0; i < 100; i++)
        al_buf_addf(&b, " a%d=\"\"", i);
    al_buf_adds(&b, "/>");
    al_buf_addc(&b, 0);
    expect_failure(b.p, NULL, "more than 64 attributes");
    al_buf_clear(&b);
    al_buf_adds(&b, "<row a=\"");
    for (int i = 0; i < 20000; i++)
        al_buf_adds(&b, "0123456789");
    al_buf_adds(&b, "\"/>");
    al_buf_addc(&b, 0);
    expect_failure(b.p, NULL, "INGEST_LIMIT");
}

static void a_thousand_columns_are_a_limit(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(1 << 20);
    al_buf_adds(&b, "<row>");
    for (int i = 0; i < 1001; i++)
        al_buf_addf(&b, "<c><v>%d</v></c>", i);
    al_buf_adds(&b, "</row>");
    al_buf_addc(&b, 0);
    expect_failure(b.p, NULL, "INGEST_LIMIT: sheet \"S\" has values in more than 1000 columns");
}

static void a_cell_beyond_its_limit_names_the_row(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(8 << 20);
    al_buf_adds(&b, HEAD "<row r=\"2\"><c r=\"A2\" t=\"inlineStr\"><is><t>");
    for (int i = 0; i < 110000; i++)
        al_buf_adds(&b, "0123456789");
    al_buf_adds(&b, "</t></is></c></row>");
    al_buf_addc(&b, 0);
    expect_failure(b.p, NULL, "INGEST_LIMIT: sheet \"S\", row 2: a cell of more than 1 MiB");
}

/* Columns that appear after what is looked at first; dimension: what the sheet says of itself. */
static void expect_late(const char *dimension, const char *columns, const char *late)
{
    struct make m;
    struct seen s;
    autobuf struct al_buf b = AL_BUF_INIT(1 << 20);
    al_buf_addf(&b, "<worksheet>%s<sheetData>", dimension);
    for (int i = 1; i <= 3000; i++)
        al_buf_addf(&b, "<row r=\"%d\"><c r=\"A%d\"%s><v>%d</v></c>%s</row>", i, i,
                    i == 1 ? " t=\"str\"" : "", i, i == 2900 ? "<c r=\"C2900\"><v>5</v></c>" : "");
    al_buf_adds(&b, "</sheetData></worksheet>");
    make_begin(&m);
    make_part(&m, "xl/workbook.xml", make_book);
    make_part(&m, "xl/_rels/workbook.xml.rels", make_book_rels);
    make_add(&m, "xl/worksheets/sheet1.xml", b.p, b.n);
    struct al_table_opts o = {.header = 1};
    seen_init(&s);
    seen_read(&s, make_end(&m), &o);
    const char *text = seen_text(&s);
    assert_int_equal(strncmp(text, columns, strlen(columns)), 0);
    assert_non_null(strstr(text, late));
    assert_int_equal(s.rows, 2999);
    seen_free(&s);
}

static void columns_are_those_with_a_value_anywhere(void **state)
{
    (void)state;
    expect_late("", "[S]\n1|\n2: 2|-\n", "\n2900: 2900|5\n2901: 2901|-\n");
    expect_late("<dimension ref=\"A1:XFD1048576\"/>", "[S]\n1|\n2: 2|-\n", "\n2900: 2900|5\n2901: 2901|-\n");
    expect_late("<dimension ref=\"A1:A3000\"/>", "[S]\n1\n2: 2\n",
                "!other@0\n+\n2900: 2900|5\n2901: 2901|-\n");
}

static void texts_across_the_buffers_edge_stay_whole(void **state)
{
    (void)state;
    struct seen s;
    autobuf struct al_buf b = AL_BUF_INIT(4 << 20);
    al_buf_adds(&b, HEAD);
    for (int i = 2; i < 6000; i++)
        al_buf_addf(
            &b,
            "<row r=\"%d\" ht=\"15\"><c r=\"A%d\" t=\"%s>a%d &amp; <![CDATA[&]]>\r\n_x0041_ü</%s></c></row>",
            i, i, i & 1 ? "inlineStr\"><is><t" : "str\"><v", i, i & 1 ? "t></is" : "v");
    al_buf_addc(&b, 0);
    seen_init(&s);
    seen_read(&s, make_sheet(b.p, NULL, NULL), NULL);
    al_buf_clear(&b);
    al_buf_adds(&b, "[S]\nh\n");
    for (int i = 2; i < 6000; i++)
        al_buf_addf(&b, "%d: a%d & &\nAü\n", i, i);
    assert_true(al_str_eq(al_buf_str(&s.text), al_buf_str(&b)));
    seen_free(&s);
}

static void other_archives_are_unsupported_and_named(void **state)
{
    (void)state;
    static const char *const parts[][2] = {
        {"word/document.xml", "Word"},
        {"content.xml", "OpenDocument"},
        {"xl/workbook.bin", "xlsb"},
        {"a.txt", "without a workbook"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct make m;
        struct seen s;
        make_begin(&m);
        make_part(&m, parts[i][0], "x");
        seen_init(&s);
        seen_read(&s, make_end(&m), NULL);
        assert_non_null(strstr(seen_text(&s), "DATASET_UNSUPPORTED"));
        assert_non_null(strstr(seen_text(&s), parts[i][1]));
        seen_free(&s);
    }
    struct seen s;
    int fd = memfd_create("old", MFD_CLOEXEC);
    assert_int_equal(write(fd, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and so on", 18), 18);
    seen_init(&s);
    seen_read(&s, fd, NULL);
    assert_string_equal(seen_text(&s), "DATASET_UNSUPPORTED: the workbook is encrypted, or an old .xls\n");
    seen_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_all_kinds_are_read),
        cmocka_unit_test(numbers_print_as_the_shortest_decimal),
        cmocka_unit_test(printed_numbers_read_back),
        cmocka_unit_test(serials_are_dates),
        cmocka_unit_test(number_formats_tell_dates_from_numbers),
        cmocka_unit_test(built_in_formats_are_known),
        cmocka_unit_test(formats_of_cells_count),
        cmocka_unit_test(odd_cells_are_noted),
        cmocka_unit_test(cells_and_rows_need_no_reference),
        cmocka_unit_test(cells_out_of_order_find_their_column),
        cmocka_unit_test(rows_out_of_order_are_put_into_order),
        cmocka_unit_test(far_cells_cost_no_columns),
        cmocka_unit_test(prefixes_and_strict_namespaces_read_alike),
        cmocka_unit_test(utf16_parts_are_read),
        cmocka_unit_test(title_rows_are_no_table),
        cmocka_unit_test(empty_sheets_merged_cells_and_blank_rows_are_noted),
        cmocka_unit_test(sheets_are_found_chosen_and_noted),
        cmocka_unit_test(broken_references_name_part_and_place),
        cmocka_unit_test(what_is_no_xml_is_refused),
        cmocka_unit_test(entity_tricks_are_refused),
        cmocka_unit_test(depth_attributes_and_tags_have_limits),
        cmocka_unit_test(a_thousand_columns_are_a_limit),
        cmocka_unit_test(a_cell_beyond_its_limit_names_the_row),
        cmocka_unit_test(columns_are_those_with_a_value_anywhere),
        cmocka_unit_test(texts_across_the_buffers_edge_stay_whole),
        cmocka_unit_test(other_archives_are_unsupported_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
