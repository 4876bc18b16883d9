/* Filters of a request or a plan: read, written, and in words. Their SQL is in filter_sql.c. */
#include "dashboard/filter_int.h"

#include "base/text.h"
#include "dashboard/bucket_int.h"
#include "dataset/cell.h"
#include "dataset/pattern.h"

#include <math.h>
#include <stdio.h>

#define VALUE_CHARS 200 /* of one text */
#define ALL_BYTES \
    ((size_t)8000)       /* of all filters' texts: statements repeat them, and have a limit themselves */
#define FILTERS_READ 100 /* of a plan: those that name no column, too */
#define WORDS_VALUES 5   /* that words list, before "and 3 more" */

enum al_filter_kind al_filter_kind(const struct al_dash_column *c)
{
    if (c->time == AL_TIME_DATE || al_str_is(c->type, "date"))
        return AL_FILTER_DATE;
    for (int p = AL_PATTERN_NONE + 1; p < AL_PATTERN_COUNT; p++)
        if (al_str_is(c->parsed_as, al_pattern_id((enum al_pattern)p)))
            return al_pattern_is_date((enum al_pattern)p) || p == AL_PATTERN_EPOCH_SECONDS ? AL_FILTER_DATE
                                                                                           : AL_FILTER_NUMBER;
    return al_str_is(c->type, "integer") || al_str_is(c->type, "real") ? AL_FILTER_NUMBER : AL_FILTER_TEXT;
}

/* --- reading --- */

struct reader {
    struct al_dash *d;
    struct al_filter *f;
    const struct al_dash_column *c;
    enum al_filter_kind kind;
    size_t bytes; /* of all filters so far */
    struct al_err *err;
};

static int no_memory(struct reader *r)
{
    return al_fail(r->err, AL_QUERY_LIMIT, "the dashboard needs more memory than it may have");
}

/* A text of the request in a message. */
static const char *shown(struct al_str s, char out[260])
{
    autobuf struct al_buf clean = AL_BUF_INIT(1024);
    al_text_visible(&clean, al_utf8_head(s, 60), false);
    struct al_str cut = al_utf8_cut(al_buf_str(&clean), 240);
    snprintf(out, 260, "%.*s%s", AL_FMT(cut), al_utf8_count(s) > 60 ? "…" : "");
    return out;
}

static void add_name(struct al_buf *list, struct al_str name)
{
    char z[260];
    al_buf_addf(list, "%s\"%s\"", list->n ? ", " : "", shown(name, z));
}

static int no_column(struct reader *r, struct al_str asked)
{
    const struct al_dash_catalog *c = &r->d->catalog;
    autobuf struct al_buf near = AL_BUF_INIT(400), some = AL_BUF_INIT(400);
    unsigned most = asked.n < 4 ? 1 : asked.n < 8 ? 2 : 3;
    char z[260];
    for (size_t i = 0; i < c->n; i++) {
        struct al_str name = c->columns[i].name;
        if (name.n <= 64 && al_str_distance(name, asked) <= most)
            add_name(&near, name);
        if (i < 12)
            add_name(&some, name);
    }
    al_fail(r->err, AL_INVALID_INPUT, "a filter names the column \"%s\", which the dataset does not have",
            shown(asked, z));
    if (near.n)
        return al_hint(r->err, "did you mean %.*s?", AL_FMT(al_buf_str(&near)));
    return al_hint(r->err, "it has %.*s%s", AL_FMT(al_buf_str(&some)), c->n > 12 ? " and more" : "");
}

static int bad_op(struct reader *r, const struct al_json *op)
{
    char z[260], name[260];
    al_fail(r->err, AL_INVALID_INPUT, "the filter on \"%s\" has %s%s%s", shown(r->c->name, name),
            al_json_is_string(op) ? "the op \"" : "no op", al_json_is_string(op) ? shown(op->str, z) : "",
            al_json_is_string(op) ? "\", which there is not" : "");
    return al_hint(r->err, "ops are = != < <= > >= in not_in between contains is_null not_null");
}

