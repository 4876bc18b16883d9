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
    struct al_err refusal;  /* the gate's, if nobody answers */
};

bool al_call_may_ask(const struct al_call_core *c)
{
    return c->refused && c->call.err.code == AL_APPROVAL_REQUIRED && c->spec.ask &&
           c->call.origin == AL_ORIGIN_MCP;
}

/* A grant is for whatever arguments: too much for programs. What was granted was the definition of then. */
static bool may_keep(const struct al_tool *tool)
{
    return tool->effect != AL_EFFECT_PROCESS && tool->gate != AL_GATE_CHANGED;
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

static void refuse(struct al_call_core *c, bool said_no, const struct al_err *refusal)
{
    struct al_err *err = &c->call.err;
    c->refused = true;
    if (said_no) {
        al_fail(err, AL_PERMISSION_DENIED, "%s: the person was asked, and said no", c->call.tool->name);
        al_hint(err, "do without it, or ask them what to do instead");
    } else {
        al_fail(err, AL_APPROVAL_REQUIRED, "%s; the person was to be asked, and nobody answered",
                refusal->msg);
        al_hint(err, "%s", refusal->hint);
    }
    al_call_decided(c, false);
}

static void on_answer(void *ud, enum al_approval approval)
{
    struct al_call_asking *asking = ud;
    struct al_call_core *c = asking->c;
    struct al_err refusal = asking->refusal;
    free(asking);
    if (!c)
        return;
    c->asking = NULL;
    if (approval == AL_APPROVAL_DENY || approval == AL_APPROVAL_NONE) {
        refuse(c, approval == AL_APPROVAL_DENY, &refusal);
        return;
    }
    bool keeps = approval == AL_APPROVAL_SESSION && may_keep(c->call.tool);
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
    asking->refusal = call->err;
    c->asking = asking;
    c->refused = false;
    al_err_clear(&call->err);
    c->state = AL_CALL_ASKING;
    struct al_ask question = {
        .tool = call->tool,
        .args = call->args,
        .tools = al_str_of(call->tool->name),
        .offers_session = may_keep(call->tool),
        .session_ends = strcmp(call->core->session.kind, "default") == 0,
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
