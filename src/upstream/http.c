#include "base/mem.h"
#include "config/servers.h"
#include "upstream/http_int.h"

#include <stdio.h>
#include <strings.h>

#define MAX_EXPANDED (64u << 10)
#define MIN_RETRY_MS 250

static struct al_http_transport *of(struct al_transport *base)
{
    return (struct al_http_transport *)base;
}

static void lines_free(char **v)
{
    for (char **p = v; p && *p; p++)
        free(*p);
    free(v);
}

static void transport_free(struct al_http_transport *t)
{
    lines_free(t->header_texts);
    lines_free(t->headers);
    free(t->name);
    free(t->url_text);
    free(t->url);
    free(t->session);
    free(t);
}

void al_http_t_enter(struct al_http_transport *t)
{
    t->busy++;
}

void al_http_t_leave(struct al_http_transport *t)
{
    if (--t->busy == 0 && t->dead)
        transport_free(t);
}

static void drop_all(struct al_http_transport *t)
{
    while (t->first)
        al_exchange_drop(t->first);
}

/* --- opening --- */

/* What the protocol or HTTP itself says is not for a configuration to say. */
static bool is_ours(const char *line)
{
    static const char *const names[] = {
        "accept",         "content-type",         "content-length", "transfer-encoding", "connection",
        "mcp-session-id", "mcp-protocol-version", "mcp-method",     "mcp-name",          "last-event-id"};
    size_t n = strcspn(line, ":");
    if (strncasecmp(line, "mcp-param-", 10) == 0)
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (n == strlen(names[i]) && strncasecmp(line, names[i], n) == 0)
            return true;
    return false;
}

static char *expand(const char *text, struct al_err *err)
{
    autobuf struct al_buf out = AL_BUF_INIT(MAX_EXPANDED);
    if (al_server_expand(text, &out, err) < 0)
        return NULL;
    if (al_buf_failed(&out)) {
        al_fail(err, AL_CONFIG_INVALID, "a value is over 64 KiB");
        return NULL;
    }
    return al_buf_take(&out);
}

static int expand_all(struct al_http_transport *t, struct al_err *err)
{
    size_t n = 0, kept = 0;
    while (t->header_texts[n])
        n++;
    t->url = expand(t->url_text, err);
    if (!t->url)
        return -1;
    t->headers = al_xcalloc(n + 1, sizeof(*t->headers));
    for (size_t i = 0; i < n; i++) {
        char *line = is_ours(t->header_texts[i]) ? NULL : expand(t->header_texts[i], err);
        if (!line && !is_ours(t->header_texts[i]))
            return -1;
        if (!line)
            continue;
        t->headers[kept++] = line;
        if (strncasecmp(line, "authorization:", 14) == 0)
            t->has_authorization = true;
    }
    return 0;
}

static void opened(void *ud)
{
    struct al_http_transport *t = ud;
    t->timer = NULL;
    if (t->broken) {
        struct al_err err = t->err;
        t->base.events->ended(t->base.ud, &err);
        return;
    }
    t->open = true;
    t->base.events->opened(t->base.ud);
}

static void http_open(struct al_transport *base)
{
    struct al_http_transport *t = of(base);
    t->broken = expand_all(t, &t->err) < 0;
    if (t->broken)
        al_wrap(&t->err, "the MCP server %s", t->name);
    t->timer = al_timer_start(t->loop, 0, opened, t);
}

/* --- sending --- */

static void add_header(struct al_buf *out, const char *name, struct al_str value)
{
    al_buf_adds(out, name);
    al_buf_adds(out, ": ");
    al_params_value(value, out);
    al_buf_addc(out, 0);
}

static int write_headers(struct al_exchange *x, const struct al_transport_message *m, struct al_err *err)
{
    if (m->version && *m->version)
        add_header(&x->headers, "MCP-Protocol-Version", al_str_of(m->version));
    if (!m->modern)
        return 0;
    if (m->method)
        add_header(&x->headers, "Mcp-Method", al_str_of(m->method));
    if (m->name.n)
        add_header(&x->headers, "Mcp-Name", m->name);
    return al_params_headers(m->input_schema, m->arguments, &x->headers, err);
}

static void start_or_fail(struct al_exchange *x)
{
    struct al_err err;
    if (al_exchange_start(x, &err) < 0)
        al_exchange_fail(x, AL_LOSS_BROKEN, &err);
}

void al_http_t_starts(struct al_http_transport *t)
{
    al_http_t_enter(t);
    bool again = !t->closing && !t->dead;
    while (again && !t->gate) {
        struct al_exchange *oldest = NULL;
        for (struct al_exchange *x = t->first; x; x = x->next)
            if (!x->started)
                oldest = x;
        again = oldest != NULL;
        if (oldest)
            start_or_fail(oldest);
        again = again && !t->closing && !t->dead;
    }
    al_http_t_leave(t);
}

