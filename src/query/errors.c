/* SQLite's result codes as errors for people: what was wrong, where, and which names are near. */
#include "query/query_int.h"

#include "base/text.h"
#include "db/fdvfs.h"

#include <stdio.h>

#define MAX_NAMES 4000 /* of columns and tables that are compared with a wrong one */

struct near {
    struct al_str wanted;
    char best[3][AL_QUERY_NAME];
    unsigned distance[3];
    size_t n, seen;
};

static void consider(struct near *near, const char *name)
{
    unsigned limit = near->wanted.n <= 3 ? 1 : near->wanted.n <= 6 ? 2 : 3;
    if (near->seen++ > MAX_NAMES || !name || strlen(name) >= AL_QUERY_NAME)
        return;
    char a[AL_QUERY_NAME], b[AL_QUERY_NAME];
    snprintf(a, sizeof a, "%.*s", AL_FMT(near->wanted));
    snprintf(b, sizeof b, "%s", name);
    for (char *z = a; *z; z++)
        *z = *z >= 'A' && *z <= 'Z' ? (char)(*z + 32) : *z;
    for (char *z = b; *z; z++)
        *z = *z >= 'A' && *z <= 'Z' ? (char)(*z + 32) : *z;
    unsigned d = al_str_distance(al_str_of(a), al_str_of(b));
    /* "price" is near to "unit_price". */
    if (d > limit && near->wanted.n >= 4 && (strstr(b, a) || (strlen(b) >= 4 && strstr(a, b))))
        d = limit;
    if (d > limit)
        return;
    for (size_t i = 0; i < near->n; i++)
        if (strcmp(near->best[i], name) == 0)
            return;
    size_t at = near->n;
    while (at > 0 && near->distance[at - 1] > d)
        at--;
    if (at >= 3)
        return;
    if (near->n < 3)
        near->n++;
    for (size_t i = near->n - 1; i > at; i--) {
        memcpy(near->best[i], near->best[i - 1], sizeof near->best[i]);
        near->distance[i] = near->distance[i - 1];
    }
    snprintf(near->best[at], sizeof near->best[at], "%s", name);
    near->distance[at] = d;
}

static void columns_of(struct al_query_state *s, const char *schema, const char *table, struct near *near)
{
    sqlite3_stmt *stmt = NULL;
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\".\"%w\"", schema, table);
    if (sql && sqlite3_prepare_v3(s->db, sql, -1, 0, &stmt, NULL) == SQLITE_OK)
        for (int i = 0; i < sqlite3_column_count(stmt); i++)
            consider(near, sqlite3_column_name(stmt, i));
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
}

static bool is_named(const struct al_query_state *s, const char *name)
{
    for (size_t i = 0; i < s->tokens.n; i++)
        if (al_token_names(&s->tokens, i, name))
            return true;
    return false;
}

/* Names of tables, or of the columns of the tables that the statement names. */
static void look(struct al_query_state *s, bool tables, struct near *near)
{
    s->guard.denied = false;
    for (size_t i = 0; i < s->n_schemas; i++) {
        sqlite3_stmt *stmt = NULL;
        char *sql = sqlite3_mprintf(
            "SELECT name FROM \"%w\".sqlite_schema WHERE type IN ('table', 'view') LIMIT 1000",
            s->schemas[i]);
        if (sql && sqlite3_prepare_v3(s->db, sql, -1, 0, &stmt, NULL) == SQLITE_OK) {
            while (sqlite3_step(stmt) == SQLITE_ROW) {
                const char *name = (const char *)sqlite3_column_text(stmt, 0);
                if (tables)
                    consider(near, name);
                else if (name && is_named(s, name))
                    columns_of(s, s->schemas[i], name, near);
            }
        }
        sqlite3_finalize(stmt);
        sqlite3_free(sql);
    }
}

