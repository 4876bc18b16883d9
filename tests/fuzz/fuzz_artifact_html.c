/* Any bytes as a page: it ends, stays within them, and what it says can be shown. */
#include "artifact/artifact_int.h"

#include "base/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

static bool never(void *ud, struct al_str ref)
{
    size_t *n = ud;
    MUST(ref.n > 0 && ref.n <= 1024);
    *n += 1;
    return ref.p[0] == 'a';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct al_html_findings f;
    size_t asked = 0;
    autobuf struct al_buf out = AL_BUF_INIT(1 << 16);
    al_html_look((struct al_str){(const char *)data, size}, never, &asked, &f);
    MUST(f.missing <= asked && f.network <= size && f.fixed <= size && f.wedges <= size);
    al_html_warn(&f, AL_STR("page.html"), &out);
    for (size_t i = 0; i < out.n; i++)
        MUST((unsigned char)out.p[i] >= 0x20 || out.p[i] == '\n');
    MUST((out.n > 0) == (f.network || f.missing || f.wedges >= 2 || f.fixed));
    return 0;
}
