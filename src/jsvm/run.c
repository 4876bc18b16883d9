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
    bool write = vm->out != NULL;
    if (vm->channel_watch && vm->wants_write == write)
        return;
    al_watch_stop(vm->channel_watch);
    vm->wants_write = write;
    vm->channel_watch = al_watch_start(vm->engine->loop, vm->channel, AL_READABLE | (write ? AL_WRITABLE : 0),
                                       al_vm_channel_ready, vm, NULL);
}

/* It has reached the run to its end: from here on the run can know of it. */
static void out_sent(struct al_vm *vm)
{
    struct al_vm_out *o = vm->out;
    if (o->type == AL_VM_ANSWER)
        vm->asks = false;
    for (uint32_t i = 0; o->type == AL_VM_RESULT && i < vm->n_open; i++) {
        if (vm->open[i].id == o->id) {
            vm->open[i] = vm->open[--vm->n_open];
            vm->n_answered--;
            break;
        }
    }
    vm->out = o->next;
    if (!vm->out)
        vm->out_end = NULL;
    free(o);
}

void al_vm_drop_out(struct al_vm *vm)
{
    while (vm->out)
        out_sent(vm);
}

/* Writes what goes without blocking. A run that has gone is noticed by its exit. */
static void flush(struct al_vm *vm)
{
    while (vm->out) {
        struct al_vm_out *o = vm->out;
        ssize_t n = send(vm->channel, o->bytes + o->at, o->n - o->at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            al_vm_drop_out(vm);
            break;
        }
        vm->sent += (size_t)n;
        o->at += (size_t)n;
        if (o->at == o->n)
            out_sent(vm);
    }
    if (vm->channel_watch)
        al_vm_watch_channel(vm);
}

static void put_head(char *to, uint8_t type, size_t n)
{
    for (int i = 0; i < 4; i++)
        to[i] = (char)(n >> (8 * i) & 0xff);
    to[4] = (char)type;
    to[5] = AL_FRAME_VERSION;
    to[6] = to[7] = 0;
}

/*
 * Without a limit of its own: there is one INIT, one ANSWER at a time, and a RESULT for each open call, all
 * of limited size. A call is open until its RESULT is sent.
 */
void al_vm_queue(struct al_vm *vm, uint8_t type, uint32_t id, struct al_str head, struct al_str rest)
{
    if (vm->cause != AL_CAUSE_NONE || vm->ended)
        return;
    size_t n = head.n + rest.n;
    struct al_vm_out *o = al_xmalloc(sizeof *o + AL_FRAME_HEADER + n);
    *o = (struct al_vm_out){.n = AL_FRAME_HEADER + n, .id = id, .type = type};
    put_head(o->bytes, type, n);
    if (head.n)
        memcpy(o->bytes + AL_FRAME_HEADER, head.p, head.n);
    if (rest.n)
        memcpy(o->bytes + AL_FRAME_HEADER + head.n, rest.p, rest.n);
    *(vm->out_end ? vm->out_end : &vm->out) = o;
    vm->out_end = &o->next;
    flush(vm);
}

static void resume(void *ud)
{
    struct al_vm *vm = ud;
    vm->resume_timer = NULL;
    if (vm->gone)
        al_vm_drain(vm);
    else
        al_vm_channel_ready(vm, 0);
}

void al_vm_resume_later(struct al_vm *vm)
{
    if (!vm->resume_timer)
        vm->resume_timer = al_timer_start(vm->engine->loop, 1, resume, vm);
}

static bool out_of_turn(struct al_vm *vm, uint64_t until_ns)
{
    uint64_t now = al_mono_ns();
    /* The clock's timer may be as late as the loop. */
    if (vm->going_ns && vm->spent_ns + (now - vm->going_ns) >= vm->timeout_ms * 1000000)
        al_vm_kill(vm, AL_CAUSE_TIMEOUT);
    return now >= until_ns;
}

static bool still_counts(const struct al_vm *vm)
{
    return vm->cause == AL_CAUSE_NONE && !vm->ended;
}

/* Lines are many and cheap: not each of them needs to know the time. */
static bool needs_clock(unsigned n, const struct al_frame *last)
{
    return n % 16 == 0 || last->payload.n > 1024 || last->type == AL_VM_CALL || last->type == AL_VM_QUERY;
}