/* The name behind a phrase of a message, up to what SQLite adds; a qualifier is left out. */
static bool name_after(const char *message, const char *phrase, char name[AL_QUERY_NAME])
{
    const char *z = strstr(message, phrase);
    if (!z)
        return false;
    z += strlen(phrase);
    bool quoted = *z == '"';
    z += quoted ? 1 : 0;
    size_t n = strcspn(z, quoted ? "\"" : " \n");
    struct al_str all = {z, n};
    for (size_t i = n; i-- > 0;)
        if (all.p[i] == '.') {
            all = (struct al_str){all.p + i + 1, n - i - 1};
            break;
        }
    snprintf(name, AL_QUERY_NAME, "%.*s", AL_FMT(all));
    return *name;
}

/* What other databases call it. */
static const char *function_here(const char *name)
{
    static const struct {
        const char *other, *here;
    } all[] = {
        {"now", "datetime('now')"},
        {"getdate", "datetime('now')"},
        {"curdate", "date('now')"},
        {"year", "strftime('%Y', …)"},
        {"month", "strftime('%m', …)"},
        {"day", "strftime('%d', …)"},
        {"extract", "strftime('%Y', …)"},
        {"date_part", "strftime('%Y', …)"},
        {"datepart", "strftime('%Y', …)"},
        {"to_char", "strftime or printf"},
        {"date_format", "strftime"},
        {"datediff", "julianday(b) - julianday(a)"},
        {"nvl", "coalesce"},
        {"isnull", "ifnull"},
        {"len", "length"},
        {"char_length", "length"},
        {"left", "substr(…, 1, n)"},
        {"right", "substr(…, -n)"},
        {"charindex", "instr"},
        {"position", "instr"},
        {"strpos", "instr"},
        {"mean", "avg"},
        {"stdev", "stddev"},
        {"std", "stddev"},
        {"var", "variance"},
        {"quantile", "percentile(…, 0 to 100)"},
        {"approx_quantile", "percentile(…, 0 to 100)"},
        {"countif", "count(*) FILTER (WHERE …)"},
        {"count_if", "count(*) FILTER (WHERE …)"},
        {"listagg", "group_concat"},
        {"array_agg", "json_group_array"},
        {"regexp_like", "regexp(pattern, text)"},
        {"regexp_matches", "regexp(pattern, text)"},
        {"try_cast", "to_number"},
        {"safe_cast", "to_number"},
        {"rand", "random"},
        {"ucase", "upper"},
        {"lcase", "lower"},
        {"to_timestamp", "datetime(…, 'unixepoch')"},
        {"split_part", "json_each or substr with instr"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (sqlite3_stricmp(all[i].other, name) == 0)
            return all[i].here;
    return al_guard_function_near(name);
}

static const struct al_token *token_at(const struct al_query_state *s, size_t offset)
{
    for (size_t i = 0; i < s->tokens.n; i++)
        if (s->tokens.list[i].at <= offset && offset < s->tokens.list[i].end)
            return &s->tokens.list[i];
    return NULL;
}

/* Where: " (line 2, character 14, near "…")", and the details. */
static void place(const struct al_query_state *s, int offset, const char *column, const struct near *near,
                  struct al_buf *where, struct al_buf *details)
{
    struct al_jw w;
    const struct al_token *t = NULL;
    autobuf struct al_buf own = AL_BUF_INIT(64);
    al_jw_init(&w, details ? details : &own);
    al_jw_obj(&w);
    if (offset >= 0 && (size_t)offset <= s->sql.n) {
        struct al_str before = {s->sql.p, (size_t)offset};
        size_t position = al_utf8_count(before) + 1, line = 1, from = 0;
        for (size_t i = 0; i < before.n; i++)
            if (before.p[i] == '\n') {
                line++;
                from = i + 1;
            }
        al_jw_kint(&w, "position", (int64_t)position);
        if (line > 1)
            al_buf_addf(where, " at line %zu, character %zu", line,
                        al_utf8_count((struct al_str){before.p + from, before.n - from}) + 1);
        else
            al_buf_addf(where, " at character %zu", position);
        t = token_at(s, (size_t)offset);
    }
    if (t)
        al_jw_kstr(&w, "near", al_utf8_cut(t->text, 80));
    if (column)
        al_jw_kstrz(&w, "column", column);
    if (near && near->n > 0) {
        al_jw_key(&w, "close");
        al_jw_arr(&w);
        for (size_t i = 0; i < near->n; i++)
            al_jw_strz(&w, near->best[i]);
        al_jw_end(&w);
    }
    al_jw_end(&w);
}

static void add_near(const struct near *near, struct al_buf *out)
{
    for (size_t i = 0; i < near->n; i++)
        al_buf_addf(out, "%s%s", i == 0 ? " — " : i + 1 == near->n ? " or " : ", ", near->best[i]);
    if (near->n > 0)
        al_buf_addc(out, '?');
}

/* The tables that there are: a workbook's names cannot be guessed. */
static int unknown_table(struct al_query_state *s, struct al_err *err)
{
    autobuf struct al_buf all = AL_BUF_INIT(400);
    size_t n = 0;
    for (size_t i = 0; i < s->n_schemas; i++) {
        sqlite3_stmt *stmt = NULL;
        char *sql = sqlite3_mprintf("SELECT name FROM \"%w\".sqlite_schema WHERE type='table' AND name NOT "
                                    "LIKE '\\_alisio\\_%%' ESCAPE '\\' ORDER BY rowid LIMIT 6",
                                    s->schemas[i]);
        if (sql && sqlite3_prepare_v3(s->db, sql, -1, 0, &stmt, NULL) == SQLITE_OK) {
            while (n < 6 && sqlite3_step(stmt) == SQLITE_ROW) {
                al_buf_adds(&all, n ? ", " : "");
                if (++n == 6) {
                    al_buf_adds(&all, "…");
                    break;
                }
                if (s->n_schemas > 1)
                    al_buf_addf(&all, "%s.", s->schemas[i]);
                const char *name = (const char *)sqlite3_column_text(stmt, 0);
                al_text_visible(&all, al_utf8_cut(al_str_of(name ? name : ""), 64), false);
            }
        }
        sqlite3_finalize(stmt);
        sqlite3_free(sql);
    }
    if (n == 0 || al_buf_failed(&all))
        return -1;
    return al_hint(err, n == 1 ? "the table is %.*s" : "the tables are %.*s", AL_FMT(al_buf_str(&all)));
}

static int unknown_function(const char *name, struct al_err *err)
{
    static const char *const outside[] = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit",
                                          "eval",           "writeblob",      "fsdir",    "sqlite_log"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        if (sqlite3_stricmp(outside[i], name) == 0) {
            al_fail(err, AL_QUERY_REJECTED,
                    "the function %s() is not available here: it does more than compute", name);
            return al_hint(err, "data_query only reads the datasets of the call");
        }
    const char *here = function_here(name);
    al_fail(err, AL_QUERY_ERROR, "no such function: %s%s%s%s", name, here ? " — " : "", here ? here : "",
            here ? "?" : "");
    return al_hint(err,
                   "SQLite's functions, and regexp median percentile stddev date_trunc to_number to_date");
}

static int statement_error(struct al_query_state *s, struct al_buf *details, struct al_err *err)
{
    char message[512], name[AL_QUERY_NAME];
    autobuf struct al_buf where = AL_BUF_INIT(400), clean = AL_BUF_INIT(2048);
    int offset = sqlite3_error_offset(s->db);
    al_text_visible(&clean, al_str_of(sqlite3_errmsg(s->db)), false);
    snprintf(message, sizeof message, "%.*s", AL_FMT(al_utf8_cut(al_buf_str(&clean), sizeof message - 1)));
    struct near near = {0};
    bool column = name_after(message, "no such column: ", name);
    if (column || name_after(message, "no such table: ", name)) {
        near.wanted = al_str_of(name);
        look(s, !column, &near);
        add_near(&near, &where);
    }
    if (name_after(message, "no such function: ", name)) {
        autobuf struct al_buf at = AL_BUF_INIT(100);
        place(s, offset, NULL, NULL, &at, details);
        return unknown_function(name, err);
    }
    place(s, offset, column ? name : NULL, &near, &where, details);
    al_fail(err, AL_QUERY_ERROR, "%s%.*s", message, AL_FMT(al_buf_str(&where)));
    if (column)
        return al_hint(err, "data_inspect lists the columns; text is written in single quotes");
    if (strstr(message, "no such table"))
        return unknown_table(s, err);
    if (strstr(message, "is not numeric"))
        return al_hint(err,
                       "convert it: to_number(column); or leave text out: WHERE typeof(column) <> 'text'");
    return strstr(message, "syntax error") ? al_hint(err, "the statement is SQLite's SQL") : -1;
}

static int limit_error(const struct al_query_state *s, int rc, struct al_err *err)
{
    if (rc == SQLITE_NOMEM) {
        al_fail(err, AL_QUERY_LIMIT, "the query needs more than its memory of %d MiB",
                (int)(AL_QUERY_HEAP >> 20));
        return al_hint(err, "aggregate or filter before what collects (group_concat, json_group_array, "
                            "windows, long texts)");
    }
    if (rc == SQLITE_TOOBIG && strstr(sqlite3_errmsg(s->db), "string or blob")) {
        al_fail(err, AL_QUERY_LIMIT, "the query makes a text or blob of more than 16 MiB");
        return al_hint(err, "collect less into one value: filter first, or return rows");
    }
    if (rc == SQLITE_TOOBIG)
        return al_fail(err, AL_QUERY_LIMIT, "the statement is too long or too deep: %s",
                       sqlite3_errmsg(s->db));
    al_fail(err, AL_QUERY_LIMIT,
            "the query needs more than %d GiB of temporary space for sorting and grouping",
            (int)(AL_QUERY_SPILL >> 30));
    return al_hint(err, "filter earlier, select fewer columns, or aggregate before ORDER BY");
}

static int timeout_error(const struct al_query_state *s, struct al_err *err)
{
    al_fail(err, AL_QUERY_TIMEOUT, "the query did not end within %u ms", s->timeout_ms);
    return al_hint(err, "filter earlier, aggregate, or join on equality; or give more time: timeoutMs in the "
                        "call (to 60000), "
                        "analysis.data.queryTimeoutMs in the configuration");
}

int al_errors_sqlite(struct al_query_state *s, int rc, struct al_buf *details, struct al_err *err)
{
    switch (rc & 0xff) {
    case SQLITE_INTERRUPT:
        return timeout_error(s, err);
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
    case SQLITE_FULL:
        return limit_error(s, rc & 0xff, err);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        al_fail(err, AL_QUERY_ERROR, "the dataset's file is damaged: %s", sqlite3_errmsg(s->db));
        return al_hint(err, "make it anew with data_inspect of the source");
    default:
        break;
    }
    if (strstr(sqlite3_errmsg(s->db), "too many") ||
        strstr(sqlite3_errmsg(s->db), "Expression tree is too large") ||
        strstr(sqlite3_errmsg(s->db), "too complex")) {
        bool pattern = strstr(sqlite3_errmsg(s->db), "pattern");
        al_fail(err, AL_QUERY_LIMIT, "%s", sqlite3_errmsg(s->db));
        return pattern
                   ? al_hint(err, "a pattern has at most 1000 bytes")
                   : al_hint(err,
                             "give long lists as a parameter: WHERE id IN (SELECT value FROM json_each(?1))");
    }
    return statement_error(s, details, err);
}
