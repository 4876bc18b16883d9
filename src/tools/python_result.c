/* What a Python run says at its end: a text for a model, a structured value for scripts and faces, and the
 * provenance that its artifacts carry. */
#include "tools/python_int.h"

#include "base/text.h"

#include <stdio.h>

#define SHOWN_ARTIFACTS 12u /* in the head line */
#define MAX_WARNING 1000u   /* bytes of a line */
#define MAX_PROVENANCE (1u << 20)

const char *python_status(const struct python_run *r)
{
    switch (r->err.code) {
    case AL_OK:
        return "completed";
    case AL_CANCELLED:
        return "cancelled";
    case AL_TIMEOUT:
        return "timed_out";
    case AL_INTERRUPTED:
        return "interrupted";
    default:
        return "failed";
    }
}

/* --- the text --- */

static void add_end(const struct python_run *r, struct al_buf *out)
{
    if (!r->ran)
        al_buf_adds(out, "not started");
    else if (r->cause == AL_PY_TIMED_OUT)
        al_buf_adds(out, "timed out");
    else if (r->cause == AL_PY_STOPPED || r->err.code == AL_CANCELLED)
        al_buf_adds(out, "cancelled");
    else if (r->exit_code >= 0 && r->cause == AL_PY_EXITED)
        al_buf_addf(out, "exit code %d", r->exit_code);
    else if (r->cause == AL_PY_EXITED)
        al_buf_addf(out, "ended by SIG%s", sigabbrev_np(r->signal) ? sigabbrev_np(r->signal) : "?");
    else
        al_buf_adds(out, "stopped at a limit");
    if (r->ran) {
        al_buf_adds(out, ", ");
        al_text_duration(out, r->duration_ms);
    }
    if (r->chosen)
        al_buf_addf(out, ", %s (%s)", al_py_backend_name(r->backend),
                    al_py_isolation_name(r->probe.isolation));
}

static void add_artifact(const struct al_artifact *a, struct al_buf *out)
{
    al_text_visible(out, al_utf8_head(al_str_of(a->file_name), 100), false);
    al_buf_addf(out, " (%s, ", a->kind);
    al_text_bytes(out, (uint64_t)a->bytes);
    if (a->n_files > 1)
        al_buf_addf(out, ", %lld files", (long long)a->n_files);
    al_buf_addf(out, "%s, %s)", a->partial ? ", partial" : "", a->id);
}

static const char *why_nothing(const struct python_run *r)
{
    if (!r->ran)
        return "nothing ran";
    if (r->cause == AL_PY_TIMED_OUT)
        return "it ran out of time";
    if (r->err.code == AL_CANCELLED)
        return "it was cancelled";
    if (r->err.code == AL_PYTHON_FAILED && !r->publish_on_error)
        return "the script failed (publishOnError publishes all the same)";
    if (r->err.code == AL_PUBLISH_REJECTED)
        return "the publication was rejected";
    if (r->err.code == AL_MEMORY_LIMIT || r->cause == AL_PY_MEMORY)
        return "it needed too much memory";
    if (r->cause == AL_PY_DISK)
        return "it wrote too much";
    if (r->err.code && r->err.code != AL_PYTHON_FAILED)
        return "they could not be kept";
    return "the output folder is empty";
}

static void add_published(const struct python_run *r, struct al_buf *out)
{
    const struct al_publication *p = &r->publication;
    if (!r->published || p->n == 0) {
        al_buf_addf(out, "; nothing published: %s", why_nothing(r));
        return;
    }
    al_buf_adds(out, "; published ");
    if (p->n > 1)
        al_buf_addf(out, "%zu: ", p->n);
    for (size_t i = 0; i < p->n && i < SHOWN_ARTIFACTS; i++) {
        al_buf_adds(out, i ? ", " : "");
        add_artifact(&p->list[i], out);
    }
    if (p->n > SHOWN_ARTIFACTS)
        al_buf_addf(out, " and %zu more", p->n - SHOWN_ARTIFACTS);
}

/* The last of it, from the beginning of a line where there is one near. */
static struct al_str tail_of(struct al_str text, size_t max)
{
    if (text.n <= max)
        return text;
    struct al_str tail = {text.p + text.n - max, max};
    const char *line = memchr(tail.p, '\n', tail.n);
    size_t skip = line && (size_t)(line - tail.p) < max / 2 ? (size_t)(line - tail.p) + 1 : 0;
    while (!skip && tail.n && ((unsigned char)*tail.p & 0xc0) == 0x80)
        tail = (struct al_str){tail.p + 1, tail.n - 1};
    return (struct al_str){tail.p + skip, tail.n - skip};
}

