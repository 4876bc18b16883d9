/* The life of a client's request that goes to upstream servers: sent, answered, taken back. */
#include "mcp/relay_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>

static const struct al_str nothing = {"", 0};

static void on_cancel(void *work);

static struct al_relay_work *work_of(struct al_mcp_relay *relay, const struct al_mcp_request *r)
{
    struct al_relay_work *w = al_xcalloc(1, sizeof *w);
    w->relay = relay;
    w->modern = r->client.modern;
    w->progress = -INFINITY;
    /* Over HTTP nothing ties the requests of a modern client to each other. */
    w->owner = w->modern && relay->mcp->http ? (const void *)w : r->peer;
    al_buf_init(&w->kept, 2 * (size_t)AL_MCP_MAX_MESSAGE);
    al_buf_init(&w->kept_data, AL_MCP_MAX_MESSAGE);
    al_buf_init(&w->responses, AL_MCP_MAX_MESSAGE);
    w->next = relay->works;
    relay->works = w;
    return w;
}

static void copy_client(struct al_relay_work *w, const struct al_mcp_request *r)
{
    free(w->client.capabilities);
    w->client = r->client;
    w->client.capabilities = r->client.capabilities ? al_xstrdup(r->client.capabilities) : NULL;
}

struct al_relay_work *al_relay_work_new(struct al_mcp_relay *relay, struct al_mcp_request *r)
{
    struct al_relay_work *w = work_of(relay, r);
    al_relay_work_go_on(w, r);
    al_relay_start_all(relay);
    if (r->client.modern && r->client.level < AL_MCP_NO_LOG)
        al_relay_want_level(relay, r->client.level);
    return w;
}

void al_relay_work_go_on(struct al_relay_work *w, struct al_mcp_request *r)
{
    w->r = r;
    if (!r)
        return;
    copy_client(w, r);
    r->cancel = on_cancel;
    r->work = w;
}

struct al_relay_work *al_relay_part_new(struct al_relay_work *whole, struct al_relay_server *s)
{
    struct al_relay_work *w = work_of(whole->relay, whole->r);
    copy_client(w, whole->r);
    w->r = whole->r;
    w->whole = whole;
    w->member = whole->member;
    w->server = s;
    return w;
}

void al_relay_part_drop(struct al_relay_work *part)
{
    part->whole = NULL;
    part->r = NULL;
    part->cancelled = true;
    if (part->sent)
        al_upstream_cancel(part->sent);
    else
        al_relay_work_free(part);
}

static void unlink_work(struct al_relay_work *w)
{
    for (struct al_relay_work **at = &w->relay->works; *at; at = &(*at)->next)
        if (*at == w) {
            *at = w->next;
            break;
        }
    for (struct al_relay_wait *wait = w->relay->waits; wait; wait = wait->next)
        if (wait->work == w) {
            wait->work = NULL;
            wait->then = NULL;
        }
}

void al_relay_work_free(struct al_relay_work *w)
{
    if (w->relay)
        unlink_work(w);
    al_relay_drop_questions(w);
    free(w->client.capabilities);
    al_buf_free(&w->kept);
    al_buf_free(&w->kept_data);
    al_buf_free(&w->responses);
    al_buf_free(&w->page);
    free(w->state);
    al_relay_list_free(w->list);
    free(w->cursor);
    free(w->target);
    free(w->registered);
    free(w->own_method);
    free(w->own_params);
    free(w->wanted);
    free(w);
}

bool al_relay_lives(const struct al_mcp_relay *relay, const struct al_relay_work *w)
{
    const struct al_relay_work *other = relay->works;
    while (other && other != w)
        other = other->next;
    return other != NULL;
}

void al_relay_works_orphan(struct al_mcp_relay *relay)
{
    for (struct al_relay_work *w = relay->works; w; w = w->next) {
        w->relay = NULL;
        w->r = NULL;
        w->away = false;
        w->cancelled = true;
        if (w->list)
            al_relay_list_orphan(w->list);
    }
    for (struct al_relay_work *w = relay->works, *next; w; w = next) {
        next = w->next;
        if (!w->sent && !w->call)
            al_relay_work_free(w);
    }
}

/* --- the end --- */

