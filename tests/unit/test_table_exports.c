/* What programs write when somebody says "export": each as a person expects it. */
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

#define NONE (-1)
struct export
{
    const char *in, *out;
    int notes[4]; /* that must be there and no other; ends with NONE */
};

static void check(const struct export *e)
{
    bool want[AL_NOTE_COUNT] = {false};
    if (csv_rig_read(&rig, al_str_of(e->in)) < 0)
        fail_msg("%s: %s", e->in, rig.err.msg);
    if (strcmp(csv_rig_text(&rig), e->out) != 0)
        fail_msg("%s\ngave\n%s\nnot\n%s", e->in, csv_rig_text(&rig), e->out);
    for (size_t i = 0; e->notes[i] != NONE; i++)
        want[e->notes[i]] = true;
    for (int k = 0; k < AL_NOTE_COUNT; k++) {
        if (want[k] != (rig.notes[k] > 0))
            fail_msg("%s: %s note %s \"%s\"", e->in, want[k] ? "no" : "a", al_note_id((enum al_note)k),
                     rig.note_text[k]);
    }
}

static void check_all(const struct export *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(&e[i]);
}
#define CHECK(table) check_all(table, sizeof table / sizeof table[0])

static void pandas_and_numpy(void **state)
{
    (void)state;
    static const struct export table[] = {
        /* DataFrame.to_csv() with its index */
        {",name,score\n0,Ada,1.5\n1,Bob,2.25\n2,Cy,\n",
         "=|name|score\n0|Ada|1.5\n1|Bob|2.25\n2|Cy|\n",
         {NONE}},
        /* a MultiIndex of columns */
        {"city,year,pop\nRome,2019,2.8\nRome,2020,2.9\n",
         "=city|year|pop\nRome|2019|2.8\nRome|2020|2.9\n",
         {NONE}},
        /* to_csv(sep=";", decimal=",") */
        {";a;b\n0;1,5;2,5\n1;3,25;4,0\n2;0,5;1,0\n", "=|a|b\n0|1,5|2,5\n1|3,25|4,0\n2|0,5|1,0\n", {NONE}},
        /* numpy.savetxt with a header, and without */
        {"# x y z\n1.000000000000000000e+00 2.000000000000000000e+00 3.0e+00\n4.0e+00 5.0e+00 6.0e+00\n"
         "7.0e+00 8.0e+00 9.0e+00\n1.0e+00 1.0e+00 1.0e+00\n",
         "=||\n1.000000000000000000e+00|2.000000000000000000e+00|3.0e+00\n4.0e+00|5.0e+00|6.0e+00\n"
         "7.0e+00|8.0e+00|9.0e+00\n1.0e+00|1.0e+00|1.0e+00\n",
         {AL_NOTE_COMMENT_LINES, AL_NOTE_HEADER, AL_NOTE_DELIMITER, NONE}},
        {"at,v\n2024-01-01 00:00:00+00:00,1\n2024-01-02T03:04:05.678+02:00,2\n",
         "=at|v\n2024-01-01 00:00:00+00:00|1\n2024-01-02T03:04:05.678+02:00|2\n",
         {NONE}},
    };
    CHECK(table);
}

