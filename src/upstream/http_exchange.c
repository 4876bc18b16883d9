/*
 * One exchange with a server: a POST and its answer, JSON or a stream of events; or a GET that listens. In
 * the old era a stream that breaks off before its answer is taken up again by a GET with Last-Event-ID, after
 * the time that the server has named (2025-11-25, basic/transports, Resumability and Redelivery).
 */
#include "base/ident.h"
#include "base/mem.h"
#include "upstream/http_int.h"

#include <stdio.h>
#include <strings.h>

#define RETRY_MS 1000      /* where the server names no time */
#define MAX_RETRY_MS 30000 /* of our own doubling */
#define MAX_FAILURES 5
#define LASTING_MS 10000 /* a stream that lived as long is no failure */
#define LINGER_MS 2000   /* for the server to end a stream that has brought its answer */
#define SAY_MS 30000
#define BYE_MS 2000

/* --- life --- */

struct al_exchange *al_exchange_new(struct al_http_transport *t, enum al_exchange_kind kind)
{
    struct al_exchange *x = al_xcalloc(1, sizeof(*x));
    x->t = t;
    x->kind = kind;
    x->retry_ms = -1;
    al_buf_init(&x->headers, 256 * 1024);
    al_buf_init(&x->text, AL_UPSTREAM_MAX_MESSAGE);
    al_buf_init(&x->pending, 4 * (size_t)AL_UPSTREAM_MAX_MESSAGE);
    al_sse_init(&x->sse, AL_UPSTREAM_MAX_MESSAGE);
    x->next = t->first;
    if (x->next)
        x->next->prev = x;
    t->first = x;
    t->n_exchanges++;
    return x;
}

static void exchange_free(struct al_exchange *x)
{
    al_sse_free(&x->sse);
    al_buf_free(&x->headers);
    al_buf_free(&x->text);
    al_buf_free(&x->pending);
    free(x->json);
    free(x->last_event);
    free(x);
}

void al_exchange_drop(struct al_exchange *x)
{
    struct al_http_transport *t = x->t;
    if (x->dead)
        return;
    al_http_cancel(x->http);
    x->http = NULL;
    al_timer_stop(x->timer);
    x->timer = NULL;
    if (x->prev)
        x->prev->next = x->next;
    else
        t->first = x->next;
    if (x->next)
        x->next->prev = x->prev;
    t->n_exchanges--;
    bool was_gate = t->gate == x;
    if (was_gate)
        t->gate = NULL;
    x->dead = true;
    if (!x->busy)
        exchange_free(x);
    if (was_gate)
        al_http_t_starts(t);
}

static void enter(struct al_exchange *x)
{
    x->busy++;
    al_http_t_enter(x->t);
}

static void leave(struct al_exchange *x)
{
    struct al_http_transport *t = x->t;
    if (--x->busy == 0 && x->dead)
        exchange_free(x);
    al_http_t_leave(t);
}

/* --- what it tells the connection --- */

static void give(struct al_exchange *x, struct al_str json)
{
    struct al_http_transport *t = x->t;
    if (x->kind == AL_EXCHANGE_REQUEST && !x->answered)
        x->answered = al_answer_for(json, x->id);
    t->base.events->message(t->base.ud, json, x->kind == AL_EXCHANGE_REQUEST ? x->id : 0);
}

/* The last word: that its request will not be answered. */
void al_exchange_fail(struct al_exchange *x, enum al_transport_loss loss, const struct al_err *err)
{
    struct al_http_transport *t = x->t;
    uint64_t id = x->id;
    bool tell = x->kind == AL_EXCHANGE_REQUEST && !x->answered && !t->closing;
    struct al_err why = *err;
    al_exchange_drop(x);
    if (tell)
        t->base.events->lost(t->base.ud, id, loss, &why);
}

static void too_big(struct al_exchange *x)
{
    struct al_err err;
    al_fail(&err, AL_RESULT_TOO_LARGE, "the answer of the MCP server %s is over %u MiB", x->t->name,
            AL_UPSTREAM_MAX_MESSAGE >> 20);
    al_exchange_fail(x, AL_LOSS_TOO_BIG, &err);
}

/* --- the stream of events --- */

static bool on_event(void *ud, const struct al_sse_event *e)
{
    struct al_exchange *x = ud;
    if (x->kind == AL_EXCHANGE_REQUEST)
        x->failures = 0;
    if (e->id.n) {
        free(x->last_event);
        x->last_event = al_xdup(e->id.p, e->id.n);
    }
    if (al_str_is(e->type, "message") && al_str_trim(e->data).n)
        give(x, e->data);
    return !x->dead;
}

