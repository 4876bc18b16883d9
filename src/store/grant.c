/* Grants, the log of decisions, and trust in folders. */
#include "store/store_int.h"

#include "base/mem.h"

#include <stdio.h>

/* Everybody who works in a workspace shares its default session: a grant there ends by itself. */
#define DEFAULT_SESSION_GRANT_MS (INT64_C(12) * 3600 * 1000)

void al_grant_fini(struct al_grant *g)
{
    free(g->capability);
    free(g->isolation);
    free(g->source);
    *g = (struct al_grant){0};
}

static int limit_grant(struct al_store *s, struct al_grant *g, struct al_err *err)
{
    struct al_session session;
    if (al_store_session_get(s, g->session, &session, err) < 0)
        return -1;
    int64_t end = g->created_ms + DEFAULT_SESSION_GRANT_MS;
    if (strcmp(session.kind, "default") == 0 && (g->expires_ms == 0 || g->expires_ms > end))
        g->expires_ms = end;
    al_session_fini(&session);
    return 0;
}

int al_store_grant_add(struct al_store *s, struct al_grant *g, struct al_err *err)
{
    if (!g->created_ms)
        g->created_ms = al_wall_ms();
    if (limit_grant(s, g, err) < 0)
        return -1;
    al_id_new(g->id, "grant_");
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "INSERT INTO grants(id, session, capability, isolation, source, created_ms, expires_ms, "
            "revoked_ms) VALUES(?1,?2,?3,?4,?5,?6,?7,0)",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, g->id);
    al_bind_textz(q, 2, g->session);
    al_bind_textz(q, 3, g->capability);
    al_bind_textz(q, 4, g->isolation);
    al_bind_textz(q, 5, g->source ? g->source : "cli");
    al_bind_int(q, 6, g->created_ms);
    al_bind_int(q, 7, g->expires_ms);
    return al_store_write(s, q, err);
}

/* How strong what holds a script is; 0: a word that nobody knows, which nothing covers and which covers
 * nothing. */
static int strength(struct al_str isolation)
{
    static const char *const weak_to_strong[] = {"none", "restricted-process", "container", "os-filter",
                                                 "os-sandbox"};
    for (int i = 0; i < (int)(sizeof weak_to_strong / sizeof *weak_to_strong); i++) {
        if (al_str_is(isolation, weak_to_strong[i]))
            return i + 1;
    }
    return 0;
}

static bool covers(struct al_stmt *q, const char *isolation)
{
    if (!isolation || al_col_is_null(q, 0))
        return true;
    int given = strength(al_col_text(q, 0));
    return given > 0 && strength(al_str_of(isolation)) >= given;
}

bool al_store_grant_valid(struct al_store *s, const char *session, const char *capability,
                          const char *isolation)
{
    struct al_stmt *q;
    /* A clock that was set back must not bring a grant to life before it was given. */
    if (al_db_prepare(s->db,
                      "SELECT isolation FROM grants WHERE session=?1 AND capability=?2 AND revoked_ms=0 "
                      "AND (expires_ms=0 OR (expires_ms>?3 AND created_ms<=?3))",
                      &q, NULL) < 0)
        return false;
    al_bind_textz(q, 1, session);
    al_bind_textz(q, 2, capability);
    al_bind_int(q, 3, al_wall_ms());
    bool valid = false;
    while (!valid && al_step(q, NULL) == 1)
        valid = covers(q, isolation);
    al_stmt_reset(q);
    return valid;
}