/* Without a request there is nobody to tell now: a modern client that is away hears it when it comes back. */
static bool keep(struct al_relay_work *w, enum al_relay_end end)
{
    if (w->r)
        return false;
    if (w->away) {
        w->end = end;
        return true;
    }
    al_relay_work_free(w);
    return true;
}

static struct al_mcp_request *let_go(struct al_relay_work *w)
{
    struct al_mcp_request *r = w->r;
    r->cancel = NULL;
    r->work = NULL;
    al_relay_work_free(w);
    return r;
}

void al_relay_end_result(struct al_relay_work *w, struct al_str result)
{
    if (!w->r) {
        al_buf_clear(&w->kept);
        al_buf_add_str(&w->kept, result);
    }
    if (!keep(w, AL_RELAY_RESULT))
        al_mcp_answer(let_go(w), result);
}

void al_relay_end_error(struct al_relay_work *w, int code, struct al_str message, struct al_str data)
{
    if (!w->r) {
        al_buf_clear(&w->kept);
        al_buf_clear(&w->kept_data);
        al_buf_add_str(&w->kept, message);
        al_buf_add_str(&w->kept_data, data);
        w->kept_code = code;
    }
    if (!keep(w, AL_RELAY_FAILURE))
        al_mcp_fail_with(let_go(w), code, message, data);
}

void al_relay_end_err(struct al_relay_work *w, const struct al_err *err)
{
    autobuf struct al_buf text = AL_BUF_INIT(8192);
    al_buf_addf(&text, "%s: %s", al_code_name(err->code), err->msg);
    if (err->hint[0])
        al_buf_addf(&text, " (%s)", err->hint);
    al_relay_end_error(w, AL_RPC_INTERNAL_ERROR, al_buf_str(&text), nothing);
}

void al_relay_end_kept(struct al_relay_work *w)
{
    struct al_buf kept = w->kept, data = w->kept_data;
    al_buf_init(&w->kept, 0);
    al_buf_init(&w->kept_data, 0);
    if (al_buf_failed(&kept))
        al_relay_end_error(w, AL_RPC_INTERNAL_ERROR,
                           AL_STR("RESULT_TOO_LARGE: the server's answer is too long"), nothing);
    else if (w->end == AL_RELAY_RESULT)
        al_relay_end_result(w, al_buf_str(&kept));
    else
        al_relay_end_error(w, w->kept_code, al_buf_str(&kept), al_buf_str(&data));
    al_buf_free(&kept);
    al_buf_free(&data);
}

/* The client wants no answer any more, or we end: what runs is told, and its end is the work's. */
static void on_cancel(void *work)
{
    al_relay_work_cancel(work);
}

void al_relay_work_cancel(struct al_relay_work *w)
{
    bool before = w->cancelled;
    w->cancelled = true;
    if (before)
        return;
    if (w->call)
        al_call_cancel(w->call);
    else if (w->sent)
        al_upstream_cancel(w->sent);
    else if (!w->starting)
        al_relay_end_error(w, AL_RPC_INTERNAL_ERROR, AL_STR("CANCELLED: the request was taken back"),
                           nothing);
}

/* --- what is sent --- */

bool al_relay_may_ask_back(const struct al_relay_work *w)
{
    return !w->member &&
           (!w->method || strcmp(w->method, "prompts/get") == 0 || strcmp(w->method, "resources/read") == 0);
}

void al_relay_params_of(struct al_relay_work *w, struct al_relay_params *p, struct al_buf *out)
{
    const struct al_mcp_client *client = &w->client;
    autobuf struct al_buf responses = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    if (client->capabilities)
        p->capabilities = al_str_of(client->capabilities);
    p->log_level = al_str_of(al_relay_level_name(client->level));
    if (w->n_rounds) {
        al_buf_addf(&responses, "{");
        al_buf_add_str(&responses, al_buf_str(&w->responses));
        al_buf_addc(&responses, '}');
        p->retry = true;
        p->input_responses = w->responses.n ? al_buf_str(&responses) : nothing;
        p->request_state = w->state ? al_str_of(w->state) : nothing;
    }
    al_relay_write_params(p, out);
}

static void on_progress(void *ud, struct al_str params)
{
    al_relay_progress(ud, params);
}

static void on_message(void *ud, struct al_str params)
{
    al_relay_message(ud, params);
}

static void on_question(void *ud, const struct al_upstream_question *q)
{
    al_relay_question(ud, q->method, q->params, q->reply);
}

