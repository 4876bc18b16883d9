#include "core/workspace.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/names.h"
#include "core/workspace_int.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PATH_BYTES 4095
#define SCRATCH_PREFIX "scratch:"

struct root {
    char *real;  /* as the kernel knows it */
    char *given; /* as the person spelled it, absolute, "." and ".." resolved by text; may equal real */
    int fd;      /* -1: refused */
};

struct al_workspace {
    struct root main;
    struct root *added;
    size_t n_added;
    int slash_fd;  /* "/", for calls that a person typed */
    char *refusal; /* why main is no root for file tools; NULL: it is one */
    char *pads;    /* real path of the folder of all scratchpads; NULL: none */
    int scratch_fd;
    int (*scratch_source)(void *ud, struct al_err *err);
    void *scratch_ud;
    struct al_name_rules *secret, *protect;
};

/* --- opening --- */

/* Collapses an absolute path by its text alone. */
static void collapse(struct al_str path, struct al_buf *out)
{
    al_buf_clear(out);
    for (size_t i = 0; i < path.n;) {
        const char *slash = memchr(path.p + i, '/', path.n - i);
        size_t n = slash ? (size_t)(slash - path.p) - i : path.n - i;
        struct al_str name = {path.p + i, n};
        if (al_str_is(name, "..")) {
            while (out->n > 0 && out->p[--out->n] != '/')
                ;
        } else if (n > 0 && !al_str_is(name, ".")) {
            al_buf_addc(out, '/');
            al_buf_add_str(out, name);
        }
        i += n + 1;
    }
    if (out->n == 0)
        al_buf_addc(out, '/');
}

/* What of path comes after root ("" for root itself), or NULL when it lies elsewhere. Both absolute and
 * collapsed. */
static const char *beneath(const char *root, const char *path)
{
    size_t n = strlen(root);
    if (strcmp(root, "/") == 0)
        return path + 1;
    if (strncmp(root, path, n) != 0 || (path[n] && path[n] != '/'))
        return NULL;
    return path[n] ? path + n + 1 : path + n;
}

/* The real path of what may not exist yet: of its deepest folder that does. */
static char *real_or_future(const char *path)
{
    autofree char *at = al_xstrdup(path);
    size_t n = strlen(at);
    for (;;) {
        autofree char *real = realpath(n ? at : "/", NULL);
        if (real) {
            autobuf struct al_buf b = AL_BUF_INIT(MAX_PATH_BYTES * 3);
            autobuf struct al_buf whole = AL_BUF_INIT(MAX_PATH_BYTES * 3);
            al_buf_addf(&whole, "%s/%s", real, path + n);
            collapse(al_buf_str(&whole), &b);
            return al_buf_take(&b);
        }
        if (n == 0 || path[0] != '/')
            return NULL;
        while (n > 0 && at[n - 1] != '/')
            n--;
        while (n > 0 && at[n - 1] == '/')
            n--;
        at[n] = 0;
    }
}

static char *refuse_for(const char *real, const char *const *forbidden)
{
    if (strcmp(real, "/") == 0)
        return al_xstrdup("it is the root of the file system");
    const char *home = getenv("HOME");
    autofree char *real_home = home && home[0] == '/' ? realpath(home, NULL) : NULL;
    if (real_home && strcmp(real_home, real) == 0)
        return al_xstrdup("it is your home folder");
    for (; forbidden && *forbidden; forbidden++) {
        autofree char *f = real_or_future(*forbidden);
        if (f && (beneath(real, f) || beneath(f, real)))
            return al_xstrdup("it holds alisio's own configuration or state");
    }
    return NULL;
}

/* The current folder as the person sees it: through the link by which they came here. */
static char *given_cwd(const char *real)
{
    const char *pwd = getenv("PWD");
    autofree char *real_pwd = pwd && pwd[0] == '/' ? realpath(pwd, NULL) : NULL;
    return al_xstrdup(real_pwd && strcmp(real_pwd, real) == 0 ? pwd : real);
}

static int open_root(const char *path, struct root *ret, struct al_err *err)
{
    ret->fd = -1;
    ret->real = al_path_real(path ? path : ".", err);
    if (!ret->real)
        return -1;
    autobuf struct al_buf given = AL_BUF_INIT(MAX_PATH_BYTES * 3), whole = AL_BUF_INIT(MAX_PATH_BYTES * 3);
    autofree char *cwd = path && path[0] == '/' ? NULL : al_path_real(".", NULL);
    autofree char *base = cwd ? given_cwd(cwd) : NULL;
    if (base)
        al_buf_addf(&whole, "%s/", base);
    if (path)
        al_buf_adds(&whole, path);
    collapse(al_buf_str(&whole), &given);
    ret->given = al_buf_take(&given);
    return 0;
}

