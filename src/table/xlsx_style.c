/* Number formats (18.8.30), and which of them a cell format names. */
#include "table/xlsx_int.h"

#include "base/mem.h"
#include "base/text.h"

#define PLAIN ((struct al_xlsx_style){AL_XLSX_NUMBER, -1})
#define FIXED(n) ((struct al_xlsx_style){AL_XLSX_NUMBER, (n)})
#define DATED(k) ((struct al_xlsx_style){(k), -1})
#define MAX_FORMATS 65536

/* ---- one format ---- */

struct scan {
    bool date, time, elapsed, other; /* other: %, E+, /: what is shown is not the number */
    bool pointed, open;              /* a point was there; digits behind it that may be missing (# ?) */
    int decimals;
};

/* [Red] [$-409] [>100] [h]. Index behind it. */
static size_t bracket(struct al_str c, size_t i, struct scan *s)
{
    size_t first = ++i;
    while (i < c.n && c.p[i] != ']')
        i++;
    struct al_str in = {c.p + first, i - first};
    bool same = in.n > 0;
    for (size_t k = 1; k < in.n; k++)
        same = same && (in.p[k] | 32) == (in.p[0] | 32);
    if (same && strchr("hms", in.p[0] | 32))
        s->elapsed = true;
    return i < c.n ? i + 1 : i;
}

/* Whether s stands at i, in any case. */
static bool word(struct al_str c, size_t i, const char *s)
{
    for (; *s; s++, i++)
        if (i >= c.n || (c.p[i] | 32) != *s)
            return false;
    return true;
}

static size_t letter(struct al_str c, size_t i, struct scan *s)
{
    if (word(c, i, "general"))
        return i + 7;
    if (word(c, i, "standard"))
        return i + 8;
    if (word(c, i, "am/pm"))
        return s->time = true, i + 5;
    if (word(c, i, "a/p"))
        return s->time = true, i + 3;
    char at = c.p[i];
    if ((at == 'E' || at == 'e') && i + 1 < c.n && (c.p[i + 1] == '+' || c.p[i + 1] == '-'))
        return s->other = true, i + 2;
    switch (at | 32) {
    case 'y':
    case 'd':
    case 'e': /* a year of an era */
        s->date = true;
        break;
    case 'h':
    case 's':
        s->time = true;
        break;
    case 'm': /* months or minutes, as the others are: alone, months */
        s->date = s->date || (!s->time && !s->elapsed);
        break;
    }
    return i + 1;
}

/* One section, up to ; or the end. */
static void section(struct al_str c, struct scan *s)
{
    for (size_t i = 0; i < c.n && c.p[i] != ';';) {
        char at = c.p[i];
        if (at == '"') {
            for (i++; i < c.n && c.p[i] != '"';)
                i++;
            i++;
        } else if (at == '\\' || at == '_' || at == '*') {
            i += 2;
        } else if (at == '[') {
            i = bracket(c, i, s);
        } else if ((at >= 'a' && at <= 'z') || (at >= 'A' && at <= 'Z')) {
            i = letter(c, i, s);
        } else {
            s->other = s->other || at == '%' || at == '/' || at == '@';
            s->open = s->open || (s->pointed && (at == '#' || at == '?'));
            s->decimals += s->pointed && at == '0';
            /* A comma behind all digits divides by a thousand; before a digit it only groups. */
            if (at == ',' && !(i + 1 < c.n && (c.p[i + 1] == '#' || c.p[i + 1] == '0' || c.p[i + 1] == '?')))
                s->other = true;
            s->pointed = s->pointed || at == '.';
            i++;
        }
    }
}

/* m before h is a month ("mm:ss" and "m" alone aside), so that minutes make no date of a time. */
static bool only_minutes(struct al_str c)
{
    struct scan s = {0};
    char kept[256];
    size_t n = 0;
    for (size_t i = 0; i < c.n && c.p[i] != ';' && n < sizeof kept; i++)
        if ((c.p[i] | 32) != 'm')
            kept[n++] = c.p[i];
    section((struct al_str){kept, n}, &s);
    return (s.time || s.elapsed) && !s.date;
}

struct al_xlsx_style al_xlsx_format(struct al_str code)
{
    struct scan s = {0};
    section(code, &s);
    if (!s.date && !s.time && !s.elapsed && code.n) {
        /* A first section without anything ("" for positive numbers, or a colour) is followed by others. */
        if (code.p[0] == ';')
            return PLAIN;
    }
    if (s.elapsed && !s.date)
        return DATED(AL_XLSX_ELAPSED);
    if (s.date || s.time || s.elapsed)
        return DATED(only_minutes(code) ? AL_XLSX_TIME : AL_XLSX_DATE);
    if (s.other || s.open || !s.pointed || !s.decimals || s.decimals > 15)
        return PLAIN;
    return FIXED((signed char)s.decimals);
}

