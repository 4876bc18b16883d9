/* Making datasets: what is there is used again, what is being made is waited for, and else a worker reads the
 * file. */
#include "tools/data_int.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <unistd.h>

/* A file that was written this shortly ago may be written again within the same tick of its clock: what fstat
 * says then does not tell the two apart, and only its content does. */
#define RACY_MS 200

struct al_data_ingest {
    struct al_core *core;
    struct al_data_ingest *next;
    struct al_file_identity source;
    char *options;
    bool cancelled; /* nobody waits for it any more, but the last who did */
    char session[AL_ID_MAX];
    struct al_dataset_file file;
    struct al_dataset_row row; /* as far as it is known */
    struct al_ingest *run;     /* NULL: it has ended */
    struct al_buf json;        /* what it said of the dataset, until that is read on the pool */
    bool told;                 /* whoever comes now comes too late */
    struct al_data_waiter *waiters;
    uint64_t total;
};

static struct al_data_ingest *running; /* of all cores of this process; the loop's thread only */

static struct al_file_identity identity_of(const struct stat *st)
{
    return (struct al_file_identity){
        .dev = (int64_t)st->st_dev,
        .ino = (int64_t)st->st_ino,
        .size = (int64_t)st->st_size,
        .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
        .ctime_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec,
    };
}

static bool same_identity(const struct al_file_identity *a, const struct al_file_identity *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mtime_ns == b->mtime_ns &&
           a->ctime_ns == b->ctime_ns;
}

static void ingest_free(struct al_data_ingest *i)
{
    for (struct al_data_ingest **at = &running; *at; at = &(*at)->next) {
        if (*at == i) {
            *at = i->next;
            break;
        }
    }
    al_store_dataset_file_drop(&i->file);
    al_dataset_row_fini(&i->row);
    al_buf_free(&i->json);
    free(i->options);
    free(i);
}

/* One waiter may make another leave: so each is taken off before it is told. */
static void tell(struct al_data_ingest *i, bool reused, const struct al_err *err)
{
    i->told = true;
    for (struct al_data_waiter *w; (w = i->waiters);) {
        i->waiters = w->next;
        w->ingest = NULL;
        w->done(w->ud, err ? NULL : &i->row, reused, err);
    }
}

static void on_progress(void *ud, uint64_t rows, uint64_t bytes, uint64_t total)
{
    struct al_data_ingest *i = ud;
    autobuf struct al_buf json = AL_BUF_INIT(512);
    struct al_jw w;
    autobuf struct al_buf note = AL_BUF_INIT(64);
    al_buf_adds(&note, "reading, ");
    al_data_count(&note, rows, "row", "rows");
    al_jw_init(&w, &json);
    al_jw_obj(&w);
    al_jw_kint(&w, "completed", (int64_t)bytes);
    al_jw_kint(&w, "total", (int64_t)(total ? total : i->total));
    al_jw_kint(&w, "rows", (int64_t)rows);
    al_jw_kstr(&w, "note", al_buf_str(&note));
    al_jw_end(&w);
    for (struct al_data_waiter *waiter = i->waiters, *next; waiter; waiter = next) {
        next = waiter->next;
        if (waiter->progress)
            waiter->progress(waiter->ud, al_buf_str(&json));
    }
}

static void read_sheets(void *ud)
{
    struct al_data_ingest *i = ud;
    char format[16];
    i->row.sheets = al_data_sheets(al_buf_str(&i->json), format);
    i->row.format = al_xstrdup(format);
}

/* Keeps what the worker made, unless the last who waited for it has left. */
static void keep(void *ud)
{
    struct al_data_ingest *i = ud;
    uint64_t quota = (uint64_t)al_config_int(al_core_config(i->core), AL_OPT_STORAGE_MAX_BYTES);
    struct al_err err = {0};
    int r = i->cancelled ? al_fail(&err, AL_CANCELLED, "the ingest was cancelled")
                         : al_store_dataset_add(al_core_store(i->core), &i->row, &i->file, quota, &err);
    tell(i, r == 1, r < 0 ? &err : NULL);
    ingest_free(i);
}

