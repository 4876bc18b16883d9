#include "test.h"

#include "jsrun_world.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/spawn.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct world *current; /* tools are found by the core alone */

void world_zygote(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], AL_ZYGOTE_VERB) == 0)
        exit(al_zygote_main(argc, argv));
    assert_true(al_self_open() >= 0);
}

/* --- mock tools --- */

static void logged(char sign, const struct al_call *call)
{
    struct al_str name = al_json_get_text(call->args, "name");
    size_t n = strlen(current->log);
    snprintf(current->log + n, sizeof current->log - n, "%s%c%.*s", n ? " " : "", sign, AL_FMT(name));
}

static void echo_start(struct al_call *call)
{
    const struct al_json *v = al_json_get(call->args, "v");
    al_buf_add_str(&call->structured, v->raw);
    al_call_finish(call);
}

static void text_start(struct al_call *call)
{
    al_buf_add_str(&call->text, al_json_get_text(call->args, "text"));
    al_call_finish(call);
}

static void slow_start(struct al_call *call)
{
    (void)call;
}

static void slow_cancel(struct al_call *call)
{
    al_call_finish(call);
}

/* Ends a while after it was told to: a run must wait for it. */
static void reaped(void *ud)
{
    struct al_call *call = ud;
    size_t n = strlen(current->log);
    snprintf(current->log + n, sizeof current->log - n, " reaped");
    al_call_finish(call);
}

static void stubborn_cancel(struct al_call *call)
{
    al_timer_start(al_core_loop(call->core), 30, reaped, call);
}

static void fail_start(struct al_call *call)
{
    struct al_str code = al_json_get_text(call->args, "code");
    al_fail(&call->err, code.n ? al_code_find(code.p, code.n) : AL_TOOL_ERROR, "it went wrong");
    al_hint(&call->err, "try another way");
    al_call_finish(call);
}

static void big_start(struct al_call *call)
{
    int64_t n = 0;
    al_json_int(al_json_get(call->args, "n"), 0, 64 << 20, &n);
    al_buf_addc(&call->structured, '"');
    char *p = al_buf_grow(&call->structured, (size_t)n);
    if (p)
        memset(p, 'x', (size_t)n);
    al_buf_addc(&call->structured, '"');
    al_call_finish(call);
}

static bool has_ended(struct al_str name)
{
    char mark[64];
    snprintf(mark, sizeof mark, "-%.*s", AL_FMT(name));
    return strstr(current->log, mark) != NULL;
}

static void later_done(void *ud)
{
    struct al_call *call = ud;
    struct al_str after = al_json_get_text(call->args, "after");
    if (after.n && !has_ended(after)) {
        al_timer_start(al_core_loop(call->core), 1, later_done, call);
        return;
    }
    logged('-', call);
    al_buf_addf(&call->structured, "\"%.*s\"", AL_FMT(al_json_get_text(call->args, "name")));
    al_call_finish(call);
}

/* Begins, and ends after some turns of the loop; with `after`, not before the call of that name has ended. */
static void later_start(struct al_call *call)
{
    int64_t ms = 5;
    al_json_int(al_json_get(call->args, "ms"), 0, 1000, &ms);
    logged('+', call);
    al_timer_start(al_core_loop(call->core), (uint64_t)ms, later_done, call);
}

static void hook_start(struct al_call *call)
{
    if (current->on_tool)
        current->on_tool(current, call);
    al_buf_adds(&call->structured, "true");
    al_call_finish(call);
}

static bool only_scratch(const struct al_json *args)
{
    return al_str_starts(al_json_get_text(args, "name"), "scratch:");
}

#define ANY "{\"type\":\"object\",\"additionalProperties\":true}"
#define NAMED                                                                                            \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"ms\":{\"type\":\"integer\"}," \
    "\"after\":{\"type\":\"string\"},\"token\":{\"type\":\"string\"}},\"required\":[\"name\"],\"additionalProperties\":false}"
#define TOOL(n, e, schema, s, ...)                                               \
    static const struct al_tool tool_##n = {.name = #n,                          \
                                            .title = #n,                         \
                                            .description = "A mock. For tests.", \
                                            .input_schema = schema,              \
                                            .effect = e,                         \
                                            .start = s,                          \
                                            __VA_ARGS__}

