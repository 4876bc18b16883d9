/* search_text. */
#include "tools/tools_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"
#include "tools/search_int.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#define MATCHES_DEFAULT 1000
#define MATCHES_MAX 10000
#define OUTPUT_MAX (32u << 20)
#define ONE_FILE_MAX (32u << 20)
#define TEXT_LINE_CHARS 500
#define LEAD_BYTES 100 /* shown before a hit that lies far into a long line */

struct search {
    struct al_call *call;
    struct al_place place;
    int dir_fd;
    char *left_out; /* of that folder, see al_workspace_left_out; owned */
    struct al_globs *globs;
    struct al_buf input; /* the one file to search, when path names a file */
    bool one_file;
    struct al_child *child;
    struct al_buf out, err;
    int exit_status;
    bool out_truncated, timed_out;
    bool small_only;   /* the second attempt: large files are left out */
    bool memory_ended; /* rg ended for want of memory, in that attempt */
    uint64_t spent_ms; /* by the first attempt */
    size_t max_matches;
};

struct hit {
    struct al_rg_match m;
    char *path; /* relative to the folder searched; owned */
    size_t n_path;
    size_t order;
};

static void search_free(struct search *s)
{
    s->call->impl = NULL;
    al_close(&s->dir_fd);
    al_globs_free(s->globs);
    free(s->left_out);
    al_buf_free(&s->input);
    al_buf_free(&s->out);
    al_buf_free(&s->err);
    free(s);
}

static void search_cancel(struct al_call *call)
{
    struct search *s = call->impl;
    if (s && s->child)
        al_child_cancel(s->child);
}

/* --- the result --- */

static int by_path_and_order(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    int r = al_str_cmp((struct al_str){x->path, x->n_path}, (struct al_str){y->path, y->n_path});
    return r ? r : x->order < y->order ? -1 : x->order > y->order;
}

static bool has_hidden_part(const char *path)
{
    for (const char *p = path; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (p[0] == '.')
            return true;
    }
    return false;
}

/* May this file be shown? Its name decides, and where it really is: rg opened it by name, not by descriptor.
 */
static bool file_is_shown(const struct search *s, struct al_arena *a, const char *path, bool exact)
{
    struct al_workspace *w = al_core_workspace(s->call->core);
    bool hidden = al_json_is_true(al_json_get(s->call->args, "hidden")) || s->place.kind == AL_PLACE_SCRATCH;
    if (s->globs && (!al_globs_match(s->globs, al_str_of(path)) || (!hidden && has_hidden_part(path))))
        return false;
    if (al_tool_is_left_out(s->left_out, al_str_of(path)))
        return false;
    struct al_place place = s->place;
    place.rel = strcmp(place.rel, ".") == 0 ? path : al_arena_printf(a, "%s/%s", place.rel, path);
    if (!place.rel || al_workspace_is_secret(w, place.rel))
        return false;
    if (!exact) /* the name is not UTF-8, and what we have of it opens nothing */
        return true;
    autofd int fd = -1;
    struct al_err unused;
    place.shown = path;
    return al_path_open(s->dir_fd, path, O_PATH | O_NOFOLLOW, 0, path, &fd, &unused) == 0 &&
           al_workspace_check_fd(w, &place, fd, AL_WANT_READ, &unused) == 0;
}

