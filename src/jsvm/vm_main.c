#include "base/mem.h"
#include "base/text.h"
#include "jsvm/engine.h"
#include "jsvm/vm.h"
#include "os/fd.h"
#include "os/spawn.h"
#include "sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * The zygote: a fresh exec of this binary with an empty environment and one descriptor. It builds the VM,
 * seals itself, and from then on does one thing: it turns a request into a process, whose parent is the host.
 */

#define NATIVE_ROOM \
    ((uint64_t)16 << 20) /* data beyond the guest's memory that a run may map: in truth next to none */

#define HEAP_ROOM ((size_t)64 << 10)

static struct sock_fprog *seal_zygote, *seal_run;
static uint64_t data_bytes; /* private data of the zygote itself, as RLIMIT_DATA counts it */
static pid_t host_pid;

static void say(const struct al_vm_reply_msg *m)
{
    while (write(AL_VM_FD, m, sizeof *m) < 0 && errno == EINTR)
        ;
}

_Noreturn static void fail(const char *why)
{
    struct al_vm_reply_msg m = {.kind = AL_VM_FAILED};
    snprintf(m.text, sizeof m.text, "%s", why);
    say(&m);
    _exit(1);
}

/*
 * After this, localtime_r answers from memory: it keeps a copy of each zone's name that it meets, for which
 * the heap has room. A run cannot have more of it.
 */
static void load_time_zone(const char *tz)
{
    struct tm tm;
    const time_t some[] = {0, INT32_MIN, 4102444800,
                           4118083200}; /* also after the last change: 2100, both halves */
    if (tz)
        setenv("TZ", tz, 1);
    tzset();
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        localtime_r(&some[i], &tm);
}

#ifndef AL_ASAN
/* With every symbol bound at the start, the linker never looks into a library again. */
static bool bound_now(void)
{
    bool now = false;
    for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++)
        now = now || d->d_tag == DT_BIND_NOW || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_BIND_NOW) ||
              (d->d_tag == DT_FLAGS_1 && d->d_un.d_val & DF_1_NOW);
    return now;
}

/* Libraries that no run calls: not mapped there, a run is forked and torn down sooner, and holds less code.
 */
static int leave_out(struct dl_phdr_info *lib, size_t n, void *ud)
{
    static const char *const names[] = {"/libseccomp.so", "/libuv.so"};
    bool unused = false;
    (void)n;
    (void)ud;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unused = unused || strstr(lib->dlpi_name, names[i]);
    for (unsigned i = 0; unused && i < lib->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &lib->dlpi_phdr[i];
        uintptr_t page = (uintptr_t)getpagesize(), from = lib->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD)
            madvise((void *)(from & ~(page - 1)), part->p_memsz + (from & (page - 1)), MADV_DONTFORK);
    }
    return 0;
}
#endif

static void build(const char *tz)
{
    char why[200];
    struct al_err err = {0};
    if (prctl(PR_SET_DUMPABLE, 0) < 0 || !al_vm_trap_init())
        fail("the kernel refuses the zygote's first steps");
    load_time_zone(tz);
    if (!al_vm_instantiate())
        fail("the engine does not start");
    if (!al_vm_prelude_build(why, sizeof why))
        fail(why);
    al_vm.first_pages = al_vm.q.w2c_memory.pages;
    if (al_seal_build(AL_SEAL_ZYGOTE, &seal_zygote, &err) < 0 ||
        al_seal_build(AL_SEAL_RUN, &seal_run, &err) < 0)
        fail(err.msg);
#ifndef AL_ASAN
    if (bound_now())
        dl_iterate_phdr(leave_out, NULL);
#endif
    data_bytes = al_own_bytes("VmData:", (uint64_t)64 << 20);
    free(al_xmalloc(HEAP_ROOM));
    int r = al_seal_load(seal_zygote);
    if (r < 0) {
        snprintf(why, sizeof why, "the kernel refuses the filter: error %d", -r);
        fail(why);
    }
}

static void limit(int what, uint64_t n)
{
    struct rlimit r = {n, n};
    if (setrlimit((__rlimit_resource_t)what, &r) < 0)
        _exit(1);
}

/* In the new process: nothing of the zygote's but its memory. */
_Noreturn static void become_run(int channel, const struct al_vm_request *req)
{
    al_vm.page->heap_peak = (uint64_t)al_vm.q.w2c_memory.pages << 16;
    /* The parent is the host. Had it died before the first call, no signal would ever come. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != host_pid)
        _exit(1);
    if (dup3(channel, AL_VM_FD, 0) < 0 || close_range(AL_VM_FD + 1, ~0u, 0) < 0)
        _exit(1);
#ifndef AL_ASAN
    if (close_range(0, AL_VM_FD - 1, 0) < 0)
        _exit(1);
    limit(RLIMIT_DATA, data_bytes + req->data_bytes + AL_VM_GUEST_SLACK + NATIVE_ROOM);
#endif
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NOFILE, AL_VM_FD + 1);
    if (req->ahead)
        al_vm_ahead_touch();
    if (al_seal_load(seal_run) < 0)
        _exit(1);
    al_vm.sealed = true;
    al_vm.entered = true;
    al_vm_run();
}

static void fork_run(const struct al_vm_request *req, int channel, int page)
{
    struct al_vm_reply_msg m = {.kind = AL_VM_FORKED, .seq = req->seq};
    if (req->ahead)
        al_vm_ahead_learn();
    void *shared = mmap(NULL, sizeof *al_vm.page, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
    if (shared == MAP_FAILED) {
        m.pid = -errno;
    } else {
        al_vm.page = shared;
        m.pid = al_clone(CLONE_PARENT, &al_vm.page->pid);
        if (m.pid == 0)
            become_run(channel, req);
        al_vm.page = NULL;
        munmap(shared, sizeof *al_vm.page);
    }
    say(&m);
}

/* argv: alisio __js-zygote HOST-PID [TZ]   descriptor 3: control socket */
int al_zygote_main(int argc, char **argv)
{
    struct al_vm_request req;
    int fds[2];
    int64_t pid = 0;
    if (argc < 3 || !al_parse_int(al_str_of(argv[2]), 1, INT32_MAX, &pid) || getppid() != (pid_t)pid)
        return 2;
    host_pid = (pid_t)pid;
    build(argc > 3 ? argv[3] : NULL);
    say(&(struct al_vm_reply_msg){.kind = AL_VM_READY});
    while (al_fd_receive(AL_VM_FD, &req, sizeof req, fds, 2) == 2) {
        fork_run(&req, fds[0], fds[1]);
        close(fds[0]);
        close(fds[1]);
    }
    _exit(0);
}
