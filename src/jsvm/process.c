#include "base/ident.h"
#include "base/mem.h"
#include "jsvm/engine_int.h"
#include "os/fd.h"
#include "os/spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * The process of a run: forked ahead as a spare, given a script, reaped. One spare waits at any time; a run
 * takes it and the next one is asked for, so that a script never waits for a fork and its first steps.
 */

#define AL_END_REST_NS ((uint64_t)500000)

static void exited(void *ud, int events);

static int open_descriptors(struct al_vm *vm, struct al_err *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return al_fail_errno(err, AL_ENGINE_UNAVAILABLE, errno, "cannot make a channel for a run");
    vm->channel = pair[0];
    vm->child_channel = pair[1];
    vm->page = al_fd_memory("run", sizeof(struct al_vm_page));
    if (vm->page < 0)
        return al_fail_errno(err, AL_ENGINE_UNAVAILABLE, -vm->page, "cannot make a page for a run");
    al_vm_watch_channel(vm);
    return vm->channel_watch ? 0 : al_fail(err, AL_ENGINE_UNAVAILABLE, "cannot wait for a run");
}

static void link_in(struct al_vm *vm)
{
    vm->link = &vm->engine->vms;
    vm->next = vm->engine->vms;
    if (vm->next)
        vm->next->link = &vm->next;
    vm->engine->vms = vm;
}

/* All but the process, and the watch for its exit. */
static void let_go(struct al_vm *vm)
{
    struct al_timer **timers[] = {&vm->timer, &vm->hang_timer, &vm->tell_timer, &vm->progress_timer,
                                  &vm->resume_timer};
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++) {
        if (*timers[i])
            al_timer_stop(*timers[i]);
        *timers[i] = NULL;
    }
    al_watch_stop(vm->channel_watch);
    vm->channel_watch = NULL;
    al_close(&vm->channel);
    al_close(&vm->child_channel);
    al_close(&vm->page);
    al_frames_free(&vm->in);
    struct al_buf *bufs[] = {&vm->progress, &vm->value, &vm->state, &vm->last};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        al_buf_free(bufs[i]);
    al_vm_drop_out(vm);
    free(vm->open);
    vm->open = NULL;
    vm->n_open = vm->n_answered = 0;
}

static void vm_free(struct al_vm *vm)
{
    if (vm->link) {
        *vm->link = vm->next;
        if (vm->next)
            vm->next->link = vm->link;
    }
    if (vm->engine->spare == vm)
        vm->engine->spare = NULL;
    if (vm->phase == AL_PHASE_OVER)
        vm->engine->n_over--;
    let_go(vm);
    al_watch_stop(vm->exit_watch);
    al_close(&vm->pidfd);
    free(vm);
}

struct al_vm *al_vm_prepare(struct al_engine *e, uint64_t data_bytes, bool ahead, struct al_err *err)
{
    struct al_vm *vm = al_xcalloc(1, sizeof *vm);
    *vm = (struct al_vm){
        .engine = e,
        .phase = AL_PHASE_SPARE,
        .data_bytes = data_bytes,
        .ahead = ahead,
        .pidfd = -1,
        .channel = -1,
        .child_channel = -1,
        .page = -1,
    };
    if (open_descriptors(vm, err) < 0 || al_zygote_request(vm, err) < 0) {
        if (err)
            err->code = AL_ENGINE_UNAVAILABLE;
        vm_free(vm);
        return NULL;
    }
    link_in(vm);
    return vm;
}

/* -- the spare */

static uint64_t spare_data(uint64_t memory_bytes)
{
    return memory_bytes + AL_SPARE_TEXTS;
}

struct al_vm *al_spare_take(struct al_engine *e, uint64_t memory_bytes, uint64_t text_bytes)
{
    struct al_vm *vm = e->spare;
    if (!vm || vm->data_bytes != spare_data(memory_bytes) || text_bytes > AL_SPARE_TEXTS)
        return NULL;
    e->spare = NULL;
    return vm;
}

