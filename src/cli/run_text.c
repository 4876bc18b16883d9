#include "cli/run_text.h"

#include "base/text.h"

#include <string.h>

/* A script longer than this is handed over by a pipe: command lines have limits, and readers too. */
#define MAX_CODE_IN_COMMAND 4000

enum al_style al_run_style(const char *status)
{
    struct al_str s = al_str_of(status);
    if (al_str_is(s, "completed"))
        return AL_GOOD;
    if (al_str_is(s, "queued") || al_str_is(s, "running"))
        return AL_WARN;
    return AL_BAD;
}

bool al_run_live(const struct al_run *run)
{
    struct al_str s = al_str_of(run->status);
    return al_str_is(s, "queued") || al_str_is(s, "running");
}

void al_jw_ktime(struct al_jw *w, const char *key, int64_t wall_ms)
{
    char t[AL_TIME_MAX];
    if (wall_ms <= 0) {
        al_jw_key(w, key);
        al_jw_null(w);
        return;
    }
    al_time_iso(t, wall_ms);
    al_jw_kstrz(w, key, t);
}

void al_run_json(struct al_jw *w, const struct al_run *run)
{
    al_jw_obj(w);
    al_jw_kstrz(w, "executionId", run->id);
    al_jw_kstrz(w, "sessionId", run->session);
    al_jw_kstrz(w, "kind", run->kind);
    al_jw_kstrz(w, "title", run->title);
    al_jw_kstrz(w, "source", run->source);
    al_jw_kstrz(w, "status", run->status);
    al_jw_ktime(w, "createdAt", run->created_ms);
    al_jw_ktime(w, "startedAt", run->started_ms);
    al_jw_ktime(w, "endedAt", run->ended_ms);
    al_jw_kint(w, "toolCalls", run->n_calls);
    al_jw_kint(w, "toolBytes", run->tool_bytes);
    al_jw_kint(w, "textBytes", run->text_bytes);
    al_jw_kint(w, "cpuMs", run->cpu_ms);
    al_jw_kint(w, "heapPeakBytes", run->heap_peak_bytes);
    al_jw_kstrz(w, "codeSha256", run->code_sha256);
    if (run->error_code) {
        al_jw_key(w, "error");
        al_jw_obj(w);
        al_jw_kstrz(w, "code", run->error_code);
        al_jw_kstrz(w, "message", run->error_msg);
        al_jw_end(w);
    }
    al_jw_end(w);
}

static void add_flag(struct al_buf *out, const char *flag, struct al_str value)
{
    bool attached = value.n && value.p[0] == '-';
    al_buf_addf(out, " %s%c", flag, attached ? '=' : ' ');
    al_text_shell(out, value);
}

void al_run_command(struct al_buf *out, const struct al_run *run, struct al_str workspace, struct al_str code,
                    const struct al_json *record)
{
    const struct al_json *input = al_json_get(record, "input");
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 20);
    const struct al_json *limits = NULL;
    struct al_err ignored;
    if (!run->limits || al_json_parse(&arena, al_str_of(run->limits), &limits, &ignored) < 0)
        limits = NULL;
    const struct al_json *timeout = al_json_get(limits, "timeoutMs");
    bool pipe = code.n > MAX_CODE_IN_COMMAND || (code.n && memchr(code.p, 0, code.n));
    if (pipe) {
        al_buf_adds(out, "alisio");
        add_flag(out, "--cwd", workspace);
        al_buf_addf(out, " runs show %s --code | ", run->id);
    }
    al_buf_adds(out, "alisio");
    add_flag(out, "--cwd", workspace);
    al_buf_adds(out, " js");
    if (pipe)
        al_buf_adds(out, " -");
    else
        add_flag(out, "-e", code);
    if (input && input->type != AL_JSON_NULL)
        add_flag(out, "--input", input->raw);
    if (run->title && *run->title)
        add_flag(out, "--title", al_str_of(run->title));
    if (timeout)
        add_flag(out, "--timeout", timeout->raw);
    al_buf_addc(out, '\n');
}
