#include "table/csv_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

#define WIDTHS 256
#define NEAR 0.95 /* a second that scores so much of the first is a near tie */
#define MAX_TITLES 8
#define DOUBTFUL 0.5 /* below that, unusual delimiters are tried, too */

struct score {
    struct al_csv_dialect d;
    double points, consistency;
    size_t width, rows, stray, quoted;
    size_t cells, decimals; /* that hold nothing but a number with a point */
    size_t first;           /* cells of the first row */
    size_t titles;          /* rows of one cell before the first that has more */
    bool gap;               /* and a blank line behind them */
};

static bool holds_other(struct al_str s, char delim)
{
    for (size_t i = 0; i < s.n; i++) {
        char ch = s.p[i];
        if (ch != delim && (ch == ';' || ch == '\t' || ch == '|'))
            return true;
    }
    return false;
}

static void score_of(struct score *ret, size_t usual, size_t dirty)
{
    double rows = (double)ret->rows;
    bool titled = ret->gap && ret->titles <= MAX_TITLES && usual >= 2 && usual + ret->titles == ret->rows;
    ret->consistency = (double)usual / rows;
    /* A header without a name for the names of rows, as R writes it. */
    if (ret->rows >= 4 && ret->first >= 2 && ret->first + 1 == ret->width && usual + 1 == ret->rows)
        ret->consistency = 1;
    /* Lines of a title, and then no exception. */
    if (titled)
        ret->consistency = 1;
    ret->points = ret->consistency * (1 - 0.4 * (double)dirty / (double)ret->cells) *
                  (1 - 0.5 * (double)ret->stray / rows) *
                  (1 + 0.005 * (double)(ret->width < 20 ? ret->width : 20));
    if (ret->first == 1)
        ret->points *= titled ? 0.9 : 0.6;
}

/* Rows of one width, most of all; cells that hold another delimiter and quotes that fit badly speak against
 * it. */
static void rate(struct al_csv_slow *k, struct al_str sample, bool whole, struct score *ret)
{
    const char *p = sample.p, *e = p + sample.n;
    size_t counts[WIDTHS] = {0}, dirty = 0, open = 0;
    k->d = &ret->d;
    k->mode = AL_CSV_INNER;
    while (p < e) {
        al_csv_slow_record(k, p, e, whole);
        if (!k->whole && !whole && ret->rows)
            break; /* cut by the end of the sample */
        p = k->end;
        if (k->n == 1 && k->text.n == 0) {
            ret->gap = ret->gap || (ret->rows && ret->titles == ret->rows);
            continue;
        }
        open += !k->whole;
        ret->stray += k->stray != 0;
        ret->titles += k->n == 1 && ret->titles == ret->rows;
        ret->rows++;
        if (ret->rows == 1)
            ret->first = k->n;
        counts[k->n < WIDTHS ? k->n : WIDTHS - 1]++;
        for (size_t i = 0; i < k->n && i < WIDTHS; i++) {
            struct al_str s = {al_buf_str(&k->text).p + k->spans[i].at, k->spans[i].n};
            ret->cells++;
            ret->quoted += k->spans[i].quoted;
            ret->decimals +=
                ret->d.delim == ' ' && !k->spans[i].quoted && memchr(s.p, '.', s.n) && al_head_numish(s);
            dirty += !k->spans[i].quoted && holds_other(s, ret->d.delim);
        }
    }
    for (size_t w = 2; w < WIDTHS; w++) {
        if (counts[w] && counts[w] >= counts[ret->width])
            ret->width = w;
    }
    if (!ret->rows || ret->width < 2)
        return;
    score_of(ret, counts[ret->width], dirty);
    if (open)
        ret->points *= 0.7;
}

/* Fields that begin and end with the quote, between what may be delimiters or line ends. */
static size_t quoted_like(struct al_str s, char quote, const char *delims)
{
    size_t starts = 0, ends = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != quote)
            continue;
        char before = i ? s.p[i - 1] : '\n', after = i + 1 < s.n ? s.p[i + 1] : '\n';
        starts += before && strchr(delims, before) && !strchr(delims, after);
        ends += after && strchr(delims, after) && !strchr(delims, before);
    }
    return starts < ends ? starts : ends;
}

struct
try {
    struct al_csv_slow *k;
    struct al_str sample;
    bool whole, single, backslash; /* worth trying: quotes of one stroke, a backslash before a quote */
    struct score best, second;
};

static void offer(struct try *t, const struct score *s)
{
    if (s->points > t->best.points) {
        if (t->best.d.delim != s->d.delim)
            t->second = t->best;
        t->best = *s;
    } else if (s->points > t->second.points && s->d.delim != t->best.d.delim) {
        t->second = *s;
    }
}

/* The best way to quote with this delimiter. */
static struct score rate_delim(struct try *t, char delim)
{
    struct score best = {.d = {.delim = delim, .quote = '"'}};
    rate(t->k, t->sample, t->whole, &best);
    if (t->backslash) {
        struct score s = {.d = {.delim = delim, .quote = '"', .escape = true}};
        rate(t->k, t->sample, t->whole, &s);
        if (s.points > best.points || (s.points == best.points && s.stray < best.stray))
            best = s;
    }
    if (t->single) {
        struct score s = {.d = {.delim = delim, .quote = '\''}};
        rate(t->k, t->sample, t->whole, &s);
        if (s.quoted >= 2 && s.stray * 4 <= s.quoted && s.points >= best.points)
            best = s;
    }
    return best;
}

/* A blank is a delimiter only where nothing else can be meant: fields in quotes, or many columns without
 * exception. */
