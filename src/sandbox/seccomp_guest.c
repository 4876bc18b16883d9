/*
 * What foreign programs may ask the kernel for. A list of what is allowed, in groups; then what is refused
 * though programs know it; all else does not exist here (ENOSYS), as in an older kernel, so that libraries
 * fall back.
 */
#include "sandbox/seccomp_guest.h"
#include "sandbox/filter.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define ALL UINT32_MAX
#define ALLOW SECCOMP_RET_ALLOW
#define NO(e) AL_FILTER_ERROR(e)
#define CALL(name) SCMP_SYS(name)

/* Newer than the oldest libseccomp that we build with; from 424 on the number is the same everywhere. */
enum {
    NR_futex_waitv = 449,
    NR_set_mempolicy_home_node,
    NR_cachestat,
    NR_fchmodat2,
    NR_map_shadow_stack,
    NR_futex_wake,
    NR_futex_wait,
    NR_futex_requeue,
    NR_statmount,
    NR_listmount,
    NR_mseal = 462,
    NR_setxattrat,
    NR_getxattrat,
    NR_listxattrat,
    NR_removexattrat,
    NR_open_tree_attr,
};

static const int files[] = {
    CALL(read),        CALL(write),      CALL(readv),     CALL(writev),          CALL(pread64),
    CALL(pwrite64),    CALL(preadv),     CALL(pwritev),   CALL(preadv2),         CALL(pwritev2),
    CALL(open),        CALL(openat),     CALL(openat2),   CALL(creat),           CALL(close),
    CALL(close_range), CALL(lseek),      CALL(stat),      CALL(lstat),           CALL(fstat),
    CALL(newfstatat),  CALL(statx),      CALL(statfs),    CALL(fstatfs),         CALL(access),
    CALL(faccessat),   CALL(faccessat2), CALL(readlink),  CALL(readlinkat),      CALL(getdents),
    CALL(getdents64),  CALL(getcwd),     CALL(chdir),     CALL(fchdir),          CALL(mkdir),
    CALL(mkdirat),     CALL(rmdir),      CALL(rename),    CALL(renameat),        CALL(renameat2),
    CALL(link),        CALL(linkat),     CALL(symlink),   CALL(symlinkat),       CALL(unlink),
    CALL(unlinkat),    CALL(mknod),      CALL(mknodat),   CALL(truncate),        CALL(ftruncate),
    CALL(fallocate),   CALL(fadvise64),  CALL(readahead), CALL(umask),           CALL(dup),
    CALL(dup2),        CALL(dup3),       CALL(fcntl),     CALL(flock),           CALL(fsync),
    CALL(fdatasync),   CALL(sync),       CALL(syncfs),    CALL(sync_file_range), CALL(sendfile),
    CALL(splice),      CALL(tee),        CALL(vmsplice),  CALL(copy_file_range), CALL(pipe),
    CALL(pipe2),       CALL(getxattr),   CALL(lgetxattr), CALL(fgetxattr),       CALL(listxattr),
    CALL(llistxattr),  CALL(flistxattr), NR_getxattrat,   NR_listxattrat,        NR_cachestat,
};

/* Of files that may be read only, too: their owner may, and Landlock does not ask. */
static const int attributes[] = {
    CALL(chmod),       CALL(fchmod),       CALL(fchmodat),     NR_fchmodat2,    CALL(chown),
    CALL(lchown),      CALL(fchown),       CALL(fchownat),     CALL(utime),     CALL(utimes),
    CALL(futimesat),   CALL(utimensat),    CALL(setxattr),     CALL(lsetxattr), CALL(fsetxattr),
    CALL(removexattr), CALL(lremovexattr), CALL(fremovexattr), NR_setxattrat,   NR_removexattrat,
};

