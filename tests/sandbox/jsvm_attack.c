/*
 * Hostile native code in the place of the script: what a fault in the engine could come to. It runs where a
 * script would, sealed as a script is, and tries what the code of INIT names. The host below must see each
 * attempt refused.
 */
#include "test_jsvm_rig.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "jsvm/engine_int.h"
#include "jsvm/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -- the sealed side: these take the place of those in vm_run.c */

struct al_vm_run_state al_vm_run_state;

al_vm_value al_vm_query(struct al_str what, struct al_str arg)
{
    (void)what;
    (void)arg;
    return 0;
}

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
    CALL(socket, 2, 1, 0, 0),
    CALL(socketpair, 1, 1, 0, 0),
    CALL(connect, 3, 0, 0, 0),
    CALL(sendto, 3, 0, 0, 0),
    CALL(sendmsg, 3, 0, 0, 0),
    CALL(recvfrom, 3, 0, 0, 0),
    CALL(recvmsg, 3, 0, 0, 0),
    CALL(shutdown, 3, 2, 0, 0),
    CALL(execve, (long)"/bin/sh", 0, 0, 0),
    CALL(execveat, 3, (long)"", 0, 0),
    CALL(clone, SIGCHLD, 0, 0, 0),
    CALL(clone3, 0, 0, 0, 0),
    CALL(ptrace, 0, 0, 0, 0),
    CALL(process_vm_readv, 1, 0, 0, 0),
    CALL(process_vm_writev, 1, 0, 0, 0),
    CALL(kill, 1, 0, 0, 0),
    CALL(tgkill, 1, 1, 0, 0),
    CALL(pidfd_open, 1, 0, 0, 0),
    CALL(pidfd_getfd, 3, 0, 0, 0),
    CALL(io_uring_setup, 1, 0, 0, 0),
    CALL(memfd_create, (long)"x", 0, 0, 0),
    CALL(dup, 3, 0, 0, 0),
    CALL(dup3, 3, 9, 0, 0),
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
    CALL(statx, AT_FDCWD, (long)"/", 0, 0),
    CALL(unlinkat, AT_FDCWD, (long)"/none", 0, 0),
    CALL(ftruncate, 3, 0, 0, 0),
    CALL(prlimit64, 0, 2, 0, 0),
    CALL(setpriority, 0, 0, 19, 0),
    CALL(sched_setaffinity, 0, 0, 0, 0),
    CALL(rt_sigaction, SIGSYS, 0, 0, 8),
#ifndef AL_ASAN
    CALL(sigaltstack, 0, 0, 0, 0),
#endif
    CALL(shmget, 1, 1, 0, 0),
    CALL(mremap, 0, 0, 0, 0),
    CALL(personality, 0, 0, 0, 0),
    CALL(getppid, 0, 0, 0, 0),
    CALL(getrandom, 0, 0, 0, 0),
    CALL(uname, 0, 0, 0, 0),
    CALL(nanosleep, 0, 0, 0, 0),
    CALL(setitimer, 0, 0, 0, 0),
    CALL(wait4, -1, 0, 0, 0),
    CALL(poll, 0, 0, 0, 0),
    CALL(syslog, 3, 0, 0, 0),
    CALL(reboot, 0, 0, 0, 0),
    CALL(mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS),
    CALL(mprotect, 0, 4096, PROT_READ | PROT_EXEC, 0),
    CALL(mprotect, 0, 4096, PROT_READ | 8 /* PROT_SEM */, 0),
    CALL(mprotect, 0, 4096, PROT_READ | PROT_WRITE | PROT_GROWSDOWN, 0),
#ifndef AL_ASAN /* whose own memory comes and goes at any time */
    CALL(mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS),
    CALL(mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS),
    CALL(mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN),
    CALL(mmap, 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE),
    CALL(munmap, 0, 4096, 0, 0),
    CALL(madvise, 0, 4096, MADV_DONTNEED, 0),
    CALL(brk, 0, 0, 0, 0),
#endif
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

_Noreturn static void say(const char *what, long a, long b)
{
    char text[200];
    int n = snprintf(text, sizeof text, "{\"code\":\"SCRIPT_ERROR\",\"message\":\"%s %ld %ld\"}", what, a, b);
    al_vm_send(AL_VM_END, (struct al_str){text, (size_t)n}, AL_STR(""), AL_STR(""));
    _exit(0);
}

