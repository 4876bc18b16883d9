/* Any path, for any use: what is let through lies beneath its folder and has no name that is refused. */
#include "core/workspace.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static struct al_workspace *workspace(void)
{
    static struct al_workspace *w;
    static const char *const add[] = {"/usr/lib", NULL};
    struct al_workspace_opts o = {.cwd = "/usr/share", .add_dirs = add};
    struct al_err err;
    if (!w) {
        must(al_workspace_open(&o, &w, &err) == 0);
        al_workspace_set_scratch(w, 0);
    }
    return w;
}

static void check_rel(const char *rel)
{
    must(rel[0] && rel[0] != '/');
    for (const char *part = rel; part; part = strchr(part, '/')) {
        part += *part == '/';
        must(*part && *part != '/');
        must(!(part[0] == '.' && part[1] == '.' && (!part[2] || part[2] == '/')));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct al_workspace *w = workspace();
    struct al_str path = {(const char *)data + 1, size - 1};
    enum al_want want = data[0] % 3;
    bool outside_ok = data[0] & 4;
    struct al_arena a = AL_ARENA_INIT(1u << 20);
    struct al_place p;
    struct al_err err = {.code = AL_OK};
    if (al_workspace_resolve(w, path, want, outside_ok, &a, &p, &err) == 0) {
        check_rel(p.rel);
        must(outside_ok || p.kind != AL_PLACE_OUTSIDE);
        if (p.kind != AL_PLACE_SCRATCH) {
            must(want != AL_WANT_READ || !al_workspace_is_secret(w, p.rel));
            must(want != AL_WANT_WRITE || !al_workspace_is_protected(w, p.rel));
        }
    } else {
        must(err.code != AL_OK && err.msg[0]);
    }
    al_arena_free(&a);
    return 0;
}
