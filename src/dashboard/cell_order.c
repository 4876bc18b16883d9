/* Keys and values as SQLite compares and prints them. */
#include "dashboard/scan_int.h"

#include "base/text.h"
#include "dataset/cell.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>

static int sign(bool less, bool more)
{
    return (int)more - (int)less;
}

/* Exactly, although not every integer is a double. */
static int int_and_real(int64_t i, double d)
{
    if (d >= 9223372036854775808.0)
        return -1;
    if (d < -9223372036854775808.0)
        return 1;
    int64_t whole = (int64_t)d;
    if (i != whole)
        return sign(i<whole, i> whole);
    return sign((double)whole<d, (double)whole> d);
}

static int rank(const struct al_dash_cell *c)
{
    return c->kind == AL_DASH_CELL_NONE ? 0 : c->kind == AL_DASH_CELL_TEXT ? 2 : 1;
}

int al_dash_cell_cmp(const struct al_dash_cell *a, const struct al_dash_cell *b)
{
    if (rank(a) != rank(b))
        return rank(a) - rank(b);
    switch (a->kind) {
    case AL_DASH_CELL_NONE:
        return 0;
    case AL_DASH_CELL_TEXT:
        return al_str_cmp(a->text, b->text);
    case AL_DASH_CELL_INT:
        return b->kind == AL_DASH_CELL_INT ? sign(a->i<b->i, a->i> b->i) : int_and_real(a->i, b->d);
    case AL_DASH_CELL_REAL:
        return b->kind == AL_DASH_CELL_REAL ? sign(a->d<b->d, a->d> b->d) : -int_and_real(b->i, a->d);
    }
    return 0;
}

void al_dash_cell_of(sqlite3_stmt *s, int i, struct al_dash_cell *ret)
{
    *ret = (struct al_dash_cell){.kind = AL_DASH_CELL_NONE};
    switch (sqlite3_column_type(s, i)) {
    case SQLITE_INTEGER:
        ret->kind = AL_DASH_CELL_INT;
        ret->i = sqlite3_column_int64(s, i);
        break;
    case SQLITE_FLOAT:
        ret->kind = AL_DASH_CELL_REAL;
        ret->d = sqlite3_column_double(s, i);
        break;
    case SQLITE_TEXT:
        ret->kind = AL_DASH_CELL_TEXT;
        ret->text.p = (const char *)sqlite3_column_text(s, i);
        ret->text.n = (size_t)sqlite3_column_bytes(s, i);
        if (!ret->text.p)
            ret->text = AL_STR("");
        break;
    default:
        break;
    }
}

struct al_str al_dash_cell_str(struct al_arena *a, const struct al_dash_cell *c)
{
    autobuf struct al_buf out = AL_BUF_INIT(512);
    struct al_str s = c->text;
    if (c->kind == AL_DASH_CELL_INT)
        al_buf_addf(&out, "%lld", (long long)c->i);
    else if (c->kind == AL_DASH_CELL_REAL && isfinite(c->d))
        al_cell_print(c->d, -1, &out);
    else if (c->kind == AL_DASH_CELL_REAL)
        al_buf_adds(&out, c->d < 0 ? "-Inf" : "Inf");
    if (c->kind != AL_DASH_CELL_TEXT)
        s = al_buf_str(&out);
    s = al_utf8_cut(s, AL_DASH_KEY_BYTES);
    const char *p = al_arena_dup(a, s);
    return (struct al_str){p, p ? s.n : 0};
}

double al_dash_cell_double(const struct al_dash_cell *c)
{
    if (c->kind == AL_DASH_CELL_INT)
        return (double)c->i;
    return c->kind == AL_DASH_CELL_REAL && isfinite(c->d) ? c->d : NAN;
}