static void add_stream(const char *title, const struct al_buf *text, uint64_t written, size_t max,
                       struct al_buf *out)
{
    struct al_str all = al_buf_str(text), tail = tail_of(all, max);
    if (!all.n)
        return;
    al_buf_addf(out, "--- %s ---\n", title);
    if (tail.n < all.n) {
        al_buf_adds(out, "… (the last of ");
        al_text_bytes(out, written > all.n ? written : all.n);
        al_buf_adds(out, ")\n");
    }
    al_buf_add_str(out, tail);
    if (tail.n && tail.p[tail.n - 1] != '\n')
        al_buf_addc(out, '\n');
}

static void add_warnings(const struct python_run *r, struct al_buf *out)
{
    struct al_str rest = al_buf_str(&r->warnings), line;
    while (al_tool_next_line(&rest, &line)) {
        al_buf_adds(out, "warning: ");
        al_text_visible(out, al_utf8_cut(line, MAX_WARNING), false);
        al_buf_addc(out, '\n');
    }
}

/* Of what a model may read the head says how it ended, and the traceback is at the end: both must be there.
 */
void python_result_text(const struct python_run *r, struct al_buf *out)
{
    size_t max = (size_t)al_config_int(al_core_config(r->core), AL_OPT_FORGE_JAVASCRIPT_MAX_OUTPUT_CHARS);
    add_end(r, out);
    add_published(r, out);
    al_buf_addc(out, '\n');
    if (r->err.code)
        al_buf_addf(out, "%s: %s\n", al_code_name(r->err.code), r->err.msg);
    if (r->err.code && r->err.hint[0])
        al_buf_addf(out, "hint: %s\n", r->err.hint);
    add_warnings(r, out);
    size_t used = al_utf8_count(al_buf_str(out)), frames = 160;
    size_t room = max > used + frames ? max - used - frames : 0;
    size_t for_errors = room / 2 < PYTHON_TEXT_TAIL ? room / 2 : PYTHON_TEXT_TAIL;
    if (r->errors.n < for_errors)
        for_errors = r->errors.n;
    size_t for_out = room - for_errors < PYTHON_TEXT_TAIL ? room - for_errors : PYTHON_TEXT_TAIL;
    add_stream("stdout", &r->out, r->out_bytes, for_out, out);
    add_stream("stderr", &r->errors, r->errors_bytes, for_errors, out);
}

/* --- the structured value --- */

static void add_artifacts(const struct python_run *r, struct al_jw *w)
{
    al_jw_key(w, "artifacts");
    al_jw_arr(w);
    for (size_t i = 0; r->published && i < r->publication.n; i++) {
        const struct al_artifact *a = &r->publication.list[i];
        al_jw_obj(w);
        al_jw_kstrz(w, "id", a->id);
        al_jw_kstrz(w, "title", a->title);
        al_jw_kstrz(w, "fileName", a->file_name);
        al_jw_kstrz(w, "kind", a->kind);
        al_jw_kint(w, "bytes", a->bytes);
        al_jw_kint(w, "files", a->n_files);
        al_jw_kbool(w, "partial", a->partial);
        al_jw_end(w);
    }
    al_jw_end(w);
}

static void add_error(const struct python_run *r, struct al_jw *w)
{
    if (!r->err.code)
        return;
    al_jw_key(w, "error");
    al_jw_obj(w);
    al_jw_kstrz(w, "code", al_code_name(r->err.code));
    al_jw_kstrz(w, "message", r->err.msg);
    if (r->err.hint[0])
        al_jw_kstrz(w, "hint", r->err.hint);
    al_jw_end(w);
}

static void put_extras(const struct python_run *r, struct al_jw *w)
{
    al_jw_key(w, "extras");
    al_jw_arr(w);
    for (size_t i = 0; i < r->n_extras; i++)
        al_jw_strz(w, r->extras[i]);
    al_jw_end(w);
}

static void add_lists(const struct python_run *r, struct al_jw *w)
{
    struct al_str rest = al_buf_str(&r->warnings), line;
    al_jw_key(w, "warnings");
    al_jw_arr(w);
    while (al_tool_next_line(&rest, &line))
        al_jw_str(w, al_utf8_cut(line, MAX_WARNING));
    al_jw_end(w);
    al_jw_key(w, "inputs");
    python_inputs_json(r, false, w);
    if (r->n_extras)
        put_extras(r, w);
}

