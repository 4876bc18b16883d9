/*
 * One life of a server: which protocol it speaks, and what its messages are. The newest is tried first: a
 * server of the modern era answers server/discover, an older one refuses it, or says nothing; then comes
 * initialize (2026-07-28, basic/versioning, Backward Compatibility).
 */
#include "base/mem.h"
#include "base/text.h"
#include "upstream/edges.h"
#include "upstream/params.h"
#include "upstream/upstream_int.h"

#include <stdio.h>

#define NEWEST_LEGACY "2025-11-25"
#define MAX_CAPABILITIES (64u << 10)
#define MAX_INFO (16u << 10)
#define MAX_INSTRUCTIONS (16u << 10)
/* For the values of one message, beside its text: what takes more is not read. */
#define MESSAGE_ARENA (48u << 20)
/* Whoever is reached over a network may be slow to answer, and says no when it does not know a question. */
#define HTTP_PATIENCE 8
#define CLOSE_MS 2000
/* Notifications of one server: so many at once, then so many a millisecond. With more it is read no further
 * for a while. */
#define MAX_NOTES 20000
#define NOTES_PER_MS 2
#define NOTES_PAUSE_MS 1000

static const char *const legacy_versions[] = {NEWEST_LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"};

enum step {
    OPENING,
    PROBING,      /* server/discover is under way */
    INITIALIZING, /* initialize is */
    READY,
    ENDING, /* by us */
};

struct al_conn {
    struct al_upstream *s;
    struct al_upstreams *owner;
    struct al_transport *t;
    enum step step;
    bool modern, probed, probed_again;
    char version[16]; /* agreed, or tried */
    uint64_t probe_id, init_id;
    struct al_timer *deadline, *patience;
    struct al_timer *rest;     /* nothing is read until then */
    uint64_t note_ms, n_notes; /* the last notification; how many may come now */
    struct al_question *questions;
    struct al_conn *next, **link; /* of al_upstreams.dying */
};

static void initialize(struct al_conn *c);
static void probe(struct al_conn *c);

static const char *name_of(const struct al_conn *c)
{
    return c->s->config->name;
}

bool al_conn_modern(const struct al_conn *c)
{
    return c->modern;
}

bool al_conn_takes_tool(const struct al_conn *c, const struct al_json *tool, struct al_buf *why)
{
    return !c || !c->modern || !c->t->ops->takes_tool || c->t->ops->takes_tool(tool, why);
}

struct al_question **al_conn_questions(struct al_conn *c)
{
    return &c->questions;
}

static bool is_legacy(struct al_str version)
{
    for (size_t i = 0; i < sizeof(legacy_versions) / sizeof(*legacy_versions); i++)
        if (al_str_is(version, legacy_versions[i]))
            return true;
    return false;
}

/* --- the end --- */

static void stop_timers(struct al_conn *c)
{
    al_timer_stop(c->deadline);
    al_timer_stop(c->patience);
    c->deadline = c->patience = NULL;
}

static void read_on(void *ud)
{
    struct al_conn *c = ud;
    al_timer_stop(c->rest);
    c->rest = NULL;
    c->t->ops->pause(c->t, false);
}

/* Each costs it little to write and us more to read. */
static void count_note(struct al_conn *c)
{
    uint64_t now = al_mono_ms();
    c->n_notes += (now - c->note_ms) * NOTES_PER_MS;
    c->n_notes = c->n_notes < MAX_NOTES ? c->n_notes : MAX_NOTES;
    c->note_ms = now;
    if (c->n_notes > 0) {
        c->n_notes--;
    } else if (!c->rest && c->t->ops->pause) {
        c->rest = al_timer_start(al_upstream_loop(c->s), NOTES_PAUSE_MS, read_on, c);
        c->t->ops->pause(c->t, true);
    }
}

void al_conn_free(struct al_conn *c)
{
    if (!c)
        return;
    if (c->link) {
        *c->link = c->next;
        if (c->next)
            c->next->link = c->link;
    }
    al_questions_drop(c);
    stop_timers(c);
    al_timer_stop(c->rest);
    c->t->ops->free(c->t);
    free(c);
}

void al_conn_close(struct al_conn *c, uint64_t grace_ms)
{
    al_questions_drop(c);
    stop_timers(c);
    c->step = ENDING;
    if (c->rest) /* what it still writes must not hold it up */
        read_on(c);
    c->next = c->owner->dying;
    c->link = &c->owner->dying;
    if (c->next)
        c->next->link = &c->next;
    c->owner->dying = c;
    c->t->ops->close(c->t, grace_ms);
}

void al_conn_hurry(struct al_conn *c, uint64_t grace_ms)
{
    c->t->ops->close(c->t, grace_ms);
}

struct al_conn *al_conn_next(const struct al_conn *c)
{
    return c->next;
}

/* It cannot be used: the reason is told at once, its process ends in the background. */
static void give_up(struct al_conn *c, const struct al_err *why)
{
    struct al_upstream *s = c->s;
    al_conn_close(c, CLOSE_MS);
    al_upstream_conn_ended(s, false, why);
}

static void on_ended(void *ud, const struct al_err *err)
{
    struct al_conn *c = ud;
    struct al_upstream *s = c->s;
    struct al_upstreams *u = c->owner;
    bool ours = c->step == ENDING;
    bool while_probing = !s->config->http && c->probed && (c->step == PROBING || c->step == INITIALIZING);
    struct al_err why = *err;
    al_conn_free(c);
    if (!ours)
        al_upstream_conn_ended(s, while_probing, &why);
    al_upstreams_check_stopped(u);
}

/* --- sending --- */

/* message is written without line end, its line ends become spaces. */
static int transmit(struct al_conn *c, struct al_buf *message, struct al_transport_message *m,
                    struct al_err *err)
{
    al_rpc_line(message);
    if (al_buf_failed(message)) {
        al_fail(err, AL_TOOL_INPUT_INVALID, "a message to the MCP server %s is over %u MiB", name_of(c),
                AL_UPSTREAM_MAX_MESSAGE >> 20);
        return al_hint(err, "send less at once");
    }
    m->json = (struct al_str){message->p, message->n - 1};
    m->version = c->version;
    m->modern = c->modern;
    return c->t->ops->send(c->t, m, err);
}

static struct al_str id_text(uint64_t id, char out[24])
{
    snprintf(out, 24, "%llu", (unsigned long long)id);
    return al_str_of(out);
}

static int send_request(struct al_conn *c, uint64_t id, const char *method, struct al_str params,
                        struct al_transport_message *m, struct al_err *err)
{
    autobuf struct al_buf out = AL_BUF_INIT(AL_UPSTREAM_MAX_MESSAGE);
    char number[24];
    al_rpc_request(&out, id_text(id, number), method, params);
    m->id = id;
    m->method = method;
    return transmit(c, &out, m, err);
}

static bool names_something(const char *method)
{
    return strcmp(method, "tools/call") == 0 || strcmp(method, "prompts/get") == 0 ||
           strcmp(method, "resources/read") == 0;
}

int al_conn_send(struct al_conn *c, struct al_upstream_call *call, struct al_err *err)
{
    const struct al_upstream_request *r = &call->r;
    bool relay = c->owner->relay;
    struct al_params p = {
        .params = r->params,
        .progress_token = r->progress ? call->id : 0,
        .modern = c->modern,
        .keep_capabilities = relay,
        .log_level = r->log_level,
    };
    if (relay && r->question)
        p.capabilities = AL_STR("{\"sampling\":{},\"elicitation\":{\"form\":{},\"url\":{}},\"roots\":{}}");
    autobuf struct al_buf params = AL_BUF_INIT(AL_UPSTREAM_MAX_MESSAGE);
    autobuf struct al_buf name = AL_BUF_INIT(64u << 10);
    al_params_write(&params, &p);
    if (al_buf_failed(&params))
        return al_fail(err, AL_TOOL_INPUT_INVALID, "a message to the MCP server %s is over %u MiB",
                       name_of(c), AL_UPSTREAM_MAX_MESSAGE >> 20);
    struct al_transport_message m = {0};
    if (c->modern && names_something(r->method) && !al_params_text(r->params, "name", &name))
        al_params_text(r->params, "uri", &name);
    m.name = al_buf_str(&name);
    if (c->modern && call->input_schema.n) {
        m.input_schema = call->input_schema;
        m.arguments = al_params_member(r->params, "arguments");
    }
    bool bare = params.n == 2 && r->params.n == 0;
    return send_request(c, call->id, r->method, bare ? (struct al_str){"", 0} : al_buf_str(&params), &m, err);
}

static void send_notification(struct al_conn *c, const char *method, struct al_str params)
{
    autobuf struct al_buf out = AL_BUF_INIT(AL_UPSTREAM_MAX_MESSAGE);
    struct al_transport_message m = {.method = method};
    struct al_err unused;
    al_rpc_notification(&out, method, params);
    if (transmit(c, &out, &m, &unused) < 0)
        return; /* a queue that is full, or an end that will be told: nobody waits for a notification */
}

void al_conn_notify(struct al_conn *c, const char *method, struct al_str params)
{
    if (!c->modern) /* the newer protocol has no notifications from a client but of cancels */
        send_notification(c, method, params);
}

void al_conn_cancel(struct al_conn *c, uint64_t id, const char *reason)
{
    /* Over HTTP the newer protocol takes the end of the stream for it. */
    if (!c->modern || !c->s->config->http) {
        autobuf struct al_buf params = AL_BUF_INIT(1024);
        struct al_jw w;
        al_jw_init(&w, &params);
        al_jw_obj(&w);
        al_jw_kint(&w, "requestId", (int64_t)id);
        al_jw_kstrz(&w, "reason", reason);
        al_jw_end(&w);
        send_notification(c, "notifications/cancelled", al_buf_str(&params));
    }
    if (c->t->ops->cancel)
        c->t->ops->cancel(c->t, id);
}

void al_conn_answer(struct al_conn *c, struct al_str id, uint64_t stream, int code, struct al_str text)
{
    autobuf struct al_buf out = AL_BUF_INIT(AL_UPSTREAM_MAX_MESSAGE);
    struct al_transport_message m = {.in_reply_to = stream};
    struct al_err unused;
    if (code)
        al_rpc_failure(&out, id, code, text, (struct al_str){"", 0});
    else
        al_rpc_result(&out, id, text);
    if (transmit(c, &out, &m, &unused) < 0)
        return;
}

/* --- which protocol --- */

static void no_answer(void *ud)
{
    struct al_conn *c = ud;
    struct al_err err;
    autobuf struct al_buf limit = AL_BUF_INIT(64);
    c->deadline = NULL;
    if (!c->probed) /* it may be of another era than it was */
        c->s->protocol[0] = 0;
    al_text_duration(&limit, c->s->config->start_timeout_ms);
    al_fail(&err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s did not answer within %.*s after its start",
            name_of(c), AL_FMT(al_buf_str(&limit)));
    al_hint(&err, "`alisio mcp doctor %s` shows what it printed", name_of(c));
    give_up(c, &err);
}

static void set_version(struct al_conn *c, const char *version)
{
    snprintf(c->version, sizeof(c->version), "%s", version);
}

static void silent(void *ud)
{
    struct al_conn *c = ud;
    c->patience = NULL;
    initialize(c);
}

static void probe(struct al_conn *c)
{
    struct al_transport_message m = {0};
    struct al_err err;
    autobuf struct al_buf params = AL_BUF_INIT(4096);
    al_timer_stop(c->patience);
    c->patience = NULL;
    c->step = PROBING;
    c->probed = true;
    c->modern = true;
    set_version(c, AL_VERSION_MODERN);
    al_params_write(&params, &(struct al_params){.modern = true});
    c->probe_id = ++c->s->last_id;
    if (send_request(c, c->probe_id, "server/discover", al_buf_str(&params), &m, &err) < 0)
        give_up(c, &err);
    else
        c->patience = al_timer_start(
            al_upstream_loop(c->s), c->owner->probe_ms * (c->s->config->http ? HTTP_PATIENCE : 1), silent, c);
}

static void initialize(struct al_conn *c)
{
    struct al_transport_message m = {0};
    struct al_err err;
    autobuf struct al_buf params = AL_BUF_INIT(4096), client = AL_BUF_INIT(1024);
    al_timer_stop(c->patience);
    c->patience = NULL;
    /* Roots are not declared for scripts: servers that were given folders as arguments would replace them by
     * ours. */
    c->step = INITIALIZING;
    c->modern = false;
    c->version[0] = 0;
    al_params_client_info(&client);
    struct al_jw w;
    al_jw_init(&w, &params);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "protocolVersion", NEWEST_LEGACY);
    al_jw_kraw(&w, "capabilities",
               c->owner->relay ? AL_STR("{\"roots\":{\"listChanged\":true},\"sampling\":{},"
                                        "\"elicitation\":{\"form\":{},\"url\":{}}}")
                               : AL_STR("{}"));
    al_jw_kraw(&w, "clientInfo", al_buf_str(&client));
    al_jw_end(&w);
    c->init_id = ++c->s->last_id;
    if (send_request(c, c->init_id, "initialize", al_buf_str(&params), &m, &err) < 0)
        give_up(c, &err);
}

