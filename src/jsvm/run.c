#include "base/ident.h"
#include "base/json.h"
#include "base/mem.h"
#include "jsvm/engine_int.h"
#include "os/fd.h"
#include "os/spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

#define HANG_MS 40 /* for the zygote to fork a run that must already end */
#define READ_CHUNK ((size_t)64 << 10)
#define READS_PER_TURN 16
#define OPEN_MAX_CALLS 1024

static void channel_ready(void *ud, int events);
static void exited(void *ud, int events);

/* -- the clock */

static void out_of_time(void *ud)
{
    struct al_vm *vm = ud;
    vm->timer = NULL;
    al_vm_kill(vm, AL_CAUSE_TIMEOUT);
}

static uint64_t spent_ns(const struct al_vm *vm)
{
    return vm->spent_ns + (vm->going_ns ? al_mono_ns() - vm->going_ns : 0);
}

static void clock_go(struct al_vm *vm)
{
    uint64_t limit = vm->timeout_ms * 1000000, left = vm->spent_ns < limit ? limit - vm->spent_ns : 0;
    vm->going_ns = al_mono_ns();
    vm->timer = al_timer_start(vm->engine->loop, (left + 999999) / 1000000, out_of_time, vm);
}

static void clock_stop(struct al_vm *vm)
{
    if (vm->timer)
        al_timer_stop(vm->timer);
    vm->timer = NULL;
    vm->spent_ns = spent_ns(vm);
    vm->going_ns = 0;
}

void al_vm_clock_stop(struct al_vm *vm)
{
    if (vm->stops++ == 0 && vm->cause == AL_CAUSE_NONE && !vm->ended)
        clock_stop(vm);
}

void al_vm_clock_go(struct al_vm *vm)
{
    if (vm->stops > 0 && --vm->stops == 0 && vm->cause == AL_CAUSE_NONE && !vm->ended)
        clock_go(vm);
}

/* -- the channel */

static int watch_channel(struct al_vm *vm, bool write)
{
    if (vm->channel_watch && vm->wants_write == write)
        return 0;
    al_watch_stop(vm->channel_watch);
    vm->wants_write = write;
    vm->channel_watch = al_watch_start(vm->engine->loop, vm->channel, AL_READABLE | (write ? AL_WRITABLE : 0),
                                       channel_ready, vm, NULL);
    return vm->channel_watch ? 0 : -1;
}

/* Writes what goes without blocking. A run that has gone is noticed by its exit. */
static void flush(struct al_vm *vm)
{
    while (vm->out_at < vm->out.n) {
        ssize_t n =
            send(vm->channel, vm->out.p + vm->out_at, vm->out.n - vm->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0)
            vm->out_at = vm->out.n;
        else
            vm->out_at += (size_t)n;
    }
    if (vm->out_at == vm->out.n) {
        if (vm->out.cap > READ_CHUNK)
            al_buf_free(&vm->out);
        else
            al_buf_clear(&vm->out);
        vm->out_at = 0;
    }
    if (vm->channel_watch)
        watch_channel(vm, vm->out.n > 0);
}

void al_vm_queue(struct al_vm *vm, uint8_t type, struct al_str payload)
{
    if (vm->cause != AL_CAUSE_NONE || vm->ended)
        return;
    if (al_frame_put(&vm->out, type, payload) < 0)
        al_vm_lie(vm, "more answers at once than there is room for");
    else
        flush(vm);
}

static void take_frames(struct al_vm *vm, struct al_str bytes)
{
    struct al_err err = {0};
    struct al_frame f;
    int r = al_frames_feed(&vm->in, bytes, &err);
    while (r >= 0 && vm->cause == AL_CAUSE_NONE && !vm->ended) {
        r = al_frames_next(&vm->in, &f, &err);
        if (r <= 0)
            break;
        al_vm_take_frame(vm, &f);
    }
    if (r < 0)
        al_vm_lie(vm, err.msg);
}