static void add_rerun(const struct python_run *r, struct al_jw *w)
{
    if (!r->rerun)
        return;
    al_jw_kstrz(w, "rerunOf", r->rerun->execution);
    if (r->rerun->artifact[0])
        al_jw_kstrz(w, "rerunOfArtifact", r->rerun->artifact);
    if (!r->rerun->n_replaced)
        return;
    al_jw_key(w, "replacedInputs");
    al_jw_arr(w);
    for (size_t i = 0; i < r->rerun->n_replaced; i++)
        al_jw_strz(w, r->rerun->replaced[i]);
    al_jw_end(w);
}

/* What is long stands at the end, so that a reader of the first members need not pass it. */
void python_result_json(const struct python_run *r, struct al_buf *out)
{
    autobuf struct al_buf limits = AL_BUF_INIT(8192);
    struct al_jw w;
    python_limits_json(r, &limits);
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "executionId", r->id);
    al_jw_kstrz(&w, "status", python_status(r));
    al_jw_key(&w, "exitCode");
    if (r->ran && r->cause == AL_PY_EXITED && r->exit_code >= 0)
        al_jw_int(&w, r->exit_code);
    else
        al_jw_null(&w);
    al_jw_kstrz(&w, "backend", r->chosen ? al_py_backend_name(r->backend) : NULL);
    al_jw_kstrz(&w, "isolation", r->chosen ? al_py_isolation_name(r->probe.isolation) : NULL);
    al_jw_kstrz(&w, "reason", r->reason);
    add_error(r, &w);
    add_artifacts(r, &w);
    add_rerun(r, &w);
    add_lists(r, &w);
    al_jw_kraw(&w, "limits", al_buf_str(&limits));
    al_jw_kint(&w, "durationMs", (int64_t)r->duration_ms);
    al_jw_kint(&w, "cpuMs", (int64_t)r->cpu_ms);
    al_jw_kstr(&w, "stdout", al_buf_str(&r->out));
    al_jw_kstr(&w, "stderr", al_buf_str(&r->errors));
    al_jw_end(&w);
}

/* --- the provenance --- */

static void put_runtime(const struct python_run *r, struct al_jw *w)
{
    al_jw_key(w, "runtime");
    al_jw_obj(w);
    al_jw_kstrz(w, "backend", al_py_backend_name(r->backend));
    al_jw_kstrz(w, "isolation", al_py_isolation_name(r->probe.isolation));
    al_jw_kstrz(w, "reason", r->reason);
    if (r->probe.python[0])
        al_jw_kstrz(w, "python", r->probe.python);
    if (r->backend == AL_PY_OCI) {
        al_jw_kstrz(w, "engine", r->probe.version);
        al_jw_kstrz(w, "image", al_config_text(al_core_config(r->core), AL_OPT_ANALYSIS_OCI_IMAGE));
    } else {
        put_extras(r, w);
    }
    al_jw_end(w);
}

static void put_inputs(const struct python_run *r, struct al_jw *w)
{
    al_jw_key(w, "inputs");
    al_jw_arr(w);
    for (size_t i = 0; i < r->n_inputs; i++) {
        const struct python_input *in = &r->inputs[i];
        al_jw_obj(w);
        al_jw_kstrz(w, "name", in->copy.name);
        al_jw_kstrz(w, "sha256", in->sha256);
        if (in->kind != PYTHON_FILE)
            al_jw_kstr(w, in->kind == PYTHON_DATASET ? "datasetId" : "artifactId", in->id);
        al_jw_end(w);
    }
    al_jw_end(w);
}

void python_provenance(struct python_run *r)
{
    char at[AL_TIME_MAX];
    struct al_jw w;
    al_time_iso(at, r->created_ms);
    al_buf_init(&r->provenance, MAX_PROVENANCE);
    al_jw_init(&w, &r->provenance);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "date", at);
    al_jw_kstrz(&w, "sessionId", al_core_session(r->core)->id);
    al_jw_kstrz(&w, "runId", r->call->run_id ? r->call->run_id : r->id);
    put_runtime(r, &w);
    al_jw_kstrz(&w, "scriptSha256", r->sha256);
    put_inputs(r, &w);
    add_rerun(r, &w);
    if (r->call->client.n && al_json_check(r->call->client, 8))
        al_jw_kraw(&w, "client", r->call->client);
    al_jw_end(&w);
}
