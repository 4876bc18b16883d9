#include "base/ident.h"
#include "base/json.h"
#include "base/mem.h"
#include "jsvm/engine_int.h"
#include "os/fd.h"
#include "os/spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

#define HANG_MS 40 /* for the zygote to fork a run that must already end */
#define READ_CHUNK ((size_t)64 << 10)
#define READS_PER_TURN 16
#define OPEN_MAX_CALLS 1024

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

void al_vm_watch_channel(struct al_vm *vm)
{
    bool write = vm->out.n > 0;
    if (vm->channel_watch && vm->wants_write == write)
        return;
    al_watch_stop(vm->channel_watch);
    vm->wants_write = write;
    vm->channel_watch = al_watch_start(vm->engine->loop, vm->channel, AL_READABLE | (write ? AL_WRITABLE : 0),
                                       al_vm_channel_ready, vm, NULL);
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
        else {
            vm->out_at += (size_t)n;
            vm->sent += (size_t)n;
        }
    }
    if (vm->out_at == vm->out.n) {
        if (vm->out.cap > READ_CHUNK)
            al_buf_free(&vm->out);
        else
            al_buf_clear(&vm->out);
        vm->out_at = 0;
    }
    if (vm->channel_watch)
        al_vm_watch_channel(vm);
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

/* One read and what it brings: its bytes, or 0 when nothing is left, now or ever, or nothing more counts. */
static size_t read_once(struct al_vm *vm)
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
        return 0;
    }
    al_close(&vm->child_channel);
    take_frames(vm, (struct al_str){chunk, (size_t)n});
    return vm->cause == AL_CAUSE_NONE && !vm->ended ? (size_t)n : 0;
}

void al_vm_read_rest(struct al_vm *vm)
{
    while (vm->cause == AL_CAUSE_NONE && !vm->ended && read_once(vm) > 0)
        ;
}

void al_vm_channel_ready(void *ud, int events)
{
    struct al_vm *vm = ud;
    if (vm->pid == 0) { /* faster than the zygote's word for it: that it has started is told first */
        al_watch_stop(vm->channel_watch);
        vm->channel_watch = NULL;
        return;
    }
    if (vm->phase == AL_PHASE_SPARE) { /* it has nothing to say yet: gone, or not what it should be */
        al_vm_take_down(vm);
        return;
    }
    al_vm_tell_started(vm);
    if (events & AL_WRITABLE)
        flush(vm);
    for (int i = 0; i < READS_PER_TURN && read_once(vm) == READ_CHUNK; i++)
        ;
    if (!vm->ended && vm->cause == AL_CAUSE_NONE)
        return;
    al_watch_stop(vm->channel_watch); /* it has nothing more to say that counts */
    vm->channel_watch = NULL;
    if (vm->ended) {
        clock_stop(vm);
        al_vm_said_end(vm);
    }
}

/* Before anything else that it is told. A process that was there already is told of in a turn of its own. */
void al_vm_tell_started(struct al_vm *vm)
{
    if (vm->tell_timer)
        al_timer_stop(vm->tell_timer);
    vm->tell_timer = NULL;
    if (vm->pid > 0 && vm->told != vm->pid) {
        vm->told = vm->pid;
        if (vm->ops->started)
            vm->ops->started(vm->ud, vm->pid);
    }
}

static void tell_started(void *ud)
{
    struct al_vm *vm = ud;
    vm->tell_timer = NULL;
    al_vm_tell_started(vm);
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

static uint64_t clamp(uint64_t v, uint64_t low, uint64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static void configure(struct al_vm *vm, const struct al_vm_spec *spec, const struct al_vm_ops *ops, void *ud)
{
    vm->phase = AL_PHASE_RUN;
    vm->ops = ops;
    vm->ud = ud;
    vm->memory_bytes = clamp(spec->memory_bytes, AL_VM_MEMORY_MIN, AL_VM_MEMORY_MAX);
    vm->timeout_ms = clamp(spec->timeout_ms, 1, (uint64_t)1 << 40);
    vm->max_concurrency = (uint32_t)clamp(spec->max_concurrency, 1, OPEN_MAX_CALLS);
    vm->max_text_bytes = clamp(spec->max_text_bytes, 0, AL_VM_DATA_MAX);
    vm->max_value_bytes = clamp(spec->max_value_bytes, 16, AL_VM_DATA_MAX);
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
}

struct al_vm *al_vm_start_probe(struct al_engine *e, const struct al_vm_spec *spec,
                                const struct al_vm_ops *ops, void *ud, bool probe, struct al_err *err)
{
    uint64_t start_ns = al_mono_ns();
    if (check_spec(spec, err) < 0)
        return NULL;
    uint64_t memory = clamp(spec->memory_bytes, AL_VM_MEMORY_MIN, AL_VM_MEMORY_MAX);
    uint64_t texts = spec->code.n + spec->input.n + spec->alisio.n + spec->tool_names.n + spec->state.n;
    struct al_vm *vm = al_spare_take(e, memory, texts);
    if (!vm)
        vm = al_vm_prepare(e, memory + texts, false, err);
    if (!vm)
        return NULL;
    configure(vm, spec, ops, ud);
    vm->start_ns = start_ns;
    put_init(vm, spec, probe);
    clock_go(vm);
    if (vm->pid > 0)
        vm->tell_timer = al_timer_start(e->loop, 0, tell_started, vm);
    if (e->started++ > 0 || e->warm)
        al_spare_want(e, memory);
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
