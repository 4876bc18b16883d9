#include "cli/py.h"

#include "artifact/artifact.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/py_output.h"
#include "cli/run_text.h"
#include "cli/script.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_ARGS (16u << 20)
#define ARENA (64u << 20)

/* --- inputs --- */

/* "NAME=FILE", unless there is a file of that very name. NULL: it is no such pair. */
static const char *after_name(const char *word)
{
    struct stat st;
    const char *equals = strchr(word, '='), *slash = strchr(word, '/');
    if (!equals || equals == word || (slash && slash < equals) || lstat(word, &st) == 0)
        return NULL;
    return equals + 1;
}

static int put_input(struct al_app *app, struct al_jw *w, const char *word, struct al_err *err)
{
    const char *what = after_name(word);
    if (!*word || (what && !*what)) {
        al_fail(err, AL_INVALID_INPUT, "--in %.80s names no file", word);
        return al_hint(err, "--in FILE, --in NAME=FILE, --in ds_ID or --in art_ID");
    }
    al_jw_obj(w);
    if (what)
        al_jw_kstr(w, "as", (struct al_str){word, (size_t)(what - word) - 1});
    else
        what = word;
    if (al_id_valid(al_str_of(what), "ds"))
        al_jw_kstrz(w, "datasetId", what);
    else if (al_id_valid(al_str_of(what), "art"))
        al_jw_kstrz(w, "artifactId", what);
    else
        al_app_put_path(app, w, "path", what);
    al_jw_end(w);
    return 0;
}

int al_py_put_inputs(struct al_app *app, struct al_jw *w, struct al_err *err)
{
    const struct al_args *args = &app->args;
    if (args->n_list[AL_LIST_INPUTS] == 0)
        return 0;
    al_jw_key(w, "inputs");
    al_jw_arr(w);
    for (size_t i = 0; i < args->n_list[AL_LIST_INPUTS]; i++) {
        if (put_input(app, w, args->list[AL_LIST_INPUTS][i], err) < 0)
            return -1;
    }
    al_jw_end(w);
    return 0;
}

/* --- for a person --- */

static void say_artifact(struct al_app *app, const struct al_json *v, struct al_buf *out)
{
    struct al_artifact a = {0};
    struct al_err ignored;
    char id[AL_ID_MAX];
    int64_t bytes = 0, files = 0;
    snprintf(id, sizeof id, "%.*s", AL_FMT(al_json_get_text(v, "id")));
    al_json_int(al_json_get(v, "bytes"), 0, INT64_MAX, &bytes);
    al_json_int(al_json_get(v, "files"), 0, INT64_MAX, &files);
    al_buf_adds(out, "published ");
    al_say_foreign(app, out, al_utf8_head(al_json_get_text(v, "fileName"), 120), false);
    al_buf_addf(out, " (%.*s, ", AL_FMT(al_utf8_head(al_json_get_text(v, "kind"), 20)));
    al_text_bytes(out, (uint64_t)bytes);
    if (files > 1)
        al_buf_addf(out, ", %lld files", (long long)files);
    al_buf_addf(out, ")%s  %s\n", al_json_is_true(al_json_get(v, "partial")) ? ", partial" : "", id);
    if (al_store_artifact_get(app->store, id, NULL, &a, &ignored) < 0)
        return;
    autofree char *dir = al_artifact_dir(app->store, &a);
    al_buf_adds(out, "  in ");
    al_say_foreign(app, out, al_str_of(dir ? dir : ""), false);
    al_buf_addc(out, '\n');
    al_artifact_fini(&a);
}

/* "1.2 s in bwrap (os-sandbox); …", of a script that came to run: only then is it known who keeps its limits.
 */
static void say_summary(const struct al_json *record, struct al_buf *out)
{
    int64_t ms = 0;
    struct al_str backend = al_json_get_text(record, "backend");
    al_json_int(al_json_get(record, "durationMs"), 0, INT64_MAX, &ms);
    if (!backend.n || !al_json_get(al_json_get(record, "limits"), "keptBy"))
        return;
    al_text_duration(out, (uint64_t)ms);
    al_buf_addf(out, " in %.*s (%.*s)", AL_FMT(al_utf8_head(backend, 20)),
                AL_FMT(al_utf8_head(al_json_get_text(record, "isolation"), 30)));
    if (al_str_is(al_json_get_text(record, "isolation"), "none"))
        al_buf_adds(out, ", not sandboxed");
    struct al_str reason = al_json_get_text(record, "reason");
    if (reason.n)
        al_buf_addf(out, "; %.*s", AL_FMT(al_utf8_head(reason, 300)));
    al_buf_addc(out, '\n');
}

