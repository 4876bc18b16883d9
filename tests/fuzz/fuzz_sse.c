/* The reader of event streams: cutting the input elsewhere may change nothing, what is given keeps its
 * limits, and what is written of it reads back the same. */
#include "rpc/sse.h"

#include "base/mem.h"

#define MAX_EVENT 300

struct seen {
    struct al_buf log;
    bool check;
};

static bool same(void *ud, const struct al_sse_event *e)
{
    const struct al_sse_event *want = ud;
    if (!al_str_eq(e->data, want->data) || !al_str_eq(e->id, want->id) || !al_str_eq(e->type, want->type))
        abort();
    return true;
}

static void never(void *ud)
{
    (void)ud;
    abort();
}

static void check_event(const struct al_sse_event *e)
{
    if (e->data.n > MAX_EVENT || !e->type.n || (e->id.n && memchr(e->id.p, 0, e->id.n)))
        abort();
    if (memchr(e->type.p, 0, e->type.n))
        return; /* is cut there by the writer */
    static const struct al_sse_sink sink = {.event = same, .too_long = never};
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20);
    al_sse_write(&out, e->type, e->id, e->data);
    struct al_sse s;
    al_sse_init(&s, MAX_EVENT);
    struct al_sse_event want = *e;
    al_sse_feed(&s, al_buf_str(&out), &sink, &want);
    al_sse_free(&s);
}

static bool on_event(void *ud, const struct al_sse_event *e)
{
    struct seen *s = ud;
    al_buf_addf(&s->log, "%zu %zu %zu:", e->type.n, e->id.n, e->data.n);
    al_buf_add_str(&s->log, e->type);
    al_buf_add_str(&s->log, e->id);
    al_buf_add_str(&s->log, e->data);
    if (s->check)
        check_event(e);
    return true;
}

static void on_too_long(void *ud)
{
    al_buf_addc(&((struct seen *)ud)->log, '!');
}

static void feed(struct al_str text, size_t step, struct seen *seen)
{
    static const struct al_sse_sink sink = {.event = on_event, .too_long = on_too_long};
    struct al_sse s;
    al_sse_init(&s, MAX_EVENT);
    for (size_t at = 0; at < text.n; at += step)
        al_sse_feed(&s, (struct al_str){text.p + at, text.n - at < step ? text.n - at : step}, &sink, seen);
    al_buf_addf(&seen->log, "%lld", (long long)s.retry_ms);
    al_sse_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct al_str text = {(const char *)data, size};
    struct seen whole = {.log = AL_BUF_INIT(64 << 20), .check = true};
    feed(text, size ? size : 1, &whole);
    for (size_t step = 1; step < 8; step += 2) {
        struct seen cut = {.log = AL_BUF_INIT(64 << 20)};
        feed(text, step, &cut);
        if (!al_str_eq(al_buf_str(&whole.log), al_buf_str(&cut.log)))
            abort();
        al_buf_free(&cut.log);
    }
    al_buf_free(&whole.log);
    return 0;
}
