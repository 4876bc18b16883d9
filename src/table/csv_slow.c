#include "table/csv_int.h"

#include "base/mem.h"

void al_csv_slow_init(struct al_csv_slow *k, const struct al_csv_dialect *d)
{
    *k = (struct al_csv_slow){.d = d, .spans = al_xcalloc(AL_CSV_MAX_CELLS, sizeof *k->spans)};
    al_buf_init(&k->text, AL_CSV_MAX_RECORD + AL_CSV_PAD);
}

void al_csv_slow_fini(struct al_csv_slow *k)
{
    free(k->spans);
    al_buf_free(&k->text);
    k->spans = NULL;
}

static bool is_quote(const struct al_csv_slow *k, const char *p)
{
    return *p == k->d->quote && p != k->literal_at && !(k->literal_from && p >= k->literal_from);
}

static bool ends_field(const struct al_csv_slow *k, const char *p, const char *e)
{
    return p == e || *p == k->d->delim || *p == '\n' || *p == '\r';
}

/* An odd number of backslashes before q, none of them before s. */
static bool is_escaped(const char *s, const char *q)
{
    size_t n = 0;
    while (q > s && q[-1] == '\\') {
        q--;
        n++;
    }
    return n & 1;
}

/* Text of a quoted field with its backslashes: \" is ", and \\ is \. */
static void add_unescaped(struct al_csv_slow *k, const char *p, const char *q)
{
    if (!k->d->escape) {
        al_buf_add(&k->text, p, (size_t)(q - p));
        return;
    }
    for (; p < q; p++) {
        if (*p == '\\' && p + 1 < q && (p[1] == '\\' || p[1] == k->d->quote))
            p++;
        al_buf_addc(&k->text, *p);
    }
}

static void count_lines(struct al_csv_slow *k, const char *p, const char *e)
{
    for (; p < e; p++)
        k->lines += *p == '\n' || (*p == '\r' && (p + 1 == e || p[1] != '\n'));
}

/* A field whose quote stands at p. Returns where the rest of the field begins: at a delimiter when it is a
 * good one. */
static const char *quoted_field(struct al_csv_slow *k, const char *p, const char *e)
{
    const char *open = p, *from = p + 1, *q = from;
    while (q < e && (q = memchr(q, k->d->quote, (size_t)(e - q)))) {
        if ((k->d->escape && is_escaped(open + 1, q)) || !is_quote(k, q)) {
            q++;
            continue;
        }
        if (k->mode != AL_CSV_NODOUBLE && q + 1 < e && q[1] == k->d->quote) {
            add_unescaped(k, from, q + 1);
            q += 2;
            from = q;
            continue;
        }
        const char *next = q + 1;
        while (next < e && *next == ' ' && k->d->delim != ' ')
            next++;
        if (ends_field(k, next, e)) {
            k->stray += next != q + 1;
            add_unescaped(k, from, q);
            count_lines(k, open, q);
            return q + 1;
        }
        if (!(k->mode == AL_CSV_NODOUBLE && q[1] == k->d->quote)) {
            k->stray++;
            k->trouble = k->trouble ? k->trouble : open;
            if (k->mode == AL_CSV_CLOSE) {
                add_unescaped(k, from, q);
                count_lines(k, open, q);
                return q + 1;
            }
        }
        q++;
    }
    add_unescaped(k, from, e);
    count_lines(k, open, e);
    k->trouble = k->trouble ? k->trouble : open;
    k->whole = false;
    return e;
}

void al_csv_slow_record(struct al_csv_slow *k, const char *p, const char *e, bool eof)
{
    k->n = 0;
    k->stray = 0;
    k->trouble = NULL;
    k->whole = true;
    k->lines = 1;
    al_buf_clear(&k->text);
    for (;;) {
        size_t at = k->text.n;
        bool quoted = false;
        if (k->d->space && k->n && p < e && *p == ' ')
            p++;
        if (p < e && is_quote(k, p)) {
            quoted = true;
            p = quoted_field(k, p, e);
        }
        const char *rest = p;
        /* An apostrophe within a word is nothing odd. */
        for (; !ends_field(k, p, e); p++)
            k->stray += *p == '"' && k->d->quote == '"' && (!quoted || k->mode != AL_CSV_CLOSE);
        al_buf_add(&k->text, rest, (size_t)(p - rest));
        if (k->n < AL_CSV_MAX_CELLS)
            k->spans[k->n] = (struct al_csv_span){at, k->text.n - at, quoted};
        k->n++;
        if (p == e || *p == '\n' || *p == '\r')
            break;
        p++;
    }
    if (p == e)
        k->whole = k->whole && eof;
    else if (*p == '\r' && p + 1 < e && p[1] == '\n')
        p++;
    k->end = p == e ? e : p + 1;
}
