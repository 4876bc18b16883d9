#include "jsvm/vm.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The sealed part of a run: one script, from INIT to END. */

#define SHADOW_STACK ((u32)1 << 20) /* the module keeps its stack below 1 MiB, and its data above */
#define ROOM_FOR_LAST_WORDS ((u32)1 << 20)

struct al_vm_run_state al_vm_run_state;
static u32 heap_limit;

/* Results that came while the script waited for an answer, oldest first; their payloads lie in guest memory.
 */
#define WAITING_MAX 4096
static struct al_vm_in waiting[WAITING_MAX];
static unsigned waiting_from, waiting_n;

/* An exception that no script can catch: the engine is out of memory, or gave up. */
_Noreturn static void die_by(al_vm_value exception, bool uncatchable)
{
    heap_limit += ROOM_FOR_LAST_WORDS;
    Z_quickjsZ_qjs_set_memory_limit(&al_vm.q, heap_limit);
    al_vm.q.w2c_memory.max_pages += ROOM_FOR_LAST_WORDS >> 16;
    al_vm_value args[2] = {exception, uncatchable ? Z_quickjsZ_qjs_get_true(&al_vm.q)
                                                  : Z_quickjsZ_qjs_get_false(&al_vm.q)};
    al_vm_call(al_vm_prelude.fatal, 2, args);
    if (!al_vm_run_state.ended && (al_vm.out_of_memory || al_vm.grow_refused))
        al_vm_die_memory();
    if (!al_vm_run_state.ended)
        al_vm_trap(WASM_RT_TRAP_UNREACHABLE);
    _exit(0);
}

static void check(al_vm_value result)
{
    if (!al_vm_is_exception(result)) {
        al_vm_free(result);
        return;
    }
    if (al_vm_run_state.ended)
        _exit(0);
    al_vm_value e = result ? Z_quickjsZ_qjs_get_exception(&al_vm.q) : 0;
    if (!e)
        al_vm_die_memory();
    die_by(e, Z_quickjsZ_qjs_is_uncatchable_error(&al_vm.q, e) != 0);
}

static void run_jobs(void)
{
    while (Z_quickjsZ_qjs_is_job_pending(&al_vm.q)) {
        if ((int32_t)Z_quickjsZ_qjs_execute_pending_job(&al_vm.q) >= 0)
            continue;
        al_vm_value e = Z_quickjsZ_qjs_get_exception(&al_vm.q);
        if (!e)
            al_vm_die_memory();
        die_by(e, Z_quickjsZ_qjs_is_uncatchable_error(&al_vm.q, e) != 0);
    }
}

static void set_limits(const struct al_vm_init *init)
{
    wasm_rt_memory_t *m = &al_vm.q.w2c_memory;
    u32 texts = init->code_n + init->input_n + init->alisio_n + init->tools_n + init->state_n;
    al_vm.memory_limit = init->memory_bytes;
    heap_limit = Z_quickjsZ_qjs_get_allocated_size(&al_vm.q) + (u32)init->memory_bytes;
    Z_quickjsZ_qjs_set_memory_limit(&al_vm.q, heap_limit);
    m->max_pages = al_vm.first_pages + (u32)((init->memory_bytes + AL_VM_GUEST_SLACK + texts) >> 16);
    Z_quickjsZ_qjs_set_max_stack_size(&al_vm.q, init->stack_bytes);
    al_vm.stack_low = SHADOW_STACK - init->stack_bytes;
    memcpy(al_vm.random, init->seed, sizeof al_vm.random);
}

static bool init_valid(const struct al_vm_init *i, u32 n)
{
    uint64_t texts = (uint64_t)i->code_n + i->input_n + i->alisio_n + i->tools_n + i->state_n;
    return texts == n - sizeof *i && i->memory_bytes >= AL_VM_MEMORY_MIN &&
           i->memory_bytes <= AL_VM_MEMORY_MAX && i->stack_bytes >= AL_VM_STACK_MIN &&
           i->stack_bytes <= AL_VM_STACK_MAX;
}

