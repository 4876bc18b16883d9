#include "cli/app.h"
#include "cli/commands.h"
#include "cli/py.h"
#include "cli/run_text.h"
#include "cli/table.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define MAX_CODE (1u << 20)

struct shown {
    struct al_app *app;
    struct al_reply *reply;
    struct al_run run;
    struct al_arena arena;
    const struct al_json *record; /* NULL: none yet */
    struct al_table calls;
    struct al_jw w;
    char tool_args[4096]; /* of a direct call, as it was kept; "" for scripts */
};

static bool is_python(const struct shown *s)
{
    return strcmp(s->run.kind, "python_run") == 0;
}

static int print_code(struct shown *s, struct al_err *err)
{
    if (!s->run.code_sha256) {
        al_fail(err, AL_NOT_FOUND, "%s is a call of one tool; there is no script", s->run.id);
        return al_hint(err, "`alisio runs show %s` shows the call", s->run.id);
    }
    autobuf struct al_buf code = AL_BUF_INIT(MAX_CODE);
    if (al_store_run_code(s->app->store, s->run.id, &code, err) < 0)
        return -1;
    struct al_reply *reply = s->reply;
    al_say_foreign(s->app, &reply->text, al_buf_str(&code), true);
    if (s->app->tty && code.n && code.p[code.n - 1] != '\n')
        al_buf_addc(&reply->text, '\n');
    al_jw_init(&s->w, &reply->structured);
    al_jw_obj(&s->w);
    al_jw_kstrz(&s->w, "executionId", s->run.id);
    al_jw_kstr(&s->w, "code", al_buf_str(&code));
    al_jw_end(&s->w);
    return 0;
}

static bool note_call(void *ud, const struct al_call_row *c)
{
    struct shown *s = ud;
    snprintf(s->tool_args, sizeof s->tool_args, "%s", c->args_preview ? c->args_preview : "");
    return false;
}

/* A direct call is kept with a preview of its arguments only. */
static int tool_command(struct shown *s, struct al_buf *out, struct al_err *err)
{
    if (al_store_call_each(s->app->store, s->run.id, note_call, s, err) < 0)
        return -1;
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 20);
    const struct al_json *args;
    struct al_err ignored;
    bool whole = al_json_parse(&arena, al_str_of(s->tool_args), &args, &ignored) == 0;
    if (!whole || strstr(s->tool_args, "‹redacted›")) {
        al_fail(err, AL_NOT_FOUND, "the journal does not keep the whole arguments of %s", s->run.id);
        return al_hint(err, "`alisio runs show %s` shows what it keeps", s->run.id);
    }
    al_buf_adds(out, "alisio --cwd ");
    al_text_shell(out, al_str_of(s->app->workspace));
    al_buf_adds(out, " tool call ");
    al_text_shell(out, al_str_of(s->run.title));
    al_buf_addc(out, ' ');
    al_text_shell(out, al_str_of(s->tool_args));
    al_buf_addc(out, '\n');
    return 0;
}

/* A large input, and the values of secret-looking keys, are not in the journal. */
static void warn_about_input(struct shown *s)
{
    const struct al_json *input = al_json_get(s->record, "input");
    if (al_json_get(s->record, "inputBytes"))
        al_app_warn(s->app, "the input of %s was too large to keep: add it as --input", s->run.id);
    else if (input && al_str_find(input->raw, AL_STR("‹redacted›")) >= 0)
        al_app_warn(s->app, "secrets in the input of %s were not kept: put them in by hand", s->run.id);
    else if (!s->record)
        al_app_warn(s->app, "the input of %s is not known: it has not ended in order", s->run.id);
}

