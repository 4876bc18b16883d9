#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "jsvm/engine_int.h"

#include <stdio.h>

/* What a run says is a claim: here it is counted, checked and, when it cannot be true, answered with SIGKILL.
 */

#define VALUE_DEPTH 128

int al_vm_lie(struct al_vm *vm, const char *what)
{
    if (vm->cause == AL_CAUSE_NONE)
        snprintf(vm->lie, sizeof vm->lie, "%s", what);
    al_vm_kill(vm, AL_CAUSE_LIE);
    return -1;
}

/* Each line counts with its end, so that empty ones do not come for nothing. */
static void take_print(struct al_vm *vm, struct al_str text)
{
    size_t room = vm->text_bytes < vm->max_text_bytes ? vm->max_text_bytes - vm->text_bytes : 0;
    bool over = vm->text_bytes > vm->max_text_bytes || text.n > room;
    if (over)
        text = al_utf8_cut(text, room);
    vm->text_bytes += text.n + 1;
    if (text.n == 0 && over) {
        /* nothing of it fits */
    } else if (al_utf8_valid(text)) {
        vm->ops->print(vm->ud, text);
    } else {
        autobuf struct al_buf clean = AL_BUF_INIT(text.n * 3 + 16);
        al_utf8_clean(&clean, text);
        vm->ops->print(vm->ud, al_buf_str(&clean));
    }
    if (over)
        al_vm_kill(vm, AL_CAUSE_OUTPUT);
}

void al_vm_flush_progress(struct al_vm *vm)
{
    if (vm->progress_timer)
        al_timer_stop(vm->progress_timer);
    vm->progress_timer = NULL;
    if (vm->progress.n == 0)
        return;
    struct al_buf now = vm->progress;
    al_buf_init(&vm->progress, AL_VM_PROGRESS_MAX);
    vm->progress_ms = al_mono_ms();
    vm->ops->progress(vm->ud, al_buf_str(&now));
    al_buf_free(&now);
}

static void progress_due(void *ud)
{
    struct al_vm *vm = ud;
    vm->progress_timer = NULL;
    al_vm_flush_progress(vm);
}

/* At most twenty a second; of those that come faster the last one is kept. */
static void take_progress(struct al_vm *vm, struct al_str json)
{
    if (json.n > AL_VM_PROGRESS_MAX || !al_json_check(json, 4)) {
        al_vm_lie(vm, "a progress message that is none");
        return;
    }
    al_buf_clear(&vm->progress);
    al_buf_add_str(&vm->progress, json);
    uint64_t since = al_mono_ms() - vm->progress_ms;
    if (since >= AL_PROGRESS_MS)
        al_vm_flush_progress(vm);
    else if (!vm->progress_timer)
        vm->progress_timer = al_timer_start(vm->engine->loop, AL_PROGRESS_MS - since, progress_due, vm);
}

/* Splits a CALL or QUERY into name and JSON. */
static bool split_call(struct al_str p, struct al_vm_call_head *head, struct al_str *name,
                       struct al_str *json)
{
    if (p.n < sizeof *head)
        return false;
    memcpy(head, p.p, sizeof *head);
    if (head->n > AL_VM_NAME_MAX || head->n > p.n - sizeof *head)
        return false;
    *name = (struct al_str){p.p + sizeof *head, head->n};
    *json = (struct al_str){name->p + head->n, p.n - sizeof *head - head->n};
    return al_utf8_valid(*name) && json->n <= AL_VM_ARGS_MAX && al_json_check(*json, VALUE_DEPTH);
}

static void take_call(struct al_vm *vm, struct al_str payload)
{
    struct al_vm_call_head head;
    struct al_str name, args;
    if (!split_call(payload, &head, &name, &args)) {
        al_vm_lie(vm, "a call that is none");
        return;
    }
    if (vm->n_open >= vm->max_concurrency) {
        al_vm_lie(vm, "more calls at once than allowed");
        return;
    }
    for (uint32_t i = 0; i < vm->n_open; i++) {
        if (vm->open[i].id == head.id) {
            al_vm_lie(vm, "two calls of one number");
            return;
        }
    }
    if (vm->gone) /* nobody is left who could hear of it */
        return;
    vm->open[vm->n_open++] = (struct al_vm_open){.id = head.id};
    vm->ops->call(vm->ud, head.id, name, args);
}

static void take_query(struct al_vm *vm, struct al_str payload)
{
    struct al_vm_call_head head;
    struct al_str name, arg;
    autobuf struct al_buf answer = AL_BUF_INIT(AL_VM_REPLY_MAX);
    if (!split_call(payload, &head, &name, &arg) || head.id != 0) {
        al_vm_lie(vm, "a question that is none");
        return;
    }
    if (vm->asks) {
        al_vm_lie(vm, "a question before the answer to the last one");
        return;
    }
    if (vm->gone)
        return;
    vm->asks = true;
    vm->ops->query(vm->ud, name, arg, &answer);
    if (al_buf_failed(&answer) || !al_json_check(al_buf_str(&answer), 256)) {
        al_buf_clear(&answer);
        al_buf_adds(&answer,
                    "{\"error\":{\"code\":\"RESULT_TOO_LARGE\",\"message\":\"the answer is too large\"}}");
    }
    al_vm_queue(vm, AL_VM_ANSWER, 0, AL_STR(""), al_buf_str(&answer));
}

static void take_json(struct al_vm *vm, struct al_buf *to, struct al_str json, size_t most)
{
    if (to->n || json.n > most || !al_json_check(json, VALUE_DEPTH)) {
        al_vm_lie(vm, "a value that is none");
        return;
    }
    to->max = most;
    al_buf_add_str(to, json);
}

static void take_end(struct al_vm *vm, struct al_str json)
{
    if (json.n > AL_VM_END_MAX || !al_json_check(json, 8)) {
        al_vm_lie(vm, "an end that is none");
        return;
    }
    al_buf_add_str(&vm->last, json);
    vm->ended = true;
}

void al_vm_take_frame(struct al_vm *vm, const struct al_frame *f)
{
    switch (f->type) {
    case AL_VM_PRINT:
        take_print(vm, f->payload);
        break;
    case AL_VM_PROGRESS:
        take_progress(vm, f->payload);
        break;
    case AL_VM_CALL:
        take_call(vm, f->payload);
        break;
    case AL_VM_QUERY:
        take_query(vm, f->payload);
        break;
    case AL_VM_VALUE:
        take_json(vm, &vm->value, f->payload, vm->max_value_bytes);
        break;
    case AL_VM_STATE:
        take_json(vm, &vm->state, f->payload, vm->max_state_bytes);
        break;
    case AL_VM_END:
        take_end(vm, f->payload);
        break;
    default:
        al_vm_lie(vm, "a message of unknown kind");
    }
}
