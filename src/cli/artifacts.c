/* artifacts list, show, export, rerun, rm. */
#include "artifact/artifact.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/py.h"
#include "cli/run_text.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

#define ARENA (16u << 20)
#define DEFAULT_LIMIT 50

/* --- which one --- */

static bool keep_newest(void *ud, const struct al_artifact *a)
{
    snprintf(ud, AL_ID_MAX, "%s", a->id);
    return false;
}

/* An id, or "last". Opens workspace and store. */
static int find(struct al_app *app, const char *word, struct al_artifact *ret, struct al_err *err)
{
    char id[AL_ID_MAX] = "";
    if (al_app_workspace(app, err) < 0 || al_app_store(app, err) < 0)
        return -1;
    if (strcmp(word, "last") != 0) {
        if (!al_id_valid(al_str_of(word), "art")) {
            al_fail(err, AL_INVALID_INPUT, "%.80s is not the id of an artifact", word);
            return al_hint(err, "`alisio artifacts list` shows the ids; `last` is the newest");
        }
        return al_store_artifact_get(app->store, word, app->workspace, ret, err);
    }
    struct al_artifact_filter filter = {.workspace = app->workspace, .limit = 1};
    if (al_store_artifact_each(app->store, &filter, keep_newest, id, err) < 0)
        return -1;
    if (!id[0]) {
        al_fail(err, AL_NOT_FOUND, "nothing was published in this workspace yet");
        return al_hint(err, "`alisio py FILE` runs a script and publishes what it leaves");
    }
    return al_store_artifact_get(app->store, id, app->workspace, ret, err);
}

/* --- list --- */

struct listing {
    struct al_table table;
    struct al_jw w;
};

static void put_artifact(struct al_jw *w, const struct al_artifact *a)
{
    al_jw_kstrz(w, "id", a->id);
    al_jw_kstrz(w, "title", a->title);
    al_jw_kstrz(w, "fileName", a->file_name);
    al_jw_kstrz(w, "kind", a->kind);
    al_jw_kstrz(w, "mimeType", a->mime);
    al_jw_kint(w, "bytes", a->bytes);
    al_jw_kint(w, "files", a->n_files);
    al_jw_kbool(w, "partial", a->partial);
    al_jw_kstrz(w, "status", a->status);
    al_jw_kstrz(w, "sessionId", a->session);
    al_jw_kstrz(w, "executionId", a->execution[0] ? a->execution : NULL);
    al_jw_kstrz(w, "sha256", a->sha256);
    al_jw_ktime(w, "createdAt", a->created_ms);
}

static bool list_one(void *ud, const struct al_artifact *a)
{
    struct listing *l = ud;
    autobuf struct al_buf size = AL_BUF_INIT(64), made = AL_BUF_INIT(64);
    bool ready = strcmp(a->status, "ready") == 0;
    al_text_bytes(&size, (uint64_t)a->bytes);
    al_say_time(&made, a->created_ms);
    al_table_add(&l->table, a->id);
    al_table_add(&l->table, a->kind);
    al_table_add_str(&l->table, al_buf_str(&size));
    al_table_add_str(&l->table, al_buf_str(&made));
    al_table_add(&l->table, a->file_name);
    al_table_add_style(&l->table,
                       !ready       ? a->status
                       : a->partial ? "partial"
                                    : a->title,
                       ready ? AL_PLAIN : AL_DIM);
    al_jw_obj(&l->w);
    put_artifact(&l->w, a);
    al_jw_end(&l->w);
    return true;
}

static int check_kind(const char *kind, struct al_err *err)
{
    static const char *const kinds[] = {"dashboard", "document", "spreadsheet", "image",
                                        "data",      "code",     "archive",     "file"};
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kind, kinds[i]) == 0)
            return 0;
    }
    if (!kind)
        return 0;
    al_fail(err, AL_INVALID_INPUT, "%.40s is no kind of artifact", kind);
    return al_hint(err, "dashboard, document, spreadsheet, image, data, code, archive or file");
}

