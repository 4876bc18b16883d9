/* git_status and git_diff. */
#include "tools/git_int.h"

#include "base/mem.h"
#include "base/text.h"

#define OUTPUT_MAX (8u << 20)
#define NAMES_MAX (4u << 20)
#define MAX_EXCLUDES 500
#define MAX_FILES 20000

static void note_programs(struct al_git *g)
{
    if (g->programs.n > 0)
        al_buf_addf(&g->call->text,
                    "[programs that the repository's configuration names were not run: %.*s]\n",
                    AL_FMT(al_buf_str(&g->programs)));
}

/* --- git_status --- */

static void status_work(struct al_git *g)
{
    struct al_call *call = g->call;
    int r = al_git_status_json(al_buf_str(&g->out), al_buf_str(&g->prefix), &call->structured, &call->text,
                               &call->err);
    if (r < 0)
        return;
    if (r > 0 || g->out_truncated)
        al_buf_adds(&call->text, "[there are more entries than fit into a result]\n");
    note_programs(g);
}

static void status_done(struct al_git *g)
{
    if (g->exit_status != 0)
        al_git_fail(g);
    else
        al_git_end(g, status_work);
}

/* Whether one has other commits than recorded is seen in its own git dir, which may be anybody's: only
 * Landlock keeps git from looking there. What is changed within a submodule would take another git. */
static const char *submodules(const struct al_git *g)
{
    return g->sealed ? "--ignore-submodules=dirty" : "--ignore-submodules=all";
}

static void status_ready(struct al_git *g)
{
    const char *args[] = {"status",
                          "--porcelain=v2",
                          "--branch",
                          "-z",
                          "--untracked-files=normal",
                          NULL, /* submodules */
                          "--",
                          ".",
                          NULL};
    args[5] = submodules(g);
    al_git_run(g, args, OUTPUT_MAX, status_done);
}

static void status_start(struct al_call *call)
{
    al_git_start(call, status_ready);
}

/* --- git_diff --- */

struct diff {
    struct al_buf numstat;
    const char *path; /* beneath the workspace; NULL: all */
    bool staged;
    size_t n_secret; /* files whose content is not shown */
    bool names_cut;
};

static void diff_free(void *tool)
{
    struct diff *d = tool;
    al_buf_free(&d->numstat);
    free(d);
}

/* Not shown: what read_file would not show either. */
static bool is_secret(struct al_git *g, struct al_str path)
{
    autofree char *z = al_xdup(path.p, path.n);
    return al_workspace_is_secret(al_core_workspace(g->call->core), z);
}

static bool write_files(struct al_git *g, struct al_jw *w)
{
    struct diff *d = g->tool;
    struct al_str rest = al_buf_str(&d->numstat);
    struct al_git_numstat f;
    size_t n = 0;
    bool whole = true;
    al_jw_key(w, "files");
    al_jw_arr(w);
    while (al_git_numstat_next(&rest, &f)) {
        if (n++ == MAX_FILES || g->call->structured.n + al_tool_json_cost(f.path) > AL_TOOL_JSON_ROOM / 2) {
            whole = false;
            break;
        }
        al_jw_obj(w);
        al_jw_kstr(w, "path", f.path);
        al_jw_key(w, "added");
        if (f.added >= 0)
            al_jw_int(w, f.added);
        else
            al_jw_null(w);
        al_jw_key(w, "removed");
        if (f.removed >= 0)
            al_jw_int(w, f.removed);
        else
            al_jw_null(w);
        al_jw_end(w);
    }
    al_jw_end(w);
    return whole;
}

/* Whole lines only, where there is one. */
static struct al_str fit_lines(struct al_str s, size_t room)
{
    struct al_str fits = al_tool_fit_json(s, room);
    const char *lf = fits.n < s.n ? memrchr(fits.p, '\n', fits.n) : NULL;
    if (lf)
        fits.n = (size_t)(lf - fits.p) + 1;
    return fits;
}

