/*
 * What a guest would try: one attempt after the other, each in a process of its own. Prints a line for each,
 * WHERE NAME RESULT. WHERE: see below; RESULT: through, ERRNO, nothing, killed N, or unknown (not on this
 * kind of machine). Needs from the environment: ATTACK_OUTSIDE (a folder that is not the guest's, with the
 * files file and program and a readable one, which may be read; all belong to the same user), ATTACK_VICTIM
 * (a process of that user), ATTACK_NAME (an abstract socket for datagrams), ATTACK_SOCKET (one with a path),
 * ATTACK_PORT (a TCP port that listens on 127.0.0.1). The current folder is its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NOT_HERE (-2)

static char page[65536] __attribute__((aligned(4096)));

static const char *outside(const char *name)
{
    static char path[4][512];
    static unsigned turn;
    char *p = path[turn++ % 4];
    snprintf(p, 512, "%s/%s", getenv("ATTACK_OUTSIDE"), name);
    return p;
}

static pid_t victim(void)
{
    return (pid_t)strtol(getenv("ATTACK_VICTIM"), NULL, 10);
}

/* The result of a call that would have done something. */
static int call(long r)
{
    return r < 0 ? -1 : 0;
}

#define TRY(name, ...)            \
    static int name(void)         \
    {                             \
        return call(__VA_ARGS__); \
    }

/* --- rights --- */
/* EINVAL: a user namespace does not have such a one at all. */
static int refused_to_become(long r)
{
    errno = errno == EINVAL ? EPERM : errno;
    return call(r);
}
static int become_another(void)
{
    return refused_to_become(syscall(SYS_setresuid, 12345, 12345, 12345));
}
static int become_another_group(void)
{
    return refused_to_become(syscall(SYS_setresgid, 12345, 12345, 12345));
}
static gid_t some_group[1] = {6};
TRY(take_groups, syscall(SYS_setgroups, 1, some_group))

static int take_capability(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{.effective = 1, .permitted = 1, .inheritable = 1}, {0}};
    return call(syscall(SYS_capset, &head, data));
}

static int gain_by_exec(void)
{
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return 0;
    for (int cap = 0; getuid() == 0 && cap < 40; cap++) {
        if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
            return 0;
    }
    errno = EPERM;
    return -1;
}

static int keep_a_descriptor(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            return 0;
    }
    errno = 0;
    return -1;
}

