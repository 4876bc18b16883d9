#include "base/buf.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

void al_buf_init(struct al_buf *b, size_t max)
{
    *b = (struct al_buf){.max = max};
}

void al_buf_free(struct al_buf *b)
{
    free(b->p);
    al_buf_init(b, b->max);
}

void al_buf_clear(struct al_buf *b)
{
    b->n = 0;
    b->failed = false;
}

/* Makes room for n more bytes and the zero that al_buf_take and al_buf_addf put behind them. */
static bool reserve(struct al_buf *b, size_t n)
{
    if (b->failed)
        return false;
    /* No object is larger than PTRDIFF_MAX, so nothing below wraps. */
    if (b->n > b->max || n > b->max - b->n || n >= PTRDIFF_MAX - b->n) {
        b->failed = true;
        return false;
    }
    size_t need = b->n + n + 1;
    if (need <= b->cap)
        return true;
    size_t cap = b->cap < 64 ? 64 : b->cap;
    while (cap < need) {
        if (__builtin_mul_overflow(cap, 2, &cap))
            cap = need;
    }
    /* Never more than the maximum asks for. */
    if (b->max < SIZE_MAX && cap > b->max + 1)
        cap = b->max + 1;
    b->p = al_xrealloc(b->p, cap);
    b->cap = cap;
    return true;
}

char *al_buf_grow(struct al_buf *b, size_t n)
{
    if (!reserve(b, n))
        return NULL;
    char *at = b->p + b->n;
    b->n += n;
    return at;
}

void al_buf_add(struct al_buf *b, const void *p, size_t n)
{
    char *at = al_buf_grow(b, n);
    if (at && n)
        memcpy(at, p, n);
}

void al_buf_adds(struct al_buf *b, const char *z)
{
    al_buf_add(b, z, strlen(z));
}

void al_buf_add_str(struct al_buf *b, struct al_str s)
{
    al_buf_add(b, s.p, s.n);
}

void al_buf_addc(struct al_buf *b, char c)
{
    al_buf_add(b, &c, 1);
}

void al_buf_addf(struct al_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
        return;
    }
    if (!reserve(b, (size_t)n))
        return;
    va_start(ap, fmt);
    vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->n += (size_t)n;
}

void al_buf_drop(struct al_buf *b, size_t n)
{
    if (n >= b->n) {
        b->n = 0;
        return;
    }
    if (n) {
        memmove(b->p, b->p + n, b->n - n);
        b->n -= n;
    }
}

char *al_buf_take(struct al_buf *b)
{
    char *p = b->p ? b->p : al_xmalloc(1);
    p[b->n] = '\0';
    al_buf_init(b, b->max);
    return p;
}
