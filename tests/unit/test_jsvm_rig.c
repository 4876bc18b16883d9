#include "test_jsvm_rig.h"

#include "base/ident.h"
#include "base/mem.h"
#include "jsvm/engine_int.h"
#include "os/spawn.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

struct al_loop *rig_loop;
struct al_engine *rig_engine;
static struct rig_result the_one;

int rig_setup(void **state)
{
    (void)state;
    if (al_self_open() < 0)
        return -1;
    rig_loop = al_loop_new();
    rig_engine = al_engine_new(rig_loop);
    return 0;
}

int rig_teardown(void **state)
{
    (void)state;
    rig_free(&the_one);
    al_engine_free(rig_engine);
    al_loop_free(rig_loop);
    return 0;
}

static void buf(struct al_buf *b)
{
    al_buf_init(b, (size_t)64 << 20);
}

static void copy(struct al_buf *b, struct al_str s)
{
    al_buf_add_str(b, s);
    al_buf_addc(b, '\0'); /* so that tests can look at it as a C string */
    b->n--;
}

static void on_started(void *ud, int64_t pid)
{
    struct rig_result *r = ud;
    r->pid = pid;
    if (r->on_started)
        r->on_started(r);
}

static void on_print(void *ud, struct al_str text)
{
    struct rig_result *r = ud;
    al_buf_add_str(&r->printed, text);
    copy(&r->printed, AL_STR("\n"));
    if (r->on_print)
        r->on_print(r, text);
}

static void on_progress(void *ud, struct al_str json)
{
    struct rig_result *r = ud;
    al_buf_add_str(&r->progress, json);
    copy(&r->progress, AL_STR("\n"));
}

struct later {
    struct rig_result *r;
    uint32_t id;
};

static void answer_later(void *ud)
{
    struct later *l = ud;
    if (!l->r->done) {
        l->r->n_open--;
        al_vm_reply(l->r->vm, l->id, AL_STR("\"slept\""), NULL);
    }
    free(l);
}

static void answer(struct rig_result *r, uint32_t id, struct al_str tool, struct al_str args)
{
    struct al_err err = {0};
    if (al_str_is(tool, "slow")) {
        struct later *l = al_xcalloc(1, sizeof *l);
        *l = (struct later){r, id};
        al_timer_start(rig_loop, 5, answer_later, l);
        return;
    }
    if (al_str_is(tool, "never"))
        return;
    r->n_open--;
    if (al_str_is(tool, "echo") || al_str_is(tool, "odd-name") || al_str_is(tool, "github.create_issue") ||
        al_str_is(tool, "then")) {
        al_vm_reply(r->vm, id, args, NULL);
    } else if (al_str_is(tool, "fail")) {
        al_fail(&err, AL_TOOL_ERROR, "it broke");
        al_hint(&err, "mend it");
        al_vm_reply(r->vm, id, (struct al_str){0}, &err);
    } else if (al_str_is(tool, "big")) {
        autobuf struct al_buf b = AL_BUF_INIT((size_t)64 << 20);
        al_buf_addc(&b, '"');
        memset(al_buf_grow(&b, (size_t)8 << 20), 'x', (size_t)8 << 20);
        al_buf_addc(&b, '"');
        al_vm_reply(r->vm, id, al_buf_str(&b), NULL);
    } else {
        al_fail(&err, AL_TOOL_NOT_FOUND, "no tool %.*s", AL_FMT(tool));
        al_hint(&err, "did you mean echo?");
        al_vm_reply(r->vm, id, (struct al_str){0}, &err);
    }
}

static void on_call(void *ud, uint32_t id, struct al_str tool, struct al_str args)
{
    struct rig_result *r = ud;
    al_buf_addf(&r->calls, "%.*s %.*s", AL_FMT(tool), (int)(args.n < 200 ? args.n : 200), args.p);
    copy(&r->calls, AL_STR("\n"));
    r->n_calls++;
    if (++r->n_open > r->n_open_max)
        r->n_open_max = r->n_open;
    if (r->on_call)
        r->on_call(r, id, tool);
    else
        answer(r, id, tool, args);
}

static void on_query(void *ud, struct al_str what, struct al_str arg, struct al_buf *out)
{
    struct rig_result *r = ud;
    r->n_queries++;
    if (al_str_is(what, "list"))
        al_buf_addf(out, "[{\"name\":\"echo\",\"query\":%.*s}]", AL_FMT(arg));
    else if (al_str_is(arg, "\"echo\""))
        al_buf_adds(out, "{\"name\":\"echo\",\"signature\":\"echo(a: any): any\"}");
    else
        al_buf_adds(out, "{\"error\":{\"code\":\"TOOL_NOT_FOUND\",\"message\":\"no such tool\"}}");
}

