/* dashboard: a file becomes a page. */
#include "cli/dashboard.h"

#include "artifact/artifact.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/data.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_ARGS (2u << 20)
#define MAX_SPEC ((size_t)512 << 10)
#define MAX_PAGE ((size_t)16 << 20)
#define ARENA (64u << 20)
#define PAGE_NAME "dashboard.html"

/* --- the call --- */

/* "region=North": the column, the sign, the value. Signs, the longer ones first; == and <> as other languages
 * write them. */
static const struct sign {
    const char *text, *op;
} signs[] = {{"!=", "!="}, {"<>", "!="}, {"<=", "<="}, {">=", ">="}, {"!~", NULL},
             {"==", "="},  {"=", "="},   {"<", "<"},   {">", ">"},   {"~", "contains"}};

static const struct sign *find_sign(const char *word, size_t *ret_at)
{
    for (*ret_at = strcspn(word, "!<>=~"); word[*ret_at]; (*ret_at)++) {
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
            if (al_str_starts(al_str_of(word + *ret_at), signs[i].text))
                return &signs[i];
        }
    }
    return NULL;
}

/* Quotes around a value are the shell's that came through, or SQL's: they are not part of it. */
static struct al_str bare(struct al_str s)
{
    bool quoted = s.n >= 2 && (s.p[0] == '\'' || s.p[0] == '"') && s.p[s.n - 1] == s.p[0];
    return quoted ? (struct al_str){s.p + 1, s.n - 2} : s;
}

/* "North|South" is a list for = and !=; nothing at all means cells without a value. */
static void put_value(struct al_jw *w, const char *op, const char *value)
{
    bool equal = strcmp(op, "=") == 0, list = strchr(value, '|') && (equal || strcmp(op, "!=") == 0);
    if (!*value && (equal || strcmp(op, "!=") == 0)) {
        al_jw_kstrz(w, "op", equal ? "is_null" : "not_null");
        return;
    }
    al_jw_kstrz(w, "op", !list ? op : equal ? "in" : "not_in");
    al_jw_key(w, "value");
    if (!list) {
        al_jw_str(w, bare(al_str_of(value)));
        return;
    }
    al_jw_arr(w);
    for (const char *rest = value;; rest++) {
        size_t n = strcspn(rest, "|");
        al_jw_str(w, bare((struct al_str){rest, n}));
        rest += n;
        if (!*rest)
            break;
    }
    al_jw_end(w);
}

static int put_filter(struct al_jw *w, const char *word, struct al_err *err)
{
    size_t at;
    const struct sign *sign = find_sign(word, &at);
    if (!sign || !sign->op || at == 0) {
        al_fail(err, AL_INVALID_INPUT, "--filter %.80s is no condition", word);
        return al_hint(err, "a column, one of = != < <= > >= ~ (contains), a value: --filter 'region=North'");
    }
    size_t name = at;
    const char *value = word + at + strlen(sign->text);
    while (name > 0 && word[name - 1] == ' ')
        name--;
    value += strspn(value, " ");
    al_jw_obj(w);
    al_jw_kstr(w, "column", bare((struct al_str){word, name}));
    put_value(w, sign->op, value);
    al_jw_end(w);
    return 0;
}

static int put_by(struct al_jw *w, const char *word, struct al_err *err)
{
    const char *comma = strchr(word, ',');
    if (!comma || comma == word || !comma[1] || strchr(comma + 1, ',')) {
        al_fail(err, AL_INVALID_INPUT, "--by %.80s does not name two columns", word);
        return al_hint(err, "--by region,channel");
    }
    al_jw_key(w, "by");
    al_jw_arr(w);
    al_jw_str(w, (struct al_str){word, (size_t)(comma - word)});
    al_jw_strz(w, comma + 1);
    al_jw_end(w);
    return 0;
}