static const int waiting[] = {
    CALL(poll),
    CALL(ppoll),
    CALL(select),
    CALL(pselect6),
    CALL(epoll_create),
    CALL(epoll_create1),
    CALL(epoll_ctl),
    CALL(epoll_ctl_old),
    CALL(epoll_wait),
    CALL(epoll_wait_old),
    CALL(epoll_pwait),
    CALL(epoll_pwait2),
    CALL(eventfd),
    CALL(eventfd2),
    CALL(signalfd),
    CALL(signalfd4),
    CALL(timerfd_create),
    CALL(timerfd_settime),
    CALL(timerfd_gettime),
    CALL(io_setup),
    CALL(io_destroy),
    CALL(io_submit),
    CALL(io_cancel),
    CALL(io_getevents),
    CALL(io_pgetevents),
    CALL(pause),
    CALL(nanosleep),
    CALL(clock_nanosleep),
    CALL(restart_syscall),
};

/* They tell of what goes on in foreign folders: only where the guest sees none. */
static const int watching[] = {
    CALL(inotify_init),
    CALL(inotify_init1),
    CALL(inotify_add_watch),
    CALL(inotify_rm_watch),
};

static const int memory[] = {
    CALL(mmap),      CALL(munmap),        CALL(mprotect),   CALL(mremap),        CALL(madvise),
    CALL(brk),       CALL(msync),         CALL(mincore),    CALL(mlock),         CALL(mlock2),
    CALL(munlock),   CALL(mlockall),      CALL(munlockall), CALL(membarrier),    CALL(pkey_alloc),
    CALL(pkey_free), CALL(pkey_mprotect), NR_mseal,         NR_map_shadow_stack,
};

static const int processes[] = {
    CALL(fork),
    CALL(vfork),
    CALL(execve),
    CALL(execveat),
    CALL(exit),
    CALL(exit_group),
    CALL(wait4),
    CALL(waitid),
    CALL(waitpid),
    CALL(getpid),
    CALL(getppid),
    CALL(gettid),
    CALL(getpgid),
    CALL(setpgid),
    CALL(getpgrp),
    CALL(getsid),
    CALL(setsid),
    CALL(set_tid_address),
    CALL(futex),
    CALL(set_robust_list),
    CALL(get_robust_list),
    CALL(rseq),
    CALL(arch_prctl),
    CALL(prctl),
    CALL(seccomp),
    CALL(landlock_create_ruleset),
    CALL(landlock_add_rule),
    CALL(landlock_restrict_self),
    CALL(sched_yield),
    CALL(sched_getaffinity),
    CALL(sched_getattr),
    CALL(sched_getparam),
    CALL(sched_getscheduler),
    CALL(sched_get_priority_max),
    CALL(sched_get_priority_min),
    CALL(sched_rr_get_interval),
    CALL(getpriority),
    CALL(ioprio_get),
    CALL(getrlimit),
    CALL(setrlimit),
    CALL(getrusage),
    CALL(times),
    CALL(getcpu),
    CALL(set_thread_area),
    CALL(get_thread_area),
    CALL(pidfd_open),
    NR_futex_waitv,
    NR_futex_wake,
    NR_futex_wait,
    NR_futex_requeue,
};

static const int signals[] = {
    CALL(kill),          CALL(tkill),           CALL(tgkill),          CALL(pidfd_send_signal),
    CALL(rt_sigaction),  CALL(rt_sigprocmask),  CALL(rt_sigreturn),    CALL(rt_sigsuspend),
    CALL(rt_sigpending), CALL(rt_sigtimedwait), CALL(rt_sigqueueinfo), CALL(rt_tgsigqueueinfo),
    CALL(sigaltstack),   CALL(alarm),           CALL(setitimer),       CALL(getitimer),
    CALL(timer_create),  CALL(timer_settime),   CALL(timer_gettime),   CALL(timer_getoverrun),
    CALL(timer_delete),
};

/* Who we are, and what this machine is. To become another one takes capabilities, which a guest has none of.
 */
static const int knowing[] = {
    CALL(getuid),    CALL(geteuid),   CALL(getgid),       CALL(getegid),       CALL(getgroups),
    CALL(getresuid), CALL(getresgid), CALL(setuid),       CALL(setgid),        CALL(setreuid),
    CALL(setregid),  CALL(setresuid), CALL(setresgid),    CALL(setfsuid),      CALL(setfsgid),
    CALL(setgroups), CALL(capget),    CALL(capset),       CALL(uname),         CALL(sysinfo),
    CALL(getrandom), CALL(time),      CALL(gettimeofday), CALL(clock_gettime), CALL(clock_getres),
};

