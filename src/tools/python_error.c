/* Why a script failed, in one line, and what to do about it: from its exit and the end of its traceback. */
#include "tools/python_int.h"

#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_CHARS 400u

/* --- reading the traceback --- */

static struct al_str name_of(struct al_str line)
{
    size_t n = 0;
    while (n < line.n) {
        unsigned char c = (unsigned char)line.p[n];
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '.' ||
                     c >= 0x80;
        if (!plain)
            break;
        n++;
    }
    bool ends = n == line.n || line.p[n] == ':';
    return (struct al_str){line.p, ends ? n : 0};
}

/* 'File "/job/script/main.py", line 12' */
static int line_of_main(struct al_str line)
{
    static const char before[] = "main.py\", line ";
    ptrdiff_t at = al_str_find(line, AL_STR(before));
    int n = 0;
    if (at < 0)
        return 0;
    for (size_t i = (size_t)at + strlen(before);
         i < line.n && line.p[i] >= '0' && line.p[i] <= '9' && n < 1000000; i++)
        n = 10 * n + (line.p[i] - '0');
    return n;
}

/* A group of exceptions is framed: what belongs to the group itself stands behind the outermost bar. */
static struct al_str without_frame(struct al_str line)
{
    static const char head[] = "  + Exception Group ", bar[] = "  | ";
    size_t n = al_str_starts(line, head) ? strlen(head) : al_str_starts(line, bar) ? strlen(bar) : 0;
    return (struct al_str){line.p + n, line.n - n};
}

/* The last traceback: its last line that names main.py, and the first line after it that is not indented. A
 * SyntaxError has no head, only the "File" line. */
struct python_failure python_read_traceback(struct al_str text)
{
    struct python_failure f = {0};
    struct al_str rest = text, line;
    bool within = false;
    int at = 0;
    while (al_tool_next_line(&rest, &line)) {
        line = without_frame(line);
        if (al_str_starts(line, "Traceback (most recent call last)")) {
            within = true;
            at = 0;
        } else if (al_str_starts(line, "  File \"") || (within && al_str_starts(line, " "))) {
            int n = line_of_main(line);
            at = n ? n : at;
            within = true;
        } else if (within && line.n && line.p[0] != ' ') {
            struct al_str name = name_of(line);
            if (name.n)
                f = (struct python_failure){line, name, at};
            within = false;
        }
    }
    return f;
}

/* --- hints --- */

static bool says(const struct python_failure *f, const char *text)
{
    return al_str_find(f->line, al_str_of(text)) >= 0;
}

/* Between the first two of that quote; empty: there is no such thing. */
static struct al_str quoted(struct al_str s)
{
    const char *open = memchr(s.p, '\'', s.n);
    if (!open)
        return (struct al_str){"", 0};
    size_t from = (size_t)(open - s.p) + 1;
    const char *close = memchr(s.p + from, '\'', s.n - from);
    return close ? (struct al_str){s.p + from, (size_t)(close - s.p) - from} : (struct al_str){"", 0};
}

static const char *extras_with(struct al_str module)
{
    static const char *const analysis[] = {"pandas", "numpy",     "matplotlib", "openpyxl",
                                           "docx",   "reportlab", "plotly",     "jinja2"};
    static const char *const science[] = {"scipy", "statsmodels", "sklearn"};
    const char *dot = memchr(module.p, '.', module.n);
    if (dot)
        module.n = (size_t)(dot - module.p);
    for (size_t i = 0; i < sizeof(analysis) / sizeof(*analysis); i++) {
        if (al_str_is(module, analysis[i]))
            return "analysis";
    }
    for (size_t i = 0; i < sizeof(science) / sizeof(*science); i++) {
        if (al_str_is(module, science[i]))
            return "science";
    }
    return NULL;
}

static void module_hint(struct python_run *r, const struct python_failure *f)
{
    struct al_str module = quoted(f->line);
    const char *set = extras_with(module);
    if (r->backend == AL_PY_OCI)
        al_hint(&r->err, "in a container there is what its image has: do without, or choose another "
                         "analysis.oci.image");
    else if (set && r->backend != AL_PY_WASM)
        al_hint(&r->err,
                "pass extras: [\"%s\"] (installed once by `alisio analysis setup --extras %s`), or do "
                "without: the standard library, sqlite3 and alisio_runtime are always there",
                set, set);
    else
        al_hint(&r->err,
                "there are the standard library, alisio_runtime and what extras install (pandas, numpy, "
                "matplotlib, scipy, …): do without this module");
}

static bool in_workspace(struct python_run *r, struct al_str name)
{
    struct al_place place;
    struct al_err ignored;
    autofd int fd = -1;
    if (!name.n || name.n > 1024)
        return false;
    const struct al_workspace *w = al_core_workspace(r->core);
    return al_workspace_resolve(w, name, AL_WANT_READ, false, &r->arena, &place, &ignored) == 0 &&
           place.kind != AL_PLACE_SCRATCH &&
           al_path_open(place.dir_fd, place.rel, O_PATH, 0, place.shown, &fd, &ignored) == 0;
}

static bool among_inputs(const struct python_run *r, struct al_str name)
{
    const char *slash = memrchr(name.p, '/', name.n);
    if (slash)
        name = (struct al_str){slash + 1, name.n - (size_t)(slash + 1 - name.p)};
    for (size_t i = 0; i < r->n_inputs; i++) {
        if (al_str_is(name, r->inputs[i].copy.name))
            return true;
    }
    return false;
}

