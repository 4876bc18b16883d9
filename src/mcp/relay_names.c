/* Names and cursors of a gateway. A cursor is a text of ours: the length of the server's name, the name, its
 * cursor. */
#include "mcp/relay_pure.h"

#include "base/ident.h"
#include "base/text.h"

#include <stdio.h>

/* Room for a server's part, so that something of the prompt's own name is left of any pair. */
#define SERVER_PART_MAX 30

static bool is_safe(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* Appends s with other characters as "_", at most until out has max bytes. False when anything was changed.
 */
static bool add_safe(char *out, size_t *n, size_t max, struct al_str s)
{
    bool same = true;
    size_t i = 0;
    for (; i < s.n && *n < max; i++) {
        same &= is_safe(s.p[i]);
        out[(*n)++] = '_';
        if (is_safe(s.p[i]))
            out[*n - 1] = s.p[i];
    }
    return same && i == s.n;
}

static bool add_server_part(char *out, size_t *n, struct al_str server)
{
    bool same = add_safe(out, n, SERVER_PART_MAX, server);
    out[(*n)++] = '_';
    return same;
}

static void add_hash(char *out, size_t *n, struct al_str server, struct al_str prompt)
{
    char hex[AL_SHA256_HEX];
    struct al_sha256 *h = al_sha256_new();
    al_sha256_add(h, server.p, server.n);
    al_sha256_add(h, "", 1);
    al_sha256_add(h, prompt.p, prompt.n);
    al_sha256_end(h, hex);
    if (*n > AL_RELAY_NAME_MAX - AL_RELAY_HASH_BYTES - 1)
        *n = AL_RELAY_NAME_MAX - AL_RELAY_HASH_BYTES - 1;
    out[(*n)++] = '_';
    memcpy(out + *n, hex, AL_RELAY_HASH_BYTES);
    *n += AL_RELAY_HASH_BYTES;
}

void al_relay_prompt_name(struct al_str server, struct al_str prompt, char out[AL_RELAY_NAME_MAX + 1])
{
    size_t n = 0;
    bool same = add_server_part(out, &n, server);
    same &= add_safe(out, &n, AL_RELAY_NAME_MAX, prompt);
    bool clear = server.n && prompt.n && !memchr(server.p, '_', server.n);
    if (!same || !clear)
        add_hash(out, &n, server, prompt);
    out[n] = 0;
}

bool al_relay_prompt_of(struct al_str server, struct al_str name)
{
    char part[AL_RELAY_NAME_MAX + 1];
    size_t n = 0;
    add_server_part(part, &n, server);
    return name.n > n && name.n <= AL_RELAY_NAME_MAX && memcmp(name.p, part, n) == 0;
}

void al_relay_cursor_write(const struct al_relay_cursor *c, struct al_buf *out)
{
    al_buf_addf(out, "%zu:", c->server.n);
    al_buf_add_str(out, c->server);
    if (c->first)
        return;
    al_buf_addc(out, '=');
    al_buf_add_str(out, c->cursor);
}

bool al_relay_cursor_read(struct al_str text, struct al_relay_cursor *ret)
{
    int64_t n = 0;
    ptrdiff_t colon = text.n <= AL_RELAY_CURSOR_MAX ? al_str_find(text, AL_STR(":")) : -1;
    if (colon < 1 || colon > 4 || !al_parse_int((struct al_str){text.p, (size_t)colon}, 1, 9999, &n))
        return false;
    struct al_str rest = {text.p + colon + 1, text.n - (size_t)colon - 1};
    if (rest.n < (size_t)n)
        return false;
    *ret = (struct al_relay_cursor){.server = {rest.p, (size_t)n}, .first = rest.n == (size_t)n};
    if (ret->first)
        return true;
    ret->cursor = (struct al_str){rest.p + n + 1, rest.n - (size_t)n - 1};
    return rest.p[n] == '=';
}

struct al_str al_relay_template_head(struct al_str uri_template)
{
    const char *brace = uri_template.n ? memchr(uri_template.p, '{', uri_template.n) : NULL;
    return (struct al_str){uri_template.p, brace ? (size_t)(brace - uri_template.p) : uri_template.n};
}
