/*
 * The execution core: what a process of ours holds while it works. Loop, config, store and engine are handed in;
 * faces (CLI, MCP) make calls by al_core_call and know nothing of how a call runs.
 */
#ifndef AL_CORE_CORE_H
#define AL_CORE_CORE_H

#include "config/config.h"
#include "core/gate.h"
#include "core/scratch.h"
#include "core/tool.h"
#include "core/workspace.h"
#include "data/data.h"
#include "jsvm/engine.h"
#include "loop/loop.h"
#include "pyrun/pyrun.h"
#include "store/store.h"

struct al_core_opts {
    struct al_loop *loop;     /* borrowed, as all below */
    struct al_config *config;
    struct al_store *store;
    struct al_policy policy;
    const char *cwd;
    const char *const *add_dirs; /* NULL-terminated or NULL */
    const char *session;      /* NULL: the workspace's default; "new"; or an id */
    const char *source;       /* "cli" or "mcp": goes into the journal */
    const struct al_err *config_err; /* a broken user config: every answer is this error. NULL: fine */
    /* Whether calls come with al_call_spec.ask, as far as is known now: guides say how to be approved. al_core_can_ask
     * changes it later. */
    bool can_ask;
    const char *python;          /* --python; NULL: found */
    enum al_py_policy isolation; /* --isolation, ALISIO_ISOLATION: raises analysis.isolation */
};

int al_core_new(const struct al_core_opts *o, struct al_core **ret, struct al_err *err) AL_MUST_CHECK;
/* Cancels what runs; idle(ud) comes when nothing runs any more. */
void al_core_shutdown(struct al_core *core, void (*idle)(void *ud), void *ud);
void al_core_free(struct al_core *core); /* nothing may run any more */
void al_core_set_can_ask(struct al_core *core, bool can_ask);
bool al_core_can_ask(const struct al_core *core);
/* Another workspace, with its default session (or the one that the opts named), before anything has run: the first
 * root of a client. add_dirs come after those of the opts. A failure leaves everything as it was. */
int al_core_set_workspace(struct al_core *core, const char *cwd, const char *const *add_dirs,
                          struct al_err *err) AL_MUST_CHECK;
/* Starts the script engine ahead of its first run; a failure is told by that run. */
void al_core_warm(struct al_core *core);

struct al_loop *al_core_loop(const struct al_core *core);
struct al_config *al_core_config(const struct al_core *core);
struct al_store *al_core_store(const struct al_core *core);
struct al_engine *al_core_engine(struct al_core *core);
struct al_data *al_core_data(struct al_core *core); /* the data engine; starts nothing by itself */
struct al_pyrun *al_core_pyrun(struct al_core *core); /* likewise */
struct al_workspace *al_core_workspace(const struct al_core *core);
struct al_scratch *al_core_scratch(const struct al_core *core); /* NULL when forge.scratch.enabled is false */
const struct al_policy *al_core_policy(const struct al_core *core);
const struct al_session *al_core_session(const struct al_core *core);
const char *al_core_source(const struct al_core *core);
/* Path of a helper program looked up once ("rg", "git"), NULL when it is not there. */
const char *al_core_program(struct al_core *core, const char *name);

/* Tools of the core itself: js_run (or execute), forge_guide. al_core_new registers them. */
extern const struct al_tool al_tool_js_run, al_tool_execute, al_tool_forge_guide;

/* Limits of one host: 16 runs at once, 64 queued, then BUSY. */
#define AL_HOST_MAX_RUNS 16
#define AL_HOST_MAX_QUEUED 64
size_t al_core_n_runs(const struct al_core *core);
/* Cancels a run of this host by id; false when it is not running here. */
bool al_core_cancel_run(struct al_core *core, struct al_str exec_id);

/* The control socket of a host: <state>/hosts/<id>.sock, 0600, same user only (SO_PEERCRED). */
int al_control_listen(struct al_core *core, struct al_err *err) AL_MUST_CHECK;
void al_control_close(struct al_core *core);
/* From another process: asks the run's host to cancel it, waits for the end ≤ 5 s; kills by recorded pid's pidfd when the
 * host does not answer in 1 s. NOT_FOUND: no such run, or it has ended (says so). */
int al_control_cancel(struct al_store *store, const char *exec_id, struct al_err *err) AL_MUST_CHECK;

#endif
