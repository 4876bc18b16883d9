/* dashboard_generate: a dataset becomes a page of charts, without code. */
#include "tools/dashboard_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "tools/publish_text.h"

#include <stdio.h>

#define PAGE AL_STR("dashboard.html")
#define MADE_ARENA ((size_t)64 << 20)
/* A dashboard is some dozens of queries in one scan. */
#define QUERIES_TIME 24
#define LEAST_MS 60000

struct dashboard {
    struct al_call *call;
    struct al_dataset_row row;
    struct al_dashboard_job *job;
    struct al_buf html, json, provenance;
    struct al_arena arena;
    const struct al_json *made;
    const char *title;
    bool plan_only;
};

static bool dashboards_on(const struct al_core *core)
{
    return al_tool_artifacts_writable(core) &&
           al_config_bool(al_core_config(core), AL_OPT_ANALYSIS_SMART_DASHBOARD);
}

static void dashboard_end(struct dashboard *d)
{
    struct al_call *call = d->call;
    al_dataset_row_fini(&d->row);
    al_buf_free(&d->html);
    al_buf_free(&d->json);
    al_buf_free(&d->provenance);
    al_arena_free(&d->arena);
    free(d);
    call->impl = NULL;
    al_call_finish(call);
}

/* --- the end: what was made is told --- */

static bool has_tool(const struct al_call *call, const char *name)
{
    return al_core_tool(call->core, al_str_of(name)) != NULL;
}

static void tell(struct dashboard *d, const struct al_publication *made)
{
    struct al_call *call = d->call;
    struct al_dashboard_shown shown = {
        .made = d->made,
        .a = made ? &made->list[0] : NULL,
        .warnings = made ? al_buf_str(&made->warnings) : AL_STR(""),
        .has_python = has_tool(call, "python_run"),
    };
    al_dashboard_result(&shown, &call->text, &call->structured);
}

static void say(struct al_call *call, struct al_str note, uint64_t done, uint64_t total)
{
    autobuf struct al_buf json = AL_BUF_INIT(512);
    struct al_jw w;
    al_jw_init(&w, &json);
    al_jw_obj(&w);
    if (done && total) {
        al_jw_kint(&w, "completed", (int64_t)done);
        al_jw_kint(&w, "total", (int64_t)total);
    }
    al_jw_kstr(&w, "note", note);
    al_jw_end(&w);
    al_call_progress(call, al_buf_str(&json));
}

static void published(void *ud, const struct al_publication *made)
{
    struct dashboard *d = ud;
    if (made) {
        say(d->call, AL_STR("ready"), 0, 0);
        tell(d, made);
    }
    dashboard_end(d);
}

static void put_provenance(struct dashboard *d)
{
    const struct al_json *plan = al_json_get(d->made, "plan");
    struct al_str goal = al_json_get_text(d->call->args, "goal");
    struct al_jw w;
    al_buf_init(&d->provenance, (size_t)2 * AL_DASHBOARD_MAX_JSON);
    al_jw_init(&w, &d->provenance);
    al_publish_text_provenance(d->call, &w);
    al_jw_kstrz(&w, "datasetId", d->row.id);
    if (d->row.sha256 && d->row.sha256[0])
        al_jw_kstrz(&w, "sourceSha256", d->row.sha256);
    if (goal.n)
        al_jw_kstr(&w, "goal", goal);
    al_jw_key(&w, "plan");
    al_jw_value(&w, plan);
    al_jw_end(&w);
}

static void read_work(void *ud)
{
    struct dashboard *d = ud;
    struct al_err *err = &d->call->err;
    if (al_json_parse(&d->arena, al_buf_str(&d->json), &d->made, err) < 0)
        return;
    struct al_str title = al_utf8_head(al_json_get_text(d->made, "title"), 120);
    d->title = title.n ? al_arena_dup(&d->arena, title) : NULL;
    if (!d->plan_only)
        put_provenance(d);
}

static void have_read(void *ud)
{
    struct dashboard *d = ud;
    struct al_call *call = d->call;
    if (call->err.code != AL_OK || atomic_load(&call->cancelled)) {
        dashboard_end(d);
        return;
    }
    if (d->plan_only) {
        tell(d, NULL);
        dashboard_end(d);
        return;
    }
    struct al_publish_text spec = {
        .call = call,
        .name = PAGE,
        .text = al_buf_str(&d->html),
        .title = d->title,
        .provenance = al_buf_str(&d->provenance),
        .done = published,
        .ud = d,
    };
    al_publish_text(&spec);
}

/* --- the process that makes it --- */

static void on_progress(void *ud, const char *stage, uint64_t done, uint64_t total)
{
    struct dashboard *d = ud;
    autobuf struct al_buf note = AL_BUF_INIT(128);
    if (strcmp(stage, "reading") == 0) {
        al_buf_adds(&note, "reading ");
        al_data_number(&note, done);
        al_buf_adds(&note, " of ");
        al_data_count(&note, total, "row", "rows");
    } else {
        al_buf_adds(&note, strcmp(stage, "writing") == 0 ? "building" : stage);
    }
    say(d->call, al_buf_str(&note), done, total);
}

