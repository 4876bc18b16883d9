/*
 * The words of a question to a person. Arguments are shown as the tool will read them: decoded, of two of one
 * name the last. Each is cut on its own, so that a long one hides no other, and a cut says how much it left
 * out.
 */
#include "core/ask_text.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/gate.h"

#include <stdlib.h>
#include <string.h>

#define TITLE_CHARS 80
#define TOOLS_CHARS 400
#define NAME_CHARS 60
#define SHORT_BYTES 120
#define ARGS_BYTES 6000        /* when so much is shown, further arguments are only counted */
#define WHOLE_BYTES (1u << 20) /* of a call or a script that is shown whole where that is asked for */

/* How much of a text is shown, at its head and at its end. */
struct cut {
    size_t head_chars, head_lines, tail_chars, tail_lines;
};
static const struct cut all = {SIZE_MAX, SIZE_MAX, 0, 0};
static const struct cut code_cut = {1500, 30, 500, 10};
static const struct cut block_cut = {600, 12, 200, 4};
static const struct cut line_cut = {300, SIZE_MAX, 150, SIZE_MAX};

static struct al_str head_of(struct al_str s, const struct cut *cut)
{
    struct al_str head = al_utf8_head(s, cut->head_chars);
    size_t lines = 0;
    for (size_t i = 0; i < head.n; i++)
        if (head.p[i] == '\n' && ++lines == cut->head_lines)
            return (struct al_str){head.p, i + 1};
    return head;
}

/* Of the rest, whose first characters are left out then. */
static struct al_str tail_of(struct al_str s, const struct cut *cut)
{
    size_t chars = al_utf8_count(s);
    size_t over = chars > cut->tail_chars ? al_utf8_head(s, chars - cut->tail_chars).n : 0;
    size_t lines = 0;
    for (size_t i = s.n; i > over; i--)
        if (s.p[i - 1] == '\n' && i < s.n && ++lines == cut->tail_lines)
            over = i;
    return (struct al_str){s.p + over, s.n - over};
}

static void put_lines(struct al_buf *out, const char *indent, struct al_str text)
{
    autobuf struct al_buf plain = AL_BUF_INIT(out->max);
    al_text_plain(&plain, text, true);
    struct al_str rest = al_buf_str(&plain);
    out->failed = out->failed || al_buf_failed(&plain);
    while (rest.n) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        al_buf_addc(out, '\n');
        al_buf_adds(out, indent);
        al_buf_add(out, rest.p, n);
        rest.p += n + (end != NULL);
        rest.n -= n + (end != NULL);
    }
}

/* Each line is set in, so that none can pass for one of ours. */
static void put_block(struct al_buf *out, const char *indent, struct al_str text, const struct cut *cut)
{
    struct al_str head = head_of(text, cut);
    struct al_str rest = {text.p + head.n, text.n - head.n}, tail = tail_of(rest, cut);
    put_lines(out, indent, head);
    if (tail.n < rest.n)
        al_buf_addf(out, "\n(%zu characters are left out here)",
                    al_utf8_count((struct al_str){rest.p, rest.n - tail.n}));
    put_lines(out, indent, tail);
}

static void put_line_cut(struct al_buf *out, struct al_str text, const struct cut *cut)
{
    struct al_str head = head_of(text, cut);
    struct al_str rest = {text.p + head.n, text.n - head.n}, tail = tail_of(rest, cut);
    al_text_plain(out, head, false);
    if (tail.n < rest.n)
        al_buf_addf(out, " … (%zu characters are left out here) … ",
                    al_utf8_count((struct al_str){rest.p, rest.n - tail.n}));
    al_text_plain(out, tail, false);
}

static void put_line(struct al_buf *out, struct al_str text)
{
    put_line_cut(out, text, &line_cut);
}

/* One line in quotes that it cannot end by its own. */
static void put_quoted(struct al_buf *out, struct al_str s, size_t max_chars)
{
    autobuf struct al_buf plain = AL_BUF_INIT(max_chars * 16);
    struct al_str head = al_utf8_head(s, max_chars);
    al_text_plain(&plain, head, false);
    al_buf_addc(out, '"');
    for (size_t i = 0; i < plain.n; i++) {
        uint32_t cp = 0;
        unsigned n = al_utf8_decode((struct al_str){plain.p + i, plain.n - i}, &cp);
        if (cp == '"' || (cp >= 0x201c && cp <= 0x201f) || cp == 0x301d || cp == 0x301e || cp == 0xff02)
            al_buf_addc(out, '\'');
        else
            al_buf_add(out, plain.p + i, n);
        i += n ? n - 1 : 0;
    }
    al_buf_adds(out, head.n < s.n ? "…\"" : "\"");
}

