#include "table/jsonrows_outline.h"

#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>

#define STREAM_FROM \
    ((size_t)16 << 20)              /* a longer object is not held whole when its rows can be told already */
#define HOLD_MAX ((size_t)64 << 20) /* of an object whose rows lie across it */

static size_t here(const struct al_jr *r, const struct al_jr_outline *o)
{
    return al_js_here(&r->js).at - o->mark.at;
}

static const char *text_at(const struct al_jr *r, const struct al_jr_outline *o, size_t at)
{
    return r->js.win.p + o->mark.at + at;
}

static enum al_js_result scan_array(struct al_jr *r, struct al_jr_member *m)
{
    struct al_js_value v;
    bool more = true;
    m->count = 0;
    for (r->js.p++;; m->count++) {
        enum al_js_result s = al_js_member(&r->js, ']', m->count == 0, &more);
        if (s != AL_JS_OK || !more)
            return s;
        if (m->count == 0) {
            m->first = *r->js.p == '{' ? AL_JSON_OBJECT : *r->js.p == '[' ? AL_JSON_ARRAY : AL_JSON_STRING;
        }
        if ((s = al_js_read(&r->js, 2, &v)) != AL_JS_OK)
            return s;
    }
}

/* Passes over the whole object and remembers its members. The last one is open when the window ends inside
 * it. */
static enum al_js_result scan(struct al_jr *r, struct al_jr_outline *o)
{
    struct al_jr_member spare;
    bool more = true;
    o->n = 0;
    o->more_than_fits = false;
    r->js.p++;
    for (bool first = true;; first = false) {
        enum al_js_result s = al_js_member(&r->js, '}', first, &more);
        if (s != AL_JS_OK)
            return s;
        if (!more)
            return AL_JS_OK;
        o->more_than_fits = o->n == AL_TABLE_MAX_COLUMNS;
        struct al_jr_member *m = o->more_than_fits ? &spare : &o->members[o->n];
        *m = (struct al_jr_member){0};
        if ((s = al_js_key(&r->js, &m->key)) != AL_JS_OK)
            return s;
        m->key_at = (size_t)(m->key.raw.p - text_at(r, o, 0));
        m->value_at = here(r, o);
        m->line = r->js.line;
        m->line_start = r->js.line_start;
        m->type = *r->js.p == '[' ? AL_JSON_ARRAY : *r->js.p == '{' ? AL_JSON_OBJECT : AL_JSON_STRING;
        o->n += !o->more_than_fits;
        struct al_js_value v;
        s = m->type == AL_JSON_ARRAY ? scan_array(r, m) : al_js_read(&r->js, 1, &v);
        if (s != AL_JS_OK)
            return s;
        m->end_at = here(r, o);
    }
}

static bool is_list(const struct al_jr_member *m)
{
    return m->type == AL_JSON_ARRAY && m->count > 0 && m->first == AL_JSON_OBJECT;
}

struct al_str al_jr_key_of(const struct al_jr *r, const struct al_jr_outline *o, const struct al_jr_member *m,
                           struct al_buf *out)
{
    struct al_str raw = {text_at(r, o, m->key_at), m->key.raw.n};
    if (!m->key.escaped)
        return raw;
    bool lone = false;
    char *p = al_buf_grow(out, raw.n);
    return p ? (struct al_str){p, al_js_decode(raw, p, &lone)} : raw;
}

/* The rows of a table that is written as lists of lists stand under one of these names. */
static bool is_rows_name(const struct al_jr *r, const struct al_jr_outline *o, const struct al_jr_member *m)
{
    static const char *const names[] = {"data", "rows", "values", "records",  "results", "items", "value",
                                        "hits", "docs", "list",   "features", "entries", "result"};
    struct al_str key = {text_at(r, o, m->key_at), m->key.raw.n};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (al_str_is(key, names[i]))
            return true;
    }
    return false;
}

/* The longest list of objects, the first of several; else of lists. NULL: none. */
static const struct al_jr_member *find_rows(const struct al_jr *r, const struct al_jr_outline *o)
{
    const struct al_jr_member *best = NULL;
    for (unsigned i = 0; i < o->n; i++) {
        const struct al_jr_member *m = &o->members[i];
        if (is_list(m) && (!best || m->count > best->count))
            best = m;
    }
    for (unsigned i = 0; i < o->n && !best; i++) {
        const struct al_jr_member *m = &o->members[i];
        if (m->type == AL_JSON_ARRAY && m->count > 0 && m->first == AL_JSON_ARRAY && is_rows_name(r, o, m))
            best = m;
    }
    return best;
}

static bool is_labels_name(struct al_str key)
{
    static const char *const names[] = {"columns", "header", "headers", "fields", "names"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (al_str_is(key, names[i]))
            return true;
    }
    return false;
}

