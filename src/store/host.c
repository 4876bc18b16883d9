/* Who is alive, and what those who died left behind. */
#include "store/conversation_int.h"

#include "base/mem.h"
#include "os/fd.h"
#include "os/lock.h"
#include "os/temps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define ULID_LEN 26

static char *host_path(const struct al_store *s, const char *host_id, const char *suffix)
{
    struct al_buf b = AL_BUF_INIT(8192);
    al_buf_addf(&b, "%s/%s%s", s->hosts, host_id, suffix);
    char *path = al_buf_take(&b);
    return path ? path : al_xstrdup("");
}

char *al_store_socket_path(const struct al_store *s, const char *host_id)
{
    return host_path(s, host_id, ".sock");
}

/* Ids become file names: nothing else than a ULID may. */
static bool valid_host(const char *id)
{
    return strlen(id) == ULID_LEN && strspn(id, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == ULID_LEN;
}

int al_store_host_start(struct al_store *s, struct al_err *err)
{
    for (int i = 0; i < 100; i++) {
        al_id_new(s->host_id, "");
        autofree char *path = host_path(s, s->host_id, ".lock");
        int r = al_lock_try(path, &s->lock_fd, err);
        if (r < 0)
            return -1;
        if (r == 1) {
            autofree char *temps = host_path(s, s->host_id, ".temps");
            al_temps_begin(temps);
            return 0;
        }
        /* Somebody who looks for dead hosts met the file between its making and its locking: it removes it.
         */
    }
    return al_fail(err, AL_INTERNAL, "the lock of this process cannot be taken");
}

void al_store_host_end(struct al_store *s)
{
    if (s->lock_fd < 0)
        return;
    autofree char *lock = host_path(s, s->host_id, ".lock");
    autofree char *sock = host_path(s, s->host_id, ".sock");
    autofree char *temps = host_path(s, s->host_id, ".temps");
    al_temps_end(temps);
    unlink(sock);
    unlink(lock);
    al_close(&s->lock_fd);
}

bool al_store_host_alive(const struct al_store *s, const char *host_id)
{
    if (!valid_host(host_id))
        return false;
    if (strcmp(host_id, s->host_id) == 0)
        return s->lock_fd >= 0;
    autofree char *path = host_path(s, host_id, ".lock");
    int r = al_lock_is_free(path);
    /* 0 is "held" and "no such file". An error (no permission, no descriptor left) tells nothing: alive, to
     * be safe. */
    return r < 0 || (r == 0 && access(path, F_OK) == 0);
}

/* Calls fn for each host that has a file of that kind, but not for ourselves. */
static void each_host(const struct al_store *s, const char *suffix, void (*fn)(void *ud, const char *host_id),
                      void *ud)
{
    DIR *dir = opendir(s->hosts);
    if (!dir)
        return;
    for (struct dirent *e; (e = readdir(dir));) {
        char id[ULID_LEN + 1];
        if (strlen(e->d_name) <= ULID_LEN || strcmp(e->d_name + ULID_LEN, suffix) != 0)
            continue;
        memcpy(id, e->d_name, ULID_LEN);
        id[ULID_LEN] = '\0';
        if (valid_host(id) && strcmp(id, s->host_id) != 0)
            fn(ud, id);
    }
    closedir(dir);
}

struct others {
    const struct al_store *s;
    bool alive;
};

static void note_alive(void *ud, const char *host_id)
{
    struct others *o = ud;
    if (!o->alive)
        o->alive = al_store_host_alive(o->s, host_id);
}

bool al_store_others_alive(struct al_store *s)
{
    struct others o = {s, false};
    each_host(s, ".lock", note_alive, &o);
    return o.alive;
}

static int close_calls(struct al_store *s, const char *host_id, int64_t now, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "UPDATE calls SET status='interrupted', code=coalesce(code,'INTERRUPTED'), ended_ms=?2 "
                      "WHERE status='running' AND run IN (SELECT id FROM runs WHERE host_id=?1 AND " AL_LIVE
                      ")",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, host_id);
    al_bind_int(q, 2, now);
    return al_store_write(s, q, err);
}