static const int scheduling[] = {
    CALL(sched_setaffinity),  CALL(sched_setattr), CALL(sched_setparam),
    CALL(sched_setscheduler), CALL(prlimit64),
};
static const int priority[] = {CALL(setpriority), CALL(ioprio_set)};

static const int connected[] = {
    CALL(sendmsg),  CALL(sendmmsg),    CALL(recvfrom),    CALL(recvmsg),    CALL(recvmmsg),
    CALL(shutdown), CALL(getsockname), CALL(getpeername), CALL(getsockopt), CALL(setsockopt),
};
static const int meeting[] = {CALL(connect), CALL(bind), CALL(listen), CALL(accept), CALL(accept4)};

/*
 * Known, and refused: what looks into other processes, makes namespaces or mounts, is the machine's, has been
 * the way out of many a sandbox, or is memory that no limit counts (nameless files and System V segments).
 */
static const int refused[] = {
    CALL(ptrace),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(process_madvise),
    CALL(process_mrelease),
    CALL(pidfd_getfd),
    CALL(kcmp),
    CALL(move_pages),
    CALL(migrate_pages),
    CALL(open_by_handle_at),
    CALL(name_to_handle_at),
    CALL(keyctl),
    CALL(add_key),
    CALL(request_key),
    CALL(userfaultfd),
    CALL(io_uring_setup),
    CALL(io_uring_enter),
    CALL(io_uring_register),
    CALL(bpf),
    CALL(perf_event_open),
    CALL(modify_ldt),
    CALL(personality),
    CALL(unshare),
    CALL(setns),
    CALL(mount),
    CALL(umount2),
    CALL(pivot_root),
    CALL(chroot),
    CALL(open_tree),
    CALL(move_mount),
    CALL(fsopen),
    CALL(fsconfig),
    CALL(fsmount),
    CALL(fspick),
    CALL(mount_setattr),
    NR_statmount,
    NR_listmount,
    NR_open_tree_attr,
    CALL(fanotify_init),
    CALL(fanotify_mark),
    CALL(lookup_dcookie),
    CALL(memfd_secret),
    CALL(init_module),
    CALL(finit_module),
    CALL(delete_module),
    CALL(kexec_load),
    CALL(kexec_file_load),
    CALL(reboot),
    CALL(swapon),
    CALL(swapoff),
    CALL(acct),
    CALL(quotactl),
    CALL(quotactl_fd),
    CALL(syslog),
    CALL(settimeofday),
    CALL(clock_settime),
    CALL(adjtimex),
    CALL(clock_adjtime),
    CALL(sethostname),
    CALL(setdomainname),
    CALL(iopl),
    CALL(ioperm),
    CALL(vhangup),
    CALL(mbind),
    CALL(set_mempolicy),
    CALL(get_mempolicy),
    NR_set_mempolicy_home_node,
    CALL(shmget),
    CALL(shmat),
    CALL(shmctl),
    CALL(shmdt),
    CALL(semget),
    CALL(semop),
    CALL(semctl),
    CALL(semtimedop),
    CALL(msgget),
    CALL(msgsnd),
    CALL(msgrcv),
    CALL(msgctl),
    CALL(mq_open),
    CALL(mq_unlink),
    CALL(mq_timedsend),
    CALL(mq_timedreceive),
    CALL(mq_notify),
    CALL(mq_getsetattr),
};

/* Programs have another way at once when there is none of these. Of a clone3 no filter sees the flags. */
static const int unknown[] = {CALL(clone3), CALL(memfd_create)};

static const int just_clone[] = {CALL(clone)};
static const struct al_filter_test no_namespaces[] = {
    {.mask = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
             CLONE_NEWCGROUP,
     .value = 0,
     .other = true,
     .then = NO(EPERM)},
};

/* Terminals and files as programs of every day use them; not what types into a terminal, nor flags of files.
 */
#define IOCTL(cmd)                                                     \
    {                                                                  \
        .arg = 1, .mask = ALL, .value = (uint32_t)(cmd), .then = ALLOW \
    }
