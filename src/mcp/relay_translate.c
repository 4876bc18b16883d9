/* What differs between the eras, in both directions. All that does not is copied as it came, byte for byte.
 */
#include "mcp/relay_pure.h"

#include "rpc/rpc.h"

#define OWN_META "io.modelcontextprotocol/"

static void copy_member(struct al_jw *w, const struct al_json *m)
{
    al_jw_key_str(w, m->key);
    al_jw_raw(w, m->raw);
}

/* --- params --- */

static void put_meta(struct al_jw *w, const struct al_relay_params *p)
{
    const struct al_json *meta = al_json_get(p->params, "_meta");
    al_jw_key(w, "_meta");
    al_jw_obj(w);
    al_json_each(m, meta && meta->type == AL_JSON_OBJECT ? meta : NULL)
    {
        if (!al_str_starts(m->key, OWN_META) && !al_str_is(m->key, "progressToken"))
            copy_member(w, m);
    }
    al_jw_kraw(w, OWN_META "clientCapabilities", p->capabilities.n ? p->capabilities : AL_STR("{}"));
    if (p->log_level.n)
        al_jw_kstr(w, OWN_META "logLevel", p->log_level);
    al_jw_end(w);
}

void al_relay_write_params(const struct al_relay_params *p, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_json_each(m, p->params)
    {
        bool replaced = p->member && al_str_is(m->key, p->member);
        bool round = al_str_is(m->key, "inputResponses") || al_str_is(m->key, "requestState");
        if (!replaced && !al_str_is(m->key, "_meta") && !(round && p->retry))
            copy_member(&w, m);
    }
    if (p->member && !al_str_is(p->member_json, "null"))
        al_jw_kraw(&w, p->member, p->member_json);
    if (p->retry && p->input_responses.n)
        al_jw_kraw(&w, "inputResponses", p->input_responses);
    if (p->retry && p->request_state.n)
        al_jw_kraw(&w, "requestState", p->request_state);
    put_meta(&w, p);
    al_jw_end(&w);
}

/* --- what a modern server asks --- */

bool al_relay_wants_input(const struct al_json *result)
{
    return al_str_is(al_json_get_text(result, "resultType"), "input_required");
}

bool al_relay_is_asking(const struct al_json *result, struct al_relay_asked *ret)
{
    if (!al_relay_wants_input(result))
        return false;
    const struct al_json *requests = al_json_get(result, "inputRequests");
    const struct al_json *state = al_json_get(result, "requestState");
    if ((requests && requests->type != AL_JSON_OBJECT) || (state && !al_json_is_string(state)))
        return false;
    if ((!requests && !state) || (requests && requests->n > AL_RELAY_MAX_ASKED))
        return false;
    al_json_each(q, requests)
    {
        const struct al_json *params = al_json_get(q, "params");
        if (!al_json_is_string(al_json_get(q, "method")) || (params && params->type != AL_JSON_OBJECT))
            return false;
    }
    *ret = (struct al_relay_asked){.requests = requests};
    if (state)
        ret->state = state->raw;
    return true;
}

/* --- results --- */

