/* The relay's translation: whatever a server or a client says, what goes on is JSON again and says the same.
 * The first line of the input is a name, a cursor and a template; the rest is a JSON value. */
#include "mcp/relay_pure.h"

#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>

#define MAX_OUT (1u << 20)

static const struct al_json *parse_own(struct al_arena *a, const struct al_buf *out)
{
    const struct al_json *v = NULL;
    if (!al_buf_failed(out) && al_json_parse(a, al_buf_str(out), &v, NULL) < 0)
        abort();
    return v;
}

static void check_names(struct al_str text)
{
    char name[AL_RELAY_NAME_MAX + 1];
    size_t half = text.n / 2;
    struct al_str server = {text.p, half}, prompt = {text.p + half, text.n - half};
    al_relay_prompt_name(server, prompt, name);
    struct al_str made = al_str_of(name);
    if (made.n == 0 || made.n > AL_RELAY_NAME_MAX || !al_relay_prompt_of(server, made))
        abort();
    struct al_relay_cursor c;
    autobuf struct al_buf again = AL_BUF_INIT(MAX_OUT);
    if (al_relay_cursor_read(text, &c)) {
        struct al_relay_cursor back;
        al_relay_cursor_write(&c, &again);
        if (!al_relay_cursor_read(al_buf_str(&again), &back) || !al_str_eq(back.server, c.server) ||
            !al_str_eq(back.cursor, c.cursor))
            abort();
    }
    if (al_relay_template_head(text).n > text.n)
        abort();
}

static void check_result(struct al_arena *a, const struct al_json *v, bool modern)
{
    static const char *const methods[] = {"tools/call", "resources/read"};
    for (size_t i = 0; i < 2; i++) {
        autobuf struct al_buf out = AL_BUF_INIT(MAX_OUT);
        al_relay_write_result(v, al_str_of(methods[i]), modern, &out);
        const struct al_json *back = parse_own(a, &out);
        if (back && v->type == AL_JSON_OBJECT && !al_relay_fits(back, al_str_of(methods[i]), modern))
            abort();
        const struct al_json *said = al_json_get(v, "isError"), *passed = al_json_get(back, "isError");
        if (back && said && !(passed && al_json_equal(said, passed)))
            abort();
    }
    autobuf struct al_buf entry = AL_BUF_INIT(MAX_OUT);
    struct al_jw w;
    al_jw_init(&w, &entry);
    al_relay_write_entry(&w, v, "name", modern);
    parse_own(a, &entry);
}

static void check_params(struct al_arena *a, const struct al_json *v)
{
    struct al_relay_params p = {.params = v, .member = "name", .member_json = AL_STR("\"x\""), .retry = true};
    autobuf struct al_buf out = AL_BUF_INIT(MAX_OUT);
    al_relay_write_params(&p, &out);
    const struct al_json *back = parse_own(a, &out);
    if (back && (!al_str_is(al_json_get_text(back, "name"), "x") || al_json_get(back, "requestState")))
        abort();
}

static void check_named(struct al_arena *a, const struct al_json *v)
{
    autobuf struct al_buf one = AL_BUF_INIT(MAX_OUT), round = AL_BUF_INIT(MAX_OUT),
                          pages = AL_BUF_INIT(MAX_OUT);
    al_relay_write_named(v, AL_STR("s"), &one);
    const struct al_json *back = parse_own(a, &one);
    if (back && !al_str_starts(al_json_get_text(back, "message"), "The MCP server s asks: "))
        abort();
    al_relay_write_named_round(v, AL_STR("s"), &round);
    al_json_each(q, al_json_get(parse_own(a, &round), "inputRequests"))
    {
        if (al_str_is(al_json_get_text(q, "method"), "elicitation/create") &&
            !al_str_starts(al_json_get_text(al_json_get(q, "params"), "message"), "The MCP server s asks: "))
            abort();
    }
    if (al_relay_write_named_pages(v, AL_STR("s"), &pages))
        parse_own(a, &pages);
}

static void check_error(struct al_arena *a, const struct al_json *v)
{
    struct al_relay_error e;
    struct al_relay_asked asked;
    autobuf struct al_buf out = AL_BUF_INIT(MAX_OUT);
    al_relay_read_error(v, true, &e);
    if (e.code == -32002 || !e.message.p)
        abort();
    if (al_relay_write_url_round(v, &out)) {
        const struct al_json *round = parse_own(a, &out);
        if (round && !al_relay_is_asking(round, &asked))
            abort();
    }
    if (al_relay_is_asking(v, &asked) && !asked.requests && !asked.state.n)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct al_str text = {(const char *)data, size};
    const char *end = size ? memchr(text.p, '\n', size) : NULL;
    struct al_str line = {text.p, end ? (size_t)(end - text.p) : 0};
    struct al_str rest = {text.p + line.n, size - line.n};
    if (al_utf8_valid(line))
        check_names(line);
    autoarena struct al_arena a = AL_ARENA_INIT(64u << 20);
    const struct al_json *v;
    if (al_json_parse(&a, rest, &v, NULL) < 0)
        return 0;
    check_result(&a, v, false);
    check_result(&a, v, true);
    check_params(&a, v);
    check_error(&a, v);
    check_named(&a, v);
    return 0;
}