/* --- other processes --- */
TRY(trace_itself, syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0))
TRY(trace_victim, syscall(SYS_ptrace, PTRACE_ATTACH, victim(), 0, 0))
TRY(read_memory, syscall(SYS_process_vm_readv, getpid(), page, 0, page, 0, 0))
TRY(write_memory, syscall(SYS_process_vm_writev, getpid(), page, 0, page, 0, 0))
TRY(steal_descriptor, syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, getpid(), 0), 1, 0))
TRY(compare_processes, syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 0))
TRY(kill_victim, kill(victim(), 0))
static int kill_victim_by_pidfd(void)
{
    long fd = syscall(SYS_pidfd_open, victim(), 0);
    return fd < 0 ? -1 : call(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
}
TRY(queue_to_victim, syscall(SYS_rt_sigqueueinfo, victim(), 0, page))
static struct rlimit few = {100, 100};
TRY(limit_victim, syscall(SYS_prlimit64, victim(), RLIMIT_NOFILE, &few, NULL))
TRY(slow_victim, setpriority(PRIO_PROCESS, (id_t)victim(), 19))
TRY(slow_group_of_victim, setpriority(PRIO_PGRP, (id_t)victim(), 19))
TRY(pin_victim, sched_setaffinity(victim(), sizeof(page), (cpu_set_t *)(void *)memset(page, 1, 128)))
static struct sched_param batch;
TRY(reschedule_victim, sched_setscheduler(victim(), SCHED_IDLE, &batch))
TRY(read_environment_of_victim, ({
        char path[64];
        snprintf(path, sizeof(path), "/proc/%d/environ", (int)victim());
        int fd = open(path, O_RDONLY);
        fd < 0 ? -1 : read(fd, page, 10);
    }))
TRY(open_memory_of_victim, ({
        char path[64];
        snprintf(path, sizeof(path), "/proc/%d/mem", (int)victim());
        open(path, O_RDWR);
    }))

/* --- namespaces and mounts --- */
TRY(new_user_namespace, unshare(CLONE_NEWUSER))
TRY(new_mount_namespace, unshare(CLONE_NEWNS))
TRY(new_net_namespace, unshare(CLONE_NEWNET))
TRY(new_time_namespace, unshare(0x80))
static int clone_user_namespace(void)
{
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(0);
    return call(pid);
}
static uint64_t clone3_args[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
static int clone3_user_namespace(void)
{
    long pid = syscall(SYS_clone3, clone3_args, 64);
    if (pid == 0)
        _exit(0);
    return call(pid);
}
TRY(enter_namespace, setns(open("/proc/self/ns/user", O_RDONLY), 0))
TRY(mount_something, mount("none", ".", "tmpfs", 0, NULL))
TRY(bind_mount, mount("/", ".", NULL, MS_BIND, NULL))
TRY(unmount, umount2(".", MNT_DETACH))
TRY(change_root, chroot("."))
TRY(pivot, syscall(SYS_pivot_root, ".", "."))
TRY(open_a_tree, syscall(SYS_open_tree, AT_FDCWD, "/", 1))
TRY(open_a_file_system, syscall(SYS_fsopen, "tmpfs", 0))
TRY(change_mounts, syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, page, 32))
TRY(move_a_mount, syscall(SYS_move_mount, AT_FDCWD, "/proc", AT_FDCWD, ".", 0))
TRY(list_mounts, syscall(458, page, page, 1, 0))

/* --- the kernel --- */
TRY(io_uring, syscall(SYS_io_uring_setup, 8, page))
TRY(user_faults, syscall(SYS_userfaultfd, 1))
TRY(keys, syscall(SYS_keyctl, 0, -3, 1))
TRY(add_key, syscall(SYS_add_key, "user", "x", "y", 1, -3))
TRY(request_key, syscall(SYS_request_key, "user", "x", NULL, -3))
TRY(bpf, syscall(SYS_bpf, 0, page, 64))
TRY(perf, syscall(SYS_perf_event_open, memset(page, 0, 128), 0, -1, -1, 0))
TRY(personality, syscall(SYS_personality, 0x0040000))
TRY(nameless_file, memfd_create("x", 0))
TRY(secret_memory, syscall(447, 0))
TRY(file_handle, syscall(SYS_name_to_handle_at, AT_FDCWD, ".", memset(page, 0, 64), page + 100, 0))
TRY(open_file_handle, syscall(SYS_open_by_handle_at, AT_FDCWD, page, 0))
TRY(load_module, syscall(SYS_init_module, page, 10, ""))
TRY(load_kernel, syscall(SYS_kexec_load, 0, 0, NULL, 0))
TRY(reboot_it, syscall(SYS_reboot, 0, 0, 0, NULL))
TRY(read_kernel_log, syscall(SYS_syslog, 3, page, 100))
TRY(swap_on, syscall(SYS_swapon, "file", 0))
TRY(set_clock, syscall(SYS_clock_settime, 0, NULL))
TRY(set_host_name, gethostname(page, 64) < 0 ? 0 : sethostname(page, strlen(page)))
TRY(account, acct("nothing"))
TRY(quota, syscall(SYS_quotactl, 0, NULL, 0, page))
TRY(watch_all_files, syscall(SYS_fanotify_init, 0x200, 0))
TRY(shared_segment, syscall(SYS_shmget, 0, 4096, 01600))
TRY(message_queue, syscall(SYS_msgget, 0, 01600))
TRY(semaphores, syscall(SYS_semget, 0, 1, 01600))
TRY(named_queue, syscall(SYS_mq_open, "x", O_RDWR | O_CREAT, 0600, NULL))
TRY(number_of_the_future, syscall(511, 0) < 0 && errno == ENOSYS ? -1 : 0)
#ifdef __x86_64__
TRY(local_descriptors, syscall(SYS_modify_ldt, 0, page, 100))
TRY(ports, syscall(SYS_iopl, 3))
TRY(x32_call, syscall(0x40000000 | SYS_getpid))
static int old_call(void)
{
    long r;
    __asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory");
    errno = ENOSYS;
    return r > 0 ? 0 : -1;
}
#else
#define local_descriptors not_here
#define ports not_here
#define x32_call not_here
#define old_call not_here
static int not_here(void)
{
    return NOT_HERE;
}
#endif

/* --- terminals and devices --- */
static int open_pty(void)
{
    int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY);
    return fd >= 0 ? fd : 0;
}
TRY(type_into_terminal, ioctl(open_pty(), TIOCSTI, "x"))
TRY(type_with_odd_bits, syscall(SYS_ioctl, open_pty(), (1ul << 32) | TIOCSTI, "x"))
TRY(linux_console, ioctl(open_pty(), TIOCLINUX, "\2"))
TRY(make_character_device, mknod("device", S_IFCHR | 0600, makedev(1, 3)))
TRY(make_block_device, mknod("disk", S_IFBLK | 0600, makedev(8, 0)))
static int flag = FS_NODUMP_FL;
TRY(flags_of_file, ioctl(open("/usr/bin/env", O_RDONLY), FS_IOC_SETFLAGS, &flag))