static void on_end(void *ud, const struct al_ingest_end *end)
{
    struct al_data_ingest *i = ud;
    i->run = NULL;
    if (end->err.code != AL_OK) {
        tell(i, false, &end->err);
        ingest_free(i);
        return;
    }
    i->row.sha256 = al_xstrdup(end->sha256);
    i->row.n_rows = (int64_t)end->rows;
    al_buf_init(&i->json, AL_DATA_MAX_JSON + 1);
    al_buf_add_str(&i->json, end->json);
    al_work_start(al_core_loop(i->core), read_sheets, keep, i);
}

static int check_size(struct al_core *core, const struct al_data_source *source, struct al_err *err)
{
    uint64_t max = (uint64_t)al_config_int(al_core_config(core), AL_OPT_ANALYSIS_DATA_MAX_UPLOAD_BYTES);
    if (source->st.st_size == 0)
        return al_fail(err, AL_INGEST_INVALID, "%s: is empty", source->shown);
    if ((uint64_t)source->st.st_size <= max)
        return 0;
    autobuf struct al_buf a = AL_BUF_INIT(64), b = AL_BUF_INIT(64);
    al_text_bytes(&a, (uint64_t)source->st.st_size);
    al_text_bytes(&b, max);
    al_fail(err, AL_INGEST_LIMIT, "%s: has %.*s; at most %.*s are read (analysis.data.maxUploadBytes)",
            source->shown, AL_FMT(al_buf_str(&a)), AL_FMT(al_buf_str(&b)));
    return al_hint(err, "`alisio config set analysis.data.maxUploadBytes BYTES` raises it, up to 64 GiB");
}

static int check_quota(struct al_core *core, struct al_err *err)
{
    int64_t n, bytes, max = al_config_int(al_core_config(core), AL_OPT_STORAGE_MAX_BYTES);
    if (al_store_dataset_usage(al_core_store(core), NULL, &n, &bytes, err) < 0)
        return -1;
    if (bytes < max)
        return 0;
    al_fail(err, AL_QUOTA_EXCEEDED, "%lld dataset%s fill%s the storage (storage.maxBytes)", (long long)n,
            n == 1 ? "" : "s", n == 1 ? "s" : "");
    return al_hint(err, "`alisio data list` and `alisio data rm ds_ID` make room");
}

static int start(struct al_data_ingest *i, const struct al_data_source *source, struct al_err *err)
{
    static const struct al_ingest_ops ops = {.progress = on_progress, .end = on_end};
    const struct al_config *c = al_core_config(i->core);
    struct al_ingest_spec spec = {
        .source_fd = source->fd,
        .output_fd = i->file.fd,
        .name = source->name,
        .table = source->options->table,
        .limits = {.max_rows = (uint64_t)al_config_int(c, AL_OPT_ANALYSIS_DATA_MAX_ROWS),
                   .stats_bytes = (uint64_t)al_config_int(c, AL_OPT_ANALYSIS_DATA_STATS_MEMORY_BYTES),
                   .decimal = source->options->decimal},
        .options_json = al_str_of(i->options),
    };
    i->run = al_ingest_start(al_core_data(i->core), &spec, &ops, i, err);
    return i->run ? 0 : -1;
}

