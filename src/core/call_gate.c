/*
 * What a call asks of the gate. Where the answer depends on what would hold a Python script, that is found
 * out first: meanwhile the call keeps its place in the line, and its caller's clock stands still.
 */
#include "base/mem.h"
#include "core/call_int.h"

#include <string.h>

/* Outlives the call when that ends while the wall is looked for; freed by the answer, which comes once. */
struct al_call_choosing {
    struct al_call_core *c; /* NULL: gone */
};

/* What was approved was a definition; or, of a server that was never asked, a name: then no pin speaks
 * against it. */
static bool approval_holds(const char *approved_sha256, const struct al_tool *now)
{
    return !approved_sha256 || strcmp(approved_sha256, now->sha256) == 0 ||
           (*approved_sha256 == 0 && now->gate != AL_GATE_CHANGED);
}

/* A grant of a capability is for the wall that was ready when it was given, and for stronger ones. */
static void look_for_grant(const struct al_call_core *c, struct al_gate_query *q)
{
    const struct al_core *core = c->call.core;
    const struct al_tool *tool = c->call.tool;
    const char *isolation = c->wall_known ? al_py_isolation_name(c->wall.isolation) : NULL;
    if (!c->serial || !al_origin_is_model(c->call.origin))
        return;
    if (!tool->capability) {
        q->granted = al_store_grant_valid(core->store, core->session.id, tool->name, NULL);
        return;
    }
    bool any = al_store_grant_valid(core->store, core->session.id, tool->capability, NULL);
    q->granted =
        any && isolation && al_store_grant_valid(core->store, core->session.id, tool->capability, isolation);
    q->granted_stronger = any && isolation && !q->granted;
}

static struct al_gate_query query_of(const struct al_call_core *c)
{
    const struct al_call *call = &c->call;
    const struct al_tool *tool = call->tool;
    struct al_gate_query q = al_gate_query_of(tool, call->origin);
    q.preapproved = c->spec.preapproved;
    q.can_ask = call->core->can_ask;
    q.over_mcp = strcmp(call->core->source, "mcp") == 0;
    q.in_agent = strcmp(call->core->source, "agent") == 0;
    q.scratch_only = c->serial && tool->scratch_only && call->core->scratch && tool->scratch_only(call->args);
    q.can_ask_now = c->spec.ask && al_origin_is_model(call->origin);
    q.isolation_known = c->wall_known;
    q.isolation = c->wall.isolation;
    look_for_grant(c, &q);
    return q;
}

/* The weakest wall that what opened the gate is for. */
static void decide_isolation(struct al_call_core *c, struct al_gate_query *q)
{
    const struct al_policy *policy = &c->call.core->policy;
    enum al_py_isolation weakest = al_gate_covered(policy, q);
    if (q->preapproved && c->spec.approved_wall) {
        weakest = c->spec.approved_wall->isolation;
        q->preapproved = false;
        if (al_gate_decide(policy, q, c->call.tool->name, NULL) == 0 && al_gate_covered(policy, q) > weakest)
            weakest = al_gate_covered(policy, q);
    }
    c->call.decided_isolation = weakest;
}

int al_call_ask_gate(struct al_call_core *c)
{
    struct al_call *call = &c->call;
    const struct al_tool *tool = call->tool;
    const struct al_policy *policy = &call->core->policy;
    bool another = c->spec.preapproved && !approval_holds(c->spec.approved_sha256, tool);
    c->spec.preapproved = c->spec.preapproved && !another;
    struct al_gate_query q = query_of(c);
    if (!c->wall_known && al_gate_needs_isolation(policy, &q))
        return 1;
    if (al_gate_decide(policy, &q, tool->name, &call->err) < 0) {
        c->refused = true;
        if (another && tool->gate == AL_GATE_ASK) {
            al_fail(&call->err, AL_APPROVAL_REQUIRED, "%s is described otherwise than when it was approved",
                    tool->name);
            al_hint(&call->err, "ask for it once more: what was approved was the former description");
        }
        return -1;
    }
    if (tool->capability) {
        decide_isolation(c, &q);
        bool granted = q.granted;
        q.granted = false;
        if (al_origin_is_model(call->origin))
            c->why = granted && al_gate_decide(policy, &q, tool->name, NULL) < 0 ? "allowed by a stored grant"
                                                                                 : "allowed by a flag";
    }
    q.preapproved = false;
    if (c->spec.preapproved && al_gate_decide(policy, &q, tool->name, NULL) < 0)
        c->decision = "preapproved";
    return 0;
}

/* --- what holds a script --- */

static void chosen(void *ud, const struct al_wall *wall, const struct al_err *err)
{
    struct al_call_choosing *choosing = ud;
    struct al_call_core *c = choosing->c;
    free(choosing);
    if (!c)
        return;
    c->choosing = NULL;
    al_call_clock_go(&c->call);
    if (!wall) {
        c->call.err = *err;
        al_call_settle(c, -1);
        return;
    }
    c->wall_known = true;
    c->wall = *wall;
    al_call_settle(c, al_call_ask_gate(c));
}

void al_call_choose_wall(struct al_call_core *c)
{
    struct al_call_choosing *choosing = al_xcalloc(1, sizeof(*choosing));
    choosing->c = c;
    c->choosing = choosing;
    c->state = AL_CALL_CHOOSING;
    al_call_clock_stop(&c->call);
    al_wall_choose(c->call.core, chosen, choosing);
}

void al_call_choosing_dropped(struct al_call_core *c)
{
    c->choosing->c = NULL;
    c->choosing = NULL;
}

/* --- tools of a source whose definition was read anew --- */

static int no_longer_there(struct al_call *call)
{
    al_fail(&call->err, AL_TOOL_NOT_FOUND, "%s: the MCP server %s no longer offers it", call->tool->name,
            call->tool->server);
    return al_hint(&call->err, "look what it offers now, or do without it");
}

/* The present definition is not the one that was let in. */
static int decide_about_change(struct al_call_core *c)
{
    const struct al_tool *tool = c->call.tool;
    struct al_gate_query q = al_gate_query_of(tool, c->call.origin);
    q.gate = tool->gate == AL_GATE_DENY ? AL_GATE_DENY : AL_GATE_CHANGED;
    return al_gate_decide(&c->call.core->policy, &q, tool->name, &c->call.err);
}

int al_call_gate_again(struct al_call *call)
{
    struct al_call_core *c = call->priv;
    const struct al_tool *was = call->tool;
    const struct al_tool *now = al_registry_find_source(call->core, al_str_of(was->name), &call->arena);
    if (!now || strcmp(now->server, was->server) != 0 || strcmp(now->server_tool, was->server_tool) != 0)
        return no_longer_there(call);
    call->tool = now;
    if (!approval_holds(was->sha256, now))
        return decide_about_change(c);
    bool approved = strcmp(c->decision, "approved") == 0;
    if (now->gate == was->gate || approved)
        return 0;
    int r = al_call_ask_gate(c);
    c->refused = false; /* it had been let in */
    return r;
}