/* Collects the records; the same path comes many times in a row, so the last answer is kept. */
static struct hit *collect(struct search *s, size_t *ret_n)
{
    struct hit *hits = NULL;
    size_t n = 0, cap = 0;
    struct al_str rest = al_buf_str(&s->out);
    struct al_rg_match m;
    autobuf struct al_buf path = AL_BUF_INIT(8192), last = AL_BUF_INIT(8192);
    bool last_shown = false;
    autoarena struct al_arena arena = AL_ARENA_INIT(64u << 20);
    while (al_rg_next(&rest, &m) && !atomic_load(&s->call->cancelled)) {
        al_buf_clear(&path);
        al_rg_text(m.path, m.path_base64, 0, 4200, &path);
        if (al_str_starts(al_buf_str(&path), "./"))
            al_buf_drop(&path, 2);
        if (!s->one_file && (last.n == 0 || !al_str_eq(al_buf_str(&path), al_buf_str(&last)))) {
            al_buf_clear(&last);
            al_buf_add_str(&last, al_buf_str(&path));
            autofree char *z = al_xdup(path.p, path.n);
            last_shown = file_is_shown(s, &arena, z, !m.path_base64);
        }
        if (!s->one_file && !last_shown)
            continue;
        if (n == cap) {
            cap = cap ? cap * 2 : 256;
            hits = al_xrealloc(hits, cap * sizeof(*hits));
        }
        hits[n] = (struct hit){m, al_xdup(path.p, path.n), path.n, n};
        n++;
    }
    if (n > 0 && !s->one_file)
        qsort(hits, n, sizeof(*hits), by_path_and_order);
    *ret_n = n;
    return hits;
}

/* The line around the hit: from its start, or, when the hit is far into a very long line, from a little
 * before it. */
static void hit_line(const struct al_rg_match *m, size_t max, struct al_buf *out)
{
    uint64_t from =
        m->start + LEAD_BYTES < max ? 0 : m->start - (m->start < LEAD_BYTES ? m->start : LEAD_BYTES);
    if (from > 0)
        al_buf_adds(out, "…");
    al_rg_text(m->line, m->line_base64, from, max, out);
    while (out->n > 0 && (out->p[out->n - 1] == '\n' || out->p[out->n - 1] == '\r'))
        out->n--;
}

static void write_hit(const struct hit *h, struct al_jw *w, struct al_str shown)
{
    autobuf struct al_buf line = AL_BUF_INIT(AL_RG_LINE_MAX * 4);
    hit_line(&h->m, AL_RG_LINE_MAX, &line);
    al_jw_obj(w);
    al_jw_kstr(w, "path", shown);
    al_jw_key(w, "line");
    if (h->m.line_number > 0)
        al_jw_int(w, (int64_t)h->m.line_number);
    else
        al_jw_null(w);
    al_jw_kint(w, "column", (int64_t)al_rg_column(h->m.line, h->m.line_base64, h->m.start));
    al_jw_kstr(w, "text", al_buf_str(&line));
    al_jw_end(w);
}

static void text_hit(struct al_buf *out, const struct hit *h)
{
    autobuf struct al_buf line = AL_BUF_INIT(AL_RG_LINE_MAX * 4);
    hit_line(&h->m, TEXT_LINE_CHARS * 2, &line);
    al_buf_addf(out, "%6llu: ", (unsigned long long)h->m.line_number);
    struct al_str head = al_utf8_head(al_buf_str(&line), TEXT_LINE_CHARS);
    al_buf_add_str(out, head);
    al_buf_adds(out, head.n < line.n ? "…\n" : "\n");
}

struct shown {
    struct al_buf path; /* of the file being written */
    size_t matches, files, in_text;
    bool text_full;
};

/* One more match into both forms. False when the structured value is full. */
static bool add_hit(struct search *s, const struct hit *h, const struct hit *before, struct al_jw *w,
                    struct shown *v)
{
    struct al_call *call = s->call;
    if (call->structured.n + AL_RG_LINE_MAX * 6 + AL_TOOL_JSON_SLACK > AL_CALL_MAX_RESULT)
        return false;
    bool new_file = !before || h->n_path != before->n_path || memcmp(h->path, before->path, h->n_path) != 0;
    if (new_file) {
        al_buf_clear(&v->path);
        if (s->one_file) {
            al_buf_adds(&v->path, s->place.path);
        } else {
            al_tool_place_prefix(&s->place, (struct al_str){h->path, h->n_path}, &v->path);
            al_buf_add(&v->path, h->path, h->n_path);
        }
        v->files++;
    }
    write_hit(h, w, al_buf_str(&v->path));
    v->matches++;
    v->text_full = v->text_full || call->text.n > AL_TOOL_TEXT_CHARS - TEXT_LINE_CHARS - 100;
    if (!v->text_full) {
        if (new_file) {
            al_text_visible(&call->text, al_buf_str(&v->path), false);
            al_buf_addc(&call->text, '\n');
        }
        text_hit(&call->text, h);
        v->in_text++;
    }
    return true;
}

