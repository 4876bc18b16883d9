/*
 * Questions to the client. In the older era a request to it, whose answer comes on the same connection. In
 * the modern era the request is answered with "input_required" and a state: 128 random bits under which its
 * work is parked, until another request of the same method and parameters brings the state and the answer, or
 * nobody comes in time. Before them stand bits that are the same for all states of this server: what begins
 * with them and is not parked was used, or has expired, and is no server's behind us.
 */
#include "mcp/mcp_int.h"

#include "base/ident.h"
#include "base/mem.h"

#include <stdio.h>

#define STATE_BYTES 16
#define STATE_TEXT (AL_MCP_STATE_MARK + 2 * STATE_BYTES + 1)
#define TOO_MANY "too many questions are open already"
#define TOO_MANY_OF_ONE "too many questions of this server are open already"

struct al_mcp_question {
    struct al_mcp_question *next;
    struct al_mcp *mcp;
    struct al_mcp_peer *peer;       /* while it is among the peer's */
    struct al_mcp_request *request; /* NULL: about none */
    struct al_timer *timer;
    struct al_mcp_ask ask; /* params is dead */
    char id[32];
};

struct al_mcp_parked {
    struct al_mcp_parked *next;
    struct al_mcp *mcp;
    struct al_timer *timer;
    struct al_mcp_ask ask; /* key and params are owned */
    char *key;
    char *ask_params;
    size_t ask_params_n;
    char *method; /* of the request, with its params: a retry has the same */
    char *params;
    size_t params_n;
    void (*cancel)(void *work);
    void *work;
    char state[STATE_TEXT];
};

/* --- what a client can be asked --- */

static bool wants_url(struct al_str params)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(4u << 20);
    const struct al_json *v;
    struct al_err ignored;
    if (!params.n || al_json_parse(&arena, params, &v, &ignored) < 0)
        return false;
    return al_str_is(al_json_get_text(v, "mode"), "url");
}

bool al_mcp_can_ask(const struct al_mcp_client *client, const char *method, struct al_str params)
{
    if (strcmp(method, "elicitation/create") == 0)
        return wants_url(params) ? client->elicit_url : client->elicit_form;
    if (strcmp(method, "sampling/createMessage") == 0)
        return client->sampling;
    return strcmp(method, "roots/list") == 0 && client->roots;
}

static const char *cannot(const char *method)
{
    if (strcmp(method, "elicitation/create") == 0)
        return "the client cannot ask its user in this way (elicitation)";
    if (strcmp(method, "sampling/createMessage") == 0)
        return "the client has no model to offer (sampling)";
    return "the client takes no such question";
}

static void refuse(const struct al_mcp_ask *ask, struct al_mcp_request *r, const char *why)
{
    ask->answered(ask->ud, r, NULL, why);
}

/* --- how many there are --- */

/* Approvals have room of their own: no server's questions keep a person from being asked about a call. */
static void count(struct al_mcp *m, const struct al_mcp_ask *ask, int by)
{
    size_t *n = ask->approval ? &m->n_approvals : &m->n_questions;
    *n += (size_t)by;
}

static size_t n_open_of(const struct al_mcp *m, const void *asker)
{
    size_t n = 0;
    for (const struct al_mcp_peer *p = m->peers; p; p = p->next)
        for (const struct al_mcp_question *q = p->questions; q; q = q->next)
            n += q->ask.asker == asker;
    for (const struct al_mcp_parked *k = m->parked; k; k = k->next)
        n += k->ask.asker == asker;
    return n;
}

/* Why there is no room for one more; NULL: there is. */
static const char *no_room(const struct al_mcp *m, const struct al_mcp_ask *ask)
{
    if ((ask->approval ? m->n_approvals : m->n_questions) >= AL_MCP_MAX_QUESTIONS)
        return TOO_MANY;
    if (ask->asker && n_open_of(m, ask->asker) >= AL_MCP_MAX_QUESTIONS_OF_ONE)
        return TOO_MANY_OF_ONE;
    return NULL;
}

/* --- the older era --- */

static void unlink_question(struct al_mcp_question *q)
{
    for (struct al_mcp_question **at = &q->peer->questions; *at; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            return;
        }
}

static void settle(struct al_mcp_question *q, const struct al_json *result, const char *failure)
{
    struct al_mcp_ask ask = q->ask;
    struct al_mcp_request *r = q->request;
    count(q->mcp, &q->ask, -1);
    al_timer_stop(q->timer);
    free(q);
    ask.answered(ask.ud, r, result, failure);
}

