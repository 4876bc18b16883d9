/* Which prompt of which server has a name of ours. Most names tell; for one that was changed, the lists of
 * the servers that it may be of are read until it is found. */
#include "mcp/relay_int.h"

#include "base/mem.h"
#include "base/text.h"

#define MAX_PAGES 100

static const struct al_str nothing = {"", 0};

static void unknown_prompt(struct al_relay_work *w)
{
    autobuf struct al_buf text = AL_BUF_INIT(4096);
    al_buf_adds(&text, "unknown prompt: ");
    al_text_visible(&text, al_utf8_head(al_str_of(w->wanted), 64), false);
    al_relay_end_error(w, AL_RPC_INVALID_PARAMS, al_buf_str(&text), nothing);
}

static bool has_name(const struct al_relay_server *s, struct al_str prompt, const char *wanted)
{
    char name[AL_RELAY_NAME_MAX + 1];
    al_relay_prompt_name(al_str_of(al_relay_name(s)), prompt, name);
    return strcmp(name, wanted) == 0;
}

/* The server's part is as long as all of a name of an empty prompt but its hash. */
static bool read_name(struct al_relay_work *w, const struct al_relay_server *s)
{
    char empty[AL_RELAY_NAME_MAX + 1];
    struct al_str wanted = al_str_of(w->wanted);
    al_relay_prompt_name(al_str_of(al_relay_name(s)), nothing, empty);
    size_t part = strlen(empty) - AL_RELAY_HASH_BYTES - 1;
    struct al_str rest = {wanted.p + part, wanted.n - part};
    if (!has_name(s, rest, w->wanted)) {
        if (rest.n <= AL_RELAY_HASH_BYTES + 1)
            return false;
        rest.n -= AL_RELAY_HASH_BYTES + 1;
        if (!has_name(s, rest, w->wanted))
            return false;
    }
    w->target = al_xdup(rest.p, rest.n);
    return true;
}

static void found(struct al_relay_work *w)
{
    w->preferred = (size_t)(w->server - w->relay->servers);
    w->n_tried = 0;
    al_relay_send_own(w);
}

static void search(struct al_relay_work *w);

static void search_next(struct al_relay_work *w)
{
    w->at++;
    w->n_pages = 0;
    free(w->cursor);
    w->cursor = NULL;
    search(w);
}

static void page_answered(struct al_relay_work *w, const struct al_json *result)
{
    const struct al_json *prompts = al_json_get(result, "prompts"), *next = al_json_get(result, "nextCursor");
    al_json_each(p, prompts && prompts->type == AL_JSON_ARRAY ? prompts : NULL)
    {
        struct al_str name = al_json_get_text(p, "name");
        if (!name.n || memchr(name.p, 0, name.n) || !has_name(w->server, name, w->wanted))
            continue;
        w->target = al_xdup(name.p, name.n);
        found(w);
        return;
    }
    if (!al_json_is_string(next) || memchr(next->str.p, 0, next->str.n) || ++w->n_pages >= MAX_PAGES ||
        w->cancelled) {
        search_next(w);
        return;
    }
    free(w->cursor);
    w->cursor = al_xdup(next->str.p, next->str.n);
    search(w);
}

static void page_failed(struct al_relay_work *w, const struct al_json *failure)
{
    (void)failure;
    search_next(w);
}

static void page_lost(struct al_relay_work *w, const struct al_err *err)
{
    if (w->cancelled || w->relay->n == 1)
        al_relay_end_err(w, err);
    else
        search_next(w);
}

static void search(struct al_relay_work *w)
{
    autobuf struct al_buf cursor = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    struct al_relay_params p = {0};
    struct al_mcp_relay *relay = w->relay;
    while (w->at < relay->n &&
           !(al_relay_prompt_of(al_str_of(al_relay_name(&relay->servers[w->at])), al_str_of(w->wanted)) &&
             al_relay_may_have(&relay->servers[w->at], "prompts")))
        w->at++;
    if (w->at >= relay->n) {
        unknown_prompt(w);
        return;
    }
    w->server = &relay->servers[w->at];
    if (w->cursor) {
        struct al_jw jw;
        al_jw_init(&jw, &cursor);
        al_jw_strz(&jw, w->cursor);
        p.member = "cursor";
        p.member_json = al_buf_str(&cursor);
    }
    w->answered = page_answered;
    w->failed = page_failed;
    w->lost = page_lost;
    al_relay_send(w, "prompts/list", &p);
}

void al_relay_find_prompt(struct al_relay_work *w, struct al_str name)
{
    struct al_mcp_relay *relay = w->relay;
    w->wanted = al_xdup(name.p, name.n);
    for (size_t i = 0; i < relay->n && name.n; i++) {
        struct al_relay_server *s = &relay->servers[i];
        if (!al_relay_prompt_of(al_str_of(al_relay_name(s)), name) || !read_name(w, s))
            continue;
        w->server = s;
        found(w);
        return;
    }
    search(w);
}
