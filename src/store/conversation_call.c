/* The calls that a model makes: a row before each, its end, and what is said of one that has none. */
#include "store/conversation_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

void al_model_call_fini(struct al_model_call *c)
{
    char **owned[] = {&c->name,   &c->arguments, &c->effect, &c->status,
                      &c->result, &c->whole,     &c->output, &c->execution};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        free(*owned[i]);
    *c = (struct al_model_call){0};
}

/* Of a column that must hold something. */
static char *text_of(struct al_stmt *q, int i)
{
    char *text = al_store_dup(q, i);
    return text ? text : al_xstrdup("");
}

void al_model_call_take(struct al_stmt *q, struct al_model_call *ret)
{
    *ret = (struct al_model_call){
        .message_seq = al_col_int(q, 2),
        .ord = al_col_int(q, 3),
        .name = text_of(q, 4),
        .arguments = text_of(q, 5),
        .effect = al_store_dup(q, 6),
        .status = text_of(q, 7),
        .result = al_store_dup(q, 8),
        .whole = al_store_dup(q, 9),
        .output = al_store_dup(q, 10),
        .execution = al_store_dup(q, 11),
        .is_error = al_col_int(q, 12) != 0,
        .started_ms = al_col_int(q, 13),
        .ended_ms = al_col_int(q, 14),
    };
    snprintf(ret->id, sizeof ret->id, "%.*s", AL_FMT(al_col_text(q, 0)));
    snprintf(ret->session, sizeof ret->session, "%.*s", AL_FMT(al_col_text(q, 1)));
}

/* Arguments are shown to people from here; the message's body, which goes back to the model, has them as they
 * came. */
static void show_arguments(const char *arguments, struct al_buf *out)
{
    autofree char *clean = al_store_clean(al_str_of(arguments ? arguments : "{}"));
    al_redact_json(al_str_of(clean), out);
}

