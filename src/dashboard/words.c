/* Words of headers and goals: split, folded, looked up. Latin letters lose their accents; letters of other
 * scripts stay. */
#include "dashboard/profile_int.h"

#include "base/text.h"

#include <string.h>

#define TEXT_BYTES ((size_t)16 << 10) /* of a text that count */
#define WORD_BYTES 63                 /* of a word; what is longer is cut */

/* U+00C0 to U+017F as plain letters; "_" is none. */
static const char latin[] =
    "A A A A A A AE C E E E E I I I I D N O O O O O _ O U U U U Y TH ss a a a a a a ae c e e e e i i "
    "i i d n o o o o o _ o u u u u y th y A a A a A a C c C c C c C c D d D d E e E e E e E e E e G g "
    "G g G g G g H h H h I i I i I i I i I i IJ ij J j K k k L l L l L l L l L l N n N n N n n N n O "
    "o O o O o OE oe R r R r R r S s S s S s S s T t T t T t U u U u U u U u U u U u W w Y y Y Z z Z "
    "z Z z s";

/* The plain letters of one of U+00C0 to U+017F, 1 or 2. */
static struct al_str latin_of(uint32_t cp)
{
    const char *p = latin;
    for (uint32_t i = 0xc0; i < cp; i++)
        p = strchr(p, ' ') + 1;
    size_t n = 1;
    while (p[n] && p[n] != ' ')
        n++;
    return (struct al_str){p, n};
}

static uint32_t lower_of(uint32_t cp)
{
    if ((cp >= 'A' && cp <= 'Z') || (cp >= 0x391 && cp <= 0x3a9) || (cp >= 0x410 && cp <= 0x42f))
        return cp + 32;
    return cp >= 0x400 && cp <= 0x40f ? cp + 80 : cp;
}

enum sort {
    SORT_NONE, /* no part of a word */
    SORT_LOWER,
    SORT_UPPER,
    SORT_DIGIT,
    SORT_MARK, /* an accent of its own: left out */
};

struct letter {
    enum sort sort;
    char text[4]; /* lower case, plain where that is known */
    unsigned n;
};

static bool is_sign(uint32_t cp)
{
    return (cp < 0xc0 && cp != 0xaa && cp != 0xb5 && cp != 0xba) || (cp >= 0x2000 && cp <= 0x2bff) ||
           (cp >= 0x2e00 && cp <= 0x2e7f) || (cp >= 0x3000 && cp <= 0x3020) ||
           (cp >= 0xe000 && cp <= 0xf8ff) || (cp >= 0xfe00 && cp <= 0xfe6f) ||
           (cp >= 0xff00 && cp <= 0xff0f) || cp == 0xfeff || cp == 0xfffd || cp >= 0xe0000;
}

static void plain_letter(uint32_t cp, struct letter *ret)
{
    struct al_str plain = latin_of(cp);
    if (*plain.p == '_')
        return;
    ret->sort = plain.p[0] >= 'A' && plain.p[0] <= 'Z' ? SORT_UPPER : SORT_LOWER;
    ret->n = (unsigned)plain.n;
    for (size_t i = 0; i < plain.n; i++)
        ret->text[i] = (char)lower_of((unsigned char)plain.p[i]);
}

