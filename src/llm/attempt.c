/* One attempt: an HTTP request, the reader that it feeds, and the limits of time, by the clock that was
 * given. */
#include "base/log.h"
#include "base/mem.h"
#include "llm/fault_int.h"

#include <stdio.h>

#define FIRST_BYTE_MS 300000
#define IDLE_MS 120000
#define AFTER_FINISH_MS 2000 /* chat: for what follows the finish reason */
#define CONNECT_MS 10000
#define MAX_BEGINNING 4096 /* of a stream, kept to be shown when it turns out to be none */
#define MAX_ERROR_BODY (64u << 10)

enum mode {
    NO_HEAD,
    STREAM,
    WHOLE,  /* one JSON text */
    UNSURE, /* 200 without a type: the first byte says it */
    OTHER,  /* an error, or no answer of a model */
};

struct al_llm_attempt {
    struct al_llm *l;
    const struct al_llm_attempt_ops *ops;
    void *ud;
    void *http; /* NULL: over */
    void *timer;
    struct al_llm_reader reader;
    enum mode mode;
    int status;
    char type[128], request_id[80];
    struct al_buf body; /* of WHOLE and OTHER; of STREAM its beginning */
    uint64_t started_ms, last_byte_ms, ending_ms, ttft_ms;
    bool any_byte; /* of the body */
    bool sent;     /* the request has gone out, as far as is known */
    bool looked;   /* once more, after a limit was over */
    bool no_first; /* no limit to the first byte */
    bool over;     /* the result stands: only to be told */
    bool cancelled;
    unsigned depth; /* of calls that are running here: freed when none is */
    struct al_llm_fault fault;
    bool failed;
};

static void enter(struct al_llm_attempt *a)
{
    a->depth++;
}

static void leave(struct al_llm_attempt *a)
{
    if (--a->depth > 0 || !a->cancelled)
        return;
    al_llm_reader_fini(&a->reader);
    al_buf_free(&a->body);
    free(a);
}

static uint64_t now(const struct al_llm_attempt *a)
{
    return a->l->time.mono_ms(a->l->time.ud);
}

static void stop_timer(struct al_llm_attempt *a)
{
    if (a->timer)
        a->l->time.unwait(a->l->time.ud, a->timer);
    a->timer = NULL;
}

static void stop_http(struct al_llm_attempt *a)
{
    if (a->http)
        a->l->transport.cancel(a->l->transport.ud, a->http);
    a->http = NULL;
}

void al_llm_attempt_cancel(struct al_llm_attempt *a)
{
    if (!a || a->cancelled)
        return;
    enter(a);
    a->cancelled = true;
    stop_timer(a);
    stop_http(a);
    leave(a);
}

uint64_t al_llm_attempt_ttft(const struct al_llm_attempt *a)
{
    return a->ttft_ms;
}

const char *al_llm_attempt_request_id(const struct al_llm_attempt *a)
{
    return a->request_id;
}

static const char *header_of(void *ud, const char *name)
{
    struct al_llm_attempt *a = ud;
    return a->http ? a->l->transport.header(a->l->transport.ud, a->http, name) : NULL;
}

/* What a reader says knows nothing of the key, and not which of its faults are worth another attempt. */
static void take_reader_fault(struct al_llm_attempt *a)
{
    struct al_llm_fault *f = &a->fault;
    *f = a->reader.fault;
    bool ours =
        f->kind == AL_LLM_FAULT_CUT || f->kind == AL_LLM_FAULT_MALFORMED || f->kind == AL_LLM_FAULT_TOO_LARGE;
    if (ours) {
        f->retry = f->kind != AL_LLM_FAULT_TOO_LARGE;
        f->retry_after_ms = -1;
    }
    struct al_llm_fault copy = *f;
    al_llm_fault_say(f, al_str_of(copy.message), a->l->key);
    f->answered = true;
}

static void fault_of_body(struct al_llm_attempt *a)
{
    al_llm_fault_of_answer(a->status, al_str_of(a->type), al_buf_str(&a->body), header_of, a, a->l->key,
                           &a->fault);
    const char *date = header_of(a, "date");
    int64_t wall = a->l->time.wall_ms(a->l->time.ud);
    if (date)
        al_llm_date(date, &wall);
    a->fault.retry_after_ms =
        al_llm_retry_after(header_of(a, "retry-after-ms"), header_of(a, "retry-after"), wall);
}

