/*
 * Hostile native code in the place of a reader or of SQLite: what a fault in one of them could come to. It
 * runs where they would, sealed as they are, in either thread of an ingest and in the process of a query.
 * Each attempt must be refused.
 */
#include "data_fakes.h"
#include "data_rig.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* -- the sealed side */

#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)

static const struct {
    const char *name;
    long number;
    long a, b, c, d;
} calls[] = {
#define CALL(name, ...)                \
    {                                  \
#name, SYS_##name, __VA_ARGS__ \
    }
    CALL(openat, AT_FDCWD, (long)"/etc/passwd", O_RDONLY, 0),
    CALL(openat2, AT_FDCWD, (long)"/etc/passwd", 0, 0),
    CALL(socket, 2, 1, 0, 0),
    CALL(socketpair, 1, 1, 0, 0),
    CALL(connect, 3, 0, 0, 0),
    CALL(sendto, 3, 0, 0, 0),
    CALL(sendmsg, 3, 0, 0, 0),
    CALL(recvfrom, 3, 0, 0, 0),
    CALL(recvmsg, 3, 0, 0, 0),
    CALL(execve, (long)"/bin/sh", 0, 0, 0),
    CALL(execveat, 3, (long)"", 0, 0),
    CALL(clone, SIGCHLD, 0, 0, 0),
    CALL(clone3, 0, 0, 0, 0),
    CALL(ptrace, 0, 0, 0, 0),
    CALL(process_vm_readv, 1, 0, 0, 0),
    CALL(process_vm_writev, 1, 0, 0, 0),
    CALL(kill, 1, 0, 0, 0),
    CALL(tkill, 1, 0, 0, 0),
    CALL(pidfd_open, 1, 0, 0, 0),
    CALL(pidfd_send_signal, 3, 0, 0, 0),
    CALL(pidfd_getfd, 3, 0, 0, 0),
    CALL(io_uring_setup, 1, 0, 0, 0),
    CALL(memfd_create, (long)"x", 0, 0, 0),
    CALL(dup, 3, 0, 0, 0),
    CALL(dup3, 3, 9, 0, 0),
    CALL(close, 3, 0, 0, 0),
    CALL(fcntl, 3, F_DUPFD, 0, 0),
    CALL(ioctl, 3, 0x541b, 0, 0),
    CALL(prctl, PR_SET_DUMPABLE, 1, 0, 0),
    CALL(seccomp, 0, 0, 0, 0),
    CALL(unshare, 0x10000000, 0, 0, 0),
    CALL(setns, 3, 0, 0, 0),
    CALL(mount, 0, 0, 0, 0),
    CALL(chroot, (long)"/", 0, 0, 0),
    CALL(bpf, 0, 0, 0, 0),
    CALL(perf_event_open, 0, 0, 0, 0),
    CALL(userfaultfd, 0, 0, 0, 0),
    CALL(keyctl, 0, 0, 0, 0),
    CALL(setuid, 0, 0, 0, 0),
    CALL(capset, 0, 0, 0, 0),
    CALL(getdents64, 3, 0, 0, 0),
    CALL(readlinkat, AT_FDCWD, (long)"/proc/self/exe", 0, 0),
    CALL(newfstatat, AT_FDCWD, (long)"/", 0, 0),
    CALL(newfstatat, 4, (long)"", 0, AT_EMPTY_PATH),
    CALL(statx, AT_FDCWD, (long)"/", 0, 0),
    CALL(faccessat, AT_FDCWD, (long)"/", 0, 0),
    CALL(unlinkat, AT_FDCWD, (long)"/none", 0, 0),
    CALL(renameat2, AT_FDCWD, (long)"/none", AT_FDCWD, 0),
    CALL(linkat, AT_FDCWD, (long)"/none", AT_FDCWD, 0),
    CALL(fchmod, 5, 0777, 0, 0),
    CALL(fchown, 5, 0, 0, 0),
    CALL(fallocate, 5, 0, 0, 4096),
    CALL(copy_file_range, 4, 0, 5, 0),
    CALL(sendfile, 3, 4, 0, 10),
    CALL(splice, 4, 0, 3, 0),
    CALL(prlimit64, 0, 2, 0, 0),
    CALL(setpriority, 0, 0, 19, 0),
    CALL(sched_setaffinity, 0, 0, 0, 0),
    CALL(shmget, 1, 1, 0, 0),
    CALL(personality, 0, 0, 0, 0),
    CALL(getppid, 0, 0, 0, 0),
    CALL(uname, 0, 0, 0, 0),
    CALL(sysinfo, 0, 0, 0, 0),
    CALL(nanosleep, 0, 0, 0, 0),
    CALL(setitimer, 0, 0, 0, 0),
    CALL(wait4, -1, 0, 0, 0),
    CALL(ppoll, 0, 0, 0, 0),
    CALL(mlockall, 1, 0, 0, 0),
    CALL(mmap, 0, 4096, PROT_READ | PROT_EXEC, ANON),
    CALL(mmap, 0, 4096, RW, MAP_SHARED | MAP_ANONYMOUS),
    CALL(mmap, 0, 4096, RW, ANON | MAP_GROWSDOWN),
    CALL(mmap, 0, 4096, PROT_READ, MAP_PRIVATE),
    CALL(mmap, 0, 4096, RW, MAP_SHARED),
    CALL(mprotect, 0, 4096, PROT_READ | PROT_EXEC, 0),
    CALL(mprotect, 0, 4096, RW | PROT_GROWSDOWN, 0),
    CALL(mremap, 0, 4096, 8192, 4 /* MREMAP_DONTUNMAP */),
    CALL(pkey_mprotect, 0, 4096, RW, 0),
    CALL(remap_file_pages, 0, 4096, 0, 0),
#ifdef __x86_64__
    CALL(open, (long)"/etc/passwd", 0, 0, 0),
    CALL(fork, 0, 0, 0, 0),
    CALL(vfork, 0, 0, 0, 0),
    CALL(dup2, 3, 9, 0, 0),
    CALL(stat, (long)"/", 0, 0, 0),
    CALL(arch_prctl, 0x1002, 0, 0, 0),
    CALL(iopl, 3, 0, 0, 0),
    CALL(modify_ldt, 0, 0, 0, 0),
    {"x32 write", 0x40000001, 3, 0, 0, 0},
#endif
#undef CALL
};
#define N_CALLS (sizeof calls / sizeof *calls)