struct al_xlsx_style al_xlsx_builtin(unsigned id)
{
    switch (id) {
    case 2: /* 0.00 */
    case 4: /* #,##0.00 */
    case 7: /* with currency */
    case 8:
    case 39: /* #,##0.00;(#,##0.00) */
    case 40:
    case 43:
    case 44:
        return FIXED(2);
    case 18: /* h:mm AM/PM */
    case 19:
    case 20:
    case 21:
    case 32: /* East Asian times */
    case 33:
    case 45: /* mm:ss */
    case 47:
        return DATED(AL_XLSX_TIME);
    case 46: /* [h]:mm:ss */
        return DATED(AL_XLSX_ELAPSED);
    }
    if ((id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58))
        return DATED(AL_XLSX_DATE);
    return PLAIN;
}

/* ---- styles.xml ---- */

struct custom {
    uint32_t id;
    struct al_xlsx_style style;
};

struct formats {
    struct custom *v;
    size_t n, cap;
};

static int number_format(struct al_xml *x, struct formats *f, struct al_err *err)
{
    autobuf struct al_buf code = AL_BUF_INIT(AL_XML_BUFFER);
    int64_t id = 0;
    struct al_str raw = al_xml_attr(x, "formatCode");
    if (!raw.p || !al_parse_int(al_xml_attr(x, "numFmtId"), 0, UINT32_MAX, &id))
        return 0;
    if (al_xml_text(x, raw, false, &code, err) < 0)
        return -1;
    if (f->n == MAX_FORMATS)
        return al_fail(err, AL_INGEST_LIMIT, "%s: more than %d number formats", x->part, MAX_FORMATS);
    if (f->n == f->cap) {
        f->cap = f->cap ? f->cap * 2 : 64;
        f->v = al_xrealloc(f->v, f->cap * sizeof *f->v);
    }
    f->v[f->n++] = (struct custom){(uint32_t)id, al_xlsx_format(al_buf_str(&code))};
    return 0;
}

static int custom_cmp(const void *a, const void *b)
{
    uint32_t x = ((const struct custom *)a)->id, y = ((const struct custom *)b)->id;
    return x < y ? -1 : x > y;
}

static struct al_xlsx_style style_of(const struct formats *f, uint32_t id)
{
    struct custom key = {id, PLAIN};
    const struct custom *c = f->n ? bsearch(&key, f->v, f->n, sizeof key, custom_cmp) : NULL;
    return c ? c->style : al_xlsx_builtin(id);
}

static int cell_format(struct al_xlsx *w, struct al_xml *x, uint32_t *ids, struct al_err *err)
{
    int64_t id = 0;
    if (w->n_styles == AL_XLSX_MAX_STYLES)
        return al_fail(err, AL_INGEST_LIMIT, "%s: more than %d cell formats", x->part, AL_XLSX_MAX_STYLES);
    struct al_str raw = al_xml_attr(x, "numFmtId");
    if (raw.p)
        (void)al_parse_int(raw, 0, UINT32_MAX, &id);
    ids[w->n_styles++] = (uint32_t)id;
    return 0;
}

static int read_styles(struct al_xlsx *w, struct al_xml *x, uint32_t *ids, struct formats *f,
                       struct al_err *err)
{
    bool in_cells = false, in_formats = false;
    for (;;) {
        if (al_xml_next(x, err) < 0)
            return -1;
        if (x->kind == AL_XML_EOF)
            return 0;
        bool open = x->kind == AL_XML_OPEN;
        if (!open && x->kind != AL_XML_CLOSE)
            continue;
        if (x->depth == (open ? 2u : 1u)) {
            in_cells = open && al_str_is(x->name, "cellXfs");
            in_formats = open && al_str_is(x->name, "numFmts");
        } else if (open && in_cells && x->depth == 3 && al_str_is(x->name, "xf")) {
            if (cell_format(w, x, ids, err) < 0)
                return -1;
        } else if (open && in_formats && x->depth == 3 && al_str_is(x->name, "numFmt")) {
            if (number_format(x, f, err) < 0)
                return -1;
        }
    }
}

int al_xlsx_styles(struct al_xlsx *w, struct al_err *err)
{
    if (!w->styles_part)
        return 0;
    struct al_xml *x = NULL;
    if (al_xml_open(w->zip, w->styles_part, w->sink, &x, err) < 0)
        return -1;
    struct formats f = {0};
    autofree uint32_t *ids = al_xmalloc(AL_XLSX_MAX_STYLES * sizeof *ids);
    int r = read_styles(w, x, ids, &f, err);
    al_xml_free(x);
    if (r == 0) {
        /* Formats stand before the cells' in a well-made part, but need not. */
        if (f.n)
            qsort(f.v, f.n, sizeof *f.v, custom_cmp);
        w->styles = al_xcalloc(w->n_styles + 1, sizeof *w->styles);
        for (size_t i = 0; i < w->n_styles; i++)
            w->styles[i] = style_of(&f, ids[i]);
    }
    free(f.v);
    return r;
}