static int open_fd(struct root *root, struct al_err *err)
{
    root->fd = openat(AT_FDCWD, root->real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (root->fd < 0)
        return al_fail_errno(err, errno == EACCES ? AL_PERMISSION_DENIED : AL_INTERNAL, errno,
                             "the folder cannot be opened");
    return 0;
}

static int add_root(struct al_workspace *w, const char *path, const char *const *forbidden,
                    struct al_err *err)
{
    struct root root = {.fd = -1};
    if (open_root(path, &root, err) < 0)
        return al_wrap(err, "--add-dir");
    w->added = al_xrealloc(w->added, (w->n_added + 1) * sizeof(*w->added));
    w->added[w->n_added++] = root;
    autofree char *why = refuse_for(root.real, forbidden);
    if (why) {
        al_fail(err, AL_PERMISSION_DENIED, "--add-dir %s: %s", path, why);
        return al_hint(err, "add the folder in it that the work needs");
    }
    return open_fd(&w->added[w->n_added - 1], err) < 0 ? al_wrap(err, "--add-dir %s", path) : 0;
}

int al_workspace_open(const struct al_workspace_opts *o, struct al_workspace **ret, struct al_err *err)
{
    struct al_workspace *w = al_xcalloc(1, sizeof(*w));
    w->main.fd = w->scratch_fd = w->slash_fd = -1;
    w->secret = al_name_rules_secret(o->secret);
    w->protect = al_name_rules_protected(o->protect);
    w->pads = o->scratchpads ? real_or_future(o->scratchpads) : NULL;
    int r = open_root(o->cwd, &w->main, err);
    if (r == 0) {
        w->refusal = refuse_for(w->main.real, o->forbidden);
        r = w->refusal ? 0 : open_fd(&w->main, err);
    }
    if (r < 0)
        al_wrap(err, "--cwd");
    for (const char *const *dir = o->add_dirs; r == 0 && dir && *dir; dir++)
        r = add_root(w, *dir, o->forbidden, err);
    if (r == 0) {
        w->slash_fd = openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (w->slash_fd < 0)
            r = al_fail_errno(err, AL_INTERNAL, errno, "/");
    }
    if (r < 0) {
        al_workspace_free(w);
        return -1;
    }
    *ret = w;
    return 0;
}

static void close_root(struct root *root)
{
    free(root->real);
    free(root->given);
    al_close(&root->fd);
}

void al_workspace_free(struct al_workspace *w)
{
    if (!w)
        return;
    close_root(&w->main);
    for (size_t i = 0; i < w->n_added; i++)
        close_root(&w->added[i]);
    free(w->added);
    free(w->refusal);
    free(w->pads);
    al_close(&w->slash_fd);
    al_name_rules_free(w->secret);
    al_name_rules_free(w->protect);
    free(w);
}

void al_workspace_set_scratch(struct al_workspace *w, int dir_fd)
{
    w->scratch_fd = dir_fd;
}

void al_workspace_set_scratch_source(struct al_workspace *w, int (*fd)(void *ud, struct al_err *err),
                                     void *ud)
{
    w->scratch_source = fd;
    w->scratch_ud = ud;
}

const char *al_workspace_root(const struct al_workspace *w)
{
    return w->main.real;
}

int al_workspace_fd(const struct al_workspace *w)
{
    return w->main.fd;
}

bool al_workspace_refused(const struct al_workspace *w, struct al_err *err)
{
    if (!w->refusal)
        return false;
    al_fail(err, AL_PERMISSION_DENIED, "file tools do not work in the current folder: %s", w->refusal);
    al_hint(err, "start alisio in the folder of the work, or with --cwd DIR");
    return true;
}

/* --- names --- */

bool al_workspace_is_secret(const struct al_workspace *w, const char *rel)
{
    return al_name_rules_match(w->secret, rel);
}

bool al_workspace_is_protected(const struct al_workspace *w, const char *rel)
{
    return al_name_rules_match(w->protect, rel);
}

static int check_names(const struct al_workspace *w, const char *rel, const char *shown, enum al_want want,
                       struct al_err *err)
{
    if (want == AL_WANT_READ && al_workspace_is_secret(w, rel)) {
        al_fail(err, AL_PATH_SECRET, "%s: files of that name hold secrets and are not read", shown);
        return al_hint(err, "a person can lift it: files.secret in the user's config, \"!NAME\"");
    }
    if (want == AL_WANT_WRITE && al_workspace_is_protected(w, rel)) {
        al_fail(err, AL_PATH_PROTECTED, "%s: files of that name steer other programs and are not written",
                shown);
        return al_hint(err, "a person can lift it: files.protect in the user's config, \"!NAME\"");
    }
    return 0;
}

/* Where the descriptor is: its real path. */
static int real_of_fd(int fd, char out[MAX_PATH_BYTES + 1], struct al_err *err)
{
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, MAX_PATH_BYTES);
    if (n <= 0 || n == MAX_PATH_BYTES)
        return al_fail_errno(err, AL_INTERNAL, n < 0 ? errno : ENAMETOOLONG, "the open file has no path");
    out[n] = 0;
    return 0;
}

