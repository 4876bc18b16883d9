/*
 * git for reading only. A repository is hostile: git runs sealed (no program but itself, no network, nothing
 * written), with each program that the repository's configuration names switched off by name as well.
 */
#ifndef AL_TOOLS_GIT_INT_H
#define AL_TOOLS_GIT_INT_H

#include "tools/tools_int.h"

#define AL_GIT_MAX_FILTERS 64

/* For tests: as on a kernel without Landlock. */
extern bool al_git_no_landlock;

struct al_git {
    struct al_call *call;
    const char *program;
    bool sealed;          /* Landlock is there */
    bool needs_worktree;  /* fine only when the configuration itself names this work tree */
    struct al_buf prefix; /* of the workspace in its repository: "sub/", or empty */
    struct al_buf filters[AL_GIT_MAX_FILTERS]; /* drivers that the configuration names, switched off */
    size_t n_filters;
    struct al_buf programs; /* keys of the configuration that name programs: "filter.x.clean, …" */
    struct al_child *child;
    struct al_buf out, err; /* of the command that ended last */
    int exit_status;
    bool out_truncated;
    void (*next)(struct al_git *g); /* the loop's thread, after each command */
    void (*ready)(struct al_git *g);
    void (*work)(struct al_git *g); /* the last step, on the pool */
    void *tool;                     /* the tool's own; free_tool frees it */
    void (*free_tool)(void *tool);
};

/* Becomes call->impl. Looks at the repository, then ready(g) runs in the loop. */
void al_git_start(struct al_call *call, void (*ready)(struct al_git *g));
void al_git_cancel(struct al_call *call);
/* Runs one more git command (NULL-terminated arguments, without the program's name), then next(g). */
void al_git_run(struct al_git *g, const char *const *args, size_t max_output, void (*next)(struct al_git *g));
/* Ends the call: work on the pool first, when given. */
void al_git_end(struct al_git *g, void (*work)(struct al_git *g));
/* Ends it with an error out of git's own words. */
void al_git_fail(struct al_git *g);

/* --- is it this folder's repository? (git_trust.c) --- */
/* UNTRUSTED_REPOSITORY when the repository would make git read what lies elsewhere: a work tree outside, or a
 * .git that leads to a repository which does not know this folder. All are absolute paths, as git names them.
 */
int al_git_check_dirs(const char *workspace, const char *top, const char *git_dir, const char *common_dir,
                      bool *ret_needs_worktree, struct al_err *err) AL_MUST_CHECK;
int al_git_fail_elsewhere(struct al_err *err);

/* --- pure parts (git_parse.c) --- */
/* `git config --list --show-scope -z`: collects the names of filter drivers and the keys that make git run a
 * program while it reads. -1: more drivers than fit. */
int al_git_config_scan(struct al_str list, struct al_buf *filters, size_t max_filters, size_t *ret_n,
                       struct al_buf *programs);
bool al_git_config_has(struct al_str list, const char *key);
/* `git status --porcelain=v2 --branch -z` as JSON. False when the value does not fit: entries were left out.
 */
bool al_git_status_json(struct al_str status, struct al_str prefix, struct al_buf *json, struct al_buf *text);

struct al_git_numstat {
    struct al_str path;     /* the new one of a rename */
    int64_t added, removed; /* -1: binary */
};
/* `git diff --numstat -z`: the next entry, false at the end. */
bool al_git_numstat_next(struct al_str *rest, struct al_git_numstat *ret);

#endif