static void text_left_out(struct search *s)
{
    if (s->small_only)
        al_buf_addf(&s->call->text,
                    "[files over %d MiB were left out: a line of one of them is too long, or matches too "
                    "often, to be "
                    "searched]\n",
                    AL_RG_SMALL_MIB);
    if (s->memory_ended)
        al_buf_adds(&s->call->text, "[the search ended early: a line is too long, or matches too often]\n");
}

static void write_result(struct search *s)
{
    struct al_call *call = s->call;
    size_t n = 0, i = 0;
    struct hit *hits = collect(s, &n);
    struct shown v = {.path = AL_BUF_INIT(16384)};
    struct al_jw w;
    al_jw_init(&w, &call->structured);
    al_jw_obj(&w);
    al_jw_key(&w, "matches");
    al_jw_arr(&w);
    while (i < n && i < s->max_matches && !atomic_load(&call->cancelled) &&
           add_hit(s, &hits[i], i > 0 ? &hits[i - 1] : NULL, &w, &v))
        i++;
    al_jw_end(&w);
    bool more = i < n || s->out_truncated || s->timed_out;
    al_jw_kint(&w, "files", (int64_t)v.files);
    al_jw_kbool(&w, "truncated", more || s->small_only || s->memory_ended);
    al_jw_end(&w);
    if (v.matches == 0)
        al_buf_adds(&call->text,
                    s->out_truncated ? "[nothing could be read: too much output]\n" : "[no match]\n");
    else
        al_buf_addf(&call->text, "[%zu match%s in %zu file%s", v.matches, v.matches == 1 ? "" : "es", v.files,
                    v.files == 1 ? "" : "s");
    if (v.matches > 0 && v.in_text < v.matches)
        al_buf_addf(&call->text, ", %zu shown here", v.in_text);
    if (v.matches > 0)
        al_buf_adds(&call->text, more ? "; there are more: narrow it with path, glob or pattern]\n" : "]\n");
    text_left_out(s);
    for (size_t k = 0; k < n; k++)
        free(hits[k].path);
    free(hits);
    al_buf_free(&v.path);
}

/* rg's own words about a bad pattern, on one line, without its program name. */
static int fail_pattern(struct search *s)
{
    autobuf struct al_buf msg = AL_BUF_INIT(4096);
    struct al_str rest = al_buf_str(&s->err), line;
    while (al_tool_next_line(&rest, &line) && msg.n < 600) {
        line = al_str_trim(line);
        if (line.n == 0)
            continue;
        if (msg.n > 0)
            al_buf_adds(&msg, " | ");
        al_text_visible(&msg, al_utf8_head(line, 300), false);
    }
    al_fail(&s->call->err, AL_TOOL_INPUT_INVALID, "pattern: %.*s", AL_FMT(al_buf_str(&msg)));
    return al_hint(&s->call->err,
                   "it is a regular expression of ripgrep (Rust); literal: true searches for it as it is");
}

static void search_work(void *ud)
{
    struct search *s = ud;
    struct al_call *call = s->call;
    if (s->exit_status == 2 && s->out.n == 0)
        fail_pattern(s);
    else if (s->exit_status > 2)
        al_tool_rg_fail(s->exit_status, al_buf_str(&s->err), &call->err);
    else
        write_result(s);
    if (s->timed_out) {
        al_fail(&call->err, AL_TOOL_TIMEOUT, "the search took over %d s", AL_RG_TIMEOUT_MS / 1000);
        al_hint(&call->err, "narrow it with path or glob");
    }
}

/* Freed in the loop's thread, where a cancel may look at it until now. */
static void search_end(void *ud)
{
    struct search *s = ud;
    struct al_call *call = s->call;
    search_free(s);
    al_call_finish(call);
}