/* --- files of others, which are the user's own --- */
TRY(read_outside, open(outside("file"), O_RDONLY))
TRY(list_outside, open(outside(""), O_RDONLY | O_DIRECTORY))
TRY(write_outside, open(outside("file"), O_WRONLY))
TRY(make_outside, open(outside("new"), O_WRONLY | O_CREAT, 0600))
TRY(cut_outside, truncate(outside("file"), 0))
TRY(cut_by_opening, open(outside("file"), O_RDONLY | O_TRUNC))
TRY(cut_by_odd_opening, open(outside("file"), O_ACCMODE | O_TRUNC))
TRY(remove_outside, unlink(outside("file")))
TRY(rename_outside, rename(outside("file"), "file"))
TRY(link_outside, link(outside("file"), "linked"))
TRY(folder_outside, mkdir(outside("folder"), 0700))
TRY(read_through_link, symlink(outside("file"), "link") < 0 ? 0 : open("link", O_RDONLY))
TRY(read_shadow, open("/etc/shadow", O_RDONLY))
TRY(run_outside, access(outside("program"), X_OK) < 0 ? 0 : execl(outside("program"), "program", NULL))
TRY(watch_outside, inotify_add_watch(inotify_init(), outside(""), IN_ALL_EVENTS))
TRY(stat_outside, access(outside("file"), F_OK))

static bool changed(const struct stat *was)
{
    struct stat now;
    return stat(outside("file"), &now) == 0 &&
           (now.st_mode != was->st_mode || now.st_mtime != was->st_mtime || now.st_gid != was->st_gid);
}
/* Through is who changed something; an answer of 0 that changed nothing is the agreed one. */
#define CHANGE(name, what)                   \
    static int name(void)                    \
    {                                        \
        struct stat was;                     \
        if (stat(outside("file"), &was) < 0) \
            return 0;                        \
        int r = (int)(what);                 \
        if (changed(&was))                   \
            return 0;                        \
        errno = r < 0 ? errno : 0;           \
        return -1;                           \
    }