TOOL(echo, AL_EFFECT_READ,
     "{\"type\":\"object\",\"properties\":{\"v\":{}},\"required\":[\"v\"],\"additionalProperties\":false}",
     echo_start, .cancel = NULL);
TOOL(text, AL_EFFECT_READ, ANY, text_start, .cancel = NULL);
TOOL(slow, AL_EFFECT_READ, ANY, slow_start, .cancel = slow_cancel);
TOOL(stubborn, AL_EFFECT_READ, ANY, slow_start, .cancel = stubborn_cancel);
TOOL(fail, AL_EFFECT_READ, ANY, fail_start, .cancel = NULL);
TOOL(big, AL_EFFECT_READ, ANY, big_start, .cancel = NULL);
TOOL(later, AL_EFFECT_READ, NAMED, later_start, .cancel = NULL);
TOOL(put, AL_EFFECT_WRITE, NAMED, later_start, .scratch_only = only_scratch);
TOOL(post, AL_EFFECT_EXTERNAL, NAMED, later_start, .cancel = NULL);
TOOL(spawn, AL_EFFECT_PROCESS, NAMED, later_start, .cancel = NULL);
TOOL(hook, AL_EFFECT_READ, ANY, hook_start, .cancel = NULL);

static const struct al_tool *const mocks[] = {&tool_echo, &tool_text,  &tool_slow,  &tool_stubborn,
                                              &tool_fail, &tool_big,   &tool_later, &tool_put,
                                              &tool_post, &tool_spawn, &tool_hook};

/* --- the world --- */

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static const char *temp_root(void)
{
    const char *t = getenv("TMPDIR");
    return t && t[0] == '/' ? t : "/tmp";
}

struct world *world_new(const struct world_opts *o)
{
    struct world *w = al_xcalloc(1, sizeof *w);
    struct al_err err = {0};
    current = w;
    snprintf(w->dir, sizeof w->dir, "%.1000s/alisio-test-XXXXXX", temp_root());
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->work, sizeof w->work, "%s/work", w->dir);
    snprintf(w->state, sizeof w->state, "%s/state", w->dir);
    snprintf(w->config_file, sizeof w->config_file, "%s/config.json", w->dir);
    assert_int_equal(mkdir(w->work, 0700), 0);
    setenv("ALISIO_CONFIG_HOME", w->dir, 1);
    setenv("ALISIO_TMPDIR", w->dir, 1);
    write_file(w->config_file, o->config ? o->config : "{}");
    struct al_config_sources src = {.user_file = w->config_file};
    if (al_config_load(&src, &w->config, &err) < 0)
        fail_msg("config: %s", err.msg);
    if (al_store_open(w->state, NULL, &w->store, &err) < 0)
        fail_msg("store: %s", err.msg);
    w->loop = al_loop_new();
    struct al_core_opts opts = {.loop = w->loop,
                                .config = w->config,
                                .store = w->store,
                                .policy = o->policy,
                                .cwd = w->work,
                                .source = o->source ? o->source : "mcp",
                                .can_ask = o->can_ask};
    if (al_core_new(&opts, &w->core, &err) < 0)
        fail_msg("core: %s", err.msg);
    for (size_t i = 0; i < sizeof mocks / sizeof mocks[0]; i++)
        al_core_register(w->core, mocks[i]);
    return w;
}

static void set_true(void *ud)
{
    *(bool *)ud = true;
}

