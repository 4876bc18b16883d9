/* The reader of one attempt: bytes to events, what is no event for anybody, errors within a stream, its end.
 */
#include "llm/llm_int.h"

#include "base/text.h"

#include <stdio.h>

#define MAX_TREE (64u << 20)       /* of one event's values */
#define MAX_WHOLE (192u << 20)     /* of a whole answer's */
#define MAX_WIRE ((size_t)1 << 30) /* of all that comes, noise and wrapping included */
#define MAX_WARNINGS 20

/* --- ends, faults, warnings --- */

void al_llm_reader_fail(struct al_llm_reader *r, enum al_llm_fault_kind kind, const char *fmt, ...)
{
    if (r->state == AL_LLM_FAILED)
        return;
    char text[sizeof r->fault.message];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->state = AL_LLM_FAILED;
    r->fault = (struct al_llm_fault){
        .kind = kind,
        .retry = kind != AL_LLM_FAULT_TOO_LARGE,
        .retry_after_ms = -1,
        .answered = true,
    };
    autobuf struct al_buf shown = AL_BUF_INIT(sizeof text * 8);
    al_llm_scrub(al_utf8_cut(al_str_of(text), sizeof text), r->key, sizeof text, &shown);
    struct al_str fits = al_utf8_cut(al_buf_str(&shown), sizeof r->fault.message - 1);
    memcpy(r->fault.message, fits.p, fits.n);
}

