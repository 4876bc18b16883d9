/* A catalogue as it is replaced: what is new or changed is written, what is gone is removed, the rest stays.
 */
#include "store/catalog_int.h"
#include "store/store_int.h"

#include "os/lock.h"

#include <time.h>

/* Rows of one transaction, and the pause after it: a loop that waits for the lock gets it. */
#define BATCH 50
#define PAUSE_NS 500000
#define TOOL_ARENA (4u << 20)

struct put {
    struct al_db *db;
    const struct al_catalog_server *server;
    struct al_catalog_put_result count;
    int n_written; /* in the open transaction */
};

static int begin(struct put *p, struct al_err *err)
{
    return al_db_in_transaction(p->db) ? 0 : al_db_begin(p->db, false, err);
}

static int breathe(struct put *p, struct al_err *err)
{
    if (++p->n_written < BATCH)
        return 0;
    p->n_written = 0;
    if (al_db_commit(p->db, err) < 0)
        return -1;
    struct timespec t = {0, PAUSE_NS};
    nanosleep(&t, NULL);
    return 0;
}

/* The row that is there: its id, or 0; same: with this very definition. */
static int find_row(struct put *p, const struct al_catalog_tool *t, int64_t *ret_id, bool *ret_same,
                    struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(p->db, "SELECT id, sha256, name FROM catalog_tools WHERE server=?1 AND tool=?2", &q,
                      err) < 0)
        return -1;
    al_bind_textz(q, 1, t->server);
    al_bind_textz(q, 2, t->tool);
    int r = al_step(q, err);
    *ret_id = r == 1 ? al_col_int(q, 0) : 0;
    *ret_same = r == 1 && al_str_is(al_col_text(q, 1), t->sha256) && al_str_is(al_col_text(q, 2), t->name);
    al_stmt_reset(q);
    return r < 0 ? -1 : 0;
}

static int run(struct put *p, struct al_stmt *q, struct al_err *err)
{
    (void)p;
    int r = al_step(q, err);
    if (r == 1)
        al_stmt_reset(q);
    return r < 0 ? -1 : 0;
}

static int drop_index(struct put *p, int64_t id, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(p->db, "DELETE FROM catalog_index WHERE rowid=?1", &q, err) < 0)
        return -1;
    al_bind_int(q, 1, id);
    return run(p, q, err);
}

static int write_row(struct put *p, const struct al_catalog_tool *t, int64_t id, int64_t *ret_id,
                     struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            p->db,
            "INSERT OR REPLACE INTO catalog_tools(id, server, tool, name, title, description, input_schema,"
            " output_schema, annotations, sha256) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10) RETURNING id",
            &q, err) < 0)
        return -1;
    if (id)
        al_bind_int(q, 1, id);
    else
        al_bind_null(q, 1);
    const char *const texts[] = {t->server,       t->tool,          t->name,        t->title, t->description,
                                 t->input_schema, t->output_schema, t->annotations, t->sha256};
    for (int i = 0; i < (int)(sizeof texts / sizeof texts[0]); i++)
        al_bind_textz(q, i + 2, texts[i]);
    int r = al_step(q, err);
    if (r == 1)
        *ret_id = al_col_int(q, 0);
    if (r >= 0)
        al_stmt_reset(q);
    return r == 1 ? 0 : -1;
}

static int write_index(struct put *p, const struct al_catalog_tool *t, int64_t id, struct al_str params,
                       struct al_err *err)
{
    autobuf struct al_buf name = AL_BUF_INIT(4096), title = AL_BUF_INIT(8192);
    struct al_stmt *q;
    al_catalog_words(&name, al_str_of(t->server));
    al_catalog_words(&name, al_str_of(t->tool));
    al_catalog_words(&title, al_str_of(t->title));
    if (al_db_prepare(
            p->db,
            "INSERT INTO catalog_index(rowid, name, title, description, params) VALUES(?1,?2,?3,?4,?5)", &q,
            err) < 0)
        return -1;
    al_bind_int(q, 1, id);
    al_bind_text(q, 2, al_buf_str(&name));
    al_bind_text(q, 3, al_buf_str(&title));
    al_bind_textz(q, 4, t->description);
    al_bind_text(q, 5, params);
    return run(p, q, err);
}

static int mark(struct put *p, int64_t id, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(p->db, "INSERT INTO seen(id) VALUES(?1)", &q, err) < 0)
        return -1;
    al_bind_int(q, 1, id);
    return run(p, q, err);
}

static int is_marked(struct put *p, int64_t id, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(p->db, "SELECT 1 FROM seen WHERE id=?1", &q, err) < 0)
        return -1;
    al_bind_int(q, 1, id);
    int r = al_step(q, err);
    if (r == 1)
        al_stmt_reset(q);
    return r;
}

