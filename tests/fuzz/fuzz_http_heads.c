/* Values of headers: the first byte says which. */
#include "mcp/http_heads.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_value(struct al_str value)
{
    struct al_buf out = AL_BUF_INIT(64u << 10);
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 20);
    const struct al_json *v;
    /* What was decoded is never longer than what came. */
    if (al_mcp_http_decode(value, &out) && out.n > value.n)
        abort();
    if (al_json_parse(&arena, value, &v, NULL) == 0)
        (void)al_mcp_http_same(al_buf_str(&out), v);
    al_buf_free(&out);
}

static void check_event_id(struct al_str value)
{
    uint64_t stream, event, stream2, event2;
    char id[AL_MCP_EVENT_ID_MAX];
    if (!al_mcp_http_read_event_id(value, &stream, &event))
        return;
    al_mcp_http_event_id(id, stream, event);
    if (!al_mcp_http_read_event_id(al_str_of(id), &stream2, &event2) || stream2 != stream || event2 != event)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const allowed[] = {"box.example", NULL};
    if (size == 0)
        return 0;
    char *text = malloc(size); /* zero-terminated, with nothing behind the zero */
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    struct al_str value = {text, size - 1};
    switch (data[0] % 4) {
    case 0:
        (void)al_mcp_http_accepts(text, "application/json");
        (void)al_mcp_http_is_json(text);
        break;
    case 1:
        (void)al_mcp_http_host_ok(text, allowed);
        (void)al_mcp_http_origin_ok(text, allowed);
        if (al_mcp_http_bearer_ok(text, "secret") && al_str_find(value, AL_STR("secret")) < 0)
            abort();
        break;
    case 2:
        check_value(value);
        break;
    default:
        check_event_id(value);
    }
    free(text);
    return 0;
}
