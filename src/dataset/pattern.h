/*
 * Texts that mean a number or a date, in the ways people write them. One converter for the values view, for the SQL
 * functions to_number and to_date, and for the guard that keeps such texts out of arithmetic.
 */
#ifndef AL_DATASET_PATTERN_H
#define AL_DATASET_PATTERN_H

#include "dataset/cell.h"

/* X(name, id): the id is what parsedAs says. */
#define AL_PATTERNS(X)                                                                     \
    X(DECIMAL_COMMA, "1.234,56")  /* also 1234,56 and 1 234,56 */                          \
    X(DECIMAL_POINT, "1,234.56")  /* thousands by comma; also texts that are no canonical print: 1.50 among 2, .5 */                                 \
    X(PERCENT, "12 %")            /* the value is the number, not its hundredth */         \
    X(CURRENCY, "$ 12")           /* sign or ISO code before or behind */                  \
    X(BRACKETED, "(12)")          /* negative */                                           \
    X(DATE_DMY, "dd/mm/yyyy")     /* separators / . - */                                   \
    X(DATE_MDY, "mm/dd/yyyy")                                                              \
    X(DATE_YMD, "yyyy/mm/dd")     /* not ISO's own: / . or no separator */                 \
    X(DATE_NAMED, "dd Mon yyyy")  /* month names; English and Spanish, German, French, Portuguese */ \
    X(EPOCH_SECONDS, "epoch seconds")                                                      \
    X(SCIENTIFIC, "1e5")

enum al_pattern {
    AL_PATTERN_NONE,
#define AL_PATTERN_ENUM(name, id) AL_PATTERN_##name,
    AL_PATTERNS(AL_PATTERN_ENUM)
#undef AL_PATTERN_ENUM
    AL_PATTERN_COUNT
};
const char *al_pattern_id(enum al_pattern p);
bool al_pattern_is_date(enum al_pattern p);

/* The patterns that a text fits, as bits (1u << pattern). Currency, percent and brackets may come with either decimal
 * mark: the bits of the mark are then set, too, where it decides. Fast for texts without a digit. */
uint32_t al_pattern_match(struct al_str s);

/* Converts by one pattern (decimal: '.' or ',' where the pattern leaves it open). False: it does not fit. A date becomes
 * ISO text in buf (yyyy-mm-dd, with Thh:mm:ss where there is a time), at most 32 bytes. */
bool al_pattern_convert(enum al_pattern p, char decimal, struct al_str s, struct al_value *ret, char buf[32]);

/* to_number(text) of a lone text: by whatever pattern it fits without doubt ("1,234" is in doubt: NULL); plain numbers,
 * too. */
bool al_pattern_number(struct al_str s, struct al_value *ret);
/* to_date(text): ISO dates and unambiguous ones. */
bool al_pattern_date(struct al_str s, char buf[32]);

/* Whether a text is a formatted number that SQLite would misread: fits a numeric pattern, and is no plain number ("007",
 * "-3.5" and "1e5" are plain). Versions, addresses (four groups up to 255) and telephone numbers that are not written in
 * groups of three do not mislead. */
bool al_pattern_misleads(struct al_str s);
/* Whether a text is an ISO 8601 date as the dataset means it: yyyy-mm-dd, then nothing, or T or a space and hh:mm[:ss[.f]]
 * [Z or ±hh[:]mm]. Months to 12 and days to 31; February 30 passes, so that one slip does not make a column text. */
bool al_pattern_is_iso(struct al_str s);

/* Counts over a column, and what they amount to. */
struct al_pattern_counts {
    uint64_t texts;                    /* that are not NULL */
    uint64_t fits[AL_PATTERN_COUNT];
    uint64_t decides_dmy, decides_mdy; /* dates whose first (second) part is over 12 */
    uint64_t comma_mark, point_mark;   /* texts whose decimal mark is certain */
    uint64_t numbers;                  /* cells that are numbers already */
    int64_t int_min, int_max;          /* of integers, for epoch seconds */
    uint64_t integers;                 /* of the numbers */
    uint64_t grouped_reals;            /* of the numbers: 1.234, which a decimal comma makes 1234 */
    uint64_t ymd_integers;             /* of the integers: 20241231 */
    uint64_t formatted[2];             /* bare numbers that are no plain ones or no canonical print, as read with a comma, with a point */
    uint64_t doubt_comma, doubt_point; /* "1,234", "1.234": a mark or a group */
    uint64_t quads;                    /* "192.168.100.200": fits DECIMAL_COMMA, and may be an address */
    uint64_t iso_dates;
    uint64_t other_currency; /* another sign than the first one's */
    unsigned currency;
};
/* n times the value v. fits[] of the marks counts bare numbers only: what has a sign of a currency, a percent sign or
 * brackets counts there. */
void al_pattern_count_n(struct al_pattern_counts *c, const struct al_value *v, uint64_t n);
static inline void al_pattern_count(struct al_pattern_counts *c, const struct al_value *v)
{
    al_pattern_count_n(c, v, 1);
}

struct al_pattern_verdict {
    enum al_pattern pattern; /* the one that ≥ 95 % of the column follows (numbers count where they fit), or NONE */
    char decimal;            /* '.' or ',' */
    bool mixed_decimals;     /* both marks occur with certainty */
    bool mixed_dates;        /* more than one way of writing dates */
};
/*
 * No guess between day and month without a value that decides; columns where both orders occur have no pattern. decimal
 * forces the mark. Else a certain mark decides; where there is none, groups of three everywhere (a lone one proves nothing)
 * are thousands ("1,234",
 * "€ 1.234"). A column needs one text that is more than a plain number. Amounts in two currencies are no pattern (their
 * sum would mean nothing). Percentages among numbers without the sign are counted as not fitting.
 * Integers are days (20241231) when there are 5 or more. They are epoch seconds when there are 20 or more, nothing else is
 * in the column, all lie in 2000 to 2034 within 25 years of each other, and are not as dense as running numbers are (less
 * than one in two of the range): other 10-digit ids must not become dates.
 * Two-digit years are never read.
 */
void al_pattern_decide(const struct al_pattern_counts *c, char decimal, struct al_pattern_verdict *ret);

#endif
