#include "base/text.h"

static bool is_tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* RFC 3629, table of well-formed sequences: only the second byte's range depends on the first. */
unsigned al_utf8_decode(struct al_str s, uint32_t *ret_cp)
{
    const unsigned char *p = (const unsigned char *)s.p;
    if (s.n == 0)
        return 0;
    if (p[0] < 0x80) {
        *ret_cp = p[0];
        return 1;
    }
    if (p[0] < 0xc2 || p[0] > 0xf4 || s.n < 2)
        return 0;
    if (p[0] < 0xe0) {
        if (!is_tail(p[1]))
            return 0;
        *ret_cp = (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
        return 2;
    }
    unsigned char lo = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char hi = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (s.n < 3 || p[1] < lo || p[1] > hi || !is_tail(p[2]))
        return 0;
    if (p[0] < 0xf0) {
        *ret_cp = (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
        return 3;
    }
    if (s.n < 4 || !is_tail(p[3]))
        return 0;
    *ret_cp = (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
    return 4;
}

/* What is no character is written as U+FFFD. */
unsigned al_utf8_encode(uint32_t cp, char out[4])
{
    if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
        cp = 0xfffd;
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3f));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
        out[2] = (char)(0x80 | (cp & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
    out[3] = (char)(0x80 | (cp & 0x3f));
    return 4;
}

static struct al_str skip(struct al_str s, size_t n)
{
    return (struct al_str){s.p + n, s.n - n};
}

bool al_utf8_valid(struct al_str s)
{
    uint32_t cp;
    while (s.n) {
        unsigned n = al_utf8_decode(s, &cp);
        if (n == 0)
            return false;
        s = skip(s, n);
    }
    return true;
}

/* Bytes of the next character; an invalid byte is a character of its own. */
static unsigned step(struct al_str s)
{
    uint32_t cp;
    unsigned n = al_utf8_decode(s, &cp);
    return n ? n : 1;
}

size_t al_utf8_count(struct al_str s)
{
    size_t count = 0;
    for (; s.n; count++)
        s = skip(s, step(s));
    return count;
}

/* Looks at the bytes around the cut only, so the cost does not depend on the length. */
struct al_str al_utf8_cut(struct al_str s, size_t max_bytes)
{
    if (s.n <= max_bytes)
        return s;
    for (size_t back = 1; back <= 3 && back <= max_bytes; back++) {
        size_t at = max_bytes - back;
        unsigned char c = (unsigned char)s.p[at];
        if (is_tail(c))
            continue;
        unsigned len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;
        if (c <= 0xf4 && len > back)
            max_bytes = at;
        break;
    }
    return (struct al_str){s.p, max_bytes};
}

struct al_str al_utf8_head(struct al_str s, size_t max_chars)
{
    struct al_str rest = s;
    for (size_t i = 0; i < max_chars && rest.n; i++)
        rest = skip(rest, step(rest));
    return (struct al_str){s.p, s.n - rest.n};
}

void al_utf8_clean(struct al_buf *out, struct al_str s)
{
    size_t good = 0;
    while (good < s.n) {
        uint32_t cp;
        unsigned n = al_utf8_decode(skip(s, good), &cp);
        if (n) {
            good += n;
            continue;
        }
        al_buf_add(out, s.p, good);
        al_buf_adds(out, "\xef\xbf\xbd");
        s = skip(s, good + 1);
        good = 0;
    }
    al_buf_add(out, s.p, good);
}

bool al_parse_int(struct al_str s, int64_t min, int64_t max, int64_t *ret)
{
    bool neg = s.n && s.p[0] == '-';
    if (neg)
        s = skip(s, 1);
    if (s.n == 0)
        return false;
    /* Counted below zero, where INT64_MIN has room. */
    int64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, s.p[i] - '0', &v))
            return false;
    }
    if (!neg && __builtin_sub_overflow(0, v, &v))
        return false;
    if (v < min || v > max)
        return false;
    *ret = v;
    return true;
}

/* Characters that act on the terminal, reorder what is read, or carry text that nobody sees. */
static bool is_hidden(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) ||        /* C0, DEL, C1 */
           cp == 0x061c || cp == 0x200e || cp == 0x200f ||   /* bidi marks */
           (cp >= 0x2028 && cp <= 0x202e) ||                 /* line separators, bidi embeddings */
           (cp >= 0x2066 && cp <= 0x206f) ||                 /* bidi isolates, old format controls */
           cp == 0xfeff || (cp >= 0xfff9 && cp <= 0xfffb) || /* byte order mark, annotations */
           (cp >= 0xe0000 && cp <= 0xe007f);                 /* tags */
}

struct range {
    uint32_t first, last;
};

