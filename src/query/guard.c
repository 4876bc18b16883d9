/* What a statement may do. SQLite's own parser and its authorizer decide, never the words of the statement.
 */
#include "query/query_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* Sorted. All of them only compute; those that read files, write, configure or load are not here, nor what a
 * virtual table brings. */
static const char *const functions[] = {
    "->",
    "->>",
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "avg",
    "ceil",
    "ceiling",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "cos",
    "cosh",
    "count",
    "cume_dist",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "date_trunc",
    "datetime",
    "degrees",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "format",
    "glob",
    "group_concat",
    "hex",
    "if",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_array_insert",
    "json_array_length",
    "json_error_position",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_insert",
    "json_object",
    "json_patch",
    "json_pretty",
    "json_quote",
    "json_remove",
    "json_replace",
    "json_set",
    "json_type",
    "json_valid",
    "jsonb",
    "jsonb_array",
    "jsonb_array_insert",
    "jsonb_extract",
    "jsonb_group_array",
    "jsonb_group_object",
    "jsonb_insert",
    "jsonb_object",
    "jsonb_patch",
    "jsonb_remove",
    "jsonb_replace",
    "jsonb_set",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "likelihood",
    "likely",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "ltrim",
    "max",
    "median",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "octet_length",
    "percent_rank",
    "percentile",
    "percentile_cont",
    "percentile_disc",
    "pi",
    "pow",
    "power",
    "printf",
    "quote",
    "radians",
    "random",
    "randomblob",
    "rank",
    "regexp",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "sin",
    "sinh",
    "sqlite_version",
    "sqrt",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "strftime",
    "string_agg",
    "substr",
    "substring",
    "subtype",
    "sum",
    "tan",
    "tanh",
    "time",
    "timediff",
    "to_date",
    "to_number",
    "total",
    "trim",
    "trunc",
    "typeof",
    "unhex",
    "unicode",
    "unistr",
    "unistr_quote",
    "unixepoch",
    "unlikely",
    "upper",
    "var_pop",
    "var_samp",
    "variance",
    "zeroblob",
};
#define N_FUNCTIONS (sizeof functions / sizeof *functions)

static int compare_name(const void *key, const void *at)
{
    return sqlite3_stricmp(key, *(const char *const *)at);
}

bool al_guard_function_known(const char *name)
{
    return bsearch(name, functions, N_FUNCTIONS, sizeof *functions, compare_name);
}

const char *al_guard_function_near(const char *name)
{
    const char *best = NULL;
    unsigned least = strlen(name) <= 4 ? 2 : 3;
    for (size_t i = 0; i < N_FUNCTIONS; i++) {
        unsigned d = al_str_distance(al_str_of(name), al_str_of(functions[i]));
        if (d < least) {
            least = d;
            best = functions[i];
        }
    }
    return best;
}

static int deny(struct al_guard *g, int action, const char *what)
{
    if (!g->denied) {
        g->denied = true;
        g->action = action;
        snprintf(g->what, sizeof g->what, "%s", what ? what : "");
    }
    return SQLITE_DENY;
}

static void record(struct al_guard *g, const char *table, const char *column, const char *schema,
                   const char *via)
{
    if (!g->recording || g->n_reads == AL_QUERY_MAX_READS)
        return;
    if (g->n_reads % 32 == 0)
        g->reads = al_xrealloc(g->reads, (g->n_reads + 32) * sizeof *g->reads);
    struct al_read *r = &g->reads[g->n_reads];
    memset(r, 0, sizeof *r); /* compared as a whole */
    snprintf(r->schema, sizeof r->schema, "%s", schema ? schema : "main");
    snprintf(r->table, sizeof r->table, "%s", table ? table : "");
    snprintf(r->column, sizeof r->column, "%s", column ? column : "");
    snprintf(r->via, sizeof r->via, "%s", via ? via : "");
    for (size_t i = g->n_reads; i-- > 0;)
        if (memcmp(&g->reads[i], r, sizeof *r) == 0)
            return;
    g->n_reads++;
}

int al_guard_authorize(void *ud, int action, const char *a, const char *b, const char *schema,
                       const char *via)
{
    struct al_guard *g = ud;
    switch (action) {
    case SQLITE_SELECT:
        g->selects = true;
        return SQLITE_OK;
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        /* Virtual tables that SQLite makes by itself; they answer with settings, not with data. */
        if (a && sqlite3_strnicmp(a, "pragma_", 7) == 0)
            return deny(g, action, a);
        record(g, a, b, schema, via);
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return b && al_guard_function_known(b) ? SQLITE_OK : deny(g, action, b);
    default:
        return deny(g, action, a);
    }
}

static const char *action_name(int action)
{
    static const struct {
        int action;
        const char *name;
    } names[] = {
        {SQLITE_ATTACH, "ATTACH"},           {SQLITE_DETACH, "DETACH"},       {SQLITE_PRAGMA, "PRAGMA"},
        {SQLITE_INSERT, "INSERT"},           {SQLITE_UPDATE, "UPDATE"},       {SQLITE_DELETE, "DELETE"},
        {SQLITE_TRANSACTION, "transaction"}, {SQLITE_SAVEPOINT, "SAVEPOINT"}, {SQLITE_ANALYZE, "ANALYZE"},
        {SQLITE_REINDEX, "REINDEX"},         {SQLITE_ALTER_TABLE, "ALTER"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].action == action)
            return names[i].name;
    return "writing";
}