/* Two inputs of one name: the second has another one, which the script must know. */
static void say_names(struct al_app *app, const struct al_json *record, struct al_buf *out)
{
    const struct al_json *inputs = al_json_get(record, "inputs");
    size_t i = 0;
    if (!inputs || inputs->n != app->args.n_list[AL_LIST_INPUTS] || al_json_get(record, "rerunOf"))
        return;
    al_json_each(input, inputs)
    {
        const char *word = app->args.list[AL_LIST_INPUTS][i++], *what = after_name(word);
        const char *slash = what ? NULL : strrchr(word, '/');
        struct al_str wanted = what    ? (struct al_str){word, (size_t)(what - word) - 1}
                               : slash ? al_str_of(slash + 1)
                                       : al_str_of(word);
        struct al_str name = al_json_get_text(input, "name");
        if (!al_str_is(al_json_get_text(input, "kind"), "file") || al_str_eq(wanted, name))
            continue;
        al_buf_adds(out, "--in ");
        al_say_foreign(app, out, al_utf8_head(al_str_of(word), 120), false);
        al_buf_adds(out, " is called ");
        al_say_foreign(app, out, al_utf8_head(name, 120), false);
        al_buf_adds(out, " in the script's input folder\n");
    }
}

/* Hints are written for a model, in the words of the tool's fields; who typed the command has flags. */
static void in_flags(struct al_err *err)
{
    static const struct {
        const char *field, *flag;
    } words[] = {
        {"pass inputs: [{\"path\": \"", "pass --in \""},
        {"\"}] and open it beneath", "\" and open it beneath"},
        {"as inputs", "by --in"},
        {"pass extras: [\"analysis\"]", "pass --extras analysis"},
        {"pass extras: [\"science\"]", "pass --extras science"},
        {"pass timeoutMs (now", "pass --timeout (now"},
        {"overwrite: true replaces it", "--overwrite replaces it"},
    };
    autobuf struct al_buf out = AL_BUF_INIT(4 * sizeof err->hint);
    struct al_str rest = al_str_of(err->hint);
    while (rest.n) {
        size_t i = 0;
        while (i < sizeof words / sizeof *words && !al_str_starts(rest, words[i].field))
            i++;
        bool found = i < sizeof words / sizeof *words;
        size_t n = found ? strlen(words[i].field) : 1;
        if (found)
            al_buf_adds(&out, words[i].flag);
        else
            al_buf_addc(&out, *rest.p);
        rest = (struct al_str){rest.p + n, rest.n - n};
    }
    al_hint(err, "%.*s", AL_FMT(al_buf_str(&out)));
}

/* What it printed was shown while it ran. */
static void person_form(struct al_app *app, const struct al_json *record, struct al_reply *reply)
{
    al_buf_clear(&reply->text);
    say_names(app, record, &reply->note);
    al_json_each(warning, al_json_get(record, "warnings"))
    {
        if (al_json_is_string(warning))
            al_buf_addf(&reply->note, "warning: %.*s\n", AL_FMT(al_utf8_head(warning->str, 400)));
    }
    al_json_each(artifact, al_json_get(record, "artifacts")) say_artifact(app, artifact, &reply->note);
    say_summary(record, &reply->note);
}

/* --- the call --- */

int al_py_export(struct al_app *app, const char *id, const char *dir, bool overwrite, struct al_reply *reply,
                 struct al_buf *out)
{
    autobuf struct al_buf args = AL_BUF_INIT(MAX_ARGS);
    struct al_reply made;
    struct al_jw w;
    al_jw_init(&w, &args);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "id", id);
    al_app_put_path(app, &w, "target", dir);
    al_jw_kbool(&w, "overwrite", overwrite);
    al_jw_end(&w);
    al_reply_init(&made, "artifact_export");
    int r = al_app_call(app, AL_STR("artifact_export"), al_buf_str(&args), &made);
    if (r == 0)
        al_buf_add_str(out, al_buf_str(&made.model_text));
    else
        reply->err = made.err;
    if (r < 0)
        in_flags(&reply->err);
    if (r == 0 && out->n && out->p[out->n - 1] != '\n')
        al_buf_addc(out, '\n');
    al_reply_free(&made);
    return r;
}

static int export_all(struct al_app *app, const struct al_json *record, struct al_reply *reply)
{
    const char *dir = app->args.value[AL_FLAG_OUT];
    if (!dir)
        return 0;
    al_json_each(artifact, al_json_get(record, "artifacts"))
    {
        char id[AL_ID_MAX];
        snprintf(id, sizeof id, "%.*s", AL_FMT(al_json_get_text(artifact, "id")));
        if (al_py_export(app, id, dir, true, reply, &reply->note) < 0)
            return -1;
    }
    return 0;
}

