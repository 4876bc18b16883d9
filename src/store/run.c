#include "store/store_int.h"

#include "base/mem.h"

#include <stdio.h>

void al_run_fini(struct al_run *r)
{
    char **owned[] = {&r->host_id, &r->kind,   &r->title,      &r->source,    &r->code_sha256, &r->engine,
                      &r->limits,  &r->status, &r->error_code, &r->error_msg, &r->record};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        free(*owned[i]);
    *r = (struct al_run){0};
}

static int save_code(struct al_store *s, const char *sha256, struct al_str code, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "INSERT INTO scripts(sha256, code) VALUES(?1,?2) ON CONFLICT DO NOTHING", &q,
                      err) < 0)
        return -1;
    al_bind_textz(q, 1, sha256);
    al_bind_text(q, 2, code);
    return al_store_write(s, q, err);
}

static int insert_run(struct al_store *s, const struct al_run *r, const char *sha256, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "INSERT INTO runs(id, session, workspace, host_id, kind, title, source, code_sha256, engine, "
            "limits, status, created_ms, started_ms, ended_ms, pid) "
            "SELECT ?1, id, workspace, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 0, ?13 "
            "FROM sessions WHERE id=?2",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, r->id);
    al_bind_textz(q, 2, r->session);
    al_bind_textz(q, 3, r->host_id ? r->host_id : s->host_id);
    al_bind_textz(q, 4, r->kind ? r->kind : "js_run");
    al_bind_textz(q, 5, r->title);
    al_bind_textz(q, 6, r->source ? r->source : "cli");
    al_bind_textz(q, 7, sha256);
    al_bind_textz(q, 8, r->engine);
    al_bind_textz(q, 9, r->limits);
    al_bind_textz(q, 10, r->status);
    al_bind_int(q, 11, r->created_ms ? r->created_ms : al_wall_ms());
    al_bind_int(q, 12, r->started_ms);
    al_bind_int(q, 13, r->pid);
    if (al_store_write(s, q, err) < 0)
        return -1;
    if (al_db_changes(s->db) == 0)
        return al_fail(err, AL_NOT_FOUND, "there is no session %.60s", r->session);
    return 0;
}

