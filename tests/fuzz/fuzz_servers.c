/* The files of other clients, of any bytes: read as JSON with comments, as TOML, as our own; and edited,
 * where an edit that was accepted has its effect, leaves a file that is read again, and changes nothing when
 * it is done twice. */
#include "config/servers.h"
#include "config/servers_text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX (1u << 20)

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_plain(struct al_str text)
{
    struct al_buf plain = AL_BUF_INIT(MAX);
    al_jsonc_plain(text, &plain);
    must(plain.n == text.n);
    for (size_t i = 0; i < text.n; i++)
        must((plain.p[i] == '\n') == (text.p[i] == '\n'));
    al_buf_free(&plain);
}

static void check_server(const struct al_server *s)
{
    struct al_buf out = AL_BUF_INIT(4 * MAX);
    struct al_err err;
    must(s->name && s->name[0] && s->origin && strlen(s->sha256) == 64);
    must(s->http == (s->url != NULL) && s->http != (s->command != NULL));
    must(s->timeout_ms >= 1000 && s->timeout_ms <= 3600000);
    al_server_policy(s, al_str_of("get_x"));
    if (al_server_expand(s->http ? s->url : s->command, &out, &err) < 0)
        must(err.code == AL_CONFIG_INVALID);
    /* What is read is what our own file gives back. */
    struct al_buf ours = AL_BUF_INIT(4 * MAX);
    struct al_servers back = {0};
    if (al_servers_edit_put((struct al_str){0}, s, &ours, &err) == 0) {
        must(al_servers_read(al_buf_str(&ours), AL_SERVERS_OURS, "ours", &back, NULL, &err) == 0);
        must(back.n == 1 && strcmp(back.v[0].sha256, s->sha256) == 0);
        must(back.v[0].timeout_ms == s->timeout_ms && back.v[0].disabled == s->disabled);
    } else {
        must(err.code == AL_CONFIG_INVALID);
    }
    al_servers_free(&back);
    al_buf_free(&ours);
    al_buf_free(&out);
}

/* Nothing stays that would be looked for where the server happens to start. */
static void check_rooted(struct al_servers *s)
{
    struct al_buf notices = AL_BUF_INIT(MAX);
    al_servers_root(s, 0, "/nonexistent/.vscode/mcp.json", s->n % 2, &notices);
    for (size_t i = 0; i < s->n; i++) {
        const struct al_server *v = &s->v[i];
        must(v->http || v->command[0] == '/' || !strchr(v->command, '/') ||
             strncmp(v->command, "${", 2) == 0 || (v->cwd && v->cwd[0] == '$'));
        must(!v->cwd || v->cwd[0] == '/' || strncmp(v->cwd, "${", 2) == 0);
    }
    al_buf_free(&notices);
}

static void check_read(struct al_str text, enum al_servers_shape shape)
{
    struct al_servers s = {0};
    struct al_err err;
    struct al_buf notices = AL_BUF_INIT(MAX);
    if (al_servers_read(text, shape, "the file", &s, &notices, &err) < 0)
        must(err.code == AL_CONFIG_INVALID);
    for (size_t i = 0; i < s.n && i < 4; i++)
        check_server(&s.v[i]);
    if (shape != AL_SERVERS_OURS)
        check_rooted(&s);
    al_servers_free(&s);
    al_buf_free(&notices);
}

typedef int edit_fn(struct al_str text, const struct al_text_edit *e, const char *shown, struct al_buf *out,
                    struct al_err *err);

static void check_edit(struct al_str text, edit_fn *edit, const char *container, enum al_servers_shape shape)
{
    struct al_str names[] = {AL_STR("a"), AL_STR("b")};
    struct al_text_edit e = {.steps = {al_str_of(container)},
                             .n_steps = 1,
                             .remove = names,
                             .n_remove = 2,
                             .put_name = AL_STR("alisio"),
                             .put_value = AL_STR("{\"command\":\"/a b/\\\"c\",\"args\":[\"mcp\"]}")};
    struct al_buf once = AL_BUF_INIT(4 * MAX), twice = AL_BUF_INIT(4 * MAX), thrice = AL_BUF_INIT(4 * MAX);
    struct al_servers s = {0};
    struct al_err err;
    if (edit(text, &e, "the file", &once, &err) == 0) {
        must(edit(al_buf_str(&once), &e, "the file", &twice, &err) == 0);
        /* The first may have taken out the line that told how lines end. */
        must(edit(al_buf_str(&twice), &e, "the file", &thrice, &err) == 0);
        must(al_str_eq(al_buf_str(&twice), al_buf_str(&thrice)));
        /* Names may clash with those of other scopes in the same file; what is there now is found all the
         * same. */
        if (al_servers_read(al_buf_str(&once), shape, "the file", &s, NULL, &err) == 0)
            must(al_servers_find(&s, AL_STR("alisio")) || s.n > 0);
    } else {
        must(err.code == AL_CONFIG_INVALID);
    }
    al_servers_free(&s);
    al_buf_free(&once);
    al_buf_free(&twice);
    al_buf_free(&thrice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct al_str text = {(const char *)data, size};
    if (size > MAX / 4)
        return 0;
    check_plain(text);
    check_read(text, AL_SERVERS_ANY_JSON);
    check_read(text, AL_SERVERS_GEMINI);
    check_read(text, AL_SERVERS_CODEX_TOML);
    check_read(text, AL_SERVERS_OURS);
    check_edit(text, al_text_edit_json, "mcpServers", AL_SERVERS_ANY_JSON);
    check_edit(text, al_text_edit_toml, "mcp_servers", AL_SERVERS_CODEX_TOML);
    return 0;
}