static void on_done(void *ud, const struct al_upstream_answer *a)
{
    struct al_relay_work *w = ud;
    autoarena struct al_arena arena = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    const struct al_json *v;
    struct al_err err;
    w->sent = NULL;
    if (!w->relay) {
        al_relay_work_free(w);
        return;
    }
    if (a->err) {
        w->lost(w, a->err);
    } else if (a->value) {
        w->answered(w, a->value);
    } else if (al_json_parse(&arena, a->failure, &v, &err) < 0 || v->type != AL_JSON_OBJECT) {
        al_fail(&err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s gave an error that cannot be read",
                al_relay_name(w->server));
        w->lost(w, &err);
    } else {
        w->failed(w, v);
    }
}

void al_relay_send(struct al_relay_work *w, const char *method, const struct al_relay_params *given)
{
    struct al_relay_params p = *given;
    autobuf struct al_buf params = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    al_relay_params_of(w, &p, &params);
    if (al_buf_failed(&params)) {
        al_relay_end_error(w, AL_RPC_INVALID_PARAMS, AL_STR("the parameters are too long to be passed on"),
                           nothing);
        return;
    }
    struct al_upstream_request r = {
        .method = method,
        .params = al_buf_str(&params),
        .log_level = p.log_level,
        .owner = w->owner,
        /* Of several servers at once, progress would go back and forth. */
        .progress = !w->whole && w->r && w->r->progress_token ? on_progress : NULL,
        .message = on_message,
        .question = on_question,
        .done = on_done,
        .ud = w,
    };
    w->sent = al_upstream_send(w->server->upstream, &r);
}

/* --- what comes back --- */

static bool names_stay(const struct al_relay_work *w)
{
    return w->relay->mcp->opts.plain_names;
}

/* A modern server's questions to a modern client, which answers them by a retry. */
static void pass_round(struct al_relay_work *w, const struct al_json *result)
{
    struct al_relay_asked asked;
    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    if (!al_relay_may_ask_back(w)) {
        al_relay_end_error(w, AL_RPC_INTERNAL_ERROR,
                           AL_STR("the server asks for input where the protocol has no answer to that"),
                           nothing);
        return;
    }
    if (names_stay(w) || !al_relay_is_asking(result, &asked)) {
        al_relay_end_result(w, result->raw);
        return;
    }
    al_relay_write_named_round(result, al_str_of(al_relay_name(w->server)), &out);
    if (al_buf_failed(&out))
        al_relay_end_error(w, AL_RPC_INTERNAL_ERROR,
                           AL_STR("RESULT_TOO_LARGE: the server's questions are too long"), nothing);
    else
        al_relay_end_result(w, al_buf_str(&out));
}

void al_relay_pass_result(struct al_relay_work *w, const struct al_json *result, const char *method)
{
    struct al_relay_asked asked;
    if (!w->modern && al_relay_is_asking(result, &asked)) {
        al_relay_round(w, &asked);
        return;
    }
    if (!w->modern && al_relay_wants_input(result)) {
        al_relay_end_error(w, AL_RPC_INTERNAL_ERROR,
                           AL_STR("the server asks for input in a way that is not understood"), nothing);
        return;
    }
    if (al_relay_wants_input(result)) {
        pass_round(w, result);
        return;
    }
    if (al_relay_fits(result, al_str_of(method), w->modern)) {
        al_relay_end_result(w, result->raw);
        return;
    }
    autobuf struct al_buf out = AL_BUF_INIT(2 * (size_t)AL_MCP_MAX_MESSAGE);
    al_relay_write_result(result, al_str_of(method), w->modern, &out);
    al_relay_end_result(w, al_buf_str(&out));
}

void al_relay_pass_failure(struct al_relay_work *w, const struct al_json *failure)
{
    struct al_relay_error e;
    autobuf struct al_buf round = AL_BUF_INIT(AL_MCP_MAX_MESSAGE), named = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    autoarena struct al_arena a = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    if (!names_stay(w) && al_relay_write_named_pages(failure, al_str_of(al_relay_name(w->server)), &named) &&
        (al_buf_failed(&named) || al_json_parse(&a, al_buf_str(&named), &failure, NULL) < 0)) {
        al_relay_end_error(w, AL_RPC_INTERNAL_ERROR, AL_STR("the server's error is too long"), nothing);
        return;
    }
    if (w->modern && al_relay_may_ask_back(w) && al_relay_write_url_round(failure, &round) &&
        !al_buf_failed(&round)) {
        al_relay_end_result(w, al_buf_str(&round));
        return;
    }
    al_relay_read_error(failure, w->modern, &e);
    al_relay_end_error(w, e.code, e.message, e.data);
}

