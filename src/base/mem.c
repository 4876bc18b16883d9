#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static void (*on_failure)(void);

void al_mem_on_failure(void (*fn)(void))
{
    on_failure = fn;
}

static _Noreturn void out_of_memory(size_t n)
{
    if (on_failure)
        on_failure();
    fprintf(stderr, "alisio: out of memory (%zu bytes)\n", n);
    abort();
}

/* Zero bytes still give a pointer of their own, so that NULL always means failure. */
void *al_xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p)
        out_of_memory(n);
    return p;
}

void *al_xcalloc(size_t count, size_t size)
{
    void *p = count && size ? calloc(count, size) : calloc(1, 1);
    if (!p)
        out_of_memory(size);
    return p;
}

void *al_xrealloc(void *p, size_t n)
{
    void *q = realloc(p, n ? n : 1);
    if (!q)
        out_of_memory(n);
    return q;
}

char *al_xdup(const void *p, size_t n)
{
    if (n == (size_t)-1)
        out_of_memory(n);
    char *q = al_xmalloc(n + 1);
    if (n)
        memcpy(q, p, n);
    q[n] = '\0';
    return q;
}

char *al_xstrdup(const char *z)
{
    return al_xdup(z, z ? strlen(z) : 0);
}
