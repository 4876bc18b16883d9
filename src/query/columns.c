/* What a dataset's own tables say of its columns. A dataset is untrusted: what they say is bounded, and a
 * wrong answer only spoils notes. */
#include "query/query_int.h"

#include "base/mem.h"
#include "dataset/pattern.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_COLUMNS 4096

static void copy(char *to, size_t size, sqlite3_stmt *stmt, int i)
{
    const char *z = (const char *)sqlite3_column_text(stmt, i);
    snprintf(to, size, "%s", z ? z : "");
}

static sqlite3_stmt *prepare(struct al_query_state *s, const char *format, const char *schema)
{
    sqlite3_stmt *stmt = NULL;
    char *sql = sqlite3_mprintf(format, schema, schema);
    if (sql)
        (void)sqlite3_prepare_v3(s->db, sql, -1, 0, &stmt, NULL);
    sqlite3_free(sql);
    return stmt;
}

static void read_schema(struct al_query_state *s, const char *schema)
{
    sqlite3_stmt *stmt =
        prepare(s,
                "SELECT c.table_name, c.name, c.parsed_as, c.scale, t.values_name"
                " FROM \"%w\"._alisio_columns c LEFT JOIN \"%w\"._alisio_sheets t USING (table_name)"
                " WHERE c.parsed_as IS NOT NULL OR c.scale IS NOT NULL LIMIT 4096",
                schema);
    while (stmt && s->n_columns < MAX_COLUMNS && sqlite3_step(stmt) == SQLITE_ROW) {
        if (s->n_columns % 64 == 0)
            s->columns = al_xrealloc(s->columns, (s->n_columns + 64) * sizeof *s->columns);
        struct al_column *c = &s->columns[s->n_columns++];
        *c = (struct al_column){.scale = -1};
        snprintf(c->schema, sizeof c->schema, "%s", schema);
        copy(c->table, sizeof c->table, stmt, 0);
        copy(c->name, sizeof c->name, stmt, 1);
        copy(c->parsed_as, sizeof c->parsed_as, stmt, 2);
        if (sqlite3_column_type(stmt, 3) == SQLITE_INTEGER) {
            int scale = sqlite3_column_int(stmt, 3);
            c->scale = scale >= 0 && scale <= 15 ? scale : -1;
        }
        copy(c->values, sizeof c->values, stmt, 4);
    }
    sqlite3_finalize(stmt);
}

void al_columns_read(struct al_query_state *s)
{
    if (s->columns_read)
        return;
    s->columns_read = true;
    for (size_t i = 0; i < s->n_schemas; i++)
        read_schema(s, s->schemas[i]);
}

const struct al_column *al_column_of(struct al_query_state *s, const char *schema, const char *table,
                                     const char *name)
{
    if (!table || !name)
        return NULL;
    al_columns_read(s);
    for (size_t i = 0; i < s->n_columns; i++) {
        const struct al_column *c = &s->columns[i];
        if (sqlite3_stricmp(c->name, name) == 0 && sqlite3_stricmp(c->table, table) == 0 &&
            (!schema || sqlite3_stricmp(c->schema, schema) == 0))
            return c;
    }
    return NULL;
}

bool al_column_numeric(const struct al_column *c)
{
    for (int p = AL_PATTERN_NONE + 1; p < AL_PATTERN_COUNT; p++)
        if (strcmp(c->parsed_as, al_pattern_id((enum al_pattern)p)) == 0)
            return !al_pattern_is_date((enum al_pattern)p);
    return false;
}