/* Whether a member may be labels for rows that are lists. */
static bool has_labels(const struct al_jr *r, const struct al_jr_outline *o)
{
    for (unsigned i = 0; i < o->n; i++) {
        const struct al_jr_member *m = &o->members[i];
        if (m->type == AL_JSON_ARRAY && m->count > 0 && m->first == AL_JSON_STRING &&
            is_labels_name((struct al_str){text_at(r, o, m->key_at), m->key.raw.n}))
            return true;
    }
    return false;
}

/* Every member is an array, all are of one length, and they are columns rather than one list of rows. */
static bool is_columns(const struct al_jr *r, const struct al_jr_outline *o)
{
    bool plain = false, list = false, rows = false;
    if (o->n == 0 || o->more_than_fits)
        return false;
    for (unsigned i = 0; i < o->n; i++) {
        const struct al_jr_member *m = &o->members[i];
        if (m->type != AL_JSON_ARRAY || m->count != o->members[0].count)
            return false;
        list |= is_list(m);
        plain |= !is_list(m);
        rows |= m->count > 0 && m->first == AL_JSON_ARRAY && is_rows_name(r, o, m);
    }
    if (rows && (o->n == 1 || has_labels(r, o)))
        return false;
    return !list || (plain && o->members[0].count >= 2);
}

static int column_row(struct al_jr *r, struct al_jr_outline *o, uint64_t nth)
{
    uint64_t line = 0;
    al_jr_begin(r);
    for (unsigned i = 0; i < o->n; i++) {
        struct al_jr_member *m = &o->members[i];
        struct al_js_mark at = {o->mark.at + m->value_at, m->line, m->line_start};
        struct al_js_value v = {0};
        bool more = true;
        al_js_back(&r->js, &at);
        if (al_js_member(&r->js, ']', nth == 0, &more) != AL_JS_OK || al_js_read(&r->js, 2, &v) != AL_JS_OK)
            return al_jr_bad(r, 0);
        if (al_jr_set(r, i, &v) < 0)
            return -1;
        line = i == 0 ? v.line : line;
        m->value_at = here(r, o);
        m->line = r->js.line;
        m->line_start = r->js.line_start;
    }
    return al_jr_emit(r, o->n, line);
}

/* Row by row across the columns, which all lie in the window. */
static int read_columns(struct al_jr *r, struct al_jr_outline *o)
{
    struct al_js_mark behind = al_js_here(&r->js);
    uint64_t rows = o->members[0].count;
    for (unsigned i = 0; i < o->n; i++) {
        struct al_jr_member *m = &o->members[i];
        autobuf struct al_buf text = AL_BUF_INIT(AL_JR_RECORD_MAX);
        struct al_str key = al_jr_key_of(r, o, m, &text);
        bool again = false;
        for (unsigned k = 0; k < i && !again; k++)
            again = r->columns[k].n == key.n && memcmp(r->columns[k].key, key.p, key.n) == 0;
        if (again) {
            r->sink->note(r->sink->ud, AL_NOTE_DUPLICATE_KEYS, m->line,
                          "the name of a column stands more than once: each has a column of its own");
        }
        if (al_jr_add_column(r, key, false) < 0)
            return -1;
        m->value_at++; /* into the array */
    }
    for (uint64_t i = 0; i < rows; i++) {
        if (column_row(r, o, i) < 0)
            return -1;
    }
    al_js_back(&r->js, &behind);
    return al_jr_finish(r);
}

/* "name" (12), of a list or object how large it is. For the note on what stands beside the rows. */
static void tell(struct al_buf *out, struct al_str key, struct al_str value, enum al_json_type type)
{
    struct al_buf piece = AL_BUF_INIT(1024);
    al_buf_adds(&piece, out->n ? ", \"" : "\"");
    al_text_visible(&piece, al_utf8_cut(key, 60), false);
    al_buf_adds(&piece, "\" (");
    if (type == AL_JSON_ARRAY)
        al_buf_adds(&piece, "an array");
    else if (type == AL_JSON_OBJECT)
        al_buf_adds(&piece, "an object");
    else
        al_text_visible(&piece, al_utf8_cut(value, 60), false);
    al_buf_addc(&piece, ')');
    if (out->n + piece.n + 8 < out->max)
        al_buf_add_str(out, al_buf_str(&piece));
    else if (!al_str_ends(al_buf_str(out), "…"))
        al_buf_adds(out, ", …");
    al_buf_free(&piece);
}

static void tell_others(const struct al_jr *r, const struct al_jr_outline *o, const struct al_jr_member *rows,
                        struct al_buf *out)
{
    for (unsigned i = 0; i < o->n; i++) {
        const struct al_jr_member *m = &o->members[i];
        autobuf struct al_buf text = AL_BUF_INIT(AL_JR_RECORD_MAX);
        if (m == rows)
            continue;
        struct al_str value = {text_at(r, o, m->value_at), m->end_at - m->value_at};
        tell(out, al_jr_key_of(r, o, m, &text), value, m->type);
    }
}