static void diff_text(struct al_git *g, struct al_str patch, bool cut)
{
    struct diff *d = g->tool;
    struct al_buf *out = &g->call->text;
    autobuf struct al_buf clean = AL_BUF_INIT(OUTPUT_MAX * 3 + 3);
    al_utf8_clean(&clean, patch);
    struct al_str all = al_buf_str(&clean), head = al_utf8_head(all, AL_TOOL_TEXT_CHARS);
    const char *lf = head.n < all.n ? memrchr(head.p, '\n', head.n) : NULL;
    if (lf)
        head.n = (size_t)(lf - head.p) + 1;
    al_buf_add_str(out, head);
    if (patch.n == 0 && d->n_secret == 0)
        al_buf_addf(out, "no %s changes%s%s\n", d->staged ? "staged" : "unstaged", d->path ? " in " : "",
                    d->path ? d->path : "");
    else if (patch.n > 0 && patch.p[patch.n - 1] != '\n')
        al_buf_addc(out, '\n');
    if (head.n < all.n || cut)
        al_buf_adds(out, "[cut; path narrows it to a file or folder]\n");
    if (d->n_secret > 0)
        al_buf_addf(out, "[%zu changed file%s that may hold secrets: not shown]\n", d->n_secret,
                    d->n_secret == 1 ? "" : "s");
    note_programs(g);
}

/* The names are looked at once more: files and the index may have changed since the first look. */
static int take_patch(struct al_git *g, struct al_buf *out)
{
    struct diff *d = g->tool;
    autobuf struct al_buf name = AL_BUF_INIT(65536);
    struct al_str part, rest = al_buf_str(&g->out);
    while (al_git_patch_next(&rest, &part, &name)) {
        struct al_str path = al_buf_str(&name);
        if (path.n > 0 && !al_git_path_is_plain(path))
            return al_git_fail_path(path, &g->call->err);
        if (path.n == 0 || is_secret(g, path))
            d->n_secret++;
        else
            al_buf_add_str(out, part);
    }
    return 0;
}

static void diff_work(struct al_git *g)
{
    struct diff *d = g->tool;
    struct al_jw w;
    autobuf struct al_buf shown = AL_BUF_INIT(OUTPUT_MAX);
    if (take_patch(g, &shown) < 0)
        return;
    al_jw_init(&w, &g->call->structured);
    al_jw_obj(&w);
    bool cut = !write_files(g, &w) || d->names_cut || g->out_truncated;
    struct al_str patch = fit_lines(al_buf_str(&shown), AL_TOOL_JSON_ROOM - g->call->structured.n);
    cut = cut || patch.n < shown.n;
    al_jw_kstr(&w, "diff", patch);
    al_jw_kbool(&w, "truncated", cut);
    al_jw_end(&w);
    diff_text(g, patch, cut);
}

static void patch_done(struct al_git *g)
{
    if (g->exit_status != 0)
        al_git_fail(g);
    else
        al_git_end(g, diff_work);
}

struct args {
    const char *v[MAX_EXCLUDES + 40];
    size_t n;
};

static void arg(struct args *a, const char *z)
{
    a->v[a->n++] = z;
    a->v[a->n] = NULL;
}

static void diff_args(struct al_git *g, struct args *a, bool patch)
{
    struct diff *d = g->tool;
    static const char *const common[] = {
        "diff",         "--no-ext-diff", "--no-textconv",     "--no-color",      "--relative",
        "--no-renames", "-O/dev/null",   "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/"};
    a->n = 0;
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
        arg(a, common[i]);
    arg(a, submodules(g));
    if (d->staged)
        arg(a, "--cached");
    arg(a, patch ? "--patch" : "--numstat");
    if (!patch)
        arg(a, "-z");
    arg(a, "--");
    arg(a, d->path ? al_arena_printf(&g->call->arena, ":(literal)%s", d->path) : ".");
}

/* The names are there: now the patch, without the files that may hold secrets. */
static void names_done(struct al_git *g)
{
    struct diff *d = g->tool;
    if (g->exit_status != 0) {
        al_git_fail(g);
        return;
    }
    d->numstat = g->out;
    al_buf_init(&g->out, 0);
    d->names_cut = g->out_truncated;
    struct args a;
    diff_args(g, &a, true);
    struct al_str rest = al_buf_str(&d->numstat);
    struct al_git_numstat f;
    bool too_many = d->names_cut; /* what was not seen cannot be left out */
    while (al_git_numstat_next(&rest, &f) && !too_many) {
        if (!al_git_path_is_plain(f.path)) {
            al_git_fail_path(f.path, &g->call->err);
            al_git_end(g, NULL);
            return;
        }
        if (!is_secret(g, f.path))
            continue;
        too_many = d->n_secret++ == MAX_EXCLUDES;
        const char *spec = al_arena_printf(&g->call->arena, ":(exclude,literal)%.*s", AL_FMT(f.path));
        if (!spec || too_many)
            too_many = true;
        else
            arg(&a, spec);
    }
    if (too_many) {
        al_fail(&g->call->err, AL_TOOL_ERROR, "too many files changed to show their differences at once");
        al_hint(&g->call->err, "path narrows it to a file or folder");
        al_git_end(g, NULL);
        return;
    }
    al_git_run(g, a.v, OUTPUT_MAX, patch_done);
}

