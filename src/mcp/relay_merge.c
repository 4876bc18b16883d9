/*
 * What several servers list, as one answer: ours, then theirs, in the order of the configuration. When it is
 * too much for one answer, the servers at the end give way, and the cursor says where the next one begins:
 * nothing is kept in between.
 */
#include "mcp/relay_list.h"

#include "base/mem.h"

struct al_relay_slot *al_relay_slot_of(const struct al_relay_work *part)
{
    return &part->whole->list->slots[part->server - part->relay->servers];
}

static void count(struct al_relay_list *list, size_t bytes, size_t n)
{
    list->bytes += bytes;
    list->n_entries += n;
    list->whole->relay->list_bytes += bytes;
}

static void slot_clear(struct al_relay_list *list, struct al_relay_slot *slot)
{
    list->bytes -= slot->entries.n;
    list->n_entries -= slot->n_entries;
    if (list->whole->relay)
        list->whole->relay->list_bytes -= slot->entries.n;
    slot->n_entries = 0;
    slot->n_pages = 0;
    al_buf_free(&slot->entries);
    al_buf_free(&slot->rest);
    free(slot->seen);
    slot->seen = NULL;
    slot->seen_cap = 0;
    free(slot->cursor);
    slot->cursor = NULL;
}

void al_relay_slot_stop(struct al_relay_list *list, struct al_relay_slot *slot)
{
    struct al_relay_work *part = slot->part;
    if (!part)
        return;
    slot->part = NULL;
    list->n_open--;
    al_relay_part_drop(part);
}

void al_relay_list_free(struct al_relay_list *list)
{
    if (!list)
        return;
    al_timer_stop(list->timer);
    for (size_t i = 0; i < list->n; i++) {
        al_relay_slot_stop(list, &list->slots[i]);
        slot_clear(list, &list->slots[i]);
    }
    free(list->slots);
    free(list->ours);
    free(list);
}

void al_relay_list_orphan(struct al_relay_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->slots[i].part)
            list->slots[i].part->whole = NULL;
        list->slots[i].part = NULL;
    }
}

/* --- room --- */

static bool has_room(const struct al_relay_list *list, size_t bytes, size_t n)
{
    return list->bytes + bytes <= AL_RELAY_LIST_BYTES && list->n_entries + n <= AL_RELAY_LIST_ENTRIES &&
           list->whole->relay->list_bytes + bytes <= AL_RELAY_LISTS_BYTES;
}

/* The answer ends in this slot: what comes after it is asked for by the client's next request. */
static void end_at(struct al_relay_list *list, struct al_relay_slot *slot)
{
    slot->more = true;
    for (struct al_relay_slot *s = slot + 1; s < list->slots + list->n; s++) {
        al_relay_slot_stop(list, s);
        slot_clear(list, s);
        s->more = true;
    }
}

static struct al_relay_slot *last_kept_after(struct al_relay_list *list, const struct al_relay_slot *slot)
{
    for (struct al_relay_slot *s = list->slots + list->n - 1; s > slot; s--)
        if (s->n_entries)
            return s;
    return NULL;
}

bool al_relay_keep_page(struct al_relay_list *list, struct al_relay_slot *slot, struct al_str entries,
                        size_t n)
{
    /* Each answer goes on by one page at least, however long that is. */
    bool must = slot == &list->slots[list->first] && slot->n_pages == 0 && !list->ours_n;
    struct al_relay_slot *last;
    while (!has_room(list, entries.n, n)) {
        last = last_kept_after(list, slot);
        if (!last) {
            if (must)
                break;
            end_at(list, slot);
            return false;
        }
        al_relay_slot_stop(list, last);
        slot_clear(list, last);
        end_at(list, last);
    }
    size_t before = slot->entries.n;
    if (n && before)
        al_buf_addc(&slot->entries, ',');
    al_buf_add_str(&slot->entries, entries);
    slot->n_entries += n;
    slot->n_pages++;
    count(list, slot->entries.n - before, n);
    return true;
}

bool al_relay_list_is_full(const struct al_relay_list *list)
{
    return !has_room(list, 1, 1);
}

void al_relay_end_after(struct al_relay_list *list, struct al_relay_slot *slot, bool has_more)
{
    struct al_relay_slot *next = slot + 1;
    if (has_more) {
        end_at(list, slot);
    } else if (next < list->slots + list->n) {
        al_relay_slot_stop(list, next);
        slot_clear(list, next);
        end_at(list, next);
    }
}

void al_relay_keep_hints(struct al_relay_list *list, const struct al_json *page)
{
    int64_t ttl = 0;
    if (!al_json_int(al_json_get(page, "ttlMs"), 0, INT64_MAX, &ttl))
        ttl = 0;
    if (!list->any_page || (uint64_t)ttl < list->ttl_ms)
        list->ttl_ms = (uint64_t)ttl;
    list->any_page = true;
    list->not_public |= !al_str_is(al_json_get_text(page, "cacheScope"), "public");
}

