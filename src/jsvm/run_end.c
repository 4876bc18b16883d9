#include "base/ident.h"
#include "base/json.h"
#include "base/text.h"
#include "jsvm/engine_int.h"
#include "os/spawn.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* How a run ended, in words: by the host's own cause first, then by what it said, then by how it died. */

/*
 * Codes that a run may claim for itself: those that the VM itself finds, and those that a tool's failure has.
 * What only the host can know is not among them.
 */
static enum al_code claimed_code(struct al_str name)
{
    enum al_code code = al_code_find(name.p, name.n);
    switch (code) {
    case AL_TIMEOUT:
        return AL_TOOL_TIMEOUT;
    case AL_CANCELLED:
    case AL_INTERRUPTED:
    case AL_ENGINE_UNAVAILABLE:
        return AL_TOOL_ERROR;
    case AL_INVALID_INPUT:
    case AL_TOOL_INPUT_INVALID:
    case AL_SYNTAX_ERROR:
    case AL_TOOL_ERROR:
    case AL_INVALID_RESULT:
    case AL_DEADLOCK:
    case AL_ENGINE_CRASHED:
    case AL_APPROVAL_REQUIRED:
    case AL_PERMISSION_DENIED:
    case AL_PATH_OUTSIDE_WORKSPACE:
    case AL_PATH_PROTECTED:
    case AL_PATH_SECRET:
    case AL_UNTRUSTED_REPOSITORY:
    case AL_NOT_CALLABLE:
    case AL_NOT_FOUND:
    case AL_TOOL_NOT_FOUND:
    case AL_TOOL_TIMEOUT:
    case AL_MEMORY_LIMIT:
    case AL_STACK_LIMIT:
    case AL_CALL_LIMIT:
    case AL_OUTPUT_LIMIT:
    case AL_STATE_LIMIT:
    case AL_RESULT_TOO_LARGE:
    case AL_QUOTA_EXCEEDED:
    case AL_RUNTIME_UNAVAILABLE:
    case AL_UPSTREAM_UNAVAILABLE:
    case AL_AUTH_REQUIRED:
    case AL_BUSY:
        return code;
    default:
        return AL_SCRIPT_ERROR;
    }
}

/* A member as valid UTF-8, cut: hostile text, for people. */
static struct al_str claimed_text(struct al_arena *a, const struct al_json *v, const char *key, size_t most)
{
    struct al_str s = al_utf8_cut(al_json_get_text(v, key), most);
    char *copy = s.n ? al_arena_dup(a, s) : NULL;
    return copy ? (struct al_str){copy, s.n} : (struct al_str){"", 0};
}

static void end_as_said(struct al_vm *vm, struct al_arena *a, struct al_vm_end *end)
{
    const struct al_json *v = NULL, *notes;
    int64_t n;
    end->code = AL_ENGINE_CRASHED;
    end->message = AL_STR("the VM process ended with words that make no sense");
    if (al_json_parse(a, al_buf_str(&vm->last), &v, NULL) < 0 || v->type != AL_JSON_OBJECT)
        return;
    const struct al_json *code = al_json_get(v, "code");
    end->code = !code ? AL_OK : al_json_is_string(code) ? claimed_code(code->str) : AL_SCRIPT_ERROR;
    end->message = claimed_text(a, v, "message", 16 << 10);
    end->hint = claimed_text(a, v, "hint", 2 << 10);
    end->stack = claimed_text(a, v, "stack", 16 << 10);
    if (al_json_int(al_json_get(v, "line"), 0, 10000000, &n))
        end->line = (int)n;
    if (al_json_int(al_json_get(v, "column"), 0, 10000000, &n))
        end->column = (int)n;
    notes = al_json_get(v, "notes");
    bool all_text = notes && notes->type == AL_JSON_ARRAY && notes->n > 0;
    al_json_each(it, notes) all_text = all_text && al_json_is_string(it);
    if (all_text)
        end->notes = notes->raw;
    end->value = al_buf_str(&vm->value);
    if (end->code != AL_OK || vm->state.n == 0)
        return;
    if (al_json_is_pairs(al_buf_str(&vm->state))) {
        end->state = al_buf_str(&vm->state);
    } else {
        end->code = AL_INVALID_RESULT;
        end->message = AL_STR("the state that the script left is none");
    }
}

