#include "dataset/stats_int.h"

#include <math.h>

const double al_pow10[16] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                             1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

#ifdef __SIZEOF_FLOAT128__
typedef __float128 wide;
#else
typedef long double wide; /* 113 bits where there is no __float128 */
#endif

/* hi + lo += x, exactly but for lo's own rounding (Knuth). */
static void plus(double *hi, double *lo, double x)
{
    double s = *hi + x, t = s - *hi;
    *lo += (*hi - (s - t)) + (x - t);
    *hi = s;
}

static void add_double(struct al_sums *s, double d, uint64_t n)
{
    if (s->n == 0)
        s->shift = d;
    double m = (double)n, t = d - s->shift;
    double p = t * m;
    plus(&s->s_hi, &s->s_lo, p);
    s->s_lo += fma(t, m, -p);
    double sq = t * t, sq_lo = fma(t, t, -sq);
    p = sq * m;
    plus(&s->q_hi, &s->q_lo, p);
    s->q_lo += fma(sq, m, -p) + sq_lo * m;
    s->n += n;
}

void al_sums_approximate(struct al_sums *s)
{
    if (s->inexact)
        return;
    s->inexact = true;
    wide p = al_pow10[s->e];
    wide sum = (wide)s->s1 / p, square = (wide)s->s2 / p / p;
    s->shift = (double)((wide)s->k0 / p);
    s->s_hi = (double)sum;
    s->s_lo = (double)(sum - s->s_hi);
    s->q_hi = (double)square;
    s->q_lo = (double)(square - s->q_hi);
}

/* The sums in units of 10^-e for a greater e. */
static bool rescale(struct al_sums *s, int e)
{
    int64_t f = (int64_t)al_pow10[e - s->e], k0;
    __int128 s1;
    unsigned __int128 s2;
    if (__builtin_mul_overflow(s->k0, f, &k0) || k0 > 1000000000000000 || k0 < -1000000000000000 ||
        __builtin_mul_overflow(s->s1, f, &s1) ||
        __builtin_mul_overflow(s->s2, (unsigned __int128)f * (unsigned __int128)f, &s2) || s2 >> 126)
        return false;
    s->k0 = k0;
    s->s1 = s1;
    s->s2 = s2;
    s->e = e;
    return true;
}

void al_sums_add(struct al_sums *s, double d, uint64_t n)
{
    int64_t k;
    if (!s->inexact) {
        int e = s->e;
        while (e <= 15 && !al_scaled(d, e, &k))
            e++;
        if (s->n == 0 && e <= 15) {
            s->e = e;
            s->k0 = k;
        }
        if (e <= 15 && (e == s->e || rescale(s, e)) && al_sums_scaled(s, k, n))
            return;
        al_sums_approximate(s);
    }
    add_double(s, d, n);
}

bool al_sums_mean(const struct al_sums *s, double *ret)
{
    if (s->n == 0)
        return false;
    wide n = (wide)s->n;
    wide mean = s->inexact ? (wide)s->shift + ((wide)s->s_hi + s->s_lo) / n
                           : ((wide)s->k0 * n + (wide)s->s1) / n / al_pow10[s->e];
    *ret = (double)mean;
    return isfinite(*ret);
}

/* n times the sum of the squares of what is left of the mean. */
static wide exact_spread(const struct al_sums *s)
{
    /* Around the integer next to the mean; the products wrap, the result does not. */
    __int128 n = (__int128)s->n, q = s->s1 / n;
    __int128 r1 = s->s1 - q * n;
    unsigned __int128 r2 = s->s2 - 2 * (unsigned __int128)q * (unsigned __int128)s->s1 +
                           (unsigned __int128)n * (unsigned __int128)q * (unsigned __int128)q;
    unsigned __int128 square = (unsigned __int128)(r1 * r1);
    if (!(r2 >> 94))
        return (wide)(r2 * (unsigned __int128)n - square);
    return (wide)r2 * (wide)n - (wide)square;
}

bool al_sums_stddev(const struct al_sums *s, double *ret)
{
    if (s->n < 2)
        return false;
    wide n = (wide)s->n, spread;
    if (s->inexact) {
        wide sum = (wide)s->s_hi + s->s_lo, square = (wide)s->q_hi + s->q_lo;
        spread = square * n - sum * sum;
    } else {
        spread = exact_spread(s);
    }
    if (!isfinite((double)spread))
        return false;
    double variance = spread > 0 ? (double)(spread / n / (n - 1)) : 0;
    *ret = sqrt(variance) / (s->inexact ? 1 : al_pow10[s->e]);
    return isfinite(*ret);
}
