/*
 * Questions of servers to the client. A server of the older era asks while it works; each question goes to
 * the client at once, or, when that is a modern one, one after the other, each with an answer
 * "input_required" and a retry. A server of the newer era asks by its result; an older client is asked for
 * all of it, and the request is sent again.
 */
#include "mcp/relay_int.h"

#include "base/mem.h"

#include <stdio.h>

/* How often a modern server may ask anew about one request. */
#define MAX_ROUNDS 10

static const struct al_str nothing = {"", 0};

/* Lives until the answer, which may come after the work's end. */
struct al_relay_approval {
    struct al_relay_work *work;     /* NULL: it has ended */
    struct al_mcp_request *request; /* al_mcp_approve keeps it up to date */
    void (*answer)(void *ud, enum al_approval approval);
    void *ud;
};

static void question_free(struct al_relay_question *q)
{
    free(q->key);
    free(q->method);
    free(q->params);
    free(q);
}

static void unlink_question(struct al_relay_question *q)
{
    struct al_relay_work *w = q->work;
    for (struct al_relay_question **at = &w->questions; *at; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            w->n_questions--;
            break;
        }
    q->work = NULL;
}

static void refuse(struct al_question_reply *reply, int code, const char *why)
{
    if (reply)
        al_question_refuse(reply, code, al_str_of(why));
}

/* What was asked of the client stays so, and its answer will find nobody; what was not is refused. */
void al_relay_drop_questions(struct al_relay_work *w)
{
    if (w->approval)
        w->approval->work = NULL;
    while (w->questions) {
        struct al_relay_question *q = w->questions;
        unlink_question(q);
        if (q->asked)
            continue;
        refuse(q->reply, AL_RPC_INTERNAL_ERROR, "the request is over");
        question_free(q);
    }
}

/* --- approvals --- */

static void come_back(struct al_relay_work *w, struct al_mcp_request *current);

static void on_approval(void *ud, enum al_approval approval)
{
    struct al_relay_approval held = *(struct al_relay_approval *)ud;
    free(ud);
    if (held.work) {
        held.work->approval = NULL;
        held.work->approved = approval == AL_APPROVAL_ONCE;
        if (held.work->modern)
            come_back(held.work, held.request);
    }
    held.answer(held.ud, approval);
}

void al_relay_approve(void *ud, const struct al_ask *ask)
{
    struct al_relay_work *w = ud;
    if (!w->r) {
        ask->answer(ask->ud, AL_APPROVAL_NONE);
        return;
    }
    struct al_relay_approval *held = al_xcalloc(1, sizeof *held);
    struct al_ask wrapped = *ask;
    held->work = w;
    held->request = w->r;
    held->answer = ask->answer;
    held->ud = ask->ud;
    wrapped.answer = on_approval;
    wrapped.ud = held;
    w->approval = held;
    if (w->modern) {
        w->away = true;
        w->r = NULL;
    }
    al_mcp_approve(&held->request, &wrapped);
}

#define TICKET_MS (10u * 60 * 1000)

/* False: there is no state that ties the two together. */
static bool ticket_of(const struct al_relay_work *w, const struct al_json *params,
                      const struct al_json *state, char out[AL_SHA256_HEX])
{
    const struct al_json *args = al_json_get(params, "arguments");
    if (!al_json_is_string(state))
        return false;
    struct al_sha256 *h = al_sha256_new();
    al_sha256_add(h, w->registered, strlen(w->registered) + 1);
    al_sha256_add(h, state->str.p, state->str.n);
    al_sha256_add(h, "", 1);
    if (args)
        al_sha256_add(h, args->raw.p, args->raw.n);
    al_sha256_end(h, out);
    return true;
}

void al_relay_ticket_give(struct al_relay_work *w, const struct al_json *params, const struct al_json *result)
{
    struct al_relay_ticket *slot = w->relay->tickets, t = {.until_ms = al_mono_ms() + TICKET_MS};
    if (!w->approved || !w->modern || !al_relay_wants_input(result) ||
        !ticket_of(w, params, al_json_get(result, "requestState"), t.sha256))
        return;
    for (size_t i = 1; i < AL_RELAY_TICKETS; i++)
        if (w->relay->tickets[i].until_ms < slot->until_ms)
            slot = &w->relay->tickets[i];
    memcpy(t.definition, w->definition, sizeof(t.definition));
    *slot = t;
}

bool al_relay_ticket_take(struct al_relay_work *w, const struct al_json *params)
{
    char wanted[AL_SHA256_HEX];
    if (!w->modern || !ticket_of(w, params, al_json_get(params, "requestState"), wanted))
        return false;
    for (size_t i = 0; i < AL_RELAY_TICKETS; i++) {
        struct al_relay_ticket *t = &w->relay->tickets[i];
        if (t->until_ms < al_mono_ms() || strcmp(t->sha256, wanted) != 0)
            continue;
        memcpy(w->definition, t->definition, sizeof(w->definition));
        *t = (struct al_relay_ticket){0};
        w->approved = true;
        return true;
    }
    return false;
}

