#include "test.h"

#include "base/mem.h"
#include "dataset/stats_int.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct al_stats_secret secret = {
    {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0x2545f4914f6cdd1d},
    {0x0123456789abcdef, 0x0fedcba987654321},
};

static uint64_t random_state = 1;
static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % below);
}

static struct al_value text_of(const char *z)
{
    return (struct al_value){.type = AL_VALUE_TEXT, .text = al_str_of(z)};
}
static struct al_value int_of(int64_t i)
{
    return (struct al_value){.type = AL_VALUE_INT, .i = i};
}
static struct al_value real_of(double d)
{
    return (struct al_value){.type = AL_VALUE_REAL, .d = d};
}

/* Cells apart by '|': canonical numbers are numbers, nothing is NULL. */
static void add_cells(struct al_stats *s, size_t column, const char *cells)
{
    for (const char *p = cells;;) {
        const char *end = strchrnul(p, '|');
        struct al_str t = {p, (size_t)(end - p)};
        struct al_value v;
        unsigned decimals;
        bool zeros;
        if (t.n == 0)
            v = (struct al_value){.type = AL_VALUE_NULL};
        else if (!al_cell_number(t, true, &v, &decimals, &zeros))
            v = (struct al_value){.type = AL_VALUE_TEXT, .text = t};
        al_stats_add(s, column, &v, AL_SCALE_NONE);
        if (!*end)
            return;
        p = end + 1;
    }
}

static struct al_stats *stats_of(const char *cells, struct al_stats_summary *ret)
{
    struct al_stats *s = al_stats_new(1 << 20);
    al_stats_column(s);
    add_cells(s, 0, cells);
    al_stats_summary(s, 0, 0, ret);
    return s;
}

