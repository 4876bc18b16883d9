/* Numbers and times by ICU: number skeletons that are Intl.NumberFormat's defaults, date patterns of the
 * locale in the Gregorian calendar. */
#include "dashboard/format_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "table/icu.h"

#include <stdio.h>
#include <string.h>
#include <unicode/ucal.h>
#include <unicode/udat.h>
#include <unicode/udatpg.h>
#include <unicode/uloc.h>
#include <unicode/unumberformatter.h>

#define CALLS(X)                      \
    X(uloc_forLanguageTag)            \
    X(uloc_setDefault)                \
    X(uloc_setKeywordValue)           \
    X(unumf_openForSkeletonAndLocale) \
    X(unumf_close)                    \
    X(unumf_openResult)               \
    X(unumf_closeResult)              \
    X(unumf_formatDouble)             \
    X(unumf_resultToString)           \
    X(ucal_open)                      \
    X(ucal_close)                     \
    X(ucal_setDefaultTimeZone)        \
    X(ucal_setGregorianChange)        \
    X(udatpg_open)                    \
    X(udatpg_close)                   \
    X(udatpg_getBestPattern)          \
    X(udat_open)                      \
    X(udat_close)                     \
    X(udat_setCalendar)               \
    X(udat_format)

#define TEXT 400 /* UTF-16 units of one number or time: the largest double has 309 digits and 102 marks */
#define LOCALE 160
#define STYLES 32 /* different ones of a page; beyond, the last one's place is used again */
#define BUCKETS (AL_BUCKET_YEAR + 1)

static struct {
    bool there;
#define FIELD(f) __typeof__(f) *f##_do;
    CALLS(FIELD)
#undef FIELD
} icu;

struct al_icu_format {
    char locale[LOCALE], dates[LOCALE]; /* ICU's names of it; dates: with the calendar */
    struct {
        struct al_number_style style;
        UNumberFormatter *f;
    } numbers[STYLES];
    size_t n;
    UFormattedNumber *result;
    UDateFormat *times[BUCKETS];
};

static const UChar zone[] = {'E', 't', 'c', '/', 'G', 'M', 'T', 0};

