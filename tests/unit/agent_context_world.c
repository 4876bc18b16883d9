#include "test.h"

#include "agent_context_world.h"

#include "tools/tools.h"

static void never_asked(void *ud, const struct al_ask *ask)
{
    (void)ud, (void)ask;
    fail_msg("a question that nobody expected");
}

static void never_questioned(void *ud, const struct al_agent_question *q)
{
    (void)ud, (void)q;
    fail_msg("a question that nobody expected");
}

void agent_world_start(struct agent_world *t, struct core_world *core, const char *config_json, bool asked)
{
    *t = (struct agent_world){.core = core};
    core->opts.source = "agent";
    core->opts.can_ask = asked;
    core_world_start(core, config_json);
    al_tools_register(core->core);
    t->agent.core = core->core;
    t->agent.store = core->store;
    t->agent.loop = core->loop;
    t->agent.config = core->config;
    t->agent.o.core = core->core;
    t->agent.o.headless = !asked;
    t->with = (struct al_agent_ops){.ask = never_asked, .question = never_questioned};
    if (asked)
        t->agent.ops = t->with;
    al_buf_init(&t->agent.system, 64u << 10);
    al_buf_init(&t->agent.context.user, 64u << 10);
    agent_world_tell(t);
}

void agent_world_tell(struct agent_world *t)
{
    struct al_err err;
    if (al_agent_offer(&t->agent, &err) < 0)
        fail_msg("%s", err.msg);
    al_buf_clear(&t->agent.system);
    al_agent_system(&t->agent, &t->agent.system);
    assert_false(al_buf_failed(&t->agent.system));
}

void agent_world_stop(struct agent_world *t)
{
    al_buf_free(&t->agent.system);
    al_context_fini(&t->agent.context);
    al_arena_free(&t->agent.offered);
}

const struct al_llm_tool *agent_world_tool(const struct agent_world *t, const char *name)
{
    for (size_t i = 0; i < t->agent.n_tools; i++) {
        if (al_str_is(t->agent.tools[i].name, name))
            return &t->agent.tools[i];
    }
    return NULL;
}
