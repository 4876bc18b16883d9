/* The job of a run: its script, copies of its inputs, and what they are. */
#include "tools/python_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/path.h"
#include "tools/data_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_SHEETS (64u << 10) /* as the dataset's row has them */

static const char *keep(struct python_run *r, struct al_str s)
{
    return al_arena_dup(&r->arena, s);
}

static struct al_str last_part(struct al_str path)
{
    for (size_t i = path.n; i > 0; i--) {
        if (path.p[i - 1] == '/' || path.p[i - 1] == ':')
            return (struct al_str){path.p + i, path.n - i};
    }
    return path;
}

/* --- finding and opening, in the loop's thread --- */

static bool ends_in_dataset(struct al_str name)
{
    return al_str_ends(name, ".sqlite") && name.n > strlen(".sqlite");
}

/* "sales.csv.gz" becomes "sales.sqlite"; what is none of letters, digits, "-", "_" and "." becomes "_". */
static const char *dataset_name(struct python_run *r, struct al_str name)
{
    autobuf struct al_buf out = AL_BUF_INIT(2 * PYTHON_MAX_NAME);
    if (al_str_ends(name, ".gz"))
        name.n -= strlen(".gz");
    for (size_t i = name.n; i > 1; i--) {
        if (name.p[i - 1] == '.') {
            name.n = i - 1;
            break;
        }
    }
    name = al_utf8_cut(name, PYTHON_MAX_NAME - strlen(".sqlite"));
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || strchr("-_.", c);
        al_buf_addc(&out, c && plain ? (char)c : '_');
    }
    al_buf_adds(&out, name.n ? ".sqlite" : "dataset.sqlite");
    return keep(r, al_buf_str(&out));
}

static int open_dataset(struct python_run *r, struct python_input *in, struct al_err *err)
{
    struct al_dataset_row row = {0};
    if (al_data_find(r->core, in->id, &row, err) < 0)
        return -1;
    int done = al_store_dataset_open(al_core_store(r->core), &row, &in->fd, err);
    if (!in->as)
        in->as = dataset_name(r, al_str_of(row.name));
    else if (!ends_in_dataset(al_str_of(in->as)))
        in->as = al_arena_printf(&r->arena, "%s.sqlite", in->as);
    in->source = keep(r, al_str_of(row.name));
    in->format = row.format ? keep(r, al_str_of(row.format)) : NULL;
    in->sheets = row.sheets && strlen(row.sheets) <= MAX_SHEETS ? keep(r, al_str_of(row.sheets)) : NULL;
    snprintf(in->sha256, sizeof(in->sha256), "%s", row.sha256 ? row.sha256 : "");
    al_dataset_row_fini(&row);
    return done;
}

static int no_artifact(struct al_str id, struct al_err *err)
{
    autobuf struct al_buf shown = AL_BUF_INIT(512);
    al_text_visible(&shown, al_utf8_head(id, 60), false);
    al_fail(err, AL_NOT_FOUND, "\"%.*s\" is not the id of an artifact", AL_FMT(al_buf_str(&shown)));
    return al_hint(err, "ids begin with art_; artifact_list shows them");
}

static int open_artifact(struct python_run *r, struct python_input *in, struct al_err *err)
{
    struct al_store *store = al_core_store(r->core);
    struct al_artifact a = {0};
    autobuf struct al_buf path = AL_BUF_INIT(8192);
    char id[AL_ID_MAX];
    const char *mime;
    int64_t bytes;
    if (!al_id_valid(in->id, "art"))
        return no_artifact(in->id, err);
    snprintf(id, sizeof(id), "%.*s", AL_FMT(in->id));
    if (al_store_artifact_get(store, id, al_workspace_root(al_core_workspace(r->core)), &a, err) < 0)
        return -1;
    int done = al_artifact_open(store, &a, NULL, &in->fd, &path, &bytes, &mime, err);
    if (done == 0) {
        if (!in->as)
            in->as = keep(r, last_part(a.n_files > 1 ? al_buf_str(&path) : al_str_of(a.file_name)));
        in->source = keep(r, al_str_of(a.file_name));
        if (a.n_files > 1)
            al_buf_addf(&r->warnings, "%s has %lld files; the one that opens it was copied, as %s\n", a.id,
                        (long long)a.n_files, in->as);
    }
    al_artifact_fini(&a);
    return done;
}

