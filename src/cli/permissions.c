#include "cli/app.h"
#include "cli/commands.h"
#include "cli/run_text.h"
#include "cli/table.h"

#include "base/text.h"

#include <string.h>

#define LOG_LIMIT 200
#define MAX_SESSIONS 256

struct listing {
    struct al_table table;
    struct al_jw w;
    char session[MAX_SESSIONS][AL_ID_MAX];
    size_t n_sessions;
};

static bool collect_session(void *ud, const struct al_session *s)
{
    struct listing *l = ud;
    memcpy(l->session[l->n_sessions++], s->id, AL_ID_MAX);
    return l->n_sessions < MAX_SESSIONS;
}

/* The session that --session names, else all of the workspace. */
static int collect_sessions(struct al_app *app, struct listing *l, struct al_err *err)
{
    const char *id = app->args.value[AL_FLAG_SESSION];
    if (al_app_workspace(app, err) < 0 || al_app_store(app, err) < 0)
        return -1;
    if (!id)
        return al_store_session_each(app->store, app->workspace, collect_session, l, err);
    struct al_session s = {0};
    if (al_store_session_get(app->store, id, &s, err) < 0)
        return -1;
    collect_session(l, &s);
    al_session_fini(&s);
    return 0;
}

static bool list_grant(void *ud, const struct al_grant *g)
{
    struct listing *l = ud;
    autobuf struct al_buf cell = AL_BUF_INIT(64);
    bool over = g->expires_ms && g->expires_ms <= al_wall_ms();
    al_table_add(&l->table, g->id);
    al_table_add(&l->table, g->capability);
    if (g->revoked_ms)
        al_table_add_style(&l->table, "revoked", AL_BAD);
    else if (over)
        al_table_add_style(&l->table, "expired", AL_WARN);
    else
        al_table_add_style(&l->table, "valid", AL_GOOD);
    al_say_time(&cell, g->created_ms);
    al_table_add_str(&l->table, al_buf_str(&cell));
    al_buf_clear(&cell);
    al_say_time(&cell, g->expires_ms);
    al_table_add_str(&l->table, al_buf_str(&cell));
    al_table_add(&l->table, g->source);
    al_jw_obj(&l->w);
    al_jw_kstrz(&l->w, "id", g->id);
    al_jw_kstrz(&l->w, "sessionId", g->session);
    al_jw_kstrz(&l->w, "capability", g->capability);
    al_jw_kstrz(&l->w, "isolation", g->isolation);
    al_jw_kstrz(&l->w, "source", g->source);
    al_jw_ktime(&l->w, "createdAt", g->created_ms);
    al_jw_ktime(&l->w, "expiresAt", g->expires_ms);
    al_jw_ktime(&l->w, "revokedAt", g->revoked_ms);
    al_jw_end(&l->w);
    return true;
}

static void begin(struct listing *l, struct al_reply *reply, const char *const *heads, const char *key)
{
    al_table_init(&l->table, heads);
    al_jw_init(&l->w, &reply->structured);
    al_jw_obj(&l->w);
    al_jw_key(&l->w, key);
    al_jw_arr(&l->w);
}

static void end(struct al_app *app, struct listing *l, struct al_reply *reply, const char *nothing)
{
    al_jw_end(&l->w);
    al_jw_end(&l->w);
    if (l->table.n_cells == 0)
        al_buf_adds(&reply->text, nothing);
    al_table_print(app, &l->table, &reply->text);
    al_table_free(&l->table);
}

int al_cmd_permissions_list(struct al_app *app, struct al_reply *reply)
{
    static const char *const heads[] = {"ID", "WHAT", "NOW", "GIVEN", "UNTIL", "FROM", NULL};
    struct listing l = {0};
    if (collect_sessions(app, &l, &reply->err) < 0)
        return -1;
    begin(&l, reply, heads, "grants");
    l.table.fixed = 1;
    int r = 0;
    for (size_t i = 0; r == 0 && i < l.n_sessions; i++)
        r = al_store_grant_each(app->store, l.session[i], list_grant, &l, &reply->err);
    end(app, &l, reply, "no grant is stored for this workspace\n");
    return r;
}

int al_cmd_permissions_revoke(struct al_app *app, struct al_reply *reply)
{
    const char *id = app->args.pos[0];
    struct al_jw w;
    if (!al_id_valid(al_str_of(id), "grant")) {
        al_fail(&reply->err, AL_INVALID_INPUT, "%.80s is not the id of a grant", id);
        return al_hint(&reply->err, "`alisio permissions list` shows the ids");
    }
    if (al_app_store(app, &reply->err) < 0 || al_store_grant_revoke(app->store, id, &reply->err) < 0)
        return -1;
    al_buf_addf(&reply->text, "revoked %s\n", id);
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "revoked", id);
    al_jw_end(&w);
    return 0;
}

static bool list_decision(void *ud, const struct al_decision *d)
{
    struct listing *l = ud;
    autobuf struct al_buf cell = AL_BUF_INIT(64);
    bool refused = d->decision && strncmp(d->decision, "refused", 7) == 0;
    al_say_time(&cell, d->at_ms);
    al_table_add_str(&l->table, al_buf_str(&cell));
    al_table_add(&l->table, d->tool);
    al_table_add(&l->table, d->effect);
    al_table_add(&l->table, d->origin);
    al_table_add_style(&l->table, d->decision, refused ? AL_BAD : AL_GOOD);
    al_table_add(&l->table, d->reason);
    al_jw_obj(&l->w);
    al_jw_ktime(&l->w, "at", d->at_ms);
    al_jw_kstrz(&l->w, "sessionId", d->session);
    al_jw_kstrz(&l->w, "executionId", d->run);
    al_jw_kstrz(&l->w, "tool", d->tool);
    al_jw_kstrz(&l->w, "effect", d->effect);
    al_jw_kstrz(&l->w, "origin", d->origin);
    al_jw_kstrz(&l->w, "decision", d->decision);
    al_jw_kstrz(&l->w, "reason", d->reason);
    al_jw_end(&l->w);
    return true;
}

int al_cmd_permissions_log(struct al_app *app, struct al_reply *reply)
{
    static const char *const heads[] = {"WHEN", "TOOL", "EFFECT", "FROM", "DECISION", "WHY", NULL};
    struct listing l = {0};
    if (collect_sessions(app, &l, &reply->err) < 0)
        return -1;
    begin(&l, reply, heads, "decisions");
    int r = 0;
    for (size_t i = 0; r == 0 && i < l.n_sessions; i++)
        r = al_store_decision_each(app->store, l.session[i], LOG_LIMIT, list_decision, &l, &reply->err);
    end(app, &l, reply, "nothing was decided in this workspace yet\n");
    return r;
}
