/* data_query: one statement over datasets of the workspace. */
#include "tools/data_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"

#include <stdio.h>
#include <strings.h>

#define ROWS_DEFAULT 200
#define ROWS_MAX 1000

/* Names of databases are one whatever their letter case. */
static bool same_alias(struct al_str s, const char *z)
{
    return s.n == strlen(z) && strncasecmp(s.p, z, s.n) == 0;
}

static bool is_alias(struct al_str s)
{
    static const char *const taken[] = {"main", "temp"};
    bool fine = s.n > 0 && s.n < 64;
    for (size_t i = 0; fine && i < s.n; i++) {
        char c = s.p[i];
        fine =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (i > 0 && c >= '0' && c <= '9');
    }
    for (size_t i = 0; fine && i < sizeof taken / sizeof *taken; i++)
        fine = !same_alias(s, taken[i]);
    return fine;
}

static int add_dataset(struct al_core *core, struct al_query *q, struct al_str alias, struct al_str id,
                       struct al_err *err)
{
    struct al_query_dataset *d = &q->datasets[q->n_datasets];
    d->fd = -1;
    if (al_dataset_open(core, id, &d->fd, err) < 0)
        return -1;
    snprintf(d->alias, sizeof d->alias, "%.*s", AL_FMT(alias));
    q->n_datasets++;
    return 0;
}

static int open_datasets(struct al_call *call, struct al_query *q, struct al_err *err)
{
    const struct al_json *id = al_json_get(call->args, "datasetId"),
                         *many = al_json_get(call->args, "datasets");
    if ((id != NULL) == (many != NULL)) {
        al_fail(err, AL_TOOL_INPUT_INVALID, "exactly one of datasetId and datasets is needed");
        return al_hint(
            err,
            "data_inspect with a path gives a datasetId; datasets is {\"a\": \"ds_…\", \"b\": \"ds_…\"}");
    }
    if (id)
        return add_dataset(call->core, q, (struct al_str){"", 0}, id->str, err);
    if (many->n == 0 || many->n > AL_QUERY_MAX_DATASETS)
        return al_fail(err, AL_TOOL_INPUT_INVALID, "datasets must name 1 to %d", AL_QUERY_MAX_DATASETS);
    al_json_each(m, many)
    {
        if (!is_alias(m->key)) {
            autobuf struct al_buf shown = AL_BUF_INIT(512);
            al_text_visible(&shown, al_utf8_head(m->key, 60), false);
            al_fail(err, AL_TOOL_INPUT_INVALID, "\"%.*s\" is no alias for a dataset",
                    AL_FMT(al_buf_str(&shown)));
            return al_hint(err,
                           "letters, digits and _, not main or temp: {\"sales\": \"ds_…\"}, then sales.data");
        }
        if (!al_json_is_string(m))
            return al_fail(err, AL_TOOL_INPUT_INVALID, "datasets.%.*s must be the id of a dataset",
                           AL_FMT(m->key));
        for (size_t i = 0; i < q->n_datasets; i++) {
            if (same_alias(m->key, q->datasets[i].alias))
                return al_fail(err, AL_TOOL_INPUT_INVALID, "datasets names %.*s twice", AL_FMT(m->key));
        }
        if (add_dataset(call->core, q, m->key, m->str, err) < 0)
            return -1;
    }
    return 0;
}

/* What is known of an error beside its message: where in the statement, which column, which names are near.
 */
static void put_error(const struct al_query_end *end, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_key(&w, "error");
    al_jw_obj(&w);
    al_jw_kstrz(&w, "code", al_code_name(end->err.code));
    al_jw_kstrz(&w, "message", end->err.msg);
    if (end->err.hint[0])
        al_jw_kstrz(&w, "hint", end->err.hint);
    al_jw_kraw(&w, "details", end->details);
    al_jw_end(&w);
    al_jw_end(&w);
}

static void query_end(void *ud, const struct al_query_end *end)
{
    struct al_call *call = ud;
    call->impl = NULL;
    call->err = end->err;
    if (end->err.code == AL_OK) {
        al_buf_add_str(&call->text, end->text);
        al_buf_add_str(&call->structured, end->json);
    } else if (end->details.n) {
        put_error(end, &call->structured);
    }
    al_call_finish(call);
}

