/* completion/complete: the ids of runs for run://{executionId}, of datasets for dataset://{datasetId}. */
#include "mcp/mcp_int.h"

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

static int each_id(struct al_core *core, bool datasets, struct matches *found, struct al_err *err)
{
    const char *session = al_core_session(core)->id;
    struct al_run_filter runs = {.session = session, .limit = MAX_LOOKED_AT + 1};
    struct al_dataset_filter sets = {.session = session, .limit = MAX_LOOKED_AT + 1};
    return datasets ? al_store_dataset_each(al_core_store(core), &sets, on_dataset, found, err)
                    : al_store_run_each(al_core_store(core), &runs, on_run, found, err);
}

static void complete_id(struct al_mcp_request *r, bool datasets, struct al_str typed)
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
    if (each_id(core, datasets, &found, &err) < 0) {
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
    bool datasets = al_str_is(uri, "dataset://{datasetId}");
    if (resource && (datasets || al_str_is(uri, "run://{executionId}"))) {
        complete_id(r, datasets, al_json_get_text(argument, "value"));
        return;
    }
    if (relay && al_mcp_relay_request(relay, r, params))
        return;
    al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing,
                resource
                    ? "there is no such resource template; run://{executionId} and dataset://{datasetId} are"
                    : "there is no such prompt");
}