void world_remove(const char *dir)
{
    autofd int tmp = openat(AT_FDCWD, temp_root(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(al_path_remove_tree(tmp, strrchr(dir, '/') + 1), 0);
}

void world_free(struct world *w)
{
    bool idle = false;
    al_core_shutdown(w->core, set_true, &idle);
    assert_true(al_loop_run_until(w->loop, &idle, 20000));
    al_core_free(w->core);
    al_loop_free(w->loop);
    al_store_close(w->store);
    al_config_free(w->config);
    world_remove(w->dir);
    free(w);
    current = NULL;
}

static void on_progress(void *ud, struct al_str json)
{
    (void)ud;
    current->n_progress++;
    snprintf(current->progress, sizeof current->progress, "%.*s", AL_FMT(json));
}

static void on_done(void *ud, struct al_call *call)
{
    struct outcome *out = ud;
    out->code = call->err.code;
    memcpy(out->msg, call->err.msg, sizeof out->msg);
    memcpy(out->hint, call->err.hint, sizeof out->hint);
    memcpy(out->id, call->execution_id, sizeof out->id);
    out->text = al_xdup(call->text.p, call->text.n);
    out->structured = al_xdup(call->structured.p, call->structured.n);
    out->call = NULL;
    out->done = true;
}

static void on_ask(void *ud, const struct al_ask *ask)
{
    struct world *w = current;
    (void)ud;
    snprintf(w->asked, sizeof w->asked, "%s|%.*s", ask->title ? ask->title : "", AL_FMT(ask->tools));
    if (w->answer < 0)
        w->kept = *ask;
    else
        ask->answer(ask->ud, (enum al_approval)w->answer);
}

void world_start(struct world *w, const char *tool, const char *args, struct outcome *out)
{
    memset(out, 0, sizeof *out);
    struct al_call_spec spec = {.tool = al_str_of(tool),
                                .args_json = al_str_of(args),
                                .origin = strcmp(al_core_source(w->core), "agent") == 0 ? AL_ORIGIN_AGENT : AL_ORIGIN_MCP,
                                .ask = w->core->can_ask ? on_ask : NULL,
                                .progress = on_progress,
                                .done = on_done,
                                .ud = out};
    out->call = al_core_call(w->core, &spec);
}

void world_wait(struct world *w, struct outcome *out)
{
    assert_true(al_loop_run_until(w->loop, &out->done, 30000));
}

struct outcome world_call(struct world *w, const char *tool, const char *args)
{
    struct outcome out;
    world_start(w, tool, args, &out);
    world_wait(w, &out);
    return out;
}

char *world_js_args(const char *code, const char *more)
{
    struct al_buf b = AL_BUF_INIT(8u << 20);
    struct al_jw w;
    al_jw_init(&w, &b);
    al_buf_adds(&b, "{\"code\":");
    al_jw_str(&w, al_str_of(code));
    al_buf_adds(&b, more ? more : "");
    al_buf_addc(&b, '}');
    return al_buf_take(&b);
}

struct outcome world_js(struct world *w, const char *code, const char *more)
{
    autofree char *args = world_js_args(code, more);
    return world_call(w, "js_run", args);
}

void outcome_fini(struct outcome *out)
{
    free(out->text);
    free(out->structured);
    out->text = out->structured = NULL;
}

const char *json_at(const char *json, const char *path)
{
    static char found[8192];
    struct al_arena a = AL_ARENA_INIT(256u << 20);
    const struct al_json *v = NULL;
    struct al_err err = {0};
    if (al_json_parse(&a, al_str_of(json), &v, &err) < 0)
        fail_msg("no JSON: %s: %.300s", err.msg, json);
    while (v && *path) {
        size_t n = strcspn(path, ".");
        if (v->type == AL_JSON_ARRAY) {
            int at = path[0] - '0';
            v = v->child;
            while (v && at--)
                v = v->next;
        } else {
            v = al_json_get_str(v, (struct al_str){path, n});
        }
        path += n + (path[n] == '.');
    }
    if (v)
        snprintf(found, sizeof found, "%.*s", AL_FMT(v->raw));
    else
        found[0] = '\0';
    al_arena_free(&a);
    return found;
}

void world_scratch(struct world *w, const char *rel, const char *text)
{
    struct al_err err = {0};
    if (al_scratch_write(al_core_scratch(w->core), rel, al_str_of(text), &err) < 0)
        fail_msg("scratch: %s", err.msg);
}

char *world_scratch_read(struct world *w, const char *rel)
{
    struct al_err err = {0};
    autofd int fd = -1;
    struct al_buf b = AL_BUF_INIT(64u << 20);
    int dir = al_scratch_fd(al_core_scratch(w->core), &err);
    if (dir < 0 || al_path_open(dir, rel, O_RDONLY, 0, rel, &fd, &err) < 0 || al_fd_read_all(fd, &b) < 0)
        return NULL;
    return al_buf_take(&b);
}
