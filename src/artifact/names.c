/* Names of files: which are published, which are the same, and how they are shown and written elsewhere. */
#include "artifact/artifact_int.h"

#include "base/text.h"

#include <stdio.h>

#include "nfd_table.h"

#define SAFE_MAX 200
#define EXTENSION_MAX 20  /* kept when a name is cut */
#define CANONICAL_MAX 512 /* code points that may be put in order: more than a name has */

#define COUNT(a) (sizeof(a) / sizeof *(a))

int al_artifact_reject(struct al_err *err, struct al_str path, const char *hint, const char *fmt, ...)
{
    char why[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    autobuf struct al_buf shown = AL_BUF_INIT(1 << 16);
    al_text_plain(&shown, path, false);
    struct al_str head = al_utf8_cut(al_buf_str(&shown), 400);
    al_fail(err, AL_PUBLISH_REJECTED, "nothing is published: \"%.*s%s\" %s", AL_FMT(head),
            head.n < shown.n ? "…" : "", why);
    return al_hint(err, "%s", hint);
}

static bool is_control(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0);
}

const char *al_artifact_name_fault(struct al_str name)
{
    if (name.n && name.p[0] == '.' && !al_str_is(name, ".nojekyll"))
        return "is hidden: its name begins with a dot";
    for (struct al_str rest = name; rest.n;) {
        uint32_t cp;
        unsigned n = al_utf8_decode(rest, &cp);
        if (n == 0)
            return "has a name that is not UTF-8";
        if (is_control(cp))
            return "has a control character in its name";
        rest = (struct al_str){rest.p + n, rest.n - n};
    }
    return NULL;
}

/* --- canonical decomposition --- */

static unsigned combining_class(uint32_t cp)
{
    size_t lo = 0, hi = COUNT(nfd_classes);
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (cp > nfd_classes[mid].to)
            lo = mid + 1;
        else if (cp < nfd_classes[mid].from)
            hi = mid;
        else
            return nfd_classes[mid].value;
    }
    return 0;
}

/* A letter and the marks behind it, as far as they may change places. */
struct run {
    uint32_t cp[CANONICAL_MAX];
    unsigned char class[CANONICAL_MAX];
    size_t n;
};

static void run_flush(struct run *r, struct al_buf *out)
{
    char bytes[4];
    for (size_t i = 0; i < r->n; i++)
        al_buf_add(out, bytes, al_utf8_encode(r->cp[i], bytes));
    r->n = 0;
}

static void run_add(struct run *r, uint32_t cp, struct al_buf *out)
{
    unsigned class = combining_class(cp);
    if (class == 0 || r->n == CANONICAL_MAX)
        run_flush(r, out);
    size_t at = r->n++;
    /* Marks of equal class keep their order; nothing passes what has class 0. */
    for (; at > 0 && class && r->class[at - 1] > class; at--) {
        r->cp[at] = r->cp[at - 1];
        r->class[at] = r->class[at - 1];
    }
    r->cp[at] = cp;
    r->class[at] = (unsigned char)class;
}

/* The Unicode Standard, 3.12: syllables of Hangul are computed. */
static bool add_hangul(struct run *r, uint32_t cp, struct al_buf *out)
{
    const uint32_t base = 0xac00, vowels = 21, tails = 28, count = 11172;
    if (cp < base || cp >= base + count)
        return false;
    uint32_t i = cp - base;
    run_add(r, 0x1100 + i / (vowels * tails), out);
    run_add(r, 0x1161 + i % (vowels * tails) / tails, out);
    if (i % tails)
        run_add(r, 0x11a7 + i % tails, out);
    return true;
}

/* The first of a pair may decompose again, the second never does: a loop with a short stack of seconds. */
static void add_decomposed(struct run *r, uint32_t cp, struct al_buf *out)
{
    uint32_t later[8];
    size_t n_later = 0;
    if (cp < 0x80 || add_hangul(r, cp, out)) {
        if (cp < 0x80)
            run_add(r, cp, out);
        return;
    }
    for (bool found = true; found && n_later < COUNT(later);) {
        size_t lo = 0, hi = COUNT(nfd_pairs);
        while (lo < hi) {
            size_t mid = (lo + hi) / 2;
            if (nfd_pairs[mid].cp < cp)
                lo = mid + 1;
            else
                hi = mid;
        }
        found = lo < COUNT(nfd_pairs) && nfd_pairs[lo].cp == cp;
        if (found && nfd_pairs[lo].second)
            later[n_later++] = nfd_pairs[lo].second;
        if (found)
            cp = nfd_pairs[lo].first;
    }
    run_add(r, cp, out);
    while (n_later)
        run_add(r, later[--n_later], out);
}

void al_artifact_name_canonical(struct al_str name, struct al_buf *out)
{
    struct run r = {.n = 0};
    uint32_t cp;
    for (unsigned n; (n = al_utf8_decode(name, &cp)); name = (struct al_str){name.p + n, name.n - n})
        add_decomposed(&r, cp, out);
    run_flush(&r, out);
}

/* --- names elsewhere --- */

