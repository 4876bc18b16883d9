/* What a script leaves on standard error, of any bytes. */
#include "base/mem.h"
#include "tools/python_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static bool is_within(struct al_str part, struct al_str whole)
{
    return part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = al_xmalloc(size + 1);
    if (size)
        memcpy(exact, data, size);
    struct al_str text = {exact, size};
    struct python_failure f = python_read_traceback(text);
    must(is_within(f.line, text) && is_within(f.name, f.line));
    must(f.at >= 0 && !memchr(f.line.n ? f.line.p : "", '\n', f.line.n));
    must((f.line.n == 0) == (f.name.n == 0));
    free(exact);
    return 0;
}
