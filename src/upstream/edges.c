#include "upstream/edges.h"

#include "base/text.h"

void al_edges_clear(struct al_edges *e)
{
    e->n_head = e->n_tail = 0;
}

void al_edges_add(struct al_edges *e, struct al_str part)
{
    size_t room = AL_EDGE - e->n_head;
    size_t n = part.n < room ? part.n : room;
    if (part.n == 0)
        return;
    memcpy(e->head + e->n_head, part.p, n);
    e->n_head += n;
    if (part.n >= AL_EDGE) {
        memcpy(e->tail, part.p + part.n - AL_EDGE, AL_EDGE);
        e->n_tail = AL_EDGE;
        return;
    }
    size_t keep = e->n_tail + part.n > AL_EDGE ? AL_EDGE - part.n : e->n_tail;
    memmove(e->tail, e->tail + e->n_tail - keep, keep);
    memcpy(e->tail + keep, part.p, part.n);
    e->n_tail = keep + part.n;
}

/* A name within a text has a backslash before its closing quote, so it is never taken for one. */
static uint64_t id_in(const char *p, size_t n)
{
    static const char name[] = "\"id\":";
    const size_t n_name = sizeof(name) - 1;
    uint64_t id = 0;
    for (size_t i = 0; i + n_name < n; i++) {
        if (memcmp(p + i, name, n_name) != 0)
            continue;
        size_t from = i + n_name;
        while (from < n && p[from] == ' ')
            from++;
        size_t end = from;
        while (end < n && p[end] >= '0' && p[end] <= '9')
            end++;
        int64_t v;
        if (end < n && al_parse_int((struct al_str){p + from, end - from}, 1, INT64_MAX, &v))
            id = (uint64_t)v;
    }
    return id;
}

uint64_t al_edges_id(const struct al_edges *e)
{
    uint64_t id = id_in(e->tail, e->n_tail);
    return id ? id : id_in(e->head, e->n_head);
}