/* One read and what it brings. False when nothing is left, now or ever, or nothing more counts. */
static bool read_once(struct al_vm *vm)
{
    char chunk[READ_CHUNK];
    ssize_t n;
    do {
        n = recv(vm->channel, chunk, sizeof chunk, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) {
        if (n == 0 || errno != EAGAIN) {
            al_watch_stop(vm->channel_watch);
            vm->channel_watch = NULL;
        }
        return false;
    }
    take_frames(vm, (struct al_str){chunk, (size_t)n});
    return vm->cause == AL_CAUSE_NONE && !vm->ended;
}

static void channel_ready(void *ud, int events)
{
    struct al_vm *vm = ud;
    if (events & AL_WRITABLE)
        flush(vm);
    for (int i = 0; i < READS_PER_TURN && read_once(vm); i++)
        ;
    if (!vm->ended && vm->cause == AL_CAUSE_NONE)
        return;
    al_watch_stop(vm->channel_watch); /* it has nothing more to say that counts */
    vm->channel_watch = NULL;
    if (vm->ended) {
        clock_stop(vm);
        if (vm->pidfd >= 0)
            al_pidfd_kill(vm->pidfd, SIGKILL);
    }
}

/* -- the end */

static void zygote_hangs(void *ud)
{
    struct al_vm *vm = ud;
    vm->hang_timer = NULL;
    if (vm->zygote && vm->zygote->pidfd >= 0)
        al_pidfd_kill(vm->zygote->pidfd,
                      SIGKILL); /* its end of the control socket closes: zygote_free follows */
}

void al_vm_kill(struct al_vm *vm, enum al_vm_cause cause)
{
    if (vm->cause != AL_CAUSE_NONE || vm->ended)
        return;
    vm->cause = cause;
    clock_stop(vm);
    if (vm->pidfd >= 0)
        al_pidfd_kill(vm->pidfd, SIGKILL);
    else if (!vm->hang_timer)
        vm->hang_timer = al_timer_start(vm->engine->loop, HANG_MS, zygote_hangs, vm);
}

void al_vm_cancel(struct al_vm *vm)
{
    if (!vm || vm->cause != AL_CAUSE_NONE)
        return;
    bool late = spent_ns(vm) >= vm->timeout_ms * 1000000;
    al_vm_kill(vm, late ? AL_CAUSE_TIMEOUT : AL_CAUSE_CANCELLED);
}

static void vm_free(struct al_vm *vm)
{
    if (vm->link) {
        *vm->link = vm->next;
        if (vm->next)
            vm->next->link = vm->link;
    }
    if (vm->timer)
        al_timer_stop(vm->timer);
    if (vm->hang_timer)
        al_timer_stop(vm->hang_timer);
    if (vm->progress_timer)
        al_timer_stop(vm->progress_timer);
    al_watch_stop(vm->channel_watch);
    al_watch_stop(vm->exit_watch);
    al_close(&vm->channel);
    al_close(&vm->child_channel);
    al_close(&vm->page);
    al_close(&vm->pidfd);
    al_frames_free(&vm->in);
    al_buf_free(&vm->out);
    al_buf_free(&vm->progress);
    al_buf_free(&vm->value);
    al_buf_free(&vm->state);
    al_buf_free(&vm->last);
    free(vm->open);
    free(vm);
}

/* The process is reaped, or never was: tells the owner, once, and is gone. */
static void finish(struct al_vm *vm, const struct al_exit *how)
{
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)4 << 20);
    struct al_vm_end end = {0};
    /* All of its ends are closed: what it has said lies in our buffer, and there is no more. */
    while (vm->cause == AL_CAUSE_NONE && !vm->ended && read_once(vm))
        ;
    al_vm_flush_progress(vm);
    al_vm_make_end(vm, how, &a, &end);
    const struct al_vm_ops *ops = vm->ops;
    void *ud = vm->ud;
    vm->ops = NULL;
    ops->end(ud, &end);
    vm_free(vm);
}

