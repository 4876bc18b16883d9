/* A schema, a line end, a value: both of any bytes. Checking and printing must end, and the type must stay
 * inert. */
#include "base/text.h"
#include "core/schema.h"
#include "ts_grammar.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static bool has(const struct al_buf *b, const char *what)
{
    return al_str_find(al_buf_str(b), al_str_of(what)) >= 0;
}

static void check_type(const struct al_json *schema)
{
    struct al_buf out = AL_BUF_INIT(1 << 20), small = AL_BUF_INIT(64), visible = AL_BUF_INIT(1 << 22);
    al_schema_typescript(schema, &out);
    must(!al_buf_failed(&out) && out.n > 0);
    must(!has(&out, "*/") && !has(&out, "`") && !has(&out, "</") && !has(&out, "\n"));
    must(!has(&out, "\xe2\x80\xa8") && !has(&out, "\xe2\x80\xa9"));
    al_text_visible(&visible, al_buf_str(&out), false);
    must(al_str_eq(al_buf_str(&visible), al_buf_str(&out)));
    must(ts_is_type(al_buf_str(&out)));
    al_schema_typescript(schema, &small);
    must(!al_buf_failed(&small) && small.n > 0 && ts_is_type(al_buf_str(&small)));
    al_buf_free(&out);
    al_buf_free(&small);
    al_buf_free(&visible);
}

static void check_value(const struct al_json *schema, const struct al_json *value)
{
    struct al_buf problems = AL_BUF_INIT(1 << 20);
    unsigned n = al_schema_check(schema, value, &problems), lines = problems.n > 0;
    for (size_t i = 0; i < problems.n; i++)
        lines += problems.p[i] == '\n';
    must(al_buf_failed(&problems) || lines == (n < 20 ? n : 20));
    al_buf_free(&problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    struct al_str first = {(const char *)data, end ? (size_t)(end - data) : size};
    struct al_str second = {end ? (const char *)end + 1 : "", end ? size - first.n - 1 : 0};
    struct al_arena a = AL_ARENA_INIT(16u << 20);
    const struct al_json *schema, *value;
    struct al_err err;
    if (al_json_parse(&a, first, &schema, &err) == 0) {
        check_type(schema);
        /* Schemas that are not ours never get here unchecked. */
        if (al_schema_supported(schema, &err) == 0 && al_json_parse(&a, second, &value, &err) == 0)
            check_value(schema, value);
    }
    al_arena_free(&a);
    return 0;
}
