#include "cli/app.h"
#include "cli/commands.h"
#include "cli/run_text.h"
#include "cli/table.h"

#include "base/mem.h"
#include "base/text.h"

#include <string.h>

/* --- runs list --- */

struct listing {
    struct al_app *app;
    struct al_table table;
    struct al_jw w;
};

/* On a terminal the time for today and the date for before, so that there is room for titles. */
static void say_when(const struct al_app *app, struct al_buf *out, int64_t wall_ms)
{
    char then[AL_TIME_MAX], now[AL_TIME_MAX];
    if (!app->width || wall_ms <= 0) {
        al_say_time(out, wall_ms);
        return;
    }
    al_time_local(then, wall_ms);
    al_time_local(now, al_wall_ms());
    if (strncmp(then, now, 10) == 0)
        al_buf_adds(out, then + 11);
    else
        al_buf_add(out, then, 10);
}

static bool list_run(void *ud, const struct al_run *run)
{
    struct listing *l = ud;
    autobuf struct al_buf cell = AL_BUF_INIT(4096);
    al_table_add(&l->table, run->id);
    al_table_add_style(&l->table, run->status, al_run_style(run->status));
    say_when(l->app, &cell, run->created_ms);
    al_table_add_str(&l->table, al_buf_str(&cell));
    al_buf_clear(&cell);
    if (run->started_ms && run->ended_ms >= run->started_ms)
        al_text_duration(&cell, (uint64_t)(run->ended_ms - run->started_ms));
    al_table_add_str(&l->table, al_buf_str(&cell));
    if (run->title && *run->title)
        al_table_add(&l->table, run->title);
    else if (run->error_code)
        al_table_add(&l->table, run->error_code);
    else
        al_table_add_style(&l->table, run->kind, AL_DIM);
    al_run_json(&l->w, run);
    return true;
}

int al_cmd_runs_list(struct al_app *app, struct al_reply *reply)
{
    static const char *const heads[] = {"ID", "STATUS", "STARTED", "TOOK", "TITLE", NULL};
    struct listing l = {.app = app};
    if (al_app_workspace(app, &reply->err) < 0 || al_app_store(app, &reply->err) < 0)
        return -1;
    struct al_run_filter filter = {.workspace = app->workspace,
                                   .session = app->args.value[AL_FLAG_SESSION],
                                   .failed_only = al_args_has(&app->args, AL_FLAG_FAILED)};
    if (al_args_has(&app->args, AL_FLAG_LIMIT))
        filter.limit = app->args.number[AL_FLAG_LIMIT] ? (int)app->args.number[AL_FLAG_LIMIT] : INT32_MAX;
    al_table_init(&l.table, heads);
    l.table.fixed = 1u | 1u << 1 | 1u << 2 | 1u << 3;
    l.table.right = 1u << 3;
    al_jw_init(&l.w, &reply->structured);
    al_jw_obj(&l.w);
    al_jw_key(&l.w, "runs");
    al_jw_arr(&l.w);
    int r = al_store_run_each(app->store, &filter, list_run, &l, &reply->err);
    al_jw_end(&l.w);
    al_jw_end(&l.w);
    if (l.table.n_cells == 0)
        al_buf_adds(&reply->text,
                    filter.failed_only ? "no run failed\n" : "nothing has run in this workspace yet\n");
    al_table_print(app, &l.table, &reply->text);
    al_table_free(&l.table);
    return r;
}

/* --- runs cancel --- */

#define MAX_LIVE 256

struct live {
    char id[MAX_LIVE][AL_ID_MAX];
    size_t n;
};

static bool collect_live(void *ud, const struct al_run *run)
{
    struct live *live = ud;
    memcpy(live->id[live->n++], run->id, AL_ID_MAX);
    return live->n < MAX_LIVE;
}

/* A run that ended by itself in the meantime is none that could not be stopped. */
static int cancel_all(struct al_app *app, struct al_reply *reply, struct al_jw *w)
{
    struct al_run_filter filter = {.workspace = app->workspace,
                                   .session = app->args.value[AL_FLAG_SESSION],
                                   .live_only = true,
                                   .limit = MAX_LIVE};
    struct live *live = al_xcalloc(1, sizeof *live);
    int r = al_store_run_each(app->store, &filter, collect_live, live, &reply->err);
    for (size_t i = 0; r == 0 && i < live->n; i++) {
        struct al_err err = {0};
        if (al_control_cancel(app->store, live->id[i], &err) == 0) {
            al_buf_addf(&reply->text, "cancelled %s\n", live->id[i]);
            al_jw_strz(w, live->id[i]);
        } else if (err.code != AL_NOT_FOUND) {
            reply->err = err;
            al_wrap(&reply->err, "%s", live->id[i]);
        }
    }
    if (r == 0 && live->n == 0)
        al_buf_adds(&reply->text, "nothing is running in this workspace\n");
    free(live);
    return r < 0 || reply->err.code != AL_OK ? -1 : 0;
}

static int cancel_one(struct al_app *app, struct al_reply *reply, struct al_jw *w)
{
    struct al_run run = {0};
    if (al_app_run_id(app, app->args.pos[0], &run, &reply->err) < 0)
        return -1;
    int r = al_control_cancel(app->store, run.id, &reply->err);
    if (r == 0) {
        al_buf_addf(&reply->text, "cancelled %s\n", run.id);
        al_jw_strz(w, run.id);
    }
    al_run_fini(&run);
    return r;
}

int al_cmd_runs_cancel(struct al_app *app, struct al_reply *reply)
{
    bool all = al_args_has(&app->args, AL_FLAG_ALL);
    struct al_jw w;
    if (all == (app->args.n_pos > 0)) {
        al_fail(&reply->err, AL_INVALID_INPUT,
                all ? "--all and an id exclude each other" : "which run is to stop?");
        return al_hint(&reply->err, "give an EXEC_ID, `last`, or --all; `alisio runs list` shows what runs");
    }
    if (al_app_workspace(app, &reply->err) < 0 || al_app_store(app, &reply->err) < 0)
        return -1;
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_key(&w, "cancelled");
    al_jw_arr(&w);
    int r = all ? cancel_all(app, reply, &w) : cancel_one(app, reply, &w);
    al_jw_end(&w);
    al_jw_end(&w);
    return r;
}

/* --- runs rm --- */

int al_cmd_runs_rm(struct al_app *app, struct al_reply *reply)
{
    struct al_run run = {0};
    if (strcmp(app->args.pos[0], "last") == 0) {
        al_fail(&reply->err, AL_INVALID_INPUT, "`runs rm` wants the id of a run, not `last`");
        return al_hint(&reply->err, "`alisio runs list` shows the ids");
    }
    if (al_app_run_id(app, app->args.pos[0], &run, &reply->err) < 0)
        return -1;
    int r = al_store_run_delete(app->store, run.id, &reply->err);
    if (r == 0) {
        struct al_jw w;
        al_buf_addf(&reply->text, "deleted %s\n", run.id);
        al_jw_init(&w, &reply->structured);
        al_jw_obj(&w);
        al_jw_kstrz(&w, "deleted", run.id);
        al_jw_end(&w);
    }
    al_run_fini(&run);
    return r;
}
