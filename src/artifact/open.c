/* What is done with an artifact later: its files read, told and removed. */
#include "artifact/artifact_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANIFEST_MEMORY ((size_t)64 << 20)
#define NAMED_MAX 50

static int with_files(const struct al_artifact *a, struct al_arena *arena, const struct al_json **ret,
                      struct al_err *err)
{
    const struct al_json *top;
    if (!a->manifest)
        return al_fail(err, AL_INTERNAL, "the manifest of %s is not there", a->id);
    if (al_json_parse(arena, al_str_of(a->manifest), &top, err) < 0)
        return al_wrap(err, "the manifest of %s", a->id);
    *ret = al_json_get(top, "files");
    return *ret ? 0 : al_fail(err, AL_INTERNAL, "the manifest of %s names no files", a->id);
}

static int64_t bytes_of(const struct al_json *file)
{
    int64_t n = 0;
    return al_json_int(al_json_get(file, "bytes"), 0, INT64_MAX, &n) ? n : 0;
}

int al_artifact_files(const struct al_artifact *a,
                      bool (*fn)(void *ud, struct al_str path, int64_t bytes, struct al_str sha256), void *ud,
                      struct al_err *err)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(MANIFEST_MEMORY);
    const struct al_json *files;
    if (with_files(a, &arena, &files, err) < 0)
        return -1;
    al_json_each(it, files)
    {
        if (!fn(ud, al_json_get_text(it, "path"), bytes_of(it), al_json_get_text(it, "sha256")))
            break;
    }
    return 0;
}

static int not_ready(const struct al_artifact *a, struct al_err *err)
{
    if (strcmp(a->status, "expired") != 0) {
        al_fail(err, AL_NOT_FOUND, "artifact %s was deleted", a->id);
        return al_hint(err, "artifact_list shows those that are there");
    }
    al_fail(err, AL_NOT_FOUND, "artifact %s has expired: its files were removed", a->id);
    if (a->execution[0])
        return al_hint(
            err,
            "while its script is kept it can be made again: `alisio artifacts rerun %s`, or python_run "
            "with {\"rerunOf\":\"%s\"}",
            a->id, a->id);
    return al_hint(err, "publish its content again");
}

static int no_such_file(const struct al_artifact *a, const struct al_json *files, struct al_str path,
                        struct al_err *err)
{
    autobuf struct al_buf shown = AL_BUF_INIT(4096), all = AL_BUF_INIT(400);
    al_text_plain(&shown, al_utf8_cut(path, 300), false);
    unsigned n = 0;
    al_json_each(it, files)
    {
        autobuf struct al_buf name = AL_BUF_INIT(4096);
        al_text_plain(&name, al_json_get_text(it, "path"), false);
        if (n == NAMED_MAX || all.n + name.n + 2 > 380)
            break;
        if (n++)
            al_buf_adds(&all, ", ");
        al_buf_add_str(&all, al_buf_str(&name));
    }
    al_fail(err, AL_NOT_FOUND, "artifact %s has no file \"%.*s\"", a->id, AL_FMT(al_buf_str(&shown)));
    return al_hint(err, "it has: %.*s%s", AL_FMT(al_buf_str(&all)), n < files->n ? ", …" : "");
}

static const struct al_json *find_file(const struct al_json *files, struct al_str path)
{
    al_json_each(it, files)
    {
        if (al_str_eq(al_json_get_text(it, "path"), path))
            return it;
    }
    return NULL;
}

static int gone(const struct al_artifact *a, struct al_err *err)
{
    al_fail(err, AL_NOT_FOUND, "the files of artifact %s have gone, or are others", a->id);
    return a->execution[0]
               ? al_hint(err, "`alisio artifacts rerun %s` makes them again while its script is kept", a->id)
               : al_hint(err, "publish its content again");
}

static int open_file(struct al_store *store, const struct al_artifact *a, const struct al_json *file,
                     int *ret_fd, struct al_err *err)
{
    autobuf struct al_buf rel = AL_BUF_INIT(1 << 16);
    autofd int state = open(al_store_dir(store), O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
    struct stat st;
    struct al_err why = {0};
    if (state < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "the state folder cannot be opened");
    al_buf_addf(&rel, "%s/files/%.*s", a->rel_dir, AL_FMT(al_json_get_text(file, "path")));
    autofree char *path = al_buf_take(&rel);
    if (!path)
        return gone(a, err);
    if (al_path_open(state, path, O_RDONLY | O_NOFOLLOW, 0, "the artifact", &fd, &why) < 0) {
        if (why.code == AL_BUSY || why.code == AL_PERMISSION_DENIED)
            return al_fail(err, why.code, "%s", why.msg);
        return gone(a, err);
    }
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != bytes_of(file))
        return gone(a, err);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

int al_artifact_open(struct al_store *store, const struct al_artifact *a, const char *path, int *ret_fd,
                     struct al_buf *ret_path, int64_t *ret_bytes, const char **ret_mime, struct al_err *err)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(MANIFEST_MEMORY);
    const struct al_json *files;
    char head[AL_ARTIFACT_HEAD];
    autofd int fd = -1;
    if (strcmp(a->status, "ready") != 0)
        return not_ready(a, err);
    if (with_files(a, &arena, &files, err) < 0)
        return -1;
    struct al_str want = al_str_of(path ? path : a->entry ? a->entry : a->file_name);
    const struct al_json *file = find_file(files, want);
    if (!file)
        return no_such_file(a, files, want, err);
    if (open_file(store, a, file, &fd, err) < 0)
        return -1;
    ssize_t n = pread(fd, head, sizeof head, 0);
    const char *slash = memrchr(want.p, '/', want.n);
    struct al_str name = slash ? (struct al_str){slash + 1, want.n - (size_t)(slash + 1 - want.p)} : want;
    *ret_mime = al_artifact_type_of(name, (struct al_str){head, n > 0 ? (size_t)n : 0}).mime;
    if (ret_path) {
        al_buf_clear(ret_path);
        al_buf_add_str(ret_path, want);
    }
    *ret_bytes = bytes_of(file);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

int al_artifact_end(struct al_store *store, const struct al_artifact *a, const char *status,
                    struct al_err *err)
{
    /* The row first: what says that it is there must be there. */
    if (al_store_artifact_end(store, a->id, status, err) < 0)
        return -1;
    autofd int state = open(al_store_dir(store), O_RDONLY | O_DIRECTORY | O_CLOEXEC), dir = -1;
    const char *name;
    struct al_err ignored;
    if (state >= 0 &&
        al_path_open_parent(state, a->rel_dir, false, "the artifact", &dir, &name, &ignored) == 0)
        al_path_remove_tree(dir, name);
    return 0;
}

char *al_artifact_dir(struct al_store *store, const struct al_artifact *a)
{
    struct al_buf b = AL_BUF_INIT(8192);
    al_buf_addf(&b, "%s/%s", al_store_dir(store), a->rel_dir);
    char *path = al_buf_take(&b);
    return path ? path : al_xstrdup("");
}
