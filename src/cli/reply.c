#include "cli/reply.h"

#include "base/ident.h"
#include "base/text.h"
#include "cli/app.h"
#include "os/fd.h"
#include "tools/data.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void al_reply_init(struct al_reply *reply, const char *tool)
{
    *reply = (struct al_reply){.started_ns = al_mono_ns()};
    snprintf(reply->tool, sizeof reply->tool, "%s", tool);
    al_buf_init(&reply->text, AL_REPLY_MAX);
    al_buf_init(&reply->model_text, AL_REPLY_MAX);
    al_buf_init(&reply->structured, AL_REPLY_MAX);
    al_buf_init(&reply->note, 64 << 10);
    al_buf_init(&reply->details, 64 << 10);
}

void al_reply_free(struct al_reply *reply)
{
    al_buf_free(&reply->text);
    al_buf_free(&reply->model_text);
    al_buf_free(&reply->structured);
    al_buf_free(&reply->note);
    al_buf_free(&reply->details);
}

static const char *const style_codes[] = {
    [AL_PLAIN] = "",       [AL_GOOD] = "\x1b[32m", [AL_WARN] = "\x1b[33m",
    [AL_BAD] = "\x1b[31m", [AL_DIM] = "\x1b[2m",   [AL_BOLD] = "\x1b[1m",
};

const char *al_style_on(bool color, enum al_style style)
{
    return color ? style_codes[style] : "";
}

const char *al_style_off(bool color, enum al_style style)
{
    return color && style != AL_PLAIN ? "\x1b[0m" : "";
}

void al_say_foreign(const struct al_app *app, struct al_buf *out, struct al_str s, bool keep_lines)
{
    if (app->tty)
        al_text_visible(out, s, keep_lines);
    else
        al_buf_add_str(out, s);
}

void al_say_time(struct al_buf *out, int64_t wall_ms)
{
    char t[AL_TIME_MAX];
    if (wall_ms <= 0) {
        al_buf_adds(out, "-");
        return;
    }
    al_time_local(t, wall_ms);
    al_buf_adds(out, t);
}

/* --- pretty JSON --- */

static void indent(struct al_buf *out, unsigned depth)
{
    al_buf_addc(out, '\n');
    while (depth-- > 0)
        al_buf_adds(out, "  ");
}

static void open_container(struct al_buf *out, const struct al_json *v)
{
    bool object = v->type == AL_JSON_OBJECT;
    if (v->child)
        al_buf_addc(out, object ? '{' : '[');
    else
        al_buf_adds(out, object ? "{}" : "[]");
}

/* Iterative: the depth of the text is bounded by the reader, the native stack is not asked. */
void al_say_json(const struct al_app *app, struct al_buf *out, const struct al_json *v)
{
    const struct al_json *stack[AL_JSON_MAX_DEPTH + 1];
    unsigned depth = 0;
    bool nested = v->type == AL_JSON_OBJECT || v->type == AL_JSON_ARRAY;
    if (!nested) {
        al_say_foreign(app, out, v->raw, false);
        return;
    }
    open_container(out, v);
    if (!v->child)
        return;
    stack[depth++] = v;
    const struct al_json *it = v->child;
    while (depth > 0) {
        if (!it) {
            const struct al_json *done = stack[--depth];
            indent(out, depth);
            al_buf_addc(out, done->type == AL_JSON_OBJECT ? '}' : ']');
            it = done->next;
            if (depth > 0 && it)
                al_buf_addc(out, ',');
            continue;
        }
        indent(out, depth);
        if (stack[depth - 1]->type == AL_JSON_OBJECT) {
            struct al_buf key = AL_BUF_INIT(AL_REPLY_MAX);
            struct al_jw w;
            al_jw_init(&w, &key);
            al_jw_str(&w, it->key);
            al_say_foreign(app, out, al_buf_str(&key), false);
            al_buf_adds(out, ": ");
            al_buf_free(&key);
        }
        if ((it->type == AL_JSON_OBJECT || it->type == AL_JSON_ARRAY) && it->child &&
            depth < AL_JSON_MAX_DEPTH) {
            open_container(out, it);
            stack[depth++] = it;
            it = it->child;
            continue;
        }
        if (it->type == AL_JSON_OBJECT || it->type == AL_JSON_ARRAY)
            open_container(out, it);
        else
            al_say_foreign(app, out, it->raw, false);
        if (it->next)
            al_buf_addc(out, ',');
        it = it->next;
    }
}

/* --- standard error --- */

static void write_err(struct al_str s)
{
    /* Nothing can be done about a standard error that is gone. */
    (void)!al_fd_write_all(STDERR_FILENO, s);
}

static void typed_line(const char *type, const char *key, struct al_str value, bool raw)
{
    autobuf struct al_buf line = AL_BUF_INIT(1 << 20);
    struct al_jw w;
    al_jw_init(&w, &line);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "type", type);
    if (raw)
        al_jw_kraw(&w, key, value);
    else
        al_jw_kstr(&w, key, value);
    al_jw_end(&w);
    al_buf_addc(&line, '\n');
    write_err(al_buf_str(&line));
}

