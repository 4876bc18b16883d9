/* Keeping house: what is deleted, and never what is live. */
#include "store/artifact_int.h"
#include "store/conversation_int.h"
#include "store/dataset_int.h"
#include "store/store_int.h"

#include "base/mem.h"

#include <stdio.h>

/* Runs per transaction: other processes wait at most this long for a write. */
#define PURGE_BATCH 20

int al_store_check_idle(struct al_store *s, const char *sql, const char *what, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, sql, &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, what);
    int r = al_step(q, err);
    al_stmt_reset(q);
    if (r <= 0)
        return r;
    al_fail(err, AL_BUSY, "a run is still going on");
    return al_hint(err, "`alisio runs list` shows it, `alisio runs cancel ID` ends it");
}

int al_store_drop_unused_code(struct al_store *s, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "DELETE FROM scripts WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.code_sha256=scripts.sha256)",
            &q, err) < 0)
        return -1;
    return al_store_write(s, q, err);
}

static int delete_run_in_tx(struct al_store *s, const char *id, struct al_err *err)
{
    if (al_store_check_idle(s, "SELECT 1 FROM runs WHERE id=?1 AND " AL_LIVE, id, err) < 0)
        return -1;
    struct al_stmt *q;
    if (al_db_prepare(s->db, "DELETE FROM runs WHERE id=?1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    if (al_store_write(s, q, err) < 0)
        return -1;
    if (al_db_changes(s->db) == 0)
        return al_fail(err, AL_NOT_FOUND, "there is no run %.60s", id);
    return al_store_drop_unused_code(s, err);
}

/* Where the files of a Python run are. */
struct job {
    char id[AL_ID_MAX], session[AL_ID_MAX];
    char *workspace;
};

static void take_job(struct al_stmt *q, struct job *j)
{
    snprintf(j->id, sizeof j->id, "%.*s", AL_FMT(al_col_text(q, 0)));
    snprintf(j->session, sizeof j->session, "%.*s", AL_FMT(al_col_text(q, 1)));
    j->workspace = al_store_dup(q, 2);
}

/* Without its row nobody could say whose they are, and its script cannot be run again. */
static void remove_job(const struct al_store *s, struct job *j, bool deleted)
{
    if (deleted && j->workspace)
        al_job_files_remove(s, j->workspace, j->session, j->id);
    free(j->workspace);
}

#define JOBS "SELECT id, session, workspace FROM runs WHERE kind='python_run' AND "

static int find_job(struct al_store *s, const char *id, struct job *ret, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, JOBS "id=?1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    int r = al_step(q, err);
    if (r == 1)
        take_job(q, ret);
    al_stmt_reset(q);
    return r;
}

int al_store_run_delete(struct al_store *s, const char *id, struct al_err *err)
{
    struct job job = {.workspace = NULL};
    if (al_store_recover(s, err) < 0 || find_job(s, id, &job, err) < 0)
        return -1;
    int r = al_db_begin(s->db, false, err);
    if (r == 0)
        r = al_store_finish(s, delete_run_in_tx(s, id, err), err);
    remove_job(s, &job, r == 0);
    return r;
}

#define OLD "seq IN (SELECT seq FROM runs WHERE ended_ms>0 AND ended_ms<?1 ORDER BY seq LIMIT ?2)"

static int find_old_jobs(struct al_store *s, int64_t cutoff_ms, struct job *list, int *ret_n,
                         struct al_err *err)
{
    struct al_stmt *q;
    int r;
    *ret_n = 0;
    if (al_db_prepare(s->db, JOBS OLD, &q, err) < 0)
        return -1;
    al_bind_int(q, 1, cutoff_ms);
    al_bind_int(q, 2, PURGE_BATCH);
    while ((r = al_step(q, err)) == 1 && *ret_n < PURGE_BATCH)
        take_job(q, &list[(*ret_n)++]);
    al_stmt_reset(q);
    return r < 0 ? -1 : 0;
}

static int delete_old(struct al_store *s, int64_t cutoff_ms, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "DELETE FROM runs WHERE " OLD, &q, err) < 0)
        return -1;
    al_bind_int(q, 1, cutoff_ms);
    al_bind_int(q, 2, PURGE_BATCH);
    if (al_store_write(s, q, err) < 0)
        return -1;
    return (int)al_db_changes(s->db);
}

/* Runs deleted, at most PURGE_BATCH, with the files of those that were Python scripts. */
static int purge_batch(struct al_store *s, int64_t cutoff_ms, struct al_err *err)
{
    struct job jobs[PURGE_BATCH];
    int n_jobs = 0;
    if (al_db_begin(s->db, false, err) < 0)
        return -1;
    int n = find_old_jobs(s, cutoff_ms, jobs, &n_jobs, err) < 0 ? -1 : delete_old(s, cutoff_ms, err);
    n = al_store_finish(s, n, err);
    for (int i = 0; i < n_jobs; i++)
        remove_job(s, &jobs[i], n >= 0);
    return n;
}

int al_store_purge_before(struct al_store *s, int64_t cutoff_ms, struct al_err *err)
{
    int total = 0, n;
    do {
        n = purge_batch(s, cutoff_ms, err);
        if (n < 0)
            return -1;
        total += n;
    } while (n == PURGE_BATCH);
    if (total && al_store_drop_unused_code(s, err) < 0)
        return -1;
    do
        n = al_turn_purge(s, cutoff_ms, PURGE_BATCH, err);
    while (n == PURGE_BATCH);
    return n < 0 ? -1 : total;
}

static int count_runs(struct al_store *s, const char *workspace, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "SELECT count(*) FROM runs WHERE workspace=?1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, workspace);
    if (al_step(q, err) < 0)
        return -1;
    int n = (int)al_col_int(q, 0);
    al_stmt_reset(q);
    return n;
}

static int purge_workspace_in_tx(struct al_store *s, const char *workspace, struct al_err *err)
{
    static const char *const sqls[] = {
        "DELETE FROM decisions WHERE session IN (SELECT id FROM sessions WHERE workspace=?1)",
        "DELETE FROM artifacts WHERE workspace=?1",
        "DELETE FROM sessions WHERE workspace=?1",
        "DELETE FROM trust WHERE dir=?1",
    };
    if (al_store_check_idle(s, "SELECT 1 FROM runs WHERE workspace=?1 AND " AL_LIVE " LIMIT 1", workspace,
                            err) < 0 ||
        al_turn_check_idle(s, NULL, workspace, err) < 0)
        return -1;
    int n = count_runs(s, workspace, err);
    for (size_t i = 0; n >= 0 && i < sizeof sqls / sizeof sqls[0]; i++) {
        struct al_stmt *q;
        if (al_db_prepare(s->db, sqls[i], &q, err) < 0)
            return -1;
        al_bind_textz(q, 1, workspace);
        if (al_store_write(s, q, err) < 0)
            return -1;
    }
    return n < 0 || al_store_drop_unused_code(s, err) < 0 ? -1 : n;
}

int al_store_purge_workspace(struct al_store *s, const char *workspace, struct al_err *err)
{
    if (al_store_recover(s, err) < 0 || al_db_begin(s->db, false, err) < 0)
        return -1;
    int n = al_store_finish(s, purge_workspace_in_tx(s, workspace, err), err);
    if (n >= 0) {
        al_dataset_files_remove(s, workspace, NULL);
        al_artifact_files_remove(s, workspace);
        al_job_files_remove(s, workspace, NULL, NULL);
    }
    return n;
}
