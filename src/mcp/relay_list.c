/*
 * Asks all servers for a list at the same time, each by a work of its own, and follows their pages. A server
 * that is not there in a short time is left out, and a change is announced once it is.
 */
#include "mcp/relay_list.h"

#include "base/mem.h"
#include "base/text.h"

/* For servers that have not started yet, and for those that have. The only server has nobody to hold up. */
#define START_MS 3000
#define LIST_MS 10000

static const struct al_str nothing = {"", 0};

static const struct al_relay_kind kinds[] = {
    {"tools", "tools/list", "tools", "notifications/tools/list_changed"},
    {"prompts", "prompts/list", "prompts", "notifications/prompts/list_changed"},
    {"resources", "resources/list", "resources", "notifications/resources/list_changed"},
    {"resourceTemplates", "resources/templates/list", "resources", "notifications/resources/list_changed"},
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

static const struct al_relay_kind *kind_of(const char *member)
{
    size_t i = 0;
    while (strcmp(kinds[i].member, member) != 0)
        i++;
    return &kinds[i];
}

static unsigned bit_of(const char *member)
{
    return 1u << (kind_of(member) - kinds);
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
        al_relay_write_entry(jw, entry, NULL, w->modern);
    }
}

/* --- one page --- */

static void put_rest(struct al_relay_slot *slot, const char *member, const struct al_json *page)
{
    static const char *const own[] = {"nextCursor", "ttlMs", "cacheScope", "resultType"};
    struct al_jw jw;
    al_jw_init(&jw, &slot->rest);
    al_jw_obj(&jw);
    al_json_each(m, page)
    {
        bool passed = !al_str_is(m->key, member);
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            passed &= !al_str_is(m->key, own[i]);
        if (!passed)
            continue;
        al_jw_key_str(&jw, m->key);
        al_jw_raw(&jw, m->raw);
    }
    al_jw_end(&jw);
}

static size_t put_page(struct al_relay_work *part, const struct al_json *page, struct al_buf *out)
{
    size_t n = 0;
    al_json_each(e, entries_of(part, page))
    {
        size_t before = out->n;
        struct al_jw one;
        al_jw_init(&one, out);
        if (n)
            al_buf_addc(out, ',');
        size_t after = out->n;
        put_entry(part, &one, e);
        if (out->n == after)
            out->n = before;
        else
            n++;
    }
    return n;
}

static void ask_page(struct al_relay_work *part);

/* The answer does not say all, and is not to be kept. */
static void is_partial(struct al_relay_list *list)
{
    list->ttl_ms = 0;
    list->any_page = true;
    list->not_public = true;
}

static void lose(struct al_relay_work *part, const struct al_err *err)
{
    is_partial(part->whole->list);
    al_relay_tell_lost(part, part->server, err);
}

/* The server is left out, or what follows the pages that it has given. */
static void lose_rest(struct al_relay_work *part, const char *why)
{
    autobuf struct al_buf text = AL_BUF_INIT(8192);
    bool first = al_relay_slot_of(part)->n_pages == 0;
    is_partial(part->whole->list);
    al_buf_addf(&text, first ? "%s is left out of %s: %s" : "%s has more %s, which are left out: %s",
                al_relay_name(part->server), part->member, why);
    al_relay_warn(part, al_buf_str(&text));
}

static uint64_t hash_of(struct al_str s)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 1099511628211u;
    return h;
}

/* False: the server's list ends here. */
static bool follow(struct al_relay_work *part, struct al_relay_slot *slot, struct al_str cursor)
{
    uint64_t hash = hash_of(cursor);
    if (cursor.n > AL_RELAY_LIST_CURSOR || memchr(cursor.p, 0, cursor.n)) {
        lose_rest(part, "its cursor cannot be used");
        return false;
    }
    for (size_t i = 0; i + 1 < slot->n_pages; i++)
        if (slot->seen[i] == hash) {
            lose_rest(part, "its list repeats a cursor");
            return false;
        }
    if (slot->n_pages >= AL_RELAY_LIST_PAGES) {
        lose_rest(part, "its list has too many pages");
        return false;
    }
    if (slot->n_pages > slot->seen_cap) {
        slot->seen_cap = 2 * slot->n_pages;
        slot->seen = al_xrealloc(slot->seen, slot->seen_cap * sizeof *slot->seen);
    }
    slot->seen[slot->n_pages - 1] = hash;
    free(slot->cursor);
    slot->cursor = al_xdup(cursor.p, cursor.n);
    return true;
}