static int insert_call(struct al_store *s, const char *session, int64_t message, int64_t ord,
                       const struct al_model_call *c, struct al_err *err)
{
    struct al_stmt *q;
    autobuf struct al_buf shown = AL_BUF_INIT(AL_MESSAGE_MAX);
    autofree char *name = al_store_clean(al_str_of(c->name ? c->name : ""));
    show_arguments(c->arguments, &shown);
    if (al_buf_failed(&shown))
        return al_fail(err, AL_RESULT_TOO_LARGE, "the arguments of %.60s are too long for the journal", name);
    if (al_db_prepare(s->db,
                      "INSERT INTO model_calls(id, session, message, ord, name, arguments, status) "
                      "VALUES(?1,?2,?3,?4,?5,?6,'absent')",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, c->id);
    al_bind_textz(q, 2, session);
    al_bind_int(q, 3, message);
    al_bind_int(q, 4, ord);
    al_bind_textz(q, 5, name);
    al_bind_text(q, 6, al_buf_str(&shown));
    return al_store_write(s, q, err);
}

static int assistant_in_tx(struct al_store *s, const char *session, const char *turn, struct al_str body,
                           const struct al_model_call *calls, size_t n, int64_t *ret_seq, struct al_err *err)
{
    if (al_message_insert(s, session, turn, body, ret_seq, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (insert_call(s, session, *ret_seq, (int64_t)i, &calls[i], err) < 0)
            return -1;
    }
    return 0;
}

int al_turn_assistant(struct al_store *s, const char *session, const char *turn, struct al_str body,
                      const struct al_model_call *calls, size_t n, int64_t *ret_seq, struct al_err *err)
{
    int64_t seq;
    if (al_message_check(body, err) < 0 || al_db_begin(s->db, false, err) < 0)
        return -1;
    int r = al_store_finish(s, assistant_in_tx(s, session, turn, body, calls, n, &seq, err), err);
    if (r == 0 && ret_seq)
        *ret_seq = seq;
    return r;
}

static int begin_call(struct al_store *s, const char *id, const char *effect, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "UPDATE model_calls SET status='running', effect=?2, started_ms=?3 WHERE id=?1 AND "
                      "status='absent'",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    al_bind_textz(q, 2, effect);
    al_bind_int(q, 3, al_wall_ms());
    if (al_store_write(s, q, err) < 0)
        return -1;
    /* Whoever runs a call twice would do its effect twice. */
    return al_db_changes(s->db) == 1 ? 0 : al_fail(err, AL_INTERNAL, "call %.60s has begun already", id);
}

int al_turn_call_begin(struct al_store *s, const char *id, const char *effect, bool sync, struct al_err *err)
{
    if (al_db_begin(s->db, sync, err) < 0)
        return -1;
    return al_store_finish(s, begin_call(s, id, effect, err), err);
}

int al_turn_call_execution(struct al_store *s, const char *id, const char *execution, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "UPDATE model_calls SET execution=?2 WHERE id=?1 AND status='running'", &q,
                      err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    al_bind_textz(q, 2, execution);
    return al_store_write(s, q, err);
}

int al_turn_call_output(struct al_store *s, const char *id, struct al_str output, struct al_err *err)
{
    if (output.n > AL_CALL_OUTPUT_MAX) {
        output.p += output.n - AL_CALL_OUTPUT_MAX;
        output.n = AL_CALL_OUTPUT_MAX;
        /* Not in the middle of a character. */
        for (int i = 0; i < 3 && output.n && ((unsigned char)*output.p & 0xc0) == 0x80; i++) {
            output.p++;
            output.n--;
        }
    }
    struct al_stmt *q;
    if (al_db_prepare(s->db, "UPDATE model_calls SET output=?2 WHERE id=?1 AND status='running'", &q, err) <
        0)
        return -1;
    autofree char *clean = al_store_clean(output);
    al_bind_textz(q, 1, id);
    al_bind_textz(q, 2, clean);
    return al_store_write(s, q, err);
}

static bool is_end(const char *status)
{
    static const char *const ends[] = {"completed", "failed", "cancelled", "interrupted"};
    for (size_t i = 0; status && i < sizeof ends / sizeof ends[0]; i++) {
        if (strcmp(status, ends[i]) == 0)
            return true;
    }
    return false;
}

/* session NULL: any, of which one at most is open. */
static int end_call(struct al_store *s, const char *session, const struct al_model_call *c,
                    struct al_err *err)
{
    struct al_stmt *q;
    if (!is_end(c->status))
        return al_fail(err, AL_INTERNAL, "a call cannot end as %s", c->status ? c->status : "nothing");
    if (al_db_prepare(
            s->db,
            "UPDATE model_calls SET status=?2, result=?3, whole=?4, is_error=?5, execution=coalesce(?6, "
            "execution), "
            "ended_ms=?7 WHERE id=?1 AND (?8 IS NULL OR session=?8) AND status IN ('absent','running')",
            &q, err) < 0)
        return -1;
    autofree char *result = al_store_clean(al_str_of(c->result ? c->result : ""));
    autofree char *whole = al_store_clean(al_str_of(c->whole));
    al_bind_textz(q, 1, c->id);
    al_bind_textz(q, 2, c->status);
    al_bind_textz(q, 3, result);
    al_bind_textz(q, 4, whole);
    al_bind_int(q, 5, c->is_error);
    al_bind_textz(q, 6, c->execution);
    al_bind_int(q, 7, c->ended_ms ? c->ended_ms : al_wall_ms());
    al_bind_textz(q, 8, session);
    return al_store_write(s, q, err);
}

int al_turn_call_end(struct al_store *s, const struct al_model_call *c, struct al_err *err)
{
    return end_call(s, NULL, c, err);
}

int al_turn_call_reduce(struct al_store *s, const char *session, const char *id, struct al_str result,
                        struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "UPDATE model_calls SET whole=coalesce(whole, result), result=?3 WHERE id=?1 AND session=?2 AND "
            "status NOT IN ('absent','running')",
            &q, err) < 0)
        return -1;
    autofree char *clean = al_store_clean(result);
    al_bind_textz(q, 1, id);
    al_bind_textz(q, 2, session);
    al_bind_textz(q, 3, clean);
    return al_store_write(s, q, err);
}

