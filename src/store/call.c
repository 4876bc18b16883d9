#include "store/store_int.h"

#include "base/mem.h"

static int insert_call(struct al_store *s, const char *run_id, const struct al_call_row *c,
                       struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "INSERT INTO calls(run, seq, tool, effect, args_sha256, args_preview, decision, status, code, "
            "started_ms, ended_ms, bytes) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, run_id);
    al_bind_int(q, 2, c->seq);
    al_bind_textz(q, 3, c->tool);
    al_bind_textz(q, 4, c->effect);
    al_bind_textz(q, 5, c->args_sha256);
    al_bind_textz(q, 6, c->args_preview);
    al_bind_textz(q, 7, c->decision);
    al_bind_textz(q, 8, c->status ? c->status : "running");
    al_bind_textz(q, 9, c->code);
    al_bind_int(q, 10, c->started_ms ? c->started_ms : al_wall_ms());
    al_bind_int(q, 11, c->ended_ms);
    al_bind_int(q, 12, c->bytes);
    return al_store_write(s, q, err);
}

int al_store_call_begin(struct al_store *s, const char *run_id, const struct al_call_row *c, bool sync,
                        struct al_err *err)
{
    /* One statement is a transaction by itself, and takes the write lock at its start. */
    if (!sync)
        return insert_call(s, run_id, c, err);
    if (al_db_begin(s->db, true, err) < 0)
        return -1;
    return al_store_finish(s, insert_call(s, run_id, c, err), err);
}

int al_store_call_end(struct al_store *s, const char *run_id, const struct al_call_row *c, struct al_err *err)
{
    if (!c->status || strcmp(c->status, "running") == 0)
        return al_fail(err, AL_INTERNAL, "a call cannot end as running");
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "UPDATE calls SET status=?3, code=?4, ended_ms=?5, bytes=?6, decision=coalesce(?7, decision) "
            "WHERE run=?1 AND seq=?2 AND status='running'",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, run_id);
    al_bind_int(q, 2, c->seq);
    al_bind_textz(q, 3, c->status);
    al_bind_textz(q, 4, c->code);
    al_bind_int(q, 5, c->ended_ms ? c->ended_ms : al_wall_ms());
    al_bind_int(q, 6, c->bytes);
    al_bind_textz(q, 7, c->decision);
    return al_store_write(s, q, err);
}

int al_store_call_each(struct al_store *s, const char *run_id,
                       bool (*fn)(void *ud, const struct al_call_row *), void *ud, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "SELECT seq, tool, effect, args_sha256, args_preview, decision, status, code, started_ms, "
            "ended_ms, bytes FROM calls WHERE run=?1 ORDER BY seq",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, run_id);
    int r;
    while ((r = al_step(q, err)) == 1) {
        char *own[7];
        for (int i = 0; i < 7; i++)
            own[i] = al_store_dup(q, i + 1);
        struct al_call_row c = {al_col_int(q, 0), own[0],           own[1],           own[2],
                                own[3],           own[4],           own[5],           own[6],
                                al_col_int(q, 8), al_col_int(q, 9), al_col_int(q, 10)};
        bool more = fn(ud, &c);
        for (int i = 0; i < 7; i++)
            free(own[i]);
        if (!more) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}

int al_store_event_add(struct al_store *s, const char *run_id, const char *type, struct al_str body,
                       struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "INSERT INTO events(run, type, body, at_ms) VALUES(?1,?2,?3,?4)", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, run_id);
    al_bind_textz(q, 2, type);
    al_bind_text(q, 3, body.p ? body : AL_STR(""));
    al_bind_int(q, 4, al_wall_ms());
    return al_store_write(s, q, err);
}

int al_store_event_each(struct al_store *s, const char *run_id, int64_t after_seq,
                        bool (*fn)(void *ud, int64_t seq, const char *type, struct al_str body,
                                   int64_t at_ms),
                        void *ud, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "SELECT seq, type, body, at_ms FROM events WHERE run=?1 AND seq>?2 ORDER BY seq",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, run_id);
    al_bind_int(q, 2, after_seq);
    int r;
    while ((r = al_step(q, err)) == 1) {
        autofree char *type = al_store_dup(q, 1);
        if (fn(ud, al_col_int(q, 0), type, al_col_text(q, 2), al_col_int(q, 3)))
            continue;
        al_stmt_reset(q);
        return 0;
    }
    return r;
}
