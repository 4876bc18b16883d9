#include "jsvm/engine_int.h"

/* Behind a text, whose opening quote is at p; of valid JSON. */
static const char *past_text(const char *p)
{
    for (p++; *p != '"'; p++) {
        if (*p == '\\')
            p++;
    }
    return p + 1;
}

/* Counts what stands in the arrays of the array, and sees that a text comes first. No white space is
 * expected: a run writes none. */
bool al_json_is_pairs(struct al_str s)
{
    unsigned depth = 0, commas = 0;
    const char *p = s.p, *end = s.p + s.n;
    if (s.n < 2 || *p != '[')
        return false;
    while (p < end) {
        char c = *p;
        if (depth == 1 && c != '[' && c != ']' && c != ',')
            return false;
        if (c == '"') {
            p = past_text(p);
            continue;
        }
        p++;
        if (c == '[' && depth == 1) {
            if (*p != '"')
                return false;
            commas = 0;
        }
        commas += c == ',' && depth == 2;
        if (c == ']' && depth == 2 && commas != 1)
            return false;
        depth += c == '[' || c == '{';
        depth -= c == ']' || c == '}';
    }
    return true;
}
