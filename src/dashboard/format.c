/* Numbers and times as people of a locale write them: by ICU where it was loaded, else in English and as the
 * keys are. */
#include "dashboard/format_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>

struct al_format {
    struct al_icu_format *icu; /* or NULL */
};

void al_dashboard_prepare(void)
{
    al_icu_format_prepare();
}

struct al_format *al_format_new(struct al_str locale)
{
    struct al_format *f = al_xcalloc(1, sizeof *f);
    f->icu = al_icu_format_new(locale);
    return f;
}

void al_format_free(struct al_format *f)
{
    if (!f)
        return;
    al_icu_format_free(f->icu);
    free(f);
}

void al_format_number(struct al_format *f, const struct al_number_style *s, double v, struct al_buf *out)
{
    if (!isfinite(v)) {
        al_buf_adds(out, "\xe2\x80\x94");
        return;
    }
    if (v == 0)
        v = 0; /* not -0 */
    if (!f->icu || !al_icu_format_number(f->icu, s, v, out))
        al_format_plain(s, v, out);
    if (s->unit_percent)
        al_buf_addc(out, '%');
}

/* --- times --- */

/* Days since 1970-01-01 of a date in the Gregorian calendar. */
static int64_t days_of(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Takes a number of two digits in [min, max] behind a sign from the front of *s; def when nothing is left. */
static bool part(struct al_str *s, char sign, int64_t min, int64_t max, int64_t def, int64_t *ret)
{
    if (!s->n) {
        *ret = def;
        return true;
    }
    if (s->n < 3 || s->p[0] != sign ||
        !al_parse_int((struct al_str){s->p[1] == '0' ? s->p + 2 : s->p + 1, s->p[1] == '0' ? 1 : 2}, min, max,
                      ret))
        return false;
    *s = (struct al_str){s->p + 3, s->n - 3};
    return true;
}

/* The first moment of a key: "2024", "2024-03", "2024-Q1", "2024-03-05", "2024-03-05T07". */
static bool start_of(struct al_str key, double *ret_ms)
{
    int64_t year, month, day, hour;
    struct al_str rest = {key.p + 4, key.n - 4};
    if (key.n < 4 || key.p[0] == '0' || !al_parse_int((struct al_str){key.p, 4}, 1, 9999, &year))
        return false;
    if (rest.n == 3 && rest.p[0] == '-' && rest.p[1] == 'Q' && rest.p[2] >= '1' && rest.p[2] <= '4') {
        *ret_ms = (double)days_of(year, (rest.p[2] - '1') * 3 + 1, 1) * 864e5;
        return true;
    }
    if (!part(&rest, '-', 1, 12, 1, &month) || !part(&rest, '-', 1, 31, 1, &day) ||
        !part(&rest, 'T', 0, 23, 0, &hour) || rest.n)
        return false;
    *ret_ms = (double)days_of(year, (int)month, (int)day) * 864e5 + (double)hour * 36e5;
    return true;
}

void al_format_bucket(struct al_format *f, enum al_bucket b, struct al_str key, struct al_buf *out)
{
    double ms;
    if (!f->icu || b == AL_BUCKET_NONE || !start_of(key, &ms) || !al_icu_format_time(f->icu, b, ms, out))
        al_buf_add_str(out, key);
}

void al_format_options(const struct al_number_style *s, struct al_jw *w)
{
    al_jw_obj(w);
    if (s->percent)
        al_jw_kstrz(w, "style", "percent");
    if (s->compact)
        al_jw_kstrz(w, "notation", "compact");
    if (s->significant) {
        al_jw_kint(w, "maximumSignificantDigits", s->significant);
    } else {
        al_jw_kint(w, "minimumFractionDigits", s->min_digits);
        al_jw_kint(w, "maximumFractionDigits", s->max_digits);
    }
    al_jw_end(w);
}