/* A plan, or the whole answer of `dashboard --plan --json` with the plan in it. */
static int put_spec(struct al_jw *w, const char *path, struct al_err *err)
{
    autobuf struct al_buf text = AL_BUF_INIT(MAX_SPEC);
    autoarena struct al_arena arena = AL_ARENA_INIT(ARENA);
    const struct al_json *v;
    if (al_app_read_text(path, MAX_SPEC, &text, err) < 0)
        return -1;
    if (al_json_parse(&arena, al_buf_str(&text), &v, err) < 0) {
        al_wrap(err, "the plan in %.200s is no JSON", strcmp(path, "-") == 0 ? "standard input" : path);
        return al_hint(err, "`alisio dashboard FILE --plan` prints one; JSON has no comments");
    }
    const struct al_json *inner = al_json_get(al_json_get(v, "structured"), "plan");
    if (!inner && al_json_get(v, "plan"))
        inner = al_json_get(v, "plan");
    if ((inner ? inner : v)->type != AL_JSON_OBJECT) {
        al_fail(err, AL_INVALID_INPUT, "the plan in %.200s is no JSON object", path);
        return al_hint(err, "`alisio dashboard FILE --plan` prints one");
    }
    al_jw_key(w, "spec");
    al_jw_value(w, inner ? inner : v);
    return 0;
}

static bool keep_id(void *ud, const struct al_artifact *a)
{
    snprintf(ud, AL_ID_MAX, "%s", a->id);
    return false;
}

/* --like art_…, or the newest dashboard of the workspace. */
static int put_like(struct al_app *app, const char *word, struct al_jw *w, struct al_err *err)
{
    char id[AL_ID_MAX] = "";
    if (strcmp(word, "last") != 0) {
        if (!al_id_valid(al_str_of(word), "art")) {
            al_fail(err, AL_INVALID_INPUT, "--like %.80s is not the id of a dashboard", word);
            return al_hint(err,
                           "`alisio artifacts list --kind dashboard` shows the ids; `last` is the newest");
        }
        al_jw_kstrz(w, "like", word);
        return 0;
    }
    struct al_artifact_filter filter = {.workspace = app->workspace, .kind = "dashboard", .limit = 1};
    if (al_store_artifact_each(app->store, &filter, keep_id, id, err) < 0)
        return -1;
    if (!id[0])
        return al_fail(err, AL_NOT_FOUND, "no dashboard was made in this workspace yet");
    al_jw_kstrz(w, "like", id);
    return 0;
}

static int put_args(struct al_app *app, const char *dataset, struct al_jw *w, struct al_err *err)
{
    static const struct {
        enum al_flag_id flag;
        const char *key;
    } texts[] = {{AL_FLAG_GOAL, "goal"},
                 {AL_FLAG_TITLE, "title"},
                 {AL_FLAG_LOCALE, "locale"},
                 {AL_FLAG_SHEET, "sheet"}};
    const struct al_args *args = &app->args;
    al_jw_obj(w);
    al_jw_kstrz(w, "datasetId", dataset);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (al_args_has(args, texts[i].flag))
            al_jw_kstrz(w, texts[i].key, args->value[texts[i].flag]);
    }
    if (args->n_list[AL_LIST_FILTERS]) {
        al_jw_key(w, "filters");
        al_jw_arr(w);
        for (size_t i = 0; i < args->n_list[AL_LIST_FILTERS]; i++) {
            if (put_filter(w, args->list[AL_LIST_FILTERS][i], err) < 0)
                return -1;
        }
        al_jw_end(w);
    }
    if (al_args_has(args, AL_FLAG_BY) && put_by(w, args->value[AL_FLAG_BY], err) < 0)
        return -1;
    if (al_args_has(args, AL_FLAG_LIKE) && put_like(app, args->value[AL_FLAG_LIKE], w, err) < 0)
        return -1;
    if (al_args_has(args, AL_FLAG_NO_ROWS))
        al_jw_kbool(w, "noRows", true);
    if (al_args_has(args, AL_FLAG_PLAN))
        al_jw_kbool(w, "plan", true);
    if (al_args_has(args, AL_FLAG_SPEC) && put_spec(w, args->value[AL_FLAG_SPEC], err) < 0)
        return -1;
    al_jw_end(w);
    return 0;
}

