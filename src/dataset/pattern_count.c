/* What a column's texts amount to. */
#include "dataset/pattern_int.h"

#include <math.h>
#include <string.h>

static void count_date(struct al_pattern_counts *c, const struct al_date_form *d, uint64_t n)
{
    switch (d->kind) {
    case AL_DATE_ISO:
        c->iso_dates += n;
        break;
    case AL_DATE_YMD:
        c->fits[AL_PATTERN_DATE_YMD] += n;
        break;
    case AL_DATE_NAMED:
        c->fits[AL_PATTERN_DATE_NAMED] += n;
        break;
    case AL_DATE_NUMERIC:
        c->fits[AL_PATTERN_DATE_DMY] += d->dmy ? n : 0;
        c->fits[AL_PATTERN_DATE_MDY] += d->mdy ? n : 0;
        c->decides_dmy += d->dmy && !d->mdy ? n : 0;
        c->decides_mdy += d->mdy && !d->dmy ? n : 0;
        break;
    }
}

static void count_form(struct al_pattern_counts *c, const struct al_number_form *f, uint64_t n)
{
    if (f->zeros)
        return;
    bool bare = !f->percent && !f->currency && !f->brackets && !f->scientific;
    /* SQLite reads "1.50", ".5" and 0.12345678901234567890 well, but a cell does not print back from the number, so
     * it is text: here, too, the column means numbers. */
    bool formatted = !f->plain || memchr(f->digits, '.', f->n_digits);
    if (bare) {
        c->fits[AL_PATTERN_DECIMAL_COMMA] += f->as_comma ? n : 0;
        c->fits[AL_PATTERN_DECIMAL_POINT] += f->as_point ? n : 0;
        c->formatted[0] += f->as_comma && formatted ? n : 0;
        c->formatted[1] += f->as_point && formatted ? n : 0;
    }
    c->fits[AL_PATTERN_PERCENT] += f->percent ? n : 0;
    c->fits[AL_PATTERN_CURRENCY] += f->currency ? n : 0;
    c->fits[AL_PATTERN_BRACKETED] += f->brackets && !f->currency && !f->percent ? n : 0;
    c->fits[AL_PATTERN_SCIENTIFIC] += f->scientific ? n : 0;
    c->quads += f->quad ? n : 0;
    c->comma_mark += f->mark == ',' && !f->quad ? n : 0;
    c->point_mark += f->mark == '.' ? n : 0;
    c->doubt_comma += f->doubt == ',' ? n : 0;
    c->doubt_point += f->doubt == '.' ? n : 0;
    if (f->currency) {
        if (!c->currency)
            c->currency = f->currency;
        c->other_currency += f->currency != c->currency ? n : 0;
    }
}

static void count_integer(struct al_pattern_counts *c, int64_t i, uint64_t n)
{
    c->int_min = c->integers == 0 || i < c->int_min ? i : c->int_min;
    c->int_max = c->integers == 0 || i > c->int_max ? i : c->int_max;
    c->integers += n;
    if (i >= 18000101 && i <= 21991231 &&
        al_date_valid((int)(i / 10000), (int)(i / 100 % 100), (int)(i % 100)))
        c->ymd_integers += n;
}

void al_pattern_count_n(struct al_pattern_counts *c, const struct al_value *v, uint64_t n)
{
    switch (v->type) {
    case AL_VALUE_NULL:
        return;
    case AL_VALUE_INT:
        c->numbers += n;
        count_integer(c, v->i, n);
        return;
    case AL_VALUE_REAL: {
        c->numbers += n;
        double k = nearbyint(v->d * 1000);
        if (fabs(v->d) >= 1 && fabs(v->d) < 1000 && k / 1000 == v->d && fmod(k, 10) != 0)
            c->grouped_reals += n;
        return;
    }
    case AL_VALUE_TEXT:
        break;
    }
    c->texts += n;
    if (v->text.n > AL_FORM_MAX)
        return;
    bool digit = false;
    for (size_t i = 0; i < v->text.n && !digit; i++)
        digit = al_is_digit(v->text.p[i]);
    if (!digit)
        return;
    struct al_number_form f;
    struct al_date_form d;
    if (al_number_parse(v->text, &f))
        count_form(c, &f, n);
    if (al_date_parse(v->text, &d))
        count_date(c, &d, n);
}

/* 95 % of the column. */
static bool most(uint64_t part, uint64_t total)
{
    return total > 0 && (unsigned __int128)part * 100 >= (unsigned __int128)total * 95;
}