void al_artifact_slug(struct al_str title, char out[AL_SLUG_MAX + 1])
{
    autobuf struct al_buf plain = AL_BUF_INIT(1 << 16);
    al_artifact_name_canonical(al_utf8_cut(title, 1024), &plain);
    size_t n = 0;
    uint32_t cp;
    struct al_str rest = al_buf_str(&plain);
    for (unsigned used; n < AL_SLUG_MAX && (used = al_utf8_decode(rest, &cp));) {
        rest = (struct al_str){rest.p + used, rest.n - used};
        if (cp >= 0xff01 && cp <= 0xff5e) /* full width */
            cp -= 0xfee0;
        if (cp >= 'A' && cp <= 'Z')
            cp += 32;
        if ((cp >= 'a' && cp <= 'z') || (cp >= '0' && cp <= '9'))
            out[n++] = (char)cp;
        else if (combining_class(cp) == 0 && n && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n && out[n - 1] == '-')
        n--;
    if (n == 0)
        n = (size_t)snprintf(out, AL_SLUG_MAX + 1, "artifact");
    out[n] = '\0';
}

/* What cannot be seen, turns text around, or means something to a shell or a file system. */
static bool is_unsafe(uint32_t cp)
{
    static const struct {
        uint32_t from, to;
    } bad[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},
        {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
        {0xfeff, 0xfeff}, {0xfff0, 0xffff}, {0xe0000, 0xe0fff},
    };
    if (cp < 0x80 && cp >= 0x20 && cp != 0x7f)
        return memchr("/\\:*?\"<>|", (int)cp, 9) != NULL;
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (cp >= bad[i].from && cp <= bad[i].to)
            return true;
    }
    return false;
}

/* Devices of Windows, whatever comes behind a dot. Superscript digits count there, too. */
static bool is_reserved(struct al_str name)
{
    static const char *const words[] = {"con", "prn", "aux", "nul", "conin$", "conout$", "com?", "lpt?"};
    char low[8];
    const char *dot = name.n ? memchr(name.p, '.', name.n) : NULL;
    struct al_str stem = {name.p, dot ? (size_t)(dot - name.p) : name.n};
    while (stem.n && stem.p[stem.n - 1] == ' ')
        stem.n--;
    if (stem.n == 5 && (memcmp(stem.p + 3, "\xc2\xb9", 2) == 0 || memcmp(stem.p + 3, "\xc2\xb2", 2) == 0 ||
                        memcmp(stem.p + 3, "\xc2\xb3", 2) == 0))
        stem.n = 4;
    if (stem.n >= sizeof low)
        return false;
    for (size_t i = 0; i < stem.n; i++)
        low[i] = stem.p[i] >= 'A' && stem.p[i] <= 'Z' ? (char)(stem.p[i] + 32) : stem.p[i];
    struct al_str s = {low, stem.n};
    for (size_t i = 0; i < COUNT(words); i++) {
        bool digit = words[i][3] == '?';
        if (digit ? s.n == 4 && memcmp(low, words[i], 3) == 0 &&
                        ((low[3] >= '0' && low[3] <= '9') || (low[3] & 0x80))
                  : al_str_is(s, words[i]))
            return true;
    }
    return false;
}

/* A long name keeps its extension. */
static void add_cut(struct al_str name, struct al_buf *out)
{
    if (name.n <= SAFE_MAX) {
        al_buf_add_str(out, name);
        return;
    }
    const char *dot = memrchr(name.p, '.', name.n);
    struct al_str ext = {dot, dot ? name.n - (size_t)(dot - name.p) : 0};
    if (ext.n > EXTENSION_MAX)
        ext.n = 0;
    al_buf_add_str(out, al_utf8_cut(name, SAFE_MAX - ext.n));
    al_buf_add_str(out, ext);
}

void al_artifact_safe_name(struct al_str name, struct al_buf *out)
{
    autobuf struct al_buf b = AL_BUF_INIT(1 << 16);
    name.n = name.n > 4096 ? 4096 : name.n;
    while (name.n) {
        uint32_t cp;
        unsigned n = al_utf8_decode(name, &cp);
        if (n == 0 || is_unsafe(cp))
            al_buf_addc(&b, '_');
        else
            al_buf_add(&b, name.p, n);
        n = n ? n : 1;
        name = (struct al_str){name.p + n, name.n - n};
    }
    if (is_reserved(al_buf_str(&b))) {
        autobuf struct al_buf plain = AL_BUF_INIT(1 << 16);
        al_buf_addc(&plain, '_');
        al_buf_add_str(&plain, al_buf_str(&b));
        al_buf_clear(&b);
        al_buf_add_str(&b, al_buf_str(&plain));
    }
    size_t start = out->n;
    add_cut(al_buf_str(&b), out);
    /* Windows takes them away, and a leading blank is never meant. */
    for (size_t i = out->n; i > start && (out->p[i - 1] == '.' || out->p[i - 1] == ' '); i--)
        out->p[i - 1] = '_';
    for (size_t i = start; i < out->n && out->p[i] == ' '; i++)
        out->p[i] = '_';
    if (out->n == start)
        al_buf_adds(out, "artifact");
}