int al_model_call_each(struct al_store *s, const char *session,
                       bool (*fn)(void *ud, const struct al_model_call *c), void *ud, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, AL_MODEL_CALL_COLS "WHERE session=?1 ORDER BY message, ord", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    int r;
    while ((r = al_step(q, err)) == 1) {
        struct al_model_call c;
        al_model_call_take(q, &c);
        bool more = fn(ud, &c);
        al_model_call_fini(&c);
        if (!more) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}

/* --- what is open when somebody goes on --- */

struct open_call {
    struct al_model_call *v;
    size_t n;
};

/* A copy's calls have their end at once, but no time of it until that was told. */
static int find_open(struct al_store *s, const char *session, struct open_call *list, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, AL_MODEL_CALL_COLS "WHERE session=?1 AND ended_ms=0 ORDER BY message, ord", &q,
                      err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    int r;
    while ((r = al_step(q, err)) == 1) {
        list->v = al_xrealloc(list->v, (list->n + 1) * sizeof *list->v);
        al_model_call_take(q, &list->v[list->n++]);
    }
    return r;
}

int al_model_call_told(struct al_store *s, const char *session, const char *id, int64_t at_ms,
                       struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "UPDATE model_calls SET ended_ms=?3 WHERE id=?1 AND session=?2", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    al_bind_textz(q, 2, session);
    al_bind_int(q, 3, at_ms);
    return al_store_write(s, q, err);
}

static int end_open(struct al_store *s, const char *session, struct open_call *list, struct al_err *err)
{
    for (size_t i = 0; i < list->n; i++) {
        struct al_model_call *c = &list->v[i];
        if (is_end(c->status)) {
            c->ended_ms = al_wall_ms();
            if (al_model_call_told(s, session, c->id, c->ended_ms, err) < 0)
                return -1;
        } else if (al_model_call_interrupt(s, c, err) < 0 || end_call(s, session, c, err) < 0) {
            return -1;
        }
    }
    return 0;
}

int al_turn_settle_in_tx(struct al_store *s, const char *session, struct al_model_call **ret, size_t *ret_n,
                         struct al_err *err)
{
    struct open_call list = {0};
    int r = find_open(s, session, &list, err);
    if (r == 0)
        r = end_open(s, session, &list, err);
    *ret = list.v;
    *ret_n = list.n;
    return r;
}

/* Turns of this session that a dead host left: its next recovery would find them, too. */
static int close_turns(struct al_store *s, const char *session, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "SELECT DISTINCT host_id FROM turns WHERE session=?1 AND status='running'", &q,
                      err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    char dead[16][AL_ID_MAX];
    size_t n = 0;
    int r;
    while ((r = al_step(q, err)) == 1 && n < sizeof dead / sizeof dead[0]) {
        snprintf(dead[n], sizeof dead[n], "%.*s", AL_FMT(al_col_text(q, 0)));
        n += !al_store_host_alive(s, dead[n]);
    }
    if (r == 1)
        al_stmt_reset(q);
    for (size_t i = 0; r >= 0 && i < n; i++)
        r = al_turn_close_host(s, dead[i], al_wall_ms(), err);
    return r < 0 ? -1 : 0;
}

int al_turn_settle(struct al_store *s, const char *session,
                   void (*fn)(void *ud, const struct al_model_call *c), void *ud, struct al_err *err)
{
    struct al_model_call *calls = NULL;
    size_t n = 0;
    if (al_db_begin(s->db, false, err) < 0)
        return -1;
    int r = close_turns(s, session, err);
    if (r == 0)
        r = al_turn_settle_in_tx(s, session, &calls, &n, err);
    r = al_store_finish(s, r, err);
    for (size_t i = 0; i < n; i++) {
        if (r == 0 && fn)
            fn(ud, &calls[i]);
        al_model_call_fini(&calls[i]);
    }
    free(calls);
    return r;
}