static void count_descriptors(void)
{
    long n = 0, which = -1;
    for (int fd = 0; fd < 4096; fd++) {
        if (syscall(SYS_write, fd, "", 0) < 0 && errno == EBADF)
            continue;
        n++;
        which = fd;
    }
    say("descriptors", n, which);
}

/* The address space of linear memory: the only place where more can be had. */
static void eat_memory(void)
{
    long mib = 0;
    char *p = (char *)al_vm.q.w2c_memory.data + ((size_t)al_vm.q.w2c_memory.pages << 16);
    for (; mib < 4096 && mprotect(p, 1 << 20, PROT_READ | PROT_WRITE) == 0; mib++, p += 1 << 20)
        memset(p, 1, 1 << 20);
    say("MiB", mib, 4096);
}

static void raw(const void *p, size_t n)
{
    for (const char *at = p; n > 0;) {
        ssize_t r = write(AL_VM_FD, at, n);
        if (r <= 0)
            _exit(0);
        at += r;
        n -= (size_t)r;
    }
}

static void frame(uint8_t type, const char *text, size_t n)
{
    al_vm_send(type, (struct al_str){text, n}, AL_STR(""), AL_STR(""));
}

static void call(uint32_t id, uint32_t name_n, const char *rest, size_t n)
{
    struct al_vm_call_head head = {id, name_n};
    al_vm_send(AL_VM_CALL, (struct al_str){(const char *)&head, sizeof head}, (struct al_str){rest, n},
               AL_STR(""));
}

/* The same frame for ever, or with a number that counts up, as fast as the channel takes it. */
_Noreturn static void flood(uint8_t type, bool counts, const char *payload, size_t n)
{
    static char many[32 << 10];
    for (uint32_t id = 1;;) {
        size_t at = 0;
        while (AL_FRAME_HEADER + n <= sizeof many - at) {
            char *p = many + at;
            memcpy(p, (char[]){(char)n, 0, 0, 0, (char)type, AL_FRAME_VERSION, 0, 0}, AL_FRAME_HEADER);
            memcpy(p + AL_FRAME_HEADER, payload, n);
            if (counts)
                memcpy(p + AL_FRAME_HEADER, &id, sizeof id);
            id++;
            at += AL_FRAME_HEADER + n;
        }
        raw(many, at);
    }
}

static void rubbish(void)
{
    char noise[4096];
    uint64_t x = al_vm_run_state.init.seed[0] | 1;
    for (int k = 0; k < 64; k++) {
        for (size_t i = 0; i < sizeof noise; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            noise[i] = (char)(x >> 56);
        }
        raw(noise, sizeof noise);
    }
}

static const char *const lies[] = {
    "rubbish",      "version",      "reserved",     "too long",        "unknown type", "half a header",
    "half a frame", "bad call",     "long name",    "no args",         "args no json", "same id",
    "too many",     "bad progress", "big progress", "bad value",       "two values",   "bad state",
    "bad end",      "end no json",  "host type",    "bad query",       "query id",     "print flood",
    "deep value",   "utf8 name",    "silence",      "value then exit",
};
#define N_LIES (sizeof lies / sizeof *lies)

