/* artifact_read: text as text, a table as its rows, an image as its size; of anything else, what it is. */
#include "tools/artifacts_int.h"
#include "tools/data_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BYTES 65536
#define TABLE_ROWS 20
#define SHEETS_NAMED 10
#define ARENA_MAX ((size_t)8 << 20)

struct reading {
    struct al_call *call;
    struct al_artifact artifact;
    int fd;
    struct al_buf path; /* in the artifact */
    int64_t bytes, max;
    const char *mime;
    struct al_artifact_type type;
    bool is_text, is_image, wants_rows;
    uint32_t width, height;
    struct al_buf content; /* the head of the file, at most max bytes of it shown */
    char real[PATH_MAX];

    struct al_data_options options;
    struct al_data_waiter waiter;
    struct al_dataset_row row;
    struct al_query_job *job;
    struct al_arena arena;
    const struct al_json *sheets; /* of the row; in the arena */
};

static void reading_end(struct reading *r)
{
    struct al_call *call = r->call;
    al_close(&r->fd);
    al_artifact_fini(&r->artifact);
    al_buf_free(&r->path);
    al_buf_free(&r->content);
    al_data_options_fini(&r->options);
    al_dataset_row_fini(&r->row);
    al_arena_free(&r->arena);
    free(r);
    call->impl = NULL;
    al_call_finish(call);
}

static void put_name(struct al_buf *out, const struct reading *r)
{
    al_text_visible(out, al_utf8_head(al_buf_str(&r->path), 200), false);
}

/* The object is left open. */
static void put_members(struct al_jw *w, const struct reading *r)
{
    al_jw_obj(w);
    al_jw_kstrz(w, "id", r->artifact.id);
    al_jw_kstr(w, "path", al_buf_str(&r->path));
    al_jw_kstrz(w, "kind", r->type.kind);
    al_jw_kstrz(w, "mimeType", r->mime);
    al_jw_kint(w, "bytes", r->bytes);
    if (r->is_image) {
        al_jw_kint(w, "width", r->width);
        al_jw_kint(w, "height", r->height);
    }
}

/* --- text and images --- */

static int refuse_binary(struct reading *r)
{
    struct al_err *err = &r->call->err;
    autobuf struct al_buf name = AL_BUF_INIT(2048), size = AL_BUF_INIT(64);
    put_name(&name, r);
    al_text_bytes(&size, (uint64_t)r->bytes);
    al_fail(err, AL_TOOL_ERROR, "%.*s is not a text file: %s, %.*s", AL_FMT(al_buf_str(&name)), r->mime,
            AL_FMT(al_buf_str(&size)));
    return al_hint(
        err, "artifact_export copies it into the workspace; python_run takes it as an input: {artifactId}");
}

static void tell_image(struct reading *r)
{
    struct al_call *call = r->call;
    struct al_jw w;
    put_name(&call->text, r);
    al_buf_addf(&call->text, ": %s, %u × %u pixels, ", r->mime, r->width, r->height);
    al_text_bytes(&call->text, (uint64_t)r->bytes);
    al_buf_addc(&call->text, '\n');
    al_jw_init(&w, &call->structured);
    put_members(&w, r);
    al_jw_kbool(&w, "truncated", false);
    al_jw_end(&w);
}

static void tell_text(struct reading *r)
{
    struct al_call *call = r->call;
    struct al_str shown = al_buf_str(&r->content);
    bool cut = (int64_t)shown.n < r->bytes;
    struct al_jw w;
    al_buf_add_str(&call->text, shown);
    if (cut)
        al_buf_addf(&call->text, "\n[cut here: %zu of %lld bytes are shown]\n", shown.n, (long long)r->bytes);
    al_jw_init(&w, &call->structured);
    put_members(&w, r);
    al_jw_kstr(&w, "text", shown);
    al_jw_kint(&w, "shownBytes", (int64_t)shown.n);
    al_jw_kbool(&w, "truncated", cut);
    al_jw_end(&w);
}

/* Text that was cut within a character ends before it; false: it is no text. */
static bool make_text(struct al_buf *b)
{
    if (memchr(b->p ? b->p : "", 0, b->n))
        return false;
    for (size_t cut = 0; cut < 4 && cut <= b->n; cut++) {
        if (al_utf8_valid((struct al_str){b->p, b->n - cut})) {
            b->n -= cut;
            return true;
        }
    }
    return false;
}