static const struct timespec long_ago[2] = {{1, 0}, {1, 0}};
CHANGE(mode_outside, chmod(outside("file"), was.st_mode ^ 0111))
CHANGE(mode2_outside, syscall(452, AT_FDCWD, outside("file"), was.st_mode ^ 0111, 0))
CHANGE(time_outside, utimensat(AT_FDCWD, outside("file"), long_ago, 0))
static int attribute_outside(void)
{
    int r = setxattr(outside("file"), "user.x", "y", 1, 0);
    if (r == 0 && getxattr(outside("file"), "user.x", page, 10) == 1)
        return 0;
    return -1;
}
/* Of a file that may be read: it is the user's, so he may, and no descriptor for writing is needed. */
static int mode_of_readable(void)
{
    struct stat was, now;
    int fd = open(outside("readable"), O_RDONLY);
    if (fd < 0 || fstat(fd, &was) < 0)
        return 0;
    (void)fchmod(fd, was.st_mode ^ 0111);
    (void)futimens(fd, long_ago);
    errno = 0;
    return fstat(fd, &now) == 0 && now.st_mode == was.st_mode && now.st_mtime == was.st_mtime ? -1 : 0;
}

/* --- sockets --- */
TRY(netlink, socket(AF_NETLINK, SOCK_RAW, 0))
TRY(packets, socket(AF_PACKET, SOCK_RAW, 0))
TRY(machines, socket(AF_VSOCK, SOCK_STREAM, 0))
TRY(kernel_crypto, socket(38, SOCK_SEQPACKET, 0))
TRY(bluetooth, socket(31, SOCK_RAW, 0))
TRY(raw_internet, socket(AF_INET, SOCK_RAW, IPPROTO_ICMP))
TRY(multipath, socket(AF_INET, SOCK_STREAM, 262))
TRY(internet, socket(AF_INET, SOCK_STREAM, 0))
TRY(internet6, socket(AF_INET6, SOCK_DGRAM, 0))
TRY(local_socket, socket(AF_UNIX, SOCK_STREAM, 0))
static int pair[2];
TRY(stream_pair, socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
TRY(datagram_pair, socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
TRY(raw_pair, socketpair(AF_UNIX, SOCK_RAW | SOCK_CLOEXEC, 0, pair))

static int to_port(int how)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    a.sin_port = htons((uint16_t)strtol(getenv("ATTACK_PORT"), NULL, 10));
    int fd = socket(AF_INET, how == 2 ? SOCK_DGRAM : SOCK_STREAM, 0);
    if (how == 0)
        return call(connect(fd, (struct sockaddr *)&a, sizeof(a)));
    if (how == 2)
        return call(sendto(fd, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)));
    a.sin_port = 0;
    return call(bind(fd, (struct sockaddr *)&a, sizeof(a)));
}
static int connect_tcp(void)
{
    return to_port(0);
}
static int bind_tcp(void)
{
    return to_port(1);
}
static int send_udp(void)
{
    return to_port(2);
}

