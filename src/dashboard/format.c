/* Numbers and times as people of a locale write them. */
#include "dashboard/format_int.h"

#include "base/mem.h"
#include "table/icu.h"

#include <math.h>

struct al_format {
    struct al_str locale;
};

void al_dashboard_prepare(void)
{
    (void)!al_icu_load();
}

struct al_format *al_format_new(struct al_str locale)
{
    struct al_format *f = al_xcalloc(1, sizeof *f);
    f->locale = (struct al_str){al_xdup(locale.p, locale.n), locale.n};
    return f;
}

void al_format_free(struct al_format *f)
{
    if (!f)
        return;
    free((void *)f->locale.p);
    free(f);
}

void al_format_number(struct al_format *f, const struct al_number_style *s, double v, struct al_buf *out)
{
    (void)f;
    if (!isfinite(v)) {
        al_buf_adds(out, "\xe2\x80\x94");
        return;
    }
    al_format_plain(s, v, out);
    if (s->unit_percent)
        al_buf_addc(out, '%');
}

void al_format_bucket(struct al_format *f, enum al_bucket b, struct al_str key, struct al_buf *out)
{
    (void)f;
    (void)b;
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
