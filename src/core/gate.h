/*
 * The permission gate: one pure function decides every call, direct or nested, from any face. Its table is in
 * gate.c, with a test per cell in tests/unit/test_gate.c.
 */
#ifndef AL_CORE_GATE_H
#define AL_CORE_GATE_H

#include "base/err.h"
#include "core/tool.h"
#include "pyrun/pyrun.h"

/* The capability of Python scripts: flags and grants are about it, and about the wall that the script runs behind. */
#define AL_CAP_ANALYSIS_RUN "analysis.run"
/* Installing packages for them: asked about each time (al_call_ask_install), never by this gate. */
#define AL_CAP_ANALYSIS_INSTALL "analysis.install"

/* What the person allowed when they started this process. */
struct al_policy {
    bool read_only; /* beats every other flag */
    bool allow_write, allow_process, allow_external, allow_mcp;
    bool allow_analysis;             /* Python scripts, where a wall holds them … */
    bool allow_analysis_unsandboxed; /* … and with allow_analysis also where none does */
};

struct al_gate_query {
    enum al_effect effect;
    enum al_origin origin;
    bool scratch_only;  /* a write that stays in the scratchpad */
    bool takes_scratch; /* the tool could write there: the hint says so */
    bool preapproved;   /* approved for this run by `uses`; or a relayed call that was, and goes on */
    bool granted;       /* a stored session grant covers it (never counts for a script) */
    enum al_tool_gate gate; /* of a server's tool: what the person's policy says; the effect's own flag is nothing here */
    const char *server, *server_tool; /* of it, for the hint that names the command: `alisio mcp allow S 'tool'` */
    bool can_ask; /* a run can be approved with `uses`: the hint says so */
    bool over_mcp; /* the host serves a client, where a script's nested call cannot be typed instead */
    bool in_agent; /* the host is our own agent, whose model writes `uses`, and makes direct calls, too */

    /* Of a tool with a capability: */
    const char *capability;  /* NULL: its effect decides alone */
    bool isolation_known;    /* else a decision that depends on it is the one for a strong wall */
    enum al_py_isolation isolation; /* what would hold if it ran now */
    bool granted_stronger;   /* a stored grant is there, for a stronger wall than this one */
    bool can_ask_now;        /* the person can be asked about this very call, or is about the run that makes it */
};

/* Of a tool, as far as the tool itself says it; the rest is the caller's to fill in. */
struct al_gate_query al_gate_query_of(const struct al_tool *tool, enum al_origin origin);
/* 0 allowed; else APPROVAL_REQUIRED or PERMISSION_DENIED with a hint that names exactly what works here. */
int al_gate_decide(const struct al_policy *policy, const struct al_gate_query *q, const char *tool_name,
                   struct al_err *err) AL_MUST_CHECK;

/* Whether more than --allow-analysis is needed: it covers a script only where a wall holds it. */
bool al_gate_is_weak(enum al_py_isolation isolation);
/* Whether what holds a script has to be known before it can be decided, or a person be asked. */
bool al_gate_needs_isolation(const struct al_policy *policy, const struct al_gate_query *q);
/* Of a call that was allowed: the weakest isolation behind which it may run. */
enum al_py_isolation al_gate_covered(const struct al_policy *policy, const struct al_gate_query *q);

#endif
