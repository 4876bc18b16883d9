#include "llm/llm.h"

/*
 * A price is micro-dollars for a million tokens, so pico-dollars for one: the cost is a sum of products,
 * exact in 64 bits up to nine million dollars.
 */

static bool add(int64_t *sum, int64_t tokens, int64_t price)
{
    int64_t cost;
    if (tokens <= 0)
        return true;
    return price >= 0 && !__builtin_mul_overflow(tokens, price, &cost) &&
           !__builtin_add_overflow(*sum, cost, sum);
}

static int64_t at_least_0(int64_t n)
{
    return n > 0 ? n : 0;
}

int64_t al_llm_cost(const struct al_price *price, const struct al_llm_usage *u)
{
    if (!u->known)
        return -1;
    int64_t cached = at_least_0(u->cached_input), written = at_least_0(u->cache_write);
    /* What a report says of the cache is part of the input; one that says more of it than of the whole is
     * believed in both. */
    int64_t plain = at_least_0(u->input);
    plain = plain > cached ? plain - cached : 0;
    plain = plain > written ? plain - written : 0;
    int64_t sum = 0;
    bool ok = add(&sum, plain, price->input) && add(&sum, cached, price->cached_input) &&
              add(&sum, written, price->cache_write) && add(&sum, u->output, price->output);
    return ok ? sum : -1;
}