static void types_are_of_all_rows(void **state)
{
    (void)state;
    static const struct {
        const char *cells, *type;
        uint64_t fallbacks;
    } cases[] = {
        {"1|2|3", "integer", 0},
        {"1|2.5|3", "real", 0},
        {"1.50|2.25", "real", 0},
        {"1|2|x", "text", 1},
        {"1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|18|19|n/a", "integer", 1},
        {"1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|18|n/a", "text", 1},
        {"2024-01-05|2024-02-29T10:00|", "date", 0},
        {"2024-01-05|2024-13-01", "text", 2},
        {"true|FALSE|True", "boolean", 0},
        {"true|no", "text", 0},
        {"007|1,5|abc|a1", "text", 2},
        {"a|b", "text", 0},
        {"||", "text", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct al_stats_summary r;
        struct al_stats *s = stats_of(cases[i].cells, &r);
        if (strcmp(r.type, cases[i].type) != 0 || r.text_fallbacks != cases[i].fallbacks)
            fail_msg("%s: %s, %lu", cases[i].cells, r.type, (unsigned long)r.text_fallbacks);
        al_stats_free(s);
    }
}

static void a_lone_text_is_not_the_maximum_of_numbers(void **state)
{
    (void)state;
    struct al_stats_summary r;
    struct al_stats *s = stats_of("3|-1|n/a|10|", &r);
    assert_int_equal(r.min.type, AL_VALUE_INT);
    assert_int_equal(r.min.i, -1);
    assert_int_equal(r.max.i, 10);
    assert_int_equal(r.nulls, 1);
    assert_int_equal(r.distinct, 4);
    assert_int_equal(r.numbers, 3);
    assert_int_equal(r.texts, 1);
    al_stats_free(s);
    s = stats_of("2|2.0|1.5", &r);
    assert_int_equal(r.min.type, AL_VALUE_REAL);
    assert_int_equal(r.distinct, 2);
    assert_int_equal(r.top[0].count, 2);
    assert_true(r.top[0].value.type == AL_VALUE_REAL && r.top[0].value.d == 2);
    al_stats_free(s);
    s = stats_of("pear|Apple|zoo|éclair", &r);
    assert_true(al_str_is(r.min.text, "Apple") && al_str_is(r.max.text, "éclair"));
    assert_int_equal(r.min_length, 3);
    assert_int_equal(r.max_length, 6);
    assert_false(r.has_mean || r.has_quartiles || r.has_stddev);
    al_stats_free(s);
    s = stats_of("5", &r);
    assert_true(r.has_mean && !r.has_stddev && r.has_quartiles && r.quartile[0] == 5 && r.quartile[2] == 5);
    al_stats_free(s);
}

static void texts_with_nul_bytes_and_without_anything_are_told_apart(void **state)
{
    (void)state;
    struct al_stats *s = al_stats_new(1 << 20);
    al_stats_column(s);
    static const struct al_str texts[] = {
        AL_S(""),
        AL_S("\0"),
        AL_S("\0\0"),
        AL_S("a"),
        AL_S("a\0"),
        AL_S("a\0b"),
        AL_S("12345678"),
        AL_S("12345678\0"),
        AL_S("123456789"),
        AL_S("12345678901234567890"),
        AL_S("12345678901234567891"),
    };
    size_t n = sizeof texts / sizeof texts[0];
    for (size_t round = 0; round < 3; round++)
        for (size_t i = 0; i < n; i++)
            al_stats_add(s, 0, &(struct al_value){.type = AL_VALUE_TEXT, .text = texts[i]}, AL_SCALE_NONE);
    struct al_stats_summary r;
    al_stats_summary(s, 0, 0, &r);
    assert_int_equal(r.distinct, n);
    assert_int_equal(r.n_top, AL_STATS_TOP);
    for (size_t i = 0; i < AL_STATS_TOP; i++) {
        assert_int_equal(r.top[i].count, 3);
        assert_true(al_str_eq(r.top[i].value.text,
                              (const struct al_str[]){texts[0], texts[1], texts[2], texts[6], texts[7]}[i]));
    }
    al_stats_free(s);
}

static void long_values_are_cut_at_a_character(void **state)
{
    (void)state;
    char text[601];
    for (size_t i = 0; i < 600; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    text[600] = 0;
    struct al_stats_summary r;
    struct al_stats *s = stats_of(text, &r);
    assert_true(r.top[0].cut && r.top[0].value.text.n <= AL_STATS_TOP_TEXT);
    assert_true(al_str_ends(r.top[0].value.text, "é…") && al_str_ends(r.max.text, "é…"));
    assert_int_equal(r.max_length, 300);
    al_stats_free(s);
    text[200] = 0;
    s = stats_of(text, &r);
    assert_true(!r.top[0].cut && r.top[0].value.text.n == 200);
    al_stats_free(s);
}

static void late_columns_have_nulls_and_a_reset_forgets(void **state)
{
    (void)state;
    struct al_stats *s = al_stats_new(1 << 20);
    al_stats_column(s);
    size_t late = al_stats_column(s);
    al_stats_nulls(s, late, 7);
    add_cells(s, late, "1,5|x|2,5|2,5|a text that is longer");
    struct al_stats_summary r;
    al_stats_summary(s, late, 0, &r);
    assert_int_equal(r.nulls, 7);
    assert_int_equal(r.distinct, 4);
    al_stats_reset(s, late);
    al_stats_summary(s, late, 0, &r);
    assert_true(r.nulls == 0 && r.distinct == 0 && r.n_top == 0 && r.min.type == AL_VALUE_NULL);
    assert_int_equal(s->used, 0);
    add_cells(s, late, "1|2");
    al_stats_summary(s, late, 0, &r);
    assert_true(r.distinct == 2 && r.mean == 1.5);
    al_stats_free(s);
}

static void patterns_of_numbers_and_texts_are_found(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"1.234,56|7|12,5", "1.234,56"},
        {"1.234,5|1.234|2.345|7", "1.234,56"},
        {"20240101|20240215|20240331|20240430|20241231", "yyyy/mm/dd"},
        {"31/12/2024|01/02/2024", "dd/mm/yyyy"},
        {"1|2|3", ""},
        {"2024-01-01|x", ""},
        {"1700000000|1700000400|1700000800|1700001200|1700001600|1700002000|1700002400|1700002800|1700003200|"
         "1700003600|"
         "1700004000|1700004400|1700004800|1700005200|1700005600|1700006000|1700006400|1700006800|1700007200|"
         "1700007600",
         "epoch seconds"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct al_stats_summary r;
        struct al_stats *s = stats_of(cases[i][0], &r);
        if (strcmp(al_pattern_id(r.pattern.pattern), cases[i][1]) != 0)
            fail_msg("%s: %s", cases[i][0], al_pattern_id(r.pattern.pattern));
        al_stats_free(s);
    }
}

/* --- against SQL
 * -------------------------------------------------------------------------------------------------- */
enum style {
    FEW,
    RUNNING,
    MONEY,
    WIDE_INTS,
    MIXED_DECIMALS,
    DOUBLES,
    SHORT_TEXTS,
    LONG_TEXTS,
    MIXED,
    OUTLIERS,
    N_STYLES
};

/* A value of a column of that style; text in buf. */
static struct al_value draw_value(enum style style, size_t row, char buf[64])
{
    struct al_value v = {.type = AL_VALUE_NULL};
    if (draw(20) == 0)
        return v;
    switch (style) {
    case FEW:
        return int_of((int64_t)draw(7) - 3);
    case RUNNING:
        return int_of(1000 + (int64_t)row);
    case MONEY:
        return real_of((double)draw(3000) / 100);
    case WIDE_INTS:
        return int_of((int64_t)draw(1u << 30) * draw(3));
    case MIXED_DECIMALS: {
        static const double tens[] = {1, 10, 1000, 100000};
        return real_of(((double)draw(2000) - 1000) / tens[draw(4)]);
    }
    case DOUBLES:
        return real_of(sqrt(draw(500)) - 7);
    case SHORT_TEXTS:
        snprintf(buf, 64, "%.*s", (int)draw(9), "aababbab");
        return text_of(buf);
    case LONG_TEXTS:
        snprintf(buf, 64, "customer number %u", draw(draw(2) ? 50 : 2000));
        return text_of(buf);
    case OUTLIERS:
        return draw(50) ? int_of(draw(900)) : int_of((int64_t)draw(30) * 100000000);
    case MIXED:
    case N_STYLES:
        break;
    }
    return draw_value((enum style)draw(MIXED), row, buf);
}

static void bind(sqlite3_stmt *q, const struct al_value *v)
{
    if (v->type == AL_VALUE_INT)
        sqlite3_bind_int64(q, 1, v->i);
    else if (v->type == AL_VALUE_REAL)
        sqlite3_bind_double(q, 1, v->d);
    else if (v->type == AL_VALUE_TEXT)
        sqlite3_bind_text(q, 1, v->text.p, (int)v->text.n, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(q, 1);
}

static sqlite3_stmt *ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    return q;
}

static int64_t ask_int(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q = ask(db, sql);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return n;
}

static void check_value(const struct al_value *v, sqlite3_stmt *q)
{
    if (sqlite3_column_type(q, 0) == SQLITE_TEXT) {
        assert_int_equal(v->type, AL_VALUE_TEXT);
        struct al_str want = {(const char *)sqlite3_column_text(q, 0), (size_t)sqlite3_column_bytes(q, 0)};
        assert_true(al_str_eq(v->text, want));
    } else {
        assert_true(v->type == AL_VALUE_INT || v->type == AL_VALUE_REAL);
        assert_true((v->type == AL_VALUE_INT ? (double)v->i : v->d) == sqlite3_column_double(q, 0));
    }
}

static void check_numbers(sqlite3 *db, const struct al_stats_summary *r)
{
    if (r->numbers == 0)
        return;
    double *all = al_xmalloc((size_t)r->numbers * sizeof *all);
    long double sum = 0, square = 0;
    size_t n = 0;
    sqlite3_stmt *q = ask(db, "SELECT x FROM t WHERE typeof(x) IN ('integer','real') ORDER BY x");
    while (sqlite3_step(q) == SQLITE_ROW && n < r->numbers)
        sum += all[n++] = sqlite3_column_double(q, 0);
    sqlite3_finalize(q);
    assert_int_equal(n, r->numbers);
    double mean = (double)(sum / n);
    for (size_t i = 0; i < n; i++)
        square += ((long double)all[i] - sum / n) * ((long double)all[i] - sum / n);
    assert_true(fabs(r->mean - mean) <= 1e-13 * fabs(mean) + 1e-15);
    if (n > 1)
        assert_true(fabs(r->stddev - (double)sqrtl(square / (n - 1))) <= 1e-12 * r->stddev);
    for (size_t i = 0; i < 3; i++) {
        size_t fourths = (n - 1) * (i + 1), lo = fourths / 4, hi = lo + (fourths % 4 > 0);
        assert_true(r->quartile[i] == all[lo] + (double)(fourths % 4) / 4 * (all[hi] - all[lo]));
    }
    free(all);
}

static void check_against_sql(sqlite3 *db, const struct al_stats_summary *r)
{
    assert_true(r->exact);
    assert_int_equal(r->distinct, ask_int(db, "SELECT count(DISTINCT x) FROM t"));
    assert_int_equal(r->nulls, ask_int(db, "SELECT count(*) - count(x) FROM t"));
    sqlite3_stmt *q =
        ask(db, "SELECT x, count(*) FROM t WHERE x IS NOT NULL GROUP BY x ORDER BY 2 DESC, 1 LIMIT 5");
    size_t n = 0;
    for (; sqlite3_step(q) == SQLITE_ROW; n++) {
        assert_true(n < r->n_top);
        assert_int_equal(r->top[n].count, sqlite3_column_int64(q, 1));
        check_value(&r->top[n].value, q);
    }
    assert_int_equal(n, r->n_top);
    sqlite3_finalize(q);
    const char *of = r->numbers ? "('integer','real')" : "('text')";
    for (int i = 0; i < 2; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "SELECT %s(x) FROM t WHERE typeof(x) IN %s", i ? "max" : "min", of);
        q = ask(db, sql);
        assert_int_equal(sqlite3_step(q), SQLITE_ROW);
        if (r->numbers + r->texts > 0)
            check_value(i ? &r->max : &r->min, q);
        sqlite3_finalize(q);
    }
    check_numbers(db, r);
}