static int put_tool(struct put *p, const struct al_catalog_tool *t, struct al_str params, struct al_err *err)
{
    int64_t id;
    bool same;
    if (find_row(p, t, &id, &same, err) < 0)
        return -1;
    int twice = id ? is_marked(p, id, err) : 0;
    if (twice < 0)
        return -1;
    if (twice) {
        p->count.n_left_out++;
        return 0;
    }
    p->count.n_tools++;
    if (same)
        return mark(p, id, err);
    if (begin(p, err) < 0 || (id && drop_index(p, id, err) < 0) || write_row(p, t, id, &id, err) < 0 ||
        write_index(p, t, id, params, err) < 0 || mark(p, id, err) < 0)
        return -1;
    return breathe(p, err);
}

static int put_tools(struct put *p, struct al_str list, struct al_err *err)
{
    struct al_str one;
    bool is_list = al_catalog_open(&list);
    while (is_list && al_catalog_next(&list, &one)) {
        autoarena struct al_arena a = AL_ARENA_INIT(TOOL_ARENA);
        autobuf struct al_buf params = AL_BUF_INIT(64u << 10);
        struct al_catalog_tool t;
        if (p->count.n_tools >= AL_CATALOG_MAX_TOOLS ||
            !al_catalog_read(p->server->name, one, &a, &t, &params))
            p->count.n_left_out++;
        else if (put_tool(p, &t, al_buf_str(&params), err) < 0)
            return -1;
    }
    return 0;
}

/* The tool that is next to go: its id, or 0. */
static int next_gone(struct put *p, int64_t *ret_id, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(p->db, "DELETE FROM gone WHERE id=(SELECT min(id) FROM gone) RETURNING id", &q, err) <
        0)
        return -1;
    int r = al_step(q, err);
    *ret_id = r == 1 ? al_col_int(q, 0) : 0;
    if (r == 1)
        al_stmt_reset(q);
    return r < 0 ? -1 : 0;
}

static int drop_row(struct put *p, int64_t id, struct al_err *err)
{
    struct al_stmt *q;
    if (begin(p, err) < 0 || drop_index(p, id, err) < 0 ||
        al_db_prepare(p->db, "DELETE FROM catalog_tools WHERE id=?1", &q, err) < 0)
        return -1;
    al_bind_int(q, 1, id);
    return run(p, q, err) < 0 ? -1 : breathe(p, err);
}

static int drop_gone(struct put *p, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(p->db,
                      "INSERT INTO gone SELECT id FROM catalog_tools WHERE server=?1 AND id NOT IN"
                      " (SELECT id FROM seen)",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, p->server->name);
    if (run(p, q, err) < 0)
        return -1;
    for (;;) {
        int64_t id;
        if (next_gone(p, &id, err) < 0)
            return -1;
        if (id == 0)
            return 0;
        if (drop_row(p, id, err) < 0)
            return -1;
    }
}

static int put_server(struct put *p, struct al_err *err)
{
    const struct al_catalog_server *v = p->server;
    struct al_stmt *q;
    if (begin(p, err) < 0 ||
        al_db_prepare(
            p->db,
            "INSERT OR REPLACE INTO catalog_servers(name, config_sha256, protocol, info, instructions,"
            " fetched_ms, n_tools) VALUES(?1,?2,?3,?4,?5,?6,?7)",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, v->name);
    al_bind_textz(q, 2, v->config_sha256 ? v->config_sha256 : "");
    al_bind_textz(q, 3, v->protocol);
    al_bind_textz(q, 4, v->info);
    al_bind_textz(q, 5, v->instructions);
    al_bind_int(q, 6, v->fetched_ms ? v->fetched_ms : al_wall_ms());
    al_bind_int(q, 7, p->count.n_tools);
    return run(p, q, err) < 0 ? -1 : al_db_commit(p->db, err);
}

static int put_all(struct put *p, struct al_str tools_json, struct al_err *err)
{
    if (al_db_exec(p->db,
                   "CREATE TEMP TABLE seen(id INTEGER PRIMARY KEY);"
                   "CREATE TEMP TABLE gone(id INTEGER PRIMARY KEY)",
                   err) < 0)
        return -1;
    return put_tools(p, tools_json, err) < 0 || drop_gone(p, err) < 0 ? -1 : put_server(p, err);
}

int al_catalog_put(const char *db_path, const struct al_catalog_server *server, struct al_str tools_json,
                   struct al_catalog_put_result *ret, struct al_err *err)
{
    struct put p = {.server = server};
    struct al_db_opts opts = {.network_fs = al_fs_is_network(db_path)};
    if (tools_json.n > AL_CATALOG_MAX_BYTES)
        return al_fail(err, AL_RESULT_TOO_LARGE, "the tools of %s take more than 32 MiB", server->name);
    if (al_db_open(db_path, &opts, &p.db, err) < 0)
        return -1;
    int r = put_all(&p, tools_json, err);
    if (r < 0)
        al_db_rollback(p.db);
    else
        *ret = p.count;
    al_db_close(p.db);
    return r;
}
