#include "jsvm/vm.h"

#include <time.h>

/* What the prelude may ask of C. Each function gets boxes that it does not own and returns one of its own; 0
 * throws. */

static struct al_str none(void)
{
    return (struct al_str){"", 0};
}

static struct al_str bytes_of(const void *p, size_t n)
{
    return (struct al_str){p, n};
}

static al_vm_value undefined(void)
{
    return Z_quickjsZ_qjs_get_undefined(&al_vm.q);
}

/* The host counts for itself; here only what could never count is kept back, so that a frame stays bounded.
 */
static al_vm_value do_print(const struct al_vm_text *t, unsigned n)
{
    struct al_vm_run_state *run = &al_vm_run_state;
    const uint64_t most = run->init.max_text_bytes;
    if (n < 1 || run->text_over)
        return undefined();
    struct al_str s = t[0].s;
    run->text_over = run->text > most || s.n > most - run->text;
    if (run->text_over)
        s.n = run->text > most ? 0 : (size_t)(most + 1 - run->text);
    run->text += s.n + 1;
    al_vm_send(AL_VM_PRINT, s, none(), none());
    return undefined();
}

static al_vm_value do_progress(const struct al_vm_text *t, unsigned n)
{
    if (n >= 1 && t[0].s.n <= AL_VM_PROGRESS_MAX)
        al_vm_send(AL_VM_PROGRESS, t[0].s, none(), none());
    return undefined();
}

/* (name, arguments): the id is counted here, and is what the call returns. False when it is too large. */
static al_vm_value do_call(const struct al_vm_text *t, unsigned n)
{
    static uint32_t last_id;
    if (n < 2 || t[0].s.n > AL_VM_NAME_MAX || t[1].s.n > AL_VM_ARGS_MAX)
        return Z_quickjsZ_qjs_get_false(&al_vm.q);
    struct al_vm_call_head head = {.id = ++last_id, .n = (uint32_t)t[0].s.n};
    al_vm_send(AL_VM_CALL, bytes_of(&head, sizeof head), t[0].s, t[1].s);
    al_vm_run_state.open++;
    return Z_quickjsZ_qjs_new_number(&al_vm.q, head.id);
}

static al_vm_value do_query(const struct al_vm_text *t, unsigned n)
{
    if (n < 2 || t[0].s.n > AL_VM_NAME_MAX || t[1].s.n > AL_VM_ARGS_MAX)
        return Z_quickjsZ_qjs_get_false(&al_vm.q);
    return al_vm_query(t[0].s, t[1].s);
}

static al_vm_value evaluate(const struct al_vm_text *t, unsigned n, u32 flags)
{
    al_vm_value v = n >= 1 ? al_vm_eval(t[0].s, "script.js", flags) : 0;
    if (!v)
        al_vm_throw_memory();
    else if (!al_vm_is_exception(v))
        return v;
    al_vm_free(v); /* the exception itself stays pending */
    return 0;
}

static al_vm_value do_check(const struct al_vm_text *t, unsigned n)
{
    al_vm_value v = evaluate(t, n, AL_VM_EVAL_STRICT | AL_VM_EVAL_COMPILE_ONLY);
    if (!v)
        return 0;
    al_vm_free(v);
    return undefined();
}

static al_vm_value do_eval(const struct al_vm_text *t, unsigned n)
{
    return evaluate(t, n, AL_VM_EVAL_STRICT);
}

static al_vm_value do_settled(const struct al_vm_text *t, unsigned n)
{
    (void)t;
    (void)n;
    al_vm_run_state.settled = true;
    return undefined();
}

static al_vm_value do_now(const struct al_vm_text *t, unsigned n)
{
    struct timespec ts;
    (void)t;
    (void)n;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return Z_quickjsZ_qjs_new_number(&al_vm.q, (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6);
}

/* Was the shadow stack ever used down to its limit? Nothing else writes there, so what is not zero says yes.
 */
static al_vm_value do_was_deep(const struct al_vm_text *t, unsigned n)
{
    (void)t;
    (void)n;
    const u64 *p = al_vm_view(al_vm.stack_low & ~7u, 64 << 10);
    for (unsigned i = 0; p && i < (64 << 10) / sizeof *p; i++) {
        if (p[i])
            return Z_quickjsZ_qjs_get_true(&al_vm.q);
    }
    return Z_quickjsZ_qjs_get_false(&al_vm.q);
}

static al_vm_value do_saw_memory(const struct al_vm_text *t, unsigned n)
{
    (void)t;
    (void)n;
    return al_vm.out_of_memory ? Z_quickjsZ_qjs_get_true(&al_vm.q) : Z_quickjsZ_qjs_get_false(&al_vm.q);
}

/*
 * (END's JSON, value or "", state or ""): the last thing that a run says. Says nothing and returns false when
 * the value is too large, null when the state is.
 */
static al_vm_value do_end(const struct al_vm_text *t, unsigned n)
{
    struct al_vm_run_state *run = &al_vm_run_state;
    if (run->ended || n < 3)
        return undefined();
    if (t[1].s.n > run->init.max_value_bytes || t[0].s.n > AL_VM_END_MAX)
        return Z_quickjsZ_qjs_get_false(&al_vm.q);
    if (t[2].s.n > run->init.max_state_bytes)
        return Z_quickjsZ_qjs_get_null(&al_vm.q);
    run->ended = true;
    if (t[1].s.n)
        al_vm_hold(AL_VM_VALUE, t[1].s, none(), none());
    if (t[2].s.n)
        al_vm_hold(AL_VM_STATE, t[2].s, none(), none());
    al_vm_send(AL_VM_END, t[0].s, none(), none());
    return undefined();
}

#define ARGS_MAX 3

static const struct {
    const char *name;
    unsigned n; /* texts that it takes */
    al_vm_value (*fn)(const struct al_vm_text *t, unsigned n);
} functions[] = {
    {"print", 1, do_print},          {"progress", 1, do_progress}, {"call", 2, do_call},
    {"query", 2, do_query},          {"check", 1, do_check},       {"eval", 1, do_eval},
    {"settled", 0, do_settled},      {"now", 0, do_now},           {"wasDeep", 0, do_was_deep},
    {"sawMemory", 0, do_saw_memory}, {"end", 3, do_end},
};

const char *const al_vm_host_names[] = {"print",   "progress", "call",    "query",     "check", "eval",
                                        "settled", "now",      "wasDeep", "sawMemory", "end",   NULL};

al_vm_value al_vm_host_call(struct al_str name, unsigned n, const al_vm_value *args)
{
    struct al_vm_text t[ARGS_MAX];
    al_vm_value v = 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!al_str_is(name, functions[i].name))
            continue;
        unsigned want = functions[i].n, got = 0;
        while (got < want && got < n && al_vm_text_get(args[got], &t[got]))
            got++;
        /* Memory may have grown, but never moves: the views above stay good. */
        if (got == want)
            v = functions[i].fn(t, got);
        else
            al_vm_throw_memory();
        while (got > 0)
            al_vm_text_free(&t[--got]);
        return v;
    }
    al_vm_throw("no such function");
    return 0;
}
