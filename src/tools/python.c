/*
 * python_run: what happens to a script from the call to its result. verify (of a rerun) -> choose a back end
 * -> place and row -> extras -> turn -> job with its inputs -> run -> publish -> result. Whatever takes long
 * is on the pool or comes back later; each step looks first whether the run was cancelled meanwhile.
 */
#include "tools/python_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "tools/data_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void conclude(struct python_run *r);

/* --- the end --- */

static void free_run(struct python_run *r)
{
    python_close_inputs(r);
    if (r->has_publication)
        al_publication_fini(&r->publication);
    if (r->has_job)
        al_py_job_close(&r->job);
    if (r->began)
        al_runlog_free(&r->log);
    if (r->rerun)
        al_buf_free(&r->rerun->problems);
    free(r->rerun);
    struct al_buf *bufs[] = {&r->out, &r->errors, &r->warnings, &r->provenance};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(*bufs); i++)
        al_buf_free(bufs[i]);
    al_arena_free(&r->arena);
    free(r);
}

static void end_call(struct python_run *r)
{
    struct al_call *call = r->call;
    call->err = r->err;
    al_runs_leave(r->core, &r->slot);
    call->impl = NULL;
    free_run(r);
    al_call_finish(call);
}

static void result_work(void *ud)
{
    struct python_run *r = ud;
    if (r->ran && r->cause == AL_PY_EXITED && !r->err.code && r->exit_code != 0)
        python_explain(r);
    python_result_text(r, &r->call->text);
    python_result_json(r, &r->call->structured);
}

static void result_done(void *ud)
{
    struct python_run *r = ud;
    python_journal_end(r);
    end_call(r);
}

/* With a row in the journal, so with a result; before that, a failure is only told. */
static void conclude(struct python_run *r)
{
    if (r->cancelled && r->err.code != AL_CANCELLED) {
        al_fail(&r->err, AL_CANCELLED,
                r->ran ? "the run was cancelled" : "the run was cancelled before it started");
        al_hint(&r->err, "nothing of it was published");
    }
    python_hide_in_error(r, &r->err);
    if (!r->began) {
        end_call(r);
        return;
    }
    al_work_start(al_core_loop(r->core), result_work, result_done, r);
}

static bool stopped(struct python_run *r)
{
    r->busy = false;
    if (!r->cancelled && r->err.code == AL_OK)
        return false;
    conclude(r);
    return true;
}

/* --- publishing --- */

