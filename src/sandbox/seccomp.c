#include "sandbox/seccomp.h"
#include "base/mem.h"
#include "os/fd.h"
#include "sandbox/seccomp_guest.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A call that is allowed as it is, or with one argument held to a condition. */
static int allow(scmp_filter_ctx c, const int *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int r = seccomp_rule_add(c, SCMP_ACT_ALLOW, calls[i], 0);
        if (r < 0)
            return r;
    }
    return 0;
}

static int allow_memory(scmp_filter_ctx c)
{
    static const int calls[] = {SCMP_SYS(munmap), SCMP_SYS(madvise), SCMP_SYS(brk)};
    int r = allow(c, calls, COUNT(calls));
    if (r == 0)
        r = seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    return r;
}

/*
 * The process has one descriptor, its channel: nothing else can be named by read and write. All of its memory
 * is mapped already; linear memory grows by mprotect inside its reservation, which RLIMIT_DATA counts. What
 * that limit does not count (shared and read-only mappings, stacks that grow) cannot be had.
 */
static int rules_run(scmp_filter_ctx c)
{
    static const int calls[] = {
        SCMP_SYS(read),          SCMP_SYS(write), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask),
        SCMP_SYS(clock_gettime), SCMP_SYS(exit),  SCMP_SYS(exit_group),
#ifdef AL_ASAN
        SCMP_SYS(sigaltstack), /* AddressSanitizer asks for it before each function that does not return */
#endif
    };
    int r = allow(c, calls, COUNT(calls));
#ifdef AL_ASAN
    if (r == 0)
        r = allow_memory(c); /* its own, at any time */
#endif
    if (r == 0)
        r = seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, ~(uint64_t)(PROT_READ | PROT_WRITE), 0));
    return r;
}

/* prctl with what a run sets on itself before its own filter is loaded. */
static int allow_prctl(scmp_filter_ctx c)
{
    static const unsigned options[] = {PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NAME,
                                       PR_SET_SECCOMP};
    for (size_t i = 0; i < COUNT(options); i++) {
        int r = seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, options[i], 0));
        if (r < 0)
            return r;
    }
    return 0;
}

static int rules_zygote(scmp_filter_ctx c)
{
    static const int calls[] = {
        SCMP_SYS(clone3),       SCMP_SYS(recvmsg),     SCMP_SYS(sendmsg),   SCMP_SYS(seccomp),
        SCMP_SYS(close),        SCMP_SYS(close_range), SCMP_SYS(dup),       SCMP_SYS(dup3),
        SCMP_SYS(fcntl),        SCMP_SYS(poll),        SCMP_SYS(ppoll),     SCMP_SYS(restart_syscall),
        SCMP_SYS(prlimit64),    SCMP_SYS(setrlimit),   SCMP_SYS(getrlimit), SCMP_SYS(getrusage),
        SCMP_SYS(getpid),       SCMP_SYS(getppid),     SCMP_SYS(gettid),    SCMP_SYS(wait4),
        SCMP_SYS(waitid),       SCMP_SYS(futex),       SCMP_SYS(getrandom), SCMP_SYS(set_robust_list),
        SCMP_SYS(rt_sigaction), SCMP_SYS(sigaltstack), SCMP_SYS(mremap),    SCMP_SYS(clock_nanosleep),
    };
    /* Every namespace that clone can make; of a clone3 the kernel lets a filter see nothing. */
    const unsigned long namespaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                     CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
    int r = rules_run(c);
    if (r == 0)
        r = allow(c, calls, COUNT(calls));
#ifndef AL_ASAN
    if (r == 0)
        r = allow_memory(c);
#endif
    if (r == 0)
        r = seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                             SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces, 0));
    return r < 0 ? r : allow_prctl(c);
}

/*
 * Memory that RLIMIT_DATA counts: private, anonymous, never executable, no stack that grows. What it does not
 * count (address space that is only reserved or only read) RLIMIT_AS does.
 */