static int print_command(struct shown *s, struct al_err *err)
{
    autobuf struct al_buf code = AL_BUF_INIT(MAX_CODE), line = AL_BUF_INIT(8u << 20);
    if (!s->run.code_sha256) {
        if (tool_command(s, &line, err) < 0)
            return -1;
    } else if (is_python(s)) {
        if (al_py_command(s->app, &s->run, s->record, &line, err) < 0)
            return -1;
    } else {
        if (al_store_run_code(s->app->store, s->run.id, &code, err) < 0)
            return -1;
        warn_about_input(s);
        al_run_command(&line, &s->run, al_str_of(s->app->workspace), al_buf_str(&code), s->record);
    }
    al_say_foreign(s->app, &s->reply->text, al_buf_str(&line), true);
    al_jw_init(&s->w, &s->reply->structured);
    al_jw_obj(&s->w);
    al_jw_kstrz(&s->w, "executionId", s->run.id);
    al_jw_kstr(&s->w, "command", (struct al_str){line.p, line.n ? line.n - 1 : 0});
    al_jw_end(&s->w);
    return 0;
}

static void line(struct shown *s, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    al_buf_addf(&s->reply->text, "%-10s ", name);
    al_say_foreign(s->app, &s->reply->text, al_str_of(value), false);
    al_buf_addc(&s->reply->text, '\n');
}

static void time_line(struct shown *s, const char *name, int64_t wall_ms)
{
    if (wall_ms <= 0)
        return;
    al_buf_addf(&s->reply->text, "%-10s ", name);
    al_say_time(&s->reply->text, wall_ms);
    al_buf_addc(&s->reply->text, '\n');
}

static void status_line(struct shown *s)
{
    const struct al_run *run = &s->run;
    struct al_buf *out = &s->reply->text;
    enum al_style style = al_run_style(run->status);
    al_buf_addf(out, "%-10s %s%s%s", "status", al_style_on(s->app->color, style), run->status,
                al_style_off(s->app->color, style));
    if (run->started_ms && run->ended_ms >= run->started_ms) {
        al_buf_adds(out, " in ");
        al_text_duration(out, (uint64_t)(run->ended_ms - run->started_ms));
    }
    al_buf_addc(out, '\n');
}

static void usage_line(struct shown *s)
{
    struct al_buf *out = &s->reply->text;
    al_buf_addf(out, "%-10s ", "used");
    if (!is_python(s)) {
        al_buf_addf(out, "%lld calls, ", (long long)s->run.n_calls);
        al_text_bytes(out, (uint64_t)s->run.tool_bytes);
        al_buf_adds(out, " of tool results, ");
    }
    al_text_duration(out, (uint64_t)s->run.cpu_ms);
    al_buf_adds(out, " of CPU, ");
    al_text_bytes(out, (uint64_t)s->run.heap_peak_bytes);
    al_buf_adds(out, is_python(s) ? " of memory\n" : " of heap\n");
}

static bool add_call(void *ud, const struct al_call_row *c)
{
    struct shown *s = ud;
    autobuf struct al_buf cell = AL_BUF_INIT(256);
    bool good = c->status && strcmp(c->status, "completed") == 0;
    al_table_addf(&s->calls, "%lld", (long long)c->seq);
    al_table_add(&s->calls, c->tool);
    al_table_add_style(&s->calls, c->code ? c->code : c->status, good ? AL_GOOD : AL_BAD);
    if (c->ended_ms >= c->started_ms && c->ended_ms > 0)
        al_text_duration(&cell, (uint64_t)(c->ended_ms - c->started_ms));
    al_table_add_str(&s->calls, al_buf_str(&cell));
    al_buf_clear(&cell);
    al_text_bytes(&cell, (uint64_t)(c->bytes > 0 ? c->bytes : 0));
    al_table_add_str(&s->calls, al_buf_str(&cell));
    al_table_add(&s->calls, c->args_preview);

    al_jw_obj(&s->w);
    al_jw_kint(&s->w, "seq", c->seq);
    al_jw_kstrz(&s->w, "tool", c->tool);
    al_jw_kstrz(&s->w, "effect", c->effect);
    al_jw_kstrz(&s->w, "decision", c->decision);
    al_jw_kstrz(&s->w, "status", c->status);
    al_jw_kstrz(&s->w, "code", c->code);
    al_jw_kstrz(&s->w, "args", c->args_preview);
    al_jw_ktime(&s->w, "startedAt", c->started_ms);
    al_jw_ktime(&s->w, "endedAt", c->ended_ms);
    al_jw_kint(&s->w, "bytes", c->bytes);
    al_jw_end(&s->w);
    return true;
}

