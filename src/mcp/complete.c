/* completion/complete: the ids of runs for run://{executionId}, of datasets for dataset://{datasetId}, of
 * artifacts and their files for artifact://{artifactId}/{+path}. */
#include "mcp/resources_int.h"

#include "artifact/artifact.h"

#include <stdio.h>

#define MAX_VALUES 100u    /* as the protocol says */
#define MAX_LOOKED_AT 2000 /* of the newest runs */

static const struct al_str nothing = {"", 0};

struct matches {
    struct al_jw *w;
    struct al_str typed;
    unsigned n;
    int looked_at;
    bool more;
};

static bool on_id(struct matches *found, struct al_str id)
{
    if (++found->looked_at > MAX_LOOKED_AT) {
        found->more = true;
        return false;
    }
    if (id.n < found->typed.n || !al_str_eq((struct al_str){id.p, found->typed.n}, found->typed))
        return true;
    if (found->n == MAX_VALUES) {
        found->more = true;
        return false;
    }
    found->n++;
    al_jw_str(found->w, id);
    return true;
}

static bool on_run(void *ud, const struct al_run *run)
{
    return on_id(ud, al_str_of(run->id));
}

static bool on_dataset(void *ud, const struct al_dataset_row *d)
{
    return on_id(ud, al_str_of(d->id));
}

static bool on_artifact(void *ud, const struct al_artifact *a)
{
    return on_id(ud, al_str_of(a->id));
}

static bool on_file(void *ud, struct al_str path, int64_t bytes, struct al_str sha256)
{
    (void)bytes, (void)sha256;
    return on_id(ud, path);
}

enum kind {
    RUNS,
    DATASETS,
    ARTIFACTS,
    FILES
};

/* Of an artifact that is not there there are none. */
static int each_file(struct al_core *core, struct al_str id, struct matches *found, struct al_err *err)
{
    struct al_artifact a = {0};
    char z[AL_ID_MAX];
    snprintf(z, sizeof z, "%.*s", AL_FMT(id));
    if (!al_id_valid(id, "art") ||
        al_store_artifact_get(al_core_store(core), z, al_workspace_root(al_core_workspace(core)), &a, err) <
            0)
        return 0;
    int r = al_artifact_files(&a, on_file, found, err);
    al_artifact_fini(&a);
    return r;
}

static int each_id(struct al_core *core, enum kind kind, struct al_str artifact, struct matches *found,
                   struct al_err *err)
{
    const char *session = al_core_session(core)->id;
    struct al_artifact_filter artifacts = al_resources_artifact_filter(core);
    artifacts.limit = MAX_LOOKED_AT + 1;
    if (kind == FILES)
        return each_file(core, artifact, found, err);
    if (kind == ARTIFACTS)
        return al_store_artifact_each(al_core_store(core), &artifacts, on_artifact, found, err);
    struct al_run_filter runs = {.session = session, .limit = MAX_LOOKED_AT + 1};
    struct al_dataset_filter sets = {.session = session, .limit = MAX_LOOKED_AT + 1};
    return kind == DATASETS ? al_store_dataset_each(al_core_store(core), &sets, on_dataset, found, err)
                            : al_store_run_each(al_core_store(core), &runs, on_run, found, err);
}

static void complete_id(struct al_mcp_request *r, enum kind kind, struct al_str artifact, struct al_str typed)
{
    struct al_core *core = r->peer->mcp->core;
    autobuf struct al_buf out = AL_BUF_INIT(64u << 10);
    struct al_jw w;
    struct al_err err;
    struct matches found = {.w = &w, .typed = typed};
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_jw_key(&w, "completion");
    al_jw_obj(&w);
    al_jw_key(&w, "values");
    al_jw_arr(&w);
    if (each_id(core, kind, artifact, &found, &err) < 0) {
        al_mcp_fail(r, AL_RPC_INTERNAL_ERROR, nothing, "%s: %s", al_code_name(err.code), err.msg);
        return;
    }
    al_jw_end(&w);
    al_jw_kbool(&w, "hasMore", found.more);
    al_jw_end(&w);
    al_jw_end(&w);
    al_mcp_answer(r, al_buf_str(&out));
}

void al_mcp_complete(struct al_mcp_request *r, const struct al_json *params)
{
    struct al_mcp_relay *relay = r->peer->mcp->relay;
    const struct al_json *ref = al_json_get(params, "ref"), *argument = al_json_get(params, "argument");
    if (!al_json_is_string(al_json_get(ref, "type")) || !al_json_is_string(al_json_get(argument, "name")) ||
        !al_json_is_string(al_json_get(argument, "value"))) {
        al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing,
                    "\"params\" needs ref {type, …} and argument {name, value}, all strings");
        return;
    }
    bool resource = al_str_is(al_json_get_text(ref, "type"), "ref/resource");
    struct al_str uri = al_json_get_text(ref, "uri");
    bool datasets = al_str_is(uri, "dataset://{datasetId}"), artifacts = al_str_is(uri, AL_ARTIFACT_TEMPLATE);
    if (resource && (datasets || artifacts || al_str_is(uri, "run://{executionId}"))) {
        bool files = al_str_is(al_json_get_text(argument, "name"), "path");
        const struct al_json *given = al_json_get(al_json_get(params, "context"), "arguments");
        complete_id(r,
                    artifacts  ? (files ? FILES : ARTIFACTS)
                    : datasets ? DATASETS
                               : RUNS,
                    al_json_get_text(given, "artifactId"), al_json_get_text(argument, "value"));
        return;
    }
    if (relay && al_mcp_relay_request(relay, r, params))
        return;
    al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing,
                resource ? "there is no such resource template; run://{executionId}, dataset://{datasetId} "
                           "and " AL_ARTIFACT_TEMPLATE " are"
                         : "there is no such prompt");
}
