/* Views of bytes that somebody else owns. Not zero-terminated; never freed through the view. */
#ifndef AL_BASE_STR_H
#define AL_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct al_str {
    const char *p;
    size_t n;
};

/* AL_STR("literal") and AL_S("literal") as an initialiser for static tables. */
#define AL_S(lit) { (lit), sizeof(lit) - 1 }
#define AL_STR(lit) ((struct al_str){(lit), sizeof(lit) - 1})
/* printf("%.*s", AL_FMT(s)) */
#define AL_FMT(s) (int)(s).n, (s).p

static inline struct al_str al_str_of(const char *z) { return (struct al_str){z, z ? strlen(z) : 0}; }
static inline bool al_str_eq(struct al_str a, struct al_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool al_str_is(struct al_str a, const char *z) { return al_str_eq(a, al_str_of(z)); }

bool al_str_starts(struct al_str s, const char *prefix);
bool al_str_ends(struct al_str s, const char *suffix);
int al_str_cmp(struct al_str a, struct al_str b); /* byte order, as memcmp */
struct al_str al_str_trim(struct al_str s);       /* ASCII white space */
/* Index of needle in s, or -1. */
ptrdiff_t al_str_find(struct al_str s, struct al_str needle);
/* Shell-style match of * ? and [a-z] over the whole of s; no path rules. */
bool al_str_glob(const char *pattern, struct al_str s);
/* Damerau-Levenshtein distance, capped at 64 bytes a side; for "did you mean". */
unsigned al_str_distance(struct al_str a, struct al_str b);

#endif
