/* Files of datasets: made without a name that counts, then named, read-only; opened beneath the state folder
 * only. */
#include "store/dataset_int.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "analysis/datasets"
#define SUFFIX ".sqlite"
#define YOUNG_S 3600 /* a file may be a moment ahead of its row */

static char *folder_of(const char *workspace, const char *session)
{
    char key[AL_WORKSPACE_KEY_MAX];
    struct al_buf b = AL_BUF_INIT(4096);
    al_workspace_key(key, workspace);
    al_buf_addf(&b, FOLDER "/%s", key);
    if (session)
        al_buf_addf(&b, "/%s", session);
    return al_buf_take(&b);
}

static int open_state(const struct al_store *s)
{
    return openat(AT_FDCWD, s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int al_store_dataset_file_new(struct al_store *s, const char *workspace, const char *session,
                              struct al_dataset_file *ret, struct al_err *err)
{
    struct al_dataset_file f = {.fd = -1, .dir_fd = -1, .rel_dir = folder_of(workspace, session)};
    struct al_buf b = AL_BUF_INIT(8192);
    al_buf_addf(&b, "%s/%s", s->dir, f.rel_dir);
    autofree char *path = al_buf_take(&b);
    autofd int state = open_state(s);
    if (!path || al_path_private_dir(path, err) < 0 ||
        al_path_open(state, f.rel_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, "the folder of datasets",
                     &f.dir_fd, err) < 0) {
        al_store_dataset_file_drop(&f);
        return al_wrap(err, "the dataset cannot be stored");
    }
    f.fd = al_path_tmp_begin(f.dir_fd, f.tmp);
    if (f.fd < 0) {
        int eno = -f.fd;
        f.tmp[0] = '\0';
        al_store_dataset_file_drop(&f);
        return al_fail_errno(err, AL_INTERNAL, eno, "the dataset cannot be stored");
    }
    *ret = f;
    return 0;
}

void al_store_dataset_file_drop(struct al_dataset_file *f)
{
    if (f->tmp[0]) {
        unlinkat(f->dir_fd, f->tmp, 0);
        al_path_tmp_end();
        f->tmp[0] = '\0';
    }
    al_close(&f->fd);
    al_close(&f->dir_fd);
    free(f->rel_dir);
    f->rel_dir = NULL;
}

int al_dataset_file_name(struct al_dataset_file *f, const char *id, struct al_err *err)
{
    char name[AL_ID_MAX + sizeof SUFFIX];
    snprintf(name, sizeof name, "%s" SUFFIX, id);
    if (fchmod(f->fd, 0400) < 0 || renameat(f->dir_fd, f->tmp, f->dir_fd, name) < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "the dataset cannot be stored");
    f->tmp[0] = '\0';
    al_path_tmp_end();
    return 0;
}

void al_dataset_file_unname(struct al_dataset_file *f, const char *id)
{
    char name[AL_ID_MAX + sizeof SUFFIX];
    snprintf(name, sizeof name, "%s" SUFFIX, id);
    if (!f->tmp[0])
        unlinkat(f->dir_fd, name, 0);
}

int al_dataset_file_open(const struct al_store *s, const char *rel_path, int64_t bytes, int *ret_fd)
{
    autofd int state = open_state(s), fd = -1;
    struct stat st;
    struct al_err err = {0};
    if (state < 0)
        return -1;
    if (al_path_open(state, rel_path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0, "the dataset", &fd,
                     &err) < 0)
        return err.code == AL_NOT_FOUND ? 0 : -1;
    if (fstat(fd, &st) < 0)
        return -1;
    if (!S_ISREG(st.st_mode) || st.st_size != bytes)
        return 0;
    *ret_fd = fd;
    fd = -1;
    return 1;
}

void al_dataset_file_remove(const struct al_store *s, const char *rel_path)
{
    autofd int state = open_state(s), dir = -1;
    const char *name;
    struct al_err ignored;
    if (state >= 0 && al_path_open_parent(state, rel_path, false, "the dataset", &dir, &name, &ignored) == 0)
        unlinkat(dir, name, 0);
}

void al_dataset_files_remove(const struct al_store *s, const char *workspace, const char *session)
{
    autofree char *rel = folder_of(workspace, session);
    autofd int state = open_state(s), dir = -1;
    const char *name;
    struct al_err ignored;
    if (rel && state >= 0 &&
        al_path_open_parent(state, rel, false, "the datasets", &dir, &name, &ignored) == 0)
        al_path_remove_tree(dir, name);
}

/* --- sweeping --- */

static DIR *open_folder(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !d)
        close(fd);
    return d;
}

static int by_id(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* All ids are read at once: a look at the journal for each of a thousand files would be felt at the start. */
static bool sweep_file(const struct al_dataset_ids *rows, int dir_fd, const char *name)
{
    char id[AL_ID_MAX];
    struct stat st;
    struct al_str whole = al_str_of(name);
    if (!al_str_ends(whole, SUFFIX) || whole.n - strlen(SUFFIX) >= sizeof id)
        return false;
    snprintf(id, sizeof id, "%.*s", (int)(whole.n - strlen(SUFFIX)), name);
    if (!al_id_valid(al_str_of(id), "ds") ||
        (rows->n && bsearch(id, rows->id, rows->n, sizeof *rows->id, by_id)) ||
        fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_mtim.tv_sec > time(NULL) - YOUNG_S)
        return false;
    return unlinkat(dir_fd, name, 0) == 0;
}

static int sweep_session(const struct al_dataset_ids *rows, int dir_fd, const char *name)
{
    int n = 0;
    DIR *d = open_folder(dir_fd, name);
    if (!d)
        return 0;
    for (struct dirent *e; (e = readdir(d));)
        n += sweep_file(rows, dirfd(d), e->d_name);
    n += al_path_sweep_tmp(dirfd(d));
    closedir(d);
    unlinkat(dir_fd, name, AT_REMOVEDIR); /* only when it is empty */
    return n;
}

int al_store_dataset_sweep(struct al_store *s)
{
    autofd int state = open_state(s);
    int n = 0;
    struct al_dataset_ids rows;
    if (al_dataset_ids(s, &rows, NULL) < 0)
        return 0; /* without them nothing is known to have no row */
    DIR *top = state >= 0 ? open_folder(state, FOLDER) : NULL;
    for (struct dirent *w; top && (w = readdir(top));) {
        DIR *d = w->d_name[0] == '.' ? NULL : open_folder(dirfd(top), w->d_name);
        for (struct dirent *e; d && (e = readdir(d));) {
            if (e->d_name[0] != '.')
                n += sweep_session(&rows, dirfd(d), e->d_name);
        }
        if (d)
            closedir(d);
    }
    if (top)
        closedir(top);
    free(rows.id);
    return n;
}