/* --- arguments --- */

static int by_name(const void *a, const void *b)
{
    const struct al_json *const *x = a, *const *y = b;
    int order = al_str_cmp((*x)->key, (*y)->key);
    return order ? order : ((*x)->raw.p > (*y)->raw.p) - ((*x)->raw.p < (*y)->raw.p);
}

static int by_place(const void *a, const void *b)
{
    const struct al_json *const *x = a, *const *y = b;
    return ((*x)->raw.p > (*y)->raw.p) - ((*x)->raw.p < (*y)->raw.p);
}

/* The members that count, in their order: of several of one name the last, as al_json_get gives it. The array
 * is the caller's to free. */
static size_t members_of(const struct al_json *object, const struct al_json ***ret)
{
    const struct al_json **v = al_xcalloc(object->n + 1, sizeof *v);
    size_t n = 0, kept = 0;
    al_json_each(m, object) v[n++] = m;
    qsort(v, n, sizeof *v, by_name);
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || !al_str_eq(v[i]->key, v[i + 1]->key))
            v[kept++] = v[i];
    qsort(v, kept, sizeof *v, by_place);
    *ret = v;
    return kept;
}

/* In one line, decoded and written anew; as deep as the reader lets texts be. */
static void put_compact(struct al_jw *w, const struct al_json *v)
{
    const struct al_json **members;
    if (v->type == AL_JSON_STRING) {
        al_jw_str(w, v->str);
    } else if (v->type == AL_JSON_ARRAY) {
        al_jw_arr(w);
        al_json_each(e, v) put_compact(w, e);
        al_jw_end(w);
    } else if (v->type == AL_JSON_OBJECT) {
        al_jw_obj(w);
        size_t n = members_of(v, &members);
        for (size_t i = 0; i < n; i++) {
            al_jw_key_str(w, members[i]->key);
            put_compact(w, members[i]);
        }
        free(members);
        al_jw_end(w);
    } else {
        al_jw_raw(w, v->raw);
    }
}

/* As it stands where that cannot be misread. */
static void put_name(struct al_buf *out, struct al_str name)
{
    bool word = name.n && name.n <= NAME_CHARS;
    for (size_t i = 0; i < name.n && word; i++)
        word = (name.p[i] >= 'a' && name.p[i] <= 'z') || (name.p[i] >= 'A' && name.p[i] <= 'Z') ||
               (name.p[i] >= '0' && name.p[i] <= '9') || name.p[i] == '_' || name.p[i] == '-';
    if (word)
        al_buf_add_str(out, name);
    else
        put_quoted(out, name, NAME_CHARS);
}

static bool blank_edge(struct al_str s)
{
    return s.n == 0 || s.p[0] == ' ' || s.p[s.n - 1] == ' ';
}

static void put_argument(struct al_buf *out, const struct al_json *v, bool whole)
{
    al_buf_adds(out, "\n    ");
    put_name(out, v->key);
    al_buf_addc(out, ':');
    if (al_json_is_string(v) && memchr(v->str.p, '\n', v->str.n)) {
        put_block(out, "        ", v->str, whole ? &all : &block_cut);
        return;
    }
    autobuf struct al_buf text = AL_BUF_INIT(4u * AL_CALL_MAX_ARGS);
    if (al_json_is_string(v) && !blank_edge(v->str)) {
        al_buf_add_str(&text, v->str);
    } else {
        struct al_jw w;
        al_jw_init(&w, &text);
        put_compact(&w, v);
    }
    al_buf_addc(out, ' ');
    put_line_cut(out, al_buf_failed(&text) ? v->raw : al_buf_str(&text), whole ? &all : &line_cut);
}

static bool is_short(const struct al_json *v)
{
    return v->raw.n <= SHORT_BYTES && !(al_json_is_string(v) && memchr(v->str.p, '\n', v->str.n));
}

/* The short ones first: a long one shall not push them out of sight. */
static void put_arguments(struct al_buf *out, const struct al_json *args, bool whole)
{
    const struct al_json **v;
    size_t n = args ? members_of(args, &v) : 0, shown = 0, from = out->n;
    if (n == 0)
        al_buf_adds(out, "\nIt has no arguments.");
    else
        al_buf_adds(out, "\nIts arguments:");
    for (int shorts = 1; shorts >= 0; shorts--) {
        for (size_t i = 0; i < n && (whole || out->n - from < ARGS_BYTES); i++)
            if (is_short(v[i]) == shorts) {
                put_argument(out, v[i], whole);
                shown++;
            }
    }
    if (shown < n)
        al_buf_addf(out, "\n(%zu more arguments are not shown)", n - shown);
    if (args)
        free(v);
}

