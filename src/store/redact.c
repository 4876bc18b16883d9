#include "store/store_int.h"

#include "base/json.h"

#define REDACTED "\"‹redacted›\""
#define MAX_ARENA (256u << 20)

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool at_word(struct al_str key, size_t i, const char *word)
{
    size_t n = strlen(word);
    if (key.n - i < n)
        return false;
    for (size_t k = 0; k < n; k++) {
        if (lower(key.p[i + k]) != word[k])
            return false;
    }
    return true;
}

/* token|secret|password|authorization|api.?key, anywhere, any case. */
static bool is_secret(struct al_str key)
{
    static const char *const words[] = {"token", "secret", "password", "authorization", "apikey"};
    for (size_t i = 0; i < key.n; i++) {
        for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
            if (at_word(key, i, words[w]))
                return true;
        }
        if (!at_word(key, i, "api") || i + 3 >= key.n)
            continue;
        /* One character, however many bytes it has. */
        size_t next = i + 4;
        while (next < key.n && ((unsigned char)key.p[next] & 0xc0) == 0x80)
            next++;
        if (at_word(key, next, "key"))
            return true;
    }
    return false;
}

/* The next node in the order of the text; not into a value that is left out. */
struct walk {
    const struct al_json *stack[AL_JSON_MAX_DEPTH + 2];
    unsigned depth;
};

static const struct al_json *next_node(struct walk *w, bool descend)
{
    const struct al_json *v = w->stack[w->depth];
    if (descend && v->child) {
        w->stack[++w->depth] = v->child;
        return v->child;
    }
    for (;;) {
        if (w->depth == 0)
            return NULL;
        if (w->stack[w->depth]->next)
            return w->stack[w->depth] = w->stack[w->depth]->next;
        w->depth--;
    }
}

void al_redact_json(struct al_str json, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(MAX_ARENA);
    const struct al_json *root;
    if (al_json_parse(&a, json, &root, NULL) < 0) {
        /* Too much to look through is not the same as no JSON: then nothing of it is kept. */
        if (a.used > MAX_ARENA - 65536)
            al_buf_adds(out, REDACTED);
        else
            al_buf_add_str(out, json);
        return;
    }
    const char *done = json.p, *end = json.p + json.n;
    struct walk w = {.stack = {root}};
    bool secret = false;
    for (const struct al_json *v = root; v; v = next_node(&w, !secret)) {
        secret = v->key.n && is_secret(v->key);
        if (!secret)
            continue;
        al_buf_add(out, done, (size_t)(v->raw.p - done));
        al_buf_adds(out, REDACTED);
        done = v->raw.p + v->raw.n;
    }
    al_buf_add(out, done, (size_t)(end - done));
}