int al_cmd_artifacts_list(struct al_app *app, struct al_reply *reply)
{
    static const char *const heads[] = {"ID", "KIND", "SIZE", "MADE", "FILE", "TITLE", NULL};
    const struct al_args *args = &app->args;
    struct listing l = {0};
    if (check_kind(args->value[AL_FLAG_KIND], &reply->err) < 0 || al_app_workspace(app, &reply->err) < 0 ||
        al_app_store(app, &reply->err) < 0)
        return -1;
    struct al_artifact_filter filter = {
        .workspace = app->workspace,
        .session = args->value[AL_FLAG_SESSION],
        .kind = args->value[AL_FLAG_KIND],
        .all = true,
        .limit = al_args_has(args, AL_FLAG_LIMIT) ? (int)args->number[AL_FLAG_LIMIT] : DEFAULT_LIMIT,
    };
    al_table_init(&l.table, heads);
    l.table.fixed = 1;
    l.table.right = 1u << 2;
    al_jw_init(&l.w, &reply->structured);
    al_jw_obj(&l.w);
    al_jw_key(&l.w, "artifacts");
    al_jw_arr(&l.w);
    int r = al_store_artifact_each(app->store, &filter, list_one, &l, &reply->err);
    al_jw_end(&l.w);
    al_jw_end(&l.w);
    if (l.table.n_cells == 0)
        al_buf_adds(&reply->text, filter.kind ? "no artifact of that kind in this workspace\n"
                                              : "this workspace has no artifact yet; `alisio py FILE` runs a "
                                                "script and publishes what it leaves\n");
    al_table_print(app, &l.table, &reply->text);
    al_table_free(&l.table);
    return r;
}

/* --- show --- */

struct files {
    struct al_app *app;
    struct al_buf *out;
};

static bool say_file(void *ud, struct al_str path, int64_t bytes, struct al_str sha256)
{
    struct files *f = ud;
    autobuf struct al_buf size = AL_BUF_INIT(64);
    (void)sha256;
    al_text_bytes(&size, (uint64_t)bytes);
    al_buf_addf(f->out, "  %10.*s  ", AL_FMT(al_buf_str(&size)));
    al_say_foreign(f->app, f->out, path, false);
    al_buf_addc(f->out, '\n');
    return true;
}

static void say_value(struct al_app *app, struct al_buf *out, const char *name, struct al_str value)
{
    if (!value.n)
        return;
    al_buf_addf(out, "%-10s ", name);
    al_say_foreign(app, out, al_utf8_head(value, 400), false);
    al_buf_addc(out, '\n');
}

static void say_provenance(struct al_app *app, const struct al_json *p, struct al_buf *out)
{
    const struct al_json *runtime = al_json_get(p, "runtime");
    al_json_each(input, al_json_get(p, "inputs"))
        say_value(app, out, "input", al_json_get_text(input, "name"));
    say_value(app, out, "run", al_json_get_text(p, "executionId"));
    say_value(app, out, "rerun of", al_json_get_text(p, "rerunOf"));
    say_value(app, out, "engine", al_json_get_text(runtime, "backend"));
    say_value(app, out, "isolation", al_json_get_text(runtime, "isolation"));
    say_value(app, out, "reason", al_json_get_text(runtime, "reason"));
    say_value(app, out, "python", al_json_get_text(runtime, "python"));
}

