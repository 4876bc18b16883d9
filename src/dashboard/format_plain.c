/* Numbers in English, as Intl.NumberFormat("en") writes them: for machines without ICU. Works on decimal
 * digits, since halves are rounded away from zero there, not in binary. */
#include "dashboard/format_int.h"

#include "dataset/cell.h"

#include <math.h>
#include <stdio.h>

/* The largest double has 309 digits before the mark, the smallest 324 zeros behind it. */
#define DIGITS 800
#define STEPS 4

/* 0.d1d2d3… × 10^point; n 0: zero. */
struct decimal {
    char d[DIGITS];
    int n, point;
};

static void decimal_of(double v, struct decimal *ret)
{
    autobuf struct al_buf text = AL_BUF_INIT(DIGITS);
    al_cell_print(fabs(v), -1, &text);
    ret->n = ret->point = 0;
    bool mark = false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '.') {
            mark = true;
        } else if (ret->n || text.p[i] != '0') {
            ret->d[ret->n++] = text.p[i];
            ret->point += !mark;
        } else {
            ret->point -= mark;
        }
    }
    while (ret->n && ret->d[ret->n - 1] == '0')
        ret->n--;
    if (!ret->n)
        ret->point = 0;
}

/* Keeps the first `keep` digits, halves up. */
static void round_at(struct decimal *x, int keep)
{
    if (keep >= x->n)
        return;
    bool up = keep >= 0 && x->d[keep] >= '5';
    x->n = keep > 0 ? keep : 0;
    while (up && x->n && x->d[x->n - 1] == '9')
        x->n--;
    if (up && x->n) {
        x->d[x->n - 1]++;
    } else if (up) {
        x->d[x->n++] = '1';
        x->point++;
    }
    while (x->n && x->d[x->n - 1] == '0')
        x->n--;
    if (!x->n)
        x->point = 0;
}

static char digit(const struct decimal *x, int place)
{
    return place >= 0 && place < x->n ? x->d[place] : '0';
}

static void put(const struct decimal *x, int min_digits, bool group, struct al_buf *out)
{
    int whole = x->n && x->point > 0 ? x->point : 0;
    if (!whole)
        al_buf_addc(out, '0');
    for (int i = 0; i < whole; i++) {
        if (group && i && (whole - i) % 3 == 0)
            al_buf_addc(out, ',');
        al_buf_addc(out, digit(x, i));
    }
    int behind = x->n > x->point ? x->n - x->point : 0;
    if (!x->n)
        behind = 0;
    if (behind < min_digits)
        behind = min_digits;
    if (behind)
        al_buf_addc(out, '.');
    for (int i = 0; i < behind; i++)
        al_buf_addc(out, digit(x, x->point + i));
}

static void round_to(struct decimal *x, const struct al_number_style *s)
{
    round_at(x, s->significant ? s->significant : x->point + s->max_digits);
}

void al_format_plain(const struct al_number_style *s, double v, struct al_buf *out)
{
    static const char *const units[STEPS + 1] = {"", "K", "M", "B", "T"};
    struct decimal x;
    int step = 0;
    decimal_of(v, &x);
    if (s->percent && x.n)
        x.point += 2;
    if (s->compact && x.n) {
        step = x.point > 3 ? (x.point - 1) / 3 : 0;
        step = step > STEPS ? STEPS : step;
        x.point -= 3 * step;
    }
    round_to(&x, s);
    if (s->compact && x.n && x.point == 4 && step < STEPS && step > 0) { /* 999,950 is 1M */
        x.point -= 3;
        step++;
    }
    if (signbit(v))
        al_buf_addc(out, '-');
    /* A compact number has its marks from five digits on. */
    put(&x, s->significant ? 0 : s->min_digits, !s->compact || x.point > 4, out);
    al_buf_adds(out, units[step]);
    if (s->percent)
        al_buf_addc(out, '%');
}