static void tell_cancelled(const struct al_mcp_question *q, const char *why)
{
    autobuf struct al_buf params = AL_BUF_INIT(4096);
    struct al_jw w;
    al_jw_init(&w, &params);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "requestId", q->id);
    al_jw_kstrz(&w, "reason", why);
    al_jw_end(&w);
    al_mcp_notify(q->peer, NULL, "notifications/cancelled", al_buf_str(&params));
}

static void on_question_time(void *ud)
{
    struct al_mcp_question *q = ud;
    q->timer = NULL;
    unlink_question(q);
    tell_cancelled(q, "no answer came in time");
    settle(q, NULL, "the client did not answer in time");
}

static void ask_older(struct al_mcp_peer *p, struct al_mcp_request *r, const struct al_mcp_ask *ask)
{
    struct al_mcp *m = p->mcp;
    struct al_mcp_question *q = al_xcalloc(1, sizeof *q);
    q->mcp = m;
    q->peer = p;
    q->request = r;
    q->ask = *ask;
    q->ask.params = (struct al_str){"", 0};
    snprintf(q->id, sizeof q->id, "alisio-%llu", (unsigned long long)++m->last_question);
    q->timer = al_timer_start(al_core_loop(m->core), m->question_ms, on_question_time, q);
    q->next = p->questions;
    p->questions = q;
    count(m, ask, 1);
    autobuf struct al_buf id = AL_BUF_INIT(64), out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    al_buf_addf(&id, "\"%s\"", q->id);
    al_rpc_request(&out, al_buf_str(&id), ask->method, ask->params);
    if (!al_buf_failed(&out) && !p->closing && !(r && r->cancelled))
        p->ops->send(p->ud, r, al_buf_str(&out), false);
}

void al_mcp_answered(struct al_mcp_peer *p, const struct al_rpc *rpc)
{
    struct al_mcp_question *q = p->questions;
    char quoted[40];
    for (; q; q = q->next) {
        snprintf(quoted, sizeof quoted, "\"%s\"", q->id);
        if (al_str_is(rpc->id, quoted))
            break;
    }
    if (!q)
        return; /* late, double or of nobody: there is nothing to tell anyone */
    unlink_question(q);
    if (rpc->result && rpc->result->type == AL_JSON_OBJECT) {
        settle(q, rpc->result, NULL);
        return;
    }
    char why[256];
    struct al_str message = al_json_get_text(rpc->failure, "message");
    snprintf(why, sizeof why, "the client refused: %.*s",
             message.n ? (int)(message.n < 200 ? message.n : 200) : 9, message.n ? message.p : "no reason");
    settle(q, NULL, why);
}

struct al_mcp_question *al_mcp_take_questions(struct al_mcp_peer *p, const struct al_mcp_request *r)
{
    struct al_mcp_question *taken = NULL;
    struct al_mcp_question **at = &p->questions;
    while (*at) {
        struct al_mcp_question *q = *at;
        if (r && q->request != r) {
            at = &q->next;
            continue;
        }
        *at = q->next;
        tell_cancelled(q, "the request that it belonged to is over");
        q->next = taken;
        taken = q;
    }
    return taken;
}

void al_mcp_end_questions(struct al_mcp_question *questions, bool request_gone, const char *why)
{
    while (questions) {
        struct al_mcp_question *q = questions;
        questions = q->next;
        if (request_gone)
            q->request = NULL;
        settle(q, NULL, why);
    }
}

void al_mcp_drop_questions(struct al_mcp_peer *p, const struct al_mcp_request *r, const char *why)
{
    al_mcp_end_questions(al_mcp_take_questions(p, r), false, why);
}

/* --- the modern era --- */

static void unlink_parked(struct al_mcp_parked *k)
{
    for (struct al_mcp_parked **at = &k->mcp->parked; *at; at = &(*at)->next)
        if (*at == k) {
            *at = k->next;
            break;
        }
    count(k->mcp, &k->ask, -1);
    k->mcp->n_open--;
    k->mcp->bytes_open -= k->params_n;
    al_timer_stop(k->timer);
    k->timer = NULL;
}

static void parked_free(struct al_mcp_parked *k)
{
    free(k->key);
    free(k->ask_params);
    free(k->method);
    free(k->params);
    free(k);
}

static void give_up(struct al_mcp_parked *k, const char *why)
{
    struct al_mcp *m = k->mcp;
    struct al_mcp_ask ask = k->ask;
    unlink_parked(k);
    parked_free(k);
    refuse(&ask, NULL, why);
    al_mcp_check_idle(m);
}

static void on_parked_time(void *ud)
{
    struct al_mcp_parked *k = ud;
    k->timer = NULL;
    give_up(k, "the client did not come back with an answer in time");
}