static int close_in_tx(struct al_store *s, const char *host_id, struct al_err *err)
{
    int64_t now = al_wall_ms();
    if (close_calls(s, host_id, now, err) < 0)
        return -1;
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "UPDATE runs SET status='interrupted', error_code='INTERRUPTED', "
                      "error_msg='the process that ran it ended', ended_ms=?2 WHERE host_id=?1 AND " AL_LIVE,
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, host_id);
    al_bind_int(q, 2, now);
    if (al_store_write(s, q, err) < 0)
        return -1;
    int n = (int)al_db_changes(s->db);
    return al_turn_close_host(s, host_id, now, err) < 0 ? -1 : n;
}

static int has_live(struct al_store *s, const char *host_id, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "SELECT 1 WHERE EXISTS (SELECT 1 FROM runs WHERE host_id=?1 AND " AL_LIVE ") OR EXISTS "
                      "(SELECT 1 FROM turns WHERE host_id=?1 AND status='running') OR EXISTS "
                      "(SELECT 1 FROM session_locks WHERE host_id=?1)",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, host_id);
    int r = al_step(q, err);
    al_stmt_reset(q);
    return r;
}

int al_store_close_runs(struct al_store *s, const char *host_id, struct al_err *err)
{
    /* Looked at first without the write lock: nearly always there is nothing. */
    int r = has_live(s, host_id, err);
    if (r <= 0)
        return r;
    if (al_db_begin(s->db, false, err) < 0)
        return -1;
    return al_store_finish(s, close_in_tx(s, host_id, err), err);
}

struct recovery {
    struct al_store *s;
    struct al_err *err;
    int n; /* runs closed, or -1 */
};

/*
 * The lock is held while the rows are closed and the files go: of several that recover at once, one does it.
 * A host id is never used twice, so that a removed lock file cannot come to mean somebody else.
 */
static void bury(void *ud, const char *host_id)
{
    struct recovery *rec = ud;
    autofree char *lock = host_path(rec->s, host_id, ".lock");
    autofree char *sock = host_path(rec->s, host_id, ".sock");
    autofd int fd = -1;
    if (rec->n < 0 || al_lock_try(lock, &fd, NULL) != 1)
        return;
    int r = al_store_close_runs(rec->s, host_id, rec->err);
    if (r < 0) {
        rec->n = -1;
        return;
    }
    rec->n += r;
    autofree char *temps = host_path(rec->s, host_id, ".temps");
    al_temps_recover(temps);
    unlink(sock);
    unlink(lock);
}

static void drop_socket(void *ud, const char *host_id)
{
    struct recovery *rec = ud;
    /* A host makes its lock before its socket: without a lock it is nobody's. */
    autofree char *lock = host_path(rec->s, host_id, ".lock");
    autofree char *sock = host_path(rec->s, host_id, ".sock");
    if (access(lock, F_OK) < 0 && errno == ENOENT)
        unlink(sock);
}

/* Only what can be an id: nothing else that another program wrote there. */
#define AFTER "host_id>?1 AND typeof(host_id)='text' AND length(host_id)<40"

/* Runs and turns whose host has no lock file at all. One id per call: a list of them would have to be
 * bounded. */
static int next_orphan(struct al_store *s, const char *after, char out[AL_ID_MAX], struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "SELECT min(h) FROM (SELECT min(host_id) AS h FROM runs WHERE " AFTER " AND " AL_LIVE
                      " UNION ALL SELECT min(host_id) FROM turns WHERE " AFTER " AND status='running'"
                      " UNION ALL SELECT min(host_id) FROM session_locks WHERE " AFTER ")",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, after);
    if (al_step(q, err) < 0)
        return -1;
    bool there = !al_col_is_null(q, 0);
    if (there)
        snprintf(out, AL_ID_MAX, "%.*s", AL_FMT(al_col_text(q, 0)));
    al_stmt_reset(q);
    /* What does not come after the last one would come again and again. */
    return there && strcmp(out, after) > 0;
}

int al_store_recover(struct al_store *s, struct al_err *err)
{
    struct recovery rec = {s, err, 0};
    each_host(s, ".lock", bury, &rec);
    if (rec.n < 0)
        return -1;
    each_host(s, ".sock", drop_socket, &rec);
    char at[AL_ID_MAX] = "", next[AL_ID_MAX];
    int r;
    while ((r = next_orphan(s, at, next, err)) == 1) {
        memcpy(at, next, sizeof at);
        if (strcmp(at, s->host_id) == 0 || al_store_host_alive(s, at))
            continue;
        int n = al_store_close_runs(s, at, err);
        if (n < 0)
            return -1;
        rec.n += n;
    }
    return r < 0 ? -1 : rec.n;
}