/* A value that does not grow would break the client's rules, whatever the server thinks of them. */
static bool is_progress(struct al_relay_work *w, const struct al_json *value)
{
    const struct al_mcp_request *r = w->r;
    double v;
    if (!r || !r->progress_token || r->cancelled || !al_json_double(value, &v) || !(v > w->progress))
        return false;
    w->progress = v;
    return true;
}

void al_relay_progress(struct al_relay_work *w, struct al_str params)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(4u << 20);
    autobuf struct al_buf out = AL_BUF_INIT(1u << 20);
    const struct al_json *v;
    if (params.n > AL_RELAY_MAX_NOTIFICATION || al_json_parse(&arena, params, &v, NULL) < 0 ||
        !is_progress(w, al_json_get(v, "progress")))
        return;
    struct al_jw jw;
    al_jw_init(&jw, &out);
    al_jw_obj(&jw);
    al_jw_kraw(&jw, "progressToken", al_str_of(w->r->progress_token));
    al_json_each(m, v)
    {
        if (al_str_is(m->key, "progressToken"))
            continue;
        al_jw_key_str(&jw, m->key);
        al_jw_raw(&jw, m->raw);
    }
    al_jw_end(&jw);
    if (!al_buf_failed(&out))
        al_mcp_notify(w->r->peer, w->r, "notifications/progress", al_buf_str(&out));
}

void al_relay_call_progress(void *ud, struct al_str json)
{
    struct al_relay_work *w = ud;
    autoarena struct al_arena arena = AL_ARENA_INIT(4u << 20);
    autobuf struct al_buf out = AL_BUF_INIT(1u << 20);
    const struct al_json *v;
    if (al_json_parse(&arena, json, &v, NULL) < 0 || !is_progress(w, al_json_get(v, "completed")))
        return;
    const struct al_json *total = al_json_get(v, "total"), *note = al_json_get(v, "note");
    struct al_jw jw;
    al_jw_init(&jw, &out);
    al_jw_obj(&jw);
    al_jw_kraw(&jw, "progressToken", al_str_of(w->r->progress_token));
    al_jw_kraw(&jw, "progress", al_json_get(v, "completed")->raw);
    if (total)
        al_jw_kraw(&jw, "total", total->raw);
    if (note)
        al_jw_kraw(&jw, "message", note->raw);
    al_jw_end(&jw);
    if (!al_buf_failed(&out))
        al_mcp_notify(w->r->peer, w->r, "notifications/progress", al_buf_str(&out));
}

void al_relay_message(struct al_relay_work *w, struct al_str params)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(8u << 20);
    const struct al_json *v;
    if (!w->r || w->r->cancelled || params.n > AL_RELAY_MAX_NOTIFICATION ||
        al_json_parse(&arena, params, &v, NULL) < 0)
        return;
    enum al_mcp_level level = al_mcp_level_of(al_json_get_text(v, "level"));
    if (level < AL_MCP_NO_LOG && level >= w->r->client.level)
        al_mcp_notify(w->r->peer, w->r, "notifications/message", params);
}

void al_relay_warn(struct al_relay_work *w, struct al_str text)
{
    autobuf struct al_buf data = AL_BUF_INIT(64u << 10);
    struct al_jw jw;
    if (!w->r)
        return;
    al_jw_init(&jw, &data);
    al_jw_str(&jw, text);
    al_mcp_log(w->r->peer, w->r, AL_MCP_WARNING, "alisio", al_buf_str(&data));
}

void al_relay_tell_lost(struct al_relay_work *w, const struct al_relay_server *s, const struct al_err *err)
{
    autobuf struct al_buf text = AL_BUF_INIT(8192);
    al_buf_addf(&text, "%s is left out: %s: %s", al_relay_name(s), al_code_name(err->code), err->msg);
    al_relay_warn(w, al_buf_str(&text));
}
