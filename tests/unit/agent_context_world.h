/* What tests of what the model is told stand on: a core of the agent with all tools, and an agent without a model. */
#ifndef AL_TESTS_AGENT_CONTEXT_WORLD_H
#define AL_TESTS_AGENT_CONTEXT_WORLD_H

#include "core_world.h"

#include "agent/agent_int.h"

struct agent_world {
    struct core_world *core;
    struct al_agent agent;
    struct al_agent_ops with; /* somebody is there */
};

/* asked: a person can be asked. The core is started with the world's opts and config_json. */
void agent_world_start(struct agent_world *t, struct core_world *core, const char *config_json, bool asked);
/* Makes the tools and the system prompt anew. */
void agent_world_tell(struct agent_world *t);
void agent_world_stop(struct agent_world *t);
const struct al_llm_tool *agent_world_tool(const struct agent_world *t, const char *name); /* NULL: not offered */

#endif