/* Keys that go in headers of the provider's own ("api-key: …") are no more for people than the other. */
static void scrub_headers(const struct al_provider *p, struct al_llm_fault *f)
{
    static const char *const names[] = {"key", "token", "secret", "auth", "password", "cookie"};
    for (char **h = p->headers; h && *h; h++) {
        struct al_str name = {*h, strcspn(*h, ":")};
        bool secret = false;
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
            secret = secret || al_llm_says(name, names[i]);
        const char *value = *h + name.n + strspn(*h + name.n, ": \t");
        struct al_llm_fault copy = *f;
        if (secret && *value)
            al_llm_fault_say(f, al_str_of(copy.message), value);
    }
}

/* Whatever it was, it is told once, and last. */
static void tell(struct al_llm_attempt *a)
{
    stop_timer(a);
    stop_http(a);
    if (a->failed)
        scrub_headers(&a->l->provider, &a->fault);
    if (a->failed && a->request_id[0] && !a->fault.request_id[0])
        snprintf(a->fault.request_id, sizeof(a->fault.request_id), "%s", a->request_id);
    if (a->failed && !a->fault.status && a->status >= 300)
        a->fault.status = a->status;
    if (!a->cancelled)
        a->ops->done(a->ud, &a->reader, a->failed ? &a->fault : NULL);
    a->cancelled = true;
}

static void on_over(void *ud)
{
    struct al_llm_attempt *a = ud;
    a->timer = NULL;
    enter(a);
    tell(a);
    leave(a);
}

/* In the next turn of the loop: what ends by itself until then leaves a connection that can be used again. */
static void end_soon(struct al_llm_attempt *a)
{
    if (a->over || a->cancelled)
        return;
    a->over = true;
    stop_timer(a);
    a->timer = a->l->time.wait(a->l->time.ud, 0, on_over, a);
}

static void arm(struct al_llm_attempt *a);
static void on_time(void *ud);

static void fail_time(struct al_llm_attempt *a, uint64_t limit_ms)
{
    char host[AL_LLM_HOST_MAX];
    al_llm_host(a->l->provider.base_url, host);
    a->sent = !a->l->transport.sent || !a->http || a->l->transport.sent(a->l->transport.ud, a->http);
    a->failed = true;
    a->fault = (struct al_llm_fault){.kind = AL_LLM_FAULT_TIMEOUT, .retry = true, .retry_after_ms = -1};
    a->fault.answered = a->sent;
    snprintf(a->fault.message, sizeof(a->fault.message),
             a->any_byte ? "%s sent nothing for %.3g s" : "%s gave no answer within %.3g s", host,
             (double)limit_ms / 1000);
    tell(a);
}

static uint64_t first_limit(const struct al_llm_attempt *a)
{
    return a->l->provider.first_byte_ms ? a->l->provider.first_byte_ms : FIRST_BYTE_MS;
}

static uint64_t idle_limit(const struct al_llm_attempt *a)
{
    return a->l->provider.idle_ms ? a->l->provider.idle_ms : IDLE_MS;
}

/* A name may have led to a neighbour: known only once there is a connection. */
static bool is_near(struct al_llm_attempt *a)
{
    if (!a->l->provider.first_byte_ms && a->http && a->l->transport.near &&
        a->l->transport.near(a->l->transport.ud, a->http))
        a->no_first = true;
    return a->no_first;
}

/* A limit is over by the clock. Where this process did not run for a while, bytes may have come that nobody
 * has looked at: the loop reads once more before they count as missing. */
static bool looked_again(struct al_llm_attempt *a)
{
    if (a->looked)
        return true;
    a->looked = true;
    a->timer = a->l->time.wait(a->l->time.ud, 1, on_time, a);
    return false;
}

static void on_time(void *ud)
{
    struct al_llm_attempt *a = ud;
    a->timer = NULL;
    enter(a);
    uint64_t t = now(a);
    bool late = a->any_byte ? t - a->last_byte_ms >= idle_limit(a)
                            : t - a->started_ms >= first_limit(a) && !is_near(a);
    if (a->reader.state == AL_LLM_ENDING && t - a->ending_ms >= AFTER_FINISH_MS) {
        al_llm_reader_eof(&a->reader);
        if (a->reader.state != AL_LLM_ENDED) {
            a->failed = true;
            take_reader_fault(a);
        }
        tell(a);
    } else if (late) {
        if (looked_again(a))
            fail_time(a, a->any_byte ? idle_limit(a) : first_limit(a));
    } else {
        arm(a);
    }
    leave(a);
}

