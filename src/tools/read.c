/* read_file and read_files. */
#include "tools/tools_int.h"

#include "base/text.h"
#include "os/fd.h"

#define MAX_FILES 200
#define MAX_LIMIT 1000000
#define LINE_CHARS 2000 /* of one line in the text for a model */

struct read_opts {
    uint64_t start_line, limit; /* limit 0: to the end */
};

static struct read_opts read_opts(const struct al_json *args)
{
    int64_t start = 1, limit = 0;
    al_json_int(al_json_get(args, "startLine"), 1, INT64_MAX / 2, &start);
    al_json_int(al_json_get(args, "limit"), 1, MAX_LIMIT, &limit);
    return (struct read_opts){(uint64_t)start, (uint64_t)limit};
}

static int read_one(struct al_call *call, struct al_str path, const struct read_opts *o, size_t room,
                    struct al_place *place, struct al_scan *ret, struct al_err *err)
{
    autofd int fd = -1;
    struct stat st;
    if (al_tool_place(call, path, AL_WANT_READ, place, err) < 0 ||
        al_tool_open_file(call, place, &fd, &st, err) < 0)
        return -1;
    struct al_scan_req req = {o->start_line, o->limit, room, &call->cancelled};
    return al_scan_file(fd, place->shown, &req, ret, err);
}

static void write_scan(struct al_jw *w, const char *path, uint64_t start_line, const struct al_scan *s)
{
    al_jw_obj(w);
    al_jw_kstrz(w, "path", path);
    al_jw_kstrz(w, "sha256", s->sha256[0] ? s->sha256 : NULL);
    al_jw_kstr(w, "text", al_buf_str(&s->text));
    al_jw_kint(w, "startLine", (int64_t)start_line);
    al_jw_kint(w, "lines", (int64_t)s->lines);
    al_jw_key(w, "totalLines");
    if (s->total_lines >= 0)
        al_jw_int(w, s->total_lines);
    else
        al_jw_null(w);
    al_jw_kint(w, "bytes", (int64_t)s->bytes);
    al_jw_kstrz(w, "encoding", al_encoding_name(s->encoding));
    al_jw_kbool(w, "truncated", s->truncated);
    al_jw_key(w, "nextLine");
    if (s->next_line > 0)
        al_jw_int(w, (int64_t)s->next_line);
    else
        al_jw_null(w);
    al_jw_end(w);
}

static void text_head(struct al_buf *out, const char *path, const struct al_scan *s)
{
    al_text_visible(out, al_str_of(path), false);
    al_buf_adds(out, ": ");
    if (s->total_lines >= 0)
        al_buf_addf(out, "%lld line%s, ", (long long)s->total_lines, s->total_lines == 1 ? "" : "s");
    al_text_bytes(out, s->bytes);
    if (s->encoding != AL_ENC_UTF8)
        al_buf_addf(out, ", %s", al_encoding_name(s->encoding));
    if (s->sha256[0])
        al_buf_addf(out, ", sha256 %s", s->sha256);
    al_buf_addc(out, '\n');
}

/* Numbered lines up to max_lines and max_chars, then how to go on. */
static void text_lines(struct al_buf *out, const struct al_scan *s, uint64_t start_line, uint64_t max_lines,
                       size_t max_chars)
{
    struct al_str rest = al_buf_str(&s->text), line;
    uint64_t n = 0;
    size_t chars = 0;
    while (n < max_lines && al_tool_next_line(&rest, &line)) {
        size_t count = al_utf8_count(line) + 8;
        if (count > LINE_CHARS)
            count = LINE_CHARS + 30;
        if (n > 0 && chars + count > max_chars)
            break;
        chars += count;
        al_buf_addf(out, "%6llu\t", (unsigned long long)(start_line + n));
        al_tool_clip(out, line, max_chars < LINE_CHARS ? max_chars : LINE_CHARS);
        al_buf_addc(out, '\n');
        n++;
    }
    if (s->lines == 0 && s->total_lines >= 0 && start_line > (uint64_t)s->total_lines && start_line > 1)
        al_buf_addf(out, "[the file ends at line %lld]\n", (long long)s->total_lines);
    else if (n < s->lines || s->next_line > 0)
        al_buf_addf(out, "[lines %llu to %llu; go on with startLine %llu]\n", (unsigned long long)start_line,
                    (unsigned long long)(start_line + n - (n > 0)), (unsigned long long)(start_line + n));
}

static uint64_t text_line_limit(const struct read_opts *o)
{
    return o->limit > 0 ? o->limit : AL_TOOL_TEXT_LINES;
}

static void read_file_work(struct al_call *call)
{
    struct read_opts o = read_opts(call->args);
    struct al_place place;
    struct al_scan s = {0};
    if (read_one(call, al_json_get_text(call->args, "path"), &o, AL_TOOL_JSON_ROOM, &place, &s, &call->err) ==
        0) {
        struct al_jw w;
        al_jw_init(&w, &call->structured);
        write_scan(&w, place.path, o.start_line, &s);
        text_head(&call->text, place.path, &s);
        text_lines(&call->text, &s, o.start_line, text_line_limit(&o), AL_TOOL_TEXT_CHARS);
    }
    al_scan_fini(&s);
}