/* Which numbers name something, as a set of bits; and whether a dataset, or a source, can be written to. */
static void look_at_descriptors(void)
{
    unsigned long open_ones = 0;
    for (int fd = 0; fd < 4096; fd++) {
        if (syscall(SYS_write, fd, "", 0) >= 0 || errno != EBADF)
            open_ones |= fd < 63 ? 1ul << fd : 1ul << 63;
        else if (syscall(SYS_pread64, fd, "", 0, 0) >= 0)
            open_ones |= fd < 63 ? 1ul << fd : 1ul << 63;
    }
    fake_say("descriptors", (long)open_ones, syscall(SYS_pwrite64, 4, "x", 1, 0) < 0 ? errno : 0);
}

/* They do nothing, so that abort() ends by a signal that is no attack's. */
static void try_abort_calls(void)
{
    static char byte = 'x';
    struct iovec v = {&byte, 1};
    struct kernel_sigaction {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } ignore = {.handler = SIG_IGN};
    long fails = 0;
    fails += syscall(SYS_tgkill, 1, 1, SIGKILL) < 0 && errno == EPERM;
    fails += syscall(SYS_writev, 3, &v, 1) < 0 && errno == EPERM;
    fails += syscall(SYS_rt_sigaction, SIGSYS, &ignore, NULL, 8) < 0 && errno == EPERM;
    fake_say("refused", fails, 0);
}

void fake_deed(struct al_str what, bool ingest)
{
    int64_t i = 0;
    (void)ingest;
    if (al_str_starts(what, "call ") &&
        al_parse_int((struct al_str){what.p + 5, what.n - 5}, 0, N_CALLS - 1, &i)) {
        long r = syscall(calls[i].number, calls[i].a, calls[i].b, calls[i].c, calls[i].d, -1, 0);
        fake_say("survived with", r, errno);
    }
    if (al_str_is(what, "abort's calls"))
        try_abort_calls();
    if (al_str_is(what, "descriptors"))
        look_at_descriptors();
#ifdef __x86_64__
    if (al_str_is(what, "int80")) {
        long r = 20; /* getpid of the 32-bit table */
        __asm__ volatile("int $0x80" : "+a"(r) : : "memory", "r8", "r9", "r10", "r11");
        fake_say("survived with", r, 0);
    }
#endif
}

void fake_thread_deed(struct al_str what)
{
    fake_deed(what, true);
}

/* -- the host's side */

