/* data_inspect and data_query: what callers see of the data engine. */
#include "tools/data_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

bool al_data_on(const struct al_core *core)
{
    return al_config_bool(al_core_config(core), AL_OPT_ANALYSIS_ENABLED);
}

/* --- data_inspect: open the source, make or find the dataset, describe it, show it --- */

struct inspect {
    struct al_call *call;
    struct al_data_options options;
    struct al_place place;
    int fd; /* of the source; -1: a dataset was named */
    struct stat st;
    char real[PATH_MAX];
    struct al_data_waiter waiter;
    struct al_dataset_row row;
    bool reused, made_anew;
    struct al_query_job *job;
    struct al_buf json; /* the description */
};

static void describe(struct inspect *in);
static void want(struct inspect *in, bool fresh);

static void inspect_end(struct inspect *in)
{
    struct al_call *call = in->call;
    al_close(&in->fd);
    al_data_options_fini(&in->options);
    al_dataset_row_fini(&in->row);
    al_buf_free(&in->json);
    free(in);
    call->impl = NULL;
    al_call_finish(call);
}

/* The file that a name leads to, links followed as read_file does, and then opened once more without
 * following any: so that nothing that was put in its place meanwhile is read. */
static int open_source(struct inspect *in, struct al_err *err)
{
    struct al_call *call = in->call;
    struct al_place *place = &in->place;
    autofd int look = -1;
    struct stat looked;
    char link[64];
    if (al_tool_place(call, al_json_get_text(call->args, "path"), AL_WANT_READ, place, err) < 0 ||
        al_tool_open_file(call, place, &look, &looked, err) < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", look);
    ssize_t n = readlink(link, in->real, sizeof in->real - 1);
    if (n <= 0)
        return al_fail_errno(err, AL_TOOL_ERROR, n < 0 ? errno : ENOENT, "%s", place->shown);
    in->real[n] = '\0';
    autofd int slash = openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (al_path_open(slash, in->real + 1, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY, 0, place->shown,
                     &in->fd, err) < 0)
        return -1;
    if (fstat(in->fd, &in->st) < 0 || in->st.st_dev != looked.st_dev || in->st.st_ino != looked.st_ino)
        return al_fail(err, AL_TOOL_ERROR, "%s: was replaced by another file meanwhile", place->shown);
    return 0;
}

static void open_work(void *ud)
{
    struct inspect *in = ud;
    if (open_source(in, &in->call->err) < 0 && in->call->err.code == AL_OK)
        al_fail(&in->call->err, AL_TOOL_ERROR, "%s: cannot be opened", in->place.shown);
}

static void opened(void *ud)
{
    struct inspect *in = ud;
    if (in->call->err.code != AL_OK || atomic_load(&in->call->cancelled))
        inspect_end(in);
    else
        want(in, false);
}

static void on_progress(void *ud, struct al_str json)
{
    struct inspect *in = ud;
    al_call_progress(in->call, json);
}

static int copy_row(const struct al_dataset_row *from, struct al_dataset_row *to)
{
    *to = (struct al_dataset_row){
        .workspace = al_xstrdup(from->workspace),
        .name = al_xstrdup(from->name),
        .rel_path = al_xstrdup(from->rel_path),
        .bytes = from->bytes,
        .used_ms = from->used_ms,
    };
    memcpy(to->id, from->id, sizeof to->id);
    return 0;
}

static void made(void *ud, const struct al_dataset_row *row, bool reused, const struct al_err *err)
{
    struct inspect *in = ud;
    if (err) {
        in->call->err = *err;
        inspect_end(in);
        return;
    }
    copy_row(row, &in->row);
    in->reused = reused;
    if (atomic_load(&in->call->cancelled))
        inspect_end(in);
    else
        describe(in);
}

static void want(struct inspect *in, bool fresh)
{
    struct al_call *call = in->call;
    const char *slash = strrchr(in->place.rel, '/');
    struct al_data_source source = {
        .fd = in->fd,
        .st = in->st,
        .name = al_str_of(slash ? slash + 1 : in->place.rel),
        .path = in->real,
        .shown = in->place.shown,
        .options = &in->options,
    };
    in->waiter = (struct al_data_waiter){.done = made, .progress = on_progress, .ud = in};
    int r = al_data_want(call->core, &source, fresh, &in->waiter, &in->row, &call->err);
    if (r < 0) {
        inspect_end(in);
    } else if (r == 1) {
        in->reused = true;
        describe(in);
    }
}

static void show_work(void *ud)
{
    struct inspect *in = ud;
    struct al_call *call = in->call;
    struct al_data_shown shown = {.id = in->row.id, .name = in->row.name, .reused = in->reused};
    if (al_data_show(&shown, al_buf_str(&in->json), &call->text, &call->structured, &call->err) < 0)
        return;
}

static void shown(void *ud)
{
    inspect_end(ud);
}

/* A dataset that can be made again is, once, when its file turns out to be none. */
static bool worth_another_try(const struct inspect *in, const struct al_err *err)
{
    return in->fd >= 0 && in->reused && !in->made_anew &&
           (err->code == AL_NOT_FOUND || err->code == AL_INTERNAL || err->code == AL_ENGINE_CRASHED) &&
           !al_json_get(in->call->args, "sheet");
}

static void make_anew(struct inspect *in)
{
    struct al_err ignored;
    if (al_store_dataset_delete(al_core_store(in->call->core), in->row.id, &ignored) < 0)
        al_err_clear(&ignored);
    al_dataset_row_fini(&in->row);
    in->made_anew = true;
    in->reused = false;
    al_err_clear(&in->call->err);
    want(in, true);
}

static void described(void *ud, const struct al_query_end *end)
{
    struct inspect *in = ud;
    struct al_call *call = in->call;
    in->job = NULL;
    if (end->err.code != AL_OK) {
        if (!atomic_load(&call->cancelled) && worth_another_try(in, &end->err)) {
            make_anew(in);
            return;
        }
        call->err = end->err;
        inspect_end(in);
        return;
    }
    al_buf_init(&in->json, AL_DATA_MAX_JSON + 1);
    al_buf_add_str(&in->json, end->json);
    al_work_start(al_core_loop(call->core), show_work, shown, in);
}

static void describe(struct inspect *in)
{
    static const struct al_query_ops ops = {.end = described};
    struct al_call *call = in->call;
    autofd int fd = -1;
    int64_t rows = 5;
    al_json_int(al_json_get(call->args, "sampleRows"), 0, 20, &rows);
    if (al_store_dataset_open(al_core_store(call->core), &in->row, &fd, &call->err) < 0) {
        if (worth_another_try(in, &call->err))
            make_anew(in);
        else
            inspect_end(in);
        return;
    }
    in->job = al_describe_start(al_core_data(call->core), fd, al_json_get_text(call->args, "sheet"),
                                (int)rows, &ops, in, &call->err);
    if (!in->job)
        inspect_end(in);
}

static int named_dataset(struct inspect *in, struct al_err *err)
{
    struct al_call *call = in->call;
    struct al_str id = al_json_get_text(call->args, "datasetId");
    return al_data_find(call->core, id, &in->row, err);
}

static void inspect_start(struct al_call *call)
{
    struct al_str path = al_json_get_text(call->args, "path");
    bool by_id = al_json_get(call->args, "datasetId") != NULL;
    struct inspect *in = al_xcalloc(1, sizeof *in);
    in->call = call;
    in->fd = -1;
    call->impl = in;
    if (by_id == (path.n > 0)) {
        al_fail(&call->err, AL_TOOL_INPUT_INVALID, "exactly one of path and datasetId is needed");
        inspect_end(in);
    } else if (by_id && al_json_get(call->args, "options")) {
        al_fail(&call->err, AL_TOOL_INPUT_INVALID, "options say how a file is read; a dataset has been read");
        al_hint(&call->err, "inspect the path again, with the options");
        inspect_end(in);
    } else if (by_id) {
        in->reused = true;
        if (named_dataset(in, &call->err) < 0)
            inspect_end(in);
        else
            describe(in);
    } else if (al_data_options_read(call->core, al_json_get(call->args, "options"), &in->options,
                                    &call->err) < 0) {
        inspect_end(in);
    } else {
        al_work_start(al_core_loop(call->core), open_work, opened, in);
    }
}

static void inspect_cancel(struct al_call *call)
{
    struct inspect *in = call->impl;
    if (!in)
        return;
    if (in->job)
        al_query_cancel(in->job);
    else if (in->waiter.ingest && al_data_unwant(&in->waiter))
        inspect_end(in);
}

#define COLUMN_SCHEMA                                                                                        \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"label\":{},\"type\":{\"type\":"   \
    "\"string\"},\"nulls\":{\"type\":\"integer\"},\"distinct\":{\"type\":\"integer\"},\"distinctExact\":{"   \
    "\"type\":\"boolean\"},\"min\":{},\"max\":{},\"mean\":{},\"stddev\":{},\"quartiles\":{},"                \
    "\"textFallbacks\":{\"type\":\"integer\"},\"scale\":{},\"parsedAs\":{\"description\":\"how the text of " \
    "the column reads; converted in the values "                                                             \
    "view\"},\"parsedNulls\":{},\"minLength\":{},\"maxLength\":{},"                                          \
    "\"top\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"value\":{},\"count\":{"    \
    "\"type\":\"integer\"}}}}}}"

const struct al_tool al_tool_data_inspect = {
    .name = "data_inspect",
    .title = "Inspect a data file",
    .description = "Turns a CSV, TSV, JSON, JSON Lines or XLSX file (also .gz of the first four) into a "
                   "dataset that data_query reads, "
                   "and describes it: sheets with their table names, each column's name, type, nulls, "
                   "distinct values, range, "
                   "statistics and most frequent values, the first rows, and notes on whatever was odd in "
                   "the file. Nothing is lost: "
                   "a cell that is no canonical number keeps its exact text (007, 1.234,56, N/A). Where a "
                   "column's text reads as "
                   "numbers or dates (parsedAs), the view <table>_values has it converted: query that one. "
                   "Give `path`, or the "
                   "`datasetId` of one that is there; a file that was read before is not read again. "
                   "`options` force how it is read "
                   "when the notes say that it was guessed wrong. The file itself is never changed.",
    .brief =
        "Reads a CSV, TSV, JSON, JSON Lines or XLSX file (also .gz) once into a dataset and "
        "describes it: tables, columns with types, ranges and frequent values, first rows, "
        "notes on what was odd. Of a column with parsedAs query the view <table>_values. "
        "options: when the notes say that it was guessed wrong.",
    .input_schema =
        "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":"
        "4096,"
        "\"description\":\"Path in the workspace, or "
        "scratch:NAME\"},\"datasetId\":{\"type\":\"string\",\"minLength\":1,"
        "\"maxLength\":64,\"description\":\"ds_… of an earlier "
        "data_inspect\"},\"sheet\":{\"type\":\"string\","
        "\"maxLength\":255,\"description\":\"Describe this sheet only (its name or its "
        "table)\"},\"sampleRows\":{\"type\":"
        "\"integer\",\"minimum\":0,\"maximum\":20,\"default\":5},\"options\":{\"type\":\"object\","
        "\"properties\":{"
        "\"delimiter\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":9,\"description\":\"One character, "
        "or tab\"},"
        "\"header\":{\"type\":\"boolean\",\"description\":\"Whether the first row has the "
        "names\"},\"encoding\":{\"type\":"
        "\"string\",\"maxLength\":39},\"skipRows\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":1000000,"
        "\"description\":"
        "\"Lines before the table\"},\"decimal\":{\"enum\":[\".\",\",\"],\"description\":\"The decimal mark "
        "of numbers "
        "written as text\"},\"sheet\":{\"type\":\"string\",\"maxLength\":255,\"description\":\"Read only "
        "this sheet of a "
        "workbook\"}},\"additionalProperties\":false}},\"additionalProperties\":false}",
    .output_schema = "{\"type\":\"object\",\"properties\":{\"datasetId\":{\"type\":\"string\"},\"reused\":{"
                     "\"type\":\"boolean\"},"
                     "\"name\":{\"type\":\"string\"},\"format\":{\"type\":\"string\"},\"encoding\":{\"type\":"
                     "\"string\"},\"delimiter\":{"
                     "\"type\":\"string\"},\"gzip\":{\"type\":\"boolean\"},\"sheets\":{\"type\":\"array\","
                     "\"items\":{\"type\":\"object\","
                     "\"properties\":{\"name\":{\"type\":\"string\"},\"table\":{\"type\":\"string\"},"
                     "\"valuesView\":{},\"rows\":{"
                     "\"type\":\"integer\"},\"columns\":{\"type\":\"array\",\"items\":" COLUMN_SCHEMA
                     "},\"sample\":{\"type\":\"array\"}}}},\"notes\":{\"type\":\"array\",\"items\":{\"type\":"
                     "\"object\",\"properties\":{"
                     "\"sheet\":{},\"kind\":{\"type\":\"string\"},\"count\":{\"type\":\"integer\"},\"lines\":"
                     "{\"type\":\"array\"},"
                     "\"message\":{\"type\":\"string\"}}}},\"sample\":{\"type\":\"array\",\"description\":"
                     "\"of the first sheet\"},"
                     "\"truncated\":{\"type\":\"boolean\"}}}",
    .effect = AL_EFFECT_READ,
    .idempotent = true,
    .registered = al_data_on,
    .start = inspect_start,
    .cancel = inspect_cancel,
};
