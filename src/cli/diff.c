/* Two texts line by line, for a person to see what changed. */
#include "cli/mcp_common.h"

#include "base/mem.h"
#include "base/text.h"

#define MAX_LINES 2000 /* beyond them all old lines come before all new ones */
#define CONTEXT 3

struct lines {
    struct al_str *v;
    size_t n;
};

static struct lines split(struct al_str s)
{
    struct lines l = {0};
    size_t cap = 0;
    while (s.n) {
        const char *end = memchr(s.p, '\n', s.n);
        size_t n = end ? (size_t)(end - s.p) : s.n;
        if (l.n == cap) {
            cap = cap ? 2 * cap : 64;
            l.v = al_xrealloc(l.v, cap * sizeof *l.v);
        }
        l.v[l.n++] = (struct al_str){s.p, n};
        n += end != NULL;
        s = (struct al_str){s.p + n, s.n - n};
    }
    return l;
}

struct mark {
    char sign;
    struct al_str line;
};

/* Longest common subsequence of what is between the equal ends, by the usual table. */
static size_t compare(const struct al_str *a, size_t n, const struct al_str *b, size_t m, struct mark *out)
{
    size_t k = 0, i = 0, j = 0;
    uint16_t *table = n <= MAX_LINES && m <= MAX_LINES ? al_xcalloc((n + 1) * (m + 1), sizeof *table) : NULL;
    for (size_t x = n; table && x-- > 0;)
        for (size_t y = m; y-- > 0;) {
            uint16_t down = table[(x + 1) * (m + 1) + y], right = table[x * (m + 1) + y + 1];
            table[x * (m + 1) + y] = al_str_eq(a[x], b[y]) ? (uint16_t)(table[(x + 1) * (m + 1) + y + 1] + 1)
                                     : down > right        ? down
                                                           : right;
        }
    while (i < n || j < m) {
        if (table && i < n && j < m && al_str_eq(a[i], b[j])) {
            out[k++] = (struct mark){' ', a[i++]};
            j++;
        } else if (i < n &&
                   (!table || j == m || table[(i + 1) * (m + 1) + j] >= table[i * (m + 1) + j + 1])) {
            out[k++] = (struct mark){'-', a[i++]};
        } else {
            out[k++] = (struct mark){'+', b[j++]};
        }
    }
    free(table);
    return k;
}

static bool near_change(const struct mark *v, size_t n, size_t i)
{
    size_t from = i > CONTEXT ? i - CONTEXT : 0, to = i + CONTEXT < n ? i + CONTEXT : n - 1;
    for (size_t k = from; k <= to; k++)
        if (v[k].sign != ' ')
            return true;
    return false;
}

static void print(const struct al_app *app, const struct mark *v, size_t n, struct al_buf *out)
{
    bool gap = false;
    for (size_t i = 0; i < n; i++) {
        if (!near_change(v, n, i)) {
            gap = true;
            continue;
        }
        if (gap)
            al_buf_adds(out, "  …\n");
        gap = false;
        enum al_style style = v[i].sign == '-' ? AL_BAD : v[i].sign == '+' ? AL_GOOD : AL_PLAIN;
        al_buf_adds(out, al_style_on(app->color, style));
        al_buf_addf(out, "%c ", v[i].sign);
        al_text_plain(out, v[i].line, false);
        al_buf_adds(out, al_style_off(app->color, style));
        al_buf_addc(out, '\n');
    }
}

void al_diff_lines(struct al_app *app, struct al_str old, struct al_str new, struct al_buf *out)
{
    struct lines a = split(old), b = split(new);
    size_t head = 0, tail = 0, k = 0;
    while (head < a.n && head < b.n && al_str_eq(a.v[head], b.v[head]))
        head++;
    while (tail < a.n - head && tail < b.n - head && al_str_eq(a.v[a.n - 1 - tail], b.v[b.n - 1 - tail]))
        tail++;
    struct mark *v = al_xcalloc(a.n + b.n + 1, sizeof *v);
    for (size_t i = 0; i < head; i++)
        v[k++] = (struct mark){' ', a.v[i]};
    k += compare(a.v + head, a.n - head - tail, b.v + head, b.n - head - tail, v + k);
    for (size_t i = a.n - tail; i < a.n; i++)
        v[k++] = (struct mark){' ', a.v[i]};
    print(app, v, k, out);
    free(v);
    free(a.v);
    free(b.v);
}
