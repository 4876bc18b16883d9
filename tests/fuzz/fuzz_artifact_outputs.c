/* outputs.json of a script: what is accepted has paths that stay beneath and titles of one line. */
#include "artifact/artifact_int.h"

#include "base/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

static void check_path(struct al_str path)
{
    MUST(path.n > 0 && path.p[0] != '/' && path.p[path.n - 1] != '/' && !memchr(path.p, 0, path.n));
    for (size_t from = 0; from <= path.n;) {
        const char *slash = from < path.n ? memchr(path.p + from, '/', path.n - from) : NULL;
        size_t to = slash ? (size_t)(slash - path.p) : path.n;
        struct al_str name = {path.p + from, to - from};
        MUST(name.n > 0 && !al_str_is(name, ".") && !al_str_is(name, ".."));
        from = to + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)64 << 20);
    struct al_declared *list;
    size_t n;
    struct al_err err = {0};
    if (size > AL_OUTPUTS_MAX_BYTES)
        return 0;
    if (al_outputs_parse(&a, (struct al_str){(const char *)data, size}, &list, &n, &err) < 0) {
        MUST(err.code == AL_PUBLISH_REJECTED && err.msg[0] && err.hint[0]);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        check_path(list[i].path);
        if (list[i].entry.p)
            check_path(list[i].entry);
        MUST(!list[i].title.p || list[i].title.n > 0);
        MUST(al_utf8_count(list[i].title) <= AL_TITLE_CHARS);
        for (size_t k = 0; k < list[i].title.n; k++)
            MUST((unsigned char)list[i].title.p[k] >= 0x20);
    }
    return 0;
}
