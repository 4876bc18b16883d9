#include "base/arena.h"

#include "base/mem.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Blocks form a list; only the head is filled further. Blocks come zeroed and are never reused, which is why
 * an allocation needs no clearing. Under AddressSanitizer each allocation is a block, so that an overrun is
 * seen.
 */
struct al_arena_block {
    struct al_arena_block *next;
    size_t cap;
    size_t n;
    alignas(max_align_t) char data[];
};

#define FIRST_BLOCK 4096
#define BIGGEST_BLOCK (256 * 1024)

void al_arena_init(struct al_arena *a, size_t max)
{
    *a = (struct al_arena){.max = max};
}

void al_arena_free(struct al_arena *a)
{
    struct al_arena_block *b = a->head;
    while (b) {
        struct al_arena_block *next = b->next;
        free(b);
        b = next;
    }
    al_arena_init(a, a->max);
}

static struct al_arena_block *new_block(size_t cap)
{
    struct al_arena_block *b = al_xcalloc(1, sizeof *b + cap);
    b->cap = cap;
    return b;
}

static void *take(struct al_arena *a, size_t n, size_t align)
{
    if (a->used > a->max || n > a->max - a->used || n > SIZE_MAX / 2)
        return NULL;
    struct al_arena_block *b = a->head;
#ifndef AL_ASAN
    if (b) {
        size_t at = (b->n + align - 1) & ~(align - 1);
        if (at <= b->cap && n <= b->cap - at) {
            b->n = at + n;
            a->used += n;
            return b->data + at;
        }
    }
    size_t cap = b ? b->cap * 2 : FIRST_BLOCK;
    if (cap > BIGGEST_BLOCK)
        cap = BIGGEST_BLOCK;
    bool alone = n > cap / 4;
#else
    (void)align;
    size_t cap = n;
    bool alone = true;
#endif
    struct al_arena_block *fresh = new_block(alone ? n : cap);
    fresh->n = n;
    if (alone && b) {
        /* Behind the head, whose free space stays in use. */
        fresh->next = b->next;
        b->next = fresh;
    } else {
        fresh->next = b;
        a->head = fresh;
    }
    a->used += n;
    return fresh->data;
}

/* Sizes are rounded up, so that the limit counts what the alignment really costs. */
void *al_arena_alloc(struct al_arena *a, size_t n)
{
    size_t align = alignof(max_align_t), padded;
    if (__builtin_add_overflow(n ? n : 1, align - 1, &padded))
        return NULL;
#ifdef AL_ASAN
    /* The exact size, with the same bookkeeping. */
    padded &= ~(align - 1);
    if (a->used > a->max || padded > a->max - a->used)
        return NULL;
    void *p = take(a, n ? n : 1, align);
    if (p)
        a->used += padded - (n ? n : 1);
    return p;
#else
    return take(a, padded & ~(align - 1), align);
#endif
}

char *al_arena_dup(struct al_arena *a, struct al_str s)
{
    if (s.n == SIZE_MAX)
        return NULL;
    char *p = take(a, s.n + 1, 1);
    if (p && s.n)
        memcpy(p, s.p, s.n);
    return p;
}

char *al_arena_printf(struct al_arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return NULL;
    char *p = take(a, (size_t)n + 1, 1);
    if (!p)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}
