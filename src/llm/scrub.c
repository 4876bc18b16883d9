/* A provider's text for people: without keys, on one line, with nothing that a terminal would obey. */
#include "base/text.h"
#include "llm/llm_int.h"

#include <ctype.h>
#include <strings.h>

#define REDACTED "‹redacted›"
#define WHOLE_FROM 12 /* bytes from which a key is replaced also within a word */
#define PIECE_FROM 8  /* bytes of a key's beginning or middle that are as good as it */
#define MAX_KEY 4096
#define MAX_SEARCHED 512 /* bytes of a key whose middle is looked for, too */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool hex(struct al_str s, unsigned digits, unsigned *ret)
{
    unsigned v = 0;
    for (unsigned i = 0; i < digits; i++) {
        int d = i < s.n ? hex_digit(s.p[i]) : -1;
        if (d < 0)
            return false;
        v = v * 16 + (unsigned)d;
    }
    *ret = v;
    return true;
}

/* One byte as it may stand for itself, as %41, as \u0041 or behind a backslash. Bytes used; 0 at the end. */
static size_t one_byte(struct al_str s, unsigned char *ret)
{
    unsigned v;
    if (!s.n)
        return 0;
    *ret = (unsigned char)s.p[0];
    if (s.p[0] == '%' && hex((struct al_str){s.p + 1, s.n - 1}, 2, &v)) {
        *ret = (unsigned char)v;
        return 3;
    }
    if (s.p[0] == '\\' && s.n > 1 && s.p[1] == 'u' && hex((struct al_str){s.p + 2, s.n - 2}, 4, &v) &&
        v < 256) {
        *ret = (unsigned char)v;
        return 6;
    }
    if (s.p[0] == '\\' && s.n > 1) {
        *ret = (unsigned char)s.p[1];
        return 2;
    }
    return 1;
}

/* How much of the key from its byte `from` on stands at the front of s; *ret_used: bytes of s. */
static size_t matches(struct al_str s, struct al_str key, size_t from, size_t *ret_used)
{
    size_t at = 0, k = from;
    *ret_used = 0;
    while (k < key.n) {
        unsigned char c;
        size_t used = one_byte((struct al_str){s.p + at, s.n - at}, &c);
        /* Escaped or not: a key may have a percent sign or a backslash of its own. */
        if (used > 1 && tolower(c) != tolower((unsigned char)key.p[k])) {
            c = (unsigned char)s.p[at];
            used = 1;
        }
        if (!used || tolower(c) != tolower((unsigned char)key.p[k]))
            break;
        at += used;
        k++;
    }
    *ret_used = at;
    return k - from;
}

static bool is_word(unsigned char c)
{
    return isalnum(c) || c == '_';
}

static bool is_key_byte(char c)
{
    return isalnum((unsigned char)c) || strchr("_-.*~+/=", c);
}

static size_t key_bytes(struct al_str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] && is_key_byte(s.p[n]))
        n++;
    while (n && s.p[n - 1] == '.')
        n--; /* the sentence's */
    return n;
}

/* Bytes at i that are the key, or so much of it that it is as good as the key. */
static size_t known_key(struct al_str s, size_t i, struct al_str key)
{
    struct al_str rest = {s.p + i, s.n - i};
    size_t used, n = key.n ? matches(rest, key, 0, &used) : 0;
    if (n && n == key.n && n < WHOLE_FROM) {
        bool front = i == 0 || !is_word((unsigned char)s.p[i - 1]);
        bool back = used == rest.n || !is_word((unsigned char)rest.p[used]);
        return front && back ? used : 0;
    }
    if (key.n < WHOLE_FROM)
        return 0;
    if (n >= PIECE_FROM)
        return n == key.n ? used : used + key_bytes((struct al_str){rest.p + used, rest.n - used});
    size_t best = 0;
    for (size_t from = 1; key.n <= MAX_SEARCHED && from + WHOLE_FROM <= key.n; from++)
        if (matches(rest, key, from, &used) >= WHOLE_FROM && used > best)
            best = used;
    return best;
}

/* How the keys of this world begin, and how long they are at least behind it. */
static const struct {
    const char *front;
    size_t min;
} looks[] = {{"sk-", 6},    {"sk_", 8},    {"gsk_", 12}, {"xai-", 12}, {"hf_", 16},   {"AIza", 20},
             {"pplx-", 12}, {"nvapi-", 8}, {"ghp_", 16}, {"r8_", 16},  {"csk-", 12},  {"fw_", 12},
             {"sess-", 12}, {"eyJ", 24},   {"key-", 16}, {"AKIA", 12}, {"ya29.", 12}, {"github_pat_", 12}};