static int http_send(struct al_transport *base, const struct al_transport_message *m, struct al_err *err)
{
    struct al_http_transport *t = of(base);
    if (!t->open || t->closing)
        return al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s is being left", t->name);
    if (t->n_exchanges >= AL_HTTP_MAX_EXCHANGES) {
        al_fail(err, AL_BUSY, "too many messages to the MCP server %s wait", t->name);
        return al_hint(err, "wait for answers before asking more");
    }
    struct al_exchange *x = al_exchange_new(t, m->id ? AL_EXCHANGE_REQUEST : AL_EXCHANGE_SAY);
    x->id = m->id;
    x->modern = m->modern;
    x->initialize = m->method && strcmp(m->method, "initialize") == 0;
    x->json = al_xdup(m->json.p, m->json.n);
    if (x->initialize) { /* a new session */
        free(t->session);
        t->session = NULL;
        t->version[0] = 0;
    }
    if (!m->modern && m->version && *m->version)
        snprintf(t->version, sizeof(t->version), "%s", m->version);
    if (write_headers(x, m, err) < 0 || (!t->gate && al_exchange_start(x, err) < 0)) {
        al_exchange_drop(x);
        return -1;
    }
    if (m->method && !m->modern && strcmp(m->method, "notifications/initialized") == 0)
        t->gate = x;
    return 0;
}

static void http_cancel(struct al_transport *base, uint64_t id)
{
    struct al_http_transport *t = of(base);
    for (struct al_exchange *x = t->first; x; x = x->next)
        if (x->kind == AL_EXCHANGE_REQUEST && x->id == id) {
            al_exchange_drop(x);
            return;
        }
}

static void http_listen(struct al_transport *base)
{
    struct al_http_transport *t = of(base);
    struct al_err unused;
    struct al_exchange *x = al_exchange_new(t, AL_EXCHANGE_LISTEN);
    if (!t->gate && al_exchange_start(x, &unused) < 0)
        al_exchange_drop(x);
}

static void http_pause(struct al_transport *base, bool pause)
{
    struct al_http_transport *t = of(base);
    al_http_t_enter(t);
    t->paused = pause;
    /* What goes on may give messages, and those may change everything: each is taken once, by a mark. */
    for (struct al_exchange *x = t->first; x; x = x->next)
        x->to_tell = true;
    struct al_exchange *x = t->first;
    while (x && !t->dead && t->paused == pause) {
        if (!x->to_tell) {
            x = x->next;
            continue;
        }
        x->to_tell = false;
        al_exchange_pause(x, pause);
        x = t->first;
    }
    al_http_t_leave(t);
}

/* --- the end --- */

static void closed(void *ud)
{
    struct al_http_transport *t = ud;
    struct al_err err;
    t->timer = NULL;
    al_http_t_enter(t);
    drop_all(t);
    al_fail(&err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s was left", t->name);
    t->base.events->ended(t->base.ud, &err);
    al_http_t_leave(t);
}

void al_http_t_bye_done(struct al_http_transport *t)
{
    if (t->dead)
        return;
    al_timer_stop(t->timer);
    t->timer = al_timer_start(t->loop, 0, closed, t);
}

static void http_close(struct al_transport *base, uint64_t grace_ms)
{
    struct al_http_transport *t = of(base);
    struct al_err unused;
    bool again = t->closing, bye = false;
    t->closing = true;
    if (!again) {
        drop_all(t);
        if (t->session && t->open) {
            struct al_exchange *x = al_exchange_new(t, AL_EXCHANGE_BYE);
            bye = al_exchange_start(x, &unused) == 0;
            if (!bye)
                al_exchange_drop(x);
        }
    }
    al_timer_stop(t->timer);
    t->timer = al_timer_start(t->loop, bye || (again && t->first) ? grace_ms : 0, closed, t);
}

static void http_free(struct al_transport *base)
{
    struct al_http_transport *t = of(base);
    al_http_t_enter(t);
    t->dead = t->closing = true;
    drop_all(t);
    al_timer_stop(t->timer);
    t->timer = NULL;
    al_http_t_leave(t);
}

static char **copy_lines(const char *const *v)
{
    size_t n = 0;
    while (v && v[n])
        n++;
    char **copy = al_xcalloc(n + 1, sizeof(*copy));
    for (size_t i = 0; i < n; i++)
        copy[i] = al_xstrdup(v[i]);
    return copy;
}

struct al_transport *al_http_transport_new(const struct al_http_server *server,
                                           const struct al_transport_events *events, void *ud)
{
    static const struct al_transport_ops ops = {
        .open = http_open,
        .send = http_send,
        .cancel = http_cancel,
        .listen = http_listen,
        .pause = http_pause,
        .close = http_close,
        .free = http_free,
        .takes_tool = al_params_takes_tool,
    };
    struct al_http_transport *t = al_xcalloc(1, sizeof(*t));
    t->base = (struct al_transport){.ops = &ops, .events = events, .ud = ud};
    t->name = al_xstrdup(server->name);
    t->url_text = al_xstrdup(server->url);
    t->header_texts = copy_lines(server->headers);
    t->loop = server->loop;
    t->client = server->client;
    t->min_retry_ms = MIN_RETRY_MS;
    return &t->base;
}