static void lie(struct al_str which)
{
    static char big[70000];
    static const unsigned char version[] = {1, 0, 0, 0, AL_VM_PRINT, 9, 0, 0, 'x'};
    static const unsigned char reserved[] = {1, 0, 0, 0, AL_VM_PRINT, AL_FRAME_VERSION, 1, 0, 'x'};
    static const unsigned char too_long[] = {0xff, 0xff, 0xff, 0xff, AL_VM_PRINT, AL_FRAME_VERSION, 0, 0};
    static const unsigned char half[] = {100, 0, 0, 0, AL_VM_PRINT, AL_FRAME_VERSION, 0, 0, 'x'};
    memset(big, '[', sizeof big);
    if (al_str_is(which, "rubbish"))
        rubbish();
    else if (al_str_is(which, "version"))
        raw(version, sizeof version);
    else if (al_str_is(which, "reserved"))
        raw(reserved, sizeof reserved);
    else if (al_str_is(which, "too long"))
        raw(too_long, sizeof too_long);
    else if (al_str_is(which, "half a header"))
        raw(version, 3);
    else if (al_str_is(which, "half a frame"))
        raw(half, sizeof half);
    else if (al_str_is(which, "unknown type"))
        frame(99, "x", 1);
    else if (al_str_is(which, "host type"))
        frame(AL_VM_RESULT, "12345678", 8);
    else if (al_str_is(which, "bad call"))
        frame(AL_VM_CALL, "abc", 3);
    else if (al_str_is(which, "long name"))
        call(1, 0xfffffff0, "echo{}", 6);
    else if (al_str_is(which, "no args"))
        call(1, 4, "echo", 4);
    else if (al_str_is(which, "args no json"))
        call(1, 4, "echo{a}", 7);
    else if (al_str_is(which, "utf8 name"))
        call(1, 4, "\xff\xff\xff\xff{}", 6);
    else if (al_str_is(which, "same id"))
        call(1, 5, "never{}", 7), call(1, 5, "never{}", 7);
    else if (al_str_is(which, "too many"))
        for (uint32_t i = 1; i < 100; i++)
            call(i, 5, "never{}", 7);
    else if (al_str_is(which, "bad progress"))
        frame(AL_VM_PROGRESS, "{\"a\":", 5);
    else if (al_str_is(which, "big progress"))
        frame(AL_VM_PROGRESS, big, sizeof big);
    else if (al_str_is(which, "bad value"))
        frame(AL_VM_VALUE, "{x}", 3);
    else if (al_str_is(which, "two values"))
        frame(AL_VM_VALUE, "1", 1), frame(AL_VM_VALUE, "2", 1);
    else if (al_str_is(which, "deep value"))
        frame(AL_VM_VALUE, big, sizeof big);
    else if (al_str_is(which, "bad state"))
        frame(AL_VM_STATE, "\xff", 1);
    else if (al_str_is(which, "bad end"))
        frame(AL_VM_END, "", 0);
    else if (al_str_is(which, "end no json"))
        frame(AL_VM_END, big, sizeof big);
    else if (al_str_is(which, "bad query"))
        frame(AL_VM_QUERY, "x", 1);
    else if (al_str_is(which, "query id"))
        frame(AL_VM_QUERY, "\1\0\0\0\4\0\0\0list1", 13);
    else if (al_str_is(which, "print flood"))
        for (;;)
            frame(AL_VM_PRINT, big, 60000);
    else if (al_str_is(which, "value then exit"))
        frame(AL_VM_VALUE, "1", 1), _exit(0);
    else if (al_str_is(which, "silence"))
        _exit(0);
    for (;;)
        if (read(AL_VM_FD, big, sizeof big) <= 0)
            _exit(0);
}

void al_vm_run(void)
{
    struct al_vm_in in;
    al_vm_receive(&in);
    const char *p = al_vm_view(in.p, in.n);
    memcpy(&al_vm_run_state.init, p, sizeof al_vm_run_state.init);
    struct al_str code = {p + sizeof al_vm_run_state.init, al_vm_run_state.init.code_n};
    int64_t i = 0;
    if (al_str_starts(code, "call ")) {
        al_parse_int((struct al_str){code.p + 5, code.n - 5}, 0, N_CALLS - 1, &i);
        long r = syscall(calls[i].number, calls[i].a, calls[i].b, calls[i].c, calls[i].d, -1, 0);
        say("survived with", r, errno);
    }
    if (al_str_starts(code, "lie "))
        lie((struct al_str){code.p + 4, code.n - 4});
    if (al_str_is(code, "flood of questions"))
        flood(AL_VM_QUERY, false, "\0\0\0\0\4\0\0\0listnull", 16);
    if (al_str_is(code, "flood of calls"))
        flood(AL_VM_CALL, true, "\0\0\0\0\4\0\0\0none{}", 14);
    if (al_str_is(code, "flood of lines"))
        flood(AL_VM_PRINT, false, "x", 1);
    if (al_str_is(code, "questions, then death")) {
        for (int k = 0; k < 100; k++)
            frame(AL_VM_QUERY, "\0\0\0\0\4\0\0\0listnull", 16);
        call(1, 4, "echo{}", 6);
        _exit(0);
    }
    if (al_str_is(code, "descriptors"))
        count_descriptors();
    if (al_str_is(code, "memory"))
        eat_memory();
    if (al_str_starts(code, "state ")) {
        frame(AL_VM_STATE, code.p + 6, code.n - 6);
        frame(AL_VM_END, "{}", 2);
        _exit(0);
    }
    if (al_str_starts(code, "end ")) {
        frame(AL_VM_END, code.p + 4, code.n - 4);
        _exit(0);
    }
    if (al_str_is(code, "last words")) {
        static const char words[] =
            "{\"code\":\"TIMEOUT\",\"message\":\"\xc3\xa4 \\ud800\\u0000 x\",\"line\":1e99,\"column\":-5,"
            "\"notes\":[1,{\"a\":2}],\"stack\":[]}";
        frame(AL_VM_END, words, sizeof words - 1);
    }
#ifdef __x86_64__
    if (al_str_is(code, "int80")) {
        long r = 20; /* getpid of the 32-bit table */
        __asm__ volatile("int $0x80" : "+a"(r) : : "memory", "r8", "r9", "r10", "r11");
        say("survived with", r, 0);
    }
#endif
    say("no such attack", (long)code.n, 0);
}

