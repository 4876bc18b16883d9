#include "base/ident.h"
#include "base/mem.h"
#include "jsvm/engine_int.h"
#include "os/fd.h"
#include "os/spawn.h"
#include "quickjs_build.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define NATIVE_STACK ((size_t)64 << 20)
#define ADDRESS_SPACE_MIN \
    ((uint64_t)9 << 30) /* 8 GiB are reserved for the VM's memory and its guard region */

const struct al_engine_build *al_engine_build(void)
{
    static const struct al_engine_build build = {
        .name = "quickjs-ng",
        .version = AL_QUICKJS_VERSION,
        .package = AL_QUICKJS_PACKAGE,
        .wasm_sha256 = AL_QUICKJS_SHA256,
        .wasm2c = AL_QUICKJS_WASM2C,
    };
    return &build;
}

struct al_engine *al_engine_new(struct al_loop *loop)
{
    struct al_engine *e = al_xcalloc(1, sizeof *e);
    e->loop = loop;
    e->next_seq = 1;
    /* Nobody of the same user reads our memory, our environment or our descriptors. */
    prctl(PR_SET_DUMPABLE, 0);
    return e;
}

uint64_t al_engine_runs_started(const struct al_engine *e)
{
    return e->started;
}

/* Ends it and everything that waits for it. Runs that were forked go on. */
static void zygote_free(struct al_zygote *z)
{
    struct al_engine *e = z->engine;
    struct al_exit exit;
    struct al_zygote **link = &e->zygotes;
    while (*link && *link != z)
        link = &(*link)->next;
    if (*link)
        *link = z->next;
    if (e->zygote == z)
        e->zygote = NULL;
    al_watch_stop(z->watch);
    if (z->pidfd >= 0) {
        al_pidfd_kill(z->pidfd, SIGKILL);
        (void)al_reap(z->pidfd, true, &exit);
    }
    al_close(&z->control);
    al_close(&z->pidfd);
    /* What is called in here may add runs and take some away: from the beginning, each time. */
    for (struct al_vm *vm = e->vms; vm;) {
        bool waits = vm->zygote == z;
        if (waits)
            al_vm_zygote_gone(vm, z);
        vm = waits ? e->vms : vm->next;
    }
    free(z);
}

/*
 * It takes no more. Whoever starts a run may be the one to find that, and must not be called back meanwhile:
 * those who wait for it are told in a turn of the loop, when its end of the control socket has closed.
 */
static void zygote_retire(struct al_zygote *z)
{
    if (z->engine->zygote == z)
        z->engine->zygote = NULL;
    if (z->pidfd >= 0)
        al_pidfd_kill(z->pidfd, SIGKILL);
}

static void zygote_said(struct al_zygote *z, const struct al_vm_reply_msg *m)
{
    if (m->kind == AL_VM_FAILED) {
        snprintf(z->why, sizeof z->why, "%.*s", (int)strnlen(m->text, sizeof m->text), m->text);
    } else if (m->kind == AL_VM_FORKED) {
        for (struct al_vm *vm = z->engine->vms; vm; vm = vm->next) {
            if (vm->zygote == z && vm->seq == m->seq) {
                al_vm_forked(vm, m->pid);
                return;
            }
        }
    }
}

static void zygote_readable(void *ud, int events)
{
    struct al_zygote *z = ud;
    (void)events;
    for (;;) {
        struct al_vm_reply_msg m;
        ssize_t n = recv(z->control, &m, sizeof m, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n != (ssize_t)sizeof m) {
            zygote_free(z);
            return;
        }
        zygote_said(z, &m);
    }
}

static int check_address_space(struct al_err *err)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_AS, &r) < 0 || r.rlim_cur == RLIM_INFINITY || r.rlim_cur >= ADDRESS_SPACE_MIN)
        return 0;
    al_fail(err, AL_ENGINE_UNAVAILABLE,
            "the address space is limited to %llu MiB, and the JavaScript engine needs at least 9 GiB of it "
            "(9216 MiB)",
            (unsigned long long)(r.rlim_cur >> 20));
    return al_hint(err, "start alisio under `ulimit -v unlimited`");
}

