/* A source that gives a text in pieces of one size, and a sink that writes down what it is told. */
#ifndef AL_TESTS_TABLE_JSON_HELP_H
#define AL_TESTS_TABLE_JSON_HELP_H

#include "table/readers.h"

#include <inttypes.h>
#include <stdio.h>

struct al_source {
    struct al_str text;
    size_t at, piece;
};

int al_source_next(struct al_source *s, struct al_str *ret, struct al_err *err)
{
    (void)err;
    size_t n = s->text.n - s->at < s->piece ? s->text.n - s->at : s->piece;
    while (s->at + n < s->text.n && ((unsigned char)s->text.p[s->at + n] & 0xc0) == 0x80)
        n++;
    *ret = (struct al_str){s->text.p + s->at, n};
    s->at += n;
    return 0;
}

uint64_t al_source_bytes(const struct al_source *s)
{
    return s->at;
}

/* (labels) of columns, +label of late ones, rows as line:cell|cell with ' before strings, # numbers, ~ text,
 * - for NULL; notes as !kind@line behind it all, each kind once with its count. */
struct written {
    struct al_buf out;
    unsigned notes[AL_NOTE_COUNT];
    uint64_t lines[AL_NOTE_COUNT];
    char texts[AL_NOTE_COUNT][300];
    uint64_t rows;
    size_t width;
    bool silent; /* count only */
};

static int on_sheet(void *ud, struct al_str name, struct al_err *err)
{
    (void)ud, (void)name, (void)err;
    return 0;
}

static int on_columns(void *ud, const struct al_str *labels, size_t n, struct al_err *err)
{
    struct written *w = ud;
    (void)err;
    al_buf_addc(&w->out, '(');
    for (size_t i = 0; i < n; i++) {
        if (i)
            al_buf_addc(&w->out, ',');
        al_buf_add_str(&w->out, labels[i]);
    }
    al_buf_adds(&w->out, ")");
    w->width = n;
    return 0;
}

static int on_late(void *ud, struct al_str label, struct al_err *err)
{
    struct written *w = ud;
    (void)err;
    al_buf_adds(&w->out, " +");
    al_buf_add_str(&w->out, label);
    w->width++;
    return 0;
}

static int on_row(void *ud, const struct al_cell *cells, size_t n, uint64_t line, struct al_err *err)
{
    struct written *w = ud;
    (void)err;
    w->rows++;
    if (w->silent)
        return 0;
    al_buf_addf(&w->out, " %" PRIu64 ":", line);
    for (size_t i = 0; i < n; i++) {
        if (i)
            al_buf_addc(&w->out, '|');
        al_buf_addc(&w->out, "~'#-"[cells[i].kind]);
        al_buf_add_str(&w->out, cells[i].text);
    }
    return 0;
}

__attribute__((format(printf, 4, 5))) static void on_note(void *ud, enum al_note kind, uint64_t line,
                                                          const char *fmt, ...)
{
    struct written *w = ud;
    if (w->notes[kind]++ == 0) {
        va_list ap;
        va_start(ap, fmt);
        (void)vsnprintf(w->texts[kind], sizeof w->texts[kind], fmt, ap);
        va_end(ap);
        w->lines[kind] = line;
    }
}

static int on_progress(void *ud, uint64_t bytes, struct al_err *err)
{
    (void)ud, (void)bytes, (void)err;
    return 0;
}

static struct al_table_sink sink_into(struct written *w)
{
    al_buf_init(&w->out, (size_t)64 << 20);
    return (struct al_table_sink){on_sheet, on_columns, on_late, on_row, on_note, on_progress, w};
}

static int read_json(struct al_str text, size_t piece, bool lines, const struct al_table_opts *opts,
                     struct written *w, struct al_table_found *found, struct al_err *err)
{
    struct al_source src = {text, 0, piece};
    struct al_table_sink sink = sink_into(w);
    int r = al_jsonrows_read(&src, lines, opts, &sink, found, err);
    for (int i = 0; i < AL_NOTE_COUNT && r == 0; i++) {
        if (w->notes[i])
            al_buf_addf(&w->out, " !%s@%" PRIu64 "x%u", al_note_id((enum al_note)i), w->lines[i],
                        w->notes[i]);
    }
    return r;
}

#endif