static void arm(struct al_llm_attempt *a)
{
    stop_timer(a);
    if (a->over || a->cancelled)
        return;
    uint64_t t = now(a), due;
    if (a->reader.state == AL_LLM_ENDING)
        due = a->ending_ms + AFTER_FINISH_MS;
    else if (a->any_byte)
        due = a->last_byte_ms + idle_limit(a);
    else if (a->no_first)
        return;
    else
        due = a->started_ms + first_limit(a);
    a->timer = a->l->time.wait(a->l->time.ud, due > t ? due - t : 0, on_time, a);
}

static void on_head(void *ud, const struct al_http_head *head)
{
    struct al_llm_attempt *a = ud;
    struct al_str type = al_str_of(head->content_type);
    a->status = head->status;
    snprintf(a->type, sizeof(a->type), "%s", head->content_type ? head->content_type : "");
    bool ok = head->status >= 200 && head->status < 300;
    if (ok && al_str_is(type, "text/event-stream"))
        a->mode = STREAM;
    else if (ok && (al_str_is(type, "application/json") || al_str_ends(type, "+json")))
        a->mode = WHOLE;
    else
        a->mode = ok && !type.n ? UNSURE : OTHER;
    a->body.max = a->mode == WHOLE || a->mode == UNSURE ? AL_LLM_MAX_ANSWER : MAX_ERROR_BODY;
    static const char *const ids[] = {"request-id", "x-request-id", "x-generation-id"};
    for (size_t i = 0; !a->request_id[0] && i < sizeof(ids) / sizeof(*ids); i++) {
        const char *id = header_of(a, ids[i]);
        autobuf struct al_buf clean = AL_BUF_INIT(1024);
        al_llm_scrub(al_str_of(id), a->l->key, sizeof(a->request_id), &clean);
        if (clean.n < sizeof(a->request_id))
            snprintf(a->request_id, sizeof(a->request_id), "%.*s", AL_FMT(al_buf_str(&clean)));
    }
}

static void keep(struct al_llm_attempt *a, struct al_str bytes, size_t max)
{
    size_t room = a->body.n < max ? max - a->body.n : 0;
    bytes.n = bytes.n < room ? bytes.n : room;
    al_buf_add_str(&a->body, bytes);
}

static void feed(struct al_llm_attempt *a, struct al_str bytes)
{
    if (!a->reader.n_events)
        keep(a, bytes, MAX_BEGINNING);
    enum al_llm_reading before = a->reader.state;
    al_llm_reader_feed(&a->reader, bytes);
    if (a->cancelled)
        return;
    uint64_t t = now(a);
    if (a->reader.first_token && !a->ttft_ms)
        a->ttft_ms = t - a->started_ms ? t - a->started_ms : 1;
    if (a->reader.state == AL_LLM_ENDED || a->reader.state == AL_LLM_FAILED) {
        a->failed = a->reader.state == AL_LLM_FAILED;
        if (a->failed)
            take_reader_fault(a);
        end_soon(a);
    } else if (a->reader.state == AL_LLM_ENDING && before != AL_LLM_ENDING) {
        a->ending_ms = t;
        arm(a);
    }
}

static bool on_body(void *ud, struct al_str bytes)
{
    struct al_llm_attempt *a = ud;
    if (a->over || a->cancelled)
        return !a->cancelled; /* what follows the end is read only as far as it is there already */
    enter(a);
    a->last_byte_ms = now(a);
    a->looked = false;
    if (!a->any_byte && bytes.n) {
        a->any_byte = true;
        if (a->mode == UNSURE)
            a->mode = bytes.p[0] == '{' || bytes.p[0] == '[' ? WHOLE : bytes.p[0] == '<' ? OTHER : STREAM;
        arm(a);
    }
    if (a->mode == STREAM)
        feed(a, bytes);
    else if (a->mode == WHOLE)
        al_buf_add_str(&a->body, bytes);
    else
        keep(a, bytes, MAX_ERROR_BODY);
    bool more =
        !a->cancelled && !al_buf_failed(&a->body) && !(a->mode == OTHER && a->body.n >= MAX_ERROR_BODY);
    leave(a);
    return more;
}

static void end_whole(struct al_llm_attempt *a)
{
    if (al_buf_failed(&a->body)) {
        a->failed = true;
        a->fault =
            (struct al_llm_fault){.kind = AL_LLM_FAULT_TOO_LARGE, .retry_after_ms = -1, .answered = true};
        snprintf(a->fault.message, sizeof(a->fault.message), "the answer is over %u MiB",
                 AL_LLM_MAX_ANSWER >> 20);
        return;
    }
    al_llm_reader_whole(&a->reader, al_buf_str(&a->body));
    if (a->cancelled || a->reader.state == AL_LLM_ENDED)
        return;
    a->failed = true;
    if (a->reader.state == AL_LLM_FAILED)
        take_reader_fault(a);
    if (a->reader.state != AL_LLM_FAILED || a->fault.kind == AL_LLM_FAULT_MALFORMED)
        fault_of_body(a); /* an error object of some shape, or shown as it is */
}

