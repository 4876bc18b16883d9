#include "jsvm/vm.h"
#include "os/spawn.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The rehearsal is a copy of the zygote whose linear memory is shared with it. It runs a small script of
 * ours, unheard, and ends; the pages that differ then are those that a run writes to.
 */

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

#define PAGE ((size_t)4096)    /* of the list; a larger page of the machine is touched more than once */
#define AROUND ((size_t)65536) /* the kernel maps this much of a file around a fault */
#define STACK_USUAL ((size_t)24 << 10)

#define CODE "print(1); return [await tools.x({a: 1})]"
#define TOOLS "{\"tools\":[\"x\"],\"servers\":{}}"
#define ALISIO "{\"executionId\":\"\",\"limits\":{}}"

static uint16_t usual[1024]; /* pages of linear memory, by number */
static unsigned n_usual;
static bool learned;

static size_t frame(char *to, uint8_t type, const void *a, size_t a_n, const char *b)
{
    uint32_t n = (uint32_t)(a_n + strlen(b));
    for (int i = 0; i < 4; i++)
        to[i] = (char)(n >> (8 * i) & 0xff);
    to[4] = (char)type;
    to[5] = AL_FRAME_VERSION;
    to[6] = to[7] = 0;
    memcpy(to + AL_FRAME_HEADER, a, a_n);
    memcpy(to + AL_FRAME_HEADER + a_n, b, strlen(b));
    return AL_FRAME_HEADER + n;
}

_Noreturn static void rehearse(void *shared, size_t n)
{
    const struct al_vm_init init = {
        .memory_bytes = (uint64_t)8 << 20,
        .max_text_bytes = 1000,
        .max_value_bytes = 1000,
        .stack_bytes = (uint32_t)256 << 10,
        .max_concurrency = 1,
        .seed = {1},
        .code_n = sizeof CODE - 1,
        .alisio_n = sizeof ALISIO - 1,
        .tools_n = sizeof TOOLS - 1,
    };
    const struct al_vm_call_head head = {.id = 1, .n = 1};
    char in[1024];
    size_t in_n = frame(in, AL_VM_INIT, &init, sizeof init, CODE ALISIO TOOLS);
    in_n += frame(in + in_n, AL_VM_RESULT, &head, sizeof head, "1");
    close(AL_VM_FD);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
        mremap(shared, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, al_vm.q.w2c_memory.data) == MAP_FAILED)
        _exit(1);
    al_vm.entered = true;
    al_vm_rehearse(in, in_n);
    al_vm_run();
}

void al_vm_ahead_learn(void)
{
    size_t n = (size_t)al_vm.q.w2c_memory.pages << 16;
    const char *mine = (const char *)al_vm.q.w2c_memory.data;
    if (learned)
        return;
    learned = true;
    char *shared = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return;
    memcpy(shared, mine, n);
    long pid = al_clone(0, NULL);
    if (pid == 0)
        rehearse(shared, n);
    if (pid > 0 && waitpid((pid_t)pid, NULL, __WALL) == (pid_t)pid) {
        for (size_t at = 0; at < n && n_usual < sizeof usual / sizeof *usual; at += PAGE) {
            if (memcmp(shared + at, mine + at, PAGE) != 0)
                usual[n_usual++] = (uint16_t)(at / PAGE);
        }
    }
    munmap(shared, n);
}

static void touch(volatile char *p)
{
    *p = *p;
}

/* What is not there, or cannot be asked for in an older kernel, comes when it is used, as ever. */
static void touch_program(void)
{
    extern char __executable_start, edata;
    uintptr_t end = (uintptr_t)&edata;
    for (uintptr_t at = (uintptr_t)&__executable_start & ~(AROUND - 1); at < end; at += AROUND)
        (void)madvise((void *)at, 1, MADV_POPULATE_READ);
}

void al_vm_ahead_touch(void)
{
    volatile char stack[STACK_USUAL];
    for (size_t i = 0; i < sizeof stack; i += PAGE)
        stack[i] = 0;
    for (unsigned i = 0; i < n_usual; i++)
        touch((volatile char *)al_vm.q.w2c_memory.data + usual[i] * PAGE);
    touch((volatile char *)&al_vm_run_state);
    touch_program();
}
