/* Rows of datasets. Their files are dataset_file.c's. */
#include "store/dataset_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define COLS                                                                                            \
    "SELECT id, session, workspace, name, format, sha256, options, bytes, source_bytes, n_rows,"        \
    " source_path, source_dev, source_ino, source_size, source_mtime_ns, source_ctime_ns, db_rel_path," \
    " ingest_version, created_ms, used_ms, sheets FROM datasets "
#define LIST_COLS                                                                                       \
    "SELECT id, session, workspace, name, format, sha256, options, bytes, source_bytes, n_rows,"        \
    " source_path, source_dev, source_ino, source_size, source_mtime_ns, source_ctime_ns, db_rel_path," \
    " ingest_version, created_ms, used_ms, NULL FROM datasets "
/* Files that go with their rows at a time. */
#define PURGE_BATCH 20
#define USE_NOTED_MS (10 * 60 * (int64_t)1000)

void al_dataset_row_fini(struct al_dataset_row *d)
{
    free(d->workspace);
    free(d->name);
    free(d->format);
    free(d->sha256);
    free(d->options);
    free(d->source_path);
    free(d->rel_path);
    free(d->sheets);
    *d = (struct al_dataset_row){0};
}

static void read_row(struct al_stmt *q, struct al_dataset_row *d)
{
    *d = (struct al_dataset_row){
        .workspace = al_store_dup(q, 2),
        .name = al_store_dup(q, 3),
        .format = al_store_dup(q, 4),
        .sha256 = al_store_dup(q, 5),
        .options = al_store_dup(q, 6),
        .bytes = al_col_int(q, 7),
        .source_bytes = al_col_int(q, 8),
        .n_rows = al_col_int(q, 9),
        .source_path = al_store_dup(q, 10),
        .source = {al_col_int(q, 11), al_col_int(q, 12), al_col_int(q, 13), al_col_int(q, 14),
                   al_col_int(q, 15)},
        .rel_path = al_store_dup(q, 16),
        .ingest_version = al_col_int(q, 17),
        .created_ms = al_col_int(q, 18),
        .used_ms = al_col_int(q, 19),
        .sheets = al_store_dup(q, 20),
    };
    snprintf(d->id, sizeof d->id, "%.*s", AL_FMT(al_col_text(q, 0)));
    snprintf(d->session, sizeof d->session, "%.*s", AL_FMT(al_col_text(q, 1)));
}

/* 1 found, 0 not, -1. */
static int take_one(struct al_stmt *q, struct al_dataset_row *ret, struct al_err *err)
{
    int r = al_step(q, err);
    if (r == 1) {
        read_row(q, ret);
        al_stmt_reset(q);
    }
    return r;
}

static int not_found(const char *id, struct al_err *err)
{
    al_fail(err, AL_NOT_FOUND, "there is no dataset %.60s in this workspace", id);
    return al_hint(err, "data_inspect with a path makes one; `alisio data list` shows those that are there");
}

int al_store_dataset_get(struct al_store *s, const char *id, const char *workspace,
                         struct al_dataset_row *ret, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, COLS "WHERE id=?1 AND (?2 IS NULL OR workspace=?2)", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    if (workspace)
        al_bind_textz(q, 2, workspace);
    else
        al_bind_null(q, 2);
    int r = take_one(q, ret, err);
    if (r == 0)
        return not_found(id, err);
    return r < 0 ? -1 : 0;
}

