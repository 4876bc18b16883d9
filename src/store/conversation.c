/* Conversations: who has one, its turns and its messages. */
#include "store/conversation_int.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <unistd.h>

char *al_store_clean(struct al_str v)
{
    if (!v.p)
        return NULL;
    if (al_utf8_valid(v) && !memchr(v.p, 0, v.n))
        return al_xdup(v.p, v.n);
    struct al_buf out = AL_BUF_INIT(4 * v.n + 16);
    while (v.n) {
        const char *nul = memchr(v.p, 0, v.n);
        struct al_str part = {v.p, nul ? (size_t)(nul - v.p) : v.n};
        al_utf8_clean(&out, part);
        if (nul)
            al_buf_adds(&out, "\xef\xbf\xbd");
        v.p += part.n + (nul != NULL);
        v.n -= part.n + (nul != NULL);
    }
    return al_buf_take(&out);
}

/* --- one writer --- */

struct holder {
    char host[AL_ID_MAX];
    char *terminal;
    int64_t pid, since_ms;
};

static int find_holder(struct al_store *s, const char *session, struct holder *ret, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "SELECT host_id, terminal, pid, since_ms FROM session_locks WHERE session=?1",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    int r = al_step(q, err);
    if (r == 1) {
        snprintf(ret->host, sizeof ret->host, "%.*s", AL_FMT(al_col_text(q, 0)));
        ret->terminal = al_store_dup(q, 1);
        ret->pid = al_col_int(q, 2);
        ret->since_ms = al_col_int(q, 3);
        al_stmt_reset(q);
    }
    return r;
}

static int held(const struct holder *h, const char *session, struct al_err *err)
{
    char since[AL_TIME_MAX];
    autobuf struct al_buf where = AL_BUF_INIT(512);
    al_time_local(since, h->since_ms);
    if (h->terminal && *h->terminal) {
        al_buf_adds(&where, " on ");
        al_text_visible(&where, al_utf8_cut(al_str_of(h->terminal), 80), false);
    }
    al_fail(err, AL_STATE_CONFLICT, "session %.60s is in use by process %lld%.*s since %s", session,
            (long long)h->pid, AL_FMT(al_buf_str(&where)), since);
    return al_hint(err, "end that one, or go on with a copy: `alisio resume %.60s --fork`", session);
}

static int lock_in_tx(struct al_store *s, const char *session, const char *terminal, struct al_err *err)
{
    struct holder h = {.terminal = NULL};
    int r = find_holder(s, session, &h, err);
    if (r == 1 && al_store_host_alive(s, h.host))
        r = held(&h, session, err);
    free(h.terminal);
    if (r < 0)
        return -1;
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "INSERT INTO session_locks(session, host_id, pid, terminal, since_ms) SELECT id, ?2, ?3, ?4, ?5 "
            "FROM sessions WHERE id=?1 ON CONFLICT(session) DO UPDATE SET host_id=excluded.host_id, "
            "pid=excluded.pid, terminal=excluded.terminal, since_ms=excluded.since_ms",
            &q, err) < 0)
        return -1;
    autofree char *shown = al_store_clean(al_str_of(terminal));
    al_bind_textz(q, 1, session);
    al_bind_textz(q, 2, s->host_id);
    al_bind_int(q, 3, getpid());
    al_bind_textz(q, 4, shown);
    al_bind_int(q, 5, al_wall_ms());
    if (al_store_write(s, q, err) < 0)
        return -1;
    if (al_db_changes(s->db))
        return 0;
    al_fail(err, AL_NOT_FOUND, "there is no session %.60s", session);
    return al_hint(err, "`alisio sessions list` shows them");
}

int al_turn_lock(struct al_store *s, const char *session, const char *terminal, struct al_err *err)
{
    struct holder h = {.terminal = NULL};
    int r = find_holder(s, session, &h, err);
    free(h.terminal);
    /* Of a dead host all is closed, not this session alone. */
    if (r == 1 && !al_store_host_alive(s, h.host))
        r = al_store_recover(s, err);
    if (r < 0 || al_db_begin(s->db, false, err) < 0)
        return -1;
    return al_store_finish(s, lock_in_tx(s, session, terminal, err), err);
}

