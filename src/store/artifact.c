/* Rows of artifacts. Their folders are artifact/'s. */
#include "store/artifact_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define LIST_COLS                                                                                           \
    "id, session, execution, workspace, source_path, title, file_name, kind, mime, sha256, entry, rel_dir," \
    " status, bytes, n_files, created_ms, ended_ms, partial"

void al_artifact_fini(struct al_artifact *a)
{
    free(a->workspace);
    free(a->source_path);
    free(a->title);
    free(a->file_name);
    free(a->kind);
    free(a->mime);
    free(a->sha256);
    free(a->entry);
    free(a->rel_dir);
    free(a->status);
    free(a->manifest);
    *a = (struct al_artifact){0};
}

static void read_row(struct al_stmt *q, bool with_manifest, struct al_artifact *a)
{
    *a = (struct al_artifact){
        .workspace = al_store_dup(q, 3),
        .source_path = al_store_dup(q, 4),
        .title = al_store_dup(q, 5),
        .file_name = al_store_dup(q, 6),
        .kind = al_store_dup(q, 7),
        .mime = al_store_dup(q, 8),
        .sha256 = al_store_dup(q, 9),
        .entry = al_store_dup(q, 10),
        .rel_dir = al_store_dup(q, 11),
        .status = al_store_dup(q, 12),
        .bytes = al_col_int(q, 13),
        .n_files = al_col_int(q, 14),
        .created_ms = al_col_int(q, 15),
        .ended_ms = al_col_int(q, 16),
        .partial = al_col_int(q, 17) != 0,
        .manifest = with_manifest ? al_store_dup(q, 18) : NULL,
    };
    snprintf(a->id, sizeof a->id, "%.*s", AL_FMT(al_col_text(q, 0)));
    snprintf(a->session, sizeof a->session, "%.*s", AL_FMT(al_col_text(q, 1)));
    if (!al_col_is_null(q, 2))
        snprintf(a->execution, sizeof a->execution, "%.*s", AL_FMT(al_col_text(q, 2)));
}

/* --- publishing --- */

