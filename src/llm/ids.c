#include "llm/request_int.h"

/* A set of ids in an arena: open addressing, doubled at two thirds. Its order is never seen. */

struct entry {
    struct al_str id; /* p NULL: free */
    uint64_t hash;
    uint32_t n;
};
struct al_llm_ids {
    struct al_arena *arena;
    struct entry *v;
    size_t cap, used; /* cap: a power of two; 0: none yet */
    uint64_t seed;
};

struct al_llm_ids *al_llm_ids_new(struct al_arena *a)
{
    struct al_llm_ids *ids = al_arena_alloc(a, sizeof *ids);
    if (!ids)
        return NULL;
    ids->arena = a;
    al_random(&ids->seed, sizeof ids->seed); /* ids are made elsewhere: nobody shall choose where they fall */
    return ids;
}

static uint64_t hash_of(const struct al_llm_ids *ids, struct al_str id)
{
    uint64_t h = ids->seed ^ 0xcbf29ce484222325u;
    for (size_t i = 0; i < id.n; i++) {
        h = (h ^ (unsigned char)id.p[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

static struct entry *place(const struct al_llm_ids *ids, struct al_str id, uint64_t hash)
{
    size_t i = (size_t)hash & (ids->cap - 1);
    while (ids->v[i].id.p && (ids->v[i].hash != hash || !al_str_eq(ids->v[i].id, id)))
        i = (i + 1) & (ids->cap - 1);
    return &ids->v[i];
}

static bool grow(struct al_llm_ids *ids)
{
    struct al_llm_ids old = *ids;
    size_t cap = old.cap ? old.cap * 2 : 64;
    struct entry *v = al_arena_alloc(ids->arena, cap * sizeof *v);
    if (!v)
        return false;
    ids->v = v;
    ids->cap = cap;
    for (size_t i = 0; i < old.cap; i++)
        if (old.v[i].id.p)
            *place(ids, old.v[i].id, old.v[i].hash) = old.v[i];
    return true;
}

uint32_t *al_llm_ids_count(struct al_llm_ids *ids, struct al_str id, bool *ret_new)
{
    *ret_new = false;
    if (!ids || ((ids->used + 1) * 3 > ids->cap * 2 && !grow(ids)))
        return NULL;
    uint64_t hash = hash_of(ids, id);
    struct entry *e = place(ids, id, hash);
    if (!e->id.p) {
        *e = (struct entry){.id = id.p ? id : (struct al_str)AL_S(""), .hash = hash};
        ids->used++;
        *ret_new = true;
    }
    return &e->n;
}

bool al_llm_ids_add(struct al_llm_ids *ids, struct al_str id)
{
    bool fresh;
    return al_llm_ids_count(ids, id, &fresh) && fresh;
}