int al_store_dataset_find(struct al_store *s, const char *session, const char *options,
                          int64_t ingest_version, const struct al_file_identity *source,
                          struct al_dataset_row *ret, struct al_err *err)
{
    struct al_stmt *q;
    if (source->ino == 0)
        return 0;
    if (al_db_prepare(s->db,
                      COLS "WHERE session=?1 AND source_ino=?2 AND source_dev=?3 AND source_size=?4 AND "
                           "source_mtime_ns=?5 AND source_ctime_ns=?6 AND options=?7 AND ingest_version=?8 "
                           "ORDER BY seq DESC LIMIT 1",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, session);
    al_bind_int(q, 2, source->ino);
    al_bind_int(q, 3, source->dev);
    al_bind_int(q, 4, source->size);
    al_bind_int(q, 5, source->mtime_ns);
    al_bind_int(q, 6, source->ctime_ns);
    al_bind_textz(q, 7, options);
    al_bind_int(q, 8, ingest_version);
    return take_one(q, ret, err);
}

static int find_content(struct al_store *s, const struct al_dataset_row *d, struct al_dataset_row *ret,
                        struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      COLS "WHERE session=?1 AND sha256=?2 AND options=?3 AND format=?4 AND "
                           "ingest_version=?5 ORDER BY seq DESC LIMIT 1",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, d->session);
    al_bind_textz(q, 2, d->sha256);
    al_bind_textz(q, 3, d->options);
    al_bind_textz(q, 4, d->format);
    al_bind_int(q, 5, d->ingest_version);
    return take_one(q, ret, err);
}

/* Where the content was last seen: the next look at that file needs no reading. */
static int note_source(struct al_store *s, const char *id, const struct al_dataset_row *seen,
                       struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db,
                      "UPDATE datasets SET source_path=?2, source_dev=?3, source_ino=?4, source_size=?5, "
                      "source_mtime_ns=?6, source_ctime_ns=?7, used_ms=?8 WHERE id=?1",
                      &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    al_bind_text(q, 2, al_str_of(seen->source_path));
    al_bind_int(q, 3, seen->source.dev);
    al_bind_int(q, 4, seen->source.ino);
    al_bind_int(q, 5, seen->source.size);
    al_bind_int(q, 6, seen->source.mtime_ns);
    al_bind_int(q, 7, seen->source.ctime_ns);
    al_bind_int(q, 8, al_wall_ms());
    return al_store_write(s, q, err);
}

static int insert(struct al_store *s, const struct al_dataset_row *d, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db,
            "INSERT INTO datasets(id, session, workspace, name, format, sha256, options, bytes, "
            "source_bytes, n_rows, source_path, source_dev, source_ino, source_size, source_mtime_ns, "
            "source_ctime_ns, db_rel_path, ingest_version, created_ms, used_ms, sheets) "
            "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21)",
            &q, err) < 0)
        return -1;
    const char *const texts[] = {d->id, d->session, d->workspace, d->name, d->format, d->sha256, d->options};
    for (int i = 0; i < 7; i++)
        al_bind_textz(q, i + 1, texts[i]);
    al_bind_int(q, 8, d->bytes);
    al_bind_int(q, 9, d->source_bytes);
    al_bind_int(q, 10, d->n_rows);
    al_bind_text(q, 11, al_str_of(d->source_path));
    al_bind_int(q, 12, d->source.dev);
    al_bind_int(q, 13, d->source.ino);
    al_bind_int(q, 14, d->source.size);
    al_bind_int(q, 15, d->source.mtime_ns);
    al_bind_int(q, 16, d->source.ctime_ns);
    al_bind_textz(q, 17, d->rel_path);
    al_bind_int(q, 18, d->ingest_version);
    al_bind_int(q, 19, d->created_ms);
    al_bind_int(q, 20, d->used_ms);
    al_bind_textz(q, 21, d->sheets ? d->sheets : "[]");
    return al_store_write(s, q, err);
}

int al_store_dataset_usage(struct al_store *s, const char *workspace, int64_t *ret_n, int64_t *ret_bytes,
                           struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(
            s->db, "SELECT count(*), coalesce(sum(bytes),0) FROM datasets WHERE ?1 IS NULL OR workspace=?1",
            &q, err) < 0)
        return -1;
    if (workspace)
        al_bind_textz(q, 1, workspace);
    else
        al_bind_null(q, 1);
    if (al_step(q, err) < 0)
        return -1;
    *ret_n = al_col_int(q, 0);
    *ret_bytes = al_col_int(q, 1);
    al_stmt_reset(q);
    return 0;
}