static int bad_value(struct reader *r, const char *what)
{
    char name[260];
    return al_fail(r->err, AL_INVALID_INPUT, "the filter on \"%s\" (%s) %s", shown(r->c->name, name),
                   al_op_name(r->f->op), what);
}

static int find_op(struct reader *r, const struct al_json *op)
{
    for (int o = AL_OP_EQ; al_json_is_string(op) && o <= AL_OP_NOT_NULL; o++)
        if (al_str_is(op->str, al_op_name((enum al_op)o))) {
            r->f->op = (enum al_op)o;
            return 0;
        }
    return bad_op(r, op);
}

static bool orders(enum al_op op)
{
    return (op >= AL_OP_LT && op <= AL_OP_GE) || op == AL_OP_BETWEEN;
}

/* How a column of two values writes true (or false): itself, where its frequent values tell. */
static struct al_str truth(const struct al_dash_column *c, bool yes)
{
    static const char *const words[2][12] = {
        {"false", "f", "no", "n", "0", "falso", "nein", "non", "off"},
        {"true", "t", "yes", "y", "1", "si", "sí", "verdadero", "ja", "oui", "on"}};
    for (size_t i = 0; i < c->n_top; i++)
        for (const char *const *w = words[yes]; *w; w++) {
            struct al_str a = c->top[i], b = al_str_of(*w);
            bool same = a.n == b.n;
            for (size_t k = 0; same && k < a.n; k++)
                same = (a.p[k] >= 'A' && a.p[k] <= 'Z' ? a.p[k] + 32 : a.p[k]) == b.p[k];
            if (same)
                return a;
        }
    return yes ? AL_STR("true") : AL_STR("false");
}

static bool is_number(struct al_str s, double *ret)
{
    struct al_value v;
    unsigned decimals;
    bool zeros;
    if (!al_cell_number(s, true, &v, &decimals, &zeros))
        return false;
    *ret = v.type == AL_VALUE_INT ? (double)v.i : v.d;
    return isfinite(*ret);
}

/* A year, a month, a day, or a day with a time to the minute or second; else whatever means a date without
 * doubt. */
static bool as_date(struct al_str s, char out[32])
{
    char first[16], after[16];
    bool time = s.n > 10 && al_pattern_is_iso(s) && al_bucket_days((struct al_str){s.p, 10}, first, after);
    if (time) {
        bool seconds = s.n >= 19 && s.p[16] == ':';
        snprintf(out, 32, "%.10sT%.*s", s.p, seconds ? 8 : 5, s.p + 11);
        return true;
    }
    if (al_bucket_days(s, first, after)) {
        snprintf(out, 32, "%.*s", AL_FMT(s));
        return true;
    }
    return al_pattern_date(s, out) && al_bucket_days(al_str_of(out), first, after);
}

static int keep_text(struct reader *r, struct al_str s, struct al_filter_value *v)
{
    if (memchr(s.p ? s.p : "", 0, s.n))
        return bad_value(r, "has a NUL character in its value");
    if (al_utf8_count(s) > VALUE_CHARS)
        return bad_value(r, "has a text of more than 200 characters");
    r->bytes += s.n + 8;
    if (r->bytes > ALL_BYTES)
        return bad_value(r, "is one too many: the filters' values have more than 8,000 bytes in all");
    char *p = al_arena_dup(&r->d->arena, s);
    if (!p)
        return no_memory(r);
    v->text = (struct al_str){p, s.n};
    return 0;
}

static int read_date(struct reader *r, struct al_str s, struct al_filter_value *v)
{
    char iso[32], z[260], name[260];
    if (r->f->op == AL_OP_CONTAINS)
        return keep_text(r, s, v);
    if (!as_date(s, iso)) {
        al_fail(r->err, AL_INVALID_INPUT, "the filter on \"%s\" (%s) compares dates, and \"%s\" is none",
                shown(r->c->name, name), al_op_name(r->f->op), shown(s, z));
        return al_hint(r->err, "dates are written as 2024, 2024-03, 2024-03-05 or 2024-03-05T07:30");
    }
    return keep_text(r, al_str_of(iso), v);
}

