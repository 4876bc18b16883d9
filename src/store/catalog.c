/* The catalogue as it is read, and pins. */
#include "store/catalog_int.h"
#include "store/store_int.h"

#include "base/mem.h"

#include <limits.h>
#include <stdio.h>

#define TOOL_COLS                                                                                        \
    "t.server, t.tool, t.name, t.title, t.description, t.input_schema, t.output_schema, t.annotations, " \
    "t.sha256,"                                                                                          \
    " p.sha256"
#define TOOL_FROM " FROM catalog_tools t LEFT JOIN catalog_pins p ON p.server=t.server AND p.tool=t.tool "
/* What a word is worth in a name, a title, a description and the name of a parameter. */
#define RANK "bm25(8.0, 3.0, 1.0, 2.0)"
#define MAX_DEFINITION (512u << 10)

/* Columns come zero-terminated. */
static void view_tool(struct al_stmt *q, struct al_catalog_tool *t)
{
    struct al_str pin = al_col_text(q, 9);
    *t = (struct al_catalog_tool){
        .server = al_col_text(q, 0).p,
        .tool = al_col_text(q, 1).p,
        .name = al_col_text(q, 2).p,
        .title = al_col_is_null(q, 3) ? NULL : al_col_text(q, 3).p,
        .description = al_col_is_null(q, 4) ? NULL : al_col_text(q, 4).p,
        .input_schema = al_col_text(q, 5).p,
        .output_schema = al_col_is_null(q, 6) ? NULL : al_col_text(q, 6).p,
        .annotations = al_col_is_null(q, 7) ? NULL : al_col_text(q, 7).p,
        .pinned = !al_col_is_null(q, 9),
    };
    snprintf(t->sha256, sizeof t->sha256, "%.*s", AL_FMT(al_col_text(q, 8)));
    t->changed = t->pinned && !al_str_is(pin, t->sha256);
}

static const char *keep(struct al_arena *a, const char *z, bool *ok)
{
    const char *copy = z ? al_arena_dup(a, al_str_of(z)) : NULL;
    *ok = *ok && (copy || !z);
    return copy;
}

static int take_tool(struct al_stmt *q, struct al_arena *a, struct al_catalog_tool *ret, struct al_err *err)
{
    struct al_catalog_tool t;
    bool ok = true;
    int r = al_step(q, err);
    if (r < 0)
        return -1;
    if (r == 0)
        return al_fail(err, AL_NOT_FOUND, "the catalogue has no such tool");
    view_tool(q, &t);
    const char **texts[] = {&t.server,      &t.tool,         &t.name,          &t.title,
                            &t.description, &t.input_schema, &t.output_schema, &t.annotations};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = keep(a, *texts[i], &ok);
    al_stmt_reset(q);
    if (!ok)
        return al_fail(err, AL_MEMORY_LIMIT, "the description of the tool is too large here");
    *ret = t;
    return 0;
}

int al_catalog_find(struct al_store *s, const char *name, struct al_arena *a, struct al_catalog_tool *ret,
                    struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "SELECT " TOOL_COLS TOOL_FROM "WHERE t.name=?1 ORDER BY t.server, t.tool LIMIT 1", &q,
                      err) < 0)
        return -1;
    al_bind_textz(q, 1, name);
    return take_tool(q, a, ret, err);
}

int al_catalog_find_of(struct al_store *s, const char *server, const char *tool, struct al_arena *a,
                       struct al_catalog_tool *ret, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "SELECT " TOOL_COLS TOOL_FROM "WHERE t.server=?1 AND t.tool=?2", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, server);
    al_bind_textz(q, 2, tool);
    return take_tool(q, a, ret, err);
}

