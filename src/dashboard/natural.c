/*
 * The natural order of names of months and weekdays, and of ranges: as a number here, as an expression in
 * SQL, from the same tables. Names are known by their first three letters, letter case aside: English,
 * Spanish, German, French, Portuguese; each month and day has as many places, so that the place of a match
 * tells which one it is.
 */
#include "dashboard/sql_int.h"

#include "base/text.h"

#include <math.h>

#define PLACE 4 /* characters of one spelling, with the space behind it */

struct names {
    const char *const *list; /* what one month or day is called: spellings of three letters and a space */
    int n, places;
};

static const char *const months[] = {
    "jan ene ",
    "feb fev fév fÉv ",
    "mar mär mÄr mae ",
    "apr abr avr ",
    "may mai ",
    "jun ",
    "jul ",
    "aug ago aoû aoÛ aou ",
    "sep set ",
    "oct okt out ",
    "nov ",
    "dec dic dez déc dÉc ",
};
/* Two letters are the beginning of one of three; where two days share them, the earlier day's spelling must
 * be meant by more people: "Di" and "Do" are German. */
static const char *const weekdays[] = {
    "mon lun seg ",         "tue die mar ter ",     "wed mit mié miÉ mie mer qua ",
    "thu don jue jeu qui ", "fri fre vie ven sex ", "sat sam sáb sÁb sab ",
    "sun son dom dim ",
};

static struct names names_of(enum al_dash_natural n)
{
    return n == AL_NATURAL_MONTH ? (struct names){months, 12, 5} : (struct names){weekdays, 7, 7};
}

static void put_table(const struct names *names, struct al_buf *out)
{
    for (int i = 0; i < names->n; i++) {
        struct al_str s = al_str_of(names->list[i]);
        al_buf_add_str(out, s);
        for (size_t k = al_utf8_count(s); k < (size_t)(names->places * PLACE); k++)
            al_buf_addc(out, ' ');
    }
}

/* The first n characters, A to Z as a to z. */
static void head_of(struct al_str s, size_t n, struct al_buf *out)
{
    s = al_utf8_head(s, n);
    for (size_t i = 0; i < s.n; i++)
        al_buf_addc(out, s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32) : s.p[i]);
}

static double name_key(enum al_dash_natural n, struct al_str value)
{
    struct names names = names_of(n);
    autobuf struct al_buf table = AL_BUF_INIT(1024), head = AL_BUF_INIT(64);
    put_table(&names, &table);
    head_of(value, 4, &head);
    struct al_str h = al_buf_str(&head);
    if (n == AL_NATURAL_MONTH && (al_str_is(h, "juin") || al_str_is(h, "juil")))
        h = al_str_is(h, "juin") ? AL_STR("jun") : AL_STR("jul");
    h = al_utf8_head(h, 3);
    ptrdiff_t at = h.n ? al_str_find(al_buf_str(&table), h) : -1;
    if (at < 0)
        return INFINITY;
    size_t before = al_utf8_count((struct al_str){table.p, (size_t)at});
    return (double)(before / (size_t)(names.places * PLACE) + 1);
}

/* --- ranges --- */

/* What may stand before the first digit of a range. */
#define BEFORE " <>=~+-$()abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ≤≥–—€£áéíóúñäöüç."

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static double range_key(struct al_str s)
{
    bool bare = s.n && is_digit(s.p[0]);
    while (s.n && !is_digit(s.p[0])) {
        uint32_t cp;
        unsigned k = al_utf8_decode(s, &cp);
        if (!k || (s.p[0] != ',' && al_str_find(AL_STR(BEFORE), (struct al_str){s.p, k}) < 0))
            return INFINITY;
        s.p += k;
        s.n -= k;
    }
    double v = 0;
    size_t n = 0;
    for (size_t i = 0; i < s.n && (is_digit(s.p[i]) || s.p[i] == ','); i++) {
        if (s.p[i] == ',')
            continue;
        if (n++ == 15)
            break;
        v = v * 10 + (s.p[i] - '0');
    }
    return n ? v * 2 + bare : INFINITY;
}

static double number_key(struct al_str s)
{
    int64_t v;
    return al_parse_int(s, -((int64_t)1 << 53), (int64_t)1 << 53, &v) ? (double)v : INFINITY;
}

double al_natural_key(enum al_dash_natural n, struct al_str value)
{
    switch (n) {
    case AL_NATURAL_NUMBER:
        return number_key(value);
    case AL_NATURAL_MONTH:
    case AL_NATURAL_WEEKDAY:
        return name_key(n, value);
    case AL_NATURAL_RANGE:
        return range_key(value);
    case AL_NATURAL_NONE:
        break;
    }
    return INFINITY;
}

/* --- the same in SQL --- */

static void sql_name(enum al_dash_natural n, const char *of, struct al_buf *out)
{
    struct names names = names_of(n);
    int wide = names.places * PLACE;
    al_buf_adds(out, "(nullif(instr('");
    put_table(&names, out);
    if (n == AL_NATURAL_MONTH)
        al_buf_addf(out,
                    "', CASE lower(substr(%s, 1, 4)) WHEN 'juin' THEN 'jun' WHEN 'juil' THEN 'jul' "
                    "ELSE lower(substr(%s, 1, 3)) END), 0) + %d) / %d NULLS LAST, ",
                    of, of, wide - 1, wide);
    else
        al_buf_addf(out, "', lower(substr(%s, 1, 3))), 0) + %d) / %d NULLS LAST, ", of, wide - 1, wide);
}

/* Digits alone are cast: the guard refuses to read a number out of "18-24". */
static void sql_range(const char *of, struct al_buf *out)
{
    autobuf struct al_buf rest = AL_BUF_INIT(1024);
    al_buf_addf(&rest, "ltrim(replace(%s, ',', ''), '%s')", of, BEFORE);
    al_buf_addc(&rest, '\0');
    al_buf_addf(out,
                "CAST(nullif(substr(%s, 1, min(15, length(%s) - length(ltrim(%s, '0123456789')))), '') AS "
                "INTEGER) * 2"
                " + (%s GLOB '[0-9]*') NULLS LAST, ",
                rest.p, rest.p, rest.p, of);
}

void al_sql_natural(enum al_dash_natural n, const char *of, struct al_buf *out)
{
    if (n == AL_NATURAL_MONTH || n == AL_NATURAL_WEEKDAY)
        sql_name(n, of, out);
    else if (n == AL_NATURAL_RANGE)
        sql_range(of, out);
}