/* The next character of a text; its bytes, at least 1. */
static size_t next_letter(struct al_str s, struct letter *ret)
{
    uint32_t cp = 0;
    unsigned n = al_utf8_decode(s, &cp);
    *ret = (struct letter){.sort = SORT_NONE};
    if (!n)
        return 1;
    if (cp >= 0x300 && cp <= 0x36f) {
        ret->sort = SORT_MARK;
    } else if (cp >= 0xc0 && cp < 0x180) {
        plain_letter(cp, ret);
    } else if (cp >= '0' && cp <= '9') {
        *ret = (struct letter){.sort = SORT_DIGIT, .text = {(char)cp}, .n = 1};
    } else if ((cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z') || !is_sign(cp)) {
        uint32_t low = lower_of(cp);
        ret->sort = low != cp ? SORT_UPPER : SORT_LOWER;
        ret->n = al_utf8_encode(low, ret->text);
    }
    return n;
}

void al_fold(struct al_buf *out, struct al_str text)
{
    while (text.n) {
        struct letter l;
        size_t n = next_letter(text, &l);
        if (l.sort == SORT_NONE)
            al_buf_add(out, text.p, n);
        else if (l.sort != SORT_MARK)
            al_buf_add(out, l.text, l.n);
        text = (struct al_str){text.p + n, text.n - n};
    }
}

struct splitter {
    struct al_arena *arena;
    struct al_words *to;
    char word[WORD_BYTES + 1];
    size_t n;
    enum sort last;
};

static void end_word(struct splitter *s)
{
    if (s->n && s->to->n < AL_WORDS_MAX) {
        char *p = al_arena_dup(s->arena, (struct al_str){s->word, s->n});
        if (p)
            s->to->list[s->to->n++] = (struct al_str){p, s->n};
    }
    s->n = 0;
    s->last = SORT_NONE;
}

/* Whether a word ends before this letter: "priceUsd", "HTTPServer", "budget2013"; not "3d", "25th". */
static bool begins_word(const struct splitter *s, const struct letter *l, struct al_str rest)
{
    struct letter next;
    if (l->sort == SORT_DIGIT)
        return s->last == SORT_LOWER || s->last == SORT_UPPER;
    if (l->sort != SORT_UPPER)
        return false;
    if (s->last == SORT_LOWER)
        return s->n > 1; /* "kWh", "iPhone" */
    (void)(rest.n ? next_letter(rest, &next) : (next.sort = SORT_NONE));
    return s->last == SORT_UPPER && next.sort == SORT_LOWER;
}

void al_words_of(struct al_arena *arena, struct al_str text, struct al_words *ret)
{
    struct splitter s = {.arena = arena, .to = ret};
    ret->n = 0;
    if (text.n > TEXT_BYTES)
        text = al_utf8_cut(text, TEXT_BYTES);
    while (text.n) {
        struct letter l;
        size_t n = next_letter(text, &l);
        text = (struct al_str){text.p + n, text.n - n};
        if (l.sort == SORT_MARK)
            continue;
        if (l.sort == SORT_NONE || begins_word(&s, &l, text))
            end_word(&s);
        if (l.sort == SORT_NONE)
            continue;
        if (s.n + l.n <= WORD_BYTES) {
            memcpy(s.word + s.n, l.text, l.n);
            s.n += l.n;
        }
        s.last = l.sort;
    }
    end_word(&s);
}

/* --- lists: all of them in one table, made at the first question; the words stay where the lists are --- */

#define SLOTS 8192 /* over twice the words; a test counts them */

struct entry {
    const char *word;
    uint32_t n, classes;
};

static uint32_t hash_of(struct al_str word)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < word.n; i++)
        h = (h ^ (unsigned char)word.p[i]) * 16777619u;
    return h;
}

/* The word's entry, or the free one where it belongs. */
static struct entry *entry_of(struct entry *table, struct al_str word)
{
    uint32_t i = hash_of(word) % SLOTS;
    while (table[i].word && !al_str_eq(word, (struct al_str){table[i].word, table[i].n}))
        i = (i + 1) % SLOTS;
    return &table[i];
}

static struct entry *all_words(void)
{
    static struct entry table[SLOTS];
    static bool made;
    for (int c = 0; c < AL_CLASS_COUNT_OF && !made; c++)
        for (const char *p = al_word_list((enum al_word_class)c); *p;) {
            size_t n = strcspn(p, " ");
            struct entry *e = entry_of(table, (struct al_str){p, n});
            *e = (struct entry){p, (uint32_t)n, e->classes | 1u << c};
            p += n + (p[n] ? 1 : 0);
        }
    made = true;
    return table;
}

static uint32_t classes_exact(struct al_str word)
{
    return word.n && word.n <= WORD_BYTES ? entry_of(all_words(), word)->classes : 0;
}

/* The word without its last letters, with another one (or 0) in their place. */
static void add_reading(char ret[3][64], size_t *n, struct al_str word, size_t cut, char tail)
{
    if (word.n > WORD_BYTES || word.n < cut + 2)
        return;
    char *to = ret[(*n)++];
    memcpy(to, word.p, word.n - cut);
    to[word.n - cut] = tail;
    to[word.n - cut + (tail != 0)] = 0;
}

size_t al_word_singulars(struct al_str w, char ret[3][64])
{
    size_t n = 0;
    if (w.n < 4 || w.p[w.n - 1] != 's')
        return 0;
    if (al_str_ends(w, "ies"))
        add_reading(ret, &n, w, 3, 'y');
    if (!al_str_ends(w, "ss"))
        add_reading(ret, &n, w, 1, 0);
    if (al_str_ends(w, "ces"))
        add_reading(ret, &n, w, 3, 'z'); /* veces */
    else if (al_str_ends(w, "es"))
        add_reading(ret, &n, w, 2, 0);
    return n;
}