static socklen_t unix_address(bool abstract, struct sockaddr_un *a)
{
    const char *name = getenv(abstract ? "ATTACK_NAME" : "ATTACK_SOCKET");
    memset(a, 0, sizeof(*a));
    a->sun_family = AF_UNIX;
    snprintf(a->sun_path + abstract, sizeof(a->sun_path) - abstract, "%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract + strlen(name));
}
static int connect_abstract(void)
{
    struct sockaddr_un a;
    socklen_t n = unix_address(true, &a);
    return call(connect(socket(AF_UNIX, SOCK_DGRAM, 0), (struct sockaddr *)&a, n));
}
static int connect_path(void)
{
    struct sockaddr_un a;
    socklen_t n = unix_address(false, &a);
    return call(connect(socket(AF_UNIX, SOCK_DGRAM, 0), (struct sockaddr *)&a, n));
}
/* Half of a pair, which nobody had to make by socket(). What goes to the other half goes nowhere new. */
static int send_from_pair(int type)
{
    struct sockaddr_un a;
    socklen_t n = unix_address(false, &a);
    if (socketpair(AF_UNIX, type, 0, pair) < 0)
        return -1;
    struct iovec v = {page, 1};
    struct msghdr m = {.msg_name = &a, .msg_namelen = n, .msg_iov = &v, .msg_iovlen = 1};
    struct pollfd other = {.fd = pair[1], .events = POLLIN};
    if (sendto(pair[0], page, 1, 0, (struct sockaddr *)&a, n) == 1 && poll(&other, 1, 0) == 0)
        return 0;
    if (poll(&other, 1, 0) == 0 && sendmsg(pair[0], &m, MSG_NOSIGNAL) == 1 && poll(&other, 1, 0) == 0)
        return 0;
    return call(connect(pair[0], (struct sockaddr *)&a, n));
}
static int send_from_datagram_pair(void)
{
    return send_from_pair(SOCK_DGRAM);
}
static int send_from_packet_pair(void)
{
    return send_from_pair(SOCK_SEQPACKET);
}
static int send_from_stream_pair(void)
{
    return send_from_pair(SOCK_STREAM);
}

/* --- limits --- */
static int dump_core(void)
{
    struct rlimit r = {1, 1};
    return getrlimit(RLIMIT_CORE, &r) == 0 && r.rlim_max == 0 ? -1 : 0;
}
static int big_file(void)
{
    signal(SIGXFSZ, SIG_IGN);
    int fd = open("big", O_WRONLY | O_CREAT, 0600);
    return fd < 0 ? 0 : call(ftruncate(fd, 64 << 20));
}
static int many_files(void)
{
    for (int i = 0; i < 300; i++) {
        if (dup(0) < 0)
            return -1;
    }
    return 0;
}
static int much_memory(void)
{
    return mmap(NULL, 1ul << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
               ? -1
               : 0;
}
static int raise_limit(void)
{
    struct rlimit r = {RLIM_INFINITY, RLIM_INFINITY};
    return call(setrlimit(RLIMIT_FSIZE, &r));
}

/* Where it gets through, and that is said: N, the filter of a guest in namespaces, which hold what it does
 * not; L, the one that stands alone. In all else it must fail. "-": nowhere. */
#define TRIED(open, what) \
    {                     \
        open, #what, what \
    }
static const struct {
    const char *open, *name;
    int (*what)(void);
} attempts[] = {
    TRIED("-", become_another),
    TRIED("-", become_another_group),
    TRIED("-", take_groups),
    TRIED("-", take_capability),
    TRIED("-", gain_by_exec),
    TRIED("-", keep_a_descriptor),
    TRIED("-", trace_itself),
    TRIED("-", trace_victim),
    TRIED("-", read_memory),
    TRIED("-", write_memory),
    TRIED("-", steal_descriptor),
    TRIED("-", compare_processes),
    TRIED("-", kill_victim),
    TRIED("-", kill_victim_by_pidfd),
    TRIED("-", queue_to_victim),
    TRIED("N", limit_victim),
    TRIED("N", slow_victim),
    TRIED("N", slow_group_of_victim),
    TRIED("N", pin_victim),
    TRIED("N", reschedule_victim),
    TRIED("-", read_environment_of_victim),
    TRIED("-", open_memory_of_victim),
    TRIED("-", new_user_namespace),
    TRIED("-", new_mount_namespace),
    TRIED("-", new_net_namespace),
    TRIED("-", new_time_namespace),
    TRIED("-", clone_user_namespace),
    TRIED("-", clone3_user_namespace),
    TRIED("-", enter_namespace),
    TRIED("-", mount_something),
    TRIED("-", bind_mount),
    TRIED("-", unmount),
    TRIED("-", change_root),
    TRIED("-", pivot),
    TRIED("-", open_a_tree),
    TRIED("-", open_a_file_system),
    TRIED("-", change_mounts),
    TRIED("-", move_a_mount),
    TRIED("-", list_mounts),
    TRIED("-", io_uring),
    TRIED("-", user_faults),
    TRIED("-", keys),
    TRIED("-", add_key),
    TRIED("-", request_key),
    TRIED("-", bpf),
    TRIED("-", perf),
    TRIED("-", personality),
    TRIED("-", nameless_file),
    TRIED("-", secret_memory),
    TRIED("-", file_handle),
    TRIED("-", open_file_handle),
    TRIED("-", load_module),
    TRIED("-", load_kernel),
    TRIED("-", reboot_it),
    TRIED("-", read_kernel_log),
    TRIED("-", swap_on),
    TRIED("-", set_clock),
    TRIED("-", set_host_name),
    TRIED("-", account),
    TRIED("-", quota),
    TRIED("-", watch_all_files),
    TRIED("-", shared_segment),
    TRIED("-", message_queue),
    TRIED("-", semaphores),
    TRIED("-", named_queue),
    TRIED("-", number_of_the_future),
    TRIED("-", local_descriptors),
    TRIED("-", ports),
    TRIED("-", x32_call),
    TRIED("-", old_call),
    TRIED("-", type_into_terminal),
    TRIED("-", type_with_odd_bits),
    TRIED("-", linux_console),
    TRIED("-", make_character_device),
    TRIED("-", make_block_device),
    TRIED("-", flags_of_file),
    TRIED("-", read_outside),
    TRIED("-", list_outside),
    TRIED("-", write_outside),
    TRIED("-", make_outside),
    TRIED("-", cut_outside),
    TRIED("-", cut_by_opening),
    TRIED("-", cut_by_odd_opening),
    TRIED("-", remove_outside),
    TRIED("-", rename_outside),
    TRIED("-", link_outside),
    TRIED("-", folder_outside),
    TRIED("-", read_through_link),
    TRIED("-", read_shadow),
    TRIED("-", run_outside),
    TRIED("N", watch_outside),
    TRIED("NL", stat_outside),
    TRIED("N", mode_outside),
    TRIED("N", mode2_outside),
    TRIED("N", time_outside),
    TRIED("N", attribute_outside),
    TRIED("N", mode_of_readable),
    TRIED("-", netlink),
    TRIED("-", packets),
    TRIED("-", machines),
    TRIED("-", kernel_crypto),
    TRIED("-", bluetooth),
    TRIED("-", raw_internet),
    TRIED("-", multipath),
    TRIED("N", internet),
    TRIED("N", internet6),
    TRIED("N", local_socket),
    TRIED("NL", stream_pair),
    TRIED("N", datagram_pair),
    TRIED("N", raw_pair),
    TRIED("-", connect_tcp),
    TRIED("-", bind_tcp),
    TRIED("N", send_udp),
    TRIED("-", connect_abstract),
    TRIED("N", connect_path),
    TRIED("N", send_from_datagram_pair),
    TRIED("-", send_from_packet_pair),
    TRIED("-", send_from_stream_pair),
    TRIED("-", dump_core),
    TRIED("-", big_file),
    TRIED("-", many_files),
    TRIED("-", much_memory),
    TRIED("-", raise_limit),
};

/* 0 through, 1 refused with errno in page. */
static void attempt(size_t i)
{
    int st, *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        errno = 0;
        int r = attempts[i].what();
        *shared = errno;
        _exit(r == NOT_HERE ? 2 : r < 0 ? 1 : 0);
    }
    printf("%s %s ", attempts[i].open, attempts[i].name);
    if (pid < 0 || waitpid(pid, &st, 0) != pid)
        printf("lost\n");
    else if (WIFSIGNALED(st))
        printf("killed %d\n", WTERMSIG(st));
    else if (WEXITSTATUS(st) == 0)
        printf("through\n");
    else if (WEXITSTATUS(st) == 2)
        printf("unknown\n");
    else
        printf("%s\n", *shared ? strerrorname_np(*shared) : "nothing");
    munmap(shared, 4096);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
        attempt(i);
    return 0;
}
