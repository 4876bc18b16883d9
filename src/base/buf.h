/* A growing buffer with a maximum. The failure is sticky: check al_buf_failed once after a chain of appends. */
#ifndef AL_BASE_BUF_H
#define AL_BASE_BUF_H

#include "base/str.h"

#include <stdint.h>

struct al_buf {
    char *p;    /* owned; NULL while empty */
    size_t n;   /* bytes used */
    size_t cap; /* bytes held */
    size_t max; /* n never exceeds it */
    bool failed;
};

#define AL_BUF_INIT(max_bytes) { .max = (max_bytes) }

void al_buf_init(struct al_buf *b, size_t max);
void al_buf_free(struct al_buf *b);  /* leaves an empty buffer with the same max */
void al_buf_clear(struct al_buf *b); /* keeps the memory, forgets bytes and failure */
static inline bool al_buf_failed(const struct al_buf *b) { return b->failed; }

/* Each append adds all of its bytes or none, and then marks the buffer failed. */
void al_buf_add(struct al_buf *b, const void *p, size_t n);
void al_buf_adds(struct al_buf *b, const char *z);
void al_buf_add_str(struct al_buf *b, struct al_str s);
void al_buf_addc(struct al_buf *b, char c);
void al_buf_addf(struct al_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* n writable bytes at the end, counted as used; NULL when over the maximum. */
char *al_buf_grow(struct al_buf *b, size_t n);
void al_buf_drop(struct al_buf *b, size_t n); /* forgets the first n bytes */

static inline struct al_str al_buf_str(const struct al_buf *b) { return (struct al_str){b->p ? b->p : "", b->n}; }
/* The bytes, zero-terminated (not counted), now the caller's to free(); the buffer is empty afterwards. */
char *al_buf_take(struct al_buf *b);

/* Frees at the end of the scope. */
#define autobuf __attribute__((cleanup(al_buf_free)))

#endif
