#include "table/xlsx_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

#define RAW_SIZE ((size_t)32 << 10)

int al_xml_open(struct al_zip *z, const struct al_zip_entry *e, const struct al_table_sink *sink,
                struct al_xml **ret, struct al_err *err)
{
    struct al_unzip *in = NULL;
    if (al_unzip_open(z, e, &in, err) < 0)
        return -1;
    struct al_xml *x = al_xcalloc(1, sizeof *x);
    x->in = in;
    x->zip = z;
    x->sink = sink;
    autobuf struct al_buf shown = AL_BUF_INIT(1024);
    struct al_str name = {e->name.p, e->name.n > 100 ? 100 : e->name.n};
    al_text_visible(&shown, name, false);
    snprintf(x->part, sizeof x->part, "%.*s", AL_FMT(al_utf8_cut(al_buf_str(&shown), 150)));
    x->buf = al_xcalloc(1, AL_XML_BUFFER + AL_XML_SLACK);
    *ret = x;
    return 0;
}

void al_xml_free(struct al_xml *x)
{
    if (!x)
        return;
    al_unzip_free(x->in);
    free(x->buf);
    free(x->raw);
    free(x);
}

int al_xml_broken(const struct al_xml *x, struct al_err *err, const char *what)
{
    return al_fail(err, AL_INGEST_INVALID, "%s, byte %llu: %s", x->part,
                   (unsigned long long)(x->base + x->pos + 1), what);
}

/* ---- bytes ---- */

static uint32_t unit_at(const struct al_xml *x, size_t i)
{
    const unsigned char *p = x->raw + i;
    return x->utf16 == 1 ? (uint32_t)(p[0] | p[1] << 8) : (uint32_t)(p[0] << 8 | p[1]);
}

/* As much of the UTF-16 in raw as there is room for. */
static void from_utf16(struct al_xml *x, bool last)
{
    size_t i = 0;
    while (i + 2 <= x->n_raw && x->end + 4 <= AL_XML_BUFFER) {
        uint32_t u = unit_at(x, i);
        if (u >= 0xd800 && u < 0xdc00) {
            if (i + 4 > x->n_raw && !last)
                break;
            uint32_t low = i + 4 <= x->n_raw ? unit_at(x, i + 2) : 0;
            if (low >= 0xdc00 && low < 0xe000) {
                u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
                i += 2;
            } else {
                u = 0xfffd;
            }
        } else if (u >= 0xdc00 && u < 0xe000) {
            u = 0xfffd;
        }
        i += 2;
        x->end += al_utf8_encode(u, x->buf + x->end);
    }
    memmove(x->raw, x->raw + i, x->n_raw - i);
    x->n_raw -= i;
}

static int read_utf16(struct al_xml *x, struct al_err *err)
{
    size_t before = x->end;
    from_utf16(x, false);
    while (x->end == before) {
        /* What is left of raw is less than a character, for the buffer has room for one. */
        size_t got = 0;
        if (al_unzip_next(x->in, (char *)x->raw + x->n_raw, RAW_SIZE, &got, err) < 0)
            return -1;
        x->n_raw += got;
        from_utf16(x, got == 0);
        if (!got && x->end == before) {
            x->eof = true;
            break;
        }
    }
    return 0;
}

static int read_bytes(struct al_xml *x, struct al_err *err)
{
    if (x->utf16)
        return read_utf16(x, err);
    size_t got = 0;
    if (al_unzip_next(x->in, x->buf + x->end, AL_XML_BUFFER - x->end, &got, err) < 0)
        return -1;
    x->end += got;
    x->eof = got == 0;
    return 0;
}

int al_xml_more(struct al_xml *x, struct al_err *err)
{
    if (x->eof)
        return 0;
    if (x->pos) {
        memmove(x->buf, x->buf + x->pos, x->end - x->pos);
        x->base += x->pos;
        x->end -= x->pos;
        x->pos = 0;
    }
    if (x->end + 4 > AL_XML_BUFFER)
        return al_fail(err, AL_INGEST_LIMIT, "%s, byte %llu: one tag of more than %zu bytes", x->part,
                       (unsigned long long)(x->base + 1), AL_XML_BUFFER);
    if (read_bytes(x, err) < 0)
        return -1;
    memset(x->buf + x->end, 0, AL_XML_SLACK);
    if (x->sink && x->sink->progress(x->sink->ud, al_zip_read(x->zip), err) < 0)
        return -1;
    return !x->eof;
}

/* At least n bytes at pos, or all there are. */
static int want(struct al_xml *x, size_t n, struct al_err *err)
{
    while (x->end - x->pos < n) {
        int r = al_xml_more(x, err);
        if (r <= 0)
            return r;
    }
    return 1;
}