static int say_shown(struct al_app *app, const struct al_artifact *a, struct al_reply *reply)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(ARENA);
    const struct al_json *manifest = NULL;
    struct al_buf *out = &reply->text;
    struct al_err ignored;
    autofree char *dir = al_artifact_dir(app->store, a);
    autobuf struct al_buf size = AL_BUF_INIT(64), made = AL_BUF_INIT(64);
    struct files files = {app, out};
    al_text_bytes(&size, (uint64_t)a->bytes);
    al_say_time(&made, a->created_ms);
    al_buf_adds(out, al_style_on(app->color, AL_BOLD));
    al_say_foreign(app, out, al_str_of(a->title && *a->title ? a->title : a->file_name), false);
    al_buf_addf(out, "%s\n", al_style_off(app->color, AL_BOLD));
    al_buf_addf(out, "%-10s %s\n%-10s %s%s\n%-10s %.*s\n%-10s %.*s\n", "id", a->id, "kind", a->kind,
                a->partial ? ", partial: its script failed" : "", "size", AL_FMT(al_buf_str(&size)), "made",
                AL_FMT(al_buf_str(&made)));
    if (strcmp(a->status, "ready") == 0)
        say_value(app, out, "place", al_str_of(dir ? dir : ""));
    else
        say_value(app, out, "status", al_str_of(a->status));
    if (a->manifest && al_json_parse(&arena, al_str_of(a->manifest), &manifest, &ignored) == 0)
        say_provenance(app, al_json_get(manifest, "provenance"), out);
    al_buf_adds(out, "\nfiles\n");
    return al_artifact_files(a, say_file, &files, &reply->err);
}

int al_cmd_artifacts_show(struct al_app *app, struct al_reply *reply)
{
    struct al_artifact a = {0};
    struct al_jw w;
    if (find(app, app->args.pos[0], &a, &reply->err) < 0)
        return -1;
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    put_artifact(&w, &a);
    autofree char *dir = al_artifact_dir(app->store, &a);
    al_jw_kstrz(&w, "path", dir);
    if (a.manifest)
        al_jw_kraw(&w, "manifest", al_str_of(a.manifest));
    al_jw_end(&w);
    int r = say_shown(app, &a, reply);
    al_artifact_fini(&a);
    return r;
}

/* --- export, rerun, rm --- */

int al_cmd_artifacts_export(struct al_app *app, struct al_reply *reply)
{
    struct al_artifact a = {0};
    const struct al_args *args = &app->args;
    if (find(app, args->pos[0], &a, &reply->err) < 0)
        return -1;
    int r = al_app_core(app, "cli", &reply->err);
    if (r == 0)
        r = al_py_export(app, a.id, args->pos[1], al_args_has(args, AL_FLAG_OVERWRITE), reply, &reply->text);
    al_artifact_fini(&a);
    return r;
}

int al_cmd_artifacts_rerun(struct al_app *app, struct al_reply *reply)
{
    autobuf struct al_buf args = AL_BUF_INIT(1u << 20);
    struct al_artifact a = {0};
    struct al_jw w;
    const char *word = app->args.pos[0];
    bool run = al_id_valid(al_str_of(word), "exec"); /* one that published nothing has no artifact */
    if ((!run && find(app, word, &a, &reply->err) < 0) || al_app_core(app, "cli", &reply->err) < 0) {
        al_artifact_fini(&a);
        return -1;
    }
    al_jw_init(&w, &args);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "rerunOf", run ? word : a.id);
    al_artifact_fini(&a);
    if (al_py_put_inputs(app, &w, &reply->err) < 0)
        return -1;
    al_jw_end(&w);
    return al_py_call(app, al_buf_str(&args), reply);
}

int al_cmd_artifacts_rm(struct al_app *app, struct al_reply *reply)
{
    struct al_jw w;
    int r = 0;
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_key(&w, "deleted");
    al_jw_arr(&w);
    for (size_t i = 0; r == 0 && i < app->args.n_pos; i++) {
        struct al_artifact a = {0};
        r = find(app, app->args.pos[i], &a, &reply->err);
        if (r == 0)
            r = al_artifact_end(app->store, &a, "deleted", &reply->err);
        if (r == 0) {
            al_buf_addf(&reply->text, "deleted %s\n", a.id);
            al_jw_strz(&w, a.id);
        }
        al_artifact_fini(&a);
    }
    al_jw_end(&w);
    al_jw_end(&w);
    return r;
}