static int begin_in_tx(struct al_store *s, const struct al_run *r, struct al_str code, struct al_err *err)
{
    char sha256[AL_SHA256_HEX];
    if (code.p)
        al_sha256(code, sha256);
    if (code.p && save_code(s, sha256, code, err) < 0)
        return -1;
    if (insert_run(s, r, code.p ? sha256 : NULL, err) < 0)
        return -1;
    struct al_stmt *q;
    if (al_db_prepare(s->db, "UPDATE sessions SET updated_ms=?2 WHERE id=?1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, r->session);
    al_bind_int(q, 2, al_wall_ms());
    return al_store_write(s, q, err);
}

static bool is_live(const char *status)
{
    return strcmp(status, "queued") == 0 || strcmp(status, "running") == 0;
}

int al_store_run_begin(struct al_store *s, const struct al_run *r, struct al_str code, struct al_err *err)
{
    if (!r->status)
        return al_fail(err, AL_INTERNAL, "a run begins without a status");
    if (al_db_begin(s->db, false, err) < 0)
        return -1;
    return al_store_finish(s, begin_in_tx(s, r, code, err), err);
}

static int no_run(const char *id, struct al_err *err)
{
    al_fail(err, AL_NOT_FOUND, "there is no run %.60s", id);
    return al_hint(err, "`alisio runs list` shows them");
}

int al_store_run_started(struct al_store *s, const char *id, int64_t pid, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "UPDATE runs SET status='running', started_ms=?2, pid=?3 WHERE id=?1 AND " AL_LIVE, &q,
                      err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    al_bind_int(q, 2, al_wall_ms());
    al_bind_int(q, 3, pid);
    if (al_store_write(s, q, err) < 0)
        return -1;
    return al_db_changes(s->db) ? 0 : al_fail(err, AL_NOT_FOUND, "run %.60s is not live", id);
}

static int exists(struct al_store *s, const char *id, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "SELECT 1 FROM runs WHERE id=?1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    int r = al_step(q, err);
    al_stmt_reset(q);
    return r == 0 ? no_run(id, err) : r < 0 ? -1 : 0;
}

/* A run does not end with calls open: whatever the owner has not told by now ended as the run did. */
static int close_open_calls(struct al_store *s, const struct al_run *r, int64_t ended_ms, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "UPDATE calls SET status=CASE ?2 WHEN 'timed_out' THEN 'timed_out' WHEN 'interrupted' THEN "
            "'interrupted' ELSE 'cancelled' END, ended_ms=?3 WHERE run=?1 AND status='running'",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, r->id);
    al_bind_textz(q, 2, r->status);
    al_bind_int(q, 3, ended_ms);
    return al_store_write(s, q, err);
}

static int end_in_tx(struct al_store *s, const struct al_run *r, struct al_err *err)
{
    int64_t ended_ms = r->ended_ms ? r->ended_ms : al_wall_ms();
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "UPDATE runs SET status=?2, error_code=?3, error_msg=?4, record=?5, ended_ms=?6, "
                      "started_ms=CASE ?7 WHEN 0 THEN started_ms ELSE ?7 END, n_calls=?8, text_bytes=?9, "
                      "tool_bytes=?10, cpu_ms=?11, heap_peak_bytes=?12, engine=coalesce(?13, engine) "
                      "WHERE id=?1 AND " AL_LIVE,
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, r->id);
    al_bind_textz(q, 2, r->status);
    al_bind_textz(q, 3, r->error_code);
    al_bind_textz(q, 4, r->error_msg);
    al_bind_textz(q, 5, r->record);
    al_bind_int(q, 6, ended_ms);
    al_bind_int(q, 7, r->started_ms);
    al_bind_int(q, 8, r->n_calls);
    al_bind_int(q, 9, r->text_bytes);
    al_bind_int(q, 10, r->tool_bytes);
    al_bind_int(q, 11, r->cpu_ms);
    al_bind_int(q, 12, r->heap_peak_bytes);
    al_bind_textz(q, 13, r->engine);
    if (al_store_write(s, q, err) < 0)
        return -1;
    /* The first end holds. */
    return al_db_changes(s->db) ? close_open_calls(s, r, ended_ms, err) : exists(s, r->id, err);
}

int al_store_run_end(struct al_store *s, const struct al_run *r, struct al_err *err)
{
    if (!r->status || is_live(r->status))
        return al_fail(err, AL_INTERNAL, "a run cannot end as %s", r->status ? r->status : "nothing");
    if (al_store_begin(s, err) < 0)
        return -1;
    return al_store_finish(s, end_in_tx(s, r, err), err);
}

#define RUN_COLS                                                                                          \
    "SELECT id, session, host_id, kind, title, source, code_sha256, engine, limits, status, error_code, " \
    "error_msg, "                                                                                         \
    "created_ms, started_ms, ended_ms, pid, n_calls, text_bytes, tool_bytes, cpu_ms, heap_peak_bytes"

static void read_run(struct al_stmt *q, bool with_record, struct al_run *r)
{
    *r = (struct al_run){
        .host_id = al_store_dup(q, 2),
        .kind = al_store_dup(q, 3),
        .title = al_store_dup(q, 4),
        .source = al_store_dup(q, 5),
        .code_sha256 = al_store_dup(q, 6),
        .engine = al_store_dup(q, 7),
        .limits = al_store_dup(q, 8),
        .status = al_store_dup(q, 9),
        .error_code = al_store_dup(q, 10),
        .error_msg = al_store_dup(q, 11),
        .created_ms = al_col_int(q, 12),
        .started_ms = al_col_int(q, 13),
        .ended_ms = al_col_int(q, 14),
        .pid = al_col_int(q, 15),
        .n_calls = al_col_int(q, 16),
        .text_bytes = al_col_int(q, 17),
        .tool_bytes = al_col_int(q, 18),
        .cpu_ms = al_col_int(q, 19),
        .heap_peak_bytes = al_col_int(q, 20),
        .record = with_record ? al_store_dup(q, 21) : NULL,
    };
    snprintf(r->id, sizeof r->id, "%.*s", AL_FMT(al_col_text(q, 0)));
    snprintf(r->session, sizeof r->session, "%.*s", AL_FMT(al_col_text(q, 1)));
}