/* --- rounds of a modern server --- */

static void round_answered(struct al_relay_work *w, const struct al_relay_question *q,
                           const struct al_json *result, const char *failure)
{
    if (!result) {
        autobuf struct al_buf text = AL_BUF_INIT(4096);
        al_buf_addf(&text, "the server %s asked for %s, which has no answer: %s", al_relay_name(w->server),
                    q->method, failure);
        al_relay_end_error(w, AL_RPC_INTERNAL_ERROR, al_buf_str(&text), nothing);
        return;
    }
    struct al_jw jw;
    autobuf struct al_buf key = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    al_jw_init(&jw, &key);
    al_jw_strz(&jw, q->key);
    if (w->responses.n)
        al_buf_addc(&w->responses, ',');
    al_buf_add_str(&w->responses, al_buf_str(&key));
    al_buf_addc(&w->responses, ':');
    al_buf_add_str(&w->responses, result->raw);
    if (w->n_questions == 0)
        w->again(w);
}

/* --- one question --- */

static void ask(struct al_relay_work *w, struct al_relay_question *q);

static struct al_relay_question *not_asked(const struct al_relay_work *w)
{
    struct al_relay_question *q = w->questions;
    while (q && q->asked)
        q = q->next;
    return q;
}

/* A modern client takes one at a time. */
static void ask_next(struct al_relay_work *w)
{
    struct al_relay_question *q = not_asked(w);
    if (q)
        ask(w, q);
}

static void come_back(struct al_relay_work *w, struct al_mcp_request *current)
{
    w->away = false;
    al_relay_work_go_on(w, current);
    if (w->end != AL_RELAY_OPEN)
        al_relay_end_kept(w);
    else if (current)
        ask_next(w);
    else
        al_relay_work_cancel(w);
}

static void on_answered(void *ud, struct al_mcp_request *current, const struct al_json *result,
                        const char *failure)
{
    struct al_relay_question *q = ud;
    struct al_relay_work *w = q->work;
    struct al_question_reply *reply = q->reply;
    if (w)
        unlink_question(q);
    if (w && !reply)
        round_answered(w, q, result, failure);
    else if (w && w->modern)
        come_back(w, current);
    question_free(q);
    if (reply && result)
        al_question_answer(reply, result->raw);
    else
        refuse(reply, AL_RPC_INTERNAL_ERROR, failure);
}

static void ask(struct al_relay_work *w, struct al_relay_question *q)
{
    struct al_mcp_request *r = w->r;
    autofree char *params = q->params;
    struct al_mcp_ask a = {
        .key = q->key,
        .method = q->method,
        .params = {params, q->params_n},
        .answered = on_answered,
        .ud = q,
        .asker = w->server ? w->server->upstream : NULL,
    };
    q->asked = true;
    q->params = NULL;
    q->params_n = 0;
    if (w->modern) {
        w->away = true;
        w->r = NULL;
    }
    al_mcp_ask(r, &a);
}

struct al_str al_relay_named(const struct al_mcp_relay *relay, const char *server, struct al_str method,
                             struct al_str params, struct al_buf *out)
{
    autoarena struct al_arena a = AL_ARENA_INIT(16 * (size_t)AL_RELAY_MAX_QUESTION);
    const struct al_json *v = NULL;
    if (params.n > AL_RELAY_MAX_QUESTION)
        return nothing;
    if (relay->mcp->opts.plain_names || !al_str_is(method, "elicitation/create"))
        return params.n ? params : AL_STR("{}");
    if (params.n && al_json_parse(&a, params, &v, NULL) < 0)
        return nothing;
    al_relay_write_named(v, al_str_of(server), out);
    return al_buf_failed(out) ? nothing : al_buf_str(out);
}

/* What questions that are not asked yet hold of memory, in all works. */
static size_t waiting_bytes(const struct al_mcp_relay *relay)
{
    size_t n = 0;
    for (const struct al_relay_work *w = relay->works; w; w = w->next)
        for (const struct al_relay_question *q = w->questions; q; q = q->next)
            n += q->params_n;
    return n;
}

static struct al_relay_question *question_new(struct al_relay_work *w, struct al_str key,
                                              struct al_str method, struct al_str params)
{
    struct al_relay_question *q = al_xcalloc(1, sizeof *q);
    struct al_relay_question **at = &w->questions;
    q->work = w;
    q->mcp = w->relay->mcp;
    q->key = al_xdup(key.p, key.n);
    q->method = al_xdup(method.p, method.n);
    q->params = al_xdup(params.p, params.n);
    q->params_n = params.n;
    while (*at)
        at = &(*at)->next;
    *at = q;
    w->n_questions++;
    return q;
}

