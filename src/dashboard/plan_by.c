/* The two columns of a cross-tab that a request asks for. */
#include "dashboard/plan_int.h"

#include "base/text.h"

static int bad_shape(struct al_err *err)
{
    al_fail(err, AL_INVALID_INPUT, "\"by\" takes two names of columns");
    return al_hint(err, "for example [\"region\", \"channel\"]");
}

static bool can_cross(const struct al_dash_column *c)
{
    return al_col_groups(c) || c->time != AL_TIME_NONE;
}

static void good_columns(const struct al_dash *d, struct al_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < d->catalog.n && n < 8; i++)
        if (can_cross(al_dash_col(d, (int)i)) && al_dash_col(d, (int)i)->role != AL_ROLE_TEXT) {
            al_buf_adds(out, n++ ? ", " : "");
            al_text_visible(out, al_utf8_head(al_dash_col(d, (int)i)->name, 60), false);
        }
}

static int read_one(const struct al_dash *d, struct al_str name, int *ret, struct al_err *err)
{
    autobuf struct al_buf shown = AL_BUF_INIT(1024), names = AL_BUF_INIT(4096);
    int c = al_dash_catalog_find(&d->catalog, name);
    al_text_visible(&shown, al_utf8_head(name, 60), false);
    if (c < 0) {
        bool near = al_near_columns(d, name, &names);
        al_fail(err, AL_INVALID_INPUT, "\"by\" names no column of the dataset: \"%.*s\"",
                AL_FMT(al_buf_str(&shown)));
        return near ? al_hint(err, "did you mean %.*s?", AL_FMT(al_buf_str(&names)))
                    : al_hint(err, "it has %.*s", AL_FMT(al_buf_str(&names)));
    }
    if (!can_cross(al_dash_col(d, c))) {
        good_columns(d, &names);
        al_fail(err, AL_INVALID_INPUT,
                "\"%.*s\" has too many different values to be the rows or columns of a cross-tab",
                AL_FMT(al_buf_str(&shown)));
        return names.n ? al_hint(err, "these have few: %.*s", AL_FMT(al_buf_str(&names))) : -1;
    }
    *ret = c;
    return 0;
}

int al_by_read(const struct al_dash *d, const struct al_json *by, int ret[2], struct al_err *err)
{
    if (by->type != AL_JSON_ARRAY || by->n != 2)
        return bad_shape(err);
    int k = 0;
    al_json_each(it, by)
    {
        if (!al_json_is_string(it))
            return bad_shape(err);
        if (read_one(d, it->str, &ret[k++], err) < 0)
            return -1;
    }
    if (ret[0] == ret[1] || (al_dash_col(d, ret[0])->time && al_dash_col(d, ret[1])->time == AL_TIME_DATE)) {
        al_fail(err, AL_INVALID_INPUT,
                ret[0] == ret[1] ? "\"by\" names the same column twice" : "\"by\" names two times");
        return al_hint(err, "a cross-tab needs two columns, one of them at most a date");
    }
    return 0;
}