static void on_event_too_long(void *ud)
{
    struct al_exchange *x = ud;
    x->over_err.code = AL_RESULT_TOO_LARGE; /* told when the parser is done with these bytes */
}

/* Line by line, so that nothing is given after a pause; false when x is dead. */
static bool feed(struct al_exchange *x, struct al_str bytes, size_t *ret_taken)
{
    static const struct al_sse_sink sink = {.event = on_event, .too_long = on_event_too_long};
    size_t at = 0;
    while (at < bytes.n && !x->t->paused) {
        size_t end = at;
        while (end < bytes.n && bytes.p[end] != '\n' && bytes.p[end] != '\r')
            end++;
        end += end < bytes.n;
        al_sse_feed(&x->sse, (struct al_str){bytes.p + at, end - at}, &sink, x);
        at = end;
        if (x->dead)
            return false;
        if (x->over_err.code == AL_RESULT_TOO_LARGE) {
            al_err_clear(&x->over_err);
            if (x->kind == AL_EXCHANGE_REQUEST && !x->answered) {
                too_big(x);
                return false;
            }
        }
    }
    if (x->sse.retry_ms >= 0)
        x->retry_ms = x->sse.retry_ms;
    *ret_taken = at;
    return true;
}

static bool feed_and_keep(struct al_exchange *x, struct al_str bytes)
{
    size_t taken = 0;
    if (!x->pending.n && !feed(x, bytes, &taken))
        return false;
    al_buf_add(&x->pending, bytes.p + taken, bytes.n - taken);
    return true;
}

/* --- the end of one answer --- */

static void start_again(void *ud)
{
    struct al_exchange *x = ud;
    struct al_err err;
    x->timer = NULL;
    enter(x);
    if (al_exchange_start(x, &err) < 0)
        al_exchange_fail(x, AL_LOSS_BROKEN, &err);
    leave(x);
}

static void try_again_later(struct al_exchange *x)
{
    uint64_t ms = x->retry_ms >= 0 ? (uint64_t)x->retry_ms : RETRY_MS;
    ms = ms > x->t->min_retry_ms ? ms : x->t->min_retry_ms;
    for (unsigned i = 0; i < x->failures && ms < MAX_RETRY_MS; i++)
        ms *= 2;
    x->failures++;
    x->resuming = x->last_event != NULL;
    x->timer = al_timer_start(x->t->loop, ms, start_again, x);
}

static bool is_stream_answer(const struct al_exchange *x)
{
    return x->status == 200 && x->form == AL_FORM_EVENTS;
}

static void request_ended(struct al_exchange *x, const struct al_err *err)
{
    struct al_err why = *err;
    bool stream = is_stream_answer(x);
    bool refused = x->status && !stream; /* of the GET that was to take it up */
    if (!x->answered && !x->modern && x->last_event && !refused && x->failures < MAX_FAILURES &&
        (stream || x->resuming)) {
        try_again_later(x);
        return;
    }
    if (x->resuming && refused)
        al_answer_refused(x, &why);
    else if (why.code == AL_OK)
        al_fail(&why, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s ended its answer before its result came",
                x->t->name);
    al_exchange_fail(x, AL_LOSS_BROKEN, &why);
}

/* The whole text of an answer that is no stream. */
static void text_ended(struct al_exchange *x)
{
    struct al_err err;
    autobuf struct al_buf error = AL_BUF_INIT(AL_UPSTREAM_MAX_MESSAGE);
    bool fine = x->status / 100 == 2;
    if (!fine && al_answer_is_error(x, &error)) {
        give(x, al_buf_str(&error));
    } else if (fine && x->text.n) {
        give(x, al_str_trim(al_buf_str(&x->text)));
    } else if (!fine) {
        enum al_transport_loss loss = al_answer_refused(x, &err);
        al_exchange_fail(x, loss, &err);
        return;
    }
    if (x->dead)
        return;
    al_fail(&err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s took the request and gave no answer",
            x->t->name);
    al_exchange_fail(x, AL_LOSS_BROKEN, &err);
}

/* What a server tells by itself is missed without this stream: it is asked for again and again, ever more
 * rarely. */