static int allow_counted_memory(scmp_filter_ctx c)
{
    static const int calls[] = {SCMP_SYS(munmap), SCMP_SYS(madvise), SCMP_SYS(brk)};
    const uint64_t decides = MAP_TYPE | MAP_ANONYMOUS | MAP_GROWSDOWN;
    const uint64_t prot = PROT_READ | PROT_WRITE;
    int r = allow(c, calls, COUNT(calls));
    if (r == 0)
        r = seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, SCMP_A2(SCMP_CMP_MASKED_EQ, ~prot, 0),
                             SCMP_A3(SCMP_CMP_MASKED_EQ, decides, MAP_PRIVATE | MAP_ANONYMOUS));
    if (r == 0)
        r = seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, ~prot, 0));
    if (r == 0)
        r = seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(mremap), 1,
                             SCMP_A3(SCMP_CMP_MASKED_EQ, ~(uint64_t)MREMAP_MAYMOVE, 0));
    return r;
}

static int refuse(scmp_filter_ctx c, int error, const int *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int r = seccomp_rule_add(c, SCMP_ACT_ERRNO((unsigned)error), calls[i], 0);
        if (r < 0)
            return r;
    }
    return 0;
}

/*
 * What abort(3) does before it falls back on an instruction that traps. These fail, and do nothing: a worker
 * that gives itself up dies by a signal of its own, and only one that tries something else by SIGSYS.
 */
static int fail_abort(scmp_filter_ctx c)
{
    static const int calls[] = {
        SCMP_SYS(tgkill), SCMP_SYS(writev), SCMP_SYS(rt_sigaction),
#ifndef AL_ASAN
        SCMP_SYS(gettid), SCMP_SYS(getpid),
#endif
    };
    return refuse(c, EPERM, calls, COUNT(calls));
}

/* What SQLite does over descriptors (db/fdvfs.h). */
static int allow_files(scmp_filter_ctx c)
{
    static const int calls[] = {SCMP_SYS(pread64), SCMP_SYS(pwrite64), SCMP_SYS(ftruncate), SCMP_SYS(fstat)};
    return allow(c, calls, COUNT(calls));
}

static int rules_query(scmp_filter_ctx c)
{
    static const int calls[] = {
        SCMP_SYS(read),        SCMP_SYS(write),       SCMP_SYS(rt_sigreturn),  SCMP_SYS(rt_sigprocmask),
        SCMP_SYS(exit),        SCMP_SYS(futex),       SCMP_SYS(clock_gettime), SCMP_SYS(exit_group),
#ifdef AL_ASAN
        SCMP_SYS(sigaltstack), SCMP_SYS(sched_yield), SCMP_SYS(gettid),        SCMP_SYS(getpid),
#endif
    };
    int r = allow(c, calls, COUNT(calls));
    if (r == 0)
        r = allow_files(c);
    if (r == 0)
        r = fail_abort(c);
    return r < 0 ? r : allow_counted_memory(c);
}

static int rules_query_zygote(scmp_filter_ctx c)
{
    static const int abort_calls[] = {SCMP_SYS(tgkill), SCMP_SYS(writev)};
#ifdef AL_ASAN
    static const int calls[] = {SCMP_SYS(sched_yield)};
    int r = allow(c, calls, COUNT(calls));
    if (r < 0)
        return r;
#endif
    if (rules_zygote(c) < 0 || refuse(c, EPERM, abort_calls, COUNT(abort_calls)) < 0)
        return -EINVAL;
    return allow_files(c);
}

static int rules_ingest(scmp_filter_ctx c)
{
    static const int calls[] = {
        SCMP_SYS(lseek),
        SCMP_SYS(sched_yield),
        SCMP_SYS(getrandom),
        /* The first steps of a thread, which may come after those of the one that made it. */
        SCMP_SYS(rseq),
#ifdef AL_ASAN
        SCMP_SYS(sched_getaffinity), /* it asks for the bounds of a thread's stack */
#endif
        SCMP_SYS(set_robust_list),
    };
    int r = rules_query(c);
    return r < 0 ? r : allow(c, calls, COUNT(calls));
}