static void exited(void *ud, int events)
{
    struct al_vm *vm = ud;
    struct al_exit how = {0};
    (void)events;
    int r = al_reap(vm->pidfd, false, &how);
    if (r != 0)
        finish(vm, &how);
}

/* -- the beginning */

void al_vm_forked(struct al_vm *vm, int64_t pid)
{
    struct al_err err = {0};
    vm->zygote = NULL;
    al_close(&vm->child_channel);
    if (vm->hang_timer)
        al_timer_stop(vm->hang_timer);
    vm->hang_timer = NULL;
    vm->pidfd = pid > 0 ? al_pidfd_open((pid_t)pid) : (int)pid;
    if (vm->pidfd >= 0)
        vm->exit_watch = al_watch_start(vm->engine->loop, vm->pidfd, AL_READABLE, exited, vm, &err);
    if (!vm->exit_watch) {
        if (vm->cause == AL_CAUSE_NONE) {
            snprintf(vm->lie, sizeof vm->lie, "a process for the run: error %lld", (long long)-vm->pidfd);
            vm->cause = AL_CAUSE_NO_START;
        }
        al_vm_take_down(vm);
        return;
    }
    vm->pid = (pid_t)pid;
    if (vm->ops->started)
        vm->ops->started(vm->ud, pid);
    if (vm->cause != AL_CAUSE_NONE || vm->ended)
        al_pidfd_kill(vm->pidfd, SIGKILL);
}