/* A way on; the process that failed does not know which tools there are. */
static void advise(struct al_call *call)
{
    struct al_err *err = &call->err;
    bool python = has_tool(call, "python_run"), fits = python || !strstr(err->hint, "python_run");
    bool ours =
        err->code == AL_NO_USABLE_COLUMNS || err->code == AL_PLAN_FAILED || err->code == AL_QUERY_ERROR;
    if (!ours || (err->hint[0] && fits))
        return;
    al_hint(err, python ? "data_inspect shows the columns; python_run makes a page of any kind"
                        : "data_inspect shows the columns; data_query has their values");
}

static void on_end(void *ud, const struct al_dashboard_end *end)
{
    struct dashboard *d = ud;
    struct al_call *call = d->call;
    d->job = NULL;
    if (end->err.code == AL_OK && !d->plan_only && !end->html.n)
        al_fail(&call->err, AL_ENGINE_CRASHED, "the process of the dashboard ended without a page");
    else
        call->err = end->err;
    if (call->err.code != AL_OK || atomic_load(&call->cancelled)) {
        advise(call);
        dashboard_end(d);
        return;
    }
    al_buf_init(&d->html, AL_DASHBOARD_MAX_HTML + 1);
    al_buf_init(&d->json, AL_DASHBOARD_MAX_JSON + 1);
    al_buf_add_str(&d->html, end->html);
    al_buf_add_str(&d->json, end->json);
    al_work_start(al_core_loop(call->core), read_work, have_read, d);
}

static uint32_t time_limit(const struct al_core *core)
{
    int64_t ms = al_config_int(al_core_config(core), AL_OPT_ANALYSIS_DATA_QUERY_TIMEOUT_MS) * QUERIES_TIME;
    return (uint32_t)(ms < LEAST_MS ? LEAST_MS : ms);
}

static int start_job(struct dashboard *d, struct al_err *err)
{
    static const struct al_dashboard_ops ops = {.progress = on_progress, .end = on_end};
    struct al_call *call = d->call;
    autobuf struct al_buf request = AL_BUF_INIT(AL_DASHBOARD_MAX_REQUEST);
    autofd int fd = -1;
    if (al_data_find(call->core, al_json_get_text(call->args, "datasetId"), &d->row, err) < 0 ||
        al_dashboard_request(call, d->row.name, &request, err) < 0 ||
        al_store_dataset_open(al_core_store(call->core), &d->row, &fd, err) < 0)
        return -1;
    struct al_dashboard_spec spec = {
        .dataset_fd = fd, .request = al_buf_str(&request), .timeout_ms = time_limit(call->core)};
    d->job = al_dashboard_start(al_core_data(call->core), &spec, &ops, d, err);
    return d->job ? 0 : -1;
}

static void dashboard_start(struct al_call *call)
{
    struct dashboard *d = al_xcalloc(1, sizeof *d);
    d->call = call;
    d->plan_only = al_json_is_true(al_json_get(call->args, "plan"));
    al_arena_init(&d->arena, MADE_ARENA);
    call->impl = d;
    if (start_job(d, &call->err) < 0)
        dashboard_end(d);
}

static void dashboard_cancel(struct al_call *call)
{
    struct dashboard *d = call->impl;
    if (d && d->job)
        al_dashboard_cancel(d->job);
}

const struct al_tool al_tool_dashboard_generate = {
    .name = "dashboard_generate",
    .title = "Make a dashboard",
    .description =
        "Turns a dataset of data_inspect into a finished dashboard, without code and in one call: columns "
        "are profiled, "
        "key figures and charts that suit them and the `goal` are chosen, all numbers are computed, and one "
        "self-contained HTML page (works offline, light and dark, prints; with filters, tables, CSV and the "
        "SQL of each "
        "number) is published as an artifact that the person can open. Say in `goal` what it is for and "
        "which columns "
        "matter: \"sales and margin % by region and month\". `filters` keep some rows; `by` crosses two "
        "columns. To "
        "adjust it: `plan: true` returns the plan and builds nothing; change it and give it back as `spec`. "
        "`like` makes "
        "the same dashboard of another dataset. Read `notes`, `notShown` and `missing` of the result. The "
        "numbers are "
        "right and the page is whole: it need not be checked or built again with code. Structured: "
        "{artifactId, title, "
        "purpose, widgets: [{id, type, title, sql}], measures, dimensions, notShown, missing, notes, plan, "
        "rows, "
        "rawRows, bytes}.",
    .brief =
        "Turns a dataset into a finished dashboard (key figures, charts, tables, filters; one "
        "HTML page) and publishes it. Say in goal what it is for and which columns matter: "
        "\"sales and margin % by region and month\". The result has notes, notShown and "
        "missing. To adjust it: plan: true returns the plan; change it and pass it as spec.",
    .input_schema = al_dashboard_input_schema,
    .output_schema = al_dashboard_output_schema,
    .effect = AL_EFFECT_INTERNAL,
    .registered = dashboards_on,
    .start = dashboard_start,
    .cancel = dashboard_cancel,
};