static void listen_ended(struct al_exchange *x)
{
    bool stream = is_stream_answer(x);
    if (stream && al_mono_ms() - x->head_ms >= LASTING_MS)
        x->failures = 0;
    if (stream || !x->status || x->status == 429 || x->status >= 500)
        try_again_later(x);
    else
        al_exchange_drop(x); /* 405: there is none */
}

static void ended(struct al_exchange *x)
{
    struct al_err err = x->over_err;
    struct al_http_transport *t = x->t;
    x->over = false;
    if (x->kind == AL_EXCHANGE_BYE) {
        al_exchange_drop(x);
        al_http_t_bye_done(t);
    } else if (x->kind == AL_EXCHANGE_SAY) {
        al_exchange_drop(x);
    } else if (x->kind == AL_EXCHANGE_LISTEN) {
        listen_ended(x);
    } else if (x->answered) {
        al_exchange_drop(x);
    } else if (err.code == AL_OK && x->form == AL_FORM_TEXT && !x->resuming) {
        text_ended(x);
    } else if (err.code == AL_OK && x->form == AL_FORM_NONE && !x->resuming) {
        enum al_transport_loss loss = al_answer_refused(x, &err);
        al_exchange_fail(x, loss, &err);
    } else {
        request_ended(x, &err);
    }
}

/* --- from the HTTP client --- */

static void lingered(void *ud)
{
    struct al_exchange *x = ud;
    x->timer = NULL;
    al_exchange_drop(x);
}

/* False: it is one that we cannot send back. */
static bool take_session(struct al_exchange *x)
{
    const char *id = al_http_header(x->http, "mcp-session-id");
    if (!id || !*id)
        return true;
    size_t n = strlen(id);
    bool fine = n <= AL_HTTP_MAX_SESSION;
    for (const char *p = id; fine && *p; p++)
        fine = *p >= 0x21 && *p <= 0x7e;
    if (!fine)
        return false;
    free(x->t->session);
    x->t->session = al_xdup(id, n);
    return true;
}

static void refuse_session(struct al_exchange *x)
{
    struct al_err err;
    al_fail(&err, AL_UPSTREAM_UNAVAILABLE,
            "the MCP server %s gives a session id that cannot be used: over %u KiB, or not of visible ASCII",
            x->t->name, AL_HTTP_MAX_SESSION >> 10);
    al_exchange_fail(x, AL_LOSS_BROKEN, &err);
}

static void on_head(void *ud, const struct al_http_head *head)
{
    struct al_exchange *x = ud;
    x->status = head->status;
    x->head_ms = al_mono_ms();
    bool fine = head->status / 100 == 2;
    bool json = strcmp(head->content_type, "application/json") == 0 ||
                al_str_ends(al_str_of(head->content_type), "+json");
    if (x->initialize && fine && !take_session(x)) {
        refuse_session(x);
        return;
    }
    if (x->kind != AL_EXCHANGE_REQUEST && x->kind != AL_EXCHANGE_LISTEN)
        x->form = AL_FORM_NONE;
    else if (head->status == 200 && strcmp(head->content_type, "text/event-stream") == 0)
        x->form = AL_FORM_EVENTS;
    else
        x->form = x->kind == AL_EXCHANGE_REQUEST && (json || !fine) ? AL_FORM_TEXT : AL_FORM_NONE;
    if (x->t->paused && x->form != AL_FORM_NONE)
        al_http_pause(x->http, true);
}

static bool take_text(struct al_exchange *x, struct al_str bytes)
{
    bool fine = x->status / 100 == 2;
    size_t max = fine ? AL_UPSTREAM_MAX_MESSAGE : AL_HTTP_MAX_REFUSAL;
    if (bytes.n > max - x->text.n) {
        if (fine)
            too_big(x);
        return false; /* of a refusal the beginning is enough */
    }
    al_buf_add_str(&x->text, bytes);
    return true;
}

static bool on_body(void *ud, struct al_str bytes)
{
    struct al_exchange *x = ud;
    enter(x);
    bool go_on = x->form == AL_FORM_NONE   ? x->kind != AL_EXCHANGE_LISTEN
                 : x->form == AL_FORM_TEXT ? take_text(x, bytes)
                                           : feed_and_keep(x, bytes);
    if (!x->dead && x->form == AL_FORM_EVENTS && x->answered && !x->timer)
        x->timer = al_timer_start(x->t->loop, LINGER_MS, lingered, x);
    leave(x);
    return go_on;
}

