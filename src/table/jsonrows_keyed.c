/*
 * An object of objects: records by their names ({"id1": {…}, "id2": {…}}), or columns whose cells have names
 * ({"a": {"0": …, "1": …}}), as pandas writes with orient="index" and by default.
 */
#include "table/jsonrows_outline.h"

#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>

#define TYPED 64 /* names of an inner object whose types count */

enum shape {
    NEITHER,
    RECORDS,
    COLUMNS
};

/* What the names of an object are. */
struct names {
    uint64_t ordered, set; /* hashes: in their order, and in any */
    uint64_t n;
    bool digits;   /* all are whole numbers */
    bool counting; /* all are 0, 1, 2 … */
};
struct looks {
    struct names outer, inner; /* inner: of the first */
    bool same_set, same_order;
    bool along, across; /* values of one type within each object; under each name */
    unsigned char type[TYPED];
    size_t n_objects;
};

static void add_name(struct names *s, struct al_str key)
{
    uint64_t h = 0xcbf29ce484222325u, number = 0;
    bool digits = key.n > 0 && key.n < 19;
    for (size_t i = 0; i < key.n; i++) {
        h = (h ^ (unsigned char)key.p[i]) * 0x100000001b3u;
        digits = digits && key.p[i] >= '0' && key.p[i] <= '9';
        if (digits)
            number = number * 10 + (uint64_t)(key.p[i] - '0');
    }
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u; /* so that sums of hashes do not meet */
    s->ordered = (s->ordered ^ h) * 0x100000001b3u + 1;
    s->set += h ^ h >> 32;
    s->digits = (s->n == 0 || s->digits) && digits;
    s->counting = (s->n == 0 || s->counting) && digits && number == s->n;
    s->n++;
}

/* 0: null, which is of any type. */
static unsigned char type_of(const struct al_js_value *v)
{
    return v->type == AL_JSON_NULL    ? 0
           : v->type == AL_JSON_FALSE ? AL_JSON_TRUE + 1
                                      : (unsigned char)v->type + 1;
}

static void back_to(struct al_jr *r, const struct al_jr_outline *o, const struct al_jr_member *m)
{
    struct al_js_mark at = {o->mark.at + m->value_at, m->line, m->line_start};
    al_js_back(&r->js, &at);
}

static int look_inside(struct al_jr *r, struct looks *l)
{
    struct names names = {0};
    struct al_js_value key, v;
    unsigned char along = 0;
    bool more = true;
    r->js.p++;
    for (bool first = true;; first = false) {
        if (al_js_member(&r->js, '}', first, &more) != AL_JS_OK)
            return al_jr_bad(r, 0);
        if (!more)
            break;
        if (al_js_key(&r->js, &key) != AL_JS_OK || al_js_read(&r->js, 2, &v) != AL_JS_OK)
            return al_jr_bad(r, 0);
        unsigned char type = type_of(&v);
        if (names.n < TYPED && type) {
            unsigned char *above = &l->type[names.n];
            l->across = l->across && (!*above || *above == type);
            *above = type;
        }
        l->along = l->along && (!type || !along || along == type);
        along = type ? type : along;
        add_name(&names, key.raw);
    }
    if (l->n_objects++ == 0)
        l->inner = names;
    l->same_set = l->same_set && names.n == l->inner.n && names.set == l->inner.set;
    l->same_order = l->same_order && l->same_set && names.ordered == l->inner.ordered;
    l->inner.digits = l->inner.digits && names.digits;
    return 0;
}

static enum shape shape_of(const struct looks *l)
{
    if (!l->inner.n)
        return NEITHER;
    if (l->outer.digits && !l->inner.digits)
        return RECORDS;
    if (!l->same_set)
        return NEITHER;
    if (l->inner.digits && !l->outer.digits)
        return l->same_order ? COLUMNS : NEITHER;
    if (l->outer.n < 2 || l->outer.digits)
        return NEITHER;
    if (!l->same_order)
        return RECORDS; /* columns written by a program list their rows alike */
    /* Cells of one column are of one type. */
    if (l->along && !l->across)
        return COLUMNS;
    if ((l->across && !l->along) || (l->outer.n > 2 && l->outer.n > l->inner.n))
        return RECORDS;
    return NEITHER;
}