/* --- the page --- */

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n > m && strcasecmp(path + n - m, end) == 0;
}

/* The folder that a file is to be written to. */
static int open_folder(const char *target, struct al_err *err)
{
    const char *slash = strrchr(target, '/');
    struct al_str named = slash ? (struct al_str){target, (size_t)(slash - target) + 1} : AL_STR(".");
    autofree char *folder = al_xdup(named.p, named.n);
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0 && faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) == 0)
        return dir;
    int eno = errno;
    if (dir >= 0)
        close(dir);
    if (eno == EACCES || eno == EROFS || eno == EPERM) {
        al_fail_errno(err, AL_PERMISSION_DENIED, eno, "nothing can be written to the folder of %.200s",
                      target);
        return al_hint(err, "name a file in a folder of yours");
    }
    al_fail_errno(err, AL_NOT_FOUND, eno, "the folder of %.200s cannot be used", target);
    return eno == ENOENT ? al_hint(err, "make it first: mkdir -p '%.200s'", folder) : -1;
}

/* Before anything is made: what -o names can be written. */
static int check_output(const struct al_app *app, struct al_err *err)
{
    const char *path = app->args.value[AL_FLAG_OUTPUT];
    struct stat st;
    if (!path)
        return 0;
    if (al_args_has(&app->args, AL_FLAG_PLAN)) {
        al_fail(err, AL_INVALID_INPUT, "--plan builds no page that -o could write");
        return al_hint(err, "alisio dashboard … --plan > plan.json");
    }
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        al_fail(err, AL_INVALID_INPUT, "-o %.200s is a folder", path);
        return al_hint(err, "name the file: -o %.200s%s" PAGE_NAME, path,
                       path[strlen(path) - 1] == '/' ? "" : "/");
    }
    if (ends_with(path, ".html") || ends_with(path, ".htm") || ends_with(path, ".pdf")) {
        autofd int dir = open_folder(path, err);
        return dir < 0 ? -1 : 0;
    }
    al_fail(err, AL_INVALID_INPUT, "-o %.200s is neither a page nor a PDF", path);
    bool named = path[0] && path[strlen(path) - 1] != '/' && strcmp(path, "-") != 0;
    return al_hint(err, "the name of the file ends with .html or .pdf: -o %.200s.html",
                   named ? path : "page");
}

int al_dashboard_put(const char *target, struct al_str bytes, struct al_err *err)
{
    const char *slash = strrchr(target, '/');
    autofd int dir = open_folder(target, err);
    if (dir < 0)
        return -1;
    return al_path_write_atomic(dir, slash ? slash + 1 : target, bytes, 0644, target, err);
}

static int write_page(struct al_app *app, const struct al_artifact *a, const char *target, struct al_err *err)
{
    autobuf struct al_buf name = AL_BUF_INIT(4096), page = AL_BUF_INIT(MAX_PAGE);
    autofd int fd = -1;
    int64_t bytes;
    const char *mime;
    if (al_artifact_open(app->store, a, NULL, &fd, &name, &bytes, &mime, err) < 0)
        return -1;
    int r = al_fd_read_all(fd, &page);
    if (r < 0)
        return al_fail_errno(err, AL_TOOL_ERROR, -r, "the page cannot be read");
    return al_dashboard_put(target, al_buf_str(&page), err);
}

struct made {
    struct al_artifact artifact;
    char *page; /* its place in the state folder */
};

