#include "cli/app.h"
#include "cli/commands.h"
#include "cli/script.h"

#include "base/text.h"
#include "core/jsrun.h"

#include <stdio.h>
#include <string.h>

#define MAX_INPUT_BYTES (16u << 20)

static int add_input(struct al_app *app, struct al_jw *w, struct al_err *err)
{
    const char *input = app->args.value[AL_FLAG_INPUT];
    if (!input)
        return 0;
    autoarena struct al_arena arena = AL_ARENA_INIT(512u << 20);
    const struct al_json *v;
    if (al_json_parse(&arena, al_str_of(input), &v, err) < 0) {
        al_wrap(err, "--input is not JSON");
        return al_hint(err, "quote it for the shell: --input '{\"n\": 1}', --input '\"text\"'");
    }
    al_jw_key(w, "input");
    al_jw_value(w, v);
    return 0;
}

static int build_args(struct al_app *app, struct al_buf *out, struct al_err *err)
{
    autobuf struct al_buf code = AL_BUF_INIT(AL_SCRIPT_MAX_BYTES);
    struct al_jw w;
    if (al_script_read(app, &code, err) < 0)
        return -1;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstr(&w, "code", al_buf_str(&code));
    al_script_put_title(app, &w);
    if (al_args_has(&app->args, AL_FLAG_TIMEOUT))
        al_jw_kint(&w, "timeoutMs", app->args.number[AL_FLAG_TIMEOUT]);
    if (add_input(app, &w, err) < 0)
        return -1;
    al_jw_end(&w);
    if (al_buf_failed(out))
        return al_fail(err, AL_INVALID_INPUT, "script and input are larger than 16 MiB together");
    return 0;
}

/* --- for a person --- */

/* A token of English or code is about four bytes, whatever the model. */
#define BYTES_PER_TOKEN 4
#define MAX_KINDS 4

/* "40 read_file, 1 list_files", most calls first; further tools are counted together. */
static void say_kinds(const struct al_json *calls, struct al_buf *out)
{
    struct {
        struct al_str tool;
        unsigned n;
    } kind[64];
    unsigned n_kinds = 0, shown = 0, rest = 0;
    al_json_each(call, calls)
    {
        struct al_str tool = al_json_get_text(call, "tool");
        unsigned k = 0;
        while (k < n_kinds && !al_str_eq(kind[k].tool, tool))
            k++;
        if (k == n_kinds && n_kinds < sizeof kind / sizeof *kind) {
            kind[n_kinds].tool = tool;
            kind[n_kinds++].n = 0;
        }
        if (k < n_kinds)
            kind[k].n++;
        else
            rest++;
    }
    for (; n_kinds > 0; shown++) {
        unsigned most = 0;
        for (unsigned k = 1; k < n_kinds; k++)
            if (kind[k].n > kind[most].n)
                most = k;
        if (shown < MAX_KINDS)
            al_buf_addf(out, "%s%u %.*s", shown ? ", " : "", kind[most].n, AL_FMT(kind[most].tool));
        else
            rest += kind[most].n;
        kind[most] = kind[--n_kinds];
    }
    if (rest)
        al_buf_addf(out, ", %u of other tools", rest);
}

static void say_thousands(struct al_buf *out, uint64_t n)
{
    if (n >= 1000)
        al_buf_addf(out, "%llu,%03llu", (unsigned long long)(n / 1000), (unsigned long long)(n % 1000));
    else
        al_buf_addf(out, "%llu", (unsigned long long)n);
}

/* What the calls cost, and what did not have to be read. On standard error: it is no result. */
static void say_summary(const struct al_json *record, size_t text_bytes, struct al_buf *line)
{
    const struct al_json *calls = al_json_get(record, "calls"), *stats = al_json_get(record, "stats");
    int64_t ms = 0, tool_bytes = 0;
    if (!calls || calls->n == 0)
        return;
    al_json_int(al_json_get(stats, "durationMs"), 0, INT64_MAX, &ms);
    al_json_int(al_json_get(stats, "toolBytes"), 0, INT64_MAX, &tool_bytes);
    al_buf_addf(line, "%u call%s (", calls->n, calls->n == 1 ? "" : "s");
    say_kinds(calls, line);
    al_buf_adds(line, ") in ");
    al_text_duration(line, (uint64_t)ms);
    if (tool_bytes > (int64_t)text_bytes) {
        uint64_t saved = (uint64_t)tool_bytes - text_bytes, tokens = saved / BYTES_PER_TOKEN;
        al_buf_adds(line, "; ");
        al_text_bytes(line, saved);
        al_buf_adds(line, " of results stayed out of the conversation (about ");
        say_thousands(line, tokens < 1000 ? tokens : tokens / 100 * 100);
        al_buf_adds(line, " tokens)");
    }
}

