#include "llm_rig.h"

#include "base/mem.h"

#include <stdio.h>
#include <strings.h>

static uint64_t mono(void *ud)
{
    return ((struct rig *)ud)->mono;
}

static uint64_t boot(void *ud)
{
    struct rig *r = ud;
    return r->mono + r->slept;
}

static int64_t wall(void *ud)
{
    return ((struct rig *)ud)->wall;
}

static uint32_t chance(void *ud)
{
    return ((struct rig *)ud)->chance;
}

static void *wait_start(void *ud, uint64_t ms, void (*fn)(void *fn_ud), void *fn_ud)
{
    struct rig *r = ud;
    for (size_t i = 0; i < RIG_TIMERS; i++) {
        if (r->timers[i].on)
            continue;
        r->timers[i] = (struct rig_timer){r->mono + ms, r->order++, fn, fn_ud, true};
        return &r->timers[i];
    }
    fail();
    return NULL;
}

static void wait_stop(void *ud, void *handle)
{
    (void)ud;
    struct rig_timer *t = handle;
    if (t) {
        assert_true(t->on);
        t->on = false;
    }
}

void rig_advance(struct rig *r, uint64_t ms)
{
    uint64_t until = r->mono + ms;
    for (;;) {
        struct rig_timer *first = NULL;
        for (size_t i = 0; i < RIG_TIMERS; i++) {
            struct rig_timer *t = &r->timers[i];
            if (t->on && t->due <= until &&
                (!first || t->due < first->due || (t->due == first->due && t->order < first->order)))
                first = t;
        }
        if (!first)
            break;
        if (first->due > r->mono)
            r->mono = first->due;
        first->on = false;
        first->fn(first->ud);
    }
    r->mono = until;
}

static void *start(void *ud, const struct al_http_request *q, const struct al_http_ops *ops, void *ops_ud,
                   struct al_err *err)
{
    struct rig *r = ud;
    if (r->refuse_start) {
        al_fail(err, AL_RUNTIME_UNAVAILABLE, "no library");
        return NULL;
    }
    assert_true(r->n_http < RIG_REQUESTS);
    struct rig_http *h = &r->http[r->n_http++];
    size_t n = 0;
    while (q->headers && q->headers[n])
        n++;
    *h = (struct rig_http){.ops = ops,
                           .ud = ops_ud,
                           .open = true,
                           .url = al_xstrdup(q->url),
                           .method = al_xstrdup(q->method),
                           .body = al_xdup(q->body.p, q->body.n),
                           .headers = al_xcalloc(n + 1, sizeof(char *)),
                           .private_only = q->private_only};
    for (size_t i = 0; i < n; i++)
        h->headers[i] = al_xstrdup(q->headers[i]);
    return h;
}

static void cancel(void *ud, void *handle)
{
    (void)ud;
    struct rig_http *h = handle;
    h->open = false;
}

static const char *header(void *ud, const void *handle, const char *name)
{
    (void)ud;
    const struct rig_http *h = handle;
    for (size_t i = 0; h->answer && h->answer[i]; i += 2)
        if (strcasecmp(h->answer[i], name) == 0)
            return h->answer[i + 1];
    return NULL;
}

static bool was_sent(void *ud, const void *handle)
{
    (void)handle;
    return ((struct rig *)ud)->sent;
}

static bool is_near(void *ud, const void *handle)
{
    (void)handle;
    return ((struct rig *)ud)->near;
}

static void woke(void *ud)
{
    ((struct rig *)ud)->n_woke++;
}

void rig_facts(struct rig *r, const struct al_llm_facts *facts)
{
    char *key = r->l && r->l->key ? al_xstrdup(r->l->key) : NULL;
    al_llm_free(r->l);
    struct al_llm_opts o = {.provider = &r->provider,
                            .model = "model-1",
                            .key = key,
                            .time = &r->time,
                            .transport = &r->transport};
    if (facts)
        o.facts = *facts;
    r->l = al_llm_new(&o);
    free(key);
}

