#include "store/artifact_int.h"
#include "store/conversation_int.h"
#include "store/dataset_int.h"
#include "store/store_int.h"

#include "base/mem.h"

#include <stdio.h>

#define SESSION_COLS                                             \
    "SELECT id, workspace, kind, title, created_ms, updated_ms," \
    " (SELECT count(*) FROM runs WHERE runs.session=sessions.id) FROM sessions "

void al_session_fini(struct al_session *v)
{
    free(v->workspace);
    free(v->kind);
    free(v->title);
    *v = (struct al_session){0};
}

static void read_session(struct al_stmt *q, struct al_session *v)
{
    *v = (struct al_session){.workspace = al_store_dup(q, 1),
                             .kind = al_store_dup(q, 2),
                             .title = al_store_dup(q, 3),
                             .created_ms = al_col_int(q, 4),
                             .updated_ms = al_col_int(q, 5),
                             .n_runs = al_col_int(q, 6)};
    snprintf(v->id, sizeof v->id, "%.*s", AL_FMT(al_col_text(q, 0)));
}

/* 1 found, 0 not, -1. */
static int take_one(struct al_stmt *q, struct al_session *ret, struct al_err *err)
{
    int r = al_step(q, err);
    if (r == 1) {
        read_session(q, ret);
        al_stmt_reset(q);
    }
    return r;
}

int al_store_session_insert(struct al_store *s, const char *id, const char *workspace, const char *kind,
                            const char *title, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "INSERT INTO sessions(id, workspace, kind, created_ms, updated_ms, title) VALUES(?1,?2,?3,?4,?4,?5) "
            "ON CONFLICT DO NOTHING",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 5, title);
    al_bind_textz(q, 1, id);
    al_bind_textz(q, 2, workspace);
    al_bind_textz(q, 3, kind);
    al_bind_int(q, 4, al_wall_ms());
    return al_store_write(s, q, err);
}

static int find_default(struct al_store *s, const char *workspace, struct al_session *ret, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, SESSION_COLS "WHERE workspace=?1 AND kind='default'", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, workspace);
    return take_one(q, ret, err);
}

int al_store_session_default(struct al_store *s, const char *workspace, struct al_session *ret,
                             struct al_err *err)
{
    int r = find_default(s, workspace, ret, err);
    if (r != 0)
        return r < 0 ? -1 : 0;
    char id[AL_ID_MAX];
    al_id_new(id, "ses_");
    /* Two processes may come here at once: the second insert does nothing, and both read the first's row. */
    if (al_store_session_insert(s, id, workspace, "default", NULL, err) < 0)
        return -1;
    r = find_default(s, workspace, ret, err);
    if (r == 0)
        return al_fail(err, AL_INTERNAL, "the default session is gone at once");
    return r < 0 ? -1 : 0;
}

int al_store_session_new(struct al_store *s, const char *workspace, struct al_session *ret,
                         struct al_err *err)
{
    char id[AL_ID_MAX];
    al_id_new(id, "ses_");
    return al_store_session_insert(s, id, workspace, "named", NULL, err) < 0 ? -1
                                                                              : al_store_session_get(s, id, ret, err);
}

int al_store_session_get(struct al_store *s, const char *id, struct al_session *ret, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, SESSION_COLS "WHERE id=?1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    int r = take_one(q, ret, err);
    if (r == 0) {
        al_fail(err, AL_NOT_FOUND, "there is no session %.60s", id);
        return al_hint(err, "`alisio sessions list` shows them");
    }
    return r < 0 ? -1 : 0;
}

int al_store_session_each(struct al_store *s, const char *workspace,
                          bool (*fn)(void *ud, const struct al_session *), void *ud, struct al_err *err)
{
    struct al_stmt *q;
    const char *sql = workspace ? SESSION_COLS "WHERE workspace=?1 ORDER BY updated_ms DESC, id DESC"
                                : SESSION_COLS "ORDER BY updated_ms DESC, id DESC";
    if (al_db_prepare(s->db, sql, &q, err) < 0)
        return -1;
    if (workspace)
        al_bind_textz(q, 1, workspace);
    int r;
    while ((r = al_step(q, err)) == 1) {
        struct al_session v;
        read_session(q, &v);
        bool more = fn(ud, &v);
        al_session_fini(&v);
        if (!more) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}

static int delete_in_tx(struct al_store *s, const char *id, struct al_err *err)
{
    if (al_store_check_idle(s, "SELECT 1 FROM runs WHERE session=?1 AND " AL_LIVE " LIMIT 1", id, err) < 0 ||
        al_turn_check_idle(s, id, NULL, err) < 0)
        return -1;
    struct al_stmt *q;
    if (al_db_prepare(s->db, "DELETE FROM decisions WHERE session=?1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    if (al_store_write(s, q, err) < 0)
        return -1;
    /* Runs, calls, events, state, grants, datasets and its conversation go with it. */
    if (al_db_prepare(s->db, "DELETE FROM sessions WHERE id=?1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    if (al_store_write(s, q, err) < 0)
        return -1;
    if (al_db_changes(s->db) == 0) {
        al_fail(err, AL_NOT_FOUND, "there is no session %.60s", id);
        return al_hint(err, "`alisio sessions list` shows them");
    }
    return al_store_drop_unused_code(s, err);
}

int al_store_session_delete(struct al_store *s, const char *id, struct al_err *err)
{
    struct al_session v = {0};
    if (al_store_recover(s, err) < 0 || al_store_session_get(s, id, &v, err) < 0)
        return -1;
    int r = al_db_begin(s->db, false, err);
    if (r == 0)
        r = al_store_finish(s, delete_in_tx(s, id, err), err);
    if (r == 0) {
        al_dataset_files_remove(s, v.workspace, id);
        al_job_files_remove(s, v.workspace, id, NULL);
    }
    al_session_fini(&v);
    return r;
}