static void put_random(char *out, size_t n)
{
    unsigned char bytes[STATE_BYTES];
    al_random(bytes, n);
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void new_state(struct al_mcp *m, char out[STATE_TEXT])
{
    if (!m->state_mark[0])
        put_random(m->state_mark, AL_MCP_STATE_MARK / 2);
    snprintf(out, STATE_TEXT, "%s", m->state_mark);
    put_random(out + AL_MCP_STATE_MARK, STATE_BYTES);
}

/* Whether nobody but this server can have given it out: its tools ask by none but its own. */
static bool is_own_state(const struct al_mcp_request *r, const struct al_json *params,
                         const struct al_json *state)
{
    const struct al_mcp *m = r->peer->mcp;
    const struct al_tool *tool = NULL;
    if (!m->relay || !al_json_is_string(state))
        return true;
    if (m->state_mark[0] && al_str_starts(state->str, m->state_mark))
        return true;
    if (strcmp(r->method, "tools/call") == 0)
        tool = al_core_tool(m->core, al_json_get_text(params, "name"));
    return tool && al_mcp_offers(m, tool, NULL);
}

static void answer_input_required(struct al_mcp_request *r, const struct al_mcp_parked *k)
{
    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    struct al_jw w;
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "resultType", "input_required");
    al_jw_key(&w, "inputRequests");
    al_jw_obj(&w);
    al_jw_key(&w, k->key);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "method", k->ask.method);
    if (k->ask_params_n)
        al_jw_kraw(&w, "params", (struct al_str){k->ask_params, k->ask_params_n});
    al_jw_end(&w);
    al_jw_end(&w);
    al_jw_kstrz(&w, "requestState", k->state);
    al_jw_end(&w);
    r->cancel = NULL;
    r->work = NULL;
    al_mcp_answer(r, al_buf_str(&out));
}

/* The request's memory goes into what is parked, so that nothing is counted twice. */
static void ask_modern(struct al_mcp_request *r, const struct al_mcp_ask *ask)
{
    struct al_mcp *m = r->peer->mcp;
    struct al_mcp_parked *k = al_xcalloc(1, sizeof *k);
    k->mcp = m;
    k->ask = *ask;
    k->key = al_xstrdup(ask->key);
    k->ask_params = al_xdup(ask->params.p, ask->params.n);
    k->ask_params_n = ask->params.n;
    k->method = al_xstrdup(r->method);
    k->params = r->params;
    k->params_n = r->params_n;
    r->params = NULL;
    r->params_n = 0;
    k->cancel = r->cancel;
    k->work = r->work;
    new_state(k->mcp, k->state);
    k->timer = al_timer_start(al_core_loop(m->core), m->question_ms, on_parked_time, k);
    k->next = m->parked;
    m->parked = k;
    count(m, ask, 1);
    m->n_open++;
    answer_input_required(r, k);
}

static struct al_mcp_parked *find_parked(struct al_mcp *m, struct al_str state)
{
    struct al_mcp_parked *found = NULL;
    if (state.n != STATE_TEXT - 1)
        return NULL;
    for (struct al_mcp_parked *k = m->parked; k; k = k->next) {
        unsigned char differs = 0; /* in the same time for every guess */
        for (size_t i = 0; i < STATE_TEXT - 1; i++)
            differs |= (unsigned char)(k->state[i] ^ state.p[i]);
        if (!differs)
            found = k;
    }
    return found;
}

static bool belongs_to_a_retry(struct al_str key)
{
    return al_str_is(key, "_meta") || al_str_is(key, "requestState") || al_str_is(key, "inputResponses");
}

/* The members that say what is wanted; the nodes of them alone are copied. */
static const struct al_json *what_is_wanted(struct al_arena *arena, const struct al_json *params)
{
    struct al_json *out = al_arena_alloc(arena, (1 + (params ? (size_t)params->n : 0)) * sizeof *out);
    struct al_json *last = NULL;
    if (!out)
        return NULL;
    *out = (struct al_json){.type = AL_JSON_OBJECT};
    al_json_each(e, params)
    {
        if (belongs_to_a_retry(e->key))
            continue;
        struct al_json *copy = &out[++out->n];
        *copy = *e;
        copy->next = NULL;
        if (last)
            last->next = copy;
        else
            out->child = copy;
        last = copy;
    }
    return out;
}

