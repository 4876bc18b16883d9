/* run_process and shell: programs under the supervisor, whose whole tree ends with the call. */
#include "tools/tools_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_MS 30000
#define TIMEOUT_MAX_MS 120000
#define OUTPUT_MAX AL_CALL_MAX_RESULT
#define TEXT_CHARS 32000
#define MAX_ARGS 4096
#define STDERR_SHARE \
    (AL_TOOL_JSON_ROOM / 4) /* kept of standard error however much standard output there is */

struct run {
    struct al_call *call;
    int cwd_fd;
    char *program;
    const char *named; /* the command, in the user's words */
    struct al_child *child;
    struct al_child_end end;
    struct al_buf out, err;
};

static void run_free(struct run *r)
{
    r->call->impl = NULL;
    al_close(&r->cwd_fd);
    al_buf_free(&r->out);
    al_buf_free(&r->err);
    free(r->program);
    free(r);
}

static void run_cancel(struct al_call *call)
{
    struct run *r = call->impl;
    if (r && r->child)
        al_child_cancel(r->child);
}

/* --- the result --- */

static void text_stream(struct al_buf *out, const char *title, struct al_str s, size_t max_chars)
{
    if (s.n == 0)
        return;
    autobuf struct al_buf clean = AL_BUF_INIT(OUTPUT_MAX * 3 + 3);
    al_utf8_clean(&clean, s);
    if (title)
        al_buf_addf(out, "--- %s ---\n", title);
    al_tool_head_tail(out, al_buf_str(&clean), max_chars);
    if (out->p[out->n - 1] != '\n')
        al_buf_addc(out, '\n');
}

static const char *signal_name(int signum)
{
    const char *name = sigabbrev_np(signum);
    return name ? name : "?";
}

static void write_text(struct run *r)
{
    struct al_buf *out = &r->call->text;
    if (r->end.timed_out)
        al_buf_adds(out, "timed out and was ended");
    else if (r->end.signal)
        al_buf_addf(out, "killed by SIG%s", signal_name(r->end.signal));
    else
        al_buf_addf(out, "exit code %d", r->end.exit_status);
    al_buf_adds(out, ", ");
    al_text_duration(out, r->end.duration_ms);
    if (r->out.n == 0 && r->err.n == 0)
        al_buf_adds(out, ", no output");
    if (r->end.out_truncated || r->end.err_truncated)
        al_buf_adds(out, ", more output than is kept");
    al_buf_addc(out, '\n');
    size_t err_chars = r->err.n < TEXT_CHARS / 4 ? r->err.n : TEXT_CHARS / 4;
    if (r->out.n < TEXT_CHARS - TEXT_CHARS / 4)
        err_chars = TEXT_CHARS - 400 - r->out.n;
    text_stream(out, NULL, al_buf_str(&r->out),
                TEXT_CHARS - 400 - (err_chars < r->err.n ? err_chars : r->err.n));
    text_stream(out, "standard error", al_buf_str(&r->err), err_chars);
}

static void write_structured(struct run *r)
{
    struct al_str out = al_buf_str(&r->out), err = al_buf_str(&r->err);
    struct al_str err_kept = al_tool_fit_json(err, STDERR_SHARE);
    struct al_str out_kept = al_tool_fit_json(out, AL_TOOL_JSON_ROOM - al_tool_json_cost(err_kept));
    if (out_kept.n == out.n)
        err_kept = al_tool_fit_json(err, AL_TOOL_JSON_ROOM - al_tool_json_cost(out_kept));
    bool cut = out_kept.n < out.n || err_kept.n < err.n || r->end.out_truncated || r->end.err_truncated;
    struct al_jw w;
    al_jw_init(&w, &r->call->structured);
    al_jw_obj(&w);
    al_jw_kstr(&w, "stdout", out_kept);
    al_jw_kstr(&w, "stderr", err_kept);
    al_jw_key(&w, "exitCode");
    if (r->end.signal || r->end.exit_status < 0)
        al_jw_null(&w);
    else
        al_jw_int(&w, r->end.exit_status);
    autobuf struct al_buf name = AL_BUF_INIT(32);
    if (r->end.signal)
        al_buf_addf(&name, "SIG%s", signal_name(r->end.signal));
    al_jw_key(&w, "signal");
    if (name.n > 0)
        al_jw_str(&w, al_buf_str(&name));
    else
        al_jw_null(&w);
    al_jw_kbool(&w, "timedOut", r->end.timed_out);
    al_jw_kbool(&w, "truncated", cut);
    al_jw_kint(&w, "durationMs", (int64_t)r->end.duration_ms);
    al_jw_end(&w);
}