static void on_end(void *ud, const struct al_vm_end *end)
{
    struct rig_result *r = ud;
    r->done = true;
    r->ends++;
    r->vm = NULL;
    r->code = end->code;
    copy(&r->message, end->message);
    copy(&r->hint, end->hint);
    copy(&r->stack, end->stack);
    copy(&r->value, end->value);
    copy(&r->notes, end->notes);
    copy(&r->state, end->state);
    r->line = end->line;
    r->column = end->column;
    r->security = end->security;
    r->duration_ms = end->duration_ms;
    r->cpu_ms = end->cpu_ms;
    r->heap_peak = end->heap_peak_bytes;
    if (r->on_end)
        r->on_end(r);
}

struct al_vm_spec rig_spec(const char *code)
{
    return (struct al_vm_spec){
        .code = al_str_of(code),
        .alisio = AL_STR("{\"executionId\":\"exec_1\",\"limits\":{\"toolCalls\":5}}"),
        .tool_names = AL_STR(RIG_TOOLS),
        .timeout_ms = 20000,
        .memory_bytes = (uint64_t)32 << 20,
        .stack_bytes = 256 << 10,
        .max_concurrency = 4,
        .max_text_bytes = (size_t)16 << 20,
        .max_value_bytes = (size_t)32 << 20,
    };
}

void rig_free(struct rig_result *r)
{
    struct al_buf *all[] = {&r->message, &r->hint,    &r->stack,    &r->value, &r->notes,
                            &r->state,   &r->printed, &r->progress, &r->calls};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        al_buf_free(all[i]);
        buf(all[i]);
    }
}

void rig_start(struct rig_result *r, const struct al_vm_spec *spec)
{
    static const struct al_vm_ops ops = {.started = on_started,
                                         .print = on_print,
                                         .progress = on_progress,
                                         .call = on_call,
                                         .query = on_query,
                                         .end = on_end};
    struct al_err err = {0};
    struct rig_result kept = *r;
    rig_free(&kept);
    *r = (struct rig_result){.on_print = kept.on_print,
                             .on_call = kept.on_call,
                             .on_started = kept.on_started,
                             .on_end = kept.on_end};
    rig_free(r);
    for (struct al_buf *b = &r->message; b <= &r->calls; b++)
        copy(b, AL_STR(""));
    r->vm = al_vm_start(rig_engine, spec, &ops, r, &err);
    if (!r->vm)
        fail_msg("al_vm_start: %s", err.msg);
}

void rig_wait(struct rig_result *r)
{
    if (!al_loop_run_until(rig_loop, &r->done, 150000))
        fail_msg("no end after 150 s");
}

struct rig_result *rig_run_spec(const struct al_vm_spec *spec)
{
    rig_start(&the_one, spec);
    rig_wait(&the_one);
    return &the_one;
}

struct rig_result *rig_run(const char *code)
{
    struct al_vm_spec spec = rig_spec(code);
    return rig_run_spec(&spec);
}

void rig_value(const char *code, const char *json)
{
    struct rig_result *r = rig_run(code);
    if (r->code != AL_OK)
        fail_msg("%s\nended with %s: %s (line %d)\n%s", code, al_code_name(r->code), r->message.p, r->line,
                 r->stack.p);
    if (strcmp(r->value.p, json) != 0)
        fail_msg("%s\ngave     %s\nexpected %s", code, r->value.p, json);
}

struct rig_result *rig_fails(const char *code, enum al_code want, const char *message)
{
    struct rig_result *r = rig_run(code);
    if (r->code != want || !strstr(r->message.p, message))
        fail_msg("%s\nended with %s: %s\nvalue %s\nexpected   %s: %s", code, al_code_name(r->code),
                 r->message.p, r->value.p, al_code_name(want), message);
    return r;
}

int rig_rounds(int usual, int soak)
{
    return getenv("ALISIO_SOAK") ? soak : usual;
}

unsigned rig_children(void)
{
    char path[64], text[65536];
    unsigned n = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    size_t got = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    for (size_t i = 0; i < got; i++)
        n += text[i] == ' ';
    return n;
}

static bool at_rest(void)
{
    const struct al_vm *vm = rig_engine->vms;
    if (rig_engine->zygotes != rig_engine->zygote || (rig_engine->zygotes && rig_engine->zygotes->next))
        return false;
    return !vm || (vm == rig_engine->spare && !vm->next && vm->pidfd >= 0);
}

void rig_rest(void)
{
    bool never = false;
    for (uint64_t end = al_mono_ms() + 10000; !at_rest();) {
        if (al_mono_ms() > end)
            fail_msg("not at rest after 10 s");
        al_loop_run_until(rig_loop, &never, 1);
    }
    unsigned want = (rig_engine->zygote ? 1 : 0) + (rig_engine->spare ? 1 : 0);
    if (rig_children() != want)
        fail_msg("%u processes at rest, not %u", rig_children(), want);
}

unsigned rig_fds(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}
