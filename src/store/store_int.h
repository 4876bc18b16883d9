/* What the files of this folder share. */
#ifndef AL_STORE_STORE_INT_H
#define AL_STORE_STORE_INT_H

#include "db/db.h"
#include "store/store.h"

struct al_store {
    struct al_db *db;
    char *dir, *hosts, *db_path; /* hosts: <dir>/hosts */
    char host_id[AL_ID_MAX];
    int lock_fd;
    bool batch; /* inside al_store_batch_begin and _end */
};

extern const char *const al_store_migrations[];
extern const int al_store_n_migrations;

/* Ours for life: a fresh id with its lock file. */
int al_store_host_start(struct al_store *s, struct al_err *err) AL_MUST_CHECK;
void al_store_host_end(struct al_store *s);
/* Forward to n, but not while another host lives: it may be an older one. */
int al_store_migrate(struct al_store *s, const char *const *migrations, int n,
                     struct al_err *err) AL_MUST_CHECK;
/* Any other host that lives? */
bool al_store_others_alive(struct al_store *s);
/* Closes what a host left open. Number of runs. */
int al_store_close_runs(struct al_store *s, const char *host_id, struct al_err *err) AL_MUST_CHECK;
/* BUSY when a run of the session (or of the workspace, or the one run) is live; what dead hosts left does not
 * count. */
int al_store_check_idle(struct al_store *s, const char *sql, const char *what,
                        struct al_err *err) AL_MUST_CHECK;
/* Code that no run needs any more. */
int al_store_drop_unused_code(struct al_store *s, struct al_err *err) AL_MUST_CHECK;

/* Nothing when the id, or the workspace's default session, is there. */
int al_store_session_insert(struct al_store *s, const char *id, const char *workspace, const char *kind,
                            const char *title, struct al_err *err) AL_MUST_CHECK;

/* A statement without rows, whose bindings are done. In a transaction of its own, synced, when asked. */
int al_store_write(struct al_store *s, struct al_stmt *q, struct al_err *err) AL_MUST_CHECK;
/* A transaction, but not within a batch, which is one. */
int al_store_begin(struct al_store *s, struct al_err *err) AL_MUST_CHECK;
/* Commits when r ≥ 0, else rolls back; r, or -1 when the commit fails. Within a batch, its end commits. */
int al_store_finish(struct al_store *s, int r, struct al_err *err) AL_MUST_CHECK;

/* Columns as owned text: NULL stays NULL. */
char *al_store_dup(struct al_stmt *q, int i);

#define AL_LIVE "status IN ('queued','running')"

#endif
