#include "os_help.h"

#include "sandbox/seccomp.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static struct sock_fprog *run_prog, *zygote_prog, *git_prog;
static int channel[2];
static char page[8192] __attribute__((aligned(4096)));

/* The sealed code makes bare system calls and ends by one: no sanitizer, no libc may have a wish of its own.
 */
#define SEALED __attribute__((no_sanitize("address", "undefined"), noinline))

SEALED static void leave(int status)
{
    for (;;)
        syscall(SYS_exit_group, status);
}

struct call {
    const char *name;
    long nr, a, b, c, d, e, f;
};

/* How a child ends that makes the call under the filter: -1 when it died by SIGSYS, else its exit status. */
SEALED static int end_of(const struct sock_fprog *first, const struct sock_fprog *then, const struct call *k)
{
    int st;
    pid_t pid = fork();
    if (pid == 0) {
        if ((first && al_seal_load(first) != 0) || (then && al_seal_load(then) != 0))
            leave(99);
        long r = syscall(k->nr, k->a, k->b, k->c, k->d, k->e, k->f);
        leave(r == -1 && errno == ENOSYS ? 98 : r == -1 && errno == EACCES ? 13 : 0);
    }
    assert_int_equal(waitpid(pid, &st, 0), pid);
    if (WIFSIGNALED(st) && WTERMSIG(st) == SIGSYS)
        return -1;
    return WIFEXITED(st) ? WEXITSTATUS(st) : 97;
}

#define P(x) (long)(x)
#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