static size_t looks_like_key(struct al_str rest)
{
    for (size_t i = 0; i < sizeof(looks) / sizeof(*looks); i++) {
        size_t n = strlen(looks[i].front);
        if (rest.n < n || strncasecmp(rest.p, looks[i].front, n) != 0)
            continue;
        size_t m = key_bytes((struct al_str){rest.p + n, rest.n - n});
        if (m >= looks[i].min)
            return n + m;
    }
    return 0;
}

/* "Bearer …", "api_key=…": what stands behind such a word. Bytes up to the value; *ret_value: of it. */
static size_t named_key(struct al_str rest, size_t *ret_value)
{
    static const char *const names[] = {"bearer", "x-api-key",    "api-key",      "api_key",
                                        "apikey", "access_token", "authorization"};
    static const char *const words[] = {"authentication", "authorization", "credentials", "required",
                                        "provided",       "incorrect",     "something"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        size_t n = strlen(names[i]);
        if (rest.n < n || strncasecmp(rest.p, names[i], n) != 0)
            continue;
        size_t v = n;
        while (v < rest.n && v < n + 8 && rest.p[v] && strchr(" \t\"':=\\", rest.p[v]))
            v++;
        size_t m = v > n ? key_bytes((struct al_str){rest.p + v, rest.n - v}) : 0;
        bool word = false;
        for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
            word = word || (m == strlen(words[k]) && strncasecmp(rest.p + v, words[k], m) == 0);
        /* A word of a sentence has no digit, and stands behind a blank. */
        bool plain = i > 0 && rest.p[n] == ' ';
        if (m < 8 || word || plain)
            return 0;
        *ret_value = m;
        return v;
    }
    return 0;
}

struct piece {
    struct al_buf *out;
    size_t chars, max;
    bool blank; /* one is due before the next character */
    bool full;
};

static void put(struct piece *p, struct al_str s)
{
    size_t room = p->max - p->chars, n = al_utf8_count(s);
    if (p->full)
        return;
    if (n > room) {
        al_buf_adds(p->out, "…");
        p->full = true;
        return;
    }
    al_buf_add_str(p->out, s);
    p->chars += n;
}

/* One character of the text, visible; white space runs become one blank. */
static size_t put_char(struct piece *p, struct al_str rest)
{
    uint32_t cp;
    unsigned n = al_utf8_decode(rest, &cp);
    if (rest.p[0] == ' ' || (rest.p[0] >= '\t' && rest.p[0] <= '\r')) {
        p->blank = p->chars > 0;
        return 1;
    }
    if (p->blank)
        put(p, AL_STR(" "));
    p->blank = false;
    char shown[64];
    struct al_buf b = {.p = shown, .cap = sizeof(shown), .max = sizeof(shown) / 2};
    if (n)
        al_text_visible(&b, (struct al_str){rest.p, n}, false);
    put(p, n ? al_buf_str(&b) : AL_STR("\xef\xbf\xbd"));
    return n ? n : 1;
}

void al_llm_scrub(struct al_str text, const char *key, size_t max_chars, struct al_buf *out)
{
    struct piece p = {.out = out, .max = max_chars};
    struct al_str known = al_str_of(key);
    if (known.n > MAX_KEY)
        known.n = MAX_KEY;
    for (size_t i = 0; i < text.n && !p.full;) {
        struct al_str rest = {text.p + i, text.n - i};
        bool begins = i == 0 || !is_word((unsigned char)text.p[i - 1]);
        size_t value = 0, n = known_key(text, i, known);
        if (!n && begins)
            n = looks_like_key(rest);
        size_t front = !n && begins ? named_key(rest, &value) : 0;
        if (front) { /* the name stays, its value is looked at by itself */
            for (size_t k = 0; k < front && !p.full;)
                k += put_char(&p, (struct al_str){rest.p + k, rest.n - k});
            i += front;
            n = value;
        }
        if (n) {
            if (p.blank)
                put(&p, AL_STR(" "));
            p.blank = false;
            put(&p, AL_STR(REDACTED));
            i += n;
        } else {
            i += put_char(&p, rest);
        }
    }
}