static int check_quota(struct al_store *s, int64_t more, uint64_t max_bytes, struct al_err *err)
{
    int64_t n, used;
    if (al_store_dataset_usage(s, NULL, &n, &used, err) < 0)
        return -1;
    if ((uint64_t)used + (uint64_t)more <= max_bytes)
        return 0;
    autobuf struct al_buf a = AL_BUF_INIT(64), b = AL_BUF_INIT(64), c = AL_BUF_INIT(64);
    al_text_bytes(&a, (uint64_t)more);
    al_text_bytes(&b, (uint64_t)used);
    al_text_bytes(&c, max_bytes);
    al_fail(err, AL_QUOTA_EXCEEDED, "the dataset needs %.*s; %.*s of the %.*s for datasets are used",
            AL_FMT(al_buf_str(&a)), AL_FMT(al_buf_str(&b)), AL_FMT(al_buf_str(&c)));
    return al_hint(err,
                   "`alisio data list` and `alisio data rm ds_ID` make room, or a larger storage.maxBytes");
}

static int add_in_tx(struct al_store *s, struct al_dataset_row *d, struct al_dataset_file *f,
                     uint64_t max_bytes, struct al_dataset_row *ret_same, struct al_err *err)
{
    int r = find_content(s, d, ret_same, err);
    if (r != 0)
        return r < 0 || note_source(s, ret_same->id, d, err) < 0 ? -1 : 1;
    if (check_quota(s, d->bytes, max_bytes, err) < 0 || insert(s, d, err) < 0)
        return -1;
    return al_dataset_file_name(f, d->id, err);
}

int al_store_dataset_add(struct al_store *s, struct al_dataset_row *d, struct al_dataset_file *f,
                         uint64_t max_bytes, struct al_err *err)
{
    struct stat st;
    struct al_dataset_row same = {0};
    if (fstat(f->fd, &st) < 0)
        return al_fail(err, AL_INTERNAL, "the dataset's file cannot be looked at");
    al_id_new(d->id, "ds_");
    d->bytes = (int64_t)st.st_size;
    d->created_ms = d->used_ms = al_wall_ms();
    free(d->rel_path);
    struct al_buf rel = AL_BUF_INIT(4096);
    al_buf_addf(&rel, "%s/%s.sqlite", f->rel_dir, d->id);
    d->rel_path = al_buf_take(&rel);
    if (!d->rel_path || al_db_begin(s->db, false, err) < 0)
        return -1;
    int r = al_store_finish(s, add_in_tx(s, d, f, max_bytes, &same, err), err);
    if (r < 0)
        al_dataset_file_unname(f, d->id);
    if (r == 1) {
        al_dataset_row_fini(d);
        *d = same;
    } else {
        al_dataset_row_fini(&same);
    }
    return r;
}

/* One statement per scope, so that each walks its own index from where it is to begin, newest first. */
#define LIST(where)                                                                             \
    LIST_COLS "WHERE " where " AND (?1 IS NULL OR workspace=?1) AND (?2 IS NULL OR session=?2)" \
              " AND seq <= coalesce((SELECT seq - 1 FROM datasets WHERE id=?3),"                \
              " (SELECT seq FROM datasets WHERE id<?3 ORDER BY id DESC LIMIT 1),"               \
              " CASE WHEN ?3 IS NULL THEN 9223372036854775807 END) ORDER BY seq DESC LIMIT ?4"

static const char *list_sql(const struct al_dataset_filter *f)
{
    if (f->session)
        return LIST("session=?2");
    return f->workspace ? LIST("workspace=?1") : LIST("true");
}

int al_store_dataset_each(struct al_store *s, const struct al_dataset_filter *f,
                          bool (*fn)(void *ud, const struct al_dataset_row *), void *ud, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, list_sql(f), &q, err) < 0)
        return -1;
    al_bind_text(q, 1, al_str_of(f->workspace));
    al_bind_text(q, 2, al_str_of(f->session));
    al_bind_text(q, 3, al_str_of(f->before));
    al_bind_int(q, 4, f->limit > 0 ? f->limit : -1);
    int r;
    while ((r = al_step(q, err)) == 1) {
        struct al_dataset_row d;
        read_row(q, &d);
        bool more = fn(ud, &d);
        al_dataset_row_fini(&d);
        if (!more) {
            al_stmt_reset(q);
            return 0;
        }
    }
    return r;
}

