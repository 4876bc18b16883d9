/* Names, literals, keys and orders in SQL; and the natural order outside of it. */
#include "dashboard/bucket_int.h"
#include "dashboard/sql_int.h"

#include "base/text.h"

#include <math.h>

void al_sql_name(struct al_buf *out, struct al_str name)
{
    al_buf_addc(out, '"');
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '"')
            al_buf_addc(out, '"');
        al_buf_addc(out, name.p[i]);
    }
    al_buf_addc(out, '"');
}

void al_sql_text(struct al_buf *out, struct al_str text)
{
    al_buf_addc(out, '\'');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\'')
            al_buf_addc(out, '\'');
        al_buf_addc(out, text.p[i]);
    }
    al_buf_addc(out, '\'');
}

bool al_sql_mixed(const struct al_dash_column *c)
{
    if (c->parsed_as.n) /* the view has numbers, or NULL */
        return false;
    return c->text_fallbacks > 0 || (!al_str_is(c->type, "integer") && !al_str_is(c->type, "real"));
}

bool al_sql_wide(const struct al_dash *d, int i)
{
    const struct al_dash_column *c = &d->catalog.columns[i];
    if (!c->has_range)
        return true;
    double most = fmax(fabs(c->min), fabs(c->max));
    return !(most * (double)(d->catalog.rows + 1) < 4.0e18);
}

/* --- keys --- */

static void substr(struct al_buf *out, struct al_str name, int n)
{
    al_buf_adds(out, "substr(");
    al_sql_name(out, name);
    al_buf_addf(out, ", 1, %d)", n);
}

void al_sql_key(const struct al_dash *d, int i, enum al_bucket b, struct al_buf *out)
{
    const struct al_dash_column *c = &d->catalog.columns[i];
    struct al_str name = c->name;
    if (c->time == AL_TIME_YEAR && b != AL_BUCKET_NONE) {
        al_buf_adds(out, "CAST(");
        al_sql_name(out, name);
        al_buf_adds(out, " AS INTEGER)");
        return;
    }
    switch (b) {
    case AL_BUCKET_NONE:
        al_sql_name(out, name);
        break;
    case AL_BUCKET_HOUR:
        substr(out, name, 10);
        al_buf_adds(out, " || 'T' || substr(");
        al_sql_name(out, name);
        al_buf_adds(out, " || 'T00', 12, 2)");
        break;
    case AL_BUCKET_DAY:
        substr(out, name, 10);
        break;
    case AL_BUCKET_WEEK:
        al_buf_adds(out, "date(");
        substr(out, name, 10);
        al_buf_adds(out, ", 'weekday 0', '-6 days')");
        break;
    case AL_BUCKET_MONTH:
        substr(out, name, 7);
        break;
    case AL_BUCKET_QUARTER:
        substr(out, name, 4);
        al_buf_adds(out, " || '-Q' || ((CAST(substr(");
        al_sql_name(out, name);
        al_buf_adds(out, ", 6, 2) AS INTEGER) + 2) / 3)");
        break;
    case AL_BUCKET_YEAR:
        substr(out, name, 4);
        break;
    }
}

void al_sql_has_key(const struct al_dash *d, int i, enum al_bucket b, struct al_buf *out)
{
    const struct al_dash_column *c = &d->catalog.columns[i];
    struct al_str name = c->name;
    if (b == AL_BUCKET_NONE) {
        al_sql_name(out, name);
        al_buf_adds(out, " <> ''");
        return;
    }
    if (c->time == AL_TIME_YEAR && al_str_is(c->type, "text") && !c->parsed_as.n) {
        al_sql_name(out, name);
        al_buf_adds(out, " GLOB '[1-9][0-9][0-9][0-9]'");
        return;
    }
    if (c->time == AL_TIME_YEAR) {
        if (al_sql_mixed(c)) {
            al_buf_adds(out, "typeof(");
            al_sql_name(out, name);
            al_buf_adds(out, ") IN ('integer', 'real') AND ");
        }
        al_sql_name(out, name);
        al_buf_addf(out, " BETWEEN %d AND %d", AL_YEAR_FIRST, AL_YEAR_LAST);
        return;
    }
    al_buf_adds(out, "date(");
    substr(out, name, 10);
    al_buf_adds(out, ") = ");
    substr(out, name, 10);
    if (b == AL_BUCKET_HOUR) {
        al_buf_adds(out, " AND (substr(");
        al_sql_name(out, name);
        al_buf_adds(out, " || 'T00', 11, 3) GLOB '[T ][01][0-9]' OR substr(");
        al_sql_name(out, name);
        al_buf_adds(out, " || 'T00', 11, 3) GLOB '[T ]2[0-3]')");
    }
}