/* Values one by one, or as cells of a batch that has another column beside. */
#define BATCH 700
struct batch {
    struct al_bcell cells[2 * BATCH];
    char text[BATCH][64];
    size_t n;
    bool whole;
};
static void give(struct al_stats *s, struct batch *b)
{
    al_stats_add_cells(s, 0, b->cells, 2, b->n);
    b->n = 0;
}
static void add_value(struct al_stats *s, struct batch *b, const struct al_value *v)
{
    if (!b->whole) {
        al_stats_add(s, 0, v, AL_SCALE_NONE);
        return;
    }
    struct al_bcell *c = &b->cells[2 * b->n];
    *c = (struct al_bcell){.type = (uint8_t)v->type};
    if (v->type == AL_VALUE_INT) {
        c->i = v->i;
    } else if (v->type == AL_VALUE_REAL) {
        c->d = v->d;
    } else if (v->type == AL_VALUE_TEXT) {
        c->p = memcpy(b->text[b->n], v->text.p, v->text.n);
        c->n = (uint32_t)v->text.n;
    }
    if (++b->n == BATCH)
        give(s, b);
}

static void one_random_column(sqlite3 *db, enum style style, size_t rows)
{
    struct batch *batch = al_xcalloc(1, sizeof *batch);
    batch->whole = draw(2);
    struct al_stats *s = al_stats_new(64 << 20);
    al_stats_column(s);
    sqlite3_exec(db, "DELETE FROM t; BEGIN", NULL, NULL, NULL);
    sqlite3_stmt *insert = ask(db, "INSERT INTO t VALUES(?1)");
    for (size_t i = 0; i < rows; i++) {
        char buf[64];
        struct al_value v = draw_value(style, i, buf);
        for (unsigned repeat = draw(4) ? 1 : draw(4); repeat > 0; repeat--) {
            add_value(s, batch, &v);
            bind(insert, &v);
            sqlite3_step(insert);
            sqlite3_reset(insert);
        }
    }
    sqlite3_finalize(insert);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    give(s, batch);
    struct al_stats_summary r;
    al_stats_summary(s, 0, 0, &r);
    check_against_sql(db, &r);
    al_stats_free(s);
    free(batch);
}

