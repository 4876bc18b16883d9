#include "test.h"

#include "core_world.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *core_world_path(const char *a, const char *b)
{
    char *z = NULL;
    assert_true(asprintf(&z, "%s/%s", a, b) > 0);
    return z;
}

static char *keep_env(const char *name)
{
    const char *v = getenv(name);
    return v ? al_xstrdup(v) : NULL;
}

static void restore_env(const char *name, char *v)
{
    if (v)
        setenv(name, v, 1);
    else
        unsetenv(name);
    free(v);
}

int core_world_set_up(void **state)
{
    struct core_world *t = al_xcalloc(1, sizeof(*t));
    const char *tmp = getenv("TMPDIR");
    autofree char *pattern = core_world_path(tmp ? tmp : "/tmp", "al-core-XXXXXX");
    assert_non_null(mkdtemp(pattern));
    t->top = realpath(pattern, NULL);
    t->ws = core_world_path(t->top, "ws");
    t->state = core_world_path(t->top, "state");
    t->home = core_world_path(t->top, "home");
    autofree char *own_tmp = core_world_path(t->top, "tmp");
    char *const dirs[] = {t->ws, t->state, t->home, own_tmp};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(mkdir(dirs[i], 0700), 0);
    t->old_home = keep_env("HOME");
    t->old_tmp = keep_env("TMPDIR");
    setenv("HOME", t->home, 1);
    setenv("TMPDIR", own_tmp, 1);
    t->loop = al_loop_new();
    struct al_err err;
    if (al_store_open(t->state, NULL, &t->store, &err) < 0)
        fail_msg("%s", err.msg);
    t->opts = (struct al_core_opts){.loop = t->loop, .store = t->store, .cwd = t->ws, .source = "cli"};
    *state = t;
    return 0;
}

int core_world_try(struct core_world *t, const char *config_json, struct al_err *err)
{
    autofree char *file = core_world_path(t->top, "config.json");
    if (config_json) {
        autofd int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        assert_int_equal(al_fd_write_all(fd, al_str_of(config_json)), 0);
    }
    struct al_config_sources src = {.user_file = config_json ? file : NULL};
    if (al_config_load(&src, &t->config, err) < 0)
        fail_msg("%s", err->msg);
    t->opts.config = t->config;
    return al_core_new(&t->opts, &t->core, err);
}

void core_world_start(struct core_world *t, const char *config_json)
{
    struct al_err err;
    if (core_world_try(t, config_json, &err) < 0)
        fail_msg("%s", err.msg);
}

void core_world_stop(struct core_world *t)
{
    al_core_free(t->core);
    al_config_free(t->config);
    t->core = NULL;
    t->config = NULL;
}

int core_world_tear_down(void **state)
{
    struct core_world *t = *state;
    core_world_stop(t);
    al_store_close(t->store);
    al_loop_free(t->loop);
    restore_env("HOME", t->old_home);
    restore_env("TMPDIR", t->old_tmp);
    char *slash = strrchr(t->top, '/');
    autofree char *parent = al_xdup(t->top, slash == t->top ? 1 : (size_t)(slash - t->top));
    autofd int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(al_path_remove_tree(fd, slash + 1), 0);
    char *const all[] = {t->top, t->ws, t->state, t->home};
    for (size_t i = 0; i < 4; i++)
        free(all[i]);
    free(t);
    return 0;
}

static void copy(char *out, size_t size, struct al_str s)
{
    snprintf(out, size, "%.*s", AL_FMT(s));
}

void core_world_answer(void *ud, struct al_call *call)
{
    struct core_answer *a = ud;
    a->done = true;
    a->times++;
    a->code = call->err.code;
    a->structured_n = call->structured.n;
    copy(a->msg, sizeof(a->msg), al_str_of(call->err.code ? call->err.msg : ""));
    copy(a->hint, sizeof(a->hint), al_str_of(call->err.code ? call->err.hint : ""));
    copy(a->text, sizeof(a->text), al_buf_str(&call->text));
    copy(a->structured, sizeof(a->structured), al_buf_str(&call->structured));
    copy(a->execution_id, sizeof(a->execution_id), al_str_of(call->execution_id));
}

struct al_call *core_world_call(struct core_world *t, enum al_origin origin, const char *tool,
                                const char *args, struct core_answer *answer)
{
    *answer = (struct core_answer){0};
    struct al_call_spec spec = {
        .tool = al_str_of(tool),
        .args_json = al_str_of(args),
        .origin = origin,
        .run_id = origin == AL_ORIGIN_SCRIPT ? "exec_01JDZ0000000000000000000A1" : NULL,
        .done = core_world_answer,
        .ud = answer,
    };
    struct al_call *call = al_core_call(t->core, &spec);
    assert_non_null(call);
    assert_int_equal(answer->times, 0); /* never from within al_core_call */
    return call;
}

void core_world_wait(struct core_world *t, const bool *done)
{
    if (!al_loop_run_until(t->loop, done, 10000))
        fail_msg("nothing came for 10 s");
}

struct core_answer core_world_ask(struct core_world *t, enum al_origin origin, const char *tool,
                                  const char *args)
{
    struct core_answer a;
    core_world_call(t, origin, tool, args, &a);
    core_world_wait(t, &a.done);
    assert_int_equal(a.times, 1);
    return a;
}
