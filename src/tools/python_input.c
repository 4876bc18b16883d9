/* The arguments of python_run. */
#include "tools/python_int.h"

#include "base/text.h"

static const char *const kinds[] = {
    [PYTHON_FILE] = "file", [PYTHON_DATASET] = "dataset", [PYTHON_ARTIFACT] = "artifact"};

const char *python_kind_name(enum python_kind k)
{
    return kinds[k];
}

int python_kind_find(struct al_str name)
{
    for (int k = PYTHON_FILE; k <= PYTHON_ARTIFACT; k++) {
        if (al_str_is(name, kinds[k]))
            return k;
    }
    return -1;
}

/* --- the script --- */

static int check_sources(const struct al_json *args, struct al_err *err)
{
    static const char *const names[] = {"code", "codePath", "rerunOf"};
    size_t n = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        n += al_json_get(args, names[i]) != NULL;
    if (n == 1)
        return 0;
    al_fail(err, AL_INVALID_INPUT, "%s",
            n ? "code, codePath and rerunOf exclude each other" : "there is no code");
    return al_hint(err, "give exactly one of the fields code (the script itself), codePath (a file in the "
                        "scratchpad) and rerunOf (the id of an artifact or an execution)");
}

int python_prepare(struct al_call *call)
{
    struct al_err *err = &call->err;
    if (check_sources(call->args, err) < 0)
        return -1;
    autobuf struct al_buf file = {0};
    struct al_str code;
    if (al_json_get(call->args, "rerunOf")) {
        struct python_rerun rerun = {0};
        struct al_str id = al_json_get_text(call->args, "rerunOf");
        al_buf_init(&file, AL_SCRIPT_MAX_CODE_BYTES);
        if (python_rerun_find(call->core, id, &rerun, &call->arena, &file, err) < 0)
            return -1;
        code = al_buf_str(&file);
    } else if (al_script_code(call->core, call->args, "analysis.py", &file, &code, err) < 0) {
        return -1;
    }
    const char *kept = al_arena_dup(&call->arena, code);
    if (!kept)
        return al_script_bad(err, "code", "the call is too large");
    call->code = (struct al_str){kept, code.n};
    return 0;
}

/* --- limits --- */

static void read_limits(struct python_run *r)
{
    const struct al_config *c = al_core_config(r->core);
    struct python_limits *l = &r->limits;
    l->timeout_ms = (uint64_t)al_config_int(c, AL_OPT_ANALYSIS_LIMITS_TIMEOUT_MS);
    l->input_bytes = (uint64_t)al_config_int(c, AL_OPT_STORAGE_MAX_BYTES);
    l->publish = (struct al_publish_limits){
        .max_files = (uint64_t)al_config_int(c, AL_OPT_ANALYSIS_LIMITS_MAX_FILES),
        .max_file_bytes = (uint64_t)al_config_int(c, AL_OPT_ANALYSIS_LIMITS_MAX_FILE_BYTES),
        .max_output_bytes = (uint64_t)al_config_int(c, AL_OPT_ANALYSIS_LIMITS_MAX_OUTPUT_BYTES),
    };
}

static int read_timeout(struct python_run *r, const struct al_json *v, struct al_err *err)
{
    int64_t ms, most = (int64_t)r->limits.timeout_ms;
    if (!v)
        return 0;
    if (!al_json_int(v, PYTHON_MIN_TIMEOUT_MS, most, &ms)) {
        al_fail(err, AL_INVALID_INPUT, "timeoutMs: an integer from %d to %lld is wanted",
                PYTHON_MIN_TIMEOUT_MS, (long long)most);
        return al_hint(err,
                       "the field to mend is timeoutMs; its ceiling is analysis.limits.timeoutMs, which a "
                       "call can only lower");
    }
    r->limits.timeout_ms = (uint64_t)ms;
    return 0;
}