static int rules_git(scmp_filter_ctx c)
{
    static const int calls[] = {
        SCMP_SYS(execve),
        SCMP_SYS(socket),
        SCMP_SYS(io_uring_setup),
        SCMP_SYS(ptrace),
        SCMP_SYS(process_vm_readv),
        SCMP_SYS(process_vm_writev),
        SCMP_SYS(pidfd_getfd),
        SCMP_SYS(unshare),
        SCMP_SYS(setns),
        SCMP_SYS(mount),
        SCMP_SYS(bpf),
        SCMP_SYS(keyctl),
        SCMP_SYS(add_key),
        SCMP_SYS(request_key),
        SCMP_SYS(userfaultfd),
        SCMP_SYS(perf_event_open),
    };
    return refuse(c, EACCES, calls, COUNT(calls));
}

static int export(scmp_filter_ctx c, struct sock_fprog **ret)
{
    autofd int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = seccomp_export_bpf(c, fd);
    if (r < 0)
        return r;
    off_t size = lseek(fd, 0, SEEK_END);
    if (size <= 0 || (size_t)size % sizeof(struct sock_filter) != 0 ||
        (size_t)size / sizeof(struct sock_filter) > BPF_MAXINSNS)
        return -EINVAL;
    struct sock_fprog *prog = al_xmalloc(sizeof(*prog) + (size_t)size);
    prog->len = (unsigned short)((size_t)size / sizeof(struct sock_filter));
    prog->filter = (struct sock_filter *)(prog + 1);
    if (pread(fd, prog->filter, (size_t)size, 0) != size) {
        free(prog);
        return -EIO;
    }
    *ret = prog;
    return 0;
}

int al_seal_build(enum al_seal kind, struct sock_fprog **ret, struct al_err *err)
{
    static int (*const rules[])(scmp_filter_ctx) = {
        [AL_SEAL_ZYGOTE] = rules_zygote,
        [AL_SEAL_RUN] = rules_run,
        [AL_SEAL_QUERY_ZYGOTE] = rules_query_zygote,
        [AL_SEAL_QUERY] = rules_query,
        [AL_SEAL_INGEST] = rules_ingest,
        [AL_SEAL_GIT] = rules_git,
    };
    if (kind >= AL_SEAL_GUEST) {
        struct sock_fprog *prog = al_seal_build_guest(kind);
        if (prog)
            *ret = prog;
        return prog ? 0 : al_fail(err, AL_RUNTIME_UNAVAILABLE, "cannot build a system call filter");
    }
    scmp_filter_ctx c = seccomp_init(kind == AL_SEAL_GIT ? SCMP_ACT_ALLOW : SCMP_ACT_KILL_PROCESS);
    if (!c)
        return al_fail(err, AL_ENGINE_UNAVAILABLE, "cannot build a system call filter");
    /* Also the way round: 32-bit and x32 numbers mean other calls. */
    int r = seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (r == 0)
        r = rules[kind](c);
    if (r == 0)
        r = export(c, ret);
    seccomp_release(c);
    if (r < 0)
        return al_fail_errno(err, AL_ENGINE_UNAVAILABLE, -r, "cannot build a system call filter");
    return 0;
}

void al_seal_free(struct sock_fprog *prog)
{
    free(prog);
}

static int load(const struct sock_fprog *prog, unsigned flags)
{
    if (syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    /* SPEC_ALLOW: older kernels would slow a filtered process down to guard secrets that it does not hold. */
    long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW | flags, prog);
    return r < 0 ? -errno : r > 0 ? -ESRCH : 0; /* a positive one: the thread that cannot be sealed */
}

int al_seal_load(const struct sock_fprog *prog)
{
    return load(prog, 0);
}

int al_seal_load_threads(const struct sock_fprog *prog)
{
    return load(prog, SECCOMP_FILTER_FLAG_TSYNC);
}
