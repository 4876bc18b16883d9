/* The life of one request to a server: it waits for the start, is sent, and ends exactly once. */
#include "base/mem.h"
#include "base/text.h"
#include "upstream/upstream_int.h"

#define TIMES_IN_ALL 10 /* what progress can make of a time limit */

static bool is_endless(const struct al_upstream_call *c)
{
    return c->internal || strcmp(c->r.method, "subscriptions/listen") == 0;
}

static void link_call(struct al_upstream_call *c)
{
    struct al_upstream *s = c->s;
    c->prev = s->calls_last;
    *(c->prev ? &c->prev->next : &s->calls) = c;
    s->calls_last = c;
    s->n_calls++;
    s->n_internal += c->internal;
}

static void unlink_call(struct al_upstream_call *c)
{
    struct al_upstream *s = c->s;
    *(c->prev ? &c->prev->next : &s->calls) = c->next;
    *(c->next ? &c->next->prev : &s->calls_last) = c->prev;
    s->n_calls--;
    s->n_internal -= c->internal;
}

static void call_free(struct al_upstream_call *c)
{
    al_timer_stop(c->timer);
    free((char *)c->r.method);
    free((char *)c->r.params.p);
    free((char *)c->r.log_level.p);
    free((char *)c->input_schema.p);
    free(c);
}

/* done may do anything but free the servers: nothing of the call is touched after it. */
static void finish(struct al_upstream_call *c, const struct al_upstream_answer *a)
{
    struct al_upstream *s = c->s;
    struct al_upstream_request r = c->r;
    if (s->conn)
        al_questions_forget(s->conn, c);
    unlink_call(c);
    if (r.done)
        r.done(r.ud, a);
    call_free(c);
    al_upstream_rest(s);
}

static void tell_end(void *ud)
{
    struct al_upstream_call *c = ud;
    c->timer = NULL;
    struct al_upstream_answer a = {.err = &c->err};
    finish(c, &a);
}

/* c->err says why. The one who made the call may stand above us on the stack. */
static void end_later(struct al_upstream_call *c)
{
    c->state = AL_REQUEST_ENDED;
    al_timer_stop(c->timer);
    c->timer = al_timer_start(al_upstream_loop(c->s), 0, tell_end, c);
}

/* --- time --- */

static void is_late(void *ud)
{
    struct al_upstream_call *c = ud;
    autobuf struct al_buf limit = AL_BUF_INIT(64);
    c->timer = NULL;
    bool waiting = c->state == AL_REQUEST_WAITING;
    al_text_duration(&limit, waiting ? c->s->config->start_timeout_ms : c->timeout_ms);
    if (waiting) {
        al_fail(&c->err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s was not ready within %.*s",
                c->s->config->name, AL_FMT(al_buf_str(&limit)));
        al_hint(&c->err, "`alisio mcp doctor %s` shows why", c->s->config->name);
    } else {
        if (c->s->conn)
            al_conn_cancel(c->s->conn, c->id, "time limit");
        al_fail(&c->err, AL_TOOL_TIMEOUT, "the MCP server %s did not answer %s within %.*s",
                c->s->config->name, c->r.method, AL_FMT(al_buf_str(&limit)));
        al_hint(&c->err, "ask for less at once; a longer limit is `timeoutMs` of the server's configuration");
    }
    c->state = AL_REQUEST_ENDED;
    tell_end(c);
}

static void start_clock(struct al_upstream_call *c, uint64_t ms)
{
    al_timer_stop(c->timer);
    c->timer = is_endless(c) && c->state == AL_REQUEST_SENT
                   ? NULL
                   : al_timer_start(al_upstream_loop(c->s), ms, is_late, c);
}

static uint64_t left_in_all(const struct al_upstream_call *c)
{
    uint64_t now = al_mono_ms();
    uint64_t left = c->give_up_ms > now ? c->give_up_ms - now : 0;
    return left < c->timeout_ms ? left : c->timeout_ms;
}

