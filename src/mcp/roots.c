/*
 * The client's roots as the workspace, where the person named none: asked for once the client is ready. Calls
 * that come before the answer wait for it, for a moment. What has run stays where it ran.
 */
#include "mcp/mcp_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

#define WAIT_MS 2000
#define MAX_ROOTS 32
#define MAX_PATH_BYTES 4095

static const struct al_str nothing = {"", 0};

/* A call that waits for the workspace. */
struct waiting {
    struct waiting *next;
    struct al_mcp_request *request;
};

struct al_mcp_roots {
    struct al_mcp *mcp;
    struct al_mcp_peer *peer;
    struct al_timer *timer; /* while calls wait */
    struct waiting *first, **last;
    bool asking, asked_again;
    bool waits; /* for the first answer: calls wait, too */
};

/* --- file URIs --- */

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* file:///a%20b → /a b. malloc'ed; NULL: no absolute path of this machine. */
char *al_mcp_root_path(struct al_str uri)
{
    static const char *const starts[] = {"file:///", "file://localhost/"};
    struct al_str rest = nothing;
    for (size_t i = 0; i < 2 && !rest.n; i++)
        if (al_str_starts(uri, starts[i])) {
            size_t skip = strlen(starts[i]) - 1;
            rest = (struct al_str){uri.p + skip, uri.n - skip};
        }
    if (!rest.n || rest.n > 3 * MAX_PATH_BYTES)
        return NULL;
    autobuf struct al_buf path = AL_BUF_INIT(MAX_PATH_BYTES);
    for (size_t i = 0; i < rest.n; i++) {
        char c = rest.p[i];
        if (c == '%') {
            int high = i + 2 < rest.n ? hex(rest.p[i + 1]) : -1, low = high < 0 ? -1 : hex(rest.p[i + 2]);
            if (low < 0 || (high == 0 && low == 0))
                return NULL;
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '?' || c == '#' || c == 0) {
            return NULL;
        }
        al_buf_addc(&path, c);
    }
    if (al_buf_failed(&path) || !al_utf8_valid(al_buf_str(&path)))
        return NULL;
    return al_buf_take(&path);
}

/* --- calls that wait --- */

static void go_on(struct al_mcp_roots *roots)
{
    roots->waits = false;
    al_timer_stop(roots->timer);
    roots->timer = NULL;
    while (roots->first) {
        struct waiting *w = roots->first;
        struct al_mcp_request *r = w->request;
        roots->first = w->next;
        if (!roots->first)
            roots->last = &roots->first;
        free(w);
        r->cancel = NULL;
        r->work = NULL;
        al_mcp_tools_call_again(r);
    }
}

static void on_time(void *ud)
{
    struct al_mcp_roots *roots = ud;
    roots->timer = NULL;
    go_on(roots);
}

static void cancel_waiting(void *work)
{
    struct al_mcp_request *r = work;
    struct al_mcp_roots *roots = r->peer->roots;
    for (struct waiting **at = &roots->first; *at; at = &(*at)->next)
        if ((*at)->request == r) {
            struct waiting *gone = *at;
            if (roots->last == &gone->next)
                roots->last = at;
            *at = gone->next;
            free(gone);
            break;
        }
    r->cancel = NULL;
    al_mcp_fail(r, AL_RPC_INTERNAL_ERROR, nothing, "CANCELLED: the server ends");
}

bool al_mcp_roots_wait(struct al_mcp_request *r)
{
    struct al_mcp_roots *roots = r->peer->roots;
    if (!roots || !roots->waits)
        return false;
    struct waiting *w = al_xcalloc(1, sizeof *w);
    w->request = r;
    *roots->last = w;
    roots->last = &w->next;
    r->work = r;
    r->cancel = cancel_waiting;
    if (!roots->timer)
        roots->timer = al_timer_start(al_core_loop(roots->mcp->core), WAIT_MS, on_time, roots);
    return true;
}

/* --- the answer --- */

static void tell(struct al_mcp_roots *roots, enum al_mcp_level level, const char *what,
                 const struct al_err *err)
{
    autobuf struct al_buf data = AL_BUF_INIT(8192), text = AL_BUF_INIT(4096);
    struct al_jw w;
    al_buf_adds(&text, what);
    if (err)
        al_buf_addf(&text, ": %s%s%s", err->msg, err->hint[0] ? "; " : "", err->hint);
    al_jw_init(&w, &data);
    al_jw_str(&w, al_buf_str(&text));
    al_mcp_log(roots->peer, NULL, level, "roots", al_buf_str(&data));
}

static bool is_where_we_are(struct al_mcp_roots *roots, const char *path)
{
    return strcmp(path, al_workspace_root(al_core_workspace(roots->mcp->core))) == 0;
}

static void use(struct al_mcp_roots *roots, const struct al_json *list)
{
    char *paths[MAX_ROOTS + 1] = {0};
    size_t n = 0;
    struct al_err err;
    al_json_each(root, list)
    {
        char *path = n < MAX_ROOTS ? al_mcp_root_path(al_json_get_text(root, "uri")) : NULL;
        if (path)
            paths[n++] = path;
    }
    if (n == 0) {
        tell(roots, AL_MCP_INFO, "the client has no folder among its roots: the workspace stays as it is",
             NULL);
    } else if (n == 1 && is_where_we_are(roots, paths[0])) {
        /* Nothing to do, and nothing to say. */
    } else if (al_core_set_workspace(roots->mcp->core, paths[0], (const char *const *)paths + 1, &err) < 0) {
        tell(roots, AL_MCP_WARNING, "the client's roots are not the workspace", &err);
    } else if (al_workspace_refused(al_core_workspace(roots->mcp->core), &err)) {
        tell(roots, AL_MCP_WARNING, "the client's first root is no workspace for file tools", &err);
    }
    for (size_t i = 0; i < n; i++)
        free(paths[i]);
}

static void ask(struct al_mcp_roots *roots);

static void on_answered(void *ud, struct al_mcp_request *none, const struct al_json *result,
                        const char *failure)
{
    struct al_mcp_roots *roots = ud;
    (void)none;
    roots->asking = false;
    if (roots->peer->closing || roots->mcp->stopping) {
        roots->waits = false;
        return;
    }
    if (!failure)
        use(roots, al_json_get(result, "roots"));
    if (roots->asked_again)
        ask(roots);
    else
        go_on(roots);
}

static void ask(struct al_mcp_roots *roots)
{
    struct al_mcp_ask question = {
        .key = "roots", .method = "roots/list", .answered = on_answered, .ud = roots};
    if (roots->asking) {
        roots->asked_again = true;
        return;
    }
    roots->asking = true;
    roots->asked_again = false;
    al_mcp_ask_peer(roots->peer, &question);
}

void al_mcp_roots_begin(struct al_mcp_peer *p)
{
    struct al_mcp *m = p->mcp;
    if (!m->opts.roots_are_workspace || m->http || !p->client.roots || p->roots)
        return;
    struct al_mcp_roots *roots = al_xcalloc(1, sizeof *roots);
    roots->mcp = m;
    roots->peer = p;
    roots->last = &roots->first;
    roots->waits = true;
    p->roots = roots;
    ask(roots);
}

void al_mcp_roots_changed(struct al_mcp_peer *p)
{
    if (p->roots)
        ask(p->roots);
}

void al_mcp_roots_free(struct al_mcp_peer *p)
{
    if (!p->roots)
        return;
    al_timer_stop(p->roots->timer);
    free(p->roots);
    p->roots = NULL;
}
