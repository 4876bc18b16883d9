/* What a server's schema asks for as headers, of arguments that a script has made, and whose answer a message
 * is. A tool that is taken gives headers that are lines of printable ASCII. Input: the schema, a NUL, the
 * arguments. */
#include "upstream/http_int.h"

#include <stdlib.h>

static bool taken(struct al_str schema)
{
    autoarena struct al_arena a = AL_ARENA_INIT(8 << 20);
    autobuf struct al_buf text = AL_BUF_INIT(1 << 20), why = AL_BUF_INIT(1000);
    const struct al_json *tool;
    struct al_err err;
    al_buf_adds(&text, "{\"inputSchema\":");
    al_buf_add_str(&text, schema);
    al_buf_addc(&text, '}');
    if (al_buf_failed(&text) || al_json_parse(&a, al_buf_str(&text), &tool, &err) < 0)
        return false;
    bool fine = al_params_takes_tool(tool, &why);
    if (fine == (why.n > 0))
        abort();
    return fine;
}

static void check_lines(struct al_str lines)
{
    size_t start = 0;
    for (size_t i = 0; i < lines.n; i++) {
        unsigned char c = (unsigned char)lines.p[i];
        if (c == 0) {
            if (i - start < 12 || memcmp(lines.p + start, "Mcp-Param-", 10) != 0)
                abort();
            start = i + 1;
        } else if ((c < 0x20 && c != '\t') || c >= 0x7f) {
            abort();
        }
    }
    if (start != lines.n)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct al_str all = {(const char *)data, size};
    const char *zero = size ? memchr(data, 0, size) : NULL;
    struct al_str schema = {all.p, zero ? (size_t)(zero - all.p) : size};
    struct al_str arguments = {zero ? zero + 1 : all.p + size, zero ? size - schema.n - 1 : 0};
    al_answer_for(all, 12);
    al_answer_for(arguments, 12);
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20);
    struct al_err err;
    taken(schema);
    if (al_params_headers(schema, arguments, &out, &err) == 0)
        check_lines(al_buf_str(&out));
    return 0;
}