static const int just_ioctl[] = {CALL(ioctl)};
static const struct al_filter_test ioctls[] = {
    IOCTL(TCGETS),
    IOCTL(0x802c542a /* TCGETS2 */),
    IOCTL(TIOCGWINSZ),
    IOCTL(FIONREAD),
    IOCTL(FIONBIO),
    IOCTL(FIOCLEX),
    IOCTL(FIONCLEX),
    IOCTL(FIOASYNC),
    IOCTL(FIOQSIZE),
    IOCTL(TCSETS),
    IOCTL(TCSETSW),
    IOCTL(TCSETSF),
    IOCTL(0x402c542b /* TCSETS2 */),
    IOCTL(0x402c542c /* TCSETSW2 */),
    IOCTL(0x402c542d /* TCSETSF2 */),
    IOCTL(TCSBRK),
    IOCTL(TCSBRKP),
    IOCTL(TCXONC),
    IOCTL(TCFLSH),
    IOCTL(TIOCSWINSZ),
    IOCTL(TIOCGPGRP),
    IOCTL(TIOCSPGRP),
    IOCTL(TIOCGSID),
    IOCTL(TIOCSCTTY),
    IOCTL(TIOCNOTTY),
    IOCTL(TIOCOUTQ),
    IOCTL(TIOCEXCL),
    IOCTL(TIOCNXCL),
    IOCTL(TIOCPKT),
    IOCTL(TIOCGPTN),
    IOCTL(TIOCSPTLCK),
    IOCTL(TIOCGPTPEER),
    IOCTL(FICLONE),
    IOCTL(FICLONERANGE),
    IOCTL(FS_IOC_GETFLAGS),
    IOCTL(FIGETBSZ),
    IOCTL(SIOCATMARK),
    {.arg = 1, .mask = ALL, .value = TIOCSTI, .then = NO(EPERM)},
    {.arg = 1, .mask = ALL, .value = TIOCLINUX, .then = NO(EPERM)},
};

/* Where the network is empty. Protocols above 255 are others again (MPTCP, which Landlock does not take for
 * TCP). */
static const int just_socket[] = {CALL(socket)};
static const int just_socketpair[] = {CALL(socketpair)};
static const struct al_filter_test families[] = {
    {.arg = 2, .mask = ~0xffu, .value = 0, .other = true, .then = NO(EPROTONOSUPPORT)},
    {.mask = ALL, .value = AF_UNIX, .then = ALLOW},
    {.mask = ALL, .value = AF_INET, .then = ALLOW},
    {.mask = ALL, .value = AF_INET6, .then = ALLOW},
};
static const struct al_filter_test unix_pair[] = {
    {.mask = ALL, .value = AF_UNIX, .other = true, .then = NO(EAFNOSUPPORT)},
};
/* One for datagrams, even of a pair, sends to any path or name that it is given. */
static const struct al_filter_test stream_pair[] = {
    {.mask = ALL, .value = AF_UNIX, .other = true, .then = NO(EAFNOSUPPORT)},
    {.arg = 1, .mask = 0xf, .value = SOCK_STREAM, .then = ALLOW},
    {.arg = 1, .mask = 0xf, .value = SOCK_SEQPACKET, .then = ALLOW},
};
static const int just_sendto[] = {CALL(sendto)};
static const struct al_filter_test no_address[] = {
    {.arg = 4, .mask = ALL, .value = 0, .other = true, .then = NO(EACCES)},
    {.arg = 4, .upper = true, .mask = ALL, .value = 0, .other = true, .then = NO(EACCES)},
};

/* Without a namespace, numbers of processes name those of the user, and Landlock does not ask here: own ones
 * only. */
static const struct al_filter_test self_only[] = {
    {.mask = ALL, .value = 0, .other = true, .then = NO(EPERM)},
};
/* PRIO_PROCESS is 0, its likeness of ioprio_set 1; whatever the first is, the second is whose. */
static const struct al_filter_test who_self_only[] = {
    {.mask = ~1u, .value = 0, .other = true, .then = NO(EPERM)},
    {.arg = 1, .mask = ALL, .value = 0, .other = true, .then = NO(EPERM)},
};