int python_open_inputs(struct python_run *r, struct al_err *err)
{
    for (size_t i = 0; i < r->n_inputs; i++) {
        struct python_input *in = &r->inputs[i];
        if (in->kept || in->fd >= 0)
            continue;
        if (in->kind == PYTHON_FILE && !in->as)
            in->as = keep(r, last_part(in->path));
        if (in->kind == PYTHON_DATASET && open_dataset(r, in, err) < 0)
            return -1;
        if (in->kind == PYTHON_ARTIFACT && open_artifact(r, in, err) < 0)
            return -1;
    }
    return 0;
}

void python_close_inputs(struct python_run *r)
{
    for (size_t i = 0; i < r->n_inputs; i++)
        al_close(&r->inputs[i].fd);
}

/* --- what inputs are --- */

static void put_ids(const struct python_input *in, struct al_jw *w)
{
    if (in->kind != PYTHON_FILE)
        al_jw_kstr(w, in->kind == PYTHON_DATASET ? "datasetId" : "artifactId", in->id);
}

void python_inputs_json(const struct python_run *r, bool whole, struct al_jw *w)
{
    al_jw_arr(w);
    for (size_t i = 0; i < r->n_inputs; i++) {
        const struct python_input *in = &r->inputs[i];
        if (!in->copy.name[0])
            continue;
        al_jw_obj(w);
        al_jw_kstrz(w, "name", in->copy.name);
        al_jw_kstrz(w, "kind", python_kind_name(in->kind));
        al_jw_kint(w, "bytes", in->copy.bytes);
        al_jw_kstrz(w, "sha256", in->sha256);
        put_ids(in, w);
        if (whole || strcmp(in->sha256, in->copy.sha256) != 0)
            al_jw_kstrz(w, "copySha256", in->copy.sha256);
        al_jw_end(w);
    }
    al_jw_end(w);
}

static void manifest_entry(const struct python_input *in, struct al_jw *w)
{
    if (in->manifest) {
        al_jw_raw(w, al_str_of(in->manifest));
        return;
    }
    al_jw_obj(w);
    al_jw_kstrz(w, "name", in->copy.name);
    al_jw_kstrz(w, "kind", python_kind_name(in->kind));
    al_jw_kint(w, "bytes", in->copy.bytes);
    put_ids(in, w);
    if (in->source)
        al_jw_kstrz(w, "source", in->source);
    if (in->format)
        al_jw_kstrz(w, "format", in->format);
    if (in->sheets && al_json_check(al_str_of(in->sheets), 16))
        al_jw_kraw(w, "sheets", al_str_of(in->sheets));
    al_jw_end(w);
}

static void manifest_json(const struct python_run *r, struct al_jw *w)
{
    al_jw_arr(w);
    for (size_t i = 0; i < r->n_inputs; i++)
        manifest_entry(&r->inputs[i], w);
    al_jw_end(w);
}

static int write_inputs(struct python_run *r)
{
    autobuf struct al_buf text = AL_BUF_INIT(PYTHON_MAX_INPUTS * (MAX_SHEETS + 4096));
    struct al_jw w;
    al_jw_init(&w, &text);
    manifest_json(r, &w);
    al_buf_addc(&text, '\n');
    return al_py_job_write(&r->job, "input/inputs.json", al_buf_str(&text), &r->err);
}

