#include "tools/write_int.h"

#include "base/ident.h"
#include "base/mem.h"
#include "core/scratch.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

void al_target_fini(struct al_target *t)
{
    al_close(&t->fd);
}

static int fd_path(int fd, char out[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, PATH_MAX - 1);
    if (n < 0)
        return -1;
    out[n] = 0;
    return 0;
}

/* The path ends in a link: the file behind it is what changes, not the link. */
static int follow(struct al_call *call, struct al_place *place, struct al_err *err)
{
    autofd int fd = -1;
    char root[PATH_MAX], real[PATH_MAX];
    if (al_path_open(place->dir_fd, place->rel, O_PATH, 0, place->shown, &fd, err) < 0) {
        if (err->code == AL_NOT_FOUND)
            al_fail(err, AL_NOT_FOUND, "%s: is a link to something that does not exist", place->shown);
        return -1;
    }
    if (fd_path(place->dir_fd, root) < 0 || fd_path(fd, real) < 0)
        return al_fail(err, AL_TOOL_ERROR, "%s: the link cannot be followed (no /proc?)", place->shown);
    size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(real, root, n) != 0 || real[n] != '/')
        return al_fail(err, AL_PATH_OUTSIDE_WORKSPACE, "%s: the link leads outside", place->shown);
    place->rel = al_arena_dup(&call->arena, al_str_of(real + n + 1));
    return place->rel ? 0 : al_fail(err, AL_TOOL_ERROR, "%s: the call is too large", place->shown);
}

int al_target_open(struct al_call *call, struct al_target *ret, struct al_err *err)
{
    *ret = (struct al_target){.fd = -1};
    struct al_workspace *w = al_core_workspace(call->core);
    struct al_place *place = &ret->place;
    if (al_tool_place(call, al_json_get_text(call->args, "path"), AL_WANT_WRITE, place, err) < 0)
        return -1;
    autofd int look = -1;
    if (al_path_open(place->dir_fd, place->rel, O_PATH | O_NOFOLLOW, 0, place->shown, &look, err) < 0) {
        if (err->code != AL_NOT_FOUND)
            return -1;
        al_err_clear(err);
        return 0;
    }
    struct stat st;
    if (fstat(look, &st) == 0 && S_ISLNK(st.st_mode) && follow(call, place, err) < 0)
        return -1;
    if (al_workspace_check_fd(w, place, look, AL_WANT_WRITE, err) < 0)
        return -1;
    if (al_tool_open_regular(place, &ret->fd, &ret->st, err) < 0)
        return -1;
    ret->exists = true;
    return al_workspace_check_fd(w, place, ret->fd, AL_WANT_WRITE, err);
}

static int must_re_read(struct al_err *err)
{
    return al_hint(err, "read it again, then write with the sha256 that read_file gives");
}

int al_target_check_hash(struct al_call *call, const struct al_target *t, const char *actual,
                         struct al_err *err)
{
    const struct al_json *want = al_json_get(call->args, "expectedHash");
    const char *shown = t->place.shown;
    if (!want)
        return 0;
    if (want->type == AL_JSON_NULL) {
        if (!t->exists)
            return 0;
        al_fail(err, AL_TOOL_ERROR, "%s: exists already; expectedHash null is for a new file", shown);
        return must_re_read(err);
    }
    if (!t->exists) {
        al_fail(err, AL_TOOL_ERROR, "%s: does not exist, but expectedHash names its content", shown);
        return al_hint(err, "leave expectedHash out, or give null, to create it");
    }
    if (al_str_is(want->str, actual))
        return 0;
    al_fail(err, AL_TOOL_ERROR, "%s: has changed: its sha256 is not the expectedHash", shown);
    return must_re_read(err);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The last look before the rename. Without expectedHash anything may be replaced. */
static int recheck(struct al_call *call, const struct al_target *t, int parent_fd, const char *name,
                   struct al_err *err)
{
    struct stat now;
    bool there = fstatat(parent_fd, name, &now, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && S_ISDIR(now.st_mode))
        return al_fail(err, AL_INVALID_INPUT, "%s: is a folder", t->place.shown);
    bool careful = al_json_get(call->args, "expectedHash") || al_json_get(call->args, "oldText");
    if (!careful || (there == t->exists && (!there || same_file(&now, &t->st))))
        return 0;
    al_fail(err, AL_TOOL_ERROR, "%s: was changed by another program meanwhile", t->place.shown);
    return must_re_read(err);
}

/* What the scratchpad must hold more than now. */
static uint64_t growth(const struct al_target *t, size_t n)
{
    uint64_t old = t->exists ? (uint64_t)t->st.st_size : 0;
    return n > old ? n - old : 0;
}

/* The deepest folder on the way that exists, and what of the path comes after it. */
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

/* Names are checked before anything is made, and again where the folder really is when it is open. */
static int write_checked(struct al_call *call, const struct al_target *t, struct al_str content,
                         struct al_err *err)
{
    const struct al_workspace *w = al_core_workspace(call->core);
    const struct al_place *place = &t->place;
    autofd int deepest = -1, parent = -1;
    const char *rest, *name;
    if (open_deepest(place, &deepest, &rest, err) < 0 ||
        al_workspace_check_write(w, place, deepest, rest, err) < 0)
        return -1;
    if (al_path_open_parent(place->dir_fd, place->rel, true, place->shown, &parent, &name, err) < 0 ||
        al_workspace_check_write(w, place, parent, name, err) < 0 || recheck(call, t, parent, name, err) < 0)
        return -1;
    mode_t mode = place->kind == AL_PLACE_SCRATCH ? 0600 : 0644;
    return al_path_write_atomic(parent, name, content, mode, place->shown, err);
}

static pthread_mutex_t repository = PTHREAD_MUTEX_INITIALIZER;

void al_target_repository_lock(const char *rel)
{
    if (al_workspace_names_repository(rel))
        pthread_mutex_lock(&repository);
}

void al_target_repository_unlock(const char *rel)
{
    if (al_workspace_names_repository(rel))
        pthread_mutex_unlock(&repository);
}

static int write_there(struct al_call *call, const struct al_target *t, struct al_str content,
                       struct al_err *err)
{
    al_target_repository_lock(t->place.rel);
    int r = write_checked(call, t, content, err);
    al_target_repository_unlock(t->place.rel);
    return r;
}

int al_target_write(struct al_call *call, const struct al_target *t, struct al_str content, char ret_sha[65],
                    struct al_err *err)
{
    const struct al_place *place = &t->place;
    struct al_scratch *scratch = place->kind == AL_PLACE_SCRATCH ? al_core_scratch(call->core) : NULL;
    uint64_t more = growth(t, content.n);
    if (strcmp(place->rel, ".") == 0)
        return al_fail(err, AL_INVALID_INPUT, "%s: is a folder", place->shown);
    if (atomic_load(&call->cancelled))
        return al_fail(err, AL_CANCELLED, "%s: was cancelled before it was written", place->shown);
    if (scratch && al_scratch_reserve(scratch, more, err) < 0)
        return -1;
    int r = write_there(call, t, content, err);
    if (scratch)
        al_scratch_release(scratch, more);
    if (r < 0)
        return -1;
    al_sha256(content, ret_sha);
    struct al_jw w;
    al_jw_init(&w, &call->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "path", place->path);
    al_jw_kstrz(&w, "sha256", ret_sha);
    al_jw_kint(&w, "bytes", (int64_t)content.n);
    al_jw_kbool(&w, "created", !t->exists);
    al_jw_end(&w);
    return 0;
}
