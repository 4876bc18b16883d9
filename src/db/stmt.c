#include "db/db_int.h"

#include "base/mem.h"

int al_db_prepare(struct al_db *db, const char *sql, struct al_stmt **ret, struct al_err *err)
{
    /* One that is still giving rows belongs to a caller further up: a second one is made beside it. */
    for (struct al_stmt *s = db->cache; s; s = s->next) {
        if (s->sql == sql && !sqlite3_stmt_busy(s->h)) {
            *ret = s;
            return 0;
        }
    }
    sqlite3_stmt *h = NULL;
    int rc = sqlite3_prepare_v3(db->h, sql, -1, SQLITE_PREPARE_PERSISTENT, &h, NULL);
    if (rc != SQLITE_OK || !h)
        return al_db_error(db, rc, err);
    struct al_stmt *s = al_xcalloc(1, sizeof *s);
    *s = (struct al_stmt){db, h, sql, db->cache};
    db->cache = s;
    *ret = s;
    return 0;
}

/* A binding can fail only by a wrong index or size, which the step then shows as a missing value. */
void al_bind_text(struct al_stmt *s, int i, struct al_str v)
{
    if (!v.p)
        sqlite3_bind_null(s->h, i);
    else
        sqlite3_bind_text64(s->h, i, v.p, v.n, SQLITE_STATIC, SQLITE_UTF8);
}

void al_bind_textz(struct al_stmt *s, int i, const char *z)
{
    al_bind_text(s, i, al_str_of(z));
}

void al_bind_int(struct al_stmt *s, int i, int64_t v)
{
    sqlite3_bind_int64(s->h, i, v);
}

void al_bind_null(struct al_stmt *s, int i)
{
    sqlite3_bind_null(s->h, i);
}

int al_step(struct al_stmt *s, struct al_err *err)
{
    int rc = sqlite3_step(s->h);
    if (rc == SQLITE_ROW)
        return 1;
    if (rc != SQLITE_DONE)
        al_db_error(s->db, rc, err);
    al_stmt_reset(s);
    return rc == SQLITE_DONE ? 0 : -1;
}

void al_stmt_reset(struct al_stmt *s)
{
    sqlite3_reset(s->h);
    sqlite3_clear_bindings(s->h);
}

int64_t al_col_int(struct al_stmt *s, int i)
{
    return sqlite3_column_int64(s->h, i);
}

struct al_str al_col_text(struct al_stmt *s, int i)
{
    const unsigned char *p = sqlite3_column_text(s->h, i);
    int n = sqlite3_column_bytes(s->h, i);
    if (!p)
        return (struct al_str){"", 0};
    return (struct al_str){(const char *)p, n > 0 ? (size_t)n : 0};
}

bool al_col_is_null(struct al_stmt *s, int i)
{
    return sqlite3_column_type(s->h, i) == SQLITE_NULL;
}