static struct rig_ingest *ingest_of(const char *content)
{
    int source = rig_text(content), output = rig_text("");
    struct rig_ingest *r = rig_ingest(source, output, "x.csv");
    close(source);
    close(output);
    return r;
}

static void refused(const char *where, const char *name, const struct al_err *err)
{
    if (err->code != AL_ENGINE_CRASHED || !strstr(err->detail, "security") ||
        !strstr(err->msg, "system call"))
        fail_msg("%s: %s: %s: %s", where, name, al_code_name(err->code), err->msg);
}

/* As many at once as may run. */
static void each_call_of_a_query(void)
{
    enum {
        AT_ONCE = 16
    };
    static struct rig_query r[AT_ONCE];
    static char what[AT_ONCE][32];
    for (size_t from = 0; from < N_CALLS; from += AT_ONCE) {
        size_t n = N_CALLS - from < AT_ONCE ? N_CALLS - from : AT_ONCE;
        for (size_t i = 0; i < n; i++) {
            snprintf(what[i], sizeof what[i], "call %zu", from + i);
            struct al_query q = rig_spec(what[i], -1);
            rig_start(&r[i], &q);
        }
        for (size_t i = 0; i < n; i++) {
            rig_wait(&r[i]);
            refused("a query", calls[from + i].name, &r[i].err);
        }
    }
    for (size_t i = 0; i < AT_ONCE; i++)
        rig_free(&r[i]);
}

static void each_call_of_an_ingest(const char *prefix)
{
    enum {
        AT_ONCE = 4
    };
    static struct rig_ingest r[AT_ONCE];
    int source[AT_ONCE], output = rig_text("");
    for (size_t from = 0; from < N_CALLS; from += AT_ONCE) {
        size_t n = N_CALLS - from < AT_ONCE ? N_CALLS - from : AT_ONCE;
        for (size_t i = 0; i < n; i++) {
            char what[40];
            snprintf(what, sizeof what, "%scall %zu", prefix, from + i);
            source[i] = rig_text(what);
            struct al_ingest_spec spec = rig_ingest_spec(source[i], output, "x");
            rig_ingest_start(&r[i], &spec);
        }
        for (size_t i = 0; i < n; i++) {
            rig_ingest_wait(&r[i]);
            refused(*prefix ? "an ingest's thread" : "an ingest", calls[from + i].name, &r[i].err);
            close(source[i]);
        }
    }
    for (size_t i = 0; i < AT_ONCE; i++)
        rig_ingest_free(&r[i]);
    close(output);
}

static void each_system_call_is_refused(void **state)
{
    (void)state;
    each_call_of_a_query();
    each_call_of_an_ingest("");
    each_call_of_an_ingest("thread ");
    assert_int_equal(rig_query("fine", -1)->err.code, AL_OK);
    rig_rest();
}

static void calls_of_abort_do_nothing(void **state)
{
    (void)state;
    assert_string_equal(rig_query("abort's calls", -1)->err.msg, "refused 3 0");
    assert_string_equal(ingest_of("abort's calls")->err.msg, "refused 3 0");
    assert_string_equal(ingest_of("thread abort's calls")->err.msg, "refused 3 0");
}

static void calls_of_another_architecture_are_refused(void **state)
{
    (void)state;
#ifdef __x86_64__
    /* Where the kernel has no 32-bit table, the process dies of the instruction. */
    assert_int_equal(rig_query("int80", -1)->err.code, AL_ENGINE_CRASHED);
    assert_int_equal(ingest_of("int80")->err.code, AL_ENGINE_CRASHED);
#endif
}

#ifndef AL_ASAN /* which keeps its standard error */
static void a_worker_has_its_files_alone(void **state)
{
    char want[64];
    (void)state;
    /* channel, the dataset for reading, spill; even where the host holds the dataset for writing */
    int ds = rig_text("dataset");
    snprintf(want, sizeof want, "descriptors %d %d", 1 << 3 | 1 << 4 | 1 << 5, EBADF);
    assert_string_equal(rig_query("descriptors", ds)->err.msg, want);
    close(ds);
    /* channel, source for reading, output, spill */
    snprintf(want, sizeof want, "descriptors %d %d", 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6, EBADF);
    assert_string_equal(ingest_of("descriptors")->err.msg, want);
}
#endif

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_system_call_is_refused),
    cmocka_unit_test(calls_of_abort_do_nothing),
    cmocka_unit_test(calls_of_another_architecture_are_refused),
#ifndef AL_ASAN
    cmocka_unit_test(a_worker_has_its_files_alone),
#endif
};
RIG_MAIN(tests)
