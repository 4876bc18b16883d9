/* A server that is a program of ours: messages are lines on its standard input and output. */
#include "base/mem.h"
#include "base/text.h"
#include "config/servers.h"
#include "loop/service.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/spawn.h"
#include "upstream/edges.h"
#include "upstream/upstream_int.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_QUEUE (2 * (size_t)AL_UPSTREAM_MAX_MESSAGE)
#define MAX_EXPANDED (128u << 10) /* of one argument: the kernel's own limit */
#define CLOSED_MS 2000            /* for a program that has closed its output to end by itself */
#define DEPTH "ALISIO_MCP_DEPTH="

struct stdio {
    struct al_transport t;
    struct al_upstream *s;
    struct al_service *service;
    struct al_timer *later; /* opened or ended, in the next turn */
    struct al_err err;
    struct al_rpc_lines lines;
    struct al_edges edges; /* of the line that is being read */
    bool too_long;
    unsigned busy; /* callbacks of ours on the stack */
    bool deaf;     /* its input is closed */
    bool freed;
};

/* --- the command --- */

static int expand(const char *text, char **ret, const struct al_server *server, struct al_err *err)
{
    autobuf struct al_buf out = AL_BUF_INIT(MAX_EXPANDED);
    if (al_server_expand(text, &out, err) < 0)
        return al_wrap(err, "the MCP server %s", server->name);
    if (al_buf_failed(&out))
        return al_fail(err, AL_CONFIG_INVALID, "the MCP server %s: a part of its command is too long",
                       server->name);
    *ret = al_buf_take(&out);
    if (!*ret)
        *ret = al_xstrdup("");
    return 0;
}