static void end_stream(struct al_llm_attempt *a, const struct al_err *err)
{
    al_llm_reader_eof(&a->reader);
    if (a->cancelled || a->reader.state == AL_LLM_ENDED)
        return;
    a->failed = true;
    take_reader_fault(a);
    if (a->fault.kind == AL_LLM_FAULT_TOO_LARGE)
        return;
    if (err->code == AL_OK && !a->reader.n_events)
        fault_of_body(a); /* no stream at all */
    else if (err->code != AL_OK && (a->fault.kind == AL_LLM_FAULT_CUT || !a->reader.n_events))
        al_llm_fault_of_transport(err, true, &a->fault);
}

static void on_done(void *ud, const struct al_err *err)
{
    struct al_llm_attempt *a = ud;
    if (a->cancelled)
        return;
    enter(a);
    if (a->over) {
        /* stands already */
    } else if (a->mode == STREAM || (a->mode == UNSURE && err->code == AL_OK)) {
        end_stream(a, err);
    } else if (a->mode == WHOLE && err->code == AL_OK) {
        end_whole(a);
    } else if (a->mode == OTHER && (err->code == AL_OK || a->status >= 300)) {
        a->failed = true;
        fault_of_body(a);
    } else {
        a->failed = true;
        al_llm_fault_of_transport(err, a->any_byte, &a->fault);
        a->fault.answered = a->fault.answered || a->mode != NO_HEAD || !a->l->transport.sent ||
                            a->l->transport.sent(a->l->transport.ud, a->http);
    }
    a->http = NULL; /* gone by itself */
    if (!a->cancelled)
        tell(a);
    leave(a);
}

static const struct al_http_ops http_ops = {.head = on_head, .body = on_body, .done = on_done};

static void on_warning(void *ud, struct al_str text)
{
    struct al_llm_attempt *a = ud;
    autobuf struct al_buf line = AL_BUF_INIT(4096);
    al_llm_scrub(text, a->l->key, 400, &line);
    al_log(AL_LOG_WARN, "llm", "%s: %.*s", a->l->provider.name, AL_FMT(al_buf_str(&line)));
    if (a->ops->sink.warning)
        a->ops->sink.warning(a->ud, al_buf_str(&line));
}

static void on_text(void *ud, struct al_str text)
{
    struct al_llm_attempt *a = ud;
    if (!a->cancelled && a->ops->sink.text)
        a->ops->sink.text(a->ud, text);
}

static void on_reasoning(void *ud, struct al_str text)
{
    struct al_llm_attempt *a = ud;
    if (!a->cancelled && a->ops->sink.reasoning)
        a->ops->sink.reasoning(a->ud, text);
}

static const struct al_llm_sink sink = {.text = on_text, .reasoning = on_reasoning, .warning = on_warning};

struct al_llm_attempt *al_llm_attempt_start(struct al_llm *l, const char *url, const char *const *headers,
                                            struct al_str body, const struct al_llm_attempt_ops *ops,
                                            void *ud)
{
    struct al_llm_attempt *a = al_xcalloc(1, sizeof(*a));
    char host[AL_LLM_HOST_MAX];
    struct al_err err = {0};
    a->l = l;
    a->ops = ops;
    a->ud = ud;
    al_buf_init(&a->body, MAX_ERROR_BODY);
    al_llm_reader_init(&a->reader, l->provider.api, &sink, a);
    a->reader.key = l->key;
    a->started_ms = a->last_byte_ms = now(a);
    al_llm_host(url, host);
    a->no_first = !l->provider.first_byte_ms && al_llm_place(host) == AL_LLM_HERE;
    struct al_http_request r = {.method = "POST",
                                .url = url,
                                .headers = headers,
                                .body = body,
                                .connect_ms = CONNECT_MS,
                                .once = true};
    if (al_llm_guard(l, url, &r, &err) == 0)
        a->http = l->transport.start(l->transport.ud, &r, &http_ops, a, &err);
    if (a->http) {
        arm(a);
    } else {
        a->failed = true;
        al_llm_fault_of_transport(&err, false, &a->fault);
        end_soon(a);
    }
    return a;
}
