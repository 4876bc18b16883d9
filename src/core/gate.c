#include "core/gate.h"

#include "base/buf.h"
#include "base/text.h"
#include "config/servers.h"

#include <stdbool.h>
#include <string.h>

const char *al_effect_name(enum al_effect e)
{
    static const char *const names[] = {
        [AL_EFFECT_READ] = "read",       [AL_EFFECT_INTERNAL] = "internal", [AL_EFFECT_WRITE] = "write",
        [AL_EFFECT_PROCESS] = "process", [AL_EFFECT_EXTERNAL] = "external",
    };
    return names[e];
}

const char *al_origin_name(enum al_origin o)
{
    static const char *const names[] = {
        [AL_ORIGIN_CLI] = "cli",
        [AL_ORIGIN_MCP] = "mcp",
        [AL_ORIGIN_SCRIPT] = "script",
        [AL_ORIGIN_AGENT] = "agent",
    };
    return names[o];
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
static const unsigned char opens[5][4] = {
    [AL_EFFECT_READ] = {FREE, FREE, FREE, FREE},
    [AL_EFFECT_INTERNAL] = {FREE, FREE, FREE, FREE},
    [AL_EFFECT_WRITE] = {[AL_ORIGIN_CLI] = TYPED,
                         [AL_ORIGIN_MCP] = FLAG | SCRATCH | GRANT,
                         [AL_ORIGIN_SCRIPT] = FLAG | SCRATCH | PREAPPROVED,
                         [AL_ORIGIN_AGENT] = FLAG | SCRATCH | GRANT},
    [AL_EFFECT_PROCESS] = {[AL_ORIGIN_CLI] = TYPED,
                           [AL_ORIGIN_MCP] = FLAG | GRANT,
                           [AL_ORIGIN_SCRIPT] = FLAG | PREAPPROVED,
                           [AL_ORIGIN_AGENT] = FLAG | GRANT},
    [AL_EFFECT_EXTERNAL] = {[AL_ORIGIN_CLI] = TYPED,
                            [AL_ORIGIN_MCP] = FLAG | GRANT,
                            [AL_ORIGIN_SCRIPT] = FLAG | PREAPPROVED,
                            [AL_ORIGIN_AGENT] = FLAG | GRANT},
};

static const char *const flags[] = {
    [AL_EFFECT_WRITE] = "--allow-write",
    [AL_EFFECT_PROCESS] = "--allow-process",
    [AL_EFFECT_EXTERNAL] = "--allow-external",
};

static bool is_analysis(const struct al_gate_query *q)
{
    return q->capability && strcmp(q->capability, AL_CAP_ANALYSIS_RUN) == 0;
}

bool al_gate_is_weak(enum al_py_isolation isolation)
{
    return isolation >= AL_PY_RESTRICTED_PROCESS;
}

static bool is_known_weak(const struct al_gate_query *q)
{
    return q->isolation_known && al_gate_is_weak(q->isolation);
}

/* --allow-process covers Python, too; --allow-analysis covers nothing else. */
static bool analysis_flag_given(const struct al_policy *policy, const struct al_gate_query *q)
{
    if (policy->allow_process)
        return true;
    return policy->allow_analysis && (policy->allow_analysis_unsandboxed || !is_known_weak(q));
}

static bool flag_given(const struct al_policy *policy, const struct al_gate_query *q)
{
    if (is_analysis(q))
        return analysis_flag_given(policy, q);
    switch (q->effect) {
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
    if (q->origin == AL_ORIGIN_AGENT)
        return al_hint(err, "do without it: only a person who starts alisio without --read-only opens it");
    return al_hint(err, "drop --read-only");
}

static int hint_flag(const struct al_gate_query *q, const char *tool_name, const char *flag,
                     struct al_err *err)
{
    const char *scratch = q->takes_scratch ? "; `scratch:` paths need no approval" : "";
    const char *uses = q->can_ask && q->origin == AL_ORIGIN_SCRIPT ? "name it in `uses`, or " : "";
    if (q->in_agent || q->origin == AL_ORIGIN_AGENT)
        return al_hint(err, "%sthe person starts alisio with %s%s", uses, flag, scratch);
    if (q->origin == AL_ORIGIN_SCRIPT && !q->over_mcp)
        return al_hint(err, "call %s directly, or start alisio with %s%s", tool_name, flag, scratch);
    return al_hint(err, "%sput %s into alisio's arguments in the client's configuration (`alisio mcp %s`)%s",
                   uses, flag, flag, scratch);
}

static int fail_approval(const struct al_gate_query *q, const char *tool_name, struct al_err *err)
{
    al_fail(err, AL_APPROVAL_REQUIRED, "%s has the effect \"%s\", which was not approved", tool_name,
            al_effect_name(q->effect));
    return hint_flag(q, tool_name, flags[q->effect], err);
}

/* A wall is weaker than what was permitted: it is asked about again, and where nobody can be asked that is a
 * no. */
static int fail_weaker(const struct al_gate_query *q, const char *tool_name, struct al_err *err)
{
    bool asks = q->can_ask_now || (q->origin == AL_ORIGIN_SCRIPT && q->can_ask);
    bool weak = al_gate_is_weak(q->isolation);
    al_fail(err, asks ? AL_APPROVAL_REQUIRED : AL_PERMISSION_DENIED,
            "%s would run with the isolation \"%s\" here, and what was permitted is for a stronger one",
            tool_name, al_py_isolation_name(q->isolation));
    return hint_flag(q, tool_name, weak ? "--allow-analysis=unsandboxed" : "--allow-analysis", err);
}

static int fail_analysis(const struct al_policy *policy, const struct al_gate_query *q, const char *tool_name,
                         struct al_err *err)
{
    bool granted = q->granted_stronger && al_origin_is_model(q->origin);
    if (q->isolation_known && (policy->allow_analysis || granted))
        return fail_weaker(q, tool_name, err);
    bool weak = is_known_weak(q);
    al_fail(err, AL_APPROVAL_REQUIRED, "%s runs a program (the capability \"%s\"), which was not approved%s",
            tool_name, AL_CAP_ANALYSIS_RUN, weak ? "; no sandbox would hold it here" : "");
    return hint_flag(q, tool_name, weak ? "--allow-analysis=unsandboxed" : "--allow-analysis", err);
}

/* Whether a shell takes it as one word as it stands. */
static bool is_plain(const char *word)
{
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@");
    return n > 0 && word[n] == 0;
}

/* A text within single quotes of a shell. */
static void add_quoted(struct al_buf *out, struct al_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\'')
            al_buf_adds(out, "'\\'");
        al_buf_addc(out, text.p[i]);
    }
}

