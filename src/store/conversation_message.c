/* Messages of a conversation, requests, durable events, and what is known of endpoints. */
#include "store/conversation_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

int al_message_check(struct al_str body, struct al_err *err)
{
    if (body.n > AL_MESSAGE_MAX)
        return al_fail(err, AL_RESULT_TOO_LARGE, "a message of %zu bytes is too long for the journal",
                       body.n);
    if (!al_json_check(body, AL_JSON_MAX_DEPTH))
        return al_fail(err, AL_INTERNAL, "a message for the journal is no JSON, or too deep");
    return 0;
}

int al_message_insert(struct al_store *s, const char *session, const char *turn, struct al_str body,
                      int64_t *ret_seq, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "INSERT INTO messages(seq, session, turn, body, created_ms, place) SELECT n, ?1, ?2, "
                      "?3, ?4, n FROM "
                      "(SELECT coalesce(max(seq),0)+1 AS n FROM messages WHERE seq<" AL_SEQ_END
                      ") RETURNING seq",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    al_bind_textz(q, 2, turn);
    al_bind_text(q, 3, body);
    al_bind_int(q, 4, al_wall_ms());
    int r = al_step(q, err);
    if (r < 0)
        return -1;
    *ret_seq = al_col_int(q, 0);
    al_stmt_reset(q);
    return r == 1 ? 0 : al_fail(err, AL_INTERNAL, "a message was not written");
}

int al_turn_message(struct al_store *s, const char *session, const char *turn, struct al_str body,
                    int64_t *ret_seq, struct al_err *err)
{
    int64_t seq;
    if (al_message_check(body, err) < 0 || al_db_begin(s->db, false, err) < 0)
        return -1;
    int r = al_store_finish(s, al_message_insert(s, session, turn, body, &seq, err), err);
    if (r == 0 && ret_seq)
        *ret_seq = seq;
    return r;
}

/* The place of a message that is sent; 0: there is none of that number. */
static int place_of(struct al_store *s, const char *session, int64_t seq, int64_t *ret, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "SELECT place FROM messages WHERE session=?1 AND seq=?2 AND compacted_by=0", &q,
                      err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    al_bind_int(q, 2, seq);
    int r = al_step(q, err);
    if (r < 0)
        return -1;
    *ret = r ? al_col_int(q, 0) : 0;
    al_stmt_reset(q);
    return r ? 0
             : al_fail(err, AL_INTERNAL, "message %lld of session %.60s cannot be summarised", (long long)seq,
                       session);
}

static int compact_in_tx(struct al_store *s, const char *session, const char *turn, struct al_str body,
                         int64_t first, int64_t last, int64_t *ret_seq, struct al_err *err)
{
    int64_t from, to;
    if (place_of(s, session, first, &from, err) < 0 || place_of(s, session, last, &to, err) < 0 ||
        al_message_insert(s, session, turn, body, ret_seq, err) < 0)
        return -1;
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "UPDATE messages SET compacted_by=?2 WHERE session=?1 AND compacted_by=0 AND place "
                      "BETWEEN ?3 AND ?4 "
                      "AND seq<>?2",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    al_bind_int(q, 2, *ret_seq);
    al_bind_int(q, 3, from);
    al_bind_int(q, 4, to);
    if (al_store_write(s, q, err) < 0)
        return -1;
    if (al_db_changes(s->db) == 0)
        return al_fail(err, AL_INTERNAL, "a summary would stand for no message");
    if (al_db_prepare(s->db, "UPDATE messages SET place=?2 WHERE seq=?1", &q, err) < 0)
        return -1;
    al_bind_int(q, 1, *ret_seq);
    al_bind_int(q, 2, from);
    return al_store_write(s, q, err);
}

int al_turn_compact(struct al_store *s, const char *session, const char *turn, struct al_str summary_body,
                    int64_t first, int64_t last, int64_t *ret_seq, struct al_err *err)
{
    int64_t seq;
    if (al_message_check(summary_body, err) < 0 || al_store_begin(s, err) < 0)
        return -1;
    int r = al_store_finish(s, compact_in_tx(s, session, turn, summary_body, first, last, &seq, err), err);
    if (r == 0 && ret_seq)
        *ret_seq = seq;
    return r;
}