int al_store_grant_each(struct al_store *s, const char *session,
                        bool (*fn)(void *ud, const struct al_grant *), void *ud, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "SELECT id, session, capability, isolation, source, created_ms, expires_ms, revoked_ms "
                      "FROM grants WHERE (?1 IS NULL OR session=?1) ORDER BY created_ms DESC, id DESC",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    int r;
    while ((r = al_step(q, err)) == 1) {
        struct al_grant g = {.capability = al_store_dup(q, 2),
                             .isolation = al_store_dup(q, 3),
                             .source = al_store_dup(q, 4),
                             .created_ms = al_col_int(q, 5),
                             .expires_ms = al_col_int(q, 6),
                             .revoked_ms = al_col_int(q, 7)};
        snprintf(g.id, sizeof g.id, "%.*s", AL_FMT(al_col_text(q, 0)));
        snprintf(g.session, sizeof g.session, "%.*s", AL_FMT(al_col_text(q, 1)));
        bool more = fn(ud, &g);
        al_grant_fini(&g);
        if (!more) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}

int al_store_grant_revoke(struct al_store *s, const char *id, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "UPDATE grants SET revoked_ms=?2 WHERE id=?1 AND revoked_ms=0", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    al_bind_int(q, 2, al_wall_ms());
    if (al_store_write(s, q, err) < 0)
        return -1;
    if (al_db_changes(s->db))
        return 0;
    al_fail(err, AL_NOT_FOUND, "there is no grant %.60s to revoke", id);
    return al_hint(err, "`alisio permissions list` shows them");
}

int al_store_decision_add(struct al_store *s, const struct al_decision *d, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "INSERT INTO decisions(at_ms, session, run, tool, effect, origin, decision, reason) "
                      "VALUES(?1,?2,?3,?4,?5,?6,?7,?8)",
                      &q, err) < 0)
        return -1;
    al_bind_int(q, 1, d->at_ms ? d->at_ms : al_wall_ms());
    al_bind_textz(q, 2, d->session);
    al_bind_textz(q, 3, d->run);
    al_bind_textz(q, 4, d->tool);
    al_bind_textz(q, 5, d->effect);
    al_bind_textz(q, 6, d->origin);
    al_bind_textz(q, 7, d->decision);
    al_bind_textz(q, 8, d->reason);
    return al_store_write(s, q, err);
}

#define DECISIONS "SELECT at_ms, session, run, tool, effect, origin, decision, reason FROM decisions "

int al_store_decision_each(struct al_store *s, const char *session, int limit,
                           bool (*fn)(void *ud, const struct al_decision *), void *ud, struct al_err *err)
{
    struct al_stmt *q;
    const char *sql = session ? DECISIONS "WHERE session=?1 ORDER BY seq DESC LIMIT ?2"
                              : DECISIONS "WHERE ?1 IS NULL ORDER BY seq DESC LIMIT ?2";
    if (al_db_prepare(s->db, sql, &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    al_bind_int(q, 2, limit > 0 ? limit : 50);
    int r;
    while ((r = al_step(q, err)) == 1) {
        char *own[7];
        for (int i = 0; i < 7; i++)
            own[i] = al_store_dup(q, i + 1);
        struct al_decision d = {al_col_int(q, 0), own[0], own[1], own[2], own[3], own[4], own[5], own[6]};
        bool more = fn(ud, &d);
        for (int i = 0; i < 7; i++)
            free(own[i]);
        if (!more) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}

int al_store_trust_add(struct al_store *s, const char *dir, const char *config_sha256, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "INSERT INTO trust(dir, config_sha256, at_ms) VALUES(?1,?2,?3) "
            "ON CONFLICT(dir) DO UPDATE SET config_sha256=excluded.config_sha256, at_ms=excluded.at_ms",
            &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, dir);
    al_bind_textz(q, 2, config_sha256 ? config_sha256 : "");
    al_bind_int(q, 3, al_wall_ms());
    return al_store_write(s, q, err);
}

int al_store_trust_revoke(struct al_store *s, const char *dir, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "DELETE FROM trust WHERE dir=?1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, dir);
    if (al_store_write(s, q, err) < 0)
        return -1;
    if (al_db_changes(s->db))
        return 0;
    al_fail(err, AL_NOT_FOUND, "that folder is not trusted");
    return al_hint(err, "`alisio trust list` shows those that are");
}

bool al_store_trusted(struct al_store *s, const char *dir, const char *config_sha256)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "SELECT 1 FROM trust WHERE dir=?1 AND config_sha256=?2", &q, NULL) < 0)
        return false;
    al_bind_textz(q, 1, dir);
    al_bind_textz(q, 2, config_sha256 ? config_sha256 : "");
    int r = al_step(q, NULL);
    al_stmt_reset(q);
    return r == 1;
}

int al_store_trust_each(struct al_store *s,
                        bool (*fn)(void *ud, const char *dir, const char *sha256, int64_t at_ms), void *ud,
                        struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "SELECT dir, config_sha256, at_ms FROM trust ORDER BY dir", &q, err) < 0)
        return -1;
    int r;
    while ((r = al_step(q, err)) == 1) {
        autofree char *dir = al_store_dup(q, 0);
        autofree char *sha256 = al_store_dup(q, 1);
        if (fn(ud, dir, sha256, al_col_int(q, 2)))
            continue;
        al_stmt_reset(q);
        return 0;
    }
    return r;
}
