/* Any bytes as a name, as the head of a file and as a picture; and lines as the names of an archive. */
#include "artifact/artifact_int.h"

#include "base/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

static void check_name(struct al_str s)
{
    autobuf struct al_buf safe = AL_BUF_INIT(4096), again = AL_BUF_INIT(4096);
    char slug[AL_SLUG_MAX + 1];
    al_artifact_safe_name(s, &safe);
    MUST(safe.n > 0 && safe.n <= 200 && al_utf8_valid(al_buf_str(&safe)));
    MUST(!memchr(safe.p, '/', safe.n) && !memchr(safe.p, '\\', safe.n) && !memchr(safe.p, '"', safe.n));
    MUST(safe.p[safe.n - 1] != '.' && safe.p[safe.n - 1] != ' ');
    for (size_t i = 0; i < safe.n; i++)
        MUST((unsigned char)safe.p[i] >= 0x20 && safe.p[i] != 0x7f);
    al_artifact_safe_name(al_buf_str(&safe), &again);
    MUST(al_str_eq(al_buf_str(&safe), al_buf_str(&again)));
    al_artifact_slug(s, slug);
    MUST(slug[0] && strlen(slug) <= AL_SLUG_MAX &&
         strspn(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(slug));
    /* What is decomposed stays as it is. */
    autobuf struct al_buf once = AL_BUF_INIT(1 << 20), twice = AL_BUF_INIT(1 << 20);
    s.n = s.n > 255 ? 255 : s.n;
    al_artifact_name_canonical(s, &once);
    al_artifact_name_canonical(al_buf_str(&once), &twice);
    MUST(al_str_eq(al_buf_str(&once), al_buf_str(&twice)));
}

static void check_archive(struct al_str s)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 22);
    const char *paths[64] = {0}, *names[64];
    size_t n = 0;
    struct al_err err;
    while (s.n && n < 64) {
        const char *end = memchr(s.p, '\n', s.n);
        size_t len = end ? (size_t)(end - s.p) : s.n;
        char *path = len && !memchr(s.p, 0, len) ? al_arena_dup(&a, (struct al_str){s.p, len}) : NULL;
        bool twice = !path;
        for (size_t i = 0; !twice && i < n; i++)
            twice = strcmp(paths[i], path) == 0;
        if (!twice)
            paths[n++] = path;
        s = end ? (struct al_str){end + 1, s.n - len - 1} : (struct al_str){NULL, 0};
    }
    if (al_zip_names(&a, paths, n, names, &err) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        MUST(names[i][0] != '/' && !strchr(names[i], '\\') && !strstr(names[i], "/../") &&
             strncmp(names[i], "../", 3));
        for (size_t k = 0; k < i; k++)
            MUST(strcmp(names[i], names[k]) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const exts[] = {"a.html", "a.csv", "a.json", "a.svg", "a.png",
                                       "a.zip",  "a.pdf", "a",      "a.xyz"};
    struct al_str s = {(const char *)data, size};
    uint32_t w = 0, h = 0;
    if (al_artifact_image_size(s, &w, &h))
        MUST(w > 0 && h > 0 && w <= 1000000 && h <= 1000000);
    for (size_t i = 0; i < sizeof exts / sizeof *exts; i++) {
        struct al_artifact_type t = al_artifact_type_of(al_str_of(exts[i]), s);
        MUST(t.kind && t.mime &&
             (strcmp(t.kind, "file") != 0 || strcmp(t.mime, "application/octet-stream") == 0));
    }
    MUST(al_artifact_type_of(s, AL_STR("x")).kind);
    check_name(s);
    check_archive(s);
    return 0;
}