/* Before ABI 3 Landlock does not know of files that are cut short without being opened for writing. */
static const int just_open[] = {CALL(open)};
static const int just_openat[] = {CALL(openat)};
#define CUTS(n, mode)                                                                          \
    {                                                                                          \
        .arg = (n), .mask = O_TRUNC | O_ACCMODE, .value = O_TRUNC | (mode), .then = NO(EACCES) \
    }
static const struct al_filter_test open_cuts[] = {CUTS(1, O_RDONLY), CUTS(1, O_ACCMODE)};
static const struct al_filter_test openat_cuts[] = {CUTS(2, O_RDONLY), CUTS(2, O_ACCMODE)};
static const int just_truncate[] = {CALL(truncate)};
static const int just_openat2[] = {CALL(openat2)};

#define SET(list) .calls = (list), .n_calls = COUNT(list)
#define TESTS(list) .tests = (list), .n_tests = COUNT(list)
static const struct al_filter_rule always[] = {
    {SET(files), .otherwise = ALLOW},
    {SET(attributes), .otherwise = ALLOW},
    {SET(waiting), .otherwise = ALLOW},
    {SET(watching), .otherwise = ALLOW},
    {SET(memory), .otherwise = ALLOW},
    {SET(processes), .otherwise = ALLOW},
    {SET(signals), .otherwise = ALLOW},
    {SET(knowing), .otherwise = ALLOW},
    {SET(scheduling), .otherwise = ALLOW},
    {SET(priority), .otherwise = ALLOW},
    {SET(connected), .otherwise = ALLOW},
    {SET(meeting), .otherwise = ALLOW},
    {SET(just_sendto), .otherwise = ALLOW},
    {SET(refused), .otherwise = NO(EPERM)},
    {SET(unknown), .otherwise = NO(ENOSYS)},
    {SET(just_clone), TESTS(no_namespaces), .otherwise = ALLOW},
    {SET(just_ioctl), TESTS(ioctls), .otherwise = NO(ENOTTY)},
    {SET(just_socket), TESTS(families), .otherwise = NO(EAFNOSUPPORT)},
    {SET(just_socketpair), TESTS(unix_pair), .otherwise = ALLOW},
};
static const struct al_filter_rule without_namespaces[] = {
    {SET(attributes), .otherwise = NO(0)},
    {SET(watching), .otherwise = NO(EPERM)},
    {SET(scheduling), TESTS(self_only), .otherwise = ALLOW},
    {SET(priority), TESTS(who_self_only), .otherwise = ALLOW},
    {SET(meeting), .otherwise = NO(EACCES)},
    {SET(just_socket), .otherwise = NO(EACCES)},
    {SET(just_socketpair), TESTS(stream_pair), .otherwise = NO(EACCES)},
    {SET(just_sendto), TESTS(no_address), .otherwise = ALLOW},
};
static const struct al_filter_rule no_cutting[] = {
    {SET(just_truncate), .otherwise = NO(EACCES)},
    {SET(just_open), TESTS(open_cuts), .otherwise = ALLOW},
    {SET(just_openat), TESTS(openat_cuts), .otherwise = ALLOW},
    {SET(just_openat2), .otherwise = NO(ENOSYS)}, /* its flags cannot be seen */
};

struct sock_fprog *al_seal_build_guest(enum al_seal kind)
{
    struct al_filter_rule rules[COUNT(always) + COUNT(without_namespaces) + COUNT(no_cutting)];
    size_t n = 0;
    for (size_t i = 0; i < COUNT(always); i++)
        rules[n++] = always[i];
    for (size_t i = 0; kind != AL_SEAL_GUEST && i < COUNT(without_namespaces); i++)
        rules[n++] = without_namespaces[i];
    for (size_t i = 0; kind == AL_SEAL_GUEST_NO_CUTTING && i < COUNT(no_cutting); i++)
        rules[n++] = no_cutting[i];
    return al_filter_build(rules, n);
}

size_t al_seal_guest_rules(const struct al_filter_rule **ret)
{
    *ret = always;
    return COUNT(always);
}
