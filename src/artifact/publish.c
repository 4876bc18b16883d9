/* Publication, all or nothing: everything is built under names that do not count, then rows and names follow.
 */
#include "artifact/artifact_int.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARENA_MAX ((size_t)128 << 20)
#define WARNINGS_MAX ((size_t)8 << 10)

static void tmp_name(const struct al_artifact *a, char out[AL_ID_MAX + 8])
{
    snprintf(out, AL_ID_MAX + 8, ".tmp-%s", a->id);
}

static const char *final_name(const struct al_artifact *a)
{
    const char *slash = strrchr(a->rel_dir, '/');
    return slash ? slash + 1 : a->rel_dir;
}

void al_publication_fini(struct al_publication *p)
{
    struct al_publish_own *own = p->own;
    char tmp[AL_ID_MAX + 8];
    for (size_t i = 0; own && !own->committed && own->dir_fd >= 0 && i < p->n; i++) {
        tmp_name(&p->list[i], tmp);
        al_path_remove_tree(own->dir_fd, tmp);
    }
    if (own) {
        al_journal_end(own);
        al_close(&own->dir_fd);
    }
    free(own);
    free(p->dir);
    al_buf_free(&p->warnings);
    al_arena_free(&p->arena);
    *p = (struct al_publication){0};
}

static int open_session(const struct al_publish_spec *spec, const char *rel_dir, struct al_publication *p,
                        struct al_err *err)
{
    autofd int state = open(spec->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct al_buf b = AL_BUF_INIT(8192);
    if (state < 0)
        return al_fail_errno(err, AL_INTERNAL, errno, "the state folder cannot be opened");
    al_buf_addf(&b, "%s/%s", spec->state_dir, rel_dir);
    p->dir = al_buf_take(&b);
    if (!p->dir || al_path_private_dir(p->dir, err) < 0)
        return -1;
    if (al_path_open(state, rel_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, "the folder of artifacts",
                     &p->own->dir_fd, err) < 0)
        return -1;
    futimens(p->own->dir_fd, NULL); /* a sweep takes empty folders that are old */
    return 0;
}

static int sync_all(struct al_publication *p, struct al_err *err)
{
    char tmp[AL_ID_MAX + 8];
    int64_t n_files = 0;
    const char **names = al_arena_alloc(&p->arena, p->n * sizeof *names);
    for (size_t i = 0; names && i < p->n; i++) {
        tmp_name(&p->list[i], tmp);
        n_files += p->list[i].n_files;
        names[i] = al_arena_dup(&p->arena, al_str_of(tmp));
        if (!names[i])
            names = NULL;
    }
    if (!names)
        return al_fail(err, AL_PUBLISH_REJECTED, "nothing is published: there are too many artifacts");
    int r = al_build_sync(p->own->dir_fd, names, p->n, n_files);
    return r < 0 ? al_fail_errno(err, r == -ENOSPC || r == -EDQUOT ? AL_QUOTA_EXCEEDED : AL_INTERNAL, -r,
                                 "the output cannot be stored")
                 : 0;
}

static int build_all(const struct al_publish_spec *spec, const struct al_output_scan *scan,
                     const struct al_candidate *list, const char *rel_dir, struct al_publication *p,
                     struct al_err *err)
{
    if (open_session(spec, rel_dir, p, err) < 0 ||
        al_journal_begin(spec, rel_dir, p->list, p->n, p->own, err) < 0)
        return al_wrap(err, "the output cannot be stored");
    al_publish_step("noted what is built");
    for (size_t i = 0; i < p->n; i++) {
        if (al_build_one(spec, scan, &list[i], p->own->dir_fd, rel_dir, p, &p->list[i], err) < 0)
            return -1;
    }
    if (al_output_scan_check_folders(spec->staging_fd, scan, err) < 0)
        return -1;
    if (sync_all(p, err) < 0)
        return -1;
    al_publish_step("built all");
    return 0;
}

static int build(const struct al_publish_spec *spec, const struct al_output_scan *scan,
                 struct al_publication *p, struct al_err *err)
{
    struct al_candidate *list;
    size_t n;
    if (al_outputs_find(spec->staging_fd, scan, spec, &p->arena, &list, &n, err) < 0)
        return -1;
    if (n == 0)
        return 0;
    char *rel_dir = al_artifact_folder(&p->arena, spec->workspace, spec->session);
    p->list = al_arena_alloc(&p->arena, n * sizeof *p->list);
    if (!p->list || !rel_dir)
        return al_fail(err, AL_PUBLISH_REJECTED, "nothing is published: there are too many artifacts");
    for (p->n = 0; p->n < n; p->n++)
        al_id_new(p->list[p->n].id, "art_");
    return build_all(spec, scan, list, rel_dir, p, err);
}

int al_publish_build(const struct al_publish_spec *spec, struct al_publication *ret, struct al_err *err)
{
    struct al_output_scan scan;
    struct al_publication p = {.warnings = AL_BUF_INIT(WARNINGS_MAX), .arena = AL_ARENA_INIT(ARENA_MAX)};
    if (!*spec->session || strchr(spec->session, '/') || spec->session[0] == '.')
        return al_fail(err, AL_INVALID_INPUT, "artifacts need a session");
    if (al_output_scan_read(spec->staging_fd, &scan, err) < 0)
        return -1;
    p.own = al_xcalloc(1, sizeof *p.own);
    p.own->dir_fd = p.own->lock_fd = -1;
    int r = build(spec, &scan, &p, err);
    al_output_scan_fini(&scan);
    if (r < 0) {
        al_publication_fini(&p);
        return -1;
    }
    *ret = p;
    return 0;
}

/* --- committing --- */

/* Back to nothing: whatever has its name already goes, and the rows with it. */
static void roll_back(struct al_publication *p, struct al_store *store)
{
    struct al_err ignored;
    for (size_t i = 0; i < p->n; i++)
        al_path_remove_tree(p->own->dir_fd, final_name(&p->list[i]));
    /* A row that cannot be taken back goes with the next start. */
    if (al_store_artifact_abandon(store, p->list, p->n, &ignored) < 0)
        al_err_clear(&ignored);
}

static int rename_all(struct al_publication *p, struct al_err *err)
{
    char tmp[AL_ID_MAX + 8];
    for (size_t i = 0; i < p->n; i++) {
        tmp_name(&p->list[i], tmp);
        if (renameat(p->own->dir_fd, tmp, p->own->dir_fd, final_name(&p->list[i])) < 0)
            return al_fail_errno(err, AL_INTERNAL, errno, "the output cannot be stored");
        al_publish_step("named a folder");
    }
    return 0;
}

int al_publish_commit(struct al_publication *p, struct al_store *store, uint64_t max_bytes,
                      struct al_err *err)
{
    if (p->n == 0)
        return 0;
    int r = al_store_artifact_begin(store, p->list, p->n, max_bytes, err);
    if (r != 0)
        return r;
    al_publish_step("wrote the rows");
    if (rename_all(p, err) < 0 || al_store_artifact_ready(store, p->list, p->n, err) < 0) {
        roll_back(p, store);
        return -1;
    }
    al_publish_step("made the rows ready");
    p->own->committed = true;
    al_journal_end(p->own);
    return 0;
}
