#include "base/json_int.h"

#include "base/mem.h"

/* A member and its place in the source: qsort(3) alone would not keep the order of equal names. */
struct slot {
    const struct al_json *v;
    size_t at;
};

static int by_key(const void *pa, const void *pb)
{
    const struct slot *a = pa, *b = pb;
    int r = al_str_cmp(a->v->key, b->v->key);
    return r ? r : a->at < b->at ? -1 : a->at > b->at;
}

/* The members that count, sorted by name: of several with one name the last. */
static struct slot *sorted(const struct al_json *v, size_t *ret_n)
{
    struct slot *all = al_xcalloc(v->n, sizeof *all);
    size_t n = 0, kept = 0;
    al_json_each(it, v)
    {
        all[n] = (struct slot){it, n};
        n++;
    }
    qsort(all, n, sizeof *all, by_key);
    for (size_t i = 0; i < n; i++) {
        if (i + 1 == n || !al_str_eq(all[i].v->key, all[i + 1].v->key))
            all[kept++] = all[i];
    }
    *ret_n = kept;
    return all;
}

static bool objects_equal(const struct al_json *a, const struct al_json *b)
{
    size_t na, nb;
    autofree struct slot *sa = sorted(a, &na);
    autofree struct slot *sb = sorted(b, &nb);
    bool same = na == nb;
    for (size_t i = 0; same && i < na; i++)
        same = al_str_eq(sa[i].v->key, sb[i].v->key) && al_json_equal(sa[i].v, sb[i].v);
    return same;
}

static bool arrays_equal(const struct al_json *a, const struct al_json *b)
{
    if (a->n != b->n)
        return false;
    const struct al_json *y = b->child;
    for (const struct al_json *x = a->child; x; x = x->next, y = y->next) {
        if (!al_json_equal(x, y))
            return false;
    }
    return true;
}

/* Calls itself at most AL_JSON_MAX_DEPTH deep. */
bool al_json_equal(const struct al_json *a, const struct al_json *b)
{
    if (!a || !b || a->type != b->type)
        return a == b;
    switch (a->type) {
    case AL_JSON_NUMBER:
        return al_json_num_equal(a->raw, b->raw);
    case AL_JSON_STRING:
        return al_str_eq(a->str, b->str);
    case AL_JSON_ARRAY:
        return arrays_equal(a, b);
    case AL_JSON_OBJECT:
        return objects_equal(a, b);
    default:
        return true;
    }
}