/* What Unicode has nobody see (Default_Ignorable_Code_Point), and what looks empty and is no space. People's
 * own text needs some of them: joiners within emoji and Persian words, variants of a sign, soft hyphens. */
static const struct range invisible[] = {
    {0xad, 0xad},     {0x34f, 0x34f},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
    {0x200b, 0x200d}, {0x2060, 0x2065}, {0x2800, 0x2800},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},
    {0xffa0, 0xffa0}, {0xfff0, 0xfff8}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0080, 0xe0fff},
};

static bool is_invisible(uint32_t cp)
{
    for (size_t i = 0; i < sizeof invisible / sizeof *invisible && cp >= invisible[i].first; i++)
        if (cp <= invisible[i].last)
            return true;
    return false;
}

static void add_escape(struct al_buf *out, uint32_t cp)
{
    if (cp == '\n')
        al_buf_adds(out, "\\n");
    else if (cp == '\r')
        al_buf_adds(out, "\\r");
    else if (cp == '\t')
        al_buf_adds(out, "\\t");
    else if (cp < 0x80)
        al_buf_addf(out, "\\x%02x", (unsigned)cp);
    else if (cp < 0x10000)
        al_buf_addf(out, "\\u%04x", (unsigned)cp);
    else
        al_buf_addf(out, "\\u{%x}", (unsigned)cp);
}

static void add_shown(struct al_buf *out, struct al_str s, bool keep_lines, bool plain)
{
    size_t good = 0;
    while (good < s.n) {
        uint32_t cp = 0;
        unsigned n = al_utf8_decode(skip(s, good), &cp);
        bool hidden = is_hidden(cp) || (plain && is_invisible(cp));
        if (n && (!hidden || (keep_lines && (cp == '\n' || cp == '\t')))) {
            good += n;
            continue;
        }
        al_buf_add(out, s.p, good);
        if (n)
            add_escape(out, cp);
        else
            al_buf_addf(out, "\\x%02x", (unsigned)(unsigned char)s.p[good]);
        s = skip(s, good + (n ? n : 1));
        good = 0;
    }
    al_buf_add(out, s.p, good);
}

void al_text_visible(struct al_buf *out, struct al_str s, bool keep_lines)
{
    add_shown(out, s, keep_lines, false);
}

void al_text_plain(struct al_buf *out, struct al_str s, bool keep_lines)
{
    add_shown(out, s, keep_lines, true);
}

/* One decimal below 10, none above; always rounded down, so that a limit never seems to be reached early. */
static void add_tenths(struct al_buf *out, uint64_t tenths, const char *unit)
{
    al_buf_addf(out, "%llu", (unsigned long long)(tenths / 10));
    if (tenths < 100 && tenths % 10)
        al_buf_addf(out, ".%llu", (unsigned long long)(tenths % 10));
    al_buf_addf(out, " %s", unit);
}

void al_text_bytes(struct al_buf *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    unsigned u = 0;
    uint64_t scale = 1;
    for (; bytes / scale >= 1000; scale *= 1000)
        u++;
    uint64_t tenths = bytes / scale * 10;
    if (u)
        tenths += bytes % scale / (scale / 10);
    add_tenths(out, tenths, units[u]);
}

void al_text_duration(struct al_buf *out, uint64_t ms)
{
    uint64_t s = ms / 1000;
    unsigned long long min = s / 60, hours = min / 60, days = hours / 24;
    if (ms < 1000)
        al_buf_addf(out, "%llu ms", (unsigned long long)ms);
    else if (s < 60)
        add_tenths(out, ms / 100, "s");
    else if (min < 60)
        al_buf_addf(out, "%llu min %llu s", min, (unsigned long long)(s % 60));
    else if (hours < 24)
        al_buf_addf(out, "%llu h %llu min", hours, min % 60);
    else
        al_buf_addf(out, "%llu d %llu h", days, hours % 24);
}

static bool is_plain_word(struct al_str word)
{
    if (word.n == 0)
        return false;
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  (c && strchr("/._-:=+,@%", c));
        if (!ok)
            return false;
    }
    return true;
}

void al_text_shell(struct al_buf *out, struct al_str word)
{
    if (is_plain_word(word)) {
        al_buf_add_str(out, word);
        return;
    }
    al_buf_addc(out, '\'');
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] == '\'')
            al_buf_adds(out, "'\\''");
        else
            al_buf_addc(out, word.p[i]);
    }
    al_buf_addc(out, '\'');
}

void al_text_file_uri(struct al_buf *out, const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    al_buf_adds(out, "file://");
    for (; *path; path++) {
        if (strchr(plain, *path))
            al_buf_addc(out, *path);
        else
            al_buf_addf(out, "%%%02X", (unsigned char)*path);
    }
}
