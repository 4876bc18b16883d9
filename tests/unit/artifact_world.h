/* A store and an output folder for each test of artifacts. */
#ifndef AL_TESTS_ARTIFACT_WORLD_H
#define AL_TESTS_ARTIFACT_WORLD_H

#include "store_test.h"

#include "artifact/artifact.h"
#include "os/fd.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct world {
    struct fix *fix;
    struct al_store *store;
    char ses[AL_ID_MAX], out[128];
    int out_fd;
    struct al_publish_spec spec;
};

static inline void open_out(struct world *w)
{
    assert_int_equal(mkdir(w->out, 0700), 0);
    w->out_fd = open(w->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    w->spec.staging_fd = w->out_fd;
}

/* An empty output folder again. */
static inline void fresh_out(struct world *w)
{
    close(w->out_fd);
    nftw(w->out, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    open_out(w);
}

static inline int world_setup(void **state)
{
    struct world *w = al_xcalloc(1, sizeof *w);
    void *fix;
    setup(&fix);
    struct fix *f = fix;
    rmdir(f->base);
    /* In memory where that can be had: a publication syncs, and there are hundreds. */
    snprintf(f->base, sizeof f->base, "%s/alisio-test-artifact-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(f->base));
    snprintf(f->dir, sizeof f->dir, "%s/state", f->base);
    snprintf(f->file, sizeof f->file, "%s/sessions.sqlite", f->dir);
    w->fix = f;
    w->store = open_store(f);
    session_of(w->store, "/w", w->ses);
    snprintf(w->out, sizeof w->out, "%s/out", w->fix->base);
    w->spec = (struct al_publish_spec){
        .state_dir = w->fix->dir,
        .workspace = "/w",
        .session = w->ses,
        .limits = {200, 1 << 20, 4 << 20},
    };
    open_out(w);
    *state = w;
    return 0;
}

static inline int world_teardown(void **state)
{
    struct world *w = *state;
    void *fix = w->fix;
    close(w->out_fd);
    al_store_close(w->store);
    free(w);
    return teardown(&fix);
}

/* Writes a file of the output folder, and the folders above it. */
static inline void put(struct world *w, const char *path, const char *text)
{
    char full[8192];
    snprintf(full, sizeof full, "%s/%s", w->out, path);
    for (char *slash = full + strlen(w->out) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static int n_entries;

static int count_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)path, (void)st, (void)type;
    n_entries += ftw->level > 0;
    return 0;
}

/* Files and folders beneath a folder of the state, hidden ones, too; 0 when it is not there. */
static inline int count_entries(const struct world *w, const char *rel)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", w->fix->dir, rel);
    n_entries = 0;
    nftw(full, count_one, 16, FTW_PHYS);
    return n_entries;
}

#endif