static void keep(struct al_buf *to, const struct al_json *v, size_t max)
{
    al_buf_free(to);
    al_buf_init(to, max);
    if (v && v->type == AL_JSON_OBJECT && v->raw.n <= max)
        al_buf_add_str(to, v->raw);
}

static void know(struct al_conn *c, const struct al_json *result, const struct al_json *info)
{
    struct al_upstream *s = c->s;
    keep(&s->capabilities, al_json_get(result, "capabilities"), MAX_CAPABILITIES);
    keep(&s->info, info, MAX_INFO);
    al_buf_free(&s->instructions);
    al_buf_init(&s->instructions, 2 * MAX_INSTRUCTIONS);
    al_text_visible(&s->instructions, al_utf8_cut(al_json_get_text(result, "instructions"), MAX_INSTRUCTIONS),
                    true);
    snprintf(s->protocol, sizeof(s->protocol), "%s", c->version);
    stop_timers(c);
    c->step = READY;
}

/* What the server tells by itself, it tells in the newer protocol to those who have asked. */
void al_conn_subscribe(struct al_conn *c)
{
    static const char *const kinds[][2] = {{"tools", "toolsListChanged"},
                                           {"prompts", "promptsListChanged"},
                                           {"resources", "resourcesListChanged"}};
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    autobuf struct al_buf params = AL_BUF_INIT(1024);
    const struct al_json *caps = NULL;
    struct al_err unused;
    bool any = false;
    if (al_json_parse(&a, al_buf_str(&c->s->capabilities), &caps, &unused) < 0)
        return;
    struct al_jw w;
    al_jw_init(&w, &params);
    al_jw_obj(&w);
    al_jw_key(&w, "notifications");
    al_jw_obj(&w);
    for (size_t i = 0; i < (c->owner->relay ? 3 : 1); i++) {
        if (!al_json_is_true(al_json_get(al_json_get(caps, kinds[i][0]), "listChanged")))
            continue;
        al_jw_kbool(&w, kinds[i][1], true);
        any = true;
    }
    al_jw_end(&w);
    al_jw_end(&w);
    if (!any)
        return;
    struct al_upstream_request r = {.method = "subscriptions/listen",
                                    .params = al_buf_str(&params),
                                    .done = al_upstream_unlistened,
                                    .ud = c->s};
    al_request_new(c->s, &r, true);
}