static int read_number(struct reader *r, struct al_str s, struct al_filter_value *v)
{
    char z[260], name[260];
    v->number = is_number(s, &v->d);
    if (!v->number && orders(r->f->op)) {
        al_fail(r->err, AL_INVALID_INPUT, "the filter on \"%s\" (%s) compares numbers, and \"%s\" is none",
                shown(r->c->name, name), al_op_name(r->f->op), shown(s, z));
        return al_hint(r->err,
                       "a number without signs of thousands or units, like 1234.5; one condition a filter");
    }
    return keep_text(r, s, v);
}

static int read_value(struct reader *r, const struct al_json *j, struct al_filter_value *v)
{
    struct al_str s = {0};
    if (j && (j->type == AL_JSON_TRUE || j->type == AL_JSON_FALSE)) {
        bool yes = j->type == AL_JSON_TRUE;
        s = r->kind == AL_FILTER_NUMBER ? (yes ? AL_STR("1") : AL_STR("0")) : truth(r->c, yes);
    } else if (j && j->type == AL_JSON_NUMBER) {
        s = j->raw;
        if (!al_json_double(j, &v->d) || !isfinite(v->d))
            return bad_value(r, "has a number that is too large");
        if (r->kind == AL_FILTER_NUMBER) {
            v->number = true;
            return keep_text(r, s, v);
        }
    } else if (al_json_is_string(j)) {
        s = j->str;
    } else {
        return bad_value(r, "needs texts, numbers, true or false as its value");
    }
    if (r->kind == AL_FILTER_DATE)
        return read_date(r, s, v);
    if (r->kind == AL_FILTER_NUMBER && r->f->op != AL_OP_CONTAINS)
        return read_number(r, s, v);
    return keep_text(r, s, v);
}

static int check_between(struct reader *r)
{
    const struct al_filter_value *a = &r->f->values[0], *b = &r->f->values[1];
    bool right = a->number && b->number ? a->d <= b->d : al_str_cmp(a->text, b->text) <= 0;
    /* "2024-03" to "2024": the year's end is later than the month. */
    bool within =
        r->kind == AL_FILTER_DATE && b->text.n < a->text.n && memcmp(a->text.p, b->text.p, b->text.n) == 0;
    return right || within ? 0 : bad_value(r, "has the larger value first");
}

static int read_values(struct reader *r, const struct al_json *value)
{
    struct al_filter *f = r->f;
    bool list = f->op == AL_OP_IN || f->op == AL_OP_NOT_IN || f->op == AL_OP_BETWEEN;
    if (f->op == AL_OP_NULL || f->op == AL_OP_NOT_NULL)
        return 0;
    if (!value)
        return bad_value(r, "has no value");
    if (list != (value->type == AL_JSON_ARRAY)) {
        bad_value(r, list ? "needs an array as its value" : "needs one value, no array");
        return list ? al_hint(r->err,
                              f->op == AL_OP_BETWEEN ? "like [100, 200]" : "like [\"North\", \"South\"]")
                    : al_hint(r->err, "several values: in or not_in; a range: between");
    }
    size_t n = list ? value->n : 1;
    if (f->op == AL_OP_BETWEEN && n != 2)
        return bad_value(r, "needs two values: from and to, both included");
    if (n == 0 || n > AL_DASH_FILTER_VALUES)
        return bad_value(r, n ? "has more than 100 values" : "has no values");
    f->values = al_arena_alloc(&r->d->arena, n * sizeof *f->values);
    if (!f->values)
        return no_memory(r);
    if (!list) {
        f->n_values = 1;
        return read_value(r, value, &f->values[0]);
    }
    al_json_each(v, value) if (read_value(r, v, &f->values[f->n_values++]) < 0) return -1;
    return f->op == AL_OP_BETWEEN ? check_between(r) : 0;
}

static void missing(struct al_dash *d, struct al_str name)
{
    for (size_t i = 0; i < d->n_missing; i++)
        if (al_str_eq(d->missing[i], name))
            return;
    char *p = al_arena_dup(&d->arena, al_utf8_head(name, 100));
    if (p && d->n_missing < sizeof d->missing / sizeof *d->missing)
        d->missing[d->n_missing++] = al_str_of(p);
}

