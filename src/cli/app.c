#include "cli/app.h"

#include "base/mem.h"
#include "config/providers.h"
#include "cli/mcp_common.h"
#include "cli/term.h"
#include "os/fd.h"
#include "os/path.h"
#include "tools/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_PROJECT_FILE (1u << 20)
#define MAX_SERVERS_FILE (32u << 20)

void al_app_init(struct al_app *app)
{
    const struct al_args *args = &app->args;
    app->json = al_args_has(args, AL_FLAG_JSON);
    app->quiet = al_args_has(args, AL_FLAG_QUIET);
    bool no_color = al_args_has(args, AL_FLAG_NO_COLOR);
    app->tty = !app->json && al_fd_is_tty(STDOUT_FILENO);
    app->err_tty = !app->json && al_term_moves(STDERR_FILENO);
    app->color = app->tty && !no_color && al_term_color(STDOUT_FILENO);
    app->err_color = app->err_tty && !no_color && al_term_color(STDERR_FILENO);
    app->width = app->tty ? al_term_width(STDOUT_FILENO) : 0;
}

void al_set_true(void *ud)
{
    *(bool *)ud = true;
}

static void close_core(struct al_app *app)
{
    if (!app->core)
        return;
    bool idle = false, stopped = false;
    al_core_shutdown(app->core, al_set_true, &idle);
    al_loop_run_until(app->loop, &idle, 0);
    if (app->upstreams) {
        al_upstreams_stop(app->upstreams, al_set_true, &stopped);
        al_loop_run_until(app->loop, &stopped, 0);
        al_upstreams_free(app->upstreams);
        app->upstreams = NULL;
    }
    al_control_close(app->core);
    al_core_free(app->core);
    app->core = NULL;
}

void al_app_close(struct al_app *app)
{
    close_core(app);
    for (size_t i = 0; i < sizeof app->signals / sizeof *app->signals; i++) {
        al_signal_stop(app->signals[i]);
        app->signals[i] = NULL;
    }
    if (app->loop)
        al_loop_free(app->loop);
    al_config_free(app->config);
    al_servers_free(&app->servers);
    if (app->store)
        al_store_close(app->store);
    free(app->workspace);
    free(app->user_file);
    free(app->project_file);
    al_buf_free(&app->project_bytes);
}

struct al_loop *al_app_loop(struct al_app *app)
{
    if (!app->loop)
        app->loop = al_loop_new();
    return app->loop;
}

int al_app_workspace(struct al_app *app, struct al_err *err)
{
    if (app->workspace)
        return 0;
    const char *cwd = app->args.value[AL_FLAG_CWD];
    app->workspace = al_path_real(cwd ? cwd : ".", err);
    if (app->workspace)
        return 0;
    err->code = AL_INVALID_INPUT;
    if (cwd)
        return al_wrap(err, "--cwd");
    al_wrap(err, "the current folder");
    return al_hint(err, "change to a folder that exists, or give --cwd DIR");
}

/* --- config --- */

static char *join(const char *dir, const char *name)
{
    struct al_buf b = AL_BUF_INIT(1 << 16);
    al_buf_adds(&b, dir);
    if (b.n == 0 || b.p[b.n - 1] != '/')
        al_buf_addc(&b, '/');
    al_buf_adds(&b, name);
    return al_buf_take(&b);
}

int al_app_read_project(const char *dir, struct al_buf *ret_bytes, char ret_sha[AL_SHA256_HEX],
                        struct al_err *err)
{
    autofree char *path = join(dir, ".alisio/config.json");
    autofd int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    static const char shown[] = "its .alisio/config.json";
    if (fd < 0 && errno == ELOOP)
        return al_fail(err, AL_INVALID_INPUT, "%s is a link", shown);
    if (fd < 0)
        return al_fail_errno(err, AL_INVALID_INPUT, errno, "%s cannot be read", shown);
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return al_fail(err, AL_INVALID_INPUT, "%s is no regular file", shown);
    al_buf_init(ret_bytes, MAX_PROJECT_FILE);
    int r = al_fd_read_all(fd, ret_bytes);
    if (r < 0)
        return al_fail_errno(err, AL_INVALID_INPUT, -r, "%s cannot be read", shown);
    al_sha256(al_buf_str(ret_bytes), ret_sha);
    return 1;
}

/* The bytes that are hashed are the bytes that are used. */
static int find_trust(struct al_app *app, struct al_err *err)
{
    char sha[AL_SHA256_HEX];
    struct al_err why;
    int has = al_app_read_project(app->workspace, &app->project_bytes, sha, &why);
    if (has == 0)
        return 0;
    app->project_file = join(app->workspace, ".alisio/config.json");
    app->project_read = has > 0;
    if (al_args_has(&app->args, AL_FLAG_TRUST_PROJECT)) {
        app->project_trusted = true;
        return 0;
    }
    if (al_app_store(app, err) < 0)
        return -1;
    app->project_trusted = app->project_read && al_store_trusted(app->store, app->workspace, sha);
    return 0;
}