/* --- the answer --- */

/* Clients ask for a resource by its URI alone: it is the first server's that lists it, in our order, however
 * late that one's list came. */
static void learn(const struct al_relay_list *list, const struct al_relay_slot *slot)
{
    const struct al_relay_work *w = list->whole;
    bool uris = strcmp(w->member, "resources") == 0;
    size_t server = (size_t)(slot - list->slots);
    autoarena struct al_arena a = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    autobuf struct al_buf array = AL_BUF_INIT(slot->entries.max);
    const struct al_json *v = NULL;
    if (!slot->n_entries || (!uris && strcmp(w->member, "resourceTemplates") != 0))
        return;
    al_buf_addc(&array, '[');
    al_buf_add_str(&array, al_buf_str(&slot->entries));
    al_buf_addc(&array, ']');
    if (al_buf_failed(&array) || al_json_parse(&a, al_buf_str(&array), &v, NULL) < 0)
        return;
    al_json_each(e, v)
    {
        if (uris)
            al_relay_learn_uri(w->relay, al_json_get_text(e, "uri"), server);
        else
            al_relay_learn_template(w->relay, al_json_get_text(e, "uriTemplate"), server);
    }
}

/* Returns the slot that the answer ends in; NULL: it holds all there is. */
static const struct al_relay_slot *put_entries(const struct al_relay_list *list, struct al_buf *out)
{
    al_buf_addc(out, '[');
    al_buf_add_str(out, (struct al_str){list->ours_n ? list->ours : "", list->ours_n});
    for (size_t i = list->first; i < list->n; i++) {
        const struct al_relay_slot *slot = &list->slots[i];
        if (slot->n_entries && out->n > 1)
            al_buf_addc(out, ',');
        al_buf_add_str(out, al_buf_str(&slot->entries));
        learn(list, slot);
        if (slot->more) {
            al_buf_addc(out, ']');
            return slot;
        }
    }
    al_buf_addc(out, ']');
    return NULL;
}

static void put_cursor(const struct al_relay_list *list, const struct al_relay_slot *slot, struct al_jw *jw)
{
    const struct al_mcp_relay *relay = list->whole->relay;
    autobuf struct al_buf text = AL_BUF_INIT(AL_RELAY_CURSOR_MAX);
    struct al_relay_cursor c = {
        .server = al_str_of(al_relay_name(&relay->servers[slot - list->slots])),
        .first = !slot->cursor,
        .cursor = al_str_of(slot->cursor ? slot->cursor : ""),
    };
    al_relay_cursor_write(&c, &text);
    al_jw_kstr(jw, "nextCursor", al_buf_str(&text));
}

/* What the only server has beside its entries (its _meta, members of extensions); of several, it would
 * contradict. */
static void put_rest(const struct al_relay_list *list, struct al_jw *jw)
{
    autoarena struct al_arena a = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    const struct al_json *rest;
    if (list->n != 1 || !list->slots[0].rest.n || al_buf_failed(&list->slots[0].rest) ||
        al_json_parse(&a, al_buf_str(&list->slots[0].rest), &rest, NULL) < 0)
        return;
    al_json_each(m, rest)
    {
        al_jw_key_str(jw, m->key);
        al_jw_raw(jw, m->raw);
    }
}

void al_relay_list_answer(struct al_relay_work *whole)
{
    const struct al_relay_list *list = whole->list;
    autobuf struct al_buf out = AL_BUF_INIT(4 * (size_t)AL_MCP_MAX_MESSAGE), entries = AL_BUF_INIT(out.max);
    struct al_jw jw;
    const struct al_relay_slot *end = put_entries(list, &entries);
    al_jw_init(&jw, &out);
    al_jw_obj(&jw);
    al_jw_kraw(&jw, whole->member, al_buf_str(&entries));
    if (end)
        put_cursor(list, end, &jw);
    if (whole->modern) {
        al_jw_kint(&jw, "ttlMs", (int64_t)list->ttl_ms);
        /* What several servers list can be public for one and private for another. */
        al_jw_kstrz(&jw, "cacheScope",
                    list->n == 1 && list->any_page && !list->not_public ? "public" : "private");
    }
    put_rest(list, &jw);
    al_jw_end(&jw);
    if (al_buf_failed(&entries) || al_buf_failed(&out))
        al_relay_end_error(whole, AL_RPC_INTERNAL_ERROR,
                           AL_STR("RESULT_TOO_LARGE: the server's page is too long"), (struct al_str){"", 0});
    else
        al_relay_end_result(whole, al_buf_str(&out));
}

void al_relay_part_over(struct al_relay_work *part)
{
    struct al_relay_work *whole = part->whole;
    al_relay_slot_of(part)->part = NULL;
    part->whole = NULL;
    part->r = NULL;
    al_relay_work_free(part);
    if (--whole->list->n_open == 0)
        al_relay_list_answer(whole);
}
