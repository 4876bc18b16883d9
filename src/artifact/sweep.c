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

/* All ids are read at once: a look at the journal for each folder would be felt. */
struct sweep {
    char (*id)[AL_ID_MAX]; /* of ready ones, sorted */
    size_t n_ids, room;
    int n;
};

static bool note_id(void *ud, const struct al_artifact *a)
{
    struct sweep *s = ud;
    if (s->n_ids == s->room) {
        s->room = s->room ? 2 * s->room : 256;
        s->id = al_xrealloc(s->id, s->room * sizeof *s->id);
    }
    memcpy(s->id[s->n_ids++], a->id, AL_ID_MAX);
    return true;
}

static int by_id(const void *a, const void *b)
{
    return strcmp(a, b);
}

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

static void visit_artifact(struct sweep *s, int dir_fd, const char *name)
{
    const char *id = id_in(name);
    bool building = name[0] == '.';
    if (!id || !is_old(dir_fd, name) ||
        (!building && s->n_ids && bsearch(id, s->id, s->n_ids, sizeof *s->id, by_id)))
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
    struct sweep s = {0};
    struct al_err ignored;
    struct al_artifact_filter ready = {0};
    autofd int state = open(al_store_dir(store), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Without all ids nothing is known to have no row. */
    if (state >= 0 && al_store_artifact_each(store, &ready, note_id, &s, &ignored) == 0) {
        if (s.n_ids)
            qsort(s.id, s.n_ids, sizeof *s.id, by_id);
        each(&s, state, "artifacts", visit_workspace);
    }
    free(s.id);
    return s.n;
}