static void take_page(struct al_relay_work *part, const struct al_json *page)
{
    struct al_relay_list *list = part->whole->list;
    struct al_relay_slot *slot = al_relay_slot_of(part);
    autobuf struct al_buf entries = AL_BUF_INIT(2 * (size_t)AL_MCP_MAX_MESSAGE);
    const struct al_json *cursor = al_json_get(page, "nextCursor");
    size_t n = put_page(part, page, &entries);
    part->server->told &= ~bit_of(part->member);
    part->server->slow &= ~bit_of(part->member);
    if (al_buf_failed(&entries)) {
        lose_rest(part, "the page is too long");
        al_relay_part_over(part);
        return;
    }
    if (slot->n_pages == 0 && list->n == 1)
        put_rest(slot, part->member, page);
    bool goes_on = al_relay_keep_page(list, slot, al_buf_str(&entries), n);
    if (goes_on) {
        al_relay_keep_hints(list, page);
        goes_on = al_json_is_string(cursor) && follow(part, slot, cursor->str);
        if (al_relay_list_is_full(list)) {
            al_relay_end_after(list, slot, goes_on);
            goes_on = false;
        }
    }
    if (goes_on)
        ask_page(part);
    else
        al_relay_part_over(part);
}

static void page_settled(struct al_relay_wait *wait, const struct al_err *err)
{
    struct al_relay_work *part = wait->work;
    autoarena struct al_arena a = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    autobuf struct al_buf text = part->page; /* part may be gone before the page is */
    const struct al_json *page = NULL;
    (void)err; /* then the page shows what the catalogue had before */
    al_buf_init(&part->page, 0);
    if (al_json_parse(&a, al_buf_str(&text), &page, NULL) < 0)
        page = NULL;
    part->server->settled = true;
    take_page(part, page);
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

static void page_answered(struct al_relay_work *part, const struct al_json *result)
{
    if (!part->whole) {
        al_relay_work_free(part);
        return;
    }
    if (al_relay_wants_input(result)) {
        lose_rest(part, "it asks for input before it lists anything, which the protocol has no answer to");
        al_relay_part_over(part);
        return;
    }
    /* A page that is too long to wait is shown as the catalogue has it now. */
    if (!lacks_tools(part, result) || result->raw.n > AL_RELAY_LIST_BYTES) {
        take_page(part, result);
        return;
    }
    al_buf_init(&part->page, AL_RELAY_LIST_BYTES);
    al_buf_add_str(&part->page, result->raw);
    al_relay_refresh(part->relay, part->server, part, page_settled);
}

/* The request is about this server alone: its error is the answer. */
static bool is_answer(const struct al_relay_work *part, int code)
{
    const struct al_relay_list *list = part->whole->list;
    const struct al_relay_slot *slot = al_relay_slot_of(part);
    return slot->n_pages == 0 &&
           (slot->given || (list->n == 1 && code != AL_RPC_METHOD_NOT_FOUND && !list->ours_n));
}

static void page_failed(struct al_relay_work *part, const struct al_json *failure)
{
    struct al_relay_work *whole = part->whole;
    struct al_relay_error e;
    if (!whole) {
        al_relay_work_free(part);
        return;
    }
    al_relay_read_error(failure, part->modern, &e);
    if (is_answer(part, e.code)) {
        whole->server = part->server;
        al_relay_pass_failure(whole, failure); /* part goes with it */
        return;
    }
    if (e.code != AL_RPC_METHOD_NOT_FOUND) {
        struct al_err err;
        al_fail(&err, AL_TOOL_ERROR, "%.*s", AL_FMT(al_utf8_head(e.message, 300)));
        lose(part, &err);
    }
    al_relay_part_over(part);
}

static void page_lost(struct al_relay_work *part, const struct al_err *err)
{
    if (!part->whole) {
        al_relay_work_free(part);
        return;
    }
    lose(part, err);
    al_relay_part_over(part);
}

static void ask_page(struct al_relay_work *part)
{
    struct al_relay_params p = {.member = "cursor", .member_json = AL_STR("null")};
    autobuf struct al_buf cursor = AL_BUF_INIT(8 * (size_t)AL_RELAY_CURSOR_MAX);
    const struct al_relay_slot *slot = al_relay_slot_of(part);
    if (slot->cursor) {
        struct al_jw jw;
        al_jw_init(&jw, &cursor);
        al_jw_strz(&jw, slot->cursor);
        p.member_json = al_buf_str(&cursor);
    }
    part->answered = page_answered;
    part->failed = page_failed;
    part->lost = page_lost;
    al_relay_send(part, kind_of(part->member)->method, &p);
}

/* --- those that are late --- */

static void late_ready(struct al_relay_wait *wait, const struct al_err *err)
{
    struct al_relay_server *s = wait->server;
    unsigned awaited = s->awaited;
    s->awaited = 0;
    for (size_t i = 0; i < N_KINDS && !err; i++) {
        if (!(awaited & 1u << i) || !al_relay_may_have(s, kinds[i].capability))
            continue;
        s->told |= 1u << i;
        al_mcp_changed(wait->relay->mcp, kinds[i].changed, nothing, nothing);
    }
}

/* It has not started: the client is told now, and when it has. */
static void announce(struct al_relay_work *whole, struct al_relay_server *s)
{
    autobuf struct al_buf text = AL_BUF_INIT(8192);
    unsigned bit = bit_of(whole->member);
    is_partial(whole->list);
    al_buf_addf(&text, "%s is left out of %s: it is still starting; you are told when it is there",
                al_relay_name(s), whole->member);
    al_relay_warn(whole, al_buf_str(&text));
    if (s->told & bit)
        return;
    if (!s->awaited)
        al_relay_wait_for(whole->relay, s, NULL, late_ready);
    s->awaited |= bit;
}

static void leave_out(struct al_relay_list *list, struct al_relay_slot *slot)
{
    struct al_relay_work *part = slot->part;
    if (al_upstream_state(part->server->upstream) == AL_UPSTREAM_READY) {
        part->server->slow |= slot->n_pages ? 0 : bit_of(part->member);
        lose_rest(part, "it does not answer in time");
    } else {
        announce(list->whole, part->server);
    }
    al_relay_slot_stop(list, slot);
}

/* A server that asks the user something takes as long as that does. */
static bool may_go_on(const struct al_relay_list *list, const struct al_relay_work *part)
{
    bool slow = part->server->slow & bit_of(part->member);
    return part->n_questions > 0 ||
           (!list->patient && al_upstream_state(part->server->upstream) == AL_UPSTREAM_READY && !slow);
}

static void on_time(void *ud)
{
    struct al_relay_list *list = ud;
    list->timer = NULL;
    for (size_t i = 0; i < list->n; i++)
        if (list->slots[i].part && !may_go_on(list, list->slots[i].part))
            leave_out(list, &list->slots[i]);
    list->patient = true;
    if (list->n_open == 0)
        al_relay_list_answer(list->whole);
    else
        list->timer =
            al_timer_start(al_core_loop(list->whole->relay->mcp->core), LIST_MS - START_MS, on_time, list);
}

/* --- the whole --- */

static void ask_all(struct al_relay_work *whole)
{
    struct al_mcp_relay *relay = whole->relay;
    struct al_relay_list *list = whole->list;
    for (size_t i = list->first; i < list->n; i++) {
        struct al_relay_slot *slot = &list->slots[i];
        struct al_relay_server *s = &relay->servers[i];
        if (!slot->given && !al_relay_may_have(s, kind_of(whole->member)->capability))
            continue;
        if (s->awaited && al_upstream_state(s->upstream) != AL_UPSTREAM_READY) { /* it had its time before */
            announce(whole, s);
            continue;
        }
        slot->part = al_relay_part_new(whole, s);
        list->n_open++;
        ask_page(slot->part);
    }
    list->patient = list->n == 1;
    if (list->n_open == 0)
        al_relay_list_answer(whole);
    else
        list->timer =
            al_timer_start(al_core_loop(relay->mcp->core), list->patient ? LIST_MS : START_MS, on_time, list);
}

static struct al_relay_list *list_new(struct al_relay_work *whole, struct al_str ours)
{
    struct al_relay_list *list = al_xcalloc(1, sizeof *list);
    list->whole = whole;
    list->n = whole->relay->n;
    list->slots = al_xcalloc(list->n + 1, sizeof *list->slots);
    for (size_t i = 0; i < list->n; i++) {
        al_buf_init(&list->slots[i].entries, 3 * (size_t)AL_MCP_MAX_MESSAGE);
        al_buf_init(&list->slots[i].rest, AL_RELAY_LIST_BYTES);
    }
    if (ours.n)
        list->ours = al_xdup(ours.p, ours.n);
    list->ours_n = ours.n;
    list->bytes = ours.n;
    return list;
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
    w->list = list_new(w, from ? nothing : ours);
    if (from)
        w->list->first = (size_t)(from - relay->servers);
    if (from && !c.first) {
        w->list->slots[w->list->first].given = true;
        w->list->slots[w->list->first].cursor = al_xdup(c.cursor.p, c.cursor.n);
    }
    ask_all(w);
}
