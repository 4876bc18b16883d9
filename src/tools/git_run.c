#include "tools/git_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/spawn.h"
#include "sandbox/landlock.h"

#include <stdio.h>

#define GIT_TIMEOUT_MS 60000
#define SMALL_OUTPUT (4u << 20)
#define MAX_ARGS 600

bool al_git_no_landlock;

static void git_free(struct al_git *g)
{
    g->call->impl = NULL;
    if (g->free_tool)
        g->free_tool(g->tool);
    for (size_t i = 0; i < g->n_filters; i++)
        al_buf_free(&g->filters[i]);
    al_git_repo_free(&g->repo);
    al_buf_free(&g->prefix);
    al_buf_free(&g->programs);
    al_buf_free(&g->out);
    al_buf_free(&g->err);
    free(g);
}

void al_git_cancel(struct al_call *call)
{
    struct al_git *g = call->impl;
    if (g && g->child)
        al_child_cancel(g->child);
}

static void end_now(void *ud)
{
    struct al_git *g = ud;
    struct al_call *call = g->call;
    git_free(g);
    al_call_finish(call);
}

static void work_now(void *ud)
{
    struct al_git *g = ud;
    g->work(g);
}

void al_git_end(struct al_git *g, void (*work)(struct al_git *g))
{
    g->work = work;
    if (work)
        al_work_start(al_core_loop(g->call->core), work_now, end_now, g);
    else
        end_now(g);
}

/* git's own words: what follows the first "fatal: ". */
static void fatal_words(struct al_git *g, struct al_buf *msg)
{
    struct al_str line, rest = al_buf_str(&g->err);
    while (msg->n == 0 && al_tool_next_line(&rest, &line)) {
        if (al_str_starts(line, "fatal: "))
            al_text_visible(msg, al_utf8_head((struct al_str){line.p + 7, line.n - 7}, 300), false);
    }
}

static bool says(struct al_git *g, const char *words)
{
    return al_str_find(al_buf_str(&g->err), al_str_of(words)) >= 0;
}

/* git was kept from reading something: by its index, or is it a file that is not ours? */
static void index_listed(struct al_git *g)
{
    struct al_str rest = al_buf_str(&g->out);
    while (g->exit_status == 0 && rest.n > 0) {
        const char *nul = memchr(rest.p, 0, rest.n);
        struct al_str path = {rest.p, nul ? (size_t)(nul - rest.p) : rest.n};
        if (nul && !al_git_path_is_plain(path)) {
            al_git_fail_path(path, &g->call->err);
            break;
        }
        rest.p += path.n + (nul != NULL);
        rest.n -= path.n + (nul != NULL);
    }
    al_git_end(g, NULL);
}

void al_git_fail(struct al_git *g)
{
    static const char *const list[] = {"ls-files", "-z", "--cached", NULL};
    struct al_err *err = &g->call->err;
    autobuf struct al_buf msg = AL_BUF_INIT(4096);
    fatal_words(g, &msg);
    if (says(g, "not a git repository")) {
        al_fail(err, AL_NOT_FOUND, "the workspace is not in a git repository");
    } else if (says(g, "must be run in a work tree")) {
        al_fail(err, AL_NOT_FOUND,
                "the workspace is no work tree of git (a bare repository, or .git itself)");
    } else if (g->sealed && says(g, "Permission denied")) {
        al_fail(err, AL_PERMISSION_DENIED, "git may not read a file: %.*s", AL_FMT(al_buf_str(&msg)));
        al_hint(err, "it reads nothing outside of the workspace and its repository here");
        al_git_run(g, list, SMALL_OUTPUT, index_listed);
        return;
    } else {
        al_fail(err, AL_TOOL_ERROR, "git failed (exit code %d)%s%.*s", g->exit_status, msg.n > 0 ? ": " : "",
                AL_FMT(al_buf_str(&msg)));
    }
    al_git_end(g, NULL);
}