/* -- the host's side */

static void each_system_call_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CALLS; i++) {
        char code[32];
        snprintf(code, sizeof code, "call %zu", i);
        struct rig_result *r = rig_run(code);
        if (!r->security || r->code != AL_ENGINE_CRASHED)
            fail_msg("%s: %s: %s", calls[i].name, al_code_name(r->code), r->message.p);
        assert_non_null(strstr(r->message.p, "system call"));
    }
}

static void calls_of_another_architecture_are_refused(void **state)
{
    (void)state;
#ifdef __x86_64__
    struct rig_result *r = rig_run("int80");
    assert_int_equal(r->code, AL_ENGINE_CRASHED);
    /* a kernel without 32-bit calls ends it with SIGSEGV instead */
    assert_true(r->security || strstr(r->message.p, "signal 11"));
#else
    skip();
#endif
}

static void a_run_has_one_descriptor(void **state)
{
    (void)state;
#ifdef AL_ASAN
    skip(); /* there the run keeps 1 and 2, for the sanitizer's words */
#endif
    assert_string_equal(rig_run("descriptors")->message.p, "descriptors 1 3");
}

static void a_run_cannot_take_more_memory_than_its_limit(void **state)
{
    (void)state;
#ifdef AL_ASAN
    skip(); /* shadow memory counts as data: no such limit there */
#endif
    struct rig_result *r = rig_run("memory");
    assert_int_equal(r->code, AL_SCRIPT_ERROR);
    long mib = strtol(r->message.p + strlen("MiB "), NULL, 10);
    assert_true(mib > 16 && mib < 64);
}

/* -- floods: what one run says never keeps the host from the others, nor fills its memory */

#ifdef AL_ASAN
#define RIG_SANITIZED 1 /* what is freed is kept for a while */
#else
#define RIG_SANITIZED 0
#endif
#define FLOODS 16
#define GAP_MS 2000 /* the aim is 100; a busy machine adds its own */

static struct {
    struct al_timer *timer;
    uint64_t last_ms, worst_ms;
} pulse;

static void beat(void *ud)
{
    (void)ud;
    uint64_t now = al_mono_ms();
    if (now - pulse.last_ms > pulse.worst_ms)
        pulse.worst_ms = now - pulse.last_ms;
    pulse.last_ms = now;
}

static long host_mib(void)
{
    long pages = 0;
    char text[64] = {0};
    FILE *f = fopen("/proc/self/statm", "re");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    char *at = text;
    (void)strtol(at, &at, 10);
    pages = strtol(at, NULL, 10);
    return pages * (long)(getpagesize() / 1024) / 1024;
}

static long worst_mib;

static void weigh(void *ud)
{
    (void)ud;
    long now = host_mib();
    if (now > worst_mib)
        worst_mib = now;
}