/* The page is the run's to write: a process that is no child of ours is not taken for it. */
static bool is_our_child(int64_t pid)
{
    siginfo_t info;
    autofd int fd = al_pidfd_open((pid_t)pid);
    return fd >= 0 && waitid((idtype_t)P_PIDFD, (id_t)fd, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

/*
 * The zygote died before it said whether it had forked. If it had, the page names the process, which then
 * goes on as any other; if not, a new zygote gets the request, once.
 */
void al_vm_zygote_gone(struct al_vm *vm, const struct al_zygote *z)
{
    struct al_vm_page page = {0};
    struct al_err err = {0};
    vm->zygote = NULL;
    if (pread(vm->page, &page, sizeof page, 0) == (ssize_t)sizeof page && page.pid > 0 &&
        is_our_child(page.pid)) {
        al_vm_forked(vm, page.pid);
        return;
    }
    if (vm->cause == AL_CAUSE_NONE && !z->why[0] && !vm->retried) {
        vm->retried = true;
        if (al_zygote_request(vm, &err) == 0)
            return;
    }
    if (vm->cause == AL_CAUSE_NONE) {
        snprintf(vm->lie, sizeof vm->lie, "%.*s", (int)sizeof vm->lie - 1,
                 z->why[0]    ? z->why
                 : err.msg[0] ? err.msg
                              : "its zygote died at the start");
        vm->cause = AL_CAUSE_NO_START;
    }
    al_vm_take_down(vm);
}

void al_vm_take_down(struct al_vm *vm)
{
    struct al_exit how = {.exited = true};
    if (vm->cause == AL_CAUSE_NONE)
        vm->cause = AL_CAUSE_CANCELLED;
    if (vm->pidfd < 0 && vm->zygote) {
        /* Ask it to hurry: when it is dead, the page tells whether there is a process. */
        struct al_vm_page page = {0};
        struct al_zygote *z = vm->zygote;
        vm->zygote = NULL;
        al_pidfd_kill(z->pidfd, SIGKILL);
        (void)al_reap(z->pidfd, true, &how);
        al_close(&z->pidfd);
        if (pread(vm->page, &page, sizeof page, 0) == (ssize_t)sizeof page && page.pid > 0 &&
            is_our_child(page.pid))
            vm->pidfd = al_pidfd_open((pid_t)page.pid);
    }
    if (vm->pidfd >= 0) {
        al_pidfd_kill(vm->pidfd, SIGKILL);
        (void)al_reap(vm->pidfd, true, &how);
    }
    finish(vm, &how);
}

static void put_init(struct al_vm *vm, const struct al_vm_spec *spec, bool probe)
{
    struct al_vm_init init = {
        .memory_bytes = vm->memory_bytes,
        .max_text_bytes = vm->max_text_bytes,
        .max_value_bytes = vm->max_value_bytes,
        .stack_bytes = spec->stack_bytes < AL_VM_STACK_MIN   ? AL_VM_STACK_MIN
                       : spec->stack_bytes > AL_VM_STACK_MAX ? AL_VM_STACK_MAX
                                                             : spec->stack_bytes,
        .max_concurrency = vm->max_concurrency,
        .code_n = (uint32_t)spec->code.n,
        .input_n = (uint32_t)spec->input.n,
        .alisio_n = (uint32_t)spec->alisio.n,
        .tools_n = (uint32_t)spec->tool_names.n,
        .state_n = (uint32_t)spec->state.n,
        .has_state = spec->state.n > 0,
        .legacy_execute = spec->legacy_execute,
        .probe = probe,
    };
    autobuf struct al_buf all = AL_BUF_INIT(sizeof init + AL_VM_SCRIPT_MAX + AL_VM_DATA_MAX);
    al_random(init.seed, sizeof init.seed);
    al_buf_add(&all, &init, sizeof init);
    al_buf_add_str(&all, spec->code);
    al_buf_add_str(&all, spec->input);
    al_buf_add_str(&all, spec->alisio);
    al_buf_add_str(&all, spec->tool_names);
    al_buf_add_str(&all, spec->state);
    al_vm_queue(vm, AL_VM_INIT, al_buf_str(&all));
}

static int check_spec(const struct al_vm_spec *spec, struct al_err *err)
{
    size_t n = 0;
    bool over = __builtin_add_overflow(spec->input.n, spec->alisio.n, &n) ||
                __builtin_add_overflow(n, spec->tool_names.n, &n) ||
                __builtin_add_overflow(n, spec->state.n, &n);
    if (spec->code.n > AL_VM_SCRIPT_MAX)
        return al_fail(err, AL_INVALID_INPUT, "the code is longer than %zu bytes", AL_VM_SCRIPT_MAX);
    if (over || n > AL_VM_DATA_MAX)
        return al_fail(err, AL_INVALID_INPUT, "input and state together are larger than %zu bytes",
                       AL_VM_DATA_MAX);
    return 0;
}

static int open_descriptors(struct al_vm *vm, struct al_err *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return al_fail_errno(err, AL_ENGINE_UNAVAILABLE, errno, "cannot make a channel for a run");
    vm->channel = pair[0];
    vm->child_channel = pair[1];
    vm->page = memfd_create("run", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (vm->page < 0 && errno == EINVAL)
        vm->page = memfd_create("run", MFD_CLOEXEC);
    if (vm->page < 0 || ftruncate(vm->page, sizeof(struct al_vm_page)) < 0)
        return al_fail_errno(err, AL_ENGINE_UNAVAILABLE, errno, "cannot make a page for a run");
    return 0;
}

static uint64_t clamp(uint64_t v, uint64_t low, uint64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static struct al_vm *vm_new(struct al_engine *e, const struct al_vm_spec *spec, const struct al_vm_ops *ops,
                            void *ud)
{
    struct al_vm *vm = al_xcalloc(1, sizeof *vm);
    *vm = (struct al_vm){
        .engine = e,
        .ops = ops,
        .ud = ud,
        .pidfd = -1,
        .channel = -1,
        .child_channel = -1,
        .page = -1,
        .start_ns = al_mono_ns(),
        .memory_bytes = clamp(spec->memory_bytes, AL_VM_MEMORY_MIN, AL_VM_MEMORY_MAX),
        .timeout_ms = clamp(spec->timeout_ms, 1, (uint64_t)1 << 40),
        .max_concurrency = (uint32_t)clamp(spec->max_concurrency, 1, OPEN_MAX_CALLS),
        .max_text_bytes = clamp(spec->max_text_bytes, 0, AL_VM_DATA_MAX),
        .max_value_bytes = clamp(spec->max_value_bytes, 16, AL_VM_DATA_MAX),
    };
    size_t most = vm->max_value_bytes > AL_VM_ARGS_MAX ? vm->max_value_bytes : AL_VM_ARGS_MAX;
    if (most < vm->max_text_bytes)
        most = vm->max_text_bytes;
    al_frames_init(&vm->in, most + 1024);
    al_buf_init(&vm->out, AL_VM_DATA_MAX + AL_VM_SCRIPT_MAX + vm->max_concurrency * (AL_VM_REPLY_MAX + 64));
    al_buf_init(&vm->progress, AL_VM_PROGRESS_MAX);
    al_buf_init(&vm->value, vm->max_value_bytes);
    al_buf_init(&vm->state, AL_VM_STATE_MAX);
    al_buf_init(&vm->last, AL_VM_END_MAX);
    vm->open = al_xcalloc(vm->max_concurrency, sizeof *vm->open);
    return vm;
}

struct al_vm *al_vm_start_probe(struct al_engine *e, const struct al_vm_spec *spec,
                                const struct al_vm_ops *ops, void *ud, bool probe, struct al_err *err)
{
    if (check_spec(spec, err) < 0)
        return NULL;
    struct al_vm *vm = vm_new(e, spec, ops, ud);
    if (open_descriptors(vm, err) < 0) {
        vm_free(vm);
        return NULL;
    }
    vm->data_bytes =
        vm->memory_bytes + spec->code.n + spec->input.n + spec->alisio.n + spec->tool_names.n + spec->state.n;
    put_init(vm, spec, probe);
    if (al_zygote_request(vm, err) < 0 || watch_channel(vm, vm->out.n > 0) < 0) {
        vm_free(vm);
        return NULL;
    }
    vm->link = &e->runs;
    vm->next = e->runs;
    if (vm->next)
        vm->next->link = &vm->next;
    e->runs = vm;
    clock_go(vm);
    return vm;
}

struct al_vm *al_vm_start(struct al_engine *e, const struct al_vm_spec *spec, const struct al_vm_ops *ops,
                          void *ud, struct al_err *err)
{
    return al_vm_start_probe(e, spec, ops, ud, false, err);
}

/* -- answers */

static void put_error(struct al_buf *out, const struct al_err *err)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "code", al_code_name(err->code));
    al_jw_kstrz(&w, "message", err->msg);
    if (err->hint[0])
        al_jw_kstrz(&w, "hint", err->hint);
    al_jw_end(&w);
}

void al_vm_reply(struct al_vm *vm, uint32_t id, struct al_str value_json, const struct al_err *err)
{
    uint32_t i = 0;
    struct al_err own = {0};
    while (i < vm->n_open && vm->open[i] != id)
        i++;
    if (i == vm->n_open)
        return;
    vm->open[i] = vm->open[--vm->n_open];
    if (vm->cause != AL_CAUSE_NONE || vm->ended)
        return;
    if (!err && value_json.n == 0)
        value_json = AL_STR("null");
    if (!err && value_json.n > AL_VM_REPLY_MAX)
        al_fail(&own, AL_RESULT_TOO_LARGE, "the result has %zu bytes", value_json.n);
    else if (!err && !al_json_check(value_json, 256))
        al_fail(&own, AL_TOOL_ERROR, "the tool's result is no JSON");
    if (own.code != AL_OK)
        err = &own;
    struct al_vm_call_head head = {.id = id, .n = err ? 0 : 1};
    autobuf struct al_buf all = AL_BUF_INIT(AL_VM_REPLY_MAX + 8192);
    al_buf_add(&all, &head, sizeof head);
    if (err)
        put_error(&all, err);
    else
        al_buf_add_str(&all, value_json);
    al_vm_queue(vm, AL_VM_RESULT, al_buf_str(&all));
}
