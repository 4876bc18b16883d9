/* What a server of the old era asks its client while a request of ours runs. */
#include "base/mem.h"
#include "base/text.h"
#include "upstream/upstream_int.h"

#define MAX_OPEN 64

/* Its answer may come when the connection, the call, or both have gone: then it leads nowhere. */
struct al_question {
    struct al_conn *conn;          /* NULL: gone */
    struct al_upstream_call *call; /* whose clock stands still; NULL: none */
    struct al_question_reply *reply;
    char *id; /* as the server wrote it */
    uint64_t stream;
    struct al_question *next, **link;
};

static void unlink_question(struct al_question *q)
{
    if (!q->conn)
        return;
    *q->link = q->next;
    if (q->next)
        q->next->link = q->link;
    q->conn = NULL;
}

static void settled(void *ud, struct al_str result, int code, struct al_str message)
{
    struct al_question *q = ud;
    struct al_conn *conn = q->conn;
    unlink_question(q);
    if (q->call)
        al_request_question(q->call, false);
    if (conn)
        al_conn_answer(conn, al_str_of(q->id), q->stream, code, code ? message : result);
    free(q->id);
    free(q);
}

static struct al_question_reply *reply_to(struct al_conn *c, struct al_upstream_call *call, struct al_str id,
                                          uint64_t stream)
{
    struct al_question *q = al_xcalloc(1, sizeof(*q));
    struct al_question **first = al_conn_questions(c);
    q->conn = c;
    q->call = call;
    q->id = al_xdup(id.p, id.n);
    q->stream = stream;
    q->next = *first;
    q->link = first;
    if (q->next)
        q->next->link = &q->next;
    *first = q;
    if (call)
        al_request_question(call, true);
    struct al_question_reply *reply = al_xcalloc(1, sizeof(*reply));
    *reply = (struct al_question_reply){.done = settled, .ud = q};
    q->reply = reply;
    return reply;
}

static bool too_many(struct al_conn *c)
{
    size_t n = 0;
    for (struct al_question *q = *al_conn_questions(c); q; q = q->next)
        n++;
    return n >= MAX_OPEN;
}

void al_upstream_put_roots(const struct al_upstream *s, struct al_buf *out)
{
    autobuf struct al_buf uri = AL_BUF_INIT(16u << 10);
    const char *root = al_workspace_root(al_core_workspace(al_upstream_core(s)));
    al_text_file_uri(&uri, root);
    const char *slash = strrchr(root, '/');
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_key(&w, "roots");
    al_jw_arr(&w);
    al_jw_obj(&w);
    al_jw_kstr(&w, "uri", al_buf_str(&uri));
    al_jw_kstrz(&w, "name", slash && slash[1] ? slash + 1 : root);
    al_jw_end(&w);
    al_jw_end(&w);
    al_jw_end(&w);
}

/* The workspace is what a server may know of us when nobody else answers. */
static void answer_roots(struct al_conn *c, struct al_upstream *s, const struct al_rpc *rpc, uint64_t stream)
{
    autobuf struct al_buf out = AL_BUF_INIT(64u << 10);
    al_upstream_put_roots(s, &out);
    al_conn_answer(c, rpc->id, stream, 0, al_buf_str(&out));
}

void al_question_ask(struct al_conn *c, struct al_upstream *s, const struct al_rpc *rpc, uint64_t stream)
{
    const struct al_upstream_listener *l = &s->owner->listener;
    bool roots = al_str_is(rpc->method, "roots/list");
    bool known = roots || al_str_is(rpc->method, "sampling/createMessage") ||
                 al_str_is(rpc->method, "elicitation/create");
    struct al_upstream_call *call = known ? al_request_for(s, stream, true) : NULL;
    struct al_upstream_question q = {.method = rpc->method,
                                     .params = rpc->params ? rpc->params->raw : (struct al_str){"", 0}};
    if (known && too_many(c)) {
        al_conn_answer(c, rpc->id, stream, AL_RPC_INTERNAL_ERROR, AL_STR("too many questions are open"));
    } else if (call) {
        q.reply = reply_to(c, call, rpc->id, stream);
        call->r.question(call->r.ud, &q);
    } else if (known && l->question && s->owner->relay) {
        q.reply = reply_to(c, NULL, rpc->id, stream);
        l->question(l->ud, s, &q);
    } else if (roots) {
        answer_roots(c, s, rpc, stream);
    } else {
        al_conn_answer(c, rpc->id, stream, AL_RPC_METHOD_NOT_FOUND,
                       known ? AL_STR("nobody can be asked now") : AL_STR("no such method"));
    }
}

void al_question_cancelled(struct al_conn *c, const struct al_json *params)
{
    const struct al_json *id = al_json_get(params, "requestId");
    for (struct al_question *q = *al_conn_questions(c); id && q; q = q->next) {
        if (!al_str_eq(al_str_of(q->id), id->raw))
            continue;
        unlink_question(q);
        if (q->call)
            al_request_question(q->call, false);
        q->call = NULL;
        if (q->reply->withdrawn)
            q->reply->withdrawn(q->reply->asked);
        return;
    }
}

void al_questions_forget(struct al_conn *c, const struct al_upstream_call *call)
{
    for (struct al_question *q = *al_conn_questions(c); q; q = q->next)
        if (q->call == call)
            q->call = NULL;
}

void al_questions_drop(struct al_conn *c)
{
    while (*al_conn_questions(c)) {
        struct al_question *q = *al_conn_questions(c);
        unlink_question(q);
        if (q->call)
            al_request_question(q->call, false);
        q->call = NULL;
    }
}