/* --- the whole --- */

static void put_tools(struct al_buf *out, struct al_str tools)
{
    struct al_str head = al_utf8_head(tools, TOOLS_CHARS);
    al_text_plain(out, head, false);
    al_buf_adds(out, head.n < tools.n ? "…" : "");
}

/* --- Python scripts --- */

/* What the wall is, in words: what it keeps from the script, and what it does not. */
static const char *wall_words(const struct al_wall *wall)
{
    bool wasm = wall->backend == AL_PY_WASM;
    switch (wall->isolation) {
    case AL_PY_OS_SANDBOX:
        return wasm ? "WebAssembly in bubblewrap: no network, no files but the job's"
                    : "bubblewrap: no network, no files but the job's";
    case AL_PY_OS_FILTER:
        return wasm ? "WebAssembly behind Landlock and seccomp: no network, no files but the job's; that "
                      "other files "
                      "exist can be seen"
                    : "Landlock and seccomp: no network, no files but the job's; that other files exist can "
                      "be seen";
    case AL_PY_CONTAINER:
        return "a container: no network, no files but the job's";
    case AL_PY_RESTRICTED_PROCESS:
        return "NOT SANDBOXED: WebAssembly in a plain process: what Node itself forbids is kept from it, and "
               "nothing "
               "else; it can use the network";
    case AL_PY_NONE:
        break;
    }
    return "NOT SANDBOXED: runs with your rights, can read your files and use the network";
}

static bool is_sandboxed(const struct al_wall *wall)
{
    return wall->isolation < AL_PY_RESTRICTED_PROCESS;
}

static void put_wall(const struct al_wall *wall, const char *what, struct al_buf *out)
{
    if (!wall)
        al_buf_addf(out, "\n%s: what holds it is not known", what);
    else if (is_sandboxed(wall))
        al_buf_addf(out, "\n%s runs in %s", what, wall_words(wall));
    else
        al_buf_addf(out, "\n%s: %s", what, wall_words(wall));
    if (wall)
        al_buf_addf(out, " (%s, %s)", al_py_backend_name(wall->backend),
                    al_py_isolation_name(wall->isolation));
    al_buf_addc(out, '.');
}

/* A line for each input: what it is, and under which name the script finds it. */
static void put_inputs(struct al_buf *out, const struct al_json *inputs, bool again)
{
    static const char *const kinds[][2] = {
        {"path", ""}, {"datasetId", "dataset "}, {"artifactId", "artifact "}};
    size_t from = out->n;
    uint32_t shown = 0;
    if (!inputs || inputs->type != AL_JSON_ARRAY || inputs->n == 0)
        return;
    al_buf_adds(out, again ? "\nIn the place of those of the same names it gets copies of:"
                           : "\nIt gets copies of:");
    al_json_each(input, inputs)
    {
        if (out->n - from > ARGS_BYTES / 2)
            break;
        al_buf_adds(out, "\n    ");
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            struct al_str v = al_json_get_text(input, kinds[i][0]);
            if (!v.n)
                continue;
            al_buf_adds(out, kinds[i][1]);
            put_line(out, v);
        }
        struct al_str as = al_json_get_text(input, "as");
        if (as.n) {
            al_buf_adds(out, " as ");
            put_quoted(out, as, NAME_CHARS);
        }
        shown++;
    }
    if (shown < inputs->n)
        al_buf_addf(out, "\n    (%u more)", inputs->n - shown);
}

/* The code is what was read before the question, wherever it came from. */
static void put_script(const struct al_ask *ask, bool whole, struct al_buf *out)
{
    struct al_str code = ask->code.n ? ask->code : al_json_get_text(ask->args, "code");
    struct al_str file = al_json_get_text(ask->args, "codePath"),
                  again = al_json_get_text(ask->args, "rerunOf");
    al_buf_adds(out, "\nThe script");
    if (file.n || again.n) {
        al_buf_adds(out, file.n ? " is the file " : " is that of ");
        put_quoted(out, file.n ? file : again, NAME_CHARS);
    }
    if (code.n) {
        al_buf_addc(out, ':');
        put_block(out, "    ", code, whole ? &all : &code_cut);
    } else {
        al_buf_adds(out, ", and its text is not known here.");
    }
}