static size_t count(char **list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

static int expand_list(char **list, char **out, const struct al_server *server, struct al_err *err)
{
    for (size_t i = 0; list && list[i]; i++)
        if (expand(list[i], &out[i], server, err) < 0)
            return -1;
    return 0;
}

static bool same_variable(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return strncmp(a, b, n) == 0 && b[n] == '=';
}

/* What children may know of our environment, then the server's own, then how deep we are: the last of a name
 * counts.
 */
static int make_env(struct al_upstream *s, char ***ret, struct al_err *err)
{
    char **base = al_env_child();
    size_t n_base = count(base), n_own = count(s->config->env), n = 0;
    char **own = al_xcalloc(n_own + 1, sizeof(*own));
    char **env = al_xcalloc(n_base + n_own + 2, sizeof(*env));
    int r = expand_list(s->config->env, own, s->config, err);
    autofree char *depth = NULL;
    if (asprintf(&depth, DEPTH "%d", s->owner->depth + 1) < 0)
        abort();
    for (size_t i = 0; i < n_base + n_own && r == 0; i++) {
        const char *v = i < n_base ? base[i] : own[i - n_base];
        size_t later = i + 1;
        while (later < n_base + n_own &&
               !same_variable(v, later < n_base ? base[later] : own[later - n_base]))
            later++;
        if (later == n_base + n_own && !same_variable(v, DEPTH))
            env[n++] = al_xstrdup(v);
    }
    env[n] = al_xstrdup(depth);
    const struct al_workspace *ws = al_core_workspace(al_upstream_core(s));
    const char *avoid[] = {al_workspace_root(ws), NULL};
    al_env_clean_path(env, al_workspace_refused(ws, NULL) ? NULL : avoid);
    al_env_free(base);
    al_env_free(own);
    if (r < 0)
        al_env_free(env);
    else
        *ret = env;
    return r;
}

static const char *path_of(char **env)
{
    for (size_t i = 0; env[i]; i++)
        if (strncmp(env[i], "PATH=", 5) == 0)
            return env[i] + 5;
    return NULL;
}

/* A folder that is named without a beginning counts from the workspace. Without one the server starts where
 * no repository can have laid out files for it: a program looks for its configuration and its modules where
 * it is. */
static char *folder_of(struct al_upstream *s, const char *cwd)
{
    const char *root = al_workspace_root(al_core_workspace(al_upstream_core(s))), *home = getenv("HOME");
    char *full = NULL;
    if (cwd && cwd[0] != '/') {
        if (asprintf(&full, "%s/%s", root, cwd) < 0)
            abort();
        return full;
    }
    if (cwd || (home && home[0] == '/' && access(home, X_OK) == 0))
        return al_xstrdup(cwd ? cwd : home);
    full = al_xstrdup(al_store_db_path(al_core_store(al_upstream_core(s))));
    char *slash = strrchr(full, '/');
    if (slash)
        slash[slash == full] = 0;
    return full;
}

static int open_cwd(struct al_upstream *s, int *ret, struct al_err *err)
{
    autofree char *cwd = NULL;
    if (s->config->cwd && expand(s->config->cwd, &cwd, s->config, err) < 0)
        return -1;
    autofree char *full = folder_of(s, cwd);
    *ret = open(full, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*ret >= 0)
        return 0;
    al_fail_errno(err, AL_UPSTREAM_UNAVAILABLE, errno, "the MCP server %s: its folder cannot be opened",
                  s->config->name);
    return al_detail(err, "%s", full);
}

/* A name is looked up in the PATH that the server gets, a path counts from its folder. */
static char *locate(struct al_upstream *s, const char *command, char **env, int cwd_fd)
{
    struct al_core *core = al_upstream_core(s);
    const struct al_workspace *ws = al_core_workspace(core);
    const char *avoid[] = {al_workspace_root(ws), NULL};
    if (!strchr(command, '/'))
        return al_path_find_program_in(path_of(env), command, al_workspace_refused(ws, NULL) ? NULL : avoid);
    if (command[0] == '/')
        return al_xstrdup(command);
    char link[64], folder[4096];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", cwd_fd);
    ssize_t n = readlink(link, folder, sizeof(folder) - 1);
    if (n < 0)
        return NULL;
    folder[n] = 0;
    char *full = NULL;
    if (asprintf(&full, "%s/%s", folder, command) < 0)
        abort();
    return full;
}

static bool is_own(const char *program)
{
    struct stat a, b;
    return stat(program, &a) == 0 && al_self_fd() >= 0 && fstat(al_self_fd(), &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* --- what it says --- */

static void told_too_long(void *ud)
{
    struct stdio *t = ud;
    t->too_long = true;
}

static void end_of_line(struct stdio *t)
{
    bool too_long = t->too_long;
    uint64_t id = too_long ? al_edges_id(&t->edges) : 0;
    al_edges_clear(&t->edges);
    t->too_long = false;
    if (!too_long)
        return;
    struct al_err err;
    al_fail(&err, AL_RESULT_TOO_LARGE, "an answer of the MCP server %s is over %u MiB", t->s->config->name,
            AL_UPSTREAM_MAX_MESSAGE >> 20);
    al_hint(&err, "ask for a part of it");
    if (id)
        t->t.events->lost(t->t.ud, id, AL_LOSS_TOO_BIG, &err);
    else
        al_upstream_noise_add(t->s, AL_STR("(a line that is too long)"));
}

static bool take_line(void *ud, struct al_str line)
{
    struct stdio *t = ud;
    if (line.n >= 3 && memcmp(line.p, "\xef\xbb\xbf", 3) == 0)
        line = al_str_trim((struct al_str){line.p + 3, line.n - 3});
    if (line.n == 0)
        return true;
    if (line.p[0] == '{' || line.p[0] == '[')
        t->t.events->message(t->t.ud, line, 0);
    else
        al_upstream_noise_add(t->s, line);
    return !t->freed;
}

static void let_go(struct stdio *t)
{
    if (t->busy > 0 || !t->freed)
        return;
    al_rpc_lines_free(&t->lines);
    free(t);
}

static void on_output(void *ud, struct al_str bytes)
{
    static const struct al_rpc_sink sink = {.line = take_line, .too_long = told_too_long};
    struct stdio *t = ud;
    if (bytes.n == 0) { /* nothing can come any more, so it ends */
        al_service_stop(t->service, CLOSED_MS);
        return;
    }
    t->busy++;
    while (bytes.n > 0 && !t->freed) {
        const char *nl = memchr(bytes.p, '\n', bytes.n);
        struct al_str part = {bytes.p, nl ? (size_t)(nl - bytes.p) + 1 : bytes.n};
        bytes = (struct al_str){bytes.p + part.n, bytes.n - part.n};
        al_edges_add(&t->edges, part);
        al_rpc_lines_feed(&t->lines, part, &sink, t);
        if (nl && !t->freed)
            end_of_line(t);
    }
    t->busy--;
    let_go(t);
}

static void on_errors(void *ud, struct al_str bytes)
{
    struct stdio *t = ud;
    al_upstream_log_add(t->s, bytes);
}

static int fail_deaf(const struct stdio *t, struct al_err *err)
{
    al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s does not read what it is sent",
            t->s->config->name);
    return al_hint(err, "`alisio mcp doctor %s` shows what it printed", t->s->config->name);
}

static void describe_end(struct stdio *t, const struct al_service_end *end, struct al_err *err)
{
    const char *name = t->s->config->name;
    if (end->exec_errno > 0) {
        t->s->exec_failed = true;
        al_fail_errno(err, AL_UPSTREAM_UNAVAILABLE, end->exec_errno, "the MCP server %s cannot be run", name);
    } else if (t->deaf && end->signal == SIGTERM) {
        fail_deaf(t, err);
    } else if (end->signal) {
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s was killed by signal %d (%s)", name,
                end->signal, sigabbrev_np(end->signal) ? sigabbrev_np(end->signal) : "?");
    } else {
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s has exited with status %d", name,
                end->exit_status);
    }
    al_hint(err, "`alisio mcp doctor %s` shows what it printed", name);
}

