#include "dataset/builder_int.h"

#include "base/ident.h"
#include "base/mem.h"

#include <stdio.h>
#include <time.h>

#define ASK_EVERY_MS 50
#define STEPS_BETWEEN_ASKS 50000

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* False: the ingest is to end. */
static bool may_go_on(struct al_builder *b)
{
    uint64_t now = now_ms();
    if (!b->ask || b->cancelled || now - b->asked_ms < ASK_EVERY_MS)
        return !b->cancelled;
    b->asked_ms = now;
    b->cancelled = !b->ask(b->ask_ud, b->all_rows, b->bytes);
    return !b->cancelled;
}

static int ask_in_statement(void *ud)
{
    return !may_go_on(ud);
}

static int sink_progress(void *ud, uint64_t bytes, struct al_err *err)
{
    struct al_builder *b = ud;
    b->bytes = bytes;
    return may_go_on(b) ? 0 : al_fail(err, AL_CANCELLED, "the ingest was cancelled");
}

static int sink_sheet(void *ud, struct al_str name, struct al_err *err)
{
    struct al_builder *b = ud;
    if (al_builder_close_sheet(b, true, err) < 0)
        return -1;
    if (b->n_sheets == AL_DATASET_MAX_SHEETS) {
        al_fail(err, AL_INGEST_LIMIT, "the workbook has more than %d sheets", AL_DATASET_MAX_SHEETS);
        return al_hint(err, "name the sheet that you need: options.sheet");
    }
    bool first = b->n_sheets++ == 0;
    if (first && al_str_is(name, "data")) {
        b->table = al_xstrdup("data");
    } else {
        struct al_str table = al_names_add_table(b->tables, name, (unsigned)b->n_sheets);
        b->table = al_xdup(table.p, table.n);
    }
    b->sheet_name = al_xdup(name.p, name.n);
    b->n_sheet_name = name.n;
    b->names = al_names_new();
    b->stats = al_stats_new(b->limits.stats_bytes);
    b->in_sheet = true;
    return 0;
}

/* The builder is of no use after an error: a sink's caller may go on all the same, and a second thread has
 * what was given to it. */
#define GUARDED(call)                                                     \
    do {                                                                  \
        struct al_builder *b = ud;                                        \
        if (b->failed)                                                    \
            return al_fail(err, AL_INTERNAL, "the ingest failed before"); \
        int r = call;                                                     \
        b->failed = r < 0;                                                \
        return r;                                                         \
    } while (0)

static int guarded_sheet(void *ud, struct al_str name, struct al_err *err)
{
    GUARDED(sink_sheet(ud, name, err));
}

static int guarded_columns(void *ud, const struct al_str *labels, size_t n, struct al_err *err)
{
    GUARDED(b->in_sheet ? al_builder_columns(ud, labels, n, err)
                        : al_fail(err, AL_INTERNAL, "columns without a sheet"));
}

static int guarded_late_column(void *ud, struct al_str label, struct al_err *err)
{
    GUARDED(b->in_sheet ? al_builder_late_column(ud, label, err)
                        : al_fail(err, AL_INTERNAL, "a column without a sheet"));
}

static int guarded_row(void *ud, const struct al_cell *cells, size_t n, uint64_t line, struct al_err *err)
{
    GUARDED(b->in_sheet ? al_builder_row(ud, cells, n, line, err)
                        : al_fail(err, AL_INTERNAL, "a row without a sheet"));
}

int al_builder_new(struct sqlite3 *db, const struct al_dataset_limits *limits, struct al_builder **ret,
                   struct al_err *err)
{
    struct al_builder *b = al_xcalloc(1, sizeof *b);
    b->db = db;
    b->limits = *limits;
    b->tables = al_names_new();
    b->sink = (struct al_table_sink){
        .sheet = guarded_sheet,
        .columns = guarded_columns,
        .late_column = guarded_late_column,
        .row = guarded_row,
        .note = al_builder_note,
        .progress = sink_progress,
        .ud = b,
    };
    /* An append needs few pages at once; what is written is written once, in order. */
    if (al_ring_start(&b->ring, err) < 0 ||
        al_builder_exec(b, err,
                        "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-8192; BEGIN") < 0 ||
        al_builder_module(b, err) < 0 || al_builder_tables(b, err) < 0) {
        al_builder_free(b);
        return -1;
    }
    sqlite3_progress_handler(db, STEPS_BETWEEN_ASKS, ask_in_statement, b);
    *ret = b;
    return 0;
}