void rig_open(struct rig *r, enum al_api api, const char *base_url, const char *key)
{
    *r = (struct rig){.mono = 1000000, .wall = INT64_C(1790000000000), .sent = true};
    r->time = (struct al_llm_time){mono, boot, wait_start, wait_stop, chance, wall, r};
    r->transport = (struct al_llm_transport){start, cancel, header, was_sent, is_near, woke, r};
    al_buf_init(&r->log, 1 << 20);
    r->provider = (struct al_provider){.name = al_xstrdup("maker"),
                                       .api = api,
                                       .base_url = al_xstrdup(base_url),
                                       .temperature = -1,
                                       .origin = al_xstrdup("the test")};
    struct al_llm_opts o = {.provider = &r->provider,
                            .model = "model-1",
                            .key = key,
                            .time = &r->time,
                            .transport = &r->transport};
    r->l = al_llm_new(&o);
}

void rig_close(struct rig *r)
{
    al_llm_cancel(r->ask);
    al_llm_free(r->l);
    for (size_t i = 0; i < r->n_http; i++) {
        assert_false(r->http[i].open);
        for (char **p = r->http[i].headers; *p; p++)
            free(*p);
        free(r->http[i].headers);
        free(r->http[i].url);
        free(r->http[i].method);
        free(r->http[i].body);
    }
    for (size_t i = 0; i < RIG_TIMERS; i++)
        assert_false(r->timers[i].on);
    al_provider_fini(&r->provider);
    al_buf_free(&r->log);
}

/* --- what the asker is told --- */

static void hook(struct rig *r, const char *what)
{
    if (r->hook)
        r->hook(r, what);
}

static int sending(void *ud, unsigned attempt, struct al_str body, const char sha256[AL_SHA256_HEX],
                   struct al_err *err)
{
    struct rig *r = ud;
    (void)err;
    char is[AL_SHA256_HEX];
    al_sha256(body, is);
    assert_string_equal(is, sha256);
    al_buf_addf(&r->log, "sending %u\n", attempt);
    hook(r, "sending");
    return 0;
}

static void text(void *ud, unsigned attempt, struct al_str s)
{
    struct rig *r = ud;
    al_buf_addf(&r->log, "text %u %.*s\n", attempt, AL_FMT(s));
    hook(r, "text");
}

static void reasoning(void *ud, unsigned attempt, struct al_str s)
{
    struct rig *r = ud;
    al_buf_addf(&r->log, "reasoning %u %.*s\n", attempt, AL_FMT(s));
    hook(r, "reasoning");
}

static void retry(void *ud, const struct al_llm_retry *q)
{
    struct rig *r = ud;
    r->retry_fault = *q->fault;
    r->last_wait = q->wait_ms;
    r->last_attempt = q->attempt;
    r->last_discarded = q->discarded_chars;
    al_buf_addf(&r->log, "retry %u %s %zu\n", q->attempt, al_llm_fault_name(q->fault->kind),
                q->discarded_chars);
    hook(r, "retry");
}

static void notice(void *ud, struct al_str s)
{
    struct rig *r = ud;
    al_buf_addf(&r->log, "notice %.*s\n", AL_FMT(s));
    hook(r, "notice");
}

static void learned(void *ud, const struct al_llm_facts *facts)
{
    struct rig *r = ud;
    struct al_jw w;
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    al_jw_init(&w, &b);
    al_llm_facts_write(&w, facts);
    al_buf_addf(&r->log, "learned %.*s\n", AL_FMT(al_buf_str(&b)));
    hook(r, "learned");
}

static void done(void *ud, const struct al_llm_answer *answer, const struct al_llm_fault *fault)
{
    struct rig *r = ud;
    assert_true(!answer != !fault);
    r->n_done++;
    r->ask = NULL;
    if (fault) {
        r->fault = *fault;
        al_buf_addf(&r->log, "failed %s\n", al_llm_fault_name(fault->kind));
    } else {
        autobuf struct al_buf said = AL_BUF_INIT(1 << 16);
        al_llm_message_text(&answer->message, &said);
        snprintf(r->text, sizeof(r->text), "%.*s", AL_FMT(al_buf_str(&said)));
        r->attempts = answer->attempts;
        r->unknown = answer->attempts_unknown;
        r->input = answer->usage.known ? answer->usage.input : -1;
        r->output = answer->usage.known ? answer->usage.output : -1;
        al_buf_addf(&r->log, "answered %s %s\n", al_llm_end_name(answer->end), r->text);
    }
    hook(r, "done");
}

static const struct al_llm_ops ops = {.sending = sending,
                                      .text = text,
                                      .reasoning = reasoning,
                                      .retry = retry,
                                      .notice = notice,
                                      .learned = learned,
                                      .done = done};

