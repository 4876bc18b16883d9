/* What ripgrep prints with --json, whole and cut at every point: its end is wherever our limit of output was.
 */
#include "base/mem.h"
#include "base/text.h"
#include "tools/search_int.h"

#include <stdlib.h>

#define CUTS 600 /* of longer inputs only so many, spread evenly */
#define WINDOW 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void must_lie_in(struct al_str view, struct al_str all)
{
    must(view.n == 0 || (view.p >= all.p && view.p + view.n <= all.p + all.n));
}

/* Every window of a text is valid, and no longer than its bytes could become. */
static void check_text(struct al_str body, bool base64, uint64_t from, size_t max)
{
    struct al_buf out = AL_BUF_INIT(max * 3 + 8);
    al_rg_text(body, base64, from, max, &out);
    must(!al_buf_failed(&out));
    must(al_utf8_valid(al_buf_str(&out)));
    al_buf_free(&out);
}

static void check_match(const struct al_rg_match *m, struct al_str all)
{
    must_lie_in(m->path, all);
    must_lie_in(m->line, all);
    check_text(m->path, m->path_base64, 0, 4200);
    check_text(m->line, m->line_base64, 0, AL_RG_LINE_MAX);
    check_text(m->line, m->line_base64, m->start, WINDOW);
    check_text(m->line, m->line_base64, m->start / 2, 1);
    uint64_t column = al_rg_column(m->line, m->line_base64, m->start);
    must(column >= 1 && column <= m->start + 1 && column <= m->line.n + 1);
}

/* The matches of the first n bytes, in memory of just that size. */
static unsigned walk(const uint8_t *data, size_t n)
{
    char *exact = al_xmalloc(n ? n : 1);
    memcpy(exact, data, n);
    struct al_str all = {exact, n}, rest = all;
    struct al_rg_match m;
    unsigned found = 0;
    size_t before = rest.n + 1;
    while (al_rg_next(&rest, &m)) {
        must(rest.n < before);
        before = rest.n;
        check_match(&m, all);
        found++;
    }
    free(exact);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned whole = walk(data, size);
    for (size_t i = 0, step = size / CUTS + 1; i < size; i += step)
        must(walk(data, i) <= whole + 1); /* a line may become a match by what is missing */
    return 0;
}
