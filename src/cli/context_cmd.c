/* `alisio context explain PATH`: which instructions a model is sent for work in a folder. */
#include "agent/agent.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The folder that a path means: a file's is its own. Real, malloc'ed. */
static char *folder_of(const char *path, struct al_err *err)
{
    char real[PATH_MAX];
    struct stat st;
    if (!realpath(path, real) || stat(real, &st) < 0) {
        al_fail(err, AL_NOT_FOUND, "there is no %.200s", path);
        al_hint(err, "the path is taken from the current folder");
        return NULL;
    }
    char *slash = strrchr(real, '/');
    if (!S_ISDIR(st.st_mode) && slash)
        *(slash == real ? slash + 1 : slash) = 0;
    return al_xstrdup(real);
}

static void file_json(struct al_jw *w, const struct al_context_file *f)
{
    al_jw_obj(w);
    al_jw_kstrz(w, "path", f->path);
    al_jw_kint(w, "bytes", (int64_t)f->bytes);
    al_jw_kint(w, "sent", (int64_t)f->sent);
    al_jw_kbool(w, "trusted", f->trusted);
    al_jw_kbool(w, "used", f->used);
    if (f->why)
        al_jw_kstrz(w, "why", f->why);
    al_jw_end(w);
}

/* Of the person's own configuration folder, or of the workspace. */
static bool is_own(const struct al_context_file *f, const char *home)
{
    size_t n = strlen(home);
    return strncmp(f->path, home, n) == 0 && f->path[n] == '/';
}

static void explain(struct al_app *app, const struct al_context *c, const char *home, struct al_reply *reply)
{
    static const char *const heads[] = {"FILE", "BYTES", "SENT", "TRUST", "NOTE", NULL};
    autotable struct al_table t = {0};
    struct al_jw w;
    al_table_init(&t, heads);
    t.right = 1u << 1 | 1u << 2;
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_key(&w, "files");
    al_jw_arr(&w);
    for (size_t i = 0; i < c->n; i++) {
        const struct al_context_file *f = &c->files[i];
        al_table_add(&t, f->path);
        al_table_addf(&t, "%zu", f->bytes);
        al_table_addf(&t, "%zu", f->used ? f->sent : 0);
        al_table_add(&t, is_own(f, home) ? "yours" : f->trusted ? "trusted" : "not trusted");
        al_table_add(&t, f->why ? f->why : f->used ? "" : "not used");
        file_json(&w, f);
    }
    al_jw_end(&w);
    al_jw_end(&w);
    if (!c->n)
        al_buf_adds(&reply->text, "no AGENTS.md is read for that folder\n");
    al_table_print(app, &t, &reply->text);
    if (c->n && c->repository.n && !al_app_repository_trusted(app))
        al_buf_adds(
            &reply->note,
            "what an untrusted repository says is sent as a quotation, and without a terminal not at all; "
            "--trust-project makes it yours this once\n");
}

int al_cmd_context_explain(struct al_app *app, struct al_reply *reply)
{
    struct al_err *err = &reply->err;
    struct al_context c = {0};
    autofree char *dir = folder_of(app->args.pos[0], err);
    autofree char *home = al_config_home();
    if (!dir || al_app_core(app, "agent", err) < 0)
        return -1;
    bool trusted = al_app_repository_trusted(app);
    if (al_context_read(app->core, home, dir, trusted, &c, err) < 0)
        return -1;
    explain(app, &c, home, reply);
    al_context_fini(&c);
    return 0;
}