/* --- one command --- */

struct env {
    char **v;
    size_t n, cap;
};

static void env_add(struct env *e, const char *name, struct al_str value)
{
    autobuf struct al_buf b = AL_BUF_INIT(16384);
    al_buf_addf(&b, "%s=", name);
    al_buf_add_str(&b, value);
    if (e->n + 2 > e->cap) {
        e->cap = e->n * 2 + 16;
        e->v = al_xrealloc(e->v, e->cap * sizeof(*e->v));
    }
    e->v[e->n++] = al_buf_take(&b);
    e->v[e->n] = NULL;
}

static void env_config(struct env *e, unsigned *n, struct al_str key, const char *value)
{
    char name[64];
    snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%u", *n);
    env_add(e, name, key);
    snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%u", *n);
    env_add(e, name, al_str_of(value));
    ++*n;
}

static void env_filter(struct env *e, unsigned *n, struct al_str driver)
{
    static const char *const keys[][2] = {
        {"clean", ""}, {"smudge", ""}, {"process", ""}, {"required", "false"}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        autobuf struct al_buf key = AL_BUF_INIT(8192);
        al_buf_adds(&key, "filter.");
        al_buf_add_str(&key, driver);
        al_buf_addf(&key, ".%s", keys[i][0]);
        env_config(e, n, al_buf_str(&key), keys[i][1]);
    }
}

/* No configuration but the repository's own, no question, no helper. safe.directory: what another user owns
 * may be read, since nothing of it is run. */
static char **git_env(struct al_git *g)
{
    static const char *const fixed[][2] = {
        {"GIT_CONFIG_NOSYSTEM", "1"},   {"GIT_CONFIG_GLOBAL", "/dev/null"},
        {"GIT_TERMINAL_PROMPT", "0"},   {"GIT_OPTIONAL_LOCKS", "0"},
        {"GIT_ATTR_NOSYSTEM", "1"},     {"GIT_PAGER", "cat"},
        {"GIT_ALLOW_PROTOCOL", "none"}, {"GIT_NO_LAZY_FETCH", "1"},
        {"GIT_ASKPASS", "/bin/false"},  {"GIT_EDITOR", "/bin/false"},
        {"LC_ALL", "C.UTF-8"},
    };
    const struct al_workspace *ws = al_core_workspace(g->call->core);
    const char *avoid[] = {al_workspace_root(ws), NULL};
    struct env e = {.v = al_env_child()};
    al_env_clean_path(e.v, al_workspace_refused(ws, NULL) ? NULL : avoid);
    while (e.v[e.n])
        e.n++;
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        env_add(&e, fixed[i][0], al_str_of(fixed[i][1]));
    unsigned n = 0;
    env_config(&e, &n, AL_STR("safe.directory"), "*");
    if (g->no_excludes)
        env_config(&e, &n, AL_STR("core.excludesFile"), "/dev/null");
    if (g->no_attributes)
        env_config(&e, &n, AL_STR("core.attributesFile"), "/dev/null");
    for (size_t i = 0; i < g->n_filters; i++)
        env_filter(&e, &n, al_buf_str(&g->filters[i]));
    char count[16];
    snprintf(count, sizeof(count), "%u", n);
    env_add(&e, "GIT_CONFIG_COUNT", al_str_of(count));
    return e.v;
}

static void command_done(void *ud, const struct al_child_end *end)
{
    struct al_git *g = ud;
    struct al_err unused = {0}, *err = g->call->err.code == AL_OK ? &g->call->err : &unused;
    g->child = NULL;
    al_buf_free(&g->out);
    al_buf_free(&g->err);
    g->out = *end->out;
    al_buf_init(end->out, end->out->max);
    g->err = *end->err;
    al_buf_init(end->err, end->err->max);
    g->exit_status = end->exit_status;
    g->out_truncated = end->out_truncated;
    if (end->cancelled)
        al_fail(err, AL_CANCELLED, "git was cancelled");
    else if (end->exec_errno > 0)
        al_fail_errno(err, AL_RUNTIME_UNAVAILABLE, end->exec_errno, "git does not start");
    else if (end->timed_out)
        al_fail(err, AL_TOOL_TIMEOUT, "git took over %d s", GIT_TIMEOUT_MS / 1000);
    else if (end->signal)
        al_fail(err, AL_TOOL_ERROR, "git was killed by signal %d", end->signal);
    if (err->code != AL_OK)
        al_git_end(g, NULL);
    else
        g->next(g);
}

