/*
 * Asking the person about a direct call that the gate did not let pass, but an approval would. While it is
 * asked about, the call stands in no line, so that what was allowed does not wait for a person; with the
 * answer it goes to the end.
 */
#include "base/log.h"
#include "base/mem.h"
#include "core/call_int.h"

#include <stdio.h>
#include <string.h>

/* Outlives the call when the person answers after it was cancelled; freed by the answer, which comes once. */
struct al_call_asking {
    struct al_call_core *c; /* NULL: gone */
    struct al_err refusal;  /* the gate's, if nobody answers */
};

bool al_call_may_ask(const struct al_call_core *c)
{
    return c->refused && c->call.err.code == AL_APPROVAL_REQUIRED && c->spec.ask &&
           al_origin_is_model(c->call.origin);
}

static bool is_analysis(const struct al_tool *tool)
{
    return tool->capability && strcmp(tool->capability, AL_CAP_ANALYSIS_RUN) == 0;
}

/* A grant is for whatever arguments: too much for programs, but for Python scripts behind a known wall. What
 * was granted was the definition of then. */
static bool may_keep(const struct al_tool *tool)
{
    if (is_analysis(tool))
        return true;
    return tool->effect != AL_EFFECT_PROCESS && tool->gate != AL_GATE_CHANGED;
}

/* A grant that cannot be kept is no reason to refuse what was approved. */
static void keep_grant(struct al_call_core *c)
{
    struct al_call *call = &c->call;
    const struct al_tool *tool = call->tool;
    struct al_grant grant = {.capability = al_xstrdup(tool->capability ? tool->capability : tool->name),
                             .source = al_xstrdup(call->core->source)};
    if (tool->capability && c->wall_known)
        grant.isolation = al_xstrdup(al_py_isolation_name(c->wall.isolation));
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
    c->call.decided_isolation = c->wall.isolation;
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
        .code = call->code,
        .wall = c->wall_known ? &c->wall : NULL,
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

/* --- analysis.install --- */

/* As al_call_asking. */
struct al_call_installing {
    struct al_call_core *c; /* NULL: gone */
    void (*done)(struct al_call *call, const struct al_err *err);
    char extras[32];
    bool asked; /* somebody was */
    enum al_approval approval;
};

static void note_install(const struct al_call *call, const struct al_call_installing *in, bool yes)
{
    char capability[] = AL_CAP_ANALYSIS_INSTALL, effect[] = "external", origin[8], decision[32], reason[96];
    snprintf(origin, sizeof(origin), "%s", al_origin_name(call->origin));
    snprintf(decision, sizeof(decision), "%s", yes ? "approved" : "refused: EXTRAS_NOT_INSTALLED");
    snprintf(reason, sizeof(reason), "the extras %s: %s", in->extras,
             in->approval != AL_APPROVAL_NONE ? "the person was asked: once"
             : in->asked                      ? "the person was asked, and nobody answered"
                                              : "nobody could be asked");
    struct al_decision d = {.at_ms = al_wall_ms(),
                            .session = call->core->session.id,
                            .tool = capability,
                            .effect = effect,
                            .origin = origin,
                            .decision = decision,
                            .reason = reason};
    struct al_err err;
    if (al_store_decision_add(call->core->store, &d, &err) < 0)
        al_log(AL_LOG_WARN, "core", "the decision about %s cannot be written down: %s", capability, err.msg);
}

static void install_answered(void *ud)
{
    struct al_call_installing *in = ud;
    struct al_call_core *c = in->c;
    struct al_err err = {.code = AL_OK};
    bool yes = in->approval == AL_APPROVAL_ONCE || in->approval == AL_APPROVAL_SESSION;
    if (c) {
        c->installing = NULL;
        al_call_clock_go(&c->call);
        note_install(&c->call, in, yes);
        if (!yes) {
            al_fail(&err, AL_EXTRAS_NOT_INSTALLED, "the extras \"%s\" are not installed%s", in->extras,
                    in->approval == AL_APPROVAL_DENY ? ", and the person said no to that" : "");
            al_hint(&err,
                    "a person installs them with `alisio analysis setup --extras %s`; the standard library "
                    "needs none",
                    in->extras);
        }
        in->done(&c->call, yes ? NULL : &err);
    }
    free(in);
}

/* Not from within the question, whatever its face does. */
static void on_install_answer(void *ud, enum al_approval approval)
{
    struct al_call_installing *in = ud;
    in->approval = approval;
    if (in->c)
        al_defer(in->c->call.core->loop, install_answered, in);
    else
        free(in);
}

void al_call_ask_install(struct al_call *call, const struct al_ask_install *what,
                         void (*done)(struct al_call *call, const struct al_err *err))
{
    struct al_call_core *c = call->priv;
    struct al_call_installing *in = al_xcalloc(1, sizeof(*in));
    in->c = c;
    in->done = done;
    in->asked = c->spec.ask && call->origin != AL_ORIGIN_SCRIPT;
    snprintf(in->extras, sizeof(in->extras), "%s", what->extras);
    c->installing = in;
    al_call_clock_stop(call);
    struct al_ask question = {
        .install = what,
        .tools = AL_STR(AL_CAP_ANALYSIS_INSTALL),
        .answer = on_install_answer,
        .ud = in,
    };
    if (in->asked)
        c->spec.ask(c->spec.ud, &question);
    else
        on_install_answer(in, AL_APPROVAL_NONE);
}

void al_call_install_dropped(struct al_call_core *c)
{
    c->installing->c = NULL;
    c->installing = NULL;
}