static char *absolute(const char *path)
{
    char cwd[PATH_MAX];
    if (path[0] == '/' || !getcwd(cwd, sizeof cwd))
        return al_xstrdup(path);
    return join(cwd, path);
}

static void tell_notices(struct al_app *app)
{
    const char *const *notices;
    size_t n = al_config_notices(app->config, &notices);
    for (size_t i = 0; i < n; i++)
        al_app_warn(app, "%s", notices[i]);
}

int al_app_config_lenient(struct al_app *app, struct al_err *err)
{
    if (app->config)
        return 0;
    if (al_app_workspace(app, err) < 0)
        return -1;
    const char *explicit_file = app->args.value[AL_FLAG_CONFIG];
    if (!explicit_file && find_trust(app, err) < 0)
        return -1;
    autofree char *home = al_config_home();
    autofree char *named = explicit_file ? absolute(explicit_file) : NULL;
    if (!app->user_file)
        app->user_file = join(home, "config.json");
    struct al_str bytes = al_buf_str(&app->project_bytes);
    struct al_config_sources src = {
        .user_file = app->user_file,
        .project_bytes = !named && app->project_read ? &bytes : NULL,
        .project_file = named ? named : app->project_file,
        .project_is_explicit = explicit_file != NULL,
        .project_trusted = app->project_trusted,
    };
    if (al_config_load(&src, &app->config, &app->config_err) == 0)
        al_err_clear(&app->config_err);
    if (!app->config) {
        *err = app->config_err;
        return -1;
    }
    al_keys_hide(al_config_providers(app->config), app->args.value[AL_FLAG_KEY_ENV]);
    return 0;
}

int al_app_config(struct al_app *app, struct al_err *err)
{
    bool first = !app->config;
    if (al_app_config_lenient(app, err) < 0)
        return -1;
    if (app->config_err.code != AL_OK) {
        *err = app->config_err;
        if (app->config_err.detail[0])
            al_wrap(err, "%s", app->config_err.detail);
        return -1;
    }
    if (first)
        tell_notices(app);
    return 0;
}

/* --- store --- */

char *al_app_state_dir(const struct al_app *app)
{
    const char *db = app->args.value[AL_FLAG_DB];
    if (!db)
        return al_state_home();
    char *path = absolute(db);
    char *slash = strrchr(path, '/');
    if (slash && slash != path)
        *slash = 0;
    else if (slash)
        slash[1] = 0;
    return path;
}

int al_app_store(struct al_app *app, struct al_err *err)
{
    if (app->store)
        return 0;
    const char *db = app->args.value[AL_FLAG_DB];
    autofree char *dir = al_app_state_dir(app);
    autofree char *path = db ? absolute(db) : NULL;
    if (al_store_open(dir, path, &app->store, err) == 0)
        return 0;
    if (db && !err->hint[0])
        al_hint(err, "--db FILE wants a folder of its own, open to you alone (mode 0700)");
    return -1;
}

int al_app_session(struct al_app *app, struct al_session *ret, struct al_err *err)
{
    if (al_app_workspace(app, err) < 0 || al_app_store(app, err) < 0)
        return -1;
    const char *id = app->args.value[AL_FLAG_SESSION];
    if (!id)
        return al_store_session_default(app->store, app->workspace, ret, err);
    if (strcmp(id, "new") == 0)
        return al_store_session_new(app->store, app->workspace, ret, err);
    return al_store_session_get(app->store, id, ret, err);
}

struct newest {
    char id[AL_ID_MAX];
};

static bool keep_newest(void *ud, const struct al_run *run)
{
    struct newest *n = ud;
    memcpy(n->id, run->id, sizeof n->id);
    return false;
}

int al_app_run_id(struct al_app *app, const char *word, struct al_run *ret, struct al_err *err)
{
    struct newest newest = {""};
    if (al_app_workspace(app, err) < 0)
        return -1;
    if (strcmp(word, "last") != 0) {
        if (!al_id_valid(al_str_of(word), "exec")) {
            al_fail(err, AL_INVALID_INPUT, "%.80s is not the id of a run", word);
            return al_hint(err, "`alisio runs list` shows the ids; `last` is the newest run");
        }
        if (al_app_store(app, err) < 0)
            return -1;
        return al_store_run_get(app->store, word, ret, err);
    }
    if (al_app_store(app, err) < 0)
        return -1;
    struct al_run_filter filter = {
        .workspace = app->workspace, .session = app->args.value[AL_FLAG_SESSION], .limit = 1};
    if (al_store_run_each(app->store, &filter, keep_newest, &newest, err) < 0)
        return -1;
    if (!newest.id[0]) {
        al_fail(err, AL_NOT_FOUND, "nothing has run in this workspace yet");
        return al_hint(err, "`alisio js -e '1 + 1'` runs something; --cwd DIR looks into another workspace");
    }
    return al_store_run_get(app->store, newest.id, ret, err);
}

