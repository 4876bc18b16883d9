#include "data/sealed.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/spawn.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define AS_ROOM                                                                                          \
    ((uint64_t)256 << 20)          /* address space that is only reserved: heaps of threads, guard pages \
                                    */
#define MESSAGE_MAX ((size_t)1000) /* as claims.c */
#define HINT_MAX ((size_t)500)

static _Noreturn void no_memory(void)
{
    _exit(AL_DATA_EXIT_MEMORY);
}

static int compare(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

/* libc asks the kernel how much memory there is when it first sorts more than a little. */
static void sort_once(void)
{
    char many[4096] = {1};
    qsort(many, sizeof many, 1, compare);
}

/* After this, localtime(3) and localtime_r(3) answer from memory: the former looks after its file each time,
 * but where TZ is set and has not changed. */
static void load_time_zone(const char *tz)
{
    struct tm tm;
    const time_t some[] = {0, INT32_MIN, 4102444800, 4118083200};
    setenv("TZ", tz ? tz : ":/etc/localtime", 1);
    tzset();
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        localtime_r(&some[i], &tm);
}

/* Given these, libc asks for no number of processors, and gives nothing back in a way that needs a look into
 * /proc. */
static void set_malloc(void)
{
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

bool al_sealed_begin(int argc, char **argv, pid_t *ret_host)
{
    int64_t pid = 0;
    if (argc < 3 || !al_parse_int(al_str_of(argv[2]), 1, INT32_MAX, &pid) || getppid() != (pid_t)pid)
        return false;
    *ret_host = (pid_t)pid;
    if (prctl(PR_SET_DUMPABLE, 0) < 0)
        return false;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    set_malloc();
    al_mem_on_failure(no_memory);
    load_time_zone(argc > 3 ? argv[3] : NULL);
    sort_once();
    return true;
}

static void limit(int what, uint64_t n)
{
    struct rlimit r = {n, n};
    if (setrlimit((__rlimit_resource_t)what, &r) < 0)
        _exit(1);
}

void al_sealed_limit(uint64_t data_bytes, uint64_t file_bytes, unsigned n_fds)
{
#ifndef AL_ASAN
    limit(RLIMIT_DATA, data_bytes);
#else
    (void)data_bytes;
#endif
    limit(RLIMIT_FSIZE, file_bytes);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NOFILE, n_fds);
}

void al_sealed_limit_space(uint64_t mapped_bytes, uint64_t more_bytes)
{
#ifndef AL_ASAN
    limit(RLIMIT_AS, mapped_bytes + more_bytes + AS_ROOM);
#else
    (void)mapped_bytes;
    (void)more_bytes;
#endif
}

static struct al_buf held = AL_BUF_INIT((size_t)16 << 10);

static void release(void)
{
    if (held.n && al_fd_write_all(AL_DATA_FD, al_buf_str(&held)) < 0)
        _exit(1);
    al_buf_clear(&held);
}

void al_sealed_hold(uint8_t type, struct al_str payload)
{
    if (payload.n > held.max - AL_FRAME_HEADER) {
        al_sealed_send(type, payload);
        return;
    }
    if (held.n + AL_FRAME_HEADER + payload.n > held.max)
        release();
    (void)al_frame_put(&held, type, payload); /* there is room */
}

void al_sealed_send(uint8_t type, struct al_str payload)
{
    release();
    if (al_frame_write_fd(AL_DATA_FD, type, payload) < 0)
        _exit(1);
}

_Noreturn void al_sealed_end(const struct al_err *err, uint64_t rows, uint64_t bytes, const char *sha256)
{
    struct al_str message = {"", 0}, hint = {"", 0};
    struct al_data_end_msg m = {.rows = rows, .bytes = bytes};
    if (sha256)
        memcpy(m.sha256, sha256, sizeof m.sha256);
    if (err && err->code != AL_OK) {
        message = al_utf8_cut(al_str_of(err->msg), MESSAGE_MAX);
        hint = al_utf8_cut(al_str_of(err->hint), HINT_MAX);
        m.code = (uint32_t)err->code;
    }
    autobuf struct al_buf all = AL_BUF_INIT(sizeof m + 3 * (MESSAGE_MAX + HINT_MAX));
    m.message_n = (uint32_t)message.n;
    m.hint_n = (uint32_t)hint.n;
    al_buf_add(&all, &m, sizeof m);
    al_buf_add_str(&all, message);
    al_buf_add_str(&all, hint);
    al_sealed_hold(AL_DATA_END, al_buf_str(&all));
    release();
    _exit(0);
}

void al_sealed_probe(void)
{
    syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY);
}