static void publish_work(void *ud)
{
    struct python_run *r = ud;
    const struct al_session *session = al_core_session(r->core);
    autofd int staging = -1;
    /* What it says last, before its files are looked at: why it failed. */
    if (r->exit_code != 0)
        python_explain(r);
    struct al_err err = {0};
    staging = openat(r->job.fd, "staging", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (staging < 0) {
        al_fail_errno(&err, AL_PUBLISH_REJECTED, errno, "the output folder cannot be read");
        r->publish_err = err;
        return;
    }
    python_provenance(r);
    struct al_publish_spec spec = {
        .state_dir = al_store_dir(al_core_store(r->core)),
        .workspace = session->workspace,
        .session = session->id,
        .execution = r->id,
        .staging_fd = staging,
        .title = r->title,
        .limits = r->limits.publish,
        .partial = r->partial,
        .provenance = al_buf_str(&r->provenance),
    };
    if (al_publish_build(&spec, &r->publication, &err) < 0)
        r->publish_err = err;
    else
        r->has_publication = true;
    if (r->has_publication && r->publication.n == 0)
        python_note_left(r);
}

static void take_warnings(struct python_run *r)
{
    struct al_str rest = al_buf_str(&r->publication.warnings), line;
    while (al_tool_next_line(&rest, &line)) {
        static const char prefix[] = "warning: ";
        if (al_str_starts(line, prefix))
            line = (struct al_str){line.p + strlen(prefix), line.n - strlen(prefix)};
        al_buf_add_str(&r->warnings, line);
        al_buf_addc(&r->warnings, '\n');
    }
}

static void published(void *ud)
{
    struct python_run *r = ud;
    uint64_t quota = (uint64_t)al_config_int(al_core_config(r->core), AL_OPT_STORAGE_MAX_BYTES);
    r->busy = false;
    if (r->has_publication && !r->cancelled) {
        take_warnings(r);
        if (r->publication.n == 0 ||
            al_publish_commit(&r->publication, al_core_store(r->core), quota, &r->publish_err) >= 0)
            r->published = true;
    }
    python_hide_in_error(r, &r->publish_err);
    /* Of a script that failed, that is what counts; that its files were refused, too, is told beside it. */
    if (r->publish_err.code && !r->err.code)
        r->err = r->publish_err;
    else if (r->publish_err.code)
        al_buf_addf(&r->warnings, "not published: %s\n", r->publish_err.msg);
    conclude(r);
}

/* --- the script --- */

static void on_started(void *ud, int64_t pid)
{
    struct python_run *r = ud;
    al_runlog_started(&r->log, pid);
}

static void on_progress(void *ud, struct al_str json)
{
    struct python_run *r = ud;
    al_runlog_progress(&r->log, json);
    al_call_progress(r->call, json);
}

static void on_output(void *ud, bool is_error, struct al_str bytes)
{
    struct python_run *r = ud;
    python_journal_output(r, is_error, bytes);
    al_call_output(r->call, is_error, bytes);
}

static void take_output(struct python_run *r, const struct al_py_output *from, const char *name,
                        struct al_buf *to, uint64_t *ret_bytes)
{
    al_buf_init(to, 4 * (PYTHON_HEAD + PYTHON_TAIL) + 4096);
    python_hide_paths(r, from->text, to);
    *ret_bytes = from->bytes;
    if (from->logged >= from->bytes)
        return;
    autobuf struct al_buf sizes = AL_BUF_INIT(128);
    al_text_bytes(&sizes, from->bytes);
    al_buf_adds(&sizes, ", of which the log file has the first ");
    al_text_bytes(&sizes, from->logged);
    al_buf_addf(&r->warnings, "the script wrote %.*s to %s (analysis.limits.maxLogBytes)\n",
                AL_FMT(al_buf_str(&sizes)), name);
}

static void take_end(struct python_run *r, const struct al_py_run_end *end)
{
    r->ran = end->cause != AL_PY_NOT_STARTED;
    r->cause = end->cause;
    r->exit_code = end->exit_code;
    r->signal = end->signal;
    r->duration_ms = end->duration_ms;
    r->cpu_ms = end->cpu_ms;
    r->peak_bytes = end->peak_bytes;
    r->memory = end->memory;
    r->pids = end->pids;
    r->disk = end->disk;
    take_output(r, &end->out, "stdout", &r->out, &r->out_bytes);
    take_output(r, &end->errors, "stderr", &r->errors, &r->errors_bytes);
}

static void on_end(void *ud, const struct al_py_run_end *end)
{
    struct python_run *r = ud;
    r->run = NULL;
    take_end(r, end);
    if (end->cause != AL_PY_EXITED) {
        r->err = end->err;
        r->cancelled |= end->cause == AL_PY_STOPPED;
        if (end->cause == AL_PY_NOT_STARTED)
            al_pyrun_forget(r->pyrun, r->backend);
    }
    bool wanted = end->cause == AL_PY_EXITED && !r->cancelled && (end->exit_code == 0 || r->publish_on_error);
    if (!wanted) {
        conclude(r);
        return;
    }
    r->partial = end->exit_code != 0;
    r->busy = true;
    al_work_start(al_core_loop(r->core), publish_work, published, r);
}

static void run_job(struct python_run *r)
{
    static const struct al_py_run_ops ops = {
        .started = on_started, .progress = on_progress, .output = on_output, .end = on_end};
    struct al_scratch *scratch = al_core_scratch(r->core);
    struct al_py_run_spec spec = {
        .job = &r->job,
        .backend = r->backend,
        .timeout_ms = r->limits.timeout_ms,
        .venv = r->venv,
        .promised = &r->probe.isolation,
        .scratch = r->scratch_fd >= 0 ? al_scratch_path(scratch) : NULL,
        .max_head = PYTHON_HEAD,
        .max_tail = PYTHON_TAIL,
    };
    r->started_ms = al_wall_ms();
    r->run = al_py_run_start(r->pyrun, &spec, &ops, r, &r->err);
    if (r->run)
        return;
    if (r->err.code == AL_RUNTIME_UNAVAILABLE)
        al_pyrun_forget(r->pyrun, r->backend);
    conclude(r);
}

static void job_work(void *ud)
{
    struct python_run *r = ud;
    struct al_scratch *scratch = al_core_scratch(r->core);
    struct al_err ignored;
    if (scratch)
        r->scratch_fd = al_scratch_fd(scratch, &ignored);
    python_make_job(r);
}

static void job_done(void *ud)
{
    struct python_run *r = ud;
    if (!stopped(r))
        run_job(r);
}

static void go(void *ud)
{
    struct python_run *r = ud;
    if ((!r->rerun && python_open_inputs(r, &r->err) < 0) || python_stored(r, &r->err) < 0) {
        conclude(r);
        return;
    }
    r->busy = true;
    al_work_start(al_core_loop(r->core), job_work, job_done, r);
}

/* --- before it starts --- */

void python_extras_done(struct python_run *r)
{
    if (!stopped(r))
        al_runs_wait(r->core, &r->slot);
}

/* The person, or a flag, decided about what was known then; a weaker wall is another question. */
static void check_wall(struct python_run *r)
{
    enum al_py_isolation decided = r->call->decided_isolation;
    if (r->err.code || al_py_isolation_covers(decided, r->probe.isolation))
        return;
    al_fail(&r->err, AL_APPROVAL_REQUIRED, "python_run was allowed behind %s, and only %s (%s) is there now",
            al_py_isolation_name(decided), al_py_isolation_name(r->probe.isolation),
            al_py_backend_name(r->backend));
    al_hint(&r->err, "call it again: then this is what is asked about");
}

static void admit(struct python_run *r)
{
    struct al_err err = {0};
    if (al_runs_admit(r->core, &r->slot, &err) < 0 || python_journal_begin(r, &err) < 0) {
        r->err = err;
        conclude(r);
        return;
    }
    snprintf(r->call->execution_id, sizeof(r->call->execution_id), "%s", r->id);
    check_wall(r);
    if (r->err.code)
        conclude(r);
    else
        python_extras(r);
}

static void chosen(void *ud, const struct al_py_probe *probe, enum al_py_backend backend,
                   struct al_str reason, const struct al_err *err)
{
    struct python_run *r = ud;
    r->choosing = false;
    if (err && err->code != AL_OK) {
        r->err = *err;
    } else {
        r->chosen = true;
        r->backend = backend;
        r->probe = *probe;
        autobuf struct al_buf hidden = AL_BUF_INIT(64u << 10);
        python_hide_paths(r, reason, &hidden);
        r->reason = al_arena_dup(&r->arena, al_buf_str(&hidden));
        /* Never a silent downgrade. */
        if (probe->isolation >= AL_PY_RESTRICTED_PROCESS && al_pyrun_wanted(r->pyrun) == AL_PY_N)
            al_buf_addf(&r->warnings, "no sandbox held this script: %s\n", r->reason ? r->reason : "");
    }
    r->busy = false;
    if (r->cancelled)
        conclude(r);
    else
        admit(r);
}

static void choose(struct python_run *r)
{
    r->busy = r->choosing = true;
    al_pyrun_choose(r->pyrun, chosen, r);
}

static void verify_work(void *ud)
{
    python_rerun_verify(ud);
}

static void verified(void *ud)
{
    struct python_run *r = ud;
    if (!r->cancelled && python_rerun_verdict(r, &r->err) < 0)
        r->busy = false;
    if (!stopped(r))
        choose(r);
}

static int begin_rerun(struct python_run *r, struct al_err *err)
{
    const struct al_json *v = al_json_get(r->call->args, "rerunOf");
    autobuf struct al_buf code = AL_BUF_INIT(AL_SCRIPT_MAX_CODE_BYTES);
    r->rerun = al_xcalloc(1, sizeof(*r->rerun));
    /* Found a second time: what prepare read is what runs, and this is where it came from. */
    if (python_rerun_find(r->core, v->str, r->rerun, &r->arena, &code, err) < 0 ||
        python_rerun_inputs(r, err) < 0)
        return -1;
    r->busy = true;
    al_work_start(al_core_loop(r->core), verify_work, verified, r);
    return 0;
}

/* --- the call --- */

static void cancel_run(void *ud)
{
    struct python_run *r = ud;
    if (r->cancelled)
        return;
    r->cancelled = true;
    atomic_store(&r->stop, true);
    if (r->run) {
        al_py_run_cancel(r->run);
    } else if (r->choosing) {
        /* A program that it asks may hang. */
        al_pyrun_unchoose(r->pyrun, r);
        r->busy = r->choosing = false;
        conclude(r);
    } else if (r->install) {
        python_extras_cancel(r);
    } else if (!r->busy && (r->asking || r->slot.state == AL_SLOT_WAITING)) {
        al_runs_leave(r->core, &r->slot);
        conclude(r);
    }
}

static void cancel(struct al_call *call)
{
    if (call->impl)
        cancel_run(call->impl);
}

static struct python_run *new_run(struct al_call *call)
{
    struct python_run *r = al_xcalloc(1, sizeof(*r));
    r->call = call;
    r->core = call->core;
    r->pyrun = al_core_pyrun(call->core);
    r->created_ms = al_wall_ms();
    r->exit_code = -1;
    r->scratch_fd = -1;
    atomic_init(&r->stop, false);
    al_arena_init(&r->arena, PYTHON_ARENA);
    al_buf_init(&r->warnings, 256u << 10);
    al_id_new(r->id, "exec_");
    r->slot = (struct al_run_slot){
        .id = r->id, .go = go, .cancel = cancel_run, .ud = r, .nested = call->origin == AL_ORIGIN_SCRIPT};
    return r;
}

static void start(struct al_call *call)
{
    struct python_run *r = new_run(call);
    call->impl = r;
    if (python_read_input(r, &r->err) < 0) {
        conclude(r);
    } else if (!al_json_get(call->args, "rerunOf")) {
        choose(r);
    } else if (begin_rerun(r, &r->err) < 0) {
        conclude(r);
    }
}

static bool registered(const struct al_core *core)
{
    return al_data_on(core) && !al_core_policy(core)->read_only;
}

#define INPUT_SCHEMA                                                                                           \
    "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":"        \
    "200000,"                                                                                                  \
    "\"description\":\"The script. Exactly one of code, codePath and rerunOf.\"},\"codePath\":{\"type\":"      \
    "\"string\",\"minLength\":1,\"maxLength\":4095,\"description\":\"A file in the scratchpad, as "            \
    "analysis.py.\"},\"rerunOf\":{\"type\":\"string\",\"minLength\":5,\"maxLength\":64,\"description\":"       \
    "\"art_… "                                                                                               \
    "or exec_…: the same script on the same inputs; inputs given here replace those of the same "            \
    "name.\"},\"title\":{\"type\":\"string\",\"maxLength\":200,\"description\":\"What it makes, in a few "     \
    "words.\"},\"inputs\":{\"type\":\"array\",\"maxItems\":20,\"items\":{\"type\":\"object\","                 \
    "\"properties\":{"                                                                                         \
    "\"path\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096,\"description\":\"A file of the "        \
    "workspace, or scratch:NAME\"},\"datasetId\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":64,"       \
    "\"description\":\"ds_… of data_inspect; arrives as NAME.sqlite\"},\"artifactId\":{\"type\":\"string\"," \
    "\"minLength\":1,\"maxLength\":64},\"as\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":255,"         \
    "\"description\":\"Its name for the "                                                                      \
    "script\"}},\"additionalProperties\":false},\"description\":\"Copied into "                                \
    "input_dir(); each is exactly one of path, datasetId and artifactId.\"},\"timeoutMs\":{\"type\":"          \
    "\"integer\",\"minimum\":1000,\"maximum\":900000,\"description\":\"At most, and by default, "              \
    "analysis.limits.timeoutMs.\"},\"publishOnError\":{\"type\":\"boolean\",\"description\":\"Publish what "   \
    "a "                                                                                                       \
    "failed script left, marked "                                                                              \
    "partial.\"},\"extras\":{\"type\":\"array\",\"maxItems\":2,\"items\":{\"enum\":["                          \
    "\"analysis\",\"science\"]},\"description\":\"analysis: pandas, numpy, matplotlib, openpyxl, "             \
    "python-docx, "                                                                                            \
    "reportlab, plotly, jinja2. science: those, scipy, statsmodels, "                                          \
    "scikit-learn.\"}},\"additionalProperties\":false}"

#define OUTPUT_SCHEMA                                                                                      \
    "{\"type\":\"object\",\"properties\":{\"executionId\":{\"type\":\"string\"},\"status\":{\"type\":"     \
    "\"string\"},"                                                                                         \
    "\"exitCode\":{\"type\":[\"integer\",\"null\"]},\"backend\":{\"type\":[\"string\",\"null\"]},"         \
    "\"isolation\":{"                                                                                      \
    "\"type\":[\"string\",\"null\"]},\"reason\":{\"type\":[\"string\",\"null\"]},\"artifacts\":{\"type\":" \
    "\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"title\":{"    \
    "\"type\":"                                                                                            \
    "\"string\"},\"fileName\":{\"type\":\"string\"},\"kind\":{\"type\":\"string\"},\"bytes\":{\"type\":"   \
    "\"integer\"},\"files\":{\"type\":\"integer\"},\"partial\":{\"type\":\"boolean\"}}}},\"stdout\":{"     \
    "\"type\":"                                                                                            \
    "\"string\"},\"stderr\":{\"type\":\"string\"},\"warnings\":{\"type\":\"array\",\"items\":{\"type\":"   \
    "\"string\"}},\"inputs\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},\"limits\":{\"type\":"   \
    "\"object\"},\"durationMs\":{\"type\":\"integer\"},\"error\":{\"type\":\"object\"}},\"required\":["    \
    "\"executionId\",\"status\"]}"

const struct al_tool al_tool_python_run = {
    .name = "python_run",
    .title = "Run Python",
    .description =
        "Runs one Python script in a folder of its own, and publishes every file that it leaves in "
        "output_dir() as "
        "an artifact (exit code 0; after a failure nothing, unless publishOnError).\n"
        "The script sees its inputs and nothing else of the workspace: pass files, datasets (ds_…) and "
        "artifacts "
        "(art_…) in inputs; they are copied into input_dir(). There is no network. The standard library, "
        "sqlite3 "
        "and alisio_runtime are always there, pandas and friends with extras. What it prints comes back (the "
        "last 4 "
        "KiB); print figures that you need, write files for people.\n"
        "Example: from alisio_runtime import output_dir, datasets, charts\n"
        "db = datasets.open(\"sales\")  # inputs: [{\"datasetId\": \"ds_…\"}] of sales.csv; sqlite3, table "
        "data\n"
        "rows = db.execute(\"SELECT region, sum(amount) FROM data GROUP BY 1\").fetchall()\n"
        "charts.write(\"sales.html\", \"Sales\", charts.card(\"By region\", charts.bar([r[0] for r in rows], "
        "[r[1] "
        "for r in rows])))\n"
        "(output_dir() / \"summary.md\").write_text(f\"{len(rows)} regions\\n\")\n"
        "A plain file is open(input_dir() / \"sales.csv\"). Each file at the top of output_dir() is one "
        "artifact, a "
        "folder with index.html one dashboard, another folder a ZIP; outputs.declare(\"a.html\", "
        "title=\"…\") "
        "chooses and names them. HTML is shown offline: nothing from a CDN; charts come from charts or svg. "
        "progress(done, total, note) shows progress. rerunOf runs an earlier script again, and inputs of the "
        "same "
        "name replace the recorded ones.",
    .brief =
        "Runs one Python script and publishes each file that it leaves in output_dir() as an "
        "artifact. It sees only its inputs, copied into input_dir(), and no network. pandas "
        "and friends need extras. Print the figures that you need (the last 4 KiB come back); "
        "write files for the person.\n"
        "Example, with inputs [{\"datasetId\": \"ds_…\"}] of sales.csv:\n"
        "from alisio_runtime import datasets, charts, input_dir, output_dir\n"
        "rows = datasets.open(\"sales\").execute(\"SELECT region, sum(amount) FROM data GROUP "
        "BY 1\").fetchall()\n"
        "charts.write(\"sales.html\", \"Sales\", charts.card(\"By region\", charts.bar([r[0] "
        "for r in rows], [r[1] for r in rows])))\n"
        "(output_dir() / \"note.md\").write_text(\"…\")\n"
        "HTML is shown offline.",
    .input_schema = INPUT_SCHEMA,
    .output_schema = OUTPUT_SCHEMA,
    .effect = AL_EFFECT_PROCESS,
    .capability = AL_CAP_ANALYSIS_RUN,
    .expose = "approval",
    .input_code = AL_INVALID_INPUT,
    .own_run = true,
    .prepare = python_prepare,
    .start = start,
    .cancel = cancel,
    .registered = registered,
};