/* The declaration's encoding counts only where it says something else than the bytes. */
static int check_encoding(struct al_xml *x, struct al_err *err)
{
    struct al_str head = {x->buf + x->pos, x->end - x->pos > 200 ? 200 : x->end - x->pos};
    if (x->utf16 || !al_str_starts(head, "<?xml"))
        return 0;
    ptrdiff_t end = al_str_find(head, AL_STR("?>"));
    if (end < 0)
        return 0;
    head.n = (size_t)end;
    ptrdiff_t at = al_str_find(head, AL_STR("encoding"));
    if (at < 0)
        return 0;
    static const char *const ok[] = {"utf-8", "utf8", "us-ascii", "ascii"};
    char name[16] = "";
    size_t n = 0;
    for (size_t i = (size_t)at + 8; i < head.n && n < sizeof name - 1; i++) {
        char c = head.p[i];
        if (c == '=' || c == ' ' || ((c == '"' || c == '\'') && !n))
            continue;
        if (c == '"' || c == '\'')
            break;
        name[n++] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    for (size_t i = 0; i < sizeof ok / sizeof *ok; i++)
        if (strcmp(name, ok[i]) == 0)
            return 0;
    return al_fail(err, AL_DATASET_UNSUPPORTED,
                   "%s is in the encoding %s; a workbook's parts are UTF-8 or UTF-16", x->part, name);
}

static int start(struct al_xml *x, struct al_err *err)
{
    x->started = true;
    if (want(x, 200, err) < 0)
        return -1;
    const unsigned char *p = (const unsigned char *)x->buf;
    size_t n = x->end, mark = 0;
    if (n >= 2 && p[0] == 0xff && p[1] == 0xfe)
        x->utf16 = 1, mark = 2;
    else if (n >= 2 && p[0] == 0xfe && p[1] == 0xff)
        x->utf16 = 2, mark = 2;
    else if (n >= 2 && p[0] == '<' && p[1] == 0)
        x->utf16 = 1;
    else if (n >= 2 && p[0] == 0 && p[1] == '<')
        x->utf16 = 2;
    else if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        x->pos = 3;
    if (x->utf16) {
        x->raw = al_xmalloc(AL_XML_BUFFER + RAW_SIZE);
        x->n_raw = n - mark;
        memcpy(x->raw, x->buf + mark, x->n_raw);
        x->end = 0;
        from_utf16(x, false);
        memset(x->buf + x->end, 0, AL_XML_SLACK);
    }
    return check_encoding(x, err);
}

/* ---- tokens ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' ||
           c == '_' || c == '-' || c == '.' || (unsigned char)c >= 0x80;
}

static struct al_str local(const char *p, const char *end)
{
    const char *colon = memchr(p, ':', (size_t)(end - p));
    if (colon)
        p = colon + 1;
    return (struct al_str){p, (size_t)(end - p)};
}

static uint32_t hash(const char *p, const char *end)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    while (p < end)
        h = (h ^ (unsigned char)*p++) * 16777619u;
    return h;
}

/* Past the next end mark. */
static int skip_past(struct al_xml *x, const char *mark, struct al_err *err)
{
    size_t n = strlen(mark);
    for (;;) {
        const char *at = memmem(x->buf + x->pos, x->end - x->pos, mark, n);
        if (at) {
            x->pos = (size_t)(at - x->buf) + n;
            return 0;
        }
        if (x->end - x->pos >= n)
            x->pos = x->end - n + 1;
        int r = al_xml_more(x, err);
        if (r < 0)
            return -1;
        if (r == 0)
            return al_xml_broken(x, err, "the part ends in the middle of a comment or an instruction");
    }
}

/* A piece of text up to stop; what may belong to the next piece (an entity, a CR, an end mark) stays
 * together. */
static int text_piece(struct al_xml *x, const char *stop, struct al_err *err)
{
    size_t n = strlen(stop);
    for (;;) {
        const char *from = x->buf + x->pos, *at = memmem(from, x->end - x->pos, stop, n);
        size_t len = at ? (size_t)(at - from) : x->end - x->pos;
        if (!at && !x->eof && len < AL_XML_BUFFER / 2) {
            if (al_xml_more(x, err) < 0)
                return -1;
            continue;
        }
        if (!at && !x->eof) {
            size_t cut = len - 16;
            for (size_t i = len; i-- > cut;)
                if (from[i] == '&' || from[i] == '\r' || from[i] == ']')
                    len = i;
        }
        x->kind = AL_XML_TEXT;
        x->text = (struct al_str){from, len};
        x->pos += len;
        if (at && n > 1) {
            x->pos += n;
            x->in_cdata = false;
        }
        return 0;
    }
}

static int close_tag(struct al_xml *x, const char *p, struct al_err *err)
{
    const char *name = p, *end = x->buf + x->end;
    while (p < end && is_name(*p))
        p++;
    const char *name_end = p;
    while (p < end && is_space(*p))
        p++;
    if (p == end)
        return 0;
    if (*p != '>' || name == name_end)
        return al_xml_broken(x, err, "no XML: a closing tag is not well formed");
    if (!x->depth || x->stack[x->depth - 1] != hash(name, name_end))
        return al_xml_broken(x, err, "no XML: a closing tag without its opening one");
    x->depth--;
    x->rooted = x->depth == 0;
    x->kind = AL_XML_CLOSE;
    x->name = local(name, name_end);
    x->pos = (size_t)(p + 1 - x->buf);
    return 1;
}

/* From behind the name. 1, 0 when the buffer ends within, -1. */
static int attributes(struct al_xml *x, const char **ret, struct al_err *err)
{
    const char *p = *ret, *end = x->buf + x->end;
    x->n_attrs = 0;
    for (;;) {
        const char *before = p;
        while (p < end && is_space(*p))
            p++;
        if (p == end)
            return 0;
        if (*p == '>' || *p == '/')
            break;
        const char *name = p;
        while (p < end && is_name(*p))
            p++;
        const char *name_end = p;
        while (p < end && is_space(*p))
            p++;
        if (p == end)
            return 0;
        if (*p++ != '=' || name == name_end || before == name)
            return al_xml_broken(x, err, "no XML: an attribute is not well formed");
        while (p < end && is_space(*p))
            p++;
        if (p == end)
            return 0;
        char quote = *p++;
        if (quote != '"' && quote != '\'')
            return al_xml_broken(x, err, "no XML: an attribute's value is not in quotes");
        const char *value = p;
        p = memchr(p, quote, (size_t)(end - p));
        if (!p)
            return 0;
        if (x->n_attrs == AL_XML_ATTRS)
            return al_fail(err, AL_INGEST_LIMIT, "%s: an element of more than %d attributes", x->part,
                           AL_XML_ATTRS);
        x->attr[x->n_attrs++] = (struct al_xml_attr){local(name, name_end), {value, (size_t)(p - value)}};
        p++;
    }
    *ret = p;
    return 1;
}

static int open_tag(struct al_xml *x, const char *p, struct al_err *err)
{
    const char *name = p, *end = x->buf + x->end;
    while (p < end && is_name(*p))
        p++;
    if (p == end)
        return 0;
    const char *name_end = p;
    if (name == name_end)
        return al_xml_broken(x, err, "no XML: a tag without a name");
    int r = attributes(x, &p, err);
    if (r <= 0)
        return r;
    x->empty = *p == '/';
    if (x->empty && ++p == end)
        return 0;
    if (*p != '>')
        return al_xml_broken(x, err, "no XML: a tag is not well formed");
    if (x->rooted)
        return al_xml_broken(x, err, "no XML: more than one root element");
    if (x->depth == AL_XML_DEPTH)
        return al_fail(err, AL_INGEST_LIMIT, "%s: elements nested deeper than %d", x->part, AL_XML_DEPTH);
    x->stack[x->depth++] = hash(name, name_end);
    x->kind = AL_XML_OPEN;
    x->name = local(name, name_end);
    x->pos = (size_t)(p + 1 - x->buf);
    return 1;
}

/* What begins with <! or <?. 1: a token came of it, 0: go on. */
static int declaration(struct al_xml *x, struct al_err *err)
{
    if (want(x, 9, err) < 0)
        return -1;
    struct al_str s = {x->buf + x->pos, x->end - x->pos};
    if (al_str_starts(s, "<?"))
        return skip_past(x, "?>", err);
    if (al_str_starts(s, "<!--")) {
        x->pos += 4;
        return skip_past(x, "-->", err);
    }
    if (al_str_starts(s, "<![CDATA[") && x->depth) {
        x->pos += 9;
        x->in_cdata = true;
        return 0;
    }
    al_xml_broken(x, err, "a DOCTYPE or another declaration, which no workbook has");
    return al_hint(err, "save the workbook anew with a spreadsheet program");
}

static int at_end(struct al_xml *x, struct al_err *err)
{
    if (x->depth || x->in_cdata)
        return al_xml_broken(x, err, "the part ends before its elements do");
    if (!x->rooted)
        return al_xml_broken(x, err, "no XML: there is no element");
    x->kind = AL_XML_EOF;
    return 0;
}

static int tag(struct al_xml *x, struct al_err *err)
{
    for (;;) {
        const char *p = x->buf + x->pos + 1;
        int r = 0;
        if (x->end - x->pos >= 2)
            r = *p == '/' ? close_tag(x, p + 1, err) : open_tag(x, p, err);
        if (r != 0)
            return r < 0 ? -1 : 0;
        r = al_xml_more(x, err);
        if (r < 0)
            return -1;
        if (r == 0)
            return al_xml_broken(x, err, "the part ends in the middle of a tag");
    }
}

int al_xml_next(struct al_xml *x, struct al_err *err)
{
    if (x->empty) {
        x->empty = false;
        x->kind = AL_XML_CLOSE;
        x->rooted = --x->depth == 0;
        return 0;
    }
    if (!x->started && start(x, err) < 0)
        return -1;
    for (;;) {
        if (x->in_cdata) {
            x->cdata = true;
            if (text_piece(x, "]]>", err) < 0)
                return -1;
            if (!x->text.n && x->eof && x->in_cdata)
                return at_end(x, err);
            return 0;
        }
        int r = want(x, 2, err);
        if (r < 0)
            return -1;
        if (x->pos == x->end)
            return at_end(x, err);
        if (x->buf[x->pos] != '<') {
            x->cdata = false;
            return text_piece(x, "<", err);
        }
        char c = x->buf[x->pos + 1];
        if (c != '!' && c != '?')
            return tag(x, err);
        if (declaration(x, err) < 0)
            return -1;
    }
}

int al_xml_skip(struct al_xml *x, struct al_err *err)
{
    unsigned depth = x->depth;
    do {
        if (al_xml_next(x, err) < 0)
            return -1;
    } while (x->kind != AL_XML_CLOSE || x->depth >= depth);
    return 0;
}

struct al_str al_xml_attr(const struct al_xml *x, const char *name)
{
    for (unsigned i = 0; i < x->n_attrs; i++)
        if (al_str_is(x->attr[i].name, name))
            return x->attr[i].value;
    return (struct al_str){NULL, 0};
}

/* ---- text ---- */

/* An entity at the front of s. Bytes used, or 0. */
static size_t entity(struct al_str s, uint32_t *ret)
{
    static const struct {
        struct al_str text;
        char c;
    } named[] = {{AL_S("&amp;"), '&'},
                 {AL_S("&lt;"), '<'},
                 {AL_S("&gt;"), '>'},
                 {AL_S("&quot;"), '"'},
                 {AL_S("&apos;"), '\''}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (s.n >= named[i].text.n && memcmp(s.p, named[i].text.p, named[i].text.n) == 0) {
            *ret = (unsigned char)named[i].c;
            return named[i].text.n;
        }
    }
    if (s.n < 4 || s.p[1] != '#')
        return 0;
    bool hex = s.p[2] == 'x';
    uint32_t cp = 0;
    size_t i = hex ? 3 : 2, first = i;
    for (; i < s.n && i < first + 8 && s.p[i] != ';'; i++) {
        char c = s.p[i];
        int d = c >= '0' && c <= '9' ? c - '0' : -1;
        if (hex && d < 0)
            d = (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (d < 0 || cp > 0x10ffff)
            return 0;
        cp = cp * (hex ? 16 : 10) + (uint32_t)d;
    }
    if (i == first || i >= s.n || s.p[i] != ';' || !cp || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
        return 0;
    *ret = cp;
    return i + 1;
}

int al_xml_text(const struct al_xml *x, struct al_str raw, bool cdata, struct al_buf *out, struct al_err *err)
{
    while (raw.n) {
        size_t n = 0;
        while (n < raw.n && raw.p[n] != '\r' && (cdata || raw.p[n] != '&'))
            n++;
        al_buf_add(out, raw.p, n);
        raw.p += n, raw.n -= n;
        if (!raw.n)
            break;
        if (raw.p[0] == '\r') {
            size_t used = raw.n > 1 && raw.p[1] == '\n' ? 2 : 1;
            al_buf_addc(out, '\n');
            raw.p += used, raw.n -= used;
            continue;
        }
        uint32_t cp = 0;
        char utf8[4];
        size_t used = entity(raw, &cp);
        if (!used)
            return al_xml_broken(x, err, "an entity that XML does not know");
        al_buf_add(out, utf8, al_utf8_encode(cp, utf8));
        raw.p += used, raw.n -= used;
    }
    return 0;
}

int al_xml_content(struct al_xml *x, struct al_buf *out, struct al_err *err)
{
    unsigned depth = x->depth;
    for (;;) {
        if (al_xml_next(x, err) < 0)
            return -1;
        if (x->kind == AL_XML_TEXT && x->depth == depth && al_xml_text(x, x->text, x->cdata, out, err) < 0)
            return -1;
        if (x->kind == AL_XML_CLOSE && x->depth < depth)
            return 0;
    }
}