void rig_ask_with(struct rig *r, const struct al_llm_request *q)
{
    r->n_done = 0;
    al_buf_clear(&r->log);
    r->ask = al_llm_ask(r->l, q, &ops, r);
    assert_int_equal(r->n_done, 0);
    assert_int_equal(r->log.n, 0);
    rig_advance(r, 0);
}

void rig_ask(struct rig *r)
{
    struct al_llm_part part = {.kind = AL_LLM_TEXT, .text = AL_STR("Hello")};
    struct al_llm_message m = {.role = AL_LLM_USER, .parts = &part, .n_parts = 1};
    struct al_llm_request q = {.messages = &m, .n_messages = 1, .system = AL_STR("Be brief.")};
    rig_ask_with(r, &q);
}

/* --- what the server does --- */

bool rig_is_open(struct rig *r)
{
    return r->n_http && r->http[r->n_http - 1].open;
}

struct rig_http *rig_now(struct rig *r)
{
    assert_true(rig_is_open(r));
    return &r->http[r->n_http - 1];
}

void rig_head(struct rig *r, int status, const char *type, const char *const *headers)
{
    struct rig_http *h = rig_now(r);
    h->answer = headers;
    struct al_http_head head = {.status = status, .url = h->url, .content_type = type, .charset = ""};
    h->ops->head(h->ud, &head);
}

void rig_bytes(struct rig *r, struct al_str bytes)
{
    struct rig_http *h = rig_now(r);
    if (!h->ops->body(h->ud, bytes) && h->open)
        rig_end(r);
}

void rig_body(struct rig *r, const char *z)
{
    rig_bytes(r, al_str_of(z));
}

void rig_end(struct rig *r)
{
    struct rig_http *h = rig_now(r);
    struct al_err err = {0};
    h->ops->done(h->ud, &err);
    h->open = false;
}

void rig_break(struct rig *r, enum al_code code, const char *words)
{
    struct rig_http *h = rig_now(r);
    struct al_err err = {0};
    al_fail(&err, code, "%s", words);
    h->ops->done(h->ud, &err);
    h->open = false;
}

void rig_refuse(struct rig *r, int status, const char *const *headers, const char *body)
{
    rig_head(r, status, body[0] == '{' ? "application/json" : "text/html", headers);
    if (*body)
        rig_body(r, body);
    if (rig_is_open(r))
        rig_end(r);
}

static void say(struct rig *r, const char *words, bool whole)
{
    char line[1024];
    switch (r->provider.api) {
    case AL_API_CHAT:
        snprintf(line, sizeof(line), "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"}}]}\n\n",
                 words);
        rig_body(r, line);
        if (whole)
            rig_body(r, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
                        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n"
                        "data: [DONE]\n\n");
        break;
    case AL_API_RESPONSES:
        snprintf(line, sizeof(line),
                 "data: "
                 "{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\","
                 "\"id\":\"m1\",\"role\":\"assistant\",\"content\":[]}}\n\n"
                 "data: {\"type\":\"response.output_text.delta\",\"item_id\":\"m1\",\"output_index\":0,"
                 "\"content_index\":0,\"delta\":\"%s\"}\n\n",
                 words);
        rig_body(r, line);
        snprintf(
            line, sizeof(line),
            "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\","
            "\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"%s\"}]}}"
            "\n\n"
            "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"usage\":{"
            "\"input_tokens\":5,\"output_tokens\":2}}}\n\n",
            words);
        if (whole)
            rig_body(r, line);
        break;
    case AL_API_MESSAGES:
        snprintf(
            line, sizeof(line),
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{"
            "\"input_tokens\":5,\"output_tokens\":1}}}\n\n"
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
            "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
            "\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\n",
            words);
        rig_body(r, line);
        if (whole)
            rig_body(r, "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
                        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
                        "\"usage\":{\"output_tokens\":2}}\n\n"
                        "data: {\"type\":\"message_stop\"}\n\n");
        break;
    }
}

void rig_begin(struct rig *r)
{
    rig_head(r, 200, "text/event-stream", NULL);
    say(r, "Hel", false);
}

void rig_answer(struct rig *r, const char *words)
{
    rig_head(r, 200, "text/event-stream", NULL);
    say(r, words, true);
    rig_advance(r, 0);
}
