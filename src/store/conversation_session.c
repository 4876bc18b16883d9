/* Sessions of agents: made, copied, and removed when nobody came back to them. */
#include "store/conversation_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

#define TITLE_MAX 200 /* bytes */

int al_store_session_agent(struct al_store *s, const char *workspace, const char *title,
                           struct al_session *ret, struct al_err *err)
{
    char id[AL_ID_MAX];
    al_id_new(id, "ses_");
    struct al_str cut = al_utf8_cut(al_str_of(title), TITLE_MAX);
    autofree char *clean = title ? al_store_clean(cut) : NULL;
    return al_store_session_insert(s, id, workspace, "agent", clean, err) < 0
               ? -1
               : al_store_session_get(s, id, ret, err);
}

/* --- a copy --- */

/* What is to be added to the number of each row, so that the copies come after all rows that there are. */
static int find_shift(struct al_store *s, const char *from, int64_t *ret, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "SELECT coalesce((SELECT max(seq) FROM messages WHERE seq<" AL_SEQ_END
                      "), 0) + 1 - coalesce((SELECT min(seq) FROM messages WHERE session=?1), 0)",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, from);
    if (al_step(q, err) < 0)
        return -1;
    *ret = al_col_int(q, 0);
    al_stmt_reset(q);
    return 0;
}

static int copy_rows(struct al_store *s, const char *from, const char *to, struct al_err *err)
{
    static const char *const sqls[] = {
        "INSERT INTO messages(seq, session, turn, created_ms, compacted_by, place, body) SELECT seq+?3, ?2, "
        "turn, created_ms, "
        "CASE compacted_by WHEN 0 THEN 0 ELSE compacted_by+?3 END, place+?3, body FROM messages WHERE "
        "session=?1 ORDER BY seq",
        "INSERT INTO model_calls(id, session, message, ord, name, effect, status, is_error, execution, "
        "started_ms, ended_ms, "
        "arguments, output, result, whole) SELECT id, ?2, message+?3, ord, name, effect, status, is_error, "
        "execution, "
        "started_ms, ended_ms, arguments, output, result, whole FROM model_calls WHERE session=?1 ORDER BY "
        "seq",
    };
    int64_t shift;
    if (find_shift(s, from, &shift, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof sqls / sizeof sqls[0]; i++) {
        struct al_stmt *q;
        if (al_db_prepare(s->db, sqls[i], &q, err) < 0)
            return -1;
        al_bind_textz(q, 1, from);
        al_bind_textz(q, 2, to);
        al_bind_int(q, 3, shift);
        if (al_store_write(s, q, err) < 0)
            return -1;
    }
    return 0;
}

static int fork_in_tx(struct al_store *s, const struct al_session *from, const char *id, struct al_err *err)
{
    struct al_model_call *calls = NULL;
    size_t n = 0;
    if (al_store_session_insert(s, id, from->workspace, "agent", from->title, err) < 0 ||
        copy_rows(s, from->id, id, err) < 0)
        return -1;
    int r = al_turn_settle_in_tx(s, id, &calls, &n, err);
    for (size_t i = 0; i < n; i++) {
        /* Whoever goes on with the copy is told. */
        if (r == 0)
            r = al_model_call_told(s, id, calls[i].id, 0, err);
        al_model_call_fini(&calls[i]);
    }
    free(calls);
    return r;
}

int al_store_session_fork(struct al_store *s, const char *id, struct al_session *ret, struct al_err *err)
{
    struct al_session from = {0};
    char copy[AL_ID_MAX];
    al_id_new(copy, "ses_");
    if (al_store_session_get(s, id, &from, err) < 0)
        return -1;
    int r = al_db_begin(s->db, false, err);
    if (r == 0)
        r = al_store_finish(s, fork_in_tx(s, &from, copy, err), err);
    al_session_fini(&from);
    return r < 0 ? -1 : al_store_session_get(s, copy, ret, err);
}

/* --- age --- */

struct old {
    char (*ids)[AL_ID_MAX];
    int n;
};

/* A session's updated_ms is of its last turn or run. */
static int find_old(struct al_store *s, int64_t cutoff_ms, int limit, struct old *old, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "SELECT id FROM sessions x WHERE kind='agent' AND updated_ms<?1 AND (EXISTS (SELECT 1 "
                      "FROM turns WHERE "
                      "session=x.id) OR EXISTS (SELECT 1 FROM messages WHERE session=x.id)) AND NOT EXISTS "
                      "(SELECT 1 FROM session_locks WHERE session=x.id) ORDER BY updated_ms LIMIT ?2",
                      &q, err) < 0)
        return -1;
    al_bind_int(q, 1, cutoff_ms);
    al_bind_int(q, 2, limit);
    int r;
    while ((r = al_step(q, err)) == 1 && old->n < limit)
        snprintf(old->ids[old->n++], AL_ID_MAX, "%.*s", AL_FMT(al_col_text(q, 0)));
    if (r == 1)
        al_stmt_reset(q);
    return r < 0 ? -1 : 0;
}

static int drop_conversation(struct al_store *s, const char *id, struct al_err *err)
{
    static const char *const sqls[] = {
        "DELETE FROM turns WHERE session=?1",
        "DELETE FROM messages WHERE session=?1",
        "DELETE FROM turn_events WHERE session=?1",
        "DELETE FROM sessions WHERE id=?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE session=?1) AND NOT "
        "EXISTS "
        "(SELECT 1 FROM datasets WHERE session=?1) AND NOT EXISTS (SELECT 1 FROM artifacts WHERE session=?1)",
    };
    for (size_t i = 0; i < sizeof sqls / sizeof sqls[0]; i++) {
        struct al_stmt *q;
        if (al_db_prepare(s->db, sqls[i], &q, err) < 0)
            return -1;
        al_bind_textz(q, 1, id);
        if (al_store_write(s, q, err) < 0)
            return -1;
    }
    return 0;
}

static int purge_in_tx(struct al_store *s, int64_t cutoff_ms, int limit, struct old *old, struct al_err *err)
{
    if (find_old(s, cutoff_ms, limit, old, err) < 0)
        return -1;
    for (int i = 0; i < old->n; i++) {
        if (drop_conversation(s, old->ids[i], err) < 0)
            return -1;
    }
    return old->n;
}

int al_turn_purge(struct al_store *s, int64_t cutoff_ms, int limit, struct al_err *err)
{
    struct old old = {al_xcalloc((size_t)limit, AL_ID_MAX), 0};
    int r = al_db_begin(s->db, false, err);
    if (r == 0)
        r = al_store_finish(s, purge_in_tx(s, cutoff_ms, limit, &old, err), err);
    free(old.ids);
    return r;
}