static void a_run_may_do_next_to_nothing(void **state)
{
    (void)state;
    const struct call killed[] = {
        {"openat", SYS_openat, AT_FDCWD, P("/etc/passwd"), O_RDONLY, 0, 0, 0},
        {"openat2", SYS_openat2, AT_FDCWD, P("/etc/passwd"), P(page), 24, 0, 0},
        {"socket", SYS_socket, AF_INET, SOCK_STREAM, 0, 0, 0, 0},
        {"socketpair", SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, P(page), 0, 0},
        {"connect", SYS_connect, 0, P(page), 16, 0, 0, 0},
        {"execve", SYS_execve, P("/bin/true"), 0, 0, 0, 0, 0},
        {"execveat", SYS_execveat, 0, P(""), 0, 0, AT_EMPTY_PATH, 0},
        {"ptrace", SYS_ptrace, 0, 0, 0, 0, 0, 0},
        {"clone", SYS_clone, SIGCHLD, 0, 0, 0, 0, 0},
        {"clone3", SYS_clone3, P(page), 64, 0, 0, 0, 0},
        {"kill", SYS_kill, 0, 0, 0, 0, 0, 0},
        {"tgkill", SYS_tgkill, 1, 1, 0, 0, 0, 0},
        {"pidfd_open", SYS_pidfd_open, 1, 0, 0, 0, 0, 0},
        {"process_vm_readv", SYS_process_vm_readv, 1, 0, 0, 0, 0, 0},
        {"mmap exec", SYS_mmap, 0, 4096, RW | PROT_EXEC, ANON, -1, 0},
        {"mmap exec only", SYS_mmap, 0, 4096, PROT_EXEC, ANON, -1, 0},
        {"mprotect exec", SYS_mprotect, P(page), 4096, PROT_READ | PROT_EXEC, 0, 0, 0},
        {"mprotect growing", SYS_mprotect, P(page), 4096, RW | PROT_GROWSDOWN, 0, 0, 0},
#ifndef AL_ASAN
        {"mmap", SYS_mmap, 0, 4096, RW, ANON, -1, 0},
        {"mmap shared", SYS_mmap, 0, 4096, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0},
        {"mmap growing", SYS_mmap, 0, 4096, RW, ANON | MAP_GROWSDOWN, -1, 0},
        {"mmap read-only", SYS_mmap, 0, 4096, PROT_READ, ANON | MAP_NORESERVE, -1, 0},
        {"munmap", SYS_munmap, P(page), 4096, 0, 0, 0, 0},
        {"madvise", SYS_madvise, P(page), 4096, MADV_NORMAL, 0, 0, 0},
        {"brk", SYS_brk, 0, 0, 0, 0, 0, 0},
#endif
        {"pkey_mprotect", SYS_pkey_mprotect, P(page), 4096, PROT_READ | PROT_EXEC, -1, 0, 0},
        {"mremap", SYS_mremap, P(page), 4096, 4096, 0, 0, 0},
        {"memfd_create", SYS_memfd_create, P("x"), 0, 0, 0, 0, 0},
        {"shmat", SYS_shmat, 0, 0, 0, 0, 0, 0},
        {"close", SYS_close, 0, 0, 0, 0, 0, 0},
        {"dup", SYS_dup, 0, 0, 0, 0, 0, 0},
        {"fcntl", SYS_fcntl, 0, F_GETFD, 0, 0, 0, 0},
        {"ioctl", SYS_ioctl, 0, 0, 0, 0, 0, 0},
        {"pread64", SYS_pread64, 0, P(page), 1, 0, 0, 0},
        {"sendmsg", SYS_sendmsg, 0, P(page), 0, 0, 0, 0},
        {"recvmsg", SYS_recvmsg, 0, P(page), 0, 0, 0, 0},
        {"getpid", SYS_getpid, 0, 0, 0, 0, 0, 0},
        {"getuid", SYS_getuid, 0, 0, 0, 0, 0, 0},
        {"prctl", SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0, 0},
        {"prlimit64", SYS_prlimit64, 0, RLIMIT_DATA, 0, 0, 0, 0},
        {"seccomp", SYS_seccomp, 0, 0, 0, 0, 0, 0},
        {"rt_sigaction", SYS_rt_sigaction, SIGSYS, 0, 0, 8, 0, 0},
        {"getrandom", SYS_getrandom, P(page), 1, 0, 0, 0, 0},
        {"futex", SYS_futex, P(page), 0, 0, 0, 0, 0},
        {"bpf", SYS_bpf, 0, 0, 0, 0, 0, 0},
        {"io_uring_setup", SYS_io_uring_setup, 1, P(page), 0, 0, 0, 0},
        {"userfaultfd", SYS_userfaultfd, 0, 0, 0, 0, 0, 0},
        {"unshare", SYS_unshare, CLONE_NEWUSER, 0, 0, 0, 0, 0},
        {"personality", SYS_personality, 0xffffffff, 0, 0, 0, 0, 0},
        {"no such call", 4000, 0, 0, 0, 0, 0, 0},
    };
    const struct call fine[] = {
        {"read", SYS_read, channel[0], P(page), 0, 0, 0, 0},
        {"write", SYS_write, channel[1], P(page), 0, 0, 0, 0},
#ifdef AL_ASAN
        {"mmap", SYS_mmap, 0, 4096, RW, ANON, -1, 0}, /* the sanitizer's own */
#endif
        {"mprotect", SYS_mprotect, P(page), 4096, RW, 0, 0, 0},
        {"mprotect none", SYS_mprotect, P(page), 4096, PROT_NONE, 0, 0, 0},
        {"clock_gettime", SYS_clock_gettime, CLOCK_MONOTONIC, P(page), 0, 0, 0, 0},
        {"rt_sigprocmask", SYS_rt_sigprocmask, SIG_BLOCK, 0, 0, 8, 0, 0},
        {"exit", SYS_exit, 0, 0, 0, 0, 0, 0},
    };
    for (int stacked = 0; stacked < 2; stacked++) {
        const struct sock_fprog *below = stacked ? zygote_prog : NULL;
        for (size_t i = 0; i < sizeof(killed) / sizeof(killed[0]); i++) {
            if (end_of(below, run_prog, &killed[i]) != -1)
                fail_msg("%s is let through", killed[i].name);
        }
        for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
            if (end_of(below, run_prog, &fine[i]) != 0)
                fail_msg("%s is not let through", fine[i].name);
        }
    }
}

