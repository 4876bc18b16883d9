#include "base/json.h"
#include "base/text.h"

/*
 * A checker of JSON that may be hostile: it looks at each byte once and builds nothing, so that a value of
 * any size costs no memory, and what is passed on is sound.
 */

#define DEPTH_MAX 256

struct at {
    const unsigned char *p, *end;
};

static void skip_space(struct at *a)
{
    while (a->p < a->end && (*a->p == ' ' || *a->p == '\n' || *a->p == '\r' || *a->p == '\t'))
        a->p++;
}

static bool word(struct at *a, const char *z)
{
    size_t n = strlen(z);
    if ((size_t)(a->end - a->p) < n || memcmp(a->p, z, n) != 0)
        return false;
    a->p += n;
    return true;
}

static bool digits(struct at *a)
{
    const unsigned char *from = a->p;
    while (a->p < a->end && *a->p >= '0' && *a->p <= '9')
        a->p++;
    return a->p > from;
}

static bool number(struct at *a)
{
    if (a->p < a->end && *a->p == '-')
        a->p++;
    if (a->p < a->end && *a->p == '0')
        a->p++;
    else if (!digits(a))
        return false;
    if (a->p < a->end && *a->p == '.') {
        a->p++;
        if (!digits(a))
            return false;
    }
    if (a->p < a->end && (*a->p == 'e' || *a->p == 'E')) {
        a->p++;
        if (a->p < a->end && (*a->p == '+' || *a->p == '-'))
            a->p++;
        return digits(a);
    }
    return true;
}

static bool escape(struct at *a)
{
    if (a->p >= a->end)
        return false;
    unsigned char c = *a->p++;
    if (c != 'u')
        return strchr("\"\\/bfnrt", c) != NULL && c;
    for (int i = 0; i < 4; i++, a->p++) {
        if (a->p >= a->end ||
            !((*a->p >= '0' && *a->p <= '9') || ((*a->p | 32) >= 'a' && (*a->p | 32) <= 'f')))
            return false;
    }
    return true;
}

static bool string(struct at *a)
{
    if (a->p >= a->end || *a->p++ != '"')
        return false;
    while (a->p < a->end) {
        unsigned char c = *a->p++;
        if (c == '"')
            return true;
        if (c < 0x20 || (c == '\\' && !escape(a)))
            return false;
    }
    return false;
}

static bool scalar(struct at *a)
{
    switch (a->p < a->end ? *a->p : 0) {
    case '"':
        return string(a);
    case 't':
        return word(a, "true");
    case 'f':
        return word(a, "false");
    case 'n':
        return word(a, "null");
    default:
        return number(a);
    }
}

static bool name(struct at *a)
{
    skip_space(a);
    if (!string(a))
        return false;
    skip_space(a);
    return a->p < a->end && *a->p++ == ':';
}

/* After a value: closes what closes, and stands before the next value. 1 there is one, 0 the end, -1 wrong.
 */
static int after_value(struct at *a, const bool *object, unsigned *depth)
{
    while (*depth > 0) {
        skip_space(a);
        unsigned char c = a->p < a->end ? *a->p++ : 0;
        bool in_object = object[*depth - 1];
        if (c == ',')
            return in_object && !name(a) ? -1 : 1;
        if (c != (in_object ? '}' : ']'))
            return -1;
        --*depth;
    }
    skip_space(a);
    return a->p == a->end ? 0 : -1;
}

bool al_json_check(struct al_str s, unsigned max_depth)
{
    struct at a = {(const unsigned char *)s.p, (const unsigned char *)s.p + s.n};
    bool object[DEPTH_MAX];
    unsigned depth = 0;
    if (max_depth > DEPTH_MAX)
        max_depth = DEPTH_MAX;
    if (s.n == 0 || !al_utf8_valid(s))
        return false;
    for (int more = 1; more;) {
        skip_space(&a);
        unsigned char c = a.p < a.end ? *a.p : 0;
        if (c == '{' || c == '[') {
            if (depth == max_depth)
                return false;
            object[depth++] = c == '{';
            a.p++;
            skip_space(&a);
            if (a.p < a.end && *a.p != (c == '{' ? '}' : ']')) {
                if (c == '{' && !name(&a))
                    return false;
                continue;
            }
        } else if (!scalar(&a)) {
            return false;
        }
        more = after_value(&a, object, &depth);
        if (more < 0)
            return false;
    }
    return true;
}