bool al_relay_is_cacheable(struct al_str method)
{
    static const char *const methods[] = {"tools/list", "prompts/list", "resources/list",
                                          "resources/templates/list", "resources/read"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (al_str_is(method, methods[i]))
            return true;
    return false;
}

/* Structured content as text, where the server gave no other. */
static void put_as_text(struct al_jw *w, const struct al_json *structured)
{
    al_jw_key(w, "content");
    al_jw_arr(w);
    al_jw_obj(w);
    al_jw_kstrz(w, "type", "text");
    al_jw_kstr(w, "text", structured->raw);
    al_jw_end(w);
    al_jw_end(w);
}

/* Structured content that an older client's schema refuses; NULL: there is none. */
static const struct al_json *refused_structure(const struct al_json *result, struct al_str method)
{
    const struct al_json *structured = al_json_get(result, "structuredContent");
    bool refused = al_str_is(method, "tools/call") && structured && structured->type != AL_JSON_OBJECT;
    return refused ? structured : NULL;
}

static void put_without(struct al_jw *w, const struct al_json *result, const struct al_json *refused)
{
    const struct al_json *content = al_json_get(result, "content");
    bool silent = !(content && content->type == AL_JSON_ARRAY && content->n);
    al_json_each(m, result)
    {
        bool left_out = al_str_is(m->key, "structuredContent") || (silent && al_str_is(m->key, "content"));
        if (!left_out)
            copy_member(w, m);
    }
    if (silent)
        put_as_text(w, refused);
}

static bool lacks_hints(const struct al_json *result, struct al_str method)
{
    return al_relay_is_cacheable(method) && !al_relay_wants_input(result) &&
           !(al_json_get(result, "ttlMs") && al_json_get(result, "cacheScope"));
}

bool al_relay_fits(const struct al_json *result, struct al_str method, bool client_modern)
{
    return client_modern ? !lacks_hints(result, method) : !refused_structure(result, method);
}

void al_relay_write_result(const struct al_json *result, struct al_str method, bool client_modern,
                           struct al_buf *out)
{
    const struct al_json *refused = client_modern ? NULL : refused_structure(result, method);
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    if (refused) {
        put_without(&w, result, refused);
    } else {
        al_json_each(m, result) copy_member(&w, m);
    }
    if (client_modern && lacks_hints(result, method)) {
        if (!al_json_get(result, "ttlMs"))
            al_jw_kint(&w, "ttlMs", 0);
        if (!al_json_get(result, "cacheScope"))
            al_jw_kstrz(&w, "cacheScope", "private");
    }
    al_jw_end(&w);
}

void al_relay_write_entry(struct al_jw *w, const struct al_json *entry, const char *name, bool client_modern)
{
    al_jw_obj(w);
    if (name)
        al_jw_kstrz(w, "name", name);
    al_json_each(m, entry)
    {
        bool old_name = name && al_str_is(m->key, "name");
        bool refused = !client_modern && al_str_is(m->key, "outputSchema") &&
                       !al_str_is(al_json_get_text(m, "type"), "object");
        if (!old_name && !refused)
            copy_member(w, m);
    }
    al_jw_end(w);
}

/* --- errors --- */

void al_relay_read_error(const struct al_json *error, bool client_modern, struct al_relay_error *ret)
{
    int64_t code = AL_RPC_INTERNAL_ERROR;
    const struct al_json *data = al_json_get(error, "data");
    al_json_int(al_json_get(error, "code"), INT32_MIN, INT32_MAX, &code);
    if (client_modern && code == AL_RPC_RESOURCE_NOT_FOUND)
        code = AL_RPC_INVALID_PARAMS;
    *ret = (struct al_relay_error){.code = (int)code, .message = al_json_get_text(error, "message")};
    if (!ret->message.p)
        ret->message = AL_STR("");
    if (data)
        ret->data = data->raw;
}

static bool put_page(struct al_jw *w, const struct al_json *page)
{
    const struct al_json *id = al_json_get(page, "elicitationId");
    if (!al_json_is_string(id) || !al_json_is_string(al_json_get(page, "url")))
        return false;
    al_jw_key_str(w, id->str);
    al_jw_obj(w);
    al_jw_kstrz(w, "method", "elicitation/create");
    al_jw_kraw(w, "params", page->raw);
    al_jw_end(w);
    return true;
}

bool al_relay_write_url_round(const struct al_json *error, struct al_buf *out)
{
    int64_t code = 0;
    const struct al_json *pages = al_json_get(al_json_get(error, "data"), "elicitations");
    if (!al_json_int(al_json_get(error, "code"), INT32_MIN, INT32_MAX, &code) || code != AL_RELAY_URL_FIRST)
        return false;
    if (!pages || pages->type != AL_JSON_ARRAY || !pages->n || pages->n > AL_RELAY_MAX_ASKED)
        return false;
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "resultType", "input_required");
    al_jw_key(&w, "inputRequests");
    al_jw_obj(&w);
    bool all = true;
    al_json_each(page, pages) all &= put_page(&w, page);
    al_jw_end(&w);
    al_jw_end(&w);
    return all;
}