int al_store_run_get(struct al_store *s, const char *id, struct al_run *ret, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, RUN_COLS ", record FROM runs WHERE id=?1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    int r = al_step(q, err);
    if (r <= 0)
        return r == 0 ? no_run(id, err) : -1;
    read_run(q, true, ret);
    al_stmt_reset(q);
    return 0;
}

/* Where that run is not there any more, its id tells the place. */
#define BEFORE                                                                                         \
    "seq <= coalesce((SELECT seq - 1 FROM runs WHERE id=?6),"                                          \
    " (SELECT seq FROM runs WHERE id<?6 ORDER BY id DESC LIMIT 1), CASE WHEN ?6 IS NULL THEN " MAX_SEQ \
    " END)"
#define MAX_SEQ "9223372036854775807"

/* One statement per scope, so that each walks its own index, newest first. */
#define LIST(where)                                                                                      \
    RUN_COLS " FROM runs WHERE " where " AND (?2 IS NULL OR status=?2) AND (?5 IS NULL OR workspace=?5)" \
             " AND (NOT ?3 OR status IN ('failed','timed_out','interrupted')) AND " BEFORE               \
             " ORDER BY seq DESC LIMIT ?4"

static const char *list_sql(const struct al_run_filter *f)
{
    if (f->session)
        return f->live_only ? LIST("session=?1 AND " AL_LIVE) : LIST("session=?1");
    if (f->workspace)
        return f->live_only ? LIST("workspace=?1 AND " AL_LIVE) : LIST("workspace=?1");
    return f->live_only ? LIST("?1 IS NULL AND " AL_LIVE) : LIST("?1 IS NULL");
}

int al_store_run_each(struct al_store *s, const struct al_run_filter *f,
                      bool (*fn)(void *ud, const struct al_run *), void *ud, struct al_err *err)
{
    static const struct al_run_filter any = {0};
    if (!f)
        f = &any;
    struct al_stmt *q;
    if (al_db_prepare(s->db, list_sql(f), &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, f->session ? f->session : f->workspace);
    al_bind_textz(q, 2, f->status);
    al_bind_int(q, 3, f->failed_only);
    al_bind_int(q, 4, f->limit > 0 ? f->limit : 50);
    al_bind_textz(q, 5, f->workspace);
    al_bind_textz(q, 6, f->before);
    int r;
    while ((r = al_step(q, err)) == 1) {
        struct al_run run;
        read_run(q, false, &run);
        bool more = fn(ud, &run);
        al_run_fini(&run);
        if (!more) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}

int al_store_run_code(struct al_store *s, const char *id, struct al_buf *out, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "SELECT scripts.code FROM runs LEFT JOIN scripts ON scripts.sha256=runs.code_sha256 "
                      "WHERE runs.id=?1",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    int r = al_step(q, err);
    if (r <= 0)
        return r == 0 ? no_run(id, err) : -1;
    bool none = al_col_is_null(q, 0);
    if (!none)
        al_buf_add_str(out, al_col_text(q, 0));
    al_stmt_reset(q);
    if (none)
        return al_fail(err, AL_NOT_FOUND, "run %.60s has no code", id);
    return al_buf_failed(out) ? al_fail(err, AL_RESULT_TOO_LARGE, "the code of run %.60s is too large", id)
                              : 0;
}
