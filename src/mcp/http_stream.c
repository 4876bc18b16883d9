/*
 * A stream of a session: its messages as numbered events, kept within limits, so that a client whose
 * connection dropped goes on where it was. A connection takes them only as fast as it is read.
 */
#include "mcp/http_int.h"

#include "base/log.h"
#include "base/mem.h"
#include "rpc/sse.h"

#define SHORT 4096

struct al_mcp_hstream *al_mcp_hstream_new(struct al_mcp_session *s)
{
    struct al_mcp_hstream *st = al_xcalloc(1, sizeof *st);
    st->session = s;
    st->no = s->next_stream++;
    st->next_event = 1;
    st->next = s->streams;
    s->streams = st;
    s->n_streams++;
    return st;
}

/* --- what is kept --- */

static void drop_first(struct al_mcp_hstream *st)
{
    struct al_mcp_event *e = st->first;
    st->first = e->next;
    if (!st->first)
        st->last = NULL;
    st->n_events--;
    st->bytes -= e->n;
    st->session->bytes -= e->n;
    st->session->http->bytes -= e->n;
    free(e);
}

static void detach(struct al_mcp_hstream *st)
{
    if (st->conn)
        al_httpd_stream_close(st->conn);
    st->conn = NULL;
    if (st->json)
        al_mcp_http_fail(st->json, &(struct al_mcp_http_error){.status = 404}, "the session has ended");
    st->json = NULL;
}

void al_mcp_hstream_free(struct al_mcp_hstream *st)
{
    struct al_mcp_session *s = st->session;
    detach(st);
    while (st->first)
        drop_first(st);
    for (struct al_mcp_hstream **at = &s->streams; *at; at = &(*at)->next)
        if (*at == st) {
            *at = st->next;
            break;
        }
    s->n_streams--;
    free(st);
}

/* The newest stand first, so that the last that fits is the oldest. */
static struct al_mcp_hstream *oldest_over(struct al_mcp_session *s, bool delivered, size_t *ret_n)
{
    struct al_mcp_hstream *found = NULL;
    *ret_n = 0;
    for (struct al_mcp_hstream *st = s->streams; st; st = st->next)
        if (st->over && !st->conn && !st->held && (!delivered || st->delivered)) {
            found = st;
            ++*ret_n;
        }
    return found;
}

static void bound_session(struct al_mcp_session *s)
{
    struct al_mcp_hstream *st;
    size_t n;
    while ((st = oldest_over(s, true, &n)) &&
           (n > AL_MCP_HTTP_DELIVERED_STREAMS || s->bytes > AL_MCP_HTTP_SESSION_BYTES))
        al_mcp_hstream_free(st);
    while (s->bytes > AL_MCP_HTTP_SESSION_BYTES && (st = oldest_over(s, false, &n)))
        al_mcp_hstream_free(st);
}

static void drop_written(struct al_mcp_session *s)
{
    for (struct al_mcp_hstream *st = s->streams; st; st = st->next)
        while (st->first && st->first->no <= st->written && !st->first->answer)
            drop_first(st);
}

static bool fits(const struct al_mcp_http *h, size_t n, size_t max)
{
    size_t all = h->bytes + al_httpd_queued(h->httpd);
    return n <= max && all <= max - n;
}

bool al_mcp_http_room(struct al_mcp_http *h, size_t n, size_t max)
{
    struct al_mcp_hstream *st;
    size_t ignored;
    for (struct al_mcp_session *s = h->sessions; s && !fits(h, n, max); s = s->next)
        while (!fits(h, n, max) && (st = oldest_over(s, false, &ignored)))
            al_mcp_hstream_free(st);
    for (struct al_mcp_session *s = h->sessions; s && !fits(h, n, max); s = s->next)
        drop_written(s);
    return fits(h, n, max);
}

struct al_str al_mcp_http_or_busy(struct al_mcp_http *h, const struct al_mcp_request *r, struct al_str answer,
                                  struct al_buf *out)
{
    /* Twice: what is kept, and what a connection takes of it. A few words always find room. */
    if (answer.n <= SHORT || !r->id || al_mcp_http_room(h, 2 * answer.n, AL_MCP_HTTP_ALL_BYTES))
        return answer;
    al_rpc_failure(out, al_str_of(r->id), AL_RPC_INTERNAL_ERROR,
                   AL_STR("BUSY: the answer was left out, since too much waits for clients to read"),
                   (struct al_str){"", 0});
    return al_buf_str(out);
}

void al_mcp_hstream_drop_oldest(struct al_mcp_session *s)
{
    size_t n;
    struct al_mcp_hstream *st = oldest_over(s, false, &n);
    if (st)
        al_mcp_hstream_free(st);
}

/* The last one stays, but for one that is longer than all that may be kept and that a connection has taken.
 */