/* Lines after the first are set in, so that no text of others looks like a message of ours. */
static void add_lines(struct al_buf *out, struct al_str text)
{
    const char *end;
    while (text.n && (end = memchr(text.p, '\n', text.n))) {
        size_t n = (size_t)(end - text.p);
        al_text_visible(out, (struct al_str){text.p, n - (n > 0 && end[-1] == '\r')}, false);
        al_buf_adds(out, "\n  ");
        text = (struct al_str){end + 1, text.n - n - 1};
    }
    al_text_visible(out, text, false);
}

static void say_line(struct al_app *app, const char *label, enum al_style style, struct al_str text)
{
    autobuf struct al_buf line = AL_BUF_INIT(1 << 20);
    al_app_progress_end(app);
    al_buf_adds(&line, al_style_on(app->err_color, style));
    al_buf_adds(&line, label);
    al_buf_adds(&line, al_style_off(app->err_color, style));
    add_lines(&line, text);
    al_buf_addc(&line, '\n');
    write_err(al_buf_str(&line));
}

void al_app_warn(struct al_app *app, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (app->quiet)
        return;
    if (app->json)
        typed_line("warning", "message", al_str_of(text), false);
    else
        say_line(app, "warning: ", AL_WARN, al_str_of(text));
}

void al_app_note(struct al_app *app, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!app->quiet && !app->json)
        say_line(app, "", AL_PLAIN, al_str_of(text));
}

/* --- progress --- */

#define PROGRESS_EVERY_MS 100

static void progress_bar(struct al_buf *out, double share)
{
    const unsigned cells = 20;
    unsigned full = share <= 0 ? 0 : share >= 1 ? cells : (unsigned)(share * cells);
    al_buf_addc(out, '[');
    for (unsigned i = 0; i < cells; i++)
        al_buf_addc(out, i < full ? '#' : '.');
    al_buf_adds(out, "] ");
}

/* "45 %  1,234,567 rows, 85.0 MB/s, 3 s left" */
static void progress_rows(struct al_app *app, struct al_buf *line, double completed, double total,
                          double rows)
{
    uint64_t ms = al_mono_ms() - app->progress_began_ms;
    al_buf_addf(line, "%.0f %%  ", total > 0 ? 100 * completed / total : 0);
    al_data_count(line, rows > 0 && rows < 1e15 ? (uint64_t)rows : 0, "row", "rows");
    if (ms < 500 || completed <= 0)
        return;
    double rate = completed / (double)ms; /* bytes in a millisecond */
    al_buf_adds(line, ", ");
    al_text_bytes(line, (uint64_t)(rate * 1000));
    al_buf_adds(line, "/s, ");
    al_text_duration(line, (uint64_t)(total > completed ? (total - completed) / rate : 0));
    al_buf_adds(line, " left");
}

static void progress_line(struct al_app *app, const struct al_json *v)
{
    autobuf struct al_buf line = AL_BUF_INIT(4096);
    double completed, total, rows;
    const struct al_json *c = al_json_get(v, "completed"), *t = al_json_get(v, "total");
    al_buf_adds(&line, "\r\x1b[K");
    if (al_json_double(c, &completed)) {
        if (al_json_double(t, &total) && total > 0) {
            progress_bar(&line, completed / total);
            if (al_json_double(al_json_get(v, "rows"), &rows)) {
                progress_rows(app, &line, completed, total, rows);
                write_err(al_buf_str(&line));
                app->progress_shown = true;
                return;
            }
            al_buf_addf(&line, "%.15g/%.15g ", completed, total);
        } else {
            al_buf_addf(&line, "%.15g ", completed);
        }
    }
    al_text_visible(&line, al_utf8_head(al_json_get_text(v, "note"), 40), false);
    write_err(al_buf_str(&line));
    app->progress_shown = true;
}

void al_app_progress(struct al_app *app, struct al_str json)
{
    if (app->quiet || (!app->json && !app->err_tty))
        return;
    uint64_t now = al_mono_ms();
    if (app->progress_ms && now - app->progress_ms < PROGRESS_EVERY_MS)
        return;
    app->progress_ms = now;
    if (!app->progress_began_ms)
        app->progress_began_ms = now;
    autoarena struct al_arena arena = AL_ARENA_INIT(256 << 10);
    const struct al_json *v;
    struct al_err err;
    if (al_json_parse(&arena, json, &v, &err) < 0)
        return;
    if (!app->json) {
        progress_line(app, v);
        return;
    }
    autobuf struct al_buf one = AL_BUF_INIT(256 << 10);
    struct al_jw w;
    al_jw_init(&w, &one);
    al_jw_value(&w, v);
    if (!al_buf_failed(&one))
        typed_line("progress", "progress", al_buf_str(&one), true);
}

void al_app_progress_end(struct al_app *app)
{
    app->progress_began_ms = 0;
    if (!app->progress_shown)
        return;
    app->progress_shown = false;
    write_err(AL_STR("\r\x1b[K"));
}

