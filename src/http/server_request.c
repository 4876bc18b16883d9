/* One request of the HTTP server: from the library's calls to its owner's answer. */
#include "base/mem.h"
#include "http/server_int.h"

#include <stdio.h>
#include <sys/socket.h>

/* What is too large is read on for so long, that a client which sends before it listens still gets to read
 * why. */
#define DISCARD_MAX (64u << 20)

/* Has the library look at a suspended request again, soon. */
static void wake(struct al_httpd_request *r)
{
    struct al_httpd *d = r->httpd;
    if (!r->waking) {
        r->waking = true;
        r->next_wake = d->wakes;
        d->wakes = r;
    }
    al_httpd_soon(d);
}

static void forget_wake(struct al_httpd_request *r)
{
    for (struct al_httpd_request **p = &r->httpd->wakes; r->waking && *p; p = &(*p)->next_wake) {
        if (*p == r) {
            *p = r->next_wake;
            r->waking = false;
            return;
        }
    }
}

/* Tells the caller, once, that nobody listens any more. */
static void tell_gone(struct al_httpd_request *r)
{
    bool wanted = !r->httpd->stopping;
    void (*fn)(void *) = NULL;
    void *ud = NULL;
    if (r->streaming && !r->stream.closing) {
        r->stream.closing = true;
        fn = r->stream.closed;
        ud = r->stream.ud;
    } else if (!r->answered) {
        r->answered = true;
        fn = r->gone;
        ud = r->gone_ud;
    }
    if (wanted && fn)
        fn(ud);
}

void al_httpd_cut(struct al_httpd_request *r)
{
    r->dead = true;
    if (r->suspended)
        wake(r);
    else /* the library may be waiting until the client reads: with the connection shut down, it does not */
        (void)shutdown(r->link->fd, SHUT_RDWR);
}

static void on_hangup(void *ud, int events)
{
    struct al_httpd_connection *link = ud;
    struct al_httpd_request *r = link->request;
    (void)events;
    al_watch_stop(link->hangup);
    link->hangup = NULL;
    link->hung_up = true;
    /* What is answered already is written as far as the client still reads it. */
    if (r && r->complete && (r->streaming ? !r->stream.closing : !r->answered)) {
        al_httpd_cut(r);
        tell_gone(r);
    } else {
        (void)shutdown(link->fd, SHUT_RD); /* so that the library looks once more, and finds the end */
    }
}

void al_httpd_on_connection(void *cls, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode what)
{
    struct al_httpd *d = cls;
    struct al_httpd_connection *link = *context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        link = *context = al_xcalloc(1, sizeof *link);
        link->httpd = d;
        link->fd = d->mhd->get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        link->hangup = al_watch_start(d->loop, link->fd, AL_HANGUP, on_hangup, link, NULL);
        al_httpd_came(link);
        return;
    }
    if (link) {
        al_httpd_went(link);
        al_watch_stop(link->hangup);
    }
    free(link);
    *context = NULL;
}

static void suspend(struct al_httpd_request *r)
{
    r->suspended = true;
    r->httpd->mhd->suspend_connection(r->connection);
    if (r->link->hung_up)
        al_httpd_cut(r);
}

/* --- what the library calls --- */

static struct MHD_Response *whole_response(const struct al_mhd *mhd, struct al_str body)
{
    return mhd->create_response_from_buffer(body.n, (void *)(uintptr_t)body.p, MHD_RESPMEM_MUST_COPY);
}

static void refuse(struct al_httpd_request *r, int status, const char *text)
{
    r->answered = true;
    r->status = status;
    r->answer = whole_response(r->httpd->mhd, al_str_of(text));
    if (r->answer)
        r->httpd->mhd->add_response_header(r->answer, "Content-Type", "text/plain; charset=utf-8");
}

static enum MHD_Result queue_answer(struct al_httpd_request *r)
{
    const struct al_mhd *mhd = r->httpd->mhd;
    struct MHD_Response *answer = r->answer;
    if (!answer)
        return MHD_NO;
    r->answer = NULL;
    enum MHD_Result ok = mhd->queue_response(r->connection, (unsigned)r->status, answer);
    mhd->destroy_response(answer);
    return ok;
}

struct scan {
    const char *name;
    const char *value; /* of the first */
    unsigned count;
};

static enum MHD_Result scan_header(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_n,
                                   const char *value, size_t value_n)
{
    struct scan *s = cls;
    (void)kind;
    (void)name_n;
    (void)value_n;
    if (strcasecmp(name, s->name) == 0 && s->count++ == 0)
        s->value = value ? value : "";
    return MHD_YES;
}