/* --- MCP servers --- */

static int read_servers_of(struct al_app *app, const char *path, struct al_err *err)
{
    autobuf struct al_buf text = AL_BUF_INIT(0), notices = AL_BUF_INIT(1 << 20);
    char real[PATH_MAX];
    size_t first = app->servers.n;
    enum al_servers_shape shape = al_servers_shape_of(path);
    if (al_app_read_text(path, MAX_SERVERS_FILE, &text, err) < 0 ||
        al_servers_read(al_buf_str(&text), shape, path, &app->servers, &notices, err) < 0)
        return al_wrap(err, "--mcp-config");
    al_servers_root(&app->servers, first, realpath(path, real) ? real : path, false, &notices);
    struct al_str rest = al_buf_str(&notices);
    while (rest.n) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        al_app_warn(app, "%s: %.*s", path, (int)(n > 500 ? 500 : n), rest.p);
        n += end != NULL;
        rest = (struct al_str){rest.p + n, rest.n - n};
    }
    return 0;
}

/* A file of --mcp-config wins over the user's; where both say the same, the user's policy counts. */
int al_app_servers(struct al_app *app, struct al_err *err)
{
    if (app->servers_read)
        return 0;
    if (al_app_config_lenient(app, err) < 0)
        return -1;
    const char *const *files = app->args.list[AL_LIST_MCP_CONFIGS];
    for (size_t i = 0; files[i]; i++)
        if (read_servers_of(app, files[i], err) < 0)
            return -1;
    const struct al_servers *own = al_config_servers(app->config);
    for (size_t i = 0; i < own->n; i++) {
        const struct al_server *s = &own->v[i], *have = al_servers_find(&app->servers, al_str_of(s->name));
        if (!have) {
            if (al_servers_add(&app->servers, s, err) < 0)
                return -1;
            continue;
        }
        for (size_t k = 0; strcmp(have->sha256, s->sha256) == 0 && k < s->n_rules; k++)
            al_server_add_rule(&app->servers.v[have - app->servers.v], s->rules[k].pattern,
                               s->rules[k].policy);
    }
    app->servers_read = true;
    return 0;
}

static void make_upstreams(struct al_app *app)
{
    const char *exposed = app->args.value[AL_FLAG_EXPOSE];
    struct al_upstreams_opts o = {.servers = &app->servers,
                                  .allow = app->args.list[AL_LIST_ALLOW_MCP],
                                  .relay = exposed && strstr(exposed, "upstream")};
    al_warn_allow_mcp(app);
    if (app->servers.n)
        app->upstreams = al_upstreams_new(app->core, &o);
}

/* --- core --- */

static void on_signal(void *ud, int signum)
{
    struct al_app *app = ud;
    if (app->signal || !app->on_signal) {
        /* Asked twice, or nothing that could stop in order: at once. What runs dies with us. */
        al_app_progress_end(app);
        _exit(128 + signum);
    }
    app->signal = signum;
    app->on_signal(app->on_signal_ud);
}

/* A signal that was ignored when we started (nohup, a background job of a shell) stays ignored. */
static bool is_ignored(int signum)
{
    struct sigaction now;
    return sigaction(signum, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void al_app_catch_signals(struct al_app *app, void (*fn)(void *ud), void *ud)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    app->on_signal = fn;
    app->on_signal_ud = ud;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!app->signals[i] && !is_ignored(numbers[i]))
            app->signals[i] = al_signal_start(al_app_loop(app), numbers[i], on_signal, app);
}

bool al_app_can_ask(const struct al_app *app)
{
    return !app->json && !app->quiet && al_fd_is_tty(STDIN_FILENO) && al_fd_is_tty(STDERR_FILENO);
}

bool al_app_repository_trusted(const struct al_app *app)
{
    if (app->project_trusted || al_args_has(&app->args, AL_FLAG_TRUST_PROJECT))
        return true;
    return !app->project_file && app->store && al_store_trusted(app->store, app->workspace, "");
}

/* The flag, else ALISIO_ISOLATION: either may only raise what the config says. */
static int read_isolation(const struct al_app *app, enum al_py_policy *ret, struct al_err *err)
{
    const char *flag = app->args.value[AL_FLAG_ISOLATION], *env = getenv("ALISIO_ISOLATION");
    const char *word = flag ? flag : env && *env ? env : "preferred";
    if (strcmp(word, "strict") == 0)
        *ret = AL_PY_STRICT;
    else if (strcmp(word, "required") == 0)
        *ret = AL_PY_REQUIRED;
    else if (strcmp(word, "preferred") == 0)
        *ret = AL_PY_PREFERRED;
    else
        return al_fail(err, AL_INVALID_INPUT, "%s is required or strict, not %.40s",
                       flag ? "--isolation" : "ALISIO_ISOLATION", word);
    return 0;
}