/* The name as a person can paste it, within single quotes, exact as a pattern or as it is. False when it has
 * characters that cannot be seen: what is shown in their place would be another name. */
static bool add_name(struct al_buf *out, const char *name, bool pattern)
{
    autobuf struct al_buf seen = AL_BUF_INIT(4096), exact = AL_BUF_INIT(4096);
    al_text_plain(&seen, al_str_of(name), false);
    if (al_buf_failed(&seen) || !al_str_is(al_buf_str(&seen), name))
        return false;
    if (pattern)
        al_server_exact_pattern(al_str_of(name), &exact);
    else
        al_buf_adds(&exact, name);
    add_quoted(out, al_buf_str(&exact));
    return !al_buf_failed(&exact) && !al_buf_failed(out);
}

static int fail_denied(const struct al_gate_query *q, const char *tool_name, struct al_err *err)
{
    al_fail(err, AL_PERMISSION_DENIED, "%s is denied by the configuration (mcp.servers.%s.tools)", tool_name,
            q->server);
    return al_hint(err, "no approval opens it; the person can change that rule in the config");
}

static int fail_changed(const struct al_gate_query *q, const char *tool_name, struct al_err *err)
{
    autobuf struct al_buf server = AL_BUF_INIT(256);
    bool shown = add_name(&server, q->server, false);
    al_fail(err, AL_APPROVAL_REQUIRED,
            "%s is described otherwise than when it was first used, so that what allowed it does not count",
            tool_name);
    if (!shown)
        return al_hint(err, "a person reviews the difference with `alisio mcp review SERVER`");
    const char *quote = is_plain(q->server) ? "" : "'";
    return al_hint(err, "a person reviews the difference with `alisio mcp review %s%.*s%s`", quote,
                   AL_FMT(al_buf_str(&server)), quote);
}