/* Where in the script it failed, when the message does not say so itself. */
static void add_position(struct al_reply *reply, const struct al_json *record)
{
    const struct al_json *error = al_json_get(record, "error");
    int64_t line, column = 0;
    size_t n = strlen(reply->err.msg);
    if (reply->err.code == AL_SYNTAX_ERROR || !al_json_int(al_json_get(error, "line"), 1, INT32_MAX, &line))
        return;
    al_json_int(al_json_get(error, "column"), 1, INT32_MAX, &column);
    snprintf(reply->err.msg + n, sizeof reply->err.msg - n, " (line %d, column %d)", (int)line, (int)column);
}

/* What was printed, then the value: text as it is, anything else as readable JSON. A value that nobody
 * returned is not shown when there is printed text. */
static void say_result(struct al_app *app, struct al_reply *reply, const struct al_json *record)
{
    struct al_str printed = al_json_get_text(record, "text");
    const struct al_json *value = al_json_get(record, "value");
    al_say_foreign(app, &reply->text, printed, true);
    if (printed.n && printed.p[printed.n - 1] != '\n')
        al_buf_addc(&reply->text, '\n');
    bool nothing = !value || value->type == AL_JSON_NULL;
    if (nothing && (printed.n || reply->err.code != AL_OK))
        return;
    if (al_json_is_string(value))
        al_say_foreign(app, &reply->text, value->str, true);
    else if (value)
        al_say_json(app, &reply->text, value);
    al_buf_addc(&reply->text, '\n');
}

/* Bytes of pictures and files are nothing to read; a pipe or --json has them whole. */
static void hide_bytes(const struct al_app *app, struct al_reply *reply)
{
    struct al_buf plain = AL_BUF_INIT(AL_REPLY_MAX);
    if (!app->tty || !al_jsrun_hide_base64(al_buf_str(&reply->text), &plain)) {
        al_buf_free(&plain);
        return;
    }
    al_buf_free(&reply->text);
    reply->text = plain;
    al_buf_adds(&reply->note, "note: base64 is shown by its size; a pipe or --json gets it whole\n");
}

static void person_form(struct al_app *app, struct al_reply *reply)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 30);
    const struct al_json *record;
    struct al_err err;
    if (!reply->structured.n || al_json_parse(&arena, al_buf_str(&reply->structured), &record, &err) < 0) {
        if (reply->err.code == AL_OK)
            al_say_foreign(app, &reply->text, al_buf_str(&reply->model_text), true);
        return;
    }
    say_result(app, reply, record);
    hide_bytes(app, reply);
    al_json_each(note, al_json_get(record, "notes"))
    {
        /* A script that prints has said what it had to say. */
        if (al_json_get_text(record, "text").n && al_str_starts(note->str, "no return value"))
            continue;
        al_buf_addf(&reply->note, "note: %.*s\n", AL_FMT(note->str));
    }
    add_position(reply, record);
    say_summary(record, reply->text.n, &reply->note);
}

int al_cmd_js(struct al_app *app, struct al_reply *reply)
{
    autobuf struct al_buf args = AL_BUF_INIT(MAX_INPUT_BYTES);
    snprintf(reply->tool, sizeof reply->tool, "js_run");
    if (build_args(app, &args, &reply->err) < 0)
        return -1;
    if (al_app_core(app, "cli", &reply->err) < 0)
        return -1;
    if (!al_core_tool(app->core, AL_STR("js_run"))) {
        al_fail(&reply->err, AL_RUNTIME_UNAVAILABLE, "js_run is switched off by forge.javascript.enabled");
        return al_hint(&reply->err, "alisio config set forge.javascript.enabled true");
    }
    int r = al_app_call(app, AL_STR("js_run"), al_buf_str(&args), reply);
    if (!app->json)
        person_form(app, reply);
    return r;
}
