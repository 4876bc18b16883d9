/* The same call with the same result, again and again: a model that goes in a circle. */
#include "agent/turn_int.h"

#include <string.h>

#define ULID_CHARS 26

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Bytes of an id of ours at the beginning of s ("exec_" + ULID); 0: none. */
static size_t id_at(struct al_str s)
{
    size_t n = 0;
    while (n < s.n && n < 12 && s.p[n] >= 'a' && s.p[n] <= 'z')
        n++;
    if (n == 0 || n + 1 + ULID_CHARS > s.n || s.p[n] != '_')
        return 0;
    struct al_str id = {s.p, n + 1 + ULID_CHARS};
    autobuf struct al_buf prefix = AL_BUF_INIT(16);
    al_buf_add(&prefix, s.p, n);
    al_buf_addc(&prefix, 0);
    return al_id_valid(id, prefix.p) ? id.n : 0;
}

/* Bytes of a duration at the beginning of s: "1.25 s", "12ms"; 0: none. */
static size_t duration_at(struct al_str s)
{
    static const char *const units[] = {"ms", "µs", "ns", "s", "min"};
    size_t n = 0;
    while (n < s.n && (is_digit(s.p[n]) || (n > 0 && s.p[n] == '.')))
        n++;
    if (n == 0)
        return 0;
    if (n < s.n && s.p[n] == ' ')
        n++;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        struct al_str rest = {s.p + n, s.n - n};
        size_t u = strlen(units[i]);
        if (al_str_starts(rest, units[i]) && (rest.n == u || !is_alnum(rest.p[u])))
            return n + u;
    }
    return 0;
}

/* Ids and durations are new each time, and say nothing. */
static void add_plain(struct al_sha256 *h, struct al_str s)
{
    size_t from = 0;
    for (size_t i = 0; i < s.n;) {
        struct al_str rest = {s.p + i, s.n - i};
        bool begins = i == 0 || !is_alnum(s.p[i - 1]);
        size_t skip = begins && rest.p[0] >= 'a' && rest.p[0] <= 'z' ? id_at(rest)
                      : begins && is_digit(rest.p[0])                ? duration_at(rest)
                                                                     : 0;
        if (skip == 0) {
            i++;
            continue;
        }
        al_sha256_add(h, s.p + from, i - from);
        al_sha256_add(h, "\1", 1);
        i += skip;
        from = i;
    }
    al_sha256_add(h, s.p + from, s.n - from);
    al_sha256_add(h, "", 1);
}

unsigned al_repeat_count(struct al_agent *a, struct al_str name, struct al_str arguments,
                         struct al_str result)
{
    struct al_sha256 *h = al_sha256_new();
    char key[AL_SHA256_HEX];
    al_sha256_add(h, name.p, name.n);
    al_sha256_add(h, "", 1);
    al_sha256_add(h, arguments.p, arguments.n);
    al_sha256_add(h, "", 1);
    add_plain(h, result);
    al_sha256_end(h, key);
    if (strcmp(key, a->repeat.key) != 0)
        a->repeat = (struct al_repeat){.n = 0};
    memcpy(a->repeat.key, key, sizeof(key));
    return ++a->repeat.n;
}
