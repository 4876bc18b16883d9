/* The shared string table (18.4): all texts behind one another in one block, with their starts. */
#include "table/xlsx_int.h"

#include "base/mem.h"
#include "base/text.h"

struct table {
    struct al_buf text;
    uint32_t *start;
    size_t n, cap;
    uint64_t bad; /* strings with bytes that are no UTF-8 */
};

static int too_large(const struct al_xml *x, struct al_err *err)
{
    al_fail(err, AL_INGEST_LIMIT, "%s: the texts of the workbook take more than %zu MiB", x->part,
            AL_XLSX_MAX_STRINGS >> 20);
    return al_hint(err, "export the sheet as CSV, which is read at any size");
}

static int end_string(struct table *t, size_t from, const struct al_xml *x, struct al_err *err)
{
    if (al_buf_failed(&t->text) || (t->n + 2) * sizeof *t->start > AL_XLSX_MAX_STRINGS - t->text.n)
        return too_large(x, err);
    struct al_str s = {t->text.p + from, t->text.n - from};
    if (s.n > AL_TABLE_MAX_CELL)
        return al_fail(err, AL_INGEST_LIMIT, "%s: text %zu has more than 1 MiB", x->part, t->n + 1);
    if (s.n && !al_utf8_valid(s)) {
        autobuf struct al_buf clean = AL_BUF_INIT(AL_TABLE_MAX_CELL * 4);
        al_utf8_clean(&clean, s);
        t->text.n = from;
        al_buf_add_str(&t->text, al_buf_str(&clean));
        t->bad++;
        if (al_buf_failed(&t->text))
            return too_large(x, err);
    }
    if (t->n + 2 > t->cap) {
        t->cap = t->cap ? t->cap * 2 : 1024;
        t->start = al_xrealloc(t->start, t->cap * sizeof *t->start);
    }
    t->start[t->n++] = (uint32_t)from;
    return 0;
}

/* A <t>: its text, with _xHHHH_ undone. */
static int add_text(struct table *t, struct al_xml *x, struct al_err *err)
{
    size_t from = t->text.n;
    if (al_xml_content(x, &t->text, err) < 0)
        return -1;
    if (al_buf_failed(&t->text))
        return too_large(x, err);
    if (t->text.n > from)
        t->text.n = from + al_xlsx_unescape(t->text.p + from, t->text.n - from);
    return 0;
}

/* Of an <si>: all its runs, and nothing of what says how to pronounce it (<rPh>). */
static int string_item(struct table *t, struct al_xml *x, struct al_err *err)
{
    size_t from = t->text.n;
    unsigned depth = x->depth;
    for (;;) {
        if (al_xml_next(x, err) < 0)
            return -1;
        if (x->kind == AL_XML_CLOSE && x->depth < depth)
            return end_string(t, from, x, err);
        if (x->kind != AL_XML_OPEN)
            continue;
        int r = 0;
        if (al_str_is(x->name, "t"))
            r = add_text(t, x, err);
        else if (al_str_is(x->name, "rPh"))
            r = al_xml_skip(x, err);
        if (r < 0)
            return -1;
    }
}

/* <si><t>…</t></si> as nearly all are, whole in the buffer: one look at each byte. False: not so, nothing was
 * taken. */
static bool plain_item(struct table *t, struct al_xml *x, struct al_err *err, int *ret)
{
    const char *p = x->buf + x->pos, *end = x->buf + x->end;
    static const char open[] = "<si><t>", close[] = "</t></si>";
    if (end - p < 32 || memcmp(p, open, sizeof open - 1) != 0)
        return false;
    p += sizeof open - 1;
    const char *stop = memchr(p, '<', (size_t)(end - p));
    if (!stop || (size_t)(end - stop) < sizeof close - 1 || memcmp(stop, close, sizeof close - 1) != 0)
        return false;
    size_t n = (size_t)(stop - p);
    for (size_t i = 0; i < n; i++)
        if (p[i] == '&' || p[i] == '\r' || (p[i] == '_' && p[i + 1] == 'x'))
            return false;
    size_t from = t->text.n;
    al_buf_add(&t->text, p, n);
    x->pos = (size_t)(stop - x->buf) + sizeof close - 1;
    *ret = end_string(t, from, x, err);
    return true;
}

static int read_table(struct table *t, struct al_xml *x, struct al_err *err)
{
    int r = 0;
    for (;;) {
        while (x->depth == 1 && !x->empty && !x->in_cdata && plain_item(t, x, err, &r))
            if (r < 0)
                return -1;
        if (al_xml_next(x, err) < 0)
            return -1;
        if (x->kind == AL_XML_EOF)
            return 0;
        if (x->kind == AL_XML_OPEN && x->depth == 2 && al_str_is(x->name, "si") && string_item(t, x, err) < 0)
            return -1;
    }
}

int al_xlsx_strings(struct al_xlsx *w, struct al_err *err)
{
    if (!w->strings_part)
        return 0;
    struct al_xml *x = NULL;
    if (al_xml_open(w->zip, w->strings_part, w->sink, &x, err) < 0)
        return -1;
    struct table t = {.text = AL_BUF_INIT(AL_XLSX_MAX_STRINGS)};
    al_buf_grow(&t.text, 0); /* so that it has a place from the start */
    int r = read_table(&t, x, err);
    if (r < 0) {
        al_buf_free(&t.text);
        free(t.start);
    } else {
        if (!t.start)
            t.start = al_xmalloc(sizeof *t.start);
        t.start[t.n] = (uint32_t)t.text.n;
        w->strings = (struct al_xlsx_strings){al_buf_take(&t.text), t.start, t.n};
        if (t.bad)
            w->sink->note(w->sink->ud, AL_NOTE_INVALID_BYTES, 0,
                          "%llu shared texts have bytes that are no UTF-8", (unsigned long long)t.bad);
    }
    al_xml_free(x);
    return r;
}