static void random_columns_agree_with_sql(void **state)
{
    (void)state;
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    sqlite3_exec(db, "CREATE TABLE t(x)", NULL, NULL, NULL);
    for (unsigned style = 0; style < N_STYLES; style++)
        for (unsigned round = 0; round < 12; round++)
            one_random_column(db, (enum style)style, round < 8 ? draw(60) : draw(6000));
    /* Through the split of a table into parts, and numbers by counting instead of sorting. */
    one_random_column(db, WIDE_INTS, 150000);
    one_random_column(db, RUNNING, 50000);
    for (unsigned round = 0; round < 3; round++)
        one_random_column(db, MIXED, 60000);
    sqlite3_close(db);
}

/* --- when memory is up
 * -------------------------------------------------------------------------------------------- */
static void the_largest_column_falls_back_first(void **state)
{
    (void)state;
    struct al_stats *s = al_stats_new_keyed(1 << 20, &secret);
    for (int i = 0; i < 3; i++)
        al_stats_column(s);
    for (uint32_t i = 0; i < 60000; i++) {
        char buf[64];
        snprintf(buf, sizeof buf, "an id that is unique %u", i);
        struct al_value v = text_of(buf);
        al_stats_add(s, 0, &v, AL_SCALE_NONE);
        v = int_of(draw(20));
        al_stats_add(s, 1, &v, AL_SCALE_NONE);
        v = int_of(i);
        al_stats_add(s, 2, &v, AL_SCALE_NONE);
    }
    struct al_stats_summary r;
    al_stats_summary(s, 0, 0, &r);
    assert_false(r.exact);
    assert_true(fabs((double)r.distinct - 60000) < 0.02 * 60000);
    assert_int_equal(r.n_top, 0); /* none is frequent */
    al_stats_summary(s, 1, 0, &r);
    assert_true(r.exact && r.distinct == 20);
    al_stats_summary(s, 2, 0, &r);
    assert_true(r.exact && r.distinct == 60000);
    assert_true(s->used <= 1 << 20);
    al_stats_free(s);
}

