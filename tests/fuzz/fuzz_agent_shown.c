/* Messages and events for a person's eyes: what comes out is JSON, and showing it once more changes nothing.
 */
#include "agent/agent_int.h"

#include "base/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool (*show)(struct al_str in, struct al_buf *out), struct al_str in)
{
    struct al_buf once = AL_BUF_INIT(4u << 20), twice = AL_BUF_INIT(4u << 20);
    if (show(in, &once)) {
        if (!al_json_check(al_buf_str(&once), AL_JSON_MAX_DEPTH) || !show(al_buf_str(&once), &twice) ||
            !al_str_eq(al_buf_str(&once), al_buf_str(&twice)))
            abort();
    }
    al_buf_free(&once);
    al_buf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct al_str in = {(const char *)data, size};
    check(al_message_shown, in);
    check(al_agent_shown, in);
    return 0;
}