void python_limits_json(const struct python_run *r, struct al_buf *out)
{
    const struct al_config *c = al_core_config(r->core);
    static const struct {
        const char *name;
        enum al_opt key;
    } more[] = {
        {"memoryMb", AL_OPT_ANALYSIS_LIMITS_MEMORY_MB},
        {"processes", AL_OPT_ANALYSIS_LIMITS_PROCESSES},
        {"maxWorkBytes", AL_OPT_ANALYSIS_LIMITS_MAX_WORK_BYTES},
        {"maxWorkFiles", AL_OPT_ANALYSIS_LIMITS_MAX_WORK_FILES},
        {"maxLogBytes", AL_OPT_ANALYSIS_LIMITS_MAX_LOG_BYTES},
        {"maxFiles", AL_OPT_ANALYSIS_LIMITS_MAX_FILES},
        {"maxFileBytes", AL_OPT_ANALYSIS_LIMITS_MAX_FILE_BYTES},
        {"maxOutputBytes", AL_OPT_ANALYSIS_LIMITS_MAX_OUTPUT_BYTES},
    };
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kint(&w, "timeoutMs", (int64_t)r->limits.timeout_ms);
    for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
        al_jw_kint(&w, more[i].name, al_config_int(c, more[i].key));
    if (r->ran) {
        al_jw_key(&w, "keptBy");
        al_jw_obj(&w);
        al_jw_kstrz(&w, "memory", al_py_keeper_name(r->memory));
        al_jw_kstrz(&w, "processes", al_py_keeper_name(r->pids));
        al_jw_kstrz(&w, "work", al_py_keeper_name(r->disk));
        al_jw_end(&w);
    }
    al_jw_end(&w);
}

/* --- inputs and the rest --- */

static int bad_input(struct al_err *err, size_t i, const char *what)
{
    al_fail(err, AL_INVALID_INPUT, "inputs/%zu: %s", i, what);
    return al_hint(err,
                   "each input is {\"path\": \"sales.csv\"}, {\"datasetId\": \"ds_…\"} or {\"artifactId\": "
                   "\"art_…\"}, with \"as\" where the script is to find it under another name");
}

static int read_input(struct python_run *r, const struct al_json *v, size_t i, struct al_err *err)
{
    static const char *const names[] = {
        [PYTHON_FILE] = "path", [PYTHON_DATASET] = "datasetId", [PYTHON_ARTIFACT] = "artifactId"};
    struct python_input *in = &r->inputs[i];
    size_t n = 0;
    *in = (struct python_input){.fd = -1};
    for (int k = PYTHON_FILE; k <= PYTHON_ARTIFACT; k++) {
        struct al_str text = al_json_get_text(v, names[k]);
        if (!text.p)
            continue;
        n++;
        in->kind = (enum python_kind)k;
        *(k == PYTHON_FILE ? &in->path : &in->id) = text;
    }
    if (n != 1)
        return bad_input(err, i, "exactly one of path, datasetId and artifactId is wanted");
    struct al_str as = al_json_get_text(v, "as");
    if (!as.p)
        return 0;
    if (as.n == 0 || as.n > PYTHON_MAX_NAME || memchr(as.p, '/', as.n) || memchr(as.p, 0, as.n))
        return bad_input(err, i, "\"as\" is a file's name, without a folder");
    in->as = al_arena_dup(&r->arena, as);
    return 0;
}

static int read_inputs(struct python_run *r, const struct al_json *v, struct al_err *err)
{
    if (v && v->n > PYTHON_MAX_INPUTS)
        return al_script_bad(err, "inputs", "at most 20 inputs are wanted");
    al_json_each(in, v)
    {
        if (read_input(r, in, r->n_inputs, err) < 0)
            return -1;
        r->n_inputs++;
    }
    return 0;
}

static int read_extras(struct python_run *r, const struct al_json *v, struct al_err *err)
{
    al_json_each(name, v)
    {
        bool known = al_str_is(name->str, "analysis") || al_str_is(name->str, "science");
        bool twice = r->n_extras && al_str_is(name->str, r->extras[0]);
        if (!known)
            return al_script_bad(err, "extras", "\"analysis\" and \"science\" are there");
        if (!twice)
            r->extras[r->n_extras++] = al_str_is(name->str, "analysis") ? "analysis" : "science";
    }
    return 0;
}

int python_read_input(struct python_run *r, struct al_err *err)
{
    const struct al_json *args = r->call->args;
    read_limits(r);
    r->publish_on_error = al_json_is_true(al_json_get(args, "publishOnError"));
    al_sha256(r->call->code, r->sha256);
    return read_timeout(r, al_json_get(args, "timeoutMs"), err) < 0 ||
                   al_script_title(args, &r->arena, &r->title, err) < 0 ||
                   read_inputs(r, al_json_get(args, "inputs"), err) < 0 ||
                   read_extras(r, al_json_get(args, "extras"), err) < 0
               ? -1
               : 0;
}