static void block(struct shown *s, const char *title)
{
    al_buf_addf(&s->reply->text, "\n%s%s%s\n", al_style_on(s->app->color, AL_BOLD), title,
                al_style_off(s->app->color, AL_BOLD));
}

static void text_block(struct shown *s, const char *title, struct al_str text)
{
    if (!text.n)
        return;
    block(s, title);
    al_say_foreign(s->app, &s->reply->text, text, true);
    if (text.p[text.n - 1] != '\n')
        al_buf_addc(&s->reply->text, '\n');
}

static bool collect_print(void *ud, int64_t seq, const char *type, struct al_str body, int64_t at_ms)
{
    struct al_buf *out = ud;
    (void)seq, (void)at_ms;
    if (strcmp(type, "print") == 0)
        al_buf_add_str(out, body);
    return true;
}

/* From the record, or from the events while there is none (a run that goes on, or was cut off). */
static int printed_block(struct shown *s, struct al_err *err)
{
    if (s->record && is_python(s)) {
        text_block(s, "printed", al_json_get_text(s->record, "stdout"));
        text_block(s, "errors", al_json_get_text(s->record, "stderr"));
        return 0;
    }
    if (s->record) {
        text_block(s, s->run.code_sha256 ? "printed" : "text", al_json_get_text(s->record, "text"));
        return 0;
    }
    autobuf struct al_buf out = AL_BUF_INIT(32u << 20);
    if (al_store_event_each(s->app->store, s->run.id, 0, collect_print, &out, err) < 0)
        return -1;
    text_block(s, "printed", al_buf_str(&out));
    return 0;
}

static void value_block(struct shown *s)
{
    const struct al_json *value = al_json_get(s->record, "value");
    if (!value || value->type == AL_JSON_NULL)
        return;
    if (al_json_is_string(value)) {
        text_block(s, "value", value->str);
        return;
    }
    block(s, "value");
    al_say_json(s->app, &s->reply->text, value);
    al_buf_addc(&s->reply->text, '\n');
}

/* --- of a Python script --- */

static void record_line(struct shown *s, const char *name, struct al_str value)
{
    if (!value.n)
        return;
    al_buf_addf(&s->reply->text, "%-10s ", name);
    al_say_foreign(s->app, &s->reply->text, al_utf8_head(value, 400), false);
    al_buf_addc(&s->reply->text, '\n');
}

static void python_lines(struct shown *s)
{
    int64_t code;
    if (al_json_int(al_json_get(s->record, "exitCode"), INT32_MIN, INT32_MAX, &code))
        al_buf_addf(&s->reply->text, "%-10s %d\n", "exit code", (int)code);
    record_line(s, "engine", al_json_get_text(s->record, "backend"));
    record_line(s, "isolation", al_json_get_text(s->record, "isolation"));
    record_line(s, "reason", al_json_get_text(s->record, "reason"));
    record_line(s, "rerun of", al_json_get_text(s->record, "rerunOf"));
    al_json_each(input, al_json_get(s->record, "inputs"))
        record_line(s, "input", al_json_get_text(input, "name"));
    al_json_each(warning, al_json_get(s->record, "warnings"))
        record_line(s, "warning", al_json_is_string(warning) ? warning->str : (struct al_str){"", 0});
}