static void read_file_start(struct al_call *call)
{
    al_call_in_thread(call, read_file_work);
}

/* --- read_files --- */

struct many {
    struct al_call *call;
    struct read_opts opts;
    struct al_jw w;
    size_t n; /* files asked for */
    size_t done, failed;
    size_t text_left; /* characters of the text for a model */
    bool full;        /* the result holds no more */
};

static void write_error(struct many *m, struct al_str path, const struct al_err *err)
{
    al_jw_obj(&m->w);
    al_jw_kstr(&m->w, "path", al_tool_fit_json(path, 8192));
    al_jw_key(&m->w, "error");
    al_jw_obj(&m->w);
    al_jw_kstrz(&m->w, "code", al_code_name(err->code));
    al_jw_kstrz(&m->w, "message", err->msg);
    al_jw_end(&m->w);
    al_jw_end(&m->w);
    m->failed++;
    if (m->text_left == 0)
        return;
    al_text_visible(&m->call->text, al_utf8_head(path, 1000), false);
    al_buf_addf(&m->call->text, ": %s: %s\n\n", al_code_name(err->code), err->msg);
}

static void text_one(struct many *m, const char *path, const struct al_scan *s)
{
    struct al_buf *out = &m->call->text;
    size_t before = out->n, left = m->n - m->done;
    size_t share = m->text_left / (left > 0 ? left : 1);
    text_head(out, path, s);
    text_lines(out, s, m->opts.start_line, text_line_limit(&m->opts), share > 500 ? share : 500);
    al_buf_addc(out, '\n');
    size_t used = al_utf8_count((struct al_str){out->p + before, out->n - before});
    m->text_left = m->text_left > used ? m->text_left - used : 0;
}

/* One file of many; an error is its entry, and ends nothing. */
static void read_next(struct many *m, struct al_str path)
{
    size_t used = m->call->structured.n;
    if (used + 2 * AL_TOOL_JSON_SLACK > AL_CALL_MAX_RESULT || atomic_load(&m->call->cancelled)) {
        m->full = true;
        return;
    }
    struct al_err err = {0};
    struct al_place place;
    struct al_scan s = {0};
    size_t room = AL_CALL_MAX_RESULT - used - 2 * AL_TOOL_JSON_SLACK;
    if (read_one(m->call, path, &m->opts, room, &place, &s, &err) < 0) {
        write_error(m, path, &err);
    } else if (s.lines == 0 && s.truncated) {
        m->full = true;
    } else {
        write_scan(&m->w, place.path, m->opts.start_line, &s);
        if (m->text_left > 0)
            text_one(m, place.path, &s);
    }
    m->done += !m->full;
    al_scan_fini(&s);
}

static void many_begin(struct many *m, struct al_call *call, size_t n)
{
    *m = (struct many){.call = call, .opts = read_opts(call->args), .n = n, .text_left = AL_TOOL_TEXT_CHARS};
    al_jw_init(&m->w, &call->structured);
    al_jw_obj(&m->w);
    al_jw_key(&m->w, "files");
    al_jw_arr(&m->w);
}

static void many_end(struct many *m, bool more_names)
{
    bool cut = m->done < m->n || more_names;
    al_jw_end(&m->w);
    al_jw_kbool(&m->w, "truncated", cut);
    al_jw_end(&m->w);
    al_buf_addf(&m->call->text, "[%zu of %zu%s files read", m->done - m->failed, m->n, more_names ? "+" : "");
    if (m->failed > 0)
        al_buf_addf(&m->call->text, ", %zu failed", m->failed);
    if (m->text_left == 0)
        al_buf_adds(&m->call->text,
                    "; not all of them are shown here: name fewer files, or read them in a script");
    al_buf_adds(&m->call->text, "]\n");
}

static void read_paths_work(struct al_call *call)
{
    const struct al_json *paths = al_json_get(call->args, "paths");
    struct many m;
    many_begin(&m, call, paths->n);
    al_json_each(path, paths)
    {
        if (!m.full)
            read_next(&m, path->str);
    }
    many_end(&m, false);
}

static void read_glob_work(struct al_call *call)
{
    struct al_listing *l = call->impl;
    if (al_listing_sort(l, &call->err) == 0) {
        size_t n = l->n_names < MAX_FILES ? l->n_names : MAX_FILES;
        autobuf struct al_buf path = AL_BUF_INIT(16384);
        struct many m;
        many_begin(&m, call, n);
        for (size_t i = 0; i < n && !m.full; i++) {
            al_buf_clear(&path);
            al_tool_place_prefix(&l->place, l->names[i], &path);
            al_buf_add_str(&path, l->names[i]);
            read_next(&m, al_buf_str(&path));
        }
        many_end(&m, l->n_names > MAX_FILES || l->truncated);
    }
}