static void a_wide_sheet_stays_within_its_memory(void **state)
{
    (void)state;
    enum {
        COLUMNS = 300,
        ROWS = 3000
    };
    struct al_stats *s = al_stats_new_keyed(1 << 20, &secret);
    for (int i = 0; i < COLUMNS; i++)
        al_stats_column(s);
    for (int row = 0; row < ROWS; row++)
        for (size_t i = 0; i < COLUMNS; i++) {
            char buf[64];
            snprintf(buf, sizeof buf, "column %zu row %d", i, row);
            struct al_value v = text_of(buf);
            al_stats_add(s, i, &v, AL_SCALE_NONE);
        }
    unsigned far = 0, exact = 0; /* the last ones fit */
    for (size_t i = 0; i < COLUMNS; i++) {
        struct al_stats_summary r;
        al_stats_summary(s, i, 0, &r);
        exact += r.exact;
        far += fabs((double)r.distinct - ROWS) > (r.exact ? 0 : 0.02 * ROWS);
    }
    assert_true(exact < 20);
    assert_true(far <= COLUMNS / 50);
    assert_true(s->used <= 1 << 20);
    al_stats_free(s);
}

static void estimates_are_near(void **state)
{
    (void)state;
    enum {
        N = 400000
    };
    struct al_stats *s = al_stats_new_keyed(0, &secret);
    al_stats_column(s);
    al_stats_column(s);
    for (uint32_t i = 0; i < N; i++) {
        /* One in ten is 42, one in twenty "frequent and long"; the rest is spread. */
        struct al_value v = i % 10 == 0 ? int_of(42) : real_of((double)(draw(1u << 30)) / 1000);
        al_stats_add(s, 0, &v, AL_SCALE_NONE);
        char buf[64];
        snprintf(buf, sizeof buf, i % 20 == 0 ? "frequent and long" : "text number %u", draw(100000));
        v = text_of(buf);
        al_stats_add(s, 1, &v, AL_SCALE_NONE);
    }
    struct al_stats_summary r;
    al_stats_summary(s, 0, 0, &r);
    assert_false(r.exact);
    assert_true(fabs((double)r.distinct - N * 0.9) < 0.02 * N);
    assert_true(r.top[0].value.d == 42 && r.top[0].count >= N / 10 && r.top[0].count < N / 10 + N / 64);
    /* Positions in the whole: below 42.0 lies nothing, then a tenth of the column. */
    for (int i = 0; i < 3; i++) {
        double want = ((i + 1) * 0.25 - 0.1) / 0.9 * (1u << 30) / 1000;
        assert_true(fabs(r.quartile[i] - want) < 0.01 * (1u << 30) / 1000);
    }
    al_stats_summary(s, 1, 0, &r);
    assert_false(r.exact);
    /* 380,000 draws of 100,000 leave 2.2 % out. */
    assert_true(fabs((double)r.distinct - 97764) < 0.02 * 97764);
    assert_true(al_str_is(r.top[0].value.text, "frequent and long"));
    assert_true(r.top[0].count >= N / 20 && r.top[0].count < N / 20 + N / 64);
    al_stats_free(s);
}

