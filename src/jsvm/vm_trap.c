#include "jsvm/vm.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

/*
 * A trap ends the process. There is no jump back into C: an instance that has trapped is never entered again,
 * so nothing of it is worth keeping, and the END frame can be written from the signal's own stack.
 */

#define RESERVED ((uintptr_t)8 << 30)
#define NEAR_STACK_END ((uintptr_t)4 << 20)

static char signal_stack[64 << 10];
static uintptr_t stack_end; /* lowest address that the native stack may reach; 0: unlimited */

#define END_MEMORY                                                                           \
    "{\"code\":\"MEMORY_LIMIT\",\"message\":\"the script used more memory than its limit\"," \
    "\"hint\":\"keep less in memory at once, or raise forge.javascript.memoryBytes\"}"
#define END_STACK                                                                                 \
    "{\"code\":\"STACK_LIMIT\",\"message\":\"the script recursed deeper than its stack allows\"," \
    "\"hint\":\"use a loop, or raise forge.javascript.stackBytes\"}"
#define END_CRASH \
    "{\"code\":\"ENGINE_CRASHED\",\"message\":\"the JavaScript engine stopped with an internal fault\"}"

static void write_all(const char *p, size_t n)
{
    while (n) {
        ssize_t r = write(AL_VM_FD, p, n);
        if (r < 0 && errno != EINTR)
            return;
        if (r > 0) {
            p += r;
            n -= (size_t)r;
        }
    }
}

void al_vm_die(const char *json)
{
    char out[1024];
    size_t n = strlen(json);
    if (n > sizeof out - AL_FRAME_HEADER)
        n = 0;
    memset(out, 0, AL_FRAME_HEADER);
    out[0] = (char)(n & 0xff);
    out[1] = (char)(n >> 8);
    out[4] = AL_VM_END;
    out[5] = AL_FRAME_VERSION;
    memcpy(out + AL_FRAME_HEADER, json, n);
    if (al_vm.sealed)
        write_all(out, AL_FRAME_HEADER + n);
    _exit(al_vm.sealed ? 0 : 1);
}

void al_vm_die_memory(void)
{
    al_vm_die(END_MEMORY);
}

static bool shadow_stack_spent(void)
{
    u32 sp = al_vm.q.w2c___stack_pointer;
    return sp < al_vm.stack_low || sp > ((u32)1 << 20);
}

/* Called by the translated code, and by the handler below. */
void al_vm_trap(wasm_rt_trap_t code)
{
    if (al_vm.out_of_memory || al_vm.grow_refused)
        al_vm_die_memory();
    if (code == WASM_RT_TRAP_EXHAUSTION || shadow_stack_spent())
        al_vm_die(END_STACK);
    al_vm_die(END_CRASH);
}

uint32_t al_vm_grow_memory(wasm_rt_memory_t *memory, uint32_t pages)
{
    uint64_t wanted = (uint64_t)memory->pages + pages;
    uint32_t before = (uint32_t)-1;
    if (wanted <= memory->max_pages)
        before = wasm_rt_grow_memory(memory, pages);
    if (before == (uint32_t)-1)
        al_vm.grow_refused = true;
    else if (al_vm.page)
        al_vm.page->heap_peak = (uint64_t)memory->pages << 16;
    return before;
}

/* Called by the translated code where the engine makes its out-of-memory error (third/hook-memory.awk). */
void al_vm_saw_out_of_memory(void)
{
    al_vm.out_of_memory = true;
}

/* SA_RESETHAND: returning from here runs into the same fault again, then with the default action. */
static void on_fault(int signum, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr;
    uintptr_t guest = (uintptr_t)al_vm.q.w2c_memory.data;
    (void)signum;
    (void)context;
    if (!al_vm.entered)
        return;
    if (guest && at >= guest && at - guest < RESERVED)
        al_vm_trap(WASM_RT_TRAP_OOB);
    if (stack_end && at < stack_end + NEAR_STACK_END && at + NEAR_STACK_END > stack_end)
        al_vm_trap(WASM_RT_TRAP_EXHAUSTION);
}

bool al_vm_trap_init(void)
{
    struct rlimit r;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (getrlimit(RLIMIT_STACK, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < here)
        stack_end = here - r.rlim_cur;
    stack_t ss = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    return sigaltstack(&ss, NULL) == 0 && sigaction(SIGSEGV, &sa, NULL) == 0 &&
           sigaction(SIGBUS, &sa, NULL) == 0 && signal(SIGPIPE, SIG_IGN) != SIG_ERR;
}