void al_git_run(struct al_git *g, const char *const *args, size_t max_output, void (*next)(struct al_git *g))
{
    static const char *const before[] = {"git",
                                         "--no-optional-locks",
                                         "--no-pager",
                                         "-c",
                                         "core.fsmonitor=false",
                                         "-c",
                                         "core.hooksPath=/dev/null",
                                         "-c",
                                         "diff.external=",
                                         "-c",
                                         "diff.orderFile=/dev/null",
                                         "-c",
                                         "core.sshCommand=/bin/false"};
    const char *argv[MAX_ARGS];
    size_t n = 0;
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
        argv[n++] = before[i];
    for (size_t i = 0; args[i] && n + 1 < MAX_ARGS; i++)
        argv[n++] = args[i];
    argv[n] = NULL;
    char **env = git_env(g);
    struct al_child_spec spec = {
        .program = g->program,
        .argv = (char *const *)argv,
        .envp = env,
        .cwd_fd = al_workspace_fd(al_core_workspace(g->call->core)),
        .seal = g->sealed ? AL_CHILD_SEAL_GIT : AL_CHILD_OPEN,
        .read_fds = g->sealed ? g->repo.fds : NULL,
        .n_read_fds = g->sealed ? g->repo.n_fds : 0,
        .max_output = max_output,
        .timeout_ms = GIT_TIMEOUT_MS,
    };
    g->next = next;
    struct al_err err = {0};
    g->child = al_child_start(al_core_loop(g->call->core), &spec, command_done, g, &err);
    al_env_free(env);
    if (g->child)
        return;
    if (g->call->err.code == AL_OK)
        g->call->err = err;
    al_git_end(g, NULL);
}

/* --- looking at the repository --- */

static void refuse(struct al_git *g, const char *hint)
{
    al_hint(&g->call->err, "%s", hint);
    al_git_end(g, NULL);
}

/* Patterns that the user keeps elsewhere, which git may not read: it would end over them. */
static bool leads_elsewhere(const char *workspace, struct al_str list, const char *key)
{
    struct al_str value = {0};
    if (!al_git_config_get(list, key, &value) || value.n == 0)
        return false;
    autofree char *z = al_xdup(value.p, value.n);
    bool inside = z[0] == '/' ? al_git_is_beneath(workspace, z) : z[0] != '~' && z[0] != '%';
    return !inside || strstr(z, "..");
}

static void config_listed(struct al_git *g)
{
    struct al_err *err = &g->call->err;
    if (g->exit_status != 0) {
        al_git_fail(g);
        return;
    }
    int r = g->out_truncated ? -1
                             : al_git_config_scan(al_buf_str(&g->out), g->filters, AL_GIT_MAX_FILTERS,
                                                  &g->n_filters, &g->programs);
    if (r < 0) {
        al_fail(err, AL_UNTRUSTED_REPOSITORY, "the repository's configuration is too large to be checked");
        refuse(g, "look at .git/config");
        return;
    }
    struct al_str list = al_buf_str(&g->out), value = {0};
    if (g->repo.needs_worktree && !al_git_config_get(list, "core.worktree", &value)) {
        al_git_fail_elsewhere(err);
        al_git_end(g, NULL);
        return;
    }
    if (!g->sealed && g->programs.n > 0) {
        al_fail(err, AL_UNTRUSTED_REPOSITORY,
                "the repository's configuration names programs that git would run: %.*s",
                AL_FMT(al_buf_str(&g->programs)));
        refuse(g, "this kernel has no Landlock to keep them from running; use git yourself if you trust the "
                  "repository");
        return;
    }
    value = al_git_config_include(list);
    if (!g->sealed && value.n > 0) {
        al_fail(err, AL_UNTRUSTED_REPOSITORY, "the repository's configuration includes another file");
        refuse(g, "this kernel has no Landlock to keep git from reading any file that it names");
        return;
    }
    const char *workspace = al_workspace_root(al_core_workspace(g->call->core));
    g->no_excludes = leads_elsewhere(workspace, list, "core.excludesfile");
    g->no_attributes = leads_elsewhere(workspace, list, "core.attributesfile");
    g->ready(g);
}