/* Labels for rows that are lists: a member "columns" (or so) with as many strings as the rows are wide. */
static int take_labels(struct al_jr *r, const struct al_jr_outline *o, const struct al_jr_member *rows)
{
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)4 << 20);
    for (unsigned i = 0; i < o->n; i++) {
        const struct al_jr_member *m = &o->members[i];
        struct al_str key = {text_at(r, o, m->key_at), m->key.raw.n};
        struct al_str value = {text_at(r, o, m->value_at), m->end_at - m->value_at};
        const struct al_json *v = NULL;
        bool strings = true;
        if (!is_labels_name(key) || m == rows || m->type != AL_JSON_ARRAY ||
            al_json_parse(&a, value, &v, NULL) < 0)
            continue;
        al_json_each(it, v) strings &= it->type == AL_JSON_STRING;
        if (!strings || v->n == 0 || v->n > AL_TABLE_MAX_COLUMNS)
            continue;
        al_json_each(it, v)
        {
            if (al_jr_add_place(r, it->str) < 0)
                return -1;
        }
        return 0;
    }
    return 0;
}

/* A value that is not wanted; an array's elements go one by one, so that it may be of any size. */
static int skip_value(struct al_jr *r)
{
    struct al_js_value v;
    bool array = *r->js.p == '[', more = true;
    r->js.p += array;
    for (bool first = true; more; first = false) {
        if (array && (al_jr_member(r, ']', first, &more) < 0))
            return -1;
        if (!more)
            break;
        struct al_js_mark mark = al_js_here(&r->js);
        enum al_js_result s;
        while ((s = al_js_read(&r->js, 2, &v)) == AL_JS_MORE) {
            if (al_js_refill(&r->js, &mark, HOLD_MAX, "a value beside the rows", r->err) < 0)
                return -1;
        }
        if (s != AL_JS_OK)
            return al_jr_bad(r, 0);
        more = array;
    }
    return 0;
}

/* What stands behind the rows, to the object's end. tell_them: nobody has seen it yet. */
static int skip_rest(struct al_jr *r, bool tell_them, struct al_buf *others)
{
    bool more = true;
    for (;;) {
        if (al_jr_member(r, '}', false, &more) < 0)
            return -1;
        if (!more)
            return 0;
        struct al_js_mark mark = al_js_here(&r->js);
        struct al_js_value key;
        enum al_js_result s;
        while ((s = al_js_key(&r->js, &key)) == AL_JS_MORE) {
            if (al_js_refill(&r->js, &mark, AL_JR_RECORD_MAX, "a name", r->err) < 0)
                return -1;
        }
        if (s != AL_JS_OK)
            return al_jr_bad(r, 0);
        char c = *r->js.p;
        if (tell_them) {
            enum al_json_type type = c == '[' ? AL_JSON_ARRAY : c == '{' ? AL_JSON_OBJECT : AL_JSON_STRING;
            tell(others, key.raw, AL_STR("a value"), type);
        }
        if (skip_value(r) < 0)
            return -1;
    }
}

static int read_wrapped(struct al_jr *r, const struct al_jr_outline *o, const struct al_jr_member *rows)
{
    autobuf struct al_buf others = AL_BUF_INIT(600), name = AL_BUF_INIT(1024),
                          text = AL_BUF_INIT(AL_JR_RECORD_MAX);
    al_text_visible(&name, al_utf8_cut(al_jr_key_of(r, o, rows, &text), 60), false);
    tell_others(r, o, rows, &others);
    if (rows->first == AL_JSON_ARRAY && take_labels(r, o, rows) < 0)
        return -1;
    struct al_js_mark at = {o->mark.at + rows->value_at, rows->line, rows->line_start};
    uint64_t line = rows->line;
    al_js_back(&r->js, &at);
    if (al_jr_array(r, 1) < 0 || skip_rest(r, !o->complete, &others) < 0)
        return -1;
    r->sink->note(r->sink->ud, AL_NOTE_WRAPPER, line, "the rows are those under \"%.*s\"; beside it %s%.*s",
                  AL_FMT(al_buf_str(&name)), others.n ? "stand, not in the table: " : "stands nothing",
                  AL_FMT(al_buf_str(&others)));
    return 0;
}

