/*
 * The permission gate: one pure function decides every call, direct or nested, from any face. Its table is in
 * gate.c, with a test per cell in tests/unit/test_gate.c.
 */
#ifndef AL_CORE_GATE_H
#define AL_CORE_GATE_H

#include "base/err.h"
#include "core/tool.h"

/* What the person allowed when they started this process. */
struct al_policy {
    bool read_only; /* beats every other flag */
    bool allow_write, allow_process, allow_external, allow_mcp;
    bool allow_analysis, allow_analysis_unsandboxed;
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
};

/* Of a tool, as far as the tool itself says it; the rest is the caller's to fill in. */
struct al_gate_query al_gate_query_of(const struct al_tool *tool, enum al_origin origin);
/* 0 allowed; else APPROVAL_REQUIRED or PERMISSION_DENIED with a hint that names exactly what works here. */
int al_gate_decide(const struct al_policy *policy, const struct al_gate_query *q, const char *tool_name,
                   struct al_err *err) AL_MUST_CHECK;

#endif