/* FLOODS runs of it at once; each must end with that code. */
static void endure(const char *code, void (*on_print)(struct rig_result *r, struct al_str text),
                   enum al_code want, const char *message)
{
    struct rig_result *runs[FLOODS];
    struct al_vm_spec spec = rig_spec(code);
    long most = host_mib() + (RIG_SANITIZED ? 512 : 32);
    /* Who is ended for a lie is ended long before its deadline. */
    spec.timeout_ms = want == AL_TIMEOUT ? 400 : 10000;
    worst_mib = 0;
    pulse.last_ms = al_mono_ms();
    pulse.worst_ms = 0;
    pulse.timer = al_timer_every(rig_loop, 5, beat, NULL);
    struct al_timer *scales = al_timer_every(rig_loop, 20, weigh, NULL);
    for (size_t i = 0; i < FLOODS; i++) {
        runs[i] = al_xcalloc(1, sizeof *runs[i]);
        runs[i]->on_print = on_print;
        rig_start(runs[i], &spec);
    }
    for (size_t i = 0; i < FLOODS; i++) {
        rig_wait(runs[i]);
        if (runs[i]->code != want || !strstr(runs[i]->message.p, message))
            fail_msg("%s: %s: %s", code, al_code_name(runs[i]->code), runs[i]->message.p);
        if (runs[i]->duration_ms > spec.timeout_ms + GAP_MS)
            fail_msg("%s: ended after %llu ms", code, (unsigned long long)runs[i]->duration_ms);
    }
    weigh(NULL);
    al_timer_stop(pulse.timer);
    al_timer_stop(scales);
    if (pulse.worst_ms > GAP_MS)
        fail_msg("%s: the host was deaf for %llu ms", code, (unsigned long long)pulse.worst_ms);
    if (worst_mib > most)
        fail_msg("%s: the host grew to %ld MiB, beyond %ld", code, worst_mib, most);
    for (size_t i = 0; i < FLOODS; i++) {
        rig_free(runs[i]);
        free(runs[i]);
    }
    rig_rest();
}

static void a_flood_of_questions_is_a_lie(void **state)
{
    (void)state;
    endure("flood of questions", NULL, AL_ENGINE_CRASHED, "question");
}

static void a_flood_of_refused_calls_is_a_lie(void **state)
{
    (void)state;
    endure("flood of calls", NULL, AL_ENGINE_CRASHED, "more calls at once");
}

static void slow_print(struct rig_result *r, struct al_str text)
{
    (void)text;
    al_buf_clear(&r->printed);
    for (uint64_t end = al_mono_ns() + 50000; al_mono_ns() < end;)
        ;
}

static void deadlines_hold_in_a_flood_of_lines(void **state)
{
    (void)state;
    endure("flood of lines", slow_print, AL_TIMEOUT, "400 ms");
}

static void the_dead_are_not_answered(void **state)
{
    (void)state;
    struct rig_result *r = rig_run("questions, then death");
    assert_int_equal(r->code, AL_ENGINE_CRASHED);
    assert_true(r->n_calls <= 1);
    rig_rest();
}

static void lies_end_the_run_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_LIES; i++) {
        char code[64];
        snprintf(code, sizeof code, "lie %s", lies[i]);
        struct al_vm_spec spec = rig_spec(code);
        spec.max_text_bytes = 1 << 20;
        spec.timeout_ms = 1500;
        struct rig_result *r = rig_run_spec(&spec);
        enum al_code want = strstr(lies[i], "flood")  ? AL_OUTPUT_LIMIT
                            : strstr(lies[i], "half") ? AL_TIMEOUT
                                                      : AL_ENGINE_CRASHED;
        if (r->code != want)
            fail_msg("lie %s: %s: %s", lies[i], al_code_name(r->code), r->message.p);
        assert_int_equal(r->ends, 1);
        assert_string_equal(r->value.p, "");
        assert_false(r->security);
    }
    for (int i = 0; i < 100; i++) {
        struct rig_result *r = rig_run("lie rubbish");
        assert_int_equal(r->code, AL_ENGINE_CRASHED);
    }
    rig_rest();
}

static void last_words_are_a_claim(void **state)
{
    (void)state;
    struct rig_result *r = rig_run("last words");
    assert_int_equal(r->code, AL_TOOL_TIMEOUT); /* never the code of the host's own clock */
    assert_int_equal(r->line, 0);
    assert_int_equal(r->column, 0);
    assert_string_equal(r->notes.p, "");
    assert_string_equal(r->stack.p, "");
    assert_true(al_utf8_valid(al_buf_str(&r->message)));
}