/* --- starting --- */

static void search_fail(struct search *s, const struct al_err *err)
{
    struct al_call *call = s->call;
    call->err = *err;
    search_free(s);
    al_call_finish(call);
}

static int start_rg(struct search *s, struct al_err *err);

/* Without the large files the search goes through, and says so. False when that cannot be, either. */
static bool search_small_only(struct search *s, const struct al_child_end *end, struct al_err *err)
{
    s->memory_ended = true;
    if (s->small_only || s->one_file || end->duration_ms >= AL_RG_TIMEOUT_MS)
        return false;
    s->small_only = true;
    s->memory_ended = false;
    s->spent_ms = end->duration_ms;
    return start_rg(s, err) == 0;
}

static void search_done(void *ud, const struct al_child_end *end)
{
    struct search *s = ud;
    s->child = NULL;
    struct al_err err = {0};
    /* What Rust does when it gets no memory. */
    bool no_memory = end->signal == SIGABRT && !end->cancelled && !end->timed_out;
    if (no_memory && search_small_only(s, end, &err))
        return;
    if (end->cancelled)
        al_fail(&err, AL_CANCELLED, "the search was cancelled");
    else if (end->exec_errno > 0)
        al_fail_errno(&err, AL_RUNTIME_UNAVAILABLE, end->exec_errno, "rg does not start");
    else if (end->signal && !end->timed_out && !no_memory)
        al_fail(&err, AL_TOOL_ERROR, "rg was killed by signal %d", end->signal);
    if (err.code != AL_OK) {
        search_fail(s, &err);
        return;
    }
    s->out = *end->out;
    al_buf_init(end->out, end->out->max);
    s->err = *end->err;
    al_buf_init(end->err, end->err->max);
    s->exit_status = end->exit_status;
    s->out_truncated = end->out_truncated;
    s->timed_out = end->timed_out;
    al_work_start(al_core_loop(s->call->core), search_work, search_end, s);
}

struct args {
    const char *argv[48];
    size_t n;
};

static void arg(struct args *a, const char *z)
{
    a->argv[a->n++] = z;
}

