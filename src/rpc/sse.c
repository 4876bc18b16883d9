#include "rpc/sse.h"

#define MAX_ID 4096
#define MAX_TYPE 256
#define KEEP (64 * 1024)
#define FIELD_ROOM \
    16 /* of a line, beside its value: the longest field name, a colon, a space, a byte order mark */

void al_sse_init(struct al_sse *s, size_t max_event)
{
    *s = (struct al_sse){.max_event = max_event, .retry_ms = -1};
    size_t longest = max_event > MAX_ID ? max_event : MAX_ID;
    al_buf_init(&s->line, longest + FIELD_ROOM);
    al_buf_init(&s->data, max_event);
    al_buf_init(&s->type, MAX_TYPE);
    al_buf_init(&s->id, MAX_ID);
}

void al_sse_free(struct al_sse *s)
{
    al_buf_free(&s->line);
    al_buf_free(&s->data);
    al_buf_free(&s->type);
    al_buf_free(&s->id);
}

/* What follows is forgotten up to the blank line; told at once, since that line may never come. */
static void skip_event(struct al_sse *s, const struct al_sse_sink *sink, void *ud)
{
    if (s->skipping)
        return;
    s->skipping = true;
    al_buf_free(&s->data);
    sink->too_long(ud);
}

static void take_retry(struct al_sse *s, struct al_str value)
{
    int64_t ms = 0;
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] < '0' || value.p[i] > '9')
            return;
        if (ms < INT32_MAX)
            ms = ms * 10 + (value.p[i] - '0');
    }
    if (value.n)
        s->retry_ms = ms < INT32_MAX ? ms : INT32_MAX;
}

static void take_data(struct al_sse *s, struct al_str value, const struct al_sse_sink *sink, void *ud)
{
    if (s->skipping)
        return;
    if (s->has_data)
        al_buf_addc(&s->data, '\n');
    al_buf_add_str(&s->data, value);
    s->has_data = true;
    if (al_buf_failed(&s->data))
        skip_event(s, sink, ud);
}

static void take_id(struct al_sse *s, struct al_str value)
{
    /* One that could not be sent back whole is as none: the stream goes on from the one before. */
    if (value.n > MAX_ID || (value.n && memchr(value.p, 0, value.n)))
        return;
    al_buf_clear(&s->id);
    al_buf_add_str(&s->id, value);
    s->has_id = true;
}

static void take_type(struct al_sse *s, struct al_str value, const struct al_sse_sink *sink, void *ud)
{
    al_buf_clear(&s->type);
    al_buf_add_str(&s->type, value);
    if (!al_buf_failed(&s->type))
        return;
    if (s->bare)
        al_buf_clear(&s->type);
    else
        skip_event(s, sink, ud);
}

static void take_field(struct al_sse *s, struct al_str line, const struct al_sse_sink *sink, void *ud)
{
    const char *colon = memchr(line.p, ':', line.n);
    struct al_str name = {line.p, colon ? (size_t)(colon - line.p) : line.n};
    struct al_str value = {line.p + line.n, 0};
    if (colon) {
        value = (struct al_str){colon + 1, line.n - name.n - 1};
        if (value.n && value.p[0] == ' ')
            value = (struct al_str){value.p + 1, value.n - 1};
    }
    if (al_str_is(name, "data"))
        take_data(s, value, sink, ud);
    else if (al_str_is(name, "event"))
        take_type(s, value, sink, ud);
    else if (al_str_is(name, "id"))
        take_id(s, value);
    else if (al_str_is(name, "retry"))
        take_retry(s, value);
}

/* A large event leaves no large buffers behind it. */
static void empty(struct al_buf *b)
{
    if (b->cap > KEEP)
        al_buf_free(b);
    else
        al_buf_clear(b);
}

/* The blank line. After false nothing of s is touched: its owner may have freed it. */
static bool end_event(struct al_sse *s, const struct al_sse_sink *sink, void *ud)
{
    bool give = !s->skipping && (s->has_data || s->has_id || (s->bare && s->type.n));
    struct al_sse_event event = {
        .type = s->type.n ? al_buf_str(&s->type) : AL_STR("message"),
        .data = al_buf_str(&s->data),
        .id = al_buf_str(&s->id),
    };
    if (give && !sink->event(ud, &event))
        return false;
    s->skipping = s->has_data = s->has_id = false;
    empty(&s->data);
    al_buf_clear(&s->type);
    return true;
}

static bool end_line(struct al_sse *s, const struct al_sse_sink *sink, void *ud)
{
    struct al_str line = al_buf_str(&s->line);
    if (!s->begun && al_str_starts(line, "\xef\xbb\xbf"))
        line = (struct al_str){line.p + 3, line.n - 3};
    s->begun = true;
    if (!s->long_line && !line.n && !end_event(s, sink, ud))
        return false;
    if (!s->long_line && line.n)
        take_field(s, line, sink, ud);
    s->long_line = false;
    empty(&s->line);
    return true;
}

static void add_to_line(struct al_sse *s, struct al_str part, const struct al_sse_sink *sink, void *ud)
{
    if (s->long_line)
        return;
    if (part.n <= s->line.max - s->line.n) {
        al_buf_add_str(&s->line, part);
        return;
    }
    char first = s->line.n ? s->line.p[0] : part.p[0];
    s->long_line = true;
    al_buf_free(&s->line);
    if (first != ':') /* a comment may be as long as it likes */
        skip_event(s, sink, ud);
}

void al_sse_feed(struct al_sse *s, struct al_str bytes, const struct al_sse_sink *sink, void *ud)
{
    const char *p = bytes.p, *end = p + bytes.n;
    while (p < end) {
        if (s->after_cr && *p == '\n')
            p++;
        s->after_cr = false;
        const char *q = p;
        while (q < end && *q != '\n' && *q != '\r')
            q++;
        add_to_line(s, (struct al_str){p, (size_t)(q - p)}, sink, ud);
        if (q == end)
            return;
        s->after_cr = *q == '\r';
        p = q + 1;
        if (!end_line(s, sink, ud))
            return;
    }
}

void al_sse_end(struct al_sse *s, const struct al_sse_sink *sink, void *ud)
{
    /* Without a line that has begun, this would be the blank line itself. */
    if ((s->line.n || s->long_line) && !end_line(s, sink, ud))
        return;
    (void)end_event(s, sink, ud);
}

/* A name or an id, up to what would end its line. */
static void write_field(struct al_buf *out, const char *name, struct al_str value)
{
    size_t n = 0;
    while (n < value.n && value.p[n] != '\n' && value.p[n] != '\r' && value.p[n] != 0)
        n++;
    if (n) {
        al_buf_adds(out, name);
        al_buf_add(out, value.p, n);
        al_buf_addc(out, '\n');
    }
}

void al_sse_write(struct al_buf *out, struct al_str type, struct al_str id, struct al_str data)
{
    write_field(out, "event: ", type);
    write_field(out, "id: ", id);
    size_t at = 0;
    do {
        size_t n = at;
        while (n < data.n && data.p[n] != '\n' && data.p[n] != '\r')
            n++;
        al_buf_adds(out, "data: ");
        al_buf_add(out, data.p + at, n - at);
        al_buf_addc(out, '\n');
        if (n == data.n)
            break;
        at = n + (data.p[n] == '\r' && n + 1 < data.n && data.p[n + 1] == '\n' ? 2 : 1);
    } while (true);
    al_buf_addc(out, '\n');
}