static void query_start(struct al_call *call)
{
    static const struct al_query_ops ops = {.end = query_end};
    const struct al_json *params = al_json_get(call->args, "params");
    int64_t rows = ROWS_DEFAULT,
            timeout = al_config_int(al_core_config(call->core), AL_OPT_ANALYSIS_DATA_QUERY_TIMEOUT_MS);
    al_json_int(al_json_get(call->args, "maxRows"), 1, ROWS_MAX, &rows);
    al_json_int(al_json_get(call->args, "timeoutMs"), 100, 60000, &timeout);
    struct al_query q = {
        .sql = al_json_get_text(call->args, "sql"),
        .params_json = params && params->type != AL_JSON_NULL ? params->raw : (struct al_str){"", 0},
        .max_rows = (uint64_t)rows,
        .timeout_ms = (uint32_t)timeout,
        .format = AL_QUERY_RESULT,
    };
    struct al_query_job *job = NULL;
    if (q.sql.n > AL_QUERY_MAX_SQL)
        al_fail(&call->err, AL_QUERY_REJECTED, "the statement has %zu bytes; at most %zu are taken", q.sql.n,
                AL_QUERY_MAX_SQL);
    else if (open_datasets(call, &q, &call->err) == 0)
        job = al_query_start(al_core_data(call->core), &q, &ops, call, &call->err);
    for (size_t i = 0; i < q.n_datasets; i++)
        al_close(&q.datasets[i].fd);
    call->impl = job;
    if (!job)
        al_call_finish(call);
}

static void query_cancel(struct al_call *call)
{
    if (call->impl)
        al_query_cancel(call->impl);
}

const struct al_tool al_tool_data_query = {
    .name = "data_query",
    .title = "Query datasets with SQL",
    .description = "Runs one SELECT (SQLite's SQL: WITH, joins, window, JSON and math functions) over a "
                   "dataset of data_inspect, or over "
                   "up to 10: `datasets: {a: \"ds_…\", b: \"ds_…\"}`, then a.data and b.data. The table is "
                   "`data` (of a workbook "
                   "s_<sheet>); `data_values` is the same with text converted that reads as numbers or "
                   "dates. Also: regexp, median, "
                   "percentile(x, p), stddev, date_trunc('month', d), to_number, to_date. Values go into "
                   "`params` (an array for ?1, "
                   "an object for :name). Only reading: nothing else is allowed. Structured: {columns, rows, "
                   "rowCount, truncated, "
                   "clipped, notes}; at most maxRows rows, cells cut at 2 KiB, integers beyond 2^53 as text. "
                   "Aggregate in SQL rather "
                   "than fetching rows.",
    .brief =
        "Runs one SELECT of SQLite. The table is data (of a workbook s_<sheet>); data_values "
        "has text converted that reads as numbers or dates. Also: regexp, median, "
        "percentile(x, 90), stddev, date_trunc('month', d), to_number, to_date. In scripts: "
        "{columns: [{name}], rows: [[values]], rowCount, truncated}.",
    .input_schema =
        "{\"type\":\"object\",\"required\":[\"sql\"],\"properties\":{\"datasetId\":{\"type\":\"string\","
        "\"minLength\":1,"
        "\"maxLength\":64,\"description\":\"ds_… of data_inspect\"},\"datasets\":{\"type\":\"object\","
        "\"additionalProperties\":true,\"description\":\"Several: {alias: "
        "ds_…}\"},\"sql\":{\"type\":\"string\","
        "\"minLength\":1,\"maxLength\":100000,\"description\":\"One "
        "SELECT\"},\"params\":{\"description\":\"Array for ?1 "
        "?2 …, object for "
        ":name\"},\"maxRows\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000,\"default\":200},"
        "\"timeoutMs\":{\"type\":\"integer\",\"minimum\":100,\"maximum\":60000}},\"additionalProperties\":"
        "false}",
    .output_schema = "{\"type\":\"object\",\"properties\":{\"columns\":{\"type\":\"array\",\"items\":{"
                     "\"type\":\"object\",\"properties\":{"
                     "\"name\":{\"type\":\"string\"},\"type\":{}}}},\"rows\":{\"type\":\"array\",\"items\":{"
                     "\"type\":\"array\"}},"
                     "\"rowCount\":{\"type\":\"integer\"},\"truncated\":{\"type\":\"boolean\"},\"clipped\":{}"
                     ",\"notes\":{}}}",
    .effect = AL_EFFECT_READ,
    .idempotent = true,
    .registered = al_data_on,
    .start = query_start,
    .cancel = query_cancel,
};