static void ready_modern(struct al_conn *c, const struct al_json *result)
{
    struct al_upstream *s = c->s;
    const struct al_json *info =
        al_json_get(al_json_get(result, "_meta"), "io.modelcontextprotocol/serverInfo");
    c->modern = true;
    set_version(c, AL_VERSION_MODERN);
    know(c, result, info ? info : al_json_get(result, "serverInfo"));
    al_conn_subscribe(c);
    al_upstream_conn_ready(s);
}

static void refuse_version(struct al_conn *c, struct al_str spoken)
{
    struct al_err err;
    autobuf struct al_buf shown = AL_BUF_INIT(1024);
    al_text_visible(&shown, al_utf8_cut(spoken, 100), false);
    al_fail(&err, AL_UPSTREAM_UNAVAILABLE,
            "the MCP server %s speaks the protocol version %.*s, which is not known here", name_of(c),
            AL_FMT(al_buf_str(&shown)));
    al_hint(&err, "versions known: %s, %s, 2025-06-18, 2025-03-26, 2024-11-05", AL_VERSION_MODERN,
            NEWEST_LEGACY);
    give_up(c, &err);
}

/* Versions of a list: the modern one, else one of the old era, else none that we know. */
static void choose(struct al_conn *c, const struct al_json *list, const struct al_json *discovered)
{
    const struct al_json *legacy = NULL, *modern = NULL;
    al_json_each(v, list)
    {
        if (!al_json_is_string(v))
            continue;
        if (al_str_is(v->str, AL_VERSION_MODERN))
            modern = v;
        else if (is_legacy(v->str))
            legacy = v;
    }
    if (modern && discovered)
        ready_modern(c, discovered);
    else if (legacy)
        initialize(c);
    else if (modern && !c->probed_again) { /* it names the very version that it refused: once more */
        c->probed_again = true;
        probe(c);
    } else
        refuse_version(c, list ? list->raw : AL_STR("?"));
}

