/*
 * Lists of several servers as one: our own entries and the first server's first page, then page by page what
 * the servers give, one after the other. Nothing is kept in between: the cursor says where it goes on.
 */
#include "mcp/relay_int.h"

#include "base/mem.h"
#include "base/text.h"

static const struct al_str nothing = {"", 0};

static const struct kind {
    const char *member, *method, *capability;
} kinds[] = {
    {"tools", "tools/list", "tools"},
    {"prompts", "prompts/list", "prompts"},
    {"resources", "resources/list", "resources"},
    {"resourceTemplates", "resources/templates/list", "resources"},
};

static const struct kind *kind_of(const char *member)
{
    size_t i = 0;
    while (strcmp(kinds[i].member, member) != 0)
        i++;
    return &kinds[i];
}

/* The first server from there on that may have something to list. */
static size_t next_server(const struct al_relay_work *w, size_t from)
{
    const char *capability = kind_of(w->member)->capability;
    while (from < w->relay->n && !al_relay_may_have(&w->relay->servers[from], capability))
        from++;
    return from;
}

/* --- entries --- */

static const struct al_json *entries_of(const struct al_relay_work *w, const struct al_json *result)
{
    const struct al_json *entries = al_json_get(result, w->member);
    return entries && entries->type == AL_JSON_ARRAY ? entries : NULL;
}

/* The text that an entry of this list is known by. */
static struct al_str entry_id(const struct al_relay_work *w, const struct al_json *entry)
{
    const char *key = strcmp(w->member, "resources") == 0           ? "uri"
                      : strcmp(w->member, "resourceTemplates") == 0 ? "uriTemplate"
                                                                    : "name";
    return al_json_get_text(entry, key);
}

static void put_tool(struct al_relay_work *w, struct al_jw *jw, const struct al_json *entry,
                     struct al_str name)
{
    char ours[AL_RELAY_NAME_MAX + 1];
    if (al_relay_tool_name(w->relay, w->server, name, ours) != AL_RELAY_TOOL_OFFERED)
        return;
    al_relay_write_entry(jw, entry, w->relay->mcp->opts.plain_names ? NULL : ours, w->modern);
}

static void put_prompt(struct al_relay_work *w, struct al_jw *jw, const struct al_json *entry,
                       struct al_str name)
{
    char ours[AL_RELAY_NAME_MAX + 1];
    al_relay_prompt_name(al_str_of(al_relay_name(w->server)), name, ours);
    al_relay_write_entry(jw, entry, w->relay->mcp->opts.plain_names ? NULL : ours, w->modern);
}

static void put_entry(struct al_relay_work *w, struct al_jw *jw, const struct al_json *entry)
{
    struct al_str id = entry_id(w, entry);
    if (!id.n)
        return;
    if (strncmp(w->member, "resource", strlen("resource")) == 0 && al_relay_is_our_uri(id))
        return;
    if (strcmp(w->member, "tools") == 0) {
        put_tool(w, jw, entry, id);
    } else if (strcmp(w->member, "prompts") == 0) {
        put_prompt(w, jw, entry, id);
    } else {
        if (strcmp(w->member, "resources") == 0)
            al_relay_learn_uri(w->relay, id, w->at);
        else
            al_relay_learn_template(w->relay, id, w->at);
        al_relay_write_entry(jw, entry, NULL, w->modern);
    }
}

/* --- one page --- */

static void put_cursor(struct al_relay_work *w, struct al_jw *jw, const struct al_json *theirs)
{
    struct al_relay_cursor c = {.first = true};
    autobuf struct al_buf text = AL_BUF_INIT(AL_RELAY_CURSOR_MAX);
    size_t at = w->at;
    if (al_json_is_string(theirs)) {
        c.first = false;
        c.cursor = theirs->str;
    } else {
        at = next_server(w, w->at + 1);
    }
    if (at >= w->relay->n)
        return;
    c.server = al_str_of(al_relay_name(&w->relay->servers[at]));
    al_relay_cursor_write(&c, &text);
    if (!al_buf_failed(&text)) /* else the server's cursor is longer than any should be: the list ends here */
        al_jw_kstr(jw, "nextCursor", al_buf_str(&text));
}