static void result_work(void *ud)
{
    struct run *r = ud;
    write_structured(r);
    write_text(r);
}

static void result_done(void *ud)
{
    struct run *r = ud;
    struct al_call *call = r->call;
    run_free(r);
    al_call_finish(call);
}

static int fail_exec(struct run *r, int eno)
{
    struct al_err *err = &r->call->err;
    if (eno == ENOENT) {
        al_fail(err, AL_NOT_FOUND, "%s: no such program, or the interpreter that it names is missing",
                r->named);
        return -1;
    }
    al_fail_errno(err, AL_TOOL_ERROR, eno, "%s: cannot be run", r->named);
    if (eno == ENOEXEC)
        return al_hint(
            err, "it is neither a program nor a script with a #! line; name its interpreter as the command");
    if (eno == EACCES)
        return al_hint(err, "it may lack the x permission; name its interpreter as the command");
    return -1;
}

static void run_done(void *ud, const struct al_child_end *end)
{
    struct run *r = ud;
    struct al_call *call = r->call;
    r->child = NULL;
    if (end->exec_errno > 0) {
        fail_exec(r, end->exec_errno);
        result_done(r);
        return;
    }
    r->end = *end;
    r->out = *end->out;
    al_buf_init(end->out, end->out->max);
    r->err = *end->err;
    al_buf_init(end->err, end->err->max);
    if (end->timed_out) {
        al_fail(&call->err, AL_TOOL_TIMEOUT, "%s: did not end in time and was ended with all that it started",
                r->named);
        al_hint(&call->err, "timeoutMs can be up to %d; what it printed until then is in the result",
                TIMEOUT_MAX_MS);
    }
    al_work_start(al_core_loop(call->core), result_work, result_done, r);
}

/* --- starting --- */

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* As execvp would, but never from a relative entry of PATH. NULL: there is none. */
static char *look_up(struct al_str name)
{
    const char *path = getenv("PATH");
    for (path = path ? path : "/usr/local/bin:/usr/bin:/bin"; *path;) {
        size_t n = strcspn(path, ":");
        autobuf struct al_buf b = AL_BUF_INIT(PATH_MAX);
        al_buf_add(&b, path, n);
        al_buf_addc(&b, '/');
        al_buf_add_str(&b, name);
        al_buf_addc(&b, 0);
        if (path[0] == '/' && !al_buf_failed(&b) && is_program(b.p))
            return al_buf_take(&b);
        path += n + (path[n] == ':');
    }
    return NULL;
}

/* A command with a slash is a file; a relative one is meant from the folder it runs in. */
static char *from_folder(struct run *r, struct al_str command)
{
    autobuf struct al_buf b = AL_BUF_INIT(2 * PATH_MAX);
    if (command.p[0] != '/') {
        char link[64], real[PATH_MAX];
        snprintf(link, sizeof(link), "/proc/self/fd/%d", r->cwd_fd);
        ssize_t n = readlink(link, real, sizeof(real));
        if (n <= 0 || n == (ssize_t)sizeof(real))
            return NULL;
        al_buf_add(&b, real, (size_t)n);
        al_buf_addc(&b, '/');
    }
    al_buf_add_str(&b, command);
    return al_buf_take(&b);
}

static int find_program(struct run *r, struct al_str command, struct al_err *err)
{
    autobuf struct al_buf shown = AL_BUF_INIT(4096);
    al_text_visible(&shown, al_utf8_head(command, 200), false);
    r->named = al_arena_dup(&r->call->arena, al_buf_str(&shown));
    if (command.n == 0 || command.n >= PATH_MAX || memchr(command.p, 0, command.n) || !r->named)
        return al_fail(err, AL_TOOL_INPUT_INVALID, "/command: is no name of a program");
    r->program = memchr(command.p, '/', command.n) ? from_folder(r, command) : look_up(command);
    if (r->program)
        return 0;
    al_fail(err, AL_NOT_FOUND, "%s: no such program in PATH", r->named);
    if (memchr(command.p, ' ', command.n))
        return al_hint(err,
                       "command is the program alone: put its arguments into args, or use the tool shell");
    return -1;
}