/* Names that are secret by default are not even read, unless the user's patterns lifted them. */
static void exclude_secrets(const struct search *s, struct args *a)
{
    static const char *const names[][2] = {
        {"a.pem", "--glob=!*.pem"},   {"a.key", "--glob=!*.key"},
        {"a.kdbx", "--glob=!*.kdbx"}, {".npmrc", "--glob=!.npmrc"},
        {".netrc", "--glob=!.netrc"}, {".pypirc", "--glob=!.pypirc"},
        {".env", "--glob=!.env"},     {".git-credentials", "--glob=!.git-credentials"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (al_workspace_is_secret(al_core_workspace(s->call->core), names[i][0]))
            arg(a, names[i][1]);
    }
}

/* A --glob of rg would override .gitignore; its file types do not. So the last name of the glob becomes a
 * type, and the whole glob is held against each result. */
static const char *glob_type(struct search *s, struct al_str glob)
{
    const char *slash = glob.n > 0 ? memrchr(glob.p, '/', glob.n) : NULL;
    struct al_str name = slash ? (struct al_str){slash + 1, glob.n - (size_t)(slash + 1 - glob.p)} : glob;
    bool odd = name.n == 0 || al_str_is(name, "**") || memchr(name.p, '}', name.n) ||
               memchr(name.p, '{', name.n) || memchr(name.p, '\\', name.n) || memchr(name.p, '[', name.n) ||
               memchr(name.p, ':', name.n);
    if (odd)
        return NULL;
    return al_arena_printf(&s->call->arena, "--type-add=wanted:%.*s", AL_FMT(name));
}

static void build_args(struct search *s, struct args *a)
{
    struct al_call *call = s->call;
    struct al_str pattern = al_json_get_text(call->args, "pattern");
    arg(a, "rg");
    arg(a, "--no-config");
    arg(a, "--json");
    arg(a, "--no-messages");
    arg(a, "--no-require-git");
    arg(a, "--no-mmap");
    arg(a, s->small_only ? "--threads=1" : "--threads=4");
    arg(a, "--dfa-size-limit=16M");
    arg(a, "--regex-size-limit=32M");
    if (s->small_only)
        arg(a, al_arena_printf(&call->arena, "--max-filesize=%dM", AL_RG_SMALL_MIB));
    arg(a, al_json_is_true(al_json_get(call->args, "ignoreCase")) ? "--ignore-case" : "--case-sensitive");
    if (al_json_is_true(al_json_get(call->args, "literal")))
        arg(a, "--fixed-strings");
    arg(a, al_arena_printf(&call->arena, "--max-count=%zu", s->max_matches));
    if (!s->one_file) {
        bool scratch = s->place.kind == AL_PLACE_SCRATCH;
        if (scratch)
            arg(a, "--no-ignore");
        if (scratch || al_json_is_true(al_json_get(call->args, "hidden")))
            arg(a, "--hidden");
        arg(a, "--glob=!.git");
        arg(a, "--glob=!node_modules");
        arg(a, "--glob=!.alisio-tmp-*");
        exclude_secrets(s, a);
        const char *left_out = al_tool_left_out_glob(s->left_out, &call->arena);
        if (left_out)
            arg(a, left_out);
        const char *type = glob_type(s, al_json_get_text(call->args, "glob"));
        if (type) {
            arg(a, type);
            arg(a, "--type=wanted");
        }
    }
    arg(a, "--regexp");
    arg(a, al_arena_dup(&call->arena, pattern));
    arg(a, "--");
    arg(a, s->one_file ? "-" : "./");
    arg(a, NULL);
}

/* A file is read by us, through its checked descriptor, and searched as standard input. */
static int open_target(struct search *s, struct al_str path, struct al_err *err)
{
    struct al_call *call = s->call;
    if (al_tool_place(call, path, AL_WANT_READ, &s->place, err) < 0)
        return -1;
    autofd int look = -1, fd = -1;
    struct stat st;
    if (al_path_open(s->place.dir_fd, s->place.rel, O_PATH, 0, s->place.shown, &look, err) < 0)
        return -1;
    if (fstat(look, &st) == 0 && S_ISDIR(st.st_mode)) {
        if (al_tool_open_folder(call, &s->place, &s->dir_fd, err) < 0)
            return -1;
        s->left_out = al_workspace_left_out(al_core_workspace(call->core), s->dir_fd);
        return 0;
    }
    if (al_tool_open_file(call, &s->place, &fd, &st, err) < 0)
        return -1;
    s->one_file = true;
    int r = al_fd_read_all(fd, &s->input);
    if (r == -EFBIG)
        return al_fail(err, AL_TOOL_ERROR, "%s: is over %u MiB; search its folder with a glob instead",
                       s->place.shown, ONE_FILE_MAX >> 20);
    return r < 0 ? al_fail_errno(err, AL_TOOL_ERROR, -r, "%s: cannot be read", s->place.shown) : 0;
}

static int search_begin(struct search *s, struct al_err *err)
{
    struct al_call *call = s->call;
    struct al_str path = al_json_get_text(call->args, "path"), glob = al_json_get_text(call->args, "glob");
    struct al_str pattern = al_json_get_text(call->args, "pattern");
    if (memchr(pattern.p, 0, pattern.n))
        return al_fail(err, AL_TOOL_INPUT_INVALID, "pattern: holds a NUL character");
    if (glob.n > 0 && al_globs_new(glob, &s->globs, err) < 0)
        return -1;
    if (path.n == 0 || al_str_is(path, "scratch:"))
        path = path.n == 0 ? AL_STR(".") : AL_STR("scratch:.");
    return open_target(s, path, err) < 0 ? -1 : start_rg(s, err);
}

static int start_rg(struct search *s, struct al_err *err)
{
    struct al_call *call = s->call;
    const char *rg = al_tool_program(call, "rg", "apt install ripgrep (or your system's package of it)", err);
    if (!rg)
        return -1;
    struct args a = {.n = 0};
    build_args(s, &a);
    struct al_child_spec spec = {
        .program = rg,
        .argv = (char *const *)a.argv,
        .cwd_fd = s->one_file ? -1 : s->dir_fd,
        .input = al_buf_str(&s->input),
        .seal = AL_CHILD_SEAL_SEARCH,
        .max_data = AL_RG_MEMORY,
        .max_output = OUTPUT_MAX,
        .timeout_ms = AL_RG_TIMEOUT_MS - s->spent_ms,
    };
    s->child = al_child_start(al_core_loop(call->core), &spec, search_done, s, err);
    return s->child ? 0 : -1;
}

static void search_start(struct al_call *call)
{
    struct search *s = al_xcalloc(1, sizeof(*s));
    *s = (struct search){.call = call, .dir_fd = -1, .max_matches = MATCHES_DEFAULT};
    al_buf_init(&s->input, ONE_FILE_MAX);
    int64_t max;
    if (al_json_int(al_json_get(call->args, "maxMatches"), 1, MATCHES_MAX, &max))
        s->max_matches = (size_t)max;
    call->impl = s;
    struct al_err err = {0};
    if (search_begin(s, &err) < 0)
        search_fail(s, &err);
}

const struct al_tool al_tool_search_text = {
    .name = "search_text",
    .title = "Search in files",
    .description = "Searches files for a regular expression (ripgrep's, Rust syntax; literal: true takes the "
                   "pattern as plain "
                   "text), case-sensitive unless ignoreCase is true. Leaves out what .gitignore names, .git, "
                   "node_modules, "
                   "hidden files unless hidden is true, binary files, and always files that may hold "
                   "secrets. The text groups "
                   "numbered lines by file, up to 28,000 characters; the structured value {matches: [{path, "
                   "line, column, text}], "
                   "files, truncated} holds up to maxMatches, in path order. line and column count from 1; "
                   "files counts files "
                   "with a match. `scratch:` searches the scratchpad.",
    .brief =
        "Searches files for a regular expression (Rust syntax), case-sensitive, without what "
        ".gitignore names. In scripts: {matches: [{path, line, column, text}], files, "
        "truncated}.",
    .input_schema =
        "{\"type\":\"object\",\"required\":[\"pattern\"],\"properties\":{\"pattern\":{\"type\":\"string\","
        "\"minLength\":"
        "1,\"maxLength\":4096,\"description\":\"What to find; one "
        "line\"},\"path\":{\"type\":\"string\",\"maxLength\":"
        "4096,\"description\":\"Folder or file; default the "
        "workspace\"},\"glob\":{\"type\":\"string\",\"minLength\":1,"
        "\"maxLength\":1024,\"description\":\"Only in matching files, relative to path: *.c, "
        "src/**/*.{ts,tsx}\"},"
        "\"literal\":{\"type\":\"boolean\",\"description\":\"The pattern is plain "
        "text\"},\"ignoreCase\":{\"type\":"
        "\"boolean\",\"description\":\"Upper and lower case are the same\"},\"hidden\":{\"type\":\"boolean\","
        "\"description\":\"Also files whose name or folder starts with a "
        "dot\"},\"maxMatches\":{\"type\":\"integer\","
        "\"minimum\":1,\"maximum\":10000,\"description\":\"At most so many matching lines. Default 1000.\"}},"
        "\"additionalProperties\":false}",
    .output_schema =
        "{\"type\":\"object\",\"properties\":{\"matches\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
        "\"properties\":{\"path\":{\"type\":\"string\"},\"line\":{\"type\":[\"integer\",\"null\"]},"
        "\"column\":{\"type\":"
        "\"integer\"},\"text\":{\"type\":\"string\",\"description\":\"the line; at most 16 KiB of "
        "it\"}}}},\"files\":{"
        "\"type\":\"integer\"},\"truncated\":{\"type\":\"boolean\"}}}",
    .effect = AL_EFFECT_READ,
    .expose = "files",
    .idempotent = true,
    .start = search_start,
    .cancel = search_cancel,
};