uint32_t al_word_classes(struct al_str word)
{
    char reading[3][64];
    uint32_t r = classes_exact(word);
    if (r)
        return r; /* what a list has as a plural means that, not its singular */
    size_t n = al_word_singulars(word, reading);
    for (size_t i = 0; i < n; i++)
        r |= classes_exact(al_str_of(reading[i]));
    return r;
}

static bool starts_as(struct al_str word, const char *const *list)
{
    for (; *list; list++)
        if (al_str_starts(word, *list))
            return true;
    return false;
}

/* "persnum", "ptid": the number of one of those. */
static bool is_number_of(struct al_str word)
{
    static const char *const things[] = {"int", "pers", "pat", "pt",    "sub",  "subj", "obs", "doc", "inv",
                                         "acc", "micc", "mic", "uniq",  "resp", "hh",   "fam", "sch", "tch",
                                         "stu", "samp", "rec", "trans", "test", "vis",  NULL};
    struct al_str head = word;
    if (al_str_ends(word, "num"))
        head.n -= 3;
    else if (al_str_ends(word, "id"))
        head.n -= 2;
    else
        return false;
    return head.n <= 5 && starts_as(head, things);
}

/* "domgross": a known word of 5 letters behind something; "avgprice": two known words. */
uint32_t al_word_classes_deep(struct al_str word)
{
    uint32_t r = al_word_classes(word);
    static const char *const ids[] = {"id", "no", "nr", "num", "seq"}; /* "siteid", "visitnum" */
    for (size_t i = 0; i < sizeof ids / sizeof *ids && !r; i++) {
        size_t n = strlen(ids[i]);
        if (word.n > n + 1 && al_str_ends(word, ids[i]) &&
            al_word_classes((struct al_str){word.p, word.n - n}))
            r = AL_CLASS(ID);
    }
    /* "aeseq", "patid", "intnum", "dxyr": marks of people who shorten everything. */
    if (!r && word.n >= 5 && (al_str_ends(word, "seq") || al_str_ends(word, "spid") || is_number_of(word)))
        r = AL_CLASS(ID);
    if (!r && word.n >= 4 && al_str_ends(word, "yr"))
        r = AL_CLASS(YEAR);
    for (size_t at = 2; !r && at + 3 < word.n; at++) {
        struct al_str tail = {word.p + at, word.n - at}, head = {word.p, at};
        uint32_t t = al_word_classes(tail);
        if (!t || ((unsigned char)*tail.p & 0xc0) == 0x80)
            continue;
        uint32_t h = al_word_classes(head);
        bool group = !(t & ~(AL_CLASS(DIMENSION) | AL_CLASS(CODE) | AL_CLASS(RANK))) &&
                     !h; /* "extraversion" is no version */
        if (h || (tail.n >= 5 && at >= 3 && !group))
            r = t | h;
    }
    return r;
}

bool al_word_looks_plural(struct al_str w)
{
    static const char *const no[] = {"ss",   "us",  "is",  "ous",  "ics",  "ays",  "less",
                                     "news", "bus", "gas", "bias", "lens", "orres"};
    bool vowel = false;
    if (w.n < 4 || w.p[w.n - 1] != 's')
        return false;
    for (size_t i = 0; i < w.n; i++)
        vowel |= strchr("aeiouy", w.p[i]) != NULL || (unsigned char)w.p[i] >= 0x80;
    if (!vowel)
        return false; /* "hcfcs" */
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (al_str_ends(w, no[i]))
            return false;
    return true;
}

bool al_word_is(struct al_str word, enum al_word_kind kind)
{
    static const uint32_t classes[AL_WORD_KINDS] = {
        [AL_WORD_FLOW] = AL_CLASS(MONEY) | AL_CLASS(FLOW) | AL_CLASS(COUNT) | AL_CLASS(TOTAL),
        [AL_WORD_LEVEL] = AL_CLASS(LEVEL) | AL_CLASS(LEVEL_RATE) | AL_CLASS(CUMULATIVE),
        [AL_WORD_AVERAGE] = AL_CLASS(RATE) | AL_CLASS(UNIT),
        [AL_WORD_PERCENT] = AL_CLASS(PERCENT),
        [AL_WORD_ID] = AL_CLASS(ID),
        [AL_WORD_NOT_MEASURE] = AL_CLASS(CODE) | AL_CLASS(RANK),
        [AL_WORD_PLACE] = AL_CLASS(PLACE),
        [AL_WORD_DIMENSION] = AL_CLASS(DIMENSION),
        [AL_WORD_TIME] = AL_CLASS(TIME),
        [AL_WORD_YEAR] = AL_CLASS(YEAR),
    };
    return (unsigned)kind < AL_WORD_KINDS && (al_word_classes(word) & classes[kind]);
}