static bool rare_is_clear(const struct score *s)
{
    if (s->rows < 2 || s->consistency < 0.9)
        return false;
    if (s->d.delim == ' ')
        return s->consistency > 0.98 && s->rows >= 4 &&
               (s->width >= 4 || s->quoted * 2 >= s->rows || s->decimals * 10 >= s->cells * 9);
    if (s->d.delim == ':')
        return s->width >= 4 && s->rows >= 3 && s->consistency > 0.98;
    return s->rows >= 3 || s->width >= 3;
}

/* "a, b, "c"": a blank behind every delimiter, and quotes behind it. */
static bool blank_behind(struct al_str s, char delim, char quote)
{
    size_t with = 0, without = 0, quotes = 0;
    bool in = false;
    for (size_t i = 0; i + 2 < s.n; i++) {
        if (s.p[i] == quote)
            in = !in;
        if (in || s.p[i] != delim)
            continue;
        if (s.p[i + 1] == ' ' || s.p[i + 1] == '\n' || s.p[i + 1] == '\r')
            with++;
        else
            without++;
        quotes += s.p[i + 1] == ' ' && s.p[i + 2] == quote;
    }
    return delim != ' ' && quotes && without == 0 && with >= 2;
}

static const char *delim_name(char d, char room[8])
{
    if (d == '\t')
        return "a tab";
    if (d == ' ')
        return "a blank";
    if (d == '\n')
        return "none";
    snprintf(room, 8, (unsigned char)d < 0x20 ? "\\x%02x" : "\"%c\"", d);
    return room;
}

/* Whether the second would give a table as well: about as many rows of one width, which is no smaller. A
 * decimal comma in each row, with a title above, is no second delimiter. */
static bool near_tie(const struct score *b, const struct score *s)
{
    return s->points > 0 && s->points >= NEAR * b->points && s->width >= b->width &&
           s->consistency >= NEAR * b->consistency;
}

static void tell(struct al_csv *c, const struct try *t)
{
    char one[8], two[8];
    const struct score *b = &t->best, *s = &t->second;
    if (!strchr(",;\t|\n", c->d.delim))
        c->sink->note(c->sink->ud, AL_NOTE_DELIMITER, 0, "the delimiter is %s", delim_name(c->d.delim, one));
    else if (near_tie(b, s) && s->d.delim != c->d.delim && c->d.delim != '\n')
        c->sink->note(c->sink->ud, AL_NOTE_DELIMITER, 0,
                      "the delimiter may be %s (taken) or %s: say which with delimiter",
                      delim_name(c->d.delim, one), delim_name(s->d.delim, two));
    if (c->d.space)
        c->sink->note(c->sink->ud, AL_NOTE_DELIMITER, 0,
                      "a blank stands behind each delimiter: it is not part of the cells");
    if (c->d.quote == '\'')
        c->sink->note(c->sink->ud, AL_NOTE_DELIMITER, 0, "fields are quoted by ' and not by \"");
    if (c->d.escape)
        c->sink->note(c->sink->ud, AL_NOTE_DELIMITER, 0,
                      "a backslash stands before quotes within a field: it is not kept");
}

static void try_all(struct try *t)
{
    static const char usual[] = ",;\t|", rare[] = "^~:\x1f\x01 ";
    for (const char *d = usual; *d; d++) {
        struct score s = rate_delim(t, *d);
        offer(t, &s);
    }
    for (const char *d = rare; *d && t->best.points < DOUBTFUL; d++) {
        struct score s = rate_delim(t, *d);
        if (rare_is_clear(&s))
            offer(t, &s);
    }
}

/* Lines at the top that begin with # say nothing of those below, if there are any. */
static struct al_str behind_comments(struct al_str s)
{
    const char *p = s.p, *e = s.p + s.n;
    while (p < e && *p == '#') {
        while (p < e && *p != '\n' && *p != '\r')
            p++;
        while (p < e && (*p == '\n' || *p == '\r'))
            p++;
    }
    return p < e ? (struct al_str){p, (size_t)(e - p)} : s;
}

void al_csv_sniff(struct al_csv *c, struct al_str sample, bool whole, bool tab)
{
    sample = behind_comments(sample);
    struct try t = {.k = &c->slow, .sample = sample, .whole = whole};
    char forced = c->opts->delimiter ? c->opts->delimiter : c->d.delim ? c->d.delim : 0;
    if (!forced && tab && memchr(sample.p, '\t', sample.n))
        forced = '\t';
    char around[12];
    snprintf(around, sizeof around, ",;\t|\r\n %c", forced);
    t.single = quoted_like(sample, '\'', around) >= 2 && quoted_like(sample, '"', around) == 0;
    t.backslash = al_str_find(sample, AL_STR("\\\"")) >= 0;
    if (forced) {
        t.best = rate_delim(&t, forced);
        c->d = t.best.d;
    } else {
        try_all(&t);
        c->d = t.best.d;
        /* A first line without a delimiter, and no two lines alike: prose, in one column. */
        if (t.best.points == 0 || (t.best.first == 1 && t.best.consistency < 0.5)) {
            c->d = (struct al_csv_dialect){.delim = '\n', .quote = '"'};
            if (t.single && quoted_like(sample, '\'', "\r\n") >= 2)
                c->d.quote = '\'';
        }
    }
    c->d.space = blank_behind(sample, c->d.delim, c->d.quote);
    c->slow.d = c->best.d = &c->d;
    if (!c->opts->delimiter)
        tell(c, &t);
}