static void a_zygote_may_do_what_it_needs(void **state)
{
    (void)state;
    const struct call killed[] = {
        {"openat", SYS_openat, AT_FDCWD, P("/etc/passwd"), O_RDONLY, 0, 0, 0},
        {"socket", SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0, 0, 0},
        {"execve", SYS_execve, P("/bin/true"), 0, 0, 0, 0, 0},
        {"execveat", SYS_execveat, 0, P(""), 0, 0, AT_EMPTY_PATH, 0},
        {"ptrace", SYS_ptrace, 0, 0, 0, 0, 0, 0},
        {"kill", SYS_kill, 0, 0, 0, 0, 0, 0},
        {"pidfd_send_signal", SYS_pidfd_send_signal, 0, 0, 0, 0, 0, 0},
        {"mmap exec", SYS_mmap, 0, 4096, RW | PROT_EXEC, ANON, -1, 0},
        {"mprotect exec", SYS_mprotect, P(page), 4096, PROT_READ | PROT_EXEC, 0, 0, 0},
        {"clone newuser", SYS_clone, SIGCHLD | CLONE_NEWUSER, 0, 0, 0, 0, 0},
        {"unshare", SYS_unshare, CLONE_NEWNS, 0, 0, 0, 0, 0},
        {"prctl other", SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0, 0},
        {"ioctl", SYS_ioctl, 0, 0, 0, 0, 0, 0},
    };
    const struct call fine[] = {
        {"mmap", SYS_mmap, 0, 4096, RW, ANON, -1, 0},
        {"munmap", SYS_munmap, P(page), 4096, 0, 0, 0, 0},
        {"madvise", SYS_madvise, P(page), 4096, MADV_NORMAL, 0, 0, 0},
        {"brk", SYS_brk, 0, 0, 0, 0, 0, 0},
        {"close", SYS_close, channel[0], 0, 0, 0, 0, 0},
        {"close_range", SYS_close_range, 900, 1000, 0, 0, 0, 0},
        {"prctl", SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0},
        {"no_new_privs", SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0},
        {"dumpable", SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0},
        {"prlimit64", SYS_prlimit64, 0, RLIMIT_CORE, 0, P(page), 0, 0},
        {"getppid", SYS_getppid, 0, 0, 0, 0, 0, 0},
        {"ppoll", SYS_ppoll, 0, 0, P(page), 0, 8, 0},
        {"recvmsg", SYS_recvmsg, -1, P(page), 0, 0, 0, 0},
        {"sendmsg", SYS_sendmsg, -1, P(page), 0, 0, 0, 0},
        {"getrandom", SYS_getrandom, P(page), 8, 0, 0, 0, 0},
        {"wait4", SYS_wait4, -1, 0, WNOHANG, 0, 0, 0},
        {"futex", SYS_futex, P(page), 1, 0, 0, 0, 0},
        {"rt_sigaction", SYS_rt_sigaction, SIGUSR1, 0, 0, 8, 0, 0},
    };
    for (size_t i = 0; i < sizeof(killed) / sizeof(killed[0]); i++) {
        if (end_of(zygote_prog, NULL, &killed[i]) != -1)
            fail_msg("%s is let through", killed[i].name);
    }
    for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
        if (end_of(zygote_prog, NULL, &fine[i]) != 0)
            fail_msg("%s is not let through", fine[i].name);
    }
}

/* The sealed zygote: makes a run by clone3, which seals itself further, and tells how that one ended. */
SEALED static void be_zygote(void)
{
    struct clone_args a = {.exit_signal = SIGCHLD};
    int st = 0;
    if (al_seal_load(zygote_prog) != 0)
        leave(50);
    long pid = syscall(SYS_clone3, &a, sizeof(a));
    if (pid == 0) {
        if (al_seal_load(run_prog) != 0)
            leave(51);
        syscall(SYS_write, channel[1], "run", 3);
        syscall(SYS_getppid); /* what its zygote may, it may not */
        leave(52);
    }
    if (pid < 0 || syscall(SYS_wait4, pid, &st, 0, NULL) != pid)
        leave(53);
    leave((st & 0x7f) == SIGSYS ? 0 : 54);
}

static void a_run_below_a_zygote_is_sealed_further(void **state)
{
    (void)state;
    int st;
    char b[4] = "";
    pid_t pid = fork();
    if (pid == 0)
        be_zygote();
    assert_int_equal(waitpid(pid, &st, 0), pid);
    assert_int_equal(st, 0);
    assert_int_equal(read(channel[0], b, 3), 3);
    assert_string_equal(b, "run");
}

