/*
 * git for reading only. A repository is hostile: git runs sealed (no program but itself, no network, nothing
 * written, nothing read but the workspace and its repository), with each program that the repository's
 * configuration names switched off by name as well.
 */
#ifndef AL_TOOLS_GIT_INT_H
#define AL_TOOLS_GIT_INT_H

#include "tools/tools_int.h"

#define AL_GIT_MAX_FILTERS 64

/* For tests: as on a kernel without Landlock. */
extern bool al_git_no_landlock;

/* The repository that the workspace lies in, by real paths. */
struct al_git_repo {
    char *top, *dir, *common; /* the folder with .git, the git dir, and what linked work trees share of it */
    int fds[2];               /* dir, and common when it is another one */
    size_t n_fds;
    bool needs_worktree; /* fine only when the configuration itself names this work tree */
};

struct al_git {
    struct al_call *call;
    const char *program;
    bool sealed; /* Landlock is there */
    struct al_git_repo repo;
    struct al_buf prefix; /* of the workspace in its repository: "sub/", or empty */
    struct al_buf filters[AL_GIT_MAX_FILTERS]; /* drivers that the configuration names, switched off */
    size_t n_filters;
    bool no_excludes, no_attributes; /* core.excludesFile and core.attributesFile lead elsewhere: switched off */
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
/* Finds the workspace's repository (free with al_git_repo_free, also after a failure). NOT_FOUND;
 * UNTRUSTED_REPOSITORY when it would make git read what lies elsewhere: a .git that leads to a repository which does
 * not know this folder, borrowed objects, and without Landlock any link. Reads files: for the pool. */
int al_git_find(const char *workspace, bool sealed, struct al_git_repo *ret, struct al_err *err) AL_MUST_CHECK;
void al_git_repo_free(struct al_git_repo *r);
/* Whether git, which names these folders, means the same repository, and a work tree around the workspace. */
int al_git_check_dirs(const struct al_git_repo *r, const char *workspace, const char *top, const char *dir,
                      const char *common, struct al_err *err) AL_MUST_CHECK;
int al_git_fail_elsewhere(struct al_err *err);
bool al_git_is_beneath(const char *root, const char *path);

/* --- pure parts (git_parse.c) --- */
/* `git config --list --show-scope -z`: collects the names of filter drivers and the keys that make git run a
 * program while it reads. -1: more drivers than fit. */
int al_git_config_scan(struct al_str list, struct al_buf *filters, size_t max_filters, size_t *ret_n,
                       struct al_buf *programs);
/* The last value of a key, which is in lower case. False when there is none. */
bool al_git_config_get(struct al_str list, const char *key, struct al_str *ret);
/* The first key that reads one more file as configuration; empty when there is none. */
struct al_str al_git_config_include(struct al_str list);

/* Whether an index that git itself wrote can hold that path: a relative one, without "", ".", ".." and ".git". git
 * checks what it adds to an index, not what it reads from one. A slash at the end is fine. */
bool al_git_path_is_plain(struct al_str path);
/* UNTRUSTED_REPOSITORY: its index names what is not in it. */
int al_git_fail_path(struct al_str path, struct al_err *err);

/* `git status --porcelain=v2 --branch -z` as JSON. 0; 1 when the value does not fit: entries were left out; -1 with
 * err when a path is not plain. */
int al_git_status_json(struct al_str status, struct al_str prefix, struct al_buf *json, struct al_buf *text,
                       struct al_err *err) AL_MUST_CHECK;

struct al_git_numstat {
    struct al_str path;
    int64_t added, removed; /* -1: binary */
};
/* `git diff --numstat -z`: the next entry, false at the end. */
bool al_git_numstat_next(struct al_str *rest, struct al_git_numstat *ret);
/* `git diff --no-renames`: the next file's part, false at the end. name becomes its path, empty when that cannot be
 * told. */
bool al_git_patch_next(struct al_str *rest, struct al_str *ret_part, struct al_buf *name);

#endif