static void probe_answered(struct al_conn *c, const struct al_rpc *rpc)
{
    const struct al_json *list = al_json_get(rpc->result, "supportedVersions");
    int64_t code = 0;
    /* A server that was slow to start answers when initialize has gone out already: that it is modern counts.
     */
    if (c->step != PROBING && !(c->step == INITIALIZING && list))
        return;
    if (rpc->failure)
        al_json_int(al_json_get(rpc->failure, "code"), INT32_MIN, INT32_MAX, &code);
    const struct al_json *supported = al_json_get(al_json_get(rpc->failure, "data"), "supported");
    if (list && list->type == AL_JSON_ARRAY)
        choose(c, list, rpc->result);
    else if (code == AL_RPC_UNSUPPORTED_VERSION && supported && supported->type == AL_JSON_ARRAY)
        choose(c, supported, NULL);
    else
        initialize(c);
}

static void init_failed(struct al_conn *c, const struct al_json *failure)
{
    struct al_err err;
    autobuf struct al_buf said = AL_BUF_INIT(2048);
    if (!c->probed) { /* it was of the old era when it was last seen */
        probe(c);
        return;
    }
    al_text_visible(&said, al_utf8_cut(al_json_get_text(failure, "message"), 300), false);
    al_fail(&err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s refuses to begin: %.*s", name_of(c),
            AL_FMT(al_buf_str(&said)));
    give_up(c, &err);
}