static bool is_retry_of(const struct al_mcp_parked *k, const struct al_mcp_request *r,
                        const struct al_json *params)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    const struct al_json *original;
    struct al_err ignored;
    if (strcmp(k->method, r->method) != 0 ||
        al_json_parse(&arena, (struct al_str){k->params, k->params_n}, &original, &ignored) < 0)
        return false;
    const struct al_json *before = what_is_wanted(&arena, original), *now = what_is_wanted(&arena, params);
    return before && now && al_json_equal(before, now);
}

static void go_on(struct al_mcp_parked *k, struct al_mcp_request *r, const struct al_json *response)
{
    struct al_mcp_ask ask = k->ask;
    r->cancel = k->cancel;
    r->work = k->work;
    unlink_parked(k);
    parked_free(k);
    ask.answered(ask.ud, r, response, NULL);
}

bool al_mcp_resume(struct al_mcp_request *r, const struct al_json *params)
{
    static const struct al_str none = {"", 0};
    const struct al_json *state = al_json_get(params, "requestState");
    const struct al_json *responses = al_json_get(params, "inputResponses");
    if (!r->client.modern || !state)
        return false;
    struct al_mcp_parked *k = al_json_is_string(state) ? find_parked(r->peer->mcp, state->str) : NULL;
    if (!k && !is_own_state(r, params, state))
        return false; /* a server's behind us, as far as we can know */
    if (!k) {
        al_mcp_fail(r, AL_RPC_INVALID_PARAMS, none,
                    "\"requestState\" is not one that waits here: it was used, has expired, or is not ours");
        return true;
    }
    if (!is_retry_of(k, r, params)) {
        al_mcp_fail(r, AL_RPC_INVALID_PARAMS, none,
                    "\"requestState\" belongs to another request: retry with its method and parameters");
        return true;
    }
    if (responses && responses->type != AL_JSON_OBJECT) {
        al_mcp_fail(r, AL_RPC_INVALID_PARAMS, none, "\"inputResponses\" is an object");
        return true;
    }
    const struct al_json *response = al_json_get(responses, k->key);
    if (!response) {
        new_state(k->mcp, k->state); /* asked again: the state before has been used */
        answer_input_required(r, k);
    } else if (response->type != AL_JSON_OBJECT) {
        al_mcp_fail(r, AL_RPC_INVALID_PARAMS, none, "\"inputResponses.%.60s\" is an object", k->key);
    } else {
        go_on(k, r, response);
    }
    return true;
}

/* --- both --- */

void al_mcp_ask(struct al_mcp_request *r, const struct al_mcp_ask *ask)
{
    struct al_mcp *m = r->peer->mcp;
    if (r->cancelled || r->peer->closing || m->stopping)
        refuse(ask, r, "the client has gone");
    else if (!al_mcp_can_ask(&r->client, ask->method, ask->params))
        refuse(ask, r, cannot(ask->method));
    else if (no_room(m, ask))
        refuse(ask, r, no_room(m, ask));
    else if (r->client.modern)
        ask_modern(r, ask);
    else
        ask_older(r->peer, r, ask);
}

void al_mcp_ask_peer(struct al_mcp_peer *p, const struct al_mcp_ask *ask)
{
    if (p->closing || p->mcp->stopping)
        refuse(ask, NULL, "the client has gone");
    else if (p->client.modern || !al_mcp_can_ask(&p->client, ask->method, ask->params))
        refuse(ask, NULL, cannot(ask->method));
    else if (no_room(p->mcp, ask))
        refuse(ask, NULL, no_room(p->mcp, ask));
    else
        ask_older(p, NULL, ask);
}

void al_mcp_drop_all_questions(struct al_mcp *m, const char *why)
{
    for (struct al_mcp_peer *p = m->peers; p; p = p->next) {
        struct al_mcp_question *taken = al_mcp_take_questions(p, NULL);
        if (!taken)
            continue;
        /* Answering may free peers: from the beginning again. */
        al_mcp_end_questions(taken, false, why);
        al_mcp_drop_all_questions(m, why);
        return;
    }
    while (m->parked) {
        struct al_mcp_parked *k = m->parked;
        if (k->cancel)
            k->cancel(k->work);
        if (m->parked == k)
            give_up(k, why);
    }
}

void al_mcp_withdraw(struct al_mcp *m, const void *ud, const char *why)
{
    for (struct al_mcp_parked *k = m->parked; k; k = k->next)
        if (k->ask.ud == ud) {
            give_up(k, why);
            return;
        }
    for (struct al_mcp_peer *p = m->peers; p; p = p->next)
        for (struct al_mcp_question *q = p->questions; q; q = q->next)
            if (q->ask.ud == ud) {
                unlink_question(q);
                tell_cancelled(q, why);
                settle(q, NULL, why);
                return;
            }
}