static void put_python(const struct al_ask *ask, bool whole, struct al_buf *out)
{
    const struct al_json *args = ask->args;
    struct al_str title = al_json_get_text(args, "title");
    al_buf_adds(out, "A Python script is to be run, which needs your approval (");
    put_tools(out, ask->tools);
    al_buf_adds(out, ").");
    if (title.n) {
        al_buf_adds(out, "\nIts title, in the words of who wrote it:\n    ");
        put_quoted(out, title, TITLE_CHARS);
    }
    put_wall(ask->wall, "It", out);
    bool again = al_json_get_text(args, "rerunOf").n > 0;
    if (again)
        al_buf_adds(out, "\nIt gets what it got then: the same copies of files, the same extra packages.");
    put_inputs(out, al_json_get(args, "inputs"), again);
    const struct al_json *extras = al_json_get(args, "extras");
    if (extras && extras->type == AL_JSON_ARRAY && extras->n) {
        al_buf_adds(out, "\nIt uses the extra packages: ");
        put_line(out, extras->raw);
    }
    put_script(ask, whole, out);
}

static void put_install(const struct al_ask *ask, struct al_buf *out)
{
    const struct al_ask_install *what = ask->install;
    al_buf_addf(
        out,
        "Packages for Python scripts are to be installed, which needs your approval: the extras \"%s\".\n"
        "They are: %s.\n"
        "This downloads about %s and needs the network. They come from the package index with the checksums "
        "that "
        "alisio ships, into a private folder of alisio; nothing else of this computer changes.",
        what->extras, what->packages, what->size);
}

static bool runs_python(const struct al_ask *ask)
{
    return ask->tool && ask->tool->capability && strcmp(ask->tool->capability, AL_CAP_ANALYSIS_RUN) == 0;
}

/* --- runs, and any call --- */

static void put_run(const struct al_ask *ask, bool whole, struct al_buf *out)
{
    al_buf_adds(out, "A script wants to use tools that need your approval: ");
    put_tools(out, ask->tools);
    if (ask->title) {
        al_buf_adds(out, ".\nIts title, in the words of who wrote it:\n    ");
        put_quoted(out, al_str_of(ask->title), TITLE_CHARS);
        al_buf_adds(out, "\nThe script:");
    } else {
        al_buf_adds(out, ".\nThe script:");
    }
    put_block(out, "    ", ask->code, whole ? &all : &code_cut);
    if (ask->wall)
        put_wall(ask->wall, "A Python script of it", out);
}

static void put_call(const struct al_ask *ask, bool whole, struct al_buf *out)
{
    const struct al_tool *tool = ask->tool;
    al_buf_adds(out, "A tool that needs your approval is to be called: ");
    put_tools(out, ask->tools);
    al_buf_adds(out, ".\n");
    if (tool->server) {
        al_buf_adds(out, "It belongs to the MCP server ");
        put_quoted(out, al_str_of(tool->server), NAME_CHARS);
        al_buf_adds(out, ", which calls it:\n    ");
    } else {
        al_buf_adds(out, "It is described as: ");
    }
    put_quoted(out, al_str_of(tool->title ? tool->title : tool->name), TITLE_CHARS);
    put_arguments(out, ask->args, whole);
}

void al_ask_text(const struct al_ask *ask, bool whole, struct al_buf *out)
{
    size_t args = ask->args ? ask->args->raw.n : 0;
    whole = whole && args <= WHOLE_BYTES && ask->code.n <= WHOLE_BYTES - args;
    if (ask->install)
        put_install(ask, out);
    else if (runs_python(ask))
        put_python(ask, whole, out);
    else if (ask->tool)
        put_call(ask, whole, out);
    else
        put_run(ask, whole, out);
}

void al_ask_session_text(const struct al_ask *ask, struct al_buf *out)
{
    al_buf_adds(out, "\"Allow for this session\" covers any call of ");
    put_tools(out, ask->tools);
    if (ask->tool->server) {
        al_buf_adds(out, " of the MCP server ");
        put_quoted(out, al_str_of(ask->tool->server), NAME_CHARS);
    }
    if (runs_python(ask))
        al_buf_addf(out, ", whatever its script, %s",
                    ask->wall && is_sandboxed(ask->wall) ? "behind such a wall or a stronger one"
                                                         : "with or without a sandbox");
    else
        al_buf_adds(out, ", whatever its arguments");
    al_buf_adds(out, ask->session_ends ? ", by every client that works in this folder, for 12 hours."
                                       : ", by every client of this session, as long as it exists.");
}

const char *al_ask_prompt(const struct al_ask *ask)
{
    if (ask->install)
        return "Install them?";
    return ask->tool ? "Let it run?" : "Let this run call them?";
}