static void bound_stream(struct al_mcp_hstream *st)
{
    while (st->first && !st->first->answer && (st->first != st->last || st->first->no <= st->written) &&
           (st->n_events > AL_MCP_HTTP_STREAM_EVENTS || st->bytes > AL_MCP_HTTP_STREAM_BYTES))
        drop_first(st);
}

/* --- its connection --- */

/* What was not handed over stays, for the connection that comes next. */
static void on_closed(void *ud)
{
    struct al_mcp_hstream *st = ud;
    st->conn = NULL;
}

static void on_drained(void *ud)
{
    al_mcp_hstream_pump(ud);
}

static void finish_connection(struct al_mcp_hstream *st)
{
    if (!st->over || (st->last && st->last->no > st->written))
        return;
    st->delivered = true;
    al_httpd_stream_close(st->conn);
    st->conn = NULL;
}

void al_mcp_hstream_pump(struct al_mcp_hstream *st)
{
    struct al_mcp_event *e = st->first;
    if (!st->conn)
        return;
    while (e && e->no <= st->written)
        e = e->next;
    for (; e && al_httpd_stream_queued(st->conn) < AL_MCP_HTTP_AHEAD; e = e->next) {
        if (al_httpd_stream_write(st->conn, (struct al_str){e->bytes, e->n}) < 0)
            break;
        st->written = e->no;
        st->quiet = false;
    }
    finish_connection(st);
}

/* The reader is so slow that what it has not taken is about to be pushed out: it can come back for the rest.
 */
static void cut_slow_reader(struct al_mcp_hstream *st)
{
    bool full = st->n_events >= AL_MCP_HTTP_STREAM_EVENTS || st->bytes > AL_MCP_HTTP_STREAM_BYTES;
    if (!st->conn || !full || !st->first || st->first->no <= st->written)
        return;
    al_httpd_stream_abort(st->conn);
    st->conn = NULL;
}

static void answer_json(struct al_mcp_hstream *st, struct al_str message)
{
    struct al_httpd_request *r = st->json;
    st->json = NULL;
    if (r && message.n)
        al_mcp_http_reply_json(r, 200, st->introduces ? st->session->id : NULL, message);
    else if (r)
        al_httpd_reply(r, 202, NULL, message); /* the client took the request back */
}

/* What there is no room for, and what is longer than what may be kept while its reader takes no more. */
static bool is_left_out(struct al_mcp_hstream *st, struct al_str data)
{
    struct al_mcp_http *h = st->session->http;
    bool needed = !data.n || al_mcp_weight(data) == AL_MCP_NEEDED;
    if (!needed && data.n > AL_MCP_HTTP_STREAM_BYTES &&
        (!st->conn || al_httpd_stream_queued(st->conn) >= AL_MCP_HTTP_AHEAD))
        return true;
    bool held = st->held;
    st->held = true;
    bool room = al_mcp_http_room(h, 2 * data.n, needed ? AL_MCP_HTTP_ALL_BYTES : AL_MCP_HTTP_TOLD_BYTES);
    st->held = held;
    return !room;
}

static void log_left_out(struct al_mcp_http *h)
{
    if (!h->left_out)
        al_log(AL_LOG_WARN, "mcp", "clients do not read: long messages to them are left out");
    h->left_out = true;
}

void al_mcp_hstream_put(struct al_mcp_hstream *st, struct al_str data, bool answer)
{
    struct al_mcp_session *s = st->session;
    char id[AL_MCP_EVENT_ID_MAX];
    if (st->json_only) {
        if (answer)
            answer_json(st, data);
        return;
    }
    if (!answer && is_left_out(st, data)) {
        log_left_out(s->http);
        return;
    }
    autobuf struct al_buf text = AL_BUF_INIT(AL_MCP_QUEUE_MAX);
    al_mcp_http_event_id(id, st->no, st->next_event);
    if (!data.n)
        al_buf_addf(&text, "retry: %u\n", AL_MCP_HTTP_RETRY_MS);
    al_sse_write(&text, (struct al_str){"", 0}, al_str_of(id), data);
    if (al_buf_failed(&text))
        return;
    struct al_mcp_event *e = al_xmalloc(sizeof *e + text.n);
    *e = (struct al_mcp_event){.no = st->next_event++, .n = text.n, .answer = answer};
    memcpy(e->bytes, text.p, text.n);
    if (st->last)
        st->last->next = e;
    else
        st->first = e;
    st->last = e;
    st->n_events++;
    st->bytes += e->n;
    s->bytes += e->n;
    s->http->bytes += e->n;
    al_mcp_hstream_pump(st);
    cut_slow_reader(st);
    bound_stream(st);
    bound_session(s);
}

void al_mcp_hstream_connect(struct al_mcp_hstream *st, struct al_httpd_request *r)
{
    if (st->conn)
        al_httpd_stream_abort(st->conn); /* the client says that this one is gone */
    st->conn = al_mcp_http_open_sse(r, st->introduces ? st->session->id : NULL, on_closed, on_drained, st);
    st->quiet = false;
    al_mcp_hstream_pump(st);
}
