/* Memory of one run or request, freed at once, with a byte limit. */
#ifndef AL_BASE_ARENA_H
#define AL_BASE_ARENA_H

#include "base/str.h"

struct al_arena_block;
struct al_arena {
    struct al_arena_block *head;
    size_t used; /* bytes handed out */
    size_t max;  /* limit of used */
};

#define AL_ARENA_INIT(max_bytes) { .max = (max_bytes) }

void al_arena_init(struct al_arena *a, size_t max);
void al_arena_free(struct al_arena *a); /* leaves an empty arena with the same max */
/* Zeroed, aligned for any object; NULL when the limit would be passed. One malloc per allocation under ASan. */
void *al_arena_alloc(struct al_arena *a, size_t n) __attribute__((malloc));
/* Copies, zero-terminated for convenience (the zero is not counted). NULL over the limit. */
char *al_arena_dup(struct al_arena *a, struct al_str s);
char *al_arena_printf(struct al_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define autoarena __attribute__((cleanup(al_arena_free)))

#endif