static void artifacts_block(struct shown *s)
{
    static const char *const heads[] = {"ID", "KIND", "SIZE", "FILE", "TITLE", NULL};
    const struct al_json *artifacts = al_json_get(s->record, "artifacts");
    autotable struct al_table t;
    if (!artifacts || artifacts->n == 0)
        return;
    al_table_init(&t, heads);
    t.fixed = 1;
    t.right = 1u << 2;
    al_json_each(a, artifacts)
    {
        autobuf struct al_buf size = AL_BUF_INIT(64);
        int64_t bytes = 0;
        al_json_int(al_json_get(a, "bytes"), 0, INT64_MAX, &bytes);
        al_text_bytes(&size, (uint64_t)bytes);
        al_table_add_str(&t, al_json_get_text(a, "id"));
        al_table_add_str(&t, al_json_get_text(a, "kind"));
        al_table_add_str(&t, al_buf_str(&size));
        al_table_add_str(&t, al_json_get_text(a, "fileName"));
        al_table_add_str(&t, al_json_is_true(al_json_get(a, "partial")) ? AL_STR("partial")
                                                                        : al_json_get_text(a, "title"));
    }
    block(s, "artifacts");
    al_table_print(s->app, &t, &s->reply->text);
}

static void head_lines(struct shown *s)
{
    const struct al_run *run = &s->run;
    line(s, "run", run->id);
    line(s, "title", run->title);
    status_line(s);
    if (run->error_code) {
        line(s, "error", run->error_code);
        line(s, "", run->error_msg);
    }
    line(s, "kind", run->kind);
    line(s, "from", run->source);
    line(s, "session", run->session);
    time_line(s, "created", run->created_ms);
    time_line(s, "ended", run->ended_ms);
    usage_line(s);
    if (is_python(s))
        python_lines(s);
    struct al_str saved = al_json_get_text(s->record, "savedTo");
    if (saved.n) {
        al_buf_addf(&s->reply->text, "%-10s ", "whole in");
        al_say_foreign(s->app, &s->reply->text, saved, false);
        al_buf_addc(&s->reply->text, '\n');
    }
}

static int print_record(struct shown *s, struct al_err *err)
{
    static const char *const heads[] = {"#", "TOOL", "STATUS", "TOOK", "BYTES", "ARGUMENTS", NULL};
    struct al_jw *w = &s->w;
    al_jw_init(w, &s->reply->structured);
    al_jw_obj(w);
    al_jw_key(w, "run");
    al_run_json(w, &s->run);
    head_lines(s);
    al_table_init(&s->calls, heads);
    s->calls.right = 1u | 1u << 3 | 1u << 4;
    al_jw_key(w, "calls");
    al_jw_arr(w);
    if (al_store_call_each(s->app->store, s->run.id, add_call, s, err) < 0)
        return -1;
    al_jw_end(w);
    if (s->calls.n_cells)
        block(s, "calls");
    al_table_print(s->app, &s->calls, &s->reply->text);
    if (printed_block(s, err) < 0)
        return -1;
    value_block(s);
    artifacts_block(s);
    al_jw_key(w, "record");
    if (s->record)
        al_jw_value(w, s->record);
    else
        al_jw_null(w);
    al_jw_end(w);
    return 0;
}

int al_cmd_runs_show(struct al_app *app, struct al_reply *reply)
{
    struct shown s = {.app = app, .reply = reply};
    struct al_err ignored;
    bool code = al_args_has(&app->args, AL_FLAG_CODE), command = al_args_has(&app->args, AL_FLAG_COMMAND);
    if (code && command) {
        al_fail(&reply->err, AL_INVALID_INPUT, "--code and --command exclude each other");
        return al_hint(&reply->err, "give one of them");
    }
    if (al_app_run_id(app, app->args.pos[0], &s.run, &reply->err) < 0)
        return -1;
    snprintf(reply->execution_id, sizeof reply->execution_id, "%s", s.run.id);
    al_arena_init(&s.arena, 512u << 20);
    if (s.run.record && al_json_parse(&s.arena, al_str_of(s.run.record), &s.record, &ignored) < 0)
        s.record = NULL;
    int r = code      ? print_code(&s, &reply->err)
            : command ? print_command(&s, &reply->err)
                      : print_record(&s, &reply->err);
    al_table_free(&s.calls);
    al_arena_free(&s.arena);
    al_run_fini(&s.run);
    return r;
}