static void init_answered(struct al_conn *c, const struct al_rpc *rpc)
{
    struct al_upstream *s = c->s;
    if (c->step != INITIALIZING)
        return;
    struct al_str version = al_json_get_text(rpc->result, "protocolVersion");
    if (!rpc->result) {
        init_failed(c, rpc->failure);
    } else if (!is_legacy(version)) {
        refuse_version(c, version.n ? version : AL_STR("(none)"));
    } else {
        snprintf(c->version, sizeof(c->version), "%.*s", AL_FMT(version));
        know(c, rpc->result, al_json_get(rpc->result, "serverInfo"));
        send_notification(c, "notifications/initialized", (struct al_str){"", 0});
        if (c->t->ops->listen)
            c->t->ops->listen(c->t);
        al_upstream_conn_ready(s);
    }
}

/* --- messages --- */

static void on_opened(void *ud)
{
    struct al_conn *c = ud;
    struct al_upstream *s = c->s;
    if (c->step != OPENING)
        return;
    if (s->silent_probe || is_legacy(al_str_of(s->protocol)))
        initialize(c);
    else
        probe(c);
}

static void answered(struct al_conn *c, const struct al_rpc *rpc, uint64_t stream)
{
    int64_t id;
    struct al_str digits = rpc->id;
    if (digits.n > 2 && digits.p[0] == '"') /* a number that came back as a string is meant all the same */
        digits = (struct al_str){digits.p + 1, digits.n - 2};
    if (!al_parse_int(digits, 1, INT64_MAX, &id))
        c->s->n_late++;
    else if ((uint64_t)id == c->probe_id)
        probe_answered(c, rpc);
    else if ((uint64_t)id == c->init_id)
        init_answered(c, rpc);
    else {
        /* It came on another stream than its own, which is not to be taken up again then. */
        if (stream != (uint64_t)id && c->t->ops->cancel)
            c->t->ops->cancel(c->t, (uint64_t)id);
        al_request_answer(c->s, (uint64_t)id, rpc);
    }
}

