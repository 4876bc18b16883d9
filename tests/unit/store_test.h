/* A state folder of its own for each test of the store. */
#ifndef AL_TESTS_STORE_TEST_H
#define AL_TESTS_STORE_TEST_H

#include "test.h"

#include "base/mem.h"
#include "store/store.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct fix {
    char base[64], dir[96], file[128];
};

#define OK(call)                                                                             \
    do {                                                                                     \
        if ((call) < 0)                                                                      \
            fail_msg("%s: %s: %s (%s)", #call, al_code_name(err.code), err.msg, err.detail); \
    } while (0)

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int setup(void **state)
{
    struct fix *f = al_xcalloc(1, sizeof *f);
    snprintf(f->base, sizeof f->base, "/tmp/alisio-test-store-XXXXXX");
    assert_non_null(mkdtemp(f->base));
    snprintf(f->dir, sizeof f->dir, "%s/state", f->base);
    snprintf(f->file, sizeof f->file, "%s/sessions.sqlite", f->dir);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fix *f = *state;
    nftw(f->base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(f);
    return 0;
}

static inline struct al_store *open_store(const struct fix *f)
{
    struct al_store *s = NULL;
    struct al_err err = {0};
    OK(al_store_open(f->dir, NULL, &s, &err));
    return s;
}

static inline void session_of(struct al_store *s, const char *workspace, char out[AL_ID_MAX])
{
    struct al_session v = {0};
    struct al_err err = {0};
    OK(al_store_session_default(s, workspace, &v, &err));
    memcpy(out, v.id, AL_ID_MAX);
    al_session_fini(&v);
}

/* A run with borrowed texts: never al_run_fini. */
static inline struct al_run make_run(const char *session, const char *status)
{
    struct al_run r = {.kind = (char *)"js_run", .source = (char *)"cli", .status = (char *)status};
    al_id_new(r.id, "exec_");
    snprintf(r.session, sizeof r.session, "%s", session);
    return r;
}

#endif