/* Where the client's request cannot be answered with a question, the workspace is all that a server can
 * learn. */
static void answer_ourselves(const struct al_relay_work *w, struct al_str method,
                             struct al_question_reply *reply)
{
    autobuf struct al_buf roots = AL_BUF_INIT(64u << 10);
    if (!al_str_is(method, "roots/list")) {
        refuse(reply, AL_RPC_METHOD_NOT_FOUND, "the client cannot be asked during this request");
        return;
    }
    al_upstream_put_roots(w->server->upstream, &roots);
    al_question_answer(reply, al_buf_str(&roots));
}

/* The server wants no answer any more. */
static void on_withdrawn(void *asked)
{
    struct al_relay_question *q = asked;
    struct al_relay_work *w = q->work;
    if (q->asked || !w) {
        al_mcp_withdraw(q->mcp, q, "the server takes the question back");
        return;
    }
    unlink_question(q);
    refuse(q->reply, AL_RPC_INTERNAL_ERROR, "taken back");
    question_free(q);
}

static void pass_question(struct al_relay_work *w, struct al_str method, struct al_str params,
                          struct al_question_reply *reply)
{
    char key[40];
    autobuf struct al_buf named = AL_BUF_INIT(2 * (size_t)AL_RELAY_MAX_QUESTION);
    struct al_str passed = al_relay_named(w->relay, al_relay_name(w->server), method, params, &named);
    if (!passed.n || waiting_bytes(w->relay) + passed.n > AL_RELAY_MAX_WAITING) {
        refuse(reply, AL_RPC_INTERNAL_ERROR, "the question is too long to be passed on");
        return;
    }
    snprintf(key, sizeof key, "question%u", ++w->n_asked);
    struct al_relay_question *q = question_new(w, al_str_of(key), method, passed);
    q->reply = reply;
    reply->withdrawn = on_withdrawn;
    reply->asked = q;
    if (!w->away)
        ask(w, q);
}

void al_relay_question(struct al_relay_work *w, struct al_str method, struct al_str params,
                       struct al_question_reply *reply)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", method.n < sizeof name ? (int)method.n : 0, method.p ? method.p : "");
    if (!w->relay || w->cancelled || w->end != AL_RELAY_OPEN || (!w->r && !w->away))
        refuse(reply, AL_RPC_INTERNAL_ERROR, "the request is over");
    else if (w->modern && !al_relay_may_ask_back(w))
        answer_ourselves(w, method, reply);
    else if (!al_mcp_can_ask(&w->client, name, params))
        refuse(reply, AL_RPC_METHOD_NOT_FOUND, "the client does not take this question");
    else if (w->n_questions >= AL_MCP_MAX_QUESTIONS)
        refuse(reply, AL_RPC_INTERNAL_ERROR, "too many questions are open already");
    else
        pass_question(w, method, params, reply);
}

static bool take_round(struct al_relay_work *w, const struct al_json *requests)
{
    al_json_each(e, requests)
    {
        const struct al_json *params = al_json_get(e, "params");
        autobuf struct al_buf named = AL_BUF_INIT(2 * (size_t)AL_RELAY_MAX_QUESTION);
        struct al_str method = al_json_get_text(e, "method");
        struct al_str passed = al_relay_named(w->relay, al_relay_name(w->server), method,
                                              params ? params->raw : nothing, &named);
        if (!passed.n || waiting_bytes(w->relay) + passed.n > AL_RELAY_MAX_WAITING)
            return false;
        question_new(w, e->key, method, passed);
    }
    return true;
}

void al_relay_round(struct al_relay_work *w, const struct al_relay_asked *asked)
{
    if (w->n_rounds++ >= MAX_ROUNDS) {
        al_relay_end_error(w, AL_RPC_INTERNAL_ERROR, AL_STR("the server asks for input without an end"),
                           nothing);
        return;
    }
    al_buf_clear(&w->responses);
    free(w->state);
    w->state = asked->state.n ? al_xdup(asked->state.p, asked->state.n) : NULL;
    if (!asked->requests || !asked->requests->n) {
        w->again(w);
        return;
    }
    if (!take_round(w, asked->requests)) {
        al_relay_end_error(w, AL_RPC_INTERNAL_ERROR,
                           AL_STR("the server's questions are too long to be passed on"), nothing);
        return;
    }
    /* Any of them may be refused at once, which ends the work and with it the questions that were not asked.
     */
    struct al_mcp_relay *relay = w->relay;
    struct al_relay_question *q;
    while (al_relay_lives(relay, w) && (q = not_asked(w)))
        ask(w, q);
}