static int find_made(struct al_app *app, const struct al_json *v, struct made *m, struct al_err *err)
{
    char id[AL_ID_MAX];
    snprintf(id, sizeof id, "%.*s", AL_FMT(al_json_get_text(v, "artifactId")));
    if (al_store_artifact_get(app->store, id, app->workspace, &m->artifact, err) < 0)
        return -1;
    autofree char *dir = al_artifact_dir(app->store, &m->artifact);
    if (!dir || asprintf(&m->page, "%s/files/" PAGE_NAME, dir) < 0)
        abort();
    return 0;
}

static int deliver(struct al_app *app, const struct made *m, struct al_err *err)
{
    const char *target = app->args.value[AL_FLAG_OUTPUT];
    if (target && ends_with(target, ".pdf")) {
        if (al_dashboard_pdf(app, m->page, target, err) < 0)
            return -1;
    } else if (target && write_page(app, &m->artifact, target, err) < 0) {
        return -1;
    }
    if (al_args_has(&app->args, AL_FLAG_OPEN) && !al_dashboard_show(app, m->page))
        al_app_warn(app, "there is no screen or no browser here to open it in; open the file yourself");
    return 0;
}

/* --- for a person --- */

static void say_list(struct al_app *app, const struct al_json *v, const char *key, const char *says,
                     struct al_buf *out)
{
    const struct al_json *list = al_json_get(v, key);
    const char *before = says;
    al_json_each(one, list)
    {
        al_buf_adds(out, before);
        al_say_foreign(app, out, al_utf8_head(one->str, 80), false);
        before = ", ";
    }
    if (list && list->n)
        al_buf_addc(out, '\n');
}

static void say_made(struct al_app *app, const struct al_json *v, const struct made *m,
                     struct al_reply *reply)
{
    struct al_buf *out = &reply->text;
    const char *target = app->args.value[AL_FLAG_OUTPUT];
    al_buf_clear(out);
    al_say_foreign(app, out, al_str_of(target ? target : m->page), false);
    al_buf_addc(out, '\n');
    struct al_buf *note = &reply->note;
    al_buf_addf(note, "%s", al_style_on(app->err_color, AL_BOLD));
    al_say_foreign(app, note, al_utf8_head(al_json_get_text(v, "title"), 120), false);
    al_buf_addf(note, "%s  %s, ", al_style_off(app->err_color, AL_BOLD), m->artifact.id);
    al_text_bytes(note, (uint64_t)m->artifact.bytes);
    al_buf_addc(note, '\n');
    al_json_each(widget, al_json_get(v, "widgets"))
    {
        struct al_str type = al_utf8_head(al_json_get_text(widget, "type"), 10);
        al_buf_adds(note, "  ");
        al_say_foreign(app, note, type, false);
        al_buf_addf(note, "%*s", type.n < 8 ? 9 - (int)type.n : 1, "");
        al_say_foreign(app, note, al_utf8_head(al_json_get_text(widget, "title"), 100), false);
        al_buf_addc(note, '\n');
    }
    say_list(app, v, "notShown", "not shown: ", note);
    say_list(app, v, "missing", "columns that this file does not have: ", note);
    al_json_each(text, al_json_get(v, "notes"))
    {
        al_buf_adds(note, "note: ");
        al_say_foreign(app, note, al_utf8_head(text->str, 400), false);
        al_buf_addc(note, '\n');
    }
}

/* The plan alone, as --spec takes it. */
static void say_plan(struct al_app *app, const struct al_json *v, struct al_reply *reply)
{
    al_buf_clear(&reply->text);
    al_say_json(app, &reply->text, al_json_get(v, "plan"));
    al_buf_addc(&reply->text, '\n');
    al_json_each(text, al_json_get(v, "notes"))
    {
        al_buf_adds(&reply->note, "note: ");
        al_say_foreign(app, &reply->note, al_utf8_head(text->str, 400), false);
        al_buf_addc(&reply->note, '\n');
    }
}

