#include "test.h"

#include "agent_context_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As a model reads it: AL_SHOW=1 build/test_agent_context prints it. */
static void everything_can_be_looked_at(void **state)
{
    struct agent_world t;
    struct core_world *core = *state;
    core->opts.policy = (struct al_policy){.allow_write = true,
                                           .allow_process = true,
                                           .allow_external = true,
                                           .allow_mcp = true,
                                           .allow_analysis = true};
    agent_world_start(&t, core, NULL, true);
    size_t n = 0;
    bool show = getenv("AL_SHOW") != NULL;
    if (show)
        printf("%.*s\n", AL_FMT(al_buf_str(&t.agent.system)));
    for (size_t i = 0; i < t.agent.n_tools; i++) {
        const struct al_llm_tool *tool = &t.agent.tools[i];
        if (show)
            printf("## %.*s %zu %zu\n%.*s\n%.*s\n", AL_FMT(tool->name), tool->description.n, tool->schema.n,
                   AL_FMT(tool->description), AL_FMT(tool->schema));
        n += tool->name.n + tool->description.n + tool->schema.n + 75;
    }
    if (show)
        printf("system %zu, tools %zu\n", t.agent.system.n, n);
    agent_world_stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_can_be_looked_at, core_world_set_up, core_world_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
