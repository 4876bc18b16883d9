/* Heap memory that is there or ends the process. Sizes from outside are limited before they come here. */
#ifndef AL_BASE_MEM_H
#define AL_BASE_MEM_H

#include <stddef.h>
#include <stdlib.h>

void *al_xmalloc(size_t n) __attribute__((malloc, returns_nonnull));
void *al_xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull)); /* zeroed */
void *al_xrealloc(void *p, size_t n) __attribute__((returns_nonnull));
/* A copy with a zero after it, which is not counted. p may be NULL when n is 0. */
char *al_xdup(const void *p, size_t n) __attribute__((malloc, returns_nonnull));
char *al_xstrdup(const char *z) __attribute__((malloc, returns_nonnull)); /* NULL copies as "" */

/* Called before the process ends because there is no memory: a sealed worker can say so. It allocates
 * nothing. */
void al_mem_on_failure(void (*fn)(void));

static inline void al_autofree_do(void *p)
{
    free(*(void **)p);
}

/* Frees a heap pointer at the end of the scope: autofree char *z = NULL; */
#define autofree __attribute__((cleanup(al_autofree_do)))

#endif