static int read_one(struct reader *r, const struct al_json *j, bool strict)
{
    struct al_str name = al_json_get_text(j, "column");
    if (!j || j->type != AL_JSON_OBJECT || !name.n) {
        al_fail(r->err, AL_INVALID_INPUT, "a filter is an object with a column, an op and a value");
        return al_hint(r->err, "like {\"column\": \"region\", \"op\": \"=\", \"value\": \"North\"}");
    }
    r->f->column = al_dash_catalog_find(&r->d->catalog, name);
    if (r->f->column < 0) {
        if (!strict)
            missing(r->d, name);
        return no_column(r, name);
    }
    r->c = &r->d->catalog.columns[r->f->column];
    r->kind = al_filter_kind(r->c);
    if (find_op(r, al_json_get(j, "op")) < 0)
        return -1;
    if (orders(r->f->op) && r->kind == AL_FILTER_TEXT) {
        bad_value(r, "compares texts, which have no order here");
        return al_hint(r->err, "texts are compared with = != in not_in contains");
    }
    return read_values(r, al_json_get(j, "value"));
}

int al_filters_read(struct al_dash *d, const struct al_json *list, bool strict, struct al_err *err)
{
    struct al_plan *p = &d->plan;
    struct reader r = {.d = d};
    struct al_err own = {0};
    size_t seen = 0;
    r.err = strict ? err : &own;
    p->n_filters = 0;
    if (!list || list->type != AL_JSON_ARRAY) {
        al_fail(r.err, AL_INVALID_INPUT, "filters are an array of {column, op, value}");
        return strict ? -1 : 0;
    }
    al_json_each(j, list)
    {
        struct al_filter f = {.column = -1};
        r.f = &f;
        bool many = p->n_filters == AL_DASH_FILTERS || seen++ == FILTERS_READ;
        int rc = many ? al_fail(r.err, AL_INVALID_INPUT, "there are more than %d filters", AL_DASH_FILTERS)
                      : read_one(&r, j, strict);
        if (rc == 0) {
            p->filters[p->n_filters++] = f;
        } else if (strict || own.code == AL_QUERY_LIMIT) {
            if (!strict && err)
                *err = own;
            return -1;
        } else {
            autobuf struct al_buf note = AL_BUF_INIT(2000);
            struct al_str why = al_str_of(own.msg);
            al_text_fill(&note, al_text(p, AL_TEXT_FILTER_DROPPED), &why, 1);
            al_dash_note(d, "%.*s", AL_FMT(al_buf_str(&note)));
            if (many)
                break;
        }
    }
    return 0;
}

/* --- writing --- */

static void write_value(const struct al_filter_value *v, struct al_jw *w)
{
    if (v->number)
        al_jw_raw(w, v->text);
    else
        al_jw_str(w, v->text);
}

void al_filter_write(const struct al_dash *d, const struct al_filter *f, struct al_jw *w)
{
    bool list = f->op == AL_OP_IN || f->op == AL_OP_NOT_IN || f->op == AL_OP_BETWEEN;
    al_jw_obj(w);
    al_jw_kstr(w, "column", d->catalog.columns[f->column].name);
    al_jw_kstrz(w, "op", al_op_name(f->op));
    if (f->n_values) {
        al_jw_key(w, "value");
        if (list)
            al_jw_arr(w);
        for (size_t i = 0; i < f->n_values; i++)
            write_value(&f->values[i], w);
        if (list)
            al_jw_end(w);
    }
    al_jw_end(w);
}

static void list_words(const struct al_dash *d, const struct al_filter *f, struct al_buf *out)
{
    size_t n = f->n_values > WORDS_VALUES + 1 ? WORDS_VALUES : f->n_values;
    autobuf struct al_buf list = AL_BUF_INIT((size_t)64 << 10);
    char more[24];
    for (size_t i = 0; i < n; i++) {
        const char *sep = i == 0 ? "" : i + 1 == f->n_values ? al_text_or(&d->plan, f->values[i].text) : ", ";
        al_buf_adds(&list, sep);
        al_buf_add_str(&list, f->values[i].text);
    }
    if (n == f->n_values) {
        al_buf_add_str(out, al_buf_str(&list));
        return;
    }
    snprintf(more, sizeof more, "%zu", f->n_values - n);
    al_text_fill(out, al_text(&d->plan, AL_TEXT_FILTER_MORE),
                 (struct al_str[]){al_buf_str(&list), al_str_of(more)}, 2);
}

