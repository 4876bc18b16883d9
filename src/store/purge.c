/* Keeping house: what is deleted, and never what is live. */
#include "store/artifact_int.h"
#include "store/dataset_int.h"
#include "store/store_int.h"

#include "base/mem.h"

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

int al_store_run_delete(struct al_store *s, const char *id, struct al_err *err)
{
    if (al_store_recover(s, err) < 0 || al_db_begin(s->db, false, err) < 0)
        return -1;
    return al_store_finish(s, delete_run_in_tx(s, id, err), err);
}

/* Runs deleted, at most PURGE_BATCH. */
static int purge_batch(struct al_store *s, int64_t cutoff_ms, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "DELETE FROM runs WHERE seq IN (SELECT seq FROM runs WHERE ended_ms>0 AND ended_ms<?1 LIMIT ?2)",
            &q, err) < 0)
        return -1;
    al_bind_int(q, 1, cutoff_ms);
    al_bind_int(q, 2, PURGE_BATCH);
    if (al_store_write(s, q, err) < 0)
        return -1;
    return (int)al_db_changes(s->db);
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
    return total;
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
                            err) < 0)
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
        al_job_files_remove(s, workspace, NULL);
    }
    return n;
}