static int add_label(struct al_jr *r, const char *label)
{
    return al_jr_add_column(r, al_str_of(label), false) < 0 ? -1 : 0;
}

/* Each member's object is a row; its name is the first cell. */
static int read_records(struct al_jr *r, struct al_jr_outline *o, const struct looks *l)
{
    struct al_js_value key;
    bool named = !l->outer.counting || o->more_than_fits, more = true;
    r->kind = AL_JSON_OBJECT;
    r->kind_known = true;
    if (named && add_label(r, "key") < 0)
        return -1;
    al_js_back(&r->js, &o->mark);
    r->js.p++;
    for (bool first = true;; first = false) {
        if (al_js_member(&r->js, '}', first, &more) != AL_JS_OK)
            return al_jr_bad(r, 0);
        if (!more)
            return 0;
        uint64_t line = r->js.line;
        al_jr_begin(r);
        if (al_js_key(&r->js, &key) != AL_JS_OK)
            return al_jr_bad(r, 0);
        key.type = AL_JSON_STRING;
        if (named && al_jr_set(r, 0, &key) < 0)
            return -1;
        int s = al_jr_members(r, 1);
        if (s != AL_JS_OK)
            return s == AL_JR_FAILED ? -1 : al_jr_bad(r, line);
        if (al_jr_emit(r, r->n_columns, line) < 0)
            return -1;
    }
}

/* Row by row across the members' objects. */
static int read_cells(struct al_jr *r, struct al_jr_outline *o, const struct looks *l)
{
    struct al_js_value key, v;
    bool named = !l->inner.counting, more = true;
    if (named && add_label(r, "key") < 0)
        return -1;
    for (unsigned i = 0; i < o->n; i++) {
        autobuf struct al_buf text = AL_BUF_INIT(AL_JR_RECORD_MAX);
        if (al_jr_add_column(r, al_jr_key_of(r, o, &o->members[i], &text), false) < 0)
            return -1;
        o->members[i].value_at++; /* into the object */
    }
    for (uint64_t nth = 0; nth < l->inner.n; nth++) {
        uint64_t line = 0;
        al_jr_begin(r);
        for (unsigned i = 0; i < o->n; i++) {
            struct al_jr_member *m = &o->members[i];
            back_to(r, o, m);
            if (al_js_member(&r->js, '}', nth == 0, &more) != AL_JS_OK ||
                al_js_key(&r->js, &key) != AL_JS_OK || al_js_read(&r->js, 2, &v) != AL_JS_OK)
                return al_jr_bad(r, 0);
            key.type = AL_JSON_STRING;
            if ((named && i == 0 && al_jr_set(r, 0, &key) < 0) || al_jr_set(r, i + named, &v) < 0)
                return -1;
            line = i == 0 ? v.line : line;
            m->value_at = al_js_here(&r->js).at - o->mark.at;
            m->line = r->js.line;
            m->line_start = r->js.line_start;
        }
        if (al_jr_emit(r, r->n_columns, line) < 0)
            return -1;
    }
    return 0;
}

int al_jr_keyed(struct al_jr *r, struct al_jr_outline *o)
{
    struct looks l = {.same_set = true, .same_order = true, .along = true, .across = true};
    for (unsigned i = 0; i < o->n; i++) {
        const struct al_jr_member *m = &o->members[i];
        if (m->type != AL_JSON_OBJECT)
            return 0;
        add_name(&l.outer, (struct al_str){r->js.win.p + o->mark.at + m->key_at, m->key.raw.n});
        back_to(r, o, m);
        if (look_inside(r, &l) < 0)
            return -1;
    }
    enum shape shape = shape_of(&l);
    if (shape == NEITHER || (shape == COLUMNS && o->more_than_fits))
        return 0;
    bool named = shape == RECORDS ? !l.outer.counting || o->more_than_fits : !l.inner.counting;
    r->sink->note(r->sink->ud, AL_NOTE_WRAPPER, o->mark.line, "%s; %s",
                  shape == RECORDS ? "each object within the object is a row"
                                   : "each object within the object is a column",
                  named ? "the names of rows are the column key"
                        : "the names 0, 1, 2 … of rows are not kept");
    return (shape == RECORDS ? read_records(r, o, &l) : read_cells(r, o, &l)) < 0 ? -1 : 1;
}