static void r(void **state)
{
    (void)state;
    static const struct export table[] = {
        /* write.csv, and write.csv2 */
        {"\"\",\"mpg\",\"cyl\"\n\"Mazda RX4\",21,6\n\"Datsun 710\",22.8,4\n",
         "=|mpg|cyl\nMazda RX4|21|6\nDatsun 710|22.8|4\n",
         {NONE}},
        {"\"\";\"mpg\";\"am\"\r\n\"Mazda RX4\";21,5;TRUE\r\n\"Datsun 710\";22,8;NA\r\n",
         "=|mpg|am\nMazda RX4|21,5|TRUE\nDatsun 710|22,8|NA\n",
         {NONE}},
        /* write.table: no name above the names of rows */
        {"\"mpg\" \"cyl\"\n\"Mazda RX4\" 21 6\n\"Datsun 710\" 22.8 4\n\"Valiant\" 18.1 6\n",
         "=|mpg|cyl\nMazda RX4|21|6\nDatsun 710|22.8|4\nValiant|18.1|6\n",
         {AL_NOTE_HEADER, AL_NOTE_DELIMITER, NONE}},
        {"mpg\tcyl\nMazda RX4\t21\t6\nDatsun 710\t22.8\t4\n",
         "=|mpg|cyl\nMazda RX4|21|6\nDatsun 710|22.8|4\n",
         {AL_NOTE_HEADER, NONE}},
        {"a,b\n1,x,y\n2,z,w\n3,u,v\n", "=|a|b\n1|x|y\n2|z|w\n3|u|v\n", {AL_NOTE_HEADER, NONE}},
        /* no names of rows: they repeat, or one is missing; what is beyond the header is the sink's */
        {"a,b\nx,1,2\nx,3,4\nx,5,6\n", "=a|b\nx|1|2\nx|3|4\nx|5|6\n", {NONE}},
        {"a,b\nx,1\ny,3,4\nz,5,6\n", "=a|b\nx|1\ny|3|4\nz|5|6\n", {NONE}},
    };
    CHECK(table);
}

static void spreadsheets(void **state)
{
    (void)state;
    static const struct export table[] = {
        {"\xef\xbb\xbfid;Betrag;bezahlt\r\n1;1.234,50;WAHR\r\n2;12.000,00;FALSCH\r\n",
         "=id|Betrag|bezahlt\n1|1.234,50|WAHR\n2|12.000,00|FALSCH\n",
         {NONE}},
        {"sep=;\r\na;b\r\n1;2\r\n", "=a|b\n1|2\n", {NONE}},
        {"sep=,\na,b\n1;2,3\n", "=a|b\n1;2|3\n", {NONE}},
        {"item,price,sold\nTea,\"1,234\",TRUE\nCoffee,\"12,345\",FALSE\n",
         "=item|price|sold\nTea|1,234|TRUE\nCoffee|12,345|FALSE\n",
         {NONE}},
        /* windows-1252 */
        {"Stra\xdf"
         "e;Ort\nM\xfchlweg 1;K\xf6ln\nAm B\xe4"
         "chle 2;Trier\n",
         "=Straße|Ort\nMühlweg 1|Köln\nAm Bächle 2|Trier\n",
         {AL_NOTE_ENCODING, NONE}},
        /* a title, a blank line, the table; decimals with the other delimiter */
        {"Liegegeld 2026, Stand Mai\n\nBeleg;Schiff;Betrag\n01;Wal;802,88\n02;Anna;3.067,48\n03;Wal;204,42\n"
         "04;Kormoran;99,10\n05;Wal;1,00\n06;Wal;2,00\n07;Wal;3,00\n08;Wal;4,00\n",
         "=Beleg|Schiff|Betrag\n01|Wal|802,88\n02|Anna|3.067,48\n03|Wal|204,42\n04|Kormoran|99,10\n05|Wal|1,"
         "00\n"
         "06|Wal|2,00\n07|Wal|3,00\n08|Wal|4,00\n",
         {AL_NOTE_PREAMBLE, NONE}},
        /* either would do */
        {"a;b|c\n1;2|3\n4;5|6\n", "=a|b|c\n1|2|3\n4|5|6\n", {AL_NOTE_DELIMITER, NONE}},
        {"a;b,c\n1;2,3\n4;5,6\n", "=a|b,c\n1|2,3\n4|5,6\n", {NONE}},
    };
    CHECK(table);
}

