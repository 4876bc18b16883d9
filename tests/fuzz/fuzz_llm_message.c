/* Messages of the journal: whatever is read is written as what reads back the same. */
#include "llm/llm_int.h"

#include "base/mem.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(64u << 20);
    const struct al_json *v = NULL;
    struct al_llm_message m;
    struct al_err err;
    struct al_str text = {(const char *)data, size};
    if (al_json_parse(&arena, text, &v, &err) < 0 || al_llm_message_read(&arena, v, &m, &err) < 0)
        return 0;
    autobuf struct al_buf first = AL_BUF_INIT(64u << 20), second = AL_BUF_INIT(64u << 20),
                          shown = AL_BUF_INIT(64u << 20);
    struct al_jw w;
    al_jw_init(&w, &first);
    al_llm_message_write(&w, &m);
    al_llm_message_text(&m, &shown);
    if (al_buf_failed(&first) || !al_utf8_valid(al_buf_str(&first)))
        abort();
    if (al_json_parse(&arena, al_buf_str(&first), &v, &err) < 0 ||
        al_llm_message_read(&arena, v, &m, &err) < 0)
        abort();
    al_jw_init(&w, &second);
    al_llm_message_write(&w, &m);
    if (!al_str_eq(al_buf_str(&first), al_buf_str(&second)))
        abort();
    return 0;
}
