#include "cli/agent_cmd.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/run_text.h"
#include "cli/session_scratch.h"
#include "cli/table.h"

#include "base/mem.h"
#include "base/text.h"
#include "store/conversation.h"

#include <string.h>

static void session_json(struct al_jw *w, const struct al_session *s)
{
    al_jw_obj(w);
    al_jw_kstrz(w, "sessionId", s->id);
    al_jw_kstrz(w, "kind", s->kind);
    al_jw_kstrz(w, "title", s->title);
    al_jw_kstrz(w, "workspace", s->workspace);
    al_jw_ktime(w, "createdAt", s->created_ms);
    al_jw_ktime(w, "updatedAt", s->updated_ms);
    al_jw_kint(w, "runs", s->n_runs);
    al_jw_end(w);
}

struct listing {
    struct al_table table;
    struct al_jw w;
};

static bool list_session(void *ud, const struct al_session *s)
{
    struct listing *l = ud;
    autobuf struct al_buf cell = AL_BUF_INIT(64);
    al_table_add(&l->table, s->id);
    al_table_add(&l->table, s->kind);
    al_table_addf(&l->table, "%lld", (long long)s->n_runs);
    al_say_time(&cell, s->updated_ms);
    al_table_add_str(&l->table, al_buf_str(&cell));
    al_table_add(&l->table, s->title);
    session_json(&l->w, s);
    return true;
}

int al_cmd_sessions_list(struct al_app *app, struct al_reply *reply)
{
    static const char *const heads[] = {"ID", "KIND", "RUNS", "LAST USED", "TITLE", NULL};
    struct listing l = {0};
    if (al_app_workspace(app, &reply->err) < 0 || al_app_store(app, &reply->err) < 0)
        return -1;
    al_table_init(&l.table, heads);
    l.table.fixed = 1;
    l.table.right = 1u << 2;
    al_jw_init(&l.w, &reply->structured);
    al_jw_obj(&l.w);
    al_jw_key(&l.w, "sessions");
    al_jw_arr(&l.w);
    int r = al_store_session_each(app->store, app->workspace, list_session, &l, &reply->err);
    al_jw_end(&l.w);
    al_jw_end(&l.w);
    if (l.table.n_cells == 0)
        al_buf_adds(&reply->text, "this workspace has no session yet\n");
    al_table_print(app, &l.table, &reply->text);
    al_table_free(&l.table);
    return r;
}

static bool find_default(void *ud, const struct al_session *s)
{
    char *id = ud;
    if (strcmp(s->kind, "default") != 0)
        return true;
    memcpy(id, s->id, AL_ID_MAX);
    return false;
}

/* By id, or "default": the workspace's own, if it has one. */
static int named_session(struct al_app *app, struct al_session *ret, struct al_err *err)
{
    const char *word = app->args.pos[0];
    char id[AL_ID_MAX] = "";
    bool own = strcmp(word, "default") == 0;
    if (strcmp(word, "last") == 0)
        return al_agent_session_find(app, word, ret, err);
    if (!own && !al_id_valid(al_str_of(word), "ses")) {
        al_fail(err, AL_INVALID_INPUT, "%.80s is not the id of a session", word);
        return al_hint(err, "`alisio sessions list` shows the ids; `default` is the workspace's own, `last` "
                            "its newest conversation");
    }
    if (al_app_workspace(app, err) < 0 || al_app_store(app, err) < 0)
        return -1;
    if (!own)
        return al_store_session_get(app->store, word, ret, err);
    if (al_store_session_each(app->store, app->workspace, find_default, id, err) < 0)
        return -1;
    if (id[0])
        return al_store_session_get(app->store, id, ret, err);
    al_fail(err, AL_NOT_FOUND, "this workspace has no session yet");
    return al_hint(err, "the first run makes it; --cwd DIR looks into another workspace");
}

static void time_line(struct al_buf *out, const char *name, int64_t wall_ms)
{
    al_buf_addf(out, "%-10s ", name);
    al_say_time(out, wall_ms);
    al_buf_addc(out, '\n');
}

/* --- turns of a conversation --- */

struct turns {
    struct al_app *app;
    struct al_buf *out;
    struct al_jw *w;
    size_t n;
};

static void say_tokens(const char *usage, struct al_buf *out)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(64 << 10);
    const struct al_json *v;
    struct al_err ignored;
    int64_t in = 0, answer = 0;
    if (!usage || al_json_parse(&arena, al_str_of(usage), &v, &ignored) < 0)
        return;
    const char *least = al_json_is_true(al_json_get(v, "estimated")) ? "≥ " : "";
    if (al_json_int(al_json_get(v, "input"), 0, INT64_MAX, &in) &&
        al_json_int(al_json_get(v, "output"), 0, INT64_MAX, &answer))
        al_buf_addf(out, ", %s%lld tokens in, %s%lld out", least, (long long)in, least, (long long)answer);
}

