#include "assets/assets.h"

#include <stdio.h>
#include <stdlib.h>

/* gen/assets_*.h: one AL_ASSET(number, name, path) for each file. */
#define AL_ASSET(number, name, path)      \
    __asm__(".pushsection .rodata\n"      \
            "al_asset_" #number ":\n"     \
            ".incbin \"" path "\"\n"      \
            "al_asset_" #number "_end:\n" \
            ".byte 0\n"                   \
            ".popsection\n");             \
    extern const char al_asset_##number[], al_asset_##number##_end[];
#include "assets_pages.h"
#include "assets_runtime.h"
#undef AL_ASSET

#define AL_ASSET(number, name, path) {name, al_asset_##number, al_asset_##number##_end},
static const struct al_asset runtime[] = {
#include "assets_runtime.h"
};
static const struct al_asset pages[] = {
#include "assets_pages.h"
};
#undef AL_ASSET

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

size_t al_assets_runtime(const struct al_asset **ret)
{
    *ret = runtime;
    return COUNT(runtime);
}

static const struct al_asset *find(const struct al_asset *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(list[i].name, name))
            return &list[i];
    }
    return NULL;
}

struct al_str al_asset(const char *name)
{
    const struct al_asset *a = find(pages, COUNT(pages), name);
    if (!a)
        a = find(runtime, COUNT(runtime), name);
    if (!a) {
        fprintf(stderr, "alisio: no file \"%s\" was built in\n", name);
        abort();
    }
    return (struct al_str){a->start, (size_t)(a->end - a->start)};
}