static int open_cwd(struct run *r, struct al_err *err)
{
    struct al_place place;
    struct al_str cwd = al_json_get_text(r->call->args, "cwd");
    if (cwd.n == 0)
        cwd = AL_STR(".");
    else if (al_str_is(cwd, "scratch:"))
        cwd = AL_STR("scratch:.");
    if (al_tool_place(r->call, cwd, AL_WANT_LIST, &place, err) < 0)
        return -1;
    return al_tool_open_folder(r->call, &place, &r->cwd_fd, err);
}

/* NULL-terminated, in the call's arena. */
static char **make_argv(struct al_call *call, struct al_str first, const struct al_json *args,
                        struct al_err *err)
{
    size_t n = args ? args->n : 0, i = 1;
    char **argv = n > MAX_ARGS ? NULL : al_arena_alloc(&call->arena, (n + 2) * sizeof(*argv));
    if (!argv) {
        al_fail(err, AL_TOOL_INPUT_INVALID, "/args: has %zu entries; at most %d fit", n, MAX_ARGS);
        return NULL;
    }
    argv[0] = al_arena_dup(&call->arena, first);
    al_json_each(a, args)
    {
        if (memchr(a->str.p, 0, a->str.n)) {
            al_fail(err, AL_TOOL_INPUT_INVALID, "/args/%zu: holds a NUL character", i - 1);
            return NULL;
        }
        argv[i++] = al_arena_dup(&call->arena, a->str);
    }
    for (size_t k = 0; k < i; k++) {
        if (!argv[k]) {
            al_fail(err, AL_TOOL_INPUT_INVALID, "/args: are too large");
            return NULL;
        }
    }
    return argv;
}

/* For whoever follows it; the result has it all. */
static void run_output(void *ud, bool is_error, struct al_str bytes)
{
    struct run *r = ud;
    al_call_output(r->call, is_error, bytes);
}

static int run_child(struct run *r, char *const *argv, struct al_err *err)
{
    int64_t timeout = TIMEOUT_MS;
    al_json_int(al_json_get(r->call->args, "timeoutMs"), 1, TIMEOUT_MAX_MS, &timeout);
    struct al_child_spec spec = {
        .program = r->program,
        .argv = argv,
        .cwd_fd = r->cwd_fd,
        .input = al_json_get_text(r->call->args, "stdin"),
        .max_output = OUTPUT_MAX,
        .timeout_ms = (uint64_t)timeout,
        .output = run_output,
    };
    r->child = al_child_start(al_core_loop(r->call->core), &spec, run_done, r, err);
    return r->child ? 0 : -1;
}

static int begin_process(struct run *r, struct al_err *err)
{
    struct al_str command = al_json_get_text(r->call->args, "command");
    if (open_cwd(r, err) < 0 || find_program(r, command, err) < 0)
        return -1;
    char **argv = make_argv(r->call, command, al_json_get(r->call->args, "args"), err);
    return argv ? run_child(r, argv, err) : -1;
}

static int begin_shell(struct run *r, struct al_err *err)
{
    struct al_str command = al_json_get_text(r->call->args, "command");
    if (memchr(command.p, 0, command.n))
        return al_fail(err, AL_TOOL_INPUT_INVALID, "/command: holds a NUL character");
    if (open_cwd(r, err) < 0 || find_program(r, AL_STR("/bin/sh"), err) < 0)
        return -1;
    r->named = "the command";
    char *line = al_arena_dup(&r->call->arena, command);
    if (!line)
        return al_fail(err, AL_TOOL_INPUT_INVALID, "/command: is too large");
    char sh[] = "sh", c[] = "-c", end[] = "--";
    char *argv[] = {sh, c, end, line, NULL};
    return run_child(r, argv, err);
}

static void start(struct al_call *call, int (*begin)(struct run *r, struct al_err *err))
{
    struct run *r = al_xcalloc(1, sizeof(*r));
    *r = (struct run){.call = call, .cwd_fd = -1};
    call->impl = r;
    if (begin(r, &call->err) < 0)
        result_done(r);
}