static void located(struct al_git *g)
{
    struct al_str rest = al_buf_str(&g->out), top = {0}, dir = {0}, common = {0}, prefix = {0};
    struct al_err *err = &g->call->err;
    if (g->exit_status != 0) {
        al_git_fail(g);
        return;
    }
    bool lines =
        al_tool_next_line(&rest, &top) && al_tool_next_line(&rest, &dir) && al_tool_next_line(&rest, &common);
    if (!lines || (al_tool_next_line(&rest, &prefix), rest.n > 0)) {
        al_fail(err, AL_TOOL_ERROR, "the repository's path holds a line break");
        al_git_end(g, NULL);
        return;
    }
    autofree char *z_top = al_xdup(top.p, top.n), *z_dir = al_xdup(dir.p, dir.n);
    autofree char *z_common = al_xdup(common.p, common.n);
    if (al_git_check_dirs(&g->repo, al_workspace_root(al_core_workspace(g->call->core)), z_top, z_dir,
                          z_common, err) < 0) {
        al_git_end(g, NULL);
        return;
    }
    al_buf_add_str(&g->prefix, prefix);
    const char *const args[] = {"config",       "--list", g->sealed ? "--includes" : "--no-includes",
                                "--show-scope", "-z",     NULL};
    al_git_run(g, args, SMALL_OUTPUT, config_listed);
}

static void find_repo(struct al_git *g)
{
    const char *workspace = al_workspace_root(al_core_workspace(g->call->core));
    if (al_git_find(workspace, g->sealed, &g->repo, &g->call->err) < 0)
        return;
    if (atomic_load(&g->call->cancelled))
        al_fail(&g->call->err, AL_CANCELLED, "git was cancelled");
}

static void repo_found(void *ud)
{
    static const char *const args[] = {"rev-parse",
                                       "--path-format=absolute",
                                       "--show-toplevel",
                                       "--absolute-git-dir",
                                       "--git-common-dir",
                                       "--show-prefix",
                                       NULL};
    struct al_git *g = ud;
    if (g->call->err.code != AL_OK)
        al_git_end(g, NULL);
    else
        al_git_run(g, args, SMALL_OUTPUT, located);
}

static int git_begin(struct al_git *g, struct al_err *err)
{
    if (al_workspace_refused(al_core_workspace(g->call->core), err))
        return -1;
    g->program = al_tool_program(g->call, "git", "apt install git (or your system's package of it)", err);
    return g->program ? 0 : -1;
}

void al_git_start(struct al_call *call, void (*ready)(struct al_git *g))
{
    struct al_git *g = al_xcalloc(1, sizeof(*g));
    g->call = call;
    g->ready = ready;
    g->sealed = !al_git_no_landlock && al_landlock_abi() > 0;
    al_buf_init(&g->prefix, 16384);
    al_buf_init(&g->programs, 400);
    call->impl = g;
    if (git_begin(g, &call->err) < 0) {
        al_git_end(g, NULL);
        return;
    }
    g->work = find_repo;
    al_work_start(al_core_loop(call->core), work_now, repo_found, g);
}