/* Scripts find the page by it: the last member of the structured value. */
static void put_place(struct al_app *app, const char *page, struct al_buf *structured)
{
    const char *target = app->args.value[AL_FLAG_OUTPUT];
    autofree char *real = target ? realpath(target, NULL) : NULL;
    autobuf struct al_buf path = AL_BUF_INIT(16384);
    struct al_jw w;
    if (!structured->n || structured->p[structured->n - 1] != '}')
        return;
    al_jw_init(&w, &path);
    al_jw_strz(&w, real ? real : page);
    structured->n--;
    al_buf_adds(structured, ",\"path\":");
    al_buf_add_str(structured, al_buf_str(&path));
    al_buf_addc(structured, '}');
}

static int finish(struct al_app *app, struct al_reply *reply)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(ARENA);
    const struct al_json *v;
    struct made m = {0};
    if (al_json_parse(&arena, al_buf_str(&reply->structured), &v, &reply->err) < 0)
        return -1;
    if (al_args_has(&app->args, AL_FLAG_PLAN)) {
        if (!app->json)
            say_plan(app, v, reply);
        return 0;
    }
    int r = find_made(app, v, &m, &reply->err);
    if (r == 0 && (r = deliver(app, &m, &reply->err)) < 0 && !reply->err.hint[0])
        al_hint(&reply->err, "the page itself is made: `alisio artifacts export %s .` copies it",
                m.artifact.id);
    if (r == 0 && !app->json)
        say_made(app, v, &m, reply);
    if (r == 0 && app->json)
        put_place(app, m.page, &reply->structured);
    al_artifact_fini(&m.artifact);
    free(m.page);
    return r;
}

/* Off by configuration: the tool is not there, which has a cure. */
static int check_on(struct al_app *app, struct al_err *err)
{
    if (al_core_tool(app->core, AL_STR("dashboard_generate")))
        return 0;
    if (al_args_has(&app->args, AL_FLAG_READ_ONLY)) {
        al_fail(err, AL_PERMISSION_DENIED, "a dashboard is published, which --read-only does not allow");
        return al_hint(err, "`alisio data query` only reads");
    }
    al_fail(err, AL_TOOL_NOT_FOUND, "dashboards are switched off by analysis.smartDashboard");
    return al_hint(err, "alisio config set analysis.smartDashboard true");
}

/* Hints name tools; a person has commands. */
static void say_commands(struct al_err *err)
{
    static const struct {
        const char *tool, *command;
    } words[] = {{"data_inspect", "`alisio data inspect`"},
                 {"data_query", "`alisio data query`"},
                 {"python_run", "`alisio py`"},
                 {"list_files", "`ls`"},
                 {"artifact_list, or `alisio artifacts list`,", "`alisio artifacts list`"},
                 {"= != in not_in contains", "= != ~ (contains); several values by |"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct al_str hint = al_str_of(err->hint);
        ptrdiff_t at = al_str_find(hint, al_str_of(words[i].tool));
        if (at < 0)
            continue;
        autofree char *said = NULL;
        if (asprintf(&said, "%.*s%s%s", (int)at, err->hint, words[i].command,
                     err->hint + at + strlen(words[i].tool)) < 0)
            abort();
        al_hint(err, "%s", said);
    }
}

int al_cmd_dashboard(struct al_app *app, struct al_reply *reply)
{
    autobuf struct al_buf args = AL_BUF_INIT(MAX_ARGS);
    char id[AL_ID_MAX];
    struct al_jw w;
    snprintf(reply->tool, sizeof reply->tool, "dashboard_generate");
    if (check_output(app, &reply->err) < 0 || al_data_ready(app, &reply->err) < 0 ||
        check_on(app, &reply->err) < 0)
        return -1;
    al_jw_init(&w, &args);
    if (al_data_find_word(app, app->args.pos[0], id, &reply->err) < 0 ||
        put_args(app, id, &w, &reply->err) < 0 ||
        al_app_call(app, AL_STR("dashboard_generate"), al_buf_str(&args), reply) < 0) {
        say_commands(&reply->err);
        return -1;
    }
    return finish(app, reply);
}
