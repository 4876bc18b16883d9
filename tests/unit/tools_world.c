#include "test.h"

#include "tools_world.h"

#include "base/mem.h"
#include "base/text.h"
#include "jsvm/engine.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/spawn.h"
#include "sandbox/supervise.h"
#include "tools/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void world_main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], AL_SUPERVISE_VERB) == 0)
        exit(al_supervise_main(argc, argv));
    al_self_open();
    signal(SIGPIPE, SIG_IGN);
}

static void write_at(const char *path, const void *p, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(al_fd_write_all(fd, (struct al_str){p, n}), 0);
    close(fd);
}

void world_make(struct world *w)
{
    memset(w, 0, sizeof *w);
    snprintf(w->dir, sizeof w->dir, "/tmp/alisio-tools-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->work, sizeof w->work, "%s/work", w->dir);
    snprintf(w->state, sizeof w->state, "%s/state", w->dir);
    assert_int_equal(mkdir(w->work, 0755), 0);
}

void world_open(struct world *w, const struct world_opts *o)
{
    struct al_err err = {0};
    if (!w->dir[0])
        world_make(w);
    char home[96], file[128], cwd[256];
    snprintf(home, sizeof home, "%s/config", w->dir);
    snprintf(file, sizeof file, "%s/config.json", home);
    assert_true(mkdir(home, 0700) == 0 || errno == EEXIST);
    snprintf(cwd, sizeof cwd, "%s/%s", w->work, o->sub ? o->sub : "");
    setenv("ALISIO_CONFIG_HOME", home, 1);
    autofree char *tmp = NULL;
    assert_true(
        asprintf(&tmp, "%s/%s", o->scratch_in ? w->work : w->dir, o->scratch_in ? o->scratch_in : "") > 0);
    setenv("ALISIO_TMPDIR", tmp, 1);
    setenv("HOME", w->dir, 1);
    unsetenv("XDG_CONFIG_HOME");
    if (!o->keep_path)
        setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
    const char *config = o->config ? o->config : "{}";
    write_at(file, config, strlen(config));
    assert_int_equal(chmod(file, 0600), 0);
    struct al_config_sources src = {.user_file = file};
    if (al_config_load(&src, &w->config, &err) < 0)
        fail_msg("config: %s", err.msg);
    if (al_store_open(w->state, NULL, &w->store, &err) < 0)
        fail_msg("store: %s", err.msg);
    w->loop = al_loop_new();
    struct al_core_opts opts = {.loop = w->loop,
                                .config = w->config,
                                .store = w->store,
                                .policy = o->policy,
                                .cwd = cwd,
                                .source = o->source ? o->source : "mcp"};
    if (al_core_new(&opts, &w->core, &err) < 0)
        fail_msg("core: %s", err.msg);
    al_tools_register(w->core);
}

static void set_true(void *ud)
{
    *(bool *)ud = true;
}

void world_close(struct world *w)
{
    bool idle = false;
    if (w->core) {
        al_core_shutdown(w->core, set_true, &idle);
        assert_true(al_loop_run_until(w->loop, &idle, 20000));
        al_core_free(w->core);
        al_loop_free(w->loop);
        al_store_close(w->store);
        al_config_free(w->config);
    }
    int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(al_path_remove_tree(tmp, strrchr(w->dir, '/') + 1), 0);
    close(tmp);
    memset(w, 0, sizeof *w);
}

static void path_of(struct world *w, const char *rel, char *out, size_t size)
{
    int n = snprintf(out, size, "%s/%s", w->work, rel);
    assert_true(n > 0 && (size_t)n < size);
}

void put_bytes(struct world *w, const char *rel, const void *p, size_t n)
{
    char path[1024];
    path_of(w, rel, path, sizeof path);
    for (char *s = path + strlen(w->work) + 1; (s = strchr(s, '/')); s++) {
        *s = 0;
        assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
        *s = '/';
    }
    write_at(path, p, n);
}

void put(struct world *w, const char *rel, const char *text)
{
    put_bytes(w, rel, text, strlen(text));
}

char *get(struct world *w, const char *rel)
{
    char path[1024];
    path_of(w, rel, path, sizeof path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    struct al_buf b = AL_BUF_INIT(64u << 20);
    assert_int_equal(al_fd_read_all(fd, &b), 0);
    close(fd);
    return al_buf_take(&b);
}

bool there(struct world *w, const char *rel)
{
    struct stat st;
    char path[1024];
    path_of(w, rel, path, sizeof path);
    return lstat(path, &st) == 0;
}

void sh(struct world *w, const char *line)
{
    char z_sh[] = "sh", z_c[] = "-ec", *command = al_xstrdup(line);
    char *argv[] = {z_sh, z_c, command, NULL};
    char **env = al_env_child();
    int dir = open(w->work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct al_fd_map fds[] = {{2, 2}};
    struct al_spawn how = {
        .path = "/bin/sh", .exec_fd = -1, .argv = argv, .envp = env, .cwd_fd = dir, .fds = fds, .n_fds = 1};
    struct al_err err = {0};
    struct al_exit end;
    pid_t pid;
    int pidfd;
    assert_int_equal(al_spawn(&how, &pid, &pidfd, &err), 0);
    assert_int_equal(al_reap(pidfd, true, &end), 1);
    close(pidfd);
    close(dir);
    al_env_free(env);
    if (!end.exited || end.status != 0)
        fail_msg("failed (%d): %s", end.status, line);
    free(command);
}

static void on_done(void *ud, struct al_call *c)
{
    struct reply *r = ud;
    r->code = c->err.code;
    memcpy(r->msg, c->err.msg, sizeof r->msg);
    memcpy(r->hint, c->err.hint, sizeof r->hint);
    r->text = al_xdup(c->text.p, c->text.n);
    r->structured = al_xdup(c->structured.p, c->structured.n);
    r->n_structured = c->structured.n;
    assert_true(al_utf8_valid(al_buf_str(&c->text)));
    assert_true(c->structured.n <= AL_CALL_MAX_RESULT);
    r->call = NULL;
    r->done = true;
}

static void start_call(struct world *w, enum al_origin origin, bool approved, const char *tool,
                       const char *args, struct reply *r)
{
    memset(r, 0, sizeof *r);
    struct al_call_spec spec = {
        .tool = al_str_of(tool),
        .args_json = al_str_of(args),
        .origin = origin,
        .run_id = origin == AL_ORIGIN_SCRIPT ? "exec_00000000000000000000000000" : NULL,
        .preapproved = approved,
        .done = on_done,
        .ud = r,
    };
    r->call = al_core_call(w->core, &spec);
}

void start(struct world *w, enum al_origin origin, const char *tool, const char *args, struct reply *r)
{
    start_call(w, origin, origin == AL_ORIGIN_SCRIPT, tool, args, r);
}

void finish(struct world *w, struct reply *r)
{
    struct al_err err = {0};
    assert_true(al_loop_run_until(w->loop, &r->done, 60000));
    if (r->n_structured == 0)
        return;
    al_arena_init(&r->arena, 512u << 20);
    if (al_json_parse(&r->arena, (struct al_str){r->structured, r->n_structured}, &r->json, &err) < 0)
        fail_msg("structured value: %s", err.msg);
}

struct reply call_as(struct world *w, enum al_origin origin, const char *tool, const char *args)
{
    struct reply r;
    start(w, origin, tool, args, &r);
    finish(w, &r);
    return r;
}

struct reply call_plain(struct world *w, enum al_origin origin, const char *tool, const char *args)
{
    struct reply r;
    start_call(w, origin, false, tool, args, &r);
    finish(w, &r);
    return r;
}

struct reply call(struct world *w, const char *tool, const char *args, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, args);
    int n = vasprintf(&text, args, ap);
    va_end(ap);
    assert_true(n >= 0);
    struct reply r = call_as(w, AL_ORIGIN_SCRIPT, tool, text);
    free(text);
    return r;
}

void reply_free(struct reply *r)
{
    free(r->text);
    free(r->structured);
    al_arena_free(&r->arena);
}

const struct al_json *at(const struct reply *r, const char *path)
{
    const struct al_json *v = r->json;
    while (v && *path) {
        size_t n = strcspn(path, ".");
        struct al_str name = {path, n};
        int64_t index;
        if (v->type == AL_JSON_ARRAY && al_parse_int(name, 0, UINT32_MAX, &index)) {
            v = v->child;
            while (v && index-- > 0)
                v = v->next;
        } else {
            v = al_json_get_str(v, name);
        }
        path += n + (path[n] == '.');
    }
    return v;
}

int64_t int_at(const struct reply *r, const char *path)
{
    int64_t v = 0;
    if (!al_json_int(at(r, path), INT64_MIN / 2, INT64_MAX / 2, &v))
        fail_msg("%s is no integer in %.400s (%s)", path, r->structured, r->msg);
    return v;
}

void assert_text_at(const struct reply *r, const char *path, const char *want)
{
    const struct al_json *v = at(r, path);
    if (!al_json_is_string(v) || !al_str_is(v->str, want))
        fail_msg("%s is not \"%s\" in %.600s (%s: %s)", path, want, r->structured, al_code_name(r->code),
                 r->msg);
}

void assert_code(const struct reply *r, enum al_code code)
{
    if (r->code != code)
        fail_msg("%s instead of %s: %s (%s)", al_code_name(r->code), al_code_name(code), r->msg, r->hint);
}

void assert_has(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("\"%s\" is not in: %.2000s", part, text ? text : "(nothing)");
}

void assert_lacks(const char *text, const char *part)
{
    if (text && strstr(text, part))
        fail_msg("\"%s\" is in: %.2000s", part, text);
}