/* --- the answer --- */

static void error_text(const struct al_err *err, struct al_buf *out)
{
    al_buf_addf(out, "%s: %s\n", al_code_name(err->code), err->msg);
    if (err->hint[0])
        al_buf_addf(out, "hint: %s\n", err->hint);
}

static void json_error(struct al_jw *w, const struct al_reply *reply)
{
    const struct al_err *err = &reply->err;
    al_jw_key(w, "error");
    al_jw_obj(w);
    al_jw_kstrz(w, "code", al_code_name(err->code));
    al_jw_kstrz(w, "message", err->msg);
    if (err->hint[0])
        al_jw_kstrz(w, "hint", err->hint);
    if (reply->details.n)
        al_jw_kraw(w, "details", al_buf_str(&reply->details));
    al_jw_end(w);
}

static void to_json(const struct al_reply *reply, struct al_buf *out)
{
    bool ok = reply->err.code == AL_OK;
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kbool(&w, "ok", ok);
    al_jw_kstrz(&w, "tool", reply->tool);
    if (reply->execution_id[0])
        al_jw_kstrz(&w, "executionId", reply->execution_id);
    if (!ok)
        json_error(&w, reply);
    autobuf struct al_buf text = AL_BUF_INIT(64 << 10);
    const struct al_buf *said = reply->model_text.n ? &reply->model_text : &reply->text;
    if (said->n == 0 && !ok) {
        error_text(&reply->err, &text);
        said = &text;
    }
    al_jw_kstr(&w, "text", al_buf_str(said));
    if (reply->structured.n)
        al_jw_kraw(&w, "structured", al_buf_str(&reply->structured));
    if (ok)
        al_jw_kint(&w, "durationMs", (int64_t)((al_mono_ns() - reply->started_ns) / 1000000));
    al_jw_end(&w);
    al_buf_addc(out, '\n');
}

/* Results that could not be written are a failure, but a reader that has seen enough (EPIPE) is none. */
static int write_results(struct al_app *app, struct al_reply *reply, struct al_str s)
{
    int r = s.n ? al_fd_write_all(STDOUT_FILENO, s) : 0;
    if (r == 0 || r == -EPIPE)
        return 0;
    al_fail_errno(&reply->err, AL_INTERNAL, -r, "cannot write the results to standard output");
    al_hint(&reply->err, "free some space, or send the output elsewhere");
    app->json = false;
    return -1;
}

static void print_error(struct al_app *app, const struct al_err *err)
{
    autobuf struct al_buf line = AL_BUF_INIT(64 << 10);
    al_buf_addf(&line, "%s: %s", al_code_name(err->code), err->msg);
    say_line(app, "error: ", AL_BAD, al_buf_str(&line));
    if (err->hint[0])
        say_line(app, "hint: ", AL_BOLD, al_str_of(err->hint));
}

static void typed_error(const struct al_err *err)
{
    autobuf struct al_buf line = AL_BUF_INIT(64 << 10);
    struct al_jw w;
    al_jw_init(&w, &line);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "type", "error");
    al_jw_kstrz(&w, "code", al_code_name(err->code));
    al_jw_kstrz(&w, "message", err->msg);
    if (err->hint[0])
        al_jw_kstrz(&w, "hint", err->hint);
    al_jw_end(&w);
    al_buf_addc(&line, '\n');
    write_err(al_buf_str(&line));
}

int al_reply_print(struct al_app *app, struct al_reply *reply)
{
    al_app_progress_end(app);
    bool cut =
        al_buf_failed(&reply->text) || al_buf_failed(&reply->structured) || al_buf_failed(&reply->model_text);
    if (cut && reply->err.code == AL_OK) {
        al_fail(&reply->err, AL_RESULT_TOO_LARGE, "the answer is larger than %u MiB", AL_REPLY_MAX >> 20);
        al_hint(&reply->err, "ask for less at once");
    }
    if (app->json && reply->stream) {
        if (reply->err.code != AL_OK && !reply->told)
            typed_error(&reply->err);
    } else if (app->json && !reply->written) {
        autobuf struct al_buf out = AL_BUF_INIT(4ul * AL_REPLY_MAX);
        to_json(reply, &out);
        (void)!write_results(app, reply, al_buf_str(&out));
    } else if (!reply->written) {
        (void)!write_results(app, reply, al_buf_str(&reply->text));
    }
    struct al_str notes = al_buf_str(&reply->note);
    while (notes.n) {
        const char *end = memchr(notes.p, '\n', notes.n);
        struct al_str line = {notes.p, end ? (size_t)(end - notes.p) : notes.n};
        al_app_note(app, "%.*s", AL_FMT(line));
        notes = (struct al_str){line.p + line.n + !!end, notes.n - line.n - !!end};
    }
    if (reply->err.code != AL_OK && !app->json)
        print_error(app, &reply->err);
    if (app->signal)
        return 128 + app->signal;
    return reply->err.code == AL_OK ? 0 : al_code_exit(reply->err.code);
}
