#include "store/store_int.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/lock.h"
#include "os/path.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define START_WAIT_MS 5000

static char *join(const char *dir, const char *name)
{
    struct al_buf b = AL_BUF_INIT(8192);
    al_buf_addf(&b, "%s/%s", dir, name);
    return al_buf_take(&b);
}

/*
 * Only one process at a time is between "is my schema the file's?" and "my lock is there to see": so a
 * migration never runs past an older host that is just starting.
 */
static int start_lock(struct al_store *s, int *ret_fd, struct al_err *err)
{
    autofree char *path = join(s->hosts, "start.lock");
    uint64_t end = al_mono_ms() + START_WAIT_MS;
    for (;;) {
        int r = al_lock_try(path, ret_fd, err);
        if (r < 0)
            return -1;
        if (r == 1)
            return 0;
        if (al_mono_ms() > end) {
            al_fail(err, AL_BUSY, "another process is starting and does not finish");
            return al_hint(err, "is one stopped? `alisio doctor` lists them");
        }
        struct timespec nap = {0, 500000};
        nanosleep(&nap, NULL);
    }
}

int al_store_migrate(struct al_store *s, const char *const *migrations, int n, struct al_err *err)
{
    int v;
    if (al_db_version(s->db, &v, err) < 0)
        return -1;
    if (v > 0 && v < n && al_store_others_alive(s)) {
        al_fail(err, AL_BUSY, "the state must be brought up to date, and another alisio still uses it");
        return al_hint(
            err,
            "end the other alisio processes (clients that keep `alisio mcp` running, too), then try again");
    }
    return al_db_migrate(s->db, migrations, n, err);
}

static int open_dir(struct al_store *s, const char *dir, struct al_err *err)
{
    if (al_path_private_dir(dir, err) < 0)
        return al_wrap(err, "the state folder");
    s->dir = al_path_real(dir, err);
    if (!s->dir)
        return -1;
    s->hosts = join(s->dir, "hosts");
    if (!s->hosts)
        return al_fail(err, AL_INVALID_INPUT, "the path of the state folder is too long");
    if (al_path_private_dir(s->hosts, err) < 0)
        return al_wrap(err, "the state folder's hosts");
    return 0;
}

static int open_db(struct al_store *s, const char *db_path, struct al_err *err)
{
    s->db_path = db_path ? al_xstrdup(db_path) : join(s->dir, "sessions.sqlite");
    if (!s->db_path)
        return al_fail(err, AL_INVALID_INPUT, "the path of the state folder is too long");
    struct al_db_opts opts = {.network_fs = al_fs_is_network(s->db_path)};
    return al_db_open(s->db_path, &opts, &s->db, err);
}

static int start(struct al_store *s, const char *dir, const char *db_path, struct al_err *err)
{
    autofd int starting = -1;
    if (open_dir(s, dir, err) < 0 || start_lock(s, &starting, err) < 0 || al_store_host_start(s, err) < 0 ||
        open_db(s, db_path, err) < 0 ||
        al_store_migrate(s, al_store_migrations, al_store_n_migrations, err) < 0)
        return -1;
    al_close(&starting);
    return al_store_recover(s, err) < 0 ? -1 : 0;
}

int al_store_open(const char *dir, const char *db_path, struct al_store **ret, struct al_err *err)
{
    struct al_store *s = al_xcalloc(1, sizeof *s);
    s->lock_fd = -1;
    if (start(s, dir, db_path, err) < 0) {
        /* Before the schema is known to be ours no row may be touched. */
        al_db_close(s->db);
        s->db = NULL;
        al_store_close(s);
        return -1;
    }
    *ret = s;
    return 0;
}

void al_store_close(struct al_store *s)
{
    if (!s)
        return;
    /* What the owner left open ends now; a failure here is what the next start repairs. */
    if (s->db && al_store_close_runs(s, s->host_id, NULL) < 0)
        al_db_rollback(s->db);
    al_db_close(s->db);
    al_store_host_end(s);
    free(s->dir);
    free(s->hosts);
    free(s->db_path);
    free(s);
}

const char *al_store_dir(const struct al_store *s)
{
    return s->dir;
}

const char *al_store_host_id(const struct al_store *s)
{
    return s->host_id;
}

const char *al_store_db_path(const struct al_store *s)
{
    return s->db_path;
}

int al_store_lock_fd(const struct al_store *s)
{
    return s->lock_fd;
}

void al_store_checkpoint(struct al_store *s)
{
    al_db_checkpoint(s->db);
}

int al_store_begin(struct al_store *s, struct al_err *err)
{
    return s->batch ? 0 : al_db_begin(s->db, false, err);
}

int al_store_batch_begin(struct al_store *s, struct al_err *err)
{
    if (al_db_begin(s->db, false, err) < 0)
        return -1;
    s->batch = true;
    return 0;
}

int al_store_batch_end(struct al_store *s, struct al_err *err)
{
    s->batch = false;
    return al_db_commit(s->db, err);
}

int al_store_finish(struct al_store *s, int r, struct al_err *err)
{
    if (s->batch)
        return r;
    if (r < 0) {
        al_db_rollback(s->db);
        return r;
    }
    return al_db_commit(s->db, err) < 0 ? -1 : r;
}

int al_store_write(struct al_store *s, struct al_stmt *q, struct al_err *err)
{
    (void)s;
    int r = al_step(q, err);
    if (r == 1)
        al_stmt_reset(q);
    return r < 0 ? -1 : 0;
}

char *al_store_dup(struct al_stmt *q, int i)
{
    if (al_col_is_null(q, i))
        return NULL;
    struct al_str v = al_col_text(q, i);
    return al_xdup(v.p, v.n);
}