static void diff_ready(struct al_git *g)
{
    struct al_call *call = g->call;
    struct diff *d = al_xcalloc(1, sizeof(*d));
    g->tool = d;
    g->free_tool = diff_free;
    d->staged = al_json_is_true(al_json_get(call->args, "staged"));
    struct al_str path = al_json_get_text(call->args, "path");
    struct al_place place;
    if (path.n > 0) {
        if (al_workspace_resolve(al_core_workspace(call->core), path, AL_WANT_READ, false, &call->arena,
                                 &place, &call->err) < 0) {
            al_git_end(g, NULL);
            return;
        }
        if (place.kind != AL_PLACE_WORKSPACE) {
            al_fail(&call->err, AL_PATH_OUTSIDE_WORKSPACE, "%s: is not in the workspace", place.shown);
            al_git_end(g, NULL);
            return;
        }
        d->path = strcmp(place.rel, ".") == 0 ? NULL : place.rel;
    }
    struct args a;
    diff_args(g, &a, false);
    al_git_run(g, a.v, NAMES_MAX, names_done);
}

static void diff_start(struct al_call *call)
{
    al_git_start(call, diff_ready);
}

const struct al_tool al_tool_git_status = {
    .name = "git_status",
    .title = "Git status",
    .description = "Shows the branch and the changed, staged, conflicting and untracked files of the "
                   "workspace's git repository "
                   "(the part of it in the workspace). The structured value is {branch, ahead, behind, "
                   "entries: [{path, index, "
                   "worktree, from?}]}; index and worktree are git's letters: M modified, A added, D "
                   "deleted, R renamed, U "
                   "conflict, ? untracked, '.' unchanged; branch is null on a detached HEAD, ahead and "
                   "behind without an upstream. "
                   "Only reads: no filter, hook or other program that the repository names is run.",
    .brief =
        "The branch and the changed, staged, conflicting and untracked files.",
    .input_schema = "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}",
    .output_schema = "{\"type\":\"object\",\"properties\":{\"branch\":{\"type\":[\"string\",\"null\"]},"
                     "\"ahead\":{\"type\":["
                     "\"integer\",\"null\"]},\"behind\":{\"type\":[\"integer\",\"null\"]},\"entries\":{"
                     "\"type\":\"array\",\"items\":{"
                     "\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"index\":{\"type\":"
                     "\"string\"},\"worktree\":{"
                     "\"type\":\"string\"},\"from\":{\"type\":\"string\",\"description\":\"the old name of a "
                     "rename\"}}}}}}",
    .effect = AL_EFFECT_READ,
    .expose = "files",
    .idempotent = true,
    .start = status_start,
    .cancel = al_git_cancel,
};

const struct al_tool al_tool_git_diff = {
    .name = "git_diff",
    .title = "Git diff",
    .description =
        "Shows the changes of tracked files in the workspace as a unified diff: the work tree against the "
        "index, or with "
        "staged: true the index against HEAD. Untracked files are not in it (git_status lists them). The "
        "text is cut "
        "at 28,000 characters; the structured value {diff, files: [{path, added, removed}], truncated} holds "
        "up to 8 "
        "MiB; added and removed are null for binary files. Files that may hold secrets are listed, but their "
        "changes "
        "are left out. Only reads: no filter, textconv or external diff that the repository names is run.",
    .brief =
        "The changes of tracked files as a unified diff. In scripts: {diff, files: [{path, "
        "added, removed}]}.",
    .input_schema = "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,"
                    "\"maxLength\":4096,"
                    "\"description\":\"Only this file or "
                    "folder\"},\"staged\":{\"type\":\"boolean\",\"description\":\"The "
                    "index against HEAD\"}},\"additionalProperties\":false}",
    .output_schema =
        "{\"type\":\"object\",\"properties\":{\"diff\":{\"type\":\"string\"},\"files\":{\"type\":\"array\","
        "\"items\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"added\":{\"type\":["
        "\"integer\",\"null\"]},\"removed\":{\"type\":[\"integer\",\"null\"]}}}},\"truncated\":{\"type\":"
        "\"boolean\"}}}",
    .effect = AL_EFFECT_READ,
    .expose = "files",
    .idempotent = true,
    .start = diff_start,
    .cancel = al_git_cancel,
};