static void file_hint(struct python_run *r, const struct python_failure *f)
{
    struct al_str name = quoted(f->line);
    autobuf struct al_buf shown = AL_BUF_INIT(4096);
    al_text_visible(&shown, al_utf8_head(name, 100), false);
    al_buf_addc(&shown, '\0');
    if (al_str_starts(name, "/job/input/"))
        al_hint(&r->err, "no input has that name; the inputs are listed by alisio_runtime.datasets.inputs()");
    else if (among_inputs(r, name))
        al_hint(&r->err, "inputs are in their own folder: open(alisio_runtime.input_dir() / \"name\")");
    else if (in_workspace(r, name))
        al_hint(&r->err,
                "a script does not see the workspace: pass inputs: [{\"path\": \"%s\"}] and open it beneath "
                "alisio_runtime.input_dir()",
                shown.p);
    else
        al_hint(&r->err, "a script has its inputs (alisio_runtime.input_dir()), a work folder and the output "
                         "folder (output_dir()): pass files of the workspace as inputs");
}

static bool about_network(const struct python_failure *f)
{
    static const char *const signs[] = {"gaierror",
                                        "URLError",
                                        "Network is unreachable",
                                        "Temporary failure in name resolution",
                                        "Name or service not known",
                                        "Max retries exceeded",
                                        "ConnectionRefusedError",
                                        "Address family not supported"};
    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
        if (says(f, signs[i]))
            return true;
    }
    return false;
}

static void default_hint(struct python_run *r, const struct python_failure *f)
{
    if (f->at)
        al_hint(&r->err, "mend line %d of the script, and run it again", f->at);
    else if (f->line.n)
        al_hint(&r->err, "mend the script, and run it again");
    else
        al_hint(&r->err, "the script ended itself; what it said is in stdout and stderr");
}

static void limit_hint(struct python_run *r, const char *advice, enum al_opt key)
{
    al_hint(&r->err, "%s, or raise %s (now %lld)", advice, al_opt_name(key),
            (long long)al_config_int(al_core_config(r->core), key));
}

static bool is_limit(struct python_run *r, const struct python_failure *f)
{
    if (al_str_is(f->name, "MemoryError"))
        limit_hint(r, "read and keep less at once", AL_OPT_ANALYSIS_LIMITS_MEMORY_MB);
    else if (says(f, "[Errno 27]") || says(f, "[Errno 28]") || says(f, "disk is full"))
        limit_hint(r, "write less", AL_OPT_ANALYSIS_LIMITS_MAX_WORK_BYTES);
    else if (says(f, "can't start new thread") || says(f, "[Errno 11]"))
        limit_hint(r, "start fewer processes and threads", AL_OPT_ANALYSIS_LIMITS_PROCESSES);
    else
        return false;
    return true;
}

static void hint(struct python_run *r, const struct python_failure *f)
{
    bool closed = r->backend != AL_PY_MANAGED;
    if (is_limit(r, f))
        return;
    if (al_str_is(f->name, "ModuleNotFoundError"))
        module_hint(r, f);
    else if (al_str_is(f->name, "FileNotFoundError"))
        file_hint(r, f);
    else if (closed && about_network(f))
        al_hint(&r->err,
                "there is no network here: get the data first (webfetch, a tool of a server), and pass it "
                "as inputs");
    else if (closed && al_str_is(f->name, "PermissionError") && !says(f, "'/job/"))
        file_hint(r, f);
    else if (al_str_is(f->name, "EOFError") && says(f, "EOF when reading a line"))
        al_hint(&r->err, "a script has no standard input: put the values into it, or pass a file as inputs");
    else if (says(f, "no such table"))
        al_hint(&r->err,
                "alisio_runtime.datasets.tables(\"name\") lists the tables of a dataset; a sheet alone is "
                "\"data\"");
    else if (says(f, "alisio_runtime") &&
             (al_str_is(f->name, "ImportError") || al_str_is(f->name, "AttributeError")))
        al_hint(&r->err,
                "alisio_runtime has output_dir, input_dir, work_dir, html, svg, charts, outputs, datasets "
                "and progress");
    else
        default_hint(r, f);
}

void python_explain(struct python_run *r)
{
    struct python_failure f = python_read_traceback(al_buf_str(&r->errors));
    autobuf struct al_buf line = AL_BUF_INIT(16 * MESSAGE_CHARS);
    struct al_str head = al_utf8_head(f.line, MESSAGE_CHARS);
    al_text_visible(&line, head, false);
    al_buf_adds(&line, head.n < f.line.n ? "…" : "");
    if (r->exit_code < 0) {
        const char *name = sigabbrev_np(r->signal);
        al_fail(&r->err, AL_PYTHON_FAILED, "the script was ended by SIG%s", name ? name : "?");
        al_hint(&r->err, "%s",
                r->signal == SIGSEGV || r->signal == SIGABRT
                    ? "a library crashed, or memory ran out (analysis.limits.memoryMb)"
                    : "it ended itself, or the system did");
        return;
    }
    if (!line.n)
        al_fail(&r->err, AL_PYTHON_FAILED, "the script ended with exit code %d", r->exit_code);
    else if (f.at)
        al_fail(&r->err, AL_PYTHON_FAILED, "%.*s (main.py, line %d)", AL_FMT(al_buf_str(&line)), f.at);
    else
        al_fail(&r->err, AL_PYTHON_FAILED, "%.*s", AL_FMT(al_buf_str(&line)));
    hint(r, &f);
    /* Where memory has a limit of ours, that is what the script met. */
    if (al_str_is(f.name, "MemoryError") && r->memory != AL_PY_KEPT_NOT)
        r->err.code = AL_MEMORY_LIMIT;
}