static int zygote_exec(struct al_zygote *z, int child_end, struct al_err *err)
{
    char pid[24], zone[512], verb[] = AL_ZYGOTE_VERB, name[] = "alisio";
    const char *tz = getenv("TZ");
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    snprintf(zone, sizeof zone, "%s", tz ? tz : "");
    char *argv[] = {name, verb, pid, tz ? zone : NULL, NULL};
    char *envp[] = {NULL};
    struct al_fd_map map = {.from = child_end, .to = AL_VM_FD};
    autofd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct al_spawn how = {
        .exec_fd = al_self_fd(),
        .argv = argv,
        .envp = envp,
        .cwd_fd = root,
        .fds = &map,
        .n_fds = 1,
        .death_signal = SIGKILL,
        .stack_bytes = NATIVE_STACK,
    };
    if (how.exec_fd < 0)
        return al_fail(err, AL_ENGINE_UNAVAILABLE, "the running program cannot be opened again");
    return al_spawn(&how, &z->pid, &z->pidfd, err);
}

static struct al_zygote *zygote_new(struct al_engine *e, struct al_err *err)
{
    int pair[2];
    if (check_address_space(err) < 0)
        return NULL;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        al_fail_errno(err, AL_ENGINE_UNAVAILABLE, errno, "cannot make a socket for the JavaScript engine");
        return NULL;
    }
    struct al_zygote *z = al_xcalloc(1, sizeof *z);
    *z = (struct al_zygote){.engine = e, .pidfd = -1, .control = pair[0], .born_ms = al_mono_ms()};
    int r = zygote_exec(z, pair[1], err);
    al_close(&pair[1]);
    if (r >= 0)
        z->watch = al_watch_start(e->loop, z->control, AL_READABLE, zygote_readable, z, err);
    if (r < 0 || !z->watch) {
        if (err)
            err->code = AL_ENGINE_UNAVAILABLE;
        al_wrap(err, "the JavaScript engine does not start");
        zygote_free(z);
        return NULL;
    }
    z->next = e->zygotes;
    e->zygotes = z;
    return z;
}

static bool any_waits(const struct al_zygote *z)
{
    for (const struct al_vm *vm = z->engine->vms; vm; vm = vm->next) {
        if (vm->zygote == z)
            return true;
    }
    return false;
}

/* The zygote to use now; a fresh one when there is none, or when it has served its time. */
static struct al_zygote *zygote_get(struct al_engine *e, struct al_err *err)
{
    struct al_zygote *z = e->zygote;
    bool old = z && (z->runs >= AL_ZYGOTE_RUNS_MAX || al_mono_ms() - z->born_ms >= AL_ZYGOTE_AGE_MS);
    if (old && !any_waits(z)) {
        if (e->spare)
            al_vm_take_down(e->spare);
        zygote_free(z);
    }
    if (!e->zygote)
        e->zygote = zygote_new(e, err);
    return e->zygote;
}

int al_engine_warm(struct al_engine *e, struct al_err *err)
{
    if (!zygote_get(e, err))
        return -1;
    e->warm = true;
    if (!e->spare)
        al_spare_want(e, AL_SPARE_MEMORY);
    return 0;
}

int al_zygote_request(struct al_vm *vm, struct al_err *err)
{
    struct al_engine *e = vm->engine;
    int r = 0;
    /* A zygote that has just died is noticed here at the latest: once more, with a new one. */
    for (int tries = 0; tries < 2; tries++) {
        struct al_zygote *z = zygote_get(e, err);
        if (!z)
            return -1;
        struct al_vm_request req = {
            .seq = vm->seq = e->next_seq++, .data_bytes = vm->data_bytes, .ahead = vm->ahead};
        r = al_fd_send(z->control, &req, sizeof req, (int[2]){vm->child_channel, vm->page}, 2);
        if (r == 0) {
            z->runs++;
            vm->zygote = z;
            return 0;
        }
        zygote_retire(z);
    }
    return al_fail_errno(err, AL_ENGINE_UNAVAILABLE, -r, "the JavaScript engine takes no run");
}

void al_engine_free(struct al_engine *e)
{
    if (!e)
        return;
    while (e->vms)
        al_vm_take_down(e->vms);
    while (e->zygotes)
        zygote_free(e->zygotes);
    free(e);
}