/* --- reading --- */

static int read_head(struct reading *r, size_t n)
{
    char *p = al_buf_grow(&r->content, n);
    size_t got = 0;
    while (p && got < n) {
        ssize_t more = pread(r->fd, p + got, n - got, (off_t)got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return al_fail_errno(&r->call->err, AL_TOOL_ERROR, errno, "the file cannot be read");
        if (more == 0)
            break;
        got += (size_t)more;
    }
    r->content.n = got;
    return 0;
}

/* A table is read as one, unless so many bytes of its text are wanted. */
static void look(void *ud)
{
    struct reading *r = ud;
    size_t wanted = r->max > AL_ARTIFACT_HEAD ? (size_t)r->max : AL_ARTIFACT_HEAD;
    char link[64];
    if (read_head(r, wanted) < 0)
        return;
    struct al_str head = {r->content.p ? r->content.p : "", r->content.n};
    head.n = head.n < AL_ARTIFACT_HEAD ? head.n : AL_ARTIFACT_HEAD;
    const char *slash = strrchr(r->path.p, '/');
    r->type = al_artifact_type_of(al_str_of(slash ? slash + 1 : r->path.p), head);
    r->is_image = strcmp(r->type.kind, "image") == 0 && al_artifact_image_size(head, &r->width, &r->height);
    if ((int64_t)r->content.n > r->max)
        r->content.n = (size_t)r->max;
    r->is_text = r->type.text && make_text(&r->content);
    r->wants_rows =
        strcmp(r->type.kind, "spreadsheet") == 0 && !(r->is_text && al_json_get(r->call->args, "maxBytes"));
    snprintf(link, sizeof link, "/proc/self/fd/%d", r->fd);
    ssize_t n = readlink(link, r->real, sizeof r->real - 1);
    r->real[n > 0 ? n : 0] = '\0';
}

static void tell(struct reading *r)
{
    if (r->is_text)
        tell_text(r);
    else if (r->is_image)
        tell_image(r);
    else
        refuse_binary(r);
    reading_end(r);
}

/* --- tables: through the data engine, as data_inspect does it --- */

/* What is no table is shown as what else it is. */
static void table_failed(struct reading *r, const struct al_err *err)
{
    bool by_content =
        err->code == AL_INGEST_INVALID || err->code == AL_DATASET_UNSUPPORTED || err->code == AL_INGEST_LIMIT;
    if (r->is_text && by_content && !atomic_load(&r->call->cancelled)) {
        al_err_clear(&r->call->err);
        tell(r);
        return;
    }
    r->call->err = *err;
    reading_end(r);
}

static void put_dataset_line(struct reading *r, struct al_buf *out)
{
    uint32_t n = 0;
    put_name(out, r);
    al_buf_adds(out, ": a table of ");
    al_data_count(out, (uint64_t)r->row.n_rows, "row", "rows");
    al_buf_addf(out, "; data_query reads all of it as %s", r->row.id);
    if (r->sheets && r->sheets->n > 1) {
        al_buf_adds(out, ", with the tables");
        al_json_each(sheet, r->sheets)
        {
            if (n++ == SHEETS_NAMED) {
                al_buf_adds(out, " …");
                break;
            }
            al_buf_addc(out, ' ');
            al_text_visible(out, al_utf8_head(al_json_get_text(sheet, "table"), 64), false);
        }
    }
    al_buf_addc(out, '\n');
}

static void rows_there(void *ud, const struct al_query_end *end)
{
    struct reading *r = ud;
    struct al_call *call = r->call;
    struct al_jw w;
    r->job = NULL;
    if (end->err.code != AL_OK) {
        table_failed(r, &end->err);
        return;
    }
    autoarena struct al_arena arena = AL_ARENA_INIT(ARENA_MAX);
    const struct al_json *v = NULL;
    if (al_json_parse(&arena, end->json, &v, &call->err) < 0) {
        reading_end(r);
        return;
    }
    put_dataset_line(r, &call->text);
    al_buf_add_str(&call->text, end->text);
    al_jw_init(&w, &call->structured);
    put_members(&w, r);
    al_jw_kstrz(&w, "datasetId", r->row.id);
    al_jw_kint(&w, "rowCount", r->row.n_rows);
    al_jw_key(&w, "columns");
    al_jw_value(&w, al_json_get(v, "columns"));
    al_jw_key(&w, "rows");
    al_jw_value(&w, al_json_get(v, "rows"));
    al_jw_kbool(&w, "truncated", r->row.n_rows > TABLE_ROWS || al_json_is_true(al_json_get(v, "truncated")));
    al_jw_end(&w);
    reading_end(r);
}

static void put_statement(struct reading *r, struct al_buf *sql)
{
    struct al_str table = AL_STR("data");
    const char *json = r->row.sheets;
    if (json && al_json_parse(&r->arena, al_str_of(json), &r->sheets, NULL) < 0)
        r->sheets = NULL;
    if (r->sheets && r->sheets->child && al_json_get_text(r->sheets->child, "table").n)
        table = al_json_get_text(r->sheets->child, "table");
    al_buf_adds(sql, "SELECT * FROM \"");
    for (size_t i = 0; i < table.n; i++) {
        if (table.p[i] == '"')
            al_buf_addc(sql, '"');
        al_buf_addc(sql, table.p[i]);
    }
    al_buf_addf(sql, "\" LIMIT %d", TABLE_ROWS);
}

static void read_rows(struct reading *r)
{
    static const struct al_query_ops ops = {.end = rows_there};
    struct al_call *call = r->call;
    autobuf struct al_buf sql = AL_BUF_INIT(4096);
    put_statement(r, &sql);
    struct al_query q = {
        .n_datasets = 1,
        .datasets = {{.fd = -1}},
        .sql = al_buf_str(&sql),
        .max_rows = TABLE_ROWS,
        .timeout_ms =
            (uint32_t)al_config_int(al_core_config(call->core), AL_OPT_ANALYSIS_DATA_QUERY_TIMEOUT_MS),
        .format = AL_QUERY_RESULT,
    };
    struct al_err err = {.code = AL_OK};
    if (al_store_dataset_open(al_core_store(call->core), &r->row, &q.datasets[0].fd, &err) == 0)
        r->job = al_query_start(al_core_data(call->core), &q, &ops, r, &err);
    al_close(&q.datasets[0].fd);
    if (!r->job)
        table_failed(r, &err);
}

static char *dup_or_null(const char *z)
{
    return z ? al_xstrdup(z) : NULL;
}

static void table_made(void *ud, const struct al_dataset_row *row, bool reused, const struct al_err *err)
{
    struct reading *r = ud;
    (void)reused;
    if (err) {
        table_failed(r, err);
        return;
    }
    r->row = (struct al_dataset_row){.workspace = dup_or_null(row->workspace),
                                     .name = dup_or_null(row->name),
                                     .rel_path = dup_or_null(row->rel_path),
                                     .sheets = dup_or_null(row->sheets),
                                     .bytes = row->bytes,
                                     .n_rows = row->n_rows,
                                     .used_ms = row->used_ms};
    memcpy(r->row.id, row->id, sizeof r->row.id);
    if (atomic_load(&r->call->cancelled))
        reading_end(r);
    else
        read_rows(r);
}

static void on_progress(void *ud, struct al_str json)
{
    al_call_progress(((struct reading *)ud)->call, json);
}

static void want_table(struct reading *r)
{
    struct al_call *call = r->call;
    const char *slash = strrchr(r->path.p, '/');
    struct al_err err = {.code = AL_OK};
    struct al_data_source source = {
        .fd = r->fd,
        .name = al_str_of(slash ? slash + 1 : r->path.p),
        .path = r->real,
        .shown = r->artifact.id,
        .options = &r->options,
    };
    r->waiter = (struct al_data_waiter){.done = table_made, .progress = on_progress, .ud = r};
    int made = fstat(r->fd, &source.st) < 0
                   ? al_fail_errno(&err, AL_TOOL_ERROR, errno, "the file cannot be read")
                   : al_data_options_read(call->core, NULL, &r->options, &err);
    if (made == 0)
        made = al_data_want(call->core, &source, false, &r->waiter, &r->row, &err);
    if (made < 0)
        table_failed(r, &err);
    else if (made == 1)
        read_rows(r);
}

static void looked(void *ud)
{
    struct reading *r = ud;
    if (r->call->err.code != AL_OK || atomic_load(&r->call->cancelled))
        reading_end(r);
    else if (r->wants_rows)
        want_table(r);
    else
        tell(r);
}

/* --- the call --- */

static int open_file(struct reading *r, struct al_err *err)
{
    struct al_call *call = r->call;
    struct al_str path = al_json_get_text(call->args, "path");
    char wanted[2049];
    if (path.n && memchr(path.p, 0, path.n))
        return al_fail(err, AL_TOOL_INPUT_INVALID, "/path: has a NUL byte");
    snprintf(wanted, sizeof wanted, "%.*s", AL_FMT(path));
    if (al_tool_artifact(call, &r->artifact, err) < 0)
        return -1;
    return al_artifact_open(al_core_store(call->core), &r->artifact, path.n ? wanted : NULL, &r->fd, &r->path,
                            &r->bytes, &r->mime, err);
}

static void read_start(struct al_call *call)
{
    struct reading *r = al_xcalloc(1, sizeof *r);
    r->call = call;
    r->fd = -1;
    r->max = MAX_BYTES;
    al_buf_init(&r->path, 8192);
    al_buf_init(&r->content, MAX_BYTES + 1);
    al_arena_init(&r->arena, ARENA_MAX);
    al_json_int(al_json_get(call->args, "maxBytes"), 1, MAX_BYTES, &r->max);
    call->impl = r;
    if (open_file(r, &call->err) < 0) {
        reading_end(r);
        return;
    }
    al_buf_addc(&r->path, '\0'); /* the bytes stay zero-terminated */
    r->path.n--;
    al_work_start(al_core_loop(call->core), look, looked, r);
}

static void read_cancel(struct al_call *call)
{
    struct reading *r = call->impl;
    if (!r)
        return;
    if (r->job)
        al_query_cancel(r->job);
    else if (r->waiter.ingest && al_data_unwant(&r->waiter))
        reading_end(r);
}

const struct al_tool al_tool_artifact_read = {
    .name = "artifact_read",
    .title = "Read an artifact",
    .description = "Reads an artifact: of a text file (Markdown, HTML, JSON, code …) its text, at most "
                   "maxBytes, and it says when that is "
                   "not all; of a table (CSV, TSV, XLSX) the first rows, and the dataset that data_query "
                   "reads the rest of (with maxBytes, "
                   "the text of a CSV instead); of an image its size. Other files cannot be read here: "
                   "artifact_export copies them into the "
                   "workspace. `path` names a file of an artifact of several; without it, the one that "
                   "opens. Structured value: {id, path, "
                   "kind, mimeType, bytes, truncated} and text, or columns, rows, rowCount and datasetId, or "
                   "width and height.",
    .brief =
        "Shows an artifact: of a text file its text, of a table the first rows and a datasetId "
        "for data_query, of an image its size.",
    .input_schema =
        "{\"type\":\"object\",\"required\":[\"id\"],\"properties\":{\"id\":{\"type\":\"string\","
        "\"minLength\":1,\"maxLength\":64,"
        "\"description\":\"art_… of "
        "artifact_list\"},\"path\":{\"type\":\"string\",\"maxLength\":512,\"description\":\"A file of "
        "it\"},\"maxBytes\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":65536}},\"additionalProperties\":"
        "false}",
    .output_schema = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"path\":{\"type\":"
                     "\"string\"},\"kind\":{\"type\":"
                     "\"string\"},\"mimeType\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"},"
                     "\"text\":{\"type\":\"string\"},"
                     "\"shownBytes\":{\"type\":\"integer\"},\"datasetId\":{\"type\":\"string\"},\"rowCount\":"
                     "{\"type\":\"integer\"},"
                     "\"columns\":{\"type\":\"array\"},\"rows\":{\"type\":\"array\"},\"width\":{\"type\":"
                     "\"integer\"},\"height\":{\"type\":"
                     "\"integer\"},\"truncated\":{\"type\":\"boolean\"}}}",
    .effect = AL_EFFECT_READ,
    .idempotent = true,
    .registered = al_tool_artifacts_on,
    .start = read_start,
    .cancel = read_cancel,
};