const struct al_table_sink *al_builder_sink(struct al_builder *b,
                                            bool (*progress)(void *ud, uint64_t rows, uint64_t bytes),
                                            void *ud)
{
    b->ask = progress;
    b->ask_ud = ud;
    b->asked_ms = now_ms();
    return &b->sink;
}

static int put_meta(struct al_builder *b, const char *key, struct al_str value, struct al_err *err)
{
    sqlite3_stmt *s = NULL;
    if (al_builder_prepare(b, &s, err, "INSERT INTO _alisio_meta VALUES ('%q', ?1)", key) < 0)
        return -1;
    sqlite3_bind_text64(s, 1, value.p ? value.p : "", value.n, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_step(s);
    int rc = sqlite3_finalize(s);
    return rc == SQLITE_OK ? 0 : al_builder_sql_error(b, rc, err);
}

static int put_numbers(struct al_builder *b, const struct al_dataset_source *src, struct al_err *err)
{
    return al_builder_exec(b, err,
                           "INSERT INTO _alisio_meta VALUES ('ingest_version', %d), ('schema_version', %d),"
                           "('irregular_rows', %lld), ('gzip', %d)",
                           AL_DATASET_INGEST_VERSION, AL_DATASET_SCHEMA_VERSION, (long long)b->irregular,
                           src->found->gzip);
}

static int write_meta(struct al_builder *b, const struct al_dataset_source *src, struct al_err *err)
{
    char created[AL_TIME_MAX];
    al_time_iso(created, src->created_ms);
    if (put_numbers(b, src, err) < 0 ||
        put_meta(b, "format", al_str_of(al_table_format_name(src->found->format)), err) < 0 ||
        put_meta(b, "source_name", src->name, err) < 0 ||
        put_meta(b, "source_sha256", al_str_of(src->sha256), err) < 0 ||
        put_meta(b, "encoding", al_str_of(src->found->encoding), err) < 0 ||
        put_meta(b, "created_at", al_str_of(created), err) < 0 ||
        put_meta(b, "options", src->options_json.n ? src->options_json : AL_STR("{}"), err) < 0)
        return -1;
    if (!src->found->delimiter)
        return 0;
    return put_meta(b, "delimiter", (struct al_str){&src->found->delimiter, 1}, err);
}

int al_builder_finish(struct al_builder *b, const struct al_dataset_source *src, struct al_err *err)
{
    if (b->cancelled)
        return al_fail(err, AL_CANCELLED, "the ingest was cancelled");
    if (b->failed)
        return al_fail(err, AL_INTERNAL, "the ingest failed before");
    b->failed = true; /* unless all of it goes well; and nothing comes after it */
    if (b->n_sheets == 0 || (b->n_all_columns == 0 && b->rows == 0)) {
        al_fail(err, AL_INGEST_INVALID, "there is no table in %.*s", AL_FMT(src->name));
        return al_hint(err, "a table needs at least one row or a header");
    }
    bool workbook = src->found->format == AL_TABLE_XLSX;
    if (al_builder_close_sheet(b, workbook, err) < 0)
        return -1;
    if (b->n_all_columns == 0) {
        al_fail(err, AL_INGEST_INVALID, "there is no column in %.*s", AL_FMT(src->name));
        return al_hint(err, "a table needs at least one row or a header");
    }
    if (al_builder_write_notes(b, b->file_notes, false, err) < 0 || write_meta(b, src, err) < 0)
        return -1;
    return al_builder_exec(b, err, "COMMIT");
}

void al_builder_free(struct al_builder *b)
{
    if (!b)
        return;
    al_ring_stop(&b->ring);
    al_builder_drop_sheet(b);
    al_builder_drop_notes(b->file_notes);
    al_names_free(b->tables);
    free(b->columns);
    sqlite3_progress_handler(b->db, 0, NULL, NULL);
    if (!sqlite3_get_autocommit(b->db))
        sqlite3_exec(b->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_create_module(b->db, "_alisio_rows", NULL, NULL);
    free(b);
}
