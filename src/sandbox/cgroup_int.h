/* Where control groups can be made. Inner header of cgroup.c and cgroup_find.c. */
#ifndef AL_SANDBOX_CGROUP_INT_H
#define AL_SANDBOX_CGROUP_INT_H

#include "sandbox/cgroup.h"

#include <limits.h>

enum al_cgroup_controller {
    AL_CG_MEMORY,
    AL_CG_PIDS,
    AL_CG_CPU,
    AL_CG_N
};

struct al_cgroup_places {
    bool v2;             /* one tree for all: dirs are equal */
    char *dirs[AL_CG_N]; /* folders in which a group can be made; NULL: none of that controller */
};
void al_cgroup_places_fini(struct al_cgroup_places *p);

/*
 * Version 1: our own group of each controller. Version 2: the nearest group from our own upwards that hands
 * memory and pids down, and is ours to make groups in and to move processes out of. root is put before each
 * path: "", or a tree that a test has made. 0; 1 when memory or pids have no such place, and err says why;
 * nothing is written.
 */
int al_cgroup_find(const char *root, struct al_cgroup_places *ret, struct al_err *err) AL_MUST_CHECK;

/* As those of the outer header, with such a root. */
int al_cgroup_make(const char *root, const char *name, const struct al_cgroup_limits *limits,
                   struct al_cgroup **ret, struct al_err *err) AL_MUST_CHECK;
void al_cgroup_sweep_at(const char *root);

#endif