void al_spare_want(struct al_engine *e, uint64_t memory_bytes)
{
    struct al_err err = {0};
    struct al_vm *vm = e->spare;
    /* One of another size goes, unless the zygote is still busy with it. */
    if (vm && vm->data_bytes != spare_data(memory_bytes) && vm->pidfd >= 0)
        al_vm_take_down(vm);
    if (!e->spare)
        e->spare = al_vm_prepare(e, spare_data(memory_bytes), true, &err);
}

/* -- the end */

/* Tells the owner, once. */
static void tell_end(struct al_vm *vm, const struct al_exit *how)
{
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)4 << 20);
    struct al_vm_end end = {0};
    al_vm_tell_started(vm);
    al_vm_flush_progress(vm);
    al_vm_make_end(vm, how, &a, &end);
    const struct al_vm_ops *ops = vm->ops;
    vm->ops = NULL;
    uint64_t began = al_mono_ns();
    ops->end(vm->ud, &end);
    uint64_t now = al_mono_ns();
    if (now - began > AL_TURN_NS)
        vm->engine->rest_until_ns = now + AL_END_REST_NS;
}

/* Ends of much that come together are told one in a turn, so that others are served between them. */
static bool end_must_wait(struct al_vm *vm)
{
    if (al_mono_ns() >= vm->engine->rest_until_ns)
        return false;
    al_vm_resume_later(vm);
    return true;
}

/* The process is reaped, or never was. */
static void finish(struct al_vm *vm, const struct al_exit *how)
{
    if (vm->phase == AL_PHASE_RUN)
        tell_end(vm, how);
    vm_free(vm);
}

/* All of its ends are closed: what it has said lies in our buffers, and there is no more. */
void al_vm_drain(struct al_vm *vm)
{
    if (vm->phase == AL_PHASE_RUN) {
        al_vm_tell_started(vm);
        if (!al_vm_read_rest(vm) || end_must_wait(vm))
            return;
    }
    finish(vm, &vm->how);
}

/*
 * It has said its last word. Its process is killed and its owner told at once: to tear an address space down
 * takes the kernel as long as a small script runs.
 */
void al_vm_said_end(struct al_vm *vm)
{
    struct al_engine *e = vm->engine;
    if (vm->pidfd < 0) /* and until it is known, its end waits */
        return;
    al_pidfd_kill(vm->pidfd, SIGKILL);
    if (e->n_over >= AL_OVER_MAX || end_must_wait(vm))
        return;
    struct al_exit how = {.exited = true, .cpu_ms = al_vm_cpu_ms(vm)};
    vm->phase = AL_PHASE_OVER;
    e->n_over++;
    tell_end(vm, &how);
    let_go(vm);
}

/* Died before it had taken a byte of what it was sent, as a spare may that was killed while it waited:
 * nothing has happened yet, and another process can do it all. Once. */
static bool begin_again(struct al_vm *vm)
{
    struct al_err err = {0};
    struct al_vm_page page = {0};
    int unread = -1;
    if (vm->phase != AL_PHASE_RUN || vm->cause != AL_CAUSE_NONE || vm->retried || vm->child_channel < 0 ||
        ioctl(vm->child_channel, FIONREAD, &unread) < 0 || unread < 0 || (uint64_t)unread != vm->sent ||
        pwrite(vm->page, &page, sizeof page, 0) != (ssize_t)sizeof page)
        return false;
    al_watch_stop(vm->exit_watch);
    vm->exit_watch = NULL;
    al_close(&vm->pidfd);
    vm->pid = 0;
    vm->ahead = false;
    vm->retried = true;
    return al_zygote_request(vm, &err) == 0;
}

static void exited(void *ud, int events)
{
    struct al_vm *vm = ud;
    struct al_exit how = {0};
    (void)events;
    int r = al_reap(vm->pidfd, false, &how);
    if (r == 0 || begin_again(vm))
        return;
    al_watch_stop(vm->exit_watch);
    al_watch_stop(vm->channel_watch);
    vm->exit_watch = vm->channel_watch = NULL;
    vm->gone = true;
    vm->how = how;
    al_vm_drain(vm);
}