static struct scan scan_headers(const struct al_httpd_request *r, const char *name)
{
    struct scan s = {.name = name};
    r->httpd->mhd->get_connection_values_n(r->connection, MHD_HEADER_KIND, scan_header, &s);
    return s;
}

static struct al_httpd_request *request_new(struct al_httpd *d, struct MHD_Connection *c, const char *url,
                                            const char *method)
{
    struct al_httpd_request *r = al_xcalloc(1, sizeof *r);
    r->httpd = d;
    r->link = d->mhd->get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    r->link->request = r;
    r->connection = c;
    r->method = al_xstrdup(method);
    r->path = al_xstrdup(url);
    r->stream.request = r;
    al_buf_init(&r->body, d->max_body);
    r->next = d->all;
    if (d->all)
        d->all->prev = r;
    d->all = r;
    return r;
}

/* The head has come. What is refused now is refused before its body is read. */
static enum MHD_Result begin(struct al_httpd_request *r)
{
    if (r->link->turned_away)
        return MHD_NO;
    struct scan length = scan_headers(r, "Content-Length");
    struct scan coding = scan_headers(r, "Transfer-Encoding");
    if (length.count + coding.count > 1 || (coding.count && strcasecmp(coding.value, "chunked") != 0)) {
        refuse(r, 400, "Where the body ends must be said once: by Content-Length, or as chunked.\n");
        return queue_answer(r);
    }
    unsigned long long n = length.count ? strtoull(length.value, NULL, 10) : 0;
    if (n > r->httpd->max_body) {
        r->too_large = true;
        if (n - r->httpd->max_body > DISCARD_MAX || al_httpd_header(r, "Expect")) {
            refuse(r, 413, "The body is too large.\n");
            return queue_answer(r);
        }
    }
    if (r->httpd->ops->head)
        r->httpd->ops->head(r->httpd->ud, r);
    /* A client that asks before it sends need not send. */
    return r->answered && al_httpd_header(r, "Expect") ? queue_answer(r) : MHD_YES;
}

static void drop_body(struct al_httpd_request *r)
{
    r->httpd->bodies -= r->body.n;
    al_buf_free(&r->body);
}

static enum MHD_Result take_body(struct al_httpd_request *r, const char *p, size_t n)
{
    struct al_httpd *d = r->httpd;
    r->received += n;
    if (!r->too_large && !r->no_room && !r->answered) {
        r->no_room = n > d->max_bodies - d->bodies;
        if (!r->no_room)
            al_buf_add(&r->body, p, n);
        r->too_large = al_buf_failed(&r->body);
        d->bodies += r->no_room || r->too_large ? 0 : n;
        if (r->no_room || r->too_large)
            drop_body(r);
    }
    return r->received > d->max_body + (size_t)DISCARD_MAX ? MHD_NO : MHD_YES;
}

/* What its stream holds now. */
static void count_queue(struct al_httpd_stream *s)
{
    s->request->httpd->queued += s->queue.n - s->counted;
    s->counted = s->queue.n;
}

enum MHD_Result al_httpd_on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *upload,
                                    size_t *upload_n, void **req)
{
    struct al_httpd *d = cls;
    struct al_httpd_request *r = *req;
    (void)version;
    if (d->stopping && !(r && r->answered))
        return MHD_NO;
    if (!r) {
        r = *req = request_new(d, connection, url, method);
        return begin(r);
    }
    if (r->dead)
        return MHD_NO;
    if (*upload_n) {
        size_t n = *upload_n;
        *upload_n = 0;
        return take_body(r, upload, n);
    }
    if (!r->complete) {
        r->complete = true;
        if (r->answered)
            return queue_answer(r);
        if (r->too_large)
            refuse(r, 413, "The body is too large.\n");
        else if (r->no_room)
            refuse(r, 503, "Too many large requests are on their way.\n");
        else
            d->ops->request(d->ud, r);
        drop_body(r);
        if (r->dead || (d->stopping && !r->answered))
            return MHD_NO;
    }
    if (r->answered)
        return queue_answer(r);
    suspend(r);
    return MHD_YES;
}

void al_httpd_on_completed(void *cls, struct MHD_Connection *connection, void **req,
                           enum MHD_RequestTerminationCode why)
{
    struct al_httpd *d = cls;
    struct al_httpd_request *r = *req;
    (void)connection;
    (void)why;
    if (!r)
        return;
    *req = NULL;
    r->link->request = NULL;
    if (r->complete)
        tell_gone(r);
    forget_wake(r);
    if (r->prev)
        r->prev->next = r->next;
    else
        d->all = r->next;
    if (r->next)
        r->next->prev = r->prev;
    if (r->answer)
        d->mhd->destroy_response(r->answer);
    free(r->method);
    free(r->path);
    drop_body(r);
    al_buf_free(&r->stream.queue);
    r->stream.sent = 0;
    count_queue(&r->stream);
    d->queued -= r->answer_n;
    free(r);
}

