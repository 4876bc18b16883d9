/*
 * The MCP server above its transports, in both eras. Each line of the input is a message; "$Q" in it is the
 * id of the last question of the server, "$S" the last requestState. A line that begins with '!' comes from a
 * second client, '@' lets work go on, '~' closes the first client. Each request is answered once, with JSON,
 * and nothing is left over.
 */
#include "mcp/mcp_int.h"

#include "base/mem.h"
#include "os/path.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_HELD 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *tmp;
static char *top;
static struct al_loop *loop;
static struct al_config *config;
static struct al_store *store;
static struct al_core *core;

static struct al_call *held[MAX_HELD];
static unsigned n_held;

struct client {
    struct al_mcp_peer *peer;
    unsigned n_requests, n_last;
};
static char question[64], state[64];

/* --- tools --- */

static void put(struct al_call *call)
{
    al_call_finish(call);
}

static void hold(struct al_call *call)
{
    if (n_held == MAX_HELD)
        al_call_finish(call);
    else
        held[n_held++] = call;
}

static void cancel_held(struct al_call *call)
{
    for (unsigned i = 0; i < n_held; i++)
        if (held[i] == call) {
            held[i] = held[--n_held];
            al_call_finish(call);
            return;
        }
}

static void let_go(void)
{
    while (n_held)
        al_call_finish(held[--n_held]);
}

static const char any[] = "{\"type\":\"object\",\"additionalProperties\":true}";
static const struct al_tool tools[] = {
    {.name = "put",
     .title = "Put",
     .description = "",
     .input_schema = any,
     .effect = AL_EFFECT_WRITE,
     .start = put},
    {.name = "hold",
     .title = "Hold",
     .description = "",
     .input_schema = any,
     .start = hold,
     .cancel = cancel_held},
};

/* --- the world --- */

static void clean_up(void)
{
    al_core_free(core);
    al_config_free(config);
    al_store_close(store);
    al_loop_free(loop);
    int fd = open(tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        if (al_path_remove_tree(fd, strrchr(top, '/') + 1) < 0)
            fprintf(stderr, "%s stays\n", top);
        close(fd);
    }
    free(top);
}

static void set_up(void)
{
    struct al_err err;
    tmp = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    if (asprintf(&top, "%s/al-fuzz-mcp-XXXXXX", tmp) < 0 || !mkdtemp(top))
        abort();
    loop = al_loop_new();
    struct al_config_sources sources = {0};
    struct al_core_opts o = {.loop = loop, .cwd = top, .source = "mcp"};
    if (al_store_open(top, NULL, &store, &err) < 0 || al_config_load(&sources, &config, &err) < 0)
        abort();
    o.store = store;
    o.config = config;
    if (al_core_new(&o, &core, &err) < 0)
        abort();
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        al_core_register(core, &tools[i]);
    atexit(clean_up);
}

static void keep(struct al_str message, const char *name, char *out, size_t size)
{
    ptrdiff_t at = al_str_find(message, al_str_of(name));
    if (at < 0)
        return;
    const char *p = message.p + at + strlen(name), *end = message.p + message.n;
    size_t n = 0;
    while (p + n < end && p[n] != '"' && n + 1 < size)
        n++;
    snprintf(out, size, "%.*s", (int)n, p);
}

static void on_send(void *ud, struct al_mcp_request *about, struct al_str message, bool last)
{
    struct client *c = ud;
    (void)about;
    c->n_last += last;
    if (!message.n && last)
        return; /* cancelled */
    autoarena struct al_arena arena = AL_ARENA_INIT(256u << 20);
    const struct al_json *v;
    struct al_err err;
    if (al_json_parse(&arena, message, &v, &err) < 0) {
        fprintf(stderr, "%s: %.*s\n", err.msg, AL_FMT(message));
        abort();
    }
    keep(message, "\"id\":\"alisio-", question, sizeof question);
    keep(message, "\"requestState\":\"", state, sizeof state);
}

static void on_ended(void *ud)
{
    *(bool *)ud = true;
}

static void turn(void)
{
    for (int i = 0; i < 3; i++) {
        bool done = false;
        al_defer(loop, on_ended, &done);
        al_loop_run_until(loop, &done, 10000);
    }
}

static void say(struct client *c, struct al_str line)
{
    autobuf struct al_buf text = AL_BUF_INIT(1u << 20);
    for (size_t i = 0; i < line.n; i++) {
        bool mark = line.p[i] == '$' && i + 1 < line.n;
        if (mark && line.p[i + 1] == 'Q')
            al_buf_addf(&text, "alisio-%s", question);
        else if (mark && line.p[i + 1] == 'S')
            al_buf_adds(&text, state);
        else
            mark = false;
        if (mark)
            i++;
        else
            al_buf_addc(&text, line.p[i]);
    }
    c->n_requests += al_mcp_message(c->peer, al_buf_str(&text), NULL) == AL_MCP_TOOK_REQUEST;
}

static char grant[AL_ID_MAX];

static bool on_grant(void *ud, const struct al_grant *g)
{
    (void)ud;
    if (!g->revoked_ms)
        memcpy(grant, g->id, sizeof grant);
    return !grant[0];
}

/* What one input was granted is nothing to the next. */
static void forget_grants(void)
{
    struct al_err err;
    do {
        grant[0] = 0;
        if (al_store_grant_each(store, al_core_session(core)->id, on_grant, NULL, &err) < 0 ||
            (grant[0] && al_store_grant_revoke(store, grant, &err) < 0))
            abort();
    } while (grant[0]);
}

static void open_client(struct al_mcp *m, struct client *c)
{
    static const struct al_mcp_peer_ops ops = {.send = on_send};
    *c = (struct client){0};
    c->peer = al_mcp_peer_new(m, &ops, c);
}

static void run_line(struct al_mcp *m, struct client *c, struct al_str line)
{
    if (!line.n)
        return;
    if (line.p[0] == '@') {
        let_go();
        turn();
    } else if (line.p[0] == '~') {
        al_mcp_peer_close(c[0].peer);
        turn();
        open_client(m, &c[0]);
    } else if (line.p[0] == '!') {
        say(&c[1], (struct al_str){line.p + 1, line.n - 1});
    } else {
        say(&c[0], line);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!core)
        set_up();
    bool ended = false, granted = false;
    struct al_mcp m = {.core = core, .question_ms = AL_MCP_QUESTION_MS, .ended = on_ended, .ud = &ended};
    struct client c[2];
    open_client(&m, &c[0]);
    open_client(&m, &c[1]);
    struct al_str rest = {(const char *)data, size};
    while (rest.n) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        granted = granted || al_str_find((struct al_str){rest.p, n}, AL_STR("session")) >= 0;
        run_line(&m, c, (struct al_str){rest.p, n});
        rest.p += n + (end != NULL);
        rest.n -= n + (end != NULL);
    }
    turn();
    al_mcp_stop(&m);
    let_go();
    if (!al_loop_run_until(loop, &ended, 10000) || m.n_open || m.bytes_open || m.n_questions)
        abort();
    for (int i = 0; i < 2; i++)
        if (c[i].n_last != c[i].n_requests)
            abort();
    while (m.peers)
        al_mcp_peer_close(m.peers);
    if (granted)
        forget_grants();
    return 0;
}
