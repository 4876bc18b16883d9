/*
 * Requests that are about one server's resource or prompt. The server that is known to have the resource is
 * asked first, then the others in their order. Methods that are not named here do not pass: nobody could say
 * what they would do there, and no policy is asked about them.
 */
#include "mcp/relay_int.h"

#include "base/mem.h"
#include "base/text.h"

static const struct al_str nothing = {"", 0};

static bool is_subscription(const struct al_relay_work *w)
{
    return strcmp(w->method, "resources/subscribe") == 0 || strcmp(w->method, "resources/unsubscribe") == 0;
}

static const struct al_json *params_of(const struct al_relay_work *w, struct al_arena *a)
{
    const struct al_json *v = NULL;
    struct al_str text = {w->own_params, w->own_params_n};
    if (!text.n || al_json_parse(a, text, &v, NULL) < 0)
        return NULL;
    return v;
}

/* --- the answer --- */

static void ask_server(struct al_relay_work *w);

static void note_subscription(struct al_relay_work *w)
{
    autoarena struct al_arena a = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    struct al_str uri = al_json_get_text(params_of(w, &a), "uri");
    al_relay_note_watched(w->relay, uri, w->server, strcmp(w->method, "resources/subscribe") == 0);
}

static void own_answered(struct al_relay_work *w, const struct al_json *result)
{
    if (w->r && is_subscription(w))
        note_subscription(w);
    al_relay_pass_result(w, result, w->method);
}

/* The servers in the order of asking: the preferred one, then all others. */
static struct al_relay_server *candidate(const struct al_relay_work *w, size_t nth)
{
    struct al_mcp_relay *relay = w->relay;
    if (w->preferred >= relay->n)
        return nth < relay->n ? &relay->servers[nth] : NULL;
    if (nth == 0)
        return &relay->servers[w->preferred];
    if (nth >= relay->n || w->fixed)
        return NULL;
    return &relay->servers[nth <= w->preferred ? nth - 1 : nth];
}

static void keep_first(struct al_relay_work *w, int code, struct al_str message, struct al_str data)
{
    /* A server that says "I have none" says more than one that cannot be reached. */
    if (w->first_code && !(w->first_code == AL_RPC_INTERNAL_ERROR && code != AL_RPC_INTERNAL_ERROR))
        return;
    al_buf_clear(&w->kept);
    al_buf_clear(&w->kept_data);
    w->first_code = code;
    al_buf_add_str(&w->kept, message);
    al_buf_add_str(&w->kept_data, data);
}

static void ask_next(struct al_relay_work *w)
{
    w->n_tried++;
    if (candidate(w, w->n_tried) && !w->cancelled) {
        ask_server(w);
        return;
    }
    autobuf struct al_buf message = w->kept, data = w->kept_data;
    al_buf_init(&w->kept, message.max);
    al_buf_init(&w->kept_data, data.max);
    al_relay_end_error(w, w->first_code ? w->first_code : AL_RPC_INTERNAL_ERROR, al_buf_str(&message),
                       al_buf_str(&data));
}

static void own_failed(struct al_relay_work *w, const struct al_json *failure)
{
    struct al_relay_error e;
    if (!candidate(w, w->n_tried + 1) && !w->first_code) {
        al_relay_pass_failure(w, failure);
        return;
    }
    al_relay_read_error(failure, w->modern, &e);
    keep_first(w, e.code, e.message, e.data);
    ask_next(w);
}

static void own_lost(struct al_relay_work *w, const struct al_err *err)
{
    if (!candidate(w, w->n_tried + 1) && !w->first_code) {
        al_relay_end_err(w, err);
        return;
    }
    autobuf struct al_buf text = AL_BUF_INIT(8192);
    al_buf_addf(&text, "%s: %s", al_code_name(err->code), err->msg);
    keep_first(w, AL_RPC_INTERNAL_ERROR, al_buf_str(&text), nothing);
    ask_next(w);
}

/* --- what is sent --- */

/* A prompt's name stands in params, or in params.ref of a completion. */
static void put_target(const struct al_relay_work *w, struct al_relay_params *p, struct al_buf *out)
{
    struct al_jw jw;
    if (!w->target)
        return;
    al_jw_init(&jw, out);
    if (strcmp(w->method, "completion/complete") == 0) {
        p->member = "ref";
        al_relay_write_entry(&jw, al_json_get(p->params, "ref"), w->target, true);
    } else {
        p->member = "name";
        al_jw_strz(&jw, w->target);
    }
    p->member_json = al_buf_str(out);
}