void al_turn_unlock(struct al_store *s, const char *session)
{
    struct al_stmt *q;
    struct al_err ignored;
    if (al_db_prepare(s->db, "DELETE FROM session_locks WHERE session=?1 AND host_id=?2", &q, &ignored) < 0)
        return;
    al_bind_textz(q, 1, session);
    al_bind_textz(q, 2, s->host_id);
    /* A lock that could not be given back ends with its host. */
    (void)!al_store_write(s, q, &ignored);
}

int al_turn_check_idle(struct al_store *s, const char *session, const char *workspace, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "SELECT l.session, l.host_id, l.pid FROM session_locks l JOIN sessions x ON x.id=l.session "
            "WHERE (?1 IS NULL OR l.session=?1) AND (?2 IS NULL OR x.workspace=?2)",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    al_bind_textz(q, 2, workspace);
    int r;
    while ((r = al_step(q, err)) == 1) {
        char host[AL_ID_MAX], id[AL_ID_MAX];
        snprintf(id, sizeof id, "%.*s", AL_FMT(al_col_text(q, 0)));
        snprintf(host, sizeof host, "%.*s", AL_FMT(al_col_text(q, 1)));
        int64_t pid = al_col_int(q, 2);
        if (!al_store_host_alive(s, host))
            continue;
        al_stmt_reset(q);
        al_fail(err, AL_BUSY, "session %.60s is in use by process %lld", id, (long long)pid);
        return al_hint(err, "end that process first");
    }
    return r;
}

/* --- turns --- */

void al_turn_fini(struct al_turn *t)
{
    char **owned[] = {&t->provider, &t->base_url,   &t->model,     &t->api,
                      &t->status,   &t->error_code, &t->error_msg, &t->usage};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        free(*owned[i]);
    *t = (struct al_turn){0};
}

static int touch(struct al_store *s, const char *session, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "UPDATE sessions SET updated_ms=?2 WHERE id=?1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    al_bind_int(q, 2, al_wall_ms());
    if (al_store_write(s, q, err) < 0)
        return -1;
    if (al_db_changes(s->db))
        return 0;
    al_fail(err, AL_NOT_FOUND, "there is no session %.60s", session);
    return al_hint(err, "`alisio sessions list` shows them");
}

static int insert_turn(struct al_store *s, const struct al_turn *t, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "INSERT INTO turns(id, session, host_id, provider, base_url, model, api, status, created_ms, "
            "ended_ms) VALUES(?1,?2,?3,?4,?5,?6,?7,'running',?8,0)",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, t->id);
    al_bind_textz(q, 2, t->session);
    al_bind_textz(q, 3, s->host_id);
    al_bind_textz(q, 4, t->provider);
    al_bind_textz(q, 5, t->base_url);
    al_bind_textz(q, 6, t->model);
    al_bind_textz(q, 7, t->api);
    al_bind_int(q, 8, t->created_ms ? t->created_ms : al_wall_ms());
    return al_store_write(s, q, err);
}

int al_turn_begin(struct al_store *s, const struct al_turn *t, struct al_str prompt, int64_t *ret_seq,
                  struct al_err *err)
{
    int64_t seq = 0;
    if ((prompt.n && al_message_check(prompt, err) < 0) || al_db_begin(s->db, false, err) < 0)
        return -1;
    int r = touch(s, t->session, err);
    if (r == 0)
        r = insert_turn(s, t, err);
    if (r == 0 && prompt.n)
        r = al_message_insert(s, t->session, t->id, prompt, &seq, err);
    r = al_store_finish(s, r, err);
    if (r == 0 && ret_seq)
        *ret_seq = seq;
    return r;
}