/* Which process it is, when the zygote that has forked it can no longer say so. 0: none. The page is the
 * run's to write: a process that is no child of ours is not taken for it. */
static int64_t pid_by_page(const struct al_vm *vm)
{
    struct al_vm_page page = {0};
    bool is_there = pread(vm->page, &page, sizeof page, 0) == (ssize_t)sizeof page && page.pid > 0 &&
                    al_pid_is_child(page.pid);
    return is_there ? page.pid : 0;
}

void al_vm_take_down(struct al_vm *vm)
{
    struct al_exit how = {.exited = true};
    if (vm->phase == AL_PHASE_RUN && vm->cause == AL_CAUSE_NONE)
        vm->cause = AL_CAUSE_CANCELLED;
    if (vm->pidfd < 0 && vm->zygote) {
        /* Ask it to hurry: when it is dead, the page tells whether there is a process. */
        struct al_zygote *z = vm->zygote;
        vm->zygote = NULL;
        al_pidfd_kill(z->pidfd, SIGKILL);
        (void)al_reap(z->pidfd, true, &how);
        al_close(&z->pidfd);
        int64_t pid = pid_by_page(vm);
        if (pid)
            vm->pidfd = al_pidfd_open((pid_t)pid);
    }
    if (vm->pidfd >= 0 && !vm->gone) {
        al_pidfd_kill(vm->pidfd, SIGKILL);
        (void)al_reap(vm->pidfd, true, &how);
    }
    finish(vm, &how);
}

/* -- the beginning */

static void cannot_start(struct al_vm *vm, const char *why)
{
    if (vm->cause == AL_CAUSE_NONE) {
        snprintf(vm->lie, sizeof vm->lie, "%.*s", (int)sizeof vm->lie - 1, why);
        vm->cause = AL_CAUSE_NO_START;
    }
    al_vm_take_down(vm);
}

void al_vm_forked(struct al_vm *vm, int64_t pid)
{
    struct al_err err = {0};
    char why[64];
    vm->zygote = NULL;
    if (vm->hang_timer)
        al_timer_stop(vm->hang_timer);
    vm->hang_timer = NULL;
    vm->pidfd = pid > 0 ? al_pidfd_open((pid_t)pid) : (int)pid;
    if (vm->pidfd >= 0)
        vm->exit_watch = al_watch_start(vm->engine->loop, vm->pidfd, AL_READABLE, exited, vm, &err);
    if (!vm->exit_watch) {
        snprintf(why, sizeof why, "a process for the run: error %d", -vm->pidfd);
        cannot_start(vm, why);
        return;
    }
    vm->pid = (pid_t)pid;
    al_vm_watch_channel(vm);
    if (vm->phase == AL_PHASE_SPARE)
        return;
    al_vm_tell_started(vm);
    if (vm->cause != AL_CAUSE_NONE)
        al_pidfd_kill(vm->pidfd, SIGKILL);
    else if (vm->ended)
        al_vm_said_end(vm);
}

/*
 * The zygote died before it said whether it had forked. If it had, the page names the process, which then
 * goes on as any other; if not, a new zygote gets the request, once. A spare is not worth it.
 */
void al_vm_zygote_gone(struct al_vm *vm, const struct al_zygote *z)
{
    struct al_err err = {0};
    int64_t pid = pid_by_page(vm);
    vm->zygote = NULL;
    if (pid) {
        al_vm_forked(vm, pid);
        return;
    }
    if (vm->phase == AL_PHASE_RUN && vm->cause == AL_CAUSE_NONE && !z->why[0] && !vm->retried) {
        vm->retried = true;
        if (al_zygote_request(vm, &err) == 0)
            return;
    }
    cannot_start(vm, z->why[0] ? z->why : err.msg[0] ? err.msg : "its zygote died at the start");
}