int al_message_each(struct al_store *s, const char *session, bool all,
                    bool (*fn)(void *ud, const struct al_message_row *m), void *ud, struct al_err *err)
{
#define COLS "SELECT seq, turn, created_ms, compacted_by, body FROM messages WHERE session=?1 "
    struct al_stmt *q;
    const char *sql = all ? COLS "ORDER BY seq" : COLS "AND compacted_by=0 ORDER BY place, seq";
#undef COLS
    if (al_db_prepare(s->db, sql, &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    int r;
    while ((r = al_step(q, err)) == 1) {
        autofree char *turn = al_store_dup(q, 1);
        struct al_message_row m = {
            .seq = al_col_int(q, 0),
            .turn = turn,
            .body = al_col_text(q, 4),
            .created_ms = al_col_int(q, 2),
            .compacted_by = al_col_int(q, 3),
        };
        if (!fn(ud, &m)) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}

/* --- requests --- */

int al_turn_request(struct al_store *s, const char *turn, unsigned attempt, const char *model,
                    const char *sha256, int64_t *ret_seq, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "INSERT INTO model_requests(turn, attempt, model, sha256, status, created_ms, ended_ms) "
            "VALUES(?1,?2,?3,?4,'running',?5,0) RETURNING seq",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, turn);
    al_bind_int(q, 2, attempt);
    al_bind_textz(q, 3, model);
    al_bind_textz(q, 4, sha256);
    al_bind_int(q, 5, al_wall_ms());
    int r = al_step(q, err);
    if (r < 0)
        return -1;
    int64_t seq = r ? al_col_int(q, 0) : 0;
    /* The statement is a transaction of its own: what it wrote counts when it has come to its end. */
    while (r == 1)
        r = al_step(q, err);
    if (r == 0 && ret_seq)
        *ret_seq = seq;
    return r;
}

int al_turn_request_end(struct al_store *s, int64_t seq, const char *status, const char *usage,
                        const char *error, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "UPDATE model_requests SET status=?2, usage=?3, error=?4, ended_ms=?5 WHERE seq=?1 AND "
                      "status='running'",
                      &q, err) < 0)
        return -1;
    al_bind_int(q, 1, seq);
    al_bind_textz(q, 2, status);
    al_bind_textz(q, 3, usage);
    al_bind_textz(q, 4, error);
    al_bind_int(q, 5, al_wall_ms());
    return al_store_write(s, q, err);
}

/* --- events --- */

int al_turn_event(struct al_store *s, const char *session, const char *turn, const char *type,
                  struct al_str data, int64_t seq, int64_t *ret_id, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "INSERT INTO turn_events(session, turn, seq, type, at_ms, data) VALUES(?1,?2,?3,?4,?5,?6) "
            "RETURNING id",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    al_bind_textz(q, 2, turn);
    al_bind_int(q, 3, seq);
    al_bind_textz(q, 4, type);
    al_bind_int(q, 5, al_wall_ms());
    al_bind_text(q, 6, data);
    int r = al_step(q, err);
    if (r < 0)
        return -1;
    int64_t id = r ? al_col_int(q, 0) : 0;
    while (r == 1)
        r = al_step(q, err);
    if (r == 0 && ret_id)
        *ret_id = id;
    return r;
}

int al_turn_event_each(struct al_store *s, const char *session, int64_t after_id,
                       bool (*fn)(void *ud, const struct al_event_row *e), void *ud, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "SELECT id, seq, at_ms, turn, type, data FROM turn_events WHERE session=?1 AND id>?2 ORDER BY id",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    al_bind_int(q, 2, after_id);
    int r;
    while ((r = al_step(q, err)) == 1) {
        autofree char *turn = al_store_dup(q, 3);
        autofree char *type = al_store_dup(q, 4);
        struct al_event_row e = {al_col_int(q, 0), al_col_int(q, 1), al_col_int(q, 2), turn, type,
                                 al_col_text(q, 5)};
        if (!fn(ud, &e)) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}

/* --- endpoints --- */

int al_store_model_facts(struct al_store *s, const char *base_url, const char *model, struct al_buf *out,
                         struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "SELECT facts FROM model_facts WHERE base_url=?1 AND model=?2", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, base_url);
    al_bind_textz(q, 2, model);
    int r = al_step(q, err);
    if (r == 1) {
        al_buf_add_str(out, al_col_text(q, 0));
        al_stmt_reset(q);
    }
    return r < 0 ? -1 : 0;
}

int al_store_model_facts_set(struct al_store *s, const char *base_url, const char *model, struct al_str json,
                             struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "INSERT INTO model_facts(base_url, model, at_ms, facts) VALUES(?1,?2,?3,?4) "
                      "ON CONFLICT(base_url, model) DO UPDATE SET at_ms=excluded.at_ms, facts=excluded.facts",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, base_url);
    al_bind_textz(q, 2, model);
    al_bind_int(q, 3, al_wall_ms());
    al_bind_text(q, 4, json);
    return al_store_write(s, q, err);
}
