/*
 * artifact_export: copies an artifact into the workspace. Every destination is found and checked by the rules
 * of write_file before the first byte is written, and once more when its folder is open. A copy that fails in
 * its middle takes back the files that it made.
 */
#include "tools/artifacts_int.h"
#include "tools/write_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_FILES 10000u
#define MAX_PATHS (8u << 20) /* bytes of all names */
#define CHUNK ((size_t)1 << 20)
#define SHOWN_FILES 200u
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1u
#endif

struct copy {
    const char *from; /* in the artifact */
    struct al_place to;
    bool exists; /* a file was there when it was looked at */
    bool made;   /* by us, where none was */
};

struct export
{
    struct al_call *call;
    struct al_artifact artifact;
    struct al_arena arena;
    struct copy *files;
    size_t n;
    bool overwrite;
    uint64_t bytes;
};

static void export_end(struct export *e)
{
    struct al_call *call = e->call;
    al_artifact_fini(&e->artifact);
    al_arena_free(&e->arena);
    free(e->files);
    free(e);
    call->impl = NULL;
    al_call_finish(call);
}

/* --- where each file goes --- */

static bool take_file(void *ud, struct al_str path, int64_t bytes, struct al_str sha256)
{
    struct export *e = ud;
    (void)sha256;
    const char *copy = e->n < MAX_FILES ? al_arena_dup(&e->arena, path) : NULL;
    if (!copy)
        return false;
    e->files[e->n++] = (struct copy){.from = copy};
    e->bytes += bytes > 0 ? (uint64_t)bytes : 0;
    return true;
}

/* A backslash separates folders, too: a model may write the path of another system. */
static int put_target(const struct export *e, struct al_buf *out, struct al_err *err)
{
    struct al_str target = al_json_get_text(e->call->args, "target");
    if (al_tool_is_scratch(target)) {
        al_fail(err, AL_INVALID_INPUT, "target: the scratchpad is no place for an artifact");
        return al_hint(err, "name a folder of the workspace; \".\" is its root");
    }
    for (size_t i = 0; i < target.n; i++)
        al_buf_addc(out, target.p[i] == '\\' ? '/' : target.p[i]);
    if (target.n == 0)
        al_buf_addc(out, '.');
    if (!al_str_ends(al_buf_str(out), "/"))
        al_buf_addc(out, '/');
    return 0;
}

/* Each part of a path by itself: what is safe as a whole need not be. */
static void put_safe_path(struct al_buf *out, const char *path)
{
    for (const char *part = path, *slash;; part = slash + 1) {
        slash = strchr(part, '/');
        autobuf struct al_buf safe = AL_BUF_INIT(1024);
        al_artifact_safe_name(slash ? (struct al_str){part, (size_t)(slash - part)} : al_str_of(part), &safe);
        al_buf_add_str(out, al_buf_str(&safe));
        if (!slash)
            return;
        al_buf_addc(out, '/');
    }
}

static bool is_taken(const struct export *e, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(e->files[i].to.path, path) == 0)
            return true;
    return false;
}

static void put_suffix(struct al_buf *path, unsigned k)
{
    size_t dot = path->n;
    for (size_t i = path->n; i > 0 && path->p[i - 1] != '/'; i--)
        if (path->p[i - 1] == '.') {
            dot = i - 1;
            break;
        }
    autobuf struct al_buf end = AL_BUF_INIT(1024);
    al_buf_add(&end, path->p + dot, path->n - dot);
    path->n = dot;
    al_buf_addf(path, "-%u", k);
    al_buf_add_str(path, al_buf_str(&end));
}