/* Scratchpads that lie inside the place. A root that lies in a scratchpad was named by a person, and so was a
 * place outside. dir, real: real paths of the place's folder and of what is touched. */
static int check_pads(const struct al_workspace *w, const struct al_place *place, const char *dir,
                      const char *real, enum al_want want, struct al_err *err)
{
    if (!w->pads || place->kind == AL_PLACE_SCRATCH || place->kind == AL_PLACE_OUTSIDE ||
        beneath(w->pads, dir) || !beneath(w->pads, real))
        return 0;
    al_fail(err, want == AL_WANT_WRITE ? AL_PATH_PROTECTED : AL_PATH_SECRET,
            "%s: scratchpads of other sessions may lie there", place->shown);
    return al_hint(err, "scratch:NAME names a file of your own scratchpad");
}

char *al_workspace_left_out(const struct al_workspace *w, int folder_fd)
{
    char dir[MAX_PATH_BYTES + 1];
    if (!w->pads || real_of_fd(folder_fd, dir, NULL) < 0)
        return NULL;
    const char *rel = beneath(dir, w->pads);
    return rel && *rel ? al_xstrdup(rel) : NULL;
}

/* Where fd is, beneath the place's folder, with rest after it: the name checks for it. *ret_path: the path
 * beneath the folder, in the buffer. */
static int check_real(const struct al_workspace *w, const struct al_place *place, int fd, const char *rest,
                      enum al_want want, struct al_buf *path, struct al_err *err)
{
    char dir[MAX_PATH_BYTES + 1], real[MAX_PATH_BYTES + 1];
    if (real_of_fd(place->dir_fd, dir, err) < 0 || real_of_fd(fd, real, err) < 0)
        return al_wrap(err, "%s", place->shown);
    autobuf struct al_buf whole = AL_BUF_INIT(MAX_PATH_BYTES * 3);
    al_buf_addf(&whole, "%s%s%s", strcmp(real, "/") == 0 ? "" : real, *rest ? "/" : "", rest);
    if (whole.n == 0)
        al_buf_addc(&whole, '/');
    al_buf_addc(&whole, 0);
    const char *rel = beneath(dir, real);
    if (!rel) {
        al_fail(err, AL_PATH_OUTSIDE_WORKSPACE, "%s: was moved out of its folder meanwhile", place->shown);
        return al_hint(err, "try again");
    }
    al_buf_adds(path, beneath(dir, whole.p));
    al_buf_addc(path, 0);
    if (check_pads(w, place, dir, whole.p, want, err) < 0)
        return -1;
    return check_names(w, path->p, place->shown, want, err);
}

int al_workspace_check_fd(const struct al_workspace *w, const struct al_place *place, int fd,
                          enum al_want want, struct al_err *err)
{
    if (place->kind == AL_PLACE_SCRATCH)
        return 0;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "%s", place->shown);
    const char *name = "";
    if (want == AL_WANT_WRITE && S_ISDIR(st.st_mode)) {
        const char *slash = strrchr(place->rel, '/');
        name = slash ? slash + 1 : place->rel;
    }
    autobuf struct al_buf path = AL_BUF_INIT(MAX_PATH_BYTES * 3);
    return check_real(w, place, fd, name, want, &path, err);
}

