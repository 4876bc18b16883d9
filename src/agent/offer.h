/* The short words of our tools' fields. Only offer*.c and their test include it. */
#ifndef AL_AGENT_OFFER_H
#define AL_AGENT_OFFER_H

#include <stddef.h>

struct al_offer_words {
    const char *tool, *field, *text; /* field: wherever it stands in the schema; text "": none */
};
const struct al_offer_words *al_offer_words(size_t *ret_n);

#endif