/* Takes the frames that are there. False when the turn's time is up before that: the rest comes in another.
 */
static bool take_frames(struct al_vm *vm, uint64_t until_ns)
{
    struct al_err err = {0};
    struct al_frame f = {0};
    int r = 0;
    for (unsigned n = 0; still_counts(vm); n++) {
        bool late = needs_clock(n, &f) && out_of_turn(vm, until_ns);
        if (!still_counts(vm))
            break;
        if (late && !al_frames_idle(&vm->in)) {
            al_vm_resume_later(vm);
            return false;
        }
        r = al_frames_next(&vm->in, &f, &err);
        if (r <= 0)
            break;
        al_vm_take_frame(vm, &f);
    }
    if (r < 0)
        al_vm_lie(vm, err.msg);
    return true;
}

/* One read and what it brings: its bytes, or 0 when nothing is left, now or ever, or nothing more counts. */
static size_t read_once(struct al_vm *vm)
{
    struct al_err err = {0};
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
    if (al_frames_feed(&vm->in, (struct al_str){chunk, (size_t)n}, &err) < 0) {
        al_vm_lie(vm, err.msg);
        return 0;
    }
    return (size_t)n;
}

/* Reads and takes until nothing more is there. False: there may be more, in another turn. */
static bool read_some(struct al_vm *vm, uint64_t until_ns)
{
    size_t n;
    if (!take_frames(vm, until_ns)) /* what the turn before has left */
        return false;
    do {
        if (!still_counts(vm))
            return true;
        n = read_once(vm);
        if (!take_frames(vm, until_ns))
            return false;
    } while (n == READ_CHUNK && al_mono_ns() < until_ns);
    return n < READ_CHUNK;
}

bool al_vm_read_rest(struct al_vm *vm)
{
    bool all = read_some(vm, al_mono_ns() + AL_TURN_NS);
    if (!all && still_counts(vm))
        al_vm_resume_later(vm);
    return all || !still_counts(vm);
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
    (void)read_some(vm, al_mono_ns() + AL_TURN_NS);
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
        .max_state_bytes = vm->max_state_bytes,
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
    autobuf struct al_buf all = AL_BUF_INIT(AL_VM_SCRIPT_MAX + AL_VM_DATA_MAX);
    al_random(init.seed, sizeof init.seed);
    al_buf_add_str(&all, spec->code);
    al_buf_add_str(&all, spec->input);
    al_buf_add_str(&all, spec->alisio);
    al_buf_add_str(&all, spec->tool_names);
    al_buf_add_str(&all, spec->state);
    al_vm_queue(vm, AL_VM_INIT, 0, (struct al_str){(const char *)&init, sizeof init}, al_buf_str(&all));
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

/* As pairs it is longer than as an object, by less than half. A state over its limit may come back smaller.
 */
static size_t most_state(const struct al_vm_spec *spec)
{
    size_t n = spec->max_state_bytes > spec->state.n ? spec->max_state_bytes : spec->state.n;
    return spec->max_state_bytes && n < AL_VM_STATE_MAX / 2 ? 2 * n : AL_VM_STATE_MAX;
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
    vm->max_state_bytes = most_state(spec);
    size_t most = vm->max_value_bytes > AL_VM_ARGS_MAX ? vm->max_value_bytes : AL_VM_ARGS_MAX;
    if (most < vm->max_text_bytes)
        most = vm->max_text_bytes;
    al_frames_init(&vm->in, most + 1024);
    al_buf_init(&vm->progress, AL_VM_PROGRESS_MAX);
    al_buf_init(&vm->value, vm->max_value_bytes);
    al_buf_init(&vm->state, vm->max_state_bytes);
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
    while (i < vm->n_open && vm->open[i].id != id)
        i++;
    if (i == vm->n_open || vm->open[i].answered)
        return;
    vm->open[i].answered = true;
    vm->n_answered++;
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
    autobuf struct al_buf told = AL_BUF_INIT((size_t)16 << 10);
    if (err)
        put_error(&told, err);
    al_vm_queue(vm, AL_VM_RESULT, id, (struct al_str){(const char *)&head, sizeof head},
                err ? al_buf_str(&told) : value_json);
}