static struct al_data_ingest *ingest_new(struct al_core *core, const struct al_data_source *source)
{
    const struct al_session *session = al_core_session(core);
    struct al_data_ingest *i = al_xcalloc(1, sizeof *i);
    i->core = core;
    i->source = identity_of(&source->st);
    i->options = al_xstrdup(source->options->json);
    i->total = (uint64_t)source->st.st_size;
    i->file = (struct al_dataset_file){.fd = -1, .dir_fd = -1};
    memcpy(i->session, session->id, sizeof i->session);
    i->row = (struct al_dataset_row){
        .workspace = al_xstrdup(session->workspace),
        .name = al_xdup(source->name.p, source->name.n),
        .options = al_xstrdup(i->options),
        .source_path = source->path ? al_xstrdup(source->path) : NULL,
        .source_bytes = (int64_t)source->st.st_size,
        .ingest_version = AL_DATASET_INGEST_VERSION,
    };
    memcpy(i->row.session, session->id, sizeof i->row.session);
    if (i->source.ctime_ns / 1000000 + RACY_MS < al_wall_ms())
        i->row.source = i->source;
    return i;
}

static void wait_for(struct al_data_ingest *i, struct al_data_waiter *w)
{
    w->ingest = i;
    w->next = i->waiters;
    i->waiters = w;
}

int al_data_want(struct al_core *core, const struct al_data_source *source, bool fresh,
                 struct al_data_waiter *waiter, struct al_dataset_row *ret_row, struct al_err *err)
{
    const struct al_session *session = al_core_session(core);
    struct al_file_identity id = identity_of(&source->st);
    waiter->ingest = NULL;
    if (!fresh) {
        int r = al_store_dataset_find(al_core_store(core), session->id, source->options->json,
                                      AL_DATASET_INGEST_VERSION, &id, ret_row, err);
        if (r != 0)
            return r;
    }
    for (struct al_data_ingest *i = running; i; i = i->next) {
        if (i->core == core && !i->told && !i->cancelled && strcmp(i->session, session->id) == 0 &&
            same_identity(&i->source, &id) && strcmp(i->options, source->options->json) == 0) {
            wait_for(i, waiter);
            return 0;
        }
    }
    if (check_size(core, source, err) < 0 || check_quota(core, err) < 0)
        return -1;
    struct al_data_ingest *i = ingest_new(core, source);
    i->next = running;
    running = i;
    if (al_store_dataset_file_new(al_core_store(core), session->workspace, session->id, &i->file, err) < 0 ||
        start(i, source, err) < 0) {
        ingest_free(i);
        return -1;
    }
    wait_for(i, waiter);
    return 0;
}

bool al_data_unwant(struct al_data_waiter *waiter)
{
    struct al_data_ingest *i = waiter->ingest;
    if (!i)
        return true;
    if (i->waiters == waiter && !waiter->next) {
        i->cancelled = true;
        if (i->run)
            al_ingest_cancel(i->run);
        return false;
    }
    for (struct al_data_waiter **at = &i->waiters; *at; at = &(*at)->next) {
        if (*at == waiter) {
            *at = waiter->next;
            break;
        }
    }
    waiter->ingest = NULL;
    return true;
}

int al_data_find(struct al_core *core, struct al_str id, struct al_dataset_row *ret, struct al_err *err)
{
    char z[AL_ID_MAX];
    if (!al_id_valid(id, "ds")) {
        autobuf struct al_buf shown = AL_BUF_INIT(512);
        al_text_visible(&shown, al_utf8_head(id, 60), false);
        al_fail(err, AL_NOT_FOUND, "\"%.*s\" is not the id of a dataset", AL_FMT(al_buf_str(&shown)));
        return al_hint(err, "ids begin with ds_; data_inspect with a path gives one");
    }
    snprintf(z, sizeof z, "%.*s", AL_FMT(id));
    return al_store_dataset_get(al_core_store(core), z, al_workspace_root(al_core_workspace(core)), ret, err);
}

int al_dataset_open(struct al_core *core, struct al_str id, int *ret_fd, struct al_err *err)
{
    struct al_dataset_row row = {0};
    if (al_data_find(core, id, &row, err) < 0)
        return -1;
    int r = al_store_dataset_open(al_core_store(core), &row, ret_fd, err);
    al_dataset_row_fini(&row);
    return r;
}