/* Reads on until the object is complete, or its rows are known and it is too long to hold. 0, or -1. */
static int outline(struct al_jr *r, struct al_jr_outline *o, bool *ret_lines)
{
    o->mark = al_js_here(&r->js);
    for (;;) {
        enum al_js_result s = scan(r, o);
        struct al_js_mark end = al_js_here(&r->js);
        int c = s == AL_JS_OK ? al_js_peek(&r->js) : AL_JS_PEEK_MORE;
        if (s == AL_JS_BAD)
            return al_jr_bad(r, 0);
        if (c != AL_JS_PEEK_MORE) {
            if (c >= 0 && c != '{') {
                al_js_bad(&r->js, r->js.p, "unexpected text after the value");
                return al_jr_bad(r, 0);
            }
            o->complete = true;
            *ret_lines = c == '{';
            al_js_back(&r->js, &end);
            return 0;
        }
        bool known = s == AL_JS_MORE && o->n > 0 && is_list(&o->members[o->n - 1]);
        if (known && r->js.win.n - o->mark.at >= STREAM_FROM)
            return 0;
        if (al_js_refill(&r->js, &o->mark, HOLD_MAX, "one object", r->err) < 0)
            return -1;
    }
}

/* The outline of an object within the document's, all of which lies in the window. */
static int inner_outline(struct al_jr *r, const struct al_jr_outline *o, const struct al_jr_member *m,
                         struct al_jr_outline *ret)
{
    struct al_js_mark at = {o->mark.at + m->value_at, m->line, m->line_start};
    ret->mark = at;
    al_js_back(&r->js, &at);
    if (scan(r, ret) != AL_JS_OK)
        return al_jr_bad(r, 0);
    ret->complete = true;
    return 0;
}

/*
 * {"response": {"data": […]}}: rows one object deeper. Taken when only one member has any, and their name
 * says that they are rows, or no other member is an object. NULL: none. ret is that member's outline.
 */
static int find_deeper(struct al_jr *r, const struct al_jr_outline *o, struct al_jr_outline *ret,
                       const struct al_jr_member **ret_outer, const struct al_jr_member **ret_rows)
{
    autofree struct al_jr_outline *in = al_xcalloc(1, sizeof *in);
    unsigned objects = 0, found = 0;
    *ret_outer = *ret_rows = NULL;
    for (unsigned i = 0; i < o->n && !o->more_than_fits && found < 2; i++) {
        const struct al_jr_member *m = &o->members[i], *rows;
        if (m->type != AL_JSON_OBJECT)
            continue;
        objects++;
        if (inner_outline(r, o, m, in) < 0)
            return -1;
        if (in->more_than_fits || is_columns(r, in) || !(rows = find_rows(r, in)))
            continue;
        found++;
        *ret = *in;
        *ret_outer = m;
        *ret_rows = &ret->members[rows - in->members];
    }
    if (found != 1 || (objects > 1 && !is_rows_name(r, ret, *ret_rows)))
        *ret_outer = *ret_rows = NULL;
    return 0;
}

/* What is to be read of a document that is one object, all of which lies in the window. 1: it was; 0: nothing
 * was. */
static int read_inside(struct al_jr *r, struct al_jr_outline *o)
{
    struct al_js_mark behind = al_js_here(&r->js);
    autofree struct al_jr_outline *in = al_xcalloc(1, sizeof *in);
    const struct al_jr_member *outer = NULL, *rows = NULL;
    if (find_deeper(r, o, in, &outer, &rows) < 0)
        return -1;
    if (rows) {
        autobuf struct al_buf others = AL_BUF_INIT(600), name = AL_BUF_INIT(1024),
                              text = AL_BUF_INIT(AL_JR_RECORD_MAX);
        al_text_visible(&name, al_utf8_cut(al_jr_key_of(r, o, outer, &text), 60), false);
        tell_others(r, o, outer, &others);
        r->sink->note(r->sink->ud, AL_NOTE_WRAPPER, outer->line,
                      "the rows are inside of \"%.*s\"; beside it %s%.*s", AL_FMT(al_buf_str(&name)),
                      others.n ? "stand, not in the table: " : "stands nothing", AL_FMT(al_buf_str(&others)));
        if (read_wrapped(r, in, rows) < 0)
            return -1;
    } else {
        int got = al_jr_keyed(r, o);
        if (got <= 0)
            return got;
    }
    al_js_back(&r->js, &behind);
    return 1;
}

int al_jr_object(struct al_jr *r, bool *ret_lines)
{
    autofree struct al_jr_outline *o = al_xcalloc(1, sizeof *o);
    if (outline(r, o, ret_lines) < 0)
        return -1;
    if (!o->complete)
        return read_wrapped(r, o, &o->members[o->n - 1]);
    if (!*ret_lines) {
        const struct al_jr_member *rows = NULL;
        if (is_columns(r, o))
            return read_columns(r, o);
        if (!o->more_than_fits && (rows = find_rows(r, o)))
            return read_wrapped(r, o, rows);
        int got = read_inside(r, o);
        if (got != 0)
            return got < 0 ? -1 : 0;
    }
    al_js_back(&r->js, &o->mark);
    return *ret_lines ? 0 : al_jr_record(r, 0);
}
