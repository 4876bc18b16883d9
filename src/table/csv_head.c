#include "table/csv_int.h"

#include "base/mem.h"
#include "base/text.h"

struct place {
    const char *start;
    uint64_t line;
};
struct sample {
    struct al_head_table t;
    struct place places[AL_HEAD_ROWS]; /* of its rows */
};

static void read_rows(struct al_csv *c, struct al_str sample, bool whole, struct sample *s)
{
    struct al_csv_slow *k = &c->slow;
    struct al_head_table *t = &s->t;
    const char *p = sample.p, *e = p + sample.n;
    uint64_t line = c->line;
    bool blank = false;
    k->mode = AL_CSV_INNER;
    k->literal_at = k->literal_from = NULL;
    size_t cap = 0;
    while (p < e && t->n < AL_HEAD_ROWS) {
        al_csv_slow_record(k, p, e, whole);
        if (!k->whole && !whole && t->n)
            break;
        if (k->n == 1 && k->text.n == 0) {
            blank = true;
        } else {
            if (t->n == cap)
                t->rows = al_xrealloc(t->rows, (cap = cap ? cap * 2 : 16) * sizeof *t->rows);
            s->places[t->n] = (struct place){p, line};
            struct al_head_row *r = &t->rows[t->n++];
            *r = (struct al_head_row){.n = k->n, .after_blank = blank, .comment = *p == '#'};
            for (size_t i = 0; i < k->n && i < AL_CSV_MAX_CELLS; i++)
                al_head_cell(r, i, (struct al_str){al_buf_str(&k->text).p + k->spans[i].at, k->spans[i].n});
            while (k->n <= AL_CSV_MAX_CELLS && r->tail < k->n && k->spans[k->n - 1 - r->tail].n == 0 &&
                   !k->spans[k->n - 1 - r->tail].quoted)
                r->tail++;
            blank = false;
        }
        line += k->lines;
        p = k->end;
    }
    al_head_width(t);
}

static void say_preamble(struct al_csv *c, const struct sample *s, size_t from, size_t to)
{
    autobuf struct al_buf text = AL_BUF_INIT(4096);
    struct al_str all = {s->places[from].start, (size_t)(s->places[to].start - s->places[from].start)};
    al_text_visible(&text, al_utf8_cut(al_str_trim(all), 500), true);
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\n' || text.p[i] == '\r')
            text.p[i] = ' ';
    }
    c->sink->note(c->sink->ud, AL_NOTE_PREAMBLE, s->places[from].line, "%zu line%s before the table: %.*s",
                  to - from, to - from == 1 ? "" : "s", AL_FMT(al_buf_str(&text)));
}

static void say_comments(struct al_csv *c, const struct sample *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct al_str line = {s->places[i].start, (size_t)(s->places[i + 1].start - s->places[i].start)};
        c->sink->note(c->sink->ud, AL_NOTE_COMMENT_LINES, s->places[i].line,
                      "comment lines before the table are skipped: %.*s",
                      AL_FMT(al_utf8_cut(al_str_trim(line), 200)));
    }
}

static void say_head(struct al_csv *c, const struct sample *s, const struct al_head *h)
{
    const struct al_table_sink *sink = c->sink;
    say_comments(c, s, h->comments);
    if (h->at > h->comments)
        say_preamble(c, s, h->comments, h->at);
    if (h->tail)
        sink->note(sink->ud, AL_NOTE_DELIMITER, 0,
                   "each line ends in %zu empty cell%s without a name: no column is made of %s", h->tail,
                   h->tail == 1 ? "" : "s", h->tail == 1 ? "it" : "them");
    if (h->named_rows)
        sink->note(sink->ud, AL_NOTE_HEADER, s->places[h->at].line,
                   "the header has one name less than the rows have cells: the first column has no name");
    if (!h->header_rows && !c->opts->header)
        sink->note(sink->ud, AL_NOTE_HEADER, 0,
                   "the first row looks like data, so the columns have no names: say header when it is one");
    if (h->header_rows > 1)
        sink->note(sink->ud, AL_NOTE_HEADER, s->places[h->at].line,
                   "the header has %u lines: each name is made of them", h->header_rows);
}

void al_csv_find_head(struct al_csv *c, struct al_str sample, bool whole, struct al_csv_head *ret)
{
    struct sample s = {0};
    struct al_head h;
    read_rows(c, sample, whole, &s);
    *ret = (struct al_csv_head){.start = sample.p, .line = c->line};
    if (s.t.n) {
        al_head_find(&s.t, c->opts, &h);
        say_head(c, &s, &h);
        if (h.at) {
            ret->start = s.places[h.at].start;
            ret->line = s.places[h.at].line;
        }
        ret->width = s.t.width;
        ret->head = h;
    }
    free(s.t.rows);
}
