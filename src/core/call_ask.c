/*
 * Asking the person about a direct call that the gate did not let pass, but an approval would. While it is
 * asked about, the call stands in no line, so that what was allowed does not wait for a person; with the
 * answer it goes to the end.
 */
#include "base/log.h"
#include "base/mem.h"
#include "core/call_int.h"

/* Outlives the call when the person answers after it was cancelled; freed by the answer, which comes once. */
struct al_call_asking {
    struct al_call_core *c; /* NULL: gone */
};

bool al_call_may_ask(const struct al_call_core *c)
{
    return c->refused && c->call.err.code == AL_APPROVAL_REQUIRED && c->spec.ask &&
           c->call.origin == AL_ORIGIN_MCP;
}

/* A grant that cannot be kept is no reason to refuse what was approved. */
static void keep_grant(struct al_call_core *c)
{
    struct al_call *call = &c->call;
    struct al_grant grant = {.capability = al_xstrdup(call->tool->name),
                             .source = al_xstrdup(call->core->source)};
    struct al_err err;
    memcpy(grant.session, call->core->session.id, sizeof(grant.session));
    if (al_store_grant_add(call->core->store, &grant, &err) < 0)
        al_log(AL_LOG_WARN, "core", "the grant for %s cannot be kept: %s", call->tool->name, err.msg);
    al_grant_fini(&grant);
}

static void on_answer(void *ud, enum al_approval approval)
{
    struct al_call_asking *asking = ud;
    struct al_call_core *c = asking->c;
    free(asking);
    if (!c)
        return;
    c->asking = NULL;
    if (approval == AL_APPROVAL_DENY) {
        c->refused = true;
        al_fail(&c->call.err, AL_PERMISSION_DENIED, "%s: the person was asked, and did not approve it",
                c->call.tool->name);
        al_hint(&c->call.err, "do without it, or ask them what to do instead");
        al_call_decided(c, false);
        return;
    }
    bool keeps = approval == AL_APPROVAL_SESSION && c->call.tool->gate != AL_GATE_CHANGED;
    if (keeps)
        keep_grant(c);
    c->decision = "approved";
    c->why = keeps ? "the person was asked: for the session" : "the person was asked: once";
    al_call_decided(c, true);
}

void al_call_ask(struct al_call_core *c)
{
    struct al_call *call = &c->call;
    struct al_call_asking *asking = al_xcalloc(1, sizeof(*asking));
    asking->c = c;
    c->asking = asking;
    c->refused = false;
    al_err_clear(&call->err);
    c->state = AL_CALL_ASKING;
    struct al_ask question = {
        .title = call->tool->title,
        .code = call->args_raw,
        .tools = al_str_of(call->tool->name),
        .offers_session = call->tool->gate != AL_GATE_CHANGED,
        .answer = on_answer,
        .ud = asking,
    };
    c->spec.ask(c->spec.ud, &question);
}

void al_call_ask_dropped(struct al_call_core *c)
{
    struct al_err not_needed;
    c->asking->c = NULL;
    c->asking = NULL;
    c->decision = "cancelled";
    c->why = "cancelled while the person was asked";
    if (al_call_audit(c, &not_needed) < 0)
        al_log(AL_LOG_WARN, "core", "%s", not_needed.msg);
}
