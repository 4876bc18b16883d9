/* Prints bodies of conversations by chance, one JSON line each: {"seed","api","base","body"}. Arguments:
 * seed, how many. */
#include "unit/llm_request_world.h"

#include <stdio.h>
#include <stdlib.h>

static void print_one(uint64_t seed)
{
    struct lw w;
    struct al_err err;
    struct lw_chance c = {.seed = seed};
    autobuf struct al_buf body = AL_BUF_INIT(16 << 20);
    lw_random(&w, &c, 30);
    if (w.provider.api == AL_API_MESSAGES)
        w.facts.wants_reasoning = false; /* an endpoint that takes unsigned thinking is not the judge's */
    if (lw_body(&w, w.n, &body, &err) < 0) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, err.msg);
        exit(1);
    }
    printf("{\"seed\":%llu,\"api\":\"%s\",\"base\":\"%s\",\"body\":%.*s}\n", (unsigned long long)seed,
           al_api_name(w.provider.api), w.provider.base_url, AL_FMT(al_buf_str(&body)));
    lw_fini(&w);
}

int main(int argc, char **argv)
{
    uint64_t from = argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
             n = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;
    for (uint64_t i = 0; i < n; i++)
        print_one((from + i) * 0x9e3779b97f4a7c15u | 1);
    return 0;
}