static void on_done(void *ud, const struct al_err *err)
{
    struct al_exchange *x = ud;
    x->http = NULL;
    enter(x);
    al_timer_stop(x->timer);
    x->timer = NULL;
    x->over = true;
    x->over_err = *err;
    if (err->code != AL_OK) {
        al_wrap(&x->over_err, "the MCP server %s", x->t->name);
        x->over_err.code = AL_UPSTREAM_UNAVAILABLE;
    }
    if (!x->t->paused && !x->pending.n)
        ended(x);
    leave(x);
}

void al_exchange_pause(struct al_exchange *x, bool pause)
{
    size_t taken = 0;
    enter(x);
    if (!pause && x->pending.n && !x->dead) {
        struct al_buf pending = x->pending;
        al_buf_init(&x->pending, pending.max);
        if (feed(x, al_buf_str(&pending), &taken))
            al_buf_add(&x->pending, pending.p + taken, pending.n - taken);
        al_buf_free(&pending);
    }
    bool paused = x->t->paused;
    if (!x->dead && x->http && x->form != AL_FORM_NONE)
        al_http_pause(x->http, paused);
    if (!x->dead && x->over && !paused && !x->pending.n)
        ended(x);
    leave(x);
}

/* --- the beginning --- */

struct lines {
    const char **v;
    size_t n, max;
};

static void add_line(struct lines *l, const char *line)
{
    if (l->n + 1 < l->max)
        l->v[l->n++] = line;
}

/* The message's own header wins over one that a person has written for all. */
static bool says(const struct al_buf *headers, const char *line)
{
    size_t name = strcspn(line, ":") + 1;
    for (const char *p = headers->p; p && p < headers->p + headers->n; p += strlen(p) + 1)
        if (strncasecmp(p, line, name) == 0)
            return true;
    return false;
}

static void add_lines(struct lines *l, const struct al_exchange *x)
{
    for (char **p = x->t->headers; *p; p++)
        if (!says(&x->headers, *p))
            add_line(l, *p);
    for (const char *p = x->headers.p; p && p < x->headers.p + x->headers.n; p += strlen(p) + 1)
        add_line(l, p);
    l->v[l->n] = NULL;
}

int al_exchange_start(struct al_exchange *x, struct al_err *err)
{
    static const struct al_http_ops ops = {.head = on_head, .body = on_body, .done = on_done};
    struct al_http_transport *t = x->t;
    bool post = (x->kind == AL_EXCHANGE_REQUEST && !x->resuming) || x->kind == AL_EXCHANGE_SAY;
    char session[AL_HTTP_MAX_SESSION + 32], version[64], event[4200];
    const char *v[256];
    struct lines l = {.v = v, .max = sizeof(v) / sizeof(*v)};
    x->had_session = t->session && !x->modern && !x->initialize;
    x->started = true;
    x->status = 0;
    x->form = AL_FORM_NONE;
    al_sse_free(&x->sse);
    al_sse_init(&x->sse, AL_UPSTREAM_MAX_MESSAGE);
    add_line(&l, post ? "Accept: application/json, text/event-stream" : "Accept: text/event-stream");
    if (post)
        add_line(&l, "Content-Type: application/json");
    if (x->had_session) {
        snprintf(session, sizeof(session), "Mcp-Session-Id: %s", t->session);
        add_line(&l, session);
    }
    snprintf(version, sizeof(version), "MCP-Protocol-Version: %s", t->version);
    if (!post && t->version[0] && !says(&x->headers, version))
        add_line(&l, version);
    if (!post && x->last_event) {
        snprintf(event, sizeof(event), "Last-Event-ID: %s", x->last_event);
        add_line(&l, event);
    }
    add_lines(&l, x);
    struct al_http_request r = {
        .method = post                         ? "POST"
                  : x->kind == AL_EXCHANGE_BYE ? "DELETE"
                                               : "GET",
        .url = t->url,
        .headers = v,
        .body = post ? al_str_of(x->json) : (struct al_str){NULL, 0},
        .total_ms = x->kind == AL_EXCHANGE_SAY   ? SAY_MS
                    : x->kind == AL_EXCHANGE_BYE ? BYE_MS
                                                 : 0,
        .max_redirects = AL_HTTP_REDIRECTS,
        .same_origin = true,
    };
    x->http = al_http_start(t->client, &r, &ops, x, err);
    if (!x->http) {
        al_wrap(err, "the MCP server %s", t->name);
        return -1;
    }
    free(x->json); /* a request is never sent twice */
    x->json = NULL;
    return 0;
}
