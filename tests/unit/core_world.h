/* What tests of the core stand on: a folder of its own with a workspace, state, config and a core over them.
 */
#ifndef AL_TESTS_CORE_WORLD_H
#define AL_TESTS_CORE_WORLD_H

#include "core/core.h"

struct core_world {
    char *top, *ws, *state, *home;
    char *old_home, *old_tmp;
    struct al_loop *loop;
    struct al_config *config;
    struct al_store *store;
    struct al_core *core;
    struct al_core_opts opts; /* change it before core_world_start */
};

/* cmocka's set-up and tear-down: a world without a core, and its end (the core must be idle). */
int core_world_set_up(void **state);
int core_world_tear_down(void **state);
/* config_json NULL: none. Fails the test when the core does not open. */
void core_world_start(struct core_world *t, const char *config_json);
int core_world_try(struct core_world *t, const char *config_json, struct al_err *err);
/* Ends the core, so that another can be started. */
void core_world_stop(struct core_world *t);
char *core_world_path(const char *a, const char *b);

/* A call that is waited for. */
struct core_answer {
    bool done;
    unsigned times;
    enum al_code code;
    char msg[1024], hint[512];
    char text[4096], structured[4096]; /* cut */
    size_t structured_n;
    char execution_id[64];
};
struct al_call *core_world_call(struct core_world *t, enum al_origin origin, const char *tool,
                                const char *args, struct core_answer *answer);
/* Runs the loop until it is done; fails the test after 10 s. */
void core_world_wait(struct core_world *t, const bool *done);
/* Call and wait. */
struct core_answer core_world_ask(struct core_world *t, enum al_origin origin, const char *tool,
                                  const char *args);
void core_world_answer(void *ud, struct al_call *call); /* as al_call_spec.done, ud: struct core_answer */

#endif