void al_request_question(struct al_upstream_call *c, bool open)
{
    if (open && c->n_questions++ == 0) {
        c->question_since_ms = al_mono_ms();
        al_timer_stop(c->timer);
        c->timer = NULL;
    } else if (!open && --c->n_questions == 0 && c->state == AL_REQUEST_SENT) {
        c->give_up_ms += al_mono_ms() - c->question_since_ms;
        start_clock(c, left_in_all(c));
    }
}

void al_request_progress(struct al_upstream *s, const struct al_json *params)
{
    int64_t token;
    if (!al_json_int(al_json_get(params, "progressToken"), 1, INT64_MAX, &token))
        return;
    struct al_upstream_call *c = al_request_find(s, (uint64_t)token);
    if (!c)
        return;
    if (c->n_questions == 0)
        start_clock(c, left_in_all(c));
    if (c->r.progress)
        c->r.progress(c->r.ud, params->raw);
}

/* --- the start --- */

static char *copy(struct al_str s)
{
    return al_xdup(s.p, s.n);
}

struct al_upstream_call *al_request_new(struct al_upstream *s, const struct al_upstream_request *r,
                                        bool internal)
{
    struct al_upstream_call *c = al_xcalloc(1, sizeof(*c));
    c->s = s;
    c->r = *r;
    c->r.method = al_xstrdup(r->method);
    c->r.params.p = copy(r->params);
    c->r.log_level.p = copy(r->log_level);
    c->internal = internal;
    c->timeout_ms = r->timeout_ms ? r->timeout_ms : s->config->timeout_ms;
    link_call(c);
    return c;
}

static void send_now(struct al_upstream_call *c)
{
    c->state = AL_REQUEST_SENT;
    c->id = ++c->s->last_id;
    c->give_up_ms = al_mono_ms() + TIMES_IN_ALL * c->timeout_ms;
    if (al_conn_send(c->s->conn, c, &c->err) < 0)
        end_later(c);
    else
        start_clock(c, c->timeout_ms);
}

void al_request_begin(struct al_upstream_call *c)
{
    struct al_upstream *s = c->s;
    int failed = 0;
    if (s->owner->stopping)
        failed = al_fail(&c->err, AL_CANCELLED, "alisio is shutting down");
    else if (s->n_calls > AL_UPSTREAM_MAX_CALLS)
        failed = al_fail(&c->err, AL_BUSY, "%u requests to the MCP server %s are open", AL_UPSTREAM_MAX_CALLS,
                         s->config->name);
    else if (s->state != AL_UPSTREAM_READY)
        failed = al_upstream_need(s, &c->err);
    if (failed < 0) {
        end_later(c);
    } else if (s->state == AL_UPSTREAM_READY) {
        send_now(c);
    } else {
        start_clock(c, s->config->start_timeout_ms);
    }
}

struct al_upstream_call *al_upstream_send(struct al_upstream *s, const struct al_upstream_request *r)
{
    struct al_upstream_call *c = al_request_new(s, r, false);
    al_request_begin(c);
    return c;
}

void al_requests_send(struct al_upstream *s)
{
    /* A call that cannot be sent ends later, so that the list only grows meanwhile, at its end. */
    for (struct al_upstream_call *c = s->calls; c && s->state == AL_UPSTREAM_READY; c = c->next) {
        if (c->state != AL_REQUEST_WAITING || (c->check && !s->listed))
            continue;
        if (c->check && c->check(c->r.ud, &c->err) < 0)
            end_later(c);
        else
            send_now(c);
    }
}

/* --- the end --- */

bool al_requests_sent(const struct al_upstream *s)
{
    for (const struct al_upstream_call *c = s->calls; c; c = c->next)
        if (c->state == AL_REQUEST_SENT)
            return true;
    return false;
}

