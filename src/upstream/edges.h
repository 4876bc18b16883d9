/* The beginning and the end of a line that is too long to be kept: enough to see which request it answers. Pure. */
#ifndef AL_UPSTREAM_EDGES_H
#define AL_UPSTREAM_EDGES_H

#include "base/str.h"

#include <stdint.h>

#define AL_EDGE 256

struct al_edges {
    char head[AL_EDGE], tail[AL_EDGE];
    size_t n_head, n_tail;
};
void al_edges_add(struct al_edges *e, struct al_str part);
void al_edges_clear(struct al_edges *e);
/* The number of the last "id" at its end, else of one at its beginning; 0: none. */
uint64_t al_edges_id(const struct al_edges *e);

#endif