static void start_process(struct al_call *call)
{
    start(call, begin_process);
}

static void start_shell(struct al_call *call)
{
    start(call, begin_shell);
}

#define COMMON_INPUT                                                                                         \
    "\"timeoutMs\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":120000,\"description\":\"Then it is "     \
    "ended. "                                                                                                \
    "Default 30000.\"},\"cwd\":{\"type\":\"string\",\"maxLength\":4096,\"description\":\"Folder to run in; " \
    "default "                                                                                               \
    "the workspace\"},\"stdin\":{\"type\":\"string\",\"description\":\"Its standard input; default "         \
    "nothing\"}"

#define OUTPUT                                                                                               \
    "{\"type\":\"object\",\"properties\":{\"stdout\":{\"type\":\"string\"},\"stderr\":{\"type\":\"string\"}" \
    ","                                                                                                      \
    "\"exitCode\":{\"type\":[\"integer\",\"null\"],\"description\":\"null when a signal ended "              \
    "it\"},\"signal\":{\"type\":[\"string\",\"null\"]},\"timedOut\":{\"type\":\"boolean\"},\"truncated\":{"  \
    "\"type\":"                                                                                              \
    "\"boolean\"},\"durationMs\":{\"type\":\"integer\"}}}"

const struct al_tool al_tool_run_process = {
    .name = "run_process",
    .title = "Run a program",
    .description = "Runs one program with its arguments, without a shell: no quoting, no pipes, no globs. "
                   "Waits for its end, at "
                   "most timeoutMs; then, or when the call is cancelled, all that it started is ended too, "
                   "and nothing stays in "
                   "the background. A non-zero exit code is a normal result. The text shows head and tail of "
                   "the output (32,000 "
                   "characters); the structured value {stdout, stderr, exitCode, signal, timedOut, "
                   "truncated, durationMs} keeps "
                   "up to 8 MiB. The program gets a small environment (PATH, HOME, LANG, …), no terminal, "
                   "and no input unless "
                   "stdin is given.",
    .brief =
        "Runs one program with its arguments, without a shell, and waits for its end; nothing "
        "stays in the background. A non-zero exit code is a result. In scripts: {stdout, "
        "stderr, exitCode, timedOut}.",
    .input_schema =
        "{\"type\":\"object\",\"required\":[\"command\"],\"properties\":{\"command\":{\"type\":\"string\","
        "\"minLength\":1,\"maxLength\":4095,\"description\":\"Program: a name in PATH, or a path\"},\"args\":"
        "{\"type\":\"array\",\"maxItems\":4096,\"items\":{\"type\":\"string\"},\"description\":\"Its "
        "arguments, each as it is\"}," COMMON_INPUT "},\"additionalProperties\":false}",
    .output_schema = OUTPUT,
    .effect = AL_EFFECT_PROCESS,
    .expose = "process",
    .destructive = true,
    .open_world = true,
    .start = start_process,
    .cancel = run_cancel,
};

const struct al_tool al_tool_shell = {
    .name = "shell",
    .title = "Run a shell command",
    .description =
        "Runs a command line with sh -c in the workspace: pipes, redirections, several commands. Waits for "
        "its end, at "
        "most timeoutMs; then, or when the call is cancelled, all that it started is ended too, background "
        "jobs "
        "included. A non-zero exit code is a normal result. The text shows head and tail of the output "
        "(32,000 "
        "characters); the structured value {stdout, stderr, exitCode, signal, timedOut, truncated, "
        "durationMs} keeps "
        "up to 8 MiB. For one program with arguments that hold quotes or spaces, run_process is safer.",
    .brief =
        "Runs a command line with sh -c, else as run_process does: pipes, redirections, "
        "several commands.",
    .input_schema =
        "{\"type\":\"object\",\"required\":[\"command\"],\"properties\":{\"command\":{\"type\":\"string\","
        "\"minLength\":1,\"maxLength\":100000,\"description\":\"Command line for sh\"}," COMMON_INPUT
        "},\"additionalProperties\":false}",
    .output_schema = OUTPUT,
    .effect = AL_EFFECT_PROCESS,
    .expose = "process",
    .destructive = true,
    .open_world = true,
    .start = start_shell,
    .cancel = run_cancel,
};
