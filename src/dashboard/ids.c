/* Numbers for 64-bit keys, in the order in which they come: an open table of numbers beside a list of keys.
 */
#include "dashboard/group_int.h"

#include "base/mem.h"

static uint32_t slot_of(uint64_t key, uint32_t mask)
{
    key *= 0x9e3779b97f4a7c15u;
    return (uint32_t)(key >> 32 ^ key >> 47) & mask;
}

static void grow(struct al_ids *t)
{
    uint32_t size = t->mask ? (t->mask + 1) * 2 : 256;
    free(t->slots);
    t->slots = al_xcalloc(size, sizeof *t->slots);
    t->mask = size - 1;
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t at = slot_of(t->keys[i], t->mask);
        while (t->slots[at])
            at = (at + 1) & t->mask;
        t->slots[at] = i + 1;
    }
}

uint32_t al_ids_of(struct al_ids *t, uint64_t key)
{
    if (t->n * 2 >= t->mask)
        grow(t);
    uint32_t at = slot_of(key, t->mask);
    for (; t->slots[at]; at = (at + 1) & t->mask)
        if (t->keys[t->slots[at] - 1] == key)
            return t->slots[at] - 1;
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 64;
        t->keys = al_xrealloc(t->keys, t->cap * sizeof *t->keys);
    }
    t->keys[t->n] = key;
    t->slots[at] = ++t->n;
    return t->n - 1;
}

void al_ids_free(struct al_ids *t)
{
    free(t->keys);
    free(t->slots);
    *t = (struct al_ids){0};
}
