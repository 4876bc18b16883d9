/* Any bytes as an archive: every entry is read or refused, within what its directory says. */
#include "table/zip.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("zip", MFD_CLOEXEC);
    if (ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    struct al_zip *z = NULL;
    struct al_err err;
    if (al_zip_open(fd, size, 1 << 24, &z, &err) < 0)
        return 0;
    for (size_t i = 0; i < al_zip_count(z) && i < 20; i++) {
        const struct al_zip_entry *e = al_zip_at(z, i);
        bool twice;
        if (!al_zip_find(z, e->name, &twice))
            abort();
        struct al_unzip *u = NULL;
        if (al_unzip_open(z, e, &u, &err) < 0)
            continue;
        char buf[777];
        size_t n = 1;
        uint64_t total = 0;
        while (n && al_unzip_next(u, buf, sizeof buf, &n, &err) == 0)
            total += n;
        if (total > e->unpacked)
            abort();
        al_unzip_free(u);
    }
    al_zip_free(z);
    return 0;
}