static void exact_results_do_not_depend_on_the_secret(void **state)
{
    (void)state;
    struct al_stats_summary r[2];
    struct al_stats *s[2];
    for (int k = 0; k < 2; k++) {
        random_state = 77;
        s[k] = k ? al_stats_new(32 << 20) : al_stats_new_keyed(32 << 20, &secret);
        al_stats_column(s[k]);
        for (size_t i = 0; i < 20000; i++) {
            char buf[64];
            struct al_value v = draw_value(LONG_TEXTS, i, buf);
            al_stats_add(s[k], 0, &v, AL_SCALE_NONE);
        }
        al_stats_summary(s[k], 0, 0, &r[k]);
    }
    assert_int_equal(r[0].distinct, r[1].distinct);
    assert_int_equal(s[0]->used, s[0]->used);
    for (size_t i = 0; i < AL_STATS_TOP; i++) {
        assert_int_equal(r[0].top[i].count, r[1].top[i].count);
        assert_true(al_str_eq(r[0].top[i].value.text, r[1].top[i].value.text));
    }
    al_stats_free(s[0]);
    al_stats_free(s[1]);
}

static void sums_are_exact_over_decimals(void **state)
{
    (void)state;
    struct al_sums a = {0};
    for (int i = 0; i < 1000000; i++)
        al_sums_add(&a, i % 2 ? 0.1 : 0.3, 1);
    double mean, stddev;
    assert_true(al_sums_mean(&a, &mean) && al_sums_stddev(&a, &stddev));
    assert_false(a.inexact);
    assert_true(mean == 0.2);
    assert_true(fabs(stddev - 0.1 * sqrt(1e6 / (1e6 - 1))) < 1e-16);
    /* The number of decimals grows, then no decimal fits any more. */
    struct al_sums b = {0};
    al_sums_add(&b, 1, 1);
    al_sums_add(&b, 2.25, 2);
    al_sums_add(&b, 3.0625, 1);
    assert_true(!b.inexact && b.e == 4 && al_sums_mean(&b, &mean) && mean == 8.5625 / 4);
    al_sums_add(&b, 1.0 / 3, 1);
    assert_true(b.inexact && al_sums_mean(&b, &mean) && fabs(mean - (8.5625 + 1.0 / 3) / 5) < 1e-15);
    struct al_sums c = {0};
    al_sums_add(&c, 9007199254740991, 3);
    al_sums_add(&c, -9007199254740991, 3);
    assert_true(al_sums_mean(&c, &mean) && fabs(mean) < 1e-3);
    /* Not finite: no answer rather than a wrong one. */
    struct al_sums d = {0};
    al_sums_add(&d, 1e300, 1);
    al_sums_add(&d, -1e300, 1);
    assert_false(al_sums_stddev(&d, &stddev));
    al_sums_add(&d, INFINITY, 1);
    assert_false(al_sums_mean(&d, &mean));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_of_all_rows),
        cmocka_unit_test(a_lone_text_is_not_the_maximum_of_numbers),
        cmocka_unit_test(texts_with_nul_bytes_and_without_anything_are_told_apart),
        cmocka_unit_test(long_values_are_cut_at_a_character),
        cmocka_unit_test(late_columns_have_nulls_and_a_reset_forgets),
        cmocka_unit_test(patterns_of_numbers_and_texts_are_found),
        cmocka_unit_test(random_columns_agree_with_sql),
        cmocka_unit_test(the_largest_column_falls_back_first),
        cmocka_unit_test(a_wide_sheet_stays_within_its_memory),
        cmocka_unit_test(estimates_are_near),
        cmocka_unit_test(exact_results_do_not_depend_on_the_secret),
        cmocka_unit_test(sums_are_exact_over_decimals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