static void on_ended(void *ud, const struct al_service_end *end)
{
    static const struct al_rpc_sink sink = {.line = take_line, .too_long = told_too_long};
    struct stdio *t = ud;
    struct al_err err;
    t->service = NULL;
    t->busy++;
    al_rpc_lines_end(&t->lines, &sink, t);
    if (!t->freed) {
        describe_end(t, end, &err);
        t->t.events->ended(t->t.ud, &err);
    }
    t->busy--;
    let_go(t);
}

/* --- the transport --- */

static struct stdio *self(struct al_transport *t)
{
    return (struct stdio *)t;
}

static void tell_opened(void *ud)
{
    struct stdio *t = ud;
    t->later = NULL;
    t->t.events->opened(t->t.ud);
}

static void tell_ended(void *ud)
{
    struct stdio *t = ud;
    t->later = NULL;
    t->t.events->ended(t->t.ud, &t->err);
}

static const struct al_service_ops service_ops = {
    .output = on_output, .errors = on_errors, .ended = on_ended};

static int run(struct stdio *t, const char *program, char **argv, char **env, int cwd_fd, struct al_err *err)
{
    struct al_service_spec spec = {
        .program = program, .argv = argv, .envp = env, .cwd_fd = cwd_fd, .max_queue = MAX_QUEUE};
    if (is_own(program)) {
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s is alisio itself, and is left alone",
                t->s->config->name);
        return al_hint(err, "take it out of the configuration");
    }
    t->service = al_service_start(al_upstream_loop(t->s), &spec, &service_ops, t, err);
    return t->service ? 0 : -1;
}

/* Whether a whole command line stands where the program's name belongs. */
static bool is_whole_line(struct al_upstream *s, const char *command, const char *program, char **env,
                          int cwd_fd)
{
    size_t n = strcspn(command, " ");
    if (n == 0 || !command[n] || (program && access(program, F_OK) == 0))
        return false;
    autofree char *word = al_xdup(command, n);
    autofree char *first = locate(s, word, env, cwd_fd);
    return first && access(first, X_OK) == 0;
}

static int fail_whole_line(const struct stdio *t, const char *command, struct al_err *err)
{
    autobuf struct al_buf shown = AL_BUF_INIT(1024);
    al_text_visible(&shown, al_utf8_cut((struct al_str){command, strcspn(command, " ")}, 100), false);
    al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s: its command is a whole command line",
            t->s->config->name);
    return al_hint(err, "put the arguments into args: \"command\": \"%.*s\", \"args\": [\"…\"]",
                   AL_FMT(al_buf_str(&shown)));
}