static int place_one(struct export *e, size_t i, const char *folder, struct al_err *err)
{
    autobuf struct al_buf path = AL_BUF_INIT(16u << 10);
    struct copy *c = &e->files[i];
    al_buf_adds(&path, folder);
    if (e->artifact.n_files > 1) {
        put_safe_path(&path, e->artifact.file_name);
        al_buf_addc(&path, '/');
        put_safe_path(&path, c->from);
    } else {
        put_safe_path(&path, e->artifact.file_name);
    }
    autofree char *plain = al_xdup(path.p ? path.p : "", path.n);
    for (unsigned k = 2;; k++) {
        if (al_buf_failed(&path))
            return al_fail(err, AL_INVALID_INPUT, "target: the path is too long");
        if (al_tool_place(e->call, al_buf_str(&path), AL_WANT_WRITE, &c->to, err) < 0)
            return -1;
        if (!is_taken(e, i, c->to.path)) /* at the latest at the i-th try */
            return 0;
        al_buf_clear(&path);
        al_buf_adds(&path, plain);
        put_suffix(&path, k);
    }
}

static int place_all(struct export *e, struct al_err *err)
{
    autobuf struct al_buf folder = AL_BUF_INIT(8192);
    if (put_target(e, &folder, err) < 0)
        return -1;
    al_buf_addc(&folder, '\0');
    if (al_buf_failed(&folder) || strlen(folder.p) + 1 != folder.n)
        return al_fail(err, AL_INVALID_INPUT, "target: is no path of a folder");
    for (size_t i = 0; i < e->n; i++)
        if (place_one(e, i, folder.p, err) < 0)
            return -1;
    return 0;
}

/* --- may it be there? --- */

/* The deepest folder on the way that is there, and what of the path comes after it. */
static int open_deepest(const struct al_place *place, int *ret_fd, const char **ret_rest, struct al_err *err)
{
    autofree char *folder = al_xstrdup(place->rel);
    for (;;) {
        char *slash = strrchr(folder, '/');
        if (slash)
            *slash = 0;
        if (al_path_open(place->dir_fd, slash ? folder : ".", O_PATH | O_DIRECTORY, 0, place->shown, ret_fd,
                         err) == 0) {
            *ret_rest = slash ? place->rel + strlen(folder) + 1 : place->rel;
            return 0;
        }
        if (err->code != AL_NOT_FOUND || !slash)
            return -1;
        al_err_clear(err);
    }
}

static int look_at(const struct export *e, const struct al_place *place, int folder_fd, const char *name,
                   bool *ret_exists, struct al_err *err)
{
    struct stat st;
    *ret_exists = fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*ret_exists)
        return errno == ENOENT || errno == ENOTDIR
                   ? 0
                   : al_fail_errno(err, AL_TOOL_ERROR, errno, "%s: cannot be looked at", place->shown);
    if (!S_ISREG(st.st_mode))
        return al_fail(err, AL_TOOL_ERROR, "%s: is there already, and is %s", place->shown,
                       S_ISDIR(st.st_mode)   ? "a folder"
                       : S_ISLNK(st.st_mode) ? "a link"
                                             : "no regular file");
    if (e->overwrite)
        return 0;
    al_fail(err, AL_TOOL_ERROR, "%s: is there already; nothing was copied", place->shown);
    return al_hint(err, "overwrite: true replaces it, or choose another target");
}

static int check_one(struct export *e, struct copy *c, struct al_err *err)
{
    const struct al_workspace *w = al_core_workspace(e->call->core);
    autofd int folder = -1;
    const char *rest;
    if (open_deepest(&c->to, &folder, &rest, err) < 0 ||
        al_workspace_check_write(w, &c->to, folder, rest, err) < 0)
        return -1;
    if (strchr(rest, '/'))
        return 0; /* its folder is not there yet, and neither is it */
    return look_at(e, &c->to, folder, rest, &c->exists, err);
}

/* --- copying --- */

