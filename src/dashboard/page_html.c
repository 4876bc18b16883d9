/* Text into HTML, and JSON into HTML: the one place. */
#include "dashboard/page_int.h"

#include "base/text.h"

void al_page_add(struct al_page *p, const char *markup)
{
    al_buf_adds(p->out, markup);
}

static bool unfit(uint32_t cp)
{
    return (cp < 0x20 && cp != '\t' && cp != '\n') || (cp >= 0x7f && cp < 0xa0) || (cp & 0xfffe) == 0xfffe ||
           (cp >= 0xfdd0 && cp <= 0xfdef);
}

void al_html_text(struct al_buf *out, struct al_str text)
{
    for (size_t i = 0; i < text.n;) {
        uint32_t cp = 0;
        unsigned n = al_utf8_decode((struct al_str){text.p + i, text.n - i}, &cp);
        if (n == 0 || unfit(cp))
            al_buf_adds(out, "\xef\xbf\xbd");
        else if (cp == '&')
            al_buf_adds(out, "&amp;");
        else if (cp == '<')
            al_buf_adds(out, "&lt;");
        else if (cp == '>')
            al_buf_adds(out, "&gt;");
        else if (cp == '"')
            al_buf_adds(out, "&quot;");
        else if (cp == '\'')
            al_buf_adds(out, "&#39;");
        else
            al_buf_add(out, text.p + i, n);
        i += n ? n : 1;
    }
}

void al_page_text(struct al_page *p, struct al_str text)
{
    al_html_text(p->out, text);
}

/* From U+0590 on there are letters that run from right to left, and controls that make others do so. */
static bool may_turn(struct al_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if ((unsigned char)s.p[i] >= 0xd6)
            return true;
    }
    return false;
}

/* U+202A to U+202E, U+2066 to U+2069: 3 bytes each. */
static bool is_control(struct al_str s, size_t i)
{
    const unsigned char *c = (const unsigned char *)s.p + i;
    return s.n - i >= 3 && c[0] == 0xe2 &&
           ((c[1] == 0x80 && c[2] >= 0xaa && c[2] <= 0xae) || (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9));
}

static bool has_control(struct al_str s)
{
    for (size_t i = 0; i + 3 <= s.n; i++) {
        if (is_control(s, i))
            return true;
    }
    return false;
}

/* Text that turns no other one. pairs: first strong isolates that end within it may stay: they are ours. */
static void add_calm(struct al_buf *out, struct al_str s, bool pairs)
{
    size_t open = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (!is_control(s, i)) {
            al_buf_addc(out, s.p[i]);
            continue;
        }
        bool first = (unsigned char)s.p[i + 2] == 0xa8, last = (unsigned char)s.p[i + 2] == 0xa9;
        if (pairs && (first || (last && open))) {
            open = first ? open + 1 : open - 1;
            al_buf_add(out, s.p + i, 3);
        }
        i += 2;
    }
    for (; open; open--)
        al_buf_adds(out, "\xe2\x81\xa9");
}

struct al_str al_page_calm(struct al_page *p, struct al_str text)
{
    if (!has_control(text))
        return text;
    add_calm(&p->text, text, false);
    return al_page_keep(p);
}

void al_page_show(struct al_page *p, struct al_str text)
{
    bool alone = p->rtl || may_turn(text);
    al_page_add(p, alone ? "<bdi>" : "");
    if (alone && has_control(text)) {
        add_calm(&p->text, text, true);
        al_page_text(p, al_page_keep(p));
    } else {
        al_page_text(p, text);
    }
    al_page_add(p, alone ? "</bdi>" : "");
}

void al_page_line(struct al_page *p, const char *open, struct al_str text, const char *close)
{
    al_page_add(p, open);
    al_page_show(p, text);
    al_page_add(p, close);
}

void al_page_attr(struct al_page *p, const char *open, struct al_str text, const char *close)
{
    al_page_add(p, open);
    al_page_text(p, text);
    al_page_add(p, close);
}

void al_page_say(struct al_page *p, enum al_text_id id)
{
    al_page_show(p, al_str_of(al_text(&p->d->plan, id)));
}

void al_page_word(struct al_page *p, enum al_text_id id)
{
    al_page_text(p, al_str_of(al_text(&p->d->plan, id)));
}

struct al_str al_page_keep(struct al_page *p)
{
    char *z = al_buf_failed(&p->text) ? NULL : al_arena_dup(&p->d->arena, al_buf_str(&p->text));
    struct al_str ret = {z ? z : "", z ? p->text.n : 0};
    if (!z)
        p->out->failed = true;
    al_buf_clear(&p->text);
    return ret;
}

struct al_str al_page_fill(struct al_page *p, enum al_text_id id, size_t n, const struct al_str *gaps)
{
    struct al_str isolated[4];
    for (size_t i = 0; i < n && i < 4; i++) {
        isolated[i] = gaps[i];
        if (may_turn(gaps[i])) {
            al_buf_adds(&p->text, "\xe2\x81\xa8");
            add_calm(&p->text, gaps[i], false);
            al_buf_adds(&p->text, "\xe2\x81\xa9");
            isolated[i] = al_page_keep(p);
        }
    }
    al_text_fill(&p->text, al_text(&p->d->plan, id), isolated, n);
    return al_page_keep(p);
}

void al_page_inert(struct al_page *p)
{
    const char *s = p->json.p;
    size_t from = 0;
    for (size_t i = 0; i < p->json.n; i++) {
        const char *sign = s[i] == '<' ? "\\u003c" : s[i] == '>' ? "\\u003e" : s[i] == '&' ? "\\u0026" : NULL;
        if (s[i] == 0x7f)
            sign = "\\u007f";
        if (!sign)
            continue;
        al_buf_add(p->out, s + from, i - from);
        al_buf_adds(p->out, sign);
        from = i + 1;
    }
    al_buf_add(p->out, s + from, p->json.n - from);
    if (al_buf_failed(&p->json))
        p->out->failed = true;
    al_buf_clear(&p->json);
}

struct al_str al_page_cut(struct al_page *p, struct al_str text, size_t chars)
{
    struct al_str head = al_utf8_head(text, chars);
    if (head.n == text.n)
        return text;
    al_buf_add_str(&p->text, al_utf8_head(text, chars - 1));
    al_buf_adds(&p->text, "\xe2\x80\xa6");
    return al_page_keep(p);
}
