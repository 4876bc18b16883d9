/* Whatever a file begins with and is called: a format, or a reason with a hint. */
#include "base/text.h"
#include "table/table.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

/* The name is the first line. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *lf = size ? memchr(data, '\n', size) : NULL;
    size_t n = lf ? (size_t)(lf - data) : 0, skip = lf ? n + 1 : 0;
    autobuf struct al_buf name = AL_BUF_INIT((size_t)1 << 20);
    al_utf8_clean(&name, (struct al_str){(const char *)data, n});
    struct al_str head = {(const char *)data + skip, size - skip};
    struct al_table_found found = {.format = (enum al_table_format)77};
    struct al_err err = {0};
    if (al_table_detect(al_buf_str(&name), head, &found, &err) == 0) {
        MUST((unsigned)found.format <= AL_TABLE_XLSX && (!found.gzip || found.format != AL_TABLE_XLSX));
        return 0;
    }
    MUST(err.code == AL_DATASET_UNSUPPORTED || err.code == AL_INGEST_INVALID);
    MUST(err.msg[0] && err.hint[0] && al_utf8_valid(al_str_of(err.msg)));
    return 0;
}