static int copy_bytes(struct export *e, int from, int to, const char *shown, struct al_err *err)
{
    for (;;) {
        if (atomic_load(&e->call->cancelled))
            return al_fail(err, AL_CANCELLED, "%s: was cancelled before it was there", shown);
        ssize_t n = sendfile(to, from, NULL, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return al_fail_errno(err, AL_TOOL_ERROR, errno, "%s: cannot be written", shown);
        if (n == 0)
            return 0;
    }
}

static int put_in_place(const struct export *e, int folder, const char *tmp, const char *name,
                        const struct copy *c, struct al_err *err)
{
    unsigned how = e->overwrite ? 0 : RENAME_NOREPLACE;
    if (syscall(SYS_renameat2, folder, tmp, folder, name, how) == 0)
        return 0;
    if (errno == EEXIST)
        return al_fail(err, AL_TOOL_ERROR, "%s: is there by now", c->to.shown);
    if (errno == EINVAL && how &&
        linkat(folder, tmp, folder, name, 0) == 0) /* a file system without that flag */
        return unlinkat(folder, tmp, 0) == 0 ? 0 : al_fail_errno(err, AL_TOOL_ERROR, errno, "%s", tmp);
    return al_fail_errno(err, AL_TOOL_ERROR, errno, "%s: cannot be written", c->to.shown);
}

static int write_copy(struct export *e, struct copy *c, int from, int folder, const char *name,
                      struct al_err *err)
{
    char tmp[AL_PATH_TMP_MAX];
    struct stat old;
    bool keeps = fstatat(folder, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
    autofd int to = al_path_tmp_begin(folder, tmp);
    if (to < 0)
        return al_fail_errno(err, AL_TOOL_ERROR, -to, "%s: cannot be written", c->to.shown);
    int r = copy_bytes(e, from, to, c->to.shown, err);
    if (r == 0 && fchmod(to, keeps ? old.st_mode & 0777 : 0644) < 0)
        r = al_fail_errno(err, AL_TOOL_ERROR, errno, "%s: cannot be written", c->to.shown);
    if (r == 0 && fsync(to) < 0)
        r = al_fail_errno(err, AL_TOOL_ERROR, errno, "%s: cannot be written", c->to.shown);
    if (r == 0)
        r = put_in_place(e, folder, tmp, name, c, err);
    if (r < 0)
        (void)!unlinkat(folder, tmp, 0);
    al_path_tmp_end();
    return r;
}

/* Its way is looked at as it is by now: the copies before it may have made it another. */
static int copy_to(struct export *e, struct copy *c, int from, struct al_err *err)
{
    const struct al_workspace *w = al_core_workspace(e->call->core);
    autofd int deepest = -1, folder = -1;
    const char *rest, *name;
    bool exists = false;
    if (open_deepest(&c->to, &deepest, &rest, err) < 0 ||
        al_workspace_check_write(w, &c->to, deepest, rest, err) < 0)
        return -1;
    if (al_path_open_parent(c->to.dir_fd, c->to.rel, true, c->to.shown, &folder, &name, err) < 0 ||
        al_workspace_check_write(w, &c->to, folder, name, err) < 0 ||
        look_at(e, &c->to, folder, name, &exists, err) < 0)
        return -1;
    if (write_copy(e, c, from, folder, name, err) < 0)
        return -1;
    c->made = !exists;
    return 0;
}

static int copy_one(struct export *e, struct copy *c, struct al_err *err)
{
    autofd int from = -1;
    int64_t bytes;
    const char *mime;
    if (al_artifact_open(al_core_store(e->call->core), &e->artifact, e->artifact.n_files > 1 ? c->from : NULL,
                         &from, NULL, &bytes, &mime, err) < 0)
        return -1;
    al_target_repository_lock(c->to.rel);
    int r = copy_to(e, c, from, err);
    al_target_repository_unlock(c->to.rel);
    return r;
}

/* Files that were not there before; what was replaced stays replaced. */
static void take_back(struct export *e)
{
    for (size_t i = 0; i < e->n; i++) {
        struct copy *c = &e->files[i];
        autofd int folder = -1;
        const char *name;
        struct al_err ignored;
        if (c->made &&
            al_path_open_parent(c->to.dir_fd, c->to.rel, false, c->to.shown, &folder, &name, &ignored) == 0)
            (void)!unlinkat(folder, name, 0);
    }
}

static int export_now(struct export *e, struct al_err *err)
{
    if (place_all(e, err) < 0)
        return -1;
    for (size_t i = 0; i < e->n; i++)
        if (check_one(e, &e->files[i], err) < 0)
            return -1;
    for (size_t i = 0; i < e->n; i++)
        if (copy_one(e, &e->files[i], err) < 0) {
            take_back(e);
            return -1;
        }
    return 0;
}

static void tell(struct export *e)
{
    struct al_call *call = e->call;
    struct al_jw w;
    al_buf_adds(&call->text, "exported ");
    al_tool_artifact_words(&call->text, &e->artifact);
    al_buf_adds(&call->text, ":\n");
    al_jw_init(&w, &call->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "id", e->artifact.id);
    al_jw_key(&w, "files");
    al_jw_arr(&w);
    for (size_t i = 0; i < e->n; i++) {
        al_jw_strz(&w, e->files[i].to.path);
        if (i < SHOWN_FILES)
            al_buf_addf(&call->text, "%s\n", e->files[i].to.shown);
    }
    al_jw_end(&w);
    if (e->n > SHOWN_FILES)
        al_buf_addf(&call->text, "(%zu more)\n", e->n - SHOWN_FILES);
    al_jw_kint(&w, "bytes", (int64_t)e->bytes);
    al_jw_end(&w);
}

static void export_work(void *ud)
{
    struct export *e = ud;
    if (export_now(e, &e->call->err) == 0)
        tell(e);
}

static void export_done(void *ud)
{
    export_end(ud);
}

static int prepare(struct export *e, struct al_err *err)
{
    struct al_call *call = e->call;
    autofd int fd = -1;
    autobuf struct al_buf path = AL_BUF_INIT(8192);
    int64_t bytes;
    const char *mime;
    if (al_tool_artifact(call, &e->artifact, err) < 0 ||
        al_artifact_open(al_core_store(call->core), &e->artifact, NULL, &fd, &path, &bytes, &mime, err) < 0)
        return -1; /* an expired one says so */
    e->files = al_xcalloc(MAX_FILES, sizeof *e->files);
    if (al_artifact_files(&e->artifact, take_file, e, err) < 0)
        return -1;
    if (e->n == 0 || (int64_t)e->n < e->artifact.n_files)
        return al_fail(err, AL_TOOL_ERROR, "the files of %s cannot be listed", e->artifact.id);
    return 0;
}

static void export_start(struct al_call *call)
{
    struct export *e = al_xcalloc(1, sizeof *e);
    e->call = call;
    e->overwrite = al_json_is_true(al_json_get(call->args, "overwrite"));
    al_arena_init(&e->arena, MAX_PATHS);
    if (prepare(e, &call->err) < 0)
        export_end(e);
    else
        al_work_start(al_core_loop(call->core), export_work, export_done, e);
}

/* A person's own command is its approval; over MCP it is offered when it could be approved. */
const struct al_tool al_tool_artifact_export = {
    .name = "artifact_export",
    .title = "Copy an artifact into the workspace",
    .description =
        "Copies an artifact into a folder of the workspace: one file under its own name, an artifact of "
        "several files "
        "as a folder. Missing folders are made; files that are there are kept (and nothing is copied) unless "
        "overwrite is true; protected names are refused as write_file does. Structured value: {id, files: "
        "[relative "
        "paths], bytes}.",
    .brief =
        "Copies an artifact into a folder of the workspace. Files that are there are kept, and "
        "nothing is copied, unless overwrite is true.",
    .input_schema =
        "{\"type\":\"object\",\"required\":[\"id\",\"target\"],\"properties\":{\"id\":{\"type\":\"string\","
        "\"minLength\":1,\"maxLength\":64,\"description\":\"art_… of "
        "artifact_list\"},\"target\":{\"type\":\"string\","
        "\"minLength\":1,\"maxLength\":1024,\"description\":\"Folder in the workspace; . is its "
        "root\"},\"overwrite\":{\"type\":\"boolean\",\"default\":false,"
        "\"description\":\"Replace files that are there.\"}},\"additionalProperties\":false}",
    .output_schema = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"files\":{\"type\":"
                     "\"array\",\"items\":{"
                     "\"type\":\"string\"}},\"bytes\":{\"type\":\"integer\"}}}",
    .effect = AL_EFFECT_WRITE,
    .expose = "approval",
    .destructive = true,
    .registered = al_tool_artifacts_writable,
    .start = export_start,
};