static int find_and_run(struct stdio *t, char **argv, char **env, struct al_err *err)
{
    autofd int cwd_fd = -1;
    if (open_cwd(t->s, &cwd_fd, err) < 0)
        return -1;
    autofree char *program = locate(t->s, argv[0], env, cwd_fd);
    if (is_whole_line(t->s, argv[0], program, env, cwd_fd)) {
        t->s->exec_failed = true;
        return fail_whole_line(t, argv[0], err);
    }
    if (program)
        return run(t, program, argv, env, cwd_fd, err);
    t->s->exec_failed = true;
    autobuf struct al_buf shown = AL_BUF_INIT(1024);
    al_text_visible(&shown, al_utf8_cut(al_str_of(argv[0]), 100), false);
    al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s: there is no program \"%.*s\" in PATH",
            t->s->config->name, AL_FMT(al_buf_str(&shown)));
    return al_hint(
        err, "install it, or write its whole path as the command; folders of PATH that are relative, in "
             "the workspace or open to others are not searched");
}

static int prepare(struct stdio *t, struct al_err *err)
{
    const struct al_server *config = t->s->config;
    char **argv = al_xcalloc(count(config->args) + 2, sizeof(*argv));
    char **env = NULL;
    int r = expand(config->command ? config->command : "", &argv[0], config, err);
    if (r == 0)
        r = expand_list(config->args, argv + 1, config, err);
    if (r == 0)
        r = make_env(t->s, &env, err);
    if (r == 0)
        r = find_and_run(t, argv, env, err);
    al_env_free(argv);
    al_env_free(env);
    return r;
}

static void stdio_open(struct al_transport *transport)
{
    struct stdio *t = self(transport);
    t->s->exec_failed = false;
    al_buf_clear(&t->s->log);
    int r = prepare(t, &t->err);
    t->later = al_timer_start(al_upstream_loop(t->s), 0, r < 0 ? tell_ended : tell_opened, t);
}

static int stdio_send(struct al_transport *transport, const struct al_transport_message *m,
                      struct al_err *err)
{
    struct stdio *t = self(transport);
    autobuf struct al_buf line = AL_BUF_INIT(m->json.n + 1);
    al_buf_add_str(&line, m->json);
    al_buf_addc(&line, '\n');
    if (t->service && al_service_write(t->service, al_buf_str(&line)) == 0)
        return 0;
    if (t->service && al_service_queued(t->service) + line.n <= MAX_QUEUE) {
        /* Its input is closed: it is dying, or was never there. Its end says why, which is more than we know.
         */
        if (!t->deaf)
            al_service_stop(t->service, CLOSED_MS);
        t->deaf = true;
        return 0;
    }
    return fail_deaf(t, err);
}

static void stdio_pause(struct al_transport *transport, bool pause)
{
    struct stdio *t = self(transport);
    if (t->service)
        al_service_pause(t->service, pause);
}

static void stdio_close(struct al_transport *transport, uint64_t grace_ms)
{
    struct stdio *t = self(transport);
    if (t->service) {
        if (t->later) /* it would tell of an opening that is over */
            al_timer_stop(t->later);
        t->later = NULL;
        al_service_stop(t->service, grace_ms);
    } else if (!t->later) {
        al_fail(&t->err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s is closed", t->s->config->name);
        t->later = al_timer_start(al_upstream_loop(t->s), 0, tell_ended, t);
    }
}

static void stdio_free(struct al_transport *transport)
{
    struct stdio *t = self(transport);
    al_timer_stop(t->later);
    t->later = NULL;
    al_service_free(t->service);
    t->service = NULL;
    t->freed = true;
    let_go(t);
}

static const struct al_transport_ops stdio_ops = {
    .open = stdio_open,
    .send = stdio_send,
    .pause = stdio_pause,
    .close = stdio_close,
    .free = stdio_free,
};

struct al_transport *al_transport_stdio(struct al_upstream *s, const struct al_transport_events *events,
                                        void *ud)
{
    struct stdio *t = al_xcalloc(1, sizeof(*t));
    t->t = (struct al_transport){.ops = &stdio_ops, .events = events, .ud = ud};
    t->s = s;
    al_rpc_lines_init(&t->lines, AL_UPSTREAM_MAX_MESSAGE);
    return &t->t;
}