static void lines_that_end_in_a_delimiter(void **state)
{
    (void)state;
    static const struct export table[] = {
        {"a;b;\n1;2;\n3;4;\n", "=a|b\n1|2\n3|4\n", {AL_NOTE_DELIMITER, NONE}},
        {"a,b,,,\n1,2,,,\n3,4,,,\n", "=a|b\n1|2\n3|4\n", {AL_NOTE_DELIMITER, NONE}},
        {"a;b\n1;2;\n3;4;\n", "=a|b\n1|2\n3|4\n", {AL_NOTE_DELIMITER, NONE}},
        {"a\tb\t\n1\t2\t\n3\t4\n5\t6\t\n", "=a|b\n1|2\n3|4\n5|6\n", {AL_NOTE_DELIMITER, NONE}},
        {"1;2;\n3;4;\n", "=|\n1|2\n3|4\n", {AL_NOTE_DELIMITER, AL_NOTE_HEADER, NONE}},
        /* a column that has a name, a value or quotes is one */
        {"a;b;c\n1;2;\n3;4;\n", "=a|b|c\n1|2|\n3|4|\n", {NONE}},
        {"a;b;\n1;2;\n3;4;x\n", "=a|b|\n1|2|\n3|4|x\n", {NONE}},
        {"a;b;\"\"\n1;2;\"\"\n3;4;\"\"\n", "=a|b|\n1|2|\n3|4|\n", {NONE}},
    };
    CHECK(table);
}

static void what_quotes_or_ends_lines_is_no_delimiter(void **state)
{
    (void)state;
    static const char wrong[] = {'"', '\'', '\n', '\r', (char)0xc3};
    for (size_t i = 0; i < sizeof wrong; i++) {
        rig.opts.delimiter = wrong[i];
        assert_int_equal(csv_rig_read(&rig, AL_STR("a,b\n1,2\n")), -1);
        assert_int_equal(rig.err.code, AL_INVALID_INPUT);
    }
    rig.opts.delimiter = 0;
    static const struct export table[] = {
        {"sep=\r\na,b\r\n1,2\r\n3,4\r\n5,6\r\n", "=a|b\n1|2\n3|4\n5|6\n", {AL_NOTE_PREAMBLE, NONE}},
        {"sep=\"\na,b\n1,2\n", "=a|b\n1|2\n", {AL_NOTE_PREAMBLE, NONE}},
        /* of two characters: the cells between them are there */
        {"a||b||c\n1||2||3\n4||5||6\n", "=a||b||c\n1||2||3\n4||5||6\n", {NONE}},
    };
    CHECK(table);
}

/* What comes behind the sample is kept as cells beyond the header. */
static void a_late_value_behind_the_last_delimiter_is_kept(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(1 << 24);
    al_buf_adds(&b, "a;b;\n");
    for (int i = 0; i < 100000; i++)
        al_buf_addf(&b, "%d;x;\n", i);
    al_buf_adds(&b, "1;y;late\n");
    rig.quiet = true;
    assert_int_equal(csv_rig_read(&rig, al_buf_str(&b)), 0);
    assert_int_equal(rig.columns, 2);
    assert_int_equal(rig.rows, 100001);
    assert_int_equal(rig.cells, 100000 * 2 + 3);
}

static void limits_are_told_in_words(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(1 << 24);
    rig.quiet = true;
    al_buf_adds(&b, "a,b\n1,2\n3,");
    for (int i = 0; i < 3000; i++)
        al_buf_adds(&b, "x,");
    assert_int_equal(csv_rig_read(&rig, al_buf_str(&b)), 0);
    assert_string_equal(rig.note_text[AL_NOTE_CUT_ROWS],
                        "of the row's 3002 cells, those beyond 18 are not kept");
    assert_int_equal(rig.note_line[AL_NOTE_CUT_ROWS], 3);
    for (int i = 0; i < 2 << 20; i++)
        al_buf_addc(&b, 'x');
    assert_int_equal(csv_rig_read(&rig, al_buf_str(&b)), -1);
    assert_int_equal(rig.err.code, AL_INGEST_LIMIT);
    assert_string_equal(rig.err.msg, "row 2 (line 3) has a cell of more than 1 MiB, a limit that is fixed");
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        T(pandas_and_numpy),
        T(r),
        T(spreadsheets),
        T(lines_that_end_in_a_delimiter),
        T(what_quotes_or_ends_lines_is_no_delimiter),
        T(limits_are_told_in_words),
        T(a_late_value_behind_the_last_delimiter_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
