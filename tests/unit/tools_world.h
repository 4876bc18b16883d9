/* A core on a workspace of its own with the general tools, for their tests. */
#ifndef AL_TESTS_TOOLS_WORLD_H
#define AL_TESTS_TOOLS_WORLD_H

#include "base/arena.h"
#include "base/json.h"
#include "core/core.h"

struct world {
    char dir[64];  /* removed at the end */
    char work[80]; /* the workspace */
    char state[80];
    struct al_loop *loop;
    struct al_config *config;
    struct al_store *store;
    struct al_core *core;
};

struct world_opts {
    struct al_policy policy;
    const char *source;     /* NULL: "mcp" */
    const char *config;     /* config.json; NULL: {} */
    const char *sub;        /* the workspace is this folder of work */
    const char *scratch_in; /* scratchpads lie in this folder of work; NULL: beside it */
    bool keep_path;         /* PATH stays as it is; else it is set to /usr/bin:/bin */
};

struct reply {
    bool done;
    enum al_code code;
    char msg[1024], hint[512];
    char *text, *structured;
    size_t n_structured;
    struct al_arena arena;
    const struct al_json *json; /* of structured; NULL when there is none */
    struct al_call *call;       /* while it runs */
};

/* Every main calls it first: the supervisor of programs is this very binary. Else runs the tests. */
void world_main(int argc, char **argv);

/* The folder alone, to fill it before the core opens; world_open makes it when it is not there. */
void world_make(struct world *w);
void world_open(struct world *w, const struct world_opts *o);
void world_close(struct world *w);

void put(struct world *w, const char *rel, const char *text);
void put_bytes(struct world *w, const char *rel, const void *p, size_t n);
char *get(struct world *w, const char *rel); /* zero-terminated; NULL when it does not exist */
bool there(struct world *w, const char *rel);
/* Runs a command line in a folder of the workspace; fails the test when it fails. */
void sh(struct world *w, const char *line);

/* Calls from scripts count as approved beforehand (`uses`), all others and those of call_plain do not. */
void start(struct world *w, enum al_origin origin, const char *tool, const char *args, struct reply *r);
void finish(struct world *w, struct reply *r);
/* As a script would make it; args are printf'ed. */
struct reply call(struct world *w, const char *tool, const char *args, ...)
    __attribute__((format(printf, 3, 4)));
struct reply call_as(struct world *w, enum al_origin origin, const char *tool, const char *args);
struct reply call_plain(struct world *w, enum al_origin origin, const char *tool, const char *args);
void reply_free(struct reply *r);

/* A member by names and indices separated by dots: "files.0.path". NULL when absent. */
const struct al_json *at(const struct reply *r, const char *path);
int64_t int_at(const struct reply *r, const char *path); /* fails the test when it is no integer */
void assert_text_at(const struct reply *r, const char *path, const char *want);
void assert_code(const struct reply *r, enum al_code code); /* shows the message when it differs */
void assert_has(const char *text, const char *part);
void assert_lacks(const char *text, const char *part);

#endif
