/* What a worker says of a dataset is a claim: any JSON, shown to models and kept in rows. The text stays
 * within its characters and free of control characters, and what is kept is JSON. */
#include "tools/data_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check(bool fine)
{
    if (!fine)
        abort();
}

static void check_json(struct al_str s)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(AL_DATA_ARENA);
    const struct al_json *v;
    struct al_err err;
    check(al_json_parse(&arena, s, &v, &err) == 0);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct al_str json = {(const char *)data, size};
    struct al_data_shown shown = {
        .id = "ds_00000000000000000000000000", .name = "a \x1b[31m name.csv", .sheet = ""};
    autobuf struct al_buf text = AL_BUF_INIT(1u << 20), structured = AL_BUF_INIT(16u << 20);
    struct al_err err = {0};
    char format[16];
    if (al_data_show(&shown, json, &text, &structured, &err) == 0) {
        struct al_str s = al_buf_str(&text);
        check(al_utf8_valid(s) && al_utf8_count(s) <= AL_DATA_TEXT_CHARS);
        for (size_t i = 0; i < s.n; i++)
            check((unsigned char)s.p[i] >= ' ' || s.p[i] == '\n' || s.p[i] == '\t');
        check_json(al_buf_str(&structured));
    }
    char *sheets = al_data_sheets(json, format);
    check_json(al_str_of(sheets));
    free(sheets);
    return 0;
}