/* Each text becomes a string; a text that is not there becomes "". */
static al_vm_value start_script(const struct al_vm_in *in)
{
    const struct al_vm_init *init = &al_vm_run_state.init;
    const char *at = al_vm_view(in->p, in->n);
    const u32 n[5] = {init->code_n, init->input_n, init->alisio_n, init->tools_n, init->state_n};
    al_vm_value args[8];
    if (!at)
        return 0;
    at += sizeof *init;
    for (int i = 0; i < 5; i++) {
        args[i] = al_vm_new_string((struct al_str){at, n[i]});
        at += n[i];
    }
    double flags = (init->has_state ? 1 : 0) + (init->legacy_execute ? 2 : 0);
    args[5] = Z_quickjsZ_qjs_new_number(&al_vm.q, flags);
    args[6] = Z_quickjsZ_qjs_new_number(&al_vm.q, init->max_concurrency);
    /* 4 words of 32 bits for Math.random, as one text of hexadecimal digits. */
    char seed[33];
    for (int i = 0; i < 32; i += 8) {
        uint32_t word = (uint32_t)(al_vm_random() >> 32);
        for (int k = 0; k < 8; k++)
            seed[i + k] = "0123456789abcdef"[word >> (28 - 4 * k) & 15];
    }
    args[7] = al_vm_new_string((struct al_str){seed, 32});
    al_vm_release(in->p);
    return al_vm_call(al_vm_prelude.start, 8, args);
}

static void deliver(const struct al_vm_in *in)
{
    struct al_vm_call_head head;
    const char *p = al_vm_view(in->p, in->n);
    if (!p || in->n < sizeof head)
        _exit(0);
    memcpy(&head, p, sizeof head);
    al_vm_value args[3] = {
        Z_quickjsZ_qjs_new_number(&al_vm.q, head.id),
        head.n ? Z_quickjsZ_qjs_get_true(&al_vm.q) : Z_quickjsZ_qjs_get_false(&al_vm.q),
        al_vm_new_string((struct al_str){p + sizeof head, in->n - sizeof head}),
    };
    al_vm_release(in->p);
    al_vm_run_state.open--;
    check(al_vm_call(al_vm_prelude.deliver, 3, args));
}

static void wait_for_result(void)
{
    struct al_vm_in in;
    if (waiting_n > 0) {
        in = waiting[waiting_from];
        waiting_from = (waiting_from + 1) % WAITING_MAX;
        waiting_n--;
    } else {
        al_vm_receive(&in);
        if (in.type != AL_VM_RESULT)
            _exit(0);
    }
    deliver(&in);
}

al_vm_value al_vm_query(struct al_str what, struct al_str arg)
{
    struct al_vm_call_head head = {.n = (uint32_t)what.n};
    struct al_vm_in in;
    al_vm_send(AL_VM_QUERY, (struct al_str){(const char *)&head, sizeof head}, what, arg);
    for (;;) {
        al_vm_receive(&in);
        if (in.type == AL_VM_ANSWER)
            break;
        if (in.type != AL_VM_RESULT || waiting_n == WAITING_MAX)
            _exit(0);
        waiting[(waiting_from + waiting_n++) % WAITING_MAX] = in;
    }
    const char *p = in.n ? al_vm_view(in.p, in.n) : "";
    al_vm_value v = p ? al_vm_new_string((struct al_str){p, in.n}) : 0;
    al_vm_release(in.p);
    if (!v)
        al_vm_throw_memory();
    return v;
}

void al_vm_run(void)
{
    struct al_vm_run_state *run = &al_vm_run_state;
    struct al_vm_in in;
    al_vm_receive(&in);
    const void *p = al_vm_view(in.p, in.n);
    if (in.type != AL_VM_INIT || in.n < sizeof run->init || !p)
        _exit(0);
    memcpy(&run->init, p, sizeof run->init);
    if (!init_valid(&run->init, in.n))
        _exit(0);
    if (run->init.probe)
        syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY, 0);
    set_limits(&run->init);
    check(start_script(&in));
    for (;;) {
        run_jobs();
        if (run->ended)
            _exit(0);
        if (run->open > 0)
            wait_for_result();
        else if (run->settled)
            break;
        else
            check(al_vm_call(al_vm_prelude.deadlock, 0, NULL));
    }
    check(al_vm_call(al_vm_prelude.finish, 0, NULL));
    _exit(0);
}
