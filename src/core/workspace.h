/* The folders that file tools may touch: the workspace, added folders and the scratchpad, each held by descriptor. */
#ifndef AL_CORE_WORKSPACE_H
#define AL_CORE_WORKSPACE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum al_want {
    AL_WANT_READ,
    AL_WANT_LIST,
    AL_WANT_WRITE,
};

struct al_place {
    enum { AL_PLACE_WORKSPACE, AL_PLACE_ADDED, AL_PLACE_SCRATCH, AL_PLACE_OUTSIDE } kind;
    int dir_fd;        /* borrowed: open beneath it */
    const char *rel;   /* normalized, "." for the root of the place */
    const char *path;  /* for results: names the place again: "src/a.c", "scratch:plan.js", "./scratch:/x", "/abs/x" */
    const char *shown; /* for messages: the same, hostile characters visible and not too much of it */
};

struct al_workspace;
struct al_workspace_opts {
    const char *cwd;                   /* NULL: current folder */
    const char *const *add_dirs;       /* NULL-terminated; NULL: none */
    const char *const *forbidden;      /* NULL-terminated: config and state folders; no root may hold or be one */
    /* The folder of all scratchpads (al_scratch_root); NULL: none. Where it lies inside a root it is left alone there:
     * scratchpads of other workspaces are nobody's here, the own one is reached as scratch:NAME. */
    const char *scratchpads;
    const char *const *protect, *const *secret; /* NULL-terminated user patterns: "name" adds, "!name" lifts */
};
/* A cwd that is refused as a root ("/", the home folder, one that holds our config or state) is no failure: file tools
 * then answer with PERMISSION_DENIED and the hint `--cwd DIR`, everything else works. */
int al_workspace_open(const struct al_workspace_opts *o, struct al_workspace **ret, struct al_err *err) AL_MUST_CHECK;
void al_workspace_free(struct al_workspace *w);
void al_workspace_set_scratch(struct al_workspace *w, int dir_fd); /* borrowed; -1: off */
/* The same, asked for when a path needs it: fd(ud) returns a borrowed descriptor, or -1 with err. On any thread. */
void al_workspace_set_scratch_source(struct al_workspace *w, int (*fd)(void *ud, struct al_err *err), void *ud);
const char *al_workspace_root(const struct al_workspace *w); /* real path, also when refused */
int al_workspace_fd(const struct al_workspace *w);           /* -1 when refused */
/* Why file tools are refused; false when they are not. */
bool al_workspace_refused(const struct al_workspace *w, struct al_err *err);

/* Finds the place of a path as a model wrote it: relative, absolute inside a root, or "scratch:NAME". Checks
 * PATH_SECRET (read) and PATH_PROTECTED (write) by name. outside_ok: a person typed this call (`/` is then the root
 * of other absolute paths). Nothing is opened. */
int al_workspace_resolve(const struct al_workspace *w, struct al_str path, enum al_want want, bool outside_ok,
                         struct al_arena *a, struct al_place *ret, struct al_err *err) AL_MUST_CHECK;
/* By normalized relative path; every component is looked at. */
bool al_workspace_is_secret(const struct al_workspace *w, const char *rel);
bool al_workspace_is_protected(const struct al_workspace *w, const char *rel);
/* After opening: where fd really is, links followed, is checked by name again (notes.txt -> .env is PATH_SECRET). For a
 * write, fd may be the open parent folder of the place: its own last name is added. */
int al_workspace_check_fd(const struct al_workspace *w, const struct al_place *place, int fd, enum al_want want,
                          struct al_err *err) AL_MUST_CHECK;
/* Before anything is made: folder_fd is the deepest folder on the way to the place that exists, rest what comes after
 * it. Also refuses what would make or change a git repository that is not in a .git folder (PATH_PROTECTED): git takes
 * a bare one for the repository of whoever stands in it, and its config names programs to run. */
int al_workspace_check_write(const struct al_workspace *w, const struct al_place *place, int folder_fd, const char *rest,
                             struct al_err *err) AL_MUST_CHECK;
/* Whether a part of the path is a name of a repository's parts: its check and write must not interleave with others. */
bool al_workspace_names_repository(const char *rel);
/* What listings and searches beneath an open folder leave out besides: the folder of scratchpads, relative to it.
 * malloc'ed; NULL when it is not beneath. */
char *al_workspace_left_out(const struct al_workspace *w, int folder_fd);

#endif