static bool show_turn(void *ud, const struct al_turn *t)
{
    struct turns *x = ud;
    al_buf_addf(x->out, "%-10s ", x->n++ ? "" : "turns");
    al_say_time(x->out, t->created_ms);
    al_buf_addf(x->out, "  %s, ", t->status);
    al_say_foreign(x->app, x->out, al_str_of(t->model), false);
    al_buf_addf(x->out, ", %lld answer%s, %lld call%s", (long long)t->n_requests,
                t->n_requests == 1 ? "" : "s", (long long)t->n_calls, t->n_calls == 1 ? "" : "s");
    say_tokens(t->usage, x->out);
    if (t->error_code) {
        al_buf_addf(x->out, ": %s ", t->error_code);
        al_say_foreign(x->app, x->out, al_utf8_head(al_str_of(t->error_msg), 200), false);
    }
    al_buf_addc(x->out, '\n');
    al_jw_obj(x->w);
    al_jw_kstrz(x->w, "runId", t->id);
    al_jw_kstrz(x->w, "status", t->status);
    al_jw_kstrz(x->w, "provider", t->provider);
    al_jw_kstrz(x->w, "model", t->model);
    al_jw_kint(x->w, "requests", t->n_requests);
    al_jw_kint(x->w, "calls", t->n_calls);
    if (t->usage)
        al_jw_kraw(x->w, "usage", al_str_of(t->usage));
    if (t->error_code) {
        al_jw_kstrz(x->w, "code", t->error_code);
        al_jw_kstrz(x->w, "error", t->error_msg);
    }
    al_jw_ktime(x->w, "createdAt", t->created_ms);
    al_jw_ktime(x->w, "endedAt", t->ended_ms);
    al_jw_end(x->w);
    return true;
}

static int show_turns(struct al_app *app, const struct al_session *s, struct al_jw *w, struct al_reply *reply)
{
    struct turns x = {.app = app, .out = &reply->text, .w = w};
    if (strcmp(s->kind, "agent") != 0)
        return 0;
    al_jw_key(w, "turns");
    al_jw_arr(w);
    int r = al_turn_each(app->store, s->id, show_turn, &x, &reply->err);
    al_jw_end(w);
    if (r == 0)
        al_buf_addf(&reply->note,
                    "`alisio resume %s` goes on with it; `alisio sessions export %s` prints all of it\n",
                    s->id, s->id);
    return r;
}

static int show(struct al_app *app, const struct al_session *s, struct al_reply *reply)
{
    autobuf struct al_buf state = AL_BUF_INIT(32u << 20);
    autoarena struct al_arena arena = AL_ARENA_INIT(256u << 20);
    const struct al_json *v;
    struct al_jw w;
    struct al_buf *out = &reply->text;
    if (al_store_state_get(app->store, s->id, &state, &reply->err) < 0 ||
        al_json_parse(&arena, al_buf_str(&state), &v, &reply->err) < 0)
        return -1;
    al_buf_addf(out, "%-10s %s\n%-10s %s\n%-10s ", "session", s->id, "kind", s->kind, "workspace");
    al_say_foreign(app, out, al_str_of(s->workspace), false);
    al_buf_addc(out, '\n');
    time_line(out, "created", s->created_ms);
    time_line(out, "last used", s->updated_ms);
    al_buf_addf(out, "%-10s %lld\n%-10s %u keys, ", "runs", (long long)s->n_runs, "state", v->n);
    al_text_bytes(out, state.n);
    al_buf_addc(out, '\n');
    if (v->n) {
        al_say_json(app, out, v);
        al_buf_addc(out, '\n');
    }
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_key(&w, "session");
    session_json(&w, s);
    al_jw_kraw(&w, "state", al_buf_str(&state));
    int r = show_turns(app, s, &w, reply);
    al_jw_end(&w);
    return r;
}

int al_cmd_sessions_show(struct al_app *app, struct al_reply *reply)
{
    struct al_session s = {0};
    if (named_session(app, &s, &reply->err) < 0)
        return -1;
    int r = show(app, &s, reply);
    al_session_fini(&s);
    return r;
}

int al_cmd_sessions_rm(struct al_app *app, struct al_reply *reply)
{
    struct al_session s = {0};
    if (named_session(app, &s, &reply->err) < 0 || al_app_config(app, &reply->err) < 0)
        return al_session_fini(&s), -1;
    /* The rows first: they are kept, and so is the scratchpad, while a run of the session is live. */
    int r = al_store_session_delete(app->store, s.id, &reply->err);
    if (r == 0) {
        struct al_jw w;
        al_session_scratch_remove(app, s.workspace, s.id);
        al_buf_addf(&reply->text, "deleted %s\n", s.id);
        al_jw_init(&w, &reply->structured);
        al_jw_obj(&w);
        al_jw_kstrz(&w, "deleted", s.id);
        al_jw_end(&w);
    }
    al_session_fini(&s);
    return r;
}