static void read_files_start(struct al_call *call)
{
    struct al_str glob = al_json_get_text(call->args, "glob");
    bool by_paths = al_json_get(call->args, "paths") != NULL;
    if (by_paths == (glob.n > 0)) {
        al_fail(&call->err, AL_TOOL_INPUT_INVALID, "exactly one of paths and glob is needed");
        al_call_finish(call);
        return;
    }
    if (by_paths) {
        al_call_in_thread(call, read_paths_work);
        return;
    }
    struct al_str folder = AL_STR(".");
    if (al_tool_is_scratch(glob)) {
        folder = AL_STR("scratch:.");
        glob.p += strlen("scratch:");
        glob.n -= strlen("scratch:");
    }
    al_listing_start(call, folder, glob, false, read_glob_work);
}

#define FILE_PROPERTIES                                                                                      \
    "\"path\":{\"type\":\"string\"},\"sha256\":{\"type\":[\"string\",\"null\"],\"description\":\"of the "    \
    "whole "                                                                                                 \
    "file; null above 256 MiB\"},\"text\":{\"type\":\"string\",\"description\":\"the lines as they are, as " \
    "UTF-8\"},\"startLine\":{\"type\":\"integer\"},\"lines\":{\"type\":\"integer\"},\"totalLines\":{"        \
    "\"type\":["                                                                                             \
    "\"integer\",\"null\"]},\"bytes\":{\"type\":\"integer\",\"description\":\"of the whole "                 \
    "file\"},\"encoding\":{\"type\":\"string\"},\"truncated\":{\"type\":\"boolean\",\"description\":\"more " \
    "of "                                                                                                    \
    "the file follows, or a line was "                                                                       \
    "cut\"},\"nextLine\":{\"type\":[\"integer\",\"null\"],\"description\":\"the "                            \
    "startLine to go on with\"}"

#define LINES_INPUT                                                                                       \
    "\"startLine\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"First line, counted from 1. "    \
    "Default "                                                                                            \
    "1.\"},\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000000,\"description\":\"How many " \
    "lines. "                                                                                             \
    "Default: the whole file in the structured value, 200 lines in the text.\"}"

const struct al_tool al_tool_read_file = {
    .name = "read_file",
    .title = "Read a file",
    .description =
        "Reads a text file of the workspace. The text shows numbered lines (200 unless limit says otherwise, "
        "at most "
        "28,000 characters) after a line with the size and the sha256 that write_file and edit_file take as "
        "expectedHash. The structured value holds the raw text, whole up to 8 MiB: {path, sha256, text, "
        "startLine, "
        "lines, totalLines, bytes, encoding, truncated, nextLine}. In a script, use its `text`. Binary files "
        "are "
        "refused; UTF-16 and windows-1252 arrive as UTF-8, with `encoding` saying so. `scratch:NAME` reads "
        "the "
        "scratchpad.",
    .brief =
        "Reads a text file: numbered lines, 200 unless limit says otherwise, and its sha256. "
        "In scripts: {path, text, totalLines, sha256, nextLine}, whole up to 8 MiB.",
    .input_schema =
        "{\"type\":\"object\",\"required\":[\"path\"],\"properties\":{\"path\":{\"type\":\"string\","
        "\"minLength\":1,\"maxLength\":4096,\"description\":\"Path in the workspace, or "
        "scratch:NAME\"}," LINES_INPUT "},\"additionalProperties\":false}",
    .output_schema = "{\"type\":\"object\",\"properties\":{" FILE_PROPERTIES "}}",
    .effect = AL_EFFECT_READ,
    .expose = "files",
    .idempotent = true,
    .start = read_file_start,
};

const struct al_tool al_tool_read_files = {
    .name = "read_files",
    .title = "Read many files",
    .description =
        "Reads up to 200 text files in one call, by `paths` or by `glob` (exactly one of them), in order. "
        "The "
        "structured value is {files, truncated}; each entry is what read_file gives, or {path, error: {code, "
        "message}} when that file could not be read, so one bad file fails nothing. Together at most 8 MiB; "
        "truncated says that files were left out. The text shares 28,000 characters among the files. Made "
        "for "
        "scripts: read, then filter or count in code.",
    .brief =
        "Reads up to 200 text files, by paths or by glob (exactly one). In scripts: {files: "
        "[{path, text, totalLines} or {path, error}], truncated}.",
    .input_schema =
        "{\"type\":\"object\",\"properties\":{\"paths\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":200,"
        "\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096},\"description\":\"Paths in the "
        "workspace, "
        "or "
        "scratch:NAME\"},\"glob\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1024,\"description\":"
        "\"As in "
        "list_files: *.c at any depth, src/**/*.ts below src; the first 200 in path order\"}," LINES_INPUT
        "},\"additionalProperties\":false}",
    .output_schema =
        "{\"type\":\"object\",\"properties\":{\"files\":{\"type\":\"array\",\"items\":{\"type\":"
        "\"object\",\"properties\":{" FILE_PROPERTIES ",\"error\":{\"type\":\"object\",\"properties\":{"
        "\"code\":{\"type\":\"string\"},\"message\":{\"type\":\"string\"}}}}}},\"truncated\":{\"type\":"
        "\"boolean\"}}}",
    .effect = AL_EFFECT_READ,
    .expose = "files",
    .idempotent = true,
    .start = read_files_start,
    .cancel = al_listing_cancel,
};
