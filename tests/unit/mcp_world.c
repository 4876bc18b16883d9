#include "test.h"

#include "mcp_world.h"

#include "base/ident.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

unsigned mcp_n_put, mcp_n_held;
static struct al_call *held[1100];

static void look(struct al_call *call)
{
    al_buf_adds(&call->text, "seen");
    al_buf_adds(&call->structured, "{\"seen\":true}");
    al_call_finish(call);
}

static void put(struct al_call *call)
{
    mcp_n_put++;
    al_buf_adds(&call->text, "put");
    al_call_finish(call);
}

static void hold(struct al_call *call)
{
    held[mcp_n_held++] = call;
}

static void cancel_held(struct al_call *call)
{
    for (unsigned i = 0; i < mcp_n_held; i++)
        if (held[i] == call) {
            held[i] = held[--mcp_n_held];
            al_call_finish(call);
            return;
        }
}

void mcp_let_go(void)
{
    while (mcp_n_held)
        al_call_finish(held[--mcp_n_held]);
}

static const char any[] = "{\"type\":\"object\",\"additionalProperties\":true}";
static const struct al_tool tools[] = {
    {.name = "look", .title = "Look", .description = "Looks.", .input_schema = any, .start = look},
    {.name = "put",
     .title = "Put",
     .description = "Puts.",
     .input_schema = any,
     .effect = AL_EFFECT_WRITE,
     .start = put},
    {.name = "hold",
     .title = "Hold",
     .description = "Holds.",
     .input_schema = any,
     .effect = AL_EFFECT_READ,
     .start = hold,
     .cancel = cancel_held},
};

static void on_ended(void *ud)
{
    struct mcp_world *w = ud;
    w->ended = true;
}

int mcp_world_set_up(void **state)
{
    struct mcp_world *w = al_xcalloc(1, sizeof *w);
    void *core;
    core_world_set_up(&core);
    w->core = core;
    w->core->opts.source = "mcp";
    core_world_start(w->core, NULL);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        al_core_register(w->core->core, &tools[i]);
    w->mcp.core = w->core->core;
    w->mcp.question_ms = AL_MCP_QUESTION_MS;
    w->mcp.ended = on_ended;
    w->mcp.ud = w;
    mcp_n_put = mcp_n_held = 0;
    *state = w;
    return 0;
}

int mcp_world_tear_down(void **state)
{
    struct mcp_world *w = *state;
    al_mcp_stop(&w->mcp);
    core_world_wait(w->core, &w->ended);
    while (w->mcp.peers)
        al_mcp_peer_close(w->mcp.peers);
    for (size_t i = 0; i < w->n_clients; i++)
        for (size_t k = 0; k < w->clients[i].n; k++)
            free(w->clients[i].sent[k]);
    void *core = w->core;
    free(w);
    return core_world_tear_down(&core);
}

static void on_send(void *ud, struct al_mcp_request *about, struct al_str message, bool last)
{
    struct mcp_client *c = ud;
    (void)about;
    assert_true(c->n < MCP_MAX_SENT);
    c->sent[c->n++] = al_xdup(message.p, message.n);
    c->n_last += last;
}

struct mcp_client *mcp_client_new(struct mcp_world *w)
{
    static const struct al_mcp_peer_ops ops = {.send = on_send};
    struct mcp_client *c = &w->clients[w->n_clients++];
    c->world = w;
    c->peer = al_mcp_peer_new(&w->mcp, &ops, c);
    return c;
}

struct mcp_client *mcp_client_older(struct mcp_world *w, const char *version, const char *capabilities)
{
    struct mcp_client *c = mcp_client_new(w);
    mcp_say(c,
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"%s\","
            "\"capabilities\":%s,\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}",
            version, capabilities);
    assert_has(mcp_next(c), version);
    mcp_say(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    return c;
}

void mcp_say(struct mcp_client *c, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    assert_true(vasprintf(&text, fmt, args) > 0);
    va_end(args);
    al_mcp_message(c->peer, al_str_of(text), NULL);
    free(text);
}

static void wake(void *ud)
{
    *(bool *)ud = true;
}

void mcp_turns(struct mcp_world *w)
{
    for (int i = 0; i < 8; i++) {
        bool done = false;
        al_defer(w->core->loop, wake, &done);
        core_world_wait(w->core, &done);
    }
}

const char *mcp_next(struct mcp_client *c)
{
    uint64_t deadline = al_mono_ms() + 10000;
    while (c->read == c->n) {
        if (al_mono_ms() > deadline)
            fail_msg("nothing was sent for 10 s");
        mcp_turns(c->world);
    }
    return c->sent[c->read++];
}

bool mcp_quiet(const struct mcp_client *c)
{
    return c->read == c->n;
}

void mcp_member(const char *message, const char *name, char *out, size_t size)
{
    char start[64];
    snprintf(start, sizeof start, "\"%s\":\"", name);
    const char *at = strstr(message, start);
    if (!at)
        fail_msg("no %s in %s", name, message);
    at += strlen(start);
    snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
}

void mcp_assert_has(const char *message, const char *part, const char *file, int line)
{
    if (!strstr(message, part)) {
        print_error("%s:%d: no %s in %s\n", file, line, part, message);
        fail();
    }
}