int al_catalog_server(struct al_store *s, const char *name, struct al_arena *a, struct al_catalog_server *ret,
                      struct al_err *err)
{
    struct al_stmt *q;
    bool ok = true;
    if (al_db_prepare(
            s->db,
            "SELECT config_sha256, protocol, info, instructions, fetched_ms, n_tools FROM catalog_servers"
            " WHERE name=?1",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, name);
    int r = al_step(q, err);
    if (r < 0)
        return -1;
    if (r == 0)
        return al_fail(err, AL_NOT_FOUND, "the tools of %s were never fetched", name);
    const char *texts[4];
    for (int i = 0; i < 4; i++)
        texts[i] = keep(a, al_col_is_null(q, i) ? NULL : al_col_text(q, i).p, &ok);
    *ret = (struct al_catalog_server){.name = keep(a, name, &ok),
                                      .config_sha256 = texts[0],
                                      .protocol = texts[1],
                                      .info = texts[2],
                                      .instructions = texts[3],
                                      .fetched_ms = al_col_int(q, 4),
                                      .n_tools = al_col_int(q, 5)};
    al_stmt_reset(q);
    return ok ? 0 : al_fail(err, AL_MEMORY_LIMIT, "the description of the server is too large here");
}

static int each(struct al_stmt *q, bool (*fn)(void *ud, const struct al_catalog_tool *), void *ud,
                struct al_err *err)
{
    int r;
    while ((r = al_step(q, err)) == 1) {
        struct al_catalog_tool t;
        view_tool(q, &t);
        if (!fn(ud, &t)) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}

int al_catalog_each(struct al_store *s, const char *server,
                    bool (*fn)(void *ud, const struct al_catalog_tool *), void *ud, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db, "SELECT " TOOL_COLS TOOL_FROM "WHERE ?1 IS NULL OR t.server=?1 ORDER BY t.server, t.tool",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, server);
    return each(q, fn, ud, err);
}

int al_catalog_tools(struct al_store *s, const char *server, bool (*fn)(void *ud, struct al_str tool),
                     void *ud, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "SELECT tool FROM catalog_tools WHERE server=?1 ORDER BY tool", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, server);
    int r;
    while ((r = al_step(q, err)) == 1) {
        if (!fn(ud, al_col_text(q, 0))) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}

int al_catalog_search(struct al_store *s, struct al_str query, int limit,
                      bool (*fn)(void *ud, const struct al_catalog_tool *), void *ud, struct al_err *err)
{
    struct al_stmt *q;
    autobuf struct al_buf match = AL_BUF_INIT(4096);
    al_catalog_match(&match, query);
    if (match.n == 0)
        return 0;
    if (al_db_prepare(
            s->db,
            "SELECT " TOOL_COLS " FROM (SELECT rowid, rank AS r FROM catalog_index WHERE catalog_index"
            " MATCH ?1 AND rank MATCH '" RANK "' ORDER BY rank LIMIT ?2) i"
            " JOIN catalog_tools t ON t.id=i.rowid"
            " LEFT JOIN catalog_pins p ON p.server=t.server AND p.tool=t.tool ORDER BY i.r, t.server, t.tool",
            &q, err) < 0)
        return -1;
    al_bind_text(q, 1, al_buf_str(&match));
    al_bind_int(q, 2, limit > 0 ? limit : INT_MAX);
    return each(q, fn, ud, err);
}

static int remove_in_tx(struct al_store *s, const char *server, struct al_err *err)
{
    static const char *const sqls[] = {
        "DELETE FROM catalog_index WHERE rowid IN (SELECT id FROM catalog_tools WHERE server=?1)",
        "DELETE FROM catalog_tools WHERE server=?1",
        "DELETE FROM catalog_servers WHERE name=?1",
    };
    for (size_t i = 0; i < sizeof sqls / sizeof sqls[0]; i++) {
        struct al_stmt *q;
        if (al_db_prepare(s->db, sqls[i], &q, err) < 0)
            return -1;
        al_bind_textz(q, 1, server);
        if (al_store_write(s, q, err) < 0)
            return -1;
    }
    return 0;
}

int al_catalog_remove(struct al_store *s, const char *server, struct al_err *err)
{
    if (al_store_begin(s, err) < 0)
        return -1;
    return al_store_finish(s, remove_in_tx(s, server, err), err);
}

/* --- pins --- */

static int forget_in_tx(struct al_store *s, const char *server, struct al_err *err)
{
    struct al_stmt *q;
    if (remove_in_tx(s, server, err) < 0 ||
        al_db_prepare(s->db, "DELETE FROM catalog_pins WHERE server=?1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, server);
    return al_store_write(s, q, err);
}

int al_catalog_forget(struct al_store *s, const char *server, struct al_err *err)
{
    if (al_store_begin(s, err) < 0)
        return -1;
    return al_store_finish(s, forget_in_tx(s, server, err), err);
}

static int write_pin(struct al_store *s, const struct al_catalog_tool *t, bool replace, struct al_err *err)
{
    autobuf struct al_buf definition = AL_BUF_INIT(MAX_DEFINITION);
    struct al_stmt *q;
    al_catalog_definition(t, &definition);
    if (al_db_prepare(
            s->db,
            "INSERT INTO catalog_pins(server, tool, sha256, definition, at_ms) VALUES(?1,?2,?3,?4,?5)"
            " ON CONFLICT DO UPDATE SET sha256=?3, definition=?4, at_ms=?5 WHERE ?6",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, t->server);
    al_bind_textz(q, 2, t->tool);
    al_bind_textz(q, 3, t->sha256);
    al_bind_text(q, 4, al_buf_str(&definition));
    al_bind_int(q, 5, al_wall_ms());
    al_bind_int(q, 6, replace);
    return al_store_write(s, q, err);
}

int al_catalog_pin(struct al_store *s, const char *server, const char *tool, const char *sha256, bool replace,
                   struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    struct al_catalog_tool t;
    if (al_catalog_find_of(s, server, tool, &a, &t, err) < 0)
        return -1;
    if (sha256 && strcmp(sha256, t.sha256) != 0) {
        al_fail(err, AL_STATE_CONFLICT, "the definition of %s.%s has changed meanwhile", server, tool);
        return al_hint(err, "look at it as it is now, and decide again");
    }
    return t.pinned && !replace ? 0 : write_pin(s, &t, replace, err);
}

int al_catalog_pin_as(struct al_store *s, const struct al_catalog_tool *t, struct al_err *err)
{
    return write_pin(s, t, false, err);
}

int al_catalog_changed(struct al_store *s, const char *server,
                       bool (*fn)(void *ud, const char *tool, struct al_str old_json, struct al_str new_json,
                                  const char *new_sha256),
                       void *ud, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "SELECT " TOOL_COLS ", p.definition FROM catalog_tools t JOIN catalog_pins p ON"
            " p.server=t.server AND p.tool=t.tool AND p.sha256<>t.sha256 WHERE t.server=?1 ORDER BY t.tool",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, server);
    int r;
    while ((r = al_step(q, err)) == 1) {
        struct al_catalog_tool t;
        autobuf struct al_buf now = AL_BUF_INIT(MAX_DEFINITION);
        view_tool(q, &t);
        al_catalog_definition(&t, &now);
        if (!fn(ud, t.tool, al_col_text(q, 10), al_buf_str(&now), t.sha256)) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}
