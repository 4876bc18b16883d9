/* A core in a folder of its own with mock tools, for the tests of js_run, its results, guides and control
 * socket. */
#ifndef AL_TESTS_JSRUN_WORLD_H
#define AL_TESTS_JSRUN_WORLD_H

#include "core/core_int.h"
#include "core/jsrun_int.h"

struct world {
    char dir[1100];
    char work[1200], state[1200], config_file[1200];
    struct al_loop *loop;
    struct al_config *config;
    struct al_store *store;
    struct al_core *core;
    char log[4096]; /* what the tools with effects did, in order: "+a" begins, "-a" ends */
    void (*on_tool)(struct world *w, struct al_call *call); /* of the tool `hook`, when it starts */
    char asked[512];                                        /* what the person was asked, as "title|tools" */
    int answer;                                             /* an al_approval, or -1: keep (in kept) */
    struct al_ask kept;
    int n_progress;
    char progress[1024]; /* the last */
};

struct world_opts {
    const char *config; /* config.json, or NULL */
    struct al_policy policy;
    bool can_ask;
    const char *source; /* NULL: "mcp"; of "agent" calls are the agent's */
};

struct outcome {
    bool done;
    enum al_code code;
    char msg[1024], hint[512];
    char *text, *structured;
    char id[64];
    struct al_call *call; /* while it runs */
};

struct world *world_new(const struct world_opts *o);
void world_free(struct world *w);
void world_remove(const char *dir); /* the folder of a world whose process died */

/* The zygote is this very program: every main calls it first. */
void world_zygote(int argc, char **argv);

/* Starts a call and returns; outcome_fini frees what it got. */
void world_start(struct world *w, const char *tool, const char *args, struct outcome *out);
void world_wait(struct world *w, struct outcome *out);
struct outcome world_call(struct world *w, const char *tool, const char *args);
/* js_run with code, and more members of its arguments as ",\"title\":…" */
struct outcome world_js(struct world *w, const char *code, const char *more);
char *world_js_args(const char *code, const char *more);
void outcome_fini(struct outcome *out);

/* A value within JSON text, as JSON, by names separated by dots ("error.code"); static buffer; "" when
 * absent. */
const char *json_at(const char *json, const char *path);
/* Writes a file into the scratchpad. */
void world_scratch(struct world *w, const char *rel, const char *text);
/* The whole of a file of the scratchpad, or NULL. */
char *world_scratch_read(struct world *w, const char *rel);

#endif