static int published_already(struct al_store *s, const char *execution, struct al_err *err)
{
    struct al_stmt *q;
    if (!execution[0])
        return 0;
    if (al_db_prepare(s->db, "SELECT 1 FROM artifacts WHERE execution=?1 LIMIT 1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, execution);
    int r = al_step(q, err);
    al_stmt_reset(q);
    return r;
}

static int check_quota(struct al_store *s, const struct al_artifact *list, size_t n, uint64_t max_bytes,
                       struct al_err *err)
{
    int64_t count, artifacts, datasets;
    uint64_t more = 0;
    if (al_store_artifact_usage(s, NULL, &count, &artifacts, err) < 0 ||
        al_store_dataset_usage(s, NULL, &count, &datasets, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        more += (uint64_t)list[i].bytes;
    uint64_t used = (uint64_t)artifacts + (uint64_t)datasets;
    if (used + more <= max_bytes)
        return 0;
    autobuf struct al_buf a = AL_BUF_INIT(64), b = AL_BUF_INIT(64), c = AL_BUF_INIT(64);
    al_text_bytes(&a, more);
    al_text_bytes(&b, used);
    al_text_bytes(&c, max_bytes);
    al_fail(err, AL_QUOTA_EXCEEDED,
            "the output needs %.*s; %.*s of the %.*s for artifacts and datasets are used",
            AL_FMT(al_buf_str(&a)), AL_FMT(al_buf_str(&b)), AL_FMT(al_buf_str(&c)));
    return al_hint(err, "`alisio artifacts list` and `alisio artifacts rm art_ID` make room, or a larger "
                        "storage.maxBytes");
}

static int insert(struct al_store *s, const struct al_artifact *a, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "INSERT INTO artifacts(host_id, " LIST_COLS ", manifest) "
                      "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,'publishing',?14,?15,?16,0,?17,?18)",
                      &q, err) < 0)
        return -1;
    const char *const texts[] = {
        s->host_id,   a->id,          a->session, a->execution[0] ? a->execution : NULL,
        a->workspace, a->source_path, a->title,   a->file_name,
        a->kind,      a->mime,        a->sha256,  a->entry,
        a->rel_dir};
    for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++)
        al_bind_text(q, i + 1, al_str_of(texts[i]));
    al_bind_int(q, 14, a->bytes);
    al_bind_int(q, 15, a->n_files);
    al_bind_int(q, 16, a->created_ms);
    al_bind_int(q, 17, a->partial);
    al_bind_textz(q, 18, a->manifest);
    return al_store_write(s, q, err);
}

static int begin_in_tx(struct al_store *s, const struct al_artifact *list, size_t n, uint64_t max_bytes,
                       struct al_err *err)
{
    int r = n ? published_already(s, list[0].execution, err) : 0;
    if (r != 0)
        return r;
    if (check_quota(s, list, n, max_bytes, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (insert(s, &list[i], err) < 0)
            return -1;
    }
    return 0;
}

int al_store_artifact_begin(struct al_store *s, const struct al_artifact *list, size_t n, uint64_t max_bytes,
                            struct al_err *err)
{
    if (al_db_begin(s->db, false, err) < 0)
        return -1;
    return al_store_finish(s, begin_in_tx(s, list, n, max_bytes, err), err);
}

static int ready_in_tx(struct al_store *s, const struct al_artifact *list, size_t n, struct al_err *err)
{
    struct al_stmt *q;
    for (size_t i = 0; i < n; i++) {
        if (al_db_prepare(s->db, "UPDATE artifacts SET status='ready' WHERE id=?1 AND status='publishing'",
                          &q, err) < 0)
            return -1;
        al_bind_textz(q, 1, list[i].id);
        if (al_store_write(s, q, err) < 0)
            return -1;
        /* Its workspace was purged meanwhile. */
        if (al_db_changes(s->db) == 0)
            return al_fail(err, AL_STATE_CONFLICT, "the output was removed while it was published");
    }
    return 0;
}

int al_store_artifact_ready(struct al_store *s, const struct al_artifact *list, size_t n, struct al_err *err)
{
    if (al_db_begin(s->db, false, err) < 0)
        return -1;
    return al_store_finish(s, ready_in_tx(s, list, n, err), err);
}

static int drop_publishing(struct al_store *s, const char *id, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "DELETE FROM artifacts WHERE id=?1 AND status='publishing'", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    return al_store_write(s, q, err);
}

static int abandon_in_tx(struct al_store *s, const struct al_artifact *list, size_t n, struct al_err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (drop_publishing(s, list[i].id, err) < 0)
            return -1;
    }
    return 0;
}

int al_store_artifact_abandon(struct al_store *s, const struct al_artifact *list, size_t n,
                              struct al_err *err)
{
    if (al_db_begin(s->db, false, err) < 0)
        return -1;
    return al_store_finish(s, abandon_in_tx(s, list, n, err), err);
}

/* --- looking --- */

int al_store_artifact_get(struct al_store *s, const char *id, const char *workspace, struct al_artifact *ret,
                          struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "SELECT " LIST_COLS
                      ", manifest FROM artifacts WHERE id=?1 AND (?2 IS NULL OR workspace=?2) "
                      "AND status<>'publishing'",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    al_bind_text(q, 2, al_str_of(workspace));
    int r = al_step(q, err);
    if (r < 0)
        return -1;
    if (r == 0) {
        al_fail(err, AL_NOT_FOUND, "there is no artifact %.60s in this workspace", id);
        return al_hint(err, "artifact_list, or `alisio artifacts list`, shows those that are there");
    }
    read_row(q, true, ret);
    al_stmt_reset(q);
    return 0;
}

/* One statement per scope, so that each walks its own index from where it is to begin, newest first. */
#define LIST(where)                                                                                     \
    "SELECT " LIST_COLS " FROM artifacts WHERE " where                                                  \
    " AND (?1 IS NULL OR workspace=?1) AND (?2 IS NULL OR session=?2) AND (?3 IS NULL OR execution=?3)" \
    " AND (?4 IS NULL OR kind=?4) AND (status='ready' OR (?5 AND status='expired'))"                    \
    " AND seq <= coalesce((SELECT seq - 1 FROM artifacts WHERE id=?6),"                                 \
    " (SELECT seq FROM artifacts WHERE id<?6 ORDER BY id DESC LIMIT 1),"                                \
    " CASE WHEN ?6 IS NULL THEN 9223372036854775807 END)"                                               \
    " AND (?7=0 OR created_ms<?7) ORDER BY seq DESC LIMIT ?8"

static const char *list_sql(const struct al_artifact_filter *f)
{
    if (f->execution)
        return LIST("execution=?3");
    if (f->session)
        return LIST("session=?2");
    return f->workspace ? LIST("workspace=?1") : LIST("true");
}

int al_store_artifact_each(struct al_store *s, const struct al_artifact_filter *f,
                           bool (*fn)(void *ud, const struct al_artifact *), void *ud, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, list_sql(f), &q, err) < 0)
        return -1;
    al_bind_text(q, 1, al_str_of(f->workspace));
    al_bind_text(q, 2, al_str_of(f->session));
    al_bind_text(q, 3, al_str_of(f->execution));
    al_bind_text(q, 4, al_str_of(f->kind));
    al_bind_int(q, 5, f->all);
    al_bind_text(q, 6, al_str_of(f->before));
    al_bind_int(q, 7, f->created_before_ms);
    al_bind_int(q, 8, f->limit > 0 ? f->limit : -1);
    int r;
    while ((r = al_step(q, err)) == 1) {
        struct al_artifact a;
        read_row(q, false, &a);
        bool more = fn(ud, &a);
        al_artifact_fini(&a);
        if (!more) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}