/* Caching hints of one server are its own; those of several cannot be public for one page and private for
 * another. */
static void put_hints(const struct al_relay_work *w, struct al_jw *jw, const struct al_json *result)
{
    const struct al_json *ttl = al_json_get(result, "ttlMs"), *scope = al_json_get(result, "cacheScope");
    if (!w->modern)
        return;
    if (ttl)
        al_jw_kraw(jw, "ttlMs", ttl->raw);
    else
        al_jw_kint(jw, "ttlMs", 0);
    if (scope && w->relay->n == 1)
        al_jw_kraw(jw, "cacheScope", scope->raw);
    else
        al_jw_kstrz(jw, "cacheScope", "private");
}

/* What else the server put beside its entries (its _meta, members of extensions). */
static void put_rest(const struct al_relay_work *w, struct al_jw *jw, const struct al_json *result)
{
    static const char *const own[] = {"nextCursor", "ttlMs", "cacheScope", "resultType"};
    al_json_each(m, result)
    {
        bool passed = !al_str_is(m->key, w->member);
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            passed &= !al_str_is(m->key, own[i]);
        if (!passed)
            continue;
        al_jw_key_str(jw, m->key);
        al_jw_raw(jw, m->raw);
    }
}

/* result: a page of w->server; NULL when there is none, and the list ends. */
static void answer_page(struct al_relay_work *w, const struct al_json *result)
{
    autobuf struct al_buf out = AL_BUF_INIT(2 * (size_t)AL_MCP_MAX_MESSAGE), entries = AL_BUF_INIT(out.max);
    struct al_jw jw;
    al_buf_addc(&entries, '[');
    if (w->ours_n)
        al_buf_add_str(&entries, (struct al_str){w->ours, w->ours_n});
    al_json_each(e, entries_of(w, result))
    {
        size_t before = entries.n;
        struct al_jw one;
        al_jw_init(&one, &entries);
        if (before > 1)
            al_buf_addc(&entries, ',');
        size_t after = entries.n;
        put_entry(w, &one, e);
        if (entries.n == after)
            entries.n = before;
    }
    al_buf_addc(&entries, ']');
    al_jw_init(&jw, &out);
    al_jw_obj(&jw);
    al_jw_kraw(&jw, w->member, al_buf_str(&entries));
    if (result)
        put_cursor(w, &jw, al_json_get(result, "nextCursor"));
    put_hints(w, &jw, result);
    put_rest(w, &jw, result);
    al_jw_end(&jw);
    if (al_buf_failed(&entries) || al_buf_failed(&out))
        al_relay_end_error(w, AL_RPC_INTERNAL_ERROR,
                           AL_STR("RESULT_TOO_LARGE: the server's page is too long"), nothing);
    else
        al_relay_end_result(w, al_buf_str(&out));
}

/* --- from server to server --- */

static void ask_server(struct al_relay_work *w);

static void next(struct al_relay_work *w)
{
    w->at = next_server(w, w->at + 1);
    free(w->cursor);
    w->cursor = NULL;
    w->cursor_given = false;
    ask_server(w);
}

static void page_kept(struct al_relay_wait *wait, const struct al_err *err)
{
    struct al_relay_work *w = wait->work;
    autoarena struct al_arena a = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    const struct al_json *page = NULL;
    (void)err; /* then the page shows what the catalogue had before */
    if (al_json_parse(&a, al_buf_str(&w->page), &page, NULL) < 0)
        page = NULL;
    w->server->settled = true;
    answer_page(w, page);
}

/* A tool that the catalogue lacks cannot be called; one that the server has just got will be there in a
 * moment. */
