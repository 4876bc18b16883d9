/* completion/complete: the ids of runs for run://{executionId}. */
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

static bool on_run(void *ud, const struct al_run *run)
{
    struct matches *found = ud;
    struct al_str id = al_str_of(run->id);
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

static void complete_run(struct al_mcp_request *r, struct al_str typed)
{
    struct al_core *core = r->peer->mcp->core;
    autobuf struct al_buf out = AL_BUF_INIT(64u << 10);
    struct al_jw w;
    struct al_err err;
    struct matches found = {.w = &w, .typed = typed};
    struct al_run_filter filter = {.session = al_core_session(core)->id, .limit = MAX_LOOKED_AT + 1};
    al_jw_init(&w, &out);
    al_jw_obj(&w);
    al_jw_key(&w, "completion");
    al_jw_obj(&w);
    al_jw_key(&w, "values");
    al_jw_arr(&w);
    if (al_store_run_each(al_core_store(core), &filter, on_run, &found, &err) < 0) {
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
    if (resource && al_str_is(al_json_get_text(ref, "uri"), "run://{executionId}")) {
        complete_run(r, al_json_get_text(argument, "value"));
        return;
    }
    if (relay && al_mcp_relay_request(relay, r, params))
        return;
    al_mcp_fail(r, AL_RPC_INVALID_PARAMS, nothing,
                resource ? "there is no such resource template; run://{executionId} is one"
                         : "there is no such prompt");
}
