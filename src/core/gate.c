#include "core/gate.h"

#include <stdbool.h>

const char *al_effect_name(enum al_effect e)
{
    static const char *const names[] = {
        [AL_EFFECT_READ] = "read",       [AL_EFFECT_INTERNAL] = "internal", [AL_EFFECT_WRITE] = "write",
        [AL_EFFECT_PROCESS] = "process", [AL_EFFECT_EXTERNAL] = "external",
    };
    return names[e];
}

/* What opens a cell. A cell that nothing can open does not exist; --read-only closes every cell that is not
 * FREE. */
enum {
    FREE = 1,         /* always allowed, also with --read-only */
    TYPED = 2,        /* a person typed this very call */
    FLAG = 4,         /* the effect's own flag was given */
    SCRATCH = 8,      /* a write that stays in the scratchpad */
    GRANT = 16,       /* a stored grant of the session */
    PREAPPROVED = 32, /* named in `uses`, approved for this run */
};

/* A script can never ask, and stored grants do not count for it: what a person granted was a call that they
 * saw. */
static const unsigned char opens[5][3] = {
    [AL_EFFECT_READ] = {[AL_ORIGIN_CLI] = FREE, [AL_ORIGIN_MCP] = FREE, [AL_ORIGIN_SCRIPT] = FREE},
    [AL_EFFECT_INTERNAL] = {[AL_ORIGIN_CLI] = FREE, [AL_ORIGIN_MCP] = FREE, [AL_ORIGIN_SCRIPT] = FREE},
    [AL_EFFECT_WRITE] = {[AL_ORIGIN_CLI] = TYPED,
                         [AL_ORIGIN_MCP] = FLAG | SCRATCH | GRANT,
                         [AL_ORIGIN_SCRIPT] = FLAG | SCRATCH | PREAPPROVED},
    [AL_EFFECT_PROCESS] =
        {[AL_ORIGIN_CLI] = TYPED, [AL_ORIGIN_MCP] = FLAG | GRANT, [AL_ORIGIN_SCRIPT] = FLAG | PREAPPROVED},
    [AL_EFFECT_EXTERNAL] =
        {[AL_ORIGIN_CLI] = TYPED, [AL_ORIGIN_MCP] = FLAG | GRANT, [AL_ORIGIN_SCRIPT] = FLAG | PREAPPROVED},
};

static const char *const flags[] = {
    [AL_EFFECT_WRITE] = "--allow-write",
    [AL_EFFECT_PROCESS] = "--allow-process",
    [AL_EFFECT_EXTERNAL] = "--allow-external",
};

static bool flag_given(const struct al_policy *policy, enum al_effect effect)
{
    switch (effect) {
    case AL_EFFECT_WRITE:
        return policy->allow_write;
    case AL_EFFECT_PROCESS:
        return policy->allow_process;
    case AL_EFFECT_EXTERNAL:
        return policy->allow_external;
    case AL_EFFECT_READ:
    case AL_EFFECT_INTERNAL:
        break;
    }
    return false;
}

static int fail_read_only(const struct al_gate_query *q, const char *tool_name, struct al_err *err)
{
    al_fail(err, AL_PERMISSION_DENIED, "%s has the effect \"%s\", which --read-only never allows", tool_name,
            al_effect_name(q->effect));
    if (q->origin == AL_ORIGIN_MCP)
        return al_hint(err, "drop --read-only from alisio's arguments in the client's configuration");
    return al_hint(err, "drop --read-only");
}

static int fail_approval(const struct al_gate_query *q, const char *tool_name, struct al_err *err)
{
    const char *flag = flags[q->effect];
    const char *scratch = q->takes_scratch ? "; `scratch:` paths need no approval" : "";
    al_fail(err, AL_APPROVAL_REQUIRED, "%s has the effect \"%s\", which was not approved", tool_name,
            al_effect_name(q->effect));
    if (q->origin == AL_ORIGIN_SCRIPT)
        return al_hint(err, "call %s directly, or start alisio with %s%s", tool_name, flag, scratch);
    return al_hint(err, "put %s into alisio's arguments in the client's configuration (`alisio mcp %s`)%s",
                   flag, flag, scratch);
}

int al_gate_decide(const struct al_policy *policy, const struct al_gate_query *q, const char *tool_name,
                   struct al_err *err)
{
    unsigned cell = opens[q->effect][q->origin];
    if (cell & FREE)
        return 0;
    if (policy->read_only)
        return fail_read_only(q, tool_name, err);
    unsigned have = TYPED;
    have |= flag_given(policy, q->effect) ? FLAG : 0;
    have |= q->scratch_only ? SCRATCH : 0;
    have |= q->granted ? GRANT : 0;
    have |= q->preapproved ? PREAPPROVED : 0;
    return cell & have ? 0 : fail_approval(q, tool_name, err);
}
