/* The JSON-RPC reader: bytes in two pieces, to lines, to messages. Cutting the input elsewhere may change
 * nothing. */
#include "rpc/rpc.h"

#include <stdint.h>
#include <stdlib.h>

struct seen {
    unsigned lines, too_long;
    size_t bytes;
};

static bool on_line(void *ud, struct al_str line)
{
    struct seen *s = ud;
    s->lines++;
    s->bytes += line.n;
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    struct al_rpc rpc;
    al_rpc_read(&arena, line, &rpc);
    if (rpc.kind == AL_RPC_BROKEN && (rpc.error_code == 0 || !rpc.error[0]))
        abort();
    if (rpc.kind == AL_RPC_REQUEST && (!rpc.id.n || !rpc.method.p))
        abort();
    if (rpc.id.n > AL_RPC_MAX_ID)
        abort();
    return true;
}

static void on_too_long(void *ud)
{
    ((struct seen *)ud)->too_long++;
}

static struct seen feed(struct al_str text, size_t cut)
{
    static const struct al_rpc_sink sink = {.line = on_line, .too_long = on_too_long};
    struct seen s = {0};
    struct al_rpc_lines lines;
    al_rpc_lines_init(&lines, 4096);
    al_rpc_lines_feed(&lines, (struct al_str){text.p, cut}, &sink, &s);
    al_rpc_lines_feed(&lines, (struct al_str){text.p + cut, text.n - cut}, &sink, &s);
    al_rpc_lines_end(&lines, &sink, &s);
    al_rpc_lines_free(&lines);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct al_str text = {(const char *)data, size};
    struct seen whole = feed(text, 0), half = feed(text, size / 2), end = feed(text, size);
    if (memcmp(&whole, &half, sizeof whole) != 0 || memcmp(&whole, &end, sizeof whole) != 0)
        abort();
    return 0;
}