/* The decimal mark: 0 when nothing tells, or when what is in doubt contradicts itself. */
static char find_mark(const struct al_pattern_counts *c)
{
    if (c->comma_mark || c->point_mark)
        return c->comma_mark > c->point_mark ? ',' : '.';
    if ((c->doubt_comma && c->doubt_point) ||
        (c->doubt_comma + c->doubt_point == 1 && c->texts + c->numbers == 1))
        return 0;
    return c->doubt_point ? ',' : '.'; /* groups of three are thousands */
}

static enum al_pattern decide_date(const struct al_pattern_counts *c, uint64_t total, bool *mixed)
{
    uint64_t named = c->fits[AL_PATTERN_DATE_NAMED], ymd = c->fits[AL_PATTERN_DATE_YMD];
    uint64_t dmy = c->fits[AL_PATTERN_DATE_DMY], mdy = c->fits[AL_PATTERN_DATE_MDY];
    bool numeric = dmy || mdy, both = c->decides_dmy && c->decides_mdy;
    *mixed = both || numeric + (named > 0) + (ymd > 0) + (c->iso_dates > 0) > 1;
    if (named && most(named + c->iso_dates, total))
        return AL_PATTERN_DATE_NAMED;
    if ((ymd && most(ymd + c->iso_dates + c->ymd_integers, total)) ||
        (c->ymd_integers >= 5 && most(c->ymd_integers, total)))
        return AL_PATTERN_DATE_YMD;
    if (both)
        return AL_PATTERN_NONE;
    if (c->decides_dmy && most(dmy + c->iso_dates, total))
        return AL_PATTERN_DATE_DMY;
    if (c->decides_mdy && most(mdy + c->iso_dates, total))
        return AL_PATTERN_DATE_MDY;
    return AL_PATTERN_NONE;
}

static bool is_epoch(const struct al_pattern_counts *c, uint64_t total)
{
    const int64_t from = 946684800 /* 2000-01-01 */, to = 2051222400 /* 2035-01-01 */, year = 31556952;
    return c->integers >= 20 && c->integers == total && c->int_min >= from && c->int_max < to &&
           c->int_max - c->int_min <= 25 * year && (uint64_t)(c->int_max - c->int_min) >= 2 * c->integers;
}

static enum al_pattern decide_number(const struct al_pattern_counts *c, char *mark, uint64_t total)
{
    uint64_t percent = c->fits[AL_PATTERN_PERCENT], currency = c->fits[AL_PATTERN_CURRENCY];
    uint64_t brackets = c->fits[AL_PATTERN_BRACKETED], scientific = c->fits[AL_PATTERN_SCIENTIFIC];
    if (percent && most(percent, total))
        return *mark ? AL_PATTERN_PERCENT : AL_PATTERN_NONE;
    if (!*mark)
        return AL_PATTERN_NONE;
    bool comma = *mark == ',';
    uint64_t bare = c->fits[comma ? AL_PATTERN_DECIMAL_COMMA : AL_PATTERN_DECIMAL_POINT];
    uint64_t formatted = c->formatted[comma ? 0 : 1];
    if (comma && !c->comma_mark) { /* a column of addresses; or forced, then they are none */
        bare -= c->quads < bare ? c->quads : bare;
        formatted -= c->quads < formatted ? c->quads : formatted;
    }
    /* A number that was stored as one fits a decimal comma only as 1234 or as 1.234 for it. */
    bare += comma ? c->integers + c->grouped_reals : c->numbers;
    if (currency)
        return !c->other_currency && most(currency + brackets + bare, total) ? AL_PATTERN_CURRENCY
                                                                             : AL_PATTERN_NONE;
    if (brackets)
        return most(brackets + bare, total) ? AL_PATTERN_BRACKETED : AL_PATTERN_NONE;
    if (scientific)
        return most(scientific + bare, total) ? AL_PATTERN_SCIENTIFIC : AL_PATTERN_NONE;
    if (!formatted || !most(bare, total))
        return AL_PATTERN_NONE;
    return comma ? AL_PATTERN_DECIMAL_COMMA : AL_PATTERN_DECIMAL_POINT;
}

void al_pattern_decide(const struct al_pattern_counts *c, char decimal, struct al_pattern_verdict *ret)
{
    uint64_t total = c->texts + c->numbers, reals = c->numbers - c->integers;
    bool forced = decimal == ',' || decimal == '.';
    *ret = (struct al_pattern_verdict){.decimal = '.'};
    char mark = forced ? decimal : find_mark(c);
    ret->mixed_decimals = c->comma_mark && (c->point_mark || reals > c->grouped_reals);
    ret->pattern = decide_date(c, total, &ret->mixed_dates);
    if (!ret->pattern && is_epoch(c, total))
        ret->pattern = AL_PATTERN_EPOCH_SECONDS;
    if (!ret->pattern)
        ret->pattern = decide_number(c, &mark, total);
    ret->decimal = mark ? mark : '.';
}