/* Only what a person can do: the pattern is that of this tool alone, and quoted, so that it can be pasted
 * whatever the server calls its tools. */
static int fail_ask(const struct al_gate_query *q, const char *tool_name, struct al_err *err)
{
    autobuf struct al_buf server = AL_BUF_INIT(80), tool = AL_BUF_INIT(140);
    al_fail(err, AL_APPROVAL_REQUIRED, "%s belongs to the MCP server %s, and was not approved", tool_name,
            q->server);
    if (!add_name(&server, q->server, false) || !add_name(&tool, q->server_tool, true))
        return al_hint(err, "a person allows tools with `alisio mcp allow SERVER 'PATTERN'`");
    bool by_uses = q->can_ask && q->origin == AL_ORIGIN_SCRIPT && (q->over_mcp || q->in_agent);
    const char *uses = by_uses ? "name it in `uses`, or " : "";
    const char *quote = is_plain(q->server) ? "" : "'";
    return al_hint(err,
                   "%sa person allows it with `alisio mcp allow %s%.*s%s '%.*s'`, or starts alisio with "
                   "'--allow-mcp=%.*s.%.*s'",
                   uses, quote, AL_FMT(al_buf_str(&server)), quote, AL_FMT(al_buf_str(&tool)),
                   AL_FMT(al_buf_str(&server)), AL_FMT(al_buf_str(&tool)));
}

/* Tools of a server: its policy is the flag. What was granted was the definition of then. */
static int decide_by_server(const struct al_gate_query *q, const char *tool_name, struct al_err *err)
{
    bool typed = q->origin == AL_ORIGIN_CLI, preapproved = q->preapproved;
    switch (q->gate) {
    case AL_GATE_ALLOW:
        return 0;
    case AL_GATE_ASK:
        if (typed || preapproved || (al_origin_is_model(q->origin) && q->granted))
            return 0;
        return fail_ask(q, tool_name, err);
    case AL_GATE_CHANGED:
        return typed || preapproved ? 0 : fail_changed(q, tool_name, err);
    case AL_GATE_EFFECT:
    case AL_GATE_DENY:
        break;
    }
    return fail_denied(q, tool_name, err);
}

struct al_gate_query al_gate_query_of(const struct al_tool *tool, enum al_origin origin)
{
    return (struct al_gate_query){
        .effect = tool->effect,
        .origin = origin,
        .takes_scratch = tool->scratch_only != NULL,
        .gate = tool->gate,
        .server = tool->server,
        .server_tool = tool->server_tool,
        .capability = tool->capability,
    };
}

int al_gate_decide(const struct al_policy *policy, const struct al_gate_query *q, const char *tool_name,
                   struct al_err *err)
{
    unsigned cell = opens[q->effect][q->origin];
    if (cell & FREE && q->gate == AL_GATE_EFFECT)
        return 0;
    if (policy->read_only)
        return fail_read_only(q, tool_name, err);
    if (q->gate != AL_GATE_EFFECT)
        return decide_by_server(q, tool_name, err);
    unsigned have = TYPED;
    have |= flag_given(policy, q) ? FLAG : 0;
    have |= q->scratch_only ? SCRATCH : 0;
    have |= q->granted ? GRANT : 0;
    have |= q->preapproved ? PREAPPROVED : 0;
    if (cell & have)
        return 0;
    return is_analysis(q) ? fail_analysis(policy, q, tool_name, err) : fail_approval(q, tool_name, err);
}

bool al_gate_needs_isolation(const struct al_policy *policy, const struct al_gate_query *q)
{
    bool open = policy->allow_process || (policy->allow_analysis && policy->allow_analysis_unsandboxed);
    if (!is_analysis(q) || policy->read_only || open || q->origin == AL_ORIGIN_CLI)
        return false;
    return !(q->origin == AL_ORIGIN_SCRIPT && q->preapproved);
}

enum al_py_isolation al_gate_covered(const struct al_policy *policy, const struct al_gate_query *q)
{
    if (!is_analysis(q) || !al_gate_needs_isolation(policy, q))
        return AL_PY_NONE;
    if (policy->allow_analysis && !is_known_weak(q))
        return AL_PY_CONTAINER;
    return q->isolation_known ? q->isolation : AL_PY_OS_SANDBOX;
}
