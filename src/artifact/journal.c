/*
 * What is being built is noted in <state>/artifacts/.building/<ulid>, locked while its process lives: so the
 * next start finds the folders of a killed one without searching, and leaves those of a live one alone.
 */
#include "artifact/artifact_int.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/lock.h"
#include "os/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char *al_artifact_folder(struct al_arena *a, const char *workspace, const char *session)
{
    char key[AL_WORKSPACE_KEY_MAX];
    al_workspace_key(key, workspace);
    return al_arena_printf(a, "artifacts/%s/%s", key, session);
}

static char *join(const char *dir, const char *rel, const char *name)
{
    struct al_buf b = AL_BUF_INIT(8192);
    al_buf_addf(&b, "%s/%s%s%s", dir, rel, *name ? "/" : "", name);
    char *path = al_buf_take(&b);
    return path ? path : al_xstrdup("");
}

static int cannot(struct al_err *err, int eno)
{
    return al_fail_errno(err, AL_INTERNAL, eno, "the folder of artifacts cannot be written");
}

int al_journal_begin(const struct al_publish_spec *spec, const char *rel_dir, const struct al_artifact *list,
                     size_t n, struct al_publish_own *own, struct al_err *err)
{
    char name[AL_ID_MAX];
    autobuf struct al_buf text = AL_BUF_INIT(AL_BUILDING_MAX);
    autofree char *dir = join(spec->state_dir, AL_BUILDING_DIR, "");
    al_buf_addf(&text, "%s\n", rel_dir);
    for (size_t i = 0; i < n; i++)
        al_buf_addf(&text, "%s\n", list[i].id);
    if (al_buf_failed(&text))
        return al_fail(err, AL_PUBLISH_REJECTED, "nothing is published: there are too many artifacts");
    if (al_path_private_dir(dir, err) < 0)
        return -1;
    int r;
    do {
        /* Somebody who recovers may meet it between its making and its locking, and take it away. */
        al_id_new(name, "");
        free(own->journal);
        own->journal = join(dir, name, "");
        r = al_lock_try(own->journal, &own->lock_fd, err);
    } while (r == 0);
    if (r < 0)
        return -1;
    r = al_fd_write_all(own->lock_fd, al_buf_str(&text));
    if (r < 0)
        return cannot(err, -r);
    autofd int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return dir_fd < 0 || fsync(own->lock_fd) < 0 || fsync(dir_fd) < 0 ? cannot(err, errno) : 0;
}

void al_journal_end(struct al_publish_own *own)
{
    if (own->journal && own->lock_fd >= 0)
        unlink(own->journal);
    al_close(&own->lock_fd);
    free(own->journal);
    own->journal = NULL;
}

/* --- recovery --- */

static int open_state(struct al_store *store)
{
    return open(al_store_dir(store), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Our own words, but scripts without a sandbox can write there, too: nothing but our folders is touched. */
static bool is_our_folder(struct al_str rel)
{
    const char *key = "artifacts/";
    size_t parts = 1;
    if (!al_str_starts(rel, key) || rel.n > 200)
        return false;
    for (size_t i = 0; i < rel.n; i++) {
        char c = rel.p[i];
        parts += c == '/';
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                    c == '_';
        if (!fine && (c != '/' || rel.p[i - 1] == '/'))
            return false;
    }
    return parts == 3 && rel.p[rel.n - 1] != '/';
}

static int open_folder(int state_fd, struct al_str rel)
{
    autofree char *path = al_xdup(rel.p, rel.n);
    int fd = -1;
    struct al_err ignored;
    if (!is_our_folder(rel) || al_path_open(state_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
                                            "the artifacts", &fd, &ignored) < 0)
        return -1;
    return fd;
}

/* Every folder of that id that has no row: as it was built, and as it was named. */
static void remove_named(int dir_fd, const char *id)
{
    char tail[AL_ID_MAX + 8];
    snprintf(tail, sizeof tail, ".tmp-%s", id);
    al_path_remove_tree(dir_fd, tail);
    snprintf(tail, sizeof tail, "--%s", id);
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !d)
        close(fd);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (al_str_ends(al_str_of(e->d_name), tail))
            al_path_remove_tree(dir_fd, e->d_name);
    }
    if (d)
        closedir(d);
}

static void settle(struct al_store *store, int dir_fd, const char *id)
{
    struct al_artifact a = {0};
    struct al_err err = {0};
    char tmp[AL_ID_MAX + 8];
    if (al_store_artifact_get(store, id, NULL, &a, &err) < 0) {
        if (err.code == AL_NOT_FOUND)
            remove_named(dir_fd, id);
        return;
    }
    /* Its row reached the disk and its name did not: power went away. */
    const char *name = strrchr(a.rel_dir, '/');
    snprintf(tmp, sizeof tmp, ".tmp-%s", id);
    if (name && strcmp(a.status, "ready") == 0 &&
        faccessat(dir_fd, name + 1, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT &&
        renameat(dir_fd, tmp, dir_fd, name + 1) < 0)
        al_err_clear(&err); /* nothing there either: opening it says so */
    al_path_remove_tree(dir_fd, tmp);
    al_artifact_fini(&a);
}

static void settle_all(struct al_store *store, int state_fd, struct al_str text)
{
    autofd int dir_fd = -1;
    for (bool first = true; text.n; first = false) {
        const char *end = memchr(text.p, '\n', text.n);
        if (!end)
            return; /* cut off before anything was built */
        struct al_str line = {text.p, (size_t)(end - text.p)};
        text = (struct al_str){end + 1, text.n - line.n - 1};
        if (first) {
            dir_fd = open_folder(state_fd, line);
        } else if (dir_fd >= 0 && al_id_valid(line, "art")) {
            autofree char *id = al_xdup(line.p, line.n);
            settle(store, dir_fd, id);
        }
    }
}

/* 1: one of a dead process, now gone. */
static int recover_one(struct al_store *store, int state_fd, const char *path)
{
    autofd int fd = -1;
    autobuf struct al_buf text = AL_BUF_INIT(AL_BUILDING_MAX);
    struct al_err ignored;
    if (al_lock_is_free(path) != 1 || al_lock_try(path, &fd, &ignored) != 1)
        return 0;
    if (al_fd_read_all(fd, &text) == 0)
        settle_all(store, state_fd, al_buf_str(&text));
    unlink(path);
    return 1;
}

struct removal {
    int state_fd;
};

static void remove_row_folders(void *ud, const struct al_artifact *a)
{
    const struct removal *rm = ud;
    const char *slash = strrchr(a->rel_dir, '/');
    if (!slash)
        return;
    autofd int dir_fd = open_folder(rm->state_fd, (struct al_str){a->rel_dir, (size_t)(slash - a->rel_dir)});
    if (dir_fd >= 0)
        remove_named(dir_fd, a->id);
}

int al_artifact_recover(struct al_store *store)
{
    struct al_err ignored;
    autofd int state_fd = open_state(store);
    struct removal rm = {state_fd};
    int n = state_fd < 0 ? -1 : al_store_artifact_recover(store, remove_row_folders, &rm, &ignored);
    if (n < 0)
        return 0;
    autofree char *dir = join(al_store_dir(store), AL_BUILDING_DIR, "");
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        autofree char *path = e->d_name[0] == '.' ? NULL : join(dir, e->d_name, "");
        if (path)
            n += recover_one(store, state_fd, path);
    }
    if (d)
        closedir(d);
    return n;
}
