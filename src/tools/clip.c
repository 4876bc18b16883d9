#include "tools/tools_int.h"

#include "base/text.h"

/* What one character takes inside a JSON string, never less than the writer makes of it. */
static size_t json_cost(struct al_str rest, unsigned *ret_bytes)
{
    unsigned char c = (unsigned char)rest.p[0];
    *ret_bytes = 1;
    if (c == '"' || c == '\\' || c == '\n' || c == '\t' || c == '\r')
        return 2;
    if (c < 0x20 || c == 0x7f)
        return 6;
    if (c < 0x80)
        return 1;
    uint32_t cp;
    unsigned n = al_utf8_decode(rest, &cp);
    if (n == 0)
        return 3; /* U+FFFD */
    *ret_bytes = n;
    return cp < 0xa0 || cp == 0x2028 || cp == 0x2029 ? 6 : n; /* C1 controls, line ends of JavaScript */
}

struct al_str al_tool_fit_json(struct al_str s, size_t room)
{
    size_t i = 0, cost = 0;
    while (i < s.n) {
        unsigned n;
        size_t c = json_cost((struct al_str){s.p + i, s.n - i}, &n);
        if (cost + c > room)
            break;
        cost += c;
        i += n;
    }
    return (struct al_str){s.p, i};
}

size_t al_tool_json_cost(struct al_str s)
{
    size_t cost = 0;
    for (size_t i = 0; i < s.n;) {
        unsigned n;
        cost += json_cost((struct al_str){s.p + i, s.n - i}, &n);
        i += n;
    }
    return cost;
}

void al_tool_clip(struct al_buf *out, struct al_str line, size_t max_chars)
{
    struct al_str head = al_utf8_head(line, max_chars);
    al_buf_add_str(out, head);
    if (head.n < line.n)
        al_buf_addf(out, "… (+%zu characters)",
                    al_utf8_count((struct al_str){line.p + head.n, line.n - head.n}));
}

/* The start of the tail: max_chars characters from the end, then on to the next line when that is near. */
static size_t tail_start(struct al_str text, size_t max_chars)
{
    size_t i = text.n, chars = 0;
    while (i > 0 && chars < max_chars) {
        i--;
        chars += ((unsigned char)text.p[i] & 0xc0) != 0x80;
    }
    const char *lf = i > 0 ? memchr(text.p + i, '\n', text.n - i) : NULL;
    if (lf && (size_t)(lf - text.p) + 1 < text.n && (size_t)(lf - text.p) - i < 400)
        i = (size_t)(lf - text.p) + 1;
    return i;
}

void al_tool_head_tail(struct al_buf *out, struct al_str text, size_t max_chars)
{
    if (text.n <= max_chars || al_utf8_count(text) <= max_chars) {
        al_buf_add_str(out, text);
        return;
    }
    struct al_str head = al_utf8_head(text, max_chars / 2);
    for (size_t i = head.n; i > 0 && head.n - i < 400; i--) {
        if (text.p[i - 1] == '\n') {
            head.n = i;
            break;
        }
    }
    size_t tail = tail_start(text, max_chars / 2);
    size_t gap = tail - head.n, lines = 0;
    for (size_t i = head.n; i < tail; i++)
        lines += text.p[i] == '\n';
    al_buf_add_str(out, head);
    if (!al_str_ends(head, "\n"))
        al_buf_addc(out, '\n');
    al_buf_addf(out, "… [%zu bytes, %zu lines left out here] …\n", gap, lines);
    al_buf_add(out, text.p + tail, text.n - tail);
}

bool al_tool_next_line(struct al_str *rest, struct al_str *ret_line)
{
    if (rest->n == 0)
        return false;
    const char *lf = memchr(rest->p, '\n', rest->n);
    size_t n = lf ? (size_t)(lf - rest->p) : rest->n;
    *ret_line = (struct al_str){rest->p, n > 0 && lf && rest->p[n - 1] == '\r' ? n - 1 : n};
    n += lf != NULL;
    rest->p += n;
    rest->n -= n;
    return true;
}