static bool lacks_tools(struct al_relay_work *w, const struct al_json *result)
{
    char ours[AL_RELAY_NAME_MAX + 1];
    if (strcmp(w->member, "tools") != 0 || w->server->settled)
        return false;
    al_json_each(e, entries_of(w, result))
    {
        struct al_str name = al_json_get_text(e, "name");
        if (name.n && al_relay_tool_name(w->relay, w->server, name, ours) == AL_RELAY_TOOL_NONE)
            return true;
    }
    return false;
}

static void page_answered(struct al_relay_work *w, const struct al_json *result)
{
    if (al_relay_wants_input(result)) {
        struct al_err err;
        al_fail(&err, AL_TOOL_ERROR,
                "it asks for input before it lists anything, which the protocol has no answer to");
        al_relay_tell_lost(w, w->server, &err);
        next(w);
        return;
    }
    if (!lacks_tools(w, result)) {
        answer_page(w, result);
        return;
    }
    al_buf_init(&w->page, 2 * (size_t)AL_MCP_MAX_MESSAGE);
    al_buf_add_str(&w->page, result->raw);
    al_relay_refresh(w->relay, w->server, w, page_kept);
}

static void page_failed(struct al_relay_work *w, const struct al_json *failure)
{
    struct al_relay_error e;
    al_relay_read_error(failure, w->modern, &e);
    if (w->cursor_given || (w->relay->n == 1 && e.code != AL_RPC_METHOD_NOT_FOUND && !w->ours_n)) {
        al_relay_pass_failure(w, failure);
        return;
    }
    if (e.code != AL_RPC_METHOD_NOT_FOUND) {
        struct al_err err;
        al_fail(&err, AL_TOOL_ERROR, "%.*s", AL_FMT(al_utf8_head(e.message, 300)));
        al_relay_tell_lost(w, w->server, &err);
    }
    next(w);
}

static void page_lost(struct al_relay_work *w, const struct al_err *err)
{
    if (w->cancelled) {
        al_relay_end_err(w, err);
        return;
    }
    al_relay_tell_lost(w, w->server, err);
    next(w);
}

static void ask_server(struct al_relay_work *w)
{
    struct al_relay_params p = {.member = "cursor", .member_json = AL_STR("null")};
    autobuf struct al_buf cursor = AL_BUF_INIT(8 * (size_t)AL_RELAY_CURSOR_MAX);
    if (w->at >= w->relay->n) {
        answer_page(w, NULL);
        return;
    }
    w->server = &w->relay->servers[w->at];
    if (w->cursor) {
        struct al_jw jw;
        al_jw_init(&jw, &cursor);
        al_jw_strz(&jw, w->cursor);
        p.member_json = al_buf_str(&cursor);
    }
    w->answered = page_answered;
    w->failed = page_failed;
    w->lost = page_lost;
    al_relay_send(w, kind_of(w->member)->method, &p);
}

void al_mcp_relay_list(struct al_mcp_relay *relay, struct al_mcp_request *r, const struct al_json *params,
                       const char *member, struct al_str ours)
{
    const struct al_json *cursor = al_json_get(params, "cursor");
    struct al_relay_cursor c = {.first = true};
    struct al_relay_server *from = NULL;
    if (cursor && cursor->type != AL_JSON_NULL) {
        bool read = al_json_is_string(cursor) && al_relay_cursor_read(cursor->str, &c);
        from = read ? al_relay_find(relay, c.server) : NULL;
        if (!from || memchr(c.cursor.p ? c.cursor.p : "", 0, c.cursor.n)) {
            al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing, "\"params.cursor\" is not one that was given out");
            return;
        }
    }
    struct al_relay_work *w = al_relay_work_new(relay, r);
    w->member = kind_of(member)->member;
    w->cursor_given = from && !c.first;
    if (from)
        w->at = (size_t)(from - relay->servers);
    else
        w->at = next_server(w, 0);
    if (!from && ours.n) {
        w->ours = al_xdup(ours.p, ours.n);
        w->ours_n = ours.n;
    }
    if (w->cursor_given)
        w->cursor = al_xdup(c.cursor.p, c.cursor.n);
    ask_server(w);
}