int al_workspace_check_write(const struct al_workspace *w, const struct al_place *place, int folder_fd,
                             const char *rest, struct al_err *err)
{
    if (place->kind == AL_PLACE_SCRATCH)
        return 0;
    autobuf struct al_buf path = AL_BUF_INIT(MAX_PATH_BYTES * 3);
    if (check_real(w, place, folder_fd, rest, AL_WANT_WRITE, &path, err) < 0)
        return -1;
    return al_workspace_check_repository(place->dir_fd, path.p, place->shown, err);
}

/* --- places --- */

static int too_long(struct al_err *err)
{
    return al_fail(err, AL_INVALID_INPUT, "the path is too long");
}

/* The path in a message: hostile characters visible, and not too much of it. */
static const char *shown_path(struct al_str path, struct al_arena *a)
{
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    struct al_str head = al_utf8_head(path, 200);
    al_text_visible(&b, head, false);
    if (head.n < path.n)
        al_buf_adds(&b, "…");
    const char *z = al_arena_dup(a, al_buf_str(&b));
    return z ? z : "the path";
}

/* path: how the place is named again; empty: as rel. */
static int fill(struct al_place *ret, int kind, int fd, struct al_str rel, struct al_str path,
                struct al_arena *a, struct al_err *err)
{
    autobuf struct al_buf normal = AL_BUF_INIT(MAX_PATH_BYTES);
    if (al_path_normalize(rel.n ? rel : AL_STR("."), &normal, err) < 0)
        return -1;
    struct al_place place = {.dir_fd = fd};
    place.kind = (__typeof__(place.kind))kind;
    place.rel = al_arena_dup(a, al_buf_str(&normal));
    if (!place.rel)
        return too_long(err);
    if (path.n)
        place.path = al_arena_dup(a, path);
    else if (al_str_starts(al_buf_str(&normal),
                           SCRATCH_PREFIX)) /* a folder of that name, not the scratchpad */
        place.path = al_arena_printf(a, "./%s", place.rel);
    else
        place.path = place.rel;
    if (!place.path)
        return too_long(err);
    place.shown = shown_path(al_str_of(place.path), a);
    *ret = place;
    return 0;
}

static int resolve_scratch(const struct al_workspace *w, struct al_str path, struct al_arena *a,
                           struct al_place *ret, struct al_err *err)
{
    const char *shown = shown_path(path, a);
    struct al_str rel = {path.p + strlen(SCRATCH_PREFIX), path.n - strlen(SCRATCH_PREFIX)};
    bool up = false;
    for (size_t i = 0; i < rel.n; i++) {
        bool starts = i == 0 || rel.p[i - 1] == '/';
        up = up || (starts && rel.n - i >= 2 && memcmp(rel.p + i, "..", 2) == 0 &&
                    (rel.n - i == 2 || rel.p[i + 2] == '/'));
    }
    if (up || (rel.n > 0 && rel.p[0] == '/')) {
        al_fail(err, AL_INVALID_INPUT, "%s: a path in the scratchpad is relative and has no \"..\"", shown);
        return al_hint(err, "for example scratch:out/plan.js");
    }
    int fd = w->scratch_fd;
    if (fd < 0 && !w->scratch_source) {
        al_fail(err, AL_NOT_FOUND, "%s: the scratchpad is off", shown);
        return al_hint(err, "forge.scratch.enabled in the user's config switches it on");
    }
    if (fd < 0) {
        fd = w->scratch_source(w->scratch_ud, err);
        if (fd < 0)
            return -1;
    }
    autobuf struct al_buf normal = AL_BUF_INIT(MAX_PATH_BYTES);
    if (al_path_normalize(rel.n ? rel : AL_STR("."), &normal, err) < 0)
        return al_wrap(err, "%s", shown);
    char *spelled = al_arena_printf(a, SCRATCH_PREFIX "%.*s", AL_FMT(al_buf_str(&normal)));
    return spelled ? fill(ret, AL_PLACE_SCRATCH, fd, al_buf_str(&normal), al_str_of(spelled), a, err)
                   : too_long(err);
}

