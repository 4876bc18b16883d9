/*
 * Sums as SQLite's sum() and avg() have them, bit for bit when the values come in the same order: integers exactly until
 * one is real or 64 bits are too few, then reals with what each addition lost kept apart (Neumaier's way of Kahan's sum).
 */
#ifndef AL_DASHBOARD_SUM_H
#define AL_DASHBOARD_SUM_H

#include "dashboard/dashboard_int.h"

#include <math.h>

struct al_sum {
    double sum, lost;
    int64_t whole; /* while all were integers; of min and max: an integer */
    uint64_t n;
    uint32_t epoch; /* of who owns it: another one means that it is empty */
    bool real;
    bool overflowed; /* of integers, and no real has come since: sum() fails */
};

static inline void al_sum_real(struct al_sum *s, double v)
{
    double t = s->sum + v;
    s->lost += fabs(s->sum) > fabs(v) ? (s->sum - t) + v : (v - t) + s->sum;
    s->sum = t;
}

#define AL_SUM_LARGE ((int64_t)1 << 52) /* a double has no bit to spare from here on: two halves are added */

static inline void al_sum_large(struct al_sum *s, int64_t v)
{
    if (v > -AL_SUM_LARGE && v < AL_SUM_LARGE) {
        al_sum_real(s, (double)v);
        return;
    }
    int64_t low = v % 16384;
    al_sum_real(s, (double)(v - low));
    al_sum_real(s, (double)low);
}

/* From integers to reals. */
static inline void al_sum_turn(struct al_sum *s)
{
    int64_t low = s->whole > -AL_SUM_LARGE && s->whole < AL_SUM_LARGE ? 0 : s->whole % 16384;
    s->sum = (double)(s->whole - low);
    s->lost = (double)low;
    s->real = true;
}

static inline void al_sum_add(struct al_sum *s, const struct al_dash_cell *v)
{
    s->n++;
    if (v->kind == AL_DASH_CELL_INT) {
        int64_t whole;
        if (s->real) {
            al_sum_large(s, v->i);
        } else if (!__builtin_add_overflow(s->whole, v->i, &whole)) {
            s->whole = whole;
        } else {
            s->overflowed = true;
            al_sum_turn(s);
            al_sum_large(s, v->i);
        }
        return;
    }
    if (!s->real)
        al_sum_turn(s);
    else
        s->overflowed = false;
    al_sum_real(s, v->d);
}

static inline double al_sum_value(const struct al_sum *s)
{
    if (!s->real)
        return (double)s->whole;
    return isfinite(s->lost) ? s->sum + s->lost : s->sum;
}

#endif