static void asked(struct al_conn *c, const struct al_rpc *rpc, uint64_t stream)
{
    if (al_str_is(rpc->method, "ping"))
        al_conn_answer(c, rpc->id, stream, 0, (struct al_str){"", 0});
    else if (!c->modern)
        al_question_ask(c, c->s, rpc, stream);
    else
        c->s->n_late++; /* the newer protocol has no questions of this kind, and no answers to them */
}

static void cancelled_by_server(struct al_conn *c, const struct al_json *params)
{
    int64_t id;
    al_question_cancelled(c, params);
    if (c->modern && al_json_int(al_json_get(params, "requestId"), 1, INT64_MAX, &id)) {
        struct al_err err;
        al_fail(&err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s has ended the request", name_of(c));
        al_request_lost(c->s, (uint64_t)id, AL_LOSS_BROKEN, &err);
    }
}

static void notified(struct al_conn *c, const struct al_rpc *rpc, uint64_t stream)
{
    struct al_str params = rpc->params ? rpc->params->raw : (struct al_str){"", 0};
    count_note(c);
    if (al_str_is(rpc->method, "notifications/progress")) {
        al_request_progress(c->s, rpc->params);
    } else if (al_str_is(rpc->method, "notifications/cancelled")) {
        cancelled_by_server(c, rpc->params);
    } else if (al_str_is(rpc->method, "notifications/message")) {
        bool owned = stream > 0 || c->modern;
        struct al_upstream_call *call = owned ? al_request_for(c->s, stream, false) : NULL;
        if (call)
            call->r.message(call->r.ud, params);
        else
            al_upstream_notified(c->s, rpc->method, params);
    } else if (c->step == READY) {
        al_upstream_notified(c->s, rpc->method, params);
    }
}

static void on_lost(void *ud, uint64_t id, enum al_transport_loss loss, const struct al_err *err);

/* What is no JSON, or nested too deep, may be an answer all the same: who waits for it is told at once. */
static void unreadable(struct al_conn *c, const struct al_arena *a, struct al_str json, const char *why)
{
    bool too_big = a->used > MESSAGE_ARENA / 2;
    struct al_edges edges = {0};
    struct al_err err;
    al_upstream_noise_add(c->s, json);
    al_edges_add(&edges, json);
    uint64_t id = al_edges_id(&edges);
    if (too_big)
        al_fail(&err, AL_RESULT_TOO_LARGE, "an answer of the MCP server %s has too many parts", name_of(c));
    else
        al_fail(&err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s gave an answer that cannot be read: %s",
                name_of(c), why);
    if (id)
        on_lost(c, id, too_big ? AL_LOSS_TOO_BIG : AL_LOSS_BROKEN, &err);
}

static void read_one(struct al_conn *c, struct al_arena *a, struct al_str json, uint64_t stream)
{
    struct al_rpc rpc;
    al_rpc_read(a, json, &rpc);
    switch (rpc.kind) {
    case AL_RPC_RESPONSE:
        answered(c, &rpc, stream);
        break;
    case AL_RPC_REQUEST:
        asked(c, &rpc, stream);
        break;
    case AL_RPC_NOTIFICATION:
        notified(c, &rpc, stream);
        break;
    default:
        if (rpc.id.n && !rpc.method.n)
            answered(c, &rpc, stream); /* neither a result nor an error: its waiter is told */
        else
            unreadable(c, a, json, rpc.error);
    }
}

/* 2025-03-26 had batches. Whatever one of them sets off may end the connection. */
static void read_batch(struct al_conn *c, struct al_arena *a, struct al_str json, uint64_t stream)
{
    struct al_upstream *s = c->s;
    const struct al_json *list;
    struct al_err unused;
    if (al_json_parse(a, json, &list, &unused) < 0) {
        al_upstream_noise_add(s, json);
        return;
    }
    al_json_each(v, list)
    {
        if (s->conn != c)
            return;
        read_one(c, a, v->raw, stream);
    }
}

static void on_message(void *ud, struct al_str json, uint64_t stream)
{
    struct al_conn *c = ud;
    autobuf struct al_buf cleaned = AL_BUF_INIT(3 * (size_t)AL_UPSTREAM_MAX_MESSAGE);
    if (c->step == ENDING)
        return;
    if (!al_utf8_valid(json)) {
        al_utf8_clean(&cleaned, json);
        json = al_buf_str(&cleaned);
    }
    autoarena struct al_arena a = AL_ARENA_INIT(MESSAGE_ARENA);
    if (json.n > 0 && json.p[0] == '[')
        read_batch(c, &a, json, stream);
    else
        read_one(c, &a, json, stream);
}

static void on_lost(void *ud, uint64_t id, enum al_transport_loss loss, const struct al_err *err)
{
    struct al_conn *c = ud;
    struct al_upstream *s = c->s;
    struct al_err why = *err;
    if (c->step == ENDING)
        return;
    if (id == c->probe_id || id == c->init_id) {
        bool asked_probe = id == c->probe_id;
        if ((asked_probe ? PROBING : INITIALIZING) != c->step)
            return;
        if (asked_probe && loss == AL_LOSS_REFUSED)
            initialize(c);
        else if (!asked_probe && loss == AL_LOSS_REFUSED && !c->probed)
            probe(c);
        else
            give_up(c, &why);
        return;
    }
    al_request_lost(s, id, loss, &why);
    if (loss == AL_LOSS_SESSION && s->conn == c)
        al_upstream_conn_anew(s);
}

struct al_conn *al_conn_open(struct al_upstream *s)
{
    static const struct al_transport_events events = {
        .opened = on_opened, .message = on_message, .lost = on_lost, .ended = on_ended};
    struct al_conn *c = al_xcalloc(1, sizeof(*c));
    c->s = s;
    c->owner = s->owner;
    c->note_ms = al_mono_ms();
    c->n_notes = MAX_NOTES;
    c->t = s->config->http ? al_transport_http(s, &events, c) : al_transport_stdio(s, &events, c);
    c->deadline = al_timer_start(al_upstream_loop(s), s->config->start_timeout_ms, no_answer, c);
    c->t->ops->open(c->t);
    return c;
}
