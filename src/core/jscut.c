#include "base/text.h"
#include "core/jsrun_int.h"

#include <stdio.h>

/* --- a strict check (RFC 8259) that builds nothing: a value may be 32 MiB of [1,1,1,…] --- */

struct scan {
    const char *p;
    size_t n, i;
};

static void skip_space(struct scan *s)
{
    while (s->i < s->n &&
           (s->p[s->i] == ' ' || s->p[s->i] == '\n' || s->p[s->i] == '\r' || s->p[s->i] == '\t'))
        s->i++;
}

static bool is_digit(const struct scan *s)
{
    return s->i < s->n && s->p[s->i] >= '0' && s->p[s->i] <= '9';
}

static bool digits(struct scan *s)
{
    if (!is_digit(s))
        return false;
    while (is_digit(s))
        s->i++;
    return true;
}

static bool eat(struct scan *s, char c)
{
    if (s->i >= s->n || s->p[s->i] != c)
        return false;
    s->i++;
    return true;
}

static bool number(struct scan *s)
{
    eat(s, '-');
    if (!eat(s, '0') && !digits(s))
        return false;
    if (eat(s, '.') && !digits(s))
        return false;
    if (!eat(s, 'e') && !eat(s, 'E'))
        return true;
    if (!eat(s, '+'))
        eat(s, '-');
    return digits(s);
}

static bool escape(struct scan *s)
{
    static const char simple[] = "\"\\/bfnrt";
    if (s->i >= s->n)
        return false;
    char c = s->p[s->i++];
    if (c != 'u')
        return c && strchr(simple, c);
    for (int k = 0; k < 4; k++, s->i++) {
        if (s->i >= s->n)
            return false;
        char h = s->p[s->i];
        if (!((h >= '0' && h <= '9') || (h >= 'a' && h <= 'f') || (h >= 'A' && h <= 'F')))
            return false;
    }
    return true;
}

/* Past the closing quote; s stands after the opening one. */
static bool string(struct scan *s)
{
    while (s->i < s->n) {
        unsigned char c = (unsigned char)s->p[s->i];
        if (c == '"') {
            s->i++;
            return true;
        }
        if (c < 0x20)
            return false;
        s->i++;
        if (c == '\\' && !escape(s))
            return false;
    }
    return false;
}

static bool word(struct scan *s, const char *z)
{
    size_t n = strlen(z);
    if (s->n - s->i < n || memcmp(s->p + s->i, z, n) != 0)
        return false;
    s->i += n;
    return true;
}

static bool scalar(struct scan *s)
{
    if (s->i >= s->n)
        return false;
    switch (s->p[s->i]) {
    case '"':
        s->i++;
        return string(s);
    case 't':
        return word(s, "true");
    case 'f':
        return word(s, "false");
    case 'n':
        return word(s, "null");
    default:
        return number(s);
    }
}

/* "name" : */
static bool member_name(struct scan *s)
{
    skip_space(s);
    if (!eat(s, '"') || !string(s))
        return false;
    skip_space(s);
    return eat(s, ':');
}

#define MAX_LEVELS 128

/* After a value: closes what ends, and stands at the next value. 1 more, 0 all done, -1 wrong. */
static int after_value(struct scan *s, char *open, unsigned *depth)
{
    for (;;) {
        skip_space(s);
        if (*depth == 0)
            return s->i == s->n ? 0 : -1;
        char kind = open[*depth - 1];
        if (eat(s, kind == '{' ? '}' : ']')) {
            --*depth;
            continue;
        }
        if (!eat(s, ','))
            return -1;
        return kind == '{' && !member_name(s) ? -1 : 1;
    }
}

bool jscut_valid(struct al_str json, unsigned max_depth)
{
    if (!al_utf8_valid(json))
        return false;
    struct scan s = {json.p, json.n, 0};
    char open[MAX_LEVELS];
    unsigned depth = 0;
    for (;;) {
        skip_space(&s);
        bool obj = s.i < s.n && s.p[s.i] == '{';
        if (obj || (s.i < s.n && s.p[s.i] == '[')) {
            if (depth >= max_depth || depth >= MAX_LEVELS)
                return false;
            open[depth++] = s.p[s.i++];
            skip_space(&s);
            bool empty = s.i < s.n && s.p[s.i] == (obj ? '}' : ']');
            if (!empty && obj && !member_name(&s))
                return false;
            if (!empty)
                continue;
        } else if (!scalar(&s)) {
            return false;
        }
        int more = after_value(&s, open, &depth);
        if (more <= 0)
            return more == 0;
    }
}

/* --- cutting at an element --- */

#define MARK_MAX 24        /* ",… 4294967295 more" */
#define STRING_MARK_MAX 40 /* "…[4294967295 more characters]\"" */

struct cutter {
    struct scan s;
    size_t chars, max;
    char open[MAX_LEVELS];
    unsigned depth;
    size_t done[MAX_LEVELS]; /* whole elements so far, per level */
    bool name_next;          /* the next string is the name of a member */

