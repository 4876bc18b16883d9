/* Runs scripts through the engine's host API, with a handful of made-up tools. */
#ifndef AL_TESTS_JSVM_RIG_H
#define AL_TESTS_JSVM_RIG_H

#include "test.h"

#include "base/buf.h"
#include "jsvm/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIG_TOOLS                                                                               \
    "{\"tools\":[\"echo\",\"fail\",\"slow\",\"never\",\"big\",\"list\",\"odd-name\",\"then\"]," \
    "\"servers\":{\"github\":[\"create_issue\",\"echo\",\"then\"],\"echo\":[\"x\"]}}"

struct rig_result {
    bool done;
    enum al_code code;
    struct al_buf message, hint, stack, value, notes, state;
    struct al_buf printed;  /* lines, each with its end */
    struct al_buf progress; /* lines */
    struct al_buf calls;    /* "name args\n" */
    unsigned n_calls, n_open_max, n_open, n_queries;
    int line, column;
    bool security;
    uint64_t duration_ms, cpu_ms, heap_peak;
    int64_t pid;
    struct al_vm *vm;
    unsigned ends;
    /* what the test wants to happen */
    void (*on_print)(struct rig_result *r, struct al_str text);
    void (*on_call)(struct rig_result *r, uint32_t id, struct al_str tool);
    void (*on_started)(struct rig_result *r);
    void (*on_end)(struct rig_result *r);
};

extern struct al_loop *rig_loop;
extern struct al_engine *rig_engine;

int rig_setup(void **state);
int rig_teardown(void **state);
struct al_vm_spec rig_spec(const char *code);
/* Starts; the test waits with rig_wait. */
void rig_start(struct rig_result *r, const struct al_vm_spec *spec);
void rig_wait(struct rig_result *r);
void rig_free(struct rig_result *r);
struct rig_result *rig_run(const char *code); /* the one static result, freed by the next call */
struct rig_result *rig_run_spec(const struct al_vm_spec *spec);

/* Runs code; its value (JSON) must be exactly this. */
void rig_value(const char *code, const char *json);
/* Runs code; it must end with that code, and the message contain that text. */
struct rig_result *rig_fails(const char *code, enum al_code want, const char *message);

/* How often something is tried that proves the same each time: more in `make soak` (ALISIO_SOAK). */
int rig_rounds(int usual, int soak);

unsigned rig_children(void); /* processes whose parent we are */
/* Waits until nothing is left but the zygote and its spare, and says so if it never comes to that. */
void rig_rest(void);
unsigned rig_fds(void);

/* main of every program with an engine: the zygote is the program itself. */
#define RIG_MAIN(tests)                                                \
    int main(int argc, char **argv)                                    \
    {                                                                  \
        if (argc > 1 && strcmp(argv[1], AL_ZYGOTE_VERB) == 0)          \
            return al_zygote_main(argc, argv);                         \
        return cmocka_run_group_tests(tests, rig_setup, rig_teardown); \
    }

#endif
