/*
 * What a page will not show: files that are not beside it, scripts and styles from the network, and charts
 * drawn by hand that tend to be wrong. One pass over the bytes; every search moves on, so its cost is the
 * page's length.
 */
#include "artifact/artifact_int.h"

#include "base/text.h"

#define FIXED_WIDTH 150u
#define FIXED_SHAPES 4u
#define REF_MAX 1024

struct page {
    struct al_str s;
    size_t at;
    bool (*exists)(void *ud, struct al_str ref);
    void *ud;
    struct al_html_findings *f;
    unsigned svg_depth, shapes; /* shapes of the outermost svg */
    bool svg_fixed, svg_ours;
};

struct attr {
    struct al_str name, value;
};

/* What a tag says, as far as it matters here. */
struct tag {
    struct al_str name;
    bool closing, empty;
    struct al_str src, href, rel, d, width;
    bool view_box, ours;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool is_word(struct al_str s, const char *low)
{
    size_t i = 0;
    while (i < s.n && low[i] && lower(s.p[i]) == low[i])
        i++;
    return i == s.n && !low[i];
}

static bool begins(struct al_str s, const char *low)
{
    size_t i = 0;
    while (low[i] && i < s.n && lower(s.p[i]) == low[i])
        i++;
    return !low[i];
}

static bool has_word(struct al_str s, const char *low)
{
    for (size_t i = 0; i < s.n;) {
        size_t from = i;
        while (i < s.n && !is_blank(s.p[i]))
            i++;
        if (is_word((struct al_str){s.p + from, i - from}, low))
            return true;
        while (i < s.n && is_blank(s.p[i]))
            i++;
    }
    return false;
}

static void note(char out[96], struct al_str what)
{
    what = al_utf8_cut(what, 95);
    memcpy(out, what.p, what.n);
    out[what.n] = '\0';
}

/* --- what a reference names --- */

static bool is_network(struct al_str ref)
{
    ref = al_str_trim(ref);
    return begins(ref, "http:") || begins(ref, "https:") || begins(ref, "//");
}

static bool has_scheme(struct al_str ref)
{
    size_t i = 0;
    if (!ref.n || !is_letter(ref.p[0]))
        return false;
    while (i < ref.n &&
           (is_letter(ref.p[i]) || (ref.p[i] >= '0' && ref.p[i] <= '9') || strchr("+-.", ref.p[i])))
        i++;
    return i < ref.n && ref.p[i] == ':';
}

static int hex(char c)
{
    c = lower(c);
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent signs and the one entity that stands in names decoded, up to query or fragment. False: too long. */
static bool decode(struct al_str ref, char out[REF_MAX], size_t *ret_n)
{
    size_t n = 0;
    for (size_t i = 0; i < ref.n && ref.p[i] != '?' && ref.p[i] != '#'; i++) {
        char c = ref.p[i];
        if (n == REF_MAX)
            return false;
        if (c == '%' && i + 2 < ref.n && hex(ref.p[i + 1]) >= 0 && hex(ref.p[i + 2]) >= 0) {
            c = (char)(hex(ref.p[i + 1]) << 4 | hex(ref.p[i + 2]));
            i += 2;
        } else if (c == '&' && begins((struct al_str){ref.p + i, ref.n - i}, "&amp;")) {
            i += 4;
        }
        out[n++] = c;
    }
    *ret_n = n;
    return true;
}

static void look_at_ref(struct page *p, struct al_str ref)
{
    char path[REF_MAX];
    size_t n;
    ref = al_str_trim(ref);
    if (!p->exists || !ref.n || ref.p[0] == '#' || has_scheme(ref) || begins(ref, "//") ||
        !decode(ref, path, &n) || !n)
        return;
    /* A template that a script fills in is no name. */
    if (memchr(path, '{', n) || memchr(path, '$', n))
        return;
    if (p->exists(p->ud, (struct al_str){path, n}))
        return;
    if (p->f->missing++ == 0)
        note(p->f->first_missing, ref);
}

static void look_at_network(struct page *p, struct al_str ref)
{
    if (is_network(ref) && p->f->network++ == 0)
        note(p->f->first_network, al_str_trim(ref));
}

/* --- tags --- */

static struct al_str attr_value(struct page *p)
{
    const char *s = p->s.p;
    size_t n = p->s.n;
    while (p->at < n && is_blank(s[p->at]))
        p->at++;
    if (p->at >= n)
        return (struct al_str){NULL, 0};
    size_t from = p->at;
    if (s[from] == '"' || s[from] == '\'') {
        const char *end = memchr(s + from + 1, s[from], n - from - 1);
        size_t to = end ? (size_t)(end - s) : n;
        p->at = end ? to + 1 : n;
        return (struct al_str){s + from + 1, to - from - 1};
    }
    while (p->at < n && !is_blank(s[p->at]) && s[p->at] != '>')
        p->at++;
    return (struct al_str){s + from, p->at - from};
}

/* Moves on by at least one byte. */
static struct attr next_attr(struct page *p)
{
    const char *s = p->s.p;
    size_t n = p->s.n, from = p->at++;
    while (p->at < n && !is_blank(s[p->at]) && !strchr("=>/", s[p->at]))
        p->at++;
    struct attr a = {.name = {s + from, p->at - from}};
    size_t look = p->at;
    while (look < n && is_blank(s[look]))
        look++;
    if (look < n && s[look] == '=') {
        p->at = look + 1;
        a.value = attr_value(p);
    }
    return a;
}

static void take_attr(struct tag *t, const struct attr *a)
{
    static const struct {
        const char *name;
        size_t at;
    } texts[] = {
        {"src", offsetof(struct tag, src)},     {"href", offsetof(struct tag, href)},
        {"rel", offsetof(struct tag, rel)},     {"d", offsetof(struct tag, d)},
        {"width", offsetof(struct tag, width)},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (is_word(a->name, texts[i].name))
            memcpy((char *)t + texts[i].at, &a->value, sizeof a->value);
    }
    t->view_box = t->view_box || is_word(a->name, "viewbox");
    /* What alisio_runtime.svg draws is tested. */
    t->ours =
        t->ours || begins(a->name, "data-ac-") || (is_word(a->name, "class") && begins(a->value, "ac-"));
}

/* At the "<" of a tag; leaves p->at behind its ">". */
static struct tag read_tag(struct page *p)
{
    const char *s = p->s.p;
    size_t n = p->s.n;
    struct tag t = {0};
    p->at++;
    if (p->at < n && s[p->at] == '/') {
        t.closing = true;
        p->at++;
    }
    size_t from = p->at;
    while (p->at < n && !is_blank(s[p->at]) && s[p->at] != '>' && s[p->at] != '/')
        p->at++;
    t.name = (struct al_str){s + from, p->at - from};
    while (p->at < n && s[p->at] != '>') {
        if (is_blank(s[p->at]) || s[p->at] == '/') {
            t.empty = s[p->at] == '/';
            p->at++;
            continue;
        }
        t.empty = false;
        struct attr a = next_attr(p);
        take_attr(&t, &a);
    }
    if (p->at < n)
        p->at++;
    return t;
}

/* --- charts --- */

/* A slice: an arc, straight lines to the middle, closed. */
static bool is_wedge(struct al_str d)
{
    bool arc = false, line = false, closed = false;
    for (size_t i = 0; i < d.n; i++) {
        char c = lower(d.p[i]);
        arc = arc || c == 'a';
        line = line || c == 'l' || c == 'h' || c == 'v';
        closed = closed || c == 'z';
    }
    return arc && line && closed;
}

static uint32_t pixels(struct al_str v)
{
    uint32_t n = 0;
    size_t i = 0;
    v = al_str_trim(v);
    for (; i < v.n && v.p[i] >= '0' && v.p[i] <= '9'; i++)
        n = n > 100000 ? n : n * 10 + (uint32_t)(v.p[i] - '0');
    while (i < v.n && (v.p[i] == '.' || (v.p[i] >= '0' && v.p[i] <= '9')))
        i++;
    struct al_str unit = {v.p + i, v.n - i};
    return unit.n == 0 || is_word(unit, "px") ? n : 0;
}

static void close_svg(struct page *p)
{
    if (p->svg_fixed && p->shapes >= FIXED_SHAPES)
        p->f->fixed++;
    p->svg_fixed = p->svg_ours = false;
}

static void look_at_svg(struct page *p, const struct tag *t)
{
    static const char *const shapes[] = {"rect", "circle", "ellipse", "line", "polyline", "polygon", "path"};
    if (is_word(t->name, "svg") && !t->closing && !t->empty) {
        if (p->svg_depth++ == 0) {
            p->shapes = 0;
            p->svg_ours = t->ours;
            p->svg_fixed = !t->ours && !t->view_box && pixels(t->width) >= FIXED_WIDTH;
        }
    } else if (is_word(t->name, "svg") && t->closing && p->svg_depth > 0 && --p->svg_depth == 0) {
        close_svg(p);
    }
    if (t->closing || p->svg_depth == 0 || p->svg_ours)
        return;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        p->shapes += is_word(t->name, shapes[i]);
    if (is_word(t->name, "path") && is_wedge(t->d))
        p->f->wedges++;
}

/* --- scripts and styles --- */

/* The text up to "</name"; p->at is at that, or at the end. */
static struct al_str raw_text(struct page *p, const char *name)
{
    const char *s = p->s.p;
    size_t from = p->at, n = p->s.n;
    while (p->at < n) {
        const char *lt = memchr(s + p->at, '<', n - p->at);
        p->at = lt ? (size_t)(lt - s) : n;
        if (p->at + 1 < n && s[p->at + 1] == '/' &&
            begins((struct al_str){s + p->at + 2, n - p->at - 2}, name))
            break;
        p->at += p->at < n;
    }
    return (struct al_str){s + from, p->at - from};
}

static void look_at_style(struct page *p, struct al_str css)
{
    for (size_t i = 0; i < css.n;) {
        const char *sign = memchr(css.p + i, '@', css.n - i);
        if (!sign)
            return;
        i = (size_t)(sign - css.p) + 1;
        if (!begins((struct al_str){css.p + i, css.n - i}, "import"))
            continue;
        i += 6;
        while (i < css.n && is_blank(css.p[i]))
            i++;
        if (begins((struct al_str){css.p + i, css.n - i}, "url("))
            i += 4;
        while (i < css.n && (is_blank(css.p[i]) || css.p[i] == '"' || css.p[i] == '\''))
            i++;
        size_t from = i;
        while (i < css.n && !is_blank(css.p[i]) && !strchr("\"');", css.p[i]))
            i++;
        struct al_str ref = {css.p + from, i - from};
        look_at_network(p, ref);
        if (!is_network(ref))
            look_at_ref(p, ref);
    }
}

static void look_at_tag(struct page *p, const struct tag *t)
{
    static const char *const fetched[] = {"stylesheet", "preload", "modulepreload", "icon", "prefetch"};
    look_at_svg(p, t);
    if (t->closing)
        return;
    look_at_ref(p, t->src);
    if (!is_word(t->name, "base") && !is_word(t->name, "use"))
        look_at_ref(p, t->href);
    if (is_word(t->name, "script"))
        look_at_network(p, t->src);
    if (is_word(t->name, "link")) {
        for (size_t i = 0; i < sizeof fetched / sizeof *fetched; i++) {
            if (has_word(t->rel, fetched[i])) {
                look_at_network(p, t->href);
                break;
            }
        }
    }
    if (t->empty && p->svg_depth)
        return;
    if (is_word(t->name, "style"))
        look_at_style(p, raw_text(p, "style"));
    static const char *const raw[] = {"script", "title", "textarea"};
    for (size_t i = 0; i < 3; i++) {
        if (is_word(t->name, raw[i]))
            raw_text(p, raw[i]);
    }
}

static void skip_past(struct page *p, const char *end, size_t n)
{
    const char *found = memmem(p->s.p + p->at, p->s.n - p->at, end, n);
    p->at = found ? (size_t)(found - p->s.p) + n : p->s.n;
}

void al_html_look(struct al_str html, bool (*exists)(void *ud, struct al_str ref), void *ud,
                  struct al_html_findings *ret)
{
    *ret = (struct al_html_findings){0};
    if (html.n > AL_HTML_MAX_BYTES)
        return;
    struct page p = {.s = html, .exists = exists, .ud = ud, .f = ret};
    while (p.at < html.n) {
        const char *lt = memchr(html.p + p.at, '<', html.n - p.at);
        if (!lt)
            break;
        p.at = (size_t)(lt - html.p);
        struct al_str rest = {lt, html.n - p.at};
        if (al_str_starts(rest, "<!--")) {
            p.at += 4;
            skip_past(&p, "-->", 3);
        } else if (rest.n > 1 && (is_letter(lt[1]) || (lt[1] == '/' && rest.n > 2 && is_letter(lt[2])))) {
            struct tag t = read_tag(&p);
            look_at_tag(&p, &t);
        } else {
            p.at++;
        }
    }
    if (p.svg_depth)
        close_svg(&p);
}

/* --- words --- */

static void begin_line(struct al_str page, struct al_buf *out)
{
    al_buf_adds(out, "warning: ");
    al_text_plain(out, al_utf8_cut(page, 200), false);
    al_buf_adds(out, ": ");
}

static void add_others(unsigned n, struct al_buf *out)
{
    if (n > 1)
        al_buf_addf(out, " and %u more", n - 1);
}

void al_html_warn(const struct al_html_findings *f, struct al_str page, struct al_buf *out)
{
    if (f->network) {
        begin_line(page, out);
        al_buf_adds(out, "loads ");
        al_text_plain(out, al_str_of(f->first_network), false);
        add_others(f->network, out);
        al_buf_adds(
            out,
            " from the network, which is not there when the page is shown. Write styles and scripts into the "
            "page; alisio_runtime.charts brings its chart library inline\n");
    }
    if (f->missing) {
        begin_line(page, out);
        al_buf_adds(out, "refers to ");
        al_text_plain(out, al_str_of(f->first_missing), false);
        add_others(f->missing, out);
        al_buf_adds(
            out,
            ", not published beside it. Write pages and their files into one folder with an index.html, or "
            "embed them; alisio_runtime.html.write makes a page of one file\n");
    }
    if (f->wedges >= 2) {
        begin_line(page, out);
        al_buf_addf(out,
                    "draws %u pie slices by hand, which often come out wrong. alisio_runtime.charts.pie and "
                    ".donut, or "
                    "alisio_runtime.svg.pie without scripts, are tested\n",
                    f->wedges);
    }
    if (f->fixed) {
        begin_line(page, out);
        al_buf_addf(out,
                    "has %u SVG chart%s of fixed width without a viewBox, which will not fit other windows. "
                    "alisio_runtime.charts and alisio_runtime.svg draw charts that scale\n",
                    f->fixed, f->fixed == 1 ? "" : "s");
    }
}