static void a_sealed_git_has_no_network_and_starts_nothing(void **state)
{
    (void)state;
    const struct call table[] = {
        {"socket inet", SYS_socket, AF_INET, SOCK_DGRAM, 0, 0, 0, 0},
        {"socket unix", SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0, 0, 0},
        {"io_uring", SYS_io_uring_setup, 1, P(page), 0, 0, 0, 0},
        {"ptrace", SYS_ptrace, 0, 0, 0, 0, 0, 0},
        {"unshare", SYS_unshare, CLONE_NEWUSER, 0, 0, 0, 0, 0},
        {"execve", SYS_execve, P("/bin/true"), 0, 0, 0, 0, 0},
    };
    const struct call open_call = {"openat", SYS_openat, AT_FDCWD, P("/etc/passwd"), O_RDONLY, 0, 0, 0};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (end_of(git_prog, NULL, &table[i]) != 13)
            fail_msg("%s is let through", table[i].name);
    }
    assert_int_equal(end_of(git_prog, NULL, &open_call), 0);
}

/* What the filter answers to a call, without a process: the program interpreted as the kernel would. */
static uint32_t verdict(const struct sock_fprog *p, uint32_t arch, uint32_t nr)
{
    struct {
        uint32_t nr, arch;
        uint64_t ip, args[6];
    } d = {.nr = nr, .arch = arch};
    uint32_t a = 0;
    for (unsigned pc = 0; pc < p->len; pc++) {
        const struct sock_filter *f = &p->filter[pc];
        bool yes;
        switch (f->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            memcpy(&a, (char *)&d + f->k, 4);
            continue;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= f->k;
            continue;
        case BPF_RET | BPF_K:
            return f->k;
        case BPF_JMP | BPF_JA:
            pc += f->k;
            continue;
        case BPF_JMP | BPF_JEQ | BPF_K:
            yes = a == f->k;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            yes = a >= f->k;
            break;
        case BPF_JMP | BPF_JGT | BPF_K:
            yes = a > f->k;
            break;
        default:
            fail_msg("an instruction %#x that this test does not know", f->code);
            return 0;
        }
        pc += yes ? f->jt : f->jf;
    }
    fail_msg("the program does not end");
    return 0;
}

static void calls_of_another_architecture_are_killed(void **state)
{
    (void)state;
#ifdef __x86_64__
    const uint32_t own = AUDIT_ARCH_X86_64, others[] = {AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64};
#else
    const uint32_t own = AUDIT_ARCH_AARCH64, others[] = {AUDIT_ARCH_ARM, AUDIT_ARCH_X86_64};
#endif
    const struct sock_fprog *progs[] = {run_prog, zygote_prog, git_prog};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(verdict(progs[i], own, SYS_read), SECCOMP_RET_ALLOW);
        for (size_t j = 0; j < 2; j++)
            assert_int_equal(verdict(progs[i], others[j], SYS_read), SECCOMP_RET_KILL_PROCESS);
#ifdef __x86_64__
        assert_int_equal(verdict(progs[i], own, 0x40000000u | SYS_read), SECCOMP_RET_KILL_PROCESS); /* x32 */
#endif
    }
}

int main(void)
{
    struct al_err err;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_may_do_next_to_nothing),
        cmocka_unit_test(a_zygote_may_do_what_it_needs),
        cmocka_unit_test(a_run_below_a_zygote_is_sealed_further),
        cmocka_unit_test(a_sealed_git_has_no_network_and_starts_nothing),
        cmocka_unit_test(calls_of_another_architecture_are_killed),
    };
    if (pipe2(channel, O_CLOEXEC | O_NONBLOCK) < 0 || al_seal_build(AL_SEAL_RUN, &run_prog, &err) < 0 ||
        al_seal_build(AL_SEAL_ZYGOTE, &zygote_prog, &err) < 0 ||
        al_seal_build(AL_SEAL_GIT, &git_prog, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    al_seal_free(run_prog);
    al_seal_free(zygote_prog);
    al_seal_free(git_prog);
    return r;
}
