/* The two grammars behind pattern.h: numbers with what people put around them, and dates. */
#ifndef AL_DATASET_PATTERN_INT_H
#define AL_DATASET_PATTERN_INT_H

#include "dataset/pattern.h"

#define AL_FORM_MAX 64    /* bytes: nothing longer is a number or a date */
#define AL_FORM_DIGITS 40 /* of a number */
#define AL_FORM_GROUPS 14

/* A number as it is written. */
struct al_number_form {
    bool negative, percent, brackets;
    bool zeros;    /* needless zeros before it: a code rather than a number */
    bool plain;    /* SQLite reads it as it is meant */
    bool grouped;  /* has thousands separators, whichever way it is read */
    bool quad;     /* four groups up to 255 */
    bool as_comma; /* readable with that decimal mark */
    bool as_point;
    char mark;         /* '.' or ',' where the decimal mark is certain */
    char doubt;        /* '.' or ',' where it may be a mark or a separator */
    unsigned currency; /* 0: none */
    char digits[AL_FORM_DIGITS + AL_FORM_GROUPS + 1]; /* digits and separators, each separator one byte (' ' for any space) */
    size_t n_digits;
    int exponent;
    bool scientific;
};
bool al_number_parse(struct al_str s, struct al_number_form *f);
/* Its value with that decimal mark; the form is readable so. */
void al_number_value(const struct al_number_form *f, char mark, struct al_value *ret);

enum al_date_kind { AL_DATE_ISO, AL_DATE_NUMERIC, AL_DATE_YMD, AL_DATE_NAMED };
struct al_date_form {
    enum al_date_kind kind;
    int year, a, b; /* ISO, YMD, NAMED: month, day; NUMERIC: the first and the second number */
    bool dmy, mdy;  /* NUMERIC: valid days when read so */
    bool has_time;
    int hour, minute, second;
    char zone[7]; /* "", "Z" or "+01:00" */
};
bool al_date_parse(struct al_str s, struct al_date_form *f);
/* yyyy-mm-dd[Thh:mm:ss[zone]] with a NUL; day first as told for NUMERIC. The length. */
size_t al_date_print(const struct al_date_form *f, bool day_first, char buf[32]);
bool al_date_valid(int year, int month, int day);

static inline bool al_is_digit(char c) { return c >= '0' && c <= '9'; }
/* Bytes of the space at p (ASCII space and tab, U+00A0, U+2009, U+202F), or 0. */
static inline unsigned al_space_at(const char *p, const char *end)
{
    if (p < end && (*p == ' ' || *p == '\t'))
        return 1;
    if (end - p >= 2 && p[0] == '\xc2' && p[1] == '\xa0')
        return 2;
    if (end - p >= 3 && p[0] == '\xe2' && p[1] == '\x80' && (p[2] == '\xaf' || p[2] == '\x89'))
        return 3;
    return 0;
}

#endif