/* --- what the caller asks and answers --- */

const char *al_httpd_method(const struct al_httpd_request *r)
{
    return r->method;
}

const char *al_httpd_path(const struct al_httpd_request *r)
{
    return r->path;
}

const char *al_httpd_header(const struct al_httpd_request *r, const char *name)
{
    return scan_headers(r, name).value;
}

unsigned al_httpd_header_count(const struct al_httpd_request *r, const char *name)
{
    return scan_headers(r, name).count;
}

struct al_str al_httpd_body(const struct al_httpd_request *r)
{
    return al_buf_str(&r->body);
}

void al_httpd_on_gone(struct al_httpd_request *r, void (*gone)(void *ud), void *ud)
{
    r->gone = gone;
    r->gone_ud = ud;
}

static void add_headers(struct al_httpd_request *r, const struct al_httpd_header *headers)
{
    for (; headers && headers->name && r->answer; headers++)
        r->httpd->mhd->add_response_header(r->answer, headers->name, headers->value);
}

/* The answer is there: the library is called to take it, unless it is it that asks right now. */
static void answer(struct al_httpd_request *r)
{
    r->answered = true;
    if (r->suspended)
        wake(r);
}

void al_httpd_reply(struct al_httpd_request *r, int status, const struct al_httpd_header *headers,
                    struct al_str body)
{
    if (r->answered)
        return;
    r->status = status;
    r->answer = whole_response(r->httpd->mhd, body);
    r->answer_n = body.n;
    r->httpd->queued += body.n;
    add_headers(r, headers);
    answer(r);
}

/* Gives the owner its chance to write more before the connection is laid to rest. */
static size_t refill(struct al_httpd_request *r)
{
    struct al_httpd_stream *s = &r->stream;
    if (s->queue.n == s->sent && s->drained && !s->closing && !r->httpd->stopping)
        s->drained(s->ud);
    return s->queue.n - s->sent;
}

static ssize_t read_stream(void *cls, uint64_t pos, char *buf, size_t max)
{
    struct al_httpd_request *r = cls;
    struct al_httpd_stream *s = &r->stream;
    (void)pos;
    if (r->dead)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    size_t n = refill(r);
    if (r->dead || (n == 0 && r->httpd->stopping && !s->closing))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (n == 0 && s->closing)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (n == 0) {
        suspend(r);
        return 0;
    }
    if (n > max)
        n = max;
    memcpy(buf, s->queue.p + s->sent, n);
    s->sent += n;
    if (s->sent == s->queue.n) {
        al_buf_free(&s->queue); /* a stream at rest holds no memory */
        s->sent = 0;
    } else if (s->sent > s->queue.n / 2) {
        al_buf_drop(&s->queue, s->sent);
        s->sent = 0;
    }
    count_queue(s);
    return (ssize_t)n;
}

struct al_httpd_stream *al_httpd_stream_open(struct al_httpd_request *r, int status,
                                             const struct al_httpd_header *headers, size_t max_queue,
                                             void (*closed)(void *ud), void *ud)
{
    struct al_httpd_stream *s = &r->stream;
    r->status = status;
    r->streaming = true;
    s->closed = closed;
    s->ud = ud;
    al_buf_init(&s->queue, max_queue);
    r->answer = r->httpd->mhd->create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_stream, r, NULL);
    add_headers(r, headers);
    answer(r);
    return s;
}

void al_httpd_stream_on_drained(struct al_httpd_stream *s, void (*drained)(void *ud))
{
    s->drained = drained;
}

size_t al_httpd_stream_queued(const struct al_httpd_stream *s)
{
    return s->queue.n - s->sent;
}

int al_httpd_stream_write(struct al_httpd_stream *s, struct al_str bytes)
{
    if (s->closing || bytes.n > s->queue.max - al_httpd_stream_queued(s))
        return -1;
    if (s->sent && bytes.n > s->queue.max - s->queue.n) {
        al_buf_drop(&s->queue, s->sent);
        s->sent = 0;
    }
    al_buf_add_str(&s->queue, bytes);
    count_queue(s);
    if (s->request->suspended)
        wake(s->request);
    return 0;
}

void al_httpd_stream_close(struct al_httpd_stream *s)
{
    s->closing = true;
    if (s->request->suspended)
        wake(s->request);
}

void al_httpd_stream_abort(struct al_httpd_stream *s)
{
    s->closing = true;
    al_buf_free(&s->queue);
    s->sent = 0;
    count_queue(s);
    al_httpd_cut(s->request);
}
