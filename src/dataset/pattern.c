#include "dataset/pattern.h"

#include "dataset/pattern_int.h"

#include <math.h>

#define BIT(name) (1u << AL_PATTERN_##name)

static const char *const ids[] = {[AL_PATTERN_NONE] = "",
#define ID(name, id) [AL_PATTERN_##name] = id,
                                  AL_PATTERNS(ID)
#undef ID
};

const char *al_pattern_id(enum al_pattern p)
{
    return ids[p];
}

bool al_pattern_is_date(enum al_pattern p)
{
    return p >= AL_PATTERN_DATE_DMY && p <= AL_PATTERN_EPOCH_SECONDS;
}

static bool has_digit(struct al_str s)
{
    size_t i = 0;
    /* Eight at a time: a byte is a digit when it is 0x30 … 0x39. Exact for ASCII bytes; others are masked
     * out. */
    for (; i + 8 <= s.n; i += 8) {
        uint64_t w;
        memcpy(&w, s.p + i, 8);
        uint64_t low = w & 0x7f7f7f7f7f7f7f7f;
        uint64_t from_0 = low + 0x5050505050505050, over_9 = low + 0x4646464646464646;
        if (from_0 & ~over_9 & ~w & 0x8080808080808080)
            return true;
    }
    for (; i < s.n; i++)
        if (al_is_digit(s.p[i]))
            return true;
    return false;
}

/* The kind of a number that is no bare one, or NONE. */
static enum al_pattern dressed(const struct al_number_form *f)
{
    return f->percent      ? AL_PATTERN_PERCENT
           : f->currency   ? AL_PATTERN_CURRENCY
           : f->brackets   ? AL_PATTERN_BRACKETED
           : f->scientific ? AL_PATTERN_SCIENTIFIC
                           : AL_PATTERN_NONE;
}

static uint32_t number_bits(const struct al_number_form *f)
{
    if (f->zeros)
        return 0;
    enum al_pattern p = dressed(f);
    if (p)
        return 1u << p | (f->mark == ',' ? BIT(DECIMAL_COMMA) : f->mark == '.' ? BIT(DECIMAL_POINT) : 0);
    return (f->as_comma ? BIT(DECIMAL_COMMA) : 0) | (f->as_point ? BIT(DECIMAL_POINT) : 0);
}

static uint32_t date_bits(const struct al_date_form *f)
{
    switch (f->kind) {
    case AL_DATE_NUMERIC:
        return (f->dmy ? BIT(DATE_DMY) : 0) | (f->mdy ? BIT(DATE_MDY) : 0);
    case AL_DATE_YMD:
        return BIT(DATE_YMD);
    case AL_DATE_NAMED:
        return BIT(DATE_NAMED);
    case AL_DATE_ISO:
        break;
    }
    return 0;
}

uint32_t al_pattern_match(struct al_str s)
{
    struct al_number_form n;
    struct al_date_form d;
    uint32_t bits = 0;
    if (s.n > AL_FORM_MAX || !has_digit(s))
        return 0;
    if (al_number_parse(s, &n))
        bits = number_bits(&n);
    if (al_date_parse(s, &d))
        bits |= date_bits(&d);
    return bits;
}

static bool give_date(const struct al_date_form *d, bool day_first, struct al_value *ret, char buf[32])
{
    size_t n = al_date_print(d, day_first, buf);
    *ret = (struct al_value){.type = AL_VALUE_TEXT, .text = {buf, n}};
    return true;
}

static bool convert_date(enum al_pattern p, struct al_str s, struct al_value *ret, char buf[32])
{
    struct al_date_form d;
    if (!al_date_parse(s, &d))
        return false;
    /* ISO's own among others means what it says. */
    bool fits = d.kind == AL_DATE_ISO || (p == AL_PATTERN_DATE_YMD && d.kind == AL_DATE_YMD) ||
                (p == AL_PATTERN_DATE_NAMED && d.kind == AL_DATE_NAMED) ||
                (p == AL_PATTERN_DATE_DMY && d.kind == AL_DATE_NUMERIC && d.dmy) ||
                (p == AL_PATTERN_DATE_MDY && d.kind == AL_DATE_NUMERIC && d.mdy);
    return fits && give_date(&d, p == AL_PATTERN_DATE_DMY, ret, buf);
}

/* Days since 1970 into a date (the civil calendar by eras of 400 years that begin in March). */
static bool convert_epoch(struct al_str s, struct al_value *ret, char buf[32])
{
    struct al_number_form f;
    struct al_value v;
    if (!al_number_parse(s, &f) || !f.plain || f.zeros)
        return false;
    al_number_value(&f, '.', &v);
    if (v.type != AL_VALUE_INT || v.i < 0 || v.i >= 32503680000)
        return false;
    int64_t days = v.i / 86400, left = v.i % 86400;
    int64_t z = days + 719468, era = z / 146097, doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365,
            doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    struct al_date_form d = {.kind = AL_DATE_ISO, .has_time = true};
    d.b = (int)(doy - (153 * mp + 2) / 5 + 1);
    d.a = (int)(mp < 10 ? mp + 3 : mp - 9);
    d.year = (int)(yoe + era * 400 + (d.a <= 2));
    d.hour = (int)(left / 3600);
    d.minute = (int)(left / 60 % 60);
    d.second = (int)(left % 60);
    return give_date(&d, false, ret, buf);
}

bool al_pattern_convert(enum al_pattern p, char decimal, struct al_str s, struct al_value *ret, char buf[32])
{
    if (p == AL_PATTERN_EPOCH_SECONDS)
        return convert_epoch(s, ret, buf);
    if (al_pattern_is_date(p))
        return convert_date(p, s, ret, buf);
    struct al_number_form f;
    if (p == AL_PATTERN_NONE || !al_number_parse(s, &f) || f.zeros)
        return false;
    if (f.percent != (p == AL_PATTERN_PERCENT) || (f.currency && p != AL_PATTERN_CURRENCY))
        return false;
    char mark = p == AL_PATTERN_DECIMAL_COMMA      ? ','
                : p == AL_PATTERN_DECIMAL_POINT    ? '.'
                : decimal == ',' || decimal == '.' ? decimal
                : f.mark                           ? f.mark
                                                   : '.';
    if (!(mark == ',' ? f.as_comma : f.as_point))
        return false;
    struct al_value v;
    al_number_value(&f, mark, &v);
    if (v.type == AL_VALUE_REAL && !isfinite(v.d))
        return false;
    *ret = v;
    return true;
}

bool al_pattern_number(struct al_str s, struct al_value *ret)
{
    struct al_number_form f;
    struct al_value v;
    if (!al_number_parse(s, &f) || f.quad || (f.zeros && !f.plain) || (f.doubt && !f.plain))
        return false;
    al_number_value(&f, f.mark ? f.mark : '.', &v);
    if (v.type == AL_VALUE_REAL && !isfinite(v.d))
        return false;
    *ret = v;
    return true;
}

bool al_pattern_date(struct al_str s, char buf[32])
{
    struct al_date_form d;
    if (!al_date_parse(s, &d))
        return false;
    if (d.kind == AL_DATE_NUMERIC && d.dmy && d.mdy && d.a != d.b)
        return false;
    al_date_print(&d, d.dmy, buf);
    return true;
}

bool al_pattern_misleads(struct al_str s)
{
    struct al_number_form f;
    return s.n <= AL_FORM_MAX && has_digit(s) && al_number_parse(s, &f) && !f.plain && !f.zeros && !f.quad;
}