int al_py_call(struct al_app *app, struct al_str args_json, struct al_reply *reply)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(ARENA);
    const struct al_json *record = NULL;
    struct al_py_output_view shown;
    struct al_err err;
    snprintf(reply->tool, sizeof reply->tool, "python_run");
    if (!al_core_tool(app->core, AL_STR("python_run")) && !al_args_has(&app->args, AL_FLAG_READ_ONLY)) {
        al_fail(&reply->err, AL_RUNTIME_UNAVAILABLE, "python_run is switched off by analysis.enabled");
        return al_hint(&reply->err, "alisio config set analysis.enabled true");
    }
    al_py_output_start(&shown, app);
    int r = al_app_call(app, AL_STR("python_run"), args_json, reply);
    al_py_output_end(&shown);
    in_flags(&reply->err);
    if (!reply->structured.n || al_json_parse(&arena, al_buf_str(&reply->structured), &record, &err) < 0)
        return r;
    if (!app->json)
        person_form(app, record, reply);
    return r < 0 ? r : export_all(app, record, reply);
}

int al_py_command(struct al_app *app, const struct al_run *run, const struct al_json *record,
                  struct al_buf *out, struct al_err *err)
{
    autobuf struct al_buf backend = AL_BUF_INIT(64), by_hand = AL_BUF_INIT(4u << 20);
    struct al_py_job job = {.fd = -1};
    struct al_session session = {0};
    struct al_err why;
    char key[AL_WORKSPACE_KEY_MAX];
    if (al_app_core(app, "cli", err) < 0 || al_store_session_get(app->store, run->session, &session, err) < 0)
        return -1;
    al_buf_adds(out, "# once more, within walls, as a new run\nalisio --cwd ");
    al_text_shell(out, al_str_of(session.workspace));
    al_buf_addf(out, " artifacts rerun %s\n", run->id);
    al_buf_add_str(&backend, al_json_get_text(record, "backend"));
    al_buf_addc(&backend, 0);
    int b = backend.p ? al_py_backend_find(backend.p) : -1;
    al_workspace_key(key, session.workspace);
    int r = al_py_job_open(al_store_dir(app->store), key, run->session, run->id, &job, &why);
    if (r == 0 && b >= 0 && b < AL_PY_N) {
        struct al_py_run_spec spec = {.job = &job, .backend = (enum al_py_backend)b};
        if (al_py_run_command(al_core_pyrun(app->core), &spec, &by_hand, &why) == 0) {
            al_buf_adds(out, "# by hand, without any wall\n");
            al_buf_add_str(out, al_buf_str(&by_hand));
        }
    }
    if (r == 0)
        al_py_job_close(&job);
    al_session_fini(&session);
    return 0;
}

#define MIN_TIMEOUT_MS 1000

/* Milliseconds are what other commands take; who means seconds is told. */
static int check_timeout(const struct al_args *args, struct al_err *err)
{
    long long ms =
        al_args_has(args, AL_FLAG_TIMEOUT) ? (long long)args->number[AL_FLAG_TIMEOUT] : MIN_TIMEOUT_MS;
    if (ms >= MIN_TIMEOUT_MS)
        return 0;
    al_fail(err, AL_INVALID_INPUT, "--timeout %lld is less than a second: it is in milliseconds", ms);
    return al_hint(err, "--timeout %lld is %lld seconds; 1000 is the least", 1000 * ms, ms);
}

static int build_args(struct al_app *app, struct al_buf *out, struct al_err *err)
{
    const struct al_args *args = &app->args;
    autobuf struct al_buf code = AL_BUF_INIT(AL_SCRIPT_MAX_BYTES);
    struct al_jw w;
    if (check_timeout(args, err) < 0 || al_script_read(app, &code, err) < 0)
        return -1;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstr(&w, "code", al_buf_str(&code));
    al_script_put_title(app, &w);
    if (al_args_has(args, AL_FLAG_TIMEOUT))
        al_jw_kint(&w, "timeoutMs", args->number[AL_FLAG_TIMEOUT]);
    if (al_args_has(args, AL_FLAG_PUBLISH_ON_ERROR))
        al_jw_kbool(&w, "publishOnError", true);
    if (al_args_has(args, AL_FLAG_EXTRAS)) {
        al_jw_key(&w, "extras");
        al_jw_arr(&w);
        al_jw_strz(&w, args->value[AL_FLAG_EXTRAS]);
        al_jw_end(&w);
    }
    if (al_py_put_inputs(app, &w, err) < 0)
        return -1;
    al_jw_end(&w);
    return al_buf_failed(out) ? al_fail(err, AL_INVALID_INPUT, "the script is larger than 16 MiB") : 0;
}

int al_cmd_py(struct al_app *app, struct al_reply *reply)
{
    autobuf struct al_buf args = AL_BUF_INIT(MAX_ARGS);
    snprintf(reply->tool, sizeof reply->tool, "python_run");
    if (al_app_core(app, "cli", &reply->err) < 0 || al_app_workspace(app, &reply->err) < 0 ||
        build_args(app, &args, &reply->err) < 0)
        return -1;
    return al_py_call(app, al_buf_str(&args), reply);
}