struct al_upstream_call *al_request_find(struct al_upstream *s, uint64_t id)
{
    for (struct al_upstream_call *c = s->calls; id && c; c = c->next)
        if (c->id == id && c->state == AL_REQUEST_SENT)
            return c;
    return NULL;
}

/* False: calls of several, that wait for answers to questions or do not, are open. */
static bool owner_of(const struct al_upstream *s, bool waiting, const void **owner)
{
    *owner = NULL;
    for (const struct al_upstream_call *c = s->calls; c; c = c->next) {
        if (c->state != AL_REQUEST_SENT || !c->r.owner || (c->n_questions > 0) != waiting)
            continue;
        if (*owner && *owner != c->r.owner)
            return false;
        *owner = c->r.owner;
    }
    return true;
}

bool al_upstream_speaks_of(const struct al_upstream *s, const void **owner)
{
    return owner_of(s, false, owner) && (*owner || owner_of(s, true, owner));
}

struct al_upstream_call *al_request_for(struct al_upstream *s, uint64_t stream, bool question)
{
    struct al_upstream_call *found = stream ? al_request_find(s, stream) : NULL;
    const void *owner;
    if (stream)
        return found && (question ? !!found->r.question : !!found->r.message) ? found : NULL;
    if (!al_upstream_speaks_of(s, &owner))
        return NULL;
    for (struct al_upstream_call *c = s->calls; c; c = c->next)
        if (c->state == AL_REQUEST_SENT && c->r.owner == owner &&
            (question ? c->r.question != NULL : c->r.message && c->r.log_level.n))
            found = c;
    return found;
}

void al_request_answer(struct al_upstream *s, uint64_t id, const struct al_rpc *answer)
{
    struct al_upstream_call *c = al_request_find(s, id);
    if (!c) {
        s->n_late++;
        return;
    }
    struct al_upstream_answer a = {0};
    if (answer->result && answer->result->type == AL_JSON_OBJECT) {
        a.result = answer->result->raw;
        a.value = answer->result;
    } else if (answer->failure && answer->failure->type == AL_JSON_OBJECT) {
        a.failure = answer->failure->raw;
    } else {
        al_fail(&c->err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s gave an answer to %s that is none",
                s->config->name, c->r.method);
        a.err = &c->err;
    }
    finish(c, &a);
}

void al_request_lost(struct al_upstream *s, uint64_t id, enum al_transport_loss loss,
                     const struct al_err *err)
{
    struct al_upstream_call *c = al_request_find(s, id);
    if (!c)
        return;
    if (loss == AL_LOSS_SESSION && !c->resent) {
        c->resent = true;
        c->state = AL_REQUEST_WAITING;
        c->id = 0;
        start_clock(c, s->config->start_timeout_ms);
        return;
    }
    c->err = *err;
    if (loss == AL_LOSS_TOO_BIG)
        c->err.code = AL_RESULT_TOO_LARGE;
    struct al_upstream_answer a = {.err = &c->err};
    finish(c, &a);
}

void al_requests_fail(struct al_upstream *s, bool all, const struct al_err *err)
{
    for (struct al_upstream_call *c = s->calls; c; c = c->next) {
        if (c->state == AL_REQUEST_SENT || (all && c->state == AL_REQUEST_WAITING)) {
            c->err = *err;
            end_later(c);
        }
    }
}

void al_requests_drop(struct al_upstream *s)
{
    while (s->calls) {
        struct al_upstream_call *c = s->calls;
        unlink_call(c);
        call_free(c);
    }
}

void al_upstream_cancel(struct al_upstream_call *c)
{
    if (c->state == AL_REQUEST_ENDED)
        return;
    if (c->state == AL_REQUEST_SENT && c->s->conn)
        al_conn_cancel(c->s->conn, c->id, "cancelled by the caller");
    al_fail(&c->err, AL_CANCELLED, "%s was cancelled", c->r.method);
    end_later(c);
}