/* Without a value: where something isolates Python. */
static int read_allow_analysis(const struct al_app *app, struct al_policy *policy, struct al_err *err)
{
    const char *value = app->args.value[AL_FLAG_ALLOW_ANALYSIS];
    if (!value)
        return 0;
    if (*value && strcmp(value, "unsandboxed") != 0)
        return al_fail(err, AL_INVALID_INPUT, "--allow-analysis takes =unsandboxed or nothing, not %.40s",
                       value);
    policy->allow_analysis = true;
    policy->allow_analysis_unsandboxed = *value != 0;
    return 0;
}

int al_app_core(struct al_app *app, const char *source, struct al_err *err)
{
    bool mcp = strcmp(source, "mcp") == 0;
    const struct al_args *args = &app->args;
    if (app->core)
        return 0;
    if ((mcp ? al_app_config_lenient(app, err) : al_app_config(app, err)) < 0 || al_app_store(app, err) < 0)
        return -1;
    struct al_core_opts o = {
        .loop = al_app_loop(app),
        .config = app->config,
        .store = app->store,
        .policy = {.read_only = al_args_has(args, AL_FLAG_READ_ONLY),
                   .allow_write = al_args_has(args, AL_FLAG_ALLOW_WRITE),
                   .allow_process = al_args_has(args, AL_FLAG_ALLOW_PROCESS),
                   .allow_external = al_args_has(args, AL_FLAG_ALLOW_EXTERNAL)},
        .cwd = args->value[AL_FLAG_CWD],
        .add_dirs = args->n_list[AL_LIST_DIRS] ? args->list[AL_LIST_DIRS] : NULL,
        .session = args->value[AL_FLAG_SESSION],
        .source = source,
        .config_err = app->config_err.code != AL_OK ? &app->config_err : NULL,
        .can_ask = !mcp && al_app_can_ask(app),
        .python = args->value[AL_FLAG_PYTHON],
    };
    if (read_isolation(app, &o.isolation, err) < 0 || read_allow_analysis(app, &o.policy, err) < 0)
        return -1;
    if (al_app_servers(app, err) < 0 || al_core_new(&o, &app->core, err) < 0)
        return -1;
    al_tools_register(app->core);
    make_upstreams(app);
    return 0;
}

/* --- reading --- */

void al_app_put_path(const struct al_app *app, struct al_jw *w, const char *key, const char *word)
{
    autobuf struct al_buf path = AL_BUF_INIT(2 * PATH_MAX);
    char here[PATH_MAX];
    bool plain = word[0] == '/' || al_str_starts(al_str_of(word), "scratch:");
    if (!plain)
        al_buf_addf(&path, "%s/", app->workspace);
    al_buf_adds(&path, word);
    al_buf_addc(&path, 0);
    /* With --cwd a shell still completes names in the folder that it is in. */
    if (!plain && !al_buf_failed(&path) && access(path.p, F_OK) < 0 && access(word, F_OK) == 0 &&
        realpath(word, here))
        al_jw_kstrz(w, key, here);
    else
        al_jw_kstr(w, key, (struct al_str){path.p, path.n ? path.n - 1 : 0});
}

static int read_failed(const char *shown, int eno, size_t max, struct al_err *err)
{
    if (eno == EFBIG)
        return al_fail(err, AL_INVALID_INPUT, "%s is larger than %zu KiB", shown, max >> 10);
    if (eno == ENOENT || eno == ENOTDIR) {
        al_fail(err, AL_NOT_FOUND, "there is no file %s", shown);
        return al_hint(err, "check the path; it is taken from the current folder");
    }
    if (eno == EISDIR)
        return al_fail(err, AL_INVALID_INPUT, "%s is a folder", shown);
    if (eno == EACCES)
        return al_fail(err, AL_PERMISSION_DENIED, "you may not read %s", shown);
    return al_fail_errno(err, AL_INVALID_INPUT, eno, "%s cannot be read", shown);
}

int al_app_read_text(const char *path, size_t max, struct al_buf *out, struct al_err *err)
{
    bool is_std = strcmp(path, "-") == 0;
    const char *shown = is_std ? "standard input" : path;
    autofd int fd = -1;
    if (!is_std) {
        /* A person's own path: no containment. */
        fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
            return read_failed(shown, errno, max, err);
    }
    al_buf_init(out, max);
    int r = al_fd_read_all(is_std ? STDIN_FILENO : fd, out);
    if (r < 0)
        return read_failed(shown, -r, max, err);
    return 0;
}