static int delete_row(struct al_store *s, const char *id, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "DELETE FROM datasets WHERE id=?1", &q, err) < 0)
        return -1;
    al_bind_textz(q, 1, id);
    return al_store_write(s, q, err);
}

/* The row first: a file without one is swept, a row without one would mislead. */
int al_store_dataset_delete(struct al_store *s, const char *id, struct al_err *err)
{
    struct al_dataset_row d = {0};
    if (al_store_dataset_get(s, id, NULL, &d, err) < 0)
        return -1;
    int r = delete_row(s, id, err);
    if (r == 0)
        al_dataset_file_remove(s, d.rel_path);
    al_dataset_row_fini(&d);
    return r;
}

int al_store_dataset_open(struct al_store *s, const struct al_dataset_row *d, int *ret_fd, struct al_err *err)
{
    int64_t now = al_wall_ms();
    int fd = -1, r = al_dataset_file_open(s, d->rel_path, d->bytes, &fd);
    if (r < 0)
        return al_fail(err, AL_INTERNAL, "the file of dataset %s cannot be opened", d->id);
    if (r == 0) {
        if (delete_row(s, d->id, err) < 0)
            return -1;
        al_dataset_file_remove(s, d->rel_path);
        al_fail(err, AL_NOT_FOUND, "the file of dataset %s has gone", d->id);
        return al_hint(err, "inspect its source again: data_inspect with the path");
    }
    if (now - d->used_ms >= USE_NOTED_MS || now < d->used_ms) {
        struct al_stmt *q;
        futimens(fd, NULL);
        if (al_db_prepare(s->db, "UPDATE datasets SET used_ms=?2 WHERE id=?1", &q, err) == 0) {
            al_bind_textz(q, 1, d->id);
            al_bind_int(q, 2, now);
            if (al_store_write(s, q, err) < 0)
                al_err_clear(err); /* a use that is not noted is no reason not to read */
        }
    }
    *ret_fd = fd;
    return 0;
}

struct batch {
    char id[PURGE_BATCH][AL_ID_MAX];
    int n;
};

static int old_ones(struct al_store *s, int64_t cutoff_ms, struct batch *b, struct al_err *err)
{
    struct al_stmt *q;
    if (al_db_prepare(s->db, "SELECT id FROM datasets WHERE used_ms<?1 LIMIT ?2", &q, err) < 0)
        return -1;
    al_bind_int(q, 1, cutoff_ms);
    al_bind_int(q, 2, PURGE_BATCH);
    int r;
    b->n = 0;
    while ((r = al_step(q, err)) == 1)
        snprintf(b->id[b->n++], AL_ID_MAX, "%.*s", AL_FMT(al_col_text(q, 0)));
    return r;
}

int al_store_dataset_purge_before(struct al_store *s, int64_t cutoff_ms, struct al_err *err)
{
    int total = 0;
    struct batch b;
    do {
        if (old_ones(s, cutoff_ms, &b, err) < 0)
            return -1;
        for (int i = 0; i < b.n; i++) {
            if (al_store_dataset_delete(s, b.id[i], err) == 0)
                total++;
            else if (err && err->code != AL_NOT_FOUND)
                return -1;
        }
    } while (b.n == PURGE_BATCH);
    return total;
}

int al_dataset_ids(struct al_store *s, struct al_dataset_ids *ret, struct al_err *err)
{
    struct al_stmt *q;
    struct al_dataset_ids all = {0};
    size_t room = 0;
    int r;
    if (al_db_prepare(s->db, "SELECT id FROM datasets ORDER BY id", &q, err) < 0)
        return -1;
    while ((r = al_step(q, err)) == 1) {
        if (all.n == room) {
            room = room ? 2 * room : 256;
            all.id = al_xrealloc(all.id, room * sizeof *all.id);
        }
        snprintf(all.id[all.n++], AL_ID_MAX, "%.*s", AL_FMT(al_col_text(q, 0)));
    }
    if (r < 0) {
        free(all.id);
        all = (struct al_dataset_ids){0};
    }
    *ret = all;
    return r;
}