/* Without paths and without the code. inputs: they are there. */
static int write_job(struct python_run *r, bool inputs)
{
    autobuf struct al_buf text = AL_BUF_INIT(PYTHON_MAX_INPUTS * (MAX_SHEETS + 8192));
    char at[AL_TIME_MAX];
    struct al_jw w;
    al_time_iso(at, r->created_ms);
    al_jw_init(&w, &text);
    al_jw_obj(&w);
    al_jw_kint(&w, "schemaVersion", 1);
    al_jw_kstrz(&w, "id", r->id);
    al_jw_kstrz(&w, "sessionId", al_core_session(r->core)->id);
    al_jw_kstrz(&w, "runId", r->call->run_id ? r->call->run_id : r->id);
    al_jw_kstrz(&w, "runtime", al_py_backend_name(r->backend));
    al_jw_kstrz(&w, "isolation", al_py_isolation_name(r->probe.isolation));
    al_jw_kstrz(&w, "scriptSha256", r->sha256);
    if (r->rerun)
        al_jw_kstrz(&w, "rerunOf", r->rerun->execution);
    al_jw_kstrz(&w, "createdAt", at);
    if (inputs) {
        al_jw_key(&w, "inputs");
        python_inputs_json(r, true, &w);
        al_jw_key(&w, "manifest");
        manifest_json(r, &w);
    }
    if (r->n_extras) {
        al_jw_key(&w, "extras");
        al_jw_arr(&w);
        for (size_t i = 0; i < r->n_extras; i++)
            al_jw_strz(&w, r->extras[i]);
        al_jw_end(&w);
    }
    al_jw_end(&w);
    al_buf_addc(&text, '\n');
    return al_py_job_write(&r->job, "job.json", al_buf_str(&text), &r->err);
}

/* --- copying, on the pool --- */

static int open_file(struct python_run *r, struct python_input *in)
{
    struct al_place place;
    struct stat st;
    if (al_tool_place(r->call, in->path, AL_WANT_READ, &place, &r->err) < 0 ||
        al_tool_open_file(r->call, &place, &in->fd, &st, &r->err) < 0)
        return -1;
    in->source = keep(r, al_str_of(place.path));
    return 0;
}

static int copy_input(struct python_run *r, struct python_input *in, uint64_t *left)
{
    if (atomic_load(&r->stop))
        return al_fail(&r->err, AL_CANCELLED, "the run was cancelled before it started");
    if (in->fd < 0 && open_file(r, in) < 0)
        return -1;
    if (al_py_job_input(&r->job, in->fd, al_str_of(in->as), *left, &in->copy, &r->err) < 0)
        return -1;
    al_close(&in->fd);
    *left -= (uint64_t)in->copy.bytes;
    if (in->kept && strcmp(in->copy.sha256, in->kept_sha256) != 0)
        return al_fail(&r->err, AL_RERUN_REFUSED, "the input %s was changed meanwhile", in->copy.name);
    if (!in->sha256[0])
        memcpy(in->sha256, in->copy.sha256, sizeof(in->sha256));
    return 0;
}

static int fill_job(struct python_run *r)
{
    uint64_t left = r->limits.input_bytes;
    uint64_t for_wasm =
        (uint64_t)al_config_int(al_core_config(r->core), AL_OPT_ANALYSIS_WASM_MAX_INPUT_BYTES);
    if (r->backend == AL_PY_WASM && for_wasm < left)
        left = for_wasm;
    if (al_py_job_script(&r->job, r->call->code, &r->err) < 0 || write_job(r, false) < 0)
        return -1;
    for (size_t i = 0; i < r->n_inputs; i++) {
        if (copy_input(r, &r->inputs[i], &left) < 0)
            return -1;
    }
    return write_inputs(r) < 0 || write_job(r, true) < 0 ? -1 : 0;
}

/* So that what is said of its files can be told without where they are. */
static void note_prefix(struct python_run *r)
{
    struct al_py_interpreter python = {0};
    struct al_err ignored;
    if (r->backend == AL_PY_OCI || r->backend == AL_PY_WASM ||
        al_py_interpreter_find(r->pyrun, &python, &ignored) < 0)
        return;
    bool system = strcmp(python.prefix, "/usr") == 0 || strcmp(python.prefix, "/usr/local") == 0;
    if (!system)
        r->prefix = keep(r, al_str_of(python.prefix));
    al_py_interpreter_fini(&python);
}

void python_make_job(struct python_run *r)
{
    const struct al_session *session = al_core_session(r->core);
    char key[AL_WORKSPACE_KEY_MAX];
    al_workspace_key(key, session->workspace);
    note_prefix(r);
    if (python_check_room(r, &r->err) < 0)
        return;
    if (al_py_job_new(al_store_dir(al_core_store(r->core)), key, session->id, r->id, &r->job, &r->err) < 0)
        return;
    r->has_job = true;
    if (fill_job(r) == 0)
        return;
    al_py_job_remove(&r->job);
    al_py_job_close(&r->job);
    r->has_job = false;
}
