/* The checker that builds nothing and the reader that builds a tree must agree on what JSON is. */
#include "base/json.h"
#include "jsvm/engine_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 28);
    const struct al_json *v = NULL;
    struct al_err err;
    struct al_str text = {(const char *)data, size};
    if (size > 1 << 20)
        return 0;
    bool read = al_json_parse(&a, text, &v, &err) == 0;
    if (read != al_json_check(text, AL_JSON_MAX_DEPTH))
        abort();
    return 0;
}