void al_icu_format_prepare(void)
{
    UErrorCode status = U_ZERO_ERROR;
    bool all = al_icu_load();
#define FIND(f)                                                    \
    if (all && !(icu.f##_do = (__typeof__(f) *)al_icu_symbol(#f))) \
        all = false;
    CALLS(FIND)
#undef FIND
    if (!all)
        return;
    icu.uloc_setDefault_do("en", &status);
    icu.ucal_setDefaultTimeZone_do(zone, &status);
    icu.there = U_SUCCESS(status);
}

/* Arabic without a country has had Latin digits in browsers for years; older versions of ICU disagree. */
static bool has_latin_digits(struct al_str locale)
{
    return al_str_is(locale, "ar");
}

struct al_icu_format *al_icu_format_new(struct al_str locale)
{
    if (!icu.there || locale.n >= LOCALE)
        return NULL;
    struct al_icu_format *f = al_xcalloc(1, sizeof *f);
    UErrorCode status = U_ZERO_ERROR;
    char tag[LOCALE];
    memcpy(tag, locale.p, locale.n);
    tag[locale.n] = 0;
    icu.uloc_forLanguageTag_do(tag, f->locale, LOCALE, NULL, &status);
    if (has_latin_digits(locale))
        icu.uloc_setKeywordValue_do("numbers", "latn", f->locale, LOCALE, &status);
    snprintf(f->dates, LOCALE, "%s", f->locale);
    if (U_SUCCESS(status) && status != U_STRING_NOT_TERMINATED_WARNING)
        icu.uloc_setKeywordValue_do("calendar", "gregorian", f->dates, LOCALE, &status);
    f->result = icu.unumf_openResult_do(&status);
    if (U_FAILURE(status) || status == U_STRING_NOT_TERMINATED_WARNING) {
        al_icu_format_free(f);
        return NULL;
    }
    return f;
}

void al_icu_format_free(struct al_icu_format *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n; i++)
        icu.unumf_close_do(f->numbers[i].f);
    for (size_t i = 0; i < BUCKETS; i++) {
        if (f->times[i])
            icu.udat_close_do(f->times[i]);
    }
    if (f->result)
        icu.unumf_closeResult_do(f->result);
    free(f);
}

/* --- numbers --- */

static void add(char *text, size_t size, const char *more)
{
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s", more);
}

/* "compact-short .# rounding-mode-half-up": what Intl does by default where its options say nothing. */
static void skeleton(const struct al_number_style *s, char ret[160])
{
    ret[0] = 0;
    if (s->percent)
        add(ret, 160, "percent scale/100 ");
    /* In compact form marks begin with the fifth digit; else the language says where. */
    add(ret, 160, s->compact ? "compact-short group-min2 " : "group-auto ");
    if (s->significant) {
        add(ret, 160, "@");
        for (int i = 1; i < s->significant && i < 20; i++)
            add(ret, 160, "#");
    } else if (s->max_digits <= 0) {
        add(ret, 160, "precision-integer");
    } else {
        add(ret, 160, ".");
        for (int i = 0; i < s->max_digits && i < 20; i++)
            add(ret, 160, i < s->min_digits ? "0" : "#");
    }
    add(ret, 160, " rounding-mode-half-up");
}

static UNumberFormatter *open_number(const struct al_icu_format *f, const struct al_number_style *s)
{
    char text[160];
    UChar wide[160];
    int32_t n = 0;
    UErrorCode status = U_ZERO_ERROR;
    skeleton(s, text);
    for (; text[n]; n++)
        wide[n] = (UChar)text[n];
    UNumberFormatter *ret = icu.unumf_openForSkeletonAndLocale_do(wide, n, f->locale, &status);
    if (U_SUCCESS(status))
        return ret;
    if (ret)
        icu.unumf_close_do(ret);
    return NULL;
}

static bool same(const struct al_number_style *a, const struct al_number_style *b)
{
    return a->percent == b->percent && a->compact == b->compact && a->min_digits == b->min_digits &&
           a->max_digits == b->max_digits && a->significant == b->significant;
}

static UNumberFormatter *number_of(struct al_icu_format *f, const struct al_number_style *s)
{
    for (size_t i = 0; i < f->n; i++) {
        if (same(&f->numbers[i].style, s))
            return f->numbers[i].f;
    }
    UNumberFormatter *made = open_number(f, s);
    if (!made)
        return NULL;
    if (f->n == STYLES)
        icu.unumf_close_do(f->numbers[--f->n].f);
    f->numbers[f->n].style = *s;
    f->numbers[f->n++].f = made;
    return made;
}

bool al_icu_format_number(struct al_icu_format *f, const struct al_number_style *s, double v,
                          struct al_buf *out)
{
    UChar text[TEXT];
    UErrorCode status = U_ZERO_ERROR;
    UNumberFormatter *number = number_of(f, s);
    if (!number)
        return false;
    icu.unumf_formatDouble_do(number, v, f->result, &status);
    int32_t n = icu.unumf_resultToString_do(f->result, text, TEXT, &status);
    if (U_FAILURE(status) || n > TEXT)
        return false;
    al_icu_utf8(out, text, (size_t)n);
    return true;
}

/* --- times --- */

/* Pattern of a bucket in the language: "MMM y", "d MMM y". */
static int32_t pattern_of(const struct al_icu_format *f, enum al_bucket b, UChar *ret, int32_t size)
{
    static const char *const skeletons[BUCKETS] = {
        [AL_BUCKET_HOUR] = "MMMdjm", [AL_BUCKET_DAY] = "yMMMd",    [AL_BUCKET_WEEK] = "yMMMd",
        [AL_BUCKET_MONTH] = "yMMM",  [AL_BUCKET_QUARTER] = "yQQQ", [AL_BUCKET_YEAR] = "y",
    };
    UChar wanted[16];
    int32_t n = 0;
    UErrorCode status = U_ZERO_ERROR;
    for (; skeletons[b] && skeletons[b][n]; n++)
        wanted[n] = (UChar)skeletons[b][n];
    UDateTimePatternGenerator *g = icu.udatpg_open_do(f->dates, &status);
    int32_t got = U_SUCCESS(status) ? icu.udatpg_getBestPattern_do(g, wanted, n, ret, size, &status) : 0;
    if (g)
        icu.udatpg_close_do(g);
    return U_SUCCESS(status) && n ? got : 0;
}

static UDateFormat *open_time(const struct al_icu_format *f, enum al_bucket b)
{
    UChar pattern[80];
    UErrorCode status = U_ZERO_ERROR;
    int32_t n = pattern_of(f, b, pattern, 80);
    if (n <= 0 || n >= 80)
        return NULL;
    UDateFormat *d = icu.udat_open_do(UDAT_PATTERN, UDAT_PATTERN, f->dates, zone, -1, pattern, n, &status);
    /* Dates of a file are of one calendar throughout, before 1582, too. */
    UCalendar *c = U_SUCCESS(status) ? icu.ucal_open_do(zone, -1, f->dates, UCAL_GREGORIAN, &status) : NULL;
    if (c && U_SUCCESS(status)) {
        icu.ucal_setGregorianChange_do(c, -1e17, &status);
        icu.udat_setCalendar_do(d, c);
    }
    if (c)
        icu.ucal_close_do(c);
    if (U_SUCCESS(status))
        return d;
    if (d)
        icu.udat_close_do(d);
    return NULL;
}

bool al_icu_format_time(struct al_icu_format *f, enum al_bucket b, double ms, struct al_buf *out)
{
    UChar text[TEXT];
    UErrorCode status = U_ZERO_ERROR;
    if (!f->times[b])
        f->times[b] = open_time(f, b);
    if (!f->times[b])
        return false;
    int32_t n = icu.udat_format_do(f->times[b], ms, text, TEXT, NULL, &status);
    if (U_FAILURE(status) || n > TEXT)
        return false;
    al_icu_utf8(out, text, (size_t)n);
    return true;
}