__attribute__((format(printf, 2, 3))) static struct al_str text_of(struct al_arena *a, const char *fmt, ...)
{
    va_list ap;
    char text[512];
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *copy = al_arena_dup(a, al_str_of(text));
    return al_str_of(copy ? copy : "");
}

static void end_by_host(struct al_vm *vm, struct al_arena *a, struct al_vm_end *end)
{
    switch (vm->cause) {
    case AL_CAUSE_TIMEOUT:
        end->code = AL_TIMEOUT;
        end->message =
            text_of(a, "the script ran longer than its %llu ms", (unsigned long long)vm->timeout_ms);
        if (vm->n_open > vm->n_answered)
            end->hint = text_of(
                a, "%u nested call%s still pending; ask for a longer timeoutMs, or do less in one script",
                vm->n_open - vm->n_answered, vm->n_open - vm->n_answered == 1 ? " was" : "s were");
        else
            end->hint = text_of(a, "ask for a longer timeoutMs, or do less in one script");
        break;
    case AL_CAUSE_CANCELLED:
        end->code = AL_CANCELLED;
        end->message = text_of(a, "the run was cancelled");
        break;
    case AL_CAUSE_OUTPUT:
        end->code = AL_OUTPUT_LIMIT;
        end->message = text_of(a, "the script printed more than %zu bytes", vm->max_text_bytes);
        end->hint = text_of(a, "print less, or write it to a file with a tool");
        break;
    case AL_CAUSE_NO_START:
        end->code = AL_ENGINE_UNAVAILABLE;
        end->message = text_of(a, "the JavaScript engine cannot serve: %s", vm->lie);
        end->hint = text_of(a, "alisio forge status");
        break;
    default:
        end->code = AL_ENGINE_CRASHED;
        end->message = text_of(a, "the VM process broke its protocol: %s", vm->lie);
        end->hint = text_of(a, "alisio forge status");
    }
}

static void end_by_exit(struct al_arena *a, struct al_vm_end *end, const struct al_exit *how)
{
    end->code = AL_ENGINE_CRASHED;
    end->hint = text_of(a, "alisio forge status");
    if (end->security)
        end->message = text_of(a, "the VM process made a system call that it may not make, and was killed");
    else if (how->exited)
        end->message = text_of(a, "the VM process ended without a result");
    else
        end->message = text_of(a, "the VM process was killed by signal %d", how->signal);
}

static uint64_t heap_peak(const struct al_vm *vm)
{
    struct al_vm_page page = {0};
    if (pread(vm->page, &page, sizeof page, 0) != (ssize_t)sizeof page)
        return 0;
    return page.heap_peak < (uint64_t)4 << 30 ? page.heap_peak : (uint64_t)4 << 30;
}

unsigned long al_vm_cpu_ms(const struct al_vm *vm)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(vm->pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
        return 0;
    return (unsigned long)t.tv_sec * 1000 + (unsigned long)t.tv_nsec / 1000000;
}

void al_vm_make_end(struct al_vm *vm, const struct al_exit *how, struct al_arena *a, struct al_vm_end *end)
{
    end->duration_ms = (al_mono_ns() - vm->start_ns) / 1000000;
    end->cpu_ms = how->cpu_ms;
    end->heap_peak_bytes = heap_peak(vm);
    end->security = !how->exited && how->signal == SIGSYS;
    if (vm->cause != AL_CAUSE_NONE)
        end_by_host(vm, a, end);
    else if (vm->ended)
        end_as_said(vm, a, end);
    else
        end_by_exit(a, end, how);
}