    bool have, closed; /* the best place to cut so far; its container has ended */
    size_t at, at_chars, at_done, more;
    unsigned at_depth;
    char at_open[MAX_LEVELS];

    size_t long_string; /* offset of the string that passed the limit; 0: none */
    size_t long_chars;  /* characters before it */
    unsigned long_depth;
    char long_open[MAX_LEVELS];
};

static size_t count_chars(const char *p, size_t n)
{
    size_t chars = 0;
    for (size_t i = 0; i < n; i++)
        chars += ((unsigned char)p[i] & 0xc0) != 0x80;
    return chars;
}

/* Between two elements, or after an opening bracket: could the text end here? */
static void boundary(struct cutter *c, bool after_element)
{
    if (c->depth == 0)
        return;
    if (after_element)
        c->done[c->depth - 1]++;
    if (c->chars + MARK_MAX + c->depth <= c->max) {
        c->have = true;
        c->closed = false;
        c->at = c->s.i;
        c->at_chars = c->chars;
        c->at_depth = c->depth;
        c->at_done = c->done[c->depth - 1];
        c->more = 0;
        memcpy(c->at_open, c->open, c->depth);
    } else if (c->have && !c->closed && after_element && c->depth == c->at_depth) {
        c->more++;
    }
}

static void step_string(struct cutter *c)
{
    size_t from = c->s.i;
    c->s.i++;
    if (!string(&c->s))
        c->s.i = c->s.n;
    size_t chars = count_chars(c->s.p + from, c->s.i - from);
    if (!c->name_next && !c->long_string && c->chars + chars + MARK_MAX + c->depth > c->max) {
        c->long_string = from;
        c->long_chars = c->chars;
        c->long_depth = c->depth;
        memcpy(c->long_open, c->open, c->depth);
    }
    c->chars += chars;
    if (c->name_next)
        c->name_next = false;
    else
        boundary(c, true);
}

static void step_scalar(struct cutter *c)
{
    size_t from = c->s.i;
    while (c->s.i < c->s.n && !strchr(",:{}[]\" \n\r\t", c->s.p[c->s.i]))
        c->s.i++;
    c->chars += c->s.i - from;
    boundary(c, true);
}

static void step_open(struct cutter *c, char b)
{
    c->s.i++;
    c->chars++;
    if (c->depth >= MAX_LEVELS) {
        c->s.i = c->s.n; /* cannot be: values are checked before */
        return;
    }
    c->open[c->depth] = b;
    c->done[c->depth] = 0;
    c->depth++;
    c->name_next = b == '{';
    boundary(c, false);
}

static void step_close(struct cutter *c)
{
    c->s.i++;
    c->chars++;
    c->name_next = false;
    if (c->have && c->depth == c->at_depth)
        c->closed = true;
    if (c->depth)
        c->depth--;
    boundary(c, true);
}

static void step(struct cutter *c)
{
    char b = c->s.p[c->s.i];
    switch (b) {
    case '{':
    case '[':
        step_open(c, b);
        return;
    case '}':
    case ']':
        step_close(c);
        return;
    case '"':
        step_string(c);
        return;
    case ',':
        c->name_next = c->depth && c->open[c->depth - 1] == '{';
        break;
    case ':':
    case ' ':
    case '\n':
    case '\r':
    case '\t':
        break;
    default:
        step_scalar(c);
        return;
    }
    c->s.i++;
    c->chars++;
}

static void close_levels(const char *open, unsigned depth, struct al_buf *out)
{
    while (depth--)
        al_buf_addc(out, open[depth] == '{' ? '}' : ']');
}

/* The end of what may stand of a string's inside: no escape, and no pair of surrogate escapes, is torn. */
static size_t string_head(const char *p, size_t n, size_t max_chars)
{
    size_t i = 0, chars = 0;
    while (i < n && p[i] != '"') {
        size_t step_bytes = 1;
        if (p[i] == '\\')
            step_bytes = i + 1 < n && p[i + 1] == 'u' ? 6 : 2;
        bool high = step_bytes == 6 && i + 12 <= n && (p[i + 2] == 'd' || p[i + 2] == 'D') &&
                    strchr("89abAB", p[i + 3]);
        if (high && p[i + 6] == '\\')
            step_bytes = 12;
        if (step_bytes == 1)
            while (i + step_bytes < n && ((unsigned char)p[i + step_bytes] & 0xc0) == 0x80)
                step_bytes++;
        size_t cost = step_bytes > 1 && p[i] == '\\' ? step_bytes : 1;
        if (i + step_bytes > n || chars + cost > max_chars)
            break;
        chars += cost;
        i += step_bytes;
    }
    return i;
}

