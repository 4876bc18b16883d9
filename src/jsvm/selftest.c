#include "jsvm/engine_int.h"

#include <stdio.h>

/* Three runs in fresh VMs: what they must show is what the isolation rests on. */

struct probe {
    bool done;
    enum al_code code;
    bool security, right;
    char message[200];
};

static void on_print(void *ud, struct al_str text)
{
    (void)ud;
    (void)text;
}

static void on_call(void *ud, uint32_t id, struct al_str tool, struct al_str args)
{
    (void)ud;
    (void)id;
    (void)tool;
    (void)args;
}

static void on_query(void *ud, struct al_str what, struct al_str arg, struct al_buf *out)
{
    (void)ud;
    (void)what;
    (void)arg;
    al_buf_adds(out, "null");
}

static void on_end(void *ud, const struct al_vm_end *end)
{
    struct probe *p = ud;
    p->done = true;
    p->code = end->code;
    p->security = end->security;
    p->right = al_str_is(end->value, "\"42 [object Map]\"");
    snprintf(p->message, sizeof p->message, "%.*s", (int)(end->message.n < 150 ? end->message.n : 150),
             end->message.p);
}

static int one(struct al_engine *e, struct al_loop *loop, struct probe *p, const char *code,
               uint64_t timeout_ms, bool probe, struct al_err *err)
{
    static const struct al_vm_ops ops = {
        .print = on_print, .progress = on_print, .call = on_call, .query = on_query, .end = on_end};
    struct al_vm_spec spec = {
        .code = al_str_of(code),
        .timeout_ms = timeout_ms,
        .memory_bytes = (uint64_t)32 << 20,
        .stack_bytes = 256 << 10,
        .max_concurrency = 1,
        .max_text_bytes = 1000,
        .max_value_bytes = 1000,
    };
    *p = (struct probe){0};
    struct al_vm *vm = al_vm_start_probe(e, &spec, &ops, p, probe, err);
    if (!vm)
        return -1;
    if (al_loop_run_until(loop, &p->done, 10000))
        return 0;
    al_vm_take_down(vm);
    return al_fail(err, AL_ENGINE_UNAVAILABLE, "the self-test got no end of its run in 10 s");
}

int al_engine_self_test(struct al_engine *e, struct al_loop *loop, struct al_err *err)
{
    struct probe p;
    if (one(e, loop, &p, "return 6 * 7 + ' ' + Object.prototype.toString.call(new Map())", 5000, false, err) <
        0)
        return -1;
    if (p.code != AL_OK || !p.right)
        return al_fail(err, AL_ENGINE_UNAVAILABLE, "the self-test's script did not give its value: %s %s",
                       al_code_name(p.code), p.message);
    if (one(e, loop, &p, "for (;;) {}", 100, false, err) < 0)
        return -1;
    if (p.code != AL_TIMEOUT)
        return al_fail(err, AL_ENGINE_UNAVAILABLE, "the self-test's endless loop was not ended: %s %s",
                       al_code_name(p.code), p.message);
    if (one(e, loop, &p, "return 1", 5000, true, err) < 0)
        return -1;
    if (!p.security)
        return al_fail(err, AL_ENGINE_UNAVAILABLE, "the self-test's system call was not refused: %s %s",
                       al_code_name(p.code), p.message);
    return 0;
}