int al_store_artifact_usage(struct al_store *s, const char *workspace, int64_t *ret_n, int64_t *ret_bytes,
                            struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "SELECT count(*), coalesce(sum(bytes),0) FROM artifacts "
                      "WHERE status IN ('publishing','ready') AND (?1 IS NULL OR workspace=?1)",
                      &q, err) < 0)
        return -1;
    al_bind_text(q, 1, al_str_of(workspace));
    if (al_step(q, err) < 0)
        return -1;
    *ret_n = al_col_int(q, 0);
    *ret_bytes = al_col_int(q, 1);
    al_stmt_reset(q);
    return 0;
}

/* --- their end --- */

int al_store_artifact_end(struct al_store *s, const char *id, const char *status, struct al_err *err)
{
    struct al_stmt *q;
    /* An expired one can still be deleted; a deleted one stays deleted. */
    if (al_db_prepare(s->db,
                      "UPDATE artifacts SET status=?2, ended_ms=?3 WHERE id=?1 AND "
                      "(status='ready' OR (status='expired' AND ?2='deleted'))",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    al_bind_textz(q, 2, status);
    al_bind_int(q, 3, al_wall_ms());
    if (al_store_write(s, q, err) < 0)
        return -1;
    if (al_db_changes(s->db))
        return 0;
    al_fail(err, AL_NOT_FOUND, "there is no artifact %.60s any more", id);
    return al_hint(err, "`alisio artifacts list` shows those that are there");
}

/* The next row that is being published. One a call: a list of them would have to be bounded. */
static int next_publishing(struct al_store *s, int64_t after, int64_t *ret_seq, char host[AL_ID_MAX],
                           struct al_artifact *ret, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "SELECT " LIST_COLS
                      ", seq, host_id FROM artifacts WHERE status='publishing' AND seq>?1 "
                      "ORDER BY seq LIMIT 1",
                      &q, err) < 0)
        return -1;
    al_bind_int(q, 1, after);
    int r = al_step(q, err);
    if (r != 1)
        return r;
    read_row(q, false, ret);
    *ret_seq = al_col_int(q, 18);
    snprintf(host, AL_ID_MAX, "%.*s", AL_FMT(al_col_text(q, 19)));
    al_stmt_reset(q);
    return 1;
}

int al_store_artifact_recover(struct al_store *s, void (*fn)(void *ud, const struct al_artifact *), void *ud,
                              struct al_err *err)
{
    int64_t seq = 0;
    int n = 0, r;
    char host[AL_ID_MAX];
    struct al_artifact a;
    while ((r = next_publishing(s, seq, &seq, host, &a, err)) == 1) {
        if (!al_store_host_alive(s, host)) {
            fn(ud, &a);
            r = drop_publishing(s, a.id, err);
            n++;
        }
        al_artifact_fini(&a);
        if (r < 0)
            return -1;
    }
    return r < 0 ? -1 : n;
}

/* <folder>/<workspace key>, or the session's folder in it, or the run's in that. What cannot be removed now
 * is swept later. */
static void remove_folder(const struct al_store *s, const char *folder, const char *workspace,
                          const char *session, const char *run)
{
    char key[AL_WORKSPACE_KEY_MAX];
    autobuf struct al_buf rel = AL_BUF_INIT(4096);
    autofd int state = openat(AT_FDCWD, s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), dir = -1;
    const char *name;
    struct al_err ignored;
    al_workspace_key(key, workspace);
    al_buf_addf(&rel, "%s/%s", folder, key);
    if (session)
        al_buf_addf(&rel, "/%s", session);
    if (session && run)
        al_buf_addf(&rel, "/%s", run);
    autofree char *path = al_buf_take(&rel);
    if (path && state >= 0 && al_path_open_parent(state, path, false, folder, &dir, &name, &ignored) == 0)
        al_path_remove_tree(dir, name);
}

void al_artifact_files_remove(const struct al_store *s, const char *workspace)
{
    remove_folder(s, "artifacts", workspace, NULL, NULL);
}

void al_job_files_remove(const struct al_store *s, const char *workspace, const char *session,
                         const char *run)
{
    remove_folder(s, "analysis/jobs", workspace, session, run);
}
