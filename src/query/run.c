#include "query/query_int.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

void al_query_note(struct al_query_state *s, const char *fmt, ...)
{
    if (s->n_notes == AL_QUERY_MAX_NOTES)
        return;
    char *note = s->notes[s->n_notes];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(note, sizeof s->notes[0], fmt, ap);
    va_end(ap);
    note[al_utf8_cut(al_str_of(note), sizeof s->notes[0] - 1).n] = 0;
    for (size_t i = 0; i < s->n_notes; i++)
        if (strcmp(s->notes[i], note) == 0)
            return;
    s->n_notes++;
}

void al_query_count_null(uint64_t *count, char first[64], struct al_str text)
{
    if ((*count)++ > 0)
        return;
    struct al_str head = al_utf8_cut(text, 40);
    snprintf(first, 64, "%.*s%s", AL_FMT(head), head.n < text.n ? "…" : "");
}

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int run_rows(struct al_query_state *s, const struct al_query *q, sqlite3_stmt *stmt,
                    struct al_query_out *out, struct al_buf *details, struct al_err *err)
{
    struct al_rows rows = {.s = s, .stmt = stmt, .q = q, .out = out};
    int rc = SQLITE_OK;
    al_lies_watch(s);
    int r = q->format == AL_QUERY_RESULT ? al_result_write(&rows, &rc, err) : al_rows_stream(&rows, &rc, err);
    al_lies_watch(NULL);
    /* A statement of few steps may end before it sees the interruption; the data are asked again, for the
     * message. */
    if (s->met) {
        (void)sqlite3_reset(stmt);
        return al_lies_fail(s, details, err);
    }
    if (r < 0 && rc != SQLITE_OK && s->guard.denied)
        return al_guard_reject(s, err);
    if (r < 0 && rc != SQLITE_OK)
        return al_errors_sqlite(s, rc, details, err);
    return r;
}

/* WITH name AS (…), WITH name(x) AS (…). */
static bool is_with(const struct al_tokens *t, const char *name)
{
    for (size_t i = 1; i < t->n; i++)
        if (al_token_names(t, i, name) &&
            (al_token_is(t, i - 1, "WITH") || al_token_is(t, i - 1, "RECURSIVE") ||
             al_token_is(t, i - 1, ",")) &&
            (al_token_is(t, i + 1, "AS") || al_token_is(t, i + 1, "(")))
            return true;
    return false;
}

static size_t schemas_with(const struct al_query_state *s, const char *table, struct al_buf *names)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_schemas; i++)
        if (sqlite3_table_column_metadata(s->db, s->schemas[i], table, NULL, NULL, NULL, NULL, NULL, NULL) ==
            SQLITE_OK)
            al_buf_addf(names, "%s%s.%s", n++ > 0 ? ", " : "", s->schemas[i], table);
    return n;
}

static int check_name(struct al_query_state *s, size_t i, struct al_err *err)
{
    const struct al_token *name = &s->tokens.list[i];
    char table[AL_QUERY_NAME];
    autobuf struct al_buf names = AL_BUF_INIT(2000);
    if ((name->kind != AL_TOKEN_WORD && name->kind != AL_TOKEN_NAME) || name->text.n >= sizeof table ||
        al_token_is(&s->tokens, i + 1, ".") || al_token_is(&s->tokens, i + 1, "("))
        return 0;
    snprintf(table, sizeof table, "%.*s", AL_FMT(name->text));
    if (schemas_with(s, table, &names) < 2 || is_with(&s->tokens, table))
        return 0;
    al_fail(err, AL_QUERY_ERROR, "%s is a table of several datasets of the call: write one of %.*s", table,
            AL_FMT(al_buf_str(&names)));
    return al_hint(err, "With several datasets each table is named with its dataset's alias.");
}

/* With several datasets SQLite takes the first that has the table, and says nothing. */
static int check_unqualified(struct al_query_state *s, struct al_err *err)
{
    static const char *const ends[] = {"WHERE",  "GROUP", "HAVING", "ORDER",     "LIMIT",
                                       "WINDOW", "UNION", "EXCEPT", "INTERSECT", ";"};
    const struct al_tokens *t = &s->tokens;
    for (size_t from = 1; s->n_schemas > 1 && from < t->n; from++) {
        bool end =
            !al_token_is(t, from, "FROM") || al_token_is(t, from - 1, "DISTINCT"); /* IS DISTINCT FROM x */
        unsigned depth = t->list[from].depth;
        for (size_t i = from + 1; !end && i < t->n && t->list[i].depth >= depth; i++) {
            if (t->list[i].depth > depth)
                continue;
            for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
                end |= al_token_is(t, i, ends[k]);
            bool named =
                al_token_is(t, i - 1, "FROM") || al_token_is(t, i - 1, "JOIN") || al_token_is(t, i - 1, ",");
            if (!end && named && check_name(s, i, err) < 0)
                return -1;
        }
    }
    return 0;
}

/* What a dataset's own names brought into the error. */
static void clean(struct al_err *err)
{
    autobuf struct al_buf valid = AL_BUF_INIT(8192), out = AL_BUF_INIT(16384);
    if (!err)
        return;
    al_utf8_clean(&valid, al_str_of(err->msg));
    al_text_visible(&out, al_buf_str(&valid), false);
    snprintf(err->msg, sizeof err->msg, "%.*s", AL_FMT(al_utf8_cut(al_buf_str(&out), sizeof err->msg - 1)));
    al_buf_clear(&valid);
    al_buf_clear(&out);
    al_utf8_clean(&valid, al_str_of(err->hint));
    al_text_visible(&out, al_buf_str(&valid), false);
    snprintf(err->hint, sizeof err->hint, "%.*s",
             AL_FMT(al_utf8_cut(al_buf_str(&out), sizeof err->hint - 1)));
}

static int run(struct al_query_state *s, const struct al_query *q, struct al_query_out *out,
               struct al_buf *details, struct al_err *err)
{
    sqlite3_stmt *stmt = NULL;
    if (al_guard_prepare(s, &stmt, details, err) < 0)
        return -1;
    int r = al_params_bind(stmt, q->params_json, err);
    if (r == 0)
        r = al_lies_order(s, stmt, details, err);
    if (r == 0)
        r = check_unqualified(s, err);
    if (r == 0)
        r = run_rows(s, q, stmt, out, details, err);
    sqlite3_finalize(stmt);
    return r;
}

int al_query_run(const struct al_query *q, struct al_query_out *out, struct al_buf *details,
                 struct al_err *err)
{
    sqlite3 *db = NULL;
    int64_t deadline = q->timeout_ms ? now_ns() + (int64_t)q->timeout_ms * 1000000 : 0;
    if (al_query_open(q, &db, err) < 0)
        return -1;
    struct al_query_state *s = al_query_state_of(db);
    s->sql = q->sql.p ? q->sql : AL_STR("");
    s->deadline_ns = deadline;
    s->timeout_ms = q->timeout_ms;
    if (s->sql.n <= AL_QUERY_MAX_SQL)
        al_tokens_read(&s->tokens, s->sql);
    int r = run(s, q, out, details, err);
    al_tokens_free(&s->tokens);
    sqlite3_close(db);
    if (r < 0)
        clean(err);
    return r;
}