void al_relay_send_own(struct al_relay_work *w)
{
    autoarena struct al_arena a = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    autobuf struct al_buf target = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    struct al_relay_params p = {.params = params_of(w, &a)};
    put_target(w, &p, &target);
    w->again = al_relay_send_own;
    w->answered = own_answered;
    w->failed = own_failed;
    w->lost = own_lost;
    al_relay_send(w, w->method, &p);
}

/* A server of the newer era has no resources/subscribe: what is wanted goes there by subscriptions/listen. */
static bool subscribe_there(struct al_relay_work *w)
{
    if (!is_subscription(w) || !al_relay_modern(w->server) || w->preferred >= w->relay->n)
        return false;
    struct al_mcp_relay *relay = w->relay;
    note_subscription(w);
    al_relay_end_result(w, AL_STR("{}"));
    al_mcp_relay_watch(relay);
    return true;
}

static void server_known(struct al_relay_wait *wait, const struct al_err *err)
{
    struct al_relay_work *w = wait->work;
    if (err)
        own_lost(w, err);
    else if (!subscribe_there(w))
        al_relay_send_own(w);
}

static void ask_server(struct al_relay_work *w)
{
    w->server = candidate(w, w->n_tried);
    if (is_subscription(w)) /* its era decides */
        al_relay_wait_for(w->relay, w->server, w, server_known);
    else
        al_relay_send_own(w);
}

/* --- what it is about --- */

static void about_uri(struct al_relay_work *w, struct al_str uri)
{
    w->preferred = w->relay->n == 1 ? 0 : al_relay_server_of_uri(w->relay, uri);
    ask_server(w);
}

static void about_prompt(struct al_relay_work *w, struct al_str name)
{
    w->fixed = true;
    if (!w->relay->mcp->opts.plain_names) {
        al_relay_find_prompt(w, name);
        return;
    }
    w->preferred = 0;
    ask_server(w);
}

static void about_reference(struct al_relay_work *w, const struct al_json *ref)
{
    struct al_str uri = al_json_get_text(ref, "uri"), name = al_json_get_text(ref, "name");
    if (uri.n)
        about_uri(w, uri);
    else
        about_prompt(w, name);
}

/* Another client still wants to hear of it: the server is not told. */
static bool still_watched(struct al_mcp_relay *relay, struct al_mcp_request *r, const struct al_json *params)
{
    return strcmp(r->method, "resources/unsubscribe") == 0 &&
           al_relay_is_watched(relay, al_json_get_text(params, "uri"));
}

bool al_mcp_relay_request(struct al_mcp_relay *relay, struct al_mcp_request *r, const struct al_json *params)
{
    struct al_str method = al_str_of(r->method);
    /* A modern client has no resources/subscribe, whatever server stands behind us. */
    bool subscribes = !r->client.modern && (al_str_is(method, "resources/subscribe") ||
                                            al_str_is(method, "resources/unsubscribe"));
    bool by_uri = al_str_is(method, "resources/read") || subscribes;
    bool by_name = al_str_is(method, "prompts/get"), by_ref = al_str_is(method, "completion/complete");
    if (al_str_is(method, "prompts/list")) {
        al_mcp_relay_list(relay, r, params, "prompts", nothing);
        return true;
    }
    struct al_str uri = al_json_get_text(by_ref ? al_json_get(params, "ref") : params, "uri");
    if (!relay->n || !(by_uri || by_name || by_ref) || (!by_name && al_relay_is_our_uri(uri)))
        return false;
    if (still_watched(relay, r, params)) {
        al_mcp_answer(r, nothing);
        return true;
    }
    struct al_relay_work *w = al_relay_work_new(relay, r);
    w->own_method = al_xstrdup(r->method);
    w->method = w->own_method;
    w->own_params = al_xdup(r->params, r->params_n);
    w->own_params_n = r->params_n;
    if (by_uri)
        about_uri(w, uri);
    else if (by_name)
        about_prompt(w, al_json_get_text(params, "name"));
    else
        about_reference(w, al_json_get(params, "ref"));
    return true;
}