void al_llm_reader_warn(struct al_llm_reader *r, const char *fmt, ...)
{
    if (r->n_warnings >= MAX_WARNINGS || !r->sink || !r->sink->warning)
        return;
    r->n_warnings++;
    char text[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    autobuf struct al_buf shown = AL_BUF_INIT(sizeof text * 8);
    al_text_visible(&shown, al_utf8_cut(al_str_of(text), sizeof text), false);
    r->sink->warning(r->ud, al_buf_str(&shown));
}

void al_llm_reader_error(struct al_llm_reader *r, const struct al_json *error)
{
    if (r->state == AL_LLM_FAILED)
        return;
    al_llm_fault_of_error(error, r->key, &r->fault);
    r->fault.answered = true;
    r->state = AL_LLM_FAILED;
}

bool al_llm_reader_end_word(struct al_llm_reader *r, struct al_str word, const struct al_llm_end_word *known,
                            size_t n)
{
    autobuf struct al_buf shown = AL_BUF_INIT(8 * sizeof r->end_word);
    al_text_visible(&shown, al_utf8_cut(word, sizeof r->end_word), false);
    struct al_str fits = al_utf8_cut(al_buf_str(&shown), sizeof r->end_word - 1);
    memset(r->end_word, 0, sizeof r->end_word);
    memcpy(r->end_word, fits.p, fits.n);
    for (size_t i = 0; i < n; i++) {
        if (al_str_eq(known[i].word, word)) {
            r->end = known[i].end;
            return true;
        }
    }
    /* Nobody knows whether it was cut: its text is harmless, its calls are not. */
    if (al_llm_draft_has_calls(&r->draft)) {
        al_llm_reader_fail(r, AL_LLM_FAULT_MALFORMED, "the answer ended for an unknown reason, \"%s\"",
                           r->end_word);
        return false;
    }
    al_llm_reader_warn(r, "the answer ended for an unknown reason, \"%s\"", r->end_word);
    r->end = AL_LLM_END_TURN;
    return true;
}

/* --- fields of a known type --- */

static const struct al_json *member(struct al_llm_reader *r, const struct al_json *v, const char *key,
                                    enum al_json_type type)
{
    const struct al_json *m = al_json_get(v, key);
    if (!m || m->type == AL_JSON_NULL || m->type == type)
        return m && m->type == type ? m : NULL;
    al_llm_reader_warn(r, "\"%s\" is of the type %s, and left out", key, al_json_type_name(m));
    return NULL;
}

const struct al_json *al_llm_reader_text(struct al_llm_reader *r, const struct al_json *v, const char *key)
{
    return member(r, v, key, AL_JSON_STRING);
}

const struct al_json *al_llm_reader_object(struct al_llm_reader *r, const struct al_json *v, const char *key)
{
    return member(r, v, key, AL_JSON_OBJECT);
}

const struct al_json *al_llm_reader_array(struct al_llm_reader *r, const struct al_json *v, const char *key)
{
    return member(r, v, key, AL_JSON_ARRAY);
}

bool al_llm_reader_tokens(struct al_llm_reader *r, const struct al_json *v, const char *key, int64_t *ret)
{
    const struct al_json *m = al_json_get(v, key);
    if (!m || m->type == AL_JSON_NULL)
        return false;
    if (al_json_int(m, 0, INT64_C(1) << 36, ret))
        return true;
    al_llm_reader_warn(r, "\"%s\" is no number of tokens, and left out", key);
    return false;
}

/* --- strings whose surrogate pairs were cut between two deltas --- */

/* The value of the escape \uXXXX whose six bytes end at the n-th; -1: there is none. */
static int32_t escape_at_end(struct al_str raw)
{
    if (raw.n < 6 || raw.p[raw.n - 6] != '\\' || raw.p[raw.n - 5] != 'u')
        return -1;
    size_t slashes = 0;
    while (slashes < raw.n - 5 && raw.p[raw.n - 6 - slashes] == '\\')
        slashes++;
    if (slashes % 2 == 0)
        return -1;
    int32_t v = 0;
    for (size_t i = raw.n - 4; i < raw.n; i++) {
        char c = raw.p[i] | 0x20;
        v = v << 4 | (c >= 'a' ? c - 'a' + 10 : c - '0');
    }
    return v;
}

static int32_t escape_at_start(struct al_str raw)
{
    return raw.n >= 6 && raw.p[0] == '\\' ? escape_at_end((struct al_str){raw.p, 6}) : -1;
}

struct al_str al_llm_reader_string(struct al_llm_reader *r, uint16_t *half, const struct al_json *v)
{
    struct al_str s = v->str, raw = {v->raw.p + 1, v->raw.n - 2}, before = {"\xef\xbf\xbd", 3};
    if (!s.n)
        return s;
    char whole[4];
    int32_t first = escape_at_start(raw), last = escape_at_end(raw);
    bool joined = *half && first >= 0xdc00 && first <= 0xdfff;
    if (joined) {
        uint32_t cp = 0x10000 + ((uint32_t)(*half - 0xd800) << 10) + (uint32_t)(first - 0xdc00);
        before = (struct al_str){whole, al_utf8_encode(cp, whole)};
        s = (struct al_str){s.p + 3, s.n - 3}; /* the lone half, as U+FFFD */
    }
    bool had = *half != 0;
    *half = 0;
    if (last >= 0xd800 && last < 0xdc00) {
        *half = (uint16_t)last;
        s.n -= 3;
    }
    if (!had)
        return s;
    char *p = al_arena_alloc(r->arena, before.n + s.n);
    if (!p) {
        al_llm_reader_fail(r, AL_LLM_FAULT_TOO_LARGE, "an event of the answer is too large");
        return (struct al_str){"", 0};
    }
    memcpy(p, before.p, before.n);
    memcpy(p + before.n, s.p, s.n);
    return (struct al_str){p, before.n + s.n};
}

/* --- events --- */

static bool is_noise(struct al_str type, struct al_str data)
{
    static const char *const names[] = {"ping", "keepalive", "keep-alive", "heartbeat"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (al_str_is(type, names[i]))
            return true;
    }
    return (!data.n && !al_str_is(type, "error")) || (data.n && data.p[0] == ':');
}

static bool says_something(const struct al_json *error)
{
    if (!error)
        return false;
    switch (error->type) {
    case AL_JSON_NULL:
    case AL_JSON_FALSE:
        return false;
    case AL_JSON_STRING:
        return error->str.n > 0;
    case AL_JSON_ARRAY:
    case AL_JSON_OBJECT:
        return error->n > 0;
    default:
        return true;
    }
}

static bool is_error(struct al_str type, const struct al_json *v)
{
    return al_str_is(type, "error") || al_str_is(al_json_get_text(v, "type"), "error") ||
           al_str_is(al_json_get_text(v, "object"), "error") || says_something(al_json_get(v, "error"));
}

/* Some gateways wrap a lone error into an array. */
static const struct al_json *unwrap(const struct al_json *v)
{
    bool one = v->type == AL_JSON_ARRAY && v->n == 1 && v->child->type == AL_JSON_OBJECT;
    return one && says_something(al_json_get(v->child, "error")) ? v->child : v;
}

/* The text that is no JSON of an `event: error`, as a value. */
static void error_text(struct al_llm_reader *r, struct al_str text)
{
    struct al_json v = {.type = AL_JSON_STRING, .raw = text, .str = text};
    al_llm_reader_error(r, text.n ? &v : NULL);
}

static void take_value(struct al_llm_reader *r, struct al_str type, const struct al_json *v)
{
    v = unwrap(v);
    r->n_events++;
    if (is_error(type, v))
        al_llm_reader_error(r, v);
    else if (v->type == AL_JSON_OBJECT)
        r->ops->event(r, type, v);
    else
        al_llm_reader_fail(r, AL_LLM_FAULT_MALFORMED,
                           "event %zu of the answer is no JSON object but of the type %s", r->n_events,
                           al_json_type_name(v));
}

/* The parser says itself when bytes are no UTF-8: only then are they read a second time, as what can be read
 * of them. */
static int parse(struct al_llm_reader *r, struct al_str *data, struct al_buf *clean,
                 const struct al_json **ret, struct al_err *err)
{
    if (al_json_parse(r->arena, *data, ret, err) == 0)
        return 0;
    if (al_utf8_valid(*data))
        return -1;
    al_utf8_clean(clean, *data);
    *data = al_buf_str(clean);
    al_llm_reader_warn(r, "the answer is not valid UTF-8");
    al_arena_free(r->arena);
    return al_json_parse(r->arena, *data, ret, err);
}

static void take_event(struct al_llm_reader *r, struct al_str type, struct al_str data)
{
    autobuf struct al_buf clean = AL_BUF_INIT(3 * (size_t)AL_LLM_MAX_EVENT);
    autoarena struct al_arena arena = AL_ARENA_INIT(MAX_TREE);
    const struct al_json *v = NULL;
    struct al_err err;
    r->arena = &arena;
    if (parse(r, &data, &clean, &v, &err) == 0) {
        take_value(r, type, v);
    } else if (arena.used > MAX_TREE / 2) {
        al_llm_reader_fail(r, AL_LLM_FAULT_TOO_LARGE, "an event of the answer holds too many values");
    } else if (r->last) {
        al_llm_reader_warn(r, "the last event of the answer is not whole");
    } else if (al_str_is(type, "error")) {
        r->n_events++;
        error_text(r, data);
    } else {
        r->n_events++;
        al_llm_reader_fail(r, AL_LLM_FAULT_MALFORMED, "event %zu of the answer is no JSON: %s: %.*s",
                           r->n_events, err.msg, AL_FMT(al_utf8_head(data, 80)));
    }
    r->arena = NULL;
}

static bool over(const struct al_llm_reader *r)
{
    return r->state == AL_LLM_ENDED || r->state == AL_LLM_FAILED;
}

static void take_done(struct al_llm_reader *r)
{
    r->n_events++;
    if (r->state == AL_LLM_ENDING)
        r->state = AL_LLM_ENDED;
    else
        al_llm_reader_fail(r, AL_LLM_FAULT_CUT, "the answer ended before the model had ended its turn");
}

static bool on_event(void *ud, const struct al_sse_event *e)
{
    struct al_llm_reader *r = ud;
    struct al_str type = al_str_is(e->type, "message") ? AL_STR("") : e->type, data = al_str_trim(e->data);
    if (is_noise(type, data))
        return true;
    if (al_str_is(data, "[DONE]")) {
        take_done(r);
    } else if (!data.n) {
        r->n_events++;
        error_text(r, data);
    } else {
        take_event(r, type, data);
    }
    return !over(r);
}

static void on_too_long(void *ud)
{
    al_llm_reader_fail(ud, AL_LLM_FAULT_TOO_LARGE, "an event of the answer is larger than %u MiB",
                       AL_LLM_MAX_EVENT >> 20);
}

static const struct al_sse_sink events = {.event = on_event, .too_long = on_too_long};

void al_llm_reader_feed(struct al_llm_reader *r, struct al_str bytes)
{
    if (over(r))
        return;
    r->bytes += bytes.n;
    if (r->bytes > MAX_WIRE)
        al_llm_reader_fail(r, AL_LLM_FAULT_TOO_LARGE, "the answer is larger than %zu MiB", MAX_WIRE >> 20);
    else
        al_sse_feed(&r->sse, bytes, &events, r);
}

void al_llm_reader_eof(struct al_llm_reader *r)
{
    if (over(r))
        return;
    r->last = true;
    al_sse_end(&r->sse, &events, r);
    if (over(r))
        return;
    if (r->state == AL_LLM_ENDING)
        r->state = AL_LLM_ENDED;
    else if (r->n_events == 0)
        al_llm_reader_fail(r, AL_LLM_FAULT_MALFORMED, "the answer holds no event");
    else
        al_llm_reader_fail(r, AL_LLM_FAULT_CUT, "the connection ended before the model had ended its turn");
}

void al_llm_reader_whole(struct al_llm_reader *r, struct al_str body)
{
    if (over(r))
        return;
    if (al_str_starts(body, "\xef\xbb\xbf"))
        body = (struct al_str){body.p + 3, body.n - 3};
    body = al_str_trim(body);
    if (al_str_starts(body, "data:") || al_str_starts(body, "event:")) { /* events under the wrong name */
        al_llm_reader_feed(r, body);
        al_llm_reader_eof(r);
        return;
    }
    autobuf struct al_buf clean = AL_BUF_INIT(3 * (size_t)AL_LLM_MAX_ANSWER);
    r->bytes += body.n;
    if (body.n > AL_LLM_MAX_ANSWER) {
        al_llm_reader_fail(r, AL_LLM_FAULT_TOO_LARGE, "the answer is larger than %u MiB",
                           AL_LLM_MAX_ANSWER >> 20);
        return;
    }
    autoarena struct al_arena arena = AL_ARENA_INIT(MAX_WHOLE);
    const struct al_json *v = NULL;
    struct al_err err;
    r->arena = &arena;
    if (parse(r, &body, &clean, &v, &err) < 0) {
        if (arena.used > MAX_WHOLE / 2) /* it would be so the next time, too */
            al_llm_reader_fail(r, AL_LLM_FAULT_TOO_LARGE, "the answer holds too many values");
        else
            al_llm_reader_fail(r, AL_LLM_FAULT_MALFORMED, "the answer is no JSON: %s: %.*s", err.msg,
                               AL_FMT(al_utf8_head(body, 200)));
    } else {
        v = unwrap(v);
        r->n_events++;
        if (is_error(AL_STR(""), v))
            al_llm_reader_error(r, v);
        else if (v->type == AL_JSON_OBJECT)
            r->ops->whole(r, v);
    }
    r->arena = NULL;
    if (!over(r))
        al_llm_reader_fail(r, AL_LLM_FAULT_MALFORMED, "the answer is no answer of this API: %.*s",
                           AL_FMT(al_utf8_head(body, 200)));
}

/* --- its life --- */

void al_llm_reader_init(struct al_llm_reader *r, enum al_api api, const struct al_llm_sink *sink, void *ud)
{
    static const struct al_llm_reader_ops *const ops[AL_N_APIS] = {
        [AL_API_CHAT] = &al_llm_read_chat,
        [AL_API_RESPONSES] = &al_llm_read_responses,
        [AL_API_MESSAGES] = &al_llm_read_messages,
    };
    *r = (struct al_llm_reader){.api = api, .ops = ops[api], .sink = sink, .ud = ud};
    al_sse_init(&r->sse, AL_LLM_MAX_EVENT);
    r->sse.bare = true;
    al_buf_init(&r->held_text, AL_LLM_MAX_ANSWER);
    al_buf_init(&r->held_reasoning, AL_LLM_MAX_ANSWER);
    r->own = r->ops->open(r);
}

void al_llm_reader_fini(struct al_llm_reader *r)
{
    r->ops->close(r->own);
    al_sse_free(&r->sse);
    al_llm_draft_free(&r->draft);
    al_buf_free(&r->held_text);
    al_buf_free(&r->held_reasoning);
    *r = (struct al_llm_reader){.state = AL_LLM_FAILED};
}
