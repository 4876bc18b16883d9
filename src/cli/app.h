/*
 * What one command line works with, opened lazily and in order: workspace, config (with trust), store, core.
 * A command asks for what it needs; `alisio help` touches no file.
 */
#ifndef AL_CLI_APP_H
#define AL_CLI_APP_H

#include "cli/args.h"
#include "cli/reply.h"
#include "core/core.h"
#include "upstream/upstream.h"

struct al_app_signals;

struct al_app {
    struct al_args args;
    bool json, quiet;
    bool tty;   /* results go to a terminal, in the person's form */
    bool color; /* of results */
    bool err_tty, err_color; /* a terminal that understands escapes; colour is welcome */
    unsigned width; /* columns to fit tables into; 0: do not cut */

    struct al_loop *loop;
    struct al_config *config;
    struct al_err
        config_err; /* code ≠ AL_OK: the user config is broken; config is what could be made without it */
    struct al_store *store;
    struct al_core *core;
    struct al_servers servers;       /* of --mcp-config, then of the user's file */
    bool servers_read;
    struct al_upstreams *upstreams;  /* of the core; NULL: no server is configured */
    char *workspace;             /* real path */
    char *user_file;             /* the user's config.json */
    char *project_file;          /* the project's, when it exists */
    struct al_buf project_bytes; /* of it, when project_read: what trust was looked up for */
    bool project_read;
    bool project_trusted;

    struct al_signal *signals[3];
    int signal;                  /* the first that came; 0: none */
    void (*on_signal)(void *ud); /* what to stop; NULL: nothing */
    void *on_signal_ud;
    struct al_ask_state *asking; /* see ask.c */
    /* Takes what a script prints, as it comes (al_call_output); NULL: nobody. */
    void (*on_output)(void *ud, bool is_error, struct al_str bytes);
    void *on_output_ud;
    bool mid_line;               /* what was shown last is no whole line: no progress line goes over it */
    bool progress_shown;         /* a progress line stands on the terminal */
    uint64_t progress_ms, progress_began_ms;
};

void al_app_init(struct al_app *app);
void al_set_true(void *ud); /* of a bool: for callbacks that end a wait */
void al_app_close(struct al_app *app); /* waits until nothing runs any more */

/* Each opens once; later calls return at once. */
int al_app_workspace(struct al_app *app, struct al_err *err) AL_MUST_CHECK;
/* CONFIG_INVALID for a broken user file. Notices go to standard error, once. */
int al_app_config(struct al_app *app, struct al_err *err) AL_MUST_CHECK;
/* The same, but a broken user file is only noted in config_err. */
int al_app_config_lenient(struct al_app *app, struct al_err *err) AL_MUST_CHECK;
int al_app_store(struct al_app *app, struct al_err *err) AL_MUST_CHECK;
/* Reads what MCP servers there are into app->servers; asks for the config. */
int al_app_servers(struct al_app *app, struct al_err *err) AL_MUST_CHECK;
/* source: "cli" or "mcp"; for the latter a broken user config is handed to the core. */
int al_app_core(struct al_app *app, const char *source, struct al_err *err) AL_MUST_CHECK;
struct al_loop *al_app_loop(struct al_app *app);
/* A folder's .alisio/config.json: its bytes (into an empty buffer) and the hash of them, which trust is given
 * to. No link is followed. 1 read, 0 there is none, -1. */
int al_app_read_project(const char *dir, struct al_buf *ret_bytes, char ret_sha[AL_SHA256_HEX],
                        struct al_err *err) AL_MUST_CHECK;
/* SIGINT, SIGTERM and SIGHUP call on_signal(ud) once; a second one ends the process at once. */
void al_app_catch_signals(struct al_app *app, void (*on_signal)(void *ud), void *ud);

/* Where the state is: the folder of --db, or the state folder. Malloc'ed. */
char *al_app_state_dir(const struct al_app *app);
/* The id that --session names, or the workspace's default session; opens the store. */
int al_app_session(struct al_app *app, struct al_session *ret, struct al_err *err) AL_MUST_CHECK;
/* The id in a command's argument: an exec id, or "last". Opens the store. */
int al_app_run_id(struct al_app *app, const char *word, struct al_run *ret, struct al_err *err) AL_MUST_CHECK;

/* "key": the path as a tool takes it. Tools resolve paths in the workspace, which has none where it is refused (the home
 * folder): a person's own path works there, too; and what is not there, but is in the current folder, is meant to be that. The
 * workspace must be known. */
void al_app_put_path(const struct al_app *app, struct al_jw *w, const char *key, const char *word);

/* Whether there is a terminal at which a person can be asked. */
bool al_app_can_ask(const struct al_app *app);
/* Whether the repository's own words (AGENTS.md) count as the person's wish: --trust-project, or `alisio trust add` of the
 * folder with the project file that it has now, or with none as it has none now. Once the core is there. */
bool al_app_repository_trusted(const struct al_app *app);
/* Calls a tool as the person who typed it, with progress, signals and `uses` questions; fills the reply. */
int al_app_call(struct al_app *app, struct al_str tool, struct al_str args_json,
                struct al_reply *reply) AL_MUST_CHECK;

/* "-" is standard input. Up to max bytes, UTF-8, else INVALID_INPUT; NOT_FOUND. */
int al_app_read_text(const char *path, size_t max, struct al_buf *out, struct al_err *err) AL_MUST_CHECK;

#endif