static void cut_in_string(const struct cutter *c, struct al_buf *out)
{
    size_t from = c->long_string + 1;
    size_t room = c->max - c->long_chars - 1 - STRING_MARK_MAX - c->long_depth;
    size_t n = string_head(c->s.p + from, c->s.n - from, room);
    struct scan s = {c->s.p, c->s.n, from};
    size_t whole = string(&s) ? s.i - 1 - from : 0;
    al_buf_add(out, c->s.p, from + n);
    al_buf_addf(out, "…[%zu more characters]\"", count_chars(c->s.p + from + n, whole - n));
    close_levels(c->long_open, c->long_depth, out);
}

bool jscut_json(struct al_str json, size_t max_chars, struct al_buf *out)
{
    if (al_utf8_count(json) <= max_chars) {
        al_buf_add_str(out, json);
        return false;
    }
    struct cutter c = {.s = {json.p, json.n, 0}, .max = max_chars};
    while (c.s.i < c.s.n && !(c.have && c.closed) && (c.chars <= max_chars || c.have))
        step(&c);
    /* A long string is cut inside only where elements alone would show less than half of what fits. */
    bool inside = c.long_string && c.long_depth &&
                  c.long_chars + 2 * STRING_MARK_MAX + c.long_depth < max_chars &&
                  (!c.have || c.at_chars < max_chars / 2);
    if (inside) {
        cut_in_string(&c, out);
        return true;
    }
    if (!c.have) {
        al_buf_add_str(out, al_utf8_head(AL_STR("…"), max_chars));
        return true;
    }
    al_buf_add(out, json.p, c.at);
    al_buf_addf(out, "%s… %zu more", c.at_done ? "," : "", c.more);
    close_levels(c.at_open, c.at_depth, out);
    return true;
}

/* --- cutting at a line --- */

static size_t count_lines(struct al_str s)
{
    size_t lines = s.n > 0;
    for (size_t i = 0; i + 1 < s.n; i++)
        lines += s.p[i] == '\n';
    return lines;
}

bool jscut_text(struct al_str text, size_t max_chars, struct al_buf *out)
{
    size_t total = al_utf8_count(text);
    if (total <= max_chars) {
        al_buf_add_str(out, text);
        return false;
    }
    enum {
        MARK = 72
    };
    if (max_chars < 2 * MARK) {
        if (max_chars) {
            al_buf_add_str(out, al_utf8_head(text, max_chars - 1));
            al_buf_adds(out, "…");
        }
        return true;
    }
    struct al_str head = al_utf8_head(text, max_chars - MARK);
    size_t line = head.n;
    while (line && head.p[line - 1] != '\n')
        line--;
    bool whole = line > head.n / 2;
    if (whole)
        head.n = line - 1;
    struct al_str rest = {text.p + head.n + whole, text.n - head.n - whole};
    al_buf_add_str(out, head);
    if (whole)
        al_buf_addf(out, "\n… [%zu more lines, %zu characters]", count_lines(rest), al_utf8_count(rest));
    else
        al_buf_addf(out, "… [line cut; %zu more characters]", al_utf8_count(rest));
    return true;
}

void jscut_line(struct al_str s, size_t max_chars, struct al_buf *out)
{
    autobuf struct al_buf shown = AL_BUF_INIT(64u << 10);
    al_text_visible(&shown, al_utf8_head(s, max_chars), false);
    struct al_str v = al_buf_str(&shown);
    if (al_utf8_count(v) <= max_chars && al_utf8_count(s) <= max_chars) {
        al_buf_add_str(out, v);
        return;
    }
    al_buf_add_str(out, al_utf8_head(v, max_chars - 1));
    al_buf_adds(out, "…");
}

/* --- one member of an object, without a tree --- */

/* Past one value of a text that is valid. */
static void skip_value(struct scan *s)
{
    unsigned depth = 0;
    do {
        skip_space(s);
        char c = s->i < s->n ? s->p[s->i] : 0;
        if (c == '"') {
            s->i++;
            if (!string(s))
                s->i = s->n;
        } else if (c == '{' || c == '[') {
            depth++;
            s->i++;
        } else if (c == '}' || c == ']') {
            depth--;
            s->i++;
        } else if (c == ',' || c == ':') {
            s->i++;
        } else {
            while (s->i < s->n && !strchr(",:{}[]\" \n\r\t", s->p[s->i]))
                s->i++;
        }
    } while (depth && s->i < s->n);
}

struct al_str jscut_member(struct al_str object, const char *name)
{
    struct scan s = {object.p, object.n, 0};
    size_t n = strlen(name);
    skip_space(&s);
    if (!eat(&s, '{'))
        return (struct al_str){NULL, 0};
    for (;;) {
        skip_space(&s);
        size_t from = s.i + 1;
        if (!member_name(&s))
            return (struct al_str){NULL, 0};
        bool is = s.n - from > n && memcmp(s.p + from, name, n) == 0 && s.p[from + n] == '"';
        skip_space(&s);
        size_t value = s.i;
        skip_value(&s);
        if (is)
            return (struct al_str){s.p + value, s.i - value};
        skip_space(&s);
        if (!eat(&s, ','))
            return (struct al_str){NULL, 0};
    }
}