/* What the statement calls itself: its first word, when that is no WITH and no EXPLAIN. */
static void statement_name(const struct al_query_state *s, int action, char name[32])
{
    static const char *const starts[] = {"ATTACH", "DETACH",   "PRAGMA",    "INSERT", "UPDATE",
                                         "DELETE", "REPLACE",  "CREATE",    "DROP",   "ALTER",
                                         "VACUUM", "REINDEX",  "ANALYZE",   "BEGIN",  "COMMIT",
                                         "END",    "ROLLBACK", "SAVEPOINT", "RELEASE"};
    size_t at = al_token_is(&s->tokens, 0, "EXPLAIN") ? 1 : 0;
    if (at == 1 && al_token_is(&s->tokens, 1, "QUERY"))
        at = 3;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (al_token_is(&s->tokens, at, starts[i])) {
            snprintf(name, 32, "%s", starts[i]);
            return;
        }
    }
    snprintf(name, 32, "%s", action_name(action));
}

#define ONLY_READS "data_query only reads: one SELECT or WITH … SELECT"

static int reject_statement(const struct al_query_state *s, int action, struct al_err *err)
{
    char name[32];
    statement_name(s, action, name);
    bool vowel = strchr("AEIOU", name[0]);
    al_fail(err, AL_QUERY_REJECTED, ONLY_READS "; this is %s %s statement", vowel ? "an" : "a", name);
    if (strcmp(name, "ATTACH") == 0 || strcmp(name, "DETACH") == 0)
        return al_hint(err, "name several datasets in the call: datasets: {a: \"ds_…\", b: \"ds_…\"}, then "
                            "join a.data with b.data");
    if (strcmp(name, "PRAGMA") == 0)
        return al_hint(err, "columns and types are in data_inspect and in the table _alisio_columns");
    if (strcmp(name, "CREATE") == 0 || strcmp(name, "INSERT") == 0)
        return al_hint(err, "keep an intermediate result in the statement itself: WITH name AS (SELECT …) "
                            "SELECT … FROM name");
    return al_hint(err, "nothing can be changed in a dataset: write what you want to know as one SELECT");
}

int al_guard_reject(const struct al_query_state *s, struct al_err *err)
{
    const struct al_guard *g = &s->guard;
    /* A table of SQLite's own that runs a PRAGMA when it is read. */
    bool pragma = g->action == SQLITE_PRAGMA && s->guard.selects;
    if (g->action == SQLITE_FUNCTION) {
        al_fail(err, AL_QUERY_REJECTED, "the function %s() is not available here: it does more than compute",
                g->what);
        return al_hint(err,
                       "data_query has SQLite's own functions for numbers, text, dates, JSON and windows");
    }
    if (g->action == SQLITE_READ || pragma) {
        al_fail(err, AL_QUERY_REJECTED, "%s%s is not data: pragma functions cannot be read here",
                pragma ? "pragma_" : "", g->what);
        return al_hint(err, "tables and columns are in sqlite_schema and _alisio_columns");
    }
    return reject_statement(s, g->action, err);
}

static int check_prepared(struct al_query_state *s, sqlite3_stmt *stmt, const char *tail, struct al_err *err)
{
    if (!stmt) {
        al_fail(err, AL_QUERY_REJECTED, "the statement is empty");
        return al_hint(err, "send one SELECT or WITH … SELECT");
    }
    size_t used = (size_t)(tail - s->sql.p);
    if (!al_tokens_only_space((struct al_str){tail, s->sql.n - used})) {
        al_fail(err, AL_QUERY_REJECTED,
                "a second statement begins at character %zu: one call runs one statement",
                al_utf8_count((struct al_str){s->sql.p, used}) + 1);
        return al_hint(err, "send each in a call of its own, or join them: WITH a AS (…) SELECT …");
    }
    if (sqlite3_stmt_isexplain(stmt) == 1) {
        al_fail(err, AL_QUERY_REJECTED, "EXPLAIN lists machine code of SQLite");
        return al_hint(err, "EXPLAIN QUERY PLAN SELECT … tells how a statement is run");
    }
    if (sqlite3_column_count(stmt) == 0 || !sqlite3_stmt_readonly(stmt) || !s->guard.selects)
        return reject_statement(s, 0, err);
    return 0;
}

int al_guard_prepare(struct al_query_state *s, sqlite3_stmt **ret, struct al_buf *details, struct al_err *err)
{
    if (s->sql.n > AL_QUERY_MAX_SQL) {
        al_fail(err, AL_QUERY_LIMIT, "the statement has %zu bytes, at most %zu are taken", s->sql.n,
                AL_QUERY_MAX_SQL);
        return al_hint(err, "give long lists as a parameter: WHERE id IN (SELECT value FROM json_each(?1))");
    }
    if (memchr(s->sql.p, 0, s->sql.n)) {
        al_fail(err, AL_QUERY_REJECTED, "the statement has a NUL byte");
        return al_hint(err, "give such text as a parameter");
    }
    sqlite3_stmt *stmt = NULL;
    const char *tail = s->sql.p;
    s->guard.recording = true;
    int rc = sqlite3_prepare_v3(s->db, s->sql.p, (int)s->sql.n, 0, &stmt, &tail);
    s->guard.recording = false;
    if (s->guard.denied) {
        sqlite3_finalize(stmt);
        return al_guard_reject(s, err);
    }
    if (rc != SQLITE_OK)
        return al_errors_sqlite(s, rc, details, err);
    if (check_prepared(s, stmt, tail, err) < 0) {
        sqlite3_finalize(stmt);
        return -1;
    }
    *ret = stmt;
    return 0;
}