void al_filter_words(const struct al_dash *d, const struct al_filter *f, struct al_buf *out)
{
    static const enum al_text_id texts[] = {
        [AL_OP_EQ] = AL_TEXT_FILTER_EQ,           [AL_OP_NE] = AL_TEXT_FILTER_NE,
        [AL_OP_LT] = AL_TEXT_FILTER_LT,           [AL_OP_LE] = AL_TEXT_FILTER_LE,
        [AL_OP_GT] = AL_TEXT_FILTER_GT,           [AL_OP_GE] = AL_TEXT_FILTER_GE,
        [AL_OP_IN] = AL_TEXT_FILTER_EQ,           [AL_OP_NOT_IN] = AL_TEXT_FILTER_NE,
        [AL_OP_BETWEEN] = AL_TEXT_FILTER_BETWEEN, [AL_OP_CONTAINS] = AL_TEXT_FILTER_CONTAINS,
        [AL_OP_NULL] = AL_TEXT_FILTER_NULL,       [AL_OP_NOT_NULL] = AL_TEXT_FILTER_NOT_NULL};
    static const enum al_text_id times[] = {[AL_OP_LT] = AL_TEXT_FILTER_BEFORE,
                                            [AL_OP_LE] = AL_TEXT_FILTER_UNTIL,
                                            [AL_OP_GT] = AL_TEXT_FILTER_AFTER,
                                            [AL_OP_GE] = AL_TEXT_FILTER_SINCE};
    const struct al_dash_column *c = &d->catalog.columns[f->column];
    bool time = c->time != AL_TIME_NONE || al_filter_kind(c) == AL_FILTER_DATE;
    bool order = f->op >= AL_OP_LT && f->op <= AL_OP_GE;
    autobuf struct al_buf values = AL_BUF_INIT((size_t)64 << 10);
    struct al_str gaps[3] = {c->display.n ? c->display : c->name};
    size_t n = 1;
    if (f->op == AL_OP_BETWEEN) {
        gaps[n++] = f->values[0].text;
        gaps[n++] = f->values[1].text;
    } else if (f->n_values) {
        list_words(d, f, &values);
        gaps[n++] = al_buf_str(&values);
    }
    al_text_fill(out, al_text(&d->plan, time && order ? times[f->op] : texts[f->op]), gaps, n);
}

/* --- what they leave of a time --- */

/* Keeps whether the column has times of day. */
static void set_bound(char bound[32], const char *day)
{
    snprintf(bound, 32, "%.10s%s", day, strlen(bound) > 10 ? "T00:00" : "");
}

static void narrow(struct al_dash_column *c, const struct al_filter *f)
{
    char first[16], after[16];
    for (size_t i = 0; i < f->n_values; i++) {
        struct al_str day = al_utf8_head(f->values[i].text, 10);
        bool lower =
            f->op == AL_OP_EQ || f->op == AL_OP_GE || f->op == AL_OP_GT || (f->op == AL_OP_BETWEEN && i == 0);
        bool upper =
            f->op == AL_OP_EQ || f->op == AL_OP_LE || f->op == AL_OP_LT || (f->op == AL_OP_BETWEEN && i == 1);
        if (!al_bucket_days(day, first, after))
            continue;
        if (lower && strncmp(first, c->first, 10) > 0 && strncmp(first, c->last, 10) <= 0)
            set_bound(c->first, first);
        if (upper && strncmp(after, c->last, 10) < 0 && strncmp(after, c->first, 10) >= 0)
            set_bound(c->last, after);
    }
}

void al_filters_narrow(struct al_dash *d)
{
    for (size_t i = 0; i < d->plan.n_filters; i++) {
        const struct al_filter *f = &d->plan.filters[i];
        struct al_dash_column *c = &d->catalog.columns[f->column];
        if (c->time == AL_TIME_DATE && c->first[0] && c->last[0])
            narrow(c, f);
    }
}
