/* Folders that no row stands for any more: of an end that was interrupted, or of rows that a loss of power
 * took. */
#include "artifact/artifact_int.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define YOUNG_S 3600 /* a folder is a moment ahead of its row, and a publication may take minutes */

struct sweep {
    struct al_store *store;
    int n;
};

static bool is_old(int dir_fd, const char *name)
{
    struct stat st;
    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mtim.tv_sec < time(NULL) - YOUNG_S;
}

/* ".tmp-<id>" and "<slug>--<id>"; another name is nobody's business here. */
static const char *id_in(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = n; i > 0; i--) {
        const char *at = name + i - 1;
        if (*at != '-' || !al_id_valid(al_str_of(at + 1), "art"))
            continue;
        return al_str_starts(al_str_of(name), ".tmp-") || (i > 1 && at[-1] == '-') ? at + 1 : NULL;
    }
    return NULL;
}

static bool has_files(struct al_store *store, const char *id)
{
    struct al_artifact a = {0};
    struct al_err err = {0};
    if (al_store_artifact_get(store, id, NULL, &a, &err) < 0)
        return err.code != AL_NOT_FOUND; /* what is not known stays */
    bool ready = strcmp(a.status, "ready") == 0;
    al_artifact_fini(&a);
    return ready;
}

static void visit_artifact(struct sweep *s, int dir_fd, const char *name)
{
    const char *id = id_in(name);
    bool building = name[0] == '.';
    if (!id || !is_old(dir_fd, name) || (!building && has_files(s->store, id)))
        return;
    s->n += al_path_remove_tree(dir_fd, name) == 0;
}

/* Calls fn for each entry of the folder `name`, then removes that when it is old and empty. Takes nothing. */
static void each(struct sweep *s, int dir_fd, const char *name,
                 void (*fn)(struct sweep *s, int dir_fd, const char *name))
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        al_close(&fd);
        return;
    }
    bool old = is_old(dir_fd, name);
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            fn(s, fd, e->d_name);
    }
    closedir(d);
    if (old)
        unlinkat(dir_fd, name, AT_REMOVEDIR);
}

static void visit_session(struct sweep *s, int dir_fd, const char *name)
{
    each(s, dir_fd, name, visit_artifact);
}

static void visit_workspace(struct sweep *s, int dir_fd, const char *name)
{
    if (name[0] != '.')
        each(s, dir_fd, name, visit_session);
}

int al_artifact_sweep(struct al_store *store)
{
    struct sweep s = {store, 0};
    autofd int state = open(al_store_dir(store), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (state >= 0)
        each(&s, state, "artifacts", visit_workspace);
    return s.n;
}