static void only_what_a_script_can_come_to_is_believed(void **state)
{
    static const struct {
        const char *code;
        enum al_code want;
    } all[] = {
        {"end {}", AL_OK},
        {"end 1", AL_ENGINE_CRASHED},
        {"end \"INTERNAL\"", AL_ENGINE_CRASHED},
        {"end [{\"code\":\"INTERNAL\"}]", AL_ENGINE_CRASHED},
        {"end {\"code\":\"INTERNAL\"}", AL_SCRIPT_ERROR},
        {"end {\"code\":\"BUSY\"}", AL_BUSY},
        {"end {\"code\":\"STATE_CONFLICT\"}", AL_SCRIPT_ERROR},
        {"end {\"code\":\"STATE_TOO_NEW\"}", AL_SCRIPT_ERROR},
        {"end {\"code\":\"CONFIG_INVALID\"}", AL_SCRIPT_ERROR},
        {"end {\"code\":\"NO SUCH\"}", AL_SCRIPT_ERROR},
        {"end {\"code\":7}", AL_SCRIPT_ERROR},
        {"end {\"code\":\"TIMEOUT\"}", AL_TOOL_TIMEOUT},
        {"end {\"code\":\"CANCELLED\"}", AL_TOOL_ERROR},
        {"end {\"code\":\"ENGINE_UNAVAILABLE\"}", AL_TOOL_ERROR},
        {"end {\"code\":\"PERMISSION_DENIED\"}", AL_PERMISSION_DENIED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct rig_result *r = rig_run(all[i].code);
        if (r->code != all[i].want)
            fail_msg("%s: %s", all[i].code, al_code_name(r->code));
    }
}

static void a_state_that_is_none_is_an_invalid_result(void **state)
{
    static const struct {
        const char *code;
        enum al_code want;
    } all[] = {
        {"state []", AL_OK},
        {"state [[\"a\",1],[\"b,]\\\"\",[[\"]\",2,3],{\"c\":[4,5]}]]]", AL_OK},
        {"state {}", AL_INVALID_RESULT},
        {"state 1", AL_INVALID_RESULT},
        {"state \"[[]]\"", AL_INVALID_RESULT},
        {"state [1]", AL_INVALID_RESULT},
        {"state [[]]", AL_INVALID_RESULT},
        {"state [[1,2]]", AL_INVALID_RESULT},
        {"state [[\"a\"]]", AL_INVALID_RESULT},
        {"state [[\"a\",1,2]]", AL_INVALID_RESULT},
        {"state [[\"a\",1],{\"b\":1}]", AL_INVALID_RESULT},
        {"state [[\"a\",1],\"b\"]", AL_INVALID_RESULT},
        {"state [[[\"a\",1]]]", AL_INVALID_RESULT},
        {"state [[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",1]]",
         AL_ENGINE_CRASHED}, /* over twice the limit */
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct al_vm_spec spec = rig_spec(all[i].code);
        spec.state = AL_STR("{}");
        spec.max_state_bytes = 22;
        struct rig_result *r = rig_run_spec(&spec);
        if (r->code != all[i].want || (r->state.n > 0) != (r->code == AL_OK))
            fail_msg("%s: %s: %s", all[i].code, al_code_name(r->code), r->state.p);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_system_call_is_refused),
    cmocka_unit_test(calls_of_another_architecture_are_refused),
    cmocka_unit_test(a_run_has_one_descriptor),
    cmocka_unit_test(a_run_cannot_take_more_memory_than_its_limit),
    cmocka_unit_test(a_flood_of_questions_is_a_lie),
    cmocka_unit_test(a_flood_of_refused_calls_is_a_lie),
    cmocka_unit_test(deadlines_hold_in_a_flood_of_lines),
    cmocka_unit_test(the_dead_are_not_answered),
    cmocka_unit_test(lies_end_the_run_and_nothing_else),
    cmocka_unit_test(last_words_are_a_claim),
    cmocka_unit_test(a_state_that_is_none_is_an_invalid_result),
    cmocka_unit_test(only_what_a_script_can_come_to_is_believed),
};
RIG_MAIN(tests)
