/*
 * How near to the machine's limit CSV into SQLite can come: one thread, the file in memory, no check of
 * anything. data_floor parse IN        splits and types every cell data_floor insert IN OUT   and stores them
 *   data_floor query DB N      opens DB, asks "SELECT count(*) FROM data WHERE rowid < 100", closes, N times;
 * prints µs a turn
 */
#include "base/buf.h"
#include "base/ident.h"
#include "base/mem.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define COLUMNS 64

struct cell {
    char type; /* 'n' 'i' 'r' 't' */
    int n;
    const char *p;
    int64_t i;
    double r;
};

static const double ten[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                             1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

static void type(struct cell *c)
{
    const char *p = c->p, *end = c->p + c->n;
    bool minus = p < end && *p == '-';
    int64_t v = 0;
    c->type = c->n ? 't' : 'n';
    p += minus;
    if (p == end || end - p > 15 || (*p == '0' && p + 1 < end && p[1] != '.'))
        return;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        v = v * 10 + (*p - '0');
    if (p == end) {
        c->i = minus ? -v : v;
        c->type = 'i';
        return;
    }
    const char *point = p;
    if (*p++ != '.')
        return;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        v = v * 10 + (*p - '0');
    if (p < end || p == point + 1)
        return;
    c->r = (minus ? -1.0 : 1.0) * (double)v / ten[end - point - 1];
    c->type = 'r';
}

static char *quoted(char *p, char *end, struct cell *c)
{
    char *to = ++p;
    c->p = to;
    for (; p < end; p++) {
        if (*p == '"' && (++p == end || *p != '"'))
            break;
        *to++ = *p;
    }
    c->n = (int)(to - c->p);
    c->type = 't';
    return p;
}

static char *record(char *p, char *end, struct cell *cells, int *ret_n)
{
    int n = 0;
    for (;;) {
        struct cell *c = &cells[n++];
        if (p < end && *p == '"') {
            p = quoted(p, end, c);
        } else {
            c->p = p;
            while (p < end && *p != ',' && *p != '\n')
                p++;
            c->n = (int)(p - c->p);
            type(c);
        }
        if (p >= end || *p++ == '\n' || n == COLUMNS)
            break;
    }
    *ret_n = n;
    return p;
}

static void bind(sqlite3_stmt *s, const struct cell *c, int i)
{
    if (c->type == 'n')
        sqlite3_bind_null(s, i);
    else if (c->type == 'i')
        sqlite3_bind_int64(s, i, c->i);
    else if (c->type == 'r')
        sqlite3_bind_double(s, i, c->r);
    else
        sqlite3_bind_text(s, i, c->p, c->n, SQLITE_STATIC);
}

static sqlite3_stmt *open_table(sqlite3 *db, const struct cell *names, int n)
{
    struct al_buf create = AL_BUF_INIT(65536), insert = AL_BUF_INIT(65536);
    sqlite3_stmt *s = NULL;
    for (int i = 0; i < n; i++) {
        al_buf_addf(&create, "%s\"%.*s\"", i ? "," : "CREATE TABLE data(", names[i].n, names[i].p);
        al_buf_adds(&insert, i ? ",?" : "INSERT INTO data VALUES(?");
    }
    al_buf_adds(&create, ")");
    al_buf_adds(&insert, ")");
    autofree char *create_sql = al_buf_take(&create), *insert_sql = al_buf_take(&insert);
    sqlite3_exec(db,
                 "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                 "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-65536; BEGIN",
                 NULL, NULL, NULL);
    sqlite3_exec(db, create_sql, NULL, NULL, NULL);
    sqlite3_prepare_v2(db, insert_sql, -1, &s, NULL);
    return s;
}

static int csv(const char *in, const char *out)
{
    struct cell cells[COLUMNS];
    struct stat st;
    int n = 0, columns, fd = open(in, O_RDONLY);
    sqlite3 *db = NULL;
    sqlite3_stmt *insert = NULL;
    if (fd < 0 || fstat(fd, &st) < 0)
        return 1;
    char *text = al_xmalloc((size_t)st.st_size), *p = text, *end = text;
    for (ssize_t got; (got = read(fd, end, (size_t)(text + st.st_size - end))) > 0;)
        end += got;
    p = record(p, end, cells, &columns);
    if (out && sqlite3_open(out, &db) == SQLITE_OK)
        insert = open_table(db, cells, columns);
    int64_t sum = 0;
    while (p < end) {
        p = record(p, end, cells, &n);
        for (int i = 0; i < n; i++) {
            sum += cells[i].type;
            if (insert)
                bind(insert, &cells[i], i + 1);
        }
        if (insert) {
            sqlite3_step(insert);
            sqlite3_reset(insert);
        }
    }
    sqlite3_finalize(insert);
    if (db)
        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
    free(text);
    return sum == 0;
}

static int query(const char *file, long turns)
{
    uint64_t began = al_mono_ns();
    for (long i = 0; i < turns; i++) {
        sqlite3 *db;
        sqlite3_stmt *s;
        if (sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
            sqlite3_prepare_v2(db, "SELECT count(*) FROM data WHERE rowid < 100", -1, &s, NULL) !=
                SQLITE_OK ||
            sqlite3_step(s) != SQLITE_ROW)
            return 1;
        sqlite3_finalize(s);
        sqlite3_close(db);
    }
    printf("%.1f\n", (double)(al_mono_ns() - began) / 1000 / (double)turns);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 4 && strcmp(argv[1], "query") == 0)
        return query(argv[2], strtol(argv[3], NULL, 10));
    if (argc >= 3)
        return csv(argv[2], argc > 3 ? argv[3] : NULL);
    return 2;
}