static bool is_end(const char *status)
{
    static const char *const ends[] = {"completed", "turns_exceeded", "failed", "cancelled", "interrupted"};
    for (size_t i = 0; status && i < sizeof ends / sizeof ends[0]; i++) {
        if (strcmp(status, ends[i]) == 0)
            return true;
    }
    return false;
}

int al_turn_end(struct al_store *s, const struct al_turn *t, struct al_err *err)
{
    struct al_stmt *q;
    if (!is_end(t->status))
        return al_fail(err, AL_INTERNAL, "a turn cannot end as %s", t->status ? t->status : "nothing");
    if (al_db_prepare(
            s->db,
            "UPDATE turns SET status=?2, error_code=?3, error_msg=?4, usage=?5, ended_ms=?6, n_requests=?7, "
            "n_calls=?8 WHERE id=?1 AND status='running'",
            &q, err) < 0)
        return -1;
    autofree char *msg = al_store_clean(al_str_of(t->error_msg));
    al_bind_textz(q, 1, t->id);
    al_bind_textz(q, 2, t->status);
    al_bind_textz(q, 3, t->error_code);
    al_bind_textz(q, 4, msg);
    al_bind_textz(q, 5, t->usage);
    al_bind_int(q, 6, t->ended_ms ? t->ended_ms : al_wall_ms());
    al_bind_int(q, 7, t->n_requests);
    al_bind_int(q, 8, t->n_calls);
    return al_store_write(s, q, err);
}

int al_turn_each(struct al_store *s, const char *session, bool (*fn)(void *ud, const struct al_turn *t),
                 void *ud, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "SELECT id, session, provider, base_url, model, api, status, error_code, error_msg, usage, "
            "created_ms, ended_ms, n_requests, n_calls FROM turns WHERE session=?1 ORDER BY seq",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    int r;
    while ((r = al_step(q, err)) == 1) {
        struct al_turn t = {
            .provider = al_store_dup(q, 2),
            .base_url = al_store_dup(q, 3),
            .model = al_store_dup(q, 4),
            .api = al_store_dup(q, 5),
            .status = al_store_dup(q, 6),
            .error_code = al_store_dup(q, 7),
            .error_msg = al_store_dup(q, 8),
            .usage = al_store_dup(q, 9),
            .created_ms = al_col_int(q, 10),
            .ended_ms = al_col_int(q, 11),
            .n_requests = al_col_int(q, 12),
            .n_calls = al_col_int(q, 13),
        };
        snprintf(t.id, sizeof t.id, "%.*s", AL_FMT(al_col_text(q, 0)));
        snprintf(t.session, sizeof t.session, "%.*s", AL_FMT(al_col_text(q, 1)));
        /* Whoever reads them relies on these; another program may have left them out. */
        char **needed[] = {&t.provider, &t.base_url, &t.model, &t.api, &t.status};
        for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
            if (!*needed[i])
                *needed[i] = al_xstrdup("");
        }
        bool more = fn(ud, &t);
        al_turn_fini(&t);
        if (!more) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}

/* --- what is left when a host dies, or when nobody goes on --- */

static int run_for(struct al_store *s, const char *sql, const char *what, int64_t number, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, sql, &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, what);
    al_bind_int(q, 2, number);
    return al_store_write(s, q, err);
}

int al_turn_close_host(struct al_store *s, const char *host_id, int64_t now_ms, struct al_err *err)
{
    static const char *const sqls[] = {
        "UPDATE model_requests SET status='interrupted', ended_ms=?2 WHERE status='running' AND turn IN "
        "(SELECT id FROM turns WHERE host_id=?1 AND status='running')",
        "UPDATE turns SET status='interrupted', error_code='INTERRUPTED', error_msg='the process that ran it "
        "ended', "
        "ended_ms=?2 WHERE host_id=?1 AND status='running'",
        "DELETE FROM session_locks WHERE host_id=?1 AND ?2",
    };
    for (size_t i = 0; i < sizeof sqls / sizeof sqls[0]; i++) {
        if (run_for(s, sqls[i], host_id, now_ms, err) < 0)
            return -1;
    }
    return 0;
}