/* Links on the way to a place outside are the person's own; what is opened is what they lead to. */
static char *real_outside(const char *path, enum al_want want)
{
    if (want != AL_WANT_WRITE) {
        char *real = realpath(path, NULL);
        if (real)
            return real;
    }
    const char *slash = strrchr(path, '/');
    autofree char *parent = al_xdup(path, slash == path ? 1 : (size_t)(slash - path));
    char *real = real_or_future(parent);
    if (!real)
        return NULL;
    autobuf struct al_buf whole = AL_BUF_INIT(MAX_PATH_BYTES * 3), b = AL_BUF_INIT(MAX_PATH_BYTES * 3);
    al_buf_addf(&whole, "%s/%s", real, slash + 1);
    collapse(al_buf_str(&whole), &b);
    free(real);
    return al_buf_take(&b);
}

static int resolve_outside(const struct al_workspace *w, const char *absolute, struct al_str path,
                           enum al_want want, bool outside_ok, struct al_arena *a, struct al_place *ret,
                           struct al_err *err)
{
    if (!outside_ok) {
        al_fail(err, AL_PATH_OUTSIDE_WORKSPACE, "%s: is outside the workspace", shown_path(path, a));
        return al_hint(err, "paths are relative to the workspace; --add-dir DIR adds a folder");
    }
    autofree char *real = real_outside(absolute, want);
    if (!real)
        return too_long(err);
    return fill(ret, AL_PLACE_OUTSIDE, w->slash_fd, al_str_of(real + 1), al_str_of(absolute), a, err);
}

/* The folder that holds the path: the workspace, else the deepest added one. */
static const struct root *find_root(const struct al_workspace *w, const char *absolute, const char **ret_rel)
{
    const struct root *best = NULL;
    size_t best_n = 0;
    for (size_t i = 0; i <= w->n_added; i++) {
        const struct root *root = i == 0 ? &w->main : &w->added[i - 1];
        const char *const spellings[] = {root->real, root->given};
        for (size_t k = 0; root->fd >= 0 && k < 2; k++) {
            const char *rel = beneath(spellings[k], absolute);
            size_t n = strlen(spellings[k]);
            if (!rel || (best && n <= best_n))
                continue;
            best = root;
            best_n = n;
            *ret_rel = rel;
        }
        if (i == 0 && best)
            return best;
    }
    return best;
}

int al_workspace_resolve(const struct al_workspace *w, struct al_str path, enum al_want want, bool outside_ok,
                         struct al_arena *a, struct al_place *ret, struct al_err *err)
{
    if (path.n == 0)
        return al_fail(err, AL_INVALID_INPUT, "the path is empty");
    if (memchr(path.p, 0, path.n))
        return al_fail(err, AL_INVALID_INPUT, "the path contains a NUL byte");
    if (path.n > MAX_PATH_BYTES)
        return al_fail(err, AL_INVALID_INPUT, "the path is %zu bytes long; at most %d fit", path.n,
                       MAX_PATH_BYTES);
    if (al_str_starts(path, SCRATCH_PREFIX))
        return resolve_scratch(w, path, a, ret, err);
    bool relative = path.p[0] != '/';
    if (relative && al_workspace_refused(w, err))
        return -1;
    autobuf struct al_buf whole = AL_BUF_INIT(MAX_PATH_BYTES * 3), absolute = AL_BUF_INIT(MAX_PATH_BYTES * 3);
    if (relative)
        al_buf_addf(&whole, "%s/", w->main.real);
    al_buf_add_str(&whole, path);
    collapse(al_buf_str(&whole), &absolute);
    al_buf_addc(&absolute, 0);
    if (al_buf_failed(&whole) || al_buf_failed(&absolute))
        return too_long(err);
    const char *rel = NULL;
    const struct root *root = find_root(w, absolute.p, &rel);
    int r;
    if (root == &w->main)
        r = fill(ret, AL_PLACE_WORKSPACE, root->fd, al_str_of(rel), (struct al_str){NULL, 0}, a, err);
    else if (root)
        r = fill(ret, AL_PLACE_ADDED, root->fd, al_str_of(rel), al_str_of(absolute.p), a, err);
    else
        r = resolve_outside(w, absolute.p, path, want, outside_ok, a, ret, err);
    if (r < 0)
        return -1;
    autobuf struct al_buf real = AL_BUF_INIT(MAX_PATH_BYTES * 3);
    if (root) {
        al_buf_addf(&real, "%s/%s", root->real, ret->rel);
        al_buf_addc(&real, 0);
        if (check_pads(w, ret, root->real, real.p, want, err) < 0)
            return -1;
    }
    return check_names(w, ret->rel, ret->shown, want, err);
}
